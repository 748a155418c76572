"""The written cases and played hands as typed records, so that what is wrong in one is named by its place.

Only what is needed is read: ids, tags, notes, sources and expectations are no part of these records.  A key that looks
like one of ours written wrong is refused; one that is like none of ours is not read, and said to be so.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from difflib import get_close_matches
from types import UnionType
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

import msgspec

from tabled.model.acts import Word
from tabled.model.hand import Structure

Money = Annotated[int, msgspec.Meta(ge=0, le=10**15)]
Chip = Annotated[int, msgspec.Meta(ge=1, le=10**15)]
Count = Annotated[int, msgspec.Meta(ge=0, le=2000)]
SeatNumber = Annotated[int, msgspec.Meta(ge=1, le=23)]
SeatName = str | int
Rounding = Literal["none", "up", "down", "nearest"]
T = TypeVar("T")


class RecordError(ValueError):
    """A record cannot be read; the message names the place."""


class CaseSeat(msgspec.Struct):
    """A seat of a case."""

    seat: SeatName
    stack: Money
    line: Money = 0
    line_chips: tuple[Chip, ...] | None = None
    acted: bool = False
    status: Literal["in", "folded", "all_in"] = "in"


class CasePrior(msgspec.Struct):
    """An act before the events."""

    seat: SeatName
    act: str
    to: Money | None = None


class CaseLimits(msgspec.Struct):
    """Limits of a case; ``bet_this_round`` is the bet of the street where it is given."""

    small_bet: Money = 0
    big_bet: Money = 0
    raises_cap: Count = 0
    min: Money = 0
    max: Money = 0
    bring_in: Money = 0
    bet_this_round: Money | None = None


class CaseSetup(msgspec.Struct):
    """Where a case begins."""

    seats: Annotated[tuple[CaseSeat, ...], msgspec.Meta(min_length=1, max_length=23)]
    game: str = "holdem"
    street: str = "flop"
    blinds: tuple[Money, ...] | None = None
    straddle: Money | None = None
    pot_before_street: Money | None = None
    limits: CaseLimits | None = None
    chip_unit: Annotated[int, msgspec.Meta(ge=1, le=10**12)] | None = None
    prior: tuple[CasePrior, ...] | None = None
    to_act: SeatName | None = None
    bet_to: Money | None = None
    last_full_raise: Money | None = None
    round_started_heads_up: bool | None = None
    dead_small_blind: bool = False
    pot_rounding: Rounding | None = None


class CaseEvent(msgspec.Struct):
    """One event of a case."""

    do: str
    seat: SeatName | None = None
    word: Word | None = None
    amount: Money | None = None
    by_or_to: Literal["by", "to", "unstated"] | None = None
    simultaneous_with_touch: bool = False
    after_touch: bool = False
    delay_s: Annotated[float, msgspec.Meta(ge=0, le=3600)] | None = None
    text: str | None = None
    loudness: str | None = None
    chips: tuple[Chip, ...] | None = None
    motion: int | None = None
    accidental_drop: bool = False
    hand_on_chips: bool = False
    crossed_line: bool = True
    color_unclear: bool = False
    forced_change: bool = False
    act: str | None = None
    to: Money | None = None
    by: str | None = None
    what: str | None = None


class Case(msgspec.Struct):
    """A case without its expectation."""

    setup: CaseSetup
    events: Annotated[tuple[CaseEvent, ...], msgspec.Meta(max_length=256)]
    structure: Structure = "no-limit"


class HandEvent(msgspec.Struct):
    """One event of a played hand."""

    kind: str
    i: int = -1
    seat: SeatNumber | None = None
    what: str = ""
    chips: dict[str, Count] = {}
    motions: Count = 1
    gesture: str = ""
    verb: str = ""
    to: Money | None = None
    discards: Count = 0


class HandRecord(msgspec.Struct):
    """A played hand without its expectation."""

    hand: str
    stacks: Annotated[tuple[Money, ...], msgspec.Meta(min_length=2, max_length=23)]
    events: Annotated[tuple[HandEvent, ...], msgspec.Meta(max_length=4096)]
    structure: Structure
    variant: str = ""
    blinds: tuple[Money, ...] = ()
    bring_in: Money = 0
    min_bet: Money = 0
    small_bet: Money = 0
    big_bet: Money = 0
    spread_min: Money = 0
    spread_max: Money = 0
    denominations: tuple[Annotated[int, msgspec.Meta(ge=1)], ...] = (1,)


def read_case(record: dict[str, Any]) -> Case:
    """A case from its JSON object.  Raises RecordError."""
    return _convert(record, Case)


def read_hand(record: dict[str, Any]) -> HandRecord:
    """A played hand from its JSON object.  Raises RecordError."""
    return _convert(record, HandRecord)


def _convert(record: dict[str, Any], kind: type[T]) -> T:
    unread(record, kind)
    try:
        return msgspec.convert(record, kind)
    except msgspec.ValidationError as e:
        raise RecordError(explained(e, kind)) from None


# ---- what is wrong, in words ------------------------------------------------------------------------------------

NOT_READ: dict[type, frozenset[str]] = {
    Case: frozenset({"id", "profile", "tags", "expected", "source", "note"}),
    CaseSetup: frozenset({"rule_year"}),
    CaseSeat: frozenset({"pos"}),
    HandRecord: frozenset(
        {
            "profile", "scale", "players", "antes", "chips", "notes", "pokerkit", "expected", "street_pots",
            "before_award_stacks",
        }
    ),
    HandEvent: frozenset({"short", "pot", "cards", "amount", "by", "gives", "takes"}),
}  # fmt: skip
"""Keys that the files have and that no ruling rests on."""

_NEAR = 0.8
_MAX_UNREAD = 20


def unread(record: dict[str, Any], kind: type) -> tuple[str, ...]:
    """Places of keys that are not read (at most 20).  Raises RecordError for one that looks like ours, misspelt."""
    found: list[str] = []
    for path, key, fields in _strange(record, kind, ""):
        near = get_close_matches(key, fields, n=1, cutoff=_NEAR)
        if near:
            raise RecordError(f"{path}{key} is not known; did you mean {near[0]!r}?")
        if len(found) < _MAX_UNREAD:
            found.append(f"{path}{key}")
    return tuple(found)


def _strange(value: object, kind: Any, path: str) -> Iterator[tuple[str, str, list[str]]]:
    """Keys that a record has and its type has not: the place, the key, and the keys that the type has."""
    kind = _plain(kind)
    if isinstance(value, list) and get_origin(kind) is tuple:
        for n, item in enumerate(value):
            yield from _strange(item, get_args(kind)[0], f"{path.rstrip('.')}[{n}].")
    if not isinstance(value, dict) or not (isinstance(kind, type) and issubclass(kind, msgspec.Struct)):
        return
    hints = get_type_hints(kind)
    ours = [*hints, *NOT_READ.get(kind, ())]
    for key, item in value.items():
        if key in hints:
            yield from _strange(item, hints[key], f"{path}{key}.")
        elif key not in ours:
            yield path, str(key), ours


def _plain(kind: Any) -> Any:
    """The type without None and without its bounds."""
    if get_origin(kind) is Annotated:
        return _plain(get_args(kind)[0])
    if get_origin(kind) in (Union, UnionType):
        some = [k for k in get_args(kind) if k is not type(None)]
        return _plain(some[0]) if len(some) == 1 else kind
    return kind


def explained(error: msgspec.ValidationError, kind: Any) -> str:
    """The library's message, with the words that are allowed where it is a word that is wrong."""
    text = str(error)
    path = re.search(r"at `\$\.?(.*)`$", text)
    for step in re.findall(r"\w+|\[\d+\]", path[1] if path else ""):
        kind = _plain(kind)
        if step[0] == "[":
            kind = get_args(kind)[0] if get_origin(kind) is tuple else None
        else:
            kind = get_type_hints(kind).get(step) if isinstance(kind, type) else None
    kind = _plain(kind)
    if path and get_origin(kind) is Literal:
        return f"{text}; it is one of {', '.join(map(str, get_args(kind)))}"
    return text
