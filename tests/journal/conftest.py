"""Journals with known contents."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from tabled.journal import KINDS, Draft, Entry, Journal


def some_drafts(count: int, seed: int = 1) -> list[Draft]:
    """Drafts of all kinds and of very different sizes, a few over a database page."""
    chance = random.Random(seed)
    names = list(KINDS)
    drafts = []
    for n in range(count):
        kind = names[n % len(names)]
        body = chance.randbytes(chance.choice((0, 1, 30, 300, 9000)))
        published = not KINDS[kind].is_input
        drafts.append(
            Draft(
                kind,
                body,
                1_700_000_000_000_000_000 + n,
                chance.randbytes(chance.randrange(200)) if published else None,
                f"{kind}/ö" if published else None,
            )
        )
    return drafts


def as_drafts(entries: Iterator[Entry]) -> list[Draft]:
    """What was appended to give these entries."""
    return [Draft(e.kind, e.body, e.wall_ns, e.payload, e.leaf) for e in entries]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where a test's journal may be."""
    return tmp_path / "table.journal"


@pytest.fixture
def journal(path: Path) -> Iterator[Journal]:
    """An open, empty journal."""
    with Journal.open(path) as opened:
        yield opened
