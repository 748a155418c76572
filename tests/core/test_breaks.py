"""Ways in which a table once was ruled wrongly and in silence.  Each stays here so that it does not come back."""

from __future__ import annotations

import pytest

from firmware_bridge.wire import BootId, DeviceLost, Present, Press, Tag, TimeSpan
from tabled.core.entries import Seen
from tabled.fusion.settings import MS
from tabled.model.outcome import AlertRaised, Overrule, QuestionAsked, QuestionClosed, RulingIssued, StreetClosed, Undo
from tests.core.driver import PANEL, READER, Bench


def finals(bench: Bench) -> list[RulingIssued]:
    return [r for r in bench.of(RulingIssued) if r.status == "final"]


def codes(bench: Bench) -> list[str]:
    return [a.reason.code for a in bench.of(AlertRaised) if not a.cleared]


def dealt(profile: str = "swedish") -> Bench:
    bench = Bench(profile=profile)
    bench.deal()
    return bench


# -- change ------------------------------------------------------------------------------------------


def one_chip_call_then_a_raise(bench: Bench) -> None:
    """Seat 3 calls 100 with one 1000 chip; seat 1 raises to 500; seat 2 folds: seat 3 is to act again."""
    bench.put("3", 1000)
    bench.wait(3000)
    bench.press("raise_to", 500, said_first=True)
    bench.wait(300)
    bench.put("1", 100, 100, 100, 100, 25, 25)
    bench.wait(3000)
    bench.press("fold")
    assert bench.view.to_act == "3"


def test_whether_change_was_given_is_asked_when_it_decides() -> None:
    bench = dealt()
    one_chip_call_then_a_raise(bench)
    bench.put("3", 1000, 500)
    bench.wait(4000)
    asked = bench.of(QuestionAsked)[-1]
    assert asked.reason.code == "ask_change_given"
    bench.press("key_a")
    assert bench.final("3").ruling.to == 1600


def test_change_made_chip_for_chip_on_the_line_is_seen_and_needs_no_question() -> None:
    bench = dealt()
    bench.put("3", 1000)
    bench.wait(3000)
    bench.lift("3")
    bench.put("3", 100)
    bench.wait(3000)
    assert bench.of(QuestionAsked) == []
    assert len(finals(bench)) == 1
    assert "out_of_turn" not in codes(bench)


# -- chips paid for a word ---------------------------------------------------------------------------


def test_chips_paid_for_a_spoken_raise_count_in_the_next_act() -> None:
    bench = dealt("tda-2024")
    bench.press("raise_to", 400, said_first=True)
    bench.wait(3000)
    bench.put("3", 100, 100, 100, 100)
    bench.wait(3000)
    bench.put("1", 500, 500)
    bench.wait(3000)
    bench.press("fold")
    bench.put("3", 500, 500, 500, 100)
    bench.wait(3000)
    ruling = bench.final("3").ruling
    assert (ruling.to, ruling.add) == (2000, 0)


def test_a_street_does_not_close_by_sight_while_something_is_owed() -> None:
    bench = dealt()
    bench.press("raise_to", 200, said_first=True)
    bench.wait(3000)
    for seat, key in (("1", "call"), ("2", "call")):
        bench.press(key)
        bench.wait(3000)
        assert bench.final(seat).ruling.action == "call"
    for seat in ("1", "2"):
        bench.lift(seat)
    bench.wait(3000)
    assert bench.of(StreetClosed) == []
    assert "still_owed" in codes(bench)
    bench.put("3", 100, 100)
    bench.put("1", 100, 25, 25)
    bench.put("2", 100)
    bench.wait(1000)
    for seat in ("1", "2", "3"):
        bench.lift(seat)
    bench.wait(3000)
    assert [c.pot_total for c in bench.of(StreetClosed)] == [600]
    assert bench.view.to_act == "1"
    assert len(finals(bench)) == 3


