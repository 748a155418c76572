"""From the raw picture to millimetres on the felt: one precomputed map into an atlas of zones.

A zone's tile is upright: its columns run along the chord of the betting line, its rows from the player's side inwards.
What stands above the felt is seen displaced away from the camera's foot point, by ``height / (H - height)`` of its
distance from there; `Tile.lift` says what that does to the distance from the line.

Source: the pinhole and Brown-Conrady model of OpenCV's calib3d ("Camera Calibration and 3D Reconstruction").
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tabled.model.calibration import Calibration, Lens, Plane, Point, Zone
from tabled.sensing.opencv import cv2

MM_PER_PX = 3.0
"""Of the atlas: about a pixel of a 720p camera that sees the whole table, so that little is interpolated."""
PLAYER_MARGIN_MM = 150.0
SIDE_MARGIN_MM = 45.0
MAX_ZONES = 24
MAX_TILE_PX = 90_000
MAX_LINE_POINTS = 64

Floats = npt.NDArray[np.float32]
Bytes = npt.NDArray[np.uint8]


class GeometryError(ValueError):
    """The calibration cannot be used for pictures; the text says which step of it to do again."""


class View:
    """The camera over the table: points of the table's frame (mm) to raw pixels, and back to the felt."""

    def __init__(self, lens: Lens, plane: Plane) -> None:
        self.width, self.height = lens.width_px, lens.height_px
        self.matrix = (
            np.array([[lens.fx_upx, 0, lens.cx_upx], [0, lens.fy_upx, lens.cy_upx], [0, 0, 1e6]], dtype=np.float64)
            / 1e6
        )
        self.distortion = np.array(lens.distortion_e9, dtype=np.float64) / 1e9
        self.rvec = np.array(plane.rotation_nrad, dtype=np.float64) / 1e9
        self.tvec = np.array(plane.translation_um, dtype=np.float64) / 1e3
        self.rotation = cv2.Rodrigues(self.rvec)[0]
        self.eye_mm: npt.NDArray[np.float64] = -self.rotation.T @ self.tvec
        """Where the camera is, in the table's frame."""
        if self.matrix[0, 0] <= 0 or self.matrix[1, 1] <= 0:
            raise GeometryError("lens: a focal length that is not positive; do `tabled calibrate lens` again")
        if self.eye_mm[2] < 300:
            raise GeometryError(
                f"plane: the camera would hang {self.eye_mm[2]:.0f} mm over the felt, less than 300; "
                "do `tabled calibrate plane` again"
            )

    def pixels(self, points_mm: npt.ArrayLike) -> npt.NDArray[np.float64]:
        """Raw pixel coordinates (n, 2) of points (n, 3) or, on the felt, (n, 2)."""
        points = np.asarray(points_mm, dtype=np.float64).reshape(-1, np.asarray(points_mm).shape[-1])
        if points.shape[1] == 2:
            points = np.column_stack([points, np.zeros(len(points))])
        seen = cv2.projectPoints(points, self.rvec, self.tvec, self.matrix, self.distortion)[0]
        return np.asarray(seen).reshape(-1, 2)

    def felt(self, pixels: npt.ArrayLike) -> npt.NDArray[np.float64]:
        """Points of the felt (n, 2) in mm that are seen at raw pixels (n, 2)."""
        points = np.asarray(pixels, dtype=np.float64).reshape(-1, 1, 2)
        stop = (cv2.TERM_CRITERIA_COUNT | cv2.TERM_CRITERIA_EPS, 60, 1e-10)
        straight = cv2.undistortPointsIter(points, self.matrix, self.distortion, np.eye(3), np.eye(3), stop)
        flat = np.asarray(straight, dtype=np.float64).reshape(-1, 2)
        rays = np.column_stack([flat, np.ones(len(flat))]) @ self.rotation
        felt: npt.NDArray[np.float64] = (self.eye_mm + rays * (-self.eye_mm[2] / rays[:, 2:3]))[:, :2]
        return felt


