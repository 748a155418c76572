"""Chips that came to rest before a neighbour while a seat put down its own: thrown, they roll."""

from __future__ import annotations

from tabled.core.draft import Draft
from tabled.core.state import bet_antennas
from tabled.fusion.attempt import Attempt
from tabled.fusion.motion import strange
from tabled.fusion.settings import MS
from tabled.model.ruling import Reason

GATHERED_MS = 5000
"""So long a chip that rolled away is waited for: somebody puts it where it belongs."""


def waits(draft: Draft, attempt: Attempt) -> bool:
    """Whether the act is not to be final yet, for a chip may be this seat's that lies before a neighbour whose hand
    was not there.  The dealer is told of it at once; who then lets it lie has seen it."""
    state = draft.state
    touch = attempt.first_touch()
    if touch is None or state.config is None:
        return False
    layout, found = state.config.layout, False
    for place in dict.fromkeys(p for a in bet_antennas(state.config, attempt.seat) for p in layout.beside(a.place)):
        other = state.attempts.get(place.seat) if place.kind == "bet" else None
        if other is None:
            continue
        rolled = [a for a in strange(other) if a.span.latest_ns >= touch.earliest_ns and not a.taken_back]
        if any(state.now_ns < a.span.latest_ns + GATHERED_MS * MS for a in rolled):
            found = True
            amount = sum(a.value for a in rolled)
            draft.alert(f"turn:{other.seat}", "warning", Reason("chip_astray", {"seat": other.seat, "amount": amount}))
    return found


def gathered(draft: Draft, seat: str) -> None:
    """Nothing lies astray before a seat any more."""
    told = draft.state.faults.get(f"turn:{seat}")
    if told is not None and told.code == "chip_astray":
        draft.clear(f"turn:{seat}")
