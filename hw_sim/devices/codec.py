"""The simulator's own checksum and byte stuffing, written from the standards and shared with nobody.

Production uses packages for both; were these the same code, a mistake in it would cancel out.
"""

from __future__ import annotations


def crc16_mcrf4xx(data: bytes) -> int:
    """CRC-16/MCRF4XX bit by bit: reflected polynomial 0x8408, preset 0xFFFF, no final XOR.

    FEIG OBID manuals give this routine under "CRC16"; the panel protocol uses the same sum.
    """
    crc = 0xFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = (crc >> 1) ^ 0x8408 if crc & 1 else crc >> 1
    return crc


def crc_bytes(data: bytes) -> bytes:
    """The checksum of ``data`` as two bytes, low byte first, ready to append."""
    return crc16_mcrf4xx(data).to_bytes(2, "little")


def crc16_ccitt_false(data: bytes) -> int:
    """CRC-16/CCITT-FALSE bit by bit: polynomial 0x1021, preset 0xFFFF, not reflected (Eccel Pepper C1)."""
    crc = 0xFFFF
    for byte in data:
        crc ^= byte << 8
        for _ in range(8):
            crc = ((crc << 1) ^ 0x1021 if crc & 0x8000 else crc << 1) & 0xFFFF
    return crc


def air_crc(data: bytes) -> bytes:
    """The checksum that ISO 15693 sends over the air (CRC-16/X-25), low byte first."""
    return (crc16_mcrf4xx(data) ^ 0xFFFF).to_bytes(2, "little")


def cobs_stuff(data: bytes) -> bytes:
    """Consistent Overhead Byte Stuffing (Cheshire and Baker 1999), without the delimiter."""
    out = bytearray()
    block = bytearray()
    for byte in data:
        if byte == 0:
            out.append(len(block) + 1)
            out += block
            block.clear()
            continue
        block.append(byte)
        if len(block) == 254:
            out.append(255)
            out += block
            block.clear()
    if block or not out or out[-1] == 0 or data[-1] == 0:
        out.append(len(block) + 1)
        out += block
    return bytes(out)


def cobs_unstuff(data: bytes) -> bytes | None:
    """Inverse of `cobs_stuff` on one frame without its delimiter; None if the frame is not valid COBS."""
    out = bytearray()
    at = 0
    while at < len(data):
        code = data[at]
        end = at + code
        if code == 0 or end > len(data) or 0 in data[at + 1 : end]:
            return None
        out += data[at + 1 : end]
        at = end
        if code < 255 and at < len(data):
            out.append(0)
    return bytes(out)
