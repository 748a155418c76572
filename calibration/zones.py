"""What was drawn, made into zones that never overlap: snapped together, cut where they overlap, checked.

Where two zones overlap the part goes to the one that matters more (board, tray, bet, pot, then stack); between two of
one kind each place goes to the nearer zone's middle.  The betting line is kept as the part of the outline that it was.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

import msgspec
import numpy as np
from shapely import MultiPolygon, Polygon, make_valid
from shapely import Point as Spot
from shapely.geometry import LineString

from calibration.steps import StepError
from tabled.model.calibration import Point, Zone, ZoneKind, Zones

SNAP_MM = 6.0
"""Corners of different zones nearer than this are meant to be one."""
GAP_MM = 0.5
"""Left between zones that were cut apart, so that rounding never makes them overlap again."""
TOUCH_MM2 = 0.5
"""Zones may share so little: rounding of a common edge."""
MIN_AREA_MM2 = 2_000.0
_ON_LINE_MM = 1.5
_RANK: Mapping[ZoneKind, int] = {"board": 0, "tray": 1, "bet": 2, "pot": 3, "stack": 4}
_FAR = 20_000.0


class Drawn(msgspec.Struct, frozen=True, kw_only=True):
    """Zones that fit together, and what was changed to make them so, in sentences."""

    zones: Zones
    changes: tuple[str, ...] = ()


def partition(drawn: Zones) -> Drawn:
    """Zones that do not overlap; raises `StepError` with code "crossed", "small", "line", "dealer" or "overlap".

    The message names the zone.  A drawing in which nothing overlaps is returned as it is, to the µm.
    """
    if not drawn.zones:
        raise StepError("no zone was drawn; begin with the default layout", code="small")
    shapes = {i: _shape(zone) for i, zone in enumerate(drawn.zones)}
    whole = all(_polygon(zone.outline).is_valid for zone in drawn.zones)
    if whole and all(shapes[a].intersection(shapes[b]).area <= TOUCH_MM2 for a, b in combinations(shapes, 2)):
        _judge(drawn.zones, drawn.dealer)
        return Drawn(zones=drawn)
    snapped = _snapped(drawn.zones)
    shapes = {i: _shape(zone) for i, zone in enumerate(snapped)}
    changes: list[str] = []
    order = sorted(shapes, key=lambda i: (_RANK[drawn.zones[i].kind], i))
    for a, b in combinations(order, 2):
        both = shapes[a].intersection(shapes[b]).area
        if both <= TOUCH_MM2:
            continue
        changes.append(
            f"{name(drawn.zones[a])} and {name(drawn.zones[b])} overlapped by {both / 100:.0f} cm²: cut apart"
        )
        if _RANK[drawn.zones[a].kind] == _RANK[drawn.zones[b].kind]:
            shapes[a], shapes[b] = _halved(shapes[a], shapes[b])
        else:
            shapes[b] = shapes[b].difference(shapes[a].buffer(GAP_MM, join_style="mitre"))
    made = tuple(_zone(zone, shapes[i]) for i, zone in enumerate(snapped))
    _judge(made, drawn.dealer)
    return Drawn(zones=Zones(zones=made, dealer=drawn.dealer), changes=tuple(changes))


def mirrored(drawn: Zones, seats: Sequence[str], axis_mm: float, *, to_right: bool = True) -> Zones:
    """The zones of the seats on one side of x = ``axis_mm`` mirrored on the other: the last seat is the first's image.

    ``seats`` in order; the one in the middle of an odd number stays as it is.  Raises `StepError` for a seat that has
    no zone to mirror.
    """
    pairs = dict(zip(seats, reversed(seats), strict=True))
    half = len(seats) // 2
    left, right = set(seats[:half]), set(seats[len(seats) - half :])
    source, target = (left, right) if to_right else (right, left)
    kept = [z for z in drawn.zones if z.seat not in target]
    twins = [z for z in drawn.zones if z.seat in source]
    if missing := sorted(source - {z.seat for z in twins if z.kind == "bet"}):
        raise StepError(f"seat {missing[0]} has no bet zone to mirror: draw it first", code="mirror")

    def over(points: tuple[Point, ...]) -> tuple[Point, ...]:
        return tuple(Point(round(2000 * axis_mm) - p.x_um, p.y_um) for p in reversed(points))

    made = [Zone(kind=z.kind, seat=pairs[z.seat], outline=over(z.outline), line=over(z.line)) for z in twins]
    order = {seat: i for i, seat in enumerate(seats)}
    whole = sorted([*kept, *made], key=lambda z: (order.get(z.seat, len(order)), _RANK[z.kind]))
    return Zones(zones=tuple(whole), dealer=drawn.dealer)


def overlaps(zones: Zones) -> list[tuple[str, str, float]]:
    """Names of zones that overlap, with the mm² they share: [] for a good file."""
    shapes = [(name(z), _polygon(z.outline)) for z in zones.zones]
    found = []
    for (a, one), (b, other) in combinations(shapes, 2):
        if (area := one.intersection(other).area) > TOUCH_MM2:
            found.append((a, b, float(area)))
    return found


def from_json(raw: bytes | str) -> Zones:
    """Zones as the page sends them and a draft file has them; raises `StepError`."""
    try:
        tree: Any = msgspec.json.decode(raw)
        if isinstance(tree, dict) and "body" in tree:  # a zones.json of another table
            tree = tree["body"]
        return msgspec.convert(tree, Zones, strict=True)
    except (msgspec.DecodeError, msgspec.ValidationError, ValueError, RecursionError) as problem:
        raise StepError(f"the drawing cannot be read ({problem}); draw it on the page, or give a zones.json",
                        code="draft") from problem  # fmt: skip


def name(zone: Zone) -> str:
    """As people call it: ``bet:3``, ``tray``."""
    return f"{zone.kind}:{zone.seat}" if zone.seat else zone.kind


def _polygon(outline: Sequence[Point]) -> Polygon:
    return Polygon([(p.x_um / 1000, p.y_um / 1000) for p in outline])


def _shape(zone: Zone) -> Polygon:
    if len(zone.outline) < 3:
        raise StepError(f"{name(zone)} has fewer than three corners; draw it again", code="small")
    shape = _polygon(zone.outline)
    if not shape.is_valid:
        mended = make_valid(shape)
        whole = max(getattr(mended, "geoms", [mended]), key=lambda part: part.area)
        if not isinstance(whole, Polygon) or whole.area < 0.98 * abs(mended.convex_hull.area):
            raise StepError(f"the outline of {name(zone)} crosses itself; move the corner that is on the wrong side",
                            code="crossed")  # fmt: skip
        shape = whole
    return shape


def _snapped(zones: Sequence[Zone]) -> tuple[Zone, ...]:
    """Corners of a zone put on a corner of an earlier zone that is within `SNAP_MM`; a line moves with its outline."""
    fixed: list[tuple[int, int]] = []
    made = []
    for zone in zones:
        moved = {}
        taken: set[tuple[int, int]] = set()
        for point in zone.outline:
            here = (point.x_um, point.y_um)
            near = [f for f in fixed if max(abs(f[0] - here[0]), abs(f[1] - here[1])) <= SNAP_MM * 1000]
            best = min(near, key=lambda f: (f[0] - here[0]) ** 2 + (f[1] - here[1]) ** 2, default=here)
            if best in taken:  # two corners of one zone never become one
                best = here
            taken.add(best)
            moved[here] = Point(*best)
        outline = tuple(moved[p.x_um, p.y_um] for p in zone.outline)
        line = tuple(moved.get((p.x_um, p.y_um), p) for p in zone.line)
        fixed += [(p.x_um, p.y_um) for p in outline]
        made.append(msgspec.structs.replace(zone, outline=outline, line=line))
    return tuple(made)


def _halved(a: Polygon, b: Polygon) -> tuple[Polygon, Polygon]:
    """Each without what is nearer to the other's middle, a gap between them."""
    one, other = np.array(a.centroid.coords[0]), np.array(b.centroid.coords[0])
    apart = float(np.hypot(*(other - one)))
    if apart < 1.0:
        raise StepError("two zones of one kind lie on one another: move or delete one of them", code="overlap")
    way = (other - one) / apart
    middle = (one + other) / 2
    # The cut runs through the middle of what they share, square to the line between their middles.
    shared = np.array(a.intersection(b).centroid.coords[0])
    at = middle + way * float((shared - middle) @ way)
    side = np.array([-way[1], way[0]])

    def half(towards: float) -> Polygon:
        base = at - way * towards * GAP_MM / 2
        corners = [base - side * _FAR, base + side * _FAR, base + side * _FAR + way * towards * _FAR,
                   base - side * _FAR + way * towards * _FAR]  # fmt: skip
        return Polygon(corners)

    shared_part = a.intersection(b).buffer(GAP_MM, join_style="mitre")
    return a.difference(shared_part.intersection(half(1.0))), b.difference(shared_part.intersection(half(-1.0)))


