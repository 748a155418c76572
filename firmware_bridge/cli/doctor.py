"""``bridge doctor``: what is wrong with a port or its device, and the line that mends it."""

from __future__ import annotations

import asyncio

import click

from firmware_bridge.cli import findings, system
from firmware_bridge.cli.findings import Finding, Level
from firmware_bridge.cli.given import OPTION
from firmware_bridge.cli.line_checks import Meant, check_line
from firmware_bridge.cli.text import wrapped
from firmware_bridge.session.problems import PortProblem

_MARKS: dict[Level, tuple[str, str]] = {"ok": ("ok  ", "green"), "warn": ("warn", "yellow"), "bad": ("BAD ", "red")}


@click.command()
@click.argument("ports", nargs=-1)
@click.option("--driver", "-d", help="What should be there: any driver, built in or added.")
@OPTION
@click.option("--seconds", type=click.FloatRange(1, 3600), default=6.0, show_default=True, help="To measure a clock.")
@click.option("--no-open", is_flag=True, help="Look only; open no port.")
def doctor(
    ports: tuple[str, ...], driver: str | None, options: tuple[str, ...], *, seconds: float, no_open: bool
) -> None:
    """Examine serial ports, keypads and Stream Decks.

    Looks at names, permissions, who holds the port, and the adapter's latency; then opens the port, asks who is
    there, tries other baud rates and parities if nobody answers, and measures a panel's clock. A keypad, a Stream
    Deck and an added driver are asked by their own session, with -o options. Ends with status 1 if anything is bad.
    """
    meant = Meant(driver, options) if driver is not None else None
    devices = [(name, system.serial_device(name)) for name in ports if name.startswith("/")]
    names = list(ports)
    if not ports:
        devices = [(device.best_name, device) for device in system.serial_devices()]
        names = [name for name, _ in devices]
    known = dict(devices)
    bad = False
    for name in names:
        click.secho(name, bold=True)
        found: list[Finding] = []
        if name in known:
            found += findings.port_findings(name, known[name])
        may_open = not no_open and not any(f.level == "bad" for f in found)
        for finding in found:
            bad |= _show(finding)
        if may_open:
            for finding in _line_findings(name, meant, seconds):
                bad |= _show(finding)
    if not ports:
        for path, found in findings.panel_findings():
            click.secho(path, bold=True)
            for finding in found:
                bad |= _show(finding)
        if not names:
            click.echo("No USB serial port is plugged in. Name a mainboard's own port, such as /dev/ttyS0.")
    if bad:
        raise SystemExit(1)


def _line_findings(name: str, meant: Meant | None, seconds: float) -> list[Finding]:
    try:
        return asyncio.run(check_line(name, meant, seconds))
    except PortProblem as error:
        return [findings.of_problem(error, name)]


def _show(finding: Finding) -> bool:
    mark, colour = _MARKS[finding.level]
    text = wrapped(finding.says, first=f"  {mark}  ", indent=8)
    click.echo(f"  {click.style(mark, fg=colour)}{text[6:]}")
    for line in finding.paste:
        click.secho(f"        {line}", fg="cyan")
    return finding.level == "bad"
