"""The step "antennas": its text and options; what it does stands in `calibration.antennas`."""

from __future__ import annotations

from calibration.plan import run_of, section_done
from calibration.steps import Option, Step

STEP = Step(
    name="antennas",
    title="Antennas",
    about="You need the table's readers and a rack of chips; tabled must not be running. Put one chip on each place as "
    "you are told, then nineteen more on each, and keep your hands off while they are counted.",
    run=run_of("calibration.antennas"),
    done=lambda folder: section_done(folder, "antennas"),
    options=(
        Option(name="config", label="The table's configuration (table.toml)", kind="file", default="table.toml"),
        Option(name="looks", label="Looks at each antenna", kind="number", default="400"),
        Option(name="height", label="Chips in a stack", kind="number", default="20"),
        Option(name="map", label="Places to draw the read zone of, such as bet:3"),
        Option(name="grid", label="Points of that map along one side", kind="number", default="5"),
        Option(name="pitch", label="Millimetres between them", kind="number", default="40"),
        Option(name="write", label="Put antennas and neighbours into table.toml", kind="flag"),
    ),
    minutes=5,
)
