"""The broker of a table: the user's own, or one that the daemon brings along on 127.0.0.1.

Measured: mosquitto 2.0.11 12 MB, p99 3 ms; iotcore 0.4.0 (rumqttd) 36 MB, p99 2.5 ms, memory only,
WebSockets in MQTT 3.1.1 only.  Both are told to listen on 127.0.0.1 alone.
"""

from __future__ import annotations

import os
import pwd
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import Literal, Protocol
from urllib.parse import urlsplit

import msgspec

Kind = Literal["mosquitto", "iotcore", "external"]

HOST = "127.0.0.1"
MAX_PACKET = 262_144
"""Bytes that the embedded brokers accept; four times what the outlet ever sends."""

_BACKOFF_S = (0.1, 0.2, 0.5, 1.0, 2.0, 5.0)
_STABLE_S = 10.0
_READY_S = 10.0
_FOLDER = "tabled-broker-"
_STAMP = re.compile(r"^\d{9,}: ")  # mosquitto's seconds since 1970


class BrokerError(Exception):
    """A broker that cannot be used.  The text is one line that says what to do."""


class BrokerUnreachableError(BrokerError):
    """No MQTT at ``address``, because of ``reason``; ``advice`` is the next step."""

    def __init__(self, address: str, reason: str, advice: str) -> None:
        super().__init__(f"The MQTT broker at {address} cannot be reached: {reason}. {advice}")
        self.address, self.reason, self.advice = address, reason, advice


BrokerUnreachable = BrokerUnreachableError


class BrokerEvent(msgspec.Struct, frozen=True):
    """A change in an embedded broker's life, for log and health.  ``up`` is whether it accepts connections now."""

    up: bool
    text: str
    restarts: int


class Broker(Protocol):
    """A broker as the daemon uses it.

    ``kind`` says which; ``host`` and ``port`` speak MQTT, ``ws_url`` the same over WebSockets.  ``start`` returns when
    it accepts connections, ``stop`` when it is gone.
    """

    @property
    def kind(self) -> Kind: ...
    @property
    def host(self) -> str: ...
    @property
    def port(self) -> int: ...
    @property
    def ws_url(self) -> str: ...
    def start(self) -> None: ...
    def stop(self) -> None: ...


class BrokerUrl(msgspec.Struct, frozen=True):
    """``mqtt://host[:1883]`` or ``mqtts://host[:8883]``."""

    host: str
    port: int
    tls: bool

    @property
    def address(self) -> str:
        """As an operator would write it."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{'mqtts' if self.tls else 'mqtt'}://{host}:{self.port}"


def parse_url(url: str) -> BrokerUrl:
    """The parts of ``[mqtt] broker``.  Raises `BrokerError` with the right form when it is not one."""
    form = 'write [mqtt] broker = "embedded", "mqtt://host:1883" or "mqtts://host:8883"'
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        shown = repr(url) if "@" not in url else "(not shown, it holds a password)"
        raise BrokerError(f"[mqtt] broker {shown} is no address ({error}); {form}.") from None
    if parts.username or parts.password:
        raise BrokerError(f"[mqtt] broker holds a password; put it in password_file and the name in username, {form}.")
    if parts.scheme not in ("mqtt", "mqtts") or not parts.hostname or parts.path.strip("/") or parts.query:
        raise BrokerError(f"[mqtt] broker {url!r} is not understood; {form}.")
    tls = parts.scheme == "mqtts"
    return BrokerUrl(parts.hostname, port or (8883 if tls else 1883), tls)


def open_broker(
    setting: str,
    *,
    ws_url: str = "",
    ports: tuple[int, int] = (0, 0),
    on_event: Callable[[BrokerEvent], None] = lambda _: None,
) -> EmbeddedBroker | ExternalBroker:
    """The broker that ``[mqtt] broker`` names, not yet started.

    ``ws_url`` is where displays find an external broker's WebSockets listener; ``ports`` are those for MQTT and
    WebSockets of the embedded one, 0 for a free one.
    """
    if setting == "embedded":
        return EmbeddedBroker(ports=ports, on_event=on_event)
    return ExternalBroker(parse_url(setting), ws_url)


class ExternalBroker:
    """The house's own broker: nothing to start or stop."""

    kind: Kind = "external"

    def __init__(self, url: BrokerUrl, ws_url: str = "") -> None:
        self.url, self.host, self.port, self.ws_url = url, url.host, url.port, ws_url

    def start(self) -> None:
        """Nothing: `tabled.outlets.mqtt.check` says whether it is there."""

    def stop(self) -> None:
        """Nothing."""


