"""The numeric keypad: what a dealer keys becomes what he meant, once, or nothing."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Iterable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firmware_bridge.drivers.registry import drive as driver
from firmware_bridge.ports import keys
from firmware_bridge.session.contract import DeviceConfig, KeysPort
from firmware_bridge.session.entry import TAKES_AMOUNT, Act
from firmware_bridge.session.keyinput import KeyReader, KeyRecord, hello_record, key_record, lost_record
from firmware_bridge.session.keypad import KEY_CODES, KeypadComposer, KeypadOptions
from firmware_bridge.session.local import MAX_OPEN, LocalPanelSession
from firmware_bridge.session.problems import ConfigProblem
from firmware_bridge.wire import KEYS, AnyObservation, BootId, DeviceId, DeviceLost, DeviceUp, Press
from tests.bridge.rig import Room, drive, running

MS = 1_000_000
S = 1000 * MS
SYMBOLS = {"/": "KPSLASH", "*": "KPASTERISK", "-": "KPMINUS", "+": "KPPLUS", ".": "KPDOT", "E": "KPENTER"}
SYMBOLS |= {str(n): f"KP{n}" for n in range(10)} | {"<": "BACKSPACE", "N": "NUMLOCK", "x": "ESC"}


def acts(text: str, composer: KeypadComposer | None = None, *, at: int = S) -> list[Act]:
    """What the keys of ``text`` become; 100 ms between them."""
    composer = composer or KeypadComposer()
    found = [composer.key(KEY_CODES[SYMBOLS[c]], at + n * 100 * MS) for n, c in enumerate(text)]
    return [act for act in found if act is not None]


@pytest.mark.parametrize(
    ("keyed", "act"),
    [
        ("/", Act("fold")),
        ("*", Act("check")),
        ("-", Act("call")),
        ("+", Act("raise")),
        ("800+", Act("raise_to", amount=800)),
        ("300-", Act("raise_by", amount=300)),
        ("300*", Act("bet", amount=300)),
        ("800E", Act("number", amount=800)),
        ("E", Act("key_a")),
        (".E", Act("key_b")),
        ("<", Act("key_b")),
        ("3//", Act("fold", seat=3)),
        ("10/800+", Act("raise_to", seat=10, amount=800)),
        (".*500+", Act("raise_to", amount=500, said_first=True)),
        ("2/.*-", Act("call", seat=2, said_first=True)),
        (".+", Act("all_in")),
        (".2", Act("pot")),
        (".3", Act("complete")),
        (".0", Act("undo")),
        (".9", Act("floor")),
        (".4", Act("hand_withdraws")),
        (".5", Act("next_street")),
        (".6", Act("new_hand")),
        ("99.800+", Act("raise_to", amount=800)),
        ("99<800+", Act("raise_to", amount=800)),
        ("3/..*", Act("check")),
        ("N8N0N0N+", Act("raise_to", amount=800)),
        (".N0", Act("undo")),
    ],
)
def test_what_a_dealer_keys(keyed: str, act: Act) -> None:
    composer = KeypadComposer()
    assert acts(keyed, composer) == [act]
    assert composer.refused == 0


def test_the_dealers_table_is_true() -> None:
    """PANELS.md, row by row."""
    text = (Path(__file__).parents[2] / "firmware_bridge" / "PANELS.md").read_text()
    table = text.split("| the dealer wants |")[1].split("\n\n")[0]
    rows = [[cell.strip(" `") for cell in line.strip("|").split("|")] for line in table.splitlines()[2:]]
    assert len(rows) > 20
    for wants, keyed, says in rows:
        word, _, rest = says.partition(" ")
        number, _, rest = rest.partition(" ") if rest[:1].isdigit() else ("0", "", rest)
        seat = int(rest.split()[1]) if rest.startswith("seat") else 0
        expected = [Act(word, seat, int(number), "said first" in rest)] if word != "nothing" else []
        composer = KeypadComposer()
        keys_of = "".join({"Enter": "E", "Backspace": "<"}.get(k, k) for k in keyed.split())
        assert acts(keys_of, composer) == expected, wants
        assert composer.refused == 0, wants
    assert {says.split()[0] for *_, says in rows} == {*KEYS, "nothing"}


def test_every_press_of_the_protocol_can_be_keyed() -> None:
    keyed = ["/", "*", "-", "+", "5+", "5-", "5*", "5E", ".+", ".2", ".3", ".4", ".5", ".6", ".0", ".9", "E", ".E"]
    assert {acts(text)[0].key for text in keyed} == set(KEYS)


@pytest.mark.parametrize(
    "keyed",
    ["0+", "000E", "11//", "0//", "1234567890123+", "80x", ".7", "1.", "..", "5/5/.."],
)
def test_what_means_nothing_is_nothing(keyed: str) -> None:
    assert acts(keyed) == []


def test_a_broken_entry_cannot_act_by_its_rest() -> None:
    composer = KeypadComposer()
    # 13 digits are too many; the + that was meant to end them must not become a bare raise.
    assert acts("1234567890123+", composer) == []
    assert composer.refused == 2
    assert acts("+", composer) == [Act("raise")]


def test_an_entry_left_alone_is_thrown_away() -> None:
    composer = KeypadComposer(KeypadOptions(entry_ms=5000))
    assert acts("80", composer, at=S) == []
    due = composer.next_wake_ns
    assert due == S + 100 * MS + 5000 * MS
    composer.wake(due)
    assert composer.next_wake_ns is None
    assert acts("+", composer, at=20 * S) == [], "the key that belonged to it"
    assert acts("800+", composer, at=21 * S) == [Act("raise_to", amount=800)]
    # Also where nobody woke it: the next key's own time tells.
    assert acts("80", composer, at=30 * S) == []
    assert acts("500+", composer, at=40 * S) == [Act("raise_to", amount=500)]


def test_the_map_can_be_changed_and_is_checked() -> None:
    options = KeypadOptions(plain={"F1": "all_in", "KPSLASH": "nothing"}, amount={"TAB": "raise_to"})
    composer = KeypadComposer(options)
    assert composer.key(KEY_CODES["F1"], S) == Act("all_in")
    assert composer.key(KEY_CODES["KPSLASH"], S) is None
    assert composer.refused == 0
    assert acts("25", composer) == []
    assert composer.key(KEY_CODES["TAB"], S) == Act("raise_to", amount=25)
    for wrong, says in (
        ({"plain": {"KP_7": "fold"}}, "names a key 'KP_7'"),
        ({"plain": {"KP7": "fold"}}, "digits are for numbers"),
        ({"plain": {"F1": "flod"}}, "the act 'flod' that there is not"),
        ({"plain": {"F1": "raise_to"}}, "needs an amount before it"),
        ({"amount": {"F1": "fold"}}, "takes no amount"),
        ({"function": {"F1": "seat"}}, "'seat' that there is not"),
        ({"entry_ms": 5}, "entry_ms"),
    ):
        config = DeviceConfig("pad", "keypad", "/dev/input/event3", options=wrong)
        with pytest.raises(ConfigProblem, match=says):
            driver(config)
    with pytest.raises(ConfigProblem, match="by-id"):
        driver(DeviceConfig("pad", "keypad", "tcp://pad"))


def test_key_codes_are_the_kernels() -> None:
    ecodes = pytest.importorskip("evdev", reason="python-evdev is not installed: key codes are not checked").ecodes
    assert {name: ecodes.ecodes[f"KEY_{name}"] for name in KEY_CODES} == KEY_CODES


@settings(max_examples=300, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(sorted(KEY_CODES.values())), st.integers(0, 25_000)), max_size=60))
def test_whatever_is_pressed_every_act_is_one_that_the_protocol_has(pressed: list[tuple[int, int]]) -> None:
    composer = KeypadComposer()
    now, digits = S, 0
    names = {code: name for name, code in KEY_CODES.items()}
    for code, after_ms in pressed:
        now += after_ms * MS
        act = composer.key(code, now)
        digits = digits + 1 if names[code] in {f"KP{n}" for n in range(10)} | set("0123456789") else digits
        if act is None:
            continue
        assert act.key in KEYS
        assert 0 <= act.seat <= 10
        assert act.amount == 0 or act.key in TAKES_AMOUNT
        assert len(str(act.amount)) <= max(digits, 1)
        digits = 0 if act.amount else digits


@settings(max_examples=200, deadline=None)
@given(amount=st.integers(1, 10**12 - 1), noise=st.lists(st.sampled_from([*SYMBOLS.values()]), max_size=20))
def test_after_the_clear_key_a_whole_entry_is_what_was_keyed(amount: int, noise: list[str]) -> None:
    composer = KeypadComposer()
    for name in noise:
        composer.key(KEY_CODES[name], S)
    for _ in range(2):
        composer.key(KEY_CODES["ESC"], S)
    assert acts(f"{amount}+", composer) == [Act("raise_to", amount=amount)]


# -- the session ---------------------------------------------------------------------------------


def session() -> LocalPanelSession:
    made = LocalPanelSession(DeviceId("pad"), KeypadComposer(), BootId(77), scan_ns=25 * MS)
    made.start(10 * S)
    return made


def down(text: str, at_ns: int = 0) -> bytes:
    """Each key pressed, repeated by the kernel twice, and released."""
    return b"".join(key_record(KEY_CODES[SYMBOLS[c]], value, at_ns) for c in text for value in (1, 2, 2, 0))


def presses(found: Iterable[AnyObservation]) -> list[Press]:
    return [o for o in found if isinstance(o, Press)]


def test_presses_have_names_and_times() -> None:
    pad = session()
    (up,) = pad.receive(hello_record("ACME pad\x07é", 17), 10 * S)
    assert isinstance(up, DeviceUp)
    assert (up.model, up.boot) == ("ACME pad??", 77)
    (first,) = presses(pad.receive(down("800+", 11 * S), 11 * S + 3 * MS))
    assert (first.boot, first.seq, first.key, first.amount) == (77, 1, "raise_to", 800)
    assert (first.span.earliest_ns, first.span.latest_ns) == (11 * S - 25 * MS, 11 * S + 999)
    # A key time in the future, long ago or unknown: since the port was last read, at the least the way to the kernel.
    for n, (at, read, earliest) in enumerate(
        ((99 * S, 12 * S, 11 * S + 3 * MS), (S, 13 * S, 12 * S), (0, 14 * S, 13 * S)), 2
    ):
        (press,) = presses(pad.receive(down("/", at), read))
        assert (press.seq, press.span.earliest_ns, press.span.latest_ns) == (n, earliest, read)
    assert pad.counters().frames == 7 * 4


def test_a_press_that_was_not_taken_comes_again_until_it_is() -> None:
    pad = session()
    pad.receive(hello_record("pad"), 10 * S)
    first, second = presses(pad.receive(down("/*", 11 * S), 11 * S))
    pad.withdraw(first)
    pad.withdraw(second)
    pad.start(12 * S)  # the supervisor reopens after a refusal
    assert pad.wake(12 * S + MS) == []
    pad.receive(hello_record("pad"), 12 * S + MS)
    due = pad.next_wake_ns
    assert due is not None
    again = presses(pad.wake(due))
    assert again == [first, second], "same names, same times"
    assert pad.wake(due + S) == []
    pad.acknowledge(first)
    pad.withdraw(first)
    pad.withdraw(second)
    assert presses(pad.wake(due + 2 * S)) == [second]
    pad.acknowledge(second)
    assert pad.next_wake_ns is None


def test_the_queue_is_bounded_and_counted() -> None:
    pad = session()
    pad.receive(hello_record("pad"), 10 * S)
    found = presses(pad.receive(down("/" * (MAX_OPEN + 5)), 11 * S))
    assert len(found) == MAX_OPEN
    assert pad.counters().dropped == 5
    pad.acknowledge(found[0])
    assert [p.seq for p in presses(pad.receive(down("*"), 12 * S))] == [MAX_OPEN + 1]


def test_names_are_never_given_twice() -> None:
    pad = session()
    pad.receive(hello_record("pad"), 10 * S)
    (press,) = presses(pad.receive(down("/"), 11 * S))
    old = Press(press.device, press.span, BootId(77), 40, "fold")
    pad.remember(old)
    assert [p.seq for p in presses(pad.receive(down("/"), 11 * S))] == [41]
    boots = {
        presses([*s.receive(hello_record("p") + down("/"), 2 * S)])[0].boot
        for s in (driver(DeviceConfig("pad", "keypad", "/dev/input/x")).session for _ in range(20))
        if s.start(S) is None
    }
    assert len(boots) == 20


def test_missed_keys_break_the_entry() -> None:
    pad = session()
    pad.receive(hello_record("pad"), 10 * S)
    assert presses(pad.receive(down("80") + lost_record() + down("+"), 11 * S)) == []
    assert presses(pad.receive(down("80"), 12 * S)) == []
    pad.start(13 * S)  # unplugged in the middle of it
    pad.receive(hello_record("pad"), 13 * S)
    assert presses(pad.receive(down("+"), 13 * S)) == []
    assert presses(pad.receive(down("+"), 13 * S))[0].key == "raise"
    assert pad.counters().corrupt == 1


def test_a_port_that_says_nothing_is_lost() -> None:
    pad = session()
    due = pad.next_wake_ns
    assert due is not None
    assert pad.wake(due - 1) == []
    (lost,) = pad.wake(due)
    assert isinstance(lost, DeviceLost)
    assert "plug it in again" in lost.advice
    assert pad.next_wake_ns is None
    assert pad.receive(down("/"), due) == []


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=400), st.integers(1, 50))
def test_any_bytes_of_a_port_are_survived(data: bytes, cut: int) -> None:
    pad = session()
    whole, pieces = KeyReader(), KeyReader()
    found: list[KeyRecord] = []
    for at in range(0, len(data), cut):
        found += pieces.feed(data[at : at + cut])
        pad.receive(data[at : at + cut], 11 * S)
    assert found == whole.feed(data)


# -- the port ------------------------------------------------------------------------------------


class FakePad:
    """An open input device as python-evdev shows it, on a pipe that wakes the loop."""

    def __init__(self) -> None:
        self.fd, self._wake = os.pipe2(os.O_NONBLOCK)
        self.name = "Fake Pad"
        self.grabbed = self.closed = False
        self.busy = self.gone = False
        self._events: list[SimpleNamespace] = []

    def grab(self) -> None:
        if self.busy:
            raise OSError(16, "busy")
        self.grabbed = True

    def read(self) -> Iterable[Any]:
        if self.gone:
            raise OSError(19, "no such device")
        os.read(self.fd, 4096)
        events, self._events = self._events, []
        return iter(events)

    def close(self) -> None:
        if not self.closed:
            self.closed = True
            os.close(self.fd)
            os.close(self._wake)

    def emit(self, kind: int, code: int, value: int) -> None:
        now = time.monotonic_ns()
        self._events.append(SimpleNamespace(sec=now // S, usec=now % S // 1000, type=kind, code=code, value=value))
        os.write(self._wake, b"x")

    def key(self, text: str) -> None:
        for c in text:
            for value in (1, 2, 0):
                self.emit(keys.EV_KEY, KEY_CODES[SYMBOLS[c]], value)
                self.emit(keys.EV_SYN, keys.SYN_REPORT, 0)

    def unplug(self) -> None:
        self.gone = True
        os.write(self._wake, b"x")


class Socket:
    """Where keypads are plugged in: `evdev.InputDevice` for the port under test."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.pad: FakePad | None = None
        monkeypatch.setattr(keys, "_open_source", self._open)

    def _open(self, path: str) -> FakePad:
        if self.pad is None or self.pad.gone:
            raise FileNotFoundError(2, "no such file", path)
        return self.pad


