"""The step "chips": its text and options; what it does stands in `calibration.chips`."""

from __future__ import annotations

from pathlib import Path

from calibration.outcomes import kept
from calibration.plan import run_of
from calibration.steps import Done, Option, Step


def _done(folder: Path) -> Done:
    found = kept(folder, "chips")
    return Done(state="open") if found is None else Done(state="done", text=found.summary)


STEP = Step(
    name="chips",
    title="Chips",
    about="You need the room's registry ('tabled calibrate registry create') and racks of counted chips; tabled must "
    "not be running. Lay rack after rack on one antenna. Chips can also come from a CSV: 'tabled calibrate registry "
    "import'.",
    run=run_of("calibration.chips"),
    done=_done,
    options=(
        Option(name="config", label="The table's configuration (table.toml)", kind="file", default="table.toml"),
        Option(name="registry", label="The room's registry; as in table.toml if not given", kind="file"),
        Option(name="place", label="Where the rack is laid", default="tray"),
        Option(name="denomination", label="What each chip is worth", kind="number"),
        Option(name="count", label="Chips in a rack", kind="number", default="20"),
        Option(name="racks", label="Racks one after the other", kind="number", default="1"),
        Option(name="series", label="Series, such as a year", kind="text"),
    ),
    required=False,
    minutes=3,
)
