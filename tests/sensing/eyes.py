"""Eyes for the sensing process that see little and behave badly on purpose.  They decode nothing and start quickly."""

from __future__ import annotations

import os
import signal
import sys
import threading
from pathlib import Path

from firmware_bridge.wire import DeviceId, TimeSpan
from tabled.model.calibration import Calibration
from tabled.model.camera import AnyCameraObservation, CameraTrust, HandMoved

MS = 1_000_000


class GoodEye:
    """Trusts itself from the first picture on, and sees a hand in every fifth."""

    def __init__(self, calibration: Calibration, size: tuple[int, int], *, device: DeviceId) -> None:
        self.device = device
        self.count = 0

    def see(self, stamp_ns: int, frame: bytes) -> list[AnyCameraObservation]:
        self.count += 1
        span = TimeSpan(stamp_ns, stamp_ns + MS)
        if self.count == 1:
            return [CameraTrust(self.device, span, trusted=True)]
        return [HandMoved(self.device, span, "1", "enters", "player")] if self.count % 5 == 0 else []


class Faulty(GoodEye):
    """Does what the file ``TABLED_TEST_FAULT`` names, once its third picture comes and while that file is there."""

    def see(self, stamp_ns: int, frame: bytes) -> list[AnyCameraObservation]:
        found = super().see(stamp_ns, frame)
        order = Path(os.environ["TABLED_TEST_FAULT"])
        if self.count < 3 or not order.exists():
            return found
        fault = order.read_text(encoding="ascii")
        if os.environ.get("TABLED_TEST_ONCE"):
            order.unlink()
        if fault == "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        elif fault == "raise":
            raise RuntimeError("the eye has a fault")
        elif fault == "hang":
            threading.Event().wait()
        elif fault == "garbage":
            # The pipe is whichever descriptor the process kept for itself: the highest that is a pipe and not 0..2.
            for number in range(3, 32):
                try:
                    if os.readlink(f"/proc/self/fd/{number}").startswith("pipe:"):
                        os.write(number, b"\xff" * 4096)
                except OSError:
                    continue
        elif fault == "flood":
            span = TimeSpan(stamp_ns, stamp_ns)
            return [HandMoved(self.device, span, "1", "enters")] * 250
        elif fault == "print":
            print("a library prints what it likes", flush=True)
            sys.stdout.flush()
        return found
