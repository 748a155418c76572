"""A FEIG reader that opens the connection itself: the real bridge listens, the simulated reader calls."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from typing import Any

import pytest

from firmware_bridge.session.contract import ListenPort
from firmware_bridge.session.feig_caller import FeigCallerSession
from firmware_bridge.session.plan import FeigOptions
from firmware_bridge.supervisor import Bridge, ConfigProblem, DeviceConfig
from firmware_bridge.wire import Corrupt, DeviceId, DeviceLost, DeviceUp, Present
from hw_sim.devices.feig import FeigReader
from hw_sim.devices.physics import Timing
from hw_sim.tcp_caller import TcpCaller
from tests.bridge.peers import feig_reply
from tests.bridge.rig import Room, drive, running

A, B = "E004015000000001", "E004015000000002"
MS = 1_000_000


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A notification is repeated after 0.7 s instead of the manual's 5."""
    monkeypatch.setattr("hw_sim.devices.feig_buffer.ACKNOWLEDGE_NS", 700_000_000)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class Called:
    """A reader that calls, and the configuration of its host."""

    def __init__(self, *, hold_s: float = 5.0, source: str | None = None, **options: Any) -> None:
        self.number = free_port()
        self.field: dict[int, list[str]] = {1: [], 2: []}
        self.reader = FeigReader(
            self.field.__getitem__,
            antennas=2,
            mode="notify-ack",
            valid_ms=1e9,
            keepalive_ms=1000.0,
            calls=True,
            timing=Timing(restart_ms=300.0),
        )
        self.port = TcpCaller(self.reader, "127.0.0.1", self.number, hold_s=hold_s, source=source)
        self.config = DeviceConfig(
            "reader",
            "feig",
            f"tcp-listen://127.0.0.1:{self.number}",
            options={"antennas": [1, 2], "mode": "notify"} | options,
        )

    def held(self) -> int:
        assert self.reader._buffered is not None
        return len(self.reader._buffered._table)


def told(room: Room) -> list[tuple[int, str]]:
    return sorted((p.antenna, t.uid) for p in room.of(Present) for t in p.tags)


def test_a_reader_that_calls_is_heard_and_acknowledged_after_the_commit() -> None:
    async def body() -> None:
        called = Called()
        called.port.plug()
        async with running(Room(called.config)) as room:
            await room.until(lambda: room.of(DeviceUp))
            called.field[1] = [A]
            (seen,) = await room.until(lambda: room.of(Present))
            await asyncio.sleep(1.0)
            assert called.held() == 1, "not acknowledged before the commit"
            room.bridge.acknowledge(seen)
            await room.until(lambda: called.held() == 0)
            assert told(room) == [(1, A)], "repeated meanwhile, told once"
            assert seen.span.earliest_ns == 0
            assert not seen.complete
            assert "127.0.0.1 is connected" in room.health("reader").notes[0]
            assert room.bridge.worst_arrival_ns("reader", 1) is None
        called.port.unplug()

    drive(body)


def test_a_connection_that_ends_between_notifications_is_no_loss() -> None:
    async def body() -> None:
        called = Called(hold_s=0.2)
        called.port.plug()
        room = Room(called.config)
        room.sink = room.commits
        async with running(room):
            await room.until(lambda: called.port.opened >= 2 and not called.port.connected)
            called.field[2] = [B]
            await room.until(lambda: told(room) and called.held() == 0)
            await room.until(lambda: called.port.opened >= 5)
            assert room.of(DeviceLost) == []
            assert told(room) == [(2, B)]
            assert len(room.of(DeviceUp)) == 1
        called.port.unplug()

    drive(body)


def test_a_daemon_that_dies_before_the_commit_is_called_again() -> None:
    async def body() -> None:
        called = Called()
        called.port.plug()
        called.field[1] = [A, B]
        async with running(dead := Room(called.config)):
            await dead.until(lambda: len(told(dead)) == 2)
        heir = Room(called.config)
        heir.sink = heir.commits
        async with running(heir):
            await heir.until(lambda: len(told(heir)) == 2 and called.held() == 0)
        called.port.unplug()

    drive(body)


def test_a_reader_that_does_not_call_is_named_and_heard_when_it_does() -> None:
    async def body() -> None:
        called = Called()
        async with running(Room(called.config)) as room:
            (lost,) = await room.until(lambda: room.of(DeviceLost))
            assert lost.reason.startswith("nobody called in 2")
            assert "notification channel" in lost.advice
            called.port.plug()
            await room.until(lambda: room.of(DeviceUp))
            called.port.unplug()
            await room.until(lambda: len(room.of(DeviceLost)) == 2)
            assert room.of(DeviceLost)[1].reason.startswith("nothing heard for 2")
            called.port.plug()
            await room.until(lambda: len(room.of(DeviceUp)) == 2)
        called.port.unplug()

    drive(body)