class EmbeddedBroker:
    """A broker in a child process, restarted when it dies, gone when this process goes.

    One thread starts the child, waits for its end and restarts it after a capped back-off; the
    ports stay the same, so clients and pages come back by themselves.  ``on_event`` is called
    from that thread.
    """

    def __init__(
        self,
        force: Literal["mosquitto", "iotcore"] | None = None,
        on_event: Callable[[BrokerEvent], None] = lambda _: None,
        ports: tuple[int, int] = (0, 0),
    ) -> None:
        found = shutil.which("mosquitto", path=f"{os.environ.get('PATH', os.defpath)}:/usr/sbin:/usr/local/sbin")
        if force == "mosquitto" and found is None:
            raise BrokerError("mosquitto is not on PATH; install it (apt install mosquitto) or use iotcore.")
        self.kind: Kind = force or ("mosquitto" if found else "iotcore")
        self.host = HOST
        self.port = self.ws_port = 0
        self._wanted = ports
        self.restarts = 0
        self._program = found or ""
        self._on_event = on_event
        self._child: subprocess.Popen[bytes] | None = None
        self._dir: tempfile.TemporaryDirectory[str] | None = None
        self._stop = threading.Event()
        self._ready = threading.Event()
        self._failed = ""
        self._said: deque[str] = deque(maxlen=20)
        self._thread: threading.Thread | None = None

    @property
    def ws_url(self) -> str:
        """Address for mqtt.js."""
        return f"ws://{self.host}:{self.ws_port}"

    @property
    def pid(self) -> int | None:
        """Process id of the running child, None between two lives."""
        child = self._child
        return child.pid if child is not None and child.poll() is None else None

    def start(self) -> None:
        """Start and wait until both listeners accept; raises `BrokerError` if that takes over 10 s or fails."""
        if self._thread is not None:
            return
        self._stop.clear()
        self._ready.clear()
        self._failed = ""
        _sweep()
        self._dir = tempfile.TemporaryDirectory(prefix=f"{_FOLDER}{os.getpid()}-")  # mode 0700
        self._thread = threading.Thread(target=self._keep, name="tabled-broker", daemon=True)
        self._thread.start()
        if not self._ready.wait(_READY_S + 2) or self._failed:
            failed = self._failed or "it did not accept connections in time"
            self.stop()
            raise BrokerError(
                f"The built-in broker ({self.kind}) did not start: {failed}. Name another in [mqtt] broker."
            )

    def stop(self) -> None:
        """End the child and remove its folder.  Safe to call twice."""
        self._stop.set()
        child, thread = self._child, self._thread
        if child is not None and child.poll() is None:
            child.terminate()
        if thread is not None:
            thread.join(3)
            if thread.is_alive() and self._child is not None:  # it hangs, or was stopped by a signal
                self._child.kill()
                thread.join(_READY_S)
            self._thread = None
        if self._dir is not None:
            self._dir.cleanup()
            self._dir = None

    def _keep(self) -> None:
        """The watcher.  It must outlive the child: the kernel ends the child with the thread that started it."""
        tries = 0
        while not self._stop.is_set():
            try:
                self._spawn()
                up = self._await_listeners()
            except OSError as error:
                up = False
                self._said.append(str(error))
            if up:
                self._ready.set()
                self._on_event(BrokerEvent(True, f"Broker {self.kind} listens on {HOST}:{self.port}.", self.restarts))
                if self._lived_on():
                    tries = 0
            elif not self._ready.is_set() and tries >= 2:
                self._failed = self._last_words()
                self._ready.set()
                self._end_child()
                return
            self._end_child()
            if self._stop.is_set():
                return
            pause = _BACKOFF_S[min(tries, len(_BACKOFF_S) - 1)]
            tries += 1
            self.restarts += 1
            text = f"Broker {self.kind} ended ({self._last_words()}); it is started again in {pause} s."
            self._on_event(BrokerEvent(False, text, self.restarts))
            self._stop.wait(pause)

    def _spawn(self) -> None:
        if not self._ready.is_set():  # only the first life may choose: later ones must be found again
            free = _free_ports(2)
            self.port, self.ws_port = (want or other for want, other in zip(self._wanted, free, strict=True))
        assert self._dir is not None
        folder = Path(self._dir.name)
        if self.kind == "mosquitto":
            config = folder / "mosquitto.conf"
            config.write_text(mosquitto_config(self.port, self.ws_port, folder), encoding="utf-8")
            rest = [self._program, "-c", str(config)]
        else:
            config = folder / "rumqttd.toml"
            config.write_text(rumqttd_config(self.port, self.ws_port), encoding="utf-8")
            rest = [str(config)]
        command = [sys.executable, "-P", "-m", "tabled.outlets.child", self.kind, str(os.getpid()), *rest]
        self._child = subprocess.Popen(  # noqa: S603  our own interpreter and module
            command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, cwd=folder
        )
        threading.Thread(target=self._listen_to, args=(self._child,), name="tabled-broker-log", daemon=True).start()

    def _listen_to(self, child: subprocess.Popen[bytes]) -> None:
        """Keep the child's last lines; a full pipe would stop it."""
        assert child.stderr is not None
        with child.stderr as stream:
            while line := stream.readline(1000):
                self._said.append(_STAMP.sub("", line.decode("utf-8", "replace").strip()))

    def _await_listeners(self) -> bool:
        for _ in range(int(_READY_S / 0.05)):
            if self._stop.is_set() or self._child is None or self._child.poll() is not None:
                return False
            if _accepts(self.port) and _accepts(self.ws_port):
                return True
            self._stop.wait(0.05)
        self._said.append(f"no listener within {_READY_S:.0f} s")
        return False

    def _lived_on(self) -> bool:
        """Wait for the child's end; True if it lived long enough to be called stable."""
        assert self._child is not None
        try:
            self._child.wait(_STABLE_S)
        except subprocess.TimeoutExpired:
            self._child.wait()
            return True
        return False

    def _end_child(self) -> None:
        if self._child is None:
            return
        if self._child.poll() is None:
            self._child.terminate()
            try:
                self._child.wait(3)
            except subprocess.TimeoutExpired:
                self._child.kill()
                self._child.wait()

    def _last_words(self) -> str:
        code = None if self._child is None else self._child.returncode
        end = f"signal {-code}" if code is not None and code < 0 else f"exit code {code}"
        return ": ".join([end, *(line.rstrip(".") for line in list(self._said)[-2:])])


