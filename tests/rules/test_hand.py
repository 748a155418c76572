"""The betting machine: errors with their numbers, streets, antes, blinds, straddles, snapshots."""

from __future__ import annotations

import pytest

from tabled.model.hand import HandSetup, Limits, SeatSetup
from tabled.model.ruling import Faced
from tabled.rules import errors as e
from tabled.rules.hand import Hand, check_setup
from tabled.rules.overrule import overrule
from tests.rules.deal import deal, play, pots
from tests.rules.table import load

LAW = load("tda-2024")
FIXED = {"structure": "fixed-limit", "limits": {"small_bet": 10, "big_bet": 20, "raises_cap": 3}}


def setup(seats: str, **kw) -> HandSetup:
    """``"1 500 sb, 2 500 bb, 3 500"``; also ``100`` for a blind amount, ``+5`` an ante, ``~5`` dead money."""
    blinds = kw.pop("blinds", (5, 10))
    named = {"sb": blinds[0], "bb": blinds[1]} if blinds else {}
    out = []
    for part in seats.split(","):
        name, stack, *marks = part.split()
        ante = next((int(m[1:]) for m in marks if m.startswith("+")), 0)
        dead = next((int(m[1:]) for m in marks if m.startswith("~")), 0)
        blind = next((named.get(m) or int(m) for m in marks if m[0] not in "+~"), 0)
        out.append(SeatSetup(name, int(stack), ante, blind, dead))
    return HandSetup(hand_id="h1", seats=tuple(out), blinds=blinds, **kw)


def start(seats: str, law=LAW, **kw) -> Hand:
    return Hand.start(setup(seats, **kw), law)


@pytest.mark.parametrize(
    ("acts", "call", "error", "text"),
    [
        ((), lambda h: h.verify_check(), e.CannotCheck, "3 owes 100"),
        ((), lambda h: h.check(), e.CannotCheck, "3 owes 100"),
        ((), lambda h: h.verify_raise_to(100), e.NotARaise, "100 does not go over the bet of 100"),
        ((), lambda h: h.raise_to(199), e.TooSmall, "199 is under the smallest raise, 200, and is not all-in (1000)"),
        ((), lambda h: h.raise_to(1001), e.NotEnoughChips, "has 1000 in all and cannot raise to 1001"),
        (("3 call", "1 call"), lambda h: h.verify_call(), e.NothingToCall, "2 has 100 in and the bet is 100"),
        (("3 call", "1 call"), lambda h: h.call(), e.NothingToCall, "check"),
        (("3 fold", "1 fold"), lambda h: h.fold(), e.NotYourTurn, "nobody is to act, so nobody can fold"),
        (("3 fold", "1 fold"), lambda h: h.call(), e.NotYourTurn, "call"),
        (("3 fold", "1 fold"), lambda h: h.check(), e.NotYourTurn, "check"),
        (("3 fold", "1 fold"), lambda h: h.raise_to(200), e.NotYourTurn, "raise"),
        (("3 fold", "1 fold"), lambda h: h.deal_next_street(), e.StreetNotOver, "the hand is over"),
        ((), lambda h: h.deal_next_street(), e.StreetNotOver, "3 must still act"),
        ((), lambda h: h.close_street(), e.StreetNotOver, "3 must still act"),
        ((), lambda h: h.complete(), e.NothingToComplete, "no incomplete bet"),
        ((), lambda h: h.bring_in(), e.NoBringIn, "owes no bring-in"),
        ((), lambda h: h.stand_at(2000), e.NotEnoughChips, "2000 cannot stand"),
    ],
)  # fmt: skip
def test_what_is_not_allowed_says_the_numbers(acts, call, error, text):
    hand = play(deal([1000] * 3), *acts)
    before = hand.snapshot()
    with pytest.raises(error) as caught:
        call(hand)
    assert text in str(caught.value)
    assert hand.snapshot() == before


def test_pot_limit_maximum_is_enforced():
    hand = deal([1000] * 3, (5, 10), structure="pot-limit")
    with pytest.raises(e.TooLarge, match="36 is over the largest raise, 35"):
        hand.raise_to(36)
    play(hand, "3 raise 35")
    assert hand.faced("1").max_to == 35 + 35 + 5 + 10 + 30


