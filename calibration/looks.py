"""Every look of every antenna, kept until it is counted.  Pure: observations in, sequences of looks out.

A look counts when it was complete and nothing had been told to stay quiet; the others say nothing of a chip that they
do not name, and are counted by themselves.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable, Sequence
from itertools import pairwise
from statistics import median

import msgspec

from firmware_bridge.wire import AnyObservation, CleanEmpty, Corrupt, Present, TimeSpan

Spot = tuple[str, int]
"""(device, antenna number)."""

MAX_LOOKS = 20_000
"""Looks that are kept of one antenna; older ones are forgotten."""


class Look(msgspec.Struct, frozen=True):
    """One complete look: when, and the UIDs that answered."""

    span: TimeSpan
    uids: frozenset[str]


class Looks:
    """What all antennas have said since `clear`."""

    def __init__(self, spots: Iterable[Spot]) -> None:
        self.spots = tuple(spots)
        self._looks: dict[Spot, deque[Look]] = {spot: deque(maxlen=MAX_LOOKS) for spot in self.spots}
        self.useless: Counter[Spot] = Counter()

    def add(self, seen: AnyObservation) -> Spot | None:
        """Take an observation; the antenna if it was a look that counts."""
        if not isinstance(seen, Present | CleanEmpty | Corrupt):
            return None
        spot = (str(seen.device), seen.antenna)
        kept = self._looks.get(spot)
        if kept is None:
            return None
        if isinstance(seen, Corrupt) or (isinstance(seen, Present) and (not seen.complete or seen.quiet)):
            self.useless[spot] += 1
            return None
        uids = frozenset(t.uid for t in seen.tags) if isinstance(seen, Present) else frozenset[str]()
        kept.append(Look(seen.span, uids))
        return spot

    def clear(self) -> None:
        """Begin anew."""
        for kept in self._looks.values():
            kept.clear()
        self.useless.clear()

    def copy(self) -> Looks:
        """What is there now, for another thread to count."""
        other = Looks(())
        other.spots, other.useless = self.spots, Counter(self.useless)
        other._looks = {spot: deque(kept) for spot, kept in self._looks.items()}
        return other

    def at(self, spot: Spot) -> Sequence[Look]:
        """Looks of one antenna, oldest first."""
        return self._looks[spot]

    def least(self) -> int:
        """How many looks the antenna with the fewest has."""
        return min((len(kept) for kept in self._looks.values()), default=0)

    def share(self, uid: str, spot: Spot) -> float:
        """In which share of this antenna's looks the chip answered; 0 without a look."""
        looks = self._looks[spot]
        return sum(uid in look.uids for look in looks) / len(looks) if looks else 0.0

    def uids(self) -> frozenset[str]:
        """All that answered anywhere."""
        return frozenset(uid for kept in self._looks.values() for look in kept for uid in look.uids)

    def homes(self) -> dict[str, tuple[Spot, float]]:
        """Where each chip that answered lies: the antenna that reads it most often, and in which share of its looks."""
        found: dict[str, tuple[Spot, float]] = {}
        for uid in sorted(self.uids()):
            spot = max(self.spots, key=lambda s: (self.share(uid, s), s))
            found[uid] = spot, self.share(uid, spot)
        return found

    def sweep_ns(self, spot: Spot) -> int:
        """The time from one look at an antenna to its next: the median; 0 for less than two looks."""
        starts = [look.span.earliest_ns for look in self._looks[spot]]
        gaps = [b - a for a, b in pairwise(starts)]
        return round(median(gaps)) if gaps else 0
