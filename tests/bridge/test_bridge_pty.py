"""The whole bridge over real pseudo-terminals and sockets: plug, unplug, hang-up, storms, half frames."""

from __future__ import annotations

import asyncio
import fcntl
import os
import random
import time
import tty
from functools import partial
from pathlib import Path

import pytest

from firmware_bridge.drivers.registry import Driven
from firmware_bridge.session.feig import FeigSession
from firmware_bridge.session.plan import FeigOptions
from firmware_bridge.supervisor import Bridge, ConfigProblem, DeviceConfig, PortProblem
from firmware_bridge.wire import AnyObservation, CleanEmpty, Corrupt, DeviceId, DeviceLost, DeviceUp, Present, Press
from tests.bridge.peers import FeigReader
from tests.bridge.rig import PATIENT, Plug, Room, beating, drive, no_hurry, panel_for, reader_config, running

__all__ = ["no_hurry"]  # a fixture

A, B = "E004015000000001", "E004015000000002"
S = 1_000_000_000


def test_reader_from_bytes_to_observations(tmp_path: Path) -> None:
    async def body() -> None:
        reader = FeigReader({1: [A], 3: [B]})
        plug = Plug(tmp_path / "reader", reader)
        plug.plug()
        async with running(Room(reader_config(plug.link))) as room:
            await room.until(lambda: len(room.seen) > 6)
            assert isinstance(room.seen[0], DeviceUp)
            assert [type(r) for r in room.seen[1:4]] == [Present, CleanEmpty, Present]
            first, second = room.of(Present)[:2]
            assert ([t.uid for t in first.tags], [t.uid for t in second.tags]) == ([A], [B])
            assert first.span.before(second.span)
            reader.field[2] = [B]
            await room.until(lambda: [p for p in room.of(Present) if p.antenna == 2])
            health = room.health("reader-a")
            assert (health.state, health.error, health.opened) == ("up", "", 1)
            assert health.counters.garbage == 0
        count = len(room.seen)
        await asyncio.sleep(0.05)
        assert len(room.seen) == count
        plug.unplug()

    drive(body)


def test_nine_antennas_are_swept_one_at_a_time(tmp_path: Path) -> None:
    async def body() -> None:
        field = {a: [f"E00401500000{a:02X}{n:02X}" for n in range(5)] for a in range(1, 10)}
        reader = FeigReader(field)
        plug = Plug(tmp_path / "reader", reader)
        plug.plug()
        async with running(Room(reader_config(plug.link, antennas=list(range(1, 10))))) as room:
            await room.until(lambda: {p.antenna for p in room.of(Present)} == set(field))
            await room.until(lambda: room.health("reader-a").counters.frames > 1000)
            assert room.health("reader-a").figures.sweep_ns
            assert reader.both_on == 0
            assert room.health("reader-a").counters.corrupt == 0
        plug.unplug()

    drive(body)


def test_unplug_and_replug_under_another_name(tmp_path: Path) -> None:
    async def body() -> None:
        plug = Plug(tmp_path / "reader", FeigReader({1: [A]}))
        plug.plug()
        async with running(Room(reader_config(plug.link))) as room:
            await room.until(lambda: room.of(Present))
            gone = time.monotonic_ns()
            plug.unplug()
            (lost,) = await room.until(lambda: room.of(DeviceLost))
            assert time.monotonic_ns() - gone < S
            assert lost.advice == (f"'reader-a': {plug.link} is gone. Plug it in again; tabled reopens it by itself.")
            assert room.health("reader-a").state == "lost"
            await asyncio.sleep(0.5)
            assert len(room.of(DeviceLost)) == 1, "told once while it lasts"
            assert room.health("reader-a").error == "no such port"
            held, held_slave = os.openpty()  # takes the old number: the device comes back under another name
            plug.plug()
            await room.until(lambda: len(room.of(DeviceUp)) == 2)
            before = len(room.of(Present))
            await room.until(lambda: len(room.of(Present)) > before)
            assert room.health("reader-a").state == "up"
            os.close(held)
            os.close(held_slave)
        plug.unplug()

    drive(body)


