"""Runs one step at a time in a thread of its own, for the page: what it says becomes events, what it asks is answered.

The page may be closed and opened again meanwhile: events are kept (the newest, a bounded number) and numbered.
"""

from __future__ import annotations

import logging
import threading
from collections import deque
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from calibration.plan import PROBLEMS, perform, step
from calibration.steps import StepError, Stopped

MAX_EVENTS = 400
MAX_TEXT = 2_000
ANSWER_S = 1.0
"""How often a step that waits for an answer looks whether it was stopped."""

_log = logging.getLogger(__name__)


class Busy(Exception):
    """A step is running already; the message says which."""


class Runner:
    """The steps of one folder.  `start`, `answer`, `stop` and `events` may be called from any thread."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.running = ""
        self.picture = b""
        self.question: dict[str, Any] | None = None
        self._events: deque[dict[str, Any]] = deque(maxlen=MAX_EVENTS)
        self._number = 0
        self._changed = threading.Condition()
        self._answer: str | None = None
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self, name: str, given: Mapping[str, str]) -> None:
        """Begin a step; raises `Busy`, and `StepError` for a name that is none."""
        chosen = step(name)
        with self._changed:
            if self.running:
                raise Busy(f"the step {self.running!r} is running: wait for it, or stop it")
            self.running = name
            self._stop.clear()
            self._events.clear()
            self.question, self._answer, self.picture = None, None, b""
        self._thread = threading.Thread(
            target=self._work, args=(chosen.name, dict(given)), name=f"step-{name}", daemon=True
        )
        self._thread.start()

    def answer(self, number: int, text: str) -> bool:
        """Answer the question of that number; False if it is not the one that waits."""
        with self._changed:
            if self.question is None or self.question["n"] != number:
                return False
            choices = self.question["choices"]
            if choices and text not in choices:
                return False
            self._answer = text
            self._changed.notify_all()
            return True

    def stop(self) -> None:
        """Ask the step to end; it does so where it next looks."""
        self._stop.set()
        with self._changed:
            self._changed.notify_all()

    def events(self, after: int) -> list[dict[str, Any]]:
        """Events with a number over ``after``."""
        with self._changed:
            return [event for event in self._events if event["n"] > after]

    @property
    def last(self) -> int:
        """Number of the newest event."""
        return self._number

    def join(self, wait_s: float) -> bool:
        """Wait for the running step; True if none runs any more."""
        thread = self._thread
        if thread is not None:
            thread.join(wait_s)
        return thread is None or not thread.is_alive()

    # -- the step's side: Talk ----------------------------------------------------------------------

    def say(self, text: str) -> None:
        """A sentence."""
        self._tell(kind="say", text=text)

    def ask(self, question: str, choices: Sequence[str] = (), default: str = "") -> str:
        """A question; waits for its answer or `Stopped`."""
        with self._changed:  # told and open in one: an answer may come at once
            number = self._tell(kind="ask", text=question, choices=list(choices), default=default)
            self.question = {"n": number, "text": question, "choices": list(choices), "default": default}
            self._answer = None
            try:
                while self._answer is None:
                    self._changed.wait(ANSWER_S)
                    if self._stop.is_set():
                        raise Stopped
                return self._answer or default
            finally:
                self.question = None

    def look(self, picture: bytes) -> None:
        """A picture; the page fetches the newest."""
        self.picture = picture
        self._tell(kind="look")

    def progress(self, done: int, of: int, text: str = "") -> None:
        """How far."""
        self._tell(kind="progress", done=done, of=of, text=text)

    def check(self) -> None:
        """Raises `Stopped` once somebody pressed stop."""
        if self._stop.is_set():
            raise Stopped

    # -- inside --------------------------------------------------------------------------------------

    def _tell(self, *, kind: str, text: str = "", **more: Any) -> int:
        with self._changed:
            if kind in ("look", "progress") and self._events and self._events[-1]["kind"] == kind:
                self._events.pop()  # a newer one says all that it said
            self._number += 1
            self._events.append({"n": self._number, "kind": kind, "text": text[:MAX_TEXT], **more})
            self._changed.notify_all()
            return self._number

    def _work(self, name: str, given: dict[str, str]) -> None:
        try:
            outcome = perform(step(name), self, self.folder, given)
            ended: dict[str, Any] = {"kind": "done", "text": outcome.summary}
        except PROBLEMS as problem:
            code = problem.code if isinstance(problem, StepError) else "file"
            ended = {"kind": "error", "text": str(problem), "code": code}
        except Exception as fault:  # a fault of ours must not leave the page waiting for ever
            _log.exception("the step %s broke", name)
            said = f"{type(fault).__name__}: {fault}"
            ended = {
                "kind": "error",
                "text": f"a fault of the program ({said[:300]}); please report it with the lines in the terminal",
                "code": "fault",
            }
        with self._changed:
            self.running = ""
            self._tell(**ended)  # before another step can begin
