"""The table in real time: devices on pseudo-terminals, people on the asyncio clock, the floor on MQTT."""

from __future__ import annotations

import asyncio
import json
import secrets
import sys
from pathlib import Path
from typing import IO, Any

import msgspec

from hw_sim.devices import Device
from hw_sim.devices.faults import NO_FAULTS, FaultPlan
from hw_sim.ears import Ears
from hw_sim.floor import FloorError, MqttFloor
from hw_sim.hands import Hand
from hw_sim.line_port import LinePort
from hw_sim.mishaps import NO_MISHAPS, MishapPlan, Mishaps
from hw_sim.people import HandRecord, Pace
from hw_sim.pty_port import PtyPort, now_ns
from hw_sim.script import Script, Sleep
from hw_sim.sloppy import Manners, invite
from hw_sim.starter import driver_options, parts, whole
from hw_sim.table import DRIVERS, SimTable, TableOptions
from hw_sim.tcp_port import TcpPort

MAX_LINE = 1 << 16


class LiveOptions(msgspec.Struct, frozen=True, kw_only=True):
    """What the command line says."""

    rundir: Path
    site: str = "demo"
    table: str = "t1"
    pace: Pace = Pace()
    hardware: TableOptions = TableOptions()
    faults: FaultPlan = NO_FAULTS
    mishaps: MishapPlan = NO_MISHAPS
    manners: Manners | None = None
    mqtt: tuple[str, int] | None = None
    broker_patience_s: float = 0.0
    """How long to wait for that broker to be there."""


async def run_script(script: Script, news: asyncio.Event) -> None:
    """Drive a people script on the real clock; ``news`` is set whenever something was heard."""
    loop = asyncio.get_running_loop()
    try:
        wait = next(script)
        while True:
            if isinstance(wait, Sleep):
                await asyncio.sleep(wait.ns / 1e9)
                wait = script.send(True)
                continue
            deadline = loop.time() + wait.ns / 1e9
            while not (met := wait.ready()) and (left := deadline - loop.time()) > 0:
                news.clear()
                try:
                    await asyncio.wait_for(news.wait(), left)
                except TimeoutError:
                    continue
            wait = script.send(met)
    except StopIteration:
        return


async def stdin_reader() -> asyncio.StreamReader:
    """Standard input as a stream, so that its end stops the simulation."""
    reader = asyncio.StreamReader(limit=MAX_LINE)
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    return reader


def say(message: dict[str, Any]) -> None:
    """One JSON line to whoever started us."""
    print(json.dumps(message), flush=True)


def parse_answer(line: bytes) -> dict[str, Any]:
    """The starter's answer: ``{"mqtt": {"host", "port", "username"?, "password"?}}``."""
    try:
        mqtt = json.loads(line)["mqtt"]
        return {
            "host": str(mqtt["host"]),
            "port": int(mqtt["port"]),
            "username": mqtt.get("username"),
            "password": mqtt.get("password"),
        }
    except (ValueError, KeyError, TypeError, AttributeError) as e:
        raise FloorError(
            f'the answer on standard input is not {{"mqtt":{{"host":…,"port":…}}}} ({type(e).__name__}: {e})'
        ) from e


