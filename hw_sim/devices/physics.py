"""What happens between an antenna and the chips over it, the same for every model of reader.

Figures: reference table of ISO 15693 inventories (high rate, 16 slots), see `INVENTORY_MS`.  A tag that was told
to stay quiet keeps quiet only as long as it has power (ISO/IEC 15693-3, 7.3): whoever switches the antenna away,
resets the field or lifts the chip wakes it, for its neighbours too.  Some chips remember longer
(`Timing.quiet_hold_ms`).  What one reader told a tag counts for that reader alone.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from random import Random

import msgspec

MS = 1_000_000

INVENTORY_MS = ((0, 9.8), (1, 14.0), (5, 38.0), (10, 82.0), (20, 184.0))
"""Milliseconds of one ISO 15693 inventory (high rate, 16 slots) by number of tags that answer."""

Field = Callable[[int], Sequence[str]]
"""UIDs over one place of the table now, bottom of the stack first."""

MAX_REMEMBERED = 64
"""Inventories that the air remembers for each reader; older ones cannot overlap what is answered now."""


class Noise(msgspec.Struct, frozen=True, kw_only=True):
    """What goes wrong, each as a probability for one inventory (0 = never).

    ``miss_lone``/``miss_buried``: a tag alone or on top of a stack, and one under others, does not answer.
    ``miss_together``: share of buried misses that take the whole stack with them (misses are correlated).
    ``sticky``: an unchanged stack answers exactly as it did the last time (misses are correlated in time too).
    ``ghost``: a UID that is on no chip answers, with a good checksum.  ``bleed``: each tag of a neighbouring
    place answers here too.  ``rf_error``: the reader reports an RF error, nothing delivered.  ``rf_warning``: it
    reports a warning, half of the tags delivered.  ``silent``: no reply at all.
    ``clash``: an inventory fails that overlaps in time with one of another reader on the same or a neighbouring
    place.  ``clash_idle``: each tag is missed while another reader's idle carrier is on there.
    """

    miss_lone: float = 0.0
    miss_buried: float = 0.0
    miss_together: float = 0.5
    sticky: float = 0.0
    ghost: float = 0.0
    bleed: float = 0.0
    rf_error: float = 0.0
    rf_warning: float = 0.0
    silent: float = 0.0
    clash: float = 0.9
    clash_idle: float = 0.25


QUIET = Noise()


class Timing(msgspec.Struct, frozen=True, kw_only=True):
    """How long the reader takes.  With ``real`` False it answers at once.

    ``quiet_hold_ms``: how long a tag without power remembers that it was told to stay quiet.  0 for ordinary
    chips; some thousand for chips with a persistent quiet state.
    """

    real: bool = False
    switch_ms: float = 5.0
    rf_reset_ms: float = 15.0
    command_ms: float = 1.0
    restart_ms: float = 600.0
    quiet_hold_ms: float = 0.0

    def inventory_ns(self, tags: int) -> int:
        """Duration of an inventory with so many tags: straight lines between the published points."""
        if not self.real:
            return 0
        counts = [n for n, _ in INVENTORY_MS]
        high = min(max(bisect_left(counts, tags), 1), len(counts) - 1)
        (n0, t0), (n1, t1) = INVENTORY_MS[high - 1], INVENTORY_MS[high]
        return round((t0 + (t1 - t0) * (tags - n0) / (n1 - n0)) * MS)

    def ns(self, milliseconds: float) -> int:
        """A duration of this reader in nanoseconds: 0 unless it is ``real``."""
        return round(milliseconds * MS) if self.real else 0


def touching(places: Iterable[int], others: Iterable[int]) -> bool:
    """True when some place of the one is the same as, or next to, some place of the other."""
    near = {p + d for p in places for d in (-1, 0, 1)}
    return not near.isdisjoint(others)


class Air:
    """What all readers of one table share: whose carrier is on over which places, and who asks when."""

    def __init__(self) -> None:
        self._carriers: list[tuple[int, ...]] = []
        self._asked: list[deque[tuple[int, int, tuple[int, ...]]]] = []

    def join(self) -> int:
        """A number for one more reader."""
        self._carriers.append(())
        self._asked.append(deque(maxlen=MAX_REMEMBERED))
        return len(self._carriers) - 1

    def power(self, who: int, places: tuple[int, ...]) -> None:
        """Reader ``who`` has its carrier on over these places from now on."""
        self._carriers[who] = places

    def ask(self, who: int, places: tuple[int, ...], start_ns: int, end_ns: int) -> None:
        """Reader ``who`` runs an inventory there and then."""
        self._asked[who].append((start_ns, end_ns, places))

    def carrier_near(self, who: int, places: tuple[int, ...]) -> bool:
        """Whether another reader's carrier is on next to these places now."""
        return any(touching(places, other) for i, other in enumerate(self._carriers) if i != who)

    def asked_near(self, who: int, places: tuple[int, ...], start_ns: int, end_ns: int) -> bool:
        """Whether another reader ran an inventory next to these places in that time."""
        return any(
            start < end_ns and end > start_ns and touching(places, other)
            for i, asked in enumerate(self._asked)
            if i != who
            for start, end, other in asked
        )


