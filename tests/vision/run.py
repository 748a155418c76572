"""Renders scenes (or takes kept ones), shows them to an eye, and gives the tally and pictures of what it said."""

from __future__ import annotations

import pickle
import time
from collections.abc import Iterator
from pathlib import Path

import cv2
import numpy as np
import numpy.typing as npt

from firmware_bridge.wire import Observation
from hw_sim.scene import Scene, Shot, world
from tabled.model.calibration import Calibration
from tabled.model.camera import ChipsLanded, HandMoved
from tabled.sensing.eye import Eye
from tests.vision.rig import picture
from tests.vision.score import Tally, score

MAX_CROPS = 6


def shots(scene: Scene, keep: Path | None) -> Iterator[Shot]:
    """The scene's frames; with a folder they are rendered once and kept there (a frame costs a tenth of a second)."""
    if keep is None:
        yield from scene.frames()
        return
    path = keep / f"{scene.seed}_{scene.conditions.name}_{len(scene.layout.seats)}_{scene.seconds:g}.shots"
    if not path.exists():
        keep.mkdir(parents=True, exist_ok=True)
        draft = path.with_suffix(".draft")
        with draft.open("wb") as out:
            for shot in scene.frames():
                pickle.dump((shot.sequence, shot.stamp_ns, shot.jpeg), out)
        draft.rename(path)
    with path.open("rb") as file:
        while True:
            try:
                sequence, stamp, jpeg = pickle.load(file)  # of our own making
            except EOFError:
                return
            yield Shot(sequence, stamp, jpeg)


class Run:
    """One scene seen by one eye."""

    def __init__(self, scene: Scene, calibration: Calibration, keep: Path | None = None) -> None:
        self.scene, self.keep = scene, keep
        self.eye = Eye(calibration, (scene.eye.lens.width, scene.eye.lens.height))
        self.seen: list[Observation] = []
        self.crops: list[npt.NDArray[np.uint8]] = []
        self.cpu_ms: list[float] = []

    def go(self, from_s: float = 0.0, to_s: float | None = None) -> Tally:
        """Show it all frames, or those of a part, and compare."""
        stamps = []
        frames = shots(self.scene, self.keep) if to_s is None else self.scene.frames(from_s, to_s)
        for shot in frames:
            began = time.process_time_ns()
            told = self.eye.see(shot.stamp_ns, shot.jpeg)
            self.cpu_ms.append((time.process_time_ns() - began) / 1e6)
            self.seen += told
            stamps.append(shot.stamp_ns)
            for one in told:
                if isinstance(one, HandMoved | ChipsLanded) and len(self.crops) < MAX_CROPS:
                    self.crops.append(self._crop(picture(shot.jpeg), one))
        return score(self.scene.truth, self.seen, min(stamps), max(stamps))

    def _crop(self, whole: npt.NDArray[np.uint8], one: HandMoved | ChipsLanded) -> npt.NDArray[np.uint8]:
        """The zone as the camera saw it when the eye spoke, with the zone's outline and what it said."""
        zone = self.scene.layout.zone("bet", one.seat)
        view = self.eye.atlas.view
        outline = view.pixels(np.array(zone.outline)).astype(np.int32)
        cv2.polylines(whole, [outline], True, (255, 255, 0), 1)
        cv2.polylines(whole, [view.pixels(np.array(zone.line)).astype(np.int32)], False, (0, 255, 255), 2)
        lane = next(x for x in self.eye.lanes if x.tile.seat == one.seat)
        for track in lane.tracks:
            at = view.pixels(np.array([lane.tile.table(*track.hand.at)]))[0]
            cv2.circle(whole, (round(at[0]), round(at[1])), 4, (0, 0, 255), -1)
        if isinstance(one, ChipsLanded):
            at = view.pixels(np.array([[one.x_mm, one.y_mm]]))[0]
            cv2.drawMarker(whole, (round(at[0]), round(at[1])), (255, 0, 255), cv2.MARKER_CROSS, 16, 2)
            says = f"landed {one.value} {one.area_mm2} mm2"
        else:
            says = f"{one.step} {one.by} {one.retreat_mm} mm {one.pause_ms} ms"
        x, y = outline.mean(axis=0).astype(int)
        x, y = min(max(x, 120), whole.shape[1] - 120), min(max(y, 100), whole.shape[0] - 100)
        crop = np.ascontiguousarray(whole[y - 100 : y + 100, x - 120 : x + 120])
        cv2.putText(
            crop, f"{self.scene.conditions.name} {self.scene.seed} seat {one.seat}", (3, 12), 0, 0.4, (255, 255, 255), 1
        )
        cv2.putText(crop, says, (3, 194), 0, 0.38, (255, 255, 255), 1)
        return crop


def make(seed: int, condition: str, seconds: float, seats: int) -> Scene:
    """The scene of a seed and a condition."""
    return world(seed, condition, seconds=seconds, seats=seats)


def sheet(crops: list[npt.NDArray[np.uint8]], across: int = 6) -> npt.NDArray[np.uint8]:
    """All crops beneath and beside one another."""
    blank = np.zeros((200, 240, 3), np.uint8)
    rows = [crops[n : n + across] for n in range(0, len(crops), across)] or [[blank]]
    full = [[*row, *([blank] * (across - len(row)))] for row in rows]
    return np.vstack([np.hstack(row) for row in full])
