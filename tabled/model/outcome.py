"""What the core says: rulings, questions, alerts, closed streets.  Journalled, then published.

An outcome's id is its journal position.  It is never edited: a later one names it in ``replaces``.
All times are host monotonic nanoseconds of the journal's session; wall time stands on the entry.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from tabled.model.hand import HandSetup, HandView, Pot
from tabled.model.ruling import Reason, Ruling, Verdict

Status = Literal["provisional", "final"]
Severity = Literal["info", "warning", "fault"]


class Outcome(msgspec.Struct, frozen=True, tag_field="kind", kw_only=True):
    """Base of all outcomes."""


class RulingIssued(Outcome, frozen=True, tag="ruling", kw_only=True):
    """A ruling on one act.

    ``act`` counts acts within the hand from 1; the provisional and the final ruling of one act share it.
    ``street`` counts from 0.  ``touched_from_ns``/``touched_to_ns`` bound the first touch of chips or the
    word.  ``evidence`` lists the journal positions of the observations behind it.  ``confidence`` is in
    thousandths.  ``stands`` is the reading that holds while ``question`` is open.
    """

    hand_id: str
    street: int
    act: int
    status: Status
    ruling: Ruling
    replaces: int | None = None
    corrects: int | None = None
    question: int | None = None
    touched_from_ns: int | None = None
    touched_to_ns: int | None = None
    ruled_ns: int
    evidence: tuple[int, ...] = ()
    confidence: int = 1000


class Choice(msgspec.Struct, frozen=True):
    """One key of a question: what it says, and the ruling that follows from it."""

    key: Literal["key_a", "key_b"]
    reason: Reason
    action: Verdict
    to: int | None = None


class QuestionAsked(Outcome, frozen=True, tag="question", kw_only=True):
    """One doubt that would change the ruling, as one question with two keys."""

    hand_id: str
    act: int
    seat: str
    reason: Reason
    choices: tuple[Choice, Choice]
    stands: Literal["key_a", "key_b"]
    asked_ns: int


class QuestionClosed(Outcome, frozen=True, tag="question_closed", kw_only=True):
    """The question ``question`` (a journal position) was answered, or became idle (``answer`` None)."""

    question: int
    answer: Literal["key_a", "key_b"] | None
    by: str = "dealer"


class AlertRaised(Outcome, frozen=True, tag="alert", kw_only=True):
    """Something the dealer or technician must know.  ``cleared`` ends an earlier alert of the same ``subject``."""

    subject: str
    severity: Severity
    reason: Reason
    cleared: bool = False
    raised_ns: int


class StreetClosed(Outcome, frozen=True, tag="street_closed", kw_only=True):
    """Bets of a street are in the pot.  Goes to floor and surveillance, never to a display (no-limit pots)."""

    hand_id: str
    street: int
    pots: tuple[Pot, ...]
    pot_total: int
    closed_ns: int


class HandStarted(Outcome, frozen=True, tag="hand_started", kw_only=True):
    """A hand began."""

    hand_id: str
    view: HandView
    started_ns: int


class HandEnded(Outcome, frozen=True, tag="hand_ended", kw_only=True):
    """A hand is over; ``stacks`` are by seat before the pot is pushed to the winner.

    ``abandoned``: a misdeal, nothing of it counts, and then there are no stacks to tell.
    """

    hand_id: str
    pot_total: int
    stacks: dict[str, int]
    ended_ns: int
    abandoned: bool = False


AnyOutcome = RulingIssued | QuestionAsked | QuestionClosed | AlertRaised | StreetClosed | HandStarted | HandEnded

Phase = Literal["recovering", "idle", "posting", "betting", "sweeping", "over"]


class SeatLine(msgspec.Struct, frozen=True):
    """A seat as the dealer's screen shows it.  No stacks and no pot: the law forbids the first unasked in
    some rooms and the second in no-limit everywhere."""

    seat: str
    bet: int
    status: Literal["in", "folded", "all_in", "empty"]
    may_raise: bool = True


class TableView(msgspec.Struct, frozen=True, kw_only=True):
    """The retained ``state`` message: enough for a display that has just been opened.

    ``position`` is the journal position it reflects; ``recent`` holds the positions of the newest rulings,
    newest last, so that a page can tell what it missed.
    """

    epoch: str
    position: int
    phase: Phase
    hand_id: str | None = None
    structure: str | None = None
    street: int = 0
    to_act: str | None = None
    bet_to: int = 0
    min_raise_to: int = 0
    seats: tuple[SeatLine, ...] = ()
    button: str | None = None
    question: int | None = None
    recent: tuple[int, ...] = ()
    faults: tuple[Reason, ...] = ()


class OperatorAct(msgspec.Struct, frozen=True, tag_field="act", kw_only=True):
    """Base of what an operator may order over ``cmd/…``.  ``request`` is the caller's id, ``who`` a role and name."""

    request: str
    who: str = ""


class StartHand(OperatorAct, frozen=True, tag="start_hand", kw_only=True):
    """A new hand with these seats, stacks and stakes (from the floor's seating, or the last hand's result)."""

    setup: HandSetup


class Answer(OperatorAct, frozen=True, tag="answer", kw_only=True):
    """The answer to an open question, from the page (the panel's keys do the same)."""

    question: int
    key: Literal["key_a", "key_b"]


class NextStreet(OperatorAct, frozen=True, tag="next_street", kw_only=True):
    """The dealer says that the street is over, where the sweep was not seen."""


class AbandonHand(OperatorAct, frozen=True, tag="abandon_hand", kw_only=True):
    """A misdeal: the hand is void."""


class Undo(OperatorAct, frozen=True, tag="undo", kw_only=True):
    """The newest final ruling of this street was wrong: back to before it, its chips still before the seat."""


class Overrule(OperatorAct, frozen=True, tag="overrule", kw_only=True):
    """The floor decides: the act ruled at journal position ``ruling`` is ``action``, to the total ``to``.

    Only for the newest final ruling of the street, for one that waits for the floor, or for an act held out of turn.
    ``reason`` is kept.  ``stack`` puts a wrong record right: all that the seat has on this street, bet and behind.
    """

    ruling: int
    action: Literal["fold", "check", "call", "bet", "raise", "complete", "all_in"]
    to: int | None = None
    reason: str = ""
    stack: int | None = None


AnyOperatorAct = StartHand | Answer | NextStreet | AbandonHand | Undo | Overrule
