"""What comes after an act was ruled: late words and chips, and undercalls in a row."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from tabled.model.acts import AnyAct, CardsForward, Place, PullBack, PushForward, Say
from tabled.model.ruling import Candidate, Reason
from tabled.rules.profile import Profile
from tabled.rules.settle import Judgement


def folds(act: AnyAct) -> bool:
    """Whether the act gives up the hand: that binds whenever it comes (TDA 58)."""
    return isinstance(act, CardsForward) or (isinstance(act, Say) and act.word == "fold")


def with_late(judged: Judgement, acts: Sequence[AnyAct]) -> Judgement:
    """The ruling after ``acts`` that came too late to change it: chips added go back, chips taken back are owed."""
    ruling = judged.ruling
    added = tuple(c for a in acts if isinstance(a, Place | PushForward) for c in a.chips)
    taken = tuple(c for a in acts if isinstance(a, PullBack) for c in a.chips)
    if judged.after is None or not (added or taken):
        return judged
    owed = ruling.add - ruling.back + sum(taken) - sum(added)
    known = not taken and (ruling.back_chips or not ruling.back)
    return Judgement(
        replace(
            ruling,
            add=max(owed, 0),
            back=max(-owed, 0),
            back_chips=(*ruling.back_chips, *added) if known and owed < 0 else (),
            change=ruling.change if known and owed < 0 else None,
        ),
        judged.after,
    )


def backs_up(judged: Judgement, profile: Profile, others: Sequence[str]) -> Judgement:
    """Undercalls in a row: the first is put right, and the floor says what becomes of ``others`` (TDA 51-C)."""
    ruling = judged.ruling
    price = ruling.call_to or 0
    cite = tuple(dict.fromkeys((*profile.clauses("undercalls"), *ruling.cite)))
    return Judgement(
        replace(
            ruling,
            floor=True,
            floor_reason=Reason("why_undercalls", {"others": ", ".join(others)}),
            candidates=(
                Candidate("call", price, Reason("full_call", {"to": price})),
                Candidate("pending", None, Reason("free_choice")),
            ),
            cite=cite,
        ),
        judged.after,
    )
