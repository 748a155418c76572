"""Eccel Pepper C1 MUX (HF, ISO 15693, eight antennas): serial 115200 8N1, or a socket whose port is named."""

from __future__ import annotations

from firmware_bridge.drivers.registry import Driven, check_options, line_byte_ns, read_options, read_port
from firmware_bridge.session.contract import DeviceConfig
from firmware_bridge.session.pepper import PepperOptions, PepperSession
from firmware_bridge.wire import DeviceId

BAUD = 115200
TCP = 0
"""The maker names no port: ``tcp://host:port`` has to."""
BITS_PER_BYTE = 10


def drive(config: DeviceConfig) -> Driven:
    """Session and port of a Pepper reader."""
    port = read_port(config, baud=BAUD, parity="N", tcp_port=TCP)
    options = read_options(config, PepperOptions)
    check_options(config, "reader", options.problem())
    byte_ns = line_byte_ns(port, BITS_PER_BYTE)
    return Driven(PepperSession(DeviceId(config.id), options, byte_ns=byte_ns, port=str(port)), port)
