"""Pictures of the step "time" and of the dealer's exercise.  PNG bytes."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from calibration.charts import FAINT, INK, LONE, STACK, blank, box, done, line, write
from calibration.clock import MS, Offset, Placement, posterior

MAX_ROWS = 60


def offsets(pairs: Sequence[Placement], found: Offset) -> bytes:
    """One bar a placement, the offsets that it allows, and the posterior of all of them above."""
    rows = list(pairs)[:MAX_ROWS]
    left, top, wide, step = 60, 150, 560, 7
    middle = found.offset_ns
    spans = [
        (p.reader.span.earliest_ns - p.camera.latest_ns, p.reader.named.latest_ns - p.camera.earliest_ns) for p in rows
    ]
    reach = max(25 * MS, *(min(150 * MS, max(abs(a - middle), abs(b - middle))) for a, b in spans))
    canvas = blank(left + wide + 40, top + step * len(rows) + 50)

    def at(ns: float) -> float:
        return left + wide / 2 + (min(reach, max(-reach, ns - middle)) / reach) * wide / 2

    write(
        canvas,
        "offset of the camera's clock in ms: what all placements say (top), and each allows",
        left,
        22,
        size=0.42,
    )
    grid, weight = posterior(pairs)
    near = np.abs(grid - middle) <= reach
    tall = 90 / float(weight[near].max())
    points = [(at(float(o)), top - 20 - float(w) * tall) for o, w in zip(grid[near], weight[near], strict=True)]
    for one, other in pairwise(points):
        line(canvas, one, other, LONE, 2)
    for row, (low, high) in enumerate(spans):
        box(canvas, (at(low), top + row * step), (max(1.0, at(high) - at(low)), step - 3), (225, 190, 140))
    below = top + step * len(rows)
    for ns, ink in ((middle, STACK), (middle - found.half_ns, FAINT), (middle + found.half_ns, FAINT)):
        line(canvas, (at(ns), top - 20), (at(ns), below), ink)
    for n in range(-2, 3):
        tick = middle + n * reach / 2
        write(canvas, f"{tick / MS:.0f}", at(tick), below + 20, align="middle")
        line(canvas, (at(tick), below), (at(tick), below + 5), INK)
    return done(canvas)


def reactions(times_ms: Sequence[int], low_ms: int, high_ms: int) -> bytes:
    """Each press of the exercise as a dot, and the span that is written."""
    left, top, wide = 40, 70, 560
    most = max(1000, *times_ms, high_ms) * 1.08
    canvas = blank(left + wide + 40, top + 90)
    write(canvas, "from the word to the key, in ms: every press, and the span that will hold 95 %", left, 24, size=0.42)

    def at(ms: float) -> float:
        return left + wide * ms / most

    box(canvas, (at(low_ms), top - 26), (at(high_ms) - at(low_ms), 52), (240, 222, 196))
    for n, ms in enumerate(sorted(times_ms)):
        y = top - 15 + 10 * (n % 4)
        box(canvas, (at(ms) - 3, y - 3), (6, 6), LONE)
    for ms in (low_ms, high_ms):
        line(canvas, (at(ms), top - 26), (at(ms), top + 26), STACK, 2)
        write(canvas, str(ms), at(ms), top - 32, align="middle", ink=STACK)
    line(canvas, (left, top + 34), (left + wide, top + 34), FAINT)
    for n in range(0, int(most) + 1, 250 if most < 2500 else 500):
        write(canvas, str(n), at(n), top + 52, align="middle")
        line(canvas, (at(n), top + 30), (at(n), top + 36), INK)
    return done(canvas)
