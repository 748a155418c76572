"""Pseudo-terminals opened with plain system calls: open, close, open again, pull the plug, come back."""

from __future__ import annotations

import asyncio
import contextlib
import os
import select
import termios
import time
import tty
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from hw_sim.devices.faults import FaultPlan
from hw_sim.devices.feig import FeigReader
from hw_sim.devices.panel import Panel
from hw_sim.pty_port import PtyPort, now_ns
from tests.sim.hosts import feig, panel_frame, unstuff

READ = feig("ff b0 01 00")
ANSWER = "1100b000010300e0040150a05f02b7d7be"
"""Published answer (frames.jsonl) of a reader that sees the one chip E0040150A05F02B7."""


def a_reader() -> FeigReader:
    return FeigReader(lambda a: ["E0040150A05F02B7"] if a == 1 else [])


@contextlib.asynccontextmanager
async def plugged(port: PtyPort) -> AsyncIterator[PtyPort]:
    port.plug()
    try:
        yield port
    finally:
        port.close()


def opened(path: str) -> int:
    fd = os.open(path, os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK)
    tty.setraw(fd)
    return fd


async def receive(fd: int, enough: Callable[[bytes], bool], seconds: float = 3.0) -> bytes:
    got, end = b"", time.monotonic() + seconds
    while not enough(got) and time.monotonic() < end:
        await asyncio.sleep(0.005)
        while select.select([fd], [], [], 0)[0]:
            try:
                data = os.read(fd, 4096)
            except OSError:
                return got
            if not data:
                return got
            got += data
    return got


async def ask(fd: int, request: bytes, size: int) -> bytes:
    os.write(fd, request)
    return await receive(fd, lambda b: len(b) >= size)


def test_raw_bytes_cross_and_the_port_may_be_reopened():
    async def scene() -> None:
        async with plugged(PtyPort(a_reader())) as port:
            for _ in range(3):
                fd = opened(port.path)
                assert (await ask(fd, feig("ff dd 00 01 00"), 6)).hex() == feig("00 dd 00").hex()
                assert (await ask(fd, READ, 17)).hex() == ANSWER
                os.close(fd)
                await asyncio.sleep(0.06)
                assert not port.is_open
            assert port.opened == 3

    asyncio.run(scene())


def test_the_line_is_raw_even_for_a_host_that_sets_nothing():
    async def scene() -> None:
        async with plugged(PtyPort(a_reader())) as port:
            fd = os.open(port.path, os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK)
            assert not termios.tcgetattr(fd)[3] & (termios.ECHO | termios.ICANON)
            # 0x0D, 0x03 and 0x0A in a request would be mangled, or kill, on a cooked line.
            assert (await ask(fd, feig("ff 66 00"), 13))[3] == 0
            assert (await ask(fd, feig("ff 0d 0a 03"), 6)).hex() == feig("00 0d 80").hex()
            os.close(fd)

    asyncio.run(scene())


def test_what_was_said_before_the_port_was_open_is_lost_and_a_press_is_not():
    async def scene() -> None:
        panel = Panel(seed=1, start_ns=now_ns())
        async with plugged(PtyPort(panel)) as port:
            await asyncio.sleep(0.05)
            panel.press(now_ns(), "check")
            port.kick()
            fd = opened(port.path)
            got = await receive(fd, lambda b: b.count(b"\0") >= 1)
            first = unstuff(got.split(b"\0")[0])
            assert first[1] == 3  # no HELLO from before; the press is resent because nobody acknowledged it
            os.write(fd, panel_frame(0x82, first[12:18]))
            await asyncio.sleep(0.05)
            assert panel.pending == 0
            os.close(fd)

    asyncio.run(scene())


def test_nothing_unread_is_left_for_the_next_host():
    async def scene() -> None:
        async with plugged(PtyPort(a_reader())) as port:
            fd = opened(port.path)
            os.write(fd, READ + READ)
            await asyncio.sleep(0.1)
            os.close(fd)
            await asyncio.sleep(0.06)
            fd = opened(port.path)
            assert await receive(fd, bool, 0.1) == b""
            assert (await ask(fd, feig("ff 69"), 6)).hex() == feig("00 69 00").hex()
            os.close(fd)

    asyncio.run(scene())


def test_unplug_hangs_up_and_replug_comes_back_behind_the_same_link(tmp_path: Path):
    async def scene() -> None:
        link = tmp_path / "by-id"
        async with plugged(PtyPort(a_reader(), link=link)) as port:
            fd = opened(str(link))
            assert await ask(fd, feig("ff 69"), 6)
            port.unplug()
            assert not link.exists()
            with contextlib.suppress(OSError):
                assert os.read(fd, 10) == b""
            holder = os.openpty()  # takes the freed name, so that the port must come back under another
            port.plug()
            again = opened(str(link))
            assert os.readlink(link) == port.path
            assert await ask(again, feig("ff 69"), 6)
            for d in (fd, again, *holder):
                os.close(d)
        assert not link.exists()

    asyncio.run(scene())


def test_a_host_that_never_reads_does_not_stop_the_device():
    async def scene() -> None:
        panel = Panel(seed=2, start_ns=now_ns())
        async with plugged(PtyPort(panel)) as port:
            fd = opened(port.path)
            await asyncio.sleep(0.05)
            for _ in range(60):
                os.write(fd, panel_frame(0x81, b"") * 60)
                await asyncio.sleep(0.001)
            await asyncio.sleep(0.2)
            assert port.dropped > 0
            got = await receive(fd, lambda b: b.count(b"\0") > 20)
            assert unstuff(got.split(b"\0")[0])[1] == 1
            os.close(fd)

    asyncio.run(scene())


def test_faults_are_felt_and_counted():
    async def scene() -> None:
        async with plugged(PtyPort(a_reader(), faults=FaultPlan(corrupt=0.3, split=0.3), seed=5)) as port:
            fd = opened(port.path)
            await asyncio.sleep(0.05)
            answers = set()
            for _ in range(40):
                os.write(fd, feig("ff 69"))
                answers.add((await receive(fd, lambda b: len(b) >= 6, 0.05)).hex())
                await asyncio.sleep(0.013)
            assert feig("00 69 00").hex() in answers
            assert len(answers) > 3
            os.close(fd)

    asyncio.run(scene())


def test_a_port_is_not_plugged_in_twice():
    async def scene() -> None:
        async with plugged(PtyPort(a_reader())) as port:
            with pytest.raises(AssertionError, match="plugged in already"):
                port.plug()

    asyncio.run(scene())
