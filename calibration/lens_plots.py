"""Pictures to judge a lens by: residual per view, residuals over the picture, what the lens does to a grid."""

from __future__ import annotations

import cv2
import numpy as np
import numpy.typing as npt

from calibration.lens import LensResult, residuals

Image = npt.NDArray[np.uint8]
Floats = npt.NDArray[np.float64]
Colour = tuple[int, int, int]

WIDTH = 960
_INK, _SOFT, _GOOD, _BAD = (40, 40, 40), (200, 200, 200), (110, 150, 60), (60, 60, 210)
_FONT = cv2.FONT_HERSHEY_SIMPLEX


def _sheet(height: int) -> Image:
    return np.full((height, WIDTH, 3), 250, dtype=np.uint8)


def text(canvas: Image, words: str, at: tuple[int, int], size: float = 0.45, colour: Colour = _INK) -> None:
    """Write ASCII ``words`` with their left end of the base line at ``at``."""
    cv2.putText(canvas, words, at, _FONT, size, colour, 1, cv2.LINE_AA)


def per_view(result: LensResult) -> Image:
    """One bar a view: RMS of its corners in pixels, the views that were left out in red at the right."""
    bars = [(view.name, float(rms), _GOOD) for view, rms in zip(result.views, result.fit.per_view, strict=True)]
    bars += [(view.name, rms, _BAD) for view, rms in result.left_out]
    canvas = _sheet(360)
    top = max(0.3, *(rms for _, rms, _ in bars)) * 1.1
    left, floor, high = 60, 310, 260
    for share in np.linspace(0, top, 6):
        y = round(floor - high * share / top)
        cv2.line(canvas, (left, y), (WIDTH - 20, y), _SOFT, 1)
        text(canvas, f"{share:.2f}", (8, y + 4))
    pitch = (WIDTH - 20 - left) / len(bars)
    for index, (_, rms, colour) in enumerate(bars):
        x0, x1 = round(left + (index + 0.15) * pitch), round(left + (index + 0.85) * pitch)
        cv2.rectangle(canvas, (x0, round(floor - high * rms / top)), (x1, floor), colour, -1)
        if pitch > 14:
            text(canvas, str(index + 1), (x0, floor + 16), 0.38)
    overall = round(floor - high * result.fit.rms_px / top)
    cv2.line(canvas, (left, overall), (WIDTH - 20, overall), _INK, 1)
    text(canvas, f"RMS of each view, px (line: all {result.fit.rms_px:.3f}; red: left out)", (left, 24), 0.5)
    text(canvas, "view", (left, 350))
    return canvas


def arrows(result: LensResult) -> Image:
    """Residual of each corner, much enlarged, where it was in the picture; a pattern means that the model is wrong."""
    size = result.fit.optics.size
    scale = WIDTH / size[0]
    canvas = _sheet(round(size[1] * scale) + 30)
    rms = max(result.fit.rms_px, 1e-6)
    grow = 14 / rms
    for index, view in enumerate(result.views):
        off = residuals(view, result.fit, index)
        for (x, y), (dx, dy) in zip(view.seen.pixels * scale, off * grow, strict=True):
            colour = _BAD if np.hypot(dx, dy) > 3 * 14 else _GOOD
            start, end = (round(float(x)), round(float(y)) + 30), (round(float(x + dx)), round(float(y + dy)) + 30)
            cv2.line(canvas, start, end, colour, 1, cv2.LINE_AA)
            cv2.circle(canvas, start, 1, _INK, -1)
    text(canvas, f"corners: seen less predicted, enlarged {grow * scale**-1:.0f} times", (12, 20), 0.5)
    return canvas


def grid(result: LensResult) -> Image:
    """A square grid as the lens shows it: smooth lines to the very corners, or the fit is not to be trusted there."""
    optics = result.fit.optics
    w, h = optics.size
    scale = WIDTH / w
    canvas = _sheet(round(h * scale))
    edge = optics.straight(np.array([[0, 0], [w - 1, 0], [0, h - 1], [w - 1, h - 1]]))
    low, high = edge.min(axis=0), edge.max(axis=0)
    for axis in (0, 1):
        for at in np.linspace(low[axis], high[axis], 17):
            along = np.linspace(low[1 - axis], high[1 - axis], 80)
            rays = np.column_stack([np.full(80, at), along] if axis == 0 else [along, np.full(80, at)])
            points = np.clip(optics.bent(rays) * scale, -20_000, 20_000)
            cv2.polylines(canvas, [np.rint(points).astype(np.int32)], False, _GOOD, 1, cv2.LINE_AA)
    middle = optics.matrix[:2, 2] * scale
    cv2.drawMarker(canvas, (round(float(middle[0])), round(float(middle[1]))), _BAD, cv2.MARKER_CROSS, 16, 1)
    text(canvas, "a square grid through this lens; cross: its middle", (12, 20), 0.5)
    return canvas
