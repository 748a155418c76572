"""One connection to a broker: paho-mqtt without its own thread.

paho's network thread dies silently of an exception in a callback while ``is_connected()`` stays true.
Here the caller's thread polls the socket itself (paho's "external event loop" calls), callbacks only
note events in a queue, and even those are guarded.  A `Link` is used once: after a loss a new one is
made, so paho's own queue of unacknowledged messages never holds anything that the outbox does not know.
"""

from __future__ import annotations

import contextlib
import select
import socket
import ssl
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import msgspec
from paho.mqtt import client as paho
from paho.mqtt.enums import CallbackAPIVersion, MQTTErrorCode, MQTTProtocolVersion
from paho.mqtt.packettypes import PacketTypes
from paho.mqtt.properties import Properties

from tabled.outlets.broker import BrokerError, BrokerUnreachable, BrokerUrl
from tabled.outlets.commands import MAX_COMMAND
from tabled.outlets.topics import Origin

Protocol = Literal["5", "3.1.1"]

KEEPALIVE_S = 5
_CONNECT_S = 5.0
_MAX_IN_FLIGHT = 20
_START_IT = "Start the broker, or correct [mqtt] broker in the table's configuration."


class MqttConfig(msgspec.Struct, frozen=True, kw_only=True):
    """``[mqtt]``, resolved.  Secrets come from files and are never logged.

    ``backoff_s`` is the first and the longest pause between attempts, in seconds.
    """

    broker: BrokerUrl
    origin: Origin
    client_id: str = ""
    username: str = ""
    password_file: str = ""
    ca_file: str = ""
    cert_file: str = ""
    key_file: str = ""
    plaintext_ok: bool = False
    protocol: Literal["auto", "5", "3.1.1"] = "auto"
    backoff_s: tuple[float, float] = (0.2, 5.0)

    def __post_init__(self) -> None:
        loopback = self.broker.host in ("localhost", "::1") or self.broker.host.startswith("127.")
        if not (self.broker.tls or loopback or self.plaintext_ok):
            raise BrokerError(
                f"{self.broker.address} would send rulings and commands unencrypted over the network: use mqtts://, "
                "or set [mqtt] plaintext_ok = true if that network is yours alone."
            )

    @property
    def name(self) -> str:
        """MQTT client id: one daemon a table, so that a second one is noticed as a take-over."""
        return self.client_id or f"tabled-{self.origin.site}-{self.origin.table}"


class Connected(msgspec.Struct, frozen=True):
    """The broker accepted us; ``max_packet`` is its limit in bytes where it tells (MQTT 5)."""

    max_packet: int | None


class Lost(msgspec.Struct, frozen=True):
    """The connection is over.  ``unsupported`` when the broker does not speak this protocol version."""

    reason: str
    advice: str
    unsupported: bool = False


class Acked(msgspec.Struct, frozen=True):
    """PUBACK of message ``mid``; ``code`` of 0x80 and above means that the broker did not keep it."""

    mid: int
    code: int
    text: str


class Subscribed(msgspec.Struct, frozen=True):
    """SUBACK; ``refused`` names the reason, "" when granted."""

    refused: str


class Message(msgspec.Struct, frozen=True):
    """An incoming message."""

    topic: str
    payload: bytes
    retained: bool


Event = Connected | Lost | Acked | Subscribed | Message


