"""Step 4, the palette: what each denomination looks like from above."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from calibration.files import save
from calibration.plan import section_done
from calibration.steps import Figure, Given, Option, Outcome, Picture, Step, StepError, Talk
from tabled.sensing.sections import load

if TYPE_CHECKING:
    from calibration.colours import PaletteResult

MAX_PILES = 64
_PILE = re.compile(r"(\d{1,9})\s*=\s*([a-z]+(?::[A-Za-z0-9_-]{1,32})?)")


def _run(talk: Talk, folder: Path, given: Given) -> Outcome:
    from calibration import colours, live  # noqa: PLC0415  OpenCV: only for the step itself
    from calibration.optics import Optics, Pose  # noqa: PLC0415  as above

    whole = load(folder, ("lens", "plane", "zones"))
    assert whole.lens is not None, "the step needs the lens step"
    assert whole.plane is not None, "the step needs the plane step"
    assert whole.zones is not None, "the step needs the zones step"
    piles = _piles(talk, given)
    try:
        diameter = float(given["diameter-mm"].replace(",", "."))
    except ValueError:
        diameter = 0.0
    if not 20 <= diameter <= 80:
        raise StepError(f"{given['diameter-mm']!r} is no diameter of a chip; it is about 39 mm", code="diameter")
    shots = live.shots(talk, given)
    result = colours.learn(shots, Optics.of(whole.lens), Pose.of(whole.plane), whole.zones, piles, diameter_mm=diameter)
    save(folder, result.palette)
    return _outcome(result)


def _piles(talk: Talk, given: Given) -> dict[str, int]:
    """Which pile lies where: as it was said, or as the antennas read it."""
    if given["piles"].strip() or not given["config"].strip():
        return piles_of(given["piles"])
    from calibration import piles_read  # noqa: PLC0415  the drivers: only where they are asked

    piles = piles_read.read(talk, given["config"].strip())
    talk.say("read: " + ", ".join(f"{value} on {zone}" for zone, value in piles.items()))
    return piles


def piles_of(text: str) -> dict[str, int]:
    """``100=bet:3, 500=board``: the denomination of the pile in each zone, by the zone's name; raises `StepError`."""
    found: dict[str, int] = {}
    for part in (p.strip() for p in text.replace("\n", ",").split(",")):
        if not part:
            continue
        match = _PILE.fullmatch(part)
        if match is None or int(match[1]) == 0:
            raise StepError(f"{part!r} is no pile; write it as 100=bet:3 (denomination, zone)", code="piles")
        if match[2] in found:
            raise StepError(f"{match[2]} has two piles; one pile in each zone", code="piles")
        found[match[2]] = int(match[1])
    if not found:
        raise StepError(
            "say which pile lies where: --piles 5=bet:1,25=bet:2,100=bet:3 (denomination, zone), or give --config so "
            "that the antennas tell it",
            code="piles",
        )
    if len(found) > MAX_PILES:
        raise StepError("more piles than zones", code="piles")
    return found


def _outcome(result: PaletteResult) -> Outcome:
    from calibration import palette_plot  # noqa: PLC0415  OpenCV
    from calibration.pictures import png  # noqa: PLC0415  OpenCV

    figures = [
        Figure(
            label=str(c.denomination),
            value=f"L* {c.lab_e3[0] / 1000:.0f}  a* {c.lab_e3[1] / 1000:.0f}  b* {c.lab_e3[2] / 1000:.0f}  "
            f"± {c.spread_e3 / 1000:.1f}",
            good=not any(re.search(rf"\b{c.denomination}\b", w) for w in result.warnings),
        )
        for c in result.palette.colours
    ]
    sheet = png(palette_plot.sheet(result))
    return Outcome(
        summary=f"Palette: {len(figures)} denominations.",
        figures=tuple(figures),
        pictures=(Picture(name="colours", caption="Each denomination as seen and as learnt.", png=sheet),),
        warnings=result.warnings,
    )


STEP = Step(
    name="palette",
    title="Palette",
    about=(
        "Put one pile of each denomination into a zone of its own, felt around it, the lamps as they are in play. Say "
        "which lies where, as in 5=bet:1, 25=bet:2, or let the antennas under the zones tell it."
    ),
    run=_run,
    done=lambda folder: section_done(folder, "palette"),
    needs=("lens", "plane", "zones"),
    minutes=2,
    options=(
        Option(name="from", label="Pictures (files, a folder, or a pattern)", kind="files"),
        Option(name="source", label="Camera: /dev/video0, an rtsp:// or http:// address, or a film"),
        Option(name="piles", label="Which pile lies where: 5=bet:1, 25=bet:2, 100=board"),
        Option(name="config", label="Or let the antennas tell it: the table's table.toml (tabled must not be running)"),
        Option(name="diameter-mm", label="Diameter of the chips, mm", kind="number", default="39"),
    ),
)
