"""``tabled replay``: fold a journal again and compare, byte for byte, with what was published."""

from __future__ import annotations

from pathlib import Path

import click
import msgspec

from tabled.journal import Entry, JournalError, JournalReader
from tabled.model.outcome import AnyOutcome
from tabled.shell.console import Console
from tabled.shell.engine import JournalMismatch, refold
from tabled.shell.rendering import WORDING, origin_of, renderer
from tabled.shell.version import product_version


@click.command()
@click.argument("journal", type=click.Path(path_type=Path, dir_okay=False))
@click.option("--verify", is_flag=True, help="Only compare and print one line.  Exits 1 on any difference.")
@click.option("--language", type=click.Choice(["en", "sv", "nl"]), default="en", show_default=True)
def replay(journal: Path, verify: bool, language: str) -> None:
    """Fold JOURNAL again and print its rulings; every published byte is compared."""
    console = None if verify else Console(click.echo, WORDING.say, WORDING.announce, language)
    try:
        entries, published = run(journal, console, product_version())
    except (JournalError, ValueError) as problem:
        raise click.ClickException(str(problem)) from problem
    except JournalMismatch as problem:
        click.echo(f"{journal}: entry {problem.position} DIFFERS", err=True)
        click.echo(f"  recorded: {_shown(problem.recorded)}", err=True)
        click.echo(f"  replayed: {_shown(problem.replayed)}", err=True)
        raise SystemExit(1) from problem
    if not entries:
        raise click.ClickException(f"{journal}: holds no entry, there is nothing to replay")
    click.echo(f"{journal}: {entries} entries replayed, {published} published outcomes the same byte for byte")


def run(path: Path, console: Console | None = None, version: str = "") -> tuple[int, int]:
    """Replay a journal.  Returns how many entries it has and how many outcomes were compared.

    Recorded states are compared where the program's ``version`` made them.

    Raises `JournalMismatch` at the first difference, `JournalError` for a file that cannot be read.
    """
    with JournalReader.open(path) as book:
        first = next(book.read(), None)
        if first is None:
            return 0, 0
        _, count = refold(book.read(), renderer(origin_of(first, book.epoch)), version=version)
        published = 0
        for entry in book.read():
            if entry.payload is None:
                continue
            published += 1
            if console is not None:
                console.tell(entry.pos, outcome_of(entry))
    return count, published


def outcome_of(entry: Entry) -> AnyOutcome:
    """The outcome that an entry records."""
    return msgspec.json.decode(entry.body, type=AnyOutcome)


def _shown(body: bytes | None) -> str:
    return "nothing" if body is None else body.decode("utf-8", "replace")[:2000]
