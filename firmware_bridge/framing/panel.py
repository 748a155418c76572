"""The panel and board protocol: COBS bodies between ``00`` delimiters, CRC-16/MCRF4XX.

The text that defines it is ``firmware_bridge/PROTOCOL.md``; names and offsets are its own.
"""

from __future__ import annotations

import struct

import msgspec
from cobs import cobs
from fastcrc import crc16

from firmware_bridge.framing.delimited import DelimitedDecoder

VERSION = 1
SCHEMA_HASH = 0x7AB1ED01
DELIMITER = b"\x00"
MAX_ENCODED = 254
"""Longest encoded body, without its delimiter."""

HELLO = 0x01
HEARTBEAT = 0x02
PRESS = 0x03
PONG = 0x04
HELLO_REQUEST = 0x81
ACK = 0x82
PING = 0x83

MAX_MODEL = 24
SAID_FIRST = 0x01

_HEADER = struct.Struct("<BBHII")
_HELLO = struct.Struct("<IBB")
_HEARTBEAT = struct.Struct("<BB")
_PRESS = struct.Struct("<IHIBBBQ")
_TOKEN = struct.Struct("<I")
_ACK = struct.Struct("<IH")


class PanelFrame(msgspec.Struct, frozen=True):
    """One body with a good checksum and our version.  ``device_us`` is the sender's 32-bit tick."""

    kind: int
    seq: int
    device_us: int
    boot: int
    payload: bytes = b""


class Hello(msgspec.Struct, frozen=True):
    """What a device says of itself."""

    schema: int
    major: int
    minor: int
    model: str


class Heartbeat(msgspec.Struct, frozen=True):
    """``pending`` presses not acknowledged, ``lost`` presses dropped by a full queue; both capped at 255."""

    pending: int
    lost: int


class PressReport(msgspec.Struct, frozen=True):
    """A press as it stands on the wire.  ``key`` is a wire code, checked by the session."""

    act_boot: int
    act_seq: int
    pressed_us: int
    key: int
    seat: int
    flags: int
    amount: int


class BadPayloadError(ValueError):
    """A frame with a good checksum whose payload does not fit its type; the sender is at fault."""


def encode(frame: PanelFrame) -> bytes:
    """A frame as bytes with its closing delimiter.  ValueError if it would be longer than `MAX_ENCODED`."""
    body = _HEADER.pack(VERSION, frame.kind, frame.seq, frame.device_us, frame.boot) + frame.payload
    encoded: bytes = cobs.encode(body + crc16.mcrf4xx(body).to_bytes(2, "little"))
    if len(encoded) > MAX_ENCODED:
        raise ValueError(f"a panel frame of {len(encoded)} encoded bytes is longer than {MAX_ENCODED}")
    return encoded + DELIMITER


def ack_payload(act_boot: int, act_seq: int) -> bytes:
    """Payload of an ACK."""
    return _ACK.pack(act_boot, act_seq)


def token_payload(token: int) -> bytes:
    """Payload of a PING or PONG."""
    return _TOKEN.pack(token)


def read_hello(payload: bytes) -> Hello:
    """HELLO's fields.  Bytes of the model outside printable ASCII are shown as ``?``, never passed on."""
    if not _HELLO.size <= len(payload) <= _HELLO.size + MAX_MODEL:
        raise BadPayloadError(f"HELLO of {len(payload)} bytes; it has 6 to 30")
    schema, major, minor = _HELLO.unpack_from(payload)
    model = "".join(chr(b) if 0x20 <= b < 0x7F else "?" for b in payload[_HELLO.size :])
    return Hello(schema, major, minor, model)


def read_heartbeat(payload: bytes) -> Heartbeat:
    """HEARTBEAT's fields."""
    return Heartbeat(*_unpack(_HEARTBEAT, payload, "HEARTBEAT"))


def read_press(payload: bytes) -> PressReport:
    """PRESS's fields, as sent."""
    return PressReport(*_unpack(_PRESS, payload, "PRESS"))


def read_token(payload: bytes) -> int:
    """PONG's token."""
    return _unpack(_TOKEN, payload, "PONG")[0]


def _unpack(layout: struct.Struct, payload: bytes, name: str) -> tuple[int, ...]:
    if len(payload) != layout.size:
        raise BadPayloadError(f"{name} of {len(payload)} bytes; it has {layout.size}")
    return layout.unpack(payload)


class PanelDecoder(DelimitedDecoder[PanelFrame]):
    """Bytes to frames."""

    delimiter = DELIMITER
    longest = MAX_ENCODED

    def __init__(self) -> None:
        super().__init__()
        self.other_version = 0
        """Bodies with a good checksum and another ``ver``: part of ``refused``."""

    def _judge(self, text: bytes) -> PanelFrame | None:
        try:
            body = cobs.decode(text)
        except cobs.DecodeError:
            return None
        if len(body) < _HEADER.size + 2 or crc16.mcrf4xx(body[:-2]) != body[-2] | body[-1] << 8:
            return None
        version, kind, seq, device_us, boot = _HEADER.unpack_from(body)
        if version != VERSION:
            self.other_version += 1
            return None
        return PanelFrame(kind, seq, device_us, boot, body[_HEADER.size : -2])
