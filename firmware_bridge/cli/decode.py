"""``bridge decode``: the frames in a capture, each named, and what was no frame counted."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import click
import msgspec

from firmware_bridge.cli import frame_names
from firmware_bridge.framing import feig, metratec, panel, pepper
from firmware_bridge.framing.decoder import Decoder

MAX_BYTES = 64 << 20
CHUNK = 4096
_HEX = re.compile(r"(0x)?[0-9a-fA-F]{2}([\s:,-]*(0x)?[0-9a-fA-F]{2})*[\s:,-]*")
_NOT_HEX = re.compile(r"0x|[\s:,-]")


class Protocol(msgspec.Struct, frozen=True):
    """A way to read bytes: a fresh decoder, and a frame's line in words."""

    name: str
    make: Callable[[], Decoder[Any]]
    say: Callable[[Any], str]


PROTOCOLS: tuple[Protocol, ...] = (
    Protocol("panel", panel.PanelDecoder, frame_names.panel_frame),
    Protocol("feig", lambda: feig.FeigDecoder(replies=False), frame_names.feig_either),
    Protocol("feig-replies", feig.FeigDecoder, frame_names.feig_reply),
    Protocol("feig-requests", lambda: feig.FeigDecoder(replies=False), frame_names.feig_request),
    Protocol("pepper", pepper.PepperDecoder, frame_names.pepper_frame),
    Protocol("metratec", metratec.MetratecDecoder, frame_names.metratec_line),
)


@click.command()
@click.argument("source", metavar="FILE|HEX")
@click.option(
    "--protocol", type=click.Choice([p.name for p in PROTOCOLS]), help="Read it as this; else the one that fits best."
)
def decode(source: str, protocol: str | None) -> None:
    """Name each frame in a capture and count what is none.

    A FILE holds raw bytes or hexadecimal text ("-" is standard input); HEX is written out on the command line,
    with or without spaces. Ends with status 1 if there is no frame at all.
    """
    data = _bytes_of(source)
    chosen = next((p for p in PROTOCOLS if p.name == protocol), None) or best(data)
    decoder = chosen.make()
    click.secho(f"{len(data)} bytes as {chosen.name}", bold=True)
    for at, frame in _frames(decoder, data):
        click.echo(f"{at:>8}  {chosen.say(frame)}")
    pending = decoder.pending
    parts = [
        f"{decoder.frames} frame{'s' * (decoder.frames != 1)}",
        f"{decoder.framed} bytes in frames",
        f"{decoder.garbage} bytes of garbage",
    ]
    parts += [f"{decoder.refused} refused (checksum, version or length)"] * bool(decoder.refused)
    parts += [f"{pending} bytes of an unfinished frame"] * bool(pending)
    click.secho(", ".join(parts), fg="green" if decoder.frames and not decoder.garbage + pending else "yellow")
    if not decoder.frames:
        raise SystemExit(1)


def best(data: bytes) -> Protocol:
    """The protocol that makes frames of most of these bytes; an ASCII line is weaker evidence than a checksum."""

    def score(protocol: Protocol) -> tuple[int, bool]:
        decoder = protocol.make()
        for at in range(0, min(len(data), 1 << 20), CHUNK):
            decoder.feed(data[at : at + CHUNK])
        decoder.gap()
        return (decoder.framed if decoder.frames else 0), protocol.name != "metratec"

    return max(PROTOCOLS, key=score)


def _frames(decoder: Decoder[Any], data: bytes) -> Iterator[tuple[int, Any]]:
    """Each frame with the offset at which it was complete."""
    for at in range(len(data)):
        for frame in decoder.feed(data[at : at + 1]):
            yield at + 1, frame
    for frame in decoder.gap():
        yield len(data), frame


def _bytes_of(source: str) -> bytes:
    path = Path(source)
    if source == "-":
        data = sys.stdin.buffer.read(MAX_BYTES + 1)
    elif _looks_like_a_file(path):
        try:
            with path.open("rb") as file:
                data = file.read(MAX_BYTES + 1)
        except OSError as error:
            raise click.ClickException(f"{source} cannot be read: {error.strerror}. Check its name.") from error
    elif _HEX.fullmatch(source):
        return bytes.fromhex(_NOT_HEX.sub("", source))
    else:
        raise click.ClickException(f"'{source[:60]}' is neither a file nor hexadecimal. Check the name or the digits.")
    if len(data) > MAX_BYTES:
        raise click.ClickException(f"{source} is longer than {MAX_BYTES >> 20} MiB. Cut the capture into parts.")
    text = data.decode("ascii", errors="replace").strip()
    # A capture of ASCII frames is hardly ever made of whole pairs of hexadecimal digits alone.
    return bytes.fromhex(_NOT_HEX.sub("", text)) if text and _HEX.fullmatch(text) else data


def _looks_like_a_file(path: Path) -> bool:
    try:
        return path.exists()
    except OSError:  # a name too long: hexadecimal
        return False
