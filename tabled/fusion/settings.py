"""Numbers that fusion needs about people and sensors.  One value per table, part of its configuration."""

from __future__ import annotations

import msgspec

MS = 1_000_000
"""Nanoseconds in a millisecond."""


class SensorModel(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Log-likelihood steps of the presence filter, in thousandths of a nat.

    A tag's level is ln(P(on this antenna) / P(not)) times 1000, kept within ``gone`` and ``ceiling``.  ``start`` is
    that of a tag that nothing speaks for, ``start_expected`` of a registered chip that is nowhere else, where a hand
    is over the line.  ``hit`` is ln(0.95/0.01): a lone chip is read 95 times in 100, a neighbour's or ghost's once.

    ``miss_lone`` is -ln(0.05/0.99) and ``miss_buried`` -ln 0.15; ``again_lone`` and ``again_buried`` are -ln 0.22 and
    -ln 0.5 for a look right after one that missed, because misses go together: the chip that was hidden once stays
    hidden.  ``miss_untouched`` is for a chip that no hand has been near since it was read.  ``found_again`` is
    ln(0.85/0.5): a look that names what the one before missed is less likely than one that names what just came.
    ``elsewhere`` is what an answer on another antenna takes away, ``moved`` by how much another antenna must be
    likelier before the tag is there.

    ``again_here`` is ``again_buried`` as this table has shown it (see `presence.learned`), to weigh what looks prove;
    before it has shown anything, as if ``prior_again`` looks of ``prior_again + prior_found`` had missed again.
    ``again_changed`` is -ln 0.3, for a look that names other chips than the one before it: it is no echo.
    ``badly`` is -ln 0.1, that a chip lies badly at all, and ``deaf`` -ln 0.6 for each look that then misses it.
    ``shown`` is what it must cost that looks have missed a chip before nothing more is waited for: chips are many.

    A reading is sure when any other one costs ``sure`` more (1 in 1000): so a chip was not there before looks that
    could all have missed it only at that cost.
    """

    start: int = -4000
    hit: int = 4550
    miss_lone: int = 2990
    miss_untouched: int = 250
    again_changed: int = 1200
    start_expected: int = -1000
    elsewhere: int = 500
    moved: int = 1000
    confirmed: int = 3000
    gone: int = -2000
    ceiling: int = 6000
    miss_buried: int = 1900
    again_buried: int = 690
    again_lone: int = 1500
    found_again: int = 530
    again_here: int = 690
    prior_again: int = 6
    prior_found: int = 2
    badly: int = 2300
    deaf: int = 510
    shown: int = 10_000
    sure: int = 6900


class FusionSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Spans of human behaviour, in milliseconds.

    Two chips that landed within ``one_motion_ms`` of each other came in one motion; at least
    ``two_motions_ms`` apart they came in two; between the two nobody can tell without a camera.
    The defaults are strict: a string bet may be as quick as that.  A room that rather trusts its players than is asked
    says 500 and 1200.
    ``motion_close_ms`` after the last chip the motion is over.  A key is pressed ``reaction_min_ms``
    to ``reaction_max_ms`` after the word was spoken (a "said first" key settles the order at once).
    The same key again within ``key_bounce_ms`` is the same press: no two players act so fast behind each other.
    A blind or ante that is not seen ``post_wait_ms`` after the hand began is asked for by name.
    ``look_grace_ms`` is what an awaited look at an antenna may take beyond its reader's own bound, for its way to the
    journal, before the dealer is told that it did not come.

    With a camera: a hand that went back less than ``together_mm`` and rested less than ``together_ms`` is still in
    the same motion; from ``apart_mm`` or ``apart_ms`` on it is in another one (§7.1).  These are what a camera
    measures: a table is of one mind below 10 mm and 100 ms and from 30 mm or 200 ms on, and what lies between them
    leaves the camera an error of 6 mm and 30 ms on either side.  ``hand_gone_ms`` after the hand
    left its motion is over; a hand that lies over the line for ``hand_rests_ms`` is waited for no longer.
    A word that may have been another seat's is asked about when nothing has come after it for ``whose_word_ms`` more.
    """

    one_motion_ms: int = 150
    two_motions_ms: int = 2000
    motion_close_ms: int = 900
    post_wait_ms: int = 15_000
    key_bounce_ms: int = 250
    reaction_min_ms: int = 200
    reaction_max_ms: int = 1500
    look_grace_ms: int = 500
    together_mm: int = 16
    apart_mm: int = 24
    together_ms: int = 130
    apart_ms: int = 170
    hand_gone_ms: int = 400
    hand_rests_ms: int = 4000
    whose_word_ms: int = 4000
    sensor: SensorModel = SensorModel()

    def __post_init__(self) -> None:
        if not 0 <= self.one_motion_ms <= self.two_motions_ms:
            raise ValueError("one_motion_ms must not be larger than two_motions_ms, nor negative")
        if not 0 <= self.reaction_min_ms <= self.reaction_max_ms:
            raise ValueError("reaction_min_ms must not be larger than reaction_max_ms, nor negative")
        if not (0 <= self.together_mm <= self.apart_mm and 0 <= self.together_ms <= self.apart_ms):
            raise ValueError("together_mm and together_ms must not be larger than apart_mm and apart_ms, nor negative")
        if self.motion_close_ms <= 0:
            raise ValueError("motion_close_ms must be positive")
        if self.look_grace_ms < 0:
            raise ValueError("look_grace_ms must not be negative")
