"""The page's server: who may speak to it, one step at a time, questions, and a step that breaks."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

import aiohttp
import pytest

from calibration import page as page_module
from calibration import plan, runner
from calibration.page import Page, PageError
from calibration.steps import Done, Figure, Given, Option, Outcome, Step, StepError, Talk

Work = Callable[[aiohttp.ClientSession, Page], Awaitable[None]]


def _steps(begin: threading.Event) -> tuple[Step, ...]:
    def asks(talk: Talk, folder: Path, given: Given) -> Outcome:
        talk.say(f"given {given['word']}")
        talk.progress(1, 2, "half")
        talk.look(b"\x89PNG rest")
        answer = talk.ask("Which seat?", ("one", "two"))
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "asked").write_text(answer)
        return Outcome(summary=f"seat {answer}", figures=(Figure(label="x", value="1"),))

    def breaks(talk: Talk, folder: Path, given: Given) -> Outcome:
        raise ZeroDivisionError("inside")

    def refuses(talk: Talk, folder: Path, given: Given) -> Outcome:
        raise StepError("put the board nearer", code="far")

    def waits(talk: Talk, folder: Path, given: Given) -> Outcome:
        begin.set()
        while True:
            talk.check()
            threading.Event().wait(0.01)

    def done(folder: Path) -> Done:
        return Done(state="done" if (folder / "asked").exists() else "open")

    def never(folder: Path) -> Done:
        return Done(state="open")

    return (
        Step(name="asks", title="Asks", about="", run=asks, done=done, options=(Option(name="word", label="A word"),)),
        Step(name="breaks", title="Breaks", about="", run=breaks, done=never),
        Step(name="refuses", title="Refuses", about="", run=refuses, done=never),
        Step(name="waits", title="Waits", about="", run=waits, done=never),
    )


@pytest.fixture
def serve(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[Work], None]:
    """Run ``work`` against a page with four steps of the test's own."""
    chosen = _steps(threading.Event())
    for module in (plan, page_module):
        monkeypatch.setattr(module, "steps", lambda: chosen)
    monkeypatch.setattr(runner, "step", lambda name: _named(chosen, name))

    def run(work: Work) -> None:
        async def all_of_it() -> None:
            page = Page(tmp_path / "table")
            await page.start()
            try:
                async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=60)) as session:
                    await work(session, page)
            finally:
                await page.stop()
                page.runner.join(10)

        asyncio.run(all_of_it())

    return run


def _named(chosen: Sequence[Step], name: str) -> Step:
    for step in chosen:
        if step.name == name:
            return step
    raise StepError(f"there is no step {name!r}", code="no-step")


async def _events(session: aiohttp.ClientSession, page: Page, until: str) -> list[dict[str, object]]:
    """All events up to one of the kind ``until``."""
    seen: list[dict[str, object]] = []
    after = 0
    while not any(event["kind"] == until for event in seen):
        async with session.get(f"{page.url}events", params={"after": str(after)}) as answer:
            for event in (await answer.json())["events"]:
                seen.append(event)
                after = max(after, event["n"])
    return seen


def test_a_step_runs_asks_and_is_answered(serve: Callable[[Work], None]) -> None:
    async def work(session: aiohttp.ClientSession, page: Page) -> None:
        async with session.post(f"{page.url}run", json={"step": "asks", "given": {"word": "hello"}}) as answer:
            assert answer.status == 200
        seen = await _events(session, page, "ask")
        assert [e["kind"] for e in seen] == ["say", "progress", "look", "ask"]
        assert seen[0]["text"] == "given hello"
        number = seen[-1]["n"]
        async with session.get(f"{page.url}look") as answer:
            assert (await answer.read(), answer.content_type) == (b"\x89PNG rest", "image/png")
        async with session.post(f"{page.url}run", json={"step": "breaks", "given": {}}) as answer:
            assert answer.status == 409
            assert "'asks' is running" in (await answer.json())["error"]
        for wrong in ({"n": number, "text": "three"}, {"n": 99, "text": "one"}):
            async with session.post(f"{page.url}answer", json=wrong) as answer:
                assert answer.status == 409
        async with session.get(f"{page.url}state") as answer:
            assert (await answer.json())["question"]["text"] == "Which seat?", "a page opened later sees it too"
        async with session.post(f"{page.url}answer", json={"n": number, "text": "two"}) as answer:
            assert answer.status == 200
        seen = await _events(session, page, "done")
        assert seen[-1]["text"] == "seat two"
        async with session.get(f"{page.url}state") as answer:
            state = await answer.json()
        assert state["steps"][0]["state"] == "done"
        assert state["steps"][0]["outcome"]["summary"] == "seat two"
        assert state["running"] == ""

    serve(work)


def test_a_problem_a_fault_and_a_stop_each_end_the_step(serve: Callable[[Work], None]) -> None:
    async def work(session: aiohttp.ClientSession, page: Page) -> None:
        for name, code, said in (("refuses", "far", "nearer"), ("breaks", "fault", "ZeroDivisionError")):
            await session.post(f"{page.url}run", json={"step": name, "given": {}})
            last = (await _events(session, page, "error"))[-1]
            assert last["code"] == code
            assert said in str(last["text"])
        await session.post(f"{page.url}run", json={"step": "waits", "given": {}})
        await session.post(f"{page.url}stop", json={})
        last = (await _events(session, page, "error"))[-1]
        assert last["code"] == "stopped"

    serve(work)


