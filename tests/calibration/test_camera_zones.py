"""Zones: the default layout, cutting apart what overlaps, mirroring, and drawings that are none."""

from __future__ import annotations

import json
import math
from pathlib import Path

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from shapely import Polygon
from shapely.geometry import LineString
from shapely.geometry import Point as Spot

from calibration import files, zones
from calibration.draft import Draft
from calibration.draft import zones as laid_out
from calibration.optics import Optics, Pose, pixels
from calibration.plane import Place, corners_of, from_markers
from calibration.step_zones import STEP, wanted
from calibration.steps import StepError
from tabled.model.calibration import Point, Zone, Zones
from tests.calibration.camera_synthetic import Table
from tests.calibration.talk import Quiet

DEFAULTS = {o.name: o.default for o in STEP.options}


def polygon(zone: Zone) -> Polygon:
    return Polygon([(p.x_um / 1000, p.y_um / 1000) for p in zone.outline])


def at(x: float, y: float) -> Point:
    return Point(round(x * 1000), round(y * 1000))


def box(kind: str, seat: str, left: float, low: float, width: float = 300, height: float = 150) -> Zone:
    corners = (at(left, low), at(left + width, low), at(left + width, low + height), at(left, low + height))
    line = corners[:2] if kind == "bet" else ()
    return Zone(kind=kind, seat=seat, outline=corners, line=line)  # type: ignore[arg-type]  # a text, not a literal


def refused(*drawn: Zone, dealer: Point | None = None) -> StepError:
    with pytest.raises(StepError) as refusal:
        zones.partition(Zones(zones=drawn, dealer=dealer or at(0, -600)))
    return refusal.value


@pytest.mark.parametrize("shape", ["oval", "d"])
@pytest.mark.parametrize("seats", range(2, 11))
def test_a_default_layout_is_whole_for_every_table(shape: str, seats: int) -> None:
    drawn = laid_out(Draft(shape=shape, seats=seats))  # type: ignore[arg-type]  # a text, not a literal
    made = zones.partition(drawn).zones
    assert zones.overlaps(made) == []
    bets = [z for z in made.zones if z.kind == "bet"]
    assert [z.seat for z in bets] == [str(n + 1) for n in range(seats)]
    assert {z.kind for z in made.zones} == {"bet", "stack", "tray", "board"}
    for zone in bets:
        line = LineString([(p.x_um, p.y_um) for p in zone.line])
        middle = polygon(zone).centroid
        ends = [np.array([p.x_um, p.y_um]) / 1000 for p in (zone.line[0], zone.line[-1])]
        # The player sits beyond the line, away from the table's middle.
        assert math.hypot(middle.x, middle.y) < float(np.hypot(*((ends[0] + ends[1]) / 2)))
        assert line.length > 100_000


def test_seats_run_clockwise_from_the_dealers_left() -> None:
    bets = [z for z in laid_out(Draft(seats=9)).zones if z.kind == "bet"]
    angles = [math.degrees(math.atan2(*_middle(z)[::-1])) for z in bets]
    assert angles[0] < -90, "seat 1 is left of the dealer, who sits at the bottom"
    turned = [(a - angles[0]) % 360 for a in angles]
    assert turned == [turned[0], *sorted(turned[1:], reverse=True)], "clockwise: the angle falls"


def _middle(zone: Zone) -> tuple[float, float]:
    middle = polygon(zone).centroid
    return middle.x, middle.y


def test_a_drawing_that_fits_is_kept_to_the_micrometre() -> None:
    drawn = laid_out(Draft())
    assert zones.partition(drawn) == zones.Drawn(zones=drawn)


def test_a_stack_gives_way_to_a_bet_zone_and_a_bet_zone_to_the_board() -> None:
    bet, stack, board = box("bet", "1", 0, 0), box("stack", "1", 20, -100), box("board", "", 250, 0)
    result = zones.partition(Zones(zones=(stack, bet, board), dealer=at(0, -600)))
    by_name = {zones.name(z): z for z in result.zones.zones}
    assert by_name["board"] == board
    assert polygon(by_name["bet:1"]).area == pytest.approx((250 - zones.GAP_MM) * 150, rel=1e-3)
    assert polygon(by_name["stack:1"]).bounds[3] == pytest.approx(-zones.GAP_MM, abs=0.01)
    assert len(result.changes) == 3
    assert zones.partition(result.zones) == zones.Drawn(zones=result.zones), "what was cut once fits"
    assert zones.overlaps(result.zones) == []


