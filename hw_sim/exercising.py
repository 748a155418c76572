"""``python -m hw_sim.exercising STEP``: a step of the calibration at a simulated table, done by a robot, to be watched.

The command is the real one, in a process of its own; the robot reads its screen, moves the chips and presses Enter.
What is true at this table is printed at the end, to compare.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from hw_sim.devices.physics import Timing
from hw_sim.exercise import Clocks, Stand, Truth

SEATS = 6
TRUTH = Truth(
    lone=dict.fromkeys(range(1, SEATS + 1), 0.04) | {4: 0.15},
    stack=dict.fromkeys(range(1, SEATS + 1), 0.12),
    bleed={(1, 2): 0.01, (2, 1): 0.01, (3, 4): 0.06, (4, 3): 0.03},
)
PROMPT, WORD = b"[Enter] ", b">>> "


def attend(stand: Stand, command: Sequence[str]) -> int:
    """Run a command and obey its screen until it ends; its exit code."""
    with subprocess.Popen(  # noqa: S603 - our own command
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    ) as child:
        assert child.stdin is not None
        assert child.stdout is not None
        line = b""
        while byte := child.stdout.read(1):
            _show(byte)
            line += byte
            if line.endswith(PROMPT):
                if not stand.obey(line.decode().removeprefix("→ ")):
                    child.kill()
                    break
                child.stdin.write(b"\n")
                child.stdin.flush()
                _show(b"\n")
                line = b""
            elif byte == b"\n":
                if line.startswith(WORD):
                    stand.obey(line.decode())
                line = b""
    return child.returncode


def _show(data: bytes) -> None:
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()


def main(argv: list[str] | None = None) -> int:
    """Entry point."""
    p = argparse.ArgumentParser(prog="python -m hw_sim.exercising", description=(__doc__ or "").partition("\n")[0])
    p.add_argument("step", choices=("antennas", "chips", "time", "dealer"))
    p.add_argument("--folder", type=Path, help="the calibration folder (default: a temporary one)")
    p.add_argument("--swap", action="store_true", help="the cables of seats 1 and 2 are swapped")
    p.add_argument("--camera-late", type=float, default=23.0, metavar="MS", help="the camera's clock is so late")
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("options", nargs="*", help="options of the step, after --")
    args = p.parse_args(argv)
    truth = TRUTH if not args.swap else Truth(lone=TRUTH.lone, stack=TRUTH.stack, wiring={1: 2, 2: 1})
    with tempfile.TemporaryDirectory(prefix="tabled-exercise-") as name:
        table = Path(name)
        clocks, timing = Clocks(camera_late_ms=args.camera_late), Timing(real=args.step in ("time", "dealer"))
        with Stand(table, truth, seats=SEATS, seed=args.seed, timing=timing, clocks=clocks) as stand:
            command = [sys.executable, "-m", "tabled", "calibrate", args.step, "--config", str(stand.config())]
            command += ["--folder", str(args.folder or table / "calibration")]
            command += ["--landings", str(stand.landings)] if args.step == "time" else []
            code = attend(stand, [*command, *args.options])
            print(f"\ntrue: {truth}\n      camera late {args.camera_late} ms, dealer {_span(stand.reactions_ms)}")
            for sentence in stand.misunderstood:
                print(f"the robot does not understand: {sentence}", file=sys.stderr)
    return code


def _span(times_ms: Sequence[float]) -> str:
    return f"{min(times_ms):.0f} to {max(times_ms):.0f} ms" if times_ms else "did nothing"


if __name__ == "__main__":
    sys.exit(main())
