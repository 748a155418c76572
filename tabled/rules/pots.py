"""Main pot, side pots, uncalled bets and odd chips."""

from __future__ import annotations

from collections.abc import Sequence

from tabled.model.hand import Pot
from tabled.rules.state import FOLDED, State


def layers(hand: State) -> tuple[Pot, ...]:
    """Split all chips that are in into pots.

    A new layer begins where a live seat could not pay more.  Dead money lies in the main pot.  Chips above
    what any live seat paid (a folded seat's, or of seats ruled dead) stay in the pot below, so none vanish.
    """
    paid, state, names = hand.paid, hand.state, hand.table.names
    live = [i for i in range(len(paid)) if state[i] != FOLDED]
    levels = sorted({paid[i] for i in live})
    pots: list[tuple[int, tuple[str, ...]]] = []
    amount, below = hand.dead, 0
    for level in levels:
        amount += sum(min(p, level) - min(p, below) for p in paid)
        below = level
        seats = tuple(names[i] for i in live if paid[i] >= level)
        if amount:
            pots.append((amount, seats))
        amount = 0
    rest = sum(p - min(p, below) for p in paid) + amount
    if rest and pots:
        pots[-1] = (pots[-1][0] + rest, pots[-1][1])
    elif rest:
        pots.append((rest, tuple(names[i] for i in live)))
    return tuple(Pot(a, s) for a, s in pots)


def uncalled(hand: State) -> tuple[str, int] | None:
    """The seat whose bet stands above every other bet of the street, and by how much; None if none does."""
    bet = hand.bet
    top = max(bet)
    i = bet.index(top)
    second = max(b for j, b in enumerate(bet) if j != i)
    if top == second or hand.state[i] == FOLDED:
        return None
    return hand.table.names[i], top - second


def share(amount: int, winners: Sequence[str], first: Sequence[str], unit: int = 1) -> dict[str, int]:
    """Divide one pot among tied ``winners`` in chips of ``unit``; odd chips go one each, in the order of ``first``.

    ``first`` lists the seats from the left of the button.  What cannot be paid in whole units goes with the
    first odd chip.
    """
    if not winners:
        raise ValueError("a pot needs at least one winner")
    each = amount // unit // len(winners) * unit
    shares = dict.fromkeys(winners, each)
    left = amount - each * len(winners)
    for seat in (s for s in first if s in shares):
        chip = min(unit, left)
        shares[seat] += chip
        left -= chip
    return shares
