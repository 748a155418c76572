"""A V4L2 camera through the real linuxpy, on a kernel that the test plays."""

from __future__ import annotations

import errno
from typing import Any

import pytest

pytest.importorskip("linuxpy", reason="linuxpy (extra 'camera') is for Linux")

from linuxpy.video import raw

from tabled.sensing.capture import CaptureProblem
from tabled.sensing.capture_v4l2 import V4l2Settings, V4l2Source
from tests.sensing.kernel import Api, Camera
from tests.sensing.support import MS, picture

NOW = 7_000_000_000_000
IDS = raw.ControlID


class Rig:
    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.camera = Camera()
        self.api = Api(self.camera, monkeypatch)
        self.now_ns = NOW

    def source(self, **changes: Any) -> V4l2Source:
        wish = {"path": "/dev/video7", "width": 1280, "height": 720, "fps": 60, **changes}
        return V4l2Source(V4l2Settings(**wish), lambda: self.now_ns, self.api)

    def opened(self, **changes: Any) -> V4l2Source:
        source = self.source(**changes)
        source.open()
        return source


@pytest.fixture
def rig(monkeypatch: pytest.MonkeyPatch) -> Rig:
    return Rig(monkeypatch)


def test_a_frame_has_the_kernels_time_its_number_and_its_very_bytes(rig: Rig) -> None:
    source = rig.opened()
    assert source.read(0.0) is None
    rig.camera.frame(picture(1), NOW - 12 * MS)
    rig.camera.frame(picture(2), NOW - 2 * MS, skip=3)
    first, second = source.read(1.0), source.read(1.0)
    assert first is not None
    assert second is not None
    assert (first.stamp_ns, first.arrived_ns, first.sequence, first.jpeg) == (NOW - 12 * MS, NOW, 0, picture(1))
    assert (second.stamp_ns, second.sequence, second.jpeg) == (NOW - 2 * MS, 4, picture(2))
    assert (source.stamps, source.notes) == ("kernel", ())
    assert source.model == "Table Camera 1280x720 at 60/s, times of exposure's start"
    source.close()
    assert not rig.camera.streaming


def test_buffers_come_back_for_as_long_as_it_runs(rig: Rig) -> None:
    source = rig.opened()
    for n in range(50):
        rig.camera.frame(picture(n), NOW)
        got = source.read(1.0)
        assert got is not None
        assert (got.sequence, got.jpeg) == (n, picture(n))
    source.close()


def test_everything_automatic_is_held_still_at_what_is_wished(rig: Rig) -> None:
    source = rig.opened(exposure_us=4000, gain=32, white_balance_k=4600, focus=20)
    value = {i: c.value for i, c in rig.camera.controls.items()}
    assert value[IDS.EXPOSURE_AUTO] == 1
    assert value[IDS.EXPOSURE_AUTO_PRIORITY] == value[IDS.AUTO_WHITE_BALANCE] == value[IDS.FOCUS_AUTO] == 0
    assert value[IDS.EXPOSURE_ABSOLUTE] == 40
    assert (value[IDS.GAIN], value[IDS.WHITE_BALANCE_TEMPERATURE], value[IDS.FOCUS_ABSOLUTE]) == (32, 4600, 20)
    assert source.notes == ()


def test_what_is_not_given_stays_but_still(rig: Rig) -> None:
    rig.opened()
    assert rig.camera.controls[IDS.EXPOSURE_ABSOLUTE].value == 250
    assert rig.camera.controls[IDS.EXPOSURE_AUTO].value == 1


def test_a_wish_that_the_camera_cannot_fulfil_is_named(rig: Rig) -> None:
    del rig.camera.controls[IDS.GAIN], rig.camera.controls[IDS.EXPOSURE_AUTO]
    rig.camera.controls[IDS.FOCUS_ABSOLUTE].flags = raw.ControlFlag.READ_ONLY
    rig.camera.fastest = 30
    source = rig.opened(gain=5, white_balance_k=9000, focus=7)
    said = "\n".join(source.notes)
    assert "gives 30 frames a second, not 60: set [camera] fps" in said
    assert "exposure: the camera has no switch" in said
    assert "gain: the camera cannot be set" in said
    assert "white balance stands at 6500, not at 9000 (it takes 2800 to 6500)" in said
    assert "focus could not be set to 7" in said


def test_a_size_that_it_does_not_have_is_refused_with_the_one_that_it_gives(rig: Rig) -> None:
    with pytest.raises(CaptureProblem, match=r"size = \[1280, 720\]"):
        rig.source(width=1920, height=1080).open()


def test_a_camera_without_motion_jpeg_is_refused(rig: Rig) -> None:
    rig.camera.formats = [raw.PixelFormat.YUYV]
    with pytest.raises(CaptureProblem, match="gives no MJPG, only YUYV"):
        rig.opened()


@pytest.mark.parametrize(
    ("flags", "ago_ns", "says"),
    [
        (0, 0, "of a clock that it does not name"),
        (0x4000, 0, "copied from elsewhere"),
        (0x2000 | 0x10000, -(10**18), "another clock's"),  # flagged monotonic, and is wall time
        (0x2000 | 0x10000, 9 * 10**9, "another clock's"),
    ],
)
def test_times_of_another_clock_are_named_and_not_used(rig: Rig, flags: int, ago_ns: int, says: str) -> None:
    source = rig.opened()
    rig.camera.frame(picture(1), NOW - ago_ns, flags=flags)
    got = source.read(1.0)
    assert got is not None
    assert got.stamp_ns == NOW
    assert source.stamps == "arrival"
    assert [n for n in source.notes if says in n]
    rig.now_ns += 16 * MS
    rig.camera.frame(picture(2), NOW + 10 * MS)  # a good one later does not mix the two kinds
    later = source.read(1.0)
    assert later is not None
    assert later.stamp_ns == rig.now_ns
    assert len(source.notes) == 1


def test_times_of_the_end_of_exposure_are_told_apart(rig: Rig) -> None:
    source = rig.opened()
    rig.camera.frame(picture(1), NOW, flags=0x2000)
    assert source.read(1.0) is not None
    assert source.model.endswith("times of exposure's end")


def test_a_buffer_that_the_driver_calls_damaged_is_no_picture(rig: Rig) -> None:
    source = rig.opened()
    rig.camera.frame(picture(1), NOW, flags=rig.camera.flags | 0x40)
    got = source.read(1.0)
    assert got is not None
    assert got.jpeg == b""


@pytest.mark.parametrize(
    ("number", "advice"),
    [
        (errno.ENOENT, "plug the camera in"),
        (errno.EACCES, "group video"),
        (errno.EBUSY, "fuser -v /dev/video7"),
        (errno.EIO, "v4l2-ctl -d /dev/video7"),
    ],
)
def test_a_camera_that_cannot_be_opened_says_what_to_do(rig: Rig, number: int, advice: str) -> None:
    rig.camera.refuses = number
    with pytest.raises(CaptureProblem) as caught:
        rig.opened()
    assert advice in caught.value.advice


def test_a_pulled_cable_is_named_and_closing_is_safe(rig: Rig) -> None:
    source = rig.opened()
    rig.camera.unplug()
    with pytest.raises(CaptureProblem, match="check its cable"):
        source.read(1.0)
    source.close()
    source.close()
