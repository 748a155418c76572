"""Appending, reading, the outbox, and who may open what."""

from __future__ import annotations

import hashlib
import os
import sqlite3
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tabled.journal import (
    KINDS,
    MAX_BATCH,
    MAX_BODY,
    MAX_LEAF,
    Draft,
    DraftRefused,
    Journal,
    JournalBusy,
    JournalClosed,
    JournalMissing,
    JournalReader,
    JournalTooNew,
    NotAJournal,
    verify,
)
from tests.journal.conftest import as_drafts, some_drafts

texts = st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=20)
published = st.tuples(st.binary(max_size=5000), texts) | st.just((None, None))
drafts = st.builds(
    lambda kind, body, wall_ns, out: Draft(kind, body, wall_ns, *out),
    st.sampled_from(sorted(KINDS)),
    st.binary(max_size=9000),
    st.integers(-(2**63), 2**63 - 1),
    published,
)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(batches=st.lists(st.lists(drafts, max_size=8), max_size=5))
def test_any_drafts_come_back_in_order_and_without_holes(
    batches: list[list[Draft]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("j") / "table.journal"
    flat = [d for batch in batches for d in batch]
    with Journal.open(path) as journal:
        for batch in batches:
            expected = range(journal.next_pos, journal.next_pos + len(batch))
            assert journal.append(batch) == expected
        assert as_drafts(journal.read()) == flat
    with Journal.open(path, create=False) as journal:
        entries = list(journal.read())
        assert as_drafts(iter(entries)) == flat
        assert [e.pos for e in entries] == list(range(1, len(flat) + 1)) == list(range(1, journal.next_pos))
        assert [(p.position, p.leaf, p.payload) for p in journal.pending(0, 1000)] == [
            (e.pos, e.leaf, e.payload) for e in entries if e.payload is not None
        ]
    report = verify(path)
    assert report.ok
    assert report.sound == len(flat)


def test_the_chain_is_what_the_documentation_says(path: Path) -> None:
    """A second, plain construction of the hashes, and one fixed value: a change of format must be meant."""

    def field(value: bytes | None) -> bytes:
        return (b"\0" if value is None else b"\1") + len(value or b"").to_bytes(4, "big") + (value or b"")

    batch = [Draft("obs", b"{}", -5), Draft("ruling", b"{1}", 7, b"pay", "ruling")]
    with Journal.open(path, epoch="0123456789abcdef") as journal:
        journal.append(batch)
        entries = list(journal.read())
    expected = hashlib.sha256(b"tabled journal" + b"\1" + (16).to_bytes(4, "big") + b"0123456789abcdef").digest()
    for pos, d in enumerate(batch, 1):
        body = pos.to_bytes(8, "big") + (1).to_bytes(4, "big") + d.wall_ns.to_bytes(8, "big", signed=True)
        leaf = None if d.leaf is None else d.leaf.encode()
        expected = hashlib.sha256(
            expected + body + field(d.kind.encode()) + field(d.body) + field(d.payload) + field(leaf)
        ).digest()
        assert entries[pos - 1].hash == expected
    assert expected.hex() == "b18536ef40534c03f781e93b94fe8ffad4e0de5e50b84f9ec00bd243ed231af2"


def test_reading_a_part(journal: Journal) -> None:
    journal.append(some_drafts(1500))
    assert [e.pos for e in journal.read(after=700)] == list(range(701, 1501))
    assert [e.pos for e in journal.read(after=3, until=600)] == list(range(4, 601))
    assert list(journal.read(after=1500)) == list(journal.read(after=9999)) == []
    with pytest.raises(ValueError, match="count from 1"):
        next(journal.read(after=-1))


def test_a_read_ends_at_what_stood_when_it_began(journal: Journal) -> None:
    journal.append(some_drafts(3))
    reading = journal.read()
    assert next(reading).pos == 1
    journal.append(some_drafts(2))
    assert [e.pos for e in reading] == [2, 3]


def test_an_empty_batch_is_no_entry(journal: Journal) -> None:
    assert journal.append([]) == range(1, 1)
    assert journal.next_pos == 1


@pytest.mark.parametrize(
    ("bad", "says"),
    [
        (Draft("gossip", b"", 0), "unknown kind"),
        (Draft("obs", b"x" * (MAX_BODY + 1), 0), "1048577 bytes"),
        (Draft("ruling", b"", 0, b"x" * (MAX_BODY + 1), "ruling"), "payload"),
        (Draft("ruling", b"", 0, b"x", None), "without a leaf"),
        (Draft("ruling", b"", 0, None, "ruling"), "without a leaf"),
        (Draft("ruling", b"", 0, b"x", ""), "leaf"),
        (Draft("ruling", b"", 0, b"x", "ö" * MAX_LEAF), "leaf"),
        (Draft("ruling", b"", 0, b"x", "a\0b"), "leaf"),
        (Draft("ruling", b"", 0, b"x", "\ud800"), "leaf"),
        (Draft("obs", b"", 2**63), "wall time"),
    ],
)
def test_a_bad_draft_refuses_its_whole_batch(journal: Journal, bad: Draft, says: str) -> None:
    journal.append([Draft("obs", b"before", 0)])
    with pytest.raises(DraftRefused, match=says):
        journal.append([Draft("obs", b"good", 0), bad])
    assert journal.append([Draft("obs", b"after", 0)]) == range(2, 3)
    assert [e.body for e in journal.read()] == [b"before", b"after"]


def test_a_batch_is_capped(journal: Journal) -> None:
    with pytest.raises(DraftRefused, match="in one batch"):
        journal.append([Draft("obs", b"", 0)] * (MAX_BATCH + 1))
    with pytest.raises(DraftRefused, match="bytes"):
        journal.append([Draft("obs", b"x" * MAX_BODY, 0)] * 17)
    assert journal.next_pos == 1


def test_the_largest_body_fits(journal: Journal) -> None:
    body = os.urandom(MAX_BODY)
    journal.append([Draft("ruling", body, 0, body, "ruling")])
    assert next(journal.read()).body == body
    assert journal.pending(0, 1)[0].payload == body


def test_the_outbox_cursor(path: Path) -> None:
    with Journal.open(path) as journal:
        journal.append(some_drafts(33))
        assert journal.cursor() == 0
        first = journal.pending(0, 5)
        assert [p.position for p in first] == [5, 6, 7, 8, 9]
        journal.advance(9)
        journal.advance(4)
        assert journal.cursor() == 9
        assert journal.pending(journal.cursor(), 2)[0].position == 10
        with pytest.raises(ValueError, match="cannot have been published"):
            journal.advance(34)
        with pytest.raises(ValueError, match="count from 1"):
            journal.pending(-1, 1)
        journal.append([Draft("obs", b"", 0)])
        assert journal.pending(33, 10) == []
        journal.append([Draft("ruling", b"", 0, b"", "ruling")])
        assert [p.position for p in journal.pending(33, 10)] == [35]
    with Journal.open(path) as journal:
        assert journal.cursor() == 9
        assert journal.notes == ()
        assert journal.pending(35, 10) == []


def test_the_cursor_never_waits_for_an_append_and_is_saved_after_it(path: Path) -> None:
    with Journal.open(path) as journal:
        journal.append(some_drafts(20))
        with journal._guard:  # as if another thread were in the middle of an append
            journal.advance(7)
            assert journal.cursor() == 7
            with JournalReader.open(path) as other:
                assert other.cursor().pos == 0
        journal.append([Draft("obs", b"", 0)])
        with JournalReader.open(path) as other:
            assert other.cursor().pos == 7


def test_epochs_differ_and_stay(path: Path, tmp_path: Path) -> None:
    with Journal.open(path) as one, Journal.open(tmp_path / "other.journal") as two:
        assert one.epoch != two.epoch
        epoch = one.epoch
    with Journal.open(path) as again:
        assert again.epoch == epoch


def test_size_is_that_of_the_disk(journal: Journal) -> None:
    before = journal.size_bytes()
    journal.append([Draft("obs", os.urandom(500_000), 0)])
    assert journal.size_bytes() - before >= 500_000


def test_use_after_close(path: Path) -> None:
    journal = Journal.open(path)
    journal.append(some_drafts(600))
    reading = journal.read()
    next(reading)
    journal.close()
    journal.close()
    with pytest.raises(JournalClosed):
        journal.append([Draft("obs", b"", 0)])
    with pytest.raises(JournalClosed):
        journal.advance(3)
    with pytest.raises(JournalClosed):
        list(reading)


def test_only_one_writer_in_this_process(path: Path) -> None:
    link = path.with_name("link")
    with Journal.open(path) as journal:
        link.symlink_to(path)
        for name in (path, link):
            with pytest.raises(JournalBusy, match="this very process"):
                Journal.open(name)
        journal.append([Draft("obs", b"", 0)])
    Journal.open(path).close()


def test_only_one_writer_on_the_machine(path: Path) -> None:
    script = (
        "import sys\nfrom tabled.journal import Journal\n"
        "journal = Journal.open(sys.argv[1])\nprint('open', flush=True)\ninput()"
    )
    child = subprocess.Popen(
        [sys.executable, "-c", script, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert child.stdout is not None
    try:
        assert child.stdout.readline() == "open\n"
        with pytest.raises(JournalBusy, match=f"process {child.pid}"):
            Journal.open(path)
        with JournalReader.open(path) as reader:
            assert reader.head().pos == 0
    finally:
        child.kill()
        child.communicate()
    with Journal.open(path) as journal:
        assert journal.append([Draft("obs", b"", 0)]) == range(1, 2)


def test_what_is_not_a_journal(tmp_path: Path) -> None:
    text = tmp_path / "text"
    text.write_text("all in\n" * 1000)
    other = tmp_path / "other.db"
    with sqlite3.connect(other) as db:
        db.execute("CREATE TABLE entry (pos)")
    db.close()
    empty = tmp_path / "empty"
    empty.touch()
    for name in (text, other, empty, tmp_path):
        before = None if name.is_dir() else name.read_bytes()
        for attempt in (Journal.open, JournalReader.open, verify):
            with pytest.raises(NotAJournal):
                attempt(name)
        assert before is None or name.read_bytes() == before
    with pytest.raises(JournalMissing):
        Journal.open(tmp_path / "none", create=False)
    with pytest.raises(JournalMissing):
        verify(tmp_path / "none")
    assert not (tmp_path / "none").exists()


def test_a_newer_format_is_left_alone(path: Path) -> None:
    Journal.open(path).close()
    with sqlite3.connect(path) as db:
        db.execute("PRAGMA user_version=2")
    db.close()
    before = path.read_bytes()
    with pytest.raises(JournalTooNew, match="format 2"):
        Journal.open(path)
    assert path.read_bytes() == before


def test_a_log_without_its_journal_is_not_overwritten(path: Path) -> None:
    journal = Journal.open(path)
    journal.append(some_drafts(5))
    wal = path.with_name(path.name + "-wal")
    kept = wal.read_bytes()
    assert kept
    journal.close()
    path.unlink()
    wal.write_bytes(kept)
    with pytest.raises(JournalMissing, match="newest entries"):
        Journal.open(path)
    assert wal.read_bytes() == kept


def test_a_reader_beside_the_writer_sees_whole_batches_in_order(path: Path) -> None:
    """Also: positions that are seen are never taken back, and a reader keeps up through a shared connection."""
    seen: list[int] = []
    heads: list[int] = []
    failures: list[Exception] = []
    done = threading.Event()

    def follow(reader: JournalReader) -> None:
        try:
            while not done.is_set() or seen[-1:] != [300]:
                seen.extend(e.pos for e in reader.read(after=seen[-1] if seen else 0))
                heads.append(reader.head().pos)
        except Exception as error:
            failures.append(error)

    with Journal.open(path) as journal, JournalReader.open(path) as reader:
        thread = threading.Thread(target=follow, args=(reader,))
        thread.start()
        for n in range(60):
            journal.append(some_drafts(5, seed=n))
            journal.advance(journal.next_pos - 1)
        done.set()
        thread.join(30)
        assert not failures
        assert all(pos % 5 == 0 for pos in heads)
        assert len(set(heads)) > 10
        assert seen == list(range(1, 301))
        assert journal.cursor() == 300


def test_a_slow_reader_does_not_let_the_log_grow(path: Path) -> None:
    with Journal.open(path) as journal:
        journal.append(some_drafts(2000))
        reading = journal.read()
        next(reading)
        for n in range(40):
            journal.append([Draft("obs", os.urandom(400_000), n)])
        wal = path.with_name(path.name + "-wal").stat().st_size
        assert wal < 12 << 20
        assert sum(1 for _ in reading) == 1999
