"""The bridge: every device opened, spoken to, and opened again, each on its own.

A device's life is open → session → lost → back off → open, always under its configured name and
port.  What its session reports goes to the sink at once, in order.  A device that is gone is a
`DeviceLost` within a second of it, once a time it is lost; nothing here ends in silence.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from random import SystemRandom

from firmware_bridge.device_health import DeviceHealth, State
from firmware_bridge.drivers.registry import Driven, drive
from firmware_bridge.ports.listen import ListenLine
from firmware_bridge.ports.names import port_notes
from firmware_bridge.ports.opening import check_port, open_port
from firmware_bridge.ports.port import Port
from firmware_bridge.session.contract import DeviceConfig, TcpPort, let_through
from firmware_bridge.session.flood import BURST, Flood
from firmware_bridge.session.problems import BridgeProblem, ConfigProblem, PortProblem
from firmware_bridge.session.schedule import Pair, Place, TakesTurns, TimePlan, Turns, groups
from firmware_bridge.wire import AnyObservation, DeviceId, DeviceLost, DeviceUp, Press, RawBytes, TimeSpan

__all__ = ["Bridge", "BridgeProblem", "ConfigProblem", "DeviceConfig", "DeviceHealth", "PortProblem", "State"]

BACK_OFF_S = 0.1
BACK_OFF_CAP_S = 2.0
STEADY_NS = 5_000_000_000
"""Up for so long, and the next loss starts with the shortest back-off again."""
MAX_DEVICES = 64

Sink = Callable[[AnyObservation], None]
Tap = Callable[[RawBytes, bool], None]
"""Hears every chunk on the wires; the second argument is True for what this host wrote."""
Clock = Callable[[], int]
Chance = Callable[[], float]


class _SinkRefused(Exception):
    """The sink raised; its exception is the cause."""


class _Device:
    """One device's task and what it knows."""

    def __init__(
        self, config: DeviceConfig, driven: Driven, sink: Sink, now_ns: Clock, chance: Chance, *, tap: Tap | None = None
    ) -> None:
        self.config = config
        self._tap = tap
        self.driven = driven
        self._sink = sink
        self._now_ns = now_ns
        self._chance = chance
        self._port: Port | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._timer_ns = 0
        self._flood: Flood | None = None
        self._ended: asyncio.Future[None] | None = None
        self._state: State = "opening"
        self._since_ns = now_ns()
        self._alive_ns = self._since_ns
        self._up_ns: int | None = None
        self._reported = ""
        self._port_notes: tuple[str, ...] = ()
        self.turns: Turns | None = None
        """The plan that it shares with `peers`."""
        self.peers: tuple[_Device, ...] = ()
        self._opened = self._write_dropped = self._undelivered = 0
        self._error = self._advice = ""

    def health(self) -> DeviceHealth:
        session = self.driven.session
        figures = session.figures()
        return DeviceHealth(
            self.config.id,
            self._state,
            self._since_ns,
            session.counters(),
            figures,
            self._opened,
            self._write_dropped + (self._port.dropped if self._port is not None else 0),
            self._undelivered,
            self._error,
            self._advice,
            (*self._port_notes, *(self._port.notes if isinstance(self._port, ListenLine) else ()), *figures.notes),
        )

    # -- life ------------------------------------------------------------------------------------

    async def live(self) -> None:
        """Opens the device for ever; ends only by cancellation (or a fault of this file: see `Bridge`)."""
        back_off_s = BACK_OFF_S
        try:
            while True:
                if await self._one_life() >= STEADY_NS:
                    back_off_s = BACK_OFF_S
                # Half to the whole of it, so that many devices do not return in step.
                await asyncio.sleep(back_off_s * (0.5 + 0.5 * self._chance()))
                back_off_s = min(2 * back_off_s, BACK_OFF_CAP_S)
        finally:
            self._shut()

    async def _one_life(self) -> int:
        """From opening to loss.  Returns how long the device was up, in ns."""
        self._ended = asyncio.get_running_loop().create_future()
        self._up_ns = None
        try:
            self._port = await self._open()
            self._opened += 1
            self._port_notes = port_notes(self.config.id, self.driven.port)
            self.driven.session.start(self._now_ns())
            self._carry_on()
            await self._ended
        except PortProblem as error:
            self._lost(error.reason, error.advice, subject="gone" if error.absent else "")
        except Exception as error:  # one device's fault must not end another
            self._fault(error)
        finally:
            self._shut()
        return 0 if self._up_ns is None else self._now_ns() - self._up_ns

    async def _open(self) -> Port:
        return await open_port(self.config.id, self.driven.port, self._on_data, self._on_gone)

    def _shut(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        port, self._port = self._port, None
        if port is not None:
            self._write_dropped += port.dropped
            port.close()
        if self.turns is not None:
            # Nobody waits for a reader that is gone.
            self.turns.leave(self.config.id, self._now_ns())
            self._nudge()

    def _end(self) -> None:
        if self._ended is not None and not self._ended.done():
            self._ended.set_result(None)

    # -- callbacks of the event loop -------------------------------------------------------------

    def _on_data(self, data: bytes) -> None:
        if self._port is None:
            return
        now_ns = self._now_ns()
        self._alive_ns = now_ns
        self._overhear(data, now_ns, from_host=False)
        try:
            self._deliver(self.driven.session.receive(data, now_ns))
            self._carry_on()
            self._check_flood(now_ns)
        except Exception as error:  # one device's fault must not end another
            self._fault(error)

    def _overhear(self, data: bytes, now_ns: int, *, from_host: bool) -> None:
        if self._tap is not None:
            with contextlib.suppress(Exception):  # a listener's trouble is no device's
                self._tap(RawBytes(DeviceId(self.config.id), data, now_ns), from_host)

    def _check_flood(self, now_ns: int) -> None:
        """Hangs up on a device that sends so much that means nothing that it would hold up the others."""
        counters = self.driven.session.counters()
        flood = self._flood
        if flood is None:
            self._flood = Flood(now_ns, counters.garbage, counters.foreign)
        elif flood.over(now_ns, counters.garbage, counters.foreign):
            self._flood = None
            self._lost(
                f"more than {BURST // 1024} kB came that mean nothing",
                f"'{self.config.id}': {self.config.port} sends bytes without end that are not its driver's. Check "
                "its driver and settings and that this port is the device's; tabled hung up and tries again by itself.",
            )
            self._end()

    def _on_timer(self) -> None:
        self._timer = None
        if self._port is None:
            return
        try:
            now_ns = self._now_ns()
            next_ns = self.driven.session.next_wake_ns
            if next_ns is not None and now_ns >= next_ns:
                self._deliver(self.driven.session.wake(now_ns))
            self._carry_on()
        except Exception as error:  # one device's fault must not end another
            self._fault(error)

    def _on_gone(self, reason: str) -> None:
        remote = isinstance(self.driven.port, TcpPort)
        mend = "Check the reader's power and its network cable" if remote else "Plug it in again"
        self._lost(
            reason,
            f"'{self.config.id}': {self.config.port} is gone. {mend}; tabled reopens it by itself.",
            subject="gone",
        )
        self._end()

    def _fault(self, error: Exception) -> None:
        if isinstance(error, _SinkRefused):
            reason = f"tabled could not take its observation: {error.__cause__!r}"
            advice = (
                f"'{self.config.id}' is closed and opened again by itself. See tabled's other messages: the disk of "
                "the journal may be full."
            )
        else:
            reason = f"fault in its driver: {error!r}"
            advice = (
                f"'{self.config.id}' was closed after a fault in tabled and is opened again by itself. "
                "Please report this line to the makers."
            )
        self._lost(reason, advice)
        self._end()

    def died(self, error: BaseException | None) -> None:
        """Its task ended, which only a fault of the bridge itself can do; it is started again."""
        self._fault(error if isinstance(error, Exception) else RuntimeError(f"its task ended: {error!r}"))
        self._shut()

    # -- carrying --------------------------------------------------------------------------------

    def _carry_on(self) -> None:
        """Writes what the session has to say and sets the timer; a later deadline leaves the timer as it is."""
        if self._port is None:
            return
        session = self.driven.session
        data = session.outgoing()
        if data:
            self._port.write(data)
            self._overhear(data, self._now_ns(), from_host=True)
        self._set_timer()
        self._nudge()

    def _set_timer(self) -> None:
        if self._port is None:
            return
        next_ns = self.driven.session.next_wake_ns
        if next_ns is None or (self._timer is not None and self._timer_ns <= next_ns):
            return
        if self._timer is not None:
            self._timer.cancel()
        self._timer_ns = next_ns
        delay_s = max(0, next_ns - self._now_ns()) / 1e9
        self._timer = asyncio.get_running_loop().call_later(delay_s, self._on_timer)

    def _nudge(self) -> None:
        """A reader of the same plan may have the turn now."""
        for peer in self.peers:
            peer._set_timer()

    def settle(self, observation: AnyObservation, *, taken: bool) -> None:
        """The sink's word on an observation, and what the device is to hear of it."""
        session = self.driven.session
        try:
            (session.acknowledge if taken else session.withdraw)(observation)
            self._carry_on()
        except Exception as error:  # one device's fault must not end another
            self._fault(error)

    def _deliver(self, found: list[AnyObservation]) -> None:
        for n, observation in enumerate(found):
            if isinstance(observation, DeviceLost):
                self._lost(observation.reason, observation.advice, span=observation.span)
                self._end()
                return
            if isinstance(observation, DeviceUp):
                self._enter("up")
                self._up_ns = self._since_ns
                self._reported = self._error = self._advice = ""
            try:
                self._hand_over(observation)
            except _SinkRefused:
                for refused in found[n:]:
                    self.driven.session.withdraw(refused)
                raise

    def _hand_over(self, observation: AnyObservation) -> None:
        try:
            self._sink(observation)
        except Exception as error:
            self._undelivered += 1
            raise _SinkRefused from error

    def _lost(self, reason: str, advice: str, *, subject: str = "", span: TimeSpan | None = None) -> None:
        """Books the loss, and tells it once for each ``subject`` (by default the advice) while it lasts."""
        now_ns = self._now_ns()
        self._error, self._advice = reason, advice
        subject = subject or advice
        told = self._state == "lost" and self._reported == subject
        if self._state != "lost":
            self._enter("lost")
        if told:
            return
        self._reported = subject
        observation = DeviceLost(
            DeviceId(self.config.id), span or TimeSpan(min(self._alive_ns, now_ns), now_ns), reason, advice
        )
        # A sink that refuses even this is the daemon's own trouble: counted, and the device lives on.
        with contextlib.suppress(_SinkRefused):
            self._hand_over(observation)

    def _enter(self, state: State) -> None:
        self._state = state
        self._since_ns = self._now_ns()


class Bridge:
    """All devices of a table.

    ``sink`` is called on the event loop's thread, in each device's order; it must be quick and must not raise
    (an observation it refuses is counted in ``undelivered`` and its device is closed and reopened).  That it returns
    does not mean that anything is on disk: a device hears that it may forget an event (a press, a data set of a
    reader's table) only when `acknowledge` was called for the observation.  What the sink took and then let go of
    is given back by `withdraw`.  Each observation of a panel or of a FEIG reader in mode "buffered" or "notify"
    must end in one of the two; for others both do nothing.
    ``now_ns`` is the host's monotonic clock.  ``chance`` draws from [0, 1) for the back-off.
    ``neighbours`` are pairs of antennas, each (device, antenna), that disturb each other: of two readers such a pair
    is never energised together, whatever else they do (see `session.schedule`).
    ``tap`` hears the bytes of all devices, on the event loop's thread; it must be quick.
    Raises `ConfigProblem` for a device that cannot be: unknown driver, wrong option, a name or port used twice, a
    neighbour that is no antenna of a reader here.
    """

    def __init__(
        self,
        devices: Sequence[DeviceConfig],
        sink: Sink,
        now_ns: Clock,
        *,
        chance: Chance | None = None,
        neighbours: Sequence[Pair] = (),
        tap: Tap | None = None,
    ) -> None:
        if len(devices) > MAX_DEVICES:
            raise ConfigProblem(
                devices[MAX_DEVICES].id, f"{len(devices)} devices configured.", f"A table has at most {MAX_DEVICES}."
            )
        draw = chance or SystemRandom().random
        self._devices: dict[str, _Device] = {}
        ports: dict[str, str] = {}
        for config in devices:
            if not config.id or config.id in self._devices:
                raise ConfigProblem(
                    config.id, f"two devices named '{config.id}'.", "Give every device a name of its own."
                )
            if config.port in ports:
                raise ConfigProblem(
                    config.id,
                    f"'{config.id}' and '{ports[config.port]}' have the same port {config.port}.",
                    "Name each device's own port.",
                )
            ports[config.port] = config.id
            self._devices[config.id] = _Device(config, drive(config), sink, now_ns, draw, tap=tap)
        self._plan(neighbours)
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._running = False

    def _plan(self, neighbours: Sequence[Pair]) -> None:
        """Readers that have neighbours among each other share a time plan."""
        for name, antenna in (place for pair in neighbours for place in pair):
            session = self._devices[name].driven.session if name in self._devices else None
            if not isinstance(session, TakesTurns) or antenna not in session.member.antennas:
                raise ConfigProblem(
                    name,
                    f"neighbours: there is no antenna {antenna} of a reader '{name}'.",
                    "Name antennas of configured readers.",
                )
        for group in groups(tuple(self._devices), neighbours):
            if len(group) < 2:
                continue
            devices = [self._devices[name] for name in group]
            readers = [d.driven.session for d in devices]
            try:
                members = [r.member_in(shared=True) for r in readers if isinstance(r, TakesTurns)]
            except ValueError as error:
                raise ConfigProblem(group[0], f"{error}.", "Mend the neighbours or the reader's options.") from error
            turns = Turns(TimePlan(members, neighbours))
            for device, reader in zip(devices, readers, strict=True):
                assert isinstance(reader, TakesTurns), "checked above: only readers have neighbours"
                reader.share(turns)
                device.turns = turns
                device.peers = tuple(d for d in devices if d is not device)

    def check(self) -> tuple[PortProblem, ...]:
        """Ports that cannot be opened as things stand, without opening any.  For a start-up's one clear line."""
        found = []
        for device in self._devices.values():
            problem = check_port(device.config.id, device.driven.port)
            if problem is not None:
                found.append(problem)
        return tuple(found)

    async def start(self) -> None:
        """Starts every device and returns at once; a device tells by `DeviceUp` or `DeviceLost` how it fares."""
        assert not self._running, "a bridge is started once"
        self._running = True
        for device in self._devices.values():
            self._begin(device)

    def _begin(self, device: _Device) -> None:
        if not self._running:
            return
        name = device.config.id
        task = asyncio.create_task(device.live(), name=f"device {name}")
        self._tasks[name] = task
        task.add_done_callback(lambda done: self._ended(device, done))

    def _ended(self, device: _Device, task: asyncio.Task[None]) -> None:
        """No device's task ends by itself; one that does is named, and started again."""
        if self._running:
            device.died(None if task.cancelled() else task.exception())
            asyncio.get_running_loop().call_later(BACK_OFF_S, self._begin, device)

    async def stop(self) -> None:
        """Closes every port.  Nothing reaches the sink afterwards."""
        self._running = False
        tasks, self._tasks = list(self._tasks.values()), {}
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def acknowledge(self, observation: AnyObservation) -> None:
        """It is on disk: its device may forget it.  Call it on the event loop's thread, after the commit."""
        device = self._devices.get(observation.device)
        if device is not None:
            device.settle(observation, taken=True)

    def withdraw(self, observation: AnyObservation) -> None:
        """It was taken and could not be kept: its device delivers it again.  On the event loop's thread."""
        device = self._devices.get(observation.device)
        if device is not None:
            device.settle(observation, taken=False)

    def remember(self, presses: Iterable[Press]) -> None:
        """Presses that the journal holds already (before `start`): resent ones are acknowledged, not told again."""
        for press in presses:
            device = self._devices.get(press.device)
            if device is not None:
                device.driven.session.remember(press)

    def refresh(self, wanted: Mapping[Place, int] | None = None) -> None:
        """Lets so many results of these antennas through though they repeat (`session.settle`), or the next of all."""
        for name, device in self._devices.items():
            these = None if wanted is None else {n: looks for (of, n), looks in wanted.items() if of == name}
            let_through(device.driven.session, these)

    def health(self) -> tuple[DeviceHealth, ...]:
        """How every device is, in the order of the configuration."""
        return tuple(device.health() for device in self._devices.values())

    def worst_sweep_ns(self, device: str) -> int | None:
        """The bound that a reader states for a pass over its antennas without faults; None for another device."""
        return self._devices[device].driven.session.figures().worst_sweep_ns

    def worst_arrival_ns(self, device: str, antenna: int) -> int | None:
        """Longest time from a chip's landing there to the observation that names it, without faults.

        None where nothing can be stated: no such device or antenna, no reader, a reader that goes round by itself.
        """
        reader = self._reader(device)
        return reader.worst_arrival_ns(antenna) if reader is not None else None

    def worst_removal_ns(self, device: str, antenna: int) -> int | None:
        """Longest time from a chip's lifting to the first complete observation without it; else as for arrivals."""
        reader = self._reader(device)
        return reader.worst_removal_ns(antenna) if reader is not None else None

    def arrivals_only(self) -> dict[str, str]:
        """Devices that never tell that a chip is gone, each with what to do: no use where a bet must be certain."""
        whys = ((name, device.driven.arrivals_only) for name, device in self._devices.items())
        return {name: why for name, why in whys if why}

    def favour(self, places: Iterable[Place]) -> None:
        """Antennas, each (device, antenna), where chips are expected now: looked at before each other one.

        Replaces what was favoured before.  Call it on the event loop's thread.  The stated bounds follow.
        """
        wanted = tuple(places)
        for name in self._devices:
            reader = self._reader(name)
            if reader is not None:
                reader.favour(wanted)

    def _reader(self, device: str) -> TakesTurns | None:
        session = self._devices[device].driven.session if device in self._devices else None
        return session if isinstance(session, TakesTurns) else None
