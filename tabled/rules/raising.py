"""Amounts of bets and raises: lifting, halves, clamping to the structure."""

from __future__ import annotations

from typing import Literal

from tabled.model.ruling import Candidate, Reason
from tabled.rules.reading import Reading, Spot


def no_raise(spot: Spot) -> Reading:
    """A raise by a seat that may not raise: it stands as a call (or a check)."""
    topics = ("cap", "cap_heads_up") if spot.capped else ("reopen_limit" if spot.fixed else "reopen",)
    if not spot.owes:
        return Reading(kind="check", reason=Reason("raise_closed_check"), topics=topics)
    code = "raise_capped" if spot.capped else "raise_closed"
    return Reading(kind="call", reason=Reason(code, {"to": spot.price}), topics=topics)


def raise_to(
    spot: Spot, total: int, *, spoken: bool, topics: tuple[str, ...], rests_on: tuple[str, ...] = ()
) -> Reading:
    """A bet or raise meant to reach ``total``.

    Under the minimum it is lifted, or stands as a call, by the profile and by whether "raise" was said first;
    over the maximum it is cut.  The last chips are never sent back for being too few.
    """
    if not spot.may_raise:
        return no_raise(spot)
    topics = (*topics, *_circumstances(spot, total))
    if total >= spot.low or total == spot.mine:
        return _whole(spot, total, topics, rests_on)
    if spot.opening:
        return _small_opening(spot, total, spoken, topics, rests_on)
    return _completion(spot, total, spoken, topics, rests_on) or _small_raise(spot, total, spoken, topics, rests_on)


def _completion(
    spot: Spot, total: int, spoken: bool, topics: tuple[str, ...], rests_on: tuple[str, ...]
) -> Reading | None:
    """Spread limit, over a short all-in that may be completed: an amount up to the whole bet completes it.

    Silent chips under half way to it do not.  (At fixed limit the completion is the one legal raise.)
    """
    whole, bet_to = spot.complete, spot.hand.bet_to
    if whole is None or spot.fixed or not bet_to < total <= whole:
        return None
    if not spoken and 2 * (total - bet_to) < whole - bet_to:
        return None
    return Reading(kind="raise", to=whole, reason=Reason("complete"), topics=(*topics, "completion"), rests_on=rests_on)


def _circumstances(spot: Spot, total: int) -> tuple[str, ...]:
    """What else the amount rests on: the smallest bet, short all-ins before it, a straddle, a lifted cap."""
    hand = spot.hand
    found: list[str] = []
    if spot.opening and total <= spot.low:
        found.append("min_bet")
    if hand.base < hand.bet_to and hand.bets:
        found.append("reopen_limit" if spot.fixed else "reopen")
    if spot.fixed and hand.bets > hand.table.cap:
        found.append("cap_heads_up")
    if spot.fixed and hand.bet_to % hand.full:
        found.append("reopen_limit")
    if not spot.fixed and hand.street == 0 and hand.bets == 1 and 0 < hand.table.big_blind < hand.base:
        found.append("straddle")
    if hand.phantom:
        found.append("short_blind")
    return tuple(found)


def _whole(spot: Spot, total: int, topics: tuple[str, ...], rests_on: tuple[str, ...]) -> Reading:
    code = "bet" if spot.opening else "raise"
    if total > spot.high:
        cut = "pot" if spot.pot_limit else "limit_caps"
        return Reading(
            kind="raise", to=spot.high, reason=Reason(f"{code}_cut"), topics=(*topics, cut), rests_on=rests_on
        )
    return Reading(kind="raise", to=total, reason=Reason(code), topics=topics, rests_on=rests_on)


def _small_opening(spot: Spot, total: int, spoken: bool, topics: tuple[str, ...], rests_on: tuple[str, ...]) -> Reading:
    if spot.profile.underbet_threshold == "half" and not spoken and 2 * total < spot.low:
        return Reading(kind="check", reason=Reason("underbet_check"), topics=("min_bet",), rests_on=rests_on)
    return Reading(kind="raise", to=spot.low, reason=Reason("bet_lifted"), topics=topics, rests_on=rests_on)


