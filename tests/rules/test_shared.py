"""The shared cases, hands and bug rows, each by itself and quickly; the command's own check is tested elsewhere."""

from __future__ import annotations

import re

import pytest

from tabled.shell.judge_cases import judge_case, ruling_json
from tabled.shell.judge_check import differences
from tabled.shell.judge_hands import hand_differences, judge_hand
from tabled.shell.profiles import load
from tests.rules import test_bugs
from tests.rules.shared import ROOT, records

LAWS = {}


def law(name: str):
    return LAWS.setdefault(name, load(name))


def test_every_case_is_ruled_as_expected():
    wrong = {}
    for case in records("rules/cases.jsonl"):
        by = law(case["profile"])
        found, _ = differences(case["expected"], ruling_json(judge_case(case, by).ruling, by), case["setup"])
        if found:
            wrong[case["id"]] = found
    assert not wrong


def test_cases_cite_what_they_should():
    """Every paragraph number of an expected citation stands in ours."""
    missing = []
    for case in records("rules/cases.jsonl"):
        law = load(case["profile"])
        ours = " ".join(ruling_json(judge_case(case, law).ruling, law)["cite"])
        want = re.findall(r"§(\d+(?:\.\d+)+)", case["expected"].get("cite", ""))
        if want and not any(re.search(rf"(?<![\d.]){re.escape(w)}(?!\d)", ours) for w in want):
            missing.append((case["id"], want, ours))
    assert not missing


@pytest.mark.parametrize("index", range(46))
def test_shared_hand(index):
    hands = records("hands/hands.jsonl")
    if index >= len(hands):
        pytest.skip(f"only {len(hands)} hands in {ROOT}")
    law = load("tda-2024")
    assert hand_differences(hands[index], judge_hand(hands[index], law)) == []


def test_every_row_of_the_bug_list_has_its_test():
    mine = {part for name in dir(test_bugs) if name.startswith("test_") for part in name.split("_")}
    rows = {row["id"].lower() for row in records("rules/betting-bugs.jsonl")}
    assert not rows - mine
