"""Which pile lies where, told by the antennas."""

from __future__ import annotations

from pathlib import Path

import pytest

from calibration import piles_read
from calibration.looks import Looks, Spot
from calibration.piles_read import told
from calibration.steps import StepError
from firmware_bridge.wire import CleanEmpty, DeviceId, Present, Tag, TimeSpan
from hw_sim.exercise import Stand, Truth
from tests.calibration.talk import Quiet

R = DeviceId("reader")
PLACES: dict[Spot, str] = {("reader", 1): "bet:1", ("reader", 2): "bet:2", ("reader", 3): "bet:3"}
VALUES = {"A1": 5, "A2": 5, "B1": 100}


def looks(*rounds: dict[int, tuple[str, ...]]) -> Looks:
    """One look at each antenna a round; what answered on it."""
    found = Looks(PLACES)
    for number, answered in enumerate(rounds):
        for antenna in (1, 2, 3):
            span = TimeSpan(number * 100 + antenna, number * 100 + antenna + 1)
            tags = tuple(Tag(uid) for uid in answered.get(antenna, ()))
            look = Present(R, span, antenna, tags=tags) if tags else CleanEmpty(R, span, antenna)
            assert found.add(look) is not None
    return found


def test_piles_are_told_and_bleed_is_not_taken_for_one() -> None:
    clean, bled = {1: ("A1", "A2"), 3: ("B1",)}, {1: ("A1",), 2: ("A1",), 3: ("B1",)}
    assert told(looks(*[clean] * 8, *[bled] * 2), PLACES, VALUES) == {"bet:1": 5, "bet:3": 100}


@pytest.mark.parametrize(
    ("answered", "said"),
    [
        ({1: ("A1", "B1")}, "chips of 5 and 100 lie on bet:1"),
        ({2: ("ZZ",)}, "the chip ZZ on bet:2 is not in the registry"),
        ({}, "no antenna reads a chip"),
    ],
)
def test_what_is_no_pile(answered: dict[int, tuple[str, ...]], said: str) -> None:
    with pytest.raises(StepError, match=said) as refusal:
        told(looks(*[answered] * 6), PLACES, VALUES)
    assert refusal.value.code == "piles"


def test_a_chip_that_answers_seldom_is_a_ghost() -> None:
    with pytest.raises(StepError, match="no antenna reads"):
        told(looks({1: ("A1",)}, *[{}] * 9), PLACES, VALUES)


def test_a_reader_is_asked_over_its_own_wire(tmp_path: Path) -> None:
    """A simulated FEIG reader on a pseudo-terminal, five chips on one seat and three on another."""
    with Stand(tmp_path, Truth(bleed={(1, 2): 0.06}), seats=2) as stand:
        config, talk = stand.config(), Quiet()
        stand.put(5, 1)
        assert piles_read.read(talk, str(config)) == {"bet:1": 25}
        stand.put(3, 2)
        assert piles_read.read(talk, str(config)) == {"bet:1": 25, "bet:2": 25}
        assert talk.progressed
    with pytest.raises(StepError) as refusal:
        piles_read.read(Quiet(), str(tmp_path / "none.toml"))
    assert refusal.value.code == "config"
