"""A peer that sends without end: hung up and named, and nobody else waits for it."""

from __future__ import annotations

import asyncio
import errno
import random
from typing import Any

import pytest

from firmware_bridge.ports import tcp
from firmware_bridge.ports.tcp import PIECE, TcpLine, open_tcp
from firmware_bridge.session.contract import TcpPort
from firmware_bridge.session.flood import BURST, FRAME_BYTES, RATE, Flood
from firmware_bridge.session.problems import PortProblem
from firmware_bridge.supervisor import DeviceConfig
from firmware_bridge.wire import CleanEmpty, DeviceLost
from tests.bridge.peers import FeigReader, feig_reply
from tests.bridge.rig import Plug, Room, drive, reader_config, running

S = 1_000_000_000


def test_what_is_let_pass_and_what_is_not() -> None:
    flood = Flood(0, 100, 5)
    assert not flood.over(0, 100 + BURST, 5)
    assert flood.over(0, 101 + BURST, 5)
    assert not flood.over(S, 101 + BURST + RATE // 2, 5), "it leaks"
    steady = Flood(0, 0, 0)
    assert not any(steady.over(n * S // 10, n * RATE // 10, 0) for n in range(1000)), "a noisy line goes on for ever"
    frames = Flood(0, 0, 0)
    assert not frames.over(0, 0, BURST // FRAME_BYTES)
    assert frames.over(0, 0, BURST // FRAME_BYTES + 1), "good frames that nobody asked for count too"


class Transport(asyncio.Transport):
    """What the event loop gives a line, and whether it may be read."""

    def __init__(self) -> None:
        super().__init__()
        self.reading = True
        self.aborted = False

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        return default

    def pause_reading(self) -> None:
        self.reading = False

    def resume_reading(self) -> None:
        self.reading = True

    def abort(self) -> None:
        self.aborted = True


def test_much_at_once_is_handed_on_in_pieces_between_which_others_run() -> None:
    async def body() -> None:
        got: list[bytes] = []
        line = TcpLine(got.append, lambda _: None)
        transport = Transport()
        line.connection_made(transport)
        data = random.Random(1).randbytes(10 * PIECE + 7)
        line.data_received(data)
        assert [len(piece) for piece in got] == [PIECE]
        assert not transport.reading, "the peer is held back"
        line.data_received(b"more")  # what the loop had read already
        turns = 0
        while len(got) < 11:
            before = len(got)
            await asyncio.sleep(0)
            turns += 1
            assert len(got) - before <= 1, "one piece a turn"
        assert turns >= 10
        assert b"".join(got) == data + b"more"
        assert transport.reading
        line.data_received(data)
        line.close()
        seen = len(got)
        await asyncio.sleep(0)
        assert len(got) == seen, "nothing behind the close"
        assert transport.aborted

    asyncio.run(body())


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (ConnectionResetError(errno.ECONNRESET, "Connection reset by peer"), "connection reset by peer"),
        (None, "closed by the reader"),
        (RuntimeError("odd"), "odd"),
    ],
)
def test_a_lost_connection_in_words(error: Exception | None, said: str) -> None:
    gone: list[str] = []
    line = TcpLine(lambda _: None, gone.append)
    line.connection_made(Transport())
    line.connection_lost(error)
    assert gone == [said]


def test_an_address_that_swallows_what_it_is_sent_is_told_within_a_second(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing answers the connection, as behind a pulled network cable."""
    assert tcp.CONNECT_S <= 0.9
    monkeypatch.setattr(tcp, "CONNECT_S", 0.01)

    async def body() -> None:
        async def never(*_: Any, **__: Any) -> Any:
            await asyncio.get_running_loop().create_future()

        monkeypatch.setattr(asyncio.get_running_loop(), "create_connection", never)
        with pytest.raises(PortProblem, match="no answer"):
            await open_tcp("r", TcpPort("192.0.2.1", 10001), lambda _: None, lambda _: None)

    asyncio.run(body())


@pytest.mark.parametrize("kind", ["noise", "heads", "frames"])
def test_a_flood_is_hung_up_and_named_and_the_others_live(kind: str, tmp_path: Any) -> None:
    blobs = {
        "noise": random.Random(1).randbytes(1 << 18),
        "heads": b"\x02\x0f\xf0" * (1 << 16),
        "frames": feig_reply(0x65, 0, bytes(7)) * 20_000,
    }
    hung_up: list[bool] = []

    async def flood(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                writer.write(blobs[kind])
                await writer.drain()
        except OSError:
            hung_up.append(True)

    async def body() -> None:
        server = await asyncio.start_server(flood, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        plug = Plug(tmp_path / "good", FeigReader({}))
        plug.plug()
        bad = DeviceConfig("bad", "feig", f"tcp://127.0.0.1:{port}", options={"antennas": [1]})
        async with running(Room(bad, reader_config(plug.link))) as room:
            named = await room.until(lambda: [o for o in room.of(DeviceLost, "bad") if "mean nothing" in o.reason])
            assert "not its driver's" in named[0].advice
            await room.until(lambda: hung_up)
            seen = len(room.seen)
            await room.until(lambda: [o for o in room.seen[seen:] if isinstance(o, CleanEmpty)])
        server.close()
        plug.unplug()

    drive(body)
