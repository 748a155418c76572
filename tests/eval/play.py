"""Plays short hands at one table and holds each final ruling against the truth.

The table stays in play over several hands.  Whatever is wrong ends the hand (the floor abandons it), so that one fault
is counted once.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from hw_sim.acts import MS, Act, Timeline
from hw_sim.generate import stack_of
from hw_sim.noise import Disturbance
from hw_sim.styles import MEANWHILE, ROOM, STYLES, Decision, Scene, choose_as_in, dropped
from hw_sim.world import TRAY, Spot
from tabled.model.acts import AnyAct, Place, Say
from tabled.model.hand import HandSetup, SeatSetup
from tabled.model.outcome import AbandonHand, RulingIssued, StartHand
from tabled.rules.hand import Hand
from tabled.rules.judge import Judgement
from tabled.shell.profiles import load
from tests.eval import truth
from tests.eval.clockwork import Clockwork
from tests.eval.dealer import Dealer, HandSpoilt, over_s
from tests.eval.listener import Listener
from tests.eval.tally import Result, TableResult, Verdict
from tests.eval.watch import Watch, result

PROFILES = ("swedish", "tda-2024", "dutch-half-bet", "dutch-full-bet", "wsop-2026", "roberts")
LAWS = tuple(load(name) for name in PROFILES)
"""Read once, so that all processes of a run judge by the same law even if its files change meanwhile."""
SMALL, BIG, UNIT = 50, 100, 25
ACTS_PER_TABLE = 24
MAX_HANDS = 12
MAX_RAISES = 3
PATIENCE_S = 12.0
"""A final ruling that has not come so long after the act is none: forty looks at a stack of 24 chips take 10 s.  How
late it comes is counted by itself."""
AMENDS_S = 4.0
"""A wrong ruling has so long to be corrected."""


class Game:
    """One table.  ``styles`` are the weights by which acts are carried out."""

    def __init__(
        self,
        seed: int,
        index: int,
        noise: Disturbance,
        *,
        styles: dict[str, float] | None = None,
        meanwhile: dict[str, float] | None = None,
        acts: int = ACTS_PER_TABLE,
        trace: Callable[[str], None] | None = None,
    ) -> None:
        self.where, self.index, self.wanted = f"{seed}:{index}", index, acts
        self.styles = ROOM if styles is None else styles
        self.meanwhile = MEANWHILE if meanwhile is None else meanwhile
        self.profile = LAWS[(seed + index) % len(LAWS)]
        self.trace = trace
        self.seats = 3 + (seed * 7 + index) % 5
        self.results: list[Result] = []
        self.ears = Listener()
        self.table = Clockwork(
            self.where, seats=self.seats, profile=self.profile, noise=noise, listen=self.ears.hear, trace=trace
        )
        t = self.ears.table = self.table
        self.dealer = Dealer(t)
        self.rng = t.rng
        self.scene = Scene(hands=t.hands, rng=t.rng, world=t.world, reaction=t.reaction, seats=self.seats)
        self.hand: Hand | None = None
        self.raises = 0

    # -- the whole --------------------------------------------------------------------------------

    def play(self) -> TableResult:
        """Hands until enough acts have been seen."""
        for n in range(MAX_HANDS):
            if len(self.results) >= self.wanted:
                break
            try:
                self._play_hand(n)
            except HandSpoilt:
                self._abandon(n)
            if not self._clear():
                break
        t = self.table
        looks = sum(n for n, _ in t.reads.values())
        whole = (t.now - min(first for _, first in t.reads.values())) / MS
        each = whole / max(1, looks)
        favoured = t.noise.favour
        return TableResult(
            index=self.index,
            acts=tuple(self.results),
            alerts=dict(self.ears.alerts),
            sweep_ms=each * self.seats * (2 if favoured else 1),
            favoured_ms=each * 2 if favoured else each * self.seats,
            entries=t.fed,
            virtual_s=whole / 1000,
            misses=t.reader.model,
        )

    def _play_hand(self, n: int) -> None:
        self._deal(n)
        assert self.hand is not None
        while True:
            hand = self.hand
            seat = hand.to_act
            if hand.over or seat is None:
                over = self._end_street()
                if over:
                    return
                continue
            self._one_act(seat)
            if len(self.results) >= self.wanted:
                raise HandSpoilt

    def _say(self, text: str) -> None:
        if self.trace is not None:
            self.trace(text)

    # -- a hand's course --------------------------------------------------------------------------

    def _deal(self, n: int) -> None:
        t = self.table
        seats = []
        for k, seat in enumerate(t.seats):
            stack = self.rng.randint(20, 240) * UNIT * 4
            counts = stack_of(stack, self.rng)
            if not t.world.has(TRAY, counts):
                raise HandSpoilt
            t.world.move(t.world.pick(TRAY, counts), TRAY, Spot("stack", seat), t.now, "buys in")
            seats.append(SeatSetup(seat, stack, blind=(SMALL, BIG, 0)[min(k, 2)]))
        setup = HandSetup(
            hand_id=f"{self.where}-{n}", seats=tuple(seats), blinds=(SMALL, BIG), chip_unit=UNIT, button=t.seats[-1]
        )
        self.hand = Hand.start(setup, self.profile)
        self.dealer.given, self.raises = dict.fromkeys(t.seats, 0), 0
        self.ears.new_hand()
        t.order(StartHand(request=f"{self.where}-{n}", who="floor", setup=setup))
        for seat, amount in zip(t.seats, (SMALL, BIG), strict=False):
            self.dealer.put(seat, amount, "posts", later_s=self.rng.uniform(0.0, 0.8))
        if not t.run(lambda: t.state.phase == "betting", PATIENCE_S):
            self._refused(f"the hand did not begin: phase {t.state.phase}")
        t.wait(self.rng.uniform(0.2, 0.8))

    def _refused(self, why: str) -> None:
        self._note("refused", "course", why)
        raise HandSpoilt

    def _note(self, verdict: Verdict, style: str, note: str) -> None:
        self._say(f"### {verdict} {style}: {note}")
        result = Result(where=self.where, act=len(self.results), style=style, verdict=verdict, note=note)
        self.results.append(result)

    # -- one act ----------------------------------------------------------------------------------

    def _decide(self, hand: Hand, seat: str) -> Decision | str:
        rng = self.rng
        may, bet = hand.option(seat), hand.bet_of(seat)
        mine = bet + hand.stack_of(seat)
        roll = rng.random()
        free = may.raise_min_to is not None and self.raises < MAX_RAISES
        if free and roll < 0.38:
            low = may.raise_min_to or 0
            to = rng.choice((low, low, 2 * low, low + UNIT * rng.randint(0, 40), low + BIG * rng.randint(0, 12)))
            to = min(max(low, to // UNIT * UNIT), mine)
            verb = "raise" if hand.bet_to else "bet"
        elif may.check:
            return "check"
        elif roll < 0.82 and may.call_to is not None:
            verb, to = "call", may.call_to
        else:
            return "fold"
        if to >= mine:
            verb, to = "all-in", mine
        chips = self.dealer.fetch(seat, to - bet)
        if chips is None:
            return "check" if may.check else "fold"
        owes = min(hand.bet_to, mine) - bet
        return Decision(
            seat=int(seat), verb=verb, to=to, add=to - bet, to_call=owes, min_to=may.raise_min_to, bet=bet, chips=chips
        )

    def _lying(self, hand: Hand, seat: str) -> tuple[int, ...]:
        """The chips before a seat, as the law counts them: not what change has been given for."""
        chips = self.table.world.at(Spot("bet", seat))
        bet = hand.bet_of(seat)
        if self.dealer.given[seat] or (not chips and bet):
            return (bet,) if bet else ()
        return tuple(sorted((c.denomination for c in chips), reverse=True))

    def _one_act(self, seat: str) -> None:
        """The seat to act acts, and perhaps somebody else with it."""
        hand = self.hand
        assert hand is not None
        self.ears.extra = []
        lying = self.table.state.attempts.get(seat) if seat in self.ears.dropped else None
        if lying is not None and not lying.empty:
            raise HandSpoilt  # its dropped chip still means something, and what, nobody at the table would agree on
        roll = 1000 * self.rng.random()
        share = self.meanwhile
        if roll < share.get("out_of_turn", 0) and self._out_of_turn(hand, seat):
            return
        watch = self._begin(hand, seat, self._decide(hand, seat))
        roll = 1000 * self.rng.random()
        second = self._together(watch) if roll < share.get("together", 0) else None
        self._others(watch)
        self._finish(watch, think=second is None)
        if second is not None:
            self._finish(second)

    def _begin(
        self, hand: Hand, seat: str, choice: Decision | str, *, style: str = "", later_s: float = 0.0,
        bet_then: int | None = None,
    ) -> Watch:  # fmt: skip
        """A seat carries out what it decided, from so many seconds on."""
        t = self.table
        act = Act(seat=int(seat), kind="gesture", to_act=int(hand.to_act or 0))
        timeline = Timeline(act)
        if isinstance(choice, str):
            what = "tap" if choice == "check" else "cards-forward"
            style = act.kind = choice
            t.hands.gesture(timeline, 0.0, what, choice, reaction=t.reaction())
        else:
            style = style or choose_as_in(self.scene, choice, self.styles)
            act.kind, act.intent, act.intent_to = style, choice.verb, choice.to
            STYLES[style].build(self.scene, timeline, choice)
        spot = truth.Spot(hand=hand, profile=self.profile, seat=seat, lying=self._lying(hand, seat), bet_then=bet_then)
        self._say(f"### act {len(self.results)}: seat {seat} {style} {_told(choice)} under {self.profile.name}")
        watch = self.ears.watches[seat] = self.ears.last[seat] = Watch(act, spot, style)
        t.perform(timeline, later_s)
        return watch

    def _finish(self, watch: Watch, *, think: bool = True) -> None:
        """Wait for the ruling, hold it against the truth, and put the chips right."""
        t = self.table
        over = watch.act.ended_ns
        t.run(lambda: t.now >= over and bool(watch.finals) and t.state.question is None, over_s(t, over) + PATIENCE_S)
        self._wait_for_open_question()
        self._score(watch, self._amends(watch, think=think))

    def _together(self, first: Watch) -> Watch | None:
        """The next player moves when he has seen what the first did, before anybody has ruled on it."""
        if first.style not in ("plain", "check", "fold"):
            return None
        acts = _meant(first)
        judged = first.spot.judge(acts)
        after = judged.after
        if after is None or after.to_act is None or judged.ruling.add or judged.ruling.back:
            return None
        choice = self._decide(after, after.to_act)
        if isinstance(choice, str) or choice.verb == "all-in":
            return None
        binds = 0.0 if first.style != "plain" else 0.4
        first.style += ", next moves"
        later = binds + self.rng.uniform(0.1, 1.0)
        return self._begin(after, after.to_act, choice, style="plain", later_s=later)

    def _out_of_turn(self, hand: Hand, seat: str) -> bool:
        """A later player bets first; then the seat to act does, and the other's turn comes."""
        trial = hand.copy()
        trial.pass_turn(trial.table.index[seat])
        later = trial.to_act
        if later is None or later == seat:
            return False
        choice = self._decide(trial, later)
        if isinstance(choice, str) or choice.verb == "all-in":
            return False
        early = self._begin(hand, later, choice, style="plain", bet_then=hand.bet_to)
        early.style = "out_of_turn"
        self.table.wait(self.rng.uniform(2.5, 4.0))
        first = self._begin(hand, seat, self._decide(hand, seat), style="plain")
        first.style += ", other was early"
        self._finish(first, think=False)
        assert self.hand is not None
        if self.hand.to_act != later:
            raise HandSpoilt  # the hand is over, or the turn went elsewhere: nothing more is asked of the early act
        early.spot = msgspec.structs.replace(early.spot, hand=self.hand)
        self._finish(early)
        return True

    def _others(self, watch: Watch) -> None:
        """What other people do at the same time; none of it means anything."""
        t, share = self.table, self.meanwhile
        trial = watch.spot.hand.copy()
        trial.pass_turn(trial.table.index[watch.spot.seat])
        others = [s for s in t.seats if s not in self.ears.watches and s != trial.to_act]
        for what, own in (("fidget", False), ("passing", True), ("bystander", False)):
            if 1000 * self.rng.random() >= share.get(what, 0) or not (others or own):
                continue
            seat = self.rng.choice(t.seats if own else others)
            timeline = Timeline(Act(seat=int(seat), kind=what, to_act=watch.act.seat))
            at = self.rng.uniform(0.0, 1.2)
            if what == "passing":
                t.hands.arm(timeline, at, int(seat), stay=self.rng.uniform(0.3, 1.0))
            elif what == "fidget":
                t.hands.empty_trip(timeline, at, stay=self.rng.uniform(0.3, 1.5))
            elif chips := self.scene.stack(int(seat))[:1]:
                dropped(self.scene, timeline, at, chips)
                self.ears.dropped.add(seat)
            watch.act.ended_ns = max(watch.act.ended_ns, t.perform(timeline))

    def _wait_for_open_question(self) -> None:
        t = self.table
        if t.state.question is not None:
            t.run(lambda: t.state.question is None, 4.0)

    def _amends(self, watch: Watch, *, think: bool) -> Judgement | None:
        """The right ruling that was given last, with time for the next player to think and for a correction."""
        t = self.table

        looked: tuple[RulingIssued | None, Judgement | None] = (None, None)

        def match() -> Judgement | None:
            nonlocal looked
            asked = t.state.question
            if not watch.rulings or (asked is not None and asked.seat == watch.spot.seat):
                return None
            final = watch.rulings[-1] if watch.rulings[-1].status == "final" else watch.finals[-1]
            if final is not looked[0]:
                right = truth.accepted(watch.spot, watch.act, final.ruled_ns)
                looked = final, truth.match(right, final.ruling, watch.style)
            return looked[1]

        if not watch.finals:
            return None
        if match() is None:
            t.run(lambda: match() is not None, AMENDS_S)
        if think:
            t.wait(self.rng.uniform(0.2, 1.0))
        return match()

    def _score(self, watch: Watch, right: Judgement | None) -> None:
        final = watch.finals[-1] if watch.finals else None
        verdict: Verdict = "right" if right is not None else "wrong" if final is not None else "unruled"
        scored = result(watch, verdict, where=self.where, number=len(self.results), now_ns=self.table.now)
        self.results.append(scored)
        self._say(f"### {scored}")
        if self.ears.lost:
            raise HandSpoilt
        if self.ears.extra and verdict == "right":
            self._note("extra", watch.style, "; ".join(self.ears.extra))
            raise HandSpoilt
        if right is None or final is None:
            raise HandSpoilt
        seat = watch.spot.seat
        assert self.hand is not None
        del self.ears.watches[seat]
        self.ears.past[seat, final.act] = truth.accepted(watch.spot, watch.act, final.ruled_ns)
        if right.after is None:
            self._void(seat, right)
            return
        self.raises += right.after.bet_to > self.hand.bet_to
        self.hand = right.after
        self.dealer.settle(self.hand, seat, right)

    def _void(self, seat: str, right: Judgement) -> None:
        """The act does not count; its chips go back and the seat chooses again.  Anything else is for the floor."""
        released = right.ruling.reason.code == "out_of_turn_released"
        if right.ruling.action != "call_or_fold" and not released:
            raise HandSpoilt
        assert self.hand is not None
        self.hand = self.hand.copy()
        if not released:
            self.hand.lose_raise(seat)
        self.dealer.settle(self.hand, seat, right)

    # -- chips after the ruling -------------------------------------------------------------------

    # -- the end of streets and hands -------------------------------------------------------------

    def _end_street(self) -> bool:
        """Sweep, and see that the product goes on; True when the hand is over."""
        t, hand = self.table, self.hand
        assert hand is not None
        self.ears.watches = {}
        t.wait(self.rng.uniform(0.3, 1.0))
        self.dealer.sweep()
        self.dealer.stray_chips()
        street = hand.street
        over = hand.over

        def moved_on() -> bool:
            state = t.state
            return state.phase == "over" if over else state.hand is not None and state.hand.street > street

        if not t.run(moved_on, PATIENCE_S):
            self._refused(f"the street did not end: phase {t.state.phase}")
        if self.ears.lost:
            raise HandSpoilt
        if self.ears.extra:
            self._note("extra", "sweep", "; ".join(self.ears.extra))
            raise HandSpoilt
        if over:
            return True
        hand = hand.copy()
        hand.close_street()
        if hand.over:
            return True
        hand.deal_next_street()
        self.hand = hand
        self.dealer.given, self.raises = dict.fromkeys(t.seats, 0), 0
        self.ears.new_street()
        t.wait(self.rng.uniform(0.3, 0.8))
        return False

    def _abandon(self, n: int) -> None:
        t = self.table
        self.ears.watches = {}
        t.run(lambda: False, 3.0)  # whatever was still on its way
        if t.state.hand is not None and t.state.phase != "over":
            t.order(AbandonHand(request=f"{self.where}-{n}-void", who="floor"))

    def _clear(self) -> bool:
        """All chips to the tray; True when the product knows that the felt is empty, so that a hand may begin."""
        t = self.table
        for spot in t.world.spots():
            if spot != TRAY:
                t.world.move(t.world.at(spot), spot, TRAY, t.now, "the hand is over")
        if t.run(lambda: not any(line.settled for line in t.state.lines.values()) and not t.state.places, 5.0):
            return True
        phantoms = {seat: tuple(line.settled.values()) for seat, line in t.state.lines.items() if line.settled}
        self._note("refused", "course", f"the felt is empty, and the product still has chips there: {phantoms}")
        return False


def _told(choice: Decision | str) -> str:
    if isinstance(choice, str):
        return ""
    chips = ",".join(str(c.denomination) for c in choice.chips)
    return f"{choice.verb} to {choice.to} (owes {choice.to_call}) with {chips}"


def _meant(watch: Watch) -> list[AnyAct]:
    """The acts of somebody who does the simplest thing, before it has happened."""
    seat = watch.spot.seat
    if watch.style in ("check", "fold"):
        return [Say(seat, "check" if watch.style == "check" else "fold")]
    part = next(i for i in watch.act.inputs if i["what"] == "motion")
    return [Place(seat, tuple(sorted((int(d) for d, n in part["chips"].items() for _ in range(n)), reverse=True)))]


def play_table(seed: int, index: int, noise: Disturbance, **how: Any) -> TableResult:
    """One table from its seed and index alone."""
    return Game(seed, index, noise, **how).play()
