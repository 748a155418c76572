"""A dealer's reaction span holds what it promises, also of few presses, and is refused where it would promise "
"too much."""

from __future__ import annotations

import math
import re
from pathlib import Path
from random import Random
from types import SimpleNamespace

import msgspec
import pytest

from calibration.dealer import _before
from calibration.files import save
from calibration.plan import perform, step
from calibration.reaction import LEAST, TooLittle, Try, span
from calibration.steps import StepError
from hw_sim.exercise import Clocks, Stand, Truth
from tabled.model.calibration import Dealer, Dealers
from tabled.sensing import sections
from tests.calibration.robot import Robot, given

MIDDLE_MS, SKEW = 450.0, 0.25


def tries(rng: Random, count: int, middle: float = MIDDLE_MS) -> list[Try]:
    times = [middle * math.exp(rng.gauss(0, SKEW)) for _ in range(count)]
    return [Try("call", "call", math.floor(ms) - 1, math.ceil(ms) + 1) for ms in times]


def share_within(low: float, high: float) -> float:
    """How many of the dealer's further presses lie in a span."""

    def below(ms: float) -> float:
        return 0.5 * (1 + math.erf(math.log(ms / MIDDLE_MS) / SKEW / math.sqrt(2)))

    return below(high) - below(low)


@pytest.mark.parametrize("count", [12, 20, 60])
def test_nineteen_spans_of_twenty_hold_nineteen_presses_of_twenty(count: int) -> None:
    rng = Random(count)
    good = 0
    for _ in range(300):
        found = span(tries(rng, count))
        good += share_within(found.min_ms, found.max_ms) >= 0.95
        assert found.min_ms <= min(found.times_ms) <= max(found.times_ms) <= found.max_ms
    assert good >= 273  # 95 % of 300, less three standard deviations


def test_more_presses_make_a_narrower_span() -> None:
    wide, narrow = (span(tries(Random(2), n)) for n in (12, 100))
    assert wide.max_ms - wide.min_ms > narrow.max_ms - narrow.min_ms


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (tries(Random(1), LEAST - 1), "too-few", "11 presses count, 12 are needed"),
        (tries(Random(1), 14) + [Try("call")] * 10, "lapses", "only 14 of 24 words were answered (10 words missed"),
        (tries(Random(1), 14) + [Try("call", "fold", 300, 302)] * 10, "lapses", "10 with another key"),
        (tries(Random(1), 14) + [Try("call", "call", 20, 22)] * 10, "lapses", "10 pressed too early"),
        ([Try("call", "call", ms, ms + 1) for ms in (150, 2900) * 8], "uneven", "150 to 2900 ms"),
    ],
)
def test_an_exercise_that_says_too_little_is_refused(words: list[Try], code: str, says: str) -> None:
    with pytest.raises(TooLittle, match=re.escape(says)) as caught:
        span(words)
    assert caught.value.code == code


def test_single_slips_are_counted_and_left_out() -> None:
    words = [*tries(Random(1), 20), Try("call"), Try("call", "fold", 400, 401), Try("call", "call", 30, 31)]
    found = span(words)
    assert (found.missed, found.wrong, found.early, len(found.times_ms)) == (1, 1, 1, 20)
    assert span(words[:20]).max_ms == found.max_ms


def test_the_exercise_on_a_simulated_panel(tmp_path: Path) -> None:
    folder, which = tmp_path / "calibration", step("dealer")
    save(folder, Dealers(dealers=(Dealer(name="Bo", reaction_min_ms=1, reaction_max_ms=2, presses=30),)))
    with Stand(tmp_path, Truth(), seats=2, clocks=Clocks(reaction_ms=250.0)) as stand:
        options = given(which, config=stand.config(), dealer="Anna", words=14, pace=500, seed=3)
        outcome = perform(which, Robot(stand), folder, options)
        true = stand.reactions_ms
    found = sections.load(folder).dealers
    assert found is not None
    anna, bo = found.dealers
    assert (anna.name, anna.presses, bo.name) == ("Anna", 14, "Bo")
    assert anna.reaction_min_ms <= min(true)
    assert anna.reaction_max_ms >= max(true)
    assert [p.name for p in outcome.pictures] == ["reaction"]
    digest = sections.load(folder).digest
    assert "Anna presses" in (folder / f"report-{digest[:12]}.html").read_text()


def test_a_dealer_has_a_name_and_a_table_a_panel(tmp_path: Path) -> None:
    which = step("dealer")
    with Stand(tmp_path, Truth(), seats=2) as stand:
        config = stand.config()
        with pytest.raises(StepError, match="give the name with"):
            perform(which, Robot(stand), tmp_path / "c", given(which, config=config))
        text = config.read_text()
        config.write_text(text[: text.index('[[device]]\nid = "panel"')])
        with pytest.raises(StepError, match="has no panel"):
            perform(which, Robot(stand), tmp_path / "c", given(which, config=config, dealer="Anna"))
    assert not (tmp_path / "c").exists()


def test_dealers_of_a_damaged_file_are_taken_from_the_one_before(tmp_path: Path) -> None:
    bo = Dealer(name="Bo", reaction_min_ms=1, reaction_max_ms=2, presses=30)
    save(tmp_path, Dealers(dealers=(bo,)))
    save(tmp_path, Dealers(dealers=(bo, msgspec.structs.replace(bo, name="Cy"))))
    (tmp_path / "dealers.json").write_text("{")
    said: list[str] = []
    talk = SimpleNamespace(say=said.append)
    assert _before(tmp_path, talk) == (bo,)  # type: ignore[arg-type]  # it only says
    assert "whoever is not in dealers.json after this does it again" in said[0]
    save(tmp_path, Dealers(dealers=(bo,)))
    assert sections.decode((tmp_path / "dealers.json.bak").read_bytes(), "dealers") == Dealers(dealers=(bo,))
    for name in ("dealers.json", "dealers.json.bak"):
        (tmp_path / name).write_text("{")
    assert _before(tmp_path, talk) == ()  # type: ignore[arg-type]  # it only says
    assert len(said) == 3
    (tmp_path / "dealers.json").unlink()
    assert _before(tmp_path, talk) == ()  # type: ignore[arg-type]  # it only says
