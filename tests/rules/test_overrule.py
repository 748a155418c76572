"""The floor's decisions: what it says holds, and what it cannot say."""

from __future__ import annotations

import pytest

from tabled.outlets.wording import announce
from tabled.rules.errors import IllegalAct
from tabled.rules.overrule import overrule
from tests.rules.deal import deal, play
from tests.rules.table import chips_of, load, open_to

LAW = load("tda-2024")


@pytest.mark.parametrize(
    ("action", "to", "verb", "total"),
    [
        ("fold", None, "fold", 0), ("call", None, "call", 300), ("raise", 450, "raise", 450),
        ("raise", 500, "raise", 500), ("all_in", None, "raise", 1000),
    ],
)  # fmt: skip
def test_the_floor_may_go_under_a_minimum(action, to, verb, total):
    hand = play(deal([1000] * 4), "3 raise 300")
    before = hand.snapshot()
    judged = overrule(hand, LAW, "4", action, to)
    assert hand.snapshot() == before
    assert (judged.ruling.verb, judged.ruling.to) == (verb, total)
    assert chips_of(judged.after) == chips_of(hand)
    assert judged.after.to_act == "1"
    assert "Floor" in announce(judged.ruling)["en"]


def test_a_small_raise_that_the_floor_lets_stand_is_a_raise_and_raises_no_minimum():
    hand = play(deal([1000] * 4), "3 raise 300")
    r = overrule(hand, LAW, "4", "raise", 350).ruling
    assert r.min_raise_to == 550
    assert open_to(r) == {"1", "2", "3"}


def test_the_floor_may_rule_on_a_seat_that_was_passed_over():
    hand = play(deal([1000] * 4), "3 raise 300", "4 call")
    judged = overrule(hand, LAW, "2", "fold")
    assert judged.after.status_of("2") == "folded"


def test_an_opening_decided_by_the_floor():
    hand = play(deal([1000] * 3), "3 call", "1 call", "2 check", "street")
    assert overrule(hand, LAW, "1", "bet", 60).ruling.verb == "bet"
    assert overrule(hand, LAW, "1", "check").ruling.verb == "check"


@pytest.mark.parametrize(
    ("action", "to", "text"),
    [
        ("raise", 200, "200 is no raise over 300"), ("raise", 2000, "2000 cannot stand"), ("check", None, "owes 300"),
        ("stands", None, "not 'stands'"),
    ],
)  # fmt: skip
def test_what_the_floor_cannot_decide(action, to, text):
    hand = play(deal([1000] * 4), "3 raise 300")
    with pytest.raises(IllegalAct, match=text):
        overrule(hand, LAW, "4", action, to)
