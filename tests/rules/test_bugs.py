"""Faults that real engines had: the situation, and the value that is right.  Each test is named after its row."""

from __future__ import annotations

import pytest

from tabled.rules.errors import NotEnoughChips, RaiseClosed, RaisesCapped
from tabled.rules.opening import newcomer_posts
from tabled.rules.pots import share
from tests.rules.deal import deal, play, pots
from tests.rules.table import load, rule, situation

FIXED = {"structure": "fixed-limit", "limits": {"small_bet": 10, "big_bet": 20, "raises_cap": 3}}


def test_b01_a_full_raise_all_in_is_no_part_of_the_short_ones():
    hand = play(deal([19, 200, 16, 200], (1, 2)), "3 raise 16", "4 call", "1 raise 19", "2 call")
    assert hand.to_act == "4"
    faced = hand.faced("4")
    assert (faced.to_call, faced.raise_open) == (3, False)
    with pytest.raises(RaiseClosed, match="3 more is no full raise of 14"):
        hand.verify_raise_to(33)


def test_b02_minimum_raise_is_not_cut_to_the_opponents_stack():
    hand = play(deal([200, 1000], (10, 20)), "2 raise 100", "1 raise 180")
    assert hand.faced("2").min_to == 260
    play(hand, "2 raise 260", "1 call")
    assert hand.uncalled() == ("2", 60)


def test_b07_more_than_the_call_and_less_than_the_raise_may_go_all_in():
    hand = play(deal([10000, 10000, 10000, 350]), "3 raise 300")
    faced = hand.faced("4")
    assert (faced.raise_open, faced.min_to, faced.max_to) == (True, 500, 350)
    assert hand.can_raise_to(350)
    assert not hand.can_raise_to(349)


def test_b08_antes_are_in_the_pot():
    assert deal([100, 100, 100], (5, 10), antes=5).pot_total == 30


def test_b09_an_ante_is_no_part_of_the_bet():
    hand = deal([100, 100, 100], (5, 10), antes=5)
    play(hand, "3 fold")
    hand = deal([100, 100, 100], (5, 10), antes=5)
    stack = hand.stack_of("3")
    assert stack == 95
    play(hand, "3 raise 20")
    assert stack - hand.stack_of("3") == 20


def test_b11_a_call_with_chips_left_is_not_all_in():
    hand = play(deal([70, 130], (5, 10)), "2 raise 60", "1 call")
    assert hand.stack_of("1") == 10
    assert hand.status_of("1") == "in"


@pytest.mark.parametrize(
    ("stacks", "blinds", "acts"),
    [
        ([50, 50, 500], (5, 10), ("3 raise 50", "1 call", "2 call")),  # b12
        ([200, 400], (10, 20), ("2 raise 200", "1 call")),  # b30
        ([100, 100, 500], (5, 10), ("3 raise 100", "1 call", "2 call")),  # b39
    ],
)
def test_b12_b30_b39_nobody_bets_against_all_in_seats(stacks, blinds, acts):
    hand = play(deal(stacks, blinds), *acts)
    assert hand.street_over
    assert hand.over
    play(hand, "street")
    assert hand.to_act is None


def test_b14_minimum_raise_adds_the_last_raise_not_the_bet():
    assert play(deal([500] * 4, (5, 10)), "3 raise 30").faced("4").min_to == 50


def test_b17_equal_all_ins_make_one_pot():
    hand = play(deal([1000] * 3), "3 raise 1000", "1 call", "2 call")
    assert pots(hand) == [(3000, ("1", "2", "3"))]


def test_b18_a_short_all_in_reopens_nothing():
    hand = deal([140, 150, 100, 80], (2, 5))
    play(hand, "3 call", "4 call", "1 call", "2 check", "street", "1 check", "2 bet 10", "3 raise 60")
    play(hand, "4 raise 75", "1 call", "2 fold")
    assert hand.to_act == "3"
    assert hand.stack_of("3") == 35
    assert not hand.faced("3").raise_open


def test_b19_amounts_are_raise_to():
    hand = play(deal([500] * 3, (5, 10)), "3 raise 50")
    assert hand.bet_to == 50
    assert hand.bet_of("3") == 50


