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
from tabled.core import chips, hands, operator
from tabled.core.adjudicate import adjudicate, answer, deadline_ns, out_of_turn
from tabled.core.draft import Draft
from tabled.core.entries import AnyInput, Ordered, Seen, Started
from tabled.core.state import MAX_PRESSES_REMEMBERED, MAX_REQUESTS_REMEMBERED, TableState
from tabled.fusion.motion import MAX_WORDS, Attempt, spoken
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
        _remember_press(draft, entry.observation)
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
    elif isinstance(entry, Ordered):
        _order(draft, entry.act)
    _advance(draft)
    work.position = position + len(draft.outcomes)
    return work, tuple(draft.outcomes)


def next_wake_ns(state: TableState) -> int | None:
    """Host time at which the core wants a `Ticked` entry if nothing else comes first."""
    if state.phase != "betting":
        return None
    draft = Draft(state, state.position)
    times = [deadline_ns(draft, attempt) for attempt in state.attempts.values()]
    future = [t for t in times if t is not None and t > state.now_ns]
    return min(future, default=None)


def _start(draft: Draft, entry: Started) -> None:
    state = draft.state
    if state.clock and state.clock != entry.clock:
        # The host was rebooted: monotonic times from before mean nothing any more.
        state.areas = {
            key: replace(
                area,
                clean=None,
                tags={u: replace(t, arrived=TimeSpan(0, entry.at_ns)) for u, t in area.tags.items()},
            )
            for key, area in state.areas.items()
        }
        state.attempts = {s: chips.forget_arrival_times(a, entry.at_ns) for s, a in state.attempts.items()}
    state.clock = entry.clock
    state.epoch = entry.epoch
    state.config = entry.config
    state.profile = entry.config.profile


def _order(draft: Draft, act: AnyOperatorAct) -> None:
    """An operator's order, once: a client that saw no answer may send it again, also after a crash of ours."""
    state = draft.state
    if act.request in state.requests:
        return
    state.requests = (*state.requests, act.request)[-MAX_REQUESTS_REMEMBERED:]
    operator.obey(draft, act)


def _see(draft: Draft, entry: Seen) -> None:
    seen = entry.observation
    if isinstance(seen, Present | CleanEmpty | Corrupt):
        chips.on_inventory(draft, seen)
    elif isinstance(seen, Press):
        _press(draft, seen)
    elif isinstance(seen, DeviceLost):
        params: dict[str, int | str] = {"device": seen.device, "why": seen.reason, "advice": seen.advice}
        draft.alert(f"device:{seen.device}", "fault", Reason("device_lost", params))
    elif isinstance(seen, DeviceUp):
        draft.clear(f"device:{seen.device}")
    elif isinstance(seen, Restarted):
        draft.alert(f"restart:{seen.device}", "info", Reason("device_restarted", {"device": seen.device}))


def _press(draft: Draft, press: Press) -> None:
    """One key of the panel.  A press that is already in the journal is not an act again."""
    state = draft.state
    assert state.config is not None
    if not _remember_press(draft, press):
        return
    if press.key in ("key_a", "key_b"):
        if not answer(draft, press.key, "panel"):
            draft.alert("panel", "info", Reason("no_question"))
        return
    if operator.on_key(draft, press.key):
        return
    seat = _meant(draft, press)
    word = spoken(press, seat, draft.position, state.config.fusion) if seat else None
    if state.phase == "posting" and word is not None:
        hands.begin_betting(draft, missing_ok=True)
        seat = _meant(draft, press)
        word = spoken(press, seat, draft.position, state.config.fusion) if seat else None
    if state.hand is None or not seat or state.phase != "betting":
        draft.alert("panel", "info", Reason("key_without_turn", {"key": press.key}))
        return
    attempt = state.attempts.get(seat, Attempt(seat))
    if press.key == "hand_withdraws":
        attempt = replace(attempt, closed=True, held=False)
    elif word is not None and len(attempt.words) < MAX_WORDS:
        if attempt.held:
            # After an undo the dealer keys what was really said: it came before the chips that lie there.
            word = replace(word, said_first=True)
        attempt = replace(attempt, words=(*attempt.words, word), held=False)
    else:
        draft.alert("panel", "info", Reason("key_without_turn", {"key": press.key}))
        return
    state.attempts = {**state.attempts, seat: attempt}


def _remember_press(draft: Draft, press: Press) -> bool:
    """Note the press by its name.  False when it is in the journal already."""
    state = draft.state
    name = f"{press.device}/{press.boot}/{press.seq}"
    if name in state.presses:
        return False
    state.presses = (*state.presses, name)[-MAX_PRESSES_REMEMBERED:]
    return True


def _meant(draft: Draft, press: Press) -> str:
    """The seat a key is about: the one that was picked, else the one to act."""
    hand = draft.state.hand
    if hand is None:
        return ""
    if press.seat:
        return str(press.seat) if str(press.seat) in hand.seats else ""
    return hand.to_act or ""


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
            moved = hands.close_street(draft)
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
    to_act = state.hand.to_act
    attempt = state.attempts.get(to_act or "")
    if attempt is not None and attempt.held:
        return False
    if attempt is not None and not attempt.empty:
        return adjudicate(draft, attempt)
    if attempt is not None and state.standing is not None:
        # The only chips of a provisional ruling turned out to be a ghost.
        adjudicate(draft, attempt)
        return False
    for seat in sorted(state.attempts):
        waiting = state.attempts[seat]
        deadline = deadline_ns(draft, waiting)
        if seat != to_act and not waiting.held and deadline is not None and state.now_ns >= deadline:
            out_of_turn(draft, waiting)
    return False
