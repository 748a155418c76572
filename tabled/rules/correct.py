"""Wrong amounts pointed out: who may, how long, and what is put right (§7.9; TDA 52)."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from tabled.model.acts import Witness
from tabled.model.ruling import Adjustment, Reason, Ruling
from tabled.rules import rights
from tabled.rules.chips import read_chips
from tabled.rules.gesture import Gesture
from tabled.rules.hand import IN, Hand
from tabled.rules.profile import Profile
from tabled.rules.raising import raise_to, undercall
from tabled.rules.reading import Reading, Spot
from tabled.rules.settle import Judgement, settle
from tabled.rules.table import POT_LIMIT

__all__ = ["correct_put", "let_stand", "may_speak", "not_heard", "over_pot", "stands", "told"]


def may_speak(profile: Profile, witness: Witness) -> bool:
    """Whether the profile hears this witness about a wrong amount."""
    return witness in profile.third_party


def not_heard(profile: Profile, seat: str, witness: Witness) -> Ruling:
    """A word from outside the table changes nothing; the dealer counts on his own duty, if the profile says so."""
    counts = profile.third_party_unheard == "dealer_counts"
    return Ruling(
        seat=seat,
        action="stands",
        cite=profile.clauses("third_party"),
        reason=Reason("witness_not_heard" if counts else "witness_ignored", {"witness": witness, "seat": seat}),
        floor=counts,
        profile=profile.hash,
    )


def stands(hand: Hand, profile: Profile, seat: str, why: str, topic: str) -> Ruling:
    """The amount is wrong but it is too late: it stands as it lies.  ``hand`` has it applied."""
    free = rights.may_raise(hand, seat)
    return Ruling(
        seat=seat,
        action="stands",
        to=hand.bet_of(seat),
        next_seat=hand.to_act,
        call_to=hand.bet_to or None,
        min_raise_to=rights.smallest(hand, free),
        max_raise_to=rights.largest(hand, free),
        may_raise=free,
        may_not_raise=rights.locked(hand, seat),
        options=rights.options(hand),
        cite=profile.clauses(topic),
        reason=Reason("too_late", {"seat": seat, "to": hand.bet_of(seat)}),
        profile=profile.hash,
        window=why,
    )


def before_put(hand: Hand, seat: str, later: Sequence[str] = ()) -> Hand:
    """The hand with the unruled amount on ``seat``'s line back in its stack, and the turn its own.

    What the ``later`` seats put in to answer it was not in the pot then: it does not raise a limit by the pot.
    """
    i = hand.table.index[seat]
    put = hand.bet[i]
    before = hand.copy()
    before.stack[i] += put
    before.total -= put + sum(hand.bet_of(s) for s in later)
    before.paid[i] -= put
    before.bet[i] = 0
    if before.state[i] != IN:
        before.state[i] = IN
        before.n_in += 1
    before.seen[i] = -1
    before.line_chips.pop(i, None)
    before.give_turn(seat)
    return before


def over_pot(hand: Hand, seat: str, put: int | None = None, later: Sequence[str] = ()) -> bool:
    """Whether ``put`` is over what pot limit allows the seat; without it, the unruled amount on its line, which
    ``later`` seats have answered."""
    if hand.table.structure != POT_LIMIT:
        return False
    i = hand.table.index[seat]
    if put is None:
        hand, put = before_put(hand, seat, later), hand.bet[i]
    return put > hand.raise_range(i)[1]


def let_stand(hand: Hand, seat: str, followers: Sequence[str]) -> Hand:
    """The hand with the unruled amount on ``seat``'s line as the price, answered by ``followers``."""
    now = hand.copy()
    if now.bet_of(seat) > now.bet_to:
        now.set_level(now.bet_of(seat), all_in=False)
    for answered in (seat, *followers):
        now.lose_raise(answered)
    return now


def correct_put(hand: Hand, profile: Profile, seat: str, later: Sequence[str], topic: str = "correct") -> Judgement:
    """Put right an amount that lies wrong on ``seat``'s line, as if its chips were judged now.

    ``hand`` counts the wrong amount as the seat's line and the right price as ``bet_to``; ``later`` are the seats
    that answered the wrong amount.  They add, or get back, the difference.  Chips that are known are judged by the
    chip rules, as one motion; of an amount alone only its size is known.
    """
    put = hand.bet_of(seat)
    followers = {s: hand.bet_of(s) for s in later if hand.status_of(s) != "folded" and hand.bet_of(s) == put}
    lying = hand.line_chips.get(hand.table.index[seat], ())
    known = bool(lying) and sum(lying) == put
    gesture = Gesture(seat=seat, motions=(lying if known else (put,),))
    spot = Spot(before_put(hand, seat, tuple(followers)), profile, gesture)
    judged = settle(spot, read_chips(spot) if known else _as_amount(spot, put))
    ruling, after = judged
    cite = tuple(dict.fromkeys((*profile.clauses(topic), *ruling.cite)))
    if after is None:
        return Judgement(replace(ruling, cite=cite), None)
    after.total += sum(followers.values())
    adjust = (*(() if not ruling.add else (Adjustment(seat, ruling.add),)), *_follow(after, spot.i, followers))
    return Judgement(
        replace(
            ruling,
            action="corrected",
            adjust=adjust,
            back_chips=ruling.back_chips if known else (),
            change=ruling.change if known else None,
            cite=cite,
            reason=Reason("corrected", {**ruling.reason.params, "to": after.bet_of(seat)}),
            candidates=(),
        ),
        after,
    )


def told(ruling: Ruling, hand: Hand, adjust: Sequence[Adjustment]) -> Ruling:
    """The same ruling with what later seats add; if nobody moves a chip, the amount in ``hand`` was right."""
    ruling = replace(ruling, adjust=(*ruling.adjust, *adjust))
    put = hand.bet_of(ruling.seat)
    if ruling.adjust or ruling.add or ruling.back or ruling.to != put:
        return ruling
    return replace(ruling, action="stands", reason=Reason("amount_right", {"seat": ruling.seat, "to": put}))


def _as_amount(spot: Spot, put: int) -> Reading:
    """Read the amount without the chip rules: how many chips it was is not known."""
    if put > spot.price or spot.opening:
        return raise_to(spot, put, spoken=False, topics=("under_raise",))
    if put == spot.price or put >= spot.mine:
        return Reading(kind="call", reason=Reason("call"), topics=("undercall",))
    return undercall(spot, put, ())


def _follow(after: Hand, i: int, followers: dict[str, int]) -> tuple[Adjustment, ...]:
    """Seats that called the wrong amount of seat ``i`` now answer the right one."""
    adjust: list[Adjustment] = []
    for seat in followers:
        j = after.table.index[seat]
        due = min(after.bet_to, after.bet[j] + after.stack[j]) - after.bet[j]
        if due < 0:
            after.bet[j] += due
            after.paid[j] += due
            after.stack[j] -= due
            after.total += due
        elif due:
            after.pay(j, due)
        after.seen[j] = after.bet_to
        after.heard[j] = after.raises
        if due:
            adjust.append(Adjustment(seat, due))
    if after.actor >= 0:
        after.pass_turn(i)
    return tuple(adjust)
