"""``python -m hw_sim --rundir DIR``: a table of simulated people and hardware for a daemon to watch.

Prints one JSON line with the devices' ports, reads one with the broker's address, deals, prints a summary, and
leaves the hardware plugged in until its standard input ends.  With ``--mqtt`` it prints the parts of ``table.toml``,
waits for that broker, and leaves the hardware plugged in until Ctrl-C.
Exit status: 0 all rulings as expected, 1 some differed (see results.jsonl), 2 it could not run.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import signal
import sys
from itertools import islice
from pathlib import Path
from random import SystemRandom

from hw_sim.devices.faults import FaultPlan, FaultTextError, parse_faults
from hw_sim.devices.physics import Noise
from hw_sim.devices.quirks import Quirks, UnknownQuirkError, parse_quirks
from hw_sim.floor import FloorError
from hw_sim.generate import generate_hands
from hw_sim.hands import Hand, HandFormatError, load_hands
from hw_sim.live import LiveOptions, run
from hw_sim.mishaps import MishapPlan
from hw_sim.people import Pace
from hw_sim.sloppy import Manners
from hw_sim.styles import STYLES
from hw_sim.table import TableOptions


def _address(text: str) -> tuple[str, int]:
    host, _, port = text.rpartition(":")
    if not host or not port.isdecimal() or not 0 < int(port) < 65536:
        raise argparse.ArgumentTypeError(f"{text!r} is no HOST:PORT, such as 127.0.0.1:1883")
    return host, int(port)


def parse_arguments(argv: list[str] | None = None) -> argparse.Namespace:
    """The command line."""
    p = argparse.ArgumentParser(prog="python -m hw_sim", description="simulated table: people, chips, reader, panel")
    p.add_argument("--rundir", type=Path, required=True, help="folder for chips.csv, results.jsonl, truth.jsonl")
    p.add_argument("--hands", type=int, default=None, metavar="N", help="at most N hands (own hands: 5 if not given)")
    p.add_argument("--hands-file", type=Path, default=None, help="hands to deal (JSON lines)")
    p.add_argument("--generate", action="store_true", help="deal own hands even where a hands file is present")
    p.add_argument("--only", nargs="+", default=[], metavar="NAME", help="only the hands of these names")
    p.add_argument("--structure", default="no-limit", help='betting structure, or "all"')
    p.add_argument("--seats", type=int, choices=range(2, 11), default=None, metavar="2..10", help="antennas")
    p.add_argument("--seed", type=int, default=0)
    p.add_argument("--speed", type=float, default=1.0, help="how many times faster than people are")
    p.add_argument("--rf", choices=("none", "real"), default="none", help="reader's timing: at once, or as measured")
    p.add_argument("--miss", type=float, nargs=2, default=(0.0, 0.0), metavar=("LONE", "BURIED"), help="missed reads")
    p.add_argument("--ghost", type=float, default=0.0, help="chance of a ghost UID in one inventory")
    p.add_argument("--bleed", type=float, default=0.0, help="chance that a neighbour's tag answers")
    p.add_argument("--rf-error", type=float, default=0.0, help="chance that an inventory ends in an RF error")
    _add_hardware(p)
    _add_trouble(p)
    p.add_argument("--people", choices=("honest", "sloppy"), default="honest", help="sloppy: own hands, played live")
    p.add_argument("--sloppiness", type=float, default=0.5, help="share of acts carried out sloppily where they can be")
    p.add_argument("--acts", nargs="+", choices=sorted(STYLES), default=[], metavar="STYLE", help="do these first")
    p.add_argument("--ruling-timeout", type=float, default=30.0, metavar="S", help="wait for a final ruling")
    p.add_argument("--site", default="demo")
    p.add_argument("--table", default="t1")
    p.add_argument(
        "--mqtt",
        type=_address,
        metavar="HOST:PORT",
        help='the broker; without it, {"mqtt": {"host": …, "port": …}} is read as one line of standard input',
    )
    p.add_argument("--broker-timeout", type=float, default=600.0, metavar="S", help="wait for the broker of --mqtt")
    args = p.parse_args(argv)
    if args.speed <= 0 or args.ruling_timeout <= 0 or (args.hands is not None and args.hands < 1):
        p.error("--speed, --ruling-timeout and --hands must be above 0")
    if min(args.unplug_every, args.reboot_every, args.panel_reset_every, args.quiet_hold) < 0:
        p.error("--unplug-every, --reboot-every, --panel-reset-every and --quiet-hold are not below 0")
    if args.acts and args.people != "sloppy":
        p.error("--acts goes with --people sloppy")
    if not 0 <= args.sloppiness <= 1:
        p.error("--sloppiness is a share between 0 and 1")
    return args


def _add_hardware(p: argparse.ArgumentParser) -> None:
    p.add_argument("--reader", choices=("feig", "feig-tcp", "metratec", "pepper"), default="feig")
    p.add_argument("--readers", type=int, choices=(1, 2), default=1, help="2: the seats are split over two readers")
    p.add_argument("--reader-mode", choices=("host", "buffered", "notify", "notify-ack"), default="host", help="FEIG")
    p.add_argument("--quirks", type=_quirks, default=Quirks(), metavar="NAME,…", help="see hw_sim/devices/quirks.py")
    p.add_argument("--quiet-hold", type=float, default=0.0, metavar="MS", help="quiet tags remember without power")
    p.add_argument("--clones", type=int, choices=range(9), default=0, metavar="0..8", help="chips with another's UID")


def _add_trouble(p: argparse.ArgumentParser) -> None:
    p.add_argument("--fault", type=_faults, default=FaultPlan(), metavar="drop=0.001,dup=…,corrupt=…,split=…,stall=…")
    p.add_argument("--unplug-every", type=float, default=0.0, metavar="S", help="mean seconds between pulled cables")
    p.add_argument("--reboot-every", type=float, default=0.0, metavar="S", help="the same for a reader's restart")
    p.add_argument("--panel-reset-every", type=float, default=0.0, metavar="S", help="the same for the panel")


def _faults(text: str) -> FaultPlan:
    try:
        return parse_faults(text)
    except FaultTextError as e:
        raise argparse.ArgumentTypeError(str(e)) from e


def _quirks(text: str) -> Quirks:
    try:
        return parse_quirks(text)
    except UnknownQuirkError as e:
        raise argparse.ArgumentTypeError(str(e)) from e


def choose_hands(args: argparse.Namespace) -> list[Hand]:
    """Hands to deal, at least one; an error says which option left none."""
    hands = _find_hands(args)
    if not hands:
        raise HandFormatError("no hand is left after --structure and --only: loosen them")
    return hands


def _find_hands(args: argparse.Namespace) -> list[Hand]:
    """Hands from the named file, else from the shared ones, else the simulator's own."""
    path = args.hands_file
    if path is None and not args.generate and args.people == "honest":
        shared = Path(os.environ.get("TABLED_SHARED", "../shared")) / "hands" / "hands.jsonl"
        path = shared if shared.is_file() else None
    if path is None:
        hands = generate_hands(args.seed, args.hands or 5)
        return [h for h in hands if not args.only or h.hand in args.only]
    structure = None if args.structure == "all" else args.structure
    return list(islice(load_hands(path, only=args.only, structure=structure), args.hands))


