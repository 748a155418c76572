"""Who looks on from outside: the file by a reader of its own, the panel's line, what the broker delivers."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import msgspec

from hw_sim.devices.codec import cobs_unstuff
from tabled.journal import JournalReader
from tabled.outlets.topics import ACK, RETAINED
from tabled.shell.engine import BUNDLE
from tests.dst import invariants as inv

_PANEL_ACK = 0x82


class Witness:
    """Keeps what it saw and checks the invariants of single effects at once.

    Bodies and messages are read as plain JSON: the witness shares no type with what it watches.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._reader: JournalReader | None = None
        self.position = 0
        self.presses: Counter[inv.Press] = Counter()
        self.messages: dict[tuple[int, str], bytes] = {}
        self.orders: dict[str, int] = {}
        self.counts: Counter[str] = Counter()
        self.hand = 0
        self.question: int | None = None
        self.finals: dict[tuple[int, int], list[int]] = {}
        self.final_positions: set[int] = set()
        self.heard: dict[tuple[str, str], bytes] = {}
        self.newest = 0
        self.repeats = 0
        self._line = b""

    def close(self) -> None:
        """Close the reader."""
        if self._reader is not None:
            self._reader.close()

    # -- the file --------------------------------------------------------------------------------

    def read_on(self) -> None:
        """Take in what became durable since the last look."""
        if self._reader is None:
            self._reader = JournalReader.open(self._path)
        for entry in self._reader.read(self.position):
            self.position = entry.pos
            self.counts[entry.kind] += 1
            data = msgspec.json.decode(entry.body)
            if entry.payload is not None and entry.leaf == BUNDLE:
                for leaf, text in msgspec.json.decode(entry.payload):
                    self.messages[entry.pos, leaf] = text.encode()
            self._entry(entry.pos, entry.kind, data)

    def _entry(self, position: int, kind: str, data: dict[str, Any]) -> None:
        if kind == "obs" and data["observation"]["o"] == "press":
            self.presses[data["observation"]["boot"], data["observation"]["seq"]] += 1
        elif kind == "cmd":
            self.orders[data["act"]["request"]] = position
        elif kind == "hand_started":
            self.hand += 1
        elif kind == "ruling":
            self._ruling(position, data)
        elif kind in ("question", "question_closed"):
            inv.one_question_at_a_time(kind, position, self.question, data)
            self.question = position if kind == "question" else None

    def _ruling(self, position: int, data: dict[str, Any]) -> None:
        inv.one_final_ruling_an_act(self.hand, data["act"], data, self.finals)
        inv.a_final_ruling_is_not_replaced(data, self.final_positions)
        if data["status"] == "final":
            self.counts["final rulings"] += 1
            if data["ruling"]["action"] not in inv.LEFT_OPEN:
                self.final_positions.add(position)
                self.finals.setdefault((self.hand, data["act"]), []).append(position)

    # -- the panel's line ------------------------------------------------------------------------

    def written(self, device: str, data: bytes) -> None:
        """Bytes on their way to a device: an acknowledgement among them must be of a durable press."""
        if device != "panel":
            return
        *frames, self._line = (self._line + data).split(b"\x00")
        for frame in frames:
            body = cobs_unstuff(frame)
            if body is None or len(body) != 20 or body[1] != _PANEL_ACK:
                continue
            self.read_on()
            press = int.from_bytes(body[12:16], "little"), int.from_bytes(body[16:18], "little")
            inv.no_acknowledgement_before_durable(press, self.presses)

    # -- the broker ------------------------------------------------------------------------------

    def published(self, leaf: str, payload: bytes, position: int | None) -> None:
        """A message is handed to the broker."""
        if position is not None:
            if (position, leaf) not in self.messages:
                self.read_on()
            inv.no_publication_before_durable(position, leaf, payload, self.messages)

    def delivered(self, leaf: str, payload: bytes) -> None:
        """The subscriber hears a message."""
        if leaf in RETAINED:
            return
        event = msgspec.json.decode(payload)
        if leaf == ACK:
            self.read_on()
            inv.no_order_acknowledged_before_durable(event["data"], self.orders)
            return
        ident = event["id"]
        inv.one_id_one_byte_string(ident, leaf, payload, self.heard)
        if (ident, leaf) in self.heard:
            self.repeats += 1
            return
        position = int(ident.rpartition("/")[2])
        inv.first_deliveries_in_order(position, leaf, self.newest)
        self.newest = position
        self.heard[ident, leaf] = payload
