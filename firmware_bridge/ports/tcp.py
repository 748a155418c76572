"""Readers behind Ethernet: one TCP connection, FEIG's port is 10001.

What comes is handed on in small pieces, one a turn of the event loop, and nothing is read meanwhile: a peer that
sends as fast as it can takes no more of the loop than others, and the network holds it back.
"""

from __future__ import annotations

import asyncio
import os
import socket

from firmware_bridge.ports.port import MAX_QUEUED, OnData, OnGone
from firmware_bridge.session.contract import TcpPort
from firmware_bridge.session.problems import PortProblem

CONNECT_S = 0.7
"""On a table's own network an answer takes milliseconds; nobody who does not is told after a second."""
PIECE = 1024
"""Bytes handed on in one turn of the loop."""


class TcpLine(asyncio.Protocol):
    """One connection.  Made by `open_tcp`."""

    def __init__(self, on_data: OnData, on_gone: OnGone) -> None:
        self._on_data = on_data
        self._on_gone = on_gone
        self._transport: asyncio.Transport | None = None
        self._held = bytearray()
        self.dropped = 0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """The event loop's call."""
        assert isinstance(transport, asyncio.Transport), "a stream connection"
        self._transport = transport
        sock: socket.socket | None = transport.get_extra_info("socket")
        if sock is not None:
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)

    def data_received(self, data: bytes) -> None:
        """The event loop's call."""
        if self._transport is None:
            return
        if self._held or len(data) > PIECE:
            begins = not self._held
            self._held += data
            self._transport.pause_reading()
            if begins:
                self._hand_on()
        else:
            self._on_data(data)

    def _hand_on(self) -> None:
        transport = self._transport
        if transport is None:
            return
        piece = bytes(self._held[:PIECE])
        del self._held[:PIECE]
        if self._held:
            asyncio.get_running_loop().call_soon(self._hand_on)
        else:
            transport.resume_reading()
        self._on_data(piece)

    def eof_received(self) -> bool:
        """The reader closed its side: nothing more will come."""
        return False

    def connection_lost(self, exc: Exception | None) -> None:
        """The event loop's call."""
        if self._transport is not None:
            self._transport = None
            self._on_gone("closed by the reader" if exc is None else _reason(exc))

    def write(self, data: bytes) -> None:
        """Sends all or, if the queue has no room, none of ``data``."""
        transport = self._transport
        if transport is None or not data:
            return
        if transport.get_write_buffer_size() + len(data) > MAX_QUEUED:
            self.dropped += 1
            return
        transport.write(data)

    def close(self) -> None:
        """Drops the connection now, unsent bytes with it."""
        transport, self._transport = self._transport, None
        self._held.clear()
        if transport is not None:
            transport.abort()


def _reason(error: Exception) -> str:
    """The system's word for it, without its number; asyncio's own text names the call, not the cause."""
    code = error.errno if isinstance(error, OSError) else None
    return os.strerror(code).lower() if code and code > 0 else str(error)


async def open_tcp(device: str, settings: TcpPort, on_data: OnData, on_gone: OnGone) -> TcpLine:
    """Connects within `CONNECT_S` seconds.  Raises `PortProblem`."""
    loop = asyncio.get_running_loop()
    line = TcpLine(on_data, on_gone)
    try:
        async with asyncio.timeout(CONNECT_S):
            await loop.create_connection(lambda: line, settings.host, settings.port)
    except (OSError, TimeoutError) as error:
        reason = "no answer" if isinstance(error, TimeoutError) else _reason(error)
        raise PortProblem(
            device,
            str(settings),
            reason,
            f"'{device}': {settings} cannot be reached. Check the reader's power, its network cable and its address "
            "(and that no other program is connected to it); tabled tries again by itself.",
        ) from error
    return line
