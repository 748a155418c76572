"""Whether the camera may be believed: it moved, the lights changed, a zone is hidden, the focus or the stream is lost.

While it may not, it says so (`CameraTrust`) and reports no hands and no chips.  Reasons are kept apart, so that the
end of one does not hide another.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from firmware_bridge.wire import DeviceId, TimeSpan
from tabled.model.camera import CameraTrust
from tabled.sensing.geometry import Atlas, Bytes, Floats
from tabled.sensing.lane import Moment
from tabled.sensing.light import Gains
from tabled.sensing.opencv import cv2

MS = 1_000_000
STALL_NS = 500 * MS
"""No frame for so long is a stall: thirty at 60 a second."""
START_NS = 400 * MS
PATCH_PX = 64
PATCHES = 8
PATCHES_A_FRAME = 2
MIN_PATCHES = 3
RESPONSE = 0.12
"""Of a phase correlation; below it something else is in the patch."""
MOVED_PX = 0.6
BACK_PX = 0.4
ROUNDS_MOVED = 7
"""So many rounds of all patches in agreement; half a second at 60 frames a second."""
LIGHT_STEP = 0.12
"""Logarithm; over `LIGHT_NS`.  People and a camera's exposure control do less."""
LIGHT_SHARE = 25.0
"""Percentile over samples of the felt: lamps change (nearly) all of them, a shadow those that it lies on."""
LIGHT_NS = 250 * MS
LIGHT_CALM_NS = 300 * MS
HIDDEN, SHOWN = 0.60, 0.45
HIDDEN_NS, SHOWN_NS = 900 * MS, 300 * MS
BLURRED, SHARP = 0.55, 0.70
BLURRED_NS = 1_500 * MS
BAD_FRAMES, BAD_NS = 20, 1_000 * MS
MAX_LEVELS = 120
LIGHT_EVERY = 3


class Patches:
    """Pieces of the picture with edges, outside of the zones: whether they are where they were, and as sharp."""

    def __init__(self, atlas: Atlas) -> None:
        self._zones = _zones(atlas)
        self._places: list[tuple[int, int]] = []
        self._first: list[Floats] = []
        self._edges: list[float] = []
        self._window = cv2.createHanningWindow((PATCH_PX, PATCH_PX), cv2.CV_32F)
        self._next = 0
        self._round: list[tuple[float, float, float] | None] = []

    @property
    def chosen(self) -> bool:
        """Whether the reference stands."""
        return bool(self._places)

    def choose(self, picture: Bytes) -> None:
        """Take the patches with the strongest corners of this picture as reference."""
        grey = cv2.cvtColor(picture, cv2.COLOR_BGR2GRAY)
        corners = cv2.cornerMinEigenVal(cv2.GaussianBlur(grey, (0, 0), 1.5), 5)
        corners[self._zones > 0] = 0
        strength = cv2.boxFilter(np.sqrt(np.maximum(corners, 0)), -1, (PATCH_PX, PATCH_PX))
        hidden = cv2.boxFilter((self._zones > 0).astype(np.float32), -1, (PATCH_PX, PATCH_PX))
        strength[hidden > 0.02] = 0
        half = PATCH_PX // 2
        strength[:half] = strength[-half:] = 0
        strength[:, :half] = strength[:, -half:] = 0
        self._places, self._first, self._edges = [], [], []
        for _ in range(PATCHES):
            _, high, _, (x, y) = cv2.minMaxLoc(strength)
            if high <= 0:
                break
            self._places.append((x - half, y - half))
            strength[max(0, y - PATCH_PX) : y + PATCH_PX, max(0, x - PATCH_PX) : x + PATCH_PX] = 0
        for n in range(len(self._places)):
            patch = self._patch(picture, n)
            self._first.append(patch)
            self._edges.append(_edges(patch))
        self._next, self._round = 0, []

    def step(self, picture: Bytes) -> tuple[float, float] | None:
        """Look at the next few; after a whole round (shift in pixels, sharpness beside the first)."""
        for _ in range(min(PATCHES_A_FRAME, len(self._places))):
            n = self._next
            patch = self._patch(picture, n)
            sharp = _edges(patch) / max(self._edges[n], 1e-6)
            # It multiplies its arguments by the window where they are: give it copies.
            (dx, dy), response = cv2.phaseCorrelate(self._first[n].copy(), patch, self._window)
            self._round.append((dx, dy, sharp) if response > RESPONSE else None)
            self._next = (n + 1) % len(self._places)
            if self._next == 0:
                return self._judged()
        return None

    def _judged(self) -> tuple[float, float] | None:
        good = np.array([r for r in self._round if r is not None])
        self._round = []
        if len(good) < MIN_PATCHES:
            return None
        dx, dy, sharp = np.median(good, axis=0)
        agree = int((np.hypot(good[:, 0] - dx, good[:, 1] - dy) < 0.5).sum())
        if agree < max(MIN_PATCHES, 0.6 * len(good)):
            return None
        return float(np.hypot(dx, dy)), float(sharp)

    def _patch(self, picture: Bytes, n: int) -> Floats:
        x, y = self._places[n]
        grey = cv2.cvtColor(picture[y : y + PATCH_PX, x : x + PATCH_PX], cv2.COLOR_BGR2GRAY)
        return np.asarray(grey, np.float32)


