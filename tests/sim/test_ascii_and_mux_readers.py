"""metraTec and Pepper devices against published bytes and the texts they follow."""

from __future__ import annotations

import binascii

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hw_sim.devices import quirks
from hw_sim.devices.codec import air_crc, crc16_ccitt_false
from hw_sim.devices.metratec import MetratecReader
from hw_sim.devices.pepper import PepperReader
from hw_sim.devices.physics import Noise, Timing
from hw_sim.devices.quirks import NAMES, Quirks, UnknownQuirkError, parse_quirks
from hw_sim.devices.reader import Reader
from tests.sim.hosts import table_crc
from tests.sim.test_devices import frames

MS = 1_000_000
A, B, C = "E0040150954F02B1", "E200600311753E33", "E0040150A05F02B7"


def talk(reader: Reader, request: bytes, now: int = 0, upto: int | None = None) -> bytes:
    """Everything said until the reader only waits, or until ``upto``."""
    reader.feed(request, now)
    out = reader.poll(now)
    while (due := reader.next_due_ns()) is not None and (upto is None or due <= upto):
        if upto is None and not reader._jobs:
            break
        now = max(now, due)
        out += reader.poll(now)
    return out


def pepper(payload: str) -> bytes:
    """A Pepper frame made with the standard library's CRC (same polynomial and preset)."""
    body = bytes.fromhex(payload)
    length = (len(body) + 2).to_bytes(2, "little")
    return (
        b"\xf5" + length + bytes(255 - b for b in length) + body + binascii.crc_hqx(body, 0xFFFF).to_bytes(2, "little")
    )


def payloads(stream: bytes) -> list[str]:
    """Payloads of whole, good frames."""
    out: list[str] = []
    while stream:
        assert stream[0] == 0xF5
        length = int.from_bytes(stream[1:3], "little")
        assert stream[3:5] == bytes(255 - b for b in stream[1:3])
        body = stream[5 : 3 + length]
        assert pepper(body.hex()) == stream[: 5 + length]
        out.append(body.hex())
        stream = stream[5 + length :]
    return out


def metratec(field: dict[int, list[str]], **how: object) -> MetratecReader:
    reader = MetratecReader(lambda a: field.get(a, []), antennas=16, **how)
    assert talk(reader, b"SRI SS 100\r") == b"OK!\r"
    return reader


def lines(reader: Reader, command: str, now: int = 0) -> list[str]:
    said = talk(reader, command.encode() + b"\r", now).decode()
    assert said.endswith("\r")
    return said.split("\r")[:-1]


# -- published bytes ------------------------------------------------------------------------------


def test_checksums_have_their_catalogue_values():
    assert crc16_ccitt_false(b"123456789") == 0x29B1
    assert air_crc(b"123456789") == (0x906E).to_bytes(2, "little")
    for row in frames("iso15693-air"):
        raw = bytes.fromhex(str(row["hex"]))
        assert air_crc(raw[:-2]) == raw[-2:], row["meaning"]


def test_all_published_pepper_requests_are_acknowledged_in_their_name():
    rows = frames("pepper-c1")
    assert len(rows) == 6
    for row in rows:
        raw = bytes.fromhex(str(row["hex"]))
        assert pepper(raw[5:-2].hex()) == raw, row["meaning"]
        reader = PepperReader(lambda _: [C], antennas=8)
        talk(reader, pepper("02"))
        (answer,) = payloads(talk(reader, raw))
        assert answer[:4] == f"00{raw[5]:02x}", row["meaning"]


def test_the_published_inventory_of_port_12_comes_out_byte_for_byte():
    reader = metratec({13: [A, B]})
    assert lines(reader, "SAP ARP ON") == lines(reader, "SAP MAN 12") == ["OK!"]
    said = {talk(reader, b"INV\r") for _ in range(20)}
    published = {bytes.fromhex(str(r["hex"])) for r in frames("metratec") if r["direction"] == "reader>host"}
    assert said & published
    assert {b"".join(sorted(s.split(b"\r"))) for s in said} == {
        b"".join(sorted(s.split(b"\r"))) for s in said & published
    }


