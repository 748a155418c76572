"""Stud: the low card must bring it in; it may open for more instead, and may do neither less."""

from __future__ import annotations

from tabled.model.acts import Say
from tabled.model.ruling import Reason
from tabled.rules.reading import Reading, Spot


def read_bring_in(spot: Spot, say: Say | None) -> Reading:
    """The reading of anything that the seat which owes the bring-in says or puts in."""
    word = None if say is None else say.word
    amount = None if say is None else say.amount
    chips = sum(spot.gesture.motions[0]) if spot.gesture.motions else 0
    if word == "number" and amount:
        return _amount(spot, amount)
    match word:
        case "raise" | "complete" | "bet" | "pot" | "all_in":
            top = {"pot": spot.high, "all_in": spot.mine}.get(word, 0)
            return _open(spot, top or amount or chips)
        case "check" | "call":
            return Reading(kind="bring_in", reason=Reason("bring_in"), topics=("bring_in",))
        case "fold":
            return _due(spot)
    if chips:
        return _amount(spot, chips)
    return _due(spot)


def _amount(spot: Spot, total: int) -> Reading:
    """Chips or a number: the bring-in, or more if they reach at least half way to the smallest bet over it."""
    forced = spot.hand.table.bring_in
    if 2 * (total - forced) >= _smallest(spot) - forced:
        return _open(spot, total)
    return Reading(kind="bring_in", reason=Reason("bring_in"), topics=("bring_in",))


def _smallest(spot: Spot) -> int:
    """The smallest bet instead of the bring-in.  Where that is the smallest bet itself, one chip more."""
    table = spot.hand.table
    return max(spot.low, table.bring_in + table.chip_unit)


def _open(spot: Spot, total: int) -> Reading:
    """Fixed limit: a completion, whatever was said.  Else a bet of ``total``, lifted or cut to what is legal."""
    # All-in for less: the price stays the whole bring-in.  A seat may have lost the right to raise out of turn.
    if spot.mine <= spot.hand.table.bring_in or not spot.may_raise:
        return Reading(kind="bring_in", reason=Reason("bring_in"), topics=("bring_in",))
    if spot.fixed:
        return Reading(kind="raise", to=spot.low, reason=Reason("complete"), topics=("bring_in", "completion"))
    to = min(max(total, _smallest(spot)), max(spot.high, spot.low))
    code = "bet_lifted" if total < to else "bet_cut" if total > to else "bet"
    return Reading(kind="raise", to=to, reason=Reason(code), topics=("bring_in", "min_bet"))


def _due(spot: Spot) -> Reading:
    amount = spot.hand.table.bring_in
    return Reading(kind="pending", reason=Reason("bring_in_due", {"amount": amount}), topics=("bring_in",))
