"""The dealer's panel, built from firmware_bridge/PROTOCOL.md (the text) as a stranger would build it."""

from __future__ import annotations

from collections import deque
from random import Random

import msgspec

from hw_sim.devices.codec import cobs_stuff, cobs_unstuff, crc16_mcrf4xx, crc_bytes

MS = 1_000_000
SCHEMA_HASH = 0x7AB1ED01
VERSION = 1
HEARTBEAT_NS = 1000 * MS
RESEND_NS = 200 * MS
QUEUE = 16
MAX_ENCODED = 254

HELLO, HEARTBEAT, PRESS, PONG = 0x01, 0x02, 0x03, 0x04
HELLO_REQUEST, ACK, PING = 0x81, 0x82, 0x83

_KEYS = (
    *("fold", "check", "call", "bet", "raise", "raise_to", "raise_by", "all_in", "number", "pot", "complete"),
    *("hand_withdraws", "next_street", "new_hand", "undo", "floor", "key_a", "key_b"),
)
KEY_CODES = {name: code for code, name in enumerate(_KEYS, start=1)}


class HeldPress(msgspec.Struct, frozen=True):
    """A press in the panel's queue, with the name that it keeps for ever."""

    act_boot: int
    act_seq: int
    pressed_us: int
    key: int
    seat: int
    flags: int
    amount: int


