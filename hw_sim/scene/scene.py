"""A scene: a seeded table with its camera, people and script, its frames, and the truth."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from random import Random

import msgspec
import numpy as np

from hw_sim.scene import optics, reckon
from hw_sim.scene.conditions import Conditions, named
from hw_sim.scene.layout import Layout, Shape
from hw_sim.scene.layout import layout as make_layout
from hw_sim.scene.lens import Eye, Lens
from hw_sim.scene.mishaps import plan
from hw_sim.scene.motion import Arm, Body, Cover
from hw_sim.scene.people import leans
from hw_sim.scene.render import Renderer
from hw_sim.scene.script import Script
from hw_sim.scene.stage import Shutter, View
from hw_sim.scene.truth import Disturbance, HandStep, Landing, Truth

S = 1_000_000_000


class Shot(msgspec.Struct, frozen=True):
    """A picture as the driver gives it: ``stamp_ns`` is the start of exposure of the first row.

    ``arrives_ns`` is when the driver hands it over; a late one comes after others of higher sequence have been due.
    """

    sequence: int
    stamp_ns: int
    jpeg: bytes
    arrives_ns: int = 0


def camera(seed: int, width: int = 1280, height: int = 720) -> Eye:
    """The camera of a seed: lens and pose.  The whole table is in the picture."""
    rng = Random(f"camera {seed}")
    high = rng.uniform(1500.0, 2150.0)
    scale = rng.uniform(0.425, 0.455) * width / 1280 * min(1.0, height / width * 1280 / 720)
    lens = Lens(
        width=width, height=height, f=scale * high, cx=width / 2 + rng.uniform(-9, 9),
        cy=height / 2 + rng.uniform(-9, 9), kappa=rng.uniform(0.925, 0.975),
        lean=(rng.uniform(-0.008, 0.008), rng.uniform(-0.008, 0.008)),
    )  # fmt: skip
    tilt = (rng.uniform(-0.035, 0.035), rng.uniform(-0.035, 0.035), rng.uniform(-0.05, 0.05))
    # Hung so that it looks at the middle of the table.
    at = (high * math.tan(tilt[1]) + rng.uniform(-25, 25), high * math.tan(tilt[0]) + rng.uniform(-25, 25), high)
    return Eye(lens=lens, at=at, tilt=tilt)


class Scene:
    """What `world` makes; `frames` may be run any number of times, with the same bytes each time."""

    def __init__(self, seed: int, conditions: Conditions, seconds: float, *, eye: Eye, layout: Layout, fps: float,
                 acts: Sequence[str]) -> None:  # fmt: skip
        self.seed, self.conditions, self.seconds, self.fps = seed, conditions, seconds, fps
        self.eye, self.layout = eye, layout
        rng = Random(f"scene {seed} {conditions.name}")
        self._script = Script(layout, conditions, rng, seconds, tuple(acts))
        self._mishaps = plan(conditions, layout, eye, rng, seconds=seconds, fps=fps)
        self._phase = rng.uniform(0, 2 * math.pi)
        self._start_ns = rng.randrange(20, 60) * S // 1000
        self.truth = self._reckon()

    # -- truth ----------------------------------------------------------------------------------------

    @property
    def arms(self) -> list[Arm]:
        """All arms, players' first."""
        people = [a for p in self._script.players for a in (p.arm, p.other)]
        return [*people, self._script.dealer.arm, self._script.dealer.other]

    def _reckon(self) -> Truth:
        script, layout, eye = self._script, self.layout, self.eye
        steps: list[HandStep] = []
        for player in script.players:
            steps += reckon.player_steps(player.arm, script.things, layout, eye, self.seconds)
            steps += reckon.visitor_steps(player.arm, layout, self.seconds, "player")
        steps += reckon.visitor_steps(script.dealer.arm, layout, self.seconds, "dealer")
        arms = [*(p.arm for p in script.players), script.dealer.arm]
        landings = [
            msgspec.structs.replace(landing, hidden_until_ns=self._free(landing, arms)) for landing in script.landings
        ]
        cards = [*script.cards, *script.unfinished_cards()]
        m = self._mishaps
        return Truth(
            steps=tuple(sorted(steps, key=lambda s: s.at_ns)),
            landings=tuple(sorted(landings, key=lambda x: x.at_ns)),
            removals=tuple(sorted(script.removals, key=lambda x: x.at_ns)),
            cards=tuple(sorted(cards, key=lambda x: x.at_ns)),
            tags=tuple(sorted(script.tags, key=lambda x: (x.from_ns, x.uid))),
            disturbances=self._disturbances(), acts=tuple(sorted(script.acts, key=lambda x: x.from_ns)),
            exposure_ns=round(self.conditions.exposure_ms * 1e6), readout_ns=round(self.conditions.readout_ms * 1e6),
            dropped=m.dropped, late=m.late, truncated=m.truncated,
        )  # fmt: skip

    def _disturbances(self) -> tuple[Disturbance, ...]:
        shadows = [
            Disturbance(kind="shadow", from_ns=round(a * S), to_ns=round(b * S), seat=p.name, amount=round(far * 1000))
            for p in self._script.players
            for a, b, far in leans(p.body)
        ]
        return tuple(sorted([*self._mishaps.disturbances, *shadows], key=lambda d: (d.from_ns, d.kind, d.seat)))

    def _free(self, landing: Landing, arms: Sequence[Arm]) -> int:
        near = [a for a in arms if a.seat in (landing.seat, "dealer")]
        return reckon.uncovered(landing, near, self.eye, self.seconds)

    # -- pictures -------------------------------------------------------------------------------------

    def frames(self, from_s: float = 0.0, to_s: float | None = None) -> Iterator[Shot]:
        """Shots in the order of arrival, from ``from_s`` to ``to_s`` of the scene's seconds (all by default)."""
        until = self.seconds if to_s is None else min(to_s, self.seconds)
        waiting: list[Shot] = []
        for shot in self._shots(range(math.ceil(from_s * self.fps), math.ceil(until * self.fps))):
            waiting.append(shot)
            waiting.sort(key=lambda s: s.arrives_ns)
            due = shot.arrives_ns - self._mishaps.late_by.get(shot.sequence, 0)
            while waiting and waiting[0].arrives_ns <= due:
                yield waiting.pop(0)
        yield from waiting

    def at(self, seconds: Sequence[float]) -> list[Shot]:
        """The shots whose exposure begins first after some instants (any order); none for those dropped."""
        return list(self._shots([max(0, math.ceil((s - self._start_ns / S) * self.fps)) for s in seconds]))

    def _shots(self, numbers: Iterable[int]) -> Iterator[Shot]:
        m, c = self._mishaps, self.conditions
        sensor = optics.Sensor(c, self.eye.lens.width, self.eye.lens.height, self.seed)
        renderer, knocks = None, 0
        for number in numbers:
            stamp = self._start_ns + round(number * S / self.fps)
            now = stamp / S
            if number in m.drop_set:
                continue
            sensor.reseed(number)
            if renderer is None or knocks != m.knocks_by(now):
                knocks = m.knocks_by(now)
                view = self.view(m.eyes[knocks])
                if renderer is None:
                    renderer = Renderer(view, self._script.things, self._movers(), self._bodies())
                else:
                    renderer.look(view)
            renderer.focus(m.blur(now, c))
            shutter = Shutter(now, c.readout_ms / 1000 / (view.height - 1), c.exposure_ms / 1000, view.height)
            roots = renderer.frame(shutter)
            gains = optics.row_gains(c, stamp, view.height, self._phase) * m.light(now, c)
            jpeg = sensor.jpeg(sensor.develop(m.soil(roots, now), gains.astype(np.float32)))
            if number in m.truncate_at:
                jpeg = jpeg[: int(len(jpeg) * m.truncate_at[number])]
            lag = m.late_by.get(number, 0)
            yield Shot(number, stamp, jpeg, stamp + round((c.readout_ms + c.exposure_ms) * 1e6) + 2_000_000 + lag)

    def view(self, eye: Eye | None = None) -> View:
        """The view of the scene's camera, or of another pose."""
        return View(eye or self.eye, self.layout, self.conditions, self.seed)

    def _movers(self) -> list[Arm | Cover]:
        return [*self.arms, *self._mishaps.covers]

    def _bodies(self) -> list[Body]:
        return [*(p.body for p in self._script.players), self._script.dealer.body]


