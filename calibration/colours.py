"""The colours of the chips, from pictures in which one pile of each denomination lies at a known zone.

A chip's colour is that of its body: the median of linear light over the ring between inlay and rim (its edge spots are
the smaller part of that), made comparable by the felt around it (so lamps that shine unevenly cancel), then CIE
L*a*b*.  A pile's top is seen away from where it stands, for
the camera does not hang over it: it is looked for at the far end of what differs from the felt.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import cv2
import msgspec
import numpy as np
import numpy.typing as npt

from calibration.optics import Optics, Pose, pixels
from calibration.pictures import Shot
from calibration.steps import StepError
from calibration.zones import name
from tabled.model.calibration import Colour, Palette, Zone, Zones
from tabled.sensing.colours import lab
from tabled.sensing.light import LINEAR

Floats = npt.NDArray[np.float64]
Image = npt.NDArray[np.uint8]
Mask = npt.NDArray[np.bool_]

MM_PER_PX = 1.0
RING = (0.36, 0.46)
"""Of a top, in diameters from its middle: outside the inlay (which is much the same on all), inside the rim."""
MIN_DIFFERENT = 7.0
"""L*a*b* distance from the felt at which a pixel belongs to a pile."""
SOLID = 0.65
"""In diameters: a disc of this size fits into a pile, and not into what is printed on the felt."""
INLAY = 0.38
"""The same for the inlay alone, of a chip that has the felt's colour."""
PRINTED_MM = 22.0
"""Nothing as near as this to a betting line is taken for an inlay."""
CLIPPED = 250
NEAR_EACH_OTHER = 12.0
NEAR_FELT = 10.0
MIN_SPREAD = 0.8
"""Chips of one denomination differ at least so much among themselves, however few were seen."""
MARGIN_MM = 20.0


class Top(msgspec.Struct, frozen=True):
    """A pile's top in one picture: linear R, G, B of its body and of the felt around, and where it is (mm)."""

    face: Floats
    felt: Floats
    at_mm: tuple[float, float]
    clipped: bool
    patch: Image


class PaletteResult(msgspec.Struct, frozen=True):
    """The palette, a picture (BGR) of each denomination's top, and what to look at."""

    palette: Palette
    patches: Mapping[int, Image]
    warnings: tuple[str, ...]


def learn(
    shots: Sequence[Shot], optics: Optics, pose: Pose, zones: Zones, piles: Mapping[str, int], *, diameter_mm: float
) -> PaletteResult:
    """The palette from ``piles``: which denomination lies in the zone of that name (``bet:3``, ``board``, …).

    Raises `StepError` with code "no-zone", "no-pile", "lens-size", "dark", "clipped".
    """
    by_name = {name(z): z for z in zones.zones}
    if missing := sorted(set(piles) - set(by_name)):
        raise StepError(f"there is no zone {missing[0]!r}; the zones are {', '.join(sorted(by_name))}", code="no-zone")
    for shot in shots:
        if shot.size != optics.size:
            raise StepError(
                f"{shot.name}: is {shot.size[0]} x {shot.size[1]}, the lens was measured at {optics.size[0]} x "
                f"{optics.size[1]}: set the camera to that size",
                code="lens-size",
            )
    tops: dict[str, list[Top]] = {}
    for zone_name in piles:
        tops[zone_name] = [top(shot, optics, pose, by_name[zone_name], diameter_mm) for shot in shots]
    felt = np.median([t.felt for several in tops.values() for t in several], axis=0)
    _judge_light(felt, tops)
    seen: dict[int, list[Floats]] = {}
    for zone_name, denomination in piles.items():
        # What the light at this place adds to felt and chip alike is taken off.
        seen.setdefault(denomination, []).append(
            np.median([lab(np.clip(t.face * felt / np.maximum(t.felt, 1e-4), 0, 1.5)) for t in tops[zone_name]], axis=0)
        )
    felt_lab = lab(felt)
    noise = _noise(tops, felt)
    colours = tuple(
        Colour(
            denomination=denomination,
            lab_e3=_milli(np.mean(labs, axis=0)),
            spread_e3=round(1000 * max(MIN_SPREAD, noise, _spread(labs))),
            diameter_um=round(diameter_mm * 1000),
        )
        for denomination, labs in sorted(seen.items())
    )
    palette = Palette(colours=colours, felt_lab_e3=_milli(felt_lab))
    patches = {piles[zone_name]: several[-1].patch for zone_name, several in tops.items()}
    return PaletteResult(palette, patches, _warnings(palette))


