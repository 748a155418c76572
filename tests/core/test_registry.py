"""The room's registry as the core hears of it: chip by chip, before the look that names it or when it changes."""

from __future__ import annotations

from msgspec.structs import replace

from tabled.core.entries import Known, decode, encode
from tabled.core.money import totals
from tabled.core.state import TableState
from tabled.model.outcome import AlertRaised, RulingIssued
from tests.core.driver import Bench, fold


def bare() -> Bench:
    """A table that has been told of no chip of 500 at its start."""
    bench = Bench()
    bench.restart(replace(bench.config, chips={u: v for u, v in bench.values.items() if v != 500}))
    bench.state_bounds()
    return bench


def tell(bench: Bench, *uids: str, barred: dict[str, str] | None = None) -> None:
    chips = {uid: bench.values[uid] for uid in uids}
    bench.feed(Known(at_ns=bench.ns, chips=chips, barred=barred or {}, registry="ab"))


def raised(bench: Bench) -> list[str]:
    return [alert.reason.code for alert in bench.of(AlertRaised)]


def test_a_chip_that_is_told_before_its_look_is_a_bet_as_ever() -> None:
    told, whole = bare(), Bench()
    chip = next(uid for uid in whole.free if whole.values[uid] == 500)
    tell(told, chip)
    for bench in (told, whole):
        bench.deal()
        bench.lines["3"].append(chip)
        bench.wait(3000)
    assert told.of(RulingIssued)[-1].ruling.back_chips == whole.of(RulingIssued)[-1].ruling.back_chips
    assert told.of(RulingIssued)[-1].ruling.to == 100
    assert [r.ruling for r in told.of(RulingIssued)] == [r.ruling for r in whole.of(RulingIssued)]
    assert raised(told) == raised(whole)


def test_a_chip_that_is_enrolled_where_it_lies_counts_from_the_next_look() -> None:
    bench = bare()
    chip = next(uid for uid in bench.free if bench.values[uid] == 500)
    bench.deal()
    bench.lines["3"].append(chip)
    bench.wait(2000)
    assert raised(bench) == ["unknown_tag"]
    assert bench.state.attempts == {}
    tell(bench, chip)
    bench.wait(400)
    assert [a.uid for a in bench.state.attempts["3"].arrivals] == [chip]


def test_a_chip_that_is_barred_in_a_bet_is_told_and_the_accounts_stand() -> None:
    bench = Bench()
    chip = next(uid for uid in bench.free if bench.values[uid] == 500)
    bench.deal()
    bench.lines["3"].append(chip)
    bench.wait(3000)
    bench.feed(Known(at_ns=bench.ns, barred={chip: "stolen"}))
    assert chip not in (bench.state.config.chips if bench.state.config else {})
    bench.wait(1000)
    assert "chip_barred" in raised(bench)
    assert bench.state.lines["3"].settled == {chip: 500}
    assert min(totals(bench.state).values()) >= 0
    bench.feed(Known(at_ns=bench.ns, unknown=(chip,)))
    bench.wait(200)
    assert "core_fault" not in raised(bench)
    assert not any(key.startswith("barred:") for key in bench.state.faults)


def test_what_the_registry_said_replays_byte_for_byte() -> None:
    bench = bare()
    chip = next(uid for uid in bench.free if bench.values[uid] == 500)
    tell(bench, chip, barred={bench.free[-1]: "void"})
    bench.deal()
    bench.lines["3"].append(chip)
    bench.wait(3000)
    assert any(isinstance(decode(encode(entry)), Known) for entry in bench.entries)
    _, outcomes = fold(TableState(), 0, bench.entries)
    assert outcomes == bench.outcomes
