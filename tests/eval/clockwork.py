"""A table in virtual time: the world, its sensors' twins and the pure core, driven event by event."""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Callable, Mapping, Sequence
from random import Random
from typing import Any

from firmware_bridge.wire import BootId, CleanEmpty, Corrupt, Observation, Present, Press, TimeSpan
from hw_sim.acts import MS, SECOND, Hands, Movement, Timeline
from hw_sim.camera import Camera
from hw_sim.noise import HASTY_MS, Disturbance
from hw_sim.script import Script, Sleep, Until
from hw_sim.sweeps import Sweeper
from hw_sim.world import Chip, Spot, World, make_chips
from tabled.core.entries import AnyInput, Bound, Ordered, Seen, Started, Stated, TableConfig, Ticked
from tabled.core.state import TableState, area_key
from tabled.core.table import next_wake_ns, step
from tabled.fusion.settings import FusionSettings
from tabled.model.layout import Antenna, Layout, Place
from tabled.model.outcome import AnyOperatorAct, AnyOutcome
from tabled.rules.profile import Profile
from tests.eval import convert
from tests.eval.bridge import Bridge, Look

FLOAT = {25: 260, 100: 260, 500: 160, 1000: 120, 5000: 40}
"""All chips of a table."""
MAX_EVENTS = 2_000_000
START_NS = 10 * SECOND
STATED_MS_EACH = 90.0
"""What the reader states of a look: switching, and ten chips."""
TRUST_CHECK_S = (1.0, 6.0)

Listener = Callable[[int, AnyOutcome], None]


