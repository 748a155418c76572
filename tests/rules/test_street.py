"""A street's acts in their order: whose act is in question, what comes too late for it, and who puts it right."""

from __future__ import annotations

import pytest

from tests.rules.table import adjust, facing, judged, opening, profile, rule, short, situation

TDA = "tda-2024"


# ---- one act, or two ------------------------------------------------------------------------------------------------


def test_se_7_1_chips_after_the_next_card_are_no_part_of_the_bet():
    where = situation("A 4500/500* B 5000", "B", 500, 500, prior="A bet 500")
    ruling = rule("swedish", where, "B put 500", "card dealt", "B put 500")
    assert short(ruling) == ("call", 500, 0, 500)
    assert short(rule("swedish", where, "B put 500", "B put 500")) == ("raise", 1000, 0, 0)


def test_change_that_the_dealer_gives_unasked_is_no_act():
    ruling = rule(TDA, facing(325), "B put 500", "B change")
    assert short(ruling) == ("call", 325, 0, 175)


def test_tda_53_a_word_and_chips_out_of_turn_are_one_act():
    acts = ("C say raise", "C put 500 500 500", "C away")
    assert short(rule(TDA, facing(), *acts, "B did fold")) == ("raise", 1500, 0, 0)
    assert rule(TDA, facing(), *acts).hold == (500, 500, 500)


def test_tda_53_two_who_acted_early_are_ruled_one_after_the_other():
    where = facing(behind="C 5000 D 5000")
    done = judged(TDA, where, "C say call", "D say fold", "B did fold")
    assert (done.ruling.seat, done.ruling.action) == ("D", "fold")
    assert (done.after.bet_of("C"), done.after.to_act) == (500, None)


def test_the_hand_that_leaves_after_a_ruled_act_is_no_act_of_its_own():
    ruling = rule(TDA, facing(), "B put 500", "C did raise 1500", "B away")
    assert (ruling.seat, short(ruling)) == ("B", ("call", 500, 0, 0))


def test_rrp_3_12_a_claim_after_others_have_acted_changes_nothing_that_waits_for_the_floor():
    law = profile(TDA, undercall_claim="floor")
    where = situation("A 9000/200* B 9000/800* C 9000 D 9000", "C", 800, 600, prior="A bet 200, B raise 800")
    assert rule(law, where, "C put 200", "C claims unseen").reason.code == "floor_undercall_claim"
    late = rule(law, where, "C put 200", "D did fold", "C claims unseen")
    assert (late.seat, late.reason.code) == ("C", "floor_undercall")


# ---- a word that waits for its chips --------------------------------------------------------------------------------


def test_tda_59_b_a_call_is_premature_only_before_the_chips():
    bet, put = "A say bet", "A put 1000 1000"
    for before in ((), ("A stage 1000",)):
        early = rule(TDA, opening(), *before, bet, "B say call", put)
        assert (early.seat, early.reason.code) == ("B", "floor_premature")
    for acts in ((bet, put, "B say call"), (bet, "A push 1000 1000", "B say call")):
        assert (rule(TDA, opening(), *acts).seat, short(rule(TDA, opening(), *acts))) == ("B", ("call", 2000, 2000, 0))
    assert short(rule(TDA, opening(), "A say bet 300", "B say call")) == ("call", 300, 300, 0)


@pytest.mark.parametrize(
    ("last", "seat", "to_act"),
    [
        ("C say raise", "B", "C"),  # how much is still to come
        ("C say raise 1200 to", "C", "A"),
        ("C say call", "C", None),
        ("C put 500", "C", None),
    ],
)
def test_a_last_bare_raise_leaves_the_act_before_it_in_question(last, seat, to_act):
    ruling = rule(TDA, facing(), "B put 500", "B away", last)
    assert (ruling.seat, ruling.next_seat) == (seat, to_act)
    assert rule(TDA, facing(), "B put 500", "B away", "C say raise", "C put 1000 1000").seat == "C"


def test_a_bare_raise_that_is_the_only_act_is_ruled():
    assert short(rule(TDA, facing(), "B say raise")) == ("raise", 1000, 1000, 0)
    assert short(rule(TDA, facing(), "B did call", "C say raise")) == ("raise", 1000, 1000, 0)