def test_two_bet_zones_share_what_they_both_cover_and_keep_their_lines() -> None:
    one, other = box("bet", "1", 0, 0), box("bet", "2", 240, 10)
    result = zones.partition(Zones(zones=(one, other), dealer=at(0, -600)))
    a, b = result.zones.zones
    assert zones.overlaps(result.zones) == []
    shared = polygon(one).intersection(polygon(other)).area
    for before, after in ((one, a), (other, b)):
        lost = polygon(before).area - polygon(after).area
        assert 0.4 * shared < lost < 0.6 * shared
        line = LineString([(p.x_um / 1000, p.y_um / 1000) for p in after.line])
        old = LineString([(p.x_um / 1000, p.y_um / 1000) for p in before.line])
        assert line.length > 0.6 * old.length
        assert all(old.distance(Spot(*xy)) < 1 for xy in line.coords)


@settings(max_examples=30, deadline=None)
@given(
    st.lists(st.tuples(st.integers(-400, 400), st.integers(-150, 150), st.integers(-40, 40)), min_size=9, max_size=9)
)
def test_whatever_was_dragged_never_overlaps_or_is_refused(moves: list[tuple[int, int, int]]) -> None:
    drawn = laid_out(Draft())
    moved = []
    for zone in drawn.zones:
        way = moves[int(zone.seat) - 1] if zone.kind == "bet" else (0, 0, 0)
        outline, line = _moved(zone, zone.outline, *way), _moved(zone, zone.line, *way)
        moved.append(msgspec.structs.replace(zone, outline=outline, line=line))
    code, made = _partitioned(Zones(zones=tuple(moved), dealer=drawn.dealer))
    assert code in ("", "small", "line", "dealer", "overlap")
    if made is None:
        return
    shapes = [(zones.name(z), polygon(z)) for z in made.zones]
    for i, (_, a) in enumerate(shapes):
        assert a.is_valid
        for _, b in shapes[i + 1 :]:
            assert a.intersection(b).area <= zones.TOUCH_MM2
    before = {zones.name(z): polygon(z) for z in moved}
    for label, shape in shapes:
        assert shape.difference(before[label].buffer(zones.SNAP_MM * 1.5)).area < 1.0, f"{label} grew"
    assert files.decode(files.encode(made), "zones") == made


def _partitioned(drawn: Zones) -> tuple[str, Zones | None]:
    try:
        return "", zones.partition(drawn).zones
    except StepError as problem:
        return problem.code, None


def _moved(zone: Zone, points: tuple[Point, ...], dx: int, dy: int, turn: int) -> tuple[Point, ...]:
    cx, cy = _middle(zone)
    c, s = math.cos(math.radians(turn)), math.sin(math.radians(turn))
    out = []
    for p in points:
        x, y = p.x_um / 1000 - cx, p.y_um / 1000 - cy
        out.append(at(cx + dx / 4 + x * c - y * s, cy + dy / 4 + x * s + y * c))
    return tuple(out)


def test_corners_that_are_meant_to_be_one_become_one() -> None:
    one, other = box("bet", "1", 0, 0), box("bet", "2", 297, 2)
    result = zones.partition(Zones(zones=(one, other), dealer=at(0, -600)))
    assert result.zones.zones[1].outline[0] == one.outline[1]
    assert result.zones.zones[1].line[0] == one.outline[1], "the line moves with its corner"
    assert result.changes == ()


def test_what_cannot_be_a_zone_has_its_own_message() -> None:
    bow = Zone(kind="board", outline=(at(0, 300), at(300, 450), at(300, 300), at(0, 450)))
    assert refused(box("bet", "1", 0, 0), bow).code == "crossed"
    assert refused(box("bet", "1", 0, 0, 30, 30)).code == "small"
    assert refused(box("board", "", 0, 0)).code == "small"
    assert refused(msgspec.structs.replace(box("bet", "1", 0, 0), line=())).code == "line"
    off = msgspec.structs.replace(box("bet", "1", 0, 0), line=(at(0, -50), at(300, -50)))
    assert refused(off).code == "line"
    assert refused(box("bet", "1", 0, 0), dealer=at(100, 100)).code == "dealer"
    assert refused(box("bet", "1", 0, 0), box("bet", "2", 0, 0)).code == "overlap"
    assert refused(box("tray", "", 0, 0), box("bet", "1", 10, 10, 200, 100)).code == "small"
    assert refused().code == "small"


