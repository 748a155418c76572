"""The outbox: the journal plus a cursor, sent in order, at most eight at a time.

A ruling's id is its journal position, so nothing is stored twice: what is to be sent is what the
journal holds after the cursor.  The cursor moves only over messages that the broker has
acknowledged, in order; whatever a crash interrupts is sent again under the same id.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from typing import Protocol

import msgspec

from tabled.outlets import topics
from tabled.outlets.messages import MAX_PAYLOAD, Outgoing, encode, oversize_data

MAX_IN_FLIGHT = 8
BATCH = 64
REDO = 32
"""Acknowledged messages sent again after a lost connection: a broker that dies between its
acknowledgement and the delivery would otherwise lose them (rumqttd keeps them in memory only)."""

SUSPECT = 16_384
"""Bytes.  A message longer than this that was first in flight in `SUSPECT_DROPS` lost connections in a row is
taken to be above the broker's own limit (rumqttd's default is 20,480 and it closes the link without a
word): a notice goes out in its place, since it would hold back everything behind it for ever."""
SUSPECT_DROPS = 3

RECENT_BYTES = 49_152
RECENT_RULINGS = 8
RECENT_ALERTS = 16
_LOOK_BACK = (256, 2_048, 16_384)


class Sendable(Protocol):
    """A message of the outbox: `Outgoing`, or the store's own row with the same three fields.

    ``position`` in the journal, ``leaf`` under the table's prefix, ``payload`` in bytes.
    """

    @property
    def position(self) -> int: ...
    @property
    def leaf(self) -> str: ...
    @property
    def payload(self) -> bytes: ...


class OutboxStore(Protocol):
    """What the journal offers.  All three are called from the outlet's thread, so a store must allow that.

    ``pending(after, limit)``: up to ``limit`` committed messages with position > ``after``, by position,
    those of one position in the order of `render`.  A limit may cut a position in two; the outbox minds.
    ``cursor()``: the position up to which everything has been acknowledged, 0 at first.
    ``advance(position)``: moves it, durably; never backwards.
    """

    def pending(self, after: int, limit: int) -> Sequence[Sendable]: ...
    def cursor(self) -> int: ...
    def advance(self, position: int) -> None: ...


class _Sent:
    """A message in flight."""

    __slots__ = ("acked", "message", "mid")

    def __init__(self, message: Sendable, mid: int) -> None:
        self.message, self.mid, self.acked = message, mid, False


class Outbox:
    """Which message goes next, and how far the broker has taken them.  Used by one thread; no I/O but the store's."""

    def __init__(self, store: OutboxStore) -> None:
        self._store = store
        self.cursor = store.cursor()
        self._read = self.cursor
        self._ready: deque[Sendable] = deque()
        self._flight: deque[_Sent] = deque()
        self._done: deque[Sendable] = deque(maxlen=REDO)
        self._head: tuple[int, str] | None = None
        self._drops = 0
        self.published = 0
        self.withheld = 0
        self.limit = MAX_PAYLOAD
        """Bytes that the broker of this connection takes (MQTT 5 says so); longer messages become notices."""

    @property
    def in_flight(self) -> int:
        """Messages sent and not yet acknowledged."""
        return len(self._flight)

    def rewind(self) -> None:
        """After a lost connection: forget what was in flight, send it again, and the last `REDO` before it."""
        if self._flight:
            head = (self._flight[0].message.position, self._flight[0].message.leaf)
            self._drops = self._drops + 1 if head == self._head else 1
            self._head = head
        self._flight.clear()
        whole = [m for m in self._done if m.position <= self.cursor]
        self._done = deque(whole, maxlen=REDO)
        self._ready = deque(whole)
        self._read = self.cursor

    def next(self) -> Sendable | None:
        """The next message to send, None if there is none or eight are under way; `sent` must follow."""
        if len(self._flight) >= MAX_IN_FLIGHT:
            return None
        if not self._ready:
            self._fill()
        if not self._ready:
            return None
        message = self._ready[0]
        size = len(message.payload)
        stuck = size > SUSPECT and self._drops >= SUSPECT_DROPS and (message.position, message.leaf) == self._head
        if stuck or size > self.limit:
            message = self._ready[0] = _notice(message, SUSPECT if stuck else self.limit)
            self.withheld += 1
        return message

    def sent(self, mid: int) -> None:
        """The message that `next` gave went out under the client's message id ``mid``."""
        self._flight.append(_Sent(self._ready.popleft(), mid))

    def acknowledged(self, mid: int) -> list[Sendable]:
        """The broker took message ``mid``; returns the messages newly complete, in order (often one, or none)."""
        for item in self._flight:
            if item.mid == mid:
                item.acked = True
        complete: list[Sendable] = []
        while self._flight and self._flight[0].acked:
            complete.append(self._flight.popleft().message)
        fresh = [m for m in complete if m.position > self.cursor]
        self._done.extend(fresh)
        self.published += len(complete)
        self._move()
        return fresh

    def _move(self) -> None:
        """Advance over whole positions: one that still has a message to come is not passed."""
        if not self._done:
            return
        last = self._done[-1].position
        ahead = self._flight[0].message if self._flight else self._ready[0] if self._ready else None
        whole = last
        if ahead is not None and ahead.position == last:
            whole = max((m.position for m in self._done if m.position < last), default=self.cursor)
        if whole > self.cursor:
            self._store.advance(whole)
            self.cursor = whole

    def _fill(self) -> None:
        batch = list(self._store.pending(self._read, BATCH))
        if len(batch) >= BATCH and batch[0].position != batch[-1].position:
            last = batch[-1].position  # the limit may have cut this position: read it again, whole
            batch = [m for m in batch if m.position != last]
        if batch:
            self._ready.extend(batch)
            self._read = batch[-1].position


