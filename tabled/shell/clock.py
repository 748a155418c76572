"""The only place that reads a clock.  Everything else is told what time it is."""

from __future__ import annotations

import time
from pathlib import Path

_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")


def monotonic_ns() -> int:
    """Host monotonic time, in nanoseconds: orders events and measures spans."""
    return time.monotonic_ns()


def wall_ns() -> int:
    """Wall time in nanoseconds since 1970 UTC: for people to read, never to decide anything."""
    return time.time_ns()


def clock_name() -> str:
    """Names the host's boot.  Monotonic times of two different boots cannot be compared."""
    try:
        return _BOOT_ID.read_text(encoding="ascii").strip()
    except OSError:
        # Without the kernel's id every start counts as a new clock: safe, it only widens spans.
        return f"process-{time.time_ns()}"
