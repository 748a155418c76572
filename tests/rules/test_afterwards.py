"""What comes late, or early: chips after the ruling, acts out of turn and what becomes of them, accepted amounts."""

from __future__ import annotations

import random

import pytest

from tabled.model import acts as a
from tabled.model.ruling import Change
from tabled.rules.errors import SetupError
from tabled.rules.hand import Hand
from tabled.rules.judge import judge
from tabled.rules.situation import hand_from
from tabled.rules.street import rule_street
from tabled.rules.turn import behind_skipped, with_chips
from tabled.shell.profiles import names
from tests.rules import chance
from tests.rules.table import act, facing, load, profile, rule, short, situation
from tests.rules.test_setups import passive

TDA = "tda-2024"


# ---- chips that come, or go, after the next seat has acted ----------------------------------------------------------


@pytest.mark.parametrize(
    ("bet", "put", "late", "money", "chips", "change"),
    [
        (500, "500", "B put 500", (0, 500), (500,), None),
        (500, "500 100 100", "B put 100", (0, 300), (100, 100, 100), None),
        (500, "1000", "B put 100", (0, 600), (), None),  # which chip is to be broken is for the dealer to see
        (510, "500 100 25", "B put 100", (0, 215), (100, 100), Change(15, 25)),
        (500, "500 100 100", "B pull 100", (0, 100), (), None),
        (500, "200 200", "B put 100", (0, 0), (), None),
        (500, "200 200", "B put 100 25", (0, 25), (100, 25), None),
        (500, "100 100", "B put 100", (200, 0), (), None),
        (500, "200 200", "B pull 200", (300, 0), (), None),
        (500, "500", "B pull 500", (500, 0), (), None),
        (500, "500", "B stage 500", (0, 0), (), None),
    ],
)
def test_late_chips_go_back_and_chips_taken_back_are_owed(bet, put, late, money, chips, change):
    ruling = rule("swedish", facing(bet), f"B put {put}", "B away", "C did fold", late)
    assert (ruling.to, ruling.add, ruling.back) == (bet, *money)
    assert (ruling.back_chips, ruling.change) == (chips, change)


# ---- TDA 49 ---------------------------------------------------------------------------------------------------------


def counted_wrong(*acts: str, line: str = "", structure: str = "no-limit"):
    """B raised to 18000, and the dealer says 13000."""
    mine = f"C 90000/2000*{line}" if line else "C 90000"
    where = situation(f"A 90000/2000* B 90000/18000* {mine} D 90000", "C", 18000, 16000, blinds=(1000, 2000),
                      prior="A bet 2000, B raise 18000", structure=structure, pot=90000)  # fmt: skip
    return rule(TDA, where, "dealer quotes 13000", *acts)


@pytest.mark.parametrize(
    ("acts", "line", "accepted"),
    [
        (("C put 5000 5000 1000 1000 1000",), "", True),
        (("C say number 13000",), "", True),
        (("C say number 14000",), "", False),
        (("C say raise 13000 to",), "", False),
        (("C say call",), "", False),  # all of it, without any of that
        (("C put 5000 5000 1000 1000 1000 500", "C pull 500"), "", True),
        (("C put 5000 5000 1000 1000 1000 500", "C pull 500"), "[1000,1000]", True),
        (("C put 5000 5000 1000",), "[1000,1000]", True),  # with those that lie there
        (("C put 5000 5000",), "", False),
    ],
)
def test_tda_49_the_count_that_was_named_and_no_other_is_accepted(acts, line, accepted):
    ruling = counted_wrong(*acts, line=line)
    assert (ruling.reason.code == "accepted_action") is accepted
    if accepted:
        assert (ruling.verb, ruling.to) == ("call", 18000)


def test_tda_49_a_count_that_is_right_or_of_nothing_is_no_wrong_one():
    assert rule(TDA, facing(), "dealer quotes 500", "B put 500").reason.code == "call"
    opening = situation("A 5000 B 5000", "A")
    assert rule(TDA, opening, "dealer quotes 300", "A put 100 100 100").verb == "bet"
    assert rule(TDA, facing(), "dealer quotes 300", "B did call 300").reason.code == "call"


def test_tda_49_at_pot_limit_a_count_over_the_bet_may_be_the_pot():
    assert counted_wrong("C say number 13000", structure="pot-limit").reason.code == "accepted_action"
    where = facing(structure="pot-limit", pot=300)
    assert rule(TDA, where, "dealer quotes 1300", "B put 1000 100 100 100").reason.code != "accepted_action"
    over = rule(TDA, facing(), "dealer quotes 1300", "B put 1000 100 100 100")
    assert (over.reason.code, over.back) == ("accepted_action", 800)


# ---- TDA 53: acts out of turn ---------------------------------------------------------------------------------------

ASKING = {"ask_floor": ["out_of_turn"]}


def test_what_the_floor_may_make_of_an_act_out_of_turn():
    acts = ("C put 500 500 500", "B did raise 1500")
    quiet = rule(profile(TDA, ask_floor=[]), facing(), *acts)
    assert (quiet.floor, quiet.candidates, quiet.floor_reason) == (False, (), None)
    asked = rule(profile(TDA, **ASKING), facing(), *acts)
    assert (asked.floor, asked.floor_reason.code) == (True, "why_out_of_turn")
    assert [(c.action, c.to) for c in asked.candidates] == [("pending", None), ("call_or_fold", None)]


