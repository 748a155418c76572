"""Where the shared cases and hands lie, if they are there.  ``TABLED_SHARED`` names another folder."""

from __future__ import annotations

import functools
import json
import os
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(os.environ.get("TABLED_SHARED") or Path(__file__).resolve().parents[3] / "shared")


def find(name: str) -> Path | None:
    """The file, or None if the shared folder does not have it."""
    path = ROOT / name
    return path if path.is_file() else None


@functools.cache
def _lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines() if line.strip()]


def records(name: str) -> list[dict[str, Any]]:
    """All records of a JSONL file; skips the test, with a clear line, if it is absent."""
    path = find(name)
    if path is None:
        pytest.skip(f"{name} is not in {ROOT}; set TABLED_SHARED to the folder that holds it")
    return _lines(path)
