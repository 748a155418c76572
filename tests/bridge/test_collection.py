"""The shared collection of frames that nobody here invented: each decoded and said again, or named as not ours.

155 frames of 15 protocols; 50 of them are of protocols that there is a driver for (FEIG 40, Pepper 6, metraTec 4).
"""

from __future__ import annotations

import collections
from collections.abc import Callable
from typing import Any

import pytest

from firmware_bridge.framing import feig, metratec, pepper
from tests.bridge.peers import shared_frames

Frame = dict[str, Any]

NOT_OURS = {
    "3m810": "library pads for books, out of production",
    "acr122-ccid": "reads one tag, by PC/SC",
    "ash": "a radio dongle's frames, here as an example of a link protocol",
    "chafon-uhf": "UHF: optional, for chip trays",
    "iso15693-air": "what reader and tag say over the air; no port has it",
    "llrp": "UHF readers of warehouses",
    "pn532-hsu": "reads one or two tags of ISO 14443",
    "r200": "UHF modules without antenna ports",
    "thingmagic": "UHF: optional, for chip trays",
    "yhy-aadd": "reads one tag",
    "yrm100": "UHF modules without antenna ports",
}
"""Protocols without a driver here, and why."""


def through_feig(frame: Frame, raw: bytes) -> bytes | None:
    """Decoded and encoded again; None if it is refused."""
    decoder = feig.FeigDecoder(replies=frame["direction"] == "reader>host")
    found = decoder.feed(raw) + decoder.gap()
    if not found:
        assert decoder.garbage == len(raw)
        return None
    (one,) = found
    assert decoder.garbage == 0
    assert one.advanced == (frame["protocol"] == "feig-adv")
    return feig.encode(one.command, one.payload, address=one.address, advanced=one.advanced)


def through_pepper(_frame: Frame, raw: bytes) -> bytes | None:
    decoder = pepper.PepperDecoder()
    (one,) = decoder.feed(raw) + decoder.gap()
    for broken in (raw[:-1] + bytes((raw[-1] ^ 1,)), raw[:1] + bytes((raw[1] ^ 1,)) + raw[2:]):
        worse = pepper.PepperDecoder()
        assert worse.feed(broken) + worse.gap() == []
        assert worse.garbage == len(raw)
    return pepper.encode(one.payload[0], one.payload[1:])


def through_metratec(frame: Frame, raw: bytes) -> bytes | None:
    if frame["direction"] == "reader>host":
        decoder = metratec.MetratecDecoder()
        lines = decoder.feed(raw)
        assert (decoder.garbage, decoder.pending) == (0, 0)
        return b"".join(line.encode("ascii") + metratec.CR for line in lines)
    command = raw.decode("ascii").removesuffix("\r").rpartition(" ")[0]
    return metratec.encode(command, checksum=True)


OURS: dict[str, tuple[int, Callable[[Frame, bytes], bytes | None]]] = {
    "feig-adv": (26, through_feig),
    "feig-std": (14, through_feig),
    "metratec-ascii": (4, through_metratec),
    "pepper-c1": (6, through_pepper),
}
"""Frames in the collection, and the way through our decoder and encoder."""


@pytest.mark.parametrize("protocol", list(OURS))
def test_each_frame_of_our_protocols_both_ways_byte_for_byte(protocol: str) -> None:
    count, through = OURS[protocol]
    frames = shared_frames(protocol)
    assert len(frames) >= count
    for frame in frames:
        raw = bytes.fromhex(frame["hex"])
        assert through(frame, raw) == (raw if frame["checksum_ok"] else None), frame


def test_every_frame_of_the_collection_is_ours_or_named() -> None:
    counts = collections.Counter(frame["protocol"] for frame in shared_frames(""))
    assert set(counts) == {*OURS, *NOT_OURS}
    assert counts.total() == 155
    assert sum(counts[name] for name in OURS) == 50