@pytest.mark.parametrize("peer", ["127.0.0.1", ""])
def test_one_peer_and_only_the_right_one(peer: str) -> None:
    async def body() -> None:
        called = Called(peer=peer)
        async with running(Room(called.config)) as room:
            loop = asyncio.get_running_loop()
            await room.until(lambda: room.health("reader").opened)
            if not peer:  # whoever comes first is the reader
                called.port.plug()
                await room.until(lambda: room.of(DeviceUp))
            stranger = socket.socket()
            stranger.bind(("127.0.0.2", 0))
            stranger.setblocking(False)
            await loop.sock_connect(stranger, ("127.0.0.1", called.number))
            forged = feig_reply(0x22, 0, b"\x01\x00\x00", advanced=True)
            await loop.sock_sendall(stranger, forged)
            with contextlib.suppress(ConnectionError):
                assert await loop.sock_recv(stranger, 1) == b"", "turned away"
            stranger.close()
            assert "1 connections turned away, the last from 127.0.0.2" in room.health("reader").notes[1]
            if peer:
                assert room.of(DeviceUp) == []
                called.port.plug()
            await room.until(lambda: room.of(DeviceUp))
        called.port.unplug()

    drive(body)


def test_a_reader_that_lost_its_power_takes_its_old_connection_over() -> None:
    async def body() -> None:
        called = Called()
        called.port.plug()
        room = Room(called.config)
        room.sink = room.commits
        async with running(room):
            await room.until(lambda: room.of(DeviceUp))
            silent = called.port._peer  # the old socket stays open and says nothing more
            assert silent is not None
            asyncio.get_running_loop().remove_reader(silent)
            called.port._peer = None
            called.field[1] = [A]
            await room.until(lambda: told(room) == [(1, A)] and called.held() == 0)
            silent.close()
        called.port.unplug()

    drive(body)


def test_a_port_that_is_taken_is_told() -> None:
    async def body() -> None:
        called = Called()
        with socket.create_server(("127.0.0.1", called.number)):
            async with running(Room(called.config)) as room:
                (lost,) = await room.until(lambda: room.of(DeviceLost))
                assert lost.reason == "in use"
                assert "Another program listens there" in lost.advice

    drive(body)


@pytest.mark.parametrize(
    ("driver", "port", "options", "why"),
    [
        ("feig", "tcp-listen://0.0.0.0", {"mode": "notify"}, "Write tcp-listen://host:port"),
        ("feig", "tcp-listen://:1", {"mode": "notify"}, "Write tcp-listen://host:port"),
        ("feig", "tcp-listen://0.0.0.0:70000", {"mode": "notify"}, "Write tcp-listen://host:port"),
        ("feig", "tcp-listen://0.0.0.0:10005", {}, "Only a FEIG reader in mode"),
        ("pepper", "tcp-listen://0.0.0.0:10005", {}, "Only a FEIG reader in mode"),
        ("feig", "tcp-listen://0.0.0.0:10005", {"mode": "notify", "keepalive_ms": 1500}, "whole seconds"),
    ],
)
def test_ports_that_cannot_be(driver: str, port: str, options: dict[str, Any], why: str) -> None:
    config = DeviceConfig("r", driver, port, options={"antennas": [1]} | options)
    with pytest.raises(ConfigProblem, match=why):
        Bridge([config], lambda _: None, lambda: 0)


def test_the_session_says_what_it_cannot_read() -> None:
    session = FeigCallerSession(DeviceId("r"), FeigOptions(antennas=(1,), mode="notify", address=7), port="there")
    session.start(0)
    assert session.receive(feig_reply(0x22, 0, b"\x01\x00\x00", advanced=True), MS) == []
    assert session.counters().foreign == 1, "another bus address"
    session = FeigCallerSession(DeviceId("r"), FeigOptions(antennas=(1,), mode="notify"), port="there")
    session.start(0)
    up, spoilt = session.receive(feig_reply(0x22, 0, b"\x05\x00\x01", advanced=True), MS)
    assert isinstance(up, DeviceUp)
    assert isinstance(spoilt, Corrupt)
    assert session.outgoing() == b""
    session.acknowledge(spoilt)
    assert session.outgoing() == bytes.fromhex("020007ff325447"), "the published frame of [0x32]"
    assert str(ListenPort("0.0.0.0", 10005)) == "tcp-listen://0.0.0.0:10005"
