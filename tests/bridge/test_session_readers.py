"""Pepper and metraTec sessions against scripted readers, without I/O."""

from __future__ import annotations

from typing import Any

import pytest

from firmware_bridge.session.metratec import AnswerDecoder, MetratecOptions, MetratecSession
from firmware_bridge.session.pepper import PepperOptions, PepperSession
from firmware_bridge.wire import (
    CleanEmpty,
    Corrupt,
    DeviceId,
    DeviceLost,
    DeviceUp,
    Present,
    Restarted,
)
from tests.bridge.peers_readers import MetratecReader, PepperReader, pepper_frame
from tests.bridge.virtual import MS, Bench

READER = DeviceId("reader-a")
A, B, C = "E004015000000001", "E004015000000002", "E004015000000003"
RESULT = (Present, CleanEmpty, Corrupt)


def pepper(field: dict[int, list[str]], *antennas: int, **options: Any) -> Bench:
    options = {"min_sweep_ms": 0} | options
    return Bench((PepperSession(READER, PepperOptions(antennas=antennas, **options)), PepperReader(field)))


def metratec(field: dict[int, list[str]], *antennas: int, **options: Any) -> Bench:
    options = {"min_sweep_ms": 0, "first_port": 1} | options
    session = MetratecSession(READER, MetratecOptions(antennas=antennas, **options))
    return Bench((session, MetratecReader(field, ports=8)))


def told(result: Present | CleanEmpty | Corrupt) -> tuple[int, Any]:
    if isinstance(result, Present):
        return result.antenna, [t.uid for t in result.tags]
    return result.antenna, [] if isinstance(result, CleanEmpty) else result.reason


# -- Pepper --------------------------------------------------------------------------------------


def test_pepper_every_antenna_in_turn_and_every_tag() -> None:
    table = pepper({1: [B, A], 3: [C]}, 1, 2, 3)
    up = table.until(DeviceUp)[0]
    assert (up.model, up.firmware) == ("Eccel Pepper C1", "Pepper C1 MUX v2.1")
    assert [told(r) for r in table.until(RESULT, 3)] == [(1, [A, B]), (2, []), (3, [C])]
    log = [(c, d) for c, d in table.reader.log if c in (0x0F, 0x90, 0x91)]
    assert log[:4] == [(0x0F, b"\x01"), (0x90, b"\x00"), (0x91, b"\x00"), (0x0F, b"\x02")]
    assert all(isinstance(o, Present | CleanEmpty | DeviceUp) for o in table.seen)


def test_pepper_an_acknowledgement_must_match_the_question() -> None:
    table = pepper({1: [A]}, 1)
    stray = pepper_frame(b"\x00\x90" + bytes.fromhex(B)[::-1] + b"\x00\x00")
    table.reader.script = lambda c, d, reply: stray + reply if c == 0x0F else reply
    assert [told(r) for r in table.until(RESULT, 4)] == [(1, [A])] * 4
    assert table.session.counters().foreign >= 4


def test_pepper_errors_are_not_empty_and_other_codes_can_be_named() -> None:
    for error, expected in (
        (b"\x00\x01", []),
        (b"\x01\x00", []),
        (b"\x04\x01", "error 0401"),
        (b"\x0a\x00", "error 0A00"),
    ):
        table = pepper({}, 1)
        table.reader.script = lambda c, d, r, e=error: pepper_frame(b"\xff\x90" + e) if c == 0x90 else r
        assert told(table.until(RESULT)[0]) == (1, expected)
    table = pepper({}, 1, empty_codes=(0x0401,))
    table.reader.script = lambda c, d, r: pepper_frame(b"\xff\x90\x04\x01") if c == 0x90 else r
    assert isinstance(table.until(RESULT)[0], CleanEmpty)


def test_pepper_more_announced_and_not_come_proves_no_absence() -> None:
    table = pepper({1: [A, B]}, 1)
    table.reader.script = lambda c, d, r: pepper_frame(b"\xff\x91\x00\x01") if c == 0x91 else r
    (present,) = table.until(Present)
    assert (told(present), present.complete) == ((1, [A]), False)


def test_pepper_unsolicited_frames_change_nothing() -> None:
    table = pepper({1: [A]}, 1)
    event = pepper_frame(b"\xfe\x24\x00" + bytes.fromhex(C)[::-1])
    table.reader.script = lambda c, d, r: event + r + event
    assert [told(r) for r in table.until(RESULT, 3)] == [(1, [A])] * 3


