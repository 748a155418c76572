"""Operator acts from the network: hostile until parsed, and never an exception.

A command is one JSON object on ``cmd/<act>``, e.g. ``cmd/answer`` with
``{"request": "6f1c", "who": "dealer", "question": 120, "key": "key_a"}``.
"""

from __future__ import annotations

import re
from typing import Any, Literal, get_args, get_origin, get_type_hints

import msgspec

from tabled.model.outcome import AnyOperatorAct, OperatorAct

MAX_COMMAND = 16_384
"""Bytes of a command; a hand of ten seats takes about 900."""
MAX_DEPTH = 8
MAX_ITEMS = 64
MAX_TEXT = 128
MAX_INTEGER = 2**53 - 1
"""Every integer must survive JavaScript; no bet is larger."""


class Record(OperatorAct, frozen=True, tag="record", kw_only=True):
    """Keep what the camera and the readers have of the last half minute.  No act of the table: it is never journalled.

    ``reason`` stands in the recording and in its name.
    """

    reason: str = ""


AnyCommand = AnyOperatorAct | Record
ACTS: dict[str, type[OperatorAct]] = {str(t.__struct_config__.tag): t for t in get_args(AnyCommand)}

_REQUEST = re.compile(r"[A-Za-z0-9._:-]{1,64}\Z")
_BRACKETS = re.compile(rb'"(?:[^"\\]|\\.)*"?|[\[{]|[\]}]', re.DOTALL)


class Refusal(msgspec.Struct, frozen=True):
    """A command that was not taken.  ``reason`` says what to send, ``request`` the caller's id if known."""

    reason: str
    request: str = ""


class _RefusedError(Exception):
    """Internal: carries the reason out of the checks."""


def parse_command(topic: str, payload: bytes) -> AnyCommand | Refusal:
    """An operator act, or why it is none.  ``topic`` may be whole or just ``cmd/<act>``.

    Caps: `MAX_COMMAND` bytes, `MAX_DEPTH` levels, `MAX_ITEMS` in a list or object, `MAX_TEXT` characters in a
    text, integers 0 to `MAX_INTEGER`.  Fields that the act does not have are refused by name: a
    misspelt optional field would otherwise be a different order in silence.
    """
    request = ""
    try:
        raw = _decoded(payload)
        request = _request_of(raw)
        return _act(topic, raw)
    except _RefusedError as refused:
        return Refusal(str(refused), request)
    except Exception as error:  # whatever a stranger sends, the table goes on
        return Refusal(f"The command could not be read ({type(error).__name__}); send one small JSON object.", request)


def _decoded(payload: bytes) -> dict[str, Any]:
    if len(payload) > MAX_COMMAND:
        raise _RefusedError(f"The command has {len(payload)} bytes; send at most {MAX_COMMAND}.")
    depth = deepest = 0
    for token in _BRACKETS.finditer(payload):
        mark = token.group()[:1]
        depth += 1 if mark in b"[{" else -1 if mark in b"]}" else 0
        deepest = max(deepest, depth)
    if deepest > MAX_DEPTH:
        raise _RefusedError(f"The command is nested {deepest} levels deep; send at most {MAX_DEPTH}.")
    try:
        raw = msgspec.json.decode(payload)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise _RefusedError(f"The command is not JSON ({error}); send one JSON object in UTF-8.") from None
    if not isinstance(raw, dict):
        raise _RefusedError(f"The command is a JSON {type(raw).__name__}; send one JSON object.")
    return raw


def _request_of(raw: dict[str, Any]) -> str:
    request = raw.get("request")
    if not isinstance(request, str) or not _REQUEST.match(request):
        raise _RefusedError('Send "request": your own id for this command, 1 to 64 letters, digits or . _ : -')
    return request


def _act(topic: str, raw: dict[str, Any]) -> AnyCommand:
    name = topic.rpartition("/")[2]
    known = ", ".join(sorted(ACTS))
    kind = ACTS.get(name)
    if kind is None or topic.rpartition("/")[0].rpartition("/")[2] != "cmd":
        raise _RefusedError(f"There is no command {name[:40]!r}; send one of cmd/ {known}.")
    if raw.get("act", name) != name:
        raise _RefusedError(f'"act" contradicts the topic; send it to its own cmd/<act> or leave it out ({known}).')
    _check(raw, "")
    given = {k: v for k, v in raw.items() if k != "act"}
    try:
        act = msgspec.convert({**given, "act": name}, kind)
    except msgspec.ValidationError as error:
        raise _RefusedError(
            f"{name}: {error}{_choices(kind, str(error))}; its fields are {', '.join(kind.__struct_fields__)}."
        ) from None
    _no_extra(name, given, msgspec.to_builtins(act))
    return act  # type: ignore[return-value]  # ACTS holds exactly the members of the union


def _choices(kind: type[OperatorAct], error: str) -> str:
    """What may stand in the field that an error is about, where there are only a few."""
    field = error.rpartition(" - at `$.")[2].rstrip("`")
    hint = get_type_hints(kind).get(field)
    return f" (send one of {', '.join(map(str, get_args(hint)))})" if get_origin(hint) is Literal else ""


def _check(value: object, path: str) -> None:
    """Caps on every value, whatever its field."""
    where = path or "the command"
    if isinstance(value, bool) or value is None:
        return
    if isinstance(value, int):
        if not 0 <= value <= MAX_INTEGER:
            raise _RefusedError(f"{where} is {str(value)[:24]}; send an integer from 0 to {MAX_INTEGER}.")
    elif isinstance(value, float):
        raise _RefusedError(f"{where} is not a whole number; amounts are integers in the smallest chip.")
    elif isinstance(value, str):
        if len(value) > MAX_TEXT or not value.isprintable():
            raise _RefusedError(f"{where} is too long or not printable; send at most {MAX_TEXT} characters.")
    elif isinstance(value, list | dict):
        if len(value) > MAX_ITEMS:
            raise _RefusedError(f"{where} has {len(value)} items; send at most {MAX_ITEMS}.")
        parts = value.items() if isinstance(value, dict) else enumerate(value)
        for key, part in parts:
            _check(key, f"a field name in {where}") if isinstance(key, str) else None
            _check(part, f"{path}.{key}" if path else str(key))


def _no_extra(path: str, given: object, kept: object) -> None:
    """Refuse whatever was given and not understood: every key given must have survived the conversion."""
    if isinstance(given, dict) and isinstance(kept, dict):
        for key, value in given.items():
            if key not in kept:
                known = ", ".join(k for k in kept if k != "act")
                raise _RefusedError(f"{path} has no field {key!r}; its fields are {known}.")
            _no_extra(f"{path}.{key}", value, kept[key])
    elif isinstance(given, list) and isinstance(kept, list | tuple):
        for n, (value, held) in enumerate(zip(given, kept, strict=True)):
            _no_extra(f"{path}[{n}]", value, held)
