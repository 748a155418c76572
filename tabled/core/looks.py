"""Which looks a ruling waits for before it is final, and how long each may take by its reader's own word.

A motion that is over proves nothing until each antenna of the line has been looked at again: only looks that
began after it show that nothing came in its last moments, and only several of them that no chip is hidden.
Beside it a neighbour's antenna must have been asked since the last chip landed, or the chip may be the
neighbour's, read across.

The reader states how long that takes (`Bound`).  One that states nothing, is lost, or exceeds its word
cannot make anything final; then the dealer is told to count, and a key confirms what stands on the screen.
"""

from __future__ import annotations

import msgspec

from tabled.core.draft import Draft
from tabled.core.entries import Bound, Stated
from tabled.core.state import TableState, area_key, bet_antennas, bet_areas, places_beside
from tabled.fusion.attempt import Attempt
from tabled.fusion.closing import still_since_ns, untouched_since_ns
from tabled.fusion.presence import Area, looks_to_forget, looks_wanted, surely_gone, surely_shown
from tabled.fusion.settings import MS
from tabled.model.layout import Antenna
from tabled.model.ruling import Reason

BOUND_UNSTATED = "bound_unstated"
SWEEP_OVERRAN = "sweep_overran"
LOOK_UNSTATED = "look_unstated"
LOOK_OVERDUE = "look_overdue"
CODES = (BOUND_UNSTATED, SWEEP_OVERRAN, LOOK_UNSTATED, LOOK_OVERDUE)
"""Reasons about the readers; their sentences are in `tabled.outlets.health`."""
UNREAD = 4
"""So many looks in a row that missed a chip are a reason to look closer: fewer of them come and go."""


class Awaited(msgspec.Struct, frozen=True):
    """A look that has not come: at which antenna, begun when at the earliest, and when it should have come at the
    latest (host ns); None where nobody can say.  ``looks``: how many may be needed to see what is there."""

    antenna: Antenna
    since_ns: int
    by_ns: int | None
    looks: int = 1


def on_stated(draft: Draft, entry: Stated) -> None:
    """Take what the readers state now; name those that state nothing and those that did not keep their word."""
    state = draft.state
    state.bound_since_ns = {key: state.bound_since_ns.get(key, state.now_ns) for key in entry.bounds}
    state.bounds = dict(entry.bounds)
    for subject in sorted(state.faults):
        kind, _, device = subject.partition(":")
        if kind == "bound" and device not in entry.unstated:
            draft.clear(subject)
    for device in sorted(entry.unstated):
        draft.alert(f"bound:{device}", "warning", Reason(BOUND_UNSTATED, {"device": device}))
    for device in sorted(entry.overran):
        count = entry.overran[device]
        if count > state.overran.get(device, 0):
            playing = state.phase in ("posting", "betting", "sweeping")
            reason = Reason(SWEEP_OVERRAN, {"device": device, "count": count})
            draft.alert(f"sweep:{device}", "warning" if playing else "info", reason)
    state.overran = dict(entry.overran)


def awaited(state: TableState, attempt: Attempt, over_ns: int) -> tuple[Awaited, ...]:
    """The looks that are missing for an attempt whose motion and words are over at ``over_ns``: those at its own
    antennas, then those at the neighbours'."""
    assert state.config is not None
    found: list[Awaited] = []
    for antenna in bet_antennas(state.config, attempt.seat):
        key, bound = area_key(antenna.device, antenna.antenna), _bound(state, antenna)
        if bound is None:
            found.append(Awaited(antenna, over_ns, None))
        elif not attempt.arrivals:
            found += _unasked(state, antenna, over_ns, bound)
        elif not _shows_all(state, state.areas.get(key), attempt, over_ns):
            wanted = looks_wanted(state.fusion.sensor)
            by_ns = _limit(state, key, over_ns, bound.removal_ns * wanted)
            found.append(Awaited(antenna, over_ns, by_ns, wanted))
    return (*found, *awaited_beside(state, attempt))


def _shows_all(state: TableState, area: Area | None, attempt: Attempt, over_ns: int) -> bool:
    """Whether looks show all that lies there: so many since the motion ended that no buried chip can have escaped
    them all, and a full one since a chip may have been taken back."""
    if area is None or area.clean is None or area.clean.earliest_ns < untouched_since_ns(attempt, over_ns):
        return False
    return surely_shown(area.looks, still_since_ns(attempt, over_ns), state.fusion.sensor)


