"""What was measured of one table: lens, plane, zones, colours, times, antennas, dealers.  Whole numbers with units.

`calibration` measures and writes these, one file a section; sensing, fusion and the daemon read them.  Scaled integers
keep the bytes, and so the digest, the same on every machine.

The table's frame: millimetres (here µm) on the felt, x and y right-handed seen from above, z up from the felt.  Its
origin and axes are those in which the markers of the plane step were measured.  The camera's frame is OpenCV's: x
right, y down, z away from the camera; a point is at ``R * table + t`` with R the rotation of the Rodrigues vector.
"""

from __future__ import annotations

from typing import Literal

import msgspec

SCHEMA = 1
"""The version of all sections.  A section of an older one is upgraded when it is read, of a newer one refused."""

ZoneKind = Literal["bet", "stack", "tray", "board", "pot"]


class Point(msgspec.Struct, frozen=True, order=True):
    """A point of the felt, in the table's frame, in µm."""

    x_um: int
    y_um: int


class Lens(msgspec.Struct, frozen=True, kw_only=True):
    """A pinhole camera with Brown-Conrady distortion, as OpenCV's ``calibrateCamera`` gives it.

    Focal lengths and principal point in millionths of a pixel, ``distortion_e9`` (k1, k2, p1, p2, k3[, k4, k5, k6]) in
    thousand millionths; ``rms_upx`` is the reprojection error over all views.
    """

    width_px: int
    height_px: int
    fx_upx: int
    fy_upx: int
    cx_upx: int
    cy_upx: int
    distortion_e9: tuple[int, ...]
    rms_upx: int
    views: int


class Marker(msgspec.Struct, frozen=True, kw_only=True):
    """A marker that stays on the felt or the rail: where its corners are on the table, and where the camera saw them.

    ``corners`` in the order of the detector (clockwise from the top left of the printed marker), ``seen_upx`` the raw
    picture's coordinates (x, y) of the same corners in millionths of a pixel.
    """

    id: int
    corners: tuple[Point, ...]
    seen_upx: tuple[tuple[int, int], ...]


class Plane(msgspec.Struct, frozen=True, kw_only=True):
    """Where the camera hangs: Rodrigues vector in thousand millionths of a radian, translation in µm."""

    rotation_nrad: tuple[int, int, int]
    translation_um: tuple[int, int, int]
    markers: tuple[Marker, ...]
    residual_um: int
    """Root mean square distance, on the felt, between the points measured and the points seen."""


class Zone(msgspec.Struct, frozen=True, kw_only=True):
    """An area of the felt.  No two zones of a table overlap.

    ``line`` is the seat's betting line, for ``"bet"`` zones: two or more points, the edge of ``outline`` over which
    the seat's player reaches.  The player sits on the far side of it from the middle of the outline.
    """

    kind: ZoneKind
    seat: str = ""
    outline: tuple[Point, ...]
    line: tuple[Point, ...] = ()


class Zones(msgspec.Struct, frozen=True, kw_only=True):
    """All zones of the table and where the dealer sits (the side from which the dealer's arm comes)."""

    zones: tuple[Zone, ...]
    dealer: Point


class Colour(msgspec.Struct, frozen=True, kw_only=True):
    """The look of one denomination from above: CIE L*a*b* (D65) of its face relative to the felt's white reference.

    In thousandths, with the spread (one standard deviation, all three channels together) over the chips that were seen.
    """

    denomination: int
    lab_e3: tuple[int, int, int]
    spread_e3: int
    diameter_um: int = 39_000


class Palette(msgspec.Struct, frozen=True, kw_only=True):
    """Colours of the table's chips, and of its felt."""

    colours: tuple[Colour, ...]
    felt_lab_e3: tuple[int, int, int]


class CameraTime(msgspec.Struct, frozen=True, kw_only=True):
    """The camera's clock against the readers' and the panel's.

    ``offset_ns`` is added to the driver's time stamp of a frame's first row to be on the host's monotonic clock, with
    ``spread_ns`` (half width that held 95 % of the placements); ``readout_ns`` is the time from the first row to the
    last, ``exposure_ns`` that of one row; ``panel_offset_ns`` is what the panel's presses come late on the wire.
    """

    offset_ns: int
    spread_ns: int
    readout_ns: int
    exposure_ns: int
    panel_offset_ns: int = 0
    placements: int = 0


class AntennaRead(msgspec.Struct, frozen=True, kw_only=True):
    """What was measured of one antenna; rates in parts per million of looks."""

    device: str
    antenna: int
    place: str
    """As in table.toml: ``"bet:3"``, ``"stack:3"``, ``"tray"``, ``"pot"``."""
    lone_miss_ppm: int
    stack_miss_ppm: int
    sweep_ns: int
    heat: tuple[tuple[int, int, int], ...] = ()
    """The read zone: (x mm, y mm, reads per thousand looks), in the table's frame."""


class Bleed(msgspec.Struct, frozen=True, kw_only=True):
    """How often a chip on one place is read at another."""

    chip_at: str
    read_at: str
    ppm: int


class Antennas(msgspec.Struct, frozen=True, kw_only=True):
    """All antennas of the table, and every pair that bleeds."""

    antennas: tuple[AntennaRead, ...]
    bleed: tuple[Bleed, ...] = ()


class Dealer(msgspec.Struct, frozen=True, kw_only=True):
    """How long after a word this dealer presses its key: the span that held the exercise's presses."""

    name: str
    reaction_min_ms: int
    reaction_max_ms: int
    presses: int


class Dealers(msgspec.Struct, frozen=True, kw_only=True):
    """The dealers who did the exercise."""

    dealers: tuple[Dealer, ...]


class Calibration(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that was measured of a table; a section that was not is None."""

    lens: Lens | None = None
    plane: Plane | None = None
    zones: Zones | None = None
    palette: Palette | None = None
    time: CameraTime | None = None
    antennas: Antennas | None = None
    dealers: Dealers | None = None
    digest: str = ""
    """SHA-256 over all sections' canonical bytes, in hexadecimal; stands in the journal at each start."""
