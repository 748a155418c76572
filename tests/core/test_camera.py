"""The camera beside the reader: what its strokes settle, and what happens without it."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from tabled.core.astray import GATHERED_MS
from tabled.fusion.strokes import MAX_STROKES
from tabled.model.layout import Place
from tabled.model.outcome import AlertRaised, QuestionAsked, RulingIssued
from tests.core.driver import SWEEP_MS, Bench


def dealt() -> Bench:
    bench = Bench(camera=True)
    bench.deal()
    return bench


def questions(bench: Bench) -> list[str]:
    return [q.reason.code for q in bench.of(QuestionAsked)]


def test_one_trip_is_one_motion_however_late_a_chip_is_read() -> None:
    bench = dealt()
    bench.hand("3", "enters")
    bench.wait(200)
    bench.put("3", 100)
    bench.wait(300)
    bench.hand("3", "leaves")
    bench.wait(300)
    bench.put("3", 100)  # lay there since the first motion; the reader names it only now
    bench.wait(3000)
    assert (bench.final("3").ruling.action, bench.final("3").ruling.to) == ("raise", 200)
    assert questions(bench) == []


@pytest.mark.parametrize(("retreat_mm", "pause_ms"), [(40, 60), (5, 700), (80, 2000)])
def test_a_second_trip_with_more_chips_is_a_string_bet(retreat_mm: int, pause_ms: int) -> None:
    bench = dealt()
    bench.trip("3", 100)
    bench.wait(1000)
    bench.trip("3", 500, retreat_mm=retreat_mm, pause_ms=pause_ms)
    bench.wait(3000)
    ruling = bench.final("3").ruling
    assert (ruling.action, ruling.to, ruling.back) == ("call", 100, 500)
    assert questions(bench) == []


def test_a_second_trip_right_behind_the_first_is_asked_about_when_the_chip_may_have_been_there() -> None:
    bench = dealt()
    bench.trip("3", 100)
    bench.trip("3", 500, retreat_mm=60, pause_ms=300)
    bench.wait(3000)
    assert questions(bench) == ["ask_one_motion"]
    (asked,) = bench.of(QuestionAsked)
    assert asked.stands == "key_b", "that it came with the second trip is likelier"
    bench.press("key_b")
    bench.wait(500)
    assert bench.final("3").ruling.action == "call"


def test_a_trip_that_brings_nothing_is_nothing() -> None:
    bench = dealt()
    bench.trip("3", 500, 500)
    bench.wait(700)
    bench.trip("3", retreat_mm=60, pause_ms=400)
    bench.wait(3000)
    assert (bench.final("3").ruling.action, bench.final("3").ruling.to) == ("raise", 1000)
    assert questions(bench) == []


def test_the_dealers_arm_is_no_trip_of_the_player() -> None:
    bench = dealt()
    bench.trip("3", 500, 500)
    bench.trip("3", by="dealer", retreat_mm=90, pause_ms=500)
    bench.wait(3000)
    assert (bench.final("3").ruling.action, questions(bench)) == ("raise", [])


def test_a_stroke_that_hardly_went_back_is_asked_about_if_it_decides() -> None:
    bench = dealt()
    bench.hand("3", "enters")
    bench.wait(200)
    bench.put("3", 100)
    bench.wait(1500)
    bench.hand("3", "advances", retreat_mm=18, pause_ms=90)
    bench.wait(100)
    bench.put("3", 500)
    bench.wait(300)
    bench.hand("3", "leaves")
    bench.wait(3000)
    assert questions(bench) == ["ask_one_motion"]


def test_hovering_is_no_act() -> None:
    bench = dealt()
    bench.trip("3")
    bench.wait(5000)
    assert bench.of(RulingIssued) == []
    assert bench.view.to_act == "3"


def test_nothing_is_final_while_the_hand_is_over_the_line() -> None:
    bench = dealt()
    bench.hand("3", "enters")
    bench.wait(200)
    bench.put("3", 500, 500)
    bench.wait(3000)
    assert [r.status for r in bench.of(RulingIssued)] == ["provisional"]
    bench.hand("3", "leaves")
    bench.wait(1500)
    assert bench.final("3").ruling.to == 1000


def test_a_hand_that_rests_on_the_line_is_not_waited_for_for_ever() -> None:
    bench = dealt()
    bench.hand("3", "enters")
    bench.wait(200)
    bench.put("3", 500, 500)
    bench.wait(6000)
    assert bench.final("3").ruling.to == 1000


def test_the_touch_lies_after_the_hand_came() -> None:
    bench = dealt()
    bench.wait(2000)
    came = bench.ns
    bench.trip("3", 500, 500)
    bench.wait(2500)
    ruling = bench.final("3")
    assert ruling.touched_from_ns is not None
    assert came - 17_000_000 <= ruling.touched_from_ns <= came + 200_000_000


def test_without_sight_pauses_tell_and_the_dealer_is_told() -> None:
    bench = dealt()
    bench.trust(False, "moved")
    assert [(a.subject, a.reason.code) for a in bench.of(AlertRaised)] == [("camera", "camera_blind")]
    bench.hand("3", "enters")
    bench.put("3", 100)
    bench.wait(800)
    bench.put("3", 500)
    bench.wait(3000)
    assert questions(bench) == ["ask_one_motion"]
    bench.trust(True)
    assert bench.of(AlertRaised)[-1].cleared


def test_one_seats_zone_out_of_sight_blinds_that_seat_alone() -> None:
    bench = dealt()
    bench.trust(False, "occluded", seat="1")
    bench.trip("3", 100)
    bench.wait(1000)
    bench.trip("3", 500, retreat_mm=60, pause_ms=700)
    bench.wait(3000)
    assert (bench.final("3").ruling.action, questions(bench)) == ("call", [])


def test_a_trip_that_began_before_the_camera_was_believed_is_not_leant_on() -> None:
    bench = dealt()
    bench.trust(False, "lights")
    bench.put("3", 100)
    bench.wait(300)
    bench.trust(True)
    bench.trip("3", 500)
    bench.wait(3000)
    assert questions(bench) == ["ask_one_motion"]


def test_chips_that_lay_there_alone_and_were_taken_back_had_been_put_down() -> None:
    bench = dealt()
    there = bench.trip("3", 500, 500)
    bench.wait(600)
    bench.hand("3", "enters", retreat_mm=60, pause_ms=600)
    bench.wait(200)
    bench.lift("3", there)
    bench.hand("3", "leaves")
    bench.wait(4000)
    assert questions(bench) == []
    assert bench.final("3").ruling.to == 1000


def test_chips_that_came_and_left_with_one_hand_are_asked_about() -> None:
    bench = dealt()
    bench.hand("3", "enters")
    bench.wait(200)
    there = bench.put("3", 500, 500)
    bench.wait(600)
    bench.lift("3", there)
    bench.wait(100)
    bench.hand("3", "leaves")
    bench.wait(3000)
    assert questions(bench) == ["ask_let_go"]
    (asked,) = bench.of(QuestionAsked)
    assert asked.stands == "key_b", "nothing was let go is likelier"
    assert not [r for r in bench.of(RulingIssued) if r.status == "final"]
    bench.press("key_b")
    bench.wait(3000)
    assert not [r for r in bench.of(RulingIssued) if r.status == "final"]
    assert bench.view.to_act == "3"


def test_cut_and_push_is_asked_about_when_the_rest_went_back() -> None:
    bench = dealt()
    bench.hand("3", "enters")
    bench.wait(200)
    there = bench.put("3", 100, 100, 500)
    bench.wait(500)
    bench.lift("3", there[2:])
    bench.wait(100)
    bench.hand("3", "leaves")
    bench.wait(3000)
    assert questions(bench) == ["ask_let_go"]
    bench.press("key_b")
    bench.wait(3000)
    assert bench.final("3").ruling.to == 200


def test_a_chip_that_no_hand_brought_is_asked_about() -> None:
    bench = dealt()
    bench.wait(2000)
    bench.put("3", 1000)
    bench.wait(4000)
    assert questions(bench) == ["ask_own_chip"]
    assert bench.of(QuestionAsked)[0].stands == "key_b", "somebody dropped it is likelier"
    assert not [r for r in bench.of(RulingIssued) if r.status == "final"]
    bench.press("key_b")
    bench.wait(500)
    assert bench.view.to_act == "3"
    assert bench.state.lines["3"].back == 1000


def test_a_chip_that_the_dealer_calls_an_act_is_one() -> None:
    bench = dealt()
    bench.wait(2000)
    bench.put("3", 1000)
    bench.wait(4000)
    bench.press("key_a")
    bench.wait(1000)
    assert (bench.final("3").ruling.action, bench.final("3").ruling.to) == ("call", 100)


def test_a_chip_on_the_line_of_a_seat_that_is_not_asked_is_astray() -> None:
    bench = dealt()
    bench.wait(2000)
    bench.put("1", 500)
    bench.wait(4000)
    assert [(a.subject, a.reason.code) for a in bench.of(AlertRaised)] == [("turn:1", "chip_astray")]
    assert bench.of(RulingIssued) == []


def test_a_player_who_fidgets_for_long_is_known_by_his_newest_strokes() -> None:
    bench = dealt()
    bench.hand("3", "enters")
    bench.put("3", 500, 500)
    bench.wait(200)
    for _ in range(3 * MAX_STROKES):
        bench.hand("3", "advances", retreat_mm=5, pause_ms=60)
    assert len(bench.state.attempts["3"].strokes) == MAX_STROKES


def test_a_seat_that_the_table_has_not_blinds_nobody() -> None:
    bench = dealt()
    bench.trust(False, "occluded", seat="99")
    assert bench.of(AlertRaised) == []
    assert bench.state.sight.clear_ns == {}


def beside() -> Bench:
    """A hand at a table where chips of seat 3 may come to lie before seat 1."""
    bench = Bench(camera=True)
    layout = replace(bench.config.layout, neighbours=((Place("bet", "3"), Place("bet", "1")),))
    bench.restart(replace(bench.config, layout=layout))
    bench.state_bounds()
    bench.sees()
    bench.deal()
    return bench


def test_a_chip_that_rolled_before_a_neighbour_is_waited_for() -> None:
    bench = beside()
    bench.hand("3", "enters")
    bench.wait(200)
    bench.put("3", 100)
    rolled = bench.put("1", 500)
    bench.wait(300)
    bench.hand("3", "leaves")
    bench.wait(2500)
    assert not [r for r in bench.of(RulingIssued) if r.status == "final"]
    assert "chip_astray" in [f.code for f in bench.view.faults], "the dealer is told at once"
    for seat in ("1", "3"):
        bench.hand(seat, "enters", by="dealer")
    bench.lift("1", rolled)
    bench.lines["3"] += rolled
    bench.wait(200)
    for seat in ("1", "3"):
        bench.hand(seat, "leaves", by="dealer")
    bench.wait(6000)
    while bench.state.question is not None:
        bench.press("key_a")
        bench.wait(300)
    bench.wait(3000)
    assert (bench.final("3").ruling.action, bench.final("3").ruling.to) == ("raise", 600)
    assert "chip_astray" not in [f.code for f in bench.view.faults]


def sweeps_to_final(rolled_at: int | None) -> int:
    """Sweeps until the act of seat 3 is final, with a chip that comes to lie before seat 1 after so many of them."""
    bench = beside()
    bench.trip("3", 100)
    for n in range(1, 200):
        if n == rolled_at:
            bench.put("1", 500)
        bench.wait(1)
        if any(r.status == "final" for r in bench.of(RulingIssued)):
            return n
    raise AssertionError("it is never final")


def test_nothing_is_final_while_a_chip_is_read_before_a_neighbour_that_nobody_can_place() -> None:
    plain = sweeps_to_final(None)
    assert sweeps_to_final(plain - 2) >= plain + GATHERED_MS // SWEEP_MS - 2


def test_a_hand_that_was_only_seen_to_leave_had_come() -> None:
    bench = dealt()
    bench.wait(400)
    bench.put("3", 500)
    bench.wait(300)
    bench.hand("3", "leaves")
    bench.wait(4000)
    assert questions(bench) == []
    assert bench.final("3").ruling.action == "call"
