"""What a check finds, and the files that it looks at."""

from __future__ import annotations

import ast
import subprocess
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]

PRODUCTION = ("tabled", "firmware_bridge", "calibration")
PURE = (
    "tabled/model",
    "tabled/rules",
    "tabled/fusion",
    "tabled/core",
    "firmware_bridge/wire.py",
    "firmware_bridge/framing",
    "firmware_bridge/session",
    "firmware_bridge/clocksync.py",
    "firmware_bridge/clocksync",
)
"""Code that is a function of its arguments (law 2 of the design)."""
INTEGERS_ONLY = ("tabled/model", "tabled/rules", "tabled/fusion", "tabled/core")
"""Right of the journal no float decides anything (law 6)."""


class Finding(NamedTuple):
    """One fault: where, and what to do about it."""

    path: str
    line: int
    says: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.says}"


class Source(NamedTuple):
    """One Python file: its path from the root, its text and its syntax tree."""

    path: str
    text: str
    tree: ast.Module

    @classmethod
    def of(cls, path: str, text: str) -> Source:
        """Parse."""
        return cls(path, text, ast.parse(text, path))


def inside(path: str, rooms: tuple[str, ...]) -> bool:
    """True when ``path`` is one of the rooms or lies in one."""
    return any(path == room or path.startswith(room + "/") for room in rooms)


def files() -> list[str]:
    """All files of the tree that are, or would be, committed; paths from the root with slashes."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        check=False,
    )
    if listed.returncode == 0:
        names = listed.stdout.decode().split("\0")
    else:  # an unpacked release has no git
        names = [p.relative_to(ROOT).as_posix() for p in ROOT.rglob("*") if not _ignored(p)]
    return sorted(name for name in set(names) if name and (ROOT / name).is_file())


def _ignored(path: Path) -> bool:
    parts = path.relative_to(ROOT).parts
    return any(p in ("__pycache__", "node_modules") or (p.startswith(".") and p != ".ci") for p in parts[:-1])


def text_of(path: str) -> str | None:
    """Text of a file, None for a binary one."""
    raw = (ROOT / path).read_bytes()
    if b"\0" in raw[:8000]:
        return None
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return None
