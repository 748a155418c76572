"""Antennas: the mapping, the misses and the bleed come out as the simulator made them, and what is wrong is named."""

from __future__ import annotations

import sys
import tomllib
from collections.abc import Sequence
from math import sqrt
from pathlib import Path
from random import Random

import cv2
import numpy as np
import pytest

from calibration.files import save
from calibration.looks import Looks, Spot
from calibration.plan import perform, step
from calibration.rates import PPM, Rate, interval, rate, tolerance_factor
from calibration.steps import StepError
from calibration.survey import (
    Advice,
    Antenna,
    Crossing,
    Lit,
    lone_and_bleed,
    mapping_faults,
    neighbours,
    shares_advice,
    stack_rate,
)
from firmware_bridge.wire import CleanEmpty, Corrupt, DeviceId, Present, Tag, TimeSpan
from hw_sim.exercise import Stand, Truth
from hw_sim.exercising import attend
from tabled.model.calibration import AntennaRead, Antennas
from tabled.sensing import sections
from tests.calibration.robot import Robot, given, zones

R = DeviceId("reader")
TRUTH = Truth(
    lone={1: 0.04, 2: 0.01, 3: 0.12},
    stack={1: 0.15, 2: 0.10, 3: 0.20},
    bleed={(1, 2): 0.06, (2, 1): 0.03, (1, 3): 0.02},
)


def likely(ppm: int, truth: float, looks: int) -> bool:
    """Within five standard deviations of what was to come: a seeded reader on an unseeded clock."""
    return abs(ppm / PPM - truth) <= 5 * sqrt(max(truth * (1 - truth), 1e-4) / looks)


def run_step(stand: Stand, folder: Path, config: Path, **options: object) -> tuple[Robot, Antennas]:
    robot = Robot(stand)
    which = step("antennas")
    perform(which, robot, folder, given(which, config=config, **options))
    found = sections.load(folder).antennas
    assert found is not None
    return robot, found


# -- the whole step ----------------------------------------------------------------------------------


def test_the_step_finds_the_simulators_misses_bleed_and_read_zone(tmp_path: Path) -> None:
    folder = tmp_path / "calibration"
    save(folder, zones(3))
    with Stand(tmp_path, TRUTH, seats=3) as stand:
        config = stand.config()
        text = config.read_text()
        robot, found = run_step(stand, folder, config, looks=200, map="bet:2", grid=3, pitch=70, write="yes")
        assert stand.misunderstood == []
    assert [(a.device, a.antenna, a.place) for a in found.antennas] == [("reader", n, f"bet:{n}") for n in (1, 2, 3)]
    for read in found.antennas:
        seat = int(read.place.partition(":")[2])
        assert likely(read.lone_miss_ppm, TRUTH.lone[seat], 200), read
        assert likely(read.stack_miss_ppm, TRUTH.stack[seat], 100 * 20), read
        assert read.sweep_ns > 0
    bleed = {(b.chip_at, b.read_at): b.ppm for b in found.bleed}
    for (one, other), truth in TRUTH.bleed.items():
        assert likely(bleed[f"bet:{one}", f"bet:{other}"], truth, 200)
    assert set(bleed) == {(f"bet:{a}", f"bet:{b}") for a, b in TRUTH.bleed}
    heat = {(x, y): reads for x, y, reads in found.antennas[1].heat}
    assert len(heat) == 9
    assert heat[600, 0] > 800  # the middle of seat 2, in the table's frame
    assert max(heat[530, 70], heat[670, -70]) < 700  # 99 mm away, where half is read at 90
    mended = tomllib.loads(config.read_text())
    assert ["bet:1", "bet:3"] in mended["table"]["neighbours"]
    assert mended["device"] == tomllib.loads(text)["device"]
    assert any("lights up" in line for line in robot.said)
    for name in ("misses", "bleed", "map-bet-2"):
        raw = np.frombuffer((folder / "plots" / f"antennas-{name}.png").read_bytes(), np.uint8)
        assert cv2.imdecode(raw, cv2.IMREAD_COLOR).std() > 5


