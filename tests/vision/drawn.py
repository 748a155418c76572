"""A table drawn with plain array operations: another renderer than the simulator's, for quick tests.

Felt with grain and print, a hand as a skin-coloured blob on a sleeve, chips as discs; light is applied in linear light.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import cv2
import msgspec
import numpy as np
import numpy.typing as npt

from firmware_bridge.wire import Observation
from tabled.model.calibration import Calibration, CameraTime, Colour, Palette, Zones
from tabled.sensing.colours import lab
from tabled.sensing.eye import Eye
from tabled.sensing.geometry import View
from tests.vision.test_geometry import calibration, point, zone

FELT, SKIN, SLEEVE, RED, WHITE = (
    (0.03, 0.16, 0.07),
    (0.42, 0.24, 0.16),
    (0.05, 0.05, 0.3),
    (0.5, 0.02, 0.03),
    (0.7, 0.68, 0.6),
)
FRAME_NS = 16_666_667
START_NS = 5_000_000_000
Picture = npt.NDArray[np.float32]
WIDTH, HEIGHT = 640, 360


def _srgb() -> npt.NDArray[np.uint8]:
    v = np.arange(4096) / 4095
    coded = np.where(v <= 0.0031308, v * 12.92, 1.055 * v ** (1 / 2.4) - 0.055)
    return np.asarray(np.round(coded * 255), np.uint8)


_SRGB = _srgb()


def calibrated() -> Calibration:
    """Two zones: seat 1 on the left, seat 2 on the right of the table; chips of 5 (red) and 1 (white)."""

    def colour(value: int, rgb: tuple[float, float, float]) -> Colour:
        return Colour(denomination=value, lab_e3=tuple(round(v * 1000) for v in lab(np.array(rgb))), spread_e3=1500)

    right = msgspec.structs.replace(
        zone("2"),
        outline=(point(600, -120), point(600, 120), point(450, 120), point(450, -120)),
        line=(point(600, -120), point(600, 120)),
    )
    plain = calibration(width_px=WIDTH, height_px=HEIGHT, fx_upx=400_000_000, fy_upx=400_000_000,
                        cx_upx=320_000_000, cy_upx=180_000_000)  # fmt: skip
    return msgspec.structs.replace(
        plain,
        zones=Zones(zones=(zone("1"), right), dealer=point(0, -600)),
        palette=Palette(
            colours=(colour(5, RED), colour(1, WHITE)), felt_lab_e3=tuple(round(v * 1000) for v in lab(np.array(FELT)))
        ),
        time=CameraTime(offset_ns=0, spread_ns=0, readout_ns=0, exposure_ns=0),
    )


class Table:
    """Draws frames of 640 x 360 in linear light, R, G, B."""

    def __init__(self, seed: int = 3) -> None:
        setup = calibrated()
        assert setup.lens is not None
        assert setup.plane is not None
        self.view = View(setup.lens, setup.plane)
        rng = np.random.default_rng(seed)
        grain = cv2.GaussianBlur(rng.normal(1, 0.25, (HEIGHT, WIDTH)).astype(np.float32), (0, 0), 1.2)
        self.bare: Picture = np.array(FELT, np.float32) * grain[..., None]
        for n, text in enumerate(("TEXAS", "HOLD'EM", "NO LIMIT", "CARD ROOM")):
            cv2.putText(self.bare, text, (210 + 20 * n, 90 + 55 * n), 0, 1.0, (0.4, 0.4, 0.3), 2, cv2.LINE_AA)
        self._noise = [rng.normal(0, 0.004, (HEIGHT, WIDTH, 1)).astype(np.float32) for _ in range(4)]
        self.light: float | npt.NDArray[np.float32] = 1.0
        self.shift = (0.0, 0.0)

    def blob(self, picture: Picture, x: float, y: float, radius: float, colour: tuple[float, float, float]) -> None:
        """A disc of mm on the felt."""
        at, edge = self.view.pixels([[x, y], [x + radius, y]])
        cv2.circle(picture, (round(at[0] * 16), round(at[1] * 16)), round(abs(edge[0] - at[0]) * 16), colour, -1,
                   cv2.LINE_AA, 4)  # fmt: skip

    def hand(self, picture: Picture, front_mm: float, y: float = 0.0, colour: tuple[float, float, float] = SKIN,
             sleeve: tuple[float, float, float] = SLEEVE) -> None:  # fmt: skip
        """Seat 1's hand, its foremost point ``front_mm`` over the line."""
        x = -600 + front_mm
        for n in range(12):
            self.blob(picture, x - 140 - 20 * n, y, 38, sleeve)
        for n in range(6):
            self.blob(picture, x - 42 - 16 * n, y, 36, colour)
        self.blob(picture, x - 9, y, 9, colour)
        self.blob(picture, x - 24, y, 9, colour)

    def frame(self, number: int, draw: Callable[[Picture], None] | None = None) -> npt.NDArray[np.uint8]:
        """The picture as a camera gives it (BGR)."""
        picture = self.bare.copy()
        if draw is not None:
            draw(picture)
        lit = picture * self.light + self._noise[number % 4]
        if self.shift != (0.0, 0.0):
            moved = np.array([[1, 0, self.shift[0]], [0, 1, self.shift[1]]], np.float32)
            lit = cv2.warpAffine(lit, moved, (WIDTH, HEIGHT), borderMode=cv2.BORDER_REPLICATE)
        return _SRGB[np.clip(lit[..., ::-1] * 4095, 0, 4095).astype(np.uint16)]


class Show:
    """Shows drawn frames to an eye and keeps what it says."""

    def __init__(self) -> None:
        self.table, self.eye = Table(), Eye(calibrated(), (WIDTH, HEIGHT))
        self.number = 0
        self.seen: list[Observation] = []

    @property
    def now_ns(self) -> int:
        """The stamp of the next frame."""
        return START_NS + self.number * FRAME_NS

    def step(self, draw: Callable[[Picture], None] | None = None, *, count: int = 1) -> list[Observation]:
        """Show so many frames; what was said of them."""
        said: list[Observation] = []
        for _ in range(count):
            said += self.eye.see(self.now_ns, self.table.frame(self.number, draw))
            self.number += 1
        self.seen += said
        return said

    def start(self) -> None:
        """Until the eye may be believed."""
        self.step(count=32)

    def glide(self, keys: list[tuple[float, float]], draw: Callable[[Picture, float], None]) -> list[Observation]:
        """Move something along keys of (ms, mm)."""
        said: list[Observation] = []
        first = self.now_ns
        while (ms := (self.now_ns - first) / 1e6) <= keys[-1][0]:
            where = float(np.interp(ms, [k[0] for k in keys], [k[1] for k in keys]))
            said += self.step(lambda picture, where=where: draw(picture, where))
        return said


def flicker(number: int, depth: float = 0.25, hz: float = 100.0) -> npt.NDArray[np.float32]:
    """The rows' light of a frame under a flickering lamp, with 14 ms of read-out."""
    t = number * FRAME_NS / 1e9 + np.arange(HEIGHT) / HEIGHT * 0.014
    return (1 + depth * np.sin(2 * math.pi * hz * t)).astype(np.float32)[:, None, None]
