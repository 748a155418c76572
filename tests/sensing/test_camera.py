"""The camera's process as the daemon has it: started, killed, hung, flooding, speaking nonsense; never waited for."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from calibration.files import save
from firmware_bridge.wire import DeviceLost, DeviceUp
from tabled.model.camera import CameraTrust, HandMoved
from tabled.sensing import sections
from tabled.sensing.process_wire import Begin, Save, Written
from tabled.sensing.recording import Facts, Recording, Still, write
from tabled.shell import camera as camera_module
from tabled.shell.camera import LOOP, Camera
from tabled.shell.clock import monotonic_ns
from tests.sensing.support import ROOT, picture
from tests.sensing.table import LENS

GIB = 1 << 30


def film(folder: Path, count: int, period_ms: int = 20) -> Path:
    path = folder / "film.mcap"
    stills = [Still(10**12 + n * period_ms * 1_000_000, picture(n)) for n in range(count)]
    write(path, Facts(site="s", table="t", reason="r", wall_offset_ns=0), stills, [])
    return path


class Stage:
    """A camera whose process plays a film to one of the eyes of the tests."""

    def __init__(self, folder: Path, *, eye: str = "GoodEye", count: int = 4000, **changes: Any) -> None:
        save(folder / "calibration", LENS)
        digest = sections.load(folder / "calibration").digest
        self.fault = folder / "fault"
        self.seen: list[Any] = []
        self.written: list[Written] = []
        self.refuse = False
        begin = {
            "device": "camera",
            "source": f"file:{film(folder, count)}",
            "width": 96,
            "height": 64,
            "fps": 50,
            "calibration": str(folder / "calibration"),
            "digest": digest,
            "eye": f"tests.sensing.eyes:{eye}",
            "record": str(folder / "recordings"),
            "beat_ns": 20_000_000,
            "stall_ns": 60_000_000_000,
            **changes,
        }
        environment = {"PYTHONPATH": str(ROOT), "TABLED_TEST_FAULT": str(self.fault)}
        # Not -P: the eyes of the tests are found beside them.
        command = [sys.executable, "-m", "tabled.shell.camera_child", str(os.getpid())]
        self.camera = Camera(
            Begin(**begin),
            self._sink,
            monotonic_ns,
            memory=4 * GIB,
            on_written=self.written.append,
            command=command,
            environment=environment,
        )

    def _sink(self, observation: Any) -> None:
        if self.refuse:
            raise OverflowError("no room")
        self.seen.append(observation)

    def kinds(self) -> list[str]:
        return [type(o).__name__ for o in self.seen]

    def count(self, kind: type) -> int:
        return sum(isinstance(o, kind) for o in self.seen)

    async def until(self, true: Callable[[], object]) -> None:
        """However long it takes; the test's own time-out ends what never comes."""
        while not true():
            await asyncio.sleep(0.01)


