"""A USB numeric keypad as the dealer's panel, by evdev (see `firmware_bridge.session.keypad` for its keys)."""

from __future__ import annotations

from random import SystemRandom

from firmware_bridge.drivers.registry import Driven, check_options, read_options
from firmware_bridge.session.contract import DeviceConfig, KeysPort
from firmware_bridge.session.keypad import KeypadComposer, KeypadOptions
from firmware_bridge.session.local import LocalPanelSession
from firmware_bridge.session.problems import ConfigProblem
from firmware_bridge.wire import BootId, DeviceId

MS = 1_000_000


def drive(config: DeviceConfig) -> Driven:
    """Session and port of a keypad.  Its boot is drawn here: one a run of the daemon."""
    if not config.port.startswith("/") or config.baud is not None:
        raise ConfigProblem(
            config.id,
            f"'{config.id}': port '{config.port}' is no input device.",
            "Name the keypad by /dev/input/by-id/...-event-kbd (see 'tabled-bridge probe') and give no baud.",
        )
    options = read_options(config, KeypadOptions)
    check_options(config, "keypad", options.problem())
    port = KeysPort(config.port)
    session = LocalPanelSession(
        DeviceId(config.id),
        KeypadComposer(options),
        draw_boot(),
        scan_ns=options.scan_ms * MS,
        port=str(port),
    )
    return Driven(session, port)


def draw_boot() -> BootId:
    """A fresh boot id: random, 32 bits, never 0."""
    return BootId(SystemRandom().randrange(1, 1 << 32))
