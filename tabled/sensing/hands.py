"""Hands in one frame of a zone: how far over the line, and from which side they came.

A hand is what has the colour of skin, was not there before and is large enough; sleeve, chips and cards hang on to it.
Its foremost point is that of the skin and of what moves with it: chips that it let go lie still, and count no more.
"""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np

from tabled.sensing.geometry import MM_PER_PX, Bytes, Tile
from tabled.sensing.ground import Look

MIN_SKIN_MM2 = 250.0
MAX_HANDS = 4
MAX_PIECES = 64
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
    inward_mm: float
    """How far inside the zone's outline its innermost point looks."""
    lift: float
    row: float
    at: tuple[float, float]
    middle: tuple[float, float]
    area_mm2: float
    whole_mm2: float
    width_mm: float
    """Of the skin along the line, in the foremost 60 mm."""
    touch: tuple[float, float] | None
    """Where it comes from at the tile's border; None if it hangs free."""
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
    return cv2.bitwise_and(tile.known, cv2.bitwise_not(inner))  # type: ignore[return-value]


class HandFinder:
    """Finds the hands of one tile."""

    def __init__(self, tile: Tile) -> None:
        self._tile = tile
        self._fronts = Fronts(tile)
        self._rim = border(tile)

    def find(self, look: Look, still: Bytes) -> list[Hand]:
        """The hands of a frame, largest first; ``still`` (255) is what has lain still for some frames."""
        skin = cv2.morphologyEx(look.skin, cv2.MORPH_OPEN, _OPEN)
        if cv2.countNonZero(skin) * MM_PER_PX**2 < MIN_SKIN_MM2:
            return []
        whole = cv2.morphologyEx(cv2.bitwise_or(look.strange, skin), cv2.MORPH_CLOSE, _NEAR)
        count, labels = cv2.connectedComponents(whole)
        if count > 1 + MAX_PIECES:
            sizes = np.bincount(labels.ravel(), weights=(skin.ravel() > 0), minlength=count)
        else:
            sizes = np.bincount(labels[skin > 0], minlength=count).astype(np.float64)
        sizes[0] = 0
        found = []
        for label in np.argsort(sizes)[::-1][:MAX_HANDS]:
            if sizes[label] * MM_PER_PX**2 < MIN_SKIN_MM2:
                break
            piece = np.where(labels == label, np.uint8(255), np.uint8(0))
            hand = self._hand(look, cv2.bitwise_and(skin, piece), piece, still)
            if hand is not None:
                found.append(hand)
        return found

    def _hand(self, look: Look, skin: Bytes, piece: Bytes, still: Bytes) -> Hand | None:
        tile = self._tile
        first = self._fronts.front(skin)
        if first is None:
            return None
        held = cv2.bitwise_and(cv2.bitwise_and(look.solid, piece), cv2.bitwise_not(still))
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
            inward_mm=float(tile.inward[y, x].max()),
            lift=float(tile.lift[py, px]),
            row=float(tile.row[py, px]),
            at=(front[1], front[2]),
            middle=(float(x.mean()), float(y.mean())),
            area_mm2=len(y) * MM_PER_PX**2,
            whole_mm2=cv2.countNonZero(piece) * MM_PER_PX**2,
            width_mm=float(width),
            touch=touch,
            edge=py >= tile.shape[0] - 2 - _BORDER_PX,
            mask=piece,
        )
