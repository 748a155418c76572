"""What happens to devices over a day: names, adapters, two openers, a task that dies, time plans, replugs."""

from __future__ import annotations

import asyncio
import os
import time
from pathlib import Path
from typing import Any

import pytest

from firmware_bridge.ports.names import latency_ms, port_notes, stable_names
from firmware_bridge.session.contract import SerialPort, TcpPort
from firmware_bridge.supervisor import BACK_OFF_CAP_S, BACK_OFF_S, Bridge, ConfigProblem, DeviceConfig
from firmware_bridge.wire import DeviceLost, DeviceUp, Present, Press
from tests.bridge.peers import FeigReader
from tests.bridge.rig import Plug, Room, beating, drive, panel_for, reader_config, running

A, B = "E004015000000001", "E004015000000002"


def machine(root: Path, *, latency: str | None = "16", by_id: bool = True) -> Path:
    """A root with one adapter, ttyUSB0, and what udev and the kernel say of it."""
    (root / "dev/serial/by-id").mkdir(parents=True)
    (root / "dev/serial/by-path").mkdir()
    (root / "dev/ttyUSB0").touch()
    if by_id:
        (root / "dev/serial/by-id/usb-FTDI_FT232_A1-if00-port0").symlink_to("../../ttyUSB0")
    (root / "dev/serial/by-path/pci-0000:00:14.0-usb-0:1:1.0-port0").symlink_to("../../ttyUSB0")
    if latency is not None:
        tty = root / "sys/class/tty/ttyUSB0/device"
        tty.mkdir(parents=True)
        (tty / "latency_timer").write_text(latency + "\n")
    return root


def test_a_numbered_port_is_noted_with_its_lasting_name(tmp_path: Path) -> None:
    root = machine(tmp_path, latency="1")
    (note,) = port_notes("reader-a", SerialPort("/dev/ttyUSB0", 38400), root)
    assert note == (
        "'reader-a': /dev/ttyUSB0 is a name that another device may get after a replug; "
        "use /dev/serial/by-id/usb-FTDI_FT232_A1-if00-port0."
    )
    assert port_notes("r", SerialPort("/dev/serial/by-id/usb-FTDI_FT232_A1-if00-port0", 38400), root) == ()
    assert port_notes("r", TcpPort("host", 1), root) == ()


def test_an_adapter_without_a_serial_number_has_its_path(tmp_path: Path) -> None:
    root = machine(tmp_path, by_id=False)
    assert stable_names("/dev/ttyUSB0", root) == ("/dev/serial/by-path/pci-0000:00:14.0-usb-0:1:1.0-port0",)
    notes = port_notes("r", SerialPort("/dev/ttyUSB0", 38400), root)
    assert "use /dev/serial/by-path/pci-0000:00:14.0-usb-0:1:1.0-port0" in notes[0]
    assert "is udev running?" in port_notes("r", SerialPort("/dev/ttyUSB7", 38400), root)[0]


@pytest.mark.parametrize(("timer", "noted"), [("16", True), ("2", False), ("1", False), ("", False), (None, False)])
def test_an_adapter_that_dawdles_is_noted_with_its_cure(tmp_path: Path, timer: str | None, noted: bool) -> None:
    root = machine(tmp_path, latency=timer)
    notes = port_notes("r", SerialPort("/dev/serial/by-id/usb-FTDI_FT232_A1-if00-port0", 38400), root)
    assert len(notes) == noted
    if noted:
        assert "holds bytes back for 16 ms" in notes[0]
        assert "/sys/bus/usb-serial/devices/ttyUSB0/latency_timer" in notes[0]
        assert 'DRIVER=="ftdi_sio"' in notes[0]
    assert latency_ms("/dev/ttyUSB9", root) is None


