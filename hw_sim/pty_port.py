"""A device core behind a raw pseudo-terminal, served by asyncio.

The host may open, close and open the port again at will.  While nobody has it open, what the device sends
is lost, as on a real line: `os.openpty` would keep it and hand it to the next reader as old news.
`unplug` makes the port vanish (the host sees a hang-up); `replug` brings it back under another name.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import select
import termios
import time
import tty
from pathlib import Path

from hw_sim.devices import Device
from hw_sim.devices.faults import NO_FAULTS, FaultLine, FaultPlan

READ_SIZE = 4096
MAX_BACKLOG = 1 << 16
"""Bytes that wait for a host that has the port open and does not read; more are dropped and counted."""
OPEN_POLL_S = 0.02
MAX_DEVICE_TURNS = 10_000


def now_ns() -> int:
    """The simulation's clock in real time."""
    return time.monotonic_ns()


class PtyPort:
    """Serves ``device`` on a pseudo-terminal; `path` is the name for the host to open.

    ``link``, when given, is a symbolic link that always points at the current name (as udev's by-id does).
    """

    def __init__(
        self, device: Device, *, faults: FaultPlan = NO_FAULTS, seed: int = 0, link: Path | None = None
    ) -> None:
        self._device = device
        self._to_host = FaultLine(faults, seed=seed * 2)
        self._to_device = FaultLine(faults, seed=seed * 2 + 1)
        self._link = link
        self._master = -1
        self.path = ""
        self._open = False
        self._out = bytearray()
        self._timer: asyncio.TimerHandle | None = None
        self._watch: asyncio.TimerHandle | None = None
        self._flights: set[asyncio.TimerHandle] = set()
        self._loop: asyncio.AbstractEventLoop | None = None
        self.dropped = 0
        self.opened = 0

    # -- life -------------------------------------------------------------------------------------

    def plug(self) -> str:
        """Create the pseudo-terminal and serve it on the running loop; returns its path."""
        assert self._master < 0, "the port is plugged in already"
        self._loop = asyncio.get_running_loop()
        self._master, slave = os.openpty()
        self.path = os.ttyname(slave)
        tty.setraw(slave)
        os.close(slave)
        os.set_blocking(self._master, False)
        if self._link is not None:
            fresh = self._link.with_name(self._link.name + ".new")
            fresh.unlink(missing_ok=True)
            fresh.symlink_to(self.path)
            fresh.replace(self._link)
        self._closed()
        return self.path

    def unplug(self) -> None:
        """The cable is pulled: the host gets a hang-up, the name disappears."""
        if self._master < 0:
            return
        self._cancel()
        if self._open and self._loop is not None:
            self._loop.remove_reader(self._master)
            self._loop.remove_writer(self._master)
        self._open = False
        self._out.clear()
        os.close(self._master)
        self._master = -1
        if self._link is not None:
            self._link.unlink(missing_ok=True)

    def replug(self) -> str:
        """Plug in again, usually under another name."""
        self.unplug()
        return self.plug()

    close = unplug

    @property
    def is_open(self) -> bool:
        """True while a host holds the port open."""
        return self._open

    def _cancel(self) -> None:
        for handle in (self._timer, self._watch, *self._flights):
            if handle is not None:
                handle.cancel()
        self._timer = self._watch = None
        self._flights.clear()

    # -- open and closed --------------------------------------------------------------------------

    def _hung_up(self) -> bool:
        poller = select.poll()
        poller.register(self._master, 0)
        return any(event & select.POLLHUP for _, event in poller.poll(0))

    def _closed(self) -> None:
        """Nobody has the port open: forget what waits, and look again shortly."""
        assert self._loop is not None
        if self._open:
            self._loop.remove_reader(self._master)
            self._loop.remove_writer(self._master)
        self._open = False
        self._out.clear()
        with contextlib.suppress(termios.error):
            # What the host never read must not be the first thing that the next host reads.
            termios.tcflush(self._master, termios.TCOFLUSH)
        self._watch = self._loop.call_later(OPEN_POLL_S, self._look)

    def _look(self) -> None:
        assert self._loop is not None
        self._watch = None
        if self._hung_up():
            self._device.poll(now_ns())  # the device talks on; nobody hears it
            self._watch = self._loop.call_later(OPEN_POLL_S, self._look)
            return
        self._open = True
        self.opened += 1
        self._loop.add_reader(self._master, self._readable)
        self.kick()

    # -- bytes ------------------------------------------------------------------------------------

    def _readable(self) -> None:
        try:
            data = os.read(self._master, READ_SIZE)
        except BlockingIOError:
            return
        except OSError:  # EIO: the last host closed the port
            data = b""
        if not data:
            self._closed()
            return
        for at, part in self._to_device.pass_on(data, now_ns()):
            self._later(at, self._feed, part)

    def _feed(self, part: bytes) -> None:
        self._device.feed(part, now_ns())
        self.kick()

    def kick(self) -> None:
        """Ask the device what is due (also to be called when something happened to it, such as a press)."""
        if self._master < 0 or self._loop is None:
            return
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        for _ in range(MAX_DEVICE_TURNS):
            now = now_ns()
            said = self._device.poll(now)
            if said and self._open:
                for at, part in self._to_host.pass_on(said, now):
                    self._later(at, self._send, part)
            due = self._device.next_due_ns()
            if due is None:
                return
            if due > now:
                self._timer = self._loop.call_later((due - now) / 1e9, self.kick)
                return
        raise RuntimeError("a simulated device is never done: its next_due_ns does not move on")

    def _later(self, at_ns: int, call: object, part: bytes) -> None:
        assert callable(call)
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

    def _flush(self) -> None:
        assert self._loop is not None
        while self._out:
            try:
                sent = os.write(self._master, self._out)
            except BlockingIOError:
                self._loop.add_writer(self._master, self._flush)
                return
            except OSError:
                self._closed()
                return
            del self._out[:sent]
        self._loop.remove_writer(self._master)
