"""Surfaces: felt with print, rail, floor, chips, cards and markers, as linear light reflected (0 to 1), float32."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import cv2
import numpy as np
import numpy.typing as npt

from hw_sim.scene.layout import (
    BET_DEPTH_MM,
    LINE_MM,
    RAIL_HEIGHT_MM,
    RAIL_MM,
    RGB,
    ChipKind,
    Layout,
    Marker,
)
from hw_sim.scene.lens import Eye

cv2.setNumThreads(1)

F32 = npt.NDArray[Any]
"""Of float32."""
Bytes8 = npt.NDArray[np.uint8]

CHIP_MM, CHIP_HEIGHT_MM = 39.0, 3.3
CARD_MM = (63.0, 88.0)
_MARGIN = 40
FINE = 2
"""The table is painted so many times finer than the picture."""


def cloud(rng: np.random.Generator, height: int, width: int, coarse: int) -> F32:
    """Soft noise (height, width) of zero mean and about unit spread, in spots of ``coarse`` pixels."""
    small = rng.standard_normal((height // coarse + 3, width // coarse + 3)).astype(np.float32)
    grown = cv2.resize(small, (width, height), interpolation=cv2.INTER_CUBIC)
    return np.asarray(grown, np.float32)


# -- the table ------------------------------------------------------------------------------------


def _ink(image: F32, mask: F32, colour: RGB, strength: float) -> None:
    x, y, w, h = cv2.boundingRect((mask > 0).astype(np.uint8))
    weight = (mask[y : y + h, x : x + w] * strength)[..., None]
    there = image[y : y + h, x : x + w]
    there *= 1 - weight
    there += weight * np.array(colour, np.float32)


def _text(size: tuple[int, int], words: str, at: tuple[int, int], scale: float, thick: int) -> F32:
    mask = np.zeros(size, np.uint8)
    (w, h), _ = cv2.getTextSize(words, cv2.FONT_HERSHEY_TRIPLEX, scale, thick)
    cv2.putText(mask, words, (at[0] - w // 2, at[1] + h // 2), cv2.FONT_HERSHEY_TRIPLEX, scale, 255, thick, cv2.LINE_AA)
    return mask.astype(np.float32) / 255


def felt(layout: Layout, rng: np.random.Generator) -> F32:
    """The felt with its print, one pixel a mm, rows from far (y = half_y + margin) to near; (rows, columns, 3)."""
    hx, hy = round(layout.felt.half_x) + _MARGIN, round(layout.felt.half_y) + _MARGIN
    rows, columns = 2 * hy, 2 * hx
    xs, ys = np.meshgrid(np.arange(columns) - hx + 0.5, hy - np.arange(rows) - 0.5)
    inset = layout.felt.inset(xs, ys).astype(np.float32)
    fibres = rng.standard_normal((rows, columns)).astype(np.float32)
    fibres = 0.6 * fibres + 1.2 * cv2.GaussianBlur(fibres, (0, 0), 1.2)
    wear = cloud(rng, rows, columns, 90) * 0.035 + cloud(rng, rows, columns, 17) * 0.025
    image = np.array(layout.felt_colour, np.float32) * np.maximum(1 + 0.09 * fibres + wear, 0.2)[..., None]
    pale = (0.62, 0.60, 0.45)
    ring = np.clip(4.5 - np.abs(inset - LINE_MM), 0, 1)
    _ink(image, ring, pale, 0.75)
    _ink(image, np.clip(1.6 - np.abs(inset - LINE_MM - 12), 0, 1), pale, 0.5)
    tray_side = (np.abs(xs) < 330) & (ys < 0)
    _ink(image, np.where(tray_side, 0, np.clip(1.2 - np.abs(inset - 34), 0, 1)).astype(np.float32), pale, 0.35)
    _ink(image, _text((rows, columns), "CARLTON CARD ROOM", (hx, hy - 105), 1.9, 4), pale, 0.55)
    _ink(image, _text((rows, columns), "NO LIMIT HOLD'EM", (hx, hy + 100), 1.2, 3), pale, 0.45)
    for k in range(5):
        box = np.zeros((rows, columns), np.uint8)
        x = hx + (k - 2) * 72
        cv2.rectangle(box, (x - 33, hy - 46), (x + 33, hy + 46), 255, 2, cv2.LINE_AA)
        _ink(image, box.astype(np.float32) / 255, pale, 0.4)
    _seat_numbers(image, layout, hx, hy, pale)
    _tray(image, layout, rng, hx, hy)
    return np.asarray(image, np.float32)


def _tray(image: F32, layout: Layout, rng: np.random.Generator, hx: int, hy: int) -> None:
    """The dealer's tray: tubes of chips on their edges, a slot for the drop beside them."""
    near = round(hy + layout.felt.half_y)
    x0, x1, y0, y1 = hx - 270, hx + 270, near - 128, near - 22
    image[y0:y1, x0:x1] = 0.018
    image[y0 : y0 + 3, x0:x1] = image[y1 - 3 : y1, x0:x1] = 0.09
    for k in range(12):
        left, filled = x0 + 10 + k * 44, int(rng.integers(35, 98))
        round_light = np.sqrt(np.clip(1 - ((np.arange(38) - 18.5) / 19.5) ** 2, 0, 1))[None, :, None]
        stripes = np.where((np.arange(filled) % 3.3 < 0.9)[:, None, None], 0.55, 1.0)
        colour = np.array(layout.chips[(k * 5) % 7].body, np.float32)
        image[y1 - 5 - filled : y1 - 5, left : left + 38] = 0.85 * colour * stripes * round_light
    image[y0 + 30 : y0 + 75, x1 + 25 : x1 + 32] = 0.01


