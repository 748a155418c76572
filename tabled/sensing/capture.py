"""Frames from wherever they come: what a frame is, what a source of them can do, and the newest one kept.

A source is read by a thread of its own (`FramePump`), which hands every frame to the recorder and leaves the newest
in a slot for the eye.  An eye that is slow misses frames, it never sees old ones: what it missed is counted.
Times are host monotonic nanoseconds; the clock is handed in.
"""

from __future__ import annotations

import importlib
import threading
from collections.abc import Callable
from typing import Any, Literal, Protocol

import msgspec

MAX_JPEG = 8 << 20
"""Bytes of one picture; a 4K picture of a table has about two million."""
MAX_PADDING = 1 << 16
"""Zeros that a driver may leave behind the picture's end."""
POLL_S = 0.25
"""How long a source is waited for before the thread looks whether it should end."""
MAX_NOTES = 8

Clock = Callable[[], int]
Stamps = Literal["kernel", "arrival", "file"]


class Frame(msgspec.Struct, frozen=True):
    """One picture as it came.

    ``stamp_ns`` is the source's own time of it (see `Source.stamps`), ``arrived_ns`` when this process had it, both
    on the host's monotonic clock.  ``sequence`` counts what the camera made, so a gap is a loss; -1: not counted.
    """

    stamp_ns: int
    arrived_ns: int
    sequence: int
    jpeg: bytes


class CaptureProblem(Exception):
    """No frames: ``reason`` is what is wrong, ``advice`` what the technician does.  ``over``: a file has ended."""

    def __init__(self, reason: str, advice: str, *, over: bool = False) -> None:
        super().__init__(f"{reason}; {advice}")
        self.reason, self.advice, self.over = reason, advice, over


class Source(Protocol):
    """A camera, a stream or a file.  ``open``, then ``read`` again and again, then ``close``; all from one thread.

    ``model`` says in a few words what it is.  ``notes`` are for the technician: what could not be set as wished.
    ``stamps`` is whose time a frame carries: the kernel's of its exposure, that of its arrival here, or the file's.
    ``lossless``: the next frame may wait until the one before was seen (a file that is played as fast as it goes).
    """

    @property
    def model(self) -> str: ...
    @property
    def notes(self) -> tuple[str, ...]: ...
    @property
    def stamps(self) -> Stamps: ...
    @property
    def lossless(self) -> bool: ...

    def open(self) -> None:
        """Raises `CaptureProblem`."""

    def read(self, timeout_s: float) -> Frame | None:
        """The next frame, None if none came in time.  Raises `CaptureProblem`."""

    def close(self) -> None:
        """Gives everything back; safe at any time."""


class Counts(msgspec.Struct, frozen=True, kw_only=True):
    """What became of the frames since the source was opened.

    ``lost``: the camera made them and they never came (gaps in its own numbers).  ``damaged``: no whole picture.
    ``overtaken``: whole, but a newer one came before the eye was free.
    """

    captured: int = 0
    lost: int = 0
    damaged: int = 0
    overtaken: int = 0


def optional(module: str, package: str) -> Any:
    """A module of the extra that only cameras need; raises `CaptureProblem` where ``package`` is not installed."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise CaptureProblem(
            f"the package {package} is not installed", "run `pip install 'tabled[camera]'` where tabled is installed"
        ) from error


def whole(jpeg: bytes) -> bool:
    """True for bytes that begin and end as a JPEG does (ITU-T T.81 §B.1.1.3: SOI, EOI); padding may follow."""
    if not 4 < len(jpeg) <= MAX_JPEG or not jpeg.startswith(b"\xff\xd8"):
        return False
    tail = jpeg[-MAX_PADDING:].rstrip(b"\0")
    # A scan may end in any byte before EOI, so the marker itself must be there.
    return tail.endswith(b"\xff\xd9")


class Slot:
    """Room for one frame, the newest.  ``put`` from one thread, ``take`` from another."""

    def __init__(self) -> None:
        self._change = threading.Condition()
        self._frame: Frame | None = None
        self._problem: Exception | None = None
        self._closed = False
        self.overtaken = 0

    def put(self, frame: Frame, *, patient: bool = False) -> None:
        """Leave a frame; one that nobody took is overtaken.  ``patient``: wait until that one was taken instead."""
        with self._change:
            if patient:
                self._change.wait_for(lambda: self._frame is None or self._closed)
            if self._frame is not None:
                self.overtaken += 1
            self._frame = frame
            self._change.notify_all()

    def fail(self, problem: Exception) -> None:
        """The frames have ended: `take` raises this after the last one."""
        with self._change:
            self._problem = problem
            self._change.notify_all()

    def close(self) -> None:
        """Nobody will take any more."""
        with self._change:
            self._closed = True
            self._change.notify_all()

    def take(self, timeout_s: float) -> Frame | None:
        """The newest frame that was not taken yet, None if none comes in time.  Raises what the source raised."""
        with self._change:
            self._change.wait_for(lambda: self._frame is not None or self._problem is not None, timeout_s)
            frame, self._frame = self._frame, None
            if frame is None and self._problem is not None:
                raise self._problem
            self._change.notify_all()
            return frame


class FramePump:
    """The thread that reads a source.  ``on_frame`` is called with every whole frame, in that thread."""

    def __init__(self, source: Source, now_ns: Clock, on_frame: Callable[[Frame], None]) -> None:
        self._source = source
        self._now_ns = now_ns
        self._on_frame = on_frame
        self._slot = Slot()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="frames", daemon=True)
        self._captured = self._lost = self._damaged = 0
        self._sequence = -1
        self.newest_ns = now_ns()
        """When the newest whole frame arrived; the start, before there was one."""

    def start(self) -> None:
        """Open the source and read it."""
        self._thread.start()

    def stop(self, timeout_s: float) -> bool:
        """Ask the thread to end.  False when the source holds it up: the process must go then."""
        self._stop.set()
        self._slot.close()
        if self._thread.is_alive():
            self._thread.join(timeout_s)
        return not self._thread.is_alive()

    def take(self, timeout_s: float) -> Frame | None:
        """The newest frame; see `Slot.take`."""
        return self._slot.take(timeout_s)

    @property
    def counts(self) -> Counts:
        """What became of the frames so far."""
        return Counts(captured=self._captured, lost=self._lost, damaged=self._damaged, overtaken=self._slot.overtaken)

    def _run(self) -> None:
        try:
            self._source.open()
            while not self._stop.is_set():
                frame = self._source.read(POLL_S)
                if frame is not None:
                    self._came(frame)
        except Exception as problem:  # whatever a driver raises ends this camera's frames, and says so
            self._slot.fail(problem)
        finally:
            self._source.close()

    def _came(self, frame: Frame) -> None:
        if frame.sequence >= 0:
            # A number that falls is a camera that began anew, not four thousand million lost frames.
            if self._sequence >= 0 and frame.sequence > self._sequence + 1:
                self._lost += frame.sequence - self._sequence - 1
            self._sequence = frame.sequence
        if not whole(frame.jpeg):
            self._damaged += 1
            return
        self._captured += 1
        self.newest_ns = frame.arrived_ns
        self._on_frame(frame)
        self._slot.put(frame, patient=self._source.lossless)
