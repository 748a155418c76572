"""The firmware folder does what its README says: its Makefile builds, and the commands know the program for a panel."""

from __future__ import annotations

import asyncio
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.bridge.panel_host import FIRMWARE, PanelProgram, compiler
from tests.bridge.rig import drive
from tests.bridge.test_cli import bridge, flat

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if shutil.which("make") is None:
        pytest.skip("no make: apt-get install make")
    folder = tmp_path_factory.mktemp("firmware") / "firmware"
    shutil.copytree(FIRMWARE, folder, ignore=shutil.ignore_patterns("panel_host"))
    done = subprocess.run(["make", f"CC={compiler()}"], cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return folder / "panel_host"


def test_the_readmes_files_and_calls_are_there() -> None:
    text = (FIRMWARE / "README.md").read_text()
    header = (FIRMWARE / "panel_core.h").read_text()
    for call in ("panel_init", "panel_press", "panel_receive", "panel_poll", "panel_outgoing", "panel_sent"):
        assert f"`{call}`" in text
        assert f"{call}(" in header
    for file in ("panel_core.c", "panel_core.h", "host_main.c"):
        assert file in text
        assert (FIRMWARE / file).is_file()


def test_probe_and_doctor_know_a_panel_that_holds_its_own_terminal(made: Path) -> None:
    async def body() -> None:
        panel = await asyncio.to_thread(PanelProgram, made)
        status, out, _ = await bridge("probe", panel.path)
        assert (status, "reference panel, firmware 1.0" in out) == (0, True), out
        status, out, _ = await bridge("doctor", panel.path, "--seconds", "2")
        assert "is held by" not in flat(out)
        assert "reference panel, firmware 1.0, answers at 115200 8N1" in flat(out)
        assert status == 0, out
        panel.kill()

    drive(body)


def test_make_bench_runs_every_bench() -> None:
    if shutil.which("make") is None:
        pytest.skip("no make: apt-get install make")
    said = subprocess.run(["make", "-n", "bench"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    names = [path.stem.removeprefix("bench_") for path in (ROOT / "tests/bench").glob("bench_*.py")]
    assert len(names) >= 3
    assert f"for one in {' '.join(sorted(names))};" in said
    readme = (ROOT / "tests/README.md").read_text()
    assert all(f"BENCH={name}" in readme for name in names)
