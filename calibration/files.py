"""Calibration files are written whole or not at all, and the one before is kept.

A new file is written beside the old one, synced to the disk and only then given its name; the old one stays as
``<name>.bak``.  A power cut leaves the old file or the new, never half of one.
"""

from __future__ import annotations

import contextlib
import os
import secrets
from pathlib import Path

from tabled.sensing.sections import (
    CalibrationError,
    Section,
    SectionName,
    decode,
    encode,
    path_of,
    read,
    section_of,
)


class FilesError(OSError):
    """A file could not be written; the old one is untouched.  The message is one line that says what to do."""


def save(folder: Path, value: Section) -> Path:
    """Write ``value`` as its section's file in ``folder`` (made if it is not there); the path of the file.

    The bytes are read back by the reader's own decoder before they replace anything.  Raises `FilesError` for a disk
    that does not take them and `tabled.sensing.sections.CalibrationError` for a value that cannot be read back.
    """
    name = section_of(value)
    raw = encode(value)
    decode(raw, name)
    path = path_of(folder, name)
    write(path, raw, keep=_is_whole(path, name))
    return path


def _is_whole(path: Path, name: SectionName) -> bool:
    """Whether what is there now is worth more than the ``.bak`` that it would replace."""
    try:
        return (raw := read(path, name)) is not None and bool(decode(raw, name))
    except CalibrationError:
        return False


def write(path: Path, data: bytes, *, keep: bool = True) -> None:
    """Put ``data`` in ``path``, whole or not at all; what was there stays as ``<path>.bak`` unless ``keep`` is false.

    The same bytes again change nothing, and so do not push the older file out of ``.bak``.  Raises `FilesError`.
    """
    scratch = path.with_name(f".{path.name}.{secrets.token_hex(4)}.new")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if _same(path, data):
            return
        _put(scratch, data)
        if keep:
            _keep(path)
        os.replace(scratch, path)
        _sync_folder(path.parent)
    except OSError as problem:
        with contextlib.suppress(OSError):
            scratch.unlink(missing_ok=True)
        raise FilesError(
            f"{path}: could not be written ({problem.strerror or problem}); the old file is untouched. Free some "
            "space, or choose a folder that this user may write to with --folder, and repeat the step"
        ) from problem


def _same(path: Path, data: bytes) -> bool:
    try:
        return path.stat().st_size == len(data) and path.read_bytes() == data
    except FileNotFoundError:
        return False


def _put(path: Path, data: bytes) -> None:
    with path.open("xb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def _keep(path: Path) -> None:
    """The file as it is now, under ``.bak``; by a second name where the disk has such, else by a copy."""
    scratch = path.with_name(f".{path.name}.{secrets.token_hex(4)}.old")
    try:
        os.link(path, scratch)
    except FileNotFoundError:
        return
    except OSError:
        _put(scratch, path.read_bytes())
    try:
        os.replace(scratch, path.with_name(f"{path.name}.bak"))
    except OSError:
        scratch.unlink(missing_ok=True)
        raise


def _sync_folder(folder: Path) -> None:
    """So that the new name is on the disk too; some file systems cannot, and lose nothing but the newest name."""
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
