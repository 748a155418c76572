"""``bridge``: the technician's tool for readers and panels."""

from __future__ import annotations

import click


@click.group()
@click.version_option(package_name="tabled")
def main() -> None:
    """See what is plugged in, what it says, and what is wrong with it."""
