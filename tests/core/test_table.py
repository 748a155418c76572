"""The table as a fold: posts, acts, doubts, sweeps, faults."""

from __future__ import annotations

import copy

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firmware_bridge.wire import BootId, DeviceLost, DeviceUp, Present, Press, Tag, TimeSpan
from tabled.core.entries import Seen, decode, encode
from tabled.core.state import TableState
from tabled.core.table import step
from tabled.fusion.settings import MS
from tabled.model.outcome import (
    AbandonHand,
    AlertRaised,
    Answer,
    HandEnded,
    QuestionAsked,
    QuestionClosed,
    RulingIssued,
    StreetClosed,
)
from tests.core.driver import PANEL, READER, Bench


def test_betting_waits_until_the_blinds_are_on_their_lines() -> None:
    bench = Bench()
    bench.start()
    bench.put("1", 25, 25)
    bench.wait(400)
    assert bench.view.phase == "posting"
    bench.put("2", 100)
    bench.wait(300)
    assert bench.view.phase == "betting"
    assert bench.view.to_act == "3"


def test_blinds_that_lay_there_before_the_hand_began_count() -> None:
    bench = Bench()
    bench.put("1", 25, 25)
    bench.put("2", 100)
    bench.wait(400)
    bench.start()
    bench.wait(200)
    assert bench.view.phase == "betting"


def test_a_dealer_who_goes_on_without_a_blind_is_told_which_is_missing() -> None:
    bench = Bench()
    bench.start()
    bench.put("2", 100)
    bench.wait(400)
    bench.press("fold")
    codes = [a.reason.code for a in bench.of(AlertRaised)]
    assert "post_missing" in codes
    assert bench.final("3").ruling.action == "fold"


def test_one_chip_over_a_bet_is_a_call_first_provisional_then_final() -> None:
    bench = Bench()
    bench.deal()
    bench.put("3", 1000)
    bench.wait(200)
    early = bench.of(RulingIssued)[-1]
    assert (early.status, early.ruling.action, early.ruling.to) == ("provisional", "call", 100)
    bench.wait(2500)
    final = bench.final("3")
    assert (final.ruling.action, final.ruling.to, final.ruling.back) == ("call", 100, 900)
    assert final.replaces is not None
    assert bench.view.to_act == "1"


def test_a_chip_that_the_reader_saw_one_sweep_later_is_no_string_bet() -> None:
    bench = Bench()
    bench.deal()
    bench.put("3", 500)
    bench.wait(100)
    bench.put("3", 500)
    bench.wait(3000)
    assert bench.final("3").ruling.to == 1000
    assert bench.of(QuestionAsked) == []


def test_a_second_trip_is_a_string_bet_and_a_call() -> None:
    bench = Bench()
    bench.deal()
    bench.put("3", 100)
    bench.wait(1600)
    bench.put("3", 500)
    bench.wait(3000)
    final = bench.final("3")
    assert (final.ruling.action, final.ruling.to, final.ruling.back) == ("call", 100, 500)
    assert bench.of(QuestionAsked) == []


def test_a_pause_that_missed_looks_can_explain_is_asked_about() -> None:
    bench = Bench()
    bench.deal()
    bench.put("3", 100)
    bench.wait(1300)
    bench.put("3", 500)
    bench.wait(3000)
    assert [q.reason.code for q in bench.of(QuestionAsked)] == ["ask_one_motion"]


def pause_in_doubt(bench: Bench) -> QuestionAsked:
    bench.deal()
    bench.put("3", 100)
    bench.wait(700)
    bench.put("3", 500)
    bench.wait(2500)
    (asked,) = bench.of(QuestionAsked)
    return asked


def test_a_pause_that_decides_the_ruling_becomes_one_question() -> None:
    bench = Bench()
    asked = pause_in_doubt(bench)
    assert {c.action for c in asked.choices} == {"raise", "call"}
    assert not [r for r in bench.of(RulingIssued) if r.status == "final"]
    bench.press("key_b")
    assert bench.final("3").ruling.action == "call"
    assert bench.of(QuestionClosed)[-1].answer == "key_b"


def test_the_question_can_be_answered_from_the_page() -> None:
    bench = Bench()
    pause_in_doubt(bench)
    position = next(p for p, o in bench.outcomes if isinstance(o, QuestionAsked))
    bench.order(Answer(request="r", question=position, key="key_a"))
    assert bench.final("3").ruling.action == "raise"


def test_an_answer_to_another_question_changes_nothing() -> None:
    bench = Bench()
    pause_in_doubt(bench)
    bench.order(Answer(request="r", question=1, key="key_a"))
    assert not [r for r in bench.of(RulingIssued) if r.status == "final"]
    assert bench.of(AlertRaised)[-1].reason.code == "order_refused"


def test_a_doubt_that_changes_nothing_is_not_asked() -> None:
    bench = Bench()
    bench.deal()
    bench.put("3", 25, 25)
    bench.wait(700)
    bench.put("3", 25, 25)
    bench.wait(3000)
    ruling = bench.final("3").ruling
    assert (ruling.action, ruling.to) == ("call", 100)
    assert bench.of(QuestionAsked) == []


