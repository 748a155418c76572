"""``tabled record`` from a terminal."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from tabled.sensing.recorder import KEEP_SUFFIX
from tabled.sensing.recording import Facts, Note, Recording, Still, write
from tabled.shell.cli import main
from tests.sensing.support import PERIOD_NS, picture
from tests.sensing.test_camera import film
from tests.shell.test_config import GOOD


def config(folder: Path, *camera: str) -> str:
    path = folder / "table.toml"
    path.write_text(GOOD + "".join(f"{line}\n" for line in camera), encoding="utf-8")
    return str(path)


def tabled(*words: object) -> Result:
    return CliRunner().invoke(main, ["record", *map(str, words)])


def test_it_records_from_the_configured_camera_and_lists_and_shows_it(tmp_path: Path) -> None:
    film(tmp_path, 30, 5)
    table = config(tmp_path, "[camera]", 'source = "file:film.mcap"', "size = [96, 64]", 'record = "kept"')
    done = tabled("--config", table, "--seconds", 60, "--reason", "a test/../x")
    assert done.exit_code == 0, done.output
    assert "30 frames" in done.output
    (path,) = (tmp_path / "kept").iterdir()
    assert path.name.endswith("-a-test-x.mcap")
    recording = Recording.open(path)
    assert [f.jpeg for f in recording.frames()] == [picture(n) for n in range(30)]
    path.with_name(path.name + KEEP_SUFFIX).touch()
    for words in (["list", "--config", table], ["list", tmp_path / "kept"]):
        listed = tabled(*words)
        assert f"* {path.name}" in listed.output
        assert "30 frames" in listed.output
        assert "1 recordings" in listed.output
    shown = tabled("show", path)
    assert shown.exit_code == 0, shown.output
    assert "club/t7, a test/../x" in shown.output
    assert "/camera" in shown.output
    assert "median 5.0 ms" in shown.output


def test_so_many_seconds_are_recorded_and_no_more(tmp_path: Path) -> None:
    film(tmp_path, 4000, 5)
    table = config(tmp_path, "[camera]", 'source = "file:film.mcap"', "size = [96, 64]", 'record = "kept"')
    done = tabled("--config", table, "--seconds", 0.2)
    assert done.exit_code == 0, done.output
    (path,) = (tmp_path / "kept").iterdir()
    assert 1 <= len(Recording.open(path).stamps_ns) < 4000


def test_rulings_in_a_recording_are_shown(tmp_path: Path) -> None:
    path = tmp_path / "r.mcap"
    ruling = Note(6 * 10**9, "outcome", b'{"kind":"ruling","position":412,"ruling":{"action":"call"}}')
    asked = Note(7 * 10**9, "outcome", b'{"kind":"question","position":420,"reason":{"code":"ask_one_motion"}}')
    facts = Facts(site="s", table="t", reason="floor", wall_offset_ns=1_769_860_800 * 10**9, dropped=3)
    write(path, facts, [Still(5 * 10**9 + n * PERIOD_NS, picture(n)) for n in range(2)], [ruling, asked])
    shown = tabled("show", path).output
    assert "2026-01-31 12:00:06.000 ruling call (entry 412)" in shown
    assert "question ask_one_motion (entry 420)" in shown
    assert "3 frames and notes had no room" in shown


def test_a_folder_with_a_damaged_recording_is_listed_whole(tmp_path: Path) -> None:
    (tmp_path / "bad.mcap").write_bytes(b"no")
    listed = tabled("list", tmp_path)
    assert listed.exit_code == 0
    assert "bad.mcap" in listed.output
    assert "cannot be read" in listed.output


@pytest.mark.parametrize(
    ("camera", "says"),
    [
        ([], "give it [camera] source and record"),
        (["[camera]", 'source = "/dev/video0"'], "give it [camera] source and record"),
        (["[camera]", 'source = "file:none.avi"', 'record = "kept"'], "is not there"),
        (["[camera]", 'source = "file:table.toml"', 'record = "kept"'], "give [camera] source a video"),
    ],
)
def test_what_cannot_be_recorded_is_one_line(tmp_path: Path, camera: list[str], says: str) -> None:
    done = tabled("--config", config(tmp_path, *camera))
    assert done.exit_code == 1
    assert says in done.output
    assert len(done.output.strip().splitlines()) == 1


def test_without_a_configuration_it_says_what_to_give() -> None:
    assert "--config table.toml" in tabled().output
    assert "--config table.toml" in tabled("list").output
    assert tabled("show", "none.mcap").exit_code == 1
