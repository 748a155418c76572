"""A FEIG reader's own table: told once, cleared only when the sink has committed it, told again after a crash."""

from __future__ import annotations

from typing import Any

import pytest

from firmware_bridge.framing import feig
from firmware_bridge.session.feig_buffer import FeigBufferSession
from firmware_bridge.session.inventory import read_records
from firmware_bridge.session.plan import FeigOptions
from firmware_bridge.wire import AnyObservation, CleanEmpty, Corrupt, DeviceId, DeviceLost, DeviceUp, Present
from tests.bridge.peers import feig_reply
from tests.bridge.virtual import MS, Bench

A, B, C = "E004015000000001", "E004015000000002", "E004015000000003"
RESULT = (Present, CleanEmpty, Corrupt)


def uids(present: Present) -> list[str]:
    return [t.uid for t in present.tags]


class BufferReader:
    """A reader that goes round by itself, from the manuals: its table, 22, 31, 32, and notifications."""

    def __init__(self, *, notify: bool = False) -> None:
        self.notify = notify
        self.table: list[bytes] = []
        self.read = 0
        self.asked = 255
        self.log: list[int] = []
        self.status = 0
        self.script: Any = lambda command, reply: reply

    def saw(self, uid: str, antenna: int, ms: int) -> None:
        body = b"\x03\x00\x08" + bytes.fromhex(uid) + ms.to_bytes(4, "big") + bytes((antenna,))
        self.table.append((len(body) + 2).to_bytes(2, "big") + body)

    def answer(self) -> bytes:
        self.read = min(len(self.table), self.asked)
        data = b"\x31" + self.read.to_bytes(2, "big") + b"".join(self.table[: self.read])
        return feig_reply(0x22, self.status, data, advanced=True)

    def feed(self, asked: bytes) -> bytes:
        out = b""
        for frame in feig.FeigDecoder(replies=False).feed(asked):
            self.log.append(frame.command)
            if frame.command == 0x65:
                reply = feig_reply(0x65, 0, bytes.fromhex("03030044530d30"))
            elif frame.command == 0x22:
                self.asked = int.from_bytes(frame.payload, "big")
                reply = self.answer() if self.table else feig_reply(0x22, 0x92)
            elif frame.command == 0x31:
                sizes = (255, 0, len(self.table))
                reply = feig_reply(0x31, 0, b"".join(n.to_bytes(2, "big") for n in sizes))
            elif frame.command == 0x32:
                if self.script(frame.command, b"?") != b"not heard":
                    self.table = self.table[self.read :]
                reply = feig_reply(frame.command, 0)
            else:
                reply = feig_reply(frame.command, 0, bytes(7))
            out += self.script(frame.command, reply) if self.script(frame.command, reply) != b"not heard" else b""
        return out


def buffered(reader: BufferReader, *, commits: bool = True, **options: Any) -> Bench:
    options = {"antennas": (1, 2), "mode": "notify" if reader.notify else "buffered"} | options
    session = FeigBufferSession(DeviceId("reader-a"), FeigOptions(**options))
    return Bench((session, reader), commits=commits)


def sightings(bench: Bench) -> list[tuple[int, list[str]]]:
    return [(p.antenna, uids(p)) for p in bench.seen if isinstance(p, Present)]


def steps(bench: Bench, count: int = 12) -> list[AnyObservation]:
    return [o for _ in range(count) for o in bench.step()]


