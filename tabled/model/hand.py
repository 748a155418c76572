"""How a hand is set up, and a frozen picture of where it stands."""

from __future__ import annotations

from typing import Literal

import msgspec

Structure = Literal["no-limit", "pot-limit", "fixed-limit", "spread-limit"]
STREETS = ("preflop", "flop", "turn", "river")


class SeatSetup(msgspec.Struct, frozen=True):
    """One dealt-in seat.  ``stack`` counts all its chips before antes and blinds are taken."""

    seat: str
    stack: int
    ante: int = 0
    blind: int = 0
    dead: int = 0
    """Dead money beside a live blind (a late small blind): in the pot, not part of a bet."""


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """Fixed limit: ``small_bet``, ``big_bet``, ``raises_cap``; spread limit: ``min``, ``max``; stud: ``bring_in``."""

    small_bet: int = 0
    big_bet: int = 0
    raises_cap: int = 0
    min: int = 0
    max: int = 0
    bring_in: int = 0


class HandSetup(msgspec.Struct, frozen=True, kw_only=True):
    """All that the law must know before the first act.

    ``seats`` are in clockwise order, starting left of the dealer button (heads-up: the small blind,
    who has the button, first).  ``blinds`` are the nominal level; who posts what is in the seats.
    ``opener`` names the seat that acts first on the first street where cards decide it (stud).
    """

    hand_id: str
    seats: tuple[SeatSetup, ...]
    game: str = "holdem"
    structure: Structure = "no-limit"
    blinds: tuple[int, ...] = ()
    straddle: int | None = None
    limits: Limits = Limits()
    chip_unit: int = 1
    opener: str | None = None
    button: str | None = None


class Pot(msgspec.Struct, frozen=True):
    """A main or side pot and the seats that can win it."""

    amount: int
    seats: tuple[str, ...]


class SeatView(msgspec.Struct, frozen=True):
    """One seat as a display may show it.  ``bet`` is its counted total on this street."""

    seat: str
    stack: int
    bet: int
    status: Literal["in", "folded", "all_in"]
    may_raise: bool = True


class HandView(msgspec.Struct, frozen=True):
    """Where a hand stands: what is published as state, and what a replay must reproduce."""

    hand_id: str
    structure: Structure
    street: int
    bet_to: int
    min_raise_to: int
    to_act: str | None
    seats: tuple[SeatView, ...]
    pots: tuple[Pot, ...]
    street_over: bool
    over: bool
