"""Whether what the camera sees lying on a seat's line and what the reader names there can be the same chips.

A pile may hide chips under its top, never show one too many: so the camera tells of chips without a tag by the colour
of a top that no tag explains, by more tops than tags, or by a colour that is none of the table's.  Compare when the
zone lies still and the reader has looked since.

The table does not use it yet: what it tells of a chip without a tag rests on landings (`tabled.core.money`).  The
camera's evaluation does (`tests.vision`), which counts how often it would be right, pile by pile.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import msgspec

from tabled.model.camera import ChipsLanded

Kind = Literal["untagged", "foreign", "unseen"]

MIN_CONFIDENCE = 500
"""Thousandths; a colour that the camera is less sure of proves nothing."""
CHIP_MM2 = 1_195
"""What one chip of 39 mm covers."""
CROWDED_MM2 = 1_900
"""A pile that covers more than this shows two tops at least: a stack's lean adds to one chip's area."""
MAX_PILES = 64


class Disagreement(msgspec.Struct, frozen=True):
    """``untagged``: a chip of the table's colours that no tag explains.  ``foreign``: a chip of no colour of the table.

    ``unseen``: the reader names chips where the camera sees none (it may be hidden, or a neighbour's that bleeds over).
    ``x_mm``, ``y_mm`` is the pile, ``value`` its top's denomination (0: none).
    """

    kind: Kind
    x_mm: int = 0
    y_mm: int = 0
    value: int = 0


def disagreements(piles: Sequence[ChipsLanded], tagged: Sequence[int]) -> tuple[Disagreement, ...]:
    """What the piles of one seat show that its tags do not explain; ``tagged`` are their denominations.

    At most `MAX_PILES` of the newest piles are looked at.  No piles and no tags agree.
    """
    seen = piles[-MAX_PILES:]
    out: list[Disagreement] = []
    left = sorted(tagged)
    for pile in seen:
        if pile.confidence < MIN_CONFIDENCE:
            continue
        if pile.value == 0:
            out.append(Disagreement("foreign", pile.x_mm, pile.y_mm))
        elif pile.value in left:
            left.remove(pile.value)
        else:
            out.append(Disagreement("untagged", pile.x_mm, pile.y_mm, pile.value))
    if not out and seen and sum(_tops(pile) for pile in seen) > len(tagged):
        largest = max(seen, key=lambda p: (p.area_mm2, p.x_mm, p.y_mm))
        out.append(Disagreement("untagged", largest.x_mm, largest.y_mm, largest.value))
    if tagged and not seen:
        out.append(Disagreement("unseen"))
    return tuple(out)


def _tops(pile: ChipsLanded) -> int:
    """The least number of chips that cover so much."""
    return 1 if pile.area_mm2 < CROWDED_MM2 else 1 + (pile.area_mm2 - CROWDED_MM2) // (2 * CHIP_MM2)
