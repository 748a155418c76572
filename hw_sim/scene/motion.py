"""How things move: tracks of keys joined by minimum-jerk movements, arms that follow a finger tip, piles, bodies."""

from __future__ import annotations

import math
from bisect import bisect_right
from typing import Literal

import msgspec
import numpy as np

from hw_sim.scene.anatomy import FORE_MM, POSES, UPPER_MM, Cloth, hand
from hw_sim.scene.layout import XY, ChipKind
from hw_sim.scene.lens import Array

BODY_HZ = 30.0
LIFT_MM = 34.0
"""Height of the wrist over the finger tips."""


class Track:
    """Keys (seconds, values) in the order of time; in between each value moves with minimum jerk, outside it rests."""

    def __init__(self, first: tuple[float, ...]) -> None:
        self.times: list[float] = [0.0]
        self.values: list[tuple[float, ...]] = [first]
        self._frozen: tuple[Array, Array] | None = None

    @property
    def end(self) -> float:
        """When the last movement ends."""
        return self.times[-1]

    @property
    def last(self) -> tuple[float, ...]:
        """Where it ends."""
        return self.values[-1]

    def key(self, at: float, *values: float) -> None:
        """Be there then; ``at`` not before the last key."""
        if at < self.times[-1]:
            raise ValueError(f"a key at {at} s after one at {self.times[-1]} s; give keys in the order of time")
        self._frozen = None
        self.times.append(at)
        self.values.append(tuple(values))

    def hold(self, until: float) -> None:
        """Rest where it is until then."""
        if until > self.times[-1]:
            self.key(until, *self.last)

    def at(self, t: Array) -> Array:
        """Values (n, channels) at times (n,)."""
        if self._frozen is None:
            self._frozen = np.array(self.times), np.array(self.values)
        times, values = self._frozen
        i = np.clip(np.searchsorted(times, t, side="right") - 1, 0, len(times) - 1)
        j = np.minimum(i + 1, len(times) - 1)
        s = np.clip((t - times[i]) / np.maximum(times[j] - times[i], 1e-9), 0, 1)
        s = np.where(i == j, 0, s)
        s = s * s * s * (10 + s * (6 * s - 15))
        return np.asarray(values[i] + (values[j] - values[i]) * s[:, None], np.float64)

    def still(self, a: float, b: float) -> int | None:
        """The number of the key it rests at through ``a`` to ``b``, or None while it moves."""
        i = max(bisect_right(self.times, a) - 1, 0)
        first = i
        while i + 1 < len(self.times) and self.times[i] < b:
            if self.values[i + 1] != self.values[i]:
                return None
            i += 1
        while first > 0 and self.values[first - 1] == self.values[first]:
            first -= 1
        return first


class Limbs(msgspec.Struct, frozen=True):
    """Where an arm's joints are, for n instants: (n,) arrays of mm and radians."""

    x: Array
    y: Array
    z: Array
    yaw: Array
    wrist: Array
    elbow: Array
    fore_yaw: Array
    upper_yaw: Array


