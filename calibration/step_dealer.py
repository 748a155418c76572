"""The step "dealer": its text and options; what it does stands in `calibration.dealer`."""

from __future__ import annotations

from calibration.plan import run_of, section_done
from calibration.steps import Option, Step

STEP = Step(
    name="dealer",
    title="Dealer",
    about="The dealer sits at the panel and looks at the screen for a minute: a word appears, the dealer presses its "
    "key as in play. Each dealer does it once; tabled must not be running.",
    run=run_of("calibration.dealer"),
    done=lambda folder: section_done(folder, "dealers"),
    options=(
        Option(name="config", label="The table's configuration (table.toml)", kind="file", default="table.toml"),
        Option(name="dealer", label="The dealer's name"),
        Option(name="words", label="Words in the exercise", kind="number", default="20"),
        Option(name="pace", label="Milliseconds between two words, about", kind="number", default="2500"),
        Option(name="seed", label="For a robot: the order of the words", kind="number", default="0"),
    ),
    required=False,
    minutes=1,
)
