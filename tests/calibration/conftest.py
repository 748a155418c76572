"""What several tests of the calibration share: the simulator's pictures, rendered once."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def simulated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with views of the board, the table with markers and with piles, and what a technician measures."""
    from tests.calibration import camera_simulated as sim  # noqa: PLC0415  the renderer: only where it is needed

    folder = tmp_path_factory.mktemp("simulated")
    sim.board_files(folder / "views", 15)
    sim.marker_file(folder / "table.jpg")
    sim.marker_list(folder / "markers.csv")
    piles = sim.piles_file(folder / "piles.jpg")
    (folder / "piles.txt").write_text(",".join(f"{value}={zone}" for zone, value in piles.items()))
    sim.zones_json(folder / "drawn.json")
    return folder
