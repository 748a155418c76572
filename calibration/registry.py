"""Changing the room's chip registry: whole or not at all, one writer at a time, every change written down.

A change makes a new file beside the old one and gives it its name once it has been read back, so a table on the same
share reads the old registry or the new one and never half of one.  The one before stays as ``.bak``.
"""

from __future__ import annotations

import contextlib
import os
import socket
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import msgspec

from calibration.files import write
from calibration.steps import StepError
from tabled.shell.registry import (
    APPLICATION_ID,
    MAX_CHIPS,
    SCHEMA,
    Chip,
    Registry,
    RegistryError,
    decode,
    digest_of,
    read,
)

MAX_LOG = 2_000_000
"""Changes that are remembered; the oldest go first."""

_TABLES = """
CREATE TABLE about (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE chips (
  uid TEXT PRIMARY KEY, denomination INTEGER NOT NULL, status TEXT NOT NULL, series TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE log (
  n INTEGER PRIMARY KEY, edition INTEGER NOT NULL, wall_ns INTEGER NOT NULL, who TEXT NOT NULL, uid TEXT NOT NULL,
  was TEXT NOT NULL, now TEXT NOT NULL
);
"""


class Change(msgspec.Struct, frozen=True, kw_only=True):
    """One line of the log: what a chip was and became ("" where it was not)."""

    edition: int
    wall_ns: int
    who: str
    uid: str
    was: str
    now: str


def create(path: Path, *, room: str, denominations: Sequence[int], wall_ns: int) -> Registry:
    """A new, empty registry.  Raises `StepError` where one is already, or no denomination is given."""
    if path.exists():
        raise StepError(f"{path}: is there already; give the new registry another name", code="registry")
    if not denominations or min(denominations) <= 0:
        raise StepError("which chips has the room? give their denominations, such as 25,100,500,1000", code="registry")
    with contextlib.closing(sqlite3.connect(":memory:")) as base:
        base.executescript(_TABLES)
        base.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        base.execute(f"PRAGMA user_version = {SCHEMA}")
        about = {"room": room, "denominations": ",".join(str(d) for d in sorted(set(denominations)))}
        base.executemany("INSERT INTO about VALUES (?, ?)", sorted(about.items()))
        _seal(base, edition=0, wall_ns=wall_ns)
        return _put(path, base)


def change(path: Path, chips: Mapping[str, Chip], *, who: str, wall_ns: int) -> Registry:
    """Add these chips, or give known ones these values; the registry after it.

    Raises `StepError` (nothing is changed) where somebody else is changing it now, or it would become too large.
    """
    with _alone(path):
        before = known(path)
        news = {uid: chip for uid, chip in chips.items() if before.chips.get(uid) != chip}
        if not news:
            return before
        if len(before.chips.keys() | news.keys()) > MAX_CHIPS:
            raise StepError(
                f"{path}: would hold more than {MAX_CHIPS} chips; split the registry by room", code="registry"
            )
        with contextlib.closing(sqlite3.connect(":memory:")) as base:
            base.deserialize(path.read_bytes())
            edition = before.edition + 1
            rows = [(uid, c.denomination, c.status, c.series) for uid, c in sorted(news.items())]
            base.executemany("INSERT OR REPLACE INTO chips VALUES (?, ?, ?, ?)", rows)
            log = [
                (edition, wall_ns, who[:64], uid, _said(before.chips.get(uid)), _said(chip))
                for uid, chip in sorted(news.items())
            ]
            base.executemany("INSERT INTO log (edition, wall_ns, who, uid, was, now) VALUES (?, ?, ?, ?, ?, ?)", log)
            base.execute("DELETE FROM log WHERE n <= (SELECT MAX(n) FROM log) - ?", (MAX_LOG,))
            _seal(base, edition=edition, wall_ns=wall_ns)
            return _put(path, base)


def log(path: Path, uid: str | None = None, limit: int = 100) -> list[Change]:
    """The newest changes, the newest first; of one chip if ``uid`` is given."""
    with contextlib.closing(sqlite3.connect(":memory:")) as base:
        known(path)
        base.deserialize(path.read_bytes())
        rows = base.execute(
            "SELECT edition, wall_ns, who, uid, was, now FROM log WHERE ?1 IS NULL OR uid = ?1 ORDER BY n DESC "
            "LIMIT ?2",
            (uid, limit),
        ).fetchall()
    names = Change.__struct_fields__
    return [Change(**dict(zip(names, row, strict=True))) for row in rows]


def known(path: Path) -> Registry:
    """The registry as it is now; raises `StepError`."""
    try:
        return read(path)
    except RegistryError as problem:
        raise StepError(str(problem), code="registry") from problem


def _said(chip: Chip | None) -> str:
    return "" if chip is None else f"{chip.denomination} {chip.status} {chip.series}".rstrip()


def _seal(base: sqlite3.Connection, *, edition: int, wall_ns: int) -> None:
    """The sum over all chips goes into the file, so that a reader knows that it has all of them."""
    rows = base.execute("SELECT uid, denomination, status, series FROM chips").fetchall()
    digest = digest_of((uid, Chip(d, status, series)) for uid, d, status, series in rows)
    about = {"digest": digest, "edition": str(edition), "changed_ns": str(wall_ns)}
    base.executemany("INSERT OR REPLACE INTO about VALUES (?, ?)", sorted(about.items()))
    base.commit()


def _put(path: Path, base: sqlite3.Connection) -> Registry:
    raw = base.serialize()
    found = decode(raw, str(path))  # what cannot be read back is not written
    write(path, raw)
    return found


@contextlib.contextmanager
def _alone(path: Path) -> Iterator[None]:
    """One writer at a time, on any computer: a lock file that is made or not made in one act, also on a share."""
    lock = path.with_name(f"{path.name}.lock")
    try:
        descriptor = os.open(lock, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o644)
    except FileExistsError:
        holder = _holder(lock)
        raise StepError(
            f"{path}: {holder} is changing it now; wait a moment. If nobody is, delete {lock}", code="locked"
        ) from None
    except OSError as problem:
        raise StepError(
            f"{path}: cannot be changed ({problem.strerror}); enrol chips at a computer that may write there",
            code="locked",
        ) from problem
    try:
        os.write(descriptor, f"{socket.gethostname()} {os.getpid()}\n".encode())
        os.close(descriptor)
        yield
    finally:
        lock.unlink(missing_ok=True)


def _holder(lock: Path) -> str:
    try:
        return lock.read_text(encoding="utf-8", errors="replace")[:80].strip() or "somebody"
    except OSError:
        return "somebody"
