"""An Eccel Pepper C1 MUX: eight antennas behind one reader, asked for one tag after another.

0F selects an antenna, 90 begins an ISO 15693 inventory and names the first tag, 91 the next, each with a
"more cards" flag; the error "no reply received" means that nobody is there.  An acknowledgement repeats
the command and must match the question.  Source: Eccel's protocol page and Arduino library
(C1_Interface: ICODE_InventoryStart takes an AFI byte; UID in inverted order, DSFID, more flag).

Not documented, so believed only in the plain form and otherwise told as corrupt: which two error bytes stand for
an empty field (``empty_codes`` adds others), and the byte order of the UID where it does not show itself (every
ISO 15693 UID begins with E0).

Lanes "quiet", for a single antenna that stays energised: each named tag is told to stay quiet (92) before the next
one is asked for, so that the next 90 names only new ones; 05 (halt) switches the field off before a full look and
wakes all.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from firmware_bridge.framing.pepper import ACK, ERROR, PepperDecoder, PepperFrame, encode
from firmware_bridge.session.asking import LIFE_MS, MS, Command, Found, Role, common_problem, loss_problem
from firmware_bridge.session.inventory import inventory_ns
from firmware_bridge.session.polled import PolledSession
from firmware_bridge.session.schedule import Lane, Look, Member
from firmware_bridge.wire import MAX_TAGS_PER_INVENTORY, BootId, DeviceUp

DUMMY, HALT, SET_POLLING, GET_VERSION, SET_ANTENNA = 0x01, 0x05, 0x06, 0x0B, 0x0F
INVENTORY_START, INVENTORY_NEXT, STAY_QUIET = 0x90, 0x91, 0x92
BARRIERS: tuple[Command, ...] = ((GET_VERSION, b""), (DUMMY, b""), (SET_POLLING, b"\x00"))
"""Commands that change nothing here: the reader's own polling is switched off anyway."""
ANY_FAMILY = b"\x00"
MAX_ANTENNA = 8
NO_BOOT = BootId(0)
MAX_VOTES = 8
EXCHANGE_NS = 2 * MS
SWITCH_NS = 5 * MS
_NOBODY = frozenset((0x0001, 0x0100))
"""The two error bytes as they came, first one high: layer and error, or error and layer (the maker's own two libraries
differ); "no reply received" with layer 0."""


class PepperOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Options of the driver.  Times in milliseconds."""

    antennas: tuple[int, ...]
    lanes: Literal["sweep", "quiet"] = "sweep"
    """"quiet": known chips are told to stay quiet, so that new ones are seen sooner; for a single antenna."""
    presence_ms: int = 1000
    new_chips: int = 5
    empty_codes: tuple[int, ...] = ()
    """Further error codes, the two bytes as they came, that this firmware says for an empty field; 0 to 65535."""
    chips_per_antenna: int = 20
    inventory_timeout_ms: int = 400
    reply_timeout_ms: int = 100
    gap_ms: int = 40
    lost_after_ms: int = 800
    silent_limit: int = 3
    min_sweep_ms: int = 20

    def problem(self, _byte_ns: int = 0) -> str | None:
        """What is wrong with these options, None if nothing."""
        problem = common_problem(self, MAX_ANTENNA)
        if problem is not None:
            return problem
        if self.lanes == "quiet" and len(self.antennas) > 1:
            return "'lanes' = \"quiet\" needs an antenna that stays energised; several take turns"
        if not all(0 <= code <= 0xFFFF for code in self.empty_codes):
            return "'empty_codes' are 16-bit numbers"
        return loss_problem(self, self.inventory_timeout_ms)


class PepperSession(PolledSession[PepperFrame, PepperOptions]):
    """One reader."""

    barriers = BARRIERS
    kind = "Pepper C1 reader"
    line_advice = "the baud rate (115200 8N1 as shipped)"

    _lsb_votes = 0
    """UIDs that showed their byte order: those with the least significant first, less the others; outlives the port."""

    # -- words -----------------------------------------------------------------------------------

    def _new_decoder(self) -> PepperDecoder:
        return PepperDecoder()

    def member_in(self, *, shared: bool) -> Member:
        """One tag an exchange; how long the reader itself takes is not published, so the common physics are used."""
        options = self.options

        def exchange(sent: int, received: int) -> int:
            return EXCHANGE_NS + (2 * 8 + sent + received) * self._byte_ns

        def inventory(chips: int) -> int:
            return inventory_ns(chips) + (chips + 1) * exchange(1, 11)

        waits = shared or options.min_sweep_ms > LIFE_MS
        around = exchange(1, 1) + SWITCH_NS + shared * exchange(0, 1) + waits * exchange(0, 24)
        quiet = options.lanes == "quiet" and not shared
        full = around + inventory(options.chips_per_antenna)
        fresh = None
        if quiet:
            full += options.chips_per_antenna * exchange(0, 1) + exchange(0, 1) + 3 * SWITCH_NS
            fresh = around + inventory(options.new_chips) + options.new_chips * exchange(0, 1)
        return Member(
            device=self.device,
            antennas=options.antennas,
            full_ns=(full,) * len(options.antennas),
            fresh_ns=fresh,
            presence_ns=options.presence_ms * MS,
            rest_ns=options.min_sweep_ms * MS,
        )

    def _reset(self) -> None:
        self._rounds = 0
        self._more = self._certain = False
        self._unsure()

    def _unsure(self) -> None:
        self._field_on = True
        """Or may be."""

    def _key_of(self, command: Command) -> object:
        return command[0]

    def _answers_to(self, frame: PepperFrame) -> object:
        payload = frame.payload
        return payload[1] if len(payload) >= 2 and payload[0] in (ACK, ERROR) else None

    def _encode(self, command: Command) -> bytes:
        assert isinstance(command, tuple), "Pepper commands are bytes"
        return encode(*command)

    # -- set-up ----------------------------------------------------------------------------------

    def _say_hello(self, now_ns: int) -> None:
        self._ask((GET_VERSION, b""), self._on_hello, now_ns, Role.HELLO)

    def _on_hello(self, frame: PepperFrame, now_ns: int) -> Found:
        payload = frame.payload
        version = payload[2:].rstrip(b"\x00")
        if payload[0] != ACK or not version or len(version) > 64:
            return [self._refused(f"hello answered with {payload[:8].hex(' ')}", now_ns)]
        firmware = "".join(chr(b) if 0x20 <= b < 0x7F else "?" for b in version)
        up = DeviceUp(self.device, self._span(now_ns), model="Eccel Pepper C1", firmware=firmware, boot=NO_BOOT)
        self._ask_barrier(now_ns)
        return [up]

    def _after_barrier(self, now_ns: int) -> Found:
        # A reader that starts anew polls by itself.
        self._ask((SET_POLLING, b"\x00"), self._on_polling, now_ns, Role.SETUP)
        return []

    def _on_polling(self, _frame: PepperFrame, now_ns: int) -> Found:
        return super()._after_barrier(now_ns)

    # -- a look ----------------------------------------------------------------------------------

    @property
    def _muting(self) -> bool:
        return self.options.lanes == "quiet"

    def _begin_look(self, look: Look, now_ns: int) -> None:
        if self._muting and look.lane is Lane.FULL and self._field_on:
            self._ask((HALT, b""), self._on_halt, now_ns)
        else:
            self._ask((SET_ANTENNA, bytes((look.antenna,))), self._on_antenna, now_ns)

    def _on_halt(self, _frame: PepperFrame, now_ns: int) -> Found:
        # An error too: the field goes off whether or not a tag was active.
        self._field_on = False
        self._ask((SET_ANTENNA, bytes((self._antenna,))), self._on_antenna, now_ns)
        return []

    def _on_antenna(self, frame: PepperFrame, now_ns: int) -> Found:
        if frame.payload[0] != ACK:
            return self._spoilt(f"antenna {self._antenna} refused: {_error(frame)}", now_ns)
        self._rounds = 0
        self._look_ns = now_ns
        self._field_on = True
        self._ask_for_tag(INVENTORY_START, now_ns, Role.LOOK)
        return []

    def _ask_for_tag(self, command: int, now_ns: int, role: Role) -> None:
        timeout_ms = self.options.inventory_timeout_ms
        self._ask((command, ANY_FAMILY), self._on_tag, now_ns, role, timeout_ms=timeout_ms)

    def _on_tag(self, frame: PepperFrame, now_ns: int) -> Found:
        payload = frame.payload
        self._rounds += 1
        # After a silence a late answer may have stood for another: what it named is true, the end is not sure.
        certain = self._rounds == 1 or not self._suspect
        if payload[0] == ERROR:
            code = int.from_bytes(payload[2:4], "big")
            if len(payload) == 4 and (code in _NOBODY or code in self.options.empty_codes):
                if self._uids:
                    return self._book(now_ns, complete=False)  # more was announced and did not come
                return self._book(now_ns, complete=True)
            if self._uids:
                return self._book(now_ns, complete=False)
            return self._spoilt(_error(frame), now_ns)
        if len(payload) != 12 or payload[11] > 1:
            return self._spoilt(f"a tag of {len(payload) - 2} bytes: {payload[:16].hex(' ')}", now_ns)
        uid = self._uid(payload[2:10])
        if uid is None:
            return self._spoilt(f"no ISO 15693 UID, which begins with E0: {payload[2:10].hex(' ')}", now_ns)
        self._uids.add(uid)
        if len(self._uids) > MAX_TAGS_PER_INVENTORY or self._rounds > 2 * MAX_TAGS_PER_INVENTORY:
            return self._spoilt(f"{self._rounds} tags in one inventory: check the reader", now_ns)
        self._more, self._certain = bool(payload[11]), certain
        if self._muting:
            self._ask((STAY_QUIET, b""), self._on_quiet, now_ns)
            return []
        return self._go_on(now_ns)

    def _on_quiet(self, frame: PepperFrame, now_ns: int) -> Found:
        if frame.payload[0] != ACK:
            return self._spoilt(f"a tag would not be told to stay quiet: {_error(frame)}", now_ns)
        return self._go_on(now_ns)

    def _go_on(self, now_ns: int) -> Found:
        if self._more:
            self._ask_for_tag(INVENTORY_NEXT, now_ns, Role.CHAIN)
            return []
        return self._book(now_ns, complete=self._certain)

    def _uid(self, raw: bytes) -> str | None:
        """Most significant byte first; None for one that cannot be.

        A UID with E0 at one end only shows the order, and is believed if most did so before it: a single ghost with
        E0 at the wrong end teaches nothing that the chips themselves do not undo.
        """
        first, last = raw[0] == 0xE0, raw[7] == 0xE0
        if first != last:
            vote = 1 if last else -1
            self._lsb_votes = max(-MAX_VOTES, min(MAX_VOTES, self._lsb_votes + vote))
            if self._lsb_votes * vote <= 0:
                return None
        elif not last:
            return None
        return (raw if self._lsb_votes < 0 else raw[::-1]).hex().upper()

    # -- darkness --------------------------------------------------------------------------------

    def _go_dark(self, now_ns: int) -> bool:
        if not self._field_on:
            return False
        self._ask((HALT, b""), self._on_dark, now_ns, Role.DARK)
        return True

    def _on_dark(self, _frame: PepperFrame, now_ns: int) -> Found:
        self._field_on = False
        self._is_dark(now_ns)
        return []


def _error(frame: PepperFrame) -> str:
    return f"error {frame.payload[2:4].hex().upper() or 'without a code'}"
