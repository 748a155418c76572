"""The room's chip registry as a table reads it: one SQLite file that many tables share, or the last copy of it.

The file lies on a share and is replaced whole by whoever changes it (`calibration.registry`); a table never opens it
in place, for SQLite's locks are not to be trusted across a network.  It reads the bytes, checks that they are whole
(the sum of all rows stands in the file) and keeps a copy of its own.  While the share cannot be reached the copy
holds, and its age is said.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import secrets
import sqlite3
import threading
from collections.abc import Iterable, Mapping
from concurrent.futures import Future
from pathlib import Path
from typing import Literal, get_args

import msgspec

SCHEMA = 1
APPLICATION_ID = 0x74424350
MAX_CHIPS = 1_000_000
MAX_BYTES = 256 << 20
SHARE_S = 10.0
Status = Literal["issued", "cage", "void", "stolen"]
STATUSES: tuple[Status, ...] = get_args(Status)
"""All but the first are no money on a table."""


class RegistryError(ValueError):
    """The registry cannot be used; the message is one line that says what to do."""


class Chip(msgspec.Struct, frozen=True):
    """What the registry says of one chip; ``denomination`` in the smallest chip's unit."""

    denomination: int
    status: Status = "issued"
    series: str = ""


class Registry(msgspec.Struct, frozen=True, kw_only=True):
    """All chips of a room by UID, and which edition this is.

    ``digest`` is the sum over all chips, ``edition`` counts the changes, ``changed_ns`` is the wall time of the last.
    ``copied_ns`` is None where the file itself was read, else the wall time at which this copy was made, and
    ``why`` the reason that the file could not be read.
    """

    chips: Mapping[str, Chip]
    digest: str
    edition: int
    changed_ns: int
    room: str = ""
    denominations: tuple[int, ...] = ()
    copied_ns: int | None = None
    why: str = ""

    def values(self) -> dict[str, int]:
        """UID to denomination of the chips in play."""
        return values_of(self.chips)

    def barred(self) -> dict[str, str]:
        """UID to the status of the chips that are no money."""
        return barred_of(self.chips)


def values_of(chips: Mapping[str, Chip | None]) -> dict[str, int]:
    """UID to denomination of those in play; None stands for a chip that is in no registry."""
    return {uid: chip.denomination for uid, chip in chips.items() if chip is not None and chip.status == "issued"}


def barred_of(chips: Mapping[str, Chip | None]) -> dict[str, str]:
    """UID to the status of those that are no money."""
    return {uid: chip.status for uid, chip in chips.items() if chip is not None and chip.status != "issued"}


def digest_of(chips: Iterable[tuple[str, Chip]]) -> str:
    """SHA-256 over all chips in the order of their UIDs, in hexadecimal."""
    whole = hashlib.sha256()
    for uid, chip in sorted(chips, key=lambda item: item[0]):
        whole.update(f"{uid},{chip.denomination},{chip.status},{chip.series}\n".encode())
    return whole.hexdigest()


def read(path: Path) -> Registry:
    """The registry from its file.  Raises `RegistryError` for one that is absent, damaged, or of another kind."""
    return decode(_bytes(path), str(path))


def decode(raw: bytes, name: str) -> Registry:
    """The registry from the bytes of its file; ``name`` is how messages call it."""
    try:
        with contextlib.closing(sqlite3.connect(":memory:")) as base:
            base.deserialize(raw)
            return _registry(base, name)
    except RegistryError:
        raise
    except (sqlite3.Error, ValueError, TypeError, MemoryError) as problem:
        # A flipped bit makes a number of a text, or a text that is no UTF-8, which sqlite3 passes on as it is.
        raise RegistryError(
            f"{name}: is damaged or no chip registry ({problem}); restore it from its .bak"
        ) from problem


class Share:
    """Reads files of a network share, which hangs whoever reads it while its server is gone: in a thread that nobody
    waits for longer than ``within_s`` (seconds), and one at a time.  Any thread, one call at once."""

    def __init__(self, within_s: float = SHARE_S) -> None:
        self._within_s = within_s
        self._reading: Future[bytes] | None = None

    def bytes_of(self, path: Path) -> bytes:
        """The bytes of a registry; raises `RegistryError` where they cannot be read, or do not come."""
        if self._reading is None or self._reading.done():
            self._reading = Future()
            threading.Thread(target=_fill, args=(self._reading, path), name="registry", daemon=True).start()
        try:
            return self._reading.result(self._within_s)
        except TimeoutError:
            raise RegistryError(
                f"{path}: does not answer for {self._within_s:g} s; check the network and the share"
            ) from None


