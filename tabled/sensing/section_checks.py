"""What a section of a calibration must keep to, beyond its types: sizes, ranges, and parts that belong together.

Each check gives the first fault as ``(path of the field, reason)``, or None.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from tabled.model.calibration import Antennas, CameraTime, Dealers, Lens, Palette, Plane, Point, Zone, Zones

Fault = tuple[str, str]

MAX_LIST = 20_000
"""Items of any list: a read-zone map has the most, one for each square centimetre of half a table."""
MAX_TEXT = 64
MAX_DEPTH = 8
MAX_NUMBER = 1 << 53
"""What any JSON reader keeps exact."""
MAX_ZONES = 128
MAX_OUTLINE = 256
MAX_MARKERS = 64
MAX_TABLE_UM = 10_000_000
DISTORTIONS = (4, 5, 8, 12, 14)
"""Lengths of a distortion vector that OpenCV takes."""


def body_fault(body: Any, at: str = "", depth: int = 0) -> Fault | None:
    """A plain body that is too deep, too long, or holds what no section has (a float, a null, a huge number)."""
    if depth > MAX_DEPTH:
        return at, f"is nested deeper than {MAX_DEPTH}"
    if isinstance(body, dict):
        parts: Iterator[tuple[str, Any]] = ((f"{at}.{key}" if at else str(key), part) for key, part in body.items())
    elif isinstance(body, list | tuple):
        parts = ((f"{at}[{index}]", part) for index, part in enumerate(body))
    else:
        return _scalar(body, at)
    if len(body) > MAX_LIST:
        return at, f"has {len(body)} items, over the {MAX_LIST} allowed"
    for where, part in parts:
        if fault := body_fault(part, where[:120], depth + 1):
            return fault
    return None


def _scalar(value: Any, at: str) -> Fault | None:
    if isinstance(value, str):
        return (at, f"is longer than {MAX_TEXT} characters") if len(value) > MAX_TEXT else None
    if isinstance(value, int):
        return (at, f"{value} is out of range") if abs(value) > MAX_NUMBER else None
    return at, f"holds {value!r}; a section holds whole numbers and texts"


def value_fault(value: Any) -> Fault | None:
    """A section whose parts do not fit together, such as a bet zone without a seat."""
    return next(_CHECKS[type(value)](value), None)


def _lens(lens: Lens) -> Iterator[Fault]:
    for field in ("width_px", "height_px"):
        if not 16 <= getattr(lens, field) <= 16_384:
            yield field, f"{getattr(lens, field)} is no size of a picture"
    if lens.fx_upx <= 0 or lens.fy_upx <= 0:
        yield "fx_upx", "a focal length is more than 0"
    for field, size in (("cx_upx", lens.width_px), ("cy_upx", lens.height_px)):
        if not 0 <= getattr(lens, field) <= size * 1_000_000:
            yield field, "the principal point lies outside the picture"
    if len(lens.distortion_e9) not in DISTORTIONS:
        yield "distortion_e9", f"has {len(lens.distortion_e9)} numbers; it has one of {DISTORTIONS}"
    yield from _not_negative(lens, "rms_upx", "views")


def _plane(plane: Plane) -> Iterator[Fault]:
    if len(plane.markers) > MAX_MARKERS:
        yield "markers", f"{len(plane.markers)} are over the {MAX_MARKERS} allowed"
    seen: list[int] = []
    for index, marker in enumerate(plane.markers):
        at = f"markers[{index}]"
        if marker.id in seen:
            yield f"{at}.id", f"marker {marker.id} is there twice"
        seen.append(marker.id)
        if not 1 <= len(marker.corners) <= 4:
            yield f"{at}.corners", f"has {len(marker.corners)} points; a marker has four, a measured point one"
        if len(marker.seen_upx) != len(marker.corners):
            yield f"{at}.seen_upx", "has another number of points than corners"
        yield from _on_table(marker.corners, f"{at}.corners")
    if plane.translation_um[2] <= 0:
        yield "translation_um[2]", "the table's origin lies behind the camera"
    yield from _not_negative(plane, "residual_um")


def _zones(zones: Zones) -> Iterator[Fault]:
    if len(zones.zones) > MAX_ZONES:
        yield "zones", f"{len(zones.zones)} are over the {MAX_ZONES} allowed"
    seen: list[tuple[str, str]] = []
    for index, zone in enumerate(zones.zones):
        at = f"zones[{index}]"
        if (zone.kind, zone.seat) in seen:
            yield at, f"the zone {zone.kind}:{zone.seat} is there twice"
        seen.append((zone.kind, zone.seat))
        yield from _zone(zone, at)
    for _, reason in _on_table((zones.dealer,), ""):
        yield "dealer", reason


def _zone(zone: Zone, at: str) -> Iterator[Fault]:
    if (zone.kind in ("bet", "stack")) != bool(zone.seat):
        yield f"{at}.seat", "bet and stack zones have a seat, other zones have none"
    if not 3 <= len(zone.outline) <= MAX_OUTLINE:
        yield f"{at}.outline", f"has {len(zone.outline)} corners; it has 3 to {MAX_OUTLINE}"
    if zone.kind == "bet" and not 2 <= len(zone.line) <= MAX_OUTLINE:
        yield f"{at}.line", "a bet zone has a betting line of two or more points"
    if zone.kind != "bet" and zone.line:
        yield f"{at}.line", "only a bet zone has a betting line"
    yield from _on_table(zone.outline, f"{at}.outline")
    yield from _on_table(zone.line, f"{at}.line")
    if _twice_area(zone.outline) == 0:
        yield f"{at}.outline", "encloses nothing"


def _palette(palette: Palette) -> Iterator[Fault]:
    seen: list[int] = []
    for index, colour in enumerate(palette.colours):
        at = f"colours[{index}]"
        if colour.denomination <= 0:
            yield f"{at}.denomination", "is more than 0"
        if colour.denomination in seen:
            yield f"{at}.denomination", f"{colour.denomination} is there twice"
        seen.append(colour.denomination)
        if colour.diameter_um <= 0:
            yield f"{at}.diameter_um", "is more than 0"
        yield from _not_negative(colour, "spread_e3", at=f"{at}.")


def _time(time: CameraTime) -> Iterator[Fault]:
    yield from _not_negative(time, "spread_ns", "readout_ns", "exposure_ns", "placements")


def _antennas(antennas: Antennas) -> Iterator[Fault]:
    seen: list[tuple[str, int]] = []
    for index, read in enumerate(antennas.antennas):
        at = f"antennas[{index}]"
        if (read.device, read.antenna) in seen:
            yield at, f"antenna {read.antenna} of {read.device!r} is there twice"
        seen.append((read.device, read.antenna))
        for field in ("lone_miss_ppm", "stack_miss_ppm"):
            if not 0 <= getattr(read, field) <= 1_000_000:
                yield f"{at}.{field}", "is no share in parts per million"
        yield from _not_negative(read, "sweep_ns", at=f"{at}.")
    for index, bleed in enumerate(antennas.bleed):
        if not 0 <= bleed.ppm <= 1_000_000:
            yield f"bleed[{index}].ppm", "is no share in parts per million"


def _dealers(dealers: Dealers) -> Iterator[Fault]:
    for index, dealer in enumerate(dealers.dealers):
        if not 0 <= dealer.reaction_min_ms <= dealer.reaction_max_ms:
            yield f"dealers[{index}].reaction_min_ms", "lies between 0 and reaction_max_ms"


def _not_negative(value: Any, *fields: str, at: str = "") -> Iterator[Fault]:
    for field in fields:
        if getattr(value, field) < 0:
            yield f"{at}{field}", "is less than 0"


def _on_table(points: Sequence[Point], at: str) -> Iterator[Fault]:
    for index, point in enumerate(points):
        if max(abs(point.x_um), abs(point.y_um)) > MAX_TABLE_UM:
            yield f"{at}[{index}]", "lies more than ten metres away: the unit is µm"


def _twice_area(outline: Sequence[Point]) -> int:
    closed = (*outline[1:], *outline[:1])
    return sum(a.x_um * b.y_um - b.x_um * a.y_um for a, b in zip(outline, closed, strict=True))


_CHECKS: Mapping[type, Callable[[Any], Iterator[Fault]]] = {
    Lens: _lens,
    Plane: _plane,
    Zones: _zones,
    Palette: _palette,
    CameraTime: _time,
    Antennas: _antennas,
    Dealers: _dealers,
}
