"""Frames of files and of network streams, by PyAV: Motion JPEG as it is, anything else decoded and made JPEG again.

PyAV and not `cv2.VideoCapture`: it hands out the packets of a Motion JPEG stream untouched, with their times, and its
opening and reading end after a time that is given; OpenCV decodes everything, and a camera that goes silent holds it
for half a minute.

A stream's times say nothing of the host's clock, so its frames are timed by their arrival.  A file's frames have the
file's times, moved so that the first is at its opening.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from tabled.sensing.capture import CaptureProblem, Clock, Frame, Stamps, optional
from tabled.sensing.recording import Recording, RecordingError

OPEN_S = 10.0
READ_S = 5.0
JPEG_QUALITY = 95
MAX_FILE_GAP_NS = 10_000_000_000
"""A file is not waited for longer than this between two frames, whatever its times say."""


class _Media:
    """What files and streams have in common: one container, one picture a packet or a decoded frame."""

    notes: tuple[str, ...] = ()

    def __init__(self, url: str, now_ns: Clock) -> None:
        self.url = url
        self._now_ns = now_ns
        self._container: Any = None
        self._pictures: Iterator[tuple[int, bytes]] | None = None
        self.model = _shown(url)

    def _open(self, **how: Any) -> None:
        av = _pyav()
        try:
            self._container = av.open(self.url, timeout=(OPEN_S, READ_S), metadata_errors="replace", **how)
            stream = self._container.streams.video[0]
        except IndexError as error:
            raise CaptureProblem(f"{self.model} has no picture in it", "give [camera] source a video") from error
        except (av.error.FFmpegError, OSError, ValueError) as error:
            raise self._failed(error, "cannot be opened") from error
        codec = stream.codec_context.name
        self.model = f"{_shown(self.url)} {codec} {stream.codec_context.width}x{stream.codec_context.height}"
        self._pictures = self._packets(stream) if codec == "mjpeg" else self._decoded(stream)

    def _packets(self, stream: Any) -> Iterator[tuple[int, bytes]]:
        """(ns from an arbitrary beginning, JPEG); -1 where the container has no time for it."""
        for packet in self._container.demux(stream):
            if packet.size:
                yield _ns(packet.pts, stream.time_base), bytes(packet)

    def _decoded(self, stream: Any) -> Iterator[tuple[int, bytes]]:
        import cv2  # noqa: PLC0415  only for what is no Motion JPEG

        stream.thread_type = "NONE"  # one core is all that sensing has
        for frame in self._container.decode(stream):
            picture = frame.to_ndarray(format="bgr24")
            done, jpeg = cv2.imencode(".jpg", picture, [cv2.IMWRITE_JPEG_QUALITY, JPEG_QUALITY])
            if done:
                yield _ns(frame.pts, stream.time_base), jpeg.tobytes()

    def _next(self) -> tuple[int, bytes] | None:
        assert self._pictures is not None, "open first"
        kinds: tuple[type[Exception], ...] = (OSError, ValueError)
        if self._container is not None:
            kinds += (_pyav().error.FFmpegError,)
        try:
            return next(self._pictures, None)
        except kinds as error:
            raise self._failed(error, "stopped giving frames") from error

    def _failed(self, error: Exception, what: str) -> CaptureProblem:
        why = str(error).replace(self.url, _shown(self.url))
        return CaptureProblem(f"{_shown(self.url)} {what} ({why})", self._advice())

    def _advice(self) -> str:
        return "check that the file is a video (`ffprobe FILE`) and correct [camera] source"

    def close(self) -> None:
        """Give the connection or the file back."""
        container, self._container, self._pictures = self._container, None, None
        if container is not None:
            container.close()


class StreamSource(_Media):
    """`Source` of ``rtsp://…`` or of Motion JPEG over ``http://…``."""

    stamps: Stamps = "arrival"
    lossless = False
    notes = ("a network camera does not tell when it exposed: frames are timed by their arrival, less exactly",)

    def open(self) -> None:
        """Connect; raises `CaptureProblem`."""
        if self.url.startswith("rtsp"):
            # Over TCP: a lost UDP packet would be a smeared picture that looks whole.
            self._open(options={"rtsp_transport": "tcp", "fflags": "nobuffer", "max_delay": "0"})
        else:
            self._open(format="mpjpeg", options={"fflags": "nobuffer", "strict_mime_boundary": "1"})
        self._count = 0

    def read(self, timeout_s: float) -> Frame | None:  # noqa: ARG002  PyAV's own time-out was set when it was opened
        """The next frame; see `Source.read`."""
        found = self._next()
        if found is None:
            raise CaptureProblem(f"{_shown(self.url)} ended its stream", self._advice())
        now_ns = self._now_ns()
        return Frame(now_ns, now_ns, -1, found[1])

    def _advice(self) -> str:
        return "check the camera's power, network cable, address and password, then [camera] source"


