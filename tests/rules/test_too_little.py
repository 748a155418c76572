"""Too few chips: undercalls and what is forfeit (TDA 51), bets and raises under the minimum, and what is said."""

from __future__ import annotations

import pytest

from tests.rules.table import facing, profile, rule, short, situation

TDA = "tda-2024"


def raised(who: str = "A 9000/200* B 9000/800* C 9000 D 9000", turn: str = "C", **kw):
    return situation(who, turn, 800, 600, prior="A bet 200, B raise 800", **kw)


def choices(ruling):
    """What the floor may choose: the whole call, or so much forfeit with the hand."""
    assert ruling.reason.code == "floor_undercall"
    (call, fold) = ruling.candidates
    assert (call.action, fold.action, call.to) == ("call", "fold", ruling.reason.params["to"])
    return call.to, fold.reason.params["amount"]


# ---- TDA 51-B: the opening bet, or a raise ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("where", "open_"),
    [
        (facing(), True),
        (situation("A 5000* B 4500/500* C 5000 D 5000", "C", 500, prior="A check, B bet 500"), True),
        (situation("A 5000* B 4500/500* C 5000", "A", 500, prior="A check, B bet 500"), True),
        (situation("A 4500/500* B 0/700* C 5000", "C", 700, 500, prior="A bet 500, B all-in 700"), False),
        (situation("A 0/60* B 4840/160* C 5000", "C", 160, 100, prior="A all-in 60, B raise 160"), False),
        (situation("A 0/1* B 998/2* C 500", "C", 2, 2, blinds=(1, 2), prior="A all-in 1, B raise 2"), False),
        (situation("A 0/60* C 500 D 500", "C", 60, 100, prior="A all-in 60"), True),
        (
            situation(
                "A 0/150* C 500 SB 950/50 BB 900/100",
                "C",
                150,
                100,
                street="preflop",
                prior="SB post 50, BB post 100, A all-in 150",
            ),
            False,
        ),
        (raised(), False),
    ],
)
def test_tda_51_b_a_bet_is_the_opening_one_until_somebody_has_raised_it(where, open_):
    ruling = rule(TDA, where, f"{where.to_act} say number 1")
    if where.bet_to > 150:
        ruling = rule(TDA, where, f"{where.to_act} put 100 25")
    elif where.bet_to > 2:
        ruling = rule(TDA, where, f"{where.to_act} put 25 25")
    assert (ruling.action, ruling.floor) == (("call", False) if open_ else ("floor", True))


@pytest.mark.parametrize("law", ["dutch-full-bet", "dutch-half-bet"])
@pytest.mark.parametrize("all_in", [45, 60])
def test_tda_51_b_at_limit_an_all_in_over_the_bet_is_a_raise_of_it(law, all_in):
    where = situation(
        f"A 960/40* B 0/{all_in}* C 1000 D 1000", "C", all_in, 40, prior=f"A bet 40, B all-in {all_in}",
        structure="fixed-limit", limits={"small_bet": 40, "big_bet": 80}, blinds=(20, 40),
    )  # fmt: skip
    assert choices(rule(profile(law, undercall="opening_only"), where, "C put 5 5 5")) == (all_in, 15)


# ---- TDA 51-B: what is forfeit ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("chips", "forfeit"),
    [
        ("100 25", 125),  # under the bet of 200: all of it
        ("100 100", 200),
        ("100 100 25 25 25", 200),  # the bet's call, and 75 that are less than half of it
        ("100 100 25 25 25 5 5 5 1 1 1 1", 200),  # 299
        ("100 100 100", 300),  # half: it was meant
        ("500", 200),  # one chip would have been a call of 200
        ("500 100", 600),
    ],
)
def test_tda_51_b_what_was_meant_for_the_bet_before_the_raise_is_forfeit(chips, forfeit):
    assert choices(rule(TDA, raised(), f"C put {chips}")) == (800, forfeit)


@pytest.mark.parametrize(("chips", "forfeit"), [("25 25", 50), ("100", 100), ("100 100 100 25", 325)])
def test_tda_51_b_chips_of_an_earlier_bet_are_no_part_of_what_is_forfeit(chips, forfeit):
    """A bet 200 itself: its own level is none that it could mean to call."""
    where = raised("A 9000/200* B 9000/800* C 9000", "A")
    ruling = rule(TDA, where, f"A put {chips}")
    assert choices(ruling) == (800, forfeit)
    assert ruling.reason.params["chips"] == forfeit


def before_flop(who: str, turn: str):
    return situation(
        f"A 9000/200* B 9000/800* C 9000 SB 9000/50 BB 9000/100 {who}".strip(), turn, 800, 600, street="preflop", pot=0,
        prior="SB post 50, BB post 100, A raise 200, B raise 800",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("seat", "chips", "forfeit"),
    [
        ("C", "100 25", 100),  # the big blind's call
        ("C", "100 25 25", 150),
        ("C", "200", 200),  # one chip that is the bet
        ("C", "100 100 25", 200),  # the bet's call, not the blind's
        ("C", "500", 200),
        ("SB", "25 25 25", 50),  # 125 in all
        ("BB", "25 5", 30),  # the big blind's own level is no call of it
        ("BB", "100 25", 100),
    ],
)
def test_tda_51_b_before_the_flop_the_big_blind_may_have_been_meant(seat, chips, forfeit):
    assert choices(rule(TDA, before_flop("", seat), f"{seat} put {chips}")) == (800, forfeit)


