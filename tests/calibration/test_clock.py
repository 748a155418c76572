"""The camera's offset: within 3 ms of the truth from falling chips, its 95 % honest, and refused when it cannot be."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from calibration import timing
from calibration.clock import MS, Arrival, Placement, Refused, estimate, panel
from calibration.files import save
from calibration.pairing import Arrivals, placements, presses
from calibration.plan import perform, step
from calibration.steps import StepError
from firmware_bridge.wire import AnyObservation, BootId, CleanEmpty, DeviceId, Present, Press, Tag, TimeSpan
from hw_sim.devices.physics import Timing
from hw_sim.exercise import Clocks, Stand, Truth
from tabled.core.entries import Seen, Started, TableConfig, encode, kind_of
from tabled.journal import Journal
from tabled.journal.entry import Draft
from tabled.model.calibration import CameraTime
from tabled.model.camera import AnyCameraObservation, ChipsLanded
from tabled.model.layout import Layout
from tabled.sensing import sections
from tabled.shell.profiles import load as load_profile
from tests.calibration.robot import Robot, given, zones

TRUE_NS = 23 * MS
READER, CAMERA = DeviceId("reader"), DeviceId("camera")
LOOK_MS, GAP_MS, MISS = 14, 6, 0.03


def placement(rng: Random, at_ns: int, *, hand: bool, true_ns: int = TRUE_NS, where: float | None = None) -> Placement:
    """One chip at ``at_ns``: looks of a reader one after the other, and a camera of 60 frames a second or a hand.

    A look takes a chip at ``where`` of it, or (None) anywhere.
    """
    period, start = (LOOK_MS + GAP_MS) * MS, at_ns - rng.randrange((LOOK_MS + GAP_MS) * MS)
    missed: list[TimeSpan] = []
    for n in range(-5, 20):
        look = TimeSpan(start + n * period, start + n * period + LOOK_MS * MS)
        share = rng.random() if where is None else where
        if look.earliest_ns + share * LOOK_MS * MS >= at_ns and rng.random() >= MISS:
            break
        missed.insert(0, look)
    if hand:
        early, late = at_ns - rng.randint(60, 120) * MS, at_ns + rng.randint(60, 110) * MS
    else:
        frame = 1000 * MS // 60
        early = at_ns - rng.randrange(frame)
        late = early + frame
    return Placement(TimeSpan(early - true_ns, late - true_ns), Arrival(look, tuple(missed[:5])))


def falling(
    seed: int, count: int, *, hands: float = 0.0, drift_ns: int = 0, where: float | None = None
) -> list[Placement]:
    rng = Random(seed)
    times = [(n + 1) * 1000 * MS + rng.randrange(400 * MS) for n in range(count)]
    return [
        placement(rng, t, hand=rng.random() < hands, true_ns=TRUE_NS + drift_ns * n, where=where)
        for n, t in enumerate(times)
    ]


def test_thirty_falling_chips_give_the_offset_and_sixty_give_it_within_three_ms() -> None:
    for count, worst_ns, bound_ns in ((30, 5 * MS, 5.5 * MS), (60, 3 * MS, 3.5 * MS)):
        found = [estimate(falling(seed, count)) for seed in range(25)]
        errors = [abs(f.offset_ns - TRUE_NS) for f in found]
        assert max(errors) <= worst_ns
        assert max(f.half_ns for f in found) <= bound_ns
        inside = sum(e <= f.half_ns for e, f in zip(errors, found, strict=True))
        assert inside >= 20  # 95 % of 25, less three standard deviations
        assert abs(sum(f.offset_ns - TRUE_NS for f in found)) / 25 <= MS
        assert sum(f.strays for f in found) <= 8
        assert {f.spread_ns for f in found} == {f.half_ns + f.beyond_ns + LOOK_MS * MS // 2 for f in found}


@pytest.mark.parametrize("where", [0.0, 1.0])
def test_the_spread_holds_the_offset_wherever_in_its_look_a_reader_takes_a_chip(where: float) -> None:
    """ISO 15693 tags that come after the request do not answer; another reader may see them at the end."""
    for seed in range(10):
        found = estimate(falling(seed, 40, where=where))
        assert abs(found.offset_ns - TRUE_NS) <= found.spread_ns


def test_hands_over_half_of_the_chips_cost_little() -> None:
    errors = [abs(estimate(falling(seed, 60, hands=0.5)).offset_ns - TRUE_NS) for seed in range(20)]
    assert max(errors) <= 5 * MS


def test_a_placement_that_is_no_such_thing_is_counted_and_moves_nothing() -> None:
    rng = Random(3)
    good = falling(3, 40)
    stray = placement(rng, 90_000 * MS, hand=False, true_ns=TRUE_NS + 200 * MS)
    found, before = estimate([*good, stray]), estimate(good)
    assert (found.strays, before.strays) == (1, 0)
    assert abs(found.offset_ns - before.offset_ns) <= MS


@pytest.mark.parametrize(
    ("pairs", "code", "says"),
    [
        (falling(1, 29), "too-few", "29 placements were seen by both"),
        (falling(1, 60, hands=1.0), "too-wide", "let chips fall from a hand's height"),
        (falling(1, 40, drift_ns=2 * MS), "drift", "the camera's clock runs away"),
        (
            [
                *falling(1, 30),
                *(placement(Random(n), n * 1000 * MS, hand=False, true_ns=-n * 20 * MS) for n in range(8)),
            ],
            "strays",
            "fit no common offset",
        ),
    ],
)
def test_what_gives_no_offset_is_refused_with_what_to_do(pairs: list[Placement], code: str, says: str) -> None:
    with pytest.raises(Refused, match=says) as caught:
        estimate(pairs)
    assert caught.value.code == code


def test_a_drift_is_told_and_not_averaged() -> None:
    still = estimate(falling(2, 60))
    assert abs(still.turned_ns) <= 2 * still.turned_half_ns


def test_the_panel_is_the_median_of_presses_made_together_and_refused_when_they_were_not() -> None:
    rng = Random(1)

    def pair(spread_ms: float) -> tuple[TimeSpan, TimeSpan]:
        at, late = rng.randrange(10**9), round(rng.gauss(9, spread_ms) * MS)
        return TimeSpan(at - 20 * MS, at + 20 * MS), TimeSpan(at + late - MS, at + late + MS)

    found = panel([pair(10) for _ in range(40)])
    assert abs(found.offset_ns - 9 * MS) <= 5 * MS
    assert found.presses == 40
    with pytest.raises(Refused, match="with both hands"):
        panel([pair(80) for _ in range(20)])
    with pytest.raises(Refused, match="15 are needed"):
        panel([pair(1)] * 14)


# -- which is which ----------------------------------------------------------------------------------


def look(ms: int, *uids: str, antenna: int = 1) -> Present | CleanEmpty:
    span = TimeSpan(ms * MS, (ms + 14) * MS)
    return Present(READER, span, antenna, tuple(Tag(u) for u in uids)) if uids else CleanEmpty(READER, span, antenna)


def landed(ms: int, seat: str = "1") -> ChipsLanded:
    return ChipsLanded(CAMERA, TimeSpan(ms * MS, (ms + 17) * MS), seat, 0, 0, 1200)


def came_at(*times_ms: int, until: int = 6000) -> Arrivals:
    """A chip that lies there for 200 ms from each of these times on."""
    arrivals = Arrivals({("reader", 1): "1"})
    for ms in range(0, until, 20):
        there = any(t <= ms < t + 200 for t in times_ms)
        arrivals.add(look(ms, *(["A"] if there else [])))
    return arrivals


def test_a_landing_and_an_arrival_that_stand_alone_are_one_chip() -> None:
    arrivals = came_at(1000, 3000)
    assert [c.arrival.named.earliest_ns for c in arrivals.found] == [1000 * MS, 3000 * MS]
    assert arrivals.found[0].arrival.missed[0].earliest_ns == 980 * MS
    assert len(placements(arrivals.found, [landed(990), landed(3010)])) == 2
    assert placements(arrivals.found, [landed(990, "2"), landed(1600)]) == []


def test_chips_that_come_close_together_are_left_out() -> None:
    assert placements(came_at(1000, 1400).found, [landed(990), landed(1390)]) == []
    assert len(placements(came_at(1000, 3000).found, [landed(990), landed(1200), landed(2990)])) == 1


def test_the_cameras_own_margin_is_taken_off_its_spans() -> None:
    (pair,) = placements(came_at(1000).found, [landed(990)], narrow_ns=5 * MS)
    assert (pair.camera.earliest_ns, pair.camera.latest_ns) == (995 * MS, 1002 * MS)
    (point,) = placements(came_at(1000).found, [landed(990)], narrow_ns=500 * MS)
    assert 0 <= point.camera.latest_ns - point.camera.earliest_ns <= 1


def test_a_look_that_may_have_missed_something_is_no_evidence() -> None:
    arrivals = Arrivals({("reader", 1): "1"})
    for ms in (0, 20, 40):
        arrivals.add(look(ms))
    arrivals.add(Present(READER, TimeSpan(60 * MS, 74 * MS), 1, (Tag("A"),), complete=False))
    assert arrivals.found == []
    arrivals.add(look(80, "A"))
    assert [c.uid for c in arrivals.found] == ["A"]


def test_a_press_goes_with_the_chip_beside_it() -> None:
    arrivals = came_at(1000, 3000)
    one = Press(DeviceId("panel"), TimeSpan(1010 * MS, 1012 * MS), BootId(1), 1, "call")
    assert presses(arrivals.found, [one]) == [(arrivals.found[0].arrival.span, one.span)]


# -- the step ----------------------------------------------------------------------------------------


def journal_of(path: Path, seed: int, count: int) -> None:
    """A journal of an evening in which chips fell on seat 1, the camera ``TRUE_NS`` early."""
    rng = Random(seed)
    seen: list[tuple[int, AnyObservation | AnyCameraObservation]] = []
    times = [(n + 1) * 1500 * MS + rng.randrange(300 * MS) for n in range(count)]
    ms = 0
    while ms < (count + 1) * 1500:
        taken = rng.randint(ms, ms + 14) * MS
        there = any(t <= taken < t + 500 * MS for t in times) and rng.random() >= MISS
        seen.append(((ms + 14) * MS, look(ms, *(["A"] if there else []))))
        ms += 20
    margin = timing.DEFAULT_SPREAD_NS + timing.NOISE_NS
    for t in times:
        frame = 1000 * MS // 60
        early = t - rng.randrange(frame) - TRUE_NS
        span = TimeSpan(early - margin, early + frame + margin)
        seen.append((t + 80 * MS, ChipsLanded(CAMERA, span, "1", 0, 0, 1200)))
    config = TableConfig(site="s", table="t", layout=Layout(("1",), ()), chips={}, profile=load_profile("swedish"))
    with Journal.open(str(path)) as book:
        start = Started(at_ns=0, epoch=book.epoch, clock="c", version="0", config=config)
        entries = [start, *(Seen(at_ns=at, observation=one) for at, one in sorted(seen, key=lambda item: item[0]))]
        drafts = [Draft(kind_of(e), encode(e), 0) for e in entries]
        for at in range(0, len(drafts), 1000):
            book.append(drafts[at : at + 1000])


def write_toml(folder: Path) -> Path:
    (folder / "table.toml").write_text(
        '[table]\nseats = 2\n[chips]\nfile = "c.csv"\n[journal]\nfile = "j"\n'
        '[[device]]\nid = "reader"\ndriver = "feig"\nport = "/dev/null"\nantennas = { 1 = "bet:1", 2 = "bet:2" }\n'
    )
    return folder / "table.toml"


def test_an_evenings_journal_is_a_measurement_and_a_second_one_a_correction(tmp_path: Path) -> None:
    folder = tmp_path / "calibration"
    save(folder, zones(2))
    journal_of(tmp_path / "evening.journal", 4, 60)
    which, config = step("time"), write_toml(tmp_path)
    options = given(which, config=config, journal=tmp_path / "evening.journal")
    outcome = perform(which, Robot.__new__(Robot), folder, options)
    found = sections.load(folder).time
    assert found is not None
    assert abs(found.offset_ns - TRUE_NS) <= 3 * MS
    assert found.placements >= 50
    assert [p.name for p in outcome.pictures] == ["offset"]
    # The camera works with what was found now; what is still wrong is added to it.
    save(folder, CameraTime(offset_ns=100 * MS, spread_ns=15 * MS, readout_ns=9, exposure_ns=8, placements=1))
    perform(which, Robot.__new__(Robot), folder, options)
    again = sections.load(folder).time
    assert again is not None
    assert abs(again.offset_ns - 100 * MS - TRUE_NS) <= 3 * MS
    assert (again.readout_ns, again.exposure_ns) == (9, 8)


def test_the_step_is_refused_with_its_reason(tmp_path: Path) -> None:
    folder = tmp_path / "calibration"
    save(folder, zones(2))
    which, config = step("time"), write_toml(tmp_path)
    journal_of(tmp_path / "short.journal", 4, 10)
    robot = Robot.__new__(Robot)
    for options, code in (
        ({"journal": tmp_path / "short.journal"}, "too-few"),
        ({"journal": tmp_path / "none"}, "journal"),
        ({"place": "bet:9"}, "place"),
        ({}, "no-camera"),
        ({"placements": 5}, "option"),
    ):
        with pytest.raises(StepError) as caught:
            perform(which, robot, folder, given(which, config=config, **options))
        assert caught.value.code == code
    assert sections.load(folder).time is None


@pytest.mark.slow
def test_chips_that_fall_on_a_simulated_reader_give_its_offset(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(timing, "GOAL_NS", 1 << 60)  # thirty are enough here: the figure is told by the tests above
    monkeypatch.setattr(timing, "PRESSES", 16)
    folder, which = tmp_path / "calibration", step("time")
    save(folder, zones(2))
    clocks = Clocks(camera_late_ms=41.0, beat_s=0.7)
    with Stand(tmp_path, Truth(lone={1: 0.03}), seats=2, timing=Timing(real=True), clocks=clocks) as stand:
        robot = Robot(stand)
        perform(which, robot, folder, given(which, config=stand.config(), landings=stand.landings, panel="yes"))
    found = sections.load(folder).time
    assert found is not None
    assert abs(found.offset_ns - 41 * MS) <= 10 * MS
    assert -5 * MS <= found.panel_offset_ns <= 40 * MS


def test_a_damaged_time_is_not_passed_over(tmp_path: Path) -> None:
    assert timing._before(tmp_path) is None
    (tmp_path / "time.json").write_text("{")
    with pytest.raises(StepError, match=r"delete .*time.json first"):
        timing._before(tmp_path)
