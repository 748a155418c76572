"""The Dutch text on incomplete bets and raises: full-bet rule, half-bet rule, completion."""

from __future__ import annotations

import pytest

from tabled.rules.judge import judge
from tests.rules.deal import deal
from tests.rules.table import act, load, locked, open_to, profile, rule, short, situation

FIXED = {"structure": "fixed-limit", "limits": {"small_bet": 40, "big_bet": 80, "raises_cap": 3}, "blinds": (20, 40)}


def pushed(stack: int, **kw):
    """A bet 40; B may push its last ``stack``; C has not acted."""
    kw = {"blinds": (20, 40), **kw}
    return situation(f"A 960/40* B {stack} C 1000", "B", 40, 40, prior="A bet 40", pot=120, **kw)


def opened(stack: int):
    """Two checks, then Daniel may push his last ``stack`` in a 40 round; Jamie is behind him."""
    return situation(
        f"Roberto 1000* Michiel 1000* Daniel {stack} Jamie 1000",
        "Daniel",
        0,
        40,
        prior="Roberto check, Michiel check",
        **FIXED,
    )


# ---- full-bet rule ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("structure", ["no-limit", "pot-limit"])
def test_nl_full_bet_all_in_of_less_than_a_raise_is_a_call_with_something_over(structure):
    r = rule("dutch-full-bet", pushed(70, structure=structure), "B push 25 25 10 10", "C did call 70")
    assert (r.action, r.full, r.counts_as_raise, r.call_to) == ("all_in", False, False, 70)
    assert open_to(r) == set()
    assert locked(r) == {"A"}
    assert r.options[0].call_to == 70
    assert r.options[0].raise_min_to is None
    assert "NL full-bet" in r.cite


def test_nl_full_bet_who_has_not_acted_may_raise_by_the_last_full_size():
    r = rule("dutch-full-bet", pushed(70), "B push 50 10 10")
    assert open_to(r) == {"C"}
    assert r.min_raise_to == 110


def test_nl_full_bet_a_raise_behind_the_all_in_frees_the_first_bettor():
    r = rule("dutch-full-bet", pushed(70), "B push 50 10 10", "C did raise 110")
    assert open_to(r) == {"A"}
    assert r.options[0].raise_min_to == 150


def test_nl_full_bet_exactly_a_full_raise_reopens_and_one_less_does_not():
    for stack in (79, 80):
        r = rule("dutch-full-bet", pushed(stack), f"B push {stack}")
        assert (r.full, r.counts_as_raise) == (stack == 80, stack == 80)
    assert open_to(rule("dutch-full-bet", pushed(80), "B push 50 25 5", "C did call 80")) == {"A"}
    assert open_to(rule("dutch-full-bet", pushed(79), "B push 50 25 4", "C did call 79")) == set()


def test_nl_full_bet_all_in_call_for_less_reopens_nothing():
    r = rule("dutch-full-bet", pushed(25), "B push 25")
    assert (r.action, r.verb, r.to, r.call_to) == ("all_in", "call", 25, 40)
    assert locked(r) == {"A"}


def test_nl_full_bet_at_fixed_limit_the_next_raise_is_a_whole_bet_on_top():
    r = rule("dutch-full-bet", opened(15), "Daniel push 10 5")
    assert (r.min_raise_to, r.max_raise_to) == (55, 55)
    assert r.options[0].complete_to is None
    assert locked(r) == {"Roberto", "Michiel"}


def test_nl_full_bet_at_fixed_limit_half_is_no_bet():
    r = rule("dutch-full-bet", opened(20), "Daniel push 20", "Jamie did call 20")
    assert locked(r) == {"Roberto", "Michiel"}
    assert r.min_raise_to is None


