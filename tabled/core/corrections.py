"""The dealer's undo and the floor's overrule: events like any other, each naming the ruling that it corrects.

What the floor decided only a person changes: chips or words that come behind it are told, and move nothing.
"""

from __future__ import annotations

from msgspec.structs import replace

from firmware_bridge.wire import TimeSpan
from tabled.core.adjudicate import changes_the_ruling, close_act, deadline_ns
from tabled.core.draft import Draft
from tabled.core.hands import drop_question
from tabled.core.state import NotNow, Ruled, TableState
from tabled.fusion.attempt import MAX_WORDS, Arrival, Attempt, Spoken
from tabled.fusion.strokes import joined
from tabled.model.outcome import Overrule, RulingIssued
from tabled.model.ruling import Reason, Ruling
from tabled.rules import overrule as floor
from tabled.rules.errors import IllegalAct
from tabled.rules.hand import Hand
from tabled.rules.settle import Judgement


def verify_undo(state: TableState) -> None:
    """Raise `NotNow` when there is nothing to take back."""
    if not state.ruled:
        raise NotNow("nothing has been ruled on this street; what lies in the pot only the floor can correct")


def undo(draft: Draft) -> None:
    """Back to before the newest final ruling; its chips lie before the seat and wait for a word or a hand."""
    newest = draft.state.ruled[-1]
    seat = newest.attempt.seat
    _take_back(draft, newest)
    assert draft.state.hand is not None
    turn = draft.state.hand.to_act or seat
    ruling = Ruling(seat=seat, action="pending", next_seat=turn, reason=Reason("undone", {"seat": turn}))
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
    if ruled.ruling.by_floor:
        _word_behind_the_floor(draft, word)
    elif changes_the_ruling(draft, ruled, attempt):
        reopen(draft, attempt)


def reopen_for_late_chips(draft: Draft) -> bool:
    """Chips of the seat that acted last, before anybody acted behind it: a second motion of the same act (§7.1).

    Reopens the act once the chips are surely there and their motion is over.  Where the floor decided the act, they
    are only told.
    """
    state = draft.state
    if not state.ruled:
        return False
    ruled = state.ruled[-1]
    seat = ruled.attempt.seat
    late = state.attempts.get(seat)
    if late is None or late.held or not late.arrivals or (state.hand is not None and state.hand.to_act == seat):
        return False
    if not ruled.ruling.by_floor and any(not a.empty for s, a in state.attempts.items() if s != seat):
        return False
    deadline = deadline_ns(state, late)
    if deadline is None or state.now_ns < deadline or any(not a.certain for a in late.arrivals):
        return False
    if ruled.ruling.by_floor:
        _chips_behind_the_floor(draft, late)
        return True
    words = (*ruled.attempt.words, *late.words)[-MAX_WORDS:]
    arrivals = (*ruled.attempt.arrivals, *late.arrivals)
    strokes = joined(ruled.attempt.strokes, late.strokes)
    sighted = ruled.attempt.sighted and late.sighted
    reopen(draft, replace(ruled.attempt, arrivals=arrivals, words=words, strokes=strokes, sighted=sighted))
    return True


def _chips_behind_the_floor(draft: Draft, late: Attempt) -> None:
    """They pay what the decision asks for; what is over goes back, and somebody must see to it."""
    state = draft.state
    seat, line = late.seat, draft.line(late.seat)
    chips = {a.uid: a.value for a in late.arrivals if not a.taken_back}
    amount = sum(chips.values())
    paid = min(line.owed, amount)
    over = amount - paid
    line = replace(line, settled={**line.settled, **chips}, owed=line.owed - paid, back=line.back + over)
    draft.set_line(seat, line)
    if paid and not line.owed:
        draft.clear(f"owed:{seat}")
    if over:
        params: dict[str, int | str] = {"seat": seat, "amount": over, "back": line.back}
        draft.alert(f"late:{seat}", "warning", Reason("chips_behind_floor", params))
    for word in late.words:
        _word_behind_the_floor(draft, word)
    state.attempts = {s: a for s, a in state.attempts.items() if s != seat}
    state.flagged = tuple(s for s in state.flagged if s != seat)
    draft.clear(f"turn:{seat}")


