"""The compositor: draws what moved over what stayed, in linear light, row by row in time.

Each pixel is looked up backwards: its ray meets a sprite's plane, led by the pose at *that row's* instant, so that a
rolling shutter is exact and costs nothing.  What rests is drawn once; of a frame only the rectangles of what moves.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from functools import lru_cache

import cv2
import msgspec
import numpy as np

from hw_sim.scene import anatomy, paint
from hw_sim.scene.anatomy import FORE_MM, UPPER_MM, Sprite
from hw_sim.scene.conditions import Conditions
from hw_sim.scene.layout import Layout
from hw_sim.scene.lens import Array, Eye
from hw_sim.scene.motion import LIFT_MM, Arm, Body, Thing
from hw_sim.scene.paint import CHIP_HEIGHT_MM, F32

Rect = tuple[int, int, int, int]
"""x0, y0, x1, y1 in pixels, multiples of `CELL`."""
CELL = 8
"""Rays, poses and times are worked out once for so many pixels each way; between, they are straight to a thousandth."""
_AROUND = 3


class Shutter(msgspec.Struct, frozen=True):
    """When rows are exposed, in seconds: row r from ``start + r * row`` for ``exposure``."""

    start: float
    row: float
    exposure: float
    rows: int

    @property
    def end(self) -> float:
        """When the last row has been exposed."""
        return self.start + self.row * (self.rows - 1) + self.exposure

    def middle(self, row: float) -> float:
        """Middle of a row's exposure."""
        return self.start + self.row * row + self.exposure / 2

    def middles(self, c0: int, c1: int) -> Array:
        """Middles of exposure in the middle of the rows of cells ``c0`` to ``c1`` (not included)."""
        return self.start + self.exposure / 2 + self.row * ((np.arange(c0, c1) + 0.5) * CELL - 0.5)


class Piece(msgspec.Struct, frozen=True):
    """A sprite over n rows of cells: led point, yaw, and height ``za + zb * u``; arrays (n,)."""

    sprite: Sprite
    x: Array
    y: Array
    yaw: Array
    za: Array
    zb: Array
    mirrored: bool

    def corners(self) -> Array:
        """(8, 3) corners at the first and the last instant, mm."""
        s, out = self.sprite, []
        for i in (0, len(self.x) - 1):
            c, d = math.cos(self.yaw[i]), math.sin(self.yaw[i])
            for u in (s.u0, s.u1):
                for v in (s.v0, s.v1):
                    w = -v if self.mirrored else v
                    z = self.za[i] + self.zb[i] * min(max(u, s.u0), s.u1)
                    out.append((self.x[i] + u * c + w * d, self.y[i] + u * d - w * c, z))
        return np.array(out)


def cells(box: tuple[float, float, float, float], size: tuple[int, int], pad: int = 3) -> Rect | None:
    """The rectangle of whole cells around a box, clipped to the picture's size; None if nothing is left."""
    (x0, y0, x1, y1), (width, height) = box, size
    a, b = max(0, math.floor((x0 - pad) / CELL) * CELL), max(0, math.floor((y0 - pad) / CELL) * CELL)
    c, d = min(width, math.ceil((x1 + pad) / CELL) * CELL), min(height, math.ceil((y1 + pad) / CELL) * CELL)
    return (a, b, c, d) if a < c and b < d else None


def meet(a: Rect, b: Rect) -> Rect | None:
    """What two rectangles share."""
    x0, y0, x1, y1 = max(a[0], b[0]), max(a[1], b[1]), min(a[2], b[2]), min(a[3], b[3])
    return (x0, y0, x1, y1) if x0 < x1 and y0 < y1 else None


def over(below: F32, planes: Sequence[F32]) -> None:
    """Lay premultiplied red, green, blue, cover (h, w) on ``below`` (3 or 4, h, w) in place."""
    left = 1 - planes[3]
    for k in range(len(below)):
        below[k] *= left
        below[k] += planes[k]