def test_b20_a_bet_over_half_the_stack_can_be_raised_all_in():
    hand = deal([39, 510], (1, 2))
    play(hand, "2 raise 10", "1 call", "street", "1 check", "2 check", "street", "1 check", "2 check", "street")
    play(hand, "1 check", "2 bet 22")
    faced = hand.faced("1")
    assert (faced.raise_open, faced.max_to) == (True, 29)
    assert [to for to in range(23, 40) if hand.can_raise_to(to)] == [29]


def test_b21_pot_raise_counts_the_blinds_and_the_call():
    assert deal([1000] * 6, (5, 10), structure="pot-limit").faced("3").max_to == 35


def test_b24_a_capped_street_offers_no_raise():
    hand = play(deal([500] * 3, (5, 10), **FIXED), "3 raise 20", "1 raise 30", "2 raise 40")
    assert hand.option("3").raise_min_to is None
    with pytest.raises(RaisesCapped, match="3 raises"):
        hand.raise_to(50)


def test_b27_minimum_after_a_reraise():
    assert play(deal([5000] * 4), "3 raise 300", "4 raise 900").faced("1").min_to == 1500


def test_b29_more_to_put_in_and_totals_are_two_things():
    faced = play(deal([200, 200], (1, 2)), "2 call").faced("1")
    assert (faced.to_call, faced.min_to) == (0, 4)


def test_b32_a_raise_must_be_answered():
    hand = play(deal([1880, 2000], (60, 120)), "2 raise 240", "1 raise 1880")
    assert hand.to_act == "2"
    assert hand.faced("2").to_call == 1640


def test_b33_an_all_in_seat_keeps_its_pot():
    hand = play(deal([1000, 1000, 100], (25, 50)), "3 raise 100", "1 call", "2 call", "street", "1 bet 200", "2 call")
    assert pots(hand) == [(300, ("1", "2", "3")), (400, ("1", "2"))]


def test_b36_each_pot_is_shared_on_its_own():
    hand = play(deal([20, 50, 50], (1, 2)), "3 raise 50", "1 call", "2 call")
    assert pots(hand) == [(60, ("1", "2", "3")), (60, ("2", "3"))]
    assert share(60, ["1"], ["1", "2", "3"]) == {"1": 60}
    assert share(60, ["2", "3"], ["1", "2", "3"]) == {"2": 30, "3": 30}


def test_b38_an_unmatched_bet_is_answered_though_only_one_can_bet():
    hand = play(deal([100, 500], (5, 10)), "2 call", "1 check", "street", "1 bet 90")
    assert hand.to_act == "2"
    assert hand.faced("2").to_call == 90


def test_b42_everyone_after_the_raiser_answers():
    assert play(deal([500] * 3, (10, 20)), "3 raise 40", "1 fold").to_act == "2"


def test_b44_a_bet_is_capped_by_the_stack():
    hand = play(deal([6, 594], (1, 2)), "2 call")
    assert hand.to_act == "1"
    with pytest.raises(NotEnoughChips, match="has 6"):
        hand.raise_to(10)
    play(hand, "1 raise 6")
    assert (hand.bet_of("1"), hand.stack_of("1")) == (6, 0)


def test_b45_odd_chips_are_per_pot():
    hand = deal([10000] * 10)
    play(hand, "3 fold", "4 fold", "5 raise 200", "6 fold", "7 fold", "8 call", "9 raise 1000", "10 fold")
    play(hand, "1 raise 10000", "2 fold", "5 call", "8 fold", "9 call")
    assert pots(hand) == [(30300, ("1", "5", "9"))]
    assert share(30300, ["1", "5", "9"], hand.seats) == {"1": 10100, "5": 10100, "9": 10100}
    assert share(101, ["5", "9"], hand.seats) == {"5": 51, "9": 50}
    assert share(125, ["5", "9"], hand.seats, unit=25) == {"5": 75, "9": 50}
    assert share(110, ["1", "5", "9"], hand.seats, unit=25) == {"1": 50, "5": 35, "9": 25}


def test_b47_uncalled_part_goes_back_and_there_is_no_side_pot():
    hand = play(deal([1203, 1000, 898, 898], (1, 2)), "3 raise 898", "4 call", "1 raise 1203", "2 fold")
    assert hand.close_street() == ("1", 305)
    assert pots(hand) == [(2696, ("1", "3", "4"))]


