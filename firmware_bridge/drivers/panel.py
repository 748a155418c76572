"""The dealer's button panel of ``PROTOCOL.md``: USB CDC or UART, 115200 8N1."""

from __future__ import annotations

from firmware_bridge.drivers.registry import Driven, check_options, read_options, read_port
from firmware_bridge.session.contract import DeviceConfig
from firmware_bridge.session.panel import PanelOptions, PanelSession
from firmware_bridge.wire import DeviceId

BAUD = 115200


def drive(config: DeviceConfig) -> Driven:
    """Session and port of a panel."""
    port = read_port(config, baud=BAUD, parity="N", tcp_port=None)
    options = read_options(config, PanelOptions)
    check_options(config, "panel", options.problem())
    return Driven(PanelSession(DeviceId(config.id), options, port=str(port)), port)
