"""Least squares of a few dozen unknowns, by Levenberg and Marquardt.

Source: Press et al., "Numerical Recipes", 3rd ed., 15.5.2; derivatives by central differences.
"""

from __future__ import annotations

from collections.abc import Callable

import msgspec
import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
MAX_TURNS = 60


class Solution(msgspec.Struct, frozen=True):
    """The unknowns (n,) and the residuals there (m,)."""

    at: Floats
    residuals: Floats


def solve(residuals: Callable[[Floats], Floats], start: Floats, steps: Floats) -> Solution:
    """Unknowns near ``start`` with the least sum of squared residuals; ``steps`` (n,) is a small change of each.

    An unknown without effect stays where it was.
    """
    at, rest = start.astype(np.float64), residuals(start)
    damping = 1e-3
    slopes = jacobian(residuals, at, steps)
    for _ in range(MAX_TURNS):
        normal, slope = slopes.T @ slopes, slopes.T @ rest
        scale = np.maximum(np.diag(normal), 1e-12)
        move = np.linalg.lstsq(normal + damping * np.diag(scale), -slope, rcond=None)[0]
        tried = residuals(at + move)
        if float(tried @ tried) < float(rest @ rest):
            gained = float(rest @ rest) - float(tried @ tried)
            at, rest, damping = at + move, tried, max(damping / 9, 1e-9)
            if gained < 1e-10 * max(float(rest @ rest), 1e-12):
                break
            slopes = jacobian(residuals, at, steps)
        else:
            damping *= 6
            if damping > 1e8:
                break
    return Solution(at, rest)


def jacobian(residuals: Callable[[Floats], Floats], at: Floats, steps: Floats) -> Floats:
    """(m, n) derivatives of the residuals at ``at``."""
    columns = []
    for index, step in enumerate(steps):
        change = np.zeros_like(at)
        change[index] = step
        columns.append((residuals(at + change) - residuals(at - change)) / (2 * step))
    return np.column_stack(columns)
