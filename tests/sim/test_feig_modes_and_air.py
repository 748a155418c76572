"""The FEIG reader's other modes, and the air that readers share: power, quiet tags, misses, two readers at once."""

from __future__ import annotations

import itertools
from random import Random

import pytest

from hw_sim.devices.feig import FeigReader, Noise, Timing
from hw_sim.devices.physics import Air, Radio, touching
from hw_sim.devices.quirks import Quirks
from tests.sim.hosts import feig, table_crc
from tests.sim.test_devices import MORE, READ, SELECT_1, UID, ask, frames, reader_over

MS = 1_000_000
U = [f"E0040150{n:08X}" for n in range(60)]
ONT_ON = feig("ff 81 05" + " 00" * 11 + " 05 00 00")


def uids(answer: bytes) -> list[str]:
    """UIDs of an inventory answer in a standard frame."""
    assert table_crc(answer[:-2]) == answer[-2:]
    return [answer[7 + 10 * i : 15 + 10 * i].hex().upper() for i in range(answer[4])] if len(answer) > 6 else []


def look(reader: FeigReader, request: bytes = READ) -> set[str]:
    return set(uids(ask(reader, request)))


# -- quiet tags -----------------------------------------------------------------------------------


def test_stay_quiet_select_reset_to_ready_and_rf_reset():
    reader = reader_over(U[0], U[1])
    assert ask(reader, ONT_ON)[3] == 0
    assert look(reader) == {U[0], U[1]}
    assert ask(reader, READ)[3] == 0x01
    assert ask(reader, feig(f"ff b0 26 01 {U[0]}"))[3] == 0
    assert look(reader) == {U[0]}
    assert ask(reader, feig(f"ff b0 25 01 {U[1]}")).hex() == feig("00 b0 00").hex()
    assert look(reader) == {U[1]}
    assert ask(reader, feig("ff b0 26 00"))[3] == 0
    assert ask(reader, feig(f"ff b0 02 01 {U[0]}"))[3] == 0
    assert look(reader) == {U[1]}
    assert ask(reader, feig("ff 69"))[3] == 0
    assert look(reader) == {U[0], U[1]}
    assert ask(reader, feig(f"ff b0 25 01 {U[9]}"))[3] == 0x01
    assert ask(reader, feig("ff b0 02 00"))[3] == 0x11
    assert ask(reader, feig("ff b0 02 01 00"))[3] == 0x81


def test_presence_check_names_all_and_leaves_them_quiet():
    reader = reader_over(*U[:3])
    assert ask(reader, feig("ff b0 01 20"))[3] == 0x11  # only with ONT
    ask(reader, ONT_ON)
    assert look(reader) == set(U[:3])
    assert look(reader, feig("ff b0 01 20")) == set(U[:3])
    assert ask(reader, READ)[3] == 0x01


def test_without_ont_every_inventory_names_all():
    reader = reader_over(*U[:3])
    assert look(reader) == look(reader) == set(U[:3])
    assert ask(reader, MORE)[3] == 0x01


def test_configuration_in_ram_ends_with_a_restart_and_in_eeprom_does_not():
    reader = reader_over(U[0])
    ask(reader, ONT_ON)
    assert ask(reader, feig("ff 80 05"))[4 + 11] == 5
    reader.restart(0)
    ask(reader, b"", 700 * MS)
    assert ask(reader, feig("ff 80 05"), 700 * MS)[4 + 11] == 0
    ask(reader, feig("ff 81 85" + " 00" * 11 + " 05 00 00"), 700 * MS)
    reader.restart(800 * MS)
    assert ask(reader, feig("ff 80 05"), 1500 * MS)[4 + 11] == 5
    assert ask(reader, feig("ff 80"), 1500 * MS)[3] == 0x81


def test_power_makes_tags_forget_and_a_lifted_chip_is_new_again():
    field = {1: [U[0]], 2: []}
    for hold, again in ((0.0, {U[0]}), (5000.0, set())):
        reader = FeigReader(lambda a: field.get(a, []), timing=Timing(quiet_hold_ms=hold))
        ask(reader, ONT_ON)
        ask(reader, SELECT_1)
        assert look(reader) == {U[0]}
        ask(reader, feig("ff dd 00 02 00"))
        ask(reader, SELECT_1)
        assert look(reader) == again
        reader.radio.lifted([U[0]])
        assert look(reader) == {U[0]}


