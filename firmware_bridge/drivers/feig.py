"""FEIG OBID readers (HF, ISO 15693), also sold as Siemens RF290R: serial 38400 8E1 or TCP 10001."""

from __future__ import annotations

import msgspec

from firmware_bridge.drivers.registry import (
    LISTEN_SCHEME,
    Driven,
    check_options,
    line_byte_ns,
    read_listen,
    read_options,
    read_port,
)
from firmware_bridge.session.contract import DeviceConfig, TcpPort
from firmware_bridge.session.feig import FeigSession
from firmware_bridge.session.feig_buffer import FeigBufferSession
from firmware_bridge.session.feig_caller import FeigCallerSession
from firmware_bridge.session.plan import FeigOptions
from firmware_bridge.wire import DeviceId

BAUD = 38400
PARITY = "E"
TCP = 10001
ARRIVALS_ONLY = 'mode "{mode}" tells that a chip came and never that one is gone; use mode = "host"'
BITS_PER_BYTE = 11
"""Start, 8 data, parity, stop."""


def drive(config: DeviceConfig) -> Driven:
    """Session and port of a FEIG reader.  Behind a socket it is asked in advanced frames unless told otherwise."""
    options = read_options(config, FeigOptions)
    if options.mode == "notify" and config.port.startswith(LISTEN_SCHEME):
        called = read_listen(config, options.peer)
        check_options(config, "reader", options.problem())
        caller = FeigCallerSession(DeviceId(config.id), options, port=str(called))
        return Driven(caller, called, ARRIVALS_ONLY.format(mode=options.mode))
    port = read_port(config, baud=BAUD, parity=PARITY, tcp_port=TCP)
    if options.advanced is None:
        options = msgspec.structs.replace(options, advanced=isinstance(port, TcpPort))
    byte_ns = line_byte_ns(port, BITS_PER_BYTE)
    check_options(config, "reader", options.problem(byte_ns))
    made = FeigSession if options.mode == "host" else FeigBufferSession
    session = made(DeviceId(config.id), options, byte_ns=byte_ns, port=str(port))
    return Driven(session, port, "" if options.mode == "host" else ARRIVALS_ONLY.format(mode=options.mode))
