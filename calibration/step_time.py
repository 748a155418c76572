"""The step "time": its text and options; what it does stands in `calibration.timing`."""

from __future__ import annotations

from calibration.plan import run_of, section_done
from calibration.steps import Option, Step

STEP = Step(
    name="time",
    title="Time",
    about="You need one chip, the readers and the camera, with lens, plane and zones measured; tabled must not be "
    "running. Let the chip fall on one seat's betting area again and again, with no hand over it. An evening's journal "
    "will do as well.",
    run=run_of("calibration.timing"),
    done=lambda folder: section_done(folder, "time"),
    options=(
        Option(name="config", label="The table's configuration (table.toml)", kind="file", default="table.toml"),
        Option(name="place", label="Where the chip falls", default="bet:1"),
        Option(name="placements", label="Placements at least", kind="number", default="30"),
        Option(name="journal", label="A journal with the camera at work, instead of falling chips", kind="file"),
        Option(name="panel", label="Measure the panel too: chip and key in the same moment", kind="flag"),
        Option(name="landings", label="For a robot: landings as JSON lines instead of the camera", kind="file"),
    ),
    required=False,
    minutes=3,
)
