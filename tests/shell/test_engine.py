"""Journal first: a batch is durable with all that follows from it, or nothing has happened."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec
import pytest

from tabled.core.entries import AnyInput
from tabled.journal import Draft, Journal, JournalUnwritable, Snapshot
from tabled.model.outcome import RulingIssued
from tabled.outlets.topics import Origin
from tabled.shell.engine import BUNDLE, Engine, JournalMismatch, refold, unpack
from tabled.shell.rendering import renderer
from tabled.shell.store import JournalStore
from tests.core.driver import Bench

WALL = 1_700_000_000_000_000_000
RENDER = renderer(Origin("test", "t1", "epoch"))


def inputs() -> list[AnyInput]:
    bench = Bench()
    bench.deal()
    bench.put("3", 1000)
    bench.wait(3000)
    bench.press("fold")
    return bench.entries


def test_a_batch_gives_the_positions_and_rulings_that_a_step_by_step_fold_gives(tmp_path: Path) -> None:
    bench = Bench()
    bench.deal()
    bench.put("3", 1000)
    bench.wait(3000)
    with Journal.open(tmp_path / "j") as book:
        engine = Engine(book, RENDER)
        done = engine.commit(bench.entries, WALL)
        assert [pair for c in done for pair in c.outcomes] == bench.outcomes
        assert engine.state.position == bench.state.position


def test_recovery_reaches_the_same_state_whatever_the_batches_were(tmp_path: Path) -> None:
    entries = inputs()
    states = []
    for size in (1, 7, len(entries)):
        path = tmp_path / f"j{size}"
        with Journal.open(path, epoch="epoch") as book:
            engine = Engine(book, RENDER)
            for n in range(0, len(entries), size):
                engine.commit(entries[n : n + size], WALL + n)
        with Journal.open(path) as book:
            again = Engine(book, RENDER)
            assert again.recover() == book.next_pos - 1
            states.append(again.state)
    assert states[0] == states[1] == states[2]


class Refusing:
    """A journal whose disk is full for a while."""

    def __init__(self, book: Journal) -> None:
        self.book = book
        self.full = True

    @property
    def next_pos(self) -> int:
        return self.book.next_pos

    def append(self, batch: Sequence[Draft]) -> range:
        if self.full:
            raise JournalUnwritable("disk full", "free some space")
        return self.book.append(batch)

    def read(self, after: int = 0, until: int | None = None) -> object:
        return self.book.read(after, until)

    def keep(self, kept: Snapshot, beside: int | None = None) -> bool:
        return self.book.keep(kept, beside)

    def snapshots(self) -> list[Snapshot]:
        return self.book.snapshots()


def test_what_could_not_be_written_has_not_happened_and_can_be_committed_again(tmp_path: Path) -> None:
    entries = inputs()
    with Journal.open(tmp_path / "j") as book:
        disk = Refusing(book)
        engine = Engine(disk, RENDER)  # type: ignore[arg-type]  # a stand-in for the disk
        before = engine.state
        with pytest.raises(JournalUnwritable):
            engine.commit(entries, WALL)
        assert engine.state is before
        assert book.next_pos == 1
        disk.full = False
        engine.commit(entries, WALL)
        assert engine.state.position == book.next_pos - 1


def test_a_changed_byte_in_a_published_message_is_found_by_replay(tmp_path: Path) -> None:
    with Journal.open(tmp_path / "j", epoch="epoch") as book:
        Engine(book, RENDER).commit(inputs(), WALL)
        entries = list(book.read())
    refold(entries, RENDER)
    for n, entry in enumerate(entries):
        if entry.kind != "ruling":
            continue
        assert entry.payload is not None
        changed = msgspec.structs.replace(entry, payload=entry.payload.replace(b"call", b"fold", 1))
        with pytest.raises(JournalMismatch) as caught:
            refold([*entries[:n], changed, *entries[n + 1 :]], RENDER)
        assert caught.value.position == entry.pos
        with pytest.raises(JournalMismatch):
            refold([*entries[:n], *entries[n + 1 :]], RENDER)


def test_the_outbox_sees_each_message_of_a_bundle_in_order(tmp_path: Path) -> None:
    with Journal.open(tmp_path / "j") as book:
        done = Engine(book, RENDER).commit(inputs(), WALL)
        rulings = [p for c in done for p, o in c.outcomes if isinstance(o, RulingIssued)]
        store = JournalStore(book)
        sent = store.pending(0, 500)
        assert [m.position for m in sent] == sorted(m.position for m in sent)
        for position in rulings:
            assert [m.leaf for m in sent if m.position == position] == ["ruling", "evidence"]
        store.advance(rulings[0])
        assert store.cursor() == rulings[0]
        row = next(r for r in book.pending(0, 500) if r.position == rulings[0])
        assert row.leaf == BUNDLE
        assert [m.payload for m in unpack(row.position, row.payload)] == [
            m.payload for m in sent if m.position == rulings[0]
        ]
