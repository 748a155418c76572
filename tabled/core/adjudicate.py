"""From one seat's attempt to a ruling: provisional at the best reading, one question, final."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from tabled.core import astray, looks, money, stacks
from tabled.core.draft import Draft
from tabled.core.judging import case_of, doubts_of, judgement_of, same_effect, word_could_change
from tabled.core.memo import Case, Reading
from tabled.core.sight import act_over
from tabled.core.state import (
    MAX_RULED,
    OpenQuestion,
    Ruled,
    Standing,
    TableState,
    read_areas,
)
from tabled.fusion.attempt import Attempt, Doubt
from tabled.fusion.closing import closes_ns
from tabled.fusion.motion import doubtful_word, strange
from tabled.fusion.presence import confidence, surely_gone
from tabled.model.outcome import Choice, QuestionAsked, QuestionClosed, RulingIssued, Status
from tabled.model.ruling import Reason, Ruling
from tabled.rules.settle import Judgement

MAX_DOUBTS_CROSSED = 3
"""Other doubts that are also tried against their best reading, one at a time, to see whether a doubt decides."""


def adjudicate(draft: Draft, attempt: Attempt) -> bool:
    """Judge the attempt of the seat to act.  True when its act became final and the hand moved on."""
    state = draft.state
    if state.answers and state.answered != attempt.asked_on():
        state.answers = {}
    case = case_of(draft, attempt)
    found = doubts_of(draft, case)
    judged = judgement_of(draft, case, _reading(draft, found))
    ruling = judged.ruling
    missing = _missing(state, attempt, _over_ns(draft, case, judged))
    over = _over(draft, attempt, ruling, missing) and not astray.waits(draft, attempt)
    due = over and (ruling.action != "pending" or _released(ruling))
    _tell_of_looks(draft, attempt, ruling, missing, due=due)
    stacks.tell(draft, attempt, due=due)
    _drop_idle_question(draft, attempt, found)
    asked = over and _ask_if_it_matters(draft, case, found)
    if due and not asked and state.question is None and _finish(draft, attempt, judged):
        return True
    standing = state.standing
    if standing is None and ruling.action == "pending":
        return False
    if standing is None or standing.ruling != ruling or asked:
        _issue(draft, attempt, ruling, "provisional")
    return False


def deadline_ns(state: TableState, attempt: Attempt) -> int | None:
    """When the attempt's motion and words are over, if nothing more comes.  None: it waits for an event."""
    return closes_ns(attempt, state.fusion)


def over_ns(state: TableState, attempt: Attempt) -> int | None:
    """When the motion was over by the dealer's key, or will be if nothing more comes; None: it waits for an event."""
    return attempt.closed_ns if attempt.closed_ns is not None else deadline_ns(state, attempt)


def _over_ns(draft: Draft, case: Case, judged: Judgement) -> int | None:
    """When the act is over: no word is waited for that would change nothing, whatever it was."""
    state, attempt = draft.state, case.attempt
    over = over_ns(state, attempt)
    still = closes_ns(attempt, state.fusion, words=False)
    if over is None or still is None or not attempt.arrivals or not still <= state.now_ns < over:
        return over
    if looks.awaited(state, attempt, still) or word_could_change(draft, case, judged.ruling):
        return over
    return still


def look_due_ns(state: TableState) -> int | None:
    """When the next look that the act in progress waits for should have come at the latest; None: it waits for none."""
    attempt = state.attempts.get(state.hand.to_act or "") if state.hand is not None else None
    if attempt is None or attempt.held:
        return None
    times = [look.by_ns for look in _missing(state, attempt, over_ns(state, attempt)) or ()]
    return min((ns for ns in times if ns is not None and ns > state.now_ns), default=None)


def awaited_looks(state: TableState) -> tuple[looks.Awaited, ...]:
    """The looks that the act in progress waits for now: those at the neighbours from the first chip on, those at its
    own antennas once its motion is over, those that show that a chip is gone; and those where a camera saw one land, or
    where chips are not read any more."""
    if state.config is None:
        return ()
    landed = (*(money.awaited_looks(state) if state.landings else ()), *looks.awaited_unread(state))
    attempt = state.attempts.get(state.hand.to_act or "") if state.hand is not None else None
    if attempt is None or attempt.empty or attempt.held or state.phase != "betting":
        return landed
    own = _missing(state, attempt, over_ns(state, attempt))
    return (*landed, *(looks.awaited_beside(state, attempt) if own is None else own), *_looks_away(state, attempt))


