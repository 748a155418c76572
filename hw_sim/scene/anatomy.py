"""Hands, arms, heads and trunks as relief sprites: jointed fingers of tapered bones, shaded from above.

A sprite has its own plane in mm: u forwards, v to the right, its origin at the point that is led (the foremost finger
tip, the wrist end of a forearm, the crown of a head).  Relief is in its shading; its height over the felt is given when
it is drawn.
"""

from __future__ import annotations

import math
from functools import lru_cache

import cv2
import msgspec
import numpy as np

from hw_sim.scene.layout import RGB, linear
from hw_sim.scene.paint import F32

FINE = 2.0
"""Pixels a mm at which reliefs are made."""
COARSE = 0.8
"""Pixels a mm at which sprites are kept: about twice the picture's."""

SKINS: tuple[RGB, ...] = (
    linear(226, 180, 152), linear(205, 150, 118), linear(172, 116, 84), linear(126, 80, 56), linear(84, 54, 40),
)  # fmt: skip
FORE_MM, UPPER_MM = 250.0, 290.0


class Sprite:
    """``rgba`` (h, w, 4) premultiplied light; the pixel of (u, v) is ((u - u0) * scale, (v - v0) * scale)."""

    def __init__(self, rgba: F32, u0: float, v0: float, scale: float) -> None:
        self.rgba = np.ascontiguousarray(rgba, np.float32)
        self.u0, self.v0, self.scale = u0, v0, scale
        h, w = rgba.shape[:2]
        self.u1, self.v1 = u0 + w / scale, v0 + h / scale
        self.cover = np.ascontiguousarray(self.rgba[..., 3])
        self._soft: dict[int, tuple[F32, float, float]] = {}

    def soft(self, sigma_mm: float) -> tuple[F32, float, float]:
        """The cover alone, blurred by about ``sigma_mm``: texture, margin in mm on each side, pixels a mm."""
        step = max(1, round(sigma_mm / 4))
        if step not in self._soft:
            sigma = step * 4.0
            scale = min(self.scale, 3.0 / sigma)
            h, w = self.cover.shape
            pad = math.ceil(2.5 * sigma * self.scale)
            grown = cv2.copyMakeBorder(self.cover, pad, pad, pad, pad, cv2.BORDER_CONSTANT, value=0)
            less = scale / self.scale
            size = (max(2, round((w + 2 * pad) * less)), max(2, round((h + 2 * pad) * less)))
            small = cv2.resize(grown, size, interpolation=cv2.INTER_AREA)
            real = size[0] * self.scale / (w + 2 * pad)
            soft = cv2.GaussianBlur(small, (0, 0), sigma * real)
            self._soft[step] = (np.asarray(soft, np.float32), pad / self.scale, real)
        return self._soft[step]


