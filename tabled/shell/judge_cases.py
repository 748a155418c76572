"""A written case (one JSON object) → a situation and acts → a ruling as JSON."""

from __future__ import annotations

from typing import Any

import msgspec

from tabled.model import acts as a
from tabled.model.hand import Limits
from tabled.model.ruling import Candidate, Option, Ruling
from tabled.outlets.wording import announce, say
from tabled.rules.games import STREET_NAMES
from tabled.rules.profile import Profile
from tabled.rules.settle import Judgement
from tabled.rules.situation import Situation, hand_from
from tabled.rules.street import rule_street

_PRIOR_ACTS = {"allin": "all_in", "all-in": "all_in", "bring-in": "bring_in"}
_SUM_CODES = ("amount",)


class CaseError(ValueError):
    """A case cannot be read; the message names the field."""


def is_case(record: dict[str, Any]) -> bool:
    """Whether the record has the keys of a case."""
    return "setup" in record and "events" in record


def judge_case(record: dict[str, Any], profile: Profile) -> Judgement:
    """Rule the case under ``profile``.  Raises CaseError for what cannot be read, SetupError for what cannot be."""
    setup = _need(record, "setup", dict)
    rounding = setup.get("pot_rounding")
    if rounding is not None:
        profile = profile.with_values(pot_rounding=rounding)
    situation = read_situation(record)
    hand = hand_from(situation, profile)
    acts = [read_act(e, situation) for e in _split_motions(_need(record, "events", list), profile)]
    put_by = next((p.seat for p in situation.prior if p.act == "put"), None)
    followers: list[str] = []
    seen = False
    for prior in situation.prior:
        if seen and prior.seat != put_by and prior.act != "fold":
            followers.append(prior.seat)
        seen = seen or prior.act == "put"
    return rule_street(hand, profile, acts, put_by, followers)


def read_situation(record: dict[str, Any]) -> Situation:
    """The case's set-up as a situation."""
    s = _need(record, "setup", dict)
    limits = s.get("limits") or {}
    street = s.get("street", "flop")
    if street not in STREET_NAMES:
        raise CaseError(f"setup.street {street!r} is not known; it is one of {', '.join(STREET_NAMES)}")
    body = {
        "hand_id": str(record.get("id", "case")),
        "game": s.get("game", "holdem"),
        "structure": record.get("structure", s.get("structure", "no-limit")),
        "street": STREET_NAMES[street],
        "blinds": s.get("blinds") or [],
        "straddle": s.get("straddle"),
        "limits": {k: v for k, v in limits.items() if k in Limits.__struct_fields__},
        "chip_unit": s.get("chip_unit") or 1,
        "pot_before": s.get("pot_before_street") or 0,
        "seats": [_seat(x) for x in _need(s, "seats", list)],
        "prior": [_prior(x) for x in s.get("prior") or []],
        "to_act": s.get("to_act"),
        "bet_to": s.get("bet_to") or 0,
        "last_full_raise": s.get("last_full_raise") or 0,
        "bet_of_round": limits.get("bet_this_round") or 0,
        "began_heads_up": s.get("round_started_heads_up"),
        "dead_small_blind": bool(s.get("dead_small_blind")),
    }
    try:
        return msgspec.convert(body, Situation)
    except msgspec.ValidationError as e:
        raise CaseError(f"setup: {e}") from None


def _seat(x: dict[str, Any]) -> dict[str, Any]:
    keys = ("seat", "stack", "line", "line_chips", "acted", "status")
    return {k: v for k, v in x.items() if k in keys and v is not None} | {"seat": str(x.get("seat"))}


def _prior(x: dict[str, Any]) -> dict[str, Any]:
    act = str(x.get("act"))
    return {"seat": str(x.get("seat")), "act": _PRIOR_ACTS.get(act, act), "to": x.get("to")}


def _split_motions(events: list[dict[str, Any]], profile: Profile) -> list[dict[str, Any]]:
    """Make explicit what the list says in passing: numbered motions are trips, and words have an order to the touch."""
    out: list[dict[str, Any]] = []
    motion: dict[str, int] = {}
    touched: set[str] = set()
    away: set[str] = set()
    for given in events:
        event = dict(given)
        seat, do = str(event.get("seat")), event.get("do")
        if do in ("place", "push_forward"):
            number = event.pop("motion", motion.get(seat, 1))
            if seat in touched and number != motion.get(seat, 1):
                out.append({"seat": seat, "do": "hand_returns_to_stack"})
            motion[seat] = number
            touched.add(seat)
            away.discard(seat)
        elif do == "hand_withdraws":
            away.add(seat)
        elif do == "say":
            event["order"] = _order(event, seat in touched, seat in away, profile)
        out.append(event)
    return out


