"""The illustration addendum of TDA 2024, example by example, each also with numbers of our own."""

from __future__ import annotations

import pytest

from tabled.outlets.wording import say
from tests.rules.table import adjust, judged, locked, open_to, profile, rule, short, situation

TDA = "tda-2024"


def said(r):
    return [say(c.reason, "en") for c in r.candidates]


def facing(bet: int, stack: int = 90000, **kw):
    return situation(f"A 90000/{bet}* B {stack} C 90000", "B", bet, bet, prior=f"A bet {bet}", **kw)


# ---- 40-A, 41 ---------------------------------------------------------------------------------------------------


def test_tda_40_a_example_1_number_not_heard_against_one_chip():
    where = situation("A 90000 B 90000", "A", 0, 2000, blinds=(1000, 2000), pot=30000, street="river")
    r = rule(TDA, where, "A say number 42000 low", "A put 5000", "B did call 5000")
    assert r.action == "floor"
    assert [c.to for c in r.candidates] == [42000, 5000]


@pytest.mark.parametrize(("chips", "action"), [("1000", "floor"), ("5000", "floor"), ("5000 1000", "call")])
def test_tda_41_chips_tiny_to_the_bet_are_for_the_floor(chips, action):
    r = rule(TDA, facing(50000, blinds=(2000, 4000)), f"B put {chips}")
    assert r.action == action
    if action == "floor":
        assert said(r)[0] == "full call 50000"
    assert rule(profile(TDA, tiny_chips="undercall"), facing(50000), f"B put {chips}").action == "call"
    assert rule("swedish", facing(50000), f"B put {chips}").action == "call"


def test_tda_41_a_small_number_said_is_not_silent():
    assert short(rule(TDA, facing(50000), "B say number 5000")) == ("call", 50000, 50000, 0)


# ---- 43 ---------------------------------------------------------------------------------------------------------


def test_tda_43_example_1_the_raise_and_not_the_bet_is_the_measure():
    where = situation("A 9000/600* B 9000/1600* C 9000 D 9000", "C", 1600, 1000, blinds=(100, 200),
                      prior="A bet 600, B raise 1600")  # fmt: skip
    assert rule(TDA, where, "C say raise 3600 to").min_raise_to == 5600


def test_tda_43_example_2_short_all_in_over_the_blind():
    where = situation("A 150 B 9000 SB 9000/50 BB 9000/100", "A", 100, 100, street="preflop", pot=0,
                      prior="SB post 50, BB post 100")  # fmt: skip
    assert rule(TDA, where, "A say all-in").min_raise_to == 250


def test_tda_43_example_3_next_raise_is_as_large_as_the_last():
    r = rule(TDA, facing(300, blinds=(100, 200)), "B put 500 500")
    assert (short(r), r.min_raise_to) == (("raise", 1000, 0, 0), 1700)


def test_tda_43_example_4_a_and_b():
    a = situation("A 9000/125* B 9000/200* C 9000 D 9000", "C", 200, 75, blinds=(25, 50), street="preflop", pot=0)
    assert rule(TDA, a, "C say raise 500 to").min_raise_to == 800
    b = situation("A 9000 B 9000 C 9000 D 9000", "A", 50, 50, blinds=(25, 50), street="preflop", pot=0)
    assert rule(TDA, b, "A say raise 500 to", "B did call 500", "C did call 500").min_raise_to == 950


# ---- 45 ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("bet", "gap", "chips", "ruled"),
    [
        (1200, 1200, "1000 1000", ("call", 1200, 0, 800)),  # 1-A
        (1100, 600, "500 1000", ("call", 1100, 0, 400)),  # 1-B and the example in the rule
        (1100, 600, "1000 100 100 100 100 100", ("raise", 1700, 200, 0)),  # 2
        (1100, 600, "1000 100 100 100 100", ("raise", 1700, 300, 0)),  # just half
        (1100, 600, "1000 100 100 100", ("call", 1100, 0, 200)),  # 3
        (1400, 1400, "1000 500 500 500", ("raise", 2800, 300, 0)),  # 4-A
        (1400, 1400, "1000 500 500", ("call", 1400, 0, 600)),  # 4-B
        (700, 700, "500 500", ("call", 700, 0, 300)),
        (700, 700, "500 500 25", ("call", 700, 0, 325)),
        (700, 700, "500 500 50", ("raise", 1400, 350, 0)),
    ],
)
def test_tda_45_examples(bet, gap, chips, ruled):
    where = situation(f"A 9000/{bet}* B 9000 C 9000", "B", bet, gap, prior=f"A bet {bet}")
    assert short(rule(TDA, where, f"B put {chips}")) == ruled


