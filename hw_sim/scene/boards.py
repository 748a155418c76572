"""Pictures to calibrate from: a printed ChArUco board held before the camera, and the empty table with its markers."""

from __future__ import annotations

import math
from random import Random

import cv2
import msgspec
import numpy as np

from hw_sim.scene import optics, paint
from hw_sim.scene.conditions import Conditions, named
from hw_sim.scene.layout import Shape
from hw_sim.scene.layout import layout as make_layout
from hw_sim.scene.lens import Array, Eye, rotation
from hw_sim.scene.paint import F32, Bytes8
from hw_sim.scene.scene import camera
from hw_sim.scene.stage import View

_FINE = 2
_PIXELS_MM = 3.0


class Board(msgspec.Struct, frozen=True, kw_only=True):
    """A ChArUco board as printed: squares across and down, sizes in mm, its dictionary."""

    columns: int = 11
    rows: int = 8
    square_mm: float = 40.0
    marker_mm: float = 30.0
    dictionary: str = "DICT_5X5_100"
    margin_mm: float = 12.0

    def picture(self) -> Bytes8:
        """The print with its white margin, `_PIXELS_MM` pixels a mm."""
        known = cv2.aruco.getPredefinedDictionary(getattr(cv2.aruco, self.dictionary))
        board = cv2.aruco.CharucoBoard((self.columns, self.rows), self.square_mm, self.marker_mm, known)
        w, h, edge = (round(v * _PIXELS_MM) for v in (self.columns * self.square_mm, self.rows * self.square_mm,
                                                      self.margin_mm))  # fmt: skip
        return np.asarray(board.generateImage((w + 2 * edge, h + 2 * edge), marginSize=edge, borderBits=1), np.uint8)


class BoardView(msgspec.Struct, frozen=True):
    """One view, and the truth: where the board's top left corner lies in the camera's frame (mm), and its rotation."""

    jpeg: bytes
    origin: tuple[float, float, float]
    turn: tuple[tuple[float, ...], ...]
    blurred: bool = False


def boards(seed: int, n: int = 24, board: Board | None = None, *, width: int = 1280, height: int = 720,
           conditions: str | Conditions = "baseline", blurred: float = 0.0) -> list[BoardView]:  # fmt: skip
    """``n`` views of a board through the camera of ``seed``, spread over the picture and tilted all ways.

    ``blurred`` is the share of views that are smeared by a moving hand.  ValueError if ``n`` is not 1 to 500.
    """
    if not 1 <= n <= 500:
        raise ValueError(f"{n} views; give 1 to 500")
    eye, rng = camera(seed, width, height), Random(f"boards {seed}")
    printed, look = board or Board(), named(conditions)
    sensor = optics.Sensor(look, width, height, seed + 1)
    return [_view(eye, printed, rng, sensor, look=look, k=k, blurred=rng.random() < blurred) for k in range(n)]


def _pose(eye: Eye, board: Board, rng: Random, k: int) -> tuple[Array, Array]:
    """Rotation and origin of the board in the camera's frame: its middle walks over the picture."""
    w, h = board.columns * board.square_mm, board.rows * board.square_mm
    cells = [
        (0.5, 0.5),
        (0.2, 0.22),
        (0.8, 0.22),
        (0.2, 0.78),
        (0.8, 0.78),
        (0.5, 0.2),
        (0.5, 0.8),
        (0.18, 0.5),
        (0.82, 0.5),
    ]
    cx, cy = cells[k % len(cells)]
    aim = np.array(
        [(cx + rng.uniform(-0.06, 0.06)) * eye.lens.width, (cy + rng.uniform(-0.06, 0.06)) * eye.lens.height]
    )
    ray = eye.lens.directions(aim)
    share = rng.uniform(0.28, 0.5)
    far = eye.lens.f * w / (share * eye.lens.width)
    turn = rotation(
        rng.uniform(-0.55, 0.55), rng.uniform(-0.55, 0.55), rng.choice((0.0, math.pi)) + rng.uniform(-0.5, 0.5)
    )
    middle = ray / ray[2] * far
    return turn, middle - turn @ np.array([w / 2, h / 2, 0.0])


def _view(eye: Eye, board: Board, rng: Random, sensor: optics.Sensor, *, look: Conditions, k: int,
          blurred: bool) -> BoardView:  # fmt: skip
    turn, origin = _pose(eye, board, rng, k)
    lens, picture = eye.lens, board.picture().astype(np.float32) / 255
    # Places on the board are worked out for cells of 8 pixels; between, they are straight to a thousandth.
    xs = (np.arange(-1, lens.width // 8 + 1) + 0.5) * 8 - 0.5
    ys = (np.arange(-1, lens.height // 8 + 1) + 0.5) * 8 - 0.5
    rays = lens.directions(np.stack(np.meshgrid(xs, ys), axis=-1)) @ turn
    start = -(turn.T @ origin)
    reach = -start[2] / rays[..., 2]
    u = (start[0] + reach * rays[..., 0] + board.margin_mm) * _PIXELS_MM - 0.5
    v = (start[1] + reach * rays[..., 1] + board.margin_mm) * _PIXELS_MM - 0.5
    k8 = 8 * _FINE
    size = (u.shape[1] * k8, u.shape[0] * k8)
    u, v = (cv2.resize(m.astype(np.float32), size, interpolation=cv2.INTER_LINEAR)[k8:-k8, k8:-k8] for m in (u, v))
    soft = cv2.GaussianBlur(picture, (0, 0), 0.8)
    there = cv2.remap(np.ones_like(soft), u, v, cv2.INTER_LINEAR)
    seen = cv2.remap(soft, u, v, cv2.INTER_LINEAR)
    tone = 0.7 * float(abs(turn[2, 2])) + 0.15
    noise = np.random.default_rng(k)
    back = 0.07 + 0.02 * paint.cloud(noise, seen.shape[0], seen.shape[1], 160)
    image = np.maximum(back * (1 - there) + (0.04 + 0.78 * seen) * tone * there, 0.0)
    small = cv2.resize(image.astype(np.float32), (lens.width, lens.height), interpolation=cv2.INTER_AREA)
    small = cv2.GaussianBlur(small, (0, 0), look.psf_px)
    if blurred:
        small = cv2.blur(small, (13, 3))
    light = np.repeat(np.asarray(small, np.float32)[None], 3, axis=0) * look.light
    sensor.reseed(k)
    roots = optics.mosaic(light, look)
    jpeg = sensor.jpeg(sensor.develop(roots, np.ones(lens.height, np.float32)))
    return BoardView(jpeg, (float(origin[0]), float(origin[1]), float(origin[2])),
                     tuple(tuple(float(x) for x in row) for row in turn), blurred)  # fmt: skip


def marker_view(seed: int, *, width: int = 1280, height: int = 720, seats: int = 9, shape: Shape = "oval",
                conditions: str | Conditions = "baseline") -> bytes:  # fmt: skip
    """A JPEG of the empty table of `hw_sim.scene.world`, markers on the felt; nobody is there, nothing moves."""
    look: Conditions = named(conditions)
    eye, layout = camera(seed, width, height), make_layout(seed, seats, shape)
    view = View(eye, layout, look, seed)
    light: F32 = np.stack([cv2.GaussianBlur(p, (0, 0), look.psf_px) for p in view.table * view.light])
    sensor = optics.Sensor(look, width, height, seed)
    roots = optics.mosaic(light, look)
    sensor.reseed(900_000)
    return sensor.jpeg(sensor.develop(roots, optics.row_gains(look, 0, height, 0.0)))
