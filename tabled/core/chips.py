"""From inventories to chips that came to or left a seat's betting area, and what each of them is for."""

from __future__ import annotations

from msgspec.structs import replace

from firmware_bridge.wire import CleanEmpty, Corrupt, Present, TimeSpan
from tabled.core.draft import Draft
from tabled.core.state import Line
from tabled.fusion.motion import MAX_ARRIVALS, Arrival, Attempt
from tabled.fusion.presence import Area, lower, observe
from tabled.model.ruling import Reason

Inventory = Present | CleanEmpty | Corrupt


def on_inventory(draft: Draft, seen: Inventory) -> None:
    """Fold one inventory of one antenna into the table."""
    state = draft.state
    config = state.config
    assert config is not None
    place = config.layout.place_of(seen.device, seen.antenna)
    key = area_key(seen.device, seen.antenna)
    if place is None:
        draft.alert(key, "warning", Reason("antenna_unknown", {"device": seen.device, "antenna": seen.antenna}))
        return
    model = config.fusion.sensor
    area, delta = observe(state.areas.get(key, Area()), seen, draft.position, model)
    areas = {**state.areas, key: area}
    elsewhere: list[tuple[str, str]] = []
    for tag in seen.tags if isinstance(seen, Present) else ():
        for other in sorted(areas):
            if other == key or tag.uid not in areas[other].tags:
                continue
            areas[other], gone = lower(areas[other], tag.uid, model)
            if gone:
                elsewhere.append((other, tag.uid))
    state.areas = areas
    if place.kind == "bet":
        for uid in delta.came:
            _came(draft, place.seat, uid, area)
        _confirm(draft, place.seat, area, model.confirmed)
        for uid in delta.left:
            _left(draft, place.seat, uid)
    for other, uid in elsewhere:
        device, _, antenna = other.rpartition("#")
        spot = config.layout.place_of(device, int(antenna))
        if spot is not None and spot.kind == "bet":
            _left(draft, spot.seat, uid)
    if isinstance(seen, Present):
        _report_unknown(draft, seen, area, key)


def area_key(device: str, antenna: int) -> str:
    """Name of one antenna in the state."""
    return f"{device}#{antenna}"


def _report_unknown(draft: Draft, seen: Present, area: Area, key: str) -> None:
    """A tag that is in no registry is money or it is not: the dealer must look.  Once seen it may be a ghost."""
    config = draft.state.config
    assert config is not None
    strangers = [
        t.uid
        for t in seen.tags
        if t.uid not in config.chips and t.uid in area.tags and area.tags[t.uid].level >= config.fusion.sensor.confirmed
    ]
    subject = f"unknown_tag:{key}"
    if strangers:
        place = config.layout.place_of(seen.device, seen.antenna)
        seat = place.seat if place else ""
        draft.alert(subject, "warning", Reason("unknown_tag", {"seat": seat, "uid": strangers[0]}))
    elif not any(uid not in config.chips for uid in area.tags):
        draft.clear(subject)


def _came(draft: Draft, seat: str, uid: str, area: Area) -> None:
    state = draft.state
    assert state.config is not None
    value = state.config.chips.get(uid)
    if value is None:
        return  # reported by `_report_unknown` once it is surely there
    line = draft.line(seat)
    if uid in line.missing:
        missing = {k: v for k, v in line.missing.items() if k != uid}
        draft.set_line(seat, replace(line, settled={**line.settled, uid: value}, missing=missing))
        if not missing:
            draft.clear(f"line:{seat}")
        return
    if uid in line.settled:
        return
    if any(uid in other.settled for other in state.lines.values()) and state.phase == "sweeping":
        return  # a bet dragged across a neighbour's antenna on its way to the pot
    attempt = state.attempts.get(seat)
    known = attempt is not None and any(a.uid == uid for a in attempt.arrivals)
    if known:
        _set_taken(draft, seat, uid, False)
    elif state.phase in ("idle", "over") or state.hand is None:
        draft.set_line(seat, replace(line, settled={**line.settled, uid: value}))
    elif state.phase == "posting" and line.posted < state.due.get(seat, 0):
        draft.set_line(seat, replace(line, settled={**line.settled, uid: value}, posted=line.posted + value))
    elif line.owed > 0:
        _pay(draft, seat, line, uid, value)
    elif seat in state.hand.seats and state.hand.status_of(seat) == "in":
        _arrive(draft, seat, uid, value, area)
    else:
        draft.alert(f"line:{seat}", "warning", Reason("chips_no_turn", {"seat": seat, "value": value}))
        draft.set_line(seat, replace(line, settled={**line.settled, uid: value}))


