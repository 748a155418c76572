"""Decoders of frames that end with a delimiter: judged there, and an overlong one is dropped up to the next."""

from __future__ import annotations

from typing import ClassVar, Generic, TypeVar

FrameT = TypeVar("FrameT")


class DelimitedDecoder(Generic[FrameT]):
    """The common part (see `decoder.Decoder`); a subclass judges what stands before a delimiter."""

    delimiter: ClassVar[bytes]
    """One byte."""
    longest: ClassVar[int]
    """Most bytes before it."""
    blanks: ClassVar[tuple[bytes, ...]] = (b"",)
    """What may stand between two delimiters and means nothing."""

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._overlong = False
        self.fed = 0
        self.framed = 0
        self.garbage = 0
        self.frames = 0
        self.refused = 0

    def _judge(self, text: bytes) -> FrameT | None:
        """The frame in these bytes, without their delimiter; None if they are refused."""
        raise NotImplementedError

    @property
    def pending(self) -> int:
        """Bytes since the last delimiter."""
        return len(self._buffer)

    def feed(self, data: bytes) -> list[FrameT]:
        """Takes bytes as they came; returns the complete frames, oldest first."""
        self.fed += len(data)
        found: list[FrameT] = []
        *closed, rest = data.split(self.delimiter)
        for piece in closed:
            self._hold(piece)
            frame = self._close()
            if frame is not None:
                found.append(frame)
        self._hold(rest)
        return found

    def gap(self) -> list[FrameT]:
        """Silence means nothing between delimiters."""
        return []

    def clear(self) -> None:
        """Gives up what is pending, counted."""
        self.garbage += len(self._buffer)
        self._buffer.clear()
        self._overlong = False

    def _hold(self, piece: bytes) -> None:
        if self._overlong:
            self.garbage += len(piece)
        elif len(self._buffer) + len(piece) > self.longest:
            self._overlong = True
            self.refused += 1
            self.garbage += len(self._buffer) + len(piece)
            self._buffer.clear()
        else:
            self._buffer += piece

    def _close(self) -> FrameT | None:
        """Judges what stands before a delimiter; the delimiter itself counts as framing."""
        self.framed += 1
        if self._overlong:
            self._overlong = False
            return None
        text = bytes(self._buffer)
        self._buffer.clear()
        if text in self.blanks:
            self.framed += len(text)
            return None
        frame = self._judge(text)
        if frame is None:
            self.refused += 1
            self.garbage += len(text)
        else:
            self.framed += len(text)
            self.frames += 1
        return frame
