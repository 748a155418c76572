"""The dealer's page in a real Chromium, fed through a real broker."""

from __future__ import annotations

import asyncio
import hashlib
import os
import re
import signal
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from tabled.model.outcome import Answer, QuestionClosed
from tabled.outlets.display import Display, DisplayError
from tests.outlets.stage import SIZES, Stage, a_plain_call
from tests.outlets.support import ORIGIN, a_floor_case, a_question, a_ruling, an_alert, wait_for

pytestmark = pytest.mark.e2e

WEB = Path(__file__).parents[2] / "tabled" / "outlets" / "web"

DRIVER_S = 0.6
"""What the browser's driver may add on a loaded machine; the page itself shows it 1.8 s after the last beat."""


@pytest.fixture(scope="module")
def stage() -> Iterator[Stage]:
    made = Stage()
    yield made
    made.close()


@pytest.fixture(scope="module")
def window(browser: object, stage: Stage) -> Iterator[object]:
    """One page for all tests, as in a kiosk."""
    opened = browser.new_page(viewport={"width": 1920, "height": 1080}, locale="en-GB")
    opened.set_default_timeout(8_000)
    opened.trouble = []
    opened.frames_in = []
    opened.on("pageerror", lambda e: opened.trouble.append(str(e)))
    opened.on("console", lambda m: opened.trouble.append(m.text) if m.type == "error" else None)

    def keep(frame: bytes | str) -> None:
        opened.frames_in.append(frame)

    opened.on("websocket", lambda ws: ws.on("framereceived", keep))
    opened.goto(stage.display.url)
    yield opened
    opened.close()


@pytest.fixture
def page(window: object, stage: Stage) -> object:
    stage.beating.set()
    stage.refuse = ""
    window.set_viewport_size({"width": 1920, "height": 1080})
    window.wait_for_selector("body:not(.stale)")
    window.click("#languages button[lang=en]")
    window.trouble.clear()
    window.frames_in.clear()
    return window


def text(page: object, selector: str) -> str:
    return page.inner_text(selector)


# ---- the server ----------------------------------------------------------------------------------


def get(url: str, host: str | None = None) -> tuple[int, dict, bytes]:
    request = urllib.request.Request(url, headers={"Host": host} if host else {})
    try:
        with urllib.request.urlopen(request, timeout=5) as reply:
            return reply.status, dict(reply.headers), reply.read()
    except urllib.error.HTTPError as error:
        return error.code, dict(error.headers), error.read()


def test_the_server_gives_the_page_and_little_else(stage: Stage) -> None:
    base = stage.display.url
    status, headers, body = get(base)
    assert status == 200
    policy = headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert f"connect-src 'self' {stage.broker.ws_url}" in policy
    assert "unsafe" not in policy
    assert headers["X-Content-Type-Options"] == "nosniff"
    for path in re.findall(rb'(?:src|href)="(/[^"]+)"', body):
        assert get(base + path.decode()[1:])[0] == 200
    boot = msgspec.json.decode(get(base + "boot.json")[2])
    assert boot["ws_url"] == stage.broker.ws_url
    assert boot["prefix"] == "tabled/v1/house/t17"
    assert boot["languages"] == ["en", "sv", "nl"]
    assert boot["language"] == "en"
    for path in ("../topics.py", "%2e%2e/topics.py", "vendor/README.md", "nothing"):
        status, headers, _ = get(base + path)
        assert status == 404
        assert "default-src 'none'" in headers["Content-Security-Policy"]
    assert get(base, host="evil.example")[0] == 403
    assert get(base + "boot.json", host="evil.example:80")[0] == 403


def test_a_taken_port_is_one_clear_line(stage: Stage) -> None:
    with pytest.raises(DisplayError, match=rf":{stage.display.port} .*\[display\] port"):
        asyncio.run(Display(ORIGIN, "ws://127.0.0.1:1", port=stage.display.port).start())


