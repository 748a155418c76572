"""The Swedish betting law, paragraph by paragraph, in numbers of our own."""

from __future__ import annotations

import pytest

from tests.rules.table import open_to, profile, rule, short, situation

THREE = "A 4700/300* B 5000 C 5000"


def facing(stack: int = 5000):
    """B faces a bet of 300."""
    return situation(f"A 4700/300* B {stack} C 5000", "B", 300, prior="A bet 300")


def unopened(pot: int = 300):
    return situation("A 4000 B 5000 C 5000", "A", 0, 100, pot=pot)


def blinds_in(turn: str = "A"):
    return situation(
        "A 4000 B 4000 SB 3950/50 BB 3900/100", turn, 100, 100, street="preflop", pot=0, prior="SB post 50, BB post 100"
    )


# ---- §7.1 -------------------------------------------------------------------------------------------------------


def test_se_7_1_silent_second_trip_facing_a_bet_is_a_call():
    r = rule("swedish", facing(), "B put 100 100 100", "B again", "B put 500", "B away")
    assert short(r) == ("call", 300, 0, 500)
    assert r.back_chips == (500,)
    assert r.cite[0] == "SE 7.1"
    assert not r.floor


def test_se_7_1_string_whose_first_motion_is_a_raise_is_a_call_and_shown_to_the_floor():
    r = rule("swedish", facing(), "B put 500 100", "B again", "B put 500")
    assert short(r) == ("call", 300, 0, 800)
    assert r.floor
    r = rule(profile("swedish", string_first_motion="first_motion"), facing(), "B put 500 100", "B again", "B put 500")
    assert short(r) == ("raise", 600, 0, 500)


def test_se_7_1_a_call_fed_in_two_trips_is_only_a_call():
    assert short(rule("swedish", facing(), "B put 100", "B again", "B put 100 100")) == ("call", 300, 0, 0)


def test_se_7_1_hand_that_left_begins_another_motion():
    assert short(rule("swedish", facing(), "B put 100 100 100", "B away", "B put 500")) == ("call", 300, 0, 500)


def test_se_7_1_opening_string_is_the_first_amount():
    r = rule("swedish", unopened(), "A put 100 100", "A again", "A put 500 500")
    assert short(r) == ("bet", 200, 0, 1000)
    assert "SE 7.1" in r.cite


def test_se_7_1_opening_string_is_lifted_to_the_minimum_from_what_lies_there():
    r = rule("swedish", unopened(), "A put 25 25", "A again", "A put 25 25 25")
    assert short(r) == ("bet", 100, 0, 25)


def test_se_7_1_after_a_check_there_is_still_nothing_to_call():
    where = situation("A 4000* B 5000 C 5000", "B", 0, 100, prior="A check")
    assert short(rule("swedish", where, "B put 100", "B again", "B put 500")) == ("bet", 100, 0, 500)
    other = profile("swedish", string_acted_before="anyone_acted")
    assert short(rule(other, where, "B put 100", "B again", "B put 500")) == ("check", 0, 0, 600)


def test_se_7_1_exception_raise_said_first_then_exactly_the_call_then_one_trip():
    r = rule("swedish", facing(), "B say raise", "B put 100 100 100", "B again", "B put 500 100")
    assert short(r) == ("raise", 900, 0, 0)
    assert r.min_raise_to == 1500
    assert r.cite[0] == "SE 7.1"


def test_se_7_1_exception_holds_once():
    r = rule(
        "swedish",
        facing(),
        "B say raise",
        "B put 100 100 100",
        "B again",
        "B put 500",
        "B again",
        "B put 100",
        "B away",
    )
    assert short(r) == ("raise", 800, 0, 100)


def test_se_7_1_exception_needs_exactly_the_call_first():
    r = rule("swedish", facing(), "B say raise", "B put 100 100", "B again", "B put 1000")
    assert short(r) == ("raise", 600, 0, 600)
    assert r.floor
    r = rule(
        profile("swedish", raise_word_extra_motions="once"),
        facing(),
        "B say raise", "B put 100 100", "B again", "B put 1000",
    )  # fmt: skip
    assert short(r) == ("raise", 1200, 0, 0)


def test_se_7_1_exception_can_fetch_the_whole_stack():
    r = rule("swedish", facing(700), "B say raise", "B put 100 100 100", "B again", "B put 100 100 100 100")
    assert short(r) == ("all_in", 700, 0, 0)
    assert r.full is True


def test_se_7_1_amount_said_first_may_come_in_any_number_of_trips():
    r = rule("swedish", facing(), "B say raise 1000 to", "B put 500", "B again", "B put 500")
    assert short(r) == ("raise", 1000, 0, 0)


# ---- §7.2 -------------------------------------------------------------------------------------------------------


