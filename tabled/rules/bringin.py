"""Stud: the low card must bring it in; it may complete instead, and may do neither less."""

from __future__ import annotations

from tabled.model.acts import Say
from tabled.model.ruling import Reason
from tabled.rules.reading import Reading, Spot


def read_bring_in(spot: Spot, say: Say | None) -> Reading:
    """The reading of anything that the seat which owes the bring-in says or puts in."""
    word = None if say is None else say.word
    if say is not None and word == "number" and say.amount:
        return _amount(spot, say.amount)
    match word:
        case "raise" | "complete" | "bet" | "pot" | "all_in":
            return Reading(kind="raise", to=spot.low, reason=Reason("complete"), topics=("bring_in", "completion"))
        case "check" | "call":
            return Reading(kind="bring_in", reason=Reason("bring_in"), topics=("bring_in",))
        case "fold":
            return _due(spot)
    if spot.gesture.motions:
        return _amount(spot, sum(spot.gesture.motions[0]))
    return _due(spot)


def _amount(spot: Spot, total: int) -> Reading:
    """Chips or a number: the bring-in, or a completion if they reach at least half way to one."""
    forced, whole = spot.hand.table.bring_in, spot.low
    if total > forced and 2 * (total - forced) >= whole - forced:
        return Reading(kind="raise", to=whole, reason=Reason("complete"), topics=("bring_in", "completion"))
    return Reading(kind="bring_in", reason=Reason("bring_in"), topics=("bring_in",))


def _due(spot: Spot) -> Reading:
    amount = spot.hand.table.bring_in
    return Reading(kind="pending", reason=Reason("bring_in_due", {"amount": amount}), topics=("bring_in",))
