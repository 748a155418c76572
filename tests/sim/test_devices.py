"""The simulated devices against bytes that nobody here made, and against the texts they follow."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hw_sim.devices.codec import cobs_stuff, cobs_unstuff, crc16_mcrf4xx
from hw_sim.devices.faults import FaultLine, FaultPlan
from hw_sim.devices.feig import FeigReader, Noise, Timing
from hw_sim.devices.panel import KEY_CODES, Panel
from tests.sim.hosts import feig, panel_frame, stuff, table_crc, unstuff

MS = 1_000_000
SHARED = Path(os.environ.get("TABLED_SHARED", Path(__file__).parents[3] / "shared"))
UID = "E0040150A05F02B7"
READ = feig("ff b0 01 00")
MORE = feig("ff b0 01 80")
SELECT_1 = feig("ff dd 00 01 00")


def frames(prefix: str) -> list[dict[str, object]]:
    path = SHARED / "rfid" / "frames.jsonl"
    if not path.is_file():
        pytest.skip(f"no published frames at {path}: set TABLED_SHARED to the folder that holds rfid/")
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return [r for r in rows if r["protocol"].startswith(prefix)]


def ask(reader: FeigReader, request: bytes, now: int = 0) -> bytes:
    reader.feed(request, now)
    out = b""
    while (due := reader.next_due_ns()) is not None:
        now = max(now, due)
        out += reader.poll(now)
    return out


def reader_over(*uids: str, **how: object) -> FeigReader:
    field = {1: list(uids)}
    reader = FeigReader(lambda a: field.get(a, []), **how)
    assert ask(reader, SELECT_1).hex() == feig("00 dd 00").hex()
    return reader


# -- checksum and stuffing ------------------------------------------------------------------------


def test_checksum_has_the_catalogue_value():
    assert crc16_mcrf4xx(b"123456789") == 0x6F91  # CRC catalogue, CRC-16/MCRF4XX, "check"


@given(st.binary(max_size=600))
def test_stuffing_never_holds_a_zero_and_comes_back(data):
    stuffed = cobs_stuff(data)
    assert 0 not in stuffed
    assert len(stuffed) <= len(data) + len(data) // 254 + 1
    assert cobs_unstuff(stuffed) == data


@pytest.mark.parametrize(
    ("plain", "stuffed"),
    # The examples of Cheshire and Baker's article, written out by hand.
    [("00", "0101"), ("0000", "010101"), ("11220033", "0311220233"), ("11000000", "0211010101"), ("", "01")],
)
def test_stuffing_examples(plain, stuffed):
    assert cobs_stuff(bytes.fromhex(plain)).hex() == stuffed


@given(st.binary(min_size=1, max_size=40))
def test_unstuffing_takes_anything(data):
    out = cobs_unstuff(data)
    assert out is None or len(out) < len(data)


# -- published frames -----------------------------------------------------------------------------


def test_all_published_feig_frames_have_our_checksum_as_stated():
    rows = frames("feig")
    assert len(rows) >= 30
    for row in rows:
        raw = bytes.fromhex(str(row["hex"]))
        good = crc16_mcrf4xx(raw[:-2]) == int.from_bytes(raw[-2:], "little")
        advanced = raw[0] == 2
        length = int.from_bytes(raw[1:3], "big") if advanced else raw[0]
        assert (good and length == len(raw)) == row["checksum_ok"], row["meaning"]


def test_published_answers_come_out_byte_for_byte():
    rows = {str(r["hex"]) for r in frames("feig") if r["checksum_ok"] and r["direction"] == "reader>host"}
    reader = reader_over(UID)
    said = {ask(reader, bytes.fromhex(h)).hex() for h in ("05ff65e5cb", "020007ff656e61", "07ffb001001c56")}
    assert said == {
        "0d00650003030044530d303309",
        "02000f00650003030044530d307469",
        "1100b000010300e0040150a05f02b7d7be",
    }
    assert ask(reader_over(), READ).hex() == "0600b0015c63"
    broken = reader_over(UID, noise=Noise(rf_error=1.0))
    assert ask(broken, READ).hex() == "0600b08346c4"
    assert said | {"0600b0015c63", "0600b08346c4"} <= rows


def test_host_frames_of_the_catalogue_are_answered_in_their_own_form():
    supported = {0x65, 0x66, 0x69, 0x52, 0x6A, 0x72, 0x74, 0x80}
    for row in frames("feig"):
        raw = bytes.fromhex(str(row["hex"]))
        if row["direction"] != "host>reader" or not row["checksum_ok"]:
            continue
        advanced = raw[0] == 2
        address, command = raw[3:5] if advanced else raw[1:3]
        reader = FeigReader(lambda _: [], address=address if address != 0xFF else 0)
        answer = ask(reader, raw)
        assert (answer[0] == 2) == advanced
        assert answer[4 if advanced else 2] == command
        assert table_crc(answer[:-2]) == answer[-2:]
        status = answer[5 if advanced else 3]
        if command in supported:
            assert status == 0, row["meaning"]
        elif command == 0x32:
            assert status == 0x82, row["meaning"]  # a reader in host mode has no data buffer
        elif command != 0xB0:
            assert status == 0x80, row["meaning"]


# -- the reader -----------------------------------------------------------------------------------


def test_a_bad_frame_gets_no_reply_and_a_good_one_after_it_does():
    reader = reader_over(UID)
    for at in range(len(READ)):
        spoilt = bytearray(READ)
        spoilt[at] ^= 0x10
        now = (at + 1) * 100 * MS
        assert ask(reader, bytes(spoilt), now) == b""
        assert UID in ask(reader, READ, now + 50 * MS).hex().upper()


def test_a_frame_may_come_byte_by_byte_but_not_with_a_gap():
    reader = reader_over(UID)
    for i, byte in enumerate(READ):
        reader.feed(bytes((byte,)), i * 5 * MS)
    assert reader.poll(100 * MS)
    reader.feed(READ[:4], 1000 * MS)
    reader.feed(READ[4:], 1013 * MS)
    assert reader.next_due_ns() is None
    assert reader.counts["gap"] == 1


def test_two_frames_glued_get_two_answers():
    reader = reader_over(UID)
    one = ask(reader, READ)
    assert ask(reader, READ + READ) == one + one


def test_more_delivers_each_tag_once():
    uids = [f"E0040150{n:08X}" for n in range(61)]
    reader = reader_over(*uids, max_records=24)
    got: list[str] = []
    statuses = []
    request = READ
    for _ in range(3):
        answer = ask(reader, request)
        statuses.append(answer[3])
        assert len(answer) == answer[0] <= 255
        got += [answer[7 + 10 * i : 15 + 10 * i].hex().upper() for i in range(answer[4])]
        request = MORE
    assert statuses == [0x94, 0x94, 0x00]
    assert sorted(got) == uids
    assert ask(reader, MORE)[3] == 0x01


def test_more_takes_the_time_of_its_own_tags_and_sees_a_late_comer():
    uids = [f"E0040150{n:08X}" for n in range(30)]
    field = {1: list(uids)}
    reader = FeigReader(lambda a: field.get(a, []), timing=Timing(real=True), max_records=24)
    ask(reader, SELECT_1)

    def timed(request: bytes) -> tuple[int, bytes]:
        start = 1_000_000 * MS if request == READ else 2_000_000 * MS
        reader.feed(request, start)
        due, out = start, b""
        while (t := reader.next_due_ns()) is not None:
            due, out = t, reader.poll(t)
        return due - start, out

    first_ns, first = timed(READ)
    field[1].append("E004015000FFFFFF")
    more_ns, more = timed(MORE)
    assert (first[3], first[4], more[3], more[4]) == (0x94, 24, 0x00, 7)
    assert first_ns == Timing(real=True).inventory_ns(24)
    assert more_ns == Timing(real=True).inventory_ns(7) < first_ns
    assert "E004015000FFFFFF" in more.hex().upper()


def test_a_standard_request_gets_an_advanced_answer_when_it_is_too_long():
    reader = reader_over(*[f"E0040150{n:08X}" for n in range(30)], max_records=64)
    answer = ask(reader, READ)
    assert answer[0] == 2
    assert int.from_bytes(answer[1:3], "big") == len(answer) == 5 + 1 + 1 + 300 + 2


@pytest.mark.parametrize(("data", "status"), [("00 09 00", 0x11), ("00 03 03", 0x11), ("02 01 00", 0x11), ("00", 0x81)])
def test_channels_that_do_not_exist_are_refused(data, status):
    assert ask(FeigReader(lambda _: []), feig(f"ff dd {data}"))[3] == status


def test_channels_select_antennas_and_two_multiplexers_add_up():
    chips = {1: ["E004015000000001"], 8: ["E004015000000008"], 9: ["E004015000000009"]}
    reader = FeigReader(lambda a: chips.get(a, []))

    def seen(*selections: str) -> set[str]:
        for s in selections:
            assert ask(reader, feig(f"ff dd {s}"))[3] == 0
        answer = ask(reader, READ)
        return set() if answer[3] == 1 else {answer[7 + 10 * i : 15 + 10 * i].hex()[-1] for i in range(answer[4])}

    assert seen() == set()
    assert seen("00 01 00") == {"1"}
    assert seen("00 08 00") == {"8"}
    assert seen("01 01 00") == {"8", "9"}
    assert seen("00 00 00") == {"9"}
    assert ask(reader, feig("ff 6a 00"))[3] == 0
    assert seen() == set()
    assert ask(reader, feig("ff 6a 01"))[3] == 0
    assert seen() == {"9"}


def test_timing_follows_the_published_points():
    timing = Timing(real=True)
    assert [round(timing.inventory_ns(n) / MS, 1) for n in (0, 1, 5, 10, 20)] == [9.8, 14.0, 38.0, 82.0, 184.0]
    assert timing.inventory_ns(40) > timing.inventory_ns(30) > timing.inventory_ns(20)
    reader = FeigReader(lambda _: [UID], timing=timing)
    reader.feed(SELECT_1, 0)
    assert (reader.poll(5 * MS - 1), len(reader.poll(5 * MS))) == (b"", 6)
    reader.feed(READ, 10 * MS)
    assert reader.poll(23 * MS) == b""
    assert len(reader.poll(24 * MS)) == 17


def test_a_restart_forgets_channels_and_is_deaf_for_a_while():
    reader = reader_over(UID)
    reader.restart(0)
    assert ask(reader, READ, 100 * MS) == b""
    assert ask(reader, READ, 700 * MS)[3] == 0x01
    assert reader.counts["deaf"] == 1


def test_noise_has_the_rate_that_it_is_asked_for_and_a_lone_chip_differs_from_a_buried_one():
    n = 4000
    stack = [f"E0040150{i:08X}" for i in range(10)]
    reader = reader_over(*stack, noise=Noise(miss_lone=0.05, miss_buried=0.15), seed=3)
    top = buried = empty_below = 0
    for _ in range(n):
        answer = ask(reader, READ)
        got = {answer[7 + 10 * i : 15 + 10 * i].hex().upper() for i in range(answer[4])} if answer[3] != 1 else set()
        top += stack[-1] not in got
        lost = sum(u not in got for u in stack[:-1])
        buried += lost
        empty_below += lost == 9
    assert 0.035 < top / n < 0.065
    assert 0.12 < buried / (9 * n) < 0.18
    assert empty_below / n > 0.05  # correlated: independent misses would lose all nine once in 10^7


def test_ghosts_and_bleed_are_seeded_and_counted():
    field = {1: [UID], 2: ["E004015000000002"]}

    def run(seed: int) -> list[bytes]:
        reader = FeigReader(lambda a: field.get(a, []), noise=Noise(ghost=0.1, bleed=0.1), seed=seed)
        ask(reader, SELECT_1)
        return [ask(reader, READ) for _ in range(300)]

    assert run(1) == run(1) != run(2)
    counts = {a[4] for a in run(1)}
    assert counts >= {1, 2}


@settings(max_examples=60, deadline=None)
@given(st.lists(st.binary(max_size=30), max_size=20))
def test_the_reader_survives_anything_and_then_answers(chunks):
    reader = reader_over(UID)
    now = 0
    for chunk in chunks:
        now += 1 * MS
        ask(reader, chunk, now)
    assert UID in ask(reader, READ, now + 20 * MS).hex().upper()


# -- the panel ------------------------------------------------------------------------------------


def said(panel: Panel, now: int) -> list[bytes]:
    out = [unstuff(f) for f in panel.poll(now).split(b"\0") if f]
    for body in out:
        assert table_crc(body[:-2]) == body[-2:]
        assert body[0] == 1
    return out


def ack(body: bytes) -> bytes:
    return panel_frame(0x82, body[12:18])


def test_key_codes_are_those_of_the_text():
    assert (KEY_CODES["fold"], KEY_CODES["all_in"], KEY_CODES["floor"], KEY_CODES["key_b"]) == (1, 8, 16, 18)
    assert sorted(KEY_CODES.values()) == list(range(1, 19))


def test_hello_carries_schema_firmware_and_model():
    panel = Panel(seed=1, model="sim-panel")
    (hello,) = said(panel, 0)
    assert hello[1] == 1
    assert hello[12:-2] == bytes.fromhex("01edb17a") + b"\x01\x00" + b"sim-panel"
    panel.feed(panel_frame(0x81, b""), 5 * MS)
    (again,) = said(panel, 5 * MS)
    assert again[12:-2] == hello[12:-2]
    assert int.from_bytes(again[2:4], "little") == int.from_bytes(hello[2:4], "little") + 1
    assert again[8:12] == hello[8:12] != bytes(4)


def test_a_press_is_sent_again_until_it_is_acknowledged():
    panel = Panel(seed=2)
    said(panel, 0)
    panel.press(50 * MS, "raise_to", seat=3, amount=70_000_000_000, said_first=True)
    (first,) = said(panel, 50 * MS)
    assert first[1] == 3
    assert first[12:16] == first[8:12]
    assert (int.from_bytes(first[16:18], "little"), first[22], first[23], first[24]) == (1, 6, 3, 1)
    assert int.from_bytes(first[25:33], "little") == 70_000_000_000
    assert said(panel, 249 * MS) == []
    (second,) = said(panel, 250 * MS)
    assert second[12:-2] == first[12:-2]
    assert second[2:4] != first[2:4]
    panel.feed(panel_frame(0x82, b"\1\2\3\4\5\6"), 300 * MS)
    assert panel.pending == 1
    panel.feed(ack(second) + ack(second), 300 * MS)
    assert panel.pending == 0
    assert said(panel, 700 * MS) == []


def test_heartbeats_name_what_waits_and_what_was_lost():
    panel = Panel(seed=3)
    said(panel, 0)
    for _ in range(18):
        panel.press(900 * MS, "check")
    beat = [b for b in said(panel, 1000 * MS) if b[1] == 2]
    assert [b[12:14] for b in beat] == [bytes((16, 2))]
    assert panel.next_due_ns() == 1100 * MS


def test_a_reset_keeps_presses_under_their_old_names():
    panel = Panel(seed=4)
    (hello,) = said(panel, 0)
    panel.press(10 * MS, "fold")
    (before,) = said(panel, 10 * MS)
    panel.reset(20 * MS)
    frames_ = said(panel, 300 * MS)
    after = next(b for b in frames_ if b[1] == 3)
    assert after[12:18] == before[12:18]
    assert after[8:12] != hello[8:12]
    panel.feed(ack(after), 310 * MS)
    assert panel.pending == 0


def test_ticks_drift_and_wrap():
    slow, fast = (Panel(seed=5, drift_ppm=p) for p in (-200.0, 200.0))
    hour = 3_600_000_000_000
    lead = (fast.tick_us(hour) - slow.tick_us(hour)) % (1 << 32)
    assert abs(lead - 1_440_000) <= 1
    assert 0 <= fast.tick_us(10 * hour) < 1 << 32


def test_a_ping_is_answered_with_its_token():
    panel = Panel(seed=6)
    said(panel, 0)
    panel.feed(panel_frame(0x83, b"\xde\xad\xbe\xef"), 1 * MS)
    (pong,) = said(panel, 1 * MS)
    assert (pong[1], pong[12:-2]) == (4, b"\xde\xad\xbe\xef")


@settings(max_examples=60, deadline=None)
@given(st.lists(st.binary(max_size=80), max_size=10))
def test_the_panel_survives_anything(chunks):
    panel = Panel(seed=7)
    panel.press(0, "check")
    for chunk in chunks:
        panel.feed(chunk, 1 * MS)
    panel.poll(2 * MS)
    panel.feed(b"\0" + panel_frame(0x83, b"\1\2\3\4"), 3 * MS)
    assert [b[1] for b in said(panel, 3 * MS)] == [4]


def test_frames_of_another_version_are_dropped_and_counted():
    panel = Panel(seed=8)
    said(panel, 0)
    body = bytes((2, 0x81)) + bytes(10)
    panel.feed(stuff(body + table_crc(body)), 0)
    assert said(panel, 0) == []
    assert panel.counts == {"version": 1}


# -- the line -------------------------------------------------------------------------------------


@given(st.lists(st.binary(min_size=1, max_size=20), max_size=30), st.integers(0, 1000))
def test_a_faulty_line_keeps_order(chunks, seed):
    line = FaultLine(FaultPlan(split=0.5, stall=0.2, duplicate=0.1), seed=seed)
    out = [part for i, c in enumerate(chunks) for part in line.pass_on(c, i * MS)]
    assert [at for at, _ in out] == sorted(at for at, _ in out)
    if not line.counts.get("duplicate"):
        assert b"".join(p for _, p in out) == b"".join(chunks)


def test_a_sound_line_passes_everything_at_once():
    assert FaultLine().pass_on(b"abc", 7) == [(7, b"abc")]
