"""Legality of betting, defined a second time: slowly, from the list of what happened, sharing nothing with the engine.

A street is a list of ``(seat, kind, total)``.  Everything is found by reading that list from the start.
"""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass
class Naive:
    """One street of a table of a few seats.

    ``chips`` are what each seat had when the street began, before forced bets; ``forced`` the blinds it posted.
    ``rule`` is ``"full"`` or ``"half"``; ``unit`` is set at fixed limit, with ``cap`` raises; ``spread`` at spread
    limit is the largest bet or raise.  ``completes``: a short all-in that does not count may be made whole.
    """

    chips: list[int]
    forced: list[int]
    price: int
    smallest: int
    first: int
    rule: str = "full"
    unit: int = 0
    cap: int = 99
    spread: int = 0
    completes: bool = False
    out: set[int] = field(default_factory=set)
    happened: list[tuple[int, str, int]] = field(default_factory=list)

    # -- what lies where

    def total(self, seat: int) -> int:
        """Chips of the seat on this street."""
        mine = [t for s, _, t in self.happened if s == seat]
        return mine[-1] if mine else self.forced[seat]

    def folded(self, seat: int) -> bool:
        return seat in self.out or any(s == seat and k == "fold" for s, k, _ in self.happened)

    def broke(self, seat: int) -> bool:
        return self.total(seat) == self.chips[seat]

    def live(self) -> list[int]:
        return [s for s in range(len(self.chips)) if not self.folded(s)]

    def able(self) -> list[int]:
        return [s for s in self.live() if not self.broke(s)]

    # -- levels, read off the list

    def levels(self) -> list[int]:
        """The price after each thing that happened, the opening price first."""
        seen = [self.price]
        for _, kind, total in self.happened:
            seen.append(max(seen[-1], total) if kind == "raise" else seen[-1])
        return seen

    def level(self) -> int:
        return self.levels()[-1]

    def full(self) -> int:
        """No-limit: the largest raise so far that was itself full."""
        if self.unit:
            return self.unit
        size, at = self.smallest, self.price
        for _, kind, total in self.happened:
            if kind == "raise":
                if total - at >= size:
                    size = total - at
                at = max(at, total)
        return size

    def counted(self) -> tuple[int, int]:
        """Fixed limit: the last level that counts, and how many bets and raises do (a blind is a bet)."""
        base, bets = self.price, 1 if self.price else 0
        for _, kind, total in self.happened:
            if kind != "raise":
                continue
            whole = base + self.unit
            if total >= whole or (self.rule == "half" and 2 * (total - base) >= self.unit):
                base, bets = total, bets + 1
            elif not self.completes:
                base = total
        return base, bets

    def answered(self, seat: int) -> int | None:
        """The level when the seat last acted; None before."""
        levels = self.levels()
        at = [levels[n + 1] for n, (s, _, _) in enumerate(self.happened) if s == seat]
        return at[-1] if at else None

    # -- turn

    def owes(self, seat: int) -> bool:
        return self.total(seat) < self.need(seat)

    def need(self, seat: int) -> int:
        """The price of the seat; alone against all-in seats it can lose no more than they have in."""
        if self.able() == [seat]:
            return min(self.level(), max((self.total(o) for o in self.live() if o != seat), default=0))
        return self.level()

    def turn(self) -> int | None:
        """Whose turn it is: the next seat that owes something or has not spoken."""
        if len(self.live()) < 2:
            return None
        n = len(self.chips)
        start = self.happened[-1][0] + 1 if self.happened else self.first
        for step in range(n):
            seat = (start + step) % n
            if seat not in self.able():
                continue
            silent = self.answered(seat) is None
            behind = self.total(seat) < self.level()
            if not (silent or behind):
                continue
            if self.able() == [seat] and not self.owes(seat):
                return None
            return seat
        return None

    # -- rights

    def free(self, seat: int) -> bool:
        """Whether the seat may raise at all."""
        level = self.level()
        if not any(o != seat and self.chips[o] > level for o in self.able()):
            return False
        if self.unit and self.counted()[1] > self.cap:
            return False
        last = self.answered(seat)
        if last is None:
            return True
        more = level - last
        return more >= self.full() if self.rule == "full" else 2 * more >= self.full()

    def raises(self, seat: int) -> set[int]:
        """All totals to which the seat may bet or raise."""
        level, mine = self.level(), self.chips[seat]
        if mine <= level or not self.free(seat):
            return set()
        if self.unit:
            whole = self.counted()[0] + self.unit
            return {min(whole, mine)} if min(whole, mine) > level else set()
        fine = {t for t in range(level + 1, mine + 1) if t - level >= self.full()} | {mine}
        if not self.spread:
            return fine
        whole = self.spread_base() + self.full()
        if self.completes and self.spread_base() < level < whole <= mine:
            fine.add(whole)
        return {t for t in fine if t - level <= self.spread}

    def spread_base(self) -> int:
        """Spread limit: the last level that counts: a full raise, half of one all-in, or a completion."""
        base, at, size = self.price, self.price, self.smallest
        for seat, kind, total in self.happened:
            if kind != "raise":
                continue
            all_in = total == self.chips[seat]
            if total - at >= size:
                base, size = total, total - at
            elif not all_in or (self.rule == "half" and 2 * (total - base) >= size):
                base = total
            at = max(at, total)
        return base

    def acts(self, seat: int) -> list[tuple[str, int]]:
        """Everything that the seat may do: kind and its total after it."""
        now, need = self.total(seat), self.need(seat)
        out: list[tuple[str, int]] = [("fold", now)]
        out.append(("call", min(need, self.chips[seat])) if need > now else ("check", now))
        return out + [("raise", t) for t in sorted(self.raises(seat))]


def pots_by_chip(paid: list[int], live: list[int], dead: int = 0) -> list[tuple[int, tuple[int, ...]]]:
    """Pots found chip by chip: the n-th chip of every seat lies with the seats that are live and paid n chips.

    Chips above what any live seat paid, and dead money, go to the last and the first pot.
    """
    out: list[tuple[int, tuple[int, ...]]] = []
    loose = dead
    for n in range(1, max(paid) + 1):
        amount = sum(1 for p in paid if p >= n)
        who = tuple(s for s in live if paid[s] >= n)
        if not who:
            if out:
                out[-1] = (out[-1][0] + amount, out[-1][1])
            else:
                loose += amount
        elif out and out[-1][1] == who:
            out[-1] = (out[-1][0] + amount, who)
        else:
            out.append((amount + loose, who))
            loose = 0
    return out
