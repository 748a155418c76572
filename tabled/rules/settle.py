"""From a reading to a ruling: apply it to a copy of the hand, move the chips, state everyone's rights."""

from __future__ import annotations

from typing import NamedTuple

from tabled.model.acts import Decided
from tabled.model.ruling import Change, Faced, Option, Reason, Ruling, Verb, Verdict
from tabled.rules import rights
from tabled.rules.gesture import Gesture
from tabled.rules.giveback import give_back
from tabled.rules.hand import Hand
from tabled.rules.profile import Profile
from tabled.rules.reading import Reading, Spot
from tabled.rules.table import FIXED_LIMIT


class Judgement(NamedTuple):
    """A ruling and the hand with it applied; ``after`` is None when nothing is decided yet."""

    ruling: Ruling
    after: Hand | None


class _Money(NamedTuple):
    add: int = 0
    back: int = 0
    chips: tuple[int, ...] = ()
    change: Change | None = None


def settle(spot: Spot, reading: Reading) -> Judgement:
    """Apply the reading."""
    if reading.kind in ("pending", "floor", "call_or_fold"):
        return Judgement(_undecided(spot, reading), None)
    after = spot.hand.copy()
    verb = _apply(spot, reading, after)
    return Judgement(_ruling(spot, reading, after, verb), after)


def _apply(spot: Spot, reading: Reading, after: Hand) -> Verb:
    """Carry the act out on ``after``; says what it did to the betting."""
    match reading.kind:
        case "fold":
            after.fold()
            return "fold"
        case "check":
            after.check()
            return "check"
        case "call":
            after.call()
            return "call"
        case "bring_in":
            after.bring_in()
            return "bring-in"
        case _:
            to = min(reading.to, spot.mine)
            if to <= spot.hand.bet_to:
                after.call()
                return "call"
            after.raise_to(to)
            if spot.complete == to or (spot.hand.owes_bring_in and to == spot.low):
                return "complete"
            return "bet" if spot.opening else "raise"


def _ruling(spot: Spot, reading: Reading, after: Hand, verb: Verb) -> Ruling:
    to = after.bet[spot.i]
    all_in = after.stack[spot.i] == 0 and verb not in ("fold", "check")
    money = _money(spot, to)
    free = rights.may_raise(after, spot.seat)
    action: Verdict = "all_in" if all_in else "bring_in" if verb == "bring-in" else verb
    full = after.full if after.table.structure != FIXED_LIMIT else spot.hand.full
    grown = to - spot.hand.bet_to
    short = all_in and grown < (spot.gap if spot.fixed else min(full, spot.hand.full))
    topics = _topics(spot, reading, all_in=all_in, short=short, verb=verb)
    if short and any(after.complete_to(j) is not None for j in range(after.table.n)):
        topics = (*topics, "completion")  # the others may make it a whole bet
    ruling = Ruling(
        seat=spot.seat,
        action=action,
        verb=verb,
        to=to,
        add=money.add,
        back=money.back,
        back_chips=money.chips,
        change=money.change,
        all_in=all_in,
        full=not short if all_in else None,
        counts_as_raise=after.bets > spot.hand.bets if all_in else None,
        faced=faced(spot),
        next_seat=after.to_act,
        call_to=after.bet_to or None,
        min_raise_to=rights.smallest(after, free),
        max_raise_to=rights.largest(after, free),
        may_raise=free,
        may_not_raise=rights.locked(after, spot.seat),
        options=rights.options(after),
        raises_used=max(after.bets - 1, 0) if spot.fixed else None,
        round_over=after.street_over,
        cite=spot.profile.clauses(*topics),
        reason=_reason(spot, reading, verb, to, all_in=all_in, short=short, money=money),
        floor=_floor(spot, reading),
        candidates=reading.candidates,
        profile=spot.profile.hash,
        default_to=reading.default_to,
        floor_reason=reading.why,
    )
    return rights.told(ruling, after)


def faced(spot: Spot) -> Faced:
    """What the seat faced before it acted."""
    return spot.hand.faced(spot.seat)


def _topics(spot: Spot, reading: Reading, *, all_in: bool, short: bool, verb: Verb) -> tuple[str, ...]:
    topics = reading.topics
    if all_in and verb != "call":
        limits = ("reopen_limit",) if spot.fixed else ("reopen", "min_raise") if short else ("reopen",)
        topics = (*topics, "last_chips", *limits)
    if spot.gesture.retracted:
        topics = (*topics, "retract")
    if short and verb == "call":
        topics = (*topics, "all_in_call")
    if reading.rests_on == ("out_of_turn",):
        topics = ("out_of_turn", *topics)
    return topics