def test_no_final_ruling_while_the_antenna_answers_only_corruptly() -> None:
    bench = Bench()
    bench.deal()
    bench.put("3", 1000)
    bench.sweep()
    bench.wait(3000, skip=("3",))
    assert not [r for r in bench.of(RulingIssued) if r.status == "final"]
    bench.wait(2000)
    assert bench.final("3").ruling.action == "call"


def test_a_single_ghost_read_leaves_no_ruling_behind() -> None:
    bench = Bench()
    bench.deal()
    ghost = bench.put("3", 1000)
    bench.sweep()
    bench.lift("3", ghost)
    bench.wait(3000)
    assert not [r for r in bench.of(RulingIssued) if r.status == "final"]
    assert bench.view.to_act == "3"
    rulings = bench.of(RulingIssued)
    assert not rulings or rulings[-1].ruling.action == "pending"


def test_fold_and_check_by_key_are_final_at_once() -> None:
    bench = Bench()
    bench.deal()
    bench.press("fold")
    assert bench.final("3").ruling.action == "fold"


def test_a_raise_spoken_first_makes_one_chip_a_raise() -> None:
    bench = Bench()
    bench.deal()
    bench.press("raise", said_first=True)
    bench.wait(300)
    bench.put("3", 1000)
    bench.wait(3000)
    assert (bench.final("3").ruling.action, bench.final("3").ruling.to) == ("raise", 1000)


def test_word_or_chip_first_is_asked_when_it_decides() -> None:
    bench = Bench()
    bench.deal()
    bench.put("3", 1000)
    bench.wait(600)
    bench.press("raise")
    bench.wait(2500)
    (asked,) = bench.of(QuestionAsked)
    assert asked.reason.code == "ask_said_first"
    assert [c.action for c in asked.choices] == ["raise", "call"]
    bench.press("key_b")
    assert bench.final("3").ruling.action == "call"


def test_chips_that_the_ruling_asked_for_are_no_new_act() -> None:
    bench = Bench()
    bench.deal()
    bench.press("raise_to", 400, said_first=True)
    bench.wait(3000)
    assert bench.final("3").ruling.add == 400
    acts = len([r for r in bench.of(RulingIssued) if r.status == "final"])
    bench.put("3", 100, 100, 100, 100)
    bench.wait(3000)
    assert len([r for r in bench.of(RulingIssued) if r.status == "final"]) == acts
    assert bench.view.to_act == "1"


def test_the_sweep_ends_the_street_by_itself() -> None:
    bench = Bench()
    bench.deal()
    bench.put("3", 100)
    bench.wait(3000)
    bench.put("1", 25, 25)
    bench.wait(3000)
    bench.press("check")
    assert bench.view.phase == "sweeping"
    assert bench.of(StreetClosed) == []
    for seat in ("1", "2", "3"):
        bench.lift(seat)
        bench.wait(300)
    bench.wait(2000)
    (closed,) = bench.of(StreetClosed)
    assert (closed.street, closed.pot_total) == (0, 300)
    assert (bench.view.phase, bench.view.street, bench.view.to_act) == ("betting", 1, "1")


def test_a_street_without_bets_needs_no_sweep() -> None:
    bench = Bench()
    bench.deal()
    bench.put("3", 100)
    bench.wait(3000)
    bench.put("1", 25, 25)
    bench.wait(3000)
    bench.press("check")
    for seat in ("1", "2", "3"):
        bench.lift(seat)
    bench.wait(2500)
    for _ in range(3):
        bench.press("check")
    assert bench.view.street == 2


def test_when_all_but_one_fold_the_hand_ends_with_the_sweep() -> None:
    bench = Bench()
    bench.deal()
    bench.press("fold")
    bench.press("fold")
    bench.lift("1")
    bench.lift("2")
    bench.wait(2500)
    (ended,) = bench.of(HandEnded)
    assert ended.hand_id == "h1"
    assert bench.view.phase == "over"


def test_out_of_turn_is_said_once_and_waits() -> None:
    bench = Bench()
    bench.deal()
    bench.put("1", 100, 100)
    bench.wait(4000)
    turn = [a for a in bench.of(AlertRaised) if a.reason.code == "out_of_turn"]
    assert len(turn) == 1
    assert turn[0].reason.params == {"seat": "1", "to_act": "3"}
    assert bench.view.to_act == "3"


def test_chips_that_vanish_in_mid_street_are_reported_and_their_return_is_no_act() -> None:
    bench = Bench()
    bench.deal()
    uids = list(bench.lines["2"])
    bench.lift("2")
    bench.wait(1500)
    assert [a.reason.code for a in bench.of(AlertRaised)] == ["chips_left"]
    bench.lines["2"] = uids
    bench.wait(500)
    assert bench.of(AlertRaised)[-1].cleared
    assert not bench.of(RulingIssued)


