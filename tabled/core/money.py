"""Where each chip is: in one seat's stack, a bet, the pot, the tray, or unaccounted for; and what does not add up.

What antennas see is known; what they do not is inferred from how the chip left, and where nothing tells, the chip is
unaccounted for.  Antennas under stacks are optional: without them a stack is what the betting engine's accounts say.
"""

from __future__ import annotations

from collections.abc import Sequence

from tabled.core.draft import Draft
from tabled.core.looks import Awaited
from tabled.core.state import Landing, Stray, TableState, bet_antennas, bet_areas, place_at, read_areas
from tabled.fusion.presence import looks_wanted, surely_shown
from tabled.fusion.settings import MS
from tabled.model.camera import ChipsLanded
from tabled.model.ruling import Reason

UNACCOUNTED = "unaccounted"
POT = "pot"
STRAY_QUIET_MS = 2000
"""A stack is spoken of once nobody has touched it for so long; one rack is many chips."""
TWICE_APART_MS = 1000
"""One number that answers at two far places, and at the first again so long after the second, is on two chips."""
LANDED_SLACK_MS = 1000
MAX_LANDINGS = 16


def place_name(state: TableState, key: str | None) -> str | None:
    """Name of the place that an antenna covers: ``"bet:3"``, ``"stack:3"``, ``"tray"``, ``"pot"``."""
    if key is None or state.config is None:
        return None
    place = place_at(state.config, key)
    if place is None:
        return None
    return f"{place.kind}:{place.seat}" if place.seat else place.kind


def moved(draft: Draft, uid: str, key: str | None) -> None:
    """A chip lies on another antenna now, or (None) on none any more."""
    state = draft.state
    assert state.config is not None
    value = state.config.chips.get(uid)
    if value is None:
        return
    before = state.where.get(uid)
    now = place_name(state, key) or _left_for(state, uid, before)
    if now == before:
        return
    state.where = {**state.where, uid: now}
    if state.phase in ("idle", "over") and before != POT:
        for name, amount in ((before, -value), (now, value)):
            if name is not None and name.startswith("stack:"):
                _stray(state, name.partition(":")[2], amount)


def _left_for(state: TableState, uid: str, before: str | None) -> str:
    """Where a chip went that no antenna sees any more."""
    kind, _, seat = (before or "").partition(":")
    if kind != "bet":
        return UNACCOUNTED
    if state.phase == "sweeping":
        return POT
    line = state.lines.get(seat)
    attempt = state.attempts.get(seat)
    returned = line is not None and line.back > 0 and uid in line.settled
    taken = attempt is not None and any(a.uid == uid for a in attempt.arrivals)
    return f"stack:{seat}" if returned or taken else UNACCOUNTED


def _stray(state: TableState, seat: str, amount: int) -> None:
    known = state.strays.get(seat, Stray(0, 0))
    state.strays = {**state.strays, seat: Stray(known.amount + amount, state.now_ns)}


def hand_begins(state: TableState) -> None:
    """The pot of the hand before has been won by somebody: which stack it lies in, accounts alone can tell."""
    state.where = {uid: UNACCOUNTED if name == POT else name for uid, name in state.where.items()}
    state.strays = {}


def totals(state: TableState) -> dict[str, int]:
    """Value by place of all registered chips, the ones never seen among the unaccounted."""
    assert state.config is not None
    chips = state.config.chips
    found: dict[str, int] = {UNACCOUNTED: sum(chips.values())}
    for uid, name in state.where.items():
        if name != UNACCOUNTED:
            worth = chips.get(uid, 0)  # the registry may have barred it since
            found[name] = found.get(name, 0) + worth
            found[UNACCOUNTED] -= worth
    return found


def landed(draft: Draft, seen: ChipsLanded) -> None:
    """Remember a landing until the reader has had time to name the chip.

    Bets that are swept to the pot are dragged across zones, where they neither lie nor are read.
    """
    state = draft.state
    if state.phase == "sweeping":
        return
    state.landings = (*state.landings, Landing(seen.seat, seen.span))[-MAX_LANDINGS:]


