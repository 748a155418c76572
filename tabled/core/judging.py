"""What the law makes of one reading of the evidence, judged once while nothing that goes into it changes."""

from __future__ import annotations

from collections.abc import Sequence

from tabled.core import stacks
from tabled.core.draft import Draft
from tabled.core.memo import Case, Judged, Reading
from tabled.core.state import Line
from tabled.fusion.attempt import Attempt, Doubt
from tabled.fusion.motion import acts, doubts
from tabled.model.acts import AnyAct, Say
from tabled.model.ruling import Reason, Ruling
from tabled.rules.hand import Hand
from tabled.rules.judge import Judgement, judge
from tabled.rules.turn import resolve_held


def case_of(draft: Draft, attempt: Attempt, hand: Hand | None = None, line: Line | None = None) -> Case:
    """An attempt as the table stands, or as it stood with another ``hand`` and ``line``."""
    state = draft.state
    hand = hand if hand is not None else state.hand
    assert hand is not None
    assert state.config is not None
    assert state.hand_profile is not None
    line = line if line is not None else draft.line(attempt.seat)
    return Case(attempt, hand, line, state.hand_profile, state.fusion)


def doubts_of(draft: Draft, case: Case) -> tuple[Doubt, ...]:
    """The doubts of the evidence, and whether change that was called for has been given."""
    return _known(draft, case).doubts


def judgement_of(draft: Draft, case: Case, reading: Reading) -> Judgement:
    """The law on one reading of the evidence.  Whoever moves ``after`` on copies it first."""
    known = _known(draft, case)
    judgement = known.judgement(reading)
    if judgement is None:
        judgement = _judge(known.case, reading)
        draft.state.memo = draft.state.memo.with_case(known.with_judgement(reading, judgement))
    return judgement


def word_could_change(draft: Draft, case: Case, ruling: Ruling) -> bool:
    """Whether a word that was said before the chips and is still to be keyed could make another ruling of them.

    Tried are all words that bind, with the least and the largest amounts and that of the chips.
    """
    known = _known(draft, case)
    if known.word is None or known.word[0] != ruling:
        known = known._replace(word=(ruling, _word_could_change(known.case, ruling)))
        draft.state.memo = draft.state.memo.with_case(known)
    return known.word is not None and known.word[1]


def _word_could_change(case: Case, ruling: Ruling) -> bool:
    hand, seat = case.hand, case.attempt.seat
    if hand.to_act != seat or case.attempt.words:
        return True
    option, total = hand.option(seat), hand.bet_of(seat) + sum(a.value for a in case.attempt.arrivals)
    amounts = {option.raise_min_to, option.raise_max_to, total}
    tried = [Say(seat, word) for word in ("call", "all_in", "bet", "raise")]
    tried += [Say(seat, "raise", to, "to") for to in sorted(to for to in amounts if to is not None)]
    return any(not same_effect(_with_word(case, say).ruling, ruling) for say in tried)


def _known(draft: Draft, case: Case) -> Judged:
    known = draft.state.memo.find(case)
    if known is None:
        known = Judged(case, _doubts(case))
        draft.state.memo = draft.state.memo.with_case(known)
    return known


# -- functions of a case and nothing else: what they do not get, a memo cannot miss ------------------


def _doubts(case: Case) -> tuple[Doubt, ...]:
    found = (*doubts(case.attempt, case.fusion), *stacks.doubts(case.hand, case.line, case.attempt))
    return (Doubt("change_given", True), *found) if case.line.back > 0 and not _dealer_came(case.attempt) else found


def _dealer_came(attempt: Attempt) -> bool:
    """Whether the camera saw the dealer's arm over the line since the seat's last act: change has been given."""
    touch = attempt.first_touch()
    by_ns = touch.earliest_ns if touch is not None else None
    dealers = [s.left for s in attempt.strokes if s.by == "dealer" and s.left is not None]
    return attempt.sighted and any(by_ns is None or left.latest_ns <= by_ns for left in dealers)


def _with_word(case: Case, say: Say) -> Judgement:
    """The law on the best reading, had this been said before the chips."""
    return _judge(case, {d.kind: d.best for d in _doubts(case)}, (say,))


def _judge(case: Case, reading: Reading, said: tuple[Say, ...] = ()) -> Judgement:
    attempt = case.attempt
    done = (*said, *acts(attempt, reading, case.fusion))
    if attempt.empty or not done:
        # What was ruled on may have turned out to be nothing, such as a ghost that answered once.
        return Judgement(Ruling(seat=attempt.seat, action="pending", reason=Reason("pending")), None)
    hand = case.hand.copy()
    hand.set_line_chips(attempt.seat, _lying_there(case, reading))
    judged = _by_law(hand, case, done)
    if reading.get("stack_right", True):
        return judged
    richer = _by_law(stacks.richer(hand, attempt), case, done)
    return judged if same_effect(judged.ruling, richer.ruling) else stacks.to_floor(case.profile, attempt.seat)


def _lying_there(case: Case, reading: Reading) -> tuple[int, ...]:
    """The chips of the seat's earlier bet as the law counts them; most likely with those that vanished.

    They may be worth more than the counted bet, but not once change has been given for them; what is more and not
    due back any more has been.
    """
    line, bet = case.line, case.hand.bet_of(case.attempt.seat)
    lying = tuple(sorted((*line.chips, *line.missing.values()), reverse=True))
    given = reading.get("change_given", line.back > 0) or (not line.back and sum(lying) > bet)
    if given or (not lying and bet):
        return (bet,) if bet else ()
    return lying


def _by_law(hand: Hand, case: Case, done: Sequence[AnyAct]) -> Judgement:
    attempt = case.attempt
    if hand.to_act == attempt.seat and (attempt.early or attempt.faced != hand.bet_to):
        # It acted before its turn came, perhaps on another bet than it faces now.
        return resolve_held(hand, attempt.faced, case.profile, done)
    return judge(hand, case.profile, done)


def same_effect(one: Ruling, other: Ruling) -> bool:
    """Whether two rulings come to the same for everybody at the table."""
    return (one.action, one.verb, one.to, one.add, one.back, one.floor, one.may_raise) == (
        other.action,
        other.verb,
        other.to,
        other.add,
        other.back,
        other.floor,
        other.may_raise,
    )
