"""The only place that reads a clock.  Everything else is told what time it is."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from pathlib import Path

_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")


def monotonic_ns() -> int:
    """Host monotonic time, in nanoseconds: orders events and measures spans."""
    return time.monotonic_ns()


def wall_ns() -> int:
    """Wall time in nanoseconds since 1970 UTC: for people to read, never to decide anything."""
    return time.time_ns()


def utc_text(wall_ns: int) -> str:
    """Wall time in UTC, to the millisecond."""
    try:
        when = datetime.fromtimestamp(wall_ns // 1_000_000_000, tz=UTC)
    except (OverflowError, ValueError, OSError):
        return f"{wall_ns} ns"
    return f"{when:%Y-%m-%d %H:%M:%S}.{wall_ns // 1_000_000 % 1000:03d}"


def file_stamp(wall_ns: int) -> str:
    """Wall time in UTC, to the second, as it begins a file's name: ``20260131T120000Z``."""
    return f"{datetime.fromtimestamp(wall_ns // 1_000_000_000, UTC):%Y%m%dT%H%M%SZ}"


def clock_name() -> str:
    """Names the host's boot.  Monotonic times of two different boots cannot be compared."""
    try:
        return _BOOT_ID.read_text(encoding="ascii").strip()
    except OSError:
        # Without the kernel's id every start counts as a new clock: safe, it only widens spans.
        return f"process-{time.time_ns()}"
