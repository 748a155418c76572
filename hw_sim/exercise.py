"""A table for calibration exercises: chips at places and millimetres, racks of them, and a robot that reads the screen.

The truth is a table of shares: how likely an antenna hears a lone chip, one in a stack, a chip beside the middle, a
chip on another place.  The robot knows a few sentences ("Put 1 chip on … (bet:3)", "Clear …") and does what they say,
as a technician would; it shares no code with what it obeys.
"""

from __future__ import annotations

import asyncio
import json
import math
import re
import threading
from collections.abc import Callable, Coroutine, Mapping, Sequence
from functools import partial
from pathlib import Path
from random import Random

import msgspec

from hw_sim.devices.feig import FeigReader
from hw_sim.devices.panel import KEY_CODES, Panel
from hw_sim.devices.physics import Noise, Timing
from hw_sim.line_port import now_ns
from hw_sim.pty_port import PtyPort

MS = 1_000_000


class Lying(msgspec.Struct, frozen=True):
    """A chip on the felt: over which place, and where from its middle."""

    uid: str
    place: int
    x_mm: int = 0
    y_mm: int = 0


class Truth(msgspec.Struct, frozen=True, kw_only=True):
    """What the antennas really do; places are numbered from 1 around the table.

    ``lone``: a single chip in the middle is missed, ``stack``: each chip of a stack is.  ``bleed`` is, by (place of the
    chip, place of the antenna), the share of looks in which it is heard there.  ``radius_mm``: where reading falls to
    a half; ``edge_mm``: over how much it falls.  ``wiring`` is which place lies over which antenna of the reader;
    ``dead`` antennas hear nothing.
    """

    lone: Mapping[int, float] = {}
    stack: Mapping[int, float] = {}
    bleed: Mapping[tuple[int, int], float] = {}
    radius_mm: float = 90.0
    edge_mm: float = 12.0
    wiring: Mapping[int, int] = {}
    dead: tuple[int, ...] = ()


class Felt:
    """Chips that lie on the table, and what each antenna hears of them."""

    def __init__(self, truth: Truth, seats: int) -> None:
        self.truth, self.seats = truth, seats
        self.lying: list[Lying] = []
        self.wiring = {n: n for n in range(1, seats + 1)} | dict(truth.wiring)

    def over(self, place: int) -> list[str]:
        """UIDs over one place."""
        return [chip.uid for chip in self.lying if chip.place == place]

    def chances(self, place: int) -> Sequence[tuple[str, float]]:
        """Each chip that the antenna under ``place`` may hear, with its chance in one look."""
        truth = self.truth
        if place in truth.dead:
            return []
        heard: list[tuple[str, float]] = []
        high = len(self.over(place)) > 1
        for chip in self.lying:
            if chip.place == place:
                missed = (truth.stack if high else truth.lone).get(place, 0.0)
                away = math.hypot(chip.x_mm, chip.y_mm)
                near = 1 / (1 + math.exp((away - truth.radius_mm) / truth.edge_mm)) if away else 1.0
                heard.append((chip.uid, (1 - missed) * near))
            elif share := truth.bleed.get((chip.place, place), 0.0):
                heard.append((chip.uid, share))
        return heard


class Rack:
    """Chips that are not on the table, of one kind, drawn in order."""

    def __init__(self, size: int, rng: Random) -> None:
        self.uids = [f"E0040150{s:08X}" for s in rng.sample(range(1 << 32), size)]
        self.next = 0

    def take(self, count: int) -> list[str]:
        """The next ``count`` chips."""
        taken = self.uids[self.next : self.next + count]
        self.next += count
        assert len(taken) == count, "the rack is empty: give the exercise more chips"
        return taken


class Clocks(msgspec.Struct, frozen=True, kw_only=True):
    """What is true of times at the table.

    The camera stamps ``camera_late_ms`` too early (so much must be added), has a frame every ``frame_ms`` and reports
    after ``report_ms``, each end of its spans ``margin_ms`` further out for what it does not know of its own clock;
    with ``hands`` a hand hides each landing for `HAND_MS`.  The dealer's key follows a word after ``reaction_ms`` (the
    middle of a skewed distribution).  ``beat_s`` is from one falling chip to the next.
    """

    camera_late_ms: float = 23.0
    frame_ms: float = 1000 / 60
    report_ms: float = 60.0
    margin_ms: float = 17.0
    hands: bool = False
    beat_s: float = 0.75
    reaction_ms: float = 450.0


HAND_MS = ((60.0, 120.0), (60.0, 110.0))
"""How long before and after its landing a hand hides a chip."""


