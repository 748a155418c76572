"""The daemon of one table: readers and panel in, journal, core, rulings out.

One event loop carries everything but the disk (one worker thread, one transaction at a time) and the
MQTT connection (its own thread).  Inputs wait in a bounded queue until they are durable; nothing is
acknowledged or shown before that.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import msgspec

from firmware_bridge.supervisor import Bridge, DeviceConfig, PortProblem
from firmware_bridge.wire import AnyObservation, BootId, DeviceId, DeviceLost, DeviceUp, Press, TimeSpan
from tabled.core import operator
from tabled.core.entries import AnyInput, Ordered, Seen, Started, TableConfig, Ticked
from tabled.core.state import NotNow, TableState, view
from tabled.core.table import next_wake_ns
from tabled.journal import Journal, JournalUnwritable
from tabled.model.calibration import Calibration
from tabled.model.camera import AnyCameraObservation
from tabled.model.layout import Layout
from tabled.model.outcome import AlertRaised, AnyOperatorAct, TableView
from tabled.model.ruling import Reason
from tabled.outlets.broker import BrokerEvent, BrokerUrl, EmbeddedBroker, ExternalBroker, open_broker, parse_url
from tabled.outlets.commands import AnyCommand, Record
from tabled.outlets.display import Display
from tabled.outlets.messages import render_health, render_state
from tabled.outlets.mqtt import MqttConfig, MqttOutlet, check
from tabled.outlets.topics import Origin
from tabled.shell.calibrated import calibration_of, fusion_of
from tabled.shell.checkup import Checkup
from tabled.shell.chipbook import ChipBook
from tabled.shell.clock import clock_name, monotonic_ns, wall_ns
from tabled.shell.config import (
    ChipRegistry,
    Config,
    ConfigError,
    DeviceSection,
    layout_of,
    load_registry,
    neighbours_of,
)
from tabled.shell.console import Console
from tabled.shell.engine import Committed, Engine
from tabled.shell.health import DEVICE_LOST, HealthWatch, figures
from tabled.shell.intake import Intake
from tabled.shell.orders import what_became_of
from tabled.shell.profiles import load as load_profile
from tabled.shell.readers import Readers
from tabled.shell.registry import Registry, RegistryError, Share
from tabled.shell.registry import load as load_room
from tabled.shell.rendering import WORDING, origin_of, renderer
from tabled.shell.sight import Sight
from tabled.shell.store import JournalStore
from tabled.shell.version import product_version

HEALTH_PERIOD_S = 1.0
REGISTRY_PERIOD_S = 60.0
HEALTH_LEAST_S = 0.1
"""Between two health messages at least, however much goes wrong."""
STATE_PERIOD_NS = 1_000_000_000
RETRY_S = 0.5
STOP_S = 5.0
MAX_ORDERS = 32


class Daemon:
    """One table.  `open` claims every resource, `run` serves until told to stop, `close` gives everything back."""

    def __init__(self, config: Config, out: Callable[[str], None]) -> None:
        self._config = config
        self._out = out
        calibration = calibration_of(config)
        self._table = table_config(config, calibration)
        self._console = Console(out, WORDING.say, WORDING.announce, config.table.language)
        self._intake = Intake(self._on_let_go)
        self._wake = asyncio.Event()
        self._writer = ThreadPoolExecutor(1, thread_name_prefix="tabled-journal")
        self._closers = contextlib.ExitStack()
        self._orders: dict[str, AnyOperatorAct] = {}
        self._trouble: dict[str, Reason] = {}
        self._watch = HealthWatch()
        folder = config.camera.calibration if config.camera is not None else ""
        self._checkup = Checkup(self._table.layout, calibration, self._table.camera, folder)
        self._share = Share()
        self._chips = ChipBook(room_registry(config, self._share)) if config.chips.registry else None
        self._sick = asyncio.Event()
        self._sight = Sight(config, self._table.calibration, self._on_observation, self._sick.set, self._intake.__len__)
        self._shown: TableView | None = None
        self._shown_ns = 0
        self._stopping = False
        self.display_url = ""

    async def open(self) -> None:
        """Open journal, broker, display and ports, in that order.

        Raises `ConfigError`, `BridgeProblem`, `JournalError` or `BrokerError`: each is one line for the technician,
        of several missing ports the first.
        """
        config = self._config
        devices = [device_config(d) for d in config.device]
        layout = self._table.layout
        self._bridge = Bridge(
            devices, self._on_observation, monotonic_ns, neighbours=neighbours_of(layout), tap=self._sight.overhear
        )
        self._readers = Readers(self._bridge, layout)
        check_readers(self._bridge.arrivals_only(), layout)
        for problem in self._bridge.check():
            raise ConfigError(_at_start(problem))
        self._journal = Journal.open(config.journal.file)
        self._closers.callback(self._journal.close)
        self._origin = Origin(config.table.site, config.table.name, self._journal.epoch)
        _check_owner(self._journal, self._origin, config.journal.file)
        self._engine = Engine(self._journal, renderer(self._origin), product_version())
        entries = self._engine.recover()
        if entries:
            again = f", the newest {self._engine.folded} of them folded again"
            self._out(f"recovered from {entries} journal entries in {config.journal.file}{again}")
        self._bridge.remember(_known_presses(self._engine.state))
        await self._open_outlets()
        self._sight.open(self._journal.epoch, product_version())
        await self._commit([self._started()])

    async def _open_outlets(self) -> None:
        config = self._config
        loop = asyncio.get_running_loop()
        self._broker = open_broker(
            config.mqtt.broker,
            ws_url=config.mqtt.websocket,
            ports=(config.mqtt.port, config.mqtt.ws_port),
            on_event=self._on_broker,
        )
        await loop.run_in_executor(None, self._broker.start)
        self._closers.callback(self._broker.stop)
        mqtt = MqttConfig(
            broker=_address(self._broker),
            origin=self._origin,
            username=config.mqtt.username,
            password_file=config.mqtt.password_file,
            ca_file=config.mqtt.ca_file,
        )
        await loop.run_in_executor(None, check, mqtt)
        self._outlet = MqttOutlet(
            mqtt, JournalStore(self._journal), self._on_command, monotonic_ns, wall_ns=wall_ns, loop=loop
        )
        self._outlet.start()
        self._closers.callback(self._outlet.stop)
        if config.display.enabled:
            await self._open_display()

    async def _open_display(self) -> None:
        self._display = Display(
            self._origin,
            self._broker.ws_url,
            port=self._config.display.port,
            language=self._config.table.language,
        )
        await self._display.start()
        self.display_url = self._display.url

    @property
    def broker(self) -> EmbeddedBroker | ExternalBroker:
        """The broker in use."""
        return self._broker

    @property
    def state(self) -> TableState:
        """The table as of the newest durable entry."""
        return self._engine.state

    async def run(self, stop: asyncio.Event) -> None:
        """Serve until ``stop`` is set.  Raises what ended it otherwise."""
        await self._bridge.start()
        self._sight.start()
        tasks = [
            asyncio.create_task(self._pump(), name="journal pump"),
            asyncio.create_task(self._heartbeat(), name="heartbeat"),
            asyncio.create_task(stop.wait(), name="stop"),
        ]
        if self._config.camera is not None and self._config.camera.calibration:
            tasks.append(asyncio.create_task(self._checkup.mind(), name="calibration"))
        if self._chips is not None:
            tasks.append(asyncio.create_task(self._mind_registry(self._chips), name="registry"))
        try:
            done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                task.result()
        finally:
            # The pump is let out, not cancelled: a commit on its way must have its acknowledgements.
            self._stopping = True
            self._wake.set()
            await asyncio.wait(tasks[:1], timeout=STOP_S)
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            await self._bridge.stop()
            await self._sight.stop()

    async def close(self) -> None:
        """Write what waits, say good-bye, give everything back.  Safe after a failed `open`."""
        if hasattr(self, "_outlet"):
            with contextlib.suppress(JournalUnwritable):
                await self._write_the_rest()
        if hasattr(self, "_display"):
            await self._display.stop()
        loop = asyncio.get_running_loop()
        await loop.run_in_executor(None, self._closers.close)
        self._writer.shutdown()

    async def _write_the_rest(self) -> None:
        while len(self._intake):
            await self._commit(self._intake.take())

    # -- inputs ----------------------------------------------------------------------------------

    def _on_observation(self, observation: AnyObservation | AnyCameraObservation) -> None:
        now_ns = monotonic_ns()
        known = self._chips.before(observation, now_ns) if self._chips is not None else None
        if known is not None:
            self._put(known)
        self._put(Seen(at_ns=now_ns, observation=observation))
        self._checkup.notice(observation)
        if not isinstance(observation, AnyCameraObservation):
            self._readers.notice(observation)
        if isinstance(observation, DeviceLost | DeviceUp):
            self._sick.set()

    def _on_let_go(self, observation: AnyObservation) -> None:
        # Not from within the bridge's own call.
        asyncio.get_running_loop().call_soon(self._bridge.withdraw, observation)

    def _on_command(self, act: AnyCommand) -> None:
        if isinstance(act, Record):
            self._outlet.ack(act.request, *self._sight.record(act.reason))
            return
        if act.request in self._engine.state.requests:
            self._outlet.ack(act.request, True, "done already", None)
            return
        try:
            operator.verify(self._engine.state, act)
        except NotNow as problem:
            self._outlet.ack(act.request, False, str(problem))
            return
        if len(self._orders) >= MAX_ORDERS:
            self._outlet.ack(act.request, False, "too many orders at once; send it again in a second")
            return
        try:
            self._put(Ordered(at_ns=monotonic_ns(), act=act))
        except OverflowError as problem:
            self._outlet.ack(act.request, False, str(problem))
        else:
            self._orders[act.request] = act

    def _on_broker(self, event: BrokerEvent) -> None:
        if not event.up:
            self._out(event.text)

    def _put(self, entry: AnyInput) -> None:
        self._intake.put(entry)
        self._wake.set()

    def _started(self) -> Started:
        return Started(
            at_ns=monotonic_ns(),
            epoch=self._journal.epoch,
            clock=clock_name(),
            version=product_version(),
            config=self._table if self._chips is None else self._with_chips(self._chips),
        )

    def _with_chips(self, chips: ChipBook) -> TableConfig:
        """Of the room's chips, those that the journal has seen."""
        values, barred = chips.begin(self._engine.state)
        return msgspec.structs.replace(self._table, chips=values, barred=barred)

    async def _mind_registry(self, chips: ChipBook) -> None:
        """Once a minute: a chip that was barred since then is barred here too."""
        loop = asyncio.get_running_loop()
        while True:
            await asyncio.sleep(REGISTRY_PERIOD_S)
            try:
                now = await loop.run_in_executor(None, room_registry, self._config, self._share)
            except ConfigError as problem:
                copied_ns = chips.registry.copied_ns or wall_ns()
                now = msgspec.structs.replace(chips.registry, copied_ns=copied_ns, why=str(problem))
            for known in chips.renew(now, monotonic_ns()):
                self._put(known)

    # -- journal and what follows ----------------------------------------------------------------

    async def _pump(self) -> None:
        """Inputs and timers into the journal, as fast as the disk takes them."""
        while not self._stopping:
            stated = self._readers.news(monotonic_ns)
            wake_ns = next_wake_ns(self._engine.state)
            now_ns = monotonic_ns()
            ticked = wake_ns is not None and now_ns >= wake_ns
            if not ticked and stated is None and not len(self._intake):
                timeout = None if wake_ns is None else (wake_ns - now_ns) / 1e9
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(self._wake.wait(), timeout)
            self._wake.clear()
            batch = self._intake.take()
            if stated is not None:
                batch.append(stated)
            if ticked:
                batch.append(Ticked(at_ns=monotonic_ns()))
            if batch:
                await self._commit_patiently(batch)

    async def _commit_patiently(self, batch: list[AnyInput]) -> None:
        """Commit, and while the disk refuses say so and try again: nothing is acknowledged meanwhile."""
        while True:
            try:
                await self._commit(batch)
            except JournalUnwritable as problem:
                if "journal" not in self._trouble:
                    self._out(f"  FAULT: {problem}")
                why: dict[str, int | str] = {"why": problem.reason, "advice": problem.advice}
                if self._stopping:
                    self._intake.put_back(batch)
                    return
                self._trouble["journal"] = Reason("journal_unwritable", why)
                self._sick.set()
                await asyncio.sleep(RETRY_S)
            else:
                if self._trouble.pop("journal", None) is not None:
                    self._out("  over: the journal can be written again")
                    self._bridge.refresh()  # inventories may have been thinned out meanwhile
                return

    async def _commit(self, batch: list[AnyInput]) -> None:
        loop = asyncio.get_running_loop()
        done = await loop.run_in_executor(self._writer, self._engine.commit, batch, wall_ns())
        for committed in done:
            self._after(committed)
        self._readers.follow(self._engine.state)
        if any(c.outcomes for c in done):
            self._outlet.notify()
        self._show_state()
        await loop.run_in_executor(self._writer, self._engine.rest)
        if self._engine.marks.doubt and "state" not in self._trouble:
            self._out(f"  FAULT: {self._engine.marks.doubt}")
            self._trouble["state"] = Reason("state_unproved", {"why": self._engine.marks.doubt})
            self._sick.set()

    def _after(self, committed: Committed) -> None:
        """Only now: a device may forget what it said, the operator hears what was done, the terminal shows it."""
        entry = committed.entry
        self._sight.follow(committed)
        if isinstance(entry, Seen) and not isinstance(entry.observation, AnyCameraObservation):
            self._bridge.acknowledge(entry.observation)
        if isinstance(entry, Ordered):
            self._orders.pop(entry.act.request, None)
            ok, said = what_became_of(entry.act, committed.outcomes)
            self._outlet.ack(entry.act.request, ok, said, committed.position)
        for position, outcome in committed.outcomes:
            self._console.tell(position, outcome)
            if isinstance(outcome, AlertRaised) and outcome.severity != "info":
                self._sick.set()

    def _show_state(self) -> None:
        """The retained picture, when it changed, or once a second for its as-of."""
        picture = view(self._engine.state)
        now_ns = monotonic_ns()
        bare = msgspec.structs.replace(picture, position=0)
        if bare == self._shown and now_ns - self._shown_ns < STATE_PERIOD_NS:
            return
        self._shown, self._shown_ns = bare, now_ns
        self._outlet.set_state(render_state(picture, wall_ns(), origin=self._origin))

    async def _heartbeat(self) -> None:
        """Once a second, from the loop that it vouches for; and at once when something goes wrong."""
        while True:
            self._sick.clear()
            self._readers.look_again()
            self._wake.set()
            self._outlet.set_health(self._health())
            await asyncio.sleep(HEALTH_LEAST_S)
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._sick.wait(), HEALTH_PERIOD_S - HEALTH_LEAST_S)

    def _health(self) -> bytes:
        state, now_ns, sight = self._engine.state, monotonic_ns(), self._sight
        devices = (*self._bridge.health(), *sight.devices())
        report = self._watch.report(devices, self._intake.dropped, now_ns)
        self._checkup.due(devices, now_ns, sight.landmarks())
        registry = self._chips.notes(wall_ns()) if self._chips is not None else ()
        # A lost device is in the state too, but not before the journal has it.
        news = (f for f in report.faults if f.code != DEVICE_LOST or f"device:{f.params['device']}" not in state.faults)
        return render_health(
            "online",
            wall_ns(),
            origin=self._origin,
            wording=WORDING,
            faults=[
                *self._trouble.values(),
                *(state.faults[k] for k in sorted(state.faults)),
                *news,
                *sight.faults(),
                *self._checkup.faults(),
            ],
            notes=[*report.notes, *sight.notes(), *self._checkup.notes(), *registry],
            devices=[{**figures(device, now_ns), **sight.figures(device.id)} for device in devices],
            position=state.position,
            outlet=self._outlet.status(),
        )


