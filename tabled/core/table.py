"""The table as a pure fold: ``step(state, position, entry) -> (state, outcomes)``.

No clock, no chance, no file: time comes with each entry, and `next_wake_ns` says when the core wants
to be woken if nothing else happens.  The same journal gives the same outcomes, byte for byte.
"""

from __future__ import annotations

from msgspec.structs import replace

from firmware_bridge.wire import (
    CleanEmpty,
    Corrupt,
    DeviceLost,
    DeviceUp,
    Present,
    Press,
    Restarted,
    TimeSpan,
)
from tabled.core import blind, chips, corrections, hands, keys, learning, looks, money, operator, sight, words
from tabled.core.adjudicate import adjudicate, deadline_ns, look_due_ns, out_of_turn
from tabled.core.draft import Draft
from tabled.core.entries import AnyInput, Known, Ordered, Seen, Started, Stated, Ticked
from tabled.core.state import MAX_REQUESTS_REMEMBERED, Sight, TableState
from tabled.fusion.attempt import Attempt
from tabled.fusion.presence import Area
from tabled.model.camera import CameraTrust, ChipsLanded, HandMoved
from tabled.model.outcome import AnyOperatorAct, AnyOutcome
from tabled.model.ruling import Reason

MAX_ADVANCES = 64


class JournalNotWhole(ValueError):
    """The journal does not begin with the start of a daemon; nothing can be folded from it."""


def step(state: TableState, position: int, entry: AnyInput) -> tuple[TableState, tuple[AnyOutcome, ...]]:
    """Fold one journal entry.  ``state`` is left as it was; the outcomes stand at ``position + 1`` and on.

    An entry that the core cannot take (a fault of ours, or an assertion that fails) changes nothing but is said
    aloud: a table that stopped at it would stop at it again after each restart.
    """
    try:
        return _step(state, position, entry)
    except JournalNotWhole:
        raise
    except Exception as fault:  # the state is a value: the one before this entry still holds
        return _refuse(state, position, entry, fault)


def _refuse(
    state: TableState, position: int, entry: AnyInput, fault: Exception
) -> tuple[TableState, tuple[AnyOutcome, ...]]:
    draft = Draft(state, position)
    draft.state.now_ns = max(state.now_ns, entry.at_ns)
    if isinstance(entry, Seen) and isinstance(entry.observation, Press):
        keys.remember(draft, entry.observation)
    params: dict[str, int | str] = {"entry": position, "what": type(fault).__name__}
    draft.alert(f"core:{position}", "fault", Reason("core_fault", params))
    draft.state.position = position + len(draft.outcomes)
    return draft.state, tuple(draft.outcomes)


def _step(state: TableState, position: int, entry: AnyInput) -> tuple[TableState, tuple[AnyOutcome, ...]]:
    draft = Draft(state, position)
    work = draft.state
    work.now_ns = entry.at_ns if isinstance(entry, Started) else max(work.now_ns, entry.at_ns)
    if isinstance(entry, Started):
        _start(draft, entry)
    elif work.config is None:
        raise JournalNotWhole(f"journal entry {position} comes before the table's configuration")
    elif isinstance(entry, Seen):
        _see(draft, entry)
    elif isinstance(entry, Stated):
        looks.on_stated(draft, entry)
    elif isinstance(entry, Known):
        chips.on_known(draft, entry)
    elif isinstance(entry, Ordered):
        _order(draft, entry.act)
    if isinstance(entry, Ticked):
        money.timers(draft)
    blind.tell(draft)
    _advance(draft)
    looks.drop_idle(draft)
    work.position = position + len(draft.outcomes)
    return work, tuple(draft.outcomes)


def next_wake_ns(state: TableState) -> int | None:
    """Host time at which the core wants a `Ticked` entry if nothing else comes first."""
    times = [money.due_ns(state), blind.due_ns(state)]
    if state.phase in ("posting", "betting", "sweeping"):
        times += [deadline_ns(state, attempt) for attempt in state.attempts.values()]
        times.append(look_due_ns(state))
    if state.phase == "posting":
        times.append(state.post_by_ns)
    future = [t for t in times if t is not None and t > state.now_ns]
    return min(future, default=None)


def _start(draft: Draft, entry: Started) -> None:
    state = draft.state
    # Nothing is known of the time since the last entry: no antenna counts as looked at before it is again.
    state.areas = {key: replace(area, clean=None, fresh=None, looks=()) for key, area in state.areas.items()}
    state.bounds, state.bound_since_ns, state.overran, state.blind = {}, {}, {}, {}
    if state.clock and state.clock != entry.clock:
        _forget_clock(draft, entry.at_ns)
    state.clock = entry.clock
    state.sight = Sight()
    state.epoch = entry.epoch
    state.config = entry.config
    state.fusion = entry.config.fusion
    learning.misses(state)
    state.profile = entry.config.profile


