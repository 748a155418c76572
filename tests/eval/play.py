"""Plays short hands at one table and holds each final ruling against the truth.

The table stays in play over several hands.  Whatever is wrong ends the hand (the floor abandons it), so that one fault
is counted once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import msgspec

from hw_sim.acts import MS, Act, Stroke, Timeline
from hw_sim.generate import exact, stack_of
from hw_sim.noise import Disturbance
from hw_sim.styles import MEANWHILE, ROOM, STYLES, Decision, Scene, choose_as_in, dropped, take
from hw_sim.world import POT, TRAY, Chip, Spot
from tabled.model.acts import AnyAct, Place, Say
from tabled.model.hand import HandSetup, SeatSetup
from tabled.model.outcome import (
    AbandonHand,
    AlertRaised,
    AnyOutcome,
    Choice,
    QuestionAsked,
    QuestionClosed,
    RulingIssued,
    StartHand,
)
from tabled.rules.hand import Hand
from tabled.rules.judge import Judgement
from tabled.shell.profiles import load
from tests.eval import truth
from tests.eval.clockwork import Clockwork
from tests.eval.tally import Result, TableResult, Verdict

PROFILES = ("swedish", "tda-2024", "dutch-half-bet", "dutch-full-bet", "wsop-2026", "roberts")
SMALL, BIG, UNIT = 50, 100, 25
ACTS_PER_TABLE = 24
MAX_HANDS = 12
MAX_RAISES = 3
PATIENCE_S = 8.0
"""A final ruling that has not come so long after the act is none."""
AMENDS_S = 4.0
"""A wrong ruling has so long to be corrected."""
DRAG_SHARE = 0.3
"""Bets that the dealer drags across a neighbour's zone on their way to the pot."""
SWAP_SHARE = 0.5
"""Change made by taking the big chip and laying small ones, instead of handing change out of the tray."""
UNTIMED = ("drop", "out_of_turn")
"""Acts whose ruling waits for something else than the chips, or where what touched first means nothing."""


class HandSpoilt(Exception):
    """The hand cannot go on: what follows would only repeat the same complaint."""


