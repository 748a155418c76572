"""Journal first: the one place where inputs become durable and the core moves.

``commit`` folds a batch of inputs over the present state, writes the inputs and all that follows from
them in one transaction, and only then adopts the new state.  If the write fails nothing has
happened: the same inputs may be committed again.  The daemon and the deterministic simulation
use this object unchanged.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Protocol

import msgspec

from tabled.core.entries import KINDS, AnyInput, decode, encode, kind_of
from tabled.core.snapshot import digest, to_bytes
from tabled.core.state import TableState
from tabled.core.table import step
from tabled.journal.entry import Draft, Entry
from tabled.model.outcome import AnyOutcome
from tabled.outlets.messages import Outgoing
from tabled.shell.marks import KIND as MARK
from tabled.shell.marks import Keeps, Marks, agrees

Renderer = Callable[[AnyOutcome, int, int], tuple[Outgoing, ...]]
"""``(outcome, position, wall_ns) -> messages``; pure."""

BUNDLE = "bundle"
"""The journal's leaf for a payload that packs all messages of one outcome."""

_encoder = msgspec.json.Encoder(order="deterministic")


class JournalLike(Keeps, Protocol):
    """What the engine needs of a journal; the simulation swaps the disk below it."""

    def append(self, batch: Sequence[Draft]) -> range:
        """Write all drafts or none; returns once they are durable."""


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

    def __init__(self, journal: JournalLike, render: Renderer, version: str = "") -> None:
        self._journal = journal
        self._render = render
        self._version = version
        self.marks = Marks(journal, version)
        self.state = TableState()
        self.folded = 0
        """Entries that `recover` had to fold."""

    def recover(self) -> int:
        """Fold the journal, from the newest state that is proved if there is one; returns the number of entries.

        Raises `JournalMismatch`, see `refold`.  What was published stays published: a word corrected in the catalogue
        since then is no mismatch here.
        """
        begins, state = self.marks.newest() or (1, TableState())
        self.state, count = refold(
            self._journal.read(begins - 1), self._render, published=False, state=state, version=self._version
        )
        self.folded = max(0, count - begins + 1)
        return count

    def rest(self) -> None:
        """To be called after a commit, when what follows from it is done."""
        self.marks.rest(self.state)

    def commit(self, inputs: Sequence[AnyInput], wall_ns: int) -> list[Committed]:
        """Append, commit, apply.  Raises what the journal raises, and then nothing has changed."""
        state = self.state
        first = self._journal.next_pos
        mark = self.marks.due(state)
        drafts: list[Draft] = [] if mark is None else [Draft(MARK, mark, wall_ns)]
        done: list[Committed] = []
        for entry in inputs:
            position = first + len(drafts)
            body = encode(entry)
            # What is folded is what is written, not what it was made of: a dict may have had another order.
            state, outcomes = step(state, position, decode(body))
            drafts.append(Draft(kind_of(entry), body, wall_ns))
            placed = tuple(enumerate(outcomes, position + 1))
            drafts.extend(outcome_draft(o, p, wall_ns, self._render) for p, o in placed)
            done.append(Committed(position, entry, placed))
        taken = self._journal.append(drafts)
        assert taken == range(first, first + len(drafts)), "the journal numbered its entries otherwise"
        self.state = state
        self.marks.committed(None if mark is None else first, [(c.position, c.entry) for c in done])
        return done


def refold(
    entries: Iterable[Entry],
    render: Renderer,
    *,
    published: bool = True,
    state: TableState | None = None,
    version: str = "",
) -> tuple[TableState, int]:
    """Fold a journal's inputs again and compare every recorded outcome, and the hash of each recorded state, with what
    they give now.

    ``state`` is the one before the first of the entries (None: the journal's beginning), ``version`` the program's.
    Returns the state and the position of the last entry.  Raises `JournalMismatch` at the first difference in an
    outcome, a state or, with ``published``, in the bytes that were published of an outcome.
    """
    state = TableState() if state is None else state
    count = 0
    expected: list[AnyOutcome] = []
    for entry in entries:
        count = entry.pos
        if expected:
            _compare(entry, expected.pop(0), render if published else None)
            continue
        if entry.kind == MARK:
            if not agrees(entry, state, version):
                raise JournalMismatch(entry.pos, entry.body, digest(to_bytes(state)).encode())
            continue
        if entry.kind not in KINDS:
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
