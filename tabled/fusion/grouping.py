"""Which chips came in which forward motion.

With the camera: each chip touched the felt during one of the hand's trips.  Its arrival is a span, and the reader may
have missed it there for a while, so a chip may belong to several trips; how many clean looks would have had to miss it
weighs them.  Without the camera only pauses tell, and a pause that missed looks could explain proves nothing.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence

import msgspec

from tabled.fusion.attempt import SURE, Arrival, Attempt, Doubt, DoubtKind
from tabled.fusion.presence import confidence, miss_cost
from tabled.fusion.settings import MS, FusionSettings, SensorModel
from tabled.fusion.strokes import Trip, trips

Group = tuple[Arrival, ...]
LN_2 = 693
"""ln 2 in thousandths."""


class Grouping(msgspec.Struct, frozen=True):
    """Groups of chips by motion, oldest motion first, under each answer to its doubts (at most one of each kind).

    ``whole`` holds if "one_motion" is answered yes.  If not, ``early`` holds where "late_chips" is answered yes (they
    belong to the first motion that can have brought them), ``late`` where it is answered no.
    """

    whole: tuple[Group, ...]
    early: tuple[Group, ...]
    late: tuple[Group, ...]
    doubts: tuple[Doubt, ...] = ()

    def under(self, answers: Mapping[DoubtKind, bool]) -> tuple[Group, ...]:
        """The groups under some answers; a doubt without an answer is read its best way."""
        reading: dict[DoubtKind, bool] = {d.kind: answers.get(d.kind, d.best) for d in self.doubts}
        if reading.get("one_motion", False):
            return self.whole
        return self.early if reading.get("late_chips", True) else self.late


def _certain(groups: tuple[Group, ...]) -> Grouping:
    return Grouping(groups, groups, groups)


def group(attempt: Attempt, settings: FusionSettings) -> Grouping:
    """The motions of an attempt, by the camera where it explains every chip, else by the reader alone."""
    arrivals = tuple(sorted(attempt.arrivals, key=lambda a: (a.span.latest_ns, a.span.earliest_ns, a.uid)))
    if not arrivals:
        return _certain(())
    if attempt.sighted:
        seen = trips(attempt.strokes, settings)
        places = [_place(a, seen, settings.sensor) for a in arrivals]
        if all(p is not None for p in places):
            return _by_trips(arrivals, [p for p in places if p is not None], seen)
        # A chip that no hand of the seat was seen to bring may have rolled, and been put there for it later.
        adrift = tuple(a for a, p in zip(arrivals, places, strict=True) if p is None)
        return _by_pauses(arrivals, settings, adrift)
    return _by_pauses(arrivals, settings, ())


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
        begins, ends = max(trip.begins_ns, arrival.span.earliest_ns), arrival.span.latest_ns
        if trip.ends_ns is not None:
            ends = min(ends, trip.ends_ns)
        if begins <= ends:
            costs[n] = _trip_cost(arrival, trip, begins, ends, model)
    if not costs:
        return None
    best = min(costs, key=lambda n: (costs[n], -n))
    possible = [n for n, cost in costs.items() if cost - costs[best] < model.sure]
    rival = min((cost for n, cost in costs.items() if n != best), default=None)
    sure = SURE if rival is None else confidence(rival - costs[best])
    return _Place(best, min(possible), max(possible), sure)


def _trip_cost(arrival: Arrival, trip: Trip, begins: int, ends: int, model: SensorModel) -> int:
    """How unlikely it is that this trip let the chip go (thousandths of a nat).

    It may have let it go at any time between two looks: then the later looks missed it; and the shorter that time is
    against the whole trip, the less likely it was just then.
    """
    whole = max(1, ends - trip.begins_ns)
    edges = [begins, *(m.start_ns for m in arrival.misses if begins < m.start_ns < ends), ends]
    costs = []
    for since, until in itertools.pairwise(edges):
        missed = [m for m in arrival.misses if m.start_ns >= until]
        halvings = (whole // max(1, until - since)).bit_length() - 1
        costs.append(miss_cost(missed, model) + halvings * LN_2 + (model.found_again if missed else 0))
    return min(costs)


def _by_trips(arrivals: Sequence[Arrival], places: Sequence[_Place], seen: Sequence[Trip]) -> Grouping:
    best = _gather(arrivals, [p.best for p in places], seen)
    used = sorted({n for p in places for n in (p.low, p.best, p.high)})
    if len(used) == 1:
        return _certain(best)
    early, late = (_gather(arrivals, [getattr(p, end) for p in places], seen) for end in ("low", "high"))
    surely = sorted({p.low for p in places if p.low == p.high})
    undecided = [p for p in places if p.low != p.high]
    sure = min((p.sure for p in undecided), default=500)
    found: list[Doubt] = []
    one_trip = max(p.low for p in places) <= min(p.high for p in places)
    if one_trip or _may_be_one(seen, surely):
        if not undecided and not _unsure(seen, used):
            return _certain(best)
        found.append(Doubt("one_motion", len(best) == 1, sure))
        early, late = (g if len(g) > 1 else _split_all(arrivals, places) for g in (early, late))
    if early != late:
        first = sum(p.best == p.low for p in undecided)
        found.append(Doubt("late_chips", 2 * first > len(undecided), sure))
    if not found:
        return _certain(best)
    return Grouping((tuple(arrivals),), early, late, tuple(found))


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


def _by_pauses(arrivals: Sequence[Arrival], settings: FusionSettings, adrift: Group) -> Grouping:
    """Motions by the pauses between arrivals: short ones are one motion, long ones that no missed look explains two."""
    whole = _gather_pauses(arrivals, settings, adrift, apart=False)
    apart = _gather_pauses(arrivals, settings, adrift, apart=True)
    return Grouping(whole, apart, apart, (Doubt("one_motion", True),) if whole != apart else ())


def _gather_pauses(
    arrivals: Sequence[Arrival], settings: FusionSettings, adrift: Group, *, apart: bool
) -> tuple[Group, ...]:
    groups: list[list[Arrival]] = [[arrivals[0]]]
    for earlier, later in itertools.pairwise(arrivals):
        split = _pause_splits(earlier, later, settings)
        if split and (earlier in adrift or later in adrift):
            split = None
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
