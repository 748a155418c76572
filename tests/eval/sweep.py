"""Each noise by itself from none to far beyond the reference: where does the product begin to err, and to ask?"""

from __future__ import annotations

import msgspec

from hw_sim.noise import Disturbance
from tests.eval import report
from tests.eval.report import Sums
from tests.eval.run import evaluate

AXES: dict[str, tuple[str, ...]] = {
    "miss_buried": ("0", "0.05", "0.15", "0.25", "0.4"),
    "miss_lone": ("0", "0.05", "0.1", "0.2"),
    "ghost": ("0", "0.001", "0.003", "0.01"),
    "bleed": ("0", "0.01", "0.025", "0.05"),
    "jitter_ms": ("0", "17", "30", "45", "60"),
    "step_missed": ("0", "0.003", "0.02", "0.1"),
    "reaction_ms": ("200-700", "200-1500", "200-2200", "200-3000"),
    "hasty": ("0", "0.3", "1"),
}
"""What is swept, as `Disturbance.change` has it; the values stand in order and the reference is among them.

Beyond the reference the camera's jitter is more than the span that it claims (``span_ms`` stays), the dealer is slower
or faster than the product was told, so that the figures show what a false statement costs.
"""


class Point(msgspec.Struct, frozen=True, kw_only=True):
    """One value of one noise."""

    axis: str
    value: str
    reference: bool
    sums: Sums


def x_of(value: str) -> float:
    """Where a value stands on its axis: a range by its upper end."""
    return float(value.rpartition("-")[2])


def run(
    seed: int, acts: int, noise: Disturbance, *, styles: dict[str, float] | None = None, jobs: int = 1
) -> list[Point]:
    """All axes; the unchanged value is evaluated once."""
    done: dict[bytes, Sums] = {}
    points = []
    for axis, values in AXES.items():
        for value in values:
            changed = noise.change(f"{axis}={value}")
            key = msgspec.json.encode(changed)
            if key not in done:
                done[key] = report.sums(evaluate(seed, acts, changed, styles=styles, jobs=jobs))
            points.append(Point(axis=axis, value=value, reference=changed == noise, sums=done[key]))
    return points


def breaks(points: list[Point], axis: str) -> str:
    """The first value of an axis at which something was ruled wrong, "" if there is none."""
    return next((p.value for p in points if p.axis == axis and p.sums.wrong), "")


def table(points: list[Point]) -> str:
    """All points, for the terminal."""
    rows = [("noise", "value", "acts", "wrong", "unruled", "extra", "as string", "missed", "asked", "span")]
    for p in points:
        s = p.sums
        rows.append(
            (
                p.axis, p.value + (" *" if p.reference else ""), str(s.acts), str(s.wrong), str(s.unruled),
                str(s.extra + s.refused), str(s.called_string), f"{s.missed}/{s.strings}",
                f"{100 * s.question_share:.2f} %", f"{100 * s.in_span / max(1, s.spans):.2f} %",
            )
        )  # fmt: skip
    widths = [max(len(r[i]) for r in rows) for i in range(len(rows[0]))]
    lines = ["  ".join(c.ljust(w) if i < 2 else c.rjust(w) for i, (c, w) in enumerate(zip(r, widths, strict=True)))
             for r in rows]  # fmt: skip
    found = [f"{axis} {breaks(points, axis) or 'not within what was swept'}" for axis in AXES]
    return "\n".join([*lines, "", "* reference.  First value with a wrong ruling: " + "; ".join(found)])
