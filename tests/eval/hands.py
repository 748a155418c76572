"""How often the dealer must press in hands that were really played, and what for.

The people are those of `hw_sim.people`, who follow a hand's record; the floor and the screen are told directly what
the core says, without a wire.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import msgspec

from hw_sim.ears import Ears
from hw_sim.hands import MAX_SEATS, Hand, chips_needed, load_hands
from hw_sim.noise import Disturbance
from hw_sim.people import HandRecord, Pace, People
from tabled.core import operator
from tabled.core.state import NotNow, view
from tabled.model.outcome import (
    AnyOperatorAct,
    AnyOutcome,
    HandEnded,
    HandStarted,
    QuestionAsked,
    QuestionClosed,
    RulingIssued,
    StreetClosed,
)
from tabled.shell.profiles import load
from tests.eval.clockwork import Clockwork

SHARED = Path(os.environ.get("TABLED_SHARED", Path(__file__).resolve().parents[3] / "shared"))
FILE = SHARED / "hands" / "hands.jsonl"
LAW = "tda-2024"
ANSWERS = ("key_a", "key_b")


class HandPresses(msgspec.Struct, frozen=True, kw_only=True):
    """One hand: its acts, the keys that were pressed, and what was ruled otherwise than it had to be."""

    hand: str
    variant: str
    acts: int
    presses: dict[str, int]
    questions: dict[str, int]
    wrong: tuple[str, ...]

    @property
    def beyond(self) -> int:
        """Presses that are neither a fold nor a check."""
        return sum(n for key, n in self.presses.items() if key not in ("fold", "check"))


class _Panel:
    def __init__(self, house: House) -> None:
        self._house = house
        self._seq = 0

    def press(self, now_ns: int, key: str, *, seat: int = 0, amount: int = 0, said_first: bool = False) -> int:
        self._house.clock.press(key, seat=seat, amount=amount, said_first=said_first)
        self._seq += 1
        return self._seq


class House:
    """A table, its people, and their ears at the core."""

    def __init__(self, hands: list[Hand], noise: Disturbance, seed: int) -> None:
        self.ears = Ears()
        self._orders: AnyOperatorAct | None = None
        self.clock = Clockwork(
            f"hands{seed}", seats=MAX_SEATS, profile=load(LAW), noise=noise, listen=self._hear,
            chips=chips_needed(hands),
        )  # fmt: skip
        self.world, self.seats, self.panel = self.clock.world, self.clock.seats, _Panel(self)
        # The people ask no more of a table than these three.
        table: Any = self
        self.people = People(table, self, self.ears, now=lambda: self.clock.now, pace=Pace(), seed=seed)
        self.people.watch_hands = self.clock.hand_moved
        self._shown: tuple[object, ...] = ()
        self.clock.on_fed = self._look

    def _hear(self, position: int, outcome: AnyOutcome) -> None:
        if isinstance(outcome, RulingIssued | StreetClosed | HandStarted | HandEnded):
            self._publish("evidence", position, outcome)
        elif isinstance(outcome, QuestionAsked):
            self._publish("question", position, outcome)
        elif isinstance(outcome, QuestionClosed):
            self._publish("question_closed", position, outcome)

    def _publish(self, kind: str, position: int, outcome: AnyOutcome) -> None:
        self.ears.hear(kind, msgspec.json.encode({"id": f"e/{position}", "data": outcome}))

    def _look(self) -> None:
        """Show the state when it is another."""
        state = self.clock.state
        now = (state.phase, state.hand_id, state.hand and (state.hand.to_act, state.hand.street), state.question)
        if now != self._shown:
            self._shown = now
            self._show()

    def _show(self) -> None:
        data = msgspec.to_builtins(view(self.clock.state))
        self.ears.hear("state", json.dumps({"data": data}).encode())
        self.clock.news += 1
        to_act = data.get("to_act")
        self.clock.reader.favoured = int(to_act) if to_act else 0

    def command(self, what: str, message: dict[str, Any]) -> None:
        """The floor gives an order."""
        act: AnyOperatorAct = msgspec.convert(message, AnyOperatorAct)
        try:
            operator.verify(self.clock.state, act)
            why = ""
        except NotNow as problem:
            why = str(problem)
        if not why:
            self.clock.order(act)
        ack = {"request": message["request"], "ok": not why, "reason": why or None}
        self.ears.hear("ack", json.dumps({"data": ack}).encode())
        self.clock.news += 1

    def play(self, hands: Iterable[Hand]) -> list[HandRecord]:
        """All hands, one after the other."""
        self.clock.follow(self.people.session(list(hands)))
        return self.people.records


def presses(noise: Disturbance, *, seed: int = 1, hands: list[Hand] | None = None) -> list[HandPresses]:
    """Play each hand at a table of its own.  Raises FileNotFoundError where the hands are not there."""
    if hands is None:
        if not FILE.is_file():
            raise FileNotFoundError(f"{FILE} is not there; set TABLED_SHARED to the folder that has hands/hands.jsonl")
        hands = list(load_hands(FILE))
    out = []
    for number, hand in enumerate(hands):
        record = House([hand], noise, seed * 1000 + number).play([hand])[0]
        wrong = tuple(_told(d) for d in record.discrepancies)
        out.append(
            HandPresses(
                hand=hand.hand, variant=hand.variant, acts=len(hand.expected),
                presses=dict(Counter(str(p["key"]) for p in record.presses)),
                questions=dict(Counter(_code(q) for q in record.questions)), wrong=wrong,
            )
        )  # fmt: skip
    return out


def _told(found: dict[str, Any]) -> str:
    return ", ".join(f"{k}={v}" for k, v in found.items() if k not in ("observed",) or not isinstance(v, dict))


def _code(asked: dict[str, Any]) -> str:
    reason = asked["question"].get("reason") or {}
    return str(reason.get("code", "?")) if isinstance(reason, dict) else str(reason)


def table(played: list[HandPresses]) -> str:
    """The presses of all hands, for the terminal."""
    keys: Counter[str] = Counter()
    questions: Counter[str] = Counter()
    for p in played:
        keys.update(p.presses)
        questions.update(p.questions)
    n = max(1, len(played))
    acts = sum(p.acts for p in played)
    within = sum(p.beyond <= 1 for p in played)
    rest = sum(p.beyond for p in played)
    lines = [
        f"{len(played)} hands that were played, {acts} acts: presses per hand",
        f"  fold {keys['fold'] / n:.2f}, check {keys['check'] / n:.2f}, all others {rest / n:.2f}"
        f"   (goal at most 1); {within} of {len(played)} hands have at most 1",
        "  the others: "
        + (", ".join(f"{k} {c}" for k, c in keys.most_common() if k not in ("fold", "check")) or "none"),
        "  questions: " + (", ".join(f"{k} {c}" for k, c in sorted(questions.items())) or "none"),
    ]
    wrong = [(p.hand, w) for p in played for w in p.wrong]
    lines.append(f"  ruled otherwise than it had to be: {len(wrong)} in {len({h for h, _ in wrong})} hands")
    lines += [f"    {hand}: {what}"[:200] for hand, what in wrong[:8]]
    return "\n".join(lines)