def _edges(patch: Floats) -> float:
    """Energy of the finer edges, noise smoothed away, beside the patch's contrast."""
    smooth = cv2.GaussianBlur(patch, (0, 0), 0.8)
    edges, contrast = (float(cv2.meanStdDev(p)[1][0, 0]) for p in (cv2.Laplacian(smooth, cv2.CV_32F), smooth))
    return edges / (contrast + 2.0)


def _zones(atlas: Atlas) -> Bytes:
    """255 in the raw picture where a zone or the place before it is."""
    out = np.zeros((atlas.view.height, atlas.view.width), np.uint8)
    for tile in atlas.tiles:
        y, x = np.nonzero(tile.inward > -20.0)
        if len(y):
            seen = atlas.view.pixels(
                np.array([tile.table(float(a), float(b)) for a, b in zip(x[::5], y[::5], strict=True)])
            )
            hull = cv2.convexHull(np.round(seen).astype(np.int32))
            cv2.fillConvexPoly(out, hull, 255)
    return out


@dataclass(slots=True)
class _Since:
    """How long something has held without a break."""

    at_ns: int | None = None

    def held(self, now: bool, at_ns: int) -> int:
        """ns since it began to hold, -1 if it does not."""
        if not now:
            self.at_ns = None
            return -1
        if self.at_ns is None:
            self.at_ns = at_ns
        return at_ns - self.at_ns


