"""TDA 2024, WSOP 2026 and Robert's rules where they differ from the Swedish text, by clause."""

from __future__ import annotations

import pytest

from tests.rules.table import locked, open_to, profile, rule, short, situation


def facing(bet: int = 500, stack: int = 9000, **kw):
    return situation(f"A {9000 - bet}/{bet}* B {stack} C 9000", "B", bet, prior=f"A bet {bet}", **kw)


def unopened(**kw):
    return situation("A 9000 B 9000 C 9000", "A", 0, 100, **kw)


def big_blind(bet: int = 600, chips: str = "[25,25]", line: int = 50):
    """Button raised to ``bet`` over 25/50; the big blind has ``line`` in."""
    return situation(
        f"BTN 8400/{bet}* SB 4975/25! BB 9000/{line}{chips}", "BB", bet, bet - line, blinds=(line // 2, line), pot=0,
        street="preflop", prior=f"SB post {line // 2}, BB post {line}, BTN raise {bet}, SB fold",
    )  # fmt: skip


# ---- words ------------------------------------------------------------------------------------------------------


def test_tda_40_a_the_first_of_word_and_chips_binds():
    assert short(rule("tda-2024", facing(), "B say call", "B put 1000")) == ("call", 500, 0, 500)
    assert short(rule("tda-2024", facing(), "B put 1000 1000", "B say call after")) == ("raise", 2000, 0, 0)


def test_tda_40_a_unheard_number_against_chips_is_for_the_floor():
    where = situation("A 60000 B 60000", "A", 0, 2000, blinds=(1000, 2000), pot=20000)
    r = rule("tda-2024", where, "A say number 21000 low", "A put 5000")
    assert r.action == "floor"
    assert [c.to for c in r.candidates] == [21000, 5000]
    assert rule(profile("tda-2024", low_voice="word"), where, "A say number 21000 low", "A put 5000").to == 21000


def test_tda_42_the_two_motion_raise_is_gone():
    r = rule("tda-2024", facing(), "B say raise", "B put 500", "B again", "B put 1000")
    assert short(r) == ("raise", 1000, 0, 500)


def test_tda_42_first_silent_motion_stands():
    assert short(rule("tda-2024", facing(100), "B put 100 100 100", "B again", "B put 500")) == ("raise", 300, 0, 500)
    assert short(rule("tda-2024", facing(100), "B put 100", "B again", "B put 500")) == ("call", 100, 0, 500)


def test_tda_43_a_half_by_chips_and_always_by_word():
    assert short(rule("tda-2024", facing(1000), "B say number 1400")) == ("call", 1000, 1000, 0)
    assert short(rule("tda-2024", facing(1000), "B say number 1500")) == ("raise", 2000, 2000, 0)
    assert short(rule("tda-2024", facing(1000), "B say raise 1400 to")) == ("raise", 2000, 2000, 0)


def test_tda_43_b_amount_with_raise_is_the_total():
    assert rule("tda-2024", facing(), "B say raise 1500").to == 1500
    assert rule("tda-2024", facing(), "B say raise 1500 by").to == 2000


def test_tda_43_largest_raise_of_the_round_is_the_minimum():
    where = situation("A 9000/75* B 9000/150* C 9000 D 9000", "C", 150, 75, blinds=(25, 50), street="preflop", pot=0)
    r = rule("tda-2024", where, "C did raise 400")
    assert r.min_raise_to == 650
    assert r.add == 0


def test_tda_44_one_chip_with_raise_is_as_much_as_it_can_be():
    assert short(rule("tda-2024", facing(), "B say raise", "B put 5000")) == ("raise", 5000, 0, 0)
    assert short(rule("tda-2024", facing(), "B put 5000")) == ("call", 500, 0, 4500)


def test_tda_44_last_chip_in_silence_is_a_call_unless_the_house_says_otherwise():
    assert short(rule("tda-2024", facing(stack=1000), "B put 1000")) == ("call", 500, 0, 500)
    house = profile("tda-2024", last_chip_silent="all_in")
    assert short(rule(house, facing(stack=1000), "B put 1000")) == ("all_in", 1000, 0, 0)


def test_tda_44_big_blind_option_is_not_facing_a_bet():
    where = situation(
        "A 4900/100* SB 4950/50! BB 4900/100", "BB", 100, 100, street="preflop", pot=0,
        prior="SB post 50, BB post 100, A call, SB fold",
    )  # fmt: skip
    r = rule("tda-2024", where, "BB put 100")
    assert short(r) == ("raise", 200, 0, 0)
    assert short(rule("roberts", where, "BB put 100")) == ("check", 100, 0, 100)
    assert short(rule("wsop-live-2026", where, "BB put 100")) == ("check", 100, 0, 100)


# ---- several chips ----------------------------------------------------------------------------------------------


def test_tda_45_a_call_when_every_chip_is_needed():
    assert short(rule("tda-2024", facing(1100), "B put 1000 500")) == ("call", 1100, 0, 400)
    assert short(rule("tda-2024", facing(800), "B put 500 500")) == ("call", 800, 0, 200)


def test_tda_45_b_1_else_half_a_raise_decides():
    assert short(rule("tda-2024", facing(1000), "B put 1000 100 100 100 100")) == ("call", 1000, 0, 400)
    assert short(rule("tda-2024", facing(1000), "B put 1000 100 100 100 100 100")) == ("raise", 2000, 500, 0)


def test_tda_45_b_2_last_chips_are_all_in_whatever_they_make():
    r = rule("tda-2024", facing(1000, 1300), "B put 1000 100 100 100")
    assert (r.action, r.to, r.full) == ("all_in", 1300, False)
    assert locked(r) == {"A"}


def test_tda_46_b_taking_back_chips_binds_to_call_or_raise():
    r = rule("tda-2024", big_blind(), "BB pull 25 25", "BB cards")
    assert r.action == "call_or_fold"
    assert not r.options[0].fold
    assert r.options[0].raise_min_to == 1150
    free = profile("tda-2024", prior_pull_back="free")
    assert rule(free, big_blind(), "BB pull 25 25", "BB cards").action == "fold"
    assert rule("tda-2024", big_blind(), "BB pull 25 25").action == "pending"


def test_tda_46_c_1_new_chips_over_old_ones_that_do_not_cover():
    assert short(rule("tda-2024", big_blind(), "BB put 1000")) == ("call", 600, 0, 450)
    assert short(rule("tda-2024", big_blind(), "BB pull 25 25", "BB put 1000")) == ("call", 600, 0, 400)
    assert short(rule("tda-2024", big_blind(), "BB pull 25 25", "BB put 500 100")) == ("call", 600, 0, 0)
    assert short(rule("tda-2024", big_blind(), "BB put 1000 100")) == ("raise", 1150, 0, 0)


def test_tda_46_c_2_old_chips_that_cover_make_new_ones_a_raise():
    where = big_blind(700, "[1000]", 100)
    assert short(rule("tda-2024", where, "BB put 500")) == ("raise", 1500, 0, 0)
    assert short(rule("tda-2024", where, "BB pull 1000", "BB put 5000")) == ("raise", 5000, 0, 0)
    assert short(rule("tda-2024", where, "BB say call")) == ("call", 700, 0, 300)
    assert short(rule("swedish", where, "BB put 500")) == ("call", 700, 0, 800)


def test_tda_46_a_chip_added_to_ease_the_change_is_for_the_floor():
    r = rule("tda-2024", big_blind(700, "[1000]", 100), "BB put 100 change", "BB say call after")
    assert r.action == "floor"
    assert [c.to for c in r.candidates] == [700, 1300]


def test_tda_46_old_and_new_mixed_are_one_bet_of_several_chips():
    r = rule("tda-2024", big_blind(), "BB pull 25 25", "BB put 500 500", "BB push 25 25")
    assert short(r) == ("raise", 1150, 100, 0)
    assert r.floor


# ---- all-in -----------------------------------------------------------------------------------------------------


def test_tda_47_a_short_all_ins_add_up_for_each_seat_by_itself():
    where = situation("A 9000/200* B 300 C 9000 D 400 E 9000", "B", 200, prior="A bet 200")
    r = rule("tda-2024", where, "B push 200 100", "C did call 300", "D push 200 200", "E did call 400")
    assert open_to(r) == {"A"}
    assert "C" in locked(r)
    assert r.min_raise_to == 600
    alone = profile("tda-2024", allin_cumulative=False)
    r = rule(alone, where, "B push 200 100", "C did call 300", "D push 200 200", "E did call 400")
    assert open_to(r) == set()


def test_tda_47_b_at_fixed_limit_half_reopens():
    def where(stack):
        return situation(
            f"A 9000/200* B {stack} C 9000", "B", 200, prior="A bet 200", structure="fixed-limit",
            limits={"small_bet": 200, "big_bet": 400, "raises_cap": 4},
        )  # fmt: skip

    assert open_to(rule("tda-2024", where(299), "B push 299", "C did call 299")) == set()
    assert open_to(rule("tda-2024", where(300), "B push 300", "C did call 300")) == {"A"}


def capped(structure_kw: dict | None = None, **kw):
    return situation(
        "A 9000/1000* B 9000/800*", "B", 1000, 200, structure="fixed-limit", pot=400,
        limits={"small_bet": 200, "big_bet": 400, "raises_cap": 4},
        prior="A bet 200, B raise 400, A raise 600, B raise 800, A raise 1000", **kw,
    )  # fmt: skip


def test_tda_48_cap_is_kept_heads_up():
    r = rule("tda-2024", capped(), "B say raise")
    assert (r.action, r.to, r.raises_used) == ("call", 1000, 4)


def test_wsop_la_131_cap_is_lifted_when_the_street_began_heads_up():
    assert rule("wsop-live-2026", capped(began_heads_up=True), "B say raise").to == 1200
    assert rule("wsop-live-2026", capped(began_heads_up=False), "B say raise").to == 1000
    assert rule("wsop-live-2026", capped(), "B say raise").to == 1200
    assert rule(profile("wsop-live-2026", cap_heads_up="kept"), capped(), "B say raise").to == 1000


def test_rrp_3_4_heads_up_before_the_cap_lifts_it_and_after_it_does_not():
    limits = {"structure": "fixed-limit", "limits": {"small_bet": 200, "big_bet": 400}}
    where = situation("A 9000/600* B 9000/800* C 9000/400*", "C", 800, 200, pot=1200,
                      prior="A bet 200, B raise 400, C call 400, A raise 600, B raise 800", **limits)  # fmt: skip
    r = rule("roberts", where, "C did fold", "A say raise")
    assert (r.verb, r.to) == ("call", 800)  # the bet and three raises were in
    where = situation("A 9000/200* B 9000 C 9000", "B", 200, 200, pot=1200, prior="A bet 200", **limits)
    acts = ("B did fold", "C did raise 400", "A did raise 600", "C did raise 800", "A say raise")
    assert rule("roberts", where, *acts).to == 1000
    assert rule(profile("roberts", cap_heads_up="street"), where, *acts).to == 800
    all_in = situation("A 9000/200* B 400 C 9000", "B", 200, 200, pot=1200, prior="A bet 200", **limits)
    acts = ("B did raise 400", "C did raise 600", "A did raise 800", "C say raise")
    assert rule("roberts", all_in, *acts).to == 1000


# ---- undercalls -------------------------------------------------------------------------------------------------


def raised(who: str = "A 9000/200* B 9000/800* C 9000 D 9000", turn: str = "C"):
    return situation(who, turn, 800, 600, prior="A bet 200, B raise 800")


def test_tda_51_a_word_is_the_whole_call():
    r = rule("tda-2024", raised(), "C say call", "C put 100 100")
    assert short(r) == ("call", 800, 600, 0)


def test_tda_51_b_under_a_raise_with_several_players_the_floor_decides():
    r = rule("tda-2024", raised(), "C put 100 100")
    assert r.action == "floor"
    assert [c.action for c in r.candidates] == ["call", "fold"]
    assert r.options[0].raise_min_to is None
    three = raised("A 9000/200* B 9000/800* C 9000")
    assert rule("tda-2024", three, "C put 100 100").action == "floor"


def test_tda_51_b_opening_bet_or_heads_up_is_a_full_call():
    assert short(rule("tda-2024", facing(), "B put 100 100")) == ("call", 500, 300, 0)
    heads_up = raised("A 9000/200* B 9000/800*", "A")
    assert short(rule("tda-2024", heads_up, "A put 100 100")) == ("call", 800, 400, 0)


def test_rrp_3_12_unseen_raise_may_be_reconsidered():
    r = rule("roberts", raised(), "C put 200", "C claims did not see it")
    assert r.action == "floor"
    assert (r.back, r.back_chips) == (200, (200,))
    assert r.options[0].raise_min_to == 1400
    assert short(rule("roberts", raised(), "C put 200")) == ("call", 800, 600, 0)


# ---- corrections ------------------------------------------------------------------------------------------------


def underraised():
    return situation(
        "A 9000/500* B 9000/800* C 9000/800* D 9000", "D", 500, prior="A bet 500, B put 800, C call 800",
    )  # fmt: skip


def test_tda_52_a_underraise_is_lifted_for_everyone_on_the_same_street():
    r = rule("tda-2024", underraised(), "dealer points", put_by="B")
    assert (r.action, r.to, r.add) == ("corrected", 1000, 200)
    assert [(x.seat, x.add) for x in r.adjust] == [("B", 200), ("C", 200)]
    assert open_to(r) == {"A", "D"}


def test_tda_52_a_after_the_next_card_it_stands():
    r = rule("tda-2024", underraised(), "card dealt", "dealer points", put_by="B")
    assert r.action == "stands"
    assert r.to == 800
    assert r.window
    assert open_to(r) == {"A", "D"}
    assert locked(r) == {"C"}
    assert r.min_raise_to == 1300


def test_tda_52_a_underbet_and_its_caller_add_the_rest():
    r = rule("tda-2024", unopened(), "A put 25 25", "A away", "B did call 50", "dealer points")
    assert (r.action, r.to, r.add) == ("bet", 100, 50)
    assert [(x.seat, x.add) for x in r.adjust] == [("B", 50)]


def pot_quoted(quote: int, *later: str):
    where = situation("A 9000 B 9000 C 9000 D 9000", "A", 0, 100, pot=1050, structure="pot-limit")
    chips = {950: "500 100 100 100 100 50", 1200: "1000 100 100"}[quote]
    return rule("tda-2024", where, f"dealer quotes {quote}", f"A put {chips}", "A away", *later, "dealer points")


def test_tda_52_b_misquoted_pot_is_put_right_until_substantial_action():
    r = pot_quoted(950, "B did fold")
    assert (r.action, r.to, r.add) == ("bet", 1050, 100)
    r = pot_quoted(950, "B did fold", "C did call 950")
    assert (r.action, r.to, r.add) == ("bet", 950, 0)
    assert r.window == "closed by substantial action"
    assert open_to(r) == {"D"}
    r = pot_quoted(1200, "B did fold")
    assert (r.action, r.to, r.back) == ("bet", 1050, 150)
    r = pot_quoted(1200, "B did call 1200", "C did fold")
    assert (r.action, r.to, r.back) == ("bet", 1050, 150)
    assert [(x.seat, x.add) for x in r.adjust] == [("B", -150)]
    r = pot_quoted(1200, "B did call 1200", "C did fold", "card dealt")
    assert (r.action, r.to) == ("bet", 1200)


def test_wsop_la_188_overbet_is_cut_until_everybody_has_acted():
    where = situation("A 1000 B 1000 C 1000", "A", 0, 10, blinds=(5, 10), pot=60, structure="pot-limit")
    r = rule("wsop-live-2026", where, "A say bet 100", "A put 100", "B did call 60", "player_at_table points")
    assert (r.action, r.to, r.back) == ("bet", 60, 40)
    acts = ("A say bet 100", "A put 100", "B did call 100", "C did fold", "dealer points")
    r = rule("wsop-live-2026", where, *acts)
    assert (r.action, r.to) == ("bet", 100)


# ---- turn -------------------------------------------------------------------------------------------------------


def test_tda_53_a_binds_if_the_action_did_not_change():
    r = rule("tda-2024", facing(), "C say raise 1500 to", "B did fold")
    assert short(r) == ("raise", 1500, 1500, 0)
    assert r.penalty == "possible"
    assert not r.floor


def test_tda_53_a_is_released_if_it_did():
    r = rule("tda-2024", facing(), "C put 500", "C away", "B did raise 1500")
    assert r.action == "pending"
    assert r.back_chips == (500,)
    assert r.options[0].raise_min_to == 2500


def test_tda_53_b_substantial_action_behind_a_skipped_seat_binds():
    where = situation("3 9000/600* 4 9000 5 9000 6 9000", "4", 600, 400, street="preflop", prior="3 raise 600", pot=300)
    r = rule("tda-2024", where, "5 did raise 1200", "6 did call 1200")
    assert (r.action, r.to, r.floor, r.skipped) == ("raise", 1200, True, ("4",))
    assert "4" not in r.may_raise
    assert "3" in r.may_raise
    one = rule("tda-2024", where, "5 did fold")
    assert one.action == "held_out_of_turn"


def test_rrp_3_10_who_checked_out_of_turn_may_not_raise():
    where = situation("A 5000 B 5000 C 5000", "A", 0, 100)
    r = rule("roberts", where, "C tap", "A did bet 300", "B did fold")
    assert r.action == "call_or_fold"
    assert r.penalty == ""
    assert rule("roberts", where, "C put 300", "A did bet 500", "B did fold").action == "pending"
    assert rule("roberts", where, "C tap", "A did check", "B did check").action == "check"


# ---- pot limit --------------------------------------------------------------------------------------------------


def test_tda_54_a_pot_said_at_no_limit_is_a_valid_bet():
    assert short(rule("tda-2024", unopened(), "A say pot")) == ("bet", 100, 100, 0)
    assert short(rule("tda-2024", facing(), "B say pot")) == ("raise", 1000, 1000, 0)


@pytest.mark.parametrize(
    ("seats", "posts", "dead"),
    [
        ("A 9000 B 9000 SB 8950/50 BB 8900/100", "SB post 50, BB post 100", False),
        ("A 9000 B 9000 BB 8900/100", "BB post 100", True),
        ("A 9000 B 9000 SB 8950/50 BB 0/40", "SB post 50, BB all-in 40", False),
        ("A 9000 B 9000 SB 0/20 BB 8900/100", "SB all-in 20, BB post 100", False),
    ],
)
def test_tda_54_b_short_and_dead_blinds_do_not_shrink_the_pot(seats, posts, dead):
    where = situation(
        seats, "A", 100, 100, street="preflop", pot=0, structure="pot-limit", prior=posts, dead_small_blind=dead
    )
    assert rule("tda-2024", where, "A say pot").to == 350
    assert rule(profile("tda-2024", pot_preflop="actual"), where, "A say pot").to <= 350


def test_rrp_14_pot_is_rounded_up_in_the_chips_in_play():
    where = situation("A 1000 B 1000", "A", 0, 25, blinds=(25, 25), pot=85, structure="pot-limit", chip_unit=25)
    assert rule("roberts", where, "A say pot").to == 100
    assert rule("tda-2024", where, "A say pot").to == 85
    assert rule(profile("roberts", pot_rounding="down"), where, "A say pot").to == 75
    assert rule(profile("roberts", pot_rounding="nearest"), where, "A say pot").to == 75


def test_pot_limit_maximum_is_by_seat():
    where = situation("A 4700/300* B 5000 C 5000", "B", 300, pot=600, structure="pot-limit", prior="A bet 300")
    r = rule("tda-2024", where, "B say raise 1000 to")
    # C: 1000 + (1900 + 1000); A: 1000 + (1900 + 700)
    assert r.max_raise_to == {"C": 3900, "A": 3600}


# ---- invalid and unclear words ----------------------------------------------------------------------------------


def test_tda_55_invalid_declarations():
    assert short(rule("tda-2024", unopened(), "A say raise")) == ("bet", 100, 100, 0)
    assert short(rule("tda-2024", unopened(), "A say call")) == ("check", 0, 0, 0)
    for act in ("B say check", "B tap"):
        r = rule("tda-2024", facing(), act)
        assert r.action == "call_or_fold"
        assert not r.floor


def test_tda_57_short_number_is_the_largest_reading_not_over_the_pot():
    def where(pot):
        return situation("A 30000 B 30000", "A", 0, 400, blinds=(200, 400), pot=pot)

    assert rule("tda-2024", where(6000), "A say number 6").to == 6000
    assert rule("tda-2024", where(5999), "A say number 6").to == 600
    assert rule("tda-2024", where(300), "A say number 6").action == "floor"
    assert rule("swedish", where(6000), "A say number 6").to == 400


def test_tda_57_short_raise_is_for_the_floor():
    where = situation("A 30000/2000* B 30000 C 30000", "B", 2000, blinds=(200, 400), pot=3000, prior="A bet 2000")
    r = rule("tda-2024", where, "B say raise 6")
    assert (r.action, r.default_to) == ("floor", 6000)


def test_wsop_60_number_with_a_chip_speaks_for_the_chip():
    where = situation("A 30000 B 30000", "A", 0, 400, blinds=(200, 400), pot=4800)
    r = rule("wsop-2026", where, "A put 5000", "A say number 5 simultaneous")
    assert short(r) == ("bet", 500, 0, 4500)
    assert r.floor


def test_tda_59_a_conditional_word_is_for_the_floor():
    r = rule("tda-2024", unopened(), "B say other if you bet I raise", "A did bet 300")
    assert r.seat == "B"
    assert r.action == "floor"
    assert len(r.candidates) == 2


def test_tda_59_b_call_before_the_amount_is_known_is_for_the_floor():
    r = rule("tda-2024", unopened(), "A say bet", "B say call", "A put 1000 1000")
    assert (r.seat, r.action) == ("B", "floor")
    assert r.candidates[0].to == 2000


def test_tda_61_overbet_for_change():
    assert short(rule("tda-2024", facing(325), "B put 500")) == ("call", 325, 0, 175)
    assert short(rule("tda-2024", facing(325), "B put 500 25")) == ("raise", 650, 125, 0)
    assert short(rule("tda-2024", facing(325), "B say call", "B put 500 25")) == ("call", 325, 0, 200)
    assert rule("tda-2024", facing(325), "B asks", "B put 1000").action == "pending"


# ---- straddles, blinds, rounding --------------------------------------------------------------------------------


def straddled(**kw):
    return situation(
        "S 980/20* A 1000 SB 995/5 BB 990/10", "A", 20, 0, blinds=(5, 10), straddle=20, street="preflop", pot=0,
        prior="SB post 5, BB post 10, S straddle 20", **kw,
    )  # fmt: skip


def test_straddle_sets_the_raise_by_profile():
    assert rule("wsop-live-2026", straddled(), "A say raise").to == 40
    assert rule("wsop-live-2024", straddled(), "A say raise").to == 30


def test_wsop_la_154_short_big_blind_does_not_lower_the_price():
    where = situation(
        "A 5000 B 5000 SB 4950/50 BB 0/60", "A", 100, 100, street="preflop", pot=0, prior="SB post 50, BB all-in 60"
    )
    r = rule("wsop-live-2026", where, "A say call")
    assert r.to == 100


def test_wsop_la_134_amounts_go_by_the_smallest_chip():
    where = situation("A 1000 B 1000", "A", 0, 10, blinds=(5, 10), chip_unit=5)
    assert rule("wsop-live-2026", where, "A say number 32").to == 30
    assert rule("wsop-live-2026", where, "A say bet 33").to == 35
    assert rule("tda-2024", where, "A say number 33").to == 33


def test_wsop_95_half_of_the_bet_is_a_switch():
    where = situation("D 9000/100* A 9000/400* B 9000", "B", 400, 300, prior="D bet 100, A raise 400")
    assert short(rule("wsop-2026", where, "B put 500 25 25")) == ("raise", 700, 150, 0)
    letter = profile("wsop-2026", underraise_half_of="bet")
    assert short(rule(letter, where, "B put 500 25 25")) == ("call", 400, 0, 150)


# ---- Robert's ---------------------------------------------------------------------------------------------------


def test_rrp_14_6_spoken_raise_may_be_fed():
    r = rule("roberts", facing(), "B say raise", "B put 500", "B again", "B put 500", "B again", "B put 1000")
    assert short(r) == ("raise", 2000, 0, 0)


def test_rrp_14_small_raise_depends_on_intent():
    r = rule("roberts", facing(), "B say number 800", "B put 500 500")
    assert (r.action, r.default_to) == ("floor", 1000)
    assert [c.to for c in r.candidates] == [500, 1000]
    half = profile("roberts", underraise_threshold="half")
    assert short(rule(half, facing(), "B say number 800", "B put 500 500")) == ("raise", 1000, 0, 0)


def test_rrp_3_6_half_of_the_bet_is_a_full_bet_at_limit():
    where = situation(
        "A 0/15 B 500 C 500", "B", 15, 20, blinds=(10, 20), prior="A all-in 15", structure="fixed-limit",
        limits={"small_bet": 20, "big_bet": 40, "raises_cap": 3},
    )  # fmt: skip
    assert rule("roberts", where, "B say raise").to == 35
