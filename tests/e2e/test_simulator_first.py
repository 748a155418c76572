"""README's order for one's own ``table.toml``: first the simulator, which waits for its broker, then the daemon."""

from __future__ import annotations

import asyncio
import re
import signal
import socket
import sys
import tomllib
from pathlib import Path

import pytest

from hw_sim.__main__ import live_options, parse_arguments
from hw_sim.starter import driver_options
from tabled.shell.config import convert

ROOT = Path(__file__).parents[2]
README = ROOT / "README.md"


def free_port() -> int:
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        return int(held.getsockname()[1])


async def start(*words: str) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        *words,
        cwd=ROOT,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )


async def until(stream: asyncio.StreamReader | None, part: str) -> str:
    """All up to and with the line that holds ``part``."""
    assert stream is not None
    heard = ""
    while line := (await stream.readline()).decode():
        heard += line
        if part in line:
            return heard
    raise AssertionError(f"no line with {part!r} in:\n{heard}")


@pytest.mark.e2e
def test_the_simulator_waits_for_the_daemon_that_brings_its_broker(tmp_path: Path) -> None:
    async def body() -> None:
        port, rundir = free_port(), tmp_path / "sim"
        place = ("--rundir", str(rundir), "--mqtt", f"127.0.0.1:{port}", "--site", "club", "--table", "table-7")
        deal = ("--generate", "--hands", "1", "--speed", "6", "--ruling-timeout", "60")
        sim = await start("hw_sim", *place, *deal)
        daemon = None
        try:
            await until(sim.stderr, f"waiting for the MQTT broker at 127.0.0.1:{port}")
            printed = await until(sim.stdout, 'driver = "panel"')
            assert f'port = "{rundir}/by-id-reader"' in printed
            toml = rundir / "table.toml"
            text = toml.read_text()
            assert printed.partition("[chips]")[2].partition("[[device]]")[0] in text
            toml.write_text(re.sub(r"ws_port = \d+", "ws_port = 0", text).replace("port = 8080", "port = 0"))
            daemon = await start("tabled", "run", "--config", str(toml))
            # Simulated people touch a chip only when the daemon has taken the hand.
            while not (rundir / "truth.jsonl").stat().st_size:
                for process in (sim, daemon):
                    assert process.returncode is None, (await process.communicate())[1].decode()
                await asyncio.sleep(0.1)
            assert (rundir / "results.jsonl").exists()
        finally:
            for process in (p for p in (daemon, sim) if p is not None and p.returncode is None):
                process.send_signal(signal.SIGINT)
                await process.communicate()
        assert daemon is not None
        assert daemon.returncode == 0

    asyncio.run(body())


@pytest.mark.e2e
def test_a_broker_that_never_comes_ends_it_and_so_does_ctrl_c(tmp_path: Path) -> None:
    async def body() -> None:
        place = ("--mqtt", f"127.0.0.1:{free_port()}", "--generate", "--hands", "1")
        tired = await start("hw_sim", "--rundir", str(tmp_path / "a"), *place, "--broker-timeout", "1")
        _, err = await tired.communicate()
        assert tired.returncode == 2
        assert err.decode().count("waiting for the MQTT broker") == 1
        assert "no MQTT broker at 127.0.0.1" in err.decode().splitlines()[-1]
        assert "Start it, or give the right address" in err.decode()
        stopped = await start("hw_sim", "--rundir", str(tmp_path / "b"), *place)
        await until(stopped.stderr, "waiting for the MQTT broker")
        stopped.send_signal(signal.SIGINT)
        _, err = await stopped.communicate()
        assert (stopped.returncode, b"Traceback" in err) == (0, False)

    asyncio.run(body())


@pytest.mark.parametrize(
    ("words", "options"),
    [
        (["--reader", "feig"], {}),
        (["--reader", "feig", "--reader-mode", "buffered"], {"mode": "buffered"}),
        (["--reader", "feig-tcp", "--reader-mode", "notify-ack"], {"mode": "notify"}),
        (["--reader", "feig-tcp", "--quirks", "standard_only"], {"advanced": False}),
        (["--reader", "metratec", "--quirks", "ports_from_one"], {"first_port": 1}),
    ],
)
def test_the_simulator_says_the_options_that_its_readers_need(words: list[str], options: dict[str, object]) -> None:
    args = parse_arguments(["--rundir", "x", *words])
    assert driver_options(live_options(args, 9).hardware) == options


def test_readmes_own_table_toml_is_one() -> None:
    (block,) = re.findall(r"```toml\n(\[table\].*?)```", README.read_text(), re.DOTALL)
    assert convert(tomllib.loads(block), "README").table.site == "club"
