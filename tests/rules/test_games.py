"""Which bet a street is played at, and how many streets a game has: by the streets' own names."""

from __future__ import annotations

import pytest

from tabled.model.ruling import Reason
from tabled.rules.errors import SetupError
from tabled.rules.games import GAMES, STREET_NAMES, game_of
from tabled.rules.reading import Reading, _left
from tests.rules.table import judged, profile, rule, short, situation

FIXED = {"structure": "fixed-limit", "limits": {"small_bet": 20, "big_bet": 40, "raises_cap": 3}, "blinds": (10, 20)}


@pytest.mark.parametrize(
    ("game", "small", "big"),
    [
        ("holdem", ("flop",), ("turn", "river")),
        ("omaha-8", ("flop",), ("turn", "river")),
        ("5draw", (), ("after_draw", "first_draw")),
        ("triple-draw", ("first_draw",), ("second_draw", "third_draw")),
        ("7stud", ("fourth",), ("fifth", "sixth", "seventh")),
        ("razz", ("fourth",), ("fifth", "sixth", "seventh")),
    ],
)
def test_the_big_bet_begins_on_the_streets_that_the_game_says(game, small, big):
    for street in (*small, *big):
        told = judged("tda-2024", situation("A 1000 B 1000", "A", street=street, game=game, **FIXED), "A say bet")
        assert told.ruling.to == (40 if street in big else 20), street


@pytest.mark.parametrize(
    ("game", "last", "before"),
    [
        ("holdem", "river", "turn"),
        ("5draw", "after_draw", "before_draw"),
        ("badugi", "third_draw", "second_draw"),
        ("7stud8", "seventh", "sixth"),
    ],
)
def test_after_the_last_street_there_is_no_other(game, last, before):
    for street, over in ((last, True), (before, False)):
        where = situation(
            "A 1000/100* B 1000", "B", 100, 100, street=street, game=game, blinds=(50, 100), prior="A bet 100"
        )
        after = judged("tda-2024", where, "B put 100").after
        assert after is not None
        assert after.over is over, (game, street)


def test_the_streets_of_each_kind_of_game_follow_each_other():
    for names in ("preflop flop turn river", "before_draw after_draw", "before_draw first_draw second_draw third_draw",
                  "third fourth fifth sixth seventh"):  # fmt: skip
        assert [STREET_NAMES[n] for n in names.split()] == list(range(len(names.split())))


def test_a_game_is_a_fact_that_nobody_changes():
    with pytest.raises(AttributeError):
        GAMES["holdem"].rounds = 3  # type: ignore[misc]  # that it fails is what is tested
    with pytest.raises(SetupError, match="holdem"):
        game_of("tiddlywinks")


# ---- a reading ------------------------------------------------------------------------------------------------------


def test_a_reading_is_named_part_by_part_and_holds_no_amount_by_itself():
    assert Reading(kind="call").to == 0
    with pytest.raises(TypeError):
        Reading("call", 100)  # type: ignore[misc]  # that it fails is what is tested
    with pytest.raises(AttributeError):
        Reading(kind="call").reason = Reason("none")  # type: ignore[misc]  # that it fails is what is tested


@pytest.mark.parametrize(
    ("line", "lifted", "lying", "left"),
    [
        ((100, 100, 25), (), 225, ()),  # none was lifted
        ((100, 25), (100, 25), 0, ()),  # none is left
        ((100, 100, 25), (100,), 125, (100, 25)),
        ((100, 25, 100), (25, 100), 100, (100,)),
        ((100, 100), (500,), 100, (100,)),  # a chip that did not lie there: what is left is one sum
        ((100, 25, 25), (25, 25, 25), 75, (75,)),
        (None, (100,), 300, (300,)),
    ],
)
def test_what_is_left_of_a_bet_of_which_chips_were_lifted(line, lifted, lying, left):
    assert _left(line, lifted, lying) == left


@pytest.mark.parametrize(
    ("lying", "ruled"),
    [
        (199, ("call", 200, 0, 499)),  # one chip that is no raise by itself
        (200, ("raise", 700, 0, 0)),  # the chips of the call lie there, to the chip: this one is more
        (201, ("raise", 701, 0, 0)),
    ],
)
def test_a_chip_that_joins_chips_which_cover_the_call_already_is_a_raise(lying, ruled):
    law = profile("tda-2024", prior_chips="covering_raises")
    where = situation(f"A 4000/100*[{lying}] B 4800/200*", "A", 200, 100, prior="A bet 100, B raise 200")
    assert short(rule(law, where, "A put 500")) == ruled
