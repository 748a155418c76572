"""The human floor decides: its decision holds against the law, and no machine changes it."""

from __future__ import annotations

import pytest

from tabled.core.operator import verify
from tabled.core.state import NotNow
from tabled.model.outcome import AlertRaised, Overrule, RulingIssued, Undo
from tabled.outlets.safety import safe_ruling
from tabled.shell.daemon import what_became_of
from tests.core.driver import Bench
from tests.core.test_corrections import one_chip_call, position_of_final


def decided(action: str = "raise", to: int | None = 1000) -> Bench:
    """Seat 3's lone 1000, ruled a call, of which the floor made something."""
    bench, position = one_chip_call()
    bench.order(Overrule(request="o", who="floor", ruling=position, action=action, to=to, reason="said raise"))  # type: ignore[arg-type]  # a literal
    return bench


def told(bench: Bench, code: str) -> list[dict[str, int | str]]:
    return [a.reason.params for a in bench.of(AlertRaised) if a.reason.code == code and not a.cleared]


# -- only a person changes it ------------------------------------------------------------------------


def test_chips_behind_the_floors_decision_are_told_and_change_nothing() -> None:
    bench = decided()
    count = len(bench.of(RulingIssued))
    bench.put("3", 500)
    bench.wait(6000)
    assert len(bench.of(RulingIssued)) == count
    assert (bench.view.bet_to, bench.view.to_act) == (1000, "1")
    assert told(bench, "chips_behind_floor") == [{"seat": "3", "amount": 500, "back": 500}]
    bench.press("fold")
    bench.press("fold")
    bench.wait(1000)
    assert bench.final("2").ruling.action == "fold"


def test_chips_that_the_decision_asks_for_pay_it_and_only_the_rest_goes_back() -> None:
    bench = decided(to=1400)
    bench.put("3", 500)
    bench.wait(4000)
    assert (bench.state.lines["3"].owed, bench.state.lines["3"].back) == (0, 100)
    bench.lift("3", bench.lines["3"][1:])
    bench.wait(3000)
    assert bench.of(RulingIssued)[-1].ruling.to == 1400


def test_chips_behind_the_decision_are_no_act_out_of_turn_because_the_next_seat_is_acting() -> None:
    bench = decided()
    bench.put("3", 500)
    bench.wait(300)
    bench.put("1", 1000)
    bench.wait(5000)
    assert told(bench, "chips_behind_floor") == [{"seat": "3", "amount": 500, "back": 500}]
    assert bench.final("3").ruling.to == 1000
    assert bench.final("1").ruling.back == 50


def test_nobody_is_asked_for_what_cannot_be_seen_when_the_street_ends() -> None:
    for skip, asked in (((), [400]), (("3",), [])):
        bench = decided(to=1400)
        bench.press("fold")
        bench.wait(300, skip=skip)
        bench.press("fold")
        bench.wait(1000, skip=skip)
        assert [p["amount"] for p in told(bench, "still_owed")] == asked
        bench.wait(500)
        assert [p["amount"] for p in told(bench, "still_owed")] == [400], "but as soon as it can be"


def test_an_undo_of_the_act_behind_it_leaves_the_floors_decision() -> None:
    bench = decided()
    decision = position_of_final(bench, "3")
    bench.press("fold")
    bench.wait(500)
    bench.put("3", 500)
    bench.wait(4000)
    bench.order(Undo(request="u"))
    bench.wait(4000)
    assert [r.corrects for r in bench.of(RulingIssued)].count(decision) == 0
    assert bench.view.bet_to == 1000
    assert bench.view.to_act == "1"
    assert told(bench, "chips_behind_floor") == [{"seat": "3", "amount": 500, "back": 500}]


def test_a_late_word_about_an_act_that_the_floor_decided_is_told_and_changes_nothing() -> None:
    bench = decided("call", None)
    ruled_ms = bench.now_ms
    count = len(bench.of(RulingIssued))
    bench.now_ms -= 500  # pressed before the decision was made, delivered behind it
    bench.press("raise", 1000)
    bench.now_ms = ruled_ms
    bench.wait(6000)
    assert len(bench.of(RulingIssued)) == count
    assert told(bench, "word_behind_floor") == [{"seat": "3", "word": "raise 1000"}]


def test_the_dealer_may_take_the_floors_decision_back() -> None:
    bench = decided()
    decision = position_of_final(bench, "3")
    bench.order(Undo(request="u"))
    assert bench.of(RulingIssued)[-1].corrects == decision
    bench.press("call")
    bench.wait(4000)
    assert bench.final("3").ruling.action == "call"


