"""What the daemon and the sensing process say to each other, over the two pipes of a child process.

A message is four bytes of length (big-endian) and that many of MessagePack.  The length is capped before anything is
read, and what does not decode ends the conversation: of a process that writes garbage nothing can be believed.
"""

from __future__ import annotations

import struct

import msgspec

from tabled.model.camera import AnyCameraObservation
from tabled.sensing.recording import Note

MAX_MESSAGE = 4 << 20
MAX_OBSERVATIONS = 256
"""In one message: ten seats cannot do more in one frame."""
NOTES_CHUNK = 512 << 10
"""Bytes of notes in one message to the child, about."""
_HEAD = struct.Struct(">I")
HEAD_BYTES = _HEAD.size


class WireProblem(Exception):
    """The other side does not speak this protocol."""


class Begin(msgspec.Struct, frozen=True, tag="begin", kw_only=True):
    """The first message to the child: all that it needs to know.  Sizes in bytes, times in ns."""

    device: str
    source: str
    width: int
    height: int
    fps: int
    exposure_us: int | None = None
    gain: int | None = None
    white_balance_k: int | None = None
    focus: int | None = None
    paced: bool = True
    calibration: str = ""
    """Folder; "" where the table has not been measured: the child then only records."""
    digest: str = ""
    """The calibration's digest as the daemon read it: a folder that changed since then is refused."""
    eye: str = "tabled.sensing.eye:Eye"
    record: str = ""
    record_ns: int = 30_000_000_000
    record_bytes: int = 256 << 20
    record_quota: int = 4 << 30
    stall_ns: int = 500_000_000
    beat_ns: int = 500_000_000
    address_space: int = 0
    """Bytes of data that the process may have (RLIMIT_DATA); 0: as many as it wants."""


class Save(msgspec.Struct, frozen=True, tag="save", kw_only=True):
    """Write the last half minute.  The notes came before, in `Notes`.  ``stamp`` begins the file's name."""

    ident: int
    reason: str
    stamp: str
    wall_offset_ns: int
    site: str
    table: str
    version: str = ""
    journal: str = ""
    dropped: int = 0


class Notes(msgspec.Struct, frozen=True, tag="notes", kw_only=True):
    """Some of the notes of the recording ``ident`` that will be asked for."""

    ident: int
    notes: tuple[Note, ...]


class End(msgspec.Struct, frozen=True, tag="end"):
    """Finish what is being written, give the camera back and go."""


class Up(msgspec.Struct, frozen=True, tag="up", kw_only=True):
    """The first frame is here.  ``watching``: there is a calibration, so it will report what it sees."""

    model: str
    watching: bool
    at_ns: int


class Saw(msgspec.Struct, frozen=True, tag="saw", kw_only=True):
    """What was seen in one frame."""

    observations: tuple[AnyCameraObservation, ...]


class Beat(msgspec.Struct, frozen=True, tag="beat", kw_only=True):
    """The child's heart, from the loop that looks at the frames.  Counts since its start; ages and spans in ns."""

    at_ns: int
    captured: int = 0
    seen: int = 0
    lost: int = 0
    damaged: int = 0
    overtaken: int = 0
    failed: int = 0
    age_ns: int = 0
    """Since the newest frame arrived."""
    stalled: bool = False
    worst_ns: int = 0
    """The longest that the eye took for a frame since the last beat."""
    memory: int = 0
    """Bytes resident."""
    ring: int = 0
    """Bytes of pictures in the recorder's memory."""
    markers_seen: int | None = None
    """Of the plane's markers; None while it is not known, and where there is none to look for."""
    shift_upx: int | None = None
    """How far they are from where they were when the plane was measured, in millionths of a pixel."""
    stamps: str = ""
    notes: tuple[str, ...] = ()


class Written(msgspec.Struct, frozen=True, tag="written", kw_only=True):
    """What became of a recording: ``path`` and its figures, or ``problem`` with what to do."""

    ident: int
    path: str = ""
    size: int = 0
    frames: int = 0
    deleted: int = 0
    problem: str = ""


class Gone(msgspec.Struct, frozen=True, tag="gone", kw_only=True):
    """The child cannot go on and ends.  ``over``: a file came to its end; starting again would play it again."""

    reason: str
    advice: str
    over: bool = False


ToChild = Begin | Save | Notes | End
ToDaemon = Up | Saw | Beat | Written | Gone

_encoder = msgspec.msgpack.Encoder()
_to_child: msgspec.msgpack.Decoder[ToChild] = msgspec.msgpack.Decoder(ToChild)
_to_daemon: msgspec.msgpack.Decoder[ToDaemon] = msgspec.msgpack.Decoder(ToDaemon)


def pack(message: ToChild | ToDaemon) -> bytes:
    """A message with its length.  Raises `WireProblem` for one over `MAX_MESSAGE`."""
    body = _encoder.encode(message)
    if len(body) > MAX_MESSAGE:
        raise WireProblem(f"a message of {len(body)} bytes is over the {MAX_MESSAGE} allowed")
    return _HEAD.pack(len(body)) + body


def length_of(head: bytes) -> int:
    """How many bytes follow.  Raises `WireProblem` for none and for more than `MAX_MESSAGE`."""
    (size,) = _HEAD.unpack(head)
    if not 0 < size <= MAX_MESSAGE:
        raise WireProblem(f"a message of {size} bytes was announced; 1 to {MAX_MESSAGE} are allowed")
    return int(size)


def for_child(body: bytes) -> ToChild:
    """A message to the child.  Raises `WireProblem`."""
    try:
        return _to_child.decode(body)
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        raise WireProblem(f"a message that is none ({error})") from error


def for_daemon(body: bytes) -> ToDaemon:
    """A message to the daemon.  Raises `WireProblem`."""
    try:
        message = _to_daemon.decode(body)
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        raise WireProblem(f"a message that is none ({error})") from error
    if isinstance(message, Saw) and len(message.observations) > MAX_OBSERVATIONS:
        raise WireProblem(f"{len(message.observations)} observations of one frame")
    return message
