"""``tabled calibrate report``: write the report and say where it is."""

from __future__ import annotations

from pathlib import Path

import click

from calibration.report import save
from tabled.shell.clock import wall_ns


@click.command("report")
@click.option("--folder", type=click.Path(path_type=Path, file_okay=False), default=None, help="The calibration files.")
@click.pass_context
def report(ctx: click.Context, folder: Path | None) -> None:
    """One HTML file with all figures and pictures, under the hash that every ruling carries."""
    click.echo(save(folder or ctx.obj or Path("calibration"), wall_ns()))
