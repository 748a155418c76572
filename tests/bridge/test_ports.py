"""Serial lines by themselves: bounds, empty reads, errors in words; and drivers that others add."""

from __future__ import annotations

import asyncio
import errno
import os
import tty
from importlib.metadata import EntryPoint, EntryPoints

import pytest

from firmware_bridge.drivers import panel, registry
from firmware_bridge.ports import serial
from firmware_bridge.ports.port import MAX_QUEUED
from firmware_bridge.session.contract import DeviceConfig, SerialPort
from firmware_bridge.session.problems import ConfigProblem, PortProblem
from tests.bridge.rig import drive


def opened(gone: list[str], data: list[bytes]) -> tuple[int, serial.SerialLine]:
    master, slave = os.openpty()
    tty.setraw(slave)
    line = serial.open_serial("dev", SerialPort(os.ttyname(slave), 38400, "E"), data.append, gone.append)
    os.close(slave)
    return master, line


def test_the_write_queue_is_bounded_and_keeps_whole_writes() -> None:
    async def body() -> None:
        master, line = opened([], [])
        block = bytes(range(256)) * 4
        for _ in range(200):  # 200 KiB: far more than the kernel takes unread
            line.write(block)
        assert line.dropped > 100
        os.set_blocking(master, False)
        got = b""
        for _ in range(200):
            await asyncio.sleep(0)
            try:
                got += os.read(master, 65536)
            except BlockingIOError:
                await asyncio.sleep(0.002)
        assert len(got) == (200 - line.dropped) * len(block), "what was not refused arrived whole"
        assert got == block * (200 - line.dropped)
        assert 200 * len(block) > MAX_QUEUED
        line.close()
        line.close()
        os.close(master)

    drive(body)


def test_endless_empty_reads_mean_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    async def body() -> None:
        gone: list[str] = []
        data: list[bytes] = []
        master, _ = opened(gone, data)
        os.write(master, b"x")
        real = os.read
        monkeypatch.setattr(os, "read", lambda fd, size: b"")
        for _ in range(50):
            await asyncio.sleep(0.001)
        monkeypatch.setattr(os, "read", real)
        assert gone == ["hung up"]
        assert data == []
        os.close(master)

    drive(body)


def test_a_write_to_a_dead_line_is_told_from_the_loop_once() -> None:
    async def body() -> None:
        gone: list[str] = []
        master, line = opened(gone, [])
        os.close(master)
        line.write(b"hello")
        assert gone == []
        await asyncio.sleep(0.02)
        assert len(gone) == 1

    drive(body)


@pytest.mark.parametrize(
    ("code", "reason", "advice", "absent"),
    [
        (errno.ENOENT, "no such port", "Plug it in", True),
        (errno.ENXIO, "no such device or address", "Plug it in", True),
        (errno.EACCES, "permission denied", "usermod -aG dialout", False),
        (errno.EAGAIN, "in use", "held by another program", False),
        (errno.EINVAL, "invalid argument", "Check the 'port' line", False),
    ],
)
def test_errors_in_words(code: int, reason: str, advice: str, absent: bool) -> None:
    problem = serial.problem("reader-a", "/dev/ttyUSB9", code)
    assert isinstance(problem, PortProblem)
    assert (problem.reason, problem.absent) == (reason, absent)
    assert advice in problem.advice
    assert str(problem).startswith("'reader-a': /dev/ttyUSB9 ")
    assert str(problem).endswith(f"({reason})")


def test_drivers_of_others_are_found_by_entry_point(monkeypatch: pytest.MonkeyPatch) -> None:
    added = EntryPoints(
        [
            EntryPoint("other", "firmware_bridge.drivers.panel:drive", registry.GROUP),
            EntryPoint("broken", "no_such_package_here:drive", registry.GROUP),
        ]
    )
    monkeypatch.setattr(registry, "entry_points", lambda *, group: added)
    driven = registry.drive(DeviceConfig("p", "other", "/dev/x"))
    assert driven.port == SerialPort("/dev/x", panel.BAUD, "N")
    with pytest.raises(ConfigProblem, match=r"cannot be loaded.*Reinstall"):
        registry.drive(DeviceConfig("p", "broken", "/dev/x"))
    with pytest.raises(ConfigProblem, match=r"Drivers here: broken, feig, .*other, panel"):
        registry.drive(DeviceConfig("p", "unknown", "/dev/x"))
