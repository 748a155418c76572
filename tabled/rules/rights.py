"""What the others face after an act: price, smallest and largest raise, who may raise and who may not, and why."""

from __future__ import annotations

from tabled.model.ruling import Locked, Option, Reason
from tabled.rules.hand import IN, Hand
from tabled.rules.table import FIXED_LIMIT, NO_LIMIT, POT_LIMIT


def order_after(hand: Hand, seat: str) -> list[int]:
    """Indices of the other seats in order of action after ``seat``."""
    i, n = hand.table.index[seat], hand.table.n
    return [(i + k) % n for k in range(1, n)]


def may_raise(hand: Hand, seat: str) -> tuple[str, ...]:
    """The other seats that may still raise, when their turn comes, as things stand."""
    return tuple(hand.table.names[j] for j in order_after(hand, seat) if hand.may_raise(j))


def locked(hand: Hand, seat: str) -> tuple[Locked, ...]:
    """The other seats with chips that may not raise, each with its reason.

    A bring-in that nobody has completed is in neither list: it was forced, and whether its seat comes to act
    again is open.
    """
    table = hand.table
    found: list[Locked] = []
    for j in order_after(hand, seat):
        if hand.state[j] != IN or hand.may_raise(j):
            continue
        if table.bring_in and hand.bets == 0 and hand.seen[j] >= 0 and hand.street == 0:
            continue
        found.append(Locked(table.names[j], lock_reason(hand, j)))
    return tuple(found)


def lock_reason(hand: Hand, j: int) -> Reason:
    """Why seat index ``j`` may not raise."""
    table = hand.table
    if hand.capped():
        return Reason("lock_capped", {"raises": table.cap})
    if not hand.answerable(j):
        return Reason("lock_alone")
    if not hand.reopened(j):
        more = hand.bet_to - max(hand.seen[j], 0)
        if more > 0:
            return Reason("lock_short", {"more": more, "full": hand.full})
        return Reason("lock_acted")
    return Reason("lock_stack", {"stack": hand.stack[j]})


def options(hand: Hand) -> tuple[Option, ...]:
    """What each seat that must still act may do, in order of action."""
    if hand.actor < 0:
        return ()
    names, n = hand.table.names, hand.table.n
    order = [(hand.actor + k) % n for k in range(n)]
    return tuple(
        hand.option(names[j]) for j in order if hand.state[j] == IN and (hand.seen[j] < 0 or hand.bet[j] < hand.bet_to)
    )


def smallest(hand: Hand, free: tuple[str, ...]) -> int | None:
    """The smallest raise that the next seats face; None with no bet, or at fixed limit with nobody to raise."""
    if hand.bet_to == 0 or (hand.table.structure == FIXED_LIMIT and not free):
        return None
    return hand.raise_range(max(hand.actor, 0))[0]


def largest(hand: Hand, free: tuple[str, ...]) -> int | dict[str, int] | None:
    """The largest raise where the structure caps it: one total, or by seat at pot limit."""
    structure = hand.table.structure
    if structure == NO_LIMIT or hand.bet_to == 0 or not free:
        return None
    if structure == POT_LIMIT:
        return {name: hand.raise_range(hand.table.index[name])[1] for name in free}
    if structure == FIXED_LIMIT:
        return hand.base + hand.full
    return hand.bet_to + hand.table.spread_max
