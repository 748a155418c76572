"""A FEIG reader in host mode with antenna multiplexers: hello, RF reset, then look after look.

Multiplexers: antenna ``a`` is channel ``(a - 1) % 8 + 1`` of multiplexer ``(a - 1) // 8``, selected
with 0xDD (FEIG H30701-3e-ID-B p. 13).  How that goes over the reader's own line is **not settled**: the page shows
command and data as the multiplexer takes them and leaves the frame around them to an appendix ("Protocol on Host
Interface", p. 27) that is in no public text we found, nor is a recorded frame.  Option ``mux_frame`` has
both readings: "bare", 0xDD as the reader's command, and "wrapped", 0xDD as the first data byte of 0xBF.  A
reader that refuses one is named with the other.  Before one is switched on, every other that may be on is
set to channel 0 and must confirm it: two antennas are never energised together.

Configuration block 5, byte 11 (H20800-16e-ID-B p. 49) says whether an inventory names only new tags and mutes
them (ONT), and some readers are shipped so: "no transponder" would then be said of a full antenna.  It is
set in the reader's RAM as the lanes want it: off for "sweep"; on for "ont", where a full look sends an RF
reset first, which wakes all.  It is read again after every silence, since a reader that restarted has lost
it.  Where it cannot be read, a tag that may have been muted is woken by an RF reset before each look.
"""

from __future__ import annotations

from functools import partial

from firmware_bridge.framing.feig import ANY_ADDRESS, FeigDecoder, FeigFrame, encode
from firmware_bridge.session.asking import Command, Found, Role
from firmware_bridge.session.inventory import Status, describe, read_batch
from firmware_bridge.session.plan import MAX_ROUNDS, FeigOptions, channel_of, member
from firmware_bridge.session.polled import PolledSession
from firmware_bridge.session.schedule import Lane, Look, Member
from firmware_bridge.wire import MAX_TAGS_PER_INVENTORY, BootId, DeviceId, DeviceUp, Restarted, TimeSpan

SOFTWARE_VERSION = 0x65
RF_RESET = 0x69
RF_OUTPUT = 0x6A
SELECT_CHANNEL = 0xDD
TO_FUNCTION_UNIT = 0xBF
READ_CONFIG = 0x80
WRITE_CONFIG = 0x81
BARRIERS: tuple[Command, ...] = (
    (SOFTWARE_VERSION, b""),
    (0x66, b"\x00"),
    (0x52, b"\x00"),
    (0x74, b""),
    (RF_RESET, b""),
)
"""Commands that change nothing, and their data: version, reader info, baud rate detection, inputs, RF reset.  A
reader that lacks one still answers, with an error status."""
ISO_HOST = 0xB0
INVENTORY = 0x01
MODE_NEW = 0x00
MODE_MORE = 0x80
MODE_NOTIFY = 0x40

ANTICOLLISION = 5
"""Configuration block in RAM (bit 7 of its address would mean EEPROM), 14 bytes."""
BLOCK_BYTES = 14
ONT_BYTE = 11
ONT = 0x01
ACOLL = 0x04

NO_BOOT = BootId(0)
"""A FEIG reader has no boot id.  One that reboots is silent: for long, and it is lost and comes back as a new hello;
for a moment, and it shows if it had to be set otherwise than it is shipped, for that is undone."""

_NOT_KNOWN = frozenset((0x80, 0x81, int(Status.UNAVAILABLE)))
"""Unknown command, wrong length, not available."""
MODELS = {0x53: "FEIG ID CPR40"}