def _fill(reading: Future[bytes], path: Path) -> None:
    try:
        reading.set_result(_bytes(path))
    except BaseException as problem:  # raised again where it is awaited
        reading.set_exception(problem)


def load(path: Path, copy: Path, wall_ns: int, share: Share | None = None) -> Registry:
    """The registry, or the last copy of it while ``path`` cannot be read.

    A good reading renews ``copy`` where it differs.  Raises `RegistryError` when there is neither.
    """
    try:
        raw = _bytes(path) if share is None else share.bytes_of(path)
        found = decode(raw, str(path))
    except RegistryError as problem:
        return _from_copy(copy, str(problem), problem)
    _renew(copy, raw, wall_ns)
    return found


def _from_copy(copy: Path, why: str, problem: RegistryError) -> Registry:
    try:
        found = decode(_bytes(copy), str(copy))
        made_ns = copy.stat().st_mtime_ns
    except (RegistryError, OSError):
        raise RegistryError(f"{why}; there is no copy of an earlier day either ({copy})") from problem
    return msgspec.structs.replace(found, copied_ns=made_ns, why=why)


def _renew(copy: Path, raw: bytes, wall_ns: int) -> None:
    """The copy is only ever a whole one; a disk that takes none is no reason not to play."""
    scratch = copy.with_name(f".{copy.name}.{secrets.token_hex(4)}.new")
    try:
        if copy.exists() and copy.stat().st_size == len(raw) and copy.read_bytes() == raw:
            os.utime(copy, ns=(wall_ns, wall_ns))
            return
        scratch.write_bytes(raw)
        os.utime(scratch, ns=(wall_ns, wall_ns))
        os.replace(scratch, copy)
    except OSError:
        with contextlib.suppress(OSError):
            scratch.unlink(missing_ok=True)


def _bytes(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            raw = file.read(MAX_BYTES + 1)
    except OSError as problem:
        raise RegistryError(
            f"{path}: cannot be read ({problem.strerror}); check the share and [chips] registry, or make one with "
            "'tabled calibrate registry create'"
        ) from problem
    if len(raw) > MAX_BYTES:
        raise RegistryError(f"{path}: is larger than a chip registry can be; is it the right file?")
    if not raw.startswith(b"SQLite format 3\0"):
        raise RegistryError(f"{path}: is no chip registry; [chips] file takes a CSV, [chips] registry this one")
    return raw


def _registry(base: sqlite3.Connection, name: str) -> Registry:
    (kind,) = base.execute("PRAGMA application_id").fetchone()
    (schema,) = base.execute("PRAGMA user_version").fetchone()
    if kind != APPLICATION_ID:
        raise RegistryError(
            f"{name}: is another program's file; give the registry of 'tabled calibrate registry create'"
        )
    if schema > SCHEMA:
        raise RegistryError(f"{name}: was written by a newer tabled (schema {schema}); upgrade this one")
    about = dict(base.execute("SELECT key, value FROM about").fetchall())
    rows = base.execute("SELECT uid, denomination, status, series FROM chips LIMIT ?", (MAX_CHIPS + 1,)).fetchall()
    if len(rows) > MAX_CHIPS:
        raise RegistryError(f"{name}: holds more than {MAX_CHIPS} chips; split the registry by room")
    chips: dict[str, Chip] = {}
    for row in rows:
        try:
            uid, *rest = row
            chips[uid] = msgspec.convert(dict(zip(("denomination", "status", "series"), rest, strict=True)), Chip)
        except msgspec.ValidationError as problem:
            raise RegistryError(f"{name}: chip {row[0]!r}: {problem}; restore it from its .bak") from problem
    found = digest_of(chips.items())
    if found != about.get("digest"):
        raise RegistryError(f"{name}: its chips are not those that were written (damaged); restore it from its .bak")
    listed = about.get("denominations", "")
    return Registry(
        chips=chips,
        digest=found,
        edition=int(about.get("edition", 0)),
        changed_ns=int(about.get("changed_ns", 0)),
        room=about.get("room", ""),
        denominations=tuple(int(d) for d in listed.split(",") if d),
    )
