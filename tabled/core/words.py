"""Whose word it was: a key pressed late may report what the seat before said.

What was said, what that seat did and what this seat has done since tell it apart in most cases: a word that repeats
what was ruled for the seat before and makes no sense of this one is that seat's; one that makes sense here alone is
this seat's.  Until this seat has done more than (perhaps) speak there is time to wait; then what is left is asked.
"""

from __future__ import annotations

from msgspec.structs import replace

from tabled.core.answers import settle_whose_word
from tabled.core.corrections import reopen_with_word
from tabled.core.draft import Draft
from tabled.core.state import Ruled, TableState
from tabled.fusion.attempt import Attempt, Spoken
from tabled.fusion.motion import doubtful_word
from tabled.model.acts import Say
from tabled.model.ruling import Reason
from tabled.rules.hand import Hand

PASSIVE = ("fold", "check")
NAMES_A_TOTAL = ("bet", "raise", "number", "complete")


def echoes(say: Say, ruled: Ruled) -> bool:
    """Whether a word says what was ruled for the act before."""
    ruling = ruled.ruling
    if say.word == "call":
        return ruling.verb == "call"
    if say.word == "all_in":
        return ruling.all_in
    if say.word not in NAMES_A_TOTAL:
        return False
    if say.amount is None:
        return ruling.verb in ("bet", "raise", "complete")
    put_down = sum(a.value for a in ruled.attempt.arrivals)
    return say.amount == ruling.to if say.by_or_to == "to" else say.amount in (ruling.to, put_down)


def settle(draft: Draft, attempt: Attempt) -> bool:
    """Give the oldest doubtful word to whom it surely belongs; True if that was done.

    One that was the seat's before is judged there, and said so on the screen.
    """
    state = draft.state
    word = doubtful_word(attempt)
    if word is None or (state.question is not None and state.question.seat == attempt.seat):
        return False
    own = _own(state, attempt, word)
    if own is None:
        return False
    settle_whose_word(draft, attempt.seat, own)
    if not own and state.ruled:
        seat = state.ruled[-1].attempt.seat
        if word.say.word not in PASSIVE:
            params: dict[str, int | str] = {"seat": seat, "word": word.say.word}
            draft.alert(f"word:{seat}", "info", Reason("word_of_seat_before", params))
        reopen_with_word(draft, word)
    return True


def _own(state: TableState, attempt: Attempt, word: Spoken) -> bool | None:
    """True: this seat's.  False: the seat's before.  None: cannot be told, or not yet."""
    assert state.hand is not None
    newest = attempt.words[-1]
    if newest is not word:
        # A seat says one thing, and who folds or checks has not bet.
        return False if word.echo or newest.say.word in PASSIVE else None
    possible = _possible(state.hand, attempt.seat, word.say)
    if not possible:
        return False if word.echo else None
    chips = [a.value for a in attempt.arrivals if a.certain and not a.taken_back]
    if len(chips) < len(attempt.arrivals) or not chips:
        return None
    fits = _fits(state.hand, attempt.seat, word.say, chips)
    return None if fits == word.echo else fits


def _possible(hand: Hand, seat: str, say: Say) -> bool:
    """Whether the word can be this seat's act at all."""
    option = hand.option(seat)
    if say.word == "call":
        return option.call_to is not None
    if say.word == "bet":
        return option.check
    if say.word in ("raise", "complete") and say.amount is not None and say.by_or_to == "to":
        return say.amount > hand.bet_to
    return True


def _fits(hand: Hand, seat: str, say: Say, chips: list[int]) -> bool:
    """Whether the chips are what the word promised: its amount, or one chip that is larger."""
    bet = hand.bet_of(seat)
    if say.word == "call":
        promised = hand.option(seat).call_to or 0
    elif say.word == "all_in":
        promised = bet + hand.stack_of(seat)
    elif say.amount is None:
        return bet + sum(chips) > hand.bet_to
    else:
        promised = say.amount + (hand.bet_to if say.by_or_to == "by" else 0)
    total = bet + sum(chips)
    return total == promised or (len(chips) == 1 and total > promised)


def noted(draft: Draft, word: Spoken, *, doubtful: bool) -> Spoken:
    """The word with what is to be known of it before the seat has done more."""
    ruled = draft.state.ruled[-1] if draft.state.ruled else None
    return replace(word, doubtful=doubtful, echo=doubtful and ruled is not None and echoes(word.say, ruled))
