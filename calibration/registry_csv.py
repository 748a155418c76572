"""Chips as CSV: ``uid,denomination,status,series``, one row a chip, every problem named with its row.

The first three columns are those that ``[chips] file`` takes, so an export serves a table without a registry.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence

import msgspec

from tabled.shell.registry import MAX_CHIPS, STATUSES, Chip, Registry, Status

COLUMNS = ("uid", "denomination", "status", "series")
MAX_TOLD = 50
MAX_SERIES = 32


class Rows(msgspec.Struct, frozen=True):
    """What an import would do: chips to write, rows that change nothing, and all problems (then nothing is done)."""

    chips: dict[str, Chip]
    unchanged: int
    problems: tuple[str, ...]

    def told(self) -> str:
        """The problems, a bounded number of them, one a line."""
        more = [f"… and {len(self.problems) - MAX_TOLD} more"] if len(self.problems) > MAX_TOLD else []
        return "\n".join([*self.problems[:MAX_TOLD], *more])


def check(text: str, registry: Registry, *, known_only: bool = False, status: Status | None = None) -> Rows:
    """Read CSV against a registry.

    New chips: a UID that the registry has with other values is a problem, the same values again are not.
    ``known_only``: statuses of chips that are there; a UID that is not is a problem, an empty cell keeps what is.
    ``status`` holds for every row, whatever it says.
    """
    lines = csv.reader(io.StringIO(text, newline=""), strict=True)
    chips: dict[str, Chip] = {}
    rows_of: dict[str, int] = {}
    problems: list[str] = []
    unchanged = 0
    try:
        header = [cell.strip().lower() for cell in next(lines, [])]
        if (
            header[:1] != ["uid"]
            or not set(header) <= set(COLUMNS)
            or len(set(header)) < len(header)
            or (not known_only and "denomination" not in header)
        ):
            return Rows(
                {}, 0, (f"row 1: must be the header {','.join(COLUMNS)}, with commas (the last two may be left out)",)
            )
        for row in lines:
            number = lines.line_num
            if not any(cell.strip() for cell in row):
                continue
            if len(rows_of) >= MAX_CHIPS:
                problems.append(f"row {number}: more than {MAX_CHIPS} rows; split the file")
                break
            cells = dict(zip(header, (cell.strip() for cell in row), strict=False))
            if status is not None:
                cells["status"] = status
            uid = cells.get("uid", "").upper()
            known = registry.chips.get(uid)
            chip, says = _chip(uid, cells, known, registry, known_only=known_only)
            if uid in rows_of:
                says = [f"UID {uid} stands in row {rows_of[uid]} already; keep one of the two", *says]
            rows_of.setdefault(uid, number)
            if chip is not None and not known_only and known is not None and known != chip:
                says.append(
                    f"UID {uid} is in the registry as {known.denomination} {known.status} {known.series}".rstrip()
                    + "; change a status with 'registry status', or take the row out"
                )
            if any(cell.strip() for cell in row[len(header) :]):
                says.append("has more cells than the header; write 1000, not 1,000, and quote a text with a comma")
            problems += [f"row {number}: {text}" for text in says]
            if chip is not None and not says:
                if known == chip:
                    unchanged += 1
                else:
                    chips[uid] = chip
    except csv.Error as problem:
        problems.append(f"row {lines.line_num}: {problem}; correct that row")
    if not chips and not unchanged and not problems:
        problems.append("holds no chip")
    return Rows(chips if not problems else {}, unchanged, tuple(problems))


def _chip(
    uid: str, cells: Mapping[str, str], known: Chip | None, registry: Registry, *, known_only: bool
) -> tuple[Chip | None, list[str]]:
    says: list[str] = []
    if len(uid) != 16 or any(c not in "0123456789ABCDEF" for c in uid):
        says.append(f"{uid[:40]!r} is no UID of 16 hexadecimal digits")
    if known_only and known is None and not says:
        says.append(f"UID {uid} is not in the registry; enrol it first")
    value = cells.get("denomination", "")
    if known_only and not value and known is not None:
        value = str(known.denomination)
    worth = int(value) if value.isascii() and value.isdigit() and len(value) <= 12 else 0
    if worth <= 0:
        if not (known_only and known is None):
            says.append(f"{value[:40]!r} is no denomination; write a whole number above 0")
    elif worth not in registry.denominations:
        listed = ", ".join(str(d) for d in registry.denominations)
        says.append(f"{worth} is no denomination of this room ({listed})")
    status = cells.get("status", "").lower() or (known.status if known is not None and known_only else "issued")
    if status not in STATUSES:
        says.append(f"{status[:40]!r} is no status; write one of {', '.join(STATUSES)}")
    series = cells.get("series", "") or (known.series if known is not None and known_only else "")
    if len(series) > MAX_SERIES or "\n" in series:
        says.append(f"a series has at most {MAX_SERIES} characters on one line")
    if says:
        return None, says
    kept: Status = next(s for s in STATUSES if s == status)
    return Chip(worth, kept, series), says


def export(registry: Registry, statuses: Sequence[str] = STATUSES) -> str:
    """The registry as CSV, by UID."""
    out = io.StringIO(newline="")
    lines = csv.writer(out, lineterminator="\n")
    lines.writerow(COLUMNS)
    for uid, chip in sorted(registry.chips.items()):
        if chip.status in statuses:
            lines.writerow((uid, chip.denomination, chip.status, chip.series))
    return out.getvalue()
