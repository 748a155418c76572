"""The MQTT outlet's thread without its thread and socket, after `tabled.outlets.mqtt.MqttOutlet`.

`Outbox`, its store and the command parser are the real ones; retained values, acknowledgements of commands, the
memory of request ids, the give-up after ten silent seconds and the back-off are done as there.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Callable
from random import Random

import msgspec

from tabled.model.outcome import AnyOperatorAct
from tabled.outlets import mqtt, topics
from tabled.outlets.commands import Refusal, parse_command
from tabled.outlets.messages import render_ack
from tabled.outlets.outbox import Outbox, OutboxStore
from tabled.outlets.topics import Origin
from tests.dst.broker import Broker
from tests.dst.clock import Clock, S
from tests.dst.death import Reaper

Published = Callable[[str, bytes, int | None], None]


class Outlet:
    """``published(leaf, payload, position)`` sees each message as it is handed to the broker."""

    def __init__(
        self,
        store: OutboxStore,
        make_outbox: Callable[[OutboxStore], Outbox],
        broker: Broker,
        on_command: Callable[[AnyOperatorAct], None],
        origin: Origin,
        clock: Clock,
        reaper: Reaper,
        chance: Random,
        published: Published,
    ) -> None:
        self._broker, self._on_command, self._origin = broker, on_command, origin
        self._clock, self._reaper, self._chance, self._published = clock, reaper, chance, published
        self.outbox = make_outbox(store)
        self._slots: dict[str, bytes] = {}
        self._dirty: set[str] = set()
        self._slot_mids: dict[int, str] = {}
        self.acks: deque[bytes] = deque()
        self._ack_mids: set[int] = set()
        self._requests: OrderedDict[str, tuple[bytes, bytes | None]] = OrderedDict()
        self._mid = 0
        self.connected = False
        self._retry_ns = self._progress_ns = clock.host_ns
        self._attempt = 0

    # -- the daemon's side -----------------------------------------------------------------------

    def set_state(self, payload: bytes) -> None:
        """The newest picture; retained."""
        self._slots[topics.STATE] = payload
        self._dirty.add(topics.STATE)

    def ack(self, request: str, ok: bool, reason: str, position: int | None = None) -> None:
        """What became of a command."""
        payload = render_ack(request, ok, reason, position, self._clock.wall_ns, origin=self._origin)
        if request in self._requests:
            self._requests[request] = (self._requests[request][0], payload)
        self._queue(payload)

    def _queue(self, payload: bytes) -> None:
        if len(self.acks) < mqtt.MAX_ACKS:
            self.acks.append(payload)

    # -- the thread's side -----------------------------------------------------------------------

    def next_due_ns(self) -> int | None:
        """Host time at which something happens here by itself."""
        if not self.connected:
            return self._retry_ns
        return self._progress_ns + mqtt._ACK_TIMEOUT_NS + 1 if self._waiting() else None

    def _waiting(self) -> bool:
        return bool(self.outbox.in_flight or self._slot_mids or self._ack_mids)

    def turn(self) -> bool:
        """All that is due now; True when anything happened."""
        now_ns = self._clock.host_ns
        if not self.connected:
            return now_ns >= self._retry_ns and self._connect(now_ns)
        if not self._broker.connected:
            self._lose(now_ns)
            return True
        moved = False
        for mid in self._broker.acks(self._clock.virtual_ns):
            self._reaper.point("PUBACK came, cursor not moved")
            self._progress_ns = now_ns
            self._acked(mid)
            moved = True
        for leaf, payload in self._broker.commands(self._clock.virtual_ns):
            self._command(leaf, payload)
            moved = True
        moved = self._pump(now_ns) or moved
        if self._waiting() and now_ns - self._progress_ns > mqtt._ACK_TIMEOUT_NS:
            self._broker.drop()
            self._lose(now_ns)
        return moved

    def _connect(self, now_ns: int) -> bool:
        if self._broker.connect():
            self.connected, self._attempt, self._progress_ns = True, 0, now_ns
            self._dirty.update(self._slots)
            return True
        self._attempt += 1
        self._back_off(now_ns)
        return True

    def _lose(self, now_ns: int) -> None:
        self.connected = False
        self.outbox.rewind()
        self._slot_mids.clear()
        self._ack_mids.clear()
        self._attempt = 1
        self._back_off(now_ns)

    def _back_off(self, now_ns: int) -> None:
        pause_s = min(5.0, 0.2 * 2 ** min(self._attempt - 1, 16)) * (0.5 + 0.5 * self._chance.random())
        self._retry_ns = now_ns + round(pause_s * S)

    def _acked(self, mid: int) -> None:
        self._ack_mids.discard(mid)
        if self._slot_mids.pop(mid, None) is None:
            self.outbox.acknowledged(mid)
            self._reaper.point("cursor moved")

    def _pump(self, now_ns: int) -> bool:
        """Retained values, one of each under way; answers; then the outbox."""
        moved = False
        if not self._waiting():
            self._progress_ns = now_ns
        for leaf in sorted(self._dirty):
            if leaf not in self._slot_mids.values():
                self._dirty.discard(leaf)
                self._slot_mids[self._publish(leaf, self._slots[leaf], retain=True)] = leaf
                moved = True
        while self.acks and len(self._ack_mids) < mqtt._ACKS_IN_FLIGHT:
            self._ack_mids.add(self._publish(topics.ACK, self.acks.popleft()))
            moved = True
        while (message := self.outbox.next()) is not None:
            mid = self._publish(message.leaf, message.payload, position=message.position)
            self._reaper.point("published, not booked as sent")
            self.outbox.sent(mid)
            self._reaper.point("booked as sent")
            moved = True
        return moved

    def _publish(self, leaf: str, payload: bytes, *, retain: bool = False, position: int | None = None) -> int:
        self._reaper.point("not published yet")
        self._mid += 1
        self._published(leaf, payload, position)
        self._broker.publish(self._mid, leaf, payload, retain, self._clock.virtual_ns)
        return self._mid

    def _command(self, leaf: str, payload: bytes) -> None:
        parsed = parse_command(leaf, payload)
        if isinstance(parsed, Refusal):
            self._queue(
                render_ack(parsed.request, False, parsed.reason, None, self._clock.wall_ns, origin=self._origin)
            )
            return
        mark = msgspec.json.encode(parsed)
        known = self._requests.get(parsed.request)
        if known is not None and known[0] == mark:
            if known[1] is not None:
                self._queue(known[1])
            return
        self._requests[parsed.request] = (mark, None)
        while len(self._requests) > mqtt.MAX_REQUESTS:
            self._requests.popitem(last=False)
        self._on_command(parsed)