class Clockwork:
    """Moves virtual time from event to event; whoever waits gives a condition and a limit."""

    def __init__(
        self,
        name: str,
        *,
        seats: int,
        profile: Profile,
        noise: Disturbance,
        listen: Listener,
        trace: Callable[[str], None] | None = None,
        chips: Mapping[int, int] = FLOAT,
    ) -> None:
        self.noise, self.profile, self._listen, self._trace = noise, profile, listen, trace
        self.now = START_NS
        self.rng = Random(f"{name}:people")
        self._carriage = Random(f"{name}:carriage")
        self._events: list[tuple[int, int, Callable[[], None]]] = []
        self._count = self.fed = self.news = 0
        self.seats = tuple(str(n) for n in range(1, seats + 1))
        self.world = World(make_chips(chips, Random(f"{name}:chips")))
        self.world.watch(self._moved)
        self._lying: dict[int, list[str]] = {n: [] for n in range(1, seats + 1)}
        self.camera = Camera(noise, Random(f"{name}:camera"))
        self.reader = Sweeper(self._field, seats, noise, Random(f"{name}:reader"), self._hover)
        self.reads: dict[int, tuple[int, int]] = {}
        """By antenna: how many looks, and when the first and last of them ended."""
        self.hands = Hands(self.world, self.rng, self.press, self.hand_moved)
        self.hasty = self.rng.random() < noise.hasty
        self._presses = 0
        self.on_landing: Callable[[int, int, Chip], None] | None = None
        self.on_fed: Callable[[], None] | None = None
        self.state = TableState()
        self.position = 0
        self._wake: int | None = None
        self._camera_due: int | None = None
        self._sees_cameras = convert.core_sees_cameras()
        self._shown: dict[int, str] = {}
        self._start(name)

    def _start(self, name: str) -> None:
        places = [Place("bet", seat) for seat in self.seats]
        layout = Layout(
            self.seats,
            tuple(Antenna(convert.READER, n, place) for n, place in enumerate(places, start=1)),
            tuple(itertools.pairwise(places)),
        )
        chips = self._worth = {c.uid: c.denomination for c in self.world.chips}
        config = TableConfig(
            site="eval", table=name, layout=layout, chips=chips, profile=self.profile, fusion=FusionSettings(),
            camera=convert.CAMERA if self.noise.camera else "",
        )  # fmt: skip
        self.bridge = Bridge(layout, thinned=self.noise.thinned, favour=self._favour)
        self.feed(Started(at_ns=self.now, epoch=name, clock="virtual", version="0", config=config))
        devices = [convert.READER, convert.PANEL]
        if self.noise.camera and self._sees_cameras:
            devices.append(convert.CAMERA)
        for device in devices:
            self.see(convert.up(device, self.now))
        within = round(2 * len(self.seats) * STATED_MS_EACH * MS)
        bounds = {area_key(a.device, a.antenna): Bound(within, within) for a in layout.antennas}
        self.feed(Stated(at_ns=self.now, bounds=bounds))
        self.camera.trust(self.now, True)
        self._fetch_camera()
        self._ask()
        if self.noise.untrusted:
            self.after(self.rng.uniform(*TRUST_CHECK_S), self._lose_trust)

    # -- time -------------------------------------------------------------------------------------

    def at(self, ns: int, call: Callable[[], None]) -> None:
        """Let something happen at an instant (now, if that is past)."""
        self._count += 1
        heapq.heappush(self._events, (max(ns, self.now), self._count, call))

    def after(self, seconds: float, call: Callable[[], None]) -> None:
        """Let something happen later."""
        self.at(self.now + round(seconds * SECOND), call)

    def run(self, until: Callable[[], bool], limit_s: float) -> bool:
        """Go on until the condition holds, at most so long; False if it never did."""
        end = self.now + round(limit_s * SECOND)
        for _ in range(MAX_EVENTS):
            if until():
                return True
            if not self._events or self._events[0][0] > end:
                self.now = end
                return until()
            self.now, _, call = heapq.heappop(self._events)
            call()
        raise AssertionError("virtual time does not move on")

    def wait(self, seconds: float) -> None:
        """Let time pass."""
        self.run(lambda: False, seconds)

    def follow(self, script: Script) -> None:
        """Let people act by their script until it ends; what they wait to hear is looked at when there is news."""
        try:
            wait = next(script)
            while True:
                if isinstance(wait, Sleep):
                    self.wait(wait.ns / SECOND)
                    wait = script.send(True)
                else:
                    wait = script.send(self.run(self._heard(wait), wait.ns / SECOND))
        except StopIteration:
            return

    def _heard(self, wait: Until) -> Callable[[], bool]:
        looked = -1

        def ready() -> bool:
            nonlocal looked
            if looked == self.news:
                return False
            looked = self.news
            return wait.ready()

        return ready

    # -- the product ------------------------------------------------------------------------------

    def feed(self, entry: AnyInput) -> None:
        """Fold one entry; listeners hear what it makes."""
        self.position += 1
        self.fed += 1
        self.state, made = step(self.state, self.position, entry)
        if self._trace is not None:
            self._say_entry(entry)
        for outcome in made:
            self.position += 1
            self.news += 1
            if self._trace is not None:
                self._trace(f"{self.now / SECOND:9.3f}     => #{self.position} {outcome}")
            self._listen(self.position, outcome)
        self.bridge.follow(self.state, self.now)
        if self.on_fed is not None:
            self.on_fed()
        wake = next_wake_ns(self.state)
        if wake is not None and wake != self._wake:
            self._wake = wake
            self.at(wake + self._carriage.randint(0, 3 * MS), self._tick)

    def _tick(self) -> None:
        if self._wake is not None and self._wake <= self.now:
            self._wake = None
            self.feed(Ticked(at_ns=self.now))

    def see(self, observation: Observation) -> None:
        """A device reports something."""
        seen: Any = observation  # of the core's own union, whose members differ by what it takes
        self.feed(Seen(at_ns=self.now, observation=seen))

    def order(self, act: AnyOperatorAct) -> None:
        """The floor orders something."""
        self.feed(Ordered(at_ns=self.now, act=act))

    def _say_entry(self, entry: AnyInput) -> None:
        """Trace an entry; a look that shows what the last one did is left out."""
        assert self._trace is not None
        at = f"{self.now / SECOND:9.3f} #{self.position}"
        seen = entry.observation if isinstance(entry, Seen) else None
        if isinstance(seen, Present | CleanEmpty | Corrupt):
            tags = [t.uid for t in seen.tags] if isinstance(seen, Present) else []
            said = seen.reason if isinstance(seen, Corrupt) else ",".join(map(self._name, tags)) or "empty"
            said += "" if not isinstance(seen, Present) or seen.complete else " (incomplete)"
            if said != self._shown.get(seen.antenna, "empty"):
                began, ended = seen.span.earliest_ns / SECOND, seen.span.latest_ns / SECOND
                self._trace(f"{at} antenna {seen.antenna}, {began:.3f} to {ended:.3f}: {said}")
            self._shown[seen.antenna] = said
        elif seen is not None:
            self._trace(f"{at} {seen}")
        elif not isinstance(entry, Started):
            self._trace(f"{at} {entry}")

    def _name(self, uid: str) -> str:
        return f"{self._worth.get(uid, 'ghost')}/{uid[-3:]}"

    # -- sensors ----------------------------------------------------------------------------------

    def _field(self, place: int) -> list[str]:
        return self._lying.get(place, [])

    def _hover(self, place: int) -> list[str]:
        return [c.uid for c in self.world.at(Spot("hover", str(place)))]

    def _moved(self, chips: tuple[Chip, ...], source: Spot, target: Spot) -> None:
        for spot in (source, target):
            if spot.kind == "bet":
                self._lying[int(spot.who)] = [c.uid for c in self.world.at(spot)]
        if source.kind == "bet":
            self.reader.radio.lifted([c.uid for c in chips])
        if target.kind in ("bet", "felt") and source.kind == "air":
            for chip in chips:
                if self.on_landing is not None:
                    self.on_landing(self.now, int(source.who), chip)
        if target.kind == "bet":
            for chip in chips:
                self.camera.landed(self.now, int(target.who), chip)
            self._fetch_camera()
        if self._trace is not None:
            said = ",".join(self._name(c.uid) for c in chips[:12])
            self._trace(f"{self.now / SECOND:9.3f}  truth: {source} -> {target}: {said}")

    def hand_moved(self, movement: Movement) -> None:
        """A hand crossed a line."""
        self.camera.moved(movement)
        if self._trace is not None:
            self._trace(f"{self.now / SECOND:9.3f}  truth: {movement}")
        self._fetch_camera()

    def _fetch_camera(self) -> None:
        due = self.camera.next_ns()
        if due is not None and (self._camera_due is None or due < self._camera_due):
            self._camera_due = due
            self.at(due, self._camera_says)

    def _camera_says(self) -> None:
        self._camera_due = None
        for record in self.camera.due(self.now):
            if self._sees_cameras:
                self.see(convert.camera(record))
        self._fetch_camera()

    def _lose_trust(self) -> None:
        lost = self.camera.trusted and self.rng.random() < self.noise.untrusted
        if lost:
            self.camera.trust(self.now, False, "lights")
        elif not self.camera.trusted:
            self.camera.trust(self.now, True)
        self._fetch_camera()
        self.after(self.rng.uniform(*TRUST_CHECK_S), self._lose_trust)

    def _ask(self) -> None:
        self.at(self.reader.ask(self.now), self._answer)

    def _answer(self) -> None:
        answer = self.reader.answer()
        self.at(answer.arrives_ns, lambda: self._looked(convert.read(answer)))
        self.at(answer.to_ns, self._ask)
        n, first = self.reads.get(answer.antenna, (0, answer.to_ns))[:2]
        self.reads[answer.antenna] = (n + 1, first)

    def _looked(self, look: Look) -> None:
        for passed in self.bridge.looks(look):
            self.see(passed)

    def _favour(self, spots: Sequence[tuple[str, int]]) -> None:
        self.reader.favoured = spots[0][1] if spots else 0

    # -- people -----------------------------------------------------------------------------------

    def reaction(self) -> float:
        """Seconds from a word to the dealer's key."""
        return self.rng.uniform(*(HASTY_MS if self.hasty else self.noise.reaction_ms)) / 1000

    def press(self, key: str, *, seat: int = 0, amount: int = 0, said_first: bool = False) -> None:
        """The dealer presses a key; the panel's clock is known to a millisecond or two."""
        self._presses += 1
        off = self._carriage.randint(-MS, MS)
        span = TimeSpan(self.now + off - MS, self.now + off + MS)
        press = Press(convert.PANEL, span, BootId(7), self._presses, key, seat, amount, said_first)
        self.at(self.now + self._carriage.randint(3 * MS, 15 * MS), lambda: self.see(press))

    def _step(self, what: Callable[[int], None]) -> Callable[[], None]:
        return lambda: what(self.now)

    def perform(self, timeline: Timeline, later_s: float = 0.0) -> int:
        """Let an act happen; returns when it is over."""
        steps = timeline.steps(later_s)
        timeline.act.began_ns = self.now + round(later_s * SECOND)
        for at, _, what in steps:
            self.at(self.now + round(at * SECOND), self._step(what))
        timeline.act.ended_ns = self.now + round(steps[-1][0] * SECOND) if steps else self.now
        return timeline.act.ended_ns
