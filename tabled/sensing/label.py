"""What a person saw in a recording: visits of hands and landings of chips, as JSON beside it.

``NAME.mcap.labels.json``, one object::

    {"tabled": "labels", "schema": 1, "recording": "NAME.mcap", "frames": 1800, "revision": 12,
     "who": "…",
     "visits":   [{"seat": "3", "enter": 120, "leave": 151, "by": "player"}],
     "landings": [{"seat": "3", "frame": 149, "x_px": 640, "y_px": 310, "denomination": 100}]}

Frames count from 0 in the order of the recording.  A visit is the half-open span [enter, leave): ``enter`` is the first
frame with the hand over the seat's line, ``leave`` the first without it again; null while nobody has marked it.
``by`` is "player", "dealer" or "unsure".  A landing is the first frame in which the chip lies free, with where its
middle is in the raw picture; ``denomination`` 0 where the colour cannot be told.  ``revision`` grows by one a change.
"""

from __future__ import annotations

import contextlib
import os
import secrets
from typing import Annotated, Literal

import msgspec

from tabled.sensing.recorder import LABELS_SUFFIX
from tabled.sensing.recording import Recording

SCHEMA = 1
MAX_BYTES = 4 << 20
MAX_LABELS = 5000

Seat = Annotated[str, msgspec.Meta(pattern=r"^[0-9A-Za-z]{1,4}$")]
FrameIndex = Annotated[int, msgspec.Meta(ge=0, le=10_000_000)]


class LabelError(ValueError):
    """Labels that cannot be used; the message is one line that says what to do."""


class Visit(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A hand over a seat's line in the frames [enter, leave)."""

    seat: Seat
    enter: FrameIndex
    leave: FrameIndex | None = None
    by: Literal["player", "dealer", "unsure"] = "player"


class Landing(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A chip or pile that lies free from this frame on; where, in the raw picture's pixels."""

    seat: Seat
    frame: FrameIndex
    x_px: Annotated[int, msgspec.Meta(ge=0, le=20_000)]
    y_px: Annotated[int, msgspec.Meta(ge=0, le=20_000)]
    denomination: Annotated[int, msgspec.Meta(ge=0, le=10**12)] = 0


class Labels(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The whole of a labels file."""

    tabled: Literal["labels"] = "labels"
    schema: int = SCHEMA
    recording: str = ""
    frames: int = 0
    revision: Annotated[int, msgspec.Meta(ge=0)] = 0
    who: Annotated[str, msgspec.Meta(max_length=64)] = ""
    visits: Annotated[tuple[Visit, ...], msgspec.Meta(max_length=MAX_LABELS)] = ()
    landings: Annotated[tuple[Landing, ...], msgspec.Meta(max_length=MAX_LABELS)] = ()


class Stale(LabelError):
    """Somebody else has saved meanwhile; ``present`` is what is on the disk."""

    def __init__(self, now: Labels) -> None:
        super().__init__("these labels were changed in another window; that state is shown now, do the last mark again")
        self.present = now


def decode(raw: bytes, *, frames: int) -> Labels:
    """Labels from JSON, every frame within the recording.  Raises `LabelError` with the field."""
    if len(raw) > MAX_BYTES:
        raise LabelError(f"labels of more than {MAX_BYTES >> 20} MB; split the recording")
    try:
        labels = msgspec.json.decode(raw, type=Labels)
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        raise LabelError(f"these are no labels ({error}); correct the file, or move it away and begin anew") from error
    if labels.schema != SCHEMA:
        raise LabelError(f"labels of schema {labels.schema}, this version reads {SCHEMA}; upgrade tabled")
    for visit in labels.visits:
        last = visit.enter if visit.leave is None else visit.leave
        if visit.enter >= frames or last > frames or (visit.leave is not None and visit.leave <= visit.enter):
            raise LabelError(f"a visit of seat {visit.seat} from frame {visit.enter} to {visit.leave} of {frames}")
    for landing in labels.landings:
        if landing.frame >= frames:
            raise LabelError(f"a landing at seat {landing.seat} in frame {landing.frame} of {frames}")
    return labels


class LabelBook:
    """The labels of one recording, on the disk after each change."""

    def __init__(self, recording: Recording) -> None:
        self.recording = recording
        self.path = recording.path.with_name(recording.path.name + LABELS_SUFFIX)
        self.frames = len(recording.stamps_ns)

    def load(self) -> Labels:
        """What is on the disk; empty labels where nothing is.  Raises `LabelError`."""
        try:
            with self.path.open("rb") as file:
                raw = file.read(MAX_BYTES + 1)
        except FileNotFoundError:
            return Labels(recording=self.recording.path.name, frames=self.frames)
        except OSError as error:
            raise LabelError(f"{self.path}: cannot be read ({error.strerror}); check its owner and the disk") from error
        try:
            labels = decode(raw, frames=self.frames)
        except LabelError as error:
            raise LabelError(f"{self.path}: {error}") from error
        if labels.frames not in (0, self.frames):
            raise LabelError(
                f"{self.path}: is of a recording of {labels.frames} frames, this one has {self.frames}; move it away"
            )
        return labels

    def store(self, new: Labels) -> Labels:
        """Keep ``new``, whose revision must be the one on the disk; what is kept has the next.

        Written beside the old file and renamed over it: a power cut leaves the one or the other.  Raises `Stale`,
        `LabelError`.
        """
        now = self.load()
        if new.revision != now.revision:
            raise Stale(now)
        kept = msgspec.structs.replace(
            new,
            recording=self.recording.path.name,
            frames=self.frames,
            revision=now.revision + 1,
            visits=tuple(sorted(new.visits, key=lambda v: (v.enter, v.seat, v.leave or 0))),
            landings=tuple(sorted(new.landings, key=lambda x: (x.frame, x.seat, x.x_px, x.y_px))),
        )
        raw = msgspec.json.format(msgspec.json.encode(kept), indent=1) + b"\n"
        scratch = self.path.with_name(f".{self.path.name}.{secrets.token_hex(4)}")
        try:
            with scratch.open("xb") as file:
                file.write(raw)
                file.flush()
                os.fsync(file.fileno())
            os.replace(scratch, self.path)
        except OSError as error:
            with contextlib.suppress(OSError):
                scratch.unlink(missing_ok=True)
            raise LabelError(
                f"{self.path}: could not be written ({error.strerror}); free some space, the page keeps what you marked"
            ) from error
        return kept
