"""The calibration of a simulated camera, made the way a technician makes it: from pictures of a board and the markers.

Zones, the dealer's place and the chips' colours are what the technician measures; lens and pose are solved from
pictures alone.  Results are kept for the process, since a view takes a second.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from random import Random

import cv2
import numpy as np
import numpy.typing as npt

from calibration import lens as lens_step
from calibration import plane as plane_step
from calibration.board import Board
from calibration.colours import learn
from calibration.optics import Optics, Pose
from calibration.pictures import Shot as Picture
from calibration.views import Views
from hw_sim.scene import CONDITIONS, Layout, Scene, camera, optics
from hw_sim.scene.boards import Board as Print
from hw_sim.scene.boards import boards, marker_view
from hw_sim.scene.layout import LINE_MM, MARKER_MM, layout
from hw_sim.scene.motion import Rest
from hw_sim.scene.people import pile
from hw_sim.scene.render import Renderer
from hw_sim.scene.stage import Shutter, View
from tabled.model.calibration import Calibration, CameraTime, Lens, Palette, Plane, Point, Zone, Zones
from tabled.sensing import sections

VIEWS = 20


def picture(jpeg: bytes) -> npt.NDArray[np.uint8]:
    """A JPEG as BGR."""
    got = cv2.imdecode(np.frombuffer(jpeg, np.uint8), cv2.IMREAD_COLOR)
    assert got is not None
    return np.asarray(got, np.uint8)


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
    table = layout(seed, seats)
    jpeg = marker_view(seed, seats=seats)
    finder = cv2.aruco.ArucoDetector(cv2.aruco.getPredefinedDictionary(cv2.aruco.DICT_4X4_50), _fine())
    corners, ids, _ = finder.detectMarkers(picture(jpeg))
    assert ids is not None
    seen = {int(i): np.asarray(c, np.float64).reshape(4, 2) for i, c in zip(ids.ravel(), corners, strict=True)}
    places = {}
    for marker in table.markers:
        square = np.array(marker.corners)
        x, y = square.mean(axis=0)
        across = square[1] - square[0]
        places[marker.id] = plane_step.Place(float(x), float(y), float(np.arctan2(across[1], across[0])))
    return plane_step.from_markers(Optics.of(lens_of(seed)), seen, places, MARKER_MM).plane


def _fine() -> cv2.aruco.DetectorParameters:
    parameters = cv2.aruco.DetectorParameters()
    parameters.cornerRefinementMethod = cv2.aruco.CORNER_REFINE_SUBPIX
    return parameters


@lru_cache(maxsize=64)
def palette_of(seed: int) -> Palette:
    """The palette, learned from a picture in which one chip of each denomination lies on a bet zone."""
    table, eye, look, rng = layout(seed), camera(seed), CONDITIONS["baseline"], Random(seed)
    things, piles = [], {}
    for kind, seat in zip(table.chips, table.seats, strict=False):
        thing = pile((kind,), rng)
        thing.put(0.0, Rest(*seat.place(LINE_MM + 75.0)))
        things.append(thing)
        piles[f"bet:{seat.name}"] = kind.value
    view = View(eye, table, look, seed)
    shutter = Shutter(1.0, look.readout_ms / 1000 / (view.height - 1), look.exposure_ms / 1000, view.height)
    sensor = optics.Sensor(look, eye.lens.width, eye.lens.height, seed)
    sensor.reseed(1)
    renderer = Renderer(view, things, [], [])
    renderer.focus(look.psf_px)
    gains = optics.row_gains(look, 10**9, view.height, 0.0)
    jpeg = sensor.jpeg(sensor.develop(renderer.frame(shutter), gains.astype(np.float32)))
    zones, lens, plane = zones_of(table), *_pose(seed)
    found = learn([Picture("chips", picture(jpeg))], lens, plane, zones, piles, diameter_mm=39.0)
    return found.palette


def _pose(seed: int) -> tuple[Optics, Pose]:
    return Optics.of(lens_of(seed)), Pose.of(plane_of(seed, 9))


def _um(mm: float) -> int:
    return round(mm * 1000)


def _point(xy: tuple[float, float]) -> Point:
    return Point(_um(xy[0]), _um(xy[1]))


def zones_of(table: Layout) -> Zones:
    """The zones as a technician draws them."""
    bets = [z for z in table.zones if z.kind == "bet"]
    return Zones(
        zones=tuple(
            Zone(kind="bet", seat=z.seat, outline=tuple(map(_point, z.outline)), line=tuple(map(_point, z.line)))
            for z in bets
        ),
        dealer=_point(table.dealer),
    )


def _kept(keep: Path | None, scene: Scene) -> tuple[Lens, Plane, Palette]:
    """What depends on a seed's camera and table alone: measured once, then read from a folder, if there is one."""
    seed, seats = scene.seed, len(scene.layout.seats)
    folder = keep / f"rig_{seed}_{seats}" if keep is not None else None
    if folder is not None and (folder / "palette.json").exists():
        kept = sections.load(folder)
        assert kept.lens is not None
        assert kept.plane is not None
        assert kept.palette is not None
        return kept.lens, kept.plane, kept.palette
    found = lens_of(seed), plane_of(seed, seats), palette_of(seed)
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
        for name, section in zip(("lens", "plane", "palette"), found, strict=True):
            (folder / f"{name}.json").write_bytes(sections.encode(section))
    return found


def calibration_of(scene: Scene, keep: Path | None = None) -> Calibration:
    """All sections that the camera needs; with a folder ``keep`` the slow ones are measured once for a seed."""
    truth = scene.truth
    lens, plane, palette = _kept(keep, scene)
    return Calibration(
        lens=lens,
        plane=plane,
        zones=zones_of(scene.layout),
        palette=palette,
        time=CameraTime(offset_ns=0, spread_ns=0, readout_ns=truth.readout_ns, exposure_ns=truth.exposure_ns),
    )
