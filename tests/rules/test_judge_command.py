"""``tabled judge``: formats, checks, broken lines, and the shared cases and hands."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import get_args

import pytest
from click.testing import CliRunner

import tabled
from tabled.model.acts import AnyAct, Word
from tabled.outlets.wording import catalogue
from tabled.shell.judge import judge
from tabled.shell.judge_cases import judge_case
from tabled.shell.judge_check import differences, other_reading
from tabled.shell.judge_hands import hand_differences, judge_hand
from tabled.shell.judge_records import Case, CaseEvent, CaseLimits, CasePrior, CaseSeat, CaseSetup, HandRecord
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
    "expected": {
        "seat": "B", "action": "call", "to": 300, "add": 0, "return": 700, "may_raise": ["C"],
        "return_change": {"amount": 700, "out_of": 1000},
    },
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
    assert out.output.strip().endswith("1 of 1 cases; announce is a guide and is not compared; 1 of 1 hands")
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
        "expected": {
            "seat": "B",
            "action": "call",
            "to": 300,
            "return": 100,
            "ambiguous": True,
            "alt": "raise to 600",
            "return_change": {"amount": 100, "out_of": 200},
        },
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
        "expected": {
            "seat": "B",
            "action": "raise",
            "to": 600,
            "add": 200,
            "ambiguous": True,
            "alt": "call 300, 100 back",
            "floor": True,
        },
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
    """In SE-072 and TD-053 the files leave out a seat that, by their own numbers, faces a whole raise."""
    records("rules/cases.jsonl")
    out = CliRunner().invoke(judge, [str(find("rules/cases.jsonl")), "--check"])
    last = out.output.strip().splitlines()[-1]
    assert last == (
        "189 of 189 cases (in 2 the law lets more seats raise: SE-072, TD-053); announce is a guide and is not "
        "compared; cite only in part in 3: SE-047, SE-092, TD-097; 23 second readings by what their sentence says"
    )
    assert out.exit_code == 0


def test_no_list_of_seats_that_may_raise_fits_all_shared_cases():
    """Why ``may_raise`` follows the law: two cases leave out what two others, in the same position, list."""
    cases = {c["id"]: c for c in records("rules/cases.jsonl")}
    for leaves_out, seat, lists, same in (("SE-072", "D", "TD-062", "A"), ("TD-053", "A", "TD-050", "A")):
        short, long = cases[leaves_out], cases[lists]
        for case, who, there in ((short, seat, False), (long, same, True)):
            want = case["expected"]
            (line,) = (s["line"] for s in case["setup"]["seats"] if s["seat"] == who and s["acted"])
            assert want["call_to"] - line >= want["min_raise_to"] - want["call_to"]
            assert (who in want["may_raise"]) is there
            got = judge_case(case, load(case["profile"])).ruling
            assert who in got.may_raise


# ---- the checker is no kinder than a stranger's -----------------------------------------------------------------

SETUP = {
    "seats": [
        {"seat": "A", "line": 100, "acted": True}, {"seat": "B", "line": 400, "acted": True},
        {"seat": "C", "line": 0}, {"seat": "D", "line": 0},
    ]
}  # fmt: skip
CALL = {"action": "call", "call_to": 400, "min_raise_to": 700, "may_raise": ["D"]}
GOT = {"action": "call", "call_to": 400, "min_raise_to": 700, "may_raise": ["D", "A"], "may_not_raise": ["B"]}


def test_a_seat_that_the_case_leaves_out_is_a_note_if_its_own_numbers_let_it_raise():
    wrong, notes = differences(CALL, GOT, SETUP)
    assert (wrong, len(notes)) == ([], 1)


@pytest.mark.parametrize(
    ("expected", "setup"),
    [
        ({**CALL, "may_not_raise": ["B"]}, SETUP),  # then the lists are whole
        ({**CALL, "min_raise_to": 701}, SETUP),  # 300 more is no whole raise of 301
        ({**CALL, "may_raise": []}, SETUP),
        ({**CALL, "action": "raise"}, SETUP),  # a raise opens for all, and the files list them all
        ({k: v for k, v in CALL.items() if k != "min_raise_to"}, SETUP),
        (CALL, {"seats": [{"seat": "A", "line": 100}]}),  # who has not acted is always listed
        (CALL, None),
        ({**CALL, "may_raise": ["D", "B"]}, SETUP),
    ],
)
def test_any_other_difference_in_who_may_raise_is_wrong(expected, setup):
    wrong, _ = differences(
        expected, {**GOT, **{k: expected[k] for k in ("action", "min_raise_to") if k in expected}}, setup
    )
    assert any(w.startswith("may_raise") for w in wrong)


OPTION = {"seat": "A", "check": False, "fold": True, "call_to": 5, "raise_min_to": 10, "raise_max_to": None}


@pytest.mark.parametrize(
    ("expected", "got"),
    [
        ({"options": [OPTION]}, {"options": [{**OPTION, "raise_max_to": 20}]}),
        ({"options": [OPTION]}, {"options": [{**OPTION, "seat": "B"}, OPTION]}),  # the next seat comes first
        ({"options": [OPTION]}, {"options": []}),
        ({"return_chips": [25, 100]}, {"return_chips": [100, 25]}),
        ({"candidates": [700, 1300]}, {"candidates": ["700", 1300]}),
        ({"full": False}, {"full": 0}),
        ({"add": 0}, {}),
        ({"add": 0}, {"add": 0, "return_chips": [5]}),  # money that the case does not give
        ({"add": 0}, {"add": 0, "return_change": {"amount": 5, "out_of": 25}}),
        ({"add": 0}, {"add": 0, "hold": [5]}),
        ({"add": 0}, {"add": 0, "window": "closed"}),
        ({"add": 0}, {"add": 0, "adjust": [{"seat": "A", "add": 5}]}),
        ({"action": "call"}, {"action": "call", "floor": True}),
        ({"may_not_raise": ["A"]}, {"may_not_raise": ["A", "B"]}),
        ({"adjust": [{"seat": "A", "add": 5}]}, {"adjust": [{"seat": "A", "add": 6}]}),
    ],
)
def test_everything_that_a_case_says_is_compared(expected, got):
    assert differences(expected, got)[0]


@pytest.mark.parametrize(
    ("expected", "got"),
    [
        ({"options": [OPTION]}, {"options": [OPTION, {**OPTION, "seat": "B"}]}),  # cases give the next seats only
        ({"may_not_raise": ["A", "B"]}, {"may_not_raise": ["B", "A"]}),
        ({"may_raise": ["A", "C"]}, {"may_raise": ["C", "A"]}),
        ({"action": "floor"}, {"action": "floor", "floor": True}),
        ({"announce": {"en": "Call."}, "cite": "§7.1"}, {"announce": {"en": "Call. 5 back."}, "cite": ["SE 7.1"]}),
    ],
)
def test_what_the_case_files_do_not_settle_is_not_compared(expected, got):
    assert differences(expected, got) == ([], [])


@pytest.mark.parametrize(
    ("cite", "ours", "lacking"),
    [
        ("§7.8 + §7.4", ["SE 7.8 b"], ["SE 7.4"]),
        ("§7.2.1 a / §7.2.2", ["SE 7.2.1 b", "SE 7.2.2"], ["SE 7.2.1 a"]),
        ("§7.5 over §7.8 (all-in excepted)", ["SE 7.5.1", "SE 7.8"], []),
        ("WSOP LA 134, 142", ["WSOP LA 134"], ["WSOP LA 142"]),
        ("WSOP LA 2024 #11", ["WSOP LA 11"], ["WSOP LA 2024 #11"]),
        ("TDA 43-A, 45-B1", ["TDA 43-A", "TDA 45-B2"], ["TDA 45-B1"]),
        ("TDA 46-A/C2, 40-A", ["TDA 46-A", "TDA 40-A"], ["TDA 46-C2"]),
        ("TDA 44 / 45", ["TDA 45-A"], []),
        ("TDA 44 / 45", ["TDA 46"], ["TDA 44 or TDA 45"]),
        ("TDA 40-A, Rule 1", ["TDA 40-A", "TDA 11"], ["TDA 1"]),
        ("TDA 43", ["TDA 43-A"], []),
        ("TDA 4", ["TDA 43"], ["TDA 4"]),
        ("WSOP 98.b.2", ["WSOP 98.b"], ["WSOP 98.b.2"]),
        ("RRP 3 rule 12", ["RRP 3.1"], ["RRP 3.12"]),
        ("RRP 14 pot-limit rounding", ["RRP 14 pot limit"], []),
        ("half-bet rule on the completion", ["NL half-bet"], ["NL completion"]),
    ],
)
def test_every_paragraph_that_a_case_names_must_be_cited(cite, ours, lacking):
    wrong, _ = differences({"cite": cite}, {"cite": ours})
    assert wrong == [f"cite: {p} is not among {ours}" for p in lacking]


def test_candidates_are_compared_in_any_order_and_not_by_type_alone():
    assert differences({"candidates": [1300, 700]}, {"candidates": [700, 1300]}) == ([], [])
    assert differences({"candidates": [700]}, {"candidates": [700, 1300]})[0]


def test_what_is_not_compared_is_said(tmp_path):
    there = {**CASE, "expected": {**CASE["expected"], "cite": "house rule 9"}}
    out = run(tmp_path, there, args=["--check"])
    assert out.stdout.splitlines()[-1].endswith("cite only in part in 1: own-1")
    out = run(tmp_path, CASE, args=["--check", "--profile", "tda-2024"])
    assert out.stdout.splitlines()[-1].endswith("cite not at all in 1 ruled by another law than their own")


def test_an_empty_file_is_no_check_passed(tmp_path):
    out = run(tmp_path, "", args=["--check"])
    assert out.exit_code == 1
    assert "nothing to judge" in out.stdout


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"profil": "swedish"}, "profil is not known; did you mean 'profile'?"),
        ({"setup": {**CASE["setup"], "bet_too": 5}}, "setup.bet_too is not known; did you mean 'bet_to'?"),
        (
            {"events": [{"seat": "B", "do": "say", "word": "call", "aftertouch": True}]},
            "events[0].aftertouch is not known; did you mean 'after_touch'?",
        ),
        (
            {"setup": {**CASE["setup"], "seats": [{"seat": "A", "stack": 5, "lines": 5}]}},
            "setup.seats[0].lines is not known; did you mean 'line'?",
        ),
        ({"events": [{"seat": "B", "do": "say", "word": "rise"}]}, "it is one of fold, check, call, bet, raise"),
        ({"events": [{"seat": "B", "do": "throw"}]}, "do is one of say, place, push_forward"),
        ({"events": [{"seat": "B", "do": "act", "act": "rise"}]}, "it is one of fold, check, call, bet"),
        ({"structure": "nolimit"}, "it is one of no-limit, pot-limit"),
        ({"setup": {**CASE["setup"], "bet_to": 500}}, "no seat has more than 300 on its line"),
        ({"setup": {**CASE["setup"], "bet_to": 200}}, "a wrong amount not ruled on is a prior put"),
        ({"setup": {**CASE["setup"], "last_full_raise": 900}}, "900 is more than the whole bet of 300"),
    ],
)
def test_what_is_misspelt_or_contradicts_itself_is_refused(tmp_path, change, said):
    out = run(tmp_path, {**CASE, **change})
    assert out.exit_code == 1
    assert said in out.stderr


def test_a_key_like_none_of_ours_is_not_read_and_said_so(tmp_path):
    out = run(tmp_path, {**CASE, "weather": "fine", "setup": {**CASE["setup"], "rule_year": 2026, "felt_colour": 1}})
    assert json.loads(out.stdout)["not_read"] == ["setup.felt_colour", "weather"]
    assert "not_read" not in json.loads(run(tmp_path, CASE).stdout)


def test_the_stacks_and_the_change_of_a_hand_are_compared():
    law = load("tda-2024")
    hand = {**HAND, "before_award_stacks": [950, 900, 900]}
    got = judge_hand(hand, law)
    assert hand_differences(hand, got) == []
    assert hand_differences({**hand, "before_award_stacks": [950, 900, 901]}, got)
    lies = [{**HAND["expected"][0], "change": 5}, *HAND["expected"][1:]]
    assert "change: expected 5, ruled 0" in hand_differences({**hand, "expected": lies}, got)[0]
    got["rulings"][0]["change"] = 5
    assert hand_differences(hand, got)


# ---- files that are no cases ------------------------------------------------------------------------------------


def test_a_file_that_is_no_json_lines_is_said_in_a_few_lines(tmp_path):
    out = run(tmp_path, *["nonsense"] * 500)
    assert out.exit_code == 1
    said = out.stderr.splitlines()
    assert len(said) == 12
    assert said[-2] == "and 490 more lines that could not be ruled"
    assert "give one JSON object a line" in said[-1]
    out = run(tmp_path, *["nonsense"] * 11, CASE)
    assert "and 1 more lines that could not be ruled" in out.stderr
    assert "give one" not in out.stderr
    assert "more lines" not in run(tmp_path, *["nonsense"] * 10, CASE).stderr


# ---- in words ---------------------------------------------------------------------------------------------------


def test_a_ruling_in_words(tmp_path):
    out = run(tmp_path, CASE, args=["--say"])
    assert out.stdout == (
        "own-1 (swedish): seat B. One chip. Call. 700 back. To change: 700 out of 1000. Next: seat C: call 300, "
        "raise to 600 or more, fold. Seat A may not raise: Has acted, and nobody has raised since. [SE 7.2.2]\n\n"
    )
    assert "Växla: 700 ur 1000." in run(tmp_path, CASE, args=["--say", "--language", "sv"]).stdout
    assert "Wisselen: 700 uit 1000." in run(tmp_path, CASE, args=["--say", "--language", "nl"]).stdout
    hand = run(tmp_path, HAND, args=["--say"]).stdout.split("\n\n")
    assert hand[0].startswith(
        "own act 3 (swedish" if "swedish" in hand[0] else "own act 3 (tda-2024): seat 3. Raise to 300."
    )
    assert len(hand) == 4


def test_a_ruling_for_the_floor_in_words(tmp_path):
    events = [
        {"seat": "B", "do": "place", "chips": [500, 500]},
        {"seat": "B", "do": "say", "word": "call", "after_touch": True},
    ]
    said = run(tmp_path, {**CASE, "events": events}, args=["--say"]).stdout
    assert "Floor: a word came after the chips." in said
    assert "The floor may choose: raise to 1000; call 300." in said


def test_a_missing_sentence_is_said_by_its_code(tmp_path, monkeypatch):
    whole = catalogue._catalogue
    monkeypatch.setattr(
        catalogue, "_catalogue", lambda lang: {k: v for k, v in whole(lang).items() if k != "one_chip_call"}
    )
    out = run(tmp_path, CASE)
    assert out.exit_code == 0
    assert json.loads(out.stdout)["ruling"]["announce"]["en"] == "one_chip_call (back 700, seat B, to 300) 700 back."
    assert run(tmp_path, CASE, args=["--say"]).exit_code == 0


# ---- the pages --------------------------------------------------------------------------------------------------

PAGES = (Path(tabled.__file__).parent / "rules" / "CASES.md", Path(tabled.__file__).parents[1] / "README.md")


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_the_example_of_the_page_is_what_it_says(tmp_path, page):
    text = page.read_text("utf-8")
    case = re.search(r'```json\n(\{"id": "lone-chip".*)\n```', text)
    said = re.search(r"```text\n(lone-chip .*)\n```", text)
    assert case
    assert said
    assert run(tmp_path, case[1], args=["--say"]).stdout == said[1] + "\n\n"


def test_the_page_names_every_key_and_word_of_a_case():
    text = PAGES[0].read_text("utf-8")
    named = set(re.findall(r"`([^`\s]+)`", text))
    fields = {
        f for kind in (Case, CaseSetup, CaseSeat, CasePrior, CaseLimits, CaseEvent) for f in kind.__struct_fields__
    }
    assert not fields - named
    assert not {t.__struct_config__.tag for t in get_args(AnyAct)} - named
    assert not set(get_args(Word)) - named
    assert not set(HandRecord.__struct_fields__) - named


def test_the_page_for_the_developer_names_what_is_there():
    text = (PAGES[0].parent / "ADDING.md").read_text("utf-8")
    root = PAGES[1].parent
    for name in re.findall(r"`((?:tests|outlets|profiles)/[\w/-]+\.\w+|\w+\.py)`", text):
        places = (root / name, root / "tabled" / name, PAGES[0].parent / name, root / "tests/rules" / name)
        assert any(p.is_file() for p in places), name
