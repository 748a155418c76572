"""FEIG's buffered read and notification modes: the reader goes round its antennas by itself.

Source: FEIG system manuals ID ISC.LR1002 (H20411-0e, pages 153 to 156: [0x22] Read Buffer, [0x31] info), ID ISC.MR200
(H40801-5e, page 15), ID ISC.ANT.U500 (H71011-0e, pages 105 and 109: acknowledge within 5 s by [0x32] Clear Data
Buffer or the notification is repeated; layout of a data record).  Data sets that were read stay in the table until
they are cleared; a host that never clears reads the same ones for ever.
"""

from __future__ import annotations

from random import Random

import msgspec

from hw_sim.devices.physics import MS, Radio, Timing

OK, NO_DATA, OVERFLOW, LENGTH_ERROR = 0x00, 0x92, 0x93, 0x81
IDENTIFIER, ANTENNA, TIME = 0x01, 0x10, 0x20
TABLE = 255
"""Data sets that the table holds."""
IN_ONE_NOTIFICATION = 40
ACKNOWLEDGE_NS = 5000 * MS
LEAST_VISIT_NS = 10 * MS
"""A visit to one antenna lasts at least so long, also for a reader without timing of its own."""


class DataSet(msgspec.Struct, frozen=True):
    """One line of the reader's table: which tag, where, and the reader's own milliseconds."""

    uid: str
    antenna: int
    ms: int

    def encoded(self) -> bytes:
        """A record: its length, TR-TYPE 03, DSFID, length of the UID, UID, time (ms), antenna."""
        uid = bytes.fromhex(self.uid)
        body = bytes((0x03, 0x00, len(uid))) + uid + self.ms.to_bytes(4, "big") + bytes((self.antenna,))
        return (len(body) + 2).to_bytes(2, "big") + body


class Scan:
    """The reader's own round: switch, look at some moment of the inventory, finish."""

    def __init__(self, radio: Radio, *, timing: Timing, rng: Random, antennas: tuple[int, ...]) -> None:
        self._radio, self._timing, self._rng = radio, timing, rng
        self.antennas = antennas
        self.start(0)

    def start(self, now_ns: int) -> None:
        """Begin with the first antenna."""
        self._at = -1
        self._looked: list[str] | None = None
        self._begin_ns = self._look_ns = self._end_ns = now_ns
        self._idle = True

    def due_ns(self) -> int:
        """Time of the next look or end."""
        return self._look_ns if self._looked is None and not self._idle else self._end_ns

    def step(self, now_ns: int) -> tuple[int, int, list[str]] | None:
        """(antenna, time, UIDs) of a visit that has ended by now, or None; call until it returns None."""
        while self.due_ns() <= now_ns:
            if not self._idle and self._looked is None:
                self._looked = self._radio.answering()
                continue
            done = None
            if not self._idle and self._looked is not None:
                spoilt = self._radio.spoilt(self._begin_ns, self._end_ns)
                spoilt = spoilt or self._rng.random() < self._radio.noise.rf_error
                done = (self.antennas[self._at], self._end_ns, [] if spoilt else self._looked)
            self._next()
            if done is not None:
                return done
        return None

    def _next(self) -> None:
        t = self._timing
        self._at = (self._at + 1) % len(self.antennas)
        self._radio.power((self.antennas[self._at],), self._end_ns)
        self._radio.wake()
        self._begin_ns = self._end_ns + t.ns(t.switch_ms)
        busy = max(t.inventory_ns(self._radio.present()), LEAST_VISIT_NS)
        self._end_ns = self._begin_ns + busy
        self._look_ns = self._begin_ns + self._rng.randrange(busy)
        self._radio.ask(self._begin_ns, self._end_ns)
        self._looked, self._idle = None, False


