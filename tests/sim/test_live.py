"""The command ``python -m hw_sim`` as a stranger meets it: its lines, its ports, its ending."""

from __future__ import annotations

import json
import os
import select
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

import paho.mqtt.client as mqtt
import pytest
from paho.mqtt.enums import CallbackAPIVersion

from tests.sim.hosts import feig
from tests.sim.test_pty import opened

ROOT = Path(__file__).parents[2]


def start(rundir: Path, *arguments: str) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "hw_sim", "--rundir", str(rundir), *arguments]
    return subprocess.Popen(
        command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0
    )


def line(stream: IO[bytes] | None, seconds: float = 20.0) -> dict[str, Any]:
    assert stream is not None
    assert select.select([stream], [], [], seconds)[0], "hw_sim says nothing"
    got = stream.readline()
    assert got, "hw_sim ended without a word"
    return json.loads(got)


def finish(sim: subprocess.Popen[bytes], seconds: float = 15.0) -> tuple[int, str]:
    try:
        _, err = sim.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        sim.kill()
        raise
    return sim.returncode, err.decode()


def test_it_names_ports_that_answer_writes_the_chips_and_ends_with_its_input(tmp_path: Path):
    sim = start(tmp_path, "--generate", "--hands", "2", "--seed", "4")
    said = line(sim.stdout)
    reader, panel = said["devices"]
    assert (reader["id"], reader["driver"], panel["id"], panel["driver"]) == ("reader", "feig", "panel", "panel")
    assert reader["antennas"] == {s: f"bet:{s}" for s in said["seats"]}
    rows = Path(said["chips"]).read_text().splitlines()
    assert rows[0] == "uid,denomination"
    assert len(rows) > 100
    fd = opened(reader["port"])
    os.write(fd, feig("ff 65"))
    assert select.select([fd], [], [], 5)[0]
    assert os.read(fd, 100).hex() == "0d00650003030044530d303309"
    os.close(fd)
    code, err = finish(sim)
    assert (code, err) == (0, "")
    assert not (tmp_path / "by-id-reader").is_symlink()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_cleanly(tmp_path: Path, number: int):
    sim = start(tmp_path, "--generate", "--hands", "1")
    line(sim.stdout)
    assert len(list(tmp_path.glob("by-id-*"))) == 2
    sim.send_signal(number)
    assert finish(sim) == (0, "")
    assert not any(p.is_symlink() for p in tmp_path.glob("by-id-*"))


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--hands-file", "/nonexistent/hands"), "cannot read the hands"),
        (("--generate", "--only", "nobody"), "loosen them"),
        (("--generate", "--seats", "2", "--hands", "8"), "--seats 2 is too few"),
        (("--speed", "0"), "must be above 0"),
    ],
)
def test_a_wrong_argument_is_one_clear_line(tmp_path: Path, arguments: tuple[str, ...], says: str):
    code, err = finish(start(tmp_path, *arguments))
    assert code == 2
    assert says in err
    assert "Traceback" not in err


@pytest.mark.parametrize(
    ("answer", "says"),
    [(b"nonsense\n", "is not"), (b'{"mqtt":{"host":"127.0.0.1","port":1}}\n', "no MQTT broker at 127.0.0.1:1")],
)
def test_a_wrong_answer_and_a_broker_that_is_not_there_are_said(tmp_path: Path, answer: bytes, says: str):
    sim = start(tmp_path, "--generate", "--hands", "1")
    line(sim.stdout)
    assert sim.stdin is not None
    sim.stdin.write(answer)
    assert sim.stderr is not None
    assert select.select([sim.stderr], [], [], 15)[0]
    code, err = finish(sim)
    assert code == 2
    assert says in err
    assert "Traceback" not in err


@pytest.fixture
def broker(tmp_path: Path) -> Iterator[int]:
    program = shutil.which("mosquitto")
    if program is None:
        pytest.skip("mosquitto is not installed: apt install mosquitto")
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port = s.getsockname()[1]
    config = tmp_path / "mosquitto.conf"
    config.write_text(f"listener {port} 127.0.0.1\nallow_anonymous true\n")
    child = subprocess.Popen([program, "-c", str(config)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        for _ in range(100):
            with socket.socket() as s:
                if s.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.05)
        yield port
    finally:
        child.terminate()
        child.wait(10)


def test_the_floor_starts_hands_over_mqtt_and_records_a_refusal(tmp_path: Path, broker: int):
    orders: list[tuple[str, dict[str, Any]]] = []
    host = mqtt.Client(CallbackAPIVersion.VERSION2, client_id="a-daemon")

    def refuse(client: mqtt.Client, _userdata: Any, message: mqtt.MQTTMessage) -> None:
        order = json.loads(message.payload)
        orders.append((message.topic, order))
        ok = order["act"] != "start_hand"
        reply = {"request": order["request"], "ok": ok, "reason": None if ok else "closed", "position": 0}
        client.publish("tabled/v1/casa/t9/ack", json.dumps(reply), qos=1)

    host.on_message = refuse
    host.connect("127.0.0.1", broker)
    host.subscribe("tabled/v1/casa/t9/cmd/#", qos=1)
    host.loop_start()
    sim = start(tmp_path, "--generate", "--hands", "1", "--site", "casa", "--table", "t9", "--speed", "20")
    try:
        line(sim.stdout)
        assert sim.stdin is not None
        sim.stdin.write(json.dumps({"mqtt": {"host": "127.0.0.1", "port": broker}}).encode() + b"\n")
        last = line(sim.stdout)
        code, err = finish(sim)
    finally:
        host.disconnect()
        host.loop_stop()
    assert (code, err) == (1, "")
    assert [t.rpartition("/")[2] for t, _ in orders] == ["start_hand", "abandon_hand", "start_hand"]
    setup = orders[0][1]["setup"]
    assert set(setup) >= {"hand_id", "seats", "structure", "blinds", "chip_unit"}
    assert all(set(s) == {"seat", "stack", "ante", "blind"} for s in setup["seats"])
    (record,) = [json.loads(x) for x in (tmp_path / "results.jsonl").read_text().splitlines()]
    assert [d["reason"] for d in record["discrepancies"] if d["what"] == "start_refused"] == ["closed", "closed"]
    assert last == {"done": True, "hands": 1, "discrepancies": len(record["discrepancies"])}
    truth = [json.loads(x) for x in (tmp_path / "truth.jsonl").read_text().splitlines()]
    assert {t["what"] for t in truth} >= {"move", "discrepancy"}
