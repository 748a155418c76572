"""What a dealer has keyed in so far on a panel that composes presses from keys: digits, seat, mark.

Shared by the numeric keypad and the Stream Deck.  Whatever could turn into another number than the dealer
meant is thrown away whole: an entry that is too long, that was left alone, or that meets a key which takes no
amount.  After that the next verb key is refused once, so that the rest of a broken entry cannot act by itself.
"""

from __future__ import annotations

import msgspec

from firmware_bridge.wire import KEYS

NEEDS_AMOUNT = frozenset(("raise_to", "raise_by", "number"))
TAKES_AMOUNT = NEEDS_AMOUNT | {"bet", "raise"}
MAX_DIGITS = 12
MAX_SEAT = 10
MS = 1_000_000


class Act(msgspec.Struct, frozen=True):
    """One composed press, as in `firmware_bridge.wire.Press`."""

    key: str
    seat: int = 0
    amount: int = 0
    said_first: bool = False


class Entry:
    """The entry under way.  ``idle_ns`` without a key and it is thrown away."""

    def __init__(self, idle_ns: int) -> None:
        self._idle_ns = idle_ns
        self._until_ns: int | None = None
        self.digits = ""
        self.seat = 0
        self.said_first = False
        self.broken = False
        """An entry was thrown away and its next verb key must not act."""
        self.refused = 0
        """Keys and entries that came to nothing."""

    @property
    def empty(self) -> bool:
        """Nothing is keyed in."""
        return not (self.digits or self.seat or self.said_first)

    @property
    def until_ns(self) -> int | None:
        """When the entry is thrown away if no key comes."""
        return self._until_ns

    def expire(self, now_ns: int) -> bool:
        """Throws away an entry that was left alone.  True if it did."""
        if self._until_ns is None or now_ns < self._until_ns:
            return False
        self.spoil()
        return True

    def touch(self, now_ns: int) -> None:
        """A key was used."""
        self._until_ns = None if self.empty else now_ns + self._idle_ns

    def clear(self) -> None:
        """The dealer starts anew."""
        self.digits, self.seat, self.said_first, self.broken = "", 0, False, False
        self._until_ns = None

    def spoil(self) -> None:
        """What was keyed in cannot be trusted: thrown away, counted, and its next verb key is refused."""
        self.refused += 1
        self.clear()
        self.broken = True

    def add(self, digits: str) -> None:
        """More digits of an amount or a seat number; they begin a new entry after a broken one."""
        self.broken = False
        if len(self.digits) + len(digits) > MAX_DIGITS:
            self.spoil()
        else:
            self.digits += digits

    def pick_seat(self, seat: int | None = None) -> None:
        """The next press is of ``seat``, by default the number keyed in."""
        number = int(self.digits or 0) if seat is None else seat
        if not 1 <= number <= MAX_SEAT:
            self.spoil()
            return
        self.seat, self.broken = number, False
        if seat is None:
            self.digits = ""

    def mark_said_first(self) -> None:
        """The player spoke before any chip moved; a second time takes it back."""
        self.said_first, self.broken = not self.said_first, False

    def act(self, key: str) -> Act | None:
        """The press of a verb key, which ends the entry; None if it is refused."""
        if self.broken:
            self.broken = False
            self.refused += 1
            return None
        amount = int(self.digits or 0)
        if (self.digits and key not in TAKES_AMOUNT) or (amount == 0 and (self.digits or key in NEEDS_AMOUNT)):
            self.spoil()
            # The verb itself was this entry's last key.
            self.broken = False
            return None
        act = Act(key, self.seat, amount, self.said_first)
        self.clear()
        return act


def known_verb(name: str) -> bool:
    """True for the key names of the panel protocol."""
    return name in KEYS
