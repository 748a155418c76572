"""What is accepted can be judged: a set-up is refused in words, or no act on it ever fails."""

from __future__ import annotations

import random
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tabled.model.hand import HandSetup, Limits, SeatSetup
from tabled.outlets.wording import announce
from tabled.rules.errors import IllegalAct, SetupError
from tabled.rules.games import game_of
from tabled.rules.hand import Hand, check_setup
from tabled.rules.judge import judge
from tabled.rules.overrule import overrule
from tabled.rules.table import MAX_AMOUNT
from tabled.shell.judge_cases import judge_case
from tabled.shell.judge_hands import judge_hand
from tabled.shell.profiles import names
from tests.rules import chance
from tests.rules.table import act, chips_of, load, rule, short, situation
from tests.rules.test_judge_command import CASE

PROFILES = [load(name) for name in names()]


def judged_to_the_end(rng: random.Random, setup: HandSetup) -> None:
    """Play the hand with acts by chance, an overrule now and then; every act gets a ruling and no chip is lost."""
    law = rng.choice(PROFILES)
    check_setup(setup)
    hand = Hand.start(setup, law)  # what passes the check can be dealt under every profile
    whole = sum(s.stack for s in setup.seats)
    for _ in range(20):
        assert chips_of(hand) == whole == hand.pot_total + sum(hand.stack)
        assert sum(p.amount for p in hand.pots()) == hand.pot_total
        assert min(hand.stack) >= 0
        seat = hand.to_act
        if seat is None:
            if hand.over:
                return
            hand.deal_next_street(rng.choice(hand.seats) if game_of(setup.game).bring_in else None)
            continue
        assert hand.status_of(seat) == "in"
        if rng.random() < 0.1 and not hand.owes_bring_in:
            hand = overruled(rng, hand, law, seat)
            continue
        judged = judge(hand, law, chance.gesture(rng, seat))
        ruling = judged.ruling
        assert set(announce(ruling)) == {"en", "sv", "nl"}
        assert min(ruling.add, ruling.back) == 0 <= max(ruling.add, ruling.back)
        if judged.after is not None:
            assert ruling.to == judged.after.bet_of(seat)
            hand = judged.after
        else:
            hand = passive(hand)


def overruled(rng, hand, law, seat):
    """The floor lets some amount stand, whatever the law says of it."""
    to = rng.randint(hand.bet_of(seat), hand.bet_of(seat) + hand.stack_of(seat))
    try:
        return overrule(hand, law, seat, "raise", to).after
    except IllegalAct:
        assert to <= hand.bet_to  # no raise at all: the floor is told to decide call or fold
        return passive(hand)


def passive(hand: Hand) -> Hand:
    hand = hand.copy()
    if hand.owes_bring_in:
        hand.bring_in()
    elif hand.faced(hand.to_act).to_call:
        hand.call()
    else:
        hand.check()
    return hand


@given(st.integers(0, 2**40))
@settings(max_examples=300, deadline=None)
def test_what_is_accepted_can_be_judged_to_the_end(seed):
    rng = random.Random(seed)
    setup = chance.set_up(rng)
    try:
        check_setup(setup)
    except SetupError:
        return
    judged_to_the_end(rng, setup)


@pytest.mark.parametrize("structure", chance.STRUCTURES)
def test_every_structure_is_among_them(structure):
    """The generator reaches every structure, with and without a bring-in; else the test above says nothing."""
    found = Counter()
    for seed in range(400):
        rng = random.Random(seed)
        setup = chance.set_up(rng)
        if setup.structure != structure:
            continue
        try:
            check_setup(setup)
        except SetupError:
            found["refused"] += 1
            continue
        found["stud" if setup.limits.bring_in and setup.game == "7stud" else "dealt"] += 1
        judged_to_the_end(rng, setup)
    assert min(found["refused"], found["stud"], found["dealt"]) > 3, found


def spread(big=2, straddle=None, post=None, game="holdem", opener=None, unit=1, **limits):
    seats = (SeatSetup("1", 100, blind=1), SeatSetup("2", 100, blind=big if post is None else post))
    return HandSetup(
        hand_id="h", seats=seats, blinds=(1, big), structure="spread-limit", straddle=straddle, game=game,
        opener=opener, chip_unit=unit, limits=Limits(**limits),
    )  # fmt: skip


def fixed(**limits):
    seats = (SeatSetup("1", 100), SeatSetup("2", 100))
    return HandSetup(
        hand_id="h", seats=seats, structure="fixed-limit", game="7stud", opener="1", limits=Limits(**limits)
    )


