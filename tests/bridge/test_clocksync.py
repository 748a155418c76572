"""The clock against a device whose truth is known: every span must hold it, and be narrow where it can."""

from __future__ import annotations

import math
import random
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firmware_bridge.clocksync import WANDER_PPM, WANDER_S, ClockSync
from firmware_bridge.wire import BootId

MS = 1_000_000
S = 1_000_000_000
BOOT = BootId(0xB007)


class Device:
    """A free-running microsecond counter: ``ppm`` fast, ``start`` at host time 0, 32 bits wide."""

    def __init__(self, ppm: float = 0.0, start: int = 0) -> None:
        self.ppm = ppm
        self.start = start

    def tick(self, host_ns: int) -> int:
        return (self.start + int(host_ns * (1 + self.ppm * 1e-6) / 1000)) % (1 << 32)


def run(
    clock: ClockSync,
    device: Device,
    *,
    seconds: float,
    begin_ns: int = 5 * S,
    delays: Callable[[random.Random], tuple[int, int]] = lambda r: (r.randrange(200_000), r.randrange(200_000)),
    every_ns: int = S // 2,
    seed: int = 1,
) -> int:
    """Pings for ``seconds``; returns the host time at the end."""
    chance = random.Random(seed)
    now = begin_ns
    for _ in range(int(seconds * S / every_ns)):
        there, back = delays(chance)
        clock.sample(BOOT, device.tick(now + there), now, now + there + back)
        now += every_ns + chance.randrange(2 * MS)
    return now


def assert_holds(clock: ClockSync, device: Device, at_ns: int, width_ns: int) -> None:
    span = clock.span(BOOT, device.tick(at_ns))
    assert span is not None
    # A tick names a whole microsecond.
    assert span.earliest_ns - 1000 <= at_ns <= span.latest_ns + 1000
    assert span.latest_ns - span.earliest_ns <= width_ns


