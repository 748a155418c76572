"""The plane step's markers in a picture: found by OpenCV, their corners then measured along their edges.

OpenCV's corner refinement looks at the corner alone, where blur and JPEG eat it away.  Here each of the four edges is
measured at some twenty places, made straight by the lens, and the corners are where the four lines cross.
"""

from __future__ import annotations

from collections.abc import Sequence

import cv2
import numpy as np
import numpy.typing as npt

from calibration.optics import Optics
from calibration.pictures import Shot, gray
from calibration.steps import StepError
from tabled.sensing.landmarks import detector_of
from tabled.sensing.light import LINEAR

Floats = npt.NDArray[np.float64]
Light = npt.NDArray[np.float32]

MIN_SIDE_PX = 14.0
"""A marker of six modules a side needs more than two pixels for each."""
MIN_CONTRAST = 0.05
"""Of an edge, in linear light (0…1)."""
_PLACES = np.linspace(0.12, 0.88, 24)


def find(shots: Sequence[Shot], optics: Optics, dictionary: str) -> dict[int, Floats]:
    """(4, 2) raw pixels of each marker's corners, the median over pictures of a table at rest.

    Raises `StepError` with code "lens-size", "mirrored", "twice" or "moved".
    """
    seen: dict[int, list[Floats]] = {}
    for shot in shots:
        if shot.size != optics.size:
            raise StepError(
                f"{shot.name}: is {shot.size[0]} x {shot.size[1]}, the lens was measured at {optics.size[0]} x "
                f"{optics.size[1]}: set the camera to that size, or repeat 'tabled calibrate lens'",
                code="lens-size",
            )
        for number, corners in _in_picture(shot, optics, dictionary).items():
            seen.setdefault(number, []).append(corners)
    found = {}
    for number, several in sorted(seen.items()):
        corners = np.median(np.array(several), axis=0)
        if float(np.abs(np.array(several) - corners).max()) > 2.0:
            raise StepError(
                f"marker {number} moved between the pictures: nobody may touch the table or the camera meanwhile",
                code="moved",
            )
        found[number] = corners
    return found


def _in_picture(shot: Shot, optics: Optics, dictionary: str) -> dict[int, Floats]:
    picture = gray(shot.image)
    detector = detector_of(dictionary, 0.02)
    corners, ids, _ = detector.detectMarkers(picture)
    if ids is None or not len(ids):
        _, flipped, _ = detector.detectMarkers(cv2.flip(picture, 1))
        if flipped is not None and len(flipped):
            raise StepError(
                f"{shot.name}: the picture is mirrored: the markers can be read only in a mirror. Switch off mirroring "
                "(flip) in the camera's settings, and repeat the lens step as well",
                code="mirrored",
            )
        return {}
    # In linear light: a camera's curve alone makes a black square look two per cent smaller than it is.
    light = LINEAR[picture]
    found: dict[int, Floats] = {}
    for number, quad in zip(np.asarray(ids).ravel(), corners, strict=True):
        rough = np.asarray(quad, dtype=np.float64).reshape(4, 2)
        if int(number) in found:
            raise StepError(
                f"{shot.name}: marker {number} lies on the table twice; take one away, or print another number",
                code="twice",
            )
        if np.hypot(*(np.roll(rough, -1, axis=0) - rough).T).min() >= MIN_SIDE_PX:
            found[int(number)] = _along_edges(light, rough, optics)
    return found


def _along_edges(light: Light, rough: Floats, optics: Optics) -> Floats:
    """The corners as crossings of the four edges; ``rough`` itself where the edges cannot be measured."""
    lines = []
    for index in range(4):
        points = _edge(light, rough[index], rough[(index + 1) % 4])
        if len(points) < 8:
            return rough
        rays = optics.straight(points)
        middle = rays.mean(axis=0)
        direction = np.linalg.svd(rays - middle)[2][0]
        off = (rays - middle) @ np.array([-direction[1], direction[0]])
        keep = np.abs(off) <= max(2.5 * float(np.median(np.abs(off))), 1e-9)
        middle = rays[keep].mean(axis=0)
        lines.append((middle, np.linalg.svd(rays[keep] - middle)[2][0]))
    crossings = []
    for index in range(4):
        (a, u), (b, v) = lines[index - 1], lines[index]
        share = np.linalg.solve(np.column_stack([u, -v]), b - a)
        crossings.append(a + share[0] * u)
    fine = optics.bent(np.array(crossings))
    return fine if float(np.hypot(*(fine - rough).T).max()) < 3.0 else rough


def _edge(light: Light, a: Floats, b: Floats) -> Floats:
    """(n, 2) points of the edge from a to b: where the brightness is half-way between outside and inside."""
    along = b - a
    length = float(np.hypot(*along))
    along = along / length
    outwards = np.array([along[1], -along[0]])  # corners run clockwise in the picture
    reach = min(max(2.5, 0.1 * length), 6.0)
    offsets = np.arange(-reach, reach + 1e-9, 0.25)
    starts = a + np.outer(_PLACES * length, along)
    points = (starts[:, None] + outwards * offsets[None, :, None]).astype(np.float32)
    sampled = cv2.remap(light, points, np.zeros(0, np.float32), cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
    values = np.asarray(sampled, dtype=np.float64)
    third = len(offsets) // 4
    dark, bright = np.median(values[:, :third], axis=1), np.median(values[:, -third:], axis=1)
    found = []
    for row, low, high, start in zip(values, dark, bright, starts, strict=True):
        if high - low < MIN_CONTRAST:
            continue
        above = row > (low + high) / 2
        crossings = np.flatnonzero(~above[:-1] & above[1:])
        if len(crossings) != 1:
            continue
        k = int(crossings[0])
        share = ((low + high) / 2 - row[k]) / (row[k + 1] - row[k])
        found.append(start + outwards * (offsets[k] + 0.25 * share))
    return np.array(found).reshape(-1, 2)
