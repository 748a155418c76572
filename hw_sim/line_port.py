"""What every simulated line has in common: a device core, faults in both directions, the asyncio loop's timers."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

from hw_sim.devices import Device
from hw_sim.devices.faults import NO_FAULTS, FaultLine, FaultPlan

MAX_BACKLOG = 1 << 16
"""Bytes that wait for a host that has the port open and does not read; more are dropped and counted."""
MAX_DEVICE_TURNS = 10_000
READ_SIZE = 4096


def now_ns() -> int:
    """The simulation's clock in real time."""
    return time.monotonic_ns()


class LinePort:
    """Base of `PtyPort` and `SocketPort`: a subclass opens, closes and writes (`_flush`)."""

    def __init__(self, device: Device, *, faults: FaultPlan = NO_FAULTS, seed: int = 0) -> None:
        self.device = device
        self._to_host = FaultLine(faults, seed=seed * 2)
        self._to_device = FaultLine(faults, seed=seed * 2 + 1)
        self.path = ""
        self._open = False
        self._out = bytearray()
        self._timer: asyncio.TimerHandle | None = None
        self._flights: set[asyncio.TimerHandle] = set()
        self._loop: asyncio.AbstractEventLoop | None = None
        self.dropped = 0
        self.opened = 0

    @property
    def is_open(self) -> bool:
        """True while a host holds the port open."""
        return self._open

    @property
    def plugged(self) -> bool:
        """True between `plug` and `unplug`."""
        raise NotImplementedError

    def plug(self) -> str:
        """Create the port and serve it on the running loop; returns the name for the host."""
        raise NotImplementedError

    def unplug(self) -> None:
        """The cable is pulled."""
        raise NotImplementedError

    def _flush(self) -> None:
        """Write what waits in ``_out``."""
        raise NotImplementedError

    def replug(self) -> str:
        """Plug in again."""
        self.unplug()
        return self.plug()

    def close(self) -> None:
        """Stop serving."""
        self.unplug()

    def fault_counts(self) -> dict[str, int]:
        """Faults that happened so far, both directions together."""
        both = (self._to_host.counts, self._to_device.counts)
        return {k: sum(c.get(k, 0) for c in both) for k in sorted({*both[0], *both[1]})}

    def _cancel(self) -> None:
        for handle in (self._timer, *self._flights):
            if handle is not None:
                handle.cancel()
        self._timer = None
        self._flights.clear()

    # -- bytes ------------------------------------------------------------------------------------

    def _arrived(self, data: bytes) -> None:
        for at, part in self._to_device.pass_on(data, now_ns()):
            self._later(at, self._feed, part)

    def _feed(self, part: bytes) -> None:
        self.device.feed(part, now_ns())
        self.kick()

    def kick(self) -> None:
        """Ask the device what is due (also to be called when something happened to it, such as a press)."""
        if not self.plugged or self._loop is None:
            return
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        for _ in range(MAX_DEVICE_TURNS):
            now = now_ns()
            said = self.device.poll(now)
            if said and self._open:
                for at, part in self._to_host.pass_on(said, now):
                    self._later(at, self._send, part)
            due = self.device.next_due_ns()
            if due is None:
                return
            if due > now:
                self._timer = self._loop.call_later((due - now) / 1e9, self.kick)
                return
        raise RuntimeError("a simulated device is never done: its next_due_ns does not move on")

    def _later(self, at_ns: int, call: Callable[[bytes], None], part: bytes) -> None:
        delay = at_ns - now_ns()
        if delay <= 0 and not self._flights:
            call(part)
            return
        assert self._loop is not None
        handle: asyncio.TimerHandle

        def arrive() -> None:
            self._flights.discard(handle)
            call(part)

        handle = self._loop.call_at(self._loop.time() + max(delay, 0) / 1e9, arrive)
        self._flights.add(handle)

    def _send(self, part: bytes) -> None:
        if not self._open:
            return
        room = MAX_BACKLOG - len(self._out)
        self.dropped += max(0, len(part) - room)
        self._out += part[:room]
        self._flush()
