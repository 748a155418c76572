"""Inputs on their way to the journal: bounded, in order of arrival, presses and orders never dropped.

When the disk is slower than the readers, whole inventories are thinned: an inventory that is dropped
only widens the span of what a later one shows.  What was dropped is counted and told.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from firmware_bridge.wire import AnyObservation, CleanEmpty, Corrupt, Present
from tabled.core.entries import AnyInput, Seen

MAX_WAITING = 4096
MAX_BATCH = 64


class Intake:
    """A bounded queue of inputs; used from the event loop's thread only.

    ``let_go`` is told each inventory that is dropped: a reader that keeps it still must not be told to forget it.
    """

    def __init__(self, let_go: Callable[[AnyObservation], None] = lambda _: None) -> None:
        self._waiting: deque[AnyInput] = deque()
        self._let_go = let_go
        self.dropped = 0

    def __len__(self) -> int:
        return len(self._waiting)

    def put(self, entry: AnyInput) -> None:
        """Take an input.  Raises `OverflowError` when even after thinning there is no room."""
        if len(self._waiting) >= MAX_WAITING:
            self._thin()
        if len(self._waiting) >= MAX_WAITING:
            raise OverflowError(
                f"{MAX_WAITING} presses and orders wait for the journal; free disk space or replace the disk, "
                "then start tabled again"
            )
        self._waiting.append(entry)

    def take(self) -> list[AnyInput]:
        """The oldest inputs, at most `MAX_BATCH`: one transaction."""
        return [self._waiting.popleft() for _ in range(min(MAX_BATCH, len(self._waiting)))]

    def put_back(self, batch: list[AnyInput]) -> None:
        """Inputs that could not be written stay first in line."""
        self._waiting.extendleft(reversed(batch))

    def _thin(self) -> None:
        """Drop every second inventory of each antenna, oldest first; everything else stays."""
        kept: deque[AnyInput] = deque()
        drop: dict[tuple[str, int], bool] = {}
        for entry in self._waiting:
            if isinstance(entry, Seen) and isinstance(entry.observation, Present | CleanEmpty | Corrupt):
                antenna = (entry.observation.device, entry.observation.antenna)
                drop[antenna] = not drop.get(antenna, False)
                if drop[antenna]:
                    self.dropped += 1
                    self._let_go(entry.observation)
                    continue
            kept.append(entry)
        self._waiting = kept
