"""FEIG frames in words, and which way a frame went.

A FEIG frame does not say its direction.  Each command's forms do, mostly: how long its question is, which status
bytes there are, and which answers carry data.  Where a frame fits both ways, both readings are shown; a question just
before it, or the address FF that hosts use for "any", says which is likelier.
Sources: the chapters of commands and the annex of status bytes of the FEIG system manuals (H20800-16e-ID-B,
H71011-0e-ID-B, H30701-3e-ID-B for the multiplexer).
"""

from __future__ import annotations

from typing import NamedTuple

from firmware_bridge.framing.feig import ANY_ADDRESS, FeigFrame
from firmware_bridge.session.inventory import describe, read_batch, read_records

SHOWN = 24
"""Bytes of data shown in a line."""
_ANY = 4096


class _Form(NamedTuple):
    """A command: its name, least and most bytes of its question's data and of its answer's (with status ok)."""

    name: str
    ask: tuple[int, int] = (0, _ANY)
    answer: tuple[int, int] = (0, _ANY)


_NONE = (0, 0)
_FORMS = {
    0x22: _Form("read buffer", (1, 2), (3, _ANY)),
    0x2B: _Form("read data buffer", (3, 3), (1, _ANY)),
    0x31: _Form("read data buffer info", _NONE, (1, 16)),
    0x32: _Form("clear data buffer", _NONE, _NONE),
    0x33: _Form("initialise buffer", _NONE, _NONE),
    0x52: _Form("baud rate detection", (1, 1), _NONE),
    0x63: _Form("CPU reset", _NONE, _NONE),
    0x64: _Form("system reset", (0, 1), _NONE),
    0x65: _Form("get software version", _NONE, (5, 16)),
    0x66: _Form("get reader info", (1, 1), (1, _ANY)),
    0x69: _Form("RF reset", _NONE, _NONE),
    0x6A: _Form("RF output", (1, 2), _NONE),
    0x6E: _Form("reader diagnostic", (1, 1), (1, _ANY)),
    0x71: _Form("set output", (2, 16), _NONE),
    0x72: _Form("set output", (2, _ANY), _NONE),
    0x74: _Form("get input", _NONE, (1, 8)),
    0x80: _Form("read configuration", (1, 8), (1, _ANY)),
    0x81: _Form("write configuration", (2, _ANY), _NONE),
    0x82: _Form("save configuration", (1, 1), _NONE),
    0x83: _Form("reset configuration", (1, 1), _NONE),
    0xB0: _Form("ISO command", (2, _ANY)),
    0xB2: _Form("ISO 14443 command", (2, _ANY)),
    0xDD: _Form("multiplexer", (2, 8), _NONE),
}
_ISO = {
    0x01: "inventory",
    0x02: "stay quiet",
    0x22: "lock multiple blocks",
    0x23: "read blocks",
    0x24: "write blocks",
    0x25: "select",
    0x26: "reset to ready",
    0x27: "write AFI",
    0x28: "lock AFI",
    0x29: "write DSFID",
    0x2A: "lock DSFID",
    0x2B: "get system information",
    0x2C: "get block security",
    0xA0: "read config block",
}
_SUB = {0xB0: _ISO, 0xB2: {0xB0: "authent Mifare", 0xB1: "authent my-d", 0xB2: "authent", 0xBE: "T=CL APDU"}}
_STATUS = {
    0x00: "ok",
    0x01: "no tag",
    0x02: "data false",
    0x03: "write error",
    0x04: "address error",
    0x05: "wrong transponder type",
    0x08: "authentication error",
    0x0E: "collision error",
    0x0F: "general error",
    0x10: "EEPROM failure",
    0x11: "parameter range",
    0x13: "login request",
    0x14: "login error",
    0x15: "read protect",
    0x16: "write protect",
    0x17: "firmware activation required",
    0x31: "no SAM",
    0x80: "unknown command",
    0x81: "length error",
    0x82: "not available",
    0x83: "RF error",
    0x84: "RF warning",
    0x92: "no valid data",
    0x93: "buffer overflow",
    0x94: "more data",
    0x95: "tag's error",
    0xF1: "hardware warning",
}
_WITH_DATA = frozenset((0x00, 0x83, 0x84, 0x93, 0x94, 0x95, 0xF1))
_NO_TAG = 0x01
"""Said only of commands that speak to tags."""
_RF = {0x00: "off", 0x01: "on"}


