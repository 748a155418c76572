"""The FEIG session against a scripted reader, without I/O: what each reply becomes, and what silence does."""

from __future__ import annotations

import random
from typing import Any

import pytest

from firmware_bridge.session.feig import FeigSession
from firmware_bridge.session.inventory import inventory_ns, read_batch
from firmware_bridge.session.plan import FeigOptions, channel_of
from firmware_bridge.session.settle import HELD, PASS
from firmware_bridge.wire import CleanEmpty, Corrupt, DeviceId, DeviceLost, DeviceUp, Present, TimeSpan
from tests.bridge.peers import FeigReader, feig_reply, records
from tests.bridge.virtual import MS, Bench

READER = DeviceId("reader-a")
A, B, C = "E004015000000001", "E004015000000002", "E004015000000003"


class Table(Bench):
    """One session and its reader, three antennas unless told otherwise."""

    def __init__(self, reader: FeigReader, *, delay_ns: int = MS, **options: Any) -> None:
        options.setdefault("antennas", (1, 2, 3))
        options.setdefault("min_sweep_ms", 0)
        super().__init__((FeigSession(READER, FeigOptions(**options)), reader), took_ns=delay_ns)


def test_hello_reset_then_every_antenna_in_turn() -> None:
    table = Table(FeigReader({1: [B, A], 3: [C]}))
    up = table.until(DeviceUp)[0]
    assert (up.model, up.firmware, up.boot) == ("FEIG ID CPR40", "3.3.0", 0)
    results = table.until((Present, CleanEmpty), 3)
    assert [type(r).__name__ for r in results] == ["Present", "CleanEmpty", "Present"]
    assert [r.antenna for r in results] == [1, 2, 3]
    assert [t.uid for t in results[0].tags] == [A, B]
    assert results[0].complete
    assert [c for c, _ in table.reader.log[:5]] == [0x65, 0x69, 0x80, 0xDD, 0xB0]
    assert table.reader.log[3][1] == b"\x00\x01\x00"


def test_the_span_is_from_question_to_answer() -> None:
    table = Table(FeigReader({1: [A]}), delay_ns=7 * MS)
    present = table.until(Present)[0]
    # hello, reset, configuration, select, inventory: five exchanges
    assert present.span == TimeSpan(1000 * MS + 4 * 7 * MS, 1000 * MS + 5 * 7 * MS)


def test_two_multiplexers_are_never_on_together() -> None:
    reader = FeigReader({8: [A], 9: [B]})
    reader.channels = {0: 4, 1: 7}  # as a crashed program left them
    table = Table(reader, antennas=tuple(range(1, 10)))
    found = table.until(Present, 6)
    assert {(p.antenna, p.tags[0].uid) for p in found} == {(8, A), (9, B)}
    assert reader.both_on == 0
    assert (0xDD, b"\x00\x00\x00") in reader.log
    assert (0xDD, b"\x01\x00\x00") in reader.log


def test_a_multiplexer_that_will_not_switch_off_spoils_only_the_others_antennas() -> None:
    reader = FeigReader({1: [A], 9: [B]})
    reader.script = lambda c, d, reply: feig_reply(0xDD, 0x11) if c == 0xDD and d == b"\x00\x00\x00" else reply
    table = Table(reader, antennas=(1, 9))
    corrupt = table.until(Corrupt, 2)
    assert {c.antenna for c in corrupt} == {9}
    assert "multiplexer 0 would not switch off: status 0x11" in corrupt[0].reason
    assert reader.both_on == 0


def test_more_chain_is_followed_to_its_end() -> None:
    uids = [f"E0040150000001{n:02X}" for n in range(47)]
    table = Table(FeigReader({1: uids}, per_reply=20), antennas=(1,))
    present = table.until(Present)[0]
    assert [t.uid for t in present.tags] == uids
    assert present.complete
    assert [d for c, d in table.reader.log if c == 0xB0][:3] == [b"\x01\x00", b"\x01\x80", b"\x01\x80"]


def test_a_chain_that_breaks_off_proves_no_absence() -> None:
    reader = FeigReader({1: [A, B, C]}, per_reply=2)
    reader.script = lambda c, d, reply: b"" if d == b"\x01\x80" else reply
    table = Table(reader, antennas=(1,))
    present = table.until(Present)[0]
    assert [t.uid for t in present.tags] == [A, B]
    assert not present.complete
    assert [d for c, d in reader.log if c == 0xB0].count(b"\x01\x80") == 1  # asking twice could skip a batch


def test_an_endless_chain_is_cut() -> None:
    reader = FeigReader({1: [A]})
    reader.script = lambda c, d, reply: feig_reply(0xB0, 0x94, records(A)) if c == 0xB0 else reply
    table = Table(reader, antennas=(1,))
    assert "33 replies of one inventory" in table.until(Corrupt)[0].reason


