"""Frames of the panel, Pepper and metraTec protocols as one line for people (FEIG: see `feig_words`)."""

from __future__ import annotations

import msgspec
from fastcrc import crc16

from firmware_bridge.cli.feig_words import hexes
from firmware_bridge.framing import panel
from firmware_bridge.framing.delimited import DelimitedDecoder
from firmware_bridge.framing.metratec import CR, MAX_LINE, MetratecDecoder
from firmware_bridge.framing.panel import PanelFrame
from firmware_bridge.framing.pepper import ACK, ERROR, UNASKED, PepperFrame
from firmware_bridge.wire import KEYS

HOST, READER = "host    ", "reader  "

_PANEL = {
    panel.HELLO: "HELLO",
    panel.HEARTBEAT: "HEARTBEAT",
    panel.PRESS: "PRESS",
    panel.PONG: "PONG",
    panel.HELLO_REQUEST: "HELLO_REQUEST",
    panel.ACK: "ACK",
    panel.PING: "PING",
}
_FROM_HOST = 0x80
"""Types of the panel protocol from here on are the host's."""
_PEPPER = {
    0x00: "acknowledge",
    0x01: "dummy",
    0x02: "get tag count",
    0x03: "get UID",
    0x04: "activate tag",
    0x05: "halt",
    0x06: "set polling",
    0x0B: "get version",
    0x0F: "set active antenna",
    0x90: "ICODE inventory start",
    0x91: "ICODE inventory next",
    0x92: "ICODE stay quiet",
}
_TAG_BYTES = 12
"""Acknowledged command, UID, DSFID, more flag (see `session.pepper`)."""
_METRATEC = {
    "OK!": "done",
    "BRA": "the continuous run has ended",
    "NCM": "no continuous run to end",
    "TNR": "no tag answered",
    "CER": "a tag answered and could not be read: checksum",
    "RDL": "a tag answered and could not be read: length",
    "CDT": "collision",
    "NCL": "no collision",
    "COK": "the tag's checksum is good",
    "TDT": "a tag's data follow",
    "SRT": "the reader has started",
    "HBT": "heartbeat",
    "RNW": "the reader's RF part is not set up: it has started anew",
    "UCO": "unknown command",
    "UPA": "unknown parameter",
    "CCE": "the reader wants checksums",
}
_METRATEC_ASKS = {
    "INV": "inventory",
    "CNR": "do it again and again",
    "BRK": "end the continuous run",
    "SAP": "antenna port",
    "SET": "set",
    "SRI": "RF interface",
    "MOD": "modulation",
    "REQ": "ISO 15693 request",
    "RFW": "model and firmware?",
    "RHW": "hardware?",
    "REV": "revision?",
    "RSN": "serial number?",
    "COF": "checksums off",
    "CON": "checksums on",
    "EOF": "end of frame on",
    "NEF": "end of frame off",
    "VBL": "verbosity",
    "HBT": "heartbeat",
    "RST": "restart",
    "STB": "sleep",
    "WAK": "wake up",
    "RIP": "inputs?",
    "WOP": "set output",
}


def panel_frame(frame: PanelFrame) -> tuple[str, ...]:
    """A frame of the panel protocol, either way."""
    name = _PANEL.get(frame.kind, f"type {frame.kind:02X}")
    way = HOST if frame.kind >= _FROM_HOST else "panel   "
    head = f"{way}{name:<13} seq {frame.seq} boot {frame.boot:08X} tick {frame.device_us}  "
    try:
        return (head + _panel_payload(frame),)
    except panel.BadPayloadError as error:
        return (head + f"BAD: {error}",)


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
    return hexes(payload)


def pepper_frame(frame: PepperFrame) -> tuple[str, ...]:
    """A Pepper frame.  Only a reader's begin with 00, FF or FE."""
    payload = frame.payload
    what, *rest = payload
    if what in (ACK, ERROR) and rest:
        name = _PEPPER.get(rest[0], f"command {rest[0]:02X}")
        says = "ack" if what == ACK else "ERROR"
        return (f"{READER}{says:<8} {name:<22} {_tag(payload) or hexes(payload[2:])}".rstrip(),)
    if what == UNASKED:
        return (f"{READER}unasked  {hexes(payload[1:])}",)
    name = _PEPPER.get(what, f"command {what:02X}") if what not in (ACK, ERROR) else f"{what:02X} alone"
    return (f"{HOST}ask      {name:<22} {hexes(payload[1:])}".rstrip(),)


def _tag(payload: bytes) -> str:
    """A tag in the answer to an inventory; its UID begins with E0, in whichever order it came."""
    if payload[0] != ACK or payload[1] not in (0x90, 0x91) or len(payload) != _TAG_BYTES:
        return ""
    raw = payload[2:10]
    ways = [uid.hex().upper() for uid in dict.fromkeys((raw, raw[::-1])) if uid[0] == 0xE0]
    return f"UID {' or '.join(ways)}{', more follow' * bool(payload[11])}" if ways else ""


class MetratecLine(msgspec.Struct, frozen=True):
    """A line of either way.  ``checked``: it carried a checksum, which was good."""

    text: str
    host: bool
    checked: bool = False


class MetratecBothWays(DelimitedDecoder[MetratecLine]):
    """Lines of both ways: commands that are known or carry a good checksum, and what a reader says."""

    delimiter = CR
    longest = MAX_LINE
    blanks = (b"", b"\n")

    def __init__(self) -> None:
        super().__init__()
        self._reader = MetratecDecoder()

    def _judge(self, text: bytes) -> MetratecLine | None:
        said = text.removeprefix(b"\n").decode("ascii", errors="replace")
        body, space, sum_ = said.rpartition(" ")
        checked = bool(space) and sum_ == f"{crc16.mcrf4xx((body + ' ').encode('ascii', 'replace')):04X}"
        if said.partition(" ")[0] in _METRATEC_ASKS and said != "HBT":
            return MetratecLine(said, host=True, checked=checked)
        lines = self._reader.feed(text + CR) or (self._reader.feed(body.encode("ascii", "replace") + CR) * checked)
        return MetratecLine(said, host=False, checked=checked) if lines else None


def metratec_line(line: MetratecLine) -> tuple[str, ...]:
    """A metraTec line, and what its word means."""
    text = line.text
    means = ", checksum good" * line.checked
    if line.host:
        return (f"{HOST}{text:<18} {_METRATEC_ASKS[text.partition(' ')[0]]}{means}",)
    bare = text.rpartition(" ")[0] if line.checked else text
    if bare in _METRATEC:
        says = _METRATEC[bare]
    elif bare.startswith("ARP "):
        says = "antenna port"
    elif bare.startswith("IVF "):
        says = "tags found"
    else:
        says = "UID" if len(bare) == 16 and " " not in bare else ""
    return (f"{READER}{text:<18} {says}{means}".rstrip(),)
