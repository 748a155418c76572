"""Whether looks keep the bounds that were stated for them, whatever it was that made one late.

A bound is stated without faults.  Where a question was asked twice, a neighbour held the turn or more chips lay there
than were reckoned with, it does not hold, and who relies on it must hear that.
"""

from __future__ import annotations


class Punctual:
    """One reader's antennas: when each was last looked at so that nothing can have been missed."""

    def __init__(self) -> None:
        self._arrivals: dict[int, tuple[int, int]] = {}
        self._removals: dict[int, tuple[int, int]] = {}

    def forget(self) -> None:
        """The reader was away, which was told: its looks begin anew."""
        self._arrivals.clear()
        self._removals.clear()

    def late(self, antenna: int, span_ns: tuple[int, int], bounds_ns: tuple[int, int], *, full: bool) -> bool:
        """Books a look that may have missed nothing; whether it came later than stated.

        ``span_ns``: from its question to its end.  ``bounds_ns``: stated for arrivals and removals.  ``full``:
        it made every chip answer.  What happened just after the question of the look before must be told by now.
        """
        kinds = ((self._arrivals, bounds_ns[0]), (self._removals, bounds_ns[1]))
        began_ns, ended_ns = span_ns
        over = False
        for before, bound_ns in kinds[: 1 + full]:
            asked_ns, stated_ns = before.get(antenna, (began_ns, bound_ns))
            # What is favoured may have changed in between: either bound was stated.
            over |= ended_ns - asked_ns > max(stated_ns, bound_ns)
            before[antenna] = (began_ns, bound_ns)
        return over
