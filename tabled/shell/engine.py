"""Journal first: the one place where inputs become durable and the core moves.

``commit`` folds a batch of inputs over the present state, writes the inputs and all that follows from
them in one transaction, and only then adopts the new state.  If the write fails nothing has
happened: the same inputs may be committed again.  The daemon and the deterministic simulation
use this object unchanged.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Protocol

import msgspec

from tabled.core.entries import AnyInput, decode, encode, kind_of
from tabled.core.state import TableState
from tabled.core.table import step
from tabled.journal.entry import Draft, Entry
from tabled.model.outcome import AnyOutcome
from tabled.outlets.messages import Outgoing

Renderer = Callable[[AnyOutcome, int, int], tuple[Outgoing, ...]]
"""``(outcome, position, wall_ns) -> messages``; pure."""

BUNDLE = "bundle"
"""The journal's leaf for a payload that packs all messages of one outcome."""

_encoder = msgspec.json.Encoder(order="deterministic")


class JournalLike(Protocol):
    """What the engine needs of a journal; the simulation swaps the disk below it."""

    @property
    def next_pos(self) -> int:
        """Position that the next entry will take."""

    def append(self, batch: Sequence[Draft]) -> range:
        """Write all drafts or none; returns once they are durable."""

    def read(self, after: int = 0, until: int | None = None) -> Iterator[Entry]:
        """Entries in order."""


class JournalMismatch(Exception):
    """The journal's own rulings are not what this version makes of its inputs."""

    def __init__(self, position: int, recorded: bytes | None, replayed: bytes | None) -> None:
        super().__init__(
            f"journal entry {position}: this version rules otherwise than what is written there; give [journal] file "
            "another name, keep this one for the floor, and run 'tabled replay FILE' on it"
        )
        self.position = position
        self.recorded = recorded
        self.replayed = replayed


class Committed(msgspec.Struct, frozen=True):
    """One durable input and the outcomes that followed, with their journal positions."""

    position: int
    entry: AnyInput
    outcomes: tuple[tuple[int, AnyOutcome], ...]


class Engine:
    """The core on its journal.  Not thread-safe: one caller at a time."""

    def __init__(self, journal: JournalLike, render: Renderer) -> None:
        self._journal = journal
        self._render = render
        self.state = TableState()

    def recover(self) -> int:
        """Fold the whole journal; returns the number of entries.  Raises `JournalMismatch`, see `refold`.

        What was published stays published: a word corrected in the catalogue since then is no mismatch here.
        """
        self.state, count = refold(self._journal.read(), self._render, published=False)
        return count

    def commit(self, inputs: Sequence[AnyInput], wall_ns: int) -> list[Committed]:
        """Append, commit, apply.  Raises what the journal raises, and then nothing has changed."""
        state = self.state
        first = self._journal.next_pos
        drafts: list[Draft] = []
        done: list[Committed] = []
        for entry in inputs:
            position = first + len(drafts)
            state, outcomes = step(state, position, entry)
            drafts.append(Draft(kind_of(entry), encode(entry), wall_ns))
            placed = tuple(enumerate(outcomes, position + 1))
            drafts.extend(outcome_draft(o, p, wall_ns, self._render) for p, o in placed)
            done.append(Committed(position, entry, placed))
        taken = self._journal.append(drafts)
        assert taken == range(first, first + len(drafts)), "the journal numbered its entries otherwise"
        self.state = state
        return done


def refold(entries: Iterable[Entry], render: Renderer, *, published: bool = True) -> tuple[TableState, int]:
    """Fold a journal's inputs again and compare every recorded outcome with what they give now.

    Returns the state and the number of entries.  Raises `JournalMismatch` at the first difference in an outcome
    or, with ``published``, in the bytes that were published of it.
    """
    state = TableState()
    count = 0
    expected: list[AnyOutcome] = []
    for entry in entries:
        count = entry.pos
        if expected:
            _compare(entry, expected.pop(0), render if published else None)
            continue
        if entry.kind not in _INPUT_KINDS:
            raise JournalMismatch(entry.pos, entry.body, None)
        state, outcomes = step(state, entry.pos, decode(entry.body))
        expected = list(outcomes)
    if expected:
        raise JournalMismatch(count + 1, None, _encoder.encode(expected[0]))
    return state, count


def outcome_draft(outcome: AnyOutcome, position: int, wall_ns: int, render: Renderer) -> Draft:
    """The journal's entry for one outcome: its own bytes, and the bytes to be published of it."""
    messages = render(outcome, position, wall_ns)
    kind = str(type(outcome).__struct_config__.tag)
    return Draft(kind, _encoder.encode(outcome), wall_ns, pack(messages), BUNDLE)


def _compare(entry: Entry, outcome: AnyOutcome, render: Renderer | None) -> None:
    kind, body = str(type(outcome).__struct_config__.tag), _encoder.encode(outcome)
    if (kind, body) != (entry.kind, entry.body):
        raise JournalMismatch(entry.pos, entry.body, body)
    if render is None:
        return
    payload = outcome_draft(outcome, entry.pos, entry.wall_ns, render).payload
    if payload != entry.payload:
        raise JournalMismatch(entry.pos, entry.payload, payload)


def pack(messages: tuple[Outgoing, ...]) -> bytes:
    """All messages of one outcome as the journal's payload."""
    return _encoder.encode([(m.leaf, m.payload.decode("utf-8")) for m in messages])


def unpack(position: int, payload: bytes) -> tuple[Outgoing, ...]:
    """The messages that `pack` packed."""
    pairs = msgspec.json.decode(payload, type=list[tuple[str, str]])
    return tuple(Outgoing(position, leaf, text.encode("utf-8")) for leaf, text in pairs)


_INPUT_KINDS = frozenset({"started", "obs", "timer", "bounds", "chips", "cmd"})
