"""A reader twin at the level of inventories: which tags answered on which antenna between when and when, no bytes.

It sweeps the antennas of a table one after the other with the published durations (`physics.INVENTORY_MS`).  An answer
is true at one instant within its span, which the reader does not tell.
"""

from __future__ import annotations

from collections.abc import Iterable
from random import Random

import msgspec

from hw_sim.devices.physics import MS, Field, Radio, Timing
from hw_sim.noise import Disturbance, MissModel

MODELS: tuple[MissModel, ...] = ("independent", "together", "sticky", "deaf")
DEAF_SHARE, DEAF_FACTOR = 0.1, 4.0
"""This share of chips is missed so many times as often as all; the rest so much less that the share of all is kept."""
CARRIED_MS = (1.0, 6.0)
"""From the end of an inventory to the host."""


class Read(msgspec.Struct, frozen=True, kw_only=True):
    """One inventory's answer.  ``uids`` is None when nothing can be said (``fault`` tells why)."""

    antenna: int
    from_ns: int
    to_ns: int
    arrives_ns: int
    uids: tuple[str, ...] | None
    complete: bool = True
    fault: str = ""


class DeafRadio(Radio):
    """Some chips, as they happen to lie, answer badly."""

    def __init__(self, field: Field, places: dict[int, int], *, rng: Random, noise: Disturbance, timing: Timing):
        super().__init__(field, places, rng=rng, noise=noise.radio("deaf"), timing=timing)
        self._factor: dict[str, float] = {}

    def _unmissed(self, stack: list[str]) -> list[str]:
        rest = (1 - DEAF_SHARE * DEAF_FACTOR) / (1 - DEAF_SHARE)
        kept = []
        for height, uid in enumerate(stack):
            factor = self._factor.get(uid)
            if factor is None:
                factor = self._factor[uid] = DEAF_FACTOR if self._rng.random() < DEAF_SHARE else rest
            share = self.noise.miss_buried if height < len(stack) - 1 else self.noise.miss_lone
            if self._rng.random() >= min(0.95, share * factor):
                kept.append(uid)
        return kept

    def lifted(self, uids: Iterable[str]) -> None:
        """Where it lies next it may be heard better or worse."""
        for uid in uids:
            self._factor.pop(uid, None)


class Sweeper:
    """One reader with an antenna at each place ``1..antennas`` of the table.

    `ask` begins the next inventory and returns the instant at which `answer` must be called.
    """

    def __init__(self, field: Field, antennas: int, noise: Disturbance, rng: Random, hover: Field) -> None:
        model = rng.choice(MODELS) if noise.miss_model == "mixed" else noise.miss_model
        places = {n: n for n in range(1, antennas + 1)}
        self._timing = Timing(real=True)
        if model == "deaf":
            self.radio: Radio = DeafRadio(field, places, rng=rng, noise=noise, timing=self._timing)
        else:
            self.radio = Radio(field, places, rng=rng, noise=noise.radio(model), timing=self._timing)
        self.model: MissModel = model
        self._field, self._hover, self._noise, self._rng = field, hover, noise, rng
        self._ring = tuple(places)
        self._at = 0
        self._last_favoured = False
        self.favoured = 0
        """The antenna that is looked at before each other one; 0 for none."""
        self._asked = (0, 0, 0)
        self._took: dict[int, int] = {}

    def ask(self, now_ns: int) -> int:
        """Switch to the next antenna and ask."""
        antenna = self._next()
        start = now_ns + self._timing.ns(self._timing.switch_ms)
        tags = len(self._field(antenna))
        took = self._took.get(tags)
        if took is None:
            took = self._took[tags] = self._timing.inventory_ns(tags)
        end = start + took
        self._asked = antenna, start, end
        return self._rng.randint(start, end)

    def answer(self) -> Read:
        """What the antenna hears at this instant."""
        (antenna, start, end), noise, rng = self._asked, self._noise, self._rng
        arrives = end + round(rng.uniform(*CARRIED_MS) * MS)
        roll = rng.random()
        if roll < noise.rf_error + noise.silent:
            why = "rf_error" if roll < noise.rf_error else "silent"
            return Read(antenna=antenna, from_ns=start, to_ns=end, arrives_ns=arrives, uids=None, fault=why)
        heard = self._heard(antenna)
        if noise.hover_read:
            heard += [u for u in self._hover(antenna) if rng.random() < noise.hover_read]
        complete = rng.random() >= noise.rf_warning
        if not complete:
            heard = heard[: len(heard) // 2]
        return Read(
            antenna=antenna, from_ns=start, to_ns=end, arrives_ns=arrives, uids=tuple(sorted(heard)), complete=complete
        )

    def _heard(self, antenna: int) -> list[str]:
        if not any(self._field(n) for n in (antenna - 1, antenna, antenna + 1)):
            # No chip is near: most looks at a table are such, and need not cost much.
            return [f"E0040150{self._rng.randrange(1 << 32):08X}"] if self._rng.random() < self._noise.ghost else []
        self.radio.on = (antenna,)
        return self.radio.answering()

    def _next(self) -> int:
        if self.favoured and self._noise.favour and not self._last_favoured:
            self._last_favoured = True
            return self.favoured
        self._last_favoured = False
        antenna = self._ring[self._at]
        self._at = (self._at + 1) % len(self._ring)
        return antenna
