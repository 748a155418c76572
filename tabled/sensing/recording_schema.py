"""The schemas that a recording names, so that Foxglove and any MCAP tool can show it.

Pictures are ``foxglove.CompressedImage`` in Protocol Buffers: its four fields are written by hand below (protobuf's
encoding document: a tag is field number × 8 + wire type; varint 0, length-delimited 2), because a picture then costs
one copy and no further package.  All else is JSON with a JSON Schema.
"""

from __future__ import annotations

import msgspec

IMAGE_NAME = "foxglove.CompressedImage"
FRAME_ID = "table"
NS = 1_000_000_000


def _varint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def _number(field: int, value: int) -> bytes:
    return _varint(field << 3) + _varint(value)


def _bytes(field: int, value: bytes) -> bytes:
    return _varint(field << 3 | 2) + _varint(len(value)) + value


def image(wall_ns: int, jpeg: bytes) -> bytes:
    """A ``foxglove.CompressedImage``: timestamp (1), data (2), format (3), frame_id (4).  ``wall_ns`` since 1970."""
    stamp = _number(1, wall_ns // NS) + _number(2, wall_ns % NS)
    return b"".join((_bytes(1, stamp), _bytes(4, FRAME_ID.encode()), _bytes(3, b"jpeg"), _bytes(2, jpeg)))


def jpeg_of(message: bytes) -> bytes:
    """The picture in such a message, by any writer.  Raises ValueError for bytes that are none."""
    at, jpeg = 0, b""
    while at < len(message):
        tag, at = _read_varint(message, at)
        kind = tag & 7
        if kind == 0:
            _, at = _read_varint(message, at)
        elif kind in (1, 5):
            at += 8 if kind == 1 else 4
        elif kind == 2:
            size, at = _read_varint(message, at)
            if at + size > len(message):
                raise ValueError("the message is cut short")
            if tag >> 3 == 2:
                jpeg = message[at : at + size]
            at += size
        else:
            raise ValueError(f"wire type {kind} is no part of a picture")
    if at > len(message) or not jpeg:
        raise ValueError("the message holds no picture")
    return jpeg


def _read_varint(data: bytes, at: int) -> tuple[int, int]:
    value = 0
    for shift in range(0, 70, 7):
        if at >= len(data):
            raise ValueError("the message is cut short")
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
    raise ValueError("a number of more than ten bytes")


# descriptor.proto: FileDescriptorProto name 1, package 2, dependency 3, message_type 4, syntax 12;
# DescriptorProto name 1, field 2; FieldDescriptorProto name 1, number 3, label 4, type 5, type_name 6.
_INT64, _INT32, _STRING, _MESSAGE, _BYTES = 3, 5, 9, 11, 12


def _field(name: str, number: int, kind: int, type_name: str = "") -> bytes:
    what = _bytes(1, name.encode()) + _number(3, number) + _number(4, 1) + _number(5, kind)
    return _bytes(2, what + (_bytes(6, type_name.encode()) if type_name else b""))


def _file(name: str, package: str, message: str, fields: bytes, needs: str = "") -> bytes:
    parts = _bytes(1, name.encode()) + _bytes(2, package.encode())
    parts += _bytes(3, needs.encode()) if needs else b""
    return _bytes(1, parts + _bytes(4, _bytes(1, message.encode()) + fields) + _bytes(12, b"proto3"))


_TIMESTAMP = "google/protobuf/timestamp.proto"
IMAGE_SCHEMA = _file(
    _TIMESTAMP, "google.protobuf", "Timestamp", _field("seconds", 1, _INT64) + _field("nanos", 2, _INT32)
) + _file(
    "foxglove/CompressedImage.proto",
    "foxglove",
    "CompressedImage",
    _field("timestamp", 1, _MESSAGE, ".google.protobuf.Timestamp")
    + _field("frame_id", 4, _STRING)
    + _field("data", 2, _BYTES)
    + _field("format", 3, _STRING),
    _TIMESTAMP,
)
"""A FileDescriptorSet with the two messages, as MCAP's registry asks for schemas of encoding "protobuf"."""


def _object(title: str, properties: dict[str, object]) -> bytes:
    return msgspec.json.encode({"type": "object", "title": title, "properties": properties})


_WHOLE, _TEXT = {"type": "integer"}, {"type": "string"}
BYTES_NAME, OBSERVATION_NAME, OUTCOME_NAME = "tabled.Bytes", "tabled.Observation", "tabled.Outcome"
BYTES_SCHEMA = _object(BYTES_NAME, {"device": _TEXT, "at_ns": _WHOLE, "from_host": {"type": "boolean"}, "hex": _TEXT})
OBSERVATION_SCHEMA = _object(
    OBSERVATION_NAME,
    {
        "o": _TEXT,
        "device": _TEXT,
        "span": {"type": "object", "properties": {"earliest_ns": _WHOLE, "latest_ns": _WHOLE}},
    },
)
OUTCOME_SCHEMA = _object(OUTCOME_NAME, {"kind": _TEXT, "position": _WHOLE})
