"""Keys that can mean nothing where they were pressed are answered with what is true."""

from __future__ import annotations

import pytest

from tabled.model.outcome import AlertRaised
from tests.core.driver import Bench


@pytest.mark.parametrize("seat", [7, 11, 255])
def test_a_key_for_a_seat_that_is_not_dealt_in_says_so(seat: int) -> None:
    bench = Bench()
    bench.deal()
    bench.press("check", seat=seat)
    reason = bench.of(AlertRaised)[-1].reason
    assert (reason.code, reason.params) == ("key_not_dealt_in", {"key": "check", "seat": seat})
    assert bench.view.to_act == "3"


def test_a_key_while_nobody_is_to_act_says_so() -> None:
    bench = Bench()
    bench.press("fold")
    bench.press("check", seat=2)
    assert [a.reason.code for a in bench.of(AlertRaised)] == ["key_without_turn"] * 2
