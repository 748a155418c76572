"""What is judged once is not judged again, and never where anything has changed."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tabled.core import judging
from tabled.core.entries import AnyInput
from tabled.core.memo import MAX_CASES, MAX_READINGS, Case, Judged, Memo, Reading
from tabled.core.state import Line, TableState
from tabled.core.table import step
from tabled.fusion.attempt import Attempt
from tabled.fusion.settings import FusionSettings
from tabled.model.outcome import AbandonHand, AnyOutcome, Overrule, RulingIssued, Undo
from tabled.rules.hand import Hand
from tabled.rules.settle import Judgement
from tabled.shell.profiles import load
from tests.core.driver import Bench

Told = list[tuple[int, AnyOutcome]]
LAWS = ("swedish", "tda-2024", "dutch-full-bet", "wsop-2026")
KEYS = ("fold", "check", "raise", "call", "key_a", "key_b", "all_in", "next_street", "undo", "hand_withdraws", "number")


def told(entries: list[AnyInput], *, keep: Callable[[Memo], Memo] = lambda memo: memo) -> tuple[Told, TableState]:
    """All that the entries make, with ``keep`` between any two of them."""
    state, position, made = TableState(), 0, []
    for entry in entries:
        position += 1
        state, outcomes = step(state, position, entry)
        for outcome in outcomes:
            position += 1
            made.append((position, outcome))
        state = copy.copy(state)
        state.memo = keep(state.memo)
    return made, state


def play(bench: Bench, moves: list[tuple[str, int]]) -> None:
    """Anything that can come between a case and the next look at it."""
    bench.deal()
    for n, (what, k) in enumerate(moves):
        seat = bench.seats[k % len(bench.seats)]
        if what == "put":
            bench.put(seat, (25, 100, 500, 1000)[k % 4])
        elif what == "lift":
            bench.lift(seat, bench.lines[seat][: 1 + k % 3])
        elif what == "trip":
            bench.trip(seat, *((100,) * (1 + k % 3)), retreat_mm=10 * (k % 6), pause_ms=50 * k)
        elif what == "wait":
            bench.wait(100 + 150 * k)
        elif what == "law":
            config = msgspec.structs.replace(
                bench.config, profile=load(LAWS[k % 4]), fusion=FusionSettings(reaction_max_ms=900 + 100 * k)
            )
            bench.restart(config)
            bench.state_bounds()
        elif what == "floor":
            ruled = [p for p, o in bench.outcomes if isinstance(o, RulingIssued)]
            act = Overrule(request=f"o{n}", who="floor", ruling=ruled[-1] if ruled else 1, action="call", reason="")
            bench.order((act, Undo(request=f"u{n}", who="floor"), AbandonHand(request=f"a{n}", who="floor"))[k % 3])
            if k % 3 == 2:
                bench.start("h1", small=25 * (1 + k % 3), big=100 + 50 * (k % 2))  # the same name, another hand
                bench.wait(800)
        else:
            bench.press(KEYS[k % len(KEYS)], (0, 300, 600)[k % 3], said_first=k % 5 == 0)


moves = st.lists(
    st.tuples(
        st.sampled_from(["put", "put", "trip", "lift", "wait", "wait", "press", "press", "press", "floor", "law"]),
        st.integers(0, 12),
    ),
    max_size=30,
)


@settings(max_examples=80, deadline=None)
@given(moves, st.booleans(), st.sampled_from(LAWS))
def test_the_same_is_said_with_and_without_a_memo(kinds: list[tuple[str, int]], camera: bool, law: str) -> None:
    bench = Bench(profile=law, camera=camera)
    play(bench, kinds)
    without, state = told(bench.entries, keep=lambda _: Memo())
    assert without == bench.outcomes
    assert state == bench.state
    assert len(bench.state.memo) <= MAX_CASES


@settings(max_examples=40, deadline=None)
@given(moves, st.integers(1, 9))
def test_a_memo_may_be_forgotten_at_any_time(kinds: list[tuple[str, int]], every: int) -> None:
    bench = Bench(camera=True)
    play(bench, kinds)
    count = 0

    def now_and_then(memo: Memo) -> Memo:
        nonlocal count
        count += 1
        return memo if count % every else Memo()

    assert told(bench.entries, keep=now_and_then)[0] == bench.outcomes


def judged_of(monkeypatch: pytest.MonkeyPatch) -> list[Case]:
    """Every case that the law is asked about from here on."""
    asked: list[Case] = []
    real = judging._judge

    def counted(case: Case, reading: Reading) -> Judgement:
        asked.append(case)
        return real(case, reading)

    monkeypatch.setattr(judging, "_judge", counted)
    return asked


def test_looks_that_show_nothing_new_ask_the_law_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    bench = Bench()
    bench.deal()
    bench.put("3", 100, 100)
    bench.wait(400)
    asked = judged_of(monkeypatch)
    bench.wait(300)
    assert bench.state.standing is not None
    assert not bench.state.standing.final
    assert not asked
    bench.put("3", 25)
    bench.wait(100)
    assert asked


def a_case() -> Case:
    bench = Bench()
    bench.deal()
    bench.put("3", 1000)
    bench.wait(200)
    state = bench.state
    assert state.hand is not None
    assert state.hand_profile is not None
    return Case(state.attempts["3"], state.hand, Line(), state.hand_profile, FusionSettings())


ONE = a_case()
PARTS = ("attempt", "hand", "line", "profile", "fusion")


def with_stack(hand: Hand) -> Hand:
    other = hand.copy()
    other.stack[2] += 1
    return other


def dealt_again(hand: Hand) -> Hand:
    """The same numbers at another table of the same name: what is fixed in a hand may differ."""
    other = hand.copy()
    other.table = copy.copy(hand.table)
    return other


@pytest.mark.parametrize(
    "changed",
    [
        {"attempt": lambda a: msgspec.structs.replace(a, faced=a.faced + 1)},
        {"attempt": lambda a: msgspec.structs.replace(a, arrivals=(*a.arrivals, a.arrivals[0]))},
        {"hand": with_stack},
        {"hand": dealt_again},
        {"line": lambda line: Line(settled={"u": 25})},
        {"line": lambda line: Line(back=25)},
        {"profile": lambda p: load("tda-2024")},
        {"fusion": lambda f: FusionSettings(one_motion_ms=501)},
    ],
)
def test_a_case_with_anything_changed_is_another(changed: dict[str, Callable[[Any], Any]]) -> None:
    values = {n: getattr(ONE, n) for n in PARTS}
    assert Case(**{n: v.copy() if n == "hand" else copy.copy(v) for n, v in values.items()}) == ONE
    other = Case(**{**values, **{name: change(values[name]) for name, change in changed.items()}})
    assert other != ONE
    assert Memo((Judged(ONE, ()),)).find(other) is None


def test_a_hand_that_is_moved_on_in_place_is_another_case() -> None:
    case = a_case()
    memo = Memo((Judged(case, ()),))
    assert memo.find(Case(case.attempt, case.hand, case.line, case.profile, case.fusion)) is not None
    case.hand.fold()
    assert memo.find(Case(case.attempt, case.hand, case.line, case.profile, case.fusion)) is None


def test_every_field_of_a_case_is_compared() -> None:
    """A field that is added later must be, too."""
    assert set(Case.__slots__) == {*PARTS, "_at"}


def test_a_memo_is_bounded_and_keeps_the_newest() -> None:
    judgement = judging._judge(ONE, {})
    known = Judged(ONE, ())
    for n in range(MAX_READINGS + 5):
        known = known.with_judgement({"one_motion": bool(n % 2), "late_chips": bool(n)}, judgement)
    assert len(known.under) == MAX_READINGS
    memo = Memo()
    cases = [Case(Attempt(str(n)), ONE.hand, ONE.line, ONE.profile, ONE.fusion) for n in range(MAX_CASES + 3)]
    for case in cases:
        memo = memo.with_case(Judged(case, ()))
    assert len(memo) == MAX_CASES
    assert memo.find(cases[-1]) is not None
    assert memo.find(cases[0]) is None


def test_a_memo_that_overlooked_a_change_would_be_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """The test of the tests above: a case that does not compare one of its fields is not silent."""
    bench = Bench(stacks=(5000, 200, 5000))
    bench.deal()
    bench.put("1", 25, 25)
    bench.wait(2500)  # held, for it is out of turn
    bench.press("fold")
    bench.wait(3000)  # now its turn has come
    bench.put("2", 100, 25)  # 100 left by the record: the dealer is asked
    bench.wait(3000)
    bench.lift("2", bench.lines["2"][:1])  # the big blind was in its hands again
    bench.wait(2500)
    right, _ = told(bench.entries, keep=lambda _: Memo())
    assert bench.outcomes == right
    for blind_to in ("attempt", "line"):  # a hand that differs: see above
        looks_at = [f for f in ("attempt", "line", "_at") if f != blind_to]

        def blind(self: Case, other: Case, looks_at: list[str] = looks_at) -> bool:
            return all(getattr(self, f) == getattr(other, f) for f in looks_at)

        with monkeypatch.context() as planted:
            planted.setattr(Case, "__eq__", blind)
            assert told(bench.entries)[0] != right, blind_to
