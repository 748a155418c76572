"""The table in mm: where felt, rail, seats, lines, zones and markers are.

The origin is the middle of the felt, x along it, y away from the dealer, z up.
"""

from __future__ import annotations

import math
from random import Random
from typing import Literal

import msgspec
import numpy as np

from hw_sim.scene.lens import Array

RAIL_MM = 105.0
RAIL_HEIGHT_MM = 28.0
LINE_MM = 190.0
"""From the rail to the betting line."""
BET_DEPTH_MM = 155.0
MARKER_MM = 80.0

Shape = Literal["oval", "d"]
XY = tuple[float, float]
RGB = tuple[float, float, float]


class Felt(msgspec.Struct, frozen=True):
    """A rounded rectangle: half sizes, and corner radii on the dealer's side and on the other."""

    half_x: float
    half_y: float
    near_radius: float
    far_radius: float

    def inset(self, x: Array, y: Array) -> Array:
        """How far inside the felt's edge places are, in mm; negative outside."""
        radius = np.where(y < 0, self.near_radius, self.far_radius).astype(x.dtype)
        qx, qy = np.abs(x) - self.half_x + radius, np.abs(y) - self.half_y + radius
        outside = np.hypot(np.maximum(qx, 0), np.maximum(qy, 0))
        return np.asarray(radius - outside - np.minimum(np.maximum(qx, qy), 0), x.dtype)

    def edge(self, step: float = 2.0) -> tuple[Array, Array]:
        """Points (n, 2) along the edge, counter-clockwise from the middle of the dealer's side, and normals inwards."""
        hx, hy, near, far = self.half_x, self.half_y, self.near_radius, self.far_radius
        corners = [(hx - near, -hy + near, near, -90), (hx - far, hy - far, far, 0), (-hx + far, hy - far, far, 90),
                   (-hx + near, -hy + near, near, 180)]  # fmt: skip
        points: list[XY] = [(0.0, -hy)]
        for cx, cy, radius, start in corners:
            turns = np.radians(np.linspace(start, start + 90, 64))
            points += [(cx + radius * math.cos(a), cy + radius * math.sin(a)) for a in turns]
        points.append((0.0, -hy))
        raw = np.array(points)
        along = np.concatenate([[0], np.cumsum(np.hypot(*np.diff(raw, axis=0).T))])
        at = np.arange(0, along[-1], step)
        xy = np.stack([np.interp(at, along, raw[:, i]) for i in (0, 1)], axis=1)
        ahead = np.roll(xy, -3, axis=0) - np.roll(xy, 3, axis=0)
        ahead /= np.hypot(ahead[:, 0], ahead[:, 1])[:, None]
        return xy, np.stack([-ahead[:, 1], ahead[:, 0]], axis=1)


class Zone(msgspec.Struct, frozen=True, kw_only=True):
    """An area of the felt, mm; ``line`` the betting line of a "bet" zone, the edge on its player's side."""

    kind: Literal["bet", "stack", "tray", "board"]
    seat: str = ""
    outline: tuple[XY, ...]
    line: tuple[XY, ...] = ()


class Seat(msgspec.Struct, frozen=True, kw_only=True):
    """A seat: the middle of its piece of rail (inner edge) and the unit vector from there to the table's inside."""

    name: str
    edge: XY
    inwards: XY
    width: float

    def place(self, depth: float, aside: float = 0.0) -> XY:
        """The place ``depth`` mm in from the rail and ``aside`` mm to the player's right."""
        (x, y), (nx, ny) = self.edge, self.inwards
        return x + depth * nx + aside * ny, y + depth * ny - aside * nx


class Marker(msgspec.Struct, frozen=True, kw_only=True):
    """A printed ArUco marker: corners clockwise from the top left of the print as seen from above, mm."""

    id: int
    corners: tuple[XY, XY, XY, XY]


class ChipKind(msgspec.Struct, frozen=True, kw_only=True):
    """A denomination and its colours in linear light, 0 to 1."""

    value: int
    body: RGB
    spots: RGB
    inlay: RGB = (0.75, 0.73, 0.68)


class Layout(msgspec.Struct, frozen=True, kw_only=True):
    """The truth that a technician measures and draws."""

    felt: Felt
    shape: Shape
    seats: tuple[Seat, ...]
    zones: tuple[Zone, ...]
    dealer: XY
    markers: tuple[Marker, ...]
    chips: tuple[ChipKind, ...]
    felt_colour: RGB

    def zone(self, kind: str, seat: str = "") -> Zone:
        """A zone by its kind and seat.  KeyError if there is none."""
        for zone in self.zones:
            if zone.kind == kind and zone.seat == seat:
                return zone
        raise KeyError(f"no {kind} zone of seat {seat!r}")

    def seat(self, name: str) -> Seat:
        """A seat by its name.  KeyError if there is none."""
        for seat in self.seats:
            if seat.name == name:
                return seat
        raise KeyError(f"no seat {name!r}")

    def depth(self, x: Array, y: Array) -> Array:
        """How far over the betting line places are, mm; negative on the player's side."""
        return self.felt.inset(x, y) - LINE_MM


