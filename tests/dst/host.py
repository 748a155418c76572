"""One life of the daemon's process: a small model of `tabled.shell.daemon.Daemon` around the production objects.

Order of effects, as there: observations and verified orders wait in `Intake`; one batch at a time goes to
`Engine.commit`; after it each press is acknowledged and each order answered, in the order of the entries; then the
outbox is woken and the retained state set.  While the disk works, devices and broker go on.  The outlet's
thread may run before, between or after the acknowledgements: chance decides.

Left out: the console, the heartbeat and the web page.  Not modelled: threads that interrupt one another within a
call (`tests/journal` and `tests/outlets` have those).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from random import Random

import msgspec

from firmware_bridge.session.contract import let_through
from firmware_bridge.session.feig import FeigSession
from firmware_bridge.session.panel import PanelSession
from firmware_bridge.session.plan import FeigOptions
from firmware_bridge.supervisor import DeviceHealth
from firmware_bridge.wire import AnyObservation, DeviceId, Press
from hw_sim.memory import MemoryPort
from tabled.core import operator
from tabled.core.entries import AnyInput, Ordered, Seen, Started, TableConfig, Ticked
from tabled.core.state import TableState, view
from tabled.core.table import next_wake_ns
from tabled.journal import Journal, JournalUnwritable
from tabled.model.outcome import AlertRaised, AnyOperatorAct, TableView
from tabled.outlets.messages import render_state
from tabled.outlets.outbox import Outbox, OutboxStore
from tabled.outlets.topics import Origin
from tabled.shell.daemon import HEALTH_PERIOD_S, MAX_ORDERS, RETRY_S, STATE_PERIOD_NS, _known_presses
from tabled.shell.engine import Committed, Engine, JournalLike, Renderer
from tabled.shell.intake import Intake
from tabled.shell.readers import Readers, Spot
from tabled.shell.rendering import renderer
from tabled.shell.store import JournalStore
from tests.dst.broker import Broker
from tests.dst.clock import Clock, S
from tests.dst.death import Reaper
from tests.dst.disk import Disk
from tests.dst.lines import Line
from tests.dst.outlet import Outlet

MAX_TURNS = 10_000
SWEEP_MS = 90
"""Least time of a sweep: what ten antennas take; fewer are not read more often, to keep the simulation quick."""


class Parts(msgspec.Struct, frozen=True, kw_only=True):
    """Which classes the process is made of.  Production's, unless a planted bug takes the place of one."""

    engine: Callable[[JournalLike, Renderer], Engine] = Engine
    outbox: Callable[[OutboxStore], Outbox] = Outbox
    feig: type[FeigSession] = FeigSession
    panel: type[PanelSession] = PanelSession
    acknowledge_early: bool = False
    """Planted: acknowledge a press when it is seen instead of when it is durable."""


MARK_EVERY = 60
"""Entries; so seldom in a daemon (`tabled.shell.marks`) that a simulated one would hardly live to see a mark."""


class Watch(msgspec.Struct, kw_only=True):
    """Who looks on: each is called at the moment of the effect."""

    written: Callable[[str, bytes], None]
    published: Callable[[str, bytes, int | None], None]
    committed: Callable[[Committed, TableState], None]
    recovered: Callable[[TableState], None]
    note: Callable[[str], None]


class Plan:
    """What the daemon asks of `Bridge` about its readers, of the one reader here."""

    def __init__(self, lines: dict[str, Line]) -> None:
        self._lines = lines
        session = lines["reader"].session
        assert isinstance(session, FeigSession)
        self._session = session

    def favour(self, places: Iterable[Spot]) -> None:
        """As `Bridge.favour`."""
        self._session.favour(tuple(places))

    def refresh(self, wanted: Mapping[Spot, int] | None = None) -> None:
        """As `Bridge.refresh`."""
        let_through(self._session, None if wanted is None else {antenna: n for (_, antenna), n in wanted.items()})

    def health(self) -> tuple[DeviceHealth, ...]:
        """As `Bridge.health`, as far as it is used for the bounds."""
        return tuple(
            DeviceHealth(
                line.device,
                "up" if line.is_open and line.state == "up" else "lost",
                0,
                line.session.counters(),
                line.session.figures(),
            )
            for line in self._lines.values()
        )

    def worst_arrival_ns(self, device: str, antenna: int) -> int | None:
        """As `Bridge.worst_arrival_ns`."""
        return self._session.worst_arrival_ns(antenna)

    def worst_removal_ns(self, device: str, antenna: int) -> int | None:
        """As `Bridge.worst_removal_ns`."""
        return self._session.worst_removal_ns(antenna)


