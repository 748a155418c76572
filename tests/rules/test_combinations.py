"""Laws and gestures crossed: what one profile says of another's favourite subject."""

from __future__ import annotations

import pytest

from tabled.shell.profiles import names
from tests.rules.table import facing, locked, open_to, profile, rule, short, situation

FIXED = {"structure": "fixed-limit", "limits": {"small_bet": 40, "big_bet": 80, "raises_cap": 3}, "blinds": (20, 40)}


@pytest.mark.parametrize("law", ["dutch-full-bet", "dutch-half-bet"])
def test_dutch_string_bet_keeps_the_first_motion(law):
    r = rule(law, facing(), "B put 500", "B again", "B put 500")
    assert short(r) == ("call", 500, 0, 500)
    r = rule(law, facing(100), "B put 100 100", "B again", "B put 500")
    assert short(r) == ("raise", 200, 0, 500)


@pytest.mark.parametrize("law", ["dutch-full-bet", "dutch-half-bet"])
def test_dutch_one_chip_is_a_call(law):
    assert short(rule(law, facing(), "B put 1000")) == ("call", 500, 0, 500)


def test_dutch_underraise_that_is_not_all_in_is_not_the_half_bet_rule():
    """Two half rules: lifting a raise that has chips behind, and reopening by one that has not."""
    for law in ("dutch-full-bet", "dutch-half-bet", "swedish"):
        r = rule(law, facing(), "B put 500 100 100 100")
        assert short(r) == ("raise", 1000, 200, 0)
    assert locked(rule("dutch-full-bet", facing(500, 800), "B push 500 100 100 100", "C did call 800")) == {"A"}
    assert open_to(rule("dutch-half-bet", facing(500, 800), "B push 500 100 100 100", "C did call 800")) == {"A"}
    assert locked(rule("swedish", facing(500, 800), "B push 500 100 100 100", "C did call 800")) == {"A"}


@pytest.mark.parametrize(("stack", "free"), [(59, set()), (60, {"A"})])
def test_swedish_fixed_limit_all_in_reopens_from_half(stack, free):
    where = situation(f"A 960/40* B {stack} C 1000", "B", 40, 40, prior="A bet 40", **FIXED)
    r = rule("swedish", where, f"B push 40 {stack - 40}", f"C did call {stack}")
    assert open_to(r) == free


def test_swedish_fixed_limit_raise_in_chips_is_the_limit():
    where = situation("A 960/40* B 1000 C 1000", "B", 40, 40, prior="A bet 40", **FIXED)
    assert short(rule("swedish", where, "B put 50 10")) == ("raise", 80, 20, 0)
    assert short(rule("swedish", where, "B put 50 5")) == ("call", 40, 0, 15)
    assert short(rule("swedish", where, "B put 100 100")) == ("raise", 80, 0, 120)
    assert short(rule("swedish", where, "B say raise 500")) == ("raise", 80, 80, 0)


def test_swedish_pot_limit_cuts_chips_words_and_all_ins():
    where = situation("A 4700/300* B 5000 C 5000", "B", 300, pot=600, structure="pot-limit", prior="A bet 300")
    for acts in (("B put 1000 1000",), ("B say raise 3000 to",), ("B say all-in",), ("B say pot",)):
        assert rule("swedish", where, *acts).to == 1500
    r = rule("swedish", where, "B put 1000 1000")
    assert (r.back, r.back_chips, r.change.amount) == (500, (), 500)


@pytest.mark.parametrize("law", names())
@pytest.mark.parametrize("structure", ["no-limit", "pot-limit", "fixed-limit", "spread-limit"])
def test_a_closed_seat_that_says_raise_calls(law, structure):
    """A bet, B went all-in for one more, C called: A faces one chip and has no raise under any law."""
    limits = {"fixed-limit": {"small_bet": 40, "big_bet": 80}, "spread-limit": {"min": 10, "max": 200}}.get(structure)
    where = situation(
        "A 960/40* B 0/41* C 959/41*", "A", 41, 40, prior="A bet 40, B all-in 41, C call", structure=structure,
        limits=limits, blinds=(20, 40),
    )  # fmt: skip
    for acts in (("A say raise",), ("A say raise 400 to",), ("A say all-in",), ("A say raise", "A put 100")):
        r = rule(law, where, *acts)
        assert (r.action, r.to) == ("call", 41)
    r = rule(law, where, "A put 100 100")
    assert (r.action, r.to, r.back) == ("call", 41, 199)
    assert rule(law, where, "A say raise").reason.code == "raise_closed"


@pytest.mark.parametrize("law", names())
def test_all_in_for_less_than_the_call_is_never_sent_back(law):
    for acts in (("B push 100 100 25",), ("B say all-in",), ("B say call",), ("B put 100 100 25",), ("B say raise",)):
        r = rule(law, facing(500, 225), *acts)
        assert (r.action, r.verb, r.to, r.back) == ("all_in", "call", 225, 0)
        assert r.call_to == 500


