"""What a FEIG reader's table holds, as evidence that counts once, and when the table may be cleared.

A reader in buffered read or notification mode keeps its data sets until [0x32] says that they were taken
(H20411-0e-ID-B p. 153-156, H71011-0e-ID-B p. 105).  That is said only when the sink has committed every observation
that was made of them (see `acts`).  Until then, and after a crash, the same data sets come again; those that
are known are not told again.

A data set that carries the reader's time is named by its bytes; one without by its bytes and by which of its equals
it is, which is good only as long as the line stays open.
"""

from __future__ import annotations

import msgspec

from firmware_bridge.framing.feig import FeigFrame
from firmware_bridge.session.acts import Acts
from firmware_bridge.session.asking import Found
from firmware_bridge.session.contract import Counters
from firmware_bridge.session.inventory import Record, Status, describe, read_records
from firmware_bridge.wire import AnyObservation, Corrupt, DeviceId, Present, Tag, TimeSpan

READ_BUFFER = 0x22
BUFFER_INFO = 0x31
CLEAR_BUFFER = 0x32
MAX_WAITING = 1024
"""Observations that may wait for the sink; beyond that an answer is left to the reader, which keeps it."""
SLOW_NS = 5_000_000_000
"""The sink has had an observation for so long: a technician is told."""
_WITH_RECORDS = frozenset({Status.OK, Status.RF_WARNING, 0x85, Status.DATA_OVERFLOW, Status.MORE_DATA})

Name = tuple[bytes, int]


def has_table(frame: FeigFrame) -> bool:
    """Whether an answer to [0x31] is that of a reader that keeps a table."""
    return frame.status in _WITH_RECORDS


def table_length(frame: FeigFrame) -> int | None:
    """Data sets in the table, of an answer to [0x31] (H20411-0e-ID-B p. 156); None if it does not say."""
    if not has_table(frame) or len(frame.data) != 6:
        return None
    return int.from_bytes(frame.data[4:6], "big")


