"""How late the camera's clock is, from chips that were seen to land and read to arrive.  Spans in, one offset out.

Every placement has two spans of the same instant: the camera's (between two of its frames, or while a hand hid it) and
the reader's (between the last look without the chip and the first with it).  For a given offset the chance of both is
the overlap of their densities; the offset that all placements together make likeliest, with the 95 % of its posterior,
is far narrower than any one span.  A share `STRAY` of placements may fit nothing (another chip, a wrong seat): they
cost little and are counted.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

import msgspec
import numpy as np
import numpy.typing as npt

from firmware_bridge.wire import TimeSpan

Floats = npt.NDArray[np.float64]

MS = 1_000_000
STEP_NS = 250_000
"""The grid on which offsets are weighed."""
SEARCH_NS = 500 * MS
"""An offset is no further than this from what the camera's spans assume."""
STRAY = 0.02
MISS = 0.05
"""A lone chip escapes a look so often; then it lay there a look earlier."""
LEAST = 30
WIDEST_NS = 10 * MS
"""Half of the 95 % of an offset that is still taken."""
MOST_STRAYS = 0.1
MAX_PLACEMENTS = 2000
MAX_LOOKS = 4


class Arrival(msgspec.Struct, frozen=True):
    """When a reader says a chip came: the look that names it first, and those before it that did not, newest first.

    ``missed`` must hold at least one look.
    """

    named: TimeSpan
    missed: tuple[TimeSpan, ...]

    @property
    def span(self) -> TimeSpan:
        """All of it, if no look missed the chip."""
        return TimeSpan(min(self.missed[0].earliest_ns, self.named.latest_ns), self.named.latest_ns)


class Placement(msgspec.Struct, frozen=True):
    """One chip as the camera and the reader saw it; both on the host's clock as far as is known."""

    camera: TimeSpan
    reader: Arrival


class Offset(msgspec.Struct, frozen=True, kw_only=True):
    """What is to be added to the camera's times.

    ``half_ns`` is half the width of the 95 % of the posterior; ``beyond_ns`` how far 95 % of the placements lie outside
    their spans at most once it is added (0: every one fits); ``strays`` fit nothing; ``turned_ns`` is by how much the
    later half of the placements says another offset than the earlier (a clock that runs away), with its own 95 %.
    ``look_ns`` is how long a look lasts: where in it a chip is taken no number of placements can tell, the offset is
    that for anywhere alike, and half of a look to either side belongs to the spread.
    """

    offset_ns: int
    half_ns: int
    beyond_ns: int
    placements: int
    strays: int
    turned_ns: int
    turned_half_ns: int
    look_ns: int

    @property
    def spread_ns(self) -> int:
        """Half the width that holds the offset and 95 % of the placements, wherever in its look a reader takes "
        "a chip."""
        return self.half_ns + self.beyond_ns + self.look_ns // 2


class Refused(ValueError):
    """The placements do not give an offset; the message says why and what to do.  ``code`` names it."""

    def __init__(self, message: str, code: str) -> None:
        super().__init__(message)
        self.code = code


def estimate(placements: Sequence[Placement], *, least: int = LEAST, widest_ns: int = WIDEST_NS) -> Offset:
    """The camera's offset.  Raises `Refused` for too few placements, too many strays, a drift, or a wide answer."""
    if len(placements) < least:
        raise Refused(
            f"{len(placements)} placements were seen by both camera and reader; {least} are needed. Put down more "
            "chips, "
            "one at a time, a second apart", "too-few",
        )  # fmt: skip
    if len(placements) > MAX_PLACEMENTS:
        raise Refused(f"more than {MAX_PLACEMENTS} placements; take a part of the recording", "too-many")
    offset, half = _weigh(placements)
    gaps = [_beyond(p, offset) for p in placements]
    strays = sum(gap > max(30 * MS, 3 * half) for gap in gaps)
    if strays > MOST_STRAYS * len(placements):
        raise Refused(
            f"{strays} of {len(placements)} placements fit no common offset: were chips put on another seat, or two at "
            "once? Repeat the step with one chip at a time", "strays",
        )  # fmt: skip
    half_count = len(placements) // 2
    one, other = _weigh(placements[:half_count]), _weigh(placements[half_count:])
    turned, turned_half = other[0] - one[0], round(float(np.hypot(one[1], other[1])))
    if abs(turned) > 1.5 * turned_half + 2 * MS:  # three standard deviations and what does not matter
        raise Refused(
            f"the offset went from {one[0] / MS:.0f} to {other[0] / MS:.0f} ms while it was measured: the "
            "camera's clock "
            "runs away. Check that it is a camera with kernel time stamps, not a network stream", "drift",
        )  # fmt: skip
    if half > widest_ns:
        raise Refused(
            f"the offset is known only to {half / MS:.0f} ms either way, {widest_ns / MS:.0f} are the most: let "
            "chips fall "
            "from a hand's height, with no hand over them, and repeat the step", "too-wide",
        )  # fmt: skip
    sorted_gaps = sorted(gaps)
    beyond = sorted_gaps[min(len(gaps) - 1, int(np.ceil(0.95 * len(gaps))) - 1)]
    return Offset(
        offset_ns=offset,
        half_ns=half,
        beyond_ns=beyond,
        placements=len(placements),
        strays=strays,
        turned_ns=turned,
        turned_half_ns=turned_half,
        look_ns=round(median(p.reader.named.latest_ns - p.reader.named.earliest_ns for p in placements)),
    )


