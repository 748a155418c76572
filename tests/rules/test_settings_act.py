"""No setting is for show: every value of every setting comes to another ruling than every other value, somewhere."""

from __future__ import annotations

import itertools
from typing import Any

import msgspec
import pytest

from tabled.model.hand import Structure
from tabled.rules.doubt import WHY
from tabled.rules.profile import SETTINGS, Profile, ReopenBy, choices
from tabled.shell.judge_cases import judge_case
from tests.rules.deal import deal, play
from tests.rules.table import judged, load, profile, rule, situation
from tests.rules.test_judge_command import CASE
from tests.rules.witnesses import WITNESSES

SWITCHES = [s for s in SETTINGS if choices(s)]
_BESIDE = ("profile", "cite", "candidates", "floor_reason")


def outcome(law: Profile, witness: Any) -> str:
    """What is ruled, without what only names the law."""
    if callable(witness):
        return repr(witness(law))
    _, where, acts, put_by = witness
    body = msgspec.to_builtins(judged(law, where, *acts, put_by=put_by).ruling)
    return repr({k: v for k, v in body.items() if k not in _BESIDE})


def laws(setting: str, value: object) -> list[Profile]:
    """The witnesses' own laws with the value."""
    return [load("tda-2024" if callable(w) else w[0]).with_values(**{setting: value}) for w in WITNESSES[setting]]


@pytest.mark.parametrize("setting", SWITCHES)
def test_every_two_values_of_a_switch_are_told_apart(setting):
    found = {
        value: [outcome(law, w) for law, w in zip(laws(setting, value), WITNESSES[setting], strict=True)]
        for value in choices(setting)
    }
    alike = [(a, b) for a, b in itertools.combinations(found, 2) if found[a] == found[b]]
    assert not alike, f"{setting}: add a witness that tells {alike} apart, or make the value do what it says"


def test_there_is_a_witness_for_no_other_setting():
    assert set(WITNESSES) == set(SWITCHES)


@pytest.mark.parametrize("structure", ["no-limit", "pot-limit", "fixed-limit", "spread-limit"])
def test_allin_reopen_acts_in_each_structure_alone(structure: Structure):
    limits = {"small_bet": 100, "big_bet": 200, "raises_cap": 3, "min": 100, "max": 500}
    where = situation(
        "A 900/100* B 900/100* C 150", "C", 100, structure=structure, limits=limits, prior="A bet 100, B call"
    )
    for base in ("full", "half"):
        rest = {k.replace("_", "-"): base for k in ReopenBy.__struct_fields__}
        for value, free in (("full", ()), ("half", ("A", "B"))):
            law = profile("tda-2024", allin_reopen={**rest, structure: value})
            assert rule(law, where, "C say all-in").may_raise == free


def test_min_bet_games_act():
    where = situation("A 900 B 900", "A", 0, game="swedish-draw", street="after_draw")
    assert rule(profile("tda-2024", min_bet_games={"swedish-draw": "sb"}), where, "A put 50").to == 50
    assert rule("tda-2024", where, "A put 50").to == 100


def test_raise_cap_acts():
    limits = {"small_bet": 100, "big_bet": 200}
    hand = deal([5000] * 3, law=profile("tda-2024", raise_cap=1), structure="fixed-limit", limits=limits)
    assert play(hand.copy(), "3 raise 200").option("1").raise_min_to is None
    hand = deal([5000] * 3, law=profile("tda-2024", raise_cap=2), structure="fixed-limit", limits=limits)
    assert play(hand.copy(), "3 raise 200").option("1").raise_min_to == 300


@pytest.mark.parametrize("witness", ["player_at_table", "staff", "player_other_table", "spectator"])
def test_third_party_acts(witness):
    where = situation("A 4500/500* B 4800/200* C 5000", "C", 500, prior="A bet 500, B put 200")
    heard = profile("tda-2024", third_party=("dealer", witness))
    assert rule(heard, where, f"{witness} points", put_by="B").action == "corrected"
    assert rule(profile("tda-2024", third_party=("dealer",)), where, f"{witness} points", put_by="B").action == "stands"


def test_chip_unit_acts():
    where = situation("A 4500/500* B 5000", "B", 500, prior="A bet 500")
    assert rule(profile("tda-2024", chip_unit=25, amount_rounding="nearest"), where, "B say raise 1013 to").to == 1025
    assert rule(profile("tda-2024", amount_rounding="nearest"), where, "B say raise 1013 to").to == 1013


def test_simultaneity_ms_acts_on_written_cases():
    word = {"seat": "B", "do": "say", "word": "raise", "delay_s": 0.2}
    case = {**CASE, "events": [{"seat": "B", "do": "place", "chips": [1000]}, word]}
    assert judge_case(case, profile("swedish", simultaneity_ms=250)).ruling.action == "raise"
    assert judge_case(case, profile("swedish", simultaneity_ms=100)).ruling.action == "call"


@pytest.mark.parametrize("setting", WHY)
def test_ask_floor_acts_for_each_setting_that_it_may_name(setting):
    """Under some value of the setting, a ruling that rests on it is shown to the floor if it is named, else not."""
    told = set()
    for value, witness in itertools.product(choices(setting), WITNESSES[setting]):
        _, where, acts, put_by = witness
        law = load(witness[0]).with_values(**{setting: value})
        quiet, asking = (law.with_values(ask_floor=names) for names in ((), (setting,)))
        told.add((rule(quiet, where, *acts, put_by=put_by).floor, rule(asking, where, *acts, put_by=put_by).floor))
    assert (False, True) in told
