"""Whose antenna is energised when: readers in one time-division plan, and how late that can make them.

Antennas that disturb each other are *neighbours*.  Readers that have neighbours among each other share
a plan: a cycle of *rounds*, in each at most one antenna a reader and no two neighbours.  A round is over
when every reader that takes part has looked and switched off; nothing depends on two clocks agreeing.

Two lanes.  A FULL look makes every chip answer, so it sees removals.  In a FRESH look the chips that are
known have been told to stay quiet, so it costs little however high the stack is and sees arrivals.  A quiet
chip wakes when it loses power (ISO 15693-3, state diagram): the lane exists only where an antenna stays
energised between its looks, which a multiplexer and a shared plan do not allow.  There, antennas where
chips are expected may be *favoured* instead: all of them are looked at before each ordinary round.

The stated bounds hold without faults: a fault is a `Corrupt` or a `DeviceLost` and is counted.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import Enum, auto
from typing import Protocol, runtime_checkable

import msgspec

Place = tuple[str, int]
"""A device's name and its antenna number."""
Pair = tuple[Place, Place]
"""Two antennas that are never energised together."""


class Lane(Enum):
    """What a look is for."""

    FULL = auto()
    """Everything answers: presence and removals."""
    FRESH = auto()
    """Known chips stay quiet: arrivals."""


class Look(msgspec.Struct, frozen=True):
    """One look at one antenna."""

    antenna: int
    lane: Lane = Lane.FULL


class Member(msgspec.Struct, frozen=True, kw_only=True):
    """A reader as the plan sees it.  Times are the longest without a fault, in ns, switching included.

    ``full_ns`` stands in the order of ``antennas``.  ``fresh_ns`` None: it has no fresh lane.  With one, an antenna
    is due for a full look ``presence_ns`` after its last, and a pass has one full look of this reader at most.
    A pass over all rounds lasts at least ``rest_ns``.
    """

    device: str
    antennas: tuple[int, ...]
    full_ns: tuple[int, ...]
    fresh_ns: int | None = None
    presence_ns: int = 0
    rest_ns: int = 0

    def __post_init__(self) -> None:
        if not self.antennas or len(self.full_ns) != len(self.antennas):
            raise ValueError(f"reader '{self.device}': a time for each of its antennas")


@runtime_checkable
class TakesTurns(Protocol):
    """A session whose looks can stand in a plan.

    ``member`` is its part in the present one; ``member_in`` its part in one that is shared with others
    (ValueError if it cannot); ``share`` takes turns from that from the next start on.
    """

    member: Member

    def member_in(self, *, shared: bool) -> Member: ...
    def share(self, turns: Turns) -> None: ...
    def favour(self, places: Iterable[Place]) -> None:
        """Looks at these antennas more often."""

    def worst_arrival_ns(self, antenna: int) -> int | None:
        """Longest time from a chip's landing to the end of the look that names it."""

    def worst_removal_ns(self, antenna: int) -> int | None:
        """Longest time from a chip's lifting to the end of the first full look without it."""


def groups(devices: Sequence[str], neighbours: Iterable[Pair]) -> list[tuple[str, ...]]:
    """Devices that must share a plan, each group and the groups in the order of ``devices``."""
    root = {device: device for device in devices}

    def top(device: str) -> str:
        while root[device] != device:
            device = root[device]
        return device

    for (one, _), (other, _) in neighbours:
        if one in root and other in root:
            root[top(other)] = top(one)
    found: dict[str, list[str]] = {}
    for device in devices:
        found.setdefault(top(device), []).append(device)
    return [tuple(group) for group in found.values()]


def rounds_of(members: Sequence[Member], neighbours: Iterable[Pair]) -> tuple[tuple[Place, ...], ...]:
    """Every antenna once, each in the first round that has none of its reader's and no neighbour."""
    apart: set[Pair] = set()
    for one, other in neighbours:
        apart |= {(one, other), (other, one)}
    rounds: list[list[Place]] = []
    for n in range(max(len(m.antennas) for m in members)):
        for member in members:
            if n >= len(member.antennas):
                continue
            place = (member.device, member.antennas[n])
            free = (r for r in rounds if all(p[0] != place[0] and (p, place) not in apart for p in r))
            chosen = next(free, None)
            if chosen is None:
                rounds.append(chosen := [])
            chosen.append(place)
    return tuple(tuple(r) for r in rounds)


