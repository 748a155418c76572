"""The plane step: markers, points and tape give the true pose back, and each wrong input has its own message."""

from __future__ import annotations

import itertools
import math
from functools import cache
from pathlib import Path

import msgspec
import numpy as np
import pytest

from calibration import files, marks, places, plane, survey_markers
from calibration.optics import Optics, Pose, felt, pixels
from calibration.pictures import Shot, png
from calibration.plane import Place, PlaneResult
from calibration.step_plane import STEP, stale
from calibration.steps import StepError
from tabled.model.calibration import Lens
from tests.calibration.camera_synthetic import Floats, Image, Table
from tests.calibration.talk import Quiet

TABLE = Table()
OPTICS = Optics(TABLE.camera.size, TABLE.camera.matrix, TABLE.camera.distortion)
TRUE = Pose(*TABLE.pose)
LIST = {n: Place(x, y) for n, (x, y, _) in TABLE.places.items()}
FELT = np.stack(np.meshgrid(np.linspace(-950, 950, 9), np.linspace(-450, 450, 5)), axis=-1).reshape(-1, 2)


@cache
def picture() -> Image:
    return TABLE.picture()


@cache
def seen() -> dict[int, Floats]:
    return marks.find([Shot("table", picture())], OPTICS, "4X4_50")


def error_mm(result: PlaneResult) -> float:
    """Greatest error over the felt, as a place is reported that is truly elsewhere."""
    return float(np.hypot(*(felt(OPTICS, result.pose, pixels(OPTICS, TRUE, FELT)) - FELT).T).max())


def refused(chosen: dict[int, Place], size: float = 90.0, corners: dict[int, Floats] | None = None) -> StepError:
    with pytest.raises(StepError) as refusal:
        plane.from_markers(OPTICS, seen() if corners is None else corners, chosen, size)
    return refusal.value


def test_all_markers_are_seen_to_a_tenth_of_a_pixel() -> None:
    assert sorted(seen()) == sorted(TABLE.places)
    for number, corners in seen().items():
        x, y, turn = TABLE.places[number]
        true = pixels(OPTICS, TRUE, plane.corners_of(Place(x, y), turn, 90.0))
        assert np.abs(corners - true).max() < 0.15, number


def test_middles_measured_with_a_tape_give_the_pose() -> None:
    result = plane.from_markers(OPTICS, seen(), LIST, 90.0)
    assert error_mm(result) < 0.3
    assert result.rms_mm < 0.3
    assert abs(result.size_mm - 90) < 0.6
    assert np.abs(result.pose.eye - TABLE.eye).max() < 2.0
    for marker in result.plane.markers:
        x, y, turn = TABLE.places[marker.id]
        true = plane.corners_of(Place(x, y), turn, 90.0)
        said = np.array([[p.x_um, p.y_um] for p in marker.corners]) / 1000
        assert np.abs(said - true).max() < 0.6, "corners clockwise from the print's top left"


def test_a_tape_that_is_off_by_a_millimetre_costs_about_that() -> None:
    rng = np.random.default_rng(5)
    errors = []
    for _ in range(6):
        off = {n: Place(p.x + rng.normal(0, 1), p.y + rng.normal(0, 1)) for n, p in LIST.items()}
        result = plane.from_markers(OPTICS, seen(), off, 90.0)
        errors.append(error_mm(result))
        spread = plane.spread_mm(OPTICS, result.pose, plane.pose_covariance(OPTICS, result.plane), FELT)
        assert 0.2 < spread.max() < 5
        assert error_mm(result) < 5 * spread.max(), "the error that is told is of the right size"
    assert max(errors) < 4


def test_points_without_markers() -> None:
    at = [(-800.0, -400.0), (800.0, -380.0), (780.0, 400.0), (-790.0, 410.0), (0.0, 0.0)]
    result = plane.from_points(OPTICS, at, pixels(OPTICS, TRUE, at))
    assert error_mm(result) < 0.05
    assert [m.id for m in result.plane.markers] == [-1, -2, -3, -4, -5]
    files_can_hold = files.decode(files.encode(result.plane), "plane")
    assert files_can_hold == result.plane
    with pytest.raises(StepError) as refusal:
        plane.from_points(OPTICS, at[:3], pixels(OPTICS, TRUE, at[:3]))
    assert refusal.value.code == "few-markers"


def test_only_distances_with_a_tape() -> None:
    def apart(a: int, b: int) -> float:
        return math.dist(TABLE.places[a][:2], TABLE.places[b][:2])

    tape = {(0, 4): apart(0, 4), (0, 3): apart(0, 3) + 0.7, (1, 4): apart(1, 4) - 0.5}
    result = survey_markers.survey(OPTICS, seen(), tape, 90.4)
    found = {n: (p.x, p.y) for n, p in result.places.items()}
    for (a, here), (b, there) in itertools.combinations(found.items(), 2):
        assert abs(math.dist(here, there) - apart(a, b)) < 1.5
    assert found[0][1] == pytest.approx(found[4][1], abs=0.05)
    assert found[0][0] == pytest.approx(-found[4][0], abs=0.05), "the first distance is the x axis about its middle"
    assert result.pose.eye[2] > 0
    with pytest.raises(StepError, match=r"0-3 does not fit") as refusal:
        survey_markers.survey(OPTICS, seen(), {**tape, (0, 3): apart(0, 3) + 40}, 90.0)
    assert refusal.value.code == "tape"
    with pytest.raises(StepError, match="marker 9 was measured and is not seen"):
        survey_markers.survey(OPTICS, seen(), {(0, 9): 500.0}, 90.0)


