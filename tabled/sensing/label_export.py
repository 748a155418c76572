"""Labels as the truth of a scene, in the shape that ``tests/vision`` compares the eye's reports with.

One JSON object with ``steps`` and ``landings`` (and ``left_out``, how many labels say too little for it).  Instants are
on the host's monotonic clock as the recording has it, in ns; places in mm of the table's frame, by the calibration that
is in the recording.  A hand crossed the line between two frames: the middle of the two stands for it.  A person who
steps through frames sees no retreats and pauses within a visit, so those are 0: it is a truth of visits and landings.
"""

from __future__ import annotations

from typing import Any

import msgspec

from tabled.model.calibration import Calibration
from tabled.sensing import sections
from tabled.sensing.geometry import GeometryError, View
from tabled.sensing.label import LabelError, Labels, Landing, Visit
from tabled.sensing.recording import Recording


def calibration_in(recording: Recording) -> Calibration:
    """The calibration that a recording carries, sections that it has not are None.  Raises `LabelError`."""
    found: dict[str, Any] = {}
    for name, raw in recording.calibration().items():
        section = name.removesuffix(".json")
        if section not in sections.NAMES:
            continue
        try:
            found[section] = sections.decode(raw, section)
        except sections.CalibrationError as error:
            raise LabelError(f"{recording.path}: its calibration cannot be used: {error}") from error
    return msgspec.convert(found, Calibration)


def view_of(calibration: Calibration) -> View | None:
    """Pixels to millimetres; None where lens or plane were not measured."""
    if calibration.lens is None or calibration.plane is None:
        return None
    try:
        return View(calibration.lens, calibration.plane)
    except GeometryError as error:
        raise LabelError(f"the recording's calibration cannot be used: {error}") from error


def export(labels: Labels, recording: Recording) -> bytes:
    """The truth as JSON.  Raises `LabelError` where landings need a calibration that the recording has not."""
    calibration = calibration_in(recording)
    view = view_of(calibration)
    time = calibration.time
    shift_ns = 0 if time is None else time.offset_ns + time.exposure_ns // 2
    stamps = recording.stamps_ns

    def crossed(frame: int) -> int:
        before = stamps[max(0, frame - 1)]
        return (before + stamps[min(frame, len(stamps) - 1)]) // 2 + shift_ns

    steps: list[dict[str, Any]] = []
    left_out = 0
    for visit in labels.visits:
        if visit.leave is None or visit.by == "unsure":
            left_out += 1
            continue
        steps += _steps(visit, crossed(visit.enter), crossed(visit.leave))
    landings = []
    for landing in labels.landings:
        if view is None:
            raise LabelError(
                "the recording has no lens.json and plane.json, so no landing has a place; record again with "
                "[camera] calibration set"
            )
        landings.append(_landing(landing, stamps[landing.frame] + shift_ns, view))
    truth = {
        "steps": sorted(steps, key=lambda s: (s["at_ns"], s["seat"])),
        "landings": landings,
        "exposure_ns": 0 if time is None else time.exposure_ns,
        "readout_ns": 0 if time is None else time.readout_ns,
        "left_out": left_out,
    }
    return msgspec.json.format(msgspec.json.encode(truth), indent=1) + b"\n"


def _steps(visit: Visit, enter_ns: int, leave_ns: int) -> list[dict[str, Any]]:
    both = (("enters", enter_ns), ("leaves", leave_ns))
    return [{"at_ns": at, "seen_ns": at, "seat": visit.seat, "step": step, "by": visit.by} for step, at in both]


def _landing(landing: Landing, free_ns: int, view: View) -> dict[str, Any]:
    x, y = view.felt([[landing.x_px, landing.y_px]])[0]
    return {
        "at_ns": free_ns,
        "hidden_until_ns": free_ns,
        "seat": landing.seat,
        "x_mm": round(float(x), 1),
        "y_mm": round(float(y), 1),
        "count": 1,
        "value": landing.denomination,
        "values": [landing.denomination],
    }
