"""Who sits at the table, with arms, sleeves and stacks; and the dealer."""

from __future__ import annotations

import math
from random import Random

from hw_sim.scene.anatomy import HAIR, SKINS, Cloth
from hw_sim.scene.conditions import Conditions
from hw_sim.scene.layout import RAIL_MM, RGB, XY, ChipKind, Layout, Seat, linear
from hw_sim.scene.motion import Arm, Body, Rest, Thing, Track

CLOTHS: tuple[RGB, ...] = (
    linear(24, 24, 28), linear(214, 210, 204), linear(50, 66, 104), linear(140, 40, 44), linear(120, 124, 128),
    linear(92, 76, 56), linear(64, 92, 70), linear(180, 150, 90),
)  # fmt: skip
BLACK = linear(16, 16, 18)


class Player:
    """One at a seat: body, both arms, and stacks behind the line."""

    def __init__(self, seat: Seat, layout: Layout, conditions: Conditions, rng: Random) -> None:
        self.seat, self.rng = seat, rng
        self.name = seat.name
        self.facing = math.atan2(seat.inwards[1], seat.inwards[0])
        skin = rng.randrange(len(SKINS))
        cloth = _cloth(layout, conditions, rng)
        self.body = Body(seat.name, seat.place(-RAIL_MM - 95), seat.inwards, skin=skin, hair=rng.randrange(len(HAIR)),
                         cloth=cloth)  # fmt: skip
        self.right_handed = rng.random() < 0.85
        side = 1 if self.right_handed else -1
        self.side = side
        self.home = self._rest(rng.uniform(55, 95), side * rng.uniform(78, 100))
        away = self._rest(rng.uniform(-30, 20), -side * rng.uniform(90, 130))
        self.arm = Arm(seat.name, self._shoulder(side), right=self.right_handed, skin=skin, cloth=cloth,
                       rest=self.home)  # fmt: skip
        self.other = Arm(seat.name, self._shoulder(-side), right=not self.right_handed, skin=skin, cloth=cloth,
                         rest=away)  # fmt: skip
        self.stacks: list[Stack] = []
        self._lay_stacks(layout, conditions)

    def _shoulder(self, side: int) -> XY:
        return self.seat.place(-RAIL_MM - 120, side * 175)

    def yaw(self, off: float = 0.0) -> float:
        """Direction of a hand that reaches over the table, turned inwards by ``off`` degrees."""
        return self.facing + self.side * math.radians(off)

    def _rest(self, depth: float, aside: float) -> tuple[float, float, float, float, float]:
        x, y = self.seat.place(depth, aside)
        inwards = math.copysign(1.0, aside)
        return x, y, 10.0, self.facing + inwards * math.radians(self.rng.uniform(8, 26)), 0.55

    def _lay_stacks(self, layout: Layout, conditions: Conditions) -> None:
        rng = self.rng
        values = list(layout.chips[:7])
        rng.shuffle(values)
        if conditions.chips == "felt":
            near = layout.chips[2]
            values = [near, *(v for v in values if v is not near)]
        for k, (depth, aside) in enumerate(((118, -46), (122, -3), (116, 40), (74, -26), (72, 20))):
            if k >= 3 and rng.random() < 0.4:
                continue
            kind = values[k % len(values)]
            x, y = self.seat.place(depth + rng.uniform(-4, 4), aside + rng.uniform(-3, 3))
            self.stacks.append(Stack(kind, rng.randint(9, 20), (x, y), rng))


class Stack:
    """A stack of one denomination behind the line; each height that it has had is a thing of its own."""

    def __init__(self, kind: ChipKind, count: int, at: XY, rng: Random) -> None:
        self.kind, self.count, self.at = kind, count, at
        self._rng = rng
        self._lean = (rng.uniform(-0.25, 0.25), rng.uniform(-0.25, 0.25))
        self._turns = tuple(rng.randrange(360) for _ in range(60))
        self._shifts = tuple((rng.gauss(0, 0.4), rng.gauss(0, 0.4)) for _ in range(60))
        self.things: list[Thing] = []
        self._show(0.0)

    def _show(self, at: float) -> None:
        if self.count:
            thing = Thing("chips", (self.kind,) * self.count, self._lean)
            thing.turns, thing.shifts = self._turns, self._shifts
            thing.put(at, Rest(*self.at))
            self.things.append(thing)

    def change(self, at: float, by: int) -> None:
        """From ``at`` on it has so many more (or fewer) chips, at most 40."""
        if self.things and self.things[-1].wheres[-1] is not None:
            self.things[-1].put(at, None)
        self.count = max(0, min(40, self.count + by))
        self._show(at)


