"""Frames: the newest wins, what was lost is counted, what is damaged is not shown, a file keeps its times."""

from __future__ import annotations

import socket
import threading
from pathlib import Path
from typing import Any

import av
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tabled.sensing.capture import CaptureProblem, Frame, FramePump, Slot, whole
from tabled.sensing.capture_media import FileSource, StreamSource
from tabled.sensing.capture_sources import source_of
from tabled.sensing.capture_v4l2 import V4l2Source
from tabled.sensing.process_wire import Begin
from tabled.sensing.recording import Facts, Still, write
from tests.sensing.support import PERIOD_NS, PROBLEM, Hands, frame, picture, until


def test_the_newest_frame_wins_and_the_others_are_counted() -> None:
    slot = Slot()
    for n in range(4):
        slot.put(frame(n))
    taken = slot.take(0)
    assert taken is not None
    assert (taken.sequence, slot.overtaken) == (3, 3)
    assert slot.take(0) is None


def test_a_patient_slot_loses_nothing() -> None:
    slot, seen = Slot(), []
    thread = threading.Thread(target=lambda: [slot.put(frame(n), patient=True) for n in range(20)])
    thread.start()
    while len(seen) < 20:
        got = slot.take(10)
        assert got is not None
        seen.append(got.sequence)
    thread.join()
    assert (seen, slot.overtaken) == (list(range(20)), 0)


def test_what_a_source_raises_comes_behind_its_last_frame() -> None:
    slot = Slot()
    slot.put(frame(1))
    slot.fail(PROBLEM)
    assert slot.take(0) is not None
    with pytest.raises(CaptureProblem, match="take the cap off"):
        slot.take(0)


def pumped(frames: list[Frame]) -> tuple[FramePump, list[Frame]]:
    source, kept = Hands(lossless=False), []
    for one in frames:
        source.give(one)
    source.give(PROBLEM)
    pump = FramePump(source, lambda: 0, kept.append)
    pump.start()
    until(source.closed.is_set)
    return pump, kept


def test_gaps_in_the_cameras_numbers_are_losses_and_a_fresh_start_is_none() -> None:
    pump, kept = pumped([frame(n) for n in (7, 8, 11, 12, 0, 1, 3)])
    assert pump.counts.lost == 2 + 1
    assert pump.counts.captured == 7
    assert [f.sequence for f in kept] == [7, 8, 11, 12, 0, 1, 3]


def test_damaged_pictures_are_counted_and_shown_to_nobody() -> None:
    good = picture(1)
    bad = [good[:-40], good[2:], b"", b"\xff\xd8\xff\xd9"[:3], good[: len(good) // 2]]
    pump, kept = pumped([frame(n, jpeg=jpeg) for n, jpeg in enumerate([good, *bad, good + b"\0" * 300])])
    assert (pump.counts.captured, pump.counts.damaged, pump.counts.lost) == (2, len(bad), 0)
    assert len(kept) == 2
    assert pump.newest_ns == kept[-1].arrived_ns


@given(st.binary(max_size=200), st.integers(0, 400))
def test_only_what_begins_and_ends_as_a_jpeg_is_whole(noise: bytes, padding: int) -> None:
    assert whole(b"\xff\xd8\xff\xe0" + noise + b"\xff\xd9" + b"\0" * padding)
    assert not whole(b"\xff\xd8\xff\xe0" + noise + b"\xff\xd9" + b"\0" * padding + b"\x01")
    if not noise.startswith(b"\xff\xd8"):
        assert not whole(noise)


# -- files -------------------------------------------------------------------------------------------


class Time:
    """A clock that only a test moves."""

    def __init__(self) -> None:
        self.now_ns = 5_000_000_000

    def __call__(self) -> int:
        return self.now_ns


def film(path: Path, codec: str, count: int = 6, **options: Any) -> Path:
    with av.open(str(path), "w", **options) as out:
        stream = out.add_stream(codec, rate=20)
        stream.width, stream.height = 96, 64
        stream.pix_fmt = "yuvj420p" if codec == "mjpeg" else "yuv420p"
        for n in range(count):
            image = np.full((64, 96, 3), 10 * n, np.uint8)
            for packet in stream.encode(av.VideoFrame.from_ndarray(image, format="bgr24")):
                out.mux(packet)
        for packet in stream.encode(None):
            out.mux(packet)
    return path


def read_all(source: FileSource) -> list[Frame]:
    frames, problem = drained(source)
    assert "is over after" in problem.reason
    assert problem.over
    return frames


def drained(source: FileSource | StreamSource) -> tuple[list[Frame], CaptureProblem]:
    """All that comes, and what ended it."""
    frames: list[Frame] = []
    while True:
        try:
            got = source.read(0.0)
        except CaptureProblem as problem:
            return frames, problem
        assert got is not None
        frames.append(got)


@pytest.mark.parametrize(("name", "codec"), [("a.avi", "mjpeg"), ("a.mp4", "mpeg4"), ("a.mjpeg", "mjpeg")])
def test_a_file_gives_whole_pictures_at_its_own_times(tmp_path: Path, name: str, codec: str) -> None:
    time = Time()
    source = FileSource(film(tmp_path / name, codec), time, paced=False)
    source.open()
    frames = read_all(source)
    assert len(frames) == 6
    assert all(whole(f.jpeg) for f in frames)
    assert [f.sequence for f in frames] == list(range(6))
    assert frames[0].stamp_ns == time.now_ns
    if name != "a.mjpeg":  # a bare row of pictures has no times; FFmpeg assumes 25 a second
        assert [f.stamp_ns - time.now_ns for f in frames] == [n * PERIOD_NS for n in range(6)]
    source.close()


def test_motion_jpeg_comes_through_untouched(tmp_path: Path) -> None:
    pictures = [picture(n) for n in range(5)]
    path = tmp_path / "row.mjpeg"
    path.write_bytes(b"".join(pictures))
    source = FileSource(path, Time(), paced=False)
    source.open()
    assert [f.jpeg for f in read_all(source)] == pictures


def test_a_paced_file_gives_a_frame_when_it_is_due_and_not_before(tmp_path: Path) -> None:
    time = Time()
    source = FileSource(film(tmp_path / "a.avi", "mjpeg"), time)
    source.open()
    first = source.read(0.0)
    assert first is not None
    assert source.read(0.0) is None
    time.now_ns += PERIOD_NS - 1
    assert source.read(0.0) is None
    time.now_ns += 1
    second = source.read(0.0)
    assert second is not None
    assert second.stamp_ns == first.stamp_ns + PERIOD_NS


def test_a_recording_plays_as_a_source(tmp_path: Path) -> None:
    path = tmp_path / "r.mcap"
    stills = [Still(10**9 + n * PERIOD_NS, picture(n)) for n in range(4)]
    write(path, Facts(site="s", table="t", reason="r", wall_offset_ns=0), stills, [])
    source = FileSource(path, Time(), paced=False)
    source.open()
    frames = read_all(source)
    assert [f.jpeg for f in frames] == [s.jpeg for s in stills]
    assert frames[3].stamp_ns - frames[0].stamp_ns == 3 * PERIOD_NS


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("gone.avi", None, "is not there"),
        ("noise.avi", b"\x00\x01" * 400, "cannot be opened"),
        ("noise.mcap", b"\x89MCAP0\r\n" + b"\0" * 40, "damaged"),
    ],
)
def test_a_file_that_is_no_video_says_what_to_do(tmp_path: Path, name: str, content: bytes | None, says: str) -> None:
    if content is not None:
        (tmp_path / name).write_bytes(content)
    source = FileSource(tmp_path / name, Time())
    with pytest.raises(CaptureProblem, match=r"\[camera\] source") as caught:
        source.open()
    assert says in caught.value.reason


