"""A day at a bad table in minutes: every simulated press and chip accounted for exactly once.

``python -m tests.bridge.soak --minutes 10 --seed 1``

Six simulated readers and a panel on pseudo-terminals, the real bridge on the other end, and a seeded run of faults:
chunks dropped, doubled, damaged, split and stalled in both directions; cables pulled and put back under other names;
readers and panel restarted; a journal that is slow and now and then refuses.  Inventories fail, come in parts or
with a warning and half of the chips, a multiplexer refuses, the panel's tick wraps; two readers lie beside each
other, and one whose field is on makes the other miss chips in silence.  Chips are put down and taken up, keys
are pressed.  Now and then the daemon dies with a press in hand that is in no journal yet, and another takes its place
with the journal's memory alone.  What is asserted:

* a chip is never told where it did not lie at any moment of the span, and never missed by a complete look where it
  lay during the whole span;
* a consumer that folds the observations sees each putting down and each taking up once, in turn;
* each press is in the journal once, with a span that holds its moment, and is acknowledged;
* a pulled cable is a `DeviceLost` within a second, and every device is up at the end.

Two faults are left out because no host can tell them.  metraTec's lines have no checksum: a flipped bit can make
another UID, so that line is not damaged.  "More" of an inventory and one of only new tags are not repeatable: when
such a request is doubled on its way and the first of the two answers is lost, a chip is skipped; so nothing is
doubled towards readers that are asked so (no cable does that; answers are doubled all the same).
"""

from __future__ import annotations

import argparse
import asyncio
import collections
import random
import tempfile
import time
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from firmware_bridge.session.contract import DeviceConfig
from firmware_bridge.supervisor import Bridge
from firmware_bridge.wire import AnyObservation, CleanEmpty, Corrupt, DeviceLost, DeviceUp, Present, Press
from hw_sim.devices.faults import NO_FAULTS, FaultPlan
from hw_sim.devices.feig import FeigReader
from hw_sim.devices.metratec import MetratecReader
from hw_sim.devices.panel import Panel
from hw_sim.devices.pepper import PepperReader
from hw_sim.devices.physics import Air, Noise, Timing
from hw_sim.devices.quirks import Quirks
from hw_sim.pty_port import PtyPort, now_ns

S = 1_000_000_000
STEP_NS = 10_000_000
FAULTS = FaultPlan(drop=0.01, duplicate=0.01, corrupt=0.01, split=0.05, stall=0.001)
SEEN_WITHIN_S = 30.0
"""A chip that is not told for so long is lost; a cable may be out for 2 s, and a second one pulled meanwhile."""
KEYS = ("fold", "check", "call", "bet", "raise_to", "floor", "key_a")
NOISE = Noise(rf_error=0.02, rf_warning=0.02)
PARTS = {"max_records": 2, "noise": NOISE}
READERS: dict[str, tuple[type[Any], tuple[int, ...], dict[str, Any], dict[str, Any]]] = {
    "feig": (FeigReader, (1, 2, 3, 9, 10), {}, {"noise": NOISE, "quirks": Quirks(stubborn_mux=True)}),
    "feig-ont": (FeigReader, (1,), {"lanes": "ont", "presence_ms": 400}, PARTS),
    "pepper": (PepperReader, (1, 2, 3), {}, {}),
    "metratec": (MetratecReader, (1, 2, 3), {}, {}),
    "feig-beside": (FeigReader, (1, 2), {}, {"places": {1: 101, 2: 103}, **PARTS}),
    "metratec-beside": (MetratecReader, (1, 2), {}, {"places": {1: 102, 2: 104}}),
}
"""Make, antennas, options of the driver, and what the simulated reader is like."""
NEIGHBOURS = [(("feig-beside", a), ("metratec-beside", b)) for a, b in ((1, 1), (2, 1), (2, 2))]
"""Places whose numbers differ by one."""
REPEATS_BADLY = frozenset(("pepper", "feig-ont", "feig-beside"))
"""Nothing is doubled towards these: they are asked for parts."""