class Radio:
    """The air interface of one reader: power, quiet tags, misses, bleed, ghosts, clashes.

    Antennas are the reader's own numbers, ``places`` says over which place of the table each lies; neighbours are
    places whose numbers differ by one, whichever reader they belong to.
    """

    def __init__(
        self, field: Field, places: dict[int, int], *, rng: Random, noise: Noise, timing: Timing, air: Air | None = None
    ) -> None:
        self._field, self._places, self._rng, self._timing = field, places, rng, timing
        self.noise = noise
        self.strength = 1.0
        """Field strength; more reaches buried chips better, and lone ones worse (detuned and overdriven)."""
        self.reach: Callable[[int], Sequence[tuple[str, float]]] | None = None
        """Where a table is exact about it: each chip that the antenna under a place may hear, with its chance in one
        look; then misses and bleed of `Noise` do not count."""
        self._air = air or Air()
        self._who = self._air.join()
        self.on: tuple[int, ...] = ()
        self._quiet: set[str] = set()
        self._dark_since: dict[str, int] = {}
        """Quiet tags without power, and since when."""
        self._faint: set[str] = set()
        """Tags beside the antenna that answered since it was switched on: they hear it as well as it hears them."""
        self._last: dict[int, tuple[list[str], list[str]]] = {}
        self.counts: dict[str, int] = {}
        self.looks: dict[int, int] = {}
        """By place, how many inventories looked at it."""

    def _count(self, what: str) -> None:
        self.counts[what] = self.counts.get(what, 0) + 1

    # -- power ------------------------------------------------------------------------------------

    def over(self, antennas: Iterable[int]) -> tuple[int, ...]:
        """Places under antennas."""
        return tuple(self._places[a] for a in antennas)

    def power(self, antennas: Iterable[int], now_ns: int) -> None:
        """Energise exactly these antennas; tags that lose power forget what they were told, wherever they are asked."""
        fresh = tuple(a for a in antennas if a in self._places)
        if set(fresh) != set(self.on):
            kept = self._lit(a for a in fresh if a in self.on)
            for uid in self._quiet - kept:
                self._dark_since.setdefault(uid, now_ns)
            self._faint.clear()
        hold_ns = self._timing.quiet_hold_ms * MS
        self._quiet -= {u for u, since in self._dark_since.items() if now_ns - since >= hold_ns}
        dark = self._quiet - self._lit(fresh)
        self._dark_since = {u: since for u, since in self._dark_since.items() if u in dark}
        self.on = fresh
        self._air.power(self._who, self.over(fresh))

    def _lit(self, antennas: Iterable[int]) -> set[str]:
        """Tags over antennas."""
        return {u for a in antennas for u in self._field(self._places[a])}

    def reset_field(self, now_ns: int) -> None:
        """Switch the field off for ``rf_reset_ms`` and on again."""
        on = self.on
        self.power((), now_ns)
        self.power(on, now_ns + round(self._timing.rf_reset_ms * MS))

    def lifted(self, uids: Iterable[str]) -> None:
        """Chips left the felt: out of every field they lose power for as long as a hand takes, which is long."""
        for uid in uids:
            self._quiet.discard(uid)
            self._faint.discard(uid)
            self._dark_since.pop(uid, None)

    def hush(self, uids: Iterable[str]) -> None:
        """Tell tags to stay quiet; those that have no power do not hear it."""
        powered = self._lit(self.on) | self._faint
        self._quiet.update(u for u in uids if u in powered)

    def wake(self, uid: str | None = None) -> None:
        """Reset to ready: one tag, or all that have power."""
        powered = self._lit(self.on) | self._faint
        self._quiet -= powered if uid is None else powered & {uid}

    def has(self, uid: str) -> bool:
        """Whether a tag with this UID lies over an energised antenna (it answers when addressed, quiet or not)."""
        return any(uid in self._field(self._places[a]) for a in self.on)

    # -- one inventory ----------------------------------------------------------------------------

    def willing(self) -> int:
        """How many tags would answer an inventory now."""
        return sum(u not in self._quiet for a in self.on for u in self._field(self._places[a]))

    def present(self) -> int:
        """How many tags have power now, quiet or not."""
        return sum(len(self._field(self._places[a])) for a in self.on)

    def ask(self, start_ns: int, end_ns: int) -> None:
        """Announce an inventory to the air."""
        self._air.ask(self._who, self.over(self.on), start_ns, end_ns)

    def spoilt(self, start_ns: int, end_ns: int) -> bool:
        """Whether another reader's inventory ruined the one that ran from ``start_ns`` to ``end_ns``."""
        clash = self._air.asked_near(self._who, self.over(self.on), start_ns, end_ns)
        if clash and self._rng.random() < self.noise.clash:
            self._count("clash")
            return True
        return False

    def answering(self) -> list[str]:
        """UIDs that one inventory hears now, in the order of their slots; quiet tags say nothing."""
        noise, rng, on = self.noise, self._rng, self.on
        for place in self.over(on):
            self.looks[place] = self.looks.get(place, 0) + 1
        seen: list[str] = []
        for a in on:
            seen += self._heard(a)
        if noise.bleed and self.reach is None:
            near = {self._places[a] + d for a in on for d in (-1, 1)} - set(self.over(on))
            chance = min(1.0, noise.bleed * self.strength)
            beside = [u for place in sorted(near) for u in self._field(place) if rng.random() < chance]
            self._faint.update(beside)
            seen += beside
        elif self.reach is not None:
            self._faint.update(set(seen) - self._lit(on))
        if on and rng.random() < noise.ghost:
            self._count("ghost")
            seen.append(f"E0040150{rng.randrange(1 << 32):08X}")
        if noise.clash_idle and self._air.carrier_near(self._who, self.over(on)):
            self._count("carrier near")
            seen = [u for u in seen if rng.random() >= noise.clash_idle]
        rng.shuffle(seen)
        # A UID that comes twice (two chips with one UID, or two antennas that reach one chip) answers once.
        return [u for u in dict.fromkeys(seen) if u not in self._quiet]

    def _heard(self, antenna: int) -> list[str]:
        if self.reach is not None:
            return [uid for uid, chance in self.reach(self._places[antenna]) if self._rng.random() < chance]
        stack = list(self._field(self._places[antenna]))
        last = self._last.get(antenna)
        if self.noise.sticky and last and last[0] == stack and self._rng.random() < self.noise.sticky:
            return list(last[1])
        kept = self._unmissed(stack)
        if self.noise.sticky:
            self._last[antenna] = (stack, list(kept))
        return kept

    def _unmissed(self, stack: list[str]) -> list[str]:
        noise, rng = self.noise, self._rng
        if not (noise.miss_lone or noise.miss_buried):
            return stack
        lone, deep = noise.miss_lone * self.strength, noise.miss_buried / self.strength
        together = rng.random() < deep * noise.miss_together
        alone = deep * (1 - noise.miss_together)
        kept: list[str] = []
        for height, uid in enumerate(stack):
            buried = height < len(stack) - 1
            lost = (together or rng.random() < alone) if buried else rng.random() < lone
            if not lost:
                kept.append(uid)
        return kept