class Table:
    """One reader's table as far as it is known.  Outlives the line."""

    def __init__(self, device: DeviceId, antennas: tuple[int, ...]) -> None:
        self._device = device
        self._antennas = antennas
        self._acts: Acts[Name] = Acts()
        self._waiting: dict[AnyObservation, tuple[Name, ...]] = {}
        self._since_ns = self._seen_ns = 0
        self._stranger: int | None = None
        self._strangers = 0
        self._batch: tuple[Name, ...] | None = None
        self.timed = False
        """The newest data sets carry the reader's time."""
        self.corrupt = self.foreign = self.dropped = 0

    # -- what the reader says --------------------------------------------------------------------

    def reopened(self) -> None:
        """The line is open again: the reader may have started anew meanwhile, which empties its table."""
        self._batch = None
        if not self.timed:
            self._acts, self._waiting = Acts(), {}

    def take(self, frame: FeigFrame, span: TimeSpan) -> Found:
        """An answer with data sets: what is new in it, one incomplete `Present` an antenna."""
        self._batch = None
        self._seen_ns = span.latest_ns
        if len(self._waiting) >= MAX_WAITING:
            self.dropped += 1
            return []
        if frame.status not in _WITH_RECORDS:
            return self._spoilt(describe(frame.status), span)
        read = read_records(frame.data)
        if read.fault:
            # Cleared as well once the journal says that something was not understood; else it would come for ever.
            self._batch = ()
            return self._hand(self._spoilt(read.fault, span))
        self.timed = read.timed
        names, fresh = self._meet(read.records)
        self._batch = names
        found = self._sightings(fresh, span)
        if frame.status == Status.DATA_OVERFLOW:
            found += self._hand(self._spoilt(describe(frame.status), span))
        return found

    def emptied(self) -> None:
        """The reader says that its table is empty."""
        self._batch = None
        self._acts.forget()

    def cleared(self) -> None:
        """[0x32] was sent for the newest answer."""
        self._batch = None

    def forget(self) -> None:
        """[0x32] was confirmed, and no older answer can still be on its way."""
        self._acts.forget()

    # -- what the sink says ----------------------------------------------------------------------

    @property
    def held(self) -> int:
        """Data sets of the newest answer, which the reader still holds."""
        return len(self._batch or ())

    @property
    def waits(self) -> bool:
        """The newest answer is not committed yet."""
        return self._batch is not None and not self.may_clear

    @property
    def may_clear(self) -> bool:
        """Everything that was read is committed, and the reader still holds it."""
        return self._batch is not None and not self._waiting and all(self._acts.has(name) for name in self._batch)

    def acknowledge(self, observation: AnyObservation) -> bool:
        """The sink has committed it.  False if it was none of these."""
        names = self._waiting.pop(observation, None)
        for name in names or ():
            self._acts.acknowledge(name)
        return names is not None

    def withdraw(self, observation: AnyObservation) -> bool:
        """The sink could not keep it: its data sets are new when they are read again."""
        names = self._waiting.pop(observation, None)
        for name in names or ():
            self._acts.withdraw(name)
        if names is not None:
            self._batch = None
        return names is not None

    def notes(self, now_ns: int) -> tuple[str, ...]:
        """What a technician should know."""
        found = []
        if self._stranger is not None or self._strangers:
            found.append(
                f"reader '{self._device}' names antenna {self._stranger}, which is not among its 'antennas': "
                "add it, or set the reader to send antenna numbers"
            )
        slow_ns = now_ns - self._since_ns
        if self._waiting and slow_ns > SLOW_NS:
            found.append(
                f"reader '{self._device}': {len(self._waiting)} observations wait for the journal since "
                f"{slow_ns // 1_000_000_000} s; the reader keeps them till its table is full. See to the journal's disk"
            )
        return tuple(found)

    def added_to(self, counters: Counters) -> Counters:
        """A session's counters with what was counted here."""
        return msgspec.structs.replace(
            counters,
            corrupt=counters.corrupt + self.corrupt,
            foreign=counters.foreign + self.foreign,
            dropped=counters.dropped + self.dropped,
        )

    # -- evidence --------------------------------------------------------------------------------

    def _meet(self, records: tuple[Record, ...]) -> tuple[tuple[Name, ...], dict[Name, Record]]:
        """Names of all data sets, and those that are not known yet."""
        equals: dict[bytes, int] = {}
        names: list[Name] = []
        fresh: dict[Name, Record] = {}
        for record in records:
            nth = equals.get(record.raw, 0)
            equals[record.raw] = nth + 1
            name = (record.raw, nth)
            names.append(name)
            if self._acts.meet(name) == "new":
                fresh[name] = record
        return tuple(names), fresh

    def _sightings(self, fresh: dict[Name, Record], span: TimeSpan) -> Found:
        seen: dict[int, dict[Name, str]] = {}
        for name, record in fresh.items():
            antenna = self._antennas[0] if record.antenna is None else record.antenna
            if (record.antenna is None and len(self._antennas) > 1) or antenna not in self._antennas:
                self.foreign += 1
                self._strangers += 1
                self._stranger = record.antenna
                self._acts.acknowledge(name)  # of no use to anyone
                continue
            seen.setdefault(antenna, {})[name] = record.uid
        found: Found = []
        for antenna, uids in sorted(seen.items()):
            tags = tuple(Tag(uid) for uid in sorted(set(uids.values())))
            sighting = Present(self._device, span, antenna, tags, complete=False)
            found += self._hand([sighting], tuple(uids))
        return found

    def _spoilt(self, reason: str, span: TimeSpan) -> Found:
        self.corrupt += 1
        return [Corrupt(self._device, span, antenna, reason) for antenna in self._antennas]

    def _hand(self, found: Found, names: tuple[Name, ...] = ()) -> Found:
        """Goes to the sink, whose word is awaited."""
        if not self._waiting:
            self._since_ns = self._seen_ns
        self._waiting.update(dict.fromkeys(found, names))
        return found
