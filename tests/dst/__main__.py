"""``python -m tests.dst SEED [--trace] [--count N]``: simulate seeds; exit status 1 if an invariant broke."""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter

from tests.dst.simulation import run


def main() -> int:
    """Entry point."""
    parser = argparse.ArgumentParser(prog="python -m tests.dst", description="deterministic simulation of one table")
    parser.add_argument("seed", type=int)
    parser.add_argument("--count", type=int, default=1, metavar="N", help="so many seeds, from SEED on")
    parser.add_argument("--trace", action="store_true", help="print everything that happens")
    args = parser.parse_args()
    failed = 0
    virtual = 0.0
    totals: Counter[str] = Counter()
    began = time.monotonic()
    for seed in range(args.seed, args.seed + args.count):
        report = run(seed, trace=print if args.trace else None)
        virtual += report.virtual_s
        totals.update(report.counts)
        verdict = "ok" if report.ok else f"BROKEN {report.broken}: {report.what}"
        print(f"{report.mix.line()}; {report.virtual_s:.0f} s; {verdict}", flush=True)
        if not report.ok:
            failed += 1
            if args.count == 1 and not args.trace:
                print("\n".join(report.trace[-40:]))
    took = time.monotonic() - began
    print(
        f"{args.count} seed(s), {failed} broken, {virtual / 3600:.2f} virtual hours in {took:.1f} s: "
        f"{virtual / max(took, 1e-9):.0f} times real time"
    )
    print(", ".join(f"{name} {n}" for name, n in sorted(totals.items())))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
