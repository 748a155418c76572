"""What the outlet tests share: an in-memory store, a stand-in catalogue, sample outcomes, a listening client."""

from __future__ import annotations

import os
import shutil
import threading
import time
from collections.abc import Callable, Mapping

import msgspec
import paho.mqtt.client as paho
import pytest

from tabled.model.outcome import AlertRaised, AnyOutcome, Choice, QuestionAsked, RulingIssued
from tabled.model.ruling import Candidate, Change, Faced, Locked, Option, Reason, Ruling
from tabled.outlets.broker import BrokerUrl
from tabled.outlets.link import MqttConfig
from tabled.outlets.messages import Outgoing, Wording, render
from tabled.outlets.mqtt import MqttOutlet
from tabled.outlets.outbox import OutboxStore
from tabled.outlets.topics import Origin

KINDS = ["mosquitto", "iotcore"]

ORIGIN = Origin("house", "t17", "e1")
WALL = 1_770_000_000_123_456_789

_VERBS = {
    "en": {
        "raise": "Raise to",
        "call": "Call",
        "bet": "Bet",
        "all_in": "All-in",
        "floor": "Floor, please. Nobody acts.",
    },
    "sv": {
        "raise": "Höjning till",
        "call": "Syn",
        "bet": "Bet",
        "all_in": "All in",
        "floor": "Tävlingsledare. Ingen agerar.",
    },
    "nl": {"raise": "Raise naar", "call": "Call", "bet": "Bet", "all_in": "All-in", "floor": "Floor. Niemand handelt."},
}
_REASONS = {
    "string_call": ("String bet: the hand went back for more", "Stringbet: handen gick tillbaka", "String bet"),
    "lock_acted": (
        "No full raise since this seat acted",
        "Ingen full höjning sedan spelaren agerade",
        "Geen volledige raise sinds deze speler handelde",
    ),
    "raise_lifted": ("At least half of a full raise: complete it", "Minst en halv höjning: fyll på", "Vul aan"),
    "ask_said_first": (
        "Seat 4: was “raise” said before the chip touched the felt?",
        "Plats 4: sades ”raise” innan marken rörde filten?",
        "Stoel 4: werd “raise” gezegd voordat de fiche het vilt raakte?",
    ),
    "said_first_yes": ("The word came first", "Ordet kom först", "Het woord eerst"),
    "said_first_no": ("The chip came first", "Marken kom först", "De fiche kwam eerst"),
    "device_lost": (
        "Reader reader-a does not answer. Check its cable; rule by hand for seats 1 to 5.",
        "Läsaren reader-a svarar inte. Kontrollera kabeln; döm för hand på plats 1–5.",
        "Lezer reader-a antwoordt niet. Controleer de kabel; beslis met de hand voor stoel 1–5.",
    ),
    "full_call": ("Counts as a call", "Räknas som syn", "Geldt als call"),
    "fold": ("The hand is dead", "Handen är död", "De hand is dood"),
    "floor_low_voice": (
        "One chip over the bet without a word",
        "En mark över betet utan ord",
        "Eén fiche zonder woord",
    ),
}


def announce(ruling: Ruling) -> Mapping[str, str]:
    """A stand-in for the catalogue."""
    said = {}
    for lang, verbs in _VERBS.items():
        verb = verbs[ruling.action]
        said[lang] = verb if ruling.to is None else f"{verb} {ruling.to}"
    return said


def say(reason: Reason, lang: str) -> str:
    """As above; an unknown code raises KeyError, as a real catalogue may."""
    return _REASONS[reason.code][("en", "sv", "nl").index(lang)]


WORDING = Wording(announce, say)


def a_ruling(**changes: object) -> RulingIssued:
    """Seat 4 raises to 1000 with an under-raise; seat 2 may not raise again.  Stacks hide in faced and options."""
    ruling = Ruling(
        seat="4",
        action="raise",
        verb="raise",
        to=1000,
        add=200,
        back=600,
        back_chips=(100, 500),
        change=Change(400, 1000),
        full=True,
        counts_as_raise=True,
        faced=Faced(to_call=500, min_to=1000, max_to=77_777, raise_open=True),
        next_seat="5",
        call_to=1000,
        min_raise_to=1500,
        may_raise=("5", "6"),
        may_not_raise=(Locked("2", Reason("lock_acted")),),
        options=(
            Option("5", check=False, fold=True, call_to=1000, raise_min_to=1500, raise_max_to=66_666),
            Option("6", check=False, fold=True, call_to=555, raise_min_to=None),
            Option("7", check=False, fold=True, call_to=1000, raise_min_to=1234, raise_max_to=1234),
        ),
        cite=("SE 7.8", "SE 7.3"),
        reason=Reason("raise_lifted", {"stack": 88_888, "to": 1000}),
        profile="abc",
    )
    issue = RulingIssued(
        hand_id="h1", street=1, act=3, status="provisional", ruling=ruling, ruled_ns=5, evidence=(3, 4), confidence=940
    )
    return msgspec.structs.replace(issue, **changes)


