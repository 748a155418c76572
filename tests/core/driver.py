"""Drives the pure core by hand: one reader with an antenna a seat, one panel, a clock that only moves when told."""

from __future__ import annotations

from typing import TypeVar

from firmware_bridge.wire import BootId, CleanEmpty, Corrupt, DeviceId, DeviceUp, Present, Press, Tag, TimeSpan
from tabled.core.entries import (
    AnyInput,
    Bound,
    Ordered,
    Seen,
    Started,
    Stated,
    TableConfig,
    Ticked,
    decode,
    encode,
)
from tabled.core.state import TableState, area_key, view
from tabled.core.table import next_wake_ns, step
from tabled.fusion.settings import MS, FusionSettings, SensorModel
from tabled.model.camera import CameraTrust, ChipsLanded, HandMoved, HandOf, HandStep
from tabled.model.hand import HandSetup, SeatSetup
from tabled.model.layout import Antenna, Layout, Place
from tabled.model.outcome import AnyOperatorAct, AnyOutcome, RulingIssued, StartHand, TableView
from tabled.shell.profiles import load

READER = DeviceId("reader")
PANEL = DeviceId("panel")
CAMERA = DeviceId("camera")
SENSOR = SensorModel(prior_again=5, prior_found=5)
"""A reader whose misses are known to hang together no more than that."""
OutcomeT = TypeVar("OutcomeT")
SWEEP_MS = 100


def fold(state: TableState, position: int, entries: list[AnyInput]) -> tuple[TableState, list[tuple[int, AnyOutcome]]]:
    """What the entries behind a position, as the journal has them, make of a state; their outcomes with positions."""
    made: list[tuple[int, AnyOutcome]] = []
    for entry in entries:
        position += 1
        state, outcomes = step(state, position, decode(encode(entry)))
        for outcome in outcomes:
            position += 1
            made.append((position, outcome))
    return state, made


