"""Many tables, in several processes, with the same outcome however many there are."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from concurrent.futures import Future, ProcessPoolExecutor

from hw_sim.noise import Disturbance
from tests.eval.play import ACTS_PER_TABLE, play_table
from tests.eval.tally import TableResult

MAX_JOBS = 64


def evaluate(
    seed: int, acts: int, noise: Disturbance, *, styles: dict[str, float] | None = None, jobs: int = 1
) -> list[TableResult]:
    """Tables 0, 1, 2, … until together they have so many acts."""
    out: list[TableResult] = []
    found = 0
    for result in _results(seed, noise, styles, min(jobs, MAX_JOBS), -(-acts // ACTS_PER_TABLE)):
        out.append(result)
        found += len(result.acts)
        if found >= acts:
            break
    return out


def _results(
    seed: int, noise: Disturbance, styles: dict[str, float] | None, jobs: int, guess: int
) -> Iterator[TableResult]:
    if jobs <= 1:
        yield from (play_table(seed, index, noise, styles=styles) for index in itertools.count())
        return
    indices = itertools.count()
    with ProcessPoolExecutor(jobs) as pool:
        waiting: list[Future[TableResult]] = []
        try:
            while True:
                while len(waiting) < 4 * jobs:
                    waiting.append(pool.submit(play_table, seed, next(indices), noise, styles=styles))
                yield waiting.pop(0).result()
        finally:
            pool.shutdown(cancel_futures=True)