PAD = DeviceConfig("pad", "keypad", "/dev/input/by-id/usb-pad-event-kbd")


def test_unplugged_and_plugged_in_again(monkeypatch: pytest.MonkeyPatch) -> None:
    async def body() -> None:
        socket = Socket(monkeypatch)
        async with running(Room(PAD)) as room:
            room.sink = room.commits
            (lost,) = await room.until(lambda: room.of(DeviceLost))
            assert "Plug the keypad in" in lost.advice
            first = socket.pad = FakePad()
            await room.until(lambda: room.of(DeviceUp))
            assert first.grabbed, "keys must not leak into the desktop"
            first.key("800+")
            (press,) = await room.until(lambda: room.of(Press))
            assert (press.key, press.amount) == ("raise_to", 800)
            assert press.span.latest_ns - press.span.earliest_ns < 40 * MS
            first.key("50")
            await asyncio.sleep(0.02)
            gone = time.monotonic_ns()
            first.unplug()
            await room.until(lambda: len(room.of(DeviceLost)) == 2)
            assert time.monotonic_ns() - gone < S
            assert first.closed
            socket.pad = FakePad()
            await room.until(lambda: len(room.of(DeviceUp)) == 2)
            socket.pad.key("00+700+")
            await room.until(lambda: len(room.of(Press)) == 2)
            await asyncio.sleep(0.05)
        assert [(p.seq, p.amount) for p in room.of(Press)] == [(1, 800), (2, 700)], "half an amount is no amount"
        assert socket.pad.closed

    drive(body)


