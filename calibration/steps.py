"""What a step of the calibration is, and what it may ask of whoever runs it.

A step is run by the terminal, by the page or by a program; it cannot tell which.  It gets the folder, its options as
texts and a `Talk`, measures, saves its section by `calibration.files.save`, and returns an `Outcome` that `guide`
keeps beside the files as ``plots/<step>.json`` and ``plots/<step>-<picture>.png``: the report is made of these.

A new step is a module with ``STEP = Step(…)`` and a line in `calibration.plan`.  It imports what is heavy (cv2, the
drivers) inside its ``run``, so that ``tabled --help`` stays quick.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Literal, Protocol

import msgspec

Given = Mapping[str, str]
"""A step's options by name, each with a value (its default if nothing was said); several files are lines."""


class StepError(Exception):
    """A step could not be done; nothing was written.  The message is one line that says what to do.

    ``code`` is a short name of what was wrong, such as "too-few-views", for tests and for the page.
    """

    def __init__(self, message: str, *, code: str = "failed") -> None:
        super().__init__(message)
        self.code = code


class Stopped(StepError):
    """The person ended the step; nothing was written."""

    def __init__(self, message: str = "stopped; nothing was written, start the step again when you are ready") -> None:
        super().__init__(message, code="stopped")


class Talk(Protocol):
    """The person before the step.  All calls are of the step's own thread.

    ``say`` tells a sentence.  ``ask`` tells one and waits for the answer: one of ``choices``, or any text where there
    are none (``default`` for an empty one); it raises `Stopped` if the person gives up.  ``look`` shows a picture (PNG
    or JPEG bytes) that the next one replaces, ``progress`` how many of how many are done.  ``check`` raises `Stopped`
    once the person has ended the step: a loop calls it at every turn.
    """

    def say(self, text: str) -> None: ...
    def ask(self, question: str, choices: Sequence[str] = (), default: str = "") -> str: ...
    def look(self, picture: bytes) -> None: ...
    def progress(self, done: int, of: int, text: str = "") -> None: ...
    def check(self) -> None: ...


class Figure(msgspec.Struct, frozen=True, kw_only=True):
    """One number of an outcome, as it is shown: ``Figure(label="RMS", value="0.21 px", good=True)``.

    ``good`` is whether it is as it should be, None where there is no saying.
    """

    label: str
    value: str
    good: bool | None = None


class Picture(msgspec.Struct, frozen=True, kw_only=True):
    """A PNG to judge the step by.  ``name`` is part of the file's name: small letters, digits and dashes."""

    name: str
    caption: str
    png: bytes


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """What a step found: one sentence, numbers, pictures, and what should be looked at although it was written."""

    summary: str
    figures: tuple[Figure, ...] = ()
    pictures: tuple[Picture, ...] = ()
    warnings: tuple[str, ...] = ()


class Done(msgspec.Struct, frozen=True, kw_only=True):
    """Where a step stands, told from the files alone.

    "done"; "open": never done; "again": what is there does not fit any more, or is damaged, as ``text`` says.
    """

    state: Literal["done", "open", "again"]
    text: str = ""


class Option(msgspec.Struct, frozen=True, kw_only=True):
    """An input of a step: ``--name`` at the terminal, a field on the page.

    ``kind`` "text" or "number" is one value, "file" the path of one, "files" several, "choice" one of ``choices``,
    "flag" is "yes" or "".  ``label`` is for people, in plain words.
    """

    name: str
    label: str
    kind: Literal["text", "number", "file", "files", "choice", "flag"] = "text"
    default: str = ""
    choices: tuple[str, ...] = ()


Run = Callable[[Talk, Path, Given], Outcome]


class Step(msgspec.Struct, frozen=True, kw_only=True):
    """One step of the calibration.

    ``run(talk, folder, given)`` measures and saves; it raises `StepError`, `CalibrationError` or `FilesError`, each
    with what to do.  ``done(folder)`` looks at the files.  ``needs`` are the steps whose files it reads.  ``about`` is
    what one needs in one's hands and does, two or three plain sentences.  ``required`` is False where the table works
    without it.
    """

    name: str
    title: str
    about: str
    run: Run
    done: Callable[[Path], Done]
    options: tuple[Option, ...] = ()
    needs: tuple[str, ...] = ()
    required: bool = True
    minutes: int = 2
    """About how long it takes, for the list."""
