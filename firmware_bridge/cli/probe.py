"""``bridge probe``: what is plugged in, and who it says it is."""

from __future__ import annotations

import asyncio

import click
import msgspec

from firmware_bridge.cli import findings, system
from firmware_bridge.cli.given import OPTION, config_of, inline
from firmware_bridge.cli.hello import Who, is_network, multiplexers, session_hello, who_is
from firmware_bridge.cli.text import wrapped
from firmware_bridge.drivers.registry import find_driver
from firmware_bridge.session.problems import PortProblem

PROBE_S = 12.0
"""Longest time for one port."""


class Probed(msgspec.Struct, frozen=True):
    """One port and what came of asking it."""

    port: system.SerialDevice
    asked: str
    """The name under which it was opened."""
    who: Who | None = None
    problem: str = ""
    paste: tuple[str, ...] = ()
    """Lines for a shell that mend it."""


@click.command()
@click.argument("ports", nargs=-1)
@click.option("--antennas", is_flag=True, help="Also ask FEIG readers for their multiplexers (switches antennas off).")
@click.option("--driver", "-d", help="Ask as this driver does, built in or added, at its own settings.")
@OPTION
@click.option("--json", "as_json", is_flag=True, help="One JSON line a device.")
def probe(
    ports: tuple[str, ...], driver: str | None, options: tuple[str, ...], *, antennas: bool, as_json: bool
) -> None:
    """Ask every serial port who is there, and print what belongs into the configuration.

    Only hello and version requests are sent (with --driver, what that driver says).

    PORTS are paths or tcp://host; without any, all USB serial
    ports are asked (a mainboard's own ports, /dev/ttyS*, must be named), and keypads and Stream Decks are listed.
    Stop tabled first: a port has one user.
    """
    chosen = [(name, system.serial_device(name)) for name in ports] or [
        (device.best_name, device) for device in system.serial_devices()
    ]
    if driver is not None and not ports:
        raise click.ClickException("--driver needs the PORTS to ask: it may say more than a hello there.")
    for name, _ in chosen if driver is not None else ():
        find_driver(driver or "")(config_of(driver or "", name, options))  # its problems are one line, before any port
    found = asyncio.run(_probe_all(chosen, driver, options, antennas=antennas))
    if as_json:
        for one in found:
            click.echo(msgspec.json.encode(one))
    else:
        for one in found:
            _show(one)
        if not found:
            click.echo("No serial port with a device is plugged in.")
    if not ports and not as_json:
        _show_panels()
    if ports and any(one.who is None for one in found):
        raise SystemExit(1)


async def _probe_all(
    chosen: list[tuple[str, system.SerialDevice]], driver: str | None, options: tuple[str, ...], *, antennas: bool
) -> list[Probed]:
    if driver is not None:
        return list(await asyncio.gather(*(_probe_as(driver, options, name, device) for name, device in chosen)))
    return list(await asyncio.gather(*(_probe_one(name, device, antennas=antennas) for name, device in chosen)))


async def _probe_as(driver: str, options: tuple[str, ...], name: str, device: system.SerialDevice) -> Probed:
    who, health = await session_hello(config_of(driver, name, options), PROBE_S / 2)
    says = f"{health.error or 'nobody answered'}. {health.advice}".strip()
    return Probed(device, name, who, "" if who is not None else says)


async def _probe_one(name: str, device: system.SerialDevice, *, antennas: bool) -> Probed:
    try:
        async with asyncio.timeout(PROBE_S):
            who, unread = await who_is(name)
            if who is not None and who.driver == "feig":
                who = await multiplexers(name, who) if antennas else who
            elif who is not None and who.driver == "pepper":
                who = msgspec.structs.replace(who, antennas="1-8")
    except PortProblem as error:
        # The same words as the doctor's.
        bad = [f for f in findings.port_findings(name, device) if f.level == "bad"] if not is_network(name) else []
        one = (bad or [findings.of_problem(error, name)])[0]
        return Probed(device, name, problem=one.says, paste=one.paste)
    except TimeoutError:
        return Probed(device, name, problem=f"no end of it in {PROBE_S:.0f} s")
    if who is None:
        heard = f"{unread} bytes came that no protocol here knows" if unread else "nobody answered"
        mend = "check the address and the port number, and that this socket is the reader's"
        if not is_network(name):
            mend = f"'tabled-bridge doctor {name}' tries other baud rates and parities"
        return Probed(device, name, problem=f"{heard}; {mend}")
    return Probed(device, name, who)


def _show(one: Probed) -> None:
    click.secho(one.asked, bold=True)
    if one.who is not None:
        who = one.who
        click.secho(f"  {who.model}, firmware {who.firmware}", fg="green")
        click.echo(f'  driver = "{who.driver}", {who.line}' + (f", antennas {who.antennas}" if who.antennas else ""))
        if who.options:
            click.echo(f"  options = {inline(who.options)}")
    else:
        click.secho(wrapped(one.problem, first="  ", indent=2), fg="yellow")
        for line in one.paste:
            click.secho(f"  {line}", fg="cyan")
    usb = one.port.usb
    if usb is not None:
        named = " ".join(word for word in (usb.maker, usb.model) if word) or "unnamed"
        serial = f"serial {usb.serial}" if usb.serial else "no serial number"
        click.secho(f"  usb {usb.vendor}:{usb.product} {named}, {serial}", dim=True)
    if one.port.path != one.asked:
        click.secho(f"  now {one.port.path}", dim=True)


def _show_panels() -> None:
    for path in system.keypads():
        click.secho(path, bold=True)
        click.echo('  keyboard or keypad, driver = "keypad" if it is the dealer\'s')
    for deck in system.decks():
        click.secho(f"streamdeck:{deck.serial}", bold=True)
        click.echo(f'  {deck.model or "Elgato device"}, driver = "streamdeck"')
