"""A device as the command line gives it: driver, port, ``-o name=value``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click
import msgspec

from firmware_bridge.drivers.registry import options_type
from firmware_bridge.session.contract import DeviceConfig

NAME = "device"
OPTION = click.option(
    "--option",
    "-o",
    "options",
    multiple=True,
    metavar="NAME=VALUE",
    help="Driver option, VALUE as JSON ('tabled-bridge options DRIVER' lists them).",
)


def config_of(driver: str, port: str, given: Sequence[str], baud: int | None = None) -> DeviceConfig:
    """The device; a driver that wants antennas and is given none gets the first.  `ConfigProblem` for no driver."""
    found: dict[str, Any] = {}
    for text in given:
        name, equals, value = text.partition("=")
        if not equals:
            raise click.ClickException(f"option '{text}' has no '='. Write -o name=value, such as -o antennas=[1,2].")
        try:
            found[name] = msgspec.json.decode(value)
        except msgspec.DecodeError:
            found[name] = value
    kind = options_type(driver)
    if kind is not None and any(field.name == "antennas" and field.required for field in msgspec.structs.fields(kind)):
        found.setdefault("antennas", [1])
    return DeviceConfig(NAME, driver, port, baud, found)


def inline(options: dict[str, Any]) -> str:
    """Options as TOML's inline table, and as nothing else has them."""
    return "{ " + ", ".join(f"{name} = {msgspec.json.encode(value).decode()}" for name, value in options.items()) + " }"
