"""A sentence never says what the ruling's own fields contradict: over all shared cases and hands made by chance."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from tabled.outlets.safety import safe_ruling
from tabled.outlets.wording import announce
from tabled.rules.errors import SetupError
from tabled.rules.hand import Hand
from tabled.rules.judge import judge
from tabled.rules.profile import SETTINGS, ProfileError, choices
from tabled.rules.street import Docket
from tabled.rules.turn import resolve_held
from tabled.shell import judge_cases
from tests.rules import chance
from tests.rules.facts import FACTS, Said, contradictions
from tests.rules.shared import records
from tests.rules.table import judged, load, profile, situation
from tests.rules.test_setups import passive
from tests.rules.test_wording import COMPOSED, emitted

NAMES = ("dutch-full-bet", "dutch-half-bet", "roberts", "swedish", "tda-2024", "wsop-2026", "wsop-live-2024")


def _case(case, law, monkeypatch) -> Said:
    """The case's ruling, with the hand as it was before the act that it rules on."""
    dockets = []

    def rule_street(hand, profile, acts, put_by=None, followers=()):
        docket = Docket(hand, profile, put_by, followers)
        dockets.append(docket)
        for act in acts:
            docket.take(act)
        return docket.ruling()

    monkeypatch.setattr(judge_cases, "rule_street", rule_street)
    done = judge_cases.judge_case(case, law)
    docket = dockets[0]
    return Said(done.ruling, docket.before.get(done.ruling.seat, docket.hand), done.after, law)


def test_over_all_shared_cases(monkeypatch):
    wrong, codes = {}, Counter()
    for case in records("rules/cases.jsonl"):
        said = _case(case, load(case["profile"]), monkeypatch)
        codes[said.r.reason.code] += 1
        found = contradictions(said)
        if found:
            wrong[case["id"]] = found
    assert not wrong
    assert codes["all_in_short"] > 5
    assert codes["all_in_short_reopens"] > 3
    assert codes["all_in_short_some"]


def _law(rng: random.Random):
    """A built-in law with some settings turned: a house's own."""
    law = load(rng.choice(NAMES))
    for setting in rng.sample([s for s in SETTINGS if choices(s)], rng.randint(0, 6)):
        try:
            law = law.with_values(**{setting: rng.choice(choices(setting))})
        except ProfileError:
            continue  # settings that contradict each other
    return law


def _street(rng: random.Random, hand: Hand, law, codes: Counter) -> list[str]:
    """One act by chance, now and then of a seat out of turn that is resolved when its turn comes."""
    seat = hand.to_act or rng.choice(hand.seats)
    if rng.random() < 0.1:
        seat = rng.choice(hand.seats)
    acts = chance.gesture(rng, seat)
    done = judge(hand, law, acts)
    found = contradictions(Said(done.ruling, hand, done.after, law))
    codes[done.ruling.reason.code] += 1
    if hand.to_act == seat:
        late = resolve_held(hand, rng.choice((0, hand.bet_to)), law, acts)
        if late.ruling.reason.code != "out_of_turn_no_raise" or hand.option(seat).call_to is not None:
            found += contradictions(Said(late.ruling, hand, late.after, law)) if law.out_of_turn != "strict" else []
            codes[late.ruling.reason.code] += 1
    return found


@pytest.mark.parametrize("part", range(4))
def test_over_hands_by_chance_under_laws_by_chance(part):
    wrong, codes = [], Counter()
    for seed in range(part * 150, part * 150 + 150):
        rng = random.Random(seed)
        try:
            law = _law(rng)
            hand = Hand.start(chance.set_up(rng), law)
        except SetupError:
            continue
        for _ in range(25):
            if hand.over:
                break
            if hand.to_act is None:
                hand.deal_next_street(rng.choice(hand.seats) if hand.table.bring_in else None)
                continue
            wrong += _street(rng, hand, law, codes)
            assert not wrong, f"seed {seed}: {wrong[0]}"
            done = judge(hand, law, chance.gesture(rng, hand.to_act))
            hand = done.after or passive(hand)
    assert len(codes) > 20


def _short_all_in(law: str, **kw):
    """A opens, B calls or not, C is all-in for less than a full raise."""
    return judged(law, situation(kw.pop("who"), "C", kw.pop("bet", 100), kw.pop("full", 100), **kw), "C say all-in")


@pytest.mark.parametrize(
    ("law", "who", "said"),
    [
        ("tda-2024", "A 900/100* B 900/100* C 150", "All-in 150. Not a full raise; who has acted may call or fold."),
        (
            "dutch-half-bet", "A 900/100* B 900/100* C 150",
            "All-in 150. Not a full raise, but it opens the betting again: who has acted may raise.",
        ),
        ("tda-2024", "B 900 C 150 A 0/100*", "All-in 150. Not a full raise."),
        (
            "tda-2024", "A 900/60* B 900/100* C 190",
            "All-in 190. Not a full raise. Open again for seat A; seat B may call or fold.",
        ),
    ],
)  # fmt: skip
def test_a_short_all_in_says_for_whom_it_opens_the_betting(law, who, said):
    done = _short_all_in(law, who=who, prior="A bet 60, B all-in 100" if "60*" in who else "A bet 100")
    assert announce(done.ruling)["en"].startswith(said)


