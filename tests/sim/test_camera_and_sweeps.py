"""The twins at the level of observations: what they say follows the truth, and errs as often as it is told to."""

from __future__ import annotations

import itertools
from random import Random

import pytest

from hw_sim.acts import MS, Act, Hands, Movement, Stroke, Timeline, run
from hw_sim.camera import Camera, HandStep, Landed, Record, Trust
from hw_sim.devices.physics import INVENTORY_MS
from hw_sim.noise import Disturbance
from hw_sim.script import Sleep
from hw_sim.styles import MEANWHILE, ROOM, STYLES
from hw_sim.sweeps import Read, Sweeper
from hw_sim.world import TRAY, Chip, Spot, World, make_chips

CLEAR = Disturbance().without_noise()


def table(noise: Disturbance = CLEAR, seed: int = 1) -> tuple[World, Hands, Camera, list[Movement]]:
    """A world with one stack, hands, and a camera that looks at both."""
    world = World(make_chips({100: 20}, Random(seed)))
    world.move(world.pick(TRAY, {100: 12}), TRAY, Spot("stack", "2"), 0, "buys in")
    camera = Camera(noise, Random(seed))
    steps: list[Movement] = []

    def see(step: Movement) -> None:
        steps.append(step)
        camera.moved(step)

    hands = Hands(world, Random(seed), lambda key, **how: None, see)
    return world, hands, camera, steps


def perform(world: World, camera: Camera, timeline: Timeline) -> list[Record]:
    """Let it happen; all that the camera reports of it, in the order in which it arrives."""
    clock = [0]

    def moved(chips: tuple[Chip, ...], source: Spot, target: Spot) -> None:
        if target.kind == "bet":
            for chip in chips:
                camera.landed(clock[0], int(target.who), chip)

    world.watch(moved)
    for wait in run([(0.0, timeline)], lambda: clock[0], 1.0):
        assert isinstance(wait, Sleep)
        clock[0] += wait.ns
    return camera.due(clock[0] + 1000 * MS)


def strokes(world: World, *parts: tuple[int, int, float]) -> list[Stroke]:
    """Strokes of so many chips, after a retreat in mm and a pause in s."""
    stack = list(reversed(world.at(Spot("stack", "2"))))
    out = []
    for n, mm, pause in parts:
        out.append(Stroke(chips=[stack.pop() for _ in range(n)], reach=0.3, trickle=0.05, back_mm=mm, pause=pause))
    return out


def test_one_stroke_is_seen_as_a_hand_that_enters_and_leaves_and_a_pile() -> None:
    world, hands, camera, _ = table()
    timeline = Timeline(Act(seat=2, kind="x", to_act=2))
    hands.visit(timeline, 0.0, strokes(world, (3, 0, 0.0)))
    seen = perform(world, camera, timeline)
    steps = [s for s in seen if isinstance(s, HandStep)]
    assert [(s.step, s.by, s.retreat_mm, s.pause_ms) for s in steps] == [
        ("enters", "player", 0, 0),
        ("leaves", "player", 0, 0),
    ]
    piles = [s for s in seen if isinstance(s, Landed)]
    assert [(p.seat, p.value) for p in piles] == [("2", 100)]
    truth = timeline.act.motions[0]
    assert piles[0].earliest_ns <= truth["first_touch_ns"] <= truth["last_touch_ns"] <= piles[0].latest_ns


@pytest.mark.parametrize(("mm", "pause", "inside"), [(50, 0.4, True), (0, 0.3, True), (200, 0.8, False)])
def test_a_second_stroke_is_seen_with_its_retreat_and_pause(mm: int, pause: float, inside: bool) -> None:
    world, hands, camera, steps = table()
    timeline = Timeline(Act(seat=2, kind="x", to_act=2))
    hands.visit(timeline, 0.0, strokes(world, (2, 0, 0.0), (2, mm, pause)), depth_mm=120)
    seen = [s for s in perform(world, camera, timeline) if isinstance(s, HandStep)]
    wanted = ["enters", "advances", "leaves"] if inside else ["enters", "leaves", "enters", "leaves"]
    assert [s.step for s in seen] == [s.step for s in steps] == wanted
    second = seen[-2]
    assert second.retreat_mm == mm
    assert abs(second.pause_ms - 1000 * pause) <= 1
    assert timeline.act.one_motion() is False
    assert [m["before_mm"] for m in timeline.act.motions] == [0, mm]


