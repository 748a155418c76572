"""Input that nobody should send: each gets one line that says what to put right, and nothing hangs."""

from __future__ import annotations

import os

import pytest

from tabled.rules.errors import IllegalAct, SetupError
from tabled.rules.profile import ProfileError, parse
from tabled.rules.situation import SeatNow, Situation, hand_from
from tabled.shell.judge_cases import judge_case
from tabled.shell.judge_records import RecordError
from tabled.shell.profiles import load
from tests.rules.table import judged, profile, rule, short, situation

DEEP = "a = " + "[" * 30000 + "]" * 30000


def test_toml_nested_too_deep_is_no_profile(tmp_path):
    with pytest.raises(ProfileError, match="nested too deep"):
        parse(DEEP, where="deep.toml")
    (tmp_path / "deep.toml").write_text(DEEP)
    with pytest.raises(ProfileError, match="nested too deep"):
        load(tmp_path / "deep.toml")


def test_devices_and_pipes_are_not_read(tmp_path):
    os.mkfifo(tmp_path / "fifo.toml")
    for path in ("/dev/zero", str(tmp_path / "fifo.toml"), str(tmp_path) + "/"):
        with pytest.raises(ProfileError, match="cannot read the profile"):
            load(path)


def test_a_long_chain_of_profiles_is_no_circle(tmp_path):
    for k in range(1, 12):
        (tmp_path / f"c{k}.toml").write_text(f'name = "c{k}"\ninherits = "c{k + 1}.toml"\n')
    (tmp_path / "c12.toml").write_text('name = "c12"\ninherits = "swedish"\n')
    with pytest.raises(ProfileError, match="over more than 8 files"):
        load(tmp_path / "c1.toml")
    assert load(tmp_path / "c7.toml").one_chip_facing == "call"


def where(**kw):
    return situation("A 4500/500* B 5000 C 5000", "B", 500, prior="A bet 500", **kw)


@pytest.mark.parametrize(
    ("act", "said"),
    [
        ("B did raise", 'needs "to"'),
        ("B did bet", 'needs "to"'),
        ("B did bet 1", "1 is no bet over the bet of 500"),
        ("B did raise 500", "500 is no raise over the bet of 500"),
        ("B did raise 9999", "has 5000 in all and cannot raise to 9999"),
        ("B did all_in 700", "all-in is 5000, not 700"),
        ("B did post 100", "a post comes before"),
    ],
)
def test_an_act_that_cannot_have_been_is_refused(act, said):
    with pytest.raises(IllegalAct, match=said):
        judged("swedish", where(), act)


def test_an_act_at_a_wrong_amount_is_put_right_aloud():
    assert short(rule("tda-2024", where(), "B did raise 700")) == ("raise", 1000, 300, 0)
    assert short(rule("tda-2024", where(), "B did all_in")) == ("all_in", 5000, 0, 0)
    assert short(rule("tda-2024", where(), "B did raise 5000")) == ("all_in", 5000, 0, 0)


def case(*events, **seat):
    seats = [{"seat": "A", "stack": 4500, "line": 500, "acted": True}, {"seat": "B", "stack": 5000, **seat},
             {"seat": "C", "stack": 5000}]  # fmt: skip
    prior = [{"seat": "A", "act": "bet", "to": 500}]
    setup = {"seats": seats, "prior": prior, "to_act": "B", "bet_to": 500, "last_full_raise": 500, "blinds": [50, 100]}
    return {"setup": setup, "events": [{"seat": "B", **e} for e in events]}


@pytest.mark.parametrize(
    ("events", "said"),
    [
        ([{"do": "say", "word": "number"}], "needs an amount"),
        ([{"do": "say", "word": "number", "amount": 0}], "needs an amount"),
        ([{"do": "place", "chips": [0]}], ">= 1"),
        ([{"do": "place", "chips": [10**15]}], "has 5000 in all"),
        ([{"do": "place", "chips": [5000]}, {"do": "push_forward", "chips": [25]}], "has 5000 in all"),
    ],
)
def test_events_that_cannot_have_been_are_refused(events, said):
    with pytest.raises(RecordError, match=said):
        judge_case(case(*events), load("swedish"))


def test_chips_may_come_and_go_within_the_stack():
    moves = [{"do": "place", "chips": [5000]}, {"do": "pull_back", "chips": [5000]}, {"do": "place", "chips": [500]}]
    assert judge_case(case(*moves), load("swedish")).ruling.action in ("call", "raise", "all_in")


def test_all_in_with_chips_behind_is_no_situation():
    with pytest.raises(SetupError, match="all-in with 300 behind"):
        hand_from(Situation(seats=(SeatNow(seat="A", stack=300, status="all_in"), SeatNow(seat="B", stack=1))),
                  load("swedish"))  # fmt: skip


# ---- when a word came -------------------------------------------------------------------------------------------


def spoken(law: str, chips: list[int], word: dict, *, away: bool = False, **values):
    events = [{"do": "place", "chips": chips}, *([{"do": "hand_withdraws"}] if away else []), {"do": "say", **word}]
    return judge_case(case(*events), profile(law, **values)).ruling


@pytest.mark.parametrize(("delay", "to"), [(0.1, 1000), (0.25, 1000), (0.251, 500), (2.0, 500), (None, 500)])
@pytest.mark.parametrize("away", [False, True])
def test_a_word_within_the_tolerance_is_simultaneous(delay, to, away):
    word = {"word": "raise"} if delay is None else {"word": "raise", "delay_s": delay}
    assert spoken("tda-2024", [1000], word, away=away).to == to


def test_the_tolerance_is_the_profiles():
    assert spoken("tda-2024", [1000], {"word": "raise", "delay_s": 0.1}, simultaneity_ms=50).to == 500
    assert spoken("swedish", [500, 500], {"word": "call", "delay_s": 0.1}).to == 500
    assert spoken("swedish", [500, 500], {"word": "call", "delay_s": 0.3}).to == 1000


def test_a_number_after_the_chips_is_a_later_word():
    assert spoken("tda-2024", [500, 500], {"word": "number", "amount": 500}).to == 1000
    assert spoken("tda-2024", [500, 500], {"word": "number", "amount": 500, "simultaneous_with_touch": True}).to == 500


@pytest.mark.parametrize(
    ("law", "chips", "number", "to"),
    [
        ("wsop-2026", "5000", 5, 500),
        ("wsop-2026", "1000", 7, 700),
        ("wsop-2026", "5000", 3000, 5000),  # a clear number is a later word
        ("wsop-2026", "1000 1000 1000 1000 1000", 5, 5000),  # five chips, no change to expect
        ("tda-2024", "5000", 5, 5000),
    ],
)
def test_wsop_60_a_short_number_after_one_chip_says_how_much_of_it_is_bet(law, chips, number, to):
    first = situation("A 30000 B 30000", "A", 0, 400, blinds=(200, 400), pot=4800)
    assert rule(law, first, f"A put {chips}", f"A say number {number} after").to == to
