"""What is a dispute, that it is written once and whole, with or without pictures, and that a failure is said."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from firmware_bridge.wire import BootId, CleanEmpty, DeviceId, Present, Press, RawBytes, Tag, TimeSpan
from tabled.core.entries import Ordered, Seen
from tabled.model.outcome import QuestionAsked, Undo
from tabled.outlets.health import say
from tabled.outlets.wording import LANGUAGES
from tabled.sensing.process_wire import MAX_MESSAGE, Notes, Save, Written, pack
from tabled.sensing.recorder import Shelf
from tabled.sensing.recording import Note, Recording
from tabled.shell.camera_health import CameraHealth, CameraState
from tabled.shell.disputes import Disputes, Origin, chunks, dispute_of
from tabled.shell.engine import Committed
from tests.core.driver import Bench

S = 10**9
SPAN = TimeSpan(1, 2)
ORIGIN = Origin(site="club", table="t7", version="1", journal="epoch", calibration="d" * 64)


class Writer:
    """A camera's process that answers as the test says."""

    def __init__(self) -> None:
        self.up = True
        self.sent: list[Any] = []
        self.takes = True
        self.answer: Callable[[Save], Written | None] = lambda s: Written(ident=s.ident, path="a.mcap", frames=3)
        self.disputes: Disputes | None = None

    async def send(self, messages: list[Any]) -> bool:
        self.sent += messages
        done = self.answer(messages[-1])
        if self.takes and done is not None and self.disputes is not None:
            asyncio.get_running_loop().call_soon(self.disputes.written, done)
        return self.takes


def made(folder: Path, writer: Writer | None = None, tail_s: float = 0.0) -> Disputes:
    shelf = Shelf(folder / "r", 1 << 30, lambda _: 10**15)
    disputes = Disputes(writer, shelf, ORIGIN, lambda: 40 * S, lambda: 1_769_860_800 * S, span_ns=30 * S, tail_s=tail_s)
    if writer is not None:
        writer.disputes = disputes
    return disputes


def play(work: Callable[[], Awaitable[None]]) -> None:
    asyncio.run(work())  # type: ignore[arg-type]  # a coroutine is what it makes


def seen(at_ns: int, *outcomes: Any) -> Committed:
    entry = Seen(at_ns=at_ns, observation=CleanEmpty(DeviceId("reader"), SPAN, 1))
    return Committed(7, entry, tuple(enumerate(outcomes, 8)))


def question() -> QuestionAsked:
    """A real one, of a table that the core was made to doubt at."""
    bench = Bench(camera=True)
    bench.deal()
    bench.trip("3", 100)
    bench.wait(200)
    bench.trip("3", 500, retreat_mm=60, pause_ms=300)
    bench.wait(3000)
    (asked,) = bench.of(QuestionAsked)
    return asked


def test_questions_floor_decisions_and_overrules_are_disputes_and_plain_rulings_are_none() -> None:
    bench = Bench(camera=True)
    bench.deal()
    bench.trip("3", 100)
    bench.wait(3000)
    assert {dispute_of(o) for o in bench.outcomes} == {""}
    assert dispute_of(question()) == "question"
    plain = bench.final("3")
    floor = replace(plain, ruling=replace(plain.ruling, floor=True))
    assert dispute_of(floor) == "floor"
    assert dispute_of(replace(floor, status="provisional")) == ""
    assert dispute_of(replace(plain, ruling=replace(plain.ruling, by_floor=True))) == "overrule"


def test_a_dispute_is_written_with_what_was_kept(tmp_path: Path) -> None:
    async def work() -> None:
        writer = Writer()
        disputes = made(tmp_path, writer)
        disputes.overhear(RawBytes(DeviceId("reader"), b"\x07\xff", 39 * S), False)
        disputes.overhear(RawBytes(DeviceId("reader"), b"\x01", 5 * S), True)  # too old
        disputes.follow(seen(39 * S, question()))
        await disputes.stop()
        *parts, order = writer.sent
        assert isinstance(order, Save)
        assert (order.reason, order.site, order.journal) == ("question", "club", "epoch")
        assert order.stamp == "20260131T120000Z"
        assert order.wall_offset_ns == 1_769_860_800 * S - 40 * S
        notes = [n for p in parts if isinstance(p, Notes) for n in p.notes]
        assert [n.kind for n in notes] == ["bytes", "observation", "outcome"]
        assert b'"hex":"07ff"' in notes[0].body
        assert b'"position":8' in notes[2].body
        assert (disputes.saved, disputes.failed, disputes.last) == (1, 0, "a.mcap")
        assert disputes.faults() == []

    play(work)