def plain(blinds=(1, 2), stack=100, **kw):
    return HandSetup(hand_id="h", seats=(SeatSetup("1", stack), SeatSetup("2", 100)), blinds=blinds, **kw)


@pytest.mark.parametrize(
    ("setup", "text"),
    [
        (spread(min=6, max=5), "limits.min 6 is over limits.max 5"),
        (spread(big=6, min=2, max=5), "the big blind 6 is over limits.max 5"),
        (spread(straddle=6, min=2, max=5), "the straddle 6 is over limits.max 5"),
        (spread(post=6, min=2, max=5), "the largest blind posted 6 is over limits.max 5"),
        (spread(bring_in=6, min=2, max=5, game="7stud", opener="1"), "limits.bring_in 6 is over limits.max 5"),
        (spread(unit=25, min=2, max=5), "chip_unit 25 is over limits.max 5"),
        (fixed(small_bet=10, big_bet=5), "limits.big_bet 5 is under limits.small_bet 10"),
        (fixed(small_bet=10, big_bet=20, bring_in=10), "limits.bring_in 10 must be under limits.small_bet 10"),
        (plain((2, 1)), "the small blind 2 is over the big blind 1"),
        (plain((1, 2, 4)), "blinds names 3 amounts"),
        (plain((-1, 2)), r"blinds\[0\] is -1"),
        (plain(straddle=2), "the straddle 2 is not over the big blind 2"),
        (plain(straddle=-4), "straddle is -4"),
        (plain(chip_unit=0), "chip_unit is 0"),
        (plain(game="hold-em"), "hand h: game 'hold-em' is not known; games are holdem, omaha, omaha8, "),
        (plain(game="x" * 999), f"game '{'x' * 40}' is not known"),
        (plain(stack=MAX_AMOUNT + 1), "the stack of seat 1 is 1000000000000001"),
        (plain(limits=Limits(raises_cap=-1)), "limits.raises_cap is -1"),
    ],
)
def test_a_set_up_that_would_fail_later_is_refused_at_once(setup, text):
    with pytest.raises(SetupError, match=text):
        check_setup(setup)


@pytest.mark.parametrize(
    "setup",
    [
        spread(min=5, max=5), spread(big=5, min=2, max=5), spread(straddle=5, min=2, max=5), spread(max=5),
        fixed(small_bet=10, big_bet=10, bring_in=9), fixed(small_bet=10), plain((2, 2)), plain((0, 2)), plain(()),
        plain(straddle=3), plain(stack=MAX_AMOUNT),
    ],
)  # fmt: skip
def test_a_set_up_on_the_boundary_is_dealt(setup):
    for law in PROFILES:
        judged_to_the_end(random.Random(law.name), setup)
        assert Hand.start(setup, law).to_act is not None


# ---- finds of the generator, each by itself -------------------------------------------------------------------------


def test_a_short_number_is_cut_to_the_limit_too():
    """ "Five" at 200/400 limit over a pot of thousands is a bet, and a bet is 400 there, not 500."""
    where = situation(
        "A 9000 B 9000", "A", street="turn", pot=9000, blinds=(100, 200), structure="fixed-limit",
        limits={"small_bet": 200, "big_bet": 400},
    )  # fmt: skip
    assert short(rule("tda-2024", where, "A say number 5")) == ("bet", 400, 400, 0)
    where = situation(
        "A 9000 B 9000", "A", pot=9000, structure="spread-limit", limits={"min": 100, "max": 300}, blinds=(50, 100)
    )
    assert short(rule("tda-2024", where, "A say number 5")) == ("bet", 300, 300, 0)


def test_a_short_number_by_a_seat_that_may_not_raise_is_a_check():
    hand = Hand.start(
        HandSetup(
            hand_id="h", blinds=(200, 400), button="3",
            seats=(SeatSetup("1", 400, blind=200), SeatSetup("2", 9000, blind=400), SeatSetup("3", 400)),
        ),
        load("tda-2024"),
    )  # fmt: skip
    hand.call(), hand.call()
    assert hand.street_over  # nobody is left to bet against
    where = situation("A 0/400 B 9000/400*", "B", 400, 400, pot=9000, street="flop", prior="B bet 400, A call 400")
    ruling = rule("tda-2024", where, "B say number 5")
    assert (ruling.action, ruling.to) == ("check", 400)