def _forget_clock(draft: Draft, now_ns: int) -> None:
    """The host was rebooted: monotonic times from before mean nothing any more, and would lie in the future for as
    long as the host had run."""
    state = draft.state
    wide = TimeSpan(min(0, now_ns), now_ns)
    past_ns = wide.earliest_ns
    state.areas = {key: _without_times(area, wide) for key, area in state.areas.items()}
    state.attempts = {s: chips.forget_times(a, now_ns) for s, a in state.attempts.items()}
    state.ruled = tuple(
        replace(r, ruled_ns=past_ns, attempt=chips.forget_times(r.attempt, now_ns)) for r in state.ruled
    )
    state.gone_ns = dict.fromkeys(state.gone_ns, past_ns)
    state.strays = {s: replace(stray, last_ns=now_ns) for s, stray in state.strays.items()}
    state.landings = tuple(replace(landing, span=wide) for landing in state.landings)
    state.early = tuple(replace(e, press=replace(e.press, span=wide)) for e in state.early)
    state.last_key = None
    state.post_by_ns = now_ns


def _without_times(area: Area, wide: TimeSpan) -> Area:
    past_ns = wide.earliest_ns
    tags = {
        uid: replace(tag, arrived=wide, misses=(), last_ns=past_ns, reach_ns=past_ns, recent_ns=())
        for uid, tag in area.tags.items()
    }
    return replace(area, tags=tags, faint=tuple((uid, past_ns) for uid, _ in area.faint))


def _order(draft: Draft, act: AnyOperatorAct) -> None:
    """An operator's order, once: a client that saw no answer may send it again, also after a crash of ours."""
    state = draft.state
    if act.request in state.requests:
        return
    if operator.obey(draft, act):
        state.requests = (*state.requests, act.request)[-MAX_REQUESTS_REMEMBERED:]


def _see(draft: Draft, entry: Seen) -> None:
    seen = entry.observation
    if isinstance(seen, Present | CleanEmpty | Corrupt):
        blind.on_look(draft, seen)
        chips.on_inventory(draft, seen)
    elif isinstance(seen, Press):
        keys.on_press(draft, seen)
    elif isinstance(seen, HandMoved):
        sight.on_hand(draft, seen)
    elif isinstance(seen, ChipsLanded):
        sight.on_landed(draft, seen)
    elif isinstance(seen, CameraTrust):
        sight.on_trust(draft, seen)
    elif isinstance(seen, DeviceLost):
        sight.on_lost(draft, seen)
        params: dict[str, int | str] = {"device": seen.device, "why": seen.reason, "advice": seen.advice}
        draft.alert(f"device:{seen.device}", "fault", Reason("device_lost", params))
        blind.on_device(draft, seen)
    elif isinstance(seen, DeviceUp):
        sight.on_up(draft, seen)
        draft.clear(f"device:{seen.device}")
        blind.on_device(draft, seen)
    elif isinstance(seen, Restarted):
        draft.alert(f"restart:{seen.device}", "info", Reason("device_restarted", {"device": seen.device}))


def _advance(draft: Draft) -> None:
    """Go on until nothing moves: posting → betting → sweeping → next street or the end of the hand."""
    state = draft.state
    for _ in range(MAX_ADVANCES):
        if state.hand is None:
            return
        if state.phase == "posting":
            moved = hands.begin_betting(draft, missing_ok=False)
        elif state.phase == "betting":
            moved = _advance_betting(draft)
        elif state.phase == "sweeping":
            moved = corrections.reopen_for_late_chips(draft) or hands.close_street(draft)
        else:
            return
        if not moved:
            return
    raise AssertionError("the table did not come to rest; this is a fault of tabled, please report the journal")


def _advance_betting(draft: Draft) -> bool:
    state = draft.state
    assert state.hand is not None
    if state.hand.over or state.hand.street_over:
        hands.begin_sweep(draft)
        return True
    if keys.next_early(draft) or corrections.reopen_for_late_chips(draft):
        return True
    to_act = state.hand.to_act
    for seat in sorted(state.attempts):
        waiting = state.attempts[seat]
        if seat == to_act or waiting.held:
            continue
        deadline = deadline_ns(state, waiting)
        if deadline is not None and state.now_ns >= deadline:
            _behind(draft, waiting, to_act or "")
    attempt = state.attempts.get(to_act or "")
    if attempt is None or attempt.held:
        return False
    if words.settle(draft, attempt):
        return True
    if not attempt.empty or state.standing is not None:
        # Empty with a ruling standing: its only chips turned out to be a ghost.
        return adjudicate(draft, attempt)
    return False


def _behind(draft: Draft, waiting: Attempt, to_act: str) -> None:
    """Another seat has acted.  Behind an act that lies there it only waits for its turn; else it is out of turn."""
    ahead = draft.state.attempts.get(to_act)
    if ahead is None or ahead.empty or ahead.held:
        out_of_turn(draft, waiting)