def test_tda_51_b_on_the_flop_no_blind_can_be_meant():
    assert choices(rule(TDA, raised(blinds=(50, 100)), "C put 100 25")) == (800, 125)


# ---- under the minimum ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("acts", "ruled", "code"),
    [
        (("A put 25 5 5",), ("check", 0, 0, 35), "underbet_check"),
        (("A put 25 5 5 5 5 1 1 1 1",), ("check", 0, 0, 49), "underbet_check"),
        (("A put 25 25",), ("bet", 100, 50, 0), "bet_lifted"),
        (("A put 25",), ("check", 0, 0, 25), "underbet_check"),
        (("A say bet 25",), ("bet", 100, 100, 0), "bet_lifted"),
    ],
)
def test_where_half_of_the_smallest_bet_decides_less_is_a_check(acts, ruled, code):
    ruling = rule(profile(TDA, underbet_threshold="half"), situation("A 5000 B 5000 C 5000", "A"), *acts)
    assert (short(ruling), ruling.reason.code) == (ruled, code)


def option(law, *acts: str):
    where = situation(
        "A 4900/100* SB 4900/100* BB 4900/100[100]", "BB", 100, 100, street="preflop", pot=0,
        prior="SB post 50, BB post 100, A call, SB call",
    )  # fmt: skip
    return rule(law, where, *acts)


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"underraise_threshold": "call"}, "full"),
        ({"underraise_half_of": "bet"}, "bet"),
        ({"underraise_half_of": "raise"}, ""),
    ],
)
def test_too_small_a_raise_says_by_which_measure(values, said):
    law = profile(TDA, **values)
    tail = f"_{said}" if said else ""
    assert rule(law, facing(), "B put 500 100").reason.code == f"underraise_call{tail}"
    assert option(law, "BB put 5 5").reason.code == f"underraise_check{tail}"


def test_rrp_14_a_small_raise_is_for_the_floor_and_no_raise_at_all_is_not():
    law = profile("roberts", one_chip_bb_option="raise")
    assert option(law, "BB put 25 5").reason.code == "floor_small_raise"
    same = option(law, "BB pull 100", "BB put 50 50")
    assert (same.action, same.to, same.floor) == ("check", 100, False)


def test_a_call_fed_in_parts_is_a_call_and_no_undercall():
    """Facing a raise, fewer chips than the call would be for the floor."""
    for law in (TDA, "swedish"):
        for acts in (("C put 500 100", "C again", "C put 200"), ("C put 500 100 200",), ("C put 500 100", "C put 200")):
            ruling = rule(law, raised(), *acts)
            assert (short(ruling), ruling.reason.code, ruling.floor) == (("call", 800, 0, 0), "call", False)
    assert rule(TDA, raised(), "C put 500 100", "C again", "C put 100").action == "floor"


@pytest.mark.parametrize(
    ("prior", "line", "chip", "game"),
    [
        ("X all-in 5", 5, 20, {}),  # an opening all-in
        ("X bring-in 5, Y complete 20, Z all-in 25", 25, 40,
         {"game": "7stud", "street": "third", "blinds": ()}),  # over a completion
    ],
)  # fmt: skip
def test_nl_one_chip_of_just_the_completion_completes_the_bring_in_only(prior, line, chip, game):
    limits = {"small_bet": 20, "big_bet": 40, "raises_cap": 3, "bring_in": 5 if game else 0}
    seats = "X 0/5* B 500 C 500" if line == 5 else "X 495/5* Y 480/20* Z 0/25* B 500 C 500"
    where = situation(seats, "B", line, 20, prior=prior, structure="fixed-limit", limits=limits,
                      **{"blinds": (10, 20), **game})  # fmt: skip
    assert rule("dutch-half-bet", where, "B stage 5").options[0].complete_to == chip
    assert short(rule("dutch-half-bet", where, f"B put {chip}")) == ("call", line, 0, chip - line)
    bring_in = situation("X 495/5* B 500 C 500", "B", 5, 20, prior="X bring-in 5", structure="fixed-limit",
                         limits={**limits, "bring_in": 5}, game="7stud", street="third", blinds=())  # fmt: skip
    assert short(rule("dutch-half-bet", bring_in, "B put 20")) == ("complete", 20, 0, 0)
    assert short(rule("dutch-half-bet", bring_in, "B put 25")) == ("call", 5, 0, 20)


@pytest.mark.parametrize(
    ("chips", "ruled"), [("25", ("check", 100, 0, 25)), ("50", ("raise", 200, 50, 0)), ("100", ("raise", 200, 0, 0))]
)
def test_tda_44_one_chip_over_the_own_blind_goes_by_half_a_raise(chips, ruled):
    assert short(option(TDA, f"BB put {chips}")) == ruled


def test_tda_46_a_small_chip_for_change_that_makes_no_raise_is_a_call():
    """The old 1000 covers the call of 900; 25 more are less than half a raise, so there is nothing to ask."""
    where = situation(
        "BTN 9000/900* SB 4950/50! BB 9000/100[1000]", "BB", 900, 800, blinds=(50, 100), pot=0, street="preflop",
        prior="SB post 50, BB post 100, BTN raise 900, SB fold",
    )  # fmt: skip
    assert short(rule(TDA, where, "BB put 25 change")) == ("call", 900, 0, 125)
