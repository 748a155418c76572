"""Pepper and metraTec decoders through the conformance kit, and frames that nobody here invented."""

from __future__ import annotations

from typing import ClassVar

import pytest

from firmware_bridge.conformance import DecoderConformance, Sample
from firmware_bridge.framing import metratec, pepper
from firmware_bridge.framing.metratec import MetratecDecoder
from firmware_bridge.framing.pepper import PepperDecoder, PepperFrame
from tests.bridge.peers import feig_reply, panel_frame
from tests.bridge.peers_readers import ccitt, pepper_frame

UID = bytes.fromhex("e0040150a05f02b7")
FEIG = bytes.fromhex("1100b000010300e0040150a05f02b7d7be")


class TestPepper(DecoderConformance):
    samples: ClassVar[list[Sample]] = [
        (pepper_frame(b"\x00\x90" + UID[::-1] + b"\x00\x01"), PepperFrame(b"\x00\x90" + UID[::-1] + b"\x00\x01")),
        (bytes.fromhex("f50300fcff0b9b50"), PepperFrame(b"\x0b")),
        (bytes.fromhex("f50400fbff0f01101d"), PepperFrame(b"\x0f\x01")),
        (pepper_frame(b"\xff\x90\x01\x00"), PepperFrame(b"\xff\x90\x01\x00")),
        (pepper_frame(b"\xfe" + b"\xf5" * 40), PepperFrame(b"\xfe" + b"\xf5" * 40)),
    ]
    foreign: ClassVar[list[bytes]] = [FEIG, b"E0040150A05F02B7\rIVF 01\r", panel_frame(2, b"\x00\x00")]
    oversize: ClassVar[bytes] = b"\xf5\x03\x04\xfc\xfb" + bytes(n % 251 for n in range(1027))
    bound: ClassVar[int] = pepper.MAX_FRAME

    def make(self) -> PepperDecoder:
        return PepperDecoder()


class TestMetratec(DecoderConformance):
    samples: ClassVar[list[Sample]] = [
        (b"E0040150954F02B1\r", "E0040150954F02B1"),
        (b"ARP 12\r", "ARP 12"),
        (b"IVF 02\r", "IVF 02"),
        (b"OK!\r", "OK!"),
        (b"DESKID_ISO      0312\r", "DESKID_ISO      0312"),
    ]
    foreign: ClassVar[list[bytes]] = [FEIG, bytes.fromhex("f50300fcff0b9b50"), feig_reply(0xB0, 1)]
    oversize: ClassVar[bytes] = b"0123456789ABCDEF" * 20 + b"\r"
    separator: ClassVar[bytes] = b"\r"
    bound: ClassVar[int] = metratec.MAX_LINE
    checked: ClassVar[bool] = False

    def make(self) -> MetratecDecoder:
        return MetratecDecoder()


def test_metratec_data_stands_only_behind_its_word() -> None:
    decoder = MetratecDecoder()
    assert decoder.feed(b"0011112222B7DD\r") == []
    assert decoder.feed(b"TDT\r0011112222B7DD\rCOK\r0011\r") == ["TDT", "0011112222B7DD", "COK"]
    assert decoder.refused == 2


def test_metratec_end_of_frame_is_no_line() -> None:
    decoder = MetratecDecoder()
    assert decoder.feed(b"IVF 00\r\nOK!\r\n\r\n") == ["IVF 00", "OK!"]
    assert decoder.garbage == 0


def test_metratec_shows_what_it_did_not_understand() -> None:
    decoder = MetratecDecoder()
    assert decoder.feed(b"XYZ\rHBT\r") == ["HBT"]
    assert (decoder.refused, decoder.last_refused) == (1, b"XYZ")


@pytest.mark.parametrize("command", ["", "INV\rBRK", "INV " * 80, "ÅÄÖ"])
def test_metratec_encoder_refuses_what_is_no_command(command: str) -> None:
    with pytest.raises(ValueError, match="is no metraTec command"):
        metratec.encode(command)


def test_pepper_encoder_is_bounded() -> None:
    assert len(pepper.encode(0x90, bytes(pepper.MAX_PAYLOAD - 1))) == pepper.MAX_FRAME
    for command, data in ((0x90, bytes(pepper.MAX_PAYLOAD)), (256, b"")):
        with pytest.raises(ValueError, match="Pepper command"):
            pepper.encode(command, data)


def test_the_witness_checksum_is_the_published_one() -> None:
    assert ccitt(b"123456789") == 0x29B1
