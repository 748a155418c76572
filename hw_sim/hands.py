"""Hands as physical events: what people at a table do with chips, in order, and what the law must say of it.

The format is the one of ``shared/hands/hands.jsonl``: one JSON object a line.  A hand is checked whole when
it is loaded: its chips are moved through all its events once, so that a record that cannot be played is
refused with its name, its event and the reason, before any device is started.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec

from hw_sim.world import Counts, total

MAX_SEATS = 10
MAX_LINE = 1 << 20
MAX_HANDS = 100_000

KINDS = frozenset(
    ("post", "push", "gesture", "declare", "change", "change-back", "return", "collect", "board", "show", "draw")
)
GAMES = {
    "NT": "holdem",
    "FT": "holdem",
    "PO": "omaha",
    "FO/8": "omaha-8",
    "F7S": "7stud",
    "F7S/8": "7stud-8",
    "FR": "razz",
    "N2L1D": "2-7-single-draw",
    "F2L3D": "2-7-triple-draw",
}


class HandFormatError(Exception):
    """A hand that cannot be read or cannot be played; the message names hand, event and reason."""


class Event(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One thing that somebody did.  ``chips``, ``gives``, ``takes`` count chips by denomination."""

    i: int
    kind: str
    seat: int = 0
    what: str = ""
    chips: dict[int, int] = {}
    short: bool = False
    motions: int = 1
    gesture: str = ""
    by: str = ""
    verb: str = ""
    to: int | None = None
    gives: dict[int, int] = {}
    takes: dict[int, int] = {}
    amount: int = 0
    pot: int = 0
    cards: str = ""
    discards: int = 0


class Expected(msgspec.Struct, frozen=True, kw_only=True):
    """The ruling that one act must get, and what the player faced.  ``event`` is the event that completes the act."""

    k: int
    street: int
    seat: int
    verb: str
    to: int
    add: int
    to_call: int
    min_to: int | None
    max_to: int | None
    raise_open: bool
    all_in: bool
    event: int
    pot_before: int = 0
    declared: bool = False
    why: str | None = None
    silent: dict[str, int | str] | None = None
    change: int = 0


class Hand(msgspec.Struct, frozen=True, kw_only=True):
    """One hand.  Lists run over seats, seat 1 first; ``blinds`` is the nominal level in PokerKit's order."""

    hand: str
    variant: str
    structure: str
    players: int
    antes: list[int]
    blinds: list[int]
    stacks: list[int]
    chips: list[dict[int, int]]
    events: list[Event]
    expected: list[Expected]
    street_pots: list[int]
    denominations: list[int] = []
    before_award_stacks: list[int] = []
    scale: int = 1
    bring_in: int = 0
    min_bet: int = 0
    small_bet: int = 0
    big_bet: int = 0
    notes: dict[str, int] = {}

    def posted(self, what: str) -> dict[int, int]:
        """Money that each seat posts (``what`` "ante" or "blind"), from the events: they are what happens."""
        out: dict[int, int] = {}
        for e in self.events:
            if e.kind == "post" and e.what == what:
                out[e.seat] = out.get(e.seat, 0) + total(e.chips)
        return out

    def order(self) -> tuple[int, ...]:
        """Seats clockwise, starting left of the button; heads-up the small blind, who has the button, first."""
        if self.players != 2:
            return tuple(range(1, self.players + 1))
        blinds = self.posted("blind")
        return (2, 1) if blinds.get(1, 0) > blinds.get(2, 0) else (1, 2)

    def setup(self) -> dict[str, object]:
        """The hand as the floor announces it: the JSON of a HandSetup."""
        antes, blinds, order = self.posted("ante"), self.posted("blind"), self.order()
        nominal = sorted(b for b in self.blinds if b)
        unit = min((d for c in self.chips for d in c), default=1)
        out: dict[str, object] = {
            "hand_id": self.hand,
            "seats": [
                {"seat": str(n), "stack": self.stacks[n - 1], "ante": antes.get(n, 0), "blind": blinds.get(n, 0)}
                for n in order
            ],
            "game": GAMES.get(self.variant, "holdem"),
            "structure": self.structure,
            "blinds": nominal[:2],
            "chip_unit": min([unit, *self.denominations]),
            "button": str(order[0] if self.players == 2 else order[-1]),
        }
        if len(nominal) > 2:
            out["straddle"] = nominal[2]
        if self.bring_in and self.expected:
            out["opener"] = str(self.expected[0].seat)  # cards decide it, and the floor has seen them
        if self.small_bet or self.big_bet or self.bring_in:
            out["limits"] = {"small_bet": self.small_bet, "big_bet": self.big_bet, "bring_in": self.bring_in}
        return out