def due_ns(state: TableState) -> int | None:
    """When something here is to be looked at again."""
    times = [s.last_ns + STRAY_QUIET_MS * MS for s in state.strays.values() if s.amount]
    return min([*times, *(_named_by_ns(one) for one in state.landings)], default=None)


def _named_by_ns(landing: Landing) -> int:
    return landing.span.latest_ns + LANDED_SLACK_MS * MS


def look(draft: Draft, uids: Sequence[str], key: str) -> None:
    """Compare tags that an antenna just named and another one knows too (``uids``), and what the camera saw with what
    has a tag."""
    for uid in uids:
        _twice(draft, uid, key)
    timers(draft)


def timers(draft: Draft) -> None:
    """Speak of what has been quiet for long enough."""
    state = draft.state
    for seat, stray in sorted(state.strays.items()):
        if stray.amount and state.now_ns >= stray.last_ns + STRAY_QUIET_MS * MS:
            state.strays = {s: v for s, v in state.strays.items() if s != seat}
            params: dict[str, int | str] = {"seat": seat, "amount": stray.amount}
            draft.alert(f"moved:{seat}", "info", Reason("stack_changed", params))
    for landing in state.landings:
        explained = _explained(state, landing)
        if explained or (state.now_ns >= _named_by_ns(landing) and _looked(state, landing)):
            state.landings = tuple(one for one in state.landings if one is not landing)
            if not explained:
                draft.alert(f"untagged:{landing.seat}", "warning", Reason("chip_untagged", {"seat": landing.seat}))


def _explained(state: TableState, landing: Landing) -> bool:
    """Whether a tag came to the seat's line when the camera saw a chip land there."""
    slack = LANDED_SLACK_MS * MS
    tags = (tag for area in read_areas(state, landing.seat) for tag in area.tags.values())
    return any(tag.arrived.shifted(-slack, slack).overlaps(landing.span) for tag in tags)


def awaited_looks(state: TableState) -> tuple[Awaited, ...]:
    """Looks that should name chips which the camera saw land."""
    assert state.config is not None
    wanted = looks_wanted(state.fusion.sensor)
    return tuple(
        Awaited(antenna, landing.span.latest_ns, None, wanted)
        for landing in state.landings
        if not _looked(state, landing)
        for antenna in bet_antennas(state.config, landing.seat)
    )


def _looked(state: TableState, landing: Landing) -> bool:
    """Whether the reader looked often enough since to have named a tag there."""
    assert state.config is not None
    model, since_ns = state.fusion.sensor, landing.span.latest_ns
    areas = bet_areas(state, landing.seat)
    return all(area is not None and surely_shown(area.looks, since_ns, model) for area in areas)


def _twice(draft: Draft, uid: str, key: str) -> None:
    """One number that two places far from each other keep answering with is on two chips."""
    state = draft.state
    assert state.config is not None
    confirmed = state.fusion.sensor.confirmed
    here = state.areas[key].tags.get(uid)
    if here is None or here.level < confirmed:
        return
    for other, area in sorted(state.areas.items()):
        there = area.tags.get(uid)
        if other == key or there is None or there.level < confirmed or _near(state, key, other):
            continue
        both_since = max(here.arrived.latest_ns, there.arrived.latest_ns)
        if min(here.last_ns, there.last_ns) - both_since > TWICE_APART_MS * MS:
            where = place_name(state, other) or other
            draft.alert(f"twice:{uid}", "fault", Reason("uid_twice", {"uid": uid, "other": where}))


def _near(state: TableState, one: str, other: str) -> bool:
    """Antennas of one seat, or of seats side by side, may both read a chip that lies between them."""
    assert state.config is not None
    seats = state.config.layout.seats
    a, b = (place_name(state, key) or "" for key in (one, other))
    a, b = a.partition(":")[2], b.partition(":")[2]
    if a not in seats or b not in seats:
        return False
    apart = (seats.index(a) - seats.index(b)) % len(seats)
    return apart in (0, 1, len(seats) - 1)