def seats_for(args: argparse.Namespace, hands: list[Hand]) -> int:
    """Seats of the table: as asked, else as many as the fullest hand needs."""
    most = max(h.players for h in hands)
    if args.seats and args.seats < most:
        raise HandFormatError(f"--seats {args.seats} is too few: a chosen hand has {most} players")
    seats: int = args.seats or most
    if args.reader == "pepper" and seats > 8 * args.readers:
        raise HandFormatError(f"a Pepper has 8 antennas and the table {seats} seats: add --readers 2")
    return seats


def main(argv: list[str] | None = None) -> int:
    """Entry point."""
    args = parse_arguments(argv)
    try:
        hands = choose_hands(args)
        seats = seats_for(args, hands)
    except HandFormatError as e:
        print(f"hw_sim: {e}", file=sys.stderr)
        return 2
    return asyncio.run(_until_told(hands, live_options(args, seats)))


def live_options(args: argparse.Namespace, seats: int) -> LiveOptions:
    """What the command line asks for."""
    lone, buried = args.miss
    noise = Noise(miss_lone=lone, miss_buried=buried, ghost=args.ghost, bleed=args.bleed, rf_error=args.rf_error)
    return LiveOptions(
        rundir=args.rundir,
        site=args.site,
        table=args.table,
        pace=Pace(speed=args.speed, ruling_timeout_s=args.ruling_timeout, looks=4),
        faults=args.fault,
        mishaps=MishapPlan(
            unplug_every_s=args.unplug_every,
            reboot_every_s=args.reboot_every,
            panel_reset_every_s=args.panel_reset_every,
        ),
        mqtt=args.mqtt,
        broker_patience_s=args.broker_timeout if args.mqtt else 0.0,
        manners=Manners(sloppiness=args.sloppiness, script=tuple(args.acts)) if args.people == "sloppy" else None,
        hardware=TableOptions(
            panel_salt=SystemRandom().randrange(1 << 32),
            seed=args.seed,
            seats=seats,
            real_rf=args.rf == "real",
            noise=noise,
            reader=args.reader,
            readers=args.readers,
            feig_mode=args.reader_mode,
            quirks=args.quirks,
            quiet_hold_ms=args.quiet_hold,
            clones=args.clones,
        ),
    )


async def _until_told(hands: list[Hand], options: LiveOptions) -> int:
    task = asyncio.ensure_future(run(hands, options))
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, task.cancel)
    try:
        return await task
    except asyncio.CancelledError:
        return 0
    except FloorError as e:
        print(f"hw_sim: {e}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
