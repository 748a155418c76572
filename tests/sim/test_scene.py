"""The rendered table is true to its own truth: lens, rows in time, parallax, colours, seeds."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path
from random import Random

import cv2
import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

import hw_sim.scene as scene_package
from hw_sim.scene import CONDITIONS, Scene, camera, marker_view, world
from hw_sim.scene.motion import Arm, Body, Rest
from hw_sim.scene.people import pile
from hw_sim.scene.reckon import foremost
from hw_sim.scene.render import Renderer
from hw_sim.scene.stage import CELL, Shutter, View, thing_image

SMALL = {"width": 640, "height": 360}
S = 1_000_000_000


@cache
def scene(conditions: str = "baseline", seed: int = 3, seconds: float = 14.0, acts: tuple[str, ...] = ()) -> Scene:
    return world(seed, conditions, seconds=seconds, acts=acts, **SMALL)


@cache
def view(seed: int = 3) -> View:
    return scene(seed=seed).view()


def picture(jpeg: bytes) -> np.ndarray:
    got = cv2.imdecode(np.frombuffer(jpeg, np.uint8), cv2.IMREAD_COLOR)
    assert got is not None
    return got


def test_nothing_of_the_product_is_imported() -> None:
    folder = Path(scene_package.__file__).parent
    for path in folder.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            names = [a.name for a in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            for name in names:
                assert name.split(".")[0] not in {"tabled", "firmware_bridge", "calibration"}, (path, name)
                assert name.split(".")[0] != "hw_sim" or name.startswith("hw_sim.scene"), (path, name)


def test_the_lens_is_not_that_of_the_library() -> None:
    folder = Path(scene_package.__file__).parent
    for path in folder.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Attribute):
                assert node.attr not in {"projectPoints", "undistort", "undistortPoints", "initUndistortRectifyMap"}


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 50), st.floats(0, 1279), st.floats(0, 719), st.floats(0, 400))
def test_ray_and_projection_undo_each_other(seed: int, x: float, y: float, z: float) -> None:
    eye = camera(seed)
    place = eye.on_plane(np.array([[x, y]]), z)
    again = eye.pixels(np.concatenate([place, [[z]]], axis=1))
    assert np.abs(again - [[x, y]]).max() < 1e-6
    assert np.abs(eye.seen_on_felt(np.array([[*place[0], z]])) - eye.on_plane(np.array([[x, y]]))).max() < 1e-6


def test_the_whole_table_is_in_the_picture() -> None:
    for seed in range(12):
        eye, made = camera(seed), world(seed, seconds=1.0, acts=("hover",)).layout
        points = np.array([(*p, 0.0) for zone in made.zones for p in zone.outline])
        pixels = eye.pixels(points)
        assert pixels.min() > 0
        assert (pixels < (1280, 720)).all()


def test_the_lens_bends_as_lenses_do() -> None:
    """Brown and Conrady's model with five coefficients fits it to a fifth of a pixel, a pinhole does not."""
    eye = camera(4)
    rng = np.random.default_rng(1)
    objects, images = [], []
    for _ in range(10):
        turn = cv2.Rodrigues(rng.uniform(-0.5, 0.5, 3))[0]
        grid = np.stack(np.meshgrid(np.linspace(-500, 500, 12), np.linspace(-350, 350, 9), [0.0]), -1).reshape(-1, 3)
        there = grid @ turn.T + [rng.uniform(-600, 600), rng.uniform(-300, 300), rng.uniform(900, 1300)]
        pixels = eye.lens.pixels(there)
        inside = ((pixels > 0) & (pixels < (1280, 720))).all(axis=1)
        objects.append(grid[inside].astype(np.float32))
        images.append(pixels[inside].astype(np.float32))
    fitted = cv2.calibrateCamera(objects, images, (1280, 720), None, None)
    straight = cv2.calibrateCamera(
        objects, images, (1280, 720), None, None,
        flags=cv2.CALIB_FIX_K1 | cv2.CALIB_FIX_K2 | cv2.CALIB_FIX_K3 | cv2.CALIB_ZERO_TANGENT_DIST,
    )  # fmt: skip
    assert fitted[0] < 0.2
    assert straight[0] > 5 * fitted[0]


