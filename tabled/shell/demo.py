"""``tabled demo``: a simulated table in another process, and the real daemon on its pseudo-terminals."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec

from tabled.shell.config import Config, ConfigError, convert
from tabled.shell.daemon import Daemon

READY_TIMEOUT_S = 30.0
GOODBYE_S = 5.0
MAX_LINE = 1 << 20
SITE = "demo"
TABLE = "t1"


class DemoOptions(msgspec.Struct, frozen=True, kw_only=True):
    """What the command line asked for.  ``journal`` None keeps it in a folder that goes with the demo."""

    hands: int | None = None
    exit: bool = False
    seed: int = 0
    speed: float = 1.0
    journal: Path | None = None
    headless: bool = False
    display_port: int = 0
    generate: bool = False


class Simulator:
    """The simulated table: a process that prints its ports, takes the broker's address and deals."""

    def __init__(self, rundir: Path, options: DemoOptions) -> None:
        self._rundir = rundir
        self._options = options
        self.facts: dict[str, Any] = {}
        self.summary: dict[str, Any] = {}

    async def start(self) -> None:
        """Start it and read the line that describes the table.  Raises `ConfigError` when there is none."""
        command = [sys.executable, "-m", "hw_sim", "--rundir", str(self._rundir), "--rf", "real"]
        command += ["--site", SITE, "--table", TABLE]
        command += ["--seed", str(self._options.seed), "--speed", str(self._options.speed)]
        if self._options.hands is not None:
            command += ["--hands", str(self._options.hands)]
        if self._options.generate:
            command += ["--generate"]
        self._process = await asyncio.create_subprocess_exec(
            *command,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            limit=MAX_LINE,
            start_new_session=True,  # Ctrl-C is ours to hand on, when the daemon has closed its ports
        )
        try:
            line = await asyncio.wait_for(self._readline(), READY_TIMEOUT_S)
        except TimeoutError as problem:
            raise ConfigError(
                "the simulated table did not start within 30 s; run it alone: python -m hw_sim"
            ) from problem
        if not line:
            raise ConfigError("the simulated table ended before it began; its message stands above")
        self.facts = json.loads(line)

    async def deal(self, host: str, port: int) -> None:
        """Tell it where the broker is, and wait for its summary."""
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps({"mqtt": {"host": host, "port": port}}).encode() + b"\n")
        await self._process.stdin.drain()
        line = await self._readline()
        if line:
            self.summary = json.loads(line)

    async def stop(self) -> None:
        """End it, kindly first."""
        if not hasattr(self, "_process") or self._process.returncode is not None:
            return
        with contextlib.suppress(ProcessLookupError):
            self._process.terminate()
        try:
            await asyncio.wait_for(self._process.wait(), GOODBYE_S)
        except TimeoutError:
            with contextlib.suppress(ProcessLookupError):
                self._process.kill()
            await self._process.wait()

    async def _readline(self) -> bytes:
        assert self._process.stdout is not None
        return await self._process.stdout.readline()


def demo_config(facts: dict[str, Any], rundir: Path, options: DemoOptions) -> Config:
    """The configuration of a table whose hardware is what the simulator says it is."""
    return convert(
        {
            "table": {"site": SITE, "name": TABLE, "seats": len(facts["seats"]), "profile": "tda-2024"},
            "chips": {"file": facts["chips"]},
            "journal": {"file": str(options.journal or rundir / "demo.journal")},
            "mqtt": {"broker": "embedded"},
            # Hurried people act faster behind each other; readers stay as they are.  No camera watches, and this table
            # trusts its players: chips within half a second came in one motion (the default asks, see FusionSettings).
            "fusion": {
                "key_bounce_ms": round(250 / max(1.0, options.speed)),
                "one_motion_ms": 500,
                "two_motions_ms": 1200,
            },
            "display": {"enabled": not options.headless, "port": options.display_port},
            "device": facts["devices"],
        },
        "the simulated table",
    )


async def demo(options: DemoOptions, out: Callable[[str], None], stop: asyncio.Event) -> int:
    """Run the demo until its hands are dealt (with ``exit``) or ``stop`` is set.  Returns the exit status."""
    with tempfile.TemporaryDirectory(prefix="tabled-demo-") as folder:
        rundir = Path(folder)
        simulator = Simulator(rundir, options)
        daemon: Daemon | None = None
        try:
            await simulator.start()
            daemon = Daemon(demo_config(simulator.facts, rundir, options), out)
            await daemon.open()
            _greet(daemon, options, out)
            return await _play(simulator, daemon, options, out, stop)
        finally:
            if daemon is not None:
                await daemon.close()
            await simulator.stop()


async def _play(
    simulator: Simulator, daemon: Daemon, options: DemoOptions, out: Callable[[str], None], stop: asyncio.Event
) -> int:
    serving = asyncio.create_task(daemon.run(stop))
    dealing = asyncio.create_task(simulator.deal(daemon.broker.host, daemon.broker.port))
    await asyncio.wait([serving, dealing], return_when=asyncio.FIRST_COMPLETED)
    status = 0
    if dealing.done():
        dealing.result()
        status = _report(simulator.summary, out)
        if not options.exit and not stop.is_set():
            out("The hands are dealt.  The page stays; Ctrl-C ends the demo.")
            await asyncio.wait([serving])
        stop.set()
    else:
        dealing.cancel()
    await serving
    return status


def _greet(daemon: Daemon, options: DemoOptions, out: Callable[[str], None]) -> None:
    out(f"broker {daemon.broker.kind} on {daemon.broker.host}:{daemon.broker.port}")
    if daemon.display_url:
        out(f"dealer's display: {daemon.display_url}")
    if options.journal:
        out(f"journal: {os.path.abspath(options.journal)}")


def _report(summary: dict[str, Any], out: Callable[[str], None]) -> int:
    if not summary:
        out("the simulated table ended early; see its message above")
        return 1
    hands = summary.get("hands", 0)
    dealt = f"{hands} hand{'' if hands == 1 else 's'} dealt"
    wrong = summary.get("discrepancies", 0)
    if wrong:
        out(f"{dealt}; {wrong} rulings were not those that the simulated truth names")
        return 1
    out(f"{dealt}; every ruling was the one that the simulated truth names")
    return 0