def test_the_fast_lane_is_fast_only_while_the_antenna_keeps_its_power():
    """What the table of timings means for a host: quiet tags cost nothing, tags that forgot cost all again."""
    field = {1: U[:20], 2: []}
    took = []
    for hold in (0.0, 10_000.0):
        reader = FeigReader(lambda a: field[a], antennas=2, timing=Timing(real=True, quiet_hold_ms=hold))
        now = 0
        for request in (ONT_ON, SELECT_1, READ, READ, feig("ff dd 00 02 00"), SELECT_1, READ):
            start = now
            reader.feed(request, now)
            while (due := reader.next_due_ns()) is not None:
                now = due
                reader.poll(now)
            took.append(round((now - start) / MS, 1))
    assert took[2:4] == took[9:11] == [184.0, 9.8]
    assert (took[6], took[13]) == (184.0, 9.8)


# -- notification inventory -----------------------------------------------------------------------


def test_an_inventory_with_notification_waits_for_a_tag_or_the_time():
    field: dict[int, list[str]] = {1: []}
    reader = FeigReader(lambda a: field[a], antennas=1)
    ask(reader, SELECT_1)
    reader.feed(feig("ff b0 01 40 05"), 0)
    now = 0
    for now in range(0, 490, 10):
        assert reader.poll(now * MS) == b""
    assert reader.poll(510 * MS)[3] == 0x01
    reader.feed(feig("ff b0 01 40 ff"), 1000 * MS)
    assert reader.poll(2000 * MS) == b""
    field[1] = [UID]
    answer = b""
    while not answer:
        due = reader.next_due_ns()
        assert due is not None
        answer = reader.poll(due)
    assert due < 2050 * MS
    assert uids(answer) == [UID]
    assert ask(reader, feig("ff b0 01 c0 05"))[3] == 0x11
    assert ask(reader, feig("ff b0 01 40"))[3] == 0x81


# -- buffered read and notification ---------------------------------------------------------------


def records(answer: bytes) -> list[tuple[str, int, int]]:
    """(UID, antenna, ms) of an answer to 0x22 in an advanced frame."""
    assert table_crc(answer[:-2]) == answer[-2:]
    assert (answer[0], answer[4], answer[6]) == (2, 0x22, 0x31)
    count, at, out = int.from_bytes(answer[7:9], "big"), 9, []
    for _ in range(count):
        size = int.from_bytes(answer[at : at + 2], "big")
        assert answer[at + 2 : at + 5] == b"\x03\x00\x08"
        ms = int.from_bytes(answer[at + 13 : at + 17], "big")
        out.append((answer[at + 5 : at + 13].hex().upper(), answer[at + 17], ms))
        at += size
    assert at == len(answer) - 2
    return out


def adv(body: str) -> bytes:
    raw = bytes.fromhex(body)
    frame = b"\x02" + (len(raw) + 5).to_bytes(2, "big") + raw
    return frame + table_crc(frame)


def until(reader: FeigReader, request: bytes, now: int) -> bytes:
    """Everything said within 50 ms of a request."""
    reader.feed(request, now)
    return reader.poll(now + 50 * MS)


def run_to(reader: FeigReader, start: int, end: int) -> list[tuple[int, bytes]]:
    """Let the reader go round; what it says by itself, with times."""
    said, now = [], start
    while (due := reader.next_due_ns()) is not None and due <= end:
        now = max(now, due)
        if out := reader.poll(now):
            said.append((now, out))
    return said


