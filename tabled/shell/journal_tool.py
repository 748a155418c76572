"""``tabled journal``: is it whole, all of it for other programs, and the evidence behind one ruling."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import IO, Any

import click
import msgspec

from tabled.journal import Entry, JournalError, JournalReader, verify
from tabled.shell.engine import BUNDLE, unpack
from tabled.shell.journal_show import NoRuling, show

FILE = click.Path(path_type=Path, dir_okay=False)


@click.group()
def journal() -> None:
    """Go over a table's journal.  Nothing in it is changed; a daemon may be writing it meanwhile."""


@journal.command("verify")
@click.argument("file", type=FILE)
def verify_command(file: Path) -> None:
    """Check every entry of FILE against the chain.  Exits 1 on any damage, and names the first bad entry."""
    try:
        report = verify(file)
    except JournalError as problem:
        raise click.ClickException(str(problem)) from problem
    click.echo(report.line())
    if not report.ok:
        raise SystemExit(1)


@journal.command("export")
@click.argument("file", type=FILE)
@click.option("--out", type=FILE, help="Write to this new file instead of the terminal.")
@click.option("--after", type=click.IntRange(0), default=0, show_default=True, help="Begin behind this entry.")
def export_command(file: Path, out: Path | None, after: int) -> None:
    """Write FILE as JSON Lines: an entry a line, its position, kind, wall time, hash, body and published messages.

    Every entry is checked before it is written.  At a damaged one the export ends with its name and exit status 1, and
    what was written before it stands.
    """
    try:
        with JournalReader.open(file) as book:
            if out is None:
                count = _write(book, after, sys.stdout.buffer)
            else:
                with out.open("xb") as sink:
                    count = _write(book, after, sink)
    except FileExistsError as problem:
        raise click.ClickException(f"{out} is there already: give the name of a new file") from problem
    except OSError as problem:
        raise click.ClickException(f"cannot write {out or 'the output'}: {problem.strerror or problem}") from problem
    except JournalError as problem:
        raise click.ClickException(str(problem)) from problem
    click.echo(f"{file}: {count} entries exported", err=True)


@journal.command("show")
@click.argument("file", type=FILE)
@click.argument("ruling")
@click.option("--language", type=click.Choice(["en", "sv", "nl"]), default="en", show_default=True)
def show_command(file: Path, ruling: str, language: str) -> None:
    """Tell the evidence behind RULING (its id, or the number behind the slash): what was seen and heard, and when.

    Times are UTC, from the wall clock at the time of writing; a span says how wide it is.
    """
    try:
        for line in show(file, ruling, language):
            click.echo(line)
    except (JournalError, NoRuling, msgspec.DecodeError) as problem:
        raise click.ClickException(str(problem)) from problem


def _write(book: JournalReader, after: int, sink: IO[bytes]) -> int:
    count = 0
    for entry in book.read(after):
        sink.write(msgspec.json.encode(row(entry)) + b"\n")
        count += 1
    sink.flush()
    return count


def row(entry: Entry) -> dict[str, Any]:
    """One entry for other programs: bodies as they stand in the journal, messages by the end of their topic."""
    found: dict[str, Any] = {
        "pos": entry.pos,
        "kind": entry.kind,
        "version": entry.version,
        "wall_ns": entry.wall_ns,
        "hash": entry.hash.hex(),
        "body": msgspec.Raw(entry.body),
    }
    if entry.payload is not None:
        texts = unpack(entry.pos, entry.payload) if entry.leaf == BUNDLE else ()
        found["messages"] = {m.leaf: msgspec.Raw(m.payload) for m in texts}
    return found