class _Relief:
    """A height field built of tapered bones."""

    def __init__(self, u0: float, u1: float, v0: float, v1: float, fine: float = FINE) -> None:
        self.u0, self.v0, self.fine = u0, v0, fine
        w, h = round((u1 - u0) * fine), round((v1 - v0) * fine)
        self.height = np.full((h, w), -60.0, np.float32)
        self.cover = np.zeros((h, w), np.float32)

    def bone(self, a: tuple[float, float, float], b: tuple[float, float, float], ra: float, rb: float, *,
             flat: float = 1.0, blend: float = 3.0) -> None:  # fmt: skip
        """Add a bone from ``a`` to ``b`` (u, v, w) with radii at both ends; ``flat`` below 1 makes it broad and low."""
        pad = max(ra, rb) + 2
        x0 = max(0, math.floor((min(a[0], b[0]) - pad - self.u0) * self.fine))
        x1 = min(self.height.shape[1], math.ceil((max(a[0], b[0]) + pad - self.u0) * self.fine))
        y0 = max(0, math.floor((min(a[1], b[1]) - pad - self.v0) * self.fine))
        y1 = min(self.height.shape[0], math.ceil((max(a[1], b[1]) + pad - self.v0) * self.fine))
        if x0 >= x1 or y0 >= y1:
            return
        us = ((np.arange(x0, x1) + 0.5) / self.fine + self.u0).astype(np.float32)[None, :]
        vs = ((np.arange(y0, y1) + 0.5) / self.fine + self.v0).astype(np.float32)[:, None]
        du, dv = b[0] - a[0], b[1] - a[1]
        t = np.clip(((us - a[0]) * du + (vs - a[1]) * dv) / max(du * du + dv * dv, 1e-3), 0, 1)
        radius = ra + (rb - ra) * t
        away = np.hypot(us - a[0] - t * du, vs - a[1] - t * dv)
        rise = a[2] + (b[2] - a[2]) * t + flat * np.sqrt(np.maximum(radius**2 - away**2, 0))
        new = np.where(away < radius + 0.5, rise, -60.0)
        old = self.height[y0:y1, x0:x1]
        near = np.maximum(blend - np.abs(old - new), 0)
        self.height[y0:y1, x0:x1] = np.maximum(old, new) + near * near / (4 * blend)
        edge = np.clip((radius - away) * self.fine + 0.5, 0, 1)
        self.cover[y0:y1, x0:x1] = np.maximum(self.cover[y0:y1, x0:x1], edge)

    def shade(self) -> F32:
        """(h, w) light on it from above and a little from one side, darker in its creases."""
        filled = np.where(self.cover > 0.02, self.height, self.height[self.cover > 0.02].min() - 4)
        smooth = cv2.GaussianBlur(filled, (0, 0), 1.2 * self.fine)
        dv, du = np.gradient(smooth, np.float32(1 / self.fine))
        up = 1 / np.sqrt(1 + du**2 + dv**2)
        crease = np.clip((cv2.GaussianBlur(filled, (0, 0), 3.5 * self.fine) - smooth) / 9.0, 0, 1)
        lit = 0.42 + 0.58 * up + 0.05 * (-0.5 * du - 0.5 * dv) * up
        return np.asarray(lit * (1 - 0.55 * crease), np.float32)

    def grid(self) -> tuple[F32, F32]:
        """u as a row and v as a column, of the pixels' middles."""
        h, w = self.cover.shape
        us = ((np.arange(w) + 0.5) / self.fine + self.u0).astype(np.float32)[None, :]
        return us, ((np.arange(h) + 0.5) / self.fine + self.v0).astype(np.float32)[:, None]

    def sprite(self, rgb: F32, cover: F32) -> Sprite:
        """The relief as a sprite of these colours."""
        whole = np.concatenate([rgb * cover[..., None], cover[..., None]], axis=2).astype(np.float32)
        ratio = COARSE / self.fine
        size = (round(cover.shape[1] * ratio), round(cover.shape[0] * ratio))
        grown = cv2.resize(whole, size, interpolation=cv2.INTER_AREA)
        return Sprite(np.asarray(grown, np.float32), self.u0, self.v0, COARSE)


# -- the hand -------------------------------------------------------------------------------------


class Hand(msgspec.Struct, frozen=True):
    """A hand's form: relief, cover, redness, nails, and its finger tips (u, v) from the foremost one; its length."""

    shade: F32
    cover: F32
    red: F32
    nail: F32
    u0: float
    v0: float
    length: float
    tips: tuple[tuple[float, float], ...]


_FINGERS = (
    # base u, base v, three lengths, radius, spread when open (degrees)
    (92.0, -27.0, (44.0, 25.0, 21.0), 8.6, -9.0),
    (97.0, -8.0, (48.0, 29.0, 22.0), 8.9, -2.0),
    (92.0, 11.0, (45.0, 27.0, 22.0), 8.4, 5.0),
    (83.0, 28.0, (35.0, 20.0, 19.0), 7.2, 13.0),
)
_PUSH, _GRIP, _OPEN = (38.0, 42.0, 26.0, 0.15), (24.0, 34.0, 22.0, -0.25), (8.0, 17.0, 9.0, 1.0)
"""Flexion of the three joints in degrees, and how far the fingers are spread."""
POSES = 20
"""Steps of a pose between pushing (-1), gripping (0) and open (1)."""


def _joint_angles(pose: float) -> tuple[float, ...]:
    low, high, t = (_PUSH, _GRIP, pose + 1) if pose < 0 else (_GRIP, _OPEN, pose)
    return tuple(a + (b - a) * t for a, b in zip(low, high, strict=True))