def test_b48_short_blind_is_all_in_and_the_price_stays():
    hand = deal([100, 1, 100], (1, 2))
    assert (hand.stack_of("2"), hand.status_of("2")) == (0, "all_in")
    assert hand.faced("3").to_call == 2


def test_b50_uncalled_excess_is_returned_before_the_showdown():
    hand = play(deal([300, 500], (5, 10)), "2 raise 500", "1 call")
    assert hand.close_street() == ("2", 200)
    assert hand.pot_total == 600


def test_b51_b52_the_uncalled_bet_is_no_winnings():
    hand = play(deal([200, 200], (1, 2)), "2 raise 200", "1 fold")
    assert hand.close_street() == ("2", 198)
    assert hand.pot_total == 4
    hand = play(deal([200, 200], (1, 2)), "2 raise 20", "1 fold")
    assert hand.close_street() == ("2", 18)
    assert hand.pot_total == 4


def test_b55_any_whole_amount_from_the_minimum_is_a_raise():
    hand = deal([20000, 20000])
    assert [to for to in (199, 200, 250, 20000, 20001) if hand.can_raise_to(to)] == [200, 250, 20000]


def test_b61_pot_raise_is_the_pot_after_the_call():
    hand = play(deal([20000, 20000], structure="pot-limit"), "2 raise 300")
    assert hand.faced("1").max_to == 900


def test_b63_newcomer_posts_the_big_blind():
    assert newcomer_posts(load("tda-2024"), (50, 100)) == 100
    assert newcomer_posts(load("tda-2024").with_values(missed_blind="wait"), (50, 100)) == 0


def test_b64_b65_heads_up_the_button_posts_small_and_acts_first_then_last():
    hand = deal([200, 200], (1, 2))
    assert hand.to_act == "2"
    assert hand.bet_of("2") == 1
    play(hand, "2 call", "1 check", "street")
    assert hand.to_act == "1"


def test_b68_all_in_for_less_than_the_call_is_a_call():
    where = situation("1 35/5 2 490/10 3 400/100*", "1", 100, 90, blinds=(5, 10), street="preflop", prior="3 raise 100")
    r = rule("tda-2024", where, "1 push 25 10")
    assert (r.action, r.verb, r.to, r.full) == ("all_in", "call", 40, False)


def test_b69_chips_of_a_dead_layer_stay_in_the_pot_below():
    hand = play(deal([100, 500, 500], (5, 10)), "3 raise 100", "1 call", "2 call", "street", "2 bet 400", "3 call")
    hand.state[1] = hand.state[2] = 1  # both hands ruled dead
    assert pots(hand) == [(1100, ("1",))]


def test_l01_fixed_limit_is_not_pot_limit():
    faced = deal([500] * 4, (5, 10), game="FO/8", **FIXED).faced("3")
    assert (faced.min_to, faced.max_to) == (20, 20)


def test_l03_a_short_opening_all_in_reopens_nothing_for_checkers():
    hand = deal([5000, 130, 5000, 5000])
    play(hand, "3 call", "4 call", "1 call", "2 check", "street", "1 check", "2 bet 30", "3 call", "4 call")
    assert hand.to_act == "1"
    assert not hand.faced("1").raise_open


def test_l04_l08_a_short_big_blind_lowers_neither_price_nor_raise_nor_pot():
    faced = deal([5000, 30, 5000, 5000]).faced("3")
    assert (faced.to_call, faced.min_to) == (100, 200)
    assert deal([5000, 30, 5000, 5000], structure="pot-limit").faced("3").max_to == 350


def test_l06_fixed_limit_a_short_all_in_is_completed():
    hand = deal([500, 500, 23, 500], (5, 10), law="wsop-live-2026", **FIXED)
    play(hand, "3 call", "4 call", "1 call", "2 check", "street", "1 bet 10", "2 call", "3 raise 13")
    assert hand.option("4").complete_to == 20
    play(hand, "4 complete")
    assert hand.bet_to == 20


def test_l07_an_all_in_over_the_bring_in_is_completed():
    hand = deal(
        [501, 7, 501, 501], (), antes=1, game="F7S", structure="fixed-limit", opener="1",
        limits={"small_bet": 10, "big_bet": 20, "bring_in": 3},
    )  # fmt: skip
    play(hand, "1 bring-in", "2 raise 6")
    assert hand.option("3").complete_to == 10
    assert hand.faced("3").min_to == 10
