"""What goes wrong with the hardware, as the broker's clients hear it from the real daemon."""

from __future__ import annotations

import json
import queue
import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import paho.mqtt.client as paho
import pytest
from paho.mqtt.enums import CallbackAPIVersion

from tests.bridge.panel_host import PanelProgram, build
from tests.e2e.house import QUICK, House, tabled

pytestmark = [pytest.mark.e2e, pytest.mark.slow]
PREFIX = "tabled/v1/test/t1"
PATIENCE_S = 60.0
OWN_HANDS = ("--generate", "--hands", "1", "--seed", "11", "--speed", "2")

FUSION = {**QUICK, "post_wait_ms": 1500}

Health = dict[str, Any]


class Monitor:
    """The room's own monitoring: it hears every health message from when it connects."""

    def __init__(self, host: str, port: int) -> None:
        self._heard: queue.Queue[Health] = queue.Queue()
        self._client = paho.Client(CallbackAPIVersion.VERSION2, client_id="monitor")
        self._client.on_message = lambda _c, _u, m: self._heard.put(json.loads(m.payload)["data"])
        self._client.connect(host, port)
        self._client.subscribe(f"{PREFIX}/health", 1)
        self._client.loop_start()

    def until(self, wanted: Callable[[Health], bool]) -> Health:
        """The next health message that is wanted; all before it are past."""
        last: Health = {}
        end = time.monotonic() + PATIENCE_S
        while (left := end - time.monotonic()) > 0:
            try:
                last = self._heard.get(timeout=left)
            except queue.Empty:
                break
            if wanted(last):
                return last
        raise AssertionError(f"not on the health topic in {PATIENCE_S} s; the last message: {last}")

    def close(self) -> None:
        self._client.disconnect()
        self._client.loop_stop()


def fault(health: Health, code: str, device: str) -> dict[str, Any] | None:
    return next((f for f in health["faults"] if f["code"] == code and f["params"].get("device") == device), None)


def figures(health: Health, device: str) -> dict[str, Any]:
    return next(d for d in health["devices"] if d["id"] == device)


@pytest.fixture
def house(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[House]:
    made = House(tmp_path, *OWN_HANDS, *getattr(request, "param", ()), fusion=FUSION)
    yield made
    made.close()


@pytest.mark.parametrize("house", [("--unplug-every", "2")], indirect=True)
def test_a_pulled_cable_of_the_panel_and_of_the_reader_is_told_and_past_when_it_is_back(house: House) -> None:
    house.start_daemon()
    monitor = Monitor(*house.broker)
    ready = monitor.until(lambda h: all(d["state"] == "up" for d in h["devices"]))
    assert [f["code"] for f in ready["faults"]] == []
    house.deal()
    waiting = {"panel", "reader"}
    while waiting:
        lost = monitor.until(lambda h: any(fault(h, "device_lost", d) for d in waiting))
        device = next(d for d in sorted(waiting) if fault(lost, "device_lost", d))
        said = fault(lost, "device_lost", device)
        assert said is not None
        assert said["params"]["why"]
        assert "Plug it in again" in said["params"]["advice"]
        assert set(said["texts"]) == {"en", "sv", "nl"}
        assert device in said["texts"]["en"]
        assert figures(lost, device)["state"] == "lost"
        # The same device, never another state in between: told as lost until it is told as up.
        back = monitor.until(lambda h, d=device: figures(h, d)["state"] == "up")  # type: ignore[misc]  # bound now
        assert figures(back, device)["opened"] >= 2
        monitor.until(lambda h, d=device: fault(h, "device_lost", d) is None)  # type: ignore[misc]  # bound now
        waiting.discard(device)
    monitor.close()
    assert house.daemon.end() == 0
    assert "Traceback" not in house.daemon.output


@pytest.mark.parametrize("house", [("--rf-error", "1")], indirect=True)
def test_a_reader_that_answers_with_errors_alone_is_named_with_its_error_and_no_player_is(house: House) -> None:
    house.start_daemon()
    monitor = Monitor(*house.broker)
    blind = monitor.until(lambda h: fault(h, "reader_blind", "reader") is not None)
    said = fault(blind, "reader_blind", "reader")
    assert said is not None
    assert re.search(r"RF|8[0-9A-F]", str(said["params"]["why"]))
    assert "reads nothing" in said["texts"]["en"]
    assert figures(blind, "reader")["state"] == "up"
    house.deal()
    house.daemon.wait_for(r"^hand ", timeout=PATIENCE_S)
    for _ in range(8):
        later = monitor.until(lambda _: True)
        assert "post_missing" not in [f["code"] for f in later["faults"]]
    monitor.close()
    assert house.daemon.end() == 0


def test_presses_that_the_panel_lost_while_nobody_listened_are_a_fault(house: House, tmp_path: Path) -> None:
    panel = PanelProgram(build(tmp_path))
    taken = [panel.press()[1] for _ in range(20)]
    assert taken.count(0) == 4, "its memory holds sixteen"
    simulated = next(d for d in house.facts["devices"] if d["id"] == "panel")
    simulated["port"] = panel.path
    house.write_config(fusion=FUSION)
    house.start_daemon()
    monitor = Monitor(*house.broker)
    told = monitor.until(lambda h: fault(h, "presses_dropped", "panel") is not None)
    said = fault(told, "presses_dropped", "panel")
    assert said is not None
    assert said["params"]["count"] == 4
    assert "4 presses were held up or lost" in said["texts"]["en"]
    panel.tell("reset 77")
    again = monitor.until(lambda h: any(n["code"] == "device_reboots" for n in h["notes"]))
    assert figures(again, "panel")["counters"]["restarts"] == 1
    monitor.close()
    assert house.daemon.end() == 0
    panel.stop()


@pytest.mark.parametrize("mode", ["buffered", "notify"])
def test_a_reader_mode_that_cannot_see_a_chip_go_is_refused_over_a_bet(house: House, mode: str) -> None:
    whole = house.config.read_text()
    house.config.write_text(whole.replace('driver = "feig"\n', f'driver = "feig"\noptions = {{ mode = "{mode}" }}\n'))
    done = tabled("run", "--config", str(house.config))
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    for part in ("device 'reader'", f'mode "{mode}"', "never that one is gone", 'use mode = "host"', "seat 1"):
        assert part in done.stderr
    assert not house.journal.exists(), "refused before anything is begun"