def _floor(spot: Spot, reading: Reading) -> bool:
    return reading.floor or any(setting in spot.profile.ask_floor for setting in reading.rests_on)


def _reason(spot: Spot, reading: Reading, verb: Verb, to: int, *, all_in: bool, short: bool, money: _Money) -> Reason:
    """The cause with its numbers; an all-in says so first."""
    params: dict[str, int | str] = {**reading.reason.params, "seat": spot.seat, "to": to}
    if money.add:
        params["add"] = money.add
    if money.back:
        params["back"] = money.back
    code = reading.reason.code
    if all_in:
        code = "all_in_call" if verb == "call" else "all_in_short" if short else "all_in"
    elif verb == "call" and reading.kind == "raise":
        code = "call"
    elif verb == "complete":
        code = "complete"
    return Reason(code, params)


def _money(spot: Spot, to: int) -> _Money:
    """Chips to move so that ``to`` lies on the line: what lies there now against what counts."""
    felt = spot.felt
    if spot.gesture.decided is not None:
        return _ruled_money(spot.gesture.decided, to)
    if felt < to:
        return _Money(add=to - felt)
    if felt == to:
        return _Money()
    return _back(spot, felt - to)


def _ruled_money(decided: Decided, to: int) -> _Money:
    """Ruled before, so its chips are settled, but for a bet or raise that was let through at a wrong amount."""
    if decided.to is None or decided.act not in ("bet", "raise", "complete"):
        return _Money()
    return _Money(add=max(to - decided.to, 0), back=max(decided.to - to, 0))


def _back(spot: Spot, amount: int) -> _Money:
    """``amount`` back, out of the chips that lie forward."""
    gesture = spot.gesture
    chips = list(gesture.new)
    for chip in gesture.retracted:
        chips.remove(chip)
    if spot.line_chips is not None:
        lying = list(spot.line_chips)
        for chip in gesture.lifted:
            if chip in lying:
                lying.remove(chip)
        chips = lying + chips
    whole, change = give_back(chips, amount)
    return _Money(0, amount, whole, change)


def _undecided(spot: Spot, reading: Reading) -> Ruling:
    """Pending, call or fold, or the floor: nothing moves, the seat keeps the turn."""
    kind = reading.kind
    assert kind in ("pending", "floor", "call_or_fold")
    action: Verdict = kind
    option = _own_option(spot, reading)
    raising = option.raise_min_to is not None or option.complete_to is not None
    money = _Money() if reading.back is None else _back(spot, reading.back)
    return Ruling(
        seat=spot.seat,
        action=action,
        back=money.back,
        back_chips=money.chips,
        change=money.change,
        faced=faced(spot),
        next_seat=spot.seat,
        may_raise=(spot.seat,) if raising and kind == "call_or_fold" else (),
        options=(option,),
        cite=spot.profile.clauses(*reading.topics),
        reason=Reason(reading.reason.code, {**reading.reason.params, "seat": spot.seat}),
        floor=kind == "floor" or _floor(spot, reading),
        candidates=reading.candidates,
        profile=spot.profile.hash,
        default_to=reading.default_to,
        floor_reason=reading.why,
    )


def _own_option(spot: Spot, reading: Reading) -> Option:
    """What is left to the seat."""
    full = spot.hand.option(spot.seat)
    if reading.kind == "pending":
        return full
    raising = reading.may_raise
    return Option(
        spot.seat,
        full.check and reading.kind == "floor",
        reading.may_fold,
        full.call_to,
        full.raise_min_to if raising else None,
        full.raise_max_to if raising else None,
        full.complete_to if raising else None,
    )


def held(hand: Hand, profile: Profile, gesture: Gesture) -> Judgement:
    """An act out of turn: the action goes back, chips stay where they are, undecided."""
    turn = hand.to_act
    return Judgement(
        Ruling(
            seat=gesture.seat,
            action="held_out_of_turn",
            next_seat=turn,
            options=() if turn is None else (hand.option(turn),),
            cite=profile.clauses("out_of_turn"),
            reason=Reason("held_nobody_to_act", {"seat": gesture.seat})
            if turn is None
            else Reason("held_out_of_turn", {"seat": gesture.seat, "turn": turn}),
            penalty=profile.out_of_turn_penalty,
            hold=gesture.new,
            profile=profile.hash,
        ),
        None,
    )


def idle(hand: Hand, profile: Profile, gesture: Gesture, reason: Reason) -> Judgement:
    """Acts that cannot be an act: of a seat that has folded or is all-in."""
    return Judgement(
        Ruling(
            seat=gesture.seat,
            action="pending",
            next_seat=hand.to_act,
            back=sum(gesture.new),
            back_chips=gesture.new,
            reason=reason,
            profile=profile.hash,
        ),
        None,
    )
