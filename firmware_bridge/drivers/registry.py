"""Drivers by name: built in, or added by anyone through the entry point group ``tabled.drivers``.

A driver is a function from a `DeviceConfig` to a `Driven`: the session that speaks and the port it
speaks on.  It opens nothing.  A distribution adds one with::

    [project.entry-points."tabled.drivers"]
    mymodel = "mypackage.module:drive"
"""

from __future__ import annotations

from collections.abc import Callable
from importlib.metadata import entry_points
from typing import TypeVar

import msgspec

from firmware_bridge.session.contract import DeviceConfig, ListenPort, PortSettings, SerialPort, Session, TcpPort
from firmware_bridge.session.problems import ConfigProblem

GROUP = "tabled.drivers"
TCP_SCHEME = "tcp://"
LISTEN_SCHEME = "tcp-listen://"

OptionsT = TypeVar("OptionsT", bound=msgspec.Struct)


class Driven(msgspec.Struct, frozen=True):
    """A device ready to be opened."""

    session: Session
    port: PortSettings


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


def _find(name: str) -> tuple[Driver | None, list[str]]:
    """The driver of that name, and all names."""
    from firmware_bridge.drivers import (  # noqa: PLC0415 - the driver files import this one
        feig,
        keypad,
        metratec,
        panel,
        pepper,
        streamdeck,
    )

    built_in: dict[str, Driver] = {
        "feig": feig.drive,
        "keypad": keypad.drive,
        "metratec": metratec.drive,
        "panel": panel.drive,
        "pepper": pepper.drive,
        "streamdeck": streamdeck.drive,
    }
    added = entry_points(group=GROUP)
    names = sorted({*built_in, *added.names})
    if name in built_in:
        return built_in[name], names
    return (added[name].load() if name in added.names else None), names


def drive(config: DeviceConfig) -> Driven:
    """The session and port of a configured device.  Raises `ConfigProblem`."""
    try:
        driver, names = _find(config.driver)
    except Exception as error:  # a third party's module may fail in any way
        raise ConfigProblem(
            config.id,
            f"'{config.id}': driver '{config.driver}' cannot be loaded: {error!r}.",
            "Reinstall the package that provides it.",
        ) from error
    if driver is None:
        raise ConfigProblem(
            config.id, f"'{config.id}': there is no driver '{config.driver}'.", f"Drivers here: {', '.join(names)}."
        )
    return driver(config)
