"""What the dealer does with chips: change, what is owed and what goes back, and the bets into the pot."""

from __future__ import annotations

from collections import Counter

from hw_sim.acts import Act, Stroke, Timeline
from hw_sim.generate import exact
from hw_sim.styles import take
from hw_sim.world import POT, TRAY, Chip, Spot
from tabled.rules.hand import Hand
from tabled.rules.judge import Judgement
from tests.eval.clockwork import Clockwork

DRAG_SHARE = 0.3
"""Bets that the dealer drags across a neighbour's zone on their way to the pot."""
SWAP_SHARE = 0.5
"""Change made by taking the big chip and laying small ones, instead of handing change out of the tray."""


class HandSpoilt(Exception):
    """The hand cannot go on: what follows would only repeat the same complaint."""


class Dealer:
    """Moves chips at one table.  ``given`` is the change that each seat got for chips that still lie in its bet."""

    def __init__(self, table: Clockwork) -> None:
        self.table = table
        self.given: dict[str, int] = {}

    def fetch(self, seat: str, amount: int) -> list[Chip] | None:
        """Chips of a stack worth ``amount``; the tray breaks larger ones where that helps."""
        world, spot = self.table.world, Spot("stack", seat)
        for _ in range(4):
            stack = list(reversed(world.at(spot)))
            chips = take(stack, amount)
            if chips is not None or not stack:
                return chips
            tray = Counter(c.denomination for c in world.at(TRAY))
            for big in sorted({c.denomination for c in stack}):
                small = exact(Counter({d: n for d, n in tray.items() if d < big}), big)
                left = Counter(c.denomination for c in stack) - Counter({big: 1})
                if small is not None and exact(left + small, amount):
                    now = self.table.now
                    world.move(world.pick(spot, {big: 1}), spot, TRAY, now, "for change")
                    world.move(world.pick(TRAY, small), TRAY, spot, now, "change")
                    break
            else:
                return None
        return None

    def put(self, seat: str, amount: int, why: str, *, later_s: float = 0.0) -> int:
        """Chips that are no act: a blind, or what is owed; returns when the hand has gone."""
        chips = self.fetch(seat, amount)
        if chips is None:
            raise HandSpoilt
        timeline = Timeline(Act(seat=int(seat), kind=why, to_act=int(seat)))
        self.table.hands.visit(timeline, 0.0, [Stroke(chips=chips, reach=0.35)])
        return self.table.perform(timeline, later_s)

    def settle(self, hand: Hand, seat: str, right: Judgement) -> None:
        """The chips before the seat become worth its counted bet."""
        t = self.table
        bet, stack = Spot("bet", seat), Spot("stack", seat)
        over = t.world.value(bet) - self.given[seat] - hand.bet_of(seat)
        if over == 0 or right.ruling.verb == "fold":
            return
        if over < 0:
            over_ns = self.put(seat, -over, "adds what is owed")
            t.wait(over_s(t, over_ns) + self.table.rng.uniform(0.3, 0.8))
            return
        back = exact(Counter(c.denomination for c in t.world.at(bet)), over)
        timeline = Timeline(Act(seat=int(seat), kind="dealer", to_act=int(seat)))
        t.hands.arm(timeline, 0.0, int(seat), stay=0.8)
        if back is not None:
            timeline.at(0.4, lambda now: t.world.move(t.world.pick(bet, back), bet, stack, now, "returned"))
        else:
            self._change(timeline, seat, over)
        t.wait(over_s(t, t.perform(timeline)) + self.table.rng.uniform(0.2, 0.6))

    def _change(self, timeline: Timeline, seat: str, over: int) -> None:
        """The dealer breaks the big chip, or hands change out of the tray and leaves it there."""
        world = self.table.world
        bet, stack = Spot("bet", seat), Spot("stack", seat)
        tray = Counter(c.denomination for c in world.at(TRAY))
        big = min((c for c in world.at(bet) if c.denomination > over), key=lambda c: c.denomination, default=None)
        out = exact(tray, over)
        if out is None:
            raise HandSpoilt
        rest = exact(tray - out, big.denomination - over) if big is not None else None
        swap = self.table.rng.random() < SWAP_SHARE and big is not None and rest is not None
        timeline.at(0.5, lambda now: world.move(world.pick(TRAY, out), TRAY, stack, now, "change"))
        if not swap or big is None or rest is None:
            self.given[seat] += over
            return
        timeline.at(0.3, lambda now: world.move([big], bet, TRAY, now, "to break"))
        timeline.at(0.6, lambda now: world.move(world.pick(TRAY, rest), TRAY, bet, now, "what is bet, in change"))

    def sweep(self) -> None:
        """The dealer's arm goes from seat to seat and drags each bet to the pot."""
        t = self.table
        at = 0.0
        timeline = Timeline(Act(seat=1, kind="sweep", to_act=0))
        for seat in t.seats:
            bet = Spot("bet", seat)
            if not t.world.at(bet):
                continue
            n = int(seat)
            t.hands.arm(timeline, at, n, stay=0.3)
            near = [Spot("bet", str(k)) for k in (n - 1, n + 1) if 1 <= k <= len(t.seats)]
            if self.table.rng.random() < DRAG_SHARE:
                over = self.table.rng.choice(near)
                self._drag(timeline, at + 0.1, bet, over)
            else:
                self._take(timeline, at + 0.15, bet)
            at += self.table.rng.uniform(0.25, 0.5)
        if at:
            t.wait(over_s(t, t.perform(timeline)))

    def _take(self, timeline: Timeline, at: float, bet: Spot) -> None:
        world = self.table.world
        timeline.at(at, lambda now: world.move(world.at(bet), bet, POT, now, "swept"))

    def _drag(self, timeline: Timeline, at: float, bet: Spot, over: Spot) -> None:
        world = self.table.world
        dragged: list[Chip] = []

        def across(now: int) -> None:
            dragged.extend(world.at(bet))
            world.move(dragged, bet, over, now, "dragged across")

        timeline.at(at, across)
        timeline.at(at + 0.12, lambda now: world.move(dragged, over, POT, now, "swept"))

    def stray_chips(self) -> None:
        """What rolled off goes to the pot."""
        world = self.table.world
        for spot in world.spots():
            if spot.kind == "felt":
                world.move(world.at(spot), spot, POT, self.table.now, "gathered")


def over_s(table: Clockwork, ns: int) -> float:
    """Seconds until an instant."""
    return max(0, ns - table.now) / 1_000_000_000
