"""Accepted action: who answers an amount that the dealer named wrong has accepted the right one (TDA 49)."""

from __future__ import annotations

from collections.abc import Sequence

from tabled.model.acts import AnyAct
from tabled.model.ruling import Reason
from tabled.rules.hand import Hand
from tabled.rules.judge import read_acts
from tabled.rules.profile import Profile
from tabled.rules.reading import Reading, Spot
from tabled.rules.settle import Judgement, settle
from tabled.rules.words import binding


def accepted(hand: Hand, profile: Profile, acts: Sequence[AnyAct], quoted: int | None) -> Judgement | None:
    """The call of the whole bet, if the seat to act puts in, or says, just the wrong amount that the dealer named.

    At pot limit an amount over the bet may have been the pot that the dealer was asked for, so it is none.
    """
    if quoted is None or profile.accepted_action != "full" or hand.to_act != acts[0].seat:
        return None
    gesture = read_acts(hand, profile, acts)
    spot = Spot(hand, profile, gesture)
    if not spot.owes or quoted == spot.price or gesture.decided is not None:
        return None
    if spot.pot_limit and quoted > spot.price:
        return None
    say = binding(gesture.words)
    if say is not None and (say.word != "number" or say.amount != quoted):
        return None
    if say is None and quoted not in (spot.felt, sum(gesture.new) - sum(gesture.retracted)):
        return None
    return settle(spot, Reading(kind="call", reason=Reason("accepted_action"), topics=("accepted",)))
