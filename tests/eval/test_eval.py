"""The measure itself: it repeats, honest play without noise is ruled right, and planted faults are counted."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from msgspec.structs import replace

from hw_sim.noise import Disturbance
from hw_sim.styles import STYLES
from tabled.model.outcome import RulingIssued
from tests.eval import report, sweep, truth
from tests.eval.play import Game
from tests.eval.run import evaluate
from tests.eval.tally import Result, TableResult

CLEAR = Disturbance().without_noise()
HONEST = {name: 1.0 for name, style in STYLES.items() if style.honest and name not in ("change_for",)}
MS = 1_000_000


def test_honest_play_before_perfect_sensors_is_ruled_right() -> None:
    tables = evaluate(3, 150, CLEAR, styles=HONEST)
    found = report.sums(tables)
    assert found.acts >= 150
    bad = [a for t in tables for a in t.acts if a.verdict != "right"]
    assert bad == []
    assert found.called_string == 0
    assert found.in_span == found.spans > 100
    styles = {a.style for t in tables for a in t.acts}
    assert len(styles & set(HONEST)) > 6


def test_the_same_seed_gives_the_same_table_in_one_process_or_two() -> None:
    once = report.table(evaluate(5, 40, Disturbance()), title="x")
    again = report.table(evaluate(5, 40, Disturbance(), jobs=2), title="x")
    assert once == again
    assert report.table(evaluate(6, 40, Disturbance()), title="x") != once


def spoilt(
    styles: dict[str, float], spoil: Callable[[Game, RulingIssued], RulingIssued], seed: int = 11
) -> report.Sums:
    """A game in which the listener hears something else than the core said."""
    game = Game(seed, 0, CLEAR, styles=styles, meanwhile={}, acts=12)
    game.ears.spoil = lambda said: spoil(game, said)
    return report.sums([game.play()])


def test_a_planted_wrong_ruling_is_counted_as_wrong() -> None:
    def one_more(_: Game, said: RulingIssued) -> RulingIssued:
        if said.ruling.verb not in ("bet", "raise"):
            return said
        return replace(said, ruling=replace(said.ruling, to=(said.ruling.to or 0) + 25))

    assert spoilt({"plain": 1.0}, lambda _, said: said).wrong == 0
    assert spoilt({"plain": 1.0}, one_more).wrong > 0


def test_a_planted_right_to_raise_is_a_wrong_ruling_too() -> None:
    def silence(_: Game, said: RulingIssued) -> RulingIssued:
        return replace(said, ruling=replace(said.ruling, may_raise=())) if said.ruling.may_raise else said

    assert spoilt({"plain": 1.0}, silence).wrong > 0


def test_a_string_bet_that_is_ruled_as_one_motion_is_counted_as_missed() -> None:
    def blind(game: Game, said: RulingIssued) -> RulingIssued:
        watch = game.ears.watches.get(said.ruling.seat)
        if watch is None or watch.style != "string_far" or len(watch.act.motions) < 2:
            return said
        return replace(said, ruling=truth.as_one(watch.spot, watch.act))

    found = spoilt({"string_far": 1.0}, blind)
    assert found.strings > 0
    assert found.missed == found.strings
    assert found.wrong >= found.missed


def test_an_honest_bet_that_is_called_a_string_is_counted() -> None:
    def strict(game: Game, said: RulingIssued) -> RulingIssued:
        watch = game.ears.watches.get(said.ruling.seat)
        if watch is None or said.status != "final" or not watch.act.motions:
            return said
        wrong = [r for r in truth.as_string(watch.spot, watch.act) if truth.effect(r) != truth.effect(said.ruling)]
        return replace(said, ruling=wrong[0]) if wrong else said

    found = spoilt({"plain": 1.0}, strict)
    assert found.called_string == found.wrong > 0


def test_a_span_that_misses_the_touch_is_counted() -> None:
    def late(_: Game, said: RulingIssued) -> RulingIssued:
        if said.touched_from_ns is None or said.touched_to_ns is None:
            return said
        return replace(said, touched_from_ns=said.touched_to_ns + 1, touched_to_ns=said.touched_to_ns + MS)

    found = spoilt({"plain": 1.0}, late)
    assert found.spans > 0
    assert found.in_span == 0


def test_a_final_ruling_that_never_comes_is_counted() -> None:
    def mute(_: Game, said: RulingIssued) -> RulingIssued:
        return replace(said, status="provisional")

    assert spoilt({"plain": 1.0}, mute).unruled > 0


def test_a_ruling_that_nobody_called_for_is_counted() -> None:
    def elsewhere(game: Game, said: RulingIssued) -> RulingIssued:
        if said.status != "final" or said.ruling.action != "call":
            return said
        other = next(s for s in game.table.seats if s not in game.ears.watches)
        game.ears.ruled(replace(said, ruling=replace(said.ruling, seat=other)))
        return said

    assert spoilt({"plain": 1.0}, elsewhere).extra > 0


def result(**how: Any) -> Result:
    base: dict[str, Any] = {"where": "1:0", "act": 0, "style": "plain", "verdict": "right"}
    return Result(**{**base, **how})


def test_sums_and_the_table_say_what_is_in_the_results() -> None:
    acts = (
        result(in_span=True, to_provisional=40.0, to_final=700.0),
        result(verdict="wrong", called_string=True, in_span=False, to_final=1500.0, note="why"),
        result(style="string", verdict="wrong", string=True, missed=True, questions=("ask_one_motion",)),
        result(verdict="unruled"),
        result(corrected=True),
        result(verdict="extra", note="who"),
    )
    table = TableResult(
        index=0, acts=acts, alerts={"chips_left": 2}, sweep_ms=200.0, favoured_ms=50.0, entries=7, virtual_s=3.0,
        misses="sticky",
    )  # fmt: skip
    s = report.sums([table])
    assert (s.acts, s.wrong, s.unruled, s.extra, s.corrected) == (5, 2, 1, 1, 1)
    assert (s.called_string, s.strings, s.missed, s.asked) == (1, 1, 1, 1)
    assert (s.in_span, s.spans, s.final_late, s.finals_timed) == (1, 2, 1, 2)
    text = report.table([table], title="a title")
    for said in ("wrong final rulings         2", "1:0 act 0 string: wrong", "ask_one_motion 1", "chips_left 2", "who"):
        assert said in text


def test_every_axis_of_the_sweep_can_be_set_and_has_the_reference() -> None:
    for axis, values in sweep.AXES.items():
        made = [Disturbance().change(f"{axis}={value}") for value in values]
        assert Disturbance() in made, axis
        assert [sweep.x_of(v) for v in values] == sorted(sweep.x_of(v) for v in values)


@pytest.mark.parametrize("text", ["no_such=1", "ghost", "ghost=often", "miss_model=other"])
def test_a_noise_that_does_not_fit_says_what_does(text: str) -> None:
    with pytest.raises(ValueError, match=r"fit|give NAME=VALUE"):
        Disturbance().change(text)
