"""Entries, their caps, and the chain of hashes that binds each to all before it.  Pure.

The chain: ``hash(n) = sha256(hash(n-1) + canonical(n))`` and ``hash(0)`` is the `genesis`, made of the
file's format version and its epoch.  `canonical` writes every field with its length, so that no two
different entries have the same bytes.
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Mapping

import msgspec

from tabled.journal.errors import DraftRefused

FORMAT = 1
"""Version of the file's layout and of `canonical`.  The bodies have versions of their own: `KINDS`."""

MAX_BODY = 1 << 20
"""Bytes.  The largest observation (256 tags in one inventory) takes about 10 kB."""
MAX_PAYLOAD = 1 << 20
MAX_SNAPSHOT = 16 << 20
"""Bytes.  A state in play takes about 50 kB."""
MAX_LEAF = 200
"""Bytes of UTF-8."""
MAX_BATCH = 4096
"""Drafts in one append."""
MAX_BATCH_BYTES = 16 << 20

HASH_BYTES = 32
_INT64 = 1 << 63
_FIXED = struct.Struct(">QIqBI")
_LENGTH = struct.Struct(">BI")
_ABSENT = _LENGTH.pack(0, 0)


class Kind(msgspec.Struct, frozen=True):
    """What is known of one kind of entry: the format version of its body today, and whether it is an input."""

    version: int
    is_input: bool


KINDS: Mapping[str, Kind] = {
    "started": Kind(1, is_input=True),
    "obs": Kind(1, is_input=True),
    "timer": Kind(1, is_input=True),
    "cmd": Kind(1, is_input=True),
    "ruling": Kind(1, is_input=False),
    "question": Kind(1, is_input=False),
    "question_closed": Kind(1, is_input=False),
    "alert": Kind(1, is_input=False),
    "street_closed": Kind(1, is_input=False),
    "hand_started": Kind(1, is_input=False),
    "hand_ended": Kind(1, is_input=False),
    "bounds": Kind(1, is_input=True),
    "chips": Kind(1, is_input=True),
    "state": Kind(1, is_input=False),
}
"""Every kind that may be appended.  A body's format changed? Raise its version here and add a step to
`tabled.journal.codec.UPCASTS`; never reuse a name."""


class Draft(msgspec.Struct, frozen=True):
    """An entry before it has a position.

    ``body`` is what a replay needs, ``payload`` and ``leaf`` (both or neither) what is to be published of it:
    the message's bytes and the end of its topic.  ``wall_ns`` is wall time in nanoseconds since 1970, for
    people; nothing is decided by it.
    """

    kind: str
    body: bytes
    wall_ns: int
    payload: bytes | None = None
    leaf: str | None = None


class Entry(msgspec.Struct, frozen=True):
    """An entry as it stands in the journal.  ``pos`` counts from 1 without holes; ``hash`` is 32 bytes.

    ``version`` is the format version of ``body`` (see `KINDS`).
    """

    pos: int
    kind: str
    body: bytes
    wall_ns: int
    payload: bytes | None
    leaf: str | None
    hash: bytes
    version: int = 1


class Snapshot(msgspec.Struct, frozen=True):
    """The table's state before the entry at ``position``, as bytes: saves folding all that led to it."""

    position: int
    body: bytes


class Pending(msgspec.Struct, frozen=True):
    """What the outbox has to publish of the entry at ``position``."""

    position: int
    leaf: str
    payload: bytes


class Head(msgspec.Struct, frozen=True):
    """The newest entry: its position (0 when there is none) and its hash (then the genesis)."""

    pos: int
    hash: bytes


def genesis(epoch: str, file_format: int = FORMAT) -> bytes:
    """Hash before the first entry: binds the chain to this file and to the meaning of its layout."""
    return hashlib.sha256(b"tabled journal" + _LENGTH.pack(file_format, len(epoch)) + epoch.encode()).digest()


def _field(value: bytes | None) -> bytes:
    return _ABSENT if value is None else _LENGTH.pack(1, len(value)) + value


def canonical(
    pos: int, version: int, wall_ns: int, kind: bytes, body: bytes, *, payload: bytes | None, leaf: bytes | None
) -> bytes:
    """All of an entry but its hash, as bytes that no other entry has; ``kind`` and ``leaf`` in UTF-8."""
    return b"".join(
        (
            _FIXED.pack(pos, version, wall_ns, 1, len(kind)),
            kind,
            _LENGTH.pack(1, len(body)),
            body,
            _field(payload),
            _field(leaf),
        )
    )


def link(previous: bytes, canonical_bytes: bytes) -> bytes:
    """Hash of the entry with these bytes, where ``previous`` is the hash of the entry before it."""
    return hashlib.sha256(previous + canonical_bytes).digest()


def check(draft: Draft, kinds: Mapping[str, Kind] = KINDS) -> int:
    """Size of ``draft`` in bytes, all fields.  Raises `DraftRefused` when it may not stand in a journal."""
    if draft.kind not in kinds:
        raise _refused(f"unknown kind {draft.kind!r}", f"use one of: {', '.join(kinds)}")
    for name, value, cap in (("body", draft.body, MAX_BODY), ("payload", draft.payload, MAX_PAYLOAD)):
        if value is not None and len(value) > cap:
            raise _refused(f"the {name} of a {draft.kind!r} entry has {len(value)} bytes", f"at most {cap} may stand")
    if (draft.payload is None) != (draft.leaf is None):
        raise _refused(f"a {draft.kind!r} entry has a payload without a leaf, or the reverse", "give both or neither")
    if not -_INT64 <= draft.wall_ns < _INT64:
        raise _refused(f"wall time {draft.wall_ns} is not a 64-bit number", "check the machine's clock")
    return len(draft.body) + len(draft.payload or b"") + _leaf_size(draft)


def _leaf_size(draft: Draft) -> int:
    if draft.leaf is None:
        return 0
    try:
        size = len(draft.leaf.encode())
    except UnicodeEncodeError:
        size = 0
    if not 0 < size <= MAX_LEAF or "\0" in draft.leaf:
        raise _refused(
            f"the leaf of a {draft.kind!r} entry is not 1 to {MAX_LEAF} bytes of text: {draft.leaf[:40]!r}",
            "give the end of a topic, such as 'ruling'",
        )
    return size


def _refused(reason: str, advice: str) -> DraftRefused:
    return DraftRefused(reason, f"This is a fault of the program: {advice}")
