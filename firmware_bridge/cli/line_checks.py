"""What only an open port can tell: who answers, at which settings, and how good a panel's clock is."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from typing import Any

import msgspec

from firmware_bridge.cli.findings import Finding
from firmware_bridge.cli.given import config_of, inline
from firmware_bridge.cli.hello import (
    BY_DRIVER,
    QUESTIONS,
    Line,
    Question,
    is_network,
    session_hello,
    settings_of,
    who_is,
)
from firmware_bridge.drivers.registry import find_driver
from firmware_bridge.session.contract import DeviceConfig, Figures
from firmware_bridge.supervisor import Bridge, DeviceHealth
from firmware_bridge.wire import AnyObservation

BAUDS = (38400, 115200, 9600, 19200, 57600, 4800, 230400)
PARITIES = ("E", "N", "O")
TRY_S = 0.15
"""Wait for an answer at unusual settings; a device answers a hello within some 50 ms."""
WIDE_NS = 20_000_000
LIMIT_PPM = 200
PATIENCE = 8


class Meant(msgspec.Struct, frozen=True):
    """The driver that should fit, and the options given for it.  `ConfigProblem` if there is no such driver."""

    driver: str
    options: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        find_driver(self.driver)


async def check_line(name: str, meant: Meant | None, seconds: float) -> list[Finding]:
    """Opens the port, asks, and measures.  Raises `PortProblem`."""
    if meant is not None and meant.driver not in BY_DRIVER:
        return await _by_session(config_of(meant.driver, name, meant.options), seconds)
    driver = meant.driver if meant is not None else None
    who, unread = await who_is(name)
    if who is None:
        return await _elsewhere(name, driver, unread)
    if driver not in (None, who.driver):
        says = f"{who.model} answers, which is driver '{who.driver}' and not '{driver}'. Mend the configuration."
        return [Finding("bad", says)]
    found = [Finding("ok", f"{who.model}, firmware {who.firmware}, answers at {who.line}")]
    if who.options:
        found.append(Finding("warn", "only so. Put this into its part of the configuration:", (paste(who.options),)))
    if who.driver == "panel":
        found += await _panel(name, seconds)
    return found


def _other_settings(driver: str | None) -> Iterator[tuple[int, str, list[Question]]]:
    """Settings that `who_is` has not tried, and who is to be asked at each: the likely ones first."""
    asked = [q for q in BY_DRIVER.values() if driver in (None, q.driver)]
    for baud in BAUDS:
        for parity in PARITIES:
            # Only FEIG's parity can be set; the others' baud rates may be.
            ask = [q for q in asked if (q.baud, q.parity) != (baud, parity) and (q.driver == "feig" or parity == "N")]
            if ask:
                yield baud, parity, ask


async def _elsewhere(name: str, driver: str | None, unread: int) -> list[Finding]:
    """Nobody answers at the shipped settings: does anyone at others?"""
    tried = 0
    if is_network(name):
        says = (
            f"{'bytes came that no protocol here knows' if unread else 'nobody answers'}, though it takes connections. "
            "Check that this address and port number are the reader's, and that it is a reader of a driver here."
        )
        return [Finding("bad", says)]
    for baud, parity, questions in _other_settings(driver):
        async with Line(settings_of(name, baud, parity)) as line:
            for question in questions:
                tried += 1
                found = await line.ask(msgspec.structs.replace(question, wait_s=TRY_S))
                if found is not None:
                    return [_wrong_settings(question, baud, parity, found[0])]
    heard = f"{unread} bytes came that no protocol here knows" if unread else "nobody answers"
    says = (
        f"{heard}, at {tried + len(QUESTIONS)} settings tried. Check the device's power, its cable (is RX on TX?) and "
        "that it is a reader or panel of a driver here."
    )
    return [Finding("bad", says)]


def _wrong_settings(question: Question, baud: int, parity: str, model: str) -> Finding:
    usual = BY_DRIVER[question.driver]
    says = f"{model} answers at {baud} 8{parity}1 and not at {usual.baud} 8{usual.parity}1."
    if parity != usual.parity:
        return Finding("bad", f"{says} Set it to 8{usual.parity}1 with its maker's tool; the driver expects that.")
    return Finding("bad", f"{says} Put this into its part of the configuration:", (f"baud = {baud}",))


async def _by_session(config: DeviceConfig, seconds: float) -> list[Finding]:
    """What a driver's own session finds: for those that no question here is for."""
    who, health = await session_hello(config, seconds)
    if who is None:
        return [Finding("bad", f"{health.error or 'nobody answers'}. {health.advice}")]
    return [Finding("ok", f"{who.model}, firmware {who.firmware or 'unknown'}, answers"), *_counts(health)]


