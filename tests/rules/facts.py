"""What each sentence of a ruling claims, held against the ruling's other fields and against the hand.

``FACTS`` has one check for every code that the law can give as the reason of a ruling, ``LOCK_FACTS`` one for every
reason why a seat may not raise.  They are written from the sentences in ``en.toml``, apart from the code that
chooses them.
"""

from __future__ import annotations

from collections.abc import Callable

from tabled.model.ruling import Locked, Ruling
from tabled.rules.hand import Hand
from tabled.rules.profile import Profile


class Said:
    """A ruling with the hand before and after it, and the profile it was made by."""

    def __init__(self, ruling: Ruling, before: Hand, after: Hand | None, law: Profile) -> None:
        self.r, self.before, self.after, self.law = ruling, before, after, law
        self.p = ruling.reason.params
        self.option = next((o for o in ruling.options if o.seat == ruling.seat), None)

    @property
    def mine(self) -> int:
        return self.before.bet_of(self.r.seat) + self.before.stack_of(self.r.seat)

    @property
    def grown(self) -> int:
        assert self.r.to is not None
        return self.r.to - self.before.bet_to

    def acted(self) -> set[str]:
        """Other seats with chips that have acted on this street."""
        hand = self.after
        assert hand is not None
        names = hand.table.names
        return {names[j] for j in range(hand.table.n) if hand.seen[j] >= 0 and hand.state[j] == 0} - {self.r.seat}

    def rights(self) -> tuple[set[str], set[str]]:
        """Seats with the right to raise (a stack that is too short is no lack of right), and those without."""
        poor = {x.seat for x in self.r.may_not_raise if x.reason.code == "lock_stack"}
        return set(self.r.may_raise) | poor, {x.seat for x in self.r.may_not_raise} - poor

    def least(self) -> int:
        """The smallest bet; instead of a bring-in it is more than that."""
        table = self.before.table
        return max(self.r.faced.min_to, table.bring_in + table.chip_unit if self.before.owes_bring_in else 0)

    def smallest(self) -> int:
        return self.before.raise_range(self.before.table.index[self.r.seat])[0]


def _does(*verbs: str) -> Callable[[Said], bool]:
    return lambda s: s.r.verb in verbs and not s.r.all_in and s.p["to"] == s.r.to


def _names(text: object) -> set[str]:
    return set(filter(None, str(text).split(", ")))


def _short(s: Said) -> bool:
    size = s.smallest() - s.before.bet_to
    return s.r.all_in and s.r.full is False and 0 < s.grown < size and s.p["to"] == s.r.to


def _none_reopened(s: Said) -> bool:
    free, shut = s.rights()
    return _short(s) and bool(s.acted() & shut) and not s.acted() & free


def _all_reopened(s: Said) -> bool:
    free, shut = s.rights()
    return _short(s) and bool(s.acted() & free) and not s.acted() & shut


def _some_reopened(s: Said) -> bool:
    free, shut = s.rights()
    open_again, closed = _names(s.p["reopened"]), _names(s.p["closed"])
    return _short(s) and open_again == s.acted() & free and closed == s.acted() & shut and bool(open_again and closed)


def _plain_short(s: Said) -> bool:
    later = s.after is not None and s.after.bet_to != s.r.to
    free, shut = s.rights()
    return _short(s) and (later or not s.acted() & (free | shut))


def _under(s: Said) -> bool:
    """Nothing was raised though chips or a word meant to."""
    return s.r.verb in ("call", "check") and not s.r.all_in


def _no_raise(s: Said) -> bool:
    return s.r.faced is not None and not s.r.faced.raise_open


def _calls(s: Said) -> bool:
    return s.r.verb == "call" and not s.r.all_in and s.r.to == s.before.price(s.before.table.index[s.r.seat])


def _checks(s: Said) -> bool:
    return s.r.verb == "check" and s.r.to == s.before.bet_of(s.r.seat)


def _waits(s: Said) -> bool:
    return s.r.action == "pending" and s.r.next_seat == s.r.seat and s.after is None