def test_a_sink_that_fails_costs_no_press(monkeypatch: pytest.MonkeyPatch) -> None:
    async def body() -> None:
        socket = Socket(monkeypatch)
        socket.pad = FakePad()
        room = Room(PAD)
        room.sink = room.commits
        take, failures = room.sink, []

        def sink(observation: AnyObservation) -> None:
            if isinstance(observation, Press) and len(failures) < 2:
                failures.append(observation)
                socket.pad = FakePad()  # reopened: a new handle
                raise OSError("disk full")
            take(observation)

        room.sink = sink
        async with running(room):
            await room.until(lambda: room.of(DeviceUp))
            socket.pad.key("/*")
            await room.until(lambda: len(room.of(Press)) == 2)
        assert [(p.seq, p.key) for p in room.of(Press)] == [(1, "fold"), (2, "check")]

    drive(body)


def test_a_grabbed_keypad_and_a_torn_buffer(monkeypatch: pytest.MonkeyPatch) -> None:
    async def body() -> None:
        socket = Socket(monkeypatch)
        socket.pad = FakePad()
        socket.pad.busy = True
        async with running(Room(PAD)) as room:
            (lost,) = await room.until(lambda: room.of(DeviceLost))
            assert "grabbed by another program" in lost.advice
            pad = socket.pad = FakePad()
            await room.until(lambda: room.of(DeviceUp))
            pad.key("8")
            pad.emit(keys.EV_SYN, keys.SYN_DROPPED, 0)
            pad.emit(keys.EV_KEY, KEY_CODES["KPPLUS"], 1)
            pad.emit(keys.EV_SYN, keys.SYN_REPORT, 0)
            pad.key("+")
            pad.key("900+")
            (press,) = await room.until(lambda: room.of(Press))
            assert press.amount == 900
            assert room.health("pad").counters.corrupt == 1

    drive(body)


