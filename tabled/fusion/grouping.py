"""Which chips came in which forward motion.

With the camera: each chip touched the felt during one of the hand's trips.  Its arrival is a span, and the reader may
have missed it there for a while, so a chip may belong to several trips; how many clean looks would have had to miss it
weighs them.  Without the camera only pauses tell, and a pause that missed looks could explain proves nothing.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import msgspec

from tabled.fusion.attempt import SURE, Arrival, Attempt, Doubt
from tabled.fusion.presence import confidence, miss_cost
from tabled.fusion.settings import MS, FusionSettings, SensorModel
from tabled.fusion.strokes import Trip, trips

Group = tuple[Arrival, ...]


class Grouping(msgspec.Struct, frozen=True):
    """Groups of chips by motion, oldest motion first: if the doubt is answered ``yes``, and if ``no``.

    Both are equal where nothing is doubtful.
    """

    yes: tuple[Group, ...]
    no: tuple[Group, ...]
    doubt: Doubt | None = None


def group(attempt: Attempt, settings: FusionSettings) -> Grouping:
    """The motions of an attempt, by the camera where it explains every chip, else by the reader alone."""
    arrivals = tuple(sorted(attempt.arrivals, key=lambda a: (a.span.latest_ns, a.span.earliest_ns, a.uid)))
    if not arrivals:
        return Grouping((), ())
    if attempt.sighted:
        seen = trips(attempt.strokes, settings)
        places = [_place(a, seen, settings.sensor) for a in arrivals]
        if all(p is not None for p in places):
            return _by_trips(arrivals, [p for p in places if p is not None], seen)
    return _by_pauses(arrivals, settings)


# -- with the camera -----------------------------------------------------------------------------


class _Place(msgspec.Struct, frozen=True):
    """Trips (by index) that a chip can belong to: the likeliest, the first, the last; how sure the likeliest is."""

    best: int
    low: int
    high: int
    sure: int


def _place(arrival: Arrival, seen: Sequence[Trip], model: SensorModel) -> _Place | None:
    """Weigh the trips that can have brought a chip.  None if there is none: the camera missed the hand."""
    costs: dict[int, int] = {}
    for n, trip in enumerate(seen):
        if trip.begins_ns > arrival.span.latest_ns:
            continue
        if trip.ends_ns is not None and trip.ends_ns < arrival.span.earliest_ns:
            continue
        # Looks that would have had to miss it, if it lay there when the hand was gone at the latest.
        missed = [m for m in arrival.misses if trip.ends_ns is not None and m.start_ns > trip.ends_ns]
        costs[n] = miss_cost(missed, model)
    if not costs:
        return None
    best = min(costs, key=lambda n: (costs[n], n))
    possible = [n for n, cost in costs.items() if cost - costs[best] < model.sure]
    rival = min((cost for n, cost in costs.items() if n != best), default=None)
    sure = SURE if rival is None else confidence(rival - costs[best])
    return _Place(best, min(possible), max(possible), sure)


def _by_trips(arrivals: Sequence[Arrival], places: Sequence[_Place], seen: Sequence[Trip]) -> Grouping:
    best = _gather(arrivals, [p.best for p in places], seen)
    used = sorted({n for p in places for n in (p.low, p.best, p.high)})
    surely = sorted({p.low for p in places if p.low == p.high})
    undecided = [p for p in places if p.low != p.high]
    sure = min((p.sure for p in undecided), default=500)
    one_trip = max(p.low for p in places) <= min(p.high for p in places)
    if len(used) > 1 and (one_trip or _may_be_one(seen, surely)):
        if not undecided and not _unsure(seen, used):
            return Grouping(best, best)
        apart = best if len(best) > 1 else _split_all(arrivals, places)
        return Grouping((tuple(arrivals),), apart, Doubt("one_motion", len(best) == 1, sure))
    early = _gather(arrivals, [p.low for p in places], seen)
    late = _gather(arrivals, [p.high for p in places], seen)
    if early == late:
        return Grouping(best, best)
    return Grouping(early, late, Doubt("late_chips", best == early, sure))


def _may_be_one(seen: Sequence[Trip], used: Sequence[int]) -> bool:
    """Whether no parting between these trips is sure."""
    return len(used) > 0 and all(t.parting != "sure" for t in seen[used[0] + 1 : used[-1] + 1])


def _unsure(seen: Sequence[Trip], used: Sequence[int]) -> bool:
    return any(t.parting == "unsure" for t in seen[used[0] + 1 : used[-1] + 1])


def _gather(arrivals: Sequence[Arrival], which: Sequence[int], seen: Sequence[Trip]) -> tuple[Group, ...]:
    """Chips by trip; trips whose parting is unsure count as apart only where that is the better reading."""
    groups: list[list[Arrival]] = []
    last: int | None = None
    for n in sorted(set(which)):
        chips = [a for a, w in zip(arrivals, which, strict=True) if w == n]
        apart = last is not None and any(
            t.parting == "sure" or (t.parting == "unsure" and t.likely_apart) for t in seen[last + 1 : n + 1]
        )
        if apart or not groups:
            groups.append([])
        groups[-1] += chips
        last = n
    return tuple(tuple(g) for g in groups)


def _split_all(arrivals: Sequence[Arrival], places: Sequence[_Place]) -> tuple[Group, ...]:
    """Chips by their likeliest trips, or by their last ones, every parting taken for one."""
    for which in ([p.best for p in places], [p.high for p in places]):
        numbers = sorted(set(which))
        if len(numbers) > 1:
            return tuple(tuple(a for a, w in zip(arrivals, which, strict=True) if w == n) for n in numbers)
    return (tuple(arrivals),)


# -- without it ----------------------------------------------------------------------------------


def _by_pauses(arrivals: Sequence[Arrival], settings: FusionSettings) -> Grouping:
    """Motions by the pauses between arrivals: short ones are one motion, long ones that no missed look explains two."""
    whole = _gather_pauses(arrivals, settings, apart=False)
    apart = _gather_pauses(arrivals, settings, apart=True)
    return Grouping(whole, apart, Doubt("one_motion", True) if whole != apart else None)


def _gather_pauses(arrivals: Sequence[Arrival], settings: FusionSettings, *, apart: bool) -> tuple[Group, ...]:
    groups: list[list[Arrival]] = [[arrivals[0]]]
    for earlier, later in itertools.pairwise(arrivals):
        split = _pause_splits(earlier, later, settings)
        if apart if split is None else split:
            groups.append([])
        groups[-1].append(later)
    return tuple(tuple(g) for g in groups)


def _pause_splits(earlier: Arrival, later: Arrival, settings: FusionSettings) -> bool | None:
    """True: two motions.  False: one.  None: cannot be told."""
    longest = max(0, later.likely.latest_ns - earlier.likely.earliest_ns)
    if longest <= settings.one_motion_ms * MS:
        return False
    shortest = max(0, later.likely.earliest_ns - earlier.likely.latest_ns)
    # The chip must surely not have lain there, unread, since the first motion.
    surely_later = later.span.earliest_ns - earlier.likely.latest_ns >= settings.one_motion_ms * MS
    return True if shortest >= settings.two_motions_ms * MS and surely_later else None
