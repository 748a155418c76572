"""The product as its user starts it, and then broken: killed, unplugged, its broker gone, its configuration wrong."""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.house import QUICK, House, Process, have_mosquitto, tabled

pytestmark = [pytest.mark.e2e, pytest.mark.slow]


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class Mosquitto:
    """A broker of the house's own, on a port that stays."""

    def __init__(self, folder: Path) -> None:
        self.port = free_port()
        self._config = folder / "mosquitto.conf"
        self._config.write_text(
            f"listener {self.port} 127.0.0.1\nallow_anonymous true\npersistence true\n"
            f"persistence_location {folder}/\nautosave_on_changes true\nautosave_interval 1\nuser root\n"
        )
        self.start()

    def start(self) -> None:
        self._child = subprocess.Popen(["mosquitto", "-c", str(self._config)], stderr=subprocess.DEVNULL)
        for _ in range(100):
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", self.port)) == 0:
                    return
            time.sleep(0.05)
        raise AssertionError("mosquitto did not start")

    def kill(self) -> None:
        self._child.kill()
        self._child.wait()


@pytest.fixture
def own_broker(tmp_path: Path) -> Iterator[Mosquitto]:
    if not have_mosquitto():
        pytest.skip("mosquitto is not installed (apt-get install mosquitto)")
    broker = Mosquitto(tmp_path)
    yield broker
    broker.kill()


@pytest.fixture
def house(tmp_path: Path, own_broker: Mosquitto) -> Iterator[House]:
    made = House(tmp_path, "--generate", "--hands", "2", "--seed", "11", "--speed", "12", "--ruling-timeout", "30")
    made.write_config(broker=f"mqtt://127.0.0.1:{own_broker.port}", fusion=QUICK)
    yield made
    made.close()


def finish(house: House) -> None:
    """Both hands end with the rulings and pots that the simulator's own book-keeping names."""
    house.sim.wait_for(r'"done"', timeout=200)
    results = house.results()
    assert [r["discrepancies"] for r in results] == [[] for _ in results]
    assert house.daemon.end() == 0
    replayed = tabled("replay", str(house.journal), "--verify")
    assert replayed.returncode == 0, replayed.stderr


def test_the_demo_deals_one_hand_prints_each_ruling_and_ends(tmp_path: Path) -> None:
    journal = tmp_path / "kept.journal"
    done = tabled(
        "demo", "--hands", "1", "--exit", "--generate", "--seed", "5", "--speed", "4", "--journal", str(journal),
        timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    rulings = [line for line in done.stdout.splitlines() if line.startswith("  #") and " seat " in line]
    assert len(rulings) >= 3
    assert "every ruling was the one that the simulated truth names" in done.stdout
    assert "dealer's display: http://127.0.0.1:" in done.stdout
    assert tabled("replay", str(journal), "--verify").returncode == 0


def test_ctrl_c_ends_the_demo_and_leaves_nothing_behind(tmp_path: Path) -> None:
    demo = Process(sys.executable, "-m", "tabled", "demo", "--generate", "--headless")
    demo.wait_for(r"^hand ")
    children = subprocess.run(
        ["ps", "--ppid", str(demo.child.pid), "-o", "pid="], capture_output=True, text=True, check=True
    ).stdout.split()
    assert len(children) >= 2  # the simulated table and the broker
    assert demo.end(signal.SIGINT) == 0
    assert "Traceback" not in demo.output
    for pid in children:
        assert not Path(f"/proc/{pid}").exists()


def test_a_daemon_killed_in_mid_hand_goes_on_where_it_was(house: House) -> None:
    house.start_daemon()
    house.deal()
    house.daemon.wait_for(r"^  #\d+ seat ")
    for _ in range(3):
        house.daemon.end(signal.SIGKILL)
        started = time.monotonic()
        house.start_daemon()
        assert time.monotonic() - started < 20
        assert "recovered from" in house.daemon.output
        house.daemon.wait_for(r"^  #\d+ seat ", timeout=60)
    finish(house)


def test_a_broker_that_dies_under_play_gets_everything_afterwards(house: House, own_broker: Mosquitto) -> None:
    house.start_daemon()
    house.deal()
    house.daemon.wait_for(r"^  #\d+ seat ")
    own_broker.kill()
    time.sleep(2)
    own_broker.start()
    finish(house)


def test_one_clear_line_for_each_mistake(tmp_path: Path) -> None:
    chips = tmp_path / "chips.csv"
    chips.write_text("uid,denomination\nE004015000000001,25\n")
    good = f"""
[table]
seats = 2
[chips]
file = "{chips}"
[journal]
file = "{tmp_path / "t.journal"}"
[mqtt]
broker = "mqtt://127.0.0.1:{free_port()}"
websocket = "ws://127.0.0.1:9001"
[[device]]
id = "reader"
driver = "feig"
port = "/dev/ptmx"
antennas = {{ 1 = "bet:1", 2 = "bet:2" }}
"""
    config = tmp_path / "table.toml"
    for change, wanted in [
        (("seats = 2", "seat = 2"), "unknown key `seat` in table"),
        (("/dev/ptmx", "/dev/ttyNONE"), "device 'reader': /dev/ttyNONE is not there; plug it in"),
        (("", ""), "cannot be reached"),
        (('"feig"', '"fieg"'), "there is no driver 'fieg'"),
        (("chips.csv", "chops.csv"), "chops.csv: cannot be read"),
        (("[table]", '[table]\nprofile = "sweedish"'), "sweedish"),
    ]:
        config.write_text(good.replace(*change) if change[0] else good)
        done = tabled("run", "--config", str(config))
        assert done.returncode == 2, wanted
        assert wanted in done.stderr
        assert done.stderr.startswith("tabled: ")
        assert done.stderr.count("\n") == 1, done.stderr


def test_two_daemons_on_one_journal_are_refused(house: House) -> None:
    house.start_daemon()
    second = tabled("run", "--config", str(house.config))
    assert second.returncode == 2
    assert second.stderr.count("\n") == 1
    assert "journal" in second.stderr
