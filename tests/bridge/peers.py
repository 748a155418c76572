"""The other end of the wire, written from the documents alone: shares no encoder with production."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

SHARED = Path(os.environ.get("TABLED_SHARED", Path(__file__).parents[2] / ".." / "shared"))


def crc16(data: bytes) -> bytes:
    """CRC-16 bit by bit: reflected 0x8408, preset 0xFFFF, low byte first."""
    crc = 0xFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x8408 if crc & 1 else 0)
    return bytes((crc & 0xFF, crc >> 8))


def feig_reply(command: int, status: int, data: bytes = b"", *, address: int = 0, advanced: bool = False) -> bytes:
    """A FEIG reply frame."""
    body = bytes((address, command, status)) + data
    if advanced or len(body) + 3 > 255:
        frame = b"\x02" + (len(body) + 5).to_bytes(2, "big") + body
    else:
        frame = bytes((len(body) + 3,)) + body
    return frame + crc16(frame)


def records(*uids: str) -> bytes:
    """Count and ISO 15693 records of an inventory reply."""
    return bytes((len(uids),)) + b"".join(b"\x03\x00" + bytes.fromhex(uid) for uid in uids)


HELLO_DATA = bytes.fromhex("03030044530d30")


def cobs_encode(data: bytes) -> bytes:
    """COBS as its paper states it."""
    out, block = bytearray(), bytearray()
    for byte in data + b"\x00":
        if byte:
            block.append(byte)
            if len(block) == 254:
                out += b"\xff" + block
                block.clear()
        else:
            out += bytes((len(block) + 1,)) + block
            block.clear()
    return bytes(out)


def cobs_decode(data: bytes) -> bytes:
    out, at = bytearray(), 0
    while at < len(data):
        code = data[at]
        out += data[at + 1 : at + code]
        at += code
        if code < 255 and at < len(data):
            out.append(0)
    return bytes(out)


def panel_frame(
    kind: int, payload: bytes = b"", *, seq: int = 1, us: int = 0, boot: int = 0xB007, ver: int = 1
) -> bytes:
    """A panel frame with its delimiter."""
    header = bytes((ver, kind)) + seq.to_bytes(2, "little") + us.to_bytes(4, "little") + boot.to_bytes(4, "little")
    body = header + payload
    return cobs_encode(body + crc16(body)) + b"\x00"


def hello_payload(schema: int = 0x7AB1ED01, model: bytes = b"test panel") -> bytes:
    return schema.to_bytes(4, "little") + b"\x01\x02" + model


def press_payload(
    seq: int, us: int, key: int = 3, *, boot: int = 0xB007, seat: int = 0, flags: int = 0, amount: int = 0
) -> bytes:
    return (
        boot.to_bytes(4, "little")
        + seq.to_bytes(2, "little")
        + us.to_bytes(4, "little")
        + bytes((key, seat, flags))
        + amount.to_bytes(8, "little")
    )


def shared_frames(prefix: str) -> list[dict[str, Any]]:
    """Frames of the shared collection whose protocol starts with ``prefix``; skips the test where it is absent."""
    path = SHARED / "rfid" / "frames.jsonl"
    if not path.is_file():
        pytest.skip(f"no frame collection at {path}; set TABLED_SHARED to where it is")
    frames = [json.loads(line) for line in path.read_text().splitlines() if line.strip()]
    return [frame for frame in frames if frame["protocol"].startswith(prefix)]


class FeigReader:
    """A FEIG reader with multiplexers, from the manuals: takes request bytes, gives reply bytes.

    ``field`` holds the UIDs on each antenna.  ``script`` may change or drop the next replies: a function from
    (command, data, reply) to the bytes that are sent instead.
    """

    def __init__(self, field: dict[int, list[str]] | None = None, *, per_reply: int = 20) -> None:
        self.field = field or {}
        self.per_reply = per_reply
        self.channels: dict[int, int] = {}
        self.log: list[tuple[int, bytes]] = []
        self.both_on = 0
        self.ont: int | None = 0x04
        """Byte 11 of configuration block 5; None: this reader knows no configuration."""
        self.rf = True
        self.quiet: set[str] = set()
        self.script: Callable[[int, bytes, bytes], bytes] = lambda command, data, reply: reply
        self._left: list[str] = []
        self._buffer = b""

    def feed(self, data: bytes) -> bytes:
        self._buffer += data
        out = b""
        while self._buffer:
            advanced = self._buffer[0] == 2
            if advanced and len(self._buffer) < 3:
                break
            length = int.from_bytes(self._buffer[1:3], "big") if advanced else self._buffer[0]
            if length < 5:
                self._buffer = self._buffer[1:]  # no frame begins so; a length of 0 would stop here for ever
                continue
            if len(self._buffer) < length:
                break
            raw, self._buffer = self._buffer[:length], self._buffer[length:]
            if crc16(raw[:-2]) != raw[-2:]:
                continue  # no reply at all to a bad frame
            command, payload = (raw[4], raw[5:-2]) if advanced else (raw[2], raw[3:-2])
            self.log.append((command, payload))
            status, reply = self._answer(command, payload)
            out += self.script(command, payload, feig_reply(command, status, reply, advanced=advanced))
        return out

    def _answer(self, command: int, data: bytes) -> tuple[int, bytes]:
        if command == 0x65:
            return 0, HELLO_DATA
        if command == 0x69:
            self.quiet.clear()
            return 0, b""
        if command == 0x6A:
            self.rf = data == b"\x01"
            self.quiet.clear()
            return 0, b""
        if command in (0x80, 0x81) and data[0] == 5 and self.ont is not None:
            if command == 0x81:
                self.ont = data[1 + 11]
                return 0, b""
            return 0, bytes(11) + bytes((self.ont, 0, 0))
        if command == 0xDD:
            mux, first, second = data
            if first > 8 or second > 8:
                return 0x11, b""
            if self.channels.get(mux) != first:
                self.quiet.clear()
            self.channels[mux] = first
            return 0, b""
        if command == 0xB0 and data[0] == 1:
            return self._inventory(more=bool(data[1] & 0x80))
        return 0x80, b""

    def _inventory(self, *, more: bool) -> tuple[int, bytes]:
        on = [8 * mux + channel for mux, channel in self.channels.items() if channel] or [0]
        self.both_on += len(on) > 1
        if not more:
            only_new = bool((self.ont or 0) & 1)
            found = [uid for antenna in on for uid in self.field.get(antenna, [])] if self.rf else []
            self._left = [uid for uid in found if not (only_new and uid in self.quiet)]
            self.quiet.update(found)
        if not self._left:
            return 1, b""
        now, self._left = self._left[: self.per_reply], self._left[self.per_reply :]
        return (0x94 if self._left else 0), records(*now)


class Panel:
    """A panel that follows PROTOCOL.md: takes host bytes, gives device bytes; its clock is ``now_us``.

    Presses stay queued until acknowledged.  ``mute`` names frame types that it does not send.
    """

    def __init__(self, *, boot: int = 0xB007, schema: int = 0x7AB1ED01, now_us: Callable[[], int]) -> None:
        self.boot = boot
        self.schema = schema
        self.now_us = now_us
        self.queue: dict[tuple[int, int], bytes] = {}
        self.acks: list[tuple[int, int]] = []
        self.presses = 0
        self.lost = 0
        self.mute: set[int] = set()
        self._seq = 0
        self._buffer = b""

    def frame(self, kind: int, payload: bytes = b"") -> bytes:
        if kind in self.mute:
            return b""
        self._seq = (self._seq + 1) & 0xFFFF
        return panel_frame(kind, payload, seq=self._seq, us=self.now_us() % (1 << 32), boot=self.boot)

    def press(self, key: int = 3, **fields: int) -> bytes:
        self.presses += 1
        payload = press_payload(self.presses, self.now_us() % (1 << 32), key, boot=self.boot, **fields)
        self.queue[(self.boot, self.presses)] = payload
        return self.frame(3, payload)

    def resend(self) -> bytes:
        return b"".join(self.frame(3, payload) for payload in self.queue.values())

    def heartbeat(self) -> bytes:
        return self.frame(2, bytes((min(len(self.queue), 255), min(self.lost, 255))))

    def reboot(self, boot: int, *, keep: bool) -> bytes:
        self.boot = boot
        self.presses = 0
        if not keep:
            self.queue.clear()
        return self.frame(1, hello_payload(self.schema))

    def feed(self, data: bytes) -> bytes:
        out = b""
        *whole, self._buffer = (self._buffer + data).split(b"\x00")
        for encoded in whole:
            body = cobs_decode(encoded)
            if len(body) < 14 or crc16(body[:-2]) != body[-2:]:
                continue
            kind, payload = body[1], body[12:-2]
            if kind == 0x81:
                out += self.frame(1, hello_payload(self.schema))
            elif kind == 0x82:
                act = (int.from_bytes(payload[:4], "little"), int.from_bytes(payload[4:], "little"))
                self.acks.append(act)
                self.queue.pop(act, None)
            elif kind == 0x83:
                out += self.frame(4, payload)
        return out
