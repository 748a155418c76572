"""What is said, in detail: which word binds, what it means with an amount, and the paragraphs and reasons given.

Each of these was missing: a change in the rules had gone unnoticed (see MUTANTS.md).
"""

from __future__ import annotations

import pytest

from tabled.model.ruling import Change
from tabled.rules.situation import hand_from
from tabled.rules.turn import behind_skipped, substantial, with_chips
from tests.rules.table import act, load, locked, opening, profile, rule, short, situation

TDA = "tda-2024"


def facing(who: str = "A 4500/500* B 5000 C 5000", **kw):
    return situation(who, "B", 500, 500, prior="A bet 500", **kw)


# ---- which word binds -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("acts", "ruled"),
    [
        (("B say raise", "B say number 1200"), ("raise", 1200, 1200, 0)),  # the amount of the raise
        (("B say raise 1000 to", "B say number 3000"), ("raise", 1000, 1000, 0)),  # it has one already
        (("B say call", "B say number 3000"), ("call", 500, 500, 0)),
        (("B say raise", "B say call"), ("raise", 1000, 1000, 0)),
        (("B say number 1200", "B say raise"), ("raise", 1200, 1200, 0)),
        (("B say complete",), ("raise", 1000, 1000, 0)),  # there is nothing to complete: a raise
    ],
)
def test_the_first_word_binds_and_a_number_after_a_bare_raise_is_its_amount(acts, ruled):
    assert short(rule(TDA, facing(), *acts)) == ruled


def test_a_number_after_a_bare_bet_is_its_amount():
    assert short(rule(TDA, opening(), "A say bet", "A say number 300")) == ("bet", 300, 300, 0)


def test_check_said_and_exactly_the_call_put_in_is_a_call():
    assert short(rule(TDA, facing(), "B say check", "B put 500")) == ("call", 500, 0, 0)


def test_an_unclear_word_leaves_every_act_that_is_possible():
    (mine,) = rule(TDA, opening(), "A say other hm").options
    assert (mine.check, mine.fold, mine.raise_min_to) == (True, True, 100)
    (mine,) = rule(TDA, facing(), "B say other hm").options
    assert (mine.check, mine.fold, mine.call_to, mine.raise_min_to) == (False, True, 500, 1000)


def test_raise_alone_is_the_smallest_raise_whatever_the_threshold_for_spoken_amounts():
    law = profile(TDA, underraise_spoken="threshold")
    assert short(rule(law, facing(), "B say raise")) == ("raise", 1000, 1000, 0)


def test_se_7_4_chips_of_exactly_the_smallest_raise_make_an_amount_the_total():
    assert short(rule("swedish", facing(), "B say raise 1000", "B put 500 500")) == ("raise", 1000, 0, 0)


# ---- what is cited --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("clause", "where", "said", "not_said"),
    [
        ("TDA 54-A", facing(), ("B say pot",), ("B say raise",)),
        ("TDA 55-B", opening(), ("A say raise 300 to",), ("A say bet 300",)),
        ("TDA 42-B", facing(), ("B say raise 1500 to", "B put 500", "B again", "B put 1000"),
         ("B say raise 1500 to", "B put 500 1000")),
        ("TDA 44", facing(), ("B say raise", "B put 1000"), ("B say raise", "B put 500 500")),
        ("TDA 44", facing(), ("B say raise", "B put 1000"), ("B say raise", "B put 1000", "B again", "B put 500")),
    ],
)  # fmt: skip
def test_a_paragraph_is_cited_for_the_act_that_it_is_about(clause, where, said, not_said):
    assert clause in rule(TDA, where, *said).cite
    assert clause not in rule(TDA, where, *not_said).cite


def test_raise_said_over_a_bet_is_no_wrong_word():
    assert "TDA 55-B" not in rule(TDA, facing(), "B say raise 1000 to").cite