class TimePlan:
    """The rounds of one group of readers and the bounds that follow from them.  Immutable."""

    def __init__(self, members: Sequence[Member], neighbours: Iterable[Pair] = ()) -> None:
        self.members = {m.device: m for m in members}
        self.rounds = rounds_of(members, neighbours)
        pairs = [pair for one, other in neighbours for pair in ((one, other), (other, one))]
        self._beside = {one: frozenset(o[0] for p, o in pairs if p == one and o[0] != one[0]) for one, _ in pairs}
        self.rest_ns = max(m.rest_ns for m in members)
        self._full: dict[Place, int] = {
            (m.device, a): ns for m in members for a, ns in zip(m.antennas, m.full_ns, strict=True)
        }

    @property
    def shared(self) -> bool:
        """Whether a reader must switch its field off between two looks."""
        return len(self.members) > 1

    def beside(self, place: Place) -> frozenset[str]:
        """Other readers with an antenna next to this one."""
        return self._beside.get(place, frozenset())

    def of(self, device: str) -> tuple[Place, ...]:
        """A reader's antennas."""
        return tuple((device, a) for a in self.members[device].antennas)

    def pass_ns(self, favoured: Iterable[Place] = ()) -> int:
        """Longest time for all rounds once, and the rest behind them."""
        return max(self._rounds_ns(favoured, 1), self.rest_ns)

    def _rounds_ns(self, favoured: Iterable[Place], passes: int) -> int:
        """Every round once, in a stretch that touches so many passes."""
        often = self._rounds_with(favoured)
        slow = [self._round_ns(n, Lane.FULL) for n in range(len(self.rounds))]
        quick = [self._round_ns(n, Lane.FRESH) for n in range(len(self.rounds))]
        full = sum(len(m.antennas) if m.fresh_ns is None else passes for m in self.members.values())
        extra = sorted((max(0, s - q) for s, q in zip(slow, quick, strict=True)), reverse=True)
        return sum(quick) + sum(extra[:full]) + len(self.rounds) * sum(slow[n] for n in often)

    def gap_ns(self, place: Place, favoured: Iterable[Place] = ()) -> int:
        """Longest time from one look at this antenna to the next."""
        often = self._rounds_with(favoured)
        if not any(place in self.rounds[n] for n in often):
            # A quick pass is followed by its rest, and then this antenna's turn may come late in a slow one.
            total = self._rounds_ns(favoured, 2)
            first = min(self._round_ns(n, Lane.FRESH) for n in range(len(self.rounds)))
            return max(total, self.rest_ns + total - first)
        slowest = max(self._round_ns(n, lane) for n in range(len(self.rounds)) for lane in Lane)
        # At the end of a pass the favoured ones wait out the rest like all others.
        return slowest + sum(self._round_ns(n, Lane.FULL) for n in often) + self.rest_ns

    def arrival_ns(self, place: Place, favoured: Iterable[Place] = ()) -> int:
        """Longest time from a chip's landing to the end of the look that names it."""
        return self.gap_ns(place, favoured) + max(self._look_ns(place, lane) for lane in Lane)

    def removal_ns(self, place: Place, favoured: Iterable[Place] = ()) -> int:
        """Longest time from a chip's lifting to the end of the first full look without it."""
        member = self.members[place[0]]
        waits = 0
        if member.fresh_ns is not None:
            # Due after that time, and then at worst the last of its reader's antennas, one a pass.
            waits = member.presence_ns + len(member.antennas) * self.pass_ns(favoured)
        return waits + self.gap_ns(place, favoured) + self._full[place]

    def _rounds_with(self, places: Iterable[Place]) -> list[int]:
        wanted = set(places)
        return [n for n, r in enumerate(self.rounds) if wanted.intersection(r)]

    def _round_ns(self, number: int, lane: Lane) -> int:
        return max(self._look_ns(place, lane) for place in self.rounds[number])

    def _look_ns(self, place: Place, lane: Lane) -> int:
        full, fresh = self._full[place], self.members[place[0]].fresh_ns
        return full if lane is Lane.FULL or fresh is None else fresh


