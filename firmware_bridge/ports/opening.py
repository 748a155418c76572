"""Any port by its settings: what is needed to open it is loaded only when such a port is."""

from __future__ import annotations

from firmware_bridge.ports import serial
from firmware_bridge.ports.listen import open_listen
from firmware_bridge.ports.port import OnData, OnGone, Port
from firmware_bridge.ports.tcp import open_tcp
from firmware_bridge.session.contract import DeckPort, KeysPort, ListenPort, PortSettings, SerialPort
from firmware_bridge.session.problems import PortProblem


async def open_port(device: str, settings: PortSettings, on_data: OnData, on_gone: OnGone) -> Port:
    """An open port; callbacks come on the running loop.  Raises `PortProblem`."""
    if isinstance(settings, SerialPort):
        return serial.open_serial(device, settings, on_data, on_gone)
    if isinstance(settings, KeysPort):
        from firmware_bridge.ports import keys  # noqa: PLC0415 - only where a keypad is configured

        return keys.open_keys(device, settings, on_data, on_gone)
    if isinstance(settings, DeckPort):
        from firmware_bridge.ports import deck  # noqa: PLC0415 - only where a Stream Deck is configured

        return await deck.open_deck(device, settings, on_data, on_gone)
    if isinstance(settings, ListenPort):
        return await open_listen(device, settings, on_data, on_gone)
    return await open_tcp(device, settings, on_data, on_gone)


def check_port(device: str, settings: PortSettings) -> PortProblem | None:
    """Whether the port could be opened, without opening it; None also where only opening can tell."""
    if isinstance(settings, SerialPort):
        return serial.check(device, settings)
    if isinstance(settings, KeysPort):
        from firmware_bridge.ports import keys  # noqa: PLC0415 - only where a keypad is configured

        return keys.check(device, settings)
    return None
