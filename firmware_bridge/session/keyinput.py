"""Keys of an input device as bytes: what the ports for keypads and Stream Decks hand to their session.

A record is 16 bytes, little-endian, whatever the machine: ``at_us`` u64 (host monotonic microseconds of the
key, 0 when the port cannot tell), ``kind`` u16, ``code`` u16, ``value`` i32.

| kind | code | value |
|---|---|---|
| 1 KEY | the key's code | 1 pressed, 0 released, 2 repeated by the kernel |
| 2 LOST | 0 | 0: the kernel or the port dropped events |
| 3 HELLO | bytes of the model's name that follow, padded with zeros to whole records | number of keys, 0 if unknown |
"""

from __future__ import annotations

import struct

import msgspec

KEY = 1
LOST = 2
HELLO = 3
MAX_NAME = 64

_RECORD = struct.Struct("<QHHi")


class KeyRecord(msgspec.Struct, frozen=True):
    """One record.  ``at_ns`` is host monotonic, 0 when unknown; ``name`` is printable ASCII, of a HELLO only."""

    kind: int
    code: int = 0
    value: int = 0
    at_ns: int = 0
    name: str = ""


def key_record(code: int, value: int, at_ns: int = 0) -> bytes:
    """A KEY."""
    return _RECORD.pack(max(0, at_ns) // 1000, KEY, code, value)


def lost_record() -> bytes:
    """A LOST."""
    return _RECORD.pack(0, LOST, 0, 0)


def hello_record(name: str, keys: int = 0) -> bytes:
    """A HELLO, the first that a port says.  A long name is cut."""
    text = name.encode("ascii", "replace")[:MAX_NAME]
    return _RECORD.pack(0, HELLO, len(text), keys) + text + bytes(-len(text) % _RECORD.size)


class KeyReader:
    """Bytes to records.  Ports deliver whole ones; what is left of a cut one waits, at most 80 bytes."""

    def __init__(self) -> None:
        self._buffer = bytearray()
        self.refused = 0
        """Records of no kind that we know."""

    def clear(self) -> None:
        """The port was closed."""
        self._buffer.clear()

    def feed(self, data: bytes) -> list[KeyRecord]:
        """The records that are now complete, oldest first."""
        self._buffer += data
        found: list[KeyRecord] = []
        at = 0
        while len(self._buffer) - at >= _RECORD.size:
            at_us, kind, code, value = _RECORD.unpack_from(self._buffer, at)
            after = at + _RECORD.size
            name = ""
            if kind == HELLO and code <= MAX_NAME:
                padded = code + -code % _RECORD.size
                if len(self._buffer) - after < padded:
                    break
                raw = bytes(self._buffer[after : after + code])
                name = "".join(chr(b) if 0x20 <= b < 0x7F else "?" for b in raw)
                after += padded
            at = after
            if kind in (KEY, LOST) or (kind == HELLO and code <= MAX_NAME):
                found.append(KeyRecord(kind, code, value, at_us * 1000, name))
            else:
                self.refused += 1
        del self._buffer[:at]
        return found