# -- it may depart from the law ----------------------------------------------------------------------


def short_raise() -> tuple[Bench, int]:
    bench = Bench()
    bench.deal()
    bench.put("3", 100, 25)
    bench.wait(3000)
    assert bench.final("3").ruling.action == "call"
    return bench, position_of_final(bench, "3")


def test_the_floor_lets_a_raise_under_the_minimum_stand_and_the_ruling_says_so() -> None:
    bench, position = short_raise()
    bench.order(Overrule(request="o", ruling=position, action="raise", to=125))
    ruling = bench.final("3").ruling
    assert (ruling.action, ruling.to, ruling.add, ruling.back, ruling.by_floor) == ("raise", 125, 0, 0, True)
    assert ruling.departs is not None
    assert (ruling.departs.code, ruling.departs.params["to"]) == ("departs_raise", 200)
    assert bench.view.bet_to == 125
    bench.press("fold")
    bench.press("call")
    bench.put("2", 25)
    bench.wait(4000)
    assert bench.final("2").ruling.to == 125


def test_the_answer_to_the_floor_says_what_it_departed_from() -> None:
    bench, position = short_raise()
    act = Overrule(request="o", ruling=position, action="raise", to=125)
    before = len(bench.outcomes)
    bench.order(act)
    assert what_became_of(act, bench.outcomes[before:]) == (
        True,
        f"done, in place of ruling {position}. Floor's decision: raise to 125. By the law it is a raise to 200.",
    )
    before = len(bench.outcomes)
    bench.order(act := Overrule(request="p", ruling=position, action="call"))
    ok, said = what_became_of(act, bench.outcomes[before:])
    assert not ok
    assert "only the newest ruling" in said
    before = len(bench.outcomes)
    bench.order(undo := Undo(request="u"))
    assert what_became_of(undo, bench.outcomes[before:]) == (True, "done")


def test_a_display_hears_the_decision_and_not_what_it_departed_from() -> None:
    bench, position = short_raise()
    bench.order(Overrule(request="o", ruling=position, action="raise", to=125))
    shown = safe_ruling(bench.final("3").ruling)
    assert (shown.by_floor, shown.to, shown.departs) == (True, 125, None)


def test_a_decision_that_the_law_would_have_made_departs_from_nothing() -> None:
    assert decided().final("3").ruling.departs is None
    assert decided("call", None).final("3").ruling.departs is None
    assert decided("fold", None).final("3").ruling.departs is None
    assert decided("all_in", None).final("3").ruling.departs is None


@pytest.mark.parametrize(
    ("action", "to", "why"),
    [
        ("check", None, "owes 100"),
        ("call", 60, 'leaves it at 100, not 60: leave "to" out'),
        ("raise", 100, "100 is no raise over 100"),
        ("raise", None, 'a raise needs "to"'),
        ("bet", None, 'a bet needs "to"'),
        ("all_in", 300, "all-in is 5000"),
        ("raise", 5001, 'send "stack"'),
        ("fold", 300, "leaves it at 0, not 300"),
    ],
)
def test_only_what_no_book_can_hold_is_refused_with_what_can_be_decided(action: str, to: int | None, why: str) -> None:
    bench, position = short_raise()
    with pytest.raises(NotNow, match="fold, call ") as refused:
        verify(bench.state, Overrule(request="o", ruling=position, action=action, to=to))  # type: ignore[arg-type]  # a literal
    assert why in str(refused.value)
    assert "all_in (5000)" in str(refused.value)


def test_an_opening_that_the_floor_calls_a_raise_is_a_bet() -> None:
    bench = Bench((5000, 5000))
    bench.deal()
    bench.press("call")
    bench.put("1", 25, 25)
    bench.wait(4000)
    bench.press("check")
    bench.wait(1000)
    bench.lift("1")
    bench.lift("2")
    bench.wait(3000)
    assert bench.state.hand is not None
    assert (bench.view.street, bench.view.phase) == (1, "betting")
    seat = bench.view.to_act or ""
    bench.put(seat, 25, 25)
    bench.wait(4000)
    bench.order(Overrule(request="o", ruling=position_of_final(bench, seat), action="raise", to=50))
    ruling = bench.final(seat).ruling
    assert (ruling.action, ruling.verb, ruling.reason.code) == ("bet", "bet", "floor_ruled_bet")


