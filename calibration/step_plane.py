"""Step 2, the plane: where the camera hangs over the felt, from markers or measured points."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import TYPE_CHECKING

from calibration.files import save
from calibration.plan import section_done
from calibration.steps import Done, Figure, Given, Option, Outcome, Picture, Step, StepError, Talk
from tabled.model.calibration import Lens, Plane
from tabled.sensing.sections import CalibrationError, load

if TYPE_CHECKING:
    from collections.abc import Sequence

    from calibration.optics import Optics
    from calibration.pictures import Shot
    from calibration.plane import PlaneResult

MAX_STALE_MM = 1.5
"""A plane whose markers the lens of today would put this far elsewhere was made with another lens."""


def _run(talk: Talk, folder: Path, given: Given) -> Outcome:
    from calibration import marks, places, plane, survey_markers  # noqa: PLC0415  OpenCV: only for the step itself
    from calibration.live import shots as shots_of  # noqa: PLC0415  as above
    from calibration.optics import Optics  # noqa: PLC0415  as above

    lens = load(folder, ("lens",)).lens
    assert lens is not None, "the step needs the lens step"
    optics = Optics.of(lens)
    shots: Sequence[Shot] = ()
    if given["points"].strip():
        where, seen_at = places.points(given["points"])
        import numpy as np  # noqa: PLC0415  as above

        result = plane.from_points(optics, where, np.array(seen_at, dtype=np.float64).reshape(-1, 2))
        shots = shots_of(talk, given) if given["from"].strip() or given["source"].strip() else ()
    else:
        size = _size(given["size-mm"])
        if not given["markers"].strip() and not given["distances"].strip():
            raise StepError(
                "say where the markers lie: --markers FILE with a line 'id,x_mm,y_mm' for each, or --distances "
                "0-3=1820,1-4=1790 between their middles",
                code="no-list",
            )
        shots = shots_of(talk, given)
        seen = marks.find(shots, optics, given["dictionary"])
        talk.say(f"markers seen: {', '.join(map(str, seen)) or 'none'}")
        if given["markers"].strip():
            result = plane.from_markers(optics, seen, places.markers(given["markers"]), size)
        else:
            result = survey_markers.survey(optics, seen, places.distances(given["distances"]), size)
    save(folder, result.plane)
    return _outcome(folder, optics, result, shots)


def _size(text: str) -> float:
    try:
        size = float(text.replace(",", "."))
    except ValueError:
        size = 0.0
    if not 20 <= size <= 400:
        raise StepError(f"{text!r} is no size of a marker; measure the side of the black square in mm", code="size")
    return size


def _outcome(folder: Path, optics: Optics, result: PlaneResult, shots: Sequence[Shot]) -> Outcome:
    from calibration import plane_plots, rectify  # noqa: PLC0415  OpenCV
    from calibration.pictures import png  # noqa: PLC0415  OpenCV
    from calibration.seat_errors import at_lines  # noqa: PLC0415  OpenCV

    eye = result.pose.eye
    figures = [
        Figure(label="markers or points", value=str(len(result.off_mm)), good=len(result.off_mm) >= 4),
        Figure(label="measured against seen, RMS", value=f"{result.rms_mm:.2f} mm", good=result.rms_mm <= 2.0),
        Figure(label="reprojection", value=f"{result.rms_px:.2f} px", good=result.rms_px <= 1.0),
        Figure(label="height of the camera", value=f"{eye[2]:.0f} mm"),
    ]
    if result.size_mm:
        figures.append(Figure(label="side of the markers as seen", value=f"{result.size_mm:.2f} mm", good=True))
    zones = None
    with contextlib.suppress(CalibrationError):  # damaged ones are told at their own step
        zones = load(folder, ("zones",)).zones
    if zones is not None:
        for seat, error in at_lines(optics, result.plane, zones):
            figures.append(Figure(label=f"seat {seat}, at its line", value=f"± {error:.2f} mm", good=error <= 2.0))
    warnings = []
    if result.rms_mm > 2.0:
        warnings.append(
            f"the places differ by {result.rms_mm:.1f} mm from what is seen: measuring them again would make all better"
        )
    if zones is not None:
        warnings.append("the zones were drawn with an earlier plane: look at them once more (tabled calibrate zones)")
    pictures = [
        Picture(name="error", caption="What a millimetre is worth, place by place.", png=png(
            plane_plots.error_map(optics, result))),
    ]  # fmt: skip
    if shots:
        part = rectify.window(optics, result.pose)
        level = png(rectify.level(shots[-1].image, optics, result.pose, part))
        pictures.append(Picture(name="felt", caption="The felt from straight above.", png=level))
        seen = png(plane_plots.seen(optics, result, shots[-1]))
        pictures.append(Picture(name="markers", caption="Markers as seen and where the list puts them.", png=seen))
    return Outcome(
        summary=f"Plane: {len(result.off_mm)} places, {result.rms_mm:.1f} mm RMS, camera {eye[2] / 1000:.2f} m up.",
        figures=tuple(figures),
        pictures=tuple(pictures),
        warnings=tuple(warnings),
    )


def stale(lens: Lens, plane: Plane) -> bool:
    """True if ``plane`` was not made with ``lens``: its markers would lie elsewhere than it says."""
    import numpy as np  # noqa: PLC0415  OpenCV

    from calibration.optics import Optics, Pose, felt, marked  # noqa: PLC0415  OpenCV

    if not plane.markers:
        return False
    lie, seen = marked(plane)
    off = felt(Optics.of(lens), Pose.of(plane), seen) - lie
    rms = float(np.sqrt(np.mean(np.sum(off**2, axis=1))))
    return not rms <= plane.residual_um / 1000 + MAX_STALE_MM


def _done(folder: Path) -> Done:
    found = section_done(folder, "plane")
    if found.state != "done":
        return found
    try:
        whole = load(folder, ("lens", "plane"))
    except CalibrationError as problem:
        return Done(state="again", text=str(problem))
    if whole.lens is not None and whole.plane is not None and stale(whole.lens, whole.plane):
        return Done(state="again", text="the lens was measured anew since: the plane does not fit it any more")
    return found


STEP = Step(
    name="plane",
    title="Plane",
    about=(
        "Lay four to six markers ('tabled calibrate markers') flat on the felt, near the corners and between seats. "
        "Measure the middle of each in mm from one point, x to the right and y away from the dealer, and write a line "
        "'id,x_mm,y_mm' for each. Or measure only the distances between their middles, the two diagonals at least."
    ),
    run=_run,
    done=_done,
    needs=("lens",),
    minutes=3,
    options=(
        Option(name="from", label="Pictures (files, a folder, or a pattern)", kind="files"),
        Option(name="source", label="Camera: /dev/video0, an rtsp:// or http:// address, or a film"),
        Option(name="markers", label="List of markers: a CSV file, or its lines: id,x_mm,y_mm[,turn_degrees]"),
        Option(name="distances", label="Or distances between middles, the first along the table: 0-3=1820, 1-4=1790"),
        Option(name="points", label="Or measured points: a CSV file, or its lines: x_mm,y_mm,u_px,v_px"),
        Option(name="size-mm", label="Side of the markers' black square, mm", kind="number", default="90"),
        Option(name="dictionary", label="Kind of the markers", default="4X4_50"),
    ),
)
