"""Hands over a seat's betting line: strokes, and which of them are one motion.

A stroke is one forward movement of a hand past the line.  Two strokes belong to one motion when the hand hardly went
back and hardly rested between them; they are two motions when it went back for more (§7.1).  Between the two, the
camera cannot tell.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

import msgspec
from msgspec.structs import replace

from firmware_bridge.wire import TimeSpan
from tabled.fusion.settings import MS, FusionSettings
from tabled.model.camera import HandMoved, HandOf

LONGEST_MS = 4000
"""A hand that only its leaving was seen of had come at most so long before."""
MAX_STROKES = 24
"""Strokes of one seat that are remembered; a hand that fidgets more than this is known by its newest ones."""

Parting = Literal["none", "unsure", "sure"]


class Stroke(msgspec.Struct, frozen=True):
    """One forward movement over the line.  ``left`` is when the hand was behind it again, None while it is over it.

    ``retreat_mm`` and ``pause_ms`` part it from the stroke before (see `HandMoved`).
    """

    begins: TimeSpan
    left: TimeSpan | None
    by: HandOf
    retreat_mm: int
    pause_ms: int
    first: bool
    pos: int
    inferred: bool = False
    """Only its end was seen: the hand that left had come, some time since it left before."""


class Trip(msgspec.Struct, frozen=True):
    """Strokes that are surely one motion, and how they are parted from the trip before.

    ``begins_ns`` and ``ends_ns`` are the widest bounds between which its chips can have touched the felt;
    ``ends_ns`` is None while the hand is still over the line.  ``parting`` is "none" for the first trip.
    ``likely_apart`` is the better reading of a parting that is unsure.
    """

    begins_ns: int
    ends_ns: int | None
    parting: Parting
    likely_apart: bool


def follow(strokes: tuple[Stroke, ...], seen: HandMoved, pos: int) -> tuple[Stroke, ...]:
    """Fold one step of a hand into the strokes of its seat, oldest first."""
    if seen.step == "leaves":
        if not any(s.left is None and _same_hand(s.by, seen.by) for s in strokes):
            return (*strokes, _unseen(strokes, seen, pos))[-MAX_STROKES:]
        return tuple(
            replace(s, left=_after(s.begins, seen.span)) if s.left is None and _same_hand(s.by, seen.by) else s
            for s in strokes
        )
    stroke = Stroke(seen.span, None, seen.by, seen.retreat_mm, seen.pause_ms, seen.step == "enters", pos)
    if seen.step == "enters":
        # A hand that comes in was out before, whether or not its leaving was seen.
        gone = TimeSpan(0, max(0, seen.span.earliest_ns))
        strokes = tuple(
            replace(s, left=_after(s.begins, gone)) if s.left is None and _same_hand(s.by, seen.by) else s
            for s in strokes
        )
    return (*strokes, stroke)[-MAX_STROKES:]


def _unseen(strokes: tuple[Stroke, ...], seen: HandMoved, pos: int) -> Stroke:
    """The stroke behind a hand that leaves and was not seen to come."""
    lefts = [s.left.latest_ns for s in strokes if s.left is not None]
    since = min(max([seen.span.earliest_ns - LONGEST_MS * MS, *lefts, 0]), seen.span.earliest_ns)
    return Stroke(TimeSpan(since, seen.span.earliest_ns), seen.span, seen.by, 0, 0, True, pos, inferred=True)


def _after(begins: TimeSpan, span: TimeSpan) -> TimeSpan:
    """``span``, but not before the stroke that it ends."""
    earliest = max(begins.earliest_ns, span.earliest_ns)
    return TimeSpan(earliest, max(earliest, span.latest_ns))


def _same_hand(one: HandOf, other: HandOf) -> bool:
    return one == other or "unsure" in (one, other)


def joined(earlier: tuple[Stroke, ...], later: tuple[Stroke, ...]) -> tuple[Stroke, ...]:
    """What is remembered of both; a stroke that is in both is as the later ones have it."""
    known = {s.pos for s in later}
    return (*(s for s in earlier if s.pos not in known), *later)[-MAX_STROKES:]


def players(strokes: Iterable[Stroke]) -> list[Stroke]:
    """Strokes of the player, as far as can be told; the dealer's arm is left out."""
    return [s for s in strokes if s.by != "dealer"]


def trips(strokes: tuple[Stroke, ...], settings: FusionSettings) -> tuple[Trip, ...]:
    """The player's motions by what the camera saw of his hands."""
    own = players(strokes)
    out: list[Trip] = []
    for n, stroke in enumerate(own):
        begins = stroke.begins.earliest_ns - _held_on_ns(stroke, settings)
        ends = stroke.left.latest_ns if stroke.left is not None else None
        if n + 1 < len(own) and (ends is None or not own[n + 1].first):
            # It went on over the line: what it let go, it let go before the next stroke was under way.
            ends = max(begins, own[n + 1].begins.latest_ns - _held_on_ns(own[n + 1], settings))
        parting, apart = _parting(stroke, settings) if out else ("none", False)
        if out and parting == "none":
            out[-1] = replace(out[-1], ends_ns=ends)
        else:
            out.append(Trip(begins, ends, parting, apart))
    return tuple(out)


def _held_on_ns(stroke: Stroke, settings: FusionSettings) -> int:
    """How long before a stroke its motion began: a hand that rested over the line, let go and went straight on, without
    going back, has not rested since (§7.1): those chips are of this motion."""
    rested = not stroke.first and stroke.retreat_mm < settings.together_mm and stroke.pause_ms >= settings.together_ms
    return settings.together_ms * MS if rested else 0


def _parting(stroke: Stroke, settings: FusionSettings) -> tuple[Parting, bool]:
    """How a stroke is parted from the one before it, and the better reading where that is unsure."""
    back, rest = stroke.retreat_mm, stroke.pause_ms
    if stroke.inferred:
        return "unsure", True
    if stroke.first and not back and not rest:
        return "sure", True  # the camera lost the earlier visit from sight: this one is another
    if back >= settings.apart_mm or rest >= settings.apart_ms:
        return "sure", True
    if back < settings.together_mm and rest < settings.together_ms:
        return "none", False
    halfway_mm = (settings.apart_mm + settings.together_mm) // 2
    halfway_ms = (settings.apart_ms + settings.together_ms) // 2
    return "unsure", back >= halfway_mm or rest >= halfway_ms
