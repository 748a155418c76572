"""A table that acts without a daemon: realistic messages through a real broker, and the page beside it.

python -m tests.outlets.stage FOLDER     writes screenshots of each scene in three sizes
"""

from __future__ import annotations

import asyncio
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tabled.model.outcome import AlertRaised, AnyOutcome, QuestionClosed, RulingIssued, SeatLine, Severity, TableView
from tabled.model.ruling import Locked, Option, Reason, Ruling
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


REAL = Wording(wording.announce, wording.say)


@contextmanager
def chromium() -> Iterator[object]:
    """The machine's browser; skips where it or its driver is missing."""
    if not Path(CHROMIUM).exists():
        pytest.skip(f"no browser at {CHROMIUM}: apt install chromium")
    sync_api = pytest.importorskip("playwright.sync_api", reason="pip install playwright")
    with sync_api.sync_playwright() as play:
        opened = play.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield opened
        opened.close()


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

    def __init__(self, kind: str | None = None, wording: Wording | None = None, language: str = "en") -> None:
        self.broker = EmbeddedBroker(kind)
        self.broker.start()
        self.store = MemoryStore(wording)
        self.acts: list = []
        self.outlet = outlet(self.broker.port, self.store, self._on_command)
        self.refuse = ""
        self.position = 100
        self.faults: tuple[Reason, ...] = ()
        self.beating = threading.Event()
        self.beating.set()
        self.status = "online"
        self._over = threading.Event()
        self.display = Display(ORIGIN, self.broker.ws_url, language=language)
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
                words = self.store.wording or WORDING
                self.outlet.set_health(
                    render_health(self.status, time.time_ns(), origin=ORIGIN, wording=words, faults=self.faults)
                )
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


def issued(ruling: Ruling, *, street: int = 1, status: str = "final", **changes: object) -> RulingIssued:
    return RulingIssued(hand_id="h1", street=street, act=4, status=status, ruling=ruling, ruled_ns=7, **changes)


def a_plain_call() -> RulingIssued:
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


def a_check(seat: str, next_seat: str | None, **changes: object) -> RulingIssued:
    """Nothing to call: the ruling names no amounts."""
    option = () if next_seat is None else (Option(next_seat, check=True, fold=True),)
    ruling = Ruling(
        seat=seat, action="check", verb="check", to=0, next_seat=next_seat, round_over=next_seat is None,
        options=option, reason=Reason("check"), cite=("TDA 3",),
    )  # fmt: skip
    return issued(ruling, **changes)


def a_held_act(*chips: int) -> RulingIssued:
    """Seat 6 acted while seat 5 was to act."""
    ruling = Ruling(
        seat="6", action="held_out_of_turn", next_seat="5", hold=chips, cite=("TDA 53-A",),
        options=(Option("5", check=False, fold=True, call_to=1000, raise_min_to=1500, raise_max_to=66_666),),
        reason=Reason("held_out_of_turn", {"seat": "6", "turn": "5"}),
    )  # fmt: skip
    return issued(ruling)


def a_locked_raise(*locks: Reason, status: str = "final") -> RulingIssued:
    """Seat 4 is all-in for 1000; the locks are those of the seats from 6 on."""
    ruling = Ruling(
        seat="4", action="all_in", verb="raise", to=1000, all_in=True, next_seat="5", call_to=1000, min_raise_to=1500,
        options=(Option("5", check=False, fold=True, call_to=1000, raise_min_to=1500),),
        may_not_raise=tuple(Locked(str(6 + n), reason) for n, reason in enumerate(locks)),
        reason=Reason("all_in_short", {"to": 1000}), cite=("TDA 47",),
    )  # fmt: skip
    return issued(ruling, status=status)


def undone(position: int) -> RulingIssued:
    ruling = Ruling(seat="4", action="pending", next_seat="4", reason=Reason("undone", {"seat": "4"}))
    return issued(ruling, corrects=position)


def a_fault(subject: str, severity: Severity, code: str, **params: int | str) -> AlertRaised:
    return AlertRaised(subject=subject, severity=severity, reason=Reason(code, params), raised_ns=10)


def before_act(bet: int = 0) -> tuple[SeatLine, ...]:
    """The seats of `a_view` before seat 4 raised to 1000; ``bet`` is what it had before it."""
    return tuple(SeatLine("4", bet, "in") if s.seat == "4" else s for s in a_view(0).seats)


def with_seats(*left: str, status: str = "in") -> tuple[SeatLine, ...]:
    """Nine seats without bets; those that are not named have folded."""
    return tuple(SeatLine(n, 0, status if n in left else "folded") for n in "123456789")


