"""Things that come to lie on a zone and do not move: chips, piles, cards; and what was taken away.

A change that has not moved for `SETTLE_NS` and that no hand is near is judged once and then belongs to the background.
Whether something came or went is told by which of the two, the old look or the new, stands out from the felt around.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tabled.sensing.colours import Colours
from tabled.sensing.geometry import MM_PER_PX, Bytes, Floats, Tile
from tabled.sensing.ground import Ground, Look
from tabled.sensing.hands import Hand
from tabled.sensing.light import LINEAR
from tabled.sensing.opencv import cv2

MS = 1_000_000
SETTLE_NS = 60 * MS
MOVED, MOVED_NOISES = 0.13, 4.0
"""A change of a pixel's parts that is no noise: it moved.  In the dark, so many times the tile's usual change."""
NOISE_EVERY, NOISE_RATE = 8, 0.1
TINGE, PALE, DEEP = 0.20, 0.14, -0.9
"""Colour, and lightness above and below, that belong to a thing of which a part is sure; shadows lie between."""
MIN_MM2 = 300.0
MAX_SHARE = 0.5
"""Of the zone: what is larger is no pile."""
CARD_MM2 = (3600.0, 7200.0)
MAX_PILES = 24
RIM_MM, OVER_MM = 40.0, 5.0
"""A pile may lie over the zone's rim with so much of it, if its middle is no further out than this."""
RING = (0.36, 0.46)
"""Of a top, in diameters from its middle: outside the inlay, which is much the same on all chips, inside the rim."""
_NEAR = np.ones((5, 5), np.uint8)
_CLOSE = np.ones((3, 3), np.uint8)
_CLEAR = np.ones((9, 9), np.uint8)


@dataclass(frozen=True, slots=True)
class Pile:
    """What lies there: place on the felt (mm of the table's frame), what it covers, its top's denomination."""

    x_mm: float
    y_mm: float
    area_mm2: float
    value: int
    confidence: int
    cards: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Change:
    """A pile that came (or, ``gone``, went), and the tile's pixels that it covers."""

    pile: Pile
    gone: bool
    mask: Bytes