def test_pot_limit_maximum_is_never_under_the_minimum():
    hand = play(deal([1000] * 3, (5, 10), structure="pot-limit"), "3 call", "1 call", "2 check", "street")
    assert hand.faced("1").max_to == 30
    hand = start("1 1000 sb, 2 1000, 3 1000", structure="pot-limit", blinds=(5, 100), button="3")
    assert hand.faced("2").max_to >= hand.faced("2").min_to


def test_fixed_limit_only_the_one_amount():
    hand = deal([500] * 3, (5, 10), **FIXED)
    for to in (19, 21, 30):
        assert not hand.can_raise_to(to)
    assert hand.can_raise_to(20)
    play(hand, "3 raise 20", "1 call", "2 call", "street", "1 bet 10", "2 call", "3 call", "street")
    assert hand.faced("1").min_to == 20
    play(hand, "1 bet 20")
    assert hand.faced("2").min_to == 40


def test_spread_limit_ranges():
    hand = deal([500] * 3, (1, 2), structure="spread-limit", limits={"min": 2, "max": 10})
    faced = hand.faced("3")
    assert (faced.min_to, faced.max_to) == (4, 12)
    play(hand, "3 raise 9")
    faced = hand.faced("1")
    assert (faced.min_to, faced.max_to) == (16, 19)
    play(hand, "1 call", "2 call", "street")
    assert (hand.faced("1").min_to, hand.faced("1").max_to) == (2, 10)


@pytest.mark.parametrize(
    ("big_from", "game", "units"),
    [(2, "holdem", [10, 10, 20, 20]), (2, "F2L3D", [10, 10, 20, 20]), (1, "single-draw", [10, 20])],
)
def test_the_big_bet_comes_when_the_game_says(big_from, game, units):
    hand = deal([5000] * 3, (5, 10), game=game, **FIXED)
    seen = [hand.full]
    play(hand, "3 call", "1 call", "2 check")
    while not hand.over:
        hand.deal_next_street()
        seen.append(hand.full)
        play(hand, "1 check", "2 check", "3 check")
    assert seen == units
    assert hand.street == len(units) - 1


def test_stud_has_five_streets_and_openers_by_cards():
    hand = deal(
        [500] * 3, (), antes=1, game="7stud", structure="fixed-limit", opener="2",
        limits={"small_bet": 10, "big_bet": 20, "bring_in": 3},
    )  # fmt: skip
    assert hand.to_act == "2"
    with pytest.raises(e.CannotCheck):
        hand.check()
    assert hand.faced("2").to_call == 0
    play(hand, "2 bring-in", "3 call", "1 complete", "2 call", "3 call", "street 3")
    assert hand.to_act == "3"
    units = []
    for opener in ("3", "1", "1", "2"):
        units.append(hand.full)
        while not hand.street_over:
            hand.check()
        if not hand.over:
            hand.deal_next_street(opener)
    assert units == [10, 20, 20, 20]
    assert hand.over


def test_stud_opener_may_complete_at_once_and_a_short_bring_in_keeps_the_price():
    def dealt(stack):
        return deal(
            [500, stack, 500], (), antes=1, game="7stud", structure="fixed-limit", opener="2",
            limits={"small_bet": 10, "big_bet": 20, "bring_in": 5},
        )  # fmt: skip

    hand = play(dealt(500), "2 raise 10")
    assert (hand.bet_to, hand.faced("3").min_to, hand.owes_bring_in) == (10, 20, False)
    hand = play(dealt(3), "2 bring-in")
    assert (hand.bet_of("2"), hand.faced("3").to_call, hand.faced("3").min_to) == (2, 5, 10)


# ---- antes, blinds, straddles -----------------------------------------------------------------------------------


def test_each_players_ante_is_layered_and_a_single_one_is_dead():
    hand = start("1 500 sb +5, 2 3 bb +5, 3 500 +5", button="3")
    assert hand.status_of("2") == "all_in"
    hand = start("1 500 sb, 2 500 bb +10, 3 12", button="3")
    assert hand.dead == 10
    play(hand, "3 call", "1 call", "2 check")
    assert pots(hand) == [(40, ("1", "2", "3"))]
    hand = start("1 500 sb +5, 2 500 bb +5, 3 4 +5", button="3")
    assert hand.stack_of("3") == 0
    play(hand, "1 call", "2 check")
    assert pots(hand) == [(12, ("1", "2", "3")), (22, ("1", "2"))]