def test_a_hand_that_comes_back_much_later_begins_anew() -> None:
    world, hands, _, steps = table()
    timeline = Timeline(Act(seat=2, kind="x", to_act=2))
    hands.empty_trip(timeline, 0.0, stay=0.5)
    hands.empty_trip(timeline, 2.0, stay=0.5)
    hands.empty_trip(timeline, 9.0, stay=0.5)
    perform(world, Camera(CLEAR, Random(0)), timeline)
    came = [s for s in steps if s.step == "enters"]
    assert [s.pause_ms > 0 for s in came] == [False, True, False]
    assert [s.retreat_mm > 0 for s in came] == [False, True, False]


def test_the_dealers_arm_is_told_from_the_players_and_both_hide_what_lands() -> None:
    world, hands, camera, _ = table()
    timeline = Timeline(Act(seat=2, kind="x", to_act=2))
    last = hands.visit(timeline, 0.0, strokes(world, (2, 0, 0.0)), leave=0.1)
    hands.arm(timeline, last, 2, stay=0.6)
    seen = perform(world, camera, timeline)
    assert {s.by for s in seen if isinstance(s, HandStep)} == {"player", "dealer"}
    pile = next(s for s in seen if isinstance(s, Landed))
    gone = max(s.latest_ns for s in seen if isinstance(s, HandStep) and s.step == "leaves")
    assert pile.latest_ns >= gone


def test_noise_of_the_camera_is_as_often_and_as_large_as_it_is_told() -> None:
    camera = Camera(Disturbance(step_missed=0.1, step_invented=0.05, unsure=0.2), Random(4))
    n = 4000
    for i in range(n):
        camera.moved(Movement(i * 1000 * MS, 1, "advances", "player", 40, 400))
    seen = [r for r in camera.due(1 << 62) if isinstance(r, HandStep)]
    true = [r for r in seen if r.step == "advances" and 34 <= r.retreat_mm <= 46 and 380 <= r.pause_ms <= 420]
    assert abs(camera.counts["step missed"] / n - 0.1) < 0.02
    assert abs(camera.counts["step invented"] / n - 0.05) < 0.015
    assert len(seen) == n - camera.counts["step missed"] + camera.counts["step invented"]
    assert abs(sum(r.by == "unsure" for r in true) / len(true) - 0.2) < 0.03
    exact = Camera(Disturbance(step_missed=0.0, step_invented=0.0), Random(5))
    for i in range(1, 400):
        exact.moved(Movement(i * 1000 * MS, 1, "enters"))
    steps = [r for r in exact.due(1 << 62) if isinstance(r, HandStep)]
    off = [r.earliest_ns + 17 * MS - round(r.earliest_ns / (1000 * MS)) * 1000 * MS for r in steps]
    assert max(map(abs, off)) <= 17 * MS
    assert max(off) > 10 * MS
    assert min(off) < -10 * MS


def test_what_arrives_comes_late_and_nothing_comes_while_it_is_not_trusted() -> None:
    camera = Camera(CLEAR, Random(1))
    camera.moved(Movement(1000 * MS, 1, "enters"))
    due = camera.next_ns()
    assert due is not None
    assert 1050 * MS <= due <= 1120 * MS
    camera.trust(2000 * MS, False, "moved")
    camera.moved(Movement(2100 * MS, 1, "leaves"))
    camera.moved(Movement(2500 * MS, 1, "enters"))
    camera.trust(3000 * MS, True)
    kinds = [(type(r), getattr(r, "trusted", None)) for r in camera.due(1 << 62)]
    assert kinds == [(HandStep, None), (Trust, False), (Trust, True)]
    off = Camera(CLEAR.change("camera=false"), Random(1))
    off.moved(Movement(1000 * MS, 1, "enters"))
    off.trust(1500 * MS, True)
    assert off.next_ns() is None


