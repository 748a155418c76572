"""Reckons the truth's hand steps from the movements themselves, at a millisecond and then to the nanosecond."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Literal

import msgspec
import numpy as np
import numpy.typing as npt

from hw_sim.scene.layout import XY, Layout
from hw_sim.scene.lens import Array, Eye
from hw_sim.scene.motion import Arm, Held, Thing
from hw_sim.scene.truth import FORWARD_MM, HandStep, Landing

S = 1_000_000_000
REST_MM_S = 12.0
"""A foremost point slower than that is not moving forward."""
_STEP = 0.001
Step = Literal["enters", "advances", "leaves"]


class Foremost(msgspec.Struct, frozen=True):
    """For n instants: how far the foremost point is over the line, plumb and as the camera shows it, and where."""

    over: Array
    shown: Array
    point: Array


def _held_by(arm: Arm, things: Sequence[Thing]) -> list[tuple[Thing, float, float, Held]]:
    found = []
    for thing in things:
        for i, where in enumerate(thing.wheres):
            if isinstance(where, Held) and where.arm is arm:
                until = thing.times[i + 1] if i + 1 < len(thing.times) else np.inf
                found.append((thing, thing.times[i], until, where))
    return found


def foremost(arm: Arm, things: Sequence[Thing], layout: Layout, eye: Eye, t: Array) -> Foremost:
    """The foremost point of a player's hand with what it holds, at times ``t`` (n,)."""
    points = [arm.tips(t)]
    for thing, since, until, held in _held_by(arm, things):
        during = (t >= since) & (t < until)
        if not during.any():
            continue
        path, z = arm.path.at(t), arm.lift.at(t)[:, 0]
        c, s = np.cos(path[:, 2]), np.sin(path[:, 2])
        reach = 19.5 if thing.kind == "chips" else 44.0
        front = held.ahead + reach
        x = path[:, 0] + front * c + held.aside * s
        y = path[:, 1] + front * s - held.aside * c
        high = np.maximum(z + held.over, 0) + 3.3 * len(thing.chips)
        there = np.stack([x, y, high], axis=1)
        there[~during] = points[0][~during, 0]
        points.append(there[:, None, :])
    everything = np.concatenate(points, axis=1)
    depth = layout.depth(everything[..., 0], everything[..., 1])
    seen = eye.seen_on_felt(everything)
    best = np.argmax(depth, axis=1)
    rows = np.arange(len(t))
    return Foremost(over=depth[rows, best], shown=layout.depth(seen[..., 0], seen[..., 1]).max(axis=1),
                    point=everything[rows, best])  # fmt: skip


def _busy(arm: Arm, seconds: float) -> list[tuple[float, float]]:
    """Spans in which the arm moves, a little wider."""
    spans: list[tuple[float, float]] = []
    for track in (arm.path, arm.lift, arm.root):
        for i in range(1, len(track.times)):
            if track.values[i] != track.values[i - 1]:
                spans += [(track.times[i - 1] - 0.01, track.times[i] + 0.01)]
    merged: list[tuple[float, float]] = []
    for a, b in sorted(spans):
        if merged and a <= merged[-1][1] + 2.5:
            merged[-1] = (merged[-1][0], max(merged[-1][1], b))
        else:
            merged.append((max(0.0, a), min(seconds, b)))
    return merged


def _instant(f: Callable[[float], float], a: float, b: float) -> int:
    """When ``f`` changes sign between ``a`` and ``b``, in ns, to a ten-thousandth of the span."""
    low = f(a) > 0
    for _ in range(14):
        m = (a + b) / 2
        if (f(m) > 0) == low:
            a = m
        else:
            b = m
    return round((a + b) / 2 * S)


