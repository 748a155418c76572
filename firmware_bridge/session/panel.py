"""The dealer's panel: hello, schema check, clock, presses, health (see ``PROTOCOL.md``).

A press is reported once, acknowledged when the journal has it, and acknowledged again whenever it
is resent after that.  Nothing of a boot is believed before its HELLO named our schema: presses that
come earlier are left to the panel, which resends them every 200 ms.
"""

from __future__ import annotations

from enum import Enum, auto

import msgspec

from firmware_bridge.clocksync import MAX_DRIFT_PPM, ClockSync
from firmware_bridge.framing.panel import (
    ACK,
    DELIMITER,
    HEARTBEAT,
    HELLO,
    HELLO_REQUEST,
    PING,
    PONG,
    PRESS,
    SAID_FIRST,
    SCHEMA_HASH,
    BadPayloadError,
    PanelDecoder,
    PanelFrame,
    PressReport,
    ack_payload,
    encode,
    read_heartbeat,
    read_hello,
    read_press,
    read_token,
    token_payload,
)
from firmware_bridge.session.acts import Act, Acts
from firmware_bridge.session.asking import LOSS_MS
from firmware_bridge.session.contract import Counters, Figures
from firmware_bridge.session.entry import MAX_SEAT
from firmware_bridge.wire import (
    KEYS,
    AnyObservation,
    BootId,
    DeviceId,
    DeviceLost,
    DeviceUp,
    Press,
    Restarted,
    TimeSpan,
)

MS = 1_000_000
MAX_PINGS = 8
"""Pings whose answer is still awaited; an older one is forgotten."""
MAX_AMOUNT = 10**15
"""Greatest amount of a press: no chips are worth more, and sums of it still fit 64 bits."""
MAX_BOOTS = 8
"""Boots of which the last quiet moment is remembered."""
WRAP_NS = 70 * 60 * 1_000_000_000
"""A little less than the 71.6 minutes in which the device's tick wraps."""


class PanelOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Options of the driver.  Times in milliseconds."""

    hello_ms: int = 300
    """HELLO_REQUEST is sent again after so long; 1 to 60000."""
    hello_lost_ms: int = 900
    """No HELLO for so long is a loss; 1 to 900."""
    ping_ms: int = 400
    """Time between two pings, which keep the clock; 1 to 800."""
    first_ping_ms: int = 60
    """Time between the first pings; 1 to 60000."""
    first_pings: int = 5
    """How many those are; 1 to 60000."""
    heartbeat_ms: int = 3000
    """No heartbeat for so long is a loss; 1 to 60000."""
    silent_ms: int = 900
    """A ping unanswered and nothing else heard for so long is a loss; 1 to 900."""
    clock_grace_ms: int = 1000
    """A press waits for so long for the clock to be known; 1 to 60000."""

    def problem(self) -> str | None:
        """What is wrong with these options, None if nothing."""
        if not all(1 <= value <= 60_000 for value in msgspec.structs.astuple(self)):
            return "options must be between 1 and 60000"
        latest = max(self.hello_lost_ms, self.silent_ms, self.ping_ms + self.silent_ms // 2)
        if latest > LOSS_MS:
            return (
                f"a panel that dies would be told after {latest} ms, and may be after {LOSS_MS}: lower "
                "'hello_lost_ms', 'silent_ms' or 'ping_ms'"
            )
        return None


class _State(Enum):
    CLOSED = auto()
    HELLO = auto()
    UP = auto()


class PanelSession:
    """One panel.  Its memory of presses outlives the port, so a press resent after a replug counts once."""

    def __init__(self, device: DeviceId, options: PanelOptions | None = None, *, port: str = "") -> None:
        self.device = device
        self.options = options or PanelOptions()
        problem = self.options.problem()
        if problem is not None:
            raise ValueError(f"panel '{device}': {problem}")
        self._port = port or "its port"
        self._decoder = PanelDecoder()
        self._clock = ClockSync()
        self._acts: Acts[Act] = Acts()
        self._out = bytearray()
        self._seq = 0
        self._token = 0
        self._boot: BootId | None = None
        self._clear_ns: dict[int, int] = {}
        self._panel_lost = 0
        self._refused_presses = 0
        self._note = ""
        self._foreign = self._timeouts = self._restarts = self._dropped = 0
        self._forget(0)

    # -- the owner's side ------------------------------------------------------------------------

    def start(self, now_ns: int) -> None:
        """The port is open (again): ask who is there.  The first delimiter ends whatever was half sent."""
        self._decoder.clear()
        self._out.clear()
        self._forget(now_ns)
        self._state = _State.HELLO
        self._out += DELIMITER
        self._ask_hello(now_ns)

    def _forget(self, now_ns: int) -> None:
        self._state = _State.CLOSED
        self._pings: dict[int, int] = {}
        self._pings_sent = 0
        self._ponged = False
        """The clock was set right since the port was opened and the panel started."""
        self._contact_ns = now_ns
        self._started_ns = self._heard_ns = self._beat_ns = self._up_ns = now_ns
        self._hello_ns = self._ping_ns = now_ns
        self._heard_bytes = 0

    def receive(self, data: bytes, now_ns: int) -> list[AnyObservation]:
        """Bytes read at ``now_ns``."""
        found: list[AnyObservation] = []
        if self._closed:
            return found
        self._heard_bytes += len(data)
        for frame in self._decoder.feed(data):
            try:
                self._on_frame(frame, now_ns, found)
            except BadPayloadError:
                self._foreign += 1
            if self._closed:
                break
        return found

    def wake(self, now_ns: int) -> list[AnyObservation]:
        """Time has passed: a hello or ping is due, or the panel has been silent for too long."""
        if self._state is _State.CLOSED:
            return []
        lost = self._silence(now_ns)
        if lost is not None:
            return [lost]
        if self._state is _State.HELLO and now_ns >= self._hello_ns:
            self._timeouts += 1
            self._ask_hello(now_ns)
        if self._state is _State.UP and now_ns >= self._ping_ns:
            self._ping(now_ns)
        return []

    @property
    def next_wake_ns(self) -> int | None:
        """When the next hello, ping or verdict is due."""
        if self._state is _State.CLOSED:
            return None
        if self._state is _State.HELLO:
            return min(self._hello_ns, self._verdict_ns())
        return min(self._ping_ns, self._verdict_ns())

    @property
    def _closed(self) -> bool:
        return self._state is _State.CLOSED

    def outgoing(self) -> bytes:
        """Bytes to write now."""
        data = bytes(self._out)
        self._out.clear()
        return data

    def acknowledge(self, observation: AnyObservation) -> None:
        """The press is on disk: the panel may forget it."""
        if not isinstance(observation, Press):
            return
        self._acts.acknowledge((observation.boot, observation.seq))
        if self._state is _State.UP:
            self._acknowledge(observation.boot, observation.seq)

    def remember(self, press: Press) -> None:
        """The press is in the journal of an earlier run."""
        self._acts.acknowledge((press.boot, press.seq))

    def withdraw(self, observation: AnyObservation) -> None:
        """The host could not take it: it is left to the panel, which resends it."""
        if isinstance(observation, Press):
            self._acts.withdraw((observation.boot, observation.seq))

    def refresh(self) -> None:
        """A panel repeats nothing."""

    def counters(self) -> Counters:
        """Counts so far."""
        return Counters(
            frames=self._decoder.frames,
            garbage=self._decoder.garbage,
            timeouts=self._timeouts,
            foreign=self._foreign + self._decoder.other_version,
            restarts=self._restarts,
            dropped=self._dropped,
        )

    def figures(self) -> Figures:
        """Clock quality, and presses that were refused."""
        clock = self._clock
        notes = [self._note] if self._note else []
        if clock.jumps:
            notes.append(
                f"its clock contradicted itself {clock.jumps} times: its tick jumps or is off by more than "
                f"±{MAX_DRIFT_PPM} ppm. Give it another clock source; until then the times of its presses may be off."
            )
        return Figures(
            clock_ns=clock.width_ns,
            drift_ppm=clock.drift_ppm,
            drift_bounds_ppm=clock.drift_bounds_ppm,
            clock_jumps=clock.jumps,
            notes=tuple(notes),
        )

    # -- sending ---------------------------------------------------------------------------------

    def _send(self, kind: int, payload: bytes = b"") -> None:
        self._seq = (self._seq + 1) & 0xFFFF
        self._out += encode(PanelFrame(kind, self._seq, 0, self._boot or 0, payload))

    def _ask_hello(self, now_ns: int) -> None:
        self._send(HELLO_REQUEST)
        self._hello_ns = now_ns + self.options.hello_ms * MS

    def _ping(self, now_ns: int) -> None:
        self._token = (self._token + 1) & 0xFFFFFFFF
        self._pings[self._token] = now_ns
        if len(self._pings) > MAX_PINGS:
            del self._pings[next(iter(self._pings))]
        self._send(PING, token_payload(self._token))
        if not self._ponged and self._pings_sent:
            # One that answers no ping shows so that it lives.
            self._send(HELLO_REQUEST)
        # A few quick ones first: the clock should be good before the first hand.
        quick = self._pings_sent < self.options.first_pings
        self._pings_sent += 1
        self._ping_ns = now_ns + (self.options.first_ping_ms if quick else self.options.ping_ms) * MS

    def _acknowledge(self, act_boot: int, act_seq: int) -> None:
        self._send(ACK, ack_payload(act_boot, act_seq))

    # -- receiving -------------------------------------------------------------------------------

    def _on_frame(self, frame: PanelFrame, now_ns: int, found: list[AnyObservation]) -> None:
        if frame.boot == 0 or frame.kind not in (HELLO, HEARTBEAT, PRESS, PONG):
            self._foreign += 1
            return
        if frame.boot != self._boot:
            self._on_boot(frame, now_ns, found)
        self._heard_ns = now_ns
        if frame.kind == HELLO:
            self._on_hello(frame, now_ns, found)
        elif self._state is not _State.UP:
            self._foreign += 1
        elif frame.kind == HEARTBEAT:
            self._on_heartbeat(frame, now_ns)
        elif frame.kind == PONG:
            self._on_pong(frame, now_ns)
        else:
            self._on_press(frame, now_ns, found)

    def _on_boot(self, frame: PanelFrame, now_ns: int, found: list[AnyObservation]) -> None:
        """Another start of the device: it must name its schema again, and its clock is another."""
        restarted = self._boot is not None
        self._boot = BootId(frame.boot)
        self._panel_lost = 0
        self._pings.clear()
        self._ponged = False
        self._contact_ns = now_ns
        if restarted:
            self._restarts += 1
            found.append(Restarted(self.device, TimeSpan(self._heard_ns, now_ns), self._boot))
        if self._state is _State.UP:
            self._state = _State.HELLO
            self._started_ns = now_ns
            if frame.kind != HELLO:
                self._ask_hello(now_ns)

    def _on_hello(self, frame: PanelFrame, now_ns: int, found: list[AnyObservation]) -> None:
        hello = read_hello(frame.payload)
        if hello.schema != SCHEMA_HASH:
            self._state = _State.CLOSED
            found.append(
                DeviceLost(
                    self.device,
                    TimeSpan(self._started_ns, now_ns),
                    f"schema 0x{hello.schema:08X} of '{hello.model}' {hello.major}.{hello.minor} "
                    f"is not 0x{SCHEMA_HASH:08X}",
                    f"Panel '{self.device}' on {self._port} speaks another version of the panel protocol, so its keys "
                    "may mean something else. Install panel firmware and tabled of the same release; "
                    "it is not used until then.",
                )
            )
            return
        if self._state is _State.UP:
            return
        self._state = _State.UP
        self._up_ns = self._beat_ns = now_ns
        self._pings_sent = 0
        self._ping(now_ns)
        found.append(
            DeviceUp(
                self.device,
                TimeSpan(self._started_ns, now_ns),
                model=hello.model,
                firmware=f"{hello.major}.{hello.minor}",
                boot=BootId(frame.boot),
            )
        )

    def _on_heartbeat(self, frame: PanelFrame, now_ns: int) -> None:
        beat = read_heartbeat(frame.payload)
        self._beat_ns = now_ns
        self._dropped += max(0, beat.lost - self._panel_lost)
        self._panel_lost = beat.lost
        made = self._clocked(frame, 0)
        if beat.pending == 0 and made is not None:
            # Every press made before this beat is known; what comes later was made after it.
            self._clear_ns.pop(frame.boot, None)
            self._clear_ns[frame.boot] = min(made.earliest_ns, now_ns)
            if len(self._clear_ns) > MAX_BOOTS:
                del self._clear_ns[next(iter(self._clear_ns))]

    def _on_pong(self, frame: PanelFrame, now_ns: int) -> None:
        token = read_token(frame.payload)
        sent_ns = self._pings.get(token)
        if sent_ns is None:
            self._foreign += 1
            return
        # Answers come in order: what was asked before this and is still open was lost.
        while self._pings:
            oldest = next(iter(self._pings))
            del self._pings[oldest]
            if oldest == token:
                break
        self._ponged = True
        self._clock.sample(BootId(frame.boot), frame.device_us, sent_ns, now_ns)

    def _on_press(self, frame: PanelFrame, now_ns: int, found: list[AnyObservation]) -> None:
        report = read_press(frame.payload)
        unknown = not 1 <= report.key <= len(KEYS) or report.flags & ~SAID_FIRST or report.seat > MAX_SEAT
        if unknown or report.amount > MAX_AMOUNT or 0 in (report.act_boot, report.act_seq):
            self._refuse(report)
            return
        unclocked = not self._ponged and now_ns - self._up_ns < self.options.clock_grace_ms * MS
        if unclocked:
            # Its time is not known yet.  Not met, so not lost: the panel resends it in 200 ms.
            return
        match self._acts.meet((report.act_boot, report.act_seq)):
            case "acknowledged":
                self._acknowledge(report.act_boot, report.act_seq)
            case "no room":
                self._dropped += 1
            case "new":
                found.append(
                    Press(
                        self.device,
                        self._pressed(frame, report, now_ns),
                        boot=BootId(report.act_boot),
                        seq=report.act_seq,
                        key=KEYS[report.key - 1],
                        seat=report.seat,
                        amount=report.amount,
                        said_first=bool(report.flags & SAID_FIRST),
                    )
                )
            case "reported":
                pass

    def _refuse(self, report: PressReport) -> None:
        """A press that cannot be understood will not be understood the next time: acknowledged, counted, and named."""
        act = (report.act_boot, report.act_seq)
        self._acknowledge(*act)
        if self._acts.meet(act) != "new":
            return  # its acknowledgement was lost
        self._acts.acknowledge(act)
        self._refused_presses += 1
        self._foreign += 1
        self._note = (
            f"panel '{self.device}' on {self._port} sent {self._refused_presses} key press(es) that mean nothing here, "
            f"last key code {report.key} with flags 0x{report.flags:02X} for seat {report.seat} (there are 0 to "
            f"{MAX_SEAT}) and amount {report.amount} (up to {MAX_AMOUNT}): "
            "nothing was done. Install panel firmware and tabled of the same release."
        )

    # -- time ------------------------------------------------------------------------------------

    def _clocked(self, frame: PanelFrame, age_us: int) -> TimeSpan | None:
        """A tick on the host's clock.  One learnt before the port was closed may be a whole wrap out by now."""
        return self._clock.span(BootId(frame.boot), frame.device_us, age_us=age_us) if self._ponged else None

    def _pressed(self, frame: PanelFrame, report: PressReport, now_ns: int) -> TimeSpan:
        """When the press was made, as far as anyone can know.

        Lower bound of last resort: the last beat of its boot with nothing pending, or 0.
        """
        clear_ns = self._clear_ns.get(report.act_boot, 0)
        if report.act_boot != frame.boot:
            return TimeSpan(clear_ns, now_ns)
        age_us = (frame.device_us - report.pressed_us) % (1 << 32)
        latest_ns = now_ns - age_us * (1_000_000 - MAX_DRIFT_PPM) // 1000
        mapped = self._clocked(frame, age_us)
        if mapped is None:
            return TimeSpan(min(clear_ns, latest_ns), latest_ns) if latest_ns >= 0 else TimeSpan(clear_ns, now_ns)
        # A press that waited through a whole wrap of the tick (71 min) looks younger than it is.  That can be
        # excluded only if the panel had nothing waiting since, or if the press looks younger than our contact.
        unwrapped = now_ns - clear_ns < WRAP_NS if clear_ns else mapped.earliest_ns >= self._contact_ns
        latest_ns = min(mapped.latest_ns, now_ns)
        earliest_ns = mapped.earliest_ns if unwrapped else clear_ns
        if earliest_ns > latest_ns:
            return TimeSpan(min(clear_ns, now_ns), now_ns)
        return TimeSpan(earliest_ns, latest_ns)

    def _verdict_ns(self) -> int:
        """When silence becomes a loss."""
        options = self.options
        if self._state is _State.HELLO:
            return self._started_ns + options.hello_lost_ms * MS
        verdict = self._beat_ns + options.heartbeat_ms * MS
        if self._pings:
            # A ping must have had time for its answer, also where the host itself was held up.
            asked_ns = next(iter(self._pings.values()))
            silent_ns = options.silent_ms * MS
            verdict = min(verdict, max(self._heard_ns + silent_ns, asked_ns + silent_ns // 2))
        return verdict

    def _silence(self, now_ns: int) -> DeviceLost | None:
        if now_ns < self._verdict_ns():
            return None
        hello = self._state is _State.HELLO
        self._state = _State.CLOSED
        self._timeouts += 1
        where = f"Panel '{self.device}' on {self._port}"
        if not hello:
            reason = f"nothing heard for {(now_ns - self._heard_ns) // MS} ms"
            if now_ns - self._beat_ns >= self.options.heartbeat_ms * MS:
                reason = f"no heartbeat for {(now_ns - self._beat_ns) // MS} ms"
            advice = f"{where} stopped answering. Check its cable; tabled tries again by itself."
        elif self._heard_bytes:
            reason = f"{self._heard_bytes} bytes came, none of them a hello"
            advice = (
                f"{where} sends something that is not the panel protocol, version 1. Check that this port is the "
                "panel's and that it runs at 115200 8N1; tabled tries again by itself."
            )
        else:
            reason = "no answer to the hello"
            advice = f"{where} does not answer. Check its cable and its power; tabled tries again by itself."
        return DeviceLost(self.device, TimeSpan(self._heard_ns, now_ns), reason, advice)