def hexes(data: bytes) -> str:
    """Bytes for people, the first `SHOWN` of them."""
    rest = f" and {len(data) - SHOWN} more" if len(data) > SHOWN else ""
    return data[:SHOWN].hex(" ") + rest


def known_command(code: int) -> bool:
    """Whether that is a FEIG command that this file knows."""
    return code in _FORMS


def may_ask(frame: FeigFrame) -> bool:
    """Whether a host can have said this."""
    form = _FORMS.get(frame.command, _Form(""))
    if not form.ask[0] <= len(frame.payload) <= form.ask[1]:
        return False
    sub = _SUB.get(frame.command)
    return sub is None or frame.payload[0] in sub


def may_answer(frame: FeigFrame) -> bool:
    """Whether a reader can have said this."""
    if not frame.payload or frame.status not in _STATUS or (frame.data and frame.status not in _WITH_DATA):
        return False
    if frame.status == _NO_TAG and frame.command in _FORMS and frame.command not in _SUB:
        return False
    least, most = _FORMS.get(frame.command, _Form("")).answer
    return frame.status != 0 or least <= len(frame.data) <= most


class FeigBothWays:
    """Lines for a capture of both ways, in the order of its frames."""

    def __init__(self) -> None:
        self._asked: int | None = None
        """Command of the question just before, if that was one."""

    def __call__(self, frame: FeigFrame) -> tuple[str, ...]:
        """One line, or two where the direction is open: the likelier first."""
        ask, answer = may_ask(frame), may_answer(frame)
        if ask == answer and frame.payload:
            return self._open(frame, fits=ask)
        asks = ask or not frame.payload
        self._asked = frame.command if asks else None
        return (f"host    {feig_request(frame)}",) if asks else (f"reader  {feig_reply(frame)}",)

    def _open(self, frame: FeigFrame, *, fits: bool) -> tuple[str, ...]:
        host, reader = f"host    {feig_request(frame)}", f"reader  {feig_reply(frame)}"
        if fits and self._asked == frame.command:
            self._asked = None
            return (f"{reader}  (answers the one before)",)
        self._asked = frame.command
        if not fits:
            why = "fits neither a question nor an answer that is known here; read as each:"
        elif frame.address == ANY_ADDRESS:
            why = "may be a question or an answer; likelier a question, for hosts address FF:"
        else:
            why = "may be a question or an answer:"
        return why, f"  {host}", f"  {reader}"


def feig_reply(frame: FeigFrame) -> str:
    """A reader's answer."""
    said = _STATUS.get(frame.status) or describe(frame.status)
    data = _answer_data(frame)
    return _head(frame) + f"{frame.status:02X} {said}" + (f"  {data}" if data else "")


def _answer_data(frame: FeigFrame) -> str:
    if frame.command == 0xB0 and frame.data:
        batch = read_batch(frame.status, frame.data)
        if not batch.fault:
            return f"{len(batch.uids)} tag{'s' * (len(batch.uids) != 1)}  {' '.join(batch.uids)}"
    if frame.command == 0x22 and frame.data:
        read = read_records(frame.data)
        if not read.fault:
            sets = [r.uid + (f" at antenna {r.antenna}" if r.antenna is not None else "") for r in read.records]
            return f"{len(sets)} data set{'s' * (len(sets) != 1)}  {', '.join(sets)}"
    return hexes(frame.data)


def feig_request(frame: FeigFrame) -> str:
    """A host's question."""
    payload = frame.payload
    words = ""
    sub = _SUB.get(frame.command, {})
    if sub and payload:
        words = sub.get(payload[0], f"{payload[0]:02X}?") + "  "
        if frame.command == 0xB0 and len(payload) == 10 and payload[1] & 0x07 == 0x01:
            return _head(frame) + f"{words}UID {payload[2:].hex().upper()}"
    elif frame.command == 0x6A and payload:
        words = _RF.get(payload[0], "") + "  "
    elif frame.command == 0x80 and len(payload) == 1:
        return _head(frame) + f"block {payload[0] & 0x3F}" + " in EEPROM" * bool(payload[0] & 0x80)
    return (_head(frame) + words + hexes(payload)).rstrip()


def _head(frame: FeigFrame) -> str:
    form = _FORMS.get(frame.command)
    name = form.name if form else "command"
    return f"[{frame.command:02X}] {name:<21} adr {frame.address:02X}{' advanced' * frame.advanced}  "
