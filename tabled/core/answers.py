"""What an answer of the dealer settles: one reading of the evidence, or for good whose chip or word it was."""

from __future__ import annotations

from msgspec.structs import replace

from tabled.core.draft import Draft
from tabled.core.state import Key
from tabled.fusion.motion import doubtful_word, held, strange
from tabled.model.outcome import QuestionClosed
from tabled.model.ruling import Reason


def answer(draft: Draft, key: Key, by: str) -> bool:
    """Settle the open question.  False when none is open."""
    state = draft.state
    question = state.question
    if question is None:
        return False
    if question.doubt == "own_word":
        settle_whose_word(draft, question.seat, key == "key_a")
    elif question.doubt == "own_chip":
        _settle_own_chip(draft, question.seat, key == "key_a")
    elif question.doubt == "let_go":
        _settle_let_go(draft, question.seat, key == "key_a")
    else:
        state.answers = {**state.answers, question.doubt: key == "key_a"}
        state.answered = question.evidence
    state.question = None
    draft.emit(QuestionClosed(question=question.position, answer=key, by=by))
    return True


def settle_whose_word(draft: Draft, seat: str, own: bool) -> None:
    """It is settled whose word it was: it is the seat's own from now on, or it is gone."""
    state = draft.state
    attempt = state.attempts.get(seat)
    word = doubtful_word(attempt) if attempt is not None else None
    if attempt is not None and word is not None:
        settled = (replace(word, doubtful=False),) if own else ()
        words = tuple(w for old in attempt.words for w in (settled if old is word else (old,)))
        state.attempts = {**state.attempts, seat: replace(attempt, words=words)}


def _settle_let_go(draft: Draft, seat: str, let_go: bool) -> None:
    """The dealer said whether the chips that were taken back had been put down: they count, or they never came."""
    state = draft.state
    attempt = state.attempts.get(seat)
    if attempt is not None:
        uids = {a.uid for a in held(attempt)}
        chips = tuple(replace(a, let_go=True) if a.uid in uids else a for a in attempt.arrivals)
        chips = chips if let_go else tuple(a for a in chips if a.uid not in uids)
        state.attempts = {**state.attempts, seat: replace(attempt, arrivals=chips)}


def _settle_own_chip(draft: Draft, seat: str, own: bool) -> None:
    """The dealer said whether chips that no hand of the seat was seen to bring are its act; if not, they go back."""
    state = draft.state
    attempt = state.attempts.get(seat)
    if attempt is None:
        return
    chips = {a.uid: a.value for a in strange(attempt) if not a.taken_back}
    if own:
        arrivals = tuple(replace(a, own=True) if a.uid in chips else a for a in attempt.arrivals)
    else:
        arrivals = tuple(a for a in attempt.arrivals if a.uid not in chips)
        line, back = draft.line(seat), sum(chips.values())
        draft.set_line(seat, replace(line, settled={**line.settled, **chips}, back=line.back + back))
        draft.alert(f"late:{seat}", "info", Reason("change_due", {"seat": seat, "amount": back}))
    state.attempts = {**state.attempts, seat: replace(attempt, arrivals=arrivals)}
