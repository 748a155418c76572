"""A ruling: what the law makes of an act.  A frozen value; sentences are made elsewhere from ``reason``."""

from __future__ import annotations

from typing import Literal

import msgspec

Verdict = Literal[
    "call",
    "bet",
    "raise",
    "complete",
    "all_in",
    "check",
    "fold",
    "call_or_fold",
    "pending",
    "held_out_of_turn",
    "floor",
    "stands",
    "corrected",
    "bring_in",
]

Verb = Literal["fold", "check", "call", "bet", "raise", "complete", "bring-in"]
"""What the act did to the betting, whether or not it took the last chip."""


class Change(msgspec.Struct, frozen=True):
    """Money to give back out of one chip: ``amount`` back out of a chip worth ``out_of``."""

    amount: int
    out_of: int


class Option(msgspec.Struct, frozen=True):
    """What one seat may do when it is its turn.  All amounts are totals on the street; None = not allowed."""

    seat: str
    check: bool
    fold: bool
    call_to: int | None = None
    raise_min_to: int | None = None
    raise_max_to: int | None = None
    complete_to: int | None = None


class Faced(msgspec.Struct, frozen=True):
    """What the acting seat faced before it acted.

    ``to_call`` is what it owed, capped by its stack; ``min_to``/``max_to`` the smallest and largest
    legal raise, as totals on the street; ``raise_open`` whether it might raise at all.
    """

    to_call: int
    min_to: int
    max_to: int
    raise_open: bool


class Reason(msgspec.Struct, frozen=True):
    """Machine-readable cause; ``code`` is a key of the message catalogue, ``params`` fill its gaps."""

    code: str
    params: dict[str, int | str] = {}


class Locked(msgspec.Struct, frozen=True):
    """A seat that is still in but may not raise, and why."""

    seat: str
    reason: Reason


class Candidate(msgspec.Struct, frozen=True):
    """One outcome that the floor may choose, or the other reading of an ambiguous paragraph."""

    action: Verdict
    to: int | None
    reason: Reason


class Adjustment(msgspec.Struct, frozen=True):
    """What another seat must add when an amount that it had answered is corrected; below zero, what it gets back."""

    seat: str
    add: int


class Ruling(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """The law's answer to one act.

    ``to`` is the seat's total on the street after the act; ``add`` what it still owes, ``back`` what it
    gets back, both in smallest chips.  ``back_chips`` are whole chips to push back, ``change`` is what a
    dealer must break a chip for.  ``call_to``, ``min_raise_to`` and ``max_raise_to`` are what the next
    player faces (``max_raise_to`` only where the structure caps it; by seat where seats differ).
    ``cite`` lists clause ids such as ``"SE 7.2.2"``.  ``profile`` is the hash of the profile applied, ``calibration``
    that of what was measured of the table ("" where nothing was).
    ``hold`` are chips that lie undecided before a seat that acted out of turn, ``skipped`` the seats passed over,
    ``adjust`` what others add to a corrected amount or get back, ``default_to`` what holds until the floor has spoken,
    ``window`` why a correction came too late, ``floor_reason`` why the floor is wanted where ``reason`` speaks of the
    act (with ``action`` "floor", ``reason`` itself says it).  ``by_floor``: the floor decided it, and no later chip or
    word changes it; ``departs`` says what the law would have made of the same act, where that is another thing.
    """

    seat: str
    action: Verdict
    verb: Verb | None = None
    to: int | None = None
    add: int = 0
    back: int = 0
    back_chips: tuple[int, ...] = ()
    change: Change | None = None
    all_in: bool = False
    full: bool | None = None
    counts_as_raise: bool | None = None
    faced: Faced | None = None
    next_seat: str | None = None
    call_to: int | None = None
    min_raise_to: int | None = None
    max_raise_to: int | dict[str, int] | None = None
    may_raise: tuple[str, ...] = ()
    may_not_raise: tuple[Locked, ...] = ()
    options: tuple[Option, ...] = ()
    raises_used: int | None = None
    round_over: bool = False
    cite: tuple[str, ...] = ()
    reason: Reason = Reason("none")
    floor: bool = False
    candidates: tuple[Candidate, ...] = ()
    penalty: str = ""
    profile: str = ""
    calibration: str = ""
    hold: tuple[int, ...] = ()
    skipped: tuple[str, ...] = ()
    adjust: tuple[Adjustment, ...] = ()
    default_to: int | None = None
    window: str = ""
    floor_reason: Reason | None = None
    by_floor: bool = False
    departs: Reason | None = None
