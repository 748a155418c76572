"""What the step "time" does: chips fall on one antenna in sight of the camera, or stand in a journal already."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from calibration import clock_charts
from calibration.bench import Bench, config_from
from calibration.clock import LEAST, MS, Offset, Placement, Pressed, Refused, estimate, panel
from calibration.files import save
from calibration.given import number
from calibration.looks import Spot
from calibration.pairing import Arrivals, landings, placements, presses
from calibration.steps import Figure, Given, Outcome, Picture, StepError, Talk
from calibration.survey import place_name
from firmware_bridge.wire import AnyObservation, Press, TimeSpan
from tabled.core.entries import Seen, decode
from tabled.journal import JournalError, JournalReader
from tabled.model.calibration import CameraTime
from tabled.model.camera import AnyCameraObservation, ChipsLanded
from tabled.sensing import sections
from tabled.sensing.eye import DEFAULT_EXPOSURE_NS, DEFAULT_READOUT_NS, DEFAULT_SPREAD_NS, NOISE_NS
from tabled.shell.config import Config

GOAL_NS = 3 * MS
"""Live, chips go on falling until the offset is known so well."""
MOST = 4
"""So many times the placements that were asked for are taken at most."""
PATIENCE_S = 20.0
"""Without one more placement for so long, something is wrong."""
PRESSES = 30
MAX_SEEN = 2_000_000

Pairs = list[tuple[TimeSpan, TimeSpan]]


def run(talk: Talk, folder: Path, given: Given) -> Outcome:
    """Measure the offset and write time.json; see `calibration.step_time`."""
    config = config_from(given["config"])
    before = _before(folder)
    least = number(given, "placements", LEAST, 500)
    narrow = NOISE_NS + (DEFAULT_SPREAD_NS if before is None else before.spread_ns)
    try:
        if given["journal"]:
            pairs, pressed = _from_journal(Path(given["journal"]), config, narrow)
        else:
            pairs, pressed = _live(talk, config, given, least, narrow)
        found = estimate(pairs, least=least)
        late = panel(pressed) if given["panel"] else None
    except Refused as problem:
        raise StepError(f"{problem}. Nothing was written", code=problem.code) from problem
    value = _section(config, before, found, late)
    save(folder, value)
    return _outcome(value, found, late, pairs)


def _before(folder: Path) -> CameraTime | None:
    path = sections.path_of(folder, "time")
    try:
        raw = sections.read(path, "time")
        if raw is None:
            return None
        value = sections.decode(raw, "time")
    except sections.CalibrationError as problem:
        # What the camera's times have been put right by is part of what is measured: it cannot be passed over.
        raise StepError(f"{problem}; for that, delete {path} first", code="damaged") from problem
    assert isinstance(value, CameraTime)
    return value


def _seats(config: Config) -> dict[Spot, str]:
    return {
        (d.id, int(n)): place.partition(":")[2]
        for d in config.device
        for n, place in d.antennas.items()
        if place.startswith("bet:")
    }


# -- live ----------------------------------------------------------------------------------------------


def _live(talk: Talk, config: Config, given: Given, least: int, narrow: int) -> tuple[list[Placement], Pairs]:
    place = given["place"]
    spot = next((s for s, seat in _seats(config).items() if f"bet:{seat}" == place), None)
    if spot is None:
        raise StepError(
            f"--place {place}: table.toml has no such antenna; name a seat's bets, such as bet:3", code="place"
        )
    lines = Path(given["landings"]) if given["landings"] else None
    if config.camera is None and lines is None:
        raise StepError("table.toml has no [camera]; set it, then repeat the step", code="no-camera")
    with Bench(config, panels=bool(given["panel"]), only=spot, eye=lines or True) as bench:
        arrivals = Arrivals({spot: place.partition(":")[2]})
        bench.listeners.append(arrivals.add)
        where = f"{place_name(place)} ({place})"
        talk.ask(
            f"Let 1 chip fall on the middle of {where}, no hand over it, take it away and let it fall again, "
            "about once a "
            "second, until this says stop.", ["done"], "done",
        )  # fmt: skip
        pairs = _fallen(bench, talk, arrivals, least, narrow)
        talk.ask(f"Stop. Take everything from {where}.", ["done"], "done")
        pressed: Pairs = []
        if given["panel"]:
            talk.ask(
                f"Put down 1 chip on {where} and press any key in the same moment, with both hands, about once a "
                "second, "
                "until this says stop.", ["done"], "done",
            )  # fmt: skip
            pressed = _pressed(bench, talk, arrivals)
            talk.ask(f"Stop. Take everything from {where}.", ["done"], "done")
    return pairs, pressed


def _fallen(bench: Bench, talk: Talk, arrivals: Arrivals, least: int, narrow: int) -> list[Placement]:
    """Wait for enough placements, and then for an offset that is known well enough."""
    pairs: list[Placement] = []

    def news() -> bool:
        nonlocal pairs
        seen = bench.camera_seen
        fresh = placements(list(arrivals.found), landings(seen), narrow_ns=narrow)
        grown, pairs = len(fresh) > len(pairs), fresh
        return grown

    while len(pairs) < MOST * least:
        if not bench.until(news, PATIENCE_S, talk):
            raise StepError(_nothing(arrivals, landings(bench.camera_seen), len(pairs)), code="too-few")
        talk.progress(min(len(pairs), least), least, "placements")
        if len(pairs) >= least and len(pairs) % 5 == 0:
            try:
                if estimate(pairs, least=least, widest_ns=1 << 60).half_ns <= GOAL_NS:
                    break
            except Refused:
                break  # told by the caller, with its reason
    return pairs


def _nothing(arrivals: Arrivals, landed: Sequence[ChipsLanded], pairs: int) -> str:
    if not arrivals.found:
        return "the reader names no chip: is it on the right seat, with a chip that answers? Repeat the step"
    if not landed:
        return "the camera sees no chip land: is the seat in its picture, and are lens, plane and zones measured?"
    return (
        f"the reader named {len(arrivals.found)} chips and the camera saw {len(landed)} land, {pairs} of them the "
        "same: "
        "one chip at a time, at least a second apart; if none fit, the two clocks differ by more than half a second"
    )


def _pressed(bench: Bench, talk: Talk, arrivals: Arrivals) -> Pairs:
    done, first = len(bench.presses), len(arrivals.found)
    pairs: Pairs = []

    def news() -> bool:
        nonlocal pairs
        fresh = presses(list(arrivals.found)[first:], list(bench.presses)[done:])
        grown, pairs = len(fresh) > len(pairs), fresh
        return grown

    while len(pairs) < PRESSES:
        if not bench.until(news, PATIENCE_S, talk):
            raise StepError(f"only {len(pairs)} presses came together with a chip; repeat the step", code="too-few")
        talk.progress(len(pairs), PRESSES, "presses")
    return pairs


# -- from a journal ------------------------------------------------------------------------------------


def _from_journal(path: Path, config: Config, narrow: int) -> tuple[list[Placement], Pairs]:
    """Of the newest run in which the camera reported: times of two runs or boots do not compare."""
    try:
        with JournalReader.open(path) as book:
            runs: list[list[AnyObservation | AnyCameraObservation]] = [[]]
            for entry in book.read():
                if entry.kind == "started":
                    runs.append([])
                elif entry.kind == "obs":
                    seen = decode(entry.body)
                    assert isinstance(seen, Seen)
                    runs[-1].append(seen.observation)
                    if sum(map(len, runs)) > MAX_SEEN:
                        raise StepError(f"{path}: is too long; take the journal of one evening", code="journal")
    except JournalError as problem:
        raise StepError(f"{path}: {problem}", code="journal") from problem
    for run_of in reversed(runs):
        if landed := landings(run_of):
            arrivals = Arrivals(_seats(config))
            for seen_one in run_of:
                arrivals.add(seen_one)
            pairs = placements(arrivals.found, landed, narrow_ns=narrow)
            return pairs, presses(arrivals.found, list(_presses(run_of)))
    raise StepError(
        f"{path}: the camera reported no landing in it; take a journal with [camera] at work", code="no-camera"
    )


def _presses(seen: Sequence[AnyObservation | AnyCameraObservation]) -> Iterator[Press]:
    return (one for one in seen if isinstance(one, Press))


# -- what comes of it ----------------------------------------------------------------------------------


def _section(config: Config, before: CameraTime | None, found: Offset, late: Pressed | None) -> CameraTime:
    set_us = config.camera.exposure_us if config.camera is not None else None
    exposure = DEFAULT_EXPOSURE_NS if before is None else before.exposure_ns
    return CameraTime(
        offset_ns=(0 if before is None else before.offset_ns) + found.offset_ns,
        spread_ns=found.spread_ns,
        readout_ns=DEFAULT_READOUT_NS if before is None else before.readout_ns,
        exposure_ns=exposure if set_us is None else set_us * 1000,
        panel_offset_ns=late.offset_ns if late is not None else (0 if before is None else before.panel_offset_ns),
        placements=found.placements,
    )


def _outcome(value: CameraTime, found: Offset, late: Pressed | None, pairs: Sequence[Placement]) -> Outcome:
    half, spread = found.half_ns / MS, value.spread_ns / MS
    figures = [
        Figure(label="Added to the camera's times", value=f"{value.offset_ns / MS:.1f} ms"),
        Figure(label="Known by the placements to, 95 %", value=f"± {half:.1f} ms", good=found.half_ns <= GOAL_NS),
        Figure(
            label="A look takes a chip anywhere in it",
            value=f"± {found.look_ns / 2 / MS:.1f} ms, the same for all placements",
        ),
        Figure(label="Spread, with both", value=f"± {value.spread_ns / MS:.1f} ms"),
        Figure(
            label="Placements", value=f"{found.placements}, {found.strays} of them fit nothing", good=not found.strays
        ),
        Figure(
            label="Later half against the earlier",
            value=f"{found.turned_ns / MS:+.1f} ± {found.turned_half_ns / MS:.1f} ms",
            good=abs(found.turned_ns) <= found.turned_half_ns,
        ),
    ]
    if late is not None:
        says = f"{late.offset_ns / MS:.1f} ± {late.half_ns / MS:.1f} ms, {late.presses} presses"
        figures.append(Figure(label="The panel is late by", value=says))
    warnings = []
    if found.half_ns > GOAL_NS:
        warnings.append(f"known to {half:.1f} ms only; more placements without a hand over the chip make it better")
    return Outcome(
        summary=f"the camera's times are put right by {value.offset_ns / MS:.1f} ms ± {half:.1f}, spread {spread:.1f}",
        figures=tuple(figures),
        pictures=(Picture(name="offset", caption="What each placement allows, and all together",
                          png=clock_charts.offsets(pairs, found)),),
        warnings=tuple(warnings),
    )  # fmt: skip
