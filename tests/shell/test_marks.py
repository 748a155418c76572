"""States that are kept: believed when they are proved, and never in the way."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from tabled.core import snapshot
from tabled.core.entries import AnyInput, Seen
from tabled.core.state import TableState
from tabled.core.table import step as core_step
from tabled.journal import Draft, Journal, JournalReader, Snapshot
from tabled.outlets.topics import Origin
from tabled.shell import marks
from tabled.shell.engine import Engine, JournalMismatch, refold
from tabled.shell.rendering import renderer
from tests.core.driver import Bench

RENDER = renderer(Origin("test", "t1", "epoch"))
EVERY = 40


def course() -> list[AnyInput]:
    bench = Bench()
    for n in range(4):
        bench.deal(f"h{n}")
        bench.put("3", 1000)
        bench.wait(3000)
        bench.press("fold")
        bench.wait(600)
        bench.press("fold")
        bench.wait(1500)
        for seat in bench.seats:
            bench.lift(seat)
        bench.wait(1500)
    return bench.entries


COURSE = course()


def engine(book: Journal, version: str = "1") -> Engine:
    made = Engine(book, RENDER, version)
    made.marks.every = EVERY
    return made


def write(path: Path, entries: list[AnyInput], *, size: int = 3) -> TableState:
    """A daemon's life on this journal."""
    with Journal.open(path, epoch="epoch") as book:
        one = engine(book)
        one.recover()
        for n in range(0, len(entries), size):
            one.commit(entries[n : n + size], 0)
            one.rest()
        assert not one.marks.doubt
        return one.state


def recover(path: Path, version: str = "1") -> tuple[Engine, int]:
    with Journal.open(path) as book:
        one = engine(book, version)
        return one, one.recover()


@contextlib.contextmanager
def raw(path: Path) -> Iterator[sqlite3.Connection]:
    with contextlib.closing(sqlite3.connect(path)) as db:
        yield db
        db.commit()


def marks_of(path: Path) -> list[tuple[int, marks.Mark]]:
    with JournalReader.open(path) as book:
        return [(e.pos, marks.decode(e)) for e in book.read() if e.kind == marks.KIND]


def test_a_start_folds_only_what_came_behind_the_newest_proved_state(tmp_path: Path) -> None:
    path = tmp_path / "j"
    state = write(path, COURSE)
    made = marks_of(path)
    assert len(made) > 5
    positions = [pos for pos, _ in made]
    assert [mark.proved for _, mark in made] == [None, *positions[:-1]]
    one, count = recover(path)
    assert one.state == state
    assert one.folded == count - positions[-2] + 1
    assert one.folded <= 3 * EVERY


def test_many_short_lives_never_lose_the_proved_state(tmp_path: Path) -> None:
    path = tmp_path / "j"
    step = EVERY + 10
    for n in range(0, len(COURSE), step):
        write(path, COURSE[n : n + step])
    one, count = recover(path)
    assert one.state == write(tmp_path / "whole", COURSE) or one.folded <= count
    with JournalReader.open(path) as book:
        assert len(book.snapshots()) <= 2
        whole, _ = refold(book.read(), RENDER, version="1")
    assert one.state == whole


def damaged_rows(path: Path, what: str) -> None:
    with raw(path) as db:
        if what == "absent":
            db.execute("DELETE FROM snapshot")
        elif what == "no table":
            db.execute("DROP TABLE snapshot")
        elif what == "one bit":
            for pos, body in db.execute("SELECT pos, body FROM snapshot").fetchall():
                changed = bytes([*body[:99], body[99] ^ 1, *body[100:]])
                db.execute("UPDATE snapshot SET body = ? WHERE pos = ?", (changed, pos))
        elif what == "another state":
            body = snapshot.to_bytes(TableState())
            db.execute("UPDATE snapshot SET body = ?", (body,))
        elif what == "another place":
            db.execute("UPDATE snapshot SET pos = pos - 1")
        else:
            db.execute("DELETE FROM snapshot WHERE pos < (SELECT max(pos) FROM snapshot)")


