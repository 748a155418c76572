"""The Stream Deck as a panel: its pages as pure data, and the real package over its dummy transport."""

from __future__ import annotations

import asyncio
import collections
import io
import time
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firmware_bridge.drivers.registry import drive as driver
from firmware_bridge.ports import deck as deck_port
from firmware_bridge.session.contract import DeviceConfig
from firmware_bridge.session.deck import PAGES_6, PAGES_15, PAGES_32, DeckComposer, DeckOptions, Face
from firmware_bridge.session.entry import TAKES_AMOUNT, Act
from firmware_bridge.session.problems import ConfigProblem
from firmware_bridge.wire import KEYS, DeviceLost, DeviceUp, Press
from tests.bridge.rig import Room, drive, running

MS = 1_000_000
S = 1000 * MS


class Hand:
    """A composer and a finger that finds keys by their cell."""

    def __init__(self, keys: int = 15, **options: Any) -> None:
        self.composer = DeckComposer(DeckOptions(**options))
        assert self.composer.fits(keys) is None
        self.now = S

    def press(self, *cells: str) -> list[Act]:
        found = []
        for cell in cells:
            self.now += 100 * MS
            act = self.composer.key(self.where(cell), self.now)
            if act is not None:
                found.append(act)
        return found

    def where(self, cell: str) -> int:
        cells = self.composer._pages[self.composer.page]
        assert cell in cells, f"'{cell}' is not on page '{self.composer.page}'"
        return cells.index(cell)

    def faces(self) -> list[Face]:
        return msgspec.json.decode(self.composer.faces(), type=list[Face])


def test_a_raise_to_800_and_others() -> None:
    hand = Hand()
    assert hand.press("page:amount", "8", "0", "0", "raise_to") == [Act("raise_to", amount=800)]
    assert hand.composer.page == "main"
    assert hand.press("fold", "check") == [Act("fold"), Act("check")]
    assert hand.press("page:seats", "seat:7", "said_first", "call") == [Act("call", seat=7, said_first=True)]
    assert hand.press("page:amount", "5", "page:bets", "000", "bet") == [Act("bet", amount=5000)]
    assert hand.press("page:more", "new_hand") == [Act("new_hand")]
    assert hand.press("said_first", "said_first", "call") == [Act("call")]
    assert hand.composer.refused == 0
    assert Hand(32).press("3", "seat", "5", "00", "number") == [Act("number", seat=3, amount=500)]
    assert Hand(6).press("page:more", "all_in", "key_b") == [Act("all_in"), Act("key_b")]


def test_an_amount_before_a_key_that_takes_none_is_nothing() -> None:
    hand = Hand(32)
    assert hand.press("8", "0", "fold") == []
    assert hand.press("raise_to") == []
    assert hand.press("0", "bet") == []
    assert hand.composer.refused == 3
    assert hand.press("fold") == [Act("fold")]


def test_a_forgotten_entry_is_thrown_away_and_the_page_turns_back() -> None:
    hand = Hand(entry_ms=5000)
    hand.press("page:amount", "8")
    due = hand.composer.next_wake_ns
    assert due is not None
    hand.composer.wake(due)
    assert hand.composer.page == "main"
    hand.now = due
    assert hand.press("call") == [], "the rest of a broken entry does not act"
    assert hand.press("call") == [Act("call")]


def test_the_faces_show_how_things_stand() -> None:
    hand = Hand()
    faces = hand.faces()
    assert [f.label for f in faces[:5]] == ["FOLD", "CHECK", "CALL", "A", "B"]
    assert len(faces) == 15
    assert hand.composer.faces() == b"", "nothing changed"
    hand.press("said_first")
    assert Face("SAID FIRST", "lit") in hand.faces()
    hand.press("page:amount")
    assert Face("RAISE TO", "dim") in hand.faces()
    hand.press("2", "5")
    faces = hand.faces()
    assert Face("25", "entry") in faces
    assert Face("RAISE TO", "verb") in faces
    hand.composer.redraw()
    assert hand.faces() == faces
    named = Hand(labels={"fold": "PASS"})
    assert named.faces()[0] == Face("PASS", "verb")


def test_every_press_is_on_the_decks_of_15_and_32_keys() -> None:
    for pages in (PAGES_15, PAGES_32):
        assert set(KEYS) <= {cell for cells in pages.values() for cell in cells}
    for pages, keys in ((PAGES_6, 6), (PAGES_15, 15), (PAGES_32, 32)):
        options = DeckOptions(pages={name: list(cells) for name, cells in pages.items()})
        assert options.problem() is None
        assert max(len(cells) for cells in pages.values()) == keys


