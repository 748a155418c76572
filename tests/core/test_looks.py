"""When a ruling is final: after a look at each antenna of the line, within the reader's own bound, or by the dealer."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from firmware_bridge.wire import BootId, CleanEmpty, Corrupt, DeviceId, DeviceLost, DeviceUp, Present, Tag, TimeSpan
from tabled.core.adjudicate import awaited_looks
from tabled.core.entries import Bound, Seen, Stated, Ticked, decode, encode
from tabled.core.state import area_key
from tabled.core.table import next_wake_ns
from tabled.fusion.settings import MS
from tabled.model.layout import Place
from tabled.model.outcome import AlertRaised, RulingIssued, Undo
from tests.core.driver import READER, SWEEP_MS, Bench

BOUND_MS = 2 * SWEEP_MS
GRACE_MS = 500
ENOUGH = 16
"""Looks at a stack, each of which may miss a buried chip, one miss making the next likelier."""


def dealt(**stated: object) -> Bench:
    bench = Bench()
    bench.deal()
    if stated:
        bench.state_bounds(**stated)  # type: ignore[arg-type]  # options by name
    return bench


def finals(bench: Bench) -> list[RulingIssued]:
    return [r for r in bench.of(RulingIssued) if r.status == "final"]


def open_alerts(bench: Bench) -> list[str]:
    return sorted(f.code for f in bench.view.faults)


def told(bench: Bench, code: str) -> list[AlertRaised]:
    return [a for a in bench.of(AlertRaised) if a.reason.code == code and not a.cleared]


def look(
    bench: Bench, seat: str, begin_ns: int, end_ns: int, *, tags: bool = True, quiet: tuple[str, ...] = ()
) -> None:
    """One look at a seat's antenna, at exactly these times."""
    bench.now_ms = end_ns // MS
    span, antenna = TimeSpan(begin_ns, end_ns), int(seat)
    uids = tuple(Tag(u) for u in sorted(bench.lines[seat])) if tags else ()
    seen: Present | CleanEmpty = CleanEmpty(READER, span, antenna)
    if uids or quiet:
        seen = Present(READER, span, antenna, uids, complete=not quiet, quiet=quiet)
    bench.feed(Seen(at_ns=end_ns, observation=seen))


def look_often(bench: Bench, seat: str, begin_ns: int) -> None:
    """So many looks, 10 ms each, that no chip can have escaped them all."""
    for n in range(ENOUGH):
        look(bench, seat, begin_ns + n * 10 * MS, begin_ns + (n + 1) * 10 * MS)


def over_ns(bench: Bench) -> int:
    """When the act in progress is over: the core wants to be woken then."""
    wake = next_wake_ns(bench.state)
    assert wake is not None
    return wake


# -- a look after the motion, not before -------------------------------------------------------------


def test_a_look_that_began_before_the_motion_was_over_makes_nothing_final() -> None:
    bench = dealt()
    bench.put("3", 100)
    bench.wait(300)
    over = over_ns(bench)
    look(bench, "3", over - 1, over + 20 * MS)
    assert finals(bench) == []
    look_often(bench, "3", over + 20 * MS)
    assert bench.final("3").ruling.action == "call"


def test_several_looks_are_wanted_since_one_may_miss_a_buried_chip() -> None:
    bench = dealt()
    bench.put("3", 100)
    bench.sweep()
    bench.sweep()
    over = over_ns(bench)
    for n in range(ENOUGH - 2):
        look(bench, "3", over + n * MS, over + (n + 1) * MS)
    assert finals(bench) == []
    look_often(bench, "3", over + ENOUGH * MS)
    assert bench.final("3").ruling.action == "call"


def test_a_word_alone_waits_for_a_look_that_shows_that_no_chip_came() -> None:
    bench = dealt()
    bench.press("raise_to", 400, said_first=True)
    bench.wait(BOUND_MS)
    bench.wait(4000, skip=("3",))
    assert finals(bench) == []
    assert open_alerts(bench) == ["antenna_blind", "look_overdue"]
    bench.wait(400)
    assert (bench.final("3").ruling.to, bench.final("3").ruling.add) == (400, 400)
    assert open_alerts(bench) == []