def test_pepper_learns_the_byte_order_of_uids_and_refuses_nonsense() -> None:
    def reversed_uid(command: int, data: bytes, reply: bytes) -> bytes:
        if command != 0x90 or reply[5] != 0:
            return reply
        return pepper_frame(b"\x00\x90" + reply[7:15][::-1] + reply[15:17])

    table = pepper({1: [A]}, 1)
    table.reader.script = reversed_uid
    assert told(table.until(RESULT)[0]) == (1, [A])
    table.reader.script = lambda c, d, r: r  # now the other way round: one of the two was damaged
    assert "begins with E0" in table.until(Corrupt)[0].reason
    table = pepper({1: [A]}, 1)
    table.reader.script = lambda c, d, r: pepper_frame(b"\x00\x90" + b"\x11" * 8 + b"\x00\x00") if c == 0x90 else r
    assert "begins with E0" in table.until(Corrupt)[0].reason


def test_pepper_refused_antenna_and_short_tag_are_corrupt() -> None:
    table = pepper({1: [A]}, 1)
    table.reader.script = lambda c, d, r: pepper_frame(b"\xff\x0f\x21\x00") if c == 0x0F else r
    assert table.until(Corrupt)[0].reason == "antenna 1 refused: error 2100"
    table = pepper({1: [A]}, 1)
    table.reader.script = lambda c, d, r: pepper_frame(b"\x00\x90\xe0") if c == 0x90 else r
    assert table.until(Corrupt)[0].reason.startswith("a tag of 1 bytes")


def test_pepper_quiet_lane_sees_arrivals_cheaply_and_removals_in_full_looks() -> None:
    table = pepper({1: [A, B]}, 1, lanes="quiet", presence_ms=20)
    first = table.until(RESULT)[0]
    assert (told(first), first.complete) == ((1, [A, B]), True)
    asked = len(table.reader.log)
    nothing = table.until(RESULT)[0]
    assert (told(nothing), nothing.complete, nothing.quiet) == ((1, []), False, (A, B))
    assert [c for c, _ in table.reader.log[asked:]] == [0x0F, 0x90]
    table.reader.field[1].append(C)
    arrived = table.until(RESULT)[0]
    assert (told(arrived), arrived.quiet) == ((1, [C]), (A, B))
    table.reader.field[1].remove(A)
    seen = table.until(RESULT, 12)
    full = [p for p in seen if p.complete]
    assert told(full[0]) == (1, [B, C])
    table.reader.field[1].append(A)  # it lost power in a hand, so it answers again
    table.reader.quiet.discard(A)
    assert A in told(table.until(RESULT)[0])[1]


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"antennas": ()}, "at least one"),
        ({"antennas": (9,)}, "between 1 and 8"),
        ({"antennas": (1, 2), "lanes": "quiet"}, "stays energised"),
        ({"antennas": (1,), "gap_ms": 0}, "times"),
        ({"antennas": (1,), "new_chips": 999}, "new_chips"),
        ({"antennas": (1,), "silent_limit": 0}, "silent_limit"),
        ({"antennas": (1,), "empty_codes": (70000,)}, "16-bit"),
    ],
)
def test_pepper_options_that_cannot_be(options: dict[str, Any], complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        PepperSession(READER, PepperOptions(**options))


# -- metraTec ------------------------------------------------------------------------------------


def test_metratec_set_up_and_every_port_in_turn() -> None:
    table = metratec({1: [B, A], 3: [C]}, 1, 2, 3, power_mw=1000)
    up = table.until(DeviceUp)[0]
    assert (up.model, up.firmware) == ("metraTec QUASAR_MX", "03.12")
    assert [told(r) for r in table.until(RESULT, 3)] == [(1, [A, B]), (2, []), (3, [C])]
    assert table.reader.log[:9] == [
        # between two commands that are answered alike, another
        *("BRK", "RFW", "BRK", "MOD 156", "RFW", "SRI SS 100", "RFW", "SET PWR 1000", "RFW")
    ]
    assert table.reader.log[9:13] == ["SAP ARP ON", "RFW", "SAP MAN 1", "INV"]
    assert table.reader.power == 1000


def test_metratec_one_port_needs_no_selection() -> None:
    table = metratec({1: [A]}, 1)
    assert told(table.until(RESULT)[0]) == (1, [A])
    assert not [c for c in table.reader.log if c.startswith("SAP")]


def test_metratec_automatic_ports_are_booked_by_what_they_say() -> None:
    table = metratec({1: [A], 2: [B]}, 1, 2, 3, select="auto")
    assert [told(r) for r in table.until(RESULT, 6)] == [(1, [A]), (2, [B]), (3, [])] * 2
    table.reader.port = 3  # out of step: somebody asked in between
    assert [told(r) for r in table.until(RESULT, 3)] == [(3, []), (1, [A]), (2, [B])]


def test_metratec_ends_a_continuous_run_and_checksums() -> None:
    table = metratec({1: [A]}, 1)
    table.reader.continuous = "CNR INV ONT"
    said = []

    def script(command: str, reply: bytes) -> bytes:
        said.append(command)
        return b"CCE\r" if command == "BRK" and "COF 4F5E" not in said else b"OK!\r" if "COF" in command else reply

    table.reader.script = script
    assert told(table.until(RESULT)[0]) == (1, [A])
    assert said[:4] == ["BRK", "COF 4F5E", "BRK", "RFW"]
    assert table.reader.continuous == ""


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        (f"{A}\rIVF 02", ("present", [A], False)),  # a line was lost
        (f"{A}\r{A}\rIVF 02", ("present", [A], False)),
        (f"{A}\rCER\rIVF 01", ("present", [A], False)),
        ("CER\rIVF 00", ("corrupt", "1 could not be read", None)),
        ("IVF 01", ("corrupt", "1 tags announced", None)),
        ("IVF 00", ("empty", None, None)),
        ("UPA", ("corrupt", "inventory refused: UPA", None)),
        (f"{A}\r{B}\rIVF 02", ("present", [A, B], True)),
    ],
)
def test_metratec_what_an_inventory_proves(said: str, expected: tuple[str, Any, Any]) -> None:
    table = metratec({}, 1)
    table.reader.script = lambda c, reply: said.encode() + b"\r" if c == "INV" else reply
    result = table.until(RESULT)[0]
    kind, detail, complete = expected
    assert type(result).__name__.lower().endswith(kind)
    if isinstance(result, Present):
        assert (told(result)[1], result.complete) == (detail, complete)
    if isinstance(result, Corrupt):
        assert detail in result.reason


