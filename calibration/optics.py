"""The camera as arrays: what OpenCV takes, made of a `Lens` and a `Plane` and the other way round.

Lengths in mm, picture coordinates in pixels.
"""

from __future__ import annotations

from collections.abc import Sequence

import cv2
import msgspec
import numpy as np
import numpy.typing as npt

from tabled.model.calibration import Lens, Plane, Point

Floats = npt.NDArray[np.float64]
_EXACT = (cv2.TERM_CRITERIA_COUNT | cv2.TERM_CRITERIA_EPS, 60, 1e-10)
"""Of the inversion of the distortion; OpenCV's own five turns leave up to a pixel at the edge of a wide lens."""


class Optics(msgspec.Struct, frozen=True):
    """A lens: size of its picture (width, height), camera matrix (3, 3), distortion (n,)."""

    size: tuple[int, int]
    matrix: Floats
    distortion: Floats

    @classmethod
    def of(cls, lens: Lens) -> Optics:
        """The arrays of a `Lens`."""
        matrix = np.array([[lens.fx_upx, 0, lens.cx_upx], [0, lens.fy_upx, lens.cy_upx], [0, 0, 1e6]]) / 1e6
        return cls((lens.width_px, lens.height_px), matrix, np.array(lens.distortion_e9, dtype=np.float64) / 1e9)

    def lens(self, rms_px: float, views: int) -> Lens:
        """As the model has it."""
        micro = np.rint(self.matrix * 1e6).astype(np.int64)
        return Lens(
            width_px=self.size[0],
            height_px=self.size[1],
            fx_upx=int(micro[0, 0]),
            fy_upx=int(micro[1, 1]),
            cx_upx=int(micro[0, 2]),
            cy_upx=int(micro[1, 2]),
            distortion_e9=tuple(int(k) for k in np.rint(self.distortion * 1e9)),
            rms_upx=round(rms_px * 1e6),
            views=views,
        )

    def straight(self, pixels: npt.ArrayLike) -> Floats:
        """(n, 2) coordinates x/z, y/z of the rays that are seen at raw pixels (n, 2)."""
        points = np.asarray(pixels, dtype=np.float64).reshape(-1, 1, 2)
        if not len(points):
            return np.zeros((0, 2))
        found = cv2.undistortPointsIter(points, self.matrix, self.distortion, np.eye(3), np.eye(3), _EXACT)
        return np.asarray(found, dtype=np.float64).reshape(-1, 2)

    def bent(self, rays: npt.ArrayLike) -> Floats:
        """(n, 2) raw pixels at which rays (n, 2) of x/z, y/z are seen: the inverse of `straight`."""
        flat = np.asarray(rays, dtype=np.float64).reshape(-1, 2)
        if not len(flat):
            return np.zeros((0, 2))
        points = np.column_stack([flat, np.ones(len(flat))])
        found, _ = cv2.projectPoints(points, np.zeros(3), np.zeros(3), self.matrix, self.distortion)
        return np.asarray(found, dtype=np.float64).reshape(-1, 2)

    def folds(self) -> float:
        """Greatest error in pixels of going from the picture to rays and back, over the whole picture.

        A distortion that was fitted in the middle alone may fold over at the corners: then this is many pixels.
        """
        w, h = self.size
        grid = np.stack(np.meshgrid(np.linspace(0, w - 1, 33), np.linspace(0, h - 1, 19)), axis=-1).reshape(-1, 2)
        error = np.hypot(*(self.bent(self.straight(grid)) - grid).T)
        return float(np.max(np.where(np.isfinite(error), error, np.inf)))


class Pose(msgspec.Struct, frozen=True):
    """Where the camera hangs over the table: rotation vector (3,) in radians and translation (3,) in mm."""

    rvec: Floats
    tvec: Floats

    @classmethod
    def of(cls, plane: Plane) -> Pose:
        """The arrays of a `Plane`."""
        return cls(np.array(plane.rotation_nrad) / 1e9, np.array(plane.translation_um) / 1e3)

    @property
    def rotation(self) -> Floats:
        """(3, 3), from the table's frame to the camera's."""
        return np.asarray(cv2.Rodrigues(self.rvec)[0], dtype=np.float64)

    @property
    def eye(self) -> Floats:
        """(3,) the camera's place in the table's frame, mm."""
        return np.asarray(-self.rotation.T @ self.tvec, dtype=np.float64)

    def felt(self, rays: Floats) -> Floats:
        """(n, 2) places on the felt that rays (n, 2) of x/z, y/z meet."""
        directions = np.column_stack([rays, np.ones(len(rays))]) @ self.rotation
        eye = self.eye
        return np.asarray((eye + directions * (-eye[2] / directions[:, 2:3]))[:, :2], dtype=np.float64)

    def rounded(self) -> tuple[tuple[int, int, int], tuple[int, int, int]]:
        """Rotation in thousand millionths of a radian, translation in µm."""
        r, t = np.rint(self.rvec * 1e9).astype(int).ravel(), np.rint(self.tvec * 1e3).astype(int).ravel()
        return (int(r[0]), int(r[1]), int(r[2])), (int(t[0]), int(t[1]), int(t[2]))


def pixels(optics: Optics, pose: Pose, felt_mm: npt.ArrayLike) -> Floats:
    """(n, 2) raw pixels of places on the felt (n, 2)."""
    flat = np.asarray(felt_mm, dtype=np.float64).reshape(-1, 2)
    if not len(flat):
        return np.zeros((0, 2))
    points = np.column_stack([flat, np.zeros(len(flat))])
    found, _ = cv2.projectPoints(points, pose.rvec, pose.tvec, optics.matrix, optics.distortion)
    return np.asarray(found, dtype=np.float64).reshape(-1, 2)


def felt(optics: Optics, pose: Pose, seen: npt.ArrayLike) -> Floats:
    """(n, 2) places on the felt that are seen at raw pixels (n, 2)."""
    return pose.felt(optics.straight(seen))


def mm(points: Sequence[Point]) -> Floats:
    """(n, 2) in mm."""
    return np.array([[p.x_um, p.y_um] for p in points], dtype=np.float64).reshape(-1, 2) / 1000


def marked(plane: Plane) -> tuple[Floats, Floats]:
    """(n, 2) each: where the corners of the markers lie in mm, and the raw pixels at which they were seen."""
    seen = np.array([p for m in plane.markers for p in m.seen_upx], dtype=np.float64) / 1e6
    return mm([p for m in plane.markers for p in m.corners]), seen
