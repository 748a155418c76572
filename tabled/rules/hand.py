"""The betting of one hand as a state machine: integers in, integers out, nothing else.

A :class:`Hand` is mutable and small, so that the law can be tried on a copy.  Amounts named ``to``
are totals of a seat on the street.  Acts are those of the seat whose turn it is; what is not
allowed raises a class of :mod:`tabled.rules.errors` that says the numbers.
"""

from __future__ import annotations

from tabled.model.hand import HandSetup, HandView, Pot, SeatView
from tabled.model.ruling import Faced, Option
from tabled.rules import pots as potlayers
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
from tabled.rules.opening import post_blinds
from tabled.rules.profile import Profile
from tabled.rules.table import FIXED_LIMIT, NO_LIMIT, POT_LIMIT, SPREAD_LIMIT, Table

IN, FOLDED, ALL_IN = range(3)
_STATUS = ("in", "folded", "all_in")

__all__ = ["Hand", "SetupError", "check_setup"]


def check_setup(setup: HandSetup) -> None:
    """Raises SetupError, in one line, if this hand cannot be dealt under any profile."""
    Hand.start(setup, Profile(name="check"))


class Hand:
    """One hand.

    ``stack``, ``bet`` (this street), ``paid`` (all streets) and ``state`` are by seat index.  ``seen`` is the bet
    level a seat last answered on this street, -1 before its first act; ``heard`` the number of counted raises
    then.  ``base`` is the last level that counts as a bet or raise, ``full`` the size of the last full raise,
    ``bets`` how many bets and raises count toward the cap.
    """

    __slots__ = (
        "actor", "base", "bet", "bet_to", "bets", "capped_lifted", "dead", "full", "heard", "line_chips", "n_in",
        "n_live", "owes_bring_in", "paid", "phantom", "raises", "seen", "stack", "state", "street", "swept", "table",
        "total",
    )  # fmt: skip

    def __init__(self, table: Table) -> None:
        n = table.n
        self.table = table
        self.stack = [0] * n
        self.bet = [0] * n
        self.paid = [0] * n
        self.state = [IN] * n
        self.seen = [-1] * n
        self.heard = [0] * n
        self.line_chips: dict[int, tuple[int, ...]] = {}
        self.dead = self.total = self.phantom = 0
        self.street = 0
        self.bet_to = self.base = self.bets = self.raises = 0
        self.full = table.unit(0)
        self.actor = -1
        self.n_in = self.n_live = n
        self.owes_bring_in = False
        self.capped_lifted = False
        self.swept = False

    # ---- making one -------------------------------------------------------------------------------------------

    @classmethod
    def start(cls, setup: HandSetup, profile: Profile) -> Hand:
        """Take antes and blinds and find who acts first.  Raises SetupError."""
        hand = cls(Table(setup, profile))
        post_blinds(hand, setup)
        return hand

    def copy(self) -> Hand:
        """An independent hand in the same state."""
        new = Hand.__new__(Hand)
        new.table = self.table
        new.stack = self.stack[:]
        new.bet = self.bet[:]
        new.paid = self.paid[:]
        new.state = self.state[:]
        new.seen = self.seen[:]
        new.heard = self.heard[:]
        new.line_chips = dict(self.line_chips)
        new.dead, new.total, new.phantom, new.street = self.dead, self.total, self.phantom, self.street
        new.bet_to, new.base, new.bets, new.raises = self.bet_to, self.base, self.bets, self.raises
        new.full, new.actor, new.n_in, new.n_live = self.full, self.actor, self.n_in, self.n_live
        new.owes_bring_in, new.capped_lifted, new.swept = self.owes_bring_in, self.capped_lifted, self.swept
        return new

    def snapshot(self) -> tuple[object, ...]:
        """All of the changing state as one comparable value; equal snapshots are equal hands."""
        return (
            self.table.hand_id, self.street, self.bet_to, self.base, self.full, self.bets, self.raises, self.actor,
            self.dead, self.total, self.phantom, self.owes_bring_in, self.capped_lifted, self.swept,
            tuple(self.stack), tuple(self.bet), tuple(self.paid), tuple(self.state), tuple(self.seen),
            tuple(self.heard), tuple(sorted(self.line_chips.items())),
        )  # fmt: skip

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Hand) and self.snapshot() == other.snapshot()

    __hash__ = None  # type: ignore[assignment]  # it changes; compare snapshots

    # ---- looking --------------------------------------------------------------------------------------------

    @property
    def to_act(self) -> str | None:
        """The seat whose turn it is; None when the street's betting is over."""
        return self.table.names[self.actor] if self.actor >= 0 else None

    @property
    def street_over(self) -> bool:
        """No seat has to act on this street any more."""
        return self.actor < 0

    @property
    def over(self) -> bool:
        """No seat can bet any more in this hand."""
        if self.n_live <= 1:
            return True
        return self.actor < 0 and (self.n_in <= 1 or self.street >= self.table.rounds - 1)

    @property
    def pot_total(self) -> int:
        """All chips that are in: pots, dead money and the bets of this street."""
        return self.total

    @property
    def seats(self) -> tuple[str, ...]:
        """Seat names in clockwise order."""
        return self.table.names

    def bet_of(self, seat: str) -> int:
        """The seat's counted bet on this street."""
        return self.bet[self.table.index[seat]]

    def stack_of(self, seat: str) -> int:
        """Chips behind."""
        return self.stack[self.table.index[seat]]

    def status_of(self, seat: str) -> str:
        """``"in"``, ``"folded"`` or ``"all_in"``."""
        return _STATUS[self.state[self.table.index[seat]]]

    def set_line_chips(self, seat: str, chips: tuple[int, ...]) -> None:
        """Tell which physical chips lie on the seat's line; they may be worth more than its counted bet."""
        self.line_chips[self.table.index[seat]] = chips

    def price(self, i: int) -> int:
        """The total that seat ``i`` must reach to call.  With nobody else left to bet, no more than it can lose."""
        if self.n_in == 1 and self.state[i] == IN:
            others = max((b for j, b in enumerate(self.bet) if j != i and self.state[j] != FOLDED), default=0)
            return min(self.bet_to, others)
        return self.bet_to

    def reopened(self, i: int) -> bool:
        """Whether seat ``i`` has not acted, or a raise that counts has come since it did (alone or added up)."""
        seen = self.seen[i]
        if seen < 0 or self.heard[i] < self.raises:
            return True
        table = self.table
        if not table.cumulative:
            return False
        need = self.full
        if table.half:
            return 2 * (self.bet_to - seen) >= (table.unit(self.street) if table.half_of_min else need) > 0
        return self.bet_to - seen >= need > 0

    def capped(self) -> bool:
        """Fixed limit: the raises of this street are used up."""
        table = self.table
        return table.structure == FIXED_LIMIT and self.bets > table.cap and not self.capped_lifted

    def may_raise(self, i: int) -> bool:
        """Whether seat ``i``, were it its turn, might raise (or bet, or complete)."""
        return (
            self.state[i] == IN
            and self.bet[i] + self.stack[i] > self.bet_to
            and self.answerable(i)
            and not self.capped()
            and self.reopened(i)
        )

    def answerable(self, i: int) -> bool:
        """Whether another seat could put in more than the price; against all-in or shorter seats nobody may raise."""
        level = self.bet_to
        bet, stack, state = self.bet, self.stack, self.state
        for j in range(self.table.n):  # noqa: SIM110 - a generator costs half as much again, and every raise asks
            if j != i and state[j] == IN and bet[j] + stack[j] > level:
                return True
        return False

    def raise_range(self, i: int) -> tuple[int, int]:
        """Smallest and largest legal total of a bet, raise or completion by seat ``i``.

        The smallest is not cut by the stack (an all-in below it is legal); the largest is, except at fixed limit,
        where both are the one amount that the limit names.
        """
        table = self.table
        structure = table.structure
        if structure == FIXED_LIMIT:
            to = self.base + self.full
            return to, to
        low = self.bet_to + (table.raise_step if table.raise_step and self.bet_to else self.full)
        mine = self.bet[i] + self.stack[i]
        if structure == NO_LIMIT:
            return low, mine
        if structure == POT_LIMIT:
            pot = self.bet_to + table.rounded(self.total + self.phantom + self.bet_to - self.bet[i])
            return low, min(max(pot, low), mine)
        return low, min(self.bet_to + table.spread_max, mine)

    def complete_to(self, i: int) -> int | None:
        """The total to which seat ``i`` may complete an incomplete all-in or a bring-in; None if there is none."""
        table = self.table
        if table.structure not in (FIXED_LIMIT, SPREAD_LIMIT) or not self.may_raise(i):
            return None
        if self.base < self.bet_to and (table.completion or (self.bets == 0 and table.bring_in)):
            return self.base + self.full
        return None

    def min_raise_to(self) -> int:
        """The smallest legal raise, bet or completion of the next seat."""
        return self.raise_range(max(self.actor, 0))[0]

    def faced(self, seat: str) -> Faced:
        """What the seat faces now."""
        i = self.table.index[seat]
        mine = self.bet[i] + self.stack[i]
        owed = min(self.price(i), mine) - self.bet[i]
        if not self.may_raise(i):
            return Faced(max(owed, 0), 0, 0, False)
        low, high = self.raise_range(i)
        return Faced(max(owed, 0), low, high, True)

    def option(self, seat: str) -> Option:
        """What the seat may do when it is its turn.  A no-limit raise has no largest total but the stack."""
        i = self.table.index[seat]
        price = self.price(i)
        owes = price > self.bet[i]
        call_to = min(price, self.bet[i] + self.stack[i]) if owes else None
        low = high = None
        complete = self.complete_to(i)
        if self.may_raise(i) and (complete is None or self.table.structure == SPREAD_LIMIT):
            low, top = self.raise_range(i)
            high = None if self.table.structure == NO_LIMIT else top
        return Option(seat, not owes, True, call_to, low, high, complete or self._completes_half(i))

    def _completes_half(self, i: int) -> int | None:
        """Rooms that also let an all-in of half or more be completed to the whole bet (never the last word)."""
        table = self.table
        if not table.complete_at_half or table.structure != FIXED_LIMIT or self.base != self.bet_to:
            return None
        whole = -(-self.bet_to // self.full) * self.full
        return whole if self.bet_to < whole < self.base + self.full and self.may_raise(i) else None

    def pots(self) -> tuple[Pot, ...]:
        """Main pot and side pots over all chips that are in, each with the seats that can win it."""
        return potlayers.layers(self)

    def uncalled(self) -> tuple[str, int] | None:
        """The part of the highest bet that nobody called, once no seat has to act: seat and amount to return."""
        if self.actor >= 0 or self.swept:
            return None
        return potlayers.uncalled(self)

    def view(self) -> HandView:
        """A frozen picture of where the hand stands."""
        names = self.table.names
        seats = tuple(
            SeatView(names[i], self.stack[i], self.bet[i], _STATUS[self.state[i]], self.may_raise(i))  # type: ignore[arg-type]
            for i in range(self.table.n)
        )
        structure = ("no-limit", "pot-limit", "fixed-limit", "spread-limit")[self.table.structure]
        return HandView(
            self.table.hand_id, structure, self.street, self.bet_to, self.min_raise_to(), self.to_act, seats,  # type: ignore[arg-type]
            self.pots(), self.street_over, self.over,
        )  # fmt: skip

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
        self._next(i)

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
        self._next(i)

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
        self._pay(i, owed)
        self._next(i)

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
            last = self.bet_to - max(self.seen[i], 0)
            raise RaiseClosed(
                f"{name} may call or fold: "
                + (f"{last} more is no full raise of {self.full}" if self.answerable(i) else "nobody is left to answer")
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
        self._level(to, to == mine)
        self.owes_bring_in = False
        self.seen[i] = to
        self.heard[i] = self.raises
        self._pay(i, to - self.bet[i])
        self._next(i)

    def stand_at(self, to: int) -> None:
        """The seat to act has put ``to`` in; it stands although the law would not have allowed it.

        For wrong amounts that were found after the window for correcting them had closed.  Raises NotEnoughChips.
        """
        i = self._turn("bet")
        mine = self.bet[i] + self.stack[i]
        if not self.bet[i] <= to <= mine:
            raise NotEnoughChips(f"{self.table.names[i]} has {mine} in all; {to} cannot stand")
        if to > self.bet_to:
            self._level(to, all_in=to == mine)
        self.seen[i] = self.bet_to
        self.heard[i] = self.raises
        self._pay(i, to - self.bet[i])
        self._next(i)

    def lose_raise(self, seat: str) -> None:
        """Take from the seat its right to raise until somebody else raises (a penalty for acting out of turn)."""
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
        self._pay(i, self.table.bring_in)
        self._next(i)

    def _pay(self, i: int, amount: int) -> None:
        """Move ``amount``, at most the stack, from seat ``i`` to its line."""
        stack = self.stack[i]
        if amount >= stack:
            amount = stack
            if self.state[i] == IN:
                self.state[i] = ALL_IN
                self.n_in -= 1
        self.stack[i] = stack - amount
        self.bet[i] += amount
        self.paid[i] += amount
        self.total += amount

    def _level(self, to: int, all_in: bool) -> None:
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
            elif table.half and 2 * (to - self.base) >= (table.unit(self.street) if table.half_of_min else self.full):
                self._count(to)
            elif not all_in:
                self._count(to)  # a completion to the whole bet
        self.bet_to = to

    def _limit_level(self, to: int) -> None:
        """Fixed limit: whole bets count; an all-in counts by the half-bet rule, else it is there to be completed."""
        table = self.table
        whole = self.base + self.full
        since = self.bet_to if self.bets == 0 and table.bring_in and self.street == 0 else self.base
        unit = table.small_bet if table.half_of_min else whole - since
        if to >= whole or (table.half and 2 * (to - since) >= unit):
            self._count(to)
        elif not table.completion and not (self.bets == 0 and table.bring_in):
            self.base = to  # full-bet rule: the next raise adds a whole bet on top

    def _count(self, to: int) -> None:
        self.base = to
        self.bets += 1
        self.raises += 1

    def _next(self, i: int) -> None:
        """Pass the turn to the next seat that must act, or end the street."""
        if self.n_live > 1 and self.n_in:
            state, seen, bet, level, n = self.state, self.seen, self.bet, self.bet_to, self.table.n
            j = i
            for _ in range(n):
                j += 1
                if j == n:
                    j = 0
                if state[j] == IN and (seen[j] < 0 or bet[j] < level):
                    if self.n_in == 1 and bet[j] >= self.price(j):
                        break
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
        self.actor = -1
        if self.n_in > 1:
            self._next(first - 1)

    def lifts_cap(self) -> bool:
        """Whether the profile lifts the cap on a street that begins as this one does."""
        lift = self.table.cap_lift
        return (lift == 1 and self.n_live == 2) or (lift == 2 and self.table.two_dealt)
