"""An Elgato Stream Deck as the dealer's panel (see `firmware_bridge.session.deck` for its pages)."""

from __future__ import annotations

from firmware_bridge.drivers.keypad import MS, draw_boot
from firmware_bridge.drivers.registry import Driven, check_options, read_options
from firmware_bridge.session.contract import DeckPort, DeviceConfig
from firmware_bridge.session.deck import DeckComposer, DeckOptions
from firmware_bridge.session.local import LocalPanelSession
from firmware_bridge.session.problems import ConfigProblem
from firmware_bridge.wire import DeviceId

SCHEME = "streamdeck:"


def drive(config: DeviceConfig) -> Driven:
    """Session and port of a deck: port ``streamdeck:`` for the only one, ``streamdeck:SERIAL`` for one of many."""
    if not config.port.startswith(SCHEME) or config.baud is not None:
        raise ConfigProblem(
            config.id,
            f"'{config.id}': port '{config.port}' is no Stream Deck.",
            "Write streamdeck: for the only one, or streamdeck:SERIAL (see 'tabled-bridge probe'), and give no baud.",
        )
    options = read_options(config, DeckOptions)
    check_options(config, "deck", options.problem())
    port = DeckPort(config.port.removeprefix(SCHEME), options.transport, options.brightness)
    session = LocalPanelSession(
        DeviceId(config.id),
        DeckComposer(options),
        draw_boot(),
        scan_ns=options.scan_ms * MS,
        port=str(port),
    )
    return Driven(session, port)
