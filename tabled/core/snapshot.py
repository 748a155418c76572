"""The table's state as bytes and back: the same state gives the same bytes in any process.

Dicts keep their order, since the order in which chips came is part of the state; sets are sorted.  What saves work only
(`tabled.core.memo`) is left out.
"""

from __future__ import annotations

import functools
import hashlib
from types import UnionType
from typing import Any, get_args, get_type_hints

import msgspec

from tabled.core.state import TableState
from tabled.rules.hand import Hand
from tabled.rules.state import State
from tabled.rules.table import Table

MAX_DEPTH = 40
_HANDS = ("table", "line_chips")
_TABLES = ("names", "index")


class SnapshotUnreadable(ValueError):
    """The bytes are no state of this version's layout; whoever has the journal folds it from its beginning instead."""


def to_bytes(state: TableState) -> bytes:
    """Canonical bytes of a state."""
    return msgspec.json.encode(_plain(state, 0))


def from_bytes(body: bytes) -> TableState:
    """The state again.  Raises `SnapshotUnreadable`."""
    try:
        return msgspec.json.decode(body, type=TableState, dec_hook=_custom)
    except (msgspec.DecodeError, ValueError, TypeError, KeyError, RecursionError) as error:
        raise SnapshotUnreadable(f"{len(body)} bytes are no state of this version: {error}") from error


def digest(body: bytes) -> str:
    """Hash of a state's bytes, in hexadecimal."""
    return hashlib.sha256(body).hexdigest()


@functools.cache
def layout() -> str:
    """Names this version's layout of a state: where it differs, bytes and hashes of another version say nothing."""
    seen: dict[str, str] = {}
    _describe(TableState, seen)
    seen["hand"] = ",".join(sorted(State.__slots__))
    seen["table"] = ",".join(sorted(Table.__slots__))
    return hashlib.sha256("\n".join(f"{k} {v}" for k, v in sorted(seen.items())).encode()).hexdigest()[:16]


def _plain(value: Any, depth: int) -> Any:
    """Only what JSON has; a struct's tag stands first."""
    if value is None or isinstance(value, int | str):
        return value
    if depth > MAX_DEPTH:
        raise AssertionError("a state is not as deep as this; this is a fault of tabled")
    if isinstance(value, msgspec.Struct):
        config = value.__struct_config__
        parts: dict[str, Any] = {} if config.tag is None else {str(config.tag_field): config.tag}
        for name, written in zip(value.__struct_fields__, value.__struct_encode_fields__, strict=True):
            if name != "memo":
                parts[written] = _plain(getattr(value, name), depth + 1)
        return parts
    if isinstance(value, dict):
        return {name: _plain(part, depth + 1) for name, part in value.items()}
    if isinstance(value, frozenset):
        return sorted(value)
    if isinstance(value, list | tuple):
        return [_plain(part, depth + 1) for part in value]
    if isinstance(value, Hand):
        parts = {name: getattr(value, name) for name in State.__slots__ if name not in _HANDS}
        parts["line_chips"] = [[seat, list(chips)] for seat, chips in value.line_chips.items()]
        return {**parts, "table": {name: getattr(value.table, name) for name in Table.__slots__ if name != "index"}}
    raise AssertionError(f"a {type(value).__name__} has no place in a state; this is a fault of tabled")


def _custom(kind: type, value: Any) -> Any:
    if kind is Hand:
        return _hand(value)
    raise NotImplementedError(f"{kind.__name__} is no part of a state")


def _hand(parts: dict[str, Any]) -> Hand:
    hand = Hand.__new__(Hand)
    for name in State.__slots__:
        if name not in _HANDS:
            setattr(hand, name, parts[name])
    hand.line_chips = {seat: tuple(chips) for seat, chips in parts["line_chips"]}
    table = Table.__new__(Table)
    for name in Table.__slots__:
        if name not in _TABLES:
            setattr(table, name, parts["table"][name])
    table.names = tuple(parts["table"]["names"])
    table.index = {name: i for i, name in enumerate(table.names)}
    hand.table = table
    return hand


def _describe(kind: Any, seen: dict[str, str]) -> None:
    """Every struct that can be reached, with its fields as they are written in the source."""
    if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
        name = f"{kind.__module__}.{kind.__qualname__}"
        if name in seen:
            return
        seen[name] = "; ".join(f"{f}: {_written(kind, f)}" for f in kind.__struct_fields__)
        for part in get_type_hints(kind).values():
            _describe(part, seen)
    elif isinstance(kind, UnionType) or get_args(kind):
        for part in get_args(kind):
            _describe(part, seen)


def _written(kind: type, field: str) -> str:
    return next(str(c.__annotations__[field]) for c in kind.__mro__ if field in getattr(c, "__annotations__", {}))