def test_the_floor_puts_a_wrong_stack_right() -> None:
    bench, position = one_chip_call()
    bench.order(Overrule(request="o", ruling=position, action="raise", to=6000, stack=9000))
    ruling = bench.final("3").ruling
    assert (ruling.action, ruling.to, ruling.add) == ("raise", 6000, 5000)
    assert bench.state.hand is not None
    assert bench.state.hand.stack_of("3") == 3000
    with pytest.raises(NotNow, match="has bet 0"):
        verify(bench.state, Overrule(request="x", ruling=position_of_final(bench, "3"), action="fold", stack=0))
    bench.order(Undo(request="u"))
    assert bench.state.hand.stack_of("3") == 5000


# -- which rulings -----------------------------------------------------------------------------------


def test_with_nothing_ruled_there_is_nothing_to_overrule() -> None:
    bench = Bench()
    bench.deal()
    with pytest.raises(NotNow, match=r"nothing has been ruled on this street yet, so there is nothing to overrule$"):
        verify(bench.state, Overrule(request="o", ruling=3, action="call"))


def test_another_ruling_is_refused_with_the_one_that_can_be_overruled() -> None:
    bench, position = one_chip_call()
    with pytest.raises(NotNow, match=f"only the newest .* and that is {position}, seat 3$"):
        verify(bench.state, Overrule(request="o", ruling=1, action="call"))


def out_of_turn(chips: tuple[int, ...] = (500,)) -> tuple[Bench, int]:
    bench = Bench()
    bench.deal()
    bench.put("1", *chips)
    bench.wait(3000)
    assert bench.final("1").ruling.action == "held_out_of_turn"
    return bench, position_of_final(bench, "1")


def test_an_act_out_of_turn_is_ruled_as_one_though_the_bet_is_the_same_when_its_turn_comes() -> None:
    bench, _ = out_of_turn((25, 25))
    bench.put("3", 100)
    bench.wait(4000)
    assert bench.final("3").ruling.action == "call"
    assert not bench.final("3").ruling.floor
    bench.wait(4000)
    act = bench.final("1").ruling
    assert (act.action, act.to, act.floor) == ("call", 100, True)


def test_the_floor_decides_an_act_out_of_turn_and_the_turn_goes_back() -> None:
    bench, position = out_of_turn()
    bench.order(Overrule(request="o", who="floor", ruling=position, action="raise", to=550))
    final = bench.final("1")
    assert (final.corrects, final.ruling.action, final.ruling.to) == (position, "raise", 550)
    assert (final.ruling.add, final.ruling.back, final.ruling.next_seat) == (0, 0, "3")
    assert final.ruling.departs is not None
    assert final.ruling.departs.code == "departs_turn"
    assert (bench.view.to_act, bench.view.bet_to) == ("3", 550)
    assert not [f for f in bench.view.faults if f.code == "out_of_turn"]
    bench.press("call")
    bench.put("3", 500, 25, 25)
    bench.wait(4000)
    assert (bench.final("3").ruling.action, bench.view.to_act) == ("call", "2")
    bench.press("fold")
    bench.wait(500)
    assert bench.view.phase == "sweeping"


def test_a_fold_out_of_turn_that_the_floor_lets_stand() -> None:
    bench, position = out_of_turn()
    bench.order(Overrule(request="o", ruling=position, action="fold"))
    assert (bench.final("1").ruling.action, bench.final("1").ruling.back) == ("fold", 500)
    assert bench.view.to_act == "3"
    assert [s.status for s in bench.view.seats if s.seat == "1"] == ["folded"]


def test_an_act_out_of_turn_is_not_decided_over_the_head_of_who_is_acting() -> None:
    bench, position = out_of_turn()
    bench.put("3", 100)
    bench.wait(200)
    with pytest.raises(NotNow, match="seat 3 has begun to act"):
        verify(bench.state, Overrule(request="o", ruling=position, action="call"))
    with pytest.raises(NotNow, match=f"{position}, seat 1 out of turn$"):
        verify(bench.state, Overrule(request="o", ruling=1, action="call"))


def test_a_seat_that_acted_out_of_turn_on_one_street_is_told_again_on_the_next() -> None:
    bench = Bench()
    bench.deal()
    bench.put("3", 100)
    bench.wait(3000)
    bench.press("fold")
    bench.wait(500)
    extra = bench.put("3", 500)
    bench.wait(3000)
    assert bench.final("3").ruling.action == "held_out_of_turn"
    bench.press("check")
    bench.wait(500)
    bench.lift("3", extra)
    bench.wait(1500)
    for seat in ("1", "2", "3"):
        bench.lift(seat)
    bench.wait(3000)
    assert (bench.view.street, bench.view.to_act) == (1, "2")
    before = bench.final("3")
    bench.put("3", 500)
    bench.wait(3000)
    assert bench.final("3").ruling.action == "held_out_of_turn"
    assert bench.final("3") is not before