def play(work: Callable[[Stage], Awaitable[None]], stage: Stage) -> None:
    async def whole() -> None:
        stage.camera.start()
        try:
            await work(stage)
        finally:
            await stage.camera.stop()

    asyncio.run(whole())


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Back-offs that a test can wait for.  Patience stays: a slow machine must not look like a fault."""
    monkeypatch.setattr(camera_module, "BACK_OFF_S", 0.02)
    monkeypatch.setattr(camera_module, "BACK_OFF_CAP_S", 0.05)
    monkeypatch.setattr(camera_module, "SILENT_S", 120.0)
    monkeypatch.setattr(camera_module, "START_S", 120.0)
    monkeypatch.setattr(camera_module, "STALL_NS", 120 * 10**9)


def test_what_the_eye_sees_arrives_in_order_behind_the_cameras_coming(tmp_path: Path) -> None:
    async def work(stage: Stage) -> None:
        await stage.until(lambda: stage.count(HandMoved) >= 4)
        up, trust, hand = stage.seen[:3]
        assert isinstance(up, DeviceUp)
        assert up.firmware == f"calibration {sections.load(tmp_path / 'calibration').digest}"
        assert isinstance(trust, CameraTrust)
        assert trust.trusted
        assert isinstance(hand, HandMoved)
        times = [o.span.earliest_ns for o in stage.seen[1:]]
        assert times == sorted(times)
        assert all(o.span.earliest_ns <= monotonic_ns() for o in stage.seen)
        await stage.until(lambda: stage.camera.health().figures()["frames"]["seen"] > 10)
        assert stage.camera.health().device().state == "up"
        assert stage.camera.health().faults() == []

    play(work, Stage(tmp_path))


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        ("kill", "its process ended (signal 9)"),
        ("raise", "its process ended (exit 1): RuntimeError: the eye has a fault"),
        ("garbage", "it wrote what it must not"),
        ("flood", "within one heartbeat"),
    ],
)
def test_a_process_that_fails_is_lost_and_comes_again(tmp_path: Path, fault: str, reason: str) -> None:
    async def work(stage: Stage) -> None:
        await stage.until(lambda: stage.count(DeviceUp) == 1)
        stage.fault.write_text(fault, encoding="ascii")
        await stage.until(lambda: stage.count(DeviceLost) == 1)
        (lost,) = [o for o in stage.seen if isinstance(o, DeviceLost)]
        assert reason in lost.reason
        assert "started again" in lost.advice
        stage.fault.unlink()
        await stage.until(lambda: stage.count(DeviceUp) == 2)
        again = stage.kinds()[stage.kinds().index("DeviceLost") :]
        await stage.until(lambda: stage.camera.health().device().error == "")
        assert again[1] == "DeviceUp"

    play(work, Stage(tmp_path, eye="Faulty", beat_ns=10**12 if fault == "flood" else 20_000_000))


def test_a_process_that_hangs_is_killed_and_the_loop_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def work(stage: Stage) -> None:
        await stage.until(lambda: stage.count(HandMoved) >= 1)
        monkeypatch.setattr(camera_module, "SILENT_S", 1.0)
        stage.fault.write_text("hang", encoding="ascii")
        await stage.until(lambda: stage.count(DeviceLost) >= 1)
        (lost, *_) = [o for o in stage.seen if isinstance(o, DeviceLost)]
        assert "did not answer" in lost.reason
        monkeypatch.setattr(camera_module, "SILENT_S", 120.0)
        stage.fault.unlink()
        await stage.until(lambda: stage.camera.up)

    play(work, Stage(tmp_path, eye="Faulty"))


def test_what_a_library_prints_does_not_spoil_the_pipe(tmp_path: Path) -> None:
    async def work(stage: Stage) -> None:
        stage.fault.write_text("print", encoding="ascii")
        await stage.until(lambda: stage.count(HandMoved) >= 6)
        assert stage.count(DeviceLost) == 0

    play(work, Stage(tmp_path, eye="Faulty"))


def test_a_crash_loop_is_named_with_what_to_do(tmp_path: Path) -> None:
    async def work(stage: Stage) -> None:
        stage.fault.write_text("kill", encoding="ascii")
        await stage.until(lambda: any(f.code == "camera_loop" for f in stage.camera.health().faults()))
        (fault,) = stage.camera.health().faults()
        assert int(fault.params["count"]) >= LOOP
        assert "signal 9" in str(fault.params["why"])

    play(work, Stage(tmp_path, eye="Faulty"))


def test_a_source_that_cannot_be_opened_is_lost_with_its_advice_and_told_once(tmp_path: Path) -> None:
    async def work(stage: Stage) -> None:
        await stage.until(lambda: stage.camera.health().device().opened >= 3)
        assert stage.kinds() == ["DeviceLost"]
        assert "correct [camera] source" in stage.seen[0].advice

    play(work, Stage(tmp_path, source=f"file:{tmp_path}/none.avi"))


def test_a_film_that_is_over_is_lost_and_not_played_again(tmp_path: Path) -> None:
    async def work(stage: Stage) -> None:
        await stage.until(lambda: stage.count(DeviceLost))
        assert "is over after 12 frames" in stage.seen[-1].reason
        assert stage.camera._task is not None
        await stage.camera._task
        assert stage.camera.health().device().opened == 1

    play(work, Stage(tmp_path, count=12))


def test_a_calibration_that_changed_since_the_start_is_refused(tmp_path: Path) -> None:
    async def work(stage: Stage) -> None:
        await stage.until(lambda: stage.count(DeviceLost))
        assert stage.kinds() == ["DeviceLost"]
        assert "start tabled again" in stage.seen[0].advice

    play(work, Stage(tmp_path, digest="0" * 64))


def test_without_a_calibration_it_only_records_and_says_so(tmp_path: Path) -> None:
    async def work(stage: Stage) -> None:
        await stage.until(lambda: stage.camera.health().figures()["frames"]["seen"] > 10)
        assert stage.kinds() == ["DeviceUp"]
        assert [n.code for n in stage.camera.health().notes()] == ["camera_unmeasured"]

    play(work, Stage(tmp_path, calibration="", digest=""))


def test_too_much_memory_ends_this_life(tmp_path: Path) -> None:
    async def work(stage: Stage) -> None:
        stage.camera._memory = 1
        await stage.until(lambda: stage.count(DeviceLost))
        lost = next(o for o in stage.seen if isinstance(o, DeviceLost))
        assert "MB of memory" in lost.reason
        assert "memory_mb" in lost.advice

    play(work, Stage(tmp_path))


def test_a_report_that_found_no_room_ends_this_life_and_the_loss_is_told_when_there_is_room(tmp_path: Path) -> None:
    async def work(stage: Stage) -> None:
        await stage.until(lambda: stage.count(HandMoved) >= 1)
        stage.refuse = True
        await stage.until(lambda: stage.camera.health().device().undelivered == 1)
        before = len(stage.seen)
        await stage.until(lambda: stage.camera.health().device().state == "lost")
        stage.refuse = False
        await stage.until(lambda: stage.count(DeviceUp) == 2)
        assert stage.kinds()[before : before + 2] == ["DeviceLost", "DeviceUp"]

    play(work, Stage(tmp_path))


def test_no_picture_for_long_opens_the_camera_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The film has one picture and its second only in ten seconds: the process lives and beats."""

    async def work(stage: Stage) -> None:
        await stage.until(lambda: stage.count(CameraTrust) >= 2)
        trusts = [o for o in stage.seen if isinstance(o, CameraTrust)]
        assert [(t.trusted, t.reason) for t in trusts[:2]] == [(True, "ok"), (False, "stalled")]
        assert stage.camera.up
        monkeypatch.setattr(camera_module, "STALL_NS", 1)
        await stage.until(lambda: stage.count(DeviceLost))
        lost = next(o for o in stage.seen if isinstance(o, DeviceLost))
        assert "no picture came for" in lost.reason

    stills = [Still(10**12 + n * 10**10, picture(n)) for n in range(3)]
    stage = Stage(tmp_path, stall_ns=30_000_000)
    (tmp_path / "film.mcap").unlink()
    write(tmp_path / "film.mcap", Facts(site="s", table="t", reason="r", wall_offset_ns=0), stills, [])
    play(work, stage)


