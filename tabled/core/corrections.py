"""The dealer's undo and the floor's overrule: events like any other, each naming the ruling that it corrects."""

from __future__ import annotations

from msgspec.structs import replace

from firmware_bridge.wire import TimeSpan
from tabled.core.adjudicate import changes_the_ruling, close_act, deadline_ns
from tabled.core.draft import Draft
from tabled.core.hands import drop_question
from tabled.core.state import NotNow, Ruled, TableState
from tabled.fusion.attempt import MAX_WORDS, Arrival, Attempt, Spoken
from tabled.fusion.strokes import MAX_STROKES
from tabled.model.acts import Decided
from tabled.model.outcome import Overrule, RulingIssued
from tabled.model.ruling import Reason, Ruling
from tabled.rules.hand import Hand
from tabled.rules.judge import Judgement, judge


def verify_undo(state: TableState) -> None:
    """Raise `NotNow` when there is nothing to take back."""
    if not state.ruled:
        raise NotNow("nothing has been ruled on this street; what lies in the pot only the floor can correct")


def undo(draft: Draft) -> None:
    """Back to before the newest final ruling; its chips lie before the seat and wait for a word or a hand."""
    newest = draft.state.ruled[-1]
    seat = newest.attempt.seat
    _take_back(draft, newest)
    ruling = Ruling(seat=seat, action="pending", next_seat=seat, reason=Reason("undone", {"seat": seat}))
    _say(draft, ruling, corrects=newest.position)
    draft.state.corrects = newest.position


def reopen(draft: Draft, attempt: Attempt) -> None:
    """The newest final act with evidence that came too late for it: judged anew, as a correction of that ruling."""
    state = draft.state
    ruled = state.ruled[-1]
    _take_back(draft, ruled)
    late = {a.uid for a in attempt.arrivals}
    paid = tuple(a for a in state.attempts[attempt.seat].arrivals if a.uid not in late)
    attempt = replace(attempt, arrivals=(*attempt.arrivals, *paid), faced=ruled.attempt.faced, held=False)
    state.attempts = {**state.attempts, attempt.seat: attempt}
    state.corrects = ruled.position


def reopen_with_word(draft: Draft, word: Spoken) -> None:
    """A word that belongs to the newest final act after all: judged anew if it would have changed the ruling."""
    state = draft.state
    if not state.ruled:
        return
    ruled = state.ruled[-1]
    word = replace(word, say=replace(word.say, seat=ruled.attempt.seat), doubtful=False)
    attempt = replace(ruled.attempt, words=(*ruled.attempt.words, word)[-MAX_WORDS:])
    if changes_the_ruling(draft, ruled, attempt):
        reopen(draft, attempt)


def reopen_for_late_chips(draft: Draft) -> bool:
    """Chips of the seat that acted last, before anybody acted behind it: a second motion of the same act (§7.1).

    Reopens the act once the chips are surely there and their motion is over.
    """
    state = draft.state
    if not state.ruled:
        return False
    ruled = state.ruled[-1]
    seat = ruled.attempt.seat
    late = state.attempts.get(seat)
    if late is None or late.held or not late.arrivals or (state.hand is not None and state.hand.to_act == seat):
        return False
    if any(not a.empty for s, a in state.attempts.items() if s != seat):
        return False
    deadline = deadline_ns(draft, late)
    if deadline is None or state.now_ns < deadline or any(not a.certain for a in late.arrivals):
        return False
    words = (*ruled.attempt.words, *late.words)[-MAX_WORDS:]
    arrivals = (*ruled.attempt.arrivals, *late.arrivals)
    known = {s.pos for s in late.strokes}
    strokes = (*(s for s in ruled.attempt.strokes if s.pos not in known), *late.strokes)[-MAX_STROKES:]
    sighted = ruled.attempt.sighted and late.sighted
    reopen(draft, replace(ruled.attempt, arrivals=arrivals, words=words, strokes=strokes, sighted=sighted))
    return True


def verify_overrule(state: TableState, act: Overrule) -> None:
    """Raise `NotNow` when the floor's decision cannot be carried out; says what can."""
    if state.hand is None or state.phase not in ("betting", "sweeping"):
        raise NotNow("no hand is being bet on")
    if act.ruling == state.floor_waiting and state.standing is not None:
        _decide(state, state.hand, state.standing.seat, act)
        return
    if not state.ruled or state.ruled[-1].position != act.ruling:
        newest = state.ruled[-1].position if state.ruled else state.floor_waiting
        raise NotNow(f"only the newest ruling of the street can be overruled, and that is {newest}")
    _decide(state, state.ruled[-1].hand, state.ruled[-1].attempt.seat, act)


