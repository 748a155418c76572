"""What the terminal says: one line a ruling, faults in words, nothing else.  It never stops the table."""

from __future__ import annotations

import contextlib
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

Say = Callable[[Reason, str], str]
Announce = Callable[[Ruling], Mapping[str, str]]
Params = dict[str, int | str]


class Console:
    """Turns outcomes into lines in one language.  A closed terminal or a full disk behind it is not the table's end."""

    def __init__(self, out: Callable[[str], None], say: Say, announce: Announce, language: str) -> None:
        self._out = out
        self._say = say
        self._announce = announce
        self._language = language

    def tell(self, position: int, outcome: AnyOutcome) -> None:
        """Print one outcome, if it is one that people follow a game by."""
        line = self.line(position, outcome)
        if line:
            with contextlib.suppress(OSError, ValueError):
                self._out(line)

    def line(self, position: int, outcome: AnyOutcome) -> str:
        """The line for one outcome, empty for those that are not shown."""
        match outcome:
            case RulingIssued():
                return self._ruling(position, outcome) if outcome.status == "final" else ""
            case QuestionAsked():
                keys = " / ".join(f"[{c.key[-1].upper()}] {self.words(c.reason)}" for c in outcome.choices)
                return f"  #{position} ? {self.words(outcome.reason)} {keys}"
            case QuestionClosed():
                answer = "-" if outcome.answer is None else outcome.answer[-1].upper()
                params: Params = {"question": outcome.question, "by": outcome.by, "answer": answer}
                return f"  #{position} {self._line('settled', params)}"
            case AlertRaised():
                mark = "cleared" if outcome.cleared else outcome.severity
                return f"  #{position} {self._line(mark, {'text': self.words(outcome.reason)})}"
            case HandStarted():
                return self._line("hand", {"hand": outcome.hand_id})
            case StreetClosed():
                pots = " + ".join(str(p.amount) for p in outcome.pots) or "0"
                return f"  {self._line('street', {'street': outcome.street + 1, 'pot': pots})}"
            case HandEnded():
                kind = "abandoned" if outcome.abandoned else "hand_over"
                return self._line(kind, {"hand": outcome.hand_id, "pot": outcome.pot_total})
        return ""

    def words(self, reason: Reason) -> str:
        """A reason's sentence, or its bare code where the catalogue has a hole."""
        try:
            return self._say(reason, self._language)
        except Exception:  # the bare code is better than silence
            return " ".join([reason.code, *(f"{k}={v}" for k, v in sorted(reason.params.items()))])

    def _ruling(self, position: int, issued: RulingIssued) -> str:
        ruling = issued.ruling
        try:
            text = self._announce(ruling)[self._language]
        except Exception:  # a hole in the catalogue must not hold back a ruling
            text = f"{ruling.action} {'' if ruling.to is None else ruling.to}"
        cite = f" [{', '.join(ruling.cite)}]" if ruling.cite else ""
        line = f"  #{position} {self._line('ruling', {'seat': ruling.seat, 'text': text})}{cite}"
        if issued.corrects is not None:
            line += f"  ({self._line('corrects', {'position': issued.corrects})})"
        if ruling.floor:
            return f"{line}  ** floor **"
        if ruling.next_seat is None or ruling.round_over:
            return line
        kind = "next_call" if ruling.call_to else "next"
        return f"{line}  → {self._line(kind, {'seat': ruling.next_seat, 'to': ruling.call_to or 0})}"

    def _line(self, kind: str, params: Params) -> str:
        return self.words(Reason(f"line_{kind}", params))
