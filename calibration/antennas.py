"""What the step "antennas" does: one chip a place shows which antenna is which, many looks say what each is worth.

Chips are put down one after the other and stay, so that all places are measured at once.  What it asks for is said in
sentences that name the place as table.toml does, ``(bet:3)``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from calibration import charts
from calibration.bench import Bench, config_from
from calibration.files import save, write
from calibration.given import number, zone_middle
from calibration.looks import Looks, Spot
from calibration.rates import Rate
from calibration.steps import Figure, Given, Outcome, Picture, StepError, Talk
from calibration.survey import (
    BLEED_HIGH_PPM,
    LIT,
    LONE_HIGH_PPM,
    STACK_HIGH_PPM,
    SWEEP_LONG_NS,
    Advice,
    Antenna,
    Crossing,
    Lit,
    Survey,
    known_well,
    lone_and_bleed,
    mapping_faults,
    neighbours,
    place_name,
    section,
    shares_advice,
    spot_name,
    stack_rate,
)
from calibration.tabletoml import Unpatchable, patched, to_paste
from tabled.shell.config import adjacent, layout_of

CLEAR_LOOKS = 6
FIND_LOOKS = 24
STACK_FIND_LOOKS = 40
POINT_LOOKS = 20
MOST_LOOKS = 4
"""So many times the looks that were asked for are taken at most, if the shares are not known well before."""
TRIES = 3
MAX_SHOWN = 12
"""Bleeding pairs that are shown; the matrix has all."""

Heat = Sequence[tuple[int, int, int]]


def run(talk: Talk, folder: Path, given: Given) -> Outcome:
    """Measure all antennas and write antennas.json; see `calibration.step_antennas`."""
    path = Path(given["config"])
    config = config_from(given["config"])
    looks, height = number(given, "looks", 100, 5000), number(given, "height", 2, 40)
    mapped = given["map"].split()
    middles = {place: zone_middle(folder, place) for place in mapped}
    with Bench(config) as bench:
        places = _in_order(config.table.seats, bench.configured.values())
        if unknown := [p for p in mapped if p not in places]:
            raise StepError(
                f"--map {unknown[0]}: table.toml has no such place; it has {' '.join(places)}", code="place"
            )
        lit = _find(bench, talk, places)
        mapping = _mapping(talk, path, bench, lit, write_it=given["write"] == "yes")
        survey = _measure(bench, talk, lit, looks, height)
        grid = number(given, "grid", 3, 15), number(given, "pitch", 5, 100)
        spots = {place: spot for spot, place in mapping.items()}
        heat = {place: _zone(bench, talk, place, spots[place], grid, middles[place]) for place in mapped}
    layout = layout_of(config)
    beside = [
        (_text(a.kind, a.seat), _text(b.kind, b.seat))
        for a, b in adjacent(layout.seats, [x.place for x in layout.antennas])
    ]
    pairs = neighbours(survey.antennas, survey.crossings, beside)
    advice = (*survey.advice, *_lines(talk, path, mapping, pairs, write_it=given["write"] == "yes"))
    save(folder, section(survey, heat))
    return _outcome(survey, heat, advice)


def _text(kind: str, seat: str) -> str:
    return f"{kind}:{seat}" if seat else kind


def _in_order(seats: int, places: Iterable[str]) -> list[str]:
    """Places in the order in which a person walks round the table."""
    there = set(places)
    walk = [f"{kind}:{n}" for n in range(1, seats + 1) for kind in ("bet", "stack")] + ["tray", "pot"]
    return [place for place in walk if place in there]


# -- which antenna is which ---------------------------------------------------------------------------


def _find(bench: Bench, talk: Talk, places: Sequence[str]) -> list[Lit]:
    """One chip after the other; where each lights up."""
    _clear(bench, talk)
    lit: list[Lit] = []
    for place in places:
        lit.append(_light(bench, talk, place, frozenset(one.uid for one in lit if one.uid is not None)))
        one = lit[-1]
        where = "nothing reads it" if one.spot is None else f"{spot_name(one.spot)} lights up"
        talk.say(f"  {place}: {where}")
    return lit


def _clear(bench: Bench, talk: Talk) -> None:
    for _ in range(TRIES):
        talk.ask("Clear the felt: no chip may lie on any antenna.", ["done"], "done")
        left = {u: s for u, (s, share) in bench.gather(CLEAR_LOOKS, talk).homes().items() if share > LIT}
        if not left:
            return
        uid, spot = next(iter(left.items()))
        talk.say(f"  A chip still lies on {spot_name(spot)} ({uid}).")
    says = "reads a chip on an empty felt"
    raise StepError(
        f"{spot_name(spot)} {says} ({uid}): look under the felt and in the rail, then repeat the step", code="not-clear"
    )


def _light(bench: Bench, talk: Talk, place: str, before: frozenset[str]) -> Lit:
    said = f"Put 1 chip on the middle of {place_name(place)} ({place}); leave the others."
    for _ in range(TRIES):
        talk.ask(said, ["done"], "done")
        new = _new(bench.gather(FIND_LOOKS, talk), before)
        if len(new) == 1:
            ((uid, spot),) = new.items()
            return Lit(place, uid, spot)
        talk.say(f"  {len(new)} new chips are read." if new else "  Nothing new is read; another chip may answer.")
        talk.ask(f"Take everything from {place_name(place)} ({place}).", ["done"], "done")
    if new:
        says = f"{len(new)} chips were read where one was asked for, on {place}"
        raise StepError(f"{says}: put one alone, away from other chips, and repeat the step", code="chip-count")
    return Lit(place, None, None)


def _new(looks: Looks, before: frozenset[str]) -> dict[str, Spot]:
    return {u: spot for u, (spot, share) in looks.homes().items() if share > LIT and u not in before}


def _mapping(talk: Talk, path: Path, bench: Bench, lit: Sequence[Lit], *, write_it: bool) -> dict[Spot, str]:
    """Place of every antenna as measured; an antenna that no chip lit keeps what table.toml says.

    Raises `StepError` where table.toml is wrong, unless it may be mended.
    """
    faults = mapping_faults(bench.configured, lit)
    measured = {one.spot: one.place for one in lit if one.spot is not None}
    if not faults:
        return {spot: measured.get(spot, place) for spot, place in bench.configured.items()}
    complete = len(measured) == len(lit) == len(bench.configured)
    said = "; ".join(f.text for f in faults)
    if not complete:
        raise StepError(said, code=_code(lit))
    lines = to_paste(measured, None)
    if not write_it:
        talk.say(lines)
        raise StepError(f"{said}. Nothing was written; with --write the line is put into {path.name}", code="swapped")
    talk.say(f"  {said}: {path.name} is mended")
    _mend(path, measured, None)
    return measured


def _code(lit: Sequence[Lit]) -> str:
    return "antenna-dead" if any(one.spot is None for one in lit) else "antenna-twice"


# -- what each is worth -------------------------------------------------------------------------------


def _measure(bench: Bench, talk: Talk, lit: Sequence[Lit], looks: int, height: int) -> Survey:
    singles, (lone, crossings) = _lone(bench, talk, lit, looks)
    homes = {one.place: one.spot for one in lit if one.spot is not None}
    stacked = _stacked(bench, talk, homes, height, looks)
    talk.ask("Clear the felt: everything is measured.", ["done"], "done")
    chips = stacked.homes()
    antennas: list[Antenna] = []
    for place, spot in homes.items():
        stack, never = stack_rate(stacked, spot, [u for u, (s, _) in chips.items() if s == spot], height)
        sweeps = {"sweep_ns": singles.sweep_ns(spot), "stack_sweep_ns": stacked.sweep_ns(spot)}
        antennas.append(Antenna(spot=spot, place=place, lone=lone[place], stack=stack, never=never, **sweeps))
    advice = tuple(shares_advice(antennas, crossings, list(homes)))
    return Survey(antennas=tuple(antennas), crossings=crossings, advice=advice)


def _lone(
    bench: Bench, talk: Talk, lit: Sequence[Lit], looks: int
) -> tuple[Looks, tuple[dict[str, Rate], tuple[Crossing, ...]]]:
    """Looks at one chip on each place, until each share is known to 2 points or they are enough."""
    talk.say("  Hands off: the chips are counted.")
    taken = looks
    found = bench.gather(looks, talk, "looks at single chips")
    while True:
        shares = lone_and_bleed(found, lit)
        if known_well([*shares[0].values(), *(c.rate for c in shares[1])]) or taken >= MOST_LOOKS * looks:
            return found, shares
        taken += looks // 2
        found = bench.more(taken, talk, "looks at single chips")


def _stacked(bench: Bench, talk: Talk, homes: Mapping[str, Spot], height: int, looks: int) -> Looks:
    """Looks at a stack on each place."""
    talk.ask(f"Put {height - 1} more chips on each of these chips: stacks of {height}.", ["done"], "done")
    for _ in range(TRIES):
        wrong = _wrong_stack(bench.gather(STACK_FIND_LOOKS, talk, "looks at stacks"), homes, height)
        if wrong is None:
            return bench.more(max(STACK_FIND_LOOKS, looks // 2), talk, "looks at stacks")
        place, count = wrong
        said = f"{count} chips answer on {place_name(place)} ({place}), where {height} should lie"
        talk.say(f"  {said}.")
        talk.ask(f"Take everything from {place_name(place)} ({place}).", ["done"], "done")
        talk.ask(f"Put {height} chips on the middle of {place_name(place)} ({place}), as one stack.", ["done"], "done")
    raise StepError(f"{said}: count the stack, and repeat the step", code="chip-count")


def _wrong_stack(looks: Looks, homes: Mapping[str, Spot], height: int) -> tuple[str, int] | None:
    """The first place with more chips than the stack has, or with less than half of them."""
    chips = looks.homes()
    for place, spot in homes.items():
        count = sum(s == spot for s, _ in chips.values())
        if count > height or 2 * count < height:
            return place, count
    return None


# -- where an antenna reads ----------------------------------------------------------------------------


def _zone(  # noqa: PLR0917 - each is another thing
    bench: Bench, talk: Talk, place: str, spot: Spot, grid: tuple[int, int], middle: tuple[int, int]
) -> Heat:
    """Move one chip over a grid (points a side, mm between them); reads per thousand looks at each point, in the
    table's frame."""
    size, pitch = grid
    talk.ask("Clear the felt: no chip may lie on any antenna.", ["done"], "done")
    talk.say(f"  Now one chip goes over a grid of {size} by {size} points; x and y are the table's.")
    cells: list[tuple[int, int, int]] = []
    steps = [(n - (size - 1) / 2) * pitch for n in range(size)]
    for y in (round(v) for v in steps):
        for x in (round(v) for v in steps):
            where = f"the middle of {place_name(place)} ({place})"
            talk.ask(f"Move the chip to x {x} mm, y {y} mm from {where}.", ["done"], "done")
            looks = bench.gather(POINT_LOOKS, talk).at(spot)
            read = sum(bool(look.uids) for look in looks)
            cells.append((middle[0] + x, middle[1] + y, round(1000 * read / len(looks))))
            talk.progress(len(cells), size * size, "points of the map")
    if not any(reads for _, _, reads in cells):
        raise StepError(f"{spot_name(spot)} read the chip at no point of the map: was it on {place}?", code="map-empty")
    talk.ask("Clear the felt: the map is drawn.", ["done"], "done")
    return tuple(cells)


