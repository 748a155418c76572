"""Every hand of a few chips, played out in full: the engine against a second definition of legality."""

from __future__ import annotations

import itertools
import random

import pytest

from tabled.rules.errors import IllegalAct
from tabled.rules.hand import FOLDED, Hand
from tests.rules.deal import deal
from tests.rules.oracle import Naive, pots_by_chip
from tests.rules.table import profile

FULL = profile("dutch-full-bet")
HALF = profile("dutch-half-bet")
KEPT = {"cap_heads_up": "kept"}


def naive_of(hand: Hand, stacks: list[int], blinds: tuple[int, int], **kw) -> Naive:
    n = len(stacks)
    small, big = (1, 0) if n == 2 else (0, 1)
    forced = [0] * n
    forced[small], forced[big] = min(blinds[0], stacks[small]), min(blinds[1], stacks[big])
    first = (big + 1) % n
    return Naive(list(stacks), forced, price=blinds[1], smallest=blinds[1], first=first, **kw)


def compare(hand: Hand, naive: Naive) -> None:
    """Everything that the engine says of the seat to act, against the second definition."""
    turn = naive.turn()
    trail = naive.happened
    assert hand.to_act == (None if turn is None else str(turn + 1)), trail
    for seat in range(len(naive.chips)):
        assert hand.bet[seat] == naive.total(seat), trail
    if turn is None:
        return
    may = naive.raises(turn)
    top = max(naive.chips) + 2
    assert {t for t in range(1, top + naive.unit) if hand.can_raise_to(t)} == may, (trail, naive.chips)
    faced = hand.faced(str(turn + 1))
    assert faced.raise_open == bool(may), trail
    owes = naive.owes(turn)
    assert faced.to_call == (min(naive.need(turn), naive.chips[turn]) - naive.total(turn) if owes else 0), trail
    for verify, allowed in ((hand.verify_check, not owes), (hand.verify_call, owes)):
        try:
            verify()
        except IllegalAct:
            assert not allowed, trail
        else:
            assert allowed, trail


def walk(hand: Hand, naive: Naive, budget: list[int]) -> None:
    """Depth first over every legal act."""
    compare(hand, naive)
    budget[0] += 1
    turn = naive.turn()
    if turn is None:
        live = [s for s in range(len(naive.chips)) if hand.state[s] != FOLDED]
        got = [(p.amount, tuple(int(s) - 1 for s in p.seats)) for p in hand.pots()]
        assert got == pots_by_chip(hand.paid, live, hand.dead)
        return
    for kind, total in naive.acts(turn):
        after = hand.copy()
        {"fold": after.fold, "check": after.check, "call": after.call}.get(
            kind, lambda h=after, t=total: h.raise_to(t)
        )()
        naive.happened.append((turn, kind, total))
        walk(after, naive, budget)
        naive.happened.pop()


@pytest.mark.parametrize("law", [FULL, HALF], ids=["full", "half"])
@pytest.mark.parametrize("seats", [2, 3])
def test_no_limit_every_line_of_tiny_stacks(law, seats):
    budget = [0]
    chips = (1, 2, 3, 4, 5, 7, 9) if seats == 2 else (1, 3, 5, 6)
    for stacks in itertools.product(chips, repeat=seats):
        hand = deal(list(stacks), (1, 2), law)
        walk(hand, naive_of(hand, list(stacks), (1, 2), rule="half" if law is HALF else "full"), budget)
    assert budget[0] > 300


@pytest.mark.parametrize("law", [FULL, HALF], ids=["full", "half"])
@pytest.mark.parametrize("seats", [2, 3])
def test_fixed_limit_every_line_of_tiny_stacks(law, seats):
    budget = [0]
    kept = law.with_values(**KEPT)
    chips = (1, 3, 4, 5, 6, 9, 13, 30) if seats == 2 else (3, 5, 6, 11, 30)
    for stacks in itertools.product(chips, repeat=seats):
        hand = deal(
            list(stacks), (2, 4), kept, structure="fixed-limit",
            limits={"small_bet": 4, "big_bet": 8, "raises_cap": 2},
        )  # fmt: skip
        naive = naive_of(
            hand, list(stacks), (2, 4), rule="half" if law is HALF else "full", unit=4, cap=2, completes=law is HALF
        )
        walk(hand, naive, budget)
    assert budget[0] > 300


