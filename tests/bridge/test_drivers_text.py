"""DRIVERS.md does what it says: its driver passes its tests, and is one to every command once its package is there."""

from __future__ import annotations

import asyncio
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from tests.bridge.rig import drive
from tests.bridge.test_cli import Answering, flat

ROOT = Path(__file__).parents[2]
TEXT = ROOT / "firmware_bridge" / "DRIVERS.md"


def files() -> dict[str, str]:
    return dict(re.findall(r"<!-- file (\S+) -->\n```\w+\n(.*?)```", TEXT.read_text(), re.DOTALL))


def install(site: Path, project: dict[str, Any]) -> None:
    """What an installer leaves behind: the files, and the metadata with the entry points."""
    site.mkdir(exist_ok=True)
    for name, text in files().items():
        (site / name).write_text(text)
    info = site / f"{project['name'].replace('-', '_')}-{project['version']}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n")
    groups = [
        f"[{group}]\n" + "".join(f"{k} = {v}\n" for k, v in points.items())
        for group, points in project["entry-points"].items()
    ]
    (info / "entry_points.txt").write_text("\n".join(groups))


@pytest.fixture
def site(tmp_path: Path) -> Path:
    folder = tmp_path / "site"
    install(folder, tomllib.loads(files()["pyproject.toml"])["project"])
    return folder


def environment(site: Path) -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": f"{site}{os.pathsep}{ROOT}"}


def run(site: Path, *words: str) -> tuple[int, str]:
    done = subprocess.run(
        [sys.executable, "-m", *words], cwd=site, env=environment(site), capture_output=True, text=True, check=False
    )
    assert "Traceback" not in done.stderr, done.stderr
    return done.returncode, flat(done.stdout + done.stderr)


async def bridge(site: Path, *words: str) -> tuple[int, str]:
    return await asyncio.to_thread(run, site, "firmware_bridge", *words)


def test_its_own_tests_pass(site: Path) -> None:
    status, out = run(site, "pytest", "-q", "-p", "no:cacheprovider", "test_acme.py")
    assert status == 0, out
    passed = re.search(r"(\d+) passed", out)
    assert passed is not None
    assert int(passed[1]) >= 25


def acme(data: bytes, _baud: int) -> bytes:
    """The reader of the text, as its test has it, with one chip on antenna 2."""
    out = b""
    for asked in data.decode().split():
        said = "V 1.4 " if asked == "V" else f"{asked[1:]} {'E00401500000000A' if asked == 'A2' else ''} "
        checksum = 0
        for byte in said.encode():
            checksum ^= byte
        out += b"%s*%02X\n" % (said.encode(), checksum)
    return out


def test_every_command_knows_it(site: Path) -> None:
    async def body() -> None:
        device = Answering(acme)
        status, out = await bridge(site, "probe", device.path, "-d", "acme")
        assert (status, "Acme 2, firmware 1.4" in out) == (0, True), out
        status, out = await bridge(site, "doctor", device.path, "-d", "acme", "--seconds", "3")
        assert (status, "ok Acme 2, firmware 1.4, answers" in out) == (0, True), out
        status, out = await bridge(
            site, "dump", "-d", "acme", "-p", device.path, "-o", "antennas=[1,2]", "--seconds", "2"
        )
        assert "antenna 2 1 tags E00401500000000A" in out
        assert "antenna 1 0 tags" in out
        status, out = await bridge(site, "options", "acme")
        assert "answer_ms a whole number, default 100 How long an answer may take, in milliseconds; 1 to 300." in out
        capture = b"V\n" + acme(b"V", 0) + acme(b"A2", 0)
        status, out = await bridge(site, "decode", capture.hex(), "--protocol", "acme")
        assert status == 0
        assert "0 2 none 56 0a 2 10 V 1.4 12 23 2 E00401500000000A 2 frames" in out
        status, out = await bridge(site, "options")
        assert out.split() == ["acme", "feig", "keypad", "metratec", "panel", "pepper", "streamdeck"]
        status, out = await bridge(site, "dump", "-d", "acme", "-p", device.path, "-o", "antennas=[9]")
        assert (status, "'antennas' must be between 1 and 4" in out) == (1, True)
        device.close()

    drive(body)


@pytest.mark.parametrize(
    ("points", "name", "says"),
    [
        ({"feig": "acme_reader:drive"}, "feig", "driver 'feig' is built in, and other 2.0 adds another of that name."),
        ({"acme": "acme_reader:drive"}, "acme", "driver 'acme' is added more than once, by"),
        ({"broken": "no_such_module:drive"}, "broken", "cannot be loaded"),
    ],
)
def test_a_name_stands_once_and_a_broken_package_is_one_line(
    site: Path, points: dict[str, str], name: str, says: str
) -> None:
    install(site, {"name": "other", "version": "2.0", "entry-points": {"tabled.drivers": points}})
    for words in (("dump", "-d", name, "-p", "/dev/x"), ("options", name)):
        status, out = run(site, "firmware_bridge", *words)
        assert (status, says in out) == (1, True), out
