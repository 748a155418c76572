"""A FEIG OBID reader with two 8-way antenna multiplexers, as its manuals describe the wire.

Sources: FEIG system manual ID ISC.MR/PR/PRH101, frames (page 17: an advanced request gets an advanced
answer; a standard one gets a standard answer unless that is longer than 255 bytes; no answer at all to
a frame in error), inventory and status bytes; manual ID ISC.ANT.MUX, page 13, [0xDD] Select Channel
(OutCh 0..8; greater, or the same output on both inputs, is refused with status 0x11; 0 clears the setting).

One multiplexer stands for antennas 1..8 (address 0), the other for 9..16 (address 1).  A power splitter
feeds both: what each has selected is energised together, so a host that forgets to clear one multiplexer
reads two antennas at once.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import deque
from collections.abc import Callable, Sequence
from random import Random

import msgspec

from hw_sim.devices.codec import crc16_mcrf4xx, crc_bytes

MS = 1_000_000
STX = 0x02
MAX_FRAME = 1024
GAP_NS = 12 * MS
"""Silence between two bytes after which the reader gives up an unfinished frame."""

OK, NO_TAG, PARAMETER_RANGE, UNKNOWN_COMMAND, LENGTH_ERROR, UNAVAILABLE = 0x00, 0x01, 0x11, 0x80, 0x81, 0x82
RF_ERROR, RF_WARNING, MORE_DATA = 0x83, 0x84, 0x94

INVENTORY_MS = ((0, 9.8), (1, 14.0), (5, 38.0), (10, 82.0), (20, 184.0))
"""Milliseconds of one ISO 15693 inventory (high rate, 16 slots) by number of tags in the field."""

Field = Callable[[int], Sequence[str]]
"""UIDs on one antenna now, bottom of the stack first."""


class Noise(msgspec.Struct, frozen=True, kw_only=True):
    """What goes wrong, each as a probability for one inventory (0 = never).

    ``miss_lone``/``miss_buried``: a tag alone or on top of a stack, and one under others, does not answer.
    ``miss_together``: share of buried misses that take the whole stack with them (misses are correlated).
    ``ghost``: a UID that is on no chip answers, with a good checksum.  ``bleed``: each tag of a neighbouring
    antenna answers here too.  ``rf_error``: status 83, nothing delivered.  ``rf_warning``: status 84, half of
    the tags delivered.  ``silent``: no reply at all.
    """

    miss_lone: float = 0.0
    miss_buried: float = 0.0
    miss_together: float = 0.5
    ghost: float = 0.0
    bleed: float = 0.0
    rf_error: float = 0.0
    rf_warning: float = 0.0
    silent: float = 0.0


QUIET = Noise()


class Timing(msgspec.Struct, frozen=True, kw_only=True):
    """How long the reader takes.  With ``real`` False it answers at once."""

    real: bool = False
    switch_ms: float = 5.0
    rf_reset_ms: float = 15.0
    command_ms: float = 1.0
    restart_ms: float = 600.0

    def inventory_ns(self, tags: int) -> int:
        """Duration of an inventory with so many tags: straight lines between the published points."""
        if not self.real:
            return 0
        counts = [n for n, _ in INVENTORY_MS]
        high = min(max(bisect_left(counts, tags), 1), len(counts) - 1)
        (n0, t0), (n1, t1) = INVENTORY_MS[high - 1], INVENTORY_MS[high]
        return round((t0 + (t1 - t0) * (tags - n0) / (n1 - n0)) * MS)


class _Job(msgspec.Struct):
    """A command under way: look at the field at ``sample_ns``, answer at ``due_ns``."""

    advanced: bool
    command: int
    data: bytes
    due_ns: int
    sample_ns: int
    seen: tuple[int, bytes] | None = None


class FeigReader:
    """The reader's core (`hw_sim.devices.Device`).

    ``field`` tells which tags lie on an antenna at the moment of asking.  ``max_records`` is how many data
    sets fit in one answer before the reader says "more" (status 94).
    """

    def __init__(
        self,
        field: Field,
        *,
        antennas: int = 10,
        seed: int = 0,
        timing: Timing | None = None,
        noise: Noise = QUIET,
        address: int = 0,
        max_records: int = 24,
    ) -> None:
        self._field = field
        self._antennas = antennas
        self._rng = Random(seed)
        self._timing = timing or Timing()
        self.noise = noise
        self._address = address
        self._max_records = max_records
        self._buffer = bytearray()
        self._last_byte_ns = 0
        self._jobs: deque[_Job] = deque()
        self._silent_until_ns = 0
        self._free_ns = 0
        self.counts: dict[str, int] = {}
        self._reset_state()

    def _reset_state(self) -> None:
        self._rf_on = True
        self._channels = [0, 0]
        self._told: set[str] = set()

    def _count(self, what: str) -> None:
        self.counts[what] = self.counts.get(what, 0) + 1

    # -- the wire ---------------------------------------------------------------------------------

    def feed(self, data: bytes, now_ns: int) -> None:
        """Take the host's bytes; an unfinished frame older than 12 ms is forgotten."""
        if self._buffer and now_ns - self._last_byte_ns > GAP_NS:
            self._count("gap")
            self._buffer.clear()
        self._last_byte_ns = now_ns
        if now_ns < self._silent_until_ns:
            self._count("deaf")
            return
        self._buffer += data
        while self._take_frame(now_ns):
            pass

    def _take_frame(self, now_ns: int) -> bool:
        """Handle one whole frame from the buffer; False when there is none."""
        b = self._buffer
        if not b:
            return False
        advanced = b[0] == STX
        if len(b) < (3 if advanced else 1):
            return False
        length = int.from_bytes(b[1:3], "big") if advanced else b[0]
        if not (7 if advanced else 5) <= length <= MAX_FRAME:
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
        self._accept(advanced, frame[head + 1], frame[head + 2 : -2], now_ns)
        return True

    def _drop_all(self, why: str) -> bool:
        # A serial reader waits for silence after a bad frame, so what came with it is lost too.
        self._count(why)
        self._buffer.clear()
        return False

    def _accept(self, advanced: bool, command: int, data: bytes, now_ns: int) -> None:
        start = max(now_ns, self._free_ns)
        busy = self._duration_ns(command, data)
        sample = start + (self._rng.randrange(busy + 1) if busy else 0)
        self._free_ns = start + busy
        self._jobs.append(_Job(advanced, command, data, start + busy, sample))

    def _duration_ns(self, command: int, data: bytes) -> int:
        t = self._timing
        if not t.real:
            return 0
        if command == 0xB0 and data[:1] == b"\x01":
            told = self._told if len(data) > 1 and data[1] & 0x80 else set()
            fresh = sum(u not in told for a in self._energised() for u in self._field(a))
            # The anticollision stops when an answer is full; MORE goes on with the tags that are left.
            return t.inventory_ns(min(fresh, self._max_records))
        return round({0xDD: t.switch_ms, 0x69: t.rf_reset_ms}.get(command, t.command_ms) * MS)

    def poll(self, now_ns: int) -> bytes:
        """Answers that are due."""
        out = bytearray()
        while self._jobs and self._jobs[0].sample_ns <= now_ns:
            job = self._jobs[0]
            if job.seen is None:
                job.seen = self._execute(job.command, job.data)
            if job.due_ns > now_ns:
                break
            self._jobs.popleft()
            if self._rng.random() < self.noise.silent:
                self._count("silent")
                continue
            out += self._encode(job.advanced, job.command, *job.seen)
        return bytes(out)

    def next_due_ns(self) -> int | None:
        """Time of the next sample or answer."""
        if not self._jobs:
            return None
        job = self._jobs[0]
        return job.sample_ns if job.seen is None else job.due_ns

    def restart(self, now_ns: int) -> None:
        """The reader reboots: it forgets its channels and half-read inventories and is deaf for a while."""
        self._count("restart")
        self._buffer.clear()
        self._jobs.clear()
        self._reset_state()
        self._silent_until_ns = now_ns + round(self._timing.restart_ms * MS)
        self._free_ns = self._silent_until_ns

    def _encode(self, advanced: bool, command: int, status: int, data: bytes) -> bytes:
        body = bytes((self._address, command, status)) + data
        if not advanced and len(body) + 3 > 255:
            advanced = True
        if advanced:
            frame = bytes((STX,)) + (len(body) + 5).to_bytes(2, "big") + body
        else:
            frame = bytes((len(body) + 3,)) + body
        return frame + crc_bytes(frame)

    # -- commands ---------------------------------------------------------------------------------

    def _execute(self, command: int, data: bytes) -> tuple[int, bytes]:
        """Status and data of the answer."""
        match command:
            case 0x52:
                return (OK, b"") if len(data) == 1 else (LENGTH_ERROR, b"")
            case 0x65:
                # Software 03.03.00, hardware 0x44, reader type 83 (CPR40), tag types, as published.
                return OK, bytes.fromhex("03030044530d30")
            case 0x66:
                return (OK, self._info(data[0])) if len(data) == 1 else (LENGTH_ERROR, b"")
            case 0x69:
                self._told.clear()
                return OK, b""
            case 0x6A:
                return self._rf_output(data)
            case 0xDD:
                return self._select_channel(data)
            case 0xB0:
                return self._iso_host(data)
            case _:
                self._count("unknown command")
                return UNKNOWN_COMMAND, b""

    def _info(self, mode: int) -> bytes:
        if mode == 0x80:
            return bytes.fromhex("17e33dd00000000000002d3800000000")
        return bytes.fromhex("03030044530d30")

    def _rf_output(self, data: bytes) -> tuple[int, bytes]:
        if len(data) != 1:
            return LENGTH_ERROR, b""
        if data[0] > 1:
            return PARAMETER_RANGE, b""
        self._rf_on = bool(data[0])
        self._told.clear()
        return OK, b""

    def _select_channel(self, data: bytes) -> tuple[int, bytes]:
        if len(data) != 3:
            return LENGTH_ERROR, b""
        mux, out1, out2 = data
        if mux >= len(self._channels) or out1 > 8 or out2 > 8 or (out1 == out2 != 0):
            self._count("bad channel")
            return PARAMETER_RANGE, b""
        # Only input 1 is wired; what is routed to input 2 stays dark.
        self._channels[mux] = out1
        self._told.clear()
        return OK, b""

    def _energised(self) -> tuple[int, ...]:
        if not self._rf_on:
            return ()
        numbers = (8 * mux + channel for mux, channel in enumerate(self._channels) if channel)
        return tuple(n for n in numbers if n <= self._antennas)

    def _iso_host(self, data: bytes) -> tuple[int, bytes]:
        if len(data) < 2:
            return LENGTH_ERROR, b""
        if data[0] != 0x01:
            return UNAVAILABLE, b""
        mode = data[1]
        if mode & 0x7F:
            # Notification, presence and internal-antenna modes belong to other models.
            return UNAVAILABLE, b""
        if len(data) != 2:
            return LENGTH_ERROR, b""
        if not mode & 0x80:
            self._told.clear()
        return self._inventory()

    def _inventory(self) -> tuple[int, bytes]:
        noise, rng = self.noise, self._rng
        if rng.random() < noise.rf_error:
            self._count("rf error")
            return RF_ERROR, b""
        seen = [u for u in self._answering() if u not in self._told]
        if rng.random() < noise.rf_warning:
            self._count("rf warning")
            seen = seen[: len(seen) // 2]
            return (RF_WARNING, b"") if not seen else self._records(seen, RF_WARNING)
        return self._records(seen, OK)

    def _records(self, uids: list[str], status: int) -> tuple[int, bytes]:
        """The next answer's data sets: TR-TYPE 03 (ISO 15693), DSFID, UID most significant byte first."""
        if not uids:
            return NO_TAG, b""
        now = uids[: self._max_records]
        self._told.update(now)
        body = bytes((len(now),)) + b"".join(b"\x03\x00" + bytes.fromhex(u) for u in now)
        return (MORE_DATA if len(uids) > len(now) else status), body

    # -- physics ----------------------------------------------------------------------------------

    def _answering(self) -> list[str]:
        noise, rng = self.noise, self._rng
        seen: list[str] = []
        on = self._energised()
        for antenna in on:
            seen += self._unmissed(list(self._field(antenna)))
        if noise.bleed:
            for n in sorted({a + d for a in on for d in (-1, 1)} - set(on)):
                if 1 <= n <= self._antennas:
                    seen += [u for u in self._field(n) if rng.random() < noise.bleed]
        if on and rng.random() < noise.ghost:
            self._count("ghost")
            seen.append(f"E0040150{rng.randrange(1 << 32):08X}")
        rng.shuffle(seen)
        # A tag that two energised antennas reach answers once: the anticollision names UIDs, not places.
        return list(dict.fromkeys(seen))

    def _unmissed(self, stack: list[str]) -> list[str]:
        noise, rng = self.noise, self._rng
        if not (noise.miss_lone or noise.miss_buried):
            return stack
        together = rng.random() < noise.miss_buried * noise.miss_together
        alone = noise.miss_buried * (1 - noise.miss_together)
        kept: list[str] = []
        for height, uid in enumerate(stack):
            buried = height < len(stack) - 1
            lost = (together or rng.random() < alone) if buried else rng.random() < noise.miss_lone
            if not lost:
                kept.append(uid)
        return kept
