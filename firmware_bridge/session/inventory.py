"""FEIG replies as evidence: status bytes, tag records, and what an inventory may take.

Sources: FEIG system manuals, "[0xB0] [0x01] Inventory" and the annex of status bytes
(H60301-3e-ID-B, H90692-16e-ID-B p. 85: data comes with status 00, 83, 84, 93, 94, 95); record
layouts as recorded frames show them.
"""

from __future__ import annotations

from enum import IntEnum
from itertools import pairwise

import msgspec

from firmware_bridge.wire import MAX_TAGS_PER_INVENTORY


class Status(IntEnum):
    """Status bytes that mean something here."""

    OK = 0x00
    NO_TRANSPONDER = 0x01
    DATA_FALSE = 0x02
    PARAMETER_RANGE = 0x11
    UNAVAILABLE = 0x82
    RF_COMMUNICATION = 0x83
    RF_WARNING = 0x84
    NO_VALID_DATA = 0x92
    DATA_OVERFLOW = 0x93
    MORE_DATA = 0x94
    HARDWARE_WARNING = 0xF1


_MEANINGS: dict[int, str] = {
    Status.DATA_FALSE: "the tag's data was false",
    Status.PARAMETER_RANGE: "parameter out of range",
    Status.UNAVAILABLE: "not available in the reader's present mode",
    Status.RF_COMMUNICATION: "RF communication error: the anticollision did not finish",
    Status.RF_WARNING: "RF warning: check the antenna and its tuning",
    Status.NO_VALID_DATA: "no valid data",
    Status.DATA_OVERFLOW: "the reader's buffer overflowed",
    Status.MORE_DATA: "more data announced",
    Status.HARDWARE_WARNING: "hardware warning: check the antenna cable and the reader's temperature",
}

_WITH_DATA = frozenset(
    {
        Status.OK,
        Status.RF_COMMUNICATION,
        Status.RF_WARNING,
        Status.DATA_OVERFLOW,
        Status.MORE_DATA,
        Status.HARDWARE_WARNING,
    }
)

_RECORD_BYTES = {0x03: 10, 0x05: 10}
"""TR-TYPE to record length.  03 = ISO 15693: type, DSFID, UID 8 bytes MSB first; 05 = ISO 14443B: type, info, UID 8."""


def describe(status: int) -> str:
    """A status byte in words, for a reason that a technician reads."""
    meaning = _MEANINGS.get(status)
    return f"status 0x{status:02X}" + (f" ({meaning})" if meaning else "")


class Batch(msgspec.Struct, frozen=True):
    """One inventory reply: UIDs as upper-case hexadecimal, or a fault in words (then ``uids`` is empty)."""

    uids: tuple[str, ...] = ()
    fault: str = ""


def read_batch(status: int, data: bytes) -> Batch:
    """Tags in an inventory reply.  A record that cannot be read makes the whole reply a fault: never a guess."""
    if status == Status.NO_TRANSPONDER:
        return Batch() if not data else Batch(fault=f"'no transponder' with {len(data)} bytes of data")
    if status not in _WITH_DATA or not data:
        return Batch(fault=describe(status) if status != Status.OK else "status ok without a count of data sets")
    count, at = data[0], 1
    if count == 0 and status == Status.OK:
        return Batch(fault="status ok with no data set; only 'no transponder' means an empty field")
    if count > MAX_TAGS_PER_INVENTORY:
        return Batch(fault=f"{count} tags in one reply")
    uids: list[str] = []
    for n in range(count):
        if at >= len(data):
            return Batch(fault=f"{count} data sets announced, {n} came")
        length = _RECORD_BYTES.get(data[at])
        if length is None:
            return Batch(fault=f"unknown transponder type 0x{data[at]:02X}; its record length is not known")
        if at + length > len(data):
            return Batch(fault=f"data set {n + 1} of {count} is cut short")
        uids.append(data[at + 2 : at + 10].hex().upper())
        at += length
    if at != len(data):
        return Batch(fault=f"{len(data) - at} bytes after the last data set")
    return Batch(tuple(uids))


