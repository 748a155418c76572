"""Who may still raise, and of those who may not, why: in the numbers that the dealer is told."""

from __future__ import annotations

import pytest

from tabled.rules.errors import RaiseClosed
from tests.rules.deal import deal, play
from tests.rules.table import locked, open_to, profile, rule, situation

TDA = "tda-2024"
FIXED = {"structure": "fixed-limit", "limits": {"small_bet": 40, "big_bet": 80, "raises_cap": 3}, "blinds": (20, 40)}
SEPARATE = {"allin_cumulative": False}


def why(ruling) -> dict[str, tuple[str, dict[str, int | str]]]:
    """Each seat that may not raise: the code of the reason, and its numbers."""
    return {lock.seat: (lock.reason.code, lock.reason.params) for lock in ruling.may_not_raise}


def row(all_ins: list[int], bet: int = 100, **kw):
    """A bets, B, C, … are all-in one after the other; the last seat has chips and calls."""
    names = "BCDEFG"[: len(all_ins)]
    who = " ".join(f"{s} {n}" for s, n in zip(names, all_ins, strict=True))
    where = situation(f"A 9000/{bet}* {who} Z 9000", "B", bet, bet, prior=f"A bet {bet}", **kw)
    return where, [f"{s} say all-in" for s in names] + [f"Z did call {all_ins[-1]}"]


@pytest.mark.parametrize(
    ("law", "all_ins", "kw", "lock"),
    [
        (TDA, [101], {}, ("lock_short", {"more": 1, "full": 100})),
        (TDA, [199], {}, ("lock_short", {"more": 99, "full": 100})),
        (TDA, [140, 199], {}, ("lock_short", {"more": 99, "full": 100})),
        (TDA, [140, 200], {}, None),
        ("dutch-half-bet", [149], {}, ("lock_short_half", {"more": 49, "full": 100})),
        ("dutch-half-bet", [150], {}, None),
        (profile(TDA, **SEPARATE), [140, 199], {}, ("lock_short", {"more": 99, "full": 100})),
        (profile(TDA, **SEPARATE), [140, 200], {}, ("lock_separate", {"more": 100, "full": 100})),
        (profile("dutch-half-bet", **SEPARATE), [125, 149], {}, ("lock_short_half", {"more": 49, "full": 100})),
        (profile("dutch-half-bet", **SEPARATE), [125, 150], {}, ("lock_separate", {"more": 50, "full": 100})),
        (profile("dutch-half-bet", **SEPARATE), [150], {}, None),
        ("dutch-half-bet", [59], {"bet": 40, **FIXED}, ("lock_short_half", {"more": 19, "full": 40})),
        ("dutch-half-bet", [60], {"bet": 40, **FIXED}, None),
        (profile("dutch-half-bet", **SEPARATE), [60], {"bet": 40, **FIXED}, None),
        (
            profile("dutch-half-bet", **SEPARATE),
            [59],
            {"bet": 40, **FIXED},
            ("lock_short_half", {"more": 19, "full": 40}),
        ),
    ],
)
def test_a_seat_that_is_not_freed_is_told_by_how_much(law, all_ins, kw, lock):
    where, acts = row(all_ins, **kw)
    ruling = rule(law, where, *acts)
    assert why(ruling).get("A") == lock
    assert ("A" in open_to(ruling)) is (lock is None)


def test_a_seat_that_has_called_all_of_it_is_told_that_it_has_acted():
    ruling = rule(TDA, situation("A 900/100* B 900/100* C 5000", "C", 100, prior="A bet 100, B call"), "C say call")
    assert why(ruling) == {"A": ("lock_acted", {}), "B": ("lock_acted", {})}


def test_nl_example_checkers_behind_an_opening_all_in_answered_nothing():
    """Two checks, then 60 all-in where 100 is the smallest bet: both face 60, and none of it reopens."""
    where = situation("R 5000* M 5000* D 60 J 5000", "D", prior="R check, M check")
    ruling = rule(TDA, where, "D say all-in")
    assert why(ruling) == {s: ("lock_short", {"more": 60, "full": 100}) for s in "RM"}
    assert ruling.reason.code == "all_in_short"
    assert ruling.reason.params["closed"] == "R, M"
    assert ruling.reason.params["reopened"] == ""


def test_a_short_all_in_tells_its_numbers_and_for_whom_it_opens():
    ruling = rule(TDA, situation("A 900/100* B 900/100* C 150", "C", 100, prior="A bet 100, B call"), "C say all-in")
    assert ruling.reason.params == {"seat": "C", "to": 150, "add": 150, "reopened": "", "closed": "A, B"}


def test_why_a_seat_with_chips_may_not_raise_else():
    ruling = rule(TDA, situation("A 0/500* B 500 C 900", "B", 500, prior="A all-in 500"), "B say call")
    assert why(ruling) == {"C": ("lock_alone", {})}
    ruling = rule(TDA, situation("A 4500/500* B 5000 C 400", "B", 500, prior="A bet 500"), "B say call")
    assert why(ruling)["C"] == ("lock_stack", {"stack": 400})
    capped = "A bet 40, B raise 80, A raise 120, B raise 160"
    where = situation("A 880/120* B 840/160* C 1000 D 0/0!", "C", 160, 40, prior=capped, **FIXED)
    assert why(rule(TDA, where, "C say call"))["A"] == ("lock_capped", {"raises": 3})


# ---- stud: who has only brought it in -------------------------------------------------------------------------------

STUD = {
    "structure": "fixed-limit", "game": "7stud", "blinds": (), "pot": 0,
    "limits": {"small_bet": 40, "big_bet": 80, "bring_in": 10, "raises_cap": 3},
}  # fmt: skip


