"""People without a script: whatever they do, chips are conserved, the truth is whole and the ledger goes on."""

from __future__ import annotations

import json
from collections import Counter
from random import Random
from typing import Any

import pytest

from hw_sim.acts import Act, Hands, Timeline, run
from hw_sim.generate import generate_hands
from hw_sim.memory import MemoryTable
from hw_sim.people import Pace
from hw_sim.script import Sleep
from hw_sim.sloppy import Manners, SloppyPeople, key_by_truth
from hw_sim.styles import STYLES, Decision, Scene, take
from hw_sim.table import TableOptions
from hw_sim.world import TRAY, Spot, World, make_chips

MS = 1_000_000
PACE = Pace(ruling_timeout_s=3.0)


class Referee:
    """A product that rules whatever ``law`` says on sloppy acts, and the expected thing on honest ones.

    It cheats: it looks at the simulator's own truth.  So it shows nothing of a product, but all of the people.
    """

    def __init__(self, sim: MemoryTable, law: Any, spoil: Any = None) -> None:
        assert isinstance(sim.people, SloppyPeople)
        self.sim, self.people, self.law, self.spoil = sim, sim.people, law, spoil
        self.position = self.acts = self.ruled = self.known = self.pots = 0
        self.hand, self.shown, self.ended = "", -1, False
        self.asks: list[dict[str, Any]] = []

    def publish(self, kind: str, data: dict[str, Any]) -> None:
        self.position += 1
        ident = f"epoch/{'state-' if kind == 'state' else ''}{self.position}"
        self.sim.hear(kind, json.dumps({"id": ident, "data": data}).encode())

    def step(self) -> None:
        for what, order in self.sim.commands():
            if what == "start_hand":
                self.hand, self.shown, self.ended = order["setup"]["hand_id"], -1, False
                self.ruled = self.known = self.pots = self.acts = 0
            ack = {"request": order["request"], "ok": True, "reason": None}
            self.sim.hear("ack", json.dumps({"data": ack}).encode())
        if not self.hand or not self.people.records or self.people.book is None:
            return
        record = self.people.records[-1]
        self.answer_acts(record)
        for pot in record.street_pots[self.pots :]:
            self.publish("evidence", {"kind": "street_closed", "hand_id": self.hand, "pot_total": pot})
            self.pots += 1
            self.shown = -1
        awaited = self.people.awaited
        if awaited and awaited != self.shown:
            self.shown = awaited
            self.publish("state", {"hand_id": self.hand, "phase": "betting", "to_act": str(awaited)})
        if not awaited and record.street_pots and not self.ended:
            self.ended = True
            self.publish("evidence", {"kind": "hand_ended", "hand_id": self.hand})

    def answer_acts(self, record: Any) -> None:
        while self.ruled < len(record.acts):
            act = record.acts[self.ruled]
            if act["honest"] and self.known >= len(record.expected):
                return
            self.ruled += 1
            if act["kind"] == "bystander":
                continue
            if act["honest"]:
                want = record.expected[self.known]
                self.known += 1
                faced = {n: getattr(want, n) for n in ("to_call", "min_to", "max_to", "raise_open")}
                ruling = {"verb": want.verb, "action": want.verb, "to": want.to, "all_in": want.all_in}
                ruling |= {"back": want.change, "faced": faced}
                street = want.street
            else:
                ruling, street = self.law(act, self.people.book), 0
                if ruling is None:
                    continue
            self.acts += 1
            ruling = {**ruling, "seat": str(act["seat"])}
            data = {"kind": "ruling", "hand_id": self.hand, "act": self.acts, "status": "final", "street": street}
            data["ruling"] = self.spoil(ruling) if self.spoil else ruling
            self.publish("evidence", data)
            self.shown = -1

    def run(self, limit_s: float = 6000.0) -> None:
        end = self.sim.now_ns + round(limit_s * 1e9)
        while not self.sim.done:
            assert self.sim.now_ns < end, "the simulated session does not end"
            self.step()
            self.sim.table.panel._queue.clear()  # every press is heard
            self.sim.advance(self.sim.now_ns + 200 * MS)
        self.sim.table.world.check()


def as_meant(act: dict[str, Any], book: Any) -> dict[str, Any]:
    """Whatever was meant stands, cut by the stack."""
    i = act["seat"] - 1
    to = min(max(act["intent_to"], book.bet[i]), book.bet[i] + book.stack[i])
    return {"verb": "raise" if to > book.bet_to else "call", "to": to}


def call_only(act: dict[str, Any], book: Any) -> dict[str, Any]:
    """Only a call stands."""
    i = act["seat"] - 1
    return {"verb": "call", "to": book.bet[i] + min(book.owes(i), book.stack[i])}


