"""The Swedish betting law from §7.8 on: wrong amounts, who may point them out, and §6."""

from __future__ import annotations

import pytest

from tests.rules.table import judged, locked, open_to, profile, rule, short, situation
from tests.rules.test_swedish import facing

# ---- §7.8 -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("chips", "ruled"),
    [
        ("100 100 100 100", ("call", 300, 0, 100)),
        ("100 100 100 100 25 5 5 5 5 1 1 1 1", ("call", 300, 0, 149)),  # 149 of 300
        ("100 100 100 100 25 25", ("raise", 600, 150, 0)),  # exactly half
        ("500", ("call", 300, 0, 200)),  # one chip comes first
        ("100 100 100 100 100", ("raise", 600, 100, 0)),
        ("500 100", ("raise", 600, 0, 0)),
    ],
)
def test_se_7_8_half_of_a_full_raise_decides(chips, ruled):
    assert short(rule("swedish", facing(), f"B put {chips}")) == ruled


def test_se_7_8_half_is_of_the_raise_not_of_the_bet():
    where = situation("A 4900/100* B 4200/800* C 5000", "C", 800, 700, prior="A bet 100, B raise 800")
    assert short(rule("swedish", where, "C put 1000 100 25 25")) == ("raise", 1500, 350, 0)
    assert short(rule("swedish", where, "C put 1000 100 25 5 5 5 5 1 1 1 1")) == ("call", 800, 0, 349)


def test_se_7_8_all_in_is_excepted_and_reopens_nothing():
    for stack, chips in ((350, "100 100 100 50"), (590, "500 50 10 10 10 10")):
        r = rule("swedish", facing(stack), f"B push {chips}")
        assert short(r) == ("all_in", stack, 0, 0)
        assert r.full is False
        assert locked(r) == {"A"}
        assert open_to(r) == {"C"}
        assert r.min_raise_to == stack + 300


def test_se_7_8_who_must_complete_and_cannot_is_all_in():
    r = rule("swedish", facing(560), "B put 500 10")
    assert short(r) == ("all_in", 560, 50, 0)
    assert r.full is False


# ---- §7.9 -------------------------------------------------------------------------------------------------------


def wrong(put: int):
    return situation(
        f"A 4700/300* B {5000 - put}/{put}* C 5000", "C", 300, prior=f"A bet 300, B put {put}",
    )  # fmt: skip


@pytest.mark.parametrize("witness", ["dealer", "player_at_table", "staff"])
def test_se_7_9_people_of_the_table_must_speak(witness):
    r = rule("swedish", wrong(400), f"{witness} points", put_by="B")
    assert (r.action, r.to, r.back) == ("corrected", 300, 100)
    assert "SE 7.9" in r.cite
    r = rule("swedish", wrong(500), f"{witness} points", put_by="B")
    assert (r.action, r.to, r.add) == ("corrected", 600, 100)
    r = rule("swedish", wrong(200), f"{witness} points", put_by="B")
    assert (r.action, r.to, r.add) == ("corrected", 300, 100)


def test_se_7_9_correction_says_which_chips_go_back_when_they_are_known():
    where = situation("A 4700/300* B 4600/400*[100,100,100,100] C 5000", "C", 300, prior="A bet 300, B put 400")
    r = rule("swedish", where, "dealer points", put_by="B")
    assert (r.to, r.back, r.back_chips) == (300, 100, (100,))
    unknown = rule("swedish", wrong(400), "dealer points", put_by="B")
    assert (unknown.back, unknown.back_chips, unknown.change) == (100, (), None)


@pytest.mark.parametrize("witness", ["spectator", "player_other_table"])
def test_se_7_9_others_are_not_heard_but_the_dealer_must_still_count(witness):
    r = rule("swedish", wrong(400), f"{witness} points", put_by="B")
    assert short(r) == ("stands", None, 0, 0)
    assert r.floor
    r = rule(profile("swedish", third_party_unheard="ignored"), wrong(400), f"{witness} points", put_by="B")
    assert r.action == "stands"
    assert not r.floor


def test_se_7_9_correction_passes_the_turn_over_who_has_now_answered():
    where = situation(
        "C 4500/500* A 4700/300* B 4500/500*", "A", 300, prior="A bet 300, B put 500, C call 500",
    )  # fmt: skip
    assert judged("swedish", where, "dealer points", put_by="B").after.to_act == "A"


def test_se_7_9_last_chips_that_lie_wrong_are_all_in():
    where = situation("A 4700/300* B 0/400* C 5000", "C", 300, prior="A bet 300, B put 400")
    judged_ = judged("swedish", where, "dealer points", put_by="B")
    r = judged_.ruling
    assert (r.action, r.to, r.add, r.back, r.full) == ("stands", 400, 0, 0, False)
    assert judged_.after.to_act == "C"
    assert judged_.after.n_in == 2


def test_se_7_9_correction_reaches_those_who_called_the_wrong_amount():
    where = situation(
        "A 4700/300* B 4500/500* C 4500/500*", "A", 300, prior="A bet 300, B put 500, C call 500",
    )  # fmt: skip
    r = rule("swedish", where, "dealer points", put_by="B")
    assert (r.action, r.to) == ("corrected", 600)
    assert {(x.seat, x.add) for x in r.adjust} == {("B", 100), ("C", 100)}
    assert open_to(r) == {"A"}


# ---- §6, to which the law refers --------------------------------------------------------------------------------


def test_se_6_act_out_of_turn_goes_back_and_its_chips_lie_still():
    r = rule("swedish", facing(), "C put 100 100 100", "C away")
    assert r.action == "held_out_of_turn"
    assert r.hold == (100, 100, 100)
    assert r.next_seat == "B"
    assert r.options[0].seat == "B"


def test_se_6_binds_when_nothing_changed_and_costs_the_raise_when_it_did():
    bound = rule("swedish", facing(), "C put 500 500", "B did call 300")
    assert short(bound) == ("raise", 1000, 0, 0)
    assert bound.penalty == "warning"
    changed = rule("swedish", facing(), "C put 100 100 100", "B did raise 900")
    assert changed.action == "call_or_fold"
    assert changed.back == 300
    strict = rule(profile("swedish", out_of_turn="strict"), facing(), "C put 500 500", "B did call 300")
    assert short(strict) == ("call", 300, 0, 700)
    released = rule(profile("swedish", out_of_turn="tda"), facing(), "C put 100 100 100", "B did raise 900")
    assert released.action == "pending"
    assert released.options[0].raise_min_to == 1500


def test_se_6_fold_out_of_turn_binds_whatever_came_between():
    assert rule("swedish", facing(), "C cards", "B did raise 900").action == "fold"
