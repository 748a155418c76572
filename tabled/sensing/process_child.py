"""The sensing process from within: frames to the eye, what it sees to the daemon, the last half minute kept.

One thread reads the camera, one the daemon's orders, one writes a recording when one is asked for; this loop looks.
The heartbeat comes from the loop, so it vouches for it.  Clock and memory are handed in.
"""

from __future__ import annotations

import importlib
import queue
import threading
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Protocol

from firmware_bridge.wire import DeviceId, Observation, TimeSpan
from tabled.model.calibration import Calibration
from tabled.model.camera import AnyCameraObservation, CameraTrust
from tabled.sensing import sections
from tabled.sensing.capture import MAX_NOTES, CaptureProblem, Clock, Frame, FramePump, Source
from tabled.sensing.process_wire import (
    HEAD_BYTES,
    Beat,
    Begin,
    End,
    Gone,
    Notes,
    Save,
    Saw,
    ToChild,
    ToDaemon,
    Up,
    WireProblem,
    Written,
    for_child,
    length_of,
    pack,
)
from tabled.sensing.recorder import Ring, Shelf, save, still_size
from tabled.sensing.recording import Facts, Note, RecordingError, Still

if TYPE_CHECKING:
    from tabled.sensing.landmarks import Landmarks

WAIT_S = 0.05
MAX_ORDERS = 64
MAX_NOTES_HELD = 200_000
MAX_FAILURES = 30
"""Frames in a row that the eye cannot look at: half a second of them is no accident."""
SAVE_WAIT_S = 20.0


class Eye(Protocol):
    """What is needed of `tabled.sensing.eye.Eye`."""

    def see(self, stamp_ns: int, frame: bytes, /) -> Iterable[Observation]:
        """What is new in this frame, a JPEG.  ``stamp_ns`` is the source's own time of it."""


class EyeKind(Protocol):
    """What makes an eye: the calibration, the picture's size in pixels, the camera's name.

    Raises ValueError where they do not fit.
    """

    def __call__(self, calibration: Calibration, size: tuple[int, int], *, device: DeviceId) -> Eye:
        """Make one."""


EyeMaker = Callable[[], Eye | None]
Send = Callable[[ToDaemon], None]


