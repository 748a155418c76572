"""The betting of one hand as a state machine: integers in, integers out, nothing else.

A :class:`Hand` is mutable and small, so that the law can be tried on a copy.  Amounts named ``to``
are totals of a seat on the street.  Acts are those of the seat whose turn it is; what is not
allowed raises a class of :mod:`tabled.rules.errors` that says the numbers.
"""

from __future__ import annotations

from tabled.model.hand import HandSetup
from tabled.rules.errors import (
    CannotCheck,
    NoBringIn,
    NotARaise,
    NotEnoughChips,
    NothingToCall,
    NothingToComplete,
    NotYourTurn,
    RaiseClosed,
    RaisesCapped,
    SetupError,
    StreetNotOver,
    TooLarge,
    TooSmall,
)
from tabled.rules.facing import Facing
from tabled.rules.opening import post_blinds
from tabled.rules.profile import Profile
from tabled.rules.state import ALL_IN, FOLDED, IN
from tabled.rules.table import FIXED_LIMIT, NO_LIMIT, Table

__all__ = ["ALL_IN", "FOLDED", "IN", "Hand", "SetupError", "check_setup"]


def check_setup(setup: HandSetup) -> None:
    """Raises SetupError, in one line, if this hand cannot be dealt under any profile."""
    Hand.start(setup, Profile(name="check"))


