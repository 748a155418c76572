"""Dealer and players: a hand's events become motions of chips, key presses and looks at the screen.

Players act when the screen says that it is their turn; the dealer presses what no sensor can know (checks, folds,
declarations) after a human reaction time, waits for the final ruling of each act, and answers questions
truthfully.  What goes wrong is written down as a discrepancy and the hand goes on; a hand that the product
has lost track of for good is abandoned and the table cleared.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from random import Random
from typing import Protocol

import msgspec

from hw_sim.acts import Hands, Movement
from hw_sim.compare import judge
from hw_sim.ears import Ears, Json
from hw_sim.hands import Event, Expected, Hand
from hw_sim.script import Asking, Script, Sleep, Until
from hw_sim.table import SimTable
from hw_sim.world import POT, TRAY, Chip, Counts, Spot, total

SECOND = 1_000_000_000
LOOK_AGAIN_NS = SECOND // 20
DECLARED_KEYS = {"all-in": "all_in", "raise": "raise_to", "bet": "bet", "call": "call", "complete": "complete"}
GESTURE_KEYS = {"tap": "check", "cards-forward": "fold"}


class Pace(msgspec.Struct, frozen=True, kw_only=True):
    """How fast people are.  Times are seconds at speed 1; ``min_rest_s`` does not shrink with speed: chips lie
    still at least so long before a hand takes them away, since no sensor sees what nobody leaves there.  ``looks``:
    antes, which no ruling confirms, lie until so many inventories have looked at them; 0 where time is virtual, for
    on a busy machine a rest of the clock's is no rest for the readers."""

    speed: float = 1.0
    think_s: tuple[float, float] = (0.6, 1.8)
    reach_s: float = 0.35
    trickle_s: float = 0.15
    react_s: tuple[float, float] = (0.2, 1.5)
    leave_s: float = 0.3
    sweep_s: float = 0.15
    board_s: float = 2.0
    show_s: float = 1.0
    between_hands_s: float = 2.0
    min_rest_s: float = 0.4
    ruling_timeout_s: float = 10.0
    looks: int = 0


class Floor(Protocol):
    """The floor's seating system, as far as the table needs it."""

    def command(self, what: str, message: Json) -> None:
        """Publish ``cmd/<what>``; the acknowledgement is heard through the ears."""
        ...


class LostError(Exception):
    """The product has lost track of the hand; going on would only repeat the same complaint."""


class HandRecord(msgspec.Struct, kw_only=True):
    """What became of one hand; a line of results.jsonl."""

    hand: str
    expected: list[Expected]
    street_pots: list[int]
    observed: list[Json] = []
    pots: list[int] = []
    questions: list[Json] = []
    presses: list[Json] = []
    discrepancies: list[Json] = []
    acts: list[Json] = []
    abandoned: bool = False
    began_ns: int = 0
    ended_ns: int = 0


