"""What the antennas' looks say: which one is which place, what it misses, what it hears of its neighbours.  Pure.

The floats are shares on their way to whole parts per million.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from statistics import median

import msgspec

from calibration.looks import Looks, Spot
from calibration.rates import Rate, rate
from tabled.model.calibration import AntennaRead, Antennas, Bleed

LONE_HIGH_PPM = 100_000
STACK_HIGH_PPM = 300_000
BLEED_HIGH_PPM = 20_000
FAR_PPM = 5_000
"""What a place hears of one that does not lie beside it is a fault of the wiring from here on."""
UNSHIELDED_PPM = 10_000
"""Two places are called no neighbours only where the whole interval of what one hears of the other is below this."""
SWEEP_LONG_NS = 2_000_000_000
LIT = 0.5
"""An antenna lights up for a chip that it reads in more than this share of its looks."""
HALF_PPM = 20_000
"""How well a share is known when a survey is done: an interval of 2 points to either side."""


class Lit(msgspec.Struct, frozen=True):
    """One chip was put on ``place`` and read at ``spot`` (None: nowhere)."""

    place: str
    uid: str | None
    spot: Spot | None


class Advice(msgspec.Struct, frozen=True):
    """What is to be changed.  ``refuses``: a file written now would be wrong."""

    text: str
    refuses: bool = False


class Antenna(msgspec.Struct, frozen=True, kw_only=True):
    """One antenna as measured; ``never`` counts chips of the stack that never answered.

    ``sweep_ns`` is the time between two looks at it with one chip on each place, ``stack_sweep_ns`` with a stack.
    """

    spot: Spot
    place: str
    lone: Rate
    stack: Rate
    never: int
    sweep_ns: int
    stack_sweep_ns: int


class Crossing(msgspec.Struct, frozen=True):
    """How often a lone chip at one place is read at another place's antenna."""

    chip_at: str
    read_at: str
    rate: Rate


class Survey(msgspec.Struct, frozen=True, kw_only=True):
    """All that the step found."""

    antennas: tuple[Antenna, ...]
    crossings: tuple[Crossing, ...]
    advice: tuple[Advice, ...]


def spot_name(spot: Spot) -> str:
    """An antenna in words."""
    return f"antenna {spot[1]} of {spot[0]}"


def place_name(place: str) -> str:
    """A place in words."""
    kind, _, seat = place.partition(":")
    return {"bet": f"seat {seat}'s betting area", "stack": f"seat {seat}'s stack"}.get(kind, f"the {kind}")


def mapping_faults(configured: Mapping[Spot, str], lit: Sequence[Lit]) -> tuple[Advice, ...]:
    """Antennas that are not where table.toml says: swapped, in a ring, dead, or two places on one."""
    found = {one.place: one.spot for one in lit}
    wrong = {p: s for p, s in found.items() if s is not None and configured.get(s) != p}
    told: set[str] = set()
    says: list[str] = []
    for one, other in combinations(sorted(wrong), 2):
        a, b = wrong[one], wrong[other]
        if configured.get(a) == other and configured.get(b) == one:
            told |= {one, other}
            says.append(
                f"{spot_name(a)} and {spot_name(b)} are swapped: a chip on {place_name(one)} lights up "
                f"{spot_name(a)}, which "
                f"table.toml calls {other!r}, and the other way round. Swap their two cables at the multiplexer, "
                "or take "
                "the antennas line shown"
            )
    for place, spot in sorted(wrong.items()):
        shared = sorted(p for p, s in found.items() if s == spot)
        if len(shared) > 1 and place not in told:
            told.update(shared)
            says.append(
                f"{' and '.join(place_name(p) for p in shared)} both light up {spot_name(spot)}: a chip was put "
                "on the wrong "
                "place, or a cable is connected twice; check, then repeat the step"
            )
    says += [
        f"a chip on {place_name(place)} lights up {spot_name(spot)}, which table.toml calls {configured.get(spot)!r}: "
        "change its cable, or take the antennas line shown"
        for place, spot in sorted(wrong.items())
        if place not in told
    ]
    for place in sorted(p for p, s in found.items() if s is None):
        spots = " and ".join(spot_name(s) for s, p in configured.items() if p == place)
        says.append(
            f"no antenna reads a chip on {place_name(place)}: {spots or 'its antenna'} is dead, unplugged or too "
            "weak; check "
            "its cable and its power, then repeat the step"
        )
    return tuple(Advice(text, refuses=True) for text in says)


