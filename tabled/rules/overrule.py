"""The floor's own decision: what it says holds, whatever the paragraphs would have made of the act.

Only what the books cannot hold is refused: more than the stack, a total that is neither over the bet nor all that
the seat has, a word that contradicts its own amount.
"""

from __future__ import annotations

from tabled.model.acts import Decided
from tabled.model.ruling import Reason, Ruling, Verb, Verdict
from tabled.rules import rights
from tabled.rules.errors import IllegalAct, NotEnoughChips
from tabled.rules.hand import Hand
from tabled.rules.judge import judge
from tabled.rules.profile import Profile
from tabled.rules.settle import Judgement


def overrule(before: Hand, profile: Profile, seat: str, action: Verdict, to: int | None = None) -> Judgement:
    """Apply the floor's decision on ``seat``'s act to ``before``, the hand as it stood before the act.

    ``action`` is one of fold, check, call, bet, raise, complete, all_in; ``to`` the total on the street, which a bet
    or raise needs and the others may leave out.  The floor may go under a minimum or over a maximum, not over a
    stack.  The ruling names the act for what it is there (a "raise" that opens is a bet), says that it is the floor's
    (``by_floor``) and where it is not what the law makes of it (``departs``).  A seat that was passed over, because
    ``seat`` acted before its turn, is to act afterwards.  Raises IllegalAct if the decision cannot be carried out.
    """
    if before.status_of(seat) != "in":
        state = before.status_of(seat).replace("_", "-")
        raise IllegalAct(f"seat {seat} is {state}: it has no act left to decide")
    after = before.copy()
    after.give_turn(seat)
    verb = _carry_out(after, seat, action, to)
    if before.to_act is not None and before.to_act != seat:
        after.pass_turn(before.table.index[before.to_act] - 1)
    ruling = _ruling(before, after, profile, seat, verb)
    return Judgement(ruling, after)


def recounted(hand: Hand, seat: str, chips: int) -> Hand:
    """The hand with the seat's stack put right: ``chips`` is all it has on this street, bet and behind together.

    Raises IllegalAct for less than its bet.
    """
    i = hand.table.index[seat]
    if chips < hand.bet[i] or chips == 0:
        raise IllegalAct(
            f"seat {seat} has bet {hand.bet[i]}: its stack on this street is no less than that, not {chips}"
        )
    hand = hand.copy()
    hand.stack[i] = chips - hand.bet[i]
    return hand


def allowed(hand: Hand, seat: str) -> str:
    """What the floor can decide on the seat's act, in words for whoever sends the order."""
    bet, mine = hand.bet_to, hand.bet_of(seat) + hand.stack_of(seat)
    price = min(hand.price(hand.table.index[seat]), mine)
    parts = ["fold", "check" if price <= hand.bet_of(seat) else f"call ({price})"]
    if mine > bet:
        word = "raise" if bet else "bet"
        parts.append(f'{word} with "to" from {bet + 1} to {mine}')
    return ", ".join([*parts, f"all_in ({mine})"])


def _carry_out(after: Hand, seat: str, action: Verdict, to: int | None) -> Verb:
    match action:
        case "fold" | "check" | "call":
            {"fold": after.fold, "check": after.check, "call": after.call}[action]()
            if to is not None and to != after.bet_of(seat):
                raise IllegalAct(
                    f'a {action} of seat {seat} leaves it at {after.bet_of(seat)}, not {to}: leave "to" out, or decide '
                    "a bet or raise"
                )
            return action
        case "bet" | "raise" | "complete" | "all_in":
            return _put_in(after, seat, action, to)
        case _:
            raise IllegalAct(f"the floor can decide fold, check, call, bet, raise, complete or all_in, not {action!r}")


def _put_in(after: Hand, seat: str, action: Verdict, to: int | None) -> Verb:
    i = after.table.index[seat]
    mine, price = after.bet[i] + after.stack[i], after.bet_to
    whole = after.complete_to(i)
    total = to
    if total is None and action == "complete" and whole is not None:
        total = min(whole, mine)
    elif total is None and action == "all_in":
        total = mine
    if total is None:
        raise IllegalAct(f'a {action} needs "to", the total of seat {seat} on the street')
    if total > mine:
        raise NotEnoughChips(
            f'seat {seat} has {mine} in all; {total} cannot stand.  If it has more than that, send "stack" too: all '
            "that it has on this street, bet and behind together"
        )
    if action == "all_in" and total != mine:
        raise IllegalAct(f'all-in is {mine} for seat {seat}, not {total}: leave "to" out, or decide a bet or raise')
    if total <= price and total != mine:
        raise IllegalAct(f"seat {seat}: {total} is no {action} over {price}; decide call or fold instead")
    if after.owes_bring_in and total == after.table.bring_in:
        after.bring_in()
        return "bring-in"
    after.owes_bring_in = False
    after.stand_at(total)
    if total <= price:
        return "call"
    if price == 0:
        return "bet"
    return "complete" if action == "complete" or total == whole else "raise"


def _ruling(before: Hand, after: Hand, profile: Profile, seat: str, verb: Verb) -> Ruling:
    to = after.bet_of(seat)
    all_in = after.stack_of(seat) == 0 and verb not in ("fold", "check")
    action: Verdict = "all_in" if all_in else "bring_in" if verb == "bring-in" else verb
    free = rights.may_raise(after, seat)
    return Ruling(
        seat=seat,
        action=action,
        verb=verb,
        to=to,
        all_in=all_in,
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
        reason=Reason(f"floor_ruled_{action}", {"seat": seat, "to": to}),
        profile=profile.hash,
        by_floor=True,
        departs=_departure(before, profile, seat, verb, to, all_in=all_in),
    )


def _departure(before: Hand, profile: Profile, seat: str, verb: Verb, to: int, *, all_in: bool) -> Reason | None:
    """What the law would have made of the same act; None where that is the decision.  Names no stack."""
    if before.to_act != seat:
        return Reason("departs_turn", {"seat": seat})
    if verb == "bring-in":
        return None
    act = "all_in" if all_in and verb != "call" else verb
    try:
        law = judge(before, profile, (Decided(seat, act, to if act not in ("fold", "check", "all_in") else None),))
    except IllegalAct:
        return Reason("departs_no_act", {"seat": seat})
    made = law.ruling
    if law.after is None:
        return Reason("departs_no_act", {"seat": seat})
    if made.to == to and (made.verb == verb or {made.verb, verb} <= {"raise", "complete"}):
        return None
    if made.all_in:
        return Reason("departs_all_in", {"seat": seat})
    return Reason(f"departs_{made.verb}", {"seat": seat, "to": made.to or 0})