def paste(options: dict[str, Any]) -> str:
    """Options as a line of the configuration."""
    return f"options = {inline(options)}"


async def _panel(name: str, seconds: float) -> list[Finding]:
    """A panel's clock and health, as its own session measures them.  Presses stay with the panel.

    Measures for ``seconds``, and on (up to PATIENCE times as long) while that cannot tell a good rate from a bad one:
    on a busy computer a short look is a coarse one.
    """
    seen: list[AnyObservation] = []
    bridge = Bridge([DeviceConfig("panel", "panel", name)], seen.append, time.monotonic_ns)
    await bridge.start()
    try:
        for looks in range(1, PATIENCE + 1):
            await asyncio.sleep(seconds)
            lasted_s = looks * seconds
            (health,) = bridge.health()
            if health.state != "up" or _tells(health.figures):
                break
    finally:
        await bridge.stop()
    if health.state != "up":
        return [Finding("bad", f"did not stay up: {health.error}. {health.advice}")]
    return [clock_finding(health.figures, lasted_s), *_counts(health)]


def _tells(figures: Figures) -> bool:
    """Whether the rate is surely within the limit or surely beyond it."""
    if figures.clock_ns is None or figures.drift_bounds_ppm is None:
        return True  # no answer to wait for
    low, high = figures.drift_bounds_ppm
    return -LIMIT_PPM <= low <= high <= LIMIT_PPM or low > LIMIT_PPM or high < -LIMIT_PPM


def clock_finding(figures: Figures, seconds: float) -> Finding:
    """What a panel's clock is worth, measured over ``seconds``."""
    if figures.clock_jumps:
        says = f"its clock contradicted itself {figures.clock_jumps} times in {seconds:.0f} s"
        return Finding("bad", f"{says}: its tick jumps or is off by far. The panel needs another clock source.")
    width_ns, bounds = figures.clock_ns, figures.drift_bounds_ppm
    if width_ns is None or bounds is None:
        return Finding("bad", f"no clock in {seconds:.0f} s: it answers no PING. Its firmware needs mending.")
    low, high = bounds
    rate = f"{(low + high) / 2:+.0f} ppm (± {(high - low) / 2:.0f})"
    says = f"its clock is known to {width_ns / 1e6:.2f} ms and runs {rate}"
    if low > LIMIT_PPM or high < -LIMIT_PPM:
        return Finding("bad", f"{says}; a crystal keeps ±{LIMIT_PPM}. The panel needs another clock source.")
    if width_ns > WIDE_NS:
        return Finding("warn", f"{says}; over {WIDE_NS // 1_000_000} ms is wide. Try another USB port, without a hub.")
    if not _tells(figures):
        more = f"whether that is within ±{LIMIT_PPM} cannot be told in {seconds:.0f} s"
        return Finding("warn", f"{says}; {more}. Stop what else runs here, or measure longer with --seconds.")
    return Finding("ok", says)


def _counts(health: DeviceHealth) -> list[Finding]:
    counters = health.counters
    found = []
    if counters.garbage:
        says = f"{counters.garbage} bytes of garbage beside {counters.frames} frames. Look at its cable and its ground."
        found.append(Finding("warn", says))
    if counters.restarts:
        found.append(Finding("bad", f"it restarted {counters.restarts} times. Look at its power."))
    if counters.dropped:
        found.append(Finding("warn", f"{counters.dropped} presses were dropped by its full queue."))
    return found
