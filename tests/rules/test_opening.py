"""How a hand opens: antes and blinds, short ones and late ones, straddles, the first to act; and what the pots are."""

from __future__ import annotations

import pytest

from tabled.model.hand import HandSetup, Limits, SeatSetup
from tabled.rules.errors import SetupError
from tabled.rules.hand import Hand
from tabled.rules.opening import blind_seats, missing_blinds, newcomer_posts
from tabled.rules.overrule import overrule
from tabled.rules.pots import share
from tests.rules.deal import deal, play, pots
from tests.rules.table import load
from tests.rules.test_hand import LAW, start

BY_POST = LAW.with_values(short_blind_price="actual")


# ---- antes ----------------------------------------------------------------------------------------------------------


def test_antes_of_two_or_more_seats_build_side_pots():
    """Seat 2 has only the blind: the others' antes of 1 are a side pot."""
    hand = play(deal([100, 2, 100], (1, 2), antes=1), "3 call", "1 call")
    assert pots(hand) == [(6, ("1", "2", "3")), (2, ("1", "3"))]
    hand = deal([3, 100], (1, 2), antes=5)  # heads-up: 2 of blind and 1 of ante
    assert (hand.paid, hand.dead) == ([3, 6], 0)
    assert pots(hand) == [(6, ("1", "2")), (3, ("2",))]


def test_a_single_ante_is_dead():
    hand = deal([100, 100, 100], (1, 2), antes=[0, 0, 3])
    assert (hand.paid, hand.dead, hand.pot_total) == ([1, 2, 0], 3, 6)


def test_a_late_small_blind_is_dead_beside_antes_too():
    hand = start("1 500 sb +5, 2 500 bb +5, 3 500 bb +5 ~5", button="3")
    assert (hand.dead, hand.paid, hand.pot_total, hand.stack_of("3")) == (5, [10, 15, 15], 45, 480)
    assert sum(amount for amount, _ in pots(hand)) == 45


@pytest.mark.parametrize(("stack", "left", "status"), [(14, 0, "all_in"), (15, 0, "all_in"), (16, 1, "in")])
def test_who_can_just_post_is_all_in(stack, left, status):
    hand = start(f"1 500 sb, 2 {stack} bb +5, 3 500 +5, 4 500 +5", button="4")
    assert (hand.stack_of("2"), hand.status_of("2"), hand.n_in) == (left, status, 4 if status == "in" else 3)
    assert hand.bet_of("2") == 10


@pytest.mark.parametrize("mark", ["+-1", "~-1"])
def test_nobody_posts_less_than_nothing(mark):
    with pytest.raises(SetupError, match="seat 1 has a negative amount"):
        start(f"1 500 sb {mark}, 2 500 bb, 3 500")
    with pytest.raises(SetupError, match="seat 3 has a negative amount"):
        start("1 500 sb, 2 500 bb, 3 500 -1")


# ---- blinds ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("seats", "button", "blinds"),
    [
        ("1 500 sb, 2 500 bb, 3 500", "3", (0, 1)),
        ("1 500, 2 500 sb, 3 500 bb", "1", (1, 2)),
        ("1 500 bb, 2 500, 3 500 sb", "2", (2, 0)),
        ("1 500, 2 500 bb, 3 500", "3", (None, 1)),  # a dead small blind
        ("1 500 bb, 2 500 bb, 3 500", "3", (None, 0)),  # who posts behind the big blind posts late
        ("1 500 sb, 2 500 bb, 3 500 bb, 4 500", "4", (0, 1)),
        ("1 500 3, 2 500 bb, 3 500", "3", (0, 1)),  # short
        ("1 500, 2 500, 3 500", "3", (None, None)),
        ("1 500 bb, 2 500 sb", "2", (1, 0)),  # heads-up the button posts small
        ("1 500 sb, 2 500 bb", "1", (0, 1)),
        ("1 500 bb, 2 500", "2", (None, 0)),
        ("1 500, 2 500 bb", "1", (None, 1)),
    ],
)
def test_the_blinds_are_found_from_the_left_of_the_button(seats, button, blinds):
    assert blind_seats(start(seats, button=button)) == blinds


def test_blinds_of_one_size_are_a_small_and_a_big_one():
    assert blind_seats(start("1 500 5, 2 500 5, 3 500", button="3", blinds=(5, 5))) == (0, 1)


@pytest.mark.parametrize(("posted", "missing"), [((5, 10), 0), ((3, 10), 2), ((5, 4), 6), ((0, 10), 5), ((7, 12), 0)])
def test_tda_54_b_what_is_missing_of_the_nominal_blinds(posted, missing):
    small, big = posted
    assert missing_blinds(5, small, 10, big) == missing


def test_tda_54_b_a_short_blind_heads_up_does_not_shrink_the_pot():
    hand = start("1 4 bb, 2 500 sb", structure="pot-limit", button="2")
    assert (hand.phantom, hand.faced("2").to_call) == (6, 0)
    hand = start("1 500 bb, 2 3 sb", structure="pot-limit", button="2")
    assert hand.phantom == 2