class House(msgspec.Struct, kw_only=True):
    """What outlives a process: the file, the ports, the broker, the clocks, chance."""

    path: Path
    epoch: str
    config: TableConfig
    antennas: tuple[int, ...]
    ports: dict[str, MemoryPort]
    clock: Clock
    broker: Broker
    disk: Disk
    reaper: Reaper
    chance: Random
    watch: Watch
    parts: Parts = Parts()


class Host:
    """From start to death.  The constructor recovers from the journal and commits `Started`, or raises."""

    def __init__(self, house: House) -> None:
        self._house = house
        self._clock, self._reaper = house.clock, house.reaper
        self.journal: Journal = house.disk.open(house.path, house.epoch)
        try:
            self._origin = Origin(house.config.site, house.config.table, self.journal.epoch)
            self.engine = house.parts.engine(self.journal, renderer(self._origin))
            self.engine.marks.every = MARK_EVERY
            self.recovered = self.engine.recover()
            house.watch.recovered(self.engine.state)
            self.intake = Intake()
            self.lines = self._make_lines()
            self.readers = Readers(Plan(self.lines), house.config.layout)
            self._beat_ns = 0
            for press in _known_presses(self.engine.state):
                self.lines[press.device].session.remember(press)
            store = JournalStore(self.journal)
            self.outlet = Outlet(
                store, house.parts.outbox, house.broker, self._on_command, self._origin, house.clock, house.reaper,
                house.chance, house.watch.published,
            )  # fmt: skip
            self.orders: dict[str, AnyOperatorAct] = {}
            self._batch: list[AnyInput] = []
            self._done_ns = 0
            self.trouble = False
            self._shown: TableView | None = None
            self._shown_ns = 0
            self._wake: tuple[TableState, int | None] | None = None
            self._commit([self._started()])
        except BaseException:
            Disk.drop(self.journal)
            raise

    def _make_lines(self) -> dict[str, Line]:
        house = self._house
        options = FeigOptions(antennas=house.antennas, min_sweep_ms=SWEEP_MS)
        sessions = {
            "reader": house.parts.feig(DeviceId("reader"), options),
            "panel": house.parts.panel(DeviceId("panel")),
        }
        return {
            name: Line(
                name, session, house.ports[name], self._on_observation, house.clock, house.reaper, house.chance,
                house.watch.written,
            )
            for name, session in sessions.items()
        }  # fmt: skip

    def die(self) -> None:
        """Nothing is said and nothing saved."""
        self._house.broker.drop()
        Disk.drop(self.journal)

    # -- inputs ----------------------------------------------------------------------------------

    def _on_observation(self, observation: AnyObservation) -> None:
        self.intake.put(Seen(at_ns=self._clock.host_ns, observation=observation))
        self.readers.notice(observation)
        if self._house.parts.acknowledge_early and isinstance(observation, Press):
            self.lines[observation.device].acknowledge(observation)

    def _on_command(self, act: AnyOperatorAct) -> None:
        try:
            operator.verify(self.engine.state, act)
        except operator.NotNow as problem:
            self.outlet.ack(act.request, False, str(problem))
            return
        if len(self.orders) >= MAX_ORDERS:
            self.outlet.ack(act.request, False, "too many orders at once; send it again in a second")
            return
        self.orders[act.request] = act
        self.intake.put(Ordered(at_ns=self._clock.host_ns, act=act))

    def _started(self) -> Started:
        return Started(
            at_ns=self._clock.host_ns,
            epoch=self.journal.epoch,
            clock=self._clock.name,
            version="simulated",
            config=self._house.config,
        )

    # -- the loop --------------------------------------------------------------------------------

    def turn(self) -> None:
        """Everything that is due at this instant, until nothing more happens."""
        for _ in range(MAX_TURNS):
            for line in self.lines.values():
                self._turn_line(line)
            moved = self.outlet.turn()
            moved = self._pump() or moved
            if not moved:
                return
        raise AssertionError("the daemon never comes to rest")

    def _turn_line(self, line: Line) -> None:
        for _ in range(MAX_TURNS):
            if not line.turn():
                return
        raise AssertionError(f"{line.device} never comes to rest")

    def next_due_ns(self) -> int | None:
        """Virtual time at which `turn` has something to do by itself."""
        times = [line.next_due_ns() for line in self.lines.values()]
        times.append(self.outlet.next_due_ns())
        times.append(self._done_ns if self._batch else self._core_wake_ns())
        return min((self._clock.to_virtual(t) for t in times if t is not None), default=None)

    def _core_wake_ns(self) -> int | None:
        state = self.engine.state
        if self._wake is None or self._wake[0] is not state:
            self._wake = (state, next_wake_ns(state))
        return self._wake[1]

    def _pump(self) -> bool:
        now_ns = self._clock.host_ns
        if self._batch:
            return now_ns >= self._done_ns and self._finish(now_ns)
        wake_ns = self._core_wake_ns()
        if wake_ns is not None and now_ns >= wake_ns:
            self.intake.put(Ticked(at_ns=now_ns))
        if now_ns >= self._beat_ns:
            self._beat_ns = now_ns + round(HEALTH_PERIOD_S * S)
            self.readers.look_again()
        stated = self.readers.news(lambda: now_ns)
        if stated is not None:
            self.intake.put(stated)
        self._batch = self.intake.take()
        if not self._batch:
            return False
        self._done_ns = now_ns + self._house.disk.latency_ns
        return True

    def _finish(self, now_ns: int) -> bool:
        """The disk is done with a batch, or refuses it: then the same batch is tried again later."""
        try:
            self._commit(self._batch)
        except JournalUnwritable as problem:
            if not self.trouble:
                self._house.watch.note(f"FAULT {problem.reason}")
            self.trouble = True
            self._done_ns = now_ns + round(RETRY_S * S)
            return False
        self._batch = []
        if self.trouble:
            self.trouble = False
            for line in self.lines.values():
                line.session.refresh()
        return True

    def _commit(self, batch: list[AnyInput]) -> None:
        self._reaper.point("not appended")
        done = self.engine.commit(batch, self._clock.wall_ns)
        self._reaper.point("committed, nothing acknowledged")
        for committed in done:
            if self._house.chance.random() < 0.05:
                self.outlet.turn()
            self._after(committed)
        self.engine.rest()
        self.readers.follow(self.engine.state)
        self._reaper.point("acknowledged, state not shown")
        self._show_state()

    def _after(self, committed: Committed) -> None:
        self._house.watch.committed(committed, self.engine.state)
        entry = committed.entry
        if isinstance(entry, Seen) and isinstance(entry.observation, Press):
            self._reaper.point("press durable, not acknowledged")
            self.lines[entry.observation.device].acknowledge(entry.observation)
        if isinstance(entry, Ordered):
            self._reaper.point("order durable, not answered")
            self.orders.pop(entry.act.request, None)
            refused = [
                o.reason.params.get("why", "")
                for _, o in committed.outcomes
                if isinstance(o, AlertRaised) and o.reason.code == "order_refused"
            ]
            self.outlet.ack(entry.act.request, not refused, str(refused[0]) if refused else "done", committed.position)

    def _show_state(self) -> None:
        picture = view(self.engine.state)
        now_ns = self._clock.host_ns
        bare = msgspec.structs.replace(picture, position=0)
        if bare == self._shown and now_ns - self._shown_ns < STATE_PERIOD_NS:
            return
        self._shown, self._shown_ns = bare, now_ns
        self.outlet.set_state(render_state(picture, self._clock.wall_ns, origin=self._origin))
