"""Zones drawn over the felt, and which of them the camera does not see."""

from __future__ import annotations

import cv2
import numpy as np
import numpy.typing as npt

from calibration.lens_plots import text
from calibration.optics import Optics, Pose, mm, pixels
from calibration.rectify import Window, on_picture
from calibration.zones import name
from tabled.model.calibration import Zone, Zones

Image = npt.NDArray[np.uint8]
COLOURS = {
    "bet": (90, 200, 90),
    "stack": (210, 160, 70),
    "tray": (70, 170, 230),
    "board": (200, 110, 200),
    "pot": (200, 200, 90),
}
"""BGR."""


def drawing(zones: Zones, part: Window, ground: Image | None) -> Image:
    """The zones with their names, betting lines in red, the dealer's place as a cross."""
    width, height = part.size
    if ground is not None and (ground.shape[1], ground.shape[0]) == (width, height):
        canvas = ground.copy()
    else:
        canvas = np.full((height, width, 3), 60, dtype=np.uint8)
    tinted = canvas.copy()
    for zone in zones.zones:
        cv2.fillPoly(tinted, [_on(part, zone)], COLOURS[zone.kind])
    canvas = np.asarray(cv2.addWeighted(canvas, 0.65, tinted, 0.35, 0), dtype=np.uint8)
    for zone in zones.zones:
        outline = _on(part, zone)
        cv2.polylines(canvas, [outline], True, COLOURS[zone.kind], 1, cv2.LINE_AA)
        if zone.line:
            line = on_picture(part, mm(zone.line))
            cv2.polylines(canvas, [np.rint(line).astype(np.int32)], False, (60, 60, 240), 2, cv2.LINE_AA)
        middle = outline.mean(axis=0)
        text(canvas, name(zone), (int(middle[0]) - 22, int(middle[1]) + 4), 0.45, (255, 255, 255))
    dealer = on_picture(part, mm([zones.dealer]))[0]
    at = (int(np.clip(dealer[0], 8, width - 8)), int(np.clip(dealer[1], 8, height - 8)))
    cv2.drawMarker(canvas, at, (255, 255, 255), cv2.MARKER_TILTED_CROSS, 14, 2)
    text(canvas, "dealer", (at[0] + 10, at[1]), 0.45, (255, 255, 255))
    return canvas


def unseen(optics: Optics, pose: Pose, zones: Zones) -> list[str]:
    """Names of zones of which a corner is not in the camera's picture."""
    w, h = optics.size
    found = []
    for zone in zones.zones:
        at = pixels(optics, pose, mm(zone.outline))
        # A point far outside may be bent back into the picture by the distortion: the way back tells.
        back = optics.bent(optics.straight(np.clip(at, -1e4, 1e4)))
        there = np.all((at >= 0) & (at <= [w - 1, h - 1]), axis=1) & (np.hypot(*(back - at).T) < 1.0)
        if not bool(there.all()):
            found.append(name(zone))
    return found


def _on(part: Window, zone: Zone) -> npt.NDArray[np.int32]:
    return np.rint(on_picture(part, mm(zone.outline))).astype(np.int32)
