"""The law: one seat's acts in, a ruling out.

:func:`judge` is a pure function of the hand, the profile and the acts; it never changes the hand.
Its order of decision: whose turn → order of words and first touch → words → chips → clamp to the
structure → limit by the stack → chips to move → rights per seat → flags.
"""

from __future__ import annotations

from collections.abc import Sequence

from tabled.model.acts import AnyAct, Decided, Say
from tabled.model.ruling import Reason
from tabled.rules.bringin import read_bring_in
from tabled.rules.chips import read_chips
from tabled.rules.doubt import named
from tabled.rules.errors import IllegalAct, NotARaise, NotEnoughChips
from tabled.rules.gesture import Gesture, read
from tabled.rules.hand import Hand
from tabled.rules.profile import Profile
from tabled.rules.raising import raise_to
from tabled.rules.reading import Reading, Spot
from tabled.rules.settle import Judgement, held, idle, settle
from tabled.rules.words import binding, read_word, short_number

__all__ = ["Judgement", "judge"]


def judge(hand: Hand, profile: Profile, acts: Sequence[AnyAct]) -> Judgement:
    """Rule the acts of one seat, given in binding order.

    An act by a seat whose turn it is not is held (``held_out_of_turn``).  ``Judgement.after`` is the hand with
    the ruling applied, None when nothing is decided yet.  Raises ValueError if the acts are of several seats or
    of a seat that is not in the hand's set-up, IllegalAct if a ``Decided`` act cannot have been (a raise to less
    than lies there); nothing that is said or put in raises.
    """
    gesture = read_acts(hand, profile, acts)
    if hand.status_of(gesture.seat) != "in":
        code = "all_in_already" if hand.status_of(gesture.seat) == "all_in" else "not_in_hand"
        return idle(hand, profile, gesture, Reason(code, {"seat": gesture.seat}))
    if hand.to_act != gesture.seat:
        return held(hand, profile, gesture)
    return rule(hand, profile, gesture)


def read_acts(hand: Hand, profile: Profile, acts: Sequence[AnyAct]) -> Gesture:
    """Sort the acts of one seat.  Raises ValueError for a seat that was not dealt in."""
    seat = acts[0].seat if acts else ""
    if seat not in hand.table.index:
        raise ValueError(f"seat {seat!r} was not dealt in; the seats are {', '.join(hand.table.names)}")
    return read(acts, hand.line_chips.get(hand.table.index[seat], ()), profile.bind)


def rule(hand: Hand, profile: Profile, gesture: Gesture) -> Judgement:
    """Rule a gesture of the seat to act."""
    spot = Spot(hand, profile, gesture)
    return settle(spot, named(spot, interpret(spot), interpret))


def interpret(spot: Spot) -> Reading:
    """Which act the gesture is."""
    gesture, profile = spot.gesture, spot.profile
    if gesture.decided is not None:
        return _decided(spot)
    words, late = _in_time(spot)
    say = binding(words)
    if spot.hand.owes_bring_in:
        return read_bring_in(spot, say)
    if say is not None and not (say.word == "other" and gesture.motions):
        rests_on: tuple[str, ...] = ()
        if say.order == "simultaneous" and gesture.motions:
            rests_on = ("simultaneous",)
        return read_word(spot, say, rests_on)
    if gesture.accidental:
        return _floor(spot, "floor_accidental")
    if gesture.short:
        return _short_push(spot)
    if gesture.motions and gesture.change_asked:
        return Reading(kind="pending", reason=Reason("change_asked"), topics=("overbet_change",))
    if gesture.motions:
        return _chips_first(spot, late)
    if gesture.lifted and spot.owes and profile.prior_pull_back == "binds":
        code = "lifted_pending" if spot.may_raise else "lifted_pending_call"
        reason = Reason(code, {"to": min(spot.price, spot.mine)})
        return Reading(kind="pending", reason=reason, topics=("prior_pull_back",))
    say = binding(late)
    if say is not None:
        return read_word(spot, say, ())
    return Reading(kind="pending", reason=Reason("pending"), topics=("staged",))


