"""Bugs on purpose, to see that the simulation sees them.  None of this is in production code; each is a way in which
such a daemon is easily written wrong."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import Literal
from unittest import mock

import msgspec

import firmware_bridge.session.panel as panel_module
import tabled.core.chips as chips_module
from firmware_bridge.session.acts import Act, Acts
from firmware_bridge.session.feig import FeigSession
from firmware_bridge.wire import AnyObservation, CleanEmpty, Corrupt, Present
from tabled.core.draft import Draft as Work
from tabled.core.entries import AnyInput, decode, encode, kind_of
from tabled.core.state import TableState
from tabled.core.table import step
from tabled.fusion.presence import Area
from tabled.journal.entry import Draft
from tabled.model.outcome import AnyOutcome
from tabled.outlets.messages import Outgoing
from tabled.outlets.outbox import Outbox
from tabled.shell.engine import Committed, Engine, JournalLike, Renderer, outcome_draft
from tests.dst.host import Parts


class _BootBlindActs(Acts):
    """The boot id is no part of a press's name, so press 1 after a reset is press 1 from before it."""

    def meet(self, act: Act) -> Literal["new", "reported", "acknowledged", "no room"]:
        return super().meet((0, act[1]))

    def acknowledge(self, act: Act) -> None:
        super().acknowledge((0, act[1]))


class _CountingEngine(Engine):
    """Ids count from the daemon's start instead of being journal positions, and recovery does not compare."""

    def __init__(self, journal: JournalLike, render: Renderer) -> None:
        before = journal.next_pos - 1

        def counted(outcome: AnyOutcome, position: int, wall_ns: int) -> tuple[Outgoing, ...]:
            return render(outcome, position - before, wall_ns)

        super().__init__(journal, counted)

    def recover(self) -> int:
        self.state, count = _fold_without_comparing(self._journal)
        return count


class _TwoAppends(Engine):
    """Inputs are appended first, their outcomes after: a crash in between keeps the torn batch."""

    def recover(self) -> int:
        self.state, count = _fold_without_comparing(self._journal)
        return count

    def commit(self, inputs: Sequence[AnyInput], wall_ns: int) -> list[Committed]:
        state, done = self.state, []
        for entry in inputs:
            position = self._journal.next_pos
            state, outcomes = step(state, position, entry)
            self._journal.append([Draft(kind_of(entry), encode(entry), wall_ns)])
            placed = tuple(enumerate(outcomes, position + 1))
            self._journal.append([outcome_draft(o, p, wall_ns, self._render) for p, o in placed])
            done.append(Committed(position, entry, placed))
        self.state = state
        return done


def _fold_without_comparing(journal: JournalLike) -> tuple[TableState, int]:
    state, count = TableState(), 0
    for entry in journal.read():
        count = entry.pos
        if entry.kind in ("started", "obs", "timer", "bounds", "cmd"):
            state, _ = step(state, entry.pos, decode(entry.body))
    return state, count


class _EagerOutbox(Outbox):
    """The cursor moves when a message is sent, not when the broker has taken it."""

    def sent(self, mid: int) -> None:
        position = self._ready[0].position
        super().sent(mid)
        self._store.advance(position)


class _CorruptIsEmpty(FeigSession):
    """An answer that says nothing is taken for an empty field."""

    def receive(self, data: bytes, now_ns: int) -> list[AnyObservation]:
        return [_emptied(o) for o in super().receive(data, now_ns)]

    def wake(self, now_ns: int) -> list[AnyObservation]:
        return [_emptied(o) for o in super().wake(now_ns)]


def _emptied(seen: AnyObservation) -> AnyObservation:
    return CleanEmpty(seen.device, seen.span, seen.antenna) if isinstance(seen, Corrupt) else seen


class _ShortIsWhole(FeigSession):
    """An inventory that broke off is taken for a whole one."""

    def receive(self, data: bytes, now_ns: int) -> list[AnyObservation]:
        found = super().receive(data, now_ns)
        return [msgspec.structs.replace(o, complete=True) if isinstance(o, Present) else o for o in found]


Came = Callable[[Work, str, str, Area, str | None], None]


def _came_with_ghosts(original: Came) -> Came:
    def came(draft: Work, seat: str, uid: str, area: Area, origin: str | None) -> None:
        config = draft.state.config
        assert config is not None
        if uid not in config.chips:
            draft.state.config = msgspec.structs.replace(config, chips={**config.chips, uid: 25})
        original(draft, seat, uid, area, origin)

    return came


@contextlib.contextmanager
def _nothing() -> Iterator[None]:
    yield


class Bug(msgspec.Struct, frozen=True):
    """One planted bug: what the process is made of, what is patched while it runs, and what must notice."""

    name: str
    parts: Parts
    patch: Callable[[], contextlib.AbstractContextManager[object]]
    caught_by: frozenset[str]


BUGS = (
    Bug(
        "acknowledge before commit",
        Parts(acknowledge_early=True),
        _nothing,
        frozenset({"no_acknowledgement_before_durable"}),
    ),
    Bug(
        "boot id ignored in press identity",
        Parts(),
        lambda: mock.patch.object(panel_module, "Acts", _BootBlindActs),
        frozenset({"every_press_once", "no_acknowledgement_before_durable"}),
    ),
    Bug(
        "ids counted from start-up",
        Parts(engine=_CountingEngine),
        _nothing,
        frozenset({"one_id_one_byte_string", "replay_equals_what_was_published", "first_deliveries_in_order"}),
    ),
    Bug(
        "outbox cursor advanced before the PUBACK",
        Parts(outbox=_EagerOutbox),
        _nothing,
        frozenset({"everything_was_delivered"}),
    ),
    Bug(
        "torn batch kept",
        Parts(engine=_TwoAppends),
        _nothing,
        frozenset({"replay_equals_what_was_published", "recovery_is_exact"}),
    ),
    Bug(
        "corrupt read as empty",
        Parts(feig=_CorruptIsEmpty),
        _nothing,
        frozenset({"rulings_are_true", "felt_equals_accounts", "somebody_is_asked"}),
    ),
    Bug(
        "ghost counted as chip",
        Parts(),
        lambda: mock.patch.object(chips_module, "_came", _came_with_ghosts(chips_module._came)),
        frozenset({"chips_conserved"}),
    ),
)
