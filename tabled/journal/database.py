"""The SQLite side: layout of the file, connections and what SQLite's errors mean here.

Durability.  The journal is in WAL mode.  `writer` has ``synchronous=FULL``: a commit returns after the WAL
has been synced, and SQLite shows a transaction to readers only after that, so whatever can be read is
durable.  `cursor_writer` has ``synchronous=NORMAL``: its commits are atomic and in order but not synced.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import sqlite3
import stat
from pathlib import Path

from tabled.journal.entry import FORMAT, Head, genesis
from tabled.journal.errors import JournalError, JournalMissing, JournalTooNew, JournalUnwritable, NotAJournal, damaged

APPLICATION_ID = 0x7AB1ED10
"""In the file's header, so that ``file`` and we know a journal by sight (as a signed 32-bit number)."""

_SCHEMA = """
CREATE TABLE meta (epoch TEXT NOT NULL, genesis BLOB NOT NULL) STRICT;
CREATE TABLE entry (
  pos INTEGER PRIMARY KEY, kind TEXT NOT NULL, version INTEGER NOT NULL, wall_ns INTEGER NOT NULL,
  leaf TEXT, hash BLOB NOT NULL, body BLOB NOT NULL, payload BLOB
) STRICT;
CREATE TABLE head (pos INTEGER NOT NULL, hash BLOB NOT NULL) STRICT;
CREATE TABLE cursor (pos INTEGER NOT NULL, hash BLOB NOT NULL) STRICT;
"""
SNAPSHOTS = "CREATE TABLE IF NOT EXISTS snapshot (pos INTEGER PRIMARY KEY, body BLOB NOT NULL) STRICT"
"""No part of the evidence: what is in it can be folded again, and is believed only where an entry has its hash."""
# `head` tells a lost tail from a short journal; `cursor` is the outbox's, with the hash of the entry it names.

_WAL_LIMIT = 8 << 20
_BUSY_MS = 2000


def connect(path: str, mode: str) -> sqlite3.Connection:
    """Open an existing file (``mode`` "rw" or "ro").  Text comes back as bytes: damaged text must not raise.

    Connections may be used from any thread, one thread at a time: the callers hold a lock.
    """
    uri = f"{Path(path).absolute().as_uri()}?mode={mode}"
    db = sqlite3.connect(uri, uri=True, isolation_level=None, check_same_thread=False, timeout=_BUSY_MS / 1000)
    db.text_factory = bytes
    return db


def writer(path: str) -> sqlite3.Connection:
    """The connection for entries: a commit that returned is on the disk."""
    db = connect(path, "rw")
    db.execute("PRAGMA synchronous=FULL")
    db.execute(f"PRAGMA journal_size_limit={_WAL_LIMIT}")
    return db


def cursor_writer(path: str) -> sqlite3.Connection:
    """The connection for the outbox cursor: a power cut may take back its last commits, in order."""
    db = connect(path, "rw")
    db.execute("PRAGMA synchronous=NORMAL")
    return db


def read_only(path: str) -> sqlite3.Connection:
    """A reading connection, also where the folder cannot be written (then only if nothing waits in a WAL)."""
    db = connect(path, "ro")
    try:
        db.execute("SELECT count(*) FROM sqlite_master").fetchone()
    except sqlite3.OperationalError as error:
        wal = path + "-wal"
        if primary(error) not in (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY):
            raise
        if os.path.exists(wal) and os.path.getsize(wal):
            raise
        db.close()
        db = connect(path, "ro&immutable=1")
    return db


def create(path: str, epoch: str | None) -> None:
    """Make an empty journal.  It appears under its name whole and synced, or not at all."""
    epoch = secrets.token_hex(8) if epoch is None else epoch
    fresh = path + ".new"
    try:
        _remove(fresh)
        db = sqlite3.connect(fresh, isolation_level=None)
        try:
            db.executescript(_SCHEMA)
            db.execute(f"PRAGMA application_id={APPLICATION_ID}")
            db.execute(f"PRAGMA user_version={FORMAT}")
            anchor = genesis(epoch)
            db.execute("INSERT INTO meta VALUES (?, ?)", (epoch, anchor))
            db.execute("INSERT INTO head VALUES (0, ?)", (anchor,))
            db.execute("INSERT INTO cursor VALUES (0, ?)", (anchor,))
            if db.execute("PRAGMA journal_mode=WAL").fetchone() != ("wal",):
                raise JournalUnwritable(
                    f"the file system of {path} cannot hold a write-ahead log",
                    "Put the journal on a local disk, not on a network share",
                )
        finally:
            db.close()
        os.rename(fresh, path)
        _sync_folder(path)
    except sqlite3.Error as error:
        raise unwritable(path, error) from error
    except OSError as error:
        raise JournalUnwritable(f"cannot create {path}: {error.strerror}", _ADVICE_FOLDER) from error
    finally:
        with contextlib.suppress(OSError):
            _remove(fresh)


