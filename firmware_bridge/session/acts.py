"""Which events of a device the journal has: the memory that makes each count once.

The one order for every device: an event is *reported* when it went to the sink, *acknowledged* when the sink
said that it has committed it, and only then is the device told (a panel's ACK, a FEIG reader's [0x32], which clears
its table and answers its notifications).  A crash in between leaves the event with the device, which
delivers it again; by its name it is then known here.

A name is what the device gives: (act_boot, act_seq) of a press, the bytes of a data set with the reader's own time.
Only an acknowledged event may be forgotten: forgetting a reported one would report it twice.
"""

from __future__ import annotations

from typing import Generic, Literal, TypeVar

Act = tuple[int, int]
"""Name of a press: (act_boot, act_seq)."""

MEMORY = 4096
"""Events remembered.  A device delivers again only what it still holds, which is far less."""

NameT = TypeVar("NameT")


class Acts(Generic[NameT]):
    """Bounded memory of events, oldest first."""

    def __init__(self, memory: int = MEMORY) -> None:
        self._memory = memory
        self._acknowledged: dict[NameT, bool] = {}
        self._open = 0

    def meet(self, act: NameT) -> Literal["new", "reported", "acknowledged", "no room"]:
        """What to do with an event that arrived.  A new one is booked as reported.

        ``"no room"``: so many reported events wait for the journal that none may be forgotten; this one
        must be left to the device, which delivers it again.
        """
        acknowledged = self._acknowledged.get(act)
        if acknowledged is not None:
            return "acknowledged" if acknowledged else "reported"
        if self._open >= self._memory:
            return "no room"
        self._put(act, acknowledged=False)
        return "new"

    def acknowledge(self, act: NameT) -> None:
        """The journal has it."""
        if not self._acknowledged.get(act, True):
            self._open -= 1
        self._acknowledged.pop(act, None)
        self._put(act, acknowledged=True)

    def has(self, act: NameT) -> bool:
        """Whether the journal has it."""
        return self._acknowledged.get(act, False)

    def withdraw(self, act: NameT) -> None:
        """It was not taken: forget a reported event, so that it is new when it comes again; else it stays."""
        if self._acknowledged.get(act) is False:
            del self._acknowledged[act]
            self._open -= 1

    def forget(self) -> None:
        """The device holds nothing any more, so nothing acknowledged can come again."""
        self._acknowledged = {act: done for act, done in self._acknowledged.items() if not done}

    def _put(self, act: NameT, *, acknowledged: bool) -> None:
        self._acknowledged[act] = acknowledged
        self._open += not acknowledged
        if len(self._acknowledged) > self._memory:
            oldest = next((a for a, done in self._acknowledged.items() if done and a != act), None)
            if oldest is not None:
                del self._acknowledged[oldest]
