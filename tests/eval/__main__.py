"""``python -m tests.eval``: thousands of acts against the core, and where it is wrong, asks or is late."""

from __future__ import annotations

import argparse
import sys
import time

from hw_sim.noise import Disturbance
from hw_sim.styles import ROOM, STYLES
from tests.eval import convert, report
from tests.eval.play import play_table
from tests.eval.run import evaluate


def parser() -> argparse.ArgumentParser:
    """The command line."""
    p = argparse.ArgumentParser(prog="python -m tests.eval", description=__doc__)
    p.add_argument("--acts", type=int, default=20_000)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--jobs", type=int, default=2)
    p.add_argument("--camera", choices=("on", "off"), default="on")
    p.add_argument("--quiet", action="store_true", help="perfect sensors")
    p.add_argument("--noise", action="append", default=[], metavar="NAME=VALUE", help="see hw_sim/noise.py")
    p.add_argument("--style", action="append", default=[], metavar="NAME", help=f"only {', '.join(sorted(STYLES))}")
    p.add_argument("--only", metavar="SEED:INDEX", help="one table")
    p.add_argument("--trace", action="store_true", help="with --only: all that was seen and said")
    return p


def main(argv: list[str] | None = None) -> int:
    """Run; 0 if nothing was wrong."""
    args = parser().parse_args(argv)
    noise = Disturbance().without_noise() if args.quiet else Disturbance()
    try:
        for text in args.noise:
            noise = noise.change(text)
    except ValueError as e:
        print(e, file=sys.stderr)
        return 2
    if args.camera == "off":
        noise = noise.change("camera=false")
    unknown = [s for s in args.style if s not in STYLES]
    if unknown:
        print(f"no style {unknown[0]!r}; there are {', '.join(sorted(STYLES))}", file=sys.stderr)
        return 2
    styles = dict.fromkeys(args.style, 1.0) or dict(ROOM)
    began = time.perf_counter()
    if args.only:
        seed, _, index = args.only.partition(":")
        how = {"trace": lambda line: print(line[:400])} if args.trace else {}
        tables = [play_table(int(seed), int(index), noise, styles=styles, **how)]
    else:
        tables = evaluate(args.seed, args.acts, noise, styles=styles, jobs=args.jobs)
    took = time.perf_counter() - began
    seen = "camera off" if not noise.camera else "camera" if convert.core_sees_cameras() else "core takes no camera yet"
    title = f"seed {args.seed}, {seen}, {sum(len(t.acts) for t in tables)} acts in {took:.0f} s"
    print(report.table(tables, title=title))
    s = report.sums(tables)
    return 1 if s.wrong or s.extra or s.unruled else 0


if __name__ == "__main__":
    raise SystemExit(main())
