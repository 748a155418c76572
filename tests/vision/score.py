"""Compares what the eye reported of a scene with the truth: one `Tally` a condition; tallies add up."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from firmware_bridge.wire import Observation
from hw_sim.scene.truth import HandStep, Landing, Truth
from tabled.fusion.agreement import disagreements
from tabled.model.camera import CameraTrust, ChipsLanded, HandMoved

MS = 1_000_000
NEAR_NS = 250 * MS
PARTED_NS = 200 * MS
FREE_NS = 150 * MS
"""What is taken away before it has been in view for so long need not be seen."""
APART_MM, APART_MS = 30, 200
TOGETHER_MM, TOGETHER_MS = 10, 100
DOUBT = 500
"""A step with less confidence is "perhaps": neither right nor wrong."""
REACH_MM = 60.0
REASON = {"knocked": "moved", "lightstep": "lights", "occluded": "occluded", "defocus": "focus", "dirt": "dirt"}


@dataclass
class Tally:
    """Counts and errors; times in ms, places in mm."""

    seconds: float = 0.0
    hits: int = 0
    misses: int = 0
    false: int = 0
    perhaps: int = 0
    exempt: int = 0
    side_right: int = 0
    late: list[float] = field(default_factory=list)
    late_seen: list[float] = field(default_factory=list)
    widths: list[float] = field(default_factory=list)
    covered: int = 0
    parted_right: int = 0
    parted_unsure: int = 0
    parted_wrong: int = 0
    landed: int = 0
    landed_missed: int = 0
    landed_false: int = 0
    places: list[float] = field(default_factory=list)
    spans: list[bool] = field(default_factory=list)
    colours: list[bool] = field(default_factory=list)
    untagged: int = 0
    untagged_found: int = 0
    tagged: int = 0
    tagged_blamed: int = 0
    disturbed: dict[str, list[float | None]] = field(default_factory=dict)
    distrust_s: float = 0.0
    false_distrust: int = 0
    notes: list[str] = field(default_factory=list)

    def add(self, other: Tally) -> None:
        """Take another tally in."""
        for name, value in vars(other).items():
            mine = getattr(self, name)
            if isinstance(value, dict):
                for key, rows in value.items():
                    mine.setdefault(key, []).extend(rows)
            else:
                setattr(self, name, mine + value)

    @property
    def f1(self) -> float:
        """Of entering and leaving."""
        total = 2 * self.hits + self.misses + self.false
        return 2 * self.hits / total if total else math.nan


def blind(seen: Sequence[Observation], start_ns: int, end_ns: int, seat: str) -> list[tuple[int, int]]:
    """When the eye said that it must not be believed, for a seat or the table."""
    spans: list[tuple[int, int]] = []
    for scope in ("", seat):
        since: int | None = start_ns if scope == "" else None
        for one in seen:
            if isinstance(one, CameraTrust) and one.seat == scope:
                if one.trusted and since is not None:
                    spans.append((since, one.span.latest_ns))
                    since = None
                elif not one.trusted and since is None:
                    since = one.span.earliest_ns
        if since is not None:
            spans.append((since, end_ns))
    return spans


def score(truth: Truth, seen: Sequence[Observation], start_ns: int, end_ns: int, *, events: bool = True) -> Tally:
    """The tally of one run from the first to the last frame's stamp."""
    tally = Tally(seconds=(end_ns - start_ns) / 1e9)
    seats = sorted({s.seat for s in truth.steps} | {x.seat for x in truth.landings}
                   | {o.seat for o in seen if isinstance(o, HandMoved | ChipsLanded)})  # fmt: skip
    for seat in seats if events else ():
        dark = blind(seen, start_ns, end_ns, seat)
        _steps(tally, truth, seen, seat, dark, end_ns)
        _strokes(tally, truth, seen, seat, dark, end_ns)
        _landings(tally, truth, seen, seat, dark, end_ns)
    _health(tally, truth, seen, start_ns, end_ns)
    return tally


def _dark(at_ns: int, dark: Sequence[tuple[int, int]], margin: int = 300 * MS) -> bool:
    return any(a - margin <= at_ns <= b + margin for a, b in dark)