def _chooses(s: Said, *, call: bool = True, raising: bool | None = None, folding: bool | None = None) -> bool:
    o = s.option
    if o is None or (call and o.call_to != s.p["to"]):
        return False
    if raising is not None and raising != (o.raise_min_to is not None or o.complete_to is not None):
        return False
    return folding is None or o.fold == folding


def _floor(s: Said) -> bool:
    return s.r.floor and s.r.action == "floor" and s.after is None and s.r.next_seat == s.r.seat


FACTS: dict[str, Callable[[Said], bool]] = {
    "call": _calls,
    "check": _checks,
    "fold": lambda s: s.r.verb == "fold",
    "bet": lambda s: _does("bet")(s) and s.before.bet_to == 0,
    "raise": _does("raise"),
    "complete": _does("complete"),
    "bring_in": lambda s: s.r.verb == "bring-in" and s.p["to"] == s.r.to,
    "bring_in_due": lambda s: _waits(s) and s.p["amount"] == s.before.table.bring_in,
    "bet_pot": lambda s: _does("bet")(s) and s.r.to == s.r.faced.max_to,
    "raise_pot": lambda s: _does("raise")(s) and s.r.to == s.r.faced.max_to,
    "all_in": lambda s: s.r.all_in and s.r.full is True and s.p["to"] == s.r.to == s.mine,
    "all_in_call": lambda s: s.r.all_in and s.r.verb == "call" and s.p["to"] == s.r.to == s.mine,
    "all_in_short": _none_reopened,
    "all_in_short_reopens": _all_reopened,
    "all_in_short_some": _some_reopened,
    "all_in_short_plain": _plain_short,
    "one_chip_call": _calls,
    "one_chip_check": _checks,
    "every_chip_needed": _calls,
    "string_call": _calls,
    "string_check": _checks,
    "bet_lifted": lambda s: _does("bet", "raise")(s) and s.r.to == s.least(),
    "raise_lifted": lambda s: _does("raise", "complete")(s) and s.r.to == s.r.faced.min_to,
    "bet_cut": lambda s: _does("bet", "raise")(s) and s.r.to == s.r.faced.max_to,
    "raise_cut": lambda s: _does("raise", "complete")(s) and s.r.to == s.r.faced.max_to,
    "underraise_call": lambda s: _under(s) and s.law.underraise_threshold != "call",
    "underraise_check": lambda s: _under(s) and s.law.underraise_threshold != "call",
    "underraise_call_bet": lambda s: _under(s) and s.law.underraise_half_of == "bet",
    "underraise_check_bet": lambda s: _under(s) and s.law.underraise_half_of == "bet",
    "underraise_call_full": lambda s: _under(s) and s.law.underraise_threshold == "call",
    "underraise_check_full": lambda s: _under(s) and s.law.underraise_threshold == "call",
    "underbet_check": lambda s: _checks(s) and s.before.bet_to == 0,
    "undercall": lambda s: _calls(s) and s.p["to"] == s.r.to,
    "raise_closed": lambda s: _calls(s) and _no_raise(s),
    "raise_closed_check": lambda s: _checks(s) and _no_raise(s),
    "raise_capped": lambda s: _calls(s) and _no_raise(s) and s.before.capped(),
    "call_of_nothing": _checks,
    "check_then_call": lambda s: s.r.verb == "call" and s.before.bet_to > 0,
    "no_check": lambda s: s.r.action == "call_or_fold" and s.option.fold and s.option.raise_min_to is None,
    "bet_short_number": _does("bet"),
    "raise_short_number": _does("raise"),
    "lifted_binds": lambda s: _chooses(s, raising=True, folding=False),
    "lifted_binds_call": lambda s: _chooses(s, raising=False, folding=False),
    "lifted_pending": lambda s: _waits(s) and _chooses(s, raising=True),
    "lifted_pending_call": lambda s: _waits(s) and _chooses(s, raising=False),
    "pending": _waits,
    "change_asked": _waits,
    "not_in_hand": lambda s: s.before.status_of(s.r.seat) == "folded",
    "all_in_already": lambda s: s.before.status_of(s.r.seat) == "all_in",
    "held_out_of_turn": lambda s: s.p["turn"] == s.r.next_seat == s.before.to_act != s.r.seat,
    "held_nobody_to_act": lambda s: s.r.next_seat is None and s.before.to_act is None,
    "out_of_turn_no_raise": lambda s: _chooses(s, raising=False, folding=True),
    "out_of_turn_released": _waits,
    "accepted_action": _calls,
    "amount_right": lambda s: s.r.action == "stands" and s.p["to"] == s.r.to and not (s.r.add or s.r.back),
    "corrected": lambda s: s.p["to"] == s.r.to,
    "corrected_pot": lambda s: s.p["to"] == s.r.to,
    "too_late": lambda s: s.r.action in ("stands", "bet", "raise") and s.p["to"] == s.r.to and bool(s.r.window),
    "witness_not_heard": lambda s: s.r.action == "stands" and s.r.floor,
    "witness_ignored": lambda s: s.r.action == "stands" and not s.r.floor,
    **dict.fromkeys(
        (
            "floor_accidental", "floor_short_push", "floor_small_raise", "floor_undercall", "floor_tiny_chips",
            "floor_undercall_claim",            "floor_low_voice", "floor_forced_change", "floor_short_number", "floor_unclear_word", "floor_conditional",
            "floor_hidden_chips", "floor_premature",
        ),
        _floor,
    ),
}  # fmt: skip