def test_a_seat_too_short_for_both_posts_the_blind_first():
    hand = start("1 500 sb, 2 12 bb +10, 3 500", button="3")
    assert (hand.bet_of("2"), hand.dead) == (10, 2)
    hand = start("1 500 sb, 2 500 bb, 3 500, 4 13 bb +1 ~5", button="4")
    assert (hand.bet_of("4"), hand.stack_of("4"), hand.dead) == (10, 0, 3)


def test_a_late_small_blind_is_dead():
    hand = start("1 500 sb, 2 500 bb, 3 500, 4 500 bb ~5", button="4")
    assert hand.pot_total == 30
    assert hand.dead == 5
    assert hand.to_act == "3"
    play(hand, "3 fold")
    assert hand.faced("4").to_call == 0
    play(hand, "4 check", "1 fold")
    assert hand.to_act == "2"


def test_first_to_act_is_left_of_the_big_blind():
    assert start("1 500 sb, 2 500 bb, 3 500, 4 500", button="4").to_act == "3"
    assert start("1 500 bb, 2 500, 3 500", button="3").to_act == "2"  # dead small blind
    assert start("1 500 bb, 2 500 bb, 3 500", button="3").to_act == "2"  # and a late poster behind
    assert start("1 500 5, 2 500 5, 3 500", button="3", blinds=(5, 5)).to_act == "3"
    assert start("1 500, 2 500 sb, 3 500 bb", button="1").to_act == "1"
    assert start("1 500 sb, 2 500 bb").to_act == "1"  # no button named: heads-up the first seat has it
    assert start("1 500 sb, 2 500 bb", button="1").to_act == "1"
    assert start("1 500 sb, 2 500 bb, 3 500, 4 500", button="4", opener="4").to_act == "4"


def test_straddle_acts_last_and_sets_price_and_raise():
    hand = start("1 500 sb, 2 500 bb, 3 500 20, 4 500", button="4", straddle=20)
    assert (hand.to_act, hand.bet_to, hand.faced("4").min_to) == ("4", 20, 40)
    play(hand, "4 call", "1 fold", "2 fold")
    assert hand.to_act == "3"
    assert hand.faced("3").raise_open
    play(hand, "3 check")
    assert hand.street_over
    play(hand, "street")
    assert hand.faced("3").min_to == 10
    old = start("1 500 sb, 2 500 bb, 3 500 20, 4 500", load("wsop-live-2024"), button="4", straddle=20)
    assert old.faced("4").min_to == 30


def test_dead_small_blind_counts_in_the_pot_at_pot_limit():
    hand = start("1 500 bb, 2 500, 3 500", structure="pot-limit", button="3")
    assert hand.faced("2").max_to == 35
    assert start("1 500 sb, 2 500 4, 3 500", structure="pot-limit", button="3").faced("3").max_to == 35


def test_button_straddle_opens_left_of_the_button():
    assert start("1 500 sb, 2 500 bb, 3 500, 4 500 20", button="4", straddle=20).to_act == "1"


def test_short_blind_price_is_a_setting():
    by_post = LAW.with_values(short_blind_price="actual")
    assert start("1 500 sb, 2 7 bb, 3 500", by_post, button="3").faced("3").to_call == 7
    assert start("1 500 sb, 2 7 bb, 3 500", button="3").faced("3").to_call == 10


def test_alone_against_all_in_seats_the_price_is_what_can_be_lost():
    hand = start("1 500 sb, 2 7 bb, 3 500", button="3")
    play(hand, "3 fold")
    assert hand.faced("1").to_call == 2
    play(hand, "1 call")
    assert hand.over
    assert hand.uncalled() is None
    hand = start("1 500 sb, 2 4 bb, 3 500", button="3")
    play(hand, "3 fold")
    assert hand.to_act is None
    assert hand.close_street() == ("1", 1)


