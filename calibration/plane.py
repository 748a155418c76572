"""Where the camera hangs over the felt, from markers or measured points whose places on the table are known.

The pose is started by OpenCV's solver for planar points and refined by least squares over all corners, with how each
marker is turned and the printed size as further unknowns: a technician measures middles with a tape, not angles.
Instead of places, distances between the middles may be given; the places are then unknowns too (see `survey`).
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence

import cv2
import msgspec
import numpy as np
import numpy.typing as npt

from calibration.least import Solution, jacobian, solve
from calibration.optics import Optics, Pose, felt, marked, pixels
from calibration.steps import StepError
from tabled.model.calibration import Marker, Plane, Point

Floats = npt.NDArray[np.float64]

MIN_POINTS = 4
MAX_RMS_MM = 4.0
"""Above it a place was measured wrongly; a tape is good for 1 to 2 mm."""
SIGMA_PX = 0.15
"""How well a corner is found; used only to weigh corners against the printed size and the tape."""
SIGMA_SIZE = 0.01
SIGMA_TAPE_MM = 1.0
MAX_SIZE_OFF = 0.03
MIN_HEIGHT_MM = 300.0
_POSE_STEPS = np.array([1e-6] * 3 + [1e-3] * 3)
"""Small changes of a rotation and a translation."""
_SQUARE = np.array([[-0.5, 0.5], [0.5, 0.5], [0.5, -0.5], [-0.5, -0.5]])
"""Corners clockwise from the top left, seen from above, y up."""


class Place(msgspec.Struct, frozen=True):
    """Where a marker's middle is, in mm; ``turn`` in radians counter-clockwise, None if it was not measured."""

    x: float
    y: float
    turn: float | None = None


class PlaneResult(msgspec.Struct, frozen=True):
    """The plane, and what was seen less what was measured in mm for each corner.

    ``places`` are those measured, or for a survey those found; ``off_mm`` (4 or 1, 2) by marker; ``size_mm`` the side
    of the markers as seen, 0 for points.
    """

    plane: Plane
    pose: Pose
    places: Mapping[int, Place]
    off_mm: Mapping[int, Floats]
    size_mm: float
    rms_px: float

    @property
    def rms_mm(self) -> float:
        """Over all corners."""
        return self.plane.residual_um / 1000


def from_markers(
    optics: Optics, seen: Mapping[int, Floats], places: Mapping[int, Place], size_mm: float
) -> PlaneResult:
    """The plane from markers at measured places; ``seen`` are their corners (4, 2) in raw pixels.

    Raises `StepError` with code "few-markers", "collinear", "left-handed", "swapped", "misplaced", "residual", "size".
    """
    used = sorted(set(seen) & set(places))
    _require(used, sorted(set(places) - set(seen)), sorted(set(seen) - set(places)), places)
    middles = {number: _middle(optics, seen[number]) for number in used}
    start = _start(middles, places)
    result = _refine(optics, {n: seen[n] for n in used}, {n: places[n] for n in used}, size_mm, start)
    if result.rms_mm > MAX_RMS_MM:
        _explain(middles, places, result)
    _judge_size(result.size_mm, size_mm)
    _judge_eye(result.pose)
    return result


def from_points(optics: Optics, places: Sequence[tuple[float, float]], seen: Floats) -> PlaneResult:
    """The plane from single points (mm) and the raw pixels (n, 2) at which they were seen; they become markers with
    numbers below 0 and one corner.  Raises `StepError` as `from_markers` does."""
    if len(places) < MIN_POINTS:
        raise StepError(
            f"{len(places)} points are too few: measure at least {MIN_POINTS}, far apart, not in a line",
            code="few-markers",
        )
    by_number = {-1 - i: Place(x, y) for i, (x, y) in enumerate(places)}
    pixels_of = {-1 - i: row.reshape(1, 2) for i, row in enumerate(seen)}
    _require_spread(list(by_number.values()))
    middles = {n: optics.straight(p)[0] for n, p in pixels_of.items()}
    start = _start(middles, by_number)
    result = _refine(optics, pixels_of, by_number, 1.0, start)
    if result.rms_mm > MAX_RMS_MM:
        _explain(middles, by_number, result)
    _judge_eye(result.pose)
    return result


