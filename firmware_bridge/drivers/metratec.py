"""metraTec HF readers with the ASCII protocol (DeskID ISO, Dwarf15, QR15, QuasarMX): 115200 8N1 or TCP 10001."""

from __future__ import annotations

from firmware_bridge.drivers.registry import Driven, check_options, line_byte_ns, read_options, read_port
from firmware_bridge.session.contract import DeviceConfig
from firmware_bridge.session.metratec import MetratecOptions, MetratecSession
from firmware_bridge.wire import DeviceId

BAUD = 115200
TCP = 10001
BITS_PER_BYTE = 10


def drive(config: DeviceConfig) -> Driven:
    """Session and port of a metraTec reader."""
    port = read_port(config, baud=BAUD, parity="N", tcp_port=TCP)
    options = read_options(config, MetratecOptions)
    check_options(config, "reader", options.problem())
    byte_ns = line_byte_ns(port, BITS_PER_BYTE)
    return Driven(MetratecSession(DeviceId(config.id), options, byte_ns=byte_ns, port=str(port)), port)
