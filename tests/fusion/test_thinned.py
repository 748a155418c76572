"""What the bridge leaves out of the journal changes nothing that the fold concludes of an antenna."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from firmware_bridge.session.settle import Settle
from firmware_bridge.wire import CleanEmpty, Corrupt, DeviceId, Present, Tag, TimeSpan
from tabled.fusion.presence import Area, observe
from tabled.fusion.settings import MS, SensorModel

R = DeviceId("r")
MODEL = SensorModel()
SETTLES = 12
"""Looks alike after which the filter is at its bound: what lies there is sure, what left is forgotten."""

runs = st.lists(
    st.tuples(st.sampled_from(("", "A", "AB", "ABC", "C", "corrupt")), st.integers(1, 60)), min_size=1, max_size=8
)


def look(what: str, at: int) -> Present | CleanEmpty | Corrupt:
    span = TimeSpan(at, at + 9 * MS)
    if what == "corrupt":
        return Corrupt(R, span, 1, "status 83")
    return Present(R, span, 1, tuple(Tag(uid) for uid in what)) if what else CleanEmpty(R, span, 1)


def concluded(area: Area) -> dict[str, tuple[TimeSpan, int]]:
    return {uid: (s.arrived, s.level) for uid, s in area.tags.items()}


@settings(max_examples=200, deadline=None)
@given(runs, st.sampled_from((20, 100, 700)), st.integers(0, 3000))
def test_tags_their_arrival_and_their_levels_are_those_of_all_looks(
    drawn: list[tuple[str, int]], every_ms: int, still: int
) -> None:
    settle, whole, thinned = Settle(), Area(), Area()
    now = 0
    for what, count in [("", 20 + still), *drawn]:
        for _ in range(count):
            now += every_ms * MS
            seen = look(what, now)
            whole, _ = observe(whole, seen, 1, MODEL)
            for passed in settle.offer(seen):
                thinned, _ = observe(thinned, passed, 1, MODEL)
        assert set(concluded(thinned)) == set(concluded(whole))
        # What a table teaches about misses is not biased by what is left out (`presence.learned`).
        assert (thinned.again, thinned.found) == (whole.again, whole.found)
        if count >= SETTLES or what == "corrupt":
            assert concluded(thinned) == concluded(whole)
        for uid, (arrived, _) in concluded(whole).items():
            assert concluded(thinned)[uid][0] == arrived
