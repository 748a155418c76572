"""The eye on drawn pictures: hands, chips, light and its own health."""

from __future__ import annotations

import cv2
import numpy as np
import pytest

from firmware_bridge.wire import Observation
from tabled.model.camera import CameraTrust, ChipsLanded, HandMoved
from tests.vision.drawn import FELT, FRAME_NS, HEIGHT, RED, WHITE, WIDTH, Picture, Show, flicker

MS = 1_000_000


def moves(seen: list[Observation]) -> list[HandMoved]:
    return [o for o in seen if isinstance(o, HandMoved)]


def landings(seen: list[Observation]) -> list[ChipsLanded]:
    return [o for o in seen if isinstance(o, ChipsLanded)]


def trusts(seen: list[Observation]) -> list[tuple[bool, str, str]]:
    return [(o.trusted, o.reason, o.seat) for o in seen if isinstance(o, CameraTrust)]


@pytest.fixture
def show() -> Show:
    made = Show()
    made.start()
    assert trusts(made.seen) == [(True, "ok", "")]
    return made


IN_AND_OUT = [(0.0, -110.0), (200.0, 90.0), (300.0, 90.0), (500.0, -110.0)]


def test_a_hand_enters_and_leaves_at_the_instants_at_which_it_crosses(show: Show) -> None:
    began = show.now_ns
    seen = moves(show.glide(IN_AND_OUT, show.table.hand))
    assert [(m.step, m.seat, m.by) for m in seen] == [("enters", "1", "player"), ("leaves", "1", "player")]
    for move, true_ms in zip(seen, (110.0, 390.0), strict=True):
        # It is drawn flat on the felt, so one end of the span is where it truly is.
        assert move.span.earliest_ns - 6 * MS <= began + true_ms * MS <= move.span.latest_ns + 6 * MS
        assert move.confidence == 1000


def test_a_chip_is_seen_when_the_hand_is_gone(show: Show) -> None:
    began = show.now_ns

    def bring(picture: Picture, front: float) -> None:
        ms = (show.now_ns - began) / MS
        show.table.blob(picture, -600 + (front - 20 if ms < 250 else 70.0), 12.0, 19.5, RED)
        show.table.hand(picture, front)

    show.glide(IN_AND_OUT, bring)
    show.step(lambda p: show.table.blob(p, -530, 12, 19.5, RED), count=14)
    (chip,) = landings(show.seen)
    assert (chip.seat, chip.value) == ("1", 5)
    assert np.hypot(chip.x_mm + 530, chip.y_mm - 12) < 4
    assert chip.span.earliest_ns <= began + 250 * MS <= chip.span.latest_ns
    assert 900 < chip.area_mm2 < 2400
    assert [p.value for p in show.eye.piles("1")] == [5]
    # Taken away again: not a landing, and the zone is as it was.
    show.glide(IN_AND_OUT, show.table.hand)
    show.step(count=14)
    assert len(landings(show.seen)) == 1
    assert show.eye.piles("1") == ()
    assert [m.step for m in moves(show.seen)] == ["enters", "leaves"] * 2


@pytest.mark.parametrize("back", [35.0, 60.0])
def test_a_second_stroke_over_the_line_is_told_apart(show: Show, back: float) -> None:
    keys = [(0.0, -110.0), (200.0, 90.0), (260.0, 90.0), (360.0, 90.0 - back), (480.0, 100.0), (560.0, 100.0)]
    seen = moves(show.glide(keys, show.table.hand))
    assert [m.step for m in seen] == ["enters", "advances"]
    assert seen[1].retreat_mm == pytest.approx(back, abs=5)


def test_flicker_and_shadows_are_neither_hands_nor_chips(show: Show) -> None:
    shadow = np.ones((HEIGHT, WIDTH, 1), np.float32)
    for n in range(50):
        cv2.circle(shade := shadow.copy(), (30 + 4 * n, 180), 65, 0.4, -1)
        shade = cv2.GaussianBlur(shade, (0, 0), 5)[..., None]
        show.table.light = shade * flicker(n)
        show.step()
    assert moves(show.seen) == []
    assert landings(show.seen) == []
    assert trusts(show.seen) == [(True, "ok", "")]


def test_a_hand_is_seen_under_flicker_and_with_a_sleeve_of_the_felts_colour(show: Show) -> None:
    began = show.number

    def draw(picture: Picture, front: float) -> None:
        show.table.light = flicker(show.number - began)
        show.table.hand(picture, front, sleeve=FELT)

    seen = moves(show.glide(IN_AND_OUT, draw))
    assert [m.step for m in seen] == ["enters", "leaves"]


def test_a_chip_alone_of_skins_size_or_a_red_glove_is_no_hand(show: Show) -> None:
    show.glide(IN_AND_OUT, lambda p, front: show.table.blob(p, -600 + front, 0, 19.5, WHITE))
    assert moves(show.seen) == []


def test_a_knock_of_a_pixel_is_noticed_within_two_seconds(show: Show) -> None:
    show.table.shift = (0.9, 0.7)
    seen = show.step(count=110)
    assert (False, "moved", "") in trusts(seen)
    told = next(o for o in seen if isinstance(o, CameraTrust) and o.reason == "moved")
    assert told.span.latest_ns - (show.now_ns - 110 * FRAME_NS) < 2_000 * MS
    assert moves(show.glide(IN_AND_OUT, show.table.hand)) == []  # it is not to be believed
    show.table.shift = (0.0, 0.0)
    assert (True, "ok", "") in trusts(show.step(count=60))
    assert [m.step for m in moves(show.glide(IN_AND_OUT, show.table.hand))] == ["enters", "leaves"]


def test_a_step_of_the_light_is_told_within_half_a_second_and_passes(show: Show) -> None:
    show.table.light = 1.7
    assert trusts(show.step(count=30)) == [(False, "lights", "")]
    assert trusts(show.step(count=40)) == [(True, "ok", "")]
    assert [m.step for m in moves(show.glide(IN_AND_OUT, show.table.hand))] == ["enters", "leaves"]
    assert landings(show.seen) == []


def test_a_covered_zone_is_not_watched_and_comes_back_by_itself(show: Show) -> None:
    def cover(picture: Picture) -> None:
        show.table.blob(picture, -530, 0, 170, (0.2, 0.2, 0.6))

    said = trusts(show.step(cover, count=75))
    assert said == [(False, "occluded", "1")]
    assert trusts(show.step(count=40)) == [(True, "ok", "1")]
    assert [m.step for m in moves(show.glide(IN_AND_OUT, show.table.hand))] == ["enters", "leaves"]


def test_a_stalled_or_broken_stream_is_told_once_and_its_return(show: Show) -> None:
    assert show.eye.stalled(show.now_ns + 100 * MS) == []
    assert trusts(show.eye.stalled(show.now_ns + 900 * MS)) == [(False, "stalled", "")]
    assert show.eye.stalled(show.now_ns + 1000 * MS) == []
    show.number += 70
    assert trusts(show.step(count=2)) == [(True, "ok", "")]
    good = cv2.imencode(".jpg", show.table.frame(0))[1].tobytes()
    for n in range(3):
        assert show.eye.see(show.now_ns + n * MS, good[: 1000 + n]) == []
    assert show.eye.bad_frames == 3
    assert show.eye.see(show.now_ns - 10 * FRAME_NS, good) == []
    assert show.eye.old_frames == 1
