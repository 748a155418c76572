"""Chips are conserved, records of hands are checked, generated hands are legal by a second reckoning."""

from __future__ import annotations

import json
import os
from collections import Counter
from pathlib import Path
from random import Random

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from hw_sim.generate import Ledger, generate_hand, generate_hands
from hw_sim.hands import Event, Expected, Hand, HandFormatError, chips_needed, load_hands, parse_hand
from hw_sim.world import POT, TRAY, NoSuchChipsError, Spot, World, make_chips, total

SHARED = Path(os.environ.get("TABLED_SHARED", Path(__file__).parents[3] / "shared"))
SPOTS = [TRAY, POT, *(Spot(kind, str(n)) for kind in ("stack", "bet", "air") for n in (1, 2))]


class Conservation(RuleBasedStateMachine):
    """Any sequence of moves, possible or not, leaves every chip in exactly one place."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = []
        self.world = World(make_chips({25: 6, 100: 5, 500: 2}, Random(1)), self.lines.append)

    @rule(
        source=st.sampled_from(SPOTS),
        goal=st.sampled_from(SPOTS),
        counts=st.dictionaries(st.sampled_from((25, 100, 500, 5)), st.integers(0, 3), max_size=3),
    )
    def move(self, source: Spot, goal: Spot, counts: dict[int, int]) -> None:
        before = {s: self.world.at(s) for s in SPOTS}
        try:
            chips = self.world.pick(source, counts)
        except NoSuchChipsError:
            assert not self.world.has(source, counts)
            return
        self.world.move(chips, source, goal, 1, "test")
        assert total(Counter(c.denomination for c in chips)) == total(counts)
        if source != goal:
            assert self.world.value(goal) == sum(c.denomination for c in before[goal]) + total(counts)

    @rule(source=st.sampled_from(SPOTS), goal=st.sampled_from(SPOTS))
    def steal(self, source: Spot, goal: Spot) -> None:
        elsewhere = [c for c in self.world.chips if c not in self.world.at(source)]
        if elsewhere:
            with pytest.raises(NoSuchChipsError):
                self.world.move(elsewhere[:1], source, goal, 1, "theft")

    @invariant()
    def conserved(self) -> None:
        self.world.check()
        assert sum(self.world.value(s) for s in SPOTS) == 6 * 25 + 5 * 100 + 2 * 500


TestConservation = Conservation.TestCase
TestConservation.settings = settings(max_examples=30, stateful_step_count=20, deadline=None)


def test_the_truth_log_replays_to_the_same_world():
    lines: list[str] = []
    world = World(make_chips({25: 10, 100: 10}, Random(2)), lines.append)
    world.move(world.pick(TRAY, {25: 4, 100: 2}), TRAY, Spot("stack", "1"), 5, "buys in")
    world.move(world.pick(Spot("stack", "1"), {25: 3}), Spot("stack", "1"), Spot("bet", "1"), 6, "pushes")
    again: dict[str, list[str]] = {"tray": [c.uid for c in world.chips]}
    for line in map(json.loads, lines):
        assert line["what"] == "move"
        for uid in line["chips"]:
            again[line["source"]].remove(uid)
            again.setdefault(line["target"], []).append(uid)
    assert again["bet:1"] == [c.uid for c in world.at(Spot("bet", "1"))]
    assert sorted(again["tray"]) == sorted(c.uid for c in world.at(TRAY))


def test_uids_are_icode_serials_and_differ():
    chips = make_chips({25: 300, 100: 300}, Random(3))
    assert len({c.uid for c in chips}) == 600
    assert all(len(c.uid) == 16 and c.uid.startswith("E0040150") for c in chips)


# -- records --------------------------------------------------------------------------------------


def test_all_shared_hands_load_and_their_setups_add_up():
    path = SHARED / "hands" / "hands.jsonl"
    if not path.is_file():
        pytest.skip(f"no shared hands at {path}: set TABLED_SHARED to the folder that holds hands/")
    hands = list(load_hands(path))
    assert len(hands) >= 40
    for h in hands:
        setup = h.setup()
        seats = {s["seat"]: s for s in setup["seats"]}
        assert [seats[str(n)]["stack"] for n in range(1, h.players + 1)] == h.stacks
        assert all(s["ante"] + s["blind"] <= s["stack"] for s in seats.values())
        if h.players == 2 and any(h.blinds):
            first = next(e.seat for e in h.expected)
            assert setup["seats"][0]["seat"] == str(first) == setup["button"]


def spoilt(**changes: object) -> str:
    raw = json.loads(msgspec.json.encode(generate_hand(11)))
    raw.update(changes)
    return json.dumps(raw)


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("{", "not a hand"),
        ('{"hand": "x"}', "missing required field"),
        (spoilt(players=11), "2 to 10 seats"),
        (spoilt(stacks=[1]), "stacks has 1 entries"),
        (spoilt(chips=[{"25": 1}] * generate_hand(11).players), "chips worth 25"),
        (spoilt(events=[{"i": 0, "kind": "juggle"}], expected=[]), "event 0 (juggle): unknown kind"),
        (spoilt(events=[{"i": 0, "kind": "push", "seat": 99}], expected=[]), "no seat 99"),
        (spoilt(events=[{"i": 0, "kind": "push", "seat": 1, "chips": {"77": 1}}], expected=[]), "has not got"),
        (spoilt(events=[{"i": 0, "kind": "return", "seat": 1, "chips": {"25": 1}}], expected=[]), "than was bet"),
        (spoilt(events=[]), "names an event that is not there"),
    ],
)
def test_a_bad_record_is_refused_with_its_place_and_reason(line, says):
    with pytest.raises(HandFormatError) as e:
        parse_hand(line, "some.jsonl:7")
    assert "some.jsonl:7" in str(e.value)
    assert says in str(e.value)


def test_a_missing_file_and_an_unknown_name_are_said(tmp_path):
    with pytest.raises(HandFormatError, match="cannot read"):
        list(load_hands(tmp_path / "none.jsonl"))
    path = tmp_path / "hands.jsonl"
    path.write_bytes(msgspec.json.encode(generate_hand(1)) + b"\n\n" + msgspec.json.encode(generate_hand(2)))
    assert [h.hand for h in load_hands(path, only=["sim-2"])] == ["sim-2"]
    with pytest.raises(HandFormatError, match="no such hand: nobody"):
        list(load_hands(path, only=["nobody"]))


# -- generated hands ------------------------------------------------------------------------------


class Reckoning:
    """A hand's events gone through with nothing but sums, every expected number held against them."""

    def __init__(self, hand: Hand) -> None:
        self.hand, self.n = hand, hand.players
        self.stack, self.street_in, self.pot = list(hand.stacks), [0] * hand.players, 0
        self.out: set[int] = set()
        self.highest = self.step = max(hand.blinds)
        # highest bet at a seat's last voluntary act on this street
        self.since: list[int | None] = [None] * hand.players
        self.pots: list[int] = []

    def go(self) -> None:
        rows = {e.event: e for e in self.hand.expected}
        for e in self.hand.events:
            want = rows.pop(e.i, None)
            if e.kind == "post":
                self.post(e)
            if want is not None:
                self.act(e, want)
            if e.kind == "return":
                self.give_back(e)
            if e.kind == "collect":
                self.collect(e)
        assert not rows
        self.ended()

    def post(self, e: Event) -> None:
        self.stack[e.seat - 1] -= total(e.chips)
        if e.what == "ante":
            self.pot += total(e.chips)
        else:
            self.street_in[e.seat - 1] += total(e.chips)

    def act(self, e: Event, want: Expected) -> None:
        i = e.seat - 1
        owes = self.highest - self.street_in[i]
        others = (j for j in range(self.n) if j != i and j not in self.out)
        answer = any(self.stack[j] + self.street_in[j] > self.highest for j in others)
        since = self.since[i]
        opened = self.stack[i] > owes and answer and (since is None or self.highest - since >= self.step)
        assert (want.seat, want.street) == (e.seat, len(self.pots))
        assert want.pot_before == self.pot + sum(self.street_in)
        assert want.to_call == min(owes, self.stack[i])
        assert want.raise_open == opened
        assert want.min_to == (self.highest + self.step if opened else None)
        assert want.max_to == (self.stack[i] + self.street_in[i] if opened else None)
        if e.kind == "push":
            self.push(e, want, opened)
        else:
            assert want.verb == ("fold" if e.gesture == "cards-forward" else "check")
            assert want.verb == "fold" or owes <= 0
            assert (want.to, want.add) == (self.street_in[i], 0)
            self.out |= {i} if want.verb == "fold" else set()
        self.since[i] = self.highest
        assert want.all_in == (want.verb not in ("fold", "check") and self.stack[i] == 0)

    def push(self, e: Event, want: Expected, opened: bool) -> None:
        i = e.seat - 1
        paid = total(e.chips) - want.change
        new = self.street_in[i] + paid
        self.stack[i] -= paid
        assert (want.to, want.add) == (new, paid)
        assert want.verb == ("call" if new <= self.highest else "raise" if self.highest else "bet")
        if want.change:
            assert want.verb == "call"
            assert sum(e.chips.values()) == 1 or want.why == "every-chip-needed"
        if new > self.highest:
            assert opened
            assert new - self.highest >= self.step or self.stack[i] == 0
            assert self.hand.events[e.i - 1].kind == "declare" or sum(e.chips.values()) > 1 or not self.highest
            self.step, self.highest = max(self.step, new - self.highest), new
        else:
            assert new == self.highest or self.stack[i] == 0
        self.street_in[i] = new

    def give_back(self, e: Event) -> None:
        i, paid = e.seat - 1, total(e.chips)
        self.street_in[i] -= paid
        self.stack[i] += paid
        assert paid == e.amount
        assert self.street_in[i] == max(self.street_in)
        assert self.street_in.count(self.street_in[i]) > 1 or sum(self.street_in) == self.street_in[i]

    def collect(self, e: Event) -> None:
        self.pot += sum(self.street_in)
        assert e.pot == self.pot
        # All who are still in have paid the same, or all they had.
        live = [j for j in range(self.n) if j not in self.out]
        level = max(self.street_in[j] for j in live)
        assert all(self.street_in[j] == level or self.stack[j] == 0 for j in live)
        self.pots.append(self.pot)
        self.street_in, self.since = [0] * self.n, [None] * self.n
        self.highest, self.step = 0, max(self.hand.blinds)

    def ended(self) -> None:
        hand, pots = self.hand, self.pots
        assert hand.street_pots[: len(pots)] == pots
        assert set(hand.street_pots[len(pots) :]) <= {pots[-1]}
        assert hand.before_award_stacks == self.stack
        assert sum(self.stack) + self.pot == sum(hand.stacks)
        showdown = any(e.kind == "show" for e in hand.events)
        assert showdown == (len(self.out) < self.n - 1)
        assert not showdown or sum(e.kind == "board" for e in hand.events) == 3 or hand.variant != "NT"