# -- what comes of it ----------------------------------------------------------------------------------


def _lines(
    talk: Talk, path: Path, mapping: Mapping[Spot, str], pairs: Sequence[tuple[str, str]], *, write_it: bool
) -> tuple[Advice, ...]:
    """The neighbours go into table.toml, or are shown to be put there."""
    if write_it:
        _mend(path, mapping, pairs)
        talk.say(f"  {path.name} has the antennas and neighbours as measured.")
        return ()
    talk.say("  For table.toml:\n" + to_paste(mapping, pairs))
    return (Advice(f"put the neighbours as measured into {path.name} (shown above, or repeat with --write)"),)


def _mend(path: Path, mapping: Mapping[Spot, str], pairs: Sequence[tuple[str, str]] | None) -> None:
    try:
        text = path.read_text(encoding="utf-8")
        write(path, patched(text, mapping, pairs).encode())
    except Unpatchable as problem:
        raise StepError(
            f"{path}: {problem}; put these lines there by hand:\n{to_paste(mapping, pairs)}", code="toml"
        ) from problem


def _outcome(survey: Survey, heat: Mapping[str, Heat], advice: Sequence[Advice]) -> Outcome:
    figures: list[Figure] = []
    for one in survey.antennas:
        name = f"{one.place}, {spot_name(one.spot)}"
        figures += [
            Figure(label=f"{name}: lone chip missed", value=str(one.lone), good=one.lone.low_ppm <= LONE_HIGH_PPM),
            Figure(label=f"{name}: in a stack missed", value=str(one.stack), good=one.stack.low_ppm <= STACK_HIGH_PPM),
            Figure(
                label=f"{name}: looked at every",
                value=f"{one.sweep_ns / 1e6:.0f} ms, with stacks {one.stack_sweep_ns / 1e6:.0f} ms",
                good=one.stack_sweep_ns <= SWEEP_LONG_NS,
            ),
        ]
    heard = [c for c in survey.crossings if c.rate.hits]
    figures += [
        Figure(label=f"{c.chip_at} heard at {c.read_at}", value=str(c.rate), good=c.rate.low_ppm <= BLEED_HIGH_PPM)
        for c in sorted(heard, key=lambda c: -c.rate.ppm)[:MAX_SHOWN]
    ]
    pictures = [
        Picture(name="misses", caption="Missed looks, with their 95 % intervals", png=charts.misses(survey)),
        Picture(name="bleed", caption="Who hears whose chip: per cent of looks", png=charts.bleed(survey)),
    ]
    pictures += [
        Picture(name=f"map-{place.replace(':', '-')}", caption=f"Read zone of {place_name(place)}: per cent of looks",
                png=charts.heat(cells, f"{place_name(place)}: reads in 100 looks"))
        for place, cells in heat.items()
    ]  # fmt: skip
    worst = max(survey.antennas, key=lambda a: a.lone.ppm)
    count = len(survey.antennas)
    return Outcome(
        summary=f"{count} antennas, each where table.toml says; the worst misses a lone chip in {worst.lone}",
        figures=tuple(figures),
        pictures=tuple(pictures),
        warnings=tuple(a.text for a in advice),
    )
