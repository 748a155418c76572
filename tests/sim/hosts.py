"""Hosts for the simulator's tests: bytes built here by hand, sharing nothing with the simulator or the product."""

from __future__ import annotations

import binascii
import json
from typing import Any

from hw_sim.hands import Hand
from hw_sim.memory import MemoryTable

MS = 1_000_000


def table_crc(data: bytes) -> bytes:
    """CRC-16/MCRF4XX by way of the standard library's CCITT (same polynomial, other bit order)."""

    def mirror(value: int, bits: int) -> int:
        return int(f"{value:0{bits}b}"[::-1], 2)

    crc = binascii.crc_hqx(bytes(mirror(b, 8) for b in data), 0xFFFF)
    return mirror(crc, 16).to_bytes(2, "little")


def feig(body: str) -> bytes:
    """A standard FEIG request from its bytes after LEN, in hexadecimal."""
    raw = bytes.fromhex(body)
    frame = bytes((len(raw) + 3,)) + raw
    return frame + table_crc(frame)


def unstuff(frame: bytes) -> bytes:
    """COBS decoding of a short frame without its delimiter."""
    out, at = b"", 0
    while at < len(frame):
        code = frame[at]
        out += frame[at + 1 : at + code] + b"\0"
        at += code
    return out[:-1]


def stuff(body: bytes) -> bytes:
    """COBS encoding of a short frame, with delimiters on both sides."""
    return b"\0" + b"".join(bytes((len(p) + 1,)) + p for p in body.split(b"\0")) + b"\0"


def panel_frame(kind: int, payload: bytes, seq: int = 0) -> bytes:
    """A host frame of the panel protocol."""
    body = bytes((1, kind)) + seq.to_bytes(2, "little") + bytes(8) + payload
    return stuff(body + table_crc(body))


