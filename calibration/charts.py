"""Pictures of what the antennas do: heat maps, the matrix of who hears whom, shares with their intervals.  PNG bytes.

Drawn at twice the size and scaled down, so that letters and lines are smooth.
"""

from __future__ import annotations

from collections.abc import Sequence

import cv2
import numpy as np
import numpy.typing as npt

from calibration.pictures import png
from calibration.rates import PPM, Rate
from calibration.survey import Survey

Canvas = npt.NDArray[np.uint8]

SCALE = 2
INK, FAINT, PAPER = (40, 40, 40), (205, 205, 205), (255, 255, 255)
LONE, STACK = (150, 90, 20), (30, 110, 220)
FONT = cv2.FONT_HERSHEY_SIMPLEX


def blank(width: int, height: int) -> Canvas:
    """White paper; all further sizes are in its pixels, from the top left."""
    return np.full((height * SCALE, width * SCALE, 3), 255, np.uint8)


def done(canvas: Canvas) -> bytes:
    """The PNG."""
    height, width = canvas.shape[:2]
    small = cv2.resize(canvas, (width // SCALE, height // SCALE), interpolation=cv2.INTER_AREA)
    return png(np.asarray(small, dtype=np.uint8))


def write(
    canvas: Canvas,
    text: str,
    x: float,
    y: float,
    *,
    size: float = 0.42,
    align: str = "left",
    ink: tuple[int, int, int] = INK,
) -> None:
    """Text with its baseline at y; ``align`` left, middle or right of x."""
    scale = size * SCALE
    (width, _), _ = cv2.getTextSize(text, FONT, scale, SCALE)
    shift = {"left": 0, "middle": width / 2, "right": width}[align]
    at = (round(x * SCALE - shift), round(y * SCALE))
    cv2.putText(canvas, text, at, FONT, scale, ink, SCALE, cv2.LINE_AA)


def box(
    canvas: Canvas,
    corner: tuple[float, float],
    size: tuple[float, float],
    ink: tuple[int, int, int],
    *,
    fill: bool = True,
) -> None:
    """A rectangle."""
    (x, y), (width, height) = corner, size
    one, other = (round(x * SCALE), round(y * SCALE)), (round((x + width) * SCALE), round((y + height) * SCALE))
    cv2.rectangle(canvas, one, other, ink, cv2.FILLED if fill else SCALE)


def line(
    canvas: Canvas, one: tuple[float, float], other: tuple[float, float], ink: tuple[int, int, int], width: int = 1
) -> None:
    """A straight line."""
    ends = [(round(x * SCALE), round(y * SCALE)) for x, y in (one, other)]
    cv2.line(canvas, ends[0], ends[1], ink, width * SCALE, cv2.LINE_AA)


def shade(share: float) -> tuple[int, int, int]:
    """A colour (BGR) for a share between 0 and 1: white over yellow and green to dark blue, ever darker."""
    stops = np.array([(255, 255, 255), (150, 225, 240), (150, 180, 95), (140, 95, 40), (90, 35, 25)], float)
    at = min(1.0, max(0.0, share)) * (len(stops) - 1)
    low = min(int(at), len(stops) - 2)
    b, g, r = stops[low] + (stops[low + 1] - stops[low]) * (at - low)
    return round(b), round(g), round(r)


def _ink_on(share: float) -> tuple[int, int, int]:
    return PAPER if share > 0.55 else INK


def heat(cells: Sequence[tuple[int, int, int]], title: str) -> bytes:
    """A read zone: cells are (x mm, y mm, reads per thousand looks); y grows upwards as on the table."""
    xs, ys = sorted({x for x, _, _ in cells}), sorted({y for _, y, _ in cells})
    side, left, top = 54, 64, 44
    canvas = blank(left + side * len(xs) + 90, top + side * len(ys) + 52)
    write(canvas, title, left, 26, size=0.5)
    for x, y, reads in cells:
        column, row = xs.index(x), len(ys) - 1 - ys.index(y)
        box(canvas, (left + column * side, top + row * side), (side, side), shade(reads / 1000))
        box(canvas, (left + column * side, top + row * side), (side, side), FAINT, fill=False)
        middle = left + (column + 0.5) * side, top + (row + 0.5) * side + 5
        write(canvas, f"{reads / 10:.0f}", *middle, align="middle", ink=_ink_on(reads / 1000))
    for n, x in enumerate(xs):
        write(canvas, str(x), left + (n + 0.5) * side, top + side * len(ys) + 18, align="middle")
    for n, y in enumerate(ys):
        write(canvas, str(y), left - 8, top + (len(ys) - n - 0.5) * side + 5, align="right")
    write(canvas, "x mm", left + side * len(xs) / 2, top + side * len(ys) + 40, align="middle")
    write(canvas, "y mm", 8, top - 8)
    for n in range(21):
        height = side * len(ys) / 21
        box(canvas, (left + side * len(xs) + 24, top + n * height), (16, height + 1), shade(1 - n / 20))
    write(canvas, "100", left + side * len(xs) + 46, top + 10)
    write(canvas, "0", left + side * len(xs) + 46, top + side * len(ys))
    return done(canvas)


def bleed(survey: Survey) -> bytes:
    """The matrix of places: how often a chip at the row's place is read at the column's, in per cent of looks."""
    places = [a.place for a in survey.antennas]
    share = {(c.chip_at, c.read_at): c.rate for c in survey.crossings}
    side, left, top = 58, 120, 66
    canvas = blank(max(left + side * len(places) + 24, 460), top + side * len(places) + 24)
    write(canvas, "a chip here ... is read there, in 100 looks", left, 24, size=0.46)
    for column, place in enumerate(places):
        write(canvas, place, left + (column + 0.5) * side, top - 10, align="middle")
        write(canvas, place, left - 10, top + (column + 0.5) * side + 5, align="right")
    for row, one in enumerate(survey.antennas):
        for column, other in enumerate(places):
            rate = share.get((one.place, other))
            own = one.place == other
            ppm = PPM - one.lone.ppm if own else (rate.ppm if rate is not None else 0)
            tone = 0.12 if own else min(1.0, ppm / 100_000)  # a tenth is dark already
            box(canvas, (left + column * side, top + row * side), (side, side), (236, 236, 236) if own else shade(tone))
            box(canvas, (left + column * side, top + row * side), (side, side), FAINT, fill=False)
            middle = left + (column + 0.5) * side, top + (row + 0.5) * side + 5
            write(canvas, f"{ppm / 10_000:.1f}", *middle, align="middle", ink=INK if own else _ink_on(tone))
    return done(canvas)


def misses(survey: Survey) -> bytes:
    """Lone and stacked misses of each antenna, each with its interval."""
    rows = [(a.place, a.lone, a.stack) for a in survey.antennas]
    left, top, wide, step = 130, 58, 460, 44
    most = max([50_000, *(r.high_ppm for _, lone, stack in rows for r in (lone, stack))])
    end = next(p for p in (5, 10, 20, 30, 40, 50, 75, 100) if p * 10_000 >= most)
    canvas = blank(left + wide + 70, top + step * len(rows) + 44)
    write(canvas, "missed looks in per cent, with the 95 % interval", left, 22, size=0.46)
    for n, (name, ink) in enumerate((("lone chip", LONE), ("in a stack", STACK))):
        box(canvas, (left + n * 130, 34), (10, 10), ink)
        write(canvas, name, left + 16 + n * 130, 44)
    for n in range(6):
        x = left + wide * n / 5
        line(canvas, (x, top), (x, top + step * len(rows)), FAINT)
        write(canvas, f"{end * n / 5:g}", x, top + step * len(rows) + 18, align="middle")
    for row, (place, lone, stack) in enumerate(rows):
        y = top + (row + 0.5) * step
        write(canvas, place, left - 12, y + 5, align="right")
        _bar(canvas, lone, (left, y - 8), wide / (end * 10_000), LONE)
        _bar(canvas, stack, (left, y + 8), wide / (end * 10_000), STACK)
    return done(canvas)


def _bar(canvas: Canvas, rate: Rate, zero: tuple[float, float], scale: float, ink: tuple[int, int, int]) -> None:
    left, y = zero
    low, high, at = (left + ppm * scale for ppm in (rate.low_ppm, rate.high_ppm, rate.ppm))
    line(canvas, (low, y), (high, y), ink, 2)
    for x in (low, high):
        line(canvas, (x, y - 4), (x, y + 4), ink)
    cv2.circle(canvas, (round(at * SCALE), round(y * SCALE)), 4 * SCALE, ink, cv2.FILLED, cv2.LINE_AA)
