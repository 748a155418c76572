"""The bridge meets the simulated hardware, which was written from the documents by its own hand."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

import pytest

from firmware_bridge.supervisor import DeviceConfig
from firmware_bridge.wire import CleanEmpty, Corrupt, DeviceLost, DeviceUp, Present, Press, Restarted
from hw_sim.devices.faults import FaultPlan
from hw_sim.devices.feig import FeigReader, Timing
from hw_sim.devices.panel import Panel
from hw_sim.pty_port import PtyPort, now_ns
from tests.bridge.rig import PATIENT, Room, drive, no_hurry, running

__all__ = ["no_hurry"]  # a fixture
pytestmark = pytest.mark.usefixtures("no_hurry")

STACKS = {a: [f"E00401{a:04X}{n:06X}" for n in range(count)] for a, count in enumerate((0, 1, 5, 0, 2, 0, 0, 1, 3), 1)}
ANTENNAS = list(STACKS)


def reader_config(path: str, **options: object) -> DeviceConfig:
    return DeviceConfig("reader", "feig", path, options={"antennas": ANTENNAS, "min_sweep_ms": 0} | options)


def assert_true_to_the_table(room: Room) -> None:
    for present in room.of(Present):
        uids = [t.uid for t in present.tags]
        assert uids == STACKS[present.antenna] or (not present.complete and set(uids) < set(STACKS[present.antenna]))
    assert {e.antenna for e in room.of(CleanEmpty)} <= {a for a, stack in STACKS.items() if not stack}


def test_a_simulated_table_is_read_as_it_is() -> None:
    async def body() -> None:
        reader = FeigReader(STACKS.__getitem__)
        port = PtyPort(reader)
        port.plug()
        async with running(Room(reader_config(port.path, **PATIENT))) as room:
            await room.until(lambda: len(room.seen) > 30)
            assert_true_to_the_table(room)
            assert {o.antenna for o in room.of(Present)} | {o.antenna for o in room.of(CleanEmpty)} == set(ANTENNAS)
            await asyncio.sleep(0.3)
            health = room.health("reader")
            assert (health.counters.timeouts, health.counters.garbage, health.counters.corrupt) == (0, 0, 0)
            assert health.figures.sweep_ns
        port.close()

    drive(body)


def test_with_the_readers_own_timing_the_stated_bound_holds() -> None:
    async def body() -> None:
        port = PtyPort(FeigReader(STACKS.__getitem__, timing=Timing(real=True)))
        port.plug()
        async with running(Room(reader_config(port.path, chips_per_antenna=5))) as room:
            await room.until(lambda: room.health("reader").figures.sweep_max_ns)
            await asyncio.sleep(0.6)
            health = room.health("reader")
            # switching 11 times, and inventories of 0, 1, 5, 0, 2, 0, 0, 1 and 3 chips, at the least
            least_ns = 1_000_000 * (11 * 5 + 9.8 * 4 + 14 * 2 + 38 + 20 + 26)
            assert least_ns < (health.figures.sweep_max_ns or 0) < (health.figures.worst_sweep_ns or 0)
            assert health.counters.over_bound == 0
        port.close()

    drive(body)


def test_a_bad_line_makes_no_wrong_word_and_is_counted() -> None:
    async def body() -> None:
        faults = FaultPlan(drop=0.03, duplicate=0.03, corrupt=0.03, split=0.1, stall=0.002)
        port = PtyPort(FeigReader(STACKS.__getitem__), faults=faults, seed=3)
        port.plug()
        config = reader_config(port.path, inventory_timeout_ms=80, reply_timeout_ms=50, chips_per_antenna=5)
        async with running(Room(config)) as room:
            await room.until(lambda: room.health("reader").counters.frames > 500)
            assert_true_to_the_table(room)
            counters = room.health("reader").counters
            assert counters.timeouts > 5
            assert room.of(Present)
            assert all(c.reason for c in room.of(Corrupt))
        port.close()

    drive(body)


def test_panel_presses_cross_a_bad_line_a_reset_and_a_replug_once_each(tmp_path: Path) -> None:
    async def body() -> None:
        panel = Panel(seed=5, drift_ppm=150.0, start_ns=now_ns())
        faults = FaultPlan(drop=0.1, duplicate=0.1, corrupt=0.1, split=0.2)
        port = PtyPort(panel, faults=faults, seed=8, link=tmp_path / "panel")
        port.plug()
        pressed: list[tuple[int, int, int]] = []

        def press(key: str, amount: int) -> None:
            at = time.monotonic_ns()
            pressed.append((panel.boot_id, panel.press(now_ns(), key, amount=amount), at))
            port.kick()

        async with running(Room(DeviceConfig("panel", "panel", str(tmp_path / "panel")))) as room:
            room.sink = room.commits
            await room.until(lambda: room.health("panel").figures.clock_ns is not None)
            for n in range(8):
                press("raise_to", 100 * n)
                await asyncio.sleep(0.03)
            await room.until(lambda: panel.pending == 0)
            press("call", 0)
            panel.reset(now_ns())
            port.kick()
            press("fold", 0)
            await room.until(lambda: len(room.of(Press)) == len(pressed))
            press("floor", 0)
            port.replug()
            press("undo", 0)
            await room.until(lambda: len(room.of(DeviceUp)) >= 3)
            await room.until(lambda: panel.pending == 0)
            assert sorted((p.boot, p.seq) for p in room.of(Press)) == sorted((boot, seq) for boot, seq, _ in pressed)
            spans = {(p.boot, p.seq): p.span for p in room.of(Press)}
            for boot, seq, at in pressed:
                span = spans[(boot, seq)]
                assert span.earliest_ns - 20_000 <= at <= span.latest_ns + 200_000
            assert [r.boot for r in room.of(Restarted)] == [panel.boot_id]
            assert len(room.of(DeviceLost)) >= 1
        port.close()

    drive(body)