def _remove(fresh: str) -> None:
    for name in (fresh, fresh + "-wal", fresh + "-shm", fresh + "-journal"):
        if os.path.exists(name):
            os.unlink(name)


def _sync_folder(path: str) -> None:
    folder = os.open(os.path.dirname(os.path.abspath(path)), os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def look(path: str) -> bool:
    """True when a file that may be a journal is there, False when nothing is.  Raises for anything else."""
    try:
        found = os.stat(path)
    except FileNotFoundError:
        wal = path + "-wal"
        if os.path.exists(wal) and os.path.getsize(wal):
            raise JournalMissing(
                f"{path} is gone, but {wal} is still there and may hold the newest entries",
                f"Put the journal back beside it. If it is lost for good, move {wal} aside and start again",
            ) from None
        return False
    except OSError as error:
        raise NotAJournal(f"{path} cannot be reached: {error.strerror}", "Check the path") from error
    if not stat.S_ISREG(found.st_mode):
        raise NotAJournal(f"{path} is not a file", "Give the path of a journal file")
    if not found.st_size:
        raise NotAJournal(f"{path} is empty", "Nothing is in it: delete it and start again, or give another path")
    return True


def header(db: sqlite3.Connection, path: str) -> str:
    """The epoch, once the file has shown that it is a journal of our format with a sound header.

    Raises `NotAJournal`, `JournalTooNew` or `JournalDamaged` (position 0).
    """
    try:
        application = db.execute("PRAGMA application_id").fetchone()[0]
        version = db.execute("PRAGMA user_version").fetchone()[0]
        if application != APPLICATION_ID:
            raise NotAJournal(f"{path} is a database of another program", "Give the path of a journal file")
        if version > FORMAT:
            raise JournalTooNew(
                f"{path} has format {version}; this version of the program knows format {FORMAT}",
                "Install the version that wrote it, or a newer one; nothing was changed",
            )
        rows = db.execute("SELECT epoch, genesis FROM meta LIMIT 2").fetchall()
    except sqlite3.Error as error:
        raise header_error(path, error) from error
    if version < 1 or len(rows) != 1:
        raise damaged(path, 0, "it does not say what it is")
    epoch, anchor = rows[0]
    try:
        text = bytes(epoch).decode("ascii")
    except (TypeError, ValueError) as error:
        raise damaged(path, 0, "its epoch is not text") from error
    if anchor != genesis(text, version):
        raise damaged(path, 0, "its epoch does not match its first hash")
    return text


def point(db: sqlite3.Connection, path: str, table: str) -> Head:
    """The single row of ``head`` or ``cursor``; raises `JournalDamaged` when it is not one sane row."""
    try:
        rows = db.execute(f"SELECT pos, hash FROM {table} LIMIT 2").fetchall()  # noqa: S608 - a name of ours
    except sqlite3.Error as error:
        raise header_error(path, error) from error
    if len(rows) != 1 or not isinstance(rows[0][0], int) or not isinstance(rows[0][1], bytes):
        raise damaged(path, 0, f"the {table} of the journal does not read as one position")
    return Head(*rows[0])


def primary(error: sqlite3.Error) -> int:
    """SQLite's primary result code of an error; 0 when Python raised it."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF


def header_error(path: str, error: sqlite3.Error) -> JournalError:
    """What an error while reading the header means."""
    code = primary(error)
    if code == sqlite3.SQLITE_NOTADB:
        return NotAJournal(f"{path} is not a journal (nor any SQLite file)", "Give the path of a journal file")
    if code in (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM, sqlite3.SQLITE_BUSY):
        return unwritable(path, error)
    return damaged(path, 0, str(error))


_ADVICE_FOLDER = "Check that the folder exists, that this user may write in it and that the disk is not full"
_UNWRITABLE: dict[int, tuple[str, str]] = {
    sqlite3.SQLITE_FULL: ("the disk is full", "Free space on the disk of {path}; recording goes on by itself"),
    sqlite3.SQLITE_READONLY: (
        "the disk or the file is read-only",
        "Make {path} and its folder writable (a disk that turned read-only by itself is failing: replace it)",
    ),
    sqlite3.SQLITE_IOERR: ("the disk reports an error", "Check cable, card and system log; replace the disk of {path}"),
    sqlite3.SQLITE_BUSY: ("another program holds the file", "Close any database browser that has {path} open"),
    sqlite3.SQLITE_CANTOPEN: ("the file or its log cannot be opened", _ADVICE_FOLDER),
    sqlite3.SQLITE_PERM: ("this user may not write", _ADVICE_FOLDER),
}


def unwritable(path: str, error: sqlite3.Error) -> JournalUnwritable:
    """What an error while writing means, with SQLite's own words at its end."""
    reason, advice = _UNWRITABLE.get(
        primary(error), ("the database engine refused to write", "Restart the daemon; if it happens again, report it")
    )
    name = getattr(error, "sqlite_errorname", type(error).__name__)
    return JournalUnwritable(f"cannot write the journal {path}: {reason} ({name}: {error})", advice.format(path=path))