def test_what_comes_together_is_one_recording(tmp_path: Path) -> None:
    async def work() -> None:
        writer = Writer()
        disputes = made(tmp_path, writer, tail_s=0.05)
        press = Press(DeviceId("panel"), SPAN, BootId(1), 1, "floor")
        disputes.follow(Committed(1, Seen(at_ns=39 * S, observation=press), ()))
        disputes.follow(Committed(2, Ordered(at_ns=39 * S, act=Undo(request="u")), ()))
        disputes.ask("asked")
        disputes.ask("asked")
        await disputes.stop()
        assert [m.reason for m in writer.sent if isinstance(m, Save)] == ["floor-called+undo+asked"]

    play(work)


@pytest.mark.parametrize("how", ["down", "dies", "refuses"])
def test_without_a_camera_what_the_readers_said_is_written(tmp_path: Path, how: str) -> None:
    async def work() -> None:
        writer = Writer()
        writer.up = how != "down"
        writer.takes = how != "refuses"

        def dies(_: Save) -> None:
            writer.up = False

        writer.answer = dies
        disputes = made(tmp_path, writer)
        disputes.overhear(RawBytes(DeviceId("reader"), b"\x07", 39 * S), False)
        disputes.follow(seen(39 * S, question()))
        await disputes.stop()
        assert (disputes.saved, disputes.blind, disputes.failed) == (1, 1, 0)
        found = Recording.open(Path(disputes.last))
        assert found.topics() == {"/bytes/reader": 1, "/observations": 1, "/outcomes": 1}
        assert found.facts.calibration == "d" * 64

    play(work)


def test_a_recording_that_could_not_be_kept_is_a_fault_for_a_minute(tmp_path: Path) -> None:
    async def work() -> None:
        writer = Writer()
        writer.answer = lambda s: Written(ident=s.ident, problem="the disk is full; free some space")
        disputes = made(tmp_path, writer)
        disputes.ask("asked")
        await disputes.stop()
        (fault,) = disputes.faults()
        assert (fault.code, fault.params["why"]) == ("recording_failed", "the disk is full; free some space")
        disputes._failed_ns = -(21 * S)
        assert disputes.faults() == []
        assert disputes.figures()["failed"] == 1

    play(work)


def test_a_fault_of_ours_is_no_fault_of_the_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def work() -> None:
        disputes = made(tmp_path)

        async def broken(_: str) -> Written:
            raise RuntimeError("ours")

        monkeypatch.setattr(disputes, "_write", broken)
        disputes.ask("asked")
        await disputes.stop()
        assert "ours" in str(disputes.faults()[0].params["why"])

    play(work)


def test_notes_go_in_messages_that_the_pipe_takes() -> None:
    notes = [Note(n, "observation", b"x" * 3000) for n in range(3000)]
    parts = chunks(notes)
    assert [n for p in parts for n in p] == notes
    assert len(parts) > 10
    assert all(len(pack(Notes(ident=1, notes=tuple(p)))) < MAX_MESSAGE for p in parts)


def test_an_inventory_is_kept_by_its_size(tmp_path: Path) -> None:
    async def work() -> None:
        disputes = made(tmp_path)
        tags = tuple(Tag(f"E0040150000{n:05X}") for n in range(100))
        full = Present(DeviceId("reader"), SPAN, 1, tags)
        disputes.follow(Committed(1, Seen(at_ns=39 * S, observation=full), ()))
        assert disputes._ring.size > 100 * 16

    play(work)


@pytest.mark.parametrize("lang", LANGUAGES)
def test_everything_about_the_camera_has_its_sentence(lang: str) -> None:
    state = CameraState("camera", 0, "")
    state.loop, state.undead, state.error = 5, 1, "signal 9"
    loop = CameraHealth(state, 1).faults()
    state.enter("up", 0)
    state.overtaken_permille = state.lost_permille = 250
    notes = CameraHealth(state, 1).notes()
    assert [r.code for r in [*loop, *notes]] == [
        "camera_loop",
        "camera_undead",
        "camera_unmeasured",
        "camera_slow",
        "camera_loses",
    ]
    for reason in [*loop, *notes]:
        assert "{" not in say(reason, lang)
