"""A FEIG reader that goes round its antennas by itself: buffered read mode and notification mode.

Buffered: [0x22] reads the data sets of the reader's table, [0x32] clears those that were read.  Notification: the
reader sends the same answer unasked and waits for the [0x32], or sends it again.  Sources: FEIG system manuals
H20411-0e-ID-B p. 153-156, H40801-5e-ID-B p. 15, H71011-0e-ID-B p. 61 and 105.

A data set says that a tag was there; nothing here ever says that one was not (status 92 means that the table
is empty, not the field).  So these modes report arrivals only, as incomplete `Present`; a seat's betting area
needs mode "host".  The same data sets again, because their clearing or its answer was lost, are told once.
Times: a data set was made after the last moment at which everything before it had been taken.
"""

from __future__ import annotations

from firmware_bridge.framing.feig import FeigFrame
from firmware_bridge.session.asking import MS, Found, Role
from firmware_bridge.session.contract import Figures
from firmware_bridge.session.feig import FeigSession
from firmware_bridge.session.inventory import Record, Status, describe, read_records
from firmware_bridge.session.schedule import Member
from firmware_bridge.wire import Corrupt, Present, Tag, TimeSpan

READ_BUFFER = 0x22
CLEAR_BUFFER = 0x32
INITIALIZE_BUFFER = 0x33
SIGN_OF_LIFE = (0x66, b"\x00")
DATA_SETS = 255
"""Data sets asked for at once."""
_WITH_RECORDS = frozenset({Status.OK, Status.RF_WARNING, 0x85, Status.DATA_OVERFLOW, Status.MORE_DATA})


class FeigBufferSession(FeigSession):
    """One reader in buffered read or notification mode."""

    def member_in(self, *, shared: bool) -> Member:
        """The reader's own round cannot be put into a plan."""
        if shared:
            raise ValueError(f"reader '{self.device}' goes round by itself; neighbours need mode \"host\"")
        return Member(device=self.device, antennas=self.options.antennas, full_ns=(0,) * len(self.options.antennas))

    def _reset(self) -> None:
        super()._reset()
        self._initialized = False
        self._told: tuple[Record, ...] = ()
        """Data sets that were told and whose clearing is not confirmed, or the newest batch."""
        self._timed = False
        self._taken_ns = 0
        """Everything before this was taken when the last batch came."""
        self._asked_ns = 0
        """When the newest answered question was asked."""

    def worst_arrival_ns(self, antenna: int) -> int | None:
        """The reader's own round is not known here."""

    def worst_removal_ns(self, antenna: int) -> int | None:
        """Removals are not seen."""

    def figures(self) -> Figures:
        """Nothing is stated for a round that the reader makes by itself."""
        return Figures(notes=tuple(self._notes.values()))

    # -- the rounds ------------------------------------------------------------------------------

    def _after_barrier(self, now_ns: int) -> Found:
        if self._initialized:
            self._next(now_ns)
        else:
            # What was recorded before we came has no time that can be known.
            self._ask((INITIALIZE_BUFFER, b""), self._on_initialized, now_ns, Role.HELLO)
        return []

    def _on_initialized(self, frame: FeigFrame, now_ns: int) -> Found:
        if frame.status != Status.OK:
            reason = f'it has no buffer ({describe(frame.status)}); set mode "{self.options.mode}" with FEIG\'s tool'
            return [self._refused(reason, now_ns)]
        assert self._question is not None, "it was asked"
        self._initialized = True
        self._taken_ns = self._asked_ns = self._question.first_ns
        self._next(now_ns)
        return []

    def _next(self, now_ns: int) -> None:
        if self._suspect:
            self._ask_barrier(now_ns)
        elif self.options.mode == "buffered":
            command = (READ_BUFFER, DATA_SETS.to_bytes(2, "big"))
            timeout_ms = self.options.inventory_timeout_ms
            self._ask(command, self._on_buffer, now_ns, Role.BARRIER, timeout_ms=timeout_ms)
        else:
            self._ask(SIGN_OF_LIFE, self._on_life, now_ns, Role.BARRIER)

    def _on_life(self, _frame: FeigFrame, now_ns: int) -> Found:
        assert self._question is not None, "it was asked"
        self._asked_ns = self._question.sent_ns
        self._rest(now_ns + self.options.ping_ms * MS)
        return []

    def _on_buffer(self, frame: FeigFrame, now_ns: int) -> Found:
        assert self._question is not None, "it was asked"
        asked_ns = self._question.sent_ns
        if frame.status == Status.NO_VALID_DATA:
            self._told = ()
            self._taken_ns = asked_ns
            self._rest(now_ns + self.options.poll_ms * MS)
            return []
        found = self._batch(frame, now_ns)
        self._taken_ns = asked_ns
        self._clear(now_ns)
        return found

    def _unasked(self, frame: FeigFrame, now_ns: int) -> Found:
        if frame.command != READ_BUFFER or self.options.mode != "notify" or not self._initialized or self._closed:
            return super()._unasked(frame, now_ns)
        found = self._batch(frame, now_ns)
        self._taken_ns = self._asked_ns
        self._clear(now_ns)
        return found

    def _clear(self, now_ns: int) -> None:
        # Not asked twice: if its answer is lost, the table shows whether it was obeyed.
        self._ask((CLEAR_BUFFER, b""), self._on_cleared, now_ns, Role.BARRIER)

    def _on_cleared(self, frame: FeigFrame, now_ns: int) -> Found:
        if frame.status != Status.OK:
            self._foreign += 1
        elif self.options.mode == "buffered" or not self._timed:
            self._told = ()
        self._rest(now_ns + (self.options.poll_ms if self.options.mode == "buffered" else self.options.ping_ms) * MS)
        return []

    # -- evidence --------------------------------------------------------------------------------

    def _batch(self, frame: FeigFrame, now_ns: int) -> Found:
        span = TimeSpan(self._taken_ns, now_ns)
        if frame.status not in _WITH_RECORDS:
            return self._spoilt_round(describe(frame.status), span)
        read = read_records(frame.data)
        if read.fault:
            return self._spoilt_round(read.fault, span)
        known = len(self._told)
        again = known > 0 and read.records[:known] == self._told
        fresh = read.records[known:] if again else read.records
        self._told, self._timed = read.records, read.timed
        found = self._sightings(fresh, span)
        if frame.status == Status.DATA_OVERFLOW:
            found += self._spoilt_round(describe(frame.status), span)
        return found

    def _sightings(self, records: tuple[Record, ...], span: TimeSpan) -> Found:
        seen: dict[int, set[str]] = {}
        for record in records:
            antenna = self.options.antennas[0] if record.antenna is None else record.antenna
            lost = record.antenna is None and len(self.options.antennas) > 1
            if lost or antenna not in self.options.antennas:
                self._foreign += 1
                self._notes["antenna"] = (
                    f"reader '{self.device}' names antenna {record.antenna}, which is not among its 'antennas': "
                    "add it, or set the reader to send antenna numbers"
                )
                continue
            seen.setdefault(antenna, set()).add(record.uid)
        return [
            Present(self.device, span, antenna, tuple(Tag(uid) for uid in sorted(uids)), complete=False)
            for antenna, uids in sorted(seen.items())
        ]

    def _spoilt_round(self, reason: str, span: TimeSpan) -> Found:
        self._corrupt += 1
        return [Corrupt(self.device, span, antenna, reason) for antenna in self.options.antennas]
