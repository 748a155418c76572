"""``python -m hw_sim.devices feig panel``: simulated devices alone, to try ``bridge`` on, without a table or a daemon.

Each device is on a pseudo-terminal or a socket of its own, under a name that lasts (a link in ``--dir``, as udev keeps
under by-id).  Chips come and go and keys are pressed by themselves, and every such act is printed, so that it can
be compared with what ``bridge dump`` shows.  Ctrl-C ends it.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import signal
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import msgspec

from hw_sim.devices import Device
from hw_sim.devices.faults import NO_FAULTS, FaultPlan, FaultTextError, parse_faults
from hw_sim.devices.feig import FeigReader
from hw_sim.devices.metratec import MetratecReader
from hw_sim.devices.panel import KEY_CODES, Panel
from hw_sim.devices.pepper import PepperReader
from hw_sim.devices.physics import Timing
from hw_sim.devices.quirks import NO_QUIRKS, Quirks, UnknownQuirkError, parse_quirks
from hw_sim.devices.reader import Reader
from hw_sim.line_port import LinePort, now_ns
from hw_sim.pty_port import PtyPort
from hw_sim.tcp_caller import TcpCaller
from hw_sim.tcp_port import TcpPort

SECOND = 1_000_000_000
TICK_S = 0.05
AWAY_S = 2.0
CALLED = 10005
"""Port at which ``feig-calls`` expects the host."""


class Kind(msgspec.Struct, frozen=True):
    """A device by name: what it is, on what, and what the driver needs to be told."""

    driver: str
    line: str = "pty"
    make: type[Reader] | None = None
    arguments: dict[str, Any] = {}
    options: tuple[str, ...] = ()


KINDS: dict[str, Kind] = {
    "panel": Kind("panel"),
    "feig": Kind("feig", make=FeigReader),
    "feig-tcp": Kind("feig", "tcp", FeigReader),
    "feig-buffered": Kind("feig", "pty", FeigReader, {"mode": "buffered"}, ("mode=buffered",)),
    "feig-notify": Kind("feig", "pty", FeigReader, {"mode": "notify-ack"}, ("mode=notify",)),
    "feig-calls": Kind(
        "feig", "calls", FeigReader, {"mode": "notify-ack", "keepalive_ms": 1000.0, "calls": True}, ("mode=notify",)
    ),
    "metratec": Kind("metratec", make=MetratecReader),
    "metratec-tcp": Kind("metratec", "tcp", MetratecReader),
    "pepper": Kind("pepper", make=PepperReader),
    "pepper-tcp": Kind("pepper", "tcp", PepperReader),
}


class Stand(msgspec.Struct):
    """One device that is plugged in; ``field`` is what lies on its antennas."""

    name: str
    kind: Kind
    device: Any
    port: LinePort
    field: dict[int, list[str]]
    name_for_host: str
    back_ns: int = 0
    """When its cable is put back; 0 when it is in."""


def parse_arguments(argv: list[str] | None = None) -> argparse.Namespace:
    """The command line."""
    p = argparse.ArgumentParser(
        prog="python -m hw_sim.devices",
        description="simulated readers and panels to try 'tabled-bridge probe', 'dump' and 'doctor' on",
        epilog=f"Quirks: {', '.join(Quirks.__struct_fields__)} (see hw_sim/devices/quirks.py). "
        f"Faults: {', '.join(FaultPlan.__struct_fields__)}.",
    )
    p.add_argument("devices", nargs="+", choices=sorted(KINDS), metavar="DEVICE", help=", ".join(KINDS))
    p.add_argument("--dir", type=Path, default=None, help="folder for the lasting names (default: a temporary one)")
    p.add_argument("--antennas", type=int, choices=range(1, 9), default=3, metavar="1..8", help="of each reader")
    p.add_argument("--chips", type=int, default=4, metavar="N", help="chips of each reader, not all lying there")
    p.add_argument("--life", type=float, default=2.0, metavar="S", help="mean seconds between two acts; 0: none")
    p.add_argument("--quirks", type=_parsed(parse_quirks, UnknownQuirkError), default=NO_QUIRKS, metavar="NAME,…")
    p.add_argument(
        "--fault", type=_parsed(parse_faults, FaultTextError), default=NO_FAULTS, metavar="drop=0.01,corrupt=…"
    )
    p.add_argument("--rf", choices=("none", "real"), default="real", help="reader's timing: at once, or as measured")
    p.add_argument("--unplug-every", type=float, default=0.0, metavar="S", help="mean seconds between pulled cables")
    p.add_argument("--reboot-every", type=float, default=0.0, metavar="S", help="the same for a device's restart")
    p.add_argument("--seconds", type=float, default=None, metavar="S", help="end by itself after so long")
    p.add_argument("--quiet", action="store_true", help="print no acts")
    p.add_argument("--seed", type=int, default=1)
    args = p.parse_args(argv)
    if min(args.life, args.unplug_every, args.reboot_every, args.chips) < 0:
        p.error("--life, --unplug-every, --reboot-every and --chips are not below 0")
    if args.devices.count("feig-calls") > 1:
        p.error("feig-calls goes once: its port is fixed")
    return args


def _parsed(parse: Callable[[str], Any], wrong: type[Exception]) -> Callable[[str], Any]:
    def checked(text: str) -> Any:
        try:
            return parse(text)
        except wrong as error:
            raise argparse.ArgumentTypeError(str(error)) from error

    return checked


class Stands:
    """All devices, and what happens to them."""

    def __init__(self, args: argparse.Namespace, folder: Path) -> None:
        self._args, self._folder = args, folder
        self._rng = Random(args.seed)
        self._start_ns = now_ns()
        self._stands = [self._stand(name, n) for n, name in enumerate(_numbered(args.devices))]
        self._due = {what: self._later(every) for what, every in self._every().items()}

    def _stand(self, name: str, number: int) -> Stand:
        args, kind = self._args, KINDS[name.partition(":")[0]]
        name = name.replace(":", "-")
        seed = args.seed + number
        field: dict[int, list[str]] = {n: [] for n in range(1, args.antennas + 1)}
        device: Device
        if kind.make is None:
            device = Panel(seed=seed, drift_ppm=40.0, start_ns=now_ns())
        else:
            timing = Timing(real=args.rf == "real")
            device = kind.make(
                field.__getitem__,
                antennas=args.antennas,
                seed=seed,
                timing=timing,
                quirks=args.quirks,
                **kind.arguments,
            )
        port: LinePort
        if kind.line == "tcp":
            port = TcpPort(device, faults=args.fault, seed=seed)
        elif kind.line == "calls":
            port = TcpCaller(device, "127.0.0.1", CALLED, faults=args.fault, seed=seed)
        else:
            port = PtyPort(device, faults=args.fault, seed=seed, link=self._folder / name)
        path = port.plug()
        stand = Stand(name, kind, device, port, field, str(self._folder / name) if kind.line == "pty" else path)
        for n in range(args.chips):
            if n % 2 == 0:
                field[self._rng.randint(1, args.antennas)].append(_uid(number, n))
        return stand

    def introduce(self) -> None:
        """What is plugged in, and what to type."""
        for stand in self._stands:
            said = f"{stand.name:<14} {stand.name_for_host}"
            print(said + (f"  (now {stand.port.path})" if stand.kind.line == "pty" else ""))
        print()
        asked = [s.name_for_host for s in self._stands if s.kind.line != "calls"]
        if asked:
            print(f"  .venv/bin/tabled-bridge probe {' '.join(asked)}")
            print(f"  .venv/bin/tabled-bridge doctor {asked[0]}")
        for stand in self._stands:
            options = [f"-o {o}" for o in stand.kind.options]
            if stand.kind.make is not None:
                options.insert(0, "-o antennas=" + str(list(stand.field)).replace(" ", ""))
            words = ("  .venv/bin/tabled-bridge dump -d", stand.kind.driver, "-p", stand.name_for_host, *options)
            print(" ".join(words))
        print("\nCtrl-C ends it.", flush=True)

    def _every(self) -> dict[str, float]:
        args = self._args
        return {"act": args.life, "unplug": args.unplug_every, "reboot": args.reboot_every}

    def _later(self, mean_s: float) -> int | None:
        return now_ns() + round(self._rng.expovariate(1 / mean_s) * SECOND) if mean_s else None

    def tick(self) -> None:
        """Whatever is due now."""
        now = now_ns()
        for stand in self._stands:
            if stand.back_ns and now >= stand.back_ns:
                stand.back_ns = 0
                stand.port.plug()
                self._say(f"{stand.name} is plugged in again, now {stand.port.path}")
        for what, due in self._due.items():
            if due is not None and now >= due:
                getattr(self, f"_{what}")(self._rng.choice(self._stands))
                self._due[what] = self._later(self._every()[what])

    def _say(self, text: str) -> None:
        if not self._args.quiet:
            print(f"{(now_ns() - self._start_ns) / SECOND:9.3f}  {text}", flush=True)

    def _act(self, stand: Stand) -> None:
        if stand.kind.make is None:
            key = self._rng.choice(sorted(KEY_CODES))
            amount = 500 if key in ("bet", "raise", "raise_to", "raise_by", "number") else 0
            seq = stand.device.press(now_ns(), key, amount=amount)
            stand.port.kick()
            self._say(f"{stand.name}: {key} {amount or ''} pressed" if seq else f"{stand.name}: its queue is full")
            return
        number = self._stands.index(stand)
        uid = _uid(number, self._rng.randrange(max(1, self._args.chips)))
        at = next((a for a, uids in stand.field.items() if uid in uids), None)
        if at is None:
            at = self._rng.choice(list(stand.field))
            stand.field[at].append(uid)
            self._say(f"{stand.name}: {uid} put on antenna {at}")
        else:
            stand.field[at].remove(uid)
            stand.device.radio.lifted([uid])
            self._say(f"{stand.name}: {uid} taken from antenna {at}")

    def _unplug(self, stand: Stand) -> None:
        if not stand.back_ns:
            stand.port.unplug()
            stand.back_ns = now_ns() + round(AWAY_S * SECOND)
            self._say(f"{stand.name} is unplugged")

    def _reboot(self, stand: Stand) -> None:
        (stand.device.reset if stand.kind.make is None else stand.device.restart)(now_ns())
        stand.port.kick()
        self._say(f"{stand.name} restarts")

    def close(self) -> None:
        """Unplugs everything; says what went wrong on the lines."""
        for stand in self._stands:
            faults = ", ".join(f"{n} {what}" for what, n in stand.port.fault_counts().items())
            seen = ", ".join(f"{n} {what}" for what, n in sorted(stand.device.counts.items()))
            print(
                f"{stand.name}: opened {stand.port.opened} times; faults: {faults or 'none'}; "
                f"counted: {seen or 'nothing'}"
            )
            stand.port.unplug()


def _numbered(names: list[str]) -> list[str]:
    """Names made unique: the second "feig" is "feig:2"."""
    return [
        name if not names[:n].count(name) else f"{name}:{names[:n].count(name) + 1}" for n, name in enumerate(names)
    ]


def _uid(device: int, chip: int) -> str:
    return f"E0040150{device:02X}00{chip:04X}"


async def _run(args: argparse.Namespace, folder: Path) -> None:
    loop = asyncio.get_running_loop()
    stop = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop.set)
    stands = Stands(args, folder)
    stands.introduce()
    end = None if args.seconds is None else time.monotonic() + args.seconds
    try:
        while not stop.is_set() and (end is None or time.monotonic() < end):
            stands.tick()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(TICK_S):
                    await stop.wait()
    finally:
        stands.close()


def main(argv: list[str] | None = None) -> int:
    """Entry point."""
    args = parse_arguments(argv)
    with contextlib.ExitStack() as stack:
        folder = args.dir or Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="tabled-devices-")))
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            print(f"hw_sim.devices: {folder} cannot be made: {error.strerror}; choose another --dir", file=sys.stderr)
            return 2
        asyncio.run(_run(args, folder.resolve()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