def test_the_price_and_the_first_raise():
    def priced(seats: str, law=LAW, **kw):
        hand = start(seats, law, button="3", **kw)
        return hand.bet_to, hand.faced(hand.to_act).min_to

    assert priced("1 500 sb, 2 500 bb, 3 500") == (10, 20)
    assert priced("1 500 sb, 2 500 bb, 3 500", load("wsop-live-2024")) == (10, 20)
    assert priced("1 500 sb, 2 6 bb, 3 500") == (10, 20)
    assert priced("1 500 sb, 2 6 bb, 3 500", BY_POST) == (6, 16)
    assert priced("1 500 sb, 2 500 bb, 3 500 20", straddle=20) == (20, 40)
    assert priced("1 500 sb, 2 500 bb, 3 14 20", straddle=20) == (20, 40)  # all-in short of the straddle
    assert priced("1 500 sb, 2 500 bb, 3 14 20", BY_POST, straddle=20) == (20, 40)
    assert priced("1 500 sb, 2 500 bb, 3 500 20", load("wsop-live-2024"), straddle=20) == (20, 30)
    assert priced("1 500 1, 2 500 1, 3 500", blinds=(1, 1)) == (1, 2)
    assert priced("1 500, 2 500 10, 3 500", blinds=()) == (10, 20)  # no level named: the post is the bet
    spread = {"structure": "spread-limit", "limits": Limits(min=4, max=20)}
    assert priced("1 500 1, 2 500 2, 3 500", blinds=(1, 2), **spread) == (2, 6)
    fixed = {"structure": "fixed-limit", "limits": Limits(small_bet=10, big_bet=20)}
    assert priced("1 500 sb, 2 500 bb, 3 500", **fixed) == (10, 20)
    assert priced("1 500 sb, 2 500 bb, 3 500 20", straddle=20, **fixed) == (20, 30)


def test_the_blinds_are_the_first_bet_of_the_street():
    hand = start("1 500 sb, 2 500 bb, 3 500", button="3")
    assert (hand.bets, hand.base, hand.raises, hand.may_raise(1)) == (1, 10, 1, True)


def test_who_acts_first():
    assert start("1 500 sb, 2 500 bb, 3 500, 4 500", button="4", opener="1").to_act == "1"
    assert start("1 500 sb, 2 500 bb, 3 500 20, 4 500 40, 5 500", button="5", straddle=40).to_act == "5"
    assert start("1 500 sb, 2 500 bb, 3 500 20, 4 500 20, 5 500", button="5", straddle=20).to_act == "5"
    assert start("1 500 1, 2 500 1, 3 500 2, 4 500", button="4", blinds=(1, 1), straddle=2).to_act == "4"
    assert start("1 500, 2 500, 3 500 20", button="3", blinds=()).to_act == "1"
    assert start("1 500 10, 2 500 5, 3 500", button="3", blinds=()).to_act == "3"


@pytest.mark.parametrize("opener", ["1", "2", "3"])
def test_stud_the_low_card_owes_the_bring_in(opener):
    hand = deal([500] * 3, (), antes=1, game="7stud", structure="fixed-limit", opener=opener,
                limits={"small_bet": 10, "big_bet": 20, "bring_in": 3})  # fmt: skip
    assert (hand.to_act, hand.owes_bring_in, hand.bet_to) == (opener, True, 0)


def test_stud_nobody_owes_it_when_the_antes_took_all_chips():
    hand = deal([1] * 3, (), antes=1, game="7stud", structure="fixed-limit", opener="1",
                limits={"small_bet": 10, "big_bet": 20, "bring_in": 3})  # fmt: skip
    assert (hand.to_act, hand.owes_bring_in, hand.over) == (None, False, True)


def test_a_game_with_a_bring_in_and_blinds_is_opened_by_the_blinds():
    seats = (SeatSetup("1", 500, blind=5), SeatSetup("2", 500, blind=10), SeatSetup("3", 500))
    limits = Limits(small_bet=10, big_bet=20, bring_in=3)
    setup = HandSetup(hand_id="s", blinds=(5, 10), structure="fixed-limit", button="3", limits=limits, seats=seats)
    hand = Hand.start(setup, LAW)
    assert (hand.to_act, hand.owes_bring_in) == ("3", False)


def test_b63_a_newcomer_posts_the_big_blind_or_waits():
    assert newcomer_posts(LAW, (50, 100)) == 100
    assert newcomer_posts(LAW, (50,)) == 50
    assert newcomer_posts(LAW, ()) == 0
    assert newcomer_posts(LAW.with_values(missed_blind="wait"), (50, 100)) == 0


# ---- pots -----------------------------------------------------------------------------------------------------------


def test_the_pot_that_only_a_folded_seat_has_built_belongs_to_those_who_are_left():
    hand = play(start("1 500, 2 500, 3 500", button="3", blinds=()), "1 bet 100")
    hand = overrule(hand, LAW, "1", "fold").after
    assert (pots(hand), hand.pot_total) == ([(100, ("2", "3"))], 100)
    assert hand.uncalled() is None


def test_what_a_folded_seat_bet_over_all_others_stays_in_the_pot():
    hand = overrule(play(deal([1000, 40, 1000]), "3 raise 300"), LAW, "3", "fold").after
    assert hand.uncalled() is None  # it is no longer the folded seat's
    assert sum(amount for amount, _ in pots(hand)) == hand.pot_total == 390


@pytest.mark.parametrize(
    ("amount", "winners", "unit", "shares"),
    [
        (3, "123", 1, (1, 1, 1)),
        (4, "123", 1, (2, 1, 1)),
        (5, "123", 1, (2, 2, 1)),
        (100, "12", 25, (50, 50)),
        (75, "12", 25, (50, 25)),
        (80, "12", 25, (50, 30)),  # what is no whole chip goes behind the odd chip
        (10, "12", 25, (10, 0)),
        (7, "1", 5, (7,)),
        (0, "12", 1, (0, 0)),
    ],
)
def test_odd_chips_go_one_each_from_the_left_of_the_button(amount, winners, unit, shares):
    first = ["1", "2", "3"]
    assert tuple(share(amount, list(winners), first, unit).values()) == shares
    if unit == 1:
        assert tuple(share(amount, list(winners), first).values()) == shares


def test_a_pot_that_nobody_wins_is_a_mistake():
    with pytest.raises(ValueError, match="at least one winner"):
        share(10, [], ["1"])