def test_se_7_2_1_a_first_in_before_the_flop_one_silent_chip_is_a_call():
    r = rule("swedish", blinds_in(), "A put 1000")
    assert short(r) == ("call", 100, 0, 900)
    assert (r.change.amount, r.change.out_of) == (900, 1000)
    assert "SE 7.2.1 a" in r.cite


def test_se_7_2_1_a_word_after_the_chip_reached_the_felt_changes_nothing():
    r = rule("swedish", blinds_in(), "A put 1000", "A say raise after")
    assert short(r) == ("call", 100, 0, 900)
    assert not r.floor


def test_se_7_2_1_a_word_before_the_chip_makes_it_a_raise():
    assert short(rule("swedish", blinds_in(), "A say raise", "A put 1000")) == ("raise", 1000, 0, 0)


def test_se_7_2_1_a_second_player_in_is_bound_the_same_way():
    where = situation(
        "A 3900/100* B 4000 SB 3950/50 BB 3900/100", "B", 100, 100, street="preflop", pot=0,
        prior="SB post 50, BB post 100, A call",
    )  # fmt: skip
    assert short(rule("swedish", where, "B put 500")) == ("call", 100, 0, 400)


def test_se_7_2_1_a_small_blind_adds_one_chip_to_its_blind():
    where = situation(
        "A 4000! SB 3950/50[50] BB 3900/100", "SB", 100, 100, street="preflop", pot=0,
        prior="SB post 50, BB post 100, A fold",
    )  # fmt: skip
    r = rule("swedish", where, "SB put 1000")
    assert short(r) == ("call", 100, 0, 950)
    assert r.back_chips == (50,)
    assert (r.change.amount, r.change.out_of) == (900, 1000)


def test_se_7_2_1_a_big_blind_option_one_silent_chip_is_a_check():
    where = situation(
        "A 3900/100* SB 3950/50! BB 3900/100[100]", "BB", 100, 100, street="preflop", pot=0,
        prior="SB post 50, BB post 100, A call, SB fold",
    )  # fmt: skip
    r = rule("swedish", where, "BB put 500")
    assert short(r) == ("check", 100, 0, 500)
    assert r.round_over
    assert r.floor
    r = rule(profile("swedish", one_chip_bb_option="raise"), where, "BB put 500")
    assert short(r) == ("raise", 600, 0, 0)


def test_se_7_2_1_b_after_the_flop_one_chip_is_a_bet_of_all_of_it():
    r = rule("swedish", unopened(), "A put 500")
    assert short(r) == ("bet", 500, 0, 0)
    assert "SE 7.2.1 b" in r.cite


def test_se_7_2_1_b_is_cut_by_the_structure():
    where = situation("A 4000 B 5000", "A", 0, 100, pot=400, structure="pot-limit")
    r = rule("swedish", where, "A put 1000")
    assert short(r) == ("bet", 400, 0, 600)
    where = situation(
        "A 4000 B 5000",
        "A",
        0,
        100,
        structure="fixed-limit",
        limits={"small_bet": 100, "big_bet": 200, "raises_cap": 3},
    )
    r = rule("swedish", where, "A put 500")
    assert short(r) == ("bet", 100, 0, 400)
    assert (r.min_raise_to, r.max_raise_to) == (200, 200)


def test_se_7_2_1_b_is_lifted_by_7_3():
    r = rule("swedish", unopened(), "A put 25")
    assert short(r) == ("bet", 100, 75, 0)
    assert "SE 7.3" in r.cite


def test_se_7_2_2_one_silent_chip_facing_a_bet_is_a_call():
    r = rule("swedish", facing(), "B put 5000")
    assert short(r) == ("call", 300, 0, 4700)
    assert r.cite == ("SE 7.2.2",)
    assert open_to(r) == {"C"}


def test_se_7_2_2_smaller_chip_is_a_call_and_the_rest_is_owed():
    r = rule("swedish", facing(), "B put 100")
    assert short(r) == ("call", 300, 200, 0)
    assert r.floor


def test_se_7_2_2_last_single_chip_is_still_a_call():
    r = rule("swedish", facing(1000), "B put 1000")
    assert short(r) == ("call", 300, 0, 700)
    assert not r.all_in


def test_se_7_2_2_two_equal_chips_are_a_raise():
    r = rule("swedish", facing(), "B put 500 500")
    assert short(r) == ("raise", 1000, 0, 0)
    assert r.min_raise_to == 1700


def test_se_7_2_2_the_text_has_no_every_chip_needed_test():
    where = situation("A 4300/700* B 5000 C 5000", "B", 700, prior="A bet 700")
    r = rule("swedish", where, "B put 500 1000")
    assert short(r) == ("raise", 1500, 0, 0)
    where = situation("A 3800/1200* B 5000 C 5000", "B", 1200, prior="A bet 1200")
    r = rule("swedish", where, "B put 1000 1000")
    assert short(r) == ("raise", 2400, 400, 0)
    assert r.floor
    tested = profile("swedish", multi_chip_test="every_chip_needed")
    assert short(rule(tested, where, "B put 1000 1000")) == ("call", 1200, 0, 800)


