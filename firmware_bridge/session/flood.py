"""When bytes that mean nothing are too many: a device that floods would take the time of all the others."""

from __future__ import annotations

BURST = 32 * 1024
"""Bytes that may come at once: more than any line holds that was spoken to at a wrong baud rate."""
RATE = 16 * 1024
"""Bytes a second that may go on for ever: more than a noisy serial line at 115200 baud can carry."""
FRAME_BYTES = 16
"""What a good frame that answers nothing counts for."""


class Flood:
    """A bucket that leaks."""

    def __init__(self, now_ns: int, garbage: int, foreign: int) -> None:
        self._level = 0.0
        self._at_ns = now_ns
        self._before = garbage + FRAME_BYTES * foreign

    def over(self, now_ns: int, garbage: int, foreign: int) -> bool:
        """Whether the counters rose by more than is let pass."""
        count = garbage + FRAME_BYTES * foreign
        leaked = max(0, now_ns - self._at_ns) * RATE / 1e9
        self._level = max(0.0, self._level - leaked) + (count - self._before)
        self._before, self._at_ns = count, now_ns
        return self._level > BURST