@pytest.mark.parametrize(("stack", "chips"), [(2500, "1000 500 500 500"), (2000, "1000 500 500")])
def test_tda_45_example_4_last_chips_are_all_in(stack, chips):
    assert short(rule(TDA, facing(1400, stack), f"B put {chips}")) == ("all_in", stack, 0, 0)


def test_tda_45_a_example_2_last_chips_that_are_all_needed_are_a_call():
    where = facing(1050, 2000, blinds=(25, 50))
    assert short(rule(TDA, where, "B put 1000 1000")) == ("call", 1050, 0, 950)
    assert short(rule(TDA, where, "B say all-in", "B put 1000 1000")) == ("all_in", 2000, 0, 0)
    assert short(rule(TDA, where, "B push 1000 1000")) == ("all_in", 2000, 0, 0)
    house = profile(TDA, stack_pushed="chip_rules")
    assert short(rule(house, where, "B push 1000 1000")) == ("call", 1050, 0, 950)


# ---- 46 ---------------------------------------------------------------------------------------------------------


def blind(bet: int, chips: str, line: int, blinds=(25, 50)):
    """The button raised to ``bet``; ``chips`` of the big blind lie there and count ``line``."""
    return situation(
        f"BTN 9000/{bet}* SB 4975/25! BB 9000/{line}[{chips}]", "BB", bet, bet - line, blinds=blinds, pot=0,
        street="preflop", prior=f"SB post 25, BB post {line}, BTN raise {bet}, SB fold",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("acts", "ruled"),
    [
        (["BB put 1000"], ("call", 600, 0, 450)),  # 1.1
        (["BB put 500 500"], ("call", 600, 0, 450)),  # 1.2 a
        (["BB put 100 500"], ("call", 600, 0, 50)),  # 1.2 b
        (["BB put 1000 500"], ("raise", 1550, 0, 0)),  # 1.3
        (["BB pull 25 25", "BB put 1000"], ("call", 600, 0, 400)),  # 2.1
        (["BB pull 25 25", "BB put 500 500"], ("call", 600, 0, 400)),  # 2.2, both needed
        (["BB pull 25 25", "BB put 1000 100"], ("raise", 1150, 50, 0)),  # 2.2, half a raise over
        (["BB pull 25", "BB put 1000"], ("raise", 1150, 125, 0)),  # 3
        (["BB pull 25", "BB put 500 500"], ("raise", 1150, 125, 0)),  # 3
        (["BB pull 25", "BB put 500 100"], ("call", 600, 0, 25)),  # 3, less than half
        (["BB pull 25", "BB put 500 100 100 100 100"], ("raise", 1150, 225, 0)),
    ],
)
def test_tda_46_situations_1_to_3(acts, ruled):
    assert short(rule(TDA, blind(600, "25,25", 50), *acts)) == ruled


def test_tda_46_situation_3_the_smallest_chip_may_be_an_old_one():
    where = blind(700, "100,500", 600, blinds=(300, 600))
    assert short(rule(TDA, where, "BB pull 100", "BB put 500")) == ("call", 700, 0, 300)


@pytest.mark.parametrize(
    ("acts", "ruled"),
    [
        (["BB put 100"], ("raise", 1300, 200, 0)),
        (["BB put 500"], ("raise", 1500, 0, 0)),
        (["BB put 5000"], ("raise", 6000, 0, 0)),
        (["BB put 25"], ("raise", 1300, 275, 0)),
        (["BB pull 1000", "BB put 5000"], ("raise", 5000, 0, 0)),
        (["BB pull 1000", "BB put 700"], ("call", 700, 0, 0)),
    ],
)
def test_tda_46_situation_4_old_chip_covers_the_call(acts, ruled):
    assert short(rule(TDA, blind(700, "1000", 100, blinds=(50, 100)), *acts)) == ruled