def test_pages_that_cannot_be_are_refused() -> None:
    for pages, says in (
        ({"main": ["flod"]}, "'flod' is no cell"),
        ({"main": ["page:other"]}, "leads to a page that there is not"),
        ({"main": ["seat:11"]}, "is no seat"),
        ({"main": [""] * 65}, "at most 64"),
        ({str(n): [] for n in range(17)}, "at most 16"),
    ):
        with pytest.raises(ConfigProblem, match=says):
            driver(DeviceConfig("deck", "streamdeck", "streamdeck:", options={"pages": pages}))
    with pytest.raises(ConfigProblem, match="Write streamdeck:"):
        driver(DeviceConfig("deck", "streamdeck", "/dev/hidraw0"))
    assert "page 'main' has 7 keys" in str(DeckComposer(DeckOptions(pages={"main": ["fold"] * 7})).fits(6))
    assert "needs 'pages'" in str(DeckComposer().fits(3))


@settings(max_examples=200, deadline=None)
@given(st.sampled_from([6, 15, 32]), st.lists(st.tuples(st.integers(-2, 40), st.integers(0, 25_000)), max_size=60))
def test_whatever_is_pressed_every_act_is_one_that_the_protocol_has(keys: int, pressed: list[tuple[int, int]]) -> None:
    composer = DeckComposer()
    assert composer.fits(keys) is None
    now = S
    for code, after_ms in pressed:
        now += after_ms * MS
        act = composer.key(code, now)
        if act is not None:
            assert act.key in KEYS
            assert act.amount == 0 or act.key in TAKES_AMOUNT
            assert 0 <= act.seat <= 10
        faces = composer.faces()
        assert not faces or len(msgspec.json.decode(faces, type=list[Face])) == keys


# -- the package, over its dummy transport -------------------------------------------------------

PID_MK2 = 0x0080


class Bus:
    """What is plugged in, and what happened on it."""

    def __init__(self) -> None:
        self.reports: collections.deque[bytes] = collections.deque()
        self.plugged = True
        self.written: list[bytes] = []
        self.features: list[bytes] = []
        self.opened = 0

    def key(self, number: int) -> None:
        for down in (1, 0):
            states = bytearray(15)
            states[number] = down
            self.reports.append(b"\x01\x00\x0f\x00" + bytes(states))

    def images(self) -> dict[int, bytes]:
        """The pictures that were written, newest a key, put together from their pages."""
        found: dict[int, bytes] = {}
        part: dict[int, bytes] = collections.defaultdict(bytes)
        for report in self.written:
            if report[:2] == b"\x02\x07":
                key, last, length = report[2], report[3], report[4] | report[5] << 8
                part[key] += report[8 : 8 + length]
                if last:
                    found[key] = part.pop(key)
        return found


@pytest.fixture
def bus(monkeypatch: pytest.MonkeyPatch) -> Iterator[Bus]:
    reason = "the streamdeck package is not installed: the deck's port is not tested"
    dummy = pytest.importorskip("StreamDeck.Transport.Dummy", reason=reason)
    pytest.importorskip("PIL", reason="Pillow is not installed: the deck's port is not tested")
    bus = Bus()

    class Deck(dummy.Dummy.Device):  # type: ignore[misc,name-defined]  # a class of an untyped package
        def open(self) -> None:
            super().open()
            bus.opened += 1

        def connected(self) -> bool:
            return bus.plugged

        def _alive(self) -> None:
            if not bus.plugged:
                raise dummy.TransportError("No HID device.")

        def read(self, length: int) -> bytes | None:
            self._alive()
            return bus.reports.popleft() if bus.reports else None

        def read_feature(self, report_id: int, length: int) -> bytes:
            return (bytes((report_id, 12)) + b"AL12H3A00001").ljust(length, b"\x00")

        def write(self, payload: bytes) -> bool:
            self._alive()
            bus.written.append(bytes(payload))
            return True

        def write_feature(self, payload: bytes) -> bool:
            self._alive()
            bus.features.append(bytes(payload))
            return True

    def enumerate_decks(_self: Any, vid: int, pid: int) -> list[Deck]:
        return [Deck(vid, pid)] if pid == PID_MK2 and bus.plugged else []

    monkeypatch.setattr(dummy.Dummy, "enumerate", enumerate_decks)
    yield bus
    bus.plugged = False  # ends the package's reading thread


