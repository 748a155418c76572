"""What goes wrong with camera and light, planned from the seed."""

from __future__ import annotations

import math
from random import Random

import cv2
import msgspec
import numpy as np

from hw_sim.scene.conditions import Conditions
from hw_sim.scene.layout import LINE_MM, XY, Layout
from hw_sim.scene.lens import Eye
from hw_sim.scene.motion import Cover
from hw_sim.scene.paint import F32
from hw_sim.scene.reckon import inside
from hw_sim.scene.truth import Disturbance

S = 1_000_000_000
TRAY_MM, TRAY_RADIUS_MM = 110.0, 180.0
"""Height at which a tray is held over the felt, and its radius."""
RECOVERS_S = 0.9
"""Time constant with which the automatic exposure makes up for a step of light, by half."""


class Mishaps:
    """The plan; times in seconds."""

    def __init__(self) -> None:
        self.eyes: list[Eye] = []
        self.knock_times: list[float] = []
        self.steps: list[tuple[float, float]] = []
        self.covers: list[Cover] = []
        self.defocus: tuple[float, float] | None = None
        self.dirt: tuple[float, F32] | None = None
        self.drift_phase = 0.0
        self.drop_set: set[int] = set()
        self.late_by: dict[int, int] = {}
        self.truncate_at: dict[int, float] = {}
        self.disturbances: tuple[Disturbance, ...] = ()

    @property
    def dropped(self) -> tuple[int, ...]:
        """Sequence numbers that never come."""
        return tuple(sorted(self.drop_set))

    @property
    def late(self) -> tuple[int, ...]:
        """Sequence numbers that come late."""
        return tuple(sorted(self.late_by))

    @property
    def truncated(self) -> tuple[int, ...]:
        """Sequence numbers whose JPEG is cut."""
        return tuple(sorted(self.truncate_at))

    def knocks_by(self, now: float) -> int:
        """How often the camera has been knocked by then."""
        return sum(t <= now for t in self.knock_times)

    def blur(self, now: float, c: Conditions) -> float:
        """Blur of the lens in pixels."""
        if self.defocus and now >= self.defocus[0]:
            return max(c.psf_px, self.defocus[1])
        return c.psf_px

    def light(self, now: float, c: Conditions) -> float:
        """Light and gain, relative to the beginning."""
        gain = 1 + c.drift * math.sin(now / 4.7 + self.drift_phase)
        for at, factor in self.steps:
            if now >= at:
                makes_up = factor ** (-0.5 * (1 - math.exp(-(now - at) / RECOVERS_S)))
                gain *= factor * makes_up
        return gain

    def soil(self, roots: F32, now: float) -> F32:
        """The mosaic behind a lens that may be dirty."""
        if self.dirt and now >= self.dirt[0]:
            roots *= self.dirt[1]
        return roots


def plan(c: Conditions, layout: Layout, eye: Eye, rng: Random, *, seconds: float, fps: float) -> Mishaps:
    """What the conditions ask for, at instants from the seed."""
    m = Mishaps()
    m.eyes, m.drift_phase = [eye], rng.uniform(0, 6.28)
    told: list[Disturbance] = []
    for k in range(c.steps):
        at, factor = seconds * (k + rng.uniform(0.3, 0.7)) / c.steps, rng.choice((0.55, 0.7, 1.35, 1.6))
        m.steps.append((at, factor))
        told.append(Disturbance(kind="lightstep", from_ns=round(at * S), amount=round(factor * 1000)))
    for k in range(c.knocks):
        at = seconds * (k + rng.uniform(0.35, 0.65)) / c.knocks
        moved, shift = _knock(m.eyes[-1], rng)
        m.eyes.append(moved)
        m.knock_times.append(at)
        told.append(Disturbance(kind="knocked", from_ns=round(at * S), amount=round(shift * 1000)))
    told += [
        _cover(m, layout, eye, rng, seconds * (k + rng.uniform(0.2, 0.5)) / c.occlusions) for k in range(c.occlusions)
    ]
    if c.defocus_px:
        at = seconds * rng.uniform(0.35, 0.5)
        m.defocus = (at, c.defocus_px)
        told.append(Disturbance(kind="defocus", from_ns=round(at * S), amount=round(c.defocus_px * 1000)))
    if c.dirt:
        at = seconds * rng.uniform(0.35, 0.5)
        m.dirt = (at, _dirt(c.dirt, layout, eye, rng))
        told.append(Disturbance(kind="dirt", from_ns=round(at * S)))
    if c.flicker:
        told.append(Disturbance(kind="flicker", from_ns=0, amount=round(c.flicker * 1000)))
    last = math.ceil(seconds * fps)
    for number in range(10, last):
        if rng.random() < c.drop:
            m.drop_set.update(range(number, min(number + rng.choice((1, 1, 1, 2, 5)), last)))
        elif rng.random() < c.late:
            m.late_by[number] = rng.randrange(20, 70) * 1_000_000
        elif rng.random() < c.truncate:
            m.truncate_at[number] = rng.uniform(0.02, 0.97)
    m.disturbances = tuple(sorted(told, key=lambda d: d.from_ns))
    return m


