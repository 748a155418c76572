"""What the floor may choose between: each outcome once, and nothing to ask where every value comes to the same."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tabled.rules.doubt import named, outcome
from tabled.rules.gesture import Gesture
from tabled.rules.reading import Reading, Spot
from tabled.rules.situation import hand_from
from tests.rules.table import profile, situation

RAISE = Reading(kind="raise", to=400)
CALL = Reading(kind="call")


def spot(*asked: str) -> Spot:
    law = profile("tda-2024", ask_floor=list(asked))
    return Spot(
        hand_from(situation("A 900/100* B 1000", "B", 100, 100, prior="A bet 100"), law), law, Gesture(seat="B")
    )


@pytest.mark.parametrize(
    ("to", "action", "told"),
    [
        (99, "call", 100),
        (100, "call", 100),  # no more than the price is no raise
        (101, "raise", 101),
        (1000, "raise", 1000),  # the last chip: the stack cuts nothing
        (1001, "all_in", None),
    ],
)
def test_what_an_amount_comes_to(to, action, told):
    found = outcome(spot(), Reading(kind="raise", to=to))
    assert (found.action, found.to) == (action, told)


def always(reading: Reading) -> Callable[[Spot], Reading]:
    return lambda _: reading


def test_where_every_value_comes_to_the_same_the_ruling_does_not_rest_on_it():
    rests = Reading(kind="raise", to=400, rests_on=("simultaneous", "multi_chip_test"))
    found = named(spot("multi_chip_test"), rests, always(RAISE))
    assert (found.rests_on, found.candidates, found.why) == (("simultaneous",), (), None)


def test_mixed_chips_that_come_to_one_thing_may_have_been_meant_for_the_call():
    rests = Reading(kind="raise", to=400, rests_on=("prior_chips",))
    found = named(spot("prior_chips"), rests, always(RAISE))
    assert [(c.action, c.to) for c in found.candidates] == [("raise", 400), ("call", 100)]
    found = named(spot("prior_chips"), rests, always(Reading(kind="raise", to=300)))
    assert [(c.action, c.to) for c in found.candidates] == [("raise", 400), ("raise", 300)]
    found = named(spot("prior_chips"), rests, always(CALL))
    assert [(c.action, c.to) for c in found.candidates] == [("raise", 400), ("call", 100)]