@pytest.mark.parametrize(
    ("status", "data", "expected"),
    [
        (0x00, records(A), ("present", True)),
        (0x01, b"", ("empty", None)),
        (0x83, records(A), ("present", False)),
        (0x84, records(A), ("present", False)),
        (0x93, records(A), ("present", False)),
        (0xF1, records(A), ("present", False)),
        (0x83, b"", ("corrupt", "status 0x83")),
        (0x84, b"", ("corrupt", "status 0x84")),
        (0x93, b"", ("corrupt", "status 0x93")),
        (0xF1, b"\x00", ("corrupt", "status 0xF1")),
        (0x02, b"", ("corrupt", "status 0x02")),
        (0x95, b"\x0f", ("corrupt", "status 0x95")),
        (0x42, b"", ("corrupt", "status 0x42")),
        (0x00, b"", ("corrupt", "without a count")),
        (0x00, b"\x00", ("corrupt", "no data set")),
        (0x01, b"\x01", ("corrupt", "'no transponder' with")),
        (0x00, records(A) + b"\x00", ("corrupt", "after the last")),
        (0x00, records(A)[:-1], ("corrupt", "cut short")),
        (0x00, b"\x02" + records(A)[1:], ("corrupt", "2 data sets announced, 1 came")),
        (0x00, b"\x01\x84" + bytes(20), ("corrupt", "unknown transponder type 0x84")),
    ],
)
def test_what_each_status_becomes(status: int, data: bytes, expected: tuple[str, Any]) -> None:
    reader = FeigReader()
    reader.script = lambda c, d, reply: feig_reply(0xB0, status, data) if c == 0xB0 else reply
    result = Table(reader, antennas=(1,)).until((Present, CleanEmpty, Corrupt))[0]
    kind, detail = expected
    if kind == "present":
        assert isinstance(result, Present)
        assert result.complete is detail
    elif kind == "empty":
        assert isinstance(result, CleanEmpty)
    else:
        assert isinstance(result, Corrupt)
        assert detail in result.reason


def test_other_record_types_have_their_own_length() -> None:
    assert read_batch(0, bytes.fromhex("0105710000000053511071")).uids == ("0000000053511071",)
    assert read_batch(0, bytes.fromhex("02057100000000535110710300") + bytes.fromhex(A)).uids == ("0000000053511071", A)


def test_select_refused_is_corrupt_with_the_channel() -> None:
    reader = FeigReader({1: [A]})
    reader.script = lambda c, d, reply: feig_reply(0xDD, 0x11) if c == 0xDD else reply
    corrupt = Table(reader, antennas=(3,)).until(Corrupt)[0]
    assert corrupt.reason == "multiplexer 0 refused channel 3: status 0x11 (parameter out of range)"


def test_one_lost_reply_is_told_and_the_look_begun_anew() -> None:
    reader = FeigReader({2: [A]})
    lost = [True]

    def script(command: int, data: bytes, reply: bytes) -> bytes:
        return b"" if command == 0xB0 and lost and lost.pop() else reply

    reader.script = script
    table = Table(reader)
    results = table.until((Present, CleanEmpty, Corrupt), 4)
    assert [(type(r).__name__, r.antenna) for r in results] == [
        *(("Corrupt", 1), ("CleanEmpty", 1), ("Present", 2), ("CleanEmpty", 3))
    ]
    assert table.session.counters().timeouts == 1
    # the second look began behind a barrier, with its selection: no answer to the first question can stand for it
    asked = [(c, d) for c, d in reader.log if c in (0x65, 0xDD, 0xB0)]
    assert asked[1:6] == [
        *((0xDD, b"\x00\x01\x00"), (0xB0, b"\x01\x00"), (0x65, b"")),
        *((0xDD, b"\x00\x01\x00"), (0xB0, b"\x01\x00")),
    ]
    assert results[1].span.latest_ns - results[1].span.earliest_ns == MS


def test_two_lost_replies_are_corrupt_for_that_antenna_only() -> None:
    reader = FeigReader({1: [A], 2: [B], 3: [C]})
    reader.script = lambda c, d, reply: b"" if c == 0xDD and d[1] == 2 else reply
    table = Table(reader)
    results = table.until((Present, Corrupt), 4)
    kinds = [(type(r).__name__, r.antenna) for r in results]
    assert kinds == [("Present", 1), ("Corrupt", 2), ("Corrupt", 2), ("Present", 3)]
    assert results[1].reason == results[2].reason == "no reply"