def order(ident: int) -> Save:
    return Save(
        ident=ident, reason="question", stamp="20260131T120000Z", wall_offset_ns=10**18, site="club", table="t7"
    )


def test_the_last_pictures_are_written_when_they_are_asked_for(tmp_path: Path) -> None:
    async def work(stage: Stage) -> None:
        await stage.until(lambda: stage.count(HandMoved) >= 2)
        assert await stage.camera.send([order(1)])
        await stage.until(lambda: stage.written)
        (done,) = stage.written
        assert done.problem == ""
        recording = Recording.open(Path(done.path))
        assert recording.facts.reason == "question"
        assert recording.facts.frames == done.frames == len(recording.stamps_ns) >= 10
        assert set(recording.calibration()) == {"lens.json"}
        pictures = {picture(n) for n in range(4000)}
        assert all(f.jpeg in pictures for f in recording.frames())

    play(work, Stage(tmp_path))


def test_a_folder_that_cannot_be_written_is_said_and_the_camera_goes_on(tmp_path: Path) -> None:
    async def work(stage: Stage) -> None:
        await stage.until(lambda: stage.count(HandMoved) >= 2)
        assert await stage.camera.send([order(1)])
        await stage.until(lambda: stage.written)
        assert "[camera] record" in stage.written[0].problem
        hands = stage.count(HandMoved)
        await stage.until(lambda: stage.count(HandMoved) > hands)
        assert stage.count(DeviceLost) == 0

    (tmp_path / "file").write_text("in the way")
    play(work, Stage(tmp_path, record=str(tmp_path / "file" / "below")))


def test_a_command_that_is_not_there_is_a_loss_too(tmp_path: Path) -> None:
    async def work(stage: Stage) -> None:
        await stage.until(lambda: stage.seen)
        assert "could not be started" in stage.seen[0].reason

    stage = Stage(tmp_path)
    stage.camera._command = [str(tmp_path / "nothing")]
    play(work, stage)


def test_the_process_does_not_outlive_its_daemon(tmp_path: Path) -> None:
    async def work(stage: Stage) -> None:
        await stage.until(lambda: stage.camera.up)
        assert stage.camera._process is not None
        process = stage.camera._process
        assert process.stdin is not None
        process.stdin.close()  # as when the daemon dies: its end of the pipe is gone
        await process.wait()

    play(work, Stage(tmp_path))
