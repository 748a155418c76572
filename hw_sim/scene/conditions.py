"""Named conditions under which the table is looked at."""

from __future__ import annotations

import msgspec


class Conditions(msgspec.Struct, frozen=True, kw_only=True):
    """What light, camera and people do.  Shares are 0 to 1, times ms unless named otherwise.

    ``white_e``: electrons of a white pixel (less: more noise).  ``flicker``: depth of the lamps' modulation at
    ``flicker_hz``.  ``key``: share of the light that comes from one lamp of ``lamp_mm`` radius, the rest is soft from
    all sides.  ``steps``: times that the light steps.  ``drift``: of the exposure, slowly.  ``lean``: how far people
    lean over the table, in mm, and ``shade``: how much of the soft light they take away.  ``psf_px``: blur of the lens.
    """

    name: str = "baseline"
    white_e: float = 9000.0
    read_e: float = 4.0
    exposure_ms: float = 5.0
    readout_ms: float = 14.0
    flicker: float = 0.0
    flicker_hz: float = 100.0
    key: float = 0.45
    lamp_mm: float = 180.0
    light: float = 1.0
    steps: int = 0
    drift: float = 0.01
    lean: float = 60.0
    shade: float = 0.35
    psf_px: float = 0.55
    jpeg: int = 85
    sleeves: str = "mixed"
    chips: str = "mixed"
    knocks: int = 0
    occlusions: int = 0
    defocus_px: float = 0.0
    dirt: int = 0
    drop: float = 0.0
    truncate: float = 0.0
    late: float = 0.0
    acts: str = "all"
    foreign: float = 0.06


_BASE = Conditions()


def _with(name: str, **changes: object) -> Conditions:
    return msgspec.structs.replace(_BASE, name=name, **changes)


CONDITIONS: dict[str, Conditions] = {
    c.name: c
    for c in (
        _BASE,
        _with("flicker", flicker=0.25, flicker_hz=100.0),
        _with("flicker120", flicker=0.25, flicker_hz=120.0, exposure_ms=4.0),
        _with("lightstep", steps=3),
        _with("shadows", lean=260.0, shade=0.7, key=0.5),
        _with("felt_sleeve", sleeves="felt"),
        _with("black_sleeve", sleeves="black"),
        _with("felt_chips", chips="felt"),
        _with("dark", white_e=1200.0, light=0.45, exposure_ms=10.0),
        _with("hard_light", key=0.85, lamp_mm=25.0),
        _with("noise", white_e=700.0, read_e=6.0, jpeg=75),
        _with("blur", exposure_ms=15.0),
        _with("knocked", knocks=2),
        _with("occluded", occlusions=2),
        _with("defocus", defocus_px=2.2),
        _with("dirt", dirt=3),
        _with("dropped", drop=0.03, late=0.03),
        _with("truncated", truncate=0.02),
        _with("idle", acts="idle", lean=160.0),
    )
}
"""``defocus`` and ``dirt`` come after a while, ``knocked`` at instants of its own: see `Disturbance` in the truth."""


def named(conditions: str | Conditions) -> Conditions:
    """A condition by its name.  ValueError lists the names."""
    if isinstance(conditions, Conditions):
        return conditions
    if conditions not in CONDITIONS:
        raise ValueError(f"{conditions!r} is no condition; take one of {', '.join(CONDITIONS)}")
    return CONDITIONS[conditions]
