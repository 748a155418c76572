"""The lens step: a known lens is found again, and each wrong input has its own message."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import cv2
import numpy as np
import pytest

from calibration import lens
from calibration.board import BOARDS, Board, Finder, Sighting, blur, parse
from calibration.optics import Optics
from calibration.pictures import Shot, decode, expand, gray, png
from calibration.step_lens import STEP
from calibration.steps import StepError
from calibration.views import MAX_BLUR_PX, Refused, View, Views, gaps
from tests.calibration.camera_synthetic import Camera, Image, board_image, board_views
from tests.calibration.talk import Quiet

BOARD = BOARDS["a4"]


@cache
def pictures() -> tuple[Image, ...]:
    return tuple(board_views(BOARD, Camera(), 18))


@cache
def collected() -> Views:
    views = Views(BOARD)
    for number, image in enumerate(pictures()):
        views.offer(Shot(f"view {number}", image))
    return views


def test_a_known_lens_is_found_again() -> None:
    views, truth = collected(), Camera()
    assert len(views.taken) == 18
    result = lens.calibrate(views)
    found = Optics.of(result.lens)
    assert result.fit.rms_px <= 0.15
    assert abs(found.matrix[0, 0] / truth.matrix[0, 0] - 1) < 1e-3
    assert np.abs(found.matrix[:2, 2] - truth.matrix[:2, 2]).max() < 1.5
    # What counts is where rays go, over the whole picture.
    grid = np.stack(np.meshgrid(np.linspace(20, 1260, 21), np.linspace(20, 700, 11)), axis=-1).reshape(-1, 2)
    true = Optics(truth.size, truth.matrix, truth.distortion).straight(grid)
    assert np.hypot(*(found.straight(grid) - true).T).max() * truth.matrix[0, 0] < 1.5
    assert result.lens.views == 18
    assert result.left_out == ()
    assert found.folds() < 0.01


def test_an_outlier_is_left_out_and_told() -> None:
    views = Views(BOARD)
    views.size, views.taken = collected().size, list(collected().taken)
    bad = views.taken[5]
    rng = np.random.default_rng(4)
    shaken = bad.seen.pixels + rng.normal(0, 1.5, bad.seen.pixels.shape)
    views.taken[5] = View(bad.name, _with(bad.seen, shaken), bad.blur_px)
    result = lens.calibrate(views)
    assert result.left_out[0][0].name == "view 5"
    assert len(result.left_out) <= 3
    assert any("view 5 was left out" in w for w in result.warnings)
    assert result.fit.rms_px < 0.15


def _with(seen: Sighting, pixels: np.ndarray) -> Sighting:
    return Sighting(ids=seen.ids, pixels=pixels, mm=seen.mm, markers=seen.markers)


def test_blur_is_measured_and_refused() -> None:
    found = []
    for sigma in (0.5, 1.0, 1.5):
        (image,) = board_views(BOARD, Camera(), 1, seed=1, far_mm=(330, 331), blur=sigma)
        seen = Finder(BOARD).find(gray(image))
        assert seen is not None
        found.append(blur(gray(image), seen, BOARD))
    assert found[0] < 1.0 < found[1] < MAX_BLUR_PX < found[2]
    refused = Views(BOARD).offer(Shot("soft", image))
    assert isinstance(refused, Refused)
    assert refused.code == "blurred"
    smeared = cv2.blur(pictures()[4], (11, 1))
    refused = Views(BOARD).offer(Shot("moved", smeared))
    assert isinstance(refused, Refused)
    assert refused.code in ("blurred", "few-corners", "no-board")


def test_the_same_view_twice_and_too_small_a_part_are_refused() -> None:
    views = Views(BOARD)
    assert isinstance(views.offer(Shot("a", pictures()[0])), View)
    again = views.offer(Shot("b", pictures()[0]))
    assert isinstance(again, Refused)
    assert (again.code, "shows the same as a" in again.reason) == ("repeated", True)
    part = np.full_like(pictures()[5], 90)
    seen = collected().taken[5].seen.pixels
    x = int(np.percentile(seen[:, 0], 20))
    part[:, : x + 8] = pictures()[5][:, : x + 8]
    few = views.offer(Shot("c", part))
    assert isinstance(few, Refused)
    assert few.code in ("few-corners", "no-board")
    nothing = views.offer(Shot("d", np.full_like(part, 128)))
    assert isinstance(nothing, Refused)
    assert nothing.code == "no-board"


def test_a_live_board_must_be_held_still() -> None:
    views = Views(BOARD)
    first = views.offer(Shot("1", pictures()[0]), live=True)
    assert isinstance(first, Refused)
    assert first.code == "moving"
    shifted = np.roll(pictures()[0], 6, axis=1)
    moving = views.offer(Shot("2", shifted), live=True)
    assert isinstance(moving, Refused)
    assert moving.code == "moving"
    assert isinstance(views.offer(Shot("3", shifted), live=True), View)
    assert views.refused == [], "a live picture comes again: it is not listed"


def test_a_mirrored_picture_has_its_own_message() -> None:
    with pytest.raises(StepError, match=r"mirrored.*Switch off mirroring") as refusal:
        Views(BOARD).offer(Shot("m", np.ascontiguousarray(pictures()[0][:, ::-1])))
    assert refusal.value.code == "mirrored"


@pytest.mark.parametrize(
    "other",
    ["a3", "7x10:26:19.5:5X5_100", "12x7:26:19.5:5X5_100", "10x7:26:13:5X5_100"],
    ids=["other-paper", "turned", "wider", "smaller-markers"],
)
def test_a_board_of_the_wrong_size_has_its_own_message(other: str) -> None:
    """The picture shows the A4 board; the step was told of another one (or the other way round)."""
    codes = [_code(parse(other), image) for image in pictures()[:4]]
    assert codes.count("wrong-board") >= 3, codes


def _code(board: Board, image: Image) -> str:
    try:
        Views(board).offer(Shot("w", image))
    except StepError as problem:
        return problem.code
    return ""


def test_a_board_that_lacks_a_row_is_told_over_all_views() -> None:
    views = Views(parse("10x8:26:19.5:5X5_100"))
    for number, image in enumerate(pictures()):
        views.offer(Shot(f"{number}", image))
    with pytest.raises(StepError, match="edge of the board") as refusal:
        lens.calibrate(views)
    assert refusal.value.code == "wrong-board"


def test_the_older_pattern_of_an_even_board_is_told_from_the_newer() -> None:
    newer, older = parse("10x8:24:18:5X5_100"), parse("10x8:24:18:5X5_100:legacy")
    (image,) = board_views(older, Camera(), 1, seed=1)
    assert isinstance(Views(older).offer(Shot("o", image)), View)
    with pytest.raises(StepError) as refusal:
        Views(newer).offer(Shot("o", image))
    assert refusal.value.code == "wrong-board"


def test_too_few_views_say_how_many_and_why_others_were_not_taken() -> None:
    views = Views(BOARD)
    for number in range(3):
        views.offer(Shot(f"{number}", pictures()[number]))
        views.offer(Shot(f"{number} again", pictures()[number]))
    with pytest.raises(StepError, match=r"too few views: 3 good ones, at least 12.*3 × shows the same") as refusal:
        lens.calibrate(views)
    assert refusal.value.code == "too-few-views"


def test_poor_coverage_names_the_places() -> None:
    views = Views(BOARD)
    views.size = collected().size
    left = [v for v in collected().taken if v.seen.pixels[:, 0].max() < 1000]
    views.taken = (left * 3)[:14]
    with pytest.raises(StepError, match=r"hold it there as well:.*right") as refusal:
        lens.calibrate(views)
    assert refusal.value.code == "coverage"


def test_gaps_name_corners_and_edges() -> None:
    full = np.ones((6, 8), dtype=np.int64)
    assert gaps(full) == ""
    full[:2, :2] = 0
    assert gaps(full) == "top left"
    full[:, -1] = 0
    assert "right edge" in gaps(full)
    assert gaps(np.zeros((6, 8), dtype=np.int64)).count(",") == 8


def test_boards_held_flat_do_not_give_a_lens() -> None:
    flat, origin = board_image(BOARD)
    camera, views = Camera(), Views(BOARD)
    rays = camera.rays()
    for number in range(16):
        column, row = number % 4, number // 4
        tvec = np.array([-420.0 + 165 * column, -280.0 + 100 * row, 620.0 + 2 * number])
        image = camera.picture(flat, 4.0, np.array([0.0, 0.0, 0.01 * number]), tvec, origin=origin, rays=rays)
        views.offer(Shot(f"{number}", image))
    with pytest.raises(StepError) as refusal:
        lens.calibrate(views)
    assert refusal.value.code in ("no-tilt", "uncertain", "coverage", "too-few-views")


def test_pictures_of_two_sizes_are_refused() -> None:
    views = Views(BOARD)
    views.offer(Shot("a", pictures()[0]))
    with pytest.raises(StepError, match="in one size") as refusal:
        views.offer(Shot("b", cv2.resize(pictures()[1], (640, 360))))
    assert refusal.value.code == "sizes"


def test_the_step_writes_a_lens_and_its_pictures(tmp_path: Path) -> None:
    folder = tmp_path / "views"
    folder.mkdir()
    for number, image in enumerate(pictures()):
        (folder / f"{number:02}.png").write_bytes(png(image))
    given = {o.name: o.default for o in STEP.options} | {"from": str(folder), "bar-mm": "100/99.8"}
    talk = Quiet()
    outcome = STEP.run(talk, tmp_path / "table", given)
    assert (tmp_path / "table" / "lens.json").is_file()
    assert STEP.done(tmp_path / "table").state == "done"
    assert {p.name for p in outcome.pictures} == {"coverage", "views", "residuals", "grid"}
    for picture in outcome.pictures:
        assert decode(picture.png, picture.name).image.std() > 5
    assert talk.looked, "the coverage map is shown"
    with pytest.raises(StepError, match="scaled in printing") as refusal:
        STEP.run(talk, tmp_path / "other", given | {"bar-mm": "97"})
    assert refusal.value.code == "bar"
    assert not (tmp_path / "other").exists()


def test_files_that_are_none_and_names_that_mean_none(tmp_path: Path) -> None:
    with pytest.raises(StepError, match="no picture was found"):
        expand(str(tmp_path / "*.png"))
    with pytest.raises(StepError, match="no whole picture"):
        decode(b"GIF89a", "x.gif")
    with pytest.raises(StepError, match="no whole picture"):
        decode(b"", "x.png")
    with pytest.raises(StepError, match="only 9 x 5 pixels"):
        decode(png(np.zeros((5, 9, 3), np.uint8)), "x.png")
    assert expand(f"{tmp_path / 'a.png'}\n{tmp_path / 'b.png'}\n") == [tmp_path / "a.png", tmp_path / "b.png"]


@pytest.mark.parametrize(
    "text", ["b5", "10x7:26:30:5X5_100", "10x7:26:20:9X9_50", "40x40:9:6:5X5_50", "1x7:26:20:5X5_50"]
)
def test_boards_that_cannot_be(text: str) -> None:
    with pytest.raises(StepError) as refusal:
        parse(text)
    assert refusal.value.code == "board"
