"""Betting actions a second, beside PokerKit, in one run.

    python -m tests.bench.bench_rules [SECONDS]

Replays the betting of the played hands (``../shared/hands``, or ``$TABLED_SHARED/hands``) through ``tabled.rules.hand``
and through PokerKit, each act verified before it is applied, and prints the ratio.  Without those hands it plays
hands of its own making.  Both sides replay the same acts of the same hands; those that PokerKit cannot play by its
structure are left out on both sides.
"""

from __future__ import annotations

import json
import random
import sys
import time
from collections.abc import Callable
from typing import Any, NamedTuple

try:
    import pytest  # noqa: F401 - what finds the played hands needs it
    from pokerkit import Automation, FixedLimitTexasHoldem, NoLimitTexasHoldem, PotLimitOmahaHoldem, State
except ModuleNotFoundError as missing:
    sys.exit(f"{missing.name} is not installed: run `make dev`, which installs what tests and measurements need")

from tabled.model.hand import HandSetup, Limits, SeatSetup
from tabled.rules.hand import Hand
from tabled.rules.profile import Profile
from tabled.shell.judge_hands import hand_setup, judge_hand
from tabled.shell.judge_records import read_hand
from tabled.shell.profiles import load
from tests.rules.shared import find

FOLD, CHECK, CALL, RAISE, BRING_IN, STREET = range(6)


class Script(NamedTuple):
    """One hand: its set-up and its acts as (code, amount or opener)."""

    setup: HandSetup
    acts: list[tuple[int, int | str | None]]
    variant: str
    blinds: list[int]
    antes: list[int]


def scripts(profile: Profile) -> list[Script]:
    """All played hands as bare betting acts."""
    file = find("hands/hands.jsonl")
    if file is None:
        return [_made(seed) for seed in range(40)]
    return [_script(json.loads(line), profile) for line in file.open()]


def _script(record: dict[str, Any], profile: Profile) -> Script:
    got = judge_hand(record, profile)
    acts: list[tuple[int, int | str | None]] = []
    street = 0
    codes = {"fold": FOLD, "check": CHECK, "call": CALL, "bet": RAISE, "raise": RAISE, "bring-in": BRING_IN}
    stud = bool(record["bring_in"])
    for ruling in got["rulings"]:
        while street < ruling["street"]:
            street += 1
            acts.append((STREET, str(ruling["seat"]) if stud else None))
        acts.append((codes[ruling["verb"]], ruling["to"]))
    setup = hand_setup(read_hand(record))
    return Script(setup, acts, record["variant"], record["blinds"], record["antes"])


def _made(seed: int) -> Script:
    """A hand by chance, for when the played ones are absent."""
    rng = random.Random(seed)
    n = rng.randint(2, 9)
    seats = tuple(
        SeatSetup(str(i + 1), 10_000, 0, (50, 100)[i] if i < 2 and n > 2 else (100, 50)[i] if i < 2 else 0)
        for i in range(n)
    )
    setup = HandSetup(hand_id=str(seed), seats=seats, blinds=(50, 100), button=str(n), limits=Limits())
    hand = Hand.start(setup, load("tda-2024"))
    acts: list[tuple[int, int | str | None]] = []
    while not hand.over:
        if hand.street_over:
            hand.deal_next_street()
            acts.append((STREET, None))
            continue
        faced = hand.faced(hand.to_act or "")
        if faced.raise_open and rng.random() < 0.2 and faced.min_to <= faced.max_to:
            acts.append((RAISE, faced.min_to))
            hand.raise_to(faced.min_to)
        elif faced.to_call and rng.random() < 0.4:
            acts.append((FOLD, None))
            hand.fold()
        else:
            acts.append((CALL if faced.to_call else CHECK, None))
            hand.call() if faced.to_call else hand.check()
    return Script(setup, acts, "NT", [0] * n, [0] * n)


