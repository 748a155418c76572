"""Which pile lies where, told by the antennas under the zones instead of by the technician."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from calibration.bench import Bench, config_from
from calibration.looks import Looks, Spot
from calibration.steps import StepError, Talk
from tabled.shell.config import Config, ConfigError, load_chips
from tabled.shell.registry import RegistryError
from tabled.shell.registry import read as read_registry

LOOKS = 30
SURE = 0.3
"""Share of an antenna's looks in which a chip answers that lies over it; less is bleed or a ghost."""


def read(talk: Talk, table_toml: str) -> dict[str, int]:
    """Denomination of the pile in each zone, by the zone's name; raises `StepError`.

    The readers of ``table_toml`` are opened; the daemon must not be running.
    """
    config = config_from(table_toml)
    values = _values(config)
    with Bench(config) as bench:
        found = bench.gather(LOOKS, talk, "looks at the piles")
        return told(found, bench.configured, values)


def told(looks: Looks, places: Mapping[Spot, str], values: Mapping[str, int]) -> dict[str, int]:
    """The pile at each place from what its antenna read; raises `StepError` with code "piles"."""
    piles: dict[str, set[int]] = {}
    for uid, (spot, share) in looks.homes().items():
        if share < SURE:
            continue
        place = places[spot]
        if uid not in values:
            raise StepError(
                f"the chip {uid} on {place} is not in the registry: take it away, or enrol it (tabled calibrate chips)",
                code="piles",
            )
        piles.setdefault(place, set()).add(values[uid])
    for place, pile in sorted(piles.items()):
        if len(pile) > 1:
            kinds = " and ".join(map(str, sorted(pile)))
            raise StepError(f"chips of {kinds} lie on {place}: put one denomination on each", code="piles")
    if not piles:
        raise StepError("no antenna reads a chip: put the piles over the antennas, or say --piles", code="piles")
    return {place: next(iter(pile)) for place, pile in sorted(piles.items())}


def _values(config: Config) -> Mapping[str, int]:
    try:
        if config.chips.registry:
            return read_registry(Path(config.chips.registry)).values()
        return load_chips(Path(config.chips.file))
    except (ConfigError, RegistryError) as problem:
        raise StepError(str(problem), code="registry") from problem