# ---- §7.3 -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("chips", "add"), [("25", 75), ("25 25", 50), ("50 25", 25), ("100", 0)])
def test_se_7_3_opening_bet_is_brought_up_to_the_big_blind(chips, add):
    assert short(rule("swedish", unopened(), f"A put {chips}")) == ("bet", 100, add, 0)


def test_se_7_3_no_half_threshold_for_openings_unless_the_house_has_one():
    house = profile("swedish", underbet_threshold="half")
    assert short(rule(house, unopened(), "A put 25")) == ("check", 0, 0, 25)
    assert short(rule(house, unopened(), "A put 25 25")) == ("bet", 100, 50, 0)


def test_se_7_3_svensk_morkpoker_opens_for_the_small_blind():
    where = situation("A 2000 B 2000", "A", 0, 25, blinds=(25, 50), game="swedish-draw", street="after_draw", pot=150)
    assert short(rule("swedish", where, "A put 25")) == ("bet", 25, 0, 0)
    assert short(rule("swedish", where, "A put 10")) == ("bet", 25, 15, 0)
    # The exception is of the Swedish text only.
    assert short(rule("tda-2024", where, "A put 25")) == ("bet", 50, 25, 0)


def test_se_7_3_all_in_for_less_stays_and_a_raiser_adds_a_whole_bet():
    where = situation("A 40 B 5000 C 5000", "A", 0, 100)
    r = rule("swedish", where, "A push 25 5 5 5")
    assert short(r) == ("all_in", 40, 0, 0)
    assert (r.full, r.call_to, r.min_raise_to) == (False, 40, 140)


# ---- §7.4 -------------------------------------------------------------------------------------------------------


def test_se_7_4_raise_is_at_least_the_last_bet_or_raise():
    where = situation("A 4800/200* B 4400/600* C 5000", "C", 600, 400, prior="A bet 200, B raise 600")
    r = rule("swedish", where, "C say raise")
    assert short(r) == ("raise", 1000, 1000, 0)
    assert r.min_raise_to == 1400


def test_se_7_4_no_limit_has_no_largest_raise():
    r = rule("swedish", facing(), "B say raise 4999 to")
    assert r.to == 4999
    assert r.max_raise_to is None


def test_se_7_4_pot_limit_counts_the_call_first():
    where = situation("A 4700/300* B 5000 C 5000", "B", 300, pot=600, structure="pot-limit", prior="A bet 300")
    # pot 600 + 300, call 300: 1200 on top of 300
    assert short(rule("swedish", where, "B say pot")) == ("raise", 1500, 1500, 0)


def test_se_7_4_short_all_in_does_not_raise_the_minimum():
    where = situation("A 4500/500* B 0/650* C 5000", "C", 650, 500, prior="A bet 500, B all-in 650")
    assert rule("swedish", where, "C say raise").to == 1150


def test_se_7_4_morkpoker_raise_follows_the_last_bet_unless_the_house_steps_in_small_blinds():
    where = situation(
        "A 2000 SB 1975/25 BB 1950/50", "A", 50, 50, blinds=(25, 50), game="swedish-draw", street="before_draw", pot=0,
        prior="SB post 25, BB post 50",
    )  # fmt: skip
    assert short(rule("swedish", where, "A put 50 25")) == ("raise", 100, 25, 0)
    assert short(rule(profile("swedish", min_raise="small_blind"), where, "A put 50 25")) == ("raise", 75, 0, 0)


# ---- §7.5 -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("said", "ruled"),
    [
        ("fold", ("fold", 0, 0, 0)),
        ("call", ("call", 300, 300, 0)),
        ("raise", ("raise", 600, 600, 0)),
        ("raise 900 to", ("raise", 900, 900, 0)),
        ("raise 500 by", ("raise", 800, 800, 0)),
        ("all-in", ("all_in", 5000, 5000, 0)),
        ("number 300", ("call", 300, 300, 0)),
        ("number 700", ("raise", 700, 700, 0)),
    ],
)
def test_se_7_5_spoken_word_in_turn_binds(said, ruled):
    assert short(rule("swedish", facing(), f"B say {said}")) == ruled


def test_se_7_5_first_word_binds():
    r = rule("swedish", facing(), "B say call", "B say raise 500 by", "B put 500 500")
    assert short(r) == ("call", 300, 0, 700)


