"""A FEIG reader in notification mode that opens the connection itself, and answers no questions on it.

The reader is told once, with FEIG's tool, whom to call (configuration block 49: destination address and port, hold
time, acknowledgement, keep-alive).  It connects when it has something to say, sends its answer to [0x22]
unasked, and may hang up in between: that a connection ends is no loss.  Its keep-alive messages are the only sign of
life, so they must be on; their shortest interval is 1 s, which is why such a reader is found dead later than one
that is asked.  Any good frame counts as one.  Sources: FEIG system manuals H71011-0e-ID-B p. 61 and 105,
H40801-5e-ID-B p. 15 ("cannot be used simultaneously with the host interface").

The reader hears that it may forget ([0x32]) when the sink has committed everything (see `feig_table`), so its
acknowledgement must be on as well: without it, the reader forgets what it has sent, and a crash here loses it.
How full its table is cannot be asked, so a sighting has no lower bound in time: spans begin at 0.
"""

from __future__ import annotations

from firmware_bridge.framing.feig import ANY_ADDRESS, FeigDecoder, FeigFrame, encode
from firmware_bridge.session.asking import MS, Found
from firmware_bridge.session.contract import Counters, Figures
from firmware_bridge.session.feig_table import CLEAR_BUFFER, READ_BUFFER, Table
from firmware_bridge.session.inventory import Status
from firmware_bridge.session.plan import FeigOptions
from firmware_bridge.wire import AnyObservation, BootId, DeviceId, DeviceLost, DeviceUp, Press, TimeSpan


class FeigCallerSession:
    """One reader that calls.  Its line is the listening port: peers come and go behind it."""

    def __init__(self, device: DeviceId, options: FeigOptions, *, port: str = "") -> None:
        self.device = device
        self.options = options
        self._port = port or "its port"
        self._decoder = FeigDecoder()
        self._table = Table(device, options.antennas)
        self._out = bytearray()
        self._foreign = 0
        self._closed = True
        self._up = False
        self._started_ns = self._heard_ns = self._alive_ns = 0

    # -- the owner's side ------------------------------------------------------------------------

    def start(self, now_ns: int) -> None:
        """The port listens (again)."""
        self._decoder.clear()
        self._out.clear()
        self._table.reopened()
        self._closed = self._up = False
        self._started_ns = self._heard_ns = self._alive_ns = now_ns

    def receive(self, data: bytes, now_ns: int) -> Found:
        """Bytes of whoever is connected."""
        if self._closed:
            return []
        self._heard_ns = now_ns
        return self._take(self._decoder.feed(data), now_ns)

    def wake(self, now_ns: int) -> Found:
        """A frame's head was left alone, or nothing was heard for too long."""
        if self._closed:
            return []
        found: Found = []
        if self._decoder.pending and now_ns >= self._heard_ns + self.options.gap_ms * MS:
            found = self._take(self._decoder.gap(), now_ns)
        if now_ns >= self._verdict_ns:
            found.append(self._lost(now_ns))
        return found

    @property
    def next_wake_ns(self) -> int | None:
        """When the next of these is due."""
        if self._closed:
            return None
        times = [self._verdict_ns]
        if self._decoder.pending:
            times.append(self._heard_ns + self.options.gap_ms * MS)
        return min(times)

    def outgoing(self) -> bytes:
        """Bytes to write now."""
        data = bytes(self._out)
        self._out.clear()
        return data

    def acknowledge(self, observation: AnyObservation) -> None:
        """It is on disk: when all that was notified is, the reader may forget it."""
        if self._table.acknowledge(observation):
            self._may_clear()

    def remember(self, press: Press) -> None:
        """A reader has no keys."""

    def withdraw(self, observation: AnyObservation) -> None:
        """The sink let go of it: the reader repeats it, as nothing is acknowledged."""
        self._table.withdraw(observation)

    def refresh(self) -> None:
        """Everything that comes goes through."""

    def counters(self) -> Counters:
        """``dropped``: notifications left to the reader because too much waits for the sink."""
        return self._table.added_to(
            Counters(
                frames=self._decoder.frames,
                garbage=self._decoder.garbage,
                foreign=self._foreign,
            )
        )

    def figures(self) -> Figures:
        """Nothing is stated for a round that the reader makes by itself."""
        return Figures(notes=self._table.notes(self._heard_ns))

    # -- what comes ------------------------------------------------------------------------------

    def _take(self, frames: list[FeigFrame], now_ns: int) -> Found:
        found: Found = []
        for frame in frames:
            if self.options.address not in (ANY_ADDRESS, frame.address):
                self._foreign += 1
                continue
            if not self._up:
                self._up = True
                span = TimeSpan(self._alive_ns, now_ns)
                model, firmware = "FEIG reader, by its notifications", ""
                found.append(DeviceUp(self.device, span, model=model, firmware=firmware, boot=BootId(0)))
            self._alive_ns = now_ns
            if frame.command == READ_BUFFER:
                found += self._table.take(frame, TimeSpan(0, now_ns))
                self._may_clear()
            elif frame.command == CLEAR_BUFFER:
                if frame.status != Status.OK:
                    self._foreign += 1
                elif not self._table.timed:
                    self._table.forget()
        return found

    def _may_clear(self) -> None:
        # Sent once: if it is lost, the reader repeats the notification.  A second one might clear a newer notification.
        if self._table.may_clear and not self._closed:
            advanced = self.options.advanced is not False
            self._out += encode(CLEAR_BUFFER, address=self.options.address, advanced=advanced)
            self._table.cleared()

    # -- silence ---------------------------------------------------------------------------------

    @property
    def _verdict_ns(self) -> int:
        return self._alive_ns + (2 * self.options.keepalive_ms + self.options.lost_after_ms) * MS

    def _lost(self, now_ns: int) -> DeviceLost:
        self._closed = True
        silent_ms = (now_ns - self._alive_ns) // MS
        if self._up:
            reason = f"nothing heard for {silent_ms} ms"
            advice = (
                f"Reader '{self.device}' does not call {self._port} any more. Check its power and its network cable; "
            )
        else:
            reason = f"nobody called in {silent_ms} ms"
            advice = (
                f"No reader '{self.device}' calls {self._port}. With FEIG's tool set its notification channel to this "
                "computer's address and that port, acknowledgement and keep-alive on "
                f"(every {self.options.keepalive_ms // 1000} s), and see that no firewall is in between; "
            )
        span = TimeSpan(self._alive_ns, now_ns)
        return DeviceLost(self.device, span, reason, advice + "tabled listens on by itself.")
