"""Text for a terminal of 100 columns."""

from __future__ import annotations

import textwrap

WIDTH = 100


def wrapped(text: str, *, first: str = "", indent: int = 0) -> str:
    """``text`` in lines of at most `WIDTH`, the first behind ``first``, the others indented.  No word is cut."""
    wrapper = textwrap.TextWrapper(WIDTH, first, " " * indent, break_long_words=False, break_on_hyphens=False)
    return wrapper.fill(text)


def cut(line: str) -> str:
    """One line, shortened to `WIDTH`."""
    return line if len(line) <= WIDTH else line[: WIDTH - 1] + "…"
