"""Where the betting of a hand stands: integers and lists, nothing else."""

from __future__ import annotations

from typing import Self

from tabled.rules.table import Table

IN, FOLDED, ALL_IN = range(3)
STATUS = ("in", "folded", "all_in")


class State:
    """The changing state of one hand.

    ``stack``, ``bet`` (this street), ``paid`` (all streets) and ``state`` are by seat index.  ``seen`` is the bet
    level a seat last answered on this street, -1 before its first act; ``heard`` the number of whole raises
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

    def copy(self) -> Self:
        """An independent hand in the same state."""
        new = type(self).__new__(type(self))
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
        return isinstance(other, State) and self.snapshot() == other.snapshot()

    __hash__ = None  # type: ignore[assignment]  # it changes; compare snapshots