class Watch:
    """The loop.  `turn` does one step; it returns False when the process should end."""

    def __init__(
        self,
        begin: Begin,
        source: Source,
        make_eye: EyeMaker,
        send: Send,
        *,
        now_ns: Clock,
        memory: Callable[[], int],
        landmarks: Landmarks | None = None,
    ) -> None:
        self._landmarks = landmarks
        self._begin, self._source, self._make_eye, self._send = begin, source, make_eye, send
        self._now_ns, self._memory = now_ns, memory
        self._device = DeviceId(begin.device)
        self._ring: Ring[Still] = Ring(begin.record_ns, begin.record_bytes)
        self._pump = FramePump(source, now_ns, self._keep)
        self._eye: Eye | None = None
        self._sleepy = True
        """No eye is open: before the first frame and after a stall."""
        self._up = self._stalled = False
        self._seen = self._failed = self._failing = 0
        self._worst_ns = 0
        self._beat_ns = now_ns()
        self._orders: queue.Queue[ToChild] = queue.Queue(MAX_ORDERS)
        self._notes: dict[int, list[Note]] = {}
        self._writing: threading.Thread | None = None
        self._calibration_files: dict[str, bytes] = {}

    def _keep(self, frame: Frame) -> None:
        self._ring.put(frame.stamp_ns, still_size(still := Still(frame.stamp_ns, frame.jpeg)), still)

    def start(self) -> None:
        """Open the camera."""
        if self._begin.calibration:
            self._calibration_files = calibration_files(Path(self._begin.calibration))
        self._pump.start()

    def order(self, message: ToChild) -> None:
        """Take an order, from any thread; waits while `MAX_ORDERS` wait."""
        self._orders.put(message)

    def turn(self) -> bool:
        """Look at the newest frame, beat, obey."""
        frame = self._pump.take(WAIT_S)
        if frame is not None:
            self._look(frame)
        self._judge_age()
        if self._now_ns() - self._beat_ns >= self._begin.beat_ns:
            self._beat()
        return self._obey()

    def stop(self, timeout_s: float) -> None:
        """Finish the recording that is being written; give the camera back."""
        if self._writing is not None:
            self._writing.join(SAVE_WAIT_S)
        self._pump.stop(timeout_s)

    # -- frames ----------------------------------------------------------------------------------

    def _look(self, frame: Frame) -> None:
        if self._sleepy:
            # After a stall the eye begins anew: what it remembers is of a table that may have changed unseen.
            self._eye = self._make_eye()
            self._sleepy = self._stalled = False
        if not self._up:
            self._up = True
            self._send(Up(model=self._source.model, watching=self._eye is not None, at_ns=frame.stamp_ns))
        if self._eye is None:
            self._seen += 1
            return
        began_ns = self._now_ns()
        try:
            found = tuple(o for o in self._eye.see(frame.stamp_ns, frame.jpeg) if isinstance(o, AnyCameraObservation))
        except ValueError as error:
            self._fail(error)
            return
        self._seen += 1
        self._failing = 0
        self._worst_ns = max(self._worst_ns, self._now_ns() - began_ns)
        if found:
            self._send(Saw(observations=found))
        if self._landmarks is not None:
            self._landmarks.look(frame.stamp_ns, frame.jpeg)

    def _fail(self, error: ValueError) -> None:
        """A frame that ends as it should and is broken within; one is an accident, a row of them is a fault."""
        self._failed += 1
        self._failing += 1
        if self._failing >= MAX_FAILURES:
            raise CaptureProblem(
                f"{self._failing} pictures in a row could not be looked at ({error})",
                "check the camera's cable, and that [camera] size is that of the calibration's lens",
            )

    def _judge_age(self) -> None:
        """By the age of the newest frame on the monotonic clock: a wall clock that is set stalls no camera."""
        now_ns = self._now_ns()
        newest_ns = self._pump.newest_ns
        if self._source.lossless or not self._up or self._stalled or now_ns - newest_ns <= self._begin.stall_ns:
            return
        self._stalled = self._sleepy = True
        if self._eye is not None:
            span = TimeSpan(newest_ns, now_ns)
            self._send(Saw(observations=(CameraTrust(self._device, span, trusted=False, reason="stalled"),)))
            self._eye = None

    def _beat(self) -> None:
        now_ns, counts = self._now_ns(), self._pump.counts
        self._send(
            Beat(
                at_ns=now_ns,
                captured=counts.captured,
                seen=self._seen,
                lost=counts.lost,
                damaged=counts.damaged,
                overtaken=counts.overtaken,
                failed=self._failed + int(getattr(self._eye, "bad_frames", 0)),
                age_ns=max(0, now_ns - self._pump.newest_ns),
                stalled=self._stalled,
                worst_ns=self._worst_ns,
                memory=self._memory(),
                ring=self._ring.size,
                stamps=self._source.stamps,
                notes=self._source.notes[:MAX_NOTES],
                markers_seen=None if self._landmarks is None else self._landmarks.seen,
                shift_upx=None if self._landmarks is None else self._landmarks.shift_upx,
            )
        )
        self._worst_ns = 0
        self._beat_ns = now_ns

    # -- orders ----------------------------------------------------------------------------------

    def _obey(self) -> bool:
        while True:
            try:
                message = self._orders.get_nowait()
            except queue.Empty:
                return True
            if isinstance(message, End):
                return False
            if isinstance(message, Notes):
                held = self._notes.setdefault(message.ident, [])
                held.extend(message.notes[: max(0, MAX_NOTES_HELD - len(held))])
                for old in sorted(self._notes)[:-2]:  # of a recording that was never asked for
                    del self._notes[old]
            elif isinstance(message, Save):
                self._save(message)

    def _save(self, order: Save) -> None:
        notes = self._notes.pop(order.ident, [])
        if self._writing is not None and self._writing.is_alive():
            busy = "another recording is being written; ask again in a moment"
            self._send(Written(ident=order.ident, problem=busy))
            return
        stills = self._ring.since(self._now_ns() - self._begin.record_ns)
        squeezed = self._ring.squeezed_since(self._now_ns() - self._begin.record_ns)
        self._writing = threading.Thread(
            target=self._write, args=(order, stills, notes, squeezed), name="recording", daemon=True
        )
        self._writing.start()

    def _write(self, order: Save, stills: list[Still], notes: list[Note], squeezed: int) -> None:
        shelf = Shelf(Path(self._begin.record), self._begin.record_quota)
        facts = facts_of(order, self._source.model, self._begin.digest, squeezed)
        try:
            saved = save(shelf, order.stamp, facts, stills, notes, calibration=self._calibration_files)
        except RecordingError as error:
            self._send(Written(ident=order.ident, problem=str(error)))
        except Exception as error:  # whatever it is, the daemon hears that there is no recording
            self._send(Written(ident=order.ident, problem=f"{error!r}; please report this line to the makers"))
        else:
            self._send(
                Written(ident=order.ident, path=saved.path, size=saved.size, frames=saved.frames, deleted=saved.deleted)
            )


