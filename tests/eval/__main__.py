"""``python -m tests.eval``: thousands of acts against the core, and where it is wrong, asks or is late."""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

import msgspec

from hw_sim.noise import Disturbance
from hw_sim.styles import ROOM, STYLES
from tests.eval import convert, hands, report, sweep
from tests.eval.play import play_table
from tests.eval.run import evaluate
from tests.eval.tally import TableResult


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
    p.add_argument("--sweep", action="store_true", help="each noise from none to far beyond the reference")
    p.add_argument("--sweep-acts", type=int, default=1_000, help="acts a point (default 1000)")
    p.add_argument("--hands", action="store_true", help="also count presses over ../shared/hands")
    p.add_argument("--out", type=Path, metavar="DIR", help="also write the table, the sums and the plot there")
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
    if args.only:
        return _one(args, noise, styles)
    return _many(args, noise, styles)


def _one(args: argparse.Namespace, noise: Disturbance, styles: dict[str, float]) -> int:
    seed, _, index = args.only.partition(":")
    if not (seed.isdigit() and index.isdigit()):
        print(f"--only {args.only}: give SEED:INDEX as a report names it, such as 1:17", file=sys.stderr)
        return 2
    trace = (lambda line: print(line[:400])) if args.trace else None
    return _tell(args, noise, [play_table(int(seed), int(index), noise, styles=styles, trace=trace)], 0.0)


def _many(args: argparse.Namespace, noise: Disturbance, styles: dict[str, float]) -> int:
    began = time.perf_counter()
    tables = evaluate(args.seed, args.acts, noise, styles=styles, jobs=args.jobs)
    failed = _tell(args, noise, tables, time.perf_counter() - began)
    if args.hands:
        try:
            _say(args, "hands.txt", hands.table(hands.presses(noise, seed=args.seed)))
        except FileNotFoundError as e:
            print(f"presses per hand: {e}", file=sys.stderr)
    if args.sweep:
        points = sweep.run(args.seed, args.sweep_acts, noise, styles=styles, jobs=args.jobs)
        _say(args, "sweep.txt", sweep.table(points))
        if args.out:
            from tests.eval import plot  # noqa: PLC0415 - only who wants a picture needs matplotlib

            plot.draw(points, args.out / "sweep.png", title=f"seed {args.seed}, {_eyes(noise)}")
            (args.out / "sweep.json").write_bytes(msgspec.json.format(msgspec.json.encode(points)))
            print(f"plot: {args.out / 'sweep.png'}")
    return failed


def _eyes(noise: Disturbance) -> str:
    if not noise.camera:
        return "camera off"
    return "camera on" if convert.core_sees_cameras() else "the core takes no camera yet"


def _say(args: argparse.Namespace, name: str, text: str) -> None:
    print(text + "\n")
    if args.out:
        args.out.mkdir(parents=True, exist_ok=True)
        (args.out / name).write_text(text + "\n", encoding="utf-8")


def _tell(args: argparse.Namespace, noise: Disturbance, tables: list[TableResult], took: float) -> int:
    s = report.sums(tables)
    title = f"seed {args.only or args.seed}, {_eyes(noise)}, {s.acts} acts"
    changed = [t for t in [*args.noise, *(f"only {x}" for x in args.style), *(["perfect sensors"] * args.quiet)] if t]
    _say(args, "acts.txt", report.table(tables, title=", ".join([title, *changed])))
    if took:
        print(f"{took:.0f} s, {s.acts / took:.0f} acts a second\n")
    if args.out:
        (args.out / "acts.json").write_bytes(msgspec.json.format(msgspec.json.encode(s)))
    return 1 if s.wrong or s.extra or s.unruled or s.refused else 0


if __name__ == "__main__":
    raise SystemExit(main())
