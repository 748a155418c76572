"""A port that a reader connects to: one listening socket, one peer at a time.

The peer may go and come back, which is no end of the port.  While one is connected, another address is turned
away, named and counted; the same address takes over, for a reader that lost its power left the old connection open.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno

from firmware_bridge.ports.port import OnData, OnGone
from firmware_bridge.ports.tcp import TcpLine
from firmware_bridge.session.contract import ListenPort
from firmware_bridge.session.problems import PortProblem

BACKLOG = 4
"""Connections that may wait to be looked at."""


class ListenLine:
    """One listening port.  Made by `open_listen`."""

    def __init__(self, device: str, settings: ListenPort, on_data: OnData) -> None:
        self._device = device
        self._settings = settings
        self._on_data = on_data
        self._server: asyncio.Server | None = None
        self._peer: _Peer | None = None
        self._last = ""
        self._turned_away = 0
        self._stranger = ""
        self.dropped = 0
        """Writes refused: nobody was connected, or it took no bytes."""

    @property
    def notes(self) -> tuple[str, ...]:
        """Who is connected, and who was turned away."""
        where = f"'{self._device}': {self._settings}"
        who = (
            f"{self._last} is connected"
            if self._peer is not None
            else f"nobody is connected, last {self._last or 'nobody'}"
        )
        found = [f"{where}: {who}."]
        if self._turned_away:
            found.append(
                f"{where}: {self._turned_away} connections turned away, the last from {self._stranger}. "
                "If that is the reader, name its address in the option 'peer'."
            )
        return tuple(found)

    def write(self, data: bytes) -> None:
        """Sends all to the peer, or none of it."""
        peer = self._peer
        if peer is None:
            self.dropped += bool(data)
            return
        before = peer.dropped
        peer.write(data)
        self.dropped += peer.dropped - before

    def close(self) -> None:
        """Ends the connection and stops listening."""
        if self._server is not None:
            self._server.close()
        self._let_go()

    def _let_go(self) -> None:
        peer, self._peer = self._peer, None
        if peer is not None:
            peer.close()

    # -- peers -----------------------------------------------------------------------------------

    def arrived(self, peer: _Peer, address: str) -> bool:
        """Whether the one that connected may stay."""
        welcome = self._settings.peer in ("", address)
        if not welcome or (self._peer is not None and self._last != address):
            self._turned_away += 1
            self._stranger = address
            return False
        self._let_go()
        self._peer, self._last = peer, address
        return True

    def said(self, peer: _Peer, data: bytes) -> None:
        """Bytes of a peer; only the present one's count."""
        if peer is self._peer:
            self._on_data(data)

    def left(self, peer: _Peer) -> None:
        """Its connection ended."""
        if peer is self._peer:
            self._let_go()


class _Peer(TcpLine):
    """One connection to a listening port."""

    def __init__(self, line: ListenLine) -> None:
        super().__init__(lambda data: line.said(self, data), lambda _: line.left(self))
        self._line = line

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """The event loop's call."""
        super().connection_made(transport)
        named = transport.get_extra_info("peername")
        if not self._line.arrived(self, str(named[0]) if named else "?"):
            self.close()


async def open_listen(device: str, settings: ListenPort, on_data: OnData, _on_gone: OnGone) -> ListenLine:
    """Listens at the address.  Raises `PortProblem`."""
    line = ListenLine(device, settings, on_data)
    loop = asyncio.get_running_loop()
    try:
        line._server = await loop.create_server(
            lambda: _Peer(line), settings.host or None, settings.port, backlog=BACKLOG, reuse_address=True
        )
    except OSError as error:
        with contextlib.suppress(Exception):
            line.close()
        used = error.errno == errno.EADDRINUSE
        reason = "in use" if used else str(error.strerror or error).lower()
        mend = (
            "Another program listens there: close it, or a second tabled, or choose another port."
            if used
            else "Name an address of this computer, or 0.0.0.0 for all, and a port above 1023."
        )
        raise PortProblem(device, str(settings), reason, f"'{device}': cannot listen at {settings}. {mend}") from error
    return line