class Hand(Facing):
    """One hand, to be acted on.  Every act is that of the seat to act."""

    __slots__ = ()

    @classmethod
    def start(cls, setup: HandSetup, profile: Profile) -> Hand:
        """Take antes and blinds and find who acts first.  Raises SetupError."""
        hand = cls(Table(setup, profile))
        post_blinds(hand, setup)
        return hand

    def set_line_chips(self, seat: str, chips: tuple[int, ...]) -> None:
        """Tell which physical chips lie on the seat's line; they may be worth more than its counted bet."""
        self.line_chips[self.table.index[seat]] = chips

    # ---- acting ---------------------------------------------------------------------------------------------

    def _turn(self, act: str) -> int:
        if self.actor < 0:
            raise NotYourTurn(f"nobody is to act, so nobody can {act}; deal the next street")
        return self.actor

    def fold(self) -> None:
        """The seat to act folds."""
        i = self._turn("fold")
        self.state[i] = FOLDED
        self.n_in -= 1
        self.n_live -= 1
        if self.n_in == 2:
            self._heads_up()
        self.pass_turn(i)

    def verify_check(self) -> None:
        """Raises CannotCheck if there is a bet to answer."""
        i = self._turn("check")
        if self.price(i) > self.bet[i] or self.owes_bring_in:
            raise CannotCheck(f"{self.table.names[i]} owes {self.price(i) - self.bet[i]}: call, raise or fold")

    def check(self) -> None:
        """The seat to act checks."""
        i = self.actor
        if i < 0 or self.bet[i] < self.bet_to or self.owes_bring_in:
            self.verify_check()
        self.seen[i] = self.bet_to
        self.heard[i] = self.raises
        self.pass_turn(i)

    def verify_call(self) -> None:
        """Raises NothingToCall if there is no bet to call."""
        i = self._turn("call")
        if self.price(i) <= self.bet[i]:
            raise NothingToCall(f"{self.table.names[i]} has {self.bet[i]} in and the bet is {self.price(i)}: check")

    def call(self) -> None:
        """The seat to act calls, for less if its stack is shorter."""
        i = self.actor
        if i < 0:
            self._turn("call")
        owed = (self.bet_to if self.n_in > 1 else self.price(i)) - self.bet[i]
        if owed <= 0:
            self.verify_call()
        self.seen[i] = self.bet_to
        self.heard[i] = self.raises
        self.pay(i, owed)
        self.pass_turn(i)

    def verify_raise_to(self, to: int) -> None:
        """Raises an IllegalAct that says why the seat to act may not bet or raise to ``to``."""
        i = self._turn("raise")
        name = self.table.names[i]
        mine = self.bet[i] + self.stack[i]
        if to > mine:
            raise NotEnoughChips(f"{name} has {mine} in all and cannot raise to {to}")
        if to <= self.bet_to:
            raise NotARaise(f"{name}: {to} does not go over the bet of {self.bet_to}")
        if self.capped():
            raise RaisesCapped(f"{name}: the street has its bet and {self.table.cap} raises; call or fold")
        if not self.may_raise(i):
            if not self.answerable(i):
                raise RaiseClosed(f"{name} may call or fold: nobody is left to answer")
            raise RaiseClosed(
                f"{name} may call or fold: {self.bet_to - self.seen[i]} more is no full raise of {self.full}"
            )
        low, high = self.raise_range(i)
        if to > high:
            raise TooLarge(f"{name}: {to} is over the largest raise, {high}")
        if to < low and to != mine and to not in (self.complete_to(i), self._completes_half(i)):
            raise TooSmall(f"{name}: {to} is under the smallest raise, {low}, and is not all-in ({mine})")

    def can_raise_to(self, to: int) -> bool:
        """Whether :meth:`verify_raise_to` would pass."""
        try:
            self.verify_raise_to(to)
        except (NotYourTurn, NotEnoughChips, NotARaise, RaiseClosed, TooLarge, TooSmall):
            return False
        return True

    def raise_to(self, to: int) -> None:
        """The seat to act bets, raises or completes to ``to`` in total; below the minimum only all-in."""
        i = self.actor
        if i < 0:
            self._turn("raise")
        mine = self.bet[i] + self.stack[i]
        structure = self.table.structure
        if structure == NO_LIMIT:
            common = self.bet_to + self.full <= to <= mine
        else:
            common = structure == FIXED_LIMIT and to == self.base + self.full and self.bets <= self.table.cap
        # The common legal raise is seen here at once; everything else is verified in words.
        if not (common and to <= mine and (self.seen[i] < 0 or self.heard[i] < self.raises) and self.answerable(i)):
            self.verify_raise_to(to)
        self.set_level(to, to == mine)
        self.owes_bring_in = False
        self.seen[i] = to
        self.heard[i] = self.raises
        self.pay(i, to - self.bet[i])
        self.pass_turn(i)

    def stand_at(self, to: int) -> None:
        """The seat to act has put ``to`` in; it stands although the law would not have allowed it.

        For wrong amounts found after the window for correcting them had closed, and for the floor's decisions.  It
        counts as a bet or raise unless it is a short all-in; the smallest raise does not fall.  Raises NotEnoughChips.
        """
        i = self._turn("bet")
        mine = self.bet[i] + self.stack[i]
        if not self.bet[i] <= to <= mine:
            raise NotEnoughChips(f"{self.table.names[i]} has {mine} in all; {to} cannot stand")
        if to > self.bet_to:
            self.set_level(to, all_in=to == mine)
        self.seen[i] = self.bet_to
        self.heard[i] = self.raises
        self.pay(i, to - self.bet[i])
        self.pass_turn(i)

    def lose_raise(self, seat: str) -> None:
        """Note that the seat has answered the price: it may not raise until somebody else does (also as a penalty)."""
        i = self.table.index[seat]
        self.seen[i] = self.bet_to
        self.heard[i] = self.raises

    def give_turn(self, seat: str) -> None:
        """Let ``seat`` act next (the floor, or substantial action behind a skipped seat, decides so)."""
        self.actor = self.table.index[seat]

    def verify_complete(self) -> int:
        """The total to complete to.  Raises NothingToComplete."""
        i = self._turn("complete")
        to = self.complete_to(i)
        if to is None:
            raise NothingToComplete(
                f"{self.table.names[i]} has no incomplete bet to complete; the bet is {self.bet_to}"
            )
        return to

    def complete(self) -> None:
        """The seat to act completes an incomplete bet (or the bring-in), all-in if it cannot reach it."""
        to = self.verify_complete()
        self.raise_to(min(to, self.bet[self.actor] + self.stack[self.actor]))

    def bring_in(self) -> None:
        """Stud: the low card brings it in for the forced amount; the price stays whole if it is all-in for less."""
        i = self._turn("bring in")
        if not self.owes_bring_in:
            raise NoBringIn(f"{self.table.names[i]} owes no bring-in")
        self.owes_bring_in = False
        self.bet_to = self.table.bring_in
        self.seen[i] = self.bet_to
        self.heard[i] = self.raises
        self.pay(i, self.table.bring_in)
        self.pass_turn(i)

    def _heads_up(self) -> None:
        """Two are left who can bet: if the raises are not used up yet, some rooms lift the cap (RRP 3.4)."""
        if self.table.cap_lift == 3 and not self.capped():
            self.capped_lifted = True

    def pay(self, i: int, amount: int) -> None:
        """Move ``amount``, at most the stack, from seat ``i`` to its line."""
        stack = self.stack[i]
        if amount >= stack:
            amount = stack
            if self.state[i] == IN:
                self.state[i] = ALL_IN
                self.n_in -= 1
                if self.n_in == 2:
                    self._heads_up()
        self.stack[i] = stack - amount
        self.bet[i] += amount
        self.paid[i] += amount
        self.total += amount

    def set_level(self, to: int, all_in: bool) -> None:
        """Raise the price to ``to`` and count it, or not, as a bet or raise."""
        table = self.table
        structure = table.structure
        if structure == FIXED_LIMIT:
            self._limit_level(to)
        else:
            size = to - self.bet_to
            if size >= self.full or (table.raise_step and size >= table.raise_step):
                self.full = size
                self._count(to)
            elif not all_in:
                self._count(to)  # a completion to the whole bet
            elif table.half and 2 * self._over(to) >= (table.unit(self.street) if table.half_of_min else self.full):
                self._count_half(to)
        self.bet_to = to

    def _limit_level(self, to: int) -> None:
        """Fixed limit: whole bets count; an all-in counts by the half-bet rule, else it is there to be completed."""
        table = self.table
        whole = self.base + self.full
        brought = table.bring_in if self.bets == 0 and self.street == 0 else 0
        if to >= whole:
            self._count(to)
        elif table.half and 2 * (self._over(to) - (brought if table.cumulative else 0)) >= (
            table.unit(self.street) if table.half_of_min else self.full - brought
        ):
            self._count_half(to)
        elif not table.completion and not (self.bets == 0 and table.bring_in):
            self.base = to  # full-bet rule: the next raise adds a whole bet on top

    def _over(self, to: int) -> int:
        """What an all-in to ``to`` is measured by: short ones before it add up, where the profile lets them."""
        return to - (self.base if self.table.cumulative else self.bet_to)

    def _count(self, to: int) -> None:
        self.base = to
        self.bets += 1
        self.raises += 1

    def _count_half(self, to: int) -> None:
        """An all-in of at least half is a bet or raise; if they add up, each seat measures whether it reopens."""
        self.base = to
        self.bets += 1
        if not self.table.cumulative:
            self.raises += 1

    def pass_turn(self, i: int) -> None:
        """Pass the turn to the next seat that must act, or end the street."""
        state, seen, bet, level, n = self.state, self.seen, self.bet, self.bet_to, self.table.n
        j = i
        for _ in range(n):
            j += 1
            if j == n:
                j = 0
            if state[j] == IN and (seen[j] < 0 or bet[j] < level):
                if self.n_in == 1 and bet[j] >= self.price(j):
                    break  # nobody is left who could answer
                self.actor = j
                return
        self.actor = -1

    # ---- streets --------------------------------------------------------------------------------------------

    def return_uncalled(self) -> tuple[str, int] | None:
        """Give back the part of the last bet that nobody called; says which seat and how much."""
        due = self.uncalled()
        if due is not None:
            i = self.table.index[due[0]]
            self.bet[i] -= due[1]
            self.paid[i] -= due[1]
            self.stack[i] += due[1]
            self.total -= due[1]
        return due

    def close_street(self) -> tuple[str, int] | None:
        """Return what was not called and sweep the bets into the pot.  Raises StreetNotOver."""
        if self.actor >= 0:
            raise StreetNotOver(f"{self.to_act} must still act on this street")
        due = self.return_uncalled()
        self.bet = [0] * self.table.n
        self.line_chips = {}
        self.swept = True
        return due

    def deal_next_street(self, opener: str | None = None) -> None:
        """Sweep if that is not done, and open the next street.  ``opener`` is who acts first where cards decide."""
        if self.actor < 0 and (self.street >= self.table.rounds - 1 or self.n_live <= 1):
            raise StreetNotOver("the hand is over: there is no further street to bet on")
        if not self.swept:
            self.close_street()
        self.street += 1
        self.swept = False
        self.bet_to = self.base = self.bets = self.raises = self.phantom = 0
        self.full = self.table.unit(self.street)
        self.seen = [-1] * self.table.n
        self.heard = [0] * self.table.n
        self.owes_bring_in = False
        self.capped_lifted = self.lifts_cap()
        first = self.table.first if opener is None else self.table.index[opener]
        self.pass_turn(first - 1)
