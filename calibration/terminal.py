"""The person at a terminal, as a step's `Talk`."""

from __future__ import annotations

from collections.abc import Sequence

import click

from calibration.outcomes import FOLDER
from calibration.steps import Outcome, Stopped


class Terminal:
    """Sentences on standard output, answers from standard input; an end of the input stops the step.

    Pictures are not shown: those to judge by are kept beside the files.
    """

    def __init__(self) -> None:
        self._last = ""

    def say(self, text: str) -> None:
        """Print."""
        click.echo(text)

    def ask(self, question: str, choices: Sequence[str] = (), default: str = "") -> str:
        """Print and wait for a line."""
        if len(choices) == 1:
            suffix = "  [Enter]"
        elif choices:
            suffix = f"  [{'/'.join(choices)}]"
        else:
            suffix = ""
        while True:
            try:
                answer = click.prompt(
                    f"→ {question}{suffix}", default=default or (choices[0] if len(choices) == 1 else ""),
                    show_default=bool(default) and not choices, prompt_suffix=" ",
                )  # fmt: skip
            except click.Abort as ended:
                raise Stopped from ended
            text = str(answer).strip()
            if not choices or text in choices:
                return text
            if text in ("stop", "quit"):
                raise Stopped
            click.echo(f"  answer one of: {', '.join(choices)} (or stop)")

    def look(self, picture: bytes) -> None:
        """Nothing: a terminal shows no pictures."""

    def progress(self, done: int, of: int, text: str = "") -> None:
        """One line each time something new is told."""
        line = f"  {done}/{of} {text}".rstrip()
        if line != self._last:
            click.echo(line)
            self._last = line

    def check(self) -> None:
        """Nothing: Ctrl-C ends the command."""


def tell(step: str, outcome: Outcome) -> None:
    """Print an outcome: what was found, what to look at, where the pictures are."""
    click.echo(outcome.summary)
    width = max((len(f.label) for f in outcome.figures), default=0)
    for figure in outcome.figures:
        mark = {True: "good", False: "LOOK", None: ""}[figure.good]
        click.echo(f"  {figure.label:<{width}}  {figure.value}  {mark}".rstrip())
    for warning in outcome.warnings:
        click.echo(f"  note: {warning}")
    for picture in outcome.pictures:
        click.echo(f"  {FOLDER}/{step}-{picture.name}.png: {picture.caption}")
