"""The floor's decisions: what it says holds, and what it cannot say."""

from __future__ import annotations

import pytest

from tabled.model.hand import HandSetup, Limits, SeatSetup
from tabled.outlets.wording import announce
from tabled.rules.errors import IllegalAct
from tabled.rules.hand import Hand
from tabled.rules.overrule import allowed, overrule, recounted
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
    assert judged.ruling.call_to == max(total, 300)


def test_a_small_raise_that_the_floor_lets_stand_is_a_raise_and_raises_no_minimum():
    hand = play(deal([1000] * 4), "3 raise 300")
    r = overrule(hand, LAW, "4", "raise", 350).ruling
    assert r.min_raise_to == 550
    assert open_to(r) == {"1", "2", "3"}


def test_the_floor_may_rule_on_a_seat_that_was_passed_over():
    hand = play(deal([1000] * 4), "3 raise 300", "4 call")
    judged = overrule(hand, LAW, "2", "fold")
    assert judged.after.status_of("2") == "folded"


def test_the_floor_may_rule_on_a_seat_when_nobody_is_to_act():
    over = play(deal([1000] * 3), "3 call", "1 call", "2 check")
    assert over.to_act is None
    folded = overrule(over, LAW, "3", "fold")
    assert (folded.after.status_of("3"), folded.after.to_act, folded.ruling.round_over) == ("folded", None, True)
    raised = overrule(over, LAW, "3", "raise", 300)
    assert (raised.ruling.to, raised.after.to_act) == (300, "1")


def test_the_ruling_says_what_the_law_would_have_made_of_it():
    hand = play(deal([1000] * 4), "3 raise 300")
    said = {a: overrule(hand, LAW, "4", *a).ruling.departs for a in (("raise", 450), ("raise", 500), ("call",))}
    assert [d and (d.code, d.params.get("to")) for d in said.values()] == [("departs_raise", 500), None, None]
    assert overrule(hand, LAW, "4", "complete", 500).ruling.departs is None  # the same raise by another word
    opened = play(deal([1000] * 3), "3 call", "1 call", "2 check", "street")
    assert overrule(opened, LAW, "1", "bet", 20).ruling.departs.code == "departs_bet"
    assert overrule(opened, LAW, "1", "check").ruling.call_to is None
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
    opened = overrule(hand, LAW, hand.to_act, "bet", 20)
    assert (opened.after.owes_bring_in, opened.ruling.to, opened.after.bet_to) == (False, 20, 20)


def test_an_opening_decided_by_the_floor():
    hand = play(deal([1000] * 3), "3 call", "1 call", "2 check", "street")
    opened = overrule(hand, LAW, "1", "raise", 60).ruling
    assert (opened.action, announce(opened)["en"]) == ("bet", "Floor's decision: bet 60.")
    assert overrule(hand, LAW, "1", "bet", 60).ruling.verb == "bet"
    assert overrule(hand, LAW, "1", "check").ruling.verb == "check"


@pytest.mark.parametrize(
    ("action", "to", "text"),
    [
        ("raise", 200, "200 is no raise over 300"), ("raise", 300, "300 is no raise over 300"),
        ("raise", 2000, "2000 cannot stand"), ("check", None, "owes 300"),
        ("stands", None, "not 'stands'"), ("raise", None, 'needs "to"'), ("all_in", 500, "all-in is 1000"),
        ("call", 200, "leaves it at 300, not 200"), ("fold", 300, "leaves it at 0"),
    ],
)  # fmt: skip
def test_what_the_floor_cannot_decide(action, to, text):
    hand = play(deal([1000] * 4), "3 raise 300")
    with pytest.raises(IllegalAct, match=text):
        overrule(hand, LAW, "4", action, to)


@pytest.mark.parametrize(
    ("stacks", "acts", "seat", "text"),
    [
        ([1000] * 4, ("3 raise 300",), "4", 'fold, call (300), raise with "to" from 301 to 1000, all_in (1000)'),
        ([1000, 1000, 1000, 301], ("3 raise 300",), "4",
         'fold, call (300), raise with "to" from 301 to 301, all_in (301)'),
        ([1000, 1000, 1000, 300], ("3 raise 300",), "4", "fold, call (300), all_in (300)"),
        ([1000, 1000, 1000, 200], ("3 raise 300",), "4", "fold, call (200), all_in (200)"),
        ([1000] * 3, ("3 call", "1 call"), "2", 'fold, check, raise with "to" from 101 to 1000, all_in (1000)'),
        ([1000] * 3, ("3 call", "1 call", "2 check", "street"), "1",
         'fold, check, bet with "to" from 1 to 900, all_in (900)'),
    ],
)  # fmt: skip
def test_what_the_floor_can_decide_is_said_in_amounts(stacks, acts, seat, text):
    assert allowed(play(deal(stacks), *acts), seat) == text


