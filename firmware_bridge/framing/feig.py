"""FEIG OBID frames: standard and advanced, both directions, decoded side by side.

Standard: ``LEN ADR CMD [STATUS] DATA CRClo CRChi``, LEN = the whole frame, 1 byte.
Advanced: ``02 LENhi LENlo ADR CMD [STATUS] DATA CRClo CRChi``, LEN = the whole frame, 2 bytes.
CRC-16/MCRF4XX (reflected 0x8408, preset 0xFFFF) over all that precedes it, low byte first.
A reader answers a standard request with an advanced frame when the answer is longer than 255
bytes, so a decoder must expect both at any time.  No standard frame is shorter than 5 bytes, so a
leading 02 always means advanced.  Source: FEIG system manuals, chapter "Data format and protocol
frames" (e.g. H60301-3e-ID-B p. 16-18).
"""

from __future__ import annotations

import msgspec
from fastcrc import crc16

from firmware_bridge.framing.searching import SearchingDecoder

ANY_ADDRESS = 0xFF
STX = 0x02
MAX_FRAME = 4096
"""Longest frame accepted.  256 tags take 2569 bytes; a longer length field is noise."""

_SHORTEST_STANDARD = 5
_SHORTEST_ADVANCED = 7


class FeigFrame(msgspec.Struct, frozen=True):
    """One frame with a good checksum.  ``payload`` is DATA of a request, STATUS and DATA of a reply."""

    address: int
    command: int
    payload: bytes
    advanced: bool = False

    @property
    def status(self) -> int:
        """First payload byte of a reply.  A decoder of replies delivers no frame without it."""
        return self.payload[0]

    @property
    def data(self) -> bytes:
        """What follows the status of a reply."""
        return self.payload[1:]


def encode(command: int, data: bytes = b"", *, address: int = ANY_ADDRESS, advanced: bool = False) -> bytes:
    """One request as bytes.  Falls to the advanced form by itself when the standard one cannot hold it.

    Raises ValueError if a field is out of range or the frame would be longer than `MAX_FRAME`.
    """
    if not (0 <= command <= 0xFF and 0 <= address <= 0xFF):
        raise ValueError(f"FEIG command {command} and address {address} are one byte each")
    body = bytes((address, command)) + data
    if not advanced and len(body) + 3 <= 0xFF:
        frame = bytes((len(body) + 3,)) + body
    else:
        length = len(body) + 5
        if length > MAX_FRAME:
            raise ValueError(f"a FEIG frame of {length} bytes is longer than {MAX_FRAME}")
        frame = bytes((STX, length >> 8, length & 0xFF)) + body
    return frame + crc16.mcrf4xx(frame).to_bytes(2, "little")


class FeigDecoder(SearchingDecoder[FeigFrame]):
    """Bytes to frames.  ``replies`` says which direction is read: a reply has a status byte."""

    def __init__(self, *, replies: bool = True) -> None:
        super().__init__()
        status = 1 if replies else 0
        self._shortest_standard = _SHORTEST_STANDARD + status
        self._shortest_advanced = _SHORTEST_ADVANCED + status

    def _length_at(self, at: int) -> int | None:
        buffer = self._buffer
        head = buffer[at]
        if head != STX:
            return head if head >= self._shortest_standard else 0
        if len(buffer) - at < 3:
            # The high byte alone already rules out most lengths.
            return 0 if len(buffer) - at == 2 and buffer[at + 1] > MAX_FRAME >> 8 else None
        length = buffer[at + 1] << 8 | buffer[at + 2]
        return length if self._shortest_advanced <= length <= MAX_FRAME else 0

    def _frame(self, raw: bytes) -> FeigFrame | None:
        if crc16.mcrf4xx(raw[:-2]) != raw[-2] | raw[-1] << 8:
            return None
        if raw[0] == STX:
            return FeigFrame(raw[3], raw[4], raw[5:-2], advanced=True)
        return FeigFrame(raw[1], raw[2], raw[3:-2])