def linear(r: int, g: int, b: int) -> RGB:
    """An sRGB colour of 0 to 255 in linear light of 0 to 1."""

    def one(v: int) -> float:
        s = v / 255
        return s / 12.92 if s <= 0.04045 else ((s + 0.055) / 1.055) ** 2.4

    return one(r), one(g), one(b)


FELTS: dict[str, RGB] = {"green": linear(34, 96, 62), "blue": linear(36, 72, 122), "burgundy": linear(112, 32, 42)}


def kinds(felt: str) -> tuple[ChipKind, ...]:
    """The house's chips: eight colours, one of them near the felt's."""
    r, g, b = FELTS[felt]
    near = (r * 1.12 + 0.004, g * 1.08 + 0.004, b * 1.1 + 0.004)
    white, dark = linear(232, 230, 222), linear(30, 30, 34)
    return (
        ChipKind(value=1, body=linear(224, 220, 210), spots=linear(40, 70, 150)),
        ChipKind(value=5, body=linear(186, 30, 38), spots=white),
        ChipKind(value=25, body=near, spots=linear(220, 205, 120)),
        ChipKind(value=100, body=dark, spots=linear(225, 220, 210)),
        ChipKind(value=500, body=linear(104, 52, 142), spots=linear(240, 190, 210)),
        ChipKind(value=1000, body=linear(236, 190, 40), spots=dark),
        ChipKind(value=5000, body=linear(226, 106, 32), spots=white),
        ChipKind(value=25000, body=linear(70, 170, 190), spots=linear(150, 30, 60)),
    )


def layout(seed: int, seats: int = 9, shape: Shape = "oval") -> Layout:
    """A table for 2 to 10 players.  ValueError outside of that."""
    if not 2 <= seats <= 10:
        raise ValueError(f"{seats} seats; a table has 2 to 10")
    rng = Random(f"layout {seed}")
    felt = Felt(1080.0, 490.0, 490.0, 490.0) if shape == "oval" else Felt(1040.0, 500.0, 365.0, 500.0)
    xy, inwards = felt.edge()
    total = len(xy) * 2.0
    gap = 330.0
    """Half of the dealer's piece of rail."""
    pitch = (total - 2 * gap) / seats
    width = min(320.0, pitch - 125.0)
    chosen = [round((gap + pitch * (k + 0.5)) / 2) for k in range(seats)]
    made = tuple(
        Seat(name=str(k + 1), edge=(float(xy[i, 0]), float(xy[i, 1])),
             inwards=(float(inwards[i, 0]), float(inwards[i, 1])), width=width)
        for k, i in enumerate(reversed(chosen))
    )  # fmt: skip
    zones: list[Zone] = []
    for seat, i in zip(made, reversed(chosen), strict=True):
        span = np.arange(i - round(width / 4), i + round(width / 4) + 1, max(1, round(width / 4 / 4))) % len(xy)
        stack, line, far = (xy[span] + inwards[span] * d for d in (12.0, LINE_MM, LINE_MM + BET_DEPTH_MM))
        zones.append(Zone(kind="bet", seat=seat.name, outline=_points([*line, *far[::-1]]), line=_points([*line])))
        behind = xy[span] + inwards[span] * (LINE_MM - 12.0)
        zones.append(Zone(kind="stack", seat=seat.name, outline=_points([*stack, *behind[::-1]])))
    hy = felt.half_y
    zones.append(Zone(kind="tray", outline=((-280, -hy + 15), (280, -hy + 15), (280, -hy + 135), (-280, -hy + 135))))
    zones.append(Zone(kind="board", outline=((-190, -65), (190, -65), (190, 65), (-190, 65))))
    felt_name = rng.choice(sorted(FELTS))
    return Layout(
        felt=felt, shape=shape, seats=made, zones=tuple(zones), dealer=(0.0, -hy - RAIL_MM), chips=kinds(felt_name),
        markers=_markers(xy, inwards, chosen, pitch), felt_colour=FELTS[felt_name],
    )  # fmt: skip


def _points(rows: list[Array]) -> tuple[XY, ...]:
    return tuple((round(float(x), 3), round(float(y), 3)) for x, y in rows)


def _markers(xy: Array, inwards: Array, chosen: list[int], pitch: float) -> tuple[Marker, ...]:
    """Six markers between seats and beside the dealer, behind the betting line."""
    half = round(pitch / 4)
    between = [chosen[0] - half, *(i + half for i in chosen)]
    picked = [between[round(k * (len(between) - 1) / 5)] % len(xy) for k in range(6)]
    made: list[Marker] = []
    for number, i in enumerate(dict.fromkeys(picked)):
        (cx, cy), (nx, ny) = xy[i] + inwards[i] * 95.0, inwards[i]
        h = MARKER_MM / 2
        # The top of the print points to the table's inside; its right is then at (ny, -nx).
        sides = ((-h, h), (h, h), (h, -h), (-h, -h))
        corners = _points([np.array((cx + r * ny + u * nx, cy - r * nx + u * ny)) for r, u in sides])
        made.append(Marker(id=number, corners=(corners[0], corners[1], corners[2], corners[3])))
    return tuple(made)
