"""Wrong amounts that nobody has ruled on: what is put right, what stands, and what was right all along."""

from __future__ import annotations

import pytest

from tests.rules.table import adjust, judged, locked, open_to, profile, rule, short, situation, topics

TDA = "tda-2024"
LATE = ("card dealt", "dealer points")


def put(amount: int, stack: int | None = None, chips: str = "", behind: str = "C 5000", acts: str = "", **kw):
    """A bet 500; B has ``amount`` on its line, and nobody has ruled on it."""
    left = 5000 - amount if stack is None else stack
    lying = f"[{chips}]" if chips else ""
    return situation(
        f"A 4500/500* B {left}/{amount}*{lying} {behind}", "C", 500, 500, prior=f"A bet 500, B put {amount}{acts}", **kw
    )


@pytest.mark.parametrize(
    ("where", "ruled", "code", "to"),
    [
        (put(500), ("stands", 500, 0, 0), "amount_right", 500),
        (put(1000), ("stands", 1000, 0, 0), "amount_right", 1000),
        (put(800), ("corrected", 1000, 200, 0), "corrected", 1000),
        (put(700), ("corrected", 500, 0, 200), "corrected", 500),
        (put(400), ("corrected", 500, 100, 0), "corrected", 500),
        (put(300, 0), ("stands", 300, 0, 0), "amount_right", 300),  # all-in for less
        (put(700, 0), ("stands", 700, 0, 0), "amount_right", 700),
        (put(500, 0), ("stands", 500, 0, 0), "amount_right", 500),
        (put(800, chips="500,500"), ("corrected", 1000, 200, 0), "corrected", 1000),  # not what counts: by amount
    ],
)
def test_tda_52_a_an_amount_is_judged_as_if_it_was_put_in_now(where, ruled, code, to):
    ruling = rule("swedish", where, "dealer points", put_by="B")
    assert (short(ruling), ruling.reason.code, ruling.reason.params["to"]) == (ruled, code, to)
    assert ruling.back_chips == ()


def test_a_right_amount_facing_a_raise_is_no_undercall_for_the_floor():
    def where(amount: int, stack: int):
        return situation(
            f"A 4800/200* B 4200/800* C {stack}/{amount}* D 5000", "D", 800, 600,
            prior=f"A bet 200, B raise 800, C put {amount}",
        )  # fmt: skip

    for amount, stack in ((800, 4200), (300, 0)):
        ruling = rule(TDA, where(amount, stack), "dealer points", put_by="C")
        assert (ruling.reason.code, ruling.floor) == ("amount_right", False)
    assert rule(TDA, where(300, 4000), "dealer points", put_by="C").action == "floor"


def test_a_call_that_was_right_is_cited_as_no_raise():
    assert "under_raise" not in topics("swedish", put(500), "dealer points", put_by="B")
    assert "under_raise" in topics("swedish", put(501), "dealer points", put_by="B")


def test_a_bet_put_in_under_the_smallest_may_come_to_nothing():
    law = profile(TDA, underbet_threshold="half")
    where = situation("A 4975/25* B 5000", "B", 0, 0, prior="A put 25")
    ruling = rule(law, where, "dealer points", put_by="A")
    assert (short(ruling), ruling.reason.params["to"]) == (("corrected", 0, 0, 25), 0)


def test_who_is_all_in_behind_a_wrong_amount_follows_as_far_as_it_can():
    behind = "C 4200/800* D 0/600* E 5000"
    where = situation(f"A 4500/500* B 4200/800* {behind}", "E", 500, 500,
                      prior="A bet 500, B put 800, C call 800, D all-in 600")  # fmt: skip
    done = judged(TDA, where, "dealer points", put_by="B")
    assert (done.ruling.to, adjust(done.ruling)) == (1000, [("B", 200), ("C", 200)])
    assert [done.after.bet_of(s) for s in "ABCDE"] == [500, 1000, 1000, 600, 0]
    assert done.after.stack == [4500, 4000, 4000, 0, 5000]


