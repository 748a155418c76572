"""The camera's eye: frames in, observations of hands, chips and its own trust out.  A function of its arguments.

One `Eye` a camera.  It knows no clock: each frame comes with the driver's time stamp of its first row, and its age is
told by who holds the clock.
"""

from __future__ import annotations

import numpy as np

from firmware_bridge.wire import DeviceId, Observation
from tabled.model.calibration import Calibration
from tabled.sensing.colours import Colours
from tabled.sensing.geometry import Atlas, Bytes, Floats
from tabled.sensing.ground import COLOUR, PARTS, parts
from tabled.sensing.health import Health
from tabled.sensing.lane import Lane, Moment
from tabled.sensing.light import LINEAR, Gains
from tabled.sensing.opencv import cv2
from tabled.sensing.picture import BadPicture, decode
from tabled.sensing.piles import Pile

MS = 1_000_000
CAMERA = DeviceId("camera")
STEP = 2
"""Every so many-th pixel tells whether a tile has to be looked at in full."""
ACTIVE_PX = 8
TINTED = 1.6 * COLOUR
"""A pixel that differs so much in a part, noise and all, may be of something solid."""
NOISE_NS = 2 * MS
"""Of an instant: what the picture's noise makes of a crossing."""
DEFAULT_EXPOSURE_NS = 8 * MS
DEFAULT_READOUT_NS = 14 * MS
DEFAULT_SPREAD_NS = 15 * MS
MAX_GAP_NS = 1_000 * MS
"""After so long without a frame nothing is known of what went on."""


