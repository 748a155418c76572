"""A technician's walk through the page in a real browser, on the simulator's pictures.

Set TABLED_SHOTS to a folder to keep the screenshots.
"""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from calibration.page import Page
from calibration.zones import name, overlaps
from tabled.model.calibration import Zones
from tabled.sensing.sections import load
from tests.calibration import camera_simulated as sim
from tests.outlets.stage import chromium

pytestmark = [pytest.mark.e2e, pytest.mark.slow]
SIZE = {"width": 1280, "height": 800}
PATIENCE_MS = 240_000


@contextmanager
def served(folder: Path) -> Iterator[Page]:
    """The page, in an event loop of its own."""
    page, loop = Page(folder), asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    asyncio.run_coroutine_threadsafe(page.start(), loop).result(60)
    try:
        yield page
    finally:
        asyncio.run_coroutine_threadsafe(page.stop(), loop).result(60)
        page.runner.join(60)
        loop.call_soon_threadsafe(loop.stop)
        thread.join(60)
        loop.close()


class Walk:
    """The browser's page, its complaints, and where screenshots go."""

    def __init__(self, browser: Any, url: str, shots: Path) -> None:
        self.tab = browser.new_page(viewport=SIZE)
        self.tab.set_default_timeout(PATIENCE_MS)
        self.complaints: list[str] = []
        self.tab.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.tab.on("console", lambda told: told.type == "error" and self.complaints.append(told.text))
        self._shots, self._number = shots, 0
        shots.mkdir(parents=True, exist_ok=True)
        self.tab.goto(url)
        self.tab.wait_for_selector("[data-step=lens]")

    def shot(self, label: str) -> None:
        """Keep a screenshot, and see that nothing hangs out of the window."""
        self._number += 1
        self.tab.screenshot(path=self._shots / f"{self._number:02}-{label}.png")
        assert self.tab.evaluate("document.documentElement.scrollWidth") <= SIZE["width"]

    def step(self, chosen: str, **fields: str) -> None:
        """Choose a step and fill its form."""
        self.tab.click(f"[data-step={chosen}]")
        for field, value in fields.items():
            self.tab.fill(f"[name={field}]", value)

    def start(self) -> None:
        """Begin the step."""
        self.tab.click("form button.go")

    def done(self, chosen: str) -> None:
        """Wait until the step is ticked."""
        self.tab.wait_for_selector(f"[data-step={chosen}].done")
        self.tab.wait_for_selector("section .good")
        self.tab.wait_for_function(
            "[...document.querySelectorAll('figure img')].every((i) => i.complete || i.loading === 'lazy')"
        )

    def problem(self) -> str:
        """What the page complains of."""
        return str(self.tab.inner_text(".problem"))

    def drag(self, selector: str, dx: float, dy: float, shift: bool = False) -> None:
        """Drag the middle of an element by so many pixels."""
        box = self.tab.locator(selector).bounding_box()
        x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
        self.tab.mouse.move(x, y)
        self.tab.mouse.down()
        self.tab.mouse.move(x + dx, y + dy, steps=4)
        self.tab.mouse.up()


def zones_of(folder: Path) -> Zones:
    found = load(folder).zones
    assert found is not None
    return found


def test_a_walk_through_the_page(simulated: Path, tmp_path: Path) -> None:
    shots = Path(os.environ.get("TABLED_SHOTS", tmp_path / "shots"))
    folder = tmp_path / "table"
    with chromium() as browser, served(folder) as page:
        walk = Walk(browser, page.url, shots)
        walk.shot("begin")
        _lens(walk, simulated)
        _plane(walk, simulated)
        _zones(walk, folder)
        _palette(walk, simulated, folder)
        _resumed(browser, page, shots)
        assert walk.complaints == []
    assert len(list(shots.iterdir())) >= 9