def test_nl_completion_is_cited_when_it_is_said():
    where = situation(
        "A 0/5 B 500 C 500", "B", 5, 20, prior="A all-in 5", structure="fixed-limit",
        limits={"small_bet": 20, "big_bet": 40},
    )  # fmt: skip
    ruling = rule("dutch-half-bet", where, "B say complete")
    assert (ruling.action, ruling.to) == ("complete", 20)
    assert "NL completion" in ruling.cite


@pytest.mark.parametrize(
    ("who", "acts", "code", "cites"),
    [
        ("A 4500/500* B 500 C 5000", ("B say all-in",), "all_in_call", True),  # exactly the price
        ("A 4500/500* B 300 C 5000", ("B say all-in",), "all_in_call", True),
        ("A 4500/500* B 300 C 5000", ("B put 100 100 100",), "all_in_call", True),
        ("A 4500/500* B 600 C 5000", ("B say all-in",), "all_in_short", False),
        ("A 4500/500* B 1000 C 5000", ("B say all-in",), "all_in", False),
        ("A 4500/500* B 900 C 5000", ("B say call",), "call", False),
    ],
)
def test_nl_all_in_says_what_it_is(who, acts, code, cites):
    ruling = rule("dutch-full-bet", facing(who), *acts)
    assert ruling.reason.code == code
    assert ("NL all-in call" in ruling.cite) is cites
    assert ("NL full-bet" in ruling.cite) is (code in ("all_in", "all_in_short"))


@pytest.mark.parametrize(("stack", "full"), [(124, False), (125, True), (130, True)])
def test_an_all_in_of_a_whole_step_is_full_where_raises_go_by_the_small_blind(stack, full):
    law = profile("swedish", min_raise="small_blind")
    where = situation(
        f"A 900/100* B {stack} C 900", "B", 100, 100, prior="A bet 100", game="swedish-draw", street="after_draw",
        blinds=(25, 50),
    )  # fmt: skip
    ruling = rule(law, where, "B say all-in")
    assert (ruling.to, ruling.full, ruling.counts_as_raise) == (stack, full, full)
    assert (ruling.reason.code == "all_in") is full


def test_a_held_act_says_whose_turn_it_is():
    assert rule(TDA, facing(), "C say call").reason.params == {"seat": "C", "turn": "B"}


# ---- which chips go back --------------------------------------------------------------------------------------------


def test_a_chip_that_was_taken_back_is_not_given_back_again():
    ruling = rule("swedish", facing(), "B put 500", "B again", "B put 200 100 100", "B pull 200")
    assert (ruling.to, ruling.back, ruling.back_chips) == (500, 200, (100, 100))


def test_chips_of_an_earlier_bet_that_were_taken_back_no_longer_lie_there():
    where = situation("A 4900/100*[100] B 4500/500* C 0/0!", "A", 500, 400, prior="A bet 100, B raise 500, C fold")
    ruling = rule(TDA, where, "A pull 100", "A put 1000")
    assert short(ruling) == ("call", 500, 0, 500)
    assert (ruling.back_chips, ruling.change) == ((), Change(500, 1000))


# ---- substantial action (TDA 36) ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("groups", "is_it"),
    [
        ((("C tap",), ("A tap",)), False),
        ((("C tap",), ("A put 500", "A away")), True),
        ((("C put 500", "C away"), ("A tap",)), True),
        ((("C tap",), ("A tap",), ("B tap",)), True),
        ((("C tap",), ("A tap",), ("B tap",), ("D tap",)), True),
        ((("C put 500",),), False),
        ((("C did fold",), ("A did check",)), False),
        ((("C did fold",), ("A did call 500", "A away")), True),
    ],
)
def test_substantial_action_is_two_acts_with_chips_or_any_three(groups, is_it):
    assert substantial([[act(t) for t in g] for g in groups]) is is_it


def test_with_chips_is_chips_or_an_act_that_took_some():
    assert with_chips([act("A put 500"), act("A away")])
    assert with_chips([act("A away"), act("A did raise 500")])
    assert not with_chips([act("A tap"), act("A away"), act("A did fold")])
    assert not with_chips([act("A did check")])