class View:
    """What a camera pose fixes: rays, the lit empty table, and lamps."""

    def __init__(self, eye: Eye, layout: Layout, conditions: Conditions, seed: int) -> None:
        self.eye, self.layout, self.conditions = eye, layout, conditions
        self.size = self.width, self.height = eye.lens.width, eye.lens.height
        self.sx, self.sy = eye.slopes(CELL, _AROUND)
        self.fx = (eye.at[0] + self.sx * eye.at[2]).astype(np.float32)
        self.fy = (eye.at[1] + self.sy * eye.at[2]).astype(np.float32)
        rng = np.random.default_rng([seed, 5])
        angle, away = rng.uniform(0, 2 * math.pi), 420.0 + 900.0 * (conditions.key > 0.7 or conditions.lean > 200)
        self.lamp = (away * math.cos(angle), away * 0.7 * math.sin(angle), 1500.0)
        self.light = self._light(rng)
        self.table: F32 = np.ascontiguousarray(paint.table(eye, layout, seed).transpose(2, 0, 1))
        """(3, h, w), unlit."""

    def _light(self, rng: np.random.Generator) -> F32:
        """(3, h, w): lamp, soft light and the lens's fall-off towards the corners."""
        lx, ly, lz = self.lamp
        fx, fy = (self._fine(f, (0, 0, self.width, self.height), 1) for f in (self.fx, self.fy))
        square = ((fx - lx) ** 2 + (fy - ly) ** 2) / lz**2
        key = 1.15 / (1 + square) ** 1.5
        soft = 1.0 - 0.10 * (fx / 1300) ** 2 - 0.12 * (fy / 900) ** 2
        field = self.conditions.key * key + (1 - self.conditions.key) * soft
        xs = (np.arange(self.width) - self.width / 2) / (self.width / 2)
        ys = (np.arange(self.height) - self.height / 2) / (self.width / 2)
        fall = 1 / (1 + 0.35 * (xs[None, :] ** 2 + ys[:, None] ** 2)) ** 1.2
        tint = np.array([1.02, 1.0, rng.uniform(0.9, 1.0)], np.float32)[:, None, None]
        return np.asarray(field * fall * self.conditions.light * tint, np.float32)

    def box(self, points: Array, pad: int = 3) -> Rect | None:
        """The rectangle in which points (n, 3) are seen."""
        p = self.eye.pixels(points)
        low, high = p.min(axis=0), p.max(axis=0)
        return cells((low[0], low[1], high[0], high[1]), self.size, pad)

    # -- lookups ----------------------------------------------------------------------------------

    @staticmethod
    def _window(rect: Rect) -> tuple[slice, slice]:
        """Rows and columns of the grids of cells for a rectangle and one cell around it."""
        x0, y0, x1, y1 = (v // CELL + _AROUND for v in rect)
        return slice(y0 - 1, y1 + 1), slice(x0 - 1, x1 + 1)

    def _fine(self, grid: F32, rect: Rect, stride: int) -> F32:
        """Values of a grid of cells at each ``stride``-th pixel of a rectangle."""
        if grid.shape[0] == self.sx.shape[0]:
            grid = grid[self._window(rect)]
        k = CELL // stride
        size = (grid.shape[1] * k, grid.shape[0] * k)
        grown = cv2.resize(grid, size, interpolation=cv2.INTER_LINEAR) if k > 1 else grid
        return np.asarray(grown[k:-k, k:-k], np.float32)

    def seen(self, piece: Piece, rect: Rect, first: int) -> Sequence[F32]:
        """Red, green, blue and cover (h, w) of the piece in ``rect``; its first entry is for row of cells ``first``."""
        window = self._window(rect)
        sx, sy = self.sx[window], self.sy[window]
        x, y, c, d, za, zb = _led(piece, rect, first)
        ax, ay, az = (np.float32(v) for v in self.eye.at)
        s = piece.sprite
        # u = (point - led) . forwards with the point at height za + zb * u: linear in u, so solved at once.
        base_u = (ax - x + sx * (az - za)) * c + (ay - y + sy * (az - za)) * d
        u = np.clip(base_u / (1 + zb * (sx * c + sy * d)), s.u0, s.u1)
        down = az - za - zb * u
        px, py = ax - x + sx * down, ay - y + sy * down
        got = self._texel(s.rgba, piece, px * c + py * d, px * d - py * c, rect, stride=1, grain=(0.0, s.scale))
        return [np.asarray(plane) for plane in cv2.split(got)]

    def shade(self, piece: Piece, rect: Rect, first: int, *, stride: int, lamp: bool, sigma: float) -> F32:
        """(h / stride, w / stride) how much the piece hides of the lamp, or (``lamp`` False) of the sky above."""
        window = self._window(rect)
        fx, fy = self.fx[window], self.fy[window]
        x, y, c, d, za, zb = _led(piece, rect, first)
        s = piece.sprite
        px, py = fx - x, fy - y
        u = px * c + py * d
        if lamp:
            lx, ly, lz = self.lamp
            for _ in range(2):
                rise = (za + zb * np.clip(u, s.u0, s.u1)) / lz
                px, py = fx - x + (lx - fx) * rise, fy - y + (ly - fy) * rise
                u = px * c + py * d
        texture, margin, scale = s.soft(sigma) if sigma >= 2.5 else (s.cover, 0.0, s.scale)
        return self._texel(texture, piece, u, px * d - py * c, rect, stride=stride, grain=(margin, scale))

    def _texel(self, texture: F32, piece: Piece, u: F32, v: F32, rect: Rect, *, stride: int,
               grain: tuple[float, float]) -> F32:  # fmt: skip
        s, (margin, scale) = piece.sprite, grain
        if piece.mirrored:
            v = -v
        mx = self._fine((u - (s.u0 - margin)) * scale - 0.5, rect, stride)
        my = self._fine((v - (s.v0 - margin)) * scale - 0.5, rect, stride)
        got = cv2.remap(texture, mx, my, cv2.INTER_LINEAR, borderMode=cv2.BORDER_CONSTANT, borderValue=0)
        return np.asarray(got, np.float32)


def _led(piece: Piece, rect: Rect, first: int) -> tuple[F32, ...]:
    """x, y, cosine, sine, za, zb of a piece as columns for the rows of cells of a rectangle and one around."""
    rows = slice(0, 1)
    if len(piece.x) > 1:
        rows = slice(rect[1] // CELL - 1 - first, rect[3] // CELL + 1 - first)
    x, y, yaw, za, zb = (v[rows, None].astype(np.float32) for v in (piece.x, piece.y, piece.yaw, piece.za, piece.zb))
    return x, y, np.cos(yaw), np.sin(yaw), za, zb


# -- what is drawn --------------------------------------------------------------------------------


def arm_pieces(arm: Arm, times: Array) -> list[Piece]:
    """Upper arm, hand and forearm at the times of some rows, from below to above."""
    limbs = arm.limbs(times)
    step = arm.pose_step(float(times[len(times) // 2]))
    form = anatomy.hand(step)
    slope = np.full_like(limbs.x, -LIFT_MM / form.length)
    mirrored = not arm.right
    fore_slope = (limbs.wrist[:, 2] - limbs.elbow[:, 2]) / FORE_MM
    upper_slope = np.full_like(limbs.x, (arm.elbow_z - arm.shoulder_z) / UPPER_MM)
    return [
        Piece(anatomy.upper_sprite(arm.cloth), limbs.elbow[:, 0], limbs.elbow[:, 1], limbs.upper_yaw,
              limbs.elbow[:, 2] + 40, upper_slope, mirrored),
        Piece(anatomy.hand_sprite(step, arm.skin), limbs.x, limbs.y, limbs.yaw, limbs.z, slope, mirrored),
        Piece(anatomy.forearm_sprite(arm.skin, arm.cloth), limbs.wrist[:, 0], limbs.wrist[:, 1], limbs.fore_yaw,
              limbs.wrist[:, 2] + 4, fore_slope, mirrored),
    ]  # fmt: skip


def body_pieces(body: Body, pose: tuple[float, float, float]) -> list[Piece]:
    """Trunk and head."""
    sprites = (anatomy.trunk_sprite(body.cloth, body.skin), anatomy.head_sprite(body.skin, body.hair))
    out = []
    for sprite, (x, y, z, yaw) in zip(sprites, body.places(pose), strict=True):
        out.append(Piece(sprite, np.array([x]), np.array([y]), np.array([yaw]), np.array([z]), np.zeros(1), False))
    return out


def thing_image(view: View, thing: Thing, where: tuple[float, float, float, float]) -> tuple[Rect, F32] | None:
    """A pile or cards as (rectangle, premultiplied picture); None when out of the picture."""
    x, y, z, turn = where
    tall = CHIP_HEIGHT_MM * len(thing.chips) + 2
    size = 30.0 if thing.kind == "chips" else 78.0
    lx, ly = (abs(v) * len(thing.chips) for v in thing.lean)
    around = [
        (x + i * (size + lx), y + j * (size + ly), z + k * tall) for i in (-1, 1) for j in (-1, 1) for k in (0, 1)
    ]
    rect = view.box(np.array(around))
    if rect is None:
        return None
    image = np.zeros((rect[3] - rect[1], rect[2] - rect[0], 4), np.float32)
    if thing.kind == "cards":
        for k, (rank, suit) in enumerate(thing.faces):
            scale = 1.0
            face = paint.card_face(rank, suit, scale)
            place = (x + k * 9.0 - 4.0, y + k * 5.0, z + 0.4)
            _lay(view, image, rect, face, place=place, turn=turn + 90 + 6 * k, scale=scale)
        return rect, image
    scale = 0.5 if view.width <= 1400 else 1.0
    for k, kind in enumerate(thing.chips):
        sx, sy = thing.shifts[k] if k < len(thing.shifts) else (0.0, 0.0)
        spin = thing.turns[k] if k < len(thing.turns) else 0
        last = k == len(thing.chips) - 1
        for level, rim in ((0.0, True), (0.5, True), (1.0, not last)):
            face = paint.chip_side(kind, spin, scale) if rim else paint.chip_face(kind, spin, scale)
            if rim and not last and level == 0.5:
                continue
            place = (x + thing.lean[0] * k + sx, y + thing.lean[1] * k + sy, z + CHIP_HEIGHT_MM * (k + level))
            _lay(view, image, rect, face, place=place, turn=turn, scale=scale)
    return rect, image


def _lay(view: View, image: F32, rect: Rect, face: F32, *, place: tuple[float, float, float], turn: float,
         scale: float) -> None:  # fmt: skip
    """Lay a flat sprite, centred on ``place`` and turned by ``turn`` degrees, over ``image``."""
    x, y, z = place
    c, s = math.cos(math.radians(turn)), math.sin(math.radians(turn))
    half_u, half_v = face.shape[1] / scale / 2, face.shape[0] / scale / 2
    p = view.eye.pixels(
        np.array([(x, y, z), (x + half_u * c, y + half_u * s, z), (x + half_v * s, y - half_v * c, z)])
    ) - np.array(rect[:2])
    a, b = (p[1] - p[0]) / (face.shape[1] / 2), (p[2] - p[0]) / (face.shape[0] / 2)
    offset = p[0] - a * (face.shape[1] / 2 - 0.5) - b * (face.shape[0] / 2 - 0.5)
    matrix = np.array([[a[0], b[0], offset[0]], [a[1], b[1], offset[1]]])
    size = (image.shape[1], image.shape[0])
    drawn = cv2.warpAffine(face, matrix, size, flags=cv2.INTER_LINEAR, borderMode=cv2.BORDER_CONSTANT)
    image *= 1 - drawn[..., 3:]
    image += drawn


@lru_cache(maxsize=512)
def _line(tenths_x: int, tenths_y: int) -> F32:
    """A kernel that is a straight line of so many tenths of a pixel."""
    dx, dy = tenths_x / 10, tenths_y / 10
    n = 2 * math.ceil(math.hypot(dx, dy) / 2) + 3
    kernel = np.zeros((n, n), np.float32)
    steps = max(8, 4 * n)
    for k in range(steps):
        s = (k + 0.5) / steps - 0.5
        px, py = n / 2 - 0.5 + s * dx, n / 2 - 0.5 + s * dy
        i, j = math.floor(px), math.floor(py)
        fx, fy = px - i, py - j
        for oy, wy in ((0, 1 - fy), (1, fy)):
            for ox, wx in ((0, 1 - fx), (1, fx)):
                if 0 <= i + ox < n and 0 <= j + oy < n:
                    kernel[j + oy, i + ox] += wx * wy
    return np.asarray(kernel / kernel.sum(), np.float32)


def smear(planes: Sequence[F32], dx: float, dy: float) -> Sequence[F32]:
    """Blur along the way (pixels) that it goes during the exposure."""
    if math.hypot(dx, dy) < 0.6:
        return planes
    limit = 60 / max(60.0, math.hypot(dx, dy))
    kernel = _line(round(dx * limit * 10), round(dy * limit * 10))
    return [np.asarray(cv2.filter2D(p, -1, kernel, borderType=cv2.BORDER_CONSTANT), np.float32) for p in planes]


def union(rects: Iterable[Rect]) -> list[Rect]:
    """Rectangles that overlap become one, until none do."""
    out: list[Rect] = []
    for rect in rects:
        merged = rect
        again = True
        while again:
            again = False
            for other in out:
                if meet(other, merged):
                    out.remove(other)
                    merged = (min(merged[0], other[0]), min(merged[1], other[1]), max(merged[2], other[2]),
                              max(merged[3], other[3]))  # fmt: skip
                    again = True
                    break
        out.append(merged)
    return out


def boxes(view: View, pieces: Sequence[Piece], *, shadow: bool) -> list[Rect | None]:
    """For each piece the rectangle in which it, and where asked its shadow, is seen."""
    corners = np.stack([p.corners() for p in pieces])
    if shadow:
        lx, ly, lz = view.lamp
        rise = corners[..., 2:] / (lz - corners[..., 2:])
        cast = np.zeros_like(corners)
        cast[..., :2] = corners[..., :2] + (corners[..., :2] - np.array([lx, ly])) * rise
        corners = np.concatenate([corners, cast], axis=1)
    pixels = view.eye.pixels(corners)
    pad = 14 if shadow else 4
    return [
        cells((*low, *high), view.size, pad) for low, high in zip(pixels.min(axis=1), pixels.max(axis=1), strict=True)
    ]


def around(rects: Iterable[Rect | None]) -> Rect | None:
    """The smallest rectangle around all that are not None."""
    left = [r for r in rects if r]
    if not left:
        return None
    x0, y0, x1, y1 = zip(*left, strict=True)
    return min(x0), min(y0), max(x1), max(y1)
