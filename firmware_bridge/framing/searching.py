"""Decoders of binary frames: a head claims a length, a checksum proves it, and a bad one costs a byte."""

from __future__ import annotations

from typing import Generic, TypeVar

FrameT = TypeVar("FrameT")


class SearchingDecoder(Generic[FrameT]):
    """The common part (see `decoder.Decoder`); a subclass knows heads and checksums.

    A length is believed until its checksum fails or a `gap` passes; then one byte is given up and the search starts
    again behind it.  Pending bytes never exceed the longest length that `_length_at` lets pass.
    """

    def __init__(self) -> None:
        self._buffer = bytearray()
        self.fed = 0
        self.framed = 0
        self.garbage = 0
        self.frames = 0
        self.refused = 0

    # -- what a subclass says --------------------------------------------------------------------

    def _head_from(self, at: int) -> int:
        """Where the next head may be, from ``at`` on; the buffer's end if nowhere."""
        return at

    def _length_at(self, at: int) -> int | None:
        """Claimed length of a frame that starts at ``at``; 0 if none can; None if more bytes must tell."""
        raise NotImplementedError

    def _frame(self, raw: bytes) -> FrameT | None:
        """The frame in so many bytes; None if its checksum is wrong."""
        raise NotImplementedError

    # -- the owner's side ------------------------------------------------------------------------

    @property
    def pending(self) -> int:
        """Bytes that may be the start of a frame."""
        return len(self._buffer)

    def feed(self, data: bytes) -> list[FrameT]:
        """Takes bytes as they came; returns the complete frames, oldest first."""
        self.fed += len(data)
        self._buffer += data
        return self._scan(final=False)

    def gap(self) -> list[FrameT]:
        """The line was silent for longer than a frame may pause: no head in the buffer will be completed.

        Returns the whole frames that stood behind a false head; nothing stays pending.
        """
        return self._scan(final=True)

    def clear(self) -> None:
        """Gives up what is pending, counted: the port was closed."""
        self.garbage += len(self._buffer)
        self._buffer.clear()

    def _scan(self, *, final: bool) -> list[FrameT]:
        found: list[FrameT] = []
        buffer = self._buffer
        at, end = 0, len(buffer)
        while at < end:
            head = self._head_from(at)
            if head != at:
                self.garbage += head - at
                at = head
                continue
            length = self._length_at(at)
            whole = length is not None and at + length <= end
            if not whole and not final:
                break
            frame = None
            if length and whole:
                frame = self._frame(bytes(buffer[at : at + length]))
                self.refused += frame is None
            if frame is None:
                at += 1
                self.garbage += 1
            else:
                assert length is not None, "it was whole"
                at += length
                self.framed += length
                self.frames += 1
                found.append(frame)
        del buffer[:at]
        return found
