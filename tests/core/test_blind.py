"""A reader that gives nothing but errors is named, with its own reason, and nobody else is blamed."""

from __future__ import annotations

from firmware_bridge.wire import BootId, Corrupt, DeviceLost, DeviceUp, TimeSpan
from tabled.core.entries import Seen, Ticked
from tabled.core.table import next_wake_ns
from tabled.fusion.settings import MS
from tabled.model.outcome import AlertRaised
from tests.core.driver import READER, SWEEP_MS, Bench

ALL = ("1", "2", "3")


def told(bench: Bench) -> list[tuple[str, bool, object]]:
    alerts = (a for a in bench.of(AlertRaised) if a.subject.startswith("blind:"))
    return [(a.reason.code, a.cleared, a.reason.params["antennas"]) for a in alerts]


def test_a_reader_of_which_every_look_is_an_error_is_told_once_with_its_reason_until_it_sees() -> None:
    bench = Bench()
    bench.wait(900, skip=ALL)
    assert told(bench) == []
    bench.wait(6000, skip=ALL)
    assert told(bench) == [("reader_blind", False, "1, 2, 3")]
    (fault,) = bench.view.faults
    assert fault.params["why"] == "status 83"
    bench.sweep()
    assert bench.view.faults == ()


def test_the_core_asks_to_be_woken_for_it_where_nothing_more_comes() -> None:
    bench = Bench()
    began_ns = bench.ns
    bench.sweep(skip=ALL)
    while not bench.view.faults:
        wake = next_wake_ns(bench.state)
        assert wake is not None
        bench.now_ms = -(-wake // MS)
        bench.feed(Ticked(at_ns=bench.ns))
    assert told(bench) == [("reader_blind", False, "1, 2, 3")]
    assert bench.ns - began_ns == 1000 * MS
    assert next_wake_ns(bench.state) is None or len(told(bench)) == 1


def test_one_blind_antenna_is_named_and_the_others_are_not() -> None:
    bench = Bench()
    bench.wait(3000, skip=("2",))
    assert told(bench) == [("antenna_blind", False, "2")]
    bench.wait(1500, skip=("2", "3"))
    assert told(bench)[-1] == ("antenna_blind", False, "2, 3")
    bench.sweep()
    assert told(bench)[-1][1]


def test_another_error_is_no_other_blindness() -> None:
    bench = Bench()
    for n in range(40):
        bench.now_ms += SWEEP_MS
        for antenna in (1, 2, 3):
            seen = Corrupt(READER, TimeSpan(bench.ns, bench.ns), antenna, f"error {n % 2}")
            bench.feed(Seen(at_ns=bench.ns, observation=seen))
    assert told(bench) == [("reader_blind", False, "1, 2, 3")]


def test_errors_with_good_looks_in_between_are_no_blindness() -> None:
    bench = Bench()
    for _ in range(20):
        bench.sweep(skip=ALL)
        bench.sweep()
    assert told(bench) == []


def test_a_reader_that_states_longer_looks_has_its_time() -> None:
    bench = Bench()
    bench.state_bounds(2000)
    bench.wait(3900, skip=ALL)
    assert told(bench) == []
    bench.wait(200, skip=ALL)
    assert told(bench) == [("reader_blind", False, "1, 2, 3")]


def test_a_lost_reader_is_told_as_lost_and_one_that_came_up_and_never_looks_as_blind() -> None:
    bench = Bench()
    bench.wait(2000, skip=ALL)
    span = TimeSpan(bench.ns, bench.ns)
    bench.feed(Seen(at_ns=bench.ns, observation=DeviceLost(READER, span, "no answer", "Check its cable.")))
    bench.now_ms += 5000
    bench.feed(Ticked(at_ns=bench.ns))
    assert [f.code for f in bench.view.faults] == ["device_lost"]
    bench.feed(Seen(at_ns=bench.ns, observation=DeviceUp(READER, span, "m", "1", BootId(0))))
    assert bench.view.faults == ()
    bench.now_ms += 1000
    bench.feed(Ticked(at_ns=bench.ns))
    assert [(f.code, f.params["why"]) for f in bench.view.faults] == [
        ("reader_blind", "no look at all since it came up")
    ]


def test_a_post_that_cannot_be_seen_is_nobodys_debt() -> None:
    bench = Bench()
    bench.start()
    bench.put("1", 25, 25)
    bench.wait(60_000, skip=("2",))
    assert [f.code for f in bench.view.faults] == ["antenna_blind"]
    bench.wait(300)
    assert [(f.code, f.params["seat"]) for f in bench.view.faults] == [("post_missing", "2")]
    bench.wait(1200, skip=("2",))
    assert [f.code for f in bench.view.faults] == ["antenna_blind"]
    bench.put("2", 100)
    bench.wait(600)
    assert bench.view.faults == ()
    assert bench.view.phase == "betting"


def test_an_antenna_of_no_place_is_not_counted() -> None:
    bench = Bench()
    for _ in range(30):
        bench.now_ms += SWEEP_MS
        seen = Corrupt(READER, TimeSpan(bench.ns, bench.ns), 9, "no reply")
        bench.feed(Seen(at_ns=bench.ns, observation=seen))
    assert told(bench) == []
    assert bench.state.blind == {}
