"""``bridge``, also called ``tabled-bridge``: the technician's tool for readers and panels."""

from __future__ import annotations

from typing import Any

import click

from firmware_bridge.cli.decode import decode
from firmware_bridge.cli.doctor import doctor
from firmware_bridge.cli.dump import dump
from firmware_bridge.cli.options import options
from firmware_bridge.cli.probe import probe
from firmware_bridge.session.problems import BridgeProblem


class _OneLine(click.Group):
    """What a person must mend is one line and exit status 1; a traceback is for our own faults only."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except BridgeProblem as error:
            raise click.ClickException(str(error)) from error


@click.group(cls=_OneLine, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="tabled")
def main() -> None:
    """See what is plugged in, what it says, and what is wrong with it."""


for command in (probe, dump, decode, doctor, options):
    main.add_command(command)
