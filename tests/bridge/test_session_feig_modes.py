"""FEIG beyond polling: the lane for new chips, the field switched off for neighbours, buffered read, notification."""

from __future__ import annotations

from typing import Any

import pytest

from firmware_bridge.session.feig import FeigSession
from firmware_bridge.session.feig_buffer import FeigBufferSession
from firmware_bridge.session.plan import FeigOptions
from firmware_bridge.session.schedule import TimePlan, Turns
from firmware_bridge.wire import CleanEmpty, Corrupt, DeviceId, DeviceLost, DeviceUp, Present, Restarted
from tests.bridge.peers import FeigReader, feig_reply, records
from tests.bridge.virtual import MS, Bench

A, B, C = "E004015000000001", "E004015000000002", "E004015000000003"
RESULT = (Present, CleanEmpty, Corrupt)


def uids(present: Present) -> list[str]:
    return [t.uid for t in present.tags]


def lone(field: list[str], *, ont: int | None = 0x04, **options: Any) -> tuple[Bench, FeigReader]:
    reader = FeigReader({0: field})
    reader.ont = ont
    options = {"antennas": (1,), "multiplexer": False, "min_sweep_ms": 0} | options
    return Bench((FeigSession(DeviceId("reader-a"), FeigOptions(**options)), reader)), reader


# -- only new tags -------------------------------------------------------------------------------


def test_a_reader_shipped_with_only_new_tags_never_makes_a_full_antenna_look_empty() -> None:
    """CFG5.ONT is on in some readers as shipped: the second inventory says 'no transponder' over a stack."""
    bench, reader = lone([A, B], ont=0x05)
    results = bench.until(RESULT, 5)
    assert [uids(r) for r in results] == [[A, B]] * 5
    assert reader.ont == 0x04, "switched off in the reader's RAM"
    assert (0x81, b"\x05" + bytes(11) + b"\x04\x00\x00") in reader.log


def test_where_the_setting_cannot_be_read_the_tags_are_woken_before_each_look() -> None:
    bench, reader = lone([A, B], ont=None)
    reader.script = lambda c, d, r: reader.quiet.update({A, B} if c == 0xB0 else ()) or r
    assert [uids(r) for r in bench.until(Present, 4)] == [[A, B]] * 4
    commands = [c for c, _ in reader.log]
    assert commands.count(0x69) >= commands.count(0xB0)


def test_the_lane_for_new_chips() -> None:
    bench, reader = lone([A, B], lanes="ont", presence_ms=20)
    first = bench.until(RESULT)[0]
    assert (uids(first), first.complete, first.quiet) == ([A, B], True, ())
    assert reader.ont == 0x05
    nothing = bench.until(RESULT)[0]
    assert (uids(nothing), nothing.complete, nothing.quiet) == ([], False, (A, B))
    reader.field[0].append(C)
    arrived = bench.until(RESULT)[0]
    assert (uids(arrived), arrived.complete, arrived.quiet) == ([C], False, (A, B))
    assert not [o for o in bench.seen if isinstance(o, CleanEmpty | Corrupt)]


def test_removals_are_seen_in_the_presence_lane_within_the_stated_bound() -> None:
    bench, reader = lone([A, B], lanes="ont", presence_ms=60)
    session = bench.pairs[0][0]
    for waited in range(1, 12):
        bench.until(RESULT, waited)
        reader.field[0].remove(B)
        gone = bench.now
        full = next(p for _ in range(40) for p in bench.until(RESULT) if isinstance(p, Present) and p.complete)
        assert uids(full) == [A]
        assert full.span.latest_ns - gone <= (session.worst_removal_ns(1) or 0)
        reader.field[0].append(B)
        came = bench.now
        back = next(p for _ in range(40) for p in bench.until(RESULT) if isinstance(p, Present) and B in uids(p))
        assert back.span.latest_ns - came <= (session.worst_arrival_ns(1) or 0)


