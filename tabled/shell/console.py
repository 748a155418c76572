"""What the terminal says: one line a ruling, faults in words, nothing else."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from tabled.model.outcome import (
    AlertRaised,
    AnyOutcome,
    HandEnded,
    HandStarted,
    QuestionAsked,
    QuestionClosed,
    RulingIssued,
    StreetClosed,
)
from tabled.model.ruling import Reason, Ruling

STREET_NAMES = ("preflop", "flop", "turn", "river")

Say = Callable[[Reason, str], str]
Announce = Callable[[Ruling], Mapping[str, str]]


class Console:
    """Turns outcomes into lines.  ``provisional`` also prints rulings that may still change."""

    def __init__(self, out: Callable[[str], None], say: Say, announce: Announce, language: str) -> None:
        self._out = out
        self._say = say
        self._announce = announce
        self._language = language

    def tell(self, position: int, outcome: AnyOutcome) -> None:
        """Print one outcome, if it is one that people follow a game by."""
        line = self.line(position, outcome)
        if line:
            self._out(line)

    def line(self, position: int, outcome: AnyOutcome) -> str:
        """The line for one outcome, empty for those that are not shown."""
        if isinstance(outcome, RulingIssued):
            return self._ruling(position, outcome) if outcome.status == "final" else ""
        if isinstance(outcome, QuestionAsked):
            keys = " / ".join(f"[{c.key[-1].upper()}] {self._say(c.reason, self._language)}" for c in outcome.choices)
            return f"  #{position} ? seat {outcome.seat}: {self._say(outcome.reason, self._language)} {keys}"
        if isinstance(outcome, QuestionClosed):
            return f"  #{position}   question {outcome.question} settled by {outcome.by}: {outcome.answer or 'idle'}"
        if isinstance(outcome, AlertRaised):
            text = self._say(outcome.reason, self._language)
            mark = "over:" if outcome.cleared else {"info": "note:", "warning": "WARNING:", "fault": "FAULT:"}
            label = mark if isinstance(mark, str) else mark[outcome.severity]
            return f"  #{position} {label} {text}"
        if isinstance(outcome, HandStarted):
            return f"hand {outcome.hand_id}"
        if isinstance(outcome, StreetClosed):
            pots = " + ".join(str(p.amount) for p in outcome.pots) or "0"
            return f"  {_street(outcome.street)} over, pot {pots}"
        if isinstance(outcome, HandEnded):
            return f"hand {outcome.hand_id} is over, pot {outcome.pot_total}"
        return ""

    def _ruling(self, position: int, issued: RulingIssued) -> str:
        ruling = issued.ruling
        text = self._announce(ruling)[self._language]
        cite = f" [{', '.join(ruling.cite)}]" if ruling.cite else ""
        after = ""
        if ruling.floor:
            after = "  ** floor **"
        elif ruling.next_seat is not None and not ruling.round_over:
            after = f"  → seat {ruling.next_seat}"
            if ruling.call_to:
                after += f", call {ruling.call_to}"
        return f"  #{position} seat {ruling.seat}: {text}{cite}{after}"


def _street(number: int) -> str:
    return STREET_NAMES[number] if number < len(STREET_NAMES) else f"street {number + 1}"
