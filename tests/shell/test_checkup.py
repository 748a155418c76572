"""The daemon's own look at its calibration: at the start and once a minute, and what it makes of the observations."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from calibration.check import CameraNow, FilesNow
from calibration.files import save
from firmware_bridge.session.contract import Counters, Figures
from firmware_bridge.supervisor import DeviceHealth
from firmware_bridge.wire import CleanEmpty, Corrupt, DeviceId, Present, Tag, TimeSpan
from tabled.model.calibration import Calibration, Dealer, Dealers, Marker, Plane, Point
from tabled.model.camera import CameraTrust, ChipsLanded
from tabled.model.layout import Antenna, Layout, Place
from tabled.outlets.health import say
from tabled.sensing.process_wire import Beat
from tabled.sensing.sections import load
from tabled.shell.camera_health import CameraHealth, CameraState
from tabled.shell.checkup import PERIOD_NS, Checkup, files_now

S = 1_000_000_000
READER, CAMERA = DeviceId("reader"), DeviceId("camera")
LAYOUT = Layout(("1", "2"), tuple(Antenna("reader", n, Place("bet", str(n))) for n in (1, 2)))
UP = [DeviceHealth("reader", "up", 0, Counters(), Figures())]


def span(at_s: float) -> TimeSpan:
    return TimeSpan(round(at_s * S), round(at_s * S) + 1_000_000)


def look(watch: Checkup, antenna: int, at_s: float, *uids: str) -> None:
    tags = tuple(Tag(uid) for uid in uids)
    watch.notice(Present(READER, span(at_s), antenna, tags) if tags else CleanEmpty(READER, span(at_s), antenna))


def codes(watch: Checkup, at_s: float) -> list[tuple[str, object]]:
    watch.due(UP, round(at_s * S))
    return [(f.reason.code, f.reason.params.get("antenna")) for f in watch.findings]


def test_it_looks_at_the_start_and_once_a_minute() -> None:
    watch = Checkup(LAYOUT, None, "")
    assert not watch.due(UP, 100 * S)  # it looked, and found nothing
    assert codes(watch, 159) == []  # not its time yet
    assert codes(watch, 160) == codes(watch, 220) == []  # a look a minute is all that is heard of a still antenna
    assert watch.due(UP, 220 * S + PERIOD_NS)
    assert [(f.reason.code, f.fault) for f in watch.findings] == [("calibration_antenna_dead", True)] * 2
    look(watch, 1, 330)
    assert codes(watch, 335) == [("calibration_antenna_dead", 1), ("calibration_antenna_dead", 2)]
    look(watch, 2, 339)
    assert codes(watch, 341) == []


def test_a_corrupt_look_is_none_and_a_lost_reader_is_told_elsewhere() -> None:
    watch = Checkup(LAYOUT, None, "")
    codes(watch, 0)
    look(watch, 2, 170)
    watch.notice(Corrupt(READER, span(170), 1, "RF error"))
    assert codes(watch, 171) == [("calibration_antenna_dead", 1)]
    watch.due([DeviceHealth("reader", "lost", 0, Counters(), Figures())], 240 * S)
    assert watch.findings == ()
    watch.due([DeviceHealth("reader", "up", 300 * S, Counters(), Figures())], 310 * S)
    assert watch.findings == ()


def landed(watch: Checkup, seat: str, at_s: float) -> None:
    watch.notice(ChipsLanded(CAMERA, span(at_s), seat, 0, 0, 1200))


def alive(watch: Checkup, at_s: float, *, uids: tuple[str, ...] = ()) -> None:
    look(watch, 1, at_s)
    look(watch, 2, at_s, *uids)


def test_piles_that_nobody_reads_are_counted_until_a_tag_comes() -> None:
    watch = Checkup(LAYOUT, None, "camera")
    codes(watch, 0)
    for n in range(3):
        landed(watch, "1", 10 + n)
        landed(watch, "2", 10 + n)
        look(watch, 2, 11 + n, f"U{n}")
    alive(watch, 60)
    found = codes(watch, 61)
    assert ("calibration_antenna_unread", 1) in found
    assert ("calibration_antenna_unread", 2) not in found
    look(watch, 1, 70, "A")
    alive(watch, 121)
    assert "calibration_antenna_unread" not in [code for code, _ in codes(watch, 122)]


def test_the_cameras_own_word_names_the_step() -> None:
    watch = Checkup(LAYOUT, Calibration(), "camera")
    watch.notice(CameraTrust(CAMERA, span(1), False, "moved"))
    codes(watch, 2)
    assert ("calibration_knocked", "plane") in [(f.reason.code, f.step) for f in watch.findings]
    watch.notice(CameraTrust(CAMERA, span(3), True))
    alive(watch, 62)
    codes(watch, 63)
    assert {f.reason.code for f in watch.findings} == {"calibration_missing"}
    assert [r.code for r in watch.notes()] == ["calibration_missing"] * 3
    assert watch.faults() == []


SQUARE = (Point(0, 0), Point(80_000, 0), Point(80_000, 80_000), Point(0, 80_000))
MARKERS = tuple(Marker(id=n, corners=SQUARE, seen_upx=((0, 0), (1, 0), (1, 1), (0, 1))) for n in range(4))
MARKED = Calibration(plane=Plane(rotation_nrad=(0, 0, 0), translation_um=(0, 0, 1), markers=MARKERS, residual_um=1))


def of_plane(watch: Checkup, at_s: float, seen: int | None, moved_upx: int | None) -> list[str]:
    alive(watch, at_s - 0.1)
    watch.due(UP, round(at_s * S), CameraNow(markers_seen=seen, moved_upx=moved_upx))
    return [f.reason.code for f in watch.findings if f.step == "plane"]


def test_a_camera_that_was_moved_while_the_daemon_was_off_is_told_with_its_first_word() -> None:
    watch = Checkup(LAYOUT, MARKED, "camera")
    assert of_plane(watch, 1, None, None) == []
    assert of_plane(watch, 5, 4, 1_500_001) == ["calibration_knocked"], "it does not wait for the minute"
    assert of_plane(watch, 35, 4, 100_000) == ["calibration_knocked"]
    assert of_plane(watch, 66, 4, 100_000) == [], "set straight"


def test_hidden_markers_are_told_and_a_process_that_begins_anew_takes_nothing_back() -> None:
    watch = Checkup(LAYOUT, MARKED, "camera")
    assert of_plane(watch, 1, 4, 0) == []
    assert of_plane(watch, 31, 2, 0) == ["calibration_markers_hidden"]
    assert watch.notes()[-1].params == {"seen": 2, "count": 4, "step": "plane"}
    assert "2" in say(watch.notes()[-1], "en")
    assert of_plane(watch, 100, None, None) == ["calibration_markers_hidden"]
    assert of_plane(watch, 101, 4, 0) == []


def test_the_cameras_process_says_it_and_the_checkup_hears_it() -> None:
    state = CameraState("camera", 0, "")
    health = CameraHealth(state, 1)
    assert (health.markers_seen, health.shift_upx) == (None, None)
    state.take(Beat(at_ns=1, markers_seen=3, shift_upx=7))
    assert (health.markers_seen, health.shift_upx) == (3, 7)
    state.enter("opening", 2)
    assert (health.markers_seen, health.shift_upx) == (None, None)


def test_files_that_are_no_longer_those_that_were_read_are_told(tmp_path: Path) -> None:
    save(tmp_path, Dealers(dealers=(Dealer(name="Ada", reaction_min_ms=100, reaction_max_ms=900, presses=20),)))
    watch = Checkup(LAYOUT, load(tmp_path), "", str(tmp_path))
    assert files_now(tmp_path) == FilesNow(digest=load(tmp_path).digest)
    assert codes(watch, 0) == []
    save(tmp_path, Dealers(dealers=(Dealer(name="Bo", reaction_min_ms=100, reaction_max_ms=900, presses=20),)))
    watch._files = files_now(tmp_path)
    assert codes(watch, 60) == [("calibration_changed", None)]
    (tmp_path / "dealers.json").write_text("{")
    watch._files = files_now(tmp_path)
    assert codes(watch, 120) == [("calibration_damaged", None)]
    assert watch.notes()[0].params["step"] == "dealer"
    assert "dealers.json" in say(watch.notes()[0], "en")
    watch._files = files_now(tmp_path / "gone")
    assert ("calibration_damaged", None) in codes(watch, 180)


def test_the_files_are_read_again_by_the_minute(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def ends(seconds: float) -> None:
        slept.append(seconds)
        if len(slept) == 2:
            raise asyncio.CancelledError

    slept: list[float] = []
    monkeypatch.setattr(asyncio, "sleep", ends)
    watch = Checkup(LAYOUT, Calibration(digest="a"), "", str(tmp_path))
    with pytest.raises(asyncio.CancelledError):
        asyncio.run(watch.mind())
    assert slept == [60.0, 60.0]
    assert codes(watch, 60) == [("calibration_changed", None)]
