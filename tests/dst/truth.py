"""Where the simulator's expectation and a right ruling may differ, and what is known to be wrong.

`hw_sim.compare` knows one ruling for each act, with all chips on the felt.  A known fault of production is let
through here only while a strict xfail in ``test_finds.py`` shows it; when it is mended, that test fails and both go.
"""

from __future__ import annotations

from hw_sim.ears import Json
from hw_sim.hands import Hand
from hw_sim.people import HandRecord


def said_before_the_chips(record: HandRecord, wrong: Json) -> bool:
    """A declared act may be ruled before its chips are there; the ruling then says that all of them are owed.  True."""
    if wrong["what"] != "ruling" or wrong["field"] != "owed":
        return False
    want = next(e for e in record.expected if e.k == wrong["k"])
    return want.declared and wrong["observed"] == want.add


def change_from_the_tray(hand: Hand) -> bool:
    """Known: change that the dealer gives out of the tray is not seen, and the chip that it was given for still counts
    whole in the seat's next act on that street.  True for a hand that has such an act."""
    given: set[int] = set()
    due = {e.event for e in hand.expected}
    for event in hand.events:
        if event.kind in ("board", "collect"):
            given.clear()
        elif event.kind == "change-back":
            given.add(event.seat)
        elif event.i in due and event.seat in given:
            return True
    return False
