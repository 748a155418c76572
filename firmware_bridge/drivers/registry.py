"""Drivers by name: built in, or added by anyone through the entry point group ``tabled.drivers``.

A driver is a function from a `DeviceConfig` to a `Driven`: the session that speaks and the port it
speaks on.  It opens nothing.  A distribution adds one with::

    [project.entry-points."tabled.drivers"]
    mymodel = "mypackage.module:drive"

and, under the same name, what helps the technician: its options' type in the group ``tabled.driver_options``, a decoder
in ``tabled.decoders``.  ``DRIVERS.md`` has a worked one.  No added name may be a built-in's or stand twice.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib.metadata import EntryPoint, entry_points
from typing import Any, TypeVar, cast

import msgspec

from firmware_bridge.framing.decoder import Decoder
from firmware_bridge.session.contract import DeviceConfig, ListenPort, PortSettings, SerialPort, Session, TcpPort
from firmware_bridge.session.deck import DeckOptions
from firmware_bridge.session.keypad import KeypadOptions
from firmware_bridge.session.metratec import MetratecOptions
from firmware_bridge.session.panel import PanelOptions
from firmware_bridge.session.pepper import PepperOptions
from firmware_bridge.session.plan import FeigOptions
from firmware_bridge.session.problems import ConfigProblem

GROUP = "tabled.drivers"
OPTIONS_GROUP = "tabled.driver_options"
DECODERS_GROUP = "tabled.decoders"
TCP_SCHEME = "tcp://"
LISTEN_SCHEME = "tcp-listen://"

OptionsT = TypeVar("OptionsT", bound=msgspec.Struct)


class Driven(msgspec.Struct, frozen=True):
    """A device ready to be opened.

    ``arrivals_only``: why it never tells that a chip is gone, and what to use instead; "" for one that does.
    """

    session: Session
    port: PortSettings
    arrivals_only: str = ""


Driver = Callable[[DeviceConfig], Driven]


def read_options(config: DeviceConfig, kind: type[OptionsT]) -> OptionsT:
    """The device's options as the driver's type.  `ConfigProblem` names the option that is wrong."""
    try:
        return msgspec.convert(config.options, kind)
    except msgspec.ValidationError as error:
        known = ", ".join(field.name for field in msgspec.structs.fields(kind))
        raise ConfigProblem(
            config.id, f"'{config.id}': {error}.", f"Driver '{config.driver}' has the options {known}."
        ) from error


def check_options(config: DeviceConfig, what: str, problem: str | None) -> None:
    """`ConfigProblem` if there is one; ``what`` names the kind of device."""
    if problem is not None:
        raise ConfigProblem(config.id, f"{what} '{config.id}': {problem}.", "Mend its options in the configuration.")


def read_port(config: DeviceConfig, *, baud: int, parity: str, tcp_port: int | None) -> PortSettings:
    """Port of a device: a path, or ``tcp://host[:port]`` where the driver has a default ``tcp_port``.

    ``tcp_port`` None: no network port.  0: one without a default, that must be named.
    """
    if config.port.startswith(LISTEN_SCHEME):
        raise ConfigProblem(
            config.id,
            f"'{config.id}': nobody calls '{config.port}'.",
            'Only a FEIG reader in mode "notify" connects by itself; name the port at which this one is.',
        )
    if not config.port.startswith(TCP_SCHEME):
        rate = baud if config.baud is None else config.baud
        if not config.port or not 300 <= rate <= 4_000_000:
            raise ConfigProblem(
                config.id,
                f"'{config.id}': port '{config.port}' at {rate} baud cannot be.",
                "Name the serial port, best by /dev/serial/by-id/, and a baud rate from 300 to 4000000.",
            )
        return SerialPort(config.port, rate, parity)
    host, _, number = config.port.removeprefix(TCP_SCHEME).partition(":")
    port = tcp_port if not number else int(number) if number.isdecimal() else None
    if tcp_port is None or not host or port is None or not 1 <= port <= 65535:
        raise ConfigProblem(
            config.id,
            f"'{config.id}': port '{config.port}' cannot be.",
            ("Write tcp://host or tcp://host:port." if tcp_port else "Write tcp://host:port.")
            if tcp_port is not None
            else f"Driver '{config.driver}' has no network port; name a serial port.",
        )
    return TcpPort(host, port)


def read_listen(config: DeviceConfig, peer: str) -> ListenPort:
    """Port of a reader that calls: ``tcp-listen://host:port``, where ``peer`` is the only address that may."""
    host, _, number = config.port.removeprefix(LISTEN_SCHEME).rpartition(":")
    if not host or not number.isdecimal() or not 1 <= int(number) <= 65535 or config.baud is not None:
        raise ConfigProblem(
            config.id,
            f"'{config.id}': port '{config.port}' cannot be.",
            "Write tcp-listen://host:port with an address of this computer, or 0.0.0.0 for all, and give no baud.",
        )
    return ListenPort(host, int(number), peer)