def _order(event: dict[str, Any], touched: bool, away: bool, profile: Profile) -> str:
    """When a word came, against the first touch of chips."""
    late = int(float(event.get("delay_s") or 0) * 1000) > profile.simultaneity_ms
    if event.get("simultaneous_with_touch"):
        return "simultaneous"
    if event.get("after_touch") or late or (touched and away):
        return "after"
    if touched:  # a number accompanies its chips; any other word after them comes after them
        return "simultaneous" if event.get("word") == "number" else "after"
    return "before"


def read_act(event: dict[str, Any], situation: Situation) -> a.AnyAct:
    """One event of a case as an act of the model."""
    body: dict[str, Any] = {
        k: v
        for k, v in event.items()
        if k in ("do", "seat", "word", "amount", "by_or_to", "order", "text", "chips", "act", "to", "by", "what",
                 "hand_on_chips", "crossed_line", "color_unclear", "forced_change")
        and v is not None
    }  # fmt: skip
    body["seat"] = str(event.get("seat"))
    if event.get("loudness") == "low":
        body["low_voice"] = True
    if event.get("accidental_drop"):
        body["accidental"] = True
    if body.get("act") in _PRIOR_ACTS:
        body["act"] = _PRIOR_ACTS[body["act"]]
    if body["do"] == "act" and body.get("to") is None:
        body["to"] = None
    try:
        act: a.AnyAct = msgspec.convert(body, a.AnyAct)
    except msgspec.ValidationError as e:
        raise CaseError(f"events: {event.get('do')!r}: {e}") from None
    known = {s.seat for s in situation.seats}
    if event.get("seat") is not None and act.seat not in known:
        raise CaseError(f"events: seat {act.seat!r} is not in the set-up")
    return act


def _need(record: dict[str, Any], key: str, kind: type) -> Any:
    value = record.get(key)
    if not isinstance(value, kind):
        raise CaseError(f"{key} is missing or is no {'object' if kind is dict else 'list'}")
    return value


# ---- out --------------------------------------------------------------------------------------------------------


def ruling_json(ruling: Ruling, profile: Profile) -> dict[str, Any]:
    """A ruling in the words of the case files (``back`` is ``return`` there)."""
    out: dict[str, Any] = {
        "seat": ruling.seat,
        "action": ruling.action,
        "to": ruling.to,
        "add": ruling.add,
        "return": ruling.back,
        "return_chips": list(ruling.back_chips),
        "call_to": ruling.call_to,
        "min_raise_to": ruling.min_raise_to,
        "max_raise_to": ruling.max_raise_to,
        "may_raise": list(ruling.may_raise),
        "may_not_raise": [lock.seat for lock in ruling.may_not_raise],
        "options": [_option(o) for o in ruling.options],
        "cite": list(ruling.cite),
        "floor": ruling.floor,
        "candidates": [_candidate(c) for c in ruling.candidates],
        "announce": announce(ruling),
        "reason": {"code": ruling.reason.code, "params": ruling.reason.params},
        "profile": {"name": profile.name, "hash": ruling.profile},
    }
    if ruling.change is not None:
        out["return_change"] = {"amount": ruling.change.amount, "out_of": ruling.change.out_of}
    for key in ("full", "counts_as_raise", "raises_used"):
        if getattr(ruling, key) is not None:
            out[key] = getattr(ruling, key)
    out["round_over"] = ruling.round_over
    if ruling.default_to is not None:
        out["default"] = ruling.default_to
    for key in ("penalty", "window"):
        if getattr(ruling, key):
            out[key] = getattr(ruling, key)
    for key in ("hold", "skipped"):
        if getattr(ruling, key):
            out[key] = list(getattr(ruling, key))
    if ruling.adjust:
        out["adjust"] = [{"seat": x.seat, "add": x.add} for x in ruling.adjust]
    if ruling.may_not_raise:
        out["why_not"] = {lock.seat: say(lock.reason, "en") for lock in ruling.may_not_raise}
    return out


def _option(option: Option) -> dict[str, Any]:
    return {
        "seat": option.seat,
        "check": option.check,
        "fold": option.fold,
        "call_to": option.call_to,
        "raise_min_to": option.raise_min_to,
        "raise_max_to": option.raise_max_to,
        "complete_to": option.complete_to,
    }


def _candidate(candidate: Candidate) -> int | str:
    """An outcome that is only an amount is a number; others are said."""
    if candidate.reason.code in _SUM_CODES and candidate.to is not None:
        return candidate.to
    return say(candidate.reason, "en")
