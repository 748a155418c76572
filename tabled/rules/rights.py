"""What the others face after an act: price, smallest and largest raise, who may raise and who may not, and why."""

from __future__ import annotations

from msgspec.structs import replace

from tabled.model.ruling import Locked, Option, Reason, Ruling
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
        if table.bring_in and hand.bets == 0 and hand.has_acted(j) and hand.street == 0:
            continue
        found.append(Locked(table.names[j], lock_reason(hand, j)))
    return tuple(found)


SHORT_ALL_IN = ("all_in_short", "all_in_short_plain", "all_in_short_reopens", "all_in_short_some")
"""Codes of an all-in that is no full raise: for whom of those who have acted it opens the betting again."""


def short_all_in(hand: Hand, seat: str, free: tuple[str, ...], locks: tuple[Locked, ...]) -> Reason:
    """What the all-in of ``seat``, no full raise, means for the seats that have acted and still have chips.

    ``reopened`` and ``closed`` name them.  A seat whose stack alone stands in the way counts as reopened: it has the
    right, and that it lacks the means is not for the table to hear.  After a later raise nothing is said of rights:
    it is the raise that gives them.
    """
    to = hand.bet_of(seat)
    params: dict[str, int | str] = {"seat": seat, "to": to}
    if hand.bet_to != to:
        return Reason("all_in_short_plain", params)
    poor = {lock.seat for lock in locks if lock.reason.code == "lock_stack"}
    shut = {lock.seat for lock in locks} - poor
    acted = [hand.table.names[j] for j in order_after(hand, seat) if hand.has_acted(j)]
    reopened = [s for s in acted if s in free or s in poor]
    closed = [s for s in acted if s in shut]
    params |= {"reopened": ", ".join(reopened), "closed": ", ".join(closed)}
    if reopened and closed:
        return Reason("all_in_short_some", params)
    return Reason("all_in_short_reopens" if reopened else "all_in_short" if closed else "all_in_short_plain", params)


def told(ruling: Ruling, hand: Hand) -> Ruling:
    """The same ruling with its sentence fitted to its rights, after these were stated anew for ``hand``."""
    if ruling.reason.code not in SHORT_ALL_IN:
        return ruling
    new = short_all_in(hand, ruling.seat, ruling.may_raise, ruling.may_not_raise)
    kept = {k: v for k, v in ruling.reason.params.items() if k not in ("reopened", "closed")}
    return replace(ruling, reason=Reason(new.code, {**kept, **new.params}))


def lock_reason(hand: Hand, j: int) -> Reason:
    """Why seat index ``j`` may not raise."""
    table = hand.table
    if hand.capped():
        return Reason("lock_capped", {"raises": table.cap})
    if not hand.answerable(j):
        return Reason("lock_alone")
    if not hand.reopened(j):
        more = hand.bet_to - hand.seen[j]
        return _lock_short(hand, j, more) if more > 0 else Reason("lock_acted")
    return Reason("lock_stack", {"stack": hand.stack[j]})


def _lock_short(hand: Hand, j: int, more: int) -> Reason:
    """Why ``more`` over what a seat answered does not reopen: it is too little, or no single all-in was enough."""
    table = hand.table
    params: dict[str, int | str] = {"more": more, "full": hand.full}
    if not table.half:
        return Reason("lock_separate" if more >= hand.full else "lock_short", params)
    need = hand.due(hand.seen[j])
    return Reason("lock_separate" if 2 * more >= need else "lock_short_half", {**params, "full": need})


def options(hand: Hand) -> tuple[Option, ...]:
    """What each seat that must still act may do, in order of action."""
    if hand.actor < 0:
        return ()
    names, n = hand.table.names, hand.table.n
    order = [(hand.actor + k) % n for k in range(n)]
    return tuple(
        hand.option(names[j])
        for j in order
        if hand.state[j] == IN and (not hand.has_acted(j) or hand.bet[j] < hand.bet_to)
    )


def smallest(hand: Hand, free: tuple[str, ...]) -> int | None:
    """The smallest raise that the next seats face; None with no bet, or at fixed limit with nobody to raise."""
    if not hand.bet_to or (hand.table.structure == FIXED_LIMIT and not free):
        return None
    return hand.min_raise_to()


def largest(hand: Hand, free: tuple[str, ...]) -> int | dict[str, int] | None:
    """The largest raise where the structure caps it: one total, or by seat at pot limit."""
    structure = hand.table.structure
    if structure == NO_LIMIT or not hand.bet_to or not free:
        return None
    if structure == POT_LIMIT:
        return {name: hand.raise_range(hand.table.index[name])[1] for name in free}
    if structure == FIXED_LIMIT:
        return hand.base + hand.full
    return hand.bet_to + hand.table.spread_max
