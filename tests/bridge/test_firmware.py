"""The reference panel core in C, against PROTOCOL.md's bytes and against the real bridge."""

from __future__ import annotations

import asyncio
import os
import random
import re
import shutil
import subprocess
import time
import tty
from pathlib import Path

import pytest

from firmware_bridge.framing.panel import PanelDecoder
from firmware_bridge.supervisor import DeviceConfig
from firmware_bridge.wire import KEYS, DeviceUp, Press, Restarted
from tests.bridge.panel_host import FIRMWARE, STRICT, PanelProgram, Relay, bad_cable, build, compiler
from tests.bridge.peers import cobs_decode, cobs_encode, crc16, panel_frame
from tests.bridge.rig import Room, drive, running

PROTOCOL = FIRMWARE.parent / "PROTOCOL.md"
EXAMPLE = re.compile(r"^\d+\. (?P<name>[A-Z_]+), .*?\n\n```\n(?P<block>.*?)```", re.MULTILINE | re.DOTALL)


def examples() -> list[tuple[str, bytes, bytes, bytes]]:
    """Name, body, checksum and wire bytes of each worked example in the text."""
    found = []
    for match in EXAMPLE.finditer(PROTOCOL.read_text()):
        fields = dict(re.findall(r"^(body|crc|wire) +((?:[0-9a-f]{2}\s+)+)", match["block"], re.MULTILINE))
        body, crc, wire = (bytes.fromhex(fields[name]) for name in ("body", "crc", "wire"))
        found.append((match["name"], body, crc, wire))
    return found


@pytest.fixture(scope="session")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("panel"))


def config(path: object) -> DeviceConfig:
    return DeviceConfig("panel", "panel", str(path))


