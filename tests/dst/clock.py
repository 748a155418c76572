"""The host's clocks in virtual time."""

from __future__ import annotations

S = 1_000_000_000
MS = 1_000_000

FIRST_HOST_NS = 5_000 * S
WALL_NS = 1_790_000_000 * S


class Clock:
    """Virtual time (the table's), the host's monotonic clock, and its wall clock.

    ``virtual_ns`` never jumps.  `reboot` begins another monotonic clock under another name, `skew_ns` moves the wall.
    """

    def __init__(self) -> None:
        self.virtual_ns = 0
        self._base_ns = -FIRST_HOST_NS
        self.boots = 1
        self.skew_ns = 0

    @property
    def host_ns(self) -> int:
        """The host's monotonic clock."""
        return self.virtual_ns - self._base_ns

    @property
    def wall_ns(self) -> int:
        """Wall time since 1970, as wrong as it may be."""
        return WALL_NS + self.virtual_ns + self.skew_ns

    @property
    def name(self) -> str:
        """What `tabled.shell.clock.clock_name` would say."""
        return f"boot-{self.boots}"

    def to_virtual(self, host_ns: int) -> int:
        """Virtual time of a host time of the present boot."""
        return host_ns + self._base_ns

    def reboot(self) -> None:
        """The host's monotonic clock starts again, at 20 s."""
        self.boots += 1
        self._base_ns = self.virtual_ns - 20 * S
