"""``tabled calibrate``: the guided command, and each step by itself.

Without a sub-command it goes through the steps in order, skips what is done, and can be ended and begun again at any
moment: where it stands is told from the files.  ``--page`` shows the same steps in a browser.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from calibration.outcomes import kept
from calibration.plan import PROBLEMS, commands, perform, standing, steps
from calibration.plan import step as step_named
from calibration.steps import Option, Step, StepError
from calibration.terminal import Terminal, tell

DEFAULT_FOLDER = Path("calibration")
_MARKS = {"done": "✓", "open": " ", "again": "!"}


def _folder(command: Callable[..., Any]) -> Callable[..., Any]:
    return click.option(
        "--folder",
        type=click.Path(path_type=Path, file_okay=False),
        default=None,
        help="Where the calibration files are; 'calibration' here if not given.",
    )(command)


class _Group(click.Group):
    """Known problems become their one line; anything else is a fault of ours and keeps its traceback."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except PROBLEMS as problem:
            click.echo(f"tabled calibrate: {problem}", err=True)
            raise SystemExit(2) from None


@click.group(cls=_Group, invoke_without_command=True)
@_folder
@click.option("--page", is_flag=True, help="The same steps on a web page of this machine.")
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="Port of the page; 0 takes a free one.")
@click.pass_context
def calibrate(ctx: click.Context, folder: Path | None, page: bool, port: int) -> None:
    """Measure a table: lens, plane, zones, colours, antennas, chips, time and dealers, step by step."""
    ctx.obj = folder or DEFAULT_FOLDER
    if ctx.invoked_subcommand is not None:
        return
    if page:
        from calibration.page import serve  # noqa: PLC0415  aiohttp: only for the page

        serve(ctx.obj, port, click.echo)
    else:
        guide(ctx.obj)


def guide(folder: Path) -> None:
    """Go through all steps at the terminal."""
    talk = Terminal()
    click.echo(f"Calibration of {folder}/. Ctrl-C ends it at any moment; what is done stays done.")
    _list(folder)
    for step in steps():
        state = standing(step, folder)
        if state.state == "done":
            continue
        click.echo(f"\n{step.title} (about {step.minutes} min). {step.about}")
        if state.text:
            click.echo(f"  {state.text}")
        answer = talk.ask("Do it now?", ("yes", "skip", "stop"), "yes")
        if answer == "stop":
            return
        if answer == "skip":
            continue
        if not _guided(step, talk, folder):
            return
    click.echo("")
    _list(folder)


def _guided(step: Step, talk: Terminal, folder: Path) -> bool:
    """One step until it is done or left; False if the person wants to end."""
    given: dict[str, str] = {}
    while True:
        for option in step.options:
            given[option.name] = _asked(talk, option, given.get(option.name, option.default))
        try:
            tell(step.name, perform(step, talk, folder, given))
        except PROBLEMS as problem:
            click.echo(f"\n  {problem}")
            answer = talk.ask("Try again, go on without it, or stop?", ("again", "skip", "stop"), "again")
            if answer != "again":
                return answer == "skip"
        else:
            return True


def _asked(talk: Terminal, option: Option, now: str) -> str:
    if option.kind == "flag":
        return "yes" if talk.ask(option.label, ("yes", "no"), "yes" if now == "yes" else "no") == "yes" else ""
    return talk.ask(option.label, option.choices, now)


def _list(folder: Path) -> None:
    for step in steps():
        state, last = standing(step, folder), kept(folder, step.name)
        told = state.text or (last.summary if last and state.state == "done" else "")
        click.echo(f"  [{_MARKS[state.state]}] {step.name:<9} {told}".rstrip())


@calibrate.command("list")
@_folder
@click.pass_obj
def list_steps(found: Path, folder: Path | None) -> None:
    """Where each step stands."""
    _list(folder or found)


def _command(step: Step) -> click.Command:
    """A step as a command of its own, its options as the step has them."""

    def run(**values: Any) -> None:
        found = values.pop("folder") or click.get_current_context().obj or DEFAULT_FOLDER
        given = {}
        for option in step.options:
            value = values[option.name.replace("-", "_")]
            given[option.name] = (
                "\n".join(value) if option.kind == "files" else "yes" if value is True else str(value or "")
            )
        outcome = perform(step_named(step.name), Terminal(), found, given)
        tell(step.name, outcome)

    command = click.command(step.name, help=f"{step.title}. {step.about}")(_folder(run))
    for option in reversed(step.options):
        command.params.insert(0, _parameter(option))
    return command


def _parameter(option: Option) -> click.Option:
    names = [f"--{option.name}", option.name.replace("-", "_")]
    help_text = option.label + "."
    if option.kind == "flag":
        return click.Option(names, is_flag=True, default=option.default == "yes", help=help_text)
    if option.kind == "files":
        return click.Option(names, multiple=True, help=help_text)
    kind = click.Choice(option.choices) if option.kind == "choice" else click.STRING
    return click.Option(names, type=kind, default=option.default, show_default=bool(option.default), help=help_text)


for _step in steps():
    calibrate.add_command(_command(_step))
for _other in commands():
    calibrate.add_command(_other)


__all__ = ["StepError", "calibrate", "guide"]
