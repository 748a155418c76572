"""A bench for the bridge: pseudo-terminals that can be pulled, and a bridge that is watched."""

from __future__ import annotations

import asyncio
import contextlib
import os
import random
import time
import tty
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from firmware_bridge.session.schedule import Pair
from firmware_bridge.supervisor import Bridge, DeviceConfig, DeviceHealth
from firmware_bridge.wire import AnyObservation
from tests.bridge.peers import FeigReader, Panel

PATIENT = {"reply_timeout_ms": 5000, "inventory_timeout_ms": 5000, "lost_after_ms": 10000}
"""Where no answer is late, a busy machine must not make one seem so.  Only good with `no_hurry`."""


@pytest.fixture
def no_hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    """Options with which a dead reader is told late are taken."""
    monkeypatch.setattr("firmware_bridge.session.asking.LOSS_MS", 60_000)


PATIENCE_S = 45.0
"""A test that waited for so long has failed."""


class Plug:
    """A pseudo-terminal whose device end is answered by ``device``; ``link`` is the name that never changes."""

    def __init__(self, link: Path, device: FeigReader | Panel) -> None:
        self.link = link
        self.device = device
        self.master = -1
        self.slave = -1
        self.mangle: Callable[[bytes], list[bytes]] = lambda data: [data]

    def plug(self) -> None:
        self.master, self.slave = os.openpty()
        tty.setraw(self.slave)
        os.set_blocking(self.master, False)
        self.link.unlink(missing_ok=True)
        self.link.symlink_to(os.ttyname(self.slave))
        asyncio.get_running_loop().add_reader(self.master, self._readable)

    def unplug(self) -> None:
        asyncio.get_running_loop().remove_reader(self.master)
        self.link.unlink()
        os.close(self.master)
        os.close(self.slave)

    def hang_up(self) -> None:
        """The master goes, the name stays; not with its number, which another program may get."""
        asyncio.get_running_loop().remove_reader(self.master)
        self.link.unlink()
        self.link.symlink_to(self.link.with_name("hung-up"))
        os.close(self.master)
        os.close(self.slave)

    def say(self, data: bytes) -> None:
        with contextlib.suppress(BlockingIOError):
            os.write(self.master, data)

    def beat(self) -> None:
        """What a panel says once a second by itself."""
        if isinstance(self.device, Panel) and self.link.exists():
            self.say(self.device.heartbeat())

    def resending(self, found: Callable[[], Any]) -> Callable[[], Any]:
        """The condition; before each look the panel tells again what nobody acknowledged, as panels do."""
        panel = self.device
        assert isinstance(panel, Panel)

        def look() -> Any:
            self.say(panel.resend())
            return found()

        return look

    def _readable(self) -> None:
        try:
            data = os.read(self.master, 65536)
        except OSError:
            return
        reply = self.device.feed(data)
        if not reply:
            return
        first, *later = self.mangle(reply)
        self.say(first)
        for n, piece in enumerate(later):
            asyncio.get_running_loop().call_later(0.003 * (n + 1), self.say, piece)


class Room:
    """A bridge, what it said, and waiting for it."""

    def __init__(
        self,
        *configs: DeviceConfig,
        sink: Callable[[AnyObservation], None] | None = None,
        neighbours: Sequence[Pair] = (),
    ) -> None:
        self.seen: list[AnyObservation] = []
        self.sink = sink or self.seen.append
        chance = random.Random(4).random
        self.bridge = Bridge(configs, self._take, time.monotonic_ns, chance=chance, neighbours=neighbours)

    def _take(self, observation: AnyObservation) -> None:
        self.sink(observation)

    def commits(self, observation: AnyObservation) -> None:
        """A sink that has everything on disk soon after it came, as a journal has."""
        self.seen.append(observation)
        asyncio.get_running_loop().call_later(0.005, self.bridge.acknowledge, observation)

    async def until(self, condition: Callable[[], Any]) -> Any:
        """Waits for it; how long it took is no test's matter, only that it came."""
        end = time.monotonic() + PATIENCE_S
        while not (found := condition()):
            assert time.monotonic() < end, f"not in {PATIENCE_S} s; last seen: {self.seen[-3:]}"
            await asyncio.sleep(0.005)
        return found

    def of(self, kind: type[Any], device: str | None = None) -> list[Any]:
        return [o for o in self.seen if isinstance(o, kind) and device in (None, o.device)]

    def health(self, device: str) -> DeviceHealth:
        return next(h for h in self.bridge.health() if h.id == device)


@contextlib.asynccontextmanager
async def running(room: Room) -> AsyncIterator[Room]:
    await room.bridge.start()
    try:
        yield room
    finally:
        await room.bridge.stop()


@contextlib.asynccontextmanager
async def beating(plug: Plug) -> AsyncIterator[None]:
    """The panel on this plug sends its heartbeats while it is plugged in: without them it is given up after 3 s."""

    async def beat() -> None:
        while True:
            plug.beat()
            await asyncio.sleep(0.5)

    task = asyncio.create_task(beat())
    try:
        yield
    finally:
        task.cancel()


def drive(body: Callable[[], Awaitable[None]]) -> None:
    async def bounded() -> None:
        async with asyncio.timeout(4 * PATIENCE_S):
            await body()

    asyncio.run(bounded())


def reader_config(link: Path, **options: Any) -> DeviceConfig:
    return DeviceConfig("reader-a", "feig", str(link), options={"antennas": [1, 2, 3], "min_sweep_ms": 0} | options)


def panel_for(link: Path) -> tuple[Panel, Plug, DeviceConfig]:
    panel = Panel(now_us=lambda: time.monotonic_ns() // 1000)
    return panel, Plug(link, panel), DeviceConfig("panel", "panel", str(link))