def test_metratec_another_port_than_asked_proves_nothing() -> None:
    table = metratec({1: [A], 2: [B]}, 1, 2)
    table.reader.script = lambda c, r: r.replace(b"ARP 01", b"ARP 02") if c == "INV" else r
    results = table.until(RESULT, 2)
    assert told(results[0]) == (1, "port 2 answered, port 1 was asked")
    assert told(results[1]) == (2, [B])
    table.reader.script = lambda c, r: r.replace(b"ARP 01\r", b"") if c == "INV" else r
    assert (1, "an inventory without its antenna port (ARP)") in [told(r) for r in table.until(RESULT, 2)]


def test_metratec_restart_is_told_and_everything_set_up_again() -> None:
    table = metratec({1: [A]}, 1)
    table.until(Present, 2)
    table.seen += table.session.receive(table.reader.restart(), table.now)
    (restarted,) = [o for o in table.seen if isinstance(o, Restarted)]
    assert restarted.boot == 1
    found = table.until((DeviceUp, Present, Corrupt), 2)
    assert [type(o).__name__ for o in found] == ["DeviceUp", "Present"]
    assert table.session.counters().restarts == 1


def test_metratec_lost_registers_are_a_restart_too() -> None:
    table = metratec({1: [A]}, 1)
    table.until(Present, 2)
    table.reader.rf = False  # a brown-out that was not announced
    found = table.until((Corrupt, Restarted, DeviceUp, Present), 4)
    assert [type(o).__name__ for o in found] == ["Corrupt", "Restarted", "DeviceUp", "Present"]


def test_metratec_heartbeats_and_strange_lines_cost_nothing() -> None:
    table = metratec({1: [A]}, 1)
    table.reader.script = lambda c, r: b"HBT\rXYZZY\r" + r
    assert [told(r) for r in table.until(RESULT, 3)] == [(1, [A])] * 3
    assert table.session.counters().garbage > 0