class FileSource(_Media):
    """`Source` of a video file, or of a recording (``.mcap``).

    ``paced``: frames come when their times say; else as fast as they are taken, none overtaken.
    """

    stamps: Stamps = "file"

    def __init__(self, path: Path, now_ns: Clock, *, paced: bool = True) -> None:
        super().__init__(str(path), now_ns)
        self._path = path
        self._paced = paced
        self._begin_ns: int | None = None
        self._first_ns = 0
        self._last_ns = 0
        self._sequence = 0
        self._ahead: Frame | None = None
        self._pause = threading.Event()

    @property
    def lossless(self) -> bool:
        """True when it is not paced."""
        return not self._paced

    def open(self) -> None:
        """Open the file; raises `CaptureProblem`."""
        if not self._path.is_file():
            raise CaptureProblem(f"{self._path} is not there", "correct [camera] source, which names a file")
        if self._path.suffix == ".mcap":
            try:
                recording = Recording.open(self._path)
            except RecordingError as error:
                raise CaptureProblem(str(error), "give [camera] source another recording") from error
            self._pictures = ((f.stamp_ns, f.jpeg) for f in recording.frames())
            self.model = f"{self._path.name} recording"
        elif self._path.suffix in (".mjpeg", ".mjpg"):
            self._open(format="mjpeg")  # a bare row of pictures cannot be told by its first bytes
        else:
            self._open()

    def read(self, timeout_s: float) -> Frame | None:
        """The next frame when it is due; see `Source.read`."""
        frame, self._ahead = self._ahead or self._following(), None
        if self._paced:
            wait_s = (frame.stamp_ns - self._now_ns()) / 1e9
            if wait_s > 0:
                self._pause.wait(min(wait_s, timeout_s))
            if wait_s > timeout_s:
                self._ahead = frame
                return None
        return Frame(frame.stamp_ns, self._now_ns(), frame.sequence, frame.jpeg)

    def _following(self) -> Frame:
        try:
            found = self._next()
        except RecordingError as error:
            raise CaptureProblem(str(error), "give [camera] source another recording") from error
        if found is None:
            raise CaptureProblem(
                f"{self._path.name} is over after {self._sequence} frames",
                "start tabled again to play it again, or give [camera] source a camera",
                over=True,
            )
        time_ns, jpeg = found
        if self._begin_ns is None:
            self._begin_ns, self._first_ns = self._now_ns(), time_ns
            self._last_ns = time_ns
        # Times that fall, leap or are missing must not stop the film.
        self._last_ns = min(max(time_ns, self._last_ns), self._last_ns + MAX_FILE_GAP_NS)
        self._sequence += 1
        stamp_ns = self._begin_ns + self._last_ns - self._first_ns
        return Frame(stamp_ns, stamp_ns, self._sequence - 1, jpeg)

    def close(self) -> None:
        """Give the file back."""
        self._pause.set()
        super().close()


def _pyav() -> Any:
    return optional("av", "av (PyAV)")


def _ns(pts: int | None, time_base: Any) -> int:
    return -1 if pts is None or time_base is None else int(pts * time_base * 1_000_000_000)


def _shown(url: str) -> str:
    """The address without a password: it stands in messages."""
    parts = urlsplit(url)
    if not parts.scheme or "@" not in parts.netloc:
        return url
    return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))
