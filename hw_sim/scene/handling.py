"""How hands handle chips: reach, grip, carry, put down; and the books of what lies in each seat's zone."""

from __future__ import annotations

import math
from random import Random

import numpy as np

from hw_sim.scene.conditions import Conditions
from hw_sim.scene.layout import BET_DEPTH_MM, LINE_MM, XY, ChipKind, Layout
from hw_sim.scene.motion import Arm, Held, Rest, Thing
from hw_sim.scene.paint import CHIP_HEIGHT_MM
from hw_sim.scene.people import Dealer, Player, Stack, pile
from hw_sim.scene.reckon import inside
from hw_sim.scene.truth import Act, CardsLanded, Landing, Removal, Tag

GRIP_AHEAD, GRIP_ASIDE = -21.0, -7.0
"""Where gripped chips are from the foremost tip."""
S = 1_000_000_000


class Lying:
    """Chips on a seat's bet zone."""

    def __init__(self, thing: Thing, at: XY, tags: list[int], foreign: bool) -> None:
        self.thing, self.at, self.tags, self.foreign = thing, at, tags, foreign


class Handling:
    """The people, what they hold and what lies there, and how it is moved; `hw_sim.scene.script` says what they do."""

    def __init__(self, layout: Layout, conditions: Conditions, rng: Random, seconds: float) -> None:
        self.layout, self.conditions, self.rng, self.seconds = layout, conditions, rng, seconds
        self.players = [Player(seat, layout, conditions, rng) for seat in layout.seats]
        self.dealer = Dealer(layout, rng)
        self.things: list[Thing] = []
        self.lying: dict[str, list[Lying]] = {p.name: [] for p in self.players}
        self.mucked: list[tuple[Thing, XY, str, int]] = []
        self.landings: list[Landing] = []
        self.removals: list[Removal] = []
        self.cards: list[CardsLanded] = []
        self.tags: list[Tag] = []
        self.acts: list[Act] = []
        self._uid = 0xE0040100_00000000 + rng.randrange(1 << 24) * 1000
        self._open: dict[int, tuple[str, int, float]] = {}

    # -- hands ----------------------------------------------------------------------------------------

    def go(self, arm: Arm, start: float, took: float, to: XY, yaw: float) -> float:
        arm.path.hold(start)
        arm.path.key(start + took, to[0], to[1], yaw)
        return start + took

    def lift(self, arm: Arm, start: float, took: float, z: float, pose: float) -> float:
        arm.lift.hold(start)
        arm.lift.key(start + took, z, pose)
        return start + took

    def home(self, player: Player, start: float) -> float:
        took = self.rng.uniform(0.38, 0.7)
        x, y, z, yaw, pose = player.home
        self.lift(player.arm, max(start, player.arm.lift.end), took * 0.8, 26.0, 0.5)
        end = self.go(player.arm, start, took, (x, y), yaw)
        self.lift(player.arm, max(end, player.arm.lift.end), 0.12, z, pose)
        return max(end, player.arm.end)

    def spot(self, player: Player, clear: float = 44.0) -> XY | None:
        """A free place for a pile in the seat's zone, None when it is full."""
        half = player.seat.width / 2 - 30
        for _ in range(60):
            depth = LINE_MM + self.rng.uniform(38, BET_DEPTH_MM - 34)
            aside = self.rng.uniform(-half, half) * (1 - 0.25 * (depth - LINE_MM) / BET_DEPTH_MM)
            at = player.seat.place(depth, aside)
            if self.free(player.name, at, clear):
                return at
        return None

    def free(self, seat: str, at: XY, clear: float) -> bool:
        """A chip at that place lies in the seat's zone, with some room, and on no other."""
        around = np.radians(np.arange(0, 360, 30))
        x, y = at[0] + 25.0 * np.cos(around), at[1] + 25.0 * np.sin(around)
        if not inside(self.layout.zone("bet", seat).outline, x, y).all():
            return False
        return all(math.dist(at, lying.at) > clear for lying in self.lying[seat])

    def choose(self, player: Player, most: int = 6) -> tuple[Stack, int]:
        stacks = [s for s in player.stacks if s.count >= 2] or player.stacks
        stack = stacks[0] if self.conditions.chips == "felt" and self.rng.random() < 0.7 else self.rng.choice(stacks)
        if stack.count < 4:
            stack.change(max(0.0, player.arm.end), 14)
        return stack, self.rng.choices(range(1, most + 1), [5, 4, 3, 2, 1, 1, 1, 1][:most])[0]

    def fetch(self, player: Player, start: float, stack: Stack, count: int) -> tuple[float, Thing, float]:
        """The hand takes chips from a stack; when it has them, the pile, and the hand's yaw."""
        rng, arm = self.rng, player.arm
        yaw = player.yaw(rng.uniform(-8, 14))
        to = tip_for(stack.at, yaw, GRIP_AHEAD, GRIP_ASIDE * player.side)
        took = rng.uniform(0.3, 0.5)
        self.lift(arm, start, took, CHIP_HEIGHT_MM * stack.count + 4, 0.3)
        end = self.go(arm, start, took, to, yaw)
        self.lift(arm, end, 0.09, CHIP_HEIGHT_MM * (stack.count - count) + 6, 0.0)
        end += rng.uniform(0.10, 0.16)
        foreign = self._foreign()
        kinds = (foreign or stack.kind,) * count
        if rng.random() < 0.25 and count > 1 and not foreign:
            other = rng.choice(player.stacks)
            kinds = (*kinds[:-1], other.kind) if rng.random() < 0.5 else (other.kind, *kinds[1:])
        stack.change(end, -count)
        thing = pile(kinds, rng)
        thing.put(end, Held(arm, GRIP_AHEAD, GRIP_ASIDE * player.side, -6.0))
        self.things.append(thing)
        return end, thing, yaw

    def _foreign(self) -> ChipKind | None:
        if self.rng.random() >= self.conditions.foreign:
            return None
        return self.rng.choice(self.layout.chips)

    def stroke(self, player: Player, start: float, at: XY, yaw: float) -> float:
        """One forward movement, to where gripped chips are over ``at``."""
        rng, arm = self.rng, player.arm
        to = tip_for(at, yaw, GRIP_AHEAD, GRIP_ASIDE * player.side)
        far = math.dist(to, arm.path.last[:2])
        took = max(0.16, far / rng.uniform(380, 760))
        lift = max(0.05, took - 0.12)
        self.lift(arm, max(start, arm.lift.end), lift, rng.uniform(14, 34), 0.0)
        return self.go(arm, start, took, to, yaw)

    def release(self, player: Player, start: float, thing: Thing, foreign: bool | None = None) -> float:
        """Put a gripped pile down; when the hand is free of it."""
        arm = player.arm
        down = self.lift(arm, max(start, arm.lift.end), self.rng.uniform(0.07, 0.14), 6.0, 0.0)
        held = thing.wheres[-1]
        if not isinstance(held, Held):
            raise TypeError("only what is held can be put down")
        arm.path.hold(down)
        place = Thing.position(alone(held), down)
        if place is None:
            raise RuntimeError("what is held has a place")
        thing.put(down, Rest(place[0], place[1], 0.0, place[3]))
        self.landed(player.name, down, thing, (place[0], place[1]), foreign)
        return self.lift(arm, down, self.rng.uniform(0.1, 0.2), 16.0, 0.55)

    def landed(self, seat: str, at: float, thing: Thing, place: XY, foreign: bool | None = None) -> None:
        strange = self.rng.random() < self.conditions.foreign if foreign is None else foreign
        tags: list[int] = []
        if not strange:
            for chip in thing.chips:
                self._uid += 1
                tags.append(self._uid)
                self._open[self._uid] = (seat, chip.value, at)
        self.lying[seat].append(Lying(thing, place, tags, strange))
        self.landings.append(
            Landing(at_ns=round(at * S), seat=seat, x_mm=round(place[0], 2), y_mm=round(place[1], 2),
                    count=len(thing.chips), value=thing.chips[-1].value, values=tuple(c.value for c in thing.chips),
                    tagged=not strange)
        )  # fmt: skip

    def removed(self, seat: str, at: float, lying: Lying, by: str, keep_tags: bool = False) -> None:
        self.lying[seat].remove(lying)
        self.removals.append(
            Removal(at_ns=round(at * S), seat=seat, x_mm=round(lying.at[0], 2), y_mm=round(lying.at[1], 2),
                    count=len(lying.thing.chips), by="dealer" if by == "dealer" else "player")
        )  # fmt: skip
        for uid in () if keep_tags else lying.tags:
            where, value, since = self._open.pop(uid)
            self.tags.append(Tag(seat=where, uid=uid, value=value, from_ns=round(since * S), to_ns=round(at * S)))


def alone(where: object) -> Thing:
    thing = Thing("chips", ())
    if not isinstance(where, Held):
        raise TypeError("only what is held has a place in a hand")
    thing.put(0.0, where)
    return thing


def tip_for(at: XY, yaw: float, ahead: float, aside: float) -> XY:
    """Where the tip must be for what is held ``ahead`` and ``aside`` of it to be at ``at``."""
    c, s = math.cos(yaw), math.sin(yaw)
    return at[0] - ahead * c - aside * s, at[1] - ahead * s + aside * c


def depth_of(player: Player, at: XY) -> float:
    (ex, ey), (nx, ny) = player.seat.edge, player.seat.inwards
    return (at[0] - ex) * nx + (at[1] - ey) * ny


def aside_of(player: Player, at: XY) -> float:
    (ex, ey), (nx, ny) = player.seat.edge, player.seat.inwards
    return (at[0] - ex) * ny - (at[1] - ey) * nx
