"""All that was seen and heard of one seat's act: chips that came, words, strokes of the hand, and what is doubtful."""

from __future__ import annotations

from typing import Literal

import msgspec

from firmware_bridge.wire import TimeSpan
from tabled.fusion.presence import Look
from tabled.fusion.strokes import Stroke
from tabled.model.acts import Say

DoubtKind = Literal[
    "own_chip", "let_go", "one_motion", "late_chips", "said_first", "change_given", "own_word", "stack_right"
]

MAX_ARRIVALS = 256
MAX_WORDS = 8
SURE = 999
"""Confidence of a reading that nothing contradicts, in thousandths."""


class Arrival(msgspec.Struct, frozen=True):
    """One chip that came to a seat's betting area: its value, when, and the inventory that first named it.

    ``span`` holds the touch as good as surely; ``misses`` are the clean looks within it that did not name the chip,
    oldest first: the touch came after them, or they missed it.  ``certain`` once it was read often enough to be no
    ghost; ``taken_back`` when it then vanished again, ``lay_ns`` the newest time at which it was read then.
    """

    uid: str
    value: int
    span: TimeSpan
    pos: int
    certain: bool = False
    taken_back: bool = False
    misses: tuple[Look, ...] = ()
    lay_ns: int = 0
    let_go: bool = False
    """The dealer said that it had been put down."""
    own: bool = False
    """The dealer said that it was the seat's act."""
    reach_ns: int | None = None
    """It may lie there since then, however badly it lies; None: since ``span`` begins."""

    @property
    def likely(self) -> TimeSpan:
        """The touch if no look missed the chip: from the newest look without it to the first with it."""
        if not self.misses:
            return self.span
        return TimeSpan(min(self.misses[-1].start_ns, self.span.latest_ns), self.span.latest_ns)


class Spoken(msgspec.Struct, frozen=True):
    """One declaration as the panel reported it.  ``span`` bounds the word itself, not the press.

    ``doubtful`` when it may have been the word of the seat that acted before; ``echo`` if it says what that seat did.
    """

    say: Say
    span: TimeSpan
    said_first: bool
    pos: int
    doubtful: bool = False
    echo: bool = False


class Doubt(msgspec.Struct, frozen=True):
    """One thing that the sensors cannot tell.  ``best`` is the likelier answer, and holds until one comes.

    ``confidence`` is how sure ``best`` is, in thousandths.
    """

    kind: DoubtKind
    best: bool
    confidence: int = 500


class Attempt(msgspec.Struct, frozen=True):
    """All evidence of one seat's act so far.

    ``held`` after an undo: the chips lie there, but they mean nothing until the seat moves or speaks again.
    ``faced`` is the bet that was to be seen when the seat began to act; ``closed_ns`` when its hand left, by the
    dealer's key.  ``strokes`` are those of hands over its line, oldest first; ``sighted`` when the camera was to be
    trusted there all the while, so that a stroke it does not name was not made.
    """

    seat: str
    arrivals: tuple[Arrival, ...] = ()
    words: tuple[Spoken, ...] = ()
    closed_ns: int | None = None
    held: bool = False
    faced: int = 0
    strokes: tuple[Stroke, ...] = ()
    sighted: bool = False
    early: bool = False
    """It was told that it acted out of turn: its act is ruled as such, whatever it faces when its turn comes."""

    @property
    def empty(self) -> bool:
        """True when nothing has been put down and nothing said; a hand over the line alone is no act (§7.7)."""
        return not self.arrivals and not self.words

    def asked_on(self) -> tuple[int, ...]:
        """Journal positions of what a question is about, ascending: with more of it the question is another one."""
        return tuple(sorted({a.pos for a in self.arrivals} | {w.pos for w in self.words}))

    def evidence(self) -> tuple[int, ...]:
        """Journal positions behind this attempt, ascending."""
        return tuple(sorted({*self.asked_on(), *(s.pos for s in self.strokes)}))

    def first_touch(self) -> TimeSpan | None:
        """When the first chip touched the felt, None before any did.

        A chip cannot land before a hand that could have brought it came over the line.
        """
        if not self.arrivals:
            return None
        earliest = min(a.span.earliest_ns for a in self.arrivals)
        latest = min(a.span.latest_ns for a in self.arrivals)
        if self.sighted:
            ready = [max(earliest, s.begins.earliest_ns) for s in self.strokes if over(s, earliest, latest)]
            earliest = min(ready, default=earliest)
        return TimeSpan(min(earliest, latest), latest)

    def last_ns(self) -> int:
        """Newest instant at which anything was seen or said."""
        return max([a.span.latest_ns for a in self.arrivals] + [w.span.latest_ns for w in self.words], default=0)


def over(stroke: Stroke, from_ns: int, to_ns: int) -> bool:
    """Whether the stroke's hand may have been over the line at some time between the two."""
    return stroke.begins.earliest_ns <= to_ns and (stroke.left is None or stroke.left.latest_ns >= from_ns)