def test_mirroring_makes_the_other_side_and_keeps_the_middle() -> None:
    drawn = laid_out(Draft(seats=9))
    seats = [str(n) for n in range(1, 10)]
    left = Zones(zones=tuple(z for z in drawn.zones if z.seat not in ("6", "7", "8", "9")), dealer=drawn.dealer)
    made = zones.mirrored(left, seats, 0.0)
    assert sorted(zones.name(z) for z in made.zones) == sorted(zones.name(z) for z in drawn.zones)
    for zone in made.zones:
        twin = next(z for z in drawn.zones if zones.name(z) == zones.name(zone))
        assert polygon(zone).symmetric_difference(polygon(twin)).area < 0.05 * polygon(twin).area
    assert zones.partition(made).changes == ()
    back = zones.mirrored(made, seats, 0.0, to_right=False)
    assert {zones.name(z): z.outline for z in back.zones if z.seat == "5"} == {
        zones.name(z): z.outline for z in drawn.zones if z.seat == "5"
    }
    with pytest.raises(StepError, match="seat 1 has no bet zone"):
        zones.mirrored(Zones(zones=drawn.zones[2:], dealer=drawn.dealer), seats, 0.0)


@pytest.mark.parametrize(
    ("option", "value"),
    [("seats", "1"), ("seats", "11"), ("length-mm", "2.1"), ("line-mm", "900"), ("shape", "square"), ("names", "a,a"),
     ("seats", "nine"), ("length-mm", "1e9")],
)  # fmt: skip
def test_a_table_that_is_none(option: str, value: str) -> None:
    with pytest.raises(StepError) as refusal:
        wanted({**DEFAULTS, option: value})
    assert refusal.value.code == "draft"


@pytest.mark.parametrize("text", ["{", '{"zones": 3}', '{"zones": [], "dealer": {"x_um": 0.5, "y_um": 0}}', "{}"])
def test_a_drawing_that_cannot_be_read(text: str) -> None:
    with pytest.raises(StepError, match="cannot be read"):
        wanted({**DEFAULTS, "draft": text})


def test_the_step_takes_a_drawing_or_another_tables_file(tmp_path: Path) -> None:
    table, folder = Table(), tmp_path / "table"
    optics = Optics(table.camera.size, table.camera.matrix, table.camera.distortion)
    pose = Pose(*table.pose)
    seen = {n: pixels(optics, pose, corners_of(Place(x, y), t, 90.0)) for n, (x, y, t) in table.places.items()}
    result = from_markers(optics, seen, {n: Place(x, y) for n, (x, y, _) in table.places.items()}, 90.0)
    files.save(folder, optics.lens(0.1, 20))
    files.save(folder, result.plane)
    outcome = STEP.run(Quiet(), folder, {**DEFAULTS, "length-mm": "1500", "width-mm": "800", "seats": "6"})
    assert STEP.done(folder).state == "done"
    assert [f.label for f in outcome.figures if "line" in f.label] == [f"seat {n}, at its line" for n in range(1, 7)]
    kept = files.decode((folder / "zones.json").read_bytes(), "zones")
    assert isinstance(kept, Zones)
    other = tmp_path / "other"
    files.save(other, optics.lens(0.1, 20))
    files.save(other, result.plane)
    STEP.run(Quiet(), other, {**DEFAULTS, "draft": str(folder / "zones.json")})
    assert (other / "zones.json").read_bytes() == (folder / "zones.json").read_bytes()
    STEP.run(Quiet(), other, {**DEFAULTS, "draft": json.dumps(msgspec.to_builtins(kept))})
    with pytest.raises(StepError, match="does not see all of bet") as refusal:
        STEP.run(Quiet(), other, {**DEFAULTS, "length-mm": "3900", "width-mm": "1800"})
    assert refusal.value.code == "unseen"
    assert (other / "zones.json").read_bytes() == (folder / "zones.json").read_bytes(), "the old zones stay"
