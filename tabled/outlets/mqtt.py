"""The MQTT outlet: one thread that sends what the journal holds and brings commands in.

The thread alone touches the connection and the outbox; other threads leave values and wake it through
a pipe.  It never ends by an error: whatever goes wrong ends the connection, is named in `status`, and
the next attempt follows after a capped, jittered pause.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import random
import threading
from collections import OrderedDict, deque
from collections.abc import Callable

import msgspec

from tabled.outlets import topics
from tabled.outlets.broker import BrokerError, BrokerUnreachable
from tabled.outlets.commands import AnyCommand, Refusal, parse_command
from tabled.outlets.link import Acked, Connected, Event, Link, Lost, Message, MqttConfig, Protocol, Subscribed, check
from tabled.outlets.messages import MAX_PAYLOAD, envelope, render_ack
from tabled.outlets.outbox import Outbox, OutboxStore, Recent

__all__ = ["MqttConfig", "MqttOutlet", "OutletStatus", "check"]

MAX_WAITING = 32
"""Commands handed to the loop and not yet taken; further ones are refused."""
MAX_ACKS = 64
MAX_REQUESTS = 256
_ACKS_IN_FLIGHT = 4
_ACK_TIMEOUT_NS = 10_000_000_000
_FRESH_HEALTH_NS = 3_000_000_000
_FLAPPING_NS = 20_000_000_000
_TICK_S = 0.25
_GOODBYE_STEPS = 40


class OutletStatus(msgspec.Struct, frozen=True, kw_only=True):
    """How the outlet fares.  ``problem`` is one line with the next step, "" when there is none; counters only grow."""

    alive: bool
    connected: bool
    address: str
    protocol: str
    problem: str
    cursor: int
    in_flight: int
    published: int
    connects: int
    losses: int
    errors: int
    last_error: str
    thread_restarts: int
    commands: int
    refused: int
    acks_dropped: int
    withheld: int
    tick_ns: int


class MqttOutlet:
    """See the module's docstring.

    ``on_command`` is called with each parsed act: in ``loop`` when one is given, else in the outlet's
    thread.  ``now_ns`` is monotonic, ``wall_ns`` is UTC since 1970.
    """

    def __init__(
        self,
        config: MqttConfig,
        store: OutboxStore,
        on_command: Callable[[AnyCommand], None],
        now_ns: Callable[[], int],
        *,
        wall_ns: Callable[[], int],
        loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        self._config, self._store, self._on_command = config, store, on_command
        self._now_ns, self._wall_ns, self._loop = now_ns, wall_ns, loop
        self._lock = threading.Lock()
        self._stopping = threading.Event()
        self._thread: threading.Thread | None = None
        self._wake_r, self._wake_w = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        self._slots: dict[str, bytes] = {}
        self._dirty: set[str] = set()
        self._slot_mids: dict[int, str] = {}
        self._health_ns = 0
        self._acks: deque[bytes] = deque()
        self._ack_mids: set[int] = set()
        self._requests: OrderedDict[str, tuple[bytes, bytes | None]] = OrderedDict()
        self._waiting = 0
        self._protocol: Protocol = "3.1.1" if config.protocol == "3.1.1" else "5"
        self._settled = config.protocol != "auto"
        self._outbox: Outbox | None = None
        self._recent = Recent()
        self._progress_ns = 0
        self._connected = False
        self._problem = "not started"
        self._note = ""
        self._last_error = ""
        self._tick_ns = 0
        self._losses: deque[int] = deque(maxlen=3)
        self._n = dict.fromkeys(
            ("connects", "losses", "errors", "thread_restarts", "commands", "refused", "acks_dropped"), 0
        )

    # ---- called from any thread -------------------------------------------------------------

    def start(self) -> None:
        """Start the thread.  It connects by itself; use `check` first to tell the operator what is wrong."""
        if self._thread is None:
            self._spawn()

    def stop(self) -> None:
        """Send what can be sent within a second, say good-bye and end the thread.  Safe to call twice."""
        self._stopping.set()
        self._wake()
        thread, self._thread = self._thread, None
        if thread is not None:
            thread.join(15)
            with self._lock:  # nobody may write to a number that something else will open
                os.close(self._wake_r)
                os.close(self._wake_w)
                self._wake_r = self._wake_w = -1

    def notify(self) -> None:
        """New outcomes have been committed."""
        self._watch()
        self._wake()

    def set_state(self, payload: bytes) -> None:
        """The newest `render_state`; only the newest is sent, retained, now and after each reconnect."""
        self._set(topics.STATE, payload)

    def set_health(self, payload: bytes) -> None:
        """The newest `render_health`: call it once a second from the loop that it vouches for."""
        self._health_ns = self._now_ns()
        self._set(topics.HEALTH, payload)

    def ack(self, request: str, ok: bool, reason: str, position: int | None = None) -> None:
        """Answer a command, after its journal entry is committed."""
        payload = render_ack(request, ok, reason, position, self._wall_ns(), origin=self._config.origin)
        with self._lock:
            if request in self._requests:
                self._requests[request] = (self._requests[request][0], payload)
            self._queue_ack(payload)
        self._wake()

    def status(self) -> OutletStatus:
        """A picture of now."""
        outbox, thread = self._outbox, self._thread
        return OutletStatus(
            alive=thread is not None and thread.is_alive(),
            connected=self._connected,
            address=self._config.broker.address,
            protocol=self._protocol if self._connected else "",
            problem=self._problem or self._flapping() or self._note,
            cursor=outbox.cursor if outbox else 0,
            in_flight=outbox.in_flight if outbox else 0,
            published=outbox.published if outbox else 0,
            withheld=outbox.withheld if outbox else 0,
            last_error=self._last_error,
            tick_ns=self._tick_ns,
            **self._n,
        )

    def _flapping(self) -> str:
        """Mosquitto 2.0.11 closes a session that was taken over without a word, so the pattern must tell."""
        losses = list(self._losses)
        if len(losses) < 3 or losses[-1] - losses[0] > _FLAPPING_NS or self._now_ns() - losses[-1] > _FLAPPING_NS:
            return ""
        return (
            f"The connection to {self._config.broker.address} is lost again and again: perhaps a second daemon uses "
            f"the name {self._config.name!r}. Stop it, or give it its own [mqtt] client_id."
        )

    def _set(self, leaf: str, payload: bytes) -> None:
        if len(payload) > MAX_PAYLOAD:
            raise ValueError(f"{leaf} has {len(payload)} bytes, more than {MAX_PAYLOAD}: make it with render_{leaf}")
        with self._lock:
            self._slots[leaf] = payload
            self._dirty.add(leaf)
        self.notify()

    def _queue_ack(self, payload: bytes) -> None:
        """Bounded; the lock is held."""
        if len(self._acks) >= MAX_ACKS:
            self._n["acks_dropped"] += 1
            return
        self._acks.append(payload)

    def _watch(self) -> None:
        """Start the thread again should it have ended against all care."""
        thread = self._thread
        if thread is not None and not thread.is_alive() and not self._stopping.is_set():
            self._n["thread_restarts"] += 1
            self._spawn()

    def _spawn(self) -> None:
        self._thread = threading.Thread(target=self._run, name="tabled-mqtt", daemon=True)
        self._thread.start()

    def _wake(self) -> None:
        with self._lock:
            if self._wake_w >= 0:
                with contextlib.suppress(BlockingIOError):  # full: it is awake already
                    os.write(self._wake_w, b"!")

    # ---- the thread ------------------------------------------------------------------------

    def _run(self) -> None:
        attempt = 0
        while not self._stopping.is_set():
            connects = self._n["connects"]
            retry_now = False
            try:
                retry_now = self._session()
            except BrokerError as error:
                self._problem = str(error)
            except Exception as error:
                self._n["errors"] += 1
                self._last_error = repr(error)
                self._problem = f"the MQTT outlet failed ({error!r}); it starts again. Report this."
            finally:
                self._connected = False
            attempt = 1 if self._n["connects"] > connects else attempt + 1
            if not retry_now:
                first, longest = self._config.backoff_s
                pause = min(longest, first * 2 ** min(attempt - 1, 16))
                self._stopping.wait(pause * random.uniform(0.5, 1.0))  # noqa: S311  jitter, no secret

    def _session(self) -> bool:
        """One connection, from CONNECT to its end.  True when another protocol version should be tried at once."""
        if self._outbox is None:
            self._recent.seed(self._store)
            self._slots_from_recent()
            self._outbox = Outbox(self._store)
        link = Link(self._config, self._protocol, will=(topics.HEALTH, self._offline("link lost")))
        link.connect()
        self._progress_ns = self._now_ns()
        try:
            return self._serve(link, self._outbox)
        finally:
            self._last_error = link.errors[-1] if link.errors else self._last_error
            self._n["errors"] += link.error_count
            link.abort()
            self._outbox.rewind()
            self._slot_mids.clear()
            self._ack_mids.clear()

    def _serve(self, link: Link, outbox: Outbox) -> bool:
        while not self._stopping.is_set():
            self._tick_ns = self._now_ns()
            link.step(self._wake_r, _TICK_S)
            self._drain_pipe()
            lost = self._handle_all(link, outbox)
            if lost is not None:
                return self._lost(lost)
            if self._connected:
                self._pump(link, outbox)
            self._check_progress(outbox)
        if self._connected:
            self._goodbye(link, outbox)
        return False

    def _lost(self, lost: Lost) -> bool:
        self._problem = str(BrokerUnreachable(self._config.broker.address, lost.reason, lost.advice))
        if self._connected:
            self._n["losses"] += 1
            self._losses.append(self._now_ns())
            return False
        if self._settled:
            return False
        # closed before CONNACK: rumqttd does that to a version it does not speak
        was_five = self._protocol == "5"
        self._protocol = "3.1.1" if was_five else "5"
        return was_five

    def _check_progress(self, outbox: Outbox) -> None:
        waiting = outbox.in_flight or self._slot_mids or self._ack_mids or not self._connected
        if waiting and self._now_ns() - self._progress_ns > _ACK_TIMEOUT_NS:
            raise BrokerUnreachable(
                self._config.broker.address, "it has acknowledged nothing for 10 s", "The connection is made anew."
            )

    def _handle_all(self, link: Link, outbox: Outbox) -> Lost | None:
        lost = None
        while link.events:
            event = link.events.popleft()
            if isinstance(event, Lost):
                lost = event
            else:
                self._handle(event, link, outbox)
        return lost

    def _handle(self, event: Event, link: Link, outbox: Outbox) -> None:
        if isinstance(event, Message):
            self._command(event)
            return
        self._progress_ns = self._now_ns()
        if isinstance(event, Connected):
            self._n["connects"] += 1
            self._connected, self._settled, self._problem = True, True, ""
            outbox.limit = min(MAX_PAYLOAD, (event.max_packet or MAX_PAYLOAD * 2) - 1024)
            with self._lock:
                self._dirty.update(self._slots)
                if self._now_ns() - self._health_ns > _FRESH_HEALTH_NS:
                    self._dirty.discard(topics.HEALTH)  # it would vouch for a loop that is silent
            link.subscribe(f"{topics.COMMANDS}/#")
        elif isinstance(event, Subscribed):
            where = self._config.origin.topic(f"{topics.COMMANDS}/#")
            self._note = (
                f"The broker refuses the subscription to {where} ({event.refused}): commands from pages do not "
                "arrive. Allow this client to read it in the broker's access list."
                if event.refused
                else ""
            )
        elif isinstance(event, Acked):
            self._acked(event, outbox)

    def _acked(self, event: Acked, outbox: Outbox) -> None:
        if event.code >= 0x80:
            raise BrokerUnreachable(
                self._config.broker.address,
                f"it refuses to keep our messages ({event.text})",
                f"Allow this client to write {self._config.origin.prefix}/# in the broker's access list.",
            )
        self._ack_mids.discard(event.mid)
        if self._slot_mids.pop(event.mid, None) is not None:
            return
        changed = [self._recent.take(m) for m in outbox.acknowledged(event.mid)]
        if any(changed):
            self._slots_from_recent()

    def _slots_from_recent(self) -> None:
        data = {"kind": "recent", "messages": self._recent.messages()}
        wall = self._wall_ns()
        payload = envelope(self._config.origin, f"recent-{wall}", "recent", wall, data)
        with self._lock:
            self._slots[topics.RECENT] = payload
            self._dirty.add(topics.RECENT)

    def _pump(self, link: Link, outbox: Outbox) -> None:
        """Send what is due: retained values (one of each under way), answers, then the outbox."""
        with self._lock:
            due = [leaf for leaf in sorted(self._dirty) if leaf not in self._slot_mids.values()]
            values = [(leaf, self._slots[leaf]) for leaf in due]
            self._dirty.difference_update(due)
            answers = [self._acks.popleft() for _ in range(min(len(self._acks), self._free_acks()))]
        self._mark_progress(outbox)
        for leaf, payload in values:
            mid = link.publish(leaf, payload, retain=True)
            if mid is None:
                return
            self._slot_mids[mid] = leaf
        for payload in answers:
            mid = link.publish(topics.ACK, payload, retain=False)
            if mid is None:
                return
            self._ack_mids.add(mid)
        while (message := outbox.next()) is not None:
            mid = link.publish(message.leaf, message.payload, retain=False)
            if mid is None:
                return
            outbox.sent(mid)

    def _free_acks(self) -> int:
        return _ACKS_IN_FLIGHT - len(self._ack_mids)

    def _mark_progress(self, outbox: Outbox) -> None:
        """Nothing was under way: the time-out counts from here."""
        if not (outbox.in_flight or self._slot_mids or self._ack_mids):
            self._progress_ns = self._now_ns()

    def _goodbye(self, link: Link, outbox: Outbox) -> None:
        """Bounded: what is committed goes out if the broker keeps up, then the honest ``offline``, then DISCONNECT."""
        for last in (False, True):
            if last:
                with self._lock:
                    self._slots[topics.HEALTH] = self._offline("stopped")
                    self._dirty.add(topics.HEALTH)
            for _ in range(_GOODBYE_STEPS):
                self._pump(link, outbox)
                if not (outbox.in_flight or self._slot_mids or self._ack_mids or self._dirty):
                    break
                link.step(None, 1.0 / _GOODBYE_STEPS)
                if self._handle_all(link, outbox) is not None:
                    return
        link.close()

    def _offline(self, why: str) -> bytes:
        wall = self._wall_ns()
        data = {"kind": "health", "status": "offline", "why": why, "faults": []}
        return envelope(self._config.origin, f"health-{wall}", "health", wall, data)

    def _drain_pipe(self) -> None:
        with contextlib.suppress(BlockingIOError):
            os.read(self._wake_r, 4096)

    # ---- commands --------------------------------------------------------------------------

    def _command(self, message: Message) -> None:
        self._n["commands"] += 1
        parsed = parse_command(message.topic, message.payload)
        if message.retained:
            # it would be carried out again at each connection
            request = parsed.request
            parsed = Refusal("A command must not be retained; send it again without the retain flag.", request)
        if isinstance(parsed, Refusal):
            self._refuse(parsed)
            return
        mark = msgspec.json.encode(parsed)
        with self._lock:
            known = self._requests.get(parsed.request)
            if known is None:
                self._requests[parsed.request] = (mark, None)
                while len(self._requests) > MAX_REQUESTS:
                    self._requests.popitem(last=False)
            elif known[0] == mark:
                if known[1] is not None:  # the answer got lost: give it again, do nothing again
                    self._queue_ack(known[1])
                return
        if known is not None:
            self._refuse(Refusal("This request id was used for another command; send a new id.", parsed.request))
            return
        self._hand_over(parsed)

    def _refuse(self, refusal: Refusal) -> None:
        self._n["refused"] += 1
        payload = render_ack(refusal.request, False, refusal.reason, None, self._wall_ns(), origin=self._config.origin)
        with self._lock:
            self._queue_ack(payload)

    def _hand_over(self, act: AnyCommand) -> None:
        with self._lock:
            busy = self._waiting >= MAX_WAITING
            self._waiting += 0 if busy else 1
            if busy:
                self._requests.pop(act.request, None)
        if busy:
            self._refuse(Refusal("Too many commands are waiting; send it again in a second.", act.request))
        elif self._loop is None:
            self._deliver(act)
        else:
            try:
                self._loop.call_soon_threadsafe(self._deliver, act)
            except RuntimeError:
                self._deliver_failed(act, "the daemon is stopping")

    def _deliver(self, act: AnyCommand) -> None:
        try:
            self._on_command(act)
        except Exception as error:
            self._n["errors"] += 1
            self._last_error = f"on_command: {error!r}"
            self._deliver_failed(act, f"the daemon failed on it ({type(error).__name__})")
        else:
            with self._lock:
                self._waiting -= 1

    def _deliver_failed(self, act: AnyCommand, why: str) -> None:
        with self._lock:
            self._waiting -= 1
        self.ack(act.request, False, f"The command was not carried out: {why}. Use the panel, and report it.")
