"""Eccel Pepper C1 frames: both directions have one form.

``F5 LENlo LENhi ~LENlo ~LENhi payload CRClo CRChi``, LEN = payload + 2, CRC-16/CCITT-FALSE over the
payload alone, low byte first.  The complemented length makes a false head cheap to tell.  A payload
of a reader begins with 00 (acknowledge, then the command), FF (error, the command, a 16-bit code)
or FE (told unasked).  Sources: Eccel "Pepper C1" protocol page and its MIT-licensed ``pepper_c1``
0.2.0 (protocol.py, commands.py).
"""

from __future__ import annotations

import msgspec
from fastcrc import crc16

from firmware_bridge.framing.searching import SearchingDecoder

STX = 0xF5
HEAD = 5
MAX_PAYLOAD = 1024
"""Longest payload accepted.  An inventory answer has 12 bytes; a longer length field is noise."""
MAX_FRAME = HEAD + MAX_PAYLOAD + 2

ACK = 0x00
UNASKED = 0xFE
ERROR = 0xFF


class PepperFrame(msgspec.Struct, frozen=True):
    """One frame with a good checksum; the payload has at least one byte."""

    payload: bytes


def encode(command: int, data: bytes = b"") -> bytes:
    """One request as bytes.  ValueError if the command is no byte or the frame would be too long."""
    if not 0 <= command <= 0xFF or len(data) + 1 > MAX_PAYLOAD:
        raise ValueError(
            f"a Pepper command of {len(data) + 1} bytes, command {command}: at most {MAX_PAYLOAD}, one byte"
        )
    payload = bytes((command,)) + data
    length = (len(payload) + 2).to_bytes(2, "little")
    return (
        bytes((STX,))
        + length
        + bytes(b ^ 0xFF for b in length)
        + payload
        + crc16.ibm_3740(payload).to_bytes(2, "little")
    )


class PepperDecoder(SearchingDecoder[PepperFrame]):
    """Bytes to frames."""

    def _head_from(self, at: int) -> int:
        start = self._buffer.find(STX, at)
        return start if start >= 0 else len(self._buffer)

    def _length_at(self, at: int) -> int | None:
        head = self._buffer[at : at + HEAD]
        for low, inverted in ((1, 3), (2, 4)):
            if len(head) > inverted and head[low] ^ head[inverted] != 0xFF:
                return 0
        if len(head) > 2 and not 3 <= head[1] | head[2] << 8 <= MAX_PAYLOAD + 2:
            return 0
        return HEAD + (head[1] | head[2] << 8) if len(head) == HEAD else None

    def _frame(self, raw: bytes) -> PepperFrame | None:
        payload = raw[HEAD:-2]
        good = crc16.ibm_3740(payload) == int.from_bytes(raw[-2:], "little")
        return PepperFrame(payload) if good else None