def out_of_turn(draft: Draft, attempt: Attempt) -> None:
    """A seat acted while another was to act: say so once; its act waits for its turn."""
    state = draft.state
    if attempt.seat in state.flagged:
        return
    strangers = strange(attempt)
    if strangers and len(strangers) == len(attempt.arrivals) and not attempt.words:
        amount = sum(a.value for a in strangers)
        draft.alert(f"turn:{attempt.seat}", "warning", Reason("chip_astray", {"seat": attempt.seat, "amount": amount}))
        return
    assert state.hand is not None
    case = case_of(draft, attempt)
    ruling = judgement_of(draft, case, _reading(draft, doubts_of(draft, case))).ruling
    if ruling.action == "pending":
        return  # as far as can be told nothing was done: chips that were only held, a word that says nothing yet
    state.flagged = (*state.flagged, attempt.seat)
    state.attempts = {**state.attempts, attempt.seat: replace(attempt, early=True)}
    to_act = state.hand.to_act or ""
    position = _publish(draft, attempt, ruling, "final", replaces=None, corrects=None)
    state.held_at = {**state.held_at, attempt.seat: position}
    draft.alert(f"turn:{attempt.seat}", "warning", Reason("out_of_turn", {"seat": attempt.seat, "to_act": to_act}))


def changes_the_ruling(draft: Draft, ruled: Ruled, attempt: Attempt) -> bool:
    """Whether this evidence, had it been there in time, would have made another ruling of an act that is final."""
    case = case_of(draft, attempt, ruled.hand, ruled.line)
    found = doubts_of(draft, case)
    best: Reading = {d.kind: d.best for d in found}
    readings = [best, *({**best, d.kind: not best[d.kind]} for d in found)]
    return any(not same_effect(ruled.ruling, judgement_of(draft, case, r).ruling) for r in readings)


def _reading(draft: Draft, found: tuple[Doubt, ...]) -> Reading:
    answers = draft.state.answers
    return {d.kind: answers.get(d.kind, d.best) for d in found}


def _missing(state: TableState, attempt: Attempt, over: int | None) -> tuple[looks.Awaited, ...] | None:
    """The looks that are still awaited; None while the motion and the words are not over (at host ns ``over``)."""
    if attempt.empty or over is None or state.now_ns < over:
        return None
    return looks.awaited(state, attempt, over)


def _over(draft: Draft, attempt: Attempt, ruling: Ruling, missing: tuple[looks.Awaited, ...] | None) -> bool:
    """True when nothing that may still arrive can change the reading: motion and words over, each antenna looked at
    since; or when the dealer has counted and confirmed what the readers cannot."""
    state = draft.state
    if state.confirmed and state.confirmed == looks.substance(attempt):
        return True
    if not attempt.arrivals:
        if ruling.action in ("fold", "check", "call_or_fold"):
            return True
    elif (
        any(not a.certain and not a.taken_back for a in attempt.arrivals)
        or any(_looks_away(state, attempt))
        or _may_have_come(state, attempt.seat)
    ):
        return False
    return missing == ()


def _may_have_come(state: TableState, seat: str) -> bool:
    """Whether a chip that is not counted is or was read on the line: it may lie there, or be a neighbour's."""
    read = {uid for area in read_areas(state, seat) for uid in area.tags}
    return bool(_faint_ns(state, seat)) or any(_uncounted(state, seat, uid) for uid in read)


def _uncounted(state: TableState, seat: str, uid: str) -> bool:
    """Whether it is a chip that lies nowhere as far as is known, nor is one of the seat's earlier bet."""
    assert state.config is not None
    line = state.lines.get(seat)
    return uid in state.config.chips and uid not in state.places and (line is None or uid not in line.settled)


def _faint_ns(state: TableState, seat: str) -> list[int]:
    """When uncounted chips that may still lie on the line unread were read there last."""
    sensor = state.fusion.sensor
    areas = read_areas(state, seat)
    faint = {(uid, ns) for area in areas for uid, ns in area.faint if not surely_gone(area.looks, ns, sensor)}
    return sorted({ns for uid, ns in faint if _uncounted(state, seat, uid)})


def _looks_away(state: TableState, attempt: Attempt) -> Iterator[looks.Awaited]:
    """The looks that are awaited while a chip that seems to have left the line may only be missed by the reader."""
    for since_ns in _away_ns(state, attempt):
        yield from looks.awaited_away(state, attempt.seat, since_ns)


def _away_ns(state: TableState, attempt: Attempt) -> list[int]:
    """When chips that seem to have left the line were read there last (0: not in this hand)."""
    line = state.lines.get(attempt.seat)
    away = [a.uid for a in attempt.arrivals if a.taken_back]
    away += line.missing if line is not None else ()
    return sorted({*(state.gone_ns.get(uid, 0) for uid in away), *_faint_ns(state, attempt.seat)})


