"""The presence filter: what raises it, what lowers it, and what must not."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from firmware_bridge.wire import CleanEmpty, Corrupt, DeviceId, Present, Tag, TimeSpan
from tabled.fusion.presence import MAX_TAGS_PER_AREA, Area, confidence, lower, observe, owner
from tabled.fusion.settings import SensorModel

R = DeviceId("reader")
MODEL = SensorModel()


def span(n: int) -> TimeSpan:
    return TimeSpan(n * 100, n * 100 + 50)


def present(n: int, *uids: str, complete: bool = True) -> Present:
    return Present(R, span(n), 1, tuple(Tag(u) for u in sorted(uids)), complete)


def empty(n: int) -> CleanEmpty:
    return CleanEmpty(R, span(n), 1)


def corrupt(n: int) -> Corrupt:
    return Corrupt(R, span(n), 1, "status 83")


def fold(*seen: Present | CleanEmpty | Corrupt) -> Area:
    area = Area()
    for pos, one in enumerate(seen, 1):
        area, _ = observe(area, one, pos, MODEL)
    return area


def test_an_arrival_lies_after_the_looks_that_cannot_all_have_missed_it() -> None:
    area = fold(*(empty(n) for n in range(1, 9)), present(9, "A"))
    sighting = area.tags["A"]
    assert sighting.arrived == TimeSpan(500, 950)
    assert [look.start_ns for look in sighting.misses] == [500, 600, 700, 800]


def test_looks_at_other_chips_miss_a_buried_one_more_easily() -> None:
    area = fold(*(present(n, "A") for n in range(1, 20)), present(20, "A", "B"))
    assert area.tags["B"].arrived == TimeSpan(1100, 2050)


def test_a_corrupt_answer_is_no_look() -> None:
    area = fold(*(empty(n) for n in range(1, 6)), corrupt(6), corrupt(7), present(8, "A"))
    assert area.tags["A"].arrived == TimeSpan(200, 850)


def test_with_too_few_looks_a_chip_may_have_lain_there_before() -> None:
    area = fold(empty(1), empty(2), present(3, "A"))
    assert area.tags["A"].arrived == TimeSpan(0, 350)
    assert [look.start_ns for look in area.tags["A"].misses] == [100, 200]


def test_a_chip_that_was_there_at_start_up_may_have_come_at_any_time_before() -> None:
    assert fold(present(3, "A")).tags["A"].arrived == TimeSpan(0, 350)


def test_corrupt_is_not_empty() -> None:
    before = fold(empty(1), present(2, "A"), present(3, "A"))
    after, delta = observe(before, Corrupt(R, span(4), 1, "bad checksum"), 4, MODEL)
    assert after == before
    assert delta.left == ()


def test_an_incomplete_inventory_proves_no_absence() -> None:
    before = fold(empty(1), present(2, "A", "B"), present(3, "A", "B"))
    after, delta = observe(before, present(4, "B", complete=False), 4, MODEL)
    assert after.tags["A"] == before.tags["A"]
    assert after.clean == before.clean
    assert delta.left == ()


def fresh(n: int, *uids: str, quiet: tuple[str, ...]) -> Present:
    """A look for new tags: those in ``quiet`` had been told not to answer."""
    return Present(R, span(n), 1, tuple(Tag(u) for u in sorted(uids)), complete=False, quiet=quiet)


def test_the_absence_of_others_says_nothing_of_a_quiet_tag() -> None:
    area = fold(empty(1), present(2, "A", "B"), present(3, "A", "B"))
    for n in range(4, 40):
        area, delta = observe(area, fresh(n, quiet=("A", "B")), n, MODEL)
        assert delta.left == ()
    assert area.tags["A"].level == area.tags["B"].level > 0
    assert area.clean == span(3)


def test_a_quiet_tag_does_not_excuse_the_others() -> None:
    area = fold(empty(1), present(2, "A", "B"), present(3, "A", "B"))
    gone: list[str] = []
    for n in range(4, 16):
        area, delta = observe(area, fresh(n, quiet=("A",)), n, MODEL)
        gone += delta.left
    assert gone == ["B"]
    assert set(area.tags) == {"A"}


def test_a_new_tag_came_after_the_look_for_new_tags_that_did_not_name_it() -> None:
    looks = [fresh(n, quiet=("A",)) for n in range(2, 12)]
    area = fold(present(1, "A"), *looks, fresh(12, "B", quiet=("A",)))
    assert area.tags["B"].arrived == TimeSpan(300, 1250)


def test_a_look_in_which_a_tag_was_quiet_does_not_bound_its_coming() -> None:
    looks = [fresh(n, quiet=("A",)) for n in range(5, 9)]
    area = fold(*(empty(n) for n in range(1, 5)), *looks, present(9, "A"))
    assert area.tags["A"].arrived == TimeSpan(100, 950)


def test_the_newest_look_for_new_tags_is_a_full_one_or_one_for_new_tags_alone() -> None:
    assert Area().new_tags_ns() is None
    area = fold(present(1, "A"))
    assert area.new_tags_ns() == 100
    area, _ = observe(area, fresh(2, quiet=("A",)), 2, MODEL)
    assert (area.new_tags_ns(), area.clean) == (200, span(1))
    area, _ = observe(area, Corrupt(R, span(3), 1, "x"), 3, MODEL)
    area, _ = observe(area, present(4, "A", complete=False), 4, MODEL)
    assert area.new_tags_ns() == 200


def test_one_miss_of_a_settled_lone_chip_does_not_remove_it() -> None:
    area = fold(empty(1), present(2, "A"), present(3, "A"), empty(4))
    assert "A" in area.tags


def test_a_lifted_chip_is_gone_after_a_few_clean_inventories() -> None:
    area = fold(present(1, "A"), present(2, "A"), *(empty(n) for n in range(3, 7)))
    assert area.tags == {}


def test_a_single_ghost_goes_with_the_first_clean_answer() -> None:
    area, delta = observe(fold(empty(1), present(2, "A")), empty(3), 3, MODEL)
    assert area.tags == {}
    assert delta.left == ("A",)


def test_a_buried_chip_survives_longer_than_a_lone_one() -> None:
    stack = fold(present(1, "A", "B", "C"), present(2, "A", "B", "C"), *(present(n, "A", "B") for n in range(3, 7)))
    assert "C" in stack.tags


def test_a_tag_seen_elsewhere_loses_its_place_here() -> None:
    area = fold(present(1, "A"), present(2, "A"), present(3, "A"))
    for _ in range(20):
        area = lower(area, "A", MODEL)
    assert "A" not in area.tags


def test_one_answer_across_the_neighbours_antenna_moves_nothing() -> None:
    home = fold(present(1, "A"), present(2, "A"), present(3, "A"))
    for answers in (1, 2):
        across = fold(*(present(n, "A") for n in range(answers)))
        assert owner({"home": home, "across": across}, "A", "home", MODEL) == "home"
    assert owner({"home": Area(), "across": across}, "A", "home", MODEL) == "across"
    assert owner({"home": Area()}, "A", "home", MODEL) is None


def test_more_tags_than_a_line_can_hold_are_refused_and_counted() -> None:
    crowd = tuple(f"{n:016X}" for n in range(MAX_TAGS_PER_AREA + 3))
    area = fold(present(1, *crowd))
    assert len(area.tags) == MAX_TAGS_PER_AREA
    assert area.refused == 3


readings = st.lists(
    st.one_of(
        st.just("empty"),
        st.just("corrupt"),
        st.tuples(st.sets(st.sampled_from("ABCD"), min_size=1), st.booleans()),
    ),
    max_size=40,
)


@given(readings)
def test_levels_stay_in_their_bounds_and_arrivals_never_lie_in_the_future(kinds: list[object]) -> None:
    area = Area()
    for n, kind in enumerate(kinds, 1):
        if kind == "empty":
            seen: Present | CleanEmpty | Corrupt = empty(n)
        elif kind == "corrupt":
            seen = Corrupt(R, span(n), 1, "x")
        else:
            assert isinstance(kind, tuple)
            seen = present(n, *kind[0], complete=kind[1])
        before = set(area.tags)
        area, delta = observe(area, seen, n, MODEL)
        assert set(delta.came) == set(area.tags) - before
        assert set(delta.left) == before - set(area.tags)
        for sighting in area.tags.values():
            assert MODEL.gone < sighting.level <= MODEL.ceiling
            assert sighting.arrived.latest_ns <= span(n).latest_ns


@given(st.integers(-10_000, 10_000), st.integers(0, 5_000))
def test_confidence_grows_with_the_level(level: int, more: int) -> None:
    assert 0 < confidence(level) <= confidence(level + more) < 1000


def test_a_chip_that_no_hand_has_been_near_is_not_gone_because_it_is_missed() -> None:
    area = fold(empty(1), present(2, "A"), present(3, "A"))
    for n in range(4, 24):
        area, _ = observe(area, empty(n), n, MODEL, hand_ns=250)
    assert set(area.tags) == {"A"}
    for n in range(24, 60):
        area, _ = observe(area, empty(n), n, MODEL, hand_ns=250)
    assert set(area.tags) == set(), "the camera may have missed a hand"


def test_a_hand_near_it_makes_an_absence_count_in_full() -> None:
    area = fold(empty(1), present(2, "A"), present(3, "A"))
    for n in range(4, 9):
        area, _ = observe(area, empty(n), n, MODEL, hand_ns=350)
    assert set(area.tags) == set()


def test_a_ghost_in_a_look_does_not_make_it_news_of_the_stack() -> None:
    area = fold(*(present(n, "A", "B") for n in range(1, 8)), present(8, "A", "B", "GHOST"), present(9, "A", "B"))
    assert not any(look.changed for look in area.looks[1:])
    area = fold(*(present(n, "A", "B") for n in range(1, 8)), present(8, "A"), present(9, "A"), present(10, "A", "B"))
    assert [look.changed for look in area.looks[-4:]] == [False, True, False, True]