# ---- undercalls in a row --------------------------------------------------------------------------------------------


def test_tda_51_c_names_the_others_and_stays_so_when_a_later_seat_calls_all_of_it():
    where = facing(8000, 90000, "C 90000 D 90000 E 90000")
    rows = ("B put 1000 1000", "B away", "C put 1000 1000", "C away")
    for later in ((), ("D did call 8000",), ("D did call 8000", "E did call 8000")):
        ruling = rule(TDA, where, *rows, *later)
        assert (ruling.seat, ruling.floor) == ("B", True)
        assert ruling.floor_reason.params == {"others": "C"}
        assert [(c.action, c.to) for c in ruling.candidates] == [("call", 8000), ("pending", None)]
    three = rule(TDA, where, *rows, "D put 1000 1000", "D away")
    assert three.floor_reason.params == {"others": "C, D"}
    for alone in (("B put 1000 1000",), ("B put 1000 1000", "B away", "C did call 8000")):
        ruling = rule(TDA, where, *alone)
        assert (short(ruling), ruling.floor) == (("call", 8000, 6000, 0), False)


# ---- wrong amounts --------------------------------------------------------------------------------------------------


def test_se_7_9_the_last_bet_is_put_right_and_no_call_after_it():
    ruling = rule("swedish", facing(), "B put 500 500", "C put 1000", "dealer points")
    assert (ruling.seat, ruling.to) == ("B", 1000)
    ruling = rule("swedish", facing(), "B put 500 500", "C did raise 2000", "dealer points")
    assert (ruling.seat, ruling.to) == ("B", 1000)  # of what was put in freely; C's act is ruled already
    ruling = rule("swedish", facing(), "B did call", "C did call", "dealer points")
    assert ruling.seat == "C"
    ruling = rule("swedish", facing(), "B did raise 1000", "C did call 1000", "dealer points")
    assert ruling.seat == "B"


@pytest.mark.parametrize("acts", [("B put 500 100 100 100",), ("B did raise 800",)])
def test_se_7_9_a_spectator_is_not_heard_and_the_floor_hears_what_is_right(acts):
    """800 over 500 is 1000 by §7.8."""
    ruling = rule("swedish", facing(), *acts, "spectator points")
    assert (ruling.seat, ruling.action, ruling.floor) == ("B", "stands", True)
    ignoring = profile("swedish", third_party_unheard="ignored")
    ruling = rule(ignoring, facing(), *acts, "spectator points")
    assert (ruling.action, ruling.floor, ruling.candidates) == ("stands", False, ())


def test_se_7_9_a_spectator_who_points_at_an_amount_not_ruled_on():
    where = situation("A 4500/500* B 4200/800* C 5000", "C", 500, 500, prior="A bet 500, B put 800")
    ruling = rule("swedish", where, "spectator points", put_by="B")
    assert [(c.action, c.to) for c in ruling.candidates] == [("stands", None), ("corrected", 1000)]
    ruling = rule(profile("swedish", third_party_unheard="ignored"), where, "spectator points", put_by="B")
    assert (ruling.floor, ruling.candidates) == (False, ())


def test_se_7_9_an_act_out_of_turn_is_not_put_right_before_its_turn():
    ruling = rule("swedish", facing(), "C put 500 100", "spectator points")
    assert (ruling.seat, [c.action for c in ruling.candidates]) == ("C", ["stands"])


def test_tda_52_a_what_was_answered_after_the_window_stands_as_it_was_answered():
    where = situation(
        "A 4500/500* B 4200/800* C 4200/800* D 5000", "D", 500, 500, prior="A bet 500, B put 800, C call 800"
    )
    done = judged(TDA, where, "D did call 800", "card dealt", "dealer points", put_by="B")
    assert (done.ruling.action, done.ruling.next_seat, done.ruling.call_to) == ("stands", "A", 800)
    assert done.after.bet_of("D") == 800


def test_tda_62_all_in_with_all_the_chips_hides_none():
    ruling = rule(TDA, facing(500, 1000), "B say all-in", "B put 500 500", "B away", "C did call 1000", "dealer points")
    assert (ruling.action, ruling.to) == ("all_in", 1000)
    hidden = rule(TDA, facing(500, 1001), "B say all-in", "B put 500 500", "B away", "C did call 1000", "dealer points")
    assert hidden.reason.code == "floor_hidden_chips"