def _zone(zone: Zone, shape: Polygon | MultiPolygon) -> Zone:
    """The zone with its outline cut to ``shape``; its line is what is left of it along the new outline."""
    before = _polygon(zone.outline)
    if before.is_valid and abs(before.area - shape.area) < 1e-6 and shape.equals(before):
        return zone
    parts = [p for p in getattr(shape, "geoms", [shape]) if isinstance(p, Polygon)]
    whole = max(parts, key=lambda part: part.area, default=Polygon())
    if whole.area < MIN_AREA_MM2:
        raise StepError(f"{name(zone)} lies under other zones: nothing of it is left. Move or delete it", code="small")
    whole = Polygon(whole.exterior).simplify(0.05)
    ring = [Point(round(x * 1000), round(y * 1000)) for x, y in list(whole.exterior.coords)[:-1]]
    ring = [p for i, p in enumerate(ring) if p != ring[i - 1]]
    return msgspec.structs.replace(zone, outline=tuple(ring), line=_line(zone, ring))


def _line(zone: Zone, ring: list[Point]) -> tuple[Point, ...]:
    """The longest run of the new outline's corners that lie on the old line, in the old line's direction."""
    if not zone.line:
        return ()
    old = LineString([(p.x_um / 1000, p.y_um / 1000) for p in zone.line])
    on = [old.distance(Spot(p.x_um / 1000, p.y_um / 1000)) <= _ON_LINE_MM for p in ring]
    if all(on):
        return zone.line
    start = next(i for i, there in enumerate(on) if not there)
    runs: list[list[Point]] = [[]]
    for i in range(1, len(ring) + 1):
        k = (start + i) % len(ring)
        if on[k]:
            runs[-1].append(ring[k])
        elif runs[-1]:
            runs.append([])
    best = max(runs, key=len)
    if len(best) < 2:
        raise StepError(
            f"the betting line of {name(zone)} lies under another zone: draw that zone smaller", code="line"
        )
    places = [old.project(Spot(p.x_um / 1000, p.y_um / 1000)) for p in (best[0], best[-1])]
    return tuple(best if places[0] <= places[1] else best[::-1])