class Recent:
    """What a display that opens now must be shown: the newest rulings, the open question, the open alerts.

    Published retained on ``recent`` as ``{"messages": [{"leaf", "event"}, …]}``, oldest first, each event
    exactly as it went out on its own topic: a page reads them with the same code and drops ids it knows.
    """

    def __init__(self) -> None:
        self._rulings: deque[Sendable] = deque(maxlen=RECENT_RULINGS)
        self._question: Sendable | None = None
        self._alerts: dict[str, Sendable] = {}
        self.alerts_dropped = 0

    def take(self, message: Sendable) -> bool:
        """Note a message; True if the snapshot changed."""
        if message.leaf == topics.RULING:
            self._rulings.append(message)
        elif message.leaf == topics.QUESTION:
            self._question = message
        elif message.leaf == topics.QUESTION_CLOSED:
            self._question = None
        elif message.leaf == topics.ALERT:
            self._take_alert(message)
        else:
            return False
        return True

    def _take_alert(self, message: Sendable) -> None:
        data = msgspec.json.decode(message.payload, type=_AlertEvent).data
        self._alerts.pop(data.subject, None)
        if data.cleared or not data.subject:
            return
        self._alerts[data.subject] = message
        while len(self._alerts) > RECENT_ALERTS:
            self._alerts.pop(next(iter(self._alerts)))
            self.alerts_dropped += 1

    def messages(self) -> list[dict[str, object]]:
        """The snapshot, oldest first; the newest `RECENT_BYTES` of it."""
        kept = [*self._rulings, *self._alerts.values(), *([self._question] if self._question else [])]
        kept.sort(key=lambda m: m.position, reverse=True)
        size = 0
        chosen: list[dict[str, object]] = []
        for message in kept:
            size += len(message.payload)
            if size > RECENT_BYTES:
                break
            chosen.append({"leaf": message.leaf, "event": msgspec.Raw(message.payload)})
        return chosen[::-1]

    def seed(self, store: OutboxStore) -> None:
        """Rebuild after a restart from what was sent before: looks back until enough rulings are found."""
        cursor = store.cursor()
        for back in _LOOK_BACK:
            start = max(0, cursor - back)
            found = [m for m in _between(store, start, cursor) if m.leaf in topics.DISPLAY]
            if start == 0 or back == _LOOK_BACK[-1] or sum(m.leaf == topics.RULING for m in found) >= RECENT_RULINGS:
                for message in found:
                    self.take(message)
                return


class _AlertData(msgspec.Struct):
    subject: str = ""
    cleared: bool = False


class _AlertEvent(msgspec.Struct):
    data: _AlertData


def _notice(message: Sendable, limit: int) -> Outgoing:
    """What goes out in place of a message that is too long for the broker, under the same id."""
    event = msgspec.json.decode(message.payload)
    event["data"] = oversize_data(message.leaf, len(message.payload), limit)
    return Outgoing(message.position, message.leaf, encode(event))


def _between(store: OutboxStore, after: int, upto: int) -> Iterator[Sendable]:
    """Messages with after < position <= upto, whole positions, in bounded bites."""
    while after < upto:
        batch = list(store.pending(after, BATCH))
        if len(batch) >= BATCH and batch[0].position != batch[-1].position:
            batch = [m for m in batch if m.position != batch[-1].position]
        if not batch:
            return
        yield from (m for m in batch if m.position <= upto)
        after = batch[-1].position


__all__ = ["BATCH", "MAX_IN_FLIGHT", "Outbox", "OutboxStore", "Outgoing", "Recent", "Sendable"]