def test_a_stack_leans_away_from_the_camera() -> None:
    shown, kind = view(), scene().layout.chips[1]
    eye = shown.eye
    x, y = 700.0, 120.0
    low = thing_image(shown, pile((kind,), Random(1)), (x, y, 0.0, 0.0))
    high = thing_image(shown, pile((kind,) * 20, Random(1)), (x, y, 0.0, 0.0))
    assert low is not None
    assert high is not None

    def bounds(drawn: tuple[tuple[int, int, int, int], np.ndarray]) -> np.ndarray:
        _, columns = np.nonzero(drawn[1][..., 3] > 0.5)
        return np.array([columns.min() + drawn[0][0], columns.max() + drawn[0][0]])

    outwards = eye.pixels(np.array([(x + 19.5, y, 66.0)]))[0, 0] - eye.pixels(np.array([(x + 19.5, y, 3.3)]))[0, 0]
    assert outwards > 2
    grown = bounds(high) - bounds(low)
    assert abs(grown[1] - outwards) <= 1.5, "its top is further out"
    assert abs(grown[0]) <= 1.5, "its foot stays"


class _Still:
    """A renderer of one moving arm and nobody else."""

    def __init__(self) -> None:
        base = scene()
        player = base._script.players[0]
        self.arm = Arm(player.name, player.seat.place(-225), right=True, skin=0, cloth=player.body.cloth,
                       rest=(*player.seat.place(40.0), 20.0, player.facing, 0.5))  # fmt: skip
        self.arm.path.key(0.10, *player.seat.place(40.0), player.facing)
        self.arm.path.key(0.22, *player.seat.place(300.0, 60.0), player.facing)
        self.view = view()

    def roots(self, start: float, row: float) -> np.ndarray:
        nobody: list[Body] = []
        renderer = Renderer(self.view, [], [self.arm], nobody)
        return renderer.frame(Shutter(start, row, 1e-6, self.view.height)).copy()


