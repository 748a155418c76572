"""What a FEIG reader is set to do: options, multiplexer channels, and how long a sweep may take."""

from __future__ import annotations

from typing import Literal

import msgspec

from firmware_bridge.framing.feig import ANY_ADDRESS
from firmware_bridge.session.inventory import inventory_ns
from firmware_bridge.session.schedule import Member
from firmware_bridge.wire import MAX_TAGS_PER_INVENTORY

MS = 1_000_000

CHANNELS = 8
MAX_ANTENNA = 64
MAX_ROUNDS = 32
"""Replies in one MORE chain; a longer one is a fault of the reader."""

SWITCH_NS = 5 * MS
RF_RESET_NS = 15 * MS
"""The field is off for so long (FEIG H20800-16e-ID-B p. 72)."""
EXCHANGE_NS = 2 * MS
"""Allowance for one question and answer through the host and the adapter, beyond the bytes themselves."""


class FeigOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Options of the driver.  Times in milliseconds.

    ``gap_ms``: silence after which a frame's head is given up.  The reader itself pauses 12 ms at most; the
    rest is for adapters that hold bytes back for 16 ms.

    ``mode`` is what the reader was set to with FEIG's tool: host commands, buffered read (asked for its table every
    ``poll_ms``), or notification, acknowledged (it is asked for a sign of life every ``ping_ms``).  A reader that
    opens the connection itself (port ``tcp-listen://``) sends a keep-alive every ``keepalive_ms``; ``peer`` is the
    only address that may connect, "" whoever comes first.

    ``lanes`` "ont": the reader is set (in its RAM) to name only chips that are new, and every
    ``presence_ms`` a look resets the field first so that all answer.  Only for an antenna that stays energised between
    its looks: a single one, or ``keeps_power`` says that a technician knows better.  ``new_chips`` is how many
    may land between two looks for the stated bound to hold.  ``notify_ms``, a multiple of 100: a look for new chips
    waits for one in the reader for so long.
    """

    antennas: tuple[int, ...]
    mode: Literal["host", "buffered", "notify"] = "host"
    poll_ms: int = 50
    ping_ms: int = 400
    keepalive_ms: int = 1000
    peer: str = ""
    address: int = ANY_ADDRESS
    advanced: bool | None = None
    multiplexer: bool = True
    lanes: Literal["sweep", "ont"] = "sweep"
    keeps_power: bool = False
    presence_ms: int = 1000
    new_chips: int = 5
    notify_ms: int = 0
    chips_per_antenna: int = 20
    inventory_timeout_ms: int = 400
    reply_timeout_ms: int = 100
    gap_ms: int = 40
    lost_after_ms: int = 800
    silent_limit: int = 3
    min_sweep_ms: int = 20

    def problem(self, byte_ns: int = 0) -> str | None:
        """What is wrong with these options on a line of ``byte_ns`` a byte, None if nothing."""
        antennas = self.antennas
        if not antennas or len(set(antennas)) != len(antennas):
            return "'antennas' must name at least one antenna and none twice"
        if not all(1 <= a <= MAX_ANTENNA for a in antennas):
            return f"'antennas' must be between 1 and {MAX_ANTENNA}"
        if self.mode != "host" and self.lanes != "sweep":
            return "'lanes' are for mode \"host\": in the other modes the reader goes round by itself"
        if self.mode == "host" and not self.multiplexer and len(antennas) != 1:
            return "without a multiplexer there is exactly one antenna"
        if not 0 <= self.address <= 0xFF:
            return "'address' must be between 0 and 255"
        times = (
            *(self.inventory_timeout_ms, self.reply_timeout_ms, self.gap_ms, self.lost_after_ms),
            *(self.poll_ms, self.ping_ms),
        )
        if not 1000 <= self.keepalive_ms <= 60_000 or self.keepalive_ms % 1000:
            return "'keepalive_ms' must be whole seconds from 1000 to 60000"
        if not all(1 <= t <= 10_000 for t in times) or not 0 <= self.min_sweep_ms <= 10_000:
            return "times must be between 1 and 10000 ms"
        if not 0 <= self.chips_per_antenna <= MAX_TAGS_PER_INVENTORY or not 1 <= self.silent_limit <= 100:
            return f"'chips_per_antenna' must be 0 to {MAX_TAGS_PER_INVENTORY}, 'silent_limit' 1 to 100"
        if self.lanes == "ont" and len(antennas) > 1 and not self.keeps_power:
            return "'lanes' = \"ont\" needs an antenna that stays energised; a multiplexer's do not"
        if not 0 <= self.presence_ms <= 60_000 or not 0 <= self.new_chips <= MAX_TAGS_PER_INVENTORY:
            return f"'presence_ms' must be 0 to 60000, 'new_chips' 0 to {MAX_TAGS_PER_INVENTORY}"
        if self.notify_ms % 100 or not 0 <= self.notify_ms <= 2000 or (self.notify_ms and len(antennas) > 1):
            return "'notify_ms' must be a multiple of 100 up to 2000, with a single antenna"
        slowest_ns = inventory_ns(self.chips_per_antenna) + (11 + 10 * self.chips_per_antenna) * byte_ns
        if slowest_ns > self.inventory_timeout_ms * MS:
            return (
                f"{self.chips_per_antenna} chips take {slowest_ns // MS} ms to read, longer than "
                f"'inventory_timeout_ms' = {self.inventory_timeout_ms}"
            )
        return None


def channel_of(antenna: int) -> tuple[int, int]:
    """Multiplexer address and its output channel (1..8) of an antenna number (1..64)."""
    mux, output = divmod(antenna - 1, CHANNELS)
    return mux, output + 1


def member(device: str, options: FeigOptions, byte_ns: int, *, shared: bool) -> Member:
    """A reader as a time plan sees it, every antenna holding ``chips_per_antenna`` tags (see `inventory_ns`).

    Switching, bytes on the line (``byte_ns`` each) and `EXCHANGE_NS` for each question are in it.  Where there
    are several multiplexers or the plan is shared, every look costs one more switch: off.
    """
    overhead = 9 if options.advanced else 7

    def exchange(sent: int, received: int) -> int:
        return EXCHANGE_NS + (2 * overhead + sent + received) * byte_ns

    def inventory(chips: int) -> int:
        return exchange(2, 1 + 10 * chips) + inventory_ns(chips)

    around = 0
    if options.multiplexer:
        offs = shared or len({channel_of(a)[0] for a in options.antennas}) > 1
        around = (1 + offs) * (exchange(3, 0) + SWITCH_NS)
    elif shared:
        around = 2 * (exchange(1, 0) + SWITCH_NS)
    else:
        around = exchange(0, 8)
    full = around + inventory(options.chips_per_antenna)
    fresh = None
    if options.lanes == "ont" or len(options.antennas) == 1:
        full += exchange(0, 0) + RF_RESET_NS
    if options.lanes == "ont" and not shared:
        fresh = around + inventory(options.new_chips) + options.notify_ms * MS
    return Member(
        device=device,
        antennas=options.antennas,
        full_ns=(full,) * len(options.antennas),
        fresh_ns=fresh,
        presence_ns=options.presence_ms * MS,
        rest_ns=options.min_sweep_ms * MS,
    )
