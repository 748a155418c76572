"""A reader beside another whose field may be on: tags miss in silence there, so nothing absent is proved."""

from __future__ import annotations

from typing import Any

import pytest

from firmware_bridge.session.feig import FeigSession
from firmware_bridge.session.metratec import MetratecOptions, MetratecSession
from firmware_bridge.session.plan import FeigOptions
from firmware_bridge.session.schedule import TimePlan, Turns
from firmware_bridge.wire import CleanEmpty, DeviceId, DeviceLost, Present
from tests.bridge.peers import FeigReader
from tests.bridge.peers_readers import MetratecReader
from tests.bridge.virtual import Bench

A = "E004015000000001"
LOOKS = (Present, CleanEmpty)


def beside(*, far: bool = False) -> tuple[Bench, list[FeigReader]]:
    """Two readers of two antennas, of which antenna 2 of the first lies next to antenna 1 of the second."""
    readers = [FeigReader({1: [A]}), FeigReader({})]
    options = FeigOptions(antennas=(1, 2), min_sweep_ms=0)
    sessions = [FeigSession(DeviceId(f"reader-{n}"), options) for n in range(2)]
    pair = (("reader-0", 2), ("reader-1", 1))
    turns = Turns(TimePlan([s.member_in(shared=True) for s in sessions], [pair]))
    for session in sessions:
        session.share(turns)
    return Bench(*zip(sessions, readers, strict=True)), readers


def of(found: list[Any], device: str, antenna: int) -> list[Any]:
    return [o for o in found if (o.device, o.antenna) == (device, antenna)]


def test_a_lost_neighbour_leaves_nothing_proved_beside_it() -> None:
    bench, readers = beside()
    bench.until(LOOKS, 12)
    assert of(bench.until(LOOKS, 12), "reader-0", 2), "both up: an empty antenna is told as empty"
    readers[1].script = lambda c, d, r: b""
    bench.until(DeviceLost)
    assert bench.session is bench.pairs[0][0]
    bench.session.refresh()
    found = bench.until(LOOKS, 6)
    near, away = of(found, "reader-0", 2), of(found, "reader-0", 1)
    assert near
    assert all(isinstance(o, Present) and o.tags == () and not o.complete for o in near)
    assert away
    assert all(o.complete for o in away), "an antenna with nothing beside it is as good as ever"
    assert any("while reader-1 is not up" in note for note in bench.session.figures().notes)

    readers[1].script = lambda c, d, r: r
    bench.pairs[1][0].start(bench.now)
    for _ in range(60):
        bench.step()
    bench.session.refresh()
    again = of(bench.until(LOOKS, 8), "reader-0", 2)
    assert again
    assert all(isinstance(o, CleanEmpty) for o in again)


def test_nothing_is_proved_before_the_neighbour_is_set_up() -> None:
    bench, readers = beside()
    readers[1].script = lambda c, d, r: b""  # it never comes up
    found = [o for o in bench.until(LOOKS, 6) if o.device == "reader-0"]
    assert of(found, "reader-0", 2)
    assert not [o for o in of(found, "reader-0", 2) if isinstance(o, CleanEmpty)]


@pytest.mark.parametrize("shared", [False, True])
def test_a_metratec_reader_is_set_up_in_the_dark_beside_another(shared: bool) -> None:
    options = MetratecOptions(antennas=(1, 2), first_port=1, min_sweep_ms=0)
    sessions = [MetratecSession(DeviceId(f"reader-{n}"), options) for n in range(2)]
    readers = [MetratecReader({1: [A]}, ports=8), MetratecReader({}, ports=8)]
    if shared:
        pair = (("reader-0", 2), ("reader-1", 1))
        turns = Turns(TimePlan([s.member_in(shared=True) for s in sessions], [pair]))
        for session in sessions:
            session.share(turns)
    bench = Bench(*zip(sessions, readers, strict=True))
    bench.until(LOOKS, 4)
    fields = [line for line in readers[1].log if line.startswith("SRI")]
    assert fields[0] == ("SRI OFF" if shared else "SRI SS 100")


def test_a_metratec_reader_is_never_on_at_the_port_of_the_look_before() -> None:
    """Its neighbour may be on there: the field goes on only where the look is."""
    options = MetratecOptions(antennas=(1, 2, 3), first_port=1, min_sweep_ms=0)
    sessions = [MetratecSession(DeviceId(f"reader-{n}"), options) for n in range(2)]
    readers = [MetratecReader({1: [A]}, ports=8), MetratecReader({}, ports=8)]
    turns = Turns(TimePlan([s.member_in(shared=True) for s in sessions], [(("reader-0", 2), ("reader-1", 1))]))
    for session in sessions:
        session.share(turns)
    on: list[tuple[int, int]] = []

    def script(command: str, reply: bytes) -> bytes:
        if readers[0].rf and turns.energised():
            look = next((antenna for device, antenna in turns.energised() if device == "reader-0"), 0)
            on.append((readers[0].port, look))
        return reply

    readers[0].script = script
    Bench(*zip(sessions, readers, strict=True)).until(LOOKS, 40)
    assert len({port for port, _ in on}) == 3
    assert all(port == look for port, look in on)
