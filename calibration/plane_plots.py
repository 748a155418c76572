"""Pictures to judge a plane by: the markers over the camera's picture, and the error over the felt."""

from __future__ import annotations

import cv2
import numpy as np
import numpy.typing as npt

from calibration.lens_plots import text
from calibration.optics import Optics, felt, mm, pixels
from calibration.pictures import Shot
from calibration.plane import PlaneResult, pose_covariance, spread_mm

Image = npt.NDArray[np.uint8]
WIDTH = 960


def seen(optics: Optics, result: PlaneResult, shot: Shot) -> Image:
    """The picture with each marker as it was seen (green) and as the list and the pose put it (red)."""
    scale = WIDTH / shot.size[0]
    canvas = np.asarray(
        cv2.resize(shot.image, (WIDTH, round(shot.size[1] * scale)), interpolation=cv2.INTER_AREA), dtype=np.uint8
    )
    for marker in result.plane.markers:
        at = np.array(marker.seen_upx, dtype=np.float64) / 1e6 * scale
        put = pixels(optics, result.pose, mm(marker.corners)) * scale
        for points, colour in ((at, (80, 220, 80)), (put, (60, 60, 230))):
            if len(points) > 1:
                cv2.polylines(canvas, [np.rint(points * 8).astype(np.int32)], True, colour, 1, cv2.LINE_AA, 3)
            else:
                cv2.drawMarker(canvas, (round(float(points[0, 0])), round(float(points[0, 1]))), colour)
        off = float(np.sqrt(np.mean(np.sum(result.off_mm[marker.id] ** 2, axis=1))))
        label = (round(float(at[:, 0].max())) + 6, round(float(at[:, 1].min())) + 4)
        text(canvas, f"{marker.id}: {off:.1f} mm", label, 0.5, (255, 255, 255))
    return canvas


def error_map(optics: Optics, result: PlaneResult) -> Image:
    """Standard deviation in mm of a place on the felt, over the camera's picture."""
    w, h = optics.size
    columns, rows = 32, max(2, round(32 * h / w))
    us, vs = (np.arange(columns) + 0.5) * w / columns, (np.arange(rows) + 0.5) * h / rows
    grid = np.stack(np.meshgrid(us, vs), axis=-1).reshape(-1, 2)
    covariance = pose_covariance(optics, result.plane)
    errors = spread_mm(optics, result.pose, covariance, felt(optics, result.pose, grid)).reshape(rows, columns)
    shade = np.clip(errors / 2.0 * 255, 0, 255).astype(np.uint8)
    canvas = np.asarray(
        cv2.resize(cv2.applyColorMap(shade, cv2.COLORMAP_VIRIDIS), (WIDTH, round(WIDTH * h / w))), dtype=np.uint8
    )
    for column in range(2, columns, 4):
        for row in range(1, rows, 4):
            at = (round((column + 0.1) * WIDTH / columns), round((row + 0.7) * WIDTH / columns))
            text(canvas, f"{errors[row, column]:.2f}", at, 0.42, (255, 255, 255))
    text(canvas, "standard deviation of a place on the felt, mm (yellow: 2 and more)", (12, 22), 0.5, (255, 255, 255))
    return canvas