def facts_of(order: Save, model: str, digest: str, squeezed: int) -> Facts:
    """What a recording says of itself."""
    return Facts(
        site=order.site,
        table=order.table,
        reason=order.reason,
        wall_offset_ns=order.wall_offset_ns,
        version=order.version,
        camera=model,
        calibration=digest,
        journal=order.journal,
        dropped=order.dropped + squeezed,
    )


def calibration_files(folder: Path) -> dict[str, bytes]:
    """The calibration's files by name; one that cannot be read is left out (`sections.load` has said why)."""
    found = {}
    for name in sections.NAMES:
        try:
            raw = sections.read(sections.path_of(folder, name), name)
        except sections.CalibrationError:
            continue
        if raw is not None:
            found[sections.path_of(folder, name).name] = raw
    return found


def calibration_of(begin: Begin) -> Calibration | None:
    """That of the order; None where the table has none.  Raises `CaptureProblem` for one damaged or changed."""
    if not begin.calibration:
        return None
    try:
        calibration = sections.load(Path(begin.calibration))
    except sections.CalibrationError as error:
        raise CaptureProblem("the calibration cannot be used", str(error)) from error
    if calibration.digest != begin.digest:
        raise CaptureProblem(
            "the calibration was changed since tabled started",
            "start tabled again, so that the journal says by which one it rules from here on",
        )
    return calibration


def landmarks_of(begin: Begin, calibration: Calibration | None) -> Landmarks | None:
    """What looks for the markers of the calibration's plane; None where it has none."""
    if calibration is None or calibration.plane is None or not calibration.plane.markers:
        return None
    from tabled.sensing.landmarks import Landmarks  # noqa: PLC0415  OpenCV, which a table without markers can spare

    return Landmarks(calibration.plane.markers, (begin.width, begin.height))


def eye_maker(begin: Begin, calibration: Calibration | None) -> EyeMaker:
    """Loads the eye; what it gives raises `CaptureProblem` where eye and calibration do not fit."""
    if calibration is None:
        return lambda: None
    module, _, name = begin.eye.partition(":")
    kind: EyeKind = getattr(importlib.import_module(module), name)
    size, device = (begin.width, begin.height), DeviceId(begin.device)

    def make() -> Eye:
        try:
            return kind(calibration, size, device=device)
        except ValueError as error:
            raise CaptureProblem("the camera cannot watch by this calibration", str(error)) from error

    return make


class Pipe:
    """The child's side of the pipes: `send` from any thread, `listen` in a thread of its own."""

    def __init__(self, incoming: BinaryIO, outgoing: BinaryIO) -> None:
        self._in, self._out = incoming, outgoing
        self._lock = threading.Lock()

    def send(self, message: ToDaemon) -> None:
        """Write one message whole.  Raises OSError when the daemon is gone."""
        data = pack(message)
        with self._lock:
            self._out.write(data)
            self._out.flush()

    def receive(self) -> ToChild | None:
        """The next order, None when the daemon is gone.  Raises `WireProblem`."""
        head = self._in.read(HEAD_BYTES)
        if len(head) < HEAD_BYTES:
            return None
        size = length_of(head)
        body = self._in.read(size)
        return for_child(body) if len(body) == size else None

    def listen(self, order: Callable[[ToChild], None]) -> None:
        """Hand over every order; ends with an `End` of its own when the daemon is gone or speaks nonsense."""
        message: ToChild | None = End()
        while message is not None:
            try:
                message = self.receive()
            except (WireProblem, OSError):
                message = None
            order(message or End())


def run(
    pipe: Pipe,
    begin: Begin,
    make_source: Callable[[Begin, Clock], Source],
    now_ns: Clock,
    memory: Callable[[], int],
) -> None:
    """Watch until the daemon says to end, or until that is impossible: the daemon then hears why."""
    try:
        source, calibration = make_source(begin, now_ns), calibration_of(begin)
        watch = Watch(
            begin,
            source,
            eye_maker(begin, calibration),
            pipe.send,
            now_ns=now_ns,
            memory=memory,
            landmarks=landmarks_of(begin, calibration),
        )
        threading.Thread(target=pipe.listen, args=(watch.order,), name="orders", daemon=True).start()
        watch.start()
        try:
            while watch.turn():
                pass
        finally:
            watch.stop(1.0)
    except CaptureProblem as problem:
        pipe.send(Gone(reason=problem.reason, advice=problem.advice, over=problem.over))
