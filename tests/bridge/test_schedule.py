"""The time plan: no two neighbours together, nobody starves, and the stated bounds hold in every run."""

from __future__ import annotations

import random
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firmware_bridge.session.schedule import Lane, Member, Pair, Place, TimePlan, Turns, groups, rounds_of

MS = 1_000_000


def reader(device: str, *antennas: int, full: int = 50 * MS, **fields: int | None) -> Member:
    return Member(device=device, antennas=antennas, full_ns=(full,) * len(antennas), **fields)  # type: ignore[arg-type]  # only times have such names


def test_readers_without_common_neighbours_are_on_their_own() -> None:
    pairs: list[Pair] = [(("a", 1), ("b", 1)), (("b", 2), ("c", 1))]
    assert groups(["a", "b", "c", "d"], pairs) == [("a", "b", "c"), ("d",)]
    assert groups(["a", "b"], [(("a", 1), ("a", 2))]) == [("a",), ("b",)]
    assert groups(["a"], [(("a", 1), ("z", 1))]) == [("a",)]


def test_one_reader_takes_its_antennas_in_turn() -> None:
    turns = Turns(TimePlan([reader("a", 3, 1, 2)]))
    turns.join("a", 0)
    seen = []
    for n in range(7):
        look = turns.take("a", n)
        assert look is not None
        assert look.lane is Lane.FULL
        seen.append(look.antenna)
        turns.give("a", n)
    assert seen == [3, 1, 2, 3, 1, 2, 3]
    assert turns.passes == 2


def test_a_pass_lasts_at_least_its_rest() -> None:
    turns = Turns(TimePlan([reader("a", 1, 2, rest_ns=100)]))
    turns.join("a", 1000)
    for now in (1000, 1010):
        assert turns.take("a", now) is not None
        turns.give("a", now)
    assert turns.take("a", 1099) is None
    assert turns.due_ns("a") == 1100
    assert turns.take("a", 1100) is not None


def test_neighbours_of_two_readers_wait_for_each_other() -> None:
    turns = Turns(TimePlan([reader("a", 1), reader("b", 1)], [(("a", 1), ("b", 1))]))
    turns.join("a", 0)
    turns.join("b", 0)
    assert turns.take("a", 0) is not None
    assert turns.take("b", 5) is None
    assert turns.due_ns("b") is None, "woken by the other one"
    turns.give("a", 10)
    assert turns.due_ns("b") is not None
    assert turns.take("b", 10) is not None
    assert turns.take("a", 11) is None
    turns.leave("b", 12)  # pulled out in the middle of its look
    assert turns.take("a", 12) is not None


def test_who_is_not_there_is_not_waited_for() -> None:
    turns = Turns(TimePlan([reader("a", 1, 2), reader("b", 1, 2, 3)], [(("a", 1), ("b", 1))]))
    turns.join("b", 0)
    seen = []
    for n in range(6):
        look = turns.take("b", n)
        assert look is not None
        seen.append(look.antenna)
        turns.give("b", n)
    assert sorted(seen) == [1, 1, 2, 2, 3, 3]
    turns.join("a", 10)
    took = []
    for n in range(40):
        for device in ("a", "b"):
            if (look := turns.take(device, 20 + n)) is not None:
                took.append((device, look.antenna))
                turns.give(device, 20 + n)
    assert {t for t in took if t[0] == "a"} == {("a", 1), ("a", 2)}


def test_fresh_looks_and_one_full_one_a_pass() -> None:
    member = reader("a", 1, 2, 3, 4, fresh_ns=10 * MS, presence_ns=500 * MS)
    turns = Turns(TimePlan([member]))
    turns.join("a", 0)
    now, lanes = 0, []
    for _ in range(400):
        look = turns.take("a", now)
        assert look is not None
        lanes.append((look.antenna, look.lane, now))
        now += 50 * MS if look.lane is Lane.FULL else 10 * MS
        turns.give("a", now)
    for n in range(0, 400, 4):
        assert sum(lane is Lane.FULL for _, lane, _ in lanes[n : n + 4]) <= 1
    for antenna in member.antennas:
        full = [at for a, lane, at in lanes if a == antenna and lane is Lane.FULL]
        assert max(b - a for a, b in pairwise(full)) <= 500 * MS + 4 * turns.plan.pass_ns()


def test_the_published_physics() -> None:
    """Nine stacks of twenty, switching 5 ms: 1.7 s for a naive sweep; a lone quiet stack with a fresh lane far less."""
    naive = TimePlan([reader("a", *range(1, 10), full=189 * MS)])
    assert naive.pass_ns() == 1701 * MS
    assert naive.arrival_ns(("a", 5)) == 1890 * MS
    assert naive.removal_ns(("a", 5)) == 1890 * MS
    favoured = [("a", 5)]
    assert naive.arrival_ns(("a", 5), favoured) == 3 * 189 * MS
    assert naive.arrival_ns(("a", 4), favoured) == (9 + 9 + 1) * 189 * MS
    quiet = TimePlan([reader("a", 1, full=204 * MS, fresh_ns=14 * MS, presence_ns=1000 * MS)])
    assert quiet.arrival_ns(("a", 1)) == 408 * MS  # it lands when a full look has just passed it; else far sooner
    assert quiet.removal_ns(("a", 1)) == (1000 + 3 * 204) * MS
    two = TimePlan([reader("a", 1, 2, full=204 * MS, fresh_ns=14 * MS, presence_ns=1000 * MS)])
    assert two.pass_ns() == 218 * MS


