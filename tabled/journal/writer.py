"""The journal of one table: append, then act.

Three connections to one SQLite file: entries (synced), the outbox cursor (not synced), reading.  Threads:
`append` may be called from any thread and blocks for one sync of the disk, so the daemon keeps one thread
for it; `read` and `pending` may be called from any thread and wait for no append; `advance` never waits for
an append either.  Do not carry a journal across a fork: start helper processes by spawn.

What a power cut leaves: every batch whose `append` returned, whole.  The last batch that had not returned
may be there or not, but never a part of it.  The cursor may fall back a little, so that the outbox repeats
some messages; it never runs ahead of what is on the disk.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
import threading
from collections.abc import Iterator, Sequence
from types import TracebackType
from typing import Self

from tabled.journal import database
from tabled.journal.entry import (
    KINDS,
    MAX_BATCH,
    MAX_BATCH_BYTES,
    MAX_SNAPSHOT,
    Draft,
    Entry,
    Head,
    Pending,
    Snapshot,
    canonical,
    check,
    link,
)
from tabled.journal.errors import DraftRefused, JournalMissing, damaged
from tabled.journal.lock import WriterLock
from tabled.journal.reader import JournalReader, closed
from tabled.journal.verify import cursor_sound

TAIL = 1024
"""Newest entries that `Journal.open` goes over; `read` checks whatever it reads, so a replay checks all."""

_INSERT = "INSERT INTO entry (pos, kind, version, wall_ns, leaf, hash, body, payload) VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
_Row = tuple[int, str, int, int, str | None, bytes, bytes, bytes | None]


class Journal:
    """The one writer of a journal file, and its outbox cursor.  Make it with `open`."""

    def __init__(self, lock: WriterLock, reader: JournalReader, writer: sqlite3.Connection) -> None:
        self.path = reader.path
        self.epoch = reader.epoch
        """Random name of this file, drawn when it was created: positions of another epoch mean nothing here."""
        self.notes: tuple[str, ...] = ()
        """What `open` put right and a technician should know; usually empty."""
        self._writer_lock = lock
        self._reader = reader
        self._writer = writer
        self._cursor_writer = database.cursor_writer(self.path)
        self._guard = threading.Lock()
        """Held by whoever writes to the file; `_cursor_guard` is only for the two numbers of the cursor."""
        self._cursor_guard = threading.Lock()
        self._closed = False
        self._head = reader.head()
        self._last_payload = reader.last_payload()
        self._cursor = self._saved = self._sound_cursor()

    @classmethod
    def open(cls, path: str | os.PathLike[str], *, create: bool = True, epoch: str | None = None) -> Journal:
        """Open for writing, and create the file first if it is absent and ``create`` says so.

        ``epoch`` (ASCII) is for tests and simulations that must repeat; else it is drawn.
        Raises `JournalBusy`, `JournalMissing`, `NotAJournal`, `JournalTooNew`, `JournalDamaged` (header, or one of
        the newest `TAIL` entries) or `JournalUnwritable`.  Nothing is changed in a file that is refused.
        """
        name = os.path.realpath(path)
        if not database.look(name) and not create:
            raise JournalMissing(f"there is no journal at {name}", "Check the path, or let the daemon create one")
        with contextlib.ExitStack() as undo:
            lock = WriterLock(name)
            undo.callback(lock.release)
            if not database.look(name):
                database.create(name, epoch)
            reader = undo.enter_context(JournalReader.open(name))
            try:
                writer = undo.enter_context(contextlib.closing(database.writer(name)))
                _check_tail(reader)
                writer.execute("BEGIN IMMEDIATE")  # a file that cannot be written is refused now, not at the first act
                writer.execute("ROLLBACK")
                journal = cls(lock, reader, writer)
            except sqlite3.Error as error:
                raise database.unwritable(name, error) from error
            undo.pop_all()
            return journal

    @property
    def next_pos(self) -> int:
        """Position that the first draft of the next batch will get."""
        return self._head.pos + 1

    def append(self, batch: Sequence[Draft]) -> range:
        """Append all drafts or none, in order; returns their positions once they are on the disk.

        Raises `DraftRefused` (over a cap; a fault of the program), `JournalUnwritable` (the disk; try again later
        with the same batch) or `JournalDamaged` (the file was changed by someone else).  After any of them nothing
        of the batch is in the journal.
        """
        with self._guard:
            self._must_be_open()
            first = self.next_pos
            if not batch:
                return range(first, first)
            rows, head = _chained(batch, self._head)
            try:
                self._write(rows, head)
            except sqlite3.Error as error:
                self._roll_back()
                raise database.unwritable(self.path, error) from error
            except BaseException:
                self._roll_back()
                raise
            self._head = head
            for pos, draft in enumerate(batch, first):
                if draft.payload is not None:
                    self._last_payload = pos
        self._save_cursor()
        return range(first, self.next_pos)

    def _write(self, rows: list[_Row], head: Head) -> None:
        db = self._writer
        db.execute("BEGIN IMMEDIATE")
        found = database.point(db, self.path, "head")
        if found != self._head:
            raise damaged(self.path, self.next_pos, f"another program changed the file (it now ends at {found.pos})")
        db.executemany(_INSERT, rows)
        db.execute("UPDATE head SET pos = ?, hash = ?", (head.pos, head.hash))
        db.execute("COMMIT")

    def _roll_back(self) -> None:
        """SQLite ends a transaction itself on some errors (a full disk), not on others."""
        if self._writer.in_transaction:
            with contextlib.suppress(sqlite3.Error):
                self._writer.execute("ROLLBACK")

    def read(self, after: int = 0, until: int | None = None) -> Iterator[Entry]:
        """Entries after ``after`` up to and with ``until`` (None: the newest now); see `JournalReader.read`."""
        return self._reader.read(after, until)

    def pending(self, after: int, limit: int) -> list[Pending]:
        """Up to ``limit`` (at most 1000) entries after ``after`` that are to be published, oldest first."""
        if after >= self._last_payload:
            return []  # so that an idle outbox does not scan the inputs since the last outcome again and again
        return self._reader.pending(after, limit)

    def cursor(self) -> int:
        """Position up to which everything was published and acknowledged; 0 at the beginning."""
        return self._cursor.pos

    def advance(self, pos: int) -> None:
        """Say that everything up to ``pos`` was published and acknowledged.  Going back is ignored.

        Takes effect at once and is saved unsynced: beside an append, or on a full disk, it is saved with the next
        one.  Losing it only means that messages are sent again.  Raises ValueError for a position not yet written.
        """
        if pos > self._head.pos:
            raise ValueError(f"position {pos} cannot have been published: the journal ends at {self._head.pos}")
        with self._cursor_guard:
            if self._closed:
                raise closed(self.path)
            if pos <= self._cursor.pos:
                return
            self._cursor = Head(pos, self._reader.hash_at(pos))
        self._save_cursor()

    def keep(self, kept: Snapshot, beside: int | None = None) -> bool:
        """Keep a state, and of the others only the one at ``beside``.

        Not synced, and False where the disk or the file does not take it now: it only saves time at the next start.
        Raises ValueError for one over its cap or of a position that is not written.
        """
        if not 0 < kept.position <= self._head.pos or len(kept.body) > MAX_SNAPSHOT:
            raise ValueError(f"a state of {len(kept.body)} bytes before entry {kept.position} cannot be kept")
        with self._guard:
            self._must_be_open()
            db = self._cursor_writer
            try:
                db.execute("BEGIN IMMEDIATE")
                db.execute(database.SNAPSHOTS)
                db.execute("INSERT OR REPLACE INTO snapshot VALUES (?, ?)", (kept.position, kept.body))
                others = kept.position if beside is None else beside
                db.execute("DELETE FROM snapshot WHERE pos NOT IN (?, ?)", (kept.position, others))
                db.execute("COMMIT")
            except sqlite3.Error:
                if db.in_transaction:
                    with contextlib.suppress(sqlite3.Error):
                        db.execute("ROLLBACK")
                return False
        return True

    def snapshots(self) -> list[Snapshot]:
        """States that were kept, the newest first; see `JournalReader.snapshots`."""
        return self._reader.snapshots()

    def _save_cursor(self) -> None:
        """Write the cursor if nobody is writing; whoever is will call this when done."""
        while self._cursor is not self._saved and self._guard.acquire(blocking=False):
            try:
                if self._closed:
                    return
                wanted = self._cursor
                self._cursor_writer.execute("UPDATE cursor SET pos = ?, hash = ?", (wanted.pos, wanted.hash))
                self._saved = wanted
            except sqlite3.Error:
                return  # not lost: `_cursor` holds it, and the append that meets the same disk will tell
            finally:
                self._guard.release()

    def _sound_cursor(self) -> Head:
        cursor = self._reader.cursor() if cursor_sound(self._reader) else None
        if cursor is not None and cursor.pos <= self._head.pos:
            return cursor
        self.notes = (
            "the mark of what was published was damaged and is back at the beginning: everything is published once "
            "more under the same ids; nothing has to be done, but check the disk",
        )
        start = Head(0, self._reader.genesis)
        with contextlib.closing(database.cursor_writer(self.path)) as db:
            db.execute("BEGIN IMMEDIATE")
            db.execute("DELETE FROM cursor")
            db.execute("INSERT INTO cursor VALUES (?, ?)", (start.pos, start.hash))
            db.execute("COMMIT")
        return start

    def size_bytes(self) -> int:
        """Bytes on the disk: the file and its write-ahead log."""
        total = 0
        for name in (self.path, self.path + "-wal"):
            with contextlib.suppress(FileNotFoundError):
                total += os.stat(name).st_size
        return total

    def close(self) -> None:
        """Save the cursor, close and let another daemon write.  A second call does nothing."""
        self._save_cursor()
        with self._guard, self._cursor_guard:
            if self._closed:
                return
            self._closed = True
            self._reader.close()
            self._cursor_writer.close()
            self._writer.close()
            self._writer_lock.release()

    def _must_be_open(self) -> None:
        if self._closed:
            raise closed(self.path)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _chained(batch: Sequence[Draft], head: Head) -> tuple[list[_Row], Head]:
    """The drafts as rows after ``head``, and the head that they make.  Raises `DraftRefused`."""
    if len(batch) > MAX_BATCH:
        raise DraftRefused(f"{len(batch)} drafts in one batch", f"This is a fault of the program: at most {MAX_BATCH}")
    size = 0
    rows = []
    previous = head.hash
    for pos, draft in enumerate(batch, head.pos + 1):
        size += check(draft)
        if size > MAX_BATCH_BYTES:
            raise DraftRefused(
                f"a batch of more than {MAX_BATCH_BYTES} bytes", "This is a fault of the program: append in parts"
            )
        version = KINDS[draft.kind].version
        leaf = None if draft.leaf is None else draft.leaf.encode()
        kind, body = draft.kind.encode(), draft.body
        previous = link(previous, canonical(pos, version, draft.wall_ns, kind, body, payload=draft.payload, leaf=leaf))
        rows.append((pos, draft.kind, version, draft.wall_ns, draft.leaf, previous, draft.body, draft.payload))
    return rows, Head(head.pos + len(rows), previous)


def _check_tail(reader: JournalReader) -> None:
    """Raise `JournalDamaged` unless the newest entries are chained and end where the file says it ends."""
    head, last = reader.head(), reader.last_position()
    if head.pos < 0 or (head.pos == 0 and head.hash != reader.genesis):
        raise damaged(reader.path, 0, "it does not say where the journal ends")
    for _ in reader.read_as_written(max(0, min(last, head.pos) - TAIL)):
        pass
    if last > head.pos:
        raise damaged(reader.path, head.pos + 1, f"it stands beyond entry {head.pos}, which was written last")
