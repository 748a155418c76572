"""Kept seeds, and fresh ones for as long as there is time: ``DST_BASE`` chooses which, ``DST_SECONDS`` how long."""

from __future__ import annotations

import os
import time
from collections.abc import Callable

import pytest

from tests.dst.mix import CLASSES, draw
from tests.dst.seeds import kept_sound
from tests.dst.simulation import Report, run

BASE = int(os.environ.get("DST_BASE", "0"))
SECONDS = float(os.environ.get("DST_SECONDS", "10"))
MAX_SEEDS = 100_000


def explain(report: Report) -> str:
    """What a failing seed leaves in the log."""
    return "\n".join(
        (
            f"{report.mix.line()}",
            f"{report.broken}: {report.what}",
            f"reproduce: python -m tests.dst {report.mix.seed} --trace",
            *report.trace[-40:],
        )
    )


@pytest.mark.parametrize("seed", kept_sound())
def test_a_kept_seed_holds(seed: int) -> None:
    report = run(seed)
    assert report.ok, explain(report)


@pytest.mark.slow
def test_fresh_seeds_hold(record_property: Callable[[str, object], None]) -> None:
    began, virtual, count = time.monotonic(), 0.0, 0
    for seed in range(1_000_000 + BASE * MAX_SEEDS, 1_000_000 + (BASE + 1) * MAX_SEEDS):
        report = run(seed)
        assert report.ok, explain(report)
        virtual, count = virtual + report.virtual_s, count + 1
        if time.monotonic() - began > SECONDS:
            break
    took = time.monotonic() - began
    record_property("seeds", count)
    print(f"{count} fresh seeds, {virtual / 3600:.2f} virtual hours, {virtual / took:.0f} times real time")


def test_the_same_seed_is_the_same_run() -> None:
    """Without this no failure could be reproduced."""
    first, second = run(22), run(22)
    assert first.trace == second.trace
    assert first.counts == second.counts


def test_the_mix_has_every_class_alone_and_together() -> None:
    mixes = [draw(seed).classes for seed in range(2000)]
    assert {c for m in mixes for c in m} == set(CLASSES)
    assert any(not m for m in mixes)
    assert {m[0] for m in mixes if len(m) == 1} == set(CLASSES)
