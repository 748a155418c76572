"""One simulated table: the world, a reader with an antenna under each betting area, and a dealer's panel."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from random import Random

import msgspec

from hw_sim.devices.feig import QUIET, FeigReader, Noise, Timing
from hw_sim.devices.panel import Panel
from hw_sim.hands import MAX_SEATS, Hand, chips_needed
from hw_sim.world import Spot, World, make_chips


class TableOptions(msgspec.Struct, frozen=True, kw_only=True):
    """How the table's hardware behaves.  ``seats`` fixes the number of antennas (2..10)."""

    seed: int = 0
    seats: int = MAX_SEATS
    real_rf: bool = False
    noise: Noise = QUIET
    panel_drift_ppm: float = 40.0
    max_records: int = 24


class SimTable:
    """World and devices; reader antenna n is the betting area of seat n."""

    def __init__(
        self,
        hands: Iterable[Hand],
        options: TableOptions | None = None,
        *,
        sink: Callable[[str], None] | None = None,
        start_ns: int = 0,
    ) -> None:
        self.options = o = options or TableOptions()
        rng = Random(o.seed)
        self.world = World(make_chips(chips_needed(hands), rng), sink)
        self.seats = tuple(str(n) for n in range(1, o.seats + 1))
        self.reader = FeigReader(
            self.field,
            antennas=o.seats,
            seed=rng.randrange(1 << 32),
            timing=Timing(real=o.real_rf),
            noise=o.noise,
            max_records=o.max_records,
        )
        self.panel = Panel(seed=rng.randrange(1 << 32), drift_ppm=o.panel_drift_ppm, start_ns=start_ns)

    def field(self, antenna: int) -> list[str]:
        """UIDs over one antenna, bottom of the stack first."""
        return [c.uid for c in self.world.at(Spot("bet", str(antenna)))]

    def antennas(self) -> dict[str, str]:
        """Antenna number to place, as the table's configuration names it."""
        return {str(n): f"bet:{s}" for n, s in enumerate(self.seats, start=1)}

    def write_chips(self, path: Path) -> None:
        """The chip registry as a technician would have it: ``uid,denomination``."""
        lines = ["uid,denomination", *(f"{c.uid},{c.denomination}" for c in self.world.chips)]
        path.write_text("\n".join(lines) + "\n", encoding="ascii")
