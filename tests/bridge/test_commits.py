"""A device hears that it may forget only after the sink's commit: panel, reader's table, reader's notifications.

Each with the real bridge on a pseudo-terminal; the sink dies, or refuses, between taking an event and committing it.
"""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from firmware_bridge.supervisor import DeviceConfig
from firmware_bridge.wire import AnyObservation, DeviceUp, Present, Press
from hw_sim.devices.feig import FeigReader
from hw_sim.devices.panel import Panel
from hw_sim.pty_port import PtyPort, now_ns
from tests.bridge.rig import Room, drive, running

A, B = "E004015000000001", "E004015000000002"
READERS = [("buffered", "buffered"), ("notify", "notify-ack")]


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A notification is repeated after 0.7 s instead of the manual's 5."""
    monkeypatch.setattr("hw_sim.devices.feig_buffer.ACKNOWLEDGE_NS", 700_000_000)


class Held:
    """One simulated device that keeps its events until it hears otherwise."""

    def __init__(self, kind: str, folder: Path) -> None:
        self.field: dict[int, list[str]] = {1: [], 2: []}
        self.device: Any
        if kind == "panel":
            self.device = Panel(seed=3, start_ns=now_ns())
            options: dict[str, Any] = {}
        else:
            # Never recorded twice: whatever comes twice was delivered twice.
            self.device = FeigReader(self.field.__getitem__, antennas=2, mode=dict(READERS)[kind], valid_ms=1e9, seed=3)
            options = {"antennas": [1, 2], "mode": kind}
        self.kind = kind
        self.port = PtyPort(self.device, link=folder / kind)
        self.config = DeviceConfig(kind, "panel" if kind == "panel" else "feig", str(folder / kind), options=options)

    def happen(self) -> None:
        """Two events."""
        if self.kind == "panel":
            for key in ("call", "fold"):
                assert self.device.press(now_ns(), key)
            self.port.kick()
        else:
            self.field[1] = [A, B]

    def holds(self) -> int:
        return self.device.pending if self.kind == "panel" else len(self.device._buffered._table)


def events(seen: list[AnyObservation]) -> list[object]:
    """What happened, once for each time it was told."""
    told: list[object] = [p.key for p in seen if isinstance(p, Press)]
    return told + [(p.antenna, t.uid) for p in seen if isinstance(p, Present) for t in p.tags]


EXPECTED: dict[str, list[object]] = {
    "panel": ["call", "fold"],
    "buffered": [(1, A), (1, B)],
    "notify": [(1, A), (1, B)],
}


@pytest.mark.parametrize("kind", list(EXPECTED))
def test_a_sink_that_dies_before_its_commit_is_told_again(kind: str, tmp_path: Path) -> None:
    async def body() -> None:
        held = Held(kind, tmp_path)
        held.port.plug()
        expected = EXPECTED[kind]
        async with running(dead := Room(held.config)):
            await dead.until(lambda: dead.of(DeviceUp))
            held.happen()
            await dead.until(lambda: sorted(events(dead.seen), key=str) == expected)
            await asyncio.sleep(1.0)  # it resends, and is asked for signs of life
            assert held.holds() == 2, "the device keeps what is in no journal"
            assert sorted(events(dead.seen), key=str) == expected, "and one life hears it once"
        heir = Room(held.config)
        heir.sink = heir.commits
        async with running(heir):
            await heir.until(lambda: held.holds() == 0)
            assert sorted(events(heir.seen), key=str) == expected
        third = Room(held.config)
        async with running(third):
            await third.until(lambda: third.of(DeviceUp))
            await asyncio.sleep(0.5)
            assert events(third.seen) == [], "what was committed is gone from the device"
        held.port.unplug()

    drive(body)


@pytest.mark.parametrize("kind", list(EXPECTED))
def test_a_cable_that_is_out_at_the_commit_makes_nothing_count_twice(kind: str, tmp_path: Path) -> None:
    async def body() -> None:
        held = Held(kind, tmp_path)
        held.port.plug()
        expected = EXPECTED[kind]
        async with running(room := Room(held.config)):
            await room.until(lambda: room.of(DeviceUp))
            held.happen()
            await room.until(lambda: sorted(events(room.seen), key=str) == expected)
            held.port.unplug()
            for observation in room.seen:
                room.bridge.acknowledge(observation)
            await asyncio.sleep(0.3)
            assert held.holds() == 2
            held.port.plug()
            await room.until(lambda: held.holds() == 0)
            assert sorted(events(room.seen), key=str) == expected
        held.port.unplug()

    drive(body)


@pytest.mark.parametrize("kind", list(EXPECTED))
def test_what_the_sink_refuses_or_gives_back_is_told_again(kind: str, tmp_path: Path) -> None:
    async def body() -> None:
        held = Held(kind, tmp_path)
        held.port.plug()
        expected = EXPECTED[kind]
        room = Room(held.config)
        refusals = [2]
        given_back: list[AnyObservation] = []

        def sink(observation: AnyObservation) -> None:
            if isinstance(observation, Press | Present):
                if refusals[0]:
                    refusals[0] -= 1
                    raise OSError(28, "No space left on device")
                if not given_back:
                    given_back.append(observation)
                    asyncio.get_running_loop().call_later(0.01, room.bridge.withdraw, observation)
                    return
            room.commits(observation)

        room.sink = sink
        async with running(room):
            await room.until(lambda: room.of(DeviceUp))
            held.happen()
            await room.until(lambda: len(events(room.seen)) >= 2 and held.holds() == 0)
            assert sorted(events(room.seen), key=str) == expected
            assert room.health(kind).undelivered >= 2
        held.port.unplug()

    drive(body)
