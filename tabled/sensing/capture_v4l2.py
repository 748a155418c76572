"""A camera of the kernel's (V4L2, by linuxpy): raw MJPG with the driver's own time and number of each frame.

Kernel documentation, "Video for Linux API": a buffer's ``timestamp`` is of the clock that its flags
``V4L2_BUF_FLAG_TIMESTAMP_*`` name, and of the start or the end of exposure as ``V4L2_BUF_FLAG_TSTAMP_SRC_*`` says.
What is not of the monotonic clock cannot be compared with a reader's times: then the arrival stands in for it, and
that is named.  A driver that flags "monotonic" and is not (uvcvideo with ``clock=realtime``) is found by its values.
"""

from __future__ import annotations

import errno
from typing import Any

import msgspec

from tabled.sensing.capture import CaptureProblem, Clock, Frame, Stamps, optional

BUFFERS = 4
"""At 60 frames a second two buffers leave the thread 16 ms to come back; four leave 50."""
FLAG_ERROR = 0x40
TIMESTAMP_MASK, TIMESTAMP_MONOTONIC, TIMESTAMP_COPY = 0xE000, 0x2000, 0x4000
SOURCE_MASK, SOURCE_START = 0x70000, 0x10000
EXPOSURE_MANUAL = 1
"""V4L2_EXPOSURE_MANUAL, of the menu of V4L2_CID_EXPOSURE_AUTO."""
EXPOSURE_UNIT_US = 100
"""V4L2_CID_EXPOSURE_ABSOLUTE counts in 100 µs."""
MAX_AGE_NS = 2_000_000_000
AHEAD_NS = 50_000_000
"""A stamp older than the one, or ahead by more than the other, is of another clock than ours."""


class V4l2Settings(msgspec.Struct, frozen=True, kw_only=True):
    """What is asked of the camera.  Exposure in µs, white balance in kelvin, gain and focus in the camera's units;
    None leaves the value that it has now, but locked."""

    path: str
    width: int
    height: int
    fps: int
    exposure_us: int | None = None
    gain: int | None = None
    white_balance_k: int | None = None
    focus: int | None = None


