"""A written case (one JSON object) → a situation and acts → a ruling as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, get_args

import msgspec

from tabled.model import acts as a
from tabled.model.hand import Limits
from tabled.model.ruling import Candidate, Option, Ruling
from tabled.outlets.wording import announce, spoken
from tabled.rules.games import STREET_NAMES
from tabled.rules.profile import Profile
from tabled.rules.settle import Judgement
from tabled.rules.situation import Prior, PriorAct, SeatNow, Situation, contradiction, hand_from
from tabled.rules.street import rule_street
from tabled.shell.judge_records import Case, CaseEvent, CaseLimits, CasePrior, RecordError, explained, read_case

_PRIOR_ACTS = {"allin": "all_in", "all-in": "all_in", "bring-in": "bring_in"}
_SUM_CODES = ("amount",)
_EVENT_FIELDS = (
    "do", "word", "amount", "by_or_to", "text", "chips", "act", "to", "by", "what", "hand_on_chips", "crossed_line",
    "color_unclear", "forced_change",
)  # fmt: skip
_DOES: dict[str, type] = {str(kind.__struct_config__.tag): kind for kind in get_args(a.AnyAct)}
_OF_NOBODY = ("error_pointed_out", "dealer_states_amount", "next_card_dealt", "dealer_gives_change")


class CaseError(RecordError):
    """A case cannot be ruled; the message names the field."""


def is_case(record: dict[str, Any]) -> bool:
    """Whether the record has the keys of a case."""
    return "setup" in record and "events" in record


def judge_case(record: dict[str, Any], profile: Profile) -> Judgement:
    """Rule the case under ``profile``.  Raises RecordError for what cannot be read, SetupError for what cannot be."""
    case = read_case(record)
    if case.setup.pot_rounding is not None:
        profile = profile.with_values(pot_rounding=case.setup.pot_rounding)
    situation = read_situation(case)
    wrong = contradiction(situation)
    if wrong:
        raise CaseError(f"setup: {wrong}")
    _owned(case)
    hand = hand_from(situation, profile)
    acts = [read_act(event, order, situation) for event, order in _ordered(case.events, profile)]
    put_by = next((p.seat for p in situation.prior if p.act == "put"), None)
    followers: list[str] = []
    seen = False
    for prior in situation.prior:
        if seen and prior.seat != put_by and prior.act != "fold":
            followers.append(prior.seat)
        seen = seen or prior.act == "put"
    return rule_street(hand, profile, acts, put_by, followers)


def _owned(case: Case) -> None:
    """Raises CaseError if a seat puts more chips forward than it has, on its line and behind."""
    has = {str(s.seat): s.stack + s.line for s in case.setup.seats}
    forward = dict.fromkeys(has, 0)
    for event in case.events:
        seat = str(event.seat)
        if event.do == "dealer_gives_change":
            forward = dict.fromkeys(has, 0)  # chips went for others of the same worth
        if seat not in has or event.chips is None:
            continue
        if event.do in ("place", "push_forward"):
            forward[seat] += sum(event.chips)
        elif event.do == "pull_back":
            forward[seat] -= sum(event.chips)
        if forward[seat] > has[seat]:
            raise CaseError(
                f"events: seat {seat} puts {forward[seat]} forward and has {has[seat]} in all; correct stack or chips"
            )


def read_situation(case: Case) -> Situation:
    """The case's set-up as a situation."""
    s = case.setup
    limits = s.limits or CaseLimits()
    if s.street not in STREET_NAMES:
        raise CaseError(f"setup.street {s.street!r} is not known; it is one of {', '.join(STREET_NAMES)}")
    return Situation(
        hand_id="case",
        game=s.game,
        structure=case.structure,
        street=STREET_NAMES[s.street],
        blinds=s.blinds or (),
        straddle=s.straddle,
        limits=Limits(
            small_bet=limits.small_bet, big_bet=limits.big_bet, raises_cap=limits.raises_cap, min=limits.min,
            max=limits.max, bring_in=limits.bring_in,
        ),
        chip_unit=s.chip_unit or 1,
        pot_before=s.pot_before_street or 0,
        seats=tuple(
            SeatNow(
                seat=str(x.seat), stack=x.stack, line=x.line, line_chips=x.line_chips, acted=x.acted, status=x.status
            )
            for x in s.seats
        ),
        prior=tuple(_prior(x) for x in s.prior or ()),
        to_act=None if s.to_act is None else str(s.to_act),
        bet_to=s.bet_to or 0,
        last_full_raise=s.last_full_raise or 0,
        bet_of_round=limits.bet_this_round or 0,
        began_heads_up=s.round_started_heads_up,
        dead_small_blind=s.dead_small_blind,
    )  # fmt: skip


