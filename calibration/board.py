"""The ChArUco board of the lens step: its sizes, and where its corners are in a picture.

The corners are found by OpenCV's own detector; whether they are those of *this* board is judged here.  OpenCV's check
(``checkMarkers``) compares raw distances, turns steeply tilted boards away and says nothing of the reason
(opencv/opencv issues 23517, 25850), so it is switched off.  Here every marker is held against its neighbours instead:
a homography from one predicts where the next one must be.
"""

from __future__ import annotations

import re

import cv2
import msgspec
import numpy as np
import numpy.typing as npt

from calibration.steps import StepError
from tabled.sensing.landmarks import DICTIONARIES

Floats = npt.NDArray[np.float64]
Gray = npt.NDArray[np.uint8]

_SPEC = re.compile(r"(\d{1,2})x(\d{1,2}):(\d{1,3}(?:\.\d+)?):(\d{1,3}(?:\.\d+)?):([0-9A-Z_]+)")
MISPLACED = 0.25
"""A marker this share of its side away from where its neighbour puts it belongs to another board."""
MIRRORED = "mirrored"
WRONG_BOARD = "wrong-board"


class Board(msgspec.Struct, frozen=True, kw_only=True):
    """A ChArUco board: ``columns`` x ``rows`` squares, lengths in mm, markers of an OpenCV dictionary.

    The rows of our own boards are odd in number: the pattern of an even one differs between OpenCV before and from 4.6
    (opencv_contrib issue 3291).  ``legacy`` is that older pattern.
    """

    name: str
    columns: int
    rows: int
    square_mm: float
    marker_mm: float
    dictionary: str = "5X5_100"
    legacy: bool = False

    @property
    def corners(self) -> int:
        """Inner corners."""
        return (self.columns - 1) * (self.rows - 1)

    def charuco(self) -> cv2.aruco.CharucoBoard:
        """OpenCV's board, in mm."""
        board = cv2.aruco.CharucoBoard((self.columns, self.rows), self.square_mm, self.marker_mm, self.markers())
        board.setLegacyPattern(self.legacy)
        return board

    def markers(self) -> cv2.aruco.Dictionary:
        """OpenCV's dictionary."""
        return cv2.aruco.getPredefinedDictionary(DICTIONARIES[self.dictionary])


BOARDS = {
    "a4": Board(name="a4", columns=10, rows=7, square_mm=26.0, marker_mm=19.5),
    "a3": Board(name="a3", columns=13, rows=9, square_mm=29.5, marker_mm=22.0),
}


def parse(text: str) -> Board:
    """``a4``, ``a3``, or ``COLUMNSxROWS:SQUARE_MM:MARKER_MM:DICTIONARY[:legacy]``; raises `StepError`."""
    if text.lower() in BOARDS:
        return BOARDS[text.lower()]
    plain = text.removesuffix(":legacy")
    found = _SPEC.fullmatch(plain)
    problem = f"the board {text!r} is neither a4, a3 nor of the form 10x7:26:19.5:5X5_100 (squares, mm, mm, dictionary)"
    if found is None:
        raise StepError(problem, code="board")
    columns, rows = int(found[1]), int(found[2])
    square, marker = float(found[3]), float(found[4])
    dictionary = found[5].removeprefix("DICT_")
    if dictionary not in DICTIONARIES:
        raise StepError(f"{problem}; no dictionary is called {dictionary}", code="board")
    if not (3 <= columns <= 40 and 3 <= rows <= 40 and 0 < marker < square):
        raise StepError(f"{problem}; three or more squares each way, and markers smaller than squares", code="board")
    size = len(cv2.aruco.getPredefinedDictionary(DICTIONARIES[dictionary]).bytesList)
    if columns * rows // 2 > size:
        raise StepError(f"{problem}; {dictionary} has only {size} markers", code="board")
    return Board(
        name=text,
        columns=columns,
        rows=rows,
        square_mm=square,
        marker_mm=marker,
        dictionary=dictionary,
        legacy=plain != text,
    )


class Sighting(msgspec.Struct, frozen=True, kw_only=True):
    """The board's corners in one picture: ``ids`` (n,), ``pixels`` (n, 2), and the same on the board, ``mm`` (n, 3)."""

    ids: npt.NDArray[np.int32]
    pixels: Floats
    mm: Floats
    markers: int


