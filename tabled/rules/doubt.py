"""Why the floor is wanted, and what it may choose between.

A ruling rests on a setting where the text leaves room (``Reading.rests_on``).  What the floor can decide instead is
then what the law would be under the setting's other values; so the candidates are found by turning it, never listed
by hand.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from msgspec.structs import replace

from tabled.model.ruling import Candidate, Reason
from tabled.rules.gesture import Gesture
from tabled.rules.profile import Profile, choices
from tabled.rules.reading import Reading, Spot

Interpret = Callable[[Spot], Reading]


def named(spot: Spot, reading: Reading, interpret: Interpret) -> Reading:
    """The reading with the floor's reason and candidates, if the floor is wanted for it."""
    asked = [s for s in reading.rests_on if s in spot.profile.ask_floor]
    if reading.kind == "floor":
        return reading if reading.candidates else replace(reading, candidates=_of_event(spot, interpret))
    if reading.floor:  # a tap or a word that may have been no check
        other = replace(reading, kind="pending")
        return replace(reading, why=Reason("why_unclear_check"), candidates=outcomes(spot, reading, other))
    if not asked:
        return reading
    why = reading.why or WHY[asked[0]]
    if reading.candidates:
        return replace(reading, why=why)
    others = [interpret(Spot(spot.hand, law, spot.gesture)) for law in turned(spot.profile, asked)]
    found = outcomes(spot, reading, *others)
    if len(found) == 1 and "prior_chips" in asked:  # what the mixed chips were meant for: a raise, or none
        found = outcomes(spot, reading, _plain(spot))
    if len(found) == 1:  # every value comes to the same here, so there is nothing to ask
        return replace(reading, rests_on=tuple(s for s in reading.rests_on if s not in asked))
    return replace(reading, why=why, candidates=found)


WHY = {
    "simultaneous": Reason("why_simultaneous"),
    "speech_vs_chips": Reason("why_speech_vs_chips"),
    "one_chip_bb_option": Reason("why_one_chip_bb_option"),
    "one_chip_bring_in": Reason("why_one_chip_bring_in"),
    "multi_chip_test": Reason("why_multi_chip_test"),
    "prior_chips": Reason("why_prior_chips"),
    "string_first_motion": Reason("why_string_first_motion"),
    "raise_word_extra_motions": Reason("why_raise_word_extra_motions"),
    "undercall": Reason("why_undercall"),
    "short_number": Reason("why_short_number"),
    "out_of_turn": Reason("why_out_of_turn"),
}
"""The settings that a ruling can rest on (those that ``ask_floor`` may name), and what the floor is told."""


def turned(profile: Profile, settings: list[str]) -> Iterator[Profile]:
    """The profile with each of the settings at each of its other values, one at a time."""
    for setting in settings:
        for value in choices(setting):
            if value != getattr(profile, setting):
                yield profile.with_values(**{setting: value})


def outcomes(spot: Spot, *readings: Reading) -> tuple[Candidate, ...]:
    """What the readings come to, each once, in their order."""
    found: dict[tuple[str, int | None], Candidate] = {}
    for reading in readings:
        for candidate in reading.candidates if reading.kind == "floor" else (outcome(spot, reading),):
            found.setdefault((candidate.action, candidate.to), candidate)
    return tuple(found.values())


def outcome(spot: Spot, reading: Reading) -> Candidate:
    """What one reading comes to.  An amount that the stack would cut is named all-in, so that no stack is told."""
    match reading.kind:
        case "raise" if reading.to > spot.mine:
            return Candidate("all_in", None, Reason("choice_all_in"))
        case "raise" if reading.to <= spot.hand.bet_to:
            return _call(spot)
        case "raise":
            params: dict[str, int | str] = {"to": reading.to}
            if reading.to == spot.complete:
                return Candidate("complete", reading.to, Reason("choice_complete", params))
            if spot.opening:
                return Candidate("bet", reading.to, Reason("choice_bet", params))
            return Candidate("raise", reading.to, Reason("choice_raise", params))
        case "call":
            return _call(spot)
        case "bring_in":
            return Candidate("bring_in", spot.hand.table.bring_in, Reason("bring_in", {"to": spot.hand.table.bring_in}))
        case "check":
            return Candidate("check", spot.line, Reason("choice_check"))
        case "fold":
            return Candidate("fold", None, Reason("choice_fold"))
        case "call_or_fold":
            return Candidate("call_or_fold", None, Reason("choice_call_or_fold", {"to": spot.price}))
        case _:
            return Candidate("pending", None, Reason("free_choice"))


def _call(spot: Spot) -> Candidate:
    return Candidate("call", spot.price, Reason("choice_call", {"to": spot.price}))


def _plain(spot: Spot) -> Reading:
    return Reading(kind="call" if spot.owes else "check")


def _of_event(spot: Spot, interpret: Interpret) -> tuple[Candidate, ...]:
    """The floor is wanted for what happened, not for a setting: nothing was meant, or what lies there counts."""
    gesture = spot.gesture
    chips = gesture.motions or ((gesture.short,) if gesture.short else ())
    nothing = Reading(kind="pending")
    if not chips:
        return outcomes(spot, nothing, _plain(spot), Reading(kind="fold"))
    counted = interpret(Spot(spot.hand, spot.profile, Gesture(seat=spot.seat, motions=chips)))
    return outcomes(spot, nothing, counted)