# ---- half-bet rule ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("stack", "free"), [(59, set()), (60, {"A"}), (79, {"A"}), (80, {"A"})])
@pytest.mark.parametrize("structure", ["no-limit", "pot-limit", "fixed-limit"])
def test_nl_half_bet_half_of_the_raise_reopens(structure, stack, free):
    where = pushed(stack, **(FIXED if structure == "fixed-limit" else {"structure": structure}))
    r = rule("dutch-half-bet", where, f"B push {stack}", f"C did call {stack}")
    assert open_to(r) == free
    assert r.full is (stack >= 80)
    assert r.counts_as_raise is bool(free)


def test_nl_half_bet_a_counted_all_in_is_raised_by_a_whole_bet_not_completed():
    r = rule("dutch-half-bet", pushed(60, **FIXED), "B push 50 10")
    assert (r.min_raise_to, r.max_raise_to) == (100, 100)
    assert r.options[0].complete_to is None
    house = profile("dutch-half-bet", completion="at_half_too")
    option = rule(house, pushed(60, **FIXED), "B push 50 10").options[0]
    assert (option.raise_min_to, option.complete_to) == (100, 80)


def test_nl_half_bet_under_half_may_be_completed_by_who_has_not_acted():
    r = rule("dutch-half-bet", pushed(55, **FIXED), "B push 50 5")
    assert r.options[0].complete_to == 80
    assert (r.min_raise_to, r.max_raise_to) == (80, 80)
    assert locked(r) == {"A"}


def test_nl_half_bet_completion_reopens_for_the_first_bettor():
    r = rule("dutch-half-bet", pushed(55, **FIXED), "B push 50 5", "C did complete 80")
    assert open_to(r) == {"A"}
    assert (r.call_to, r.min_raise_to) == (80, 120)


def test_nl_half_bet_neither_bettor_nor_caller_may_complete():
    where = situation("A 960/40* B 960/40* C 50 D 1000", "C", 40, 40, prior="A bet 40, B call", pot=120, **FIXED)
    r = rule("dutch-half-bet", where, "C push 50", "D did call 50")
    assert locked(r) == {"A", "B"}


def test_nl_half_bet_example_of_four_players():
    acts = ("Daniel push 10",)
    r = rule("dutch-half-bet", opened(10), *acts)
    assert (r.options[0].seat, r.options[0].fold, r.options[0].call_to, r.options[0].complete_to) == (
        "Jamie", True, 10, 40,
    )  # fmt: skip
    called = rule("dutch-half-bet", opened(10), *acts, "Jamie did call 10")
    assert locked(called) == {"Roberto", "Michiel"}
    completed = rule("dutch-half-bet", opened(10), *acts, "Jamie did complete 40")
    assert open_to(completed) == {"Roberto", "Michiel"}
    assert completed.options[0].raise_min_to == 80


def test_nl_half_bet_exactly_half_of_an_opening_bet_is_a_bet():
    r = rule("dutch-half-bet", opened(20), "Daniel push 20", "Jamie did call 20")
    assert open_to(r) == {"Roberto", "Michiel"}
    assert r.min_raise_to == 60


def test_nl_half_bet_halves_in_spread_limit_are_of_the_raise_that_was_due():
    def where(stack):
        return situation(
            f"A 92/8* B {stack} C 100", "B", 8, 8, prior="A bet 8", structure="spread-limit",
            limits={"min": 2, "max": 10}, blinds=(1, 2), pot=10,
        )  # fmt: skip

    r = rule("dutch-half-bet", where(12), "B push 12", "C did call 12")
    assert open_to(r) == {"A"}
    assert (r.min_raise_to, r.max_raise_to) == (20, 22)
    assert open_to(rule("dutch-half-bet", where(11), "B push 11", "C did call 11")) == set()
    letter = profile("dutch-half-bet", allin_half_of="min_bet")
    assert open_to(rule(letter, where(10), "B push 10", "C did call 10")) == {"A"}


# ---- stud: bring-in and completion ------------------------------------------------------------------------------

