"""One JPEG of a Motion-JPEG stream to a picture; what is broken is an error, never an empty or half-grey picture."""

from __future__ import annotations

import numpy as np
import simplejpeg

from tabled.sensing.capture import MAX_JPEG
from tabled.sensing.geometry import Bytes

_END = b"\xff\xd9"


class BadPicture(ValueError):
    """A frame that cannot be believed: cut off, corrupt or of another size.  It counts as no frame at all."""


def decode(jpeg: bytes, size: tuple[int, int]) -> Bytes:
    """The BGR picture (height, width, 3) of a JPEG of ``size`` (width, height); `BadPicture` if anything is amiss.

    The fast DCT and the plain chroma upsampling of libjpeg-turbo are good enough here and save a quarter.  Cameras
    that leave out the Huffman tables (as Motion-JPEG allows) are read with the standard's.
    """
    if len(jpeg) > MAX_JPEG:
        raise BadPicture(f"a frame of {len(jpeg)} bytes; a camera sends at most {MAX_JPEG}")
    if not jpeg.startswith(b"\xff\xd8") or jpeg.rstrip(b"\0")[-2:] != _END:
        raise BadPicture("a frame that is cut off: look at the USB cable and what else is on that hub")
    _check_markers(jpeg)
    try:
        picture: Bytes = simplejpeg.decode_jpeg(jpeg, colorspace="BGR", fastdct=True, fastupsample=True, strict=True)
    except ValueError as fault:
        raise BadPicture(f"a corrupt frame ({fault}): look at the USB cable") from fault
    if picture.shape[:2] != (size[1], size[0]):
        raise BadPicture(f"a frame of {picture.shape[1]} x {picture.shape[0]}, {size[0]} x {size[1]} was set")
    # What follows a lost part of the scan is filled with one value, to the last row.
    tail = picture[-8:]
    if int(tail.max()) == int(tail.min()) == 128:
        raise BadPicture("a frame whose end is missing: look at the USB cable")
    return picture


def _check_markers(jpeg: bytes) -> None:
    """No marker but a restart may stand in the scan (ITU-T T.81, B.1.1.2); the decoder would skip over it."""
    start = jpeg.find(b"\xff\xda")
    if start < 0:
        raise BadPicture("a frame without a picture in it: look at the USB cable")
    scan = np.frombuffer(jpeg, np.uint8, offset=start + 2)
    at = np.flatnonzero(scan[:-1] == 0xFF)
    after = scan[at + 1]
    strange = after[(after != 0) & ((after < 0xD0) | (after > 0xD7))]
    # Fill bytes (FF FF) are allowed; the end is the last but padding.
    strange = strange[strange != 0xFF]
    if strange.size != 1 or strange[0] != 0xD9:
        raise BadPicture("a frame with a marker inside its scan: look at the USB cable")
