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
import tty
from pathlib import Path

from hw_sim.devices import Device
from hw_sim.devices.faults import NO_FAULTS, FaultPlan
from hw_sim.line_port import READ_SIZE, LinePort, now_ns

__all__ = ["PtyPort", "now_ns"]

OPEN_POLL_S = 0.02


class PtyPort(LinePort):
    """Serves ``device`` on a pseudo-terminal; `path` is the name for the host to open.

    ``link``, when given, is a symbolic link that always points at the current name (as udev's by-id does).
    """

    def __init__(
        self, device: Device, *, faults: FaultPlan = NO_FAULTS, seed: int = 0, link: Path | None = None
    ) -> None:
        super().__init__(device, faults=faults, seed=seed)
        self._link = link
        self._master = -1
        self._watch: asyncio.TimerHandle | None = None

    # -- life -------------------------------------------------------------------------------------

    @property
    def plugged(self) -> bool:
        """True between `plug` and `unplug`."""
        return self._master >= 0

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

    def _cancel(self) -> None:
        super()._cancel()
        if self._watch is not None:
            self._watch.cancel()
            self._watch = None

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
            self.device.poll(now_ns())  # the device talks on; nobody hears it
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
        self._arrived(data)

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
