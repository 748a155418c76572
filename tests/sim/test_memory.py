"""A whole hand in memory: people, devices and bytes, with a host that the test wrote by hand."""

from __future__ import annotations

import json
from typing import Any

import msgspec

from hw_sim.devices.faults import FaultPlan
from hw_sim.generate import generate_hands
from hw_sim.hands import Hand
from hw_sim.memory import MemoryTable
from hw_sim.people import Pace
from hw_sim.table import TableOptions
from tests.sim.hosts import Oracle, feig

PACE = Pace(speed=10.0)


def play(
    hands: list[Hand], seed: int = 1, spoil: Any = None, faults: FaultPlan | None = None, real_rf: bool = False
) -> tuple[MemoryTable, Oracle, list[str]]:
    lines: list[str] = []
    sim = MemoryTable(
        hands,
        options=TableOptions(seed=seed, real_rf=real_rf),
        pace=PACE,
        sink=lines.append,
        **({"faults": faults} if faults else {}),
    )
    oracle = Oracle(sim, spoil)
    oracle.run(hands)
    sim.table.world.check()
    return sim, oracle, lines


def test_honest_hands_end_without_a_discrepancy_and_the_pots_agree():
    hands = generate_hands(3, 4)
    sim, oracle, _ = play(hands)
    assert [r.hand for r in sim.people.records] == [h.hand for h in hands]
    for record, hand in zip(sim.people.records, hands, strict=True):
        assert record.discrepancies == []
        assert sim.ears.complaints == []
        assert len(record.observed) == len(hand.expected)
        assert record.pots == [e.pot for e in hand.events if e.kind == "collect"]
        presses = sum(e.kind in ("gesture", "declare") for e in hand.events)
        assert len(record.presses) == presses
    assert sim.table.panel.pending == 0
    assert oracle.used == sum(len(r.presses) for r in sim.people.records)


def test_the_same_seed_tells_the_same_truth_byte_for_byte():
    hands = generate_hands(5, 2)
    assert play(hands, real_rf=True)[2] == play(hands, real_rf=True)[2]
    assert play(hands)[2] != play(hands, seed=2)[2]


def test_a_wrong_ruling_is_reported_with_its_field():
    hands = generate_hands(3, 1)

    def spoil(data: dict[str, Any]) -> dict[str, Any]:
        if data["act"] != 2:
            return data
        return {**data, "ruling": {**data["ruling"], "to": data["ruling"]["to"] + 1}}

    sim, _, _ = play(hands, spoil=spoil)
    (wrong,) = sim.people.records[0].discrepancies
    assert (wrong["what"], wrong["field"], wrong["observed"]) == ("ruling", "to", wrong["expected"] + 1)


def test_a_ruling_that_never_becomes_final_is_reported_and_the_hand_goes_on():
    hands = generate_hands(3, 1)

    def spoil(data: dict[str, Any]) -> dict[str, Any]:
        return {**data, "status": "provisional"} if data["act"] == 2 else data

    sim, _, _ = play(hands, spoil=spoil)
    record = sim.people.records[0]
    assert not record.abandoned
    assert {d["what"] for d in record.discrepancies} == {"no_final", "no_ruling"}
    assert len(record.observed) == len(record.expected) - 1


def test_a_host_that_says_nothing_is_given_up_and_the_table_is_cleared():
    sim = MemoryTable(generate_hands(3, 1), pace=PACE)
    for _ in range(60):
        sim.advance(sim.now_ns + 1_000_000_000)
    assert sim.done
    assert {d["what"] for d in sim.people.records[0].discrepancies} >= {"start_refused", "no_ruling", "street_pots"}
    assert {s.kind for s in sim.table.world.spots()} == {"tray"}


def test_a_panel_line_that_drops_and_doubles_still_delivers_each_press_once():
    hands = generate_hands(3, 1)
    lines: list[str] = []
    sim = MemoryTable(hands, pace=PACE, sink=lines.append)
    port = sim.ports["panel"]
    for line in port._lines:
        line.plan = FaultPlan(drop=0.2, duplicate=0.2)
    Oracle(sim).run(hands)
    record = sim.people.records[0]
    assert record.discrepancies == []
    assert sum(f.counts.get("drop", 0) for f in port._lines) > 0
    pressed = [json.loads(x) for x in lines if '"what":"press"' in x]
    assert len(pressed) == len(record.presses)


def test_a_question_is_answered_by_the_truth_on_the_panel():
    hands = generate_hands(3, 1)
    want = hands[0].expected[0]
    sim = MemoryTable(hands, pace=PACE)

    class Asking(Oracle):
        asked = 0

        def rule(self, hand: Hand, event: int) -> None:
            if event != want.event:
                super().rule(hand, event)
                return
            choices = [
                {"key": "key_a", "action": "raise", "to": want.to + 12345},
                {"key": "key_b", "action": want.verb, "to": want.to},
            ]
            self.publish("question", {"kind": "question", "hand_id": hand.hand, "choices": choices})
            self.asked = self.position
            self.waiting = True

        def follow(self, hand: Hand) -> None:
            if self.asked and not self.answers:
                return
            if self.asked:
                assert self.answers[0][2] == 18
                self.publish("question_closed", {"question": self.asked, "answer": "key_b"})
                self.asked = 0
                self.waiting = False
                super().rule(hand, want.event)
            super().follow(hand)

    Asking(sim).run(hands)
    record = sim.people.records[0]
    assert [q["answer"] for q in record.questions] == ["key_b"]
    assert record.discrepancies == []


def test_antes_lie_until_the_reader_has_looked_at_them_however_slow_the_host_is():
    hand = next(h for h in generate_hands(11, 2) if any(h.antes))
    lines: list[str] = []
    pace = msgspec.structs.replace(PACE, looks=2, ruling_timeout_s=60.0)
    sim = MemoryTable([hand], pace=pace, sink=lines.append)
    ((what, order),) = sim.commands()
    assert what == "start_hand"
    sim.hear("ack", json.dumps({"request": order["request"], "ok": True}).encode())
    places = [n for n, ante in enumerate(hand.antes, start=1) if ante]

    def lying() -> list[int]:
        return [p for p in places if sim.table.field(p)]

    for looks in range(3):
        sim.advance(sim.now_ns + 10_000_000_000)
        assert lying() == (places if looks < 2 else [1, 2]), "the antes are in the pot, the blinds are posted"
        for place in places:
            for request in (f"ff dd 00 {place:02x} 00", "ff b0 01 00"):
                sim.ports["reader"].write(feig(request), sim.now_ns)
                sim.advance(sim.now_ns + 20_000_000)
    assert "antes to the pot" in "".join(lines)
