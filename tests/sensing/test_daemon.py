"""The daemon with a camera: journalled like any device, in the health message, recording on order."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from firmware_bridge.wire import DeviceId, DeviceLost, DeviceUp, RawBytes, TimeSpan
from tabled.core.entries import Seen, Started, decode
from tabled.journal import Journal
from tabled.model.camera import CameraTrust, HandMoved
from tabled.outlets.commands import Record, Refusal, parse_command
from tabled.sensing.process_wire import Beat
from tabled.sensing.recording import Recording
from tabled.shell.clock import monotonic_ns
from tabled.shell.daemon import Daemon
from tabled.shell.intake import MAX_WAITING
from tests.sensing.test_camera import film
from tests.shell.test_daemon import Outlet
from tests.shell.test_daemon import made as table


class Desk(Outlet):
    """Hears acknowledgements too."""

    def __init__(self) -> None:
        super().__init__()
        self.acks: list[tuple[Any, ...]] = []

    def ack(self, *what: Any) -> None:
        self.acks.append(what)


def made(folder: Path, **camera: Any) -> tuple[Daemon, Desk]:
    registry = "uid,denomination,status\nE004015000000001,25,\nE004015000000002,25,stolen\n"
    desk, sections = Desk(), {"camera": camera} if camera else {}
    daemon, _, _ = table(folder, registry=registry, outlet=desk, **sections)
    daemon._sight.open(daemon._journal.epoch, "1")
    return daemon, desk


def play(daemon: Daemon, work: Callable[[], Awaitable[None]]) -> None:
    async def whole() -> None:
        await daemon._commit([daemon._started()])
        pump = asyncio.create_task(daemon._pump())
        daemon._sight.start()
        try:
            await work()
        finally:
            await daemon._sight.stop()
            daemon._stopping = True
            daemon._wake.set()
            await pump
            daemon._journal.close()

    asyncio.run(whole())


async def until(true: Callable[[], object]) -> None:
    while not true():
        await asyncio.sleep(0.01)


def journalled(daemon: Daemon) -> list[Any]:
    entries = (decode(e.body) for e in daemon._journal.read() if e.kind in ("obs", "started"))
    return [e.observation if isinstance(e, Seen) else e for e in entries]


def test_a_camera_that_comes_and_goes_is_journalled_and_stands_in_the_health_message(tmp_path: Path) -> None:
    daemon, desk = made(tmp_path, source=f"file:{film(tmp_path, 60)}", size=[96, 64], record=str(tmp_path / "kept"))

    async def work() -> None:
        await until(lambda: any(isinstance(o, DeviceUp) for o in journalled(daemon)))
        assert daemon._sight.camera is not None
        await until(lambda: "frames" in str(daemon._health()))
        desk.set_health(daemon._health())
        about = desk.health.get_nowait()
        device = next(d for d in about["devices"] if d["id"] == "camera")
        assert device["camera"]["watching"] is False
        assert "camera_unmeasured" in [n["code"] for n in about["notes"]] or device["state"] == "lost"
        await until(lambda: "device:camera" in daemon.state.faults)
        lost = next(o for o in journalled(daemon) if isinstance(o, DeviceLost))
        assert "is over after 60 frames" in lost.reason

    play(daemon, work)
    with_journal = Journal.open(tmp_path / "j")
    started = decode(next(with_journal.read()).body)
    with_journal.close()
    assert isinstance(started, Started)
    assert (started.config.camera, started.config.calibration) == ("camera", "")
    assert started.config.barred == {"E004015000000002": "stolen"}


def test_an_order_records_pictures_bytes_and_what_was_journalled(tmp_path: Path) -> None:
    daemon, desk = made(tmp_path, source=f"file:{film(tmp_path, 4000)}", size=[96, 64], record=str(tmp_path / "kept"))

    async def work() -> None:
        disputes = daemon._sight.disputes
        assert disputes is not None
        disputes._tail_s = 0.0
        await until(lambda: disputes._ring.since(0))  # the camera's coming is in the journal
        daemon._sight.overhear(RawBytes(DeviceId("reader"), b"\x07", monotonic_ns()), False)
        daemon._on_command(Record(request="r1", reason="strange"))
        assert desk.acks[0][:2] == ("r1", True)
        await until(lambda: disputes.saved)
        found = Recording.open(Path(disputes.last))
        assert found.facts.reason == "strange"
        assert found.facts.journal == daemon._journal.epoch
        topics = found.topics()
        assert topics["/camera"] >= 1
        assert topics["/bytes/reader"] == 1
        assert topics["/observations"] >= 1

    play(daemon, work)


def test_what_the_camera_sees_goes_through_the_journal_to_the_core(tmp_path: Path) -> None:
    daemon, _ = made(tmp_path, source=f"file:{tmp_path}/none", size=[96, 64])

    async def work() -> None:
        device, now_ns = DeviceId("camera"), monotonic_ns()
        span = TimeSpan(now_ns, now_ns)
        daemon._on_observation(CameraTrust(device, span, trusted=True))
        daemon._on_observation(HandMoved(device, span, "2", "enters", "player"))
        await until(lambda: daemon.state.sight.strokes.get("2"))
        assert daemon.state.sight.since_ns == now_ns
        assert any(isinstance(o, HandMoved) for o in journalled(daemon))

    async def alone() -> None:
        await daemon._commit([daemon._started()])
        pump = asyncio.create_task(daemon._pump())
        await work()
        daemon._stopping = True
        daemon._wake.set()
        await pump
        daemon._journal.close()

    asyncio.run(alone())


def test_without_a_camera_there_is_none_and_an_order_says_so(tmp_path: Path) -> None:
    daemon, desk = made(tmp_path)
    assert daemon._table.camera == ""
    daemon._on_command(Record(request="r1"))
    assert desk.acks[0][1] is False
    assert "[camera] record" in desk.acks[0][2]
    daemon._journal.close()


def test_the_order_is_a_command_like_others() -> None:
    assert parse_command("cmd/record", b'{"request":"r1","reason":"odd"}') == Record(request="r1", reason="odd")
    refused = parse_command("cmd/record", b'{"request":"r1","seconds":5}')
    assert isinstance(refused, Refusal)
    assert "reason" in refused.reason


def test_a_camera_leaves_room_for_presses_while_the_disk_refuses(tmp_path: Path) -> None:
    daemon, _ = made(tmp_path, source=f"file:{tmp_path}/none", size=[96, 64])
    hand = HandMoved(DeviceId("camera"), TimeSpan(1, 2), "1", "enters")
    for _ in range(MAX_WAITING // 2):
        daemon._sight._take(hand)
    with pytest.raises(OverflowError, match="for presses and orders"):
        daemon._sight._take(hand)
    assert len(daemon._intake) == MAX_WAITING // 2
    daemon._journal.close()


def test_a_camera_that_was_moved_before_the_start_is_in_the_health_message(tmp_path: Path) -> None:
    daemon, _ = made(tmp_path, source=f"file:{tmp_path}/none", size=[96, 64])
    assert daemon._sight.camera is not None
    assert b"calibration_knocked" not in daemon._health()
    daemon._sight.camera._beat(Beat(at_ns=monotonic_ns(), markers_seen=4, shift_upx=1_600_000))
    assert b"calibration_knocked" in daemon._health(), "with the first word, not a minute later"
    daemon._journal.close()


def test_a_table_without_a_camera_has_no_markers_to_look_for(tmp_path: Path) -> None:
    daemon, _ = made(tmp_path)
    assert daemon._sight.landmarks() is None
    daemon._journal.close()