def _seat_numbers(image: F32, layout: Layout, hx: int, hy: int, pale: RGB) -> None:
    for seat in layout.seats:
        x, y = seat.place(LINE_MM + BET_DEPTH_MM + 22)
        _ink(image, _text(image.shape[:2], seat.name, (round(hx + x), round(hy - y)), 0.9, 2), pale, 0.5)


def sample_felt(texture: F32, layout: Layout, x: F32, y: F32) -> F32:
    """The felt's light at places (mm arrays of one shape)."""
    hx, hy = layout.felt.half_x + _MARGIN, layout.felt.half_y + _MARGIN
    grown = cv2.remap(texture, x + (hx - 0.5), (hy - 0.5) - y, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
    return np.asarray(grown, np.float32)


@lru_cache(maxsize=3)
def table(eye: Eye, layout: Layout, seed: int) -> F32:
    """The empty table as the eye sees it under even light: (height, width, 3)."""
    rng = np.random.default_rng([seed, 11])
    texture = felt(layout, rng)
    for marker in layout.markers:
        _paste_marker(texture, layout, marker)
    w, h = eye.lens.width * FINE, eye.lens.height * FINE
    edge = 8 * FINE
    # Rays are straight between cells to a thousandth of a pixel.
    sx, sy = (
        cv2.resize(s, (w + 2 * edge, h + 2 * edge), interpolation=cv2.INTER_LINEAR)[edge:-edge, edge:-edge]
        for s in eye.slopes(8, 1)
    )
    at_x, at_y, at_z = (np.float32(v) for v in eye.at)
    # Floor and rail lie at other heights than the felt.
    fx, fy = at_x + sx * (at_z + 760), at_y + sy * (at_z + 760)
    weave = np.sin(fx / 38) * np.sin(fy / 38) * 0.18 + 0.10 * cloud(rng, h, w, 24) + 1
    image = np.array([0.055, 0.048, 0.045], np.float32) * weave[..., None]
    x, y = at_x + sx * at_z, at_y + sy * at_z
    inset = layout.felt.inset(x, y)
    on_felt = np.clip(inset / 2 + 0.5, 0, 1)
    gloom = on_felt * (1 - 0.45 * np.exp(-np.maximum(inset, 0) / 16.0))
    image *= (1 - on_felt)[..., None]
    image += sample_felt(texture, layout, x, y) * gloom[..., None]
    rx, ry = at_x + sx * (at_z - RAIL_HEIGHT_MM), at_y + sy * (at_z - RAIL_HEIGHT_MM)
    inset = layout.felt.inset(rx, ry)
    across = np.clip(-inset / RAIL_MM, 0, 1)
    gloss = np.exp(-(((across - 0.38) / 0.085) ** 2))
    leather = 0.021 + 0.035 * np.sin(across * np.float32(math.pi)) ** 2 + 0.16 * gloss
    grain = 1 + 0.10 * cloud(rng, h, w, 5) + 0.06 * cloud(rng, h, w, 40)
    on_rail = np.clip(np.minimum(-inset, inset + RAIL_MM) / 2 + 0.5, 0, 1)
    image *= (1 - on_rail)[..., None]
    image += np.array([1.05, 0.95, 0.86], np.float32) * (leather * grain * on_rail)[..., None]
    size = (eye.lens.width, eye.lens.height)
    return np.asarray(cv2.resize(image.astype(np.float32, copy=False), size, interpolation=cv2.INTER_AREA), np.float32)


def _paste_marker(texture: F32, layout: Layout, marker: Marker) -> None:
    """Lay a printed marker, with a white margin of one module each side, on the felt."""
    known = cv2.aruco.getPredefinedDictionary(cv2.aruco.DICT_4X4_50)
    side = 240
    edge = side // 6
    code = cv2.aruco.generateImageMarker(known, marker.id, side)
    code = cv2.copyMakeBorder(code, edge, edge, edge, edge, cv2.BORDER_CONSTANT, value=255)
    hx, hy = layout.felt.half_x + _MARGIN, layout.felt.half_y + _MARGIN
    goal = np.array([[x + hx - 0.5, hy - 0.5 - y] for x, y in marker.corners], np.float32)
    left, top = (int(v) - 75 for v in goal.mean(axis=0))
    goal -= np.array([left, top], np.float32)
    source = np.array([[0, 0], [side, 0], [side, side], [0, side]], np.float32) + edge - 0.5
    warp = cv2.getPerspectiveTransform(source, goal)
    soft = cv2.GaussianBlur(code, (0, 0), 1.5).astype(np.float32) / 255
    size = (150, 150)
    light = cv2.warpPerspective(soft, warp, size, flags=cv2.INTER_LINEAR)
    there = cv2.warpPerspective(np.ones_like(soft), warp, size, flags=cv2.INTER_LINEAR)[..., None]
    part = texture[top : top + 150, left : left + 150]
    part *= 1 - there
    part += there * (0.03 + 0.72 * light[..., None])


# -- chips and cards --------------------------------------------------------------------------------


@lru_cache(maxsize=256)
def chip_face(kind: ChipKind, turn: int, scale: float) -> F32:
    """A chip from above, (n, n, 4) premultiplied, ``scale`` pixels a mm, turned by ``turn`` degrees."""
    fine = 6.0
    n = round(44 * fine)
    ys, xs = (np.mgrid[0:n, 0:n] + 0.5) / fine - 22.0
    r, a = np.hypot(xs, ys), np.degrees(np.arctan2(ys, xs)) + turn
    image = np.broadcast_to(np.array(kind.body, np.float32), (n, n, 3)).copy()
    spot = (np.mod(a, 60) < 17) & (r > 13.6)
    image[spot] = kind.spots
    image[(np.abs(r - 13.2) < 0.5)] *= 0.75
    image[r < 12.2] = kind.inlay
    image[(np.abs(r - 11.2) < 0.45)] = kind.body
    words = np.zeros((n, n), np.uint8)
    text = str(kind.value) if kind.value < 1000 else f"{kind.value // 1000}K"
    size = 2.4 if len(text) < 3 else 1.75
    (w, h), _ = cv2.getTextSize(text, cv2.FONT_HERSHEY_SIMPLEX, size, 6)
    cv2.putText(words, text, ((n - w) // 2, (n + h) // 2), cv2.FONT_HERSHEY_SIMPLEX, size, 255, 6, cv2.LINE_AA)
    matrix = cv2.getRotationMatrix2D((n / 2, n / 2), turn, 1.0)
    ink = cv2.warpAffine(words, matrix, (n, n)).astype(np.float32)[..., None] / 255
    image = np.asarray(image * (1 - 0.85 * ink) + 0.85 * ink * 0.05, np.float32)
    bevel = 1 - 0.25 * np.clip((r - 18.3) / 1.2, 0, 1) + 0.05 * np.clip(1 - np.abs(r - 17.6), 0, 1)
    alpha = np.clip((CHIP_MM / 2 - r) * fine / 2 + 0.5, 0, 1)[..., None]
    whole = np.concatenate([image * bevel[..., None] * alpha, alpha], axis=2).astype(np.float32)
    goal = round(44 * scale)
    return np.asarray(cv2.resize(whole, (goal, goal), interpolation=cv2.INTER_AREA), np.float32)


@lru_cache(maxsize=256)
def chip_side(kind: ChipKind, turn: int, scale: float) -> F32:
    """The rim of a chip as a disc of its edge colours, (n, n, 4) premultiplied: what stacks show of all but the top."""
    n = round(44 * scale)
    ys, xs = (np.mgrid[0:n, 0:n] + 0.5) / scale - 22.0
    r, a = np.hypot(xs, ys), np.degrees(np.arctan2(ys, xs)) + turn
    image = np.broadcast_to(np.array(kind.body, np.float32) * 0.62, (n, n, 3)).copy()
    image[np.mod(a, 60) < 17] = np.array(kind.spots, np.float32) * 0.62
    alpha = np.clip((CHIP_MM / 2 - r) * scale + 0.5, 0, 1)[..., None]
    return np.concatenate([image * alpha, alpha], axis=2).astype(np.float32)


@lru_cache(maxsize=128)
def card_face(rank: str, suit: int, scale: float) -> F32:
    """A card (88 mm along u, 63 along v), premultiplied; rank "" for its back; suit 0 to 3."""
    fine = 6.0
    w, h = round(CARD_MM[1] * fine), round(CARD_MM[0] * fine)
    image = np.full((h, w, 3), 0.78, np.float32)
    if rank:
        ink = (0.5, 0.02, 0.03) if suit in (1, 2) else (0.03, 0.03, 0.035)
        upright = np.zeros((w, h), np.uint8)
        cv2.putText(upright, rank, (18, 120), cv2.FONT_HERSHEY_DUPLEX, 4.2, 255, 12, cv2.LINE_AA)
        pip = (h // 2 + 30, w // 2 + 50)
        if suit in (1, 3):
            cv2.circle(upright, pip, 70, 255, -1, cv2.LINE_AA)
        else:
            x, y = pip
            diamond = np.array([[x, y - 90], [x + 65, y], [x, y + 90], [x - 65, y]], np.int32)
            cv2.fillPoly(upright, [diamond], 255, cv2.LINE_AA)
        mask = cv2.rotate(upright, cv2.ROTATE_90_COUNTERCLOCKWISE).astype(np.float32)[..., None] / 255
        image *= 1 - mask
        image += mask * np.array(ink, np.float32)
    else:
        ys, xs = np.mgrid[0:h, 0:w] / fine
        lattice = (np.sin((xs + ys) * 1.4) * np.sin((xs - ys) * 1.4) > 0)[..., None]
        inner = ((xs > 5) & (xs < 83) & (ys > 5) & (ys < 58))[..., None]
        back = np.where(lattice, np.array([0.30, 0.03, 0.05]), np.array([0.5, 0.16, 0.17]))
        image[inner[..., 0]] = back[inner[..., 0]]
    alpha = np.ones((h, w, 1), np.float32)
    whole = np.concatenate([image, alpha], axis=2).astype(np.float32)
    whole = np.pad(whole, ((12, 12), (12, 12), (0, 0)))
    size = (round((w + 24) / fine * scale), round((h + 24) / fine * scale))
    return np.asarray(cv2.resize(whole, size, interpolation=cv2.INTER_AREA), np.float32)