class Arm:
    """An arm led by its foremost finger tip.

    Three tracks move apart from each other: ``path`` (x, y of the tip, yaw of the hand), ``lift`` (z of the tip, pose
    of the hand) and ``root`` (x, y of the shoulder).
    """

    def __init__(self, seat: str, shoulder: XY, *, right: bool, skin: int, cloth: Cloth,
                 rest: tuple[float, float, float, float, float]) -> None:  # fmt: skip
        self.seat = seat
        self.shoulder_z, self.elbow_z = 300.0, 85.0
        self.right, self.skin, self.cloth = right, skin, cloth
        x, y, z, yaw, pose = rest
        self.path, self.lift, self.root = Track((x, y, yaw)), Track((z, pose)), Track(shoulder)

    @property
    def end(self) -> float:
        """When the last movement of the hand ends."""
        return max(self.path.end, self.lift.end)

    def still(self, a: float, b: float) -> int | None:
        """A number for how it rests through the span, None while it moves."""
        keys = (self.path.still(a, b), self.lift.still(a, b), self.root.still(a, b))
        if None in keys:
            return None
        return (keys[0] or 0) + 100_000 * ((keys[1] or 0) + 100_000 * (keys[2] or 0))

    def pose_step(self, t: float) -> int:
        """The step of the hand's pose (see `anatomy.hand`)."""
        return round(float(self.lift.at(np.array([t]))[0, 1]) * POSES)

    def limbs(self, t: Array) -> Limbs:
        """Joints at times ``t`` (n,) in seconds; the hand's form is that of the middle one."""
        path, z, root = self.path.at(t), self.lift.at(t)[:, 0], self.root.at(t)
        x, y, yaw = path[:, 0], path[:, 1], path[:, 2]
        length = hand(self.pose_step(float(t[len(t) // 2]))).length
        wrist = np.stack([x - length * np.cos(yaw), y - length * np.sin(yaw), z + LIFT_MM], axis=1)
        sx, sy = root[:, 0], root[:, 1]
        dx, dy = wrist[:, 0] - sx, wrist[:, 1] - sy
        reach = np.maximum(np.hypot(dx, dy), 1.0)
        # Fold or stretch in plan; a reach beyond both bones pulls the shoulder along.
        short = np.minimum(reach, (FORE_MM + UPPER_MM) * 0.985)
        cosine = np.clip((short**2 + FORE_MM**2 - UPPER_MM**2) / (2 * short * FORE_MM), -1, 1)
        # The elbow goes outwards; close to the body the upper arm hangs down instead of folding further.
        bend = np.minimum(np.arccos(cosine), 0.75) * (1 if self.right else -1)
        fore = np.arctan2(dy, dx) + bend
        elbow = np.stack([wrist[:, 0] - FORE_MM * np.cos(fore), wrist[:, 1] - FORE_MM * np.sin(fore),
                          np.full_like(x, self.elbow_z)], axis=1)  # fmt: skip
        upper = np.arctan2(elbow[:, 1] - sy, elbow[:, 0] - sx)
        return Limbs(x, y, z, yaw, wrist, elbow, fore, upper)

    def tips(self, t: Array) -> Array:
        """(n, 5, 3) finger tips and thumb tip in mm at times (n,)."""
        path, lift = self.path.at(t), self.lift.at(t)
        side = 1.0 if self.right else -1.0
        out = np.empty((len(t), 5, 3))
        steps = np.round(lift[:, 1] * POSES)
        for step in np.unique(steps):
            rows = steps == step
            form = hand(int(step))
            for k, (u, w) in enumerate(form.tips):
                c, s = np.cos(path[rows, 2]), np.sin(path[rows, 2])
                across = w * side
                out[rows, k, 0] = path[rows, 0] + u * c + across * s
                out[rows, k, 1] = path[rows, 1] + u * s - across * c
                out[rows, k, 2] = lift[rows, 0] + LIFT_MM * -u / form.length
        return out


class Cover:
    """A tray or a magazine that somebody holds or lays over the table; channels: x, y, z, yaw."""

    def __init__(self, seat: str, first: tuple[float, float, float, float]) -> None:
        self.seat, self.track = seat, Track(first)

    def still(self, a: float, b: float) -> int | None:
        """As of an `Arm`."""
        return self.track.still(a, b)


class Held(msgspec.Struct, frozen=True):
    """Carried by an arm: behind (-) or before the tip, to the right, and over the tip's height, mm."""

    arm: Arm
    ahead: float
    aside: float
    over: float


class Rest(msgspec.Struct, frozen=True):
    """Lies at a place; z of its underside."""

    x: float
    y: float
    z: float = 0.0
    turn: float = 0.0


Where = Held | Rest | Track | None


class Thing:
    """A pile of chips, or cards: where it is from which instant on.  None: nowhere."""

    def __init__(self, kind: Literal["chips", "cards"], chips: tuple[ChipKind, ...], lean: XY = (0.0, 0.0),
                 faces: tuple[tuple[str, int], ...] = ()) -> None:  # fmt: skip
        self.kind, self.chips, self.lean, self.faces = kind, chips, lean, faces
        self.turns: tuple[int, ...] = ()
        self.shifts: tuple[XY, ...] = ()
        self.times: list[float] = []
        self.wheres: list[Where] = []

    def put(self, at: float, where: Where) -> None:
        """From ``at`` on it is there."""
        if self.times and at < self.times[-1]:
            raise ValueError(f"a place at {at} s after one at {self.times[-1]} s; give places in the order of time")
        self.times.append(at)
        self.wheres.append(where)

    def index(self, t: float) -> int:
        """The number of the place it is at, -1 before the first."""
        return bisect_right(self.times, t) - 1

    def position(self, t: float) -> tuple[float, float, float, float] | None:
        """x, y, z of its underside and its turn; None while nowhere."""
        i = self.index(t)
        where = self.wheres[i] if i >= 0 else None
        if where is None:
            return None
        if isinstance(where, Rest):
            return where.x, where.y, where.z, where.turn
        if isinstance(where, Track):
            x, y, z, turn = where.at(np.array([t]))[0]
            return float(x), float(y), float(z), float(turn)
        now = np.array([t])
        x, y, yaw = (float(c) for c in where.arm.path.at(now)[0])
        z = float(where.arm.lift.at(now)[0, 0])
        c, s = math.cos(yaw), math.sin(yaw)
        side = where.aside
        return (
            x + where.ahead * c + side * s,
            y + where.ahead * s - side * c,
            max(0.0, z + where.over),
            math.degrees(yaw),
        )

    def still(self, a: float, b: float) -> int | None:
        """The number of the place it rests at (or -1: nowhere) through the span, None while it moves."""
        i, j = self.index(a), self.index(b)
        if i != j:
            return None
        where = self.wheres[i] if i >= 0 else None
        if where is None:
            return -1
        if isinstance(where, Rest):
            return i
        key = where.still(a, b) if isinstance(where, Track) else where.arm.still(a, b)
        return None if key is None else i + 1000 * (key + 1)


class Body:
    """Trunk and head of one who sits; channels: lean over the table (mm), aside (mm), turn of the head (radians)."""

    def __init__(self, seat: str, at: XY, facing: XY, *, skin: int, hair: int, cloth: Cloth) -> None:
        self.seat, self.base, self.facing = seat, at, facing
        self.skin, self.hair, self.cloth = skin, hair, cloth
        self.track = Track((0.0, 0.0, 0.0))
        # They do not all step at the same frame.
        self._phase = (at[0] * 0.618 + at[1] * 0.377) % 1.0

    def pose(self, t: float) -> tuple[float, float, float]:
        """Lean, aside and turn, in steps of half a pixel and a thirtieth of a second: to sit still costs nothing."""
        step = math.floor(t * BODY_HZ + self._phase) / BODY_HZ
        lean, aside, turn = self.track.at(np.array([max(0.0, step)]))[0]
        return round(lean / 1.2) * 1.2, round(aside / 1.2) * 1.2, round(turn * 60) / 60

    def places(self, pose: tuple[float, float, float]) -> tuple[tuple[float, float, float, float], ...]:
        """(x, y, z, yaw) of the trunk's neck and of the crown of the head."""
        lean, aside, turn = pose
        fx, fy = self.facing
        yaw = math.atan2(fy, fx)

        def at(ahead: float, z: float, by: float) -> tuple[float, float, float, float]:
            return self.base[0] + ahead * fx + aside * fy, self.base[1] + ahead * fy - aside * fx, z, by

        drop = max(0.0, lean) * 0.28
        return at(lean * 0.6, 310 - drop * 0.6, yaw), at(55 + lean, 500 - drop, yaw + turn)
