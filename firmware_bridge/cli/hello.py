"""Asking an unknown device who it is: one polite question a protocol, and what its answer says.

A question changes nothing on the device: version and hello requests only.  A device that hears another's
question sees garbage and drops it.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from firmware_bridge.framing import feig, metratec, panel, pepper
from firmware_bridge.ports.opening import open_port
from firmware_bridge.session.contract import DeviceConfig, PortSettings, SerialPort, TcpPort
from firmware_bridge.session.feig import MODELS, SELECT_CHANNEL, SOFTWARE_VERSION, TO_FUNCTION_UNIT
from firmware_bridge.session.pepper import GET_VERSION
from firmware_bridge.supervisor import Bridge, DeviceHealth
from firmware_bridge.wire import AnyObservation, DeviceUp

MAX_HEARD = 1 << 16
MAX_MUXES = 4


class Who(msgspec.Struct, frozen=True):
    """A device that answered.  ``line`` is how it was asked, ``driver`` the name for the configuration."""

    driver: str
    model: str
    firmware: str
    line: str
    antennas: str = ""
    options: dict[str, Any] = {}
    """Options of the driver with which it answered, where they are not the driver's own."""


class Question(msgspec.Struct, frozen=True):
    """One protocol's hello: ``baud`` and ``parity`` as shipped, the bytes, and how its answer is read."""

    driver: str
    baud: int
    parity: str
    ask: bytes
    wait_s: float
    read: Callable[[bytes], tuple[str, str] | None]
    """Bytes heard to (model, firmware), None if it is not there."""
    advanced: bool | None = None
    """Which of FEIG's two frames this is."""


def _read_panel(data: bytes) -> tuple[str, str] | None:
    for frame in panel.PanelDecoder().feed(data):
        if frame.kind == panel.HELLO:
            try:
                hello = panel.read_hello(frame.payload)
            except panel.BadPayloadError:
                continue
            odd = (
                "" if hello.schema == panel.SCHEMA_HASH else f" (schema 0x{hello.schema:08X}: another protocol version)"
            )
            return hello.model + odd, f"{hello.major}.{hello.minor}"
    return None


def _read_feig(data: bytes) -> tuple[str, str] | None:
    decoder = feig.FeigDecoder()
    for frame in decoder.feed(data) + decoder.gap():
        if frame.command == SOFTWARE_VERSION and frame.status == 0 and len(frame.data) >= 5:
            said = frame.data
            return MODELS.get(said[4], f"FEIG OBID type 0x{said[4]:02X}"), f"{said[0]}.{said[1]}.{said[2]}"
    return None


def _read_pepper(data: bytes) -> tuple[str, str] | None:
    decoder = pepper.PepperDecoder()
    for frame in decoder.feed(data) + decoder.gap():
        if frame.payload[:2] == bytes((pepper.ACK, GET_VERSION)):
            text = frame.payload[2:66].rstrip(b"\x00")
            return "Eccel Pepper C1", "".join(chr(b) if 0x20 <= b < 0x7F else "?" for b in text)
    return None


def _read_metratec(data: bytes) -> tuple[str, str] | None:
    for line in metratec.MetratecDecoder().feed(data):
        name, _, number = line.rpartition(" ")
        if len(number) in (4, 8) and number.isdecimal() and name.strip() not in ("", "ARP", "IVF"):
            return f"metraTec {name.strip()}", f"{number[-4:-2]}.{number[-2:]}"
    return None


HELLO_REQUEST = panel.DELIMITER + panel.encode(panel.PanelFrame(panel.HELLO_REQUEST, 0, 0, 0))
QUESTIONS: tuple[Question, ...] = (
    Question("panel", 115200, "N", HELLO_REQUEST, 0.35, _read_panel),
    Question("pepper", 115200, "N", pepper.encode(GET_VERSION), 0.3, _read_pepper),
    # A CR first: it ends what another protocol's question may have left in a reader that takes lines.
    Question("metratec", 115200, "N", metratec.CR + metratec.encode("RFW"), 0.3, _read_metratec),
    Question("feig", 38400, "E", feig.encode(SOFTWARE_VERSION), 0.3, _read_feig, advanced=False),
    Question("feig", 38400, "E", feig.encode(SOFTWARE_VERSION, advanced=True), 0.3, _read_feig, advanced=True),
)
"""In the order in which they are asked on a serial line; neighbours with the same settings share one opening.  Behind a
socket FEIG's advanced frame comes first, as its driver has it."""
BY_DRIVER = {q.driver: q for q in QUESTIONS if not q.advanced}