def top(shot: Shot, optics: Optics, pose: Pose, zone: Zone, diameter_mm: float) -> Top:
    """The top of the pile that lies in ``zone``; raises `StepError` with code "no-pile"."""
    outline = np.array([[p.x_um, p.y_um] for p in zone.outline], dtype=np.float64) / 1000
    low, high = outline.min(axis=0) - MARGIN_MM, outline.max(axis=0) + MARGIN_MM
    columns, rows = (int(v) for v in np.ceil((high - low) / MM_PER_PX))
    x, y = low[0] + (np.arange(columns) + 0.5) * MM_PER_PX, high[1] - (np.arange(rows) + 0.5) * MM_PER_PX
    grid = np.stack(np.meshgrid(x, y), axis=-1)
    at = pixels(optics, pose, grid.reshape(-1, 2)).reshape(rows, columns, 2).astype(np.float32)
    image = np.asarray(cv2.remap(shot.image, at, np.zeros(0, np.float32), cv2.INTER_LINEAR), dtype=np.uint8)
    corners = np.rint(np.column_stack([(outline[:, 0] - low[0]), (high[1] - outline[:, 1])]) / MM_PER_PX)
    inside = np.zeros((rows, columns), dtype=np.uint8)
    cv2.fillPoly(inside, [corners.astype(np.int32)], 255)
    linear = LINEAR[image][..., ::-1].astype(np.float64)
    labs = lab(linear)
    felt_lab = np.median(labs[inside > 0], axis=0)
    away = np.sqrt((((labs - felt_lab) * [0.5, 1.0, 1.0]) ** 2).sum(axis=-1))
    scatter = float(np.median(away[inside > 0]))
    strange = ((away > max(MIN_DIFFERENT, 3.5 * scatter)) & (inside > 0)).astype(np.uint8)
    strange = np.asarray(cv2.morphologyEx(strange, cv2.MORPH_CLOSE, np.ones((7, 7), np.uint8)), dtype=np.uint8)
    strange = np.asarray(cv2.morphologyEx(strange, cv2.MORPH_OPEN, np.ones((5, 5), np.uint8)), dtype=np.uint8)
    foot, diameter = (pose.eye[:2] - [low[0], high[1]]) * [1, -1] / MM_PER_PX, diameter_mm / MM_PER_PX
    centre = _far_end(strange, foot, diameter, SOLID)
    if (
        centre is None
    ):  # a chip of the felt's colour: only its inlay stands out, and so does what is printed at the line
        line = np.array([[p.x_um, p.y_um] for p in zone.line or zone.outline], dtype=np.float64) / 1000
        along = np.rint(np.column_stack([line[:, 0] - low[0], high[1] - line[:, 1]]) / MM_PER_PX).astype(np.int32)
        cv2.polylines(strange, [along], not zone.line, 0, round(2 * PRINTED_MM / MM_PER_PX))
        centre = _far_end(strange, foot, diameter, INLAY)
    if centre is None:
        raise StepError(
            f"{shot.name}: no pile is seen in {name(zone)}: put one pile of one denomination well inside it, and "
            "nothing else",
            code="no-pile",
        )
    far = np.hypot(np.arange(columns)[None, :] - centre[0], np.arange(rows)[:, None] - centre[1])
    inner, outer = (share * diameter_mm / MM_PER_PX for share in RING)
    face = (far >= inner) & (far < outer)
    wide = np.asarray(cv2.dilate(strange, np.ones((13, 13), np.uint8)), dtype=np.uint8)
    around = (far < 2.2 * diameter_mm / MM_PER_PX) & (wide == 0) & (inside > 0)
    if around.sum() < 200:
        around = (wide == 0) & (inside > 0)
    if around.sum() < 100:
        raise StepError(f"{shot.name}: {name(zone)} is full; leave felt free around the pile", code="no-pile")
    reach = round(0.9 * diameter_mm / MM_PER_PX)
    cx, cy = round(centre[0]), round(centre[1])
    patch = image[max(0, cy - reach) : cy + reach, max(0, cx - reach) : cx + reach]
    return Top(
        face=np.median(linear[face], axis=0),
        felt=np.median(linear[around], axis=0),
        at_mm=(float(low[0] + centre[0] * MM_PER_PX), float(high[1] - centre[1] * MM_PER_PX)),
        clipped=bool((image[face].max(axis=1) >= CLIPPED).mean() > 0.3),
        patch=patch,
    )


