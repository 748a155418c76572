"""Reading a journal: checked as it is read, in bounded memory, beside a running writer.

Threads: a reader may be used from any thread; a lock lets one chunk through at a time.  Readers never make
the writer wait, and no read transaction outlives a chunk, so a slow reader does not let the WAL grow.
Processes: any number may read one journal.  Do not carry a reader or a journal across a fork.
"""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Iterator
from types import TracebackType
from typing import Any, Self

from tabled.journal import codec, database
from tabled.journal.entry import HASH_BYTES, Entry, Head, Pending, Snapshot, canonical, genesis, link
from tabled.journal.errors import JournalClosed, JournalDamaged, JournalMissing, damaged

_COLUMNS = "pos, kind, body, wall_ns, payload, leaf, hash, version"
_CHUNK_ROWS = 512
_CHUNK_BYTES = 4 << 20
MAX_PENDING = 1000
"""Most that one call of `JournalReader.pending` returns."""


class JournalReader:
    """A journal opened for reading only: for replay, verification and export.  Takes no lock of the writer's."""

    def __init__(self, path: str, db: sqlite3.Connection, epoch: str) -> None:
        self.path = path
        self.epoch = epoch
        """Random name of this file, drawn when it was created."""
        self.genesis = genesis(epoch)
        self._db: sqlite3.Connection | None = db
        self._lock = threading.Lock()

    @classmethod
    def open(cls, path: str | os.PathLike[str]) -> JournalReader:
        """Open and check the header.

        Raises `JournalMissing`, `NotAJournal`, `JournalTooNew`, `JournalDamaged` (position 0) or
        `JournalUnwritable` (the folder is read-only while entries wait in the WAL).
        """
        name = os.path.realpath(path)
        if not database.look(name):
            raise JournalMissing(f"there is no journal at {name}", "Check the path")
        try:
            db = database.read_only(name)
        except sqlite3.Error as error:
            raise database.header_error(name, error) from error
        try:
            return cls(name, db, database.header(db, name))
        except BaseException:
            db.close()
            raise

    def head(self) -> Head:
        """Newest durable entry's position and hash, as the file says."""
        with self._lock:
            return database.point(self._open(), self.path, "head")

    def cursor(self) -> Head:
        """Where the outbox stood, as the file says: everything up to it was published and acknowledged."""
        with self._lock:
            return database.point(self._open(), self.path, "cursor")

    def last_position(self) -> int:
        """Highest position there is a row for (`head` says what it should be); 0 when there is none."""
        return self._highest("SELECT pos FROM entry ORDER BY pos DESC LIMIT 1")

    def last_payload(self) -> int:
        """Highest position that has something to publish; 0 when there is none."""
        return self._highest("SELECT pos FROM entry WHERE payload IS NOT NULL ORDER BY pos DESC LIMIT 1")

    def _highest(self, query: str) -> int:
        with self._lock:
            try:
                row = self._open().execute(query).fetchone()
            except sqlite3.Error as error:
                raise damaged(self.path, 1, str(error)) from error
        return row[0] if row is not None and isinstance(row[0], int) else 0

    def hash_at(self, pos: int) -> bytes:
        """Stored hash of entry ``pos``, the genesis for 0.  Raises `JournalDamaged` if there is none."""
        if pos == 0:
            return self.genesis
        with self._lock:
            try:
                row = self._open().execute("SELECT hash FROM entry WHERE pos = ?", (pos,)).fetchone()
            except sqlite3.Error as error:
                raise damaged(self.path, pos, str(error)) from error
        if row is None or not isinstance(row[0], bytes) or len(row[0]) != HASH_BYTES:
            raise damaged(self.path, pos, "its hash is missing")
        return row[0]

    def read(self, after: int = 0, until: int | None = None) -> Iterator[Entry]:
        """Entries after position ``after`` up to and with ``until`` (None: the newest at this moment), in order.

        Bodies come in today's format (`codec.upcast`).  Every entry is checked against the chain before it is
        yielded; at the first bad one `JournalDamaged` is raised, and all before it have been yielded.
        """
        for entry in self.read_as_written(after, until):
            yield codec.upcast(entry)

    def read_as_written(self, after: int = 0, until: int | None = None) -> Iterator[Entry]:
        """As `read`, with bodies in the format of their time: what the hashes were made of."""
        if after < 0:
            raise ValueError(f"positions count from 1: after={after}")
        head = self.head()
        last = head.pos if until is None else min(until, head.pos)
        previous = self.hash_at(after) if after < last else b""
        while after < last:
            rows, error = self._rows(after, last)
            for row in rows:
                entry = self._checked(row, after + 1, previous)
                after, previous = entry.pos, entry.hash
                if after == head.pos and previous != head.hash:
                    raise damaged(self.path, after, "it is not the entry that was written last")
                yield entry
            if error is not None:
                raise damaged(self.path, after + 1, str(error)) from error
            if not rows:
                raise damaged(self.path, after + 1, f"it is missing, though the journal goes on to {last}")

    def pending(self, after: int, limit: int) -> list[Pending]:
        """Up to ``limit`` entries after ``after`` that have a payload, oldest first.

        Each is checked against the hash of the entry before it.  Raises `JournalDamaged` when the first of them is
        bad; a bad one further on ends the list before it.
        """
        query = (
            f"SELECT {', '.join('e.' + c for c in _COLUMNS.split(', '))}, p.hash FROM entry e"  # noqa: S608 - constants
            " LEFT JOIN entry p ON p.pos = e.pos - 1 WHERE e.pos > ? AND e.payload IS NOT NULL ORDER BY e.pos LIMIT ?"
        )
        if after < 0 or limit < 1:
            raise ValueError(f"positions count from 1, and at least one entry is asked for: {after=}, {limit=}")
        limit = min(limit, MAX_PENDING)
        rows, error = self._fetch(query, (after, limit), limit)
        found: list[Pending] = []
        try:
            for *row, before in rows:
                found.append(self._to_publish(tuple(row), self.genesis if row[0] == 1 else before))
        except JournalDamaged:
            if not found:
                raise
        if error is not None and not found:
            raise damaged(self.path, after + 1, f"an entry from here on cannot be read: {error}") from error
        return found

    def snapshots(self) -> list[Snapshot]:
        """States that were kept, the newest first; none where they cannot be read, for nothing depends on them.

        Their bytes are not checked here: an entry of kind "state" has the hash of the right ones.
        """
        with self._lock:
            try:
                rows = self._open().execute("SELECT pos, body FROM snapshot ORDER BY pos DESC").fetchall()
            except sqlite3.Error:
                return []
        return [Snapshot(pos, body) for pos, body in rows if type(pos) is int and type(body) is bytes]

    def _to_publish(self, row: tuple[Any, ...], before: Any) -> Pending:
        entry = self._checked(row, row[0], before)
        if entry.payload is None or entry.leaf is None:
            raise damaged(self.path, entry.pos, "it has a payload but no topic")
        return Pending(entry.pos, entry.leaf, entry.payload)

    def _rows(self, after: int, last: int) -> tuple[list[tuple[Any, ...]], sqlite3.Error | None]:
        query = f"SELECT {_COLUMNS} FROM entry WHERE pos > ? AND pos <= ? ORDER BY pos"  # noqa: S608 - constants
        return self._fetch(query, (after, last), _CHUNK_ROWS)

    def _fetch(
        self, query: str, values: tuple[int, ...], most: int
    ) -> tuple[list[tuple[Any, ...]], sqlite3.Error | None]:
        """One chunk of rows, and the error that ended it early; at least one row, then at most `_CHUNK_BYTES`."""
        rows: list[tuple[Any, ...]] = []
        size = 0
        with self._lock:
            db = self._open()
            try:
                cursor = db.execute(query, values)
                try:
                    for row in cursor:
                        rows.append(row)
                        size += _size(row[2]) + _size(row[4])
                        if len(rows) >= most or size >= _CHUNK_BYTES:
                            break
                finally:
                    cursor.close()  # ends the read transaction
            except sqlite3.Error as error:
                return rows, error
        return rows, None

    def _checked(self, row: tuple[Any, ...], pos: int, previous: Any) -> Entry:
        """The row as an entry, when it is the one at ``pos`` and follows from the hash ``previous``."""
        if row[0] != pos:
            raise damaged(self.path, pos, f"it is missing: entry {row[0]} stands in its place")
        _, kind, body, wall_ns, payload, leaf, digest, version = row
        if not _sane(row) or not isinstance(previous, bytes):
            raise damaged(self.path, pos, "its fields, or those of the entry before it, are not of the right type")
        if link(previous, canonical(pos, version, wall_ns, kind, body, payload=payload, leaf=leaf)) != digest:
            raise damaged(self.path, pos, "it does not match its hash: a byte of it, or the entry before it, changed")
        # Whatever has the right hash was text when it was written.
        return Entry(pos, kind.decode(), body, wall_ns, payload, leaf and leaf.decode(), digest, version)

    def _open(self) -> sqlite3.Connection:
        if self._db is None:
            raise closed(self.path)
        return self._db

    def close(self) -> None:
        """Close; a second call does nothing.  An iterator that is still in use then raises `JournalClosed`."""
        with self._lock:
            if self._db is not None:
                self._db.close()
                self._db = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _size(value: Any) -> int:
    return len(value) if type(value) is bytes else 0


def _sane(row: tuple[Any, ...]) -> bool:
    """True when every field has a type that it can have had when it was written."""
    _, kind, body, wall_ns, payload, leaf, digest, version = row
    return (
        type(kind) is bytes
        and type(body) is bytes
        and type(wall_ns) is int
        and (payload is None or type(payload) is bytes)
        and (leaf is None or type(leaf) is bytes)
        and type(digest) is bytes
        and type(version) is int
        and 0 <= version < 1 << 32
    )


def closed(path: str) -> JournalClosed:
    """The error for a use after close."""
    return JournalClosed(f"journal {path} is closed", "This is a fault of the program: report it with the log")
