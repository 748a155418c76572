"""Checks of any text file: length, words that have no place here, reasons for exceptions, loose ends."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from tests.tidy.findings import Finding

MAX_LINES = 500
TOP_LEVEL = {"tabled", "firmware_bridge", "calibration", "hw_sim", "tests", ".ci"}
"""The rooms of the house: their names are fixed."""

_LONG_BY_NATURE = re.compile(
    r"(^|/)(LICENSE|CHANGELOG\.md|requirements(-dev)?\.lock|seeds\.txt)$|\.(svg|jsonl|json|csv)$"
)
_TEST_DATA = re.compile(r"^tests/(golden|.*/data|.*/golden)/")

# Written in pieces: this file is searched too.
_PLACES = ("wo" + "rk", "ro" + "ot", "tmp/" + "brief", "opt/" + "pypi")
_WORDS = (
    r"\bfa" + r"rms?\b",
    r"\bses" + r"sion helper",
    r"\bhelper ses" + r"sion",
    r"\bsub-?ag" + r"ent",
    r"\bClau" + r"de\b",
    r"\bAnthr" + r"opic\b",
    r"\bissues sh" + r"ow\b",
    r"\bthe CE" + r"O\b",
    r"\bChat" + r"GPT\b",
)
_FORBIDDEN = re.compile("|".join((*(rf"(?<![\w.$/~-])/{p}(?![\w-])" for p in _PLACES), *_WORDS)), re.IGNORECASE)
_HOME = re.compile(r"(?<![\w.])/(?:home|Users)/(?!user\b|USER\b|you\b)\w+")

_LOOSE_END = re.compile(r"\b(TO" + r"DO|FIX" + r"ME|XX" + r"X|HA" + r"CK)\b(?!\(#\d+\))")
_REASON = r"(?:\s*[-—#:]\s*|\s+)\w.{4,}"
_SILENCED = re.compile(r"#\s*(?:ruff:\s*)?no" + r"qa\b(?P<rest>.*)", re.IGNORECASE)
_SILENCED_WELL = re.compile(rf":\s*[A-Z]+\d+(?:,\s*[A-Z]+\d+)*{_REASON}")
_IGNORED = re.compile(r"#\s*type:\s*ig" + r"nore(?P<rest>.*)")
_IGNORED_WELL = re.compile(rf"\[[\w-]+(?:,\s*[\w-]+)*\]{_REASON}")


def length(path: str, text: str) -> Iterator[Finding]:
    """A file is read in one sitting."""
    lines = text.count("\n")
    if lines > MAX_LINES and not _LONG_BY_NATURE.search(path) and not _TEST_DATA.match(path):
        yield Finding(path, MAX_LINES + 1, f"{lines} lines; split it where its parts meet (at most {MAX_LINES})")


def words(path: str, text: str) -> Iterator[Finding]:
    """Nothing here depends on, or tells of, the place where it was written."""
    for number, line in enumerate(text.split("\n"), 1):
        for found in (*_FORBIDDEN.finditer(line), *_HOME.finditer(line)):
            yield Finding(path, number, f"{found[0]!r} names a place or thing that no other machine has: take it out")


def loose_ends(path: str, text: str) -> Iterator[Finding]:
    """What is left to do stands in an issue."""
    for number, line in enumerate(text.split("\n"), 1):
        if found := _LOOSE_END.search(line):
            yield Finding(path, number, f"{found[0]} without an issue: write {found[0]}(#12), or do it")


def reasons(path: str, text: str) -> Iterator[Finding]:
    """Whoever silences a checker says which rule, and why."""
    for number, line in enumerate(text.split("\n"), 1):
        if (found := _SILENCED.search(line)) and not _SILENCED_WELL.match(found["rest"]):
            yield Finding(
                path, number, "a silenced lint needs its code and a reason: '# no" + "qa: S608 - constants only'"
            )
        if (found := _IGNORED.search(line)) and not _IGNORED_WELL.match(found["rest"]):
            yield Finding(path, number, "an ignored type needs its code and a reason: '[attr-defined]  # no stubs yet'")


def top_level(paths: Iterable[str]) -> Iterator[Finding]:
    """The rooms at the top of the tree are the agreed ones."""
    for room in sorted({path.split("/")[0] for path in paths if "/" in path} - TOP_LEVEL):
        yield Finding(room, 1, f"no room of the house; the rooms are {', '.join(sorted(TOP_LEVEL))}")
