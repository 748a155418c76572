"""The loop of the sensing process, in this one: trust, stalls, orders, and what it tells when it cannot go on."""

from __future__ import annotations

import io
import struct
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from calibration.files import save as save_section
from firmware_bridge.wire import DeviceId, Observation, TimeSpan
from tabled.model.calibration import Calibration, Marker, Point
from tabled.model.camera import CameraTrust, HandMoved
from tabled.sensing import sections
from tabled.sensing.capture import CaptureProblem
from tabled.sensing.landmarks import Landmarks
from tabled.sensing.process_child import (
    MAX_FAILURES,
    EyeMaker,
    Pipe,
    Watch,
    calibration_of,
    eye_maker,
    landmarks_of,
    run,
)
from tabled.sensing.process_wire import (
    HEAD_BYTES,
    MAX_MESSAGE,
    MAX_OBSERVATIONS,
    Beat,
    Begin,
    End,
    Gone,
    Notes,
    Save,
    Saw,
    ToDaemon,
    Up,
    WireProblem,
    Written,
    for_child,
    for_daemon,
    length_of,
    pack,
)
from tabled.sensing.recording import Note, Recording
from tests.sensing.eyes import GoodEye
from tests.sensing.support import MS, PERIOD_NS, PROBLEM, Hands, frame, picture, until
from tests.sensing.table import LENS, PLANE

S = 10**9


class Rig:
    """A loop over a source of the test's, with a clock that only the test moves."""

    def __init__(self, folder: Path, eye: Callable[[], Any] | None = None, **changes: Any) -> None:
        self.now_ns = 0
        self.told: list[ToDaemon] = []
        self.source = Hands()
        self.eyes: list[Any] = []
        wish = {"device": "camera", "source": "", "width": 96, "height": 64, "fps": 20, "record": str(folder / "r")}
        self.begin = Begin(**{**wish, "beat_ns": 10**15, "stall_ns": 500 * MS, **changes})
        make = eye or (lambda: GoodEye(Calibration(), (96, 64), device=DeviceId("camera")))

        def made() -> Any:
            self.eyes.append(make())
            return self.eyes[-1]

        self.watch = Watch(
            self.begin, self.source, made, self.told.append, now_ns=lambda: self.now_ns, memory=lambda: 123
        )
        self.watch.start()

    def show(self, n: int, **what: Any) -> None:
        """One frame, looked at."""
        seen = self.watch._seen + self.watch._failed
        self.source.give(frame(n, **what))
        until(lambda: self.watch.turn() and self.watch._seen + self.watch._failed > seen)

    def observed(self) -> list[Observation]:
        return [o for m in self.told if isinstance(m, Saw) for o in m.observations]

    def of(self, kind: type) -> list[Any]:
        return [m for m in self.told if isinstance(m, kind)]


def test_it_is_up_with_its_first_picture_and_says_what_is_seen(tmp_path: Path) -> None:
    rig = Rig(tmp_path)
    assert rig.watch.turn()
    assert rig.told == []
    for n in range(6):
        rig.show(n)
    assert isinstance(rig.told[0], Up)
    assert rig.told[0].watching
    assert [type(o) for o in rig.observed()] == [CameraTrust, HandMoved]
    rig.watch.stop(5)


def test_a_stall_ends_the_trust_by_the_frames_age_and_a_fresh_eye_begins_it_anew(tmp_path: Path) -> None:
    rig = Rig(tmp_path)
    rig.show(0)
    rig.now_ns = 500 * MS
    rig.watch.turn()
    assert len(rig.observed()) == 1, "just young enough"
    rig.now_ns += 1
    rig.watch.turn()
    rig.watch.turn()
    stalled = rig.observed()[-1]
    assert stalled == CameraTrust(DeviceId("camera"), TimeSpan(0, 500 * MS + 1), trusted=False, reason="stalled")
    assert len(rig.observed()) == 2, "once"
    assert len(rig.eyes) == 1
    rig.show(99, at_ns=rig.now_ns)
    assert len(rig.eyes) == 2
    assert [o.trusted for o in rig.observed() if isinstance(o, CameraTrust)] == [True, False, True]
    assert len(rig.of(Up)) == 1
    rig.watch.stop(5)


def test_the_beat_counts_everything(tmp_path: Path) -> None:
    rig = Rig(tmp_path, beat_ns=1 * S, stall_ns=10 * S)
    rig.show(0)
    rig.source.give(frame(3, jpeg=picture(3)[:-9]))
    rig.show(4)
    rig.now_ns = 2 * S
    rig.watch.turn()
    (beat,) = rig.of(Beat)
    assert (beat.captured, beat.seen, beat.lost, beat.damaged, beat.memory) == (2, 2, 2, 1, 123)
    assert (beat.age_ns, beat.notes, beat.stamps) == (2 * S - 4 * PERIOD_NS, ("a note",), "kernel")
    assert beat.ring > 0
    rig.watch.stop(5)