def test_a_lost_device_is_named_until_it_is_back() -> None:
    bench = Bench()
    span = TimeSpan(bench.ns, bench.ns)
    bench.feed(Seen(at_ns=bench.ns, observation=DeviceLost(PANEL, span, "unplugged", "Plug it in again.")))
    assert [f.code for f in bench.view.faults] == ["device_lost"]
    bench.feed(Seen(at_ns=bench.ns, observation=DeviceUp(PANEL, span, "panel", "1.0", 7)))  # type: ignore[arg-type]  # BootId
    assert bench.view.faults == ()


def test_an_unknown_chip_is_money_or_not_the_dealer_must_look() -> None:
    bench = Bench()
    bench.deal()
    for _ in range(3):
        span = TimeSpan(bench.ns, bench.ns + MS)
        bench.now_ms += 10
        bench.feed(Seen(at_ns=bench.ns, observation=Present(READER, span, 3, (Tag("E004FFFFFFFFFFFF"),))))
    alerts = [a for a in bench.of(AlertRaised) if a.reason.code == "unknown_tag"]
    assert len(alerts) == 1
    assert alerts[0].reason.params["seat"] == "3"


def test_a_press_that_is_in_the_journal_already_is_not_an_act_again() -> None:
    bench = Bench()
    bench.deal()
    bench.press("fold")
    again = bench.entries[-1]
    before = bench.view
    bench.feed(again)
    assert bench.view.to_act == before.to_act
    assert len([r for r in bench.of(RulingIssued) if r.status == "final"]) == 1


def test_a_misdeal_voids_the_hand() -> None:
    bench = Bench()
    bench.deal()
    bench.order(AbandonHand(request="r"))
    assert bench.view.phase == "idle"
    bench.deal("h2")
    assert bench.view.hand_id == "h2"


def play_something(bench: Bench, moves: list[tuple[str, int]]) -> None:
    bench.deal()
    for kind, n in moves:
        seat = bench.seats[n % len(bench.seats)]
        if kind == "put":
            bench.put(seat, (25, 100, 500, 1000)[n % 4])
        elif kind == "lift":
            bench.lift(seat)
        elif kind == "wait":
            bench.wait(100 + 97 * n)
        else:
            bench.press(("fold", "check", "raise", "call", "key_a", "key_b", "all_in", "next_street", "undo")[n % 9])


moves = st.lists(
    st.tuples(st.sampled_from(["put", "lift", "wait", "wait", "press", "press"]), st.integers(0, 12)), max_size=25
)


@settings(max_examples=60, deadline=None)
@given(moves)
def test_whatever_happens_the_fold_is_pure_and_repeats_byte_for_byte(kinds: list[tuple[str, int]]) -> None:
    bench = Bench()
    play_something(bench, kinds)
    state = TableState()
    position = 0
    again = []
    for entry in bench.entries:
        position += 1
        before = copy.copy(state)
        state, made = step(state, position, decode(encode(entry)))
        assert before.position < position
        for outcome in made:
            position += 1
            again.append((position, outcome))
    assert again == bench.outcomes
    assert state.position == bench.state.position


@settings(max_examples=60, deadline=None)
@given(moves)
def test_each_act_gets_one_final_ruling_and_replacements_are_linked(kinds: list[tuple[str, int]]) -> None:
    bench = Bench()
    play_something(bench, kinds)
    finals: dict[int, int] = {}
    placed = dict(bench.outcomes)
    for position, outcome in bench.outcomes:
        if not isinstance(outcome, RulingIssued):
            continue
        if outcome.replaces is not None:
            replaced = placed[outcome.replaces]
            assert isinstance(replaced, RulingIssued)
            assert outcome.replaces < position
        if outcome.corrects is not None:
            corrected = placed[outcome.corrects]
            assert isinstance(corrected, RulingIssued)
            assert (corrected.act, corrected.ruling.seat) == (outcome.act, outcome.ruling.seat)
        elif outcome.status == "final" and outcome.ruling.action not in ("held_out_of_turn", "floor"):
            finals[outcome.act] = finals.get(outcome.act, 0) + 1
    flagged = sum(1 for a in bench.of(AlertRaised) if a.reason.code == "out_of_turn" and not a.cleared)
    assert sum(n - 1 for n in finals.values() if n > 1) <= flagged


def test_an_entry_that_the_core_cannot_take_is_said_aloud_and_stops_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    bench = Bench()
    bench.deal()
    before = bench.view

    def broken(*_: object) -> None:
        raise AssertionError("planted")

    with monkeypatch.context() as planted:
        planted.setattr("tabled.core.table.operator.on_key", broken)
        span = TimeSpan(bench.ns, bench.ns)
        entry = Seen(at_ns=bench.ns, observation=Press(PANEL, span, BootId(7), 99, "fold"))
        state, outcomes = step(bench.state, bench.position + 1, entry)
    assert [o.reason.code for o in outcomes if isinstance(o, AlertRaised)] == ["core_fault"]
    assert state.hand is bench.state.hand
    assert state.presses[-1].endswith("/99")
    assert before.to_act == "3"