def play(seed: int, hands: int, law: Any, **how: Any) -> tuple[MemoryTable, Referee, list[dict[str, Any]]]:
    lines: list[str] = []
    spoil = how.pop("spoil", None)
    sim = MemoryTable(
        generate_hands(seed, hands), options=TableOptions(seed=seed), pace=PACE, manners=Manners(**how),
        sink=lines.append,
    )  # fmt: skip
    referee = Referee(sim, law, spoil)
    referee.run()
    return sim, referee, [json.loads(x) for x in lines]


@pytest.mark.parametrize("law", [as_meant, call_only])
def test_hands_go_on_under_any_law_and_end_without_a_discrepancy(law):
    sim, _, truth = play(3, 14, law, sloppiness=0.7, together=0.15, out_of_turn=0.15, bystander=0.1)
    assert sim.ears.complaints == []
    for record in sim.people.records:
        assert (record.discrepancies, record.abandoned) == ([], False)
        assert record.pots == record.street_pots
    acts = [t for t in truth if t["what"] == "act"]
    assert len(acts) == sum(len(r.acts) for r in sim.people.records) > 60
    kinds = Counter(a["kind"] for a in acts)
    assert {"gesture", "string", "together", "out_of_turn", "bystander"} <= set(kinds)
    assert {s.kind for s in sim.table.world.spots()} == {"tray"}


def test_all_styles_are_met_and_their_truth_is_whole():
    kinds: set[str] = set()
    for seed in range(4):
        new = tuple(n for n, style in STYLES.items() if style.weight == 0)
        _, _, truth = play(40 + seed, 12, as_meant, sloppiness=0.6, script=new)
        for act in (t for t in truth if t["what"] == "act"):
            kinds.add(act["kind"])
            assert act["in_turn"] == (act["seat"] == act["to_act"])
            assert act["began_ns"] <= act["ended_ns"]
            for part in act["inputs"]:
                if part["what"] == "motion":
                    assert act["began_ns"] <= part["starts_ns"] <= part["first_touch_ns"] <= part["last_touch_ns"]
                    assert sum(int(d) * n for d, n in part["chips"].items()) == part["value"]
                if part["what"] == "word":
                    assert part["pressed_ns"] is None or part["pressed_ns"] - part["said_ns"] >= 49 * MS
                    assert not part["said_first"] or act["said_first"]
        if kinds >= set(STYLES):
            break
    assert kinds >= set(STYLES), set(STYLES) - kinds


def test_the_truth_of_a_string_bet_names_two_motions_a_pause_and_a_retreat():
    strings = []
    for seed in range(3):
        _, _, truth = play(60 + seed, 10, as_meant, sloppiness=1.0, together=0.0, out_of_turn=0.0)
        strings += [t for t in truth if t["what"] == "act" and t["kind"] == "string"]
    assert len(strings) > 15
    for act in strings:
        first, second = (m for m in act["inputs"] if m["what"] == "motion")
        mm, ms = second["before_mm"], second["before_ms"]
        one = False if mm >= 30 or ms >= 200 else True if mm < 10 and ms < 100 else None
        assert (act["one_motion"], act["honest"]) == (one, False)
        assert 5 <= mm <= 80
        assert 50 <= ms <= 2000
        assert (second["first_touch_ns"] - first["last_touch_ns"]) / MS >= ms
    pauses = sorted(a["inputs"][1]["before_ms"] for a in strings)
    assert pauses[0] < 250 < 800 < pauses[-1]


def test_only_honest_acts_have_an_expected_ruling_and_a_wrong_one_is_reported():
    def spoil(ruling: dict[str, Any]) -> dict[str, Any]:
        return {**ruling, "faced": {**ruling["faced"], "to_call": 1}} if "faced" in ruling else ruling

    sim, _, truth = play(5, 3, as_meant, spoil=spoil)
    for record in sim.people.records:
        wrong = [d for d in record.discrepancies if d["what"] == "ruling"]
        assert {d["field"] for d in wrong} == {"to_call"}
        honest = sum(a["honest"] for a in record.acts)
        assert len(record.expected) == honest >= len(wrong) > 0
    assert all("expected" not in t for t in truth if t["what"] == "act")


def test_an_act_that_nobody_rules_on_ends_the_hand_and_clears_the_table():
    sim, _, _ = play(6, 2, lambda act, book: None, sloppiness=1.0)
    assert any(r.abandoned for r in sim.people.records)
    assert any(d["what"] == "no_final" for r in sim.people.records for d in r.discrepancies)
    assert {s.kind for s in sim.table.world.spots()} == {"tray"}


def test_an_impossible_ruling_is_named():
    sim, _, _ = play(6, 2, lambda act, book: {"verb": "raise", "to": 10**9}, sloppiness=1.0)
    assert any(d["what"] == "impossible_ruling" for r in sim.people.records for d in r.discrepancies)


