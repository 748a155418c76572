"""A FEIG OBID reader with two 8-way antenna multiplexers, as its manuals describe the wire.

Sources: FEIG system manual ID ISC.MR200 (H40801-5e), frames (page 20: an advanced request gets an advanced answer; a
standard one gets a standard answer unless that is longer than 255 bytes; no answer at all to a frame in error);
CPR family manual H20800-16e: inventory (pages 81 to 84), select (90), stay quiet (97), RF reset (72), CFG5.ONT (49),
status bytes (annex C); manual ID ISC.ANT.MUX, page 13, [0xDD] Select Channel (OutCh 0..8; greater, or the same
output on both inputs, is refused with status 0x11; 0 clears the setting).  Buffered read and notification mode:
`hw_sim.devices.feig_buffer`.

One multiplexer stands for antennas 1..8 (address 0), the other for 9..16 (address 1).  A power splitter
feeds both: what each has selected is energised together, so a host that forgets to clear one multiplexer
reads two antennas at once.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from hw_sim.devices.codec import crc16_mcrf4xx, crc_bytes
from hw_sim.devices.feig_buffer import BufferedRead, Scan
from hw_sim.devices.physics import INVENTORY_MS, MS, QUIET, Air, Field, Noise, Timing
from hw_sim.devices.quirks import NO_QUIRKS, RARE, Quirks
from hw_sim.devices.reader import Job, Reader

__all__ = ["INVENTORY_MS", "QUIET", "FeigReader", "Field", "Mode", "Noise", "Timing"]

STX = 0x02
MAX_FRAME = 1024

OK, NO_TAG, PARAMETER_RANGE, UNKNOWN_COMMAND, LENGTH_ERROR, UNAVAILABLE = 0x00, 0x01, 0x11, 0x80, 0x81, 0x82
RF_ERROR, RF_WARNING, MORE_DATA, HARDWARE_WARNING = 0x83, 0x84, 0x94, 0xF1
MORE, NOTIFY, PRESENCE = 0x80, 0x40, 0x20
CINF, ADDRESSED = 0x20, 0x01
BLOCK = 14
"""Bytes of one configuration block."""
ONT_BLOCK, ONT_BYTE, ONT_BIT, ACOLL_BIT = 5, 11, 0x01, 0x04
CARD = "0000000053511071"
"""The ISO 14443 B card of the published frames (quirk ``type_b_card``)."""
CARD_INFO = bytes.fromhex("02b3717000")
LOOK_AGAIN_NS = 10 * MS

Mode = Literal["host", "buffered", "notify", "notify-ack"]


class _Command(msgspec.Struct, frozen=True):
    advanced: bool
    code: int
    data: bytes


class FeigReader(Reader):
    """The reader's core.  ``max_records`` is how many data sets fit in one answer before it says "more" (94).

    ``mode`` is what a technician sets with FEIG's tool: host commands, buffered read, or notification with or
    without acknowledgement.  ``valid_ms``: how long a tag is not recorded again in the two latter.
    ``keepalive_ms``: a notifying reader says so often that it lives; 0 for never.  ``calls``: its line is the
    notification channel, where it hears nothing but [0x32] (see `hw_sim.tcp_caller`).
    """

    GAP_NS = 12 * MS
    """Silence between two bytes after which the reader gives up an unfinished frame."""

    def __init__(
        self,
        field: Field,
        *,
        antennas: int = 10,
        places: dict[int, int] | None = None,
        seed: int = 0,
        timing: Timing | None = None,
        noise: Noise = QUIET,
        quirks: Quirks = NO_QUIRKS,
        air: Air | None = None,
        address: int = 0,
        max_records: int = 24,
        mode: Mode = "host",
        valid_ms: float = 1000.0,
        keepalive_ms: float = 0.0,
        calls: bool = False,
    ) -> None:
        self._calls = calls
        self._address = address
        self._max_records = max_records
        self._buffered: BufferedRead | None = None
        self._eeprom: dict[int, bytes] = {}
        if quirks.ont_default:
            self._eeprom[ONT_BLOCK] = bytes(ONT_BYTE) + bytes((ONT_BIT | ACOLL_BIT, 0, 0))
        first = (places or {1: 1})[1]

        def with_card(place: int) -> list[str]:
            return [*field(place), CARD] if place == first else list(field(place))

        super().__init__(
            with_card if quirks.type_b_card else field,
            antennas=antennas,
            places=places,
            seed=seed,
            timing=timing,
            noise=noise,
            quirks=quirks,
            air=air,
        )
        if mode != "host":
            scan = Scan(self.radio, timing=self._timing, rng=self._rng, antennas=tuple(range(1, antennas + 1)))
            notify = mode.startswith("notify")
            self._buffered = BufferedRead(
                scan, notify=notify, ack=mode == "notify-ack", valid_ms=valid_ms, keepalive_ms=keepalive_ms
            )

    def _reset_state(self) -> None:
        self._rf_on = True
        self._channels = [0, 0]
        self._config = dict(self._eeprom)
        self._last_code = 0x65
        if self._buffered is not None:
            self._buffered.start(self._silent_until_ns)

    # -- the wire ---------------------------------------------------------------------------------

    def _take(self, now_ns: int) -> bool:
        """Handle one whole frame from the buffer; False when there is none."""
        b = self._buffer
        if not b:
            return False
        advanced = b[0] == STX
        if len(b) < (3 if advanced else 1):
            return False
        length = int.from_bytes(b[1:3], "big") if advanced else b[0]
        if not (7 if advanced else 5) <= length <= MAX_FRAME or (advanced and self.quirks.standard_only):
            return self._drop_all("length")
        if len(b) < length:
            return False
        frame = bytes(b[:length])
        if crc16_mcrf4xx(frame[:-2]) != int.from_bytes(frame[-2:], "little"):
            return self._drop_all("crc")
        del b[:length]
        head = 3 if advanced else 1
        if frame[head] not in (0xFF, self._address):
            self._count("foreign address")
            return True
        command = _Command(advanced, frame[head + 1], frame[head + 2 : -2])
        if self._calls and command.code != 0x32:
            self._count("not on this channel")
            return True
        self._begin(command, now_ns, self._duration_ns(command), asks=self._is_inventory(command))
        return True

    def _drop_all(self, why: str) -> bool:
        # A serial reader waits for silence after a bad frame, so what came with it is lost too.
        self._count(why)
        self._buffer.clear()
        return False

    def _is_inventory(self, command: _Command) -> bool:
        return command.code == 0xB0 and command.data[:1] == b"\x01" and len(command.data) > 1 and self._buffered is None

    @property
    def _only_new(self) -> bool:
        return bool(self._config.get(ONT_BLOCK, bytes(BLOCK))[ONT_BYTE] & ONT_BIT)

    def _duration_ns(self, command: _Command) -> int:
        t = self._timing
        if self._is_inventory(command):
            mode = command.data[1]
            # The anticollision stops when an answer is full; MORE goes on with the tags that are left.
            if mode & MORE or (self._only_new and not mode & PRESENCE):
                return t.inventory_ns(min(self.radio.willing(), self._max_records))
            return t.inventory_ns(min(self.radio.present(), self._max_records))
        return t.ns({0xDD: t.switch_ms, 0xBF: t.switch_ms, 0x69: t.rf_reset_ms}.get(command.code, t.command_ms))

    def _say(self, job: Job) -> bytes:
        command = job.command
        assert isinstance(command, _Command)
        assert isinstance(job.seen, tuple)
        status, data = job.seen
        if job.asks and self.radio.spoilt(job.start_ns, job.due_ns):
            status, data = RF_ERROR, b""
        code = command.code
        if self.quirks.hardware_warning and self._rng.random() < RARE:
            status, data = HARDWARE_WARNING, b""
        if self.quirks.wrong_echo and self._rng.random() < RARE:
            self._count("wrong echo")
            code = self._last_code
        self._last_code = command.code
        frame = self._encode(command.advanced, code, status, data)
        # As published: the device id came with one byte less than its length says.
        return frame[:-3] + frame[-2:] if self.quirks.short_info and command.data == b"\x80" and code == 0x66 else frame

    def _encode(self, advanced: bool, command: int, status: int, data: bytes) -> bytes:
        body = bytes((self._address, command, status)) + data
        if not advanced and len(body) + 3 > 255:
            advanced = True
        if advanced:
            frame = bytes((STX,)) + (len(body) + 5).to_bytes(2, "big") + body
        else:
            frame = bytes((len(body) + 3,)) + body
        return frame + crc_bytes(frame)

    def _unasked(self, now_ns: int) -> bytes:
        if self._buffered is None:
            return b""
        told = self._buffered.step(now_ns)
        said = b"".join(self._encode(True, 0x22, status, data) for status, data in told)
        # The manual says "identical with the command" and the stored page breaks off: reader diagnostic is our guess.
        return said + (self._encode(True, 0x6E, OK, bytes(2)) if self._buffered.alive(now_ns) else b"")

    def _unasked_due_ns(self) -> int | None:
        return self._buffered.next_due_ns() if self._buffered is not None else None

    # -- commands ---------------------------------------------------------------------------------

    def _look(self, job: Job) -> tuple[int, bytes] | None:
        """Status and data of the answer."""
        command = job.command
        assert isinstance(command, _Command)
        data = command.data
        match command.code:
            case 0xB0:
                return self._iso_host(job, data)
            case 0x80 | 0x81 | 0x83:
                return self._configure(command.code, data)
            case 0x22 | 0x31 | 0x32 | 0x33:
                return self._buffered.command(command.code, data) if self._buffered is not None else (UNAVAILABLE, b"")
            case _:
                return self._control(command.code, data, job.sample_ns)

    def _control(self, code: int, data: bytes, now_ns: int) -> tuple[int, bytes]:
        match code:
            case 0x52:
                return (OK, b"") if len(data) == 1 else (LENGTH_ERROR, b"")
            case 0x65:
                # Software 03.03.00, hardware 0x44, reader type 83 (CPR40), tag types, as published.
                return OK, bytes.fromhex("03030044530d30")
            case 0x66:
                return (OK, self._info(data[0])) if len(data) == 1 else (LENGTH_ERROR, b"")
            case 0x69:
                self.radio.reset_field(now_ns)
                return OK, b""
            case 0x6A:
                return self._rf_output(data, now_ns)
            case 0x72:
                return (OK, b"") if len(data) >= 2 else (LENGTH_ERROR, b"")
            case 0x74:
                return OK, b"\x00"
            case 0xDD if not self.quirks.mux_wrapped:
                return self._select_channel(data, now_ns)
            case 0xBF if self.quirks.mux_wrapped and data[:1] == b"\xdd":
                status, _ = self._select_channel(data[1:], now_ns)
                return OK, bytes((status,))
            case _:
                self._count("unknown command")
                return UNKNOWN_COMMAND, b""

    def _info(self, mode: int) -> bytes:
        if mode == 0x80:
            return bytes.fromhex("17e33dd00000000000002d3800000000")
        return bytes.fromhex("03030044530d30")

    def _configure(self, code: int, data: bytes) -> tuple[int, bytes]:
        """Blocks of 14 bytes; bit 7 of the address means the EEPROM, which outlives a restart."""
        if not data or len(data) != (1 + BLOCK if code == 0x81 else 1):
            return LENGTH_ERROR, b""
        kept, number = data[0] & 0x80, data[0] & 0x3F
        if code == 0x80:
            return OK, (self._eeprom if kept else self._config).get(number, bytes(BLOCK))
        value = data[1:] if code == 0x81 else bytes(BLOCK)
        self._config[number] = value
        if kept:
            self._eeprom[number] = value
        return OK, b""

    def _rf_output(self, data: bytes, now_ns: int) -> tuple[int, bytes]:
        if len(data) != 1:
            return LENGTH_ERROR, b""
        if data[0] > 1:
            return PARAMETER_RANGE, b""
        self._rf_on = bool(data[0])
        self._energise(now_ns)
        return OK, b""

    def _select_channel(self, data: bytes, now_ns: int) -> tuple[int, bytes]:
        if len(data) != 3:
            return LENGTH_ERROR, b""
        mux, out1, out2 = data
        if mux >= len(self._channels) or out1 > 8 or out2 > 8 or (out1 == out2 != 0):
            self._count("bad channel")
            return PARAMETER_RANGE, b""
        if self.quirks.stubborn_mux and self._rng.random() < RARE:
            self._count("stubborn multiplexer")
            return PARAMETER_RANGE, b""
        # Only input 1 is wired; what is routed to input 2 stays dark.
        self._channels[mux] = out1
        self._energise(now_ns)
        return OK, b""

    def _energise(self, now_ns: int) -> None:
        chosen = [8 * mux + channel for mux, channel in enumerate(self._channels) if channel] if self._rf_on else []
        self.radio.power([n for n in chosen if n <= self.antennas], now_ns)

    # -- ISO host commands ------------------------------------------------------------------------

    def _iso_host(self, job: Job, data: bytes) -> tuple[int, bytes] | None:
        if self._buffered is not None:
            return UNAVAILABLE, b""
        if len(data) < 2:
            return LENGTH_ERROR, b""
        code, mode = data[0], data[1]
        match code:
            case 0x01:
                return self._inventory_command(job, mode, data[2:])
            case 0x02:
                return self._addressed(mode, data[2:], self._stay_quiet, must=True)
            case 0x25:
                return self._addressed(mode, data[2:], self._select(mode), must=True)
            case 0x26:
                return self._addressed(mode, data[2:], self._ready, must=False)
            case 0x2B:
                return (NO_TAG, b"") if not self.radio.present() else (UNAVAILABLE, b"")
            case _:
                return UNAVAILABLE, b""

    def _addressed(self, mode: int, rest: bytes, act: object, *, must: bool) -> tuple[int, bytes]:
        assert callable(act)
        if not mode & ADDRESSED:
            return (PARAMETER_RANGE, b"") if must or rest else act(None)
        return act(rest.hex().upper()) if len(rest) == 8 else (LENGTH_ERROR, b"")

    def _stay_quiet(self, uid: str) -> tuple[int, bytes]:
        # No tag answers this command (ISO 15693-3, 10.3.2), so the reader cannot know whether it was heard.
        self.radio.hush([uid])
        return OK, b""

    def _select(self, mode: int) -> object:
        def act(uid: str) -> tuple[int, bytes]:
            if not self.radio.has(uid):
                return NO_TAG, b""
            self.radio.wake(uid)
            return OK, (CARD_INFO if uid == CARD else b"\x00") if mode & CINF else b""

        return act

    def _ready(self, uid: str | None) -> tuple[int, bytes]:
        if uid is not None and not self.radio.has(uid):
            return NO_TAG, b""
        self.radio.wake(uid)
        return OK, b""

    def _inventory_command(self, job: Job, mode: int, rest: bytes) -> tuple[int, bytes] | None:
        waits = bool(mode & NOTIFY)
        if mode & 0x1F or (mode & PRESENCE and not self._only_new) or (waits and mode & MORE):
            # Internal antennas belong to other models; the manual excludes the two combinations.
            return UNAVAILABLE if mode & 0x1F else PARAMETER_RANGE, b""
        if len(rest) != waits:
            return LENGTH_ERROR, b""
        if not mode & MORE and (mode & PRESENCE or not self._only_new):
            self.radio.wake()
        if not waits:
            return self._inventory()
        answer = self._inventory()
        deadline = job.start_ns + rest[0] * 100 * MS
        if answer == (NO_TAG, b"") and job.sample_ns < deadline:
            job.sample_ns = min(deadline, job.sample_ns + max(LOOK_AGAIN_NS, self._timing.inventory_ns(0)))
            return None
        job.due_ns = job.sample_ns
        self._free_ns = max(self._free_ns, job.due_ns)
        return answer

    def _inventory(self) -> tuple[int, bytes]:
        noise, rng = self.noise, self._rng
        failed = rng.random() < noise.rf_error
        if failed:
            self._count("rf error")
            if not self.quirks.error_data:
                return RF_ERROR, b""
        seen = self.radio.answering()
        if failed:
            return self._records(seen[: len(seen) // 2], RF_ERROR)
        if rng.random() < noise.rf_warning:
            self._count("rf warning")
            seen = seen[: len(seen) // 2]
            return (RF_WARNING, b"") if not seen else self._records(seen, RF_WARNING)
        if not seen and self.quirks.empty_warning and rng.random() < 0.05:
            return RF_WARNING, b""
        return self._records(seen, OK)

    def _records(self, uids: list[str], status: int) -> tuple[int, bytes]:
        """The next answer's data sets: TR-TYPE 03 (ISO 15693), DSFID, UID most significant byte first."""
        if not uids:
            return (NO_TAG if status == OK else status), b""
        now = uids[: self._max_records]
        self.radio.hush(now)
        kinds = {CARD: b"\x05\x71"}  # ISO 14443 B: application family instead of a DSFID
        body = bytes((len(now),)) + b"".join(kinds.get(u, b"\x03\x00") + bytes.fromhex(u) for u in now)
        return (MORE_DATA if len(uids) > len(now) else status), body