def _half(hand: Hand) -> int:
    return hand.table.unit(hand.street) if hand.table.half_of_min else hand.full


LOCK_FACTS: dict[str, Callable[[Locked, Hand], bool]] = {
    "lock_capped": lambda x, h: h.capped() and x.reason.params["raises"] == h.table.cap,
    "lock_alone": lambda x, h: not h.answerable(h.table.index[x.seat]),
    "lock_short": lambda x, h: 0 < x.reason.params["more"] < x.reason.params["full"] == h.full and not h.table.half,
    "lock_short_half": lambda x, h: 0 < 2 * x.reason.params["more"] < x.reason.params["full"] == _half(h),
    "lock_separate": lambda x, h: 2 * x.reason.params["more"] >= x.reason.params["full"] and not h.table.cumulative,
    "lock_acted": lambda x, h: h.seen[h.table.index[x.seat]] >= h.bet_to,
    "lock_stack": lambda x, h: h.bet_of(x.seat) + x.reason.params["stack"] <= h.bet_to,
}


ONE_CANDIDATE = ("floor_premature", "floor_short_number")
"""Where the cases name one outcome: the floor confirms it or not.  So does a penalty for acting out of turn."""


def contradictions(said: Said) -> list[str]:
    """What the ruling says that its own fields or the hand contradict; empty if nothing."""
    r, code = said.r, said.r.reason.code
    found = []
    if code not in FACTS:
        found.append(f"{code}: no check; add one that holds the sentence against the fields")
    elif not FACTS[code](said):
        found.append(f"{code} {r.reason.params} is not so: {r}")
    if said.after is not None:
        wrong = (x for x in r.may_not_raise if not LOCK_FACTS[x.reason.code](x, said.after))
        found += [f"seat {x.seat}: {x.reason} is not so" for x in wrong]
    alone = code in ONE_CANDIDATE or (r.floor_reason is not None and r.floor_reason.code == "why_out_of_turn")
    if r.floor and len(r.candidates) < (1 if alone else 2):
        found.append(f"the floor is asked and has nothing to choose between: {r.candidates}")
    if r.floor and r.action != "floor" and r.reason.code != "witness_not_heard" and r.floor_reason is None:
        found.append(f"the floor is asked and not told why: {r.reason}")
    if r.floor_reason is not None and not r.floor:
        found.append("a reason for the floor, which is not asked")
    both = set(r.may_raise) & {x.seat for x in r.may_not_raise}
    if both:
        found.append(f"{both} may and may not raise")
    for option in r.options:
        open_ = option.raise_min_to is not None or option.complete_to is not None
        if open_ and option.seat in {x.seat for x in r.may_not_raise}:
            found.append(f"{option.seat} has a raise among its options and may not raise")
        if option.check and option.call_to is not None:
            found.append(f"{option.seat} may both check and call")
    return found
