"""A host that was rebooted has a new monotonic clock: times of the old one would lie in the future for days."""

from __future__ import annotations

import re
from typing import Any

import msgspec
import pytest

from tabled.core.snapshot import to_bytes
from tabled.model.outcome import RulingIssued
from tests.core.driver import Bench

LONG_UP_MS = 5_000_000
OLD_NS = LONG_UP_MS * 1_000_000


def long_up(*, camera: bool = False) -> Bench:
    """A hand at a table whose host has run for long."""
    bench = Bench((5000,) * 4, camera=camera)
    bench.now_ms += LONG_UP_MS
    bench.state_bounds()
    bench.sweep()
    bench.deal()
    return bench


def reboot(bench: Bench) -> None:
    """The host goes down and comes up; the chips lie where they lay."""
    bench.now_ms = 20_000
    bench.restart(clock="another boot")
    bench.state_bounds()


def finals(bench: Bench, seat: str) -> list[int | None]:
    return [r.ruling.to for r in bench.of(RulingIssued) if r.status == "final" and r.ruling.seat == seat]


def old_times(value: Any, path: str = "") -> list[str]:
    """Where in a state a number stands that only a time of the old clock can be."""
    if isinstance(value, dict):
        return [found for name, part in value.items() for found in old_times(part, f"{path}.{name}")]
    if isinstance(value, list):
        return [found for n, part in enumerate(value) for found in old_times(part, f"{path}[{n}]")]
    # The host that came up again has run for less than a tenth of it.
    return [f"{path} = {value}"] if isinstance(value, int) and OLD_NS // 10 < value < 100 * OLD_NS else []


@pytest.mark.parametrize("lies_on", [False, True], ids=["gone before", "taken away meanwhile"])
def test_a_chip_read_and_gone_before_the_reboot_holds_up_no_ruling_after_it(lies_on: bool) -> None:
    bench = long_up()
    stray = bench.put("3", 500)
    bench.sweep()
    if not lies_on:
        bench.lift("3", stray)
        bench.wait(2000)
    bench.lift("3", stray)
    reboot(bench)
    bench.wait(3000)
    bench.put("3", 500, 500)
    bench.wait(6000)
    if bench.state.question:
        bench.press("key_a")
        bench.wait(3000)
    assert finals(bench, "3")


def test_no_time_of_the_old_clock_is_left() -> None:
    bench = long_up(camera=True)
    bench.trip("3", 1000)
    bench.wait(4000)
    assert finals(bench, "3")
    bench.press("raise_to", 500, seat=4)
    there = bench.trip("4", 100, 100)
    bench.hand("4", "enters")
    bench.lift("4", there[:1])
    bench.wait(1000)
    bench.hand("4", "leaves")
    bench.put("1", 5)
    bench.sweep()
    bench.lift("1")
    bench.wait(300)
    bench.press("fold")
    bench.landed("1")
    bench.press("hand_withdraws")
    before = msgspec.json.decode(to_bytes(bench.state))
    assert {re.findall(r"\w+", path)[0] for path in old_times(before)} >= {
        "areas", "attempts", "ruled", "gone_ns", "landings", "last_key", "sight",
    }, "the state has too little in it for this test"  # fmt: skip
    reboot(bench)
    assert old_times(msgspec.json.decode(to_bytes(bench.state))) == []