STUD = {
    "structure": "fixed-limit", "game": "7stud", "street": "third", "blinds": (), "pot": 0,
    "limits": {"small_bet": 40, "big_bet": 80, "bring_in": 10, "raises_cap": 3},
}  # fmt: skip


def brought_in(stack: int = 1000):
    return situation(f"A 990/10* B {stack} C 1000 D 1000", "B", 10, 40, prior="A bring-in 10", **STUD)


def test_nl_bring_in_completion_is_no_raise():
    r = rule("dutch-half-bet", brought_in(), "B say complete", "B put 25 5 5 5")
    assert (r.action, r.to, r.raises_used, r.min_raise_to) == ("complete", 40, 0, 80)
    assert open_to(r) == {"A", "C", "D"}


@pytest.mark.parametrize(("stack", "complete", "raise_to"), [(20, 40, None), (24, 40, None), (25, None, 65)])
def test_nl_bring_in_all_in_over_it_is_measured_from_the_bring_in(stack, complete, raise_to):
    r = rule("dutch-half-bet", brought_in(stack), f"B push {stack}")
    assert r.options[0].complete_to == complete
    assert r.options[0].raise_min_to == raise_to
    assert "A" not in locked(r)


def test_nl_bring_in_is_completed_under_the_full_bet_rule_too():
    r = rule("dutch-full-bet", brought_in(), "B say complete")
    assert (r.action, r.to) == ("complete", 40)
    assert rule("dutch-full-bet", brought_in(), "B tap").options[0].complete_to is None
    assert rule("dutch-full-bet", brought_in(), "B stage 5").options[0].complete_to == 40


def test_nl_bring_in_one_chip_of_exactly_the_completion():
    assert rule("dutch-half-bet", brought_in(), "B put 40").action == "complete"
    call = rule(profile("dutch-half-bet", one_chip_bring_in="call"), brought_in(), "B put 40")
    assert (call.action, call.to, call.back) == ("call", 10, 30)
    big = rule("dutch-half-bet", brought_in(), "B put 100")
    assert (big.action, big.to, big.back) == ("call", 10, 90)


# ---- caps -------------------------------------------------------------------------------------------------------


def test_nl_cap_chips_over_a_capped_call_go_back():
    where = situation(
        "A 840/160* B 840/160* C 100/80* D 880/120*", "C", 160, 40, pot=120, **FIXED,
        prior="A bet 40, B raise 80, C call 80, D raise 120, A raise 160, B call 160",
    )  # fmt: skip
    r = rule("dutch-half-bet", where, "C push 40 40 20")
    assert (r.action, r.to, r.back, r.back_chips) == ("call", 160, 20, (20,))
    assert locked(r) == {"A", "B", "D"}


def test_nl_cap_counts_an_all_in_of_half_a_raise_and_no_less():
    def where(stack):
        return situation(
            f"A 960/40* B 920/80* C {stack} D 1000", "C", 80, 40, prior="A bet 40, B raise 80", pot=120, **FIXED
        )

    assert rule("dutch-half-bet", where(100), "C push 100", "D did call 100").raises_used == 2
    assert rule("dutch-half-bet", where(99), "C push 99", "D did call 99").raises_used == 1


def low_card(*acts: str, stack: int = 1000):
    """The seat that owes the bring-in of 10 in a 40 round acts."""
    hand = deal(
        [1005, stack + 5, 1005], (), "dutch-half-bet", antes=5, game="7stud", structure="fixed-limit", opener="2",
        limits={"small_bet": 40, "big_bet": 80, "bring_in": 10},
    )  # fmt: skip
    return judge(hand, load("dutch-half-bet"), [act(t) for t in acts])


