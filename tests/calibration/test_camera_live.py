"""The lens and the plane from a running camera (here a film): held still, taken by itself, ended when it is enough."""

from __future__ import annotations

from pathlib import Path

import cv2
import numpy as np
import pytest

from calibration import pictures
from calibration.board import BOARDS
from calibration.step_lens import STEP
from calibration.steps import StepError, Stopped
from tests.calibration.camera_synthetic import Camera, board_views
from tests.calibration.talk import Quiet

DEFAULTS = {o.name: o.default for o in STEP.options}


@pytest.fixture(scope="module")
def film(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Each view three times (the hand rests), between them a blank (the hand is elsewhere)."""
    path = tmp_path_factory.mktemp("film") / "board.avi"
    writer = cv2.VideoWriter(str(path), cv2.VideoWriter_fourcc(*"MJPG"), 10, (1280, 720))
    assert writer.isOpened()
    for image in board_views(BOARDS["a4"], Camera(), 16):
        writer.write(np.full_like(image, 110))
        for _ in range(3):
            writer.write(image)
    writer.release()
    return path


def test_a_film_gives_the_lens_with_a_map_that_grows(film: Path, tmp_path: Path) -> None:
    talk = Quiet()
    outcome = STEP.run(talk, tmp_path, {**DEFAULTS, "source": str(film)})
    assert "RMS" in outcome.summary
    assert (tmp_path / "lens.json").is_file()
    assert len(talk.looked) > 10
    told = " ".join(text for _, _, text in talk.progressed)
    assert "hold it still" in told
    assert "taken; not yet covered" in told
    assert max(done for done, _, _ in talk.progressed) >= 14


def test_stop_ends_it_and_writes_nothing(film: Path, tmp_path: Path) -> None:
    class Leaves(Quiet):
        def check(self) -> None:
            if len(self.looked) > 2:
                raise Stopped

    with pytest.raises(Stopped):
        STEP.run(Leaves(), tmp_path / "t", {**DEFAULTS, "source": str(film)})
    assert not (tmp_path / "t").exists()


def test_a_camera_that_there_is_not(tmp_path: Path) -> None:
    with pytest.raises(StepError, match="group video") as refusal:
        next(iter(pictures.from_source("/dev/video97")))
    assert refusal.value.code == "no-camera"
    with pytest.raises(StepError, match="--source /dev/video0"):
        STEP.run(Quiet(), tmp_path, dict(DEFAULTS))
