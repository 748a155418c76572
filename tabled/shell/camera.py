"""The camera's process, from the daemon's side: started, watched, killed and started again; never waited for.

It is a device like a reader: `DeviceUp` when frames come, `DeviceLost` with what to do when they do not, a back-off
between two lives.  Its reports go to the sink in order.  A process that is silent, takes too much memory, floods or
writes garbage is killed; one that does not even die is left alone, and named.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
from collections import deque
from collections.abc import Callable, Sequence
from pathlib import Path
from random import SystemRandom

from firmware_bridge.wire import BootId, DeviceId, DeviceLost, DeviceUp, TimeSpan
from tabled.model.camera import AnyCameraObservation
from tabled.sensing.process_wire import (
    HEAD_BYTES,
    Beat,
    Begin,
    End,
    Gone,
    Saw,
    ToChild,
    ToDaemon,
    Up,
    WireProblem,
    Written,
    for_daemon,
    length_of,
    pack,
)
from tabled.shell.camera_health import CameraHealth, CameraState
from tabled.shell.config import CameraSection

Sink = Callable[[DeviceUp | DeviceLost | AnyCameraObservation], None]
Clock = Callable[[], int]

BACK_OFF_S = 0.5
BACK_OFF_CAP_S = 30.0
STEADY_NS = 60_000_000_000
"""Up for so long, and it is no crash loop."""
LOOP = 4
"""So many short lives in a row are one."""
START_S = 30.0
"""From the start of the process to its first word: it loads libraries and opens the camera."""
SILENT_S = 10.0
"""Without a heartbeat for so long it hangs."""
STALL_NS = 6_000_000_000
"""Without a frame for so long the camera is opened anew; it is untrusted long before."""
GOODBYE_S = 3.0
KILL_S = 3.0
WRITE_S = 10.0
FLOOD = 400
"""Observations between two heartbeats: ten seats cannot do more."""
LAST_WORDS = 2048
MIB = 1 << 20


class _Ended(Exception):
    """This life is over.  ``over``: there will be no other."""

    def __init__(self, reason: str, advice: str, *, over: bool = False) -> None:
        super().__init__(reason)
        self.reason, self.advice, self.over = reason, advice, over


class Camera:
    """The sensing process of one table.  Event loop's thread only.

    ``sink`` takes what is reported; one that raises ends this life of the process, because what it could not take is
    lost.  ``on_written`` hears of recordings.  ``memory`` is in bytes, resident.  ``command`` starts the process.
    """

    def __init__(
        self,
        begin: Begin,
        sink: Sink,
        now_ns: Clock,
        *,
        memory: int,
        on_written: Callable[[Written], None] = lambda _: None,
        command: Sequence[str] = (),
        environment: dict[str, str] | None = None,
        chance: Callable[[], float] | None = None,
    ) -> None:
        self._begin, self._sink, self._now_ns, self._on_written = begin, sink, now_ns, on_written
        self._memory = memory
        self._command = list(command) or [sys.executable, "-P", "-m", "tabled.shell.camera_child", str(os.getpid())]
        self._environment = {**os.environ, "OMP_NUM_THREADS": "1", **(environment or {})}
        self._chance = chance or SystemRandom().random
        self._device = DeviceId(begin.device)
        self._task: asyncio.Task[None] | None = None
        self._process: asyncio.subprocess.Process | None = None
        self._state = CameraState(device=begin.device, since_ns=now_ns(), digest=begin.digest)
        self._owed: DeviceLost | None = None
        self._last_words: deque[bytes] = deque(maxlen=16)
        self._listener: asyncio.Task[None] | None = None
        self._flow = 0
        self._alive_ns = now_ns()
        self._short_lives = 0
        self._stopping = False

    def start(self) -> None:
        """Begin its life; returns at once."""
        self._task = asyncio.create_task(self._live(), name="camera")

    async def stop(self) -> None:
        """End the process and the watch over it; takes `GOODBYE_S` + `KILL_S` at most."""
        self._stopping = True
        if self._task is not None:
            with contextlib.suppress(OSError, RuntimeError):  # it is going already
                self._write(End())
            if self._process is not None:
                await asyncio.wait([self._task], timeout=GOODBYE_S)
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    def health(self) -> CameraHealth:
        """How it is."""
        return CameraHealth(self._state, self._now_ns())

    @property
    def up(self) -> bool:
        """Frames come."""
        return self._state.state == "up"

    async def send(self, messages: Sequence[ToChild]) -> bool:
        """Orders to the process, in order.  False when it cannot take them (it is down, or its pipe is full)."""
        process = self._process
        if not self.up or process is None or process.stdin is None:
            return False
        try:
            for message in messages:
                process.stdin.write(pack(message))
                async with asyncio.timeout(WRITE_S):
                    await process.stdin.drain()
        except (OSError, TimeoutError, RuntimeError, WireProblem):
            return False
        return True

    # -- life ------------------------------------------------------------------------------------

    async def _live(self) -> None:
        back_off_s = BACK_OFF_S
        while True:
            began_ns = self._now_ns()
            try:
                await self._one_life()
            except _Ended as end:
                ended = end
            except asyncio.CancelledError:
                await self._end_process()
                raise
            except Exception as error:  # a fault here must not leave the table without a word about its camera
                ended = _Ended(f"fault in its watch: {error!r}", "please report this line to the makers")
            await self._end_process()
            if self._stopping:
                return
            short = self._now_ns() - began_ns < STEADY_NS
            self._short_lives = self._short_lives + 1 if short else 0
            self._lost(ended)
            if ended.over:
                self._state.over = True
                return
            back_off_s = min(2 * back_off_s, BACK_OFF_CAP_S) if short else BACK_OFF_S
            await self._rest(back_off_s * (0.5 + 0.5 * self._chance()))

    async def _rest(self, seconds: float) -> None:
        """The back-off; a loss that the sink would not take is told as soon as it does."""
        loop = asyncio.get_running_loop()
        until = loop.time() + seconds
        while (left := until - loop.time()) > 0 or self._owed is not None:
            self._pay()
            await asyncio.sleep(min(max(left, 0.05), 0.5))

    async def _one_life(self) -> None:
        state = self._state
        state.enter("opening", self._now_ns())
        state.starts += 1
        self._flow = 0
        self._last_words.clear()
        try:
            process = await asyncio.create_subprocess_exec(
                *self._command,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                env=self._environment,
                start_new_session=True,  # Ctrl-C is the daemon's to hand on
            )
        except OSError as error:
            raise _Ended(
                f"its process could not be started ({error.strerror or error})", "free memory, then start tabled again"
            ) from error
        self._process = process
        assert process.stdout is not None
        assert process.stderr is not None
        listener = self._listener = asyncio.create_task(self._hear_last_words(process.stderr))
        try:
            self._write(self._begin)
            await self._attend(process.stdout)
        finally:
            listener.cancel()

    async def _attend(self, stream: asyncio.StreamReader) -> None:
        """Take its messages until it ends; raises `_Ended`."""
        patience_s = START_S
        while True:
            try:
                async with asyncio.timeout(patience_s):  # not wait_for: it may lose a cancellation
                    message = await self._message(stream)
            except TimeoutError as error:
                raise _Ended(
                    f"it did not answer for {patience_s:g} s",
                    "it was ended and is started again by itself; if this comes again, run a camera of fewer pixels "
                    "or frames, or a faster computer",
                ) from error
            except WireProblem as error:
                raise _Ended(
                    f"it wrote what it must not ({error})",
                    "it is started again by itself; if this comes again, install tabled anew",
                ) from error
            except asyncio.IncompleteReadError as error:
                raise await self._died() from error
            patience_s = SILENT_S
            self._alive_ns = self._now_ns()
            self._take(message)

    async def _message(self, stream: asyncio.StreamReader) -> ToDaemon:
        size = length_of(await stream.readexactly(HEAD_BYTES))
        return for_daemon(await stream.readexactly(size))

    def _take(self, message: ToDaemon) -> None:
        match message:
            case Up():
                self._came_up(message)
            case Saw():
                self._saw(message)
            case Beat():
                self._beat(message)
            case Written():
                self._on_written(message)
            case Gone():
                raise _Ended(message.reason, message.advice, over=message.over)

    def _came_up(self, up: Up) -> None:
        self._state.enter("up", self._now_ns())
        self._state.model, self._state.watching = up.model, up.watching
        boot = BootId(SystemRandom().getrandbits(32))
        at_ns = min(up.at_ns, self._now_ns())
        span = TimeSpan(at_ns, self._now_ns())
        calibration = f"calibration {self._begin.digest}" if self._begin.digest else "no calibration"
        self._pay()
        self._hand_over(DeviceUp(self._device, span, up.model[:200], calibration, boot))

    def _saw(self, saw: Saw) -> None:
        if not self.up:
            raise _Ended("it reported before it had a picture", "please report this line to the makers")
        self._flow += len(saw.observations)
        if self._flow > FLOOD:
            raise _Ended(
                f"it reported {self._flow} things within one heartbeat",
                "measure the camera's zones again; it is started again by itself",
            )
        for observation in saw.observations:
            if observation.device != self._device:
                raise _Ended(f"it reported as {observation.device!r}", "please report this line to the makers")
            self._hand_over(observation)

    def _beat(self, beat: Beat) -> None:
        self._flow = 0
        self._state.take(beat)
        if beat.memory > self._memory:
            raise _Ended(
                f"it took {beat.memory // MIB} MB of memory",
                f"it is started again; [camera] memory_mb and record_memory_mb allow {self._memory // MIB} MB",
            )
        if self.up and beat.age_ns > STALL_NS:
            raise _Ended(
                f"no picture came for {beat.age_ns // 1_000_000_000} s",
                "check its cable and its power; it is opened again by itself",
            )
        if not self.up and self._now_ns() - self._state.since_ns > START_S * 1e9:
            raise _Ended(
                "it is open and gives no picture",
                "unplug the camera and plug it in again; it is opened again by itself",
            )

    def _hand_over(self, observation: DeviceUp | AnyCameraObservation) -> None:
        try:
            self._sink(observation)
        except Exception as error:  # what is not taken is lost, and with it what the camera may claim
            self._state.undelivered += 1
            raise _Ended(
                f"tabled could not take its observation ({error})",
                "see tabled's other messages: the disk of the journal may be full; it is started again by itself",
            ) from error

    # -- ends ------------------------------------------------------------------------------------

    async def _died(self) -> _Ended:
        process = self._process
        assert process is not None
        code: int | None = None
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(KILL_S):
                code = await process.wait()
        if self._listener is not None:
            await asyncio.wait([self._listener], timeout=KILL_S)
        last = b"".join(self._last_words).decode("utf-8", "replace").strip().splitlines()
        how = f"signal {-code}" if code is not None and code < 0 else f"exit {code}"
        said = f": {last[-1][:200]}" if last else ""
        return _Ended(f"its process ended ({how}){said}", "it is started again by itself")

    async def _hear_last_words(self, stream: asyncio.StreamReader) -> None:
        while data := await stream.read(LAST_WORDS):
            self._last_words.append(data)

    async def _end_process(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        if process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            try:
                async with asyncio.timeout(KILL_S):
                    await process.wait()
            except TimeoutError:
                # It hangs in the kernel; killing it is done as soon as it comes out, and nobody waits for that.
                self._state.undead += 1
        if process.stdin is not None:
            process.stdin.close()

    def _lost(self, ended: _Ended) -> None:
        now_ns = self._now_ns()
        advice = f"'{self._begin.device}': {ended.advice}"
        news = (ended.reason, advice) != (self._state.error, self._state.advice) or self._state.state == "up"
        self._state.error, self._state.advice = ended.reason, advice
        self._state.enter("lost", now_ns)
        self._state.loop = self._short_lives if self._short_lives >= LOOP else 0
        if news:
            span = TimeSpan(min(self._alive_ns, now_ns), now_ns)
            self._owed = DeviceLost(self._device, span, ended.reason, advice)
            self._pay()

    def _pay(self) -> None:
        """Tell the loss that is still owed.  While the sink refuses, nothing new is told either."""
        owed = self._owed
        if owed is None:
            return
        with contextlib.suppress(Exception):  # counted, and tried again at the next rest
            self._sink(owed)
            self._owed = None

    def _write(self, message: ToChild) -> None:
        if self._process is not None and self._process.stdin is not None:
            self._process.stdin.write(pack(message))


def begin_of(section: CameraSection, digest: str) -> Begin:
    """The first order to the process, from ``[camera]``."""
    return Begin(
        device=section.id,
        source=section.source,
        width=section.size[0],
        height=section.size[1],
        fps=section.fps,
        exposure_us=section.exposure_us,
        gain=section.gain,
        white_balance_k=section.white_balance_k,
        focus=section.focus,
        calibration=str(Path(section.calibration)) if section.calibration else "",
        digest=digest,
        record=section.record,
        record_ns=section.record_seconds * 1_000_000_000,
        record_bytes=section.record_memory_mb * MIB if section.record else 0,
        record_quota=section.record_quota_mb * MIB,
        stall_ns=max(500_000_000, 10_000_000_000 // section.fps),
        address_space=2 * memory_of(section),
    )


def memory_of(section: CameraSection) -> int:
    """Bytes that its process may have resident: the recorder's share, and the rest."""
    return (section.memory_mb + (section.record_memory_mb if section.record else 0)) * MIB
