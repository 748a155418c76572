"""A polled FEIG reader with antenna multiplexers: hello, RF reset, then sweep after sweep.

A protocol as a table of steps, no I/O.  One question is under way at a time.  A question without
an answer is asked once more; then its antenna is `Corrupt`.  The reader answers strictly in order,
but its replies carry no antenna, so after any silence a *barrier* is sent, a harmless command of which
no answer is outstanding, and everything before its answer is dropped: a late reply can never be
booked to another antenna.

Multiplexers: antenna ``a`` is channel ``(a - 1) % 8 + 1`` of multiplexer ``(a - 1) // 8``, selected
with 0xDD (FEIG H30701-3e-ID-B p. 13).  Before one is switched on, every other that may be on is
set to channel 0 and must confirm it: two antennas are never energised together.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum, auto

import msgspec

from firmware_bridge.framing.feig import ANY_ADDRESS, FeigDecoder, FeigFrame, encode
from firmware_bridge.session.contract import Counters, Figures
from firmware_bridge.session.inventory import Status, describe, read_batch
from firmware_bridge.session.plan import MAX_ROUNDS, MS, FeigOptions, channel_of, worst_sweep_ns
from firmware_bridge.session.settle import Settle
from firmware_bridge.wire import (
    MAX_TAGS_PER_INVENTORY,
    AnyObservation,
    BootId,
    CleanEmpty,
    Corrupt,
    DeviceId,
    DeviceLost,
    DeviceUp,
    Present,
    Press,
    Tag,
    TimeSpan,
)

SOFTWARE_VERSION = 0x65
RF_RESET = 0x69
SELECT_CHANNEL = 0xDD
BARRIERS = ((SOFTWARE_VERSION, b""), (RF_RESET, b""), (0x66, b"\x00"), (0x52, b"\x00"), (0x74, b""))
"""Commands that change nothing, and their data: version, RF reset, reader info, baud rate detection, inputs.  A
reader that lacks one still answers, with an error status."""
ISO_HOST = 0xB0
INVENTORY = 0x01
MODE_NEW = 0x00
MODE_MORE = 0x80

LATEST_ANSWER_NS = 2000 * MS
"""An answer that did not come for so long will not come."""
NO_BOOT = BootId(0)
"""A FEIG reader has no boot id: a reader that reboots is silent, lost, and comes back as a new hello."""

MODELS = {0x53: "FEIG ID CPR40"}


class Step(Enum):
    """What is under way."""

    CLOSED = auto()
    HELLO = auto()
    BARRIER = auto()
    OFF = auto()
    SELECT = auto()
    INVENTORY = auto()
    MORE = auto()
    REST = auto()
    """Between two sweeps, or until a late answer is out of the question."""


class _Question(msgspec.Struct):
    """The request under way.  ``first_ns`` is when it was first sent: a late answer may belong to that one."""

    command: int
    data: bytes
    timeout_ns: int
    first_ns: int
    sent_ns: int
    tries: int = 1
    detail: int = 0


class _Awaited(msgspec.Struct):
    """Answers to one barrier command that may still come, and when it was last asked."""

    answers: int = 0
    asked_ns: int = 0


class FeigSession:
    """One reader.  ``byte_ns`` is the line's time for a byte (0 for TCP), for the stated worst case."""

    def __init__(self, device: DeviceId, options: FeigOptions, *, byte_ns: int = 0, port: str = "") -> None:
        problem = options.problem(byte_ns)
        if problem is not None:
            raise ValueError(f"reader '{device}': {problem}")
        self.device = device
        self.options = options
        self._port = port or "its port"
        self._advanced = bool(options.advanced)
        self._decoder = FeigDecoder()
        self._settle = Settle()
        self._muxes = tuple(sorted({channel_of(a)[0] for a in options.antennas})) if options.multiplexer else ()
        self._out = bytearray()
        self._awaited: dict[int, _Awaited] = {command: _Awaited() for command, _ in BARRIERS}
        self._corrupt = self._timeouts = self._foreign = self._over_bound = 0
        self._sweep_ns: int | None = None
        self._sweep_max_ns: int | None = None
        self._handlers: dict[Step, Callable[[FeigFrame, int], list[AnyObservation]]] = {
            Step.HELLO: self._on_hello,
            Step.BARRIER: self._on_barrier,
            Step.OFF: self._on_off,
            Step.SELECT: self._on_select,
            Step.INVENTORY: self._on_inventory,
            Step.MORE: self._on_inventory,
        }
        self._worst_sweep_ns = worst_sweep_ns(options, byte_ns)
        self._forget(0)

    # -- the owner's side ------------------------------------------------------------------------

    def start(self, now_ns: int) -> None:
        """The port is open (again): hello first.  Which channels are on is not known, so all may be."""
        self._decoder.clear()
        self._forget(now_ns)
        self._ask(Step.HELLO, SOFTWARE_VERSION, b"", now_ns)

    def _forget(self, now_ns: int) -> None:
        self._step = Step.CLOSED
        self._question: _Question | None = None
        self._out.clear()
        self._settle.reset()
        self._index = 0
        self._uids: set[str] = set()
        self._rounds = 0
        self._inventory_ns = now_ns
        self._may_be_on = set(self._muxes)
        self._suspect = True
        self._silent = 0
        self._started_ns = self._answered_ns = self._heard_ns = self._sweep_began_ns = now_ns
        self._rest_until_ns = now_ns
        self._heard_bytes = 0
        self._sweep_clean = True

    def receive(self, data: bytes, now_ns: int) -> list[AnyObservation]:
        """Bytes read at ``now_ns``."""
        if self._step is Step.CLOSED:
            return []
        self._heard_ns = now_ns
        self._heard_bytes += len(data)
        return self._take(self._decoder.feed(data), now_ns)

    def wake(self, now_ns: int) -> list[AnyObservation]:
        """Time has passed: a gap, an answer that did not come, or the end of a rest."""
        if self._step is Step.CLOSED:
            return []
        found = self._take(self._decoder.gap(), now_ns) if self._gap_due(now_ns) else []
        if self._step is Step.REST and now_ns >= self._rest_until_ns:
            if self._suspect:
                self._ask_barrier(now_ns)
            else:
                self._begin_sweep(now_ns)
        question = self._question
        if question is not None and now_ns >= question.sent_ns + question.timeout_ns:
            found += self._on_silence(question, now_ns)
        return found

    @property
    def next_wake_ns(self) -> int | None:
        """Deadline of what is under way, or of a frame's head."""
        times = []
        if self._question is not None:
            times.append(self._question.sent_ns + self._question.timeout_ns)
        if self._step is Step.REST:
            times.append(self._rest_until_ns)
        if self._decoder.pending and self._step is not Step.CLOSED:
            times.append(self._heard_ns + self.options.gap_ms * MS)
        return min(times, default=None)

    def outgoing(self) -> bytes:
        """Bytes to write now."""
        data = bytes(self._out)
        self._out.clear()
        return data

    def acknowledge(self, press: Press) -> None:
        """A reader has no keys."""

    def remember(self, press: Press) -> None:
        """A reader has no keys."""

    def withdraw(self, press: Press) -> None:
        """A reader has no keys."""

    def refresh(self) -> None:
        """Let the next result of every antenna through."""
        self._settle.reset()

    def counters(self) -> Counters:
        """Counts so far."""
        return Counters(
            frames=self._decoder.frames,
            garbage=self._decoder.garbage,
            corrupt=self._corrupt,
            timeouts=self._timeouts,
            foreign=self._foreign,
            over_bound=self._over_bound,
            settled=self._settle.withheld,
        )

    def figures(self) -> Figures:
        """Measured and stated sweep times."""
        return Figures(self._sweep_ns, self._sweep_max_ns, self.worst_sweep_ns())

    def worst_sweep_ns(self) -> int:
        """The stated bound of a sweep without faults (`plan.worst_sweep_ns`).

        A fault lengthens a sweep and is a `Corrupt` of its antenna; a longer sweep without one is counted.
        """
        return self._worst_sweep_ns

    # -- asking ----------------------------------------------------------------------------------

    def _ask(self, step: Step, command: int, data: bytes, now_ns: int, *, detail: int = 0) -> None:
        # What is pending came before the question: it cannot be the start of its answer.
        self._foreign += len(self._decoder.gap())
        timeout_ms = self.options.inventory_timeout_ms if command == ISO_HOST else self.options.reply_timeout_ms
        if step is Step.BARRIER:
            timeout_ms *= 2  # it waits behind what the reader still has to do
        self._step = step
        self._question = _Question(command, data, timeout_ms * MS, now_ns, now_ns, detail=detail)
        self._send(self._question)

    def _ask_barrier(self, now_ns: int, *, first: int = SOFTWARE_VERSION) -> None:
        """Asks ``first`` or another command that no late answer can be taken for; waits if there is none."""
        free = {
            command: data
            for command, data in BARRIERS
            if not self._awaited[command].answers or now_ns - self._awaited[command].asked_ns >= LATEST_ANSWER_NS
        }
        if not free:
            oldest_ns = min(awaited.asked_ns for awaited in self._awaited.values())
            self._rest(oldest_ns + LATEST_ANSWER_NS)
            return
        command = first if first in free else next(iter(free))
        self._awaited[command].answers = 0
        self._ask(Step.BARRIER, command, free[command], now_ns)

    def _rest(self, until_ns: int) -> None:
        self._step, self._question, self._rest_until_ns = Step.REST, None, until_ns

    def _send(self, question: _Question) -> None:
        awaited = self._awaited.get(question.command)
        if awaited is not None:
            awaited.answers += 1
            awaited.asked_ns = question.sent_ns
        self._out += encode(question.command, question.data, address=self.options.address, advanced=self._advanced)

    def _begin_sweep(self, now_ns: int) -> None:
        self._index = 0
        self._sweep_began_ns = now_ns
        self._sweep_clean = not self._suspect
        self._next_antenna(now_ns)

    @property
    def _antenna(self) -> int:
        return self.options.antennas[self._index]

    def _next_antenna(self, now_ns: int) -> None:
        """First question towards the antenna whose turn it is."""
        if self._suspect:
            self._ask_barrier(now_ns)
            return
        if not self._muxes:
            self._ask_inventory(now_ns)
            return
        mux, channel = channel_of(self._antenna)
        for other in self._muxes:
            if other != mux and other in self._may_be_on:
                self._ask(Step.OFF, SELECT_CHANNEL, bytes((other, 0, 0)), now_ns, detail=other)
                return
        self._may_be_on.add(mux)
        self._ask(Step.SELECT, SELECT_CHANNEL, bytes((mux, channel, 0)), now_ns)

    def _ask_inventory(self, now_ns: int) -> None:
        self._uids = set()
        self._rounds = 0
        self._inventory_ns = now_ns
        self._ask(Step.INVENTORY, ISO_HOST, bytes((INVENTORY, MODE_NEW)), now_ns)

    # -- answers ---------------------------------------------------------------------------------

    def _take(self, frames: list[FeigFrame], now_ns: int) -> list[AnyObservation]:
        found: list[AnyObservation] = []
        for frame in frames:
            awaited = self._awaited.get(frame.command)
            if awaited is not None and awaited.answers:
                awaited.answers -= 1
            question = self._question
            addressed = self.options.address in (ANY_ADDRESS, frame.address)
            if question is None or frame.command != question.command or not addressed:
                self._foreign += 1
                continue
            self._silent = 0
            self._answered_ns = now_ns
            found += self._handlers[self._step](frame, now_ns)
        return found

    def _on_hello(self, frame: FeigFrame, now_ns: int) -> list[AnyObservation]:
        if frame.status != Status.OK or len(frame.data) < 5:
            return [self._refused(frame, now_ns)]
        up = DeviceUp(
            self.device,
            self._span(now_ns),
            model=MODELS.get(frame.data[4], f"FEIG OBID type 0x{frame.data[4]:02X}"),
            firmware=f"{frame.data[0]}.{frame.data[1]}.{frame.data[2]}",
            boot=NO_BOOT,
        )
        # The RF reset is the first barrier: what an earlier session asked for ends before it.  Its status does not
        # matter: a reader that cannot reset its field says so in every inventory.
        self._ask_barrier(now_ns, first=RF_RESET)
        return [up]

    def _on_barrier(self, _frame: FeigFrame, now_ns: int) -> list[AnyObservation]:
        self._suspect = False
        for awaited in self._awaited.values():
            awaited.answers = 0
        if self._index == 0:
            self._begin_sweep(now_ns)
        else:
            self._next_antenna(now_ns)
        return []

    def _on_off(self, frame: FeigFrame, now_ns: int) -> list[AnyObservation]:
        mux = self._question.detail if self._question is not None else 0
        if frame.status != Status.OK:
            return self._spoilt(f"multiplexer {mux} would not switch off: {describe(frame.status)}", now_ns)
        self._may_be_on.discard(mux)
        self._next_antenna(now_ns)
        return []

    def _on_select(self, frame: FeigFrame, now_ns: int) -> list[AnyObservation]:
        if frame.status != Status.OK:
            mux, channel = channel_of(self._antenna)
            return self._spoilt(f"multiplexer {mux} refused channel {channel}: {describe(frame.status)}", now_ns)
        self._ask_inventory(now_ns)
        return []

    def _on_inventory(self, frame: FeigFrame, now_ns: int) -> list[AnyObservation]:
        batch = read_batch(frame.status, frame.data)
        self._rounds += 1
        if batch.fault:
            if self._uids and self._step is Step.MORE:
                return self._present(now_ns, complete=False)
            return self._spoilt(batch.fault, now_ns)
        self._uids.update(batch.uids)
        if len(self._uids) > MAX_TAGS_PER_INVENTORY or self._rounds > MAX_ROUNDS:
            return self._spoilt(
                f"{len(self._uids)} tags in {self._rounds} replies of one inventory: check the reader", now_ns
            )
        if frame.status == Status.MORE_DATA:
            self._ask(Step.MORE, ISO_HOST, bytes((INVENTORY, MODE_MORE)), now_ns)
            return []
        if frame.status == Status.NO_TRANSPONDER and not self._uids:
            if self._step is Step.MORE:
                return self._spoilt("more data announced, none came", now_ns)
            return self._result(CleanEmpty(self.device, self._inventory_span(now_ns), self._antenna), now_ns)
        if not self._uids:
            return self._spoilt(describe(frame.status), now_ns)
        # In a chain after a silence a late reply may have stood for another: the union is true, its end is not sure.
        certain = self._rounds == 1 or not self._suspect
        return self._present(now_ns, complete=certain and frame.status == Status.OK)

    # -- results ---------------------------------------------------------------------------------

    def _present(self, now_ns: int, *, complete: bool) -> list[AnyObservation]:
        tags = tuple(Tag(uid) for uid in sorted(self._uids))
        return self._result(Present(self.device, self._inventory_span(now_ns), self._antenna, tags, complete), now_ns)

    def _spoilt(self, reason: str, now_ns: int) -> list[AnyObservation]:
        self._corrupt += 1
        self._sweep_clean = False
        since = self._question.first_ns if self._question is not None else now_ns
        if self._step in (Step.INVENTORY, Step.MORE):
            since = self._inventory_ns
        return self._result(Corrupt(self.device, TimeSpan(since, now_ns), self._antenna, reason), now_ns)

    def _result(self, result: Present | CleanEmpty | Corrupt, now_ns: int) -> list[AnyObservation]:
        """Books one antenna's result and goes on to the next antenna, or rests at the sweep's end."""
        self._index += 1
        if self._index < len(self.options.antennas):
            self._next_antenna(now_ns)
        else:
            self._end_sweep(now_ns)
        return list(self._settle.offer(result))

    def _end_sweep(self, now_ns: int) -> None:
        took = now_ns - self._sweep_began_ns
        self._sweep_ns = took
        self._sweep_max_ns = max(took, self._sweep_max_ns or 0)
        if self._sweep_clean and took > self._worst_sweep_ns:
            self._over_bound += 1
        until_ns = self._sweep_began_ns + self.options.min_sweep_ms * MS
        if now_ns >= until_ns:
            self._begin_sweep(now_ns)
        else:
            self._rest(until_ns)

    def _span(self, now_ns: int) -> TimeSpan:
        return TimeSpan(self._question.first_ns if self._question is not None else now_ns, now_ns)

    def _inventory_span(self, now_ns: int) -> TimeSpan:
        """From the first time the inventory was asked for: a late answer may be to that."""
        return TimeSpan(self._inventory_ns, now_ns)

    # -- silence ---------------------------------------------------------------------------------

    def _gap_due(self, now_ns: int) -> bool:
        return self._decoder.pending > 0 and now_ns - self._heard_ns >= self.options.gap_ms * MS

    def _on_silence(self, question: _Question, now_ns: int) -> list[AnyObservation]:
        self._timeouts += 1
        self._silent += 1
        silent_ns = now_ns - self._answered_ns
        if self._silent >= self.options.silent_limit and silent_ns >= self.options.lost_after_ms * MS:
            found: list[AnyObservation] = []
            if self._step in (Step.INVENTORY, Step.MORE, Step.SELECT, Step.OFF):
                found = self._spoilt("no reply", now_ns)
            return [*found, self._lost(now_ns)]
        if self._step is Step.HELLO:
            self._again(question, now_ns)
            return []
        if self._step is Step.BARRIER:
            self._ask_barrier(now_ns)
            return []
        self._suspect = True
        self._sweep_clean = False
        if self._step is Step.MORE:
            # Asking MORE twice could skip a batch: what came stands, but proves no absence.
            return self._present(now_ns, complete=False)
        if question.tries == 1:
            self._again(question, now_ns)
            return []
        return self._spoilt("no reply", now_ns)

    def _again(self, question: _Question, now_ns: int) -> None:
        question.tries += 1
        question.sent_ns = now_ns
        self._send(question)

    def _refused(self, frame: FeigFrame, now_ns: int) -> DeviceLost:
        span = self._span(now_ns)
        self._step, self._question = Step.CLOSED, None
        return DeviceLost(
            self.device,
            span,
            f"hello answered with {describe(frame.status)} and {len(frame.data)} bytes",
            f"Reader '{self.device}' on {self._port} answers, but not as a FEIG reader should. Check its model and "
            "firmware against the list in the README; tabled tries again by itself.",
        )

    def _lost(self, now_ns: int) -> DeviceLost:
        answered = self._answered_ns > self._started_ns
        self._step, self._question = Step.CLOSED, None
        self._out.clear()
        where = f"Reader '{self.device}' on {self._port}"
        if answered:
            reason = f"no reply for {(now_ns - self._answered_ns) // MS} ms"
            advice = f"{where} stopped answering. Check its power and its cable; tabled tries again by itself."
        elif self._heard_bytes:
            reason = f"{self._heard_bytes} bytes came, none of them an answer"
            advice = (
                f"{where} sends bytes that are no FEIG frames. Check baud rate and parity (38400 8E1 as shipped) "
                "and that this port is the reader's; tabled tries again by itself."
            )
        else:
            reason = "no answer to the hello"
            advice = (
                f"{where} does not answer. Check its power, its cable, its bus address and the baud rate and parity "
                "(38400 8E1 as shipped); tabled tries again by itself."
            )
        return DeviceLost(self.device, TimeSpan(self._answered_ns, now_ns), reason, advice)
