"""How well the camera's eye sees: a table for each condition of the rendered table, and a contact sheet to look at.

    python -m tests.vision --seeds 101-103 --conditions baseline,flicker --seconds 20 --sheet sheet.png

Seeds 1 to 20 are for development; figures that count come from 101 upwards.  A frame takes the renderer a tenth of a
second, so keep them (``--keep FOLDER``) when you look more than once.
"""

from __future__ import annotations

import argparse
import math
from pathlib import Path

import cv2
import numpy as np

from hw_sim.scene import CONDITIONS
from tests.vision.rig import calibration_of
from tests.vision.run import Run, make, sheet
from tests.vision.score import Tally

HEAD = (
    f"{'condition':12} {'s':>4} {'steps':>5} {'F1':>6} {'miss':>4} {'false':>5} {'doubt':>5} {'side':>5} "
    f"{'bias':>5} {'p95':>5} {'span':>5} {'holds':>6} {'1or2':>4} {'right':>6} {'unsure':>6} {'wrong':>6} "
    f"{'land':>4} {'recall':>6} {'false':>5} {'p95mm':>5} {'holds':>6} {'colour':>6} "
    f"{'untag':>6} {'blame':>6} {'blind':>5}"
)


def _share(part: float, whole: float) -> str:
    return f"{part / whole:.3f}" if whole else "-"


def _p(values: list[float], q: float) -> str:
    return f"{np.percentile(values, q):.1f}" if values else "-"


def row(name: str, t: Tally) -> str:
    """One condition's line."""
    parted = t.parted_right + t.parted_unsure + t.parted_wrong
    f1 = "-" if math.isnan(t.f1) else f"{t.f1:.3f}"
    bias = f"{np.mean(t.late):.1f}" if t.late else "-"
    return (
        f"{name:12} {t.seconds:4.0f} {t.hits + t.misses:5} {f1:>6} {t.misses:4} {t.false:5} {t.perhaps:5} "
        f"{_share(t.side_right, t.hits):>5} {bias:>5} {_p([abs(v) for v in t.late], 95):>5} {_p(t.widths, 50):>5} "
        f"{_share(t.covered, len(t.late)):>6} {parted:4} {_share(t.parted_right, parted):>6} "
        f"{_share(t.parted_unsure, parted):>6} {_share(t.parted_wrong, parted):>6} "
        f"{t.landed:4} {_share(t.landed - t.landed_missed, t.landed):>6} {t.landed_false:5} {_p(t.places, 95):>5} "
        f"{_share(sum(t.spans), len(t.spans)):>6} {_share(sum(t.colours), len(t.colours)):>6} "
        f"{t.untagged_found}/{t.untagged:<4} "
        f"{t.tagged_blamed}/{t.tagged:<4} {t.distrust_s:5.1f}"
    )


def _seeds(text: str) -> list[int]:
    out: list[int] = []
    for part in text.split(","):
        low, _, high = part.partition("-")
        out += range(int(low), int(high or low) + 1)
    return out


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=_seeds, default=[101])
    parser.add_argument("--conditions", default="baseline", help=f"some of {', '.join(CONDITIONS)}, or all")
    parser.add_argument("--pairs", default="", help="SEED:CONDITION[:SECONDS],… in place of --seeds and --conditions")
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--seats", type=int, default=9)
    parser.add_argument("--keep", type=Path)
    parser.add_argument("--sheet", type=Path, help="write an annotated contact sheet there")
    parser.add_argument("--notes", action="store_true", help="print every fault")
    asked = parser.parse_args()
    names = list(CONDITIONS) if asked.conditions == "all" else asked.conditions.split(",")
    pairs = [(seed, name, asked.seconds) for name in names for seed in asked.seeds]
    if asked.pairs:
        told = [p.split(":") for p in asked.pairs.split(",")]
        pairs = [(int(p[0]), p[1], float(p[2]) if len(p) > 2 else asked.seconds) for p in told]
    tallies: dict[str, Tally] = {}
    crops = []
    cpu: list[float] = []
    for seed, name, seconds in pairs:
        scene = make(seed, name, seconds, asked.seats)
        run = Run(scene, calibration_of(scene, asked.keep), asked.keep)
        tally = run.go()
        tallies.setdefault(name, Tally()).add(tally)
        crops += run.crops
        cpu += run.cpu_ms
        if asked.notes:
            print(f"-- {name} {seed}: " + "\n   ".join(tally.notes), flush=True)
    print(f"seeds {sorted({pair[0] for pair in pairs})}, {asked.seats} seats; times ms, places mm")
    print(HEAD)
    for name, tally in tallies.items():
        print(row(name, tally))
    for name, tally in tallies.items():
        for kind, delays in tally.disturbed.items():
            told = ", ".join("missed" if d is None else f"{d:.2f}" for d in delays)
            print(f"{name}: {kind} told after {told} s")
        if tally.false_distrust:
            print(f"{name}: distrust without a cause {tally.false_distrust}")
    print(f"CPU a frame, decoding included: p50 {_p(cpu, 50)} ms, p95 {_p(cpu, 95)} ms")
    if asked.sheet:
        cv2.imwrite(str(asked.sheet), sheet(crops))


if __name__ == "__main__":
    main()
