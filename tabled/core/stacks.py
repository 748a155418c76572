"""More chips on a line than the seat is said to have: the record is wrong, or the chips are not all its own.

Neither can be seen.  "All-in, the rest back" is right if the record is; if it is not, what was done is another act,
and only who counts the stack can say which.  So, where that alters the ruling, the dealer is asked, and a wrong
record goes to the floor, whose decision may bring the true stack (`tabled.model.outcome.Overrule.stack`).
"""

from __future__ import annotations

from tabled.core.draft import Draft
from tabled.core.state import Line
from tabled.fusion.attempt import Attempt, Doubt
from tabled.model.ruling import Reason, Ruling
from tabled.rules.hand import Hand
from tabled.rules.overrule import recounted
from tabled.rules.profile import Profile
from tabled.rules.settle import Judgement


def doubts(hand: Hand, line: Line, attempt: Attempt) -> tuple[Doubt, ...]:
    """Whether the record is right, where chips that are surely there are more than it says.

    What the seat still owes, and chips that vanished from its line, are in its hands though the record has them in.
    """
    return (Doubt("stack_right", True),) if _beyond(hand, line, attempt) else ()


def tell(draft: Draft, attempt: Attempt, *, due: bool) -> None:
    """Name the seat, the record and what lies there, from when the ruling would be final until it is settled."""
    hand, told = draft.state.hand, due and draft.state.answers.get("stack_right") is not True
    beyond = _beyond(hand, draft.line(attempt.seat), attempt) if told and hand is not None else None
    subject = f"stack:{attempt.seat}"
    if beyond is None:
        draft.clear(subject)
        return
    left, there = beyond
    draft.alert(subject, "warning", Reason("stack_short", {"seat": attempt.seat, "left": left, "there": there}))


def richer(hand: Hand, attempt: Attempt) -> Hand:
    """The hand as it is if the seat has more than it put down."""
    there = sum(a.value for a in attempt.arrivals)
    return recounted(hand, attempt.seat, hand.bet_of(attempt.seat) + 2 * there + 1)


def to_floor(profile: Profile, seat: str) -> Judgement:
    """The record is wrong: no act can be ruled on it."""
    reason = Reason("floor_stack_wrong", {"seat": seat})
    ruling = Ruling(seat=seat, action="floor", next_seat=seat, floor=True, reason=reason, profile=profile.hash)
    return Judgement(ruling, None)


def _beyond(hand: Hand, line: Line, attempt: Attempt) -> tuple[int, int] | None:
    """What the seat has left by the record and what it put down; None while the record can be right."""
    if attempt.seat not in hand.seats or hand.to_act != attempt.seat:
        return None
    left = hand.stack_of(attempt.seat)
    there = sum(a.value for a in attempt.arrivals if a.certain and not a.taken_back)
    return (left, there) if there > left + line.owed + sum(line.missing.values()) else None
