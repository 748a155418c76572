"""What operators order, over MQTT or by a key that is no word."""

from __future__ import annotations

from tabled.core import corrections, hands
from tabled.core.answers import answer
from tabled.core.draft import Draft
from tabled.core.state import Key, NotNow, TableState
from tabled.fusion.attempt import Spoken
from tabled.fusion.motion import doubtful_word
from tabled.model.outcome import AbandonHand, Answer, AnyOperatorAct, NextStreet, Overrule, StartHand, Undo
from tabled.model.ruling import Reason
from tabled.rules.hand import SetupError, check_setup


def verify(state: TableState, act: AnyOperatorAct) -> None:
    """Raise `NotNow` when the order cannot be obeyed.  Checked before the order is journalled."""
    if isinstance(act, StartHand):
        if state.phase not in ("idle", "over"):
            raise NotNow(f"hand {state.hand_id} is still being played: end it, or send abandon_hand for a misdeal")
        try:
            check_setup(act.setup)
        except SetupError as problem:
            raise NotNow(str(problem)) from problem
        assert state.config is not None
        strangers = [s.seat for s in act.setup.seats if s.seat not in state.config.layout.seats]
        if strangers:
            raise NotNow(f"seat {strangers[0]} is not a seat of this table; its seats are {_seats(state)}")
    elif isinstance(act, Answer):
        if state.question is None:
            raise NotNow("no question is open; it was answered already or settled by itself")
        if state.question.position != act.question:
            raise NotNow(f"question {act.question} is not open; question {state.question.position} is")
    elif isinstance(act, NextStreet):
        if state.phase != "sweeping":
            raise NotNow("the street is not over: finish the betting first")
    elif isinstance(act, Undo):
        corrections.verify_undo(state)
    elif isinstance(act, Overrule):
        corrections.verify_overrule(state, act)
    elif isinstance(act, AbandonHand) and (state.hand is None or state.phase == "over"):
        raise NotNow("no hand is being played")


def obey(draft: Draft, act: AnyOperatorAct) -> bool:
    """Carry out an order that was verified; one that no longer fits is reported, changes nothing and gives False."""
    try:
        verify(draft.state, act)
    except NotNow as problem:
        draft.alert("order", "info", Reason("order_refused", {"why": str(problem)}))
        return False
    if isinstance(act, StartHand):
        hands.start(draft, act.setup)
    elif isinstance(act, Answer):
        settle(draft, act.key, act.who or "display")
    elif isinstance(act, NextStreet):
        hands.close_street(draft, by_order=True)
    elif isinstance(act, Undo):
        corrections.undo(draft)
    elif isinstance(act, Overrule):
        corrections.overrule(draft, act)
    elif isinstance(act, AbandonHand):
        hands.abandon(draft)
    return True


def settle(draft: Draft, key: Key, by: str) -> bool:
    """Settle the open question by one of its keys.  False when none is open.

    A word that was not the seat's own was that of the seat before: it is judged there.
    """
    question = draft.state.question
    disowned: tuple[Spoken, ...] = ()
    if question is not None and question.doubt == "own_word" and key == "key_b":
        attempt = draft.state.attempts.get(question.seat)
        word = doubtful_word(attempt) if attempt is not None else None
        disowned = (word,) if word is not None else ()
    if not answer(draft, key, by):
        return False
    for word in disowned:
        corrections.reopen_with_word(draft, word)
    return True


def on_key(draft: Draft, key: str) -> bool:
    """Keys that order something.  True when the key was one of them."""
    state = draft.state
    if key == "next_street":
        if state.phase == "sweeping":
            hands.close_street(draft, by_order=True)
        else:
            draft.alert("panel", "info", Reason("street_not_over"))
        return True
    if key == "floor":
        draft.alert("floor", "warning", Reason("floor_called"))
        return True
    if key == "undo":
        try:
            corrections.verify_undo(state)
        except NotNow as problem:
            draft.alert("panel", "info", Reason("order_refused", {"why": str(problem)}))
        else:
            corrections.undo(draft)
        return True
    if key == "new_hand":
        draft.alert("panel", "info", Reason("key_not_yet", {"key": key}))
        return True
    return False


def _seats(state: TableState) -> str:
    assert state.config is not None
    return ", ".join(state.config.layout.seats)
