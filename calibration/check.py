"""Does the table still stand as it was measured?  A pure function: the calibration and how the devices are in, findings
out, each with the step to repeat.

`tabled.shell.checkup` asks it at every start of the daemon and once a minute, ``tabled calibrate check`` whenever
somebody wants to know.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import msgspec

from tabled.model.calibration import Calibration
from tabled.model.ruling import Reason

MS = 1_000_000

MISSING = "calibration_missing"
KNOCKED = "calibration_knocked"
FOCUS = "calibration_focus"
HIDDEN = "calibration_markers_hidden"
DEAD = "calibration_antenna_dead"
UNREAD = "calibration_antenna_unread"
REWIRED = "calibration_antenna_rewired"
UNMEASURED = "calibration_antenna_unmeasured"
SPREAD = "calibration_clock_spread"
PANEL = "calibration_panel_clock"
CHANGED = "calibration_changed"
DAMAGED = "calibration_damaged"

DEAD_MS = 10_000
"""An antenna without a clean look for so long is dead, where every look is heard."""
UNREAD_PILES = 3
"""So many piles that the camera saw land and no antenna read are no accident."""
KNOCKED_UPX = 1_500_000
"""Markers that are on average so many millionths of a pixel from where they were: the camera was knocked."""
SPREAD_NS = 20 * MS
PANEL_MS = 20
NEEDED = ("lens", "plane", "zones")
"""Without these the camera reports nothing."""
FOR_DEALER = (DEAD, UNREAD)
STEP_OF_REASON = {"moved": (KNOCKED, "plane"), "focus": (FOCUS, "lens")}


class AntennaNow(msgspec.Struct, frozen=True, kw_only=True):
    """One antenna of table.toml now.

    ``clean_ms`` is the age of the newest clean look that was heard of it, None where its reader is lost or has only
    just come (which is told otherwise); within ``within_ms`` one had to be heard.  ``unread`` counts the piles that the
    camera saw land there since a tag came there last.
    """

    device: str
    antenna: int
    place: str
    clean_ms: int | None = None
    within_ms: int = DEAD_MS
    unread: int = 0


class CameraNow(msgspec.Struct, frozen=True, kw_only=True):
    """The camera now: the seats ("" for the whole table) where it is not to be trusted and why; and, where its picture
    was looked at, how many of the plane's markers were found and how far off they are on average."""

    distrusted: Mapping[str, str] = {}
    markers_seen: int | None = None
    moved_upx: int | None = None


class FilesNow(msgspec.Struct, frozen=True, kw_only=True):
    """The calibration's files now: the digest of them, or why they cannot be read and the step that makes them."""

    digest: str = ""
    why: str = ""
    step: str = ""


class Snapshot(msgspec.Struct, frozen=True, kw_only=True):
    """How the devices are.  ``panels`` is the width of each panel's clock in ms; ``camera`` None: the table has
    none; ``files`` None: they were not read again."""

    antennas: tuple[AntennaNow, ...] = ()
    panels: Mapping[str, int] = {}
    camera: CameraNow | None = None
    files: FilesNow | None = None


class Finding(msgspec.Struct, frozen=True):
    """Something is not as it was measured.  ``step`` is the one to repeat; ``fault``: the dealer must know too."""

    step: str
    reason: Reason
    fault: bool = False


def check(calibration: Calibration, now: Snapshot) -> tuple[Finding, ...]:
    """Everything that is not as it was measured."""
    return (
        *_files(calibration, now),
        *_sections(calibration, now),
        *_camera(calibration, now),
        *_antennas(calibration, now),
        *_clocks(calibration, now),
    )


def _found(code: str, step: str, **params: int | str) -> Finding:
    return Finding(step, Reason(code, {**params, "step": step}), code in FOR_DEALER)


def _files(calibration: Calibration, now: Snapshot) -> Iterator[Finding]:
    files = now.files
    if files is None:
        return
    if files.why:
        yield _found(DAMAGED, files.step or "list", why=files.why[:240])
    elif files.digest != calibration.digest:
        yield _found(CHANGED, "check")


def _sections(calibration: Calibration, now: Snapshot) -> Iterator[Finding]:
    if now.camera is not None:
        for name in NEEDED:
            if getattr(calibration, name) is None:
                yield _found(MISSING, name)


def _camera(calibration: Calibration, now: Snapshot) -> Iterator[Finding]:
    camera = now.camera
    if camera is None:
        return
    whys = set(camera.distrusted.values())
    far = camera.moved_upx is not None and camera.moved_upx > KNOCKED_UPX
    for why, (code, step) in STEP_OF_REASON.items():
        if why in whys or (code == KNOCKED and far):
            yield _found(code, step)
    markers = calibration.plane.markers if calibration.plane is not None else ()
    square = sum(len(marker.corners) == 4 for marker in markers)
    if camera.markers_seen is not None and camera.markers_seen < square:
        yield _found(HIDDEN, "plane", seen=camera.markers_seen, count=square)


def _antennas(calibration: Calibration, now: Snapshot) -> Iterator[Finding]:
    for one in now.antennas:
        name: dict[str, int | str] = {"device": one.device, "antenna": one.antenna, "place": one.place}
        if one.clean_ms is not None and one.clean_ms > one.within_ms:
            yield _found(DEAD, "antennas", **name)
        elif one.unread >= UNREAD_PILES:
            yield _found(UNREAD, "antennas", count=one.unread, **name)
    if calibration.antennas is None:
        return
    measured = {(a.device, a.antenna): a.place for a in calibration.antennas.antennas}
    for one in now.antennas:
        was = measured.get((one.device, one.antenna))
        if was is None:
            yield _found(UNMEASURED, "antennas", device=one.device, antenna=one.antenna, place=one.place)
        elif was != one.place:
            yield _found(REWIRED, "antennas", device=one.device, antenna=one.antenna, place=one.place, was=was)


def _clocks(calibration: Calibration, now: Snapshot) -> Iterator[Finding]:
    time = calibration.time
    if now.camera is not None and time is not None and time.spread_ns > SPREAD_NS:
        yield _found(SPREAD, "time", ms=-(-time.spread_ns // MS))
    for device, width in sorted(now.panels.items()):
        if width > PANEL_MS:
            yield _found(PANEL, "time", device=device, ms=width)
