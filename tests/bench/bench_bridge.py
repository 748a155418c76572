"""What the bridge costs: decoding, byte to observation, a whole exchange over a pseudo-terminal, beside a floor.

Run: ``python -m tests.bench.bench_bridge``.  The floor of decoding is the checksum package alone over the same bytes
(for metraTec, which has none, splitting at CR); the floor of an exchange is a bare echo over the same
pseudo-terminal and event loop.  Single process, `perf_counter_ns`; medians, so that a busy machine shows as a wide p99.
"""

from __future__ import annotations

import asyncio
import os
import time
import tty
from collections.abc import Callable
from typing import Any

from fastcrc import crc16

from firmware_bridge.framing.feig import FeigDecoder
from firmware_bridge.framing.metratec import MetratecDecoder
from firmware_bridge.framing.panel import PanelDecoder
from firmware_bridge.framing.pepper import PepperDecoder
from firmware_bridge.session.feig import FeigSession
from firmware_bridge.session.metratec import MetratecOptions, MetratecSession
from firmware_bridge.session.pepper import PepperOptions, PepperSession
from firmware_bridge.session.plan import FeigOptions
from firmware_bridge.supervisor import Bridge, DeviceConfig
from firmware_bridge.wire import CleanEmpty, DeviceId, Present, Press
from hw_sim.devices.feig import FeigReader
from hw_sim.devices.panel import Panel
from hw_sim.pty_port import PtyPort, now_ns
from tests.bridge import peers, peers_readers

UIDS = [f"E00401500000{n:04X}" for n in range(20)]
CHUNK = 64
"""Bytes that a serial port gives at a time."""
ROUNDS = 300


def _quantiles(times: list[int]) -> str:
    times.sort()
    return f"{times[len(times) // 2] / 1e3:10.1f} {times[len(times) * 99 // 100] / 1e3:10.1f} {times[-1] / 1e3:10.1f}"


def _rate(work: Callable[[], object], size: int) -> float:
    """Megabytes a second, best of five."""
    best = 1 << 62
    for _ in range(5):
        start = time.perf_counter_ns()
        work()
        best = min(best, time.perf_counter_ns() - start)
    return size / best * 1e3