@settings(deadline=None, max_examples=150)
@given(
    ppm=st.integers(-490, 490),
    start=st.integers(0, (1 << 32) - 1),
    delays=st.lists(st.tuples(st.integers(0, 60), st.integers(0, 60)), min_size=2, max_size=25),
    quiet=st.integers(0, 24),
)
def test_the_true_rate_is_within_its_bounds_however_one_sided_the_delays(
    ppm: int, start: int, delays: list[tuple[int, int]], quiet: int
) -> None:
    """First a quiet host, then one whose every answer is read late: the slope leans, its bounds do not."""
    clock, device = ClockSync(), Device(ppm, start)
    now = 5 * S
    for n, (there, back) in enumerate(delays):
        out, home = (20_000, 20_000) if n < quiet else (there * MS // 4, back * MS)
        clock.sample(BOOT, device.tick(now + out), now, now + out + home)
        now += S // 4
    assert clock.jumps == 0
    bounds = clock.drift_bounds_ppm
    assert bounds is not None
    assert bounds[0] <= ppm <= bounds[1]
    assert clock.drift_ppm is None or bounds[0] <= clock.drift_ppm <= bounds[1]


def test_delays_on_one_side_lean_the_slope_and_the_bounds_say_how_far() -> None:
    """What a loaded host does: answers are read later and later.  A rate read off the slope would be wrong."""
    clock, device = ClockSync(), Device(300)
    now = 5 * S
    for n in range(12):
        late = 40_000 + n * 90_000
        clock.sample(BOOT, device.tick(now + 40_000), now, now + 40_000 + late)
        now += S // 2
    bounds = clock.drift_bounds_ppm
    assert bounds is not None
    assert bounds[0] <= 300 <= bounds[1]
    assert bounds[1] - bounds[0] > 5, "not sharper than what was measured"


def test_bounds_close_in_as_the_clock_is_watched() -> None:
    widths = []
    for seconds in (3, 30, 120):
        clock = ClockSync()
        run(clock, Device(120), seconds=seconds)
        bounds = clock.drift_bounds_ppm
        assert bounds is not None
        assert bounds[0] <= 120 <= bounds[1]
        widths.append(bounds[1] - bounds[0])
    assert widths[0] > 5 * max(widths[1:])


@pytest.mark.parametrize("ppm", [-200, -50, 0, 50, 200])
def test_drift(ppm: float) -> None:
    clock, device = ClockSync(), Device(ppm, start=123_456)
    now = run(clock, device, seconds=60)
    assert clock.drift_ppm == pytest.approx(ppm, abs=15)
    assert clock.jumps == 0
    for ago in (0, 100 * MS, S, 10 * S):
        assert_holds(clock, device, now - ago, 1 * MS)


def test_jitter_is_bounded_by_the_least_round_trip() -> None:
    def usb(chance: random.Random) -> tuple[int, int]:
        return 100_000 + chance.choice((0, 0, 1, 4, 8)) * MS, 100_000 + chance.choice((0, 1, 2, 16)) * MS

    clock, device = ClockSync(), Device(80)
    now = run(clock, device, seconds=60, delays=usb)
    assert clock.gated > 10
    assert_holds(clock, device, now, 2 * MS)


class Wanderer(Device):
    """A crystal whose rate swings by ``swing`` ppm either way in ``period`` seconds."""

    def __init__(self, swing: float, period: float, start: int = 0) -> None:
        super().__init__(0.0, start)
        self.swing, self.turn = swing * 1e-6, 2 * math.pi / (period * S)

    def tick(self, host_ns: int) -> int:
        gained = self.swing * (1 - math.cos(self.turn * host_ns)) / self.turn
        return (self.start + int((host_ns + gained) / 1000)) % (1 << 32)


@pytest.mark.parametrize(("swing", "period"), [(20, 600), (40, 600), (10, 150), (100, 3600)])
@pytest.mark.parametrize("seed", [1, 2])
def test_a_slow_wander_with_rare_short_round_trips(swing: float, period: float, seed: int) -> None:
    """Within the documented wander.  Most answers are late, so the few short round trips that are kept grow old."""
    assert swing * 2 * math.pi / period <= WANDER_PPM / WANDER_S
    chance = random.Random(seed)
    clock, device = ClockSync(), Wanderer(swing, period, start=77)
    now = 5 * S
    while now < 900 * S:
        quick = chance.random() < 0.02
        there, back = (int(chance.expovariate(1) * (100_000 if quick else 8 * MS)) for _ in range(2))
        clock.sample(BOOT, device.tick(now + there), now, now + there + back)
        at = now + there + back + chance.randrange(400 * MS)
        age = min(chance.choice((0, 20 * MS, 2 * S, 30 * S)), at - 5 * S)
        made, seen = device.tick(at - age), device.tick(at)
        span = clock.span(BOOT, seen, age_us=(seen - made) % (1 << 32))
        assert span is not None
        assert span.earliest_ns - 1000 <= at - age <= span.latest_ns + 1000, f"at {now / S:.0f} s, {age / S} s old"
        now += S // 2
    assert clock.jumps == 0


def test_one_way_delay_that_is_all_on_one_side() -> None:
    clock, device = ClockSync(), Device(-120)
    now = run(clock, device, seconds=30, delays=lambda _: (6 * MS, 20_000))
    assert_holds(clock, device, now, 8 * MS)


def test_a_pause_of_300_ms_widens_nothing() -> None:
    clock, device = ClockSync(), Device(200)
    now = run(clock, device, seconds=30)
    clock.sample(BOOT, device.tick(now + 1 * MS), now, now + 301 * MS)
    now += 400 * MS
    assert clock.gated == 1
    assert clock.jumps == 0
    assert_holds(clock, device, now, 1 * MS)
    now = run(clock, device, seconds=5, begin_ns=now)
    assert_holds(clock, device, now, 1 * MS)


def test_a_pause_during_start_up_is_honest_and_heals() -> None:
    clock, device = ClockSync(), Device(200)
    clock.sample(BOOT, device.tick(S + 290 * MS), S, S + 300 * MS)
    assert_holds(clock, device, S + 100 * MS, 301 * MS)
    now = run(clock, device, seconds=20, begin_ns=2 * S)
    assert_holds(clock, device, now, 1 * MS)


def test_tick_wraps() -> None:
    clock, device = ClockSync(), Device(150, start=(1 << 32) - 20_000_000)
    now = run(clock, device, seconds=60)
    assert clock.jumps == 0
    assert clock.drift_ppm == pytest.approx(150, abs=15)
    for ago in (0, 30 * S, 55 * S):  # before and after the wrap
        # A crystal may have wandered by 10 ppm since then: see `clocksync`.
        assert_holds(clock, device, now - ago, 4 * MS)


def test_a_new_boot_starts_anew_and_the_old_one_is_unknown() -> None:
    clock = ClockSync()
    now = run(clock, Device(100), seconds=20)
    other = BootId(0xB008)
    assert clock.sample(other, 17, now, now + MS) is False
    assert clock.span(BOOT, 1000) is None
    span = clock.span(other, 17)
    assert span is not None
    assert (span.earliest_ns, span.latest_ns) == (now, now + MS)
    assert clock.boot == other


def test_a_reset_that_keeps_its_boot_is_noticed() -> None:
    clock = ClockSync()
    now = run(clock, Device(0), seconds=20)
    reborn = Device(0, start=-now // 1000)  # counts from 0 again, against the protocol
    assert clock.sample(BOOT, reborn.tick(now + 50_000), now, now + 100_000) is False
    assert clock.jumps == 1
    now = run(clock, reborn, seconds=10, begin_ns=now + S)
    assert_holds(clock, reborn, now, 1 * MS)


def test_a_device_14_s_in_the_future_is_only_an_offset() -> None:
    clock, device = ClockSync(), Device(30, start=14_000_000)
    now = run(clock, device, seconds=20)
    assert_holds(clock, device, now, 1 * MS)


def test_a_crystal_out_of_bounds_is_counted_not_believed() -> None:
    clock, device = ClockSync(), Device(5000)
    now = run(clock, device, seconds=20, delays=lambda _: (50_000, 50_000))
    assert clock.jumps > 0
    span = clock.span(BOOT, device.tick(now))
    assert span is not None


def test_long_silence_starts_anew() -> None:
    clock, device = ClockSync(), Device(100)
    now = run(clock, device, seconds=5) + 36 * 60 * S
    assert clock.sample(BOOT, device.tick(now), now, now + 10_000) is False
    assert_holds(clock, device, now, 20_000)


def test_age_reaches_back_farther_than_half_a_wrap() -> None:
    clock, device = ClockSync(), Device(0, start=77)
    now = run(clock, device, seconds=30, begin_ns=60 * 60 * S)
    then = now - 50 * 60 * S
    age = (device.tick(now) - device.tick(then)) % (1 << 32)
    span = clock.span(BOOT, device.tick(now), age_us=age)
    assert span is not None
    assert span.earliest_ns - 1000 <= then <= span.latest_ns + 1000


def test_an_answer_before_the_question_is_an_error() -> None:
    with pytest.raises(ValueError, match="before the question"):
        ClockSync().sample(BOOT, 1, 10, 9)


@settings(max_examples=60, deadline=None)
@given(
    ppm=st.floats(-450, 450),
    start=st.integers(0, (1 << 32) - 1),
    seed=st.integers(0, 1 << 30),
    slow=st.integers(1, 400 * MS),
    ago=st.integers(-S, 20 * S),
)
def test_the_truth_is_always_in_the_span(ppm: float, start: int, seed: int, slow: int, ago: int) -> None:
    def delays(chance: random.Random) -> tuple[int, int]:
        most = slow if chance.random() < 0.2 else 500_000
        return chance.randrange(most), chance.randrange(most)

    clock, device = ClockSync(), Device(ppm, start)
    now = run(clock, device, seconds=25, seed=seed, delays=delays, begin_ns=30 * S)
    assert clock.jumps == 0
    span = clock.span(BOOT, device.tick(now - ago))
    assert span is not None
    assert span.earliest_ns - 1000 <= now - ago <= span.latest_ns + 1000