def test_undo_and_overrule_know_of_the_chips_that_were_paid() -> None:
    for act in ("undo", "overrule"):
        bench = dealt()
        bench.press("raise_to", 400, said_first=True)
        bench.wait(3000)
        position = next(p for p, o in bench.outcomes if isinstance(o, RulingIssued) and o.status == "final")
        bench.put("3", 100, 100, 100, 100)
        bench.wait(2000)
        if act == "undo":
            bench.order(Undo(request="u"))
            bench.press("call")
            bench.wait(3000)
        else:
            bench.order(Overrule(request="o", ruling=position, action="call"))
        ruling = bench.final("3").ruling
        assert (ruling.action, ruling.add, ruling.back) == ("call", 0, 300), act


# -- the end of a street -----------------------------------------------------------------------------


def to_the_sweep(bench: Bench) -> None:
    bench.put("3", 100)
    bench.wait(3000)
    bench.put("1", 25, 25)
    bench.wait(3000)
    bench.press("check")
    assert bench.view.phase == "sweeping"


def test_a_bet_dragged_over_a_neighbours_antenna_is_no_bet_on_the_next_street() -> None:
    bench = dealt()
    to_the_sweep(bench)
    dragged = list(bench.lines["2"])
    bench.lift("2")
    bench.wait(1500)
    bench.lines["1"] += dragged
    bench.wait(400)
    bench.lift("1")
    bench.lift("3")
    bench.wait(4000)
    assert bench.view.street == 1
    assert bench.view.to_act == "1"
    assert len(finals(bench)) == 3


def test_a_chip_that_comes_behind_the_last_act_of_a_street_is_no_act_of_the_next() -> None:
    bench = dealt()
    to_the_sweep(bench)
    bench.put("3", 500)
    bench.wait(600)
    assert "chips_late" in codes(bench)
    for seat in ("1", "2", "3"):
        bench.lift(seat)
    bench.wait(4000)
    assert (bench.view.street, bench.view.to_act) == (1, "1")
    assert len(finals(bench)) == 3


def test_the_first_bet_of_the_next_street_may_come_before_the_sweep_is_over() -> None:
    bench = dealt()
    to_the_sweep(bench)
    bench.lift("1")
    bench.wait(1500)
    bench.put("1", 100, 100)
    bench.lift("2")
    bench.lift("3")
    bench.wait(5000)
    assert bench.final("1").ruling.action == "bet"
    assert bench.final("1").ruling.to == 200


# -- one tag, one place ------------------------------------------------------------------------------


def test_a_chip_between_two_antennas_counts_once() -> None:
    bench = dealt()
    (uid,) = bench.lines["2"]
    bench.lines["3"].append(uid)
    bench.wait(5000)
    assert finals(bench) == []
    assert bench.view.to_act == "3"


def test_a_neighbours_chip_is_no_post() -> None:
    bench = Bench()
    bench.start()
    (uid,) = bench.put("2", 100)
    bench.wait(400)
    for _ in range(2):
        seen = Present(READER, TimeSpan(bench.ns, bench.ns), 1, (Tag(uid),))
        bench.feed(Seen(at_ns=bench.ns, observation=seen))
    bench.wait(500)
    assert bench.state.phase == "posting"


# -- blindness ---------------------------------------------------------------------------------------


def test_nothing_is_final_on_an_antenna_that_went_blind_after_the_first_chip() -> None:
    bench = dealt()
    bench.put("3", 500)
    bench.wait(200)
    bench.put("3", 500)
    bench.wait(2500, skip=("3",))
    assert finals(bench) == []
    bench.wait(2500)
    assert bench.of(QuestionAsked) or bench.final("3").ruling.to == 1000


def test_nothing_is_final_while_the_reader_is_lost() -> None:
    bench = dealt()
    bench.put("3", 500)
    bench.wait(200)
    span = TimeSpan(bench.ns, bench.ns)
    bench.feed(Seen(at_ns=bench.ns, observation=DeviceLost(READER, span, "gone", "Plug it in.")))
    bench.wait(5000, skip=bench.seats)
    assert finals(bench) == []


