"""Each thing that is not as it was measured has a finding of its own, in three languages, with the step to repeat."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner
from msgspec.structs import replace

from calibration import check as check_module
from calibration.check import PANEL_MS, SPREAD_NS, AntennaNow, CameraNow, Finding, Snapshot, check
from calibration.cli import calibrate
from calibration.files import save
from calibration.plan import steps
from hw_sim.exercise import Stand, Truth
from tabled.model.calibration import (
    AntennaRead,
    Antennas,
    Calibration,
    CameraTime,
    Lens,
    Marker,
    Plane,
    Point,
)
from tabled.outlets.health import say, sentences
from tabled.outlets.wording import LANGUAGES
from tests.calibration.robot import zones

LENS = Lens(
    width_px=640, height_px=480, fx_upx=1, fy_upx=1, cx_upx=1, cy_upx=1, distortion_e9=(0,) * 4, rms_upx=1, views=9
)
SQUARE = tuple(Point(x, y) for x, y in ((0, 0), (1, 0), (1, 1), (0, 1)))
MARKERS = tuple(Marker(id=n, corners=SQUARE, seen_upx=((0, 0),) * 4) for n in range(4))
PLANE = Plane(rotation_nrad=(0, 0, 0), translation_um=(0, 0, 1), markers=MARKERS, residual_um=1)
TIME = CameraTime(offset_ns=0, spread_ns=SPREAD_NS, readout_ns=0, exposure_ns=0)


def read(n: int, place: str) -> AntennaRead:
    return AntennaRead(device="reader", antenna=n, place=place, lone_miss_ppm=0, stack_miss_ppm=0, sweep_ns=1)


GOOD = Calibration(
    lens=LENS,
    plane=PLANE,
    zones=zones(2),
    time=TIME,
    antennas=Antennas(antennas=(read(1, "bet:1"), read(2, "bet:2"))),
)
NOW = Snapshot(
    antennas=tuple(AntennaNow(device="reader", antenna=n, place=f"bet:{n}", clean_ms=100) for n in (1, 2)),
    panels={"panel": PANEL_MS},
    camera=CameraNow(markers_seen=4, moved_upx=1_000_000),
)
FIRST = NOW.antennas[0]


def with_first(**changes: object) -> Snapshot:
    return replace(NOW, antennas=(replace(FIRST, **changes), NOW.antennas[1]))


def test_a_table_that_stands_as_it_was_measured_has_no_finding() -> None:
    assert check(GOOD, NOW) == ()
    assert check(Calibration(), Snapshot()) == ()


@pytest.mark.parametrize(
    ("calibration", "now", "code", "step", "fault"),
    [
        (replace(GOOD, lens=None), NOW, "calibration_missing", "lens", False),
        (GOOD, replace(NOW, camera=CameraNow(distrusted={"": "moved"})), "calibration_knocked", "plane", False),
        (
            GOOD,
            replace(NOW, camera=CameraNow(markers_seen=4, moved_upx=1_500_001)),
            "calibration_knocked",
            "plane",
            False,
        ),
        (GOOD, replace(NOW, camera=CameraNow(distrusted={"": "focus"})), "calibration_focus", "lens", False),
        (GOOD, replace(NOW, camera=CameraNow(markers_seen=3)), "calibration_markers_hidden", "plane", False),
        (GOOD, with_first(clean_ms=10_001), "calibration_antenna_dead", "antennas", True),
        (GOOD, with_first(unread=3), "calibration_antenna_unread", "antennas", True),
        (GOOD, with_first(place="bet:9"), "calibration_antenna_rewired", "antennas", False),
        (GOOD, with_first(antenna=7), "calibration_antenna_unmeasured", "antennas", False),
        (replace(GOOD, time=replace(TIME, spread_ns=SPREAD_NS + 1)), NOW, "calibration_clock_spread", "time", False),
        (GOOD, replace(NOW, panels={"panel": PANEL_MS + 1}), "calibration_panel_clock", "time", False),
    ],
)
def test_each_has_its_finding(calibration: Calibration, now: Snapshot, code: str, step: str, fault: bool) -> None:
    (found,) = check(calibration, now)
    assert (found.reason.code, found.step, found.fault) == (code, step, fault)
    assert step in {s.name for s in steps()}
    for lang in LANGUAGES:
        assert f"'tabled calibrate {step}'" in say(found.reason, lang)


def test_every_code_has_its_sentence_and_every_sentence_its_code() -> None:
    named = {v for k, v in vars(check_module).items() if k.isupper() and isinstance(v, str)}
    assert named == {code for code in sentences("en") if code.startswith("calibration_")}


def test_limits_are_not_findings_and_an_unknown_age_is_none() -> None:
    assert check(GOOD, with_first(clean_ms=10_000, unread=2)) == ()
    assert check(GOOD, with_first(clean_ms=None)) == ()
    assert check(GOOD, replace(NOW, camera=CameraNow(distrusted={"1": "occluded"}))) == ()


def test_all_findings_are_told_at_once() -> None:
    now = replace(with_first(clean_ms=60_000), camera=CameraNow(distrusted={"": "moved"}), panels={"panel": 99})
    found: tuple[Finding, ...] = check(replace(GOOD, zones=None), now)
    assert [f.step for f in found] == ["zones", "plane", "antennas", "time"]


# -- the command -------------------------------------------------------------------------------------


def run(*words: object) -> tuple[int, str]:
    result = CliRunner().invoke(calibrate, [str(w) for w in words])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result.exit_code, result.output


def test_the_command_looks_at_the_devices_and_names_the_step(tmp_path: Path) -> None:
    folder = tmp_path / "calibration"
    save(folder, Antennas(antennas=(read(1, "bet:1"), read(2, "bet:2"))))
    with Stand(tmp_path, Truth(), seats=2) as stand:
        config = stand.config()
        code, said = run("check", "--folder", folder, "--config", config, "--seconds", 1)
        assert (code, "all stands as it was measured" in said) == (0, True)
        save(folder, Antennas(antennas=(read(1, "bet:2"), read(2, "bet:1"))))
        code, said = run("check", "--folder", folder, "--config", config, "--seconds", 1)
        assert code == 1
        assert "Antenna 1 of reader was measured as bet:2, the configuration says bet:1" in said
        code, said = run("check", "--folder", folder)
        assert (code, "nothing else was looked at" in said, "all stands" in said) == (0, True, False)
    (folder / "antennas.json").write_text("{}")
    code, said = run("check", "--folder", folder)
    assert (code, "antennas.json: tabled: is missing" in said) == (2, True)


def test_nothing_stands_where_nothing_was_measured(tmp_path: Path) -> None:
    code, said = run("check", "--folder", tmp_path)
    assert (code, "nothing was measured yet" in said, "all stands" in said) == (2, True, False)
