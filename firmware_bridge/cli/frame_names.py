"""Frames of every protocol as one line for people."""

from __future__ import annotations

from firmware_bridge.framing import panel
from firmware_bridge.framing.feig import ANY_ADDRESS, FeigFrame
from firmware_bridge.framing.panel import PanelFrame
from firmware_bridge.framing.pepper import ACK, ERROR, UNASKED, PepperFrame
from firmware_bridge.session.inventory import describe
from firmware_bridge.wire import KEYS

SHOWN = 24
"""Bytes of data shown in a line."""

_PANEL = {
    panel.HELLO: "HELLO",
    panel.HEARTBEAT: "HEARTBEAT",
    panel.PRESS: "PRESS",
    panel.PONG: "PONG",
    panel.HELLO_REQUEST: "HELLO_REQUEST",
    panel.ACK: "ACK",
    panel.PING: "PING",
}
_FEIG = {
    0x22: "read buffer",
    0x31: "read data buffer info",
    0x32: "clear data buffer",
    0x33: "initialise buffer",
    0x52: "baud rate detection",
    0x63: "CPU reset",
    0x64: "system reset",
    0x65: "get software version",
    0x66: "get reader info",
    0x69: "RF reset",
    0x6A: "RF output",
    0x6E: "reader diagnostic",
    0x72: "set output",
    0x74: "get input",
    0x80: "read configuration",
    0x81: "write configuration",
    0x82: "save configuration",
    0xB0: "ISO host command",
    0xDD: "multiplexer",
}
_STATUS = {
    0x00: "ok",
    0x01: "no tag",
    0x02: "data false",
    0x11: "parameter range",
    0x80: "unknown command",
    0x81: "length error",
    0x83: "RF error",
    0x84: "RF warning",
    0x93: "buffer overflow",
    0x94: "more data",
    0xF1: "hardware warning",
}
_ISO = {0x01: "inventory", 0x02: "stay quiet", 0x25: "select", 0x26: "reset to ready", 0x23: "read blocks"}
_PEPPER = {
    0x00: "acknowledge",
    0x01: "dummy",
    0x02: "get tag count",
    0x03: "get UID",
    0x04: "activate tag",
    0x05: "halt",
    0x06: "set polling",
    0x0B: "get version",
    0x0F: "set antenna",
    0x90: "ICODE inventory start",
    0x91: "ICODE inventory next",
    0x92: "ICODE stay quiet",
}


def _hex(data: bytes) -> str:
    rest = f" and {len(data) - SHOWN} more" if len(data) > SHOWN else ""
    return data[:SHOWN].hex(" ") + rest


def panel_frame(frame: PanelFrame) -> str:
    """A frame of the panel protocol, either way."""
    name = _PANEL.get(frame.kind, f"type {frame.kind:02X}")
    head = f"{name:<13} seq {frame.seq:<5} boot {frame.boot:08X} tick {frame.device_us:>10}  "
    try:
        return head + _panel_payload(frame)
    except panel.BadPayloadError as error:
        return head + f"BAD: {error}"


def _panel_payload(frame: PanelFrame) -> str:
    payload = frame.payload
    if frame.kind == panel.HELLO:
        hello = panel.read_hello(payload)
        known = "" if hello.schema == panel.SCHEMA_HASH else " NOT OURS"
        return f"'{hello.model}' {hello.major}.{hello.minor} schema {hello.schema:08X}{known}"
    if frame.kind == panel.HEARTBEAT:
        beat = panel.read_heartbeat(payload)
        return f"pending {beat.pending} lost {beat.lost}"
    if frame.kind == panel.PRESS:
        press = panel.read_press(payload)
        key = KEYS[press.key - 1] if 1 <= press.key <= len(KEYS) else f"key {press.key}?"
        words = [f"{press.act_boot:08X}/{press.act_seq}", key]
        words += [f"amount {press.amount}"] * bool(press.amount) + [f"seat {press.seat}"] * bool(press.seat)
        words += ["said first"] * (press.flags & panel.SAID_FIRST)
        return " ".join(words)
    if frame.kind == panel.ACK and len(payload) == 6:
        return f"{int.from_bytes(payload[:4], 'little'):08X}/{int.from_bytes(payload[4:], 'little')}"
    if frame.kind in (panel.PING, panel.PONG) and len(payload) == 4:
        return f"token {int.from_bytes(payload, 'little')}"
    return _hex(payload)


def feig_reply(frame: FeigFrame) -> str:
    """A reader's answer."""
    said = _STATUS.get(frame.status) or describe(frame.status)
    text = _feig_head(frame) + f"{frame.status:02X} {said}"
    return text + (f"  {_hex(frame.data)}" if frame.data else "")


def feig_either(frame: FeigFrame) -> str:
    """A frame of a capture of both ways: only hosts address "any", and only requests may have no status."""
    asked = frame.address == ANY_ADDRESS or not frame.payload
    return f"{'host' if asked else 'reader':<7}" + (feig_request(frame) if asked else feig_reply(frame))


def feig_request(frame: FeigFrame) -> str:
    """A host's question."""
    words = _ISO.get(frame.payload[0], "") + "  " if frame.command == 0xB0 and frame.payload else ""
    return _feig_head(frame) + words + _hex(frame.payload)


def _feig_head(frame: FeigFrame) -> str:
    name = _FEIG.get(frame.command, "command")
    return f"[{frame.command:02X}] {name:<21} adr {frame.address:02X}{' advanced' * frame.advanced}  "


def pepper_frame(frame: PepperFrame) -> str:
    """A Pepper frame.  00 is both an acknowledgement and a command, so it is named as a reader says it."""
    payload = frame.payload
    what, *rest = payload
    if what in (ACK, ERROR) and rest:
        name = _PEPPER.get(rest[0], f"command {rest[0]:02X}")
        says = "ack" if what == ACK else f"ERROR {int.from_bytes(payload[2:4], 'little'):04X}"
        return f"{says:<11} {name:<22} {_hex(payload[2:])}".rstrip()
    if what == UNASKED:
        return f"unasked     {_hex(payload[1:])}"
    return f"ask         {_PEPPER.get(what, f'command {what:02X}'):<22} {_hex(payload[1:])}".rstrip()


def metratec_line(line: str) -> str:
    """A metraTec line, and what its word means."""
    words = {
        "TNR": "no tag answered",
        "CER": "a tag answered and could not be read: checksum",
        "RDL": "a tag answered and could not be read: length",
        "CDT": "collision",
        "SRT": "the reader has started",
        "HBT": "heartbeat",
        "UCO": "unknown command",
        "UPA": "unknown parameter",
        "CCE": "the reader wants checksums",
    }
    if line in words:
        return f"{line:<18} {words[line]}"
    if line.startswith("ARP "):
        return f"{line:<18} antenna"
    if line.startswith("IVF "):
        return f"{line:<18} tags found"
    return f"{line:<18} UID" if len(line) == 16 else line
