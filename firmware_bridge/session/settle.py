"""Keeps the journal small: an antenna that keeps saying the same is heard less often.

The first `PASS` equal results of an antenna in a row pass, after that one in `INTERVAL_NS`, and once nothing has
changed for `STILL_AFTER_NS` one in `STILL_NS`.  A change passes at once, and just before it the newest `HELD` results
that were withheld: the clean looks before a chip came are evidence of when it came, and one look alone may have missed
it.  So what passes in between is the oldest of those, and the rest stay for the change.  Whoever waits for looks at an
antenna says how many (`Settle.expect`), and they pass as they come.

A look for new chips alone, while known ones stay quiet, is a row of its own: it says less than a full look and
comes more often.  Nothing is let through behind something newer of its antenna.

Why the fold stays exact: between two passed equal results every result was equal to both, so no
arrival, removal, doubt or error can hide there.  The presence filter is clamped, and the equal results that pass
drive it to its bound, so more of them change nothing; where it takes more of them, as for a chip that nobody was seen
to take, the core expects them.  ``STILL_NS`` bounds how old "nothing changed" may be.
"""

from __future__ import annotations

from collections import deque

from firmware_bridge.wire import CleanEmpty, Corrupt, Present

PASS = 12
HELD = 10
"""Together with the change itself enough looks that no chip in a stack escaped all of them."""
INTERVAL_NS = 1_000_000_000
STILL_AFTER_NS = 60 * INTERVAL_NS
STILL_NS = 60 * INTERVAL_NS
PATIENCE = 4
"""Incomplete looks that pass for each look that is expected: of a reader that cannot give complete ones, no more."""

Result = Present | CleanEmpty | Corrupt


class _Run:
    """Equal results in a row of one antenna; ``held`` are the newest that were withheld, oldest first."""

    __slots__ = ("changed_ns", "content", "count", "held", "passed_ns")

    def __init__(self) -> None:
        self.content: tuple[object, ...] | None = None
        self.count = 0
        self.passed_ns = self.changed_ns = 0
        self.held: deque[Result] = deque(maxlen=HELD)


class Settle:
    """The filter of one reader.  Memory is two runs, each with `HELD` results, an antenna."""

    def __init__(self) -> None:
        self._runs: dict[tuple[int, bool], _Run] = {}
        self._newest_ns: dict[int, int] = {}
        self._expected: dict[int, tuple[int, int]] = {}
        self.withheld = 0

    def offer(self, result: Result) -> list[Result]:
        """What goes to the journal now, oldest first: nothing, one result, or those withheld before it and it."""
        quiet = isinstance(result, Present) and bool(result.quiet)
        run = self._runs.setdefault((result.antenna, quiet), _Run())
        content = _content(result)
        at = result.span.latest_ns
        if content != run.content:
            run.content, run.count, run.changed_ns = content, 0, at
        if self._is_expected(result) or run.count < PASS:
            run.count = min(run.count + 1, PASS)
            before = self._held_before(run, result.antenna)
            run.passed_ns = self._newest_ns[result.antenna] = at
            return [*before, result]
        run.held.append(result)
        self.withheld += 1
        if at - run.passed_ns < (STILL_NS if at - run.changed_ns > STILL_AFTER_NS else INTERVAL_NS):
            return []
        run.passed_ns = at
        return self._oldest(run)

    def expect(self, antenna: int, looks: int) -> None:
        """Somebody waits for so many looks at this antenna: the next ones pass though they repeat.

        An error is none of them, and the last of them is a complete look.
        """
        count, patience = self._expected.get(antenna, (0, 0))
        self._expected[antenna] = max(count, looks), max(patience, PATIENCE * looks)

    def _is_expected(self, result: Result) -> bool:
        count, patience = self._expected.get(result.antenna, (0, 0))
        if not count or isinstance(result, Corrupt):
            return False
        if count > 1 or isinstance(result, CleanEmpty) or result.complete:
            count -= 1
        self._expected[result.antenna] = (count, patience - 1) if patience > 1 else (0, 0)
        return True

    def _held_before(self, run: _Run, antenna: int) -> list[Result]:
        """Those withheld, but none behind something newer of its antenna; none stays."""
        newest_ns = self._newest_ns.get(antenna, -1)
        before = [held for held in run.held if held.span.latest_ns > newest_ns]
        self.withheld -= len(before)
        run.held.clear()
        return before

    def _oldest(self, run: _Run) -> list[Result]:
        """The oldest of those withheld that is not behind something newer of its antenna; the newer ones stay."""
        while run.held:
            oldest = run.held.popleft()
            if oldest.span.latest_ns > self._newest_ns.get(oldest.antenna, -1):
                self._newest_ns[oldest.antenna] = oldest.span.latest_ns
                self.withheld -= 1
                return [oldest]
        return []

    def reset(self) -> None:
        """The next results pass as if each were a change."""
        self._runs.clear()
        self._newest_ns.clear()
        self._expected.clear()


def _content(result: Result) -> tuple[object, ...]:
    """What makes two results equal.  Signal strength does not: it never stands still."""
    match result:
        case Present():
            return ("present", result.complete, result.quiet, *(t.uid for t in result.tags))
        case CleanEmpty():
            return ("empty",)
        case Corrupt():
            return ("corrupt", result.reason)