def _lens(walk: Walk, simulated: Path) -> None:
    walk.step("lens", **{"from": str(simulated / "views"), "board": "a4"})
    walk.start()
    walk.tab.wait_for_selector(".problem")
    assert "not the board a4" in walk.problem()
    walk.shot("lens-of-another-board")
    walk.step("lens", board=sim.BOARD)
    walk.start()
    walk.tab.wait_for_selector("#picture:not([hidden])")
    walk.shot("lens-runs")
    walk.done("lens")
    assert "RMS" in walk.tab.inner_text("section .good")
    walk.shot("lens-done")


def _plane(walk: Walk, simulated: Path) -> None:
    rows = (simulated / "markers.csv").read_text()
    walk.step("plane", **{"from": str(simulated / "table.jpg"), "markers": "\n".join(rows.splitlines()[:4])})
    walk.start()
    walk.tab.wait_for_selector(".problem")
    assert "only 3 of the 3 markers" in walk.problem()
    walk.shot("plane-too-few")
    walk.step("plane", **{"markers": rows, "size-mm": f"{sim.MARKER_MM:g}"})
    walk.start()
    walk.done("plane")
    walk.shot("plane-done")


def _zones(walk: Walk, folder: Path) -> None:
    walk.step("zones")
    walk.tab.wait_for_selector('[data-zone="bet:3"]')
    walk.shot("zones-begin")
    before = walk.tab.get_attribute('[data-zone="bet:3"]', "points")
    walk.drag('[data-zone="bet:3"]', 24, 20)
    assert walk.tab.get_attribute('[data-zone="bet:3"]', "points") != before
    walk.drag('[data-corner="0"]', -14, 6)
    walk.shot("zones-dragged")
    walk.tab.click("text=Undo")
    walk.tab.click("text=Mirror left → right")
    walk.tab.wait_for_function("""() => {
      const middle = (zone) => {
        const points = document.querySelector(`[data-zone="${zone}"]`).getAttribute("points").split(" ");
        const all = points.map((p) => +p.split(",")[0]);
        return all.reduce((a, b) => a + b) / all.length;
      };
      return Math.abs(middle("bet:3") + middle("bet:7")) < 2;
    }""")
    walk.tab.click("text=Check")
    walk.tab.wait_for_selector("[role=status]")
    walk.shot("zones-checked")
    walk.tab.click("text=Save the zones")
    walk.done("zones")
    walk.shot("zones-done")
    saved = zones_of(folder)
    assert overlaps(saved) == []
    assert sorted({name(z) for z in saved.zones}) == sorted(name(z) for z in saved.zones)
    by_name = {name(z): z for z in saved.zones}

    def middle(zone: str) -> float:
        return sum(p.x_um for p in by_name[zone].outline) / len(by_name[zone].outline) / 1000

    assert abs(middle("bet:3") + middle("bet:7")) < 15, "mirrored, but for what was cut apart"


def _palette(walk: Walk, simulated: Path, folder: Path) -> None:
    walk.step("palette", **{"from": str(simulated / "piles.jpg"), "piles": "5=nowhere"})
    walk.start()
    walk.tab.wait_for_selector(".problem")
    assert "there is no zone 'nowhere'" in walk.problem()
    # Seats 3 and 7 were dragged off their piles.
    piles = (simulated / "piles.txt").read_text().split(",")
    walk.step("palette", piles=",".join(p for p in piles if p[-1] not in "37"))
    walk.start()
    walk.done("palette")
    walk.shot("palette-done")
    palette = load(folder).palette
    assert palette is not None
    assert len(palette.colours) == len(piles) - 2


def _resumed(browser: Any, page: Page, shots: Path) -> None:
    """The page closed and opened again: it stands where it stood."""
    again = Walk(browser, page.url, shots / "again")
    for step in ("lens", "plane", "zones", "palette"):
        again.tab.wait_for_selector(f"[data-step={step}].done")
    assert again.tab.inner_text("h2") not in ("Lens", "Plane", "Zones", "Palette"), "the next step is before one"
    assert again.complaints == []
