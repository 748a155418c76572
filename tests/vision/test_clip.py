"""Real overhead footage: two people at a chess board, bare hands, black sleeves, leaning bodies, an exposure change.

The clip is not ours and lies beside the repository (``../shared/vision``, or ``$TABLED_SHARED/vision``).  Zones and an
identity-like calibration are made here: two columns of the picture, 2 mm a pixel, straight down.
"""

from __future__ import annotations

import math
import os
from pathlib import Path

import cv2
import numpy as np
import pytest

from tabled.model.calibration import Calibration, CameraTime, Lens, Plane, Point, Zone, Zones
from tabled.model.camera import HandMoved
from tabled.sensing.eye import Eye

SHARED = Path(os.environ.get("TABLED_SHARED", Path(__file__).resolve().parents[3] / "shared"))
CLIP = SHARED / "vision" / "scholarsmate.avi"
FRAME_NS = 50_000_000
VISITS = {"left": ((43, 60), (88, 107), (192, 208)), "right": ((29, 45), (63, 85), (146, 183), (216, 263))}
SLACK = 4


def _point(x_px: float, y_px: float) -> Point:
    return Point(round(x_px * 2000), round(-y_px * 2000))


def _zone(seat: str, near: float, far: float) -> Zone:
    """A column of the picture, over whose edge at ``near`` the hands come."""
    corners = (_point(near, 2), _point(far, 2), _point(far, 478), _point(near, 478))
    return Zone(kind="bet", seat=seat, outline=corners, line=(_point(near, 2), _point(near, 478)))


def _calibration() -> Calibration:
    turn = cv2.Rodrigues(np.array([math.pi, 0.0, 0.0]))[0]
    moved = -turn @ np.array([640.0, -480.0, 2000.0])
    return Calibration(
        lens=Lens(width_px=640, height_px=480, fx_upx=1_000_000_000, fy_upx=1_000_000_000, cx_upx=320_000_000,
                  cy_upx=240_000_000, distortion_e9=(0, 0, 0, 0, 0), rms_upx=0, views=1),
        plane=Plane(rotation_nrad=(round(math.pi * 1e9), 0, 0), translation_um=tuple(round(v * 1000) for v in moved),
                    markers=(), residual_um=0),
        zones=Zones(zones=(_zone("left", 100, 140), _zone("right", 540, 500)), dealer=_point(320, 2000)),
        time=CameraTime(offset_ns=0, spread_ns=0, readout_ns=0, exposure_ns=0),
    )  # fmt: skip


def _seen() -> dict[str, list[tuple[int, int]]]:
    """Visits by seat, as frames [in, out); what overlaps or follows at once is one visit."""
    eye = Eye(_calibration(), (640, 480))
    film = cv2.VideoCapture(str(CLIP))
    moves: list[HandMoved] = []
    number = 0
    while True:
        more, picture = film.read()
        if not more:
            break
        moves += [o for o in eye.see((number + 1) * FRAME_NS, picture) if isinstance(o, HandMoved)]
        number += 1
    assert number == 334
    visits: dict[str, list[tuple[int, int]]] = {"left": [], "right": []}
    for seat, found in visits.items():
        since: int | None = None
        for move in (m for m in moves if m.seat == seat and m.confidence >= 500):
            frame = (move.span.earliest_ns + move.span.latest_ns) // 2 // FRAME_NS - 1
            if move.step != "leaves" and since is None:
                since = frame
            elif move.step == "leaves" and since is not None:
                if found and since - found[-1][1] <= SLACK:
                    since = found.pop()[0]
                found.append((since, max(since, frame)))
                since = None
        if since is not None:
            found.append((since, number))
    return visits


@pytest.mark.skipif(not CLIP.exists(), reason=f"no real footage: {CLIP} is absent")
def test_all_visits_of_real_hands_are_seen_and_at_most_one_that_is_none() -> None:
    visits = _seen()
    missed, false = [], []
    for seat, labels in VISITS.items():
        for low, high in labels:
            if not any(a < high and b > low for a, b in visits[seat]):
                missed.append((seat, low, high))
        for a, b in visits[seat]:
            if not any(a < high + SLACK and b > low - SLACK for low, high in labels):
                false.append((seat, a, b))
    assert missed == [], visits
    assert len(false) <= 1, (false, visits)
