"""A person for tests: says nothing, answers what was prepared."""

from __future__ import annotations

from collections.abc import Sequence


class Quiet:
    """Keeps what it was told; each question takes the next prepared answer, else its default."""

    def __init__(self, *answers: str) -> None:
        self.answers = list(answers)
        self.said: list[str] = []
        self.asked: list[str] = []
        self.looked: list[bytes] = []
        self.progressed: list[tuple[int, int, str]] = []

    def say(self, text: str) -> None:
        self.said.append(text)

    def ask(self, question: str, choices: Sequence[str] = (), default: str = "") -> str:
        self.asked.append(question)
        answer = self.answers.pop(0) if self.answers else default
        assert not choices or answer in choices
        return answer

    def look(self, picture: bytes) -> None:
        self.looked.append(picture)

    def progress(self, done: int, of: int, text: str = "") -> None:
        self.progressed.append((done, of, text))

    def check(self) -> None:
        pass
