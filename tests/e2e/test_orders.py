"""Each order of the floor, sent to the real daemon over a real broker: done, or refused with the reason."""

from __future__ import annotations

import json
import queue
import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import paho.mqtt.client as paho
import pytest
from paho.mqtt.enums import CallbackAPIVersion

from tests.e2e.house import QUICK, House, tabled

pytestmark = [pytest.mark.e2e, pytest.mark.slow]
PREFIX = "tabled/v1/test/t1"


class Floor:
    """A floor manager with a client of his own."""

    def __init__(self, host: str, port: int) -> None:
        self.heard: queue.Queue[tuple[str, dict[str, Any]]] = queue.Queue()
        self._client = paho.Client(CallbackAPIVersion.VERSION2, client_id="floor-manager")
        self._client.on_message = lambda _c, _u, m: self.heard.put((m.topic, json.loads(m.payload)))
        self._client.connect(host, port)
        self._client.subscribe([(f"{PREFIX}/ack", 1), (f"{PREFIX}/evidence", 1)])
        self._client.loop_start()
        self._n = 0

    def order(self, act: str, **fields: Any) -> dict[str, Any]:
        """Send an order and wait for what became of it."""
        self._n += 1
        request = f"floor-{self._n}"
        body = {"request": request, "who": "floor:anna", **fields}
        self._client.publish(f"{PREFIX}/cmd/{act}", json.dumps(body).encode(), qos=1)
        return self.wait(lambda topic, data: topic.endswith("/ack") and data["request"] == request)

    def wait(self, wanted: Any, timeout: float = 20.0) -> dict[str, Any]:
        """The data of the first message that is wanted."""
        until = time.monotonic() + timeout
        while (left := until - time.monotonic()) > 0:
            try:
                topic, message = self.heard.get(timeout=left)
            except queue.Empty:
                break
            if wanted(topic, message["data"]):
                return dict(message["data"], id=message["id"])
        raise AssertionError("the floor heard nothing of the kind")

    def close(self) -> None:
        self._client.disconnect()
        self._client.loop_stop()


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    made = House(tmp_path, "--generate", "--hands", "1", "--seed", "11", "--speed", "2", fusion=QUICK)
    yield made
    made.close()


def final(topic: str, data: dict[str, Any]) -> bool:
    return topic.endswith("/evidence") and data["kind"] == "ruling" and data["status"] == "final"


def decide(floor: Floor, newest: int, action: str) -> dict[str, Any]:
    """The floor's decision on a ruling, or on whatever is the newest when it arrives."""
    for _ in range(20):
        said = floor.order("overrule", ruling=newest, action=action, reason="as I saw it")
        if said["ok"]:
            return said
        named = re.search(r"and that is (\d+)", said["reason"])
        newest = int(named[1]) if named else newest
        time.sleep(0 if named else 0.5)
    raise AssertionError(said)


def test_undo_overrule_and_a_misdeal(house: House) -> None:
    house.start_daemon()
    floor = Floor(*house.broker)
    assert "no hand" in floor.order("abandon_hand")["reason"]
    assert "nothing has been ruled" in floor.order("undo")["reason"]
    house.deal()
    ruling = floor.wait(final)
    position = int(ruling["id"].rpartition("/")[2])
    seat = ruling["ruling"]["seat"]
    decided = decide(floor, position, "fold")
    assert "Floor's decision: fold." in decided["reason"]
    overruled = floor.wait(lambda topic, data: final(topic, data) and data["ruling"].get("by_floor", False))
    assert overruled["ruling"]["reason"]["params"]["why"] == "as I saw it"
    assert floor.order("undo")["ok"]
    undone = floor.wait(lambda topic, data: final(topic, data) and data["ruling"]["action"] == "pending")
    assert undone["corrects"] >= int(overruled["id"].rpartition("/")[2])
    house.daemon.wait_for(r"Undone|corrects #")
    assert re.search(
        "only the newest ruling|nothing has been ruled", floor.order("overrule", ruling=1, action="fold")["reason"]
    )
    assert "send one of fold, check, call, bet" in floor.order("overrule", ruling=1, action="raize")["reason"]
    assert "has no field" in floor.order("overrule", ruling=1, action="fold", amount=3)["reason"]
    assert "There is no command" in floor.order("shuffle")["reason"]
    assert (
        "is still being played"
        in floor.order(
            "start_hand", setup={"hand_id": "x", "seats": [{"seat": "1", "stack": 500}, {"seat": "2", "stack": 500}]}
        )["reason"]
    )
    assert floor.order("abandon_hand")["ok"]
    ended = floor.wait(lambda topic, data: data.get("kind") == "hand_ended")
    assert ended["abandoned"]
    house.daemon.wait_for("is abandoned")
    assert seat
    floor.close()
    assert house.daemon.end() == 0
    assert "Traceback" not in house.daemon.output
    for language in ("en", "sv", "nl"):
        shown = tabled("replay", str(house.journal), "--language", language)
        assert shown.returncode == 0, shown.stderr
    assert "Ångrat" in tabled("replay", str(house.journal), "--language", "sv").stdout
