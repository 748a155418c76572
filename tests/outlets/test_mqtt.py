"""The outlet against real brokers: what is lost, what is doubled, and what it says when things go wrong."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import threading
import time
from collections.abc import Iterator

import msgspec
import pytest

from tabled.model.outcome import Answer, OperatorAct
from tabled.outlets.broker import BrokerError, BrokerUnreachable, BrokerUrl, EmbeddedBroker
from tabled.outlets.commands import MAX_COMMAND
from tabled.outlets.link import Link, MqttConfig, check
from tabled.outlets.mqtt import MAX_WAITING, MqttOutlet
from tabled.outlets.outbox import Outbox
from tests.outlets.support import (
    ORIGIN,
    Listener,
    MemoryStore,
    a_question,
    a_ruling,
    config,
    outlet,
    wait_for,
)

pytestmark = pytest.mark.e2e


@pytest.fixture
def clean() -> Iterator[list]:
    made: list = []
    yield made
    for item in reversed(made):
        (item.close if isinstance(item, Listener) else item.stop)()


def filled(count: int) -> MemoryStore:
    store = MemoryStore()
    for n in range(1, count + 1):
        store.add(a_ruling(act=n), n * 10)
    return store


def started(clean: list, port: int, store: MemoryStore, *args: object, **changes: object) -> MqttOutlet:
    made = outlet(port, store, *args, **changes)
    clean.append(made)
    made.start()
    return made


def test_everything_arrives_once_in_order_on_both_topics(broker: EmbeddedBroker, clean: list) -> None:
    store = filled(100)
    clean.append(ears := Listener(broker.port))
    out = started(clean, broker.port, store)
    wait_for(lambda: store.at == 1000)
    store.add(a_ruling(), 1010)
    out.notify()
    want = [n * 10 for n in range(1, 102)]
    wait_for(lambda: ears.positions("evidence") == want)
    assert [int(e["id"][3:]) for e in ears.payloads("ruling")] == want  # once: no connection was lost
    assert out.status().protocol == ("5" if broker.kind == "mosquitto" else "3.1.1")
    wait_for(lambda: out.status().in_flight == 0)
    seen = [m for m in ears.messages if m.topic == ORIGIN.topic("ruling")]
    assert {m.qos for m in seen} == {1}
    assert not any(m.retain for m in seen)


def test_a_broker_killed_under_publish_loses_nothing(broker: EmbeddedBroker, clean: list) -> None:
    store = filled(5)
    clean.append(ears := Listener(broker.port, name="surveillance", clean=False))
    # the pause lets a subscriber of a memory-only broker be back first; mosquitto keeps its session anyway
    out = started(clean, broker.port, store, backoff_s=(0.8, 1.0))
    for n in range(6, 301):
        store.add(a_ruling(act=n), n * 10)
        out.notify()
        if n in (80, 200):
            wait_for(lambda: store.at > 0 and out.status().connected)
            os.kill(broker.pid, signal.SIGKILL)
            wait_for(lambda: not out.status().connected)
            wait_for(lambda: broker.pid is not None)
        time.sleep(0.001)
    wait_for(lambda: store.at == 3000, 15)
    want = [n * 10 for n in range(1, 301)]
    wait_for(lambda: ears.positions("ruling") == want and ears.positions("evidence") == want)
    assert out.status().losses == 2
    assert out.status().problem == ""
    by_id: dict[str, set[bytes]] = {}
    for m in ears.messages:
        if m.topic == ORIGIN.topic("ruling"):
            by_id.setdefault(msgspec.json.decode(m.payload)["id"], set()).add(m.payload)
    assert all(len(same) == 1 for same in by_id.values())


def test_a_daemon_that_starts_again_goes_on_after_the_cursor(broker: EmbeddedBroker, clean: list) -> None:
    store = filled(20)
    store.at = 150
    clean.append(ears := Listener(broker.port))
    started(clean, broker.port, store)
    wait_for(lambda: ears.positions("ruling") == [160, 170, 180, 190, 200])
    # what a page needs was rebuilt from before the cursor
    wait_for(lambda: [m["event"]["id"] for m in ears.payloads("recent")[-1]["data"]["messages"]][-1:] == ["e1/200"])
    first = ears.payloads("recent")[0]["data"]["messages"]
    assert [m["event"]["id"] for m in first] == [f"e1/{n * 10}" for n in range(8, 16)]


def test_a_lost_acknowledgement_is_sent_again(
    broker: EmbeddedBroker,
    clean: list,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("tabled.outlets.mqtt._ACK_TIMEOUT_NS", 300_000_000)
    real, swallowed = Link._on_publish, []
    rulings: set[int] = set()
    sent = Outbox.sent

    def noted(self: Outbox, mid: int) -> None:
        if self._ready[0].leaf == "ruling":
            rulings.add(mid)
        sent(self, mid)

    def lossy(self: Link, c: object, u: object, mid: int, code: object, p: object) -> None:
        if mid in rulings and len(swallowed) < 3:  # not those of retained values, which are sent beside
            swallowed.append(mid)
            return
        real(self, c, u, mid, code, p)

    monkeypatch.setattr(Outbox, "sent", noted)

    monkeypatch.setattr(Link, "_on_publish", lossy)
    store = filled(3)
    clean.append(ears := Listener(broker.port))
    out = started(clean, broker.port, store)
    wait_for(lambda: store.at == 30)
    wait_for(lambda: ears.positions("evidence") == [10, 20, 30])
    assert out.status().connects == 2
    assert len(ears.payloads("ruling")) > 3  # doubled, under the same ids


def test_an_exception_in_a_callback_ends_nothing(
    broker: EmbeddedBroker,
    clean: list,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    real, raised = Link._on_message, []

    def broken(self: Link, *args: object) -> None:
        if not raised:
            raised.append(1)
            raise ValueError("a bug")
        real(self, *args)

    monkeypatch.setattr(Link, "_on_message", broken)
    acts: list[OperatorAct] = []
    out = started(clean, broker.port, store := filled(1), acts.append)
    wait_for(lambda: store.at == 10)
    clean.append(ears := Listener(broker.port))
    ears.publish("cmd/next_street", b'{"request": "a"}')
    wait_for(lambda: out.status().connects == 2)
    assert "a bug" in out.status().last_error
    ears.publish("cmd/next_street", b'{"request": "b"}')
    wait_for(lambda: [a.request for a in acts] == ["b"])
    store.add(a_ruling(), 20)
    out.notify()
    wait_for(lambda: store.at == 20)
    assert out.status().alive


def test_a_store_that_fails_is_named_and_tried_again(broker: EmbeddedBroker, clean: list) -> None:
    out = started(clean, broker.port, store := filled(1))
    wait_for(lambda: store.at == 10)
    store.fail = "disk full"
    store.add(a_ruling(), 20)
    out.notify()
    wait_for(lambda: store.at == 20)
    assert "disk full" in out.status().last_error
    assert out.status().errors == 1


def test_a_dead_thread_is_started_again(
    broker: EmbeddedBroker,
    clean: list,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    out = started(clean, broker.port, store := filled(1))
    wait_for(lambda: store.at == 10)
    monkeypatch.setattr(threading, "excepthook", lambda args: None)
    with monkeypatch.context() as patch:
        patch.setattr(MqttOutlet, "_pump", lambda *a: (_ for _ in ()).throw(SystemExit))  # past every except
        out.notify()
        wait_for(lambda: not out.status().alive)
    store.add(a_ruling(), 20)
    out.set_health(b"{}")
    wait_for(lambda: store.at == 20)
    assert out.status().thread_restarts == 1


def test_state_is_retained_conflated_and_published_again(broker: EmbeddedBroker, clean: list) -> None:
    out = started(clean, broker.port, MemoryStore())
    for n in range(500):
        out.set_state(b'{"n": %d}' % n)
    out.set_health(b'{"beat": 1}')
    clean.append(late := Listener(broker.port))
    wait_for(lambda: late.payloads("state")[-1:] == [{"n": 499}] and late.payloads("health")[-1:] == [{"beat": 1}])
    os.kill(broker.pid, signal.SIGKILL)
    wait_for(lambda: out.status().losses == 1 and out.status().connected)
    clean.append(later := Listener(broker.port))
    wait_for(lambda: later.payloads("state")[-1:] == [{"n": 499}])
    wait_for(lambda: later.payloads("health")[-1:] == [{"beat": 1}])


def test_the_last_will_and_an_honest_goodbye(broker: EmbeddedBroker, clean: list) -> None:
    clean.append(ears := Listener(broker.port))
    link = Link(config(broker.port, protocol="3.1.1"), "3.1.1", will=("health", b'{"why": "link lost"}'))
    link.connect()
    link.step(None, 1)
    link.abort()
    wait_for(lambda: ears.payloads("health") == [{"why": "link lost"}])
    out = outlet(broker.port, MemoryStore())
    out.start()
    out.set_health(b'{"beat": 1}')
    wait_for(lambda: ears.payloads("health")[-1:] == [{"beat": 1}])
    out.stop()
    wait_for(lambda: ears.payloads("health")[-1].get("data", {}).get("why") == "stopped")
    time.sleep(0.3)
    assert ears.payloads("health")[-1]["data"]["why"] == "stopped"  # no will after a clean end
    out.stop()


def test_commands_come_in_and_are_answered(broker: EmbeddedBroker, clean: list) -> None:
    acts: list[OperatorAct] = []
    out = started(clean, broker.port, MemoryStore(), acts.append)
    wait_for(lambda: out.status().connected)
    clean.append(page := Listener(broker.port))
    body = msgspec.json.encode({"request": "q1", "who": "dealer", "question": 130, "key": "key_b"})
    wait_for(lambda: (page.publish("cmd/answer", body), time.sleep(0.05), acts)[-1])
    assert acts == [Answer(request="q1", who="dealer", question=130, key="key_b")]
    out.ack("q1", True, "answered", 140)
    wait_for(lambda: page.payloads("ack"))
    assert page.payloads("ack")[0]["data"] == {
        "kind": "ack",
        "request": "q1",
        "ok": True,
        "reason": "answered",
        "position": 140,
    }
    page.publish("cmd/answer", body)  # the answer got lost: the same answer again, not the same act
    wait_for(lambda: len(page.payloads("ack")) == 2)
    page.publish("cmd/answer", body.replace(b"key_b", b"key_a"))
    wait_for(lambda: len(page.payloads("ack")) == 3)
    assert "new id" in page.payloads("ack")[2]["data"]["reason"]
    assert len(acts) == 1


def test_hostile_commands_get_a_reason_and_play_goes_on(broker: EmbeddedBroker, clean: list) -> None:
    acts: list[OperatorAct] = []
    out = started(clean, broker.port, store := MemoryStore(), acts.append)
    clean.append(page := Listener(broker.port))
    wait_for(lambda: out.status().connected)
    time.sleep(0.1)  # the subscription
    hostile = [b"", b"\x00" * 50, b"{" * 900, b'{"request": "x", "n": 1}', b" " * (MAX_COMMAND + 5)]
    for body in hostile:
        page.publish("cmd/next_street", body)
    page.publish("cmd/shutdown", b'{"request": "y"}')
    page.publish("cmd/next_street", b'{"request": "z"}', retain=True)
    page.publish("cmd/next_street", b"", retain=True)
    store.add(a_ruling(), 10)
    out.notify()
    wait_for(lambda: store.at == 10)
    wait_for(lambda: out.status().refused >= len(hostile) + 2)
    wait_for(lambda: len(page.payloads("ack")) >= len(hostile) + 2)
    assert all(not e["data"]["ok"] and e["data"]["reason"] for e in page.payloads("ack"))
    assert [a.request for a in acts if a.request != "z"] == []


def test_a_retained_command_is_refused(broker: EmbeddedBroker, clean: list) -> None:
    clean.append(page := Listener(broker.port))
    page.publish("cmd/next_street", b'{"request": "old"}', retain=True)
    acts: list[OperatorAct] = []
    started(clean, broker.port, MemoryStore(), acts.append)
    wait_for(lambda: page.payloads("ack"))
    assert "retain" in page.payloads("ack")[0]["data"]["reason"]
    assert acts == []


def test_commands_reach_the_loop_and_a_flood_is_refused(broker: EmbeddedBroker, clean: list) -> None:
    async def table() -> tuple[list[OperatorAct], set[str]]:
        acts: list[OperatorAct] = []
        threads: set[str] = set()

        def on_command(act: OperatorAct) -> None:
            threads.add(threading.current_thread().name)
            acts.append(act)

        out = MqttOutlet(
            config(broker.port),
            MemoryStore(),
            on_command,
            time.monotonic_ns,
            wall_ns=time.time_ns,
            loop=asyncio.get_running_loop(),
        )
        out.start()
        clean.append(out)
        page = await asyncio.to_thread(Listener, broker.port)
        clean.append(page)
        await asyncio.to_thread(wait_for, lambda: out.status().connected)
        await asyncio.sleep(0.1)
        for n in range(MAX_WAITING + 10):  # the loop is busy here: nothing is taken meanwhile
            page.publish("cmd/next_street", b'{"request": "f%d"}' % n)
        wait_for(lambda: len(page.payloads("ack")) == 10)
        await asyncio.sleep(0.05)
        return acts, threads

    acts, threads = asyncio.run(table())
    assert len(acts) == MAX_WAITING
    assert threads == {threading.main_thread().name}


def test_a_handler_that_raises_is_answered(broker: EmbeddedBroker, clean: list) -> None:
    def broken(act: OperatorAct) -> None:
        raise RuntimeError("no such question")

    out = started(clean, broker.port, MemoryStore(), broken)
    clean.append(page := Listener(broker.port))
    wait_for(lambda: out.status().connected)
    time.sleep(0.1)
    page.publish("cmd/next_street", b'{"request": "h1"}')
    wait_for(lambda: page.payloads("ack"))
    assert page.payloads("ack")[0]["data"]["ok"] is False


def test_a_second_daemon_of_the_same_table_is_named() -> None:
    mosquitto = EmbeddedBroker("mosquitto")
    mosquitto.start()
    try:
        one, two = outlet(mosquitto.port, MemoryStore()), outlet(mosquitto.port, MemoryStore())
        one.start()
        wait_for(lambda: one.status().connected)
        two.start()
        wait_for(lambda: "client_id" in one.status().problem or "client_id" in two.status().problem)
        one.stop()
        two.stop()
    finally:
        mosquitto.stop()


def test_an_open_question_waits_for_a_page(broker: EmbeddedBroker, clean: list) -> None:
    store = MemoryStore()
    store.add(a_question(), 30)
    clean.append(ears := Listener(broker.port))
    started(clean, broker.port, store)
    wait_for(lambda: ears.positions("question") == [30])
    wait_for(lambda: [m["leaf"] for m in ears.payloads("recent")[-1]["data"]["messages"]] == ["question"])


# ---- start-up check ----------------------------------------------------------------------------


def test_check_passes_on_both(broker: EmbeddedBroker) -> None:
    check(config(broker.port))


def free_port() -> int:
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def test_check_names_what_is_wrong() -> None:
    with pytest.raises(BrokerUnreachable, match="nothing listens there") as caught:
        check(config(free_port()))
    assert "Start the broker" in caught.value.advice
    assert caught.value.address.startswith("mqtt://127.0.0.1:")
    with pytest.raises(BrokerUnreachable, match="name is unknown"):
        check(MqttConfig(broker=BrokerUrl("no-such-host.invalid", 8883, True), origin=ORIGIN))
    with pytest.raises(BrokerError, match="unencrypted"):
        MqttConfig(broker=BrokerUrl("192.0.2.1", 1883, False), origin=ORIGIN)
    with pytest.raises(BrokerError, match="password_file"):
        check(config(free_port(), username="x", password_file="/nonexistent"))


def test_check_of_something_that_is_no_broker(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tabled.outlets.link._CONNECT_S", 0.4)
    with socket.socket() as mute:
        mute.bind(("127.0.0.1", 0))
        mute.listen(8)
        with pytest.raises(BrokerUnreachable, match="an MQTT broker, and nothing else"):
            check(config(mute.getsockname()[1]))


def test_an_unreachable_broker_is_named_at_run_time_and_found_again(clean: list) -> None:
    mosquitto = EmbeddedBroker()
    mosquitto.start()
    port = mosquitto.port
    mosquitto.stop()
    out = started(clean, port, store := filled(3), backoff_s=(0.05, 0.2))
    wait_for(lambda: "nothing listens there" in out.status().problem)
    assert not out.status().connected
    assert store.at == 0
    out.stop()
