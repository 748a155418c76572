"""What a ruling is cited for, topic by topic: the paragraph is there where its subject is, and nowhere else.

Each topic is cited under its own name here (:func:`tests.rules.table.topics`), so that every law is looked at alike.
"""

from __future__ import annotations

import pytest

from tests.rules.table import facing, opening, profile, rule, situation, topics

TDA = "tda-2024"
LIMIT = {"structure": "fixed-limit", "limits": {"small_bet": 20, "big_bet": 40, "raises_cap": 3}, "blinds": (10, 20)}
SPREAD = {"structure": "spread-limit", "limits": {"min": 2, "max": 20}, "blinds": (1, 2)}


def over_all_in(all_in: int, *acts: str, law: str = TDA, **kw):
    """A bet, B is all-in for ``all_in``, C raises."""
    bet = 20 if kw else 100
    where = situation(
        f"A 900/{bet}* B 0/{all_in}* C 5000", "C", all_in, bet, prior=f"A bet {bet}, B all-in {all_in}", **kw
    )
    return topics(law, where, *(acts or ("C say raise",)))


# ---- what else the amount of a raise rests on -----------------------------------------------------------------------


@pytest.mark.parametrize(("bet", "named"), [(50, True), (99, True), (100, True), (101, False), (300, False)])
def test_min_bet_is_cited_for_a_bet_that_is_no_more_than_it(bet, named):
    assert ("min_bet" in topics(TDA, opening(), f"A say bet {bet}")) is named
    assert "min_bet" not in topics(TDA, facing(100), f"B say raise {bet} to")


def test_reopen_is_cited_for_a_raise_over_a_short_all_in():
    assert "reopen" in over_all_in(150)
    assert not {"reopen", "reopen_limit"} & topics(TDA, facing(), "B say raise")
    alone = situation("A 0/60* B 5000 C 5000", "B", 60, 100, prior="A all-in 60")
    assert not {"reopen", "reopen_limit"} & topics(TDA, alone, "B say raise")  # no bet was there to reopen


@pytest.mark.parametrize("law", ["dutch-half-bet", "dutch-full-bet"])
def test_reopen_limit_is_cited_for_a_raise_over_an_all_in_that_is_no_whole_bet(law):
    assert "reopen_limit" in over_all_in(29, law=law, **LIMIT)
    assert "reopen_limit" in over_all_in(35, law=law, **LIMIT)
    assert "reopen_limit" not in over_all_in(40, law=law, **LIMIT)
    assert "reopen_limit" not in topics(law, opening(**LIMIT), "A say bet")
    assert "reopen_limit" not in over_all_in(250, "C say raise", law=law)


def test_cap_heads_up_is_cited_for_a_raise_over_the_cap_and_for_no_other():
    def capped(raises: int):
        acts = ", ".join(f"{'AB'[n % 2]} {'raise' if n else 'bet'} {20 * n + 20}" for n in range(raises + 1))
        bets = [20 * raises, 20 * raises + 20]
        mine, his = bets if raises % 2 else bets[::-1]
        turn = "A" if raises % 2 else "B"
        return situation(f"A 900/{mine}* B 900/{his}*", turn, bets[1], 20, prior=acts, began_heads_up=True, **LIMIT)

    for raises, named in ((1, False), (2, False), (3, True), (4, True)):
        where = capped(raises)
        assert ("cap_heads_up" in topics("wsop-live-2026", where, f"{where.to_act} say raise")) is named
    many = "A bet 100, B raise 200, A raise 300, B raise 400, A raise 500, B raise 600"
    where = situation("A 900/500* B 900/600*", "A", 600, 100, prior=many)
    assert "cap_heads_up" not in topics("wsop-live-2026", where, "A say raise")  # no limit knows no cap


def preflop(who: str, turn: str, bet: int, acts: str = "", blinds=(5, 10), **kw):
    sb, bb = blinds
    return situation(
        f"{who} SB 995/{sb} BB 990/{bb}", turn, bet, kw.pop("full", 0), blinds=blinds, street="preflop", pot=0,
        prior=f"SB post {sb}, BB post {bb}{acts}", **kw,
    )  # fmt: skip


def test_straddle_is_cited_for_the_first_raise_over_it():
    straddled = preflop("S 980/20 A 1000", "A", 20, ", S straddle 20", straddle=20)
    assert "straddle" in topics(TDA, straddled, "A say raise")
    assert "straddle" in topics(TDA, preflop("S 998/2 A 1000", "A", 2, ", S straddle 2", (1, 1), straddle=2),
                                "A say raise")  # fmt: skip
    raised = preflop("S 980/20 A 960/40* B 1000", "B", 40, ", S straddle 20, A raise 40", straddle=20, full=20)
    assert "straddle" not in topics(TDA, raised, "B say raise")


