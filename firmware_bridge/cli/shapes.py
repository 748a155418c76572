"""What bytes that are no frame look like: a wrong checksum, a frame cut short, a line that nobody here knows.

Each function gets a piece of a capture between two frames and returns one line, "" if it looks like nothing.
"""

from __future__ import annotations

from cobs import cobs
from fastcrc import crc16

from firmware_bridge.cli.feig_words import known_command
from firmware_bridge.framing import feig as feig_framing
from firmware_bridge.framing import metratec as metratec_framing
from firmware_bridge.framing import panel as panel_framing
from firmware_bridge.framing import pepper as pepper_framing

UNFINISHED = "an unfinished frame"
_SHORTEST_BODY = 14


def _checksum(found: int, right: int, what: str) -> str:
    if found == right:
        return f"{what} with a good checksum, which cannot go this way"
    came, due = (value.to_bytes(2, "little").hex(" ") for value in (found, right))
    return f"{what} with checksum {came}; it should be {due}"


def unknown(_data: bytes) -> str:
    """Of a protocol that this file does not know."""
    return ""


def feig(data: bytes) -> str:
    """A FEIG head and its length, of a command that is known."""
    if data[:1] == b"\x02" and len(data) >= 5:
        length, code, form = data[1] << 8 | data[2], data[4], "an advanced FEIG frame"
    elif len(data) >= 3:
        length, code, form = data[0], data[2], "a standard FEIG frame"
    else:
        return ""
    if not 5 <= length <= feig_framing.MAX_FRAME or not known_command(code):
        return ""
    what = f"{form} [{code:02X}]"
    if length > len(data):
        return f"{UNFINISHED}: {what} of {length} bytes, of which {len(data)} came"
    raw = data[:length]
    return _checksum(int.from_bytes(raw[-2:], "little"), crc16.mcrf4xx(raw[:-2]), what)


def pepper(data: bytes) -> str:
    """A Pepper head, whose length stands there twice."""
    head = data[: pepper_framing.HEAD]
    if len(head) < pepper_framing.HEAD or head[0] != pepper_framing.STX:
        return ""
    if head[1] ^ head[3] != 0xFF or head[2] ^ head[4] != 0xFF:
        return ""
    total = pepper_framing.HEAD + (head[1] | head[2] << 8)
    if total > len(data):
        return f"{UNFINISHED}: a Pepper frame of {total} bytes, of which {len(data)} came"
    payload, sum_ = data[pepper_framing.HEAD : total - 2], data[total - 2 : total]
    return _checksum(int.from_bytes(sum_, "little"), crc16.ibm_3740(payload), "a Pepper frame")


def panel(data: bytes) -> str:
    """A COBS body of version 1 or of another one."""
    try:
        body = cobs.decode(data)
    except cobs.DecodeError:
        return ""
    if len(body) < _SHORTEST_BODY or len(data) > panel_framing.MAX_ENCODED:
        return ""
    right, found = crc16.mcrf4xx(body[:-2]), int.from_bytes(body[-2:], "little")
    if right == found:
        return f"a panel frame of protocol version {body[0]}; this is version {panel_framing.VERSION}"
    known = body[0] == panel_framing.VERSION and body[1] & 0x7F in range(1, 5)
    return _checksum(found, right, f"a panel frame of type {body[1]:02X}") if known else ""


def metratec(data: bytes) -> str:
    """Printable text."""
    text = data.strip(b"\r\n")
    if not 3 <= len(text) <= metratec_framing.MAX_LINE or any(not 0x20 <= byte < 0x7F for byte in text):
        return ""
    return f"a line of text that is not known: {text.decode('ascii')}"
