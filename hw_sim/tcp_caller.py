"""A device core that calls: it connects to the host when it has something to say, and hangs up after a while.

As a FEIG reader in notification mode does with its destination address, port and hold time (manual H71011-0e, page 61).
What cannot be said because nobody listens is lost.
"""

from __future__ import annotations

import asyncio
import socket

from hw_sim.devices import Device
from hw_sim.devices.faults import NO_FAULTS, FaultPlan
from hw_sim.socket_port import SocketPort

CONNECT_S = 1.0


class TcpCaller(SocketPort):
    """Connects ``device`` to ``host:port``; hangs up when nothing was said or heard for ``hold_s``."""

    def __init__(
        self,
        device: Device,
        host: str,
        port: int,
        *,
        hold_s: float = 5.0,
        faults: FaultPlan = NO_FAULTS,
        seed: int = 0,
        source: str | None = None,
    ) -> None:
        super().__init__(device, faults=faults, seed=seed)
        self._address = (host, port)
        self._source = source
        self._hold_s = hold_s
        self._calling: asyncio.Task[None] | None = None
        self._hang_up: asyncio.TimerHandle | None = None
        self.unanswered = 0
        self.path = f"tcp-listen://{host}:{port}"

    @property
    def plugged(self) -> bool:
        """True between `plug` and `unplug`."""
        return self._open

    @property
    def connected(self) -> bool:
        """A connection stands."""
        return self._peer is not None

    def plug(self) -> str:
        """Power and network; returns the port that the host must listen at."""
        assert not self._open, "the port is plugged in already"
        self._loop = asyncio.get_running_loop()
        self._open = True
        self.kick()
        return self.path

    def unplug(self) -> None:
        """The cable is pulled: the host hears nothing of it."""
        self._open = False
        self._cancel()
        if self._calling is not None:
            self._calling.cancel()
            self._calling = None
        self._drop(reset=True)

    def _cancel(self) -> None:
        super()._cancel()
        if self._hang_up is not None:
            self._hang_up.cancel()
            self._hang_up = None

    def _drop(self, *, reset: bool = False) -> None:
        self._part(reset=reset)

    def _hold(self) -> None:
        assert self._loop is not None
        if self._hang_up is not None:
            self._hang_up.cancel()
        self._hang_up = self._loop.call_later(self._hold_s, self._drop)

    async def _call(self) -> None:
        assert self._loop is not None
        peer = socket.socket()
        peer.setblocking(False)
        try:
            if self._source is not None:
                peer.bind((self._source, 0))
            async with asyncio.timeout(CONNECT_S):
                await self._loop.sock_connect(peer, self._address)
        except (OSError, TimeoutError):
            peer.close()
            self.unanswered += 1
            self._out.clear()
            return
        except asyncio.CancelledError:
            peer.close()
            raise
        finally:
            self._calling = None
        self._meet(peer)
        self._hold()
        self._flush()

    def _arrived(self, data: bytes) -> None:
        self._hold()
        super()._arrived(data)

    def _flush(self) -> None:
        assert self._loop is not None
        if self._peer is None:
            if self._calling is None:
                self._calling = self._loop.create_task(self._call(), name="a simulated reader calls")
            return
        self._hold()
        super()._flush()
