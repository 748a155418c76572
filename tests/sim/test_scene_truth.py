"""The truth of a scene holds together: visits, strokes, chips and tags; boards and films."""

from __future__ import annotations

import itertools
import json
from collections import defaultdict
from functools import cache
from pathlib import Path

import cv2
import msgspec
import numpy as np
import pytest

from hw_sim.scene import CONDITIONS, Board, Scene, boards, camera, world
from hw_sim.scene.film import write
from hw_sim.scene.reckon import inside
from hw_sim.scene.truth import HandStep

SMALL = {"width": 640, "height": 360}
S = 1_000_000_000


@cache
def scene(seed: int, conditions: str = "baseline", acts: tuple[str, ...] = (), seats: int = 9, shape: str = "oval",
          seconds: float = 40.0) -> Scene:  # fmt: skip
    return world(seed, conditions, seconds=seconds, acts=acts, seats=seats, shape=shape, **SMALL)  # type: ignore[arg-type]  # a literal


@pytest.mark.parametrize(("seed", "seats", "shape"), [(1, 9, "oval"), (2, 10, "d"), (3, 2, "oval"), (4, 6, "d")])
def test_visits_alternate_and_chips_lie_in_their_zones(seed: int, seats: int, shape: str) -> None:
    of = scene(seed, seats=seats, shape=shape)
    visits: dict[tuple[str, str], list[HandStep]] = defaultdict(list)
    for step in of.truth.steps:
        visits[step.seat, step.by].append(step)
    assert visits
    for steps in visits.values():
        outer = [s.step for s in steps if s.step != "advances"]
        assert outer == ["enters" if k % 2 == 0 else "leaves" for k in range(len(outer))]
        for before, after in itertools.pairwise(steps):
            assert before.at_ns < after.at_ns
            assert after.step != "advances" or before.step != "leaves", "one advances over the line"
    for landing in of.truth.landings:
        outline = of.layout.zone("bet", landing.seat).outline
        assert inside(outline, np.array([landing.x_mm]), np.array([landing.y_mm]))[0]
        assert landing.hidden_until_ns >= landing.at_ns
        assert landing.value == landing.values[-1]
        assert landing.count == len(landing.values)


def test_zones_never_overlap() -> None:
    for seats, shape in ((2, "oval"), (6, "d"), (9, "oval"), (10, "d"), (10, "oval")):
        made = scene(1, acts=("hover",), seats=seats, shape=shape, seconds=1.0).layout
        points = np.stack(np.meshgrid(np.arange(-1090, 1091, 10.0), np.arange(-510, 511, 10.0)), axis=-1)
        count = sum(inside(z.outline, points[..., 0], points[..., 1]).astype(int) for z in made.zones)
        assert np.max(count) == 1


def test_each_string_bet_is_two_strokes_and_each_bet_one() -> None:
    of = scene(5, acts=("string_bet", "bet", "sweep"))
    strung = [a for a in of.truth.acts if a.kind == "string_bet"]
    single = [a for a in of.truth.acts if a.kind == "bet"]
    assert strung
    assert single

    def within(act: object) -> list[HandStep]:
        return [
            s for s in of.truth.steps if s.seat == act.seat and s.by == "player" and act.from_ns < s.at_ns < act.to_ns
        ]  # type: ignore[attr-defined]  # an Act

    two = 0
    for act in strung:
        second = [s for s in within(act) if s.step == "advances" or (s.step == "enters" and s.pause_ms)]
        landed = [x for x in of.truth.landings if x.seat == act.seat and act.from_ns < x.at_ns < act.to_ns]
        if len(landed) < 2:
            continue  # the zone was full
        two += 1
        assert second
        assert all(s.retreat_mm >= 3 and s.pause_ms >= 50 for s in second if s.step == "advances")
    assert two
    for act in single:
        assert [s.step for s in within(act)] == ["enters", "leaves"]


def test_tags_are_the_landed_chips_but_for_the_foreign() -> None:
    of = scene(7)
    landed: dict[str, int] = defaultdict(int)
    for landing in of.truth.landings:
        landed[landing.seat] += landing.count if landing.tagged else 0
    tags: dict[str, int] = defaultdict(int)
    for tag in of.truth.tags:
        tags[tag.seat] += 1
        assert tag.to_ns == 0 or tag.to_ns >= tag.from_ns
    assert len({t.uid for t in of.truth.tags}) == len(of.truth.tags)
    assert of.truth.tags
    for seat, count in tags.items():
        # A stack that was set down and pushed on landed twice with the same tags.
        assert count <= landed[seat]
    often = msgspec.structs.replace(CONDITIONS["baseline"], foreign=0.7)
    strange = world(7, often, seconds=30.0, **SMALL).truth.landings
    assert sum(not x.tagged for x in strange) > len(strange) / 3


def test_nobody_bets_in_an_idle_minute() -> None:
    of = scene(2, "idle")
    assert not of.truth.landings
    assert not of.truth.steps
    assert len(of.truth.acts) > 5, "and yet they move"


def test_disturbances_are_told() -> None:
    told = {name: {d.kind for d in scene(2, name, ("hover",), seconds=12.0).truth.disturbances}
            for name in ("lightstep", "knocked", "occluded", "defocus", "dirt", "flicker", "shadows")}  # fmt: skip
    for name, kinds in told.items():
        assert (name if name != "shadows" else "shadow") in kinds
    hidden = [
        d.amount for d in scene(2, "occluded", ("hover",), seconds=12.0).truth.disturbances if d.kind == "occluded"
    ]
    assert all(600 <= share <= 1000 for share in hidden), "a tray hides most of the zone"


def test_a_board_is_seen_where_it_is() -> None:
    printed = Board(columns=9, rows=6, square_mm=50.0, marker_mm=38.0)
    known = cv2.aruco.getPredefinedDictionary(cv2.aruco.DICT_5X5_100)
    charuco = cv2.aruco.CharucoBoard((9, 6), 50.0, 38.0, known)
    detector = cv2.aruco.CharucoDetector(charuco)
    eye, used = camera(8), 0
    for view in boards(8, 3, printed):
        grey = cv2.imdecode(np.frombuffer(view.jpeg, np.uint8), cv2.IMREAD_GRAYSCALE)
        corners, ids, _, _ = detector.detectBoard(grey)
        assert ids is not None
        there = charuco.getChessboardCorners()[ids.ravel()] @ np.array(view.turn).T + np.array(view.origin)
        away = eye.lens.pixels(there) - corners.reshape(-1, 2)
        assert np.sqrt((away**2).sum(axis=1).mean()) < 0.25
        used += len(ids)
    assert used > 60
    assert boards(8, 1, printed)[0].jpeg == boards(8, 1, printed)[0].jpeg
    with pytest.raises(ValueError, match="1 to 500"):
        boards(8, 0)


def test_a_film_can_be_played(tmp_path: Path) -> None:
    of = world(5, "baseline", seconds=1.0, acts=("hover",), **SMALL)
    shots = list(of.frames(0.0, 0.2))
    paths = write(of, shots, tmp_path)
    assert {p.name for p in paths} >= {"film.avi", "truth.json", "first.jpg"}
    film = cv2.VideoCapture(str(tmp_path / "film.avi"))
    assert film.isOpened()
    assert film.get(cv2.CAP_PROP_FPS) == pytest.approx(60.0)
    frames = 0
    while film.read()[0]:
        frames += 1
    assert frames == len(shots)
    truth = json.loads((tmp_path / "truth.json").read_text())
    assert truth["conditions"]["name"] == "baseline"
    assert len(truth["layout"]["seats"]) == 9