def test_tda_53_b_the_skipped_seat_is_not_told_that_it_may_raise():
    where = situation("A 4500/500* B 5000 C 5000 D 5000", "B", 500, 500, prior="A bet 500")
    ruling = behind_skipped(hand_from(where, load(TDA)), load(TDA), [act("C say call")]).ruling
    assert ruling.skipped == ("B",)
    assert ruling.may_raise == ("D",)
    assert locked(ruling) == {"A"}


# ---- a street taken up without the acts that led to it --------------------------------------------------------------


@pytest.mark.parametrize(
    ("structure", "limits", "raised"),
    [
        ("fixed-limit", {"small_bet": 20, "big_bet": 40}, ("raise", 40, 40, 0)),
        ("spread-limit", {"min": 5, "max": 50}, ("raise", 40, 40, 0)),
        ("no-limit", None, ("raise", 40, 40, 0)),
        ("pot-limit", None, ("raise", 40, 40, 0)),
    ],
)
def test_a_bet_that_no_prior_act_tells_of_is_a_whole_bet(structure, limits, raised):
    where = situation("A 400/20* B 500 C 500", "B", 20, 20, structure=structure, limits=limits, blinds=(5, 10))
    for law in (TDA, "dutch-half-bet"):
        ruling = rule(law, where, "B say raise")
        assert short(ruling) == raised
        assert locked(rule(law, where, "B say call")) == {"A"}
    assert rule("dutch-half-bet", where, "B say call").options[0].complete_to is None


# ---- bare numbers ---------------------------------------------------------------------------------------------------

RAISED = {"prior": "D bet 100, A raise 500", "turn": "B", "bet": 500, "full": 400}


@pytest.mark.parametrize(
    ("who", "acts", "ruled", "code"),
    [
        ("D 900/100* A 4500/500* B 5000 C 900", ("B say number 500",), ("call", 500, 500, 0), "call"),
        ("D 900/100* A 4500/500* B 300 C 900", ("B say number 300",), ("all_in", 300, 300, 0), "all_in_call"),
        ("D 900/100* A 4500/500* B 300 C 900", ("B say number 350",), ("all_in", 300, 300, 0), "all_in_call"),
        ("D 900/100* A 4500/500* B 500 C 900", ("B say number 500",), ("all_in", 500, 500, 0), "all_in_call"),
    ],
)
def test_a_number_that_is_the_call_or_the_whole_stack_is_no_undercall(who, acts, ruled, code):
    ruling = rule(TDA, situation(who, **RAISED), *acts)
    assert short(ruling) == ruled
    assert ruling.reason.code == code
    assert not ruling.floor


def test_a_number_hardly_heard_is_weighed_against_the_new_chips_only():
    where = situation("A 4900/100*[100] B 4500/500* C 5000", "A", 500, 400, prior="A bet 100, B raise 500")
    ruling = rule(TDA, where, "A say number 900 low", "A put 500 500")
    assert ruling.action == "floor"
    assert [c.to for c in ruling.candidates][:2] == [900, 1000]


def test_a_conditional_word_leaves_the_check_where_there_is_no_bet():
    (mine,) = rule(TDA, opening(), "A say other if you bet I raise").options
    assert mine.check


@pytest.mark.parametrize("acts", [("B say number",), ("B say number 0",)])
def test_a_number_that_nobody_heard_is_an_unclear_word(acts):
    for where in (facing(), situation("B 5000 C 5000", "B")):
        ruling = rule(TDA, where, *acts)
        assert (ruling.action, ruling.reason.code) == ("floor", "floor_unclear_word")
    assert short(rule(TDA, facing(), *acts, "B put 500")) == ("call", 500, 0, 0)  # the chips say it


def test_tda_46_b_who_folds_after_taking_chips_back_is_told_the_call_that_the_stack_can_make():
    where = situation("A 300/100*[100] B 4500/500* C 0/0!", "A", 500, 400, prior="A bet 100, B raise 500, C fold")
    ruling = rule(TDA, where, "A pull 100", "A cards")
    assert (ruling.reason.code, ruling.reason.params["to"]) == ("lifted_binds_call", 400)
