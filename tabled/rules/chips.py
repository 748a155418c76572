"""Readings of chips put forward in silence."""

from __future__ import annotations

from tabled.model.ruling import Candidate, Reason
from tabled.rules.raising import no_raise, raise_to, undercall
from tabled.rules.reading import Reading, Spot


def read_chips(spot: Spot) -> Reading:
    """The reading of silent chips: the motions first, then what one of them says."""
    motions = spot.gesture.motions
    if len(motions) > 1:
        string = _string(spot)
        if string is not None:
            return string
    chips = motions[0]
    topics = ("string",) if len(motions) > 1 else ()
    return _one_motion(spot, chips, topics)


def _string(spot: Spot) -> Reading | None:
    """Several trips.  None: the first motion is judged alone."""
    profile = spot.profile
    motions = spot.gesture.motions
    everything = spot.lying + sum(spot.gesture.new)
    if spot.owes and everything <= spot.price:
        return _one_motion(spot, spot.gesture.new, ("string",))  # a call fed in parts raises nothing
    if spot.owes and profile.string_first_motion == "call":
        alone = _one_motion(spot, motions[0], ())
        rests_on = ("string_first_motion",) if alone.kind == "raise" else ()
        return Reading(kind="call", reason=Reason("string_call"), topics=("string",), rests_on=rests_on)
    if spot.opening and profile.string_acted_before == "anyone_acted" and any(s >= 0 for s in spot.hand.seen):
        return Reading(kind="check", reason=Reason("string_check"), topics=("string",))
    return None


def _one_motion(spot: Spot, chips: tuple[int, ...], topics: tuple[str, ...]) -> Reading:
    total = spot.lying + sum(chips)
    if spot.owes and spot.gesture.forced_change:
        return _forced_change(spot, total)
    if spot.owes:
        return _facing(spot, chips, total, topics)
    if spot.option and len(chips) == 1:
        return _option_chip(spot, total)
    if len(chips) == 1:
        topics = (*topics, "one_chip_open")
    return raise_to(spot, total, spoken=False, topics=(*topics, "pushed"))


def _facing(spot: Spot, chips: tuple[int, ...], total: int, topics: tuple[str, ...]) -> Reading:
    profile = spot.profile
    last = total >= spot.mine
    if last and spot.gesture.pushed and total > spot.price and profile.stack_pushed == "all_in":
        # The whole stack pushed to the middle is an all-in to see, whatever its chips are.
        return _raised(spot, total, last=True, topics=topics)
    joined = profile.prior_chips == "covering_raises"
    covering, partly = joined and spot.covered, joined and bool(spot.left)
    if len(chips) == 1 and not covering and not partly and not spot.gesture.mixed and profile.one_chip_facing == "call":
        one = _one_chip(spot, total, last, topics)
        if one is not None:
            return one
    if total < spot.price:
        if last:
            return Reading(kind="call", reason=Reason("all_in_call"), topics=(*topics, "all_in_call"))
        return undercall(spot, total, topics)
    prior = ("prior_cover",) if covering or partly else ("prior_chips",) if spot.line_chips else ()
    if total == spot.price:
        return Reading(kind="call", reason=Reason("call"), topics=(*topics, *prior, "one_chip_facing", "pushed"))
    together = (*spot.left, *chips) if partly else chips
    needed = len(together) > 1 and not covering and total - min(together) < spot.price
    if needed and profile.multi_chip_test == "every_chip_needed":
        return Reading(kind="call", reason=Reason("every_chip_needed"), topics=(*topics, *prior, "multi_chip_call"))
    if not spot.may_raise:
        return no_raise(spot)
    rests_on = ("multi_chip_test",) if needed and not last else ()
    return _raised(spot, total, last=last, topics=(*topics, *prior), rests_on=rests_on)


def _raised(spot: Spot, total: int, *, last: bool, topics: tuple[str, ...], rests_on: tuple[str, ...] = ()) -> Reading:
    """Chips that are more than a call by the chip rules: the threshold decides between a call and a raise.

    ``rests_on`` is the setting by which the chips are no call, for which the threshold may still make them one.
    """
    full = total >= spot.low
    kind = ("last_chips",) if last else ("multi_chip_raise", "min_raise") if full else ("multi_chip_threshold",)
    topics = (*topics, *kind)
    reading = raise_to(spot, total, spoken=False, topics=topics)
    if reading.kind != "raise":
        rests_on = ()
    if spot.gesture.mixed:
        rests_on = (*rests_on, "prior_chips")
    if not rests_on:
        return reading
    return Reading(
        kind=reading.kind,
        to=reading.to,
        reason=reading.reason,
        topics=reading.topics,
        rests_on=rests_on,
        candidates=reading.candidates,
        default_to=reading.default_to,
    )


def _one_chip(spot: Spot, total: int, last: bool, topics: tuple[str, ...]) -> Reading | None:
    """One silent chip facing a bet is a call.  None where another rule takes over."""
    profile = spot.profile
    if last and profile.last_chip_silent == "all_in" and total > spot.price:
        return None
    if spot.complete is not None and spot.hand.bets == 0 and spot.hand.table.bring_in and total == spot.complete:
        if profile.one_chip_bring_in == "complete_if_exact":
            return Reading(
                kind="raise",
                to=total,
                reason=Reason("complete"),
                topics=("bring_in",),
                rests_on=("one_chip_bring_in",),
            )
        return Reading(kind="call", reason=Reason("one_chip_call"), topics=("one_chip_facing",))
    blinds_only = spot.hand.street == 0 and spot.hand.bets <= 1
    topic = ("one_chip_preflop", "one_chip_facing") if blinds_only else ("one_chip_facing",)
    if spot.line_chips:
        topic = (*topic, "prior_chips")
    if total < spot.price:
        if last:
            return Reading(kind="call", reason=Reason("all_in_call"), topics=(*topics, "all_in_call"))
        return undercall(spot, total, (*topics, *topic))
    code = "call" if total == spot.price else "string_call" if "string" in topics else "one_chip_call"
    return Reading(kind="call", reason=Reason(code), topics=(*topics, *topic))


def _option_chip(spot: Spot, total: int) -> Reading:
    """One silent chip by a seat that may check (the big blind's option)."""
    if spot.profile.one_chip_bb_option == "check":
        return Reading(
            kind="check", reason=Reason("one_chip_check"), topics=("one_chip_option",), rests_on=("one_chip_bb_option",)
        )
    return raise_to(spot, total, spoken=False, topics=("one_chip_option",), rests_on=("one_chip_bb_option",))


def _forced_change(spot: Spot, total: int) -> Reading:
    """A small chip added to ease the change, without a word: to the letter a raise, so the floor decides."""
    raised = raise_to(spot, total, spoken=False, topics=("prior_cover",))
    if raised.kind != "raise":
        return raised  # a call to the letter too: nothing for the floor to decide
    named = (("call", spot.price), ("raise", raised.to))
    return Reading(
        kind="floor",
        reason=Reason("floor_forced_change", {"to": spot.price}),
        topics=("prior_cover",),
        candidates=tuple(Candidate(act, to, Reason("amount", {"to": to})) for act, to in named),  # type: ignore[arg-type]  # call, raise
    )
