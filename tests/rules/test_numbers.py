"""Numbers that cannot be meant as they are said (TDA 57), at every boundary, and numbers hardly heard."""

from __future__ import annotations

import pytest

from tests.rules.table import rule, short, situation

TDA = "tda-2024"


def said(word: str, blinds: tuple[int, int], pot: int, unit: int = 1):
    where = situation("A 900000 B 900000", "A", 0, blinds[1], blinds=blinds, pot=pot, chip_unit=unit)
    return rule(TDA, where, f"A say {word}")


@pytest.mark.parametrize(
    ("word", "blinds", "pot", "unit", "to"),
    [
        ("bet 4", (5, 10), 400, 1, 400),  # under half the smallest bet: hundreds
        ("bet 4", (5, 10), 399, 1, 10),  # no hundreds in the pot: too little
        ("bet 4", (5, 10), 4000, 1, 4000),
        ("bet 5", (5, 10), 9000, 1, 10),  # half the smallest bet is only too little
        ("bet 0", (5, 10), 9000, 1, 10),
        ("bet 1", (200, 400), 1000, 1, 1000),
        ("bet 99", (500, 1000), 9900, 1, 9900),
        ("bet 99", (500, 1000), 99000, 1, 99000),
        ("bet 100", (500, 1000), 99999, 1, None),  # a tenth: a hundred thousand, which is not in the pot
        ("bet 100", (500, 1000), 100000, 1, 100000),
        ("bet 101", (500, 1000), 900000, 1, 1000),  # more than a tenth: too little
        ("bet 100", (250, 500), 900000, 1, 500),
        ("bet 999", (5000, 10000), 999000, 1, 900000),  # 999,000, cut by the stack
        ("bet 1000", (5000, 10000), 900000, 1, 10000),
        ("bet 30", (25, 50), 3000, 25, 3000),  # thirty is not in the chips in play
        ("bet 30", (25, 50), 2999, 25, None),
        ("bet 60", (25, 50), 9000, 25, 60),  # over the smallest bet it is what it is
        ("bet 30", (15, 30), 9000, 25, 30),
        ("bet 25", (25, 50), 9000, 25, 50),
        ("bet 40", (200, 400), 300, 1, None),
        ("bet 41", (200, 400), 300, 1, 400),
    ],
)
def test_tda_57_as_said_or_in_hundreds_or_thousands(word, blinds, pot, unit, to):
    ruling = said(word, blinds, pot, unit)
    if to is None:
        assert ruling.reason.code == "floor_short_number"
    else:
        assert (ruling.verb, ruling.to) == ("bet", to)


def test_tda_57_what_the_floor_may_choose_and_what_holds_until_then():
    ruling = said("number 6", (200, 400), 300)
    assert [(c.action, c.to) for c in ruling.candidates] == [("bet", 600), ("bet", 6000)]
    assert (ruling.default_to, ruling.reason.params["said"]) == (600, 6)
    ruling = said("number 3", (200, 400), 200)  # 300 is under the smallest bet, but may be what was meant
    assert [c.to for c in ruling.candidates] == [300, 3000]
    assert ruling.default_to == 3000


def facing(bet: int, pot: int, full: int = 0, **kw):
    return situation(f"A 90000/{bet}* B 90000 C 90000", "B", bet, full or bet, pot=pot, prior=f"A bet {bet}", **kw)


@pytest.mark.parametrize(
    ("where", "acts", "ruled"),
    [
        (facing(250, 3000), ("B say raise 5",), ("raise", 500, 500, 0)),  # just the smallest raise
        (facing(251, 3000), ("B say raise 5",), ("floor", None, 0, 0)),
        (facing(251, 4749), ("B say raise 5",), ("raise", 5000, 5000, 0)),  # the pot is 5000 with the bet
        (facing(500, 3000), ("B say number 5",), ("call", 500, 500, 0)),
        (facing(500, 3000), ("B say raise 5",), ("floor", None, 0, 0)),  # said with raise it is no call
        (facing(500, 4500), ("B say raise 5",), ("raise", 5000, 5000, 0)),
        (facing(100, 9000), ("B say raise 5", "B put 500"), ("raise", 5000, 4500, 0)),  # one chip tells nothing
        (facing(100, 9000), ("B say raise 5", "B put 500 500"), ("raise", 5000, 4000, 0)),
        (facing(100, 900), ("B say raise 5", "B put 1000 1000 1000 1000 1000"), ("raise", 5000, 0, 0)),
        (facing(100, 9000), ("B say raise 5", "B put 100 100 100 100 100"), ("raise", 500, 0, 0)),
        (facing(100, 20000), ("B say raise 10", "B put 1000"), ("raise", 10000, 9000, 0)),
        (facing(100, 20000), ("B say raise 10", "B put 500 500"), ("raise", 1000, 0, 0)),  # two chips do
    ],
)
def test_tda_57_over_a_bet_the_chips_with_it_tell_which(where, acts, ruled):
    assert short(rule(TDA, where, *acts)) == ruled


@pytest.mark.parametrize(
    ("where", "to", "act"),
    [
        (situation("A 5000 B 5000", "A", 0, 100), 600, "bet"),
        (facing(500, 300), 900, "raise"),
    ],
)
def test_tda_40_a_a_number_hardly_heard_is_weighed_against_other_chips_only(where, to, act):
    seat = where.to_act
    ruling = rule(TDA, where, f"{seat} say number {to} low", f"{seat} put 1000")
    assert [(c.action, c.to) for c in ruling.candidates] == [(act, to), (act, 1000)]
    assert rule(TDA, where, f"{seat} say number {to} low").action != "floor"
    assert rule(TDA, where, f"{seat} say number 1000 low", f"{seat} put 1000").action != "floor"
    assert rule(TDA, where, f"{seat} say number {to}", f"{seat} put 1000").action != "floor"


def test_tda_57_a_number_over_a_bet_may_mean_the_call():
    ruling = rule(TDA, facing(500, 3000), "B say number 5")
    assert [(c.action, c.to) for c in ruling.candidates] == [("call", 500), ("raise", 5000)]
    ruling = rule(TDA, facing(250, 9000), "B say number 5")
    assert [(c.action, c.to) for c in ruling.candidates] == [("raise", 500), ("raise", 5000)]