@lru_cache(maxsize=4 * POSES)
def hand(step: int) -> Hand:
    """A right hand in pose ``step / POSES`` (-1 pushes with bent fingers, 0 grips a chip, 1 is open)."""
    mcp, pip, dip, spread = _joint_angles(step / POSES)
    relief = _Relief(-40, 215, -95, 75)
    palm_w = 26.0
    relief.bone((-10, 0, 20), (8, 0, 22), 24.5, 25, flat=0.7, blend=8)
    for base_u, base_v, _, _, _ in _FINGERS:
        relief.bone((4, base_v * 0.62, 22), (base_u - 3, base_v, palm_w), 17, 11.8, flat=0.75, blend=9)
    relief.bone((10, -10, 18), (56, -30, 20), 20, 14, flat=0.75, blend=9)
    red = np.zeros_like(relief.cover)
    nail = np.zeros_like(relief.cover)
    tips: list[tuple[float, float]] = []
    for number, (base_u, base_v, lengths, radius, fan) in enumerate(_FINGERS):
        aim = math.radians(fan * spread + (-2.2, -0.5, 1.0, 2.4)[number])
        at, pitch = (base_u, base_v, palm_w), 0.0
        _spot(relief, red, at[0], at[1], 9.0)
        for joint, (bend, length) in enumerate(zip((mcp, pip, dip), lengths, strict=True)):
            pitch += math.radians(bend * (1 + 0.07 * (number - 1)))
            reach = length * math.cos(pitch)
            to = (at[0] + reach * math.cos(aim), at[1] + reach * math.sin(aim), at[2] - length * math.sin(pitch))
            ra = radius * (1.13 - 0.12 * joint)
            rb = radius * (1.02 - 0.13 * joint) * (0.92 if joint == 2 else 1.0)
            relief.bone(at, to, ra, rb, blend=2.0)
            if joint < 2:
                _spot(relief, red, to[0], to[1], 5.5)
            at = to
        back = 0.30 * lengths[2]
        _spot(relief, nail, at[0] - back * math.cos(aim), at[1] - back * math.sin(aim), 4.6, sharp=True)
        tips.append((at[0] + rb * math.cos(aim), at[1] + rb * math.sin(aim)))
    tips.append(_thumb(relief, nail, spread, mcp))
    foremost = max(tips)
    u, v = foremost
    return Hand(
        shade=relief.shade(), cover=relief.cover, red=red, nail=nail, u0=relief.u0 - u, v0=relief.v0 - v, length=u,
        tips=tuple((a - u, b - v) for a, b in tips),
    )  # fmt: skip


def _thumb(relief: _Relief, nail: F32, spread: float, mcp: float) -> tuple[float, float]:
    aim = math.radians(-50 + 0.9 * mcp - 14 * max(spread, 0))
    at = (22.0, -22.0, 18.0)
    turn = math.radians(14 + 0.55 * mcp)
    for k, (length, ra, rb) in enumerate(((42.0, 15.0, 11.5), (33.0, 11.2, 10.0), (25.0, 10.0, 7.4))):
        to = (at[0] + length * math.cos(aim), at[1] + length * math.sin(aim), at[2] - 5)
        relief.bone(at, to, ra, rb, blend=5.0 if k == 0 else 2.5)
        at, aim = to, aim + turn
    aim -= turn
    _spot(relief, nail, at[0] - 5 * math.cos(aim), at[1] - 5 * math.sin(aim), 5.4, sharp=True)
    return at[0] + 7.4 * math.cos(aim), at[1] + 7.4 * math.sin(aim)


def _spot(relief: _Relief, mask: F32, u: float, v: float, radius: float, *, sharp: bool = False) -> None:
    us, vs = relief.grid()
    away = ((us - u) ** 2 + (vs - v) ** 2) / radius**2
    new = np.clip((1 - away) * 2.5, 0, 1) if sharp else np.exp(-away)
    np.maximum(mask, new, out=mask, casting="unsafe")


def _sprite(rgb: F32, cover: F32, u0: float, v0: float) -> Sprite:
    relief = _Relief(u0, u0 + 1, v0, v0 + 1)
    return relief.sprite(rgb, cover)


@lru_cache(maxsize=256)
def hand_sprite(step: int, skin: int) -> Sprite:
    """The hand of a pose in one of the `SKINS`."""
    form = hand(step)
    base = np.array(SKINS[skin], np.float32)
    rosy = base * np.array([1.04, 0.80, 0.76], np.float32)
    nails = np.minimum(base * np.array([1.12, 1.08, 1.12], np.float32) + 0.03, 1)
    rng = np.random.default_rng(skin)
    mottle = cv2.GaussianBlur(rng.standard_normal(form.cover.shape).astype(np.float32), (0, 0), 3.0) * 0.25
    colour = base + (rosy - base) * (0.75 * form.red)[..., None]
    colour = colour + (nails - colour) * (0.8 * form.nail)[..., None]
    return _sprite(colour * (form.shade * (1 + mottle))[..., None], form.cover, form.u0, form.v0)


