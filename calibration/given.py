"""Options of the steps at the readers and the panel: whole numbers in their range, places and their middles."""

from __future__ import annotations

from pathlib import Path

from calibration.steps import Given, StepError
from tabled.model.calibration import Zones
from tabled.sensing.sections import decode, path_of, read


def number(given: Given, name: str, least: int, most: int) -> int:
    """The option as a whole number; `StepError` says what fits."""
    text = given[name].strip()
    if not (text.isascii() and text.isdigit() and len(text) < 10 and least <= int(text) <= most):
        raise StepError(f"--{name} {text!r}: write a whole number from {least} to {most}", code="option")
    return int(text)


def zone_middle(folder: Path, place: str) -> tuple[int, int]:
    """Middle of a place's zone in mm of the table's frame; raises `StepError` without zones.json or that zone."""
    raw = read(path_of(folder, "zones"), "zones")
    if raw is None:
        raise StepError("a map is drawn in the table's frame: do 'tabled calibrate zones' first", code="needs")
    zones = decode(raw, "zones")
    assert isinstance(zones, Zones)
    for zone in zones.zones:
        if (f"{zone.kind}:{zone.seat}" if zone.seat else zone.kind) == place:
            xs, ys = [p.x_um for p in zone.outline], [p.y_um for p in zone.outline]
            return (min(xs) + max(xs)) // 2000, (min(ys) + max(ys)) // 2000
    raise StepError(f"zones.json has no zone {place!r}: add it with 'tabled calibrate zones'", code="needs")
