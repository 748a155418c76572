"""A broken JPEG is a fault, never a picture."""

from __future__ import annotations

import cv2
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tabled.sensing.capture import MAX_JPEG
from tabled.sensing.picture import BadPicture, decode


def _made() -> bytes:
    noise = np.random.default_rng(1).integers(0, 255, (72, 128, 3), dtype=np.uint8)
    return cv2.imencode(".jpg", cv2.GaussianBlur(noise, (0, 0), 2))[1].tobytes()


GOOD = _made()


def test_a_whole_frame_is_a_picture_and_padding_is_allowed() -> None:
    picture = decode(GOOD, (128, 72))
    assert picture.shape == (72, 128, 3)
    plain = cv2.imdecode(np.frombuffer(GOOD, np.uint8), cv2.IMREAD_COLOR)
    assert np.abs(picture.astype(int) - plain).mean() < 4
    assert (decode(GOOD + b"\0" * 100, (128, 72)) == picture).all()


def test_standard_huffman_tables_may_be_left_out() -> None:
    """As Motion-JPEG cameras do."""
    bare, at = GOOD[:2], 2
    while GOOD[at : at + 2] != b"\xff\xda":
        size = 2 + int.from_bytes(GOOD[at + 2 : at + 4], "big")
        if GOOD[at + 1] != 0xC4:
            bare += GOOD[at : at + size]
        at += size
    assert len(bare + GOOD[at:]) < len(GOOD) - 300
    assert (decode(bare + GOOD[at:], (128, 72)) == decode(GOOD, (128, 72))).all()


@settings(max_examples=60)
@given(st.integers(0, len(GOOD) - 1))
def test_a_frame_that_is_cut_anywhere_is_refused(length: int) -> None:
    with pytest.raises(BadPicture):
        decode(GOOD[:length], (128, 72))
    with pytest.raises(BadPicture):
        decode(GOOD[:length] + b"\xff\xd9", (128, 72)) if length < len(GOOD) - 40 else decode(b"", (128, 72))


@settings(max_examples=60)
@given(st.binary(max_size=400))
def test_garbage_is_refused(data: bytes) -> None:
    with pytest.raises(BadPicture):
        decode(data, (128, 72))


def test_another_size_a_marker_in_the_scan_and_a_giant_are_refused() -> None:
    with pytest.raises(BadPicture, match="128 x 72"):
        decode(GOOD, (64, 72))
    middle = GOOD.find(b"\xff\xda") + 200
    with pytest.raises(BadPicture, match="marker"):
        decode(GOOD[:middle] + b"\xff\xc4" + GOOD[middle + 2 :], (128, 72))
    with pytest.raises(BadPicture, match="bytes"):
        decode(b"\xff\xd8" + b"\0" * MAX_JPEG + b"\xff\xd9", (128, 72))