def awaited_away(state: TableState, seat: str, since_ns: int) -> tuple[Awaited, ...]:
    """Looks that show whether a chip which was read on the seat's line last at ``since_ns`` is gone: not even one that
    lies badly escapes so many.  Nobody is told to count for them."""
    assert state.config is not None
    model = state.fusion.sensor
    wanted = looks_wanted(model)
    areas = zip(bet_antennas(state.config, seat), bet_areas(state, seat), strict=True)
    return tuple(
        Awaited(antenna, since_ns, None, wanted)
        for antenna, area in areas
        if area is not None and not surely_gone(area.looks, since_ns, model)
    )


def awaited_unread(state: TableState) -> tuple[Awaited, ...]:
    """Looks that show whether chips which one look after another has missed are gone, at every line where such lie.

    Looks that repeat are not all told, and a chip that nobody was seen to take is forgotten only after more than
    come by themselves.  Nobody is told to count for them.
    """
    assert state.config is not None
    model = state.fusion.sensor
    wanted = looks_to_forget(model)
    found = []
    for antenna in state.config.layout.antennas:
        area = state.areas.get(area_key(antenna.device, antenna.antenna))
        if antenna.place.kind != "bet" or area is None:
            continue
        unread = [tag.last_ns for tag in area.tags.values() if tag.missed >= UNREAD]
        if unread:
            found.append(Awaited(antenna, min(unread), None, wanted))
    return tuple(found)


def awaited_beside(state: TableState, attempt: Attempt) -> tuple[Awaited, ...]:
    """Neighbours that have not been asked since the last chip landed.  One that is lost or states nothing has been
    named on the screen already, and is not waited for."""
    assert state.config is not None
    if not attempt.arrivals:
        return ()
    landed_ns = max(a.span.latest_ns for a in attempt.arrivals)
    found: list[Awaited] = []
    for place in places_beside(state.config, attempt.seat):
        for antenna in state.config.layout.antennas_of(place):
            bound = _bound(state, antenna)
            if bound is not None:
                found += _unasked(state, antenna, landed_ns, bound)
    return tuple(found)


def _bound(state: TableState, antenna: Antenna) -> Bound | None:
    """What is stated of an antenna; None: nothing, or its reader is lost."""
    lost = f"device:{antenna.device}" in state.faults
    return None if lost else state.bounds.get(area_key(antenna.device, antenna.antenna))


def _unasked(state: TableState, antenna: Antenna, since_ns: int, bound: Bound) -> tuple[Awaited, ...]:
    """The look that would have named a new chip, while none has begun since."""
    key = area_key(antenna.device, antenna.antenna)
    area = state.areas.get(key)
    seen_ns = area.new_tags_ns() if area is not None else None
    if seen_ns is not None and seen_ns >= since_ns:
        return ()
    return (Awaited(antenna, since_ns, _limit(state, key, since_ns, bound.arrival_ns)),)


def _limit(state: TableState, key: str, since_ns: int, within_ns: int) -> int:
    """A reader that was away has its time from when it was back."""
    assert state.config is not None
    return max(since_ns, state.bound_since_ns.get(key, 0)) + within_ns + state.fusion.look_grace_ms * MS


def overdue(state: TableState, missing: tuple[Awaited, ...]) -> Awaited | None:
    """The first look that will not come by itself, or should have come by now; None while all are in time."""
    late = (look for look in missing if look.by_ns is None or look.by_ns <= state.now_ns)
    return next(late, None)


def tell(draft: Draft, attempt: Attempt, late: Awaited | None) -> None:
    """Have the dealer count and confirm while a look does not come, and no longer."""
    subject = _subject(attempt)
    if late is None:
        draft.clear(subject)
        return
    spot = late.antenna
    code = LOOK_UNSTATED if late.by_ns is None else LOOK_OVERDUE
    draft.alert(
        subject,
        "warning",
        Reason(code, {"seat": attempt.seat, "device": spot.device, "antenna": spot.antenna}),
    )


def drop_idle(draft: Draft) -> None:
    """Nobody need count for an act that is no longer in progress."""
    state = draft.state
    to_act = state.hand.to_act if state.hand is not None and state.phase == "betting" else None
    for subject in sorted(s for s in state.faults if s.startswith("look:")):
        if subject != f"look:{to_act}" or state.attempts.get(to_act or "") is None:
            draft.clear(subject)


def may_confirm(state: TableState, attempt: Attempt) -> bool:
    """True when the dealer has been told to count, and a ruling on this act stands on the screen."""
    standing = state.standing
    return _subject(attempt) in state.faults and standing is not None and standing.seat == attempt.seat


def substance(attempt: Attempt) -> tuple[str, ...]:
    """What was put down, taken back and said: with more of it, a confirmation holds no longer."""
    chips = (f"{a.uid}-" if a.taken_back else a.uid for a in attempt.arrivals)
    return (*sorted(chips), *(f"#{w.pos}" for w in attempt.words))


def _subject(attempt: Attempt) -> str:
    return f"look:{attempt.seat}"