def test_a_late_reply_is_never_booked_to_another_antenna() -> None:
    """The reader answers antenna 1's inventory only after the session has given it up."""
    reader = FeigReader({1: [A], 2: [B]})
    held: list[bytes] = []

    def script(command: int, data: bytes, reply: bytes) -> bytes:
        if command == 0xB0 and len(held) < 2:
            held.append(reply)
            return b""
        if command == 0x65 and len(held) == 2 and held[0]:
            late, held[:] = b"".join(held), [b"", b""]
            return late + reply
        return reply

    reader.script = script
    table = Table(reader, antennas=(1, 2))
    results = table.until((Present, Corrupt), 4)
    assert [type(r).__name__ for r in results] == ["Corrupt", "Corrupt", "Present", "Present"]
    assert [(r.antenna, r.tags[0].uid) for r in results[2:]] == [(2, B), (1, A)]
    assert table.session.counters().foreign == 2


def test_no_fault_of_line_or_reader_books_a_tag_to_a_wrong_antenna() -> None:
    """A reader that answers in order but loses, is lost to, and dawdles; every antenna holds its own tag.

    The reader drops requests while it is 1.2 s behind: its answers are at most `LATEST_ANSWER_NS` late.
    """
    presents = restarts = 0
    for seed in range(40):
        chance = random.Random(seed)
        field = {a: [f"E00401500000{a:04X}"] for a in (1, 2, 3, 9)}
        reader = FeigReader(field)
        session = FeigSession(READER, FeigOptions(antennas=tuple(field), min_sweep_ms=0))
        now = busy_until = 0
        answers: list[tuple[int, bytes]] = []
        session.start(now)
        while now < 30_000 * MS:
            asked = session.outgoing()
            if asked and chance.random() >= 0.05 and busy_until - now < 1200 * MS:
                slow = chance.randrange(50, 700) if chance.random() < 0.1 else 3
                busy_until = max(now, busy_until) + slow * MS
                answer = reader.feed(asked)
                if chance.random() >= 0.05:
                    answers.append((busy_until, answer))
            wake = session.next_wake_ns
            if wake is None:
                restarts += 1
                now += 200 * MS
                session.start(now)
                continue
            if answers and answers[0][0] <= wake:
                at, data = answers.pop(0)
                now = max(now, at)
                found = session.receive(data, now)
            else:
                now = max(now, wake)
                found = session.wake(now)
            for observation in found:
                if isinstance(observation, Present):
                    presents += 1
                    assert [t.uid for t in observation.tags] == field[observation.antenna], f"seed {seed}"
    assert presents > 2500
    assert restarts > 50


def test_wrong_echoed_command_and_address_are_not_our_reply() -> None:
    reader = FeigReader({1: [A]})
    reader.script = lambda c, d, reply: feig_reply(0x80, 0) + feig_reply(0xB0, 1, address=7) + reply
    table = Table(reader, antennas=(1,), address=0)
    assert table.until(Present)[0].tags[0].uid == A
    assert table.session.counters().foreign >= 6


def test_garbage_around_replies_costs_nothing_but_time() -> None:
    reader = FeigReader({1: [A], 3: [B]})
    reader.script = lambda c, d, reply: b"\xfe\x31\x02" + reply
    table = Table(reader)
    table.until((Present, CleanEmpty), 6)
    assert not [o for o in table.seen if isinstance(o, Corrupt)]
    assert table.session.counters().garbage > 10


@pytest.mark.parametrize("dies_at", [0x65, 0xDD, 0xB0])
def test_a_dead_reader_is_lost_within_a_second(dies_at: int) -> None:
    reader = FeigReader({1: [A]})
    dead: list[int] = []

    def script(command: int, data: bytes, reply: bytes) -> bytes:
        if command == dies_at and len(reader.log) > 8:
            dead.append(1)
        return b"" if dead else reply

    reader.script = script
    table = Table(reader, delay_ns=MS)
    if dies_at == 0x65:
        reader.script = lambda c, d, reply: b"" if c == dies_at else reply
    lost = table.until(DeviceLost)[0]
    assert lost.span.latest_ns - lost.span.earliest_ns <= 1000 * MS
    assert "Reader 'reader-a'" in lost.advice
    assert "Check" in lost.advice
    assert table.session.next_wake_ns is None
    assert table.session.outgoing() == b""
    table.session.start(table.now)
    reader.script = lambda c, d, reply: reply
    assert table.until(DeviceUp)
    assert table.until(Present)


def test_a_talker_that_is_no_reader_gets_other_advice() -> None:
    reader = FeigReader()
    reader.script = lambda c, d, reply: b"Welcome to BusyBox\r\n"
    lost = Table(reader).until(DeviceLost)[0]
    assert "none of them an answer" in lost.reason
    assert "baud rate and parity" in lost.advice


def test_a_strange_hello_is_refused_by_name() -> None:
    reader = FeigReader()
    reader.script = lambda c, d, reply: feig_reply(0x65, 0, b"\x03") if c == 0x65 else reply
    lost = Table(reader).until(DeviceLost)[0]
    assert lost.reason == "hello answered with status 0x00 and 1 bytes"


