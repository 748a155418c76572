"""``tabled judge FILE.jsonl``: the law alone, on written cases and on played hands, told apart by their keys."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import click

from tabled.outlets.wording import LANGUAGES
from tabled.rules.errors import IllegalAct, SetupError
from tabled.rules.profile import Profile, ProfileError
from tabled.shell.judge_cases import CaseError, is_case, judge_case, ruling_json
from tabled.shell.judge_check import check_ambiguous, differences
from tabled.shell.judge_cites import paragraphs
from tabled.shell.judge_hands import HandError, hand_differences, is_hand, judge_hand, told_hand
from tabled.shell.judge_records import Case, RecordError, unread
from tabled.shell.judge_say import paragraph
from tabled.shell.profiles import load

MAX_LINE = 4 << 20
MAX_SAID = 10  # lines that could not be ruled, said one by one; the rest is counted
_DEFAULT = "tda-2024"
_BAD = (RecordError, SetupError, ProfileError, IllegalAct, ValueError)


class _Tally:
    """Counts, and the readable lines of a check."""

    def __init__(self) -> None:
        self.cases = self.cases_right = self.hands = self.hands_right = self.unread = 0
        self.wider: list[str] = []  # cases whose may_raise leaves out a seat that may raise
        self.uncited: list[str] = []  # cases that name a paragraph in no law that we know
        self.other_law: list[str] = []  # cases ruled by another law than their own, so that no paragraph can match
        self.sentences = 0  # second readings, known only by a sentence

    @property
    def ruled(self) -> int:
        return self.cases + self.hands

    @property
    def failed(self) -> bool:
        return bool(self.unread) or self.cases != self.cases_right or self.hands != self.hands_right

    def summary(self) -> str:
        parts = []
        if self.cases:
            wider = f" (in {len(self.wider)} the law lets more seats raise: {', '.join(self.wider)})"
            parts.append(f"{self.cases_right} of {self.cases} cases" + (wider if self.wider else ""))
            parts += self._not_compared()
        if self.hands:
            parts.append(f"{self.hands_right} of {self.hands} hands")
        if self.unread:
            parts.append(f"{self.unread} lines not ruled")
        return "; ".join(parts) or "nothing to judge"

    def _not_compared(self) -> list[str]:
        """What the figure does not stand for."""
        parts = ["announce is a guide and is not compared"]
        if self.uncited:
            parts.append(f"cite only in part in {len(self.uncited)}: {', '.join(self.uncited)}")
        if self.other_law:
            parts.append(f"cite not at all in {len(self.other_law)} ruled by another law than their own")
        if self.sentences:
            parts.append(f"{self.sentences} second readings by what their sentence says")
        return parts


@click.command()
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--check", is_flag=True, help="Compare with what each line expects; print differences; exit 1 on any.")
@click.option("--profile", "profile_name", help="Rule everything by this profile (a name or a .toml file).")
@click.option("--say/--json", "say", default=None, help="Words or JSON; words on a terminal, JSON when piped.")
@click.option("--language", type=click.Choice(LANGUAGES), default="en", show_default=True, help="Of the words.")
def judge(file: Path, check: bool, profile_name: str | None, say: bool | None, language: str) -> None:
    """Rule the cases and hands of FILE, one JSON object a line (the format: tabled/rules/CASES.md).

    Each is said in a paragraph, or printed as one line of JSON (--json, or when the output is piped).
    """
    profiles: dict[str, Profile] = {}
    tally = _Tally()
    if say is None:
        say = sys.stdout.isatty()
    out = language if say else ""
    for number, line in _lines(file):
        try:
            record = _record(line)
            name = profile_name or str(record.get("profile") or _DEFAULT)
            if name not in profiles:
                profiles[name] = load(name)
            _one(record, profiles[name], check, tally, out)
        except _BAD as e:
            tally.unread += 1
            if tally.unread <= MAX_SAID:
                click.echo(f"line {number}: {e}", err=True)
    if tally.unread > MAX_SAID:
        click.echo(f"and {tally.unread - MAX_SAID} more lines that could not be ruled", err=True)
    if tally.unread and not tally.ruled:
        click.echo(f"{file}: nothing in it is a case or a hand; give one JSON object a line", err=True)
    if check:
        click.echo(tally.summary())
    if (check and (tally.failed or not tally.ruled)) or tally.unread:
        sys.exit(1)


def _lines(file: Path) -> Iterator[tuple[int, bytes]]:
    """Numbered lines that are not blank.  A line over the limit is cut, and then fails to parse by its number."""
    with file.open("rb") as f:
        number = 0
        while True:
            line = f.readline(MAX_LINE + 1)
            if not line:
                return
            number += 1
            while len(line) > MAX_LINE and not line.endswith(b"\n"):
                rest = f.readline(MAX_LINE + 1)
                if not rest:
                    break
                line = b'"too long' + (b"\n" if rest.endswith(b"\n") else b"x" * MAX_LINE)
            if line.strip():
                yield number, line


def _record(line: bytes) -> dict[str, Any]:
    try:
        record = json.loads(line)
    except (json.JSONDecodeError, UnicodeDecodeError, RecursionError) as e:
        raise CaseError(f"not JSON: {e}") from None
    if not isinstance(record, dict):
        raise CaseError("not a JSON object")
    return record


def _one(record: dict[str, Any], profile: Profile, check: bool, tally: _Tally, out: str) -> None:
    """Rule one record; ``out`` is the language to say it in, empty for JSON."""
    if is_case(record):
        _case(record, profile, check, tally, out)
    elif is_hand(record):
        _hand(record, profile, check, tally, out)
    else:
        raise CaseError("neither a case (setup, events) nor a hand (hand, stacks, events)")


def _case(record: dict[str, Any], profile: Profile, check: bool, tally: _Tally, out: str) -> None:
    def rule(by: Profile) -> dict[str, Any]:
        return ruling_json(judge_case(record, by).ruling, by)

    label = str(record.get("id") or "case")
    strange = unread(record, Case)
    if out and not check:
        said = paragraph(f"{label} ({profile.name})", judge_case(record, profile).ruling, out)
        tally.cases += 1
        click.echo(said + (f" (not read: {', '.join(strange)})" if strange else "") + "\n")
        return
    got = rule(profile)
    tally.cases += 1
    if not check:
        line = {"id": record.get("id"), "ruling": got, **({"not_read": sorted(strange)} if strange else {})}
        click.echo(json.dumps(line, ensure_ascii=False))
        return
    expected = record.get("expected")
    if not isinstance(expected, dict):
        raise CaseError("no expected ruling to check against")
    try:
        expected = _own_law(expected, record, profile, tally)
        wrong, notes = _compare(expected, got, profile, rule, record["setup"])
        tally.sentences += bool(expected.get("ambiguous"))
    except (TypeError, KeyError, AttributeError) as e:
        raise CaseError(f"the expected ruling is not readable: {e}") from None
    tally.cases_right += not wrong
    if not wrong and any(n.startswith("may_raise") for n in notes):
        tally.wider.append(str(record.get("id")))
    _report(label, wrong, [*notes, *(f"{place} is not read" for place in strange)])


def _own_law(expected: dict[str, Any], record: dict[str, Any], profile: Profile, tally: _Tally) -> dict[str, Any]:
    """The expectation without its paragraphs, if it is ruled by another law; counts what cannot be compared."""
    label = str(record.get("id"))
    if record.get("profile", profile.name) != profile.name:
        tally.other_law.append(label)
        return {k: v for k, v in expected.items() if k != "cite"}
    if "cite" in expected and paragraphs(str(expected["cite"]))[1]:
        tally.uncited.append(label)
    return expected


def _compare(
    expected: dict[str, Any],
    got: dict[str, Any],
    profile: Profile,
    rule: Callable[[Profile], dict[str, Any]],
    setup: dict[str, Any],
) -> tuple[list[str], list[str]]:
    """Differences and notes, for a case with one reading or with two."""
    if expected.get("ambiguous"):
        return check_ambiguous(expected, got, profile, rule, setup)
    return differences(expected, got, setup)


def _hand(record: dict[str, Any], profile: Profile, check: bool, tally: _Tally, out: str) -> None:
    if out and not check:
        for k, ruling in told_hand(record, profile):
            click.echo(paragraph(f"{record['hand']} act {k} ({profile.name})", ruling, out) + "\n")
        tally.hands += 1
        return
    got = judge_hand(record, profile)
    tally.hands += 1
    if not check:
        click.echo(json.dumps(got, ensure_ascii=False))
        return
    if not isinstance(record.get("expected"), list):
        raise HandError("no expected rulings to check against")
    try:
        wrong = hand_differences(record, got)
    except (TypeError, KeyError) as e:
        raise HandError(f"the expected rulings are not readable: {e}") from None
    tally.hands_right += not wrong
    _report(str(record["hand"]), wrong, [])


def _report(label: str, wrong: list[str], notes: list[str]) -> None:
    for text in wrong:
        click.echo(f"{label}: {text}")
    for text in notes:
        click.echo(f"{label}: note: {text}")


if __name__ == "__main__":
    judge()
