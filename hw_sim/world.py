"""The truth: which chip lies where, and who moved it when.

Sensors are told nothing of this module's log and may only ask `World.at` what lies on one place now.
A chip is always in exactly one place; a chip in somebody's fingers is in the place ``("air", owner)``.
Places are ordered bottom to top, since a buried chip answers a reader worse than one on top.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from random import Random
from typing import NamedTuple

import msgspec

Counts = Mapping[int, int]
"""Number of chips by denomination."""


class Spot(NamedTuple):
    """A place: ``kind`` is "stack", "bet", "pot", "tray", "felt" (past the line, over no antenna) or "air"; ``who`` is
    a seat, or "" for the table's own."""

    kind: str
    who: str = ""

    def __str__(self) -> str:
        return f"{self.kind}:{self.who}" if self.who else self.kind


TRAY = Spot("tray")
POT = Spot("pot")


class Chip(msgspec.Struct, frozen=True, order=True):
    """One physical chip.  ``uid`` is 16 upper-case hexadecimal digits, most significant byte first.

    ``mark`` tells apart chips that share one UID, which no reader can; 0 for all others.
    """

    uid: str
    denomination: int
    mark: int = 0

    @property
    def name(self) -> str:
        """The chip in the truth log: its UID, with the mark of a clone behind it."""
        return f"{self.uid}#{self.mark}" if self.mark else self.uid


Watcher = Callable[[tuple[Chip, ...], Spot, Spot], None]
"""Told of each move: chips, source, target."""


class NoSuchChipsError(Exception):
    """Somebody tried to take chips that are not there: the hand's record and its chips disagree."""


class World:
    """All chips and their places.  ``sink`` receives each line of the truth log, without its newline."""

    def __init__(self, chips: Iterable[Chip], sink: Callable[[str], None] | None = None) -> None:
        self.chips = tuple(sorted(chips))
        if len({(c.uid, c.mark) for c in self.chips}) != len(self.chips):
            raise ValueError("two chips of one world have the same UID: draw them again")
        self._places: dict[Spot, list[Chip]] = {TRAY: list(self.chips)}
        self._sink = sink
        self._watchers: list[Watcher] = []
        self.moves = 0

    def watch(self, watcher: Watcher) -> None:
        """Call ``watcher`` after each move (antennas feel a chip leave; nobody else may listen here)."""
        self._watchers.append(watcher)

    def at(self, spot: Spot) -> tuple[Chip, ...]:
        """Chips on one place, bottom first."""
        return tuple(self._places.get(spot, ()))

    def value(self, spot: Spot) -> int:
        """Money on one place, in smallest chips."""
        return sum(c.denomination for c in self._places.get(spot, ()))

    def spots(self) -> tuple[Spot, ...]:
        """All places that hold a chip, in a fixed order."""
        return tuple(sorted(s for s, chips in self._places.items() if chips))

    def pick(self, spot: Spot, counts: Counts) -> tuple[Chip, ...]:
        """Choose chips from the top of a place without moving them; raises if they are not there."""
        wanted = {d: n for d, n in counts.items() if n > 0}
        chosen: list[Chip] = []
        for chip in reversed(self._places.get(spot, [])):
            if wanted.get(chip.denomination, 0) > 0:
                wanted[chip.denomination] -= 1
                chosen.append(chip)
        missing = {d: n for d, n in wanted.items() if n}
        if missing:
            raise NoSuchChipsError(f"{spot} lacks chips {missing}: check the hand's chips against its events")
        return tuple(chosen)

    def has(self, spot: Spot, counts: Counts) -> bool:
        """True when `pick` would succeed."""
        try:
            self.pick(spot, counts)
        except NoSuchChipsError:
            return False
        return True

    def move(self, chips: Iterable[Chip], source: Spot, target: Spot, now_ns: int, why: str) -> None:
        """Move chips; they land on top of ``target`` in the order given.  Conservation is asserted."""
        moved = tuple(chips)
        if not moved:
            return
        origin = self._places.get(source, [])
        before = len(origin) + len(self._places.get(target, ()))
        gone = set(moved)
        if len(gone) != len(moved) or not gone <= set(origin):
            raise NoSuchChipsError(f"not all of {[c.name for c in moved]} lie on {source}")
        origin[:] = [c for c in origin if c not in gone]
        self._places.setdefault(target, []).extend(moved)
        assert len(origin) + len(self._places[target]) == before, "a move lost or made a chip"
        self.moves += 1
        self.note(now_ns, "move", why=why, source=str(source), target=str(target), chips=[c.name for c in moved])
        for watcher in self._watchers:
            watcher(moved, source, target)

    def note(self, now_ns: int, what: str, **facts: object) -> None:
        """Write one line of truth: something that happened, with its time."""
        if self._sink is not None:
            self._sink(json.dumps({"ns": now_ns, "what": what, **facts}, separators=(",", ":")))

    def check(self) -> None:
        """Assert that every chip is in exactly one place and that none came from nowhere."""
        found = sorted(c for chips in self._places.values() for c in chips)
        assert tuple(found) == self.chips, "chips are not conserved"


def make_chips(counts: Counts, rng: Random) -> tuple[Chip, ...]:
    """Chips with NXP ICODE serial numbers (E0 04 01 50 …, as the ones in the published frames), drawn by ``rng``."""
    total = sum(counts.values())
    serials = rng.sample(range(1 << 32), total)
    uids = (f"E0040150{s:08X}" for s in serials)
    return tuple(Chip(next(uids), d) for d in sorted(counts) for _ in range(counts[d]))


def with_clones(chips: tuple[Chip, ...], count: int, rng: Random) -> tuple[Chip, ...]:
    """The same chips, ``count`` of them carrying another one's UID (of the same denomination: a copied tag)."""
    out = list(chips)
    by_worth: dict[int, list[int]] = {}
    for i, chip in enumerate(out):
        by_worth.setdefault(chip.denomination, []).append(i)
    for n in range(1, count + 1):
        pool = rng.choice([p for _, p in sorted(by_worth.items()) if len(p) > 2 * count])
        copy, original = (pool.pop(rng.randrange(len(pool))) for _ in range(2))
        out[copy] = Chip(out[original].uid, out[copy].denomination, n)
    return tuple(out)


def total(counts: Counts) -> int:
    """Value of chips counted by denomination."""
    return sum(d * n for d, n in counts.items())