def a_question() -> QuestionAsked:
    return QuestionAsked(
        hand_id="h1",
        act=4,
        seat="4",
        reason=Reason("ask_said_first", {"seat": "4"}),
        choices=(
            Choice("key_a", Reason("said_first_yes"), "raise", 1000),
            Choice("key_b", Reason("said_first_no"), "call", 500),
        ),
        stands="key_b",
        asked_ns=9,
    )


def an_alert(cleared: bool = False) -> AlertRaised:
    return AlertRaised(
        subject="reader-a",
        severity="fault",
        reason=Reason("device_lost", {"device": "reader-a"}),
        cleared=cleared,
        raised_ns=10,
    )


def a_floor_case() -> RulingIssued:
    ruling = Ruling(
        seat="4",
        action="floor",
        floor=True,
        reason=Reason("floor_low_voice", {"said": 1000, "chips": 500}),
        cite=("SE 7.5.2",),
        candidates=(
            Candidate("call", 500, Reason("full_call", {"to": 500})),
            Candidate("raise", 1000, Reason("said_first_yes")),
            Candidate("fold", None, Reason("fold")),
        ),
    )
    return RulingIssued(hand_id="h1", street=1, act=5, status="final", ruling=ruling, ruled_ns=11)


def rendered(outcome: AnyOutcome, position: int, wording: Wording | None = None) -> tuple[Outgoing, ...]:
    return render(outcome, position, WALL + position, origin=ORIGIN, wording=wording or WORDING)


def need(kind: str) -> None:
    """Skip when this broker cannot be had here."""
    if kind == "mosquitto" and not shutil.which("mosquitto", path=f"{os.environ['PATH']}:/usr/sbin"):
        pytest.skip("mosquitto is not installed: apt install mosquitto")


class MemoryStore:
    """An outbox store in memory; positions leave gaps, as a journal's do.  ``fail`` makes the next call raise."""

    def __init__(self, wording: Wording | None = None) -> None:
        self.wording = wording
        self.rows: list[Outgoing] = []
        self.at = 0
        self.moves: list[int] = []
        self.fail = ""
        self._lock = threading.Lock()

    def add(self, outcome: AnyOutcome, position: int) -> None:
        with self._lock:
            self.rows.extend(rendered(outcome, position, self.wording))

    def pending(self, after: int, limit: int) -> list[Outgoing]:
        if self.fail:
            why, self.fail = self.fail, ""
            raise OSError(why)
        with self._lock:
            return [m for m in self.rows if m.position > after][:limit]

    def cursor(self) -> int:
        return self.at

    def advance(self, position: int) -> None:
        assert position > self.at, "the cursor moved backwards"
        self.at = position
        self.moves.append(position)


_: OutboxStore = MemoryStore()


def config(port: int, **changes: object) -> MqttConfig:
    return msgspec.structs.replace(MqttConfig(broker=BrokerUrl("127.0.0.1", port, False), origin=ORIGIN), **changes)


def outlet(port: int, store: OutboxStore, on_command: Callable = lambda act: None, **changes: object) -> MqttOutlet:
    return MqttOutlet(config(port, **changes), store, on_command, time.monotonic_ns, wall_ns=time.time_ns)


def wait_for(what: Callable[[], object], seconds: float = 8.0) -> None:
    """Poll until ``what`` is true; fails with its source line."""
    end = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < end, "timed out"
        time.sleep(0.01)


class Listener:
    """A subscriber that comes back quickly by itself; ``messages`` is all it got, in order."""

    def __init__(self, port: int, leaf: str = "#", *, name: str = "", clean: bool = True, ws: bool = False) -> None:
        self.messages: list[paho.MQTTMessage] = []
        self.ready = threading.Event()
        self._filter = ORIGIN.topic(leaf)
        self.client = paho.Client(
            paho.CallbackAPIVersion.VERSION2,
            client_id=name,
            clean_session=clean,
            transport="websockets" if ws else "tcp",
        )
        self.client.reconnect_delay_set(0.02, 0.02)
        self.client.on_connect = lambda c, u, f, rc, p: c.subscribe(self._filter, qos=1)
        self.client.on_subscribe = lambda c, u, mid, rc, p: self.ready.set()
        self.client.on_message = lambda c, u, m: self.messages.append(m)
        self.client.connect("127.0.0.1", port, 30)
        self.client.loop_start()
        assert self.ready.wait(5)

    def payloads(self, leaf: str) -> list[dict]:
        topic = ORIGIN.topic(leaf)
        return [msgspec.json.decode(m.payload) for m in list(self.messages) if m.topic == topic]

    def positions(self, leaf: str) -> list[int]:
        """Positions in the order of their first arrival."""
        return list(dict.fromkeys(int(e["id"].split("/")[1]) for e in self.payloads(leaf)))

    def publish(self, leaf: str, payload: bytes, *, retain: bool = False) -> None:
        self.client.publish(ORIGIN.topic(leaf), payload, 1, retain).wait_for_publish(5)

    def close(self) -> None:
        self.client.disconnect()
        self.client.loop_stop()
