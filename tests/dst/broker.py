"""An MQTT broker and its one subscriber, the people at the table, as far as QoS 1 shows them to a publisher.

Order is kept on a connection, as TCP keeps it.  A message is taken, acknowledged and delivered to the subscriber, each
a little later; a lost connection loses what is on its way in either direction, and the publisher cannot tell
which.  The subscriber is there whenever the broker is.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any

from tests.dst.clock import MS

_TO_BROKER_NS = 2 * MS
_ACK_NS = 2 * MS
_DELIVER_NS = 3 * MS

Hear = Callable[[str, bytes], None]


class Broker:
    """``up``: it serves.  ``mute``: it takes messages and says nothing."""

    def __init__(self, hear: Hear) -> None:
        self._hear = hear
        self.up = True
        self.mute = False
        self.connected = False
        self.met = False
        self.retained: dict[str, bytes] = {}
        self._sent: deque[tuple[int, int, str, bytes, bool]] = deque()
        self._acks: deque[tuple[int, int]] = deque()
        self._deliveries: deque[tuple[int, str, bytes]] = deque()
        self._commands: deque[tuple[int, str, bytes]] = deque()
        self.commands_lost = 0

    # -- the publisher's side --------------------------------------------------------------------

    def connect(self) -> bool:
        """A new connection; False when nobody answers."""
        self._cut()
        self.connected = self.up
        self.met = self.met or self.up
        return self.connected

    def publish(self, mid: int, leaf: str, payload: bytes, retain: bool, now_ns: int) -> None:
        """One message with QoS 1."""
        assert self.connected
        self._sent.append((now_ns + _TO_BROKER_NS, mid, leaf, payload, retain))

    def acks(self, now_ns: int) -> list[int]:
        """PUBACKs that arrived."""
        self.step(now_ns)
        return _due(self._acks, now_ns, lambda item: item[1])

    def commands(self, now_ns: int) -> list[tuple[str, bytes]]:
        """Commands that arrived."""
        return _due(self._commands, now_ns, lambda item: (item[1], item[2]))

    # -- the floor's side ------------------------------------------------------------------------

    def order(self, leaf: str, payload: bytes, now_ns: int, *, copies: int = 1) -> None:
        """The floor publishes a command; lost when no daemon is there (it subscribes with a clean session)."""
        if not (self.up and self.connected):
            self.commands_lost += 1
            return
        self._commands.extend([(now_ns + _DELIVER_NS, leaf, payload)] * copies)

    # -- faults ----------------------------------------------------------------------------------

    def drop(self) -> None:
        """The connection breaks."""
        self._cut()

    def stop(self, *, forget: bool) -> None:
        """It goes down; ``forget``: with all it held, also what it had acknowledged and not delivered."""
        self._cut()
        self.up = False
        if forget:
            self.retained.clear()
            self._deliveries.clear()

    def start(self) -> None:
        """It is back."""
        self.up = True

    def _cut(self) -> None:
        self.connected = False
        self._sent.clear()
        self._acks.clear()
        self._commands.clear()

    # -- time ------------------------------------------------------------------------------------

    def step(self, now_ns: int) -> None:
        """What is due by now."""
        while self._sent and self._sent[0][0] <= now_ns:
            at, mid, leaf, payload, retain = self._sent.popleft()
            if retain:
                self.retained[leaf] = payload
            self._deliveries.append((at + _DELIVER_NS, leaf, payload))
            if not self.mute:
                self._acks.append((at + _ACK_NS, mid))
        while self.up and self._deliveries and self._deliveries[0][0] <= now_ns:
            _, leaf, payload = self._deliveries.popleft()
            self._hear(leaf, payload)

    def next_due_ns(self, now_ns: int) -> int | None:
        """When something happens here by itself.  What has arrived at a publisher that does not look is no event."""
        queues: list[deque[Any]] = [self._sent, self._acks, self._commands]
        if self.up:
            queues.append(self._deliveries)
        return min((q[0][0] for q in queues if q and q[0][0] > now_ns), default=None)


def _due(queue: deque[Any], now_ns: int, take: Callable[[Any], Any]) -> list[Any]:
    found = []
    while queue and queue[0][0] <= now_ns:
        found.append(take(queue.popleft()))
    return found
