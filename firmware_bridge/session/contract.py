"""What a session is to the layers above it: a protocol as a pure state machine, no I/O, no clock.

The owner of the port calls `Session.start` when it is open, hands in what it reads, writes what
`Session.outgoing` returns, and calls `Session.wake` at `Session.next_wake_ns`.  Everything that a
session has to say comes back as observations.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol, runtime_checkable

import msgspec

from firmware_bridge.wire import AnyObservation, Press


class DeviceConfig(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One configured device.

    ``port`` is a path (prefer ``/dev/serial/by-id/…``), ``tcp://host[:port]``, or ``tcp-listen://host:port`` for a
    reader that calls.  ``baud`` None is the
    driver's own.  ``options`` are checked by the driver; an unknown one is refused by name.
    """

    id: str
    driver: str
    port: str
    baud: int | None = None
    options: dict[str, Any] = {}


class SerialPort(msgspec.Struct, frozen=True):
    """Settings of a serial line.  ``parity`` is N, E or O."""

    path: str
    baud: int
    parity: str = "N"

    def __str__(self) -> str:
        return f"{self.path} at {self.baud} 8{self.parity}1"


class TcpPort(msgspec.Struct, frozen=True):
    """A reader behind an Ethernet socket."""

    host: str
    port: int

    def __str__(self) -> str:
        return f"tcp://{self.host}:{self.port}"


class ListenPort(msgspec.Struct, frozen=True):
    """A socket at which this computer waits for a reader to connect; ``peer`` "" takes whoever comes first."""

    host: str
    port: int
    peer: str = ""

    def __str__(self) -> str:
        return f"tcp-listen://{self.host}:{self.port}"


class KeysPort(msgspec.Struct, frozen=True):
    """A keyboard-like input device (evdev), grabbed so that its keys reach nobody else."""

    path: str

    def __str__(self) -> str:
        return self.path


class DeckPort(msgspec.Struct, frozen=True):
    """A Stream Deck.  ``serial`` is its serial number, "" for the only one; ``transport`` None is USB."""

    serial: str = ""
    transport: str | None = None
    brightness: int = 60
    """Of its key lamps, per cent."""

    def __str__(self) -> str:
        return f"streamdeck:{self.serial}" if self.serial else "streamdeck:"


PortSettings = SerialPort | TcpPort | ListenPort | KeysPort | DeckPort


class Counters(msgspec.Struct, frozen=True):
    """What a session counted since it was made.  None of these is ever reset."""

    frames: int = 0
    """Frames with a good checksum."""
    garbage: int = 0
    """Bytes given up."""
    corrupt: int = 0
    """Inventories that said nothing."""
    timeouts: int = 0
    """Questions without an answer in time."""
    foreign: int = 0
    """Good frames that answered no question of ours, or whose content was refused."""
    restarts: int = 0
    """Boots seen after the first."""
    over_bound: int = 0
    """Sweeps longer than the stated worst case."""
    settled: int = 0
    """Observations withheld because they repeated the one before (see `settle`)."""
    dropped: int = 0
    """Presses that the panel itself dropped, or that found no room here and will be resent."""


class Figures(msgspec.Struct, frozen=True):
    """What a session measured.  None where it does not apply."""

    sweep_ns: int | None = None
    """Duration of the last whole sweep over all antennas."""
    sweep_max_ns: int | None = None
    worst_sweep_ns: int | None = None
    """The bound that the session states for a sweep without faults."""
    clock_ns: int | None = None
    """Width of the clock's span now."""
    drift_ppm: float | None = None
    drift_bounds_ppm: tuple[float, float] | None = None
    """Between which the device's rate error surely lies."""
    clock_jumps: int = 0
    """Times the device's tick contradicted itself and its clock was learnt anew."""
    notes: tuple[str, ...] = ()
    """What a technician should know though the device works, each one line with what to do; a bounded few."""


class Session(Protocol):
    """One device's protocol.  A session outlives its port: `start` begins anew on a reopened one."""

    def start(self, now_ns: int) -> None:
        """The port is open (again): forget what was under way and say hello."""

    def receive(self, data: bytes, now_ns: int) -> list[AnyObservation]:
        """Bytes that were read at ``now_ns``."""

    def wake(self, now_ns: int) -> list[AnyObservation]:
        """Time has passed.  May be called early or late; a `DeviceLost` among the answers ends the session."""

    @property
    def next_wake_ns(self) -> int | None:
        """When `wake` must be called at the latest."""

    def outgoing(self) -> bytes:
        """Bytes to write now; each is returned once."""

    def acknowledge(self, observation: AnyObservation) -> None:
        """The sink has committed what this session reported: only now may the device forget it (see `acts`)."""

    def remember(self, press: Press) -> None:
        """The press is already known from an earlier run: acknowledge it when resent, do not report it."""

    def withdraw(self, observation: AnyObservation) -> None:
        """It could not be taken after all: when the device delivers it again, report it again."""

    def refresh(self) -> None:
        """Let the next result of every antenna through even if it repeats the one before."""

    def counters(self) -> Counters:
        """Counts so far."""

    def figures(self) -> Figures:
        """Measurements so far."""


@runtime_checkable
class LetsThrough(Protocol):
    """A session that can let looks at single antennas through; of another one everything is let through."""

    def expect(self, antenna: int, looks: int) -> None:
        """Somebody waits for so many looks at this antenna: they pass even if they repeat the one before."""


def let_through(session: Session, wanted: Mapping[int, int] | None) -> None:
    """So many looks of each of these antennas; None: the next of all."""
    if wanted is None or (wanted and not isinstance(session, LetsThrough)):
        session.refresh()
    elif isinstance(session, LetsThrough):
        for antenna, looks in wanted.items():
            session.expect(antenna, looks)
