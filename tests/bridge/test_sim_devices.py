"""``python -m hw_sim.devices``: what a technician without hardware tries ``bridge`` on, as it tells him to."""

from __future__ import annotations

import contextlib
import json
import shlex
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from hw_sim.devices.__main__ import parse_arguments

PATIENCE_S = 90.0


@contextlib.contextmanager
def standing(folder: Path, *arguments: str) -> Iterator[tuple[subprocess.Popen[str], list[str]]]:
    """The command under way, and the lines in which it introduced its devices."""
    command = [sys.executable, "-m", "hw_sim.devices", *arguments, "--dir", str(folder)]
    running = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert running.stdout is not None
        lines = []
        while not lines or not lines[-1].startswith("Ctrl-C"):
            line = running.stdout.readline()
            assert line, f"it ended: {lines}"
            lines.append(line.rstrip())
        yield running, lines
    finally:
        running.kill()
        running.wait()


def bridge(text: str) -> subprocess.CompletedProcess[str]:
    """A printed command, as typed."""
    words = shlex.split(text)
    assert words[0] == ".venv/bin/tabled-bridge"
    command = [sys.executable, "-m", "firmware_bridge", *words[1:]]
    return subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_S, check=False)


def test_what_it_prints_can_be_typed(tmp_path: Path) -> None:
    kinds = ("panel", "feig", "feig", "feig-tcp", "feig-buffered", "metratec", "pepper")
    with standing(tmp_path, *kinds, "--life", "0.3", "--quirks", "twice") as (running, lines):
        typed = [line.strip() for line in lines if line.startswith("  .venv")]
        probe = next(line for line in typed if line.startswith(".venv/bin/tabled-bridge probe"))
        said = bridge(probe + " --json")
        found = {who["who"]["driver"] for line in said.stdout.splitlines() if (who := json.loads(line))["who"]}
        assert found == {"panel", "feig", "metratec", "pepper"}, said.stdout + said.stderr
        dumps = [line for line in typed if line.startswith(".venv/bin/tabled-bridge dump")]
        assert len(dumps) == len(kinds)
        assert str(tmp_path / "feig-2") in dumps[2]
        for dump in (dumps[0], dumps[1], dumps[4]):
            shown = bridge(dump + " --json --take --seconds 3")
            kinds_seen = {json.loads(line)["o"] for line in shown.stdout.splitlines()}
            assert "up" in kinds_seen, (dump, shown.stdout, shown.stderr)
            assert kinds_seen & {"present", "empty", "press"}, dump
        running.send_signal(signal.SIGINT)
        rest, _ = running.communicate(timeout=PATIENCE_S)
        assert running.returncode == 0
        assert "put on antenna" in rest
        assert "pressed" in rest
        assert "feig-buffered: opened" in rest


def test_a_cable_that_is_pulled_and_a_restart_are_printed(tmp_path: Path) -> None:
    arguments = ("panel", "metratec", "--life", "0", "--unplug-every", "0.3", "--reboot-every", "0.3", "--seconds", "4")
    with standing(tmp_path, *arguments) as (running, _):
        rest, _ = running.communicate(timeout=PATIENCE_S)
        assert "is unplugged" in rest
        assert "is plugged in again" in rest
        assert "restarts" in rest


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["toaster"], "invalid choice"),
        (["feig", "--quirks", "moody"], "there is no quirk 'moody'"),
        (["feig", "--fault", "drop=2"], "out of bounds"),
        (["feig", "--life", "-1"], "not below 0"),
        (["feig-calls", "feig-calls"], "feig-calls goes once"),
    ],
)
def test_what_cannot_be_is_one_line(arguments: list[str], why: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        parse_arguments(arguments)
    assert why in capsys.readouterr().err
