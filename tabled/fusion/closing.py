"""When an act is over: the hand gone, the words said, and since when a look at the line shows all of it."""

from __future__ import annotations

from tabled.fusion.attempt import Attempt, Spoken
from tabled.fusion.settings import MS, FusionSettings
from tabled.fusion.strokes import Stroke, players

WHOLE_WITHOUT_AMOUNT = ("fold", "check", "call", "all_in", "pot")
"""Words to which no amount is added."""


def closes_ns(attempt: Attempt, fusion: FusionSettings, *, words: bool = True) -> int | None:
    """When the attempt's motion and words are over, if nothing more comes (host ns).  None: it waits for an event.

    With ``words`` False only when the motion is.
    """
    if attempt.empty:
        return None
    gone = _hand_gone_ns(attempt, fusion)
    if attempt.arrivals and gone is not None:
        quiet = max(attempt.last_ns(), gone)
    else:
        quiet = attempt.last_ns() + fusion.motion_close_ms * MS
    touch = attempt.first_touch()
    if touch is None:
        # A word alone: the chips that go with it are on their way, and if it was another's, they will tell.
        if all(w.doubtful for w in attempt.words):
            quiet += fusion.whose_word_ms * MS
        return quiet + fusion.reaction_max_ms * MS
    if not words or any(_whole(w) for w in attempt.words):
        return quiet
    return max(quiet, touch.latest_ns + fusion.reaction_max_ms * MS)


def _whole(word: Spoken) -> bool:
    """Whether the word is surely the seat's own and says all: a seat says one thing, so no other is waited for."""
    return not word.doubtful and (word.say.amount is not None or word.say.word in WHOLE_WITHOUT_AMOUNT)


def still_since_ns(attempt: Attempt, over_ns: int) -> int:
    """From when on a look shows all that the motion brought: the hand has left, or the last chip been seen."""
    left = _left_ns(attempt)
    if left is not None:
        return min(left, over_ns)
    return over_ns if attempt.closed_ns is not None else min(over_ns, attempt.last_ns())


def untouched_since_ns(attempt: Attempt, over_ns: int) -> int:
    """From when on nobody can have taken anything back: the camera saw the hand leave, else when the act is over."""
    left = _left_ns(attempt)
    return over_ns if left is None else min(left, over_ns)


def _left_ns(attempt: Attempt) -> int | None:
    """When the player's hand had surely left for good, by the camera; None while it has not, or none is seen."""
    strokes = _players(attempt)
    left = [s.left.latest_ns for s in strokes if s.left is not None]
    return max(left) if left and len(left) == len(strokes) else None


def _players(attempt: Attempt) -> list[Stroke]:
    """Strokes of the player, as far as the camera is to be believed."""
    return players(attempt.strokes) if attempt.sighted else []


def _hand_gone_ns(attempt: Attempt, fusion: FusionSettings) -> int | None:
    """When the player's hand is surely done; None when the camera did not see it."""
    ends = [
        s.begins.latest_ns + fusion.hand_rests_ms * MS
        if s.left is None
        else s.left.latest_ns + fusion.hand_gone_ms * MS
        for s in _players(attempt)
    ]
    return max(ends, default=None)