class Stand:
    """A FEIG reader with one antenna under each seat, and a panel, each on a pseudo-terminal, served by a thread.

    With ``extra`` the robot counts wrong: so many chips more than it is asked for, fewer below 0.
    """

    def __init__(
        self,
        folder: Path,
        truth: Truth,
        *,
        seats: int = 4,
        chips: int = 400,
        seed: int = 1,
        timing: Timing | None = None,
        clocks: Clocks | None = None,
    ) -> None:
        self.clocks = clocks or Clocks()
        self.rng = Random(seed + 7)
        self.landings = folder / "landings.jsonl"
        self.landings.touch()
        self.reactions_ms: list[float] = []
        self._busy: asyncio.Task[None] | None = None
        self.folder, self.seats = folder, seats
        self.felt = Felt(truth, seats)
        self.rack = Rack(chips, Random(seed))
        self.misunderstood: list[str] = []
        self.extra = 0
        places = {antenna: place for antenna, place in self.felt.wiring.items() if antenna <= seats}
        self.reader = FeigReader(
            self.felt.over, antennas=seats, places=places, seed=seed, timing=timing or Timing(), noise=Noise(),
            max_records=60,
        )  # fmt: skip
        self.reader.radio.reach = self.felt.chances
        self.panel = Panel(seed=seed + 1, drift_ppm=40.0, start_ns=now_ns())
        self.ports = {
            "reader": PtyPort(self.reader, seed=seed, link=folder / "reader"),
            "panel": PtyPort(self.panel, seed=seed + 1, link=folder / "panel"),
        }
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="exercise", daemon=True)

    def __enter__(self) -> Stand:
        self._thread.start()
        self._do(lambda: [port.plug() for port in self.ports.values()])
        return self

    def __exit__(self, *_: object) -> None:
        self._do(self._unplug)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def _unplug(self) -> None:
        self.stop()
        for port in self.ports.values():
            port.close()

    def config(self, **antennas: str) -> Path:
        """A ``table.toml`` for this stand, as somebody wrote it who believes antenna n to be seat n's."""
        named = {str(n): f"bet:{n}" for n in range(1, self.seats + 1)} | antennas
        listed = ", ".join(f'{n} = "{place}"' for n, place in named.items())
        (self.folder / "chips.csv").write_text("uid,denomination\n" + "".join(f"{u},25\n" for u in self.rack.uids))
        path = self.folder / "table.toml"
        path.write_text(
            f'[table]\nseats = {self.seats}\n\n[chips]\nfile = "chips.csv"\n\n[journal]\nfile = "t.journal"\n\n'
            f'[[device]]\nid = "reader"\ndriver = "feig"\nport = "{self.folder / "reader"}"\n'
            f"antennas = {{ {listed} }}\n\n"
            f'[[device]]\nid = "panel"\ndriver = "panel"\nport = "{self.folder / "panel"}"\n'
        )
        return path

    def _do(self, work: Callable[[], object]) -> None:
        """Run on the stand's own thread, and wait."""

        async def run() -> None:
            work()
            for port in self.ports.values():
                port.kick()

        asyncio.run_coroutine_threadsafe(run(), self._loop).result()

    # -- the robot --------------------------------------------------------------------------------

    def obey(self, sentence: str) -> bool:
        """Do what a sentence on the screen says; False (and remembered) if it is none that the robot knows."""
        for pattern, act in _SENTENCES:
            found = re.search(pattern, sentence)
            if found:
                self._do(partial(act, self, found))
                return True
        self.misunderstood.append(sentence)
        return False

    def put(self, count: int, place: int, x_mm: int = 0, y_mm: int = 0) -> list[str]:
        """Chips from the rack to a place."""
        uids = self.rack.take(count)
        self.felt.lying += [Lying(uid, place, x_mm, y_mm) for uid in uids]
        return uids

    def lift(self, place: int | None = None) -> None:
        """All chips of a place, or of the table, are taken away."""
        gone = [c for c in self.felt.lying if place in (None, c.place)]
        self.felt.lying = [c for c in self.felt.lying if c not in gone]
        self.reader.radio.lifted(c.uid for c in gone)

    # -- what goes on until it is stopped ---------------------------------------------------------

    def begin(self, work: Coroutine[object, object, None]) -> None:
        """Go on with something; on the stand's own thread."""
        self.stop()
        self._busy = asyncio.get_running_loop().create_task(work)

    def stop(self) -> None:
        """Stop it."""
        if self._busy is not None:
            self._busy.cancel()
            self._busy = None

    async def fall(self, place: int, *, key: str = "") -> None:
        """One chip comes down on a place, is seen by the camera, and is taken away, again and again."""
        uid = self.rack.take(1)[0]
        while True:
            await asyncio.sleep(self.clocks.beat_s * self.rng.uniform(0.45, 0.55))
            at = now_ns()
            self.felt.lying.append(Lying(uid, place))
            if key:
                await asyncio.sleep(max(0.0, self.rng.gauss(0.012, 0.008)))
                self.panel.press(now_ns(), key)
                self.ports["panel"].kick()
            await asyncio.sleep(self.clocks.report_ms / 1000)
            self._seen(at, place)
            await asyncio.sleep(self.clocks.beat_s * 0.4)
            self.lift(place)

    def _seen(self, at_ns: int, place: int) -> None:
        """The camera's line for a landing, in its own time."""
        clocks, rng = self.clocks, self.rng
        frame = clocks.frame_ms * MS
        before = rng.uniform(0, frame)
        early, late = at_ns - before, at_ns - before + frame
        if clocks.hands:
            early, late = at_ns - rng.uniform(*HAND_MS[0]) * MS, at_ns + rng.uniform(*HAND_MS[1]) * MS
        shift, margin = clocks.camera_late_ms * MS, clocks.margin_ms * MS
        span = {"earliest_ns": round(early - shift - margin), "latest_ns": round(late - shift + margin)}
        line = {
            "o": "landed", "device": "camera", "span": span, "seat": str(place), "x_mm": 0, "y_mm": 0, "area_mm2": 1190,
        }  # fmt: skip
        with self.landings.open("a", encoding="ascii") as file:
            file.write(json.dumps(line) + "\n")

    async def react(self, key: str) -> None:
        """The dealer hears a word and presses its key."""
        ms = max(120.0, self.clocks.reaction_ms * math.exp(self.rng.gauss(0.0, 0.2)))
        self.reactions_ms.append(ms)
        await asyncio.sleep(ms / 1000)
        self.panel.press(now_ns(), key)
        self.ports["panel"].kick()

    def press(self, key: str) -> int:
        """Press a key of the panel now; the time at which it was done."""
        at: list[int] = []

        def act() -> None:
            at.append(now_ns())
            self.panel.press(at[0], key)

        assert key in KEY_CODES
        self._do(act)
        return at[0]


