"""``tabled calibrate registry``: make a room's chip registry, import and export it, change statuses, look at it."""

from __future__ import annotations

import getpass
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeVar

import click

from calibration import registry as book
from calibration.files import FilesError, write
from calibration.registry_csv import Rows, check, export
from calibration.steps import StepError
from tabled.shell.clock import wall_ns
from tabled.shell.registry import STATUSES, Chip, Registry, RegistryError, Status, read

T = TypeVar("T")

MAX_CSV = 64 << 20
_REGISTRY = click.argument("registry", type=click.Path(path_type=Path, dir_okay=False))


@click.group("registry")
def registry() -> None:
    """The room's chip registry: UID to denomination, series and status, in one SQLite file for all its tables."""


@registry.command("create")
@_REGISTRY
@click.option("--room", default="", help="Name of the room.")
@click.option("--denominations", required=True, help="What the room's chips are worth, such as 25,100,500.")
def create(registry: Path, room: str, denominations: str) -> None:
    """Make a new, empty registry."""
    parts = [part.strip() for part in denominations.split(",")]
    if not all(part.isascii() and part.isdigit() and len(part) < 13 for part in parts):
        raise click.ClickException(
            f"--denominations {denominations!r}: write whole numbers with commas, such as 25,100,500"
        )
    made = _refusing(lambda: book.create(registry, room=room, denominations=[int(p) for p in parts], wall_ns=wall_ns()))
    click.echo(f"{registry}: made for chips of {', '.join(str(d) for d in made.denominations)}")


@registry.command("import")
@_REGISTRY
@click.argument("csv", type=click.Path(path_type=Path, dir_okay=False))
def import_(registry: Path, csv: Path) -> None:
    """Add the chips of a CSV file (uid,denomination,status,series), all or, if one row is wrong, none."""
    rows = _checked(check(_text(csv), _read(registry)), csv)
    if rows.unchanged:
        click.echo(f"{rows.unchanged} rows were in the registry already")
    _write(registry, rows.chips, f"import {getpass.getuser()}")


@registry.command("status")
@_REGISTRY
@click.argument("status", type=click.Choice(STATUSES))
@click.argument("uids", nargs=-1)
@click.option(
    "--csv", type=click.Path(path_type=Path, dir_okay=False), help="The UIDs stand in this file (column uid)."
)
def status(registry: Path, status: Status, uids: tuple[str, ...], csv: Path | None) -> None:
    """Set the STATUS of chips: issued, cage, void or stolen.  All or, if one is unknown, none."""
    text = _text(csv) if csv is not None else "uid\n" + "\n".join(uids) + "\n"
    rows = _checked(check(text, _read(registry), known_only=True, status=status), csv or registry)
    if rows.unchanged:
        click.echo(f"{rows.unchanged} chips were {status} already")
    _write(registry, rows.chips, f"{status} {getpass.getuser()}")


@registry.command("export")
@_REGISTRY
@click.argument("csv", type=click.Path(path_type=Path, dir_okay=False))
@click.option("--status", "statuses", type=click.Choice(STATUSES), multiple=True, help="Only these; all if not given.")
def export_(registry: Path, csv: Path, statuses: tuple[str, ...]) -> None:
    """Write the registry as CSV; a table's [chips] file takes it."""
    text = export(_read(registry), statuses or STATUSES)
    _refusing(lambda: write(csv, text.encode()))
    click.echo(f"{csv}: {text.count(chr(10)) - 1} chips")


@registry.command("show")
@_REGISTRY
@click.option("--uid", help="One chip and what became of it.")
def show(registry: Path, uid: str | None) -> None:
    """How many chips of which worth and status, or one chip's history."""
    found = _read(registry)
    when = datetime.fromtimestamp(found.changed_ns / 1e9, UTC).strftime("%Y-%m-%d %H:%M UTC")
    if uid is not None:
        chip = found.chips.get(uid.upper())
        if chip is None:
            raise click.ClickException(f"{uid} is not in {registry}")
        click.echo(f"{uid.upper()}: {chip.denomination} {chip.status} {chip.series}".rstrip())
        for line in book.log(registry, uid.upper()):
            at = datetime.fromtimestamp(line.wall_ns / 1e9, UTC).strftime("%Y-%m-%d %H:%M")
            click.echo(f"  {at}  {line.who}: {line.was or 'new'} -> {line.now}")
        return
    click.echo(f"{registry}: {found.room or 'a room'}, edition {found.edition} of {when}, sum {found.digest[:16]}")
    counts = Counter((chip.denomination, chip.status) for chip in found.chips.values())
    for (denomination, state), count in sorted(counts.items()):
        click.echo(f"{denomination:>12}  {state:<7} {count:>8}")
    total = sum(c.denomination for c in found.chips.values() if c.status == "issued")
    click.echo(f"{len(found.chips)} chips; {total} in play")


def _checked(rows: Rows, source: Path) -> Rows:
    if rows.problems:
        raise click.ClickException(f"{source}: nothing was changed, for\n{rows.told()}")
    return rows


def _write(registry: Path, chips: dict[str, Chip], who: str) -> None:
    now = _refusing(lambda: book.change(registry, chips, who=who, wall_ns=wall_ns()))
    click.echo(f"{registry}: {len(chips)} chips written, {len(now.chips)} in all, edition {now.edition}")


def _read(registry: Path) -> Registry:
    try:
        return read(registry)
    except RegistryError as problem:
        raise click.ClickException(str(problem)) from problem


def _refusing(work: Callable[[], T]) -> T:
    try:
        return work()
    except (StepError, FilesError) as problem:
        raise click.ClickException(str(problem)) from problem


def _text(csv: Path) -> str:
    try:
        if csv.stat().st_size > MAX_CSV:
            raise click.ClickException(f"{csv}: is larger than a list of chips can be; is it the right file?")
        return csv.read_text(encoding="utf-8-sig")
    except OSError as problem:
        raise click.ClickException(f"{csv}: cannot be read ({problem.strerror}); check the name") from problem
    except UnicodeDecodeError as problem:
        raise click.ClickException(f"{csv}: is not UTF-8 text; export it as CSV again") from problem
