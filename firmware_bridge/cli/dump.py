"""``bridge dump``: one device, live, as the table would see it."""

from __future__ import annotations

import asyncio
import collections
import contextlib
import signal
import time
from typing import Any

import click
import msgspec

from firmware_bridge.cli.given import OPTION, config_of
from firmware_bridge.cli.text import cut, wrapped
from firmware_bridge.session.contract import DeviceConfig
from firmware_bridge.supervisor import Bridge, DeviceHealth
from firmware_bridge.wire import (
    AnyObservation,
    CleanEmpty,
    Corrupt,
    DeviceLost,
    DeviceUp,
    Present,
    Press,
    Restarted,
    TimeSpan,
)

RATED = ("present", "empty", "corrupt", "press")
DRIFT_NS = 5_000_000_000
"""A rate measured over less than this is mostly the line's jitter."""
UNKNOWN_NS = 60_000_000_000
COLOURS = {
    "up": "green",
    "lost": "red",
    "restarted": "yellow",
    "corrupt": "yellow",
    "present": "cyan",
    "press": "magenta",
}


@click.command()
@click.option(
    "--driver", "-d", required=True, help="feig, metratec, pepper, panel, keypad, streamdeck, or an added one."
)
@click.option("--port", "-p", required=True, help="Path, tcp://host[:port], or streamdeck:.")
@click.option("--baud", type=int, default=None, help="Baud rate; the driver's own if not given.")
@OPTION
@click.option("--take", is_flag=True, help="Acknowledge what is shown: the panel or the reader's table forgets it.")
@click.option(
    "--every", type=click.FloatRange(0.1, 3600), default=1.0, show_default=True, help="Seconds between rates."
)
@click.option("--seconds", type=click.FloatRange(0.1), default=None, help="Stop after so long.")
@click.option("--json", "as_json", is_flag=True, help="Observations as JSON lines, rates on standard error.")
def dump(
    driver: str,
    port: str,
    baud: int | None,
    options: tuple[str, ...],
    *,
    take: bool,
    every: float,
    seconds: float | None,
    as_json: bool,
) -> None:
    """Show what one device says, and how fast, until Ctrl-C.

    Presses stay with their panel, and what a FEIG reader in mode "buffered" or "notify" recorded with the reader
    (tabled hears it when it starts), unless --take is given. A reader's antennas are an option: -o antennas=[1,2,3].
    """
    config = config_of(driver, port, options, baud)
    show = Show(take=take, as_json=as_json)
    asyncio.run(_watch(config, show, every, seconds))
    show.end()


async def _watch(config: DeviceConfig, show: Show, every: float, seconds: float | None) -> None:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop.set)
    bridge = Bridge([config], show.take_in, time.monotonic_ns)
    show.acknowledge = bridge.acknowledge if show.take else None
    await bridge.start()
    end = None if seconds is None else loop.time() + seconds
    try:
        while not stop.is_set() and (end is None or loop.time() < end):
            left = every if end is None else min(every, end - loop.time())
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(max(left, 0.001)):
                    await stop.wait()
            show.rates(bridge.health()[0], time.monotonic_ns())
    finally:
        await bridge.stop()