@pytest.mark.parametrize(
    "where",
    [
        preflop("A 1000 B 1000", "A", 10),
        preflop("A 0/15* B 1000", "B", 15, ", A all-in 15", full=10),  # a short all-in is no straddle
        preflop("A 970/30* B 1000", "B", 30, ", A raise 30", full=20),
        situation("A 970/30* B 1000", "B", 30, prior="A bet 30", street="preflop", blinds=(), pot=6),
        situation("A 970/30* B 1000", "B", 30, prior="A bet 30"),
        situation("S 980/20 A 1000 SB 990/10 BB 980/20", "A", 20, street="preflop", **LIMIT,
                  prior="SB post 10, BB post 20"),
        situation("A 0/29* B 1000 SB 990/10 BB 980/20", "B", 29, 20, street="preflop", **LIMIT,
                  prior="SB post 10, BB post 20, A all-in 29"),
    ],
)  # fmt: skip
def test_straddle_is_cited_for_no_other_raise(where):
    for law in (TDA, "dutch-full-bet", "wsop-live-2026"):
        ruling = rule(law, where, f"{where.to_act} say raise")
        assert ruling.verb in ("raise", "complete")
        assert "straddle" not in topics(law, where, f"{where.to_act} say raise")


def test_wsop_la_165_is_not_cited_for_a_raise_over_a_short_all_in():
    where = preflop("A 0/15* B 1000", "B", 15, ", A all-in 15", full=10)
    assert "WSOP LA 165" not in rule("wsop-live-2026", where, "B say raise").cite


@pytest.mark.parametrize(("posts", "named"), [("BB all-in 6", True), ("BB post 10", False)])
def test_short_blind_is_cited_for_a_raise_over_one(posts, named):
    stack = "0/6" if named else "990/10"
    for structure in ("no-limit", "pot-limit"):
        where = situation(f"A 1000 B 1000 SB 995/5 BB {stack}", "A", 10, 10, blinds=(5, 10), street="preflop", pot=0,
                          prior=f"SB post 5, {posts}", structure=structure)  # fmt: skip
        assert ("short_blind" in topics(TDA, where, "A say raise")) is named
        assert "short_blind" not in topics(TDA, where, "A say call")


# ---- just the smallest, just the largest ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("where", "act", "code", "to"),
    [
        (facing(), "B say raise 999 to", "raise_lifted", 1000),
        (facing(), "B say raise 1000 to", "raise", 1000),
        (facing(), "B put 500 500", "raise", 1000),
        (opening(), "A say bet 99", "bet_lifted", 100),
        (opening(), "A say bet 100", "bet", 100),
        (opening(structure="pot-limit"), "A say bet 300", "bet", 300),
        (opening(structure="pot-limit"), "A say bet 301", "bet_cut", 300),
        (facing(300, structure="pot-limit"), "B say raise 1200 to", "raise", 1200),
        (facing(300, structure="pot-limit"), "B say raise 1201 to", "raise_cut", 1200),
        (opening(**SPREAD), "A say bet 20", "bet", 20),
        (opening(**SPREAD), "A say bet 21", "bet_cut", 20),
    ],
)
def test_an_amount_that_is_just_allowed_is_neither_lifted_nor_cut(where, act, code, to):
    ruling = rule(TDA, where, act)
    assert (ruling.reason.code, ruling.to) == (code, to)
    cut = {"pot", "limit_caps"} & topics(TDA, where, act)
    assert bool(cut) is code.endswith("_cut")


@pytest.mark.parametrize(
    ("law", "stack", "kw", "named"),
    [
        ("dutch-half-bet", 25, LIMIT, True),  # under half: the others may make it whole
        ("dutch-half-bet", 30, LIMIT, False),
        ("dutch-half-bet", 40, LIMIT, False),
        ("dutch-half-bet", 15, LIMIT, False),  # a call
        ("dutch-full-bet", 25, LIMIT, False),
        ("dutch-half-bet", 25, {}, False),
    ],
)
def test_completion_is_cited_for_an_all_in_that_others_may_complete(law, stack, kw, named):
    where = situation(f"A 900/20* B {stack} C 5000", "B", 20, 20, prior="A bet 20", **kw)
    assert ("completion" in topics(law, where, "B say all-in")) is named


def test_out_of_turn_is_cited_first():
    law = profile(TDA, out_of_turn="binds_no_raise").with_values(cite={"out_of_turn": ["turn"], "fold": ["fold"]})
    assert rule(law, facing(), "C cards", "B did call").cite[:2] == ("turn", "fold")


# ---- words ----------------------------------------------------------------------------------------------------------


