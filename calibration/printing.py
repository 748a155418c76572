"""What is printed: the board of the lens step and the markers of the plane step, as PDF at exact size.

Each sheet has two bars of 100 mm, along and across, to hold a ruler against: a printer that scales, or stretches, is
found out before the calibration is spoiled.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import click

from calibration.files import write
from calibration.pdf import Page, document
from calibration.steps import StepError

PAPERS = {"a4": (297.0, 210.0), "a3": (420.0, 297.0)}
"""Width and height in mm, lying."""
MARKER_DICTIONARY = "4X4_50"
"""Of the plane step: another than the board's, so that neither is taken for the other."""
MIN_MARKER_MM, MAX_MARKER_MM = 40.0, 160.0
_QUIET = 0.15
"""White round a marker, as a share of its side; the detector needs an eighth."""


def board_page(paper: str) -> Page:
    """The board on its paper; raises `StepError` for a paper that there is no board for."""
    import cv2  # noqa: PLC0415  half a second that other commands need not wait
    import numpy as np  # noqa: PLC0415  as above

    from calibration.board import BOARDS  # noqa: PLC0415  as above

    if paper not in PAPERS:
        raise StepError(f"there is no board for the paper {paper!r}; choose one of {', '.join(PAPERS)}", code="paper")
    board, (width, height) = BOARDS[paper], PAPERS[paper]
    page = Page(width, height)
    left, top = (width - board.columns * board.square_mm) / 2, (height - board.rows * board.square_mm) / 2
    charuco, dictionary = board.charuco(), board.markers()
    side = board.square_mm
    with_marker = set()
    for number, corners in zip(np.asarray(charuco.getIds()).ravel(), charuco.getObjPoints(), strict=True):
        x, y = np.asarray(corners)[:, :2].min(axis=0)
        with_marker.add((int(x // side), int(y // side)))
        bits = cv2.aruco.generateImageMarker(dictionary, int(number), dictionary.markerSize + 2, None, 1)
        _modules(page, np.asarray(bits), left + float(x), top + float(y), board.marker_mm)
    for row in range(board.rows):
        for column in range(board.columns):
            if (column, row) not in with_marker:
                page.fill(left + column * side, top + row * side, side, side)
    below = top + board.rows * side
    _bars(page, left, below + min(5.0, (height - below) / 2 - 1), left - 6.0, top)
    page.write(
        left + 112,
        below + min(6.5, (height - below) / 2),
        f"tabled board {paper}: {board.columns} x {board.rows} squares of {side:g} mm. Both bars are 100 mm: "
        "print at actual size.",
    )
    return page


def board_pdf(paper: str) -> bytes:
    """The board's file; raises `StepError`."""
    return document([board_page(paper)], f"tabled board {paper}")


def markers_pdf(numbers: Iterable[int], size_mm: float) -> bytes:
    """The markers' file, one a sheet; raises `StepError`."""
    return document(marker_pages(list(numbers), size_mm), "tabled markers")


def marker_pages(numbers: list[int], size_mm: float) -> list[Page]:
    """A4 sheets with one marker each, to be cut along the grey line; raises `StepError`."""
    import cv2  # noqa: PLC0415  half a second that other commands need not wait
    import numpy as np  # noqa: PLC0415  as above

    from tabled.sensing.landmarks import DICTIONARIES  # noqa: PLC0415  as above

    if not MIN_MARKER_MM <= size_mm <= MAX_MARKER_MM:
        raise StepError(
            f"markers of {size_mm:g} mm: choose {MIN_MARKER_MM:g} to {MAX_MARKER_MM:g}; 90 suits most tables",
            code="size",
        )
    dictionary = cv2.aruco.getPredefinedDictionary(DICTIONARIES[MARKER_DICTIONARY])
    if not numbers or not all(0 <= n < len(dictionary.bytesList) for n in numbers):
        raise StepError(f"markers are numbered from 0 to {len(dictionary.bytesList) - 1}, as in 0-5", code="number")
    pages = []
    for number in numbers:
        height, width = PAPERS["a4"]
        page = Page(width, height)
        left, top = (width - size_mm) / 2, 60.0
        bits = cv2.aruco.generateImageMarker(dictionary, number, dictionary.markerSize + 2, None, 1)
        quiet = _QUIET * size_mm
        for x, y, w, h in _frame(left - quiet, top - quiet, size_mm + 2 * quiet):
            page.fill(x, y, w, h, 0.75)
        _modules(page, np.asarray(bits), left, top, size_mm)
        for x, y, w, h in _ticks(left, top, size_mm, quiet):
            page.fill(x, y, w, h, 0.35)
        page.write(left, top - quiet - 4, f"tabled marker {number}, {size_mm:g} mm. This side is its top.")
        page.write(left - 25, top + size_mm + quiet + 20, "Cut along the grey frame. The ticks point to its middle.")
        _bars(page, 40, top + size_mm + quiet + 35, 25, top + size_mm + quiet + 35)
        page.write(46, top + size_mm + quiet + 50, "Both bars are 100 mm: print at actual size, not 'fit to page'.")
        pages.append(page)
    return pages


def _modules(page: Page, bits: object, x: float, y: float, side: float) -> None:
    """The black modules of a marker, each row's runs as one rectangle (no hairlines between modules of a row)."""
    import numpy as np  # noqa: PLC0415  as above

    grid = np.asarray(bits) == 0
    step = side / len(grid)
    for row, modules in enumerate(grid):
        column = 0
        while column < len(modules):
            end = column
            while end < len(modules) and modules[end]:
                end += 1
            if end > column:
                page.fill(x + column * step, y + row * step, (end - column) * step, step)
            column = end + 1


def _bars(page: Page, x: float, y: float, down_x: float, down_y: float) -> None:
    """A bar of 100 mm along (from x, y) and one down (from down_x, down_y), with a stroke at each end."""
    page.fill(x, y, 100, 0.4)
    page.fill(x, y - 1.5, 0.2, 3.4)
    page.fill(x + 99.8, y - 1.5, 0.2, 3.4)
    page.fill(down_x, down_y, 0.4, 100)
    page.fill(down_x - 1.5, down_y, 3.4, 0.2)
    page.fill(down_x - 1.5, down_y + 99.8, 3.4, 0.2)


def _frame(x: float, y: float, side: float) -> list[tuple[float, float, float, float]]:
    line = 0.2
    return [(x, y, side, line), (x, y + side - line, side, line), (x, y, line, side), (x + side - line, y, line, side)]


def _ticks(x: float, y: float, side: float, quiet: float) -> list[tuple[float, float, float, float]]:
    """Strokes outside the quiet border in line with the marker's middle, to measure from."""
    middle, length = side / 2 - 0.1, quiet * 0.35
    out = quiet
    return [
        (x + middle, y - out, 0.2, length),
        (x + middle, y + side + out - length, 0.2, length),
        (x - out, y + middle, length, 0.2),
        (x + side + out - length, y + middle, length, 0.2),
    ]


@click.command()
@click.option("--paper", type=click.Choice(sorted(PAPERS)), default="a4", show_default=True, help="Size of the paper.")
@click.option("-o", "--out", type=click.Path(path_type=Path, dir_okay=False), help="The file; board-<paper>.pdf.")
def board(paper: str, out: Path | None) -> None:
    """Write the board of the lens step as a PDF of exact size."""
    path = out or Path(f"board-{paper}.pdf")
    write(path, board_pdf(paper))
    click.echo(
        f"{path}: print it at actual size (100 %) on {paper.upper()}, glue it on something flat, measure both bars"
    )


@click.command()
@click.option("--ids", default="0-5", show_default=True, help="Numbers of the markers, as in 0-5 or 0,2,7.")
@click.option("--size", "size_mm", type=float, default=90.0, show_default=True, help="Side of the black square, mm.")
@click.option("-o", "--out", type=click.Path(path_type=Path, dir_okay=False), default=Path("markers.pdf"))
def markers(ids: str, size_mm: float, out: Path) -> None:
    """Write the markers of the plane step as a PDF of exact size, one a sheet."""
    pages = marker_pages(numbers_of(ids), size_mm)
    write(out, document(pages, "tabled markers"))
    click.echo(
        f"{out}: {len(pages)} markers; print at actual size (100 %), cut along the grey frames, measure the bars"
    )


def numbers_of(text: str) -> list[int]:
    """``0-3,7`` as numbers; raises `StepError`."""
    found: list[int] = []
    for part in text.split(","):
        low, _, high = part.strip().partition("-")
        if not low.isdigit() or (high and not high.isdigit()) or len(part) > 9:
            raise StepError(f"{text!r} are no numbers of markers; write them as 0-5 or 0,2,7", code="number")
        found += range(int(low), min(int(high or low), int(low) + 999) + 1)
    return sorted(set(found))
