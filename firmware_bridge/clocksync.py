"""Device microseconds to host nanoseconds, as a span that holds the truth.

Every ping gives one bracket: the device made its answer after the host sent the question and before
the host read the answer.  Another tick of the same boot is at most (distance x rate) away from it,
so each bracket bounds every tick, and the answer is the intersection of all brackets that are kept.
That is sound however the delays are split between the two ways; a slow answer is a wide bracket and
harms nothing.

The rate comes from a regression over the brackets' middles in which old samples decay (the shape of
Klipper's ``clocksync``), fed only by round trips near the least one (the gate).  Its error is bounded,
not guessed: with errors of the middles within half a round trip ``h``, by Cauchy-Schwarz the slope is
off by at most ``sqrt(sum(w h^2) / sum(w (x - mean)^2))``.  A crystal is taken to be within
``MAX_DRIFT_PPM`` of its nominal rate and to wander by less than `WANDER_PPM` while the samples are fresh.

A bracket that contradicts the others means that the tick jumped or the crystal is worse than that:
everything older is forgotten and the event is counted.  Pure: time is an argument.
"""

from __future__ import annotations

from math import ceil, floor, sqrt

import msgspec

from firmware_bridge.wire import BootId, TimeSpan

MAX_DRIFT_PPM = 500
WANDER_PPM = 10
MEMORY = 32
"""Brackets kept."""
DECAY = 1 / 30
"""Weight that a regression sample loses with each new one: about 15 s at two pings a second."""
GATE_SLACK_NS = 1_000_000
"""A round trip enters the regression up to twice the least one plus this."""

_ROUNDING_PPM = 1e-6
"""More than doubles lose in a quotient of two times."""
_WRAP = 1 << 32
_NS_PER_US = 1000
_HARD = _NS_PER_US * MAX_DRIFT_PPM * 1e-6
_WANDER = _NS_PER_US * WANDER_PPM * 1e-6
_STALE_NS = 30 * 60 * 1_000_000_000
"""Longer without a sample, and half a tick wrap (35.8 min) could have passed unseen."""


class _Bracket(msgspec.Struct, frozen=True):
    tick: int
    sent_ns: int
    received_ns: int

    @property
    def round_trip_ns(self) -> int:
        return self.received_ns - self.sent_ns

    def bounds(self, tick: int, low: float, high: float) -> tuple[int, int]:
        """Earliest and latest host time of ``tick`` if a microsecond lasts 1000 + low .. 1000 + high ns."""
        away = tick - self.tick
        if away < 0:
            low, high = high, low
        return (
            self.sent_ns + floor(away * (_NS_PER_US + low)),
            self.received_ns + ceil(away * (_NS_PER_US + high)),
        )