def test_a_look_for_new_chips_is_enough_for_a_word_and_not_for_chips() -> None:
    bench = dealt()
    bench.press("raise_to", 400, said_first=True)
    over = over_ns(bench)
    look(bench, "3", over, over + 10 * MS, quiet=("E0040000000000AA",))
    assert bench.final("3").ruling.to == 400

    bench = dealt()
    uids = bench.put("3", 100)
    bench.wait(300)
    over = over_ns(bench)
    for n in range(2 * ENOUGH):
        look(bench, "3", over + n * MS, over + (n + 1) * MS, tags=False, quiet=tuple(uids))
    assert finals(bench) == []
    look(bench, "3", over + 20 * MS, over + 30 * MS)
    assert bench.final("3").ruling.action == "call"


def test_a_neighbours_antenna_is_asked_before_a_chip_counts_for_good() -> None:
    bench = dealt()
    beside = ((Place("bet", "2"), Place("bet", "3")),)
    bench.restart(replace(bench.config, layout=replace(bench.config.layout, neighbours=beside)))
    bench.state_bounds()
    bench.sweep()
    bench.put("3", 100)
    bench.wait(3000, skip=("2",))
    assert finals(bench) == []
    (alert,) = told(bench, "look_overdue")
    assert (alert.reason.params["seat"], alert.reason.params["antenna"]) == ("3", 2)
    bench.wait(200)
    assert bench.final("3").ruling.action == "call"


# -- a bound -----------------------------------------------------------------------------------------


def test_what_the_readers_state_is_an_input_with_bytes_of_its_own() -> None:
    stated = Stated(at_ns=5, bounds={"r#1": Bound(10, 20)}, unstated=("q",), overran={"r": 2})
    assert decode(encode(stated)) == stated


@pytest.mark.parametrize("bound_ms", [100, 700, 2500])
def test_a_look_that_does_not_come_within_the_bound_is_named_and_nothing_is_final(bound_ms: int) -> None:
    bench = dealt(ms=bound_ms)
    bench.put("3", 100)
    bench.wait(300)
    over = over_ns(bench)
    bench.now_ms = over // MS
    bench.feed(Ticked(at_ns=over))
    limit = over + (ENOUGH * bound_ms + GRACE_MS) * MS
    assert next_wake_ns(bench.state) == limit
    bench.feed(Ticked(at_ns=limit - 1))
    assert open_alerts(bench) == []
    bench.feed(Ticked(at_ns=limit))
    assert open_alerts(bench) == ["look_overdue"]
    assert finals(bench) == []
    assert bench.state.standing is not None
    look_often(bench, "3", limit)
    assert bench.final("3").ruling.action == "call"
    assert open_alerts(bench) == []


def test_the_bound_in_force_is_the_one_stated_last() -> None:
    bench = dealt(ms=5000)
    bench.put("3", 100)
    bench.wait(300)
    over = over_ns(bench)
    bench.state_bounds(50)
    bench.now_ms = over // MS
    bench.feed(Ticked(at_ns=over))
    assert next_wake_ns(bench.state) == over + (ENOUGH * 50 + GRACE_MS) * MS


def test_a_reader_that_was_away_has_its_time_from_when_it_was_back() -> None:
    bench = dealt()
    bench.put("3", 100)
    bench.wait(300)
    span = TimeSpan(bench.ns, bench.ns)
    bench.feed(Seen(at_ns=bench.ns, observation=DeviceLost(READER, span, "gone", "Plug it in.")))
    bench.state_bounds(None)
    bench.now_ms += 9000
    bench.feed(Ticked(at_ns=bench.ns))
    assert "look_unstated" in open_alerts(bench)
    span = TimeSpan(bench.ns, bench.ns)
    bench.feed(Seen(at_ns=bench.ns, observation=DeviceUp(READER, span, "x", "1", BootId(0))))
    bench.state_bounds()
    assert open_alerts(bench) == []
    assert awaited_looks(bench.state)[0].by_ns == bench.ns + (ENOUGH * BOUND_MS + GRACE_MS) * MS


