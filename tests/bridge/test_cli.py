"""``bridge`` as a technician runs it: a process of its own, on pseudo-terminals with devices behind them."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
import termios
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from firmware_bridge.cli.line_checks import clock_finding
from firmware_bridge.session.contract import Figures
from firmware_bridge.wire import AnyObservation, Press
from hw_sim.devices.feig import FeigReader
from hw_sim.devices.metratec import MetratecReader
from hw_sim.devices.panel import Panel
from hw_sim.devices.pepper import PepperReader
from hw_sim.devices.quirks import Quirks
from hw_sim.pty_port import PtyPort, now_ns
from hw_sim.tcp_port import TcpPort
from tests.bridge import peers
from tests.bridge.rig import drive

ROOT = Path(__file__).parents[2]


class Run:
    """One run of the command."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process = process
        self.out = self.err = ""

    async def end(self, seconds: float = 120) -> int:
        async with asyncio.timeout(seconds):
            out, err = await self.process.communicate()
        self.out += out.decode()
        self.err += err.decode()
        assert "Traceback" not in self.err, self.err
        lines = [line for line in self.out.splitlines() if not line.startswith("{")]
        assert all(len(line) <= 100 or " " not in line.strip() for line in lines), "100 columns"
        assert self.process.returncode is not None
        return self.process.returncode

    async def line(self, part: str, seconds: float = 60) -> str:
        """The next line that holds ``part``."""
        assert self.process.stdout is not None
        async with asyncio.timeout(seconds):
            while line := (await self.process.stdout.readline()).decode():
                self.out += line
                if part in line:
                    return line
        raise AssertionError(f"no line with '{part}' in:\n{self.out}\n{(await self.process.communicate())[1].decode()}")


async def start(*words: str) -> Run:
    return Run(
        await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "firmware_bridge", *words),
            cwd=ROOT,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
    )


async def bridge(*words: str) -> tuple[int, str, str]:
    run = await start(*words)
    return await run.end(), run.out, run.err


def flat(out: str) -> str:
    """Text as it was before it was wrapped."""
    return " ".join(out.split())


def field(place: int) -> list[str]:
    return [f"E00401{place:04X}{n:06X}" for n in range(place % 4)]


class Answering:
    """A device of a few lines: ``answer`` gets the bytes and the line's baud rate."""

    def __init__(self, answer: Callable[[bytes, int], bytes]) -> None:
        self.answer = answer
        self._out = b""
        self.port = PtyPort(self)
        self.path = self.port.plug()

    def feed(self, data: bytes, now_ns: int) -> None:
        speed = termios.tcgetattr(self.port._master)[5]
        baud = next((n for n in (9600, 19200, 38400, 115200) if getattr(termios, f"B{n}") == speed), 0)
        self._out += self.answer(data, baud)

    def poll(self, now_ns: int) -> bytes:
        out, self._out = self._out, b""
        return out

    def next_due_ns(self) -> int | None:
        return 0 if self._out else None

    def close(self) -> None:
        self.port.close()


# -- probe ---------------------------------------------------------------------------------------


def test_probe_finds_each_device_by_its_protocol(tmp_path: Path) -> None:
    async def body() -> None:
        devices = {
            "feig": FeigReader(field),
            "metratec": MetratecReader(field),
            "panel": Panel(seed=1, start_ns=now_ns()),
            "pepper": PepperReader(field, antennas=8),
        }
        ports = {name: PtyPort(device, link=tmp_path / name) for name, device in devices.items()}
        for port in ports.values():
            port.plug()
        silent = Answering(lambda data, baud: b"")
        status, out, _ = await bridge("probe", *(str(tmp_path / n) for n in ports), silent.path, "--antennas", "--json")
        found = {os.path.basename(p["asked"]): p for p in map(json.loads, out.splitlines())}
        assert status == 1, "one of the named ports did not answer"
        assert {name: found[name]["who"]["driver"] for name in ports} == {name: name for name in ports}
        assert found["feig"]["who"] == {
            "driver": "feig",
            "model": "FEIG ID CPR40",
            "firmware": "3.3.0",
            "line": "38400 8E1",
            "antennas": "1-8, 9-16 (2 multiplexers)",
            "options": {},
        }
        assert found["panel"]["who"]["model"] == "sim-panel"
        assert found["pepper"]["who"]["antennas"] == "1-8"
        assert "nobody answered" in found[os.path.basename(silent.path)]["problem"]
        status, out, _ = await bridge("probe", str(tmp_path / "panel"))
        assert (status, 'driver = "panel", 115200 8N1' in out) == (0, True)
        for port in ports.values():
            port.close()
        silent.close()

    drive(body)


