"""Hears what the core says: whose act a ruling is on, and the questions, which the dealer answers by the truth."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from hw_sim.world import Spot
from tabled.fusion.motion import strange
from tabled.model.outcome import AlertRaised, AnyOutcome, Choice, QuestionAsked, QuestionClosed, RulingIssued
from tabled.rules.judge import Judgement
from tests.eval import truth
from tests.eval.clockwork import Clockwork
from tests.eval.watch import Watch


class Listener:
    """The ears of one table.  ``spoil`` may change a ruling on its way, to see that it is noticed."""

    def __init__(self) -> None:
        self.table: Clockwork | None = None
        self.spoil: Callable[[RulingIssued], RulingIssued] | None = None
        self.watches: dict[str, Watch] = {}
        """Who acts now, by seat."""
        self.last: dict[str, Watch] = {}
        """Each seat's newest act of this hand."""
        self.past: dict[tuple[str, int], list[Judgement]] = {}
        """What was right for acts of this street that are scored already, by seat and the ruling's number."""
        self.extra: list[str] = []
        """Rulings that nobody called for."""
        self.dropped: set[str] = set()
        """Seats that have dropped a chip in this hand, out of turn."""
        self.lost = False
        """A dropped chip was ruled on, to the letter (§7.7): nobody at the table is of one mind, and the hand ends."""
        self.alerts: Counter[str] = Counter()
        self._asked: dict[int, Watch] = {}

    def new_hand(self) -> None:
        """Nothing of the hand before matters."""
        self.last, self.dropped, self.lost, self.extra = {}, set(), False, []
        self.new_street()

    def new_street(self) -> None:
        """Rulings of the street before are no longer corrected."""
        self.past, self.watches = {}, {}

    def hear(self, position: int, outcome: AnyOutcome) -> None:
        """Take one outcome of the core."""
        if isinstance(outcome, RulingIssued):
            self.ruled(self.spoil(outcome) if self.spoil else outcome)
        elif isinstance(outcome, QuestionAsked):
            watch = self.watches.get(outcome.seat)
            if watch is None:
                self.alerts[f"{outcome.reason.code}, when the act was over"] += 1
            if (watch := watch or self.last.get(outcome.seat)) is not None:
                watch.questions.append(outcome.reason.code)
                self._asked[position] = watch
            assert self.table is not None
            low, high = self.table.noise.answer_ms
            self.table.after(self.table.rng.uniform(low, high) / 1000, lambda: self._answer(position, outcome))
        elif isinstance(outcome, QuestionClosed):
            if outcome.answer is None and outcome.question in self._asked:
                self._asked[outcome.question].idle += 1
        elif isinstance(outcome, AlertRaised) and not outcome.cleared:
            self.alerts[outcome.reason.code] += 1

    def ruled(self, said: RulingIssued) -> None:
        """Take a ruling."""
        seat = said.ruling.seat
        watch = self.watches.get(seat)
        if said.ruling.action == "held_out_of_turn":
            truly = watch is not None and watch.spot.bet_then is not None
            self.alerts["out of turn, truly" if truly else "out of turn, falsely"] += 1
            return
        if watch is not None:
            watch.rulings.append(said)
            return
        if said.status != "final":
            return
        if seat in self.dropped:
            self.alerts["ruled on a dropped chip"] += 1
            self.lost = True
            return
        known = self.past.get((seat, said.act))
        if known is None or all(truth.outcome(j.ruling) != truth.outcome(said.ruling) for j in known):
            self.extra.append(f"{said.ruling.action} to {said.ruling.to} for seat {seat} ({said.ruling.reason.code})")

    def _answer(self, position: int, question: QuestionAsked) -> None:
        assert self.table is not None
        state, watch = self.table.state, self._asked.get(position)
        if state.question is None or state.question.position != position or watch is None:
            return
        self.table.press(self._true_key(question, watch))

    def _true_key(self, question: QuestionAsked, watch: Watch) -> str:
        """What really happened, as one of the question's two keys."""
        touch, word = truth.first_touch_ns(watch.act), truth.first_word_ns(watch.act)
        kinds: dict[str, bool] = {
            "ask_one_motion": truth.one_motion(watch.act),
            "ask_said_first": word is not None and (touch is None or word < touch),
            "ask_change_given": True,
            "ask_let_go": any(truth.lay_and_went(part) for part in watch.act.inputs),
        }
        yes = kinds.get(question.reason.code)
        if yes is None:
            assert self.table is not None
            right = truth.accepted(watch.spot, watch.act, self.table.now)
            fit = [c.key for c in question.choices if any(_chosen(c, j) for j in right)]
            if len(fit) == 1:
                return fit[0]
            whose_word = any(i["what"] == "word" for i in watch.act.inputs)
            yes = self._its_own(question.seat) if question.reason.code == "ask_own_chip" else whose_word
        return "key_a" if yes else "key_b"

    def _its_own(self, seat: str) -> bool:
        """Whether the chips that are asked about lie before the seat, and nobody beside it has just lost any."""
        assert self.table is not None
        attempt = self.table.state.attempts.get(seat)
        asked = {a.uid for a in strange(attempt) if not a.taken_back} if attempt is not None else set()
        lie = {chip.uid for chip in self.table.world.at(Spot("bet", seat))}
        others = {w.style for of, w in self.watches.items() if of != seat}
        return bool(asked) and asked <= lie and "splash" not in others


def _chosen(choice: Choice, right: Judgement) -> bool:
    return (choice.action, choice.to) == (right.ruling.action, right.ruling.to)