def test_notes_are_in_the_health(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def body() -> None:
        plug = Plug(tmp_path / "reader", FeigReader({1: [A]}))
        plug.plug()
        monkeypatch.setattr("firmware_bridge.supervisor.port_notes", lambda device, port: (f"{device}: moves",))
        async with running(Room(reader_config(plug.link))) as room:
            await room.until(lambda: room.of(DeviceUp))
            assert room.health("reader-a").notes == ("reader-a: moves",)
        plug.unplug()

    drive(body)


def test_a_refused_key_is_in_the_health(tmp_path: Path) -> None:
    async def body() -> None:
        panel, plug, config = panel_for(tmp_path / "panel")
        plug.plug()
        async with beating(plug), running(Room(config)) as room:
            await room.until(lambda: room.of(DeviceUp))
            plug.say(panel.press(99))
            await room.until(plug.resending(lambda: panel.acks))
            assert panel.queue == {}
            (note,) = room.health("panel").notes
            assert "key code 99" in note
        plug.unplug()

    drive(body)


def test_a_task_that_dies_is_named_and_started_again(tmp_path: Path) -> None:
    async def body() -> None:
        plug = Plug(tmp_path / "reader", FeigReader({1: [A]}))
        plug.plug()
        async with running(Room(reader_config(plug.link))) as room:
            await room.until(lambda: room.of(Present))
            next(t for t in asyncio.all_tasks() if t.get_name() == "device reader-a").cancel()
            (lost,) = await room.until(lambda: room.of(DeviceLost))
            assert "its task ended" in lost.reason
            assert "report this line" in lost.advice
            await room.until(lambda: len(room.of(DeviceUp)) == 2)
        plug.unplug()

    drive(body)


def test_a_second_daemon_is_told_that_the_port_is_in_use(tmp_path: Path) -> None:
    async def body() -> None:
        plug = Plug(tmp_path / "reader", FeigReader({1: [A]}))
        plug.plug()
        first, second = Room(reader_config(plug.link)), Room(reader_config(plug.link))
        async with running(first):
            await first.until(lambda: first.of(Present))
            async with running(second):
                (lost,) = await second.until(lambda: second.of(DeviceLost))
                assert lost.reason == "in use"
                assert "a second tabled" in lost.advice
                seen = len(first.seen)
                await asyncio.sleep(0.5)
                assert len(second.of(DeviceLost)) == 1
                assert first.of(DeviceLost) == [], "the first one is not disturbed"
                assert len(first.seen) >= seen
        plug.unplug()

    drive(body)


def test_a_port_that_comes_and_goes_backs_off_up_to_the_cap(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def body() -> None:
        asked: list[float] = []
        sleep = asyncio.sleep

        async def shorter(delay: float, *rest: Any) -> None:
            if (task := asyncio.current_task()) is not None and task.get_name() == "device reader-a":
                asked.append(delay)
                delay /= 50
            await sleep(delay, *rest)

        class Deaf:
            def feed(self, data: bytes) -> bytes:
                return b""

        plug = Plug(tmp_path / "reader", Deaf())  # type: ignore[arg-type]  # a device that says nothing
        plug.plug()
        monkeypatch.setattr(asyncio, "sleep", shorter)
        config = reader_config(plug.link, reply_timeout_ms=20, lost_after_ms=50)
        async with running(Room(config)) as room:
            await room.until(lambda: len(asked) >= 9)
        nominal = [min(BACK_OFF_S * 2**n, BACK_OFF_CAP_S) for n in range(9)]
        for delay, most in zip(asked, nominal, strict=False):
            assert most / 2 <= delay <= most
        assert len(room.of(DeviceLost)) == 1, "told once while it lasts"
        plug.unplug()

    drive(body)


def test_presses_across_six_replugs_under_other_names_count_once(tmp_path: Path) -> None:
    async def body() -> None:
        panel, plug, config = panel_for(tmp_path / "panel")
        plug.plug()
        held: list[tuple[int, int]] = []
        async with beating(plug), running(Room(config)) as room:
            room.sink = room.commits
            for n in range(6):
                await room.until(lambda: room.health("panel").figures.clock_ns is not None)
                plug.say(panel.press(1 + n % 5))
                if n % 2:
                    await asyncio.sleep(0.01)
                plug.unplug()
                held.append(os.openpty())  # takes the number: the next name is another
                plug.plug()
                await room.until(lambda n=n: len(room.of(DeviceUp)) >= n + 2)
            await room.until(plug.resending(lambda: not panel.queue))
            names = [(p.boot, p.seq) for p in room.of(Press)]
            assert sorted(names) == [(0xB007, n) for n in range(1, 7)]
        plug.unplug()
        for pair in held:
            for fd in pair:
                os.close(fd)

    drive(body)


def test_readers_with_neighbours_share_a_plan_and_say_their_bounds(tmp_path: Path) -> None:
    async def body() -> None:
        one, two = FeigReader({1: [A]}), FeigReader({1: [B]})
        plugs = [Plug(tmp_path / "one", one), Plug(tmp_path / "two", two)]
        for plug in plugs:
            plug.plug()
        options = {"antennas": [1, 2, 3, 4, 5], "min_sweep_ms": 0}
        configs = [DeviceConfig(f"r{n}", "feig", str(p.link), options=options) for n, p in enumerate(plugs)]
        room = Room(*configs, neighbours=[(("r0", 2), ("r1", 1))])
        alone = Bridge(configs, lambda _: None, time.monotonic_ns)
        assert (room.bridge.worst_arrival_ns("r0", 1) or 0) > (alone.worst_arrival_ns("r0", 1) or 0)
        assert room.bridge.worst_arrival_ns("r0", 6) is None
        assert room.bridge.worst_removal_ns("nobody", 1) is None
        async with running(room):
            await room.until(lambda: room.of(Present, "r0") and room.of(Present, "r1"))
            plugs[0].unplug()
            await room.until(lambda: room.of(DeviceLost, "r0"))
            seen = room.health("r1").counters.frames
            await room.until(lambda: room.health("r1").counters.frames > seen + 40)
            plugs[0].plug()
            await room.until(lambda: len(room.of(DeviceUp, "r0")) == 2)
            seen = room.health("r0").counters.frames
            await room.until(lambda: room.health("r0").counters.frames > seen + 40)
            plain = room.bridge.worst_arrival_ns("r0", 1) or 0
            room.bridge.favour([("r0", 1)])
            assert (room.bridge.worst_arrival_ns("r0", 1) or 0) < plain
        for plug in plugs:
            plug.unplug()

    drive(body)


@pytest.mark.parametrize(
    "pair",
    [(("r0", 1), ("zz", 1)), (("r0", 9), ("r1", 1)), (("r0", 1), ("p", 1))],
)
def test_neighbours_that_are_no_antennas_are_refused(pair: Any) -> None:
    configs = [
        *(DeviceConfig(f"r{n}", "feig", f"/dev/x{n}", options={"antennas": [1]}) for n in range(2)),
        DeviceConfig("p", "panel", "/dev/p"),
    ]
    with pytest.raises(ConfigProblem, match="neighbours: there is no antenna"):
        Bridge(configs, lambda _: None, time.monotonic_ns, neighbours=[pair])


def test_a_reader_that_goes_round_by_itself_has_no_neighbours() -> None:
    configs = [
        DeviceConfig(f"r{n}", "feig", f"/dev/x{n}", options={"antennas": [1], "mode": "buffered"}) for n in range(2)
    ]
    with pytest.raises(ConfigProblem, match="goes round by itself"):
        Bridge(configs, lambda _: None, time.monotonic_ns, neighbours=[(("r0", 1), ("r1", 1))])