def _knock(eye: Eye, rng: Random) -> tuple[Eye, float]:
    """The eye turned by one to a dozen pixels, and the mean shift of the felt in pixels."""
    pixels = rng.uniform(1.5, 12.0)
    angle, part = rng.uniform(0, 2 * math.pi), pixels / eye.lens.f
    tilt = (eye.tilt[0] + part * math.cos(angle), eye.tilt[1] + part * math.sin(angle),
            eye.tilt[2] + rng.uniform(-0.3, 0.3) * part)  # fmt: skip
    moved = msgspec.structs.replace(eye, tilt=tilt)
    grid = np.stack(np.meshgrid(np.linspace(-900, 900, 9), np.linspace(-400, 400, 5), [0.0]), axis=-1).reshape(-1, 3)
    shift = eye.pixels(grid) - moved.pixels(grid)
    return moved, float(np.hypot(shift[:, 0], shift[:, 1]).mean())


def _cover(m: Mishaps, layout: Layout, eye: Eye, rng: Random, at: float) -> Disturbance:
    """Somebody holds a tray over a seat's bet zone for some seconds."""
    seat = rng.choice(layout.seats)
    away, over = seat.place(-520.0, 60.0), seat.place(LINE_MM + 70.0, rng.uniform(-12, 12))
    cover = Cover(seat.name, (*away, 190.0, 0.0))
    cover.track.hold(at - 0.5)
    cover.track.key(at, *over, TRAY_MM, 0.7)
    gone = at + rng.uniform(2.5, 5.0)
    cover.track.hold(gone)
    cover.track.key(gone + 0.6, *away, 190.0, 0.0)
    m.covers.append(cover)
    amount = round(1000 * _share(layout, eye, seat.name, over))
    return Disturbance(kind="occluded", from_ns=round(at * S), to_ns=round(gone * S), seat=seat.name, amount=amount)


def _share(layout: Layout, eye: Eye, seat: str, tray: XY) -> float:
    """How much of a seat's bet zone the tray at ``tray`` hides from the camera."""
    outline = layout.zone("bet", seat).outline
    corners = np.array(outline)
    (x0, y0), (x1, y1) = corners.min(axis=0), corners.max(axis=0)
    x, y = np.meshgrid(np.arange(x0, x1, 5.0), np.arange(y0, y1, 5.0))
    within = inside(outline, x, y)
    # The ray to each place of the felt, where it passes the tray's height.
    part = TRAY_MM / eye.at[2]
    px, py = x + (eye.at[0] - x) * part, y + (eye.at[1] - y) * part
    hidden = np.hypot(px - tray[0], py - tray[1]) < TRAY_RADIUS_MM
    return float((hidden & within).sum() / max(1, within.sum()))


def _dirt(count: int, layout: Layout, eye: Eye, rng: Random) -> F32:
    """(h, w) root of the light that passes: soft smears, the first over a seat's bet zone."""
    lens = eye.lens
    mask = np.ones((lens.height, lens.width), np.float32)
    for k in range(count):
        seat = rng.choice(layout.seats)
        x, y = eye.pixels(np.array([*seat.place(LINE_MM + 70), 0.0])) if k == 0 else (
            rng.uniform(0.2, 0.8) * lens.width, rng.uniform(0.2, 0.8) * lens.height)  # fmt: skip
        spot = np.zeros_like(mask)
        size = (rng.randint(18, 40), rng.randint(14, 30))
        cv2.ellipse(spot, (round(float(x)), round(float(y))), size, rng.uniform(0, 180), 0, 360, 1.0, -1)
        soft = np.asarray(cv2.GaussianBlur(spot, (0, 0), rng.uniform(7, 14)), np.float32)
        mask *= 1 - rng.uniform(0.35, 0.7) * soft
    return np.asarray(np.sqrt(mask), np.float32)