class Photographer:
    """One page a size; `shoot` takes them all."""

    def __init__(self, browser: object, url: str, folder: Path, sizes: list[tuple[int, int]] = SIZES) -> None:
        self._folder = folder
        self._pages = []
        for width, height in sizes:
            page = browser.new_page(viewport={"width": width, "height": height})
            page.on("console", lambda m: print("console:", m.text))
            page.on("pageerror", lambda e: print("error:", e))
            page.goto(url)
            self._pages.append(page)

    def shoot(self, name: str, lang: str = "en") -> None:
        time.sleep(0.4)
        self.turn(lang)
        for page in self._pages:
            width, height = page.viewport_size["width"], page.viewport_size["height"]
            page.screenshot(path=str(self._folder / f"{name}-{width}x{height}.png"))

    def turn(self, lang: str) -> None:
        """Let what is under way arrive, then show all pages in this language."""
        for page in self._pages:
            page.wait_for_timeout(100)
            page.click(f"#languages button[lang={lang}]")

    def evaluate(self, script: str, argument: object) -> list[str]:
        """What the script finds on each page, with the page's width."""
        found = [(page.viewport_size["width"], page.evaluate(script, argument)) for page in self._pages]
        return [f"{width}: {fault}" for width, faults in found for fault in faults]

    def close(self) -> None:
        for page in self._pages:
            page.close()


def play(stage: Stage, shoot: object) -> None:
    """The scenes, one after the other."""
    stage.show(phase="idle", hand_id=None, to_act=None, bet_to=0, seats=())
    shoot("00-idle")
    stage.show(phase="posting", to_act=None, bet_to=0, street=0)
    shoot("01-posting", "sv")
    stage.say(a_ruling())
    stage.show(to_act="4", bet_to=500, min_raise_to=1000, seats=before_act())
    shoot("02-provisional")
    shoot("02-provisional-nl", "nl")
    stage.say(a_ruling(status="final"))
    stage.show()
    shoot("03-final", "sv")
    first = stage.say(a_locked_raise(Reason("lock_short", {"more": 200, "full": 500}), Reason("lock_acted")))
    stage.show()
    shoot("04-lock")
    stage.say(undone(first))
    stage.show(to_act="4", bet_to=500, min_raise_to=1000, seats=before_act())
    shoot("05-undone", "nl")
    stage.say(issued(a_plain_call().ruling, corrects=first))
    stage.show()
    shoot("06-corrected", "sv")
    stage.say(a_held_act(500, 100, 100))
    stage.say(a_fault("turn:6", "warning", "out_of_turn", seat="6", to_act="5"))
    stage.show()
    shoot("07-out-of-turn")
    stage.say(a_question())
    stage.show(question=stage.position, to_act="4")
    shoot("08-question", "sv")
    stage.say(QuestionClosed(question=stage.position, answer="key_b"))
    stage.say(a_floor_case())
    stage.say(an_alert())
    for n in range(4):
        stage.say(a_fault(f"owed:{n}", "warning", "still_owed", seat=str(n + 1), amount=400))
    stage.show(to_act="4")
    shoot("09-floor-alerts", "nl")
    everyone = with_seats("2", "5", "6")
    stage.say(a_check("6", "2"))
    stage.show(to_act="2", bet_to=0, min_raise_to=100, seats=everyone)
    shoot("10-check")
    stage.say(a_check("2", None))
    stage.show(to_act="5", bet_to=0, min_raise_to=100, street=2, seats=everyone)
    shoot("11-next-street", "sv")
    stage.show(phase="sweeping", to_act=None)
    shoot("12-sweep", "nl")
    stage.show(phase="over", to_act=None, bet_to=0, seats=with_seats("2", "5", status="all_in"))
    shoot("13-all-in")
    stage.show(phase="over", to_act=None, bet_to=0, seats=with_seats("5"))
    shoot("14-over", "sv")
    stage.show(hand_id="h2", street=0, to_act="3", bet_to=100, min_raise_to=200, seats=with_seats(*"123456789"))
    shoot("15-next-hand")
    stage.beating.clear()
    time.sleep(2.2)
    shoot("16-silent", "nl")
    stage.broker.stop()
    time.sleep(1)
    shoot("17-link", "sv")


def main(folder: str) -> None:
    """Screenshots to look at."""
    out = Path(folder)
    out.mkdir(parents=True, exist_ok=True)
    stage = Stage(wording=REAL)
    with chromium() as browser:
        play(stage, Photographer(browser, stage.display.url, out).shoot)
    stage.close()


if __name__ == "__main__":
    main(sys.argv[1])