def parse_hand(line: bytes | str, where: str) -> Hand:
    """One hand from one JSON line; ``where`` names file and line for the error."""
    try:
        hand = msgspec.json.decode(line, type=Hand)
    except msgspec.MsgspecError as e:
        raise HandFormatError(f"{where}: not a hand: {e}. Mend or remove that line.") from e
    check_hand(hand, where)
    return hand


def load_hands(path: Path, *, only: Iterable[str] = (), structure: str | None = None) -> Iterator[Hand]:
    """Hands of a file, in its order; ``only`` keeps the named ones, ``structure`` one betting structure."""
    wanted = frozenset(only)
    try:
        stream = path.open("rb")
    except OSError as e:
        raise HandFormatError(f"{path}: cannot read the hands ({e.strerror}). Give another --hands-file.") from e
    found: set[str] = set()
    with stream:
        for number, line in enumerate(stream, start=1):
            if number > MAX_HANDS or len(line) > MAX_LINE:
                raise HandFormatError(f"{path}:{number}: more or longer lines than a file of hands may have")
            if not line.strip():
                continue
            hand = parse_hand(line, f"{path}:{number}")
            if (wanted and hand.hand not in wanted) or (structure and hand.structure != structure):
                continue
            found.add(hand.hand)
            yield hand
    if wanted - found:
        raise HandFormatError(f"{path}: no such hand: {', '.join(sorted(wanted - found))}")


def check_hand(hand: Hand, where: str) -> None:
    """Refuse a hand that people could not play: wrong lengths, unknown events, chips that are not there."""

    def refuse(why: str, event: Event | None = None) -> HandFormatError:
        at = f" event {event.i} ({event.kind})" if event is not None else ""
        return HandFormatError(f"{where}: hand {hand.hand}{at}: {why}")

    if not 2 <= hand.players <= MAX_SEATS:
        raise refuse(f"{hand.players} players; a table has 2 to {MAX_SEATS} seats")
    for name in ("antes", "blinds", "stacks", "chips"):
        if len(getattr(hand, name)) != hand.players:
            raise refuse(f"{name} has {len(getattr(hand, name))} entries for {hand.players} players")
    for n, (stack, chips) in enumerate(zip(hand.stacks, hand.chips, strict=True), start=1):
        if total(chips) != stack or any(d <= 0 or c < 0 for d, c in chips.items()):
            raise refuse(f"seat {n} has chips worth {total(chips)} for a stack of {stack}")
    acts = {e.event for e in hand.expected}
    if not acts <= {e.i for e in hand.events}:
        raise refuse("an expected ruling names an event that is not there")
    stacks = [Counter(c) for c in hand.chips]
    bets = [0] * hand.players
    for e in hand.events:
        if e.kind not in KINDS:
            raise refuse("unknown kind of event", e)
        seated = e.kind in ("post", "push", "gesture", "declare", "change", "change-back", "return")
        if seated and not 1 <= e.seat <= hand.players:
            raise refuse(f"no seat {e.seat}", e)
        leaves = e.chips if e.kind in ("post", "push") else e.gives
        if leaves:
            own = stacks[e.seat - 1]
            own.subtract(leaves)
            if any(c < 0 for c in own.values()):
                raise refuse(f"seat {e.seat} has not got those chips", e)
            bets[e.seat - 1] += total(e.chips) if e.kind in ("post", "push") else 0
        arrives = e.chips if e.kind in ("return", "change-back") else e.takes
        if arrives:
            stacks[e.seat - 1].update(arrives)
        if e.kind == "change" and total(e.gives) != total(e.takes):
            raise refuse("change that is not worth what was given", e)
        if e.kind == "return":
            if total(e.chips) > bets[e.seat - 1]:
                raise refuse("more is returned than was bet", e)
            bets[e.seat - 1] -= total(e.chips)
        if e.kind == "collect":
            bets = [0] * hand.players


def chips_needed(hands: Iterable[Hand], float_each: int = 40) -> dict[int, int]:
    """Chips by denomination that one table needs to play all these hands, one after the other.

    Enough for the hand that needs most of each denomination: the stacks, all change that leaves the tray, and
    a float for what the dealer breaks by himself.
    """
    need: dict[int, int] = {}
    for hand in hands:
        use: Counter[int] = Counter()
        for chips in hand.chips:
            use.update(chips)
        for e in hand.events:
            out: Counts = e.chips if e.kind in ("change-back", "return") else e.takes
            use.update(out)
        for d, n in use.items():
            need[d] = max(need.get(d, 0), n)
    return {d: n + float_each for d, n in sorted(need.items())}
