"""The calibration of a simulated camera, made the way a technician makes it: from pictures of a board and the markers.

Zones, the dealer's place and the chips' colours are what the technician measures; lens and pose are solved from
pictures alone.  Results are kept for the process, since a view takes a second.
"""

from __future__ import annotations

from functools import lru_cache

import cv2
import numpy as np

from calibration import lens as lens_step
from calibration import plane as plane_step
from calibration.board import Board
from calibration.optics import Optics
from calibration.pictures import Shot as Picture
from calibration.views import Views
from hw_sim.scene import Scene
from hw_sim.scene.boards import Board as Print
from hw_sim.scene.boards import boards, marker_view
from hw_sim.scene.layout import MARKER_MM
from tabled.model.calibration import (
    Calibration,
    CameraTime,
    Colour,
    Lens,
    Palette,
    Plane,
    Point,
    Zone,
    Zones,
)
from tabled.sensing.colours import lab

VIEWS = 20


def picture(jpeg: bytes) -> np.ndarray:  # type: ignore[type-arg]
    """A JPEG as BGR."""
    got = cv2.imdecode(np.frombuffer(jpeg, np.uint8), cv2.IMREAD_COLOR)
    assert got is not None
    return got


@lru_cache(maxsize=64)
def lens_of(seed: int) -> Lens:
    """The lens of a seed's camera, solved from rendered views of a printed board."""
    printed = Print()
    views = Views(Board(name="sim", columns=printed.columns, rows=printed.rows, square_mm=printed.square_mm,
                        marker_mm=printed.marker_mm, dictionary="5X5_100"))  # fmt: skip
    for n, view in enumerate(boards(seed, VIEWS)):
        views.offer(Picture(f"{n}", picture(view.jpeg)))
    return lens_step.calibrate(views).lens


@lru_cache(maxsize=64)
def plane_of(seed: int, seats: int) -> Plane:
    """The pose of a seed's camera, solved from the markers on its table."""
    scene_layout = _layout(seed, seats)
    (jpeg,) = marker_view(seed, seats=seats)
    finder = cv2.aruco.ArucoDetector(cv2.aruco.getPredefinedDictionary(cv2.aruco.DICT_4X4_50), _fine())
    corners, ids, _ = finder.detectMarkers(picture(jpeg))
    assert ids is not None
    seen = {int(i): np.asarray(c, np.float64).reshape(4, 2) for i, c in zip(ids.ravel(), corners, strict=True)}
    places = {}
    for marker in scene_layout.markers:
        square = np.array(marker.corners)
        x, y = square.mean(axis=0)
        across = square[1] - square[0]
        places[marker.id] = plane_step.Place(float(x), float(y), float(np.arctan2(across[1], across[0])))
    return plane_step.from_markers(Optics.of(lens_of(seed)), seen, places, MARKER_MM).plane


def _fine() -> cv2.aruco.DetectorParameters:
    parameters = cv2.aruco.DetectorParameters()
    parameters.cornerRefinementMethod = cv2.aruco.CORNER_REFINE_SUBPIX
    return parameters


def _layout(seed: int, seats: int):  # type: ignore[no-untyped-def]
    from hw_sim.scene.layout import layout  # noqa: PLC0415

    return layout(seed, seats)


def _um(mm: float) -> int:
    return round(mm * 1000)


def _point(xy: tuple[float, float]) -> Point:
    return Point(_um(xy[0]), _um(xy[1]))


def _lab(colour: tuple[float, float, float]) -> tuple[int, int, int]:
    got = lab(np.array(colour))
    return (round(got[0] * 1000), round(got[1] * 1000), round(got[2] * 1000))


def calibration_of(scene: Scene) -> Calibration:
    """All sections that the camera needs."""
    seats, layout = len(scene.layout.seats), scene.layout
    zones = Zones(
        zones=tuple(
            Zone(kind="bet", seat=z.seat, outline=tuple(map(_point, z.outline)), line=tuple(map(_point, z.line)))
            for z in layout.zones
            if z.kind == "bet"
        ),
        dealer=_point(layout.dealer),
    )
    palette = Palette(
        colours=tuple(Colour(denomination=c.value, lab_e3=_lab(c.body), spread_e3=1500) for c in layout.chips),
        felt_lab_e3=_lab(layout.felt_colour),
    )
    time = CameraTime(offset_ns=0, spread_ns=0, readout_ns=scene.truth.readout_ns, exposure_ns=scene.truth.exposure_ns)
    lens = lens_of(scene.seed)
    return Calibration(lens=lens, plane=plane_of(scene.seed, seats), zones=zones, palette=palette, time=time)