def player_steps(arm: Arm, things: Sequence[Thing], layout: Layout, eye: Eye, seconds: float) -> list[HandStep]:
    """Steps of a player's arm at its own seat's line."""
    out: list[HandStep] = []
    before: tuple[float, float] | None = None
    """End of the last forward movement and its depth."""
    for a, b in _busy(arm, seconds):
        t = np.arange(a, b, _STEP)
        f = foremost(arm, things, layout, eye, t)
        edges = np.flatnonzero(np.diff((f.over > 0).astype(np.int8)))
        deepest = 0
        for i in edges:
            inwards = bool(f.over[i + 1] > 0)
            at = _instant(lambda s: float(foremost(arm, things, layout, eye, np.array([s])).over[0]), t[i], t[i + 1])
            seen = _seen(f.shown, t, int(i), inwards)
            if not inwards:
                out.append(_step(arm, "leaves", at, seen, f.point[i], depth=deepest))
                continue
            retreat, pause = 0, 0
            if before is not None and at / S - before[0] < 5.0:
                rear = f.over[(t > before[0]) & (t <= t[i])]
                retreat = round(before[1] - min(0.0, float(rear.min()) if len(rear) else 0.0))
                pause = round((at / S - before[0]) * 1000)
            ends = edges[edges > i]
            stop = int(ends[0]) if len(ends) else len(t) - 1
            deepest = round(float(f.over[i + 1 : stop + 1].max()))
            out.append(_step(arm, "enters", at, seen, f.point[i], retreat=retreat, pause=pause, depth=deepest))
            advances, before = _strokes(arm, t, f, int(i) + 1, stop)
            out += [msgspec.structs.replace(step, depth_mm=deepest) for step in advances]
    return out


def _seen(shown: Array, t: Array, near: int, inwards: bool) -> int:
    """When the point as the camera shows it crosses the line, nearest to index ``near``; 0 if it does not."""
    over = shown > 0
    flips = np.flatnonzero(over[1:] != over[:-1])
    flips = flips[over[flips + 1] == inwards]
    if not len(flips):
        return 0
    i = int(flips[np.argmin(np.abs(flips - near))])
    share = shown[i] / (shown[i] - shown[i + 1])
    return round((t[i] + share * _STEP) * S) if abs(i - near) < 600 else 0


def _strokes(arm: Arm, t: Array, f: Foremost, start: int, stop: int) -> tuple[list[HandStep], tuple[float, float]]:
    """Further forward movements over the line between two indices; the end of the last one and its depth."""
    out: list[HandStep] = []
    peak, peak_i, rear, forward = f.over[start], start, f.over[start], True
    for i in range(start, stop + 1):
        d = f.over[i]
        speed = (f.over[min(i + 2, stop)] - f.over[max(i - 2, start)]) / (4 * _STEP)
        if forward:
            if speed > REST_MM_S:
                peak, peak_i = d, i
            elif i - peak_i > 12:
                forward, rear = False, d
            continue
        rear = min(rear, d)
        if d - rear >= FORWARD_MM and speed > REST_MM_S:
            pause = round((t[i] - t[peak_i]) * 1000)
            out.append(_step(arm, "advances", round(t[i] * S), 0, f.point[i], retreat=max(0, round(peak - rear)),
                             pause=pause))  # fmt: skip
            peak, peak_i, forward = d, i, True
    return out, (float(t[peak_i]), float(peak))


def _step(arm: Arm, step: Step, at: int, seen: int, point: Array, *, retreat: int = 0, pause: int = 0,
          depth: int = 0) -> HandStep:  # fmt: skip
    return HandStep(
        at_ns=at,
        seat=arm.seat,
        step=step,
        by="player",
        retreat_mm=retreat,
        pause_ms=pause,
        x_mm=round(float(point[0])),
        y_mm=round(float(point[1])),
        z_mm=round(float(point[2])),
        seen_ns=seen,
        depth_mm=depth,
    )


# -- the dealer -----------------------------------------------------------------------------------