def test_the_published_block_reply_and_checksummed_commands():
    reader = metratec({1: [A]})
    rows = {str(r["direction"]): [] for r in frames("metratec")}
    for r in frames("metratec"):
        rows[str(r["direction"])].append(bytes.fromhex(str(r["hex"])))
    assert talk(reader, b"REQ 022005 CRC\r") in rows["reader>host"]
    strict = MetratecReader(lambda _: [], antennas=4, quirks=Quirks(crc_mode=True))
    off, wake = rows["host>reader"]
    assert talk(strict, b"REV\r") == b"CCE\r"
    assert talk(strict, wake) == b"DNS\r"
    assert talk(strict, off) == b"OK!\r"
    assert talk(strict, b"REV\r") == b"QUASARMX       03000305\r"
    assert talk(strict, off) == b"OK!\r"
    assert table_crc(b"COF ")[::-1].hex().upper() == off[4:8].decode()


# -- metraTec -------------------------------------------------------------------------------------


def test_no_field_no_inventory_and_an_empty_field_is_said_with_a_count():
    reader = MetratecReader(lambda _: [A], antennas=4)
    assert lines(reader, "INV") == ["RNW"]
    assert lines(metratec({}), "INV") == ["IVF 00"]
    assert lines(MetratecReader(lambda _: [A], antennas=4, quirks=Quirks(field_on=True)), "INV") == [A, "IVF 01"]


def test_multiplexing_goes_round_the_ports_and_only_new_tags_come_while_power_lasts():
    reader = metratec({1: [A], 2: [], 3: [C]})
    for command in ("SAP ARP ON", "SAP AUT 3"):
        assert lines(reader, command) == ["OK!"]
    round_ = [[A, "ARP 00", "IVF 01"], ["ARP 01", "IVF 00"], [C, "ARP 02", "IVF 01"]]
    assert [lines(reader, "INV") for _ in range(6)] == round_ * 2
    # Switching takes the power away: an ordinary tag forgets that it was told to be quiet.
    assert [lines(reader, "INV ONT") for _ in range(6)] == round_ * 2
    lines(reader, "SAP MAN 0")
    assert lines(reader, "INV ONT")[0] == A
    assert lines(reader, "INV ONT") == ["ARP 00", "IVF 00"]
    assert lines(reader, "INV")[0] == A
    holds = metratec({1: [A]}, timing=Timing(quiet_hold_ms=5000))
    lines(holds, "SAP AUT 2")
    assert [lines(holds, "INV ONT") for _ in range(4)] == [[A, "IVF 01"], ["IVF 00"], ["IVF 00"], ["IVF 00"]]


def test_continuous_inventory_runs_until_it_is_broken_off():
    reader = metratec({1: [A]}, timing=Timing(real=True))
    assert lines(reader, "BRK") == ["NCM"]
    said = talk(reader, b"CNR INV\r", 0, 1000 * MS)
    assert 65 < said.count(b"IVF 01\r") < 75  # 14 ms each
    last = reader.next_due_ns() or 0
    assert reader.counts.get("busy") is None
    end = talk(reader, b"REV\rBRK\r", last, last + 100 * MS)
    assert end.endswith(b"IVF 01\rBRA\r")
    assert end.count(b"IVF") <= 2
    assert reader.counts["busy"] == 1
    assert reader.next_due_ns() is None


@pytest.mark.parametrize(
    ("command", "answer"),
    [
        ("XYZ", "UCO"), ("INV FOO", "UPA"), ("INV AFI G1", "EHX"), ("CNR INV FOO", "UPA"), ("SET PWR 501", "NOR"),
        ("SET PWR x", "EDX"), ("SET PWR 1000", "OK!"), ("SAP AUT 17", "NOR"), ("SAP MAN 16", "NOR"), ("SAP", "UPA"),
        ("SRI", "UPA"), ("HBT 61", "NOR"), ("MOD 14A", "NOS"), ("REQ 0", "UPA"), ("REQ 0 CRC", "EHX"), ("", "UCO"),
    ],
)  # fmt: skip
def test_errors_have_their_names(command, answer):
    assert lines(metratec({}), command) == [answer]


def test_air_errors_collisions_and_silence():
    assert lines(metratec({1: [A, C]}), "INV SSL") == ["CDT"]
    assert lines(metratec({1: [A, C]}), "REQ 022000 CRC") == ["CDT"]
    assert lines(metratec({}), "REQ 022000 CRC") == ["TNR"]
    assert lines(metratec({1: [A]}, noise=Noise(rf_error=1.0)), "INV") == ["CER"]
    assert lines(metratec({1: [A, C]}, noise=Noise(rf_warning=1.0)), "INV")[1:] == ["CER", "IVF 01"]
    quiet = metratec({1: [A, C]})
    assert lines(quiet, f"REQ 2202{A} CRC") == ["TNR"]
    assert lines(quiet, "INV ONT") == [A, C, "IVF 02"] or len(lines(quiet, "INV ONT")) == 1


