"""The step "dealer": its text and options; what it does stands in `calibration.dealer`."""

from __future__ import annotations

from pathlib import Path

from calibration.plan import section_done
from calibration.steps import Given, Option, Outcome, Step, Talk


def _run(talk: Talk, folder: Path, given: Given) -> Outcome:
    from calibration.dealer import run  # noqa: PLC0415  the drivers are not for a list of steps

    return run(talk, folder, given)


STEP = Step(
    name="dealer",
    title="Dealer",
    about="The dealer sits at the panel and looks at the screen for a minute: a word appears, the dealer presses its "
    "key as in play. Each dealer does it once; tabled must not be running.",
    run=_run,
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
