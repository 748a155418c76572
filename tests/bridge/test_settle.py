"""What the journal hears of an antenna that keeps saying the same."""

from __future__ import annotations

import itertools

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from firmware_bridge.session.settle import HELD, INTERVAL_NS, PASS, PATIENCE, STILL_AFTER_NS, STILL_NS, Settle
from firmware_bridge.wire import CleanEmpty, Corrupt, DeviceId, Present, Tag, TimeSpan

R = DeviceId("r")
MS = 1_000_000
ZERO = TimeSpan(0, 0)


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


def empty(at: int, antenna: int = 1) -> CleanEmpty:
    return CleanEmpty(R, TimeSpan(at, at), antenna)


def settled(ms: int, every: int = 20) -> Settle:
    """An antenna that has been empty for so long."""
    settle = Settle()
    for n in range(0, ms, every):
        settle.offer(empty(n * MS))
    return settle


def test_an_antenna_that_is_still_for_a_minute_is_heard_once_a_minute() -> None:
    settle, heard = Settle(), []
    for n in range(0, 600_000, 20):
        heard += [r.span.latest_ns for r in settle.offer(empty(n * MS))]
    minute = [t for t in heard if t <= STILL_AFTER_NS]
    after = [t for t in heard if t > STILL_AFTER_NS]
    assert PASS + 55 <= len(minute) <= PASS + 60
    assert len(after) == 9
    assert max(b - a for a, b in itertools.pairwise(after)) == STILL_NS


def test_the_last_looks_before_a_change_pass_whenever_it_comes() -> None:
    """Also right behind a look that passed because its time had come."""
    for extra in range(0, 1200, 20):
        settle = settled(90_000 + extra)
        now = 90_000 + extra
        *before, change = settle.offer(full(now * MS, "A"))
        assert change == full(now * MS, "A")
        assert len(before) >= HELD - 1
        assert [r.span.latest_ns // MS for r in before] == list(range(now - 20 * len(before), now, 20))


def test_looks_that_somebody_waits_for_pass_with_those_before_them() -> None:
    settle = settled(90_000)
    settle.expect(1, 3)
    first = settle.offer(empty(90_000 * MS))
    assert HELD <= len(first) <= HELD + 1
    assert settle.offer(Corrupt(R, TimeSpan(90_020 * MS, 90_020 * MS), 1, "x"))
    settle = settled(90_000)
    settle.expect(1, 2)
    told = [settle.offer(empty((90_000 + 20 * n) * MS)) for n in range(4)]
    assert [len(t) > 0 for t in told] == [True, True, False, False]
    settle.expect(2, 1)
    assert settle.offer(empty(90_100 * MS)) == [], "another antenna is not meant"


def test_who_waits_for_looks_gets_a_complete_one_or_patience_ends() -> None:
    settle = Settle()
    for n in range(100):
        settle.offer(fresh(n * MS))
    settle.expect(1, 2)
    assert all(settle.offer(fresh((100 + n) * MS)) for n in range(4))
    assert settle.offer(full(104 * MS, "A"))
    settle.expect(1, 1)
    passed = sum(bool(settle.offer(fresh((200 + n) * MS))) for n in range(100))
    assert passed == PATIENCE


looks = st.lists(st.tuples(st.sampled_from(("", "A", "AB", "B", "x", "quiet")), st.integers(1, 90)), max_size=8)


@settings(max_examples=60, deadline=None)
@given(looks, st.sets(st.integers(0, 700), max_size=3))
def test_order_and_changes_are_kept(runs: list[tuple[str, int]], waited: set[int]) -> None:
    settle, heard, offered, n = Settle(), [], [], 0
    for what, count in runs:
        for _ in range(count):
            n += 1
            at = 130 * n * MS
            if n in waited:
                settle.expect(1, 4)
            result = (
                Corrupt(R, TimeSpan(at, at), 1, "x")
                if what == "x"
                else fresh(at)
                if what == "quiet"
                else full(at, *what)
            )
            offered.append(result)
            heard += settle.offer(result)
    assert [h.span.latest_ns for h in heard] == sorted({h.span.latest_ns for h in heard})
    assert settle.withheld == len(offered) - len(heard)
    told: dict[bool, object] = {}
    for result in offered:
        lane, content = isinstance(result, Present) and bool(result.quiet), msgspec.structs.replace(result, span=ZERO)
        assert content == told.get(lane) or result in heard, "a change passes at once"
        told[lane] = content