@pytest.mark.parametrize(
    ("acts", "ruled"),
    [
        (("2 put 5 5",), ("bring_in", 10, 0, 0)),
        (("2 put 5",), ("bring_in", 10, 5, 0)),
        (("2 put 100",), ("complete", 40, 0, 60)),
        (("2 put 10 10",), ("bring_in", 10, 0, 10)),
        (("2 put 10 10 5",), ("complete", 40, 15, 0)),  # 15 of 30
        (("2 say call",), ("bring_in", 10, 10, 0)),
        (("2 tap",), ("bring_in", 10, 10, 0)),
        (("2 say number 10",), ("bring_in", 10, 10, 0)),
        (("2 say complete",), ("complete", 40, 40, 0)),
        (("2 say raise", "2 put 25 25"), ("complete", 40, 0, 10)),
        (("2 say all-in",), ("complete", 40, 40, 0)),
    ],
)
def test_nl_bring_in_what_the_low_card_may_do(acts, ruled):
    assert short(low_card(*acts).ruling) == ruled


def test_nl_bring_in_cannot_be_folded_and_may_be_short():
    r = low_card("2 cards").ruling
    assert (r.action, r.reason.code, r.reason.params["amount"]) == ("pending", "bring_in_due", 10)
    judged = low_card("2 put 5", stack=5)
    assert (judged.ruling.action, judged.ruling.to) == ("all_in", 5)
    assert judged.after.faced("3").to_call == 10
    assert short(low_card("2 say complete", stack=30).ruling) == ("all_in", 30, 30, 0)
    for stack, verb in ((10, "bring-in"), (11, "bet")):
        r = low_card("2 say complete", stack=stack).ruling
        assert (r.action, r.to, r.verb) == ("all_in", stack, verb)
    assert low_card("2 stage 5").ruling.reason.code == "bring_in_due"


@pytest.mark.parametrize(
    ("acts", "ruled"),
    [
        (("C say raise 20 to",), ("complete", 20, 20, 0)),
        (("C say raise 15 to",), ("complete", 20, 20, 0)),  # said is lifted to the smallest that is legal
        (("C say complete",), ("complete", 20, 20, 0)),
        (("C put 10 5 5",), ("complete", 20, 0, 0)),
        (("C put 10 7",), ("complete", 20, 3, 0)),  # 4 of 7
        (("C put 10 6",), ("call", 13, 0, 3)),  # 3 of 7
        (("C say raise",), ("raise", 23, 23, 0)),
        (("C say raise 21 to",), ("raise", 23, 23, 0)),
        (("C say raise 13 to",), ("raise", 23, 23, 0)),  # the price is no completion: a raise without an amount
    ],
)
def test_nl_completion_at_spread_limit_by_an_amount(acts, ruled):
    """2 to 20 spread, a bet of 10, all-in 13 (under half more): completing to 20 and raising to 23 are both legal."""
    where = situation(
        "A 90/10* B 0/13* C 100 D 100", "C", 13, 10, prior="A bet 10, B all-in 13", structure="spread-limit",
        limits={"min": 2, "max": 20}, blinds=(1, 2),
    )  # fmt: skip
    assert short(rule(profile("dutch-half-bet", multi_chip_test="none"), where, *acts)) == ruled


@pytest.mark.parametrize(("chips", "ruled"), [("10 5", ("call", 12, 0, 3)), ("10 5 1", ("complete", 20, 4, 0))])
def test_nl_completion_at_spread_limit_needs_half_the_way_in_silence(chips, ruled):
    """A bet of 10, all-in 12: from 12 to 20 it is 8, and 4 of them complete."""
    where = situation(
        "A 90/10* B 0/12* C 100 D 100", "C", 12, 10, prior="A bet 10, B all-in 12", structure="spread-limit",
        limits={"min": 2, "max": 20}, blinds=(1, 2),
    )  # fmt: skip
    assert short(rule(profile("dutch-half-bet", multi_chip_test="none"), where, f"C put {chips}")) == ruled


# ---- what a seat faces, to the chip ---------------------------------------------------------------------------------


