"""Legal no-limit hands out of a seed, with the rulings that they must get.

`Ledger` is the simulator's own small bookkeeping of no-limit betting: who faces what, what may be raised, when a
street ends.  It knows nothing of sloppy acts; the dealer in `_Dealer` plays honest hands only (exact
chips, one motion, words before chips), so that every act has one right ruling under every profile.
"""

from __future__ import annotations

from collections import Counter
from random import Random
from typing import Any

import msgspec

from hw_sim.hands import Hand, check_hand
from hw_sim.world import total

CHIPS = (25, 100, 500, 1000, 5000)
"""Denominations of generated hands; each divides the next, so the largest-first choice is exact."""
STREETS = 4
MAX_ACTS = 200
MAX_RAISES = 5


class Ledger:
    """No-limit betting of one hand, in plain numbers.  Seats are 0-based, in order of action after the flop."""

    def __init__(self, stacks: list[int], antes: list[int], blinds: list[int], big_blind: int) -> None:
        self.stack = list(stacks)
        self.bet = [0] * len(stacks)
        self.folded = [False] * len(stacks)
        self.pot = 0
        self.big_blind = big_blind
        for i, (ante, blind) in enumerate(zip(antes, blinds, strict=True)):
            paid = min(ante, self.stack[i])
            self.stack[i] -= paid
            self.pot += paid
            self.bet[i] = min(blind, self.stack[i])
            self.stack[i] -= self.bet[i]
        self.bet_to = big_blind
        self.step = big_blind
        self.acted = [False] * len(stacks)

    def live(self) -> list[int]:
        """Seats that have not folded."""
        return [i for i, gone in enumerate(self.folded) if not gone]

    def owes(self, i: int) -> int:
        """What seat ``i`` faces, before its stack caps it."""
        return self.bet_to - self.bet[i]

    def may_raise(self, i: int) -> bool:
        """Whether seat ``i`` may put in more than a call.

        It must have more than the call, somebody must be able to answer, and, if it has acted on this street,
        it must face at least the last full raise (short all-ins add up).
        """
        if self.stack[i] <= self.owes(i):
            return False
        if not any(self.stack[j] + self.bet[j] > self.bet_to for j in self.live() if j != i):
            return False
        return not self.acted[i] or self.owes(i) >= self.step

    def waits_for(self, i: int) -> bool:
        """True when seat ``i`` still has something to decide on this street."""
        if self.folded[i] or self.stack[i] == 0:
            return False
        if self.owes(i) > 0:
            return True
        others = [j for j in self.live() if j != i and self.stack[j] > 0]
        return not self.acted[i] and bool(others)

    def faces(self, i: int) -> dict[str, Any]:
        """The numbers that a ruling on seat ``i``'s act must carry."""
        free = self.may_raise(i)
        return {
            "to_call": min(self.owes(i), self.stack[i]),
            "min_to": self.bet_to + self.step if free else None,
            "max_to": self.stack[i] + self.bet[i] if free else None,
            "raise_open": free,
            "pot_before": self.pot + sum(self.bet),
        }

    def put(self, i: int, to: int) -> None:
        """Seat ``i`` makes its bet ``to`` in total; a full raise sets the next minimum."""
        add = to - self.bet[i]
        assert 0 <= add <= self.stack[i], "the generator put in chips that are not there"
        self.stack[i] -= add
        self.bet[i] = to
        self.acted[i] = True
        if to > self.bet_to:
            self.step = max(self.step, to - self.bet_to)
            self.bet_to = to

    def fold(self, i: int) -> None:
        """Seat ``i`` is out."""
        self.folded[i] = True
        self.acted[i] = True

    def uncalled(self) -> tuple[int, int]:
        """Seat and amount of the part of the highest bet that nobody called; (0, 0) if there is none."""
        high, second = sorted(self.bet, reverse=True)[:2]
        return (self.bet.index(high), high - second) if high > second else (0, 0)

    def give_back(self, i: int, amount: int) -> None:
        """Return an uncalled part."""
        self.bet[i] -= amount
        self.stack[i] += amount

    def close(self) -> int:
        """Bets go to the pot, the next street begins; returns the pot."""
        self.pot += sum(self.bet)
        self.bet = [0] * len(self.bet)
        self.bet_to, self.step = 0, self.big_blind
        self.acted = [False] * len(self.acted)
        return self.pot