def test_metratec_only_new_tags_lane() -> None:
    table = metratec({1: [A, B]}, 1, lanes="ont", presence_ms=16)
    first = table.until(RESULT)[0]
    assert (told(first), first.complete, first.quiet) == ((1, [A, B]), True, ())
    nothing = table.until(RESULT)[0]
    assert (told(nothing), nothing.complete, nothing.quiet) == ((1, []), False, (A, B))
    table.reader.field[1].append(C)
    assert told(table.until(RESULT)[0]) == (1, [C])
    table.reader.field[1].remove(B)
    full = [p for p in table.until(RESULT, 6) if p.complete]
    assert told(full[0]) == (1, [A, C])


@pytest.mark.parametrize(("make", "lane"), [(metratec, "ont"), (pepper, "quiet")])
def test_a_lost_answer_in_a_lane_that_mutes_hides_no_chip(make: Any, lane: str) -> None:
    """The reader names a new chip and mutes it; the answer is lost.  The chip must still be told, and soon."""
    table = make({1: [A]}, 1, lanes=lane)
    table.until(RESULT, 2)
    table.reader.field[1].append(B)
    lost = [True]

    def script(command: Any, *rest: Any) -> bytes:
        reply: bytes = rest[-1]
        if lost and (command == 0x92 or (command == "INV ONT" and B.encode() in reply)):
            lost.clear()
            return b""
        return reply

    table.reader.script = script
    results = table.until(RESULT, 3)
    assert not lost, "the answer was lost"
    for result in results:
        assert not isinstance(result, CleanEmpty)
        silent_of_b = isinstance(result, Present) and (result.complete or result.quiet)
        assert not silent_of_b or B in result.quiet or B in told(result)[1]
    assert any(B in told(r)[1] for r in results if isinstance(r, Present))


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"antennas": ()}, "at least one"),
        ({"antennas": (17,)}, "between 1 and 16"),
        ({"antennas": (2, 1), "select": "auto"}, "in this order"),
        ({"antennas": (1,), "power_mw": 777}, "power_mw"),
        ({"antennas": (1, 2), "lanes": "ont"}, "stays energised"),
        ({"antennas": (1,), "lost_after_ms": 0}, "times"),
        ({"antennas": (1,), "chips_per_antenna": 999}, "chips_per_antenna"),
        ({"antennas": (1,), "presence_ms": -1}, "presence_ms"),
    ],
)
def test_metratec_options_that_cannot_be(options: dict[str, Any], complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        MetratecSession(READER, MetratecOptions(**options))


def test_metratec_refusals_of_the_set_up_are_named() -> None:
    table = metratec({}, 1, 2)
    table.reader.script = lambda c, r: b"NOS\r" if c == "SAP ARP ON" else r
    lost = table.until(DeviceLost)[0]
    assert lost.reason == "'SAP ARP ON' answered with NOS"
    assert "not as a metraTec reader should" in lost.advice


def test_an_inventory_that_is_interrupted_is_given_up() -> None:
    decoder = AnswerDecoder()
    assert [a.word for a in decoder.feed(f"{A}\rOK!\rIVF 00\r".encode())] == ["OK!", "IVF"]
    assert decoder.broken == 1
    assert decoder.feed(f"{A}\r{B}".encode()) == []
    assert decoder.pending == 17 + 16
    decoder.gap()
    assert (decoder.broken, decoder.pending, decoder.garbage) == (2, 0, 16)
    assert decoder.feed(f"{B}\rIVF 01\r".encode())[0].uids == (B,)


@pytest.mark.parametrize("make", [pepper, metratec])
def test_a_dead_reader_is_lost_within_a_second(make: Any) -> None:
    table = make({1: [A]}, 1)
    table.until(Present, 3)
    table.reader.script = lambda *args: b""
    lost = table.until(DeviceLost)[0]
    assert lost.span.latest_ns - lost.span.earliest_ns <= 1000 * MS
    assert "stopped answering" in lost.advice
    table.reader.script = lambda *args: args[-1]
    table.session.start(table.now)
    assert table.until(Present)


@pytest.mark.parametrize("make", [pepper, metratec])
def test_a_stranger_gets_other_advice(make: Any) -> None:
    table = make({}, 1)
    table.reader.script = lambda *args: b"login: "
    lost = table.until(DeviceLost)[0]
    assert "none of them an answer" in lost.reason
    assert "115200" in lost.advice