# -- arms -----------------------------------------------------------------------------------------


class Cloth(msgspec.Struct, frozen=True):
    """A sleeve: colour in linear light, how much bare arm shows before the wrist (mm), and how strongly it folds."""

    colour: RGB
    bare: float = 12.0
    folds: float = 0.22
    check: bool = False


@lru_cache(maxsize=128)
def forearm_sprite(skin: int, cloth: Cloth) -> Sprite:
    """From the elbow (u = -FORE_MM) to the wrist (u = 0): skin, and the sleeve over it."""
    reach = FORE_MM
    arm = _Relief(-reach - 55, 30, -62, 62, 1.6)
    arm.bone((-reach, 0, 0), (-95, 0, 0), 41, 36, flat=0.9)
    arm.bone((-95, 0, 0), (6, 0, 0), 36, 25.5, flat=0.85)
    bare = np.array(SKINS[skin], np.float32) * arm.shade()[..., None]
    sleeve = _Relief(-reach - 55, 30, -62, 62, 1.6)
    end = -cloth.bare
    if end > -reach + 20:
        sleeve.bone((-reach, 0, 0), (end - 60, 0, 0), 52, 43, flat=0.9)
        sleeve.bone((end - 60, 0, 0), (end - 14, 0, 0), 43, 35.5, flat=0.85)
        sleeve.bone((end - 16, 0, 2), (end - 8, 0, 2), 35.5, 35, flat=0.85)
    cover = sleeve.cover
    us, vs = arm.grid()
    cut = np.clip((end - us) * arm.fine + 0.5, 0, 1)
    cover = np.minimum(cover, cut).astype(np.float32)
    cloth_light = _woven(cloth, sleeve, us, vs) if end > -reach + 20 else bare
    hem = 1 - 0.35 * np.exp(-(((us - end + 16) / 2.2) ** 2)) - 0.5 * np.clip((us - end + 2) / 2, 0, 1)
    rgb = bare * (1 - cover[..., None]) + cloth_light * (cover * hem)[..., None] * 1.0
    # The skin fades into the hand below it, so that a bent wrist shows no seam.
    skin_cover = arm.cover * np.clip((6 - us) / 22, 0, 1)
    return arm.sprite(rgb.astype(np.float32), np.maximum(skin_cover, cover))


def _woven(cloth: Cloth, relief: _Relief, us: F32, vs: F32) -> F32:
    rng = np.random.default_rng([int(1000 * c) for c in cloth.colour])
    h, w = relief.cover.shape
    small = rng.standard_normal((round(h / relief.fine / 24) + 4, round(w / relief.fine / 11) + 4)).astype(np.float32)
    folds = cv2.resize(small, (w, h), interpolation=cv2.INTER_CUBIC)
    thread = cv2.GaussianBlur(rng.standard_normal((h, w)).astype(np.float32), (0, 0), 0.9) * 0.10
    light = relief.shade() * np.clip(1 + cloth.folds * folds + thread, 0.25, 1.8)
    colour = np.array(cloth.colour, np.float32) * np.ones((h, w, 1), np.float32)
    if cloth.check:
        stripes = ((np.mod(us, 26) < 9) * 0.5 + (np.mod(vs, 26) < 9) * 0.5)[..., None]
        colour *= np.asarray(1 - 0.65 * stripes, np.float32)
    return np.asarray(colour * light[..., None], np.float32)


@lru_cache(maxsize=64)
def upper_sprite(cloth: Cloth) -> Sprite:
    """From the shoulder (u = -UPPER_MM) to the elbow (u = 0)."""
    relief = _Relief(-UPPER_MM - 70, 60, -75, 75, 1.0)
    relief.bone((-UPPER_MM, 0, 0), (0, 0, 0), 66, 53, flat=0.9)
    return relief.sprite(_woven(cloth, relief, *relief.grid()), relief.cover)


# -- heads and trunks -------------------------------------------------------------------------------

