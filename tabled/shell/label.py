"""``tabled label``: mark by hand what a recording shows, on a page of this machine."""

from __future__ import annotations

import asyncio
import signal
from pathlib import Path

import click

from tabled.sensing.label import LabelBook, LabelError
from tabled.sensing.label_export import export
from tabled.sensing.label_page import LabelPage
from tabled.sensing.recording import Recording, RecordingError


@click.command()
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="Port of the page; 0 takes a free one.")
@click.option(
    "--export",
    "truth",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write the marks as a scene's truth (JSON) to this file, and end.",
)
def label(file: Path, port: int, truth: Path | None) -> None:
    """Mark visits of hands and landings of chips in a recording (FILE.mcap).

    Prints the address of a page; Ctrl-C ends.  Marks are kept beside the recording after each one, so the recording is
    never deleted to make room, and the page may be closed and opened again at any time.
    """
    try:
        recording = Recording.open(file)
        if truth is not None:
            truth.write_bytes(export(LabelBook(recording).load(), recording))
            click.echo(f"{truth}: written")
            return
        asyncio.run(_serve(recording, port))
    except OSError as problem:
        raise click.ClickException(f"{truth}: cannot be written ({problem.strerror}); choose another file") from problem
    except (RecordingError, LabelError) as problem:
        raise click.ClickException(str(problem)) from problem


async def _serve(recording: Recording, port: int) -> None:
    if not recording.stamps_ns:
        raise LabelError(f"{recording.path}: has no pictures; it was written while the camera was lost")
    stop = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    page = LabelPage(recording, port=port)
    await page.start()
    try:
        click.echo(f"{len(recording.stamps_ns)} frames; open {page.url}")
        await stop.wait()
    finally:
        await page.stop()
