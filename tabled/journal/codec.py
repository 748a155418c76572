"""Bodies as bytes and back: one value, one byte string; and the raising of old bodies to today's format.

`Codec` writes JSON with sorted keys and no spaces (msgspec, ``order="deterministic"``).  It refuses, when it
is made, a type that could hold a float (no float stands right of the journal) or anything of open shape:
what is not described cannot be read back for certain.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Generic, TypeVar

import msgspec
from msgspec import inspect

from tabled.journal.entry import KINDS, Entry, Kind
from tabled.journal.errors import BodyUnreadable, JournalTooNew

T = TypeVar("T")

Step = Callable[[bytes], bytes]
UPCASTS: Mapping[tuple[str, int], Step] = {}
"""``(kind, version)`` → the step that makes a body of version+1 out of one of version.  Kept for good."""

_MAX_TYPE_DEPTH = 40


class Codec(Generic[T]):
    """Canonical encoder and strict decoder of one type (a struct, or a union of tagged structs).

    Raises TypeError at once for a type with a float or an open part in it.
    """

    def __init__(self, of: Any) -> None:
        _require_closed(inspect.type_info(of), repr(of), [])
        self._encoder = msgspec.json.Encoder(order="deterministic")
        self._decoder: msgspec.json.Decoder[T] = msgspec.json.Decoder(of, strict=True)
        self._name = repr(of)

    def encode(self, value: T) -> bytes:
        """Canonical bytes: the same value gives the same bytes in any process."""
        return self._encoder.encode(value)

    def decode(self, body: bytes) -> T:
        """The value; raises `BodyUnreadable` for bytes that are not one."""
        try:
            return self._decoder.decode(body)
        except (msgspec.DecodeError, ValueError, RecursionError) as error:
            raise BodyUnreadable(
                f"{len(body)} bytes are no {self._name}: {error}",
                "The entry is as it was written, so the program that reads it is at fault: "
                "use the version that wrote it, and report this",
            ) from error


def _require_closed(info: inspect.Type, where: str, seen: list[object]) -> None:
    """Walk a type; raise TypeError where it may hold a float, a set or a value of any type."""
    refused = (inspect.FloatType, inspect.AnyType, inspect.SetType, inspect.FrozenSetType, inspect.CustomType)
    if isinstance(info, refused):
        raise TypeError(f"{where} may not be journalled: {type(info).__name__} has no canonical bytes")
    if isinstance(info, inspect.StructType | inspect.DataclassType | inspect.NamedTupleType | inspect.TypedDictType):
        if info.cls in seen:
            return
        seen.append(info.cls)
        for field in info.fields:
            _require_closed(field.type, f"{info.cls.__name__}.{field.name}", seen)
    for part in _parts(info):
        _require_closed(part, where, seen)


def _parts(info: inspect.Type) -> list[inspect.Type]:
    if isinstance(info, inspect.UnionType):
        return list(info.types)
    if isinstance(info, inspect.TupleType):
        return list(info.item_types)
    if isinstance(info, inspect.DictType):
        return [info.key_type, info.value_type]
    if isinstance(info, inspect.ListType | inspect.VarTupleType | inspect.CollectionType):
        return [info.item_type]
    return []


def upcast(entry: Entry, kinds: Mapping[str, Kind] = KINDS, steps: Mapping[tuple[str, int], Step] = UPCASTS) -> Entry:
    """``entry`` with its body in today's format; the same object when it already is.

    The payload is never touched: it was published.  The hash stays that of the entry as written.
    Raises `JournalTooNew` for a kind or a version that this program does not know.
    """
    known = kinds.get(entry.kind)
    if known is None or entry.version > known.version:
        raise JournalTooNew(
            f"entry {entry.pos} is a {entry.kind!r} of format {entry.version}, which this version does not know",
            "Install the version that wrote this journal, or a newer one; nothing was changed",
        )
    if entry.version == known.version:
        return entry
    body = entry.body
    for version in range(entry.version, known.version):
        body = steps[entry.kind, version](body)
    return msgspec.structs.replace(entry, body=body, version=known.version)


def missing_steps(kinds: Mapping[str, Kind], steps: Mapping[tuple[str, int], Step]) -> list[tuple[str, int]]:
    """Old versions that could not be raised: must be empty, in every release."""
    return [(name, v) for name, kind in kinds.items() for v in range(1, kind.version) if (name, v) not in steps]