class Link:
    """See the module's docstring.  All methods belong to one thread; `events` is what happened."""

    def __init__(self, config: MqttConfig, protocol: Protocol, *, will: tuple[str, bytes] | None = None) -> None:
        self.config, self.protocol = config, protocol
        self.events: deque[Event] = deque()
        self.errors: deque[str] = deque(maxlen=8)
        self.error_count = 0
        self.over = False
        self._client = self._make(will)

    def _make(self, will: tuple[str, bytes] | None) -> paho.Client:
        five = self.protocol == "5"
        client = paho.Client(
            CallbackAPIVersion.VERSION2,
            client_id=self.config.name,
            protocol=MQTTProtocolVersion.MQTTv5 if five else MQTTProtocolVersion.MQTTv311,
            clean_session=None if five else True,
            reconnect_on_failure=False,
        )
        client.connect_timeout = _CONNECT_S
        client.max_inflight_messages_set(_MAX_IN_FLIGHT)
        client.max_queued_messages_set(_MAX_IN_FLIGHT)
        _identify(client, self.config)
        if will is not None:
            client.will_set(self.config.origin.topic(will[0]), will[1], qos=1, retain=True)
        client.on_connect = self._guarded(self._on_connect)
        client.on_disconnect = self._guarded(self._on_disconnect)
        client.on_publish = self._guarded(self._on_publish)
        client.on_subscribe = self._guarded(self._on_subscribe)
        client.on_message = self._guarded(self._on_message)
        return client

    def connect(self) -> None:
        """Open TCP (and TLS) and send CONNECT; `Connected` or `Lost` follows.  Raises `BrokerUnreachable`."""
        url = self.config.broker
        properties = None
        if self.protocol == "5":
            properties = Properties(PacketTypes.CONNECT)  # type: ignore[no-untyped-call]  # paho leaves it untyped
            properties.MaximumPacketSize = MAX_COMMAND * 2
            properties.ReceiveMaximum = 16
        try:
            self._client.connect(
                url.host,
                url.port,
                KEEPALIVE_S,
                clean_start=True if self.protocol == "5" else paho.MQTT_CLEAN_START_FIRST_ONLY,
                properties=properties,
            )
        except (OSError, ValueError) as error:
            raise _unreachable(url, error) from None

    def step(self, wake_fd: int | None, timeout_s: float) -> None:
        """Wait for traffic, a byte on ``wake_fd`` or the time-out, and let paho do what is due."""
        sock = self._client.socket()
        if sock is None:
            self._lose("the connection broke", "It is tried again.")
            return
        poll = select.poll()
        poll.register(sock, select.POLLIN | (select.POLLOUT if self._client.want_write() else 0))
        if wake_fd is not None:
            poll.register(wake_fd, select.POLLIN)
        buffered = sock.pending() if isinstance(sock, ssl.SSLSocket) else 0
        ready = dict(poll.poll(0 if buffered else max(0, int(timeout_s * 1000))))
        seen = ready.get(sock.fileno(), 0)
        code = MQTTErrorCode.MQTT_ERR_SUCCESS
        if buffered or seen & ~select.POLLOUT:
            code = self._client.loop_read()
        if code == MQTTErrorCode.MQTT_ERR_SUCCESS and seen & select.POLLOUT:
            code = self._client.loop_write()
        if code == MQTTErrorCode.MQTT_ERR_SUCCESS:
            code = self._client.loop_misc()
        if code != MQTTErrorCode.MQTT_ERR_SUCCESS:
            self._lose(paho.error_string(code).rstrip("."), "It is tried again.")

    def subscribe(self, leaf: str) -> None:
        """Subscribe to a leaf under the table's prefix, QoS 1; `Subscribed` follows."""
        self._client.subscribe(self.config.origin.topic(leaf), qos=1)

    def publish(self, leaf: str, payload: bytes, *, retain: bool) -> int | None:
        """Send with QoS 1; the message id, or None when the connection is gone (`Lost` is then noted)."""
        properties = None
        if self.protocol == "5":
            properties = Properties(PacketTypes.PUBLISH)  # type: ignore[no-untyped-call]  # paho leaves it untyped
            properties.ContentType = "application/json"
        info = self._client.publish(self.config.origin.topic(leaf), payload, 1, retain, properties)
        if info.rc != MQTTErrorCode.MQTT_ERR_SUCCESS:
            self._lose(f"publishing failed ({paho.error_string(info.rc).rstrip('.')})", "It is tried again.")
            return None
        return info.mid

    def close(self) -> None:
        """Say DISCONNECT, so that the broker drops the will, and close the socket once the broker has read it."""
        self.over = True
        self._client.disconnect()
        sock = self._client.socket()
        if isinstance(sock, socket.socket):
            with contextlib.suppress(OSError):
                sock.settimeout(0.5)
                if not isinstance(sock, ssl.SSLSocket):
                    sock.shutdown(socket.SHUT_WR)
                for _ in range(64):  # closing with unread data would reset the connection and take DISCONNECT along
                    if not sock.recv(65_536):
                        break
        self.abort()

    def abort(self) -> None:
        """Close the socket without a word: the broker publishes the will."""
        self.over = True
        sock = self._client.socket()
        if sock is not None:
            sock.close()

    def _lose(self, reason: str, advice: str, *, unsupported: bool = False) -> None:
        if not self.over:
            self.over = True
            self.events.append(Lost(reason, advice, unsupported))

    def _guarded(self, callback: Callable[..., None]) -> Callable[..., None]:
        def run(*args: Any) -> None:
            try:
                callback(*args)
            except Exception as error:
                self.error_count += 1
                self.errors.append(f"{callback.__name__}: {error!r}")
                self._lose(f"the client failed on what it sent ({error!r})", "It is tried again; report this.")

        return run

    def _on_connect(self, _c: object, _u: object, _flags: object, code: Any, properties: Any) -> None:
        if code.is_failure:
            unsupported = code.value in (0x01, 0x84)
            denied = code.value in (0x04, 0x05, 0x86, 0x87, 0x8C)
            advice = "Check [mqtt] username, password_file and cert_file." if denied else _START_IT
            self._lose(f"the broker refused us ({code})", advice, unsupported=unsupported)
            return
        self.events.append(Connected(getattr(properties, "MaximumPacketSize", None)))

    def _on_disconnect(self, _c: object, _u: object, flags: Any, code: Any, _p: object) -> None:
        if flags.is_disconnect_packet_from_server and code.value == 0x8E:
            self._lose(
                f"another client took over the name {self.config.name!r}",
                "Stop the second daemon of this table, or give it its own [mqtt] client_id.",
            )
        else:
            self._lose(f"the connection ended ({code})", "It is tried again.")

    def _on_publish(self, _c: object, _u: object, mid: int, code: Any, _p: object) -> None:
        self.events.append(Acked(mid, code.value, str(code)))

    def _on_subscribe(self, _c: object, _u: object, _mid: int, codes: Any, _p: object) -> None:
        self.events.append(Subscribed("; ".join(str(c) for c in codes if c.value >= 0x80)))

    def _on_message(self, _c: object, _u: object, message: Any) -> None:
        self.events.append(Message(message.topic, bytes(message.payload), bool(message.retain)))


