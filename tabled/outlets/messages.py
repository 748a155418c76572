"""From an outcome to the bytes on the wire: a pure function, replayed byte for byte.

Every message is one JSON object in the CloudEvents 1.0 shape (cloudevents.io, §3 "Context
Attributes"); keys are sorted, so equal values give equal bytes.  ``id`` is ``<epoch>/<position>``:
a consumer that sees an id twice may ignore the second.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from typing import Any, Protocol

import msgspec

from tabled.model.outcome import (
    AlertRaised,
    AnyOutcome,
    QuestionAsked,
    QuestionClosed,
    RulingIssued,
    TableView,
)
from tabled.model.ruling import Reason, Ruling
from tabled.outlets import topics
from tabled.outlets.safety import safe_alert, safe_issue, safe_question, safe_reason
from tabled.outlets.topics import Origin

LANGUAGES = ("en", "sv", "nl")

MAX_PAYLOAD = 65_536
"""Bytes.  Both embedded brokers take 262,144; a message above a broker's limit would block the outbox."""


MAX_TOLD = 32
"""Faults, and notes, in one health message; more are counted there."""


ENVELOPE = 1024
"""Bytes around the data of a message, at most."""


class Outgoing(msgspec.Struct, frozen=True):
    """One message of the outbox.  ``leaf`` stands under the table's prefix; messages of one position share their id."""

    position: int
    leaf: str
    payload: bytes


class Wording(msgspec.Struct, frozen=True):
    """The catalogue, injected: ``announce(ruling)`` gives {"en", "sv", "nl"}, ``say(reason, lang)`` one sentence."""

    announce: Callable[[Ruling], Mapping[str, str]]
    say: Callable[[Reason, str], str]


class HealthSource(Protocol):
    """What a health message needs to know of the outlet: whether it is ``connected``, and its ``problem`` if not."""

    @property
    def connected(self) -> bool: ...
    @property
    def problem(self) -> str: ...


def rfc3339(wall_ns: int) -> str:
    """UTC time with nanoseconds, e.g. ``2026-01-31T12:00:00.000000001Z``, from nanoseconds since 1970."""
    seconds, rest = divmod(wall_ns, 1_000_000_000)
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%dT%H:%M:%S}.{rest:09d}Z"


def encode(value: object) -> bytes:
    """JSON with sorted keys: the same value always gives the same bytes."""
    return msgspec.json.encode(value, order="deterministic")


def envelope(origin: Origin, ident: str, kind: str, wall_ns: int, data: Mapping[str, Any]) -> bytes:
    """One CloudEvents object.  ``ident`` is what follows the epoch in ``id``.

    Above `MAX_PAYLOAD` bytes the data are replaced by a notice under the same id: the consumer learns
    that there is such an entry, and where it stands whole.
    """
    event: dict[str, Any] = {
        "specversion": "1.0",
        "id": f"{origin.epoch}/{ident}",
        "source": origin.source,
        "type": f"tabled.{kind}",
        "time": rfc3339(wall_ns),
        "data": data,
    }
    payload = encode(event)
    if len(payload) <= MAX_PAYLOAD:
        return payload
    return encode({**event, "data": oversize_data(kind, len(payload), MAX_PAYLOAD)})


def oversize_data(kind: str, size: int, limit: int) -> dict[str, Any]:
    """Data that stand in for those that are too long to send (sizes in bytes)."""
    return {
        "kind": kind,
        "oversize": size,
        "limit": limit,
        "advice": "This entry is too long to send; read it in the table's journal under the position in its id.",
    }


def render(
    outcome: AnyOutcome, position: int, wall_ns: int, *, origin: Origin, wording: Wording
) -> tuple[Outgoing, ...]:
    """The messages of one journalled outcome, in the order in which they are sent; at least one.

    Pure and deterministic.  ``wall_ns`` is the journal entry's wall time (ns since 1970, UTC).
    A ruling goes twice: cut for the display on ``ruling``, whole on ``evidence`` (`tabled.outlets.safety`).
    """
    kind = str(type(outcome).__struct_config__.tag)

    def message(leaf: str, data: Mapping[str, Any]) -> Outgoing:
        return Outgoing(position, leaf, envelope(origin, str(position), kind, wall_ns, data))

    if isinstance(outcome, RulingIssued):
        safe = safe_issue(outcome)
        speech = _ruling_texts(safe.ruling, wording)
        return (
            message(topics.RULING, {**msgspec.to_builtins(safe), **speech}),
            message(topics.EVIDENCE, {**msgspec.to_builtins(outcome), **speech}),
        )
    if isinstance(outcome, QuestionAsked):
        return (message(topics.QUESTION, _question_data(safe_question(outcome), wording)),)
    if isinstance(outcome, AlertRaised):
        alert = safe_alert(outcome)
        untranslated: list[str] = []
        texts = _said(alert.reason, wording, untranslated)
        return (message(topics.ALERT, _with(msgspec.to_builtins(alert), {"texts": texts}, untranslated)),)
    leaf = topics.QUESTION_CLOSED if isinstance(outcome, QuestionClosed) else topics.EVIDENCE
    return (message(leaf, msgspec.to_builtins(outcome)),)


