"""Acts out of turn: what becomes of them when the turn arrives, and when enough has happened behind a skipped seat."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from tabled.model.acts import AnyAct, Decided, Say
from tabled.model.ruling import Candidate, Reason, Ruling
from tabled.rules import rights
from tabled.rules.doubt import WHY, outcomes, turned
from tabled.rules.gesture import Gesture
from tabled.rules.hand import Hand
from tabled.rules.judge import interpret, read_acts, rule
from tabled.rules.profile import Profile
from tabled.rules.reading import Reading, Spot
from tabled.rules.settle import Judgement, settle
from tabled.rules.words import binding, conditional


def with_chips(acts: Sequence[AnyAct]) -> bool:
    """Whether an act put chips in, or bound its seat to (for counting substantial action)."""
    return any(
        getattr(a, "chips", ())
        or (isinstance(a, Decided) and a.act not in ("check", "fold"))
        or (isinstance(a, Say) and a.word not in ("check", "fold", "other"))
        for a in acts
    )


def substantial(groups: Sequence[Sequence[AnyAct]]) -> bool:
    """Substantial action (TDA): two acts of which one with chips, or three acts of any kind."""
    return len(groups) >= 3 or (len(groups) == 2 and any(with_chips(g) for g in groups))


def resolve_held(now: Hand, bet_then: int, profile: Profile, acts: Sequence[AnyAct]) -> Judgement:
    """Rule an act that was held out of turn, now that its seat has the turn.

    ``bet_then`` is the price when it was made.  A check, call or fold in between does not change the action; a
    bet or raise does (TDA 53-A).  Whether it then binds, is released, or costs the right to raise is the profile's.
    """
    gesture = read_acts(now, profile, acts)
    says = binding(gesture.words)
    if says is not None and says.word == "other":
        reading = interpret(Spot(now, profile, gesture))
        if reading.reason == conditional().reason:
            return settle(Spot(now, profile, gesture), reading)
    judged = _resolved(now, bet_then, profile, gesture)
    if "out_of_turn" not in profile.ask_floor or judged.ruling.action == "floor":
        return judged
    others = [_resolved(now, bet_then, law, gesture).ruling for law in turned(profile, ["out_of_turn"])]
    spot = Spot(now, profile, gesture)
    named = outcomes(spot, *(_as_reading(r) for r in (judged.ruling, *others)))
    return Judgement(replace(judged.ruling, floor_reason=WHY["out_of_turn"], candidates=named), judged.after)


def _as_reading(ruling: Ruling) -> Reading:
    """What an act out of turn came to, as a reading that the floor can be offered."""
    match ruling.verb:
        case "fold" | "check" | "call":
            return Reading(kind=ruling.verb)
        case "bet" | "raise" | "complete":
            return Reading(kind="raise", to=ruling.to or 0)
        case _:
            return Reading(kind="call_or_fold" if ruling.action == "call_or_fold" else "pending")


def _resolved(now: Hand, bet_then: int, profile: Profile, gesture: Gesture) -> Judgement:
    """The act under one value of ``out_of_turn``."""
    says = binding(gesture.words)
    if says is not None and says.word == "fold":
        return _flag(rule(now, profile, gesture), profile)  # a fold binds whenever it comes
    changed = now.bet_to != bet_then
    if profile.out_of_turn == "strict":
        now = now.copy()
        now.lose_raise(gesture.seat)
        return _flag(_loses_raise(now, profile, gesture) if changed else rule(now, profile, gesture), profile)
    if not changed:
        return _flag(rule(now, profile, gesture), profile)
    checked = says is not None and says.word == "check" and not gesture.motions
    loses = profile.out_of_turn == "binds_no_raise" or (profile.out_of_turn == "checker_no_raise" and checked)
    return _flag(_loses_raise(now, profile, gesture) if loses else _released(now, profile, gesture), profile)


def _loses_raise(now: Hand, profile: Profile, gesture: Gesture) -> Judgement:
    """The action changed: the seat may call or fold only; its chips go back until it has chosen."""
    reading = Reading(
        kind="call_or_fold",
        reason=Reason("out_of_turn_no_raise", {"to": now.option(gesture.seat).call_to or now.bet_to}),
        topics=("out_of_turn",),
        back=sum(gesture.new),
        rests_on=("out_of_turn",),
    )
    return settle(Spot(now, profile, gesture), reading)


def _released(now: Hand, profile: Profile, gesture: Gesture) -> Judgement:
    """The action changed: the act is void, its chips go back, the seat has all its options."""
    reading = Reading(
        kind="pending",
        reason=Reason("out_of_turn_released"),
        topics=("out_of_turn",),
        back=sum(gesture.new),
    )
    return settle(Spot(now, profile, gesture), reading)


def _flag(judged: Judgement, profile: Profile) -> Judgement:
    ruling = judged.ruling
    cite = dict.fromkeys((*profile.clauses("out_of_turn"), *ruling.cite))
    return Judgement(
        replace(
            ruling,
            cite=tuple(cite),
            penalty=profile.out_of_turn_penalty,
            floor=ruling.floor or "out_of_turn" in profile.ask_floor,
        ),
        judged.after,
    )


def behind_skipped(hand: Hand, profile: Profile, acts: Sequence[AnyAct]) -> Judgement:
    """Rule an act out of turn that substantial action made binding; the skipped seat is for the floor (TDA 53-B)."""
    gesture = read_acts(hand, profile, acts)
    skipped = hand.to_act or ""
    now = hand.copy()
    now.give_turn(gesture.seat)
    judged = rule(now, profile, gesture)
    ruling = replace(
        judged.ruling,
        floor=True,
        floor_reason=Reason("why_skipped", {"skipped": skipped}),
        candidates=(
            Candidate("pending", None, Reason("choice_skipped_acts", {"skipped": skipped})),
            Candidate("fold", None, Reason("choice_skipped_dead", {"skipped": skipped})),
        ),
        skipped=(skipped,),
        may_raise=tuple(s for s in judged.ruling.may_raise if s != skipped),
        cite=tuple(dict.fromkeys((*profile.clauses("skipped"), *judged.ruling.cite))),
        penalty=profile.out_of_turn_penalty,
    )
    return Judgement(ruling if judged.after is None else rights.told(ruling, judged.after), judged.after)
