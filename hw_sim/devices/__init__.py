"""Simulated devices: pure cores, bytes in and bytes out, with time as an argument.

Every core has the same three methods (`Device`): a port feeds it what the host wrote, asks when it
next has something to do, and collects what it says.  Nothing here reads a clock or opens a file, so
the same core serves a pseudo-terminal in real time and a test in virtual time.
"""

from __future__ import annotations

from typing import Protocol


class Device(Protocol):
    """What a port needs of a device.  All times are nanoseconds of the simulation's own clock."""

    def feed(self, data: bytes, now_ns: int) -> None:
        """Take bytes that the host sent and that arrived at ``now_ns``."""
        ...

    def poll(self, now_ns: int) -> bytes:
        """Do what is due by ``now_ns`` and return the bytes that the device sends, possibly none."""
        ...

    def next_due_ns(self) -> int | None:
        """When `poll` should be called next if no byte arrives; None when the device only waits."""
        ...