def table_config(config: Config, calibration: Calibration | None) -> TableConfig:
    """What the journal must know of the configuration: layout, chips and law, whole; and what measured the table."""
    registry = load_registry(Path(config.chips.file)) if config.chips.file else ChipRegistry({}, {})
    return TableConfig(
        site=config.table.site,
        table=config.table.name,
        layout=layout_of(config),
        chips=registry.values,
        barred=registry.barred,
        profile=load_profile(config.table.profile),
        fusion=fusion_of(config, calibration),
        camera=config.camera.id if config.camera is not None else "",
        calibration=calibration.digest if calibration is not None else "",
    )


def room_registry(config: Config, share: Share | None = None) -> Registry:
    """The room's registry, or this table's own copy of it beside the journal while it cannot be reached.

    Raises `ConfigError` where there is neither.
    """
    try:
        return load_room(Path(config.chips.registry), Path(f"{config.journal.file}.chips"), wall_ns(), share)
    except RegistryError as problem:
        raise ConfigError(str(problem)) from problem


def device_config(device: DeviceSection) -> DeviceConfig:
    """One ``[[device]]`` for the bridge."""
    options = dict(device.options)
    if device.antennas:
        options["antennas"] = sorted(int(n) for n in device.antennas)
    return DeviceConfig(device.id, device.driver, device.port, device.baud or None, options)