@pytest.mark.parametrize("byte_ns", [0, 286_458])
def test_a_full_table_arrives_in_answers_that_fit(byte_ns: int) -> None:
    """255 data sets with their times are longer than any frame, and 65 take longer than their answer may."""
    reader = BufferReader()
    longest = min(4096, 390 * MS // byte_ns) if byte_ns else 4096
    reader.script = lambda c, reply: reply if len(reply) <= longest else b""
    session = FeigBufferSession(DeviceId("r"), FeigOptions(antennas=(1,), mode="buffered"), byte_ns=byte_ns)
    bench = Bench((session, reader))
    bench.until(DeviceUp)
    for n in range(255):
        reader.saw(f"E0040150{n:08X}", 1, n)
    steps(bench, 120)
    assert reader.table == []
    assert sorted(t.uid for p in bench.seen if isinstance(p, Present) for t in p.tags) == [
        f"E0040150{n:08X}" for n in range(255)
    ]
    assert session.counters().timeouts == 0


def test_data_sets_longer_than_reckoned_with_are_asked_for_by_fewer() -> None:
    reader = BufferReader()
    reader.script = lambda c, reply: reply if len(reply) <= 400 else b""  # the rest of it never comes
    bench = buffered(reader, antennas=(1,))
    bench.until(DeviceUp)
    for n in range(60):
        reader.saw(f"E0040150{n:08X}", 1, n)
    steps(bench, 300)
    assert reader.table == []
    assert sum(len(p.tags) for p in bench.seen if isinstance(p, Present)) == 60
    assert not [o for o in bench.seen if isinstance(o, DeviceLost)]


def test_a_barrier_is_none_of_which_a_doubled_answer_may_come() -> None:
    """Between two reads the version is asked for; its answer may come twice, the second time after a silence."""
    reader = BufferReader()
    bench = buffered(reader)
    bench.until(DeviceUp)
    steps(bench, 12)
    reader.script = lambda c, reply: b"" if c == 0x22 else reply
    before = len(reader.log)
    steps(bench, 12)
    log = reader.log[before:]
    read = log.index(0x22)
    assert log[read - 1] == 0x65, "between two reads"
    assert log[read + 1] not in (0x65, 0x22), "the barrier"


def test_what_is_told_again_after_a_lost_line_keeps_an_honest_span() -> None:
    """Without times of the reader nothing tells whether its data sets are those that were told before."""
    reader = BufferReader()
    reader.answer = lambda: untimed(reader)  # type: ignore[method-assign]  # the same without times
    bench = buffered(reader, commits=False)
    bench.until(DeviceUp)
    steps(bench, 20)
    reader.saw(A, 1, 5)
    made = bench.now
    (first,) = bench.until(Present)
    steps(bench, 40)
    bench.session.start(bench.now)
    (again,) = bench.until(Present)
    for told in (first, again):
        assert told.span.earliest_ns <= made <= told.span.latest_ns


def untimed(reader: BufferReader) -> bytes:
    reader.read = min(len(reader.table), reader.asked)
    sets = [b"\x00\x0e" + one[2:13] + one[-1:] for one in reader.table[: reader.read]]
    return feig_reply(0x22, 0, b"\x11" + reader.read.to_bytes(2, "big") + b"".join(sets), advanced=True)


def test_a_table_of_which_nothing_can_arrive_in_time_is_refused() -> None:
    options = FeigOptions(antennas=(1,), mode="buffered", inventory_timeout_ms=15, chips_per_antenna=0)
    with pytest.raises(ValueError, match="too short for one data set"):
        FeigBufferSession(DeviceId("r"), options, byte_ns=286_458)


def test_buffered_sightings_are_told_once_and_cleared() -> None:
    reader = BufferReader()
    bench = buffered(reader)
    bench.until(DeviceUp)
    for _ in range(12):
        bench.step()
    before = bench.now
    reader.saw(A, 1, 5)
    reader.saw(B, 2, 6)
    reader.saw(C, 2, 7)
    one, two = bench.until(Present, 2)
    assert [(p.antenna, uids(p), p.complete) for p in (one, two)] == [(1, [A], False), (2, [B, C], False)]
    assert one.span.earliest_ns <= before <= one.span.latest_ns
    assert one.span.latest_ns - one.span.earliest_ns <= 60 * MS
    steps(bench, 4)
    assert reader.table == []
    for _ in range(30):
        assert bench.step() == [], "nothing is told of an empty table, least of all an empty field"


@pytest.mark.parametrize("fate", ["not heard", "answer lost"])
def test_data_sets_whose_clearing_is_unsure_are_told_once(fate: str) -> None:
    reader = BufferReader()
    bench = buffered(reader)
    bench.until(DeviceUp)
    trouble = [True]

    def script(command: int, reply: bytes) -> bytes:
        if command == 0x32 and trouble:
            if reply != b"?":
                trouble.clear()
            return b"not heard" if fate == "not heard" else b"" if reply != b"?" else b"?"
        return reply

    for _ in range(6):
        bench.step()
    reader.script = script
    reader.saw(A, 1, 5)
    bench.until(Present)
    reader.saw(B, 1, 9)  # meanwhile
    assert [uids(p) for p in bench.until(Present)] == [[B]]
    steps(bench, 4)
    assert reader.table == []
    assert [uids(p) for p in bench.seen if isinstance(p, Present)] == [[A], [B]]


def test_an_overflow_is_told_for_every_antenna() -> None:
    reader = BufferReader()
    bench = buffered(reader)
    for _ in range(8):
        bench.step()
    reader.saw(A, 1, 5)
    reader.status = 0x93
    found = bench.until(RESULT, 3)
    assert [type(o).__name__ for o in found] == ["Present", "Corrupt", "Corrupt"]
    assert "overflowed" in found[1].reason


def test_notifications_are_acknowledged_and_repeated_ones_told_once() -> None:
    reader = BufferReader(notify=True)
    bench = buffered(reader)
    bench.until(DeviceUp)
    session = bench.pairs[0][0]
    for _ in range(10):
        bench.step()
    reader.saw(A, 2, 5)
    told = reader.answer()
    found = session.receive(told, bench.now)
    assert [(p.antenna, uids(p)) for p in found if isinstance(p, Present)] == [(2, [A])]
    assert session.receive(told, bench.now) == [], "the same again: the sink has not committed it yet"
    steps(bench)
    assert 0x32 not in reader.log, "nothing is acknowledged before the sink's word"
    reader.script = lambda c, reply: b"not heard" if c == 0x32 else reply
    session.acknowledge(found[0])
    steps(bench, 6)
    assert reader.log.count(0x32) == 1
    reader.script = lambda c, reply: reply
    assert session.receive(told, bench.now) == [], "the same again: its acknowledgement was lost"
    steps(bench, 5)
    assert reader.log.count(0x32) == 2
    assert 0x31 in reader.log, "a sign of life is asked for"
    reader.table.clear()
    reader.saw(A, 2, 2000)
    assert [uids(p) for p in session.receive(reader.answer(), bench.now) if isinstance(p, Present)] == [[A]]


def test_a_reader_in_host_mode_is_refused_by_name() -> None:
    reader = BufferReader()
    reader.script = lambda command, reply: feig_reply(0x31, 0x82) if command == 0x31 else reply
    lost = buffered(reader).until(DeviceLost)[0]
    assert "it has no buffer" in lost.reason
    assert "FEIG's tool" in lost.reason


def test_an_antenna_that_is_not_configured_is_noted() -> None:
    reader = BufferReader()
    bench = buffered(reader)
    for _ in range(8):
        bench.step()
    reader.saw(A, 7, 5)
    steps(bench, 20)
    assert sightings(bench) == []
    assert "names antenna 7" in bench.session.figures().notes[0]
    assert reader.table == [], "of no use to anyone, so it does not fill the table"


# -- the sink's word -----------------------------------------------------------------------------


@pytest.mark.parametrize("notify", [False, True])
def test_a_host_that_dies_before_the_commit_hears_it_all_again(notify: bool) -> None:
    reader = BufferReader(notify=notify)
    dead = buffered(reader, commits=False)
    dead.until(DeviceUp)
    steps(dead)
    reader.saw(A, 1, 5)
    reader.saw(B, 2, 6)
    if notify:
        dead.told(dead.session, dead.session.receive(reader.answer(), dead.now))
    steps(dead, 20)
    assert sightings(dead) == [(1, [A]), (2, [B])]
    assert 0x32 not in reader.log
    assert len(reader.table) == 2, "the reader still has what no journal has"

    heir = buffered(reader)
    heir.until(DeviceUp)
    steps(heir)
    if notify:
        heir.told(heir.session, heir.session.receive(reader.answer(), heir.now))
    steps(heir, 20)
    assert sightings(heir) == [(1, [A]), (2, [B])]
    assert reader.table == []
    first = next(o for o in heir.seen if isinstance(o, Present))
    assert first.span.earliest_ns == 0, "it may be as old as the reader's start"


def test_a_crash_between_commit_and_clearing_is_told_again_and_a_lost_line_is_not() -> None:
    reader = BufferReader()
    bench = buffered(reader, commits=False)
    bench.until(DeviceUp)
    steps(bench)
    reader.saw(A, 1, 5)
    (told,) = bench.until(Present)
    bench.session.start(bench.now)  # the cable was out; the sink has it in hand
    steps(bench, 20)
    assert sightings(bench) == [(1, [A])], "its name is known"
    assert reader.table
    bench.session.acknowledge(told)
    bench.session.start(bench.now)  # out again, between commit and clearing
    steps(bench, 20)
    assert sightings(bench) == [(1, [A])]
    assert reader.table == []


def test_what_the_sink_gave_back_is_told_again() -> None:
    reader = BufferReader()
    bench = buffered(reader, commits=False)
    bench.until(DeviceUp)
    steps(bench)
    reader.saw(A, 1, 5)
    reader.saw(B, 2, 6)
    one, two = bench.until(Present, 2)
    bench.session.acknowledge(one)
    bench.session.withdraw(two)
    (again,) = bench.until(Present)
    assert (again.antenna, uids(again)) == (2, [B])
    assert 0x32 not in reader.log
    bench.session.acknowledge(again)
    steps(bench, 4)
    assert reader.table == []


def test_what_comes_while_the_sink_is_slow_is_read_after_the_clearing() -> None:
    reader = BufferReader()
    bench = buffered(reader, commits=False)
    bench.until(DeviceUp)
    steps(bench)
    reader.saw(A, 1, 5)
    (told,) = bench.until(Present)
    reader.saw(B, 2, 6)
    for _ in range(40):
        assert bench.step() == []
    assert "wait for the journal since" in bench.session.figures().notes[0]
    bench.session.acknowledge(told)
    (late,) = bench.until(Present)
    assert (late.antenna, uids(late)) == (2, [B])
    assert told.span.latest_ns < late.span.latest_ns
    assert bench.session.figures().notes == ()
    bench.session.acknowledge(late)
    steps(bench, 4)
    assert reader.table == []


def test_an_answer_that_is_not_understood_is_cleared_when_the_journal_says_so() -> None:
    reader = BufferReader()
    bench = buffered(reader, commits=False)
    bench.until(DeviceUp)
    steps(bench)
    reader.table.append(b"\x00\x05\x09\x09\x09")
    spoilt = bench.until(Corrupt, 2)
    assert "another form" in spoilt[0].reason
    steps(bench, 20)
    assert reader.table, "nobody has said that it may go"
    for observation in spoilt:
        bench.session.acknowledge(observation)
    steps(bench, 4)
    assert reader.table == []


def test_a_long_notification_moves_no_time_that_is_not_known() -> None:
    """The table holds more than one notification names: what comes next may be older than this one."""
    reader = BufferReader(notify=True)
    bench = buffered(reader)
    bench.until(DeviceUp)
    steps(bench)
    before = bench.now
    reader.saw(A, 1, 5)
    reader.saw(B, 1, 6)
    second = reader.table.pop()
    first = reader.answer()
    reader.table.append(second)  # not in the first notification
    bench.told(bench.session, bench.session.receive(first, bench.now))
    for _ in range(3):
        bench.now += 500 * MS
        bench.told(bench.session, bench.session.wake(bench.now))
        reader.read = 0
        bench.told(bench.session, bench.session.receive(reader.feed(bench.session.outgoing()), bench.now))
    reader.table = [second]
    (late,) = bench.told(bench.session, bench.session.receive(reader.answer(), bench.now))
    assert isinstance(late, Present)
    assert late.span.earliest_ns <= before


@pytest.mark.parametrize(
    ("data", "fault"),
    [
        ("31", "buffer of 1 bytes"),
        ("310001", "cut short"),
        ("3100010012030008" + A + "00000005", "cut short"),
        ("310001000c0300" + "08" + A[:12], "cut short"),
        ("310001" + "0012" + "040008" + A + "0000000501", "another form"),
        ("b10001", "form 0xB1"),
        ("300001", "form 0x30"),
        ("310000ff", "1 bytes after"),
    ],
)
def test_records_that_are_not_understood_make_no_guess(data: str, fault: str) -> None:
    assert fault in read_records(bytes.fromhex(data)).fault


def test_record_forms() -> None:
    body = b"\x03\x00\x08" + bytes.fromhex(A)
    for flags, more in (
        (0x01, b""),
        (0x11, b"\x05"),
        (0x21, bytes(4)),
        (0x61, bytes(9)),
        (0x03, b"\x00\x02\x04" + bytes(8)),
    ):
        raw = (len(body) + len(more) + 2).to_bytes(2, "big") + body + more
        read = read_records(bytes((flags, 0, 1)) + raw)
        assert (read.fault, [r.uid for r in read.records]) == ("", [A])
        assert read.records[0].antenna == (5 if flags == 0x11 else None)
        assert read.timed == bool(flags & 0x20)
    swapped = b"\x03\x00\x08" + bytes.fromhex(A)[::-1]
    assert read_records(b"\x09\x00\x01\x00\x0d" + swapped).records[0].uid == A
