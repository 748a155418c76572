"""A panel without a wire protocol of its own: keys of the host, made into presses that count once.

The session is the panel's firmware and its host in one.  It draws the names (boot, seq) itself, keeps each
press until the journal has it, and reports it again when the journal could not take it: the same discipline
as on the wire (`firmware_bridge.session.panel`).
"""

from __future__ import annotations

from typing import Protocol

from firmware_bridge.session.contract import Counters, Figures
from firmware_bridge.session.entry import Act
from firmware_bridge.session.keyinput import HELLO, KEY, KeyReader, KeyRecord
from firmware_bridge.wire import AnyObservation, BootId, DeviceId, DeviceLost, DeviceUp, Press, TimeSpan

MS = 1_000_000
MAX_OPEN = 64
"""Presses that may wait for the journal; more are dropped and counted."""
AGAIN_NS = 200 * MS
"""A press that could not be taken is reported again after so long."""
HELLO_NS = 900 * MS
OLDEST_NS = 5_000 * MS
"""A key time further back than this is not believed."""


class Composer(Protocol):
    """Keys to presses.  ``key`` takes one key that went down and may give an act.

    ``refused`` counts what came to nothing, ``next_wake_ns`` is when ``wake`` is due (an entry was left alone).
    ``fits`` says what is wrong with a device of so many keys (0: unknown), None if nothing.  ``upset`` is told
    when keys may have been missed.  ``faces`` gives the bytes that make the device show how things stand, b"" if
    nothing changed; ``redraw`` forgets what was shown.
    """

    @property
    def refused(self) -> int: ...
    @property
    def next_wake_ns(self) -> int | None: ...
    def fits(self, keys: int) -> str | None: ...
    def key(self, code: int, now_ns: int) -> Act | None: ...
    def upset(self) -> None: ...
    def wake(self, now_ns: int) -> None: ...
    def faces(self) -> bytes: ...
    def redraw(self) -> None: ...