def stud(structure: str, chips: int = 500, **limits: int) -> Hand:
    return Hand.start(
        HandSetup(
            hand_id="h", game="7stud", structure=structure, opener="1",
            seats=(SeatSetup("1", chips, ante=1), SeatSetup("2", 500, ante=1), SeatSetup("3", 500, ante=1)),
            limits=Limits(**limits),
        ),
        load("tda-2024"),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("acts", "ruled"),
    [
        (("1 put 1",), ("bring_in", 1, 0, 0)),
        (("1 tap",), ("bring_in", 1, 1, 0)),
        (("1 put 5",), ("bet", 5, 0, 0)),
        (("1 put 1 1 1",), ("bet", 3, 0, 0)),
        (("1 put 5 5",), ("bet", 5, 0, 5)),
        (("1 say bet 4",), ("bet", 4, 4, 0)),
        (("1 say number 3",), ("bet", 3, 3, 0)),
        (("1 say raise",), ("bet", 2, 2, 0)),
        (("1 say raise 1",), ("bet", 2, 2, 0)),
        (("1 say raise", "1 put 5"), ("bet", 5, 0, 0)),
        (("1 say all-in",), ("bet", 5, 5, 0)),
    ],
)
def test_spread_limit_stud_the_low_card_may_open_for_any_amount_of_the_spread(acts, ruled):
    """1-5 stud, bring-in 1: there is no completion; who opens for more bets that much, up to 5."""
    hand = stud("spread-limit", min=1, max=5, bring_in=1)
    assert short(judge(hand, load("tda-2024"), [act(t) for t in acts]).ruling) == ruled


@pytest.mark.parametrize(
    ("act_", "code"),
    [("1 put 5", "bet"), ("1 say raise 1", "bet_lifted"), ("1 put 5 5", "bet_cut"), ("1 put 1 1", "bet")],
)
def test_spread_limit_stud_a_bet_that_is_just_allowed_is_neither_lifted_nor_cut(act_, code):
    hand = stud("spread-limit", min=1, max=5, bring_in=1)
    assert judge(hand, load("tda-2024"), [act(act_)]).ruling.reason.code == code


def test_spread_limit_stud_raises_over_the_bring_in_by_the_spread():
    hand = stud("spread-limit", min=1, max=5, bring_in=1)
    hand.bring_in()
    assert hand.option("2").complete_to is None  # one is no completion of one
    faced = hand.faced("2")
    assert (faced.to_call, faced.min_to, faced.max_to) == (1, 2, 6)


def test_pot_limit_stud_the_low_card_may_open_for_the_pot():
    hand = stud("pot-limit", bring_in=2)
    assert short(judge(hand, load("tda-2024"), [act("1 say pot")]).ruling) == ("bet", 3, 3, 0)
    assert short(judge(hand, load("tda-2024"), [act("1 put 25")]).ruling) == ("bet", 3, 0, 22)


def test_a_last_chip_under_the_bring_in_does_not_lower_it():
    hand = stud("fixed-limit", chips=4, small_bet=10, big_bet=20, bring_in=5)
    judged = judge(hand, load("tda-2024"), [act("1 say all-in")])
    assert short(judged.ruling) == ("all_in", 3, 3, 0)
    assert judged.after.faced("2").to_call == 5


def test_spread_limit_a_raise_over_a_blind_is_at_least_the_smallest_of_the_spread():
    hand = Hand.start(spread(min=4, max=10), load("tda-2024"))
    assert hand.faced("1").min_to == 6


def test_spread_limit_an_amount_over_the_spread_that_stands_leaves_a_legal_raise():
    hand = Hand.start(spread(min=2, max=5), load("tda-2024"))
    hand.stand_at(42)
    faced = hand.faced("2")
    assert (faced.min_to, faced.max_to) == (47, 47)
    assert short(judge(hand, load("tda-2024"), [act("2 say raise")]).ruling) == ("raise", 47, 45, 0)


@pytest.mark.parametrize(("game", "rounds"), [("omaha-8", 4), ("7stud-8", 5), ("2-7-single-draw", 2), ("F2L3D", 4)])
def test_a_game_has_its_own_streets(game, rounds):
    assert Hand.start(plain(game=game), load("tda-2024")).table.rounds == rounds


def test_a_case_and_a_hand_of_a_game_that_is_not_known_are_refused():
    with pytest.raises(SetupError, match="game 'plo6' is not known; games are"):
        judge_case({**CASE, "setup": {**CASE["setup"], "game": "plo6"}}, load("tda-2024"))
    record = {"hand": "x", "variant": "plo6", "structure": "no-limit", "stacks": [100, 100], "events": []}
    with pytest.raises(ValueError, match="game 'plo6' is not known; games are"):
        judge_hand(record, load("tda-2024"))