@dataclass(frozen=True, slots=True, eq=False)
class Tile:
    """One zone's part of the atlas.  Arrays have its shape (rows, columns); lengths in mm.

    ``depth`` is the signed distance past the betting line, positive on the zone's side, of a thing that lies on the
    felt; a thing at height h over it is ``lift * h`` further in than it looks (``lift`` may be negative).  ``inward``
    is the signed distance from the zone's outline, positive inside.
    """

    seat: str
    top: int
    shape: tuple[int, int]
    origin: tuple[float, float]
    along: tuple[float, float]
    into: tuple[float, float]
    depth: Floats
    inward: Floats
    lift: Floats
    row: Floats
    """The sensor's row of each pixel, as a part of the picture's height (0…1)."""
    known: Bytes
    """255 where the picture has this place."""
    dealer: tuple[float, float]
    """Unit vector from the zone to the dealer, in the tile's axes (along, into)."""

    @property
    def rows(self) -> slice:
        """Its rows in the atlas."""
        return slice(self.top, self.top + self.shape[0])

    def table(self, x_px: float, y_px: float) -> tuple[float, float]:
        """The place on the felt, in mm of the table's frame, of a tile's pixel (column, row)."""
        u, v = (x_px + 0.5) * MM_PER_PX, (y_px + 0.5) * MM_PER_PX
        return (
            self.origin[0] + self.along[0] * u + self.into[0] * v,
            self.origin[1] + self.along[1] * u + self.into[1] * v,
        )

    def pixel(self, x_mm: float, y_mm: float) -> tuple[float, float]:
        """The tile's pixel (column, row) of a place on the felt."""
        dx, dy = x_mm - self.origin[0], y_mm - self.origin[1]
        u = dx * self.along[0] + dy * self.along[1]
        v = dx * self.into[0] + dy * self.into[1]
        return u / MM_PER_PX - 0.5, v / MM_PER_PX - 0.5


class Atlas:
    """All bet zones of a table beneath one another, and the map that fills them from a raw picture."""

    def __init__(self, calibration: Calibration, seats: tuple[str, ...] = ()) -> None:
        lens, plane, zones = calibration.lens, calibration.plane, calibration.zones
        for name, section in (("lens", lens), ("plane", plane), ("zones", zones)):
            if section is None:
                raise GeometryError(f"the calibration has no {name}: do `tabled calibrate {name}` first")
        assert lens is not None
        assert plane is not None
        assert zones is not None
        wanted = [z for z in zones.zones if z.kind == "bet" and (not seats or z.seat in seats)]
        missing = sorted(set(seats) - {z.seat for z in wanted})
        if missing or not wanted:
            raise GeometryError(f"no bet zone for seat {', '.join(missing) or '(any)'}: do `tabled calibrate zones`")
        if len(wanted) > MAX_ZONES:
            raise GeometryError(f"{len(wanted)} bet zones; at most {MAX_ZONES} can be watched by one camera")
        self.view = View(lens, plane)
        drafts = [_draft(self.view, zone, zones.dealer) for zone in wanted]
        self.width = max(d.shape[1] for d in drafts)
        tiles: list[Tile] = []
        maps = []
        top = 0
        for draft in drafts:
            at = _places(draft, self.width)
            maps.append(self.view.pixels(at.reshape(-1, 2)).reshape(draft.shape[0], self.width, 2))
            tiles.append(_tile(self.view, draft, top, at, maps[-1]))
            top += draft.shape[0]
        self.tiles: tuple[Tile, ...] = tuple(tiles)
        self.height = top
        whole = np.concatenate(maps).astype(np.float32)
        self._maps = cv2.convertMaps(whole[..., 0], whole[..., 1], cv2.CV_16SC2)

    def warp(self, picture: Bytes) -> Bytes:
        """The atlas (height, width, 3) of a raw BGR picture of the calibrated size."""
        if picture.shape[:2] != (self.view.height, self.view.width):
            raise GeometryError(
                f"the picture is {picture.shape[1]} x {picture.shape[0]}, the lens was calibrated at "
                f"{self.view.width} x {self.view.height}: set the camera to that, or calibrate the lens again"
            )
        return np.asarray(cv2.remap(picture, self._maps[0], self._maps[1], cv2.INTER_LINEAR))


@dataclass(frozen=True, slots=True)
class _Draft:
    seat: str
    outline: npt.NDArray[np.float64]
    line: npt.NDArray[np.float64]
    origin: npt.NDArray[np.float64]
    along: npt.NDArray[np.float64]
    into: npt.NDArray[np.float64]
    shape: tuple[int, int]
    dealer: tuple[float, float]


def _mm(points: tuple[Point, ...]) -> npt.NDArray[np.float64]:
    return np.array([(p.x_um, p.y_um) for p in points], dtype=np.float64) / 1e3


