"""``tabled judge``: formats, checks, broken lines, and the shared cases and hands."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from tabled.shell.judge import judge
from tabled.shell.judge_cases import judge_case
from tabled.shell.judge_check import differences, other_reading
from tabled.shell.judge_hands import judge_hand
from tabled.shell.profiles import load
from tests.rules.shared import find, records

CASE = {
    "id": "own-1", "profile": "swedish", "structure": "no-limit", "tags": [],
    "setup": {
        "game": "holdem", "street": "flop", "blinds": [50, 100], "pot_before_street": 300,
        "seats": [
            {"seat": "A", "stack": 4700, "line": 300, "acted": True, "status": "in"},
            {"seat": "B", "stack": 5000, "line": 0, "acted": False, "status": "in"},
            {"seat": "C", "stack": 5000, "line": 0, "acted": False, "status": "in"},
        ],
        "prior": [{"seat": "A", "act": "bet", "to": 300}], "to_act": "B", "bet_to": 300, "last_full_raise": 300,
    },
    "events": [{"seat": "B", "do": "place", "chips": [1000]}, {"seat": "B", "do": "hand_withdraws"}],
    "expected": {"seat": "B", "action": "call", "to": 300, "add": 0, "return": 700, "may_raise": ["C"]},
}  # fmt: skip

HAND = {
    "hand": "own", "variant": "NT", "structure": "no-limit", "antes": [0, 0, 0], "blinds": [50, 100, 0],
    "bring_in": 0, "min_bet": 100, "small_bet": 0, "big_bet": 0, "stacks": [1000, 1000, 1000],
    "denominations": [25, 100],
    "events": [
        {"i": 0, "kind": "post", "seat": 1, "what": "blind", "chips": {"25": 2}},
        {"i": 1, "kind": "post", "seat": 2, "what": "blind", "chips": {"100": 1}},
        {"i": 2, "kind": "push", "seat": 3, "chips": {"100": 3}, "motions": 1},
        {"i": 3, "kind": "gesture", "seat": 1, "gesture": "cards-forward"},
        {"i": 4, "kind": "gesture", "seat": 2, "gesture": "cards-forward"},
        {"i": 5, "kind": "return", "seat": 3, "chips": {"100": 2}, "amount": 200},
        {"i": 6, "kind": "collect", "pot": 250},
    ],
    "expected": [
        {"k": 3, "seat": 3, "verb": "raise", "to": 300, "add": 300, "to_call": 100, "min_to": 200, "max_to": 1000,
         "raise_open": True, "all_in": False},
        {"k": 4, "seat": 1, "verb": "fold", "to": 50, "add": 0, "to_call": 250, "min_to": 500, "max_to": 1000,
         "raise_open": True, "all_in": False},
        {"k": 5, "seat": 2, "verb": "fold", "to": 100, "add": 0, "to_call": 200, "min_to": 500, "max_to": 1000,
         "raise_open": True, "all_in": False},
    ],
    "street_pots": [250],
}  # fmt: skip


def run(tmp_path, *lines, args=()):
    file = tmp_path / "in.jsonl"
    file.write_text("\n".join(x if isinstance(x, str) else json.dumps(x) for x in lines) + "\n", "utf-8")
    return CliRunner().invoke(judge, [str(file), *args])


def test_one_json_line_for_a_case(tmp_path):
    out = run(tmp_path, CASE)
    assert out.exit_code == 0
    got = json.loads(out.stdout)
    assert got["id"] == "own-1"
    ruling = got["ruling"]
    assert (ruling["seat"], ruling["action"], ruling["to"], ruling["return"]) == ("B", "call", 300, 700)
    assert ruling["return_change"] == {"amount": 700, "out_of": 1000}
    assert ruling["cite"] == ["SE 7.2.2"]
    assert set(ruling["announce"]) == {"en", "sv", "nl"}
    assert set(ruling) >= {
        "add", "return_chips", "call_to", "min_raise_to", "max_raise_to", "may_raise", "may_not_raise", "options",
        "floor", "candidates",
    }  # fmt: skip


def test_one_json_line_for_a_hand(tmp_path):
    got = json.loads(run(tmp_path, HAND).stdout)
    assert got["hand"] == "own"
    assert got["street_pots"] == [250]
    assert [r["verb"] for r in got["rulings"]] == ["raise", "fold", "fold"]
    assert got["stacks"] == [950, 900, 900]


def test_nothing_of_a_case_but_its_facts_is_looked_at():
    plain = {k: v for k, v in CASE.items() if k in ("structure", "setup", "events")}
    law = load("swedish")
    other = {**CASE, "id": "SE-999", "tags": ["x"], "expected": {"action": "fold"}}
    assert judge_case(plain, law).ruling == judge_case(other, law).ruling
    bare = {k: v for k, v in HAND.items() if k not in ("expected", "street_pots")}
    assert judge_hand(bare, law) == judge_hand(HAND, law)


def test_check_passes_and_fails_readably(tmp_path):
    out = run(tmp_path, CASE, HAND, args=["--check"])
    assert out.exit_code == 0
    assert out.output.strip().endswith("1 of 1 cases, 1 of 1 hands")
    bad = {**CASE, "expected": {**CASE["expected"], "to": 301, "may_raise": []}}
    worse = {**HAND, "street_pots": [251], "expected": HAND["expected"][:-1]}
    out = run(tmp_path, bad, worse, args=["--check"])
    assert out.exit_code == 1
    assert "own-1: to: expected 301, ruled 300" in out.output
    assert "own-1: may_raise: C may raise too" in out.output
    assert "own: street_pots: expected [251], ruled [250]" in out.output
    assert "own: rulings: expected 2, ruled 3" in out.output


def test_an_ambiguous_case_needs_both_readings(tmp_path):
    case = {
        **CASE,
        "events": [{"seat": "B", "do": "place", "chips": [200, 200]}],
        "expected": {"seat": "B", "action": "call", "to": 300, "return": 100, "ambiguous": True, "alt": "raise to 600"},
    }
    out = run(tmp_path, case, args=["--check"])
    assert out.exit_code == 0
    assert "underraise_threshold = half | lift" in out.output
    for alt, said in (("raise to 999", "no switch"), ("who knows", "not understood")):
        out = run(tmp_path, {**case, "expected": {**case["expected"], "alt": alt}}, args=["--check"])
        assert out.exit_code == 1
        assert said in out.output
    # The profile may hold the other reading; then a switch must give the first.
    turned = {
        **case,
        "expected": {**case["expected"], "action": "raise", "to": 600, "return": 0, "alt": "call 300, 100 back"},
    }
    assert run(tmp_path, turned, args=["--check"]).exit_code == 0


def test_a_broken_line_is_named_and_hides_no_other(tmp_path):
    out = run(
        tmp_path, CASE, "{not json", "[1]", '{"id": 1}', {**CASE, "setup": {**CASE["setup"], "street": "moon"}},
        {**CASE, "events": [{"seat": "Z", "do": "tap_table"}]}, {**CASE, "events": [{"seat": "B", "do": "dance"}]},
        {**CASE, "profile": "house"}, {**CASE, "events": []}, HAND,
    )  # fmt: skip
    assert out.exit_code == 1
    assert len(out.stdout.splitlines()) == 2
    for line, text in (
        ("line 2: not JSON", ""), ("line 3: not a JSON object", ""), ("line 4: neither a case", ""),
        ("line 5: setup.street 'moon'", ""), ("line 6: events: seat 'Z'", ""), ("line 7: events: 'dance'", ""),
        ("line 8: no profile is called 'house'", ""), ("line 9: no act to rule on", ""),
    ):  # fmt: skip
        assert line in out.stderr, text


def test_a_line_without_end_is_cut_and_named(tmp_path, monkeypatch):
    monkeypatch.setattr("tabled.shell.judge.MAX_LINE", 20_000)
    out = run(tmp_path, "x" * 100_000, CASE)
    assert "line 1: not JSON" in out.stderr
    assert json.loads(out.stdout)["id"] == "own-1"


@pytest.mark.parametrize(
    ("alt", "want"),
    [
        ("call 1200, 800 back (switch)", {"action": "call", "to": 1200, "return": 800}),
        ("§7.8 to the letter: call 500, 200 back", {"action": "call", "to": 500, "return": 200}),
        ("TDA 44: the chip raises (to 600)", {"action": "raise", "to": 600}),
        ("by-reading: raise to 800, add 200", {"action": "raise", "to": 800, "add": 200}),
        ("under half = check, 25 back", {"action": "check", "return": 25}),
        ("C may only call, 1000 back", {"action": "call", "return": 1000}),
        ("older text: 40 (somewhere)", {"to": 40}),
        ("A may raise", {"free": "A"}),
        ("no opinion", None),
    ],
)
def test_other_readings_are_read(alt, want):
    assert other_reading(alt) == want


# ---- the shared files -------------------------------------------------------------------------------------------


def test_all_shared_cases_by_the_command():
    records("rules/cases.jsonl")
    out = CliRunner().invoke(judge, [str(find("rules/cases.jsonl")), "--check"])
    assert out.output.strip().splitlines()[-1] == "189 of 189 cases"
    assert out.exit_code == 0


def test_differences_notes_seats_that_the_case_does_not_name():
    expected = {"may_raise": ["C"]}
    wrong, notes = differences(expected, {"may_raise": ["C", "D"]})
    assert not wrong
    assert notes
    wrong, _ = differences({"may_raise": ["C"], "may_not_raise": ["D"]}, {"may_raise": ["C", "D"], "may_not_raise": []})
    assert len(wrong) == 2