def test_probe_says_nothing_but_hellos() -> None:
    async def body() -> None:
        heard: list[bytes] = []
        device = Answering(lambda data, baud: heard.append(data) or b"")
        await bridge("probe", device.path)
        hello = peers.cobs_encode(bytes((1, 0x81, *bytes(10))) + peers.crc16(bytes((1, 0x81, *bytes(10)))))
        pepper, feig = bytes.fromhex("f50300fcff0b9b50"), bytes.fromhex("05ff65e5cb" + "020007ff656e61")
        assert b"".join(heard) == b"\x00" + hello + b"\x00" + pepper + b"\rRFW\r" + feig
        device.close()

    drive(body)


def reader_on_tcp(**quirks: bool) -> tuple[TcpPort, str]:
    port = TcpPort(FeigReader(field, antennas=8, quirks=Quirks(**quirks)))
    return port, port.plug()


def test_what_probe_prints_for_a_reader_behind_a_socket_works(tmp_path: Path) -> None:
    """A reader that knows standard frames alone: the driver's own default there would get no answer."""

    async def body() -> None:
        for quirks, line in (({}, ""), ({"standard_only": True}, "options = { advanced = false }")):
            port, where = reader_on_tcp(**quirks)
            status, out, _ = await bridge("probe", where)
            assert status == 0, out
            assert 'driver = "feig", network' in out
            assert ("options" in out) == bool(line)
            assert line in out
            given = ("-o", "advanced=false") if line else ()
            status, out, _ = await bridge("dump", "-d", "feig", "-p", where, *given, "--seconds", "1.5")
            assert (status, "antenna 1     1 tags" in out) == (0, True), out
            port.close()

    drive(body)


def test_advice_for_a_socket_speaks_of_no_baud_rate(tmp_path: Path) -> None:
    async def body() -> None:
        server = await asyncio.start_server(lambda r, w: None, "127.0.0.1", 0)
        where = f"tcp://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        texts = [flat((await bridge("probe", where))[1]), flat((await bridge("doctor", where))[1])]
        texts.append(flat((await bridge("dump", "-d", "feig", "-p", where, "--seconds", "2"))[1]))
        for text in texts:
            assert "port number" in text
            assert not any(word in text for word in ("baud", "parit", "RX")), text
        assert "advanced = false" in texts[2]
        server.close()

    drive(body)


def test_a_driver_that_is_named_is_asked_by_its_own_session(tmp_path: Path) -> None:
    async def body() -> None:
        port = PtyPort(FeigReader(field, antennas=8), link=tmp_path / "reader")
        port.plug()
        words = (str(tmp_path / "reader"), "-d", "feig", "-o", "multiplexer=false")
        status, out, _ = await bridge("probe", *words)
        assert (status, "FEIG ID CPR40, firmware 3.3.0" in out) == (0, True)
        assert "options = { multiplexer = false, antennas = [1] }" in out
        status, out, err = await bridge("probe", str(tmp_path / "reader"), "-d", "fieg")
        assert (status, "there is no driver 'fieg'" in err) == (1, True)
        status, out, err = await bridge("doctor", str(tmp_path / "reader"), "-d", "fieg")
        assert (status, "there is no driver 'fieg'" in err) == (1, True)
        port.close()

    drive(body)


def test_a_port_that_another_program_holds_is_named_with_its_pid(tmp_path: Path) -> None:
    async def body() -> None:
        port = PtyPort(Panel(seed=1, start_ns=now_ns()), link=tmp_path / "panel")
        port.plug()
        holder = await start("dump", "-d", "panel", "-p", str(tmp_path / "panel"))
        await holder.line("up ")
        status, out, _ = await bridge("probe", str(tmp_path / "panel"))
        assert status == 1
        assert f"pid {holder.process.pid}" in flat(out)
        status, out, _ = await bridge("doctor", str(tmp_path / "panel"))
        assert status == 1
        assert f"(pid {holder.process.pid})" in flat(out)
        holder.process.send_signal(signal.SIGINT)
        assert await holder.end() == 0
        port.close()

    drive(body)


# -- dump ----------------------------------------------------------------------------------------


def test_dump_shows_a_reader_and_ends_cleanly_on_ctrl_c(tmp_path: Path) -> None:
    async def body() -> None:
        port = PtyPort(FeigReader(field), link=tmp_path / "reader")
        port.plug()
        run = await start(
            "dump", "-d", "feig", "-p", str(tmp_path / "reader"), "-o", "antennas=[2,4]", "--every", "0.3"
        )
        await run.line("FEIG ID CPR40, firmware 3.3.0")
        assert field(2)[1] in await run.line("antenna 2     2 tags")
        await run.line("antenna 4     0 tags")
        rates = await run.line("rates")
        assert all(word in rates for word in ("up", "frames/s", "present/s", "empty/s", "sweep"))
        run.process.send_signal(signal.SIGINT)
        assert await run.end() == 0
        assert run.out.splitlines()[-1].startswith("seen: ")
        assert run.err == ""
        port.close()

    drive(body)