def posterior(placements: Sequence[Placement]) -> tuple[Floats, Floats]:
    """Offsets in ns and the weight of each, adding up to 1: what the placements say together."""
    offsets = np.arange(-SEARCH_NS, SEARCH_NS + STEP_NS, STEP_NS, dtype=np.float64)
    total = np.zeros_like(offsets)
    for placement in placements:
        total += np.log((1 - STRAY) * _likelihood(placement, offsets) + STRAY / (2 * SEARCH_NS))
    weight = np.exp(total - total.max())
    return offsets, weight / weight.sum()


def _weigh(placements: Sequence[Placement]) -> tuple[int, int]:
    """Posterior mean and half the width of its middle 95 %, in ns."""
    offsets, weight = posterior(placements)
    mean = float((offsets * weight).sum())
    below = np.cumsum(weight)
    low, high = (float(offsets[min(int(np.searchsorted(below, q)), len(offsets) - 1)]) for q in (0.025, 0.975))
    return round(mean), max(STEP_NS, round(max(mean - low, high - mean)))


def _likelihood(placement: Placement, offsets: Floats) -> Floats:
    """Density of both spans for each offset: the reader's, averaged over the camera's moved by it."""
    begin, width = placement.camera.earliest_ns, placement.camera.latest_ns - placement.camera.earliest_ns
    width = max(width, STEP_NS)
    total = np.zeros_like(offsets)
    looks = (placement.reader.named, *placement.reader.missed[:MAX_LOOKS])
    for missed in range(len(looks) - 1):
        knots, rises = _arrival(looks[missed + 1], looks[missed])
        share = (1 - MISS) * MISS**missed
        total += share * (_up_to(begin + width + offsets, knots, rises) - _up_to(begin + offsets, knots, rises)) / width
    return total


def _arrival(without: TimeSpan, with_it: TimeSpan) -> tuple[Floats, Floats]:
    """Arrival's distribution between two looks as its knots and its values there.

    A look takes a chip's answer at some moment of its span: so the density rises over the one without it, stays, and
    falls over the one with it.  Finely sampled, so that straight lines between the knots do.
    """
    start, up = float(without.earliest_ns), float(max(without.latest_ns, without.earliest_ns + 1))
    down, end = float(max(with_it.earliest_ns, without.latest_ns)), float(max(with_it.latest_ns, without.latest_ns + 2))
    down = min(max(down, up), end - 1)
    knots = np.unique(
        np.concatenate([np.linspace(start, up, 17), np.linspace(up, down, 2), np.linspace(down, end, 17)])
    )
    density = np.minimum(np.clip((knots - start) / (up - start), 0, 1), np.clip((end - knots) / (end - down), 0, 1))
    rises = np.concatenate([[0.0], np.cumsum((density[1:] + density[:-1]) / 2 * np.diff(knots))])
    return knots, rises / rises[-1]


def _up_to(at: Floats, knots: Floats, rises: Floats) -> Floats:
    return np.interp(at, knots, rises)


def _beyond(placement: Placement, offset_ns: int) -> int:
    """How far apart the two spans lie with this offset; 0 where they touch.  Looks that missed the chip are allowed."""
    low = placement.reader.missed[min(1, len(placement.reader.missed) - 1)].earliest_ns
    early, late = placement.camera.earliest_ns + offset_ns, placement.camera.latest_ns + offset_ns
    return max(0, low - late, early - placement.reader.named.latest_ns)


class Pressed(msgspec.Struct, frozen=True, kw_only=True):
    """How late the panel is against the chips that were put down with the other hand."""

    offset_ns: int
    half_ns: int
    presses: int


def panel(pairs: Sequence[tuple[TimeSpan, TimeSpan]], *, least: int = 15, widest_ns: int = 15 * MS) -> Pressed:
    """The panel's lateness: the median distance from a chip's arrival to the press made together with it.

    Two hands of one person act within some tens of ms of each other, to either side; the median of enough such pairs
    has an interval of order statistics (sign test, 95 %).  Raises `Refused`.
    """
    if len(pairs) < least:
        raise Refused(f"{len(pairs)} presses came together with a chip, {least} are needed", "too-few")
    far = sorted(
        (press.earliest_ns + press.latest_ns - chip.earliest_ns - chip.latest_ns) // 2 for chip, press in pairs
    )
    count = len(far)
    reach = int(np.floor(count / 2 - 0.98 * np.sqrt(count)))
    low, high = far[max(0, reach)], far[min(count - 1, count - 1 - reach)]
    middle = (far[(count - 1) // 2] + far[count // 2]) // 2
    half = max(middle - low, high - middle)
    if half > widest_ns:
        raise Refused(
            f"the presses lie {half / MS:.0f} ms either way, {widest_ns / MS:.0f} are the most: put down the chip "
            "and press "
            "the key in the same moment, with both hands", "too-wide",
        )  # fmt: skip
    return Pressed(offset_ns=middle, half_ns=half, presses=count)
