"""The table's fixed facts: which antenna is which place, and what each chip is worth."""

from __future__ import annotations

import msgspec


class Place(msgspec.Struct, frozen=True, order=True):
    """A place on the table that an antenna covers: a seat's betting area, the tray, the muck, …"""

    kind: str
    """``"bet"`` (a seat's betting area), ``"stack"``, ``"tray"`` or ``"pot"``."""
    seat: str = ""


class Antenna(msgspec.Struct, frozen=True):
    """One antenna of one reader and the place it covers."""

    device: str
    antenna: int
    place: Place


class Layout(msgspec.Struct, frozen=True):
    """All antennas of the table, and the seats in clockwise order."""

    seats: tuple[str, ...]
    antennas: tuple[Antenna, ...]
    neighbours: tuple[tuple[Place, Place], ...] = ()
    """Places so close that a chip on one may be read at the other."""

    def place_of(self, device: str, antenna: int) -> Place | None:
        """Place of an antenna, None if the table has no such antenna."""
        for a in self.antennas:
            if a.device == device and a.antenna == antenna:
                return a.place
        return None

    def antennas_of(self, place: Place) -> tuple[Antenna, ...]:
        """The antennas that cover a place."""
        return tuple(a for a in self.antennas if a.place == place)

    def beside(self, place: Place) -> tuple[Place, ...]:
        """The neighbours of a place, in the order in which they are listed."""
        return tuple(b if a == place else a for a, b in self.neighbours if place in (a, b))
