"""The sweeps as one picture: wrong rulings and questions over each noise."""

from __future__ import annotations

import math
from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")

from matplotlib import pyplot as plt
from matplotlib.axes import Axes

from tests.eval.sweep import AXES, Point, x_of

TITLES = {
    "miss_buried": "buried chip missed, % of looks",
    "miss_lone": "lone chip missed, % of looks",
    "ghost": "ghosts, % of looks",
    "bleed": "bleed of neighbours, % of looks",
    "jitter_ms": "camera's error of time, ± ms\n(it claims ±17)",
    "step_missed": "camera misses a step, %",
    "reaction_ms": "dealer's slowest reaction, ms\n(the product was told 1500)",
    "hasty": "tables with a hasty dealer, %\n(50–300 ms; told 200)",
}
COLUMNS = 4
SHARES = ("miss_buried", "miss_lone", "ghost", "bleed", "step_missed", "hasty")
WRONG, ASKED, STRING, GREY = "#b2182b", "#2166ac", "#ef8a62", "#777777"


def upper_bound(hits: int, of: int) -> float:
    """Upper end of the 95 % Wilson interval of a share (Wilson 1927)."""
    if not of:
        return 1.0
    z = 1.96
    p = hits / of
    middle = p + z * z / (2 * of)
    return (middle + z * math.sqrt((p * (1 - p) + z * z / (4 * of)) / of)) / (1 + z * z / of)


def draw(points: list[Point], path: Path, *, title: str) -> None:
    """For each noise two panels: above what was ruled wrong in 1000 acts, below what was asked."""
    names = list(AXES)
    bands = -(-len(names) // COLUMNS)
    figure, panels = plt.subplots(2 * bands, COLUMNS, figsize=(3.3 * COLUMNS, 5.2 * bands), squeeze=False)
    worst = max(1000 * upper_bound(p.sums.wrong, p.sums.acts) for p in points)
    most = max(1.2, *(100 * p.sums.question_share for p in points))
    for n, name in enumerate(names):
        band, column = divmod(n, COLUMNS)
        above, below = panels[2 * band][column], panels[2 * band + 1][column]
        own = sorted((p for p in points if p.axis == name), key=lambda p: x_of(p.value))
        scale = 100 if name in SHARES else 1
        xs = [x_of(p.value) * scale for p in own]
        _wrong(above, own, xs)
        _asked(below, own, xs)
        _dress(above, own, xs, top=1.05 * worst)
        _dress(below, own, xs, top=1.1 * most)
        below.set_xlabel(TITLES.get(name, name), fontsize=9)
        if not column:
            above.set_ylabel("wrong in 1000 acts")
            below.set_ylabel("acts with a question, %")
    panels[0][0].legend(fontsize=7, loc="upper left")
    for n in range(len(names), bands * COLUMNS):
        for row in (0, 1):
            panels[2 * (n // COLUMNS) + row][n % COLUMNS].remove()
    acts = min(p.sums.acts for p in points)
    note = f"{acts} acts or more a point; dotted: reference noise; bar: 95 % upper bound; shaded: wrong from here on"
    figure.suptitle(f"{title}\n{note}", fontsize=10)
    figure.tight_layout()
    figure.savefig(path, dpi=110)
    plt.close(figure)


def _dress(panel: Axes, own: list[Point], xs: list[float], *, top: float) -> None:
    """Grid, the reference, and where it breaks."""
    panel.grid(visible=True, color="#dddddd", linewidth=0.6)
    panel.set_ylim(0, top)
    for p, x in zip(own, xs, strict=True):
        if p.reference:
            panel.axvline(x, color=GREY, linestyle=":", linewidth=1.2)
    first = next((x for p, x in zip(own, xs, strict=True) if p.sums.wrong), None)
    if first is not None:
        panel.axvspan(first, max(xs), color=WRONG, alpha=0.06, linewidth=0)


def _wrong(panel: Axes, own: list[Point], xs: list[float]) -> None:
    wrong = [1000 * p.sums.wrong / max(1, p.sums.acts) for p in own]
    upper = [1000 * upper_bound(p.sums.wrong, p.sums.acts) - w for p, w in zip(own, wrong, strict=True)]
    panel.errorbar(xs, wrong, yerr=[[0.0] * len(xs), upper], color=WRONG, marker="o", markersize=4, capsize=2,
                   linewidth=1.4, label="wrong final rulings")  # fmt: skip
    strings = [1000 * (p.sums.missed + p.sums.called_string) / max(1, p.sums.acts) for p in own]
    panel.plot(xs, strings, color=STRING, marker="x", markersize=5, linestyle="--", linewidth=1,
               label="of these: string missed or misnamed")  # fmt: skip


def _asked(panel: Axes, own: list[Point], xs: list[float]) -> None:
    panel.plot(xs, [100 * p.sums.question_share for p in own], color=ASKED, marker="s", markersize=4, linewidth=1.4)
    panel.axhline(1.0, color=GREY, linestyle="--", linewidth=0.8)