@pytest.mark.parametrize("what", ["absent", "no table", "one bit", "another state", "another place", "unproved alone"])
def test_a_state_that_is_not_right_or_not_proved_is_passed_over(tmp_path: Path, what: str) -> None:
    path = tmp_path / "j"
    state = write(path, COURSE)
    damaged_rows(path, what)
    one, count = recover(path)
    assert one.folded == count
    assert one.state == state


def test_another_version_folds_everything_itself(tmp_path: Path) -> None:
    path = tmp_path / "j"
    state = write(path, COURSE)
    one, count = recover(path, version="2")
    assert one.folded == count
    assert one.state == state


def test_a_replay_finds_a_state_that_its_entries_do_not_make(tmp_path: Path) -> None:
    """The hash stands in the chain, so whoever wanted to hide a change would have to change that, too."""
    path = tmp_path / "j"
    write(path, COURSE[:200])
    with JournalReader.open(path) as book:
        entries = list(book.read())
    refold(entries, RENDER, version="1")
    n = next(i for i, e in enumerate(entries) if e.kind == marks.KIND)
    wrong = msgspec.json.encode(msgspec.structs.replace(marks.decode(entries[n]), hash="0" * 64))
    entries[n] = msgspec.structs.replace(entries[n], body=wrong)
    with pytest.raises(JournalMismatch) as caught:
        refold(entries, RENDER, version="1")
    assert caught.value.position == entries[n].pos
    refold(entries, RENDER, version="2")


def test_a_fold_from_a_kept_state_that_goes_another_way_is_told_and_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Planted: what a state keeps beside its bytes decides something."""

    def forgetful(state: TableState, position: int, entry: AnyInput) -> object:
        after, outcomes = core_step(state, position, entry)
        if isinstance(entry, Seen):
            after.gone_ns = {**after.gone_ns, "planted": position}
        return after, outcomes

    monkeypatch.setattr(marks, "step", forgetful)
    path = tmp_path / "j"
    with Journal.open(path, epoch="epoch") as book:
        one = engine(book)
        for n in range(0, len(COURSE), 3):
            one.commit(COURSE[n : n + 3], 0)
            one.rest()
        assert "differs from the whole one" in one.marks.doubt
        state = one.state
    assert all(mark.proved is None for _, mark in marks_of(path))
    again, count = recover(path)
    assert again.folded == count
    assert again.state == state


def test_a_fault_while_marking_does_not_touch_the_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(_: TableState) -> bytes:
        raise AssertionError("planted")

    monkeypatch.setattr(snapshot, "to_bytes", broken)
    with Journal.open(tmp_path / "j", epoch="epoch") as book:
        one = engine(book)
        for n in range(0, 90, 3):
            one.commit(COURSE[n : n + 3], 0)
            one.rest()
        assert "planted" in one.marks.doubt
        assert one.state.position == book.next_pos - 1


def test_a_disk_that_keeps_no_state_costs_nothing_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Journal, "keep", lambda *_: False)
    path = tmp_path / "j"
    state = write(path, COURSE)
    one, count = recover(path)
    assert one.folded == count
    assert one.state == state


def test_what_may_be_kept_is_bounded(tmp_path: Path) -> None:
    with Journal.open(tmp_path / "j") as book:
        book.append([Draft("timer", b"{}", 0)] * 3)
        assert book.keep(Snapshot(1, b"a"))
        assert book.keep(Snapshot(2, b"b"), 1)
        assert book.keep(Snapshot(3, b"c"), 1)
        assert [s.position for s in book.snapshots()] == [3, 1]
        assert book.keep(Snapshot(2, b"d"))
        assert book.snapshots() == [Snapshot(2, b"d")]
        for wrong in (Snapshot(0, b""), Snapshot(4, b""), Snapshot(1, bytes((16 << 20) + 1))):
            with pytest.raises(ValueError, match="cannot be kept"):
                book.keep(wrong)
