"""What a serial port's name and adapter are worth: names that move, adapters that dawdle.

``/dev/ttyUSB0`` is whoever was plugged in first; udev's links under ``/dev/serial/by-id`` (or ``by-path``, for
adapters without a serial number) stay with the device.  FTDI adapters gather bytes for ``latency_timer``
milliseconds, 16 as shipped, which is longer than a whole look at an empty antenna.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

from firmware_bridge.session.contract import PortSettings, SerialPort

ROOT = Path("/")
MAX_LINKS = 256
SLOW_MS = 2
"""A latency timer above this is named."""

_MOVES = re.compile(r"/dev/tty(USB|ACM|XRUSB)\d+")


def stable_names(path: str, root: Path = ROOT) -> tuple[str, ...]:
    """Links that udev keeps for the device behind ``path``, by-id before by-path, as absolute paths."""
    target = os.path.realpath(root / path.lstrip("/"))
    found = []
    for folder in ("by-id", "by-path"):
        where = root / "dev/serial" / folder
        try:
            links = sorted(os.listdir(where))[:MAX_LINKS]
        except OSError:
            continue
        found += [f"/dev/serial/{folder}/{link}" for link in links if os.path.realpath(where / link) == target]
    return tuple(found)


def latency_ms(path: str, root: Path = ROOT) -> int | None:
    """The adapter's latency timer in milliseconds; None where it has none."""
    name = os.path.basename(os.path.realpath(root / path.lstrip("/")))
    for where in (f"sys/class/tty/{name}/device/latency_timer", f"sys/bus/usb-serial/devices/{name}/latency_timer"):
        try:
            text = (root / where).read_text(encoding="ascii")
        except (OSError, ValueError):
            continue
        return int(text) if text.strip().isdecimal() else None
    return None


def port_notes(device: str, settings: PortSettings, root: Path = ROOT) -> tuple[str, ...]:
    """What a technician should know of a port that works.  To be asked when it is open: opening sets the timer."""
    if not isinstance(settings, SerialPort):
        return ()
    notes = []
    path = settings.path
    if _MOVES.fullmatch(path):
        names = stable_names(path, root)
        mend = f"use {names[0]}" if names else "use its name under /dev/serial/by-id or by-path (is udev running?)"
        notes.append(f"'{device}': {path} is a name that another device may get after a replug; {mend}.")
    slow = latency_ms(path, root)
    if slow is not None and slow > SLOW_MS:
        real = os.path.basename(os.path.realpath(root / path.lstrip("/")))
        notes.append(
            f"'{device}': its USB adapter holds bytes back for {slow} ms, which slows every exchange. Set "
            f"/sys/bus/usb-serial/devices/{real}/latency_timer to 1 (a udev rule keeps it: "
            'ACTION=="add", SUBSYSTEM=="usb-serial", DRIVER=="ftdi_sio", ATTR{latency_timer}="1").'
        )
    return tuple(notes)