class FeigSession(PolledSession[FeigFrame, FeigOptions]):
    """One reader."""

    barriers = BARRIERS
    kind = "FEIG reader"
    line_advice = "its bus address and the baud rate and parity (38400 8E1 as shipped)"
    network_advice = "its address and port number, and whether it takes advanced frames (else: advanced = false)"

    def __init__(self, device: DeviceId, options: FeigOptions, *, byte_ns: int = 0, port: str = "") -> None:
        super().__init__(device, options, byte_ns=byte_ns, port=port)
        self._advanced = bool(options.advanced)
        self._set_ns = 0
        """When its configuration was last set, or read as it was set."""
        self._muxes = tuple(sorted({channel_of(a)[0] for a in options.antennas})) if options.multiplexer else ()

    # -- words -----------------------------------------------------------------------------------

    def _new_decoder(self) -> FeigDecoder:
        return FeigDecoder()

    def member_in(self, *, shared: bool) -> Member:
        """See `plan.member`."""
        return member(self.device, self.options, self._byte_ns, shared=shared)

    def _reset(self) -> None:
        self._unsure()
        self._wake_first = self._configured = False
        self._rounds = 0

    def _unsure(self) -> None:
        self._may_be_on = set(self._muxes)
        self._rf_on: bool | None = None
        """Whether the field is on, where there is no multiplexer; None: not known."""

    @property
    def _muting(self) -> bool:
        return self.options.lanes == "ont"

    def _key_of(self, command: Command) -> object:
        return command[0]

    def _answers_to(self, frame: FeigFrame) -> object:
        addressed = self.options.address in (ANY_ADDRESS, frame.address)
        return frame.command if addressed else None

    def _encode(self, command: Command) -> bytes:
        assert isinstance(command, tuple), "FEIG commands are bytes"
        return encode(command[0], command[1], address=self.options.address, advanced=self._advanced)

    # -- set-up ----------------------------------------------------------------------------------

    def _say_hello(self, now_ns: int) -> None:
        self._ask((SOFTWARE_VERSION, b""), self._on_hello, now_ns, Role.HELLO)

    def _on_hello(self, frame: FeigFrame, now_ns: int) -> Found:
        if frame.status != Status.OK or len(frame.data) < 5:
            return [self._refused(f"hello answered with {describe(frame.status)} and {len(frame.data)} bytes", now_ns)]
        up = DeviceUp(
            self.device,
            self._span(now_ns),
            model=MODELS.get(frame.data[4], f"FEIG OBID type 0x{frame.data[4]:02X}"),
            firmware=f"{frame.data[0]}.{frame.data[1]}.{frame.data[2]}",
            boot=NO_BOOT,
        )
        # The RF reset is the first barrier: what an earlier session asked for ends before it.  Its status does not
        # matter: a reader that cannot reset its field says so in every inventory.  Beside others it might switch on.
        self._ask_barrier(now_ns, first=None if self._turns.plan.shared else (RF_RESET, b""))
        return [up]

    def _after_barrier(self, now_ns: int) -> Found:
        self._ask((READ_CONFIG, bytes((ANTICOLLISION,))), self._on_config, now_ns, Role.SETUP)
        return []

    def _on_config(self, frame: FeigFrame, now_ns: int) -> Found:
        block = frame.data
        if frame.status != Status.OK or len(block) != BLOCK_BYTES:
            return self._unsettled(f"configuration block 5 read: {describe(frame.status)}", now_ns)
        now = block[ONT_BYTE]
        wanted = now | ONT | ACOLL if self._muting else now & ~ONT
        if now == wanted:
            self._wake_first = False
            self._set_ns = now_ns
            return super()._after_barrier(now_ns)
        self._muted.clear()
        # What was set has gone, and this port was never lost: the reader itself has started anew.
        restarted: Found = []
        if self._configured:
            self._restarts += 1
            self._configured = False
            span = TimeSpan(min(self._set_ns, now_ns), now_ns)
            restarted = [Restarted(self.device, span, BootId(self._restarts))]
        block = bytes((*block[:ONT_BYTE], wanted, *block[ONT_BYTE + 1 :]))
        self._ask((WRITE_CONFIG, bytes((ANTICOLLISION,)) + block), self._on_configured, now_ns, Role.SETUP)
        return restarted

    def _on_configured(self, frame: FeigFrame, now_ns: int) -> Found:
        if frame.status != Status.OK:
            return self._unsettled(f"configuration block 5 written: {describe(frame.status)}", now_ns)
        self._wake_first = False
        self._configured, self._set_ns = True, now_ns
        return super()._after_barrier(now_ns)

    def _unsettled(self, reason: str, now_ns: int) -> Found:
        """Whether the reader names only new tags is not known: it may, that is how some are shipped."""
        if self._muting:
            reason = f"'only new tags' cannot be set ({reason}); use lanes = \"sweep\" for this reader"
            return [self._refused(reason, now_ns)]
        # Antennas that take turns lose their power in between, which wakes their tags anyway.
        self._wake_first = len(self.options.antennas) == 1
        return super()._after_barrier(now_ns)

    # -- a look ----------------------------------------------------------------------------------

    def _begin_look(self, look: Look, now_ns: int) -> None:
        if not self._muxes:
            if self._rf_on:
                # Something else between two inventories: a reply that comes twice cannot answer the next one.
                self._ask((SOFTWARE_VERSION, b""), self._on_between, now_ns)
            else:
                self._ask((RF_OUTPUT, b"\x01"), self._on_rf, now_ns)
            return
        mux, channel = channel_of(look.antenna)
        for other in self._muxes:
            if other != mux and other in self._may_be_on:
                self._ask(self._selection(other, 0), partial(self._on_off, other), now_ns)
                return
        self._may_be_on.add(mux)
        self._ask(self._selection(mux, channel), self._on_select, now_ns)

    def _selection(self, mux: int, channel: int) -> Command:
        if self.options.mux_frame == "wrapped":
            return TO_FUNCTION_UNIT, bytes((SELECT_CHANNEL, mux, channel, 0))
        return SELECT_CHANNEL, bytes((mux, channel, 0))

    def _selected(self, frame: FeigFrame) -> bool:
        """The reader, and where it passes one on the multiplexer, say that it is done."""
        if frame.status in _NOT_KNOWN:
            other = "bare" if self.options.mux_frame == "wrapped" else "wrapped"
            self._notes["mux"] = (
                f"reader '{self.device}' does not know its multiplexer's command ({describe(frame.status)}); "
                f'try the option mux_frame = "{other}", or multiplexer = false where there is none'
            )
        inner = frame.data[-1:] if self.options.mux_frame == "wrapped" else b""
        return frame.status == Status.OK and inner in (b"", b"\x00")

    def _on_off(self, mux: int, frame: FeigFrame, now_ns: int) -> Found:
        if not self._selected(frame):
            return self._spoilt(f"multiplexer {mux} would not switch off: {describe(frame.status)}", now_ns)
        self._may_be_on.discard(mux)
        self._next(now_ns)
        return []

    def _on_select(self, frame: FeigFrame, now_ns: int) -> Found:
        if not self._selected(frame):
            mux, channel = channel_of(self._antenna)
            return self._spoilt(f"multiplexer {mux} refused channel {channel}: {describe(frame.status)}", now_ns)
        return self._on_energised(now_ns)

    def _on_between(self, _frame: FeigFrame, now_ns: int) -> Found:
        return self._on_energised(now_ns)

    def _on_rf(self, frame: FeigFrame, now_ns: int) -> Found:
        # A reader that does not know the command has its field on whenever it has power.
        always = frame.status in _NOT_KNOWN and not self._turns.plan.shared
        if frame.status != Status.OK and not always:
            self._rf_on = None
            return self._spoilt(f"the field would not switch on: {describe(frame.status)}", now_ns)
        self._rf_on = True
        return self._on_energised(now_ns)

    def _on_energised(self, now_ns: int) -> Found:
        assert self._look is not None, "a look is under way"
        self._energised(self._look, now_ns)
        return []

    def _energised(self, look: Look, now_ns: int) -> None:
        if self._wake_first or (self._muting and look.lane is Lane.FULL):
            self._ask((RF_RESET, b""), self._on_reset, now_ns)
        else:
            self._ask_inventory(look, now_ns)

    def _on_reset(self, frame: FeigFrame, now_ns: int) -> Found:
        if frame.status != Status.OK:
            return self._spoilt(f"the field would not be reset: {describe(frame.status)}", now_ns)
        assert self._look is not None, "a look is under way"
        self._ask_inventory(self._look, now_ns)
        return []

    def _ask_inventory(self, look: Look, now_ns: int) -> None:
        self._rounds = 0
        self._look_ns = now_ns
        mode, wait_ms = bytes((INVENTORY, MODE_NEW)), 0
        if look.lane is Lane.FRESH and self.options.notify_ms:
            wait_ms = self.options.notify_ms
            mode = bytes((INVENTORY, MODE_NOTIFY, wait_ms // 100))
        timeout_ms = self.options.inventory_timeout_ms + wait_ms
        self._ask((ISO_HOST, mode), self._on_inventory, now_ns, timeout_ms=timeout_ms)

    def _on_inventory(self, frame: FeigFrame, now_ns: int) -> Found:
        batch = read_batch(frame.status, frame.data)
        chain = self._rounds > 0
        self._rounds += 1
        if batch.fault:
            if self._uids and chain:
                return self._book(now_ns, complete=False)
            return self._spoilt(batch.fault, now_ns)
        self._uids.update(batch.uids)
        if len(self._uids) > MAX_TAGS_PER_INVENTORY or self._rounds > MAX_ROUNDS:
            return self._spoilt(
                f"{len(self._uids)} tags in {self._rounds} replies of one inventory: check the reader", now_ns
            )
        if frame.status == Status.MORE_DATA:
            command = (ISO_HOST, bytes((INVENTORY, MODE_MORE)))
            timeout_ms = self.options.inventory_timeout_ms
            self._ask(command, self._on_inventory, now_ns, Role.CHAIN, timeout_ms=timeout_ms)
            return []
        if frame.status == Status.NO_TRANSPONDER and not self._uids:
            if chain:
                return self._spoilt("more data announced, none came", now_ns)
            return self._book(now_ns, complete=True)
        if not self._uids:
            return self._spoilt(describe(frame.status), now_ns)
        # In a chain after a silence a late reply may have stood for another: the union is true, its end is not sure.
        certain = self._rounds == 1 or not self._suspect
        return self._book(now_ns, complete=certain and frame.status == Status.OK)

    # -- darkness --------------------------------------------------------------------------------

    def _go_dark(self, now_ns: int) -> bool:
        if not self._muxes:
            if self._rf_on is False:
                return False
            self._ask((RF_OUTPUT, b"\x00"), partial(self._on_dark, None), now_ns, Role.DARK)
            return True
        for mux in self._muxes:
            if mux in self._may_be_on:
                self._ask(self._selection(mux, 0), partial(self._on_dark, mux), now_ns, Role.DARK)
                return True
        return False

    def _on_dark(self, mux: int | None, frame: FeigFrame, now_ns: int) -> Found:
        if not (frame.status == Status.OK if mux is None else self._selected(frame)):
            return [self._refused(f"will not switch its field off: {describe(frame.status)}", now_ns)]
        if mux is None:
            self._rf_on = False
        else:
            self._may_be_on.discard(mux)
        if not self._go_dark(now_ns):
            self._is_dark(now_ns)
        return []
