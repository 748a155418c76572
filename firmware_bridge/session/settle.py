"""Keeps the journal small: an antenna that keeps saying the same is heard less often.

The first `PASS` equal results of an antenna in a row pass, after that at most one in
`INTERVAL_NS`.  Any change passes at once and starts the count again.

Why the fold stays exact: this stands before the journal, so what it withholds is an input neither
of the live run nor of the replay; both fold the same observations.  What the fold can lose by it
is only news that is no news: between two passed equal results every result was equal to both, so
no arrival, removal, doubt or error can hide there.  `PASS` exceeds the results in a row that the
presence filter asks for, and the interval bounds how old "nothing changed" may be.
"""

from __future__ import annotations

from firmware_bridge.wire import CleanEmpty, Corrupt, Present

PASS = 8
INTERVAL_NS = 1_000_000_000

Result = Present | CleanEmpty | Corrupt


class _Run:
    """Equal results in a row of one antenna."""

    __slots__ = ("content", "count", "passed_ns")

    def __init__(self) -> None:
        self.content: tuple[object, ...] | None = None
        self.count = 0
        self.passed_ns = 0


class Settle:
    """The filter of one reader.  Memory is one run an antenna."""

    def __init__(self) -> None:
        self._runs: dict[int, _Run] = {}
        self.withheld = 0

    def passes(self, result: Result) -> bool:
        """Whether this result goes to the journal."""
        run = self._runs.setdefault(result.antenna, _Run())
        content = _content(result)
        at = result.span.latest_ns
        if content != run.content:
            run.content, run.count = content, 0
        if run.count >= PASS and at - run.passed_ns < INTERVAL_NS:
            self.withheld += 1
            return False
        run.count = min(run.count + 1, PASS)
        run.passed_ns = at
        return True

    def reset(self) -> None:
        """The next results pass as if each were a change."""
        self._runs.clear()


def _content(result: Result) -> tuple[object, ...]:
    """What makes two results equal.  Signal strength does not: it never stands still."""
    match result:
        case Present():
            return ("present", result.complete, *(t.uid for t in result.tags))
        case CleanEmpty():
            return ("empty",)
        case Corrupt():
            return ("corrupt", result.reason)