@st.composite
def tables(draw: st.DrawFn) -> tuple[list[Member], list[Pair]]:
    members = [
        reader(
            name,
            *range(1, draw(st.integers(1, 5)) + 1),
            full=draw(st.integers(20, 200)) * MS,
            rest_ns=draw(st.sampled_from([0, 50 * MS])),
        )
        for name in "abc"[: draw(st.integers(1, 3))]
    ]
    places = [(m.device, a) for m in members for a in m.antennas]
    pairs = draw(st.lists(st.tuples(st.sampled_from(places), st.sampled_from(places)), max_size=12))
    return members, [(one, other) for one, other in pairs if one != other]


@settings(max_examples=60, deadline=None, database=None)
@given(table=tables())
def test_rounds_hold_every_antenna_once_and_no_neighbours(table: tuple[list[Member], list[Pair]]) -> None:
    members, pairs = table
    rounds = rounds_of(members, pairs)
    everything = [place for r in rounds for place in r]
    assert sorted(everything) == sorted((m.device, a) for m in members for a in m.antennas)
    for r in rounds:
        assert len({device for device, _ in r}) == len(r)
        assert not [pair for pair in pairs if pair[0] in r and pair[1] in r and pair[0][0] != pair[1][0]]


def play(turns: Turns, members: list[Member], pairs: list[Pair], chance: random.Random, end: int) -> dict[Place, int]:
    """Runs readers that take as long as they may; checks neighbours; returns the longest gap at each place."""
    now = 0
    busy: dict[str, tuple[int, Place]] = {}
    began: dict[Place, int] = {}
    gaps: dict[Place, int] = {}
    for member in members:
        turns.join(member.device, now)
    while now < end:
        for member in members:
            if member.device in busy:
                continue
            look = turns.take(member.device, now)
            if look is None:
                continue
            place = (member.device, look.antenna)
            longest = member.full_ns[member.antennas.index(look.antenna)]
            if look.lane is Lane.FRESH:
                longest = member.fresh_ns or longest
            if place in began:
                gaps[place] = max(gaps.get(place, 0), now - began[place])
            began[place] = now
            busy[member.device] = (now + chance.choice([longest, longest, longest // 3]), place)
            on = {p for _, p in busy.values()}
            assert not [p for p in pairs if p[0] in on and p[1] in on and p[0][0] != p[1][0]], "neighbours together"
            assert set(turns.energised()) == on
        if not busy:
            waits = [d for m in members if (d := turns.due_ns(m.device)) is not None]
            assert waits, "everybody waits for ever"
            now = max(now + 1, min(waits))
            continue
        device = min(busy, key=lambda d: busy[d][0])
        now = busy.pop(device)[0]
        turns.give(device, now)
    for place, at in began.items():
        gaps[place] = max(gaps.get(place, 0), now - at)
    return gaps


@settings(max_examples=40, deadline=None, database=None)
@given(table=tables(), seed=st.integers(0, 1000), favoured=st.booleans())
def test_the_bounds_hold(table: tuple[list[Member], list[Pair]], seed: int, favoured: bool) -> None:
    members, pairs = table
    chance = random.Random(seed)
    turns = Turns(TimePlan(members, pairs))
    places = [(m.device, a) for m in members for a in m.antennas]
    if favoured:
        turns.favour([chance.choice(places)])
    gaps = play(turns, members, pairs, chance, 12_000 * MS)
    assert set(gaps) == set(places), "everyone had a turn"
    for place, gap in gaps.items():
        full = turns.plan.arrival_ns(place, turns._favoured) - turns.plan.gap_ns(place, turns._favoured)
        assert gap <= turns.worst_arrival_ns(place) - full, place


def test_a_fresh_lane_keeps_its_bound_too() -> None:
    members = [reader("a", 1, 2, 3, full=100 * MS, fresh_ns=12 * MS, presence_ns=200 * MS)]
    turns = Turns(TimePlan(members))
    gaps = play(turns, members, [], random.Random(1), 20_000 * MS)
    # One look of a pass is full, but from one look at an antenna to the next it may be the full ones of two passes.
    assert turns.plan.pass_ns() == 124 * MS
    assert 124 * MS < max(gaps.values()) <= turns.plan.gap_ns(("a", 1)) == 212 * MS
    assert turns.worst_removal_ns(("a", 1)) == (200 + 3 * 124 + 212 + 100) * MS


def test_favouring_for_ever_anew_starves_nobody() -> None:
    members = [reader("a", *range(1, 7))]
    turns = Turns(TimePlan(members))
    turns.join("a", 0)
    seen = set()
    for n in range(200):
        turns.favour([("a", 1 + n % 2), ("z", 9)])
        look = turns.take("a", n)
        assert look is not None
        seen.add(look.antenna)
        turns.give("a", n)
    assert seen == set(range(1, 7))


def test_a_member_that_cannot_be() -> None:
    with pytest.raises(ValueError, match="a time for each of its antennas"):
        Member(device="a", antennas=(1, 2), full_ns=(1,))
