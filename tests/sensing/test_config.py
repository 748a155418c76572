"""``[camera]`` in table.toml, the chips' third column, what a calibration gives: each mistake is one line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from calibration.files import save
from tabled.sensing import sections
from tabled.shell.calibrated import calibration_of, fusion_of
from tabled.shell.camera import begin_of, memory_of
from tabled.shell.config import Config, ConfigError, convert, load, load_registry
from tests.sensing.table import DEALERS, LENS, PLANE, zones
from tests.shell.test_config import GOOD

MIB = 1 << 20


def write(folder: Path, text: str) -> Path:
    path = folder / "table.toml"
    path.write_text(text, encoding="utf-8")
    return path


def with_camera(folder: Path, *lines: str) -> Config:
    return load(write(folder, GOOD + "[camera]\n" + "\n".join(lines) + "\n"))


def test_without_a_camera_everything_is_as_before(tmp_path: Path) -> None:
    config = load(write(tmp_path, GOOD))
    assert config.camera is None
    assert calibration_of(config) is None
    assert fusion_of(config, None) == config.fusion


def test_a_camera_loads_and_its_paths_are_relative_to_the_file(tmp_path: Path) -> None:
    config = with_camera(
        tmp_path, 'source = "file:a.avi"', 'calibration = "cal"', 'record = "kept"', "record_seconds = 20"
    )
    camera = config.camera
    assert camera is not None
    assert (camera.source, camera.calibration, camera.record) == (
        f"file:{tmp_path}/a.avi",
        str(tmp_path / "cal"),
        str(tmp_path / "kept"),
    )
    begin = begin_of(camera, "digest")
    assert (begin.device, begin.width, begin.height, begin.fps) == ("camera", 1280, 720, 60)
    assert (begin.record_ns, begin.record_bytes, begin.digest) == (20 * 10**9, camera.record_memory_mb * MIB, "digest")
    assert begin.stall_ns == 500_000_000
    assert begin.address_space == 2 * memory_of(camera)
    absolute = with_camera(tmp_path, 'source = "/dev/video2"', "fps = 2").camera
    assert absolute is not None
    assert absolute.source == "/dev/video2"
    assert begin_of(absolute, "").stall_ns == 5 * 10**9, "ten pictures of a slow camera"


@pytest.mark.parametrize(
    ("lines", "wanted"),
    [
        ([], ["key `source` is missing", "in camera"]),
        (['source = "0"'], ["[camera] source '0' is no camera", '"/dev/video0"']),
        (['source = "file:"'], ["is no camera"]),
        (['source = ""'], ["in camera.source"]),
        (['source = "/dev/video0"', "sise = [1, 2]"], ["unknown key `sise`", "in camera"]),
        (['source = "/dev/video0"', "size = [1280]"], ["in camera.size"]),
        (['source = "/dev/video0"', "size = [0, 720]"], ["in camera.size"]),
        (['source = "/dev/video0"', 'size = "720p"'], ["in camera.size"]),
        (['source = "/dev/video0"', "fps = 0"], ["in camera.fps"]),
        (['source = "/dev/video0"', "fps = 29.97"], ["in camera.fps"]),
        (['source = "/dev/video0"', "exposure_us = -1"], ["in camera.exposure_us"]),
        (['source = "/dev/video0"', "record_seconds = 3600"], ["in camera.record_seconds"]),
        (['source = "/dev/video0"', "record_quota_mb = 1"], ["in camera.record_quota_mb"]),
        (['source = "/dev/video0"', "memory_mb = 1"], ["in camera.memory_mb"]),
        (['source = "/dev/video0"', 'id = "panel"'], ["'panel' like the camera", "another id"]),
        (['source = "/dev/video0"', 'record = "a\\u0000"'], ["NUL character"]),
    ],
)
def test_a_mistake_is_one_line_that_names_the_key(tmp_path: Path, lines: list[str], wanted: list[str]) -> None:
    with pytest.raises(ConfigError) as caught:
        with_camera(tmp_path, *lines)
    text = str(caught.value)
    assert "\n" not in text
    for part in wanted:
        assert part in text


# -- the calibration ---------------------------------------------------------------------------------


def measured(folder: Path, *values: Any, seats: tuple[str, ...] = ("1", "2")) -> Path:
    for value in (LENS, PLANE, zones(*seats), *values):
        save(folder / "cal", value)
    return folder / "cal"


def camera(folder: Path, *more: str) -> Config:
    lines = [x for x in more if not x.startswith("[")]
    return with_camera(folder, 'source = "/dev/video0"', "size = [96, 64]", 'calibration = "cal"', *lines)


def test_a_calibration_that_fits_is_taken_with_its_digest(tmp_path: Path) -> None:
    folder = measured(tmp_path)
    found = calibration_of(camera(tmp_path))
    assert found is not None
    assert found.digest == sections.load(folder).digest != ""


@pytest.mark.parametrize("name", ["lens", "plane", "zones"])
def test_a_section_that_is_missing_is_named_with_its_step(tmp_path: Path, name: str) -> None:
    (measured(tmp_path) / f"{name}.json").unlink()
    with pytest.raises(ConfigError, match=rf"has no {name}\.json; measure it with 'tabled calibrate {name}'"):
        calibration_of(camera(tmp_path))


def test_a_folder_that_is_not_there_or_damaged_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"\[camera\] calibration: .*tabled calibrate"):
        calibration_of(camera(tmp_path))
    (measured(tmp_path) / "zones.json").write_text("{}", encoding="ascii")
    with pytest.raises(ConfigError, match=r"zones\.json"):
        calibration_of(camera(tmp_path))


def test_a_calibration_of_another_size_or_table_is_refused(tmp_path: Path) -> None:
    measured(tmp_path, seats=("1", "2", "9"))
    with pytest.raises(ConfigError, match=r"zones\.json has seat 9, the table has 2"):
        calibration_of(camera(tmp_path))
    other = with_camera(tmp_path, 'source = "/dev/video0"', 'calibration = "cal"')
    with pytest.raises(ConfigError, match=r"measured at 96x64; set size = \[96, 64\]"):
        calibration_of(other)


def test_a_dealers_own_reaction_span_holds(tmp_path: Path) -> None:
    measured(tmp_path, DEALERS)
    text = GOOD.replace("seats = 2", 'seats = 2\ndealer = "Ada"')
    text += '[camera]\nsource = "/dev/video0"\nsize = [96, 64]\ncalibration = "cal"\n'
    config = load(write(tmp_path, text))
    fusion = fusion_of(config, calibration_of(config))
    assert (fusion.reaction_min_ms, fusion.reaction_max_ms, fusion.motion_close_ms) == (310, 990, 700)
    stranger = load(write(tmp_path, text.replace('"Ada"', '"Bo"')))
    with pytest.raises(ConfigError, match=r"'Bo' did not do the exercise \(dealers\.json knows Ada\)"):
        fusion_of(stranger, calibration_of(stranger))
    with pytest.raises(ConfigError, match="both say how fast the dealer is"):
        load(write(tmp_path, text.replace("motion_close_ms = 700", "reaction_max_ms = 700")))
    with pytest.raises(ConfigError, match=r"set \[camera\] calibration"):
        load(write(tmp_path, GOOD.replace("seats = 2", 'seats = 2\ndealer = "Ada"')))


# -- chips -------------------------------------------------------------------------------------------

HEAD = "uid,denomination,status\n"


def chips(folder: Path, text: str) -> Path:
    path = folder / "chips.csv"
    path.write_text(text, encoding="utf-8")
    return path


def test_chips_that_are_no_money_are_barred_and_not_counted(tmp_path: Path) -> None:
    rows = ["A" * 16 + ",25,issued", "B" * 16 + ",25,", "C" * 16 + ",25", "D" * 16 + ",25,Stolen", "E" * 16 + ",5,void"]
    found = load_registry(chips(tmp_path, HEAD + "\n".join([*rows, "F" * 16 + ",5,cage"])))
    assert found.values == {"A" * 16: 25, "B" * 16: 25, "C" * 16: 25}
    assert found.barred == {"D" * 16: "stolen", "E" * 16: "void", "F" * 16: "cage"}


def test_a_third_column_of_another_name_says_nothing_of_the_chip(tmp_path: Path) -> None:
    found = load_registry(chips(tmp_path, "uid,denomination,colour\n" + "A" * 16 + ",25,stolen\n"))
    assert (found.values, found.barred) == ({"A" * 16: 25}, {})


@pytest.mark.parametrize(
    ("rows", "says"),
    [
        ("A" * 16 + ",25,lost\n", "row 2: 'lost' is no status; write one of issued, cage, void, stolen"),
        ("A" * 16 + ",25,void\n" + "A" * 16 + ",25,issued\n", "stands in the file twice"),
        ("A" * 16 + ",25,void\n", "holds no chip that is in play"),
    ],
)
def test_a_wrong_status_is_named_with_its_row(tmp_path: Path, rows: str, says: str) -> None:
    with pytest.raises(ConfigError, match=says):
        load_registry(chips(tmp_path, HEAD + rows))


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("uid,denomination\n" + "A" * 16 + ",1,000\n", "row 2: has more cells than the header; write 1000, not 1,000"),
        ("uid,denomination,denomination\n" + "A" * 16 + ",1,5\n", "each name once"),
        ("uid;denomination\n" + "A" * 16 + ";1\n", "with commas"),
    ],
)
def test_a_cell_too_many_is_no_smaller_chip(tmp_path: Path, text: str, says: str) -> None:
    with pytest.raises(ConfigError, match=says):
        load_registry(chips(tmp_path, text))


def test_the_status_is_found_by_its_name_wherever_its_column_is(tmp_path: Path) -> None:
    rows = "A" * 16 + ",25,2026,stolen\n" + "B" * 16 + ",25,2026\n" + "C" * 16 + ",25,,,\n"
    found = load_registry(chips(tmp_path, "uid,denomination,series,status\n" + rows))
    assert (found.values, found.barred) == ({"B" * 16: 25, "C" * 16: 25}, {"A" * 16: "stolen"})


def test_the_configuration_tree_is_checked_without_a_file_too() -> None:
    with pytest.raises(ConfigError, match="in camera"):
        convert({"camera": {}}, "test")