def test_tda_46_situation_4_less_than_half_over_is_a_call():
    assert short(rule(TDA, blind(900, "1000", 100, blinds=(50, 100)), "BB put 100")) == ("call", 900, 0, 200)


def test_tda_46_situation_5_all_chips_together_are_one_bet():
    r = rule(TDA, blind(600, "25,25", 50), "BB pull 25 25", "BB put 1000", "BB push 25 25")
    assert short(r) == ("raise", 1150, 100, 0)


# ---- 47 ---------------------------------------------------------------------------------------------------------

EXAMPLE_47_1 = ("B push 100 25", "C did call 125", "D push 100 100", "E did call 200")


def five():
    return situation("A 9000/100* B 125 C 9000 D 200 E 9000", "B", 100, 100, prior="A bet 100")


def test_tda_47_example_1_short_all_ins_add_up_for_the_opener():
    r = rule(TDA, five(), *EXAMPLE_47_1)
    assert (r.action, r.to, r.min_raise_to) == ("all_in", 200, 300)
    assert (open_to(r), locked(r)) == ({"A"}, {"C"})


def test_tda_47_example_1_a_and_b_the_caller_of_125_faces_75_or_175():
    after = judged(TDA, five(), *EXAMPLE_47_1, "A did call 200").after
    assert after.to_act == "C"
    assert not after.faced("C").raise_open
    after = judged(TDA, five(), *EXAMPLE_47_1, "A did raise 300").after
    assert after.to_act == "C"
    assert after.faced("C").raise_open


def test_tda_47_example_2_smallest_raise_is_the_last_whole_one():
    where = situation("A 9000/300* B 500 C 650 D 800 E 9000 F 9000", "B", 300, 300, prior="A bet 300")
    r = rule(TDA, where, "B push 500", "C push 500 100 25 25", "D push 500 100 100 100", "E did call 800")
    assert (r.to, r.min_raise_to) == (800, 1100)


def test_tda_47_example_3_a_limper_behind_a_short_all_in():
    where = situation("A 90000/4000* C 7500 SB 90000/2000 BB 90000/4000", "C", 4000, 4000, blinds=(2000, 4000),
                      street="preflop", pot=0, prior="SB post 2000, BB post 4000, A call 4000")  # fmt: skip
    r = rule(TDA, where, "C say all-in", "SB did fold")
    assert (open_to(r), locked(r), r.min_raise_to) == ({"BB"}, {"A"}, 11500)
    assert not judged(TDA, where, "C say all-in", "SB did fold", "BB did call 7500").after.faced("A").raise_open
    assert judged(TDA, where, "C say all-in", "SB did fold", "BB did raise 11500").after.faced("A").raise_open


@pytest.mark.parametrize(("first", "second", "free"), [(26, 30, {"A"}), (29, 30, {"A"}), (25, 35, {"A", "C"})])
@pytest.mark.parametrize("structure", ["no-limit", "fixed-limit"])
def test_nl_half_bet_each_seat_measures_from_what_it_answered(structure, first, second, free):
    where = situation(f"A 480/20* B {first} C 500 D {second} E 500", "B", 20, 20, blinds=(10, 20), prior="A bet 20",
                      structure=structure, limits={"small_bet": 20, "big_bet": 40})  # fmt: skip
    r = rule("dutch-half-bet", where, "B say all-in", f"C did call {first}", "D say all-in", f"E did call {second}")
    assert open_to(r) == free
    assert locked(r) == {"A", "C"} - free


def test_tda_47_b_at_limit_the_caller_of_one_all_in_is_not_freed_by_the_next():
    where = situation("A 9000/200* B 275 C 9000 D 300 E 9000", "B", 200, 200, blinds=(100, 200), prior="A bet 200",
                      structure="fixed-limit", limits={"small_bet": 200, "big_bet": 400})  # fmt: skip
    r = rule(TDA, where, "B say all-in", "C did call 275", "D say all-in", "E did call 300")
    assert (open_to(r), locked(r)) == ({"A"}, {"C"})