def _prior(x: CasePrior) -> Prior:
    act = _PRIOR_ACTS.get(x.act, x.act)
    if act not in get_args(PriorAct):
        raise CaseError(f"setup.prior: act {x.act!r} is not known; it is one of {', '.join(get_args(PriorAct))}")
    return Prior(str(x.seat), act, x.to)  # type: ignore[arg-type]  # checked above


def _ordered(events: Sequence[CaseEvent], profile: Profile) -> Iterator[tuple[CaseEvent, a.Order]]:
    """Make explicit what the list says in passing: numbered motions are trips, and words have an order to the touch."""
    motion: dict[str, int] = {}
    touched: set[str] = set()
    for event in events:
        seat = str(event.seat)
        order: a.Order = "before"
        if event.do in ("place", "push_forward"):
            number = motion.get(seat, 1) if event.motion is None else event.motion
            if seat in touched and number != motion.get(seat, 1):
                yield CaseEvent("hand_returns_to_stack", event.seat), order
            motion[seat] = number
            touched.add(seat)
        elif event.do == "say":
            order = _order(event, touched=seat in touched, profile=profile)
        yield event, order


def _order(event: CaseEvent, *, touched: bool, profile: Profile) -> a.Order:
    """When a word came, against the first touch of chips; one that is listed after it, with no delay, came after it."""
    if event.simultaneous_with_touch:
        return "simultaneous"
    if event.after_touch:
        return "after"
    if not touched:
        return "before"
    if event.delay_s is None or round(event.delay_s * 1000) > profile.simultaneity_ms:
        return "after"
    return "simultaneous"


def read_act(event: CaseEvent, order: a.Order, situation: Situation) -> a.AnyAct:
    """One event of a case as an act of the model."""
    body = {k: v for k in _EVENT_FIELDS if (v := getattr(event, k)) is not None}
    body["seat"] = str(event.seat)
    if event.do == "say":
        body["order"] = order
        body["low_voice"] = event.loudness == "low"
    if event.accidental_drop:
        body["accidental"] = True
    if event.act in _PRIOR_ACTS:
        body["act"] = _PRIOR_ACTS[event.act]
    kind = _DOES.get(event.do)
    if kind is None:
        raise CaseError(f"events: {event.do!r} is not known; do is one of {', '.join(_DOES)}")
    if event.do == "say" and event.word == "number" and not event.amount:
        raise CaseError('events: say "number" needs an amount of 1 or more')
    try:
        act: a.AnyAct = msgspec.convert(body, a.AnyAct)
    except msgspec.ValidationError as e:
        raise CaseError(f"events: {event.do!r}: {explained(e, kind)}") from None
    if event.do not in _OF_NOBODY and act.seat not in {s.seat for s in situation.seats}:
        raise CaseError(f"events: seat {act.seat!r} is not in the set-up")
    return act


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
    if ruling.floor_reason is not None:
        out["floor_reason"] = {"code": ruling.floor_reason.code, "params": ruling.floor_reason.params}
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
        out["why_not"] = {lock.seat: spoken(lock.reason, "en") for lock in ruling.may_not_raise}
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
    return spoken(candidate.reason, "en")