def test_the_beat_tells_of_the_planes_markers(tmp_path: Path) -> None:
    class Spy:
        seen: int | None = None
        shift_upx: int | None = None
        looks: ClassVar[list[tuple[int, bytes]]] = []

        def look(self, at_ns: int, frame: bytes) -> None:
            self.looks.append((at_ns, frame))
            self.seen, self.shift_upx = 5, 1_600_000

    rig = Rig(tmp_path, beat_ns=1 * S, stall_ns=10 * S)
    rig.watch._landmarks = cast(Landmarks, Spy())
    rig.now_ns = S
    rig.watch.turn()
    rig.show(4)
    rig.now_ns = 2 * S
    rig.watch.turn()
    assert [(b.markers_seen, b.shift_upx) for b in rig.of(Beat)] == [(None, None), (5, 1_600_000)]
    assert Spy.looks == [(4 * PERIOD_NS, picture(4))], "the frame and its time, after the eye"
    assert for_daemon(pack(rig.of(Beat)[1])[HEAD_BYTES:]) == rig.of(Beat)[1]
    rig.watch.stop(5)


def test_one_picture_that_cannot_be_looked_at_is_an_accident_and_a_row_of_them_a_fault(tmp_path: Path) -> None:
    class Blind(GoodEye):
        def see(self, stamp_ns: int, frame: bytes) -> Any:
            raise ValueError("all grey")

    rig = Rig(tmp_path, lambda: Blind(Calibration(), (96, 64), device=DeviceId("camera")))
    for n in range(MAX_FAILURES - 1):
        rig.show(n)
    assert rig.observed() == []
    with pytest.raises(CaptureProblem, match="all grey"):
        rig.show(MAX_FAILURES)
    rig.watch.stop(5)


def order(ident: int = 1) -> Save:
    return Save(ident=ident, reason="floor", stamp="20260131T120000Z", wall_offset_ns=S, site="club", table="t7")


def test_a_recording_has_the_pictures_of_its_span_and_the_notes_that_came_for_it(tmp_path: Path) -> None:
    rig = Rig(tmp_path, record_ns=10 * PERIOD_NS, stall_ns=100 * S)
    for n in range(30):
        rig.show(n)
    rig.now_ns = 29 * PERIOD_NS
    mine, other = Note(5, "outcome", b'{"kind":"question"}'), Note(6, "outcome", b'{"kind":"alert"}')
    rig.watch.order(Notes(ident=7, notes=(other,)))
    rig.watch.order(Notes(ident=8, notes=(mine,)))
    rig.watch.order(order(8))
    until(lambda: rig.watch.turn() and rig.of(Written))
    (done,) = rig.of(Written)
    assert (done.problem, done.frames) == ("", 11)
    found = Recording.open(Path(done.path))
    assert found.stamps_ns == tuple(n * PERIOD_NS for n in range(19, 30))
    assert [body["kind"] for _, body in found.notes("/outcomes")] == ["question"]
    rig.watch.stop(5)


def test_a_recording_that_finds_no_memory_says_how_many_pictures_are_missing(tmp_path: Path) -> None:
    rig = Rig(tmp_path, record_bytes=5000, stall_ns=100 * S)
    for n in range(20):
        rig.show(n)
    rig.watch.order(order())
    until(lambda: rig.watch.turn() and rig.of(Written))
    facts = Recording.open(Path(rig.of(Written)[0].path)).facts
    assert facts.frames + facts.dropped == 20
    assert 0 < facts.frames < 20
    rig.watch.stop(5)


def test_it_ends_when_it_is_told(tmp_path: Path) -> None:
    rig = Rig(tmp_path)
    rig.show(0)
    rig.watch.order(End())
    assert not rig.watch.turn()
    rig.watch.stop(5)
    assert rig.source.closed.is_set()


# -- the pipe ----------------------------------------------------------------------------------------

MESSAGES: list[Any] = [
    Begin(device="camera", source="file:a", width=1, height=2, fps=3),
    order(),
    Notes(ident=3, notes=(Note(1, "bytes", b"{}", "reader"),)),
    End(),
]
TO_DAEMON: list[ToDaemon] = [
    Up(model="m", watching=True, at_ns=1),
    Saw(observations=(CameraTrust(DeviceId("c"), TimeSpan(1, 2), False, "moved", "3"),)),
    Beat(at_ns=1, notes=("n",)),
    Written(ident=1, path="p"),
    Gone(reason="r", advice="a", over=True),
]


def test_every_message_comes_through() -> None:
    for message in MESSAGES:
        assert for_child(pack(message)[HEAD_BYTES:]) == message
    for told in TO_DAEMON:
        assert for_daemon(pack(told)[HEAD_BYTES:]) == told


@given(st.binary(max_size=80))
def test_garbage_is_a_wire_problem_and_nothing_else(noise: bytes) -> None:
    for decode in (for_child, for_daemon):
        try:
            message = decode(noise)
        except WireProblem:
            continue
        assert message in [*MESSAGES, *TO_DAEMON] or isinstance(message, Begin | End | Up | Saw | Beat | Written)


@pytest.mark.parametrize("size", [0, MAX_MESSAGE + 1, 2**32 - 1])
def test_a_length_over_the_cap_is_refused_before_anything_is_read(size: int) -> None:
    with pytest.raises(WireProblem):
        length_of(struct.pack(">I", size))


