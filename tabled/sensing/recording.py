"""Recordings: a stretch of a table's life in one MCAP file, written whole or not at all, and read again.

| topic | what | encoding |
|---|---|---|
| ``/camera`` | pictures as they came from the camera, ``foxglove.CompressedImage`` | protobuf |
| ``/bytes/<device>`` | raw bytes to and from a reader or panel, ``tabled.Bytes`` | json |
| ``/observations`` | what devices and camera reported, ``tabled.Observation`` | json |
| ``/outcomes`` | rulings, questions, alerts, ``tabled.Outcome`` | json |

``log_time`` is wall time (ns since 1970), as MCAP's tools want it; ``publish_time`` is the host's monotonic clock, by
which everything is ordered.  The metadata record ``tabled`` has `Facts`; each file of the calibration is an
attachment, so a recording can be looked at by a later detector with the table as it was.
"""

from __future__ import annotations

import contextlib
import importlib
import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Literal

import msgspec

from tabled.sensing import recording_schema as schema

CAMERA, OBSERVATIONS, OUTCOMES, BYTES = "/camera", "/observations", "/outcomes", "/bytes/"
CHUNK = 4 << 20
"""Pictures are compressed already; so large a chunk is one read of the disk for a second of video."""
MAX_FILE = 8 << 30
MAX_MESSAGES = 1_000_000
SUFFIX = ".mcap"

NoteKind = Literal["bytes", "observation", "outcome"]


class RecordingError(Exception):
    """A recording cannot be written or read; the message is one line that says what to do."""


class Still(msgspec.Struct, frozen=True):
    """A picture and its time on the host's monotonic clock."""

    stamp_ns: int
    jpeg: bytes


class Note(msgspec.Struct, frozen=True, array_like=True):
    """Something that is no picture: ``body`` is JSON, ``device`` whose bytes they are ("" for other kinds)."""

    at_ns: int
    kind: NoteKind
    body: bytes
    device: str = ""


class Facts(msgspec.Struct, frozen=True, kw_only=True):
    """What a recording says of itself.  ``wall_offset_ns`` added to a monotonic time gives wall time."""

    site: str
    table: str
    reason: str
    wall_offset_ns: int
    version: str = ""
    camera: str = ""
    calibration: str = ""
    journal: str = ""
    """The epoch of the journal whose positions the outcomes name."""
    frames: int = 0
    first_ns: int = 0
    last_ns: int = 0
    dropped: int = 0
    """Pictures and notes of this stretch that no longer had room in memory."""


def write(
    path: Path, facts: Facts, stills: Iterable[Still], notes: Iterable[Note], calibration: Mapping[str, bytes] = {}
) -> int:
    """Write a recording; its size in bytes.  Either the whole file is there under its name afterwards, or nothing is.

    Raises OSError (a full disk among others) and `RecordingError` when the package mcap is missing.
    """
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with part.open("xb") as file:
            _fill(file, facts, stills, notes, calibration)
            file.flush()
            os.fsync(file.fileno())
        os.rename(part, path)
    except BaseException:
        with contextlib.suppress(OSError):
            part.unlink(missing_ok=True)
        raise
    _sync(path.parent)
    return path.stat().st_size


def _fill(
    file: Any, facts: Facts, stills: Iterable[Still], notes: Iterable[Note], calibration: Mapping[str, bytes]
) -> None:
    mcap = _mcap("mcap.writer")
    writer = mcap.Writer(file, chunk_size=CHUNK, compression=mcap.CompressionType.NONE, enable_data_crcs=True)
    writer.start(profile="", library="tabled")
    channels = _Channels(writer)
    offset = facts.wall_offset_ns

    def add(channel: int, at_ns: int, data: bytes) -> None:
        writer.add_message(channel, log_time=max(0, at_ns + offset), data=data, publish_time=max(0, at_ns))

    for still in stills:
        add(channels.camera(), still.stamp_ns, schema.image(max(0, still.stamp_ns + offset), still.jpeg))
    for note in notes:
        add(channels.of(note), note.at_ns, note.body)
    for name in sorted(calibration):
        writer.add_attachment(
            0, max(0, facts.last_ns + offset), f"calibration/{name}", "application/json", calibration[name]
        )
    plain = {k: str(v) for k, v in msgspec.to_builtins(facts).items()}
    writer.add_metadata("tabled", plain)
    writer.finish()