def _in_time(spot: Spot) -> tuple[tuple[Say, ...], tuple[Say, ...]]:
    """Words that bind before the chips, and words that came too late, as the profile orders them."""
    gesture, profile = spot.gesture, spot.profile
    words, late = gesture.words, gesture.late
    if profile.simultaneous == "word_must_precede" and gesture.motions:
        late = (*(w for w in words if w.order == "simultaneous"), *late)
        words = tuple(w for w in words if w.order != "simultaneous")
    if profile.speech_vs_chips == "mouth_always" and not words:
        words, late = late, ()
    return words, late


def _chips_first(spot: Spot, late: tuple[Say, ...]) -> Reading:
    """Chips landed first.  A later word changes nothing, but one that would shrink a raise is shown to the floor."""
    say = binding(late)
    if say is not None and say.word == "number" and say.amount and spot.opening and len(spot.gesture.new) == 1:
        short = short_number(spot, say.amount) if spot.profile.late_short_number == "pot_test" else None
        if short is not None:
            return short
    reading = read_chips(spot)
    if say is not None and reading.kind == "raise" and say.word in ("call", "check", "fold"):
        return _resting(reading, "speech_vs_chips", "chips_first")
    return reading


def _resting(reading: Reading, setting: str, topic: str) -> Reading:
    return Reading(
        kind=reading.kind,
        to=reading.to,
        reason=reading.reason,
        topics=(topic, *reading.topics),
        rests_on=(*reading.rests_on, setting),
        candidates=reading.candidates,
        default_to=reading.default_to,
    )


def _floor(spot: Spot, code: str) -> Reading:
    return Reading(kind="floor", reason=Reason(code), topics=("unclear",), may_raise=spot.may_raise)


def _short_push(spot: Spot) -> Reading:
    """Chips slid toward the pot with the hand on them, stopped before the line and taken back."""
    setting = spot.profile.push_short_of_line
    if setting == "free" or spot.profile.bind != "push":
        return Reading(kind="pending", reason=Reason("pending"), topics=("pushed",))
    if setting == "floor":
        return _floor(spot, "floor_short_push")
    meant = Gesture(seat=spot.seat, motions=(spot.gesture.short,), retracted=spot.gesture.short)
    return read_chips(Spot(spot.hand, spot.profile, meant))


def _decided(spot: Spot) -> Reading:
    """An act that was ruled before, given by its outcome."""
    act = spot.gesture.decided
    assert act is not None
    match act.act:
        case "fold":
            return Reading(kind="fold", reason=Reason("fold"), topics=("fold",))
        case "check":
            return read_word(spot, Say(spot.seat, "check"), ())
        case "call":
            return Reading(kind="call" if spot.owes else "check", reason=Reason("call"), topics=("call",))
        case _:
            to = _decided_total(spot, act)
            if to <= spot.price:
                return Reading(kind="call", reason=Reason("all_in_call"), topics=("all_in_call",))
            if to == spot.complete:
                return Reading(kind="raise", to=to, reason=Reason("complete"), topics=("completion",))
            return raise_to(spot, to, spoken=True, topics=("min_raise",))


def _decided_total(spot: Spot, act: Decided) -> int:
    """The total of a bet, raise, completion or all-in.  Raises IllegalAct if the seat cannot have done that."""
    mine, seat = spot.mine, spot.seat
    if act.act == "post":
        raise IllegalAct(f"seat {seat}: a post comes before the acts of a street; give it in the set-up")
    if act.to is None and act.act == "complete" and spot.complete is not None:
        return spot.complete
    if act.to is None and act.act != "all_in":
        raise IllegalAct(f'seat {seat}: a {act.act} needs "to", its total on the street')
    to = mine if act.to is None else act.to
    if to > mine:
        raise NotEnoughChips(f"seat {seat} has {mine} in all and cannot {act.act.replace('_', ' ')} to {to}")
    if act.act == "all_in" and to != mine:
        raise IllegalAct(f"seat {seat}: all-in is {mine}, not {to}")
    if to <= spot.hand.bet_to and to != mine:
        raise NotARaise(f"seat {seat}: {to} is no {act.act} over the bet of {spot.hand.bet_to}")
    return to