@pytest.mark.parametrize("law", names())
def test_nobody_may_raise_against_all_in_seats(law):
    where = situation("A 0/500* B 5000", "B", 500, prior="A all-in 500")
    r = rule(law, where, "B say raise 2000 to")
    assert (r.action, r.to) == ("call", 500)
    assert r.faced is not None
    assert not r.faced.raise_open
    where = situation("A 0/500* B 5000 C 400", "B", 500, prior="A all-in 500")
    assert rule(law, where, "B say all-in").to == 500


@pytest.mark.parametrize("law", names())
def test_straddler_keeps_its_option(law):
    where = situation(
        "S 980/20* A 980/20* SB 0/5! BB 0/10!", "S", 20, 0, blinds=(5, 10), straddle=20, street="preflop", pot=0,
        prior="SB post 5, BB post 10, S straddle 20, A call, SB fold, BB fold",
    )  # fmt: skip
    assert rule(law, where, "S tap").round_over
    assert rule(law, where, "S say raise 60 to").to == 60


@pytest.mark.parametrize("law", names())
def test_big_blind_keeps_its_option_against_limpers(law):
    where = situation(
        "A 3900/100* SB 3900/100* BB 3900/100", "BB", 100, 100, street="preflop", pot=0,
        prior="SB post 50, BB post 100, A call, SB call",
    )  # fmt: skip
    r = rule(law, where, "BB say raise 400 to")
    assert short(r) == ("raise", 400, 300, 0)
    assert open_to(r) == {"A", "SB"}
    assert rule(law, where, "BB tap").round_over
    assert short(rule(law, where, "BB put 100 100 100")) == ("raise", 400, 0, 0)


@pytest.mark.parametrize("law", names())
def test_option_small_raise_by_chips(law):
    where = situation(
        "A 3900/100* SB 3900/100* BB 3900/100", "BB", 100, 100, street="preflop", pot=0,
        prior="SB post 50, BB post 100, A call, SB call",
    )  # fmt: skip
    r = rule(law, where, "BB put 25 5 5")
    if law == "roberts":
        assert r.action == "floor"
    else:
        assert short(r) == ("check", 100, 0, 35)
        assert short(rule(law, where, "BB put 25 25")) == ("raise", 200, 50, 0)


@pytest.mark.parametrize("law", ["tda-2024", "swedish"])
@pytest.mark.parametrize("street", ["flop", "turn", "river"])
def test_the_street_changes_nothing_at_no_limit(law, street):
    assert short(rule(law, facing(street=street), "B put 1000")) == ("call", 500, 0, 500)
    assert rule(law, facing(street=street), "B say raise").to == 1000


def test_fixed_limit_completion_over_chips_and_words():
    where = situation("A 960/40* B 0/50* C 1000 D 1000", "C", 50, 40, prior="A bet 40, B all-in 50", **FIXED)
    for acts in (("C say complete",), ("C say raise",), ("C put 25 25 25 5",), ("C put 50 20",), ("C say raise 500",)):
        r = rule("dutch-half-bet", where, *acts)
        assert (r.action, r.to) == ("complete", 80), acts
        assert r.min_raise_to == 120
    assert short(rule("dutch-half-bet", where, "C put 50 5 5")) == ("call", 50, 0, 10)  # 10 of 30
    assert rule("dutch-full-bet", where, "C say raise").to == 90
    short_c = situation("A 960/40* B 0/50* C 70 D 1000", "C", 50, 40, prior="A bet 40, B all-in 50", **FIXED)
    r = rule("dutch-half-bet", short_c, "C say complete")
    assert (r.action, r.to, r.counts_as_raise) == ("all_in", 70, True)


def test_short_all_ins_add_up_to_a_counted_raise_at_fixed_limit():
    where = situation("A 960/40* B 50 C 65 D 1000", "B", 40, 40, prior="A bet 40", **FIXED)
    r = rule("dutch-half-bet", where, "B push 50", "C push 65", "D did call 65")
    assert r.counts_as_raise
    assert open_to(r) == {"A"}
    assert (r.min_raise_to, r.raises_used) == (105, 1)


def test_spread_limit_words_and_chips_stay_in_the_range():
    where = situation(
        "A 96/4* B 100 C 100", "B", 4, 4, prior="A bet 4", structure="spread-limit", limits={"min": 2, "max": 10},
        blinds=(1, 2), pot=10,
    )  # fmt: skip
    assert rule("tda-2024", where, "B say raise").to == 8
    assert rule("tda-2024", where, "B say raise 50 to").to == 14
    assert short(rule("tda-2024", where, "B put 5 5 5 5")) == ("raise", 14, 0, 6)
    assert short(rule("tda-2024", where, "B put 5 1")) == ("raise", 8, 2, 0)


