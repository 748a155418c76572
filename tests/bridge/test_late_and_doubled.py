"""What a reader that restarts, dawdles or repeats itself must never make of a look, and what is told of it."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firmware_bridge.session.feig import FeigSession
from firmware_bridge.session.feig_buffer import FeigBufferSession
from firmware_bridge.session.metratec import MetratecOptions, MetratecSession
from firmware_bridge.session.pepper import PepperOptions, PepperSession
from firmware_bridge.session.plan import FeigOptions
from firmware_bridge.session.punctual import Punctual
from firmware_bridge.session.schedule import TimePlan, Turns
from firmware_bridge.wire import CleanEmpty, Corrupt, DeviceId, DeviceLost, DeviceUp, Present
from tests.bridge.peers import FeigReader
from tests.bridge.peers_readers import MetratecReader, PepperReader
from tests.bridge.test_session_feig_buffer import BufferReader
from tests.bridge.virtual import MS, Bench

A, B = "E004015000000001", "E004015000000002"
RESULT = (Present, CleanEmpty, Corrupt)
FIELD = {1: [B], 3: [A]}


class Line:
    """Between a session and its reader: ``fate`` of a request is "", "lost", or "twice", of which the second answer
    comes only with the next request.
    """

    def __init__(self, reader: Any, fate: Callable[[bytes], str]) -> None:
        self.reader = reader
        self.fate = fate
        self._second = b""

    def feed(self, data: bytes) -> bytes:
        if not data:
            return b""
        fate, late, self._second = self.fate(data), self._second, b""
        answer = b"" if fate == "lost" else self.reader.feed(data)
        if fate == "twice":
            self._second = answer
        return bytes(late + answer)


def tell(result: Any) -> tuple[str, int, list[str]]:
    return type(result).__name__, result.antenna, [t.uid for t in getattr(result, "tags", ())]


# -- a restart in the middle of a look ------------------------------------------------------------


def feig_restart(reader: FeigReader) -> None:
    reader.channels = {0: 1}  # as it comes up


def pepper_restart(reader: PepperReader) -> None:
    reader.antenna = 1


def metratec_restart(reader: MetratecReader) -> None:
    reader.port, reader.report, reader.rf = 1, False, True


@pytest.mark.parametrize("make", ["feig", "pepper", "metratec"])
def test_a_restart_during_a_look_is_never_booked_to_the_antenna_that_was_asked(make: str) -> None:
    session: Any
    reader: Any
    if make == "feig":
        session = FeigSession(DeviceId("r"), FeigOptions(antennas=(1, 2, 3), min_sweep_ms=0))
        reader, restart = FeigReader(FIELD), feig_restart
    elif make == "pepper":
        session = PepperSession(DeviceId("r"), PepperOptions(antennas=(1, 2, 3), min_sweep_ms=0))
        reader, restart = PepperReader(FIELD), pepper_restart  # type: ignore[assignment]  # each for its own reader
    else:
        session = MetratecSession(DeviceId("r"), MetratecOptions(antennas=(1, 2, 3), min_sweep_ms=0, first_port=1))
        reader, restart = MetratecReader(FIELD, ports=8), metratec_restart  # type: ignore[assignment]  # the same
    rounds = 0

    def script(command: Any, *rest: Any) -> bytes:
        nonlocal rounds
        answer: bytes = rest[-1]
        rounds += command in (0xB0, 0x90, "INV")
        if rounds in (3, 8) and command in (0xB0, 0x90, "INV"):
            restart(reader)  # its answer and its selection are gone
            rounds += 1
            return b""
        return answer

    reader.script = script
    bench = Bench((session, reader))
    results = bench.until(RESULT, 12)
    assert [r.antenna for r in results if isinstance(r, Corrupt)], "the silence is told"
    for result in results:
        if not isinstance(result, Corrupt):
            assert tell(result)[2] == FIELD.get(result.antenna, []), result
    assert not [r for r in results[4:6] if isinstance(r, Corrupt)], "and it goes on as before"


@pytest.mark.parametrize("when", ["at the start", "in a look"])
def test_without_a_multiplexer_a_field_that_may_be_off_is_switched_on(when: str) -> None:
    reader = FeigReader({0: [A]})
    reader.rf = when != "at the start"
    bench = Bench((FeigSession(DeviceId("r"), FeigOptions(antennas=(1,), multiplexer=False, min_sweep_ms=0)), reader))
    if when == "in a look":
        bench.until(Present, 2)
        lost = [True]

        def script(command: int, data: bytes, reply: bytes) -> bytes:
            if command == 0xB0 and lost:
                lost.clear()
                reader.rf = False  # comes up dark
                return b""
            return reply

        reader.script = script
    results = bench.until(RESULT, 4)
    assert not [r for r in results if isinstance(r, CleanEmpty)]
    assert tell(results[-1]) == ("Present", 1, [A])


# -- answers that came twice ----------------------------------------------------------------------


def test_a_doubled_off_does_not_confirm_the_selection_behind_it() -> None:
    """Mux 1 off is answered twice, the select behind it never arrives: nothing is energised, nothing is empty."""
    reader = FeigReader({1: [A], 2: [A], 3: [A], 9: [A]})
    fates = {b"\xdd\x01\x00\x00": "twice", b"\xdd\x00\x01\x00": "lost"}
    looked = [0]

    def fate(data: bytes) -> str:
        looked[0] += b"\xb0" in data
        mine = [request for request in fates if request in data] if looked[0] > 5 else []
        return fates.pop(mine[0]) if mine and mine[0] == next(iter(fates)) else ""

    session = FeigSession(DeviceId("r"), FeigOptions(antennas=(1, 2, 3, 9), min_sweep_ms=0))
    bench = Bench((session, Line(reader, fate)))
    results = bench.until(RESULT, 14)
    assert not fates, "both happened"
    assert not [r for r in results if isinstance(r, CleanEmpty)]
    assert [tell(r)[:2] for r in results if isinstance(r, Corrupt)] == [("Corrupt", 1)]


def test_a_doubled_ok_does_not_switch_a_metratec_field_on() -> None:
    reader = MetratecReader({1: [A]}, ports=8)
    fates = {b"SRI OFF\r": "twice", b"SRI SS 100\r": "lost"}
    options = MetratecOptions(antennas=(1,), lanes="ont", presence_ms=30, min_sweep_ms=0, first_port=1)
    bench = Bench((MetratecSession(DeviceId("r"), options), Line(reader, lambda _: "")))
    bench.until(RESULT, 3)
    # a field that is off answers like an empty one, as some firmware does
    reader.script = lambda c, r: b"IVF 00\r" if r == b"RNW\r" else r
    bench.reader.fate = lambda data: fates.pop(data) if fates and data == next(iter(fates)) else ""
    results = bench.until(RESULT, 20)
    assert not fates, "both happened"
    assert not [r for r in results if isinstance(r, CleanEmpty)]
    assert [r for r in results if isinstance(r, Corrupt)]
    assert reader.rf


class Dawdler:
    """A reader that holds still for some requests and then catches up: two with each new one, at times one alone."""

    def __init__(self, reader: FeigReader) -> None:
        self.reader = reader
        self.still = 0
        self._idle = 0
        self._waiting: list[bytes] = []

    def feed(self, data: bytes) -> bytes:
        if data:
            self._waiting.append(data)
        if self.still:
            self.still -= bool(data)
            return b""
        self._idle = 0 if data else self._idle + 1
        count = 2 if data else self._idle % 4 == 0
        now, self._waiting = self._waiting[:count], self._waiting[count:]
        return b"".join(self.reader.feed(request) for request in now)


@pytest.mark.parametrize("at", range(12))
def test_a_late_answer_to_on_never_confirms_off(at: int) -> None:
    """Two neighbours share a plan; one dawdles over its selection.  They are never on together."""
    readers = [FeigReader({}), FeigReader({})]
    sessions = [FeigSession(DeviceId(n), FeigOptions(antennas=(1, 2), min_sweep_ms=0)) for n in "ab"]
    pairs = [(("a", x), ("b", y)) for x in (1, 2) for y in (1, 2)]
    turns = Turns(TimePlan([s.member_in(shared=True) for s in sessions], pairs))
    for session in sessions:
        session.share(turns)
    together: list[bytes] = []
    for mine, other in (readers, readers[::-1]):

        def script(command: int, data: bytes, reply: bytes, other: FeigReader = other) -> bytes:
            if command == 0xDD and data[1] and any(other.channels.values()):
                together.append(data)
            return reply

        mine.script = script
    dawdler = Dawdler(readers[1])
    bench = Bench((sessions[0], readers[0]), (sessions[1], dawdler))
    bench.until(DeviceUp, 2)
    bench.until(RESULT, 8)
    for step in range(400):
        if step == 20 + at:
            dawdler.still = 2
        bench.step()
        assert not together, "neighbours energised together"
    assert len(bench.until(RESULT, 4)) == 4, "both go on"


# -- late looks are counted -----------------------------------------------------------------------


def test_what_is_late_by_another_question_is_told_and_counted() -> None:
    reader = FeigReader({2: [A]})
    lost: list[int] = []
    reader.script = lambda c, d, r: b"" if c == 0xB0 and lost and lost.pop() else r
    options = FeigOptions(antennas=(1, 2, 3), min_sweep_ms=0, chips_per_antenna=1)
    bench = Bench((FeigSession(DeviceId("r"), options), reader))
    bench.until(RESULT, 9)
    assert bench.session.counters().over_bound == 0
    lost.append(1)
    for _ in range(60):
        bench.step()
    assert [o for o in bench.seen if isinstance(o, Corrupt)]
    assert bench.session.counters().over_bound == 3, "every antenna waited for the one that was asked twice"


def test_a_healthy_reader_counts_what_its_neighbour_costs_it() -> None:
    readers = [FeigReader({}), FeigReader({})]
    options = FeigOptions(antennas=(1,), min_sweep_ms=0, chips_per_antenna=1)
    sessions = [FeigSession(DeviceId(n), options) for n in "ab"]
    turns = Turns(TimePlan([s.member_in(shared=True) for s in sessions], [(("a", 1), ("b", 1))]))
    for session in sessions:
        session.share(turns)
    bench = Bench(*zip(sessions, readers, strict=True))
    bench.until(RESULT, 8)
    lost = [True]
    readers[1].script = lambda c, d, r: b"" if c == 0xB0 and lost and lost.pop() else r
    for _ in range(80):
        bench.step()
    assert sessions[0].counters().over_bound == 1
    assert [o.device for o in bench.seen if isinstance(o, Corrupt)] == ["b"]


def test_more_chips_than_stated_are_named() -> None:
    bench = Bench(
        (FeigSession(DeviceId("r"), FeigOptions(antennas=(1,), chips_per_antenna=1)), FeigReader({1: [A, B]}))
    )
    bench.until(Present)
    (note,) = bench.session.figures().notes
    assert "found 2 chips on antenna 1" in note
    assert "'chips_per_antenna' = 1" in note


def test_punctual() -> None:
    watch = Punctual()
    assert not watch.late(1, (0, 10), (50, 100), full=True)
    assert not watch.late(1, (40, 50), (50, 100), full=False)
    assert watch.late(1, (60, 101), (50, 100), full=True), "the last full look began at 0"
    assert watch.late(1, (105, 111), (50, 100), full=False), "and the last look at 60"
    assert not watch.late(2, (500, 540), (50, 100), full=True), "the first of its antenna"
    watch.forget()
    assert not watch.late(1, (960, 990), (50, 100), full=True)
    assert not watch.late(1, (995, 1000), (200, 100), full=False)
    assert not watch.late(1, (1190, 1195), (50, 100), full=False), "200 was stated when it began"


# -- a loss is told in time -----------------------------------------------------------------------

WAITS = st.sampled_from([0, 20, 100, 101, 700, 2000, 10_000])
OPTIONS = st.fixed_dictionaries(
    {},
    optional={
        "inventory_timeout_ms": st.integers(1, 900),
        "reply_timeout_ms": st.integers(1, 900),
        "lost_after_ms": st.integers(1, 1000),
        "silent_limit": st.integers(1, 12),
        "min_sweep_ms": WAITS,
        "chips_per_antenna": st.integers(0, 20),
    },
)
FEIG = st.fixed_dictionaries(
    {"antennas": st.sampled_from([(1,), (1, 2), (1, 9)])},
    optional={
        "mode": st.sampled_from(["host", "buffered", "notify"]),
        "lanes": st.sampled_from(["sweep", "ont"]),
        "notify_ms": st.sampled_from([0, 100, 300, 700]),
        "poll_ms": st.integers(1, 1000),
        "ping_ms": st.integers(1, 1000),
    },
)


@settings(max_examples=150, deadline=None, database=None)
@given(common=OPTIONS, special=FEIG, make=st.sampled_from(["feig", "pepper", "metratec"]), steps=st.integers(0, 60))
def test_whatever_options_are_taken_a_dead_reader_is_told_within_a_second(
    common: dict[str, Any], special: dict[str, Any], make: str, steps: int
) -> None:
    session: Any
    reader: Any
    try:
        if make == "pepper":
            session = PepperSession(DeviceId("r"), PepperOptions(antennas=(1, 2), **common))
            reader = PepperReader({1: [A]})
        elif make == "metratec":
            session = MetratecSession(DeviceId("r"), MetratecOptions(antennas=(1, 2), first_port=1, **common))
            reader = MetratecReader({1: [A]}, ports=8)
        else:
            options = FeigOptions(**common, **special)
            session = (FeigSession if options.mode == "host" else FeigBufferSession)(DeviceId("r"), options)
            reader = FeigReader({1: [A]}) if options.mode == "host" else BufferReader(notify=options.mode == "notify")
    except ValueError:
        return  # refused
    bench = Bench((session, reader))
    bench.until(DeviceUp)
    for _ in range(steps):
        bench.step()
    reader.script = lambda *args: b""
    died = bench.now
    lost = bench.until(DeviceLost)[0]
    assert lost.span.latest_ns - died <= 950 * MS


def test_a_reader_that_waits_for_its_turn_is_found_dead_too() -> None:
    for seed in range(8):
        chance = random.Random(seed)
        readers = [FeigReader({}), FeigReader({})]
        sessions = [FeigSession(DeviceId(n), FeigOptions(antennas=(1, 2), min_sweep_ms=5000)) for n in "ab"]
        turns = Turns(TimePlan([s.member_in(shared=True) for s in sessions], [(("a", 1), ("b", 1))]))
        for session in sessions:
            session.share(turns)
        bench = Bench(*zip(sessions, readers, strict=True))
        bench.until(RESULT, 4)
        for _ in range(chance.randrange(80)):
            bench.step()
        readers[1].script = lambda c, d, r: b""
        died = bench.now
        assert bench.until(DeviceLost)[0].span.latest_ns - died <= 950 * MS