def config(port: str = "streamdeck:", **options: Any) -> DeviceConfig:
    return DeviceConfig("deck", "streamdeck", port, options={"transport": "dummy"} | options)


def test_presses_pictures_and_a_pulled_cable(bus: Bus) -> None:
    async def body() -> None:
        async with running(Room(config(brightness=30))) as room:
            room.sink = room.commits
            (up,) = await room.until(lambda: room.of(DeviceUp))
            assert up.model == "Stream Deck Original AL12H3A00001"
            await room.until(lambda: len(bus.images()) == 15)
            assert bytes((3, 8, 30)) in {f[:3] for f in bus.features}
            before = time.monotonic_ns()
            for cell in ("page:amount",):
                bus.key(PAGES_15["main"].index(cell))
            for cell in ("8", "0", "0", "raise_to"):
                bus.key(PAGES_15["amount"].index(cell))
            (press,) = await room.until(lambda: room.of(Press))
            assert (press.key, press.amount, press.seq) == ("raise_to", 800, 1)
            assert before - 25 * MS <= press.span.earliest_ns <= press.span.latest_ns <= time.monotonic_ns()
            gone = time.monotonic_ns()
            bus.plugged = False
            (lost,) = await room.until(lambda: room.of(DeviceLost))
            assert time.monotonic_ns() - gone < S
            assert "Plug it in again" in lost.advice
            await asyncio.sleep(0.3)
            assert "no Stream Deck" in room.health("deck").advice
            bus.plugged = True
            bus.written.clear()
            await room.until(lambda: len(room.of(DeviceUp)) == 2)
            await room.until(lambda: len(bus.images()) == 15)
            bus.key(0)
            await room.until(lambda: len(room.of(Press)) == 2)
            await room.until(lambda: len({p.boot for p in room.of(Press)}) == 1)
            assert [p.seq for p in room.of(Press)] == [1, 2]

    drive(body)


def test_a_key_shows_its_words_and_only_changed_keys_are_drawn(bus: Bus) -> None:
    image = pytest.importorskip("PIL.Image")

    async def body() -> None:
        async with running(Room(config(pages={"main": ["fold", "said_first", ""]}))) as room:
            await room.until(lambda: len(bus.images()) == 15)
            drawn = {key: image.open(io.BytesIO(jpeg)).convert("L") for key, jpeg in bus.images().items()}
            assert {face.size for face in drawn.values()} == {(72, 72)}
            light = {key: sum(p > 150 for p in face.tobytes()) for key, face in drawn.items()}
            assert light[0] > 100 < light[1], "letters"
            assert light[2] == light[14] == 0, "an empty key is dark"
            bus.written.clear()
            bus.key(1)
            await room.until(bus.images)
            await asyncio.sleep(0.1)
            assert set(bus.images()) == {1}

    drive(body)


def test_the_deck_that_is_meant_and_pages_too_large(bus: Bus) -> None:
    async def body() -> None:
        async with running(Room(config("streamdeck:AL99"))) as room:
            (lost,) = await room.until(lambda: room.of(DeviceLost))
            assert lost.reason == "found AL12H3A00001"
        async with running(Room(config(pages={"main": ["fold"] * 16}))) as room:
            (lost,) = await room.until(lambda: room.of(DeviceLost))
            assert "has 16 keys and the deck has 15" in lost.reason
        async with running(Room(config("streamdeck:AL12H3A00001"))) as room:
            await room.until(lambda: room.of(DeviceUp))

    drive(body)


def test_a_dead_reading_thread_is_a_lost_deck(bus: Bus) -> None:
    async def body() -> None:
        async with running(Room(config())) as room:
            await room.until(lambda: room.of(DeviceUp))
            bus.reports.append(None)  # type: ignore[arg-type]  # nothing there: one more quiet turn
            bus.reports.append(b"")  # a report that the package cannot unpack leaves its thread as it was
            port = room.bridge._devices["deck"]._port
            assert isinstance(port, deck_port.DeckLine)
            port._deck.run_read_thread = False
            await room.until(lambda: room.of(DeviceLost))
            await room.until(lambda: len(room.of(DeviceUp)) == 2)

    drive(body)


def test_junk_for_the_faces_is_counted_not_drawn(bus: Bus) -> None:
    async def body() -> None:
        async with running(Room(config())) as room:
            await room.until(lambda: room.of(DeviceUp))
            port = room.bridge._devices["deck"]._port
            assert port is not None
            for junk in (b"{}", b"\xff", b"[]", b"[[1,2]]", b"x" * 5000):
                port.write(junk)
            assert port.dropped == 5

    drive(body)
