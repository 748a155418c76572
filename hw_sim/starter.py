"""What a person types next: the parts of ``table.toml`` for this simulated table, and a whole one to begin with."""

from __future__ import annotations

import json
import secrets
from pathlib import Path
from typing import Any

from hw_sim.table import TableOptions

LOCAL = ("127.0.0.1", "localhost", "::1")
WS_PORT, DISPLAY_PORT = 9001, 8080
_FEIG_MODES = {"buffered": "buffered", "notify": "notify", "notify-ack": "notify"}


def driver_options(hardware: TableOptions) -> dict[str, Any]:
    """Options that the readers' driver must be given for it to understand these readers."""
    needed: dict[str, Any] = {}
    if hardware.feig_mode in _FEIG_MODES:
        needed["mode"] = _FEIG_MODES[hardware.feig_mode]
    if hardware.quirks.standard_only and hardware.reader == "feig-tcp":
        needed["advanced"] = False
    if hardware.quirks.ports_from_one and hardware.reader == "metratec":
        needed["first_port"] = 1
    return needed


def parts(facts: dict[str, Any], rundir: Path) -> str:
    """``[[device]]`` and ``[chips]`` of a table, under names that outlive a replug."""
    lines = ["[chips]", f"file = {_text(facts['chips'])}"]
    for device in facts["devices"]:
        link = rundir.absolute() / f"by-id-{device['id']}"
        port = str(link) if link.is_symlink() else device["port"]
        lines += ["", "[[device]]", f"id = {_text(device['id'])}", f"driver = {_text(device['driver'])}"]
        lines.append(f"port = {_text(port)}")
        lines += [f"{key} = {_table(device[key])}" for key in ("antennas", "options") if device.get(key)]
    return "\n".join(lines) + "\n"


def whole(facts: dict[str, Any], rundir: Path, site: str, table: str, broker: tuple[str, int]) -> str:
    """A whole ``table.toml``: the daemon brings the broker along where the simulator expects one on this machine."""
    host, port = broker
    own = host in LOCAL
    mqtt = (
        ['broker = "embedded"', f"port = {port}", f"ws_port = {WS_PORT}"]
        if own
        else [f'broker = "mqtt://{host}:{port}"']
    )
    head = [
        "[table]",
        f"site = {_text(site)}",
        f"name = {_text(table)}",
        f"seats = {len(facts['seats'])}",
        'profile = "tda-2024"',
        "",
        "[journal]",
        f'file = "table-{secrets.token_hex(4)}.journal"  # a new one for each run of the simulator',
        "",
        "[mqtt]",
        *mqtt,
        "",
        "[display]",
        f"port = {DISPLAY_PORT}",
        "",
    ]
    return "\n".join(head) + "\n" + parts(facts, rundir)


def _text(value: str) -> str:
    """A TOML basic string is written as JSON's, for all that can stand in a path."""
    return json.dumps(value)


def _table(values: dict[str, Any]) -> str:
    return "{ " + ", ".join(f"{key} = {json.dumps(value)}" for key, value in values.items()) + " }"
