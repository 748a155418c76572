"""What a camera above the table would report of the truth: steps of hands and chips that lie there anew, with noise.

A twin at the level of observations: no pictures.  It is told each true `Movement` and each landing, and keeps records
until they are due.  Records are plain values of the simulator's own; who drives a product converts them.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Sequence
from random import Random
from typing import Literal

import msgspec

from hw_sim.acts import Movement
from hw_sim.noise import Disturbance
from hw_sim.world import Chip

MS = 1_000_000
CHIP_MM2 = round(math.pi * 19.5**2)
HALT_MS, BACK_MM = 40, 4
"""A step on over the line is seen as one if the hand had rested so long or gone back so far."""
WRONG_SPAN_MS = 400
"""An invented step lies so near to a true one."""
ALONE_SEEN_MS = 60
"""A chip that no hand hides is seen so soon."""


class HandStep(msgspec.Struct, frozen=True, kw_only=True):
    """A hand's step as seen: between ``earliest_ns`` and ``latest_ns``; see `Movement` for the rest."""

    earliest_ns: int
    latest_ns: int
    seat: str
    step: Literal["enters", "advances", "leaves"]
    by: Literal["player", "dealer", "unsure"]
    retreat_mm: int = 0
    pause_ms: int = 0
    confidence: int = 1000


class Landed(msgspec.Struct, frozen=True, kw_only=True):
    """A pile that was not there before; ``value`` is the denomination of its top chip."""

    earliest_ns: int
    latest_ns: int
    seat: str
    x_mm: int
    y_mm: int
    area_mm2: int
    value: int


class Trust(msgspec.Struct, frozen=True, kw_only=True):
    """Whether the camera may be believed from now on."""

    at_ns: int
    trusted: bool
    reason: str


Record = HandStep | Landed | Trust


class Camera:
    """One camera; `moved` and `landed` are told the truth, `due` gives what has arrived by now."""

    def __init__(self, noise: Disturbance, rng: Random) -> None:
        self._noise, self._rng = noise, rng
        self._out: list[tuple[int, int, Record]] = []
        self._count = 0
        self._hidden: dict[int, list[tuple[int, Chip]]] = {}
        """Chips that landed under a hand, by seat."""
        self._inside: dict[int, int] = {}
        self._entered: dict[int, int] = {}
        self.trusted = True
        self.counts: dict[str, int] = {}

    # -- the truth --------------------------------------------------------------------------------

    def moved(self, step: Movement) -> None:
        """A hand moved."""
        seat = step.seat
        if step.step == "enters":
            self._inside[seat] = self._inside.get(seat, 0) + 1
            self._entered.setdefault(seat, step.ns)
        elif step.step == "leaves":
            self._inside[seat] = max(0, self._inside.get(seat, 0) - 1)
            if not self._inside[seat]:
                self._uncover(seat, step.ns)
        unremarkable = step.step == "advances" and step.pause_ms < HALT_MS and step.retreat_mm < BACK_MM
        if not self._noise.camera or not self.trusted or unremarkable:
            return
        if self._rng.random() < self._noise.step_missed:
            self._counted("step missed")
        else:
            self._report(step)
        if self._rng.random() < self._noise.step_invented:
            self._counted("step invented")
            self._report(self._invented(step))

    def landed(self, ns: int, seat: int, chip: Chip) -> None:
        """A chip touched the felt of a seat's zone."""
        self._hidden.setdefault(seat, []).append((ns, chip))
        if not self._inside.get(seat):
            self._uncover(seat, ns + ALONE_SEEN_MS * MS)

    def trust(self, ns: int, trusted: bool, reason: str = "ok") -> None:
        """The camera finds out that it sees well, or does not."""
        if self._noise.camera:
            self.trusted = trusted
            self._later(ns, Trust(at_ns=ns, trusted=trusted, reason=reason))

    # -- what is seen -----------------------------------------------------------------------------

    def next_ns(self) -> int | None:
        """When the next record arrives."""
        return self._out[0][0] if self._out else None

    def due(self, now_ns: int) -> list[Record]:
        """Records that have arrived by now, in that order."""
        out: list[Record] = []
        while self._out and self._out[0][0] <= now_ns:
            out.append(heapq.heappop(self._out)[2])
        return out

    def _counted(self, what: str) -> None:
        self.counts[what] = self.counts.get(what, 0) + 1

    def _later(self, seen_ns: int, record: Record) -> None:
        arrives = seen_ns + round(self._rng.uniform(*self._noise.late_ms) * MS)
        self._count += 1
        heapq.heappush(self._out, (arrives, self._count, record))

    def _span(self, ns: int) -> tuple[int, int]:
        """The span that the camera claims for an instant."""
        jitter, half = self._noise.jitter_ms, round(self._noise.span_ms * MS)
        at = ns + round(self._rng.uniform(-jitter, jitter) * MS)
        return max(0, at - half), at + half

    def _report(self, step: Movement) -> None:
        rng, noise = self._rng, self._noise
        earliest, latest = self._span(step.ns)
        after = step.retreat_mm > 0 or step.pause_ms > 0
        mm = max(0, step.retreat_mm + round(rng.uniform(-noise.retreat_mm, noise.retreat_mm))) if after else 0
        ms = max(0, step.pause_ms + round(rng.uniform(-noise.pause_ms, noise.pause_ms))) if after else 0
        by: Literal["player", "dealer", "unsure"] = "unsure" if rng.random() < noise.unsure else step.by
        seen = HandStep(
            earliest_ns=earliest, latest_ns=latest, seat=str(step.seat), step=step.step, by=by, retreat_mm=mm,
            pause_ms=ms,
        )  # fmt: skip
        self._later(step.ns, seen)

    def _invented(self, near: Movement) -> Movement:
        """A step that never was, somewhere around a true one, at the same seat."""
        rng = self._rng
        ns = near.ns + rng.randint(-WRONG_SPAN_MS, WRONG_SPAN_MS) * MS
        step: Literal["enters", "advances", "leaves"] = rng.choice(("enters", "advances", "leaves"))
        mm, ms = (rng.randint(5, 80), rng.randint(50, 2000)) if step == "advances" else (0, 0)
        return Movement(max(0, ns), near.seat, step, rng.choice(("player", "dealer")), mm, ms)

    def _uncover(self, seat: int, free_ns: int) -> None:
        """The zone can be seen again: what landed meanwhile lies there."""
        landed = self._hidden.pop(seat, [])
        began = self._entered.pop(seat, None)
        if not landed or not self._noise.camera or not self.trusted:
            return
        first = landed[0][0] if began is None else min(began, landed[0][0])
        earliest = self._span(first)[0]
        latest = max(self._span(free_ns)[1], earliest)
        chips = [chip for _, chip in landed]
        record = Landed(
            earliest_ns=earliest, latest_ns=latest, seat=str(seat), x_mm=self._rng.randint(-80, 80),
            y_mm=self._rng.randint(20, 160), area_mm2=self._area(chips), value=chips[-1].denomination,
        )  # fmt: skip
        self._later(free_ns, record)

    def _area(self, chips: Sequence[Chip]) -> int:
        """A pile covers between one chip's worth and nearly all of them spread out."""
        spread = 1 + (len(chips) - 1) * self._rng.uniform(0.0, 0.8)
        return round(CHIP_MM2 * spread * self._rng.uniform(0.95, 1.1))