class Panel:
    """The panel's core (`hw_sim.devices.Device`).

    Its tick starts at a random point of its 32 bits, with ``wraps_soon`` at most 8 s before their end, and runs
    ``drift_ppm`` too fast.  Presses wait in a queue of 16 and are sent again every 200 ms until they are
    acknowledged; `reset` keeps them.
    """

    def __init__(
        self,
        *,
        seed: int = 0,
        drift_ppm: float = 0.0,
        model: str = "sim-panel",
        start_ns: int = 0,
        wraps_soon: bool = False,
    ) -> None:
        self._rng = Random(seed)
        self._wraps_soon = wraps_soon
        self._drift = drift_ppm
        self._model = model
        self._queue: deque[HeldPress] = deque()
        self.lost = 0
        self.acknowledged = 0
        self.counts: dict[str, int] = {}
        self.boot_id = 0
        self._start(start_ns)

    def _start(self, now_ns: int) -> None:
        self._boot_ns = now_ns
        self._tick0 = (1 << 32) - 1 - self._rng.randrange(8_000_000 if self._wraps_soon else 1 << 32)
        self.boot_id = self._rng.randrange(1, 1 << 32)
        self._seq = 0
        self._act_seq = 0
        self._inbox = bytearray()
        self._out = bytearray()
        self._beat_ns = now_ns + HEARTBEAT_NS
        self._resend_ns = now_ns + RESEND_NS
        self._say_hello(now_ns)

    def reset(self, now_ns: int) -> None:
        """The panel restarts: new boot id and tick; unacknowledged presses survive under their old names."""
        self._start(now_ns)

    def tick_us(self, now_ns: int) -> int:
        """The device's own microsecond counter, 32 bits, with its drift."""
        ran = (now_ns - self._boot_ns) * (1_000_000 + self._drift) / 1_000_000
        return (self._tick0 + int(ran) // 1000) & 0xFFFFFFFF

    def press(self, now_ns: int, key: str, *, seat: int = 0, amount: int = 0, said_first: bool = False) -> int:
        """The dealer presses a key; returns the act's sequence number, 0 if the queue is full and it was lost."""
        if len(self._queue) >= QUEUE:
            self.lost += 1
            return 0
        if not self._queue:
            self._resend_ns = now_ns + RESEND_NS
        self._act_seq += 1
        held = HeldPress(
            self.boot_id, self._act_seq, self.tick_us(now_ns), KEY_CODES[key], seat, int(said_first), amount
        )
        self._queue.append(held)
        self._send_press(held, now_ns)
        return self._act_seq

    @property
    def pending(self) -> int:
        """Presses that nobody has acknowledged yet."""
        return len(self._queue)

    def feed(self, data: bytes, now_ns: int) -> None:
        """Take the host's bytes."""
        self._inbox += data
        while (end := self._inbox.find(0)) >= 0:
            frame = bytes(self._inbox[:end])
            del self._inbox[: end + 1]
            if frame:
                self._frame(frame, now_ns)
        if len(self._inbox) > MAX_ENCODED:
            self._count("oversize")
            self._inbox.clear()

    def _frame(self, frame: bytes, now_ns: int) -> None:
        body = cobs_unstuff(frame) if len(frame) <= MAX_ENCODED else None
        if body is None or len(body) < 14:
            self._count("garbage")
        elif crc16_mcrf4xx(body[:-2]) != int.from_bytes(body[-2:], "little"):
            self._count("crc")
        elif body[0] != VERSION:
            self._count("version")
        else:
            # A frame that answers an earlier boot may still acknowledge a press that outlived it.
            if int.from_bytes(body[8:12], "little") not in (0, self.boot_id):
                self._count("other boot")
            self._handle(body[1], body[12:-2], now_ns)

    def _handle(self, kind: int, payload: bytes, now_ns: int) -> None:
        if kind == HELLO_REQUEST and not payload:
            self._say_hello(now_ns)
        elif kind == ACK and len(payload) == 6:
            name = int.from_bytes(payload[:4], "little"), int.from_bytes(payload[4:], "little")
            kept = [p for p in self._queue if (p.act_boot, p.act_seq) != name]
            self.acknowledged += len(self._queue) - len(kept)
            self._queue = deque(kept)
        elif kind == PING and len(payload) == 4:
            self._send(PONG, payload, now_ns)
        else:
            self._count("unknown frame")

    def poll(self, now_ns: int) -> bytes:
        """Heartbeats and resends that are due, and whatever waits to be sent."""
        if now_ns >= self._beat_ns:
            self._send(HEARTBEAT, bytes((min(len(self._queue), 255), min(self.lost, 255))), now_ns)
            self._beat_ns += HEARTBEAT_NS * (1 + (now_ns - self._beat_ns) // HEARTBEAT_NS)
        if now_ns >= self._resend_ns:
            for held in self._queue:
                self._count("resend")
                self._send_press(held, now_ns)
            self._resend_ns = now_ns + RESEND_NS
        out = bytes(self._out)
        self._out.clear()
        return out

    def next_due_ns(self) -> int | None:
        """Now if bytes wait, else the next heartbeat or resend."""
        if self._out:
            return 0
        return min(self._beat_ns, self._resend_ns) if self._queue else self._beat_ns

    def _say_hello(self, now_ns: int) -> None:
        payload = SCHEMA_HASH.to_bytes(4, "little") + bytes((1, 0)) + self._model.encode("ascii")[:24]
        self._send(HELLO, payload, now_ns)

    def _send_press(self, held: HeldPress, now_ns: int) -> None:
        payload = b"".join(
            (
                held.act_boot.to_bytes(4, "little"),
                held.act_seq.to_bytes(2, "little"),
                held.pressed_us.to_bytes(4, "little"),
                bytes((held.key, held.seat, held.flags)),
                held.amount.to_bytes(8, "little"),
            )
        )
        self._send(PRESS, payload, now_ns)

    def _send(self, kind: int, payload: bytes, now_ns: int) -> None:
        self._out += encode_panel_frame(kind, self._seq, self.tick_us(now_ns), self.boot_id, payload)
        self._seq = (self._seq + 1) & 0xFFFF

    def _count(self, what: str) -> None:
        self.counts[what] = self.counts.get(what, 0) + 1


def encode_panel_frame(kind: int, seq: int, device_us: int, boot_id: int, payload: bytes) -> bytes:
    """One frame of PROTOCOL.md, stuffed and with its delimiter."""
    head = bytes((VERSION, kind)) + seq.to_bytes(2, "little") + device_us.to_bytes(4, "little")
    body = head + boot_id.to_bytes(4, "little") + payload
    return cobs_stuff(body + crc_bytes(body)) + b"\x00"
