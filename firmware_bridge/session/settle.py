"""Keeps the journal small: an antenna that keeps saying the same is heard less often.

The first `PASS` equal results of an antenna in a row pass, after that at most one in
`INTERVAL_NS`.  A change passes at once, and just before it the newest `HELD` results that were withheld: the
clean looks before a chip came are evidence of when it came, and one look alone may have missed it.

A look for new chips alone, while known ones stay quiet, is a row of its own: it says less than a full look and
comes more often.  Nothing is let through behind something newer of its antenna.

Why the fold stays exact: between two passed equal results every result was equal to both, so no
arrival, removal, doubt or error can hide there.  The presence filter is clamped, and `PASS` equal
results drive it to its bound from anywhere, so more of them change nothing.  ``INTERVAL_NS`` bounds how
old "nothing changed" may be.
"""

from __future__ import annotations

from collections import deque

from firmware_bridge.wire import CleanEmpty, Corrupt, Present

PASS = 12
HELD = 10
"""Together with the change itself enough looks that no chip in a stack escaped all of them."""
INTERVAL_NS = 1_000_000_000

Result = Present | CleanEmpty | Corrupt


class _Run:
    """Equal results in a row of one antenna; ``held`` are the newest that were withheld, oldest first."""

    __slots__ = ("content", "count", "held", "passed_ns")

    def __init__(self) -> None:
        self.content: tuple[object, ...] | None = None
        self.count = 0
        self.passed_ns = 0
        self.held: deque[Result] = deque(maxlen=HELD)


class Settle:
    """The filter of one reader.  Memory is two runs, each with `HELD` results, an antenna."""

    def __init__(self) -> None:
        self._runs: dict[tuple[int, bool], _Run] = {}
        self._newest_ns: dict[int, int] = {}
        self.withheld = 0

    def offer(self, result: Result) -> list[Result]:
        """What goes to the journal now, oldest first: nothing, the result, or those withheld before it and it."""
        quiet = isinstance(result, Present) and bool(result.quiet)
        run = self._runs.setdefault((result.antenna, quiet), _Run())
        content = _content(result)
        at = result.span.latest_ns
        before: list[Result] = []
        if content != run.content:
            newest_ns = self._newest_ns.get(result.antenna, -1)
            before = [held for held in run.held if held.span.latest_ns > newest_ns]
            self.withheld -= len(before)
            run.content, run.count = content, 0
        if run.count >= PASS and at - run.passed_ns < INTERVAL_NS:
            run.held.append(result)
            self.withheld += 1
            return []
        run.count = min(run.count + 1, PASS)
        run.passed_ns = self._newest_ns[result.antenna] = at
        run.held.clear()
        return [*before, result]

    def reset(self) -> None:
        """The next results pass as if each were a change."""
        self._runs.clear()
        self._newest_ns.clear()


def _content(result: Result) -> tuple[object, ...]:
    """What makes two results equal.  Signal strength does not: it never stands still."""
    match result:
        case Present():
            return ("present", result.complete, result.quiet, *(t.uid for t in result.tags))
        case CleanEmpty():
            return ("empty",)
        case Corrupt():
            return ("corrupt", result.reason)
