"""Tables with other readers, with two, with copied chips; cables pulled, restarts, faults; TCP."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import AsyncIterator
from pathlib import Path
from random import Random
from typing import Any

import pytest

from hw_sim.devices.faults import FaultPlan, FaultTextError, parse_faults
from hw_sim.devices.feig import FeigReader
from hw_sim.generate import generate_hands
from hw_sim.memory import MemoryTable
from hw_sim.mishaps import MishapPlan, Mishaps
from hw_sim.people import Pace
from hw_sim.table import SimTable, TableOptions
from hw_sim.tcp_port import TcpPort
from hw_sim.world import TRAY, Spot, make_chips, with_clones
from tests.sim.hosts import Oracle, feig
from tests.sim.test_ascii_and_mux_readers import pepper
from tests.sim.test_feig_modes_and_air import adv
from tests.sim.test_live import ROOT, finish, line, start
from tests.sim.test_pty import opened

MS = 1_000_000
S = 1000 * MS
UID = "E0040150A05F02B7"


# -- tables ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "readers", "antennas"),
    [
        ("feig", 1, {"reader": ("1", "10")}),
        ("feig-tcp", 2, {"reader-a": ("1", "5"), "reader-b": ("1", "5")}),
        ("metratec", 1, {"reader": ("1", "10")}),
        ("pepper", 2, {"reader-a": ("1", "5"), "reader-b": ("1", "5")}),
    ],
)
def test_seats_are_split_over_readers_and_named_from_one(kind, readers, antennas):
    table = SimTable(generate_hands(1, 1), TableOptions(reader=kind, readers=readers))
    assert list(table.readers) == list(antennas)
    places = []
    for name, (first, last) in antennas.items():
        named = table.antennas(name)
        assert (next(iter(named)), list(named)[-1]) == (first, last)
        places += list(named.values())
    assert places == [f"bet:{n}" for n in range(1, 11)]


def test_each_kind_of_reader_sees_the_chip_on_its_seat():
    asks = {
        "feig": [feig("ff dd 00 03 00"), feig("ff b0 01 00")],
        "metratec": [b"SRI SS 100\r", b"SAP MAN 2\r", b"INV\r"],
        "pepper": [pepper("0f03"), pepper("90")],
    }
    for kind, requests in asks.items():
        table = SimTable(generate_hands(1, 1), TableOptions(reader=kind, seats=8))
        chip = table.world.at(TRAY)[0]
        table.world.move([chip], TRAY, Spot("bet", "3"), 0, "test")
        said = b""
        for request in requests:
            table.reader.feed(request, 0)
            said = table.reader.poll(0)
        uid = bytes.fromhex(chip.uid)
        assert any(x in said for x in (uid, uid[::-1], chip.uid.encode())), kind


def test_copied_chips_share_a_uid_and_are_two_chips():
    chips = with_clones(make_chips({25: 30, 100: 30}, Random(1)), 4, Random(2))
    assert len(chips) == 60
    assert len({c.uid for c in chips}) == 56
    worth = {c.uid: c.denomination for c in chips}
    assert all(worth[c.uid] == c.denomination for c in chips)
    assert sorted(c.mark for c in chips if c.mark) == [1, 2, 3, 4]
    assert len({c.name for c in chips}) == 60


def test_the_registry_has_one_row_a_uid(tmp_path: Path):
    table = SimTable(generate_hands(1, 1), TableOptions(clones=3))
    table.write_chips(tmp_path / "chips.csv")
    rows = (tmp_path / "chips.csv").read_text().splitlines()[1:]
    assert len(rows) == len(set(rows)) == len(table.world.chips) - 3
    table.world.check()


def test_two_readers_play_an_honest_hand():
    class TwoReaders(Oracle):
        def look(self, antenna: int) -> set[str]:
            half = (len(self.sim.table.seats) + 1) // 2
            second = antenna > half
            self.ports_at = "reader-b" if second else "reader-a"
            seen = super().look(antenna - half if second else antenna)
            for mux in range(2):  # the field off again: the neighbour is asked next
                assert self.ask(feig(f"ff dd {mux:02x} 00 00"))[3] == 0
            return seen

        def ask(self, request: bytes) -> bytes:
            self.sim.ports["reader"] = self.sim.ports[self.ports_at]
            try:
                return super().ask(request)
            finally:
                del self.sim.ports["reader"]

    hands = generate_hands(3, 2)
    sim = MemoryTable(hands, options=TableOptions(readers=2, real_rf=True), pace=Pace(speed=10.0))
    TwoReaders(sim).run(hands)
    assert [r.discrepancies for r in sim.people.records] == [[], []]
    assert not any(r.counts.get("clash") or r.counts.get("carrier near") for r in sim.table.readers.values())


# -- faults and mishaps ---------------------------------------------------------------------------


def test_faults_are_read_from_one_word():
    plan = parse_faults("drop=0.001,dup=0.01,corrupt=0.002,split=0.5,stall=0.1,stall_ms=250")
    assert plan == FaultPlan(drop=0.001, duplicate=0.01, corrupt=0.002, split=0.5, stall=0.1, stall_ms=250.0)
    assert parse_faults("") == FaultPlan()
    for text, says in (("drap=1", "no fault 'drap'"), ("drop", "needs a number"), ("drop=2", "out of bounds")):
        with pytest.raises(FaultTextError, match=says):
            parse_faults(text)


def test_mishaps_follow_from_their_seed_and_are_in_the_truth():
    def trouble(seed: int) -> list[dict[str, Any]]:
        lines: list[str] = []
        plan = MishapPlan(unplug_every_s=4.0, reboot_every_s=5.0, panel_reset_every_s=6.0)
        sim = MemoryTable(
            generate_hands(3, 1), options=TableOptions(seed=seed, readers=2), mishaps=plan, sink=lines.append
        )
        while sim.now_ns < 60 * S:
            sim.advance(sim.now_ns + S // 3)
        return [t for t in map(json.loads, lines) if t["what"] == "mishap"]

    told = trouble(1)
    assert told == trouble(1) != trouble(2)
    kinds = [t["kind"] for t in told]
    assert set(kinds) == {"unplug", "replug", "reboot", "panel_reset"}
    assert abs(kinds.count("unplug") - kinds.count("replug")) <= 1
    assert {t["device"] for t in told} == {"reader-a", "reader-b", "panel"}
    outs = {t["device"]: t["ns"] for t in told if t["kind"] == "unplug"}
    backs = [(t["ns"] - outs[t["device"]]) / S for t in told if t["kind"] == "replug" and t["ns"] > outs[t["device"]]]
    assert all(0.49 <= b <= 3.01 for b in backs)


def test_a_restart_makes_a_reader_deaf_and_an_unplugged_port_loses_everything():
    sim = MemoryTable(generate_hands(3, 1))
    port = sim.ports["reader"]
    plan = Mishaps(MishapPlan(reboot_every_s=0.5), sim.table, seed=1, start_ns=0)
    first = plan.next_ns()
    assert first is not None
    assert [m.what for m in plan.happen(first, sim.ports)] == ["reboot"]
    port.write(feig("ff 69"), first + MS)
    assert port.read(first + 500 * MS) == b""
    port.write(feig("ff 69"), first + 700 * MS)
    assert port.read(first + 700 * MS).hex() == feig("00 69 00").hex()
    port.write(feig("ff 69"), first + 701 * MS)
    port.unplug()
    assert port.read(first + 800 * MS) == b""
    plan = Mishaps(MishapPlan(unplug_every_s=0.5), sim.table, seed=1, start_ns=0)
    plan.happen(60 * S, sim.ports)
    plan.mend(sim.ports)
    assert plan.next_ns() is None
    assert all(p.plugged for p in sim.ports.values())


# -- TCP ------------------------------------------------------------------------------------------


@contextlib.asynccontextmanager
async def plugged(port: TcpPort) -> AsyncIterator[TcpPort]:
    port.plug()
    try:
        yield port
    finally:
        port.close()


async def call(port: TcpPort) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    return await asyncio.open_connection("127.0.0.1", int(port.path.rpartition(":")[2]))


def test_advanced_frames_cross_a_socket_and_one_host_is_served_at_a_time():
    async def scene() -> None:
        async with plugged(TcpPort(FeigReader(lambda a: [UID] if a == 1 else []))) as port:
            reader, writer = await call(port)
            writer.write(adv("ff dd 00 01 00") + adv("ff b0 01 00"))
            assert (await reader.readexactly(8)).hex() == adv("00 dd 00").hex()
            assert (await reader.readexactly(19))[9:17].hex().upper() == UID
            second, other = await call(port)
            assert await asyncio.wait_for(second.read(), 3) == b""
            other.close()
            assert port.turned_away == 1
            writer.close()
            await asyncio.sleep(0.05)
            assert not port.is_open
            reader, writer = await call(port)
            writer.write(adv("ff 65"))
            assert (await reader.readexactly(15)).hex() == "02000f00650003030044530d307469"
            writer.close()
            assert port.opened == 2

    asyncio.run(scene())


def test_a_pulled_network_cable_resets_the_connection_and_comes_back_at_the_same_address():
    async def scene() -> None:
        async with plugged(TcpPort(FeigReader(lambda _: []))) as port:
            path = port.path
            reader, writer = await call(port)
            port.unplug()
            with pytest.raises(ConnectionResetError):
                await asyncio.wait_for(reader.readexactly(1), 3)
            writer.close()
            with pytest.raises(OSError, match=r"."):
                await call(port)
            assert port.replug() == path
            reader, writer = await call(port)
            writer.write(adv("ff 69"))
            assert (await reader.readexactly(8)).hex() == adv("00 69 00").hex()
            writer.close()

    asyncio.run(scene())


def test_notifications_reach_whoever_is_connected_and_nobody_else():
    async def scene() -> None:
        device = FeigReader(lambda a: [UID] if a == 1 else [], antennas=2, mode="notify", valid_ms=200)
        async with plugged(TcpPort(device)) as port:
            await asyncio.sleep(0.3)
            reader, writer = await call(port)
            told = await asyncio.wait_for(reader.readexactly(9 + 18 + 2), 3)
            assert (told[0], told[4], told[14:22].hex().upper()) == (2, 0x22, UID)
            writer.close()

    asyncio.run(scene())


# -- the command ----------------------------------------------------------------------------------


def test_readers_on_tcp_and_two_of_them_are_announced_and_answer(tmp_path: Path):
    sim = start(tmp_path, "--generate", "--hands", "1", "--seats", "10", "--reader", "feig-tcp", "--readers", "2")
    said = line(sim.stdout)
    assert [d["id"] for d in said["devices"]] == ["reader-a", "reader-b", "panel"]
    for device in said["devices"][:2]:
        assert (device["driver"], len(device["antennas"])) == ("feig", 5)
        host, _, port = device["port"].removeprefix("tcp://").partition(":")
        with socket.create_connection((host, int(port)), 5) as s:
            s.sendall(adv("ff 65"))
            assert s.recv(100).hex() == "02000f00650003030044530d307469"
    assert finish(sim) == (0, "")


@pytest.mark.parametrize("kind", ["metratec", "pepper"])
def test_other_readers_on_a_pseudo_terminal(tmp_path: Path, kind: str):
    sim = start(tmp_path, "--generate", "--hands", "1", "--seats", "8", "--only", "sim-0", "--reader", kind)
    said = line(sim.stdout)
    fd = opened(said["devices"][0]["port"])
    os.write(fd, b"REV\r" if kind == "metratec" else pepper("0b"))
    got, end = b"", time.monotonic() + 5
    while not got and time.monotonic() < end:
        time.sleep(0.05)
        with contextlib.suppress(BlockingIOError):
            got += os.read(fd, 100)
    assert b"QUASARMX" in got or b"C1-MUX" in got
    os.close(fd)
    assert finish(sim) == (0, "")


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--fault", "drap=1"), "no fault 'drap'"),
        (("--quirks", "slow"), "no quirk 'slow'"),
        (("--reader", "pepper", "--generate", "--seats", "10"), "add --readers 2"),
        (("--people", "sloppy", "--sloppiness", "2"), "between 0 and 1"),
        (("--unplug-every", "-1"), "not below 0"),
    ],
)
def test_what_cannot_be_is_one_clear_line(tmp_path: Path, arguments: tuple[str, ...], says: str):
    command = [sys.executable, "-m", "hw_sim", "--rundir", str(tmp_path), *arguments]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, timeout=20, check=False, input=b"")
    assert done.returncode == 2
    assert says in done.stderr.decode()
    assert b"Traceback" not in done.stderr


def test_with_cables_pulled_the_name_that_survives_is_announced(tmp_path: Path):
    sim = start(tmp_path, "--generate", "--hands", "1", "--unplug-every", "1", "--fault", "drop=0.1")
    reader = line(sim.stdout)["devices"][0]
    assert reader["port"] == str(tmp_path / "by-id-reader")
    assert Path(reader["port"]).is_symlink()
    assert finish(sim) == (0, "")
