"""Frames of a scene: keeps what rests, draws what moves."""

from __future__ import annotations

from collections.abc import Sequence

import cv2
import numpy as np

from hw_sim.scene import anatomy, optics
from hw_sim.scene.lens import Array
from hw_sim.scene.motion import Arm, Body, Cover, Thing
from hw_sim.scene.paint import F32
from hw_sim.scene.stage import (
    CELL,
    Piece,
    Rect,
    Shutter,
    View,
    arm_pieces,
    around,
    body_pieces,
    boxes,
    cells,
    meet,
    over,
    smear,
    thing_image,
    union,
)

_MARGIN = 8
"""Pixels drawn around a rectangle so that blur has its neighbours."""
Mover = Arm | Cover
Pose = tuple[float, float, float]


class Renderer:
    """Draws the mosaic of one frame after another; call with shutters in the order of time."""

    def __init__(self, view: View, things: Sequence[Thing], movers: Sequence[Mover], bodies: Sequence[Body]) -> None:
        self.view = view
        self._things, self._movers, self._bodies = things, movers, bodies
        self._psf = view.conditions.psf_px
        shape = (view.height, view.width)
        self._base = np.zeros(shape, np.float32)
        self._frame = np.zeros(shape, np.float32)
        self._start()

    def _start(self) -> None:
        view = self.view
        self._still = view.table.copy()
        """Table, things and arms that rest, with the arms' shadows."""
        self._crowd = np.zeros((4, view.height, view.width), np.float32)
        self._laid: dict[int, tuple[int, Rect, F32, float, tuple[float, float]] | None] = {}
        self._rested: dict[int, tuple[int | None, Rect | None]] = {}
        self._seated: dict[int, tuple[Pose, Rect | None]] = {}
        self._shaded: dict[int, tuple[Pose, F32]] = {}
        self._field: F32 | None = None
        self._all_dirty = True

    def look(self, view: View) -> None:
        """From now on through another view (the camera was knocked)."""
        self.view = view
        self._start()

    def focus(self, psf_px: float) -> None:
        """From now on with this blur."""
        if psf_px != self._psf:
            self._psf = psf_px
            self._all_dirty = True

    def frame(self, shutter: Shutter) -> F32:
        """(h, w) roots of electrons of the frame; valid until the next call."""
        dirty: list[Rect] = []
        moving = self._lay_things(shutter, dirty)
        resting, going = self._rest_movers(shutter, dirty)
        whole = (0, 0, self.view.width, self.view.height)
        if self._all_dirty:
            dirty = [whole]
        dirty = union(dirty)
        for rect in dirty:
            self._repaint(rect, shutter, resting)
        changed = self._seat_bodies(shutter, dirty)
        for rect in union(dirty):
            self._compose(self._base, rect, shutter, [], [])
        self._all_dirty = False
        np.copyto(self._frame, self._base)
        rects = [r for thing in moving if (r := self._reach(thing, shutter)) is not None]
        rects += [r for mover in going if (r := self._rested[id(mover)][1]) is not None]
        for rect in union(rects):
            self._compose(self._frame, rect, shutter, going, moving)
        if changed or self._field is None:
            self._field = self._shades()
        self._frame *= self._field
        return self._frame

    # -- what rests ---------------------------------------------------------------------------------

    def _lay_things(self, shutter: Shutter, dirty: list[Rect]) -> list[Thing]:
        """Bring up to date what lies still; the things that move."""
        moving, changed = [], []
        for thing in self._things:
            key = thing.still(shutter.start, shutter.end)
            old = self._laid.get(id(thing))
            if key is None:
                moving.append(thing)
            if key == (old[0] if old else -1):
                continue
            if old:
                changed.append(old[1])
            self._laid[id(thing)] = None
            where = thing.position(shutter.middle(0)) if key is not None else None
            drawn = thing_image(self.view, thing, where) if where is not None else None
            if key is not None and where is not None and drawn is not None:
                self._laid[id(thing)] = (key, drawn[0], drawn[1], where[2], where[:2])
                changed.append(drawn[0])
        dirty += [cells(rect, self.view.size, 5) or rect for rect in changed]
        return moving

    def _repaint(self, rect: Rect, shutter: Shutter, resting: Sequence[Mover]) -> None:
        """Draw in ``rect`` what rests."""
        x0, y0, x1, y1 = rect
        still = self._still[:, y0:y1, x0:x1]
        still[:] = self.view.table[:, y0:y1, x0:x1]
        laid = [item for item in self._laid.values() if item and meet(item[1], rect)]
        for item in sorted(laid, key=lambda item: item[3]):
            _put(still, rect, item[1], item[2], contact=item[3] < 1, origin=(x0, y0))
        self._draw_movers(still, rect, shutter, resting)

    def _seat_bodies(self, shutter: Shutter, dirty: list[Rect]) -> bool:
        changed: list[Rect] = []
        moved = False
        now = shutter.middle(shutter.rows / 2)
        for body in self._bodies:
            pose = body.pose(now)
            old = self._seated.get(id(body))
            if old and old[0] == pose:
                continue
            moved = True
            rect = around(boxes(self.view, body_pieces(body, pose), shadow=False))
            changed += [r for r in (rect, old[1] if old else None) if r]
            self._seated[id(body)] = (pose, rect)
        for rect in union(changed):
            x0, y0, x1, y1 = rect
            self._crowd[:, y0:y1, x0:x1] = 0
            for body in self._bodies:
                pose, box = self._seated[id(body)]
                parts = body_pieces(body, pose) if box and meet(box, rect) else []
                for piece, part in zip(parts, boxes(self.view, parts, shadow=False) if parts else [], strict=True):
                    if shared := meet(part, rect) if part else None:
                        a, b, c, d = shared
                        over(self._crowd[:, b:d, a:c], self.view.seen(piece, shared, 0))
        dirty += changed
        return moved

    def _rest_movers(self, shutter: Shutter, dirty: list[Rect]) -> tuple[list[Mover], list[Mover]]:
        resting, going = [], []
        for mover in self._movers:
            key = mover.still(shutter.start, shutter.end)
            old = self._rested.get(id(mover))
            if key is None:
                box = around(boxes(self.view, pieces(mover, self._spread(shutter)), shadow=True))
                going.append(mover)
                if old and old[0] is not None and old[1]:
                    dirty.append(old[1])
            else:
                box = old[1] if old and old[0] == key else None
                resting.append(mover)
                if not old or old[0] != key:
                    box = around(boxes(self.view, pieces(mover, self._spread(shutter)), shadow=True))
                    dirty += [r for r in (box, old[1] if old and old[0] is not None else None) if r]
            self._rested[id(mover)] = (key, box)
        return resting, going

    @staticmethod
    def _spread(shutter: Shutter) -> Array:
        return np.array([shutter.start, (shutter.start + shutter.end) / 2, shutter.end])

    def _reach(self, thing: Thing, shutter: Shutter) -> Rect | None:
        points = [p for t in self._spread(shutter) if (p := thing.position(float(t))) is not None]
        if not points:
            return None
        around = np.array([(x + i * 32, y + j * 32, z) for x, y, z, _ in points for i in (-1, 1) for j in (-1, 1)])
        return self.view.box(around, pad=8)

    # -- one rectangle --------------------------------------------------------------------------------

    def _compose(self, target: F32, rect: Rect, shutter: Shutter, movers: Sequence[Mover],
                 things: Sequence[Thing]) -> None:  # fmt: skip
        """Draw everything in ``rect`` into ``target``."""
        view = self.view
        wide = cells(rect, view.size, _MARGIN) or rect
        x0, y0, x1, y1 = wide
        image = self._still[:, y0:y1, x0:x1].copy()
        for thing in things:
            self._draw_thing(image, wide, thing, shutter)
        self._draw_movers(image, wide, shutter, movers)
        over(image, list(self._crowd[:, y0:y1, x0:x1]))
        image *= view.light[:, y0:y1, x0:x1]
        if self._psf > 0.3:
            size = (0, 0) if self._psf > 0.7 else (3, 3)
            for plane in image:
                cv2.GaussianBlur(plane, size, self._psf, dst=plane)
        a, b, c, d = rect
        target[b:d, a:c] = optics.mosaic(image[:, b - y0 : d - y0, a - x0 : c - x0], view.conditions)

    def _draw_movers(self, image: F32, wide: Rect, shutter: Shutter, movers: Sequence[Mover]) -> None:
        near = [m for m in movers if (box := self._rested[id(m)][1]) and meet(box, wide)]
        if not near:
            return
        first = wide[1] // CELL - 1
        times = shutter.middles(first, wide[3] // CELL + 1)
        drawn = [(m, pieces(m, times)) for m in near]
        image *= self._shadow(wide, first, [p for m, ps in drawn for p in ps[isinstance(m, Arm) :]])
        ends = times[len(times) // 2] + np.array([-0.5, 0.5]) * shutter.exposure
        for mover, parts in drawn:
            places = boxes(self.view, parts, shadow=False)
            for part, went, box in zip(parts, pieces(mover, ends), places, strict=True):
                if shared := meet(box, wide) if box else None:
                    self._draw_piece(image, (wide[0], wide[1], *shared), first, part, went)

    def _draw_thing(self, image: F32, wide: Rect, thing: Thing, shutter: Shutter) -> None:
        where = thing.position(shutter.middle(shutter.rows / 2))
        if where is None:
            return
        row = float(self.view.eye.pixels(np.array(where[:3]))[1])
        now = thing.position(shutter.middle(row))
        drawn = thing_image(self.view, thing, now) if now else None
        if drawn is None or now is None:
            return
        half = shutter.exposure / 2
        ends = [thing.position(shutter.middle(row) + s) for s in (-half, half)]
        rgba = drawn[1]
        if ends[0] and ends[1]:
            p = self.view.eye.pixels(np.array([ends[0][:3], ends[1][:3]]))
            planes = smear([rgba[..., k] for k in range(4)], float(p[1, 0] - p[0, 0]), float(p[1, 1] - p[0, 1]))
            rgba = np.stack(planes, axis=-1)
        _put(image, wide, drawn[0], rgba, contact=now[2] < 1, origin=(wide[0], wide[1]))

    def _shadow(self, wide: Rect, first: int, parts: Sequence[Piece]) -> F32:
        """(h, w) share of the light that reaches the felt past the pieces."""
        view, c = self.view, self.view.conditions
        x0, y0, x1, y1 = wide
        size = (x1 - x0, y1 - y0)
        stride = 1 if c.lamp_mm < 60 else 2
        lamp = np.zeros((size[1] // stride, size[0] // stride), np.float32)
        sky = np.zeros((size[1] // CELL, size[0] // CELL), np.float32)
        for part, box in zip(parts, boxes(view, parts, shadow=True), strict=True):
            z = float(part.za[0] + part.zb[0] * (part.sprite.u0 + part.sprite.u1) / 2)
            shared = meet(box, wide) if box else None
            if not shared:
                continue
            for layer, step, by_lamp, sigma in ((lamp, stride, True, c.lamp_mm * z / view.lamp[2]),
                                                (sky, CELL, False, max(8.0, 0.5 * z))):  # fmt: skip
                a, b, e, d = ((v - o) // step for v, o in zip(shared, (x0, y0, x0, y0), strict=True))
                there = layer[b:d, a:e]
                np.maximum(there, view.shade(part, shared, first, stride=step, lamp=by_lamp, sigma=sigma), out=there)
        full_lamp = cv2.resize(lamp, size, interpolation=cv2.INTER_LINEAR) if stride > 1 else lamp
        full_sky = cv2.resize(sky, size, interpolation=cv2.INTER_LINEAR)
        return np.asarray(1 - c.key * 0.95 * full_lamp - (1 - c.key) * 0.5 * full_sky, np.float32)

    def _draw_piece(self, image: F32, at: tuple[int, ...], first: int, part: Piece, went: Piece) -> None:
        """Lay a piece over the image, smeared as far as it ``went`` during the exposure.

        ``at``: the image's corner x, y and the piece's rectangle x0, y0, x1, y1, in the picture.
        """
        view = self.view
        left, top, x0, y0, x1, y1 = at
        shared = (x0, y0, x1, y1)
        p = view.eye.pixels(np.stack([went.x, went.y, went.za], axis=1))
        seen = smear(view.seen(part, shared, first), float(p[1, 0] - p[0, 0]), float(p[1, 1] - p[0, 1]))
        over(image[:, y0 - top : y1 - top, x0 - left : x1 - left], seen)

    def _shades(self) -> F32:
        """(h, w) root of the light that leaning people leave."""
        view = self.view
        left = np.ones((view.height // CELL, view.width // CELL), np.float32)
        for body in self._bodies:
            pose = self._seated[id(body)][0]
            known = self._shaded.get(id(body))
            if known is None or known[0] != pose:
                known = (pose, self._shade_of(body, pose))
                self._shaded[id(body)] = known
            left *= known[1]
        grown = cv2.resize(np.sqrt(left), (view.width, view.height), interpolation=cv2.INTER_LINEAR)
        return np.asarray(grown, np.float32)

    def _shade_of(self, body: Body, pose: Pose) -> F32:
        view, c = self.view, self.view.conditions
        whole = (0, 0, view.width, view.height)
        left = np.ones((view.height // CELL, view.width // CELL), np.float32)
        for piece in body_pieces(body, pose):
            z = float(piece.za[0])
            lamp = view.shade(piece, whole, 0, stride=CELL, lamp=True, sigma=max(8.0, c.lamp_mm * z / view.lamp[2]))
            sky = view.shade(piece, whole, 0, stride=CELL, lamp=False, sigma=0.45 * z)
            left *= (1 - 0.9 * c.key * lamp) * (1 - c.shade * (1 - c.key) * 2 * np.minimum(sky, 0.5))
        return left


def pieces(mover: Mover, times: Array) -> list[Piece]:
    """What is drawn of a mover, from below to above."""
    if isinstance(mover, Arm):
        return arm_pieces(mover, times)
    x, y, z, yaw = mover.track.at(times).T
    return [Piece(anatomy.tray_sprite(), x, y, yaw, z, np.zeros_like(x), False)]


def _put(image: F32, rect: Rect, at: Rect, rgba: F32, *, contact: bool, origin: tuple[int, int]) -> None:
    """Lay a picture (h, w, 4) of the rectangle ``at`` over what ``rect`` shows of ``image`` (3, h, w)."""
    shared = meet(at, rect)
    if not shared:
        return
    x0, y0, x1, y1 = shared
    part = slice(y0 - at[1], y1 - at[1]), slice(x0 - at[0], x1 - at[0])
    there = image[:, y0 - origin[1] : y1 - origin[1], x0 - origin[0] : x1 - origin[0]]
    if contact:
        soft = cv2.GaussianBlur(np.ascontiguousarray(rgba[..., 3]), (0, 0), 1.6)
        there *= 1 - 0.45 * soft[part]
    over(there, [rgba[(*part, k)] for k in range(4)])
