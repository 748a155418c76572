"""Marking a recording: nothing is lost or overwritten unseen, and what is exported is what the eye is judged by."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from aiohttp import ClientSession
from click.testing import CliRunner

from hw_sim.scene.truth import Truth
from tabled.model.calibration import CameraTime
from tabled.sensing.geometry import View
from tabled.sensing.label import LabelBook, LabelError, Labels, Landing, Stale, Visit, decode
from tabled.sensing.label_export import export
from tabled.sensing.label_page import LabelPage
from tabled.sensing.recorder import Shelf
from tabled.sensing.recording import Facts, Recording, Still, write
from tabled.sensing.sections import Section, encode, section_of
from tabled.shell.cli import main
from tests.sensing.support import MS, PERIOD_NS, picture
from tests.sensing.table import LENS, PLANE, zones

TIME = CameraTime(offset_ns=-5 * MS, spread_ns=MS, readout_ns=10 * MS, exposure_ns=4 * MS)
FRAMES = 40


@pytest.fixture
def recording(tmp_path: Path) -> Recording:
    return made(tmp_path, LENS, PLANE, zones("1", "2"), TIME)


def made(folder: Path, *sections: Section) -> Recording:
    path = folder / "r.mcap"
    stills = [Still(10**12 + n * PERIOD_NS, picture(n)) for n in range(FRAMES)]
    files = {f"{section_of(s)}.json": encode(s) for s in sections}
    write(path, Facts(site="club", table="t7", reason="question", wall_offset_ns=0), stills, [], files)
    return Recording.open(path)


VISIT = Visit("1", 10, 20)
LANDING = Landing("1", 20, 48, 32, 100)


def test_marks_are_on_the_disk_after_each_change_and_protect_the_recording(recording: Recording) -> None:
    book = LabelBook(recording)
    assert book.load() == Labels(recording="r.mcap", frames=FRAMES)
    kept = book.store(msgspec.structs.replace(book.load(), visits=(VISIT,), landings=(LANDING,)))
    assert kept.revision == 1
    assert LabelBook(recording).load() == kept
    folder = recording.path.parent
    assert sorted(p.name for p in folder.iterdir()) == ["r.mcap", "r.mcap.labels.json"]
    assert [k.protected for k in Shelf(folder, 0).files()] == [True]


def test_a_second_window_overwrites_nothing_unseen(recording: Recording) -> None:
    book = LabelBook(recording)
    one = two = book.load()
    first = book.store(msgspec.structs.replace(one, visits=(VISIT,)))
    with pytest.raises(Stale) as stale:
        book.store(msgspec.structs.replace(two, landings=(LANDING,)))
    assert stale.value.present == first
    assert book.load() == first


@pytest.mark.parametrize(
    ("raw", "says"),
    [
        (b"{", "are no labels"),
        (b'{"tabled":"other"}', "are no labels"),
        (b'{"visits":[{"seat":"1","enter":1,"leave":1}]}', "visit of seat 1"),
        (b'{"visits":[{"seat":"1","enter":39,"leave":41}]}', "of 40"),
        (b'{"visits":[{"seat":"1","enter":40}]}', "of 40"),
        (b'{"visits":[{"seat":"one two","enter":1}]}', "are no labels"),
        (b'{"visits":[{"seat":"1","enter":1,"colour":2}]}', "are no labels"),
        (b'{"landings":[{"seat":"1","frame":40,"x_px":1,"y_px":1}]}', "landing at seat 1"),
        (b'{"schema":2}', "upgrade tabled"),
        (b"[" * 5000, "are no labels"),
        (b" " * (5 << 20), "MB"),
    ],
)
def test_labels_that_are_none_are_refused(raw: bytes, says: str) -> None:
    with pytest.raises(LabelError, match=says):
        decode(raw, frames=FRAMES)


def test_a_damaged_file_is_named_and_left_alone(recording: Recording) -> None:
    book = LabelBook(recording)
    book.path.write_text("{", encoding="ascii")
    with pytest.raises(LabelError, match=r"r\.mcap\.labels\.json"):
        book.store(Labels())
    assert book.path.read_text(encoding="ascii") == "{"


def test_a_disk_that_refuses_keeps_the_old_marks(recording: Recording, monkeypatch: pytest.MonkeyPatch) -> None:
    book = LabelBook(recording)
    first = book.store(msgspec.structs.replace(book.load(), visits=(VISIT,)))

    def full(_: int) -> None:
        raise OSError(28, os.strerror(28))

    monkeypatch.setattr("tabled.sensing.label.os.fsync", full)
    with pytest.raises(LabelError, match="free some space"):
        book.store(msgspec.structs.replace(first, visits=()))
    assert book.load() == first
    assert len(list(recording.path.parent.iterdir())) == 2


# -- export ------------------------------------------------------------------------------------------


def test_what_is_exported_is_a_truth_in_mm_and_on_the_hosts_clock(recording: Recording) -> None:
    labels = Labels(
        visits=(VISIT, Visit("2", 12, 14, "dealer"), Visit("2", 30), Visit("1", 31, 33, "unsure")), landings=(LANDING,)
    )
    raw = export(labels, recording)
    truth = msgspec.json.decode(raw, type=Truth)
    shift = TIME.offset_ns + TIME.exposure_ns // 2
    half = PERIOD_NS // 2

    def at(n: int) -> int:
        return 10**12 + n * PERIOD_NS - half + shift

    told = [(s.at_ns, s.seat, s.step, s.by) for s in truth.steps]
    assert told == [
        (at(10), "1", "enters", "player"),
        (at(12), "2", "enters", "dealer"),
        (at(14), "2", "leaves", "dealer"),
        (at(20), "1", "leaves", "player"),
    ]
    (landing,) = truth.landings
    assert landing.at_ns == 10**12 + 20 * PERIOD_NS + shift
    (back,) = View(LENS, PLANE).pixels([[landing.x_mm, landing.y_mm]])
    assert tuple(round(v) for v in back) == (48, 32)
    assert (landing.value, landing.values) == (100, (100,))
    assert (truth.readout_ns, truth.exposure_ns) == (10 * MS, 4 * MS)
    assert msgspec.json.decode(raw)["left_out"] == 2


def test_without_a_calibration_visits_are_exported_and_landings_refused(tmp_path: Path) -> None:
    bare = made(tmp_path)
    assert len(msgspec.json.decode(export(Labels(visits=(VISIT,)), bare))["steps"]) == 2
    with pytest.raises(LabelError, match=r"record again with \[camera\] calibration"):
        export(Labels(landings=(LANDING,)), bare)


def test_the_command_exports_and_says_what_is_wrong(recording: Recording) -> None:
    out = recording.path.with_name("truth.json")
    LabelBook(recording).store(Labels(visits=(VISIT,)))
    done = CliRunner().invoke(main, ["label", str(recording.path), "--export", str(out)])
    assert done.exit_code == 0, done.output
    assert len(msgspec.json.decode(out.read_bytes(), type=Truth).steps) == 2
    wrong = CliRunner().invoke(main, ["label", str(out)])
    assert wrong.exit_code == 1
    assert "is damaged or no recording" in wrong.output


# -- the page ----------------------------------------------------------------------------------------


def serve(recording: Recording, work: Callable[[ClientSession, str], Awaitable[None]]) -> None:
    async def whole() -> None:
        page = LabelPage(recording)
        await page.start()
        try:
            async with ClientSession() as session:
                await work(session, page.url)
        finally:
            await page.stop()

    asyncio.run(whole())


def test_the_page_serves_the_recording(recording: Recording) -> None:
    async def work(session: ClientSession, url: str) -> None:
        about = await (await session.get(f"{url}recording.json")).json()
        assert (about["frames"], about["seats"], about["stamps_ms"][2]) == (FRAMES, ["1", "2"], 100.0)
        assert len(about["zones"][0]["outline"]) == 4
        for n in (0, 39):
            answer = await session.get(f"{url}frame/{n}.jpg")
            assert (answer.content_type, await answer.read()) == ("image/jpeg", picture(n))
        assert (await session.get(f"{url}frame/40.jpg")).status == 404
        for path in ("", "label.js", "marks.js", "label.css"):
            answer = await session.get(f"{url}{path}")
            assert answer.status == 200
            assert "default-src 'none'" in answer.headers["Content-Security-Policy"]

    serve(recording, work)


def test_marks_are_put_and_a_stale_put_gets_the_present_state(recording: Recording) -> None:
    async def work(session: ClientSession, url: str) -> None:
        def put(body: Any) -> Any:
            return session.put(f"{url}labels.json", json=body)

        body = msgspec.to_builtins(Labels(visits=(VISIT,)))
        assert (await (await put(body)).json())["revision"] == 1
        stale = await put({**body, "visits": []})
        assert stale.status == 409
        assert (await stale.json())["labels"]["visits"][0]["enter"] == 10
        bad = await put({**body, "revision": 1, "visits": [{"seat": "1", "enter": 99}]})
        assert bad.status == 400
        assert "of 40" in (await bad.json())["problem"]
        assert LabelBook(recording).load().revision == 1

    serve(recording, work)


def test_pages_of_others_can_neither_read_nor_write(recording: Recording) -> None:
    async def work(session: ClientSession, url: str) -> None:
        assert (await session.get(f"{url}labels.json", headers={"Host": "evil.example"})).status == 403
        plain = await session.put(f"{url}labels.json", data=b"{}", headers={"Content-Type": "text/plain"})
        assert plain.status == 415
        assert not LabelBook(recording).path.exists()

    serve(recording, work)


def test_a_person_marks_by_keys_and_a_reload_loses_nothing(recording: Recording) -> None:
    """In a real browser, the disk refusing meanwhile: the mark stays in the page's storage and is saved afterwards."""
    if not Path("/usr/bin/chromium").exists():
        pytest.skip("no browser at /usr/bin/chromium: apt install chromium")
    playwright = pytest.importorskip("playwright.async_api", reason="pip install playwright")
    book = LabelBook(recording)

    async def work(_: ClientSession, url: str) -> None:
        async with playwright.async_playwright() as play:
            browser = await play.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])
            page = await browser.new_page(viewport={"width": 1200, "height": 700})
            page.set_default_timeout(120_000)
            saved = page.locator("#state", has_text="saved (")
            await page.goto(url)
            await saved.wait_for()
            await page.locator("#over polygon").first.wait_for()  # drawn as soon as the picture is there
            for key in ("2", "e", "Shift+ArrowRight", "ArrowRight", "l"):
                await page.keyboard.press(key)
            await page.locator("#state", has_text="saved (2)").wait_for()
            assert book.load().visits == (Visit("2", 0, 11),)
            await page.route("**/labels.json", lambda r: r.abort() if r.request.method == "PUT" else r.continue_())
            box = await page.locator("#over").bounding_box()
            await page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
            await page.locator("#state.bad").wait_for()
            assert book.load().landings == ()
            page.on("dialog", lambda d: d.accept())
            await page.unroute("**/labels.json")
            await page.reload()
            await page.locator("#marks .landing").wait_for()
            await page.locator("#state", has_text="saved (3)").wait_for()
            await browser.close()
        (landing,) = book.load().landings
        assert (landing.frame, landing.x_px, landing.y_px) == (11, 48, 32)

    serve(recording, work)