def play_tabled(script: Script, profile: Profile) -> int:
    """One hand through the betting machine; returns the number of betting acts."""
    hand = Hand.start(script.setup, profile)
    for code, to in script.acts:
        if code == FOLD:
            hand.fold()
        elif code == CALL:
            hand.call()
        elif code == CHECK:
            hand.check()
        elif code == RAISE:
            hand.raise_to(to)  # type: ignore[arg-type]  # None never raises
        elif code == STREET:
            hand.deal_next_street(to)  # type: ignore[arg-type]  # a seat here
        else:
            hand.bring_in()
    return sum(1 for code, _ in script.acts if code != STREET)


_AUTO = (
    Automation.ANTE_POSTING, Automation.BET_COLLECTION, Automation.BLIND_OR_STRADDLE_POSTING, Automation.CARD_BURNING,
    Automation.HOLE_DEALING, Automation.BOARD_DEALING, Automation.HOLE_CARDS_SHOWING_OR_MUCKING,
    Automation.HAND_KILLING, Automation.CHIPS_PUSHING, Automation.CHIPS_PULLING,
)  # fmt: skip


def pokerkit_state(script: Script) -> State | None:
    """The hand's start in PokerKit; None for games whose structure it plays otherwise, or that need cards."""
    s, n = script.setup, len(script.setup.seats)
    stacks = tuple(x.stack for x in s.seats)
    antes = tuple(x.ante for x in s.seats)
    # PokerKit names blinds by position and turns them round heads-up; the records name them by seat.
    blinds = tuple(x.blind for x in s.seats)
    if n == 2:
        blinds = blinds[::-1]
    if any(x.stack < x.blind + x.ante for x in s.seats):
        return None
    if script.variant == "NT":
        return NoLimitTexasHoldem.create_state(_AUTO, False, antes, blinds, s.blinds[1], stacks, n)
    if script.variant == "PO":
        return PotLimitOmahaHoldem.create_state(_AUTO, False, antes, blinds, s.blinds[1], stacks, n)
    if script.variant == "FT":
        small, big = s.limits.small_bet, s.limits.big_bet
        return FixedLimitTexasHoldem.create_state(_AUTO, False, antes, blinds, small, big, stacks, n)
    return None


def play_pokerkit(script: Script) -> int:
    """The same hand through PokerKit; returns the number of betting acts, 0 if it is left out."""
    state = pokerkit_state(script)
    if state is None:
        return 0
    for code, to in script.acts:
        if code == FOLD:
            state.fold()
        elif code in (CALL, CHECK):
            state.check_or_call()
        elif code == RAISE:
            state.complete_bet_or_raise_to(to)  # type: ignore[arg-type]  # None never raises
    return sum(1 for code, _ in script.acts if code != STREET)


def rate(play: Callable[[], int], seconds: float) -> float:
    """Acts a second of this process's own processor time, over at least ``seconds`` of it (others may be running)."""
    acts, start = 0, time.process_time()
    while True:
        acts += play()
        spent = time.process_time() - start
        if spent >= seconds:
            return acts / spent


def main(seconds: float = 2.0) -> tuple[float, float]:
    """Measure and print both; returns the two rates."""
    profile = load("tda-2024")
    everything = scripts(profile)
    shared = [s for s in everything if pokerkit_state(s) is not None]
    all_rate = rate(lambda: sum(play_tabled(s, profile) for s in everything), seconds)
    ours = rate(lambda: sum(play_tabled(s, profile) for s in shared), seconds)
    theirs = rate(lambda: sum(play_pokerkit(s) for s in shared), seconds)
    print(f"tabled.rules, all {len(everything)} hands:           {all_rate:10,.0f} betting acts/s")
    print(f"tabled.rules, the {len(shared)} hands PokerKit plays: {ours:10,.0f} betting acts/s")
    print(f"PokerKit 0.7.7, the same {len(shared)} hands:         {theirs:10,.0f} betting acts/s")
    print(f"ratio: {ours / theirs:.1f}")
    return all_rate, theirs


if __name__ == "__main__":
    main(float(sys.argv[1]) if len(sys.argv) > 1 else 2.0)
