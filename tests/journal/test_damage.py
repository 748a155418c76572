"""A journal that is not what was written is found out, by entry, and never read as if it were sound."""

from __future__ import annotations

import random
import shutil
import sqlite3
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tabled.journal import Entry, Journal, JournalDamaged, JournalError, JournalReader, verify
from tests.journal.conftest import some_drafts

COUNT = 60
COLUMNS = ("kind", "body", "wall_ns", "payload", "leaf", "hash", "version")
SINGLE = (
    ("meta", "epoch"),
    ("meta", "genesis"),
    ("head", "pos"),
    ("head", "hash"),
    ("cursor", "pos"),
    ("cursor", "hash"),
)


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A sound, closed journal of `COUNT` entries with its outbox in the middle."""
    path = tmp_path_factory.mktemp("sound") / "table.journal"
    with Journal.open(path) as journal:
        journal.append(some_drafts(COUNT))
        journal.advance(COUNT // 2)
    return path


@pytest.fixture(scope="module")
def entries(sound: Path) -> list[Entry]:
    with JournalReader.open(sound) as reader:
        return list(reader.read())


@pytest.fixture
def copy(sound: Path, path: Path) -> Path:
    shutil.copy(sound, path)
    return path


def _flipped(value: object, bit: int) -> object:
    """``value`` with one bit of its stored form changed; text may stop being text."""
    if isinstance(value, int):
        return value ^ (1 << bit % 63)
    assert isinstance(value, bytes)
    raw = bytearray(value)
    raw[bit // 8 % len(raw)] ^= 1 << bit % 8
    return bytes(raw)


def _flip_in_table(path: Path, table: str, column: str, pos: int, bit: int) -> bool:
    """Change one bit of one value under SQLite's eyes; False when there is none to change."""
    where = f"WHERE pos = {pos}" if table == "entry" else ""
    db = sqlite3.connect(path, isolation_level=None)
    db.text_factory = bytes
    try:
        value = db.execute(f"SELECT {column} FROM {table} {where}").fetchone()[0]
        if value is None or value == b"":
            return False
        text = column in ("kind", "leaf", "epoch")
        db.execute(
            f"UPDATE {table} SET {column} = {'CAST(? AS TEXT)' if text else '?'} {where}", (_flipped(value, bit),)
        )
    finally:
        db.close()
    return True


@settings(max_examples=150, deadline=None)
@given(pos=st.integers(1, COUNT), column=st.sampled_from(COLUMNS), bit=st.integers(0, 100_000))
def test_any_bit_of_any_row_is_found_and_named(
    sound: Path, entries: list[Entry], tmp_path_factory: pytest.TempPathFactory, pos: int, column: str, bit: int
) -> None:
    path = tmp_path_factory.getbasetemp() / "flipped.journal"
    shutil.copy(sound, path)
    if not _flip_in_table(path, "entry", column, pos, bit):
        return
    report = verify(path)
    assert not report.ok
    assert report.damage is not None
    assert report.damage.pos == pos
    assert report.sound == pos - 1
    assert f"entry {pos}" in report.line()
    with JournalReader.open(path) as reader:
        read: list[Entry] = []
        with pytest.raises(JournalDamaged) as caught:
            _until_damage(reader, read)
        assert caught.value.pos == pos
        assert read == entries[: pos - 1]
    with pytest.raises(JournalDamaged) as caught:  # COUNT is less than the tail that is checked
        Journal.open(path)
    assert caught.value.pos == pos


def _until_damage(reader: JournalReader, into: list[Entry]) -> None:
    for entry in reader.read():
        into.append(entry)  # noqa: PERF402 - one by one: what came before the exception must be kept


@pytest.mark.parametrize(("table", "column"), SINGLE)
@pytest.mark.parametrize("bit", [0, 3, 7, 8, 62])
def test_any_bit_of_the_single_rows_is_found(copy: Path, table: str, column: str, bit: int) -> None:
    assert _flip_in_table(copy, table, column, 0, bit)
    report = verify(copy)
    assert not report.ok
    if table == "cursor":
        assert report.damage is None
        assert report.sound == COUNT
        assert "published" in report.line()
    else:
        with pytest.raises(JournalDamaged):
            Journal.open(copy)


def test_a_damaged_cursor_publishes_again_rather_than_not_at_all(copy: Path) -> None:
    assert _flip_in_table(copy, "cursor", "hash", 0, 5)
    with Journal.open(copy) as journal:
        assert journal.cursor() == 0
        assert "published once more" in journal.notes[0]
        journal.advance(COUNT)
    assert verify(copy).ok
    with Journal.open(copy) as journal:
        assert journal.cursor() == COUNT
        assert journal.notes == ()


