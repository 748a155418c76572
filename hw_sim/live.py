"""The table in real time: devices on pseudo-terminals, people on the asyncio clock, the floor on MQTT."""

from __future__ import annotations

import asyncio
import json
import secrets
import sys
from pathlib import Path
from typing import IO, Any

import msgspec

from hw_sim.devices.faults import NO_FAULTS, FaultPlan
from hw_sim.ears import Ears
from hw_sim.floor import FloorError, MqttFloor
from hw_sim.hands import Hand
from hw_sim.people import HandRecord, Pace, People
from hw_sim.pty_port import PtyPort, now_ns
from hw_sim.script import Script, Sleep
from hw_sim.table import SimTable, TableOptions

MAX_LINE = 1 << 16


class LiveOptions(msgspec.Struct, frozen=True, kw_only=True):
    """What the command line says."""

    rundir: Path
    site: str = "demo"
    table: str = "t1"
    pace: Pace = Pace()
    hardware: TableOptions = TableOptions()
    faults: FaultPlan = NO_FAULTS


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
        seed = options.hardware.seed
        self.reader = PtyPort(
            self.table.reader, faults=options.faults, seed=seed + 1, link=options.rundir / "by-id-reader"
        )
        self.panel = PtyPort(
            self.table.panel, faults=options.faults, seed=seed + 2, link=options.rundir / "by-id-panel"
        )
        self.records: list[HandRecord] = []

    def _write(self, line: str) -> None:
        self._truth.write(line + "\n")

    def announce(self) -> dict[str, Any]:
        """Plug the ports in; what the starter must know."""
        devices = [
            {"id": "reader", "driver": "feig", "port": self.reader.plug(), "antennas": self.table.antennas()},
            {"id": "panel", "driver": "panel", "port": self.panel.plug()},
        ]
        return {"devices": devices, "chips": str(self.chips.resolve()), "seats": list(self.table.seats)}

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
        people = People(
            self.table,
            floor,
            ears,
            now=now_ns,
            kick=self.panel.kick,
            pace=self.options.pace,
            seed=self.options.hardware.seed,
            session=f"sim-{secrets.token_hex(4)}",
        )
        self.records = people.records
        try:
            await floor.connect(host, port)
            with (self.options.rundir / "results.jsonl").open("wb", buffering=0) as results:
                for hand in self.hands:
                    await run_script(people.hand(hand), news)
                    results.write(msgspec.json.encode(people.records[-1]) + b"\n")
        finally:
            floor.close()
            for complaint in ears.complaints[:20]:
                print(f"hw_sim: could not read what was published: {complaint}", file=sys.stderr)

    def close(self) -> None:
        """Unplug everything."""
        self.reader.close()
        self.panel.close()
        self._truth.close()

    def summary(self) -> dict[str, Any]:
        """The last line of a run."""
        return {
            "done": True,
            "hands": len(self.records),
            "discrepancies": sum(len(r.discrepancies) for r in self.records),
        }


async def run(hands: list[Hand], options: LiveOptions) -> int:
    """The whole run, from the first line on standard output to the last; 0 if nothing differed."""
    live = LiveTable(hands, options)
    try:
        say(live.announce())
        stdin = await stdin_reader()
        line = await stdin.readline()
        if not line:
            return 0
        dealing = asyncio.create_task(live.deal(**parse_answer(line)))
        leaving = asyncio.create_task(_end_of(stdin))
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


async def _end_of(stdin: asyncio.StreamReader) -> None:
    while await stdin.read(4096):
        pass
