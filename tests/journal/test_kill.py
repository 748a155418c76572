"""kill -9 in mid-append, again and again on one file: nothing acknowledged is lost, no hole, no half batch."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time
from pathlib import Path

from tabled.journal import Journal, verify

KILLS = int(os.environ.get("TABLED_KILLS", "20"))


def _append_and_be_killed(path: Path, seed: int, delay: float) -> int:
    """Last position that the child had acknowledged, -1 if it was killed before the first."""
    child = subprocess.Popen(
        [sys.executable, "-m", "tests.journal.appender", str(path), str(seed)],
        stdout=subprocess.PIPE,
        cwd=Path(__file__).parents[2],
    )
    assert child.stdout is not None
    first = child.stdout.readline() if delay >= 0 else b""
    time.sleep(abs(delay))
    child.kill()
    rest, _ = child.communicate()
    whole_lines = (first + rest).split(b"\n")[:-1]
    return int(whole_lines[-1]) if whole_lines else -1


def _batches_are_whole(journal: Journal, after: int) -> None:
    expected = (after + 1, 0, 0)
    for entry in journal.read(after):
        batch, index, size = (int(n) for n in entry.body.split(b"/")[:3])
        if index == 0:
            assert expected[1] == expected[2], f"the batch before entry {entry.pos} is cut off"
            assert batch == entry.pos
        else:
            assert (batch, index) == expected[:2]
        expected = (batch, index + 1, size)
    assert expected[1] == expected[2], "the last batch is cut off"


def test_killed_at_many_instants(path: Path) -> None:
    chance = random.Random(9)
    at_end = 0
    for kill in range(KILLS):
        early = kill % 5 == 4  # at any moment of start-up, creation included
        delay = -chance.uniform(0.05, 0.3) if early else chance.uniform(0, 0.06)
        acknowledged = _append_and_be_killed(path, kill, delay)
        with Journal.open(path) as journal:
            last = journal.next_pos - 1
            assert last >= max(acknowledged, at_end)
            _batches_are_whole(journal, at_end)
            assert journal.cursor() <= last
            assert journal.notes == ()
        at_end = last
    report = verify(path)
    assert report.ok
    assert report.sound == at_end
    assert at_end > KILLS


def test_killed_while_creating(tmp_path: Path) -> None:
    for kill in range(6):
        path = tmp_path / f"{kill}.journal"
        acknowledged = _append_and_be_killed(path, kill, -0.06 - 0.02 * kill)
        with Journal.open(path) as journal:
            assert journal.next_pos - 1 >= acknowledged
        assert verify(path).ok