def _steps(tally: Tally, truth: Truth, seen: Sequence[Observation], seat: str, dark: list[tuple[int, int]],
           end_ns: int) -> None:  # fmt: skip
    for kind in ("enters", "leaves"):
        free = [o for o in seen if isinstance(o, HandMoved) and o.seat == seat and o.step == kind]
        for step in (s for s in truth.steps if s.seat == seat and s.step == kind):
            found = min(free, key=lambda o: (abs(_middle(o) - step.at_ns), o.confidence), default=None)
            if found is not None and abs(_middle(found) - step.at_ns) > NEAR_NS:
                found = None
                inside = [o for o in free if o.span.earliest_ns <= step.at_ns <= o.span.latest_ns]
                found = inside[0] if inside else None
            if found is not None:
                free.remove(found)
            if _dark(step.at_ns, dark) or step.at_ns > end_ns - 350 * MS:
                tally.exempt += 1
                continue
            if found is None:
                tally.misses += 1
                tally.notes.append(f"missed {kind} {seat} {step.by} at {step.at_ns / 1e9:.3f} z {step.z_mm}")
            elif found.confidence < DOUBT:
                tally.perhaps += 1
            else:
                _hit(tally, step, found)
        for one in free:
            if one.confidence < DOUBT:
                tally.perhaps += 1
            elif not _dark(_middle(one), dark):
                tally.false += 1
                tally.notes.append(f"false {kind} {seat} {one.by} at {_middle(one) / 1e9:.3f}")


def _hit(tally: Tally, step: HandStep, found: HandMoved) -> None:
    tally.hits += 1
    tally.side_right += found.by == step.by
    if step.by == "player":
        tally.late.append((_middle(found) - step.at_ns) / MS)
        if step.seen_ns:
            tally.late_seen.append((_middle(found) - step.seen_ns) / MS)
        tally.widths.append((found.span.latest_ns - found.span.earliest_ns) / MS)
        inside = found.span.earliest_ns <= step.at_ns <= found.span.latest_ns
        tally.covered += inside
        if not inside or abs(tally.late[-1]) > 20:
            tally.notes.append(f"{step.step} {step.seat} off {tally.late[-1]:.0f} ms at {step.at_ns / 1e9:.3f} "
                               f"z {step.z_mm} {'inside' if inside else 'OUTSIDE'}")  # fmt: skip


def _middle(o: Observation) -> int:
    """The instant that an observation gives as its best guess."""
    if isinstance(o, HandMoved) and o.likely_ns:
        return o.likely_ns
    return (o.span.earliest_ns + o.span.latest_ns) // 2


def _verdict(retreat: int, pause: int) -> str:
    if retreat >= APART_MM or pause >= APART_MS:
        return "two"
    return "one" if retreat < TOGETHER_MM and pause < TOGETHER_MS else "unsure"


def _strokes(tally: Tally, truth: Truth, seen: Sequence[Observation], seat: str, dark: list[tuple[int, int]],
             end_ns: int) -> None:  # fmt: skip
    """One motion or two: each true advance, and each visit without one."""
    told = [
        o for o in seen if isinstance(o, HandMoved) and o.seat == seat and o.step == "advances" and o.by != "dealer"
    ]
    steps = [s for s in truth.steps if s.seat == seat and s.by == "player"]
    for n, step in enumerate(steps):
        if _dark(step.at_ns, dark) or step.at_ns > end_ns - 350 * MS:
            continue
        if step.step == "advances":
            near = [o for o in told if abs(_middle(o) - step.at_ns) < PARTED_NS]
            true = _verdict(step.retreat_mm, step.pause_ms)
            best = min(near, key=lambda o: abs(_middle(o) - step.at_ns), default=None)
            got = "one" if best is None else _verdict(best.retreat_mm, best.pause_ms)
            told = [o for o in told if o not in near]
            _part(tally, true, got, f"{seat} at {step.at_ns / 1e9:.3f} true {step.retreat_mm} mm {step.pause_ms} ms")
        elif step.step == "enters":
            ends = next((s.at_ns for s in steps[n + 1 :] if s.step == "leaves"), end_ns)
            if any(s.step == "advances" and step.at_ns < s.at_ns < ends for s in steps):
                continue
            within = [o for o in told if step.at_ns - 50 * MS < _middle(o) < ends]
            verdicts = [_verdict(o.retreat_mm, o.pause_ms) for o in within]
            got = "two" if "two" in verdicts else "unsure" if "unsure" in verdicts else "one"
            _part(tally, "one", got, f"{seat} visit at {step.at_ns / 1e9:.3f}")


def _part(tally: Tally, true: str, got: str, where: str) -> None:
    if true == "unsure":
        return
    if got == true:
        tally.parted_right += 1
    elif got == "unsure":
        tally.parted_unsure += 1
    else:
        tally.parted_wrong += 1
        tally.notes.append(f"parted wrong {where}: {true} taken for {got}")


