"""Light: pictures as logarithms of linear light, and how much brighter each part of the picture has become.

In logarithms a brighter lamp adds the same everywhere and a shadow adds the same to all three channels; what is left
is change of what lies there.  A lamp at 100 or 120 Hz under a rolling shutter makes bands across the rows: the gain is
therefore measured per band of rows, on the felt between the zones.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tabled.sensing.geometry import Atlas, Bytes, Floats
from tabled.sensing.opencv import cv2

BLACK = 0.02
"""Added to linear light (0…1) before the logarithm, so that the noise of dark pixels does not grow."""
BANDS = 36
COLUMNS = 26
MIN_SAMPLES = 8
"""A band with fewer samples takes its neighbours' gain."""
TINT = 0.18
DISAGREE = 0.25
"""Quartiles of a band's samples that lie further apart are of things, not of light."""
FLICKER = 0.40
"""No band is further from the whole picture's gain: a lamp that goes dark at each zero of the mains, at 1/250 s."""


def _linear() -> Floats:
    """Linear light (0…1) of each 8-bit value (IEC 61966-2-1)."""
    v = np.arange(256) / 255.0
    return np.where(v <= 0.04045, v / 12.92, ((v + 0.055) / 1.055) ** 2.4).astype(np.float32)


LINEAR: Floats = _linear()
LOGS: Floats = np.log(LINEAR + BLACK).astype(np.float32)


def logs(picture: Bytes) -> Floats:
    """Natural logarithm of linear light, per channel, of a BGR picture."""
    return np.asarray(cv2.LUT(picture, LOGS))


class Gains:
    """How much brighter the picture is than when its samples were learned, per channel and band of rows."""

    def __init__(self, atlas: Atlas) -> None:
        view = atlas.view
        rows = (np.arange(BANDS * 2) + 0.5) * view.height / (BANDS * 2)
        columns = (np.arange(COLUMNS) + 0.5) * view.width / COLUMNS
        self._rows = rows.astype(np.intp)
        self._columns = columns.astype(np.intp)
        self.used = _between(atlas, self._rows, self._columns)
        """Which samples (rows, columns) lie on the felt."""
        self._known: Floats | None = None
        self.change: Floats = np.zeros((BANDS * 2, COLUMNS, 3), np.float32)
        """What the newest samples differ from the known ones, gain not taken off (rows, columns, channels)."""
        self._whole: Floats = np.zeros(3, np.float32)

    def follow(self, rate: float, gain: Floats) -> None:
        """Let the known samples go slowly after what they are now (each at most a little: people are no felt)."""
        if self._known is not None:
            per_row = np.repeat(gain, 2, axis=0)[:, None, :]
            self._known += np.clip(self.change - per_row, -0.2, 0.2) * rate

    def measure(self, picture: Bytes) -> Floats:
        """The gain (bands, channels) as logarithms.

        Samples that changed in colour show another thing, not another light; a band of which too few samples agree
        takes its neighbours' gain.
        """
        samples = LOGS[picture[self._rows[:, None], self._columns[None, :]]]
        if self._known is None:
            self._known = samples  # the gain is 1 at first
        self.change = samples - self._known
        tinted = self.change - self._whole
        odd = np.abs(tinted[..., 1:] - tinted[..., :1]).max(axis=-1) > TINT
        out = (odd | ~self.used).reshape(BANDS, -1)
        chosen = np.where(out[..., None], np.float32(np.inf), self.change.reshape(BANDS, -1, 3))
        count = out.shape[1] - out.sum(axis=1)
        chosen.sort(axis=1)
        at = np.arange(BANDS)
        quarter, half, most = (chosen[at, np.minimum(count * n // 4, out.shape[1] - 1)] for n in (1, 2, 3))
        enough = count >= MIN_SAMPLES
        quarter[~enough] = half[~enough] = most[~enough] = 0.0
        firm = enough & ((most - quarter).max(axis=-1) < DISAGREE)
        gains = half.astype(np.float32)
        if firm.any():
            self._whole = np.median(gains[firm], axis=0)
            firm &= np.abs(gains - self._whole).max(axis=-1) < FLICKER
        gains[~firm] = np.nan
        self._whole = self._whole.astype(np.float32)
        return _filled(gains, self._whole)

    def spread(self, gain: Floats) -> Floats:
        """The gain of the sensor's rows (256 steps over the picture's height, 3): to look up at `Tile.row`."""
        where = np.linspace(0.0, BANDS, 256) - 0.5
        at = np.arange(BANDS)
        return np.stack([np.interp(where, at, gain[:, c]) for c in range(gain.shape[1])], axis=-1).astype(np.float32)


def _between(atlas: Atlas, rows: npt.NDArray[np.intp], columns: npt.NDArray[np.intp]) -> npt.NDArray[np.bool_]:
    """Which samples lie in the hull of all tiles: the felt, where few lean over."""
    corners = []
    for tile in atlas.tiles:
        height, width = tile.shape
        for x, y in ((0, 0), (width - 1, 0), (0, height - 1), (width - 1, height - 1)):
            corners.append(tile.table(x, y))
    hull = cv2.convexHull(atlas.view.pixels(np.array(corners)).astype(np.float32))
    inside = np.zeros((len(rows), len(columns)), bool)
    for r, y in enumerate(rows):
        for c, x in enumerate(columns):
            inside[r, c] = cv2.pointPolygonTest(hull, (float(x), float(y)), False) >= 0
    return inside if inside.sum() >= 4 * MIN_SAMPLES else np.ones_like(inside)


def _filled(gains: Floats, whole: Floats) -> Floats:
    """Bands without samples get their nearest neighbours' gain; without any, that of the whole picture."""
    have = ~np.isnan(gains[:, 0])
    if not have.any():
        return np.broadcast_to(whole, gains.shape).astype(np.float32)
    at = np.arange(len(gains))
    return np.stack([np.interp(at, at[have], gains[have, c]) for c in range(gains.shape[1])], axis=-1).astype(
        np.float32
    )
