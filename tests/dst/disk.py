"""The disk below the journal: refuses, is slow, or is the last thing that a dying process touched.

The journal is the real one on a real SQLite file.  Only its writing connection is wrapped, so that a statement can
fail as SQLite reports it, and the process can die before or after any of them.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tabled.journal import Journal
from tests.dst.death import Reaper


class Disk:
    """State of the disk.  ``refuses`` names the statement that fails: BEGIN, INSERT or COMMIT; "" for none."""

    def __init__(self, reaper: Reaper) -> None:
        self.refuses = ""
        self.latency_ns = 400_000
        self.reaper = reaper
        self.durable_cursor = (0, b"")
        self.begun = 0

    def open(self, path: Path, epoch: str) -> Journal:
        """Open the journal file with this disk below it."""
        journal = Journal.open(path, epoch=epoch)
        journal._writer = _Connection(journal._writer, self)  # type: ignore[assignment]  # stands in for a connection
        return journal

    @staticmethod
    def drop(journal: Journal) -> None:
        """What the kernel does with a dead process's files: closes them and frees the lock; nobody says good-bye."""
        journal._closed = True
        journal._reader.close()
        journal._cursor_writer.close()
        journal._writer.close()
        journal._writer_lock.release()

    def power_cut(self, path: Path) -> None:
        """The outbox's cursor is not synced: a power cut takes back what came after the last append."""
        with sqlite3.connect(path) as db:
            if self.durable_cursor[1]:
                db.execute("UPDATE cursor SET pos = ?, hash = ?", self.durable_cursor)
        db.close()


class _Connection:
    """A `sqlite3.Connection` as far as the journal's writer uses one."""

    def __init__(self, db: sqlite3.Connection, disk: Disk) -> None:
        self._db = db
        self._disk = disk

    def _statement(self, sql: str) -> str:
        word = sql.split(None, 1)[0].upper()
        self._disk.reaper.point(f"disk before {word}")
        if self._disk.refuses == word:
            error = sqlite3.OperationalError("database or disk is full")
            error.sqlite_errorcode = sqlite3.SQLITE_FULL
            error.sqlite_errorname = "SQLITE_FULL"
            raise error
        return word

    def execute(self, sql: str, values: Sequence[Any] = ()) -> sqlite3.Cursor:
        word = self._statement(sql)
        found = self._db.execute(sql, values)
        if word == "COMMIT":
            row = self._db.execute("SELECT pos, hash FROM cursor").fetchone()
            self._disk.durable_cursor = (row[0], row[1])
            self._disk.reaper.point("disk after COMMIT")
        return found

    def executemany(self, sql: str, rows: Sequence[Sequence[Any]]) -> sqlite3.Cursor:
        self._statement(sql)
        if any(row[-1] is not None for row in rows):
            self._disk.reaper.point("disk before outcomes")
        return self._db.executemany(sql, rows)

    @property
    def in_transaction(self) -> bool:
        return self._db.in_transaction

    def close(self) -> None:
        self._db.close()


def folder() -> str:
    """Where simulated disks lie: memory if there is any, else the system's place for temporary files."""
    return "/dev/shm" if os.access("/dev/shm", os.W_OK) else ""
