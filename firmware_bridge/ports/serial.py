"""Serial lines: a pyserial descriptor on the event loop, without a thread.

pyserial opens and sets up the line; reading and writing go to the descriptor directly.  Traps that
this file knows: `flush` (tcdrain) raises ``termios.error`` after a hang-up and may wait for ever, so it
is never called; an unplugged port reads 0 bytes for ever or raises, and both mean *gone*; closing a
line with unsent bytes may wait half a minute for a dead device, so they are discarded first; a
descriptor that stays open makes the device come back under another name.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import os
import stat
import termios

import serial

from firmware_bridge.ports.port import MAX_QUEUED, READ_SIZE, OnData, OnGone
from firmware_bridge.session.contract import SerialPort
from firmware_bridge.session.problems import PortProblem

_EMPTY_READS = 3
"""Empty reads in a row, each announced as readable, that mean a hung-up line."""

_PSEUDO_TERMINALS = range(136, 144)
"""Major numbers of Unix98 pseudo-terminals on Linux (Documentation/admin-guide/devices.txt)."""

_UNPLUGGED = "is not there. Plug it in (and check its power); tabled opens it by itself."
_ADVICE = {
    errno.ENOENT: _UNPLUGGED,
    errno.ENODEV: _UNPLUGGED,
    errno.ENXIO: _UNPLUGGED,
    errno.EIO: _UNPLUGGED,
    errno.EACCES: "may not be opened by this user. Add the user to the group 'dialout' "
    "(sudo usermod -aG dialout $USER) and log in again.",
    errno.EPERM: "may not be opened by this user. Add the user to the group 'dialout' "
    "(sudo usermod -aG dialout $USER) and log in again.",
    errno.EAGAIN: "is held by another program. Close that program (see 'fuser' on the port), or a second tabled.",
    errno.EBUSY: "is held by another program. Close that program (see 'fuser' on the port), or a second tabled.",
    errno.EMFILE: "cannot be opened: too many open files. Raise the limit (ulimit -n).",
}
_REASONS = {
    errno.ENOENT: "no such port",
    errno.EACCES: "permission denied",
    errno.EPERM: "permission denied",
    errno.EAGAIN: "in use",
    errno.EBUSY: "in use",
}


def problem(device: str, path: str, code: int | None, text: str = "") -> PortProblem:
    """An operating system's error as one that a technician can act on."""
    known = code if code is not None else 0
    reason = _REASONS.get(known) or (os.strerror(known).lower() if known else text or "cannot be opened")
    advice = _ADVICE.get(known, "cannot be used as a serial port. Check the 'port' line of the configuration.")
    return PortProblem(device, path, reason, f"'{device}': {path} {advice}", absent=advice is _UNPLUGGED)


def check(device: str, settings: SerialPort) -> PortProblem | None:
    """Whether the port could be opened, without opening it (opening resets some devices)."""
    path = settings.path
    try:
        mode = os.stat(path).st_mode
    except OSError as error:
        return problem(device, path, error.errno)
    if not stat.S_ISCHR(mode):
        return problem(device, path, None, "not a serial port")
    if not os.access(path, os.R_OK | os.W_OK):
        return problem(device, path, errno.EACCES)
    return None


class SerialLine:
    """One open line.  Made by `open_serial`."""

    def __init__(self, line: serial.Serial, on_data: OnData, on_gone: OnGone) -> None:
        self._line = line
        self._fd: int = line.fileno()
        self._loop = asyncio.get_running_loop()
        self._on_data = on_data
        self._on_gone = on_gone
        self._queue = bytearray()
        self._writing = False
        self._empty_reads = 0
        self._open = True
        self.dropped = 0
        self._loop.add_reader(self._fd, self._readable)

    def write(self, data: bytes) -> None:
        """Sends all or, if the queue has no room, none of ``data``."""
        if not self._open or not data:
            return
        if len(self._queue) + len(data) > MAX_QUEUED:
            self.dropped += 1
            return
        self._queue += data
        if not self._writing:
            self._drain()

    def close(self) -> None:
        """Closes the descriptor now."""
        if not self._open:
            return
        self._open = False
        self._loop.remove_reader(self._fd)
        self._loop.remove_writer(self._fd)
        with contextlib.suppress(OSError, termios.error):
            self._line.reset_output_buffer()
        with contextlib.suppress(OSError, termios.error):
            self._line.close()

    def _readable(self) -> None:
        try:
            data = os.read(self._fd, READ_SIZE)
        except BlockingIOError:
            return
        except OSError as error:
            self._gone(os.strerror(error.errno or 0).lower())
            return
        if data:
            self._empty_reads = 0
            self._on_data(data)
            return
        self._empty_reads += 1
        if self._empty_reads >= _EMPTY_READS:
            self._gone("hung up")

    def _drain(self) -> None:
        try:
            sent = os.write(self._fd, self._queue)
        except BlockingIOError:
            sent = 0
        except OSError as error:
            # Told from the loop, never from inside the caller's write.
            self._queue.clear()
            self._loop.call_soon(self._gone, os.strerror(error.errno or 0).lower())
            return
        del self._queue[:sent]
        if self._queue and not self._writing:
            self._loop.add_writer(self._fd, self._drain)
            self._writing = True
        elif not self._queue and self._writing:
            self._loop.remove_writer(self._fd)
            self._writing = False

    def _gone(self, reason: str) -> None:
        if self._open:
            self.close()
            self._on_gone(reason)


def _parity(settings: SerialPort) -> str:
    """The parity to ask for.  A pseudo-terminal drops it in silence the first time, and when it is opened again
    refuses the whole setting (EINVAL), since the parity is then all that differs: there, none is asked for.
    """
    try:
        device = os.stat(settings.path).st_rdev
    except OSError:
        return settings.parity
    return serial.PARITY_NONE if os.major(device) in _PSEUDO_TERMINALS else settings.parity


def open_serial(device: str, settings: SerialPort, on_data: OnData, on_gone: OnGone) -> SerialLine:
    """Opens and locks the line; what the device sent before is discarded.  Raises `PortProblem`.

    Must be called from the event loop.
    """
    try:
        line = serial.Serial(
            settings.path,
            baudrate=settings.baud,
            parity=_parity(settings),
            timeout=0,
            write_timeout=0,
            exclusive=True,
        )
    except serial.SerialException as error:
        raise problem(device, settings.path, error.errno, str(error)) from error
    except (OSError, termios.error, ValueError) as error:
        code = error.errno if isinstance(error, OSError) else error.args[0] if error.args else None
        code = code if isinstance(code, int) else None
        raise problem(device, settings.path, code, str(error)) from error
    # Adapters that gather bytes for 16 ms would double every exchange.  Not every driver can; then it stays slow.
    with contextlib.suppress(OSError, ValueError):
        line.set_low_latency_mode(True)
    return SerialLine(line, on_data, on_gone)
