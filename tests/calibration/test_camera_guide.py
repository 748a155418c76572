"""The guided command at the terminal: it skips what is done, tries again, ends where it is told to."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from calibration import cli, outcomes, plan
from calibration.steps import Done, Figure, Given, Option, Outcome, Picture, Step, StepError, Talk
from calibration.terminal import Terminal
from tabled.shell.cli import main


def _step(name: str, work: Callable[[Talk, Path, Given], Outcome], **more: Any) -> Step:
    def done(folder: Path) -> Done:
        return Done(state="done" if (folder / name).exists() else "open")

    def run(talk: Talk, folder: Path, given: Given) -> Outcome:
        outcome = work(talk, folder, given)
        folder.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("x")
        return outcome

    return Step(name=name, title=name.title(), about=f"About {name}.", run=run, done=done, **more)


@pytest.fixture
def two(monkeypatch: pytest.MonkeyPatch) -> None:
    def first(talk: Talk, folder: Path, given: Given) -> Outcome:
        if given["word"] == "wrong":
            raise StepError("that word is wrong: give another", code="word")
        return Outcome(
            summary=f"first with {given['word']}",
            figures=(Figure(label="a", value="1", good=False),),
            pictures=(Picture(name="p", caption="a picture", png=b"png"),),
            warnings=("look here",),
        )

    def second(talk: Talk, folder: Path, given: Given) -> Outcome:
        return Outcome(summary=f"second: {talk.ask('Which?', ('x', 'y'))}")

    option = Option(name="word", label="A word", default="plain")
    steps = (_step("first", first, options=(option,)), _step("second", second, needs=("first",)))
    for module in (plan, cli):
        monkeypatch.setattr(module, "steps", lambda: steps)


def guided(folder: Path, typed: str) -> Result:
    return CliRunner().invoke(main, ["calibrate", "--folder", str(folder)], input=typed)


def test_it_goes_through_all_steps_and_keeps_what_they_found(two: None, tmp_path: Path) -> None:
    result = guided(tmp_path, "yes\nwrong\nagain\ngood\nyes\nz\ny\n")
    assert result.exit_code == 0, result.output
    assert "that word is wrong" in result.output
    assert "first with good" in result.output
    assert "answer one of: x, y" in result.output
    assert "second: y" in result.output
    assert result.output.rstrip().splitlines()[-2:] == ["  [✓] first     first with good", "  [✓] second    second: y"]
    kept = outcomes.kept(tmp_path, "first")
    assert kept is not None
    assert (kept.summary, kept.warnings) == ("first with good", ("look here",))
    assert (tmp_path / "plots" / kept.pictures[0].file).read_bytes() == b"png"


def test_what_is_done_is_not_asked_again(two: None, tmp_path: Path) -> None:
    (tmp_path / "first").write_text("x")
    result = guided(tmp_path, "yes\nx\n")
    assert "About first" not in result.output
    assert "second: x" in result.output


def test_skip_stop_and_the_end_of_the_input_leave_everything_as_it_was(two: None, tmp_path: Path) -> None:
    result = guided(tmp_path, "skip\nstop\n")
    assert result.exit_code == 0
    assert "About second" in result.output
    assert list(tmp_path.iterdir()) == []
    result = guided(tmp_path, "yes\n")
    assert result.exit_code == 2
    assert "nothing was written" in result.output
    assert list(tmp_path.iterdir()) == []


def test_a_step_that_needs_another_says_so_and_unknown_options_are_refused(two: None, tmp_path: Path) -> None:
    first, second = plan.steps()
    with pytest.raises(StepError, match="needs 'first' first: run 'tabled calibrate first"):
        plan.perform(second, Terminal(), tmp_path, {})
    with pytest.raises(StepError, match="no option 'x'"):
        plan.perform(first, Terminal(), tmp_path, {"x": "1"})


def test_every_real_step_is_a_command_and_says_where_it_stands(tmp_path: Path) -> None:
    for step in plan.steps():
        assert step.done(tmp_path).state == "open"
        result = CliRunner().invoke(main, ["calibrate", step.name, "--help"])
        assert result.exit_code == 0, result.output
        for option in step.options:
            assert f"--{option.name}" in result.output
    assert [s.name for s in plan.steps()][:4] == ["lens", "plane", "zones", "palette"]
    listed = CliRunner().invoke(main, ["calibrate", "list", "--folder", str(tmp_path)])
    assert listed.output.count("[ ]") == len(plan.steps())


def test_a_damaged_outcome_is_as_none(tmp_path: Path) -> None:
    (tmp_path / "plots").mkdir()
    (tmp_path / "plots" / "lens.json").write_text('{"step": 3')
    assert outcomes.kept(tmp_path, "lens") is None
    with pytest.raises(ValueError, match="no name of a picture"):
        outcomes.keep(tmp_path, "lens", Outcome(summary="", pictures=(Picture(name="../x", caption="", png=b""),)))