class Record(msgspec.Struct, frozen=True):
    """One data set of the reader's buffer.  ``raw`` tells two sightings of one tag apart where a time is in it."""

    uid: str
    antenna: int | None
    raw: bytes


class Records(msgspec.Struct, frozen=True):
    """A buffer's data sets, or a fault in words (then ``records`` is empty).  ``timed``: each has its own time."""

    records: tuple[Record, ...] = ()
    fault: str = ""
    timed: bool = False


_IDD, _BLOCKS, _LSB_FIRST, _ANT, _TIME, _DATE, _MORE_FLAGS = 0x01, 0x02, 0x08, 0x10, 0x20, 0x40, 0x80
_KNOWN_FLAGS = _IDD | _BLOCKS | _LSB_FIRST | _ANT | _TIME | _DATE


def read_records(data: bytes) -> Records:
    """Data sets of [0x22] Read Buffer and of a notification (H71011-0e-ID-B p. 109, H90202-7e-ID-B p. 177).

    ``TR-DATA1 DATA-SETS(2)`` and so often ``length(2)``, then what TR-DATA1 names, in this order: identifier (TR-TYPE,
    reserved, length, UID), data blocks, time (4), date (5), antenna (1).  Anything that is not understood makes the
    whole answer a fault: never a guess.
    """
    if len(data) < 3:
        return Records(fault=f"buffer of {len(data)} bytes")
    flags, count, at = data[0], int.from_bytes(data[1:3], "big"), 3
    if flags & ~_KNOWN_FLAGS or not flags & _IDD:
        return Records(fault=f"data sets of form 0x{flags:02X}; set the reader to identifier, antenna and time")
    found: list[Record] = []
    for n in range(count):
        size = int.from_bytes(data[at : at + 2], "big")
        raw = data[at : at + size]
        record = _read_record(raw, flags) if 2 <= size == len(raw) else None
        if record is None:
            return Records(fault=f"data set {n + 1} of {count} is cut short or of another form")
        found.append(record)
        at += size
    if at != len(data):
        return Records(fault=f"{len(data) - at} bytes after the last data set")
    return Records(tuple(found), timed=bool(flags & _TIME))


def _read_record(raw: bytes, flags: int) -> Record | None:
    at = 2
    if len(raw) < at + 3 or raw[at] != 0x03 or raw[at + 2] != 8:
        return None
    uid = raw[at + 3 : at + 11]
    at += 11
    if flags & _BLOCKS:
        if len(raw) < at + 3:
            return None
        at += 3 + int.from_bytes(raw[at : at + 2], "big") * raw[at + 2]
    at += 4 * bool(flags & _TIME) + 5 * bool(flags & _DATE)
    antenna = raw[at] if flags & _ANT and at < len(raw) else None
    at += bool(flags & _ANT)
    if at != len(raw):
        return None
    return Record((uid[::-1] if flags & _LSB_FIRST else uid).hex().upper(), antenna, raw)


_MEASURED = ((0, 9_800_000), (1, 14_000_000), (5, 38_000_000), (10, 82_000_000), (20, 184_000_000))
"""Tags in the field and duration of one ISO 15693 inventory, 16 slots, high data rate, in ns."""

_PER_TAG_BEYOND_NS = 12_000_000
"""Beyond the table: its last slope (10.2 ms a tag) rounded up.  An extrapolation, not a measurement."""


def inventory_ns(tags: int) -> int:
    """Duration of one inventory with ``tags`` in the field: the measured table, linear between its points."""
    if tags < 0:
        raise ValueError(f"an inventory of {tags} tags")
    for (n0, t0), (n1, t1) in pairwise(_MEASURED):
        if tags <= n1:
            return t0 + (t1 - t0) * (tags - n0) // (n1 - n0)
    last, duration = _MEASURED[-1]
    return duration + (tags - last) * _PER_TAG_BEYOND_NS