def test_hang_up_leaks_no_descriptor(tmp_path: Path) -> None:
    async def body() -> None:
        plug = Plug(tmp_path / "reader", FeigReader({1: [A]}))
        plug.plug()
        async with running(Room(reader_config(plug.link))) as room:
            await room.until(lambda: room.of(Present))
            before = len(os.listdir("/proc/self/fd"))

            def counted(kind: type[AnyObservation], count: int) -> bool:
                return len(room.of(kind)) == count

            for n in range(6):
                plug.hang_up()
                await room.until(partial(counted, DeviceLost, n + 1))
                plug.plug()
                await room.until(partial(counted, DeviceUp, n + 2))
            assert len(os.listdir("/proc/self/fd")) == before
        plug.unplug()

    drive(body)


def test_missing_at_start_is_told_once_and_found_later(tmp_path: Path) -> None:
    async def body() -> None:
        plug = Plug(tmp_path / "reader", FeigReader({1: [A]}))
        room = Room(reader_config(plug.link))
        (problem,) = room.bridge.check()
        assert isinstance(problem, PortProblem)
        assert (problem.device, problem.port, problem.reason) == ("reader-a", str(plug.link), "no such port")
        assert "\n" not in str(problem)
        assert "Plug it in" in str(problem)
        async with running(room):
            await room.until(lambda: room.of(DeviceLost))
            await asyncio.sleep(0.4)
            assert len(room.of(DeviceLost)) == 1
            plug.plug()
            assert room.bridge.check() == ()
            await room.until(lambda: room.of(Present))
        plug.unplug()

    drive(body)