class ClockSync:
    """The clock of one device.  Feed it pings; ask it for spans."""

    def __init__(self) -> None:
        self._boot: BootId | None = None
        self._kept: list[_Bracket] = []
        self._newest: _Bracket | None = None
        self.samples = 0
        self.gated = 0
        """Round trips too slow for the regression (they still count as brackets)."""
        self.jumps = 0
        """Times the tick contradicted itself and the clock was learnt anew."""
        self._forget()

    def _forget(self) -> None:
        self._kept.clear()
        self._newest = None
        self._weight = self._mean_x = self._mean_y = self._sxx = self._sxy = self._shh = 0.0

    @property
    def boot(self) -> BootId | None:
        """Boot whose ticks can be mapped, None before the first sample."""
        return self._boot

    @property
    def drift_ppm(self) -> float | None:
        """Device's rate error: positive when its microsecond is too short.  None until two samples tell."""
        bounds = self.drift_bounds_ppm
        if self._sxx <= 0.0 or bounds is None:
            return None
        return min(max(-self._sxy / self._sxx / _NS_PER_US * 1e6, bounds[0]), bounds[1])

    @property
    def drift_bounds_ppm(self) -> tuple[float, float] | None:
        """Least and greatest rate error that the kept brackets allow.  None until two samples tell.

        Two brackets bound the rate by what can have passed between their answers: at least from the first one read to
        the second one asked, at most from the first one asked to the second one read.  So it holds however the delays
        are split and whatever their number, for a crystal that keeps its rate meanwhile.  The regression's own slope
        does not: on a busy host the delays all lie on one side, and it leans.
        """
        low, high = -float(MAX_DRIFT_PPM), float(MAX_DRIFT_PPM)
        kept = sorted(self._kept, key=lambda b: b.tick)
        told = False
        for n, first in enumerate(kept):
            for second in kept[n + 1 :]:
                # A tick is a whole number of microseconds: each is up to one later than it says.
                most_us, least_us = second.tick - first.tick + 1, second.tick - first.tick - 1
                longest_ns, shortest_ns = second.received_ns - first.sent_ns, second.sent_ns - first.received_ns
                if least_us > 0 and shortest_ns > 0:
                    told = True
                    low = max(low, (least_us * _NS_PER_US / longest_ns - 1) * 1e6)
                    high = min(high, (most_us * _NS_PER_US / shortest_ns - 1) * 1e6)
        return (min(low, high) - _ROUNDING_PPM, max(low, high) + _ROUNDING_PPM) if told else None

    @property
    def width_ns(self) -> int | None:
        """Width of the span at the newest sample: the clock's quality."""
        if self._newest is None:
            return None
        earliest, latest = self._bounds(self._newest.tick)
        return latest - earliest

    def sample(self, boot: BootId, tick_us: int, sent_ns: int, received_ns: int) -> bool:
        """One ping: asked at ``sent_ns``, answered with the 32-bit ``tick_us``, read at ``received_ns``.

        Returns False when it started the clock anew (first sample, new boot, long silence, jump).
        Raises ValueError if the answer was read before the question was sent.
        """
        if received_ns < sent_ns:
            raise ValueError(f"answer read at {received_ns}, before the question at {sent_ns}")
        self.samples += 1
        newest = self._newest
        continues = boot == self._boot and newest is not None and sent_ns - newest.received_ns < _STALE_NS
        if not continues or newest is None:
            self._begin(boot, _Bracket(tick_us, sent_ns, received_ns))
            return False
        bracket = _Bracket(newest.tick + _nearest(tick_us, newest.tick), sent_ns, received_ns)
        earliest, latest = _intersect(self._kept, bracket.tick, -_HARD, _HARD)
        if max(earliest, sent_ns) > min(latest, received_ns):
            self.jumps += 1
            self._begin(boot, _Bracket(tick_us, sent_ns, received_ns))
            return False
        self._learn(bracket)
        self._keep(bracket)
        return True

    def span(self, boot: BootId, tick_us: int, *, age_us: int = 0) -> TimeSpan | None:
        """When ``age_us`` before the 32-bit tick ``tick_us`` was, on the host's clock.

        ``tick_us`` must be within 35 minutes of the newest sample.  Giving a frame's own tick and the age of
        the act that it reports keeps older acts unambiguous.  None for another boot or before any sample.
        """
        if boot != self._boot or self._newest is None:
            return None
        tick = self._newest.tick + _nearest(tick_us, self._newest.tick) - age_us
        return TimeSpan(*self._bounds(tick))

    def _begin(self, boot: BootId, bracket: _Bracket) -> None:
        self._forget()
        self._boot = boot
        self._base = bracket
        self._learn(bracket)
        self._keep(bracket)

    def _learn(self, bracket: _Bracket) -> None:
        least = min((b.round_trip_ns for b in self._kept), default=bracket.round_trip_ns)
        if bracket.round_trip_ns > 2 * least + GATE_SLACK_NS:
            self.gated += 1
            return
        half = bracket.round_trip_ns / 2
        x = float(bracket.tick - self._base.tick)
        # What a nominal crystal would not explain: a small number, so that doubles keep nanoseconds.
        y = bracket.sent_ns - self._base.sent_ns + half - x * _NS_PER_US
        left = 1.0 - DECAY
        self._weight = left * self._weight + 1.0
        dx = x - self._mean_x
        dy = y - self._mean_y
        self._mean_x += dx / self._weight
        self._mean_y += dy / self._weight
        self._sxx = left * self._sxx + dx * (x - self._mean_x)
        self._sxy = left * self._sxy + dx * (y - self._mean_y)
        self._shh = left * self._shh + half * half

    def _keep(self, bracket: _Bracket) -> None:
        """Keeps the brackets that bound the present best: narrow ones, and among those the fresh."""
        self._newest = bracket
        self._kept.append(bracket)
        if len(self._kept) > MEMORY:
            low, high = self._rates()
            spread = high - low
            self._kept.remove(max(self._kept, key=lambda b: b.round_trip_ns + spread * (bracket.tick - b.tick)))

    def _rates(self) -> tuple[float, float]:
        """Bounds of (nanoseconds a tick lasts - 1000)."""
        if self._sxx <= 0.0:
            return -_HARD, _HARD
        slope = self._sxy / self._sxx
        error = sqrt(self._shh / self._sxx) + _WANDER
        low, high = max(-_HARD, slope - error), min(_HARD, slope + error)
        return (low, high) if low <= high else (-_HARD, _HARD)

    def _bounds(self, tick: int) -> tuple[int, int]:
        assert self._newest is not None, "asked only after a sample"
        for low, high in (self._rates(), (-_HARD, _HARD)):
            earliest, latest = _intersect(self._kept, tick, low, high)
            if earliest <= latest:
                return earliest, latest
        return self._newest.bounds(tick, -_HARD, _HARD)


def _nearest(tick_us: int, reference: int) -> int:
    """Signed distance of the 32-bit tick from ``reference``, by the shorter way round."""
    away = (tick_us - reference) % _WRAP
    return away - _WRAP if away >= _WRAP // 2 else away


def _intersect(brackets: list[_Bracket], tick: int, low: float, high: float) -> tuple[int, int]:
    bounds = [b.bounds(tick, low, high) for b in brackets]
    return max(e for e, _ in bounds), min(latest for _, latest in bounds)