def _small_raise(spot: Spot, total: int, spoken: bool, topics: tuple[str, ...], rests_on: tuple[str, ...]) -> Reading:
    setting = spot.profile.underraise_threshold
    if spoken and (spot.profile.underraise_spoken == "lift" or not total):
        return Reading(
            kind="raise",
            to=spot.low,
            reason=Reason("raise_lifted"),
            topics=(*topics, "under_raise_spoken"),
            rests_on=rests_on,
        )
    if setting == "floor" and not spot.fixed and total > spot.price:
        return Reading(
            kind="floor",
            reason=Reason("floor_small_raise", {"to": total}),
            topics=("spoken", "under_raise"),
            candidates=(
                Candidate("call", spot.price, Reason("amount", {"to": spot.price})),
                Candidate("raise", spot.low, Reason("amount", {"to": spot.low})),
            ),
            default_to=spot.low,
        )
    lifted = setting == "lift" or (setting in ("half", "floor") and spot.is_raise(total))
    if lifted:
        return Reading(
            kind="raise",
            to=spot.low,
            reason=Reason("raise_lifted"),
            topics=(*topics, "under_raise", "under_raise_lifted"),
            rests_on=rests_on,
        )
    if not spot.owes:
        return Reading(
            kind="check", reason=too_little(spot, "check"), topics=(*topics, "under_raise"), rests_on=rests_on
        )
    return Reading(
        kind="call",
        reason=too_little(spot, "call"),
        topics=(*topics, "under_raise", "under_raise_call"),
        rests_on=rests_on,
    )


def too_little(spot: Spot, kind: Literal["call", "check"]) -> Reason:
    """The reason of a raise that is too small to be one, by the measure that the profile has in force."""
    profile = spot.profile
    if profile.underraise_threshold == "call":
        return Reason("underraise_call_full" if kind == "call" else "underraise_check_full")
    if profile.underraise_half_of == "bet":
        return Reason("underraise_call_bet" if kind == "call" else "underraise_check_bet")
    return Reason("underraise_call" if kind == "call" else "underraise_check")


def undercall(spot: Spot, total: int, topics: tuple[str, ...]) -> Reading:
    """Fewer chips than the call, with more behind.

    TDA 51-B: against the opening bet, or heads-up, the full call is owed; else, with several players, the floor
    decides.  A player who says that he did not see the raise may be heard where the profile says so.
    """
    profile = spot.profile
    raised = _raised_since_opening(spot)
    if profile.tiny_chips == "floor" and not spot.gesture.words and 10 * total <= spot.price:
        return _asked(spot, total, "floor_tiny_chips", "tiny_chips")
    if spot.gesture.claim is not None and profile.undercall_claim == "floor" and raised:
        return Reading(
            kind="floor",
            reason=Reason("floor_undercall_claim", {"to": spot.price}),
            topics=("undercall",),
            candidates=(
                Candidate("pending", None, Reason("take_back_reconsider", {"amount": sum(spot.gesture.new)})),
                Candidate("call", spot.price, Reason("call_amount", {"to": spot.price})),
            ),
            back=sum(spot.gesture.new),
            may_raise=True,
        )
    if profile.undercall == "floor" or (profile.undercall == "opening_only" and raised and spot.hand.n_live > 2):
        return _asked(spot, total, "floor_undercall", "undercall")
    return Reading(kind="call", reason=Reason("undercall"), topics=(*topics, "undercall"), rests_on=("undercall",))


def _raised_since_opening(spot: Spot) -> bool:
    """Whether the price is over the opening bet (or the big blind), be it by a short all-in."""
    hand = spot.hand
    return hand.bets > 1 or any(0 < level < hand.bet_to for level in (hand.base, *hand.seen))


def _asked(spot: Spot, total: int, code: str, topic: str) -> Reading:
    """Too few chips, for the floor: the whole call, or what was meant for one is forfeit with the hand."""
    return Reading(
        kind="floor",
        reason=Reason(code, {"to": spot.price, "chips": total - spot.line}),
        topics=(topic,),
        candidates=(
            Candidate("call", spot.price, Reason("full_call", {"to": spot.price})),
            Candidate("fold", None, Reason("forfeit_fold", {"amount": _intended(spot, total) - spot.line})),
        ),
    )


def _intended(spot: Spot, total: int) -> int:
    """The undercall that was meant: of a lower bet on this street, what its call takes, the rest is change (51-B).

    A single chip, or less than half a bet over that level, would have been its call.
    """
    hand = spot.hand
    levels = {*hand.seen, hand.table.big_blind} if hand.street == 0 else set(hand.seen)
    level = max((x for x in levels if spot.line < x <= total), default=total)
    return level if len(spot.gesture.new) == 1 or 2 * (total - level) < level else total