class Show:
    """Prints observations and rates.  ``take``: what is shown is acknowledged at once."""

    def __init__(self, *, take: bool, as_json: bool) -> None:
        self.take = take
        self.acknowledge: Any = None
        self._json = as_json
        self._start_ns = time.monotonic_ns()
        self._kinds: collections.Counter[str] = collections.Counter()
        self._antennas: dict[int, tuple[object, ...]] = {}
        self._last: tuple[int, DeviceHealth] | None = None
        self._kinds_then: collections.Counter[str] = collections.Counter()

    def take_in(self, observation: AnyObservation) -> None:
        """The bridge's sink."""
        kind = _kind(observation)
        self._kinds[kind] += 1
        if self._json:
            click.echo(msgspec.json.encode(observation))
        elif self._is_news(observation):
            line = f"{self._when(observation.span)}  {kind:<9} {words(observation)}"
            click.secho(cut(line), fg=COLOURS.get(kind))
        if self.acknowledge is not None:
            asyncio.get_running_loop().call_soon(self.acknowledge, observation)

    def _when(self, span: TimeSpan) -> str:
        """Seconds since the start, at the latest; no number where no time is known."""
        return f"{(span.latest_ns - self._start_ns) / 1e9:9.3f}" if _known(span) else f"{'?':>9}"

    def _is_news(self, observation: AnyObservation) -> bool:
        """An antenna that says the same again is counted in the rates and not shown."""
        if not isinstance(observation, Present | CleanEmpty | Corrupt):
            self._antennas.clear()
            return True
        said = (type(observation), words(observation))
        if self._antennas.get(observation.antenna) == said:
            return False
        self._antennas[observation.antenna] = said
        return True

    def rates(self, health: DeviceHealth, now_ns: int) -> None:
        """One line of rates since the last one."""
        since_ns, before = self._last or (self._start_ns, None)
        self._last = (now_ns, health)
        lasted_s = max((now_ns - since_ns) / 1e9, 1e-6)
        counters, figures = health.counters, health.figures
        frames = counters.frames - (before.counters.frames if before is not None else 0)
        parts = [f"{health.state}", f"{frames / lasted_s:.0f} frames/s"]
        new = self._kinds - self._kinds_then
        parts += [f"{new[kind] / lasted_s:.1f} {kind}/s" for kind in sorted(self._kinds) if kind in RATED]
        self._kinds_then = self._kinds.copy()
        if figures.sweep_ns is not None:
            parts.append(f"sweep {figures.sweep_ns / 1e6:.0f} ms")
        if figures.clock_ns is not None:
            parts.append(f"clock {figures.clock_ns / 1e6:.2f} ms")
        if figures.drift_ppm is not None and now_ns - self._start_ns > DRIFT_NS:
            parts.append(f"drift {figures.drift_ppm:+.0f} ppm")
        faults = {name: getattr(counters, name) for name in ("garbage", "corrupt", "timeouts", "foreign", "dropped")}
        parts += [f"{count} {name}" for name, count in faults.items() if count]
        text = f"{(now_ns - self._start_ns) / 1e9:9.3f}  rates     " + ", ".join(parts)
        click.secho(cut(text), dim=True, err=self._json)
        if health.state != "up" and health.advice and (before is None or before.advice != health.advice):
            click.secho(wrapped(health.advice, first=" " * 11, indent=11), fg="yellow", err=self._json)

    def end(self) -> None:
        """What was seen in all."""
        seen = ", ".join(f"{count} {kind}" for kind, count in sorted(self._kinds.items())) or "nothing"
        click.secho(f"seen: {seen}", bold=True, err=self._json)
        if self._kinds["press"] and not self.take:
            says = "The presses stay with their panel, and tabled hears them when it starts; --take ends that."
            click.echo(says, err=self._json)


def _kind(observation: AnyObservation) -> str:
    return str(observation.__struct_config__.tag)


def words(observation: AnyObservation) -> str:
    """An observation without its kind, device and time."""
    match observation:
        case Present():
            tags = " ".join(tag.uid for tag in observation.tags)
            doubt = "" if observation.complete else " (some may be missing)"
            return f"antenna {observation.antenna:<3} {len(observation.tags):>3} tags{doubt}  {tags}"
        case CleanEmpty():
            return f"antenna {observation.antenna:<3}   0 tags"
        case Corrupt():
            return f"antenna {observation.antenna:<3} {observation.reason}"
        case Press():
            parts = [observation.key]
            parts += [str(observation.amount)] * bool(observation.amount)
            parts += [f"seat {observation.seat}"] * bool(observation.seat) + ["said first"] * observation.said_first
            return f"{' '.join(parts)}  act {observation.boot:08X}/{observation.seq}, {_width(observation.span)}"
        case DeviceUp():
            return f"{observation.model}, firmware {observation.firmware or 'unknown'}"
        case DeviceLost():
            return observation.reason
        case Restarted():
            return f"boot {observation.boot:08X}"


def _width(span: TimeSpan) -> str:
    """How well a time is known."""
    width_ns = span.latest_ns - span.earliest_ns
    return f"known to {width_ns / 1e6:.1f} ms" if _known(span) else "its time unknown"


def _known(span: TimeSpan) -> bool:
    return span.latest_ns - span.earliest_ns < UNKNOWN_NS