def _sweep() -> None:
    """Remove the folders of daemons that were killed and could not; a few each time."""
    for folder in sorted(Path(tempfile.gettempdir()).glob(f"{_FOLDER}*"))[:64]:
        owner = folder.name.removeprefix(_FOLDER).partition("-")[0]
        if owner.isdigit() and not Path(f"/proc/{owner}").exists() and folder.stat().st_uid == os.getuid():
            shutil.rmtree(folder, ignore_errors=True)


def mosquitto_config(port: int, ws_port: int, folder: Path) -> str:
    """Configuration for mosquitto 2.0 on loopback.

    ``socket_domain ipv4``: without it 2.0.11 binds a WebSockets listener to every address.
    ``autosave_*``: with the default, SIGKILL loses every acknowledged message.
    """
    try:
        user = pwd.getpwuid(os.getuid()).pw_name
    except KeyError:
        user = ""
    lines = [
        "per_listener_settings false",
        "allow_anonymous true",
        "persistence true",
        f"persistence_location {folder}/",
        "persistence_file broker.db",
        "autosave_on_changes true",
        "autosave_interval 1",
        "max_queued_messages 5000",
        f"max_packet_size {MAX_PACKET}",
        "set_tcp_nodelay true",
        "sys_interval 0",
        "log_dest stderr",
        "log_type error",
        "log_type warning",
        # started as root, it would give up root and then not reach its folder
        *([f"user {user}"] if user else []),
        f"listener {port} {HOST}",
        "socket_domain ipv4",
        f"listener {ws_port} {HOST}",
        "socket_domain ipv4",
        "protocol websockets",
    ]
    return "\n".join(lines) + "\n"


def rumqttd_config(port: int, ws_port: int) -> str:
    """Configuration for rumqttd as iotcore 0.4.0 reads it; without ``listen`` it would take every address."""
    listener = """
[{table}]
name = "{name}"
listen = "{host}:{port}"
next_connection_delay_ms = 1
[{table}.connections]
connection_timeout_ms = 10000
max_payload_size = {size}
max_inflight_count = 100
dynamic_filters = true
"""
    router = """id = 0
[router]
id = 0
max_connections = 200
max_outgoing_packet_count = 200
max_segment_size = 1048576
max_segment_count = 10
"""
    both = (("v4.1", "tcp", port), ("ws.1", "ws", ws_port))
    return router + "".join(listener.format(table=t, name=n, host=HOST, port=p, size=MAX_PACKET) for t, n, p in both)


def _free_ports(count: int) -> list[int]:
    """Ports that are free now on 127.0.0.1; another process may still take one, then the start is tried again."""
    sockets = [socket.socket() for _ in range(count)]
    try:
        for s in sockets:
            s.bind((HOST, 0))
        return [int(s.getsockname()[1]) for s in sockets]
    finally:
        for s in sockets:
            s.close()


def _accepts(port: int) -> bool:
    try:
        with socket.create_connection((HOST, port), timeout=0.5) as link:
            return bool(link.getsockname() != link.getpeername())  # a free port may connect to itself
    except OSError:
        return False