def line_byte_ns(port: PortSettings, bits: int) -> int:
    """Time of one byte of so many ``bits`` on the port's line, 0 where there is no serial line."""
    return bits * 1_000_000_000 // port.baud if isinstance(port, SerialPort) else 0


def _built_in() -> dict[str, tuple[Driver, type[msgspec.Struct]]]:
    """The drivers of this package and the types of their options."""
    from firmware_bridge.drivers import (  # noqa: PLC0415 - the driver files import this one
        feig,
        keypad,
        metratec,
        panel,
        pepper,
        streamdeck,
    )

    return {
        "feig": (feig.drive, FeigOptions),
        "keypad": (keypad.drive, KeypadOptions),
        "metratec": (metratec.drive, MetratecOptions),
        "panel": (panel.drive, PanelOptions),
        "pepper": (pepper.drive, PepperOptions),
        "streamdeck": (streamdeck.drive, DeckOptions),
    }


def driver_names() -> tuple[str, ...]:
    """All drivers, built in and added, by name."""
    return tuple(sorted({*_built_in(), *entry_points(group=GROUP).names}))


def decoder_names() -> tuple[str, ...]:
    """Added drivers that bring a decoder for captures."""
    return tuple(sorted(entry_points(group=DECODERS_GROUP).names))


def _added(group: str, name: str, device: str) -> Any:
    """What an entry point names, None if there is none.  `ConfigProblem` if it is not alone or cannot be loaded."""
    points = tuple(entry_points(group=group).select(name=name))
    if name in _built_in() and points:
        raise ConfigProblem(
            device,
            f"driver '{name}' is built in, and {_by(points)} adds another of that name.",
            "Uninstall that package, or have its entry point renamed: until then neither is used.",
        )
    if len(points) > 1:
        raise ConfigProblem(
            device, f"driver '{name}' is added more than once, by {_by(points)}.", "Uninstall all of these but one."
        )
    try:
        return points[0].load() if points else None
    except Exception as error:  # a third party's module may fail in any way
        raise ConfigProblem(
            device,
            f"'{device}': driver '{name}' cannot be loaded: {error!r}.",
            "Reinstall the package that provides it.",
        ) from error


def _by(points: tuple[EntryPoint, ...]) -> str:
    return " and ".join(f"{p.dist.name} {p.dist.version}" if p.dist else p.value for p in points[:4])


def find_driver(name: str, device: str = "") -> Driver:
    """The driver of that name.  `ConfigProblem` for ``device`` if there is none, or more than one."""
    added = _added(GROUP, name, device or name)
    driver = _built_in()[name][0] if name in _built_in() else cast("Driver | None", added)
    if driver is None:
        raise ConfigProblem(
            device, f"'{device or name}': there is no driver '{name}'.", f"Drivers here: {', '.join(driver_names())}."
        )
    return driver


def options_type(name: str) -> type[msgspec.Struct] | None:
    """Type of a driver's options; None where an added driver does not tell.  `ConfigProblem` as for a driver."""
    find_driver(name)
    if name in _built_in():
        return _built_in()[name][1]
    return cast("type[msgspec.Struct] | None", _added(OPTIONS_GROUP, name, name))


def third_decoder(name: str) -> Callable[[], Decoder[Any]] | None:
    """An added driver's decoder for captures, None if it brings none."""
    return cast("Callable[[], Decoder[Any]] | None", _added(DECODERS_GROUP, name, name))


def drive(config: DeviceConfig) -> Driven:
    """The session and port of a configured device.  Raises `ConfigProblem`."""
    return find_driver(config.driver, config.id)(config)