def test_a_film_that_is_cut_short_ends_and_does_not_hang(tmp_path: Path) -> None:
    whole_film = film(tmp_path / "a.avi", "mjpeg", 20).read_bytes()
    (tmp_path / "cut.avi").write_bytes(whole_film[: len(whole_film) * 2 // 3])
    source = FileSource(tmp_path / "cut.avi", Time(), paced=False)
    source.open()
    got, _ = drained(source)
    assert 0 < len(got) < 20


# -- streams -----------------------------------------------------------------------------------------


def serve(pictures: list[bytes]) -> tuple[str, threading.Thread]:
    """A camera that sends these pictures as Motion JPEG over HTTP to one caller, and hangs up."""
    listener = socket.create_server(("127.0.0.1", 0))

    def talk() -> None:
        with listener, listener.accept()[0] as line:
            line.recv(4096)
            line.sendall(b"HTTP/1.0 200 OK\r\nContent-Type: multipart/x-mixed-replace; boundary=cut\r\n\r\n")
            for jpeg in pictures:
                head = f"--cut\r\nContent-Type: image/jpeg\r\nContent-Length: {len(jpeg)}\r\n\r\n"
                line.sendall(head.encode() + jpeg + b"\r\n")
            line.sendall(b"--cut--\r\n")

    thread = threading.Thread(target=talk, daemon=True)
    thread.start()
    return f"http://user:secret@127.0.0.1:{listener.getsockname()[1]}/video", thread


def test_motion_jpeg_over_http_comes_through_untouched_and_is_timed_by_its_arrival() -> None:
    pictures = [picture(n) for n in range(40)]
    url, thread = serve(pictures)
    time = Time()
    source = StreamSource(url, time)
    source.open()
    assert "secret" not in source.model
    frames, problem = drained(source)
    assert {(f.stamp_ns, f.sequence) for f in frames} == {(time.now_ns, -1)}
    got = [f.jpeg for f in frames]
    # FFmpeg looks at the first ones to find out what it is; of a live camera they are past then.
    assert len(got) > 5
    assert got == pictures[-len(got) :]
    assert "network cable" in problem.advice
    assert "secret" not in str(problem)
    source.close()
    thread.join()


def test_a_camera_that_does_not_answer_is_named_without_its_password() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    source = StreamSource(f"http://u:secret@127.0.0.1:{port}/", Time())
    with pytest.raises(CaptureProblem, match="network cable") as caught:
        source.open()
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("/dev/video0", V4l2Source),
        ("rtsp://camera/1", StreamSource),
        ("https://camera/video", StreamSource),
        ("file:a.avi", FileSource),
    ],
)
def test_a_name_means_a_source(name: str, kind: type) -> None:
    begin = Begin(device="camera", source=name, width=64, height=64, fps=30)
    assert isinstance(source_of(begin, Time()), kind)


def test_another_name_means_none() -> None:
    with pytest.raises(CaptureProblem, match="is no camera"):
        source_of(Begin(device="camera", source="0", width=64, height=64, fps=30), Time())
