"""What truly happens in a scene: frozen values, instants in ns of the simulator's clock, places in mm of the table."""

from __future__ import annotations

from typing import Literal

import msgspec

Who = Literal["player", "dealer"]


class HandStep(msgspec.Struct, frozen=True, kw_only=True):
    """A hand's step at a seat.

    The *foremost point* is, of the hand's finger tips and the chips or cards it holds or pushes, the one furthest over
    the seat's betting line, dropped plumb on the felt.  For the player ``enters`` and ``leaves`` are the instants at
    which it crosses the line; for the dealer (and for an arm of another seat) those at which the first part of hand or
    arm comes over the seat's bet zone, and the last part is gone from it.  ``advances``: the foremost point, over the
    line, has come `FORWARD_MM` forward again after going back or resting.  ``retreat_mm`` is from the furthest point of
    the stroke before to the rearmost since; ``pause_ms`` from the end of the forward movement before to this step.
    Both 0 for a first stroke, and for one that comes 5 s after the last.
    ``seen_ns`` is when the camera's ray through that point crosses the line *on the felt* (parallax; without the row's
    read-out), ``z_mm`` the point's height, ``depth_mm`` how far over the line the player's visit gets: one of a few mm
    only grazes it.
    """

    at_ns: int
    seat: str
    step: Literal["enters", "advances", "leaves"]
    by: Who
    retreat_mm: int = 0
    pause_ms: int = 0
    x_mm: int = 0
    y_mm: int = 0
    z_mm: int = 0
    seen_ns: int = 0
    depth_mm: int = 0


class Landing(msgspec.Struct, frozen=True, kw_only=True):
    """Chips that came to rest on a seat's bet zone; ``value`` of the top chip, ``tagged`` if RFID can see them."""

    at_ns: int
    seat: str
    x_mm: float
    y_mm: float
    count: int
    value: int
    values: tuple[int, ...]
    tagged: bool = True
    hidden_until_ns: int = 0
    """When no hand covers it any more."""


class Removal(msgspec.Struct, frozen=True, kw_only=True):
    """Chips that began to leave where they lay."""

    at_ns: int
    seat: str
    x_mm: float
    y_mm: float
    count: int
    by: Who


class CardsLanded(msgspec.Struct, frozen=True, kw_only=True):
    """Cards that came to rest in a seat's bet zone (a fold), and when they were taken away (0: never)."""

    at_ns: int
    seat: str
    x_mm: float
    y_mm: float
    gone_ns: int = 0


class Tag(msgspec.Struct, frozen=True, kw_only=True):
    """What a perfect reader under a seat's bet zone would tell: a chip's tag from then till then (0: the end)."""

    seat: str
    uid: int
    value: int
    from_ns: int
    to_ns: int = 0


class Disturbance(msgspec.Struct, frozen=True, kw_only=True):
    """Something that hinders the camera: kind as the conditions are named, ``to_ns`` 0 when it stays.

    ``amount`` in thousandths: of "knocked" the mean shift in pixels, of "lightstep" the new light over the old, of
    "occluded" the hidden share of the zone, of "defocus" the blur in pixels, of "flicker" its depth; of "shadow" (who
    sits at ``seat`` leans over the table) how far, in µm.
    """

    kind: Literal["knocked", "lightstep", "occluded", "defocus", "dirt", "flicker", "shadow"]
    from_ns: int
    to_ns: int = 0
    seat: str = ""
    amount: int = 0


class Act(msgspec.Struct, frozen=True, kw_only=True):
    """One act of the script: its kind and span."""

    kind: str
    seat: str
    from_ns: int
    to_ns: int


class Truth(msgspec.Struct, frozen=True, kw_only=True):
    """All of it, each list in the order of time; counts of what was done to frames by sequence number."""

    steps: tuple[HandStep, ...] = ()
    landings: tuple[Landing, ...] = ()
    removals: tuple[Removal, ...] = ()
    cards: tuple[CardsLanded, ...] = ()
    tags: tuple[Tag, ...] = ()
    disturbances: tuple[Disturbance, ...] = ()
    acts: tuple[Act, ...] = ()
    exposure_ns: int = 0
    readout_ns: int = 0
    dropped: tuple[int, ...] = ()
    late: tuple[int, ...] = ()
    truncated: tuple[int, ...] = ()


FORWARD_MM = 2.0
"""A hand moves forward again once it has come so far from its rearmost point."""
