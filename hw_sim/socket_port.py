"""What the simulated network lines have in common: one peer, read and written without blocking."""

from __future__ import annotations

import socket
import struct

from hw_sim.line_port import READ_SIZE, LinePort


class SocketPort(LinePort):
    """Base of `TcpPort` and `TcpCaller`: a subclass makes the connection and says what follows when it ends."""

    _peer: socket.socket | None = None

    def _drop(self, *, reset: bool = False) -> None:
        """End the connection, with a reset as a pulled cable's next packet would get."""
        raise NotImplementedError

    def _meet(self, peer: socket.socket) -> None:
        """Talk to this peer from now on."""
        assert self._loop is not None
        peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._peer = peer
        self.opened += 1
        self._loop.add_reader(peer, self._readable)

    def _part(self, *, reset: bool) -> bool:
        """Hang up.  False when nobody was there."""
        peer, self._peer = self._peer, None
        self._out.clear()
        if peer is None:
            return False
        assert self._loop is not None
        self._loop.remove_reader(peer)
        self._loop.remove_writer(peer)
        if reset:
            peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        peer.close()
        return True

    def _readable(self) -> None:
        assert self._peer is not None
        try:
            data = self._peer.recv(READ_SIZE)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            self._drop()
            return
        self._arrived(data)

    def _flush(self) -> None:
        assert self._loop is not None
        while self._out and self._peer is not None:
            try:
                sent = self._peer.send(self._out)
            except BlockingIOError:
                self._loop.add_writer(self._peer, self._flush)
                return
            except OSError:
                self._drop()
                return
            del self._out[:sent]
        if self._peer is not None:
            self._loop.remove_writer(self._peer)