# -- no bound ----------------------------------------------------------------------------------------


def test_without_a_bound_time_makes_nothing_final_and_the_dealer_is_told_why() -> None:
    bench = dealt(ms=None, unstated=("reader",))
    assert open_alerts(bench) == ["bound_unstated"]
    bench.put("3", 100)
    bench.wait(20_000)
    assert finals(bench) == []
    assert open_alerts(bench) == ["bound_unstated", "look_unstated"]
    assert len(told(bench, "look_unstated")) == 1
    bench.press("hand_withdraws")
    assert bench.final("3").ruling.action == "call"
    assert open_alerts(bench) == ["bound_unstated"]
    bench.state_bounds()
    assert open_alerts(bench) == []


def test_without_a_bound_a_word_alone_is_not_final_by_time() -> None:
    bench = dealt(ms=None)
    bench.press("call")
    bench.wait(20_000)
    assert finals(bench) == []
    bench.press("hand_withdraws")
    assert bench.final("3").ruling.action == "call"


def test_without_a_bound_a_fold_is_the_dealers_word_already() -> None:
    bench = dealt(ms=None)
    bench.press("fold")
    assert bench.final("3").ruling.action == "fold"


def test_nobody_confirms_what_he_was_not_asked_to_count() -> None:
    bench = dealt(ms=None)
    bench.put("3", 100)
    bench.wait(300)
    bench.press("hand_withdraws")
    assert finals(bench) == []
    assert open_alerts(bench) == ["look_unstated"]
    bench.press("hand_withdraws")
    assert bench.final("3").ruling.action == "call"


def test_a_confirmation_holds_only_for_what_lay_there() -> None:
    bench = dealt(ms=None)
    bench.put("3", 1000)
    bench.press("raise")  # whether it was said first is a question, so the confirmed ruling waits for its answer
    bench.wait(3000)
    bench.press("hand_withdraws")
    assert finals(bench) == []
    assert bench.state.question is not None
    bench.put("3", 500)
    bench.wait(300)
    assert bench.state.question is None
    bench.wait(5000)
    assert finals(bench) == []
    assert "look_unstated" in open_alerts(bench)


def test_the_answer_to_a_question_finishes_what_was_confirmed() -> None:
    bench = dealt(ms=None)
    bench.put("3", 1000)
    bench.press("raise")
    bench.wait(3000)
    bench.press("hand_withdraws")
    bench.press("key_a")
    assert bench.final("3").ruling.action == "raise"


def test_a_confirmation_does_not_outlive_an_undo() -> None:
    bench = dealt(ms=None)
    bench.put("3", 100)
    bench.wait(3000)
    bench.press("hand_withdraws")
    assert len(finals(bench)) == 1
    bench.order(Undo(request="u"))
    bench.press("hand_withdraws")
    assert [r.ruling.action for r in finals(bench)] == ["call", "pending"]


def test_nobody_counts_for_an_act_whose_turn_was_taken_back() -> None:
    bench = dealt(ms=None)
    bench.put("3", 100)
    bench.wait(3000)
    bench.press("hand_withdraws")
    bench.put("1", 25, 25)
    bench.wait(3000)
    assert [f.params["seat"] for f in bench.view.faults] == ["1"]
    bench.order(Undo(request="u"))
    assert bench.view.to_act == "3"
    assert "look_unstated" not in open_alerts(bench)


def test_a_lost_reader_can_be_stood_in_for_by_the_dealer() -> None:
    bench = dealt()
    bench.put("3", 500)
    bench.wait(400)
    span = TimeSpan(bench.ns, bench.ns)
    bench.feed(Seen(at_ns=bench.ns, observation=DeviceLost(READER, span, "gone", "Plug it in.")))
    bench.wait(5000, skip=bench.seats)
    assert finals(bench) == []
    assert "look_unstated" in open_alerts(bench)
    bench.press("hand_withdraws")
    assert bench.final("3").ruling.back == 400