def render_state(view: TableView, wall_ns: int, *, origin: Origin) -> bytes:
    """The retained ``state``: the view, with its epoch and journal position; ``time`` is its as-of."""
    view = msgspec.structs.replace(view, faults=tuple(safe_reason(f) for f in view.faults))
    return envelope(origin, f"state-{view.position}", "state", wall_ns, msgspec.to_builtins(view))


def render_health(
    status: str,
    wall_ns: int,
    *,
    origin: Origin,
    wording: Wording,
    faults: Iterable[Reason] = (),
    notes: Iterable[Reason] = (),
    devices: Iterable[Mapping[str, Any]] = (),
    position: int = 0,
    outlet: HealthSource | None = None,
) -> bytes:
    """The retained ``health``; the shell makes one a second, from the loop that it vouches for, and one at once
    when something goes wrong.

    ``status`` is ``"online"``, ``"recovering"`` or ``"offline"``.  A display takes a pause of 2 s between
    live messages as the daemon's silence.  ``faults`` stand on the dealer's screen; ``notes`` are for the technician
    alone, and ``devices`` are every reader and panel in figures.  Of faults and notes `MAX_TOLD` go out each;
    ``untold`` counts the rest.  What is too long to send loses its devices, then its notes (``cut`` names them),
    and never its faults.
    """
    untranslated: list[str] = []

    def told(reasons: list[Reason]) -> list[dict[str, Any]]:
        safe = (safe_reason(r) for r in reasons[:MAX_TOLD])
        return [{"code": r.code, "params": r.params, "texts": _said(r, wording, untranslated)} for r in safe]

    wrong, known = list(faults), list(notes)
    data: dict[str, Any] = {"kind": "health", "status": status, "position": position, "faults": told(wrong)}
    data["notes"] = told(known)
    data["devices"] = list(devices)
    untold = max(0, len(wrong) - MAX_TOLD) + max(0, len(known) - MAX_TOLD)
    if untold:
        data["untold"] = untold
    if outlet is not None:
        data["outlet"] = {"connected": outlet.connected, "problem": outlet.problem}
    for least in ("devices", "notes"):
        if len(encode(data)) + ENVELOPE > MAX_PAYLOAD:
            data = {**data, least: [], "cut": [*data.get("cut", ()), least]}
    return envelope(origin, f"health-{wall_ns}", "health", wall_ns, _with(data, {}, untranslated))


def render_ack(request: str, ok: bool, reason: str, position: int | None, wall_ns: int, *, origin: Origin) -> bytes:
    """What became of a command: ``reason`` says what was done, or what to send instead."""
    data = {"kind": "ack", "request": request, "ok": ok, "reason": reason, "position": position}
    return envelope(origin, f"ack-{wall_ns}-{request}", "ack", wall_ns, data)


def _question_data(asked: QuestionAsked, wording: Wording) -> dict[str, Any]:
    untranslated: list[str] = []
    texts = {"question": _said(asked.reason, wording, untranslated)}
    for choice in asked.choices:
        texts[choice.key] = _said(choice.reason, wording, untranslated)
    return _with(msgspec.to_builtins(asked), {"texts": texts}, untranslated)


def _ruling_texts(ruling: Ruling, wording: Wording) -> dict[str, Any]:
    untranslated: list[str] = []
    spoken = _announced(ruling, wording, untranslated)
    texts = {
        "reason": _said(ruling.reason, wording, untranslated),
        "locks": [_said(x.reason, wording, untranslated) for x in ruling.may_not_raise],
        "candidates": [_said(x.reason, wording, untranslated) for x in ruling.candidates],
    }
    return _with({}, {"announce": spoken, "texts": texts}, untranslated)


def _with(data: dict[str, Any], more: dict[str, Any], untranslated: list[str]) -> dict[str, Any]:
    """``untranslated`` lists the codes that the catalogue lacks: seen by whoever reads the wire, never hidden."""
    extra = {"untranslated": sorted(set(untranslated))} if untranslated else {}
    return {**data, **more, **extra}


def _said(reason: Reason, wording: Wording, untranslated: list[str]) -> dict[str, str]:
    texts: dict[str, str] = {}
    for lang in LANGUAGES:
        try:
            texts[lang] = wording.say(reason, lang)
        except Exception:  # a hole in the catalogue must not hold back a ruling
            untranslated.append(reason.code)
            gaps = ", ".join(f"{k} {reason.params[k]}" for k in sorted(reason.params))
            texts[lang] = f"{reason.code} ({gaps})" if gaps else reason.code
    return texts


def _announced(ruling: Ruling, wording: Wording, untranslated: list[str]) -> dict[str, str]:
    try:
        spoken = wording.announce(ruling)
        return {lang: spoken[lang] for lang in LANGUAGES}
    except Exception:  # as above: the act and its amount are better than silence
        untranslated.append(f"announce:{ruling.action}")
        plain = ruling.action.replace("_", " ") + ("" if ruling.to is None else f" {ruling.to}")
        return dict.fromkeys(LANGUAGES, plain)