def exact(chips: Counter[int], amount: int) -> Counter[int] | None:
    """Chips out of ``chips`` worth exactly ``amount``, large ones first; None if they cannot make it."""
    chosen: Counter[int] = Counter()
    for d in sorted(chips, reverse=True):
        n = min(chips[d], amount // d)
        if n:
            chosen[d] = n
            amount -= n * d
    return chosen if amount == 0 else None


def rack(amount: int) -> Counter[int]:
    """Chips from the tray worth ``amount``, few of them."""
    chips = exact(Counter(dict.fromkeys(CHIPS, 1000)), amount)
    assert chips is not None, "an amount that is no multiple of the smallest chip"
    return chips


def stack_of(amount: int, rng: Random) -> Counter[int]:
    """A player's stack worth ``amount`` (a multiple of 25), with small chips to bet with."""
    chips: Counter[int] = Counter()
    for d, most in ((25, 12), (100, 12), (500, 8), (1000, 8)):
        n = min(rng.randint(most // 2, most), amount // d)
        chips[d] += n
        amount -= n * d
    return chips + rack(amount)


class _Dealer:
    """Plays one hand and writes it down."""

    def __init__(self, name: str, rng: Random, seats: int) -> None:
        self.rng = rng
        self.name = name
        self.n = seats
        self.unit = rng.choice((50, 100, 200))
        self.blinds = [0] * seats
        # Heads-up the button posts the small blind and is listed last, as PokerKit lists it.
        small, big = (1, 0) if seats == 2 else (0, 1)
        self.blinds[small], self.blinds[big] = self.unit // 2, self.unit
        self.antes = self._draw_antes(big)
        # Antes and blinds are always paid in full: a short blind leaves room for more than one reading.
        low = 25 * rng.randint(1, 12) + 2 * self.unit
        self.stacks = [
            rng.choice((low, 25 * rng.randint(40, 400), 25 * rng.randint(40, 400), 25 * rng.randint(200, 1200)))
            for _ in range(seats)
        ]
        self.start_chips = [stack_of(s, rng) for s in self.stacks]
        self.chips = [Counter(c) for c in self.start_chips]
        self.book = Ledger(self.stacks, self.antes, self.blinds, self.unit)
        self.on_felt: list[Counter[int]] = [Counter() for _ in range(seats)]
        self.events: list[dict[str, Any]] = []
        self.expected: list[dict[str, Any]] = []
        self.pots: list[int] = []
        self.street = 0
        self.k = seats
        self.small, self.big = small, big

    def _draw_antes(self, big: int) -> list[int]:
        kind = self.rng.randrange(4)
        if kind == 0:
            return [25] * self.n
        return [self.unit if i == big and kind == 1 else 0 for i in range(self.n)]

    # -- writing down -----------------------------------------------------------------------------

    def note(self, kind: str, **facts: Any) -> int:
        self.events.append({"i": len(self.events), "kind": kind, **facts})
        return len(self.events) - 1

    def pay(self, i: int, amount: int) -> Counter[int]:
        """Take chips worth ``amount`` from a stack, fetching change from the tray first where needed."""
        chips = exact(self.chips[i], amount)
        if chips is None:
            # Break the smallest chip that is larger than what the small ones leave open.
            for d in sorted(self.chips[i]):
                gives = Counter({d: 1})
                takes = self._change_for(d)
                if self.chips[i][d] and takes and exact(self.chips[i] - gives + takes, amount) is not None:
                    self.note("change", seat=i + 1, gives=_json(gives), takes=_json(takes))
                    self.chips[i] = self.chips[i] - gives + takes
                    break
            chips = exact(self.chips[i], amount)
        assert chips is not None, "a stack cannot pay although change was made"
        return chips

    def _change_for(self, d: int) -> Counter[int]:
        if d == CHIPS[0]:
            return Counter()
        smaller = [c for c in CHIPS if c < d]
        takes = Counter({smaller[-1]: d // smaller[-1]})
        for lower in reversed(smaller[:-1]):
            above = smaller[smaller.index(lower) + 1]
            takes[above] -= 1
            takes[lower] += above // lower
        return +takes

    def lay(self, i: int, chips: Counter[int]) -> None:
        self.chips[i] -= chips
        self.on_felt[i] += chips

    # -- one hand ---------------------------------------------------------------------------------

    def play(self) -> Hand:
        self.post()
        while True:
            self.bet_round()
            over = len(self.book.live()) == 1 or self.street == STREETS - 1 or not self.more_betting()
            self.finish_street(over)
            if over:
                break
            self.street += 1
            self.k += 1
            self.note("board", cards="2c3d4h" if self.street == 1 else "5s")
        return self.written()

    def more_betting(self) -> bool:
        """Somebody can still bet on a later street."""
        return sum(1 for i in self.book.live() if self.book.stack[i] > 0) >= 2

    def post(self) -> None:
        for what, amounts in (("ante", self.antes), ("blind", self.blinds)):
            for i, amount in enumerate(amounts):
                if not amount:
                    continue
                chips = self.pay(i, amount)
                self.lay(i, chips)
                facts: dict[str, Any] = {} if what == "ante" else {"short": False}
                self.note("post", seat=i + 1, what=what, chips=_json(chips), **facts)
            if what == "ante":
                self.on_felt = [Counter() for _ in range(self.n)]

    def bet_round(self) -> None:
        book = self.book
        at = self.big if self.street == 0 else self.n - 1
        raises = 0
        for _ in range(MAX_ACTS):
            if len(book.live()) == 1 or not any(book.waits_for(i) for i in range(self.n)):
                return
            at = (at + 1) % self.n
            if book.waits_for(at):
                raises += self.act(at, raises)
        raise AssertionError("a generated street does not end")

    def act(self, i: int, raises: int) -> bool:
        """One decision; True when it was a bet or raise."""
        book, rng = self.book, self.rng
        faces = book.faces(i)
        free = faces["raise_open"] and raises < MAX_RAISES
        if free and book.bet_to == 0:
            # An opening all-in below the minimum bet is read differently from house to house.
            free = faces["max_to"] >= book.big_blind
        roll = rng.random()
        if free and roll < 0.22:
            self.raise_(i, faces)
            return True
        if book.owes(i) <= 0:
            event = self.note("gesture", seat=i + 1, gesture="tap")
            book.acted[i] = True
            self.rule(i, faces, event, verb="check", to=book.bet[i], add=0)
        elif roll < 0.62:
            self.call(i, faces)
        else:
            event = self.note("gesture", seat=i + 1, gesture="cards-forward")
            book.fold(i)
            self.rule(i, faces, event, verb="fold", to=book.bet[i], add=0)
        return False

    def rule(self, i: int, faces: dict[str, Any], event: int, *, verb: str, to: int, add: int, **more: Any) -> None:
        all_in = verb not in ("fold", "check") and self.book.stack[i] == 0
        row = {"k": self.k, "street": self.street, "seat": i + 1, "verb": verb, "to": to, "add": add, **faces}
        self.expected.append({**row, "all_in": all_in, "event": event, **more})
        self.k += 1

    def call(self, i: int, faces: dict[str, Any]) -> None:
        book = self.book
        add, to = faces["to_call"], book.bet[i] + faces["to_call"]
        if add == book.stack[i]:
            self.note("declare", seat=i + 1, by="dealer-panel", verb="all-in")
            chips = +self.chips[i]
            self.lay(i, chips)
            event = self.note("push", seat=i + 1, chips=_json(chips), motions=1)
            book.put(i, to)
            self.rule(
                i,
                faces,
                event,
                verb="call",
                to=to,
                add=add,
                declared=True,
                why="declared-all-in-short-call",
                silent=None,
            )
            return
        one = [d for d in CHIPS if d > add and self.chips[i][d]]
        if one and self.rng.random() < 0.3:
            self.overcall(i, faces, one[0])
            return
        chips = self.pay(i, add)
        self.lay(i, chips)
        event = self.note("push", seat=i + 1, chips=_json(chips), motions=1)
        book.put(i, to)
        self.rule(i, faces, event, verb="call", to=to, add=add, declared=False, why="exact-call", silent=None)

    def overcall(self, i: int, faces: dict[str, Any], d: int) -> None:
        """One chip larger than the call, in silence: a call, and change from the tray."""
        add, to = faces["to_call"], self.book.bet[i] + faces["to_call"]
        chips = Counter({d: 1})
        self.lay(i, chips)
        event = self.note("push", seat=i + 1, chips=_json(chips), motions=1)
        back = rack(d - add)
        self.book.put(i, to)
        self.rule(
            i, faces, event, verb="call", to=to, add=add, declared=False, why="one-chip", silent=None, change=d - add
        )
        self.note("change-back", seat=i + 1, chips=_json(back))
        self.chips[i] += back

    def raise_(self, i: int, faces: dict[str, Any]) -> None:
        book, rng = self.book, self.rng
        opening = book.bet_to == 0
        verb = "bet" if opening else "raise"
        low, high = faces["min_to"], faces["max_to"]
        sizes = [low, low, 2 * low, low + 25 * rng.randint(0, 40), faces["pot_before"] + book.bet_to]
        to = max(low, rng.choice(sizes)) // 25 * 25
        if to >= high or rng.random() < 0.08:
            self.note("declare", seat=i + 1, by="dealer-panel", verb="all-in")
            chips, to, why = +self.chips[i], high, "declared-all-in"
        else:
            chips, why = self.pay(i, to - book.bet[i]), "opening-bet" if opening else "full-raise"
            # In silence, chips that are all needed to call only call, one as well as several (TDA 44-A, 45-A).
            needed = total(chips) - min(chips) < faces["to_call"]
            if not opening and (sum(chips.values()) == 1 or rng.random() < 0.1 or needed):
                self.note("declare", seat=i + 1, by="dealer-panel", verb="raise", to=to)
                why = "declared-amount"
        add = to - book.bet[i]
        self.lay(i, chips)
        event = self.note("push", seat=i + 1, chips=_json(chips), motions=1)
        book.put(i, to)
        self.rule(i, faces, event, verb=verb, to=to, add=add, declared=why.startswith("declared"), why=why, silent=None)

    def finish_street(self, over: bool) -> None:
        book = self.book
        shown = over and len(book.live()) > 1
        if shown:
            for i in book.live():
                self.note("show", seat=i + 1)
        seat, amount = book.uncalled()
        if over and amount:
            book.give_back(seat, amount)
            back = exact(self.on_felt[seat], amount) or rack(amount)
            self.note("return", seat=seat + 1, chips=_json(back), amount=amount)
            self.chips[seat] += back
        pot = book.close()
        self.on_felt = [Counter() for _ in range(self.n)]
        self.pots.append(pot)
        self.note("collect", pot=pot)
        if shown:
            # An all-in before the river: the rest of the board comes; streets before the river repeat the pot.
            for street in range(self.street + 1, STREETS):
                if street < STREETS - 1:
                    self.pots.append(pot)
                self.note("board", cards="2c3d4h" if street == 1 else "5s")

    def written(self) -> Hand:
        raw = {
            "hand": self.name,
            "variant": "NT",
            "structure": "no-limit",
            "players": self.n,
            "antes": self.antes,
            # The nominal level, small blind first; heads-up the events say who posts which.
            "blinds": [self.unit // 2, self.unit, *[0] * (self.n - 2)],
            "stacks": self.stacks,
            "chips": [_json(c) for c in self.start_chips],
            "denominations": list(CHIPS),
            "min_bet": self.unit,
            "events": self.events,
            "expected": self.expected,
            "street_pots": self.pots,
            "before_award_stacks": self.book.stack,
        }
        hand = msgspec.json.decode(msgspec.json.encode(raw), type=Hand)
        check_hand(hand, "generated")
        assert [total(c) for c in self.chips] == self.book.stack, "chips and ledger disagree"
        return hand


def _json(chips: Counter[int]) -> dict[str, int]:
    return {str(d): chips[d] for d in sorted(chips, reverse=True) if chips[d] > 0}


def generate_hand(seed: int, seats: int | None = None) -> Hand:
    """One legal no-limit hand, the same for the same seed; ``seats`` 2 to 10, drawn if not given."""
    rng = Random(seed)
    return _Dealer(f"sim-{seed}", rng, seats or rng.randint(2, 10)).play()


def generate_hands(seed: int, count: int, seats: int | None = None) -> list[Hand]:
    """``count`` hands from consecutive seeds."""
    return [generate_hand(seed * 1_000_000 + i, seats) for i in range(count)]
