"""A street taken up in the middle: who answered what, how many raises there were, and what cannot be so together."""

from __future__ import annotations

import pytest

from tabled.model.hand import HandSetup, Limits, SeatSetup
from tabled.rules.errors import SetupError
from tabled.rules.hand import Hand, check_setup
from tabled.rules.situation import Prior, SeatNow, Situation, contradiction, hand_from
from tabled.rules.table import MAX_AMOUNT, MAX_SEATS, Table
from tests.rules.table import load, profile, situation

TDA = load("tda-2024")
FIXED = {"structure": "fixed-limit", "limits": {"small_bet": 20, "big_bet": 40, "raises_cap": 3}, "blinds": (10, 20)}


def taken(*args, law=TDA, **kw) -> Hand:
    return hand_from(situation(*args, **kw), law)


# ---- who answered what ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("where", "levels", "seen", "heard"),
    [
        # (bet_to, base, full, bets, raises)
        (situation("A 900/100* B 700/300* C 700/300* D 1000", "D", 300, 200, prior="A bet 100, B raise 300, C call"),
         (300, 300, 200, 2, 2), [100, 300, 300, -1], [1, 2, 2]),
        (situation("A 900/100* B 0/150* C 850/150*", "A", 150, 100, prior="A bet 100, B all-in 150, C call"),
         (150, 100, 100, 1, 1), [100, 150, 150], [1, 1, 1]),
        (situation("A 1000* B 1000", "B", prior="A check"), (0, 0, 100, 0, 0), [0, -1], [0]),
        (situation("A 500/500* B 1000", "B", 500, 500), (500, 500, 500, 1, 1), [500, -1], [1]),  # no act told of it
        (situation("A 900/100* B 700/300* C 1000", "C", 300, 200, street="preflop", prior="A call"),
         (300, 300, 200, 2, 2), [100, 300, -1], [1, 2]),
        (situation("A 900/100* SB 950/50* BB 900/100*", "SB", 100, 100, street="preflop",
               prior="SB post 50, BB post 100, A call"),
         (100, 100, 100, 1, 1), [100, -1, -1], [1]),  # a post is no act
        (situation("S 800/200* A 800/200* SB 950/50 BB 900/100", "SB", 200, 100, street="preflop", straddle=200,
               prior="SB post 50, BB post 100, S straddle 200, A call"),
         (200, 200, 200, 1, 1), [-1, 200, -1, -1], [0, 1]),
        (situation("A 800/200* SB 950/50* BB 900/100", "BB", 200, 100, street="preflop",
               prior="SB post 50, BB post 100, A raise 200, SB call"),
         (200, 200, 100, 2, 2), [200, 200, -1], [2, 2]),
        (situation("A 990/10* B 960/40* C 1000", "C", 40, 40, street="third", game="7stud", structure="fixed-limit",
               blinds=(), limits={"small_bet": 40, "big_bet": 80, "bring_in": 10}, prior="A bring-in, B complete 40"),
         (40, 40, 40, 1, 1), [10, 40, -1], [0, 1]),
        (situation("A 960/40* B 1000", "B", 40, 40, prior="A bet 40", street="turn", **FIXED),
         (40, 40, 40, 1, 1), [40, -1], [1]),
        (situation("A 960/20* B 1000", "B", 20, 20, prior="A bet 20", street="turn", **FIXED),
         (20, 20, 20, 1, 1), [20, -1], [1]),  # the size that is told holds
        (situation("A 4500/500* B 4800/200* C 5000", "C", 500, 500, prior="A bet 500, B put 200"),
         (500, 500, 500, 1, 1), [500, 200, -1], [1, 1]),
        (situation("A 1000* B 900/100* C 1000", "C", 100, 100, prior="A check, B bet 100"),
         (100, 100, 100, 1, 1), [0, 100, -1], [0, 1]),  # who checked has not heard of the bet
        (situation("A 850/150* B 1000", "B", 150, 100, street="preflop"),
         (150, 150, 100, 2, 2), [150, -1], [2]),  # a bet that no act told of counts, whatever its size
        (situation("A 900/100* B 900/100* C 1000", "C", 100, 100, prior="A bet 100, B bet 100"),
         (100, 100, 100, 1, 1), [100, 100, -1], [1, 1]),  # the same again is a call, whatever it is called
        (situation("A 1000 B 1000", "A", street="preflop", **FIXED), (0, 0, 20, 1, 1), [-1, -1], []),
    ],
)  # fmt: skip
def test_each_seat_has_answered_the_level_at_which_it_acted(where, levels, seen, heard):
    hand = hand_from(where, TDA)
    assert (hand.bet_to, hand.base, hand.full, hand.bets, hand.raises) == levels
    assert hand.seen == seen
    acted = [h for h, s in zip(hand.heard, hand.seen, strict=True) if s >= 0]
    assert acted == heard[len(heard) - len(acted) :]