def _address(broker: EmbeddedBroker | ExternalBroker) -> BrokerUrl:
    if isinstance(broker, ExternalBroker):
        return broker.url
    return parse_url(f"mqtt://{broker.host}:{broker.port}")


def _check_owner(journal: Journal, origin: Origin, name: str) -> None:
    """A journal belongs to one table; its messages carry that table's name."""
    first = next(journal.read(), None)
    if first is None:
        return
    owner = origin_of(first, journal.epoch)
    if owner != origin:
        raise ConfigError(
            f"{name} is the journal of {owner.site}/{owner.table}, this is {origin.site}/{origin.table}; "
            "give [journal] file another name"
        )


def check_readers(arrivals_only: Mapping[str, str], layout: Layout) -> None:
    """`ConfigError` for a reader over a bet that never tells that a chip is gone: nothing there would ever be certain,
    and the table would wait in silence."""
    for antenna in layout.antennas:
        why = arrivals_only.get(antenna.device)
        if why is not None and antenna.place.kind == "bet":
            raise ConfigError(
                f"device '{antenna.device}': {why} (antenna {antenna.antenna} covers the bets of seat "
                f"{antenna.place.seat}, which need a reader that says when an antenna is empty)"
            )


def _at_start(problem: PortProblem) -> str:
    """A port that cannot be opened at start-up: nothing runs yet, so the advice is to come back."""
    if problem.absent:
        return (
            f"device '{problem.device}': {problem.port} is not there; plug it in or correct its port in the "
            "configuration, then start tabled again"
        )
    return str(problem)


def _known_presses(state: TableState) -> list[Press]:
    """Presses that the journal holds already: a panel may send them again after a crash of ours."""
    known = []
    for name in state.presses:
        device, boot, seq = name.rsplit("/", 2)
        known.append(Press(DeviceId(device), TimeSpan(0, 0), BootId(int(boot)), int(seq), "fold"))
    return known
