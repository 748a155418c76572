"""What a reader that is asked is made of: its options, its questions, and what their silence means."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import Enum, auto
from typing import Generic, Protocol, TypeVar

import msgspec

from firmware_bridge.wire import MAX_TAGS_PER_INVENTORY, AnyObservation

MS = 1_000_000
LOSS_MS = 900
"""A reader that dies must be told within a second; what is left is for a busy host."""
LIFE_MS = 100
"""A reader that waits for its next question is asked for a sign of life so often."""
LATEST_ANSWER_NS = 2000 * MS
"""An answer that did not come for so long will not come."""

FrameT = TypeVar("FrameT")
OptionsT = TypeVar("OptionsT", bound="PolledOptions")
FrameT_co = TypeVar("FrameT_co", covariant=True)
Found = list[AnyObservation]
Command = tuple[int, bytes] | str
"""A question as the protocol names it: command and data, or a line of text."""


class PolledDecoder(Protocol[FrameT_co]):
    """What a session needs of a decoder (see `framing.decoder.Decoder`), which it can also empty."""

    @property
    def frames(self) -> int:
        """Frames delivered."""

    @property
    def garbage(self) -> int:
        """Bytes given up."""

    @property
    def pending(self) -> int:
        """Bytes held back because they may be the start of a frame."""

    def feed(self, data: bytes) -> Sequence[FrameT_co]:
        """Takes bytes as they came; returns the frames that are now complete, oldest first."""

    def gap(self) -> Sequence[FrameT_co]:
        """The line has been silent for longer than the protocol allows inside a frame."""

    def clear(self) -> None:
        """Gives up what is pending, counted."""


class PolledOptions(Protocol):
    """What the options of every asked reader hold; times in milliseconds."""

    def problem(self, byte_ns: int = 0) -> str | None:
        """What is wrong with these options on a line of ``byte_ns`` a byte, None if nothing."""

    @property
    def antennas(self) -> tuple[int, ...]:
        """Antenna numbers, in the order of the looks (in a table's configuration: the ``antennas`` of the device)."""

    @property
    def inventory_timeout_ms(self) -> int:
        """How long an inventory may take; 1 to 800."""

    @property
    def reply_timeout_ms(self) -> int:
        """How long any other answer may take; 1 to 800."""

    @property
    def gap_ms(self) -> int:
        """Silence after which a frame's head is given up; 1 to 10000."""

    @property
    def lost_after_ms(self) -> int:
        """Silence that is a loss, together with ``silent_limit``; 1 to 900."""

    @property
    def silent_limit(self) -> int:
        """Questions in a row without an answer that are a loss, together with ``lost_after_ms``; 1 to 100."""

    @property
    def min_sweep_ms(self) -> int:
        """A pass over all antennas lasts at least so long; 0 to 10000."""

    @property
    def presence_ms(self) -> int:
        """Where new chips are looked for alone, everything is looked at so often; 0 to 60000."""

    @property
    def new_chips(self) -> int:
        """Most chips that land between two looks, for the stated bound to hold; 0 to 256."""

    @property
    def chips_per_antenna(self) -> int:
        """Most chips on one antenna, for the stated bound to hold; 0 to 256."""


def common_problem(options: PolledOptions, antennas: int) -> str | None:
    """What is wrong with the options that all asked readers have, of one with so many ``antennas``; None if nothing."""
    mine = options.antennas
    if not mine or len(set(mine)) != len(mine):
        return "'antennas' must name at least one antenna and none twice"
    if not all(1 <= a <= antennas for a in mine):
        return f"'antennas' must be between 1 and {antennas}"
    if not 1 <= options.gap_ms <= 10_000 or not 0 <= options.min_sweep_ms <= 10_000:
        return "times must be between 1 and 10000 ms"
    times = (options.inventory_timeout_ms, options.reply_timeout_ms, options.lost_after_ms)
    if not all(1 <= t <= LOSS_MS - LIFE_MS for t in times[:2]) or not 1 <= times[2] <= LOSS_MS:
        return f"times of answers must be between 1 and {LOSS_MS - LIFE_MS} ms, 'lost_after_ms' up to {LOSS_MS}"
    most = MAX_TAGS_PER_INVENTORY
    if not 0 <= options.chips_per_antenna <= most or not 0 <= options.new_chips <= most:
        return f"'chips_per_antenna' and 'new_chips' must be 0 to {most}"
    if not 1 <= options.silent_limit <= 100 or not 0 <= options.presence_ms <= 60_000:
        return "'silent_limit' must be 1 to 100, 'presence_ms' 0 to 60000"
    return None


def loss_problem(options: PolledOptions, longest_ms: int, rest_ms: int = LIFE_MS) -> str | None:
    """Why a reader that dies would be told too late, None if it would not.

    ``longest_ms``: the longest time-out of a question; ``rest_ms``: the longest time between an answer and the next
    question.  Behind the first question without an answer come barriers.
    """
    most_ms = max(longest_ms, options.reply_timeout_ms) + (options.silent_limit - 1) * 2 * options.reply_timeout_ms
    latest_ms = max(rest_ms + most_ms, options.lost_after_ms)
    if latest_ms <= LOSS_MS:
        return None
    return (
        f"a reader that dies would be told after {latest_ms} ms, and may be after {LOSS_MS}: lower 'lost_after_ms', "
        "'silent_limit' or a time-out ('inventory_timeout_ms' with fewer 'chips_per_antenna')"
    )


class Role(Enum):
    """What a question is for, which decides what its silence means."""

    HELLO = auto()
    """Asked until it is answered or the reader is lost."""
    SETUP = auto()
    """Begun anew behind a barrier."""
    BARRIER = auto()
    LOOK = auto()
    """Its antenna is corrupt; the look is begun anew behind a barrier, once."""
    CHAIN = auto()
    """More of an inventory: asking twice could skip some, so what came stands and proves no absence."""
    DARK = auto()
    """Switching the field off after a look: asked until it is answered, each time behind a barrier."""


class Question(msgspec.Struct, Generic[FrameT]):
    """The request under way.  ``first_ns`` is when it was first sent: a late answer may belong to that one."""

    command: Command
    role: Role
    handler: Callable[[FrameT, int], Found]
    timeout_ns: int
    first_ns: int
    sent_ns: int


class Awaited(msgspec.Struct):
    """Answers to one barrier command that may still come, and when it was last asked."""

    answers: int = 0
    asked_ns: int = 0


def lost_words(where: str, kind: str, line_advice: str, silent_ns: int | None, heard_bytes: int) -> tuple[str, str]:
    """Reason and advice for a reader that does not answer; ``silent_ns`` None if it never did."""
    if silent_ns is not None:
        return (
            f"no reply for {silent_ns // MS} ms",
            f"{where} stopped answering. Check its power and its cable; tabled tries again by itself.",
        )
    if heard_bytes:
        return (
            f"{heard_bytes} bytes came, none of them an answer",
            f"{where} sends bytes that are no {kind}'s. Check {line_advice} and that this port is the reader's; tabled "
            "tries again by itself.",
        )
    return (
        "no answer to the hello",
        f"{where} does not answer. Check its power, its cable, and {line_advice}; tabled tries again by itself.",
    )