def test_an_act_out_of_turn_that_binds_under_every_reading_names_what_it_is():
    asked = rule(profile(TDA, **ASKING), facing(), "C put 500 500 500", "B did call")
    assert (asked.verb, asked.to) == ("raise", 1500)
    assert [(c.action, c.to) for c in asked.candidates] == [("raise", 1500), ("call", 500)]


def test_a_doubt_of_its_own_stands_before_that_of_the_turn():
    """Tiny chips are for the floor whenever they come."""
    asked = rule(profile(TDA, **ASKING), facing(), "C put 25", "B did call")
    assert (asked.action, asked.reason.code) == ("floor", "floor_tiny_chips")
    assert [c.action for c in asked.candidates] == ["call", "fold"]
    assert asked.floor_reason is None


def test_a_doubt_of_its_own_is_shown_though_the_turn_is_none():
    law = profile("swedish", ask_floor=[], tap_facing="ask")
    assert rule(law, facing(), "C tap", "B did call").floor
    assert not rule(profile("swedish", ask_floor=[]), facing(), "C say call", "B did call").floor
    assert rule(profile("swedish", **ASKING), facing(), "C say call", "B did call").floor


def test_who_lost_the_raise_is_told_the_call_that_the_stack_can_make():
    law = profile(TDA, out_of_turn="binds_no_raise")
    for stack, call in ((5000, 1500), (800, 800)):
        ruling = rule(law, facing(behind=f"C {stack}"), "C say raise", "B did raise 1500")
        assert (ruling.action, ruling.reason.params["to"]) == ("call_or_fold", call)


@pytest.mark.parametrize(
    ("text", "is_it"),
    [
        ("C say call", True), ("C say raise", True), ("C say all-in", True), ("C say number 500", True),
        ("C say fold", False), ("C say check", False), ("C say other hm", False), ("C cards", False),
        ("C did fold", False), ("C did check", False), ("C did call", True), ("C push 500", True),
    ],
)  # fmt: skip
def test_tda_36_an_act_with_chips_is_one_that_puts_some_in_or_binds_to_it(text, is_it):
    assert with_chips([act(text)]) is is_it


def test_tda_53_b_of_the_skipped_seat_nothing_is_said():
    """A has acted and would be free to raise; it was passed over, so what it may do is for the floor to say."""
    where = situation("A 4900/100* B 250/100* C 4700/300* D 4700/300*", "A", 300, 200,
                      prior="A bet 100, B call, C raise 300, D call")  # fmt: skip
    judged = behind_skipped(hand_from(where, load(TDA)), load(TDA), [act("B say all-in")])
    assert (judged.ruling.to, judged.ruling.skipped, judged.ruling.may_raise) == (350, ("A",), ())
    assert judged.ruling.reason.params["closed"] == "C, D"
    assert judged.ruling.reason.params["reopened"] == ""
    assert judged.ruling.reason.code == "all_in_short"


# ---- what is left to a seat that has not decided --------------------------------------------------------------------


def test_who_must_call_or_raise_is_named_among_those_who_may_raise():
    where = situation("A 4900/100*[100] B 4500/500* C 5000", "A", 500, 400, prior="A bet 100, B raise 500")
    assert rule(TDA, where, "A pull 100", "A cards").may_raise == ("A",)
    assert rule(TDA, where, "A pull 100").may_raise == ()  # nothing is decided
    assert rule(TDA, where, "A say other hm").may_raise == ()
    assert rule(TDA, where, "A tap").may_raise == ()


def test_a_ruled_call_of_too_little_moves_no_chip_of_its_own():
    ruling = rule(TDA, facing(), "B did call 400")
    assert (short(ruling), [(x.seat, x.add) for x in ruling.adjust]) == (("call", 500, 0, 0), [("B", 100)])


# ---- one seat's acts are judged alike alone and on a street ---------------------------------------------------------


@pytest.mark.parametrize("part", range(8))
def test_an_act_in_turn_is_ruled_alike_alone_and_on_its_street(part):
    ruled = 0
    for seed in range(part * 20, part * 20 + 20):
        rng = random.Random(seed)
        law = load(rng.choice(list(names())))
        try:
            hand = Hand.start(chance.set_up(rng), law)
        except SetupError:
            continue
        for _ in range(rng.randint(0, 6)):
            if hand.to_act is not None:
                hand = judge(hand, law, chance.gesture(rng, hand.to_act)).after or passive(hand)
        seat = hand.to_act
        if seat is None:
            continue
        acts = [x for x in chance.gesture(rng, seat) if not isinstance(x, a.DealerGivesChange)] or [a.TapTable(seat)]
        alone, street = judge(hand, law, acts), rule_street(hand, law, acts)
        assert street.ruling == alone.ruling, f"seed {seed}"
        assert street.after == alone.after
        ruled += 1
    assert ruled > 3
