"""Conformance kits for drivers, ours and others': subclass as ``Test…``, fill in what it asks for, inherit the tests.

`DecoderConformance`: a decoder finds the frames whatever is around them, keeps its four numbers true at every byte,
and stays within its bound whatever is sent to it.  `ReaderConformance`: the session of a reader that is asked tells
what lies there and nothing else, thins repeats, and takes silence for a loss, never for an empty field.
``DRIVERS.md`` has a worked driver with both.  For tests only: it needs hypothesis, and runs under pytest or unittest.
"""

from __future__ import annotations

from typing import Any, ClassVar, Protocol

from hypothesis import example, given, settings
from hypothesis import strategies as st

from firmware_bridge.framing.decoder import Decoder
from firmware_bridge.session.contract import Session
from firmware_bridge.session.settle import INTERVAL_NS, PASS
from firmware_bridge.wire import AnyObservation, CleanEmpty, Corrupt, DeviceLost, DeviceUp, Present

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
        """A new decoder, as a port that was just opened gets it."""
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


MS = 1_000_000
SECOND = 1_000_000_000
START_NS = 5 * SECOND
ANSWER_NS = 2 * MS
"""How long the device takes for an answer."""
MAX_STEPS = 50_000


class Device(Protocol):
    """The other end, as a test has it: bytes of the host in, the device's answer out.

    ``field`` holds the UIDs on each antenna, upper-case hexadecimal; it is changed while the test runs.
    """

    field: dict[int, list[str]]

    def feed(self, data: bytes) -> bytes:
        """Bytes of the host, as they came."""


class Bench:
    """A session and its device on a clock that stands still while they think.  ``seen`` is all it told."""

    def __init__(self, session: Session, device: Device) -> None:
        self.session, self.device = session, device
        self.now_ns = START_NS
        self.seen: list[AnyObservation] = []
        self.told_at: list[int] = []
        self.mute = False
        """The device is there and says nothing."""
        self.steps = 0
        self.lost = False
        self._answers: list[tuple[int, bytes]] = []

    def start(self) -> None:
        """The port is open, or open again."""
        self.lost = False
        self._answers.clear()
        self.session.start(self.now_ns)
        self._carry()

    def run(self, seconds: float) -> list[AnyObservation]:
        """Lets that much time pass, or less if the session ends; what was told meanwhile."""
        end, before = self.now_ns + round(seconds * SECOND), len(self.seen)
        while not self.lost:
            wake = self.session.next_wake_ns
            due = min([end, *(at for at, _ in self._answers), *([wake] if wake is not None else [])])
            if due >= end:
                break
            self.steps += 1
            assert self.steps < MAX_STEPS, "the session asks to be woken without end: a busy loop"
            self.now_ns = max(self.now_ns, due)
            if self._answers and self._answers[0][0] <= self.now_ns:
                self._take(self.session.receive(self._answers.pop(0)[1], self.now_ns))
            else:
                self._take(self.session.wake(self.now_ns))
            self._carry()
        self.now_ns = max(self.now_ns, end)
        return self.seen[before:]

    def _take(self, found: list[AnyObservation]) -> None:
        for observation in found:
            assert observation.span.latest_ns <= self.now_ns, f"told before it happened: {observation}"
            self.seen.append(observation)
            self.told_at.append(self.now_ns)
            self.lost |= isinstance(observation, DeviceLost)

    def _carry(self) -> None:
        asked = self.session.outgoing()
        assert self.session.outgoing() == b"", "bytes to write are returned once"
        if asked and not self.mute:
            answer = self.device.feed(asked)
            if answer:
                self._answers.append((self.now_ns + ANSWER_NS, answer))


def results(seen: list[AnyObservation], antenna: int | None = None) -> list[Present | CleanEmpty | Corrupt]:
    """What was told of one antenna, or of all."""
    found = [o for o in seen if isinstance(o, Present | CleanEmpty | Corrupt)]
    return [o for o in found if antenna in (None, o.antenna)]


