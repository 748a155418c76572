"""Set-ups and gestures by chance, sensible and not, from one seeded generator: quick, and repeated by its seed."""

from __future__ import annotations

import random
from collections.abc import Callable

from tabled.model import acts as a
from tabled.model.hand import HandSetup, Limits, SeatSetup

STRUCTURES = ("no-limit", "pot-limit", "fixed-limit", "spread-limit")
GAMES = ("holdem", "omaha", "swedish-draw", "7stud", "badugi")
CHIPS = (1, 5, 25, 100, 500, 1000)
WORDS = ("fold", "check", "call", "call", "bet", "raise", "raise", "all_in", "number", "pot", "complete", "other")
SMALL = (0, 0, 1, 2, 5, 10, 25, 40, 50, 100, 300)


def set_up(rng: random.Random) -> HandSetup:
    """A set-up of any structure, with amounts as they should be or not; about half of them can be dealt."""
    n = rng.randint(2, 6)
    structure = rng.choice(STRUCTURES)
    game = rng.choice(GAMES)
    sane = rng.random() < 0.7
    blinds = tuple(rng.choice(SMALL) for _ in range(rng.choice((0, 1, 2, 2, 2, 3))))
    if sane:
        blinds = () if game == "7stud" and rng.random() < 0.8 else tuple(sorted(blinds[:2]))
    posts = [blinds[i] if i < min(len(blinds), 2) else 0 for i in range(n)]
    if rng.random() < 0.3:
        posts = [rng.choice((0, 0, *blinds, rng.choice(SMALL))) for _ in range(n)]
    return HandSetup(
        hand_id="h",
        seats=tuple(
            SeatSetup(
                str(i), rng.choice((rng.randint(1, 60), rng.randint(1, 3000))), rng.choice((0, 0, 0, 5, 30)), posts[i],
                rng.choice((0, 0, 0, 25)),
            )
            for i in range(n)
        ),
        game=game,
        structure=structure,  # type: ignore[arg-type]  # one of the literals
        blinds=blinds,
        straddle=rng.choice((None, None, None, 2 * max(blinds, default=1) if sane else rng.choice(SMALL))),
        limits=_limits(rng, max((*blinds, *posts), default=0), sane),
        chip_unit=rng.choice((1, 1, 1, 5, 25)),
        opener=rng.choice(("0", "1") if game == "7stud" else (None, "0", "1")),
        button=rng.choice((None, str(n - 1), "0")),
    )  # fmt: skip


def _limits(rng: random.Random, blind: int, sane: bool) -> Limits:
    small, low, big = _money(rng), _money(rng), _money(rng)
    bring_in = rng.choice((0, 0, 5, 25, 60))
    if sane:
        small = max(small, blind, bring_in + 1)
        low = max(low, 1)
        big = max(2 * small, 2 * low, 3 * blind)
    return Limits(small_bet=small, big_bet=big, raises_cap=rng.randint(0, 4), min=low, max=big, bring_in=bring_in)


def _money(rng: random.Random) -> int:
    return rng.choice((*SMALL, rng.randint(0, 500)))


def gesture(rng: random.Random, seat: str) -> list[a.AnyAct]:
    """Anything that a seat might do, sensible or not."""
    return [_act(rng, seat) for _ in range(rng.choice((1, 1, 2, 3, 6)))]


def _chips(rng: random.Random) -> tuple[int, ...]:
    return tuple(rng.choice(CHIPS) for _ in range(rng.choice((1, 1, 2, 3, 6))))


def _act(rng: random.Random, seat: str) -> a.AnyAct:
    some = _chips(rng)
    kinds: tuple[Callable[[], a.AnyAct], ...] = (
        lambda: a.Place(seat, some, _rare(rng), _rare(rng), _rare(rng)),
        lambda: a.PushForward(seat, some, rng.random() < 0.3, rng.random() < 0.7),
        lambda: _say(rng, seat),
        lambda: rng.choice(
            (
                a.StageNearStack(seat, some), a.HoldOverLine(seat, some), a.HandReturnsToStack(seat),
                a.HandWithdraws(seat), a.PullBack(seat, some), a.TapTable(seat), a.CardsForward(seat),
                a.AskChange(seat), a.DealerGivesChange(seat), a.Claims(seat, "no"),
            )
        ),
    )  # fmt: skip
    return rng.choice(kinds)()


def _rare(rng: random.Random) -> bool:
    return rng.random() < 0.1


def _say(rng: random.Random, seat: str) -> a.Say:
    return a.Say(
        seat, rng.choice(WORDS), rng.choice((None, None, rng.choice(CHIPS), rng.randint(0, 4000))),  # type: ignore[arg-type]  # one of the literals
        rng.choice(("by", "to", "unstated")), rng.choice(("before", "before", "simultaneous", "after")),  # type: ignore[arg-type]  # as above
        rng.choice(("", "passar", "if you bet I raise", "hm")), _rare(rng),
    )  # fmt: skip