HAIR: tuple[RGB, ...] = (linear(32, 24, 20), linear(74, 48, 30), linear(150, 110, 66), linear(120, 118, 116),
                         linear(40, 60, 110))  # fmt: skip
"""The last is a cap."""


@lru_cache(maxsize=64)
def head_sprite(skin: int, hair: int) -> Sprite:
    """A head from above, looking along +u: hair or a cap, brow, nose and ears."""
    relief = _Relief(-130, 150, -110, 110, 1.0)
    face = _Relief(-130, 150, -110, 110, 1.0)
    face.bone((52, 0, -40), (92, 0, -60), 60, 22, blend=8)
    face.bone((92, 0, -55), (108, 0, -62), 11, 9, blend=6)
    for side in (-1, 1):
        face.bone((4, side * 78, -50), (-8, side * 80, -50), 12, 10)
    relief.bone((-28, 0, 0), (26, 0, 0), 79, 74, blend=10)
    h, w = relief.cover.shape
    rng = np.random.default_rng([skin, hair])
    strands = cv2.GaussianBlur(rng.standard_normal((h, w)).astype(np.float32), (0, 0), sigmaX=9, sigmaY=1.4)
    strength = 0.0 if hair == len(HAIR) - 1 else 2.4
    light = relief.shade() * np.clip(1 + strength * strands, 0.3, 2)
    top = np.array(HAIR[hair], np.float32) * light[..., None]
    if hair == len(HAIR) - 1:
        peak = _Relief(-130, 150, -110, 110, 1.0)
        peak.bone((70, 0, -20), (118, 0, -24), 62, 50, flat=0.3)
        peaked = np.array(HAIR[hair], np.float32) * 0.7 * peak.shade()[..., None]
        top = top * relief.cover[..., None] + peaked * (peak.cover * (1 - relief.cover))[..., None]
        relief.cover = np.maximum(relief.cover, peak.cover)
        top = top / np.maximum(relief.cover, 0.02)[..., None]
    below = np.array(SKINS[skin], np.float32) * face.shade()[..., None]
    rgb = below * (1 - relief.cover[..., None]) + top * relief.cover[..., None]
    return relief.sprite(rgb.astype(np.float32), np.maximum(relief.cover, face.cover))


@lru_cache(maxsize=64)
def trunk_sprite(cloth: Cloth, skin: int) -> Sprite:
    """Shoulders, neck and chest from above, facing +u; the origin is the neck."""
    relief = _Relief(-190, 190, -280, 280, 1.0)
    relief.bone((-15, -170, -30), (-15, 170, -30), 84, 84, flat=0.8, blend=20)
    relief.bone((-20, -60, 0), (-20, 60, 0), 118, 118, flat=0.5, blend=20)
    relief.bone((40, -70, -60), (40, 70, -60), 105, 105, flat=0.6, blend=20)
    us, vs = relief.grid()
    rgb = _woven(cloth, relief, us, vs)
    collar = np.clip((46 - np.hypot(us - 12, vs)) / 2, 0, 1)[..., None]
    rgb = rgb * (1 - collar) + np.array(SKINS[skin], np.float32) * 0.6 * collar
    return relief.sprite(rgb.astype(np.float32), relief.cover)


@lru_cache(maxsize=4)
def tray_sprite() -> Sprite:
    """A round serving tray, 360 mm across, with two glasses; the origin is its middle."""
    n = round(400 * FINE)
    ys, xs = (np.mgrid[0:n, 0:n] + 0.5) / FINE - 200
    r = np.hypot(xs, ys)
    light = 0.05 + 0.05 * np.clip(1 - np.abs(r - 172) / 6, 0, 1) + 0.012 * np.sin(r / 3)
    rgb = np.repeat(light[..., None], 3, axis=2)
    for gx, gy in ((-60, 20), (50, -50)):
        g = np.hypot(xs - gx, ys - gy)
        rgb = np.where((g < 34)[..., None], np.array([0.30, 0.17, 0.05]) * (0.6 + 0.4 * (g / 34))[..., None], rgb)
        rgb = rgb + (0.45 * np.clip(1 - np.abs(g - 35) / 1.6, 0, 1))[..., None]
    cover = np.clip((180 - r) * FINE + 0.5, 0, 1).astype(np.float32)
    return _sprite(rgb.astype(np.float32), cover, -200, -200)