class ReaderConformance:
    """The session of a reader that is asked.  Subclass as ``Test…``; give both ends.

    The session's name is `NAME` and it looks at `antennas`; it comes up, and notices a change, within ``patience_s``.
    """

    NAME: ClassVar[str] = "reader"
    antennas: ClassVar[tuple[int, ...]] = (1, 2)
    uids: ClassVar[tuple[str, ...]] = ("E00401500000000A", "E00401500000000B")
    patience_s: ClassVar[float] = 3.0
    checked: ClassVar[bool] = True
    """Whether the device's frames carry a checksum."""

    def make_device(self) -> Device:
        """The device, with an empty field."""
        raise NotImplementedError

    def make_session(self) -> Session:
        """A session that has not been started."""
        raise NotImplementedError

    def bench(self, *, seconds: float | None = None) -> Bench:
        """Both ends, started, after ``seconds`` (by default ``patience_s``)."""
        bench = Bench(self.make_session(), self.make_device())
        bench.start()
        bench.run(self.patience_s if seconds is None else seconds)
        return bench

    def test_it_comes_up_and_names_itself(self) -> None:
        seen = self.bench().seen
        ups = [o for o in seen if isinstance(o, DeviceUp)]
        assert len(ups) == 1
        assert seen[0] is ups[0], "DeviceUp comes before all results"
        assert ups[0].model
        assert {o.device for o in seen} == {self.NAME}

    def test_an_empty_antenna_is_a_clean_empty_and_only_configured_ones_are_told(self) -> None:
        seen = self.bench().seen
        assert {type(o) for o in results(seen)} == {CleanEmpty}
        assert {o.antenna for o in results(seen)} == set(self.antennas)

    def test_a_chip_is_told_where_it_lies_and_its_leaving_too(self) -> None:
        for antenna in self.antennas:
            bench = self.bench()
            bench.device.field[antenna] = list(reversed(self.uids))
            told = [o for o in results(bench.run(self.patience_s), antenna) if isinstance(o, Present)]
            assert told, "a chip was put down and not told"
            tags = tuple(tag.uid for tag in told[-1].tags)
            assert tags == tuple(sorted(self.uids)), "UIDs are sorted, upper-case hexadecimal"
            bench.device.field[antenna] = [self.uids[0]]
            last = results(bench.run(self.patience_s), antenna)[-1]
            assert isinstance(last, Present)
            assert [tag.uid for tag in last.tags] == [self.uids[0]]
            assert last.complete, "a look that has seen all says so: only that proves an absence"
            bench.device.field[antenna] = []
            assert isinstance(results(bench.run(self.patience_s), antenna)[-1], CleanEmpty)

    def test_a_span_begins_no_later_than_the_question(self) -> None:
        bench = self.bench()
        for observation in results(bench.seen):
            assert observation.span.earliest_ns >= START_NS, "before the port was open nothing can be known"
            assert observation.span.latest_ns - observation.span.earliest_ns >= ANSWER_NS, "question to answer"

    def test_repeats_are_thinned_and_a_change_passes_at_once(self) -> None:
        bench = self.bench()
        bench.device.field[self.antennas[0]] = [self.uids[0]]
        seconds = 20
        for antenna in self.antennas:
            told = results(bench.run(seconds), antenna)
            most = 3 * PASS + seconds * SECOND // INTERVAL_NS + 2
            assert len(told) <= most, f"{len(told)} equal results in {seconds} s fill the journal; see session.settle"
            assert len(told) >= seconds // 3, "an antenna that is looked at is heard of"
        bench.device.field[self.antennas[0]] = []
        assert isinstance(results(bench.run(self.patience_s), self.antennas[0])[-1], CleanEmpty)

    def test_refresh_lets_the_next_result_through(self) -> None:
        bench = self.bench(seconds=12)
        before = results(bench.run(0.9))
        bench.session.refresh()
        after = results(bench.run(0.9))
        assert len(after) > len(before)
        assert {o.antenna for o in after} == set(self.antennas)

    def test_silence_is_a_loss_with_advice_and_never_an_empty_field(self) -> None:
        bench = self.bench()
        bench.device.field[self.antennas[0]] = [self.uids[0]]
        bench.run(self.patience_s)
        bench.mute = True
        muted_ns = bench.now_ns + 2 * ANSWER_NS
        seen = bench.run(10)
        losses = [o for o in seen if isinstance(o, DeviceLost)]
        assert len(losses) == 1, "a reader that says nothing is lost, once"
        assert bench.lost
        assert losses[0].reason
        assert losses[0].advice.endswith((".", "!")), "advice is a sentence for a technician"
        late = [o for o in results(seen) if o.span.latest_ns > muted_ns]
        assert all(isinstance(o, Corrupt) for o in late), "what was not answered says nothing"
        bench.mute = False
        bench.start()
        assert any(isinstance(o, DeviceUp) for o in bench.run(self.patience_s)), "it does not come back"

    def test_damaged_answers_say_nothing(self) -> None:
        if not self.checked:
            return
        bench = self.bench()
        good = bench.device.feed
        bench.device.field[self.antennas[0]] = [self.uids[0]]
        bench.run(self.patience_s)

        def damaged(data: bytes) -> bytes:
            answer = bytearray(good(data))
            if answer:
                answer[len(answer) // 2] ^= 0x10
            return bytes(answer)

        bench.device.feed = damaged  # type: ignore[method-assign]  # the line goes bad, not the device
        bad_ns = bench.now_ns + 2 * ANSWER_NS
        late = [o for o in results(bench.run(2)) if o.span.latest_ns > bad_ns]
        assert all(isinstance(o, Corrupt) for o in late)
        counters = bench.session.counters()
        assert counters.garbage + counters.foreign + counters.corrupt + counters.timeouts > 0, "counted"

    def test_random_bytes_break_nothing(self) -> None:
        @settings(max_examples=20, deadline=None, database=None)
        @given(chunks=st.lists(st.binary(max_size=200), max_size=8))
        def holds(chunks: list[bytes]) -> None:
            bench = self.bench(seconds=0.2)
            for chunk in chunks:
                bench._take(bench.session.receive(chunk, bench.now_ns))
                bench._carry()
                bench.run(0.05)

        holds()

    def test_what_is_acknowledged_or_withdrawn_changes_no_reading(self) -> None:
        bench = self.bench()
        for observation in tuple(bench.seen):
            bench.session.acknowledge(observation)
            bench.session.withdraw(observation)
        assert results(bench.run(self.patience_s))