def test_a_chip_that_left_and_came_back_between_two_looks_is_told_again() -> None:
    bench, reader = lone([A], lanes="ont", presence_ms=30_000)
    bench.until(RESULT, 3)
    reader.quiet.discard(A)  # lifted and put back: without power it forgot that it should be quiet
    assert uids(bench.until(RESULT)[0]) == [A]


def test_a_restart_of_the_reader_resets_what_is_quiet() -> None:
    """The reader restarts (field and setting are gone) while the host sees only one silence."""
    bench, reader = lone([A, B], lanes="ont", presence_ms=30_000)
    bench.until(RESULT, 3)
    reader.ont = 0x04
    reader.quiet.clear()
    silent = [True]
    reader.script = lambda c, d, r: b"" if c == 0xB0 and silent and silent.pop() else r
    results = bench.until(RESULT, 3)
    assert isinstance(results[0], Corrupt)
    assert (uids(results[1]), results[1].complete, results[1].quiet) == ([A, B], True, ())
    assert reader.ont == 0x05, "the setting was made again"
    assert len([o for o in bench.seen if isinstance(o, Restarted)]) == bench.session.counters().restarts == 1


def test_a_restart_shows_where_a_reader_is_shipped_otherwise_than_it_is_set() -> None:
    bench, reader = lone([A], ont=0x05)
    bench.until(RESULT, 3)
    silent = [True, True]
    reader.script = lambda c, d, r: b"" if c == 0xB0 and silent and silent.pop() else r
    bench.until(RESULT, 3)
    assert bench.session.counters().restarts == 0, "silence alone is no restart"
    reader.ont = 0x05
    silent += [True]
    bench.until(RESULT, 3)
    assert len([o for o in bench.seen if isinstance(o, Restarted)]) == bench.session.counters().restarts == 1
    assert reader.ont == 0x04


def test_a_spoilt_look_in_the_lane_is_followed_by_a_full_one() -> None:
    """The reader named and muted a new chip, and its answer says only that something went wrong."""
    bench, reader = lone([A], lanes="ont", presence_ms=30_000)
    bench.until(RESULT, 3)
    reader.field[0].append(B)
    once = [True]
    reader.script = lambda c, d, r: feig_reply(0xB0, 0x83) if c == 0xB0 and once and once.pop() else r
    spoilt, after = bench.until(RESULT, 2)
    assert isinstance(spoilt, Corrupt)
    assert (uids(after), after.complete, after.quiet) == ([A, B], True, ())


def test_a_lost_answer_hides_no_chip() -> None:
    bench, reader = lone([A], lanes="ont", presence_ms=30_000)
    bench.until(RESULT, 3)
    reader.field[0].append(B)
    lost = [True]
    # the reader named and muted B, and the answer was lost
    reader.script = lambda c, d, r: b"" if c == 0xB0 and lost and lost.pop() else r
    results = bench.until(RESULT, 2)
    assert isinstance(results[0], Corrupt)
    assert (uids(results[1]), results[1].complete) == ([A, B], True)


def test_a_broken_chain_in_the_lane_is_followed_by_a_full_look() -> None:
    bench, reader = lone([A, B, C], lanes="ont", presence_ms=30_000)
    reader.per_reply = 2
    lost = [True]
    reader.script = lambda c, d, r: b"" if d == b"\x01\x80" and lost and lost.pop() else r
    first, second = bench.until(RESULT, 2)
    assert (uids(first), first.complete, first.quiet) == ([A, B], False, ())
    assert (uids(second), second.complete) == ([A, B, C], True)


def test_waiting_in_the_reader_asks_less() -> None:
    bench, reader = lone(
        [A], lanes="ont", notify_ms=300, silent_limit=2, chips_per_antenna=10, inventory_timeout_ms=250
    )
    bench.until(RESULT, 2)
    assert (0xB0, b"\x01\x40\x03") in reader.log
    assert (bench.pairs[0][0].worst_arrival_ns(1) or 0) >= 300 * MS


def test_a_reader_that_will_not_take_the_setting_is_refused_by_name() -> None:
    bench, _ = lone([A], ont=None, lanes="ont")
    lost = bench.until(DeviceLost)[0]
    assert "'only new tags' cannot be set" in lost.reason
    assert "sweep" in lost.reason


