"""The order of decision: whose turn, what was before what, what was done already, and what cannot have been."""

from __future__ import annotations

import pytest

from tabled.rules.errors import IllegalAct, NotARaise, NotEnoughChips
from tabled.rules.judge import judge
from tabled.rules.situation import hand_from
from tests.rules.table import act, facing, judged, load, opening, profile, rule, short, situation, topics

TDA = "tda-2024"


def option(**kw):
    return situation(
        "A 4900/100* SB 4900/100* BB 4900/100[100]", "BB", 100, 100, street="preflop", pot=0,
        prior="SB post 50, BB post 100, A call, SB call", **kw,
    )  # fmt: skip


# ---- who cannot act -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("state", "code"), [("5000!", "not_in_hand"), ("0/300*", "all_in_already")])
def test_chips_of_a_seat_that_has_no_act_left_go_back(state, code):
    done = judged(TDA, situation(f"A 4500/500* B {state} C 5000", "C", 500, prior="A bet 500"), "B put 500 100")
    assert (done.ruling.action, done.ruling.reason.code, done.after) == ("pending", code, None)
    assert (done.ruling.back, done.ruling.back_chips, done.ruling.next_seat) == (600, (500, 100), "C")


def test_a_seat_that_was_not_dealt_in_is_named():
    hand = hand_from(facing(), load(TDA))
    with pytest.raises(ValueError, match="seat 'Z' was not dealt in; the seats are A, B, C"):
        judge(hand, load(TDA), [act("Z tap")])
    with pytest.raises(ValueError, match="seat '' was not dealt in"):
        judge(hand, load(TDA), [])


# ---- words against chips --------------------------------------------------------------------------------------------


def test_se_7_5_1_in_the_same_instant_needs_chips():
    assert rule("swedish", facing(), "B say raise simultaneous", "B put 1000").floor
    for acts in (("B say raise simultaneous",), ("B say raise", "B put 1000")):
        assert not rule("swedish", facing(), *acts).floor


def test_where_the_word_must_come_first_one_in_the_same_instant_is_late():
    law = profile("swedish", simultaneous="word_must_precede")
    assert rule(law, facing(), "B say raise simultaneous", "B put 1000").action == "call"
    assert rule(law, facing(), "B say raise", "B put 1000").to == 1000
    assert rule(law, facing(), "B say raise simultaneous").to == 1000  # there are no chips to come before
    shrinks = rule(law, facing(), "B say call simultaneous", "B put 500 500")
    assert (shrinks.to, shrinks.floor) == (1000, True)


def test_where_the_mouth_always_wins_a_late_word_counts_if_none_was_first():
    law = profile("swedish", speech_vs_chips="mouth_always")
    assert rule(law, facing(), "B put 1000", "B say raise after").to == 1000
    assert rule(law, facing(), "B say call", "B put 500 500", "B say raise after").action == "call"
    assert rule("swedish", facing(), "B put 1000", "B say raise after").action == "call"


@pytest.mark.parametrize(
    ("word", "chips", "floor"),
    [
        ("call", "500 500", True), ("check", "500 500", True), ("fold", "500 500", True),
        ("raise", "500 500", False), ("call", "500", False), ("call", "1000", False),
    ],
)  # fmt: skip
def test_se_7_5_1_a_later_word_that_would_shrink_a_raise_is_shown_to_the_floor(word, chips, floor):
    ruling = rule("swedish", facing(), f"B put {chips}", f"B say {word} after")
    assert ruling.to == (1000 if chips == "500 500" else 500)
    assert ruling.floor is floor


def test_an_unclear_word_beside_chips_leaves_it_to_the_chips():
    assert short(rule(TDA, facing(), "B say other hm", "B put 500")) == ("call", 500, 0, 0)
    assert rule(TDA, facing(), "B say other hm").action == "floor"
    assert rule(TDA, opening(), "A say other hm").options[0].check
    assert not rule(TDA, facing(), "B say other hm").options[0].check


def test_a_late_word_without_chips_is_the_word():
    assert short(rule(TDA, facing(), "B say raise after")) == ("raise", 1000, 1000, 0)
    assert rule(TDA, facing(), "B say other after hm").action == "floor"


@pytest.mark.parametrize(
    ("where", "acts", "to"),
    [
        (opening(blinds=(200, 400), pot=4800), ("A put 5000", "A say number 5 after"), 500),
        (opening(blinds=(200, 400), pot=4800), ("A put 1000 1000", "A say number 5 after"), 2000),  # several chips
        (opening(blinds=(200, 400), pot=4800), ("A put 5000", "A say bet 5 after"), 5000),
        (opening(blinds=(200, 400), pot=4800), ("A put 5000", "A say number 900 after"), 5000),  # not too short
        (facing(400, blinds=(200, 400), pot=5000), ("B put 5000", "B say number 8 after"), 400),
    ],
)
def test_wsop_60_a_number_speaks_for_one_opening_chip_only(where, acts, to):
    assert rule(profile(TDA, late_short_number="pot_test"), where, *acts).to == to


# ---- chips taken back, dropped, pushed short ------------------------------------------------------------------------


