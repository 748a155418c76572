"""From pixels to millimetres, against places that are known by construction."""

from __future__ import annotations

import math

import cv2
import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tabled.model.calibration import Calibration, Lens, Plane, Point, Zone, Zones
from tabled.sensing.geometry import MM_PER_PX, Atlas, GeometryError, View, past_line

HIGH_MM = 1800.0
FOCAL_PX = 800.0


def lens(**changes: object) -> Lens:
    plain = Lens(width_px=1280, height_px=720, fx_upx=round(FOCAL_PX * 1e6), fy_upx=round(FOCAL_PX * 1e6),
                 cx_upx=640_000_000, cy_upx=360_000_000, distortion_e9=(0, 0, 0, 0, 0),
                 rms_upx=0, views=20)  # fmt: skip
    return msgspec.structs.replace(plain, **changes)


def plane(x_mm: float = 0.0, y_mm: float = 0.0, high_mm: float = HIGH_MM) -> Plane:
    """Straight down over a place: the table's x to the right of the picture, its y up."""
    turn = cv2.Rodrigues(np.array([math.pi, 0.0, 0.0]))[0]
    moved = -turn @ np.array([x_mm, y_mm, high_mm])
    return Plane(rotation_nrad=(round(math.pi * 1e9), 0, 0), translation_um=tuple(round(v * 1000) for v in moved),
                 markers=(), residual_um=0)  # fmt: skip


def point(x: float, y: float) -> Point:
    return Point(round(x * 1000), round(y * 1000))


def zone(seat: str = "1", x: float = -600.0, y: float = 0.0) -> Zone:
    """A zone 150 mm deep and 240 mm wide of a player who sits on the table's left."""
    return Zone(kind="bet", seat=seat, outline=(point(x, y - 120), point(x + 150, y - 120), point(x + 150, y + 120),
                point(x, y + 120)), line=(point(x, y - 120), point(x, y + 120)))  # fmt: skip


def calibration(*zones: Zone, **changes: object) -> Calibration:
    return Calibration(
        lens=lens(**changes), plane=plane(), zones=Zones(zones=zones or (zone(),), dealer=point(0, -600))
    )


def test_a_place_is_seen_where_the_pinhole_puts_it_and_found_again() -> None:
    view = View(lens(), plane())
    assert view.eye_mm == pytest.approx([0, 0, HIGH_MM], abs=0.01)
    seen = view.pixels([[450.0, 225.0, 0.0], [450.0, 225.0, 90.0]])
    assert seen[0] == pytest.approx([640 + 200, 360 - 100], abs=0.01)
    assert seen[1] == pytest.approx([640 + 450 * FOCAL_PX / 1710, 360 - 225 * FOCAL_PX / 1710], abs=0.01)
    assert view.felt(seen[:1])[0] == pytest.approx([450, 225], abs=0.01)


@given(st.floats(-900, 900), st.floats(-420, 420), st.floats(-0.25, 0.1))
def test_felt_undoes_pixels_through_a_bent_lens(x: float, y: float, bend: float) -> None:
    view = View(lens(distortion_e9=(round(bend * 1e9), 0, 1_000_000, -500_000, 0)), plane(40.0, -20.0))
    assert view.felt(view.pixels([[x, y]]))[0] == pytest.approx([x, y], abs=0.05)


def test_the_atlas_shows_a_dot_where_it_lies() -> None:
    atlas = Atlas(calibration(distortion_e9=(-60_000_000, 4_000_000, 0, 0, 0)))
    picture = np.zeros((720, 1280, 3), np.uint8)
    (at,) = atlas.view.pixels([[-520.0, 35.0]])
    cv2.circle(picture, (round(at[0] * 16), round(at[1] * 16)), 3 * 16, (255, 255, 255), -1, cv2.LINE_AA, 4)
    (tile,) = atlas.tiles
    sheet = atlas.warp(picture)[tile.rows, : tile.shape[1], 0]
    y, x = np.nonzero(sheet > 127)
    assert tile.table(float(x.mean()), float(y.mean())) == pytest.approx((-520.0, 35.0), abs=1.0)
    assert tile.pixel(*tile.table(17.0, 23.0)) == pytest.approx((17.0, 23.0), abs=1e-6)