def reads(noise: Disturbance, chips: dict[int, list[str]], n: int, *, seats: int = 3, seed: int = 2) -> list[Read]:
    """So many answers of a sweeper over chips that lie still."""
    sweeper = Sweeper(lambda place: chips.get(place, []), seats, noise, Random(seed), lambda place: [])
    now, out = 0, []
    for _ in range(n):
        at = sweeper.ask(now)
        answer = sweeper.answer()
        assert answer.from_ns <= at <= answer.to_ns < answer.arrives_ns
        now = answer.to_ns
        out.append(answer)
    return out


STACK = [f"E00401500000000{i}" for i in range(5)]


@pytest.mark.parametrize("model", ["independent", "together", "sticky", "deaf"])
def test_each_model_of_misses_has_the_same_share_in_the_long_run(model: str) -> None:
    noise = CLEAR.change("miss_lone=0.05").change("miss_buried=0.15").change(f"miss_model={model}")
    buried = top = looks = 0
    for seed in range(60):  # a deaf chip stays deaf, so one table alone says little
        for answer in reads(noise, {1: STACK}, 600, seats=1, seed=seed):
            assert answer.uids is not None
            looks += 1
            top += STACK[-1] not in answer.uids
            buried += sum(uid not in answer.uids for uid in STACK[:-1])
    assert abs(top / looks - 0.05) < 0.02
    assert abs(buried / (4 * looks) - 0.15) < 0.03


def test_an_answer_takes_as_long_as_was_published() -> None:
    answers = reads(CLEAR, {1: [], 2: ["A"], 3: STACK}, 6)
    took = [(a.antenna, (a.to_ns - a.from_ns) / MS) for a in answers[:3]]
    published = dict(INVENTORY_MS)
    assert took == [(1, published[0]), (2, published[1]), (3, published[5])]
    gaps = [(b.from_ns - a.to_ns) / MS for a, b in itertools.pairwise(answers)]
    assert gaps == [5.0] * 5


def test_ghosts_bleed_and_faults_are_as_often_as_they_are_told() -> None:
    noise = CLEAR.change("ghost=0.02").change("bleed=0.05").change("rf_error=0.03").change("silent=0.02")
    answers = reads(noise, {2: ["A"]}, 12_000, seats=4)
    far = [a for a in answers if a.antenna == 4 and a.uids is not None]
    near = [a for a in answers if a.antenna in (1, 3) and a.uids is not None]
    assert abs(sum(len(a.uids or ()) for a in far) / len(far) - 0.02) < 0.01
    assert abs(sum("A" in (a.uids or ()) for a in near) / len(near) - 0.05) < 0.01
    assert abs(sum(a.uids is None for a in answers) / len(answers) - 0.05) < 0.01
    assert {a.fault for a in answers} == {"", "rf_error", "silent"}


def test_the_favoured_antenna_is_looked_at_before_each_other_one() -> None:
    sweeper = Sweeper(lambda place: [], 4, CLEAR, Random(0), lambda place: [])
    sweeper.favoured = 3
    order = []
    for n in range(8):
        sweeper.ask(n * 100 * MS)
        order.append(sweeper.answer().antenna)
    assert order == [3, 1, 3, 2, 3, 3, 3, 4]


def test_the_weights_of_a_room_name_styles_that_there_are_and_most_acts_are_honest() -> None:
    assert set(ROOM) == set(STYLES)
    honest = sum(w for name, w in ROOM.items() if STYLES[name].honest)
    assert honest / sum(ROOM.values()) > 0.85
    strings = ROOM["string"] + ROOM["string_far"]
    assert 0.03 <= strings / sum(ROOM.values()) <= 0.05  # every second act has no chips: about 2 % of all
    assert all(0 < w < 100 for w in MEANWHILE.values())
