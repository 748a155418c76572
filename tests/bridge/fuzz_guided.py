"""`tests.bridge.fuzz` by coverage, with atheris: ``python -m tests.bridge.fuzz_guided --minutes 3``.

Its corpus is kept in ``fuzz-corpus``, a find is written to ``fuzz-find-…`` and repeated with
``python -m tests.bridge.fuzz --repeat FILE``.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["firmware_bridge"]):
    from tests.bridge.fuzz import corpus, one_input


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.bridge.fuzz_guided", description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=float, default=3.0)
    seconds = round(parser.parse_args().minutes * 60)
    folder = Path("fuzz-corpus")
    folder.mkdir(exist_ok=True)
    for n, seed in enumerate(corpus()):
        (folder / f"seed-{n:03d}").write_bytes(seed)
    argv = [sys.argv[0], f"-max_total_time={seconds}", "-max_len=6000", "-artifact_prefix=fuzz-find-", str(folder)]
    atheris.Setup(argv, one_input)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