def test_a_short_all_in_tells_no_stack():
    """Seat A has the right to raise but not the chips: the sentence on the display speaks of the right alone."""
    rich = _short_all_in(
        "dutch-half-bet", who="A 900/100* B 900/100* C 150 D 900/100*", prior="D bet 100, A call, B call"
    )
    poor = _short_all_in(
        "dutch-half-bet", who="A 40/100* B 900/100* C 150 D 900/100*", prior="D bet 100, A call, B call"
    )
    assert [x.seat for x in poor.ruling.may_not_raise] == ["A"]
    texts = [announce(safe_ruling(x.ruling)) for x in (rich, poor)]
    assert texts[0] == texts[1]


def test_every_code_of_the_law_has_its_check():
    candidates = {
        "amount", "full_call", "forfeit_fold", "take_back_reconsider", "call_amount", "call_any", "binding_raise",
        "free_choice",
    }  # fmt: skip
    apart = ("lock_", "why_", "choice_", "departs_")
    law = {c for c in emitted(("rules",)) if not c.startswith(apart)} - candidates - {"none"}
    cut = {c for c in COMPOSED if not c.startswith(("floor_ruled_", "departs_"))}
    assert not (law | cut) - set(FACTS)


def test_the_floor_is_told_why_and_what_it_may_choose():
    where = situation("A 4500/500* B 5000 C 5000", "B", 500, prior="A bet 500", blinds=(50, 100))
    told = judged("swedish", where, "B put 500 500 500", "B again", "B put 500").ruling
    assert [(c.action, c.to) for c in told.candidates] == [("call", 500), ("raise", 1500)]
    assert announce(told)["en"].endswith("Floor: the first motion alone was a raise.")
    dropped = judged("swedish", where, "B put 1000 dropped").ruling
    assert [(c.action, c.to) for c in dropped.candidates] == [("pending", None), ("call", 500)]
    tapped = judged("swedish", where, "B tap").ruling
    assert [c.action for c in tapped.candidates] == ["call_or_fold", "pending"]
    spectator = judged("swedish", situation("A 4500/500* B 4800/200* C 5000", "C", 500, prior="A bet 500, B put 200"),
                       "spectator points", put_by="B").ruling  # fmt: skip
    assert [(c.action, c.to) for c in spectator.candidates] == [("stands", None), ("corrected", 500)]


@pytest.mark.parametrize(
    ("law", "acts", "found"),
    [
        ({"ask_floor": ["string_first_motion"]}, ("B put 500 500", "B again", "B put 500"),
         [("call", 500), ("raise", 1000)]),
        ({"ask_floor": ["string_first_motion"]}, ("B put 500", "B again", "B put 500"), []),  # the same either way
        ({"ask_floor": ["undercall"]}, ("B put 100",), [("call", 500), ("fold", None)]),
        ({"ask_floor": []}, ("B put 500 500", "B again", "B put 500"), []),
        ({"ask_floor": ["speech_vs_chips"]}, ("B put 500 500", "B say call after"), [("raise", 1000), ("call", 500)]),
        ({"ask_floor": ["speech_vs_chips"]}, ("B put 500 500", "B say fold after"), [("raise", 1000), ("fold", None)]),
        ({}, ("B say other hm",), [("pending", None), ("call", 500), ("fold", None)]),
        ({}, ("B put 500 500 dropped",), [("pending", None), ("raise", 1000)]),
        ({}, ("B push 500 500 short", "B pull 500 500"), [("pending", None), ("raise", 1000)]),
    ],
)  # fmt: skip
def test_what_the_floor_may_choose_is_what_the_other_readings_come_to(law, acts, found):
    where = situation("A 4500/500* B 5000 C 5000", "B", 500, prior="A bet 500", blinds=(50, 100))
    told = judged(profile("swedish", **law), where, *acts).ruling
    assert [(c.action, c.to) for c in told.candidates] == found
    assert told.floor is bool(found)


def test_what_the_floor_may_choose_where_there_is_no_bet():
    where = situation("A 5000 B 5000", "A", pot=300)
    told = judged("swedish", where, "A put 500 dropped").ruling
    assert [(c.action, c.to) for c in told.candidates] == [("pending", None), ("bet", 500)]
    told = judged("swedish", where, "A say other hm").ruling
    assert [(c.action, c.to) for c in told.candidates] == [("pending", None), ("check", 0), ("fold", None)]


def test_what_the_floor_may_choose_over_a_short_all_in_at_limit():
    where = situation("A 0/5* B 500 C 500", "B", 5, 20, prior="A all-in 5", structure="fixed-limit", blinds=(10, 20),
                      limits={"small_bet": 20, "big_bet": 40})  # fmt: skip
    told = judged("dutch-half-bet", where, "B put 10 10 dropped").ruling
    assert [(c.action, c.to) for c in told.candidates] == [("pending", None), ("complete", 20)]


def test_a_candidate_tells_no_stack():
    """What the floor may choose is on the display: an amount that only the stack gives is named all-in."""
    where = situation("A 4500/500* B 950 C 5000", "B", 500, prior="A bet 500")
    told = judged("swedish", where, "B say raise", "B put 400", "B again", "B put 400").ruling
    assert 950 not in [c.to for c in told.candidates]


def test_the_docket_says_it_as_it_is_after_later_acts():
    """A raise after the short all-in gives the rights; the sentence then claims none."""
    where = situation("A 900/100* B 900/100* C 150 D 900", "C", 100, prior="A bet 100, B call")
    done = judged("tda-2024", where, "C say all-in", "D did raise 300")
    assert done.ruling.reason.code == "all_in_short_plain"
