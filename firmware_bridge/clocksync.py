"""Device microseconds to host nanoseconds, as a span that holds the truth.

Every ping gives one bracket: the device made its answer after the host sent the question and before
the host read the answer.  Another tick of the same boot is at most (distance x rate) away from it,
so each bracket bounds every tick, and the answer is the intersection of all brackets that are kept.
That is sound however the delays are split between the two ways; a slow answer is a wide bracket and
harms nothing.

The rate comes from a regression over the brackets' middles in which old samples decay (the shape of
Klipper's ``clocksync``), fed only by round trips near the least one (the gate).  Its error is bounded,
not guessed.  Of delays: with errors of the middles within half a round trip ``h``, by Cauchy-Schwarz the
slope is off by at most ``sqrt(sum(w h^2) / sum(w d^2))``, ``d`` being distances from the mean.  Of a rate that
wanders: the slope is a mean of the true rate, and that of the squared distances at which it is taken is
``sum(w d^4) / (3 sum(w d^2))``; from there to the stretch between a bracket and a tick the rate wanders further.  So an
old bracket says little, however short its round trip was.  A crystal is taken to be within ``MAX_DRIFT_PPM`` of its
nominal rate and to change it by no more than `WANDER_PPM` in `WANDER_S`, as one does that warms up.

A bracket that contradicts the others means that the tick jumped or the crystal is worse than that:
everything older is forgotten and the event is counted.  Pure: time is an argument.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from math import ceil, floor, sqrt

import msgspec

from firmware_bridge.wire import BootId, TimeSpan

MAX_DRIFT_PPM = 500
WANDER_PPM = 10
WANDER_S = 15
MEMORY = 32
"""Brackets kept."""
DECAY = 1 / 30
"""Weight that a regression sample loses with each new one: about 15 s at two pings a second."""
FITTED = 200
"""Samples in the regression; the oldest weighs a thousandth of the newest."""
GATE_SLACK_NS = 1_000_000
"""A round trip enters the regression up to twice the least one plus this."""

_ROUNDING_PPM = 1e-6
"""More than doubles lose in a quotient of two times."""
_WRAP = 1 << 32
_NS_PER_US = 1000
_HARD = _NS_PER_US * MAX_DRIFT_PPM * 1e-6
_WANDER = _NS_PER_US * WANDER_PPM * 1e-6 / (WANDER_S * 1e6)
"""Change of (nanoseconds a tick lasts) in a tick."""
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


class _Fit(msgspec.Struct, frozen=True):
    """A regression: ``slope`` in ns a tick, less 1000, of a crystal at tick ``mean``; ``error`` in the same."""

    mean: float
    slope: float
    error: float

    def rates(self, bracket: _Bracket, tick: int) -> tuple[float, float]:
        """Bounds of the mean rate between a bracket and a tick."""
        wanders = _WANDER * (abs((bracket.tick + tick) / 2 - self.mean) + abs(tick - bracket.tick) / 4)
        error = self.error + wanders
        low, high = max(-_HARD, self.slope - error), min(_HARD, self.slope + error)
        return (low, high) if low <= high else (-_HARD, _HARD)


def _regression(samples: Iterable[tuple[int, float, float]]) -> _Fit | None:
    """Of (tick, host time less nominal, half round trip), oldest first; None if they do not tell a rate."""
    rows = list(samples)
    weights = [(1.0 - DECAY) ** n for n in range(len(rows) - 1, -1, -1)]
    total = sum(weights)
    if not rows:
        return None
    mean = sum(w * (x - rows[0][0]) for w, (x, _, _) in zip(weights, rows, strict=True)) / total
    level = sum(w * y for w, (_, y, _) in zip(weights, rows, strict=True)) / total
    m2 = m4 = sxy = shh = 0.0
    for w, (x, y, half) in zip(weights, rows, strict=True):
        d = x - rows[0][0] - mean
        m2 += w * d * d
        m4 += w * d**4
        sxy += w * d * (y - level)
        shh += w * half * half
    if m2 <= 0.0:
        return None
    return _Fit(rows[0][0] + mean, sxy / m2, sqrt(shh / m2) + _WANDER * sqrt(m4 / (3 * m2)))


class ClockSync:
    """The clock of one device.  Feed it pings; ask it for spans."""

    def __init__(self) -> None:
        self._boot: BootId | None = None
        self._kept: list[_Bracket] = []
        self._samples: deque[tuple[int, float, float]] = deque(maxlen=FITTED)
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
        self._samples.clear()
        self._fit: _Fit | None = None

    @property
    def boot(self) -> BootId | None:
        """Boot whose ticks can be mapped, None before the first sample."""
        return self._boot

    @property
    def drift_ppm(self) -> float | None:
        """Device's rate error: positive when its microsecond is too short.  None until two samples tell."""
        bounds = self.drift_bounds_ppm
        if self._fit is None or bounds is None:
            return None
        return min(max(-self._fit.slope / _NS_PER_US * 1e6, bounds[0]), bounds[1])

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
        earliest, latest = _intersect(self._kept, bracket.tick, None)
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
        # What a nominal crystal would not explain: a small number, so that doubles keep nanoseconds.
        away = bracket.tick - self._base.tick
        unexplained = bracket.sent_ns - self._base.sent_ns - away * _NS_PER_US + half
        self._samples.append((bracket.tick, unexplained, half))
        self._fit = _regression(self._samples)

    def _keep(self, bracket: _Bracket) -> None:
        """Keeps the brackets that bound the present best: narrow ones, and among those the fresh."""
        self._newest = bracket
        self._kept.append(bracket)
        if len(self._kept) > MEMORY:
            self._kept.remove(max(self._kept, key=lambda b: self._width(b, bracket.tick)))

    def _width(self, bracket: _Bracket, tick: int) -> int:
        earliest, latest = _intersect([bracket], tick, self._fit)
        return latest - earliest

    def _bounds(self, tick: int) -> tuple[int, int]:
        assert self._newest is not None, "asked only after a sample"
        for fit in (self._fit, None):
            earliest, latest = _intersect(self._kept, tick, fit)
            if earliest <= latest:
                return earliest, latest
        return self._newest.bounds(tick, -_HARD, _HARD)


def _nearest(tick_us: int, reference: int) -> int:
    """Signed distance of the 32-bit tick from ``reference``, by the shorter way round."""
    away = (tick_us - reference) % _WRAP
    return away - _WRAP if away >= _WRAP // 2 else away


def _intersect(brackets: list[_Bracket], tick: int, fit: _Fit | None) -> tuple[int, int]:
    """What all brackets allow; without a fit, of any crystal that is within `MAX_DRIFT_PPM`."""
    bounds = [b.bounds(tick, *(fit.rates(b, tick) if fit is not None else (-_HARD, _HARD))) for b in brackets]
    return max(e for e, _ in bounds), min(latest for _, latest in bounds)