class Line:
    """One opened port, for questions.  Use as ``async with``; raises `PortProblem` on entry."""

    def __init__(self, settings: PortSettings) -> None:
        self._settings = settings
        self._heard = bytearray()
        self._news = asyncio.Event()
        self.gone = ""

    async def __aenter__(self) -> Line:
        self._port = await open_port("bridge", self._settings, self._on_data, self._on_gone)
        return self

    async def __aexit__(self, *_: object) -> None:
        self._port.close()

    def _on_data(self, data: bytes) -> None:
        self._heard += data[: MAX_HEARD - len(self._heard)]
        self._news.set()

    def _on_gone(self, reason: str) -> None:
        self.gone = reason
        self._news.set()

    @property
    def heard(self) -> int:
        """Bytes that came since the last question."""
        return len(self._heard)

    async def ask(self, question: Question) -> tuple[str, str] | None:
        """(model, firmware), or None after ``wait_s`` without a good answer."""
        self._heard.clear()
        self._port.write(question.ask)
        loop = asyncio.get_running_loop()
        end = loop.time() + question.wait_s
        while not self.gone:
            found = question.read(bytes(self._heard))
            if found is not None or (left := end - loop.time()) <= 0:
                return found
            self._news.clear()
            try:
                async with asyncio.timeout(left):
                    await self._news.wait()
            except TimeoutError:
                return question.read(bytes(self._heard))
        return None


def is_network(path: str) -> bool:
    """Whether that port is a socket."""
    return path.startswith("tcp://")


async def who_is(path: str) -> tuple[Who | None, int]:
    """Who answers on a port that is at its shipped settings, and how many bytes came that nobody could read.

    Raises `PortProblem` if it cannot be opened.
    """
    unread = 0
    network = is_network(path)
    left = sorted(QUESTIONS, key=lambda q: network and q.advanced is False)
    while left:
        batch = [q for q in left if network or (q.baud, q.parity) == (left[0].baud, left[0].parity)]
        settings = settings_of(path, batch[0].baud, batch[0].parity)
        async with Line(settings) as line:
            for question in batch:
                found = await line.ask(question)
                if found is not None:
                    own = question.advanced in (None, network)
                    options = {} if own else {"advanced": question.advanced}
                    return Who(question.driver, *found, line=_settings_text(settings), options=options), unread
                unread += line.heard
        left = [q for q in left if q not in batch]
    return None, unread


async def multiplexers(path: str, who: Who) -> Who:
    """``who`` with its antennas: the multiplexers that confirm channel 0, which switches all their antennas off.

    Each way in which the command may go over the line is tried (see `session.feig`); the one that was understood
    is among the options, and so is that there is none.
    """
    advanced = who.options.get("advanced", is_network(path))
    usual = BY_DRIVER["feig"]
    async with Line(settings_of(path, usual.baud, usual.parity)) as line:
        for form, command, head in _MUX_FORMS:
            found = []
            for mux in range(MAX_MUXES):
                ask = feig.encode(command, bytes((*head, mux, 0, 0)), advanced=advanced)
                if await line.ask(Question("feig", 0, "", ask, 0.3, _confirmed(command))) is not None:
                    found.append(mux)
            if found:
                spans = ", ".join(f"{8 * mux + 1}-{8 * mux + 8}" for mux in found)
                text = f"{spans} ({len(found)} multiplexer{'s' * (len(found) > 1)})"
                options = who.options | ({} if form == "bare" else {"mux_frame": form})
                return msgspec.structs.replace(who, antennas=text, options=options)
    alone = who.options | {"multiplexer": False}
    return msgspec.structs.replace(who, antennas="1 (no multiplexer)", options=alone)


_MUX_FORMS: Sequence[tuple[str, int, bytes]] = (
    ("bare", SELECT_CHANNEL, b""),
    ("wrapped", TO_FUNCTION_UNIT, bytes((SELECT_CHANNEL,))),
)


def _confirmed(command: int) -> Callable[[bytes], tuple[str, str] | None]:
    """Reads the answer to a multiplexer's command: its own status is the last byte where the reader passes one on."""

    def read(data: bytes) -> tuple[str, str] | None:
        decoder = feig.FeigDecoder()
        frames = decoder.feed(data) + decoder.gap()
        answer = next((f for f in frames if f.command == command), None)
        good = answer is not None and answer.status == 0 and answer.data[-1:] in (b"", b"\x00")
        return ("mux", "ok") if good else None

    return read


async def session_hello(config: DeviceConfig, seconds: float) -> tuple[Who | None, DeviceHealth]:
    """Who a driver's own session finds, for any driver, also an added one; asked for ``seconds`` at most."""
    ups: list[DeviceUp] = []
    news = asyncio.Event()

    def sink(observation: AnyObservation) -> None:
        if isinstance(observation, DeviceUp):
            ups.append(observation)
            news.set()

    bridge = Bridge([config], sink, time.monotonic_ns)
    await bridge.start()
    try:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await news.wait()
        (health,) = bridge.health()
    finally:
        await bridge.stop()
    if not ups:
        return None, health
    line = f"{config.baud} baud" if config.baud else "its driver's own settings"
    return Who(config.driver, ups[0].model, ups[0].firmware, line, options=config.options), health


def settings_of(path: str, baud: int, parity: str) -> PortSettings:
    """A path or ``tcp://host[:port]`` as settings; FEIG's port is the default."""
    if is_network(path):
        host, _, number = path.removeprefix("tcp://").partition(":")
        return TcpPort(host, int(number) if number.isdecimal() else 10001)
    return SerialPort(path, baud, parity)


def _settings_text(settings: PortSettings) -> str:
    return f"{settings.baud} 8{settings.parity}1" if isinstance(settings, SerialPort) else "network"
