"""What can be told of a port without opening it, each with the line to paste that mends it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Literal

import msgspec

from firmware_bridge.cli import system
from firmware_bridge.session.problems import PortProblem

Level = Literal["ok", "warn", "bad"]
LATENCY_MS = 2
"""More than this of an adapter's latency is felt: it is added to each question."""
RULES = "/etc/udev/rules.d/60-tabled.rules"
RELOAD = "sudo udevadm control --reload && sudo udevadm trigger"


class Finding(msgspec.Struct, frozen=True):
    """One thing looked at.  ``paste`` are lines for a shell."""

    level: Level
    says: str
    paste: tuple[str, ...] = ()


def rule_lines(rule: str) -> tuple[str, ...]:
    """Shell lines that add a udev rule and make it work now."""
    return f"echo '{rule}' | sudo tee -a {RULES}", RELOAD


def port_findings(name: str, device: system.SerialDevice, root: Path = system.ROOT) -> list[Finding]:
    """All about one serial port that needs no opening."""
    path = str(root / name.lstrip("/"))
    if not os.path.exists(path):
        return [Finding("bad", "is not there. Plug it in, or look for its name with 'tabled-bridge probe'.")]
    found = [_permission(path, device)]
    held = system.holders(name, root)
    if held:
        who = ", ".join(f"{h.name} (pid {h.pid})" for h in held[:4])
        found.append(Finding("bad", f"is held by {who}. End it, or stop tabled, before you go on."))
    found.append(_naming(name, device))
    if device.latency_ms is not None:
        found.append(_latency(device))
    return found


def _match(usb: system.Usb) -> str:
    """The part of a udev rule that finds this very device, under whatever name it has at the moment."""
    match = f'SUBSYSTEM=="tty", ATTRS{{idVendor}}=="{usb.vendor}", ATTRS{{idProduct}}=="{usb.product}"'
    return match + (f', ATTRS{{serial}}=="{usb.serial}"' if usb.serial else "")


def _permission(path: str, device: system.SerialDevice) -> Finding:
    group = system.denied(path)
    if group is None:
        return Finding("ok", "may be opened by this user")
    user = system.user()
    if not group:
        says = "may be opened by nobody but its owner; this rule opens it to the group dialout"
        # A mainboard's port keeps its name; what is plugged in does not, and the rule would open another device.
        match = _match(device.usb) if device.usb else f'KERNEL=="{os.path.basename(os.path.realpath(path))}"'
        return Finding("bad", says, rule_lines(f'{match}, GROUP="dialout", MODE="0660"'))
    if system.waits_for_login(group):
        return Finding("bad", f"may not be opened yet: {user} is in the group '{group}' from the next log-in on")
    says = f"may not be opened: {user} is not in the group '{group}'. Then log in again."
    return Finding("bad", says, (f"sudo usermod -aG {group} {user}",))


def _naming(name: str, device: system.SerialDevice) -> Finding:
    """Whether the configured name stays the same after a replug, and the rule that makes one that does."""
    usb = device.usb
    lasting = name.startswith("/dev/serial/") or not name.startswith(("/dev/ttyUSB", "/dev/ttyACM"))
    if lasting and (usb is None or usb.serial or name == device.by_path):
        return Finding("ok", "has a name that stays")
    if device.best_name not in (name, device.path):
        return Finding("warn", f"has a name that may change. Configure {device.best_name}")
    if usb is None:
        return Finding("warn", "has a name that may change, and no USB ids to make a rule of")
    says = "has a name that may change, and udev gives no other; this rule makes /dev/tabled-reader"
    return Finding("warn", says, rule_lines(f'{_match(usb)}, SYMLINK+="tabled-reader"'))


def _latency(device: system.SerialDevice) -> Finding:
    if device.latency_ms is not None and device.latency_ms <= LATENCY_MS:
        return Finding("ok", f"its adapter passes bytes on after {device.latency_ms} ms")
    kernel = os.path.basename(device.path)
    says = (
        f"its adapter gathers bytes for {device.latency_ms} ms, which is added to each inventory. tabled asks for less "
        "when it opens the port; this rule does it for good."
    )
    rule = 'ACTION=="add", SUBSYSTEM=="usb-serial", DRIVER=="ftdi_sio", ATTR{latency_timer}="1"'
    now = f"echo 1 | sudo tee /sys/bus/usb-serial/devices/{kernel}/latency_timer"
    return Finding("warn", says, (*rule_lines(rule), now))


def panel_findings(root: Path = system.ROOT) -> list[tuple[str, list[Finding]]]:
    """Keypads and Stream Decks: may they be opened, and what must be installed."""
    found: list[tuple[str, list[Finding]]] = []
    for path in system.keypads(root):
        real = str(root / path.lstrip("/"))
        if os.access(real, os.R_OK):
            one = Finding("ok", "may be opened by this user")
        else:
            says = "may not be opened. Then log in again."
            one = Finding("bad", says, (f"sudo usermod -aG input {system.user()}",))
        found.append((path, [one]))
    for usb in system.decks(root):
        rule = f'SUBSYSTEM=="usb", ATTRS{{idVendor}}=="{system.ELGATO}", MODE="0660", GROUP="plugdev", TAG+="uaccess"'
        rules = root / RULES.lstrip("/")
        has = rules.is_file() and system.ELGATO in rules.read_text(encoding="utf-8", errors="replace")
        says = "has a udev rule" if has else "needs a udev rule, so that another user than root may open it"
        found.append(
            (f"streamdeck:{usb.serial}", [Finding("ok", says) if has else Finding("warn", says, rule_lines(rule))])
        )
    return found


def of_problem(error: PortProblem, name: str) -> Finding:
    """A port that could not be opened."""
    held = system.holders(name) if name.startswith("/") else []
    by = f" Held by {held[0].name}, pid {held[0].pid}." if held else ""
    return Finding("bad", f"cannot be opened: {error.reason}.{by} {error.advice.partition(': ')[2]}")
