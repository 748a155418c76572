"""The ``tabled`` command."""

from __future__ import annotations

import asyncio
import gc
import importlib
import signal
from collections.abc import Awaitable, Callable
from pathlib import Path

import click

from firmware_bridge.supervisor import BridgeProblem
from tabled.journal import JournalError
from tabled.outlets.broker import BrokerError
from tabled.outlets.display import DisplayError
from tabled.shell.config import ConfigError, load
from tabled.shell.daemon import Daemon
from tabled.shell.demo import DemoOptions
from tabled.shell.demo import demo as run_demo
from tabled.shell.engine import JournalMismatch
from tabled.shell.journal_tool import journal as journal_group
from tabled.shell.judge import judge
from tabled.shell.label import label
from tabled.shell.profile_show import profile
from tabled.shell.profiles import ProfileError
from tabled.shell.record import record
from tabled.shell.replay import replay

PROBLEMS = (
    ConfigError,
    BridgeProblem,
    JournalError,
    JournalMismatch,
    BrokerError,
    DisplayError,
    ProfileError,
)
"""Errors whose text is one line that says what to do; anything else is a fault of ours and keeps its traceback."""


_LOADED_LATER = {"calibrate": "calibration.cli"}
"""Groups whose modules are imported when they are asked for: theirs bring OpenCV along."""


class _Commands(click.Group):
    """The commands of this module, and those of `_LOADED_LATER`."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted({*super().list_commands(ctx), *_LOADED_LATER})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name in _LOADED_LATER:
            found: click.Command = getattr(importlib.import_module(_LOADED_LATER[cmd_name]), cmd_name)
            return found
        return super().get_command(ctx, cmd_name)


@click.group(cls=_Commands)
@click.version_option(package_name="tabled")
def main() -> None:
    """tabled: the rules of the table, seen and said in a second."""


@main.command()
@click.option("--hands", type=click.IntRange(1, 100_000), default=None, help="Deal only so many hands.")
@click.option("--exit", "leave", is_flag=True, help="End when the hands are dealt.")
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of the simulated people and hardware.")
@click.option(
    "--speed", type=click.FloatRange(0.1, 100), default=2.0, show_default=True, help="Pace of the simulated people."
)
@click.option("--journal", type=click.Path(path_type=Path, dir_okay=False), help="Keep the journal in this file.")
@click.option("--headless", is_flag=True, help="Serve no display.")
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="Port of the display; 0 takes a free one.")
@click.option("--generate", is_flag=True, help="Deal hands of the simulator's own even where real ones are present.")
def demo(
    *,
    hands: int | None,
    leave: bool,
    seed: int,
    speed: float,
    journal: Path | None,
    headless: bool,
    port: int,
    generate: bool,
) -> None:
    """A whole table without hardware: simulated chips, reader and panel; the real daemon, broker and display."""
    options = DemoOptions(
        hands=hands,
        exit=leave,
        seed=seed,
        speed=speed,
        journal=journal,
        headless=headless,
        display_port=port,
        generate=generate,
    )
    raise SystemExit(_serve(lambda stop: run_demo(options, click.echo, stop)))


@main.command()
@click.option(
    "--config",
    "path",
    type=click.Path(path_type=Path, dir_okay=False),
    required=True,
    help="The table's configuration, a TOML file.",
)
def run(path: Path) -> None:
    """The daemon of one table, on the ports and the broker that the configuration names."""

    async def serve(stop: asyncio.Event) -> int:
        daemon = Daemon(load(path), click.echo)
        try:
            await daemon.open()
            click.echo(f"broker {daemon.broker.kind} on {daemon.broker.host}:{daemon.broker.port}")
            if daemon.display_url:
                click.echo(f"dealer's display: {daemon.display_url}")
            await daemon.run(stop)
        finally:
            await daemon.close()
        return 0

    raise SystemExit(_serve(serve))


def _serve(work: Callable[[asyncio.Event], Awaitable[int]]) -> int:
    """Run ``work`` until it ends or a signal asks it to; a known problem becomes its one line."""

    async def watched() -> int:
        stop = asyncio.Event()
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, stop.set)
        return await work(stop)

    gc.freeze()
    try:
        return asyncio.run(watched())
    except PROBLEMS as problem:
        click.echo(f"tabled: {problem}", err=True)
        return 2


main.add_command(journal_group)
main.add_command(judge)
main.add_command(label)
main.add_command(profile)
main.add_command(record)
main.add_command(replay)
