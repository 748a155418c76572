"""The compositor: draws what moved over what stayed, in linear light, row by row in time.

Each pixel is looked up backwards: its ray meets a sprite's plane, led by the pose at *that row's* instant, so that a
rolling shutter is exact and costs nothing.  What rests is drawn once; of a frame only the rectangles of what moves.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

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
"""x0, y0, x1, y1 in pixels, even."""


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

    def middles(self, r0: int, r1: int) -> Array:
        """Middles of rows ``r0`` to ``r1`` (not included)."""
        return self.start + self.exposure / 2 + self.row * np.arange(r0, r1)


class Piece(msgspec.Struct, frozen=True):
    """A sprite over n rows: led point, yaw, and height ``za + zb * u``; arrays (n,)."""

    sprite: Sprite
    x: Array
    y: Array
    yaw: Array
    za: Array
    zb: Array
    mirrored: bool

    def corners(self) -> Array:
        """(4 * 3, 3) corners at the first, middle and last instant, mm."""
        s, out = self.sprite, []
        for i in (0, len(self.x) // 2, len(self.x) - 1):
            c, d = math.cos(self.yaw[i]), math.sin(self.yaw[i])
            for u in (s.u0, s.u1):
                for v in (s.v0, s.v1):
                    w = -v if self.mirrored else v
                    z = self.za[i] + self.zb[i] * min(max(u, s.u0), s.u1)
                    out.append((self.x[i] + u * c + w * d, self.y[i] + u * d - w * c, z))
        return np.array(out)


def even(x0: float, y0: float, x1: float, y1: float, width: int, height: int, pad: int = 3) -> Rect | None:
    """The even rectangle around, clipped to the picture; None if nothing is left."""
    a, b = max(0, (math.floor(x0) - pad) & ~1), max(0, (math.floor(y0) - pad) & ~1)
    c, d = min(width, (math.ceil(x1) + pad + 1) & ~1), min(height, (math.ceil(y1) + pad + 1) & ~1)
    return (a, b, c, d) if a < c and b < d else None


def meet(a: Rect, b: Rect) -> Rect | None:
    """What two rectangles share."""
    x0, y0, x1, y1 = max(a[0], b[0]), max(a[1], b[1]), min(a[2], b[2]), min(a[3], b[3])
    return (x0, y0, x1, y1) if x0 < x1 and y0 < y1 else None


def over(below: F32, rgba: F32) -> None:
    """Lay premultiplied ``rgba`` on ``below`` in place."""
    below *= 1 - rgba[..., 3:]
    below += rgba[..., :3]


class View:
    """What a camera pose fixes: rays, the lit empty table, and lamps."""

    def __init__(self, eye: Eye, layout: Layout, conditions: Conditions, seed: int, table: F32 | None = None) -> None:
        self.eye, self.layout, self.conditions = eye, layout, conditions
        self.width, self.height = eye.lens.width, eye.lens.height
        self.sx, self.sy = eye.slopes()
        self.fx = (eye.at[0] + self.sx * eye.at[2]).astype(np.float32)
        self.fy = (eye.at[1] + self.sy * eye.at[2]).astype(np.float32)
        rng = np.random.default_rng([seed, 5])
        angle, away = rng.uniform(0, 2 * math.pi), 420.0 + 900.0 * (conditions.key > 0.7 or conditions.lean > 200)
        self.lamp = (away * math.cos(angle), away * 0.7 * math.sin(angle), 1500.0)
        self.light = self._light(rng)
        self.table = paint.table(eye, layout, seed, layout.markers) if table is None else table

    def _light(self, rng: np.random.Generator) -> F32:
        """(h, w, 3): lamp, soft light and the lens's fall-off towards the corners."""
        lx, ly, lz = self.lamp
        square = ((self.fx - lx) ** 2 + (self.fy - ly) ** 2) / lz**2
        key = 1.15 / (1 + square) ** 1.5
        soft = 1.0 - 0.10 * (self.fx / 1300) ** 2 - 0.12 * (self.fy / 900) ** 2
        field = self.conditions.key * key + (1 - self.conditions.key) * soft
        xs = (np.arange(self.width) - self.width / 2) / (self.width / 2)
        ys = (np.arange(self.height) - self.height / 2) / (self.width / 2)
        fall = 1 / (1 + 0.35 * (xs[None, :] ** 2 + ys[:, None] ** 2)) ** 1.2
        tint = np.array([1.02, 1.0, rng.uniform(0.9, 1.0)], np.float32)
        return np.asarray((field * fall * self.conditions.light)[..., None] * tint, np.float32)

    def box(self, points: Array, pad: int = 3) -> Rect | None:
        """The rectangle in which points (n, 3) are seen."""
        p = self.eye.pixels(points)
        low, high = p.min(axis=0), p.max(axis=0)
        return even(low[0], low[1], high[0], high[1], self.width, self.height, pad)

    # -- lookups ----------------------------------------------------------------------------------

    def seen(self, piece: Piece, rect: Rect, first_row: int) -> F32:
        """(h, w, 4) the piece as seen in ``rect``; ``first_row`` is the row of the piece's first entry."""
        x0, y0, x1, y1 = rect
        rows = slice(y0 - first_row, y1 - first_row) if len(piece.x) > 1 else slice(0, 1)
        sx, sy = self.sx[y0:y1, x0:x1], self.sy[y0:y1, x0:x1]
        x, y, yaw, za, zb = (
            v[rows, None].astype(np.float32) for v in (piece.x, piece.y, piece.yaw, piece.za, piece.zb)
        )
        c, d = np.cos(yaw), np.sin(yaw)
        ax, ay, az = (np.float32(v) for v in self.eye.at)
        s = piece.sprite
        # u = (point - led) . forwards with the point at height za + zb * u: linear in u, so solved at once.
        base_u = (ax - x + sx * (az - za)) * c + (ay - y + sy * (az - za)) * d
        lean = 1 + zb * (sx * c + sy * d)
        u = np.clip(base_u / lean, s.u0, s.u1)
        down = az - za - zb * u
        px, py = ax - x + sx * down, ay - y + sy * down
        return self._texel(s.rgba, s, px * c + py * d, px * d - py * c, piece.mirrored, 0.0)

    def shade(self, piece: Piece, rect: Rect, first_row: int, stride: int, lamp: bool, sigma: float) -> F32:
        """(h / stride, w / stride) how much the piece hides of the lamp, or (``lamp`` False) of the sky above."""
        x0, y0, x1, y1 = rect
        fx, fy = self.fx[y0:y1:stride, x0:x1:stride], self.fy[y0:y1:stride, x0:x1:stride]
        rows = slice(y0 - first_row, y1 - first_row, stride) if len(piece.x) > 1 else slice(0, 1)
        x, y, yaw, za, zb = (
            v[rows, None].astype(np.float32) for v in (piece.x, piece.y, piece.yaw, piece.za, piece.zb)
        )
        c, d = np.cos(yaw), np.sin(yaw)
        s = piece.sprite
        px, py = fx - x, fy - y
        u = px * c + py * d
        if lamp:
            lx, ly, lz = self.lamp
            for _ in range(2):
                rise = (za + zb * np.clip(u, s.u0, s.u1)) / lz
                px, py = fx - x + (lx - fx) * rise, fy - y + (ly - fy) * rise
                u = px * c + py * d
        if sigma < 2.5:
            return self._texel(np.ascontiguousarray(s.rgba[..., 3]), s, u, px * d - py * c, piece.mirrored, 0.0)
        texture, margin = s.soft(sigma)
        return self._texel(texture, s, u, px * d - py * c, piece.mirrored, margin)

    @staticmethod
    def _texel(texture: F32, s: Sprite, u: F32, v: F32, mirrored: bool, margin: float) -> F32:
        if mirrored:
            v = -v
        mx = (u - (s.u0 - margin)) * s.scale - 0.5
        my = (v - (s.v0 - margin)) * s.scale - 0.5
        got = cv2.remap(texture, mx.astype(np.float32), my.astype(np.float32), cv2.INTER_LINEAR,
                        borderMode=cv2.BORDER_CONSTANT, borderValue=0)  # fmt: skip
        return np.asarray(got, np.float32)


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
        Piece(anatomy.upper_sprite(arm.skin, arm.cloth), limbs.elbow[:, 0], limbs.elbow[:, 1], limbs.upper_yaw,
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
            _lay(view, image, rect, face, place, turn + 90 + 6 * k, scale)
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
            _lay(view, image, rect, face, place, turn, scale)
    return rect, image


def _lay(view: View, image: F32, rect: Rect, face: F32, place: tuple[float, float, float], turn: float,
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


def smear(rgba: F32, dx: float, dy: float) -> F32:
    """Blur along the way (pixels) that it goes during the exposure."""
    length = math.hypot(dx, dy)
    if length < 0.8:
        return rgba
    n = 2 * math.ceil(length / 2) + 3
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
    return np.asarray(cv2.filter2D(rgba, -1, kernel / kernel.sum(), borderType=cv2.BORDER_CONSTANT), np.float32)


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


def boxes(view: View, pieces: Sequence[Piece], shadow: bool) -> Rect | None:
    """The rectangle in which pieces, and where asked their shadows, are seen."""
    points = np.concatenate([p.corners() for p in pieces])
    if shadow:
        lx, ly, lz = view.lamp
        rise = points[:, 2:] / (lz - points[:, 2:])
        cast = points[:, :2] + (points[:, :2] - np.array([lx, ly])) * rise
        points = np.concatenate([points, np.concatenate([cast, np.zeros((len(cast), 1))], axis=1)])
    return view.box(points, pad=14 if shadow else 4)