def _word_behind_the_floor(draft: Draft, word: Spoken) -> None:
    said = word.say.word if word.say.amount is None else f"{word.say.word} {word.say.amount}"
    draft.alert(f"word:{word.say.seat}", "warning", Reason("word_behind_floor", {"seat": word.say.seat, "word": said}))


def verify_overrule(state: TableState, act: Overrule) -> None:
    """Raise `NotNow` when the floor's decision cannot be carried out; says what can."""
    if state.hand is None or state.phase not in ("betting", "sweeping"):
        raise NotNow("no hand is being bet on")
    hand, seat, _ = _named(state, act)
    _decide(state, hand, seat, act)


def _named(state: TableState, act: Overrule) -> tuple[Hand, str, Ruled | None]:
    """The hand before the act that the order names, its seat, and its ruling if that moved the hand.

    Raises `NotNow` for any but the newest ruling of the street, one that waits for the floor, or a held act.
    """
    assert state.hand is not None
    if act.ruling == state.floor_waiting and state.standing is not None:
        return state.hand, state.standing.seat, None
    if state.ruled and state.ruled[-1].position == act.ruling:
        return state.ruled[-1].hand, state.ruled[-1].attempt.seat, state.ruled[-1]
    held = {position: seat for seat, position in state.held_at.items() if seat in state.flagged}
    if act.ruling in held:
        turn = state.hand.to_act or ""
        if turn in state.attempts and not state.attempts[turn].empty:
            raise NotNow(f"seat {turn} has begun to act in its turn: decide that first, or have it taken back")
        return state.hand, held[act.ruling], None
    open_now = [f"{state.floor_waiting}, which waits for the floor"] if state.floor_waiting is not None else []
    if not open_now and state.ruled:
        open_now = [f"{state.ruled[-1].position}, seat {state.ruled[-1].attempt.seat}"]
    open_now += [f"{position}, seat {seat} out of turn" for position, seat in sorted(held.items())]
    if not open_now:
        raise NotNow("nothing has been ruled on this street yet, so there is nothing to overrule")
    raise NotNow(f"only the newest ruling of the street can be overruled, and that is {'; or '.join(open_now)}")


def overrule(draft: Draft, act: Overrule) -> None:
    """The floor's decision stands in the place of the ruling that it names."""
    state = draft.state
    hand, seat, ruled = _named(state, act)
    if ruled is not None:
        _take_back(draft, ruled)
    judged = _decide(state, hand, seat, act)
    drop_question(draft)
    attempt = state.attempts.get(seat, Attempt(seat))
    line = draft.line(seat)
    lies = hand.bet_of(seat) - line.owed + line.back + sum(a.value for a in attempt.arrivals if not a.taken_back)
    to = judged.ruling.to or 0
    params: dict[str, int | str] = {"who": act.who or "floor", "why": act.reason or "-"}
    reason = replace(judged.ruling.reason, params={**judged.ruling.reason.params, **params})
    ruling = replace(judged.ruling, add=max(0, to - lies), back=max(0, lies - to), reason=reason, cite=())
    position = _say(draft, ruling, corrects=act.ruling)
    close_act(draft, attempt, Judgement(ruling, judged.after), position)
    draft.set_line(seat, replace(draft.line(seat), owed=ruling.add, back=ruling.back))
    for subject in (f"owed:{seat}", f"late:{seat}", f"word:{seat}", f"stack:{seat}"):
        draft.clear(subject)


def _decide(state: TableState, hand: Hand, seat: str, act: Overrule) -> Judgement:
    """The bookkeeping of the floor's decision.  `NotNow` only for what no book can hold."""
    assert state.hand_profile is not None
    try:
        if act.stack is not None:
            hand = floor.recounted(hand, seat, act.stack)
        return floor.overrule(hand, state.hand_profile, seat, act.action, act.to)
    except IllegalAct as problem:
        raise NotNow(f"{problem} (seat {seat} can be given: {floor.allowed(hand, seat)})") from problem


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
    assert state.config is not None
    return draft.emit(
        RulingIssued(
            hand_id=state.hand_id,
            street=state.hand.street,
            act=state.act + 1,
            status="final",
            ruling=replace(ruling, profile=state.hand_profile.hash, calibration=state.config.calibration),
            corrects=corrects,
            ruled_ns=state.now_ns,
        )
    )