def test_check_without_opening(tmp_path: Path) -> None:
    absent = keys.check("pad", KeysPort(str(tmp_path / "none")))
    assert absent is not None
    assert absent.absent
    (tmp_path / "file").touch()
    wrong = keys.check("pad", KeysPort(str(tmp_path / "file")))
    assert wrong is not None
    assert "by-id" in str(wrong)
    assert keys.check("pad", KeysPort("/dev/null")) is None


def test_something_else_is_no_keypad() -> None:
    pytest.importorskip("evdev", reason="python-evdev is not installed: the real port is not tested")

    async def body() -> None:
        async with running(Room(DeviceConfig("pad", "keypad", "/dev/null"))) as room:
            (lost,) = await room.until(lambda: room.of(DeviceLost))
            assert "is no input device" in lost.advice

    drive(body)


def test_a_real_kernel_keypad() -> None:
    evdev = pytest.importorskip("evdev", reason="python-evdev is not installed: the real port is not tested")
    if not os.access("/dev/uinput", os.W_OK):
        pytest.skip("no writable /dev/uinput here: the kernel's own key events are not tested")

    async def body() -> None:
        with evdev.UInput({evdev.ecodes.EV_KEY: list(KEY_CODES.values())}, name="tabled test pad") as pad:
            await asyncio.sleep(0.3)
            async with running(Room(DeviceConfig("pad", "keypad", pad.device.path))) as room:
                (up,) = await room.until(lambda: room.of(DeviceUp))
                assert up.model == "tabled test pad"
                before = time.monotonic_ns()
                for c in "800+":
                    for value in (1, 0):
                        pad.write(evdev.ecodes.EV_KEY, KEY_CODES[SYMBOLS[c]], value)
                        pad.syn()
                (press,) = await room.until(lambda: room.of(Press))
                assert (press.key, press.amount) == ("raise_to", 800)
                assert before <= press.span.latest_ns <= time.monotonic_ns()

    drive(body)
