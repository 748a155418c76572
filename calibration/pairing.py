"""Which landing that the camera saw is which arrival that a reader named, and which press came with it.  Pure.

Only what stands alone is taken: where two chips come close to each other nobody can tell which was which.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping, Sequence

import msgspec

from calibration.clock import MAX_LOOKS, MS, Arrival, Placement
from calibration.looks import Spot
from firmware_bridge.wire import AnyObservation, CleanEmpty, Present, Press, TimeSpan
from tabled.model.camera import AnyCameraObservation, ChipsLanded

ALONE_NS = 600 * MS
"""Nothing else may come to the same seat so soon before or after."""
TOGETHER_NS = 400 * MS
"""A landing and an arrival further apart than this are not one chip."""
AWAY = 3
"""A chip that comes again must have been missed by so many looks in a row before."""
MAX_EVENTS = 20_000


class Came(msgspec.Struct, frozen=True):
    """A chip came to a seat, as its reader says."""

    seat: str
    uid: str
    arrival: Arrival


class Arrivals:
    """Finds arrivals in the looks of the antennas that cover bets; ``seats`` by antenna."""

    def __init__(self, seats: Mapping[Spot, str]) -> None:
        self._seats = seats
        self._past: dict[Spot, deque[tuple[TimeSpan, frozenset[str]]]] = {s: deque(maxlen=MAX_LOOKS + 1) for s in seats}
        self.found: list[Came] = []

    def add(self, seen: AnyObservation | AnyCameraObservation) -> None:
        """Take an observation; looks that may have missed something say nothing."""
        if not isinstance(seen, Present | CleanEmpty) or (isinstance(seen, Present) and not seen.complete):
            return
        spot = (str(seen.device), seen.antenna)
        past = self._past.get(spot)
        if past is None or len(self.found) >= MAX_EVENTS:
            return
        uids = frozenset(t.uid for t in seen.tags) if isinstance(seen, Present) else frozenset[str]()
        if len(past) >= AWAY:
            before = list(past)
            for uid in sorted(uids):
                if not any(uid in there for _, there in before[-AWAY:]):
                    missed = tuple(span for span, there in reversed(before) if uid not in there)
                    self.found.append(Came(self._seats[spot], uid, Arrival(seen.span, missed[:MAX_LOOKS])))
        past.append((seen.span, uids))


def landings(seen: Iterable[AnyObservation | AnyCameraObservation]) -> list[ChipsLanded]:
    """What the camera saw land."""
    return [one for one in seen if isinstance(one, ChipsLanded)][:MAX_EVENTS]


def placements(came: Sequence[Came], landed: Sequence[ChipsLanded], *, narrow_ns: int = 0) -> list[Placement]:
    """Landing and arrival of each chip that came alone; ``narrow_ns`` is what the camera had added to both ends of its
    spans for its own clock."""
    alone = [one for one in came if _alone(one.arrival.span, [o.arrival.span for o in came if o.seat == one.seat])]
    lone = [one for one in landed if _alone(one.span, [o.span for o in landed if o.seat == one.seat])]
    found: list[Placement] = []
    for one in alone:
        near = [o for o in lone if o.seat == one.seat and _gap(o.span, one.arrival.span) <= TOGETHER_NS]
        if len(near) == 1:
            found.append(Placement(_narrowed(near[0].span, narrow_ns), one.arrival))
    return found


def presses(came: Sequence[Came], pressed: Sequence[Press]) -> list[tuple[TimeSpan, TimeSpan]]:
    """Arrival and press of each chip with which one key was pressed."""
    found: list[tuple[TimeSpan, TimeSpan]] = []
    for one in came:
        near = [p.span for p in pressed if _gap(p.span, one.arrival.span) <= TOGETHER_NS]
        if len(near) == 1:
            found.append((one.arrival.span, near[0]))
    return found


def _gap(one: TimeSpan, other: TimeSpan) -> int:
    return max(0, one.earliest_ns - other.latest_ns, other.earliest_ns - one.latest_ns)


def _alone(span: TimeSpan, others: Sequence[TimeSpan]) -> bool:
    return sum(_gap(span, other) < ALONE_NS for other in others) == 1


def _narrowed(span: TimeSpan, by_ns: int) -> TimeSpan:
    by = min(by_ns, (span.latest_ns - span.earliest_ns) // 2)
    return TimeSpan(span.earliest_ns + by, span.latest_ns - by)
