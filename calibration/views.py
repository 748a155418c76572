"""Views of the board for the lens: which pictures are good for something, and what they cover together."""

from __future__ import annotations

import cv2
import msgspec
import numpy as np
import numpy.typing as npt

from calibration.board import Board, Finder, Sighting, blur
from calibration.pictures import Shot, gray
from calibration.steps import StepError

Floats = npt.NDArray[np.float64]

MAX_BLUR_PX = 1.6
"""A corner is found to about a twentieth of the blur; 1.6 pixels leave the residual of a good lens unharmed."""
MIN_CORNERS = 12
MIN_SHARE = 0.25
"""Of the board's corners: less says little, and is often a corner of the board seen past something."""
MIN_MOVE = 0.03
"""Of the picture's diagonal: a board that moved less than this since another view is the same view."""
MIN_TURN_DEGREES = 12.0
MAX_HELD_PX = 1.5
"""A board in a live picture is held still when no corner moves further than this from frame to frame."""
MAX_VIEWS = 60
GRID = (8, 6)
"""Columns and rows of the coverage map."""


class View(msgspec.Struct, frozen=True):
    """A view that was taken: its name, the corners, and the blur in pixels."""

    name: str
    seen: Sighting
    blur_px: float


class Refused(msgspec.Struct, frozen=True):
    """A picture that was not taken.  ``code`` is "no-board", "few-corners", "blurred", "repeated", "moving", "full"."""

    name: str
    code: str
    reason: str


class Views:
    """Collects views of one board from pictures of one size."""

    def __init__(self, board: Board) -> None:
        self.board = board
        self.size: tuple[int, int] | None = None
        self.taken: list[View] = []
        self.refused: list[Refused] = []
        self._finder = Finder(board)
        self._before: Sighting | None = None

    def offer(self, shot: Shot, *, live: bool = False) -> View | Refused:
        """Take or refuse a picture; a live one also has to show the board held still since the one before.

        Raises `StepError` where no picture of this camera can help: "mirrored", "wrong-board", "sizes".
        """
        if self.size is None:
            self.size = shot.size
        elif shot.size != self.size:
            raise StepError(
                f"{shot.name}: is {shot.size[0]} x {shot.size[1]}, the pictures before it {self.size[0]} x "
                f"{self.size[1]}: all must come from the camera as it runs at the table, in one size",
                code="sizes",
            )
        picture = gray(shot.image)
        seen = self._finder.find(picture)
        before, self._before = self._before, seen
        if seen is None:
            return self._refuse(shot.name, "no-board", "no board is seen (or too far away, or too blurred)", live)
        enough = max(MIN_CORNERS, round(MIN_SHARE * self.board.corners))
        if len(seen.ids) < enough or _on_a_line(seen.mm):
            found = f"only {len(seen.ids)} of the board's {self.board.corners} corners are seen (at least {enough})"
            return self._refuse(shot.name, "few-corners", found, live)
        if live and (before is None or moved(before, seen) > MAX_HELD_PX):
            return self._refuse(shot.name, "moving", "the board moves: hold it still for a moment", live)
        blurred = blur(picture, seen, self.board)
        if blurred > MAX_BLUR_PX:
            why = f"blurred by {blurred:.1f} px (at most {MAX_BLUR_PX}): hold the board still, more light, or focus"
            return self._refuse(shot.name, "blurred", why, live)
        if blurred == 0:
            return self._refuse(shot.name, "blurred", "too dark, or too small, to tell how sharp it is", live)
        if same := self._repeats(seen):
            return self._refuse(shot.name, "repeated", f"shows the same as {same}: move or tilt the board", live)
        if len(self.taken) >= MAX_VIEWS:
            return self._refuse(shot.name, "full", f"{MAX_VIEWS} views are enough", live)
        view = View(shot.name, seen, blurred)
        self.taken.append(view)
        return view

    def coverage(self) -> npt.NDArray[np.int64]:
        """(rows, columns) corners in each cell of the picture, over the views that were taken."""
        counts = np.zeros((GRID[1], GRID[0]), dtype=np.int64)
        if self.size is None:
            return counts
        for view in self.taken:
            cells = (view.seen.pixels / self.size * GRID).astype(int)
            x, y = np.clip(cells, 0, (GRID[0] - 1, GRID[1] - 1)).T
            np.add.at(counts, (y, x), 1)
        return counts

    def covered(self) -> float:
        """The share of the picture's cells that had a corner."""
        return float((self.coverage() > 0).mean())

    def missing(self) -> str:
        """Where the board has not been yet, in words for the person who holds it; "" where it was nearly everywhere."""
        return gaps(self.coverage())

    def _repeats(self, seen: Sighting) -> str:
        assert self.size is not None
        near = MIN_MOVE * float(np.hypot(*self.size))
        for view in self.taken:
            if moved(view.seen, seen, typical=True) < near and _turn(view.seen, seen) < MIN_TURN_DEGREES:
                return view.name
        return ""

    def _refuse(self, name: str, code: str, reason: str, live: bool) -> Refused:
        refused = Refused(name, code, reason)
        if not live:  # a live picture comes again thirty times a second
            self.refused.append(refused)
        return refused


