"""Both decoders through the conformance kit, and frames that nobody here invented."""

from __future__ import annotations

from typing import ClassVar

import pytest

from firmware_bridge.conformance import DecoderConformance, Sample
from firmware_bridge.framing import feig, panel
from firmware_bridge.framing.feig import FeigDecoder, FeigFrame
from firmware_bridge.framing.panel import PanelDecoder, PanelFrame
from tests.bridge.peers import crc16, feig_reply, hello_payload, panel_frame, press_payload, records

METRATEC = b"INV\rE0040150A05F02B7\rIVF 01\r"
PEPPER = bytes.fromhex("f50300fcff0b4e5a")
UIDS = tuple(f"E00401500000{n:04X}" for n in range(30))


class TestFeigReplies(DecoderConformance):
    samples: ClassVar[list[Sample]] = [
        (
            bytes.fromhex("0d00650003030044530d303309"),
            FeigFrame(0, 0x65, bytes.fromhex("0003030044530d30")),
        ),
        (
            bytes.fromhex("02000f00650003030044530d307469"),
            FeigFrame(0, 0x65, bytes.fromhex("0003030044530d30"), advanced=True),
        ),
        (
            bytes.fromhex("1100b000010300e0040150a05f02b7d7be"),
            FeigFrame(0, 0xB0, bytes.fromhex("00010300e0040150a05f02b7")),
        ),
        (
            feig_reply(0xB0, 0, records(*UIDS)),
            FeigFrame(0, 0xB0, b"\x00" + records(*UIDS), advanced=True),
        ),
        (bytes.fromhex("0600b0015c63"), FeigFrame(0, 0xB0, b"\x01")),
    ]
    foreign: ClassVar[list[bytes]] = [METRATEC, PEPPER, bytes.fromhex("05ff65e5cb"), panel_frame(2, b"\x00\x00")]
    oversize: ClassVar[bytes] = b"\x02\x10\x01" + bytes(4094)
    bound: ClassVar[int] = feig.MAX_FRAME

    def make(self) -> FeigDecoder:
        return FeigDecoder()


class TestFeigRequests(DecoderConformance):
    samples: ClassVar[list[Sample]] = [
        (bytes.fromhex("05ff65e5cb"), FeigFrame(0xFF, 0x65, b"")),
        (bytes.fromhex("07ffb001001c56"), FeigFrame(0xFF, 0xB0, b"\x01\x00")),
        (bytes.fromhex("020009ffb001001843"), FeigFrame(0xFF, 0xB0, b"\x01\x00", advanced=True)),
    ]
    foreign: ClassVar[list[bytes]] = [METRATEC, PEPPER]
    # Not of zeros: FF FF and zeros are a valid checksum by the CRC's own arithmetic.
    oversize: ClassVar[bytes] = b"\x02\xff\xff" + bytes(n % 251 for n in range(300))
    bound: ClassVar[int] = feig.MAX_FRAME

    def make(self) -> FeigDecoder:
        return FeigDecoder(replies=False)


class TestPanel(DecoderConformance):
    samples: ClassVar[list[Sample]] = [
        (panel_frame(1, hello_payload(), us=7), PanelFrame(1, 1, 7, 0xB007, hello_payload())),
        (panel_frame(2, b"\x00\x00", seq=2, us=1 << 31), PanelFrame(2, 2, 1 << 31, 0xB007, b"\x00\x00")),
        (
            panel_frame(3, press_payload(1, 5, amount=1000), seq=0xFFFF, boot=0xFFFFFFFF),
            PanelFrame(3, 0xFFFF, 0, 0xFFFFFFFF, press_payload(1, 5, amount=1000)),
        ),
        (panel_frame(4, b"\x01\x02\x03\x04"), PanelFrame(4, 1, 0, 0xB007, b"\x01\x02\x03\x04")),
    ]
    foreign: ClassVar[list[bytes]] = [
        METRATEC,
        PEPPER,
        bytes.fromhex("0d00650003030044530d303309"),
        panel_frame(2, b"\x00\x00", ver=2),
    ]
    oversize: ClassVar[bytes] = b"\x01" * 300 + b"\x00"
    separator: ClassVar[bytes] = b"\x00"
    bound: ClassVar[int] = panel.MAX_ENCODED

    def make(self) -> PanelDecoder:
        return PanelDecoder()


@pytest.mark.parametrize(
    ("command", "data", "standard", "advanced"),
    [
        (0x65, "", "05ff65e5cb", "020007ff656e61"),
        (0x69, "", "05ff698901", "020007ff6902ab"),
        (0xB0, "0100", "07ffb001001c56", "020009ffb001001843"),
        (0xB0, "0180", "07ffb0018014d2", "020009ffb0018010c7"),
        (0x6A, "00", "06ff6a006d16", "020008ff6a0028bb"),
    ],
)
def test_feig_requests_byte_for_byte(command: int, data: str, standard: str, advanced: str) -> None:
    assert feig.encode(command, bytes.fromhex(data)).hex() == standard
    assert feig.encode(command, bytes.fromhex(data), advanced=True).hex() == advanced


def test_feig_channel_select_is_the_documented_frame() -> None:
    body = bytes.fromhex("08ffdd000300")
    assert feig.encode(0xDD, b"\x00\x03\x00") == body + crc16(body)


def test_feig_encoder_turns_to_the_advanced_form_by_itself() -> None:
    assert feig.encode(0xB0, bytes(250))[0] == 255
    assert feig.encode(0xB0, bytes(251))[:3] == b"\x02\x01\x02"
    with pytest.raises(ValueError, match="longer than"):
        feig.encode(0xB0, bytes(5000))
    with pytest.raises(ValueError, match="one byte each"):
        feig.encode(256)


def test_feig_false_head_holds_nothing_back_after_a_gap() -> None:
    decoder = FeigDecoder()
    assert decoder.feed(b"\xf0" + bytes.fromhex("0600b0015c63")) == []
    assert decoder.pending == 7
    assert decoder.gap() == [FeigFrame(0, 0xB0, b"\x01")]
    assert (decoder.pending, decoder.garbage) == (0, 1)


def test_panel_encoder_against_the_independent_one() -> None:
    for n in range(0, 200, 7):
        payload = bytes(range(n))
        assert panel.encode(PanelFrame(0x83, 9, 0, 0xB007, payload)) == panel_frame(0x83, payload, seq=9)
    with pytest.raises(ValueError, match="longer than"):
        panel.encode(PanelFrame(0x83, 9, 0, 0xB007, bytes(260)))


def test_panel_other_version_is_counted() -> None:
    decoder = PanelDecoder()
    assert decoder.feed(panel_frame(2, b"\x00\x00", ver=2)) == []
    assert (decoder.refused, decoder.other_version) == (1, 1)


def test_panel_empty_frames_are_ignored() -> None:
    decoder = PanelDecoder()
    assert decoder.feed(b"\x00\x00\x00") == []
    assert (decoder.refused, decoder.garbage, decoder.framed) == (0, 0, 3)


def test_panel_payloads_of_wrong_size_are_refused_by_name() -> None:
    for reader, good in ((panel.read_press, 21), (panel.read_heartbeat, 2), (panel.read_token, 4)):
        for size in (0, good - 1, good + 1):
            with pytest.raises(panel.BadPayloadError):
                reader(bytes(size))
    for size in (5, 31):
        with pytest.raises(panel.BadPayloadError):
            panel.read_hello(bytes(size))
    assert panel.read_hello(hello_payload(model=b"a\x00\x1b[2J\xff")).model == "a??[2J?"
