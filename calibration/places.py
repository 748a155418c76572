"""What the technician measured on the felt: a list of markers or points, as a CSV file or as it is typed."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterator, Mapping
from pathlib import Path

from calibration.plane import Place
from calibration.steps import StepError

MAX_ROWS = 64
MAX_BYTES = 1 << 16


def markers(text: str) -> dict[int, Place]:
    """``id,x_mm,y_mm[,turn_degrees]`` a line, from a file's name or the lines themselves; raises `StepError`."""
    found: dict[int, Place] = {}
    for number, row in _rows(text):
        if len(row) not in (3, 4):
            raise _wrong(number, "has not three or four values: id, x_mm, y_mm and perhaps turn_degrees")
        marker = _number(row[0], number)
        if marker != int(marker) or not 0 <= marker < 1000:
            raise _wrong(number, f"{row[0]!r} is no number of a marker")
        if int(marker) in found:
            raise _wrong(number, f"marker {int(marker)} is on the list twice")
        turn = math.radians(_number(row[3], number)) if len(row) == 4 and row[3] else None
        found[int(marker)] = Place(_number(row[1], number), _number(row[2], number), turn)
    return found


def points(text: str) -> tuple[list[tuple[float, float]], list[tuple[float, float]]]:
    """``x_mm,y_mm,u_px,v_px`` a line: places on the felt, and the raw pixels where they are seen."""
    places, seen = [], []
    for number, row in _rows(text):
        if len(row) != 4:
            raise _wrong(number, "has not four values: x_mm, y_mm, u_px, v_px")
        x, y, u, v = (_number(cell, number) for cell in row)
        places.append((x, y))
        seen.append((u, v))
    return places, seen


def distances(text: str) -> Mapping[tuple[int, int], float]:
    """``0-3=1820, 1-4=1795.5``: distances in mm between the middles of two markers; raises `StepError`."""
    found: dict[tuple[int, int], float] = {}
    for part in (p.strip() for p in text.replace("\n", ",").replace(";", ",").split(",")):
        if not part:
            continue
        pair, _, length = part.partition("=")
        a, _, b = pair.partition("-")
        if not (a.strip().isdigit() and b.strip().isdigit()) or a.strip() == b.strip():
            raise StepError(f"{part!r} is no distance; write it as 0-3=1820 (marker, marker, mm)", code="distances")
        value = _number(length.strip(), 1)
        if not 50 <= value <= 5000:
            raise StepError(f"{part!r}: a distance of {value:g} mm is not on a table; give it in mm", code="distances")
        found[int(a), int(b)] = value
    if len(found) > MAX_ROWS:
        raise StepError("more distances than can be used; the two diagonals of the table do", code="distances")
    return found


def _rows(text: str) -> Iterator[tuple[int, list[str]]]:
    if "\n" not in text.strip() and "," not in text:
        path = Path(text.strip()).expanduser()
        try:
            with path.open(encoding="utf-8-sig") as file:
                text = file.read(MAX_BYTES + 1)
        except (OSError, UnicodeDecodeError) as problem:
            raise StepError(f"{path}: cannot be read ({problem}); give the list's file name", code="list") from problem
    if len(text) > MAX_BYTES:
        raise StepError("the list is longer than a list of places can be; is it the right file?", code="list")
    count = 0
    for number, row in enumerate(csv.reader(io.StringIO(text)), 1):
        cells = [cell.strip() for cell in row]
        if not any(cells) or cells[0].startswith("#") or (number == 1 and not _is_number(cells[0])):
            continue
        count += 1
        if count > MAX_ROWS:
            raise _wrong(number, f"more than {MAX_ROWS} places")
        yield number, cells


def _is_number(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False


def _number(text: str, row: int) -> float:
    if not _is_number(text) or abs(float(text)) > 100_000:
        raise _wrong(row, f"{text!r} is no length in mm")
    return float(text)


def _wrong(row: int, why: str) -> StepError:
    return StepError(f"the list of places, row {row}: {why}", code="list")
