"""What a dealer's display must never learn, taken out before a message is made.

A display stands where players can read it.  It must not carry what the law keeps from them: the
pot total in no-limit (a dealer counts the pot only in pot-limit; TDA 2024 rule 58, Robert's Rules
§14), and any stack that its owner has not put forward.  Nothing below asks for the structure, so
nothing can leak because the structure was unknown after a restart: what is removed is whatever can
have been *capped by a stack*, in any game.

* ``faced`` is dropped whole: ``to_call`` and ``max_to`` are capped by the stack of the seat that acted.
  A seat that folded would show its stack by it.
* In ``options`` every amount that a stack may have capped is replaced by the amount that the
  structure gives everyone: ``call_to`` by the ruling's ``call_to``, ``raise_min_to`` by its
  ``min_raise_to``, ``raise_max_to`` by its ``max_raise_to``.  The last is absent in no-limit, where the
  only maximum is the stack.  *Whether* a seat may check, call or raise stays.
* A seat that may not raise only because its stack is no larger than the call (`STACK_LOCKS`) keeps its
  *right* to raise on the display: that it lacks the means is its own secret until it acts.
* An all-in already made needs no exception: its amount is the ruling's own ``to`` and ``call_to``,
  chips that are on the felt.
* ``departs`` is dropped: it is between the floor and its record.
* ``evidence`` (journal positions) is dropped: it is of no use to a dealer and has no small bound.
* Parameters of reasons named in `HIDDEN_PARAMS` are dropped.

The sentence that the dealer speaks is made from the cut ruling, so it cannot leak either.  The full
ruling goes to the ``evidence`` topic, which a display's access list does not include.
"""

from __future__ import annotations

import msgspec

from tabled.model.outcome import AlertRaised, Choice, QuestionAsked, RulingIssued
from tabled.model.ruling import Candidate, Locked, Option, Reason, Ruling

HIDDEN_PARAMS = frozenset({"stack", "stacks", "behind", "pot", "pot_total", "max_to"})

STACK_LOCKS = frozenset({"lock_stack"})
"""Codes of locks that say nothing but how much a seat has left."""


def safe_reason(reason: Reason) -> Reason:
    """The reason without the parameters that name a stack or a pot."""
    if HIDDEN_PARAMS.isdisjoint(reason.params):
        return reason
    return Reason(reason.code, {k: v for k, v in reason.params.items() if k not in HIDDEN_PARAMS})


def _structural_max(ruling: Ruling, seat: str) -> int | None:
    limit = ruling.max_raise_to
    return limit.get(seat) if isinstance(limit, dict) else limit


def _safe_option(option: Option, ruling: Ruling, poor: frozenset[str]) -> Option:
    may_raise = option.raise_min_to is not None or option.seat in poor
    return Option(
        seat=option.seat,
        check=option.check,
        fold=option.fold,
        call_to=ruling.call_to if option.call_to is not None else None,
        raise_min_to=ruling.min_raise_to if may_raise else None,
        raise_max_to=_structural_max(ruling, option.seat) if may_raise else None,
        complete_to=option.complete_to,
    )


def safe_ruling(ruling: Ruling) -> Ruling:
    """The ruling as a display may know it.  Pure; idempotent."""
    poor = frozenset(x.seat for x in ruling.may_not_raise if x.reason.code in STACK_LOCKS)
    rights = (*ruling.may_raise, *(x.seat for x in ruling.may_not_raise if x.seat in poor))
    return msgspec.structs.replace(
        ruling,
        faced=None,
        options=tuple(_safe_option(o, ruling, poor) for o in ruling.options),
        may_raise=tuple(sorted(rights, key=lambda seat: (len(seat), seat))),  # an order that tells nothing
        may_not_raise=tuple(Locked(x.seat, safe_reason(x.reason)) for x in ruling.may_not_raise if x.seat not in poor),
        candidates=tuple(Candidate(c.action, c.to, safe_reason(c.reason)) for c in ruling.candidates),
        reason=safe_reason(ruling.reason),
        departs=None,
    )


def safe_issue(issued: RulingIssued) -> RulingIssued:
    """An issued ruling as a display may know it."""
    return msgspec.structs.replace(issued, ruling=safe_ruling(issued.ruling), evidence=())


def safe_question(asked: QuestionAsked) -> QuestionAsked:
    """A question as a display may know it.  Its amounts are bets, which are on the felt."""
    a, b = (Choice(c.key, safe_reason(c.reason), c.action, c.to) for c in asked.choices)
    return msgspec.structs.replace(asked, reason=safe_reason(asked.reason), choices=(a, b))


def safe_alert(alert: AlertRaised) -> AlertRaised:
    """An alert as a display may know it."""
    return msgspec.structs.replace(alert, reason=safe_reason(alert.reason))