def test_a_stack_put_right_holds_at_least_the_bet():
    hand = play(deal([1000] * 4), "3 raise 300")
    assert recounted(hand, "3", 300).stack_of("3") == 0
    assert recounted(hand, "3", 450).stack_of("3") == 150
    with pytest.raises(IllegalAct, match="seat 3 has bet 300: its stack on this street is no less than that, not 299"):
        recounted(hand, "3", 299)


LIMIT = {"structure": "fixed-limit", "limits": {"small_bet": 100, "big_bet": 200, "raises_cap": 3}}


def short_limit(stack: int = 1000):
    """A is all-in for 30 of 100 at limit, half-bet rule: B may complete."""
    hand = play(deal([130, stack, 1000], law="dutch-half-bet", **LIMIT), "3 call", "1 call", "2 check", "street")
    return play(hand, "1 raise 30")


@pytest.mark.parametrize(
    ("hand", "seat", "action", "to", "ruled"),
    [
        (short_limit(), "2", "complete", None, ("complete", 100)),
        (short_limit(), "2", "raise", 100, ("complete", 100)),
        (short_limit(), "2", "raise", 130, ("raise", 130)),
        (short_limit(180), "2", "complete", None, ("complete", 80)),
        (play(deal([1000] * 3), "3 raise 300"), "1", "all_in", None, ("raise", 1000)),
        (play(deal([200, 1000, 1000]), "3 raise 300"), "1", "all_in", None, ("call", 200)),
        (play(deal([200, 1000, 1000]), "3 raise 300"), "1", "raise", 200, ("call", 200)),
        (play(deal([300, 1000, 1000]), "3 raise 300"), "1", "all_in", 300, ("call", 300)),
        (play(deal([1000] * 3), "3 raise 300"), "1", "raise", 301, ("raise", 301)),
        (play(deal([1000] * 3), "3 raise 300"), "1", "call", 300, ("call", 300)),
    ],
)
def test_a_decision_is_named_for_what_it_is(hand, seat, action, to, ruled):
    judged = overrule(hand, load("dutch-half-bet"), seat, action, to)
    assert (judged.ruling.verb, judged.ruling.to) == ruled
    assert judged.ruling.all_in is (judged.after.stack_of(seat) == 0)


@pytest.mark.parametrize(
    ("hand", "seat", "action", "to", "code"),
    [
        (short_limit(), "2", "complete", None, None),
        (short_limit(), "2", "raise", 100, None),
        (short_limit(), "2", "raise", 120, "departs_complete"),
        (play(deal([1000] * 3), "3 raise 300"), "1", "call", None, None),
        (play(deal([1000] * 3), "3 raise 300"), "1", "fold", None, None),
        (play(deal([1000] * 3), "3 raise 300"), "1", "all_in", None, None),
        (play(deal([200, 1000, 1000]), "3 raise 300"), "1", "all_in", None, None),
        (play(deal([1000] * 3), "3 raise 300"), "1", "raise", 301, "departs_raise"),
        (play(deal([1000] * 3, structure="pot-limit"), "3 raise 300"), "1", "raise", 1000, None),
        (play(deal([5000] * 3, structure="pot-limit"), "3 raise 300"), "1", "all_in", None, "departs_raise"),
        (play(deal([1000, 1000, 1000, 130]), "3 call", "4 raise 130", "1 call", "2 call"), "3", "raise", 500,
         "departs_call"),
    ],
)  # fmt: skip
def test_what_the_law_would_have_made_of_it_is_said_where_it_is_another_thing(hand, seat, action, to, code):
    departs = overrule(hand, hand_law(hand), seat, action, to).ruling.departs
    assert (departs and departs.code) == code


def hand_law(hand):
    return load("dutch-half-bet" if hand.table.half else "tda-2024")