def test_no_blinds_games_open_left_of_the_button():
    hand = start("1 500 +5, 2 500 +5, 3 500 +5", button="3", blinds=())
    assert (hand.to_act, hand.bet_to) == ("1", 0)
    assert hand.option("1").check
    play(hand, "1 check", "2 bet 1")
    assert hand.faced("3").min_to == 2


@pytest.mark.parametrize(
    ("broken", "text"),
    [
        (setup("1 500 sb"), "needs at least 2"),
        (setup("1 500 sb, 1 500 bb"), "named twice"),
        (setup("1 500 sb, 2 0 bb"), "no chips"),
        (setup("1 -5 sb, 2 500 bb"), "stack of seat 1 is -5"),
        (setup("1 50 +-5 sb, 2 500 bb"), "negative amount"),
        (setup("1 500 sb, 2 500 bb", button="9"), "the button '9' is no seat"),
        (setup("1 500 sb, 2 500 bb", structure="fixed-limit"), "limits.small_bet"),
        (setup("1 500 sb, 2 500 bb", structure="spread-limit"), "limits.min and limits.max"),
        (
            setup("1 500, 2 500", game="7stud", structure="fixed-limit", limits=Limits(small_bet=2, bring_in=1)),
            "opener",
        ),
        (setup(",".join(f"{n} 5" for n in range(24))), "at most 23"),
        (setup("1 500 sb, 2 500 bb", opener="9"), "the opener '9' is no seat"),
    ],
)
def test_a_set_up_that_cannot_be_dealt(broken, text):
    with pytest.raises(e.SetupError, match=text):
        check_setup(broken)


def test_snapshots_and_views_follow_the_hand():
    hand = deal([1000] * 3)
    view = hand.view()
    assert (view.to_act, view.bet_to, view.min_raise_to, view.street_over) == ("3", 100, 200, False)
    assert [s.bet for s in view.seats] == [50, 100, 0]
    twin = hand.copy()
    play(twin, "3 raise 300")
    assert twin != hand
    assert hand != "a hand"
    assert twin.view().seats[2].stack == 700
    assert hand.view() == view
    hand.set_line_chips("1", (50,))
    assert hand.copy().line_chips == {0: (50,)}


def test_line_chips_end_with_the_street():
    hand = deal([1000] * 3)
    hand.set_line_chips("2", (100,))
    play(hand, "3 call", "1 call", "2 check")
    hand.close_street()
    assert hand.line_chips == {}
    assert hand.bet == [0, 0, 0]
    assert hand.uncalled() is None


def test_hand_is_over_on_the_last_street_or_when_one_is_left():
    hand = play(deal([1000] * 3), "3 fold", "1 fold")
    assert hand.over
    hand = play(deal([1000, 1000]), "2 call", "1 check")
    for _ in range(3):
        assert not hand.over
        play(hand, "street", "1 check", "2 check")
    assert hand.over
    with pytest.raises(e.StreetNotOver):
        hand.deal_next_street()


def test_cap_is_lifted_heads_up_as_the_profile_says():
    def capped(law, n):
        hand = deal([5000] * n, (5, 10), load(law), **FIXED)
        if n == 3:
            play(hand, "3 fold", "1 call", "2 check", "street", "1 bet 10", "2 raise 20", "1 raise 30", "2 raise 40")
        else:
            play(hand, "2 call", "1 check", "street", "1 bet 10", "2 raise 20", "1 raise 30", "2 raise 40")
        return not hand.can_raise_to(50)

    assert capped("tda-2024", 3)
    assert not capped("tda-2024", 2)
    assert not capped("roberts", 3)
    assert capped("wsop-2026", 3)


@pytest.mark.parametrize("lift", ["street", "before_cap"])
def test_three_who_still_bet_lift_no_cap(lift):
    hand = deal([5000] * 3, (5, 10), load("roberts").with_values(cap_heads_up=lift), **FIXED)
    play(hand, "3 call", "1 call", "2 check", "street", "1 bet 10", "2 raise 20", "3 raise 30", "1 raise 40")
    assert hand.capped()
    play(hand, "2 call", "3 fold")  # two are left when the raises are used up
    assert hand.capped()


