"""Small pictures, and sources that obey a test."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from pathlib import Path

import cv2
import numpy as np

from tabled.sensing.capture import CaptureProblem, Frame, Stamps

ROOT = Path(__file__).resolve().parents[2]
MS = 1_000_000
PERIOD_NS = 50 * MS


def picture(n: int, width: int = 96, height: int = 64) -> bytes:
    """A JPEG that no other number gives."""
    image = np.full((height, width, 3), 40, np.uint8)
    cv2.rectangle(image, (n % 60, 10), (n % 60 + 20, 40), (30, 200, 90 + n % 100), -1)
    done, jpeg = cv2.imencode(".jpg", image)
    assert done
    return jpeg.tobytes()


class Hands:
    """A source whose frames the test hands out, one by one."""

    stamps: Stamps = "kernel"

    def __init__(self, *, lossless: bool = False) -> None:
        self.model = "hands"
        self.notes: tuple[str, ...] = ("a note",)
        self.lossless = lossless
        self.closed = threading.Event()
        self._frames: queue.Queue[Frame | Exception] = queue.Queue()

    def open(self) -> None:
        pass

    def give(self, frame: Frame | Exception) -> None:
        self._frames.put(frame)

    def read(self, timeout_s: float) -> Frame | None:
        try:
            given = self._frames.get(timeout=min(timeout_s, 0.01))
        except queue.Empty:
            return None
        if isinstance(given, Exception):
            raise given
        return given

    def close(self) -> None:
        self.closed.set()


def frame(n: int, at_ns: int | None = None, jpeg: bytes | None = None) -> Frame:
    when = n * PERIOD_NS if at_ns is None else at_ns
    return Frame(when, when, n, picture(n) if jpeg is None else jpeg)


def until(true: Callable[[], object], *, turns: int = 200_000) -> None:
    """Wait for something that another thread does; how long it takes decides nothing."""
    pause = threading.Event()
    for _ in range(turns):
        if true():
            return
        pause.wait(0.002)
    raise AssertionError("what was waited for never came")


PROBLEM = CaptureProblem("the lens is capped", "take the cap off")
