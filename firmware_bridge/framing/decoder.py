"""What every decoder promises: bytes in, frames or counted garbage out.

A decoder keeps four numbers, and at every moment ``fed == framed + garbage + pending``: no byte
disappears without being counted.  It holds at most one frame's worth of pending bytes, whatever
is sent to it, and after a bad frame it looks again from the next byte or delimiter: one bad frame
never costs the frames behind it.
"""

from __future__ import annotations

from typing import Protocol, TypeVar

FrameT = TypeVar("FrameT")


class Decoder(Protocol[FrameT]):
    """Shape shared by all decoders; `firmware_bridge.conformance` is the kit that checks it."""

    fed: int
    """Bytes received since the decoder was made."""
    framed: int
    """Bytes that became frames, with their delimiters."""
    garbage: int
    """Bytes given up."""
    frames: int
    """Frames delivered."""
    refused: int
    """Candidates that had a frame's shape and were refused: checksum, version, length."""

    @property
    def pending(self) -> int:
        """Bytes held back because they may be the start of a frame."""

    def feed(self, data: bytes) -> list[FrameT]:
        """Takes bytes as they came; returns the frames that are now complete, oldest first."""

    def gap(self) -> list[FrameT]:
        """The line has been silent for longer than the protocol allows inside a frame.

        A decoder whose protocol knows such a gap gives up the pending head and returns what it
        finds behind it; one that relies on delimiters returns nothing.
        """