def _landings(tally: Tally, truth: Truth, seen: Sequence[Observation], seat: str, dark: list[tuple[int, int]],
              end_ns: int) -> None:  # fmt: skip
    told = [o for o in seen if isinstance(o, ChipsLanded) and o.seat == seat]
    matched: dict[int, list[Landing]] = {}
    for landing in (x for x in truth.landings if x.seat == seat):
        gone = min((r.at_ns for r in truth.removals if r.seat == seat and r.at_ns > landing.at_ns
                    and math.hypot(r.x_mm - landing.x_mm, r.y_mm - landing.y_mm) < 5), default=1 << 62)  # fmt: skip
        free = max(landing.hidden_until_ns, landing.at_ns)
        fits = [n for n, o in enumerate(told) if _fits(landing, o)]
        for n in fits:
            matched.setdefault(n, []).append(landing)
        if gone < free + FREE_NS or free > end_ns - 350 * MS or _dark(landing.at_ns, dark) or _dark(free, dark):
            continue
        tally.landed += 1
        tally.landed_missed += not fits
        if not fits:
            tally.notes.append(f"missed landing {seat} n{landing.count} v{landing.value} at {landing.at_ns / 1e9:.3f}")
    for n, one in enumerate(told):
        near = matched.get(n, [])
        if not near:
            if not _dark(_middle(one), dark, 0):
                tally.landed_false += 1
                tally.notes.append(f"false landing {seat} {one.x_mm},{one.y_mm} {one.area_mm2} mm² v{one.value} "
                                   f"at {one.span.latest_ns / 1e9:.3f}")  # fmt: skip
        elif len(near) == 1:
            _one_landing(tally, truth, near[0], one)


def _fits(landing: Landing, one: ChipsLanded) -> bool:
    away = math.hypot(landing.x_mm - one.x_mm, landing.y_mm - one.y_mm)
    in_time = one.span.earliest_ns - NEAR_NS <= landing.at_ns <= one.span.latest_ns + NEAR_NS
    return in_time and away < max(30.0, min(REACH_MM, 0.75 * math.sqrt(one.area_mm2)))


def _one_landing(tally: Tally, truth: Truth, landing: Landing, one: ChipsLanded) -> None:
    tally.places.append(math.hypot(landing.x_mm - one.x_mm, landing.y_mm - one.y_mm))
    inside = one.span.earliest_ns <= landing.at_ns <= one.span.latest_ns
    tally.spans.append(inside)
    if one.confidence >= DOUBT:
        tally.colours.append(one.value == landing.value)
    where = f"{landing.seat} n{landing.count} at {landing.at_ns / 1e9:.3f}"
    if not inside or tally.places[-1] > 6:
        tally.notes.append(f"landing {where} off {tally.places[-1]:.1f} mm {'inside' if inside else 'OUTSIDE'}")
    if one.value != landing.value:
        tally.notes.append(f"colour {where} {landing.value} taken for {one.value} ({one.confidence})")
    tags = [t.value for t in truth.tags if t.seat == landing.seat and abs(t.from_ns - landing.at_ns) < 50 * MS]
    blamed = any(d.kind in ("untagged", "foreign") for d in disagreements([one], tags))
    if landing.tagged:
        tally.tagged += 1
        tally.tagged_blamed += blamed
    else:
        tally.untagged += 1
        tally.untagged_found += blamed


def _health(tally: Tally, truth: Truth, seen: Sequence[Observation], start_ns: int, end_ns: int) -> None:
    lost = [o for o in seen if isinstance(o, CameraTrust) and not o.trusted]
    explained = []
    for one in truth.disturbances:
        if one.kind in REASON and start_ns < one.from_ns < end_ns - 2_000 * MS:
            near = [o for o in lost if o.reason == REASON[one.kind] and o.seat in ("", one.seat)
                    and one.from_ns - 50 * MS <= o.span.earliest_ns <= one.from_ns + 4_000 * MS]  # fmt: skip
            explained += near
            first = min((o.span.earliest_ns for o in near), default=None)
            delay = None if first is None else (first - one.from_ns) / 1e9
            tally.disturbed.setdefault(one.kind, []).append(delay)
    tally.false_distrust = sum(o not in explained for o in lost)
    tally.notes += [f"distrust {o.reason} {o.seat} at {o.span.earliest_ns / 1e9:.3f}" for o in lost]
    tally.distrust_s = sum(b - max(a, start_ns) for a, b in blind(seen, start_ns, end_ns, "")) / 1e9
