"""The palette as a sheet: each denomination's top as it was seen, beside the colour that was learnt."""

from __future__ import annotations

import cv2
import numpy as np
import numpy.typing as npt

from calibration.colours import PaletteResult
from calibration.lens_plots import text
from tabled.sensing.colours import rgb

Image = npt.NDArray[np.uint8]
_CELL, _WIDTH = 120, 960


def sheet(result: PaletteResult) -> Image:
    """Eight to a row; under each its denomination."""
    columns = _WIDTH // _CELL
    rows = -(-(len(result.palette.colours) + 1) // columns)
    canvas = np.full((rows * (_CELL + 20), _WIDTH, 3), 250, dtype=np.uint8)
    cells = [(str(c.denomination), c.lab_e3, result.patches.get(c.denomination)) for c in result.palette.colours]
    cells.append(("felt", result.palette.felt_lab_e3, None))
    for index, (label, colour, patch) in enumerate(cells):
        x, y = (index % columns) * _CELL, (index // columns) * (_CELL + 20)
        cv2.rectangle(canvas, (x + 6, y + 6), (x + _CELL - 6, y + _CELL - 6), bgr(colour), -1)
        if patch is not None and patch.size:
            small = cv2.resize(patch, (_CELL - 50, _CELL - 50), interpolation=cv2.INTER_AREA)
            canvas[y + 12 : y + 12 + _CELL - 50, x + 12 : x + 12 + _CELL - 50] = small
        text(canvas, label, (x + 10, y + _CELL + 12), 0.5)
    return canvas


def bgr(lab_e3: tuple[int, int, int]) -> tuple[int, int, int]:
    """The screen's colour of L*a*b* in thousandths."""
    linear = np.clip(rgb(np.array(lab_e3, dtype=np.float64) / 1000), 0, 1)
    curved = np.where(linear <= 0.0031308, linear * 12.92, 1.055 * linear ** (1 / 2.4) - 0.055)
    r, g, b = (round(float(v) * 255) for v in curved)
    return b, g, r
