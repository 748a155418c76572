"""For each setting, situations in which its values come to different rulings.

``WITNESSES[setting]`` is a list of ``(law, situation, acts, put_by)``.  Over the list, every two values of the setting
must be told apart by at least one ruling: a value that is named and explained but acts as another is found here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tabled.rules.opening import newcomer_posts
from tabled.rules.profile import Profile
from tests.rules.deal import deal, play
from tests.rules.table import situation

Witness = tuple[str, Any, tuple[str, ...], str | None]

BET = "A 4500/500* B 5000 C 5000"
OPEN = "A 5000* B 5000 C 5000"
FL = {"structure": "fixed-limit", "limits": {"small_bet": 20, "big_bet": 40, "raises_cap": 3, "bring_in": 0}}


def _w(
    who: str, turn: str | None, bet: int, *acts: str, law: str = "tda-2024", put_by: str | None = None, **kw: Any
) -> Witness:
    return law, situation(who, turn, bet, **kw), acts, put_by


def facing(*acts: str, law: str = "tda-2024", **kw: Any) -> Witness:
    """B faces A's bet of 500."""
    return _w(BET, "B", 500, *acts, law=law, **{"prior": "A bet 500", **kw})


def option(*acts: str, law: str = "tda-2024", **kw: Any) -> Witness:
    """The big blind may check over its own 100."""
    who = "A 4900/100* SB 4900/100* BB 4900/100"
    return _w(who, "BB", 100, *acts, law=law, street="preflop", prior="SB post 50, BB post 100, A call, SB call", **kw)


def stud(*acts: str, law: str = "tda-2024") -> Witness:
    limits = {"small_bet": 20, "big_bet": 40, "raises_cap": 3, "bring_in": 5}
    return _w(
        "A 495/5* B 500 C 500", "B", 5, *acts, law=law, full=20, street="third", game="7stud", blinds=(), pot=0,
        structure="fixed-limit", limits=limits, prior="A bring-in 5",
    )  # fmt: skip


def out_of_turn(*acts: str) -> Witness:
    return _w("A 4500/500* B 5000 C 5000", "B", 500, *acts, prior="A bet 500")


def _capped(law: Profile) -> object:
    """Whether a raise is left after bet and two raises (the cap): two dealt in, two from the flop on, two halfway."""
    limits = {"small_bet": 100, "big_bet": 200, "raises_cap": 2}
    two = play(deal([5000] * 2, law=law, structure="fixed-limit", limits=limits), "2 call", "1 check", "street")
    three = deal([5000] * 3, law=law, structure="fixed-limit", limits=limits)
    later = play(three.copy(), "3 fold", "1 call", "2 check", "street")
    halfway = play(three.copy(), "3 call", "1 call", "2 check", "street", "1 bet 100", "2 fold")
    for hand, amounts in ((two, (100, 200, 300)), (later, (100, 200, 300)), (halfway, (200, 300))):
        for to in amounts:
            play(hand, f"{hand.to_act} raise {to}")
    return [hand.capped() for hand in (two, later, halfway)]


def _short_blind(law: Profile) -> object:
    """The big blind of 100 has 60."""
    hand = deal([1000, 60, 1000], law=law, structure="pot-limit")
    return hand.option("3")


def _windows(bet: int, put: int, **kw: Any) -> list[Witness]:
    """B puts in a wrong amount: pointed out at once, after one call, after two of three, and when all have answered."""
    found = []
    for called in range(4):
        behind = " ".join(f"{s} {5000 - put}/{put}*" if k < called else f"{s} 5000" for k, s in enumerate("CDE"))
        calls = "".join(f", {s} call {put}" for s in "CDE"[:called])
        turn = "CDEA"[called]
        found.append(
            _w(f"A {5000 - bet}/{bet}* B {5000 - put}/{put}* {behind}", turn, bet, "dealer points", put_by="B",
               prior=f"A bet {bet}, B put {put}{calls}", **kw)
        )  # fmt: skip
    who = f"A {5000 - bet}/{bet}* B {5000 - put}/{put}* C {5000 - put}/{put}* D {5000 - put}/{put}*"
    calls = f"A bet {bet}, B put {put}, C call {put}, D call {put}"
    after = (("dealer points",), ("card dealt", "dealer points"))  # nobody is left to act
    found += [_w(who, None, bet, *acts, put_by="B", prior=calls, **kw) for acts in after]
    return found