@pytest.mark.parametrize("law", [FULL, HALF], ids=["full", "half"])
@pytest.mark.parametrize("seats", [2, 3])
def test_spread_limit_every_line_of_tiny_stacks(law, seats):
    """2 to 3, blinds 1 and 2: the smallest and the largest raise, short all-ins, and in half-bet games completions."""
    budget = [0]
    chips = (1, 2, 3, 4, 5, 7, 9, 11) if seats == 2 else (1, 3, 5, 6, 8)
    half = law is HALF
    for stacks in itertools.product(chips, repeat=seats):
        hand = deal(list(stacks), (1, 2), law, structure="spread-limit", limits={"min": 2, "max": 3})
        naive = naive_of(hand, list(stacks), (1, 2), rule="half" if half else "full", spread=3, completes=half)
        walk(hand, naive, budget)
    assert budget[0] > 300


def test_three_streets_by_chance_from_the_second_street_on():
    """Later streets: no blinds, the first seat left of the button opens; played by a seeded player."""
    rng = random.Random(20240)
    nodes = 0
    for _ in range(400):
        n = rng.choice((2, 3, 3, 4))
        stacks = [rng.randint(2, 30) for _ in range(n)]
        hand = deal(stacks, (1, 2), rng.choice((FULL, HALF)))
        half = hand.table.half
        naive = naive_of(hand, stacks, (1, 2), rule="half" if half else "full")
        while True:
            compare(hand, naive)
            nodes += 1
            turn = naive.turn()
            if turn is None:
                if hand.over:
                    break
                hand.deal_next_street()
                chips = [hand.stack[s] for s in range(n)]
                out = {s for s in range(n) if hand.state[s] == FOLDED or hand.stack[s] == 0}
                first = hand.table.first
                naive = Naive(chips, [0] * n, 0, 2, first, rule="half" if half else "full", out=out)
                if len(naive.live()) < 2:
                    break
                continue
            kind, total = rng.choice([a for a in naive.acts(turn) if a[0] != "fold" or rng.random() < 0.3])
            {"fold": hand.fold, "check": hand.check, "call": hand.call}.get(
                kind, lambda t=total, h=hand: h.raise_to(t)
            )()
            naive.happened.append((turn, kind, total))
    assert nodes > 2000


@pytest.mark.parametrize("limit", [False, True])
@pytest.mark.parametrize("law", [FULL, HALF], ids=["full", "half"])
def test_four_to_six_seats_by_chance_with_many_short_all_ins(law, limit):
    """Short all-ins in a row: of two seats behind the same one, one may be free to raise and the other not."""
    rng = random.Random(6)
    told_apart = 0
    half = law is HALF
    for _ in range(400):
        n = rng.randint(4, 6)
        stacks = [rng.choice((4, 5, 6, 7, 8, 9, 10, 11, 13, 40, 60)) for _ in range(n)]
        kw = {"structure": "fixed-limit", "limits": {"small_bet": 4, "big_bet": 8, "raises_cap": 3}} if limit else {}
        hand = deal(stacks, (2, 4), law.with_values(**KEPT), **kw)
        naive = naive_of(hand, stacks, (2, 4), rule="half" if half else "full",
                         **({"unit": 4, "cap": 3, "completes": half} if limit else {}))  # fmt: skip
        while True:
            compare(hand, naive)
            turn = naive.turn()
            if turn is None:
                break
            acted = [s for s in naive.able() if naive.answered(s) is not None and naive.owes(s)]
            told_apart += len({naive.free(s) for s in acted}) > 1
            kind, total = rng.choice([a for a in naive.acts(turn) if a[0] != "fold" or rng.random() < 0.2])
            {"fold": hand.fold, "check": hand.check, "call": hand.call}.get(
                kind, lambda h=hand, t=total: h.raise_to(t)
            )()
            naive.happened.append((turn, kind, total))
    assert told_apart > (5 if half else 1)
