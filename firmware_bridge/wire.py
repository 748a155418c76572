"""What crosses the bridge: bytes, frames and observations, as frozen integers.

Everything here is plain data.  A driver turns bytes into observations; the daemon journals
observations and nothing below them, so these types are also the journal's input vocabulary:
change one only together with an upcast.

Times are host monotonic nanoseconds and always spans: a polled reader can only say "between my
question and its answer", a panel's tick maps to host time with an error that the clock keeps.
"""

from __future__ import annotations

from typing import NewType

import msgspec

DeviceId = NewType("DeviceId", str)
"""Name of a device in the table's configuration, e.g. ``"reader-a"``.  Not a port name: ports move."""

BootId = NewType("BootId", int)
"""Random 32-bit number that a device draws at each start.  (boot, seq) names one act for ever."""


class TimeSpan(msgspec.Struct, frozen=True, order=True):
    """Closed interval of host monotonic time, in nanoseconds."""

    earliest_ns: int
    latest_ns: int

    def __post_init__(self) -> None:
        if self.earliest_ns > self.latest_ns:
            raise ValueError(f"a time span ends before it begins: {self.earliest_ns} > {self.latest_ns}")

    def before(self, other: TimeSpan) -> bool:
        """True when every instant of this span lies before every instant of ``other``."""
        return self.latest_ns < other.earliest_ns

    def overlaps(self, other: TimeSpan) -> bool:
        """True when neither span is before the other: the order of the two is unknown."""
        return not self.before(other) and not other.before(self)

    def joined(self, other: TimeSpan) -> TimeSpan:
        """Smallest span that holds both."""
        return TimeSpan(min(self.earliest_ns, other.earliest_ns), max(self.latest_ns, other.latest_ns))

    def shifted(self, earliest_ns: int, latest_ns: int) -> TimeSpan:
        """This span moved by an unknown amount between the two offsets (``earliest_ns <= latest_ns``)."""
        return TimeSpan(self.earliest_ns + earliest_ns, self.latest_ns + latest_ns)


class RawBytes(msgspec.Struct, frozen=True):
    """Bytes as a port delivered them, with the host time at which they were read."""

    device: DeviceId
    data: bytes
    read_ns: int


class Tag(msgspec.Struct, frozen=True, order=True):
    """One transponder's answer in an inventory.

    ``uid`` is upper-case hexadecimal, most significant byte first (ISO 15693: 16 digits).
    ``rssi`` is the reader's own figure where it gives one; its unit differs by model.
    """

    uid: str
    rssi: int | None = None


class Observation(msgspec.Struct, frozen=True, tag_field="o"):
    """Base of all that a driver may report.  ``span`` is when it was true."""

    device: DeviceId
    span: TimeSpan


class Present(Observation, frozen=True, tag="present"):
    """Tags that answered in one inventory of one antenna, sorted by UID, without repeats.

    ``complete`` is False when the reader said that it may have missed some (FEIG status 83, 84, 93
    or 94, a MORE chain that broke off): then the absence of another tag proves nothing.

    ``quiet`` names tags that had been told to stay quiet before this look and did not answer: nothing is
    known of them, so ``complete`` is False, but every tag that is neither in ``tags`` nor in ``quiet`` was
    absent.  Sorted; empty for a look at everything and for one that may have missed some.
    """

    antenna: int
    tags: tuple[Tag, ...]
    complete: bool = True
    quiet: tuple[str, ...] = ()


class CleanEmpty(Observation, frozen=True, tag="empty"):
    """The reader finished an inventory and no tag answered (FEIG status 01, and only that)."""

    antenna: int


class Corrupt(Observation, frozen=True, tag="corrupt"):
    """An inventory that says nothing: bad checksum, RF error, no reply.  Never the same as empty."""

    antenna: int
    reason: str


class Press(Observation, frozen=True, tag="press"):
    """One key press at the dealer's panel; (device, boot, seq) names it however often it is resent.

    ``key`` is one of `KEYS`.  ``seat`` is 0 when the dealer did not pick one (the seat to act is meant).
    ``amount`` is in the table's smallest chip, 0 for none.  ``said_first`` is the dealer's own word that
    the player spoke before any chip moved.
    """

    boot: BootId
    seq: int
    key: str
    seat: int = 0
    amount: int = 0
    said_first: bool = False


class DeviceUp(Observation, frozen=True, tag="up"):
    """A device answered its hello: what it is, and which boot of it."""

    model: str
    firmware: str
    boot: BootId


class DeviceLost(Observation, frozen=True, tag="lost"):
    """A device stopped answering or its port went away.  ``advice`` says what the technician does next."""

    reason: str
    advice: str


class Restarted(Observation, frozen=True, tag="restarted"):
    """A device came back by itself with a new boot; what it had not delivered before is in doubt."""

    boot: BootId


AnyObservation = Present | CleanEmpty | Corrupt | Press | DeviceUp | DeviceLost | Restarted

KEYS: tuple[str, ...] = (
    "fold",
    "check",
    "call",
    "bet",
    "raise",
    "raise_to",
    "raise_by",
    "all_in",
    "number",
    "pot",
    "complete",
    "hand_withdraws",
    "next_street",
    "new_hand",
    "undo",
    "floor",
    "key_a",
    "key_b",
)
"""Key names of the dealer's panel; a key's wire code is its index here plus one (see PROTOCOL.md).

``key_a`` and ``key_b`` answer the question that is on the screen.
"""

MAX_TAGS_PER_INVENTORY = 256
"""More answers than this in one inventory is a fault of the reader, not a stack of chips."""
