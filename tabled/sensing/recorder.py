"""The last half minute in memory, and its way to the disk when somebody disputes a ruling.

`Ring` keeps what is young enough and fits; `Shelf` is the folder of recordings with its quota.  Nothing here starts a
thread: the caller decides where the writing is done.
"""

from __future__ import annotations

import contextlib
import os
import re
import threading
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Generic, TypeVar

import msgspec

from tabled.sensing.recording import SUFFIX, Facts, Note, RecordingError, Still, write

NOTE_OVERHEAD = 128
STILL_OVERHEAD = 128
FREE_BYTES = 512 << 20
"""What a recording leaves free on its disk: the journal may be on the same one, and is worth more."""
MAX_FILES = 10_000
LABELS_SUFFIX = ".labels.json"
KEEP_SUFFIX = ".keep"
_NAME = re.compile(r"[^A-Za-z0-9_-]+")

T = TypeVar("T")


class Ring(Generic[T]):
    """Things with a time and a size: the newest ``span_ns`` of them within ``limit`` bytes.  Any thread."""

    def __init__(self, span_ns: int, limit: int) -> None:
        self._span_ns, self._limit = span_ns, limit
        self._kept: deque[tuple[int, int, T]] = deque()
        self._lock = threading.Lock()
        self.size = 0
        self._squeezed: deque[int] = deque(maxlen=4096)

    def put(self, at_ns: int, size: int, thing: T) -> None:
        """Take one; older ones go when they are too old or have no room."""
        with self._lock:
            self._kept.append((at_ns, size, thing))
            self.size += size
            while self._kept and self._kept[0][0] < at_ns - self._span_ns:
                self.size -= self._kept.popleft()[1]
            while self.size > self._limit and self._kept:
                old_ns, old_size, _ = self._kept.popleft()
                self.size -= old_size
                self._squeezed.append(old_ns)

    def since(self, at_ns: int) -> list[T]:
        """All that are not older than ``at_ns``, oldest first."""
        with self._lock:
            return [thing for when, _, thing in self._kept if when >= at_ns]

    def squeezed_since(self, at_ns: int) -> int:
        """How many of that time had no room (4096 are counted at most)."""
        with self._lock:
            return sum(when >= at_ns for when in self._squeezed)


def still_size(still: Still) -> int:
    """Bytes of memory that a picture takes."""
    return len(still.jpeg) + STILL_OVERHEAD


def note_size(note: Note) -> int:
    """Bytes of memory that a note takes."""
    return len(note.body) + NOTE_OVERHEAD


class Kept(msgspec.Struct, frozen=True, kw_only=True):
    """A file on the shelf.  ``protected``: somebody labelled it or put a ``.keep`` beside it; it is never deleted."""

    path: Path
    size: int
    modified_ns: int
    protected: bool


class ShelfFull(Exception):
    """No room for a recording; the message is one line that says what to do."""


class Shelf:
    """The folder of recordings, ``quota`` bytes in all.  ``free`` tells how many bytes its disk has left."""

    def __init__(self, folder: Path, quota: int, free: Callable[[Path], int] | None = None) -> None:
        self.folder = folder
        self.quota = quota
        self._free = free or free_bytes

    def files(self) -> list[Kept]:
        """The recordings, oldest first; [] when there is no folder.  Raises OSError."""
        found = []
        with contextlib.suppress(FileNotFoundError):
            for n, entry in enumerate(os.scandir(self.folder)):
                if n >= MAX_FILES:
                    break
                path = Path(entry.path)
                if path.suffix == SUFFIX and not path.name.startswith(".") and entry.is_file():
                    about = entry.stat()
                    beside = (path.with_name(path.name + end) for end in (LABELS_SUFFIX, KEEP_SUFFIX))
                    protected = any(b.exists() for b in beside)
                    found.append(
                        Kept(path=path, size=about.st_size, modified_ns=about.st_mtime_ns, protected=protected)
                    )
        return sorted(found, key=lambda k: (k.modified_ns, k.path.name))

    def make_room(self, size: int) -> list[Path]:
        """Delete the oldest that nobody protects until ``size`` bytes have room; what was deleted.

        Nothing is deleted where that would not be enough.  Raises `ShelfFull` and OSError.
        """
        self.folder.mkdir(parents=True, exist_ok=True)
        self._sweep_parts()
        files = self.files()
        over = sum(k.size for k in files) + size - self.quota
        short = max(over, size + FREE_BYTES - self._free(self.folder), 0)
        doomed, gained = [], 0
        for kept in files:
            if gained >= short:
                break
            if not kept.protected:
                doomed.append(kept.path)
                gained += kept.size
        if gained < short:
            what = "its disk" if over <= 0 else f"the {self.quota >> 20} MB of [camera] record_quota_mb"
            raise ShelfFull(
                f"{self.folder}: {what} has no room for a recording of {size >> 20} MB; move recordings away "
                "(labelled ones and those with a .keep beside them are never deleted), or allow more"
            )
        for path in doomed:
            path.unlink(missing_ok=True)
        return doomed

    def _sweep_parts(self) -> None:
        """Halves that a killed process left; the name ends in its number."""
        for part in list(self.folder.glob(f".*{SUFFIX}.*.part"))[:MAX_FILES]:
            if not Path("/proc", part.name.rsplit(".", 2)[1]).exists():
                part.unlink(missing_ok=True)

    def name_for(self, stamp: str, reason: str) -> Path:
        """A free name: ``20260131T120000Z-question.mcap``, with a number where that is taken."""
        base = f"{stamp}-{_NAME.sub('-', reason).strip('-')[:40] or 'recording'}"
        for n in range(1, 1000):
            path = self.folder / (f"{base}{SUFFIX}" if n == 1 else f"{base}-{n}{SUFFIX}")
            if not path.exists():
                return path
        raise ShelfFull(f"{self.folder}: has a thousand recordings of one second; look at what asks for them")


def free_bytes(folder: Path) -> int:
    """What an ordinary user may still write to the folder's disk."""
    about = os.statvfs(folder)
    return about.f_bavail * about.f_frsize


class Saved(msgspec.Struct, frozen=True, kw_only=True):
    """A recording that is on the disk."""

    path: str
    size: int
    frames: int
    deleted: int


def save(
    shelf: Shelf,
    stamp: str,
    facts: Facts,
    stills: list[Still],
    notes: Iterable[Note],
    *,
    calibration: Mapping[str, bytes] = {},
) -> Saved:
    """Make room and write; raises `RecordingError` with what to do, and then no file is there."""
    kept_notes = list(notes)
    times = [s.stamp_ns for s in stills] + [n.at_ns for n in kept_notes]
    facts = msgspec.structs.replace(
        facts, frames=len(stills), first_ns=min(times, default=0), last_ns=max(times, default=0)
    )
    size = sum(map(still_size, stills)) + sum(map(note_size, kept_notes)) + (1 << 20)
    try:
        deleted = shelf.make_room(size)
        path = shelf.name_for(stamp, facts.reason)
        written = write(path, facts, stills, kept_notes, calibration)
    except ShelfFull as error:
        raise RecordingError(str(error)) from error
    except OSError as error:
        raise RecordingError(
            f"{shelf.folder}: the recording could not be written ({error.strerror or error}); free some space there or "
            "give [camera] record another folder that tabled may write to"
        ) from error
    return Saved(path=str(path), size=written, frames=len(stills), deleted=len(deleted))
