"""Which presses are known: the memory that makes a resent press count once.

A press is named by (act_boot, act_seq).  It is *reported* when it went to the journal and
*acknowledged* when the journal has it.  Only an acknowledged one may be forgotten: forgetting a
reported one would report it twice.
"""

from __future__ import annotations

from typing import Literal

Act = tuple[int, int]
"""(act_boot, act_seq)."""

MEMORY = 4096
"""Acts remembered.  A panel resends only what it still holds, which is far less."""


class Acts:
    """Bounded memory of presses, oldest first."""

    def __init__(self, memory: int = MEMORY) -> None:
        self._memory = memory
        self._acknowledged: dict[Act, bool] = {}
        self._open = 0

    def meet(self, act: Act) -> Literal["new", "reported", "acknowledged", "no room"]:
        """What to do with a press that arrived.  A new one is booked as reported.

        ``"no room"``: so many reported presses wait for the journal that none may be forgotten; the press
        must be left to the panel, which resends it.
        """
        acknowledged = self._acknowledged.get(act)
        if acknowledged is not None:
            return "acknowledged" if acknowledged else "reported"
        if self._open >= self._memory:
            return "no room"
        self._put(act, acknowledged=False)
        return "new"

    def acknowledge(self, act: Act) -> None:
        """The journal has it."""
        if not self._acknowledged.get(act, True):
            self._open -= 1
        self._acknowledged.pop(act, None)
        self._put(act, acknowledged=True)

    def withdraw(self, act: Act) -> None:
        """It was not taken: forget a reported act, so that the resent one is new.  An acknowledged one stays."""
        if self._acknowledged.get(act) is False:
            del self._acknowledged[act]
            self._open -= 1

    def _put(self, act: Act, *, acknowledged: bool) -> None:
        self._acknowledged[act] = acknowledged
        self._open += not acknowledged
        if len(self._acknowledged) > self._memory:
            oldest = next((a for a, done in self._acknowledged.items() if done and a != act), None)
            if oldest is not None:
                del self._acknowledged[oldest]