class Turns:
    """A plan at work: who may look where now.

    A reader joins when it has switched its field off (or, alone, at any time), takes a look when its round has
    come, and gives it back when it is dark again.  One that is lost leaves: whether its field is still on
    nobody can know then.
    """

    def __init__(self, plan: TimePlan) -> None:
        self.plan = plan
        self.leaves = 0
        """Times that a reader left."""
        self.passes = 0
        self._joined: set[str] = set()
        self._done: set[str] = set()
        self._holding: set[str] = set()
        self._favoured: frozenset[Place] = frozenset()
        self._often: list[int] = []
        self._round = 0
        self._ordinary = 0
        self._refilled = False
        self._began_ns = 0
        self._not_before_ns = 0
        self._full_at_ns: dict[Place, int] = {}
        self._full_now: dict[str, Place | None] = {}
        """The antenna of each reader with a fresh lane that has its full look in this pass."""

    def join(self, device: str, now_ns: int) -> None:
        """The reader is up, and its field is off if the plan is shared."""
        if not self._joined:
            self._began_ns = self._not_before_ns = now_ns
        self._joined.add(device)
        self._done.discard(device)
        self._move_on(now_ns)

    def leave(self, device: str, now_ns: int) -> None:
        """The reader is gone: nobody waits for it."""
        self.leaves += device in self._joined
        self._joined.discard(device)
        self._holding.discard(device)
        self._move_on(now_ns)

    def take(self, device: str, now_ns: int) -> Look | None:
        """The look that is this reader's now; None when it has to wait."""
        place = self._place(device)
        if place is None or now_ns < self._not_before_ns:
            return None
        self._holding.add(device)
        if self.plan.members[device].fresh_ns is None:
            return Look(place[1], Lane.FULL)
        if device not in self._full_now:
            self._full_now[device] = self._due_for_full(device, now_ns)
        if self._full_now[device] != place:
            return Look(place[1], Lane.FRESH)
        self._full_now[device] = None
        self._full_at_ns[place] = now_ns
        return Look(place[1], Lane.FULL)

    def give(self, device: str, now_ns: int) -> None:
        """The look is over and, in a shared plan, the field is off."""
        self._holding.discard(device)
        self._done.add(device)
        self._move_on(now_ns)

    def due_ns(self, device: str) -> int | None:
        """When a waiting reader may take its look; None: not before another one gives its own back."""
        return None if self._place(device) is None else self._not_before_ns

    def favour(self, places: Iterable[Place]) -> None:
        """Antennas to look at before each ordinary round, from the next round on.  Unknown ones are ignored."""
        known = {place for r in self.plan.rounds for place in r}
        self._favoured = frozenset(known.intersection(places))
        if not self._refilled:
            self._refill()
            self._refilled = True

    def worst_arrival_ns(self, place: Place) -> int:
        """The plan's bound with what is favoured now."""
        return self.plan.arrival_ns(place, self._favoured)

    def worst_removal_ns(self, place: Place) -> int:
        """The plan's bound with what is favoured now."""
        return self.plan.removal_ns(place, self._favoured)

    def worst_pass_ns(self) -> int:
        """The plan's bound for a whole pass with what is favoured now."""
        return self.plan.pass_ns(self._favoured)

    def beside(self, place: Place) -> tuple[str, ...]:
        """Readers next to this antenna that are not known to be dark while others look: lost, or not set up yet."""
        return tuple(sorted(self.plan.beside(place) - self._joined))

    def energised(self) -> tuple[Place, ...]:
        """Antennas whose reader holds a look now."""
        return tuple(p for p in self.plan.rounds[self._round] if p[0] in self._holding)

    def _due_for_full(self, device: str, now_ns: int) -> Place | None:
        """The antenna whose last full look is the oldest, if it is old enough."""
        places = self.plan.of(device)
        oldest = min(places, key=lambda p: self._full_at_ns.get(p, -1))
        at_ns = self._full_at_ns.get(oldest)
        due = at_ns is None or now_ns - at_ns >= self.plan.members[device].presence_ns
        return oldest if due else None

    def _place(self, device: str) -> Place | None:
        if device not in self._joined or device in self._done:
            return None
        return next((p for p in self.plan.rounds[self._round] if p[0] == device), None)

    def _refill(self) -> None:
        wanted = self._favoured
        self._often = [n for n, r in enumerate(self.plan.rounds) if n != self._round and wanted.intersection(r)]

    def _move_on(self, now_ns: int) -> None:
        """Goes to the next round that has a reader, if everybody is through with this one."""
        if not self._joined or self._holding:
            return
        for _ in range(2 * len(self.plan.rounds) + 1):
            if any(self._place(device) is not None for device, _ in self.plan.rounds[self._round]):
                return
            self._done.clear()
            if self._often:
                self._round = self._often.pop(0)
                continue
            self._ordinary += 1
            self._refilled = False
            if self._ordinary >= len(self.plan.rounds):
                self._ordinary = 0
                self.passes += 1
                self._full_now.clear()
                self._not_before_ns = max(now_ns, self._began_ns + self.plan.rest_ns)
                self._began_ns = self._not_before_ns
            self._round = self._ordinary
            self._refill()
