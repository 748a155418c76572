"""What can be asked of a hand without changing it: turn, price, rights, ranges, pots."""

from __future__ import annotations

from tabled.model.hand import HandView, Pot, SeatView
from tabled.model.ruling import Faced, Option
from tabled.rules import pots as potlayers
from tabled.rules.state import FOLDED, IN, STATUS, State
from tabled.rules.table import FIXED_LIMIT, NO_LIMIT, POT_LIMIT, SPREAD_LIMIT, STRUCTURES


class Facing(State):
    """A hand that can be looked at.  Seats are given by index where the name ``i`` is used, else by name."""

    __slots__ = ()

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
        return STATUS[self.state[self.table.index[seat]]]

    def price(self, i: int) -> int:
        """The total that seat ``i`` must reach to call.  With nobody else left to bet, no more than it can lose."""
        if self.n_in == 1 and self.state[i] == IN:
            others = max((b for j, b in enumerate(self.bet) if j != i and self.state[j] != FOLDED), default=0)
            return min(self.bet_to, others)
        return self.bet_to

    def has_acted(self, i: int) -> bool:
        """Whether seat ``i`` has acted on this street.  A blind, an ante or a straddle is no act."""
        return self.seen[i] >= 0

    def reopened(self, i: int) -> bool:
        """Whether seat ``i`` has not acted, has heard a whole raise since it did, or faces enough of one.

        All-ins that are no whole raise are measured from what the seat itself answered: of two seats behind the same
        all-in one may be free and the other not.
        """
        seen = self.seen[i]
        if seen < 0 or self.heard[i] < self.raises:
            return True
        table = self.table
        if not table.cumulative:
            return False
        if table.half:
            return 2 * (self.bet_to - seen) >= self.due(seen)
        return self.bet_to - seen >= self.full

    def due(self, seen: int) -> int:
        """The raise of which half reopens the betting for a seat that has answered ``seen``."""
        table = self.table
        if table.half_of_min:
            return table.unit(self.street)
        if table.structure == FIXED_LIMIT and self.street == 0 and seen < self.full:
            return self.full - table.bring_in  # over the bring-in, the whole raise is the completion
        return self.full

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

        The smallest is not cut by the stack (an all-in below it is legal); the largest is.
        """
        table = self.table
        structure = table.structure
        low = self.min_raise_to()
        mine = self.bet[i] + self.stack[i]
        if structure == NO_LIMIT:
            return low, mine
        if structure == POT_LIMIT:
            pot = self.bet_to + table.rounded(self.total + self.phantom + self.bet_to - self.bet[i])
            return low, min(max(pot, low), mine)
        return low, min(low if structure == FIXED_LIMIT else self.bet_to + table.spread_max, mine)

    def complete_to(self, i: int) -> int | None:
        """The total to which seat ``i`` may complete an incomplete all-in or a bring-in; None if there is none."""
        table = self.table
        if table.structure not in (FIXED_LIMIT, SPREAD_LIMIT) or not self.may_raise(i):
            return None
        whole = self.base + self.full
        if self.base < self.bet_to < whole and (table.completion or (self.bets == 0 and table.bring_in)):
            return whole
        return None

    def min_raise_to(self) -> int:
        """The smallest legal bet, raise or completion, for every seat; at fixed limit the only one."""
        table = self.table
        if table.structure == FIXED_LIMIT:
            return self.base + self.full
        low = self.bet_to + (table.raise_step if table.raise_step and self.bet_to else self.full)
        if table.structure == SPREAD_LIMIT:
            return min(low, self.bet_to + table.spread_max)  # the floor may have let an amount over the spread stand
        return low

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
        return whole if self.bet_to < whole and self.may_raise(i) else None

    def pots(self) -> tuple[Pot, ...]:
        """Main pot and side pots over all chips that are in, each with the seats that can win it."""
        return potlayers.layers(self)

    def uncalled(self) -> tuple[str, int] | None:
        """The part of the highest bet that nobody called, once no seat has to act: seat and amount to return."""
        if self.actor >= 0:
            return None
        return potlayers.uncalled(self)

    def view(self) -> HandView:
        """A frozen picture of where the hand stands."""
        names = self.table.names
        seats = tuple(
            SeatView(names[i], self.stack[i], self.bet[i], STATUS[self.state[i]], self.may_raise(i))  # type: ignore[arg-type]  # a tuple of the literals
            for i in range(self.table.n)
        )
        structure = STRUCTURES[self.table.structure]
        return HandView(
            self.table.hand_id, structure, self.street, self.bet_to, self.min_raise_to(), self.to_act, seats,  # type: ignore[arg-type]  # as above
            self.pots(), self.street_over, self.over,
        )  # fmt: skip

    def lifts_cap(self) -> bool:
        """Whether the profile lifts the cap on a street that begins as this one does."""
        lift = self.table.cap_lift
        if lift == 3:
            return self.n_in <= 2
        return (lift == 1 and self.n_live == 2) or (lift == 2 and self.table.two_dealt)
