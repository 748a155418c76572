"""The plane without a list of places: markers anywhere, and a tape between a few of them.

Markers of one size on one plane fix everything but the exact scale, which the distances give.  The places are found
together with the pose.  The table's frame is then: its origin half-way between the two markers of the first distance,
x from the first of them to the second.
"""

from __future__ import annotations

from collections.abc import Mapping

import cv2
import numpy as np
import numpy.typing as npt

from calibration.least import solve
from calibration.optics import Optics, Pose, felt, pixels
from calibration.plane import (
    MIN_POINTS,
    SIGMA_PX,
    SIGMA_SIZE,
    SIGMA_TAPE_MM,
    Place,
    PlaneResult,
    corners_of,
    from_markers,
    turn_of,
)
from calibration.steps import StepError

Floats = npt.NDArray[np.float64]
MAX_TAPE_MM = 4.0


def survey(
    optics: Optics, seen: Mapping[int, Floats], distances: Mapping[tuple[int, int], float], size_mm: float
) -> PlaneResult:
    """The plane and the markers' places from distances (mm) between middles, the first along the table.

    Raises `StepError` with code "few-markers", "distances", "tape", and those of `from_markers`.
    """
    if not distances:
        raise StepError("no distance was given; measure at least the two diagonals", code="distances")
    if len(seen) < MIN_POINTS:
        raise StepError(
            f"only {len(seen)} markers are seen (at least {MIN_POINTS}): lay them flat and free, away from glare",
            code="few-markers",
        )
    if missing := sorted({n for pair in distances for n in pair} - set(seen)):
        raise StepError(f"marker {missing[0]} was measured and is not seen; is its number right?", code="few-markers")
    numbers = sorted(seen)
    pose, rough = _first(optics, seen, next(iter(distances)), size_mm)
    places, tape = _adjust(optics, {n: seen[n] for n in numbers}, rough, distances, (pose, size_mm))
    worst = max(tape, key=lambda pair: abs(tape[pair]))
    if abs(tape[worst]) > MAX_TAPE_MM:
        raise StepError(
            f"the distance {worst[0]}-{worst[1]} does not fit the others and the picture by {abs(tape[worst]):.1f} mm "
            f"(at most {MAX_TAPE_MM:g}): measure it again, from middle to middle",
            code="tape",
        )
    return from_markers(optics, seen, places, size_mm)


def _first(
    optics: Optics, seen: Mapping[int, Floats], axis: tuple[int, int], size_mm: float
) -> tuple[Pose, dict[int, Floats]]:
    """A pose from the largest marker alone, and the corners (4, 2) of all in the frame of ``axis``."""
    largest = max(seen, key=lambda n: float(np.ptp(seen[n], axis=0).max()))
    alone = corners_of(Place(0.0, 0.0), 0.0, size_mm)
    pose = _pose_of(optics, alone, seen[largest])
    for _ in range(3):
        corners = {n: felt(optics, pose, seen[n]) for n in seen}
        a, b = corners[axis[0]].mean(axis=0), corners[axis[1]].mean(axis=0)
        along = (b - a) / np.hypot(*(b - a))
        turn = np.array([[along[0], along[1]], [-along[1], along[0]]])
        moved = {n: (c - (a + b) / 2) @ turn.T for n, c in corners.items()}
        # Each marker made square again; then the pose that fits them all is nearer than that of one.
        square = {n: _squared(c, size_mm) for n, c in moved.items()}
        pose = _pose_of(optics, np.concatenate(list(square.values())), np.concatenate([seen[n] for n in square]))
    return pose, square


def _squared(corners: Floats, size_mm: float) -> Floats:
    middle = corners.mean(axis=0)
    return corners_of(Place(float(middle[0]), float(middle[1])), turn_of(corners), size_mm)


def _pose_of(optics: Optics, flat: Floats, seen: Floats) -> Pose:
    points = np.column_stack([flat, np.zeros(len(flat))])
    good, rvec, tvec = cv2.solvePnP(
        points, optics.straight(seen).reshape(-1, 1, 2), np.eye(3), np.zeros(5), flags=cv2.SOLVEPNP_IPPE
    )
    if not good:
        raise StepError("the markers do not lie in one plane; lay them flat on the felt", code="residual")
    return Pose(np.asarray(rvec, np.float64).ravel(), np.asarray(tvec, np.float64).ravel())


def _adjust(
    optics: Optics,
    seen: Mapping[int, Floats],
    rough: Mapping[int, Floats],
    distances: Mapping[tuple[int, int], float],
    start: tuple[Pose, float],
) -> tuple[dict[int, Place], dict[tuple[int, int], float]]:
    """Places of all markers, and what each distance is off in mm."""
    numbers, (pose, size_mm) = list(seen), start
    first = next(iter(distances))
    places = [[*rough[n].mean(axis=0), turn_of(rough[n])] for n in numbers]
    unknown = np.concatenate([pose.rvec, pose.tvec, [1.0], np.array(places).ravel()])
    observed = np.concatenate([seen[n] for n in numbers])
    index = {n: i for i, n in enumerate(numbers)}

    def rest(at: Floats) -> Floats:
        placed = at[7:].reshape(-1, 3)
        corners = [corners_of(Place(x, y), t, size_mm * at[6]) for x, y, t in placed]
        off = pixels(optics, Pose(at[:3], at[3:6]), np.concatenate(corners)) - observed
        tape = [
            (float(np.hypot(*(placed[index[a], :2] - placed[index[b], :2]))) - length) / SIGMA_TAPE_MM
            for (a, b), length in distances.items()
        ]
        a, b = placed[index[first[0]], :2], placed[index[first[1]], :2]
        frame = [*(a + b) / 0.01, (b - a)[1] / 0.01]
        return np.concatenate([off.ravel() / SIGMA_PX, tape, frame, [(at[6] - 1) / SIGMA_SIZE]])

    steps = np.concatenate([[1e-6] * 3, [1e-3] * 3, [1e-5], np.tile([1e-3, 1e-3, 1e-5], len(numbers))])
    found = solve(rest, unknown, steps).at[7:].reshape(-1, 3)
    tape = {
        (a, b): float(np.hypot(*(found[index[a], :2] - found[index[b], :2]))) - length
        for (a, b), length in distances.items()
    }
    return {n: Place(*(float(v) for v in found[i])) for n, i in index.items()}, tape
