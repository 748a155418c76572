"""The table's readers and panel, open for a measurement: every look is heard, also those that repeat.

The bridge lives on an event loop in a thread of its own; a step's thread waits for what it says.  The bridge withholds
looks that only repeat the one before (`firmware_bridge.session.settle`); a share that is counted from changes alone
would be wrong, so it is refreshed before it begins to, and `Bench.gather` refuses to go on if one was withheld.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self, TypeVar

import msgspec

from calibration.looks import Looks, Spot
from calibration.steps import StepError, Talk
from firmware_bridge.supervisor import Bridge, BridgeProblem, DeviceHealth
from firmware_bridge.wire import AnyObservation, Corrupt, DeviceLost, DeviceUp, Press
from tabled.model.camera import AnyCameraObservation
from tabled.shell.camera import Camera, begin_of, memory_of
from tabled.shell.clock import monotonic_ns
from tabled.shell.config import Config, ConfigError, DeviceSection, layout_of, load, neighbours_of
from tabled.shell.daemon import device_config

T = TypeVar("T")

REFRESH_AFTER = 8
"""Looks at one antenna between two refreshes; the bridge lets 12 equal ones through."""
TICK_S = 0.1
UP_S = 10.0
STALL_S = 10.0
"""So long without one more look at the slowest antenna, and it gives none."""
TOLD = 10
"""How often progress is told on the way."""
MAX_PRESSES = 10_000
MAX_LANDINGS = 100_000

_LANDINGS: msgspec.json.Decoder[AnyCameraObservation] = msgspec.json.Decoder(AnyCameraObservation)


class Bench:
    """Readers (all antennas, or ``only`` one) and, with ``panels``, the dealer's panel, as a context.

    ``eye`` True: the table's camera too; a path: what a camera reports comes from that file, one JSON observation a
    line, while it grows.

    Raises `StepError` when a device is missing or does not come up.
    """

    def __init__(
        self,
        config: Config,
        *,
        readers: bool = True,
        panels: bool = False,
        only: Spot | None = None,
        eye: Path | bool = False,
    ) -> None:
        sections = [d for d in config.device if (readers if d.antennas else panels)]
        if only is not None:
            sections = [_only(d, only) for d in sections if not d.antennas or d.id == only[0]]
        if not sections:
            what = "reader" if readers else "panel"
            raise StepError(
                f"table.toml has no {what}; add its [[device]] ('tabled-bridge probe' finds it)", code="none"
            )
        self.layout = layout_of(config)
        spots = sorted((d.id, int(n)) for d in sections for n in d.antennas)
        self.configured = {s: d.antennas[str(s[1])] for s in spots for d in sections if d.id == s[0]}
        self.looks = Looks(spots)
        self.presses: list[Press] = []
        self.camera_seen: list[AnyCameraObservation] = []
        self._eye = eye
        self._section = config.camera
        self._camera: Camera | None = None
        self._tail: asyncio.Task[None] | None = None
        self.listeners: list[Callable[[AnyObservation], None]] = []
        """Each is told every observation, on the bench's own thread; it must be quick."""
        self._pairs = [p for p in neighbours_of(self.layout) if p[0] in spots and p[1] in spots]
        self._devices = [device_config(d) for d in sections]
        self._since_refresh: dict[Spot, int] = {}
        self._faults: dict[Spot, str] = {}
        self._lost: DeviceLost | None = None
        self._news = threading.Condition()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="calibration bench", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        try:
            self._call(self._start())
            self._wait_until_up()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, why: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def _wait_until_up(self) -> None:
        if not self.until(lambda: all(d.state == "up" for d in self.health()), UP_S):
            late = next(d.id for d in self.health() if d.state != "up")
            raise StepError(f"{late} does not answer; see 'tabled-bridge doctor' on its port", code="device")

    def close(self) -> None:
        """Give the ports back.  Safe to call twice."""
        if self._loop.is_closed():
            return
        self._call(self._stop())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def health(self) -> Sequence[DeviceHealth]:
        """How each device is."""

        async def ask() -> Sequence[DeviceHealth]:
            return self._bridge.health()

        return self._call(ask())

    def gather(self, looks: int, talk: Talk | None = None, text: str = "") -> Looks:
        """Wait until every antenna was looked at so often from now on; what they said.

        Raises `StepError` where an antenna gives no clean look, or a device is lost.
        """
        with self._news:
            self.looks.clear()
        return self.more(looks, talk, text)

    def more(self, looks: int, talk: Talk | None = None, text: str = "") -> Looks:
        """As `gather`, with the looks that are there already."""
        withheld = self._withheld()
        had, since_ns = -1, monotonic_ns()
        while True:
            with self._news:
                least = self.looks.least()
                if least >= looks:
                    break
                self._news.wait(TICK_S)
            now_ns = monotonic_ns()
            if least > had:
                if talk is not None and text and least * TOLD // looks > had * TOLD // looks:
                    talk.progress(min(least, looks), looks, text)
                had, since_ns = least, now_ns
            elif now_ns - since_ns > STALL_S * 1e9:
                raise StepError(self._stalled(), code="antenna-dead")
            self._alive(talk)
        if self._withheld() > withheld:
            says = "looks were withheld, so a share would be wrong; repeat the step, and report it if it stays"
            raise StepError(says, code="withheld")
        return self.snapshot()

    def snapshot(self) -> Looks:
        """The looks as they are now."""
        with self._news:
            return self.looks.copy()

    def until(self, ready: Callable[[], bool], seconds: float, talk: Talk | None = None) -> bool:
        """Wait until ``ready()``, at most so long; whether it was."""
        end_ns = monotonic_ns() + round(seconds * 1e9)
        while not ready():
            if monotonic_ns() >= end_ns:
                return False
            with self._news:
                self._news.wait(TICK_S)
            self._alive(talk)
        return True

    def _alive(self, talk: Talk | None) -> None:
        if talk is not None:
            talk.check()
        if self._lost is not None:
            raise StepError(f"{self._lost.device}: {self._lost.reason}. {self._lost.advice}", code="device")

    async def _start(self) -> None:
        try:
            self._bridge = Bridge(self._devices, self._take, monotonic_ns, neighbours=self._pairs)
            for problem in self._bridge.check():
                raise StepError(str(problem), code="device")
        except BridgeProblem as problem:
            raise StepError(str(problem), code="device") from problem
        await self._bridge.start()
        if isinstance(self._eye, Path):
            self._tail = asyncio.create_task(self._follow(self._eye), name="landings")
        elif self._eye and self._section is not None:
            begin = begin_of(self._section, "")
            self._camera = Camera(begin, self._see, monotonic_ns, memory=memory_of(self._section))
            self._camera.start()

    async def _stop(self) -> None:
        if self._tail is not None:
            self._tail.cancel()
        if self._camera is not None:
            await self._camera.stop()
        if hasattr(self, "_bridge"):
            await self._bridge.stop()

    async def _follow(self, path: Path) -> None:
        """Lines of a file that grows."""
        with path.open("rb") as file:
            rest = b""
            while True:
                rest += file.read(1 << 16)
                *lines, rest = rest.split(b"\n")
                for text in lines:
                    self._see(_LANDINGS.decode(text))
                await asyncio.sleep(TICK_S / 2)

    def _see(self, seen: DeviceUp | DeviceLost | AnyCameraObservation) -> None:
        """What the camera reports."""
        with self._news:
            if isinstance(seen, DeviceLost):
                self._lost = seen
            elif not isinstance(seen, DeviceUp) and len(self.camera_seen) < MAX_LANDINGS:
                self.camera_seen.append(seen)
            self._news.notify_all()

    def _call(self, work: Coroutine[object, object, T]) -> T:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()

    def _take(self, seen: AnyObservation) -> None:
        with self._news:
            spot = self.looks.add(seen)
            if isinstance(seen, Corrupt):
                spot = (str(seen.device), seen.antenna)
                self._faults[spot] = seen.reason
            elif isinstance(seen, DeviceLost):
                self._lost = seen
            elif isinstance(seen, Press) and len(self.presses) < MAX_PRESSES:
                self.presses.append(seen)
            self._news.notify_all()
        if isinstance(seen, Press):
            self._loop.call_soon(self._bridge.acknowledge, seen)
        if spot is not None:
            self._since_refresh[spot] = self._since_refresh.get(spot, 0) + 1
            if self._since_refresh[spot] >= REFRESH_AFTER:
                self._since_refresh.clear()
                self._loop.call_soon(self._bridge.refresh)
        for listener in self.listeners:
            listener(seen)

    def _withheld(self) -> int:
        return sum(d.counters.settled for d in self.health())

    def _stalled(self) -> str:
        spot = min(self.looks.spots, key=lambda s: len(self.looks.at(s)))
        why = self._faults.get(spot, "no answer at all")
        return (
            f"antenna {spot[1]} of {spot[0]} gives no clean look ({why}); check its cable and its tuning, and that no "
            "metal lies on it, then repeat the step"
        )


def config_from(text: str) -> Config:
    """The table's configuration from the path that an option gave; `StepError` says what is wrong with it."""
    if not text:
        raise StepError("which table? give its table.toml with --config", code="config")
    try:
        return load(Path(text))
    except ConfigError as problem:
        raise StepError(str(problem), code="config") from problem


def _only(device: DeviceSection, only: Spot) -> DeviceSection:
    if not device.antennas:
        return device
    number = str(only[1])
    if number not in device.antennas:
        raise StepError(f"{device.id} has no antenna {number} in table.toml", code="antenna")
    return msgspec.structs.replace(device, antennas={number: device.antennas[number]})
