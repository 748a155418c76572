"""One simulated table: the world, one or two readers with an antenna under each betting area, a dealer's panel."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from random import Random
from typing import Literal

import msgspec

from hw_sim.devices.feig import FeigReader, Mode
from hw_sim.devices.metratec import MetratecReader
from hw_sim.devices.panel import Panel
from hw_sim.devices.pepper import PepperReader
from hw_sim.devices.physics import QUIET, Air, Noise, Timing
from hw_sim.devices.quirks import NO_QUIRKS, Quirks
from hw_sim.devices.reader import Reader
from hw_sim.hands import MAX_SEATS, Hand, chips_needed
from hw_sim.world import Chip, Spot, World, make_chips, with_clones

ReaderKind = Literal["feig", "feig-tcp", "metratec", "pepper"]
DRIVERS: dict[str, str] = {"feig": "feig", "feig-tcp": "feig", "metratec": "metratec", "pepper": "pepper"}
"""The driver's name by kind of reader."""


class TableOptions(msgspec.Struct, frozen=True, kw_only=True):
    """How the table's hardware behaves.  ``seats`` fixes the number of antennas (2..10).

    With two ``readers`` the lower seats lie over the first, the rest over the second.  ``clones`` chips carry
    another chip's UID.  ``feig_mode``, ``quirks`` and ``quiet_hold_ms``: see `hw_sim.devices`.
    """

    seed: int = 0
    seats: int = MAX_SEATS
    real_rf: bool = False
    noise: Noise = QUIET
    panel_drift_ppm: float = 40.0
    max_records: int = 24
    reader: ReaderKind = "feig"
    readers: Literal[1, 2] = 1
    feig_mode: Mode = "host"
    quirks: Quirks = NO_QUIRKS
    quiet_hold_ms: float = 0.0
    clones: int = 0
    panel_salt: int = 0
    """Makes the panel's boot ids other ones at each start, as a real panel's are; 0 where all must follow the seed."""


class SimTable:
    """World and devices; place n is the betting area of seat n."""

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
        chips = make_chips(chips_needed(hands), rng)
        self.world = World(with_clones(chips, o.clones, Random(o.seed ^ 0xC10E)), sink)
        self.seats = tuple(str(n) for n in range(1, o.seats + 1))
        self.air = Air()
        self._places: dict[str, tuple[int, ...]] = {}
        self.readers: dict[str, Reader] = {}
        places = range(1, o.seats + 1)
        half = (o.seats + 1) // 2
        shares = {"reader": places} if o.readers == 1 else {"reader-a": places[:half], "reader-b": places[half:]}
        for name, share in shares.items():
            self._places[name] = tuple(share)
            self.readers[name] = self._reader(tuple(share), rng.randrange(1 << 32))
        self.panel = Panel(seed=rng.randrange(1 << 32) ^ o.panel_salt, drift_ppm=o.panel_drift_ppm, start_ns=start_ns)
        self.world.watch(self._moved)

    @property
    def reader(self) -> Reader:
        """The first reader."""
        return next(iter(self.readers.values()))

    def _reader(self, share: tuple[int, ...], seed: int) -> Reader:
        o = self.options
        places = dict(enumerate(share, start=1))
        timing = Timing(real=o.real_rf, quiet_hold_ms=o.quiet_hold_ms)
        if o.reader in ("feig", "feig-tcp"):
            return FeigReader(
                self.field,
                antennas=len(share),
                places=places,
                seed=seed,
                timing=timing,
                noise=o.noise,
                quirks=o.quirks,
                air=self.air,
                max_records=o.max_records,
                mode=o.feig_mode,
            )
        kind = MetratecReader if o.reader == "metratec" else PepperReader
        return kind(
            self.field,
            antennas=len(share),
            places=places,
            seed=seed,
            timing=timing,
            noise=o.noise,
            quirks=o.quirks,
            air=self.air,
        )

    def _moved(self, chips: tuple[Chip, ...], source: Spot, _target: Spot) -> None:
        if source.kind == "bet":
            for reader in self.readers.values():
                reader.radio.lifted(c.uid for c in chips)

    def looks(self, place: int) -> int:
        """How many inventories have looked at a place."""
        return sum(reader.radio.looks.get(place, 0) for reader in self.readers.values())

    def field(self, place: int) -> list[str]:
        """UIDs over one place, bottom of the stack first."""
        return [c.uid for c in self.world.at(Spot("bet", str(place)))]

    def antennas(self, reader: str | None = None) -> dict[str, str]:
        """Antenna number, from 1 (a metraTec calls antenna n port n-1), to place: as a configuration names them."""
        share = self._places[reader or next(iter(self._places))]
        return {str(n): f"bet:{place}" for n, place in enumerate(share, start=1)}

    def write_chips(self, path: Path) -> None:
        """The chip registry as a technician would have it: ``uid,denomination``."""
        rows = sorted({(c.uid, c.denomination) for c in self.world.chips})
        lines = ["uid,denomination", *(f"{uid},{denomination}" for uid, denomination in rows)]
        path.write_text("\n".join(lines) + "\n", encoding="ascii")
