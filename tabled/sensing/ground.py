"""What lies on a zone when nobody does anything: the learned background of a tile, and what differs from it.

The difference is taken in logarithms of linear light after the gain of the lamps is off.  A shadow, which scales all
channels alike and keeps the texture, is no difference in colour; so colour counts most.  Beside it count light that is
brighter than a shadow can make it, darkness that no shadow reaches, and texture that was not there.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from tabled.sensing.geometry import Bytes, Floats, Tile
from tabled.sensing.light import BLACK, logs
from tabled.sensing.opencv import cv2

COLOUR = 0.22
"""Logarithm of a ratio of channels that no shadow makes, where lamp and daylight differ in colour."""
BRIGHT = 0.30
DARK = -1.60
"""Deeper than shadows on a lit felt go."""
TEXTURE = 0.11
ROUGH = 4.0
"""A pixel that is usually so uneven (the rim of a print, a chip's edge) needs so many times that to count."""
ROUGH_FIRST = 0.02
LEARN_FIRST = 12
"""Frames of which the first background is the median."""
RATE = 1.0 / 16.0
SKIN_LOW = (0.14, -1.60)
SKIN_HIGH = (1.45, 0.10, 1.0)
"""Red/green, blue/green and lightness (logarithms) of skin of every tone under lamps from 2700 K to 6500 K."""
SKIN_DARKEST = 0.017
"""Linear light (mean of the channels' logarithms) of the darkest skin in a fold or a shadow, white being 1."""

PARTS = np.array([[0.0, -1.0, 1.0], [1.0, -1.0, 0.0], [1 / 3, 1 / 3, 1 / 3]], np.float32)
"""From B, G, R to red/green, blue/green and lightness, all logarithms."""
_OPEN = np.ones((3, 3), np.uint8)


def parts(picture: Bytes) -> Floats:
    """Red/green, blue/green and lightness, as logarithms of linear light, of a BGR picture."""
    return np.asarray(cv2.transform(logs(picture), PARTS))


@dataclass(slots=True, eq=False)
class Look:
    """One frame of a tile beside its background.  Masks are 0 or 255, of the tile's shape."""

    seen: Floats
    """Parts with the lamps' gain taken off (rows, columns, 3)."""
    colour: Floats
    light: Floats
    texture: Floats
    strange: Bytes
    """Anything that was not there, a shadow's hard rim included."""
    solid: Bytes
    """What differs in colour, or is brighter than a shadow can be: never a shadow."""
    skin: Bytes


def skin_range(tint: Floats) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """The least and greatest parts of skin when white looks like ``tint`` (parts): dim lamps make dark skin darker."""
    red, blue, strength = (float(v) for v in tint)
    darkest = math.log(SKIN_DARKEST * math.exp(strength) + BLACK)
    return (SKIN_LOW[0] + red, SKIN_LOW[1] + blue, darkest), (SKIN_HIGH[0] + red, SKIN_HIGH[1] + blue, SKIN_HIGH[2])


class Ground:
    """The background of one tile."""

    def __init__(self, tile: Tile) -> None:
        self._known = tile.known
        self.mean: Floats = np.zeros((*tile.shape, 3), np.float32)
        self._rough: tuple[Floats, Floats, Floats] = (
            np.full(tile.shape, ROUGH_FIRST, np.float32),
            np.full(tile.shape, ROUGH_FIRST, np.float32),
            np.full(tile.shape, ROUGH_FIRST, np.float32),
        )
        self._first: list[Floats] = []
        self.ready = False

    def learn_first(self, now: Floats) -> None:
        """Collect frames' parts (gain taken off) until the background stands: then it is ``ready``."""
        self._first.append(now)
        if len(self._first) >= LEARN_FIRST:
            self.mean = np.median(np.stack(self._first), axis=0).astype(np.float32)
            self._first.clear()
            for rough in self._rough:
                rough.fill(ROUGH_FIRST)
            self.ready = True

    def start_again(self) -> None:
        """Forget the background; it is learned anew from the next frames."""
        self.ready = False
        self._first.clear()

    def look(self, raw: Floats, gain: Floats, tint: Floats) -> Look:
        """Compare a tile's smoothed parts with the background, ``gain`` (parts) being that of the lamps.

        ``tint`` (3) is what white looks like, its lightness beside the calibration's: things are judged without it.
        """
        now = cv2.subtract(raw, gain)
        red, blue, light = cv2.split(cv2.subtract(now, self.mean))
        colour = cv2.magnitude(red, blue)
        texture = cv2.blur(cv2.absdiff(light, cv2.blur(light, (9, 9))), (5, 5))
        rough_colour, rough_light, rough_texture = self._rough
        high = cv2.compare(colour, rough_colour * ROUGH + COLOUR, cv2.CMP_GT)
        bright = cv2.compare(light, rough_light * ROUGH + BRIGHT, cv2.CMP_GT)
        solid = cv2.morphologyEx(cv2.bitwise_or(high, bright), cv2.MORPH_OPEN, _OPEN)
        dark = cv2.compare(light, DARK, cv2.CMP_LT)
        grain = cv2.compare(texture, rough_texture * ROUGH + TEXTURE, cv2.CMP_GT)
        solid = cv2.bitwise_and(solid, self._known)
        strange = cv2.bitwise_and(cv2.bitwise_or(cv2.bitwise_or(dark, grain), solid), self._known)
        skin = cv2.bitwise_and(cv2.inRange(raw, *skin_range(tint)), strange)
        return Look(now, colour, light, texture, strange, solid, skin)

    def follow(self, look: Look, quiet: Bytes, *, rough: bool) -> None:
        """Let the background go after what it is now, where the mask ``quiet`` says so; if told, its unevenness too."""
        cv2.accumulateWeighted(look.seen, self.mean, RATE, quiet)
        if not rough:
            return
        for new, known in zip((look.colour, np.abs(look.light), look.texture), self._rough, strict=True):
            cv2.accumulateWeighted(new, known, RATE, quiet)

    def take(self, now: Floats, mask: Bytes) -> None:
        """What lies where ``mask`` is set is the background from now on."""
        cv2.copyTo(now, mask, self.mean)
        for rough in self._rough:
            rough[mask > 0] = ROUGH_FIRST
