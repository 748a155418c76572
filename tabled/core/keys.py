"""The dealer's keys: whose word a press reports, and when it is about an act that has been ruled already.

A key comes later than the word, by the dealer's reaction.  So a word may belong to the act before
the one that is awaited now; a fold or a check keyed while chips still lie to be ruled belongs to the
seat behind.  Nothing that was pressed is dropped without a word.
"""

from __future__ import annotations

from msgspec.structs import replace

from firmware_bridge.wire import Press
from tabled.core import hands, looks, operator, words
from tabled.core.chips import attempt_of
from tabled.core.corrections import reopen_with_word
from tabled.core.draft import Draft
from tabled.core.sight import watched
from tabled.core.state import MAX_PRESSES_REMEMBERED, EarlyKey
from tabled.core.words import PASSIVE
from tabled.fusion.attempt import MAX_WORDS, Spoken
from tabled.fusion.motion import spoken
from tabled.fusion.settings import MS
from tabled.model.ruling import Reason

MAX_EARLY = 8


def on_press(draft: Draft, press: Press) -> None:
    """Fold one key press.  A press that is already in the journal is not an act again."""
    state = draft.state
    if not remember(draft, press) or _bounced(draft, press):
        return
    if press.key in ("key_a", "key_b"):
        if not operator.settle(draft, "key_a" if press.key == "key_a" else "key_b", "panel"):
            draft.alert("panel", "info", Reason("no_question"))
        return
    if operator.on_key(draft, press.key):
        return
    if state.phase == "posting" and press.key != "hand_withdraws":
        hands.begin_betting(draft, missing_ok=True)
    seat = _meant(draft, press)
    if not seat or state.phase != "betting":
        _meaningless(draft, press)
    elif not _about_the_act_before(draft, press, seat) and not _for_the_seat_behind(draft, press, seat):
        attach(draft, press, seat, draft.position)


def remember(draft: Draft, press: Press) -> bool:
    """Note the press by its name.  False when it is in the journal already."""
    state = draft.state
    name = f"{press.device}/{press.boot}/{press.seq}"
    if name in state.presses:
        return False
    state.presses = (*state.presses, name)[-MAX_PRESSES_REMEMBERED:]
    return True


def attach(draft: Draft, press: Press, seat: str, pos: int) -> None:
    """Add the word, or the hand's leaving, to what the seat has done so far.

    Where the dealer was told to count because a reader cannot, the same key confirms what stands on the screen.
    """
    state = draft.state
    attempt = attempt_of(draft, seat)
    word = _word(draft, press, seat, pos)
    if press.key == "hand_withdraws" and looks.may_confirm(draft.state, attempt):
        draft.state.confirmed = looks.substance(attempt)
    elif press.key == "hand_withdraws":
        attempt = replace(attempt, closed_ns=press.span.latest_ns, held=False)
    elif word is not None and len(attempt.words) < MAX_WORDS:
        word = words.noted(draft, word, doubtful=_may_be_late(draft, press, word))
        if attempt.held:
            # After an undo the dealer keys what was really said: it came before the chips that lie there.
            word = replace(word, said_first=True)
        attempt = replace(attempt, words=(*attempt.words, word), held=False)
    else:
        _meaningless(draft, press)
        return
    state.attempts = {**state.attempts, seat: watched(state, attempt)}


def next_early(draft: Draft) -> bool:
    """Hand the oldest fold or check that was keyed early to the seat whose turn it is now.  True when there was one."""
    state = draft.state
    if not state.early or state.hand is None or state.hand.to_act is None:
        return False
    seat = state.hand.to_act
    if seat in state.attempts:
        return False
    first, state.early = state.early[0], state.early[1:]
    attach(draft, first.press, seat, first.pos)
    return True


def _may_be_late(draft: Draft, press: Press, word: Spoken) -> bool:
    """True for a word that may have been the last seat's: keyed before the turn had surely passed, or spoken then,
    behind chips that said nothing."""
    ruled = draft.state.ruled[-1] if draft.state.ruled else None
    if ruled is None or press.key in PASSIVE or press.seat or word.say.seat == ruled.attempt.seat:
        return False
    if press.span.earliest_ns < ruled.ruled_ns:
        return True
    silent = bool(ruled.attempt.arrivals) and not ruled.attempt.words
    return silent and not press.said_first and word.span.earliest_ns < ruled.ruled_ns


def _word(draft: Draft, press: Press, seat: str, pos: int) -> Spoken | None:
    assert draft.state.config is not None
    return spoken(press, seat, pos, draft.state.fusion)


def _meant(draft: Draft, press: Press) -> str:
    """The seat a key is about: the one that was picked, else the one to act."""
    hand = draft.state.hand
    if hand is None:
        return ""
    if press.seat:
        return str(press.seat) if str(press.seat) in hand.seats else ""
    return hand.to_act or ""


def _bounced(draft: Draft, press: Press) -> bool:
    state = draft.state
    last, state.last_key = state.last_key, press
    if last is None or (last.key, last.seat, last.amount) != (press.key, press.seat, press.amount):
        return False
    assert state.config is not None
    bounce_ns = state.fusion.key_bounce_ms * MS
    if press.boot != last.boot or not 0 <= press.span.earliest_ns - last.span.latest_ns < bounce_ns:
        return False
    draft.alert("panel", "info", Reason("key_twice", {"key": press.key}))
    return True


def _about_the_act_before(draft: Draft, press: Press, seat: str) -> bool:
    """A key pressed before the newest ruling was final, and delivered after it, is about that act: it reopens it if
    it would have changed the ruling."""
    state = draft.state
    if press.key in PASSIVE or press.seat or not state.ruled or seat == state.ruled[-1].attempt.seat:
        return False
    ruled = state.ruled[-1]
    word = _word(draft, press, ruled.attempt.seat, draft.position)
    if word is None or press.span.latest_ns >= ruled.ruled_ns:
        return False
    reopen_with_word(draft, word)
    return True


def _for_the_seat_behind(draft: Draft, press: Press, seat: str) -> bool:
    """A fold or check keyed while the chips of the seat to act lie there: the dealer is one act ahead of us."""
    state = draft.state
    attempt = state.attempts.get(seat)
    if press.key not in PASSIVE or press.seat or attempt is None or attempt.held or press.said_first:
        return False
    touch = attempt.first_touch()
    word = _word(draft, press, seat, draft.position)
    if touch is None or word is None or word.span.before(touch):
        return False
    if len(state.early) >= MAX_EARLY:
        _meaningless(draft, press)
    else:
        state.early = (*state.early, EarlyKey(press, draft.position))
    return True


def _meaningless(draft: Draft, press: Press) -> None:
    hand = draft.state.hand
    if press.seat and draft.state.phase == "betting" and hand is not None and str(press.seat) not in hand.seats:
        draft.alert("panel", "info", Reason("key_not_dealt_in", {"key": press.key, "seat": press.seat}))
    else:
        draft.alert("panel", "info", Reason("key_without_turn", {"key": press.key}))