def test_seats_and_pot_are_as_they_are_told():
    hand = taken("A 900/100* B 0/100* C 1000! D 1000", "D", 100, pot=250, prior="A bet 100, B call")
    assert (hand.stack, hand.bet, hand.paid) == ([900, 0, 1000, 1000], [100, 100, 0, 0], [100, 100, 0, 0])
    assert (hand.pot_total, hand.dead, hand.n_in, hand.n_live) == (450, 250, 2, 3)
    assert [hand.status_of(s) for s in "ABCD"] == ["in", "all_in", "folded", "in"]


@pytest.mark.parametrize(
    ("law", "who", "prior", "began", "lifted"),
    [
        ("street", "A 900/100* B 1000", "A bet 100", None, True),
        ("street", "A 900/100* B 1000 C 1000", "A bet 100", None, False),
        ("street", "A 900/100* B 1000 C 1000!", "A bet 100, C fold", None, False),
        ("street", "A 900/100* B 1000 C 1000!", "A bet 100", None, True),  # folded before the street
        ("street", "A 900/100* B 1000 C 1000!", "A bet 100, C fold", True, True),
        ("street", "A 900/100* B 1000", "A bet 100", False, False),
        ("street", "A 900/100* B 1000 C 1000 D 1000!", "A bet 100, D fold", None, False),
        ("event", "A 900/100* B 1000", "A bet 100", None, False),  # how many were dealt in is not known
        ("before_cap", "A 900/100* B 1000 C 1000!", "A bet 100, C fold", None, True),
        ("before_cap", "A 900/100* B 1000 C 1000", "A bet 100", None, False),
        ("before_cap", "A 900/80* B 900/60* C 0/0!", "A bet 20, B raise 40, A raise 60, B raise 80, C fold", None,
         False),
        ("kept", "A 900/100* B 1000", "A bet 100", None, False),
    ],
)  # fmt: skip
def test_the_cap_of_a_street_that_two_began(law, who, prior, began, lifted):
    where = situation(who, "B", 100 if "100" in who else 80, prior=prior, began_heads_up=began, **FIXED)
    assert hand_from(where, profile("tda-2024", cap_heads_up=law)).capped_lifted is lifted


@pytest.mark.parametrize(
    ("where", "text"),
    [
        (situation("A 100 B 100", "Z"), "to_act names 'Z', which is no seat"),
        (situation("A 100 B 100", "A", prior="Z check"), "prior names 'Z', which is no seat"),
        (Situation(seats=(SeatNow(seat="A", stack=-5, line=10), SeatNow(seat="B", stack=10))), "seat A has a negative"),
        (Situation(seats=(SeatNow(seat="A", stack=10), SeatNow(seat="B", stack=10, line=-5))), "seat B has a negative"),
    ],
)
def test_a_seat_that_is_not_there_or_below_nothing_is_named(where, text):
    with pytest.raises(SetupError, match=text):
        hand_from(where, TDA)


@pytest.mark.parametrize(
    ("who", "prior", "dead", "missing"),
    [
        ("A 1000 SB 970/30 BB 940/60", "SB post 30, BB post 60", False, 60),
        ("A 1000 SB 950/50 BB 900/100", "SB post 50, BB post 100", False, 0),
        (
            "A 900/100* SB 900/100* BB 940/60",
            "SB post 30, BB post 60, A call, SB call",
            False,
            60,
        ),  # posted, then acted
        ("A 900/100* SB 970/30 BB 940/60", "A call 100, SB post 30, BB post 60", False, 60),  # a call is no post
        ("S 800/200 SB 970/30 BB 940/60", "S post 200, SB post 30, BB post 60", False, 60),  # nor more than a blind
        (
            "A 900/100* SB 0/30 BB 900/100",
            "SB all-in 30, BB post 100, A call",
            False,
            20,
        ),  # a blind with the last chips
        ("A 0/60* SB 950/50* BB 900/100", "BB post 100, A all-in 60", False, 0),  # an act, no blind
        ("A 0/60* BB 900/100", "A all-in 60, BB post 100", False, 0),
        ("A 1000 BB 900/100", "BB post 100", False, 0),
        ("A 1000 BB 900/100", "BB post 100", True, 50),
        ("A 1000 BB 940/60", "BB post 60", True, 90),
    ],
)
def test_what_short_blinds_leave_the_pot_under_the_nominal_ones(who, prior, dead, missing):
    law = profile("tda-2024", pot_preflop="nominal")
    where = situation(who, None, 100, 100, street="preflop", prior=prior, dead_small_blind=dead)
    assert hand_from(where, law).phantom == missing
    assert hand_from(where, profile("tda-2024", pot_preflop="actual")).phantom == 0