def _judge(zones: Sequence[Zone], dealer: Point) -> None:
    for zone in zones:
        shape = _polygon(zone.outline)
        if shape.area < MIN_AREA_MM2:
            raise StepError(f"{name(zone)} has only {shape.area / 100:.0f} cm²; draw it larger", code="small")
        if zone.kind == "bet":
            if len(zone.line) < 2:
                raise StepError(f"{name(zone)} has no betting line: mark the edge on its player's side", code="line")
            edge = shape.exterior.buffer(SNAP_MM)
            line = LineString([(p.x_um / 1000, p.y_um / 1000) for p in zone.line])
            if not edge.contains(line):
                raise StepError(
                    f"the betting line of {name(zone)} is no part of its outline: mark it again", code="line"
                )
    if not any(z.kind == "bet" for z in zones):
        raise StepError("no bet zone was drawn: each seat needs one", code="small")
    for zone in zones:
        if _polygon(zone.outline).contains(Spot(dealer.x_um / 1000, dealer.y_um / 1000)) and zone.kind == "bet":
            raise StepError(f"the dealer's place lies in {name(zone)}: put it where the dealer sits", code="dealer")
    if found := overlaps(Zones(zones=tuple(zones), dealer=dealer)):
        a, b, area = found[0]
        raise StepError(f"{a} and {b} still overlap by {area:.1f} mm²: move them apart", code="overlap")