def _pay(draft: Draft, seat: str, line: Line, uid: str, value: int) -> None:
    """A chip that a final ruling had asked for."""
    owed = line.owed - value
    line = replace(line, settled={**line.settled, uid: value}, owed=max(0, owed))
    if owed < 0:
        line = replace(line, back=line.back - owed)
        draft.alert(f"owed:{seat}", "info", Reason("change_due", {"seat": seat, "amount": -owed}))
    draft.set_line(seat, line)
    if owed <= 0:
        draft.clear(f"owed:{seat}")


def _arrive(draft: Draft, seat: str, uid: str, value: int, area: Area) -> None:
    state = draft.state
    attempt = state.attempts.get(seat, Attempt(seat))
    if len(attempt.arrivals) >= MAX_ARRIVALS:
        draft.alert(f"line:{seat}", "fault", Reason("too_many_chips", {"seat": seat, "limit": MAX_ARRIVALS}))
        return
    sighting = area.tags[uid]
    arrival = Arrival(uid, value, sighting.arrived, sighting.first_pos)
    attempt = replace(attempt, arrivals=(*attempt.arrivals, arrival), held=False)
    state.attempts = {**state.attempts, seat: attempt}


def _confirm(draft: Draft, seat: str, area: Area, confirmed: int) -> None:
    """A chip read more than once was there; a single answer may be a ghost and may still be dropped unseen."""
    state = draft.state
    attempt = state.attempts.get(seat)
    if attempt is None:
        return
    sure = {a.uid for a in attempt.arrivals if not a.certain and a.uid in area.tags}
    sure = {uid for uid in sure if area.tags[uid].level >= confirmed}
    if sure:
        arrivals = tuple(replace(a, certain=True) if a.uid in sure else a for a in attempt.arrivals)
        state.attempts = {**state.attempts, seat: replace(attempt, arrivals=arrivals)}


def _left(draft: Draft, seat: str, uid: str) -> None:
    state = draft.state
    line = draft.line(seat)
    attempt = state.attempts.get(seat)
    if attempt is not None and any(a.uid == uid for a in attempt.arrivals):
        arrival = next(a for a in attempt.arrivals if a.uid == uid)
        if arrival.certain and not attempt.held:
            _set_taken(draft, seat, uid, True)
        else:
            rest = tuple(a for a in attempt.arrivals if a.uid != uid)
            state.attempts = {**state.attempts, seat: replace(attempt, arrivals=rest)}
        return
    if uid not in line.settled:
        return
    value = line.settled[uid]
    settled = {k: v for k, v in line.settled.items() if k != uid}
    if state.phase != "betting" or line.back >= value or uid in line.ante:
        draft.set_line(seat, replace(line, settled=settled, back=max(0, line.back - value)))
        return
    missing = {**line.missing, uid: value}
    draft.set_line(seat, replace(line, settled=settled, missing=missing))
    draft.alert(f"line:{seat}", "warning", Reason("chips_left", {"seat": seat, "amount": sum(missing.values())}))


def _set_taken(draft: Draft, seat: str, uid: str, taken: bool) -> None:
    state = draft.state
    attempt = state.attempts[seat]
    arrivals = tuple(replace(a, taken_back=taken) if a.uid == uid else a for a in attempt.arrivals)
    state.attempts = {**state.attempts, seat: replace(attempt, arrivals=arrivals)}


def forget_arrival_times(attempt: Attempt, now_ns: int) -> Attempt:
    """After the host's clock began anew nothing is known of when the chips came."""
    wide = TimeSpan(min(0, now_ns), now_ns)
    return replace(attempt, arrivals=tuple(replace(a, span=wide) for a in attempt.arrivals))