def test_the_vendored_library_is_what_its_note_says() -> None:
    note = (WEB / "vendor" / "README.md").read_text()
    name, digest = re.search(r"`(mqtt\.min\.js)`.*`([0-9a-f]{64})`", note).groups()
    assert hashlib.sha256((WEB / "vendor" / name).read_bytes()).hexdigest() == digest
    assert "MIT" in (WEB / "vendor" / "mqtt.LICENSE.md").read_text()


def test_the_page_needs_no_other_origin() -> None:
    for file in [*WEB.glob("*.js"), *WEB.glob("*.css"), *WEB.glob("*.html")]:
        for url in re.findall(r"(?:https?|wss?)://[^\s\"'`]+", file.read_text()):
            assert url == "http://www.w3.org/2000/svg", f"{file.name} names {url}"
        assert "innerHTML" not in file.read_text()


def test_every_language_has_every_word(page: object) -> None:
    missing = page.evaluate("""async () => {
        const { WORDS } = await import('/words.js');
        const paths = (o, p = '') => typeof o !== 'object' ? [p]
            : Object.entries(o).flatMap(([k, v]) => paths(v, p + '.' + k));
        const [first, ...others] = Object.values(WORDS).map((w) => paths(w).sort().join());
        return others.filter((other) => other !== first).length;
    }""")
    assert missing == 0


# ---- what the dealer sees ------------------------------------------------------------------------


def test_a_ruling_is_on_the_card(page: object, stage: Stage) -> None:
    at = stage.say(a_ruling(status="final"))
    stage.show()
    page.wait_for_selector(f"#ruling :text('#{at}')")
    card = text(page, "#ruling")
    for part in (
        "FINAL",
        "Raise to 1000",
        "Seat 4 adds 200",
        "500",
        "100",
        "400 in change out of a 1000",
        "Next: seat 5",
        "call 1000",
        "raise to 1500 or more",
        "SE 7.8",
    ):
        assert part in card, part
    assert page.get_attribute(".seat.next", "aria-label") == "Seat 5, NEXT"
    assert "Dealer button" in page.get_attribute(".seat:has(.button)", "aria-label")
    assert page.locator(".seat:has(.lock)").count() == 1
    assert text(page, "#spoken") == "Raise to 1000"
    assert page.get_attribute("#spoken", "aria-live") == "polite"
    at = stage.say(a_plain_call())
    page.wait_for_selector(f"#ruling :text('#{at}')")
    assert "may not raise" not in text(page, "#ruling")
    assert "5 ×" in text(page, ".move.back")
    assert page.trouble == []


def test_no_secret_crosses_the_socket(page: object, stage: Stage) -> None:
    stage.say(a_ruling())
    stage.show()
    page.wait_for_timeout(500)  # not sleep: the frames are taken by the browser's driver
    raw = b"".join(f if isinstance(f, bytes) else f.encode() for f in page.frames_in)
    assert b"Raise to 1000" in raw
    for secret in (b"77777", b"66666", b"88888", b"/evidence"):
        assert secret not in raw


LEGIBLE = (Path(__file__).parent / "legible.js").read_text()


@pytest.mark.parametrize("size", SIZES)
def test_it_is_legible_in_every_scene(page: object, stage: Stage, size: tuple[int, int]) -> None:
    page.set_viewport_size({"width": size[0], "height": size[1]})
    floor = 32 if size == (1920, 1080) else 12
    for lang in ("en", "sv", "nl"):
        page.click(f"#languages button[lang={lang}]")
        at = stage.say(a_ruling())
        stage.show()
        page.wait_for_selector(f"#ruling :text('#{at}')")
        assert page.evaluate(LEGIBLE, floor) == []
    at = stage.say(a_floor_case())
    stage.say(an_alert())
    page.wait_for_selector("#alerts li.fault")
    page.wait_for_selector(f"#ruling.floor :text('#{at}')")
    assert page.evaluate(LEGIBLE, floor) == []
    asked = stage.say(a_question())
    page.wait_for_selector("#question .answer")
    assert page.evaluate(LEGIBLE, 12) == []  # the ruling stands back behind the question
    stage.say(QuestionClosed(question=asked, answer=None, by="core"))
    stage.say(an_alert(cleared=True))
    page.wait_for_selector("#question", state="hidden")
    page.wait_for_selector("#alerts", state="hidden")