@pytest.mark.parametrize(
    ("street", "game", "bet"),
    [
        ("preflop", "holdem", 40), ("flop", "holdem", 40), ("turn", "holdem", 80), ("river", "holdem", 80),
        ("before_draw", "single-draw", 40), ("after_draw", "single-draw", 80), ("first_draw", "badugi", 40),
        ("second_draw", "badugi", 80), ("third_draw", "badugi", 80), ("third", "7stud", 40), ("fourth", "7stud", 40),
        ("fifth", "7stud", 80), ("sixth", "7stud", 80), ("seventh", "7stud", 80),
    ],
)  # fmt: skip
def test_the_bet_of_every_street(street, game, bet):
    where = situation("A 1000 B 1000", "A", 0, 0, street=street, game=game, **{**FIXED, "blinds": ()})
    assert rule("tda-2024", where, "A say bet").to == bet


def test_a_call_fed_in_two_trips_by_one_chip_each_says_so():
    r = rule("tda-2024", facing(), "B put 500", "B again", "B put 500")
    assert r.reason.code == "call"
    r = rule("tda-2024", facing(), "B put 1000", "B again", "B put 500")
    assert r.reason.code == "string_call"
    assert rule("tda-2024", facing(), "B put 1000").reason.code == "one_chip_call"


def test_seats_are_named_in_order_of_action():
    r = rule("tda-2024", facing(), "B say raise")
    assert r.may_raise == ("C", "A")
    assert [o.seat for o in r.options] == ["C", "A"]


def test_change_given_first_and_the_bet_after_it():
    r = rule("tda-2024", facing(325), "B asks", "B put 1000", "B change", "B put 100 100 100 25")
    assert short(r) == ("call", 325, 0, 0)
    assert rule("tda-2024", facing(325), "B put 1000", "B asks").action == "call"


def test_hidden_chips_found_after_the_call_are_for_the_floor():
    acts = ("B say all-in", "B put 500 500", "B away", "C did call 1000", "dealer points")
    r = rule("tda-2024", facing(500, 1500), *acts)
    assert (r.seat, r.action, r.default_to) == ("B", "floor", 1500)
    assert [c.to for c in r.candidates] == [1000, 1500]
    before = rule("tda-2024", facing(500, 1500), "B say all-in", "B put 500 500")
    assert (before.action, before.to, before.add) == ("all_in", 1500, 500)


@pytest.mark.parametrize("law", names())
def test_every_setting_turned_still_rules(law):
    """No value of any switch breaks the judge on the commonest gestures."""
    from tabled.shell.judge_check import switched  # noqa: PLC0415 - only this test needs the shell

    gestures = (
        ("B put 1000",), ("B put 500 100 100",), ("B put 500 100 100 100",), ("B put 500", "B again", "B put 500"),
        ("B say raise", "B put 500", "B again", "B put 500"), ("B say raise 700",), ("B tap",), ("B say number 5",),
        ("B push 500 short", "B pull 500"), ("C put 500", "B did raise 1500"), ("B put 100",),
        ("B say raise simultaneous", "B put 500"),
    )  # fmt: skip
    for _, _, turned in switched(profile(law)):
        for acts in gestures:
            assert rule(turned, facing(), *acts).action


# ---- what comes after the next seat has acted --------------------------------------------------------------------


AFTER = ("B put 500", "B away", "C did fold")


@pytest.mark.parametrize("law", ["swedish", "tda-2024", "roberts"])
@pytest.mark.parametrize(
    ("late", "money"),
    [("B say raise after", (0, 0)), ("B put 500", (0, 500)), ("B pull 500", (500, 0)), ("B claims slip", (0, 0))],
)
def test_what_comes_too_late_changes_no_ruling(law, late, money):
    r = rule(law, facing(), *AFTER, late)
    assert (r.seat, r.action, r.to, r.add, r.back) == ("B", "call", 500, *money)


def test_a_fold_after_the_act_is_out_of_turn_and_no_late_word():
    assert rule("tda-2024", facing(), *AFTER, "B say fold").action == "held_out_of_turn"


@pytest.mark.parametrize("law", ["roberts", "wsop-live-2026"])
def test_rrp_3_12_a_claim_counts_only_before_anybody_has_acted(law):
    where = situation("A 9000/400* B 9000 SB 9000/50 BB 9000/100", "B", 400, 300, street="preflop", pot=0,
                      prior="SB post 50, BB post 100, A raise 400")  # fmt: skip
    assert rule(law, where, "B put 100", "B away", "B claims unseen").action == "floor"
    for acts in (("B claims unseen", "SB did fold"), ("SB did fold", "B claims unseen")):
        assert short(rule(law, where, "B put 100", "B away", *acts)) == ("call", 400, 300, 0)
