"""A table that acts without a daemon: realistic messages through a real broker, and the page beside it.

python -m tests.outlets.stage FOLDER     writes screenshots of each scene in three sizes
"""

from __future__ import annotations

import asyncio
import sys
import threading
import time
from pathlib import Path

from tabled.model.outcome import AnyOutcome, QuestionClosed, SeatLine, TableView
from tabled.model.ruling import Reason, Ruling
from tabled.outlets import wording
from tabled.outlets.broker import EmbeddedBroker
from tabled.outlets.display import Display
from tabled.outlets.messages import Wording, render_health, render_state
from tests.outlets.support import (
    ORIGIN,
    WORDING,
    MemoryStore,
    a_floor_case,
    a_question,
    a_ruling,
    an_alert,
    outlet,
)

CHROMIUM = "/usr/bin/chromium"
FLAGS = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"]
SIZES = [(1920, 1080), (1280, 800), (800, 480)]


def a_view(position: int, **changes: object) -> TableView:
    seats = (
        SeatLine("1", 0, "folded"),
        SeatLine("2", 500, "in", may_raise=False),
        SeatLine("3", 0, "folded"),
        SeatLine("4", 1000, "in"),
        SeatLine("5", 0, "in"),
        SeatLine("6", 0, "in"),
        SeatLine("7", 320, "all_in"),
        SeatLine("8", 0, "folded"),
        SeatLine("9", 0, "in"),
    )
    base = {
        "epoch": "e1",
        "position": position,
        "phase": "betting",
        "hand_id": "h1",
        "structure": "no-limit",
        "street": 1,
        "to_act": "5",
        "bet_to": 1000,
        "min_raise_to": 1500,
        "seats": seats,
        "button": "1",
        "recent": (),
    }
    return TableView(**{**base, **changes})


class Stage:
    """Broker, outlet and page, each real; `beat` stands in for the daemon's loop."""

    def __init__(self, kind: str | None = None, wording: Wording | None = None) -> None:
        self.broker = EmbeddedBroker(kind)
        self.broker.start()
        self.store = MemoryStore(wording)
        self.acts: list = []
        self.outlet = outlet(self.broker.port, self.store, self._on_command)
        self.refuse = ""
        self.position = 100
        self.beating = threading.Event()
        self.beating.set()
        self.status = "online"
        self._over = threading.Event()
        self.display = Display(ORIGIN, self.broker.ws_url)
        self._loop = asyncio.new_event_loop()
        threading.Thread(target=self._loop.run_forever, daemon=True).start()
        self.serve()
        self.outlet.start()
        threading.Thread(target=self._beat, daemon=True).start()

    def serve(self) -> None:
        asyncio.run_coroutine_threadsafe(self.display.start(), self._loop).result(5)

    def unserve(self) -> None:
        asyncio.run_coroutine_threadsafe(self.display.stop(), self._loop).result(5)

    def _on_command(self, act: object) -> None:
        self.acts.append(act)
        self.outlet.ack(act.request, not self.refuse, self.refuse or "answered", self.position)

    def _beat(self) -> None:
        while not self._over.is_set():
            if self.beating.is_set():
                self.outlet.set_health(render_health(self.status, time.time_ns(), origin=ORIGIN, wording=WORDING))
            self._over.wait(0.25)

    def say(self, outcome: AnyOutcome) -> int:
        self.position += 10
        self.store.add(outcome, self.position)
        self.outlet.notify()
        return self.position

    def show(self, **changes: object) -> None:
        view = a_view(self.position, **changes)
        self.outlet.set_state(render_state(view, time.time_ns(), origin=ORIGIN))

    def close(self) -> None:
        self._over.set()
        self.unserve()
        self.outlet.stop()
        self.broker.stop()
        self._loop.call_soon_threadsafe(self._loop.stop)


def a_plain_call() -> object:
    ruling = Ruling(
        seat="4",
        action="call",
        verb="call",
        to=500,
        back=500,
        back_chips=(100, 100, 100, 100, 100),
        next_seat="5",
        call_to=500,
        min_raise_to=1000,
        may_raise=("5", "6"),
        cite=("SE 7.1",),
        reason=Reason("string_call"),
    )
    return a_ruling(status="final", ruling=ruling, evidence=())


def main(folder: str) -> None:
    """Screenshots to look at."""
    from playwright.sync_api import sync_playwright  # noqa: PLC0415  the tests import this file without it

    out = Path(folder)
    out.mkdir(parents=True, exist_ok=True)
    stage = Stage(wording=Wording(wording.announce, wording.say))
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        pages = []
        for width, height in SIZES:
            page = browser.new_page(viewport={"width": width, "height": height})
            page.on("console", lambda m: print("console:", m.text))
            page.on("pageerror", lambda e: print("error:", e))
            page.goto(stage.display.url + "?lang=en")
            pages.append(page)

        def shoot(name: str, lang: str | None = None) -> None:
            time.sleep(0.7)
            for page, (width, height) in zip(pages, SIZES, strict=True):
                if lang:
                    page.click(f"#languages button[lang={lang}]")
                page.screenshot(path=str(out / f"{name}-{width}x{height}.png"))

        stage.show(phase="idle", hand_id=None, to_act=None, bet_to=0)
        shoot("0-idle")
        stage.say(a_ruling())
        stage.show()
        shoot("1-provisional")
        stage.say(a_plain_call())
        stage.show()
        shoot("2-final")
        stage.say(a_question())
        stage.show(question=stage.position, to_act="4")
        shoot("3-question", "sv")
        stage.say(QuestionClosed(question=stage.position, answer="key_b"))
        stage.say(a_floor_case())
        stage.say(an_alert())
        stage.show(to_act="4")
        shoot("4-floor-alert", "nl")
        stage.beating.clear()
        time.sleep(2.2)
        shoot("5-silent", "en")
        stage.broker.stop()
        time.sleep(1)
        shoot("6-link", "sv")
        browser.close()
    stage.close()


if __name__ == "__main__":
    main(sys.argv[1])