def decoding() -> None:
    """Frames and bytes a second for each decoder."""
    feig = [peers.feig_reply(0xB0, 0, peers.records(*UIDS[:n])) for n in (0, 1, 5, 20)]
    pepper = [peers_readers.pepper_frame(b"\x00\x90" + bytes.fromhex(uid)[::-1] + b"\x00\x01") for uid in UIDS]
    metratec = [f"{uid}\r".encode() for uid in UIDS] + [b"ARP 03\rIVF 20\r"]
    panel = [peers.panel_frame(3, peers.press_payload(n, 5, amount=100), seq=n) for n in range(1, 20)]
    cases: list[tuple[str, list[bytes], Callable[[], Any], Callable[[bytes], object]]] = [
        ("FEIG", feig, FeigDecoder, crc16.mcrf4xx),
        ("Pepper", pepper, PepperDecoder, crc16.ibm_3740),
        ("metraTec", metratec, MetratecDecoder, lambda data: data.split(b"\r")),
        ("panel", panel, PanelDecoder, crc16.mcrf4xx),
    ]
    print(f"decoding, chunks of {CHUNK} bytes     frames/s       MB/s   floor MB/s   of it garbage: MB/s")
    for name, frames, make, floor in cases:
        stream = b"".join(frames) * 200
        pieces = [stream[at : at + CHUNK] for at in range(0, len(stream), CHUNK)]
        noise = bytes((n * 7919 + n // 256) % 256 for n in range(60_000))
        noisy = [noise[at : at + CHUNK] for at in range(0, len(noise), CHUNK)]

        def run(pieces: list[bytes], make: Callable[[], Any] = make) -> Any:
            decoder = make()
            for piece in pieces:
                decoder.feed(piece)
            return decoder

        decoded = run(pieces)
        assert decoded.garbage == 0
        rate = _rate(lambda run=run, pieces=pieces: run(pieces), len(stream))
        bare = _rate(lambda floor=floor, pieces=pieces: [floor(p) for p in pieces], len(stream))
        storm = _rate(lambda run=run, noisy=noisy: run(noisy), len(noise))
        per_second = rate * 1e6 * decoded.frames / len(stream)
        print(f"  {name:10s} {per_second:26,.0f} {rate:10.1f} {bare:12.1f} {storm:16.2f}")


def byte_to_observation() -> None:
    """From the last byte of an inventory's answer to the observation, without I/O."""
    stack = UIDS[:5]
    makes: list[tuple[str, Any, Any]] = [
        ("FEIG", FeigSession(DeviceId("r"), FeigOptions(antennas=(1,), min_sweep_ms=0)), peers.FeigReader({1: stack})),
        (
            "Pepper",
            PepperSession(DeviceId("r"), PepperOptions(antennas=(1,), min_sweep_ms=0)),
            peers_readers.PepperReader({1: stack}),
        ),
        (
            "metraTec",
            MetratecSession(DeviceId("r"), MetratecOptions(antennas=(1,), min_sweep_ms=0)),
            peers_readers.MetratecReader({1: stack}),
        ),
    ]
    print("\nlast byte to observation, 5 chips, µs      p50        p99        max")
    for name, session, reader in makes:
        now, times = 0, []
        session.start(now)
        while len(times) < 2000:
            reply = reader.feed(session.outgoing())
            now += 1_000_000
            session.refresh()
            start = time.perf_counter_ns()
            found = session.receive(reply, now)
            took = time.perf_counter_ns() - start
            if any(isinstance(o, Present | CleanEmpty) for o in found):
                times.append(took)
        print(f"  {name:30s} {_quantiles(times)}")


async def _echo() -> list[int]:
    """The floor: a byte there and back over a pseudo-terminal on one event loop."""
    master, slave = os.openpty()
    tty.setraw(slave)
    loop = asyncio.get_running_loop()
    times: list[int] = []
    done = loop.create_future()
    start = [0]

    def answer() -> None:
        os.write(master, os.read(master, 64))

    def came() -> None:
        os.read(slave, 64)
        times.append(time.perf_counter_ns() - start[0])
        if len(times) >= ROUNDS:
            done.set_result(None)
        else:
            start[0] = time.perf_counter_ns()
            os.write(slave, b"x")

    loop.add_reader(master, answer)
    loop.add_reader(slave, came)
    start[0] = time.perf_counter_ns()
    os.write(slave, b"x")
    await done
    for fd in (master, slave):
        loop.remove_reader(fd)
        os.close(fd)
    return times


async def _press() -> list[int]:
    """From a key press in the simulated panel to the press at the sink."""
    panel = Panel(seed=1, start_ns=now_ns())
    port = PtyPort(panel)
    port.plug()
    times: list[int] = []
    came = asyncio.Event()

    def sink(observation: object) -> None:
        if isinstance(observation, Press):
            times.append(time.perf_counter_ns() - start[0])
            bridge.acknowledge(observation)
            came.set()

    start = [0]
    bridge = Bridge([DeviceConfig("p", "panel", port.path)], sink, time.monotonic_ns)
    await bridge.start()
    await asyncio.sleep(1.0)
    for _ in range(ROUNDS):
        came.clear()
        start[0] = time.perf_counter_ns()
        panel.press(now_ns(), "call")
        port.kick()
        await came.wait()
        await asyncio.sleep(0.002)
    await bridge.stop()
    port.unplug()
    return times


async def _sweep() -> list[int]:
    """One antenna: select and inventory, by a simulated reader that answers at once, five chips."""
    port = PtyPort(FeigReader({1: UIDS[:5]}.__getitem__, antennas=1))
    port.plug()
    config = DeviceConfig("r", "feig", port.path, options={"antennas": [1], "min_sweep_ms": 0})
    bridge = Bridge([config], lambda _: None, time.monotonic_ns)
    await bridge.start()
    times: list[int] = []
    await asyncio.sleep(0.5)
    for _ in range(ROUNDS):
        await asyncio.sleep(0.003)
        times.append(bridge.health()[0].figures.sweep_ns or 0)
    await bridge.stop()
    port.unplug()
    return times


def over_a_pseudo_terminal() -> None:
    """Both ends on one event loop, so about half of each figure is the simulator's."""
    print("\nover a pseudo-terminal, µs                 p50        p99        max")
    print(f"  {'floor: one byte there and back':30s} {_quantiles(asyncio.run(_echo()))}")
    print(f"  {'key press to the sink':30s} {_quantiles(asyncio.run(_press()))}")
    print(f"  {'FEIG: select and inventory':30s} {_quantiles(asyncio.run(_sweep()))}")


if __name__ == "__main__":
    decoding()
    byte_to_observation()
    over_a_pseudo_terminal()