def _draft(view: View, zone: Zone, dealer: Point) -> _Draft:
    """The frame of a tile: along the line's chord, inwards from the player."""
    if not 3 <= len(zone.outline) <= MAX_LINE_POINTS or not 2 <= len(zone.line) <= MAX_LINE_POINTS:
        raise GeometryError(
            f"zone of seat {zone.seat}: an outline of {len(zone.outline)} and a line of {len(zone.line)} points; "
            f"3 and 2 at least, {MAX_LINE_POINTS} at most: do `tabled calibrate zones` again"
        )
    outline, line = _mm(zone.outline), _mm(zone.line)
    chord = line[-1] - line[0]
    length = float(np.hypot(*chord))
    if length < 20:
        raise GeometryError(f"zone of seat {zone.seat}: a betting line of {length:.0f} mm; draw the zone again")
    along = chord / length
    into = np.array([-along[1], along[0]])
    middle = outline.mean(axis=0)
    if np.dot(middle - line.mean(axis=0), into) < 0:
        line, along, into = line[::-1], -along, -into
    both = np.vstack([outline, line])
    u, v = both @ along, both @ into
    low = np.array([u.min() - SIDE_MARGIN_MM, v.min() - PLAYER_MARGIN_MM])
    high = np.array([u.max() + SIDE_MARGIN_MM, v.max() + SIDE_MARGIN_MM])
    shape = (int(np.ceil((high[1] - low[1]) / MM_PER_PX)), int(np.ceil((high[0] - low[0]) / MM_PER_PX)))
    if shape[0] * shape[1] > MAX_TILE_PX:
        raise GeometryError(f"zone of seat {zone.seat} is too large; draw it no larger than the betting area")
    seen = view.pixels(outline)
    if (seen.min() < 0) or (seen[:, 0].max() > view.width) or (seen[:, 1].max() > view.height):
        raise GeometryError(f"zone of seat {zone.seat} is not wholly in the picture: hang the camera higher")
    away = np.array([dealer.x_um, dealer.y_um]) / 1e3 - middle
    away /= max(1.0, float(np.hypot(*away)))
    origin = along * low[0] + into * low[1]
    return _Draft(zone.seat, outline, line, origin, along, into, shape, (float(away @ along), float(away @ into)))


def _places(draft: _Draft, width: int) -> npt.NDArray[np.float64]:
    """Where on the felt each pixel of the tile lies (rows, width, 2)."""
    u = (np.arange(width) + 0.5) * MM_PER_PX
    v = (np.arange(draft.shape[0]) + 0.5) * MM_PER_PX
    return draft.origin + u[None, :, None] * draft.along + v[:, None, None] * draft.into


def past_line(points: npt.NDArray[np.float64], line: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Signed distance of points (…, 2) from a polyline, its end pieces prolonged; positive on its left."""
    last = len(line) - 2
    best = np.full(points.shape[:-1], np.inf)
    signed = np.zeros(points.shape[:-1])
    for n in range(last + 1):
        a, b = line[n], line[n + 1]
        edge = b - a
        size = float(np.hypot(*edge))
        if size == 0:
            continue
        edge = edge / size
        to = points - a
        t = to @ edge
        low = -np.inf if n == 0 else 0.0
        high = np.inf if n == last else size
        foot = np.clip(t, low, high)[..., None] * edge
        away = np.hypot(*np.moveaxis(to - foot, -1, 0))
        side = edge[0] * to[..., 1] - edge[1] * to[..., 0]
        nearer = away < best
        best = np.where(nearer, away, best)
        signed = np.where(nearer, np.copysign(away, side), signed)
    return signed


def _tile(view: View, draft: _Draft, top: int, places: npt.NDArray[np.float64], seen: npt.NDArray[np.float64]) -> Tile:
    shape = (draft.shape[0], seen.shape[1])
    depth = past_line(places, draft.line)
    ring = ((draft.outline - draft.origin) @ np.column_stack([draft.along, draft.into])) / MM_PER_PX - 0.5
    inside = np.zeros(shape, np.uint8)
    cv2.fillPoly(inside, [np.round(ring * 16).astype(np.int32)], 255, shift=4)
    inward = cv2.distanceTransform(inside, cv2.DIST_L2, 5) - cv2.distanceTransform(255 - inside, cv2.DIST_L2, 5)
    # A thing at height h that looks to be at p truly is at p + (foot - p) * h / H; of that, the part along the normal.
    foot, high = view.eye_mm[:2], view.eye_mm[2]
    down, right = np.gradient(depth, MM_PER_PX)
    normal = np.dstack([right, down])
    in_axes = np.stack([(foot - places) @ draft.along, (foot - places) @ draft.into], axis=-1)
    lift = (normal * in_axes).sum(axis=-1) / high
    x, y = seen[..., 0], seen[..., 1]
    known = (x >= 0) & (y >= 0) & (x <= view.width - 1) & (y <= view.height - 1)
    # Padding on the right of a narrow tile shows a neighbour's ground.
    known[:, draft.shape[1] :] = False
    return Tile(
        seat=draft.seat,
        top=top,
        shape=shape,
        origin=(float(draft.origin[0]), float(draft.origin[1])),
        along=(float(draft.along[0]), float(draft.along[1])),
        into=(float(draft.into[0]), float(draft.into[1])),
        depth=depth.astype(np.float32),
        inward=(inward * MM_PER_PX).astype(np.float32),
        lift=lift.astype(np.float32),
        row=np.clip(y / view.height, 0.0, 1.0).astype(np.float32),
        known=np.where(known, 255, 0).astype(np.uint8),
        dealer=draft.dealer,
    )
