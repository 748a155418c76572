"""The simulator's pictures for the camera steps: its own lens, light and sensor, and the truth beside them."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random

import numpy as np

from hw_sim.scene import optics
from hw_sim.scene.boards import Board, boards, marker_view
from hw_sim.scene.conditions import named
from hw_sim.scene.layout import Layout
from hw_sim.scene.layout import layout as make_layout
from hw_sim.scene.motion import Rest
from hw_sim.scene.people import pile
from hw_sim.scene.render import Renderer
from hw_sim.scene.scene import camera
from hw_sim.scene.stage import Shutter, View

SEED = 3
SIZE = (1280, 720)
BOARD = "11x8:40:30:5X5_100"
MARKER_MM = 80.0


def board_files(folder: Path, count: int, seed: int = SEED, board: Board | None = None) -> Path:
    """Views of the simulator's board as files in ``folder``."""
    folder.mkdir(parents=True, exist_ok=True)
    for number, view in enumerate(boards(seed, count, board)):
        (folder / f"view-{number:02}.jpg").write_bytes(view.jpeg)
    return folder


def marker_file(path: Path, seed: int = SEED) -> Path:
    """The empty table with its markers."""
    path.write_bytes(marker_view(seed))
    return path


def marker_list(path: Path, seed: int = SEED) -> Path:
    """Where a technician would measure their middles."""
    rows = ["id,x_mm,y_mm"]
    for marker in make_layout(seed).markers:
        x, y = np.mean(marker.corners, axis=0)
        rows.append(f"{marker.id},{x:.1f},{y:.1f}")
    path.write_text("\n".join(rows) + "\n")
    return path


def piles_file(path: Path, height: int = 5, seed: int = SEED, *, turned: bool = False) -> dict[str, int]:
    """A picture with one pile of each denomination in a bet zone of its own; which lies where.

    ``turned``: the seats from the other end, each pile somewhere else in its zone.
    """
    layout, look = make_layout(seed), named("baseline")
    eye = camera(seed, *SIZE)
    view = View(eye, layout, look, seed)
    rng = Random(f"piles {seed} {turned}")
    things, where = [], {}
    for kind, seat in zip(layout.chips, layout.seats[:: -1 if turned else 1], strict=False):
        zone = layout.zone("bet", seat.name)
        x, y = np.mean(zone.outline, axis=0) + (rng.uniform(-25, 25) if turned else 0.0)
        thing = pile((kind,) * height, rng)
        thing.put(0.0, Rest(float(x), float(y)))
        things.append(thing)
        where[f"bet:{seat.name}"] = kind.value
    renderer = Renderer(view, things, [], [])
    roots = renderer.frame(Shutter(1.0, look.readout_ms / 1000 / (SIZE[1] - 1), look.exposure_ms / 1000, SIZE[1]))
    sensor = optics.Sensor(look, *SIZE, seed)
    sensor.reseed(8 if turned else 7)
    path.write_bytes(sensor.jpeg(sensor.develop(roots, np.ones(SIZE[1], np.float32))))
    return where


def truth(seed: int = SEED) -> Layout:
    """What is really where."""
    return make_layout(seed)


def zones_json(path: Path, seed: int = SEED) -> Path:
    """The true outlines as a technician would draw them, to the millimetre."""
    layout = make_layout(seed)

    def point(xy: tuple[float, float]) -> dict[str, int]:
        return {"x_um": round(xy[0]) * 1000, "y_um": round(xy[1]) * 1000}

    zones = [
        {"kind": z.kind, "seat": z.seat, "outline": [point(p) for p in z.outline], "line": [point(p) for p in z.line]}
        for z in layout.zones
    ]
    path.write_text(json.dumps({"zones": zones, "dealer": point(layout.dealer)}))
    return path