# ---- what can be asked of a hand ------------------------------------------------------------------------------------


def test_the_last_street_is_over_when_all_have_acted_and_not_before():
    hand = play(deal([1000, 1000]), "2 call", "1 check")
    for _ in range(2):
        play(hand, "street", "1 check", "2 check")
    play(hand, "street")
    assert (hand.to_act, hand.over) == ("1", False)
    play(hand, "1 check")
    assert (hand.to_act, hand.over) == ("2", False)
    play(hand, "2 check")
    assert hand.over


def test_a_hand_is_not_over_while_the_only_seat_with_chips_owes_something():
    hand = play(deal([1000, 300]), "2 raise 300")
    assert (hand.to_act, hand.over, hand.n_in) == ("1", False, 1)
    play(hand, "1 call")
    assert hand.over


def test_nothing_is_uncalled_while_a_seat_must_act():
    hand = play(deal([1000] * 3), "3 raise 400")
    assert (hand.to_act, hand.uncalled()) == ("1", None)
    play(hand, "1 fold", "2 fold")
    assert hand.uncalled() == ("3", 300)


def test_what_a_seat_faces_that_may_not_raise_is_no_range():
    hand = play(deal([1000, 1000, 1000, 150]), "3 call", "4 raise 150", "1 call", "2 call")
    assert hand.faced("3") == Faced(50, 0, 0, raise_open=False)
    hand = play(deal([1000, 130, 1000]), "3 call", "1 call", "2 raise 130", "3 call")
    assert hand.faced("1") == Faced(30, 0, 0, raise_open=False)
    hand = play(deal([1000, 300]), "2 raise 300", "1 call")
    assert hand.faced("1") == Faced(0, 0, 0, raise_open=False)


def test_a_bet_over_what_the_last_opponent_has_owes_nothing():
    hand = play(deal([1000, 200], (50, 100)), "2 call", "1 raise 500", "2 call")
    assert hand.faced("1") == Faced(0, 0, 0, raise_open=False)  # 500 in against 200
    assert hand.uncalled() == ("1", 300)


@pytest.mark.parametrize(("stack", "open_"), [(499, False), (500, False), (501, True)])
def test_a_raise_can_be_made_only_over_what_somebody_left_could_put_in(stack, open_):
    hand = play(deal([500, 1000, stack, 5000], (50, 100)), "3 fold", "4 fold", "1 raise 500")
    assert not hand.faced("2").raise_open
    hand = play(deal([5000, 5000, 500, stack], (50, 100)), "3 raise 500", "4 fold", "1 fold")
    assert not hand.faced("2").raise_open
    hand = play(deal([stack, 500, 5000], (50, 100)), "3 call", "1 call", "2 raise 500")
    assert (hand.to_act, hand.faced("3").raise_open) == ("3", open_)


def test_who_is_left_alone_by_folds_owes_the_folded_nothing():
    """The big blind has 40 of 100; seat 3 raised and the floor takes its hand away: the small blind's 50 cover it."""
    hand = play(deal([1000, 40, 1000]), "3 raise 300")
    assert hand.to_act == "1"
    alone = overrule(hand, LAW, "3", "fold").after
    assert (alone.to_act, alone.faced("1").to_call, alone.over) == (None, 0, True)
    hand = play(deal([1000, 1000, 1000]), "3 raise 300", "1 fold")
    alone = overrule(hand, LAW, "3", "fold").after
    assert (alone.to_act, alone.price(1)) == (None, 0)


SHORT = ("3 raise 20", "4 fold", "1 raise 25")  # 5 more, all-in


