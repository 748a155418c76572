"""The tracker of strokes, fed with positions of which the truth is known."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firmware_bridge.wire import DeviceId
from tabled.model.camera import HandMoved
from tabled.sensing.strokes import Memory, Sample, Strokes

MS = 1_000_000
FRAME = 1e9 / 60


def follow(keys: list[tuple[float, float]], *, lift: float = 0.2, height: float = 30.0, phase: float = 0.0,
           memory: Memory | None = None) -> list[HandMoved]:  # fmt: skip
    """Steps seen of a point that goes straight from key to key (ms, true mm over the line) at a height."""
    strokes = Strokes(DeviceId("camera"), "1", memory if memory is not None else Memory(), 2 * MS, "player")
    out: list[HandMoved] = []
    at, before = keys[0][0] * MS + phase * FRAME, 0
    while at <= keys[-1][0] * MS:
        true = place(keys, at / MS)
        out += strokes.step(Sample(round(at), true - lift * height, lift), before)
        before, at = round(at), at + FRAME
    return out


def place(keys: list[tuple[float, float]], ms: float) -> float:
    for (t0, v0), (t1, v1) in itertools.pairwise(keys):
        if t0 <= ms <= t1:
            return v0 + (v1 - v0) * (ms - t0) / (t1 - t0)
    return keys[-1][1]


def crossing(keys: list[tuple[float, float]], *, inwards: bool) -> float:
    for (t0, v0), (t1, v1) in itertools.pairwise(keys):
        if (v0 < 0 < v1) if inwards else (v0 > 0 > v1):
            return t0 + (t1 - t0) * v0 / (v0 - v1)
    raise AssertionError("it does not cross")


IN_AND_OUT = [(0.0, -120.0), (200.0, 80.0), (400.0, 80.0), (650.0, -150.0)]


@given(height=st.floats(0, 100), lift=st.floats(-0.3, 0.5), phase=st.floats(0, 1), speed=st.floats(0.3, 2.0))
def test_the_span_of_a_crossing_holds_the_true_instant_at_any_height(
    height: float, lift: float, phase: float, speed: float
) -> None:
    keys = [(t / speed, v) for t, v in IN_AND_OUT]
    steps = follow(keys, lift=lift, height=height, phase=phase)
    assert [s.step for s in steps] == ["enters", "leaves"]
    for step, inwards in zip(steps, (True, False), strict=True):
        true = crossing(keys, inwards=inwards) * MS
        assert step.span.earliest_ns - MS <= true <= step.span.latest_ns + MS


def test_without_parallax_the_crossing_is_known_to_a_few_milliseconds() -> None:
    enters = follow(IN_AND_OUT, lift=0.0)[0]
    assert enters.span.latest_ns - enters.span.earliest_ns <= 5 * MS
    assert enters.confidence == 1000


@pytest.mark.parametrize("back", [30.0, 45.0, 70.0])
def test_a_hand_that_goes_back_advances_again(back: float) -> None:
    keys = [(0.0, -120.0), (200.0, 90.0), (280.0, 90.0), (400.0, 90.0 - back), (550.0, 95.0), (700.0, 95.0)]
    steps = follow(keys)
    assert [s.step for s in steps] == ["enters", "advances"]
    assert steps[1].retreat_mm == pytest.approx(back, abs=4)
    assert steps[1].pause_ms == pytest.approx(200, abs=40)
    assert steps[1].span.earliest_ns - 5 * MS <= 402 * MS <= steps[1].span.latest_ns + 5 * MS


@pytest.mark.parametrize("pause", [200.0, 350.0])
def test_a_hand_that_rests_advances_again(pause: float) -> None:
    keys = [(0.0, -120.0), (200.0, 70.0), (200.0 + pause, 70.0), (350.0 + pause, 130.0)]
    steps = follow(keys)
    assert [s.step for s in steps] == ["enters", "advances"]
    assert steps[1].pause_ms == pytest.approx(pause, abs=30)
    assert steps[1].retreat_mm <= 3


@given(st.lists(st.floats(-1.4, 1.4), min_size=8, max_size=60))
def test_a_hand_that_only_trembles_does_not_advance(noise: list[float]) -> None:
    strokes = Strokes(DeviceId("camera"), "1", Memory(), 0, "player")
    steps = strokes.step(Sample(0, -100.0, 0.0), 0)
    for n in range(1, 20):
        steps += strokes.step(Sample(round(n * FRAME), -100.0 + n * 9, 0.0), 0)
    for n, v in enumerate(noise):
        steps += strokes.step(Sample(round((20 + n) * FRAME), 71.0 + v, 0.0), 0)
    assert [s.step for s in steps] == ["enters"]


def test_what_may_not_have_crossed_is_told_with_doubt_or_not_at_all() -> None:
    short = [(0.0, -120.0), (150.0, 8.0), (200.0, 8.0), (350.0, -120.0)]
    # It looks to be 4 mm short of the line, which it is only if it slides over the felt.
    grazed = follow(short, lift=0.4, height=30.0)
    assert [s.step for s in grazed] == ["enters", "leaves"]
    for step, true_ms in zip(grazed, (140.6, 209.4), strict=True):
        assert 0 < step.confidence < 500
        assert step.span.earliest_ns <= true_ms * MS <= step.span.latest_ns
    # And here 22 mm short: only a hand that is 55 mm high were over it.
    assert follow([(t, v - 18.0) for t, v in short], lift=0.4, height=30.0) == []
    long = [(0.0, -120.0), (150.0, 8.0), (900.0, 8.0)]
    steps = follow(long, lift=0.4, height=30.0)
    assert [s.step for s in steps] == ["enters"]
    assert steps[0].confidence < 500


def test_a_hand_that_turns_where_it_is_likelier_behind_the_line_left_and_came_again_in_doubt() -> None:
    keys = [(0.0, -120.0), (200.0, 80.0), (400.0, 80.0), (500.0, -7.0), (700.0, -7.0), (900.0, 90.0), (950.0, 90.0)]
    steps = follow(keys, lift=0.44, height=22.0)
    assert [s.step for s in steps] == ["enters", "leaves", "enters"]
    assert [s.confidence < 500 for s in steps] == [False, True, True]
    assert steps[2].retreat_mm == pytest.approx(87, abs=6)
    assert steps[2].pause_ms > 300


@given(lift=st.floats(0.0, 0.5), height=st.floats(15, 45), phase=st.floats(0, 1))
def test_the_best_guess_is_right_for_a_hand_as_high_as_most(lift: float, height: float, phase: float) -> None:
    for step, inwards in zip(follow(IN_AND_OUT, lift=lift, height=height, phase=phase), (True, False), strict=True):
        assert step.span.earliest_ns <= step.likely_ns <= step.span.latest_ns
        # It moves a millimetre a millisecond.
        assert abs(step.likely_ns - crossing(IN_AND_OUT, inwards=inwards) * MS) <= (lift * 16 + 1) * MS


def test_a_second_visit_knows_how_it_is_parted_from_the_first() -> None:
    memory = Memory()
    follow(IN_AND_OUT, memory=memory)
    later = [(t + 1000.0, v) for t, v in IN_AND_OUT]
    enters = follow(later, memory=memory)[0]
    assert enters.retreat_mm > 150
    assert enters.pause_ms == pytest.approx(1000 + 126 - 205, abs=60)
    much_later = [(t + 9000.0, v) for t, v in IN_AND_OUT]
    enters = follow(much_later, memory=memory)[0]
    assert (enters.retreat_mm, enters.pause_ms) == (0, 0)


def test_a_hand_that_is_lost_from_sight_has_left_within_the_time_that_nobody_saw() -> None:
    strokes = Strokes(DeviceId("camera"), "1", Memory(), 0, "player")
    strokes.step(Sample(0, -50.0, 0.0), 0)
    strokes.step(Sample(20 * MS, 30.0, 0.0), 0)
    (left,) = strokes.gone(20 * MS, 160 * MS)
    assert left.step == "leaves"
    assert (left.span.earliest_ns, left.span.latest_ns) == (20 * MS, 160 * MS)
    assert left.confidence < 1000
    assert strokes.gone(20 * MS, 300 * MS) == []
