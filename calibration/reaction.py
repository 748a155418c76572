"""From the presses of an exercise to the span that holds 95 % of a dealer's further ones.  Pure.

Reaction times are skewed to the right and nearly normal in their logarithm (R. D. Luce, Response Times, 1986, ch. 5);
the span is the tolerance interval of the logarithms (95 % of all presses, 95 % sure), and never narrower than what was
seen: with few presses it is wide, and with fewer than `LEAST` refused.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import fmean, stdev

import msgspec

from calibration.rates import tolerance_factor

LEAST = 12
SOONEST_MS = 100
"""Nobody reacts to a word sooner; such a press was on its way before."""
LATEST_MS = 3000
"""Later, and the word was missed."""
MOST_LOST = 0.34
WIDEST_MS = 4000


class Try(msgspec.Struct, frozen=True):
    """One word: which key it wanted, which was pressed ("" for none) and after how long in ms (both ends of a span)."""

    wanted: str
    pressed: str = ""
    soonest_ms: int = 0
    latest_ms: int = 0


class Reaction(msgspec.Struct, frozen=True, kw_only=True):
    """The span, and what it was made of."""

    min_ms: int
    max_ms: int
    times_ms: tuple[int, ...]
    missed: int
    early: int
    wrong: int


class TooLittle(ValueError):
    """The exercise says too little; the message is what to do.  ``code`` names why."""

    def __init__(self, message: str, code: str) -> None:
        super().__init__(message)
        self.code = code


def span(tries: Sequence[Try]) -> Reaction:
    """The reaction span of an exercise.  Raises `TooLittle`."""
    missed = sum(not t.pressed or t.latest_ms > LATEST_MS for t in tries)
    early = sum(bool(t.pressed) and t.soonest_ms < SOONEST_MS for t in tries)
    wrong = sum(bool(t.pressed) and t.pressed != t.wanted for t in tries)
    good = [t for t in tries if t.pressed == t.wanted and t.soonest_ms >= SOONEST_MS and t.latest_ms <= LATEST_MS]
    lost = f"{missed} words missed, {early} pressed too early, {wrong} with another key"
    if len(good) < LEAST:
        raise TooLittle(
            f"{len(good)} presses count, {LEAST} are needed ({lost}): do the exercise once more, with more words",
            "too-few",
        )
    if len(good) < (1 - MOST_LOST) * len(tries):
        raise TooLittle(
            f"only {len(good)} of {len(tries)} words were answered ({lost}): rest, and do the exercise once more",
            "lapses",
        )
    middles = [(t.soonest_ms + t.latest_ms) / 2 for t in good]
    logs = [math.log(m) for m in middles]
    reach = tolerance_factor(len(logs)) * max(stdev(logs), 0.02)
    low = min([math.floor(math.exp(fmean(logs) - reach)), *(t.soonest_ms for t in good)])
    high = max([math.ceil(math.exp(fmean(logs) + reach)), *(t.latest_ms for t in good)])
    if high > WIDEST_MS:
        raise TooLittle(
            f"the presses are so uneven ({min(middles):.0f} to {max(middles):.0f} ms) that a span of {low} to "
            f"{high} ms would "
            "follow: do the exercise once more, with more words", "uneven",
        )  # fmt: skip
    times = tuple(round(m) for m in middles)
    return Reaction(min_ms=max(1, low), max_ms=high, times_ms=times, missed=missed, early=early, wrong=wrong)