def overrule(draft: Draft, act: Overrule) -> None:
    """The floor's decision stands in the place of the ruling that it names."""
    state = draft.state
    if act.ruling == state.floor_waiting and state.standing is not None:
        seat = state.standing.seat
    else:
        seat = state.ruled[-1].attempt.seat
        _take_back(draft, state.ruled[-1])
    assert state.hand is not None
    judged = _decide(state, state.hand, seat, act)
    drop_question(draft)
    attempt = state.attempts.get(seat, Attempt(seat))
    wanted = max(0, (judged.ruling.to or 0) - state.hand.bet_of(seat))
    there = sum(a.value for a in attempt.arrivals if not a.taken_back)
    params: dict[str, int | str] = {
        "seat": seat,
        "to": judged.ruling.to or 0,
        "who": act.who or "floor",
        "why": act.reason or "-",
    }
    ruling = replace(
        judged.ruling,
        add=max(0, wanted - there),
        back=max(0, there - wanted),
        back_chips=(),
        change=None,
        floor=False,
        candidates=(),
        cite=(),
        reason=Reason(f"floor_ruled_{act.action}", params),
    )
    position = _say(draft, ruling, corrects=act.ruling)
    close_act(draft, attempt, Judgement(ruling, judged.after), position)


def _decide(state: TableState, hand: Hand, seat: str, act: Overrule) -> Judgement:
    """The bookkeeping of the floor's decision: it must at least be an act that the seat can carry out."""
    assert state.hand_profile is not None
    try:
        judged = judge(hand, state.hand_profile, (Decided(seat, act.action, act.to),))
    except ValueError as problem:
        raise NotNow(str(problem)) from problem
    if judged.after is None:
        raise NotNow(f"seat {seat} cannot do that here; it may {_allowed(hand, seat)}")
    if act.to is not None and judged.ruling.to != act.to:
        raise NotNow(f"the law makes {judged.ruling.to} of {act.to}; seat {seat} may {_allowed(hand, seat)}")
    return judged


def _allowed(hand: Hand, seat: str) -> str:
    option = hand.option(seat)
    parts = ["check" if option.check else "fold"]
    if option.call_to is not None and not option.check:
        parts.append(f"call {option.call_to}")
    if option.raise_min_to is not None:
        parts.append(f"raise from {option.raise_min_to} to {option.raise_max_to or hand.faced(seat).max_to}")
    return ", ".join(parts)


def _take_back(draft: Draft, ruled: Ruled) -> None:
    """The hand as it was before; the act's chips that still lie there are an attempt again, held for a person."""
    state = draft.state
    drop_question(draft)
    seat = ruled.attempt.seat
    there = chips_since(draft, ruled)
    settled = {u: v for u, v in draft.line(seat).settled.items() if u in ruled.line.settled}
    draft.set_line(seat, replace(ruled.line, settled=settled))
    draft.clear(f"owed:{seat}")
    state.attempts = {**state.attempts, seat: Attempt(seat, there, (), held=True, faced=ruled.hand.bet_to)}
    state.hand = ruled.hand
    state.ruled = state.ruled[:-1]
    state.act -= 1
    state.phase = "betting"
    state.standing = None
    state.answers = {}
    state.floor_waiting = None


def chips_since(draft: Draft, ruled: Ruled) -> tuple[Arrival, ...]:
    """Chips that lie on the seat's line now and did not before that act: put down in it, or paid for it later."""
    state = draft.state
    known = {a.uid: a for a in ruled.attempt.arrivals}
    there = []
    for uid, value in draft.line(ruled.attempt.seat).settled.items():
        if uid in ruled.line.settled:
            continue
        sighting = state.areas[state.places[uid]].tags[uid] if uid in state.places else None
        when = sighting.arrived if sighting is not None else TimeSpan(0, max(0, state.now_ns))
        pos = sighting.first_pos if sighting is not None else draft.position
        there.append(known.get(uid) or Arrival(uid, value, when, pos, certain=True))
    return tuple(there)


def _say(draft: Draft, ruling: Ruling, *, corrects: int) -> int:
    state = draft.state
    assert state.hand is not None
    assert state.hand_profile is not None
    return draft.emit(
        RulingIssued(
            hand_id=state.hand_id,
            street=state.hand.street,
            act=state.act + 1,
            status="final",
            ruling=replace(ruling, profile=state.hand_profile.hash),
            corrects=corrects,
            ruled_ns=state.now_ns,
        )
    )