class BufferedRead:
    """Table, commands 22, 31, 32, 33, and notifications.

    A tag is recorded again on the same antenna only when ``valid_ms`` have passed since it was recorded there.
    """

    def __init__(self, scan: Scan, *, notify: bool, ack: bool, valid_ms: float, keepalive_ms: float = 0.0) -> None:
        self._scan, self._notify, self._ack = scan, notify, ack
        self._keepalive_ns = round(keepalive_ms * MS)
        self._valid_ns = round(valid_ms * MS)
        self._begun = False
        self.start(0)

    def start(self, now_ns: int) -> None:
        """Power-up: the table is empty."""
        self._boot_ns = now_ns
        self._table: list[DataSet] = []
        self._recorded: dict[tuple[str, int], int] = {}
        self._read = 0
        self._overflow = False
        self._repeat_ns: int | None = None
        self._alive_ns = now_ns + self._keepalive_ns
        self._scan.start(now_ns)

    def next_due_ns(self) -> int:
        """When the reader next does something by itself."""
        times = [self._scan.due_ns()]
        if self._repeat_ns is not None:
            times.append(self._repeat_ns)
        if self._keepalive_ns:
            times.append(self._alive_ns)
        return min(times)

    def alive(self, now_ns: int) -> bool:
        """A keep-alive message is due; one a period."""
        if not self._keepalive_ns or now_ns < self._alive_ns:
            return False
        self._alive_ns = now_ns + self._keepalive_ns
        return True

    def step(self, now_ns: int) -> list[tuple[int, bytes]]:
        """Go on with the round; notifications to send, each as status and data."""
        if not self._begun:
            # The clock may have run long before this reader was switched on.
            self.start(max(now_ns, self._boot_ns))
            self._begun = True
        while (visit := self._scan.step(now_ns)) is not None:
            antenna, at, uids = visit
            for uid in uids:
                self._record(uid, antenna, at)
        told: list[tuple[int, bytes]] = []
        if not self._notify:
            return told
        if self._ack:
            waiting = self._repeat_ns is not None and now_ns < self._repeat_ns
            if self._table and not waiting:
                told.append(self._answer(IN_ONE_NOTIFICATION))
                self._repeat_ns = now_ns + ACKNOWLEDGE_NS
            return told
        while self._table:
            told.append(self._answer(IN_ONE_NOTIFICATION))
            self._clear()
        return told

    def _record(self, uid: str, antenna: int, at_ns: int) -> None:
        last = self._recorded.get((uid, antenna))
        if last is not None and at_ns - last < self._valid_ns:
            return
        if len(self._table) >= TABLE:
            self._overflow = True
            return
        self._recorded[uid, antenna] = at_ns
        self._table.append(DataSet(uid, antenna, (at_ns - self._boot_ns) // MS & 0xFFFFFFFF))

    def _answer(self, most: int) -> tuple[int, bytes]:
        self._read = min(most, len(self._table))
        head = bytes((IDENTIFIER | TIME | ANTENNA,)) + self._read.to_bytes(2, "big")
        status = OVERFLOW if self._overflow else OK
        return status, head + b"".join(s.encoded() for s in self._table[: self._read])

    def _clear(self) -> None:
        del self._table[: self._read]
        self._read = 0
        self._overflow = False
        self._repeat_ns = None

    def command(self, code: int, data: bytes) -> tuple[int, bytes]:
        """Status and data of an answer to a command of these modes."""
        if len(data) != (2 if code == 0x22 else 0):
            return LENGTH_ERROR, b""
        match code:
            case 0x22:
                most = int.from_bytes(data, "big")
                return self._answer(min(most, TABLE)) if self._table and most else (NO_DATA, b"")
            case 0x31:
                sizes = (TABLE, 0, len(self._table))
                return (OVERFLOW if self._overflow else OK), b"".join(n.to_bytes(2, "big") for n in sizes)
            case 0x32:
                self._clear()
            case _:
                self._table.clear()
                self._recorded.clear()
                self._clear()
        return OK, b""