def moved(a: Sighting, b: Sighting, *, typical: bool = False) -> float:
    """Pixels between the corners of two sightings: the most, or (``typical``) the median; inf if none is common."""
    _, in_a, in_b = np.intersect1d(a.ids, b.ids, return_indices=True)
    if not len(in_a):
        return float("inf")
    far = np.hypot(*(a.pixels[in_a] - b.pixels[in_b]).T)
    return float(np.median(far) if typical else np.max(far))


def _turn(a: Sighting, b: Sighting) -> float:
    """About how many degrees the board's tilt differs: from how the two affine pictures of it differ in shape."""
    shapes = []
    for seen in (a, b):
        plan = np.column_stack([seen.mm[:, :2], np.ones(len(seen.mm))])
        linear = np.linalg.lstsq(plan, seen.pixels, rcond=None)[0][:2]
        shapes.append(linear / np.sqrt(abs(np.linalg.det(linear))))
    change = np.linalg.svd(np.linalg.solve(shapes[0], shapes[1]))[1]
    return float(np.degrees(np.arccos(np.clip(change[1] / change[0], 0, 1))))


def _on_a_line(points: Floats) -> bool:
    spread = np.linalg.svd(points[:, :2] - points[:, :2].mean(axis=0), compute_uv=False)
    return bool(spread[1] < 0.1 * spread[0])


def gaps(counts: npt.NDArray[np.int64]) -> str:
    """The parts of the picture where no corner was, "" if they are few; corners of the picture are named first."""
    rows, columns = counts.shape
    names = [("top left", 0, 0), ("top right", 0, 1), ("bottom left", 1, 0), ("bottom right", 1, 1)]
    empty = []
    for name, low, right in names:
        part = counts[(rows - 2 if low else 0) : (rows if low else 2), (columns - 2 if right else 0) :][:, :2]
        if not part.any():
            empty.append(name)
    sides = [
        ("top edge", counts[0]),
        ("bottom edge", counts[-1]),
        ("left edge", counts[:, 0]),
        ("right edge", counts[:, -1]),
        ("middle", counts[1:-1, 1:-1].ravel()),
    ]
    empty += [name for name, part in sides if (part > 0).mean() < 0.4]
    return ", ".join(empty)


def coverage_picture(views: Views, last: Shot | None = None) -> npt.NDArray[np.uint8]:
    """The coverage map: cells that have corners in green, the corners as dots, over the last picture if any."""
    width, height = views.size or (1280, 720)
    scale = 960 / width
    canvas = np.full((round(height * scale), 960, 3), 40, dtype=np.uint8)
    if last is not None:
        canvas[:] = cv2.resize(last.image, (960, canvas.shape[0]), interpolation=cv2.INTER_AREA) // 2
    counts = views.coverage()
    for (row, column), count in np.ndenumerate(counts):
        x0, x1 = round(column * 960 / GRID[0]), round((column + 1) * 960 / GRID[0])
        y0, y1 = round(row * canvas.shape[0] / GRID[1]), round((row + 1) * canvas.shape[0] / GRID[1])
        if count:
            cell = canvas[y0:y1, x0:x1]
            tint = np.full_like(cell, (70, 150, 60))
            canvas[y0:y1, x0:x1] = cv2.addWeighted(cell, 0.55, tint, 0.45, 0)
        cv2.rectangle(canvas, (x0, y0), (x1 - 1, y1 - 1), (110, 110, 110), 1)
    for view in views.taken:
        for x, y in view.seen.pixels * scale:
            cv2.circle(canvas, (round(float(x)), round(float(y))), 2, (230, 230, 230), -1, cv2.LINE_AA)
    return canvas