def test_a_file_is_no_serial_port(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("")
    (problem,) = Room(reader_config(path)).bridge.check()
    assert problem.reason == "not a serial port"


def test_two_openers(tmp_path: Path) -> None:
    async def body() -> None:
        plug = Plug(tmp_path / "reader", FeigReader({1: [A]}))
        plug.plug()
        other = os.open(plug.link, os.O_RDWR | os.O_NOCTTY)
        fcntl.flock(other, fcntl.LOCK_EX)
        async with running(Room(reader_config(plug.link))) as room:
            (lost,) = await room.until(lambda: room.of(DeviceLost))
            assert lost.reason == "in use"
            assert "held by another program" in lost.advice
            os.close(other)
            await room.until(lambda: room.of(Present))
        plug.unplug()

    drive(body)


def test_a_reader_that_goes_silent_is_lost_within_a_second_and_comes_back(tmp_path: Path) -> None:
    async def body() -> None:
        reader = FeigReader({1: [A]})
        plug = Plug(tmp_path / "reader", reader)
        plug.plug()
        async with running(Room(reader_config(plug.link))) as room:
            await room.until(lambda: room.of(Present))
            died = time.monotonic_ns()
            plug.mangle = lambda data: [b""]
            (lost,) = await room.until(lambda: room.of(DeviceLost))
            assert time.monotonic_ns() - died < 1.15 * S  # 1 s and this machine's own delays
            assert "stopped answering" in lost.advice
            plug.mangle = lambda data: [data]
            await room.until(lambda: len(room.of(DeviceUp)) == 2)
        plug.unplug()

    drive(body)


def test_half_frames_and_storms_cost_no_wrong_word(tmp_path: Path) -> None:
    """Split, noisy, flipped and swallowed replies: whatever is reported of an antenna is the truth of it."""

    async def body() -> None:
        field = {1: [A], 2: [], 3: [B]}
        plug = Plug(tmp_path / "reader", FeigReader(field))
        chance = random.Random(7)

        def mangle(data: bytes) -> list[bytes]:
            dice = chance.random()
            if dice < 0.2:
                cut = chance.randrange(len(data))
                return [data[:cut], data[cut:]]
            if dice < 0.3:
                return [chance.randbytes(chance.randrange(1, 60)) + data]
            if dice < 0.35:
                flipped = bytearray(data)
                flipped[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
                return [bytes(flipped)]
            if dice < 0.4:
                return [data[: chance.randrange(len(data))]]
            return [data + data] if dice < 0.45 else [data]

        plug.mangle = mangle
        plug.plug()
        config = reader_config(plug.link, inventory_timeout_ms=60, reply_timeout_ms=60, chips_per_antenna=1)
        async with running(Room(config)) as room:
            await room.until(lambda: room.health("reader-a").counters.frames > 200)
            for present in room.of(Present):
                assert [t.uid for t in present.tags] == field[present.antenna]
            assert {e.antenna for e in room.of(CleanEmpty)} <= {2}
            counters = room.health("reader-a").counters
            assert counters.garbage > 100
            assert counters.timeouts > 3
            assert counters.foreign > 3
        plug.unplug()

    drive(body)


def test_presses_are_acknowledged_after_the_commit_and_survive_a_replug(tmp_path: Path) -> None:
    async def body() -> None:
        panel, plug, config = panel_for(tmp_path / "panel")
        opened = time.monotonic_ns()
        plug.plug()
        async with beating(plug), running(Room(config)) as room:
            await room.until(lambda: room.health("panel").figures.clock_ns is not None)
            pressed = time.monotonic_ns()
            plug.say(panel.press(5, seat=3, amount=400))
            (press,) = await room.until(plug.resending(lambda: room.of(Press)))
            # Not only that it holds the truth: the clock was used, else the span began at 0.
            assert opened < press.span.earliest_ns <= pressed + 1000
            assert pressed - 1000 <= press.span.latest_ns <= time.monotonic_ns()
            plug.say(panel.resend())
            await asyncio.sleep(0.05)
            assert panel.acks == []
            losses = len(room.of(DeviceLost))
            plug.unplug()  # before the acknowledgement could be sent
            await room.until(lambda: len(room.of(DeviceLost)) > losses)
            ups = len(room.of(DeviceUp))
            room.bridge.acknowledge(press)
            plug.plug()
            await room.until(lambda: len(room.of(DeviceUp)) > ups)
            await room.until(plug.resending(lambda: panel.acks))
            assert panel.queue == {}
            assert len(room.of(Press)) == 1
        plug.unplug()

    drive(body)


class Broken(FeigSession):
    """A session with a bug that can be switched on."""

    fail = False

    def receive(self, data: bytes, now_ns: int) -> list[AnyObservation]:
        if self.fail:
            raise RuntimeError("a bug in a third party's session")
        return super().receive(data, now_ns)


def test_one_devices_fault_does_not_touch_another(tmp_path: Path) -> None:
    async def body() -> None:
        one = Plug(tmp_path / "one", FeigReader({1: [A]}))
        two = Plug(tmp_path / "two", FeigReader({1: [B]}))
        one.plug()
        two.plug()
        room = Room(
            reader_config(one.link),
            DeviceConfig("reader-b", "feig", str(two.link), options={"antennas": [1], "min_sweep_ms": 0}),
        )
        device = room.bridge._devices["reader-a"]
        broken = Broken(DeviceId("reader-a"), FeigOptions(antennas=(1,), min_sweep_ms=0))
        device.driven = Driven(broken, device.driven.port)
        async with running(room):
            await room.until(lambda: room.of(Present, "reader-a") and room.of(Present, "reader-b"))
            broken.fail = True
            (lost,) = await room.until(lambda: room.of(DeviceLost))
            assert lost.device == "reader-a"
            assert "a bug in a third party's session" in lost.reason
            frames = room.health("reader-b").counters.frames
            await room.until(lambda: room.health("reader-b").counters.frames > frames + 50)
            assert room.health("reader-b").opened == 1
            broken.fail = False
            await room.until(lambda: len(room.of(DeviceUp, "reader-a")) == 2)
        one.unplug()
        two.unplug()

    drive(body)


def test_a_press_that_the_sink_refuses_is_told_again(tmp_path: Path) -> None:
    async def body() -> None:
        panel, plug, config = panel_for(tmp_path / "panel")
        plug.plug()
        refuse = [True]

        def sink(observation: AnyObservation) -> None:
            if isinstance(observation, Press) and refuse:
                refuse.pop()
                raise OSError(28, "No space left on device")
            room.seen.append(observation)

        room = Room(config, sink=sink)
        async with beating(plug), running(room):
            await room.until(lambda: room.health("panel").figures.clock_ns is not None)
            plug.say(panel.press(1))
            await room.until(plug.resending(lambda: room.of(Press)))
            lost = next(o for o in room.of(DeviceLost) if "No space left on device" in o.reason)
            assert "disk" in lost.advice
            assert len(room.of(DeviceUp)) >= 2
            assert room.health("panel").undelivered == 1
        plug.unplug()

    drive(body)


def test_a_device_that_takes_no_bytes_is_bounded(tmp_path: Path) -> None:
    """The peer's end is never read: the queue stays bounded and the reader is lost, not the daemon."""

    async def body() -> None:
        master, slave = os.openpty()
        tty.setraw(slave)
        link = tmp_path / "reader"
        link.symlink_to(os.ttyname(slave))
        async with running(Room(reader_config(link))) as room:
            (lost,) = await room.until(lambda: room.of(DeviceLost))
            assert lost.reason == "no answer to the hello"
            assert "38400 8E1" in lost.advice
        os.close(master)
        os.close(slave)

    drive(body)


@pytest.mark.usefixtures("no_hurry")
def test_reader_behind_a_socket() -> None:
    async def body() -> None:
        reader = FeigReader({1: [A]})
        hang_up = asyncio.Event()

        async def serve(incoming: asyncio.StreamReader, outgoing: asyncio.StreamWriter) -> None:
            # It hangs up on a question that it has read: with one unread its end would be a reset.
            while (data := await incoming.read(4096)) and not hang_up.is_set():
                outgoing.write(reader.feed(data))
            hang_up.clear()
            outgoing.close()

        server = await asyncio.start_server(serve, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        options = {"antennas": [1], **PATIENT}
        async with running(Room(DeviceConfig("reader-a", "feig", f"tcp://127.0.0.1:{port}", options=options))) as room:
            await room.until(lambda: room.of(Present))
            assert room.health("reader-a").counters.garbage == 0
            hang_up.set()
            (lost,) = await room.until(lambda: room.of(DeviceLost))
            assert lost.reason == "closed by the reader"
            await room.until(lambda: len(room.of(DeviceUp)) == 2)
            server.close()
            hang_up.set()
            await room.until(lambda: len(room.of(DeviceLost)) >= 2)
            await room.until(lambda: "refused" in room.health("reader-a").error)

    drive(body)


@pytest.mark.parametrize(
    ("configs", "complaint"),
    [
        ([DeviceConfig("a", "fieg", "/dev/x")], "there is no driver 'fieg'. .*feig, .*panel"),
        ([DeviceConfig("a", "feig", "/dev/x")], "missing required field `antennas`"),
        ([DeviceConfig("a", "feig", "/dev/x", options={"antennas": [1], "antenas": 2})], "antenas.*has the options"),
        ([DeviceConfig("a", "feig", "/dev/x", options={"antennas": "1"})], "Expected `array`"),
        ([DeviceConfig("a", "feig", "/dev/x", options={"antennas": [99]})], "between 1 and 64"),
        ([DeviceConfig("a", "panel", "tcp://host")], "no network port"),
        ([DeviceConfig("a", "feig", "tcp://host:0", options={"antennas": [1]})], "tcp://host:port"),
        ([DeviceConfig("a", "panel", "/dev/x", baud=1)], "baud"),
        ([DeviceConfig("a", "panel", "")], "Name the serial port"),
        ([DeviceConfig("a", "panel", "/dev/x"), DeviceConfig("a", "panel", "/dev/y")], "two devices named"),
        ([DeviceConfig("a", "panel", "/dev/x"), DeviceConfig("b", "panel", "/dev/x")], "same port"),
    ],
)
def test_a_configuration_that_cannot_be_is_one_clear_line(configs: list[DeviceConfig], complaint: str) -> None:
    with pytest.raises(ConfigProblem, match=complaint) as caught:
        Bridge(configs, lambda _: None, time.monotonic_ns)
    assert "\n" not in str(caught.value)


def test_corrupt_stays_corrupt_all_the_way(tmp_path: Path) -> None:
    async def body() -> None:
        reader = FeigReader({1: [A]})
        reader.script = lambda c, d, reply: reply[:-1] + bytes((reply[-1] ^ 1,)) if c == 0xB0 else reply
        plug = Plug(tmp_path / "reader", reader)
        plug.plug()
        config = reader_config(plug.link, inventory_timeout_ms=40, chips_per_antenna=1)
        async with running(Room(config)) as room:
            await room.until(lambda: len(room.of(Corrupt)) >= 3)
            assert room.of(CleanEmpty) == []
            assert room.of(Present) == []
            assert room.of(DeviceLost) == []
        plug.unplug()

    drive(body)
