"""What a port is: bytes out, bytes in by callback, and one call when it is gone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

OnData = Callable[[bytes], None]
OnGone = Callable[[str], None]
"""Called once, with the reason, when the port is lost by itself; not after `Port.close`."""

MAX_QUEUED = 4096
"""Bytes that may wait to be written.  A device that takes no more than this is not listening."""
READ_SIZE = 4096


class Port(Protocol):
    """An open port.  Callbacks come from the event loop, never from inside `write` or `close`."""

    dropped: int
    """Writes refused because the queue was full."""

    def write(self, data: bytes) -> None:
        """Sends all of ``data`` or, if the queue has no room, none of it (counted in ``dropped``)."""

    def close(self) -> None:
        """Closes at once; what was not yet sent is gone.  May be called twice."""