def test_dump_leaves_presses_with_their_panel_unless_told(tmp_path: Path) -> None:
    async def body() -> None:
        panel = Panel(seed=2, start_ns=now_ns())
        port = PtyPort(panel, link=tmp_path / "panel")
        port.plug()
        panel.press(now_ns(), "raise_to", amount=800, seat=3, said_first=True)
        words = ("dump", "-d", "panel", "-p", str(tmp_path / "panel"), "--seconds", "1.2")
        status, out, _ = await bridge(*words)
        assert status == 0
        assert "raise_to 800 seat 3 said first" in out
        assert "The presses stay with their panel" in out
        assert panel.pending == 1
        status, out, _ = await bridge(*words, "--take", "--json")
        seen = [msgspec.json.decode(line, type=AnyObservation) for line in out.splitlines()]
        assert [(p.key, p.amount) for p in seen if isinstance(p, Press)] == [("raise_to", 800)]
        assert panel.pending == 0
        port.close()

    drive(body)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("dump", "-d", "fieg", "-p", "/dev/x"), "there is no driver 'fieg'"),
        (("dump", "-d", "feig", "-p", "/dev/x", "-o", "antenas=[1]"), "antenas"),
        (("dump", "-d", "feig", "-p", "/dev/x", "-o", "antennas"), "Write -o name=value"),
        (("decode", "zz"), "neither a file nor hexadecimal"),
        (("decode", "."), "cannot be read"),
    ],
)
def test_a_mistake_is_one_line(words: tuple[str, ...], says: str) -> None:
    async def body() -> None:
        status, out, err = await bridge(*words)
        assert (status, out) == (1, "")
        assert says in err
        assert err.count("\n") == 1

    drive(body)


# -- doctor --------------------------------------------------------------------------------------


def test_doctor_finds_the_baud_rate_that_a_reader_was_set_to() -> None:
    async def body() -> None:
        reader = peers.FeigReader({})
        device = Answering(lambda data, baud: reader.feed(data) if baud == 19200 else b"")
        status, out, _ = await bridge("doctor", device.path, "--driver", "feig")
        assert status == 1
        assert "FEIG ID CPR40 answers at 19200 8E1 and not at 38400 8E1" in flat(out)
        assert "baud = 19200" in out
        device.close()

    drive(body)


def test_doctor_measures_a_panels_clock(tmp_path: Path) -> None:
    async def one(drift: float, status: int) -> None:
        panel = Panel(seed=3, drift_ppm=drift, start_ns=now_ns())
        port = PtyPort(panel, link=tmp_path / f"panel{drift}")
        port.plug()
        panel.press(now_ns(), "call")
        found, out, _ = await bridge("doctor", str(tmp_path / f"panel{drift}"), "--seconds", "5")
        assert "sim-panel, firmware 1.0, answers at 115200 8N1" in flat(out)
        assert "its clock" in out
        assert found == status, out
        assert ("needs another clock source" in flat(out)) == bool(status)
        assert panel.pending == 1, "the doctor takes no press"
        port.close()

    async def body() -> None:
        await asyncio.gather(one(20.0, 0), one(3000.0, 1))

    drive(body)


@pytest.mark.parametrize(
    ("width_ns", "bounds", "level", "says"),
    [
        (300_000, (-30.0, 70.0), "ok", "runs +20 ppm (± 50)"),
        (300_000, (-500.0, -400.0), "bad", "another clock source"),
        (1_500_000, (164.0, 500.0), "warn", "cannot be told in 6 s"),
        (1_500_000, (-250.0, 250.0), "warn", "cannot be told in 6 s"),
        (1_500_000, (210.0, 500.0), "bad", "another clock source"),
        (30_000_000, (-500.0, 500.0), "warn", "20 ms is wide"),
        (None, None, "bad", "answers no PING"),
    ],
)
def test_a_clock_is_judged_by_what_was_measured(
    width_ns: int | None, bounds: tuple[float, float] | None, level: str, says: str
) -> None:
    finding = clock_finding(Figures(clock_ns=width_ns, drift_bounds_ppm=bounds), 6.0)
    assert finding.level == level
    assert says in finding.says


def test_a_clock_that_contradicts_itself_is_no_clock() -> None:
    finding = clock_finding(Figures(clock_ns=300_000, drift_bounds_ppm=(0.0, 40.0), clock_jumps=3), 6.0)
    assert (finding.level, "contradicted itself 3 times in 6 s" in finding.says) == ("bad", True)


def test_doctor_on_what_is_not_there_and_not_what_was_meant(tmp_path: Path) -> None:
    async def body() -> None:
        status, out, _ = await bridge("doctor", str(tmp_path / "none"))
        assert (status, "BAD" in out, "Plug it in" in flat(out)) == (1, True, True)
        port = PtyPort(FeigReader(field), link=tmp_path / "reader")
        port.plug()
        status, out, _ = await bridge("doctor", str(tmp_path / "reader"), "--driver", "pepper")
        assert status == 1
        assert "which is driver 'feig' and not 'pepper'" in flat(out)
        status, out, _ = await bridge("doctor", str(tmp_path / "reader"), "--no-open")
        assert (status, "FEIG" in out) == (0, False)
        port.close()

    drive(body)
