"""Lens, plane, zones and palette through the commands, on the simulator's pictures, against the simulator's truth."""

from __future__ import annotations

import shutil
from pathlib import Path

import msgspec
import numpy as np
import pytest
from click.testing import CliRunner, Result

from calibration import colours
from calibration.optics import Optics, Pose, felt
from calibration.pictures import read_file
from calibration.zones import name
from hw_sim.scene.scene import camera
from tabled.sensing.colours import Colours
from tabled.sensing.sections import load
from tabled.shell.cli import main
from tests.calibration import camera_simulated as sim

SIZE = ("--size-mm", f"{sim.MARKER_MM:g}")
pytestmark = pytest.mark.slow


def calibrate(*words: str) -> Result:
    return CliRunner().invoke(main, ["calibrate", *words])


@pytest.fixture(scope="module")
def measured(simulated: Path) -> Path:
    """A folder with the four sections, each made by its command."""
    folder = simulated / "measured"
    for step in steps_of(simulated):
        result = calibrate(*step, "--folder", str(folder))
        assert result.exit_code == 0, result.output
    return folder


def steps_of(simulated: Path) -> tuple[tuple[str, ...], ...]:
    """The four steps with their options."""
    return (
        ("lens", "--from", str(simulated / "views"), "--board", sim.BOARD),
        (
            "plane",
            "--from",
            str(simulated / "table.jpg"),
            "--markers",
            str(simulated / "markers.csv"),
            "--size-mm",
            "80",
        ),
        ("zones", "--draft", str(simulated / "drawn.json")),
        ("palette", "--from", str(simulated / "piles.jpg"), "--piles", (simulated / "piles.txt").read_text()),
    )


@pytest.mark.parametrize("damaged", ["lens", "plane", "zones", "palette"])
def test_a_damaged_file_is_made_again_by_its_own_step_and_stops_no_other(
    measured: Path, simulated: Path, tmp_path: Path, damaged: str
) -> None:
    folder = tmp_path / "table"
    shutil.copytree(measured, folder)
    (folder / "palette.json").write_text("{")  # needed by none of them
    path = folder / f"{damaged}.json"
    path.write_bytes((measured / path.name).read_bytes()[:150])
    path.with_name(f"{path.name}.bak").write_bytes((measured / path.name).read_bytes())
    result = calibrate(*next(step for step in steps_of(simulated) if step[0] == damaged), "--folder", str(folder))
    assert result.exit_code == 0, result.output
    assert path.read_bytes() == (measured / path.name).read_bytes()
    assert path.with_name(f"{path.name}.bak").read_bytes() == (measured / path.name).read_bytes()


def test_the_lens_is_good_to_three_tenths_of_a_pixel(measured: Path) -> None:
    lens = load(measured).lens
    assert lens is not None
    assert lens.rms_upx <= 300_000
    assert lens.views >= 12


def test_every_zone_is_where_it_is_to_two_millimetres(measured: Path) -> None:
    """Where the true camera sees a zone's corner, the calibration must say the corner's place."""
    whole = load(measured)
    assert whole.lens is not None
    assert whole.plane is not None
    assert whole.zones is not None
    optics, pose = Optics.of(whole.lens), Pose.of(whole.plane)
    eye = camera(sim.SEED, *sim.SIZE)
    worst: dict[str, float] = {}
    saved = {(z.kind, z.seat): z for z in whole.zones.zones}
    for zone in sim.truth().zones:
        places = np.array(zone.outline)
        seen = eye.pixels(np.column_stack([places, np.zeros(len(places))]))
        said = felt(optics, pose, seen)
        drawn = np.array([[p.x_um, p.y_um] for p in saved[zone.kind, zone.seat].outline]) / 1000
        # What sensing takes for the saved corner lies where the camera sees it: drawing and seeing both count.
        worst[f"{zone.kind}:{zone.seat}"] = float(
            np.hypot(*(said - places).T).max() + np.hypot(*(drawn - places).T).max()
        )
    assert max(worst.values()) <= 2.0, worst
    assert abs(pose.eye[2] - eye.at[2]) < 5


def test_the_palette_names_chips_in_another_picture(measured: Path, tmp_path: Path) -> None:
    """Other seats, other places, two chips instead of five: each is named by the colours that were learnt."""
    where = sim.piles_file(tmp_path / "other.jpg", 2, turned=True)
    whole = load(measured)
    assert whole.lens is not None
    assert whole.plane is not None
    assert whole.zones is not None
    assert whole.palette is not None
    shot, named = read_file(tmp_path / "other.jpg"), Colours(whole.palette)
    told = {}
    for zone in whole.zones.zones:
        if name(zone) in where:
            top = colours.top(shot, Optics.of(whole.lens), Pose.of(whole.plane), zone, 39.0)
            told[name(zone)] = named.value(top.face, top.felt)[0]
    assert told == where


def test_the_files_are_listed_with_their_reports(measured: Path) -> None:
    result = calibrate("list", "--folder", str(measured))
    for step in ("lens", "plane", "zones", "palette"):
        assert f"[✓] {step}" in result.output
        assert (measured / "plots" / f"{step}.json").is_file()
    assert "[ ] antennas" in result.output


def test_a_step_before_its_time_says_which_comes_first(tmp_path: Path) -> None:
    result = calibrate("zones", "--folder", str(tmp_path))
    assert result.exit_code == 2
    assert "needs 'lens' first" in result.output
    assert "Traceback" not in result.output


def test_swapped_markers_and_a_mirrored_picture_at_the_command(measured: Path, simulated: Path, tmp_path: Path) -> None:
    rows = (simulated / "markers.csv").read_text().splitlines()
    swapped = [rows[0], rows[1].replace("0,", "4,", 1), *rows[2:5], rows[5].replace("4,", "0,", 1), *rows[6:]]
    before = (measured / "plane.json").read_bytes()
    at = ["--folder", str(measured), "--from", str(simulated / "table.jpg"), *SIZE]
    result = calibrate("plane", "--markers", "\n".join(swapped), *at)
    assert result.exit_code == 2
    assert "markers 0 and 4 are swapped" in result.output
    assert (measured / "plane.json").read_bytes() == before


def test_a_damaged_file_is_named_and_its_copy_mends_it(measured: Path, tmp_path: Path) -> None:
    for file in ("lens.json", "plane.json"):
        (tmp_path / file).write_bytes((measured / file).read_bytes())
    (tmp_path / "lens.json").write_bytes((measured / "lens.json").read_bytes()[:-30])
    result = calibrate("zones", "--folder", str(tmp_path))
    assert result.exit_code == 2
    assert "lens.json: is not whole" in result.output
    assert "lens.json.bak" in result.output
    result = calibrate("list", "--folder", str(tmp_path))
    assert "[!] lens" in result.output
    assert msgspec.json.decode((tmp_path / "plane.json").read_bytes())["tabled"] == "plane"