def test_the_language_changes_at_once_and_stays(page: object, stage: Stage) -> None:
    stage.say(a_ruling())
    page.wait_for_selector("#ruling :text('Raise to 1000')")
    page.click("#languages button[lang=sv]")
    assert "Höjning till 1000" in text(page, "#ruling")
    assert "PRELIMINÄRT" in text(page, "#ruling")
    assert page.get_attribute("html", "lang") == "sv"
    assert text(page, "#spoken") == "Höjning till 1000"
    page.reload()
    page.wait_for_selector("#ruling :text('Höjning till 1000')")


def test_a_question_is_answered_by_touch(page: object, stage: Stage) -> None:
    asked = stage.say(a_question())
    page.wait_for_selector("#question .answer")
    assert "was “raise” said before" in text(page, "#question")
    assert "Until it is answered, B holds." in text(page, "#question")
    assert "Raise to 1000" in text(page, "#question .answer:first-child")
    stage.refuse = "the floor has it"
    page.click("#question .answer:has-text('The word came first')")
    page.wait_for_selector("#question :text('Not accepted: the floor has it')")
    stage.refuse = ""
    page.click("#question .answer:has-text('The chip came first')")
    wait_for(lambda: len(stage.acts) >= 2)
    last = stage.acts[-1]
    assert isinstance(last, Answer)
    assert (last.question, last.key, last.who) == (asked, "key_b", "dealer")
    assert stage.acts[-2].request != last.request
    stage.say(QuestionClosed(question=asked, answer="key_b"))
    page.wait_for_selector("#question", state="hidden")


def test_the_floor_card_lists_what_the_floor_may_rule(page: object, stage: Stage) -> None:
    stage.say(a_floor_case())
    page.wait_for_selector("#ruling.floor")
    assert page.locator(".candidates li").all_inner_texts() == [
        "Call 500 Counts as a call",
        "Raise to 1000 The word came first",
        "Fold The hand is dead",
    ]


# ---- stale is visible ----------------------------------------------------------------------------


def test_a_silent_daemon_shows_within_two_seconds_and_its_return_too(page: object, stage: Stage) -> None:
    stage.say(a_ruling())
    page.wait_for_selector("#ruling :text('Raise to 1000')")
    stage.beating.clear()
    began = time.monotonic()
    page.wait_for_selector("#banner:has-text('computer is silent. Rule by hand')", timeout=4000)
    assert time.monotonic() - began <= 2.0 + DRIVER_S
    assert "NOT LIVE" in text(page, "#ruling .stamp")
    assert re.search(r"\d s ago", text(page, "#ruling .stamp"))
    assert page.evaluate(LEGIBLE, 12) == []  # grey, and still legible
    stage.beating.set()
    page.wait_for_selector("#banner", state="hidden")
    assert "NOT LIVE" not in text(page, "#ruling .stamp")


def test_link_loss_and_return(page: object, stage: Stage) -> None:
    stage.say(a_ruling())
    page.wait_for_selector("#ruling :text('Raise to 1000')")
    pid = stage.broker.pid
    os.kill(pid, signal.SIGSTOP)  # the worst kind: the connection stays, nothing comes
    try:
        began = time.monotonic()
        page.wait_for_selector("#banner:has-text('Rule by hand')", timeout=4000)
        assert time.monotonic() - began <= 2.0 + DRIVER_S
        at = stage.say(a_plain_call())
    finally:
        os.kill(pid, signal.SIGKILL)
    page.wait_for_selector("#banner:has-text('Link to the table lost')")
    page.wait_for_selector("#banner", state="hidden", timeout=15_000)
    page.wait_for_selector(f"#ruling :text('#{at}')", timeout=15_000)
    assert "Call 500" in text(page, "#ruling")