@pytest.mark.parametrize(
    ("structure", "acts", "to", "error"),
    [
        ("fixed-limit", (), 21, e.TooLarge),
        ("fixed-limit", (), 19, e.TooSmall),
        ("fixed-limit", (), 10, e.NotARaise),
        ("fixed-limit", ("3 raise 20", "4 raise 30", "1 fold", "2 raise 40"), 50, e.RaisesCapped),
        ("pot-limit", SHORT, 30, e.TooSmall),  # the next is 35
        ("spread-limit", SHORT, 30, e.TooSmall),
        ("no-limit", SHORT, 30, e.TooSmall),
    ],
)
def test_no_raise_is_taken_that_the_structure_does_not_allow(structure, acts, to, error):
    limits = {"small_bet": 10, "big_bet": 20, "raises_cap": 3, "min": 10, "max": 50}
    hand = play(deal([25, 500, 500, 500], (5, 10), "dutch-full-bet", structure=structure, limits=limits), *acts)
    before = hand.snapshot()
    with pytest.raises(error):
        hand.raise_to(to)
    assert hand.snapshot() == before


def test_an_amount_that_stands_is_a_raise_only_over_the_bet():
    hand = play(deal([1000] * 3), "3 call", "1 call")
    same = hand.copy()
    same.stand_at(100)
    assert (same.to_act, same.bets, same.bet) == (None, 1, [100, 100, 100])
    hand.stand_at(130)
    assert (hand.to_act, hand.bets, hand.bet_to, hand.stack_of("2")) == ("3", 2, 130, 870)
    assert (hand.pot_total, hand.faced("3").min_to) == (330, 230)
    all_in = play(deal([1000] * 3), "3 call", "1 call")
    all_in.stand_at(1000)
    assert (all_in.status_of("2"), all_in.bet_to) == ("all_in", 1000)
    for to in (99, 1001):
        other = play(deal([1000] * 3), "3 call", "1 call")
        with pytest.raises(e.NotEnoughChips):
            other.stand_at(to)


def test_what_nobody_called_goes_back_to_its_stack():
    hand = play(deal([1000] * 3), "3 raise 400", "1 fold", "2 fold")
    assert hand.close_street() == ("3", 300)
    assert (hand.stack, hand.pot_total, pots(hand)) == ([950, 900, 900], 250, [(250, ("3",))])
    assert (hand.bet, hand.uncalled()) == ([0, 0, 0], None)


def test_a_street_is_not_closed_while_the_first_seat_must_act():
    hand = play(deal([1000] * 3), "3 call")
    assert hand.to_act == "1"
    with pytest.raises(e.StreetNotOver):
        hand.close_street()


def test_a_new_street_begins_anew():
    hand = play(deal([1000] * 3), "3 raise 300", "1 call", "2 call", "street")
    assert (hand.to_act, hand.bet_to, hand.base, hand.full, hand.bets, hand.street) == ("1", 0, 0, 100, 0, 1)
    play(hand, "1 check", "2 bet 100", "3 raise 200")
    assert hand.faced("1").min_to == 300
    assert hand.may_raise(0)


@pytest.mark.parametrize(("stack", "status"), [(30, "all_in"), (40, "all_in"), (41, "in")])
def test_a_completion_is_as_much_as_the_stack_makes(stack, status):
    hand = deal([500, stack + 5, 500], (), antes=5, game="7stud", structure="fixed-limit", opener="1",
                limits={"small_bet": 40, "big_bet": 80, "bring_in": 10})  # fmt: skip
    play(hand, "1 bring-in")
    assert not hand.owes_bring_in
    play(hand, "2 complete")
    assert (hand.bet_of("2"), hand.status_of("2")) == (min(stack, 40), status)
    assert hand.pot_total == 15 + 10 + min(stack, 40)


def test_roberts_3_4_two_who_can_still_bet_lift_the_cap_also_behind_an_all_in():
    law = load("roberts")
    hand = deal([5000, 5000, 30], (5, 10), law, **FIXED)
    play(hand, "3 raise 20", "1 raise 30", "2 call", "3 call")  # the third is all-in: two can still bet
    play(hand, "street")
    for seat, to in (("1", 10), ("2", 20), ("1", 30), ("2", 40), ("1", 50)):
        play(hand, f"{seat} raise {to}")
    assert hand.bets == 5


def test_a_seat_alone_against_all_ins_is_asked_only_for_what_it_owes():
    hand = play(deal([1000, 100, 1000]), "3 fold", "1 call")  # the big blind of 100 is all it had
    assert (hand.to_act, hand.over) == (None, True)
    hand = play(deal([1000, 101, 1000]), "3 fold", "1 call")
    assert hand.to_act == "2"