class Finder:
    """Finds one board in grey pictures."""

    def __init__(self, board: Board) -> None:
        self.board = board
        self._charuco = board.charuco()
        options = cv2.aruco.CharucoParameters()
        options.checkMarkers = False
        options.minMarkers = 2
        detecting = cv2.aruco.DetectorParameters()
        detecting.cornerRefinementMethod = cv2.aruco.CORNER_REFINE_NONE
        detecting.adaptiveThreshWinSizeMax = 53
        detecting.adaptiveThreshWinSizeStep = 10
        self._detector = cv2.aruco.CharucoDetector(self._charuco, options, detecting)
        self._plain = cv2.aruco.ArucoDetector(board.markers(), detecting)
        self._on_board = np.asarray(self._charuco.getChessboardCorners(), dtype=np.float64)
        corners = self._charuco.getObjPoints()
        self._marker_mm = {
            int(i): np.asarray(c, dtype=np.float64)[:, :2]
            for i, c in zip(np.asarray(self._charuco.getIds()).ravel(), corners, strict=True)
        }

    def find(self, gray: Gray) -> Sighting | None:
        """The board's corners, None if no marker is seen.

        Raises `StepError` with code "mirrored" or "wrong-board" where what is seen can never be this board.
        """
        corners, ids, marker_corners, marker_ids = self._detector.detectBoard(gray)
        if marker_ids is None or len(marker_ids) < 2:
            self._refuse_mirrored(gray)
            return None
        seen = {
            int(i): np.asarray(c, dtype=np.float64).reshape(4, 2)
            for i, c in zip(marker_ids.ravel(), marker_corners, strict=True)
        }
        self._refuse_other_board(seen)
        if ids is None or not len(ids):
            return None
        flat = ids.ravel().astype(np.int32)
        return Sighting(
            ids=flat,
            pixels=np.asarray(corners, dtype=np.float64).reshape(-1, 2),
            mm=self._on_board[flat],
            markers=len(seen),
        )

    def _refuse_mirrored(self, gray: Gray) -> None:
        _, ids, _ = self._plain.detectMarkers(cv2.flip(gray, 1))
        if ids is not None and len(ids) >= 4:
            raise StepError(
                "the picture is mirrored: the board can be read only in a mirror. Switch off mirroring (flip) in the "
                "camera's settings or driver, and take the pictures again",
                code=MIRRORED,
            )

    def _refuse_other_board(self, seen: dict[int, Floats]) -> None:
        """Markers that are not on the board, or are not where it has them."""
        foreign = sorted(set(seen) - set(self._marker_mm))
        known = sorted(set(seen) & set(self._marker_mm))
        misplaced = checked = 0
        for i in known:
            for j in self._nearest(i, known):
                checked += 1
                misplaced += self._off(i, j, seen) > MISPLACED
        if len(foreign) > max(1, len(seen) // 5) or (checked >= 4 and misplaced > checked // 2):
            raise StepError(
                f"this is not the board {self.board.name}: "
                + (
                    f"it has markers that the board has not (number {foreign[0]})"
                    if foreign
                    else "its markers are not where the board has them, or are of another size"
                )
                + ". Choose the size that was printed (--board a4 or a3), or print it again with "
                "'tabled calibrate board'",
                code=WRONG_BOARD,
            )

    def _nearest(self, i: int, known: list[int]) -> list[int]:
        """Up to two markers next to ``i`` on the board (one square diagonally, or two along)."""
        here = self._marker_mm[i].mean(axis=0)
        reach = 2.05 * self.board.square_mm
        near = [(float(np.hypot(*(self._marker_mm[j].mean(axis=0) - here))), j) for j in known if j != i]
        return [j for far, j in sorted(near) if far <= reach][:2]

    def _off(self, i: int, j: int, seen: dict[int, Floats]) -> float:
        """How far marker j is from where marker i puts it, in sides of j; perspective and lens leave some percent."""
        # By the difference of the two centres in i's own affine frame: a homography from one small marker overshoots.
        mm_i, mm_j, at_i, at_j = self._marker_mm[i], self._marker_mm[j], seen[i], seen[j]
        frame = np.linalg.lstsq(np.column_stack([mm_i, np.ones(4)]), at_i, rcond=None)[0]
        back = np.linalg.lstsq(np.column_stack([mm_j, np.ones(4)]), at_j, rcond=None)[0]
        linear = (frame[:2] + back[:2]) / 2
        predicted = at_i.mean(axis=0) + (mm_j.mean(axis=0) - mm_i.mean(axis=0)) @ linear
        side = np.mean(np.hypot(*(np.roll(at_j, -1, axis=0) - at_j).T))
        return float(np.hypot(*(at_j.mean(axis=0) - predicted)) / max(side, 1e-9))


def blur(gray: Gray, sighting: Sighting, board: Board) -> float:
    """Standard deviation of the blur in pixels, over the worse of the board's two directions; 0 if it cannot be told.

    Between two neighbouring corners runs an edge of black and white.  Its profile across is white and black with the
    blur between: the standard deviation of the profile's slope is the blur (that of the pixel itself, 0.3, included).
    """
    pixels = {int(i): p for i, p in zip(sighting.ids, sighting.pixels, strict=True)}
    across = board.columns - 1
    worst = 0.0
    for step in (1, across):
        spreads = []
        for i, here in pixels.items():
            if i + step not in pixels or (step == 1 and (i + 1) % across == 0):
                continue
            spread = _edge_spread(gray, here, pixels[i + step])
            if spread is not None:
                spreads.append(spread)
        if spreads:
            worst = max(worst, float(np.median(spreads)))
    return worst


def _edge_spread(gray: Gray, a: Floats, b: Floats) -> float | None:
    along = b - a
    length = float(np.hypot(*along))
    if length < 8:
        return None
    along = along / length
    normal = np.array([-along[1], along[0]])
    reach = min(0.35 * length, 12.0)
    # Close to a corner the border beside the edge is free of markers; a marker begins an eighth of a square away.
    offsets = np.arange(-reach, reach + 1e-6, 0.25)
    rows = [a + along * (length * share) for share in (0.42, 0.5, 0.58)]
    points = np.array([[row + normal * o for o in offsets] for row in rows], dtype=np.float32)
    values = cv2.remap(gray, points, np.zeros(0, np.float32), cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
    profile = np.asarray(values, dtype=np.float64).mean(axis=0)
    inner = np.abs(offsets) <= max(2.0, 0.11 * length)
    slope = np.abs(np.gradient(profile))[inner]
    low, high = float(profile[inner].min()), float(profile[inner].max())
    if high - low < 25:
        return None
    # Gaussian edge: height of the steepest slope is contrast / (sigma * sqrt(2 pi)).
    steepest = float(slope.max()) / 0.25
    return (high - low) / (steepest * float(np.sqrt(2 * np.pi)))
