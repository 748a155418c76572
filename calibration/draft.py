"""A layout to begin from: an oval or D-shaped table of given size with zones where they usually are.

The table's frame is the plane step's; the draft is centred on ``middle`` there.  x runs to the right as the dealer
sees the table, y away from the dealer.  Seats are numbered clockwise from the dealer's left.
"""

from __future__ import annotations

from typing import Literal

import msgspec
import numpy as np
import numpy.typing as npt

from calibration.steps import StepError
from tabled.model.calibration import Point, Zone, Zones

Floats = npt.NDArray[np.float64]

MIN_SEATS, MAX_SEATS = 2, 10
_STEP_MM = 4.0


class Draft(msgspec.Struct, frozen=True, kw_only=True):
    """Lengths in mm.  ``line`` is from the felt's edge to the betting line, ``depth`` the bet zone's beyond it,
    ``seat`` the width of a seat's zones along the edge, ``dealer`` that of the dealer's piece of the edge."""

    shape: Literal["oval", "d"] = "oval"
    length: float = 2160.0
    width: float = 980.0
    seats: int = 9
    line: float = 190.0
    depth: float = 155.0
    seat: float = 320.0
    dealer: float = 660.0
    middle: tuple[float, float] = (0.0, 0.0)
    names: tuple[str, ...] = ()


def zones(draft: Draft) -> Zones:
    """The draft's zones; raises `StepError` for sizes that are no table's."""
    _judge(draft)
    edge, inwards = _edge(draft)
    total = len(edge) * _STEP_MM
    pitch = (total - draft.dealer) / draft.seats
    width = min(draft.seat, pitch - 30)
    made = []
    # The edge runs counter-clockwise from the middle of the dealer's side, so seat 1 (dealer's left) comes last.
    for k in range(draft.seats):
        name = draft.names[k] if draft.names else str(k + 1)
        at = draft.dealer / 2 + pitch * (draft.seats - 1 - k + 0.5)
        span = np.linspace((at - width / 2) / _STEP_MM, (at + width / 2) / _STEP_MM, 7)
        spots = np.rint(span).astype(int) % len(edge)

        line, far = (_inset(edge[spots], inwards[spots], d) for d in (draft.line, draft.line + draft.depth))
        near, behind = (_inset(edge[spots], inwards[spots], d) for d in (12.0, draft.line - 12.0))
        line, far, near, behind = (rows + draft.middle for rows in (line, far, near, behind))
        made.append(Zone(kind="bet", seat=name, outline=_points(np.concatenate([line, far[::-1]])), line=_points(line)))
        made.append(Zone(kind="stack", seat=name, outline=_points(np.concatenate([near, behind[::-1]]))))
    low = -draft.width / 2
    made.append(Zone(kind="tray", outline=_box(draft, 0.0, low + 75.0, 560.0, 120.0)))
    made.append(Zone(kind="board", outline=_box(draft, 0.0, 0.0, 380.0, 130.0)))
    return Zones(zones=tuple(made), dealer=_point(draft.middle[0], draft.middle[1] + low - 105.0))


def _judge(draft: Draft) -> None:
    problem = ""
    if not MIN_SEATS <= draft.seats <= MAX_SEATS:
        problem = f"{draft.seats} seats; a table has {MIN_SEATS} to {MAX_SEATS}"
    elif not 600 <= draft.width <= draft.length <= 4000:
        problem = f"a felt of {draft.length:g} x {draft.width:g} mm; give its length and width in mm"
    elif not (draft.line >= 40 and draft.depth >= 60 and draft.line + draft.depth < draft.width / 2):
        problem = (
            f"a line {draft.line:g} mm in and {draft.depth:g} mm of bet zone do not fit a width of {draft.width:g}"
        )
    elif draft.names and (len(draft.names) != draft.seats or len(set(draft.names)) != draft.seats):
        problem = f"{len(set(draft.names))} names for {draft.seats} seats; give one for each, clockwise from the dealer"
    elif draft.dealer < 200:
        problem = f"the dealer's piece of the edge is {draft.dealer:g} mm; give at least 200"
    if problem:
        raise StepError(f"this is no table: {problem}", code="draft")


def _edge(draft: Draft) -> tuple[Floats, Floats]:
    """Points (n, 2) a few mm apart along the felt's edge, counter-clockwise from the middle of the dealer's side, and
    unit vectors inwards."""
    hx, hy = draft.length / 2, draft.width / 2
    far = hy
    near = hy if draft.shape == "oval" else min(130.0, hy)
    arcs = [
        (hx - near, -hy + near, near, -90.0),
        (hx - far, hy - far, far, 0.0),
        (-hx + far, hy - far, far, 90.0),
        (-hx + near, -hy + near, near, 180.0),
    ]
    corners = [np.array([[0.0, -hy]])]
    for x, y, radius, start in arcs:
        turn = np.radians(np.linspace(start, start + 90, 91))
        corners.append(np.column_stack([x + radius * np.cos(turn), y + radius * np.sin(turn)]))
    corners.append(np.array([[0.0, -hy]]))
    raw = np.concatenate(corners)
    way = np.concatenate([[0.0], np.cumsum(np.hypot(*np.diff(raw, axis=0).T))])
    at = np.arange(0.0, way[-1] - _STEP_MM / 2, _STEP_MM)
    edge = np.column_stack([np.interp(at, way, raw[:, i]) for i in (0, 1)])
    ahead = np.roll(edge, -2, axis=0) - np.roll(edge, 2, axis=0)
    ahead /= np.hypot(ahead[:, 0], ahead[:, 1])[:, None]
    return edge, np.column_stack([-ahead[:, 1], ahead[:, 0]])


def _inset(edge: Floats, inwards: Floats, deep: float) -> Floats:
    """A piece of the edge moved inwards; straight where the edge turns more sharply than that leaves room for."""
    curved = edge + inwards * deep
    ahead = np.diff(edge, axis=0)
    if np.all(np.sum(np.diff(curved, axis=0) * ahead, axis=1) > 0.25 * np.sum(ahead**2, axis=1)):
        return np.asarray(curved, dtype=np.float64)
    middle = len(edge) // 2
    into = inwards[middle]
    along = np.array([-into[1], into[0]])
    aside = np.linspace(-0.5, 0.5, len(edge)) * float(np.hypot(*(edge[-1] - edge[0])))
    along = along if (edge[-1] - edge[0]) @ along > 0 else -along
    return np.asarray(edge[middle] + into * deep + np.outer(aside, along), dtype=np.float64)


def _box(draft: Draft, x: float, y: float, width: float, height: float) -> tuple[Point, ...]:
    x, y = x + draft.middle[0], y + draft.middle[1]
    w, h = width / 2, height / 2
    return tuple(_point(x + a, y + b) for a, b in ((-w, -h), (w, -h), (w, h), (-w, h)))


def _points(rows: Floats) -> tuple[Point, ...]:
    return tuple(_point(float(x), float(y)) for x, y in rows)


def _point(x: float, y: float) -> Point:
    """On whole millimetres: nobody draws finer."""
    return Point(round(x) * 1000, round(y) * 1000)