def test_what_is_left_to_the_floor_ends_the_hand_without_blame():
    sim, _, truth = play(6, 2, lambda act, book: {"verb": "floor", "action": "floor", "to": None}, sloppiness=1.0)
    ended = [r for r in sim.people.records if r.abandoned]
    assert ended
    assert all(r.discrepancies == [] and r.acts[-1]["ruled"]["action"] == "floor" for r in ended)
    assert any(t["what"] == "left_to_floor" for t in truth)


def test_scripted_styles_come_first_and_in_their_order():
    wanted = ("string", "held_push", "plain", "splash", "take_back", "under_raise")
    _, _, truth = play(12, 8, as_meant, sloppiness=0.0, together=0.0, out_of_turn=0.0, bystander=0.0, script=wanted)
    kinds = [t["kind"] for t in truth if t["what"] == "act"]
    sloppy = [k for k in kinds if not (k in STYLES and STYLES[k].honest) and k != "gesture"]
    assert sloppy == [k for k in wanted if k != "plain"]
    assert "plain" in kinds[kinds.index("held_push") : kinds.index("splash")]


def test_sloppy_play_follows_from_its_seed():
    assert play(8, 2, as_meant)[2] == play(8, 2, as_meant)[2]


def test_hasty_dealers_press_at_once_and_others_take_their_time():
    for hasty, low, high in ((1.0, 50, 300), (0.0, 200, 1500)):
        _, _, truth = play(9, 6, as_meant, hasty=hasty, sloppiness=0.3)
        waits = [
            (p["pressed_ns"] - p.get("said_ns", p.get("ns", 0))) / MS
            for t in truth
            if t["what"] == "act"
            for p in t["inputs"]
            if p.get("pressed_ns")
        ]
        assert len(waits) > 20
        assert low - 1 <= min(waits) <= max(waits) <= high + 1


# -- parts ----------------------------------------------------------------------------------------


def scene(seed: int = 1) -> Scene:
    world = World(make_chips({25: 20, 100: 20, 500: 10}, Random(seed)))
    world.move(world.pick(TRAY, {25: 8, 100: 8, 500: 4}), TRAY, Spot("stack", "2"), 0, "buys in")
    hands = Hands(world, Random(seed), lambda key, **how: None)
    return Scene(hands=hands, rng=Random(seed), world=world, reaction=lambda: 0.5, seats=4)


def perform(timeline: Timeline) -> int:
    clock = [0]
    for wait in run([(0.0, timeline)], lambda: clock[0], 1.0):
        assert isinstance(wait, Sleep)
        clock[0] += wait.ns
    return clock[0]


@pytest.mark.parametrize("name", sorted(STYLES))
def test_every_style_ends_with_its_chips_on_the_felt_or_back(name):
    met = 0
    for seed in range(12):
        s = scene(seed)
        chips = take(s.stack(2), 600)
        assert chips
        if name in ("overchip", "change_for"):
            chips = take(s.stack(2), 200)
        verb = "call" if name in ("overchip", "change_for") else "raise"
        to = sum(c.denomination for c in chips or [])
        d = Decision(seat=2, verb=verb, to=to, add=to, to_call=200, min_to=400, bet=0, chips=chips or [])
        if not STYLES[name].applies(s, d):
            continue
        met += 1
        line = Timeline(Act(seat=2, kind=name, to_act=2))
        STYLES[name].build(s, line, d)
        perform(line)
        s.world.check()
        assert not s.world.at(Spot("air", "2"))
        here = s.world.value(Spot("bet", "2"))
        if name in ("take_back", "push_unreleased"):
            assert here < to
        elif name == "under_raise":
            assert 200 < here < 400
        elif name != "late_word":
            assert here == sum(c.denomination for c in d.chips)
        released = sum(m["value"] for m in line.act.motions)
        back = sum(i["value"] for i in line.act.inputs if i["what"] == "back")
        assert name == "push_unreleased" or released - back == here
    assert met


def test_a_question_is_answered_by_what_happened():
    texts = {"key_a": {"en": "One motion"}, "key_b": {"en": "Two motions"}}
    question = {"choices": [{"key": "key_a"}, {"key": "key_b"}], "texts": texts}
    moved = {"what": "motion", "released": True, "first_touch_ns": 5, "before_mm": 0, "before_ms": 0}
    again = {**moved, "before_mm": 60, "before_ms": 300}
    one = Act(seat=1, kind="x", to_act=1, inputs=[moved])
    two = Act(seat=1, kind="x", to_act=1, inputs=[moved, again])
    assert (key_by_truth(question, one), key_by_truth(question, two)) == ("key_a", "key_b")
    spoken = {"choices": question["choices"], "texts": {"key_a": {"en": "Said first"}, "key_b": {"en": "Chips first"}}}
    before = Act(seat=1, kind="x", to_act=1, inputs=[moved, {"what": "word", "said_ns": 4}])
    behind = Act(seat=1, kind="x", to_act=1, inputs=[moved, {"what": "word", "said_ns": 6}])
    assert [key_by_truth(spoken, a) for a in (before, behind, one)] == ["key_a", "key_b", None]