def test_a_bring_in_that_nobody_has_completed_is_in_neither_list():
    where = situation("A 990/10* B 1000 C 1000", "B", 10, 40, street="third", prior="A bring-in 10", **STUD)
    ruling = rule("dutch-half-bet", where, "B say call")
    assert (open_to(ruling), locked(ruling)) == ({"C"}, set())
    ruling = rule("dutch-half-bet", where, "B say complete")
    assert (open_to(ruling), locked(ruling)) == ({"A", "C"}, set())


def test_a_seat_too_short_to_complete_is_named_before_it_has_acted():
    where = situation("A 990/10* B 1000 C 8", "B", 10, 40, street="third", prior="A bring-in 10", **STUD)
    assert why(rule("dutch-half-bet", where, "B say call")) == {"C": ("lock_stack", {"stack": 8})}


def test_checkers_on_a_later_street_of_stud_are_named_behind_a_short_opening():
    where = situation("A 990* B 15 C 990", "B", 0, 40, street="fourth", prior="A check", **STUD)
    ruling = rule("dutch-half-bet", where, "B say all-in")
    assert why(ruling) == {"A": ("lock_short_half", {"more": 15, "full": 40})}


# ---- amounts in the chips in play -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rounding", "total"), [("none", 315), ("up", 320), ("down", 310), ("nearest", 320)]
)  # fmt: skip
def test_pot_limit_amounts_go_by_the_chips_in_play(rounding, total):
    law = profile(TDA, pot_rounding=rounding)
    table = deal([5000] * 2, law=law, structure="pot-limit", chip_unit=10).table
    assert table.rounded(315) == total
    assert [table.rounded(n) for n in (310, 314, 316)] == {
        "none": [310, 314, 316], "up": [310, 320, 320], "down": [310, 310, 310], "nearest": [310, 310, 320],
    }[rounding]  # fmt: skip
    assert deal([5000] * 2, law=law, structure="pot-limit").table.rounded(315) == 315


@pytest.mark.parametrize(("said", "to"), [(1010, 1010), (1014, 1010), (1015, 1020), (1019, 1020)])
def test_wsop_la_134_a_said_amount_goes_to_the_nearest(said, to):
    law = profile(TDA, amount_rounding="nearest")
    where = situation("A 4500/500* B 5000", "B", 500, prior="A bet 500", chip_unit=10)
    assert rule(law, where, f"B say raise {said} to").to == to
    assert rule(profile(TDA, amount_rounding="none"), where, f"B say raise {said} to").to == said
    pairs = situation("A 4500/500* B 5000", "B", 500, prior="A bet 500", chip_unit=2)
    assert rule(law, pairs, "B say raise 1001 to").to == 1002


def test_who_has_checked_is_asked_again_only_when_somebody_bets():
    where = situation("A 5000 B 5000 C 5000", "A")
    assert [o.seat for o in rule(TDA, where, "A tap").options] == ["B", "C"]
    assert [o.seat for o in rule(TDA, where, "A tap", "B did check").options] == ["C"]
    assert [o.seat for o in rule(TDA, where, "A tap", "B did bet 500").options] == ["C", "A"]


@pytest.mark.parametrize("structure", ["no-limit", "pot-limit", "spread-limit"])
def test_the_smallest_raise_is_stated_over_every_bet_and_over_none(structure):
    where = situation("A 500 B 500", "A", structure=structure, limits={"min": 1, "max": 50}, blinds=(1, 1), pot=10)
    ruling = rule(TDA, where, "A say bet 1")
    assert (ruling.call_to, ruling.min_raise_to) == (1, 2)
    assert ruling.max_raise_to == {"no-limit": None, "pot-limit": {"B": 13}, "spread-limit": 51}[structure]
    ruling = rule(TDA, where, "A tap")
    assert (ruling.call_to, ruling.min_raise_to, ruling.max_raise_to) == (None, None, None)


def test_at_fixed_limit_the_raise_is_stated_while_somebody_may_make_it():
    where = situation("A 960/40* B 1000 C 1000", "B", 40, 40, prior="A bet 40", **FIXED)
    ruling = rule(TDA, where, "B say call")
    assert (ruling.min_raise_to, ruling.max_raise_to) == (80, 80)
    ruling = rule(TDA, where, "B say call", "C did call")
    assert (ruling.min_raise_to, ruling.max_raise_to) == (None, None)


@pytest.mark.parametrize(
    ("stack", "full", "raises", "closed"), [(149, 100, 1, True), (150, 50, 2, False), (151, 51, 2, False)]
)
def test_an_all_in_of_just_the_small_blind_is_a_raise_where_that_is_the_smallest(stack, full, raises, closed):
    law = profile("tda-2024", min_bet="sb", min_raise="small_blind")
    hand = play(deal([stack, 1000, 1000], law=law), "3 call", "1 raise " + str(stack), "2 call")
    assert (hand.full, hand.raises, hand.to_act) == (full, raises, "3")
    assert hand.can_raise_to(400) is not closed


def test_why_a_raise_is_closed_and_that_an_option_is_a_check():
    assert play(deal([1000] * 3), "3 call", "1 call").verify_check() is None
    hand = play(deal([150, 1000, 1000]), "3 call", "1 raise 150", "2 call")
    with pytest.raises(RaiseClosed, match="50 more is no full raise of 100"):
        hand.raise_to(400)
    hand = play(deal([150, 1000, 1000]), "3 call", "1 raise 150", "2 fold")
    with pytest.raises(RaiseClosed, match="nobody is left to answer"):
        hand.raise_to(400)
