"""Both embedded brokers, for real: where they listen, how they live and how they die."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from tabled.outlets.broker import (
    BrokerError,
    BrokerEvent,
    EmbeddedBroker,
    ExternalBroker,
    _accepts,
    _sweep,
    open_broker,
    parse_url,
)
from tests.outlets.support import KINDS, Listener, need, wait_for

pytestmark = pytest.mark.e2e


def listening(pid: int) -> set[tuple[str, int]]:
    """Addresses on which a process listens, from /proc (inode of each socket against the kernel's tables)."""
    inodes = set()
    for fd in Path(f"/proc/{pid}/fd").iterdir():
        try:
            target = os.readlink(fd)
        except FileNotFoundError:  # closed meanwhile
            continue
        if target.startswith("socket:["):
            inodes.add(target[8:-1])
    found = set()
    for table in ("tcp", "tcp6"):
        for line in Path(f"/proc/{pid}/net/{table}").read_text().splitlines()[1:]:
            part = line.split()
            if part[3] == "0A" and part[9] in inodes:
                address, port = part[1].split(":")
                raw = bytes.fromhex(address)
                text = socket.inet_ntoa(raw[::-1]) if len(raw) == 4 else f"tcp6 {address}"
                found.add((text, int(port, 16)))
    return found


def gone(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except FileNotFoundError:
        return True


def test_it_listens_on_loopback_alone(broker: EmbeddedBroker) -> None:
    assert broker.pid is not None
    assert listening(broker.pid) == {("127.0.0.1", broker.port), ("127.0.0.1", broker.ws_port)}
    assert broker.ws_url == f"ws://127.0.0.1:{broker.ws_port}"


def test_both_listeners_are_one_broker(broker: EmbeddedBroker) -> None:
    web, tcp = Listener(broker.ws_port, ws=True), Listener(broker.port)
    tcp.publish("ruling", b'{"id": "e1/1"}')
    wait_for(lambda: web.positions("ruling") == [1])
    web.close()
    tcp.close()


def test_a_dead_child_is_noticed_reported_and_replaced_on_the_same_ports(broker: EmbeddedBroker) -> None:
    events: list[BrokerEvent] = []
    broker._on_event = events.append
    port, first = broker.port, broker.pid
    assert first is not None
    os.kill(first, signal.SIGKILL)
    wait_for(lambda: broker.pid not in (None, first) and any(e.up for e in events))
    assert (broker.port, broker.restarts) == (port, 1)
    assert [e.up for e in events] == [False, True]
    assert "signal 9" in events[0].text
    Listener(port).close()


def test_stop_is_clean_and_may_be_repeated(broker: EmbeddedBroker) -> None:
    pid, folder = broker.pid, Path(broker._dir.name)
    assert pid is not None
    assert folder.stat().st_mode & 0o077 == 0
    broker.stop()
    broker.stop()
    assert gone(pid)
    assert not folder.exists()
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", broker.port), timeout=1)


def test_a_child_that_hangs_is_stopped_all_the_same(broker: EmbeddedBroker) -> None:
    pid = broker.pid
    assert pid is not None
    os.kill(pid, signal.SIGSTOP)
    broker.stop()
    assert gone(pid)


def test_mosquitto_keeps_what_it_acknowledged_through_sigkill() -> None:
    need("mosquitto")
    kept = EmbeddedBroker("mosquitto")
    kept.start()
    try:
        Listener(kept.port, name="surveillance", clean=False).close()
        talker = Listener(kept.port, "health")
        for n in range(20):
            talker.publish("evidence", b'{"id": "e1/%d"}' % n)
        os.kill(kept.pid, signal.SIGKILL)
        talker.close()
        wait_for(lambda: kept.restarts == 1 and kept.pid is not None)
        wait_for(lambda: _accepts(kept.port))
        back = Listener(kept.port, name="surveillance", clean=False)
        # it saves after every second change: the last may be missing, and the outbox's redo sends it again
        wait_for(lambda: len(back.positions("evidence")) >= 15)
        got = back.positions("evidence")
        assert got == list(range(len(got)))
        back.close()
    finally:
        kept.stop()


@pytest.mark.parametrize("kind", KINDS)
def test_it_dies_with_a_killed_parent(kind: str) -> None:
    need(kind)
    code = (
        "import sys,time\nfrom tabled.outlets.broker import EmbeddedBroker\n"
        f"b=EmbeddedBroker({kind!r}); b.start(); print(b.pid, b._dir.name, flush=True); time.sleep(60)"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as parent:
        pid, folder = parent.stdout.readline().split()
        assert not gone(int(pid))
        parent.kill()
        wait_for(lambda: gone(int(pid)), 5)
    assert Path(folder).exists()
    _sweep()  # the next daemon's start
    assert not Path(folder).exists()


def test_a_broker_that_cannot_start_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    need("mosquitto")
    monkeypatch.setattr("tabled.outlets.broker.mosquitto_config", lambda *a: "no_such_option 1\n")
    with pytest.raises(BrokerError, match=r"mosquitto\) did not start: .*no_such_option.*\[mqtt\] broker"):
        EmbeddedBroker("mosquitto").start()


@pytest.mark.parametrize(
    ("url", "says"),
    [
        ("embeded", "not understood"),
        ("tcp://x:1", "not understood"),
        ("mqtt://x:99999", "no address"),
        ("mqtt://", "not understood"),
        ("mqtt://user:geheim@x", "password_file"),
        ("mqtt://user:geheim@x:99999", "no address"),
    ],
)
def test_a_wrong_setting_is_one_clear_line(url: str, says: str) -> None:
    with pytest.raises(BrokerError, match=says) as caught:
        open_broker(url)
    assert "geheim" not in str(caught.value)
    assert "\n" not in str(caught.value)


def test_settings() -> None:
    assert isinstance(open_broker("embedded"), EmbeddedBroker)
    outside = open_broker("mqtts://broker.house", ws_url="wss://broker.house:9001")
    assert isinstance(outside, ExternalBroker)
    assert (outside.kind, outside.port, outside.ws_url) == ("external", 8883, "wss://broker.house:9001")
    assert parse_url("mqtt://[::1]:1884").address == "mqtt://[::1]:1884"