def test_a_restart_makes_nothing_final_before_the_antenna_was_looked_at_again() -> None:
    bench = dealt()
    bench.put("3", 500)
    bench.wait(200)
    bench.now_ms += 20_000
    bench.restart()
    bench.state_bounds()
    assert finals(bench) == []
    bench.put("3", 500)
    bench.wait(3000)
    assert bench.of(QuestionAsked) or bench.final("3").ruling.to == 1000


def test_the_withdraw_key_still_waits_for_looks_at_the_line() -> None:
    bench = dealt()
    bench.put("3", 500)
    bench.wait(200)
    bench.put("3", 500)
    bench.press("hand_withdraws")
    bench.wait(2000)
    assert bench.of(QuestionAsked) or bench.final("3").ruling.to == 1000
    assert all(r.ruling.to == 1000 for r in finals(bench))


# -- keys --------------------------------------------------------------------------------------------


def test_a_raise_keyed_just_behind_a_ruling_may_be_the_seats_before_and_is_asked() -> None:
    bench = dealt()
    bench.put("3", 1000)
    bench.wait(1900)
    assert bench.final("3").ruling.action == "call"
    bench.press("raise")
    bench.wait(4000)
    assert not bench.of(QuestionAsked), "what comes next may tell"
    bench.wait(3000)
    assert bench.of(QuestionAsked)[-1].reason.code == "ask_own_word"
    assert {r.ruling.seat for r in finals(bench)} == {"3"}
    bench.press("key_b")
    bench.wait(3000)
    assert {r.ruling.seat for r in finals(bench)} == {"3"}
    bench.put("1", 25, 25)
    bench.wait(3000)
    assert bench.final("1").ruling.action == "call"


def test_a_raise_said_before_the_chips_but_keyed_behind_the_ruling_reopens_the_act() -> None:
    bench = dealt()
    bench.put("3", 1000)
    bench.wait(1700)
    assert bench.final("3").ruling.action == "call"
    pressed = TimeSpan(bench.ns - 500 * MS, bench.ns - 500 * MS)
    bench.feed(Seen(at_ns=bench.ns, observation=Press(PANEL, pressed, BootId(7), 900, "raise")))
    bench.wait(3000)
    assert bench.of(QuestionAsked)[-1].reason.code == "ask_said_first"
    bench.press("key_a")
    assert bench.final("3").ruling.action == "raise"
    assert bench.final("3").corrects is not None


def test_a_word_pressed_before_the_ruling_and_delivered_after_it_is_about_that_act() -> None:
    bench = dealt()
    pressed = TimeSpan(bench.ns, bench.ns)
    bench.put("3", 100)
    bench.wait(3000)
    late = Press(PANEL, pressed, BootId(7), 1, "all_in", said_first=True)
    bench.feed(Seen(at_ns=bench.ns, observation=late))
    bench.wait(5000)
    assert {r.ruling.seat for r in finals(bench)} == {"3"}
    assert bench.final("3").ruling.all_in


def test_a_key_that_bounces_folds_one_seat() -> None:
    bench = dealt()
    bench.press("fold")
    bench.now_ms -= 230
    bench.press("fold")
    assert [r.ruling.seat for r in finals(bench)] == ["3"]
    assert "key_twice" in codes(bench)


def test_a_fold_keyed_while_a_call_is_still_open_is_the_next_seats() -> None:
    bench = dealt()
    bench.put("3", 100)
    bench.wait(900)
    bench.press("fold")
    bench.wait(3000)
    assert bench.final("3").ruling.action == "call"
    assert bench.final("1").ruling.action == "fold"


# -- order -------------------------------------------------------------------------------------------


