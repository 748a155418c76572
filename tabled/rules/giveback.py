"""Which chips go back: whole ones where they make the sum, else the dealer breaks one."""

from __future__ import annotations

from collections.abc import Sequence

from tabled.model.ruling import Change

MAX_STEPS = 5000


def give_back(chips: Sequence[int], amount: int) -> tuple[tuple[int, ...], Change | None]:
    """Chips out of ``chips`` to return for ``amount``, and the change still to be made out of one of the others.

    Prefers an exact sum of whole chips, large ones first.  Otherwise it returns the whole chips that fit and
    breaks the smallest remaining chip that covers the rest.  The change is None if the chips made the sum, or
    if no chip can cover the rest (then the dealer counts it down from the line).
    """
    if amount < 1:
        return (), None
    values = sorted(chips, reverse=True)
    exact = _exact(values, amount)
    if exact is not None:
        return exact, None
    back: list[int] = []
    kept: list[int] = []
    left = amount
    for value in values:
        if value <= left:
            back.append(value)
            left -= value
        else:
            kept.append(value)
    if not left:
        return tuple(back), None
    return tuple(back), Change(left, min(kept)) if kept else None  # each was over what was left


def _exact(values: list[int], amount: int) -> tuple[int, ...] | None:
    """Whole chips (largest first) that sum to ``amount``; None if there are none or the search grows too long."""
    n = len(values)
    rest = [0] * (n + 1)
    for i in range(n - 1, -1, -1):
        rest[i] = rest[i + 1] + values[i]
    stack: list[tuple[int, int, tuple[int, ...]]] = [(0, amount, ())]
    for _ in range(MAX_STEPS):
        if not stack:
            return None
        i, left, taken = stack.pop()
        if left == 0:
            return taken
        if rest[i] < left:
            continue
        after = i + 1
        while after < n and values[after] == values[i]:
            after += 1
        stack.append((after, left, taken))  # none, or no more, of this value
        if values[i] <= left:
            stack.append((i + 1, left - values[i], (*taken, values[i])))
    return None