def _seat(found: re.Match[str]) -> int:
    return int(found["seat"])


def _put(stand: Stand, found: re.Match[str]) -> None:
    stand.put(int(found["count"]) + stand.extra, _seat(found))


def _put_all(stand: Stand, found: re.Match[str]) -> None:
    for seat in range(1, stand.seats + 1):
        stand.put(int(found["count"]) + (stand.extra if seat == 1 else 0), seat)


def _move(stand: Stand, found: re.Match[str]) -> None:
    chip = next((c for c in stand.felt.lying if c.place == _seat(found)), None)
    uid = chip.uid if chip is not None else stand.rack.take(1)[0]
    stand.lift()
    stand.felt.lying.append(Lying(uid, _seat(found), int(found["x"]), int(found["y"])))


def _stop(stand: Stand, found: re.Match[str]) -> None:  # noqa: ARG001  all sentences are obeyed alike
    stand.stop()
    stand.lift()


_SENTENCES: tuple[tuple[str, Callable[[Stand, re.Match[str]], None]], ...] = (
    (r"^Let 1 chip fall on .*\(bet:(?P<seat>\d+)\)", lambda stand, found: stand.begin(stand.fall(_seat(found)))),
    (
        r"^Put down 1 chip on .*\(bet:(?P<seat>\d+)\) and press any key",
        lambda stand, found: stand.begin(stand.fall(_seat(found), key="call")),
    ),
    (r"^Stop\.", _stop),
    (r"press its key as in play", lambda *_: None),
    (r"^>>> (?P<key>[A-Z]+)", lambda stand, found: stand.begin(stand.react(found["key"].lower()))),
    (r"Clear the felt", lambda stand, _: stand.lift()),
    (r"Take everything from .*\(bet:(?P<seat>\d+)\)", lambda stand, found: stand.lift(_seat(found))),
    (r"Put (?P<count>\d+) (?:more )?chips? (?:more )?on each", _put_all),
    (r"Put (?P<count>\d+) chips? on .*\(bet:(?P<seat>\d+)\)", _put),
    (r"Move the chip to x (?P<x>-?\d+) mm, y (?P<y>-?\d+) mm .*\(bet:(?P<seat>\d+)\)", _move),
)
