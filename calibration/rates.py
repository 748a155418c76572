"""Shares and spans with their 95 % intervals: what a few hundred looks prove, and what they do not.

Looks at one chip hang together: the chip that was missed once is likely missed by the next look too.  A sequence of
them is worth fewer independent ones, as its lag-one correlation says; the exact (Clopper-Pearson, Biometrika 26, 1934)
interval is taken of those.  Floats are fine here: only whole parts per million leave this room.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import pairwise

import msgspec

LEVEL = 0.95
PPM = 1_000_000
_HALVINGS = 50
_TERMS = 200
_Z = 1.959964
"""The normal quantile of `LEVEL`, two-sided."""


class Rate(msgspec.Struct, frozen=True, kw_only=True):
    """``hits`` of ``looks``, as a share between ``low`` and ``high`` (95 %), all three in parts per million.

    ``worth`` is how many independent looks these were worth.
    """

    hits: int
    looks: int
    worth: int
    ppm: int
    low_ppm: int
    high_ppm: int

    @property
    def half_ppm(self) -> int:
        """The larger distance from the share to an end of its interval."""
        return max(self.ppm - self.low_ppm, self.high_ppm - self.ppm)

    def __str__(self) -> str:
        share, low, high = (f"{p / 10_000:.1f}" for p in (self.ppm, self.low_ppm, self.high_ppm))
        return f"{share} % ({low} to {high} %, {self.looks} looks)"


def rate(groups: Sequence[Sequence[tuple[int, int]]]) -> Rate:
    """The share of hits in looks; each look is ``(hits, tries)``.

    A group is a run of looks, in order, at the same chips lying the same way; tries within one look are not
    independent either (a stack is missed as a whole), so without any hit a look counts as one try.
    No look at all gives 0 with the interval 0 to 1.
    """
    hits = sum(h for group in groups for h, _ in group)
    tries = sum(t for group in groups for _, t in group)
    looks = sum(len([1 for _, t in group if t]) for group in groups)
    if not tries:
        return Rate(hits=0, looks=0, worth=0, ppm=0, low_ppm=0, high_ppm=PPM)
    share = hits / tries
    worth = looks if hits in (0, tries) else max(1, min(tries, int(share * (1 - share) / _variance(groups, share))))
    low, high = interval(share * worth, worth)
    return Rate(
        hits=hits,
        looks=looks,
        worth=worth,
        ppm=round(share * PPM),
        low_ppm=math.floor(low * PPM),
        high_ppm=math.ceil(high * PPM),
    )


def _variance(groups: Sequence[Sequence[tuple[int, int]]], share: float) -> float:
    """Variance of the ratio of hits to tries: residuals of each look, with what each has in common with the next.

    The ratio estimator's linearisation (Cochran, Sampling Techniques, 3rd ed., 2.11); the correlation of neighbours is
    carried on as a geometric row, which is that of a chip that is found and lost again at a constant rate.
    """
    tries = sum(t for group in groups for _, t in group)
    square = both = pairs = count = 0.0
    for group in groups:
        rest = [h - share * t for h, t in group]
        square += sum(r * r for r in rest)
        count += len(rest)
        both += sum(a * b for a, b in pairwise(rest))
        pairs += max(0, len(rest) - 1)
    if square == 0.0:  # each look had the same share: all that differs is what was not tried
        return share * (1 - share) / count
    one = square / count
    together = min(0.98, max(0.0, both / pairs / one)) if pairs else 0.0
    return square * (1 + together) / (1 - together) / (tries * tries)


def interval(hits: float, looks: int) -> tuple[float, float]:
    """The exact 95 % interval of a share of ``hits`` in ``looks`` (hits need not be whole: between two whole ones)."""
    tail = (1 - LEVEL) / 2
    low = 0.0 if hits <= 0 else _solve(lambda p: _upper(hits, looks, p) - tail)
    high = 1.0 if hits >= looks else _solve(lambda p: tail - _lower(hits, looks, p))
    return low, high


def _solve(rising: Callable[[float], float]) -> float:
    """Where a function that rises with p crosses 0."""
    low, high = 0.0, 1.0
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        if rising(middle) < 0:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def _upper(hits: float, looks: int, p: float) -> float:
    """Chance of at least ``hits`` (a beta distribution function: it is defined between whole numbers too)."""
    return beta_cdf(p, hits, looks - hits + 1)


def _lower(hits: float, looks: int, p: float) -> float:
    return 1 - beta_cdf(p, hits + 1, looks - hits)


def beta_cdf(x: float, a: float, b: float) -> float:
    """The regularised incomplete beta function, by its continued fraction (DLMF 8.17.22)."""
    if x <= 0 or x >= 1:
        return 0.0 if x <= 0 else 1.0
    if x > (a + 1) / (a + b + 2):
        return 1 - beta_cdf(1 - x, b, a)
    front = math.exp(math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x))
    return front * _fraction(x, a, b) / a


def _fraction(x: float, a: float, b: float) -> float:
    """The continued fraction 1/(1 + d1/(1 + d2/(1 + …))), from its far end, which lies beyond what a float can tell."""
    value = 1.0
    for n in range(_TERMS, 0, -1):
        m = n // 2
        if n % 2:
            part = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        else:
            part = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        value = 1 + part / value
    return 1 / value


def chi_square_low(freedom: int, tail: float) -> float:
    """The value below which a chi-square variable of ``freedom`` degrees falls with chance ``tail``."""
    low, high = 0.0, 10.0 * freedom + 50
    for _ in range(_HALVINGS * 2):
        middle = (low + high) / 2
        if _gamma_cdf(middle / 2, freedom / 2) < tail:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def _gamma_cdf(x: float, shape: float) -> float:
    """The regularised lower incomplete gamma function, by its series (DLMF 8.11.4)."""
    if x <= 0:
        return 0.0
    term = total = 1 / shape
    for n in range(1, 2000):
        term *= x / (shape + n)
        total += term
        if term < total * 1e-15:
            break
    return min(1.0, total * math.exp(shape * math.log(x) - x - math.lgamma(shape)))


def tolerance_factor(count: int) -> float:
    """So many standard deviations around the mean of ``count`` normal values hold 95 % of all further ones, 95 % sure.

    W. G. Howe, JASA 64 (1969): two-sided, both estimated.  3.38 for ten values, 2.75 for twenty, 1.96 for all.
    """
    if count < 2:
        return math.inf
    freedom = count - 1
    return _Z * math.sqrt(freedom * (1 + 1 / count) / chi_square_low(freedom, 1 - LEVEL))