class LocalPanelSession:
    """One keypad or deck.  ``boot`` is drawn by the driver; ``scan_ns`` is the longest way from key to kernel."""

    def __init__(self, device: DeviceId, composer: Composer, boot: BootId, *, scan_ns: int, port: str = "") -> None:
        if not 1 <= boot < 1 << 32:
            raise ValueError(f"boot {boot} is not from 1 to 2^32 - 1")
        self.device = device
        self._composer = composer
        self._boot = boot
        self._scan_ns = scan_ns
        self._port = port or "its port"
        self._reader = KeyReader()
        self._seq = 0
        self._open: dict[int, Press] = {}
        """Reported, and not yet in the journal; oldest first."""
        self._again: dict[int, Press] = {}
        """To be reported again."""
        self._again_ns = 0
        self._now_ns = 0
        self._started_ns: int | None = None
        self._up = False
        self._frames = self._dropped = self._gaps = 0

    # -- the owner's side ------------------------------------------------------------------------

    def start(self, now_ns: int) -> None:
        """The port is open (again).  An entry that was under way is thrown away; presses are kept."""
        self._reader.clear()
        self._composer.upset()
        self._composer.redraw()
        self._started_ns = self._now_ns = now_ns
        self._again_ns = now_ns
        self._up = False

    def receive(self, data: bytes, now_ns: int) -> list[AnyObservation]:
        """Records of the port, read at ``now_ns``."""
        found: list[AnyObservation] = []
        if self._started_ns is None:
            return found
        for record in self._reader.feed(data):
            if record.kind == HELLO:
                self._on_hello(record, now_ns, found)
            elif not self._up:
                self._dropped += record.kind == KEY and record.value == 1
            elif record.kind == KEY:
                self._on_key(record, now_ns, found)
            else:
                self._gaps += 1
                self._composer.upset()
            if self._started_ns is None:
                break
        self._now_ns = now_ns
        return found

    def wake(self, now_ns: int) -> list[AnyObservation]:
        """An entry was left alone, or a press is to be reported again."""
        if self._started_ns is None:
            return []
        if not self._up:
            if now_ns < self._started_ns + HELLO_NS:
                return []
            return [self._lost(now_ns, "its port said nothing", "Unplug it, plug it in again; tabled reopens it.")]
        self._composer.wake(now_ns)
        self._now_ns = max(self._now_ns, now_ns)
        if not self._again or now_ns < self._again_ns:
            return []
        found: list[AnyObservation] = list(self._again.values())
        self._open = dict(sorted((self._open | self._again).items()))
        self._again.clear()
        return found

    @property
    def next_wake_ns(self) -> int | None:
        """When `wake` is due."""
        if self._started_ns is None:
            return None
        if not self._up:
            return self._started_ns + HELLO_NS
        times = [t for t in (self._composer.next_wake_ns, self._again_ns if self._again else None) if t is not None]
        return min(times, default=None)

    def outgoing(self) -> bytes:
        """What the keys should show now."""
        return self._composer.faces() if self._up else b""

    def acknowledge(self, observation: AnyObservation) -> None:
        """The journal has it."""
        if isinstance(observation, Press) and observation.boot == self._boot:
            self._open.pop(observation.seq, None)
            self._again.pop(observation.seq, None)

    def remember(self, press: Press) -> None:
        """A press of an earlier run.  Its name is never given again, even if chance drew the same boot."""
        if press.boot == self._boot:
            self._seq = max(self._seq, press.seq)

    def withdraw(self, observation: AnyObservation) -> None:
        """The host could not take it: it is reported again shortly, under the same name and time."""
        if not isinstance(observation, Press) or observation.boot != self._boot:
            return
        if self._open.pop(observation.seq, None) is not None:
            self._again[observation.seq] = observation
            self._again_ns = self._now_ns + AGAIN_NS

    def refresh(self) -> None:
        """A panel repeats nothing."""

    def counters(self) -> Counters:
        """``frames``: key events; ``foreign``: keys and entries that came to nothing; ``corrupt``: gaps in the keys."""
        return Counters(
            frames=self._frames,
            corrupt=self._gaps,
            foreign=self._composer.refused + self._reader.refused,
            dropped=self._dropped,
        )

    def figures(self) -> Figures:
        """The host's own clock stamps the keys: its width is the way from key to kernel."""
        return Figures(clock_ns=self._scan_ns)

    # -- keys ------------------------------------------------------------------------------------

    def _on_hello(self, record: KeyRecord, now_ns: int, found: list[AnyObservation]) -> None:
        if self._up or self._started_ns is None:
            return
        problem = self._composer.fits(record.value)
        if problem is not None:
            advice = "Mend its 'pages' in the configuration; it is not used until then."
            found.append(self._lost(now_ns, problem, advice))
            return
        self._up = True
        span = TimeSpan(self._started_ns, now_ns)
        found.append(DeviceUp(self.device, span, model=record.name, firmware="", boot=self._boot))

    def _lost(self, now_ns: int, reason: str, advice: str) -> DeviceLost:
        started_ns = now_ns if self._started_ns is None else self._started_ns
        self._started_ns = None
        where = f"Panel '{self.device}' on {self._port} cannot be used: {reason}."
        return DeviceLost(self.device, TimeSpan(min(started_ns, now_ns), now_ns), reason, f"{where} {advice}")

    def _on_key(self, record: KeyRecord, now_ns: int, found: list[AnyObservation]) -> None:
        self._frames += 1
        if record.value != 1:
            return  # a release, or the kernel's key repeat
        act = self._composer.key(record.code, now_ns)
        if act is None:
            return
        if len(self._open) + len(self._again) >= MAX_OPEN:
            self._dropped += 1
            return
        self._seq += 1
        press = Press(
            self.device,
            self._pressed(record, now_ns),
            boot=self._boot,
            seq=self._seq,
            key=act.key,
            seat=act.seat,
            amount=act.amount,
            said_first=act.said_first,
        )
        self._open[press.seq] = press
        found.append(press)

    def _pressed(self, record: KeyRecord, now_ns: int) -> TimeSpan:
        """From the key's own time, less its way through the device; else since the port was last read."""
        if now_ns - OLDEST_NS <= record.at_ns <= now_ns and record.at_ns > 0:
            latest_ns = min(now_ns, record.at_ns + 999)  # the record's time is cut to microseconds
            return TimeSpan(max(0, record.at_ns - self._scan_ns), latest_ns)
        return TimeSpan(max(0, min(self._now_ns, now_ns - self._scan_ns)), now_ns)