def test_words_first_is_cited_where_chips_came_with_the_word():
    assert "words_first" in topics(TDA, facing(), "B say call", "B put 1000")
    assert not {"spoken", "spoken_alone"} & topics(TDA, facing(), "B say call", "B put 1000")
    assert "words_first" not in topics(TDA, facing(), "B say call")
    assert {"spoken", "spoken_alone"} <= topics(TDA, facing(), "B say call")
    assert "words_first" in topics(TDA, facing(), "B put 1000", "B say raise simultaneous")
    assert "spoken" in topics(TDA, facing(), "B say raise simultaneous")


def test_string_exception_is_cited_for_a_raise_in_two_motions_only():
    assert "string_exception" in topics("swedish", facing(), "B say raise", "B put 500", "B again", "B put 500")
    assert "string_exception" not in topics("swedish", facing(), "B say raise", "B put 500 500")


# ---- chips ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("chips", "stack", "topic", "others"),
    [
        ("500 500", 5000, "multi_chip_raise", {"multi_chip_threshold", "last_chips"}),  # just a whole raise
        ("500 100 100 100 100 50", 5000, "multi_chip_threshold", {"multi_chip_raise", "last_chips"}),
        ("500 100", 600, "last_chips", {"multi_chip_raise", "multi_chip_threshold"}),
        ("500 500", 1000, "last_chips", {"multi_chip_raise", "multi_chip_threshold"}),
    ],
)
def test_tda_45_is_cited_by_what_the_chips_are(chips, stack, topic, others):
    named = topics("swedish", facing(stack=stack), f"B put {chips}")
    assert topic in named
    assert not others & named
    if topic == "last_chips":
        pushed = topics(TDA, facing(stack=stack), f"B push {chips}")
        assert topic in pushed
        assert not others & pushed


def test_reopen_is_cited_for_an_all_in_over_the_call_and_not_for_one_of_just_the_call():
    assert "reopen" in topics(TDA, facing(stack=600), "B push 500 100")
    assert "reopen" not in topics(TDA, facing(stack=500), "B push 500")
    assert "all_in_call" in topics(TDA, facing(stack=400), "B push 200 200")


@pytest.mark.parametrize(
    ("line", "acts", "named"),
    [
        ("100[100]", ("A put 1000",), {"prior_chips"}),  # old chips lie there and make no call
        ("100[100]", ("A put 500 100",), {"prior_chips"}),
        ("100[100]", ("A put 100 500",), {"prior_chips"}),
        ("100[100]", ("A put 100 100 100 100",), {"prior_chips"}),  # just the call
        ("100", ("A put 1000",), set()),
        ("100", ("A put 500 100",), set()),
        ("0", ("A put 500 500",), set()),
        ("100[1000]", ("A put 500",), {"prior_cover"}),
        ("100[1000]", ("A put 500 25",), {"prior_cover"}),
        ("100[25,25,50]", ("A pull 50", "A put 500 25"), {"prior_cover"}),
    ],
)
def test_tda_46_is_cited_where_chips_of_an_earlier_bet_lie(line, acts, named):
    mine = line.partition("[")[0]
    who = f"A 4900/{line.replace('[', '*[')} B 4500/500* C 5000" if line != "0" else "A 5000 B 4500/500* C 5000"
    where = situation(who, "A", 500, 400, prior=f"A bet {mine}, B raise 500" if line != "0" else "B bet 500")
    assert {"prior_chips", "prior_cover"} & topics(TDA, where, *acts) == named


@pytest.mark.parametrize(
    ("where", "named"),
    [
        (preflop("A 1000 B 1000", "A", 10), True),
        (preflop("S 980/20 A 1000", "A", 20, ", S straddle 20", straddle=20), True),
        (preflop("A 970/30* B 1000", "B", 30, ", A raise 30", full=20), False),
        (facing(), False),
    ],
)
def test_one_chip_preflop_is_cited_where_only_the_blinds_are_faced(where, named):
    cited = topics(TDA, where, f"{where.to_act} put 1000")
    assert "one_chip_facing" in cited
    assert ("one_chip_preflop" in cited) is named


def test_one_chip_open_is_cited_for_one_chip_alone():
    assert "one_chip_open" in topics("swedish", opening(), "A put 500")
    assert "one_chip_open" not in topics("swedish", opening(), "A put 500 500")
    assert "one_chip_open" not in topics("swedish", facing(), "B put 500")


def test_string_is_cited_for_several_motions():
    assert "string" in topics("swedish", facing(), "B put 500", "B again", "B put 500")
    assert "string" in topics(TDA, opening(), "A put 500", "A again", "A put 500")
    assert "string" not in topics(TDA, opening(), "A put 500 500")


def test_one_chip_facing_is_cited_for_a_last_chip_of_just_the_call():
    for values in ({}, {"last_chip_silent": "all_in"}):
        named = topics(TDA, facing(stack=500), "B put 500", **values)
        assert "one_chip_facing" in named
        assert "pushed" not in named
