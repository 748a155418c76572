"""A camera of the simulator's own: a lens, where it hangs, and what a pixel sees.

The lens maps the angle theta from its axis to the radius ``f * tan(kappa * theta) / kappa``: a pinhole for kappa = 1,
barrel distortion below.  Its axis may lean against the sensor (decentring).  Both ways are closed formulas, so that
projection and rays agree to rounding; no function of a vision library takes part.
"""

from __future__ import annotations

import math
from functools import cached_property, lru_cache
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
"""Of float64, where not said otherwise."""
Plane32 = npt.NDArray[Any]
"""Of float32."""


@lru_cache(maxsize=64)
def rotation(x: float, y: float, z: float) -> Array:
    """The matrix that turns by ``x``, then ``y``, then ``z`` radians about the fixed axes."""
    cx, sx, cy, sy, cz, sz = math.cos(x), math.sin(x), math.cos(y), math.sin(y), math.cos(z), math.sin(z)
    rx = np.array([[1, 0, 0], [0, cx, -sx], [0, sx, cx]])
    ry = np.array([[cy, 0, sy], [0, 1, 0], [-sy, 0, cy]])
    rz = np.array([[cz, -sz, 0], [sz, cz, 0], [0, 0, 1]])
    return np.asarray(rz @ ry @ rx, np.float64)


class Lens(msgspec.Struct, frozen=True, kw_only=True):
    """Size of the picture, focal length and centre in pixels; ``kappa`` and ``lean`` (radians) as above."""

    width: int
    height: int
    f: float
    cx: float
    cy: float
    kappa: float
    lean: tuple[float, float] = (0.0, 0.0)

    def pixels(self, directions: Array) -> Array:
        """(..., 2) pixels at which directions (..., 3) of the camera's frame (x right, y down, z ahead) are seen."""
        turn = rotation(self.lean[0], self.lean[1], 0.0)
        d = directions @ turn.T
        across = np.hypot(d[..., 0], d[..., 1])
        theta = np.arctan2(across, d[..., 2])
        bent = np.tan(np.minimum(self.kappa * theta, 1.5)) / self.kappa
        scale = np.where(across > 1e-12, bent / np.maximum(across, 1e-12), 1.0 / np.maximum(d[..., 2], 1e-12))
        q = np.stack([d[..., 0] * scale, d[..., 1] * scale, np.ones_like(scale)], axis=-1) @ turn
        return np.stack([self.cx + self.f * q[..., 0] / q[..., 2], self.cy + self.f * q[..., 1] / q[..., 2]], axis=-1)

    def directions(self, pixels: Array) -> Array:
        """(..., 3) directions of the camera's frame that are seen at pixels (..., 2); the inverse of `pixels`."""
        turn = rotation(self.lean[0], self.lean[1], 0.0)
        flat = np.stack([(pixels[..., 0] - self.cx) / self.f, (pixels[..., 1] - self.cy) / self.f], axis=-1)
        q = np.concatenate([flat, np.ones_like(flat[..., :1])], axis=-1) @ turn.T
        x, y = q[..., 0] / q[..., 2], q[..., 1] / q[..., 2]
        radius = np.hypot(x, y)
        theta = np.arctan(self.kappa * radius) / self.kappa
        scale = np.where(radius > 1e-12, np.sin(theta) / np.maximum(radius, 1e-12), 1.0)
        return np.asarray(np.stack([x * scale, y * scale, np.cos(theta)], axis=-1) @ turn, np.float64)


class Eye(msgspec.Struct, frozen=True, kw_only=True, dict=True):
    """A lens at a place above the table: ``at`` in mm, turned by ``tilt`` = (x, y, z) radians from straight down.

    Untilted, the table's x runs to the right of the picture and its y upwards.
    """

    lens: Lens
    at: tuple[float, float, float]
    tilt: tuple[float, float, float]

    @cached_property
    def turn(self) -> Array:
        """Rotation from the table's frame to the camera's."""
        return np.asarray(rotation(*self.tilt) @ np.diag([1.0, -1.0, -1.0]), np.float64)

    def pixels(self, points: Array) -> Array:
        """(..., 2) pixels of points (..., 3) of the table, mm."""
        return self.lens.pixels((points - np.array(self.at)) @ self.turn.T)

    def on_plane(self, pixels: Array, z: float = 0.0) -> Array:
        """(..., 2) places at height ``z`` that are seen at pixels (..., 2)."""
        d = self.lens.directions(pixels) @ self.turn
        reach = (z - self.at[2]) / d[..., 2]
        return np.stack([self.at[0] + reach * d[..., 0], self.at[1] + reach * d[..., 1]], axis=-1)

    def seen_on_felt(self, points: Array) -> Array:
        """(..., 2) places of the felt that points (..., 3) hide from the camera: where parallax shows them."""
        reach = self.at[2] / (self.at[2] - points[..., 2])
        here = np.array(self.at[:2])
        return np.asarray(here + (points[..., :2] - here) * reach[..., None], np.float64)

    def slopes(self, cell: float = 1.0, around: int = 0) -> tuple[Plane32, Plane32]:
        """For the middle of each cell of ``cell`` pixels: mm to x and to y that its ray runs for each mm down.

        A point at height z is at ``at + slope * (at.z - z)``.  ``around`` adds so many cells on each side.
        """
        xs = (np.arange(-around, round(self.lens.width / cell) + around) + 0.5) * cell - 0.5
        ys = (np.arange(-around, round(self.lens.height / cell) + around) + 0.5) * cell - 0.5
        grid = np.stack(np.meshgrid(xs, ys), axis=-1)
        d = self.lens.directions(grid) @ self.turn
        return (-d[..., 0] / d[..., 2]).astype(np.float32), (-d[..., 1] / d[..., 2]).astype(np.float32)
