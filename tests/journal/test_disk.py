"""A disk that is full, read-only or broken: said plainly, nothing half-written, and on again when it is well."""

from __future__ import annotations

import contextlib
import os
import resource
import shutil
import sqlite3
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tabled.journal import Draft, Journal, JournalReader, JournalUnwritable, verify
from tests.journal.conftest import some_drafts


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 1 MiB of its own."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = shutil.which("mount")
    if mount is None or os.geteuid() != 0:
        pytest.skip("a small file system can only be mounted by root")
    made = subprocess.run(
        [mount, "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(folder)], capture_output=True, text=True, check=False
    )
    if made.returncode:
        pytest.skip(f"the machine refused to mount a small file system: {made.stderr.strip()}")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


def _append_until_full(journal: Journal, size: int) -> int:
    """Appends batches of 3 until the disk refuses; returns how many were acknowledged."""
    acknowledged = 0
    with pytest.raises(JournalUnwritable, match="full") as caught:  # noqa: PT012 - which append fails is not known
        for n in range(10_000):
            journal.append([Draft("obs", os.urandom(size), n) for _ in range(3)])
            acknowledged += 3
    assert "Free space" in caught.value.advice
    return acknowledged


@pytest.mark.parametrize("size", [40, 3000, 50_000])
def test_a_full_file_system(small_disk: Path, size: int) -> None:
    ballast = small_disk / "ballast"
    ballast.write_bytes(bytes(300_000))
    path = small_disk / "table.journal"
    with Journal.open(path) as journal:
        acknowledged = _append_until_full(journal, size)
        assert acknowledged
        assert journal.next_pos == acknowledged + 1
        for _ in range(3):
            with pytest.raises(JournalUnwritable):
                journal.append([Draft("obs", os.urandom(200_000), 0)] * 4)
        assert [e.pos for e in journal.read()] == list(range(1, acknowledged + 1))
        journal.advance(acknowledged)  # is kept in memory at worst
        assert journal.cursor() == acknowledged
        ballast.unlink()
        assert journal.append(some_drafts(2)) == range(acknowledged + 1, acknowledged + 3)
        copy = list(journal.read())
    report = verify(path)
    assert report.ok
    assert report.sound == acknowledged + 2
    with Journal.open(path) as journal:
        assert list(journal.read()) == copy
        assert journal.cursor() == acknowledged


def test_no_room_to_create(small_disk: Path) -> None:
    with contextlib.suppress(OSError), open(small_disk / "ballast", "wb") as ballast:
        while True:
            ballast.write(bytes(4096))
            ballast.flush()
    path = small_disk / "table.journal"
    with pytest.raises(JournalUnwritable):
        Journal.open(path)
    assert not path.exists()
    assert [p.name for p in small_disk.iterdir() if ".new" in p.name] == []
    (small_disk / "ballast").unlink()
    with Journal.open(path) as journal:
        journal.append(some_drafts(1))


def test_a_file_system_that_turned_read_only(small_disk: Path) -> None:
    path = small_disk / "table.journal"
    with Journal.open(path) as journal:
        journal.append(some_drafts(30))
    subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
    with pytest.raises(JournalUnwritable, match="lock file"):
        Journal.open(path)
    assert verify(path).sound == 30
    with JournalReader.open(path) as reader:
        assert len(list(reader.read())) == 30
    subprocess.run(["mount", "-o", "remount,rw", str(small_disk)], check=True)
    with Journal.open(path) as journal:
        assert journal.append(some_drafts(1)) == range(31, 32)


def test_a_page_limit_is_a_full_disk(journal: Journal) -> None:
    """As above where nothing may be mounted."""
    pages = journal._writer.execute("PRAGMA page_count").fetchone()[0]
    journal._writer.execute(f"PRAGMA max_page_count={pages + 20}")
    acknowledged = _append_until_full(journal, 900)
    assert acknowledged
    journal._writer.execute("PRAGMA max_page_count=100000")
    assert journal.append(some_drafts(3))[0] == acknowledged + 1
    assert verify(journal.path).sound == acknowledged + 3


def test_an_input_output_error(journal: Journal) -> None:
    """Writing past the process's file-size limit fails in the kernel, as a bad sector would."""
    journal.append(some_drafts(3))
    size = os.stat(journal.path + "-wal").st_size
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size + 5000, hard))
    try:
        with pytest.raises(JournalUnwritable, match="SQLITE_IOERR_WRITE") as caught:
            journal.append([Draft("obs", os.urandom(60_000), 0)] * 2)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert "replace the disk" in caught.value.advice
    assert journal.append(some_drafts(2)) == range(4, 6)
    assert verify(journal.path).sound == 5


def test_a_connection_that_may_not_write(journal: Journal) -> None:
    journal._writer.execute("PRAGMA query_only=1")
    with pytest.raises(JournalUnwritable, match="read-only"):
        journal.append(some_drafts(1))
    journal._writer.execute("PRAGMA query_only=0")
    assert journal.append(some_drafts(1)) == range(1, 2)


def test_another_program_that_holds_the_file(journal: Journal) -> None:
    journal._writer.execute("PRAGMA busy_timeout=20")
    other = sqlite3.connect(journal.path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(JournalUnwritable, match="another program"):
        journal.append(some_drafts(1))
    other.close()
    assert journal.append(some_drafts(1)) == range(1, 2)


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(JournalUnwritable, match="lock file"):
        Journal.open(tmp_path / "no" / "table.journal")
