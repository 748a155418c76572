"""What Linux knows of the devices that are plugged in: names, USB ids, latency, who holds them.

Reads ``/dev``, ``/sys`` and ``/proc`` below ``root``, which is "/" but for tests.  Opens no device.
"""

from __future__ import annotations

import contextlib
import grp
import os
import pwd
import stat
from pathlib import Path

import msgspec

ROOT = Path("/")
MAX_DEVICES = 64
MAX_CLIMB = 12
ELGATO = "0fd9"


class Usb(msgspec.Struct, frozen=True):
    """A USB device's own words; "" where it has none.  ``vendor`` and ``product`` are four hexadecimal digits."""

    vendor: str = ""
    product: str = ""
    serial: str = ""
    maker: str = ""
    model: str = ""


class SerialDevice(msgspec.Struct, frozen=True):
    """One serial port.  ``path`` is the kernel's name, ``by_id`` and ``by_path`` udev's names for it, "" for none."""

    path: str
    by_id: str = ""
    by_path: str = ""
    usb: Usb | None = None
    driver: str = ""
    latency_ms: int | None = None
    """How long the adapter gathers bytes (FTDI); None where it does not say."""

    @property
    def best_name(self) -> str:
        """The name that is most likely to stay: by-id if the device has a serial number, else by-path."""
        if self.by_id and (self.usb is None or self.usb.serial):
            return self.by_id
        return self.by_path or self.by_id or self.path


class Holder(msgspec.Struct, frozen=True):
    """A process that has a device open."""

    pid: int
    name: str


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip()[:200]
    except OSError:
        return ""


def _links(folder: Path, root: Path) -> dict[str, str]:
    """Real name to link, both as they are below ``root``."""
    found: dict[str, str] = {}
    with contextlib.suppress(OSError):
        for link in sorted(folder.iterdir())[: 4 * MAX_DEVICES]:
            found.setdefault(os.path.realpath(link), "/" + str(link.relative_to(root)))
    return found


def usb_of(device: Path) -> Usb | None:
    """USB ids of the device that a sysfs folder belongs to, None if it is no USB device."""
    at = Path(os.path.realpath(device))
    for _ in range(MAX_CLIMB):
        if (at / "idVendor").is_file():
            names = ("idVendor", "idProduct", "serial", "manufacturer", "product")
            return Usb(*(_read(at / name) for name in names))
        if at == at.parent:
            return None
        at = at.parent
    return None


def serial_device(path: str, root: Path = ROOT) -> SerialDevice:
    """What is known of the port of that name, which may be a link and need not be there."""
    real = os.path.realpath(root / path.lstrip("/"))
    name = os.path.basename(real)
    device = root / "sys/class/tty" / name / "device"
    latency = _read(device / "latency_timer")
    driver = os.path.basename(os.path.realpath(device / "driver")) if (device / "driver").exists() else ""
    kernel = "/" + os.path.relpath(real, root) if os.path.exists(real) else path
    return SerialDevice(
        kernel,
        _links(root / "dev/serial/by-id", root).get(real, ""),
        _links(root / "dev/serial/by-path", root).get(real, ""),
        usb_of(device) if device.exists() else None,
        driver,
        int(latency) if latency.isdecimal() else None,
    )


def serial_devices(root: Path = ROOT) -> list[SerialDevice]:
    """Serial ports with hardware behind them, by name; at most `MAX_DEVICES`."""
    found: list[SerialDevice] = []
    with contextlib.suppress(OSError):
        for tty in sorted((root / "sys/class/tty").iterdir()):
            # Ports of the mainboard are listed whether or not anything is there: those must be named.
            subsystem = os.path.basename(os.path.realpath(tty / "device" / "subsystem"))
            if (tty / "device").exists() and subsystem not in ("platform", "serial-base"):
                found.append(serial_device(f"/dev/{tty.name}", root))
    return found[:MAX_DEVICES]


def keypads(root: Path = ROOT) -> list[str]:
    """Input devices that look like keyboards, by their lasting names."""
    links = _links(root / "dev/input/by-id", root) or _links(root / "dev/input/by-path", root)
    return sorted(link for link in links.values() if link.endswith("-event-kbd"))[:MAX_DEVICES]


def decks(root: Path = ROOT) -> list[Usb]:
    """Elgato's USB devices."""
    try:
        devices = sorted((root / "sys/bus/usb/devices").iterdir())
    except OSError:
        return []
    found = (usb_of(device) for device in devices if _read(device / "idVendor").lower() == ELGATO)
    return [usb for usb in found if usb is not None][:MAX_DEVICES]


def holders(path: str, root: Path = ROOT) -> list[Holder]:
    """Other processes that have the device open, as far as this user may see them.

    The process behind a pseudo-terminal is the device itself and not among them, though it may hold both ends.
    """
    real = os.path.realpath(root / path.lstrip("/"))
    index = os.path.basename(real) if os.path.dirname(real) == str(root / "dev/pts") else ""
    found = []
    for process in sorted((p for p in (root / "proc").glob("[0-9]*")), key=lambda p: int(p.name)):
        if int(process.name) == os.getpid():
            continue
        with contextlib.suppress(OSError):
            held = any(os.path.realpath(fd) == real for fd in (process / "fd").iterdir())
            if held and not (index and _is_behind(process, index)):
                found.append(Holder(int(process.name), _read(process / "comm") or "?"))
    return found


def _is_behind(process: Path, index: str) -> bool:
    """Whether a process has the master of the pseudo-terminal of that number."""
    for fd in (process / "fd").iterdir():
        if os.path.basename(os.path.realpath(fd)) == "ptmx":
            lines = _read(process / "fdinfo" / fd.name).splitlines()
            if any(line.split() == ["tty-index:", index] for line in lines):
                return True
    return False


def denied(path: str) -> str | None:
    """Group whose members may open the device where this user may not; "" if no group may; None if all is well."""
    if os.access(path, os.R_OK | os.W_OK):
        return None
    info = os.stat(path)
    if not info.st_mode & stat.S_IRGRP:
        return ""
    try:
        return grp.getgrgid(info.st_gid).gr_name
    except KeyError:
        return ""


def user() -> str:
    """Name of the user, for lines to paste."""
    try:
        return pwd.getpwuid(os.getuid()).pw_name
    except KeyError:
        return "$USER"


def waits_for_login(group: str) -> bool:
    """True when the user is a member of the group and this log-in does not know it yet."""
    try:
        entry = grp.getgrnam(group)
    except KeyError:
        return False
    return user() in entry.gr_mem and entry.gr_gid not in os.getgroups()