# -- neighbours ----------------------------------------------------------------------------------


def shared(*antennas: tuple[int, ...], mux: bool = True) -> tuple[Bench, Turns, list[FeigReader]]:
    sessions, readers = [], []
    for n, mine in enumerate(antennas):
        field = {a if mux else 0: [f"E00401500000{n:02X}{a:02X}"] for a in mine}
        readers.append(FeigReader(field))
        options = FeigOptions(antennas=mine, multiplexer=mux, min_sweep_ms=0)
        sessions.append(FeigSession(DeviceId(f"reader-{n}"), options))
    places = [(s.device, a) for s in sessions for a in s.options.antennas]
    pairs = [(p, q) for p in places for q in places if p[0] != q[0] and abs(p[1] - q[1]) <= 1]
    turns = Turns(TimePlan([s.member_in(shared=True) for s in sessions], pairs))
    for session in sessions:
        session.share(turns)
    return Bench(*zip(sessions, readers, strict=True)), turns, readers


def on(reader: FeigReader, *, mux: bool) -> list[int]:
    return [c for c in reader.channels.values() if c] if mux else [0] if reader.rf else []


@pytest.mark.parametrize("mux", [True, False])
def test_neighbours_of_two_readers_are_never_energised_together(mux: bool) -> None:
    antennas = ((1, 2, 3), (2, 3, 4)) if mux else ((1,), (1,))
    bench, turns, readers = shared(*antennas, mux=mux)
    bench.until(DeviceUp, 2)
    seen: dict[tuple[str, int], int] = {}
    for _ in range(1500):
        for found in bench.step():
            if isinstance(found, Present):
                seen[(found.device, found.antenna)] = seen.get((found.device, found.antenna), 0) + 1
                assert uids(found) == [f"E00401500000{int(found.device[-1]):02X}{found.antenna:02X}"]
        if turns.passes:
            one, two = (on(r, mux=mux) for r in readers)
            assert not [1 for a in one for b in two if not mux or abs(a - b) <= 1]
    assert set(seen) == {(f"reader-{n}", a) for n, mine in enumerate(antennas) for a in mine}
    assert max(seen.values()) <= min(seen.values()) + 2, "fair"


def test_a_neighbour_that_dies_in_its_look_holds_the_other_up_for_a_second_at_most() -> None:
    bench, _, readers = shared((1, 2), (2, 3))
    bench.until(Present, 8)
    readers[0].script = lambda c, d, r: b""
    died = bench.now
    lost = bench.until(DeviceLost)[0]
    assert lost.span.latest_ns - died <= 1000 * MS
    seen = [p for p in bench.until(Present, 4) if p.device == "reader-1"]
    assert len(seen) == 4


def test_a_reader_that_will_not_go_dark_is_not_used() -> None:
    bench, _, readers = shared((1,), (2,), mux=False)
    readers[0].script = lambda c, d, r: feig_reply(0x6A, 0x11) if c == 0x6A and d == b"\x00" else r
    lost = bench.until(DeviceLost)[0]
    assert lost.reason.startswith("will not switch its field off: status 0x11")


def test_modes_that_cannot_be() -> None:
    for options, complaint in (
        ({"antennas": (1, 2), "lanes": "ont"}, "stays energised"),
        ({"antennas": (1,), "mode": "buffered", "lanes": "ont"}, "mode"),
        ({"antennas": (1,), "notify_ms": 150}, "multiple of 100"),
        ({"antennas": (1,), "presence_ms": -1}, "presence_ms"),
    ):
        with pytest.raises(ValueError, match=complaint):
            FeigSession(DeviceId("a"), FeigOptions(**options))  # type: ignore[arg-type]  # deliberately wrong
    with pytest.raises(ValueError, match="neighbours need mode"):
        FeigBufferSession(DeviceId("a"), FeigOptions(antennas=(1,), mode="buffered")).member_in(shared=True)


def test_inventory_of_records_stays_as_it_was() -> None:
    assert records(A)[:3] == b"\x01\x03\x00"