def pot_bet(structure: str, quoted: int, chips: str, *later: str):
    """A bets into a pot of 300 after the dealer has named one; the amount is pointed out."""
    acts = (f"dealer quotes {quoted}", f"A put {chips}", "A away", *later, "dealer points")
    return rule(TDA, opening("A 5000 B 5000 C 5000 D 5000", structure=structure), *acts)


@pytest.mark.parametrize(
    ("structure", "quoted", "chips", "ruled", "clause"),
    [
        ("no-limit", 350, "100 100 100 50", ("bet", 350, 0, 0), "TDA 52-A"),  # a pot named is nothing at no limit
        ("no-limit", 250, "100 100 50", ("bet", 250, 0, 0), "TDA 52-A"),
        ("pot-limit", 350, "100 100", ("bet", 200, 0, 0), "TDA 52-A"),
        ("pot-limit", 350, "100 100 100 50", ("bet", 300, 0, 50), "TDA 52-B"),
        ("pot-limit", 250, "100 100 50", ("bet", 300, 50, 0), "TDA 52-B"),
        ("pot-limit", 250, "100 100 100 100", ("bet", 300, 0, 100), "TDA 52-B"),
    ],
)
def test_tda_52_b_is_about_the_pot_and_52_a_about_any_other_amount(structure, quoted, chips, ruled, clause):
    ruling = pot_bet(structure, quoted, chips, "B did fold")
    assert short(ruling) == ruled
    assert ({"TDA 52-A", "TDA 52-B"} & set(ruling.cite)) == {clause}


# ---- after the window -----------------------------------------------------------------------------------------------

LATE = ("card dealt", "dealer points")


@pytest.mark.parametrize(
    ("where", "acts", "ruled", "bets", "turn"),
    [
        # What lay there and was answered stands, though it was no whole raise.
        (facing(), ("B put 500 100 100 100", "B away", "C did call 800"), ("raise", 800, 0, 0), [500, 800, 800], "A"),
        (facing(), ("B put 500 100 100", "B away", "C did call 700"), ("raise", 700, 0, 0), [500, 700, 700], "A"),
        (facing(), ("B put 500 100 100", "B away"), ("raise", 700, 0, 0), [500, 700, 0], "C"),
        (opening(), ("A put 25 25", "A away", "B did call 50"), ("bet", 50, 0, 0), [50, 50, 0], "C"),
        # What was answered as it was ruled is that.
        (facing(), ("B put 500 100 100 100", "B away", "C did call 1000"), ("raise", 1000, 0, 0),
         [500, 1000, 1000], "A"),
        (facing(), ("B put 500 100 100", "B away", "C did call 500"), ("raise", 500, 0, 0), [500, 500, 500], None),
        # A word without chips is its amount, or what it was ruled at.
        (opening(), ("A say bet", "B did call 100"), ("bet", 100, 0, 0), [100, 100, 0], "C"),
        (opening(), ("A say all-in", "B did call 5000"), ("bet", 5000, 0, 0), [5000, 5000, 0], "C"),
        (facing(), ("B say raise 700 to", "C did call 700"), ("raise", 700, 0, 0), [500, 700, 700], "A"),
        (facing(), ("B say raise 200 by", "C did call 700"), ("raise", 700, 0, 0), [500, 700, 700], "A"),
        (facing(), ("B say raise 1200 to", "B put 1000 100", "C did call 1100"), ("raise", 1100, 0, 0),
         [500, 1100, 1100], "A"),
        # Chips that were taken back do not lie there.
        (facing(), ("B put 500 500 500", "B pull 500", "B away", "C did call 1000"), ("raise", 1000, 0, 0),
         [500, 1000, 1000], "A"),
    ],
)  # fmt: skip
def test_tda_52_a_after_the_next_card_a_bet_stands_as_it_was_answered(where, acts, ruled, bets, turn):
    done = judged(TDA, where, *acts, *LATE)
    assert short(done.ruling) == ruled
    assert done.ruling.window == "closed by the next card"
    assert (done.after.bet, done.ruling.next_seat) == (bets, turn)