@pytest.mark.parametrize(("all_in", "free"), [(54, False), (59, False), (60, True)])
def test_nl_half_bet_over_a_completion_half_is_of_a_whole_bet(all_in, free):
    """Bring-in 10, completed to 40: the raise that is due is 40, not the 30 of the completion."""
    where = situation(
        f"A 990/10* B 960/40* C 960/40* D {all_in} E 1000", "D", 40, 40,
        prior="A bring-in 10, B complete 40, C call", **STUD,
    )  # fmt: skip
    r = rule("dutch-half-bet", where, f"D push {all_in}", f"E did call {all_in}", "A did fold")
    assert open_to(r) == ({"B", "C"} if free else set())
    assert r.counts_as_raise is free


@pytest.mark.parametrize(("all_in", "counts"), [(19, False), (20, True)])
def test_nl_half_bet_an_opening_on_a_later_street_of_stud_is_measured_from_nothing(all_in, counts):
    where = situation(f"A 990* B {all_in} C 990", "B", 0, 40, prior="A check", **{**STUD, "street": "fourth"})
    r = rule("dutch-half-bet", where, f"B push {all_in}")
    assert r.counts_as_raise is counts
    assert r.options[0].complete_to == (None if counts else 40)


def test_nl_full_bet_in_stud_the_bring_in_is_completed_and_a_bet_is_raised_on_top():
    r = rule("dutch-full-bet", brought_in(20), "B push 20")
    assert (r.options[0].complete_to, r.min_raise_to) == (40, 40)
    where = situation("A 990/10* B 960/40* C 55 D 1000", "C", 40, 40, prior="A bring-in 10, B complete 40", **STUD)
    r = rule("dutch-full-bet", where, "C push 55")
    assert (r.options[0].complete_to, r.min_raise_to) == (None, 95)


@pytest.mark.parametrize(("all_in", "free"), [(55, set()), (59, set()), (60, {"A"})])
def test_nl_half_bet_on_a_later_street_of_stud_the_bring_in_is_forgotten(all_in, free):
    where = situation(f"A 960/40* B {all_in} C 1000", "B", 40, 40, prior="A bet 40", **{**STUD, "street": "fourth"})
    r = rule("dutch-half-bet", where, f"B push {all_in}", f"C did call {all_in}")
    assert open_to(r) == free


@pytest.mark.parametrize("law", ["dutch-full-bet", "dutch-half-bet"])
def test_nl_full_bet_knows_no_completion_at_spread_limit(law):
    where = situation("A 900* B 5 C 900", "B", 0, 0, prior="A check", structure="spread-limit", blinds=(10, 20),
                      limits={"min": 20, "max": 100})  # fmt: skip
    option = rule(law, where, "B say all-in").options[0]
    assert option.complete_to == (20 if law == "dutch-half-bet" else None)


@pytest.mark.parametrize(("line", "complete"), [(40, None), (60, 80), (80, None)])
def test_nl_completion_at_half_too_makes_whole_what_is_no_whole_bet(line, complete):
    prior = "A bet 40" + (f", B all-in {line}" if line > 40 else "")
    who = f"A 960/40* B 0/{line}* C 1000 D 1000" if line > 40 else "A 960/40* B 0/0! C 1000 D 1000"
    house = profile("dutch-half-bet", completion="at_half_too")
    where = situation(who, "C", line, 40, prior=prior, **FIXED)
    assert rule(house, where, "C stage 5").options[0].complete_to == complete


def test_nl_who_has_no_raise_left_is_offered_no_completion():
    """A bet, B called, C is all-in for half more: it counts as a raise, and the cap of one is used up."""
    house = profile("dutch-half-bet", completion="at_half_too")
    limits = {**FIXED["limits"], "raises_cap": 1}
    where = situation("A 960/40* B 0/60* C 1000", "C", 60, 40, prior="A bet 40, B all-in 60",
                      **{**FIXED, "limits": limits})  # fmt: skip
    option = rule(house, where, "C stage 5").options[0]
    assert (option.raise_min_to, option.complete_to) == (None, None)