def test_the_buffer_holds_each_tag_once_until_it_is_cleared():
    field = {1: [U[0]], 2: [U[1], U[2]], 3: []}
    reader = FeigReader(lambda a: field[a], antennas=3, mode="buffered", valid_ms=10_000)
    assert run_to(reader, 0, 500 * MS) == []
    got = records(until(reader, adv("ff 22 00 ff"), 500 * MS))
    assert {(u, a) for u, a, _ in got} == {(U[0], 1), (U[1], 2), (U[2], 2)}
    assert records(until(reader, adv("ff 22 00 ff"), 600 * MS)) == got
    assert until(reader, adv("ff 31"), 650 * MS)[6:12].hex() == "00ff00000003"
    assert records(until(reader, adv("ff 22 00 01"), 660 * MS)) == got[:1]
    clear = bytes.fromhex(next(str(r["hex"]) for r in frames("feig-adv") if "Clear Data Buffer" in str(r["meaning"])))
    assert until(reader, clear, 700 * MS)[4:6].hex() == "3200"
    assert records(until(reader, adv("ff 22 00 ff"), 760 * MS)) == got[1:]
    until(reader, clear, 820 * MS)
    assert until(reader, adv("ff 22 00 ff"), 900 * MS)[5] == 0x92
    field[3] = [U[3]]
    run_to(reader, 960 * MS, 1200 * MS)
    assert [r[:2] for r in records(until(reader, adv("ff 22 00 ff"), 1200 * MS))] == [(U[3], 3)]
    assert until(reader, adv("ff 33"), 1300 * MS)[5] == 0
    assert until(reader, adv("ff b0 01 00"), 1400 * MS)[5] == 0x82
    assert ask(reader_over(UID), feig("ff 22 00 ff"))[3] == 0x82


def test_a_tag_is_recorded_again_after_its_valid_time_and_a_full_table_says_so():
    reader = FeigReader(lambda a: [U[0]] if a == 1 else [], antennas=2, mode="buffered", valid_ms=300)
    run_to(reader, 0, 1000 * MS)
    again = records(until(reader, adv("ff 22 00 ff"), 1000 * MS))
    assert [r[0] for r in again] == [U[0]] * 4
    assert all(300 <= b[2] - a[2] <= 340 for a, b in itertools.pairwise(again))
    many = [f"E0040150{n:08X}" for n in range(300)]
    full = FeigReader(lambda a: many, antennas=1, mode="buffered")
    run_to(full, 0, 100 * MS)
    assert until(full, adv("ff 31"), 100 * MS)[5] == 0x93
    assert until(full, adv("ff 22 00 0a"), 200 * MS)[5] == 0x93


def test_notifications_come_by_themselves_and_wait_for_their_acknowledgement():
    field = {1: [U[0]], 2: []}
    plain = FeigReader(lambda a: field[a], antennas=2, mode="notify", valid_ms=60_000)
    said = run_to(plain, 0, 8000 * MS)
    assert [records(b)[0][:2] for _, b in said] == [(U[0], 1)]
    asking = FeigReader(lambda a: field[a], antennas=2, mode="notify-ack", valid_ms=60_000)
    said = run_to(asking, 0, 11_000 * MS)
    assert len(said) == 3
    assert {records(b)[0][0] for _, b in said} == {U[0]}
    assert all(4900 * MS < b[0] - a[0] < 5200 * MS for a, b in itertools.pairwise(said))
    assert until(asking, adv("ff 32"), 11_000 * MS)[4:6].hex() == "3200"
    field[2] = [U[1]]
    said = run_to(asking, 11_100 * MS, 12_000 * MS)
    assert [records(b)[0][:2] for _, b in said] == [(U[1], 2)]


# -- the published card ---------------------------------------------------------------------------


def test_the_published_exchange_with_a_type_b_card():
    reader = FeigReader(lambda _: [], quirks=Quirks(type_b_card=True))
    ask(reader, SELECT_1)
    rows = {str(r["hex"]) for r in frames("feig-adv")}
    inventory, select = "020009ffb001001843", "02001100b0252100000000535110713e59"
    assert {inventory, select} <= rows
    assert ask(reader, bytes.fromhex(inventory)).hex() == "02001300b0000105710000000053511071d7f0"
    assert ask(reader, bytes.fromhex(select)).hex() == "02000d00b00002b3717000957e"
    short = FeigReader(lambda _: [], quirks=Quirks(short_info=True))
    info = ask(short, bytes.fromhex("0200080066807350"))
    assert int.from_bytes(info[1:3], "big") == len(info) + 1 == 0x18


