"""Chips and words put in order, and the order left open where nobody can know it."""

from __future__ import annotations

import pytest

from firmware_bridge.wire import BootId, DeviceId, Press, TimeSpan
from tabled.fusion.attempt import Arrival, Attempt
from tabled.fusion.motion import acts, doubts, spoken
from tabled.fusion.settings import MS, FusionSettings
from tabled.model.acts import HandReturnsToStack, HandWithdraws, Place, PullBack, Say

SETTINGS = FusionSettings(
    one_motion_ms=500, two_motions_ms=1200, motion_close_ms=900, reaction_min_ms=200, reaction_max_ms=1500
)
PANEL = DeviceId("panel")


def chip(value: int, at_ms: int, *, width_ms: int = 20, uid: str = "", back: bool = False) -> Arrival:
    return Arrival(uid or f"{value}@{at_ms}", value, TimeSpan((at_ms - width_ms) * MS, at_ms * MS), at_ms, True, back)


def press(key: str, at_ms: int, *, amount: int = 0, said_first: bool = False) -> Press:
    return Press(PANEL, TimeSpan(at_ms * MS, at_ms * MS), BootId(1), at_ms, key, 0, amount, said_first)


def attempt(*chips: Arrival, presses: tuple[Press, ...] = (), closed: bool = False) -> Attempt:
    words = tuple(w for p in presses if (w := spoken(p, "3", p.seq, SETTINGS)))
    return Attempt("3", chips, words, 9_000 * MS if closed else None)


def test_chips_that_trickle_in_are_one_motion() -> None:
    tried = attempt(chip(500, 1000), chip(500, 1100), chip(100, 1300))
    assert doubts(tried, SETTINGS) == ()
    assert acts(tried, {}, SETTINGS) == (Place("3", (500, 500, 100)),)


def test_a_second_trip_is_a_second_motion() -> None:
    tried = attempt(chip(500, 1000), chip(500, 2600))
    assert doubts(tried, SETTINGS) == ()
    assert acts(tried, {}, SETTINGS) == (Place("3", (500,)), HandReturnsToStack("3"), Place("3", (500,)))


@pytest.mark.parametrize("pause_ms", [530, 800, 1150])
def test_a_pause_between_the_two_is_a_doubt_with_two_readings(pause_ms: int) -> None:
    tried = attempt(chip(500, 1000), chip(500, 1000 + pause_ms))
    (doubt,) = doubts(tried, SETTINGS)
    assert doubt.kind == "one_motion"
    assert acts(tried, {"one_motion": True}, SETTINGS) == (Place("3", (500, 500)),)
    assert acts(tried, {"one_motion": False}, SETTINGS)[1] == HandReturnsToStack("3")


def test_a_wide_arrival_span_makes_the_pause_uncertain() -> None:
    tried = attempt(chip(500, 1000), chip(500, 2600, width_ms=1500))
    assert [d.kind for d in doubts(tried, SETTINGS)] == ["one_motion"]


def test_a_press_long_before_the_chips_reports_a_word_that_came_first() -> None:
    tried = attempt(chip(1000, 3000), presses=(press("raise", 1500),))
    assert doubts(tried, SETTINGS) == ()
    assert acts(tried, {}, SETTINGS) == (Say("3", "raise"), Place("3", (1000,)))


def test_a_press_long_after_the_chips_reports_a_later_word() -> None:
    tried = attempt(chip(1000, 1000), presses=(press("raise", 2600),))
    assert doubts(tried, SETTINGS) == ()
    assert acts(tried, {}, SETTINGS) == (Place("3", (1000,)), Say("3", "raise", order="after"))


def test_a_press_within_the_reaction_time_of_the_chips_is_a_doubt() -> None:
    tried = attempt(chip(1000, 1000), presses=(press("raise", 1600),))
    (doubt,) = doubts(tried, SETTINGS)
    assert doubt.kind == "said_first"
    assert acts(tried, {"said_first": True}, SETTINGS)[0] == Say("3", "raise")
    assert acts(tried, {"said_first": False}, SETTINGS)[1] == Say("3", "raise", order="after")


def test_the_said_first_key_settles_it() -> None:
    tried = attempt(chip(1000, 1000), presses=(press("raise", 1600, said_first=True),))
    assert doubts(tried, SETTINGS) == ()
    assert acts(tried, {}, SETTINGS)[0] == Say("3", "raise")


def test_amounts_are_raise_to_or_raise_by_never_just_raise() -> None:
    to = attempt(presses=(press("raise_to", 10, amount=800),))
    by = attempt(presses=(press("raise_by", 10, amount=300),))
    assert acts(to, {}, SETTINGS) == (Say("3", "raise", 800, "to"),)
    assert acts(by, {}, SETTINGS) == (Say("3", "raise", 300, "by"),)


def test_two_words_keep_their_order() -> None:
    tried = attempt(presses=(press("call", 1000), press("raise_by", 1400, amount=500)))
    assert [a.word for a in acts(tried, {}, SETTINGS) if isinstance(a, Say)] == ["call", "raise"]


def test_chips_taken_back_are_an_act_of_their_own() -> None:
    tried = attempt(chip(500, 1000), chip(500, 1010, uid="x", back=True), closed=True)
    assert acts(tried, {}, SETTINGS) == (Place("3", (500, 500)), HandWithdraws("3"), PullBack("3", (500,)))


def test_first_touch_is_when_the_first_chip_came_at_the_latest() -> None:
    tried = attempt(chip(500, 1000, width_ms=100), chip(100, 950, width_ms=10))
    assert tried.first_touch() == TimeSpan(900 * MS, 950 * MS)


def test_keys_that_are_no_words_say_nothing() -> None:
    assert spoken(press("hand_withdraws", 5), "3", 1, SETTINGS) is None
