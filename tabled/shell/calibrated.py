"""What the configuration takes from a calibration folder: checked once at the start, so that a mistake is one line."""

from __future__ import annotations

from pathlib import Path

from msgspec.structs import replace

from tabled.fusion.settings import FusionSettings
from tabled.model.calibration import Calibration
from tabled.sensing import sections
from tabled.shell.config import Config, ConfigError

NEEDED: tuple[sections.SectionName, ...] = ("lens", "plane", "zones")
"""Without these no picture can be read; the camera's palette and times only make it more exact."""


def calibration_of(config: Config) -> Calibration | None:
    """The calibration that ``[camera]`` names, None where it names none.

    Raises `ConfigError` for one that cannot be read, lacks a section, or is of another camera or table.
    """
    camera = config.camera
    if camera is None or not camera.calibration:
        return None
    try:
        found = sections.load(Path(camera.calibration))
    except sections.CalibrationError as problem:
        raise ConfigError(f"[camera] calibration: {problem}") from problem
    for name in NEEDED:
        if getattr(found, name) is None:
            raise ConfigError(
                f"[camera] calibration: {camera.calibration} has no {name}.json; measure it with 'tabled calibrate "
                f"{sections.STEPS[name]}', or take calibration out and the camera only records"
            )
    lens, zones = found.lens, found.zones
    assert lens is not None
    assert zones is not None
    if (lens.width_px, lens.height_px) != camera.size:
        raise ConfigError(
            f"[camera] size is {camera.size[0]}x{camera.size[1]}, but lens.json was measured at {lens.width_px}x"
            f"{lens.height_px}; set size = [{lens.width_px}, {lens.height_px}], or measure the lens again"
        )
    strangers = sorted({z.seat for z in zones.zones if z.seat} - {str(n + 1) for n in range(config.table.seats)})
    if strangers:
        raise ConfigError(
            f"[camera] calibration: zones.json has seat {strangers[0]}, the table has {config.table.seats}; set "
            "[table] seats, or draw the zones again with 'tabled calibrate zones'"
        )
    return found


def fusion_of(config: Config, found: Calibration | None) -> FusionSettings:
    """``[fusion]``, with the reaction span of ``[table] dealer`` where one is named.

    Raises `ConfigError` for a dealer whom the calibration does not know.
    """
    name = config.table.dealer
    if not name:
        return config.fusion
    known = () if found is None or found.dealers is None else found.dealers.dealers
    for dealer in known:
        if dealer.name == name:
            return replace(
                config.fusion, reaction_min_ms=dealer.reaction_min_ms, reaction_max_ms=dealer.reaction_max_ms
            )
    names = ", ".join(sorted(d.name for d in known)) or "nobody"
    raise ConfigError(
        f"[table] dealer {name!r} did not do the exercise (dealers.json knows {names}); run 'tabled calibrate dealer', "
        "or take dealer out"
    )
