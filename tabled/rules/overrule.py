"""The floor's own decision: what it says holds, whatever the paragraphs would have made of the act."""

from __future__ import annotations

from tabled.model.ruling import Reason, Ruling, Verb, Verdict
from tabled.rules import rights
from tabled.rules.errors import IllegalAct
from tabled.rules.hand import Hand
from tabled.rules.profile import Profile
from tabled.rules.settle import Judgement


def overrule(before: Hand, profile: Profile, seat: str, action: Verdict, to: int | None = None) -> Judgement:
    """Apply the floor's decision on ``seat``'s act to ``before``, the hand as it stood before the act.

    ``action`` is one of fold, check, call, bet, raise, complete, all_in; ``to`` the total on the street for the
    last four (all_in: the whole stack if None).  The floor may go under a minimum or over a maximum, not over a
    stack.  Who corrects an earlier ruling replays the acts after it on ``Judgement.after``.  Raises IllegalAct if
    the decision cannot be carried out.
    """
    if before.to_act != seat:
        before = before.copy()
        before.give_turn(seat)
    after = before.copy()
    mine = before.bet_of(seat) + before.stack_of(seat)
    verb: Verb
    match action:
        case "fold":
            after.fold()
            verb = "fold"
        case "check":
            after.check()
            verb = "check"
        case "call":
            after.call()
            verb = "call"
        case "bet" | "raise" | "complete" | "all_in":
            total = mine if to is None else to
            if total <= before.bet_to and total != mine:
                raise IllegalAct(f"{seat}: {total} is no {action} over {before.bet_to}; decide call or fold instead")
            after.stand_at(total)
            verb = "call" if total <= before.bet_to else "bet" if before.bet_to == 0 else "raise"
        case _:
            raise IllegalAct(f"the floor can decide fold, check, call, bet, raise, complete or all_in, not {action!r}")
    free = rights.may_raise(after, seat)
    return Judgement(
        Ruling(
            seat=seat,
            action="all_in" if after.stack_of(seat) == 0 and verb not in ("fold", "check") else action,
            verb=verb,
            to=after.bet_of(seat),
            all_in=after.stack_of(seat) == 0 and verb not in ("fold", "check"),
            faced=before.faced(seat),
            next_seat=after.to_act,
            call_to=after.bet_to or None,
            min_raise_to=rights.smallest(after, free),
            max_raise_to=rights.largest(after, free),
            may_raise=free,
            may_not_raise=rights.locked(after, seat),
            options=rights.options(after),
            round_over=after.street_over,
            cite=profile.clauses("floor"),
            reason=Reason(f"overruled_{verb}", {"seat": seat, "to": after.bet_of(seat)}),
            profile=profile.hash,
        ),
        after,
    )
