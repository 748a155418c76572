"""The dealer's button panel of ``PROTOCOL.md``: USB CDC or UART, 115200 8N1."""

from __future__ import annotations

from firmware_bridge.drivers.registry import Driven, read_options, read_port
from firmware_bridge.session.contract import DeviceConfig
from firmware_bridge.session.panel import PanelOptions, PanelSession
from firmware_bridge.session.problems import ConfigProblem
from firmware_bridge.wire import DeviceId

BAUD = 115200


def drive(config: DeviceConfig) -> Driven:
    """Session and port of a panel."""
    port = read_port(config, baud=BAUD, parity="N", tcp_port=None)
    options = read_options(config, PanelOptions)
    problem = options.problem()
    if problem is not None:
        raise ConfigProblem(config.id, f"panel '{config.id}': {problem}.", "Mend its options in the configuration.")
    return Driven(PanelSession(DeviceId(config.id), options, port=str(port)), port)
