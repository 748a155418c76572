"""The dealer's undo and the floor's overrule: events like any other, each naming what it corrects."""

from __future__ import annotations

import pytest

from tabled.core.operator import verify
from tabled.core.state import NotNow
from tabled.model.outcome import AlertRaised, Overrule, RulingIssued, StartHand, Undo
from tests.core.driver import Bench


def position_of_final(bench: Bench, seat: str) -> int:
    return next(
        p
        for p, o in reversed(bench.outcomes)
        if isinstance(o, RulingIssued) and o.status == "final" and o.ruling.seat == seat
    )


def one_chip_call() -> tuple[Bench, int]:
    bench = Bench()
    bench.deal()
    bench.put("3", 1000)
    bench.wait(3000)
    assert bench.final("3").ruling.action == "call"
    return bench, position_of_final(bench, "3")


def test_undo_takes_the_newest_ruling_back_and_gives_the_turn_again() -> None:
    bench, position = one_chip_call()
    bench.order(Undo(request="u"))
    undone = bench.of(RulingIssued)[-1]
    assert (undone.ruling.action, undone.corrects, undone.act) == ("pending", position, 1)
    assert bench.view.to_act == "3"


def test_after_an_undo_the_chips_lie_still_until_somebody_says_what_they_are() -> None:
    bench, position = one_chip_call()
    bench.order(Undo(request="u"))
    count = len(bench.of(RulingIssued))
    bench.wait(4000)
    assert len(bench.of(RulingIssued)) == count
    bench.press("raise")
    bench.wait(3000)
    final = bench.final("3")
    assert (final.ruling.action, final.ruling.to) == ("raise", 1000)
    assert (final.corrects, final.act) == (position, 1)
    assert bench.view.to_act == "1"


def test_the_undo_key_of_the_panel_does_the_same() -> None:
    bench, position = one_chip_call()
    bench.press("undo")
    assert bench.of(RulingIssued)[-1].corrects == position


def test_undo_of_a_fold_gives_the_seat_its_cards_back() -> None:
    bench = Bench()
    bench.deal()
    bench.press("fold")
    bench.order(Undo(request="u"))
    assert bench.view.to_act == "3"
    bench.put("3", 100)
    bench.wait(3000)
    assert bench.final("3").ruling.action == "call"


def test_two_undos_go_back_two_acts() -> None:
    bench, _ = one_chip_call()
    bench.press("fold")
    bench.order(Undo(request="u1"))
    bench.order(Undo(request="u2"))
    assert bench.view.to_act == "3"


def test_there_is_nothing_to_undo_before_the_first_act() -> None:
    bench = Bench()
    bench.deal()
    with pytest.raises(NotNow, match="nothing has been ruled"):
        verify(bench.state, Undo(request="u"))
    bench.press("undo")
    assert bench.of(AlertRaised)[-1].reason.code == "order_refused"


def test_the_floor_overrules_with_a_name_and_a_reason() -> None:
    bench, position = one_chip_call()
    act = Overrule(request="o", who="floor:anna", ruling=position, action="raise", to=1000, reason="said raise")
    bench.order(act)
    final = bench.final("3")
    assert (final.ruling.action, final.ruling.to, final.ruling.back, final.ruling.add) == ("raise", 1000, 0, 0)
    assert final.corrects == position
    assert final.ruling.reason.code == "floor_ruled_raise"
    assert final.ruling.reason.params["who"] == "floor:anna"
    assert final.ruling.reason.params["why"] == "said raise"
    assert bench.view.bet_to == 1000
    assert bench.view.to_act == "1"


def test_an_overrule_says_what_is_owed() -> None:
    bench, position = one_chip_call()
    bench.order(Overrule(request="o", ruling=position, action="raise", to=1400))
    assert bench.final("3").ruling.add == 400


def test_a_ruling_that_waits_for_the_floor_is_decided_by_it() -> None:
    bench = Bench(profile="roberts")
    bench.deal()
    bench.put("3", 100, 25, 25)
    bench.wait(3000)
    waiting = bench.of(RulingIssued)[-1]
    if not waiting.ruling.floor or bench.state.floor_waiting is None:
        pytest.skip("this profile does not leave a small under-raise to the floor")
    bench.order(Overrule(request="o", ruling=bench.state.floor_waiting, action="call"))
    assert bench.final("3").ruling.action == "call"
    assert bench.view.to_act == "1"


def test_an_order_that_is_repeated_is_obeyed_once() -> None:
    bench, _ = one_chip_call()
    bench.press("fold")
    bench.order(Undo(request="same"))
    bench.order(Undo(request="same"))
    assert bench.view.to_act == "1"


def test_a_hand_cannot_begin_while_one_is_played() -> None:
    bench = Bench()
    bench.start()
    started = next(e.act for e in bench.entries if hasattr(e, "act") and isinstance(e.act, StartHand))
    with pytest.raises(NotNow, match="still being played"):
        verify(bench.state, started)


def test_an_impossible_declaration_can_be_taken_back_by_itself() -> None:
    bench = Bench()
    bench.deal()
    bench.press("fold")
    bench.press("check")
    narrowed = position_of_final(bench, "1")
    assert bench.final("1").ruling.action == "call_or_fold"
    bench.order(Undo(request="u"))
    undone = bench.of(RulingIssued)[-1]
    assert (undone.ruling.seat, undone.corrects) == ("1", narrowed)
    assert bench.view.to_act == "1"
    bench.press("raise_to", 300, said_first=True)
    bench.wait(4000)
    assert bench.final("1").ruling.action == "raise"


def test_an_undone_act_out_of_turn_gives_nobody_else_the_turn() -> None:
    bench = Bench()
    bench.deal()
    bench.put("1", 100)
    bench.wait(3000)
    held = bench.final("1")
    assert held.ruling.action == "held_out_of_turn"
    bench.order(Overrule(request="o", ruling=position_of_final(bench, "1"), action="raise", to=150))
    bench.order(Undo(request="u"))
    undone = bench.of(RulingIssued)[-1]
    assert (undone.ruling.seat, undone.ruling.next_seat, undone.ruling.reason.params["seat"]) == ("1", "3", "3")
    assert bench.view.to_act == "3"
