"""Hands of our own making, of every structure and 2 to 10 seats, written as events and read back by the law."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import pytest

from tabled.rules.games import game_of
from tabled.rules.hand import Hand
from tabled.shell.judge_hands import hand_differences, hand_setup, judge_hand
from tabled.shell.judge_records import read_hand
from tests.rules.oracle import Naive
from tests.rules.table import load

LAW = load("tda-2024")
UNITS = (5000, 1000, 500, 100, 25, 5, 1)
KINDS = {
    "NT": {"structure": "no-limit", "blinds": (50, 100), "min_bet": 100},
    "PO": {"structure": "pot-limit", "blinds": (50, 100), "min_bet": 100},
    "N2L1D": {"structure": "no-limit", "blinds": (50, 100), "min_bet": 100},
    "FT": {"structure": "fixed-limit", "blinds": (50, 100), "small_bet": 100, "big_bet": 200},
    "FO/8": {"structure": "fixed-limit", "blinds": (50, 100), "small_bet": 100, "big_bet": 200},
    "F2L3D": {"structure": "fixed-limit", "blinds": (50, 100), "small_bet": 100, "big_bet": 200},
    "F7S": {"structure": "fixed-limit", "blinds": (), "bring_in": 30, "small_bet": 100, "big_bet": 200},
}


def chips(amount: int) -> dict[str, int]:
    """The fewest chips that make an amount."""
    out = {}
    for unit in UNITS:
        if amount >= unit:
            out[str(unit)] = amount // unit
            amount %= unit
    return out


class Writer:
    """Plays a hand by chance and writes down what the table would have seen."""

    def __init__(self, variant: str, seed: int) -> None:
        self.rng = random.Random(f"{variant} {seed}")
        kind = KINDS[variant]
        self.n = n = self.rng.randint(2, 7 if variant == "F7S" else 10)
        self.stud = variant == "F7S"
        stacks = [self.rng.choice((self.rng.randint(120, 900), self.rng.randint(1000, 9000))) for _ in range(n)]
        self.record: dict[str, Any] = {
            "hand": f"own-{variant}-{seed}", "variant": variant, "players": n, "stacks": stacks, "events": [], **kind,
            "denominations": sorted(UNITS),
        }  # fmt: skip
        blinds = [0] * n
        if not self.stud:
            small, big = (1, 0) if n == 2 else (0, 1)
            blinds[small], blinds[big] = kind["blinds"]
        self.record["blinds"] = sorted(blinds)[-2:] if n == 2 else blinds
        ante = 10 if self.stud or self.rng.random() < 0.3 else 0
        for seat in range(1, n + 1):
            if ante:
                self.post(seat, "ante", ante)
        for seat, blind in enumerate(blinds, 1):
            if blind:
                self.post(seat, "blind", blind)
        self.opener = self.rng.randint(1, n) if self.stud else None
        self.acts: list[tuple[str, str, int]] = []

    def add(self, kind: str, **what: Any) -> None:
        self.record["events"].append({"i": len(self.record["events"]), "kind": kind, **what})

    def post(self, seat: int, what: str, amount: int) -> None:
        self.add("post", seat=seat, what=what, chips=chips(amount))

    def hand(self) -> Hand:
        record = {**self.record}
        if self.opener:  # the set-up takes the opener from the first act
            record["events"] = [*record["events"], {"kind": "gesture", "seat": self.opener, "gesture": "tap"}]
        return Hand.start(hand_setup(read_hand(record)), LAW)

    def play(self) -> Hand:
        hand = self.hand()
        game = game_of(self.record["variant"])
        while True:
            while not hand.street_over:
                self.one(hand)
            due = hand.uncalled()
            if due:
                self.add("return", seat=int(due[0]), amount=due[1], chips=chips(due[1]))
            hand.close_street()
            self.add("collect", pot=hand.pot_total)
            if hand.over:
                return hand
            if not self.stud:
                self.add("board", cards="xx")
            live = [s for s in hand.seats if hand.status_of(s) == "in"]
            hand.deal_next_street(self.rng.choice(live) if game.bring_in else None)

    def one(self, hand: Hand) -> None:
        seat = hand.to_act
        assert seat is not None
        faced = hand.faced(seat)
        i = int(seat)
        if hand.owes_bring_in:
            hand.bring_in()
            self.add("push", seat=i, chips=chips(hand.bet_of(seat)), motions=1)
            return self.note(seat, "bring-in", hand)
        mine = hand.bet_of(seat) + hand.stack_of(seat)
        if faced.raise_open and self.rng.random() < 0.3:
            low, high = min(faced.min_to, mine), min(faced.max_to, mine)
            to = self.rng.choice((low, high, self.rng.randint(low, high)))
            opening = hand.bet_to == 0
            if to == mine:
                self.add("declare", seat=i, by="dealer-panel", verb="all-in")
            else:
                self.add("declare", seat=i, by="dealer-panel", verb="raise", to=to)
            self.add("push", seat=i, chips=chips(to - hand.bet_of(seat)), motions=1)
            hand.raise_to(to)
            return self.note(seat, "bet" if opening else "raise", hand)
        if faced.to_call and self.rng.random() < 0.35:
            self.add("gesture", seat=i, gesture="cards-forward")
            hand.fold()
            return self.note(seat, "fold", hand)
        if faced.to_call:
            if faced.to_call == hand.stack_of(seat):
                self.add("declare", seat=i, by="dealer-panel", verb="all-in")
            self.add("push", seat=i, chips=chips(faced.to_call), motions=1)
            hand.call()
            return self.note(seat, "call", hand)
        self.add("gesture", seat=i, gesture="tap")
        hand.check()
        return self.note(seat, "check", hand)

    def note(self, seat: str, verb: str, hand: Hand) -> None:
        self.acts.append((seat, verb, hand.bet_of(seat)))


@pytest.mark.parametrize("variant", sorted(KINDS))
def test_own_hands_are_ruled_as_they_were_played(variant):
    acts = 0
    for seed in range(25):
        writer = Writer(variant, seed)
        hand = writer.play()
        got = judge_hand(writer.record, LAW)
        assert [(str(r["seat"]), r["verb"], r["to"]) for r in got["rulings"]] == writer.acts, writer.record
        assert got["stacks"] == hand.stack
        assert got["street_pots"][-1] == hand.pot_total
        assert sum(p["amount"] for p in got["pots"]) == hand.pot_total
        acts += len(writer.acts)
    assert acts > 150


# ---- spread limit: expected by the second definition of legality, not by the engine -------------------------------


class SpreadWriter:
    """Plays a spread-limit hand by :class:`Naive`; writes the events and what each act must be ruled as."""

    def __init__(self, law: str, seed: int) -> None:
        self.rng = rng = random.Random(f"{law} {seed}")
        self.half = law == "dutch-half-bet"
        self.n = n = rng.randint(2, 10)
        self.low, self.most = rng.choice(((20, 100), (10, 50), (20, 20)))
        self.chips = [rng.choice((rng.randint(5, 90), rng.randint(100, 900))) for _ in range(n)]
        self.blinds = [0] * n
        small, big = (1, 0) if n == 2 else (0, 1)
        self.blinds[small], self.blinds[big] = min(5, self.chips[small]), min(10, self.chips[big])
        self.first = (big + 1) % n
        self.pot = 0
        self.gone: set[int] = set()
        self.record: dict[str, Any] = {
            "hand": f"own-spread-{law}-{seed}", "variant": "holdem", "structure": "spread-limit", "blinds": [5, 10],
            "spread_min": self.low, "spread_max": self.most, "stacks": list(self.chips), "denominations": sorted(UNITS),
            "events": [], "expected": [], "street_pots": [],
        }  # fmt: skip
        for seat, blind in enumerate(self.blinds, 1):
            if blind:
                self.add("post", seat=seat, what="blind", chips=chips(blind))

    def add(self, kind: str, **what: Any) -> None:
        self.record["events"].append({"i": len(self.record["events"]), "kind": kind, **what})

    def play(self) -> dict[str, Any]:
        book = self.book(self.blinds, price=10, first=self.first, out=set())
        for street in range(4):
            while (turn := book.turn()) is not None:
                self.one(book, turn, street)
            self.gone |= {s for s, kind, _ in book.happened if kind == "fold"}
            able = len(book.able())
            self.chips = self.collect(book)
            live = self.n - len(self.gone)
            if live < 2 or able < 2 or street == 3:
                break
            self.add("board", cards="xx")
            out = self.gone | {s for s, c in enumerate(self.chips) if not c}
            book = self.book([0] * self.n, price=0, first=0, out=out)
        if live > 1 and able < 2:  # run out without betting: the files repeat the pot up to the third street
            self.record["street_pots"] += [self.pot] * (3 - len(self.record["street_pots"]))
        self.record["before_award_stacks"] = self.chips
        return self.record

    def book(self, forced: list[int], price: int, first: int, out: set[int]) -> Naive:
        return Naive(
            list(self.chips), list(forced), price=price, smallest=max(self.low, price), first=first,
            rule="half" if self.half else "full", spread=self.most, completes=self.half, out=out,
        )  # fmt: skip

    def collect(self, book: Naive) -> list[int]:
        """Sweep the bets, less what nobody called; the stacks that remain."""
        totals = [book.total(s) for s in range(self.n)]
        top, second = sorted(totals)[-1], sorted(totals)[-2]
        if top > second:
            seat = totals.index(top)
            totals[seat] = second
            self.add("return", seat=seat + 1, amount=top - second, chips=chips(top - second))
        self.pot += sum(totals)
        self.record["street_pots"].append(self.pot)
        self.add("collect", pot=self.pot)
        return [c - t for c, t in zip(self.chips, totals, strict=True)]

    def one(self, book: Naive, turn: int, street: int) -> None:
        kind, total = self.rng.choice([a for a in book.acts(turn) if a[0] != "fold" or self.rng.random() < 0.4])
        raises, now, mine = book.raises(turn), book.total(turn), book.chips[turn]
        owed = min(book.need(turn), mine) - now
        opening = book.level() == 0
        smallest = book.level() + book.full()
        said = {
            "k": len(self.record["expected"]) + self.n + street, "street": street, "seat": turn + 1,
            "verb": "bet" if kind == "raise" and opening else kind, "to": total, "add": total - now,
            "to_call": max(owed, 0), "min_to": min(smallest, book.level() + self.most) if raises else None,
            "max_to": min(book.level() + self.most, mine) if raises else None, "raise_open": bool(raises),
            "all_in": total == mine and kind in ("call", "raise"),
            "pot_before": self.pot + sum(book.total(s) for s in range(self.n)),
        }  # fmt: skip
        self.record["expected"].append(said)
        if kind == "fold":
            self.add("gesture", seat=turn + 1, gesture="cards-forward")
        elif kind == "check":
            self.add("gesture", seat=turn + 1, gesture="tap")
        else:
            if total == mine:
                self.add("declare", seat=turn + 1, by="dealer-panel", verb="all-in")
            elif kind == "raise":
                self.add("declare", seat=turn + 1, by="dealer-panel", verb="raise", to=total)
            self.add("push", seat=turn + 1, chips=chips(total - now), motions=1)
        book.happened.append((turn, kind, total))


@pytest.mark.parametrize("law", ["dutch-full-bet", "dutch-half-bet"])
def test_own_spread_limit_hands_are_ruled_as_the_second_definition_says(law):
    acts: Counter[str] = Counter()
    for seed in range(40):
        record = SpreadWriter(law, seed).play()
        got = judge_hand(record, load(law))
        assert hand_differences(record, got) == [], record
        assert sum(got["stacks"]) + got["street_pots"][-1] == sum(record["stacks"])
        for said in record["expected"]:
            acts[said["verb"]] += 1
            acts["short"] += said["all_in"] and said["verb"] in ("bet", "raise") and said["to"] < said["min_to"]
            acts["largest"] += said["verb"] in ("bet", "raise") and said["to"] == said["max_to"]
            acts["closed"] += not said["raise_open"]
    assert min(acts[k] for k in ("bet", "raise", "call", "check", "fold", "short", "largest", "closed")) > 5, acts
