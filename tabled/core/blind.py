"""Antennas that give nothing but errors while their reader is up: nobody can be blamed for what lies there.

A corrupt answer is no evidence (`tabled.fusion.presence`), so a reader that gives no other makes the table neither
right nor wrong, only deaf; that must be said.
"""

from __future__ import annotations

from firmware_bridge.wire import CleanEmpty, Corrupt, DeviceId, DeviceLost, DeviceUp, Present
from tabled.core.draft import Draft
from tabled.core.state import Blind, TableState, area_key, bet_antennas
from tabled.fusion.settings import MS
from tabled.model.ruling import Reason

BLIND_MS = 1000
"""Without a usable look for so long, and for twice the time that the reader states for one, an antenna is blind."""
NO_LOOK = "no look at all since it came up"
MAX_WHY = 120

READER_BLIND = "reader_blind"
ANTENNA_BLIND = "antenna_blind"
CODES = (READER_BLIND, ANTENNA_BLIND)
"""Reasons about the readers; their sentences are in `tabled.outlets.health`."""


def on_look(draft: Draft, seen: Present | CleanEmpty | Corrupt) -> None:
    """Note an answer: an error begins or continues a blindness, anything else ends it."""
    state = draft.state
    assert state.config is not None
    if state.config.layout.place_of(seen.device, seen.antenna) is None:
        return
    key = area_key(seen.device, seen.antenna)
    known = state.blind.get(key)
    if isinstance(seen, Corrupt):
        since_ns = known.since_ns if known is not None else seen.span.earliest_ns
        state.blind = {**state.blind, key: Blind(since_ns, seen.reason[:MAX_WHY])}
    elif known is not None:
        state.blind = {k: v for k, v in state.blind.items() if k != key}


def on_device(draft: Draft, seen: DeviceUp | DeviceLost) -> None:
    """A reader that has just come up owes a look at each antenna; of one that is lost the loss itself is told."""
    state = draft.state
    keys = _keys(state, seen.device)
    state.blind = {k: v for k, v in state.blind.items() if k not in keys}
    if isinstance(seen, DeviceUp):
        state.blind = {**state.blind, **dict.fromkeys(keys, Blind(state.now_ns, NO_LOOK))}


def tell(draft: Draft) -> None:
    """Name each reader with blind antennas, with the reason of its last error; once until another antenna joins or
    leaves."""
    state = draft.state
    if state.config is None or not (state.blind or any(s.startswith("blind:") for s in state.faults)):
        return
    for device in dict.fromkeys(a.device for a in state.config.layout.antennas):
        numbers = _blind_numbers(state, DeviceId(device))
        subject = f"blind:{device}"
        if not numbers:
            draft.clear(subject)
            continue
        why = state.blind[area_key(device, numbers[-1])].why
        params: dict[str, int | str] = {"device": device, "antennas": ", ".join(map(str, numbers)), "why": why}
        whole = len(numbers) == len(_keys(state, DeviceId(device)))
        told = state.faults.get(subject)
        if told is None or told.params["antennas"] != params["antennas"]:
            draft.alert(subject, "fault", Reason(READER_BLIND if whole else ANTENNA_BLIND, params))


def unseen(state: TableState, seat: str) -> bool:
    """True while what lies before the seat cannot be known: its reader is lost or its last answer was an error."""
    assert state.config is not None
    return any(
        f"device:{a.device}" in state.faults or area_key(a.device, a.antenna) in state.blind
        for a in bet_antennas(state.config, seat)
    )


def due_ns(state: TableState) -> int | None:
    """When the next antenna will have been blind for too long."""
    times = (blind.since_ns + _limit_ns(state, key) for key, blind in state.blind.items())
    return min((ns for ns in times if ns > state.now_ns), default=None)


def _blind_numbers(state: TableState, device: DeviceId) -> list[int]:
    """Its antennas that are blind: those past their limit, and with them those that are halfway there, since all of a
    reader that fails fail within one sweep."""
    blind = [(key, state.blind[key]) for key in _keys(state, device) if key in state.blind]
    waited = {key: (state.now_ns - b.since_ns, _limit_ns(state, key)) for key, b in blind}
    if not any(ns >= limit_ns for ns, limit_ns in waited.values()):
        return []
    return sorted(int(key.rpartition("#")[2]) for key, (ns, limit_ns) in waited.items() if 2 * ns >= limit_ns)


def _limit_ns(state: TableState, key: str) -> int:
    bound = state.bounds.get(key)
    return max(BLIND_MS * MS, 2 * bound.arrival_ns if bound is not None else 0)


def _keys(state: TableState, device: DeviceId) -> tuple[str, ...]:
    assert state.config is not None
    return tuple(area_key(a.device, a.antenna) for a in state.config.layout.antennas if a.device == device)