def spread_mm(optics: Optics, pose: Pose, covariance: Floats, places_mm: Floats) -> Floats:
    """(n,) standard deviation in mm, in the worst direction, of where things on the felt at (n, 2) are reported.

    From the ``covariance`` (6, 6) of the pose; the lens is taken as known.
    """
    points = np.asarray(places_mm, dtype=np.float64).reshape(-1, 2)
    at = pixels(optics, pose, points)
    slopes = _by_pose(lambda moved: felt(optics, moved, at), pose).reshape(-1, 2, 6)
    whole = slopes @ covariance @ np.swapaxes(slopes, -1, -2)
    return np.asarray(np.sqrt(np.maximum(np.linalg.eigvalsh(whole)[..., -1], 0)), dtype=np.float64)


def pose_covariance(optics: Optics, plane: Plane) -> Floats:
    """(6, 6) of the rotation and translation of a plane that was saved, from its markers.

    A corner counts as known to `SIGMA_PX`, or to what the corners are off in the mean where that is more.
    """
    lie, seen = marked(plane)
    pose = Pose.of(plane)
    slopes = _by_pose(lambda moved: pixels(optics, moved, lie), pose)
    # A marker that was measured wrongly is off with all of its corners: together they count as one.
    weight = np.concatenate([np.full(2 * len(m.corners), 1 / len(m.corners)) for m in plane.markers])
    off = (pixels(optics, pose, lie) - seen).ravel()
    sigma = max(SIGMA_PX, float(np.sqrt((weight * off) @ off / max(1, 2 * len(plane.markers) - 6))))
    slopes = slopes * np.sqrt(weight)[:, None]
    scale = np.linalg.norm(slopes, axis=0)
    return np.asarray(np.linalg.pinv((slopes / scale).T @ (slopes / scale)) / np.outer(scale, scale) * sigma**2)


def _by_pose(places: Callable[[Pose], Floats], pose: Pose) -> Floats:
    """(2 n, 6) derivatives of places (n, 2) by the pose's rotation and translation."""
    return jacobian(lambda v: places(Pose(v[:3], v[3:])).ravel(), np.concatenate([pose.rvec, pose.tvec]), _POSE_STEPS)


def _middle(optics: Optics, corners: Floats) -> Floats:
    """The ray (2,) through a marker's middle: where its diagonals cross, which perspective keeps."""
    a, b, c, d = optics.straight(corners)
    share = np.linalg.solve(np.column_stack([c - a, b - d]), b - a)
    return np.asarray(a + share[0] * (c - a), dtype=np.float64)


def _require(used: list[int], hidden: list[int], strange: list[int], places: Mapping[int, Place]) -> None:
    if len(used) < MIN_POINTS:
        told = f"only {len(used)} of the {len(places)} markers on the list are seen (at least {MIN_POINTS})"
        if hidden:
            told += f"; not seen: {', '.join(map(str, hidden))}"
        if strange:
            told += f"; seen and not on the list: {', '.join(map(str, strange))}"
        raise StepError(
            f"{told}. Lay them flat and free, away from glare, and check the numbers on the list", code="few-markers"
        )
    _require_spread([places[n] for n in used])


def _require_spread(places: Sequence[Place]) -> None:
    points = np.array([[p.x, p.y] for p in places])
    spread = np.linalg.svd(points - points.mean(axis=0), compute_uv=False)
    if spread[1] < 0.12 * spread[0]:
        raise StepError(
            "the places lie nearly in a line: put at least one marker well to the side of it, best one near each "
            "corner of the table",
            code="collinear",
        )


