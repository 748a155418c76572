"""Step 1, the lens: views of the printed board, from files or the camera, and what they say of the lens."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from calibration.files import save
from calibration.plan import section_done
from calibration.steps import Figure, Given, Option, Outcome, Picture, Step, StepError, Talk

if TYPE_CHECKING:
    from calibration.lens import LensResult
    from calibration.pictures import Shot
    from calibration.views import Views

WANTED = 25
MAX_LIVE_FRAMES = 30 * 60 * 15
"""A quarter of an hour of a camera."""


def _run(talk: Talk, folder: Path, given: Given) -> Outcome:
    from calibration import board, lens  # noqa: PLC0415  OpenCV: only for the step itself
    from calibration.views import Views  # noqa: PLC0415  as above

    chosen = board.parse(given["board"])
    _measured_bar(given["bar-mm"])
    views = Views(chosen)
    if given["from"].strip():
        _from_files(talk, views, given["from"])
    elif given["source"].strip():
        _from_camera(talk, views, given["source"].strip())
    else:
        raise StepError(
            "say where the pictures come from: --source /dev/video0 for the camera, or --from FILES", code="no-files"
        )
    talk.say(f"{len(views.taken)} views taken, {len(views.refused)} pictures refused; computing the lens")
    result = lens.calibrate(views)
    save(folder, result.lens)
    return _outcome(views, result)


def _measured_bar(text: str) -> None:
    """The board's bar of 100 mm as it was measured on paper: a printer that scaled it gives a board of other size."""
    if not text.strip():
        return
    try:
        lengths = [float(part.replace(",", ".")) for part in text.split("/")]
    except ValueError:
        raise StepError(f"{text!r} is no length in mm; measure the board's bars", code="bar") from None
    if any(abs(length - 100) > 0.7 for length in lengths):
        raise StepError(
            f"the bar of 100 mm measures {text} mm: the board was scaled in printing. Print it again at 'actual size' "
            "(100 %), not 'fit to page'",
            code="bar",
        )


def _from_files(talk: Talk, views: Views, lines: str) -> None:
    from calibration import pictures  # noqa: PLC0415  OpenCV
    from calibration.views import Refused  # noqa: PLC0415  OpenCV

    paths = pictures.expand(lines)
    for number, path in enumerate(paths, 1):
        talk.check()
        shot = pictures.read_file(path)
        found = views.offer(shot)
        if number % 4 == 1:
            _show(talk, views, shot)
        talk.progress(number, len(paths), found.reason if isinstance(found, Refused) else f"{found.name}: taken")
        if isinstance(found, Refused):
            talk.say(f"{path.name}: not taken, {found.reason}")
    _show(talk, views)


def _from_camera(talk: Talk, views: Views, source: str) -> None:
    from calibration import lens, pictures  # noqa: PLC0415  OpenCV
    from calibration.views import Refused  # noqa: PLC0415  OpenCV

    talk.say("Hold the board before the camera, still for a moment at each place; go to all corners, and tilt it.")
    last = ""
    for number, shot in enumerate(pictures.from_source(source)):
        talk.check()
        found = views.offer(shot, live=True)
        if number % 5 == 0 or not isinstance(found, Refused):
            _show(talk, views, shot)
        told = found.reason if isinstance(found, Refused) else f"taken; not yet covered: {views.missing() or 'nothing'}"
        if told != last:
            talk.progress(len(views.taken), WANTED, told)
            last = told
        enough = len(views.taken) >= WANTED and not views.missing()
        if enough and views.covered() >= lens.MIN_CELLS:
            return
        if number >= MAX_LIVE_FRAMES:
            talk.say("a quarter of an hour is over: going on with what there is")
            return


def _show(talk: Talk, views: Views, shot: Shot | None = None) -> None:
    from calibration.pictures import jpeg  # noqa: PLC0415  OpenCV
    from calibration.views import coverage_picture  # noqa: PLC0415  OpenCV

    talk.look(jpeg(coverage_picture(views, shot)))


def _outcome(views: Views, result: LensResult) -> Outcome:
    from calibration import lens_plots  # noqa: PLC0415  OpenCV
    from calibration.lens import MAX_FOCAL_SPREAD, tilts  # noqa: PLC0415  OpenCV
    from calibration.pictures import png  # noqa: PLC0415  OpenCV
    from calibration.views import coverage_picture  # noqa: PLC0415  OpenCV

    fit, optics = result.fit, result.fit.optics
    focal = float(optics.matrix[0, 0])
    covered = views.covered()
    return Outcome(
        summary=f"Lens: RMS {fit.rms_px:.2f} px over {len(result.views)} views.",
        figures=(
            Figure(label="RMS of the corners", value=f"{fit.rms_px:.3f} px", good=fit.rms_px <= 0.3),
            Figure(
                label="RMS on views left out of the fit",
                value=f"{result.held_out_rms_px:.3f} px",
                good=result.held_out_rms_px <= 0.4,
            ),
            Figure(label="views", value=f"{len(result.views)} ({len(result.left_out)} left out)", good=True),
            Figure(label="picture covered", value=f"{covered:.0%}", good=covered >= 0.9),
            Figure(label="greatest tilt", value=f"{tilts(fit).max():.0f}°", good=bool(tilts(fit).max() > 20)),
            Figure(
                label="focal length",
                value=f"{focal:.1f} ± {fit.focal_spread_px:.1f} px",
                good=fit.focal_spread_px < MAX_FOCAL_SPREAD * focal / 2,
            ),
            Figure(
                label="distortion",
                value=f"{len(optics.distortion)} coefficients",
            ),
        ),
        pictures=(
            Picture(name="coverage", caption="Where the board's corners were.", png=png(coverage_picture(views))),
            Picture(name="views", caption="Residual of each view.", png=png(lens_plots.per_view(result))),
            Picture(name="residuals", caption="Residual of each corner.", png=png(lens_plots.arrows(result))),
            Picture(name="grid", caption="A square grid through the lens.", png=png(lens_plots.grid(result))),
        ),
        warnings=result.warnings,
    )


STEP = Step(
    name="lens",
    title="Lens",
    about=(
        "Print the board ('tabled calibrate board') at actual size, glue it on something flat, measure its bar. Hold "
        "it before the camera in some 25 places: all corners of the picture, near and far, tilted each way, still each "
        "time."
    ),
    run=_run,
    done=lambda folder: section_done(folder, "lens"),
    minutes=4,
    options=(
        Option(name="from", label="Pictures (files, a folder, or a pattern)", kind="files"),
        Option(name="source", label="Camera: /dev/video0, an rtsp:// or http:// address, or a film"),
        Option(name="board", label="Which board: a4, a3, or 10x7:26:19.5:5X5_100", default="a4"),
        Option(name="bar-mm", label="What the bar of 100 mm measures on paper (both bars: 100/100)"),
    ),
)