@dataclass(eq=False)
class Health:
    """What is wrong with the camera, for the table and for each seat."""

    device: DeviceId
    atlas: Atlas
    gains: Gains
    _wrong: dict[str, list[str]] = field(default_factory=dict)
    """Reasons by seat ("" for all); a scope that is missing has not yet been trusted."""
    _started_ns: int | None = None

    def __post_init__(self) -> None:
        self._patches = Patches(self.atlas)
        self._levels: deque[tuple[int, npt.NDArray[np.float32]]] = deque(maxlen=MAX_LEVELS)
        self._moved_rounds = 0
        self._blurred, self._sharp = _Since(), _Since()
        self._hidden: dict[str, _Since] = {}
        self._shown: dict[str, _Since] = {}
        self._bad: deque[int] = deque(maxlen=BAD_FRAMES)
        self._stepped_ns = -(1 << 62)
        self._anew: list[str] = []
        self._looked = 0

    # -- asked ------------------------------------------------------------------------------------

    def believed(self, seat: str) -> bool:
        """Whether game events of this seat may be reported."""
        return self._started_ns is not None and not self._wrong.get("", ["start"]) and not self._wrong.get(seat)

    def anew(self) -> list[str]:
        """Seats ("" for all) of which the background must be learned again, told once."""
        out, self._anew = self._anew, []
        return out

    # -- told -------------------------------------------------------------------------------------

    def picture(self, picture: Bytes, when: Moment) -> list[CameraTrust]:
        """One whole frame, of which the lamps' gain was measured."""
        at_ns = when.first_ns
        out: list[CameraTrust] = []
        if self._started_ns is None:
            self._started_ns = at_ns
        if at_ns - when.before_ns >= STALL_NS or "stalled" in self._wrong.get("", []):
            out += self._right("", "stalled", at_ns)
        if "" not in self._wrong:
            if at_ns - self._started_ns < START_NS:
                return out
            self._wrong[""] = ["start"]
            self._patches.choose(picture)
            out += self._right("", "start", at_ns)
        out += self._light(at_ns)
        judged = self._patches.step(picture) if self._patches.chosen else None
        if judged is not None:
            out += self._place(*judged, at_ns)
        return out

    def covered(self, seat: str, share: float, at_ns: int) -> list[CameraTrust]:
        """How much of a zone is hidden."""
        hidden = self._hidden.setdefault(seat, _Since()).held(share >= HIDDEN, at_ns)
        shown = self._shown.setdefault(seat, _Since()).held(share <= SHOWN, at_ns)
        wrong = "occluded" in self._wrong.get(seat, [])
        if not wrong and hidden >= HIDDEN_NS:
            if at_ns - self._stepped_ns < 3_000 * MS:
                self._anew.append(seat)  # the lamps shine from elsewhere: nothing is on the zone
                return []
            return self._bad_now(seat, "occluded", at_ns)
        return self._right(seat, "occluded", at_ns) if wrong and shown >= SHOWN_NS else []

    def bad_frame(self, at_ns: int) -> list[CameraTrust]:
        """A frame that cannot be believed; many in a short time are as bad as none."""
        self._bad.append(at_ns)
        if len(self._bad) == BAD_FRAMES and at_ns - self._bad[0] <= BAD_NS:
            return self._bad_now("", "stalled", at_ns)
        return []

    def stalled(self, now_ns: int, last_ns: int | None) -> list[CameraTrust]:
        """No frame for too long."""
        if last_ns is None or now_ns - last_ns < STALL_NS:
            return []
        return self._bad_now("", "stalled", now_ns)

    # -- parts ------------------------------------------------------------------------------------

    def _light(self, at_ns: int) -> list[CameraTrust]:
        """The light on the felt between the zones, flicker averaged out, against that of a quarter of a second ago."""
        self._levels.append((at_ns, self.gains.change[self.gains.used].mean(axis=-1)))
        self._looked = (self._looked + 1) % LIGHT_EVERY
        if self._looked:
            return []
        new = [v for t, v in self._levels if t > at_ns - 100 * MS]
        old = [v for t, v in self._levels if at_ns - LIGHT_NS - 100 * MS < t <= at_ns - LIGHT_NS]
        if not old:
            return []
        steps = np.abs(np.mean(new, axis=0) - np.mean(old, axis=0))
        step = float(np.percentile(steps, LIGHT_SHARE))
        if step > LIGHT_STEP:
            self._stepped_ns = at_ns
            return self._bad_now("", "lights", at_ns)
        if at_ns - self._stepped_ns >= LIGHT_CALM_NS:
            return self._right("", "lights", at_ns)
        return []

    def _place(self, shift_px: float, sharp: float, at_ns: int) -> list[CameraTrust]:
        out: list[CameraTrust] = []
        wrong = self._wrong.get("", [])
        self._moved_rounds = self._moved_rounds + 1 if shift_px >= MOVED_PX else 0
        if self._moved_rounds >= ROUNDS_MOVED:
            out += self._bad_now("", "moved", at_ns)
        elif "moved" in wrong and shift_px < BACK_PX:
            self._anew.append("")
            out += self._right("", "moved", at_ns)
        if self._blurred.held(sharp < BLURRED, at_ns) >= BLURRED_NS:
            out += self._bad_now("", "focus", at_ns)
        elif "focus" in wrong and self._sharp.held(sharp > SHARP, at_ns) >= BLURRED_NS:
            out += self._right("", "focus", at_ns)
        return out

    def _bad_now(self, seat: str, reason: str, at_ns: int) -> list[CameraTrust]:
        reasons = self._wrong.setdefault(seat, [])
        if reason in reasons:
            return []
        reasons.append(reason)
        return [CameraTrust(self.device, TimeSpan(at_ns, at_ns), trusted=False, reason=reason, seat=seat)]

    def _right(self, seat: str, reason: str, at_ns: int) -> list[CameraTrust]:
        reasons = self._wrong.get(seat, [])
        if reason not in reasons:
            return []
        reasons.remove(reason)
        if reasons:
            return [CameraTrust(self.device, TimeSpan(at_ns, at_ns), trusted=False, reason=reasons[0], seat=seat)]
        return [CameraTrust(self.device, TimeSpan(at_ns, at_ns), trusted=True, seat=seat)]