def test_more_observations_than_a_frame_can_have_are_refused() -> None:
    hand = HandMoved(DeviceId("c"), TimeSpan(1, 2), "1", "enters")
    many = pack(Saw(observations=(hand,) * (MAX_OBSERVATIONS + 1)))
    with pytest.raises(WireProblem, match="observations"):
        for_daemon(many[HEAD_BYTES:])


@pytest.mark.parametrize("tail", [b"", b"\0\0", pack(End())[:-1], b"\xff\xff\xff\xff", b"\0\0\0\x02\xc1\xc1"])
def test_a_daemon_that_is_gone_or_speaks_nonsense_ends_the_process(tail: bytes) -> None:
    heard: list[Any] = []
    Pipe(io.BytesIO(pack(order()) + tail), io.BytesIO()).listen(heard.append)
    assert heard == [order(), End()]


def told_by(out: io.BytesIO) -> list[ToDaemon]:
    raw, told = out.getvalue(), []
    while raw:
        size = length_of(raw[:HEAD_BYTES])
        told.append(for_daemon(raw[HEAD_BYTES : HEAD_BYTES + size]))
        raw = raw[HEAD_BYTES + size :]
    return told


def test_what_ends_the_frames_is_told_with_its_advice(tmp_path: Path) -> None:
    source, out = Hands(), io.BytesIO()
    source.give(PROBLEM)
    begin = Begin(device="camera", source="", width=96, height=64, fps=20)

    class Silent:
        def read(self, _: int) -> bytes:
            threading.Event().wait()
            return b""

    run(Pipe(Silent(), out), begin, lambda *_: source, lambda: 0, lambda: 0)  # type: ignore[arg-type]  # reads only
    (gone,) = told_by(out)
    assert gone == Gone(reason="the lens is capped", advice="take the cap off")
    assert source.closed.is_set()


def whole_run(begin: Begin) -> list[ToDaemon]:
    """All that a process says of eighteen pictures, half a minute from one to the next."""
    source, out = Hands(), io.BytesIO()

    class Patient:
        """The daemon's pipe: each picture comes when the one before was looked at; then the daemon is gone."""

        def read(self, _: int) -> bytes:
            for n in range(1, 19):
                source.give(frame(n, at_ns=n * 30 * S))
                until(lambda n=n: any(isinstance(m, Beat) and m.seen == n for m in told_by(out)))  # type: ignore[misc]  # its default is a number
            return b""

    run(Pipe(Patient(), out), begin, lambda *_: source, lambda: 30 * S, lambda: 0)  # type: ignore[arg-type]  # reads only
    return told_by(out)


# -- the eye -----------------------------------------------------------------------------------------


def begun(folder: Path, **changes: Any) -> Begin:
    save_section(folder, LENS)
    digest = sections.load(folder).digest
    wish = {"device": "camera", "source": "", "width": 96, "height": 64, "fps": 20, "calibration": str(folder)}
    return Begin(**{**wish, "digest": digest, **changes})


def eyes(begin: Begin) -> EyeMaker:
    return eye_maker(begin, calibration_of(begin))


def markers(begin: Begin) -> Landmarks | None:
    return landmarks_of(begin, calibration_of(begin))


def test_the_real_eye_says_which_step_is_missing(tmp_path: Path) -> None:
    with pytest.raises(CaptureProblem, match="tabled calibrate"):
        eyes(begun(tmp_path))()


def test_a_damaged_calibration_is_refused(tmp_path: Path) -> None:
    begin = begun(tmp_path)
    (tmp_path / "lens.json").write_text("{", encoding="ascii")
    with pytest.raises(CaptureProblem, match=r"lens\.json"):
        eyes(begin)


def test_without_a_calibration_there_is_no_eye(tmp_path: Path) -> None:
    assert eyes(begun(tmp_path, calibration=""))() is None
    assert markers(begun(tmp_path, calibration="")) is None


def test_what_looks_for_the_markers_is_made_of_the_planes_file(tmp_path: Path) -> None:
    assert markers(begun(tmp_path)) is None
    square = ((0, 0), (9, 0), (9, 9), (0, 9))
    marker = Marker(
        id=1,
        corners=tuple(Point(1000 * x, 1000 * y) for x, y in square),
        seen_upx=tuple((30_000_000 + x * 10**6, 20_000_000 + y * 10**6) for x, y in square),
    )
    save_section(tmp_path, replace(PLANE, markers=(marker,)))
    looker = markers(begun(tmp_path))
    assert looker is not None
    for n in range(3 * 6):
        looker.look(n * 30 * S, picture(n))
    assert looker.seen == 0
    told = whole_run(begun(tmp_path, beat_ns=0, eye="tests.sensing.eyes:GoodEye"))
    assert [b.markers_seen for b in told if isinstance(b, Beat)][-1] == 0
    (tmp_path / "plane.json").write_text("{", encoding="ascii")
    with pytest.raises(CaptureProblem, match="cannot be used"):
        markers(Begin(device="camera", source="", width=96, height=64, fps=20, calibration=str(tmp_path)))
