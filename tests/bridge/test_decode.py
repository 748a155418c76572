"""``bridge decode`` over every published frame, and over captures where frames and garbage stand mixed."""

from __future__ import annotations

import re
from typing import Any

import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

from firmware_bridge.cli import main
from firmware_bridge.cli.captures import Piece, walk
from firmware_bridge.cli.decode import PROTOCOLS, best
from firmware_bridge.framing.decoder import Decoder
from firmware_bridge.framing.pepper import PepperDecoder
from tests.bridge.peers import feig_reply, panel_frame, records, shared_frames
from tests.bridge.peers_readers import pepper_frame

OURS = {"feig-std": "feig", "feig-adv": "feig", "pepper-c1": "pepper", "metratec-ascii": "metratec"}
BOTH_WAYS = {"0200080066807350"}
"""Published frames that nothing in them says the direction of: a question at address 00, and a known refusal."""
LIKELY = {"02000aff2b0000ff89eb", "02000aff2b00ffff4914", "06ff52000f6e", "020008ff52004ac3", "06ff6a006d16"} | {
    "020008ff6a0028bb"
}
"""The same, at the address FF that hosts use."""
SAID = {
    "ICODE_INVENTORY_START": "ICODE inventory start",
    "inventory reply: 2 UIDs": "UID",
    "request reply: tag data": "a tag's data follow",
    "CRC mode off": "checksums off",
    "wake up": "wake up, checksum good",
    "Inventory MORE": "inventory 01 80",
    "RF off": "RF output",
    "RF on": "RF output",
    "Select": "ISO command",
    "T=CL response": "ISO 14443 command",
    "read data-buffer records": "read data buffer",
    "read last record": "read data buffer",
    "status 83 RF": "83 RF error",
    "status 01 No Transponder": "01 no tag",
    "status 0x84 RF-Warning": "84 RF warning",
    "Read Configuration block 7": "block 7",
}
"""What a published meaning says, and the words that must stand in our line."""


def raw_lines(*words: str) -> tuple[int, list[str]]:
    result = CliRunner().invoke(main, ["decode", *words])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    lines = result.output.splitlines()
    assert all(len(line) <= 100 for line in lines)
    return result.exit_code, lines


def decode(*words: str) -> tuple[int, str]:
    """Status, and the text in one line."""
    status, lines = raw_lines(*words)
    return status, " ".join(" ".join(lines).split())


def ways(text: str) -> list[str]:
    """Directions in the order of the lines; both for one that is open."""
    found = (re.match(r"(?: *\d+ +\d+  | {18})(host|reader) ", line) for line in raw_lines(text)[1])
    return [match[1] for match in found if match]


def test_every_published_frame_of_ours_says_its_protocol_direction_and_meaning() -> None:
    told = 0
    for protocol, name in OURS.items():
        for frame in shared_frames(protocol):
            status, out = decode(frame["hex"])
            assert f"bytes as {name} " in out, frame
            assert status == (0 if frame["checksum_ok"] else 1), frame
            if frame["checksum_ok"]:
                check_direction(frame, out)
                check_meaning(frame, out)
            else:
                assert "0 frames" in out
                truncated = "truncated" in frame["meaning"]
                assert ("unfinished frame" if truncated else "with checksum") in out, out
            told += 1
    assert told == 50


def check_direction(frame: dict[str, Any], out: str) -> None:
    right = frame["direction"].partition(">")[0]
    if frame["hex"] in BOTH_WAYS | LIKELY:
        assert ways(frame["hex"]) == ["host", "reader"]
        assert ("likelier a question" in out) == (frame["hex"] in LIKELY)
        assert right == "host"
    else:
        assert set(ways(frame["hex"])) == {right}, out


def check_meaning(frame: dict[str, Any], out: str) -> None:
    meaning = frame["meaning"]
    for code in re.findall(r"\[0x([0-9A-F]{2})\]", meaning)[:1]:
        assert f"[{code}]" in out, frame
    for uid in re.findall(r"UID ([0-9A-F]{16})", meaning):
        assert uid in out, frame
    due = [said for part, said in SAID.items() if part in meaning]
    if not due:
        named = re.search(r"\[0x..\](?:\[0x..\])? ([A-Za-z -]+)|^([A-Z_]+)|^(Inventory)", meaning)
        assert named is not None, meaning
        if "response" not in named[0]:
            name = next(n for n in named.groups() if n).strip().replace("_", " ").lower()
            due = [" ".join(word for word in name.split() if word not in ("index", "on", "response"))]
    assert all(said.lower() in out.lower() for said in due), (meaning, out)


def test_no_published_frame_of_another_protocol_is_taken_for_one_of_ours() -> None:
    frames = [f for f in shared_frames("") if f["protocol"] not in OURS]
    assert len(frames) == 105
    for frame in frames:
        status, out = decode(frame["hex"])
        assert (status, "0 frames" in out) == (1, True), frame


