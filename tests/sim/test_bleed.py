"""A neighbour's chip answers as often as was asked for, whatever its own antenna told it before that lost its power."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from hw_sim.devices.feig import FeigReader
from hw_sim.devices.metratec import MetratecReader
from hw_sim.devices.pepper import PepperReader
from hw_sim.devices.physics import Noise, Timing
from hw_sim.devices.quirks import NO_QUIRKS, Quirks
from tests.sim.hosts import feig
from tests.sim.test_ascii_and_mux_readers import ask as ask_pepper
from tests.sim.test_ascii_and_mux_readers import chain, lines
from tests.sim.test_devices import MORE, READ, ask
from tests.sim.test_feig_modes_and_air import ONT_ON, uids

A, B = "E0040150954F02B1", "E0040150A05F02B7"
FIELD = {1: [A], 2: [B]}
ASKED = 0.1
ROUNDS = 3000
"""The share's standard deviation is then 0.0055."""

Visit = Callable[[int], set[str]]
"""One inventory at an antenna that was dark until now; what it names is told to stay quiet where the reader does so."""


def over(place: int) -> list[str]:
    return FIELD.get(place, [])


def feig_host(hold_ms: float = 0.0, quirks: Quirks = NO_QUIRKS) -> Visit:
    reader = FeigReader(
        over, antennas=3, noise=Noise(bleed=ASKED), timing=Timing(quiet_hold_ms=hold_ms), seed=3, quirks=quirks
    )
    ask(reader, ONT_ON)

    def visit(antenna: int) -> set[str]:
        ask(reader, feig(f"ff dd 00 {antenna:02x} 00"))
        found = set(uids(ask(reader, READ)))
        assert not found & set(uids(ask(reader, MORE))), "told to be quiet, and lit: named twice"
        return found

    return visit


def metratec_host() -> Visit:
    reader = MetratecReader(over, antennas=3, noise=Noise(bleed=ASKED), quirks=Quirks(field_on=True), seed=3)

    def visit(antenna: int) -> set[str]:
        assert lines(reader, f"SAP MAN {antenna - 1}") == ["OK!"]
        return set(lines(reader, "INV ONT")[:-1])

    return visit


def pepper_host() -> Visit:
    reader = PepperReader(over, antennas=3, noise=Noise(bleed=ASKED), seed=3)

    def visit(antenna: int) -> set[str]:
        assert ask_pepper(reader, f"0f{antenna:02x}") == "000f"
        found = set(chain(reader))
        if found:
            ask_pepper(reader, "90")
            ask_pepper(reader, "92")
        return found

    return visit


@pytest.mark.parametrize("host", [feig_host, metratec_host, pepper_host])
def test_a_chip_that_was_read_at_its_own_antenna_is_read_next_door_as_often_as_asked(host: Callable[[], Visit]) -> None:
    visit = host()
    seen = [[visit(antenna) for antenna in (1, 2, 3)] for _ in range(ROUNDS)]
    for antenna, uid in ((1, B), (2, A), (3, B)):
        share = sum(uid in found[antenna - 1] for found in seen) / ROUNDS
        assert abs(share - ASKED) < 0.025, (antenna, uid, share)
    assert all(uid in found[antenna - 1] for antenna, uid in ((1, A), (2, B)) for found in seen)
    assert not any(A in found[2] for found in seen), "two places away"


def test_a_chip_that_remembers_without_power_is_quiet_next_door_too() -> None:
    visit = feig_host(hold_ms=5000.0)
    assert visit(1) >= {A}
    assert not any(A in visit(antenna) for _ in range(200) for antenna in (2, 1))
