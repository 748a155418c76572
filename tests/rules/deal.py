"""Hands for tests: seats ``"1"``…``"n"`` in order, the button last (heads-up: seat 2 has it and the small blind)."""

from __future__ import annotations

from typing import Any

from tabled.model.hand import HandSetup, Limits, SeatSetup
from tabled.rules.hand import Hand
from tabled.rules.profile import Profile
from tests.rules.table import load


def deal(
    stacks: list[int],
    blinds: tuple[int, ...] = (50, 100),
    law: str | Profile = "tda-2024",
    antes: int | list[int] = 0,
    limits: dict[str, int] | None = None,
    **kw: Any,
) -> Hand:
    """A hand just dealt.  Blinds are posted by seats 1 and 2, heads-up by 2 and 1."""
    n = len(stacks)
    post = [0] * n
    if blinds:
        small, big = (1, 0) if n == 2 else (0, 1)
        post[small], post[big] = blinds[0], blinds[1]
    each = antes if isinstance(antes, list) else [antes] * n
    setup = HandSetup(
        hand_id="test",
        seats=tuple(SeatSetup(str(i + 1), s, each[i], post[i]) for i, s in enumerate(stacks)),
        blinds=blinds,
        button=str(n),
        limits=Limits(**(limits or {})),
        **kw,
    )
    return Hand.start(setup, load(law) if isinstance(law, str) else law)


def play(hand: Hand, *acts: str) -> Hand:
    """Apply acts: ``"3 raise 16"``, ``"4 call"``, ``"1 check"``, ``"2 fold"``, ``"1 bring-in"``, ``"street"``, …"""
    for text in acts:
        if text.startswith("street"):
            hand.deal_next_street(*text.split()[1:])
            continue
        seat, verb, *amount = text.split()
        assert hand.to_act == seat, f"{text}: it is {hand.to_act}'s turn"
        if verb in ("raise", "bet"):
            hand.raise_to(int(amount[0]))
        else:
            getattr(hand, verb.replace("-", "_"))()
    return hand


def pots(hand: Hand) -> list[tuple[int, tuple[str, ...]]]:
    """Pots as plain pairs."""
    return [(p.amount, p.seats) for p in hand.pots()]
