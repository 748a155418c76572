"""The daemon around a bridge that only remembers: commit, then acknowledge; a fault is told at once."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import msgspec
import pytest

from firmware_bridge.session.contract import Counters, Figures
from firmware_bridge.supervisor import DeviceHealth
from firmware_bridge.wire import AnyObservation, BootId, CleanEmpty, DeviceId, DeviceLost, Press, TimeSpan
from tabled.core.entries import Seen, Stated, Ticked, decode
from tabled.journal import Journal, JournalUnwritable
from tabled.outlets.topics import Origin
from tabled.shell import daemon as daemon_module
from tabled.shell.config import convert
from tabled.shell.daemon import Daemon
from tabled.shell.engine import Engine
from tabled.shell.intake import MAX_WAITING
from tabled.shell.readers import Readers, Spot
from tabled.shell.rendering import renderer

SPAN = TimeSpan(1, 2)
PRESS = Press(DeviceId("panel"), SPAN, BootId(1), 1, "fold")
EMPTY = CleanEmpty(DeviceId("reader"), SPAN, 1)
LOST = DeviceLost(DeviceId("reader"), SPAN, "no answer", "Check its cable.")


class Bridge:
    """Remembers what it was told."""

    def __init__(self) -> None:
        self.acknowledged: list[AnyObservation] = []
        self.withdrawn: list[AnyObservation] = []
        self.reader = "up"

    def acknowledge(self, observation: AnyObservation) -> None:
        self.acknowledged.append(observation)

    def withdraw(self, observation: AnyObservation) -> None:
        self.withdrawn.append(observation)

    def favour(self, places: Iterable[Spot]) -> None:
        pass

    def refresh(self, wanted: Mapping[Spot, int] | None = None) -> None:
        pass

    def health(self) -> tuple[DeviceHealth, ...]:
        lost = {"error": "no answer", "advice": "Check its cable."} if self.reader == "lost" else {}
        return (DeviceHealth("reader", self.reader, 0, Counters(), Figures(), **lost),)  # type: ignore[arg-type]  # a literal of two

    def worst_arrival_ns(self, device: str, antenna: int) -> int | None:
        return 100

    def worst_removal_ns(self, device: str, antenna: int) -> int | None:
        return 200


class Outlet:
    """Hands each health message to a queue."""

    connected, problem = True, ""

    def __init__(self) -> None:
        self.health: asyncio.Queue[dict[str, Any]] = asyncio.Queue()

    def set_health(self, payload: bytes) -> None:
        self.health.put_nowait(msgspec.json.decode(payload)["data"])

    def set_state(self, payload: bytes) -> None:
        pass

    def notify(self) -> None:
        pass

    def status(self) -> Outlet:
        return self


def made(
    folder: Path,
    *,
    registry: str = "uid,denomination\nE004015000000001,25\n",
    outlet: Outlet | None = None,
    **sections: Any,
) -> tuple[Daemon, Bridge, Outlet]:
    chips = folder / "chips.csv"
    chips.write_text(registry)
    antennas = {"1": "bet:1", "2": "bet:2"}
    config = convert(
        {
            "table": {"seats": 2},
            "chips": {"file": str(chips)},
            "journal": {"file": str(folder / "j")},
            "device": [{"id": "reader", "driver": "feig", "port": "/dev/none", "antennas": antennas}],
            **sections,
        },
        "test",
    )
    daemon, bridge, outlet = Daemon(config, lambda _: None), Bridge(), outlet or Outlet()
    daemon._journal = Journal.open(folder / "j")
    daemon._origin = Origin("site", "table-1", daemon._journal.epoch)
    daemon._engine = Engine(daemon._journal, renderer(daemon._origin))
    daemon._bridge = bridge  # type: ignore[assignment]  # a stand-in
    daemon._outlet = outlet  # type: ignore[assignment]  # a stand-in
    daemon._readers = Readers(bridge, daemon._table.layout)
    return daemon, bridge, outlet


def test_everything_that_a_device_said_is_acknowledged_after_the_commit_and_not_before(tmp_path: Path) -> None:
    async def play() -> None:
        daemon, bridge, _ = made(tmp_path)
        batch = [daemon._started(), Seen(at_ns=1, observation=EMPTY), Seen(at_ns=2, observation=PRESS)]
        append = daemon._journal.append
        refuse = True

        def reluctant(drafts: Any) -> range:
            assert bridge.acknowledged == []
            if refuse:
                raise JournalUnwritable("disk full", "free some space")
            return append(drafts)

        daemon._journal.append = reluctant  # type: ignore[method-assign]  # a disk that refuses
        with pytest.raises(JournalUnwritable):
            await daemon._commit(batch)
        assert bridge.acknowledged == []
        refuse = False
        await daemon._commit(batch)
        assert bridge.acknowledged == [EMPTY, PRESS]
        daemon._journal.close()

    asyncio.run(play())


def test_what_found_no_room_is_given_back_to_its_device(tmp_path: Path) -> None:
    async def play() -> None:
        daemon, bridge, _ = made(tmp_path)
        for _ in range(MAX_WAITING + 1):
            daemon._on_observation(EMPTY)
        await asyncio.sleep(0)
        assert len(bridge.withdrawn) == daemon._intake.dropped > 0
        daemon._journal.close()

    asyncio.run(play())


def test_a_fault_is_on_the_health_topic_at_once_not_with_the_next_beat(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(daemon_module, "HEALTH_PERIOD_S", 3600.0)
    monkeypatch.setattr(daemon_module, "HEALTH_LEAST_S", 0.0)

    async def play() -> None:
        daemon, bridge, outlet = made(tmp_path)
        await daemon._commit([daemon._started()])
        beat = asyncio.create_task(daemon._heartbeat())
        first = await outlet.health.get()
        assert first["faults"] == []
        assert first["devices"][0]["state"] == "up"
        bridge.reader = "lost"
        daemon._on_observation(LOST)
        before = await outlet.health.get()  # the journal does not have it yet
        assert [(f["code"], f["params"]["device"]) for f in before["faults"]] == [("device_lost", "reader")]
        await daemon._commit(daemon._intake.take())
        after = await outlet.health.get()
        assert [(f["code"], f["params"]["device"]) for f in after["faults"]] == [("device_lost", "reader")]
        beat.cancel()
        daemon._journal.close()

    asyncio.run(play())


def test_what_the_readers_state_is_journalled_and_again_when_one_is_lost(tmp_path: Path) -> None:
    async def play() -> None:
        daemon, bridge, _ = made(tmp_path)
        await daemon._commit([daemon._started()])
        pump = asyncio.create_task(daemon._pump())

        def stated() -> list[Stated]:
            entries = (decode(e.body) for e in daemon._journal.read() if e.kind == "bounds")
            return [e for e in entries if isinstance(e, Stated)]

        while not daemon.state.bounds:
            await asyncio.sleep(0)
        bridge.reader = "lost"
        daemon._on_observation(LOST)
        while daemon.state.bounds:
            await asyncio.sleep(0)
        assert [sorted(s.bounds) for s in stated()] == [["reader#1", "reader#2"], []]
        daemon._stopping = True
        daemon._put(Ticked(at_ns=0))
        await pump
        daemon._journal.close()

    asyncio.run(play())
