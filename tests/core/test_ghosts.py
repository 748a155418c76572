"""Chips that were read and are not there, and chips that lie there and are not read."""

from __future__ import annotations

from tabled.model.outcome import AlertRaised, QuestionAsked, RulingIssued
from tests.core.driver import Bench
from tests.core.test_breaks import dealt


def test_a_ghost_before_the_turn_does_not_make_the_seats_own_act_one_on_the_older_bet() -> None:
    bench = Bench((5000,) * 4)
    bench.deal()
    ghost = bench.put("4", 500)
    bench.sweep()
    bench.lift("4", ghost)
    bench.wait(2000)
    bench.put("3", 500, 500)
    bench.wait(3000)
    assert bench.final("3").ruling.to == 1000
    bench.put("4", 500, 500)
    bench.wait(3000)
    assert (bench.final("4").ruling.action, bench.final("4").ruling.to) == ("call", 1000)


def test_a_chip_taken_back_and_put_down_again_pays_what_is_owed_though_the_street_is_over() -> None:
    bench = dealt()
    bench.put("3", 100)
    bench.wait(3000)
    bench.put("1", 25, 25)
    bench.wait(3000)
    bench.press("raise_to", 300, said_first=True)
    there = bench.put("2", 100, 100)
    bench.wait(3000)
    assert bench.final("2").ruling.to == 300
    bench.press("fold")
    bench.wait(1000)
    there = bench.put("1", 100, 100)
    bench.wait(500)
    bench.lift("1", there[1:])
    bench.wait(3000)
    if bench.state.question:
        bench.press("key_a")
    bench.wait(4000)
    assert bench.state.phase == "sweeping"
    assert bench.state.lines["1"].owed == 100
    bench.lines["1"].append(there[1])
    bench.wait(1000)
    assert bench.state.lines["1"].owed == 0


def test_a_chip_given_back_before_its_act_was_reopened_does_not_lie_there_for_ever() -> None:
    bench = dealt()
    there = bench.put("3", 1000)
    bench.wait(3000)
    assert bench.final("3").ruling.back == 900
    bench.lift("3", there)
    bench.wait(1500)
    bench.put("3", 100)
    bench.wait(3000)
    bench.put("3", 25)
    bench.wait(4000)
    assert there[0] not in bench.state.lines["3"].settled


def test_a_word_that_repeats_the_last_seats_act_is_that_seats_once_another_word_stands_behind_it() -> None:
    bench = dealt()
    bench.put("3", 500, 500)
    while bench.view.to_act == "3":
        bench.wait(100)
    assert bench.final("3").ruling.to == 1000
    bench.press("raise_to", 1000)  # what seat 3 said behind its chips, keyed late
    bench.press("call")
    bench.put("1", 500, 500)
    bench.wait(5000)
    assert not bench.of(QuestionAsked)
    assert any(a.reason.code == "word_of_seat_before" for a in bench.of(AlertRaised)), "it is said aloud"
    assert (bench.final("1").ruling.action, bench.final("1").ruling.to) == ("call", 1000)
    assert bench.final("3").ruling.to == 1000


def test_chips_that_were_only_held_are_no_act_out_of_turn() -> None:
    bench = Bench(camera=True)
    bench.deal()
    bench.hand("1", "enters")
    bench.wait(100)
    there = bench.put("1", 500)
    bench.wait(400)
    bench.lift("1", there)
    bench.hand("1", "leaves")
    bench.wait(5000)
    assert [r.ruling.action for r in bench.of(RulingIssued) if r.status == "final"] == []


def test_a_chip_that_lies_badly_and_is_heard_across_once_stays_where_it_was_put() -> None:
    bench = dealt()
    (uid,) = bench.put("3", 100)
    bench.wait(600)
    bench.lift("3")
    while bench.state.areas["reader#3"].tags[uid].level > 0:
        bench.sweep()  # it is missed again and again
    bench.lines["2"].append(uid)
    bench.sweep()  # the neighbour's antenna hears it once
    assert bench.state.places.get(uid) != "reader#2"
    assert [a.uid for a in bench.state.attempts["3"].arrivals] == [uid]
    bench.lift("2", [uid])
    bench.lines["3"].append(uid)
    bench.wait(4000)
    assert bench.state.places[uid] == "reader#3"
    assert (bench.final("3").ruling.to, bench.final("3").ruling.add) == (100, 0)
    assert not [a for a in bench.of(AlertRaised) if a.reason.code in ("out_of_turn", "chips_left", "chips_no_turn")]


def test_a_chip_that_another_antenna_keeps_naming_lies_there() -> None:
    bench = dealt()
    (uid,) = bench.put("3", 100)
    bench.wait(600)
    bench.lift("3")
    bench.lines["2"].append(uid)
    bench.wait(1500)
    assert bench.state.places[uid] == "reader#2"
