"""The same table in memory and virtual time: no thread, no file, no real clock.

For deterministic simulation: the host under test writes to and reads from `MemoryPort`s, publishes with
`MemoryTable.hear`, takes the floor's orders from `MemoryTable.commands`, and moves time with `advance`.
Everything follows from the hands, the options and the seed.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from hw_sim.devices import Device
from hw_sim.devices.faults import NO_FAULTS, FaultLine, FaultPlan
from hw_sim.ears import Ears, Json
from hw_sim.hands import Hand
from hw_sim.mishaps import NO_MISHAPS, MishapPlan, Mishaps
from hw_sim.people import Pace
from hw_sim.script import Script, Sleep, Until, Wait
from hw_sim.sloppy import Manners, invite
from hw_sim.table import SimTable, TableOptions

MAX_TURNS = 100_000


class MemoryPort:
    """One serial line.  The host calls `write` and `read`; faults act on both directions."""

    def __init__(self, device: Device, *, faults: FaultPlan = NO_FAULTS, seed: int = 0) -> None:
        self.device = device
        self._lines = FaultLine(faults, seed=seed * 2), FaultLine(faults, seed=seed * 2 + 1)
        self._to_device: deque[tuple[int, bytes]] = deque()
        self._to_host: deque[tuple[int, bytes]] = deque()
        self._arrived = bytearray()
        self.plugged = True

    def write(self, data: bytes, now_ns: int) -> None:
        """Host to device."""
        if self.plugged:
            self._to_device.extend(self._lines[0].pass_on(data, now_ns))
            self.step(now_ns)

    def read(self, now_ns: int) -> bytes:
        """Device to host: all that has arrived by now."""
        self.step(now_ns)
        out = bytes(self._arrived)
        self._arrived.clear()
        return out

    def step(self, now_ns: int) -> None:
        """Let bytes arrive and the device act, up to now."""
        if not self.plugged:
            self.device.poll(now_ns)
            return
        for _ in range(MAX_TURNS):
            while self._to_device and self._to_device[0][0] <= now_ns:
                at, data = self._to_device.popleft()
                self.device.feed(data, at)
            said = self.device.poll(now_ns)
            self._to_host.extend(self._lines[1].pass_on(said, now_ns))
            due = self.device.next_due_ns()
            if not said and (due is None or due > now_ns):
                break
        while self._to_host and self._to_host[0][0] <= now_ns:
            self._arrived += self._to_host.popleft()[1]

    def next_due_ns(self) -> int | None:
        """When something happens here next, if the host does nothing."""
        times = [q[0][0] for q in (self._to_device, self._to_host) if q]
        due = self.device.next_due_ns()
        return min([*times, due]) if due is not None else min(times, default=None)

    def unplug(self) -> None:
        """Everything on the way is lost."""
        self.plugged = False
        self._to_device.clear()
        self._to_host.clear()
        self._arrived.clear()

    def replug(self) -> None:
        """The line is back."""
        self.plugged = True


class MemoryTable:
    """A whole table with its people, in virtual time starting at ``start_ns``."""

    def __init__(
        self,
        hands: list[Hand],
        *,
        options: TableOptions | None = None,
        pace: Pace | None = None,
        faults: FaultPlan = NO_FAULTS,
        mishaps: MishapPlan = NO_MISHAPS,
        manners: Manners | None = None,
        sink: Callable[[str], None] | None = None,
        start_ns: int = 0,
    ) -> None:
        self.now_ns = start_ns
        self.table = SimTable(hands, options, sink=sink, start_ns=start_ns)
        seed = self.table.options.seed
        # A line's chance depends on its name alone, so that a second reader changes nothing for the others.
        devices: dict[str, Device] = {**self.table.readers, "panel": self.table.panel}
        salt = {"reader": 1, "reader-a": 1, "panel": 2, "reader-b": 3}
        self.ports = {name: MemoryPort(d, faults=faults, seed=seed + salt[name]) for name, d in devices.items()}
        self.mishaps = Mishaps(mishaps, self.table, seed=seed, start_ns=start_ns)
        self.ears = Ears()
        self._orders: deque[tuple[str, Json]] = deque()
        self.people = invite(
            manners,
            self.table,
            self,
            self.ears,
            now=lambda: self.now_ns,
            pace=pace,
            seed=seed,
            session=f"sim{seed}",
        )
        self._script: Script = self.people.session(hands)
        self._wait: Wait | None = None
        self._deadline_ns = start_ns
        self.done = False
        self._resume(None)

    # -- the host's side --------------------------------------------------------------------------

    def command(self, what: str, message: Json) -> None:
        """The floor gives an order (called by the people)."""
        self._orders.append((what, message))

    def commands(self) -> list[tuple[str, Json]]:
        """Orders of the floor that the host has not taken yet, as (topic's last part, message)."""
        out = list(self._orders)
        self._orders.clear()
        return out

    def hear(self, kind: str, payload: bytes) -> None:
        """The host publishes; people may act on it at this very instant."""
        self.ears.hear(kind, payload)
        self._run_people()

    def next_due_ns(self) -> int | None:
        """The next instant at which the table does something by itself; None when it only waits for the host."""
        times = [t for p in self.ports.values() if (t := p.next_due_ns()) is not None]
        if (mishap := self.mishaps.next_ns()) is not None:
            times.append(mishap)
        if not self.done:
            times.append(self._deadline_ns)
        return max(min(times), self.now_ns) if times else None

    def advance(self, to_ns: int) -> None:
        """Move time on; everything due on the way happens in order."""
        assert to_ns >= self.now_ns, "time does not run backwards"
        while not self.done and self._deadline_ns <= to_ns:
            self._step_to(max(self._deadline_ns, self.now_ns))
            self._run_people()
        self._step_to(to_ns)

    def _step_to(self, to_ns: int) -> None:
        while (mishap := self.mishaps.next_ns()) is not None and mishap <= to_ns:
            self._step_ports_to(max(mishap, self.now_ns))
            self.mishaps.happen(self.now_ns, self.ports)
        self._step_ports_to(to_ns)

    def _step_ports_to(self, to_ns: int) -> None:
        for _ in range(MAX_TURNS):
            times = [t for p in self.ports.values() if (t := p.next_due_ns()) is not None]
            due = max(min(times, default=to_ns), self.now_ns)
            if due >= to_ns:
                break
            self.now_ns = due
            for port in self.ports.values():
                port.step(due)
        self.now_ns = to_ns
        for port in self.ports.values():
            port.step(to_ns)

    # -- the people's side ------------------------------------------------------------------------

    def _run_people(self) -> None:
        for _ in range(MAX_TURNS):
            if self.done:
                return
            wait = self._wait
            met = isinstance(wait, Until) and wait.ready()
            if not met and self.now_ns < self._deadline_ns:
                return
            self._resume(met or isinstance(wait, Sleep))
        raise RuntimeError("the people at the table never pause")

    def _resume(self, answer: bool | None) -> None:
        try:
            self._wait = next(self._script) if answer is None else self._script.send(answer)
        except StopIteration:
            self.done = True
            return
        self._deadline_ns = self.now_ns + self._wait.ns