def test_swapped_antennas_are_named_and_mended_only_if_that_is_wanted(tmp_path: Path) -> None:
    folder = tmp_path / "calibration"
    with Stand(tmp_path, Truth(wiring={1: 2, 2: 1}), seats=2) as stand:
        config = stand.config()
        before = config.read_bytes()
        with pytest.raises(StepError, match="antenna 2 of reader and antenna 1 of reader are swapped") as caught:
            run_step(stand, folder, config, looks=100)
        assert caught.value.code == "swapped"
        assert config.read_bytes() == before
        assert not folder.exists()
        _, found = run_step(stand, folder, config, looks=100, write="yes")
    assert tomllib.loads(config.read_text())["device"][0]["antennas"] == {"1": "bet:2", "2": "bet:1"}
    assert [(a.antenna, a.place) for a in found.antennas] == [(1, "bet:2"), (2, "bet:1")]


def test_a_dead_antenna_and_two_chips_for_one_are_refused(tmp_path: Path) -> None:
    with Stand(tmp_path, Truth(dead=(2,)), seats=2) as stand:
        config = stand.config()
        with pytest.raises(StepError, match="no antenna reads a chip on seat 2's betting area: antenna 2") as caught:
            run_step(stand, tmp_path / "c", config, looks=100)
        assert caught.value.code == "antenna-dead"
        stand.extra = 1
        with pytest.raises(StepError, match="2 chips were read where one was asked for, on bet:1") as caught:
            run_step(stand, tmp_path / "c", config, looks=100)
        assert caught.value.code == "chip-count"
        save(tmp_path / "c", zones(3))
        with pytest.raises(StepError, match="has no such place; it has bet:1 bet:2"):
            run_step(stand, tmp_path / "c", config, map="bet:3")


@pytest.mark.parametrize(
    ("options", "says"),
    [({"looks": "many"}, "--looks"), ({"config": ""}, "which table"), ({"map": "bet:1"}, "tabled calibrate zones")],
)
def test_options_that_do_not_fit_are_refused_before_anything_is_opened(
    tmp_path: Path, options: dict[str, str], says: str
) -> None:
    with Stand(tmp_path, Truth(), seats=2) as stand:
        with pytest.raises(StepError, match=says):
            run_step(stand, tmp_path / "c", **{"config": stand.config(), **options})  # type: ignore[arg-type]  # texts
        assert stand.ports["reader"].opened == 0


