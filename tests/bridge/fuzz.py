"""Fuzzing of every decoder and session with one set of laws; finds become cases of `test_fuzz.py`.

``python -m tests.bridge.fuzz_guided --minutes 3``     by coverage, with atheris (``pip install -e '.[fuzz]'``)
``python -m tests.bridge.fuzz --minutes 3 --seed 1``   seeded mutation of the same corpus, without atheris

A find is written to ``fuzz-find.bin`` and shown as a line that reproduces it:
``python -m tests.bridge.fuzz --repeat fuzz-find.bin``.
"""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from firmware_bridge.framing import feig, metratec, panel, pepper
from firmware_bridge.session.feig import FeigSession
from firmware_bridge.session.feig_buffer import FeigBufferSession
from firmware_bridge.session.inventory import read_batch, read_records
from firmware_bridge.session.metratec import AnswerDecoder, MetratecOptions, MetratecSession
from firmware_bridge.session.panel import PanelSession
from firmware_bridge.session.pepper import PepperOptions, PepperSession
from firmware_bridge.session.plan import FeigOptions
from firmware_bridge.wire import MAX_TAGS_PER_INVENTORY, CleanEmpty, DeviceId, DeviceLost, Present, Press
from tests.bridge import peers, peers_readers

READER = DeviceId("r")
MS = 1_000_000

DECODERS: tuple[tuple[Callable[[], Any], int], ...] = (
    (lambda: feig.FeigDecoder(replies=True), feig.MAX_FRAME),
    (lambda: feig.FeigDecoder(replies=False), feig.MAX_FRAME),
    (pepper.PepperDecoder, pepper.MAX_FRAME),
    (metratec.MetratecDecoder, metratec.MAX_LINE),
    (panel.PanelDecoder, panel.MAX_ENCODED),
    (AnswerDecoder, 1 << 15),
)
SESSIONS: tuple[Callable[[], Any], ...] = (
    lambda: FeigSession(READER, FeigOptions(antennas=(1, 2, 9))),
    lambda: FeigSession(READER, FeigOptions(antennas=(1,), multiplexer=False, lanes="ont")),
    lambda: FeigBufferSession(READER, FeigOptions(antennas=(1, 2), mode="buffered")),
    lambda: FeigBufferSession(READER, FeigOptions(antennas=(1, 2), mode="notify")),
    lambda: PepperSession(READER, PepperOptions(antennas=(1, 2))),
    lambda: PepperSession(READER, PepperOptions(antennas=(1,), lanes="quiet")),
    lambda: MetratecSession(READER, MetratecOptions(antennas=(1, 2))),
    lambda: MetratecSession(READER, MetratecOptions(antennas=(1,), lanes="ont")),
    lambda: PanelSession(READER),
)


def one_input(data: bytes) -> None:
    """The laws, on one input: the first two bytes choose what is fed and how it is cut."""
    if len(data) < 3:
        return
    kind, cut, stream = data[0] % (len(DECODERS) + len(SESSIONS)), 1 + data[1] % 70, data[2:]
    pieces = [stream[at : at + cut] for at in range(0, len(stream), cut)]
    if kind < len(DECODERS):
        _decoder_laws(*DECODERS[kind], stream, pieces)
        for reader in (read_batch, read_records):
            _records_laws(reader, stream)
    else:
        _session_laws(SESSIONS[kind - len(DECODERS)](), pieces)


def _decoder_laws(make: Callable[[], Any], bound: int, stream: bytes, pieces: list[bytes]) -> None:
    decoder = make()
    found = []
    for piece in pieces:
        found += decoder.feed(piece)
        assert decoder.fed == decoder.framed + decoder.garbage + decoder.pending, "a byte disappeared"
        assert 0 <= decoder.pending <= bound, "more is held than one frame"
    whole = make()
    assert whole.feed(stream) == found, "how it is cut makes a difference"
    found_more = decoder.gap()
    assert decoder.fed == decoder.framed + decoder.garbage + decoder.pending
    for frame in (*found, *found_more):
        if isinstance(frame, feig.FeigFrame):
            again = feig.encode(frame.command, frame.payload, address=frame.address, advanced=frame.advanced)
            assert again in stream, "a frame that was not there"
        elif isinstance(frame, pepper.PepperFrame):
            assert pepper.encode(frame.payload[0], frame.payload[1:]) in stream
        elif isinstance(frame, str):
            assert frame.encode("ascii") in stream


def _records_laws(reader: Callable[..., Any], stream: bytes) -> None:
    read = reader(stream[0], stream[1:]) if reader is read_batch else reader(stream)
    names = read.uids if hasattr(read, "uids") else tuple(r.uid for r in read.records)
    assert not (read.fault and names), "a fault and tags at once"
    assert all(len(uid) == 16 for uid in names)