def test_a_reload_in_mid_hand_loses_nothing(page: object, stage: Stage) -> None:
    stage.say(a_ruling())
    at = stage.say(a_plain_call())
    stage.say(an_alert())
    asked = stage.say(a_question())
    stage.show()
    page.wait_for_selector("#question .answer")
    before = [text(page, s) for s in ("#ring", "#question", "#alerts")]
    page.reload()
    page.wait_for_selector("#ruling :has-text('Call 500')")
    page.wait_for_selector("#question .answer")
    assert [text(page, s) for s in ("#ring", "#question", "#alerts")] == before
    assert f"#{at}" in page.text_content("#ruling")
    stage.say(QuestionClosed(question=asked, answer=None))
    stage.say(an_alert(cleared=True))
    page.wait_for_selector("#question", state="hidden")


def test_rulings_that_never_came_are_named(page: object, stage: Stage) -> None:
    at = stage.say(a_ruling())
    stage.show(recent=(at, at + 3))
    page.wait_for_selector(f"#missed:has-text('#{at + 3}')")
    assert f"#{at}," not in text(page, "#missed")
    stage.show(recent=(at,))
    page.wait_for_selector("#missed", state="hidden")


def test_a_daemon_that_stops_or_recovers_says_so(page: object, stage: Stage) -> None:
    stage.status = "recovering"
    page.wait_for_selector("#banner:has-text('catching up after a restart')")
    stage.status = "offline"
    page.wait_for_selector("#banner:has-text('program has stopped')")
    stage.status = "online"
    page.wait_for_selector("#banner", state="hidden")


def test_the_model_drops_what_was_overtaken_or_repeated(page: object) -> None:
    got = page.evaluate("""async () => {
        const { newModel, take, trouble, tick } = await import('/model.js');
        const at = { retained: false, now: 0, wall: 0 };
        const time = '1970-01-01T00:00:00Z';
        const event = (position, data, epoch = 'e1') => ({ id: `${epoch}/${position}`, time, data });
        const m = newModel(), out = [];
        take(m, 'ruling', event(20, { n: 'new' }), at);
        take(m, 'ruling', event(10, { n: 'late' }), at);
        out.push(m.ruling.data.n);
        take(m, 'question', event(30, {}), at);
        take(m, 'question_closed', event(31, { question: 30 }), at);
        take(m, 'question', event(30, {}), at);
        out.push(m.question);
        take(m, 'alert', event(40, { subject: 'a', cleared: true }), at);
        take(m, 'alert', event(35, { subject: 'a', cleared: false }), at);
        out.push(m.alerts.get('a').data.cleared);
        take(m, 'ruling', event(1, { n: 'other journal' }, 'e2'), at);
        out.push(m.ruling.data.n);
        m.linked = true; tick(m, 0);
        take(m, 'health', { id: 'e2/h', data: { status: 'online' } }, { ...at, retained: true });
        out.push(trouble(m, 100), trouble(m, 2500));
        return out;
    }""")
    assert got == ["new", None, True, "other journal", "connecting", "silent"]


def test_a_page_that_opens_without_a_broker_says_so(browser: object) -> None:
    alone = Stage("iotcore")
    try:
        alone.broker.stop()
        opened = browser.new_page()
        opened.goto(alone.display.url + "?lang=nl")
        opened.wait_for_selector("#banner:has-text('Verbinding met de tafel weg')", timeout=5000)
        opened.close()
    finally:
        alone.close()


def test_the_page_lives_on_the_built_in_broker_too(browser: object) -> None:
    alone = Stage("iotcore")
    try:
        opened = browser.new_page()
        opened.goto(alone.display.url + "?lang=en")
        alone.say(a_ruling())
        alone.show()
        opened.wait_for_selector("#ruling :text('Raise to 1000')")
        opened.wait_for_selector("body:not(.stale)")
        opened.close()
    finally:
        alone.close()
