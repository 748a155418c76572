"""A person for the steps who is no person: each question is obeyed by the simulator's robot."""

from __future__ import annotations

from collections.abc import Sequence

from calibration.steps import Step
from hw_sim.exercise import Stand
from tabled.model.calibration import Point, Zone, Zones


class Robot:
    """A `calibration.steps.Talk`.  ``hooks`` are called before a question is obeyed, by a part of its text."""

    def __init__(self, stand: Stand) -> None:
        self.stand = stand
        self.said: list[str] = []
        self.asked: list[str] = []

    def say(self, text: str) -> None:
        self.said.append(text)
        if text.startswith(">>>"):
            assert self.stand.obey(text)

    def ask(self, question: str, choices: Sequence[str] = (), default: str = "") -> str:
        self.asked.append(question)
        assert self.stand.obey(question), f"the robot does not understand: {question}"
        return default or "done"

    def look(self, picture: bytes) -> None:
        assert picture

    def progress(self, done: int, of: int, text: str = "") -> None:
        assert 0 <= done <= of or text

    def check(self) -> None:
        return


def zones(seats: int) -> Zones:
    """Betting zones of 240 by 160 mm side by side along the x axis, the middle of seat n's at (300 n, 0)."""
    made = []
    for seat in range(1, seats + 1):
        left, right = (300 * seat - 120) * 1000, (300 * seat + 120) * 1000
        outline = (Point(left, -80_000), Point(right, -80_000), Point(right, 80_000), Point(left, 80_000))
        made.append(Zone(kind="bet", seat=str(seat), outline=outline, line=outline[:2]))
    return Zones(zones=tuple(made), dealer=Point(0, 900_000))


def given(step: Step, **options: object) -> dict[str, str]:
    """A step's options: its own defaults, and these."""
    return {option.name: option.default for option in step.options} | {k: str(v) for k, v in options.items()}
