"""Where in a capture each frame stands, and what stands between them.

A decoder says what it found and how many bytes it gave up, not where.  Delimited protocols are fed one piece at a
time, so a frame is the whole piece; of the others a frame is known as bytes again, and stands where those bytes are
first found behind the frame before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import msgspec

from firmware_bridge.framing.decoder import Decoder

CHUNK = 4096


class Piece(msgspec.Struct, frozen=True):
    """``size`` bytes from offset ``at``: a frame, or none.  ``exact`` False: somewhere in these."""

    at: int
    size: int
    frame: Any = None
    exact: bool = True


def walk(
    decoder: Decoder[Any], data: bytes, *, delimiter: bytes = b"", raw: Callable[[Any], bytes] | None = None
) -> Iterator[Piece]:
    """All of ``data`` but blanks between delimiters, in order.

    ``delimiter`` is the byte that ends each frame; ``raw`` makes a frame bytes again.  With neither, the data are fed
    byte by byte, and a frame that was found together with garbage has no exact place.
    """
    told = 0
    for at, chunk in _chunks(data, delimiter, CHUNK if raw is not None else 1):
        framed, garbage = decoder.framed, decoder.garbage
        found = decoder.feed(chunk)
        if delimiter:
            if found or decoder.garbage > garbage:
                lost = len(chunk) - len(delimiter)
                yield Piece(at, len(chunk), found[0]) if found else Piece(at, lost)
            told = at + len(chunk) if chunk.endswith(delimiter) else told
        elif found:
            end = decoder.fed - decoder.pending
            if raw is not None:
                yield from _by_search(data, told, found, raw)
                told = _end(data, told, found, raw)
            else:
                yield from _by_count(told, end, found, decoder.framed - framed, decoder.garbage - garbage)
                told = end
    rest = decoder.gap()
    if rest and raw is not None:
        yield from _by_search(data, told, rest, raw)
        told = _end(data, told, rest, raw)
    elif rest:
        yield from (Piece(told, len(data) - told, frame, exact=False) for frame in rest)
        told = len(data)
    if told < len(data):
        yield Piece(told, len(data) - told)


def _chunks(data: bytes, delimiter: bytes, size: int) -> Iterator[tuple[int, bytes]]:
    at = 0
    while at < len(data):
        end = at + size
        if delimiter:
            closed = data.find(delimiter, at)
            end = len(data) if closed < 0 else closed + len(delimiter)
        yield at, data[at:end]
        at = end


def _by_search(data: bytes, told: int, found: list[Any], raw: Callable[[Any], bytes]) -> Iterator[Piece]:
    for frame in found:
        wire = raw(frame)
        at = data.index(wire, told)
        if at > told:
            yield Piece(told, at - told)
        yield Piece(at, len(wire), frame)
        told = at + len(wire)


def _end(data: bytes, told: int, found: list[Any], raw: Callable[[Any], bytes]) -> int:
    for frame in found:
        wire = raw(frame)
        told = data.index(wire, told) + len(wire)
    return told


def _by_count(told: int, end: int, found: list[Any], framed: int, garbage: int) -> Iterator[Piece]:
    if len(found) == 1 and garbage == 0:
        # What was given up since the last frame, and told by no frame, stands before this one.
        if end - framed > told:
            yield Piece(told, end - framed - told)
        yield Piece(end - framed, framed, found[0])
        return
    for frame in found:
        yield Piece(told, end - told, frame, exact=False)