def pile(kinds: tuple[ChipKind, ...], rng: Random, tidy: float = 0.8) -> Thing:
    """Chips on each other, not quite true."""
    thing = Thing("chips", kinds, (rng.uniform(-0.3, 0.3), rng.uniform(-0.3, 0.3)))
    thing.turns = tuple(rng.randrange(360) for _ in kinds)
    thing.shifts = tuple((rng.gauss(0, tidy), rng.gauss(0, tidy)) for _ in kinds)
    return thing


def _cloth(layout: Layout, conditions: Conditions, rng: Random) -> Cloth:
    bare = rng.choice((8.0, 14.0, 25.0, 60.0, 400.0))
    if conditions.sleeves == "felt":
        return Cloth(layout.felt_colour, bare=rng.choice((6.0, 10.0)), folds=0.12)
    if conditions.sleeves == "black":
        return Cloth(BLACK, bare=rng.choice((6.0, 10.0)))
    return Cloth(rng.choice(CLOTHS), bare=bare, check=rng.random() < 0.2)


class Dealer:
    """The dealer: black waistcoat, white sleeves, an arm that reaches everywhere with some leaning."""

    def __init__(self, layout: Layout, rng: Random) -> None:
        hy = layout.felt.half_y
        skin = rng.randrange(len(SKINS))
        shirt = Cloth(linear(222, 222, 226), bare=14.0)
        self.body = Body("dealer", (0.0, -hy - RAIL_MM - 95), (0.0, 1.0), skin=skin, hair=rng.randrange(4),
                         cloth=Cloth(BLACK))  # fmt: skip
        rest = (95.0, -hy + 165.0, 12.0, math.radians(108), 0.6)
        self.home = rest
        self.shoulder = (165.0, -hy - RAIL_MM - 105)
        self.arm = Arm("dealer", self.shoulder, right=True, skin=skin, cloth=shirt, rest=rest)
        other = (-90.0, -hy + 160.0, 12.0, math.radians(72), 0.6)
        self.other = Arm("dealer", (-165.0, self.shoulder[1]), right=False, skin=skin, cloth=shirt,
                         rest=other)  # fmt: skip

    def stretch(self, at: float, x: float, y: float) -> None:
        """Be leant by then so that the hand can reach (x, y)."""
        base_x, base_y = self.shoulder
        aside = max(-420.0, min(420.0, 0.62 * (x - base_x)))
        far = math.hypot(x - base_x - aside, y - base_y)
        ahead = max(0.0, min(420.0, far - 560.0))
        self.arm.root.key(at, base_x + aside, base_y + ahead)
        self.body.track.key(at, ahead * 0.9, aside, 0.0)


def sway(track: Track, rng: Random, until: float, reach: float) -> None:
    """Somebody who sits: small movements, and now and then a lean of up to ``reach`` mm over the table."""
    now = rng.uniform(0, 3)
    while now < until:
        track.hold(now)
        lean, aside, turn = track.last
        if rng.random() < 0.3 and reach > 0:
            lean, aside = rng.uniform(0.35, 1.0) * reach, rng.uniform(-0.5, 0.5) * reach * 0.6
        elif rng.random() < 0.5:
            lean, aside = rng.uniform(-8, 12), rng.uniform(-10, 10)
        if rng.random() < 0.6:
            turn = rng.uniform(-0.7, 0.7)
        now += rng.uniform(0.7, 2.2)
        track.key(now, lean, aside, turn)
        now += rng.expovariate(1 / 9.0) + 0.5


def leans(body: Body, least_mm: float = 80.0) -> list[tuple[float, float, float]]:
    """Spans (seconds) in which somebody leans over the table by ``least_mm`` or more, and how far."""
    times, values = body.track.times, body.track.values
    spans: list[tuple[float, float, float]] = []
    for i in range(1, len(times)):
        far = max(values[i - 1][0], values[i][0])
        if far < least_mm:
            continue
        if spans and spans[-1][1] == times[i - 1]:
            spans[-1] = (spans[-1][0], times[i], max(spans[-1][2], far))
        else:
            spans.append((times[i - 1], times[i], far))
    return spans
