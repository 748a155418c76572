"""What one act came to, and sums over many."""

from __future__ import annotations

from typing import Literal

import msgspec

Verdict = Literal["right", "wrong", "unruled", "extra", "refused"]
"""``wrong``: the last final ruling is none of the right ones.  ``unruled``: no final ruling came.  ``extra``: a final
ruling that no act called for.  ``refused``: the hand could not go on (not begun, not swept)."""


class Result(msgspec.Struct, frozen=True, kw_only=True):
    """One act.  ``where`` is SEED:INDEX, the table that reproduces it; times in ms of virtual time.

    ``decided``: a wrong ruling is wrong in what was decided, not only in what is owed, goes back or who may raise.
    ``corrected``: a final ruling was wrong and a later one put it right.  ``called_string``: it was one motion and was
    ruled as two.  ``string``: it was two motions and the ruling depends on that; ``missed``: and was ruled as one.
    ``in_span``: the true first touch (or word) lies in the stated span.  ``to_provisional``: from the first touch.
    ``to_final``: from the hand's leaving, None where a question was open or nothing moved.
    """

    where: str
    act: int
    style: str
    verdict: Verdict
    decided: bool = False
    corrected: bool = False
    called_string: bool = False
    string: bool = False
    missed: bool = False
    questions: tuple[str, ...] = ()
    idle_questions: int = 0
    in_span: bool | None = None
    to_provisional: float | None = None
    to_final: float | None = None
    note: str = ""


class TableResult(msgspec.Struct, frozen=True, kw_only=True):
    """One table's acts, with what else was to be seen there."""

    index: int
    acts: tuple[Result, ...]
    alerts: dict[str, int]
    sweep_ms: float
    favoured_ms: float
    entries: int
    virtual_s: float
    misses: str