def test_after_the_street_the_first_seat_of_the_order_opens_the_next():
    hand = taken("A 900/100* B 900/100* C 900/100*", None, 100, 100, prior="A bet 100, B call, C call")
    assert (hand.actor, hand.to_act) == (-1, None)
    hand.deal_next_street()
    assert (hand.to_act, hand.capped_lifted) == ("A", False)


def test_how_many_were_dealt_in_is_not_guessed_on_later_streets():
    law = profile("tda-2024", cap_heads_up="event")
    hand = hand_from(situation("A 900/100* B 900/100*", None, 100, 100, prior="A bet 100, B call", **FIXED), law)
    hand.deal_next_street()
    assert (hand.table.two_dealt, hand.capped_lifted) == (False, False)


def test_what_is_not_told_is_nothing_and_what_is_told_stays():
    a, b = SeatNow(seat="A", stack=10), SeatNow(seat="B", stack=20)
    assert (a.line, a.line_chips, a.acted, a.status) == (0, None, False, "in")
    told = Situation(seats=(a, b))
    assert (told.street, told.chip_unit, told.pot_before, told.bet_to, told.last_full_raise) == (1, 1, 0, 0, 0)
    assert (told.bet_of_round, told.began_heads_up, told.dead_small_blind, told.to_act) == (0, None, False, None)
    for value, name in ((a, "line"), (Prior("A", "check"), "to"), (told, "bet_to")):
        with pytest.raises(AttributeError, match="immutable"):
            setattr(value, name, 5)
    with pytest.raises(TypeError):
        SeatNow("A", 10)  # type: ignore[misc]  # that it fails is what is tested


# ---- what cannot be so together --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("where", "text"),
    [
        (situation("A 900/100* B 1000", "B", 100, 100), ""),
        (situation("A 900/100* B 1000", "B", 101, 100), "bet_to is 101, and no seat has more than 100 on its line"),
        (situation("A 900/100* B 1000", "B", 99, 99), "a seat has 100 on its line, and bet_to is 99"),
        (situation("A 900/100* B 800/200*", "A", 100, 100, prior="A bet 100, B put 200"), ""),
        (situation("A 1000 SB 950/50 BB 940/60", "A", 100, 100, street="preflop"), ""),  # a short blind
        (situation("A 1000 SB 950/50 BB 940/60", "A", 101, 100, street="preflop"), "bet_to is 101"),
        (situation("A 1000 SB 950/50 BB 940/60", "A", 100, 100), "bet_to is 100, and no seat has more than 60"),
        (situation("S 850/150 A 1000 B 900/100", "A", 200, 100, street="preflop", straddle=200), ""),
        (situation("A 900/100* B 1000", "B", 100, 101), "last_full_raise 101 is more than the whole bet of 100"),
        (situation("A 0/100* B 1000", "B", 100, 200, prior="A all-in 100"), ""),  # a short opening all-in
        (situation("A 0/100* B 1000", "B", 100, 200, prior="A bet 100"), ""),
        (situation("A 1000 B 1000", "A", 0, 100), ""),
        (situation("A 980/20* B 1000", "B", 20, 40, **FIXED), ""),  # the limit says the size
        (situation("A 900/100* B 1000!", "B", 100, 100), "to_act is B, who is folded"),
        (situation("A 900/100* B 0/50*", "B", 100, 100), "to_act is B, who is all-in"),
        (situation("A 900/100* B 0", "B", 100, 100), "to_act is B, who is all-in"),
        (situation("A 900/100* B 1", "B", 100, 100), ""),
        (
            situation("A 900/100* B 1000", "B", 99, 99, prior="A bet 100"),
            "a seat has 100 on its line, and bet_to is 99",
        ),
        (
            situation("A 900/100* B 1000", "B", 100, 101, prior="A bet 100"),
            "last_full_raise 101 is more than the whole",
        ),
        (situation("A 9/1* B 10", "B", 1, 2), "last_full_raise 2 is more than the whole bet of 1"),
        (situation("A 10 B 10", "A", 1, 1), "bet_to is 1, and no seat has more than 0 on its line"),
        (situation("A 10 B 10", "A", 1, 1, street="preflop", blinds=()), "bet_to is 1, and no seat has more than 0"),
        (situation("", None, 1, 1), "bet_to is 1, and no seat has more than 0"),
    ],
)
def test_a_set_up_that_contradicts_itself_says_what_to_put_right(where, text):
    found = contradiction(where)
    assert found.startswith(text) if text else found == ""


