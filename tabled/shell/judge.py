"""``tabled judge FILE.jsonl``: the law alone, on written cases and on played hands, told apart by their keys."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import click

from tabled.rules.errors import IllegalAct, SetupError
from tabled.rules.profile import Profile, ProfileError
from tabled.shell.judge_cases import CaseError, is_case, judge_case, ruling_json
from tabled.shell.judge_check import check_ambiguous, differences
from tabled.shell.judge_hands import HandError, hand_differences, is_hand, judge_hand
from tabled.shell.judge_records import RecordError
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
        if self.hands:
            parts.append(f"{self.hands_right} of {self.hands} hands")
        if self.unread:
            parts.append(f"{self.unread} lines not ruled")
        return ", ".join(parts) or "nothing to judge"


@click.command()
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--check", is_flag=True, help="Compare with what each line expects; print differences; exit 1 on any.")
@click.option("--profile", "profile_name", help="Rule everything by this profile (a name or a .toml file).")
def judge(file: Path, check: bool, profile_name: str | None) -> None:
    """Rule the cases and hands of FILE (one JSON object a line); print one JSON line for each."""
    profiles: dict[str, Profile] = {}
    tally = _Tally()
    for number, line in _lines(file):
        try:
            record = _record(line)
            name = profile_name or str(record.get("profile") or _DEFAULT)
            if name not in profiles:
                profiles[name] = load(name)
            _one(record, profiles[name], check, tally)
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
    if (check and tally.failed) or tally.unread:
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


def _one(record: dict[str, Any], profile: Profile, check: bool, tally: _Tally) -> None:
    if is_case(record):
        _case(record, profile, check, tally)
    elif is_hand(record):
        _hand(record, profile, check, tally)
    else:
        raise CaseError("neither a case (setup, events) nor a hand (hand, stacks, events)")


def _case(record: dict[str, Any], profile: Profile, check: bool, tally: _Tally) -> None:
    def rule(by: Profile) -> dict[str, Any]:
        return ruling_json(judge_case(record, by).ruling, by)

    got = rule(profile)
    tally.cases += 1
    if not check:
        click.echo(json.dumps({"id": record.get("id"), "ruling": got}, ensure_ascii=False))
        return
    expected = record.get("expected")
    if not isinstance(expected, dict):
        raise CaseError("no expected ruling to check against")
    try:
        wrong, notes = _compare(expected, got, profile, rule, record["setup"])
    except (TypeError, KeyError, AttributeError) as e:
        raise CaseError(f"the expected ruling is not readable: {e}") from None
    tally.cases_right += not wrong
    if not wrong and any(n.startswith("may_raise") for n in notes):
        tally.wider.append(str(record.get("id")))
    _report(str(record.get("id")), wrong, notes)


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


def _hand(record: dict[str, Any], profile: Profile, check: bool, tally: _Tally) -> None:
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
