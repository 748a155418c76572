"""Chips that came to rest before a neighbour while a seat put down its own: thrown, they roll."""

from __future__ import annotations

from tabled.core.draft import Draft
from tabled.core.state import TableState, places_beside, read_areas
from tabled.fusion.attempt import Arrival, Attempt, over
from tabled.fusion.settings import MS
from tabled.fusion.strokes import players
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
    found = False
    for place in places_beside(state.config, attempt.seat):
        if place.kind != "bet":
            continue
        found = found or _unplaced(state, place.seat)
        other = state.attempts.get(place.seat)
        rolled = _rolled(other, touch.earliest_ns) if other is not None else []
        if any(state.now_ns < a.span.latest_ns + GATHERED_MS * MS for a in rolled):
            found = True
            params: dict[str, int | str] = {"seat": place.seat, "amount": sum(a.value for a in rolled)}
            draft.alert(f"turn:{place.seat}", "warning", Reason("chip_astray", params))
    return found


def _rolled(other: Attempt, since_ns: int) -> list[Arrival]:
    """Chips that came to rest there while no hand of that seat was near, by the newest look without them.

    What its hand may have left there long before and many looks have missed since is its own by a thousand to one
    against; but to wait for it costs nothing.
    """
    if not other.sighted:
        return []
    hands = players(other.strokes)
    return [
        a
        for a in other.arrivals
        if not (a.own or a.taken_back)
        and a.span.latest_ns >= since_ns
        and not any(over(s, a.likely.earliest_ns, a.span.latest_ns) for s in hands)
    ]


def _unplaced(state: TableState, seat: str) -> bool:
    """Whether a chip is read before the seat of which nobody can say yet where it lies."""
    assert state.config is not None
    known = state.config.chips
    return any(uid in known and uid not in state.places for area in read_areas(state, seat) for uid in area.tags)


def gathered(draft: Draft, seat: str) -> None:
    """Nothing lies astray before a seat any more."""
    told = draft.state.faults.get(f"turn:{seat}")
    if told is not None and told.code == "chip_astray":
        draft.clear(f"turn:{seat}")
