"""What lies between the reader's twin and the core: the production filter of repeats, and who lets looks through it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from firmware_bridge.session.settle import Settle
from firmware_bridge.supervisor import DeviceHealth
from firmware_bridge.wire import CleanEmpty, Corrupt, Present
from hw_sim.acts import SECOND
from tabled.core.state import TableState
from tabled.model.layout import Layout
from tabled.shell.readers import Readers, Spot

LOOK_AGAIN_NS = 1 * SECOND
"""So often the daemon lets through anew what a ruling still waits for."""

Look = Present | CleanEmpty | Corrupt


class Bridge:
    """The bridge of one reader as the core's wishes reach it: `Settle` on its way in, `Readers` on the way back.

    With ``thinned`` False every look passes.  ``favour`` hears which antennas are to be looked at more often.
    """

    def __init__(self, layout: Layout, *, thinned: bool, favour: Callable[[Sequence[Spot]], None]) -> None:
        self._settle = Settle() if thinned else None
        self._favour = favour
        self._readers = Readers(self, layout)
        self._again_ns = 0

    def looks(self, look: Look) -> list[Look]:
        """What of this look, and of those withheld before it, reaches the core now; oldest first."""
        return [look] if self._settle is None else self._settle.offer(look)

    def follow(self, state: TableState, now_ns: int) -> None:
        """After each step of the core, and once a second."""
        if now_ns >= self._again_ns:
            self._again_ns = now_ns + LOOK_AGAIN_NS
            self._readers.look_again()
        self._readers.follow(state)

    # -- what `Readers` asks of a bridge -----------------------------------------------------------

    def favour(self, places: Iterable[Spot]) -> None:
        """See `Readers`."""
        self._favour(tuple(places))

    def refresh(self, wanted: Mapping[Spot, int] | None = None) -> None:
        """See `Readers`."""
        for (_, antenna), looks in (wanted or {}).items():
            if self._settle is not None:
                self._settle.expect(antenna, looks)

    def health(self) -> Sequence[DeviceHealth]:
        """What the reader states is told otherwise (`Clockwork`)."""
        return ()

    def worst_arrival_ns(self, device: str, antenna: int) -> int | None:
        """See `health`."""
        return None

    def worst_removal_ns(self, device: str, antenna: int) -> int | None:
        """See `health`."""
        return None