def reckon(hand: Hand) -> None:
    Reckoning(hand).go()


def test_generated_hands_are_legal_and_their_numbers_right():
    hands = generate_hands(1, 300)
    for hand in hands:
        reckon(hand)
    acts = Counter((e.verb, e.why, e.all_in) for h in hands for e in h.expected)
    assert {v for v, _, _ in acts} == {"fold", "check", "call", "bet", "raise"}
    assert {w for _, w, _ in acts} >= {"one-chip", "declared-amount", "declared-all-in", "full-raise"}
    assert {e.kind for h in hands for e in h.events} >= {"change", "change-back", "return", "show"}
    assert {h.players for h in hands} == set(range(2, 11))
    assert any(not e.raise_open and e.to_call < e.pot_before and e.verb != "fold" for h in hands for e in h.expected)


def test_the_same_reckoning_holds_for_hands_that_were_really_played():
    path = SHARED / "hands" / "hands.jsonl"
    if not path.is_file():
        pytest.skip(f"no shared hands at {path}: set TABLED_SHARED to the folder that holds hands/")
    hands = list(load_hands(path, structure="no-limit"))
    assert len(hands) > 10
    for hand in hands:
        reckon(hand)


def test_a_hand_depends_on_its_seed_alone():
    assert msgspec.json.encode(generate_hand(5)) == msgspec.json.encode(generate_hand(5))
    assert generate_hand(5) != generate_hand(6)
    assert generate_hand(5, seats=2).players == 2


def test_a_short_all_in_does_not_reopen_until_short_ones_add_up():
    # Flop: A bets 500 and B goes all-in 700, a short raise: A may call 200 or fold.  If C then makes it 1100
    # (a raise of 400, also short, all-in), A faces 600, more than the last full raise of 500, and may raise.
    book = Ledger([5000, 700, 1100, 5000], [0] * 4, [0] * 4, 100)
    book.bet_to = 0
    book.put(0, 500)
    book.put(1, 700)
    assert not book.may_raise(0)
    assert book.may_raise(3)
    assert book.faces(3)["min_to"] == 1200
    book.put(2, 1100)
    assert book.may_raise(0)
    assert book.faces(0)["min_to"] == 1600


def test_one_population_serves_every_hand():
    hands = generate_hands(2, 30)
    need = chips_needed(hands)
    for h in hands:
        dealt: Counter[int] = Counter()
        for chips in h.chips:
            dealt.update(chips)
        assert all(need[d] >= k for d, k in dealt.items())


@given(st.integers(0, 10_000))
@settings(max_examples=40, deadline=None)
def test_any_seed_gives_a_hand_that_survives_its_own_format(seed):
    hand = generate_hand(seed)
    assert parse_hand(msgspec.json.encode(hand), "again") == hand
