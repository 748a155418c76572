"""Which source a name means: ``/dev/video0``, ``rtsp://…``, ``http://…``, ``file:NAME``."""

from __future__ import annotations

from pathlib import Path

from tabled.sensing.capture import CaptureProblem, Clock, Source
from tabled.sensing.capture_media import FileSource, StreamSource
from tabled.sensing.capture_v4l2 import V4l2Settings, V4l2Source
from tabled.sensing.process_wire import Begin

STREAMS = ("rtsp://", "rtsps://", "http://", "https://")
SOURCES = ("/dev/", *STREAMS, "file:")
"""How all names of sources begin."""
ADVICE = 'write "/dev/video0", "rtsp://…", "http://…" or "file:NAME"'


def source_of(begin: Begin, now_ns: Clock) -> Source:
    """The source that ``begin`` names, not yet open.  Raises `CaptureProblem` for a name that means none."""
    name = begin.source
    if name.startswith("/dev/"):
        settings = V4l2Settings(
            path=name,
            width=begin.width,
            height=begin.height,
            fps=begin.fps,
            exposure_us=begin.exposure_us,
            gain=begin.gain,
            white_balance_k=begin.white_balance_k,
            focus=begin.focus,
        )
        return V4l2Source(settings, now_ns)
    if name.startswith(STREAMS):
        return StreamSource(name, now_ns)
    if name.startswith("file:"):
        return FileSource(Path(name.removeprefix("file:")), now_ns, paced=begin.paced)
    raise CaptureProblem(f"{name!r} is no camera", ADVICE)
