"""Hands in one frame of a zone: how far over the line, and from which side they came.

A hand is what has the colour of skin, was not there before and is large enough; sleeve, chips and cards hang on to it.
Its foremost point is that of the skin and of what moves with it: chips that it let go lie still, and count no more.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from tabled.sensing.geometry import MM_PER_PX, Bytes, Floats, Tile
from tabled.sensing.ground import Look
from tabled.sensing.opencv import cv2

MIN_SKIN_MM2 = 250.0
ARM_MM2 = 1500.0
MAX_HANDS = 4
LANE_MM = 12.0
_NEAR = np.ones((5, 5), np.uint8)
_OPEN = np.ones((3, 3), np.uint8)
_BORDER_PX = 3


@dataclass(frozen=True, slots=True, eq=False)
class Hand:
    """One hand or arm.  Lengths in mm, places in the tile's pixels."""

    front_mm: float
    """Distance over the line of the foremost point, as it looks on the felt."""
    skin_mm: float
    """The same of the foremost skin."""
    lift: float
    row: float
    at: tuple[float, float]
    middle: tuple[float, float]
    area_mm2: float
    width_mm: float
    """Of the skin along the line, in the foremost 60 mm."""
    touch: tuple[float, float] | None
    """Where it comes from at the tile's border; None if it hangs free."""
    rest_ms: float
    """Its skin, all but a fifth, has looked the same for so long."""
    edge: bool
    """Its foremost point lies at the tile's inner border: it may reach further than can be seen."""
    mask: Bytes


class Fronts:
    """Finds the foremost of a set of pixels, to a part of a pixel."""

    def __init__(self, tile: Tile) -> None:
        self._tile = tile
        self._low = float(tile.depth.min())
        self._bin = ((tile.depth - self._low) / MM_PER_PX).astype(np.int32)
        self._lane = lane(tile)

    def front(self, mask: Bytes) -> tuple[float, float, float] | None:
        """(depth mm, column, row) of the foremost pixels of a mask before this seat; None if it has none.

        Single pixels are noise.
        """
        y, x = np.nonzero(cv2.bitwise_and(mask, self._lane))
        if len(y) < 6:
            return None
        bins = self._bin[y, x]
        counts = np.bincount(bins)
        for top in range(len(counts) - 1, 0, -1):
            if counts[top] >= 2 and counts[top - 1] >= 2:
                part = min(1.0, counts[top] / counts[top - 1])
                first = bins >= top - 1
                return self._low + (top + part) * MM_PER_PX, float(x[first].mean()), float(y[first].mean())
        return None


def lane(tile: Tile) -> Bytes:
    """255 on what lies before or behind the zone, as seen from the player: a hand beside it is a neighbour's."""
    columns = np.nonzero((tile.inward > -LANE_MM).any(axis=0))[0]
    out = np.zeros(tile.shape, np.uint8)
    if len(columns):
        out[:, columns[0] : columns[-1] + 1] = 255
    return out


def border(tile: Tile) -> Bytes:
    """The rim of what can be seen of a tile (255), through which everything comes."""
    inner = cv2.erode(
        np.pad(tile.known, 1), np.ones((2 * _BORDER_PX + 1, 2 * _BORDER_PX + 1), np.uint8), borderValue=0
    )[1:-1, 1:-1]
    return np.asarray(cv2.bitwise_and(tile.known, cv2.bitwise_not(inner)))


class HandFinder:
    """Finds the hands of one tile."""

    def __init__(self, tile: Tile) -> None:
        self._tile = tile
        self._fronts = Fronts(tile)
        self._rim = border(tile)

    def find(self, look: Look, ages: Floats, let_go: Bytes, *, arms: bool) -> list[Hand]:
        """The hands of a frame, largest first; ``ages`` is for how many ms each pixel has looked the same.

        ``let_go`` (255) are places where hands have put down something: it is not theirs any more.

        With ``arms`` also the sleeves of which no hand is in sight (area 0), last.
        """
        skin = cv2.morphologyEx(look.skin, cv2.MORPH_OPEN, _OPEN)
        if cv2.countNonZero(skin) * MM_PER_PX**2 < MIN_SKIN_MM2 and not arms:
            return []
        whole = cv2.morphologyEx(cv2.bitwise_or(look.strange, skin), cv2.MORPH_CLOSE, _NEAR)
        count, labels = cv2.connectedComponents(whole)
        sizes = np.bincount(labels[skin > 0], minlength=count) * MM_PER_PX**2
        sizes[0] = 0
        found = []
        for label in np.argsort(sizes)[::-1][:MAX_HANDS]:
            if sizes[label] < MIN_SKIN_MM2:
                break
            piece = np.where(labels == label, np.uint8(255), np.uint8(0))
            hand = self._hand(look, cv2.bitwise_and(skin, piece), piece, ages, let_go)
            if hand is not None:
                found.append(hand)
        return found + (self._arms(look, labels, sizes, let_go) if arms else [])

    def _arms(
        self, look: Look, labels: npt.NDArray[np.int32], skin_mm2: npt.NDArray[np.floating], let_go: Bytes
    ) -> list[Hand]:
        """Pieces without skin that come in over the border: the sleeve of a hand that reaches out of the tile."""
        rim = np.bincount(labels[self._rim > 0], minlength=len(skin_mm2))
        area = np.bincount(labels.ravel(), minlength=len(skin_mm2)) * MM_PER_PX**2
        out: list[Hand] = []
        for label in np.flatnonzero((rim > 2) & (area > ARM_MM2) & (skin_mm2 < MIN_SKIN_MM2)):
            if label == 0 or len(out) >= MAX_HANDS:
                continue
            piece = np.where(labels == label, np.uint8(255), np.uint8(0))
            hand = self._hand(look, piece, piece, np.zeros(piece.shape, np.float32), let_go)
            if hand is not None:
                out.append(replace(hand, area_mm2=0.0, width_mm=0.0, rest_ms=0.0))
        return out

    def _hand(self, look: Look, skin: Bytes, piece: Bytes, ages: Floats, let_go: Bytes) -> Hand | None:
        tile = self._tile
        first = self._fronts.front(skin)
        if first is None:
            return None
        hung = cv2.bitwise_and(look.solid, piece)
        held = cv2.bitwise_and(hung, cv2.bitwise_not(let_go))
        front = self._fronts.front(cv2.bitwise_or(held, skin)) or first
        y, x = np.nonzero(skin)
        near = tile.depth[y, x] > first[0] - 60.0
        width = (np.percentile(x[near], 95) - np.percentile(x[near], 5)) * MM_PER_PX if near.any() else 0.0
        ty, tx = np.nonzero(cv2.bitwise_and(piece, self._rim))
        touch = (float(tx.mean()), float(ty.mean())) if len(ty) >= 2 else None
        px, py = min(max(round(front[1]), 0), tile.shape[1] - 1), min(max(round(front[2]), 0), tile.shape[0] - 1)
        return Hand(
            front_mm=front[0],
            skin_mm=first[0],
            lift=float(tile.lift[py, px]),
            row=float(tile.row[py, px]),
            at=(front[1], front[2]),
            middle=(float(x.mean()), float(y.mean())),
            area_mm2=len(y) * MM_PER_PX**2,
            width_mm=float(width),
            touch=touch,
            rest_ms=float(np.percentile(ages[y, x], 20)),
            edge=py >= tile.shape[0] - 2 - _BORDER_PX,
            mask=piece,
        )