def _tell_of_looks(
    draft: Draft, attempt: Attempt, ruling: Ruling, missing: tuple[looks.Awaited, ...] | None, *, due: bool
) -> None:
    """A ruling that stays provisional because a look does not come says so; one without an act has nothing to say."""
    idle = due or ruling.action == "pending" or missing is None
    looks.tell(draft, attempt, None if idle else looks.overdue(draft.state, missing or ()))


def _ask_if_it_matters(draft: Draft, case: Case, found: tuple[Doubt, ...]) -> bool:
    """Ask about the first unanswered doubt whose other answer would be another ruling, whatever the others' are."""
    state = draft.state
    if state.question is not None:
        return False
    best = _reading(draft, found)
    unanswered = [d for d in found if d.kind not in state.answers]
    for doubt in unanswered:
        for reading in _likely_readings(best, [d for d in unanswered if d is not doubt]):
            yes = judgement_of(draft, case, {**reading, doubt.kind: True}).ruling
            no = judgement_of(draft, case, {**reading, doubt.kind: False}).ruling
            if same_effect(yes, no):
                continue
            _ask(draft, case.attempt, doubt, yes, no)
            return True
    return False


def _likely_readings(best: Reading, others: list[Doubt]) -> Iterator[Reading]:
    """The best reading, then those with one of the other doubts answered against it."""
    yield best
    for other in others[:MAX_DOUBTS_CROSSED]:
        yield {**best, other.kind: not best[other.kind]}


def _ask(draft: Draft, attempt: Attempt, doubt: Doubt, yes: Ruling, no: Ruling) -> None:
    state = draft.state
    position = draft.emit(
        QuestionAsked(
            hand_id=state.hand_id,
            act=state.act + 1,
            seat=attempt.seat,
            reason=_question(doubt, attempt),
            choices=(
                Choice("key_a", Reason(f"{doubt.kind}_yes"), yes.action, yes.to),
                Choice("key_b", Reason(f"{doubt.kind}_no"), no.action, no.to),
            ),
            stands="key_a" if doubt.best else "key_b",
            asked_ns=state.now_ns,
        )
    )
    state.question = OpenQuestion(position, attempt.seat, doubt.kind, attempt.asked_on())


def _question(doubt: Doubt, attempt: Attempt) -> Reason:
    word = doubtful_word(attempt) if doubt.kind == "own_word" else None
    if word is not None and word.say.amount:
        return Reason("ask_own_amount", {"seat": attempt.seat, "amount": word.say.amount})
    return Reason(f"ask_{doubt.kind}", {"seat": attempt.seat})


def _drop_idle_question(draft: Draft, attempt: Attempt, found: tuple[Doubt, ...]) -> None:
    """More evidence makes another question of it, or none: what its keys said may not hold any more."""
    state = draft.state
    question = state.question
    if question is None or question.seat != attempt.seat:
        return
    if question.evidence == attempt.asked_on() and any(d.kind == question.doubt for d in found):
        return
    state.question = None
    draft.emit(QuestionClosed(question=question.position, answer=None, by="evidence"))


def _finish(draft: Draft, attempt: Attempt, judged: Judgement) -> bool:
    """Issue the final ruling and move the hand, or leave it with the floor."""
    state = draft.state
    if judged.after is None and state.floor_waiting is not None:
        return False
    position = _issue(draft, attempt, judged.ruling, "final")
    if judged.after is not None:
        close_act(draft, attempt, judged, position)
        return True
    if judged.ruling.action == "call_or_fold" or _released(judged.ruling):
        _void(draft, attempt, judged.ruling, position)
        return True
    state.floor_waiting = position
    draft.alert("floor", "warning", Reason("floor_decides", {"seat": attempt.seat}))
    return False


def _released(ruling: Ruling) -> bool:
    """True when an act out of turn is void, because the action changed before its turn came."""
    return ruling.action == "pending" and ruling.reason.code == "out_of_turn_released"


def _void(draft: Draft, attempt: Attempt, ruling: Ruling, position: int) -> None:
    """The act does not count: its chips go back and the seat chooses again, without a raise if that was the price."""
    state = draft.state
    assert state.hand is not None
    _keep(draft, attempt, ruling, position)
    if ruling.action == "call_or_fold":
        state.hand = state.hand.copy()
        state.hand.lose_raise(attempt.seat)
    line = draft.line(attempt.seat)
    settled = {**line.settled, **_lying(state, attempt)}
    draft.set_line(attempt.seat, replace(line, settled=settled, back=line.back + ruling.back))
    _forget_attempt(draft, attempt.seat)