def _start(middles: Mapping[int, Floats], places: Mapping[int, Place]) -> Pose:
    points = np.array([[places[n].x, places[n].y, 0.0] for n in middles])
    rays = np.array([middles[n] for n in middles])
    try:
        count, rvecs, tvecs, _ = cv2.solvePnPGeneric(
            points, rays.reshape(-1, 1, 2), np.eye(3), np.zeros(5), flags=cv2.SOLVEPNP_IPPE
        )
    except cv2.error:
        count, rvecs, tvecs = 0, (), ()
    poses = []
    for rvec, tvec in zip(rvecs[:count], tvecs[:count], strict=True):
        r, t = cv2.solvePnPRefineLM(points, rays.reshape(-1, 1, 2), np.eye(3), np.zeros(5), rvec.copy(), tvec.copy())
        pose = Pose(np.asarray(r, np.float64).ravel(), np.asarray(t, np.float64).ravel())
        off = _off_middles(pose, rays, points)
        if np.isfinite(off):
            poses.append((off, pose))
    if not poses:
        raise StepError("the places and the picture do not fit at all: check the list of places", code="residual")
    off, pose = min(poses, key=lambda pair: pair[0])
    if pose.eye[2] < 0 and off < 4 * MAX_RMS_MM:
        raise StepError(
            "the places fit only as if the table were seen from below: x and y are swapped or counted the other way "
            "round, or the picture is mirrored. Measure x to the right and y away from the dealer, both from one point",
            code="left-handed",
        )
    return pose


def _off_middles(pose: Pose, rays: Floats, points: Floats) -> float:
    """Root mean square in mm between measured middles and those seen."""
    return float(np.sqrt(np.mean(np.sum((pose.felt(rays) - points[:, :2]) ** 2, axis=1))))


def corners_of(place: Place, turn: float, size_mm: float, count: int = 4) -> Floats:
    """(4, 2) corners in mm of a marker, or (1, 2) of a point."""
    if count == 1:
        return np.array([[place.x, place.y]])
    c, s = np.cos(turn), np.sin(turn)
    return np.asarray(_SQUARE * size_mm @ np.array([[c, s], [-s, c]]) + [place.x, place.y], dtype=np.float64)


def turn_of(corners: Floats) -> float:
    """How a marker with these corners (4, 2) is turned: what `corners_of` takes."""
    top = (corners[0] + corners[1] - corners[2] - corners[3]) / 2
    return float(np.arctan2(-top[0], top[1]))


def _refine(
    optics: Optics, seen: Mapping[int, Floats], places: Mapping[int, Place], size_mm: float, start: Pose
) -> PlaneResult:
    """Least squares over the corners; unknown are the pose, the size, and each turn that was not measured."""
    numbers = list(seen)
    free = [n for n in numbers if places[n].turn is None and len(seen[n]) == 4]
    turns = {n: places[n].turn or 0.0 for n in numbers}
    for n in free:
        turns[n] = turn_of(felt(optics, start, seen[n]))
    sized = any(len(seen[n]) == 4 for n in numbers)
    unknown = np.concatenate([start.rvec, start.tvec, [1.0], [turns[n] for n in free]])

    def model(at: Floats) -> dict[int, Floats]:
        turned = {**turns, **dict(zip(free, at[7:], strict=True))}
        return {n: corners_of(places[n], turned[n], size_mm * at[6], len(seen[n])) for n in numbers}

    def rest(at: Floats) -> Floats:
        corners = model(at)
        where = np.concatenate([corners[n] for n in numbers])
        off = pixels(optics, Pose(at[:3], at[3:6]), where) - np.concatenate([seen[n] for n in numbers])
        return np.concatenate([off.ravel() / SIGMA_PX, [(at[6] - 1) / SIGMA_SIZE]])

    steps = np.concatenate([_POSE_STEPS, [1e-5], [1e-5] * len(free)])
    found = solve(rest, unknown, steps)
    corners = model(found.at)
    return _result(optics, found, seen, corners, places, size_mm=size_mm * float(found.at[6]) if sized else 0.0)


