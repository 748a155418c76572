"""``seeds.txt``: kept seeds, each with one line of cause.  ``12  bug: NAME`` is kept for a planted bug."""

from __future__ import annotations

from pathlib import Path

FILE = Path(__file__).with_name("seeds.txt")


def kept() -> list[tuple[int, str]]:
    """All kept seeds with their causes, in the order of the file."""
    rows = []
    for line in FILE.read_text(encoding="utf-8").splitlines():
        text = line.partition("#")[0].strip()
        if text:
            number, _, cause = text.partition(" ")
            rows.append((int(number), cause.strip()))
    return rows


def kept_for(bug: str) -> list[int]:
    """Seeds that catch a planted bug."""
    return [seed for seed, cause in kept() if cause == f"bug: {bug}"]


def kept_sound() -> list[int]:
    """Seeds under which production must hold, planted bugs away: else the bug is not what was caught.  One a cause."""
    first: dict[str, int] = {}
    for seed, cause in kept():
        first.setdefault(cause, seed)
    return sorted(set(first.values()))