class Chip:
    """One chip: where it may lie, since when it does, and what the consumer thinks."""

    def __init__(self, uid: str, device: str, antenna: int) -> None:
        self.uid, self.device, self.antenna = uid, device, antenna
        self.spans: list[list[int]] = []
        """[put, taken] in ns; the last one open (a huge end) while it lies there."""
        self.told: list[str] = []
        self.changed_ns = 0
        self.next_ns = 0

    @property
    def lies(self) -> bool:
        return bool(self.spans) and self.spans[-1][1] > 1 << 61

    def toggle(self, now: int) -> None:
        if self.lies:
            self.spans[-1][1] = now
        else:
            self.spans.append([now, 1 << 62])
        self.changed_ns = now

    @property
    def settled(self) -> bool:
        """The consumer knows what was done last."""
        return len(self.told) == 2 * len(self.spans) - self.lies

    def lay_throughout(self, first: int, last: int) -> bool:
        return any(put <= first and last <= taken for put, taken in self.spans)

    def lay_sometime(self, first: int, last: int) -> bool:
        return any(put <= last and first <= taken for put, taken in self.spans)


class Soak:
    """The table, the bridge, the mishaps and the books."""

    def __init__(self, folder: Path, seed: int, only: frozenset[str] = frozenset()) -> None:
        self.chance = random.Random(seed)
        self.seed = seed
        self.chips: dict[tuple[str, int], list[Chip]] = {}
        self.ports: dict[str, PtyPort] = {}
        self.readers: dict[str, Any] = {}
        self.counts: collections.Counter[str] = collections.Counter()
        self.wrong: list[str] = []
        self.pressed: dict[tuple[int, int], int] = {}
        self.told_presses: collections.Counter[tuple[int, int]] = collections.Counter()
        self.up: dict[str, bool] = {}
        self.pulled_ns: dict[str, int] = {}
        self.worst_lost_ms = 0.0
        self.stolen_ns = 0
        """Time in which the machine did not let this program run, as far as it was noticed."""
        self.delays_ms: dict[str, list[float]] = {"arrival": [], "removal": [], "press": []}
        self.committed: dict[tuple[int, int], Press] = {}
        self.in_hand: set[tuple[int, int]] = set()
        """Presses that the daemon's life has taken and not committed."""
        self.doomed = False
        """The daemon dies with the next press in hand."""
        self.dying = asyncio.Event()
        self.air = Air()
        self.configs = configs = [
            self._reader(name, folder, n) for n, name in enumerate(READERS) if not only or name in only
        ]
        self.panel = Panel(seed=seed, drift_ppm=90.0, start_ns=now_ns(), wraps_soon=True)
        self._port("panel", self.panel, folder, 9)
        configs.append(DeviceConfig("panel", "panel", str(folder / "panel")))
        self.bridge = self._new_bridge()

    def _new_bridge(self) -> Bridge:
        chance = random.Random(self.seed).random
        there = {config.id for config in self.configs}
        pairs = [pair for pair in NEIGHBOURS if all(place[0] in there for place in pair)]
        bridge = Bridge(self.configs, self._sink, time.monotonic_ns, chance=chance, neighbours=pairs)
        bridge.remember(self.committed.values())
        return bridge

    def _reader(self, name: str, folder: Path, number: int) -> DeviceConfig:
        make, antennas, options, nature = READERS[name]
        places = nature.get("places", {})
        antenna_at = {place: antenna for antenna, place in (places or {a: a for a in antennas}).items()}
        for antenna in antennas:
            self.chips[(name, antenna)] = [
                Chip(f"E0040150{number:02X}{antenna:02X}{n:04X}", name, antenna) for n in range(4)
            ]
        count = max(antennas)
        reader = make(
            lambda place: [c.uid for c in self.chips.get((name, antenna_at.get(place, 0)), ()) if c.lies],
            antennas=count,
            seed=self.seed + number,
            timing=Timing(restart_ms=700.0),
            air=self.air if places else None,
            **nature,
        )
        self.readers[name] = reader
        self._port(name, reader, folder, number)
        kind = name.partition("-")[0]
        return DeviceConfig(name, kind, str(folder / name), options={"antennas": list(antennas), **options})

    def _port(self, name: str, device: Any, folder: Path, number: int) -> None:
        faults = replace(FAULTS, corrupt=0.0) if name.startswith("metratec") else FAULTS
        self.ports[name] = port = PtyPort(device, faults=faults, seed=self.seed * 16 + number, link=folder / name)
        if name in REPEATS_BADLY:
            port._to_device.plan = replace(FAULTS, duplicate=0.0)
        self.up[name] = False

    # -- the consumer ----------------------------------------------------------------------------

    def _sink(self, observation: AnyObservation) -> None:
        if isinstance(observation, Press):
            self._on_press(observation)
        elif isinstance(observation, Present | CleanEmpty):
            self._on_look(observation)
        elif isinstance(observation, DeviceUp):
            self.up[observation.device] = True
        elif isinstance(observation, DeviceLost):
            self.up[observation.device] = False
            pulled = self.pulled_ns.pop(observation.device, None)
            if pulled is not None:
                took_ns = time.monotonic_ns() - self.stolen_ns - pulled
                self.worst_lost_ms = max(self.worst_lost_ms, took_ns / 1e6)
        elif isinstance(observation, Corrupt):
            self.counts["corrupt"] += 1
        self.counts[type(observation).__name__] += 1

    def _on_press(self, press: Press) -> None:
        if self.chance.random() < 0.02:
            self.counts["refused by the journal"] += 1
            raise OSError(28, "No space left on device")
        name = (press.boot, press.seq)
        if name in self.in_hand or name in self.committed:
            self.wrong.append(f"press {name} was told again to one that has it")
        self.in_hand.add(name)
        at = self.pressed.get(name)
        if at is None:
            self.wrong.append(f"press {name} was never made")
        elif not press.span.earliest_ns - 20_000 <= at <= press.span.latest_ns + 200_000:
            self.wrong.append(f"press {name} at {at} is not in {press.span}")
        else:
            self.delays_ms["press"].append((time.monotonic_ns() - at) / 1e6)
        if self.doomed:
            self.doomed = False
            self.dying.set()
            return
        delay = self.chance.choice((0.002, 0.005, 0.3))
        asyncio.get_running_loop().call_later(delay, self._commit, press, self.bridge)

    def _commit(self, press: Press, life: Bridge) -> None:
        """The journal has it; its acknowledgement goes out a moment later, unless the daemon dies in between."""
        if life is not self.bridge or self.dying.is_set():
            return
        name = (press.boot, press.seq)
        self.told_presses[name] += 1
        self.committed[name] = press
        self.in_hand.discard(name)
        asyncio.get_running_loop().call_later(self.chance.choice((0.0, 0.002, 0.05)), self._acknowledge, press, life)

    def _acknowledge(self, press: Press, life: Bridge) -> None:
        if life is self.bridge and not self.dying.is_set():
            life.acknowledge(press)

    async def _daemons(self) -> None:
        """One daemon after the other: what a dead one had in hand is lost with it."""
        while True:
            await self.dying.wait()
            self._check_clock()
            await self.bridge.stop()
            self.counts["daemon died"] += 1
            self.counts["presses that died with it"] += len(self.in_hand)
            self.in_hand.clear()
            self.pulled_ns.clear()
            self.up = dict.fromkeys(self.up, False)
            self.bridge = self._new_bridge()
            self.dying.clear()
            await self.bridge.start()

    def _on_look(self, look: Present | CleanEmpty) -> None:
        first, last = look.span.earliest_ns, look.span.latest_ns
        named = {t.uid for t in look.tags} if isinstance(look, Present) else set()
        quiet = set(look.quiet) if isinstance(look, Present) else set()
        whole = isinstance(look, CleanEmpty) or look.complete
        for chip in self.chips[(look.device, look.antenna)]:
            if chip.uid in named:
                named.discard(chip.uid)
                if not chip.lay_sometime(first, last):
                    self.wrong.append(f"{chip.uid} told at {look.device}#{look.antenna} where it did not lie: {look}")
                self._told(chip, "came", 0)
            elif whole or (quiet and chip.uid not in quiet):
                if chip.lay_throughout(first, last):
                    self.wrong.append(f"{chip.uid} lay at {look.device}#{look.antenna} and was missed: {look}")
                if whole:
                    self._told(chip, "left", 1)
        if named:
            self.wrong.append(f"unknown {named} at {look.device}#{look.antenna}")

    def _told(self, chip: Chip, what: str, parity: int) -> None:
        if len(chip.told) % 2 != parity:
            return
        chip.told.append(what)
        kind = "arrival" if what == "came" else "removal"
        self.delays_ms[kind].append((time.monotonic_ns() - chip.changed_ns) / 1e6)

    # -- what happens at the table ---------------------------------------------------------------

    def _move_chips(self, now: int) -> None:
        for stack in self.chips.values():
            for chip in stack:
                if chip.settled and now >= chip.next_ns:
                    chip.toggle(now)
                    self.counts["put down" if chip.lies else "taken up"] += 1
                    chip.next_ns = now + int(S * self.chance.uniform(0.2, 4.0))
                elif not chip.settled and now - chip.changed_ns > SEEN_WITHIN_S * S:
                    raise AssertionError(
                        f"{chip.uid} at {chip.device}#{chip.antenna}: {chip.spans[-1]}, {chip.told[-2:]}"
                    )
        # A chip lifted from an antenna has no power: it forgets that it should be quiet.
        for name, reader in self.readers.items():
            gone = [c.uid for a in READERS[name][1] for c in self.chips[(name, a)] if not c.lies]
            reader.radio.lifted(gone)

    def _press(self, now: int) -> None:
        seq = self.panel.press(now, self.chance.choice(KEYS), amount=100)
        if seq:
            self.pressed[(self.panel.boot_id, seq)] = now
            self.ports["panel"].kick()
        else:
            self.counts["panel queue full"] += 1

    async def _mishap(self) -> None:
        if self.chance.random() < 0.2:
            self.doomed = True
            return
        name = self.chance.choice(list(self.ports))
        port = self.ports[name]
        kind = self.chance.random()
        if kind < 0.5:
            if self.up[name]:
                self.pulled_ns[name] = time.monotonic_ns() - self.stolen_ns
            self.counts["unplugged"] += 1
            port.unplug()
            await asyncio.sleep(self.chance.uniform(0.05, 2.0))
            port.plug()
        elif name == "panel":
            self.counts["panel reset"] += 1
            self.panel.reset(now_ns())
            port.kick()
        else:
            self.counts["reader restarted"] += 1
            self.readers[name].restart(now_ns())
            port.kick()

    async def run(self, seconds: float, *, mishap_every_s: float) -> None:
        """The faults for so long, then a quiet end in which everything must come right."""
        for port in self.ports.values():
            port.plug()
        await self.bridge.start()
        mishaps = asyncio.create_task(self._mishaps(mishap_every_s))
        daemons = asyncio.create_task(self._daemons())
        end = time.monotonic() + seconds
        next_press = time.monotonic_ns()
        try:
            while time.monotonic() < end:
                now = time.monotonic_ns()
                self._move_chips(now)
                if now >= next_press:
                    self._press(now)
                    self._check_clock()
                    next_press = now + int(S * self.chance.uniform(0.05, 0.8))
                self._assert_nothing_wrong()
                assert not mishaps.done(), mishaps.exception()
                assert not daemons.done(), daemons.exception()
                await asyncio.sleep(STEP_NS / S)
                self.stolen_ns += max(0, time.monotonic_ns() - now - 2 * STEP_NS)
            mishaps.cancel()
            await self._settle()
        finally:
            mishaps.cancel()
            daemons.cancel()
            await self.bridge.stop()
            for port in self.ports.values():
                if port.plugged:
                    port.unplug()

    async def _mishaps(self, every_s: float) -> None:
        while True:
            await asyncio.sleep(self.chance.expovariate(1 / every_s))
            await self._mishap()

    async def _settle(self) -> None:
        for port in self.ports.values():
            if not port.plugged:
                port.plug()
            port._to_host.plan = port._to_device.plan = NO_FAULTS
        end = time.monotonic() + SEEN_WITHIN_S
        while time.monotonic() < end:
            chips = [c for stack in self.chips.values() for c in stack]
            if all(self.up.values()) and not self.panel.pending and all(c.settled for c in chips):
                break
            await asyncio.sleep(0.02)
        self._check_clock()
        self._assert_nothing_wrong()
        assert not self.dying.is_set(), "the last daemon did not come up"
        assert all(self.up.values()), f"not up at the end: {self.up}"
        assert self.panel.pending == 0, "presses that were never acknowledged"
        assert dict(self.told_presses) == dict.fromkeys(self.pressed, 1), "presses not in the journal, or twice"
        for stack in self.chips.values():
            for chip in stack:
                expected = ["came", "left"] * len(chip.spans)
                assert chip.told == expected[: 2 * len(chip.spans) - chip.lies], f"{chip.uid}: {chip.told}"

    def _check_clock(self) -> None:
        """The panel's tick never jumps, so nothing that it says contradicts the clock that was learnt of it."""
        jumps = next(health.figures.clock_jumps for health in self.bridge.health() if health.id == "panel")
        if jumps:
            self.wrong.append(f"the panel's clock was learnt anew {jumps} times")

    def _assert_nothing_wrong(self) -> None:
        assert not self.wrong, f"seed {self.seed}: " + "\n".join(self.wrong[:5])
        late = [n for n, at in self.pulled_ns.items() if time.monotonic_ns() - self.stolen_ns - at > 1.3 * S]
        assert not late, f"seed {self.seed}: {late} pulled and not told for 1.3 s"

    def report(self, seconds: float) -> str:
        """The figures, one a line."""
        lines = [f"seed {self.seed}, {seconds:.0f} s: nothing lost, nothing told twice, nothing wrong"]
        lines.append(f"  presses {len(self.pressed)}, each in the journal once; " + ", ".join(
            f"{n} {what}" for what, n in sorted(self.counts.items())))  # fmt: skip
        faults: collections.Counter[str] = collections.Counter()
        for port in self.ports.values():
            for line in (port._to_host, port._to_device):
                faults.update(line.counts)
        lines.append("  line faults: " + ", ".join(f"{n} {what}" for what, n in sorted(faults.items())))
        lines.append(f"  a pulled cable was told after {self.worst_lost_ms:.0f} ms at most")
        for what, delays in self.delays_ms.items():
            delays.sort()
            if delays:
                p50, p99 = delays[len(delays) // 2], delays[len(delays) * 99 // 100]
                lines.append(f"  {what}: told after {p50:.0f} ms (median), {p99:.0f} (p99), {delays[-1]:.0f} (worst)")
        for health in self.bridge.health():
            c = health.counters
            lines.append(
                f"  {health.id}: opened {health.opened}, frames {c.frames}, garbage {c.garbage} bytes, timeouts "
                f"{c.timeouts}, foreign {c.foreign}, corrupt {c.corrupt}, restarts {c.restarts}, "
                f"over bound {c.over_bound}"
            )
        return "\n".join(lines)


def soak(seconds: float, seed: int, *, mishap_every_s: float = 4.0, only: frozenset[str] = frozenset()) -> str:
    """Runs it with all readers or ``only`` some; AssertionError says what was wrong, with the seed."""
    with tempfile.TemporaryDirectory() as name:

        async def body() -> str:
            table = Soak(Path(name), seed, only)
            await table.run(seconds, mishap_every_s=mishap_every_s)
            return table.report(seconds)

        return asyncio.run(body())


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.bridge.soak", description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--readers", nargs="+", choices=READERS, default=(), metavar="NAME", help="only these readers")
    chosen = parser.parse_args()
    print(soak(chosen.minutes * 60, chosen.seed, only=frozenset(chosen.readers)))


if __name__ == "__main__":
    main()