class Bench:
    """A table of ``stacks`` with the given profile; chips are drawn from an endless tray."""

    def __init__(
        self,
        stacks: tuple[int, ...] = (5000, 5000, 5000),
        profile: str = "swedish",
        *,
        camera: bool = False,
        fusion: FusionSettings | None = None,
    ) -> None:
        self.seats = tuple(str(n + 1) for n in range(len(stacks)))
        self.stacks = stacks
        self.now_ms = 1_000
        self.position = 0
        self.state = TableState()
        self.outcomes: list[tuple[int, AnyOutcome]] = []
        self.entries: list[AnyInput] = []
        self.lines: dict[str, list[str]] = {seat: [] for seat in self.seats}
        self.values: dict[str, int] = {}
        for value in (1, 5, 25, 100, 500, 1000, 5000):
            for n in range(60):
                self.values[f"E004{value:08d}{n:04d}"] = value
        self.free = sorted(self.values)
        self.presses = 0
        config = TableConfig(
            site="test",
            table="t1",
            layout=Layout(
                self.seats,
                tuple(Antenna(READER, n + 1, Place("bet", seat)) for n, seat in enumerate(self.seats)),
            ),
            chips=self.values,
            profile=load(profile),
            # A room that trusts its players: its tests are about other things than pauses.
            fusion=fusion or FusionSettings(one_motion_ms=500, two_motions_ms=1200, sensor=SENSOR),
            camera=CAMERA if camera else "",
        )
        self.restart(config)
        self.state_bounds()
        if camera:
            self.sees()
        self.sweep()

    def restart(self, config: TableConfig | None = None, *, clock: str = "c") -> None:
        """The daemon starts, with another configuration if one is given; its reader has stated nothing yet."""
        self.config = config or self.config
        self.feed(Started(at_ns=self.ns, epoch="e", clock=clock, version="0", config=self.config))

    def sees(self) -> None:
        """The camera comes up and is trusted."""
        now = TimeSpan(self.ns, self.ns)
        self.feed(Seen(at_ns=self.ns, observation=DeviceUp(CAMERA, now, "simulated", "1", BootId(1))))
        self.feed(Seen(at_ns=self.ns, observation=CameraTrust(CAMERA, now, True)))

    def state_bounds(
        self, ms: int | None = 2 * SWEEP_MS, *, unstated: tuple[str, ...] = (), overran: dict[str, int] | None = None
    ) -> None:
        """The reader states that its looks are in time within ``ms``; None: it states nothing."""
        keys = [area_key(READER, n + 1) for n in range(len(self.seats))] if ms is not None else []
        bounds = {key: Bound((ms or 0) * MS, (ms or 0) * MS) for key in keys}
        self.feed(Stated(at_ns=self.ns, bounds=bounds, unstated=unstated, overran=overran or {}))

    @property
    def ns(self) -> int:
        """Present time in nanoseconds."""
        return self.now_ms * MS

    def feed(self, entry: AnyInput) -> None:
        """Fold one entry, keeping its outcomes with their positions."""
        self.position += 1
        self.entries.append(entry)
        self.state, made = step(self.state, self.position, entry)
        for outcome in made:
            self.position += 1
            self.outcomes.append((self.position, outcome))

    def sweep(self, *, skip: tuple[str, ...] = ()) -> None:
        """One inventory of every antenna; takes `SWEEP_MS`.  Antennas of seats in ``skip`` answer corruptly."""
        each = SWEEP_MS // len(self.seats)
        for n, seat in enumerate(self.seats):
            span = TimeSpan(self.ns, self.ns + each * MS)
            self.now_ms += each
            if seat in skip:
                seen: Present | CleanEmpty | Corrupt = Corrupt(READER, span, n + 1, "status 83")
            elif self.lines[seat]:
                seen = Present(READER, span, n + 1, tuple(Tag(u) for u in sorted(self.lines[seat])))
            else:
                seen = CleanEmpty(READER, span, n + 1)
            self.feed(Seen(at_ns=self.ns, observation=seen))

    def wait(self, ms: int, *, skip: tuple[str, ...] = ()) -> None:
        """Let time pass, with the reader sweeping and timers firing."""
        until = self.now_ms + ms
        while self.now_ms < until:
            wake = next_wake_ns(self.state)
            if wake is not None and wake <= self.ns:
                self.feed(Ticked(at_ns=self.ns))
            self.sweep(skip=skip)

    def put(self, seat: str, *chips: int) -> list[str]:
        """Chips land on a seat's line in one instant; the next sweep will see them."""
        taken = []
        for value in chips:
            uid = next(u for u in self.free if self.values[u] == value)
            self.free.remove(uid)
            taken.append(uid)
        self.lines[seat] += taken
        return taken

    def lift(self, seat: str, uids: list[str] | None = None) -> None:
        """Chips leave a seat's line (all of them by default)."""
        gone = self.lines[seat] if uids is None else uids
        self.lines[seat] = [u for u in self.lines[seat] if u not in gone]

    def press(self, key: str, amount: int = 0, *, seat: int = 0, said_first: bool = False) -> None:
        """The dealer presses a key, a moment after the last one."""
        self.now_ms += 260
        self.presses += 1
        span = TimeSpan(self.ns, self.ns)
        press = Press(PANEL, span, BootId(7), self.presses, key, seat, amount, said_first)
        self.feed(Seen(at_ns=self.ns, observation=press))

    def hand(self, seat: str, step: HandStep, *, retreat_mm: int = 0, pause_ms: int = 0, by: HandOf = "player") -> None:
        """The camera reports a step of a hand that happened just now, give or take 17 ms."""
        span = TimeSpan(self.ns - 17 * MS, self.ns + 17 * MS)
        moved = HandMoved(CAMERA, span, seat, step, by, retreat_mm, pause_ms)
        self.feed(Seen(at_ns=self.ns, observation=moved))

    def trip(self, seat: str, *chips: int, retreat_mm: int = 0, pause_ms: int = 0, by: HandOf = "player") -> list[str]:
        """A hand comes over the line, lets chips go and leaves; takes about 600 ms."""
        self.hand(seat, "enters", retreat_mm=retreat_mm, pause_ms=pause_ms, by=by)
        self.wait(200)
        there = self.put(seat, *chips)
        self.wait(300)
        self.hand(seat, "leaves", by=by)
        return there

    def trust(self, trusted: bool, reason: str = "ok", *, seat: str = "") -> None:
        """The camera says whether it may be believed."""
        span = TimeSpan(self.ns, self.ns)
        self.feed(Seen(at_ns=self.ns, observation=CameraTrust(CAMERA, span, trusted, reason, seat)))

    def landed(self, seat: str, *, area_mm2: int = 1200) -> None:
        """The camera reports a chip that landed within the last 200 ms."""
        span = TimeSpan(self.ns - 200 * MS, self.ns)
        self.feed(Seen(at_ns=self.ns, observation=ChipsLanded(CAMERA, span, seat, 0, 0, area_mm2)))

    def order(self, act: AnyOperatorAct) -> None:
        """An operator's command arrives."""
        self.feed(Ordered(at_ns=self.ns, act=act))

    def start(self, hand_id: str = "h1", *, small: int = 50, big: int = 100, ante: int = 0) -> None:
        """Start a hand with blinds in the first two seats; nothing is posted yet."""
        seats = tuple(
            SeatSetup(seat, stack, ante=ante, blind={"1": small, "2": big}.get(seat, 0))
            for seat, stack in zip(self.seats, self.stacks, strict=True)
        )
        setup = HandSetup(hand_id=hand_id, seats=seats, blinds=(small, big), button=self.seats[-1])
        self.order(StartHand(request=f"start-{hand_id}", who="floor", setup=setup))

    def deal(self, hand_id: str = "h1") -> None:
        """Start a hand with 50/100 blinds posted and seen; the seat after the big blind is to act."""
        self.start(hand_id)
        self.put("1", 25, 25)
        self.put("2", 100)
        self.wait(400)
        assert self.state.phase == "betting"

    def of(self, kind: type[OutcomeT]) -> list[OutcomeT]:
        """All outcomes of one kind, oldest first."""
        return [o for _, o in self.outcomes if isinstance(o, kind)]

    def final(self, seat: str) -> RulingIssued:
        """The newest final ruling on a seat."""
        return next(r for r in reversed(self.of(RulingIssued)) if r.status == "final" and r.ruling.seat == seat)

    @property
    def view(self) -> TableView:
        """What a display would show now."""
        return view(self.state)
