"""The colour of a chip's top against the table's palette, whatever the lamps do.

The felt around the chip tells the light on it: what the calibration says the felt looks like, divided by what it looks
like now, is taken off the chip (von Kries).  Colours are compared in CIE L*a*b* (D65), lightness counting half, since a
face may lean to the light.  Source: CIE 15:2004, 8.2.1; IEC 61966-2-1 for sRGB's primaries.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tabled.model.calibration import Palette
from tabled.sensing.geometry import Floats

MAX_DISTANCE = 22.0
"""A top further than this from every colour of the table is of none of them."""
LIGHTNESS = 0.5
SURE_MARGIN = 6.0

_XYZ = np.array(
    [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750], [0.0193339, 0.1191920, 0.9503041]]
)
_WHITE = np.array([0.95047, 1.0, 1.08883])

Vector = npt.NDArray[np.float64]


def lab(rgb: Vector) -> Vector:
    """CIE L*a*b* (D65) of linear sRGB (…, 3), 1 being white."""
    xyz = np.maximum(np.asarray(rgb) @ _XYZ.T, 0.0) / _WHITE
    f = np.where(xyz > (6 / 29) ** 3, np.cbrt(xyz), xyz / (3 * (6 / 29) ** 2) + 4 / 29)
    return np.stack([116 * f[..., 1] - 16, 500 * (f[..., 0] - f[..., 1]), 200 * (f[..., 1] - f[..., 2])], axis=-1)


def rgb(lab_values: Vector) -> Vector:
    """Linear sRGB of CIE L*a*b* (D65); the inverse of `lab`."""
    values = np.asarray(lab_values, dtype=np.float64)
    fy = (values[..., 0] + 16) / 116
    f = np.stack([fy + values[..., 1] / 500, fy, fy - values[..., 2] / 200], axis=-1)
    xyz = np.where(f > 6 / 29, f**3, 3 * (6 / 29) ** 2 * (f - 4 / 29)) * _WHITE
    return np.asarray(xyz @ np.linalg.inv(_XYZ).T)


class Colours:
    """Names the denomination of a top by its colour."""

    def __init__(self, palette: Palette) -> None:
        self.felt = np.maximum(rgb(np.array(palette.felt_lab_e3) / 1e3), 1e-3)
        """The felt as it was calibrated, linear R, G, B."""
        self._values = [c.denomination for c in palette.colours]
        self._labs = np.array([c.lab_e3 for c in palette.colours], dtype=np.float64).reshape(-1, 3) / 1e3
        self._spreads = np.array([max(c.spread_e3, 1000) for c in palette.colours]) / 1e3
        self.diameter_mm = max((c.diameter_um for c in palette.colours), default=39_000) / 1e3

    def tint(self, felt_now: Vector) -> Floats:
        """What the light does to colours, as parts (red/green, blue/green, lightness): ``felt_now`` linear R, G, B.

        A felt that is nearly black in a channel tells little of it, so no part goes further than lamps do.
        """
        r, g, b = np.log(np.maximum(felt_now, 1e-3) / self.felt)
        strongest = (r, g, b)[int(np.argmax(self.felt))]
        return np.asarray(np.clip([r - g, b - g, strongest], (-0.5, -0.5, -2.5), (0.5, 0.5, 1.5)), np.float32)

    def value(self, top: Vector, felt_now: Vector) -> tuple[int, int]:
        """(denomination, confidence in thousandths) of a top, linear R, G, B both; 0 if it is of no colour here."""
        if not self._values:
            return 0, 0
        seen = lab(np.clip(top * (self.felt / np.maximum(felt_now, 1e-3)), 0.0, 1.5))
        away = (seen - self._labs) * np.array([LIGHTNESS, 1.0, 1.0])
        distances = np.sqrt((away**2).sum(axis=-1))
        order = np.argsort(distances)
        best = float(distances[order[0]])
        if best > MAX_DISTANCE + 2 * self._spreads[order[0]]:
            return 0, min(1000, round(500 + 10 * (best - MAX_DISTANCE)))
        second = float(distances[order[1]]) if len(order) > 1 else best + 4 * SURE_MARGIN
        return self._values[order[0]], round(1000 * min(1.0, max(0.2, (second - best) / SURE_MARGIN)))
