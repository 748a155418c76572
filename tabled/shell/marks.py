"""States beside the journal, so that a start need not fold the whole of it; none is believed that was not proved.

Every `EVERY` entries the journal gets an entry of kind "state" with the hash of the table's state before it, and the
state itself is kept beside the entries.  From then on a second fold goes along, begun from those bytes: where it comes
to the same bytes as the first at the next mark, starting from them is known to give what a whole fold gives, and that
mark says so.  A start takes the newest state that is proved so; a replay compares the hash at every mark.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol

import msgspec

from tabled.core import entries, snapshot
from tabled.core.entries import AnyInput
from tabled.core.state import TableState
from tabled.core.table import step
from tabled.journal.entry import Entry, Snapshot

EVERY = 500
"""Entries from mark to mark; a start folds two such stretches at most, and what came since the last mark."""
KIND = "state"

_encoder = msgspec.json.Encoder(order="deterministic")


class Mark(msgspec.Struct, frozen=True):
    """Body of an entry of kind "state".  ``proved`` is the position of the newest mark whose kept state is proved;
    ``layout`` names the version of the program whose bytes ``hash`` is made of."""

    hash: str
    layout: str
    proved: int | None = None


class Keeps(Protocol):
    """What is needed of a journal."""

    @property
    def next_pos(self) -> int:
        """Position that the next entry will take."""

    def read(self, after: int = 0, until: int | None = None) -> Iterator[Entry]:
        """Entries in order."""

    def keep(self, kept: Snapshot, beside: int | None = None) -> bool:
        """Keep a state, and of the others only the one at ``beside``."""

    def snapshots(self) -> list[Snapshot]:
        """States that were kept, the newest first."""


def decode(entry: Entry) -> Mark:
    """The mark that an entry holds.  Raises `msgspec.DecodeError`."""
    return msgspec.json.decode(entry.body, type=Mark)


def agrees(entry: Entry, state: TableState, version: str) -> bool:
    """Whether a mark's hash is that of this state; also True where another layout's hash says nothing."""
    mark = decode(entry)
    return mark.layout != layout(version) or mark.hash == snapshot.digest(snapshot.to_bytes(state))


def layout(version: str) -> str:
    """The program's version and the shape of its state."""
    return f"{version}/{snapshot.layout()}"


class Marks:
    """Makes marks and proves them.  Used by whoever commits, between two commits."""

    def __init__(self, journal: Keeps, version: str) -> None:
        self._journal = journal
        self._version = version
        self.every = EVERY
        self._last = 0
        """Position of the newest mark, or from where the next is counted."""
        self._proved: int | None = None
        self._ready: tuple[TableState, bytes, Mark] | None = None
        self._written: Snapshot | None = None
        self._shadow: TableState | None = None
        self._shadow_from = 0
        self._queue: list[tuple[int, AnyInput]] = []
        self.doubt = ""
        """What is wrong with the states that were kept; then none is made any more.  "" while all is well."""

    def newest(self) -> tuple[int, TableState] | None:
        """The newest proved state and the position of its mark; None where the whole journal is to be folded."""
        known: dict[int, tuple[Mark, Snapshot]] = {}
        for kept in self._journal.snapshots():
            entry = next(self._journal.read(kept.position - 1, kept.position), None) if kept.position > 0 else None
            if entry is not None and entry.kind == KIND:
                known[kept.position] = decode(entry), kept
        # A mark says what was proved before it, so the newest state of all waits for the mark behind it.
        proved = {mark.proved for mark, _ in known.values()}
        for position, (mark, kept) in sorted(known.items(), reverse=True):
            right = mark.layout == layout(self._version) and mark.hash == snapshot.digest(kept.body)
            if position in proved and right:
                try:
                    state = snapshot.from_bytes(kept.body)
                except snapshot.SnapshotUnreadable:
                    continue
                self._last = self._proved = position
                return position, state
        return None

    def due(self, state: TableState) -> bytes | None:
        """Body of the mark that stands before the next input, if one is ready for this state."""
        if self._ready is None or self._ready[0] is not state:
            return None
        return _encoder.encode(self._ready[2])

    def committed(self, marked: int | None, inputs: Sequence[tuple[int, AnyInput]]) -> None:
        """These inputs are durable, behind a mark at ``marked`` if there is one."""
        if marked is not None and self._ready is not None:
            self._written = Snapshot(marked, self._ready[1])
            self._ready = None
            self._queue = []
        if self._shadow is not None or self._written is not None:
            self._queue.extend(inputs)

    def rest(self, state: TableState) -> None:
        """Between two commits: keep what was marked, let the second fold follow, make the next mark when it is time.

        Never raises: a fault here costs time at the next start, not the table.
        """
        if self.doubt:
            return
        try:
            self._rest(state)
        except Exception as fault:  # whatever it is, the table goes on without marks
            self._give_up(f"{type(fault).__name__}: {fault}")

    def _rest(self, state: TableState) -> None:
        if self._written is not None:
            kept, self._written = self._written, None
            self._last = kept.position
            self._shadow = None
            if self._journal.keep(kept, self._proved):
                self._shadow, self._shadow_from = snapshot.from_bytes(kept.body), kept.position
        if self._shadow is not None:
            for position, entry in self._queue:
                self._shadow, _ = step(self._shadow, position, entries.decode(entries.encode(entry)))
        self._queue = []
        if self._ready is None and self._journal.next_pos - self._last > self.every and state.config is not None:
            self._make(state)

    def _make(self, state: TableState) -> None:
        self._last = self._journal.next_pos
        body = snapshot.to_bytes(state)
        if self._shadow is not None:
            if snapshot.to_bytes(self._shadow) != body:
                self._give_up(f"the fold from the state at entry {self._shadow_from} differs from the whole one")
                return
            self._proved = self._shadow_from
        self._ready = state, body, Mark(snapshot.digest(body), layout(self._version), self._proved)

    def _give_up(self, why: str) -> None:
        self.doubt = why
        self._ready = self._written = self._shadow = None
        self._queue = []