def world(seed: int, conditions: str | Conditions = "baseline", *, seconds: float = 30.0, width: int = 1280,
          height: int = 720, fps: float = 60.0, seats: int = 9, shape: Shape = "oval",
          acts: Sequence[str] = ()) -> Scene:  # fmt: skip
    """A scene of ``seconds``, the same for the same arguments.

    ``acts`` limits the script to some of bet, push, string_bet, two_trips, cut_and_push, hover, splash, take_back,
    fold, fidget, sweep, two_at_once (none: all of them).  Camera and table depend on ``seed``, size, ``seats`` and
    ``shape`` alone, so that `boards` and `marker_view` of the same seed calibrate it under any condition.
    ValueError for an unknown condition or act, or an odd size.
    """
    if width % 8 or height % 8 or not 8 <= width <= 4096 or not 8 <= height <= 4096:
        raise ValueError(f"{width} x {height} pixels; give multiples of 8 up to 4096")
    if not 0 < seconds <= 7200 or not 1 <= fps <= 240:
        raise ValueError(f"{seconds} s at {fps} frames a second; give up to 7200 s at 1 to 240")
    eye, table = camera(seed, width, height), make_layout(seed, seats, shape)
    return Scene(seed, named(conditions), seconds, eye=eye, layout=table, fps=fps, acts=acts)