@pytest.mark.parametrize(
    ("where", "acts", "ruled"),
    [
        (facing(), ("B say fold", "C did call 500"), ("fold", 0, 0, 0)),
        (facing(), ("B say call", "C did call 500"), ("call", 500, 500, 0)),
        (facing(), ("B put 1000", "B away", "C did call 500"), ("call", 500, 0, 500)),  # one chip, and its change
        (facing(), ("B put 200 200", "B away", "C did call 500"), ("call", 500, 100, 0)),  # still owed
        (opening(), ("A tap", "B did check"), ("check", 0, 0, 0)),
        (facing(), ("B tap",), ("call_or_fold", None, 0, 0)),
    ],
)
def test_tda_52_a_no_card_turns_a_call_or_a_fold_into_another_act(where, acts, ruled):
    for pointed in (("dealer points",), LATE):
        ruling = rule(TDA, where, *acts, *pointed)
        assert short(ruling) == ruled
        assert not ruling.window


def test_tda_52_a_of_two_raises_by_a_seat_the_newer_one_is_put_right():
    where = facing(behind="C 5000", pot=0)
    acts = ("B put 500 500", "B away", "C did raise 2000", "A did fold", "B put 1000 500 100", "B away")
    done = judged(TDA, where, *acts, "C did call 2600", *LATE)
    assert (done.ruling.seat, short(done.ruling)) == ("B", ("raise", 2600, 0, 0))
    assert done.after.bet == [500, 2600, 2600]


def test_a_small_bet_that_stands_as_a_check_gives_its_callers_all_back():
    law = profile(TDA, underbet_threshold="half")
    ruling = rule(law, opening(), "A put 25", "A away", "B did call 25", "dealer points")
    assert (ruling.verb, ruling.back, adjust(ruling)) == ("check", 25, [("B", -25)])


def test_tda_52_b_a_bet_over_the_pot_that_was_only_named_is_about_the_pot():
    where = opening("A 5000 B 5000 C 5000 D 5000", structure="pot-limit")
    for act in ("A did bet 400", "A say bet 400"):
        ruling = rule(TDA, where, act, "B did call 400", "dealer points")
        assert (ruling.verb, ruling.to, adjust(ruling)[-1]) == ("bet", 300, ("B", -100))
        assert "TDA 52-B" in ruling.cite
        assert "TDA 52-A" in rule(TDA, where, act.replace("400", "200"), "B did call 200", "dealer points").cite


# ---- acts behind a seat that was passed over ------------------------------------------------------------------------


def skipped(*acts: str):
    where = situation("3 9000/600* 4 9000 5 9000 6 9000", "4", 600, 400, prior="3 raise 600", street="preflop",
                      blinds=(100, 200), pot=300)  # fmt: skip
    return judged(TDA, where, *acts)


@pytest.mark.parametrize(
    "acts", [("5 did raise 1200", "6 did call 1200"), ("6 did raise 1200", "5 did call 1200"),
             ("6 did raise 1200", "5 tap", "3 did call 1200")],
)  # fmt: skip
def test_tda_53_b_what_others_did_behind_the_skipped_seat_is_counted(acts):
    done = skipped(*acts)
    first, *_, last = (a.split()[0] for a in acts)
    assert (done.ruling.seat, done.ruling.skipped, done.ruling.floor) == (first, ("4",), True)
    assert (done.after.bet_of(first), done.after.bet_of(last)) == (1200, 1200)


def test_tda_53_b_three_checks_of_a_bet_bind_nobody():
    where = situation("3 9000/600* 4 9000 5 9000 6 9000 7 9000", "4", 600, 400, prior="3 raise 600")
    done = judged(TDA, where, "5 tap", "6 tap", "7 tap")
    assert (done.ruling.seat, done.ruling.verb, done.after) == ("5", None, None)


def test_a_last_bare_raise_leaves_a_free_act_in_question_before_a_ruled_one():
    ruling = rule(TDA, facing(behind="C 5000 D 5000"), "B put 500", "B away", "C did call 500", "D say raise")
    assert (ruling.seat, ruling.next_seat) == ("B", "D")
