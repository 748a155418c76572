"""Where each chip is, and what is said when the money does not add up."""

from __future__ import annotations

from msgspec.structs import replace

from firmware_bridge.wire import CleanEmpty, Present, Tag, TimeSpan
from tabled.core.entries import Seen, Ticked
from tabled.core.money import totals
from tabled.core.table import next_wake_ns
from tabled.fusion.settings import MS
from tabled.model.layout import Antenna, Layout, Place
from tabled.model.outcome import AlertRaised
from tests.core.driver import READER, Bench

STACK, TRAY = 9, 10


def alerts(bench: Bench) -> list[tuple[str, str]]:
    return [(a.subject.partition(":")[0], a.reason.code) for a in bench.of(AlertRaised) if not a.cleared]


def open_alerts(bench: Bench) -> list[str]:
    return sorted(bench.state.faults)


def with_stack(bench: Bench) -> Bench:
    """The same table with an antenna under seat 3's stack and one under the tray."""
    more = (Antenna(READER, STACK, Place("stack", "3")), Antenna(READER, TRAY, Place("tray")))
    layout = Layout(bench.config.layout.seats, (*bench.config.layout.antennas, *more))
    bench.restart(replace(bench.config, layout=layout))
    return bench


def see(bench: Bench, antenna: int, *uids: str) -> None:
    span = TimeSpan(bench.ns, bench.ns + 10 * MS)
    bench.now_ms += 10
    tags = tuple(Tag(u) for u in sorted(uids))
    bench.feed(Seen(at_ns=bench.ns, observation=Present(READER, span, antenna, tags)))


def see_nothing(bench: Bench, antenna: int) -> None:
    span = TimeSpan(bench.ns, bench.ns + 10 * MS)
    bench.now_ms += 10
    bench.feed(Seen(at_ns=bench.ns, observation=CleanEmpty(READER, span, antenna)))


def test_every_chip_is_somewhere_and_the_sum_is_the_registry() -> None:
    bench = Bench()
    everything = sum(bench.values.values())
    assert totals(bench.state) == {"unaccounted": everything}
    bench.deal()
    there = bench.put("3", 100)
    bench.wait(3000)
    found = totals(bench.state)
    assert (found["bet:1"], found["bet:2"], found["bet:3"]) == (50, 100, 100)
    assert sum(found.values()) == everything
    bench.put("1", 25, 25)
    bench.wait(3000)
    bench.press("check")
    bench.wait(1000)
    assert bench.state.phase == "sweeping"
    for seat in bench.seats:
        bench.lift(seat)
    bench.wait(1500)
    found = totals(bench.state)
    assert found["pot"] == 300
    assert bench.state.where[there[0]] == "pot"
    assert sum(found.values()) == everything


def test_chips_given_back_go_to_their_players_stack() -> None:
    bench = Bench()
    bench.deal()
    back = bench.put("3", 500, 25)
    bench.wait(500)
    bench.lift("3", back)
    bench.wait(1500)
    assert bench.state.where[back[0]] == "stack:3"


def test_a_chip_that_vanishes_in_play_is_unaccounted_for_and_said() -> None:
    bench = Bench()
    bench.deal()
    gone = bench.put("3", 100)
    bench.wait(3000)
    bench.lift("3", gone)
    bench.wait(1500)
    assert bench.state.where[gone[0]] == "unaccounted"
    assert ("line", "chips_left") in alerts(bench)


def test_a_stack_that_changes_outside_a_hand_is_said_once_when_it_is_quiet() -> None:
    bench = with_stack(Bench())
    chips = bench.free[-2:]
    for _ in range(3):
        see(bench, STACK, *chips)
    assert alerts(bench) == []
    wake = next_wake_ns(bench.state)
    assert wake is not None
    bench.feed(Ticked(at_ns=wake))
    assert alerts(bench) == [("moved", "stack_changed")]
    (said,) = bench.of(AlertRaised)
    assert said.reason.params["amount"] == sum(bench.values[u] for u in chips)
    bench.feed(Ticked(at_ns=wake + 10_000 * MS))
    assert len(bench.of(AlertRaised)) == 1


def test_chips_that_come_back_to_a_stack_at_once_are_no_change() -> None:
    bench = with_stack(Bench())
    chips = bench.free[-2:]
    for _ in range(3):
        see(bench, STACK, *chips)
    for _ in range(15):
        see_nothing(bench, STACK)
    bench.feed(Ticked(at_ns=bench.ns + 5_000 * MS))
    assert alerts(bench) == []


def test_a_barred_chip_is_no_money_and_is_named() -> None:
    bench = Bench()
    stolen = bench.free[0]
    chips = {u: v for u, v in bench.values.items() if u != stolen}
    bench.restart(replace(bench.config, chips=chips, barred={stolen: "stolen"}))
    bench.deal()
    bench.lines["3"].append(stolen)
    bench.wait(600)
    assert alerts(bench) == [("barred", "chip_barred")]
    assert bench.of(AlertRaised)[0].reason.params == {"seat": "3", "uid": stolen, "status": "stolen"}
    assert bench.state.attempts == {}
    bench.lift("3")
    bench.wait(1500)
    assert open_alerts(bench) == []


def test_one_number_at_two_far_places_is_a_copy() -> None:
    bench = with_stack(Bench())
    bench.deal()
    uid = bench.lines["1"][0]
    for _ in range(15):
        bench.sweep()
        see(bench, TRAY, uid)
    assert ("twice", "uid_twice") in alerts(bench)


def test_a_chip_that_only_moved_is_no_copy() -> None:
    bench = with_stack(Bench())
    bench.deal()
    uid = bench.lines["1"][0]
    bench.lift("1", [uid])
    for _ in range(15):
        bench.sweep()
        see(bench, TRAY, uid)
    assert "twice" not in [subject for subject, _ in alerts(bench)]
    assert bench.state.where[uid] == "tray"


def test_a_chip_between_two_seats_is_no_copy() -> None:
    bench = Bench((5000,) * 6)
    bench.deal()
    uid = bench.lines["1"][0]
    bench.lines["2"].append(uid)
    bench.wait(3000)
    assert "twice" not in [subject for subject, _ in alerts(bench)]


def test_a_chip_that_the_camera_sees_and_no_reader_hears_is_said() -> None:
    bench = Bench(camera=True)
    bench.deal()
    bench.trip("3")
    bench.landed("3")
    bench.wait(2500)
    assert alerts(bench) == [("untagged", "chip_untagged")]


def test_a_chip_that_is_read_a_little_later_is_explained() -> None:
    bench = Bench(camera=True)
    bench.deal()
    bench.trip("3")
    bench.landed("3")
    bench.wait(300)
    bench.put("3", 500)
    bench.wait(4000)
    assert alerts(bench) == []


def test_no_reader_no_verdict_on_a_landing() -> None:
    bench = Bench(camera=True)
    bench.deal()
    bench.trip("3")
    bench.landed("3")
    bench.wait(3000, skip=("3",))
    assert "untagged" not in [subject for subject, _ in alerts(bench)]