class Settled:
    """Which pixels of a tile have looked the same for some time."""

    def __init__(self, tile: Tile) -> None:
        self._recent: Floats = np.zeros((*tile.shape, 3), np.float32)
        self._since: npt.NDArray[np.float32] = np.zeros(tile.shape, np.float32)
        self._last_ns = 0
        self._noise = 0.0
        self._frames = 0

    def step(self, now: Floats, at_ns: int) -> None:
        """One frame."""
        moved = cv2.absdiff(now, self._recent)
        red, blue, light = cv2.split(moved)
        high = cv2.max(cv2.max(red, blue), light)
        changed = cv2.compare(high, max(MOVED, MOVED_NOISES * self._noise), cv2.CMP_GT)
        if self._frames % NOISE_EVERY == 0:
            usual = float(np.median(high[::4, ::4])) if self._frames else 0.0
            self._noise += (usual - self._noise) * max(NOISE_RATE, 1.0 / (1 + self._frames // NOISE_EVERY))
        self._frames += 1
        self._since += min(100.0, max(0.0, (at_ns - self._last_ns) / MS))
        self._since[changed > 0] = 0.0
        cv2.copyTo(now, changed, self._recent)
        cv2.accumulateWeighted(now, self._recent, 0.25)
        self._last_ns = at_ns

    def still(self, for_ns: int) -> Bytes:
        """255 where nothing has moved for so long."""
        return np.asarray(cv2.compare(self._since, float(for_ns / MS), cv2.CMP_GE))

    def ages(self) -> Floats:
        """For how many ms each pixel has looked the same."""
        return self._since


class PileFinder:
    """Judges the still changes of one tile."""

    def __init__(self, tile: Tile, foot_mm: tuple[float, float], colours: Colours | None) -> None:
        self._tile = tile
        self._zone = np.where(tile.inward > -RIM_MM, np.uint8(255), np.uint8(0))
        self._zone_mm2 = float((tile.inward > 0).sum()) * MM_PER_PX**2
        self._foot = np.array(tile.pixel(*foot_mm))
        self._colours = colours
        self._diameter = colours.diameter_mm if colours is not None else 39.0
        self.piles: list[Pile] = []

    def find(self, look: Look, settled: Settled, hands: Sequence[Hand], ground: Ground, picture: Bytes) -> list[Change]:
        """Changes that are settled and clear of hands, each judged; ``picture`` is the tile in BGR."""
        sure = cv2.bitwise_and(look.strange, self._zone)
        if cv2.countNonZero(sure) * MM_PER_PX**2 < MIN_MM2 / 3:
            return []
        pieces = cv2.morphologyEx(cv2.bitwise_and(_stuff(look), self._zone), cv2.MORPH_CLOSE, _CLOSE)
        blocked = np.zeros(self._tile.shape, np.uint8)
        for hand in hands:
            blocked |= hand.mask
        blocked = cv2.dilate(blocked, _CLEAR)
        still = settled.still(SETTLE_NS)
        out = []
        count, labels, stats, _ = cv2.connectedComponentsWithStats(cv2.morphologyEx(pieces, cv2.MORPH_OPEN, _CLOSE))
        for n in range(1, min(count, 1 + MAX_PILES)):
            if stats[n, cv2.CC_STAT_AREA] * MM_PER_PX**2 < MIN_MM2:
                continue
            mask = np.where(labels == n, np.uint8(255), np.uint8(0))
            if cv2.countNonZero(cv2.bitwise_and(mask, blocked)) or not _mostly(mask, still, 0.93):
                continue
            change = self._judge(look, mask, ground, picture)
            if change is not None:
                out.append(change)
        return out

    def note(self, change: Change) -> None:
        """Keep the list of what lies here in step."""
        near = [p for p in self.piles if np.hypot(p.x_mm - change.pile.x_mm, p.y_mm - change.pile.y_mm) < 30.0]
        self.piles = [p for p in self.piles if p not in near]
        if not change.gone:
            self.piles = [*self.piles, change.pile][-MAX_PILES:]

    def forget(self) -> None:
        """What lies here is not known any more."""
        self.piles = []

    # -- judging ----------------------------------------------------------------------------------

    def _judge(self, look: Look, mask: Bytes, ground: Ground, picture: Bytes) -> Change | None:
        area = cv2.countNonZero(mask) * MM_PER_PX**2
        x, y = self._centre(mask)
        if self._tile.inward[round(y), round(x)] < -OVER_MM:
            return None
        if area > MAX_SHARE * self._zone_mm2 or not _mostly(mask, look.solid, 0.12):
            return None
        ring = cv2.subtract(cv2.dilate(mask, np.ones((15, 15), np.uint8)), cv2.dilate(mask, _NEAR))
        ring = cv2.bitwise_and(ring, cv2.bitwise_not(look.strange))
        if cv2.countNonZero(ring) < 12:
            return None
        inside = mask > 0
        around = ring > 0
        new, old = (_stands_out(p, inside, around) for p in (look.seen, ground.mean))
        if new < old * 0.9:
            return Change(Pile(*self._tile.table(x, y), area, 0, 1000), True, mask)
        cards = self._is_card(mask, area)
        x, y, top = self._place(mask)
        value, sure = self._top(picture, mask, top, around) if not cards else (0, 1000)
        confidence = 1000 if new > 1.5 * old else 600
        return Change(Pile(*self._tile.table(x, y), area, value, min(confidence, max(200, sure)), cards), False, mask)

    def _is_card(self, mask: Bytes, area: float) -> bool:
        if not CARD_MM2[0] <= area <= 3 * CARD_MM2[1]:
            return False
        contours, _ = cv2.findContours(mask, cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_SIMPLE)
        (_, (w, h), _) = cv2.minAreaRect(max(contours, key=cv2.contourArea))
        w, h = sorted(((w + 1) * MM_PER_PX, (h + 1) * MM_PER_PX))
        return bool(w > 50.0 and 75.0 < h < 140.0 and area > 0.82 * w * h)

    def _centre(self, mask: Bytes) -> tuple[float, float]:
        y, x = np.nonzero(mask)
        return float(x.mean()), float(y.mean())

    def _place(self, mask: Bytes) -> tuple[float, float, tuple[float, float]]:
        """(column, row) of the pile's base, and of its top's middle.

        A stack leans away from the camera's foot point: its base is at the near end of what is seen, its top at the
        far end.
        """
        y, x = np.nonzero(mask)
        middle = np.array([x.mean(), y.mean()])
        away = middle - self._foot
        distance = float(np.hypot(*away))
        if distance < 1.0:
            return float(middle[0]), float(middle[1]), (float(middle[0]), float(middle[1]))
        away /= distance
        along = (x - middle[0]) * away[0] + (y - middle[1]) * away[1]
        across = (x - middle[0]) * -away[1] + (y - middle[1]) * away[0]
        low, high = _ends(along)
        left, right = _ends(across)
        if (right - left) * MM_PER_PX > 1.35 * self._diameter:
            distances = cv2.distanceTransform(np.pad(mask, 1), cv2.DIST_L2, 5)[1:-1, 1:-1]
            _, _, _, top = cv2.minMaxLoc(distances)
            return float(middle[0]), float(middle[1]), (float(top[0]), float(top[1]))
        side = np.array([-away[1], away[0]]) * (left + right) / 2
        # The picture's blur widens all alike: half the width across the lean is a chip's radius as it looks.
        half = min((right - left) / 2, (high - low) / 2)
        base, top = middle + side + away * (low + half), middle + side + away * (high - half)
        return float(base[0]), float(base[1]), (float(top[0]), float(top[1]))

    def _top(
        self, picture: Bytes, mask: Bytes, top: tuple[float, float], around: npt.NDArray[np.bool_]
    ) -> tuple[int, int]:
        if self._colours is None:
            return 0, 1000
        rows, columns = np.indices(mask.shape)
        away = np.hypot(columns - top[0], rows - top[1]) * MM_PER_PX / self._diameter
        body = (away > RING[0]) & (away < RING[1]) & (mask > 0)
        if body.sum() < 8:
            body = mask > 0
        face = np.median(LINEAR[picture[body]], axis=0)[::-1].astype(np.float64)
        felt = np.median(LINEAR[picture[around]], axis=0)[::-1].astype(np.float64)
        return self._colours.value(face, felt)


def _stuff(look: Look) -> Bytes:
    """255 where a thing may be, down to its rim; no shadow."""
    tinged = cv2.compare(look.colour, TINGE, cv2.CMP_GT)
    pale = cv2.compare(look.light, PALE, cv2.CMP_GT)
    deep = cv2.compare(look.light, DEEP, cv2.CMP_LT)
    return np.asarray(cv2.bitwise_or(cv2.bitwise_or(tinged, pale), deep))


def _mostly(mask: Bytes, other: Bytes, share: float) -> bool:
    """Whether so large a share of ``mask`` is set in ``other``."""
    return bool(cv2.countNonZero(cv2.bitwise_and(mask, other)) >= share * cv2.countNonZero(mask))


def _ends(values: npt.NDArray[np.float64]) -> tuple[float, float]:
    """The ends of a pixel set along an axis, single pixels left out, the pixels' own size counted in."""
    low, high = np.percentile(values, (1.0, 99.0))
    return float(low) - 0.5, float(high) + 0.5


def _stands_out(look: Floats, inside: npt.NDArray[np.bool_], around: npt.NDArray[np.bool_]) -> float:
    """How much a region differs from the felt around it: mean distance of its parts from the ring's median."""
    felt = np.median(look[around], axis=0)
    return float(np.abs(look[inside] - felt).sum(axis=1).mean())
