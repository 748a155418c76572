"""Favoured antennas, looks that are let through, and what the readers state: told when it changes, and only then."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from firmware_bridge.session.contract import Counters, Figures
from firmware_bridge.session.feig import FeigSession
from firmware_bridge.session.plan import FeigOptions
from firmware_bridge.supervisor import DeviceHealth
from firmware_bridge.wire import BootId, DeviceId, DeviceLost, DeviceUp, TimeSpan
from tabled.core.entries import Bound, Stated, Ticked
from tabled.core.table import next_wake_ns
from tabled.fusion.settings import MS
from tabled.shell.readers import Readers, Spot
from tests.core.driver import READER, Bench


class Plan:
    """A bridge with one reader of three antennas, the bounds of a real FEIG session, and a memory of its orders."""

    def __init__(self) -> None:
        self.session = FeigSession(DeviceId("reader"), FeigOptions(antennas=(1, 2, 3)))
        self.favoured: list[tuple[Spot, ...]] = []
        self.refreshes = 0
        self.up = True
        self.states = True
        self.over_bound = 0

    def favour(self, places: Iterable[Spot]) -> None:
        wanted = tuple(places)
        self.favoured.append(wanted)
        self.session.favour(wanted)

    def refresh(self, wanted: Mapping[Spot, int] | None = None) -> None:
        self.refreshes += 1

    def health(self) -> tuple[DeviceHealth, ...]:
        state = "up" if self.up else "lost"
        return (DeviceHealth("reader", state, 0, Counters(over_bound=self.over_bound), Figures()),)

    def worst_arrival_ns(self, device: str, antenna: int) -> int | None:
        return self.session.worst_arrival_ns(antenna) if self.states else None

    def worst_removal_ns(self, device: str, antenna: int) -> int | None:
        return self.session.worst_removal_ns(antenna) if self.states else None


def made() -> tuple[Plan, Readers, Bench]:
    plan, bench = Plan(), Bench()
    return plan, Readers(plan, bench.config.layout), bench


def news(readers: Readers) -> Stated | None:
    return readers.news(lambda: 7)


def test_the_antennas_of_the_seat_to_act_are_favoured_once() -> None:
    plan, readers, bench = made()
    readers.follow(bench.state)
    assert plan.favoured == []
    bench.deal()
    for _ in range(3):
        readers.follow(bench.state)
    assert plan.favoured == [(("reader", 3),)]
    bench.press("fold")
    readers.follow(bench.state)
    assert plan.favoured[-1] == (("reader", 1),)
    bench.press("fold")
    readers.follow(bench.state)
    assert plan.favoured[-1] == ()
    assert len(plan.favoured) == 3


def test_what_a_ruling_waits_for_is_let_through_once() -> None:
    plan, readers, bench = made()
    bench.deal()
    bench.put("3", 100)
    bench.wait(300)
    readers.follow(bench.state)
    assert plan.refreshes == 0
    wake = next_wake_ns(bench.state)
    assert wake is not None
    bench.now_ms = wake // MS
    bench.feed(Ticked(at_ns=wake))
    for _ in range(3):
        readers.follow(bench.state)
    assert plan.refreshes == 1


def test_what_the_readers_state_is_told_when_it_changes() -> None:
    plan, readers, bench = made()
    first = news(readers)
    assert first is not None
    assert first.at_ns == 7
    assert sorted(first.bounds) == ["reader#1", "reader#2", "reader#3"]
    plain = first.bounds["reader#3"]
    assert plain == Bound(plan.session.worst_arrival_ns(3) or 0, plan.session.worst_removal_ns(3) or 0)
    readers.look_again()
    assert news(readers) is None
    bench.deal()
    readers.follow(bench.state)
    favoured = news(readers)
    assert favoured is not None
    assert favoured.bounds["reader#3"].arrival_ns < plain.arrival_ns
    assert news(readers) is None


def test_a_lost_reader_states_nothing_and_one_that_cannot_is_named() -> None:
    plan, readers, _ = made()
    news(readers)
    span = TimeSpan(0, 0)
    plan.up = False
    assert news(readers) is None  # nothing has told of it yet
    readers.notice(DeviceLost(READER, span, "gone", "Plug it in."))
    lost = news(readers)
    assert lost is not None
    assert (lost.bounds, lost.unstated) == ({}, ())
    plan.up, plan.states = True, False
    readers.notice(DeviceUp(READER, span, "x", "1", BootId(0)))
    silent = news(readers)
    assert silent is not None
    assert (silent.bounds, silent.unstated) == ({}, ("reader",))


def test_each_sweep_over_the_bound_is_news() -> None:
    plan, readers, _ = made()
    news(readers)
    plan.over_bound = 2
    readers.look_again()
    told = news(readers)
    assert told is not None
    assert told.overran == {"reader": 2}
    readers.look_again()
    assert news(readers) is None