class Oracle:
    """A host that sees chips and presses through real bytes and knows the right rulings beforehand.

    It lets the simulator's people play a whole hand: a ruling is published only once the act's chips lie in
    the reader's answers or the act's press has come over the panel's line.  ``spoil`` may falsify one.
    """

    def __init__(self, sim: MemoryTable, spoil: Any = None) -> None:
        self.sim, self.spoil = sim, spoil
        self.position = 0
        self.hand: Hand | None = None
        self.done_events = -1
        self.presses: list[tuple[int, int, int]] = []
        self.answers: list[tuple[int, int, int]] = []
        self.used = 0
        self.buffer = b""
        self.seen: dict[int, set[str]] = {}
        self.counted: dict[int, set[str]] = {}
        self.worth = {c.uid: c.denomination for c in sim.table.world.chips}

    def publish(self, kind: str, data: dict[str, Any]) -> None:
        """Publish as the product does: ``state`` has its own ids, a ruling is whole on ``evidence`` only."""
        self.position += 1
        ident = f"epoch/state-{self.position}" if kind == "state" else f"epoch/{self.position}"
        if kind == "ruling":
            cut = {**data, "ruling": {**data["ruling"], "faced": None}}
            self.send(kind, ident, cut)
            self.send("evidence", ident, {"kind": "ruling", **data})
            data = cut
        self.send(kind, ident, data)  # a message may come twice

    def send(self, kind: str, ident: str, data: dict[str, Any]) -> None:
        envelope = {"specversion": "1.0", "id": ident, "type": f"tabled.{kind}", "data": data}
        self.sim.hear(kind, json.dumps(envelope).encode())

    # -- the wire ---------------------------------------------------------------------------------

    def ask(self, request: bytes) -> bytes:
        port = self.sim.ports["reader"]
        port.write(request, self.sim.now_ns)
        for _ in range(200):
            answer = port.read(self.sim.now_ns)
            if answer:
                assert table_crc(answer[:-2]) == answer[-2:]
                return answer
            due = port.next_due_ns()
            self.sim.advance(max(due or 0, self.sim.now_ns) if due else self.sim.now_ns + MS)
        raise AssertionError("the reader does not answer")

    def look(self, antenna: int) -> set[str]:
        mux, channel = divmod(antenna - 1, 8)
        for m in range(2):
            assert self.ask(feig(f"ff dd {m:02x} {channel + 1 if m == mux else 0:02x} 00"))[3] == 0
        uids: set[str] = set()
        answer = self.ask(feig("ff b0 01 00"))
        while True:
            status = answer[3]
            if status == 0x01:
                return uids
            assert status in (0x00, 0x94)
            for i in range(answer[4]):
                record = answer[5 + 10 * i : 15 + 10 * i]
                assert record[:2] == b"\x03\x00"
                uids.add(record[2:].hex().upper())
            if status == 0x00:
                return uids
            answer = self.ask(feig("ff b0 01 80"))

    def listen(self) -> None:
        port = self.sim.ports["panel"]
        self.buffer += port.read(self.sim.now_ns)
        while b"\0" in self.buffer:
            frame, _, self.buffer = self.buffer.partition(b"\0")
            body = unstuff(frame) if frame else b""
            if len(body) < 14:
                continue
            assert table_crc(body[:-2]) == body[-2:]
            if body[1] == 3:
                port.write(panel_frame(0x82, body[12:18]), self.sim.now_ns)
                name = (int.from_bytes(body[12:16], "little"), int.from_bytes(body[16:18], "little"), body[22])
                heard = self.answers if body[22] in (17, 18) else self.presses
                if name not in heard:
                    heard.append(name)

    # -- the product that it pretends to be -------------------------------------------------------

    def step(self) -> None:
        for what, order in self.sim.commands():
            if what == "start_hand":
                self.hand = next(h for h in self.hands if h.hand == order["setup"]["hand_id"])
                self.done_events = -1
                self.acts = 0
                self.counted = {}
                self.publish("evidence", {"kind": "hand_started", "hand_id": self.hand.hand})
            ack = {"request": order["request"], "ok": True, "reason": None, "position": self.position}
            self.send("ack", f"epoch/ack-{self.position}", ack)
        self.listen()
        if self.hand is not None:
            for antenna in range(1, self.hand.players + 1):
                self.seen[antenna] = self.look(antenna)
            self.follow(self.hand)

    hands: tuple[Hand, ...] = ()
    acts = 0
    waiting = False

    def follow(self, hand: Hand) -> None:
        """Advance over the events whose bytes have come."""
        while self.done_events + 1 < len(hand.events):
            e = hand.events[self.done_events + 1]
            if e.kind in ("push", "post"):
                new = self.seen[e.seat] - self.counted.get(e.seat, set())
                if sum(self.worth[u] for u in new) != sum(d * n for d, n in e.chips.items()):
                    return self.show_turn(hand)
                self.counted.setdefault(e.seat, set()).update(new)
            elif e.kind in ("gesture", "declare"):
                if len(self.presses) <= self.used:
                    return self.show_turn(hand)
                self.used += 1
            elif e.kind == "collect":
                if any(self.seen[a] for a in range(1, hand.players + 1)):
                    return None
                self.publish("evidence", {"kind": "street_closed", "hand_id": hand.hand, "pot_total": e.pot})
            self.done_events += 1
            self.rule(hand, e.i)
            if self.waiting:
                return None
        self.publish("evidence", {"kind": "hand_ended", "hand_id": hand.hand})
        self.hand = None
        return None

    def show_turn(self, hand: Hand) -> None:
        following = next((x for x in hand.expected if x.event > self.done_events), None)
        if following is not None:
            seat = str(following.seat)
            self.publish("state", {"hand_id": hand.hand, "phase": "betting", "to_act": seat})

    def rule(self, hand: Hand, event: int) -> None:
        for want in hand.expected:
            if want.event != event:
                continue
            self.acts += 1
            ruling = {
                "seat": str(want.seat),
                "action": "all_in" if want.all_in else want.verb,
                "verb": want.verb,
                "to": want.to,
                "all_in": want.all_in,
                "back": want.change,
                "faced": {
                    "to_call": want.to_call,
                    "min_to": want.min_to or 0,
                    "max_to": want.max_to or 0,
                    "raise_open": want.raise_open,
                },
            }
            data = {"hand_id": hand.hand, "act": self.acts, "status": "final", "street": want.street, "ruling": ruling}
            self.publish("ruling", self.spoil(data) if self.spoil else data)

    def run(self, hands: list[Hand], limit_s: float = 4000.0) -> None:
        self.hands = tuple(hands)
        end = self.sim.now_ns + round(limit_s * 1e9)
        while not self.sim.done:
            assert self.sim.now_ns < end, "the simulated session does not end"
            self.step()
            self.sim.advance(self.sim.now_ns + 25 * MS)