def _result(
    optics: Optics,
    found: Solution,
    seen: Mapping[int, Floats],
    corners: Mapping[int, Floats],
    places: Mapping[int, Place],
    *,
    size_mm: float,
) -> PlaneResult:
    pose = Pose(found.at[:3], found.at[3:6])
    off = {n: felt(optics, pose, seen[n]) - corners[n] for n in seen}
    whole = np.concatenate(list(off.values()))
    rms = float(np.sqrt(np.mean(np.sum(whole**2, axis=1))))
    rotation, translation = pose.rounded()
    markers = tuple(
        Marker(
            id=n,
            corners=tuple(Point(round(float(x) * 1000), round(float(y) * 1000)) for x, y in corners[n]),
            seen_upx=tuple((round(float(u) * 1e6), round(float(v) * 1e6)) for u, v in seen[n]),
        )
        for n in seen
    )
    plane = Plane(rotation_nrad=rotation, translation_um=translation, markers=markers, residual_um=round(rms * 1000))
    pixels_off = found.residuals[: 2 * len(whole)] * SIGMA_PX
    rms_px = float(np.sqrt(np.mean(pixels_off**2) * 2))
    return PlaneResult(plane, pose, dict(places), off, size_mm, rms_px)


def _explain(middles: Mapping[int, Floats], places: Mapping[int, Place], result: PlaneResult) -> None:
    """Raise `StepError` with what fits better: two markers swapped, one marker elsewhere; else the worst one."""
    numbers = list(middles)

    def off(chosen: Mapping[int, Place], without: int | None = None) -> float:
        left = [n for n in numbers if n != without]
        rays, points = np.array([middles[n] for n in left]), np.array([[chosen[n].x, chosen[n].y, 0.0] for n in left])
        try:
            pose = _start({n: middles[n] for n in left}, chosen)
        except StepError:
            return float("inf")
        return _off_middles(pose, rays, points) if pose.eye[2] > 0 else float("inf")

    now = max(result.rms_mm, MAX_RMS_MM)
    swaps = []
    for a, b in itertools.combinations(numbers, 2):
        swaps.append((off({**places, a: places[b], b: places[a]}), a, b))
    best, a, b = min(swaps)
    if best < min(2 * MAX_RMS_MM, now / 3):
        raise StepError(
            f"markers {a} and {b} are swapped: the picture fits the list ({best:.1f} mm) once the two change places. "
            "Swap them on the felt, or on the list, and repeat the step",
            code="swapped",
        )
    if len(numbers) > MIN_POINTS:
        best, worst = min((off(places, n), n) for n in numbers)
        if best < min(MAX_RMS_MM, now / 3):
            raise StepError(
                f"marker {worst} is not where the list has it (without it the others fit to {best:.1f} mm): measure "
                "its middle again",
                code="misplaced",
            )
    far = {n: float(np.sqrt(np.mean(np.sum(result.off_mm[n] ** 2, axis=1)))) for n in numbers}
    worst = max(far, key=lambda n: far[n])
    raise StepError(
        f"the places on the list and the picture differ by {result.rms_mm:.1f} mm (at most {MAX_RMS_MM:g}), most at "
        f"marker {worst} ({far[worst]:.1f} mm): measure the middles again, all from one point",
        code="residual",
    )


def _judge_size(found_mm: float, given_mm: float) -> None:
    if abs(found_mm / given_mm - 1) > MAX_SIZE_OFF:
        raise StepError(
            f"the markers are {found_mm:.1f} mm wide on this felt, not {given_mm:g}: measure the black square and give "
            "--size-mm, or the places were measured in another unit",
            code="size",
        )


def _judge_eye(pose: Pose) -> None:
    if pose.eye[2] < MIN_HEIGHT_MM:
        raise StepError(
            f"the camera would hang {pose.eye[2]:.0f} mm over the felt (at least {MIN_HEIGHT_MM:g}): were the places "
            "measured in mm?",
            code="residual",
        )