def test_swapped_markers_are_named() -> None:
    problem = refused({**LIST, 1: LIST[3], 3: LIST[1]})
    assert problem.code == "swapped"
    assert "markers 1 and 3 are swapped" in str(problem)


def test_a_marker_that_lies_elsewhere_is_named() -> None:
    problem = refused({**LIST, 2: Place(LIST[2].x + 45, LIST[2].y - 20)})
    assert problem.code == "misplaced"
    assert "marker 2 is not where" in str(problem)


def test_places_that_fit_nothing_name_the_worst() -> None:
    rng = np.random.default_rng(1)
    problem = refused({n: Place(p.x + rng.normal(0, 25), p.y + rng.normal(0, 25)) for n, p in LIST.items()})
    assert problem.code in ("residual", "misplaced", "swapped")


def test_too_few_and_others_than_on_the_list() -> None:
    problem = refused({n: LIST[n] for n in (0, 1, 2)} | {17: Place(0, 0)})
    assert problem.code == "few-markers"
    assert "not seen: 17" in str(problem)
    assert "not on the list: 3, 4, 5" in str(problem)


def test_places_in_a_line() -> None:
    line = {0: LIST[0], 4: LIST[4], 5: LIST[5], 1: Place(-300, -393)}
    assert refused(line).code == "collinear"


def test_left_handed_places() -> None:
    assert refused({n: Place(-p.x, p.y) for n, p in LIST.items()}).code == "left-handed"
    assert refused({n: Place(p.y, p.x) for n, p in LIST.items()}).code == "left-handed"


def test_a_wrong_size_of_the_markers() -> None:
    problem = refused(dict(LIST), 80.0)
    assert problem.code == "size"
    assert "not 80" in str(problem)


def test_inches_are_no_millimetres() -> None:
    assert refused({n: Place(p.x / 25.4, p.y / 25.4) for n, p in LIST.items()}).code in ("size", "residual")


def test_a_mirrored_picture() -> None:
    with pytest.raises(StepError, match=r"mirrored.*Switch off mirroring") as refusal:
        marks.find([Shot("m", np.ascontiguousarray(picture()[:, ::-1]))], OPTICS, "4X4_50")
    assert refusal.value.code == "mirrored"


def test_a_picture_of_another_size_a_marker_twice_and_a_moved_table() -> None:
    with pytest.raises(StepError, match="tabled calibrate lens") as refusal:
        marks.find([Shot("s", picture()[::2, ::2])], OPTICS, "4X4_50")
    assert refusal.value.code == "lens-size"
    twice = picture().copy()
    twice[430:520, 400:490] = twice[430:520, 107:197]
    with pytest.raises(StepError, match="marker 0 lies on the table twice"):
        marks.find([Shot("t", twice)], OPTICS, "4X4_50")
    with pytest.raises(StepError, match="moved between the pictures") as refusal:
        marks.find([Shot("a", picture()), Shot("b", np.roll(picture(), 7, axis=1))], OPTICS, "4X4_50")
    assert refusal.value.code == "moved"


def test_the_step_needs_a_lens_and_knows_when_it_is_stale(tmp_path: Path) -> None:
    lens = OPTICS.lens(0.1, 20)
    (tmp_path / "table.png").write_bytes(png(picture()))
    rows = "\n".join(f"{n},{p.x},{p.y}" for n, p in LIST.items())
    given = {o.name: o.default for o in STEP.options} | {"from": str(tmp_path / "table.png"), "markers": rows}
    folder = tmp_path / "table"
    files.save(folder, lens)
    assert STEP.done(folder).state == "open"
    outcome = STEP.run(Quiet(), folder, given)
    assert STEP.done(folder).state == "done"
    assert {p.name for p in outcome.pictures} == {"error", "markers", "felt"}
    read = files.decode((folder / "plane.json").read_bytes(), "plane")
    assert not stale(lens, read)
    other = msgspec.structs.replace(lens, cx_upx=lens.cx_upx + 9_000_000, distortion_e9=(0, 0, 0, 0, 0))
    assert isinstance(other, Lens)
    files.save(folder, other)
    assert STEP.done(folder).state == "again"
    with pytest.raises(StepError, match="say where the markers lie"):
        STEP.run(Quiet(), folder, given | {"markers": ""})


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("1,2", "three or four values"),
        ("1,2,x", "no length"),
        ("1,2,nan", "no length"),
        ("1.5,2,3", "no number of a marker"),
        ("1,2,3\n1,4,5", "twice"),
        ("\n".join(f"{n},1,{n}" for n in range(80)), "more than 64"),
        ("a.csv", "cannot be read"),
    ],
)
def test_lists_that_cannot_be_read(text: str, reason: str) -> None:
    with pytest.raises(StepError, match=reason):
        places.markers(text)


def test_lists_that_can(tmp_path: Path) -> None:
    (tmp_path / "m.csv").write_text("\ufeffid,x_mm,y_mm,turn\n# a note\n3, 10.5, -4, 90\n\n4,1,2\n", encoding="utf-8")
    assert places.markers(str(tmp_path / "m.csv")) == {3: Place(10.5, -4.0, math.pi / 2), 4: Place(1.0, 2.0)}
    assert places.points("1,2,3,4\n5,6,7,8") == ([(1, 2), (5, 6)], [(3, 4), (7, 8)])
    assert places.distances("0-3=1820, 1-4 = 1795.5;") == {(0, 3): 1820.0, (1, 4): 1795.5}
    for bad in ("0-0=500", "0-1=5", "0-1", "a-b=500"):
        with pytest.raises(StepError):
            places.distances(bad)
