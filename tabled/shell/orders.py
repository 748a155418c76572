"""What an operator is told of an order after it was carried out, or not."""

from __future__ import annotations

from collections.abc import Iterable

from tabled.model.outcome import AlertRaised, AnyOperatorAct, AnyOutcome, Overrule, RulingIssued
from tabled.shell.rendering import WORDING


def what_became_of(act: AnyOperatorAct, outcomes: Iterable[tuple[int, AnyOutcome]]) -> tuple[bool, str]:
    """Whether an order was obeyed, and what its sender is told; of a floor's decision, how it departs from the law."""
    for _, outcome in outcomes:
        if isinstance(outcome, AlertRaised) and outcome.reason.code == "order_refused":
            return False, str(outcome.reason.params.get("why", ""))
        if isinstance(act, Overrule) and isinstance(outcome, RulingIssued) and outcome.ruling.by_floor:
            made = WORDING.announce(outcome.ruling)["en"]
            departs = outcome.ruling.departs
            law = f" {WORDING.say(departs, 'en')}" if departs is not None else ""
            return True, f"done, in place of ruling {act.ruling}. {made}{law}"
    return True, "done"
