"""A person for the steps who is no person: each question is obeyed by the simulator's robot."""

from __future__ import annotations

from collections.abc import Sequence

from hw_sim.exercise import Stand


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