# ---- 49, 51 -----------------------------------------------------------------------------------------------------


def raised(bet: int, to: int, who: str = "D 90000"):
    return situation(f"A 90000/{bet}* B 90000/{to}* C 90000 {who}", "C", to, to - bet, blinds=(bet // 2, bet),
                     prior=f"A bet {bet}, B raise {to}")  # fmt: skip


@pytest.mark.parametrize(
    ("quote", "acts", "back"),
    [
        (13000, ["C put 5000 5000 1000 1000 1000"], 0),
        (13000, ["C say number 13000"], 0),
        (13000, ["C say call"], 0),
        (23000, ["C put 5000 5000 5000 5000 1000 1000 1000"], 5000),
    ],
)
def test_tda_49_who_pushes_out_a_wrong_count_accepts_the_bet(quote, acts, back):
    r = rule(TDA, raised(2000, 18000), f"dealer quotes {quote}", *acts)
    assert (r.action, r.to, r.back) == ("call", 18000, back)
    assert "TDA 49" in r.cite or acts == ["C say call"]


def test_tda_49_only_just_that_amount_and_only_while_it_is_the_bet():
    assert rule(TDA, raised(2000, 18000), "dealer quotes 13000", "C put 5000 5000").action == "floor"
    later = ("dealer quotes 2000", "C say raise 40000 to", "D put 1000 1000")
    assert rule(TDA, raised(2000, 18000), *later).action == "floor"
    assert rule(profile(TDA, accepted_action="undercall"), raised(2000, 18000), "dealer quotes 5000",
                "C put 5000").action == "floor"  # fmt: skip


def test_tda_51_examples_1_to_3():
    r = rule(TDA, raised(2000, 8000), "C put 1000 1000")
    assert (r.action, said(r)) == ("floor", ["full call 8000", "forfeit 2000 and fold"])
    assert short(rule(TDA, facing(8000), "B put 1000 1000")) == ("call", 8000, 6000, 0)
    assert short(rule(TDA, raised(2000, 8000), "C say call")) == ("call", 8000, 8000, 0)


@pytest.mark.parametrize(
    ("bet", "to", "chips", "forfeit"),
    [
        (400, 1200, "500", 400),  # example 4
        (400, 1200, "100 100 100 100", 400),
        (400, 1200, "100 100", 200),
        (400, 1200, "1000", 400),
        (400, 1200, "500 500", 1000),
        (600, 3000, "1000", 600),
    ],
)
def test_tda_51_example_4_what_was_meant_for_a_call_is_forfeit(bet, to, chips, forfeit):
    r = rule(TDA, raised(bet, to), f"C put {chips}")
    assert said(r) == [f"full call {to}", f"forfeit {forfeit} and fold"]


def test_tda_51_b_a_short_all_in_over_it_is_not_the_opening_bet():
    where = situation("A 9000/500* X 0/700* B 9000 C 9000", "B", 700, 500, prior="A bet 500, X all-in 700")
    r = rule(TDA, where, "B put 100 100")
    assert said(r) == ["full call 700", "forfeit 200 and fold"]
    opened = situation("X 0/60* B 9000 C 9000", "B", 60, 100, prior="X all-in 60")
    assert short(rule(TDA, opened, "B put 25 25")) == ("call", 60, 10, 0)


def test_tda_51_c_undercalls_in_a_row_go_back_to_the_first():
    where = situation("A 90000/8000* B 90000 C 90000 D 90000", "B", 8000, 8000, prior="A bet 8000")
    r = rule(TDA, where, "B put 1000 1000", "B away", "C put 1000 1000", "C away")
    assert (r.seat, short(r), r.floor) == ("B", ("call", 8000, 6000, 0), True)
    assert "TDA 51-C" in r.cite
    alone = rule(TDA, where, "B put 1000 1000", "B away", "C did call 8000")
    assert (alone.seat, alone.floor) == ("B", False)


# ---- 52 ---------------------------------------------------------------------------------------------------------


def test_tda_52_a_underraise_that_somebody_has_raised_since():
    where = situation("A 9000/600* B 8000/1000* C 9000 D 9000", "C", 600, 600, blinds=(100, 200),
                      prior="A bet 600, B put 1000")  # fmt: skip
    r = rule(TDA, where, "C did call 1000", "D did fold", "dealer points", put_by="B")
    assert (r.action, r.to, adjust(r)) == ("corrected", 1200, [("B", 200), ("C", 200)])
    r = rule(TDA, where, "C did raise 3000", "D did fold", "dealer points", put_by="B")
    assert (r.to, adjust(r), r.call_to) == (1200, [("B", 200)], 3000)


def test_tda_52_a_a_raise_ruled_too_low_is_lifted_with_its_callers():
    where = situation("A 9000/600* B 9000 C 9000 D 9000", "B", 600, 600, blinds=(100, 200), prior="A bet 600")
    r = rule(TDA, where, "B did raise 1000", "C did call 1000", "dealer points")
    assert (r.seat, r.to, r.add, adjust(r)) == ("B", 1200, 200, [("B", 200), ("C", 200)])


def test_tda_52_who_called_too_much_gets_it_back():
    where = situation("A 9000/600* B 9000 C 9000 D 9000", "B", 600, 600, blinds=(100, 200), prior="A bet 600")
    r = rule(TDA, where, "B put 1000", "B away", "C did call 1000", "dealer points")
    assert (r.to, r.back, adjust(r)) == (600, 400, [("C", -400)])


@pytest.mark.parametrize(
    ("law", "chips", "ruled"),
    [
        ("swedish", "1000", ("corrected", 500, 0, 500)),
        (TDA, "1000", ("corrected", 500, 0, 500)),
        (TDA, "500,500", ("stands", 1000, 0, 0)),
        ("swedish", "500,500", ("stands", 1000, 0, 0)),
        ("swedish", "500,100,100", ("corrected", 500, 0, 200)),
    ],
)
def test_a_wrong_amount_whose_chips_are_known_is_judged_by_the_chip_rules(law, chips, ruled):
    total = sum(map(int, chips.split(",")))
    where = situation(f"A 4500/500* B 4000/{total}*[{chips}] C 5000", "C", 500, prior=f"A bet 500, B put {total}")
    assert short(rule(law, where, "dealer points", put_by="B")) == ruled


def potted(quote: int, *later: str, law: str = TDA):
    where = situation("A 40000 B 40000 C 40000 D 40000", "A", 0, 1000, blinds=(500, 1000), pot=10500,
                      structure="pot-limit")  # fmt: skip
    chips = {9500: "5000 1000 1000 1000 1000 500", 11500: "5000 5000 1000 500"}[quote]
    return rule(law, where, f"dealer quotes {quote}", f"A put {chips}", "A away", *later, "dealer points")


def test_tda_52_b_examples_1_and_2_pot_counted_too_low():
    assert short(potted(9500, "B did fold", "C did call 9500")) == ("bet", 9500, 0, 0)
    assert short(potted(9500, "B did fold")) == ("bet", 10500, 1000, 0)


def test_tda_52_b_example_3_pot_counted_too_high():
    r = potted(11500, "B did fold", "C did call 11500", "D did call 11500")
    assert (short(r), r.call_to) == (("bet", 10500, 0, 1000), 10500)
    assert adjust(r) == [("C", -1000), ("D", -1000)]
    r = potted(11500, "B did fold", "C did call 11500", "D did call 11500", "card dealt")
    assert (r.action, r.to, r.window) == ("bet", 11500, "closed by the next card")


@pytest.mark.parametrize("law", ["roberts", "wsop-live-2026"])
def test_rrp_pot_limit_2_oversize_is_cut_until_everybody_has_acted(law):
    assert short(potted(11500, "B did call 11500", "C did call 11500", law=law)) == ("bet", 10500, 0, 1000)
    assert potted(11500, "B did call 11500", "C did call 11500", "D did fold", law=law).to == 11500


# ---- 53 ---------------------------------------------------------------------------------------------------------


def opened(first: str = "5 9000"):
    return situation(f"3 9000/300* 4 9000! {first} 6 9000", "5", 300, 300, prior="3 bet 300, 4 fold")


def test_tda_53_a_example_1():
    for did in ("5 did call 300", "5 did fold"):
        assert short(rule(TDA, opened(), "6 say raise 800 to", did)) == ("raise", 800, 800, 0)
    r = rule(TDA, opened(), "6 say raise 800 to", "5 did raise 600")
    assert r.action == "pending"
    assert (r.options[0].call_to, r.options[0].raise_min_to) == (600, 900)


def test_tda_53_a_example_2():
    where = situation("3 9000* 4 9000* 5 9000 6 9000", "5", 0, 100, prior="3 check, 4 check")
    assert rule(TDA, where, "6 say check", "5 did check").action == "check"
    r = rule(TDA, where, "6 say check", "5 did bet 300")
    assert (r.options[0].call_to, r.options[0].raise_min_to, r.options[0].fold) == (300, 600, True)


def skipped(street: str = "preflop"):
    return situation("3 9000/600* 4 9000 5 9000 6 9000", "4", 600, 400, blinds=(100, 200), street=street, pot=0,
                     prior="3 raise 600")  # fmt: skip


@pytest.mark.parametrize("acts", [["5 did call 600", "6 did fold"], ["5 say call", "6 say fold"]])
def test_tda_53_b_example_1_substantial_action_by_word_or_chips(acts):
    r = rule(TDA, skipped(), *acts)
    assert (r.seat, r.action, r.to, r.floor, r.skipped) == ("5", "call", 600, True, ("4",))


@pytest.mark.parametrize("acts", [["5 did check", "6 did call 600"], ["5 say check", "6 say call"]])
def test_tda_53_b_example_2_a_check_of_a_bet_does_not_bind_and_the_call_does(acts):
    r = rule(TDA, skipped("turn"), *acts)
    assert (r.seat, r.action, r.to, r.floor, r.skipped) == ("6", "call", 600, True, ("4",))


# ---- 57 ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("pot", "to"), [(4999, 500), (5000, 5000), (60000, 5000)])
def test_tda_57_five_at_200_400(pot, to):
    where = situation("A 30000 B 30000", "A", 0, 400, blinds=(200, 400), pot=pot)
    assert rule(TDA, where, "A say number 5").to == to


@pytest.mark.parametrize(
    ("blinds", "pot", "word", "to"),
    [
        ((100, 200), 5000, "bet 30", 3000),
        ((100, 200), 40000, "bet 30", 30000),
        ((500, 1000), 9000, "bet 200", 1000),  # two hundred is two hundred: too little
        ((50, 100), 300, "bet 30", 100),  # nothing else is within the pot
        ((1, 2), 300, "bet 5", 5),
    ],
)
def test_tda_57_other_numbers(blinds, pot, word, to):
    where = situation("A 90000 B 90000", "A", 0, blinds[1], blinds=blinds, pot=pot)
    assert rule(TDA, where, f"A say {word}").to == to


def test_tda_57_over_a_bet():
    where = facing(100, pot=3000)
    assert short(rule(TDA, where, "B say raise 5")) == ("raise", 500, 500, 0)
    assert short(rule(TDA, where, "B say raise 5", "B put 500")) == ("raise", 500, 0, 0)
    assert short(rule(TDA, where, "B say raise 5", "B put 1000 1000 1000 1000 1000")) == ("raise", 5000, 0, 0)
    assert short(rule(TDA, facing(500, pot=3000, blinds=(50, 100)), "B say number 5")) == ("call", 500, 500, 0)
    r = rule(TDA, facing(2600, pot=3000, blinds=(200, 400)), "B say raise 7")
    assert (r.action, [c.to for c in r.candidates], r.default_to) == ("floor", [7000], 7000)


def test_tda_52_b_who_called_too_much_does_not_raise_the_pot_it_is_measured_by():
    where = situation(
        "A 4900/100* B 4000/1000* C 4000/1000* D 5000", "D", 100, 100, blinds=(50, 100), pot=100,
        structure="pot-limit", prior="A bet 100, B put 1000, C call 1000",
    )  # fmt: skip
    r = rule(TDA, where, "dealer points", put_by="B")
    assert (r.seat, r.action, r.to) == ("B", "corrected", 400)
    assert dict(adjust(r)) == {"C": -600}
