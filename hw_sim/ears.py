"""What the people at the table see and hear of the product: its rulings, its screen, its questions.

Pure: whoever has the wire (MQTT or a test) calls `Ears.hear`; scripts look.  Everything is read as plain
JSON, since the simulator shares no types with the product; what does not parse is kept as a complaint.
"""

from __future__ import annotations

import json
from typing import Any

KINDS = ("ruling", "question", "question_closed", "alert", "evidence", "state", "ack")
MAX_PAYLOAD = 1 << 20
MAX_KEPT = 100_000

Json = dict[str, Any]


class Ears:
    """Everything published so far.  Messages may arrive twice; the envelope's id tells."""

    def __init__(self) -> None:
        self.rulings: dict[int, Json] = {}
        self.questions: dict[int, Json] = {}
        self.closed: set[int] = set()
        self.alerts: list[Json] = []
        self.streets: list[Json] = []
        self.started: set[str] = set()
        self.ended: dict[str, Json] = {}
        self.state: Json | None = None
        self.acks: dict[str, Json] = {}
        self.complaints: list[str] = []
        self._seen: set[tuple[str, str]] = set()

    def hear(self, kind: str, payload: bytes) -> None:
        """Take one message; ``kind`` is the last part of its topic."""
        if len(payload) > MAX_PAYLOAD or len(self._seen) > MAX_KEPT:
            self._complain(f"{kind}: too much was published")
            return
        try:
            self._parse(kind, json.loads(payload))
        except (ValueError, KeyError, TypeError, AttributeError) as e:
            self._complain(f"{kind}: {type(e).__name__}: {e}")

    def _parse(self, kind: str, envelope: Json) -> None:
        data = envelope.get("data", envelope)
        if kind == "ack":
            self.acks[str(data["request"])] = data
        elif kind == "state":
            self.state = data
        else:
            ident = str(envelope["id"])
            self._take(kind, ident, int(ident.rpartition("/")[2]), data)

    def _complain(self, text: str) -> None:
        if len(self.complaints) < 1000:
            self.complaints.append(text)

    def _take(self, kind: str, ident: str, position: int, data: Json) -> None:
        if (kind, ident) in self._seen:
            return
        self._seen.add((kind, ident))
        data = {**data, "_position": position}
        if kind == "ruling":
            self.rulings.setdefault(position, data)
        elif kind == "question":
            self.questions[position] = data
        elif kind == "question_closed":
            self.closed.add(int(data["question"]))
        elif kind == "alert":
            self.alerts.append(data)
        elif kind == "evidence":
            self._evidence(data)

    def _evidence(self, data: Json) -> None:
        hand = str(data.get("hand_id", ""))
        match data.get("kind"):
            case "ruling":
                # Whole here; on the display's own topic without what a display may not show.
                self.rulings[int(data["_position"])] = data
            case "street_closed":
                self.streets.append(data)
            case "hand_started":
                self.started.add(hand)
            case "hand_ended":
                self.ended[hand] = data

    # -- looking ----------------------------------------------------------------------------------

    def finals(self, hand: str) -> list[Json]:
        """Final rulings of a hand in order of their acts; a later one for the same act replaces the earlier."""
        newest: dict[int, Json] = {}
        for position in sorted(self.rulings):
            r = self.rulings[position]
            if r.get("hand_id") == hand and r.get("status") == "final":
                newest[int(r.get("act", 0))] = r
        return [newest[act] for act in sorted(newest)]

    def final_after(self, hand: str, seat: str, act: int) -> Json | None:
        """The first final ruling on ``seat`` with an act number above ``act``."""
        for r in self.finals(hand):
            if int(r.get("act", 0)) > act and (r.get("ruling") or {}).get("seat") == seat:
                return r
        return None

    def open_question(self, hand: str, answered: set[int]) -> tuple[int, Json] | None:
        """The oldest question of a hand that is neither closed nor in ``answered``."""
        for position in sorted(self.questions):
            q = self.questions[position]
            if q.get("hand_id") == hand and position not in self.closed and position not in answered:
                return position, q
        return None

    def screen_says(self, hand: str, seat: str) -> bool:
        """True when the dealer's screen shows that it is this seat's turn."""
        s = self.state
        return s is not None and s.get("hand_id") == hand and s.get("to_act") == seat and s.get("phase") == "betting"

    def pots(self, hand: str) -> list[int]:
        """Pot totals as streets were closed, in order."""
        return [int(s.get("pot_total", -1)) for s in self.streets if s.get("hand_id") == hand]
