"""One step in progress: a copy of the state that may be changed, and what it says."""

from __future__ import annotations

import copy

from tabled.core.state import RECENT_RULINGS, Line, TableState
from tabled.model.outcome import AlertRaised, AnyOutcome, RulingIssued, Severity
from tabled.model.ruling import Reason

MAX_OUTCOMES_PER_STEP = 64


class Draft:
    """The working copy of one `step`.  Fields of ``state`` are replaced, never changed in place.

    ``position`` is the journal position of the input; outcomes take the positions right after it.
    """

    __slots__ = ("outcomes", "position", "state")

    def __init__(self, state: TableState, position: int) -> None:
        self.state = copy.copy(state)
        self.position = position
        self.outcomes: list[AnyOutcome] = []

    def emit(self, outcome: AnyOutcome) -> int:
        """Add an outcome; returns the journal position it will have."""
        assert len(self.outcomes) < MAX_OUTCOMES_PER_STEP, "one input made more outcomes than a table can mean"
        self.outcomes.append(outcome)
        position = self.position + len(self.outcomes)
        if isinstance(outcome, RulingIssued):
            self.state.recent = (*self.state.recent, position)[-RECENT_RULINGS:]
        return position

    def line(self, seat: str) -> Line:
        """The accounts of a seat's betting area."""
        return self.state.lines.get(seat, Line())

    def set_line(self, seat: str, line: Line) -> None:
        """Replace a seat's accounts."""
        self.state.lines = {**self.state.lines, seat: line}

    def alert(self, subject: str, severity: Severity, reason: Reason) -> None:
        """Say that something is wrong, once: an alert that is open already with the same reason is not repeated."""
        if self.state.faults.get(subject) == reason:
            return
        self.emit(AlertRaised(subject=subject, severity=severity, reason=reason, raised_ns=self.state.now_ns))
        if severity != "info":
            self.state.faults = {**self.state.faults, subject: reason}

    def clear(self, subject: str) -> None:
        """End an open alert."""
        reason = self.state.faults.get(subject)
        if reason is None:
            return
        self.state.faults = {k: v for k, v in self.state.faults.items() if k != subject}
        self.emit(
            AlertRaised(subject=subject, severity="info", reason=reason, cleared=True, raised_ns=self.state.now_ns)
        )
