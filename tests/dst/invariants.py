"""What must hold, whatever breaks.  Each invariant is a function; what it says when it fails is `Broken`.

Three kinds: checked at each effect (`no_...`, `first_...`), at each commit, and at the end, when all is healed.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping
from typing import Any, ParamSpec, TypeVar

from firmware_bridge.session.acts import MEMORY
from hw_sim.people import HandRecord
from hw_sim.world import Spot, World
from tabled.core.state import MAX_PRESSES_REMEMBERED, RECENT_RULINGS, TableState
from tabled.fusion.attempt import MAX_ARRIVALS, MAX_WORDS
from tabled.outlets.mqtt import MAX_ACKS
from tabled.outlets.outbox import MAX_IN_FLIGHT
from tabled.shell.daemon import MAX_ORDERS
from tabled.shell.intake import MAX_WAITING

P = ParamSpec("P")
R = TypeVar("R")
Json = dict[str, Any]
Press = tuple[int, int]
"""(boot, sequence) of a press."""


class Broken(AssertionError):
    """An invariant does not hold."""

    def __init__(self, name: str, what: str) -> None:
        super().__init__(f"{name}: {what}")
        self.name = name
        self.what = what


def invariant(check: Callable[P, str | None]) -> Callable[P, None]:
    """A check that returns what is wrong, or None, becomes a function that raises `Broken` under its own name."""

    @functools.wraps(check)
    def run(*args: P.args, **kwargs: P.kwargs) -> None:
        wrong = check(*args, **kwargs)
        if wrong is not None:
            raise Broken(check.__name__, wrong)

    return run


# -- at each effect -------------------------------------------------------------------------------


@invariant
def no_acknowledgement_before_durable(press: Press, durable: Mapping[Press, int]) -> str | None:
    """A panel is told to forget a press only when the file (read by a second reader) holds it."""
    return None if press in durable else f"press {press} was acknowledged and is not in the file"


@invariant
def no_publication_before_durable(
    position: int, leaf: str, payload: bytes, durable: Mapping[tuple[int, str], bytes]
) -> str | None:
    """What goes to the broker stands in the file, with the same bytes."""
    stands = durable.get((position, leaf))
    if stands is None:
        return f"{leaf} {position} was published and is not in the file"
    return None if stands == payload else f"{leaf} {position} was published with other bytes than the file has"


@invariant
def one_id_one_byte_string(ident: str, leaf: str, payload: bytes, heard: Mapping[tuple[str, str], bytes]) -> str | None:
    """Whoever hears an id twice hears the same bytes twice (a ruling's two leaves have bytes of their own)."""
    before = heard.get((ident, leaf))
    return None if before in (None, payload) else f"{leaf} {ident} was heard with two different contents"


@invariant
def first_deliveries_in_order(position: int, leaf: str, newest: int) -> str | None:
    """What is heard for the first time is never older than what was heard before."""
    return None if position >= newest else f"{leaf} {position} was first heard after {newest}"


@invariant
def no_order_acknowledged_before_durable(data: Json, orders: Mapping[str, int]) -> str | None:
    """An order that is answered with "done" stands in the file at the position that the answer names."""
    if not data.get("ok"):
        return None
    stands = orders.get(str(data.get("request")))
    return (
        None if stands == data.get("position") else f"order {data.get('request')} was answered, it stands at {stands}"
    )


LEFT_OPEN = frozenset({"held_out_of_turn", "floor"})
"""Final rulings that do not end an act: held until its turn, or left with the floor (then known to be replaced
without a word, see ``test_finds.py``)."""


# -- of the journal, entry by entry ---------------------------------------------------------------


@invariant
def one_final_ruling_an_act(
    hand: int, act: int, ruling: Json, finals: Mapping[tuple[int, int], list[int]]
) -> str | None:
    """Each act of a hand gets one final ruling; one that corrects it says so.  Two kinds leave the act open and are
    followed by its real one: `LEFT_OPEN`."""
    if ruling["status"] != "final" or ruling.get("corrects") is not None or ruling["ruling"]["action"] in LEFT_OPEN:
        return None
    before = finals.get((hand, act))
    return None if not before else f"act {act} of hand {ruling['hand_id']} has final rulings {before} and one more"


@invariant
def a_final_ruling_is_not_replaced(ruling: Json, finals: Iterable[int]) -> str | None:
    """Only a ruling that says what it ``corrects`` may take the place of a final one."""
    replaces = ruling.get("replaces")
    if replaces is None or ruling.get("corrects") is not None or replaces not in finals:
        return None
    return (
        f"{ruling['status']} ruling on act {ruling['act']} of {ruling['hand_id']} replaces the final ruling {replaces}"
    )


@invariant
def one_question_at_a_time(kind: str, position: int, asked: int | None, data: Json) -> str | None:
    """A question is asked when none is open, and closed once."""
    if kind == "question" and asked is not None:
        return f"question {position} was asked while {asked} is open"
    if kind == "question_closed" and data["question"] != asked:
        return f"question {data['question']} was closed while {asked} is open"
    return None


# -- at each commit -------------------------------------------------------------------------------


@invariant
def chips_conserved(state: TableState, registry: Mapping[str, int]) -> str | None:
    """Every chip in the accounts is in the registry with its value, and in one place only.

    A chip of an act that was read once may be a neighbour's: only what is certain counts there.
    """
    places: dict[str, list[str]] = {}
    for seat, line in state.lines.items():
        for what, chips in (("settled", line.settled), ("missing", line.missing)):
            for uid, value in chips.items():
                if registry.get(uid) != value:
                    return f"chip {uid} is booked as {value}, the registry says {registry.get(uid)}"
                places.setdefault(uid, []).append(f"{what} at seat {seat}")
    for seat, attempt in state.attempts.items():
        for arrival in attempt.arrivals:
            if registry.get(arrival.uid) != arrival.value:
                return f"chip {arrival.uid} is booked as {arrival.value}, the registry says {registry.get(arrival.uid)}"
            if arrival.certain and not arrival.taken_back:
                places.setdefault(arrival.uid, []).append(f"in the act of seat {seat}")
    twice = sorted(uid for uid, where in places.items() if len(where) > 1)
    return f"chip {twice[0]} ({registry[twice[0]]}) is {' and '.join(places[twice[0]])}" if twice else None


@invariant
def money_conserved(state: TableState, stacks: Mapping[str, int]) -> str | None:
    """Stacks and everything that is in make what the seats began the hand with."""
    hand = state.hand
    if hand is None:
        return None
    now = hand.pot_total + sum(hand.stack_of(seat) for seat in hand.seats)
    began = stacks[state.hand_id]
    return None if now == began else f"hand {state.hand_id} began with {began} and now has {now}"


@invariant
def queues_under_caps(sizes: Mapping[str, int]) -> str | None:
    """No queue, memory or list is longer than its stated bound."""
    over = sorted(name for name, size in sizes.items() if size > CAPS[name])
    return f"{over[0]} holds {sizes[over[0]]}, its bound is {CAPS[over[0]]}" if over else None


CAPS = {
    "inputs waiting": MAX_WAITING,
    "orders waiting": MAX_ORDERS,
    "messages in flight": MAX_IN_FLIGHT,
    "answers waiting": MAX_ACKS,
    "presses remembered by the core": MAX_PRESSES_REMEMBERED,
    "presses remembered by the session": MEMORY,
    "recent rulings": RECENT_RULINGS,
    "chips of one act": MAX_ARRIVALS,
    "words of one act": MAX_WORDS,
    "presses in the panel": 16,
}


def sizes(state: TableState, waiting: Mapping[str, int]) -> dict[str, int]:
    """What `queues_under_caps` looks at."""
    return {
        **waiting,
        "presses remembered by the core": len(state.presses),
        "recent rulings": len(state.recent),
        "chips of one act": max((len(a.arrivals) for a in state.attempts.values()), default=0),
        "words of one act": max((len(a.words) for a in state.attempts.values()), default=0),
    }


@invariant
def felt_equals_accounts(
    state: TableState, world: World, moved_ns: Mapping[str, int], now_ns: int, seen_ns: int, gone_ns: int
) -> str | None:
    """With everything healthy, chips that lie on a betting area are in its seat's accounts, and no others.

    ``seen_ns`` and ``gone_ns`` are how long the readers may take to see that a chip came or left.
    """
    booked: dict[str, str] = {}
    for seat, line in state.lines.items():
        booked.update(dict.fromkeys(line.settled, seat))
    for seat, attempt in state.attempts.items():
        booked.update({a.uid: seat for a in attempt.arrivals if not a.taken_back})
    lying = {
        chip.uid: spot.who for spot in world.spots() if spot.kind == "bet" for chip in world.at(Spot("bet", spot.who))
    }
    for uid, seat in lying.items():
        if booked.get(uid) != seat and now_ns - moved_ns.get(uid, 0) > seen_ns:
            return f"chip {uid} lies before seat {seat}; the accounts have it at {booked.get(uid, 'no seat')}"
    for uid, seat in booked.items():
        if lying.get(uid) != seat and now_ns - moved_ns.get(uid, 0) > gone_ns:
            return f"chip {uid} is booked at seat {seat}; it lies before {lying.get(uid, 'no seat')}"
    return None


@invariant
def kept_states_are_proved(doubt: str) -> str | None:
    """A second fold, begun from the bytes of each kept state, comes to what the first one comes to."""
    return doubt or None


@invariant
def recovery_is_exact(before: TableState, after: TableState) -> str | None:
    """A process that starts on the journal of a dead one knows exactly what that one knew."""
    if before == after:
        return None
    differ = [f for f in TableState.__struct_fields__ if getattr(before, f) != getattr(after, f)]
    return f"after the restart {', '.join(differ)} differ"


# -- at the end -----------------------------------------------------------------------------------


@invariant
def every_press_once(pressed: Mapping[Press, str], recorded: Mapping[Press, int]) -> str | None:
    """Each press that a finger made is in the journal once, and no other is."""
    for press, key in pressed.items():
        if recorded.get(press, 0) != 1:
            return f"press {press} ({key}) is in the journal {recorded.get(press, 0)} times"
    strange = [p for p in recorded if p not in pressed]
    return f"press {strange[0]} is in the journal and nobody made it" if strange else None


@invariant
def everything_was_delivered(
    recorded: Mapping[tuple[int, str], bytes], heard: Mapping[tuple[str, str], bytes], epoch: str
) -> str | None:
    """Every message that the journal holds was heard, with those bytes; nothing else was heard under its ids."""
    for (position, leaf), payload in recorded.items():
        if heard.get((f"{epoch}/{position}", leaf)) != payload:
            there = "never" if (f"{epoch}/{position}", leaf) not in heard else "with other bytes"
            return f"{leaf} {position} was heard {there}"
    names = {(f"{epoch}/{position}", leaf) for position, leaf in recorded}
    strange = sorted(set(heard) - names)
    return f"{strange[0][1]} {strange[0][0]} was heard and is not in the journal" if strange else None


@invariant
def replay_equals_what_was_published(problem: str) -> str | None:
    """Folding the journal again gives the same outcomes and the same published bytes."""
    return problem or None


@invariant
def outbox_empty(pending: int, in_flight: int, cursor: int, last_payload: int) -> str | None:
    """After healing nothing waits to be sent."""
    if pending or in_flight or cursor < last_payload:
        return f"{pending} messages wait, {in_flight} are under way, the cursor is at {cursor} of {last_payload}"
    return None


@invariant
def display_equals_state(shown: Json | None, should: Json) -> str | None:
    """The retained picture is the view of the state (its position may be older while nothing changed)."""
    if shown is None:
        return "no picture is retained"
    differ = [k for k in should if k != "position" and shown.get(k) != should[k]]
    return f"the display has another {', '.join(differ)}" if differ else None


@invariant
def devices_are_up(lines: Mapping[str, str]) -> str | None:
    """After healing every device is connected."""
    down = sorted(name for name, state in lines.items() if state != "up")
    return f"{down[0]} is {lines[down[0]]}" if down else None


@invariant
def somebody_is_asked(complaint: str, state: TableState, *, exact: bool) -> str | None:
    """Where people wait in vain although everything works, the screen says what is expected of them.

    A question, an open alert, the floor, or bets that are to be swept.  After reads or times were lost (not
    ``exact``) a hand may have gone another way than the people's, and then it is enough that the screen names a seat
    to act, or waits for posts.
    """
    if state.question is not None or state.floor_waiting is not None or state.faults:
        return None
    if state.phase == "sweeping" and any(line.settled for line in state.lines.values()):
        return None
    if not exact and state.phase in ("betting", "posting"):
        return None
    return f"people waited in vain ({complaint}); phase {state.phase}, nothing is asked of anybody"


@invariant
def rulings_are_true(record: HandRecord) -> str | None:
    """Where only deliveries suffered, every final ruling and every pot is the one that the law demands."""
    if not record.discrepancies:
        return None
    return f"hand {record.hand}: {record.discrepancies[:3]}"


EFFECTS = (
    no_acknowledgement_before_durable, no_publication_before_durable, one_id_one_byte_string,
    first_deliveries_in_order, no_order_acknowledged_before_durable,
)  # fmt: skip
JOURNALLED = (one_final_ruling_an_act, a_final_ruling_is_not_replaced, one_question_at_a_time)
COMMITTED = (
    chips_conserved, money_conserved, queues_under_caps, felt_equals_accounts, kept_states_are_proved,
    recovery_is_exact,
)  # fmt: skip
SETTLED = (
    every_press_once, everything_was_delivered, replay_equals_what_was_published, outbox_empty,
    display_equals_state, devices_are_up, somebody_is_asked, rulings_are_true,
)  # fmt: skip
ALL = tuple(f.__name__ for f in (*EFFECTS, *JOURNALLED, *COMMITTED, *SETTLED))
