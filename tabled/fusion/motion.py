"""From chips that arrived and keys that were pressed to an ordered list of acts, with its doubts.

Sensors give spans.  Where two spans overlap, or it cannot be told in which motion a chip came, there is a `Doubt`: a
yes-or-no question with a best reading.  `acts` builds the list of acts under any assignment of answers, so that the
caller can see whether a doubt would change the ruling, and only then ask.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import msgspec
from msgspec.structs import replace

from firmware_bridge.wire import Press, TimeSpan
from tabled.fusion.attempt import Arrival, Attempt, Doubt, DoubtKind, Spoken, over
from tabled.fusion.grouping import group
from tabled.fusion.settings import MS, FusionSettings
from tabled.fusion.strokes import players
from tabled.model.acts import AnyAct, HandReturnsToStack, HandWithdraws, Place, PullBack, Say, Word

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
    other = doubtful_word(attempt)
    if other is not None:
        # A seat says one thing: with a newer word of its own the older one was the seat's before.
        found.append(Doubt("own_word", other is attempt.words[-1] and not other.echo))
    if any(_word_order(w, attempt) is None for w in attempt.words):
        # A dealer who heard the word before the chips moved presses within his reaction time,
        # so the press nearest to the touch more likely reports a word that came first.
        found.append(Doubt("said_first", True))
    strangers = strange(attempt)
    if strangers:
        # A hand that the camera missed, or a chip that somebody dropped.
        found.append(Doubt("own_chip", len(strangers) < len(attempt.arrivals) or bool(attempt.words)))
    hovered = held(attempt)
    if hovered:
        # A hand that took everything back at once more likely only held it there.
        found.append(Doubt("let_go", any(not a.taken_back for a in attempt.arrivals)))
    motions = group(attempt, settings).doubts
    if hovered and not motions:
        motions = group(_without(attempt, hovered), settings).doubts
    return (*found, *motions)


def acts(attempt: Attempt, answers: Mapping[DoubtKind, bool], settings: FusionSettings) -> tuple[AnyAct, ...]:
    """The acts in binding order, under the given answers to `doubts` (all of them must be answered)."""
    hovered = () if answers.get("let_go", True) else held(attempt)
    if not answers.get("own_chip", True):
        hovered = (*hovered, *strange(attempt))
    put = _without(attempt, hovered)
    before: list[AnyAct] = []
    after: list[AnyAct] = []
    other = None if answers.get("own_word", True) else doubtful_word(attempt)
    words = [w for w in attempt.words if w is not other]
    for word in sorted(words, key=lambda w: (w.span.latest_ns, w.pos)):
        first = _word_order(word, put)
        if first is None:
            first = answers.get("said_first", True)
        order: Literal["before", "after"] = "before" if first else "after"
        (before if first else after).append(msgspec.structs.replace(word.say, order=order))
    out: list[AnyAct] = before
    motions = _motions(put, answers, settings)
    for n, chips in enumerate(motions):
        if n:
            out.append(HandReturnsToStack(attempt.seat))
        out.append(Place(attempt.seat, chips))
        if not n:
            out.extend(after)
    if not motions:
        out.extend(after)
    taken = tuple(a.value for a in attempt.arrivals if a.taken_back and a not in hovered)
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


def _lay_alone(arrival: Arrival, attempt: Attempt) -> bool:
    """Whether a chip lay there at a time when no hand of the player was over the line: it had been let go.

    Without the camera nobody knows.
    """
    if arrival.let_go:
        return True
    hands = players(attempt.strokes)
    if not attempt.sighted or not hands:
        return False
    since, until = arrival.span.latest_ns, arrival.lay_ns
    times = [since, *(s.left.latest_ns + 1 for s in hands if s.left is not None)]
    return any(since <= t <= until and not any(over(s, t, t) for s in hands) for t in times)


def _without(attempt: Attempt, chips: tuple[Arrival, ...]) -> Attempt:
    return replace(attempt, arrivals=tuple(a for a in attempt.arrivals if a not in chips)) if chips else attempt


def doubtful_word(attempt: Attempt) -> Spoken | None:
    """The oldest word that may have been the last seat's: what a question "its own word?" is about."""
    return next((w for w in attempt.words if w.doubtful), None)


def strange(attempt: Attempt) -> tuple[Arrival, ...]:
    """Chips that came to the line while no hand of the player was over it, by what the camera saw."""
    if not attempt.sighted:
        return ()
    hands = players(attempt.strokes)
    return tuple(
        a for a in attempt.arrivals if not a.own and not any(over(s, _reach_ns(a), a.span.latest_ns) for s in hands)
    )


def _reach_ns(arrival: Arrival) -> int:
    return arrival.span.earliest_ns if arrival.reach_ns is None else arrival.reach_ns


def held(attempt: Attempt) -> tuple[Arrival, ...]:
    """Chips that were read over the line and may never have touched it (§7.7: hovering does not bind)."""
    return tuple(a for a in attempt.arrivals if a.taken_back and not _lay_alone(a, attempt))


def _motions(attempt: Attempt, answers: Mapping[DoubtKind, bool], settings: FusionSettings) -> list[tuple[int, ...]]:
    """Chips by motion, largest first."""
    groups = group(attempt, settings).under(answers)
    return [tuple(sorted((a.value for a in chips), reverse=True)) for chips in groups]
