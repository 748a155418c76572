"""What one frame costs the camera's eye, from JPEG bytes to observations, beside decoding alone.

Run: ``python -m tests.bench.bench_vision [SECONDS]``.  Frames are the simulator's, 1280 x 720 at 60 a second, nine
seats, rendered first (a tenth of a second each).  One thread; CPU time, so that a busy machine does not show as much.
The period is 16.7 ms; the goal a p95 of 9 ms.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

from hw_sim.scene import world
from tabled.sensing.eye import Eye
from tabled.sensing.picture import decode
from tests.vision.rig import calibration_of

SIZE = (1280, 720)


def _quantiles(times: list[int]) -> str:
    times.sort()
    return f"{times[len(times) // 2] / 1e6:8.2f} {times[len(times) * 95 // 100] / 1e6:8.2f} {times[-1] / 1e6:8.2f}"


def _measure(frames: list[tuple[int, bytes]], work: Callable[[int, bytes], object]) -> list[int]:
    times = []
    for stamp, jpeg in frames:
        start = time.process_time_ns()
        work(stamp, jpeg)
        times.append(time.process_time_ns() - start)
    return times


def main(seconds: str = "6") -> None:
    """Measure and print."""
    scene = world(1, "baseline", seconds=float(seconds))
    frames = [(shot.stamp_ns, shot.jpeg) for shot in scene.frames()]
    eye = Eye(calibration_of(scene), SIZE)
    floor = _measure(frames, lambda _, jpeg: decode(jpeg, SIZE))
    whole = _measure(frames, eye.see)
    mean = sum(len(jpeg) for _, jpeg in frames) // len(frames)
    print(f"{len(frames)} frames of {mean} bytes, {len(eye.lanes)} zones; ms       p50      p95      max")
    print(f"  decoding alone                              {_quantiles(floor)}")
    print(f"  frame to observations                       {_quantiles(whole[32:])}")


if __name__ == "__main__":
    main(*sys.argv[1:2])