def test_all_frames_of_a_protocol_in_one_capture_stand_where_they_were_put() -> None:
    for name in ("feig", "pepper"):
        kinds = [p for p, n in OURS.items() if n == name]
        frames = [bytes.fromhex(f["hex"]) for p in kinds for f in shared_frames(p) if f["checksum_ok"]]
        noise = (b"", b"\xff", b"\xaa\xbb\xcc", b"\x02\x00")
        capture, due = b"", []
        for n, raw in enumerate(frames):
            capture += noise[n % len(noise)]
            due.append((len(capture), len(raw)))
            capture += raw
        protocol = next(p for p in PROTOCOLS if p.name == name)
        assert best(capture) == protocol
        _, pieces = protocol.pieces(capture)
        assert [(p.at, p.size) for p in pieces if p.frame is not None] == due
        assert all(p.exact for p in pieces)
        assert sum(p.size for p in pieces) == len(capture)


WIRES: dict[str, list[bytes]] = {
    "feig": [feig_reply(0xB0, 0, records("E0040150A05F02B7")), feig_reply(0xB0, 1), bytes.fromhex("07ffb001001c56")],
    "panel": [panel_frame(2, b"\x01\x00"), panel_frame(0x44), panel_frame(0x83, b"\x05\0\0\0")],
    "pepper": [bytes.fromhex("f50300fcff0b9b50"), bytes.fromhex("f50400fbff0f01101d")],
    "metratec": [b"INV\r", b"E0040150954F02B1\r", b"IVF 01\r", b"COF 4F5E\r"],
}


@pytest.mark.parametrize("name", WIRES)
def test_every_byte_of_a_capture_is_told_once_and_in_order(name: str) -> None:
    protocol = next(p for p in PROTOCOLS if p.name == name)

    @settings(max_examples=120, deadline=None, database=None)
    @given(st.lists(st.one_of(st.sampled_from(WIRES[name]), st.binary(max_size=40)), max_size=12))
    def holds(parts: list[bytes]) -> None:
        data = b"".join(parts)
        decoder, pieces = protocol.pieces(data)
        at = 0
        for piece in pieces:
            assert piece.at >= at
            assert set(data[at : piece.at]) <= set(protocol.delimiter) | {10}, "between pieces stand blanks only"
            at = piece.at + piece.size
            if piece.frame is not None:
                _alone, again = protocol.pieces(data[piece.at : at])
                assert [p.frame for p in again if p.frame is not None] == [piece.frame] or name == "metratec"
        assert at <= len(data)
        assert sum(p.frame is not None for p in pieces) == decoder.frames

    holds()


def test_a_frame_behind_a_false_head_and_a_frame_cut_short() -> None:
    good, cut = WIRES["feig"][0], WIRES["feig"][0][:9]
    _, out = decode((b"\x40\x00" + good + b"\x55" + cut).hex())
    assert "0 2 none 40 00 2 17 reader [B0]" in out
    assert "1 tag E0040150A05F02B7" in out
    assert "19 10 none 55 11 00 b0" in out, "what follows a stray byte is not believed to be a head"
    _, out = decode((good + cut).hex())
    assert "17 9 cut 11 00 b0 00 01 03 00 e0 04" in out
    assert "of 17 bytes, of which 9 came" in out
    assert "9 bytes of an unfinished frame" in out


def test_a_question_just_before_tells_the_direction() -> None:
    off = bytes.fromhex("06ff6a006d16")
    answered = feig_reply(0x6A, 0)
    _, out = decode((off + answered + answered).hex())
    assert "may be a question or an answer; likelier a question, for hosts address FF" in out
    assert "reader [6A] RF output adr 00 00 ok (answers the one before)" in out
    assert out.count("may be a question or an answer:") == 1, "a second answer in a row has no question"


def test_records_of_a_readers_table_and_a_peppers_tag_are_named() -> None:
    record = b"\x03\x00\x08" + bytes.fromhex("E0040150A05F02B7") + b"\x04"
    size = (len(record) + 2).to_bytes(2, "big")
    _, out = decode(feig_reply(0x22, 0, b"\x11\x00\x01" + size + record).hex())
    assert "1 data set E0040150A05F02B7 at antenna 4" in out
    payload = b"\x00\x90" + bytes.fromhex("E0040150A05F02B7")[::-1] + b"\x00\x01"
    _, out = decode(pepper_frame(payload).hex())
    assert "reader ack ICODE inventory start UID E0040150A05F02B7, more follow" in out


class ByteByByte:
    """A third party's decoder: no more than the contract."""

    def __init__(self) -> None:
        self._inner: Decoder[Any] = PepperDecoder()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)


def test_a_decoder_that_is_not_ours_gives_places_too_and_says_where_it_cannot() -> None:
    one, two = WIRES["pepper"]
    assert list(walk(ByteByByte(), b"\x01\x02" + one + two + b"\xf5")) == [
        Piece(0, 2),
        Piece(2, len(one), PepperDecoder().feed(one)[0]),
        Piece(2 + len(one), len(two), PepperDecoder().feed(two)[0]),
        Piece(2 + len(one) + len(two), 1),
    ]
    false = b"\xf5\x20\x00\xdf\xff" + one + bytes(40)
    (piece, *rest) = walk(ByteByByte(), false)
    assert (piece.exact, piece.frame, rest[-1].frame) == (False, PepperDecoder().feed(one)[0], None)