def test_depth_is_from_the_line_and_inward_from_the_outline() -> None:
    (tile,) = Atlas(calibration()).tiles
    x, y = tile.pixel(-560.0, 30.0)
    at = (round(y), round(x))
    here = tile.table(float(at[1]), float(at[0]))
    assert tile.depth[at] == pytest.approx(here[0] + 600, abs=0.5)
    assert tile.inward[at] == pytest.approx(here[0] + 600, abs=MM_PER_PX)
    x, y = tile.pixel(-680.0, 0.0)
    assert tile.depth[round(y), round(x)] == pytest.approx(-80, abs=MM_PER_PX)
    assert tile.inward[round(y), round(x)] < -70
    assert tile.depth[tile.inward > 0].max() == pytest.approx(150, abs=2 * MM_PER_PX)


@given(st.floats(0, 100), st.floats(-640, -470), st.floats(-100, 100))
def test_lift_takes_parallax_off(height: float, x: float, y: float) -> None:
    """What is seen of a point at a height, plus lift times height, is the point's own distance from the line."""
    (tile,) = _ATLAS.tiles
    view = _ATLAS.view
    looks = view.felt(view.pixels([[x, y, height]]))[0]
    column, row = tile.pixel(*looks)
    at = (min(max(round(row), 0), tile.shape[0] - 1), min(max(round(column), 0), tile.shape[1] - 1))
    assert looks[0] + 600 + tile.lift[at] * height == pytest.approx(x + 600, abs=0.6)


_ATLAS = Atlas(calibration())


def test_a_hand_at_the_rim_of_a_long_table_shifts_by_the_figure_of_the_design() -> None:
    """49 mm at 100 mm of height, for a line 830 mm from under a camera 1800 mm up."""
    (tile,) = Atlas(calibration(zone(x=-833.0))).tiles
    x, y = tile.pixel(-833.0, 0.0)
    assert 100 * tile.lift[round(y), round(x)] == pytest.approx(46.3, abs=0.5)


def test_past_line_follows_a_bent_line() -> None:
    line = np.array([[0.0, 0.0], [100.0, 0.0], [170.0, 70.0]])
    points = np.array([[50.0, 20.0], [50.0, -20.0], [135.0, 35.0], [-40.0, 5.0], [240.0, 140.0]])
    assert past_line(points, line) == pytest.approx([20.0, -20.0, 0.0, 5.0, 0.0], abs=1e-6)


def test_players_left_and_right_both_reach_inwards() -> None:
    right = Zone(kind="bet", seat="2", outline=(point(600, -120), point(600, 120), point(450, 120), point(450, -120)),
                 line=(point(600, -120), point(600, 120)))  # fmt: skip
    one, two = Atlas(calibration(zone(), right)).tiles
    for tile, inside in ((one, (-520.0, 0.0)), (two, (520.0, 0.0))):
        x, y = tile.pixel(*inside)
        assert tile.depth[round(y), round(x)] == pytest.approx(80, abs=3)
        assert tile.lift[round(y), round(x)] > 0  # seen further out than it is
    assert one.top != two.top


@pytest.mark.parametrize(
    ("broken", "says"),
    [
        (msgspec.structs.replace(calibration(), lens=None), "tabled calibrate lens"),
        (msgspec.structs.replace(calibration(), plane=None), "tabled calibrate plane"),
        (msgspec.structs.replace(calibration(), plane=plane(high_mm=200.0)), "calibrate plane"),
        (msgspec.structs.replace(calibration(), zones=Zones(zones=(), dealer=point(0, 0))), "calibrate zones"),
        (calibration(zone(x=-1500.0)), "not wholly in the picture"),
        (calibration(msgspec.structs.replace(zone(), line=(point(-600, 0),))), "calibrate zones"),
        (calibration(msgspec.structs.replace(zone(), line=(point(-600, 0), point(-600, 3)))), "draw the zone again"),
        (calibration(fx_upx=0), "calibrate lens"),
    ],
)
def test_a_calibration_that_cannot_be_used_names_the_step_to_do_again(broken: Calibration, says: str) -> None:
    with pytest.raises(GeometryError, match=says):
        Atlas(broken)


def test_a_seat_without_a_zone_and_a_picture_of_another_size_are_refused() -> None:
    with pytest.raises(GeometryError, match="seat 7"):
        Atlas(calibration(), ("7",))
    with pytest.raises(GeometryError, match="640 x 480"):
        Atlas(calibration()).warp(np.zeros((480, 640, 3), np.uint8))
