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


class PepperDecoder:
    """Bytes to frames.  After a bad frame the search starts again at its second byte."""

    def __init__(self) -> None:
        self._buffer = bytearray()
        self.fed = 0
        self.framed = 0
        self.garbage = 0
        self.frames = 0
        self.refused = 0

    @property
    def pending(self) -> int:
        """Bytes that may be the start of a frame."""
        return len(self._buffer)

    def feed(self, data: bytes) -> list[PepperFrame]:
        """Takes bytes as they came; returns the complete frames, oldest first."""
        self.fed += len(data)
        self._buffer += data
        return self._scan(final=False)

    def gap(self) -> list[PepperFrame]:
        """The line was silent for longer than a frame may pause: no head in the buffer will be completed."""
        return self._scan(final=True)

    def clear(self) -> None:
        """Gives up what is pending, counted: the port was closed."""
        self.garbage += len(self._buffer)
        self._buffer.clear()

    def _total_at(self, at: int) -> int | None:
        """Claimed size of a frame that starts at ``at``; 0 if none can; None if more bytes must tell."""
        head = self._buffer[at : at + HEAD]
        for low, inverted in ((1, 3), (2, 4)):
            if len(head) > inverted and head[low] ^ head[inverted] != 0xFF:
                return 0
        if len(head) > 2 and not 3 <= head[1] | head[2] << 8 <= MAX_PAYLOAD + 2:
            return 0
        return HEAD + (head[1] | head[2] << 8) if len(head) == HEAD else None

    def _scan(self, *, final: bool) -> list[PepperFrame]:
        found: list[PepperFrame] = []
        buffer = self._buffer
        at, end = 0, len(buffer)
        while at < end:
            start = buffer.find(STX, at)
            if start != at:
                start = end if start < 0 else start
                self.garbage += start - at
                at = start
                continue
            total = self._total_at(at)
            if (total is None or at + total > end) and not final:
                break
            if total and at + total <= end and self._sums(at, total):
                found.append(PepperFrame(bytes(buffer[at + HEAD : at + total - 2])))
                self.framed += total
                self.frames += 1
                at += total
            else:
                self.garbage += 1
                at += 1
        del buffer[:at]
        return found

    def _sums(self, at: int, total: int) -> bool:
        payload = bytes(self._buffer[at + HEAD : at + total - 2])
        good = crc16.ibm_3740(payload) == int.from_bytes(self._buffer[at + total - 2 : at + total], "little")
        self.refused += not good
        return good
