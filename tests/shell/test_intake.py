"""Inputs wait in a bounded line; presses and orders are never dropped, inventories are thinned and counted."""

from __future__ import annotations

import pytest

from firmware_bridge.wire import AnyObservation, BootId, CleanEmpty, DeviceId, Press, TimeSpan
from tabled.core.entries import Seen
from tabled.shell.intake import MAX_BATCH, MAX_WAITING, Intake

SPAN = TimeSpan(0, 1)


def inventory(n: int) -> Seen:
    return Seen(at_ns=n, observation=CleanEmpty(DeviceId("r"), SPAN, 1))


def press(n: int) -> Seen:
    return Seen(at_ns=n, observation=Press(DeviceId("p"), SPAN, BootId(1), n, "fold"))


def drain(intake: Intake) -> list[int]:
    out: list[int] = []
    while len(intake):
        out += [e.at_ns for e in intake.take()]
    return out


def test_order_is_kept_and_batches_are_bounded() -> None:
    intake = Intake()
    for n in range(MAX_BATCH * 2 + 5):
        intake.put(inventory(n))
    assert len(intake.take()) == MAX_BATCH
    assert drain(intake) == list(range(MAX_BATCH, MAX_BATCH * 2 + 5))


def test_a_full_line_thins_inventories_and_keeps_every_press() -> None:
    intake = Intake()
    presses = set()
    for n in range(MAX_WAITING + 500):
        keep = n % 10 == 0
        intake.put(press(n) if keep else inventory(n))
        presses |= {n} if keep else set()
    assert len(intake) <= MAX_WAITING
    assert intake.dropped > 0
    left = drain(intake)
    assert presses <= set(left)
    assert left == sorted(left)


def test_each_inventory_that_is_dropped_is_given_back() -> None:
    back: list[AnyObservation] = []
    intake = Intake(back.append)
    for n in range(MAX_WAITING + 1):
        intake.put(inventory(n))
    assert len(back) == intake.dropped > 0
    assert len(back) + len(drain(intake)) == MAX_WAITING + 1


def test_only_presses_and_no_room_is_an_error_that_says_what_to_do() -> None:
    intake = Intake()
    for n in range(MAX_WAITING):
        intake.put(press(n))
    with pytest.raises(OverflowError, match="free disk space"):
        intake.put(press(MAX_WAITING))


def test_what_could_not_be_written_stays_first_in_line() -> None:
    intake = Intake()
    for n in range(5):
        intake.put(press(n))
    batch = intake.take()
    intake.put(press(5))
    intake.put_back(batch)
    assert drain(intake) == [0, 1, 2, 3, 4, 5]
