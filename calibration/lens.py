"""The lens from views of the board: camera matrix and distortion, with what speaks against them.

Method: Zhang, "A flexible new technique for camera calibration", 2000, as OpenCV's ``calibrateCamera`` has it.  Five
distortion coefficients are fitted first; the rational model (eight) is taken where views that were left out of the fit
say that it is better, for a model with more parameters always fits those that were left in.
"""

from __future__ import annotations

from collections.abc import Sequence

import cv2
import msgspec
import numpy as np
import numpy.typing as npt

from calibration.optics import Optics
from calibration.steps import StepError
from calibration.views import View, Views
from tabled.model.calibration import Lens

Floats = npt.NDArray[np.float64]

MIN_VIEWS = 12
MIN_CELLS = 0.75
"""Share of the cells of the coverage map that had a corner."""
MIN_TILTED = 4
TILT_DEGREES = 15.0
MAX_RMS_PX = 0.8
"""Above it the board is not flat, or moved while it was exposed."""
MAX_FOCAL_SPREAD = 0.004
"""Standard deviation of the focal length as a share of it: at 1.5 m, 0.4 % are 6 mm of height."""
OUTLIER = 2.5
"""A view whose residual is this many times the median of all is left out."""
NO_OUTLIER_PX = 0.3
"""A view as good as this is kept, however good the others are."""
_RATIONAL_GAIN = 0.97
_STOP = (cv2.TERM_CRITERIA_COUNT | cv2.TERM_CRITERIA_EPS, 100, 1e-9)


class Fit(msgspec.Struct, frozen=True):
    """One fit: the lens, overall RMS in pixels, per view its RMS (n,) and pose ((n, 3) and (n, 3)), and the
    standard deviation of the focal length in pixels."""

    optics: Optics
    rms_px: float
    per_view: Floats
    rvecs: Floats
    tvecs: Floats
    focal_spread_px: float


class LensResult(msgspec.Struct, frozen=True):
    """A lens, the views it is made of, those left out as outliers, and the fit."""

    lens: Lens
    fit: Fit
    views: tuple[View, ...]
    left_out: tuple[tuple[View, float], ...]
    held_out_rms_px: float
    warnings: tuple[str, ...]


def calibrate(views: Views) -> LensResult:
    """The lens of ``views``; raises `StepError` with code "too-few-views", "coverage", "no-tilt", "residual",
    "uncertain" or "folds" where it would not be good enough, and says which views to add."""
    require_enough(views)
    assert views.size is not None
    kept, left_out = list(views.taken), []
    rational, held_out = _choose_model(kept, views.size)
    fit = _fit(kept, views.size, rational=rational)
    for _ in range(3):
        limit = max(OUTLIER * float(np.median(fit.per_view)), NO_OUTLIER_PX)
        bad = [i for i, rms in enumerate(fit.per_view) if rms > limit]
        if not bad or len(kept) - len(bad) < MIN_VIEWS:
            break
        left_out += [(kept[i], float(fit.per_view[i])) for i in bad]
        kept = [view for i, view in enumerate(kept) if i not in bad]
        fit = _fit(kept, views.size, rational=rational)
    _judge(fit, left_out)
    return LensResult(
        lens=fit.optics.lens(fit.rms_px, len(kept)),
        fit=fit,
        views=tuple(kept),
        left_out=tuple(left_out),
        held_out_rms_px=held_out,
        warnings=_warnings(fit, left_out),
    )


def require_enough(views: Views) -> None:
    """Raises `StepError` where views or coverage do not suffice, with the reasons for which pictures were refused."""
    if len(views.taken) < MIN_VIEWS:
        reasons = {r.code: r for r in views.refused}
        told = "; ".join(f"{sum(r.code == code for r in views.refused)} × {r.reason}" for code, r in reasons.items())
        raise StepError(
            f"too few views: {len(views.taken)} good ones, at least {MIN_VIEWS} are needed (25 are better)"
            + (f". Not taken: {told}" if told else "")
            + ". Take more pictures of the board at other places, distances and tilts",
            code="too-few-views",
        )
    _require_whole_board(views)
    share = views.covered()
    if share < MIN_CELLS or views.missing():
        where = views.missing() or "between the places where it was"
        raise StepError(
            f"the board covered {share:.0%} of the picture (at least {MIN_CELLS:.0%}); hold it there as well: {where}",
            code="coverage",
        )


def _require_whole_board(views: Views) -> None:
    """A board that lacks a row or a column fits the one that was named wherever it is: only in all views is it told."""
    board = views.board
    seen = np.zeros(board.corners, dtype=bool)
    for view in views.taken:
        seen[view.seen.ids] = True
    grid = seen.reshape(board.rows - 1, board.columns - 1)
    if not (grid[[0, -1]].any(axis=1).all() and grid[:, [0, -1]].any(axis=0).all()):
        raise StepError(
            f"an edge of the board {board.name} is in none of {len(views.taken)} views: the printed board is smaller "
            "than that. Choose the size that was printed (--board a4 or a3)",
            code="wrong-board",
        )


def residuals(view: View, fit: Fit, index: int) -> Floats:
    """(n, 2) seen less predicted, in pixels, of a view's corners."""
    predicted, _ = cv2.projectPoints(
        view.seen.mm, fit.rvecs[index], fit.tvecs[index], fit.optics.matrix, fit.optics.distortion
    )
    return np.asarray(view.seen.pixels - predicted.reshape(-1, 2), dtype=np.float64)