# -- a record that cannot be right -------------------------------------------------------------------


def rich(*chips: int) -> Bench:
    """Seat 3 has 1000 by the record and lays more."""
    bench = Bench((5000, 5000, 1000))
    bench.deal()
    bench.press("raise", said_first=True)
    bench.wait(300)
    bench.put("3", *chips)
    bench.wait(6000)
    return bench


def test_more_chips_than_the_record_is_told_and_asked_and_not_final() -> None:
    bench = rich(1000, 1000)
    assert told(bench, "stack_short") == [{"seat": "3", "left": 1000, "there": 2000}]
    assert [r.status for r in bench.of(RulingIssued) if r.ruling.seat == "3"] == ["provisional"] * len(
        [r for r in bench.of(RulingIssued) if r.ruling.seat == "3"]
    )
    assert bench.state.question is not None
    assert bench.state.question.doubt == "stack_right"


def test_a_record_that_is_right_makes_it_all_in() -> None:
    bench = rich(1000, 1000)
    bench.press("key_a")
    final = bench.final("3").ruling
    assert (final.action, final.to, final.back) == ("all_in", 1000, 1000)
    assert not [f for f in bench.view.faults if f.code == "stack_short"]


def test_a_record_that_is_wrong_goes_to_the_floor_with_the_true_stack() -> None:
    bench = rich(1000, 1000)
    bench.press("key_b")
    final = bench.final("3")
    assert (final.ruling.action, final.ruling.reason.code) == ("floor", "floor_stack_wrong")
    assert bench.view.to_act == "3"
    position = bench.state.floor_waiting
    assert position is not None
    bench.order(Overrule(request="o", who="floor", ruling=position, action="raise", to=2000, stack=4000))
    ruling = bench.final("3").ruling
    assert (ruling.action, ruling.to, ruling.add, ruling.back, ruling.departs) == ("raise", 2000, 0, 0, None)
    assert bench.state.hand is not None
    assert (bench.state.hand.stack_of("3"), bench.view.to_act) == (2000, "1")
    assert not [f for f in bench.view.faults if f.code in ("stack_short", "floor_decides")]


def test_chips_that_the_floor_asks_for_behind_a_spoken_raise_pay_it() -> None:
    bench = rich(1000, 1000)
    bench.press("key_b")
    position = bench.state.floor_waiting
    assert position is not None
    bench.order(Overrule(request="o", ruling=position, action="raise", to=2500, stack=4000))
    assert bench.final("3").ruling.add == 500
    bench.put("3", 500, 25)
    bench.wait(5000)
    line = bench.state.lines["3"]
    assert (line.owed, line.back) == (0, 25)
    assert told(bench, "chips_behind_floor") == [{"seat": "3", "amount": 25, "back": 25}]


def test_a_record_that_does_not_alter_the_ruling_is_told_and_not_asked() -> None:
    bench = Bench((5000, 5000, 1000))
    bench.deal()
    bench.put("3", 5000)
    bench.wait(4000)
    assert (bench.final("3").ruling.action, bench.final("3").ruling.back) == ("call", 4900)
    assert told(bench, "stack_short") == [{"seat": "3", "left": 1000, "there": 5000}]
    assert bench.state.question is None


def test_the_whole_stack_and_no_more_asks_nobody() -> None:
    bench = rich(500, 500)
    assert bench.final("3").ruling.action == "all_in"
    assert told(bench, "stack_short") == []


def test_a_chip_laid_in_the_place_of_one_that_was_taken_up_is_not_counted_twice() -> None:
    bench = Bench((5000, 5000, 1000))
    bench.deal()
    bench.press("raise", said_first=True)
    bench.wait(300)
    first = bench.put("3", 500)
    bench.wait(6000)
    bench.press("fold")
    bench.press("raise_to", 1000, said_first=True)
    bench.wait(300)
    bench.put("2", 500, 100, 100, 100, 100)
    bench.wait(6000)
    assert (bench.view.to_act, bench.view.bet_to) == ("3", 1000)
    bench.lift("3", first)
    bench.wait(1500)
    bench.put("3", 1000)
    bench.wait(5000)
    assert told(bench, "stack_short") == []
    assert bench.final("3").ruling.action == "all_in"


def test_chips_that_were_taken_back_are_not_counted() -> None:
    bench = Bench((5000, 5000, 1000))
    bench.deal()
    bench.press("raise", said_first=True)
    bench.wait(300)
    chips = bench.put("3", 1000, 1000)
    bench.wait(600)
    bench.lift("3", chips[1:])
    bench.wait(6000)
    assert told(bench, "stack_short") == []
