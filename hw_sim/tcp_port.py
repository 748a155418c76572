"""A device core behind a TCP port, as a FEIG reader with Ethernet or a serial device server has.

One host at a time (FEIG MR200 manual, page 15): who comes second is turned away at once.  What the device says
while no host is connected is lost.  `unplug` cuts the connection without a farewell and closes the port;
`replug` opens it at the same address.
"""

from __future__ import annotations

import asyncio
import socket

from hw_sim.devices import Device
from hw_sim.devices.faults import NO_FAULTS, FaultPlan
from hw_sim.line_port import now_ns
from hw_sim.socket_port import SocketPort

IDLE_POLL_S = 0.02


class TcpPort(SocketPort):
    """Serves ``device`` on 127.0.0.1; `path` is ``tcp://127.0.0.1:port``.  ``port`` 0 takes a free one."""

    def __init__(self, device: Device, *, faults: FaultPlan = NO_FAULTS, seed: int = 0, port: int = 0) -> None:
        super().__init__(device, faults=faults, seed=seed)
        self._port = port
        self._listener: socket.socket | None = None
        self._idle: asyncio.TimerHandle | None = None
        self.turned_away = 0

    @property
    def plugged(self) -> bool:
        """True between `plug` and `unplug`."""
        return self._listener is not None

    def plug(self) -> str:
        """Listen; returns the address."""
        assert self._listener is None, "the port is plugged in already"
        self._loop = asyncio.get_running_loop()
        self._listener = socket.create_server(("127.0.0.1", self._port))
        self._listener.setblocking(False)
        self._port = self._listener.getsockname()[1]
        self.path = f"tcp://127.0.0.1:{self._port}"
        self._loop.add_reader(self._listener, self._accept)
        self._unheard()
        return self.path

    def unplug(self) -> None:
        """The cable is pulled: a reset for the host, and nobody listens."""
        if self._listener is None:
            return
        assert self._loop is not None
        self._cancel()
        self._drop(reset=True)
        self._loop.remove_reader(self._listener)
        self._listener.close()
        self._listener = None

    def _cancel(self) -> None:
        super()._cancel()
        if self._idle is not None:
            self._idle.cancel()
            self._idle = None

    def _unheard(self) -> None:
        """Nobody is connected: the device talks on, and nobody hears it."""
        self._idle = None
        if self._open or self._listener is None:
            return
        assert self._loop is not None
        self.device.poll(now_ns())
        self._idle = self._loop.call_later(IDLE_POLL_S, self._unheard)

    def _accept(self) -> None:
        assert self._listener is not None
        assert self._loop is not None
        try:
            peer, _ = self._listener.accept()
        except (BlockingIOError, ConnectionError):
            return
        if self._peer is not None:
            self.turned_away += 1
            peer.close()
            return
        peer.setblocking(False)
        self._open = True
        self._meet(peer)
        self.kick()

    def _drop(self, *, reset: bool = False) -> None:
        self._open = False
        if self._part(reset=reset) and not reset:
            self._unheard()
