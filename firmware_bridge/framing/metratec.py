"""metraTec ASCII lines (HF readers of the first generation: DeskID ISO, Dwarf15, QR15, QuasarMX).

A line is printable ASCII ended by CR; in "end of frame" mode an LF follows the last line of an answer
and is ignored.  There is no checksum unless the reader is told to use one: a line is only as good as its
transport.  So only lines of a known shape are delivered: the words below, whole UIDs, ``ARP nn``,
``IVF nn``, a version, and tag data behind ``TDT``.  A wrong UID of the right shape cannot be told.
With a checksum, CRC-16/MCRF4XX over the text up to and with the last space is appended as four
hexadecimal digits.  Source: metraTec's MIT-licensed ``metratec-rfid`` 1.4.5 (reader_ascii.py,
hf_reader_ascii.py) and its SDK for .NET (MetratecReaderAsciiHf.cs: words inside an inventory).
"""

from __future__ import annotations

import re

from fastcrc import crc16

from firmware_bridge.framing.delimited import DelimitedDecoder

CR = b"\r"
MAX_LINE = 256
"""Longest line accepted, without its CR.  A UID has 16 characters, a block of tag data at most some 150."""

_ANSWERS = ("OK!", "BRA", "NCM", "GMO", "DNS", "CCE", "UCO", "UPA", "NOS", "EHX", "EDX", "WDL", "CRT")
_UNASKED = ("SRT", "HBT", "RNW")  # started, heartbeat, RF registers not written
_REQUESTS = ("TDT", "COK", "NCL", "TNR", "CDT")
UNREADABLE = ("CER", "RXE", "RDL", "TOE", "TCE", "FLE")
"""Inside an inventory: a tag answered and could not be read."""
WORDS = frozenset((*_ANSWERS, *_UNASKED, *_REQUESTS, *UNREADABLE))
"""Words that a reader says.  Another one is refused with a count, and shown by ``last_refused``."""

_PRINTABLE = frozenset(range(0x20, 0x7F))
_SHAPE = re.compile(r"[0-9A-F]{16}|ARP \d{2}|IVF \d{2,3}|[A-Z][A-Z0-9_-]{2,19} +\d{4}(\d{4})?")
_DATA = re.compile(r"([0-9A-F]{2}){1,120}")


def encode(command: str, *, checksum: bool = False) -> bytes:
    """One command as bytes.  ValueError if it is empty, too long or not printable ASCII."""
    text = command.encode("ascii", errors="replace")
    if not text or len(text) > MAX_LINE - 5 or not _PRINTABLE.issuperset(text) or not command.isascii():
        raise ValueError(f"{command!r} is no metraTec command: printable ASCII, at most {MAX_LINE - 5} characters")
    if checksum:
        text += b" "
        text += b"%04X" % crc16.mcrf4xx(text)
    return text + CR


class MetratecDecoder(DelimitedDecoder[str]):
    """Bytes to lines, as text without CR; a leading LF counts as framing."""

    delimiter = CR
    longest = MAX_LINE
    blanks = (b"", b"\n")

    def __init__(self) -> None:
        super().__init__()
        self._data_next = False
        self.last_refused = b""
        """Newest line that was not understood, at most `MAX_LINE` bytes."""

    def gap(self) -> list[str]:
        """Half a line before a silence was cut off: it is given up, so that it cannot spoil the next one."""
        self.clear()
        return []

    def clear(self) -> None:
        """Gives up what is pending, counted."""
        super().clear()
        self._data_next = False

    def _judge(self, text: bytes) -> str | None:
        said = text.removeprefix(b"\n").decode("ascii", errors="replace")
        known = said in WORDS or _SHAPE.fullmatch(said) or (self._data_next and _DATA.fullmatch(said))
        self._data_next = said == "TDT"
        if not known:
            self.last_refused = text
            return None
        return said