def _session_laws(session: Any, pieces: list[bytes]) -> None:
    """Answers invented by a stranger: no exception, no endless talk, no tag beyond the bound, never asleep for ever."""
    now = 1000 * MS
    session.start(now)
    closed = False
    for n, piece in enumerate(pieces):
        now += MS
        found = session.receive(piece, now)
        wake = session.next_wake_ns
        if n % 5 == 4 and wake is not None:
            now = max(now, wake)
            found = [*found, *session.wake(now)]
        said = session.outgoing()
        assert len(said) <= 4096, "it talks more than a port takes"
        for observation in found:
            assert observation.span.latest_ns <= now
            if isinstance(observation, Present):
                assert len(observation.tags) <= MAX_TAGS_PER_INVENTORY
                assert observation.antenna in session.member.antennas
                assert not (observation.complete and observation.quiet)
            elif isinstance(observation, CleanEmpty):
                assert observation.antenna in session.member.antennas
            elif isinstance(observation, Press):
                session.acknowledge(observation)
            closed |= isinstance(observation, DeviceLost)
        if closed:
            assert session.next_wake_ns is None
            return
        assert session.next_wake_ns is not None, "it sleeps for ever"


def corpus() -> list[bytes]:
    """Whole frames of every protocol, good and bad, and what a reader of each make answers in its first second."""
    uid = "E0040150A05F02B7"
    frames = [
        peers.feig_reply(0x65, 0, peers.HELLO_DATA),
        peers.feig_reply(0xB0, 0x94, peers.records(uid)),
        peers.feig_reply(0xB0, 1),
        peers.feig_reply(0x22, 0, bytes.fromhex("3100010012030008" + uid + "0000000502"), advanced=True),
        feig.encode(0xB0, b"\x01\x00"),
        peers_readers.pepper_frame(b"\x00\x90" + bytes.fromhex(uid)[::-1] + b"\x00\x01"),
        peers_readers.pepper_frame(b"\xff\x90\x00\x01"),
        f"{uid}\rARP 01\rIVF 01\r".encode(),
        b"TDT\r0011112222B7DD\rCOK\rNCL\rSRT\r",
        peers.panel_frame(1, peers.hello_payload()),
        peers.panel_frame(3, peers.press_payload(1, 5)),
    ]
    seeds = [bytes((kind, 63)) + frame for frame in frames for kind in range(len(DECODERS) + len(SESSIONS))]
    simulated: list[tuple[int, Any]] = [
        (0, peers.FeigReader({1: [uid]})),
        (1, peers.FeigReader({0: [uid]})),
        (4, peers_readers.PepperReader({1: [uid]})),
        (5, peers_readers.PepperReader({1: [uid]})),
        (6, peers_readers.MetratecReader({1: [uid]}, ports=4)),
        (7, peers_readers.MetratecReader({1: [uid]})),
        (8, peers.Panel(now_us=lambda: 5)),
    ]
    for index, reader in simulated:
        session, now, said = SESSIONS[index](), 0, b""
        session.start(now)
        for _ in range(20):
            reply = reader.feed(session.outgoing())
            said += reply
            now += MS
            session.receive(reply, now)
        seeds.append(bytes((len(DECODERS) + index, 30)) + said)
    return seeds


def mutate(chance: random.Random, seeds: list[bytes]) -> bytes:
    """One to six changes of a seed: flips, cuts, repeats, splices, interesting bytes."""
    data = bytearray(chance.choice(seeds))
    for _ in range(chance.randint(1, 6)):
        at = chance.randrange(len(data)) if data else 0
        match chance.randrange(6):
            case 0 if data:
                data[at] ^= 1 << chance.randrange(8)
            case 1:
                del data[at : at + chance.randrange(1, 9)]
            case 2:
                data[at:at] = data[at : at + chance.randrange(1, 40)] * chance.randrange(1, 5)
            case 3:
                other = chance.choice(seeds)
                data[at:at] = other[chance.randrange(len(other)) :]
            case 4:
                data[at:at] = bytes(chance.choice((0x00, 0x02, 0x0D, 0xF5, 0xFF, 0xE0)) for _ in range(3))
            case _:
                data[at:at] = chance.randbytes(chance.randrange(1, 20))
    return bytes(data[:6000])


def seeded(seconds: float, seed: int) -> int:
    """Mutates the corpus for so long; returns how many inputs were tried, or raises what one of them found."""
    chance, seeds, runs = random.Random(seed), corpus(), 0
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        data = mutate(chance, seeds)
        try:
            one_input(data)
        except Exception:
            Path("fuzz-find.bin").write_bytes(data)
            print(f"after {runs} inputs, seed {seed}: python -m tests.bridge.fuzz --repeat fuzz-find.bin")
            raise
        runs += 1
    print(f"{runs} inputs in {seconds:.0f} s, seed {seed}: nothing found")
    return runs


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.bridge.fuzz", description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=float, default=3.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--repeat", type=Path, help="run one find again")
    chosen = parser.parse_args()
    if chosen.repeat is not None:
        one_input(chosen.repeat.read_bytes())
        print("nothing found")
    else:
        seeded(chosen.minutes * 60, chosen.seed)


if __name__ == "__main__":
    main()
