"""The page shows what is true now: a ruling that no longer holds steps back, and ring and card say the same."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from tabled.model.ruling import Reason
from tabled.outlets.display import Display, DisplayError
from tests.outlets.stage import (
    REAL,
    SIZES,
    Photographer,
    Stage,
    a_check,
    a_fault,
    a_held_act,
    a_locked_raise,
    a_plain_call,
    a_view,
    before_act,
    issued,
    play,
    undone,
    with_seats,
)
from tests.outlets.support import ORIGIN, a_ruling
from tests.outlets.test_page import LEGIBLE

pytestmark = pytest.mark.e2e

LANGUAGES = ("en", "sv", "nl")


@pytest.fixture(scope="module")
def stage() -> Iterator[Stage]:
    made = Stage(wording=REAL, language="sv")
    yield made
    made.close()


@pytest.fixture(scope="module")
def window(browser: object, stage: Stage) -> Iterator[object]:
    opened = browser.new_page(viewport={"width": 1920, "height": 1080}, locale="en-GB")
    opened.set_default_timeout(8_000)
    opened.goto(stage.display.url + "?lang=en")
    yield opened
    opened.close()


@pytest.fixture
def page(window: object, stage: Stage) -> object:
    stage.faults = ()
    window.set_viewport_size({"width": 1920, "height": 1080})
    window.wait_for_selector("body:not(.stale)")
    window.click("#languages button[lang=en]")
    return window


def card(page: object) -> str:
    """All that the card says, in one line."""
    return re.sub(r"\s+", " ", page.inner_text("#ruling"))


def upon(page: object, words: str) -> str:
    """The card, once it says ``words``."""
    page.wait_for_function(
        "words => document.querySelector('#ruling').innerText.replace(/\\s+/g, ' ').includes(words)", arg=words
    )
    return card(page)


# ---- a ruling that no longer holds ---------------------------------------------------------------


@pytest.mark.parametrize(
    ("now", "says"),
    [
        ({"phase": "idle", "hand_id": None, "to_act": None, "seats": (), "bet_to": 0}, "No hand in play"),
        ({"phase": "posting", "hand_id": "h2", "to_act": None, "street": 0}, "New hand: waiting for blinds"),
        ({"hand_id": "h2", "street": 0, "to_act": "9", "bet_to": 100, "min_raise_to": 200}, "Next: seat 9 call 100"),
        ({"phase": "over", "hand_id": "h2", "to_act": None, "seats": with_seats("5")}, "Hand over."),
    ],
)
def test_a_ruling_of_another_hand_steps_back(page: object, stage: Stage, now: dict, says: str) -> None:
    at = stage.say(a_plain_call())
    stage.show()
    upon(page, "String bet. The call stands. 500 back.")
    stage.show(**now)
    told = upon(page, says)
    assert "FINAL" not in told
    assert page.locator("#ruling .move, #ruling .status").count() == 0
    last = page.inner_text("#ruling .last")
    assert re.search(rf"Last ruling #{at} · Seat 4 · String bet.*\d s ago", last, re.S), last
    size = "e => parseFloat(getComputedStyle(e).fontSize)"
    assert page.eval_on_selector(".last", size) < page.eval_on_selector("#ruling > :first-child", size)
    assert "String bet" not in page.inner_text("#spoken")


def test_a_ruling_that_is_newer_than_the_state_is_shown(page: object, stage: Stage) -> None:
    stage.show(phase="idle", hand_id=None, to_act=None, seats=())
    upon(page, "No hand in play")
    stage.say(a_plain_call())
    assert "String bet" in upon(page, "Next: seat 5 call 500")  # the test before may have left a string bet there
    assert page.locator(".seat.next").count() == 0  # the state is another hand's
    stage.show(to_act="4", bet_to=500, min_raise_to=1000, seats=before_act(100))
    page.wait_for_selector(".seat.next:has-text('4')")
    stage.say(a_ruling(status="final"))
    upon(page, "Next: seat 5 call 1000")
    assert page.get_attribute(".seat.next", "aria-label") == "Seat 5, NEXT"  # before the state says so
    assert page.locator(".bet:not(.dashed)").all_inner_texts() == ["500", "1000", "320"]
    stage.show()
    upon(page, "Next: seat 5 call 1000")


# ---- ring and card agree -------------------------------------------------------------------------


def test_the_street_has_moved_on(page: object, stage: Stage) -> None:
    stage.say(a_check("2", None))
    stage.show(street=2, to_act="5", bet_to=0, min_raise_to=100, seats=with_seats("2", "5"))
    upon(page, "Seat 2 · Flop")
    told = upon(page, "Turn · Next: seat 5 check, or bet 100 or more")
    assert "Sweep" not in told
    stage.say(a_ruling(status="final"))
    stage.show(street=2, to_act="5", bet_to=0, min_raise_to=100, seats=with_seats("2", "5"))
    upon(page, "Raise to 1000. 200 more, please.")
    page.wait_for_function("!document.querySelector('#ruling .move')")  # its chips lie in the pot, says the state


def test_a_provisional_ruling_is_one_picture(page: object, stage: Stage) -> None:
    at = stage.say(a_ruling())
    stage.show(to_act="4", bet_to=500, min_raise_to=1000, seats=before_act(100))
    upon(page, f"#{at}")
    page.wait_for_selector(".bet.dashed")
    told = upon(page, "then: seat 5 call 1000 · raise to 1500 or more")
    assert "Next:" not in told
    assert page.get_attribute(".seat.acting", "aria-label") == "Seat 4, ACTING"
    assert page.locator(".seat.next").count() == 0
    assert page.inner_text(".bet.dashed") == "1000"
    assert page.eval_on_selector(".bet.dashed", "e => getComputedStyle(e).borderStyle") == "dashed"
    looks = "e => [getComputedStyle(e).color, parseFloat(getComputedStyle(e).fontSize)]"
    colour, size = page.eval_on_selector(".next-line b", looks)
    stage.say(a_ruling(status="final"))
    stage.show()
    upon(page, "Next: seat 5 call 1000 · raise to 1500 or more")
    settled = page.eval_on_selector(".next-line b", looks)
    assert settled[0] != colour
    assert settled[1] > size
    assert page.get_attribute(".seat.next", "aria-label") == "Seat 5, NEXT"
    assert page.locator(".bet.dashed, .seat.acting").count() == 0


def test_a_provisional_end_of_the_round_is_conditional(page: object, stage: Stage) -> None:
    stage.say(a_check("2", None, status="provisional"))
    stage.show(to_act="2", bet_to=0, min_raise_to=100, seats=with_seats("2", "5"))
    assert "Sweep" not in upon(page, "then: betting is over")


@pytest.mark.parametrize(
    ("now", "says", "never"),
    [
        ({"phase": "sweeping"}, "Betting is over. Sweep the bets.", "Next"),
        ({"phase": "over", "seats": with_seats("5")}, "Hand over.", "Sweep"),
        (
            {"phase": "over", "seats": with_seats("2", "5", status="all_in")},
            "No more betting. Deal what is left, then show down.",
            "Sweep",
        ),
        (
            {"phase": "over", "street": 3, "seats": with_seats("2", "5")},
            "No more betting. When all cards are out, show down.",
            "Deal",
        ),
    ],
)
def test_when_the_betting_is_over(page: object, stage: Stage, now: dict, says: str, never: str) -> None:
    stage.say(a_check("2", None, street=now.get("street", 1)))
    stage.show(**{"to_act": None, "bet_to": 0, **now})
    told = upon(page, says)
    assert never not in told
    assert ("Hand over" in page.inner_text("#phase")) == (says == "Hand over.")


def test_nothing_to_call_says_what_may_be_done(page: object, stage: Stage) -> None:
    stage.say(a_check("6", "2"))
    stage.show(to_act="2", bet_to=0, min_raise_to=100, seats=with_seats("2", "5"))
    upon(page, "Next: seat 2 check, or bet 100 or more")
    stage.show(to_act="4", bet_to=1000, min_raise_to=2000)  # its own bet is the price: the big blind's option
    upon(page, "Next: seat 4 check, or raise to 2000 or more")
    stage.show(to_act="2", bet_to=0, min_raise_to=100, structure="fixed-limit", seats=with_seats("2", "5"))
    upon(page, "Next: seat 2 check, or bet 100 TDA")
    stage.show(to_act="2", bet_to=0, min_raise_to=100, structure="pot-limit", seats=with_seats("2", "5"))
    upon(page, "bet 100 or more, at most the pot")


# ---- single cards --------------------------------------------------------------------------------


def test_an_act_out_of_turn_says_what_becomes_of_its_chips(page: object, stage: Stage) -> None:
    at = stage.say(a_held_act(500, 100, 100))
    stage.show()
    upon(page, f"#{at}")
    told = upon(page, "To act: seat 5 call 1000 · raise to 1500 or more")
    assert "Chips of seat 6 stay where they are until its turn comes" in told
    assert "1 × 500 2 × 100" in told
    stage.say(a_held_act())
    stage.show()
    upon(page, "What seat 6 said waits until its turn comes")


@pytest.mark.parametrize(
    ("lock", "shown"),
    [
        (Reason("lock_short", {"more": 200, "full": 500}), True),
        (Reason("lock_capped", {"raises": 4}), True),
        (Reason("lock_acted"), False),
        (Reason("lock_alone"), False),
    ],
    ids=lambda value: getattr(value, "code", ""),
)
def test_only_locks_that_tell_something_have_a_line(page: object, stage: Stage, lock: Reason, shown: bool) -> None:
    at = stage.say(a_locked_raise(lock))
    stage.show()
    assert ("Seat 6 may not raise" in upon(page, f"#{at}")) == shown
    page.wait_for_selector(".seat:has(.lock)")
    assert page.locator(".lock-line").count() == shown
    assert page.get_attribute(".seat:has(.lock)", "aria-label") == "Seat 2, Seat 2 may not raise"


def test_corrections_name_what_they_correct(page: object, stage: Stage) -> None:
    first = stage.say(a_ruling(status="final"))
    stage.say(undone(first))
    stage.show(to_act="4", bet_to=500, min_raise_to=1000, seats=before_act())
    assert "Undone. Action is on seat 4." in upon(page, f"CORRECTED #{first} is taken back")
    upon(page, "To act: seat 4 call 500 · raise to 1000 or more")
    stage.say(issued(a_plain_call().ruling, corrects=first))
    stage.show()
    upon(page, f"CORRECTED in place of #{first}")
    for lang, word in (("sv", "RÄTTAT"), ("nl", "HERSTELD")):
        page.click(f"#languages button[lang={lang}]")
        assert word in card(page)


# ---- what is wrong -------------------------------------------------------------------------------


def test_a_fault_has_one_bar(page: object, stage: Stage) -> None:
    lost = Reason("device_lost", {"device": "reader-a", "why": "gone", "advice": "look"})
    owed = Reason("still_owed", {"seat": "3", "amount": 400})
    stage.say(a_fault("owed:3", "warning", owed.code, **owed.params))
    stage.say(a_fault("device:reader-a", "fault", lost.code, **lost.params))
    stage.faults = (owed, lost)
    stage.show(faults=(owed, lost))
    page.wait_for_selector("#alerts li.fault")
    page.wait_for_timeout(600)  # two heartbeats
    bars = [re.sub(r"\s+", " ", bar) for bar in page.locator("#alerts li").all_inner_texts()]
    assert bars == ["FAULT reader-a is lost. Check its cable and power.", "WARNING Seat 3 still owes 400."]
    more = [Reason("still_owed", {"seat": str(n), "amount": 5}) for n in range(4, 8)]
    stage.faults = (owed, lost, *more)  # known by the heartbeat alone: nothing says that they are mere warnings
    page.wait_for_selector("#alerts li:nth-child(3):has-text('and 3 more')")
    assert page.locator("#alerts li.fault").count() == 3
    stage.faults = ()
    for subject, reason in (("owed:3", owed), ("device:reader-a", lost)):
        stage.say(msgspec.structs.replace(a_fault(subject, "info", reason.code, **reason.params), cleared=True))
    page.wait_for_selector("#alerts", state="hidden")


def test_bars_stand_by_severity_then_age_and_notes_go(page: object) -> None:
    got = page.evaluate("""async () => {
        const { newModel, take, tick } = await import('/model.js');
        const m = newModel(), out = [];
        const reason = (code) => ({ code, params: { b: 1, a: 'x' } });
        const alert = (position, subject, severity, now) => take(
            m, 'alert', { id: `e1/${position}`, time: '', data: { subject, severity, reason: reason(subject) } },
            { retained: false, now, wall: 0 });
        const look = (now) => { tick(m, now); out.push(m.bars.map((bar) => bar.code).join()); };
        alert(1, 'note', 'info', 0);
        alert(2, 'late', 'warning', 20);
        alert(3, 'early', 'warning', 10);
        alert(4, 'worst', 'fault', 30);
        take(m, 'health', { id: 'e1/h', data: { faults: [{ code: 'late', params: { a: 'x', b: 1 }, texts: {} }] } },
            { retained: false, now: 5, wall: 0 });
        look(40);
        look(40_000);
        return out;
    }""")
    assert got == ["worst,early,late,note", "worst,early,late"]


# ---- a page just opened --------------------------------------------------------------------------


def test_a_page_just_opened_has_missed_nothing(browser: object, stage: Stage) -> None:
    at = stage.say(a_plain_call())
    stage.show(recent=(at - 3, at))
    opened = browser.new_page(locale="en-GB")
    opened.goto(stage.display.url + "?lang=en")
    upon(opened, f"#{at}")
    opened.wait_for_timeout(2000)  # the page gives a ruling 1.5 s to arrive
    assert not opened.is_visible("#missed")
    stage.show(recent=(at - 3, at, at + 3))
    opened.wait_for_selector(f"#missed:has-text('#{at + 3}')")
    assert f"#{at - 3}" not in opened.inner_text("#missed")
    stage.show(recent=(at,))
    opened.close()


def test_the_tables_language_is_the_default_and_a_click_overrides_it(browser: object, stage: Stage) -> None:
    context = browser.new_context(locale="nl-NL")
    opened = context.new_page()
    opened.goto(stage.display.url)
    opened.wait_for_selector("html[lang=sv]")
    assert opened.get_attribute("#languages button[lang=sv]", "aria-pressed") == "true"
    opened.click("#languages button[lang=nl]")
    opened.wait_for_selector("html[lang=nl]")
    again = context.new_page()
    again.goto(stage.display.url)
    again.wait_for_selector("html[lang=nl]")
    context.close()


def test_a_language_or_an_address_that_cannot_be_is_refused() -> None:
    with pytest.raises(DisplayError, match=r"\[table\] language to one of en, sv, nl"):
        Display(ORIGIN, "ws://127.0.0.1:1", language="fi")
    for bad in ("mqtt://house:1883", "ws://", "ws://a b:1", "ws://house:1; script-src *", "ws://house:x"):
        with pytest.raises(DisplayError, match=r"set \[mqtt\] websocket"):
            Display(ORIGIN, bad)


def test_a_broker_without_websockets_is_said_in_words(browser: object, stage: Stage) -> None:
    kept, stage.display = stage.display, Display(ORIGIN, "")
    stage.serve()
    try:
        opened = browser.new_page()
        trouble: list[str] = []
        opened.on("console", lambda m: trouble.append(m.text))
        opened.on("pageerror", lambda e: trouble.append(str(e)))
        policy = opened.goto(stage.display.url + "?lang=en").headers["content-security-policy"]
        assert "connect-src 'self'; " in policy
        opened.wait_for_selector("#banner:has-text('has no WebSockets address: set [mqtt] websocket')")
        time.sleep(2)
        assert "lost" not in opened.inner_text("#banner")
        assert trouble == []
        opened.close()
    finally:
        stage.unserve()
        stage.display = kept


# ---- large enough, and nothing over the edge -----------------------------------------------------

MEASURE = """([labels, bars]) => [
    ['.seat small, .dealer', labels], ['#alerts li span', bars],
].flatMap(([selector, least]) => [...document.querySelectorAll(selector)]
    .filter((e) => parseFloat(getComputedStyle(e).fontSize) < least)
    .map((e) => `${e.textContent}: ${getComputedStyle(e).fontSize}`))"""

APART = """() => {
    const box = (e) => e.getBoundingClientRect();
    const ring = box(document.querySelector('#ring'));
    const chips = [...document.querySelectorAll('.bet')], labels = [...document.querySelectorAll('.seat small')];
    const out = (e) => box(e).left < 0 || box(e).right > ring.right + 12 || box(e).bottom > ring.bottom + 8;
    const faults = labels.filter(out)
        .map((e) => `${e.textContent} is cut`);
    const numbers = [...document.querySelectorAll('.seat b, .middle span')];
    for (const chip of chips) for (const other of [...numbers, ...chips, ...labels]) {
        if (other === chip) continue;
        const [a, b] = [box(chip), box(other)];
        const over = Math.min(a.right, b.right) - Math.max(a.left, b.left);
        const up = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
        if (over > 3 && up > 3) faults.push(`${chip.textContent} on ${other.textContent}`);
    }
    return faults;
}"""


@pytest.mark.parametrize("size", SIZES)
def test_labels_and_faults_are_large_enough(page: object, stage: Stage, size: tuple[int, int]) -> None:
    page.set_viewport_size({"width": size[0], "height": size[1]})
    stage.say(a_ruling())
    stage.say(a_fault("owed:3", "warning", "still_owed", seat="3", amount=400))
    stage.show(to_act="4", bet_to=500, min_raise_to=1000, seats=before_act(100))
    page.wait_for_selector(".seat.acting")
    page.wait_for_selector("#alerts li")
    for lang in LANGUAGES:
        page.click(f"#languages button[lang={lang}]")
        assert page.evaluate(MEASURE, [15, 18] if size == (800, 480) else [24, 28]) == []
        assert page.evaluate(APART) == []
        assert page.evaluate(LEGIBLE, 12) == []
    done = Reason("still_owed", {"seat": "3", "amount": 400})
    stage.say(msgspec.structs.replace(a_fault("owed:3", "info", done.code, **done.params), cleared=True))
    page.wait_for_selector("#alerts", state="hidden")


def test_ten_seats_with_bets_have_room(page: object, stage: Stage) -> None:
    seats = tuple(msgspec.structs.replace(a_view(0).seats[3], seat=str(n), bet=12_000) for n in range(1, 11))
    stage.show(seats=seats, to_act="1", bet_to=12_000)
    page.wait_for_selector(".seat:nth-last-child(2)")
    for size in SIZES:
        page.set_viewport_size({"width": size[0], "height": size[1]})
        page.wait_for_timeout(200)
        assert page.evaluate(APART) == [], size


def test_every_scene_fits_every_screen(browser: object, tmp_path: Path) -> None:
    """The scenes of `stage.play` on the smaller screens: nothing overflows, nothing is too faint."""
    alone = Stage(wording=REAL)
    crew = Photographer(browser, alone.display.url, tmp_path, SIZES[1:])
    found: list[str] = []

    def look(name: str, lang: str = "en") -> None:
        crew.turn(lang)
        found.extend(f"{name} {lang}: {fault}" for fault in crew.evaluate(LEGIBLE, 12))

    try:
        play(alone, look)
    finally:
        crew.close()
        alone.close()
    assert found == []