def test_a_stop_while_a_question_waits(serve: Callable[[Work], None]) -> None:
    async def work(session: aiohttp.ClientSession, page: Page) -> None:
        await session.post(f"{page.url}run", json={"step": "asks", "given": {"word": ""}})
        await _events(session, page, "ask")
        await session.post(f"{page.url}stop", json={})
        assert (await _events(session, page, "error"))[-1]["code"] == "stopped"
        assert page.runner.question is None

    serve(work)


def test_only_who_has_the_address_may_speak_to_it(serve: Callable[[Work], None]) -> None:
    async def work(session: aiohttp.ClientSession, page: Page) -> None:
        base = f"http://127.0.0.1:{page.port}"
        for path in ("/", "/state", "/x/state", f"/{page.token[:-1]}/state", f"/{page.token}x/state", "//state"):
            async with session.get(base + path) as answer:
                assert answer.status == 404, path
        async with session.get(f"{page.url}state", headers={"Host": "evil.example"}) as answer:
            assert answer.status == 403
        for host in ("[::1", "a:b:c", "127.0.0.1.evil.example", "127.0.0.1@evil.example"):
            async with session.get(f"{page.url}state", headers={"Host": host}) as answer:
                assert answer.status == 403, host
        async with session.post(f"{page.url}run", data=b'{"step":"asks"}', headers={"Content-Type": "text/plain"}) as a:
            assert a.status == 415, "what a foreign page may send without asking is refused"
        async with session.get(page.url) as answer:
            assert answer.status == 200
            policy = answer.headers["Content-Security-Policy"]
            assert "default-src 'none'" in policy
            assert answer.headers["Cache-Control"] == "no-store"
        assert len(page.token) >= 20

    serve(work)


def test_pages_that_were_left_hold_up_nobody(serve: Callable[[Work], None], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page_module, "WAIT_S", 3_600.0)

    async def work(session: aiohttp.ClientSession, page: Page) -> None:
        waiting = [asyncio.create_task(session.get(f"{page.url}events?after=9")) for _ in range(40)]
        await asyncio.sleep(0.2)
        for one in waiting[:20]:  # closed; the others still wait
            one.cancel()
        async with session.get(f"{page.url}state") as answer:
            assert answer.status == 200
        await page.stop()
        await asyncio.gather(*waiting, return_exceptions=True)

    serve(work)


@pytest.mark.parametrize(
    ("path", "sent", "status"),
    [
        ("run", b"{", 400),
        ("run", b"[]", 400),
        ("run", b'{"step": "asks", "given": {"word": 3}}', 400),
        ("run", b'{"step": 3}', 400),
        ("run", b'{"step": "none", "given": {}}', 400),
        ("run", b'{"step": "asks", "given": {"word": "' + b"x" * (1 << 20) + b'"}}', 413),
        ("answer", b'{"n": "1", "text": "one"}', 400),
        ("zones/check", b'{"zones": 3}', 400),
        ("zones/mirror", b'{"seats": 3}', 400),
        ("zones/mirror", b'{"seats": [], "axis_mm": "x"}', 400),
        ("zones/draft", b'{"seats": "40"}', 400),
    ],
)
def test_orders_that_are_none_are_refused(serve: Callable[[Work], None], path: str, sent: bytes, status: int) -> None:
    async def work(session: aiohttp.ClientSession, page: Page) -> None:
        async with session.post(page.url + path, data=sent, headers={"Content-Type": "application/json"}) as answer:
            assert answer.status == status
        async with session.get(f"{page.url}state") as answer:
            assert (await answer.json())["running"] == ""

    serve(work)


def test_no_path_leads_out_of_the_folder(serve: Callable[[Work], None], tmp_path: Path) -> None:
    async def work(session: aiohttp.ClientSession, page: Page) -> None:
        page.folder.mkdir()
        (page.folder / "lens.json").write_text("secret")
        for name in ("..%2flens.json", "lens.json", "%2e%2e/lens.json"):
            async with session.get(f"{page.url}plots/{name}") as answer:
                assert answer.status == 404
        async with session.get(f"{page.url}zones/now") as answer:
            assert answer.status == 400

    serve(work)


def test_a_port_that_is_taken_says_so(tmp_path: Path) -> None:
    async def work() -> None:
        first = Page(tmp_path)
        await first.start()
        try:
            with pytest.raises(PageError, match="leave --port away"):
                await Page(tmp_path, first.port).start()
        finally:
            await first.stop()

    asyncio.run(work())


def test_prints_come_as_pdf(serve: Callable[[Work], None]) -> None:
    async def work(session: aiohttp.ClientSession, page: Page) -> None:
        for name in ("board-a4", "board-a3", "markers"):
            async with session.get(f"{page.url}{name}.pdf") as answer:
                assert (await answer.read()).startswith(b"%PDF-1.4")

    serve(work)
