"""A test of the test: each bug on purpose is noticed, by an invariant that is there for it, within its kept seeds."""

from __future__ import annotations

import pytest

from tests.dst.planted import BUGS, Bug
from tests.dst.seeds import kept_for
from tests.dst.simulation import run


@pytest.mark.parametrize("bug", BUGS, ids=lambda bug: bug.name)
def test_a_planted_bug_is_caught(bug: Bug) -> None:
    seeds = kept_for(bug.name)
    assert seeds, f"seeds.txt keeps no seed for {bug.name!r}"
    found: dict[int, str] = {}
    for seed in seeds:
        with bug.patch():
            found[seed] = run(seed, parts=bug.parts).broken
        if found[seed] in bug.caught_by:
            return
    raise AssertionError(f"{bug.name}: found {found}, should have been one of {sorted(bug.caught_by)}")