def test_settled_results_are_withheld_and_changes_pass_at_once() -> None:
    reader = FeigReader({1: [A]})
    table = Table(reader, antennas=(1,), delay_ns=10 * MS)
    first = table.until(Present, PASS)
    assert first[-1].span.latest_ns - first[0].span.latest_ns == (PASS - 1) * 20 * MS
    next_one = table.until(Present)[0]
    late = 20 * (HELD - 1)  # once a second the oldest of those kept back, so that the newest stay for the change
    assert (1000 - late) * MS <= next_one.span.latest_ns - first[-1].span.latest_ns < (1040 - late) * MS
    for _ in range(8):
        assert table.step() == []
    reader.field[1] = [A, B]
    began = table.now
    seen = table.until(Present, 2)
    while len(seen[-1].tags) < 2:
        seen += table.until(Present)
    *held, changed = seen
    assert {len(h.tags) for h in held} == {1}
    assert changed.span.earliest_ns - held[-1].span.latest_ns <= 20 * MS  # the very last look before the change
    assert changed.span.latest_ns - began <= 40 * MS
    table.until(Present, PASS - 1)
    began = table.now
    table.session.refresh()
    assert table.until(Present)[0].span.latest_ns - began <= 40 * MS


def test_rest_keeps_the_least_period() -> None:
    table = Table(FeigReader({1: [A]}), antennas=(1,), delay_ns=MS, min_sweep_ms=50)
    first, second = table.until(Present, 2)
    assert second.span.earliest_ns - first.span.earliest_ns == 50 * MS
    assert table.session.figures().sweep_ns == 2 * MS


def test_the_physics_table() -> None:
    assert [inventory_ns(n) // 100_000 for n in (0, 1, 5, 10, 20)] == [98, 140, 380, 820, 1840]
    assert inventory_ns(3) == 26 * MS
    assert inventory_ns(21) == 196 * MS


def test_the_stated_sweep_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("firmware_bridge.session.plan.EXCHANGE_NS", 0)

    def worst(byte_ns: int = 0, **options: Any) -> int:
        return FeigSession(READER, FeigOptions(min_sweep_ms=20, **options), byte_ns=byte_ns).worst_sweep_ns()

    eight = tuple(range(1, 9))
    # the physics alone: switching 5 ms, empty inventory 9.8 ms
    assert worst(antennas=eight, chips_per_antenna=0) == 8 * 14_800_000
    # with two multiplexers any look may have to switch the other off first
    assert worst(antennas=tuple(range(1, 11)), chips_per_antenna=0) == 10 * 19_800_000
    assert worst(antennas=eight, chips_per_antenna=20) == 8 * 189 * MS
    # 8 selects of 8 + 6 bytes and 8 inventories of 7 + 207 bytes at 38400 baud, 11 bits each
    byte = 11_000_000_000 // 38400
    extra = worst(byte, antennas=eight, chips_per_antenna=20) - worst(antennas=eight, chips_per_antenna=20)
    assert extra == 8 * (17 + 217) * byte


def test_a_slow_reader_is_counted_against_the_stated_bound() -> None:
    table = Table(FeigReader({1: [A]}), antennas=(1,), delay_ns=90 * MS, chips_per_antenna=1)
    table.until(Present, 3)
    assert table.session.counters().over_bound >= 2
    figures = table.session.figures()
    assert figures.worst_sweep_ns is not None
    assert (figures.sweep_ns or 0) > figures.worst_sweep_ns


def test_antennas_and_channels() -> None:
    assert [channel_of(a) for a in (1, 8, 9, 16, 17)] == [(0, 1), (0, 8), (1, 1), (1, 8), (2, 1)]


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"antennas": ()}, "at least one"),
        ({"antennas": (1, 1)}, "none twice"),
        ({"antennas": (0,)}, "between 1 and 64"),
        ({"antennas": (1, 2), "multiplexer": False}, "exactly one antenna"),
        ({"antennas": (1,), "address": 256}, "'address'"),
        ({"antennas": (1,), "gap_ms": 0}, "times"),
        ({"antennas": (1,), "chips_per_antenna": 60}, "longer than 'inventory_timeout_ms'"),
    ],
)
def test_options_that_cannot_be(options: dict[str, Any], complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        FeigSession(READER, FeigOptions(**options))


def test_without_a_multiplexer_nothing_is_selected() -> None:
    reader = FeigReader()
    reader.script = lambda c, d, reply: feig_reply(0xB0, 0, records(A)) if c == 0xB0 else reply
    table = Table(reader, antennas=(1,), multiplexer=False)
    assert table.until(Present)
    assert 0xDD not in {c for c, _ in reader.log}
