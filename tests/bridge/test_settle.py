"""What the journal hears of an antenna that keeps saying the same."""

from __future__ import annotations

from firmware_bridge.session.settle import HELD, INTERVAL_NS, PASS, Settle
from firmware_bridge.wire import CleanEmpty, Corrupt, DeviceId, Present, Tag, TimeSpan

R = DeviceId("r")
MS = 1_000_000


def full(at: int, *uids: str, antenna: int = 1) -> Present:
    return Present(R, TimeSpan(at, at), antenna, tuple(Tag(u) for u in uids))


def fresh(at: int, *uids: str, quiet: tuple[str, ...] = ("A",)) -> Present:
    return Present(R, TimeSpan(at, at), 1, tuple(Tag(u) for u in uids), complete=False, quiet=quiet)


def test_repeats_are_thinned_and_the_last_looks_before_a_change_pass_with_it() -> None:
    settle = Settle()
    told = [settle.offer(full(n * MS, "A")) for n in range(PASS + HELD + 5)]
    assert [len(t) for t in told] == [1] * PASS + [0] * (HELD + 5)
    assert settle.withheld == HELD + 5
    before = [full(n * MS, "A") for n in range(PASS + 5, PASS + HELD + 5)]
    assert settle.offer(full(100 * MS, "A", "B")) == [*before, full(100 * MS, "A", "B")]
    assert settle.withheld == 5


def test_one_repeat_an_interval() -> None:
    settle = Settle()
    passed = [n for n in range(4000) if settle.offer(CleanEmpty(R, TimeSpan(n * MS, n * MS), 1))]
    assert len(passed) == PASS + 4000 * MS // INTERVAL_NS - 1


def test_the_two_lanes_are_rows_of_their_own() -> None:
    settle = Settle()
    passed = 0
    for n in range(5000):
        look = full(n * MS, "A") if n % 50 == 0 else fresh(n * MS)
        passed += len(settle.offer(look))
    assert passed < 40, "not so many after every change of lane"
    # an arrival in the fast lane: the last fast looks without it come first
    *before, arrival = settle.offer(fresh(5000 * MS, "B"))
    assert arrival == fresh(5000 * MS, "B")
    assert before == [fresh(n * MS) for n in range(4990, 5000)]
    # a change in the presence lane: its own last look is older than what was told, and stays behind
    assert settle.offer(full(5001 * MS)) == [full(5001 * MS)]


def test_who_is_quiet_makes_a_difference() -> None:
    settle = Settle()
    for n in range(PASS + 2):
        settle.offer(fresh(n * MS))
    assert len(settle.offer(fresh(50 * MS, quiet=("A", "B")))) == 3


def test_reasons_make_a_difference_and_strength_does_not() -> None:
    settle = Settle()
    for n in range(PASS):
        assert settle.offer(Present(R, TimeSpan(n, n), 1, (Tag("A", n),)))
    assert settle.offer(Present(R, TimeSpan(PASS, PASS), 1, (Tag("A", 99),))) == []
    assert len(settle.offer(Corrupt(R, TimeSpan(PASS + 1, PASS + 1), 1, "x"))) == 2
    assert len(settle.offer(Corrupt(R, TimeSpan(PASS + 2, PASS + 2), 1, "y"))) == 1


def test_reset_lets_everything_through_again() -> None:
    settle = Settle()
    for n in range(PASS + 3):
        settle.offer(full(n, "A"))
    settle.reset()
    assert len(settle.offer(full(99, "A"))) == 1