def _far_end(
    strange: npt.NDArray[np.uint8], foot: Floats, diameter: float, solid_share: float
) -> tuple[float, float] | None:
    """(column, row) of the top's middle of the largest pile: its end away from under the camera (``foot``).

    What a disc of ``solid_share`` diameters does not fit into is no pile.
    """
    # What is narrower than a chip is print: a betting line, a number.
    size = round(solid_share * diameter)
    solid = cv2.morphologyEx(strange, cv2.MORPH_OPEN, cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (size, size)))
    count, labels, stats, _ = cv2.connectedComponentsWithStats(solid)
    if count < 2:
        return None
    largest = 1 + int(np.argmax(stats[1:, cv2.CC_STAT_AREA]))
    if stats[largest, cv2.CC_STAT_AREA] < 0.85 * np.pi / 4 * size**2:
        return None
    y, x = np.nonzero(labels == largest)
    middle = np.array([x.mean(), y.mean()])
    away = middle - foot
    distance = float(np.hypot(*away))
    away = away / distance if distance > 1 else np.array([1.0, 0.0])
    along = (x - middle[0]) * away[0] + (y - middle[1]) * away[1]
    across = (y - middle[1]) * away[0] - (x - middle[0]) * away[1]
    end = float(np.percentile(along, 99)) + 0.5
    length = end - float(np.percentile(along, 1)) + 0.5
    side = float(np.percentile(across, 1) + np.percentile(across, 99)) / 2
    back = min(diameter / 2, length / 2)
    found = middle + away * (end - back) + np.array([-away[1], away[0]]) * side
    return float(found[0]), float(found[1])


def _judge_light(felt: Floats, tops: Mapping[str, Sequence[Top]]) -> None:
    if float(felt.max()) < 0.004:
        raise StepError("the felt is nearly black in the picture: more light, or a longer exposure", code="dark")
    clipped = [zone for zone, several in tops.items() if sum(t.clipped for t in several) * 2 > len(several)]
    if clipped:
        raise StepError(
            f"the pile in {clipped[0]} is burnt out (white): a shorter exposure, or no lamp mirrored in it",
            code="clipped",
        )


def _noise(tops: Mapping[str, Sequence[Top]], felt: Floats) -> float:
    """Standard deviation of a top's colour from picture to picture, over all piles."""
    squares: list[float] = []
    for several in tops.values():
        labs = np.array([lab(np.clip(t.face * felt / np.maximum(t.felt, 1e-4), 0, 1.5)) for t in several])
        squares += list(((labs - labs.mean(axis=0)) ** 2).ravel())
    return float(np.sqrt(np.mean(squares)))


def _spread(labs: Sequence[Floats]) -> float:
    several = np.array(labs)
    if len(several) < 2:
        return 0.0
    return float(np.sqrt(((several - several.mean(axis=0)) ** 2).sum() / (3 * (len(several) - 1))))


def _milli(values: Floats) -> tuple[int, int, int]:
    a, b, c = (round(float(v) * 1000) for v in values)
    return a, b, c


def _warnings(palette: Palette) -> tuple[str, ...]:
    told = []
    felt = np.array(palette.felt_lab_e3) / 1000
    labs = [(c.denomination, np.array(c.lab_e3) / 1000) for c in palette.colours]
    for i, (one, a) in enumerate(labs):
        for other, b in labs[i + 1 :]:
            apart = _apart(a, b)
            if apart < NEAR_EACH_OTHER:
                told.append(f"{one} and {other} look alike (distance {apart:.0f}): the camera will often name neither")
        if (apart := _apart(a, felt)) < NEAR_FELT:
            told.append(f"{one} has nearly the colour of the felt (distance {apart:.0f}): it will be seen late or not")
    return tuple(told)


def _apart(a: Floats, b: Floats) -> float:
    """As sensing compares: lightness counts half."""
    return float(np.sqrt((((a - b) * [0.5, 1.0, 1.0]) ** 2).sum()))