def lone_and_bleed(looks: Looks, lit: Sequence[Lit]) -> tuple[dict[str, Rate], tuple[Crossing, ...]]:
    """The lone chip's miss rate by place, and every pair of places with what one hears of the other's chip."""
    lone: dict[str, Rate] = {}
    crossings: list[Crossing] = []
    homes = {one.spot: one.place for one in lit if one.spot is not None}
    for one in lit:
        if one.uid is None or one.spot is None:
            continue
        lone[one.place] = rate([[(int(one.uid not in look.uids), 1) for look in looks.at(one.spot)]])
        for spot in looks.spots:
            if spot == one.spot or spot not in homes:
                continue
            heard = rate([[(int(one.uid in look.uids), 1) for look in looks.at(spot)]])
            crossings.append(Crossing(one.place, homes[spot], heard))
    return lone, tuple(crossings)


def stack_rate(looks: Looks, spot: Spot, uids: Iterable[str], height: int) -> tuple[Rate, int]:
    """The miss rate of the chips of a stack, and how many of its ``height`` chips never answered."""
    known = frozenset(uids)
    looked = [(height - len(known & look.uids), height) for look in looks.at(spot)]
    return rate([looked]), height - len(known)


def known_well(rates: Iterable[Rate]) -> bool:
    """Whether every share is known to 2 points."""
    return all(r.half_ppm <= HALF_PPM for r in rates)


def shares_advice(antennas: Sequence[Antenna], crossings: Sequence[Crossing], order: Sequence[str]) -> list[Advice]:
    """What to change about power, spacing and the multiplexer; ``order`` are the places around the table."""
    uneven = _uneven(antennas)
    says = [text for one in antennas for text in ([uneven[one.place]] if one.place in uneven else _one_antenna(one))]
    spots = {a.place: a.spot for a in antennas}
    says += [_bleeding(c, spots, order) for c in crossings if c.rate.low_ppm > _most_bleed(c, order)]
    return [Advice(text) for text in says]


def _one_antenna(one: Antenna) -> list[str]:
    where = f"{place_name(one.place)} ({spot_name(one.spot)})"
    lone_bad, stack_bad = one.lone.low_ppm > LONE_HIGH_PPM, one.stack.low_ppm > STACK_HIGH_PPM
    says: list[str] = []
    if lone_bad and stack_bad:
        says.append(
            f"{where} misses lone chips ({one.lone}) and stacks ({one.stack}): the field is too weak. Raise the "
            "reader's "
            "power, tune the antenna, or bring it nearer to the felt"
        )
    elif lone_bad:
        says.append(
            f"{where} misses a lone chip ({one.lone}) and reads stacks well: overdriven. Lower the reader's "
            "power, or lay "
            "the antenna deeper"
        )
    elif stack_bad:
        says.append(
            f"{where} misses chips in a stack ({one.stack}) and reads a lone one well. Raise the reader's power a "
            "little; "
            "keep stacks there below 20"
        )
    if one.never:
        says.append(
            f"{where}: {one.never} of the stack's chips never answered. Put each on alone: a chip that stays silent is "
            "broken and goes out of play"
        )
    if one.stack_sweep_ns > SWEEP_LONG_NS:
        says.append(
            f"{where} is looked at only every {one.stack_sweep_ns // 1_000_000} ms with stacks on the table: put fewer "
            "antennas on one reader, or add a second reader"
        )
    return says