def _quoted(pot: int, bet: str) -> list[Witness]:
    """The dealer names a wrong pot (it is 300), A bets it; pointed out after so many have called."""
    who, calls = "A 5000 B 5000 C 5000 D 5000", ("B did call", "C did call", "D did call")
    return [
        _w(who, "A", 0, f"dealer quotes {pot}", bet, *calls[:n], "dealer points", structure="pot-limit")
        for n in range(4)
    ]


WITNESSES: dict[str, list[Witness | Callable[[Profile], object]]] = {
    "speech_vs_chips": [facing("B put 1000 500", "B say call after")],
    "simultaneous": [facing("B say raise simultaneous", "B put 1000")],
    "one_chip_facing": [facing("B put 1000")],
    "one_chip_bb_option": [option("BB put 500")],
    "one_chip_bring_in": [stud("B put 20")],
    "last_chip_silent": [_w("A 4500/500* B 1000 C 5000", "B", 500, "B put 1000", prior="A bet 500")],
    "stack_pushed": [_w("A 4500/500* B 700 C 5000", "B", 500, "B push 500 100 100", prior="A bet 500"),
                     _w("A 4500/500* B 1000 C 5000", "B", 500, "B push 1000", prior="A bet 500")],
    "multi_chip_test": [_w("A 3800/1200* B 5000 C 5000", "B", 1200, "B put 1000 1000", prior="A bet 1200")],
    "prior_chips": [
        _w("A 4950/50*[25,25] B 4400/600* C 5000", "A", 600, "A put 1000", full=550, prior="A bet 50, B raise 600"),
        _w("A 4500/100*[1000] B 4400/600* C 5000", "A", 600, "A put 25 25", full=500, prior="A bet 100, B raise 600"),
        _w("A 4500/100*[1000] B 4400/600* C 5000", "A", 600, "A put 500", full=500, prior="A bet 100, B raise 600"),
        _w("A 4950/50*[25,25] B 4400/600* C 5000", "A", 600, "A pull 25 25", "A put 500 500", "A push 25 25", full=550,
           prior="A bet 50, B raise 600"),
    ],
    "prior_pull_back": [
        _w("A 4500/500*[500] B 4000/1000* C 5000", "A", 1000, "A pull 500", full=500, prior="A bet 500, B raise 1000"),
        _w("A 4500/500*[500] B 4000/1000* C 5000", "A", 1000, "A pull 500", "A say fold", full=500,
           prior="A bet 500, B raise 1000"),
    ],
    "string_first_motion": [facing("B put 500 500", "B again", "B put 500")],
    "string_acted_before": [_w(OPEN, "B", 0, "B put 100", "B again", "B put 500", prior="A check")],
    "raise_word_extra_motions": [
        facing("B say raise", "B put 500", "B again", "B put 1000", "B again", "B put 1000"),
        facing("B say raise", "B put 200", "B again", "B put 1000", "B again", "B put 1000"),
    ],
    "bind": [facing("B push 500 500 held"), facing("B push 500 500 short")],
    "push_short_of_line": [facing("B push 500 500 short", "B pull 500 500")],
    "underraise_threshold": [
        facing("B put 500 100 100"), facing("B put 500 100 100 100"), facing("B say number 800", "B put 500 500"),
    ],
    "underraise_half_of": [
        _w("A 4900/100* B 4600/400* C 5000", "C", 400, "C put 100 100 100 100 100 50", full=300,
           prior="A bet 100, B raise 400"),
    ],
    "underraise_spoken": [facing("B say raise 700 to", "B put 500 100 100")],
    "underbet_threshold": [_w(OPEN, "B", 0, "B put 25", prior="A check")],
    "min_bet": [_w(OPEN, "B", 0, "B put 50", prior="A check")],
    "min_raise": [facing("B say raise 550 to", law="swedish", game="swedish-draw", street="after_draw")],
    "allin_half_of": [
        _w("A 4900/100* B 4600/400* C 450", "C", 400, "C say all-in", law="dutch-half-bet", full=300,
           prior="A bet 100, B raise 400"),
    ],
    "allin_cumulative": [
        _w("A 4900/100* B 0/160* C 0/220* D 5000", "D", 220, "D did call", full=100,
           prior="A bet 100, B all-in 160, C all-in 220"),
    ],
    "completion": [
        _w("A 0/5* B 500 C 500", "B", 5, "B say complete", law="dutch-half-bet", full=20, blinds=(10, 20), **FL,
           prior="A all-in 5"),
        _w("A 0/10* B 500 C 500", "B", 10, "B say complete", law="dutch-half-bet", full=20, blinds=(10, 20), **FL,
           prior="A all-in 10"),
    ],
    "cap_heads_up": [_capped],
    "out_of_turn": [
        out_of_turn("C put 500 500 500", "B did call"),
        out_of_turn("C put 500 500 500", "B did raise 1500"),
        _w("A 5000 B 5000 C 5000", "A", 0, "C tap", "A did bet 300", "B did fold"),
    ],
    "out_of_turn_penalty": [out_of_turn("C put 500 500")],
    "undercall": [
        facing("B put 100"),
        _w("A 4900/100* B 4600/400* C 5000", "C", 400, "C put 100", full=300, prior="A bet 100, B raise 400"),
    ],
    "undercall_claim": [
        _w("A 4900/100* B 4600/400* C 5000", "C", 400, "C put 100", "C claims no raise seen", full=300,
           prior="A bet 100, B raise 400"),
    ],
    "tiny_chips": [facing("B put 25")],
    "accepted_action": [facing("dealer quotes 300", "B put 300")],
    "number_meaning": [facing("B say raise 1200"), facing("B say raise 1200", "B put 1000 100 100")],
    "short_number": [_w(OPEN, "B", 0, "B say number 5", prior="A check", blinds=(200, 400), pot=5000)],
    "late_short_number": [
        _w(OPEN, "B", 0, "B put 5000", "B say number 5 after", prior="A check", blinds=(200, 400), pot=3000),
    ],
    "tap_facing": [facing("B tap")],
    "low_voice": [facing("B say number 900 low", "B put 500 500")],
    "amount_rounding": [facing("B say raise 1013 to", chip_unit=25)],
    "straddle_min_raise": [
        _w("S 4800/200 A 5000 SB 4950/50 BB 4900/100", "A", 200, "A say raise 300 to", street="preflop", straddle=200,
           prior="SB post 50, BB post 100, S straddle 200"),
    ],
    "short_blind_price": [_short_blind],
    "pot_preflop": [_short_blind],
    "pot_rounding": [
        _w("A 4500/500* B 5000 C 5000", "B", 500, "B say pot", structure="pot-limit", pot=313, chip_unit=25,
           prior="A bet 500"),
        _w("A 4500/500* B 5000 C 5000", "B", 500, "B say pot", structure="pot-limit", pot=303, chip_unit=25,
           prior="A bet 500"),
    ],
    "correction_window": _windows(500, 700),
    "pot_overbet_window": _quoted(350, "A put 100 100 100 50"),
    "pot_underbet_window": _quoted(250, "A put 100 100 50"),
    "third_party_unheard": [
        _w("A 4500/500* B 4800/200* C 5000", "C", 500, "spectator points", prior="A bet 500, B put 200", put_by="B"),
    ],
    "missed_blind": [lambda law: newcomer_posts(law, (50, 100))],  # for the floor's system: it is in no ruling
}  # fmt: skip
