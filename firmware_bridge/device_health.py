"""How one device of the bridge is, as a value."""

from __future__ import annotations

from typing import Literal

import msgspec

from firmware_bridge.session.contract import Counters, Figures

State = Literal["opening", "up", "lost"]


class DeviceHealth(msgspec.Struct, frozen=True):
    """How one device is.  ``since_ns`` is when it came into ``state``; ``error`` and ``advice`` are the latest."""

    id: str
    state: State
    since_ns: int
    counters: Counters
    figures: Figures
    opened: int = 0
    """Times its port was opened."""
    write_dropped: int = 0
    """Writes refused because the device took no bytes."""
    undelivered: int = 0
    """Observations that the sink refused with an exception."""
    error: str = ""
    advice: str = ""
    notes: tuple[str, ...] = ()
    """What a technician should know though the device works: a port name that moves, a slow adapter, a refused key."""
