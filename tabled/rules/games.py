"""Which betting rounds a game has, and from which one the big bet is used."""

from __future__ import annotations

import msgspec

from tabled.rules.errors import SetupError


class Game(msgspec.Struct, frozen=True):
    """``rounds`` betting rounds; the big bet from round ``big_from`` on; ``bring_in`` opens by cards (stud)."""

    rounds: int
    big_from: int
    bring_in: bool = False


BOARD = Game(rounds=4, big_from=2)
TRIPLE_DRAW = Game(rounds=4, big_from=2)
SINGLE_DRAW = Game(rounds=2, big_from=1)
STUD = Game(rounds=5, big_from=2, bring_in=True)

GAMES = {
    "holdem": BOARD,
    "omaha": BOARD,
    "omaha8": BOARD,
    "omaha-8": BOARD,
    "swedish-draw": SINGLE_DRAW,
    "single-draw": SINGLE_DRAW,
    "5draw": SINGLE_DRAW,
    "2-7-single-draw": SINGLE_DRAW,
    "triple-draw": TRIPLE_DRAW,
    "2-7-triple-draw": TRIPLE_DRAW,
    "badugi": TRIPLE_DRAW,
    "7stud": STUD,
    "7stud8": STUD,
    "7stud-8": STUD,
    "razz": STUD,
    # The codes of the public hand-history format (PHH).
    "NT": BOARD,
    "NS": BOARD,
    "FT": BOARD,
    "PO": BOARD,
    "NO": BOARD,
    "FO": BOARD,
    "FO/8": BOARD,
    "PO/8": BOARD,
    "N2L1D": SINGLE_DRAW,
    "P2L1D": SINGLE_DRAW,
    "F2L3D": TRIPLE_DRAW,
    "FB": TRIPLE_DRAW,
    "F7S": STUD,
    "F7S/8": STUD,
    "FR": STUD,
}

STREET_NAMES = {
    "preflop": 0, "flop": 1, "turn": 2, "river": 3,
    "before_draw": 0, "after_draw": 1, "first_draw": 1, "second_draw": 2, "third_draw": 3,
    "third": 0, "fourth": 1, "fifth": 2, "sixth": 3, "seventh": 4,
}  # fmt: skip


def game_of(name: str) -> Game:
    """The game's rounds.  Raises SetupError for a game that is not known: its streets and bets would be guessed."""
    game = GAMES.get(name)
    if game is None:
        raise SetupError(f"game {name[:40]!r} is not known; games are {', '.join(GAMES)}")
    return game
