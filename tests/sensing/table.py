"""A small table's calibration, as numbers; no picture was taken for it."""

from __future__ import annotations

from tabled.model.calibration import Dealer, Dealers, Lens, Plane, Point, Zone, Zones

LENS = Lens(
    width_px=96,
    height_px=64,
    fx_upx=80_000_000,
    fy_upx=80_000_000,
    cx_upx=48_000_000,
    cy_upx=32_000_000,
    distortion_e9=(0, 0, 0, 0, 0),
    rms_upx=200_000,
    views=20,
)
PLANE = Plane(rotation_nrad=(3_141_592_653, 0, 0), translation_um=(0, 0, 1_000_000), markers=(), residual_um=400)


def zones(*seats: str) -> Zones:
    """One square a seat, in a row."""
    made = []
    for n, seat in enumerate(seats):
        x, w = n * 200_000, 150_000
        corners = (Point(x, 0), Point(x + w, 0), Point(x + w, w), Point(x, w))
        made.append(Zone(kind="bet", seat=seat, outline=corners, line=corners[:2]))
    return Zones(zones=tuple(made), dealer=Point(0, 900_000))


DEALERS = Dealers(dealers=(Dealer(name="Ada", reaction_min_ms=310, reaction_max_ms=990, presses=40),))