def test_se_7_5_check_facing_a_bet_leaves_call_or_fold():
    r = rule("swedish", facing(), "B say check")
    assert r.action == "call_or_fold"
    assert r.options[0].call_to == 300
    assert r.options[0].raise_min_to is None
    assert r.may_raise == ()
    assert not r.floor


def test_se_7_5_raise_too_small_after_the_word_is_lifted():
    assert short(rule("swedish", facing(), "B say raise 400 to")) == ("raise", 600, 600, 0)
    letter = profile("swedish", underraise_spoken="threshold")
    assert short(rule(letter, facing(), "B say raise 400 to")) == ("call", 300, 300, 0)
    assert short(rule(letter, facing(), "B say raise 450 to")) == ("raise", 600, 600, 0)


def test_se_7_5_raise_of_an_amount_means_by_unless_the_chips_show_the_total():
    assert rule("swedish", facing(), "B say raise 700").to == 1000
    assert rule("swedish", facing(), "B say raise 700", "B put 500 100 100").to == 700
    assert rule(profile("swedish", number_meaning="to"), facing(), "B say raise 700").to == 700


def test_se_7_5_1_the_mouth_wins_over_the_hands_when_it_was_first():
    assert short(rule("swedish", facing(), "B say call", "B put 500 500")) == ("call", 300, 0, 700)
    assert short(rule("swedish", facing(), "B say fold", "B put 500")) == ("fold", 0, 0, 500)
    assert short(rule("swedish", unopened(), "A say bet 200", "A put 500")) == ("bet", 200, 0, 300)


def test_se_7_5_1_in_the_same_instant_the_mouth_wins_and_the_floor_sees_it():
    r = rule("swedish", blinds_in(), "A say raise simultaneous", "A put 500")
    assert short(r) == ("raise", 500, 0, 0)
    assert r.floor
    strict = profile("swedish", simultaneous="word_must_precede")
    assert short(rule(strict, blinds_in(), "A say raise simultaneous", "A put 500")) == ("call", 100, 0, 400)


def test_se_7_5_1_a_later_word_cannot_shrink_a_raise():
    r = rule("swedish", facing(), "B put 500 500", "B away", "B say call after")
    assert short(r) == ("raise", 1000, 0, 0)
    assert r.floor
    letter = profile("swedish", speech_vs_chips="mouth_always")
    assert short(rule(letter, facing(), "B put 500 500", "B away", "B say call after")) == ("call", 300, 0, 700)


# ---- §7.6 -------------------------------------------------------------------------------------------------------


def test_se_7_6_tap_is_a_check():
    r = rule("swedish", unopened(), "A tap")
    assert short(r) == ("check", 0, 0, 0)
    assert r.cite == ("SE 7.6",)


def test_se_7_6_tap_facing_a_bet_is_shown_to_the_floor():
    r = rule("swedish", facing(), "B tap")
    assert r.action == "call_or_fold"
    assert r.floor


def test_se_7_6_pass_is_a_check_without_a_bet_and_unclear_with_one():
    assert rule("swedish", unopened(), "A say other passar").action == "check"
    r = rule("swedish", facing(), "B say other passar")
    assert r.action == "call_or_fold"
    assert r.floor


# ---- §7.7 -------------------------------------------------------------------------------------------------------


def test_se_7_7_counting_beside_the_stack_is_free():
    r = rule("swedish", facing(), "B stage 500 500")
    assert r.action == "pending"
    assert r.next_seat == "B"


def test_se_7_7_hovering_is_no_act():
    assert rule("swedish", facing(), "B hold 500 500", "B away").action == "pending"


def test_se_7_7_a_push_toward_the_pot_binds():
    assert short(rule("swedish", facing(), "B stage 500 500", "B push 500 500")) == ("raise", 1000, 0, 0)


def test_se_7_7_released_chips_cannot_be_taken_back():
    r = rule("swedish", facing(), "B put 500 500", "B pull 500")
    assert short(r) == ("raise", 1000, 500, 0)


def test_se_7_7_push_short_of_the_line_and_back_is_for_the_floor():
    acts = ("B push 500 500 short", "B pull 500 500")
    r = rule("swedish", facing(), *acts)
    assert r.action == "floor"
    assert r.options[0].raise_min_to == 600
    assert short(rule(profile("swedish", push_short_of_line="binds"), facing(), *acts)) == ("raise", 1000, 1000, 0)
    assert rule(profile("swedish", push_short_of_line="free"), facing(), *acts).action == "pending"


def test_se_7_7_push_on_its_way_binds_before_it_arrives():
    assert rule("swedish", facing(), "B push 500 500 short").to == 1000
    assert rule(profile("swedish", bind="line"), facing(), "B push 500 500 short").action == "pending"


def test_se_7_7_fallen_chip_is_for_the_floor():
    r = rule("swedish", facing(), "B put 500 dropped")
    assert r.action == "floor"
    assert r.options[0].call_to == 300