def test_tda_46_b_taking_back_binds_only_facing_a_bet():
    where = situation("A 4900/100*[100] B 4500/500* C 5000", "A", 500, 400, prior="A bet 100, B raise 500")
    ruling = rule(TDA, where, "A pull 100")
    assert (ruling.reason.code, ruling.reason.params["to"]) == ("lifted_pending", 500)
    short_ = situation("A 200/100*[100] B 4500/500* C 5000", "A", 500, 400, prior="A bet 100, B raise 500")
    ruling = rule(TDA, short_, "A pull 100")
    assert (ruling.reason.code, ruling.reason.params["to"]) == ("lifted_pending_call", 300)
    free = profile(TDA, prior_pull_back="free")
    for law, at, seat in ((TDA, option(), "BB"), (free, where, "A")):
        assert rule(law, at, f"{seat} pull 100").reason.code == "pending"
        assert rule(law, at, f"{seat} pull 100", f"{seat} cards").action == "fold"


def test_dropped_chips_are_for_the_floor_with_what_the_seat_may_still_do():
    (mine,) = rule(TDA, facing(), "B put 500 dropped").options
    assert (mine.check, mine.call_to, mine.raise_min_to) == (False, 500, 1000)
    (mine,) = rule(TDA, opening(), "A put 500 dropped").options
    assert (mine.check, mine.raise_min_to) == (True, 100)
    closed = situation("A 400/100* B 0/150* C 350/150*", "A", 150, 100, prior="A bet 100, B all-in 150, C call")
    (mine,) = rule(TDA, closed, "A put 100 dropped").options
    assert (mine.call_to, mine.raise_min_to) == (150, None)


@pytest.mark.parametrize(
    ("values", "ruled", "code"),
    [
        ({}, ("floor", None, 0, 0), "floor_short_push"),
        ({"push_short_of_line": "free"}, ("pending", None, 0, 0), "pending"),
        ({"push_short_of_line": "binds"}, ("raise", 1000, 1000, 0), "raise"),
        ({"bind": "line"}, ("pending", None, 0, 0), "pending"),
        ({"bind": "release"}, ("pending", None, 0, 0), "pending"),
    ],
)
def test_se_7_7_a_push_that_went_back_before_the_line(values, ruled, code):
    ruling = rule(profile("swedish", **values), facing(), "B push 500 500 short", "B pull 500 500")
    assert (short(ruling), ruling.reason.code) == (ruled, code)


# ---- acts that are ruled already ------------------------------------------------------------------------------------

LIMIT = {"structure": "fixed-limit", "limits": {"small_bet": 20, "big_bet": 40, "raises_cap": 3}, "blinds": (10, 20)}
SHORT = situation("A 0/5* B 500 C 500", "B", 5, 20, prior="A all-in 5", **LIMIT)


@pytest.mark.parametrize(
    ("where", "did", "ruled"),
    [
        (facing(), "B did fold", ("fold", 0, 0, 0)),
        (facing(), "B did check", ("call_or_fold", None, 0, 0)),
        (facing(), "B did call", ("call", 500, 0, 0)),
        (opening(), "A did call", ("check", 0, 0, 0)),
        (opening(), "A did bet 100", ("bet", 100, 0, 0)),
        (opening(), "A did bet 60", ("bet", 100, 40, 0)),
        (facing(), "B did raise 1000", ("raise", 1000, 0, 0)),
        (facing(), "B did raise 600", ("raise", 1000, 400, 0)),
        (facing(stack=300), "B did all-in 300", ("all_in", 300, 0, 0)),
        (facing(stack=300), "B did raise 300", ("all_in", 300, 0, 0)),
        (facing(stack=700), "B did all_in", ("all_in", 700, 0, 0)),
        (SHORT, "B did complete 20", ("complete", 20, 0, 0)),
        (SHORT, "B did complete", ("complete", 20, 0, 0)),
        (SHORT, "B did raise 20", ("complete", 20, 0, 0)),
    ],
)
def test_an_act_that_was_ruled_before_is_what_it_was(where, did, ruled):
    ruling = rule("dutch-half-bet", where, did.replace("all-in", "all_in"))
    assert short(ruling) == ruled


def test_an_all_in_of_no_more_than_the_call_is_a_call():
    ruling = rule(TDA, facing(stack=500), "B did all_in")
    assert (ruling.verb, ruling.reason.code) == ("call", "all_in_call")
    assert "reopen" not in topics(TDA, facing(stack=500), "B did all_in")
    assert "reopen" in topics(TDA, facing(stack=501), "B did all_in")


def test_nl_completion_is_cited_for_one_that_was_ruled_before():
    assert "NL completion" in rule("dutch-half-bet", SHORT, "B did complete 20").cite


@pytest.mark.parametrize(
    ("did", "error", "text"),
    [
        ("B did post 50", IllegalAct, "a post comes before the acts"),
        ("B did raise", IllegalAct, 'a raise needs "to"'),
        ("B did complete", IllegalAct, 'a complete needs "to"'),
        ("B did raise 5001", NotEnoughChips, "has 5000 in all and cannot raise to 5001"),
        ("B did all_in 5001", NotEnoughChips, "cannot all in to 5001"),
        ("B did all_in 4999", IllegalAct, "all-in is 5000, not 4999"),
        ("B did raise 500", NotARaise, "500 is no raise over the bet of 500"),
        ("B did raise 499", NotARaise, "499 is no raise over the bet of 500"),
    ],
)
def test_an_act_that_cannot_have_been_says_why(did, error, text):
    with pytest.raises(error, match=text):
        rule(TDA, facing(), did)