class LiveTable:
    """Owns ports, logs and people of one run."""

    def __init__(self, hands: list[Hand], options: LiveOptions) -> None:
        self.hands, self.options = hands, options
        options.rundir.mkdir(parents=True, exist_ok=True)
        self._truth: IO[str] = (options.rundir / "truth.jsonl").open("w", encoding="utf-8", buffering=1)
        self.table = SimTable(hands, options.hardware, sink=self._write, start_ns=now_ns())
        self.chips = options.rundir / "chips.csv"
        self.table.write_chips(self.chips)
        devices: dict[str, Device] = {**self.table.readers, "panel": self.table.panel}
        self.ports: dict[str, LinePort] = {
            name: self._port(name, device, salt) for salt, (name, device) in enumerate(devices.items(), start=1)
        }
        self.mishaps = Mishaps(options.mishaps, self.table, seed=options.hardware.seed, start_ns=now_ns())
        self.records: list[HandRecord] = []

    def _port(self, name: str, device: Device, salt: int) -> LinePort:
        o = self.options
        seed = o.hardware.seed + salt
        if o.hardware.reader == "feig-tcp" and name != "panel":
            return TcpPort(device, faults=o.faults, seed=seed)
        return PtyPort(device, faults=o.faults, seed=seed, link=o.rundir / f"by-id-{name}")

    def _write(self, line: str) -> None:
        self._truth.write(line + "\n")

    def announce(self) -> dict[str, Any]:
        """Plug the ports in; what the starter must know."""
        devices: list[dict[str, Any]] = []
        for name, port in self.ports.items():
            path = port.plug()
            if self.options.mishaps.unplug_every_s and isinstance(port, PtyPort):
                path = str((self.options.rundir / f"by-id-{name}").absolute())  # the name that survives
            if name == "panel":
                devices.append({"id": name, "driver": "panel", "port": path})
                continue
            driver = DRIVERS[self.options.hardware.reader]
            device = {"id": name, "driver": driver, "port": path, "antennas": self.table.antennas(name)}
            needed = driver_options(self.options.hardware)
            devices.append({**device, "options": needed} if needed else device)
        return {"devices": devices, "chips": str(self.chips.resolve()), "seats": list(self.table.seats)}

    def instruct(self, facts: dict[str, Any]) -> None:
        """What belongs into a person's ``table.toml``, and a whole one beside the chips."""
        o = self.options
        assert o.mqtt is not None, "only where the broker was named on the command line"
        begin = o.rundir / "table.toml"
        begin.write_text(whole(facts, o.rundir, o.site, o.table, o.mqtt), encoding="utf-8")
        print(f"\n# for your own table.toml; {begin} is a whole one to begin with\n")
        print(parts(facts, o.rundir), flush=True)

    async def deal(self, host: str, port: int, username: str | None = None, password: str | None = None) -> None:
        """Play all hands; ``records`` grows as they end."""
        ears, news = Ears(), asyncio.Event()
        floor = MqttFloor(
            ears,
            site=self.options.site,
            table=self.options.table,
            news=news.set,
            username=username,
            password=password,
        )
        people = invite(
            self.options.manners,
            self.table,
            floor,
            ears,
            now=now_ns,
            kick=self.ports["panel"].kick,
            pace=self.options.pace,
            seed=self.options.hardware.seed,
            session=f"sim-{secrets.token_hex(4)}",
        )
        self.records = people.records
        trouble = asyncio.create_task(self._trouble())
        try:
            await floor.connect(host, port, patience_s=self.options.broker_patience_s, tell=_complain)
            with (self.options.rundir / "results.jsonl").open("wb", buffering=0) as results:
                for hand in self.hands:
                    await run_script(people.hand(hand), news)
                    results.write(msgspec.json.encode(people.records[-1]) + b"\n")
        finally:
            if trouble.done():
                trouble.result()
            trouble.cancel()
            self.mishaps.mend({n: p for n, p in self.ports.items() if not p.plugged})
            floor.close()
            for complaint in ears.complaints[:20]:
                print(f"hw_sim: could not read what was published: {complaint}", file=sys.stderr)

    async def _trouble(self) -> None:
        """Let mishaps happen when they are due."""
        while (due := self.mishaps.next_ns()) is not None:
            await asyncio.sleep(max(0.0, (due - now_ns()) / 1e9))
            self.mishaps.happen(now_ns(), self.ports)
            for port in self.ports.values():
                port.kick()

    def close(self) -> None:
        """Unplug everything."""
        for port in self.ports.values():
            port.close()
        self._truth.close()

    def summary(self) -> dict[str, Any]:
        """The last line of a run."""
        said: dict[str, Any] = {
            "done": True,
            "hands": len(self.records),
            "discrepancies": sum(len(r.discrepancies) for r in self.records),
        }
        counts: dict[str, int] = dict(self.mishaps.counts)
        for port in self.ports.values():
            for what, n in port.fault_counts().items():
                counts[what] = counts.get(what, 0) + n
        return said | ({"faults": counts} if counts else {})


async def run(hands: list[Hand], options: LiveOptions) -> int:
    """The whole run, from the first line on standard output to the last; 0 if nothing differed."""
    live = LiveTable(hands, options)
    try:
        facts = live.announce()
        say(facts)
        if options.mqtt is not None:
            live.instruct(facts)
            answer: dict[str, Any] = {"host": options.mqtt[0], "port": options.mqtt[1]}
            leaving = asyncio.create_task(_for_ever())
        else:
            stdin = await stdin_reader()
            line = await stdin.readline()
            if not line:
                return 0
            answer = parse_answer(line)
            leaving = asyncio.create_task(_end_of(stdin))
        dealing = asyncio.create_task(live.deal(**answer))
        done, _ = await asyncio.wait((dealing, leaving), return_when=asyncio.FIRST_COMPLETED)
        if dealing not in done:
            dealing.cancel()
            await asyncio.gather(dealing, return_exceptions=True)
            say({**live.summary(), "done": False})
            return 0
        dealing.result()
        say(live.summary())
        await leaving  # the hardware stays plugged in for as long as somebody wants the table
        return 1 if live.summary()["discrepancies"] else 0
    finally:
        live.close()


def _complain(text: str) -> None:
    print(f"hw_sim: {text}", file=sys.stderr, flush=True)


async def _for_ever() -> None:
    await asyncio.Event().wait()


async def _end_of(stdin: asyncio.StreamReader) -> None:
    while await stdin.read(4096):
        pass