class V4l2Source:
    """`Source` of one ``/dev/video…``.  ``api`` is ``linuxpy.video.device``, imported when None."""

    lossless = False

    def __init__(self, settings: V4l2Settings, now_ns: Clock, api: Any = None) -> None:
        self._set = settings
        self._now_ns = now_ns
        self._api = api
        self._device: Any = None
        self._capture: Any = None
        self._notes: list[str] = []
        self._stamps: Stamps = "kernel"
        self._told = False
        self.model = "V4L2"

    @property
    def notes(self) -> tuple[str, ...]:
        """What could not be set as wished."""
        return tuple(self._notes)

    @property
    def stamps(self) -> Stamps:
        """ "kernel", or "arrival" from the first frame on whose stamp was not of the monotonic clock."""
        return self._stamps

    def open(self) -> None:
        """Set format, rate and controls, and start.  Raises `CaptureProblem`."""
        api = self._api = self._api or optional("linuxpy.video.device", "linuxpy")
        path = self._set.path
        try:
            self._device = api.Device(path)
            self._device.open()
            self._capture = api.VideoCapture(self._device, size=BUFFERS)
            self._set_format()
            self._lock()
            self._capture.open()
        except (OSError, api.V4L2Error) as error:
            raise _opening(path, error) from error

    def _set_format(self) -> None:
        wish, capture = self._set, self._capture
        offered = {str(f.pixel_format.name) for f in capture.formats()}
        if "MJPEG" not in offered:
            raise CaptureProblem(
                f"{wish.path} gives no MJPG, only {', '.join(sorted(offered)) or 'nothing'}",
                "use a camera that does, or its other /dev/video… node (`v4l2-ctl --list-devices` names them)",
            )
        capture.set_format(wish.width, wish.height, "MJPG")
        got = capture.get_format()
        if (got.width, got.height) != (wish.width, wish.height):
            raise CaptureProblem(
                f"{wish.path} gives {got.width}x{got.height} in place of {wish.width}x{wish.height}",
                f"set [camera] size = [{got.width}, {got.height}] and measure the lens for it, or one of the sizes "
                f"that `v4l2-ctl -d {wish.path} --list-formats-ext` lists",
            )
        capture.set_fps(wish.fps)
        fps = capture.get_fps()
        if round(fps) != wish.fps:
            self._notes.append(f"the camera gives {float(fps):g} frames a second, not {wish.fps}: set [camera] fps")
        card = self._device.info.card
        self.model = f"{card} {wish.width}x{wish.height} at {round(fps)}/s"

    def _lock(self) -> None:
        """Everything that the camera would alter by itself stands still: colours and times are measured with it."""
        ids = self._api.ControlID
        wish = self._set
        exposure = None if wish.exposure_us is None else max(1, round(wish.exposure_us / EXPOSURE_UNIT_US))
        for automatic, off, what, wanted, value, needed in (
            (ids.EXPOSURE_AUTO, EXPOSURE_MANUAL, "exposure", ids.EXPOSURE_ABSOLUTE, exposure, True),
            (ids.EXPOSURE_AUTO_PRIORITY, 0, "frame rate", None, None, False),
            (ids.AUTOGAIN, 0, "gain", ids.GAIN, wish.gain, False),
            (ids.AUTO_WHITE_BALANCE, 0, "white balance", ids.WHITE_BALANCE_TEMPERATURE, wish.white_balance_k, True),
            (ids.FOCUS_AUTO, 0, "focus", ids.FOCUS_ABSOLUTE, wish.focus, False),
        ):
            fixed = self._write(automatic, off, f"automatic {what}")
            if not fixed and needed:
                self._notes.append(f"{what}: the camera has no switch to hold it still; its colours may drift")
            if wanted is not None and value is not None and not self._write(wanted, value, what):
                self._notes.append(f"{what}: the camera cannot be set to a value; take its key out of [camera]")

    def _write(self, control_id: int, value: int, what: str) -> bool:
        """Set a control and read it back.  False where the camera has none such."""
        control = self._device.controls.get(control_id) if len(self._device.controls) else None
        if control is None:
            return False
        try:
            control.value = value
            got = control.value
        except (AttributeError, OSError, ValueError) as error:
            self._notes.append(f"{what} could not be set to {value}: {error}")
            return True
        if got is not None and int(got) != value:
            span = f" (it takes {control.minimum} to {control.maximum})"
            self._notes.append(f"{what} stands at {int(got)}, not at {value}{span}; correct it in [camera]")
        return True

    def read(self, timeout_s: float) -> Frame | None:
        """The next frame; see `Source.read`."""
        buffer, device = self._capture.buffer, self._device
        try:
            ready, _, _ = device.io.select.select((device,), (), (), timeout_s)
            if not ready:
                return None
            raw = buffer.raw_read()
        except BlockingIOError:
            return None
        except (OSError, ValueError) as error:  # ValueError: select on a closed file
            raise _reading(self._set.path, error) from error
        now_ns = self._now_ns()
        # A buffer that the driver marks as damaged counts as a frame that is none.
        jpeg = b"" if raw.buff.flags & FLAG_ERROR else bytes(raw.data)
        return Frame(self._stamp(raw.buff, now_ns), now_ns, int(raw.buff.sequence), jpeg)

    def _stamp(self, buff: Any, now_ns: int) -> int:
        stamp_ns = buff.timestamp.secs * 1_000_000_000 + buff.timestamp.usecs * 1_000
        clock = buff.flags & TIMESTAMP_MASK
        far = not now_ns - MAX_AGE_NS <= stamp_ns <= now_ns + AHEAD_NS
        if clock != TIMESTAMP_MONOTONIC or far:
            if self._stamps == "kernel":
                self._stamps = "arrival"
                why = {TIMESTAMP_MONOTONIC: "another clock's", TIMESTAMP_COPY: "copied from elsewhere"}
                self._notes.append(
                    f"the driver's times are {why.get(clock, 'of a clock that it does not name')}: frames are timed "
                    "by their arrival, which is later and less exact. For uvcvideo set its parameter clock=monotonic"
                )
            return now_ns
        if not self._told:
            self._told = True
            edge = "start" if buff.flags & SOURCE_MASK == SOURCE_START else "end"
            self.model += f", times of exposure's {edge}"
        # Once in doubt, always in doubt: two kinds of stamps in one stream would order frames wrongly.
        return stamp_ns if self._stamps == "kernel" else now_ns

    def close(self) -> None:
        """Stop and give the device back."""
        capture, device, self._capture, self._device = self._capture, self._device, None, None
        for part in (capture, device):
            try:
                if part is not None:
                    part.close()
            except (OSError, ValueError):
                continue  # it was unplugged: there is nothing to give back


def _opening(path: str, error: Exception) -> CaptureProblem:
    number = getattr(error, "errno", None)
    advice = {
        errno.ENOENT: "plug the camera in, or correct [camera] source (`v4l2-ctl --list-devices` names them)",
        errno.EACCES: "add the user that runs tabled to the group video, and log in again",
        errno.EBUSY: "end the other program that uses the camera (`fuser -v " + path + "` names it)",
        errno.ENODEV: "plug the camera in again",
    }.get(number or 0, "check that it is a camera (`v4l2-ctl -d " + path + " --all`) and plug it in again")
    return CaptureProblem(f"{path} cannot be opened ({error})", advice)


def _reading(path: str, error: Exception) -> CaptureProblem:
    return CaptureProblem(
        f"{path} stopped giving frames ({error})",
        "check its cable and its power; on a USB hub give it a port of the computer's own",
    )