def outline(arm: Arm, t: Array) -> Array:
    """(n, k, 3) points that cover hand and forearm at times (n,)."""
    tips, limbs = arm.tips(t), arm.limbs(t)
    parts = [tips]
    palm = np.stack([limbs.x, limbs.y, limbs.z], axis=1)
    for a, b, half, count in ((palm, limbs.wrist, 34.0, 7), (limbs.wrist, limbs.elbow, 36.0, 12)):
        along = b - a
        across = np.stack([-along[:, 1], along[:, 0], np.zeros(len(t))], axis=1)
        across /= np.maximum(np.hypot(across[:, 0], across[:, 1]), 1e-6)[:, None]
        for k in range(1, count + 1):
            middle = a + along * (k / count)
            parts += [(middle + side * half * across)[:, None, :] for side in (-1, 0, 1)]
    return np.concatenate(parts, axis=1)


def inside(polygon: Sequence[XY], x: Array, y: Array) -> npt.NDArray[np.bool_]:
    """Which places lie in a polygon."""
    within = np.zeros(x.shape, bool)
    previous = polygon[-1]
    for corner in polygon:
        (ax, ay), (bx, by) = previous, corner
        if ay != by:
            within ^= ((ay > y) != (by > y)) & (x < (bx - ax) * (y - ay) / (by - ay) + ax)
        previous = corner
    return within


def visitor_steps(arm: Arm, layout: Layout, seconds: float, by: str) -> list[HandStep]:
    """Visits of an arm to bet zones of seats that are not its own."""
    out: list[HandStep] = []
    zones = [z for z in layout.zones if z.kind == "bet" and z.seat != arm.seat]
    for a, b in _busy(arm, seconds):
        t = np.arange(a, b, 4 * _STEP)
        points = outline(arm, t)
        for zone in zones:
            there = _over(points, zone.outline)
            any_there = np.asarray(there.any(axis=1))
            for i in np.flatnonzero(np.diff(any_there.astype(np.int8))):
                comes = bool(any_there[i + 1])
                j = i + 1 if comes else i
                p = points[j, int(np.argmax(there[j]))]
                at = _instant(partial(_covers, arm, zone.outline), t[i], t[i + 1])
                out.append(
                    HandStep(
                        at_ns=at,
                        seat=zone.seat,
                        step="enters" if comes else "leaves",
                        by="dealer" if by == "dealer" else "player",
                        x_mm=round(float(p[0])),
                        y_mm=round(float(p[1])),
                        z_mm=round(float(p[2])),
                    )
                )
    return out


def _covers(arm: Arm, polygon: Sequence[XY], at: float) -> float:
    """1 if a part of the arm is over the polygon at that instant, -1 if not."""
    return 1.0 if _over(outline(arm, np.array([at])), polygon).any() else -1.0


def _over(points: Array, polygon: Sequence[XY]) -> npt.NDArray[np.bool_]:
    """(n, k) which of the points (n, k, 3) are over a polygon; only those near it are looked at closely."""
    low, high = np.array(polygon).min(axis=0), np.array(polygon).max(axis=0)
    there = ((points[..., :2] >= low) & (points[..., :2] <= high)).all(axis=-1)
    near = np.flatnonzero(there.any(axis=1))
    if len(near):
        there[near] &= inside(polygon, points[near, :, 0], points[near, :, 1])
    return np.asarray(there)


def uncovered(landing: Landing, arms: Sequence[Arm], eye: Eye, seconds: float) -> int:
    """When, after it landed, no arm hides a pile from the camera any more; its landing if none did."""
    t = np.arange(landing.at_ns / S, min(seconds, landing.at_ns / S + 5.0), 0.008)
    last = -1
    for arm in arms:
        seen = eye.seen_on_felt(outline(arm, t))
        near = np.hypot(seen[..., 0] - landing.x_mm, seen[..., 1] - landing.y_mm).min(axis=1) < 30.0
        hidden = np.flatnonzero(near)
        # Only the visit that hides it now counts, not one that comes later.
        for i in hidden:
            if i <= last + 12:
                last = max(last, int(i))
    return landing.at_ns if last < 0 else round(float(t[last]) * S)