def test_stay_quiet_reaches_a_tag_that_has_power():
    reader = metratec({1: [A, C]})
    lines(reader, "INV")
    lines(reader, f"REQ 2202{A} CRC")
    assert lines(reader, "INV ONT") == [C, "IVF 01"]
    assert lines(reader, f"REQ 2226{A} CRC")[0] == "TDT"
    assert lines(reader, "INV ONT") == [A, "IVF 01"]


def test_restart_heartbeat_and_end_of_frame():
    reader = metratec({1: [A]})
    assert talk(reader, b"EOF\r") == b"OK!\r\n"
    assert talk(reader, b"INV\r").endswith(b"IVF 01\r\n")
    assert talk(reader, b"NEF\r") == b"OK!\r"
    assert lines(reader, "HBT 2") == ["OK!"]
    assert talk(reader, b"", 0, 5000 * MS) == b"HBT\r" * 2
    said = talk(reader, b"RST\r", 5000 * MS, 6000 * MS)
    assert said == b"OK!\rSRT\r"
    assert lines(reader, "INV", 7000 * MS) == ["RNW"]
    assert talk(reader, b"", 7000 * MS, 12_000 * MS) == b""


def test_power_trades_lone_chips_for_buried_ones():
    stack = [f"E0040150{n:08X}" for n in range(6)]

    def seen(power: int) -> tuple[float, float]:
        reader = metratec({1: stack}, noise=Noise(miss_lone=0.1, miss_buried=0.3, miss_together=0.0), seed=5)
        lines(reader, f"SET PWR {power}")
        runs = [set(lines(reader, "INV")) for _ in range(600)]
        return sum(stack[-1] in r for r in runs) / 600, sum(u in r for r in runs for u in stack[:-1]) / 3000

    weak, strong = seen(500), seen(4000)
    assert weak[0] > strong[0] + 0.05
    assert strong[1] > weak[1] + 0.1


# -- Pepper ---------------------------------------------------------------------------------------


def a_pepper(field: dict[int, list[str]], **how: object) -> PepperReader:
    return PepperReader(lambda a: field.get(a, []), antennas=8, **how)


def ask(reader: Reader, payload: str, now: int = 0) -> str:
    (answer,) = payloads(talk(reader, pepper(payload), now))
    return answer


def chain(reader: Reader, first: str = "90", then: str = "91") -> list[str]:
    """UIDs of a whole inventory."""
    out: list[str] = []
    answer = ask(reader, first)
    while answer.startswith("00"):
        assert answer[2:4] in ("90", "91")
        out.append(bytes.fromhex(answer[4:20])[::-1].hex().upper())
        if answer[-2:] == "00":
            return out
        answer = ask(reader, then)
    assert answer in ("ff900001", "ff910001"), answer
    return out


def test_inventory_by_antenna_with_the_more_flag():
    reader = a_pepper({1: [A], 2: [A, B, C], 8: []})
    assert chain(reader) == [A]
    assert ask(reader, "0f02") == "000f"
    assert sorted(chain(reader, "9000", "9100")) == sorted([A, B, C])
    assert ask(reader, "0f08") == "000f"
    assert ask(reader, "90") == "ff900001"
    assert ask(reader, "91") == "ff910001"
    assert ask(reader, "0f00") == ask(reader, "0f09") == "ff0f0021"


def test_stay_quiet_holds_until_the_antenna_or_the_field_is_switched():
    reader = a_pepper({1: [A, C], 2: []})
    assert ask(reader, "92") == "ff920025"
    first = bytes.fromhex(ask(reader, "90")[4:20])[::-1].hex().upper()
    assert ask(reader, "92") == "0092"
    assert chain(reader) == [u for u in (A, C) if u != first]
    assert ask(reader, "05") == "0005"
    assert len(chain(reader)) == 2
    ask(reader, "92")
    ask(reader, "0f02")
    ask(reader, "0f01")
    assert len(chain(reader)) == 2