def check(config: MqttConfig) -> None:
    """Ask the broker for a connection once, at start-up.  Raises `BrokerUnreachable`; waits 5 s at most each way."""
    versions: tuple[Protocol, ...] = ("5", "3.1.1") if config.protocol == "auto" else (config.protocol,)
    probe = msgspec.structs.replace(config, client_id=f"{config.name}-check")
    lost = Lost("no answer to CONNECT in 5 s", "Check that an MQTT broker, and nothing else, listens there.")
    for version in versions:
        link = Link(probe, version)
        link.connect()
        try:
            for _ in range(20):
                link.step(None, _CONNECT_S / 20)
                while link.events:
                    event = link.events.popleft()
                    if isinstance(event, Connected):
                        link.close()
                        return
                    if isinstance(event, Lost):
                        lost = event
                if link.over:
                    break
        finally:
            link.abort()
        if not (lost.unsupported or link.over):
            break
    raise BrokerUnreachable(config.broker.address, lost.reason, lost.advice)


def _identify(client: paho.Client, config: MqttConfig) -> None:
    """Credentials and TLS (verification is paho's default and is never switched off here)."""
    if config.username:
        password = None
        if config.password_file:
            try:
                password = Path(config.password_file).read_text(encoding="utf-8").strip()
            except (OSError, UnicodeDecodeError) as error:
                raise BrokerError(
                    f"[mqtt] password_file cannot be read ({error}); correct its path or rights."
                ) from None
        client.username_pw_set(config.username, password)
    if config.broker.tls:
        try:
            client.tls_set(config.ca_file or None, config.cert_file or None, config.key_file or None)
        except (OSError, ValueError) as error:
            raise BrokerError(f"[mqtt] ca_file, cert_file or key_file cannot be used ({error}).") from None


def _unreachable(url: BrokerUrl, error: Exception) -> BrokerUnreachable:
    if isinstance(error, ssl.SSLCertVerificationError):
        advice = "Set [mqtt] ca_file to the authority that signed it, and use the name that stands in it."
        return BrokerUnreachable(url.address, f"its certificate is not trusted ({error.verify_message})", advice)
    if isinstance(error, ssl.SSLError):
        return BrokerUnreachable(url.address, f"TLS failed ({error.reason})", "Use mqtts:// only on the TLS port.")
    if isinstance(error, ConnectionRefusedError):
        return BrokerUnreachable(url.address, "nothing listens there", _START_IT)
    if isinstance(error, socket.gaierror):
        return BrokerUnreachable(url.address, "its name is unknown", "Correct [mqtt] broker, or the name service.")
    if isinstance(error, TimeoutError):
        return BrokerUnreachable(url.address, "no answer in 5 s", "Check the address, the cable and the firewall.")
    return BrokerUnreachable(url.address, str(error) or type(error).__name__, _START_IT)
