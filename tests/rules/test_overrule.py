"""The floor's decisions: what it says holds, and what it cannot say."""

from __future__ import annotations

import pytest

from tabled.model.hand import HandSetup, Limits, SeatSetup
from tabled.outlets.wording import announce
from tabled.rules.errors import IllegalAct
from tabled.rules.hand import Hand
from tabled.rules.overrule import overrule, recounted
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


def test_the_ruling_says_what_the_law_would_have_made_of_it():
    hand = play(deal([1000] * 4), "3 raise 300")
    said = {a: overrule(hand, LAW, "4", *a).ruling.departs for a in (("raise", 450), ("raise", 500), ("call",))}
    assert [d and (d.code, d.params.get("to")) for d in said.values()] == [("departs_raise", 500), None, None]
    opened = play(deal([1000] * 3), "3 call", "1 call", "2 check", "street")
    assert overrule(opened, LAW, "1", "bet", 20).ruling.departs.code == "departs_bet"
    early = overrule(hand, LAW, "2", "raise", 600).ruling
    assert (early.departs.code, early.next_seat, early.by_floor) == ("departs_turn", "4", True)
    poor = overrule(play(deal([1000, 1000, 1000, 400]), "3 raise 300"), LAW, "4", "raise", 350).ruling
    assert (poor.departs.code, "to" in poor.departs.params) == ("departs_all_in", False)


def test_a_record_put_right_moves_no_chip_that_is_in():
    hand = play(deal([1000] * 4), "3 raise 300")
    more = recounted(hand, "4", 2500)
    assert (more.stack_of("4"), more.pot_total, hand.stack_of("4")) == (2500, hand.pot_total, 1000)
    assert overrule(more, LAW, "4", "raise", 2400).ruling.to == 2400
    with pytest.raises(IllegalAct, match="has bet 0"):
        recounted(hand, "4", 0)


def test_who_has_folded_or_is_all_in_has_nothing_to_decide():
    hand = play(deal([1000] * 4), "3 raise 1000", "4 fold")
    for seat, state in (("3", "all-in"), ("4", "folded")):
        with pytest.raises(IllegalAct, match=f"seat {seat} is {state}"):
            overrule(hand, LAW, seat, "fold")


def test_the_bring_in_decided_by_the_floor_is_paid_and_not_owed_twice():
    setup = HandSetup(
        hand_id="s", structure="fixed-limit", game="7stud", opener="2",
        limits=Limits(small_bet=20, big_bet=40, bring_in=5), seats=tuple(SeatSetup(str(n), 1000) for n in (1, 2, 3)),
    )  # fmt: skip
    hand = Hand.start(setup, LAW)
    assert hand.owes_bring_in
    brought = overrule(hand, LAW, hand.to_act, "bet", 5)
    assert (brought.ruling.action, brought.ruling.verb, brought.after.owes_bring_in) == ("bring_in", "bring-in", False)
    assert overrule(hand, LAW, hand.to_act, "bet", 20).after.owes_bring_in is False


def test_an_opening_decided_by_the_floor():
    hand = play(deal([1000] * 3), "3 call", "1 call", "2 check", "street")
    opened = overrule(hand, LAW, "1", "raise", 60).ruling
    assert (opened.action, announce(opened)["en"]) == ("bet", "Floor's decision: bet 60.")
    assert overrule(hand, LAW, "1", "bet", 60).ruling.verb == "bet"
    assert overrule(hand, LAW, "1", "check").ruling.verb == "check"


@pytest.mark.parametrize(
    ("action", "to", "text"),
    [
        ("raise", 200, "200 is no raise over 300"), ("raise", 2000, "2000 cannot stand"), ("check", None, "owes 300"),
        ("stands", None, "not 'stands'"), ("raise", None, 'needs "to"'), ("all_in", 500, "all-in is 1000"),
        ("call", 200, "leaves it at 300, not 200"), ("fold", 300, "leaves it at 0"),
    ],
)  # fmt: skip
def test_what_the_floor_cannot_decide(action, to, text):
    hand = play(deal([1000] * 4), "3 raise 300")
    with pytest.raises(IllegalAct, match=text):
        overrule(hand, LAW, "4", action, to)