def test_errors_version_tags_and_reboot():
    reader = a_pepper({1: [A, C]})
    assert bytes.fromhex(ask(reader, "0b")[4:]).rstrip(b"\0") == b"C1-MUX 1.30"
    assert ask(reader, "77") == "ff770024"
    assert ask(reader, "02") == "000202"
    assert {ask(reader, f"030{i}")[8:] for i in (0, 1)} == {bytes.fromhex(u)[::-1].hex() for u in (A, C)}
    assert ask(reader, "0302") == "ff030021"
    assert ask(a_pepper({1: [A]}, noise=Noise(rf_error=1.0)), "90") == "ff90000a"
    assert ask(a_pepper({1: [A]}, quirks=Quirks(error_low_first=True)), "77") == "ff772400"
    assert ask(a_pepper({1: [A]}, quirks=Quirks(afi_required=True)), "90") == "ff900021"
    assert ask(a_pepper({1: [A]}, quirks=Quirks(uid_msb_first=True)), "90")[4:20] == A.lower()
    half = a_pepper({1: [A, C]}, noise=Noise(rf_warning=1.0))
    assert ask(half, "90")[-2:] == "01"
    assert ask(half, "91") == "ff910002"
    assert ask(reader, "0a") == "000a"
    assert talk(reader, pepper("0b"), 100 * MS) == b""
    assert ask(reader, "0b", 700 * MS).startswith("000b")
    with pytest.raises(ValueError, match="use two readers"):
        PepperReader(lambda _: [], antennas=9)


def test_polling_says_each_new_tag_once():
    field = {1: [A]}
    reader = a_pepper(field)
    assert ask(reader, "0601") == "0006"
    said = payloads(talk(reader, b"", 0, 1000 * MS))
    assert said == ["fe2400" + bytes.fromhex(A)[::-1].hex()]
    field[1] = [A, C]
    assert payloads(talk(reader, b"", 1000 * MS, 1500 * MS)) == ["fe2400" + bytes.fromhex(C)[::-1].hex()]


def test_timing_is_the_table_and_the_rest_of_a_round_costs_one_command_each():
    reader = a_pepper({1: [f"E0040150{n:08X}" for n in range(10)]}, timing=Timing(real=True))
    reader.feed(pepper("90"), 0)
    assert reader.poll(82 * MS - 1) == b""
    assert reader.poll(82 * MS)
    reader.feed(pepper("91"), 82 * MS)
    assert reader.poll(83 * MS)
    reader.feed(pepper("0f02"), 83 * MS)
    assert (reader.poll(88 * MS - 1), bool(reader.poll(88 * MS))) == (b"", True)


@settings(max_examples=50, deadline=None)
@given(st.lists(st.binary(max_size=40), max_size=12))
def test_both_readers_survive_anything_and_then_answer(chunks):
    mux, ascii_ = a_pepper({1: [A]}), metratec({1: [A]})
    for n, chunk in enumerate(chunks):
        for reader in (mux, ascii_):
            talk(reader, chunk, n * MS, n * MS)
    # A stranger's length field may swallow up to 1029 bytes before the reader is itself again.
    late = 2000 * MS
    assert pepper("000b" + b"C1-MUX 1.30\0".hex()) in talk(mux, pepper("0b") * 130, late, late + 10_000 * MS)
    assert b"QUASARMX" in talk(ascii_, b"\rBRK\rCOF 4F5E\rREV\r", late, late + 1000 * MS)


# -- quirks ---------------------------------------------------------------------------------------


def test_every_quirk_is_in_the_table_and_names_are_checked():
    assert all(f"``{name}``" in (quirks.__doc__ or "") for name in NAMES)
    assert parse_quirks("late,twice") == Quirks(late=True, twice=True)
    with pytest.raises(UnknownQuirkError, match="no quirk 'lat'"):
        parse_quirks("lat")


@pytest.mark.parametrize("quirk", ["late", "wrong_echo", "twice"])
def test_rare_quirks_are_rare_and_seeded(quirk):
    def run(seed: int) -> list[bytes]:
        reader = a_pepper({1: [A]}, quirks=Quirks(**{quirk: True}), seed=seed)
        out = []
        for n in range(400):
            now = n * 1000 * MS
            reader.feed(pepper("90" if n % 2 else "0b"), now)
            out.append(reader.poll(now) + reader.poll(now + 900 * MS))
        return out if quirk != "late" else [reader.counts["late"].to_bytes(2, "big")]

    plain = a_pepper({1: [A]})
    usual = {plain_answer for p in ("90", "0b") for plain_answer in [talk(plain, pepper(p))]}
    assert run(1) == run(1)
    odd = [a for a in run(1) if a not in usual] if quirk != "late" else [b""] * int.from_bytes(run(1)[0], "big")
    assert 2 <= len(odd) <= 25
