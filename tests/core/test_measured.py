"""Every ruling names the calibration with which the table was seen."""

from __future__ import annotations

from msgspec.structs import replace

from tabled.model.outcome import Overrule, RulingIssued
from tests.core.test_corrections import one_chip_call


def test_rulings_and_the_floors_decisions_carry_the_hash_and_others_stay_as_they_were() -> None:
    bench, position = one_chip_call()
    assert {r.ruling.calibration for r in bench.of(RulingIssued)} == {""}
    bench.restart(replace(bench.config, calibration="c0ffee"))
    before = len(bench.of(RulingIssued))
    bench.order(Overrule(request="o", who="floor", ruling=position, action="raise", to=1000, reason="said raise"))
    bench.state_bounds()
    bench.put("1", 1000)
    bench.wait(5000)
    later = bench.of(RulingIssued)[before:]
    assert {r.ruling.seat for r in later} >= {"1", "3"}
    assert {r.ruling.calibration for r in later} == {"c0ffee"}
