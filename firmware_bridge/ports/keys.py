"""Input devices by evdev: a numeric keypad, grabbed, its key events as records on the event loop.

The kernel stamps each event; it is asked for its monotonic clock, so that a key's time is good however late
the loop reads it.  Where that is refused the record carries no time.  Needs the ``panels`` extra.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import fcntl
import os
import stat
import struct
import time
from collections.abc import Iterable
from typing import Any, Protocol

from firmware_bridge.ports.port import OnData, OnGone
from firmware_bridge.session.contract import KeysPort
from firmware_bridge.session.keyinput import hello_record, key_record, lost_record
from firmware_bridge.session.problems import PortProblem

EV_SYN, EV_KEY, SYN_REPORT, SYN_DROPPED = 0, 1, 0, 3
_SET_CLOCK = 0x400445A0
"""EVIOCSCLOCKID: _IOW('E', 0xa0, int) of linux/input.h."""
_ADVICE = {
    errno.EACCES: "may not be opened by this user. Add the user to the group 'input' "
    "(sudo usermod -aG input $USER) and log in again.",
    errno.EBUSY: "is grabbed by another program. Close that program, or a second tabled.",
    errno.ENOTTY: "is no input device. Name the keypad by /dev/input/by-id/...-event-kbd.",
    errno.EINVAL: "is no input device. Name the keypad by /dev/input/by-id/...-event-kbd.",
}
_UNPLUGGED = "is not there. Plug the keypad in; tabled opens it by itself."
_GONE = (errno.ENOENT, errno.ENODEV, errno.ENXIO, errno.EIO)


class InputEvent(Protocol):
    """One kernel event, as python-evdev gives it: ``sec`` and ``usec``, ``type``, ``code``, ``value``."""

    sec: int
    usec: int
    type: int
    code: int
    value: int


class InputSource(Protocol):
    """What is needed of an open input device; python-evdev's ``InputDevice`` has it.

    ``fd`` becomes readable when ``read`` has events; ``read`` raises OSError when the device is gone; ``grab``
    makes this program the only one that hears it, until ``close``.
    """

    fd: int
    name: str

    def grab(self) -> None: ...
    def read(self) -> Iterable[Any]: ...
    def close(self) -> None: ...


def _problem(device: str, path: str, code: int | None, text: str = "") -> PortProblem:
    known = code if code is not None else 0
    absent = known in _GONE
    reason = os.strerror(known).lower() if known else text
    advice = _UNPLUGGED if absent else _ADVICE.get(known, "cannot be used as a keypad. Check its 'port' line.")
    return PortProblem(device, path, reason, f"'{device}': {path} {advice}", absent=absent)


def check(device: str, settings: KeysPort) -> PortProblem | None:
    """Whether the keypad could be opened, without opening it."""
    try:
        mode = os.stat(settings.path).st_mode
    except OSError as error:
        return _problem(device, settings.path, error.errno)
    if not stat.S_ISCHR(mode):
        return _problem(device, settings.path, errno.ENOTTY)
    if not os.access(settings.path, os.R_OK):
        return _problem(device, settings.path, errno.EACCES)
    return None


class KeysLine:
    """One open input device.  ``timed``: its events carry monotonic times."""

    def __init__(self, source: InputSource, on_data: OnData, on_gone: OnGone, *, timed: bool) -> None:
        self._source = source
        self._on_data = on_data
        self._on_gone = on_gone
        self._timed = timed
        self._torn = False
        self._open = True
        self._loop = asyncio.get_running_loop()
        self.dropped = 0
        self._loop.add_reader(source.fd, self._readable)
        self._loop.call_soon(self._greet)

    def write(self, data: bytes) -> None:
        """A keypad shows nothing."""

    def close(self) -> None:
        """Lets the keypad go: closing ends the grab."""
        if not self._open:
            return
        self._open = False
        self._loop.remove_reader(self._source.fd)
        with contextlib.suppress(OSError):
            self._source.close()

    def _greet(self) -> None:
        if self._open:
            self._on_data(hello_record(self._source.name))

    def _readable(self) -> None:
        records = bytearray()
        try:
            for event in self._source.read():
                records += self._record(event)
        except BlockingIOError:
            pass
        except OSError as error:
            if records:
                self._on_data(bytes(records))
            self._gone(os.strerror(error.errno or 0).lower())
            return
        if records:
            self._on_data(bytes(records))

    def _record(self, event: InputEvent) -> bytes:
        """After the kernel's buffer ran over, all up to the next report is half a story (evdev documentation)."""
        if event.type == EV_SYN and event.code == SYN_DROPPED:
            self._torn = True
            return lost_record()
        if event.type == EV_SYN and event.code == SYN_REPORT:
            self._torn = False
        if event.type != EV_KEY or self._torn:
            return b""
        at_ns = event.sec * 1_000_000_000 + event.usec * 1000 if self._timed else 0
        return key_record(event.code, event.value, at_ns)

    def _gone(self, reason: str) -> None:
        if self._open:
            self.close()
            self._on_gone(reason)


def _open_source(path: str) -> InputSource:
    from evdev import InputDevice  # noqa: PLC0415 - an optional package, needed only where there is a keypad

    source: InputSource = InputDevice(path, readonly=True)
    return source


def open_keys(device: str, settings: KeysPort, on_data: OnData, on_gone: OnGone) -> KeysLine:
    """Opens and grabs the keypad.  Raises `PortProblem`.  Must be called from the event loop."""
    path = settings.path
    try:
        source = _open_source(path)
    except ImportError as error:
        raise PortProblem(
            device,
            path,
            "python-evdev is not installed",
            f"'{device}': a keypad needs the package evdev. Install it: pip install 'tabled[panels]' (it needs a "
            "compiler and kernel headers), or the same as a wheel for x86-64: pip install evdev-binary.",
        ) from error
    except OSError as error:
        raise _problem(device, path, error.errno, str(error)) from error
    try:
        source.grab()
    except OSError as error:
        source.close()
        raise _problem(device, path, error.errno, str(error)) from error
    timed = True
    try:
        fcntl.ioctl(source.fd, _SET_CLOCK, struct.pack("i", time.CLOCK_MONOTONIC))
    except OSError:
        timed = False
    return KeysLine(source, on_data, on_gone, timed=timed)