class Wire:
    """The host's end of the program's terminal, by hand."""

    def __init__(self, path: str) -> None:
        self.fd = os.open(path, os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK)
        tty.setraw(self.fd)
        self.heard = b""

    def __del__(self) -> None:
        os.close(self.fd)

    def say(self, data: bytes) -> None:
        while data:
            try:
                data = data[os.write(self.fd, data) :]
            except BlockingIOError:
                time.sleep(0.002)
                self.listen()

    def listen(self) -> None:
        try:
            self.heard += os.read(self.fd, 65536)
        except BlockingIOError:
            time.sleep(0.002)

    def frame(self, kind: int, seconds: float = 45.0) -> bytes:
        """Wire bytes of the next frame of that type, without what came before it."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            while b"\x00" in self.heard:
                piece, _, self.heard = self.heard.partition(b"\x00")
                if cobs_decode(piece)[1:2] == bytes((kind,)):
                    return piece + b"\x00"
            self.listen()
        raise AssertionError(f"no frame of type {kind:#x} in {seconds} s")


def test_the_worked_examples_are_true() -> None:
    found = examples()
    assert [name for name, *_ in found] == [
        *("HELLO_REQUEST", "HELLO", "HEARTBEAT", "PRESS", "PING", "PONG", "ACK", "PRESS", "HELLO", "PRESS"),
    ]
    for _, body, crc, wire in found:
        assert crc == crc16(body)
        assert wire == cobs_encode(body + crc) + b"\x00"
        (frame,) = PanelDecoder().feed(wire)
        assert bytes((1, frame.kind)) + frame.seq.to_bytes(2, "little") == body[:4]
        assert (frame.payload, frame.boot) == (body[12:], int.from_bytes(body[8:12], "little"))


def test_the_core_says_the_worked_examples_byte_for_byte(program: Path) -> None:
    request, hello, beat, press, ping, pong, ack, press2, hello2, press2_again = (wire for *_, wire in examples())
    panel = PanelProgram(program, "--boot", "1234ABCD", "--frozen", "--tick0", "1000000")
    wire = Wire(panel.path)
    assert wire.frame(1) == hello
    panel.tell("tick 2000000")
    assert wire.frame(2) == beat
    panel.tell("tick 2500000")
    assert panel.press(6, amount=800) == (0x1234ABCD, 1)
    assert wire.frame(3) == press
    panel.tell("tick 2600000")
    wire.say(ping)
    assert wire.frame(4) == pong
    wire.say(ack)
    while panel.state()["pending"]:
        time.sleep(0.005)
    panel.tell("tick 2700000")
    assert panel.press(3, seat=3, flags=1) == (0x1234ABCD, 2)
    assert wire.frame(3) == press2
    panel.tell("tick 100")
    assert panel.tell("reset 5EED0001") == ["reset", "5eed0001", "restored", "1"]
    assert wire.frame(1) == hello2
    assert wire.frame(3) == press2_again
    wire.say(request)
    assert cobs_decode(wire.frame(1)[:-1])[12:-2] == cobs_decode(hello2[:-1])[12:-2]
    panel.stop()


def test_the_headers_numbers_are_the_texts() -> None:
    header = (FIRMWARE / "panel_core.h").read_text()
    keys = re.search(r"enum panel_key \{(.*?)\}", header, re.DOTALL)
    assert keys is not None
    names = re.findall(r"PANEL_KEY_(\w+)", keys[1].partition("PANEL_KEY_LAST")[0])
    assert [{"A": "key_a", "B": "key_b"}.get(n, n.lower()) for n in names] == list(KEYS)
    assert "#define PANEL_SCHEMA_HASH 0x7AB1ED01u" in header


def test_the_queue_is_bounded_and_what_it_refuses_is_told(program: Path) -> None:
    panel = PanelProgram(program)
    wire = Wire(panel.path)
    assert [panel.press(amount=n)[1] for n in range(20)] == [*range(1, 17), 0, 0, 0, 0]
    assert panel.press(key=0)[1] == panel.press(key=19)[1] == panel.press(flags=2)[1] == panel.press(seat=11)[1] == 0
    state = panel.state()
    assert (state["pending"], state["lost"], state["bad_key"]) == (16, 4, 4)
    first = [cobs_decode(wire.frame(3)[:-1]) for _ in range(16)]
    assert [int.from_bytes(body[16:18], "little") for body in first] == list(range(1, 17)), "oldest first"
    again = [cobs_decode(wire.frame(3)[:-1]) for _ in range(16)]
    assert sorted(b[12:-2] for b in again) == sorted(b[12:-2] for b in first)
    assert cobs_decode(wire.frame(2)[:-1])[12:14] == bytes((16, 4))
    for n in (5, 1, 16):
        wire.say(panel_frame(0x82, (0xB007).to_bytes(4, "little") + n.to_bytes(2, "little")))
    wire.say(panel_frame(0x82, (0xB008).to_bytes(4, "little") + (2).to_bytes(2, "little")))
    body = bytes((1, 0x82, *bytes(10))) + (0xB007).to_bytes(4, "little") + b"\x02\x00"
    wire.say(cobs_encode(body + b"\x12\x34") + b"\x00")  # a wrong checksum
    wire.say(panel_frame(0x83, b"done"))
    wire.frame(4)
    assert panel.state()["pending"] == 13
    assert panel.press()[1] == 17
    panel.stop()


def test_act_numbers_run_out_before_they_repeat(program: Path) -> None:
    panel = PanelProgram(program, "--acts", "64998")
    assert (panel.press()[1], panel.state()["worn"]) == (64999, 0)
    assert (panel.press()[1], panel.state()["worn"]) == (65000, 1)
    panel.tell("reset 77")
    assert panel.press() == (0x77, 1)
    assert (panel.state()["worn"], panel.state()["pending"]) == (0, 3)
    panel.stop()
    deaf = PanelProgram(program, "--acts", "65534")  # whoever does not look at panel_worn
    assert [deaf.press()[1] for _ in range(3)] == [65535, 0, 0]
    assert deaf.state()["lost"] == 2
    deaf.stop()


def test_the_core_needs_no_library_but_memory_moves(tmp_path: Path) -> None:
    made = tmp_path / "core.o"
    source = str(FIRMWARE / "panel_core.c")
    subprocess.run([compiler(), *STRICT, "-Os", "-ffreestanding", "-c", source, "-o", str(made)], check=True)
    nm = shutil.which("nm")
    if nm is None:
        pytest.skip("no nm (binutils): what the core links against is not checked")
    listed = subprocess.run([nm, "-u", str(made)], capture_output=True, check=True, text=True).stdout
    needed = {line.split()[-1] for line in listed.splitlines()} - {"_GLOBAL_OFFSET_TABLE_", "__stack_chk_fail"}
    assert needed <= {"memset", "memcpy", "memmove"}


def test_no_bytes_can_hurt_it(program: Path) -> None:
    panel = PanelProgram(program)
    wire = Wire(panel.path)
    chance = random.Random(11)
    good = [panel_frame(0x81), panel_frame(0x82, bytes(6)), panel_frame(0x83, b"abcd")]
    for n in range(400):
        piece = chance.randbytes(chance.randrange(400))
        if n % 3 == 0:  # well-formed frames of any type and length
            piece = panel_frame(chance.randrange(256), chance.randbytes(chance.randrange(230)), ver=1 + n % 2)
        elif n % 3 == 1:  # nearly good frames
            broken = bytearray(chance.choice(good))
            broken[chance.randrange(len(broken))] ^= 1 << chance.randrange(8)
            piece = bytes(broken)
        wire.say(piece + b"\x00")
        wire.listen()
    wire.say(b"\x00" + panel_frame(0x83, b"okay", ver=2) + panel_frame(0x83, b"okay"))
    while cobs_decode(wire.frame(4)[:-1])[12:16] != b"okay":
        pass
    state = panel.state()
    assert min(state["garbage"], state["version"], state["unknown"]) > 50
    panel.stop()


def test_retained_memory_that_holds_anything_is_no_press(program: Path, tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    kept.write_bytes(b"\xa5" * 4096)
    panel = PanelProgram(program, "--retain", str(kept))
    assert panel.state()["pending"] == 0
    panel.press(amount=1)
    panel.press(9, seat=4, amount=25_000)
    wire = Wire(panel.path)
    made = [cobs_decode(wire.frame(3)[:-1])[12:-2] for _ in range(2)]
    panel.kill()
    whole = kept.read_bytes()
    # A reset that cut a slot's writing short: whichever bit is wrong, a press is there as it was made or not at all.
    used = [at for at, byte in enumerate(whole) if byte not in (0, 0xA5)]
    outcomes = set()
    for at in used:
        kept.write_bytes(bytes(byte ^ (0x10 if n == at else 0) for n, byte in enumerate(whole)))
        panel = PanelProgram(program, "--retain", str(kept), "--boot", "C0DE")
        restored = panel.state()["restored"]
        wire = Wire(panel.path)
        assert all(cobs_decode(wire.frame(3)[:-1])[12:-2] in made for _ in range(restored))
        outcomes.add(restored)
        panel.kill()
    assert 1 in outcomes
    kept.write_bytes(whole)
    panel = PanelProgram(program, "--retain", str(kept), "--boot", "C0DE")
    assert panel.state()["restored"] == 2
    panel.stop()


def test_the_bridge_reads_it_and_its_clock(program: Path, tmp_path: Path) -> None:
    async def body() -> None:
        # 2 s before the tick wraps, and a crystal that runs 180 ppm fast
        panel = PanelProgram(program, "--tick0", str((1 << 32) - 2_000_000), "--drift", "180", "--model", "desk 1")
        link = tmp_path / "panel"
        link.symlink_to(panel.path)
        pressed: dict[tuple[int, int], tuple[int, int]] = {}
        async with running(Room(config(link))) as room:
            room.sink = room.commits
            (up,) = await room.until(lambda: room.of(DeviceUp))
            assert (up.model, up.firmware, up.boot) == ("desk 1", "1.0", 0xB007)
            await room.until(lambda: room.health("panel").figures.clock_ns is not None)
            for n in range(30):
                before = time.monotonic_ns()
                name = panel.press(6, seat=n % 11, flags=n % 2, amount=n * 10**13)
                pressed[name] = (before, time.monotonic_ns())
                await asyncio.sleep(0.1)
            await room.until(lambda: len(room.of(Press)) >= 30)
            await room.until(lambda: panel.state()["pending"] == 0)
            health = room.health("panel")
        assert [(p.boot, p.seq) for p in room.of(Press)] == list(pressed)
        for n, press in enumerate(room.of(Press)):
            assert (press.key, press.seat, press.said_first, press.amount) == (
                "raise_to",
                n % 11,
                n % 2 == 1,
                n * 10**13,
            )
            before, after = pressed[(press.boot, press.seq)]
            assert press.span.earliest_ns - 5_000 <= after
            assert press.span.latest_ns + 5_000 >= before
            assert press.span.latest_ns - press.span.earliest_ns < 300_000_000
        assert health.figures.drift_ppm is not None
        assert (health.counters.garbage, health.counters.restarts, len(room.of(Restarted))) == (0, 0, 0)
        panel.stop()

    drive(body)


@pytest.mark.parametrize("seed", [1, 2])
def test_presses_cross_a_bad_cable_and_kills_once_each(program: Path, tmp_path: Path, seed: int) -> None:
    """Bytes lost, doubled and flipped both ways; the panel killed with presses waiting; the tick wraps."""

    async def body() -> None:
        chance = random.Random(seed)
        relay = Relay(tmp_path / "panel")
        relay.mangle = bad_cable(seed, 0.004)
        kept = tmp_path / "kept"
        taken: dict[tuple[int, int], int] = {}
        panel: PanelProgram | None = None
        async with running(Room(config(relay.link))) as room:
            room.sink = room.commits
            for life in range(4):
                options = ("--boot", f"{seed}0{life}A", "--retain", str(kept), "--tick0", str((1 << 32) - 1_500_000))
                panel = PanelProgram(program, *options)
                relay.connect(panel.path)
                for n in range(6):
                    name = panel.press(chance.randrange(1, 19), amount=100 * life + n)
                    if name[1]:
                        assert name not in taken
                        taken[name] = 100 * life + n
                    await asyncio.sleep(chance.random() * 0.15)
                state = panel.state()
                assert state["restored"] >= bool(life), "the press before the kill was kept"
                if life < 3:
                    taken[panel.press(amount=100 * life + 50)] = 100 * life + 50
                    panel.kill()
            assert panel is not None
            await room.until(lambda: {(p.boot, p.seq) for p in room.of(Press)} == set(taken))
            await room.until(lambda: panel.state()["pending"] == 0)
            counters = room.health("panel").counters
        assert sorted((p.boot, p.seq) for p in room.of(Press)) == sorted(taken), "each once"
        assert {(p.boot, p.seq): p.amount for p in room.of(Press)} == taken
        assert counters.garbage > 0
        assert {r.boot for r in room.of(Restarted)} >= {int(f"{seed}03A", 16)}
        panel.stop()
        relay.close()

    drive(body)