# ---- what stays fixed during a hand ----------------------------------------------------------------------------------


def table(law=TDA, n: int = 3, stack: int = 500, **kw) -> Table:
    seats = tuple(SeatSetup(str(i + 1), stack) for i in range(n))
    return Table(HandSetup(hand_id="t", seats=seats, **{"blinds": (5, 10), **kw}), law)


def test_amounts_that_are_not_given_follow_from_the_others():
    assert (table().small_blind, table().big_blind, table().min_bet) == (5, 10, 10)
    assert (table(blinds=(5,)).small_blind, table(blinds=(5,)).big_blind) == (5, 5)
    assert (table(blinds=()).min_bet, table(blinds=(), chip_unit=25).min_bet) == (1, 25)
    assert table(profile("tda-2024", min_bet="sb")).min_bet == 5
    assert table(profile("tda-2024", min_bet="sb"), blinds=(0, 10)).min_bet == 1
    limits = {"structure": "fixed-limit", "limits": Limits(small_bet=20)}
    assert [table(**limits).unit(n) for n in range(4)] == [20, 20, 40, 40]
    assert table(structure="fixed-limit", limits=Limits(small_bet=20, big_bet=30)).unit(2) == 30
    assert table(**limits).cap == 4
    assert table(structure="fixed-limit", limits=Limits(small_bet=20, raises_cap=2)).cap == 2
    spread = {"structure": "spread-limit", "blinds": (1, 2)}
    assert table(limits=Limits(min=4, max=20), **spread).unit(0) == 4
    assert table(limits=Limits(max=20), **spread).unit(0) == 2
    assert table(chip_unit=25).chip_unit == 25
    assert table(profile("tda-2024", chip_unit=100), chip_unit=25).chip_unit == 100


@pytest.mark.parametrize(
    ("n", "button", "first"), [(2, None, 1), (2, "1", 1), (2, "2", 0), (3, None, 0), (3, "1", 1), (3, "3", 0)]
)
def test_the_seat_left_of_the_button_is_first(n, button, first):
    assert table(n=n, button=button).first == first


def test_completion_is_of_limit_and_spread_games_by_the_half_bet_rule():
    half = load("dutch-half-bet")
    fixed = {"structure": "fixed-limit", "limits": Limits(small_bet=20)}
    spread = {"structure": "spread-limit", "limits": Limits(max=20)}
    assert [table(half, **kw).completion for kw in (fixed, spread, {}, {"structure": "pot-limit"})] == [
        True, True, False, False,
    ]  # fmt: skip
    assert not table(load("dutch-full-bet"), **fixed).completion
    assert not table(profile("dutch-half-bet", completion="never"), **fixed).completion


def test_as_many_seats_as_a_deck_can_deal_and_no_more():
    seats = tuple(SeatSetup(str(n), 100) for n in range(MAX_SEATS + 1))
    check_setup(HandSetup(hand_id="t", seats=seats[:-1], blinds=(1, 2)))
    for wrong, text in ((seats, "24 seats; at most 23"), (seats[:1], r"1 seat\(s\)"), ((), r"0 seat\(s\)")):
        with pytest.raises(SetupError, match=f"hand t: {text}"):
            check_setup(HandSetup(hand_id="t", seats=wrong, blinds=(1, 2)))
    check_setup(HandSetup(hand_id="t", seats=seats[:2], blinds=(1, 2)))


@pytest.mark.parametrize("key", ["small_bet", "big_bet", "raises_cap", "min", "max", "bring_in"])
def test_no_limit_is_below_nothing_or_beyond_counting(key):
    assert table(limits=Limits(**{key: MAX_AMOUNT})).n == 3
    for amount in (-1, MAX_AMOUNT + 1):
        with pytest.raises(SetupError, match=f"limits.{key} is {amount}; it must be from 0 to {MAX_AMOUNT}"):
            table(limits=Limits(**{key: amount}))


def test_blinds_that_are_too_many_are_counted_and_a_straddle_stands_without_them():
    with pytest.raises(SetupError, match="blinds names 4 amounts"):
        table(blinds=(1, 2, 3, -4))
    assert table(blinds=(), straddle=1).big_blind == 0