def test_an_act_behind_one_that_changes_is_not_bound_at_a_price_it_never_faced() -> None:
    bench = dealt()
    bench.put("3", 100)
    bench.wait(700)
    bench.put("3", 500)
    bench.put("1", 100)
    bench.wait(3500)
    bench.press("key_a")
    bench.wait(1000)
    assert bench.final("3").ruling.to == 600
    behind = [r for r in finals(bench) if r.ruling.seat == "1"]
    assert all(r.ruling.action in ("pending", "call_or_fold", "floor") for r in behind)


def test_an_answer_holds_only_for_the_evidence_it_was_asked_on() -> None:
    bench = dealt()
    bench.put("3", 100)
    bench.wait(700)
    bench.put("3", 500)
    bench.wait(2500)
    first = bench.of(QuestionAsked)[-1]
    bench.put("3", 500)
    bench.wait(200)
    assert bench.of(QuestionClosed)[-1].answer is None
    bench.wait(3000)
    again = bench.of(QuestionAsked)[-1]
    assert again is not first
    bench.press("key_a")
    assert (bench.final("3").ruling.action, bench.final("3").ruling.to) == (
        again.choices[0].action,
        again.choices[0].to,
    )


# -- posts -------------------------------------------------------------------------------------------


def test_the_rest_of_a_short_blind_is_no_act() -> None:
    bench = Bench()
    bench.start()
    bench.put("1", 25, 25)
    bench.put("2", 25, 25)
    bench.wait(500)
    bench.press("fold")
    assert "post_missing" in codes(bench)
    bench.put("2", 25, 25)
    bench.wait(4000)
    assert [r.ruling.seat for r in finals(bench)] == ["3"]
    assert "out_of_turn" not in codes(bench)


def test_a_blind_that_is_not_seen_is_asked_for() -> None:
    bench = Bench()
    bench.start()
    bench.put("2", 100)
    bench.wait(20_000)
    assert bench.state.phase == "posting"
    assert [f.code for f in bench.view.faults] == ["post_missing"]
    bench.put("1", 25, 25)
    bench.wait(500)
    assert bench.view.faults == ()


def test_a_blind_swapped_for_smaller_chips_is_change() -> None:
    bench = Bench()
    bench.start()
    bench.put("1", 25, 25)
    bench.put("2", 500)
    bench.wait(500)
    assert bench.view.phase == "betting"
    bench.lift("2")
    bench.put("2", 100)
    bench.wait(3000)
    assert finals(bench) == []
    bench.put("3", 100)
    bench.wait(3000)
    bench.put("1", 25, 25)
    bench.wait(3000)
    bench.press("check")
    assert bench.final("2").ruling.action == "check"
    assert bench.final("2").ruling.back == 0


# -- time --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("profile", ["swedish", "tda-2024"])
def test_a_second_motion_behind_a_final_ruling_is_a_string_bet_and_goes_back(profile: str) -> None:
    bench = dealt(profile)
    bench.put("3", 100)
    bench.wait(3000)
    first = next(p for p, o in bench.outcomes if isinstance(o, RulingIssued) and o.status == "final")
    bench.put("3", 500)
    bench.wait(4000)
    final = bench.final("3")
    assert (final.ruling.action, final.ruling.to, final.ruling.back) == ("call", 100, 500)
    assert final.corrects == first
    assert bench.view.to_act == "1"
    assert "out_of_turn" not in codes(bench)


def test_a_raise_that_is_fetched_after_the_call_was_placed_is_a_raise_in_swedish_law() -> None:
    bench = dealt("swedish")
    bench.press("raise", said_first=True)
    bench.wait(300)
    bench.put("3", 100)
    bench.wait(4000)
    bench.put("3", 100, 100, 100)
    bench.wait(4000)
    ruling = bench.final("3").ruling
    assert (ruling.action, ruling.to, ruling.add) == ("raise", 400, 0)


def test_blind_spans_do_not_stop_the_clock() -> None:
    bench = dealt()
    bench.put("3", 100)
    bench.wait(3000)
    assert bench.final("3").ruled_ns <= bench.final("3").touched_to_ns + 2200 * MS  # type: ignore[operator]  # chips
