"""The steps of a calibration in their order, and the other commands of ``tabled calibrate``."""

from __future__ import annotations

import contextlib
import importlib
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, cast

from calibration.files import FilesError
from calibration.steps import Done, Given, Outcome, Run, Step, StepError, Talk
from tabled.sensing.sections import NAMES, CalibrationError, SectionName, decode, path_of, read

if TYPE_CHECKING:
    import click

MODULES: tuple[str, ...] = (
    "calibration.step_lens",
    "calibration.step_plane",
    "calibration.step_zones",
    "calibration.step_palette",
    "calibration.step_antennas",
    "calibration.step_chips",
    "calibration.step_time",
    "calibration.step_dealer",
)
"""Each has a ``STEP``."""

COMMANDS: tuple[str, ...] = (
    "calibration.printing:board",
    "calibration.printing:markers",
    "calibration.registry_commands:registry",
    "calibration.checking:command",
    "calibration.report_command:report",
)
"""``module:name`` of further click commands."""

PROBLEMS = (StepError, CalibrationError, FilesError)
"""Errors whose text is one line that says what to do."""


@cache
def steps() -> tuple[Step, ...]:
    """All steps, in the order in which they are done."""
    return tuple(cast(Step, importlib.import_module(name).STEP) for name in MODULES)


def step(name: str) -> Step:
    """The step of that name; raises `StepError`."""
    for found in steps():
        if found.name == name:
            return found
    raise StepError(f"there is no step {name!r}; the steps are {', '.join(s.name for s in steps())}", code="no-step")


def commands() -> tuple[click.Command, ...]:
    """The commands that are no steps."""
    found = []
    for entry in COMMANDS:
        module, _, name = entry.partition(":")
        found.append(getattr(importlib.import_module(module), name))
    return tuple(found)


def section_done(folder: Path, section: SectionName) -> Done:
    """Whether a section's file is there and whole: what most steps need for ``done``."""
    assert section in NAMES
    try:
        raw = read(path_of(folder, section), section)
        if raw is None:
            return Done(state="open")
        decode(raw, section)
    except CalibrationError as problem:
        return Done(state="again", text=str(problem))
    return Done(state="done")


def standing(step: Step, folder: Path) -> Done:
    """Where ``step`` stands; a file that cannot be read is one to measure again."""
    try:
        return step.done(folder)
    except PROBLEMS as problem:
        return Done(state="again", text=str(problem))


def run_of(module: str) -> Run:
    """The ``run`` of a module that is imported only when it is called: the drivers are not for a list of steps."""

    def run(talk: Talk, folder: Path, given: Given) -> Outcome:
        return cast(Run, importlib.import_module(module).run)(talk, folder, given)

    return run


def perform(step: Step, talk: Talk, folder: Path, given: Given) -> Outcome:
    """Run ``step`` with defaults for what was not given, after those it needs, and keep its outcome.

    Raises `StepError` (also where a needed step is not done), `CalibrationError`, `FilesError`.
    """
    from calibration.outcomes import keep  # noqa: PLC0415  files of pictures: not for a list of steps

    by_name = {s.name: s for s in steps()}
    for name in step.needs:
        if name in by_name and (found := by_name[name].done(folder)).state != "done":
            raise StepError(
                f"the step {step.name!r} needs {name!r} first: run 'tabled calibrate {name} --folder {folder}'"
                + (f" ({found.text})" if found.text else ""),
                code="needs",
            )
    known = {option.name: option.default for option in step.options}
    if unknown := sorted(set(given) - set(known)):
        raise StepError(f"the step {step.name!r} has no option {unknown[0]!r}", code="option")
    outcome = step.run(talk, folder, {**known, **given})
    keep(folder, step.name, outcome)
    _report(folder)
    return outcome


def _report(folder: Path) -> None:
    """Every calibration that a ruling may name has its report; a section that cannot be read is told elsewhere."""
    from calibration.report import save  # noqa: PLC0415  it lists the steps itself
    from tabled.shell.clock import wall_ns  # noqa: PLC0415  as above

    with contextlib.suppress(CalibrationError, StepError):
        save(folder, wall_ns())
