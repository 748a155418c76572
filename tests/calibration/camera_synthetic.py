"""Pictures of flat things (board, felt with markers) through a known lens: what the camera steps are tested with.

The pictures are sampled through the inverse of OpenCV's projection, so the truth of lens and pose is exact; the
simulator's renderer, with a lens model of its own, is the second witness.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random
from typing import Any

import cv2
import numpy as np
import numpy.typing as npt

from calibration.board import Board

Floats = npt.NDArray[np.float64]
Image = npt.NDArray[np.uint8]

_TO_LINEAR = np.array(
    [v / 12.92 if v <= 0.04045 else ((v + 0.055) / 1.055) ** 2.4 for v in np.arange(256) / 255], dtype=np.float32
)


@dataclass(frozen=True)
class Camera:
    """A lens: 1280 x 720 with visible barrel distortion unless told otherwise."""

    size: tuple[int, int] = (1280, 720)
    matrix: Floats = field(
        default_factory=lambda: np.array([[930.0, 0, 652.0], [0, 928.0, 351.0], [0, 0, 1]], dtype=np.float64)
    )
    distortion: Floats = field(default_factory=lambda: np.array([-0.18, 0.06, 0.0007, -0.0005, -0.008]))

    def rays(self, fine: int = 1) -> Floats:
        """(h, w, 2) of x/z, y/z for each pixel of a picture ``fine`` times as fine."""
        w, h = self.size
        xs = (np.arange(w * fine) + 0.5) / fine - 0.5
        ys = (np.arange(h * fine) + 0.5) / fine - 0.5
        grid = np.stack(np.meshgrid(xs, ys), axis=-1).reshape(-1, 1, 2)
        stop = (cv2.TERM_CRITERIA_COUNT | cv2.TERM_CRITERIA_EPS, 40, 1e-8)
        found = cv2.undistortPointsIter(grid, self.matrix, self.distortion, np.eye(3), np.eye(3), stop)
        return found.reshape(h * fine, w * fine, 2)

    def picture(
        self,
        flat: Image,
        px_per_mm: float,
        rvec: Floats,
        tvec: Floats,
        *,
        origin: tuple[float, float] = (0.0, 0.0),
        up: bool = False,
        rays: Floats | None = None,
        seed: int = 0,
        blur: float = 0.5,
        noise: float = 1.5,
    ) -> Image:
        """(h, w, 3) of the plane z = 0 that carries ``flat`` (grey or BGR); ``origin``: its top left corner, mm.

        ``up`` is True where the plane's y grows towards the top of ``flat`` (a table), False where downwards (a board).
        """
        rays = self.rays() if rays is None else rays
        h, w = rays.shape[:2]
        rotation = cv2.Rodrigues(rvec)[0]
        eye = -rotation.T @ tvec
        d = np.concatenate([rays, np.ones((h, w, 1))], axis=-1) @ rotation
        at = eye + d * (-eye[2] / d[..., 2:3])
        x = (at[..., 0] - origin[0]) * px_per_mm - 0.5
        y = (origin[1] - at[..., 1] if up else at[..., 1] - origin[1]) * px_per_mm - 0.5
        # In linear light, as a lens blurs; as fine as the picture, or the sampling would alias.
        linear = _TO_LINEAR[flat]
        step = max(1.0, px_per_mm * abs(eye[2]) / self.matrix[0, 0])
        soft = cv2.GaussianBlur(linear, (0, 0), 0.45 * step) if step > 1.2 else linear
        back = tuple(float(v) for v in _TO_LINEAR[[90, 110, 70]]) if flat.ndim == 3 else float(_TO_LINEAR[95])
        image = cv2.remap(soft, x.astype(np.float32), y.astype(np.float32), cv2.INTER_LINEAR, borderValue=back)
        if blur > 0:
            image = cv2.GaussianBlur(image, (0, 0), blur)
        seen = np.where(image <= 0.0031308, image * 12.92, 1.055 * np.maximum(image, 0.0031308) ** (1 / 2.4) - 0.055)
        noisy = seen * 255 + np.random.default_rng(seed).normal(0, noise, image.shape)
        image = np.clip(np.rint(noisy), 0, 255).astype(np.uint8)
        return image if image.ndim == 3 else cv2.cvtColor(image, cv2.COLOR_GRAY2BGR)


def board_image(board: Board, px_per_mm: float = 4.0) -> tuple[Image, tuple[float, float]]:
    """The board with a white margin of 12 mm, and the place of its top left corner."""
    size = (round(board.columns * board.square_mm * px_per_mm), round(board.rows * board.square_mm * px_per_mm))
    gray = board.charuco().generateImage(size, marginSize=0)
    margin = round(12 * px_per_mm)
    wide = cv2.copyMakeBorder(gray, margin, margin, margin, margin, cv2.BORDER_CONSTANT, value=245)
    return np.clip(wide, 15, 245), (-12.0, -12.0)


def board_views(
    board: Board, camera: Camera, count: int, seed: int = 0, *, far_mm: tuple[float, float] = (420, 800), **how: object
) -> list[Image]:
    """Views of the board all over the picture, tilted each way, from near and far."""
    flat, origin = board_image(board)
    rays = camera.rays()
    random = Random(f"views {seed}")
    width, height = board.columns * board.square_mm, board.rows * board.square_mm
    made = []
    for k in range(count):
        column, row = k % 4, (k // 4) % 3
        tilt_x, tilt_y = random.uniform(-0.6, 0.6), random.uniform(-0.6, 0.6)
        turn = random.uniform(-0.4, 0.4) + (np.pi / 2 if random.random() < 0.25 else 0)
        rotation = cv2.Rodrigues(np.array([tilt_x, tilt_y, 0.0]))[0] @ cv2.Rodrigues(np.array([0.0, 0.0, turn]))[0]
        far = random.uniform(*far_mm)
        middle = np.array([width / 2, height / 2, 0.0])
        w, h = camera.size
        px = np.array([w * (0.16 + 0.227 * column), h * (0.22 + 0.28 * row)])
        ray = np.array([*((px - camera.matrix[:2, 2]) / camera.matrix[0, 0]), 1.0])
        tvec = ray * far - rotation @ middle
        rvec = cv2.Rodrigues(rotation)[0].ravel()
        given: dict[str, Any] = {"origin": origin, "rays": rays, "seed": seed * 1000 + k, **how}
        made.append(camera.picture(flat, 4.0, rvec, tvec, **given))
    return made


@dataclass(frozen=True)
class Table:
    """A felt of 2200 x 1100 mm, its middle the origin, with markers; and a camera 1.5 m over it, a little askew."""

    camera: Camera = field(default_factory=Camera)
    places: dict[int, tuple[float, float, float]] = field(
        default_factory=lambda: {
            0: (-820.0, -380.0, 0.1),
            1: (-840.0, 360.0, -0.3),
            2: (20.0, 410.0, 2.0),
            3: (810.0, 350.0, 0.8),
            4: (830.0, -390.0, -1.2),
            5: (250.0, -400.0, 0.0),
        }
    )
    """x, y in mm and turn in radians of each marker's middle."""
    size_mm: float = 90.0
    tilt: tuple[float, float, float] = (0.06, -0.04, 0.02)
    eye: tuple[float, float, float] = (40.0, -30.0, 1650.0)

    @property
    def pose(self) -> tuple[Floats, Floats]:
        """Rotation vector and translation (mm)."""
        rotation = cv2.Rodrigues(np.array(self.tilt))[0] @ np.diag([1.0, -1.0, -1.0])
        return cv2.Rodrigues(rotation)[0].ravel(), -rotation @ np.array(self.eye)

    def felt(self, px_per_mm: float = 1.0) -> tuple[Image, tuple[float, float]]:
        """The felt seen from above, and the place of its top left corner."""
        half_x, half_y = 1150.0, 650.0
        image = np.full((round(2 * half_y * px_per_mm), round(2 * half_x * px_per_mm), 3), (60, 95, 40), dtype=np.uint8)
        dictionary = cv2.aruco.getPredefinedDictionary(cv2.aruco.DICT_4X4_50)
        for number, (x, y, turn) in self.places.items():
            fine = cv2.aruco.generateImageMarker(dictionary, number, 180)
            fine = cv2.copyMakeBorder(fine, 30, 30, 30, 30, cv2.BORDER_CONSTANT, value=255)
            fine = np.clip(fine, 20, 235)
            scale = 180 / self.size_mm
            c, s = np.cos(turn), np.sin(turn)
            # from the felt's pixels to the marker's: its own x to the right, y down
            inverse = np.array([[c, -s], [s, c]]) * scale / px_per_mm
            at = np.array([(x + half_x) * px_per_mm, (half_y - y) * px_per_mm]) - 0.5
            shift = np.array([119.5, 119.5]) - inverse @ at
            patch = cv2.warpAffine(
                cv2.cvtColor(fine, cv2.COLOR_GRAY2BGR),
                np.column_stack([inverse, shift]),
                (image.shape[1], image.shape[0]),
                flags=cv2.INTER_AREA | cv2.WARP_INVERSE_MAP,
                borderValue=(0, 0, 0),
            )
            image = np.where(patch > 0, patch, image)
        return image, (-half_x, half_y)

    def picture(self, seed: int = 0, **how: object) -> Image:
        """What the camera sees."""
        flat, origin = self.felt(2.0)
        rvec, tvec = self.pose
        given: dict[str, Any] = {"origin": origin, "up": True, "seed": seed, **how}
        return self.camera.picture(flat, 2.0, rvec, tvec, **given)