@pytest.mark.parametrize(
    ("statement", "pos"),
    [
        ("DELETE FROM entry WHERE pos = 20", 20),
        (f"DELETE FROM entry WHERE pos = {COUNT}", COUNT),
        ("DELETE FROM entry WHERE pos > 30", 31),
        ("DELETE FROM entry", 1),
        ("UPDATE entry SET pos = 1000 WHERE pos = 9", 9),
        (
            f"INSERT INTO entry SELECT {COUNT + 1}, kind, version, wall_ns, leaf, hash, body, payload"
            " FROM entry WHERE pos = 3",
            COUNT + 1,
        ),
        ("UPDATE entry SET payload = NULL WHERE pos = 5", 5),
        ("UPDATE entry SET payload = body, body = payload WHERE pos = 6", 6),
        ("UPDATE entry SET kind = 'alert' WHERE pos = 5", 5),
    ],
)
def test_rows_taken_away_added_or_changed(copy: Path, statement: str, pos: int) -> None:
    db = sqlite3.connect(copy, isolation_level=None)
    db.execute(statement)
    db.close()
    report = verify(copy)
    assert report.damage is not None
    assert report.damage.pos == pos
    with pytest.raises(JournalDamaged) as caught:
        Journal.open(copy)
    assert caught.value.pos == pos


@pytest.mark.parametrize(
    "statement", ["DELETE FROM head", "INSERT INTO head SELECT * FROM head", "DELETE FROM meta", "DROP TABLE entry"]
)
def test_a_header_that_is_gone(copy: Path, statement: str) -> None:
    db = sqlite3.connect(copy, isolation_level=None)
    db.execute(statement)
    db.close()
    assert verify(copy).damage is not None
    with pytest.raises(JournalDamaged):
        Journal.open(copy)


def test_the_outbox_publishes_nothing_that_was_changed(copy: Path, entries: list[Entry]) -> None:
    published = [e.pos for e in entries if e.payload is not None]
    with Journal.open(copy) as journal:
        _flip_in_table(copy, "entry", "payload", published[3], 2)
        assert [p.position for p in journal.pending(0, 100)] == published[:3]
        with pytest.raises(JournalDamaged) as caught:
            journal.pending(published[2], 100)
        assert caught.value.pos == published[3]


def test_an_append_to_a_file_that_changed_underneath_is_refused(copy: Path) -> None:
    with Journal.open(copy) as journal:
        db = sqlite3.connect(copy, isolation_level=None)
        db.execute("UPDATE head SET pos = pos - 1")
        db.close()
        with pytest.raises(JournalDamaged, match="another program changed the file"):
            journal.append(some_drafts(1))
        assert journal.next_pos == COUNT + 1


def test_no_bit_of_the_file_can_change_what_is_read_in_silence(sound: Path, entries: list[Entry], path: Path) -> None:
    """Bits of the raw file, anywhere: either an error that says so, or nothing that is read has changed."""
    whole = sound.read_bytes()
    chance = random.Random(20)
    # All of the file's header and the start of each page, where SQLite keeps its own books, and a sample of the rest.
    books = [byte for page in range(0, len(whole), 4096) for byte in range(page, page + 24)]
    places = [*range(100), *chance.sample(books, 250), *chance.sample(range(len(whole)), 450)]
    found = harmless = 0
    for byte in places:
        raw = bytearray(whole)
        raw[byte] ^= 1 << chance.randrange(8)
        path.write_bytes(raw)
        read: list[Entry] = []
        try:
            report = verify(path)
            with JournalReader.open(path) as reader:
                _until_damage(reader, read)
        except JournalError:
            found += 1
            assert read == entries[: len(read)]
        else:
            assert report.damage is None
            assert read == entries
            found, harmless = found + (not report.ok), harmless + report.ok
        for leftover in ("-wal", "-shm"):
            path.with_name(path.name + leftover).unlink(missing_ok=True)
    assert found > len(places) // 3, "the flips must reach what matters"
    assert harmless, "and some lie in unused space"


def test_a_torn_log_leaves_whole_batches(path: Path, tmp_path: Path) -> None:
    """Power cut in mid-write: the write-ahead log ends anywhere, or in garbage."""
    journal = Journal.open(path)
    ends = [0, *(journal.append(some_drafts(1 + n % 4, seed=n))[-1] for n in range(12))]
    original = list(journal.read())
    base, log = path.read_bytes(), path.with_name(path.name + "-wal").read_bytes()
    journal.close()
    chance = random.Random(4)
    cuts = [0, 1, 31, 32, 33, len(log)]
    cuts.extend(chance.randrange(len(log)) for _ in range(80))
    torn = tmp_path / "torn.journal"
    reached = set()
    for cut in cuts:
        torn.write_bytes(base)
        garbage = chance.choice((b"", bytes(700), chance.randbytes(9000)))
        torn.with_name(torn.name + "-wal").write_bytes(log[:cut] + garbage)
        torn.with_name(torn.name + "-shm").unlink(missing_ok=True)
        with Journal.open(torn) as opened:
            last = opened.next_pos - 1
            assert last in ends
            assert list(opened.read()) == original[:last]
            assert opened.append(some_drafts(1)) == range(last + 1, last + 2)
        assert verify(torn).ok
        reached.add(last)
    assert len(reached) > 5
    assert max(reached) == ends[-1]