def _uneven(antennas: Sequence[Antenna]) -> dict[str, str]:
    """An antenna that is much worse than the rest has a fault of its own: its cable, not the reader's power.  "
    "By place."""
    if len(antennas) < 3:
        return {}
    usual = median(a.lone.ppm for a in antennas)
    return {
        a.place: f"{place_name(a.place)} ({spot_name(a.spot)}) misses far more than the others ({a.lone}; the others "
        f"{usual / 10_000:.1f} %): look at its cable, its plug and its tuning, not at the reader's power"
        for a in antennas
        if a.lone.low_ppm > max(3 * usual, LONE_HIGH_PPM // 2)
    }


def _most_bleed(crossing: Crossing, order: Sequence[str]) -> int:
    return BLEED_HIGH_PPM if _beside(crossing, order) else FAR_PPM


def _beside(crossing: Crossing, order: Sequence[str]) -> bool:
    """Whether two places lie next to each other around the table, or are one seat's."""
    one, other = crossing.chip_at, crossing.read_at
    apart = abs(order.index(one) - order.index(other))
    return min(apart, len(order) - apart) <= 1 or one.partition(":")[2] == other.partition(":")[2]


def _bleeding(crossing: Crossing, spots: Mapping[str, Spot], order: Sequence[str]) -> str:
    one, other = crossing.chip_at, crossing.read_at
    said = f"a chip on {place_name(one)} is read at {place_name(other)} ({crossing.rate})"
    if _beside(crossing, order):
        return f"{said}: lower the reader's power, or lay the two antennas farther apart or a ferrite between"
    a, b = spots[one], spots[other]
    if a[0] == b[0] and abs(a[1] - b[1]) == 1:
        return (
            f"{said}, which lies elsewhere on the table: their outputs are next to each other on the multiplexer, "
            "which lets it through. Change the order of its outputs"
        )
    return f"{said}, which lies elsewhere on the table: do their cables run side by side? Part them"


def neighbours(
    antennas: Sequence[Antenna], crossings: Sequence[Crossing], beside: Iterable[tuple[str, str]]
) -> tuple[tuple[str, str], ...]:
    """The pairs that table.toml must call neighbours: those that bleed, and those beside each other of which the looks
    did not prove that they do not."""
    known = {a.place for a in antennas}
    heard = {(c.chip_at, c.read_at): c.rate for c in crossings}
    close = {tuple(sorted(pair)) for pair in beside}
    pairs: set[tuple[str, str]] = set()
    for one, other in combinations(sorted(known), 2):
        rates = [r for r in (heard.get((one, other)), heard.get((other, one))) if r is not None]
        bleeds = any(r.hits >= 2 for r in rates)  # a single answer may be a ghost
        unproven = any(r.high_ppm > UNSHIELDED_PPM for r in rates) or not rates
        if bleeds or ((one, other) in close and unproven):
            pairs.add((one, other))
    return tuple(sorted(pairs))


def section(survey: Survey, heat: Mapping[str, Sequence[tuple[int, int, int]]]) -> Antennas:
    """The survey as the calibration's section; ``heat`` by place."""
    return Antennas(
        antennas=tuple(
            AntennaRead(
                device=a.spot[0],
                antenna=a.spot[1],
                place=a.place,
                lone_miss_ppm=a.lone.ppm,
                stack_miss_ppm=a.stack.ppm,
                sweep_ns=a.sweep_ns,
                heat=tuple(heat.get(a.place, ())),
            )
            for a in sorted(survey.antennas, key=lambda a: a.spot)
        ),
        bleed=tuple(
            Bleed(chip_at=c.chip_at, read_at=c.read_at, ppm=c.rate.ppm)
            for c in sorted(survey.crossings, key=lambda c: (c.chip_at, c.read_at))
            if c.rate.hits
        ),
    )