def tilts(fit: Fit) -> Floats:
    """(n,) degrees between the board and the picture's plane."""
    normals = np.array([cv2.Rodrigues(r)[0][:, 2] for r in fit.rvecs])
    return np.asarray(np.degrees(np.arccos(np.clip(np.abs(normals[:, 2]), 0, 1))), dtype=np.float64)


def _fit(views: Sequence[View], size: tuple[int, int], *, rational: bool) -> Fit:
    flags = cv2.CALIB_RATIONAL_MODEL if rational else 0
    mm = [v.seen.mm.astype(np.float32).reshape(-1, 1, 3) for v in views]
    seen = [v.seen.pixels.astype(np.float32).reshape(-1, 1, 2) for v in views]
    guess = np.array([[size[0], 0, size[0] / 2], [0, size[0], size[1] / 2], [0, 0, 1]], dtype=np.float64)
    try:
        rms, matrix, distortion, rvecs, tvecs, spread, _, per_view = cv2.calibrateCameraExtended(
            mm, seen, size, guess, np.zeros(14 if rational else 5), flags=flags, criteria=_STOP
        )
    except cv2.error as problem:
        raise StepError(
            f"the views do not determine the lens ({str(problem).strip()[:80]}); take others, with the board tilted",
            code="no-tilt",
        ) from problem
    count = 8 if rational else 5
    optics = Optics(size, np.asarray(matrix, np.float64), np.asarray(distortion, np.float64).ravel()[:count])
    return Fit(
        optics,
        float(rms),
        np.asarray(per_view, np.float64).ravel(),
        np.asarray(rvecs, np.float64).reshape(-1, 3),
        np.asarray(tvecs, np.float64).reshape(-1, 3),
        float(np.asarray(spread).ravel()[:2].max()),
    )


def _choose_model(views: Sequence[View], size: tuple[int, int]) -> tuple[bool, float]:
    """Whether the rational model predicts left-out views better, and the RMS of the better model on them."""
    held = views[::4]
    kept = [view for i, view in enumerate(views) if i % 4]
    plain = _held_out(_fit(kept, size, rational=False).optics, held)
    rational = _held_out(_fit(kept, size, rational=True).optics, held)
    better = rational < _RATIONAL_GAIN * plain
    return better, rational if better else plain


def _held_out(optics: Optics, views: Sequence[View]) -> float:
    if optics.folds() > 0.5:
        return float("inf")
    squares = []
    for view in views:
        good, rvec, tvec = cv2.solvePnP(view.seen.mm, view.seen.pixels, optics.matrix, optics.distortion)
        if not good:
            return float("inf")
        predicted, _ = cv2.projectPoints(view.seen.mm, rvec, tvec, optics.matrix, optics.distortion)
        squares.append(np.sum((predicted.reshape(-1, 2) - view.seen.pixels) ** 2, axis=1))
    return float(np.sqrt(np.concatenate(squares).mean()))


def _judge(fit: Fit, left_out: Sequence[tuple[View, float]]) -> None:
    if int((tilts(fit) > TILT_DEGREES).sum()) < MIN_TILTED:
        raise StepError(
            f"the board was nearly always held flat towards the camera: tilt it by 20 to 40 degrees, each way, in at "
            f"least {MIN_TILTED} views; without that the distance cannot be told from the focal length",
            code="no-tilt",
        )
    if fit.rms_px > MAX_RMS_PX:
        raise StepError(
            f"the corners are off by {fit.rms_px:.2f} px (at most {MAX_RMS_PX}): the board is not flat, was stretched "
            "in printing, or moved while it was taken; glue it on a plate, measure both bars, and take the views again"
            + (f" ({len(left_out)} views were left out already)" if left_out else ""),
            code="residual",
        )
    focal = float(fit.optics.matrix[0, 0])
    if fit.focal_spread_px > MAX_FOCAL_SPREAD * focal:
        raise StepError(
            f"the focal length is only known to {100 * fit.focal_spread_px / focal:.1f} % (at most "
            f"{100 * MAX_FOCAL_SPREAD:.1f}): add views with the board tilted, and nearer, so that it fills the picture",
            code="uncertain",
        )
    if (fold := fit.optics.folds()) > 0.5:
        raise StepError(
            f"the lens cannot be inverted at the picture's edge (error {fold:.1f} px): add views with the board in the "
            "corners of the picture",
            code="folds",
        )


def _warnings(fit: Fit, left_out: Sequence[tuple[View, float]]) -> tuple[str, ...]:
    told = [f"{view.name} was left out: its corners are off by {rms:.2f} px" for view, rms in left_out[:8]]
    matrix = fit.optics.matrix
    if abs(matrix[0, 0] / matrix[1, 1] - 1) > 0.01:
        told.append(
            f"the pixels would not be square (focal lengths {matrix[0, 0]:.0f} and {matrix[1, 1]:.0f}): measure both "
            "bars of the board, a printer may have stretched it, or the camera scales its picture"
        )
    middle = np.abs(matrix[:2, 2] / np.array(fit.optics.size) - 0.5)
    if middle.max() > 0.08:
        told.append("the middle of the lens is far from that of the picture: does the camera crop its picture?")
    return tuple(told)