def test_an_antenna_that_stays_blind_can_be_stood_in_for_by_the_dealer() -> None:
    bench = dealt()
    bench.put("3", 500)
    bench.wait(400)
    bench.wait(6000, skip=("3",))
    assert open_alerts(bench) == ["antenna_blind", "look_overdue"]
    bench.press("hand_withdraws")
    assert bench.final("3").ruling.back == 400


def test_a_restart_knows_no_bound_before_it_is_stated() -> None:
    bench = dealt()
    bench.restart()
    bench.put("3", 100)
    bench.wait(10_000)
    assert finals(bench) == []
    bench.state_bounds()
    bench.wait(200)
    assert bench.final("3").ruling.action == "call"


# -- a reader that breaks its word -------------------------------------------------------------------


def test_a_sweep_over_the_bound_is_said_once_for_each_and_stays_for_the_street() -> None:
    bench = dealt()
    bench.state_bounds(overran={"reader": 1})
    bench.state_bounds(overran={"reader": 1})
    assert [a.reason.params["count"] for a in told(bench, "sweep_overran")] == [1]
    assert open_alerts(bench) == ["sweep_overran"]
    bench.state_bounds(overran={"reader": 3})
    assert [a.reason.params["count"] for a in told(bench, "sweep_overran")] == [1, 3]
    for seat, chips in (("3", (100,)), ("1", (25, 25))):
        bench.put(seat, *chips)
        bench.wait(3000)
    assert open_alerts(bench) == ["sweep_overran"]
    bench.press("check")
    for seat in bench.seats:
        bench.lift(seat)
    bench.wait(3000)
    assert bench.view.street == 1
    assert open_alerts(bench) == []


def test_between_hands_a_slow_sweep_is_a_note() -> None:
    bench = Bench()
    bench.state_bounds(overran={"reader": 1})
    assert [a.severity for a in told(bench, "sweep_overran")] == ["info"]
    assert open_alerts(bench) == []


# -- what the shell lets through ---------------------------------------------------------------------


def test_looks_are_awaited_at_the_seats_antenna_once_its_motion_is_over() -> None:
    bench = dealt()
    assert awaited_looks(bench.state) == ()
    bench.put("3", 100)
    bench.wait(300)
    assert awaited_looks(bench.state) == ()
    over = over_ns(bench)
    bench.now_ms = over // MS
    bench.feed(Ticked(at_ns=over))
    (wanted,) = awaited_looks(bench.state)
    assert area_key(wanted.antenna.device, wanted.antenna.antenna) == "reader#3"
    assert wanted.since_ns == over
    corrupt = Corrupt(DeviceId("reader"), TimeSpan(over, over + MS), 3, "status 83")
    bench.feed(Seen(at_ns=over + MS, observation=corrupt))
    assert awaited_looks(bench.state) == (wanted,)
    look_often(bench, "3", over + 2 * MS)
    assert awaited_looks(bench.state) == ()


def test_a_chip_that_one_look_after_another_has_missed_is_looked_at_more_closely_until_it_is_gone() -> None:
    bench = Bench(camera=True)
    bench.put("3", 100)
    bench.wait(2000)
    bench.lift("3")
    bench.sweep()
    assert awaited_looks(bench.state) == ()
    bench.wait(3 * SWEEP_MS)
    (wanted,) = awaited_looks(bench.state)
    assert (wanted.antenna.antenna, wanted.by_ns) == (3, None)
    model = bench.state.fusion.sensor
    assert wanted.looks * model.miss_untouched > model.ceiling - model.gone
    bench.wait(wanted.looks * SWEEP_MS)
    assert not bench.state.places
    assert awaited_looks(bench.state) == ()
