"""``python -m hw_sim.scene --boards``: what a person without hardware calibrates the camera with."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from hw_sim.scene.__main__ import main
from tests.calibration import camera_simulated as sim

pytestmark = pytest.mark.slow


def test_it_leaves_views_markers_and_their_places_and_names_the_board(tmp_path: Path) -> None:
    words = ["--boards", "1", "--seconds", "0.05", "--fps", "20", "--seed", str(sim.SEED), "--out", str(tmp_path)]
    result = CliRunner().invoke(main, words)
    assert result.exit_code == 0, result.output
    assert f"1 views of the board {sim.BOARD}, and markers.jpg" in result.output
    view = sim.board_files(tmp_path / "views", 1) / "view-00.jpg"
    assert (tmp_path / "board-00.jpg").read_bytes() == view.read_bytes()
    assert (tmp_path / "markers.jpg").read_bytes() == sim.marker_file(tmp_path / "other.jpg").read_bytes()
    assert (tmp_path / "markers.csv").read_text() == sim.marker_list(tmp_path / "other.csv").read_text()