class People:
    """Everybody at one table.  ``now`` reads the simulation's clock, ``kick`` wakes the panel's port.

    ``watch_hands`` may be set to be told of each hand that crosses a betting line.
    """

    def __init__(
        self,
        table: SimTable,
        floor: Floor,
        ears: Ears,
        *,
        now: Callable[[], int],
        kick: Callable[[], None] = lambda: None,
        pace: Pace | None = None,
        seed: int = 0,
        session: str = "sim",
    ) -> None:
        self.table, self.world, self.floor, self.ears = table, table.world, floor, ears
        self.pace = pace or Pace()
        self.records: list[HandRecord] = []
        self._now, self._kick = now, kick
        self._rng = Random(seed ^ 0x5EA7)
        self._session = session
        self._requests = 0
        self._answered: set[int] = set()
        self._last_act = 0
        self._missed = 0
        self._blind_screen = False
        self.watch_hands: Callable[[Movement], None] | None = None
        self._arms = Hands(self.world, self._rng, lambda *_, **__: None, self._hand_moved)

    def _hand_moved(self, movement: Movement) -> None:
        if self.watch_hands is not None:
            self.watch_hands(movement)

    # -- small steps ------------------------------------------------------------------------------

    def _for(self, seconds: float) -> Sleep:
        return Sleep(round(seconds / self.pace.speed * SECOND))

    def _between(self, span: tuple[float, float]) -> Sleep:
        return self._for(self._rng.uniform(*span))

    def _rest(self, seconds: float) -> Sleep:
        return Sleep(round(max(seconds / self.pace.speed, self.pace.min_rest_s) * SECOND))

    def _until(self, ready: Callable[[], bool], seconds: float | None = None) -> Until:
        return Until(ready, round((seconds or self.pace.ruling_timeout_s) * SECOND))

    def _wrong(self, record: HandRecord, what: str, **facts: object) -> None:
        record.discrepancies.append({"what": what, **facts})
        self.world.note(self._now(), "discrepancy", hand=record.hand, about=what)

    def _press(self, record: HandRecord, key: str, *, seat: int = 0, amount: int = 0, said_first: bool = False) -> None:
        now = self._now()
        seq = self.table.panel.press(now, key, seat=seat, amount=amount, said_first=said_first)
        pressed = {"ns": now, "key": key, "amount": amount, "said_first": said_first, "seq": seq}
        record.presses.append(pressed | ({"seat": seat} if seat else {}))
        self.world.note(now, "press", key=key, amount=amount, seq=seq)
        if not seq:
            self._wrong(record, "press_lost", key=key)
        self._kick()

    # -- a session --------------------------------------------------------------------------------

    def session(self, hands: list[Hand]) -> Script:
        """All hands, one after the other."""
        for hand in hands:
            yield from self.hand(hand)

    def hand(self, hand: Hand) -> Script:
        """One hand from the chips in the stacks to the pot back in the tray."""
        record = self._record(hand)
        record.began_ns = self._now()
        self.records.append(record)
        self._last_act = self._missed = 0
        yield from self._clear("seats take their chips")
        self._deal_stacks(hand)
        try:
            if (yield from self._start(hand, record)):
                yield from self._play(hand, record)
                yield from self._await_end(hand, record)
        except LostError:
            record.abandoned = True
            yield from self._order("abandon_hand", {"act": "abandon_hand"})
        self._compare(hand, record)
        record.ended_ns = self._now()
        yield from self._clear("the hand is over")
        yield self._rest(self.pace.between_hands_s)

    def _record(self, hand: Hand) -> HandRecord:
        return HandRecord(hand=hand.hand, expected=hand.expected, street_pots=hand.street_pots)

    def _compare(self, hand: Hand, record: HandRecord) -> None:
        """Hold what was ruled against what had to be ruled."""
        record.observed, wrong = judge(hand, self.ears)
        record.pots = self.ears.pots(hand.hand)
        record.discrepancies += wrong

    def _deal_stacks(self, hand: Hand) -> None:
        for n, chips in enumerate(hand.chips, start=1):
            self._shift(TRAY, Spot("stack", str(n)), chips, "buys in")
        self.world.check()

    def _shift(self, source: Spot, target: Spot, counts: Counts, why: str) -> None:
        chips = self.world.pick(source, counts)
        self.world.move(chips, source, target, self._now(), why)

    def _clear(self, why: str) -> Script:
        """All chips back to the tray; waits if chips had to be taken off the felt."""
        felt = [s for s in self.world.spots() if s.kind == "bet"]
        for spot in self.world.spots():
            if spot != TRAY:
                self.world.move(self.world.at(spot), spot, TRAY, self._now(), why)
        if felt:
            yield self._rest(1.0)

    def _order(self, what: str, message: Json) -> Asking:
        """Send a command of the floor and wait for its acknowledgement; False if none came."""
        self._requests += 1
        request = f"{self._session}-{self._requests}"
        self.floor.command(what, {**message, "request": request, "who": "floor"})
        return (yield self._until(lambda: request in self.ears.acks))

    def _start(self, hand: Hand, record: HandRecord) -> Asking:
        for attempt in (1, 2):
            heard = yield from self._order("start_hand", {"act": "start_hand", "setup": hand.setup()})
            ack = self.ears.acks.get(f"{self._session}-{self._requests}", {})
            if heard and ack.get("ok"):
                return True
            self._wrong(record, "start_refused", attempt=attempt, reason=ack.get("reason", "no acknowledgement"))
            if attempt == 1:
                yield from self._order("abandon_hand", {"act": "abandon_hand"})
        return False

    def _await_end(self, hand: Hand, record: HandRecord) -> Script:
        if not (yield self._until(lambda: hand.hand in self.ears.ended)):
            self._wrong(record, "not_ended")
            raise LostError

    # -- events -----------------------------------------------------------------------------------

    def _play(self, hand: Hand, record: HandRecord) -> Script:
        due = {e.event: e for e in hand.expected}
        antes = False
        for at, e in enumerate(hand.events):
            if antes and not (e.kind == "post" and e.what == "ante"):
                antes = False
                yield from self._antes_to_pot()
                yield self._rest(0.5)
            match e.kind:
                case "post":
                    antes = antes or e.what == "ante"
                    yield from self._motion(e.seat, e.chips, f"posts {e.what}")
                case "push" | "gesture" | "declare":
                    yield from self._decide(hand, record, e, due, follows=hand.events[at - 1] if at else None)
                case "change":
                    yield self._for(1.0)
                    self._shift(Spot("stack", str(e.seat)), TRAY, e.gives, "gives for change")
                    self._shift(TRAY, Spot("stack", str(e.seat)), e.takes, "gets change")
                case "change-back":
                    yield self._for(1.0)
                    self._shift(TRAY, Spot("stack", str(e.seat)), e.chips, "gets change back")
                case "return":
                    yield self._rest(0.5)
                    self._arms.forward(self._now(), e.seat, "dealer")
                    self._give_back(e.seat, e.chips)
                    yield self._for(self.pace.leave_s)
                    self._arms.leave(self._now(), e.seat, "dealer")
                case "collect":
                    yield self._rest(0.5)
                    yield from self._sweep("bets to the pot")
                case "show" | "draw":
                    yield self._for(self.pace.show_s)
                case _:
                    yield self._for(self.pace.board_s)

    def _motion(self, seat: int, counts: Counts, why: str) -> Script:
        """Chips go out in one forward motion; they touch the felt one by one within ``trickle_s``."""
        stack, air, bet = Spot("stack", str(seat)), Spot("air", str(seat)), Spot("bet", str(seat))
        chips = list(self.world.pick(stack, counts))
        self.world.move(chips, stack, air, self._now(), why)
        yield self._for(0.6 * self.pace.reach_s)
        self._arms.forward(self._now(), seat)
        yield self._for(0.4 * self.pace.reach_s)
        landings = sorted(self._rng.uniform(0, self.pace.trickle_s) for _ in chips[1:])
        before = 0.0
        for chip, lands in zip(chips, [0.0, *landings], strict=True):
            if lands > before:
                yield self._for(lands - before)
                before = lands
            self.world.move([chip], air, bet, self._now(), why)
        self._arms.rest(self._now(), seat)
        yield self._for(self.pace.leave_s)
        self._arms.leave(self._now(), seat)
        self.world.note(self._now(), "hand_gone", seat=seat)

    def _antes_to_pot(self) -> Script:
        """No ruling confirms antes: they lie until they have been seen."""
        yield self._rest(1.0)
        yield from self._looked_at()
        yield from self._sweep("antes to the pot")

    def _looked_at(self) -> Script:
        """Wait until the readers have looked often enough at all bets; not for ever, for a reader may be away."""
        wanted = {
            int(seat): self.table.looks(int(seat)) + self.pace.looks
            for seat in self.table.seats
            if self.world.at(Spot("bet", seat))
        }
        end = self._now() + round(self.pace.ruling_timeout_s * SECOND)
        while self._now() < end and any(self.table.looks(place) < n for place, n in wanted.items()):
            yield Sleep(LOOK_AGAIN_NS)

    def _sweep(self, why: str) -> Script:
        """The dealer's hand goes from seat to seat and takes each bet to the pot."""
        for seat in self.table.seats:
            bet = Spot("bet", seat)
            chips = self.world.at(bet)
            if chips:
                self._arms.forward(self._now(), int(seat), "dealer")
                self.world.move(chips, bet, POT, self._now(), why)
                yield self._for(self.pace.sweep_s)
                self._arms.leave(self._now(), int(seat), "dealer")

    def _give_back(self, seat: int, counts: Counts) -> None:
        """An uncalled part goes back; where its chips are not in the bet, the dealer breaks larger ones."""
        bet, stack = Spot("bet", str(seat)), Spot("stack", str(seat))
        if self.world.has(bet, counts):
            self._shift(bet, stack, counts, "uncalled, returned")
            return
        taken: list[Chip] = []
        owed = total(counts)
        for chip in sorted(self.world.at(bet), key=lambda c: -c.denomination):
            if owed > 0:
                taken.append(chip)
                owed -= chip.denomination
        self.world.move(taken, bet, TRAY, self._now(), "taken to break")
        self._shift(TRAY, stack, counts, "uncalled, returned in change")
        rest: Counter[int] = Counter()
        for d in sorted({c.denomination for c in self.world.at(TRAY)}, reverse=True):
            while -owed >= d:
                rest[d] += 1
                owed += d
        if rest and self.world.has(TRAY, rest):
            self._shift(TRAY, POT, rest, "rest of the broken chips")

    # -- acts -------------------------------------------------------------------------------------

    def _decide(
        self, hand: Hand, record: HandRecord, e: Event, due: dict[int, Expected], follows: Event | None
    ) -> Script:
        """A player's act, or the first or second half of one that was declared."""
        declared_before = e.kind == "push" and follows is not None and follows.kind == "declare"
        if not declared_before:
            yield from self._turn(hand, record, e.seat)
            yield self._between(self.pace.think_s)
        if e.kind == "push":
            yield from self._motion(e.seat, e.chips, "pushes")
        else:
            self.world.note(self._now(), e.kind, seat=e.seat, word=e.verb or e.gesture, to=e.to)
            yield self._between(self.pace.react_s)
            if e.kind == "declare":
                self._press(record, DECLARED_KEYS.get(e.verb, e.verb), amount=e.to or 0, said_first=True)
            else:
                self._press(record, GESTURE_KEYS.get(e.gesture, e.gesture))
        want = due.get(e.i)
        if want is not None:
            yield from self._read_ruling(hand, record, want)

    def _turn(self, hand: Hand, record: HandRecord, seat: int) -> Script:
        """Wait for the screen to show whose turn it is; a screen that never speaks is complained of once."""
        if self._blind_screen and self.ears.state is None:
            return
        if not (yield self._until(lambda: self.ears.screen_says(hand.hand, str(seat)))):
            state = self.ears.state
            self._blind_screen = state is None
            shown = {k: state.get(k) for k in ("hand_id", "phase", "to_act", "street")} if state else None
            self._wrong(record, "not_their_turn", seat=str(seat), screen=shown)
            self._miss()

    def _miss(self) -> None:
        self._missed += 1
        if self._missed >= 3:
            raise LostError

    def _read_ruling(self, hand: Hand, record: HandRecord, want: Expected) -> Script:
        """Wait for the act's final ruling; a question that comes instead is answered by the truth."""
        seat, after = str(want.seat), self._last_act

        def final() -> Json | None:
            return self.ears.final_after(hand.hand, seat, after)

        for _ in range(4):
            came = yield self._until(
                lambda: final() is not None or self.ears.open_question(hand.hand, self._answered) is not None
            )
            ruling = final()
            if ruling is not None:
                self._last_act = int(ruling.get("act", 0))
                self._missed = 0
                return
            asked = self.ears.open_question(hand.hand, self._answered)
            if not came or asked is None:
                break
            yield from self._answer(record, want, *asked)
        self._wrong(record, "no_final", k=want.k, event=want.event, seat=seat)
        self._miss()

    def _answer(self, record: HandRecord, want: Expected, position: int, question: Json) -> Script:
        self._answered.add(position)
        key = truthful_key(question, want)
        record.questions.append({"position": position, "k": want.k, "question": question, "answer": key})
        if key is None:
            self._wrong(record, "question_without_truth", k=want.k, position=position)
            key = str(question.get("stands", "key_a"))
        yield self._between(self.pace.react_s)
        self._press(record, key)


def truthful_key(question: Json, want: Expected) -> str | None:
    """The key whose ruling is the right one; None if neither is."""
    best: tuple[int, str] | None = None
    for choice in question.get("choices", ()):
        to, action = choice.get("to"), choice.get("action")
        same_to = to == want.to
        same_word = action == want.verb or (action == "all_in" and want.all_in)
        if not (same_to or (to is None and same_word)):
            continue
        score = 2 * same_to + same_word
        if best is None or score > best[0]:
            best = score, str(choice.get("key"))
    return best[1] if best else None
