"""How long an append takes, beside a bare SQLite insert with the same settings in the same run.

Run: ``python -m tests.bench.bench_journal [FOLDER]``.  FOLDER chooses the disk (default: the temporary folder).
Prints microseconds, so that a change of the journal can be told from a change of the disk; also what a restart
pays: opening, and reading everything back through the checks.
"""

from __future__ import annotations

import sqlite3
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from tabled.journal import Draft, Journal

BODY = (
    b'{"o":"present","device":"reader-a","span":{"earliest_ns":812345678901234,"latest_ns":812345690123456},'
    b'"antenna":3,"tags":[{"uid":"E00401503A5B6C7D","rssi":null},{"uid":"E00401503A5B6C7E","rssi":null}],"complete":true}'
)
ROUNDS = {1: 2000, 50: 400}
READ_BACK = 100_000


def _measure(append: Callable[[], object], rounds: int) -> tuple[float, float, float]:
    """p50, p99 and largest time of one append, in microseconds."""
    times = []
    for _ in range(rounds):
        start = time.perf_counter_ns()
        append()
        times.append(time.perf_counter_ns() - start)
    times.sort()
    return times[rounds // 2] / 1e3, times[rounds * 99 // 100] / 1e3, times[-1] / 1e3


def _ours(folder: Path, size: int) -> tuple[float, float, float]:
    batch = [Draft("obs", BODY, 1_700_000_000_000_000_000 + n) for n in range(size)]
    with Journal.open(folder / f"ours-{size}.journal") as journal:
        return _measure(lambda: journal.append(batch), ROUNDS[size])


def _bare(folder: Path, size: int) -> tuple[float, float, float]:
    db = sqlite3.connect(folder / f"bare-{size}.db", isolation_level=None)
    db.execute("PRAGMA journal_mode=WAL")
    db.execute("PRAGMA synchronous=FULL")
    db.execute("CREATE TABLE entry (pos INTEGER PRIMARY KEY, body BLOB)")

    def insert() -> None:
        db.execute("BEGIN IMMEDIATE")
        db.executemany("INSERT INTO entry (body) VALUES (?)", [(BODY,)] * size)
        db.execute("COMMIT")

    try:
        return _measure(insert, ROUNDS[size])
    finally:
        db.close()


def _read_back(folder: Path) -> tuple[float, float]:
    """Seconds to open a journal of `READ_BACK` entries, and to read all of it."""
    path = folder / "long.journal"
    with Journal.open(path) as journal:
        for _ in range(READ_BACK // 1000):
            journal.append([Draft("obs", BODY, 0)] * 1000)
    start = time.perf_counter()
    with Journal.open(path) as journal:
        opened = time.perf_counter()
        count = sum(1 for _ in journal.read())
        done = time.perf_counter()
    assert count == READ_BACK
    return opened - start, done - opened


def main(where: str | None = None) -> None:
    """Measure and print."""
    with tempfile.TemporaryDirectory(dir=where) as name:
        folder = Path(name)
        print(f"append, bodies of {len(BODY)} bytes, in {where or tempfile.gettempdir()}; microseconds")
        print(f"{'':16}{'p50':>9}{'p99':>9}{'max':>9}")
        for size in ROUNDS:
            for label, figures in (("journal", _ours(folder, size)), ("bare SQLite", _bare(folder, size))):
                print(f"{label:12}{size:>4}" + "".join(f"{f:9.0f}" for f in figures))
        opening, reading = _read_back(folder)
        print(f"{READ_BACK} entries: open {opening * 1e3:.0f} ms, read and check {reading * 1e3:.0f} ms")


if __name__ == "__main__":
    main(*sys.argv[1:2])
