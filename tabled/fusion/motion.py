"""From chips that arrived and keys that were pressed to an ordered list of acts, with its doubts.

Sensors give spans.  Where two spans overlap, or a pause lies between "surely one motion" and "surely
two", the order is a `Doubt`: a yes-or-no question with a best reading.  `acts` builds the list of
acts under any assignment of answers, so that the caller can see whether a doubt would change the
ruling, and only then ask.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import Literal

import msgspec

from firmware_bridge.wire import Press, TimeSpan
from tabled.fusion.settings import MS, FusionSettings
from tabled.model.acts import AnyAct, HandReturnsToStack, HandWithdraws, Place, PullBack, Say, Word

DoubtKind = Literal["one_motion", "said_first", "change_given", "own_word", "stack_right"]

MAX_ARRIVALS = 256
MAX_WORDS = 8


class Arrival(msgspec.Struct, frozen=True):
    """One chip that came to a seat's betting area: its value, when, and the inventory that first named it.

    ``certain`` once it was read often enough to be no ghost; ``taken_back`` when it then vanished again.
    """

    uid: str
    value: int
    span: TimeSpan
    pos: int
    certain: bool = False
    taken_back: bool = False


class Spoken(msgspec.Struct, frozen=True):
    """One declaration as the panel reported it.  ``span`` bounds the word itself, not the press.

    ``doubtful`` when it may have been the word of the seat that acted before.
    """

    say: Say
    span: TimeSpan
    said_first: bool
    pos: int
    doubtful: bool = False


class Doubt(msgspec.Struct, frozen=True):
    """One thing that the sensors cannot tell.  ``best`` is the likelier answer, and holds until one comes."""

    kind: DoubtKind
    best: bool


class Attempt(msgspec.Struct, frozen=True):
    """All evidence of one seat's act so far.

    ``held`` after an undo: the chips lie there, but they mean nothing until the seat moves or speaks again.
    ``faced`` is the bet that was to be seen when the seat began to act; ``closed_ns`` when its hand left.
    """

    seat: str
    arrivals: tuple[Arrival, ...] = ()
    words: tuple[Spoken, ...] = ()
    closed_ns: int | None = None
    held: bool = False
    faced: int = 0

    @property
    def empty(self) -> bool:
        """True when nothing at all has been seen or said."""
        return not self.arrivals and not self.words

    def evidence(self) -> tuple[int, ...]:
        """Journal positions behind this attempt, ascending."""
        return tuple(sorted({a.pos for a in self.arrivals} | {w.pos for w in self.words}))

    def first_touch(self) -> TimeSpan | None:
        """When the first chip touched the felt, None before any did."""
        if not self.arrivals:
            return None
        earliest = min(a.span.earliest_ns for a in self.arrivals)
        return TimeSpan(earliest, max(earliest, min(a.span.latest_ns for a in self.arrivals)))

    def last_ns(self) -> int:
        """Newest instant at which anything was seen or said."""
        return max([a.span.latest_ns for a in self.arrivals] + [w.span.latest_ns for w in self.words], default=0)


_WORDS: dict[str, Word] = {
    "fold": "fold",
    "check": "check",
    "call": "call",
    "bet": "bet",
    "raise": "raise",
    "raise_to": "raise",
    "raise_by": "raise",
    "all_in": "all_in",
    "number": "number",
    "pot": "pot",
    "complete": "complete",
}


def spoken(press: Press, seat: str, pos: int, settings: FusionSettings) -> Spoken | None:
    """The declaration behind a key press, None for a key that is not a word.

    The dealer presses later than the player speaks, by his reaction time.
    """
    word = _WORDS.get(press.key)
    if word is None:
        return None
    counting = {"raise_to": "to", "raise_by": "by"}.get(press.key, "unstated")
    say = Say(seat, word, press.amount or None, "to" if counting == "to" else "by" if counting == "by" else "unstated")
    span = TimeSpan(
        press.span.earliest_ns - settings.reaction_max_ms * MS,
        press.span.latest_ns - settings.reaction_min_ms * MS,
    )
    return Spoken(say, span, press.said_first, pos)


def doubts(attempt: Attempt, settings: FusionSettings) -> tuple[Doubt, ...]:
    """What the evidence leaves open, in the order in which it should be asked."""
    found: list[Doubt] = []
    if any(w.doubtful for w in attempt.words):
        found.append(Doubt("own_word", True))
    if any(_word_order(w, attempt) is None for w in attempt.words):
        # A dealer who heard the word before the chips moved presses within his reaction time,
        # so the press nearest to the touch more likely reports a word that came first.
        found.append(Doubt("said_first", True))
    pauses = _pauses(attempt.arrivals)
    if any(_split(p, settings) is None for p in pauses):
        found.append(Doubt("one_motion", True))
    return tuple(found)


def acts(attempt: Attempt, answers: Mapping[DoubtKind, bool], settings: FusionSettings) -> tuple[AnyAct, ...]:
    """The acts in binding order, under the given answers to `doubts` (all of them must be answered)."""
    before: list[AnyAct] = []
    after: list[AnyAct] = []
    words = [w for w in attempt.words if not w.doubtful or answers["own_word"]]
    for word in sorted(words, key=lambda w: (w.span.latest_ns, w.pos)):
        first = _word_order(word, attempt)
        if first is None:
            first = answers["said_first"]
        order: Literal["before", "after"] = "before" if first else "after"
        (before if first else after).append(msgspec.structs.replace(word.say, order=order))
    out: list[AnyAct] = before
    motions = _motions(attempt.arrivals, answers, settings)
    for n, chips in enumerate(motions):
        if n:
            out.append(HandReturnsToStack(attempt.seat))
        out.append(Place(attempt.seat, chips))
        if not n:
            out.extend(after)
    taken = tuple(a.value for a in attempt.arrivals if a.taken_back)
    if attempt.closed_ns is not None and motions:
        out.append(HandWithdraws(attempt.seat))
    if taken:
        out.append(PullBack(attempt.seat, taken))
    return tuple(out)


def _word_order(word: Spoken, attempt: Attempt) -> bool | None:
    """True: the word came before the first chip.  False: after.  None: the spans overlap."""
    touch = attempt.first_touch()
    if touch is None or word.said_first or word.span.before(touch):
        return True
    if touch.before(word.span):
        return False
    return None


def _pauses(arrivals: tuple[Arrival, ...]) -> list[tuple[int, int]]:
    """Shortest and longest possible pause before each arrival but the first, in nanoseconds."""
    ordered = sorted(arrivals, key=lambda a: (a.span.latest_ns, a.span.earliest_ns, a.uid))
    out = []
    for earlier, later in itertools.pairwise(ordered):
        shortest = max(0, later.span.earliest_ns - earlier.span.latest_ns)
        longest = max(0, later.span.latest_ns - earlier.span.earliest_ns)
        out.append((shortest, longest))
    return out


def _split(pause: tuple[int, int], settings: FusionSettings) -> bool | None:
    """True: two motions.  False: one.  None: cannot be told."""
    shortest, longest = pause
    if longest <= settings.one_motion_ms * MS:
        return False
    if shortest >= settings.two_motions_ms * MS:
        return True
    return None


def _motions(
    arrivals: tuple[Arrival, ...], answers: Mapping[DoubtKind, bool], settings: FusionSettings
) -> list[tuple[int, ...]]:
    ordered = sorted(arrivals, key=lambda a: (a.span.latest_ns, a.span.earliest_ns, a.uid))
    motions: list[list[int]] = []
    for arrival, pause in zip(ordered, [None, *_pauses(arrivals)], strict=False):
        split = pause is not None and _split(pause, settings)
        if split is None:
            split = not answers["one_motion"]
        if split or not motions:
            motions.append([])
        motions[-1].append(arrival.value)
    return [tuple(sorted(m, reverse=True)) for m in motions]