class _Channels:
    """Registers schemas and channels as they are needed."""

    def __init__(self, writer: Any) -> None:
        self._writer = writer
        self._known: dict[str, int] = {}
        self._schemas: dict[str, int] = {}

    def camera(self) -> int:
        return self._channel(CAMERA, schema.IMAGE_NAME, "protobuf", schema.IMAGE_SCHEMA, "protobuf")

    def of(self, note: Note) -> int:
        if note.kind == "bytes":
            return self._json(BYTES + note.device, schema.BYTES_NAME, schema.BYTES_SCHEMA)
        if note.kind == "outcome":
            return self._json(OUTCOMES, schema.OUTCOME_NAME, schema.OUTCOME_SCHEMA)
        return self._json(OBSERVATIONS, schema.OBSERVATION_NAME, schema.OBSERVATION_SCHEMA)

    def _json(self, topic: str, name: str, body: bytes) -> int:
        return self._channel(topic, name, "jsonschema", body, "json")

    def _channel(self, topic: str, name: str, encoding: str, body: bytes, messages: str) -> int:
        if topic not in self._known:
            if name not in self._schemas:
                self._schemas[name] = self._writer.register_schema(name=name, encoding=encoding, data=body)
            self._known[topic] = self._writer.register_channel(
                topic=topic, message_encoding=messages, schema_id=self._schemas[name]
            )
        return self._known[topic]


class Recording:
    """One recording, opened for reading.  A file that is cut short or damaged is refused with what to do."""

    def __init__(self, path: Path, facts: Facts, times: tuple[int, ...]) -> None:
        self.path = path
        self.facts = facts
        self.stamps_ns = times
        """The monotonic time of each picture, in order."""
        self._walls = tuple(t + facts.wall_offset_ns for t in times)

    @classmethod
    def open(cls, path: Path) -> Recording:
        """Read the index.  Raises `RecordingError`."""
        with _reading(path) as reader:
            summary = reader.get_summary()
            if summary is None or summary.statistics is None:
                raise RecordingError(f"{path}: was not written to its end; take another recording")
            if summary.statistics.message_count > MAX_MESSAGES:
                raise RecordingError(f"{path}: has more than {MAX_MESSAGES} messages; is it a recording of tabled?")
            said = {m.name: m.metadata for m in reader.iter_metadata()}
            if "tabled" not in said:
                raise RecordingError(f"{path}: is MCAP but not of tabled; give one that `tabled record list` names")
            facts = msgspec.convert(said["tabled"], Facts, strict=False)
            times = tuple(m.publish_time for _, _, m in reader.iter_messages(topics=[CAMERA]))
        return cls(path, facts, times)

    def frames(self) -> Iterator[Still]:
        """All pictures in order.  Raises `RecordingError` where the file is damaged."""
        with _reading(self.path) as reader:
            for _, _, message in reader.iter_messages(topics=[CAMERA]):
                yield Still(message.publish_time, schema.jpeg_of(message.data))

    def frame(self, index: int) -> Still:
        """One picture.  Raises IndexError and `RecordingError`."""
        stamp_ns, wall_ns = self.stamps_ns[index], self._walls[index]
        twins = index - self._walls.index(wall_ns)  # pictures of the very same time
        with _reading(self.path) as reader:
            same = reader.iter_messages(topics=[CAMERA], starting_at=wall_ns, ending_before=wall_ns + 1)
            for n, (_, _, message) in enumerate(same):
                if n == twins:
                    return Still(stamp_ns, schema.jpeg_of(message.data))
        raise RecordingError(f"{self.path}: frame {index} is not there; the file was changed, open it again")

    def notes(self, topic: str) -> Iterator[tuple[int, dict[str, Any]]]:
        """(monotonic ns, JSON object) of one of the other topics."""
        with _reading(self.path) as reader:
            for _, _, message in reader.iter_messages(topics=[topic]):
                yield message.publish_time, msgspec.json.decode(message.data, type=dict[str, Any])

    def topics(self) -> dict[str, int]:
        """Messages by topic."""
        with _reading(self.path) as reader:
            summary = reader.get_summary()
            counts = summary.statistics.channel_message_counts
            return {c.topic: counts.get(i, 0) for i, c in sorted(summary.channels.items())}

    def calibration(self) -> dict[str, bytes]:
        """The calibration's files by their names, as the table had them."""
        with _reading(self.path) as reader:
            return {
                a.name.removeprefix("calibration/"): a.data
                for a in reader.iter_attachments()
                if a.name.startswith("calibration/")
            }


@contextlib.contextmanager
def _reading(path: Path) -> Iterator[Any]:
    mcap = _mcap("mcap.reader")
    try:
        with path.open("rb") as file:
            yield mcap.SeekingReader(file, validate_crcs=True, record_size_limit=MAX_FILE)
    except FileNotFoundError as error:
        raise RecordingError(f"{path}: is not there; `tabled record list` names what is") from error
    except OSError as error:
        raise RecordingError(f"{path}: cannot be read ({error.strerror or error}); check the disk") from error
    except RecordingError:
        raise
    except Exception as error:  # a damaged file makes the reader raise what it will: struct, value, key errors
        raise RecordingError(f"{path}: is damaged or no recording ({error}); take another one") from error


def _mcap(module: str) -> Any:
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise RecordingError(
            "the package mcap is not installed; run `pip install 'tabled[camera]'` where tabled is installed"
        ) from error


def _sync(folder: Path) -> None:
    with contextlib.suppress(OSError):  # some file systems cannot, and lose the newest name at most
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