class Eye:
    """Watches the bet zones of one table.

    ``size`` is the picture's (width, height) and must be the calibrated one.  ``seats`` are those to watch, all with a
    bet zone if it is empty.  Raises `GeometryError` if the calibration lacks a section or does not fit.
    """

    def __init__(
        self,
        calibration: Calibration,
        size: tuple[int, int],
        seats: tuple[str, ...] = (),
        device: DeviceId = CAMERA,
    ) -> None:
        cv2.setNumThreads(1)
        self.device = device
        self.size = size
        self.atlas = Atlas(calibration, seats)
        self.bad_frames = 0
        """Frames that were cut off or corrupt."""
        self.old_frames = 0
        """Frames with a time stamp no later than the one before."""
        time = calibration.time
        self._offset_ns = time.offset_ns if time is not None else 0
        self._exposure_ns = time.exposure_ns if time is not None else DEFAULT_EXPOSURE_NS
        self._readout_ns = time.readout_ns if time is not None else DEFAULT_READOUT_NS
        spread = time.spread_ns if time is not None else DEFAULT_SPREAD_NS
        palette = calibration.palette
        self._colours = Colours(palette) if palette is not None else None
        foot = (float(self.atlas.view.eye_mm[0]), float(self.atlas.view.eye_mm[1]))
        self.lanes = tuple(Lane(device, t, foot, self._colours, spread + NOISE_NS) for t in self.atlas.tiles)
        self._few_mean: list[Floats | None] = [None] * len(self.lanes)
        self._gains = Gains(self.atlas)
        self.health = Health(device, self.atlas, self._gains)
        rows = [np.minimum(t.row * 255.0 + 0.5, 255.0).astype(np.uint8) for t in self.atlas.tiles]
        self._rows = [np.dstack([r] * 3) for r in rows]
        self._few_rows = [np.ascontiguousarray(r[::STEP, ::STEP]) for r in self._rows]
        self._few_watched = [np.where(lane.watch[::STEP, ::STEP], np.uint8(255), np.uint8(0)) for lane in self.lanes]
        self._tint: Floats = np.zeros(3, np.float32)
        self._tinted = False
        self._last_ns: int | None = None
        self._turn = 0

    # -- in ---------------------------------------------------------------------------------------

    def see(self, stamp_ns: int, frame: bytes | Bytes) -> list[Observation]:
        """One frame, as JPEG bytes or a BGR picture; ``stamp_ns`` is the driver's for its first row.

        A frame that cannot be believed counts in ``bad_frames`` and gives nothing; many of them end the trust.
        """
        first_ns = stamp_ns + self._offset_ns + self._exposure_ns // 2
        if self._last_ns is not None and first_ns <= self._last_ns:
            self.old_frames += 1
            return []
        try:
            picture = decode(frame, self.size) if isinstance(frame, bytes | bytearray | memoryview) else frame
        except BadPicture:
            self.bad_frames += 1
            return list(self.health.bad_frame(first_ns))
        before = self._last_ns if self._last_ns is not None else first_ns - MAX_GAP_NS
        self._last_ns = first_ns
        return self._look(picture, Moment(first_ns, self._readout_ns, before))

    def stalled(self, now_ns: int) -> list[Observation]:
        """Tell it the host's monotonic time; it says once that the stream has stalled (see `Health.STALL_NS`)."""
        return list(self.health.stalled(now_ns, self._last_ns))

    def piles(self, seat: str) -> tuple[Pile, ...]:
        """What lies on a seat's zone as far as the camera saw it come."""
        return tuple(p for lane in self.lanes if lane.tile.seat == seat for p in lane.piles.piles)

    # -- one picture ------------------------------------------------------------------------------

    def _look(self, picture: Bytes, when: Moment) -> list[Observation]:
        sheet = self.atlas.warp(picture)
        gain = self._gains.measure(picture)
        self._gains.follow(0.01, gain)
        table = np.asarray(self._gains.spread(gain) @ PARTS.T, np.float32)[None]
        out: list[Observation] = list(self.health.picture(picture, when))
        for change in self.health.anew():
            for lane in self.lanes:
                if change in ("", lane.tile.seat):
                    lane.learn_anew()
        self._turn = (self._turn + 1) % len(self.lanes)
        for n, lane in enumerate(self.lanes):
            tile = sheet[lane.tile.rows, : lane.tile.shape[1]]
            at_ns = when.at(0.5)
            if lane.ground.ready and n != self._turn and at_ns > lane.hot_ns and not self._active(n, tile, table):
                out += lane.idle(at_ns)
                continue
            self._few_mean[n] = None
            raw = np.asarray(cv2.blur(parts(tile), (3, 3)), np.float32)
            bright: Floats = np.asarray(cv2.LUT(self._rows[n], table))
            if not lane.ground.ready:
                lane.ground.learn_first(raw - bright)
                continue
            seen = lane.see(raw, bright, self._tint, tile, when, turn=n == self._turn)
            if n == self._turn:
                self._learn_tint(lane, tile)
            out += [o for o in seen if self.health.believed(lane.tile.seat)]
            out += self.health.covered(lane.tile.seat, lane.covered, at_ns)
        return out

    def _active(self, n: int, tile: Bytes, table: Floats) -> bool:
        """Whether anything solid seems to be in a tile, by every `STEP`-th pixel."""
        # As smooth as the background, or noise would keep a quiet tile busy.
        few = np.ascontiguousarray(cv2.blur(tile, (3, 3))[::STEP, ::STEP])
        if self._few_mean[n] is None:
            self._few_mean[n] = np.ascontiguousarray(self.lanes[n].ground.mean[::STEP, ::STEP])
        usual = cv2.add(cv2.LUT(self._few_rows[n], table), self._few_mean[n])
        same = cv2.inRange(cv2.subtract(parts(few), usual), (-TINTED, -TINTED, -1e9), (TINTED, TINTED, 1e9))
        return bool(cv2.countNonZero(cv2.bitwise_and(cv2.bitwise_not(same), self._few_watched[n])) >= ACTIVE_PX)

    def _learn_tint(self, lane: Lane, tile: Bytes) -> None:
        """What the light does to colours, by the felt's."""
        if self._colours is None or lane.look is None or lane.covered > 0.3:
            return
        bare = (lane.look.strange[::3, ::3] == 0) & (lane.tile.inward[::3, ::3] > 0)
        felt = LINEAR[tile[::3, ::3][bare]]
        if len(felt) < 50:
            return
        tint = self._colours.tint(np.median(felt, axis=0)[::-1].astype(np.float64))
        self._tint += (tint - self._tint) * np.float32(0.1 if self._tinted else 1.0)
        self._tinted = True
