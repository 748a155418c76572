"""What the law makes of a gesture, before it is applied: the reading and the seat's situation."""

from __future__ import annotations

from typing import Literal

import msgspec

from tabled.model.ruling import Candidate, Reason
from tabled.rules.gesture import Gesture
from tabled.rules.hand import Hand
from tabled.rules.profile import Profile
from tabled.rules.table import FIXED_LIMIT, POT_LIMIT

Kind = Literal["fold", "check", "call", "raise", "bring_in", "pending", "floor", "call_or_fold"]


class Reading(msgspec.Struct, frozen=True, kw_only=True):
    """One reading of an act.

    ``to`` is meant for a raise (before the stack limits it).  ``topics`` are what it cites, ``rests_on`` the
    settings it depends on where a text leaves room.  ``may_fold`` and ``may_raise`` are for a ``call_or_fold``.
    ``why`` tells the floor why it is wanted, where ``reason`` does not.
    """

    kind: Kind
    to: int = 0
    reason: Reason = Reason("none")
    topics: tuple[str, ...] = ()
    rests_on: tuple[str, ...] = ()
    candidates: tuple[Candidate, ...] = ()
    default_to: int | None = None
    may_fold: bool = True
    may_raise: bool = False
    back: int | None = None
    floor: bool = False
    why: Reason | None = None


class Spot:
    """The seat that acts, and the numbers that its act is measured against.

    ``line`` is its counted bet, ``price`` the total to call, ``owes`` whether it faces a bet, ``option`` whether
    it may check over a bet that is already its own (big blind), ``mine`` its line and stack together.
    ``lying`` is the worth of the chips of its earlier bet that still lie on the line; ``left`` are those chips if
    others of that bet were taken back, else none.
    """

    __slots__ = (
        "capped", "complete", "covered", "gap", "gesture", "hand", "high", "i", "left", "line", "line_chips", "low",
        "lying", "may_raise", "mine", "opening", "option", "owes", "price", "profile", "seat", "structure",
    )  # fmt: skip

    def __init__(self, hand: Hand, profile: Profile, gesture: Gesture) -> None:
        i = hand.table.index[gesture.seat]
        self.hand, self.profile, self.gesture, self.i, self.seat = hand, profile, gesture, i, gesture.seat
        self.structure = hand.table.structure
        self.line = hand.bet[i]
        self.price = hand.price(i)
        self.mine = self.line + hand.stack[i]
        self.owes = self.price > self.line
        self.opening = hand.bet_to == 0
        self.option = not self.opening and not self.owes
        self.line_chips = hand.line_chips.get(i)
        self.covered = self.line_chips is not None and self.owes and sum(self.line_chips) >= self.price
        whole = self.line if self.line_chips is None else sum(self.line_chips)
        self.lying = max(whole - sum(gesture.lifted), 0)
        self.left = _left(self.line_chips, gesture.lifted, self.lying)
        self.may_raise = hand.may_raise(i)
        self.capped = hand.capped()
        self.complete = hand.complete_to(i)
        self.low, self.high = hand.raise_range(i)
        self.gap = self.low - hand.bet_to

    @property
    def fixed(self) -> bool:
        """Fixed limit."""
        return self.structure == FIXED_LIMIT

    @property
    def pot_limit(self) -> bool:
        """Pot limit."""
        return self.structure == POT_LIMIT

    @property
    def felt(self) -> int:
        """Worth of the seat's chips that lie forward now."""
        g = self.gesture
        return self.lying + sum(g.new) - sum(g.retracted)

    def is_raise(self, total: int) -> bool:
        """Whether ``total`` is at least half way to the smallest raise, as the profile measures it (never a float)."""
        over = total - self.hand.bet_to
        whole = self.hand.bet_to if self.profile.underraise_half_of == "bet" and not self.opening else self.gap
        return 2 * over >= whole


def _left(line: tuple[int, ...] | None, lifted: tuple[int, ...], lying: int) -> tuple[int, ...]:
    """The chips of an earlier bet that stayed when others of it were lifted; as one where they are not known."""
    if not lifted or not lying:
        return ()
    rest = list(line or ())
    for chip in lifted:
        if chip not in rest:
            return (lying,)
        rest.remove(chip)
    return tuple(rest)
