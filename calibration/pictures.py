"""Pictures from files, folders, films and cameras, one after the other, with a bound on each.

A camera's picture is taken as it is in the memory: an orientation that a program wrote beside it is not applied, for
sensing does not apply it either.
"""

from __future__ import annotations

import glob
from collections.abc import Iterator
from pathlib import Path

import cv2
import msgspec
import numpy as np
import numpy.typing as npt

from calibration.steps import StepError

Image = npt.NDArray[np.uint8]

SUFFIXES = frozenset({".png", ".jpg", ".jpeg", ".bmp", ".tif", ".tiff", ".pgm", ".ppm", ".webp"})
MAX_FILES = 400
MAX_BYTES = 64 << 20
MAX_PIXELS = 64_000_000
MIN_SIDE_PX = 64
_AS_IT_IS = cv2.IMREAD_COLOR | cv2.IMREAD_IGNORE_ORIENTATION


class Shot(msgspec.Struct, frozen=True):
    """One picture (height, width, 3) in BGR and the name under which it is spoken of."""

    name: str
    image: Image

    @property
    def size(self) -> tuple[int, int]:
        """Width and height."""
        return self.image.shape[1], self.image.shape[0]


def read_file(path: Path) -> Shot:
    """A picture from a file; raises `StepError`."""
    try:
        with path.open("rb") as file:
            raw = file.read(MAX_BYTES + 1)
    except OSError as problem:
        raise StepError(f"{path}: cannot be read ({problem.strerror}); check the name", code="no-picture") from problem
    if len(raw) > MAX_BYTES:
        raise StepError(f"{path}: is larger than a picture can be; is it the right file?", code="no-picture")
    return decode(raw, str(path))


def decode(raw: bytes, name: str) -> Shot:
    """A picture from the bytes of a file; raises `StepError`."""
    try:
        image = cv2.imdecode(np.frombuffer(raw, dtype=np.uint8), _AS_IT_IS) if raw else None
    except cv2.error:
        image = None
    if image is None:
        raise StepError(f"{name}: is no whole picture; take it again, or leave it out", code="no-picture")
    if min(image.shape[:2]) < MIN_SIDE_PX:
        raise StepError(f"{name}: is only {image.shape[1]} x {image.shape[0]} pixels; leave it out", code="no-picture")
    if image.shape[0] * image.shape[1] > MAX_PIXELS:
        raise StepError(f"{name}: has too many pixels ({image.shape[1]} x {image.shape[0]})", code="no-picture")
    return Shot(name, np.asarray(image, dtype=np.uint8))


def expand(lines: str) -> list[Path]:
    """The picture files that lines of names mean: files, folders (their pictures by name) and patterns with ``*``."""
    found: list[Path] = []
    for line in (part.strip() for part in lines.splitlines()):
        if not line:
            continue
        path = Path(line).expanduser()
        if path.is_dir():
            found += sorted(p for p in path.iterdir() if p.suffix.lower() in SUFFIXES)
        elif any(c in line for c in "*?["):
            found += sorted(Path(p) for p in glob.glob(str(path)))
        else:
            found.append(path)
    if not found:
        raise StepError(
            "no picture was found; name files, a folder or a pattern such as 'views/*.png'", code="no-files"
        )
    if len(found) > MAX_FILES:
        raise StepError(f"{len(found)} pictures are too many; {MAX_FILES} at most, 20 to 40 do", code="too-many-files")
    return found


def from_source(source: str) -> Iterator[Shot]:
    """Frames of a camera (``/dev/video0`` or ``0``), an address (``rtsp://``, ``http://``) or a film, until it ends.

    Raises `StepError` where it cannot be opened, and when it gives nothing any more.
    """
    camera = source.startswith("/dev/video") or source.isdigit()
    capture = (
        cv2.VideoCapture(int(source), cv2.CAP_V4L2)
        if source.isdigit()
        else (cv2.VideoCapture(source, cv2.CAP_V4L2) if camera else cv2.VideoCapture(source))
    )
    try:
        if not capture.isOpened():
            raise StepError(
                f"the camera {source!r} cannot be opened: check the cable, that no other program (tabled run) uses it, "
                "and that this user may read it (group video)",
                code="no-camera",
            )
        number = 0
        while True:
            good, image = capture.read()
            if not good or image is None:
                break
            number += 1
            yield Shot(f"frame {number}", np.asarray(image, dtype=np.uint8))
        if camera or not number:
            raise StepError(f"the camera {source!r} gives no picture any more: check its cable", code="no-camera")
    finally:
        capture.release()


def gray(image: Image) -> Image:
    """(height, width) brightness."""
    return np.asarray(cv2.cvtColor(image, cv2.COLOR_BGR2GRAY), dtype=np.uint8)


def png(image: Image) -> bytes:
    """The bytes of a PNG file."""
    good, raw = cv2.imencode(".png", image)
    if not good:
        raise ValueError("the picture could not be written as PNG")
    return raw.tobytes()


def jpeg(image: Image, quality: int = 80, width: int = 960) -> bytes:
    """A JPEG to look at, no wider than ``width``."""
    if image.shape[1] > width:
        height = round(image.shape[0] * width / image.shape[1])
        image = np.asarray(cv2.resize(image, (width, height), interpolation=cv2.INTER_AREA), dtype=np.uint8)
    good, raw = cv2.imencode(".jpg", image, [cv2.IMWRITE_JPEG_QUALITY, quality])
    if not good:
        raise ValueError("the picture could not be written as JPEG")
    return raw.tobytes()