class Watch:
    """What is heard while one seat acts."""

    def __init__(self, act: Act, spot: truth.Spot, style: str) -> None:
        self.act, self.spot, self.style = act, spot, style
        self.rulings: list[RulingIssued] = []
        self.questions: list[str] = []
        self.idle = 0

    @property
    def finals(self) -> list[RulingIssued]:
        """Final rulings, oldest first."""
        return [r for r in self.rulings if r.status == "final"]


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
        spoil: Callable[[RulingIssued], RulingIssued] | None = None,
    ) -> None:
        self.where, self.index, self.wanted = f"{seed}:{index}", index, acts
        self.styles = ROOM if styles is None else styles
        self.meanwhile = MEANWHILE if meanwhile is None else meanwhile
        self.profile = load(PROFILES[(seed + index) % len(PROFILES)])
        self.trace, self.spoil = trace, spoil
        self.seats = 3 + (seed * 7 + index) % 5
        self.results: list[Result] = []
        self.alerts: Counter[str] = Counter()
        self.watches: dict[str, Watch] = {}
        """Who acts now, by seat."""
        self.past: dict[tuple[str, int], list[Judgement]] = {}
        """What was right for acts of this hand that are scored already, by seat and the ruling's number."""
        self.last: dict[str, Watch] = {}
        self.extra: list[str] = []
        self._asked: dict[int, Watch] = {}
        self.table = Clockwork(
            self.where, seats=self.seats, profile=self.profile, noise=noise, listen=self._hear, trace=trace
        )
        t = self.table
        self.rng = t.rng
        self.scene = Scene(hands=t.hands, rng=t.rng, world=t.world, reaction=t.reaction, seats=self.seats)
        self.hand: Hand | None = None
        self.given: dict[str, int] = {}
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
            self._clear()
        t = self.table
        spans = [(n, (t.now - first) / MS / n) for n, first in t.reads.values()]
        looks = sum(n for n, _ in t.reads.values())
        whole = (t.now - min(first for _, first in t.reads.values())) / MS
        each = whole / max(1, looks)
        favoured = t.noise.favour
        return TableResult(
            index=self.index,
            acts=tuple(self.results),
            alerts=dict(self.alerts),
            sweep_ms=each * self.seats * (2 if favoured else 1),
            favoured_ms=each * 2 if favoured else each * self.seats,
            entries=t.fed,
            virtual_s=whole / 1000 if spans else 0.0,
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

    # -- hearing ----------------------------------------------------------------------------------

    def _hear(self, position: int, outcome: AnyOutcome) -> None:
        if isinstance(outcome, RulingIssued):
            self._ruled(self.spoil(outcome) if self.spoil else outcome)
        elif isinstance(outcome, QuestionAsked):
            watch = self.watches.get(outcome.seat)
            if watch is None:
                self.alerts[f"{outcome.reason.code}, when the act was over"] += 1
            if (watch := watch or self.last.get(outcome.seat)) is not None:
                watch.questions.append(outcome.reason.code)
                self._asked[position] = watch
            low, high = self.table.noise.answer_ms
            self.table.after(self.rng.uniform(low, high) / 1000, lambda: self._answer(position, outcome))
        elif isinstance(outcome, QuestionClosed):
            if outcome.answer is None and outcome.question in self._asked:
                self._asked[outcome.question].idle += 1
        elif isinstance(outcome, AlertRaised) and not outcome.cleared:
            self.alerts[outcome.reason.code] += 1

    def _ruled(self, said: RulingIssued) -> None:
        seat = said.ruling.seat
        watch = self.watches.get(seat)
        if said.ruling.action == "held_out_of_turn":
            truly = watch is not None and watch.spot.bet_then is not None
            self.alerts["out of turn, truly" if truly else "out of turn, falsely"] += 1
            return
        if watch is not None:
            watch.rulings.append(said)
            return
        if said.status != "final":
            return
        known = self.past.get((seat, said.act))
        if known is None or all(truth.outcome(j.ruling) != truth.outcome(said.ruling) for j in known):
            self.extra.append(f"{said.ruling.action} to {said.ruling.to} for seat {seat} ({said.ruling.reason.code})")

    def _answer(self, position: int, question: QuestionAsked) -> None:
        state, watch = self.table.state, self._asked.get(position)
        if state.question is None or state.question.position != position or watch is None:
            return
        self.table.press(self._true_key(question, watch))

    def _true_key(self, question: QuestionAsked, watch: Watch) -> str:
        """What really happened, as one of the question's two keys."""
        touch, word = truth.first_touch_ns(watch.act), truth.first_word_ns(watch.act)
        kinds: dict[str, bool] = {
            "ask_one_motion": truth.one_motion(watch.act),
            "ask_said_first": word is not None and (touch is None or word < touch),
            "ask_change_given": True,
        }
        yes = kinds.get(question.reason.code)
        if yes is None:
            right = truth.accepted(watch.spot, watch.act, self.table.now)
            fit = [c.key for c in question.choices if any(_chosen(c, j) for j in right)]
            if len(fit) == 1:
                return fit[0]
            yes = any(i["what"] == "word" for i in watch.act.inputs)  # whose word it was
        return "key_a" if yes else "key_b"

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
        self.given, self.raises, self.past, self.watches = dict.fromkeys(t.seats, 0), 0, {}, {}
        self.last = {}
        t.order(StartHand(request=f"{self.where}-{n}", who="floor", setup=setup))
        for seat, amount in zip(t.seats, (SMALL, BIG), strict=False):
            self._put(seat, amount, "posts", later_s=self.rng.uniform(0.0, 0.8))
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

    def _fetch(self, seat: str, amount: int) -> list[Chip] | None:
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

    def _put(self, seat: str, amount: int, why: str, *, later_s: float = 0.0) -> int:
        """Chips that are no act: a blind, or what is owed; returns when the hand has gone."""
        chips = self._fetch(seat, amount)
        if chips is None:
            raise HandSpoilt
        timeline = Timeline(Act(seat=int(seat), kind=why, to_act=int(seat)))
        self.table.hands.visit(timeline, 0.0, [Stroke(chips=chips, reach=0.35)])
        return self.table.perform(timeline, later_s)

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
        chips = self._fetch(seat, to - bet)
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
        if self.given[seat] or (not chips and bet):
            return (bet,) if bet else ()
        return tuple(sorted((c.denomination for c in chips), reverse=True))

    def _one_act(self, seat: str) -> None:
        """The seat to act acts, and perhaps somebody else with it."""
        hand = self.hand
        assert hand is not None
        self.extra = []
        self.table.reader.favoured = int(seat)
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
        watch = self.watches[seat] = self.last[seat] = Watch(act, spot, style)
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
        others = [s for s in t.seats if s not in self.watches and s != self._next_after(watch.spot.seat)]
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
            watch.act.ended_ns = max(watch.act.ended_ns, t.perform(timeline))

    def _next_after(self, seat: str) -> str:
        seats = self.table.seats
        return seats[(seats.index(seat) + 1) % len(seats)]

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
            if not watch.rulings or t.state.question is not None:
                return None
            final = watch.rulings[-1] if watch.rulings[-1].status == "final" else watch.finals[-1]
            if final is not looked[0]:
                right = truth.accepted(watch.spot, watch.act, final.ruled_ns)
                same = [j for j in right if truth.effect(j.ruling) == truth.effect(final.ruling)]
                looked = final, (same[0] if same else None)
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
        result = self._result(watch, final, verdict)
        self.results.append(result)
        self._say(f"### {result}")
        if self.extra and verdict == "right":
            self._note("extra", watch.style, "; ".join(self.extra))
            raise HandSpoilt
        if right is None or final is None:
            raise HandSpoilt
        seat = watch.spot.seat
        assert self.hand is not None
        del self.watches[seat]
        self.past[seat, final.act] = truth.accepted(watch.spot, watch.act, final.ruled_ns)
        if right.after is None:
            self._void(seat, right)
            return
        self.raises += right.after.bet_to > self.hand.bet_to
        self.hand = right.after
        self._settle(seat, right)

    def _void(self, seat: str, right: Judgement) -> None:
        """The act does not count; its chips go back and the seat chooses again.  Anything else is for the floor."""
        released = right.ruling.reason.code == "out_of_turn_released"
        if right.ruling.action != "call_or_fold" and not released:
            raise HandSpoilt
        assert self.hand is not None
        self.hand = self.hand.copy()
        if not released:
            self.hand.lose_raise(seat)
        self._settle(seat, right)

    def _result(self, watch: Watch, final: RulingIssued | None, verdict: Verdict) -> Result:
        act, spot = watch.act, watch.spot
        right = truth.accepted(spot, act, final.ruled_ns if final else self.table.now)
        effects = [truth.effect(j.ruling) for j in right]
        single = act.one_motion()
        wrong = verdict == "wrong" and final is not None
        got = truth.effect(final.ruling) if final else ()
        alone = truth.effect(truth.as_one(spot, act)) if single is False and len(act.motions) > 1 else ()
        matters = single is False and bool(alone) and alone not in effects
        touch, said = truth.first_touch_ns(act), truth.first_word_ns(act)
        first = touch if touch is not None and (final is None or touch <= final.ruled_ns) else said
        in_span = None
        if final is not None and final.touched_from_ns is not None and first is not None and watch.style != "drop":
            assert final.touched_to_ns is not None
            in_span = final.touched_from_ns <= first <= final.touched_to_ns
        to_provisional = None
        plainly = watch.style not in UNTIMED
        if plainly and touch is not None and watch.rulings and (said is None or said > touch):
            to_provisional = (watch.rulings[0].ruled_ns - touch) / MS
        left = truth.hand_left_ns(act)
        quick = plainly and final is not None and left is not None and not watch.questions
        note = ""
        if wrong and final is not None:
            want = " or ".join(str(e) for e in effects)
            note = f"{got} ({final.ruling.reason.code}) instead of {want}"
        return Result(
            where=self.where, act=len(self.results), style=watch.style, verdict=verdict,
            corrected=verdict == "right" and any(self._was_wrong(watch, f) for f in watch.finals[:-1]),
            called_string=wrong and single is True and got in [truth.effect(r) for r in truth.as_string(spot, act)],
            string=matters, missed=wrong and matters and got == alone, questions=tuple(watch.questions),
            idle_questions=watch.idle, in_span=in_span, to_provisional=to_provisional,
            to_final=(final.ruled_ns - left) / MS if quick and final is not None and left is not None else None,
            note=note,
        )  # fmt: skip

    def _was_wrong(self, watch: Watch, final: RulingIssued) -> bool:
        right = truth.accepted(watch.spot, watch.act, final.ruled_ns)
        return all(truth.effect(j.ruling) != truth.effect(final.ruling) for j in right)

    # -- chips after the ruling -------------------------------------------------------------------

    def _settle(self, seat: str, right: Judgement) -> None:
        """The chips before the seat become worth its counted bet."""
        t, hand = self.table, self.hand
        assert hand is not None
        bet, stack = Spot("bet", seat), Spot("stack", seat)
        over = t.world.value(bet) - self.given[seat] - hand.bet_of(seat)
        if over == 0 or right.ruling.verb == "fold":
            return
        if over < 0:
            over_ns = self._put(seat, -over, "adds what is owed")
            t.wait(over_s(t, over_ns) + self.rng.uniform(0.3, 0.8))
            return
        back = exact(Counter(c.denomination for c in t.world.at(bet)), over)
        timeline = Timeline(Act(seat=int(seat), kind="dealer", to_act=int(seat)))
        t.hands.arm(timeline, 0.0, int(seat), stay=0.8)
        if back is not None:
            timeline.at(0.4, lambda now: t.world.move(t.world.pick(bet, back), bet, stack, now, "returned"))
        else:
            self._change(timeline, seat, over)
        t.wait(over_s(t, t.perform(timeline)) + self.rng.uniform(0.2, 0.6))

    def _change(self, timeline: Timeline, seat: str, over: int) -> None:
        """The dealer breaks the big chip, or hands change out of the tray and leaves it there."""
        t, world = self.table, self.table.world
        bet, stack = Spot("bet", seat), Spot("stack", seat)
        tray = Counter(c.denomination for c in world.at(TRAY))
        big = min((c for c in world.at(bet) if c.denomination > over), key=lambda c: c.denomination, default=None)
        out = exact(tray, over)
        if out is None:
            raise HandSpoilt
        rest = exact(tray - out, big.denomination - over) if big is not None else None
        swap = self.rng.random() < SWAP_SHARE and big is not None and rest is not None
        timeline.at(0.5, lambda now: world.move(world.pick(TRAY, out), TRAY, stack, now, "change"))
        if not swap or big is None or rest is None:
            self.given[seat] += over
            return
        timeline.at(0.3, lambda now: world.move([big], bet, TRAY, now, "to break"))
        timeline.at(0.6, lambda now: world.move(world.pick(TRAY, rest), TRAY, bet, now, "what is bet, in change"))
        assert t.now >= 0

    # -- the end of streets and hands -------------------------------------------------------------

    def _sweep(self) -> None:
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
            near = [Spot("bet", str(k)) for k in (n - 1, n + 1) if 1 <= k <= self.seats]
            if self.rng.random() < DRAG_SHARE:
                over = self.rng.choice(near)
                self._drag(timeline, at + 0.1, bet, over)
            else:
                self._take(timeline, at + 0.15, bet)
            at += self.rng.uniform(0.25, 0.5)
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

    def _end_street(self) -> bool:
        """Sweep, and see that the product goes on; True when the hand is over."""
        t, hand = self.table, self.hand
        assert hand is not None
        self.watches = {}
        t.reader.favoured = 0
        t.wait(self.rng.uniform(0.3, 1.0))
        self._sweep()
        self._stray_chips()
        street = hand.street
        over = hand.over

        def moved_on() -> bool:
            state = t.state
            return state.phase == "over" if over else state.hand is not None and state.hand.street > street

        if not t.run(moved_on, PATIENCE_S):
            self._refused(f"the street did not end: phase {t.state.phase}")
        if self.extra:
            self._note("extra", "sweep", "; ".join(self.extra))
            raise HandSpoilt
        if over:
            return True
        hand = hand.copy()
        hand.close_street()
        if hand.over:
            return True
        hand.deal_next_street()
        self.hand = hand
        self.given, self.raises, self.past = dict.fromkeys(t.seats, 0), 0, {}
        t.wait(self.rng.uniform(0.3, 0.8))
        return False

    def _stray_chips(self) -> None:
        world = self.table.world
        for spot in world.spots():
            if spot.kind == "felt":
                world.move(world.at(spot), spot, POT, self.table.now, "gathered")

    def _abandon(self, n: int) -> None:
        t = self.table
        self.watches = {}
        t.run(lambda: False, 3.0)  # whatever was still on its way
        if t.state.hand is not None and t.state.phase != "over":
            t.order(AbandonHand(request=f"{self.where}-{n}-void", who="floor"))

    def _clear(self) -> None:
        """All chips to the tray; the next hand begins on a felt that is known to be empty."""
        t = self.table
        t.reader.favoured = 0
        for spot in t.world.spots():
            if spot != TRAY:
                t.world.move(t.world.at(spot), spot, TRAY, t.now, "the hand is over")
        t.run(lambda: not any(line.settled for line in t.state.lines.values()) and not t.state.places, 5.0)


def _chosen(choice: Choice, right: Judgement) -> bool:
    return (choice.action, choice.to) == (right.ruling.action, right.ruling.to)


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


def over_s(table: Clockwork, ns: int) -> float:
    """Seconds until an instant."""
    return max(0, ns - table.now) / 1_000_000_000


def play_table(seed: int, index: int, noise: Disturbance, **how: object) -> TableResult:
    """One table from its seed and index alone."""
    return Game(seed, index, noise, **how).play()  # type: ignore[arg-type]
