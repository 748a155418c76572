"""The floor's seating system on MQTT: gives the hands out, hears acknowledgements, rulings and questions.

paho runs its own network thread; everything it hears is handed to the simulation's asyncio loop before
anybody looks at it.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

import paho.mqtt.client as mqtt
from paho.mqtt.enums import CallbackAPIVersion

from hw_sim.ears import KINDS, Ears, Json

QOS = 1
TRY_S = 2.0
AGAIN_S = 0.3


class FloorError(Exception):
    """The broker cannot be reached; the message says what to do."""


async def _until_open(host: str, port: int, patience_s: float, tell: Callable[[str], None]) -> None:
    """Waits until somebody listens there.  Raises `FloorError` after ``patience_s``."""
    loop = asyncio.get_running_loop()
    end, told = loop.time() + patience_s, False
    while True:
        try:
            async with asyncio.timeout(TRY_S):
                _, writer = await asyncio.open_connection(host, port)
            writer.close()
        except (OSError, TimeoutError) as e:
            if loop.time() >= end:
                why = "no answer" if isinstance(e, TimeoutError) else str(e)
                raise FloorError(
                    f"no MQTT broker at {host}:{port} ({why}). Start it, or give the right address."
                ) from e
            if not told:
                tell(f"waiting for the MQTT broker at {host}:{port} (up to {patience_s:.0f} s; Ctrl-C ends it)")
                told = True
            await asyncio.sleep(AGAIN_S)
        else:
            return


class MqttFloor:
    """Subscribes to one table's topics, feeds ``ears`` and calls ``news`` after each message."""

    def __init__(
        self,
        ears: Ears,
        *,
        site: str,
        table: str,
        news: Callable[[], None],
        username: str | None = None,
        password: str | None = None,
    ) -> None:
        self._ears, self._news = ears, news
        self._base = f"tabled/v1/{site}/{table}"
        self._loop = asyncio.get_running_loop()
        self._ready = asyncio.Event()
        self._refused = ""
        # A durable session: what is published while the floor's link is down waits for it at the broker.
        self._client = mqtt.Client(
            CallbackAPIVersion.VERSION2,
            client_id=f"hw-sim-floor-{site}-{table}",
            protocol=mqtt.MQTTv311,
            clean_session=False,
        )
        if username is not None:
            self._client.username_pw_set(username, password)
        self._client.on_connect = self._on_connect
        self._client.on_subscribe = self._on_subscribe
        self._client.on_message = self._on_message

    async def connect(
        self,
        host: str,
        port: int,
        timeout_s: float = 10.0,
        *,
        patience_s: float = 0.0,
        tell: Callable[[str], None] = print,
    ) -> None:
        """Connect and subscribe; returns when the broker has confirmed the subscriptions.

        Where nobody listens yet it is tried again for ``patience_s``, which ``tell`` is told once.
        """
        await _until_open(host, port, patience_s, tell)
        try:
            await asyncio.to_thread(self._client.connect, host, port, 30)
        except OSError as e:
            raise FloorError(f"no MQTT broker at {host}:{port} ({e}). Start it, or give the right address.") from e
        self._client.loop_start()
        try:
            await asyncio.wait_for(self._ready.wait(), timeout_s)
        except TimeoutError as e:
            why = self._refused or "no answer"
            raise FloorError(f"the MQTT broker at {host}:{port} does not let the floor in ({why}).") from e

    def command(self, what: str, message: Json) -> None:
        """Publish an order of the floor."""
        self._client.publish(f"{self._base}/cmd/{what}", json.dumps(message).encode(), qos=QOS)

    def close(self) -> None:
        """Say goodbye and end paho's thread."""
        self._client.disconnect()
        self._client.loop_stop()

    # -- paho's thread ----------------------------------------------------------------------------

    def _on_connect(self, client: mqtt.Client, _userdata: Any, _flags: Any, reason: Any, _properties: Any) -> None:
        if reason.is_failure:
            self._refused = str(reason)
            return
        client.subscribe([(f"{self._base}/{kind}", QOS) for kind in KINDS])

    def _on_subscribe(self, *_: Any) -> None:
        self._in_loop(self._ready.set)

    def _on_message(self, _client: mqtt.Client, _userdata: Any, message: mqtt.MQTTMessage) -> None:
        kind = message.topic.rpartition("/")[2]
        self._in_loop(lambda: self._hear(kind, bytes(message.payload)))

    def _in_loop(self, call: Callable[[], None]) -> None:
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(call)

    # -- the simulation's loop --------------------------------------------------------------------

    def _hear(self, kind: str, payload: bytes) -> None:
        self._ears.hear(kind, payload)
        self._news()
