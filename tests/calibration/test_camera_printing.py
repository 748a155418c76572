"""What is printed is exactly as large as it says: the PDF is read back and seen by the detector."""

from __future__ import annotations

import re
from pathlib import Path

import cv2
import numpy as np
import pytest
from click.testing import CliRunner

from calibration.board import BOARDS, Finder
from calibration.printing import PAPERS, numbers_of
from calibration.steps import StepError
from tabled.shell.cli import main

PX_PER_MM = 6.0
MM = 25.4 / 72


def pages(raw: bytes) -> list[np.ndarray]:
    """Each page's rectangles, drawn from the file's own bytes; and its cross-reference table is checked."""
    start = int(raw.rsplit(b"startxref\n", 1)[1].split(b"\n")[0])
    rows = raw[start:].split(b"\n")
    count = int(rows[1].split()[1])
    for number in range(1, count):
        offset = int(rows[2 + number][:10])
        assert raw[offset:].startswith(b"%d 0 obj" % number)
    drawn = []
    boxes = re.findall(rb"/MediaBox \[0 0 ([\d.]+) ([\d.]+)\]", raw)
    for (width, height), stream in zip(boxes, re.findall(rb"/Length (\d+) >>\nstream\n", raw), strict=True):
        assert int(stream) > 1000
        drawn.append(
            np.full((round(float(height) * MM * PX_PER_MM), round(float(width) * MM * PX_PER_MM)), 255, np.uint8)
        )
    for image, body in zip(drawn, re.findall(rb"stream\n(.*?)\nendstream", raw, re.DOTALL), strict=True):
        for row in re.findall(rb"([\d.]+) g ([\d.-]+) ([\d.-]+) ([\d.]+) ([\d.]+) re f", body):
            grey, x, y, w, h = (float(v) for v in row)
            x, y, w, h = (v * MM * PX_PER_MM for v in (x, y, w, h))
            top = image.shape[0] - y - h
            image[round(top) : round(top + h), round(x) : round(x + w)] = round(255 * grey)
    return drawn


@pytest.mark.parametrize("paper", ["a4", "a3"])
def test_the_board_is_on_its_paper_at_its_size(paper: str, tmp_path: Path) -> None:
    out = tmp_path / "board.pdf"
    result = CliRunner().invoke(main, ["calibrate", "board", "--paper", paper, "-o", str(out)])
    assert result.exit_code == 0, result.output
    assert "actual size" in result.output
    (image,) = pages(out.read_bytes())
    assert image.shape == tuple(round(v * PX_PER_MM) for v in PAPERS[paper][::-1])
    board = BOARDS[paper]
    seen = Finder(board).find(image)
    assert seen is not None
    assert len(seen.ids) == board.corners
    step = seen.pixels[1] - seen.pixels[0]
    assert step[0] / PX_PER_MM == pytest.approx(board.square_mm, abs=0.1)
    whole = seen.pixels[board.columns - 2] - seen.pixels[0]
    assert whole[0] / PX_PER_MM == pytest.approx(board.square_mm * (board.columns - 2), abs=0.1)
    margins = np.flatnonzero((image < 128).any(axis=0))[[0, -1]]
    assert margins[0] > 4 * PX_PER_MM, "no printer reaches the paper's edge"
    assert margins[1] < image.shape[1] - 4 * PX_PER_MM


def test_the_bars_are_a_hundred_millimetres(tmp_path: Path) -> None:
    out = tmp_path / "board.pdf"
    CliRunner().invoke(main, ["calibrate", "board", "-o", str(out)])
    sizes = [(float(w) * MM, float(h) * MM) for w, h in re.findall(rb"([\d.]+) ([\d.]+) re f", out.read_bytes())]
    assert [s for s in sizes if s == pytest.approx((100, 0.4), abs=0.01)]
    assert [s for s in sizes if s == pytest.approx((0.4, 100), abs=0.01)]


def test_markers_are_seen_at_their_size(tmp_path: Path) -> None:
    out = tmp_path / "markers.pdf"
    result = CliRunner().invoke(main, ["calibrate", "markers", "--ids", "0-2,7", "--size", "85", "-o", str(out)])
    assert result.exit_code == 0, result.output
    detector = cv2.aruco.ArucoDetector(cv2.aruco.getPredefinedDictionary(cv2.aruco.DICT_4X4_50))
    found = []
    for image in pages(out.read_bytes()):
        corners, ids, _ = detector.detectMarkers(image)
        assert ids is not None
        found.append(int(np.asarray(ids).ravel()[0]))
        side = np.hypot(*(corners[0][0][1] - corners[0][0][0])) + 1  # corners are pixels' middles
        assert side / PX_PER_MM == pytest.approx(85, abs=0.3)
    assert found == [0, 1, 2, 7]


@pytest.mark.parametrize("words", [["--ids", "60"], ["--ids", "a"], ["--size", "10"], ["--ids", "0-"]])
def test_markers_that_there_are_not(words: list[str], tmp_path: Path) -> None:
    result = CliRunner().invoke(main, ["calibrate", "markers", *words, "-o", str(tmp_path / "m.pdf")])
    if words == ["--ids", "0-"]:
        assert result.exit_code == 0, "an open end is the number itself"
        return
    assert result.exit_code == 2
    assert "Traceback" not in result.output
    assert not (tmp_path / "m.pdf").exists()


def test_a_place_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    result = CliRunner().invoke(main, ["calibrate", "board", "-o", str(tmp_path / "file" / "b.pdf")])
    assert result.exit_code == 2
    assert "could not be written" in result.output


def test_numbers() -> None:
    assert numbers_of("3, 0-2") == [0, 1, 2, 3]
    with pytest.raises(StepError):
        numbers_of("1;2")
