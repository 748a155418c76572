"""A house to test in: the simulated table and the real daemon, each its own process, wired as a technician would."""

from __future__ import annotations

import json
import os
import queue
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
SHARED = Path(os.environ.get("TABLED_SHARED", ROOT.parent / "shared"))
HANDS = SHARED / "hands" / "hands.jsonl"

QUICK = {
    # People twelve times faster than people: their spans shrink with them, the readers' do not.
    "one_motion_ms": 150,
    "two_motions_ms": 350,
    "motion_close_ms": 120,
    "reaction_min_ms": 0,
    "reaction_max_ms": 100,
    "key_bounce_ms": 5,
}


class Process:
    """A child whose output lines are collected, and which is gone when the test is."""

    def __init__(self, *command: str, env: dict[str, str] | None = None) -> None:
        self.lines: list[str] = []
        self._news: queue.Queue[str | None] = queue.Queue()
        self.child = subprocess.Popen(
            command,
            cwd=ROOT,
            env={**os.environ, "PYTHONUNBUFFERED": "1", **(env or {})},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        assert self.child.stdout is not None
        for line in self.child.stdout:
            self._news.put(line.rstrip("\n"))
        self._news.put(None)

    def wait_for(self, pattern: str, timeout: float = 30.0) -> re.Match[str]:
        """The first line from here on that matches; fails with the output when none comes."""
        until = time.monotonic() + timeout
        while (left := until - time.monotonic()) > 0:
            try:
                line = self._news.get(timeout=left)
            except queue.Empty:
                break
            if line is None:
                break
            self.lines.append(line)
            found = re.search(pattern, line)
            if found:
                return found
        raise AssertionError(f"no line matches {pattern!r}; the process said:\n" + "\n".join(self.lines[-40:]))

    def tell(self, line: str) -> None:
        """Write one line to its standard input."""
        assert self.child.stdin is not None
        self.child.stdin.write(line + "\n")
        self.child.stdin.flush()

    def end(self, number: int = signal.SIGTERM, timeout: float = 20.0) -> int:
        """Signal it and wait for its exit status."""
        if self.child.poll() is None:
            self.child.send_signal(number)
        try:
            status = self.child.wait(timeout)
        except subprocess.TimeoutExpired:
            self.child.kill()
            self.child.wait()
            raise
        while (line := self._news.get()) is not None:
            self.lines.append(line)
        return status

    @property
    def output(self) -> str:
        """All that has been collected so far."""
        return "\n".join(self.lines)


class House:
    """Simulator and daemon in one folder.  `daemon` may be started again on the same journal."""

    def __init__(self, folder: Path, *sim_options: str, fusion: dict[str, int] | None = None) -> None:
        self.folder = folder
        self.sim = Process(
            sys.executable, "-m", "hw_sim", "--rundir", str(folder), "--site", "test", "--table", "t1", *sim_options
        )
        self.facts: dict[str, Any] = json.loads(self.sim.wait_for(r'^\{"')[0] and self.sim.lines[-1])
        self.config = folder / "table.toml"
        self.journal = folder / "table.journal"
        self.write_config(fusion=fusion or {})

    def write_config(
        self, *, broker: str = "embedded", websocket: str = "ws://127.0.0.1:9", fusion: dict[str, int] | None = None
    ) -> None:
        """``table.toml`` for the simulated hardware."""
        seats = len(self.facts["seats"])
        lines = [
            "[table]", 'site = "test"', 'name = "t1"', f"seats = {seats}", 'profile = "tda-2024"',
            "[chips]", f"file = {json.dumps(self.facts['chips'])}",
            "[journal]", f"file = {json.dumps(str(self.journal))}",
            "[mqtt]", f"broker = {json.dumps(broker)}", f"websocket = {json.dumps(websocket)}",
            "[display]", "port = 0",
            "[fusion]", *(f"{k} = {v}" for k, v in (fusion or {}).items()),
        ]  # fmt: skip
        for device in self.facts["devices"]:
            antennas = ", ".join(f'{json.dumps(k)} = "{v}"' for k, v in device.get("antennas", {}).items())
            lines += ["[[device]]", f'id = "{device["id"]}"', f'driver = "{device["driver"]}"']
            lines += [f"port = {json.dumps(device['port'])}", f"antennas = {{ {antennas} }}"]
        self.config.write_text("\n".join(lines) + "\n", encoding="utf-8")

    def start_daemon(self) -> Process:
        """``tabled run --config …``; returns when its page is up."""
        self.daemon = Process(sys.executable, "-m", "tabled", "run", "--config", str(self.config))
        found = self.daemon.wait_for(r"^broker \w+ on ([\d.]+):(\d+)")
        self.broker = (found[1], int(found[2]))
        self.display = self.daemon.wait_for(r"^dealer's display: (\S+)")[1]
        return self.daemon

    def deal(self) -> None:
        """Tell the simulated people that the table is open."""
        host, port = self.broker
        self.sim.tell(json.dumps({"mqtt": {"host": host, "port": port}}))

    def results(self) -> list[dict[str, Any]]:
        """What the simulated people saw, one record a hand."""
        return [json.loads(line) for line in (self.folder / "results.jsonl").read_text().splitlines()]

    def close(self) -> None:
        """End both."""
        for name in ("daemon", "sim"):
            process = getattr(self, name, None)
            if process is not None and process.child.poll() is None:
                process.child.kill()
                process.child.wait()


def tabled(*arguments: str, timeout: float = 60.0) -> subprocess.CompletedProcess[str]:
    """Run a ``tabled`` command to its end."""
    return subprocess.run(
        [sys.executable, "-m", "tabled", *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
    )


def have_mosquitto() -> bool:
    """Whether a Mosquitto can be started."""
    return shutil.which("mosquitto", path=f"{os.environ.get('PATH', '')}:/usr/sbin") is not None