def close_act(draft: Draft, attempt: Attempt, judged: Judgement, position: int) -> None:
    """The act is ruled: its chips belong to the line, what is owed or due back is remembered, the hand moves on."""
    state = draft.state
    ruling = judged.ruling
    assert state.hand is not None
    _keep(draft, attempt, ruling, position)
    line = draft.line(attempt.seat)
    settled = {**line.settled, **_lying(state, attempt)}
    draft.set_line(attempt.seat, replace(line, settled=settled, owed=line.owed + ruling.add, back=ruling.back))
    assert judged.after is not None
    state.hand = judged.after
    _face_the_ruling(draft, attempt)
    _forget_attempt(draft, attempt.seat)
    state.floor_waiting = None
    draft.clear("floor")


def _lying(state: TableState, attempt: Attempt) -> dict[str, int]:
    """The act's chips that lie on the line now: a reopened act may have had some given back."""
    here = f"bet:{attempt.seat}"
    return {a.uid: a.value for a in attempt.arrivals if not a.taken_back and state.where.get(a.uid, here) == here}


def _face_the_ruling(draft: Draft, ahead: Attempt) -> None:
    """Who began to act once all chips of this act lay there saw what it turned out to be, not our first reading."""
    state = draft.state
    assert state.hand is not None
    down_ns = max((a.span.latest_ns for a in ahead.arrivals), default=None)
    for seat, waiting in state.attempts.items():
        touch = waiting.first_touch()
        if seat != ahead.seat and down_ns is not None and touch is not None and touch.latest_ns > down_ns:
            state.attempts = {**state.attempts, seat: replace(waiting, faced=state.hand.bet_to)}


def _keep(draft: Draft, attempt: Attempt, ruling: Ruling, position: int) -> None:
    """Remember how it was before this final ruling, so that it can be taken back."""
    state = draft.state
    assert state.hand is not None
    ruled = Ruled(position, attempt, state.hand, draft.line(attempt.seat), ruling, state.now_ns)
    state.ruled = (*state.ruled, ruled)[-MAX_RULED:]


def _forget_attempt(draft: Draft, seat: str) -> None:
    """The attempt has had its final ruling; the next evidence of this seat is another act."""
    state = draft.state
    state.attempts = {s: a for s, a in state.attempts.items() if s != seat}
    state.flagged = tuple(s for s in state.flagged if s != seat)
    state.act += 1
    state.standing = None
    state.answers = {}
    state.confirmed = ()
    state.corrects = None
    act_over(state, seat)
    draft.clear(f"turn:{seat}")
    draft.clear(f"look:{seat}")


def _issue(draft: Draft, attempt: Attempt, ruling: Ruling, status: Status) -> int:
    standing = draft.state.standing
    if standing is not None and standing.final:
        # A final ruling (one that left the act with the floor) is never replaced without being named.
        draft.state.corrects = standing.position
    replaces = standing.position if standing else None
    position = _publish(draft, attempt, ruling, status, replaces=replaces, corrects=draft.state.corrects)
    draft.state.standing = Standing(position, ruling, attempt.seat, status == "final")
    return position


def _publish(
    draft: Draft, attempt: Attempt, ruling: Ruling, status: Status, *, replaces: int | None, corrects: int | None
) -> int:
    state = draft.state
    assert state.hand is not None
    assert state.config is not None
    first = _first_ns(attempt)
    return draft.emit(
        RulingIssued(
            hand_id=state.hand_id,
            street=state.hand.street,
            act=state.act + 1,
            status=status,
            ruling=replace(ruling, calibration=state.config.calibration),
            replaces=replaces,
            corrects=corrects,
            question=state.question.position if state.question else None,
            touched_from_ns=first[0],
            touched_to_ns=first[1],
            ruled_ns=state.now_ns,
            evidence=attempt.evidence(),
            confidence=_confidence(draft, attempt),
        )
    )


def _first_ns(attempt: Attempt) -> tuple[int | None, int | None]:
    """Bounds of the first touch, or of the first word where no chip moved."""
    spans = [w.span for w in attempt.words]
    touch = attempt.first_touch()
    if touch is not None:
        return touch.earliest_ns, touch.latest_ns
    if not spans:
        return None, None
    return min(s.earliest_ns for s in spans), min(s.latest_ns for s in spans)


def _confidence(draft: Draft, attempt: Attempt) -> int:
    """The weakest link: the least certain chip, halved while a question is open."""
    state = draft.state
    tags = [area.tags for area in read_areas(state, attempt.seat)]
    levels = [on[arrival.uid].level for arrival in attempt.arrivals for on in tags if arrival.uid in on]
    sure = min((confidence(level) for level in levels), default=998)
    return sure // 2 if state.question else sure
