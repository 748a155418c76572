"""What a FEIG reader is set to do: options, multiplexer channels, and how long a sweep may take."""

from __future__ import annotations

from typing import Literal

import msgspec

from firmware_bridge.framing.feig import ANY_ADDRESS, MAX_FRAME
from firmware_bridge.session.asking import LIFE_MS, LOSS_MS, MS, common_problem, loss_problem
from firmware_bridge.session.inventory import inventory_ns
from firmware_bridge.session.schedule import Member

DATA_SET_BYTES = 24
"""A data set of a reader's table: length, identifier, time, date and antenna (`inventory.read_records`)."""
ANSWER_BYTES = 12
"""An advanced answer to [0x22] without its data sets."""

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
    """Options of the driver.  Times in milliseconds."""

    antennas: tuple[int, ...]
    mode: Literal["host", "buffered", "notify"] = "host"
    """What the reader was set to with FEIG's tool: host commands, buffered read, or notification (acknowledged)."""
    poll_ms: int = 50
    """In mode "buffered" the reader is asked for its table so often; 1 to 800."""
    ping_ms: int = 400
    """In mode "notify" the reader is asked for a sign of life so often; 1 to 800."""
    keepalive_ms: int = 1000
    """A reader that opens the connection itself sends a keep-alive so often: whole seconds, 1000 to 60000."""
    peer: str = ""
    """The only address that such a reader may connect from; "" takes whoever comes first."""
    address: int = ANY_ADDRESS
    """The reader's address on its bus; 0 to 255. 255 is any."""
    advanced: bool | None = None
    """Advanced frames (16-bit length); without it, behind a socket and not on a serial line."""
    multiplexer: bool = True
    """Whether the antennas hang on multiplexers; without one there is exactly one antenna."""
    mux_frame: Literal["bare", "wrapped"] = "bare"
    """How the multiplexer's command goes over the reader's line; see `session.feig` for what is known."""
    lanes: Literal["sweep", "ont"] = "sweep"
    """"ont": the reader is set (in its RAM) to name only chips that are new, and every ``presence_ms`` a look
    resets the field first so that all answer. Only for an antenna that stays energised between its looks."""
    keeps_power: bool = False
    """A technician knows that the antennas stay energised though there are several: "ont" may then be used."""
    presence_ms: int = 1000
    new_chips: int = 5
    notify_ms: int = 0
    """A look for new chips waits for one in the reader for so long: a multiple of 100, 0 to 700, one antenna."""
    chips_per_antenna: int = 20
    """Most chips on one antenna, for the stated bound to hold: as many as 'inventory_timeout_ms' is enough for."""
    inventory_timeout_ms: int = 400
    """How long an inventory may take, in steps of 1 up to 800, and no less than ``chips_per_antenna`` chips take."""
    reply_timeout_ms: int = 100
    gap_ms: int = 40
    """Silence after which a frame's head is given up; 1 to 10000. The reader itself pauses 12 ms at most, the rest
    is for adapters that hold bytes back for 16 ms."""
    lost_after_ms: int = 800
    silent_limit: int = 3
    min_sweep_ms: int = 20

    def problem(self, byte_ns: int = 0) -> str | None:
        """What is wrong with these options on a line of ``byte_ns`` a byte, None if nothing."""
        antennas = self.antennas
        problem = common_problem(self, MAX_ANTENNA)
        if problem is not None:
            return problem
        if self.mode != "host" and self.lanes != "sweep":
            return "'lanes' are for mode \"host\": in the other modes the reader goes round by itself"
        if self.mode == "host" and not self.multiplexer and len(antennas) != 1:
            return "without a multiplexer there is exactly one antenna"
        if not 0 <= self.address <= 0xFF:
            return "'address' must be between 0 and 255"
        if not 1000 <= self.keepalive_ms <= 60_000 or self.keepalive_ms % 1000:
            return "'keepalive_ms' must be whole seconds from 1000 to 60000"
        if not all(1 <= t <= LOSS_MS - LIFE_MS for t in (self.poll_ms, self.ping_ms)):
            return f"'poll_ms' and 'ping_ms' must be between 1 and {LOSS_MS - LIFE_MS}"
        if self.lanes == "ont" and len(antennas) > 1 and not self.keeps_power:
            return "'lanes' = \"ont\" needs an antenna that stays energised; a multiplexer's do not"
        if self.notify_ms % 100 or not 0 <= self.notify_ms <= 700 or (self.notify_ms and len(antennas) > 1):
            return "'notify_ms' must be a multiple of 100 up to 700, with a single antenna"
        slowest_ns = inventory_ns(self.chips_per_antenna) + (11 + 10 * self.chips_per_antenna) * byte_ns
        if slowest_ns > self.inventory_timeout_ms * MS:
            return (
                f"{self.chips_per_antenna} chips take {slowest_ns // MS} ms to read, longer than "
                f"'inventory_timeout_ms' = {self.inventory_timeout_ms}"
            )
        if self.mode == "host":
            return loss_problem(self, self.inventory_timeout_ms + self.notify_ms)
        if data_sets(self, byte_ns) < 1:
            return "'inventory_timeout_ms' is too short for one data set of the reader's table"
        pinged = loss_problem(self, self.reply_timeout_ms, self.ping_ms)
        return loss_problem(self, self.inventory_timeout_ms, self.poll_ms) or pinged


def data_sets(options: FeigOptions, byte_ns: int) -> int:
    """Data sets to ask for at once, so that the answer fits a frame and arrives within half of its time-out."""
    fit = MAX_FRAME
    if byte_ns:
        fit = min(fit, (options.inventory_timeout_ms * MS // 2 - EXCHANGE_NS) // byte_ns)
    return max(0, min(255, (fit - ANSWER_BYTES) // DATA_SET_BYTES))


def channel_of(antenna: int) -> tuple[int, int]:
    """Multiplexer address and its output channel (1..8) of an antenna number (1..64)."""
    mux, output = divmod(antenna - 1, CHANNELS)
    return mux, output + 1


def member(device: str, options: FeigOptions, byte_ns: int, *, shared: bool) -> Member:
    """A reader as a time plan sees it, every antenna holding ``chips_per_antenna`` tags (see `inventory_ns`).

    Switching, bytes on the line (``byte_ns`` each) and `EXCHANGE_NS` for each question are in it.  Where there
    are several multiplexers or the plan is shared, every look costs one more switch, off, and a question between the
    two; where it may have to wait for long, a sign of life.
    """
    overhead = 9 if options.advanced else 7

    def exchange(sent: int, received: int) -> int:
        return EXCHANGE_NS + (2 * overhead + sent + received) * byte_ns

    def inventory(chips: int) -> int:
        return exchange(2, 1 + 10 * chips) + inventory_ns(chips)

    between = exchange(0, 8)
    around, wrapped = 0, options.mux_frame == "wrapped"
    if options.multiplexer:
        offs = shared or len({channel_of(a)[0] for a in options.antennas}) > 1
        around = (1 + offs) * (exchange(3 + wrapped, wrapped) + SWITCH_NS) + offs * between
    elif shared:
        around = 2 * (exchange(1, 0) + SWITCH_NS) + between
    else:
        around = between
    if shared or options.min_sweep_ms > LIFE_MS:
        around += between
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