def test_other_quirks_of_the_reader():
    warned = FeigReader(lambda _: [], quirks=Quirks(empty_warning=True), seed=1)
    ask(warned, SELECT_1)
    statuses = [ask(warned, READ)[3] for _ in range(400)]
    assert set(statuses) == {0x01, 0x84}
    assert 8 < statuses.count(0x84) < 40
    half = reader_over(*U[:4], noise=Noise(rf_error=1.0), quirks=Quirks(error_data=True))
    answer = ask(half, READ)
    assert (answer[3], answer[4]) == (0x83, 2)
    hot = reader_over(UID, quirks=Quirks(hardware_warning=True))
    assert 0xF1 in {ask(hot, READ)[3] for _ in range(300)}
    plain = FeigReader(lambda _: [], quirks=Quirks(standard_only=True))
    assert ask(plain, bytes.fromhex("020007ff656e61")) == b""
    assert look(reader_over(UID, quirks=Quirks(ont_default=True))) == {UID}


# -- the air --------------------------------------------------------------------------------------


def test_places_touch_when_they_are_the_same_or_next_to_each_other():
    assert touching((1,), (2,))
    assert touching((3, 9), (3,))
    assert not touching((1,), (3,))
    assert not touching((), (1,))


def pair(
    places: tuple[int, int], *, field: dict[int, list[str]], timing: Timing, noise: Noise
) -> tuple[FeigReader, FeigReader]:
    air = Air()
    a, b = (
        FeigReader(lambda p: field.get(p, []), antennas=1, places={1: p}, air=air, timing=timing, noise=noise, seed=s)
        for s, p in enumerate(places)
    )
    return a, b


def rounds(a: FeigReader, b: FeigReader, *, together: bool, dark: bool = True) -> list[int]:
    """Statuses of 60 inventories of each, at the same time or in turns (then with the other's field off)."""
    statuses: list[int] = []
    now = 0
    if together or not dark:
        for reader in (a, b):
            ask(reader, SELECT_1, now)
    for _ in range(60):
        turns = [(a, b)] if together else [(a,), (b,)]
        for turn in turns:
            if not together and dark:
                ask(turn[0], SELECT_1, now)
                now += 10 * MS
            for reader in turn:
                reader.feed(READ, now)
            end = now + 60 * MS
            while now < end:
                now += MS
                statuses += [said[3] for r in turn if (said := r.poll(now))]
            if not together and dark:
                ask(turn[0], feig("ff dd 00 00 00"), now)
                now += 10 * MS
    return statuses


def test_two_readers_next_to_each_other_must_take_turns():
    field, timing = {1: [U[0]], 2: [U[1]], 5: [U[2]]}, Timing(real=True)
    at_once = rounds(*pair((1, 2), field=field, timing=timing, noise=Noise()), together=True)
    assert at_once.count(0x83) > 80
    apart = rounds(*pair((1, 5), field=field, timing=timing, noise=Noise()), together=True)
    turns = rounds(*pair((1, 2), field=field, timing=timing, noise=Noise()), together=False)
    assert set(apart) == set(turns) == {0x00}
    lit = rounds(*pair((1, 2), field=field, timing=timing, noise=Noise()), together=False, dark=False)
    assert set(lit) == {0x00, 0x01}
    assert 15 < lit.count(0x01) < 50  # the other's idle carrier costs reads, but no errors


def test_bleed_crosses_from_one_reader_to_the_other():
    field = {1: [U[0]], 2: [U[1]]}
    a, _ = pair((1, 2), field=field, timing=Timing(), noise=Noise(bleed=0.5))
    ask(a, SELECT_1)
    assert {u for _ in range(50) for u in look(a)} == {U[0], U[1]}


def test_misses_stick_to_an_unchanged_stack():
    field = {1: U[:8]}

    def changes(sticky: float) -> int:
        noise = Noise(miss_buried=0.3, miss_together=0.0, sticky=sticky)
        radio = Radio(lambda p: field[p], {1: 1}, rng=Random(3), noise=noise, timing=Timing())
        radio.power((1,), 0)
        seen = [frozenset(radio.answering()) for _ in range(200)]
        return sum(x != y for x, y in itertools.pairwise(seen))

    assert changes(0.0) > 150
    assert changes(0.95) < 25


def test_two_chips_with_one_uid_answer_once():
    assert uids(ask(reader_over(UID, UID, U[1]), READ)).count(UID) == 1


@pytest.mark.parametrize("antennas", [17, 40])
def test_more_antennas_than_the_reader_has_are_refused(antennas):
    with pytest.raises(ValueError, match="16 antennas"):
        FeigReader(lambda _: [], antennas=antennas)
