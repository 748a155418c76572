"""The felt as seen from straight above: the camera's picture made level and to scale, for drawing and for looking."""

from __future__ import annotations

import cv2
import msgspec
import numpy as np
import numpy.typing as npt

from calibration.optics import Optics, Pose, felt, pixels

Image = npt.NDArray[np.uint8]

MM_PER_PX = 2.0
MAX_REACH_MM = 2500.0
"""From the place under the camera: a tilted camera sees to the horizon."""


class Window(msgspec.Struct, frozen=True):
    """A part of the felt in mm: x from ``left`` to ``right``, y from ``low`` to ``high``, in whole centimetres."""

    left: float
    low: float
    right: float
    high: float

    @property
    def size(self) -> tuple[int, int]:
        """Width and height of its picture in pixels."""
        return round((self.right - self.left) / MM_PER_PX), round((self.high - self.low) / MM_PER_PX)


def window(optics: Optics, pose: Pose) -> Window:
    """The part of the felt that the camera sees."""
    w, h = optics.size
    u, v = np.linspace(0, w - 1, 25), np.linspace(0, h - 1, 15)
    grid = np.stack(np.meshgrid(u, v), axis=-1).reshape(-1, 2)
    rays = np.column_stack([optics.straight(grid), np.ones(len(grid))]) @ pose.rotation
    down = rays[:, 2] < -0.1 * np.hypot(rays[:, 0], rays[:, 1])
    places = felt(optics, pose, grid[down])
    under = pose.eye[:2]
    places = np.clip(places, under - MAX_REACH_MM, under + MAX_REACH_MM)
    low, high = places.min(axis=0), places.max(axis=0)
    return Window(*(float(np.floor(v / 10) * 10) for v in low), *(float(np.ceil(v / 10) * 10) for v in high))


def level(image: Image, optics: Optics, pose: Pose, part: Window) -> Image:
    """``part`` of the felt from above, y upwards, `MM_PER_PX` mm a pixel."""
    width, height = part.size
    x = part.left + (np.arange(width) + 0.5) * MM_PER_PX
    y = part.high - (np.arange(height) + 0.5) * MM_PER_PX
    grid = np.stack(np.meshgrid(x, y), axis=-1).reshape(-1, 2)
    at = pixels(optics, pose, grid).reshape(height, width, 2).astype(np.float32)
    return np.asarray(
        cv2.remap(image, at, np.zeros(0, np.float32), cv2.INTER_AREA, borderMode=cv2.BORDER_CONSTANT), dtype=np.uint8
    )


def on_picture(part: Window, places_mm: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """(n, 2) pixels of `level`'s picture of places (n, 2) on the felt."""
    places = np.asarray(places_mm, dtype=np.float64).reshape(-1, 2)
    return np.column_stack([(places[:, 0] - part.left) / MM_PER_PX, (part.high - places[:, 1]) / MM_PER_PX])
