"""``bridge decode``: the frames in a capture, each named and placed, and what was no frame shown as such."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import msgspec

from firmware_bridge.cli import feig_words, frame_names, shapes
from firmware_bridge.cli.captures import Piece, walk
from firmware_bridge.cli.text import wrapped
from firmware_bridge.drivers.registry import decoder_names, third_decoder
from firmware_bridge.framing import feig, metratec, panel, pepper
from firmware_bridge.framing.decoder import Decoder
from firmware_bridge.session.problems import BridgeProblem

MAX_BYTES = 64 << 20
JUDGED = 1 << 20
"""Bytes by which the protocol is chosen."""
_HEX = re.compile(r"(0x)?[0-9a-fA-F]{2}([\s:,-]*(0x)?[0-9a-fA-F]{2})*[\s:,-]*")
_NOT_HEX = re.compile(r"0x|[\s:,-]")

Say = Callable[[Any], tuple[str, ...]]


class Protocol(msgspec.Struct, frozen=True):
    """A way to read bytes.  ``say`` makes a fresh function from a frame to its lines; see `captures.walk` for the rest.

    ``checked``: whether a frame carried a good checksum, None if each does.  ``shape``: what other bytes look like.
    """

    name: str
    make: Callable[[], Decoder[Any]]
    say: Callable[[], Say]
    delimiter: bytes = b""
    raw: Callable[[Any], bytes] | None = None
    checked: Callable[[Any], bool] | None = None
    shape: Callable[[bytes], str] = shapes.unknown

    def pieces(self, data: bytes) -> tuple[Decoder[Any], list[Piece]]:
        """All of ``data`` in pieces, and the decoder with its counts."""
        decoder = self.make()
        return decoder, list(walk(decoder, data, delimiter=self.delimiter, raw=self.raw))


def _feig_raw(frame: feig.FeigFrame) -> bytes:
    return feig.encode(frame.command, frame.payload, address=frame.address, advanced=frame.advanced)


def _one(say: Callable[[Any], str]) -> Callable[[], Say]:
    return lambda: lambda frame: (say(frame),)


PROTOCOLS: tuple[Protocol, ...] = (
    Protocol(
        "panel", panel.PanelDecoder, lambda: frame_names.panel_frame, delimiter=panel.DELIMITER, shape=shapes.panel
    ),
    Protocol(
        "feig",
        lambda: feig.FeigDecoder(replies=False),
        feig_words.FeigBothWays,
        raw=_feig_raw,
        shape=shapes.feig,
    ),
    Protocol(
        "pepper",
        pepper.PepperDecoder,
        lambda: frame_names.pepper_frame,
        raw=lambda frame: pepper.encode(frame.payload[0], frame.payload[1:]),
        shape=shapes.pepper,
    ),
    Protocol(
        "metratec",
        frame_names.MetratecBothWays,
        lambda: frame_names.metratec_line,
        delimiter=metratec.CR,
        checked=lambda line: bool(line.checked),
        shape=shapes.metratec,
    ),
)
ONE_WAY: tuple[Protocol, ...] = (
    Protocol("feig-replies", feig.FeigDecoder, _one(feig_words.feig_reply), raw=_feig_raw, shape=shapes.feig),
    Protocol(
        "feig-requests",
        lambda: feig.FeigDecoder(replies=False),
        _one(feig_words.feig_request),
        raw=_feig_raw,
        shape=shapes.feig,
    ),
)
NAMES = tuple(p.name for p in (*PROTOCOLS, *ONE_WAY))


@click.command()
@click.argument("source", metavar="FILE|HEX")
@click.option(
    "--protocol",
    "--driver",
    metavar="NAME",
    help=f"Read it as this, else as the one that fits best: {', '.join(NAMES)}, or an added driver's.",
)
def decode(source: str, protocol: str | None) -> None:
    """Name each frame in a capture, with its offset and size, and show what is none.

    A FILE holds raw bytes or hexadecimal text ("-" is standard input); HEX is written out on the command line,
    with or without spaces. Without --protocol the checksums decide. Ends with status 1 if there is no frame at all.
    """
    data = _bytes_of(source)
    chosen = _named(protocol) if protocol else best(data)
    if chosen is None:
        names = ", ".join(p.name for p in PROTOCOLS)
        click.secho(f"{len(data)} bytes, 0 frames: they are of no protocol here ({names})", fg="yellow")
        click.echo("Check the baud rate at which they were captured, or name an added driver with --protocol.")
        raise SystemExit(1)
    decoder, pieces = chosen.pieces(data)
    click.secho(f"{len(data)} bytes as {chosen.name}", bold=True)
    click.secho("  offset  size", dim=True)
    say = chosen.say()
    unfinished = 0
    for piece in pieces:
        unfinished += _show(piece, say, chosen, data)
    _sum_up(decoder, len(data), unfinished)
    if not decoder.frames:
        raise SystemExit(1)


def _show(piece: Piece, say: Say, protocol: Protocol, data: bytes) -> int:
    """Prints one piece.  Returns its size if it is a frame that was cut short at the end of the capture."""
    where = f"{'' if piece.exact else '~'}{piece.at}"
    if piece.frame is not None:
        first, *others = say(piece.frame)
        click.echo(wrapped(first, first=f"{where:>8} {piece.size:>5}  ", indent=24))
        for line in others:
            click.echo(wrapped(line, first=f"{'':16}", indent=24))
        return 0
    raw = data[piece.at : piece.at + piece.size]
    looks = protocol.shape(raw)
    last = piece.at + piece.size == len(data)
    cut = last and (bool(protocol.delimiter) or looks.startswith(shapes.UNFINISHED))
    what = "none   " if not cut else "cut    "
    click.secho(wrapped(feig_words.hexes(raw), first=f"{where:>8} {piece.size:>5}  {what} ", indent=24), fg="yellow")
    if looks:
        click.secho(wrapped(looks, first=f"{'':24}", indent=24), fg="yellow")
    return piece.size if cut else 0


def _sum_up(decoder: Decoder[Any], size: int, unfinished: int) -> None:
    garbage = size - decoder.framed - unfinished
    parts = [
        f"{decoder.frames} frame{'s' * (decoder.frames != 1)}",
        f"{decoder.framed} bytes in frames",
        f"{garbage} bytes of garbage",
    ]
    parts += [f"{unfinished} bytes of an unfinished frame"] * bool(unfinished)
    click.secho(", ".join(parts), fg="green" if decoder.frames and not garbage + unfinished else "yellow")


def _named(name: str) -> Protocol:
    """A protocol by its name, or an added driver's decoder.  `BridgeProblem` says which there are."""
    for known in (*PROTOCOLS, *ONE_WAY):
        if known.name == name:
            return known
    made = third_decoder(name)
    if made is None:
        names = ", ".join((*NAMES, *decoder_names()))
        raise BridgeProblem(name, f"there is no decoder '{name}'.", f"Decoders here: {names}.")
    return Protocol(name, made, _one(str))


def best(data: bytes) -> Protocol | None:
    """The protocol that makes frames of most of these bytes, and of two equal ones that with good checksums.

    Where none makes any, the one whose broken frames these look like; None if they look like nothing here.
    """

    def score(protocol: Protocol) -> tuple[int, int, int]:
        checked = unchecked = looks = 0
        for piece in protocol.pieces(data[:JUDGED])[1]:
            if piece.frame is None:
                looks += piece.size * bool(protocol.shape(data[piece.at : piece.at + piece.size]))
            elif protocol.checked is None or protocol.checked(piece.frame):
                checked += piece.size
            else:
                unchecked += piece.size
        return checked + unchecked, checked, looks

    scores = [(score(p), p) for p in PROTOCOLS]
    highest, chosen = max(scores, key=lambda one: one[0])
    return chosen if any(highest) else None


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