def test_the_same_at_a_terminal(tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    """The command itself, in a process of its own; whoever sits there obeys what the screen says."""
    with Stand(tmp_path, TRUTH, seats=2) as stand:
        words = ["calibrate", "antennas", "--folder", tmp_path / "c", "--config", stand.config(), "--looks", "100"]
        code = attend(stand, [sys.executable, "-m", "tabled", *map(str, words)])
        said = capfdbinary.readouterr().out
        assert (code, stand.misunderstood) == (0, []), said.decode()
    assert sections.load(tmp_path / "c").antennas is not None
    assert b"2 antennas, each where table.toml says" in said
    assert said.count(b"looks at single chips") < 60


# -- shares ------------------------------------------------------------------------------------------


def test_exact_intervals_are_those_of_the_tables() -> None:
    # Clopper-Pearson, as in any table of it; the rule of three for none.
    assert interval(0, 500) == (0.0, pytest.approx(1 - 0.025 ** (1 / 500), abs=1e-6))
    assert interval(5, 100) == (pytest.approx(0.016432, abs=1e-6), pytest.approx(0.112835, abs=1e-6))
    assert interval(10, 10) == (pytest.approx(0.025 ** (1 / 10), abs=1e-6), 1.0)
    assert tolerance_factor(10) == pytest.approx(3.38, abs=0.01)
    assert tolerance_factor(20) == pytest.approx(2.75, abs=0.01)
    assert tolerance_factor(1000) == pytest.approx(2.036, abs=0.01)


@pytest.mark.parametrize("again", [0.05, 0.8])
def test_the_interval_holds_the_truth_also_where_misses_go_together(again: float) -> None:
    """A chip that was missed is missed again with chance ``again``: the same share in the long run."""
    chance, held, rng = 0.05, 0, Random(5)
    start = chance * (1 - again) / (1 - chance)
    for _ in range(100):
        missed, looks = rng.random() < chance, []
        for _ in range(600):
            missed = rng.random() < (again if missed else start)
            looks.append((int(missed), 1))
        found = rate([looks])
        held += found.low_ppm <= chance * PPM <= found.high_ppm
    assert held >= 88  # 95 % of 100, less three standard deviations


def test_a_stack_missed_as_a_whole_is_worth_a_look_each() -> None:
    together = [(20 if n % 8 == 0 else 0, 20) for n in range(80)]
    apart = [(5 if n % 2 else 0, 20) for n in range(80)]
    assert rate([together]).ppm == rate([apart]).ppm == 125_000
    assert rate([together]).worth <= 80 < rate([apart]).worth
    assert rate([[(0, 20)] * 50]).worth == 50
    assert rate([]) == Rate(hits=0, looks=0, worth=0, ppm=0, low_ppm=0, high_ppm=PPM)


# -- looks -------------------------------------------------------------------------------------------


def seen(antenna: int, ms: int, *uids: str, complete: bool = True, quiet: tuple[str, ...] = ()) -> Present | CleanEmpty:
    span = TimeSpan(ms * 1_000_000, (ms + 10) * 1_000_000)
    if not uids and complete and not quiet:
        return CleanEmpty(R, span, antenna)
    return Present(R, span, antenna, tuple(Tag(u) for u in uids), complete, quiet)


def test_only_whole_looks_count() -> None:
    looks = Looks([("reader", 1), ("reader", 2)])
    for n in range(4):
        looks.add(seen(1, 20 * n, "A"))
    looks.add(seen(1, 100, "A", complete=False))
    looks.add(seen(1, 120, "A", quiet=("B",)))
    looks.add(Corrupt(R, TimeSpan(0, 1), 1, "no reply"))
    assert looks.add(seen(7, 130, "A")) is None
    assert len(looks.at(("reader", 1))) == 4
    assert looks.useless["reader", 1] == 3
    assert looks.least() == 0
    assert looks.homes() == {"A": (("reader", 1), 1.0)}
    assert looks.sweep_ns(("reader", 1)) == 20_000_000
    still = looks.copy()
    looks.clear()
    assert (len(still.at(("reader", 1))), looks.homes()) == (4, {})


def survey_of(looks: Looks, lit: Sequence[Lit]) -> tuple[dict[str, Rate], dict[tuple[str, str], Rate]]:
    lone, crossings = lone_and_bleed(looks, lit)
    return lone, {(c.chip_at, c.read_at): c.rate for c in crossings}


def test_lone_misses_bleed_and_stacks_are_counted_chip_by_chip() -> None:
    looks = Looks([("reader", 1), ("reader", 2)])
    for n in range(100):
        looks.add(seen(1, 40 * n, *(["A"] if n % 10 else []), *(["B"] if n % 4 == 0 else [])))
        looks.add(seen(2, 40 * n + 20, "B", "G"))
    lone, bleed = survey_of(looks, [Lit("bet:1", "A", ("reader", 1)), Lit("bet:2", "B", ("reader", 2))])
    assert (lone["bet:1"].ppm, lone["bet:2"].ppm) == (100_000, 0)
    assert (bleed["bet:2", "bet:1"].ppm, bleed["bet:1", "bet:2"].ppm) == (250_000, 0)
    found, never = stack_rate(looks, ("reader", 2), ["B", "G"], 4)
    assert (found.ppm, never) == (500_000, 2)


# -- what it says ------------------------------------------------------------------------------------

SPOTS: dict[str, Spot] = {f"bet:{n}": ("reader", n) for n in range(1, 6)}
CONFIGURED = {spot: place for place, spot in SPOTS.items()}


def faults(**moved: int | None) -> tuple[Advice, ...]:
    places = {f"bet:{n}": n for n in range(1, 6)} | {name.replace("_", ":"): n for name, n in moved.items()}
    lit = [Lit(p, "U" + p, None if n is None else ("reader", n)) for p, n in places.items()]
    return mapping_faults(CONFIGURED, lit)


def test_each_wrong_mapping_has_a_message_of_its_own() -> None:
    assert faults() == ()
    (swapped,) = faults(bet_2=4, bet_4=2)
    assert "antenna 4 of reader and antenna 2 of reader are swapped" in swapped.text
    ring = faults(bet_1=2, bet_2=3, bet_3=1)
    assert len(ring) == 3
    assert (
        "a chip on seat 1's betting area lights up antenna 2 of reader, which table.toml calls 'bet:2'" in ring[0].text
    )
    (twice,) = faults(bet_5=4)
    assert "seat 4's betting area and seat 5's betting area both light up antenna 4" in twice.text
    (dead,) = faults(bet_3=None)
    assert "antenna 3 of reader is dead, unplugged or too weak" in dead.text
    assert all(a.refuses for a in (swapped, *ring, twice, dead))


def share(ppm: int, looks: int = 1000) -> Rate:
    return rate([[(1, 1) if k < ppm * looks // PPM else (0, 1) for k in Random(ppm).sample(range(looks), looks)]])


def antenna(n: int, lone: int = 30_000, stack: int = 120_000, never: int = 0, sweep_ms: int = 500) -> Antenna:
    ns = sweep_ms * 1_000_000
    return Antenna(
        spot=("reader", n),
        place=f"bet:{n}",
        lone=share(lone),
        stack=share(stack),
        never=never,
        sweep_ns=ns,
        stack_sweep_ns=ns,
    )


def advice(*antennas: Antenna, crossings: Sequence[Crossing] = ()) -> list[str]:
    return [a.text for a in shares_advice(antennas, crossings, list(SPOTS))]


def test_advice_says_what_to_turn() -> None:
    assert advice(*(antenna(n) for n in range(1, 6))) == []
    (weak,) = advice(antenna(1, 200_000, 500_000), antenna(2))
    assert "the field is too weak" in weak
    (hot,) = advice(antenna(1, 200_000, 100_000), antenna(2))
    assert "overdriven" in hot
    (deep,) = advice(antenna(1, 30_000, 500_000), antenna(2))
    assert "misses chips in a stack" in deep
    (odd,) = advice(antenna(1, 200_000), antenna(2), antenna(3))
    assert "misses far more than the others" in odd
    (silent,) = advice(antenna(1, never=2), antenna(2))
    assert "2 of the stack's chips never answered" in silent
    (slow,) = advice(antenna(1, sweep_ms=2500), antenna(2))
    assert "only every 2500 ms" in slow


def test_bleed_is_told_by_where_the_two_places_lie() -> None:
    good = [antenna(n) for n in range(1, 6)]
    (near,) = advice(*good, crossings=[Crossing("bet:1", "bet:2", share(60_000))])
    assert "lower the reader's power" in near
    (round_table,) = advice(*good, crossings=[Crossing("bet:5", "bet:1", share(60_000))])
    assert "lower the reader's power" in round_table
    (far,) = advice(*good, crossings=[Crossing("bet:1", "bet:4", share(20_000))])
    assert "do their cables run side by side" in far
    rewired = [
        *good[:3],
        Antenna(**{f: getattr(good[3], f) for f in Antenna.__struct_fields__} | {"spot": ("reader", 2)}),
    ]
    (mux,) = advice(*rewired, crossings=[Crossing("bet:1", "bet:4", share(20_000))])
    assert "Change the order of its outputs" in mux
    assert advice(*good, crossings=[Crossing("bet:1", "bet:2", share(10_000))]) == []


def test_neighbours_are_those_that_bleed_and_those_not_proven_apart() -> None:
    three = [antenna(n) for n in (1, 2, 3)]
    beside = [("bet:1", "bet:2"), ("bet:2", "bet:3")]
    clean = share(0)
    none = [Crossing(a, b, clean) for a in SPOTS for b in SPOTS if a != b]
    assert neighbours(three, none, beside) == ()
    assert neighbours(three, [], beside) == (("bet:1", "bet:2"), ("bet:2", "bet:3"))
    few = [Crossing(c.chip_at, c.read_at, share(0, looks=100)) for c in none]
    assert neighbours(three, few, beside) == (("bet:1", "bet:2"), ("bet:2", "bet:3"))
    bleeding = [*none, Crossing("bet:1", "bet:3", share(5_000))]
    assert neighbours(three, bleeding, beside) == (("bet:1", "bet:3"),)


def test_the_section_is_whole(tmp_path: Path) -> None:
    value = Antennas(
        antennas=(AntennaRead(device="r", antenna=1, place="bet:1", lone_miss_ppm=1, stack_miss_ppm=2, sweep_ns=3),)
    )
    save(tmp_path, value)
    assert sections.load(tmp_path).antennas == value