def test_each_row_is_seen_at_its_own_time() -> None:
    """A strip of a rolling picture is that of a picture taken all at once at that strip's instant."""
    still = _Still()
    row, start = 0.030 / 359, 0.145
    rolling, nothing = still.roots(start, row), still.roots(0.0, 0.0)
    touched = np.nonzero(np.abs(rolling - nothing).max(axis=1) > 4)[0]
    assert len(touched) > 3 * CELL
    strips = range(int(touched[0]) // CELL + 1, int(touched[-1]) // CELL)
    wrong_time = 0.0
    for strip in list(strips)[::3]:
        rows = slice(strip * CELL + 3, strip * CELL + 5)
        at_once = still.roots(start + (strip * CELL + 3.5) * row, 0.0)
        assert np.abs(rolling[rows] - at_once[rows]).mean() < 0.25
        other = still.roots(start, 0.0)
        wrong_time = max(wrong_time, float(np.abs(rolling[rows] - other[rows]).mean()))
    assert wrong_time > 0.5, "the arm is so fast that the time of a row matters"


def test_flicker_makes_bands_that_wander() -> None:
    quiet, flicker = scene("idle", seconds=1.0), scene("flicker", seconds=1.0)

    def bands(of: Scene) -> np.ndarray:
        return np.array([picture(s.jpeg)[:, 250:390].mean(axis=(1, 2)) for s in of.frames(0.1, 0.2)])

    assert np.abs(np.diff(bands(quiet), axis=0)).max() < 6
    assert np.abs(np.diff(bands(flicker), axis=0)).max() > 12


def test_the_same_seed_gives_the_same_bytes() -> None:
    first = list(scene().frames(2.0, 2.1))
    anew = world(3, "baseline", seconds=14.0, **SMALL)
    again = list(anew.frames(2.0, 2.1))
    assert [(s.sequence, s.stamp_ns, s.jpeg) for s in first] == [(s.sequence, s.stamp_ns, s.jpeg) for s in again]
    assert scene().truth == anew.truth
    assert scene().at([2.05])[0].jpeg in [s.jpeg for s in first], "whatever was drawn before"
    other = next(scene(seed=4).frames(2.0, 2.1))
    assert other.jpeg != first[0].jpeg


def test_frames_are_due_at_their_rate() -> None:
    shots = list(scene("idle", seconds=1.0).frames(0.0, 0.2))
    assert [s.sequence for s in shots] == list(range(12))
    gaps = np.diff([s.stamp_ns for s in shots])
    assert set(gaps) <= {16_666_666, 16_666_667}
    assert all(s.arrives_ns > s.stamp_ns for s in shots)


def _chip_colour(shot: np.ndarray, of: Scene, x: float, y: float, z: float, radii: tuple[float, ...]) -> np.ndarray:
    """Mean linear light on rings around a place."""
    angles = np.radians(np.arange(0, 360, 5))
    ring = np.array([(x + r * np.cos(a), y + r * np.sin(a), z) for r in radii for a in angles])
    p = of.eye.pixels(ring).astype(np.float32)
    got = cv2.remap(shot, p[None, :, 0], p[None, :, 1], cv2.INTER_LINEAR)[0]
    return ((got[:, ::-1] / 255.0) ** 2.2).mean(axis=0)


def test_a_landed_chip_shows_its_colour_where_the_truth_says() -> None:
    of = world(6, "baseline", seconds=16.0, acts=("bet",))
    landings = of.truth.landings[:3]
    assert len(landings) == 3
    before, *afters = (picture(s.jpeg) for s in of.at([0.1, *(x.hidden_until_ns / S + 0.12 for x in landings)]))
    for landing, after in zip(landings, afters, strict=True):
        z = 3.3 * landing.count
        felt, chip = (_chip_colour(p, of, landing.x_mm, landing.y_mm, z, (14.0, 16.0, 17.5)) for p in (before, after))
        kind = next(k for k in of.layout.chips if k.value == landing.value)
        light = (felt / np.array(of.layout.felt_colour)).mean()
        said = {
            k.value: np.abs(
                np.cbrt(chip / light) - np.cbrt((43 * np.array(k.body) + 17 * np.array(k.spots)) / 60)
            ).sum()
            for k in of.layout.chips
        }
        assert min(said, key=lambda v: said[v]) == kind.value, (landing, said)
        inlay = _chip_colour(after, of, landing.x_mm, landing.y_mm, z, (3.0, 6.0))
        assert inlay.min() > 1.5 * np.array(of.layout.felt_colour).min() * light


def test_a_hand_is_on_its_line_when_the_truth_says() -> None:
    of = scene("baseline", 6, 16.0, ("bet", "hover", "push"))
    entered = [s for s in of.truth.steps if s.step == "enters" and s.by == "player"]
    assert entered
    for step in entered:
        player = next(p for p in of._script.players if p.name == step.seat)
        sides = foremost(player.arm, of._script.things, of.layout, of.eye,
                         np.array([step.at_ns / S - 1e-4, step.at_ns / S + 1e-4])).over  # fmt: skip
        assert sides[0] < 0 < sides[1]
    step = entered[0]
    # In the picture: nothing of a hand is over the line 60 ms before, and 120 ms after there is.
    zone = of.eye.pixels(np.array([(*p, 0.0) for p in of.layout.zone("bet", step.seat).outline]))
    mask = np.zeros((360, 640), np.uint8)
    cv2.fillPoly(mask, [np.rint(zone).astype(np.int32)], 1)
    mask = cv2.erode(mask, np.ones((5, 5), np.uint8))
    at = step.at_ns / S
    empty, early, late = (picture(s.jpeg).astype(int) for s in of.at([0.1, at - 0.06, at + 0.12]))
    changed = [(np.abs(p - empty).max(axis=2) > 45)[mask > 0].sum() for p in (early, late)]
    assert changed[0] <= 3
    assert changed[1] > 20


@pytest.mark.parametrize("name", ["dropped", "truncated"])
def test_frames_are_lost_as_the_truth_says(name: str) -> None:
    of = scene(name, 6, 4.0, ("hover",))
    shots = {s.sequence: s for s in of.frames(0.0, 2.0)}
    if name == "dropped":
        assert set(of.truth.dropped) & set(range(120))
        assert not set(of.truth.dropped) & set(shots)
        late = [n for n in of.truth.late if n in shots]
        assert late
        assert all(shots[n].arrives_ns > shots[n].stamp_ns + 35_000_000 for n in late)
        order = list(shots)
        assert order != sorted(order), "others overtake a late one"
        return
    cut = [n for n in of.truth.truncated if n in shots]
    assert cut
    assert not shots[cut[0]].jpeg.endswith(b"\xff\xd9")


def test_the_light_steps_when_the_truth_says() -> None:
    of = scene("lightstep", 5, 6.0, ("hover",))
    step = next(d for d in of.truth.disturbances if d.kind == "lightstep")
    at = step.from_ns / S
    before, after = (picture(s.jpeg).mean() for s in of.at([at - 0.1, at + 0.05]))
    assert (after > before * 1.05) if step.amount > 1000 else (after < before * 0.95)


def test_a_knock_moves_the_picture_as_far_as_the_truth_says() -> None:
    of = scene("knocked", 5, 4.0, ("hover",))
    knock = next(d for d in of.truth.disturbances if d.kind == "knocked")
    at = knock.from_ns / S
    a, b = (cv2.cvtColor(picture(s.jpeg), cv2.COLOR_BGR2GRAY) for s in of.at([at - 0.1, at + 0.1]))
    middle = (slice(80, 280), slice(120, 520))
    (dx, dy), _ = cv2.phaseCorrelate(a[middle].astype(np.float32), b[middle].astype(np.float32))
    assert abs(np.hypot(dx, dy) - knock.amount / 1000) < 0.35 * knock.amount / 1000 + 0.4


def test_markers_lie_where_the_layout_says() -> None:
    parameters = cv2.aruco.DetectorParameters()
    detector = cv2.aruco.ArucoDetector(cv2.aruco.getPredefinedDictionary(cv2.aruco.DICT_4X4_50), parameters)
    corners, ids, _ = detector.detectMarkers(picture(marker_view(2)))
    layout, eye = world(2, seconds=1.0, acts=("hover",)).layout, camera(2)
    assert ids is not None
    assert sorted(ids.ravel()) == [m.id for m in layout.markers]
    for found, number in zip(corners, ids.ravel(), strict=True):
        true = eye.pixels(np.array([(*p, 0.0) for p in layout.markers[number].corners]))
        assert np.abs(found[0].mean(axis=0) - true.mean(axis=0)).max() < 0.35
        assert np.abs(found[0] - true).max() < 2.5, "corners in the detector's order"


def test_what_cannot_be_is_refused() -> None:
    with pytest.raises(ValueError, match="no condition; take one of baseline"):
        world(1, "foggy")
    with pytest.raises(ValueError, match="multiples of 8"):
        world(1, width=641, height=360)
    with pytest.raises(ValueError, match="no act 'dance'"):
        world(1, acts=("dance",))
    with pytest.raises(ValueError, match="2 to 10"):
        world(1, seats=11)
    with pytest.raises(ValueError, match="in the order of time"):
        Arm("1", (0, 0), right=True, skin=0, cloth=scene()._script.players[0].body.cloth,
            rest=(0, 0, 0, 0, 0)).path.key(-1.0, 0, 0, 0)  # fmt: skip


def test_the_named_conditions_are_there() -> None:
    asked = {"baseline", "flicker", "lightstep", "shadows", "felt_sleeve", "felt_chips", "dark", "hard_light", "noise",
             "blur", "knocked", "occluded", "defocus", "dirt", "dropped", "truncated", "idle"}  # fmt: skip
    assert asked <= set(CONDITIONS)
    assert Rest(1.0, 2.0).z == 0.0
