"""One conformance kit for every decoder: subclass `DecoderConformance`, give samples, inherit the tests.

A decoder passes when it finds the frames whatever is around them, keeps its four numbers true at
every byte, and stays within its bound whatever is sent to it.
"""

from __future__ import annotations

from typing import Any, ClassVar

from hypothesis import example, given, settings
from hypothesis import strategies as st

from firmware_bridge.framing.decoder import Decoder

Sample = tuple[bytes, Any]
"""A frame as it stands on the wire (with its delimiters) and what the decoder makes of it."""


def check_books(decoder: Decoder[Any], bound: int) -> None:
    """No byte disappears, and no more than ``bound`` are held."""
    assert decoder.fed == decoder.framed + decoder.garbage + decoder.pending
    assert 0 <= decoder.pending <= bound


class DecoderConformance:
    """Subclass as ``Test…`` and fill in the samples."""

    samples: ClassVar[list[Sample]]
    """At least three different frames."""
    foreign: ClassVar[list[bytes]]
    """Whole frames of other protocols, or of the other direction."""
    oversize: ClassVar[bytes]
    """A frame that claims or has more bytes than are allowed, otherwise well formed."""
    separator: ClassVar[bytes] = b""
    """What a receiver may see between a broken frame and the next good one (a delimiter, or nothing)."""
    bound: ClassVar[int]
    """Most bytes the decoder may hold."""
    checked: ClassVar[bool] = True
    """Whether a frame carries a checksum.  Without one a flip may make another frame of a right shape."""

    def make(self) -> Decoder[Any]:
        raise NotImplementedError

    def decode(self, *pieces: bytes) -> tuple[list[Any], Decoder[Any]]:
        """Frames in ``pieces`` and, after the line fell silent, behind them."""
        decoder = self.make()
        found: list[Any] = []
        for piece in pieces:
            found += decoder.feed(piece)
            check_books(decoder, self.bound)
        found += decoder.gap()
        check_books(decoder, self.bound)
        return found, decoder

    def test_each_sample_whole(self) -> None:
        assert len(self.samples) >= 3
        for wire, frame in self.samples:
            found, decoder = self.decode(wire)
            assert found == [frame]
            assert (decoder.framed, decoder.garbage, decoder.frames) == (len(wire), 0, 1)

    def test_a_frame_needs_no_gap(self) -> None:
        for wire, frame in self.samples:
            assert self.make().feed(wire) == [frame]

    def test_byte_at_a_time(self) -> None:
        stream = b"".join(wire for wire, _ in self.samples)
        found, decoder = self.decode(*(bytes((b,)) for b in stream))
        assert found == [frame for _, frame in self.samples]
        assert decoder.garbage == 0

    def test_every_split_in_two(self) -> None:
        (wire, frame), (wire2, frame2), *_ = self.samples
        stream = wire + wire2
        for cut in range(len(stream) + 1):
            assert self.decode(stream[:cut], stream[cut:])[0] == [frame, frame2]

    def test_glued(self) -> None:
        stream = b"".join(wire for wire, _ in self.samples)
        assert self.decode(stream)[0] == [frame for _, frame in self.samples]

    def test_garbage_before(self) -> None:
        wire, frame = self.samples[0]
        for garbage in (b"\xff", b"\x55" * 7, b"\x00\xfe\x01", b"\x02", b"\x02\x00", bytes(range(256))):
            found, decoder = self.decode(garbage + self.separator + wire)
            assert found == [frame]
            assert decoder.garbage >= len(garbage.strip(b"\x00")) - 1

    def test_truncated_anywhere_then_a_good_one(self) -> None:
        for wire, _ in self.samples:
            good_wire, good = self.samples[-1]
            for cut in range(1, len(wire.rstrip(self.separator or b""))):
                stream = wire[:cut] + self.separator + good_wire
                if stream.startswith(wire):
                    continue  # the good one's first byte happens to be the missing one
                found, decoder = self.decode(stream)
                assert found == [good]
                assert decoder.garbage == cut

    def test_truncated_alone_is_no_frame(self) -> None:
        for wire, _ in self.samples:
            for cut in range(len(wire) - 1):
                assert self.decode(wire[:cut])[0] == []

    def test_foreign_first(self) -> None:
        wire, frame = self.samples[0]
        for other in self.foreign:
            found, decoder = self.decode(other + self.separator + wire)
            assert found == [frame]
            assert decoder.garbage > 0

    def test_oversize_then_a_good_one(self) -> None:
        wire, frame = self.samples[0]
        found, decoder = self.decode(self.oversize + self.separator + wire)
        assert found[-1:] == [frame]
        assert self.decode(self.oversize)[0] == []
        assert decoder.garbage > 0

    def test_every_bit_flip_is_refused_and_costs_only_its_frame(self) -> None:
        good_wire, good = self.samples[1]
        for wire, _ in self.samples:
            body = len(wire) - len(self.separator)
            for bit in range(8 * body):
                broken = bytearray(wire)
                broken[bit // 8] ^= 1 << bit % 8
                found, _ = self.decode(bytes(broken) + good_wire)
                if not self.checked and len(found) == 2:
                    assert found[0] not in [frame for w, frame in self.samples if w == wire]
                    found = found[1:]
                assert found == [good], f"bit {bit} of {wire.hex()}"

    def test_one_bad_frame_between_many_good(self) -> None:
        bad = bytearray(self.samples[0][0])
        bad[len(bad) // 2] ^= 0x10
        stream = b"".join(w for w, _ in self.samples) + bytes(bad) + b"".join(w for w, _ in self.samples)
        assert self.decode(stream)[0] == [frame for _, frame in self.samples] * 2

    # The properties are made anew for each subclass: hypothesis keeps its examples a function, not a class.

    def test_random_bytes(self) -> None:
        @settings(max_examples=150, deadline=None, database=None)
        @given(chunks=st.lists(st.binary(max_size=300), max_size=12))
        @example(chunks=[b"\x02\x0f\xff" * 100])
        @example(chunks=[b"\x00" * 300, b"\xff" * 300])
        def holds(chunks: list[bytes]) -> None:
            self.decode(*chunks)

        holds()

    def test_good_frames_in_noise(self) -> None:
        """After noise and silence every good frame is found, however it is cut."""

        @settings(max_examples=150, deadline=None, database=None)
        @given(data=st.data())
        def holds(data: st.DataObject) -> None:
            decoder = self.make()
            for _ in range(data.draw(st.integers(1, 4))):
                decoder.feed(data.draw(st.binary(max_size=80)) + self.separator)
                decoder.gap()
                wire, frame = data.draw(st.sampled_from(self.samples))
                cut = data.draw(st.integers(0, len(wire)))
                assert decoder.feed(wire[:cut]) + decoder.feed(wire[cut:]) == [frame]
                check_books(decoder, self.bound)

        holds()

    def test_cut_does_not_matter(self) -> None:
        @settings(max_examples=40, deadline=None, database=None)
        @given(storm=st.binary(min_size=2000, max_size=9000), cut=st.integers(1, 700))
        def holds(storm: bytes, cut: int) -> None:
            stream = storm[:1000] + self.separator + self.samples[0][0] + storm[1000:]
            whole, _ = self.decode(stream)
            pieces, _ = self.decode(*(stream[at : at + cut] for at in range(0, len(stream), cut)))
            assert pieces == whole

        holds()