def test_a_caller_who_cannot_reach_the_right_amount_is_all_in():
    where = situation("A 4500/500* B 4200/800* C 100/800* E 5000", "E", 500, 500,
                      prior="A bet 500, B put 800, C call 800")  # fmt: skip
    done = judged(TDA, where, "dealer points", put_by="B")
    assert adjust(done.ruling) == [("B", 200), ("C", 100)]
    assert (done.after.bet_of("C"), done.after.status_of("C"), done.after.n_in) == (900, "all_in", 3)


def test_a_caller_of_too_much_gets_it_back_and_keeps_no_raise():
    where = situation("A 4500/500* B 4300/700* C 4300/700* E 5000", "E", 500, 500,
                      prior="A bet 500, B put 700, C call 700")  # fmt: skip
    done = judged(TDA, where, "dealer points", put_by="B")
    assert (short(done.ruling), adjust(done.ruling)) == (("corrected", 500, 0, 200), [("C", -200)])
    assert (done.after.bet, done.after.stack) == ([500, 500, 500, 0], [4500, 4500, 4500, 5000])
    assert (done.after.pot_total, sum(done.after.paid)) == (300 + 1500, 1500)
    assert (open_to(done.ruling), locked(done.ruling)) == ({"E"}, {"A", "C"})


@pytest.mark.parametrize(("amount", "shut"), [(500, {"A"}), (800, set())])
def test_tda_52_a_an_amount_that_stands_is_a_raise_only_over_the_bet(amount, shut):
    ruling = rule(TDA, put(amount), *LATE, put_by="B")
    assert (ruling.action, ruling.to, ruling.call_to) == ("stands", amount, amount)
    assert locked(ruling) == shut
    assert ruling.reason.code == "too_late"


@pytest.mark.parametrize(
    ("amount", "clause"), [(299, "TDA 52-A"), (300, "TDA 52-A"), (301, "TDA 52-B"), (900, "TDA 52-B")]
)
def test_tda_52_b_is_about_more_than_the_pot(amount, clause):
    where = situation(f"A {5000 - amount}/{amount}* B 5000 C 5000", "B", 0, 0, prior=f"A put {amount}",
                      structure="pot-limit")  # fmt: skip
    ruling = rule(TDA, where, "dealer points", put_by="A")
    assert {"TDA 52-A", "TDA 52-B"} & set(ruling.cite) == {clause}
    assert ruling.to == min(amount, 300)
    plain = situation(f"A {5000 - amount}/{amount}* B 5000 C 5000", "B", 0, 0, prior=f"A put {amount}")
    assert "TDA 52-A" in rule(TDA, plain, "dealer points", put_by="A").cite


def test_se_7_9_chips_that_are_known_go_back_as_chips():
    ruling = rule("swedish", put(700, chips="500,100,100"), "dealer points", put_by="B")
    assert (short(ruling), ruling.back_chips, ruling.change) == (("corrected", 500, 0, 200), (100, 100), None)
    ruling = rule("swedish", put(1000, chips="1000"), "dealer points", put_by="B")
    assert (short(ruling), ruling.back_chips) == (("corrected", 500, 0, 500), ())
    assert (ruling.change.amount, ruling.change.out_of) == (500, 1000)


def test_the_turn_passes_over_a_caller_who_has_answered_the_right_amount():
    where = situation("C 4200/800* D 5000 A 4500/500* B 4200/800*", "D", 500, 500,
                      prior="A bet 500, B put 800, C call 800")  # fmt: skip
    done = judged(TDA, where, "dealer points", put_by="B")
    assert (done.ruling.to, done.ruling.next_seat, done.after.bet_of("C")) == (1000, "D", 1000)


def test_a_caller_who_has_folded_since_moves_nothing():
    where = situation("A 4500/500* B 4200/800* C 4200/800! D 5000", "D", 500, 500,
                      prior="A bet 500, B put 800, C call 800, C fold")  # fmt: skip
    done = judged(TDA, where, "dealer points", put_by="B")
    assert adjust(done.ruling) == [("B", 200)]
    assert done.after.bet_of("C") == 800
