"""People who decide as they go and do it well or badly: hands without a script.

Stacks, antes and blinds come from a `Hand`; from the first decision on, players look at the simulator's own ledger,
choose what to do and how (`hw_sim.styles`), and the dealer enforces what the product rules.  Honest acts have an
expected ruling; of all others only the truth is written down ("act" lines of the truth log, ``acts`` of a hand's
record, there with what was ``ruled``), since the law of the room decides them, and the ledger goes on with the ruling.
A ruling that leaves it to people (the floor, call or fold) ends the hand: the floor abandons it.
"""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Generator
from typing import Any

import msgspec

from hw_sim.acts import Act, Hands, Timeline, run
from hw_sim.compare import differences, observed
from hw_sim.ears import Json
from hw_sim.generate import Ledger, exact
from hw_sim.hands import Event, Expected, Hand
from hw_sim.people import SECOND, HandRecord, LostError, People, truthful_key
from hw_sim.script import Script, Until, Wait
from hw_sim.styles import STYLES, Decision, Scene, choose, dropped, take
from hw_sim.world import POT, TRAY, Chip, Spot

Hearing = Generator[Wait, bool, Json | None]

MAX_DECISIONS = 200
MAX_RAISES = 4
HELD_S = 4.0
"""How long people wait for a ruling on what came out of turn."""


class Manners(msgspec.Struct, frozen=True, kw_only=True):
    """How people behave, as chances.  ``sloppiness``: an act is carried out sloppily where it can be.

    ``hasty``: a dealer, drawn for each hand, who presses within 50 to 300 ms and sweeps without waiting for the
    screen.  ``together``: the next player moves at the same time.  ``out_of_turn``: a later player moves first.
    ``bystander``: somebody who is not asked drops a chip.  ``script``: styles to be used first, in this order, each
    at the first decision that it fits.
    """

    sloppiness: float = 0.5
    hasty: float = 0.3
    together: float = 0.08
    out_of_turn: float = 0.08
    bystander: float = 0.05
    script: tuple[str, ...] = ()


SLOPPY = Manners()
HASTY_S = (0.05, 0.3)


class _Game:
    """What stands on the table: the ledger, chips given as change, the count of streets and acts."""

    def __init__(self, hand: Hand) -> None:
        n = hand.players
        antes, blinds = hand.posted("ante"), hand.posted("blind")
        self.n = n
        big = max(hand.blinds, default=0)
        self.book = Ledger(
            hand.stacks, [antes.get(s, 0) for s in range(1, n + 1)], [blinds.get(s, 0) for s in range(1, n + 1)], big
        )
        order = [s - 1 for s in hand.order()]
        posted = [i for i in order if blinds.get(i + 1, 0)]
        self.order = order
        self.last = posted[-1] if posted else order[-1]
        """Who acts last before the first player: the big blind, later the button."""
        self.unit = min((d for c in hand.chips for d in c), default=1)
        self.given = [0] * n
        self.button = order[0] if n == 2 else order[-1]
        self.street, self.k, self.raises = 0, 0, 0
        self.pots: list[int] = []

    def next_after(self, i: int, book: Ledger | None = None) -> int | None:
        """The next seat clockwise that has something to decide."""
        book = book or self.book
        if len(book.live()) < 2:
            return None
        at = self.order.index(i)
        ring = self.order[at + 1 :] + self.order[: at + 1]
        return next((j for j in ring if book.waits_for(j)), None)


class SloppyPeople(People):
    """`People` who play without a script."""

    def __init__(self, *args: Any, manners: Manners = SLOPPY, **how: Any) -> None:
        super().__init__(*args, **how)
        self.manners = manners
        self.awaited = 0
        """Seat that is to act as the ledger sees it; 0 when the hand's betting is over."""
        self.book: Ledger | None = None
        """The ledger of the hand that is being played."""
        self._script = list(manners.script)
        self._known: list[tuple[Expected, int, str]] = []
        self._hasty = False
        self._swept = False

    def _record(self, hand: Hand) -> HandRecord:
        return HandRecord(hand=hand.hand, expected=[], street_pots=[])

    def _compare(self, hand: Hand, record: HandRecord) -> None:
        # At the end of the hand, since a ruling's full text comes later than the dealer's line on the screen.
        record.observed = [observed(r) for r in self.ears.finals(hand.hand)]
        by_act = {int(r["act"]): r for r in record.observed}
        for want, number, kind in self._known:
            for name, a, b in differences(want, by_act[number]):
                fact = {"k": want.k, "field": name, "expected": a, "observed": b, "kind": kind}
                self._wrong(record, "ruling", **fact)
        self._known = []
        record.pots = self.ears.pots(hand.hand)
        pots = record.street_pots
        if not record.abandoned and record.pots[: len(pots)] != pots:
            self._wrong(record, "street_pots", expected=pots, observed=record.pots)

    # -- one hand ---------------------------------------------------------------------------------

    def _play(self, hand: Hand, record: HandRecord) -> Script:
        game = _Game(hand)
        self.book = game.book
        self._hasty = self._rng.random() < self.manners.hasty
        self.world.note(self._now(), "dealer", hasty=self._hasty)
        yield from self._posts(hand)
        scene = self._scene(record, game)
        at: int | None = game.last
        for _ in range(MAX_DECISIONS):
            assert at is not None
            at = game.next_after(at)
            if at is None:
                over = len(game.book.live()) < 2 or game.street == 3 or self._no_more_betting(game.book)
                yield from self._finish_street(game, record, over)
                if over:
                    self.awaited = 0
                    return
                game.street += 1
                game.raises = 0
                at = game.button
                yield self._for(self.pace.board_s)
                continue
            self.awaited = at + 1
            yield from self._turn(hand, record, at + 1)
            if not self.ears.screen_says(hand.hand, str(at + 1)) and self.ears.state is not None:
                raise LostError  # ledger and screen are of different minds; going on proves nothing
            yield self._between(self.pace.think_s)
            yield from self._somebody_acts(hand, record, game, scene, at)
        raise LostError

    def _no_more_betting(self, book: Ledger) -> bool:
        return sum(1 for i in book.live() if book.stack[i] > 0) < 2

    def _posts(self, hand: Hand) -> Script:
        last = max((e.i for e in hand.events if e.kind == "post"), default=-1)
        antes = False
        for e in hand.events[: last + 1]:
            if antes and e.what != "ante":
                yield from self._antes_to_pot()
                yield self._rest(0.5)
            antes = e.kind == "post" and e.what == "ante"
            if e.kind == "post":
                yield from self._motion(e.seat, e.chips, f"posts {e.what}")
            elif e.kind == "change":
                self._exchange(e)
        if antes:
            yield from self._antes_to_pot()

    def _exchange(self, e: Event) -> None:
        self._shift(Spot("stack", str(e.seat)), TRAY, e.gives, "gives for change")
        self._shift(TRAY, Spot("stack", str(e.seat)), e.takes, "gets change")

    def _scene(self, record: HandRecord, game: _Game) -> Scene:
        def press(key: str, **how: Any) -> None:
            self._press(record, key, **how)

        def reaction() -> float:
            return self._rng.uniform(*(HASTY_S if self._hasty else self.pace.react_s))

        hands = Hands(self.world, self._rng, press, self._hand_moved)
        return Scene(hands=hands, rng=self._rng, world=self.world, reaction=reaction, seats=game.n)

    # -- decisions --------------------------------------------------------------------------------

    def _decision(self, game: _Game, i: int, book: Ledger | None = None, *, chips_only: bool = False) -> Decision | str:
        """What seat ``i`` wants: a decision with chips, or "check" or "fold"."""
        book, rng = book or game.book, self._rng
        faces = book.faces(i)
        roll = rng.random()
        free = faces["raise_open"] and game.raises < MAX_RAISES and faces["max_to"] >= faces["min_to"]
        owes = book.owes(i)
        if free and roll < (0.5 if chips_only and owes <= 0 else 0.3):
            verb, to = self._size(game, book, faces)
        elif owes <= 0:
            return "check"
        elif roll < 0.75 or chips_only:
            verb, to = "call", book.bet[i] + faces["to_call"]
        else:
            return "fold"
        if to - book.bet[i] == book.stack[i]:
            verb = "all-in"
        chips = self._fetch(i + 1, to - book.bet[i])
        if chips is None:
            return "check" if owes <= 0 else "fold"
        return Decision(
            seat=i + 1, verb=verb, to=to, add=to - book.bet[i], to_call=faces["to_call"], min_to=faces["min_to"],
            bet=book.bet[i], chips=chips,
        )  # fmt: skip

    def _size(self, game: _Game, book: Ledger, faces: Json) -> tuple[str, int]:
        low, high, unit = faces["min_to"], faces["max_to"], game.unit
        to = self._rng.choice((low, 2 * low, low + unit * self._rng.randint(0, 40), faces["pot_before"] + book.bet_to))
        to = max(low, to // unit * unit)
        return ("raise" if book.bet_to else "bet"), (high if to >= high or self._rng.random() < 0.06 else to)

    def _fetch(self, seat: int, amount: int) -> list[Chip] | None:
        """Chips of a stack worth ``amount``; the tray breaks larger ones first where that helps."""
        spot = Spot("stack", str(seat))
        for _ in range(4):
            stack = list(reversed(self.world.at(spot)))
            chips = take(stack, amount)
            if chips is not None or not stack:
                return chips
            tray = Counter(c.denomination for c in self.world.at(TRAY))
            for big in sorted({c.denomination for c in stack}):
                small = exact(Counter({d: n for d, n in tray.items() if d < big}), big)
                if small is not None and exact(
                    Counter(c.denomination for c in stack) - Counter({big: 1}) + small, amount
                ):
                    self._shift(spot, TRAY, {big: 1}, "gives for change")
                    self._shift(TRAY, spot, small, "gets change")
                    break
            else:
                return None
        return None

    def _somebody_acts(self, hand: Hand, record: HandRecord, game: _Game, scene: Scene, i: int) -> Script:
        """The player to act, perhaps with another one at the same time or before."""
        manners, roll = self.manners, self._rng.random()
        later = [j for j in game.book.live() if j != i and game.book.waits_for(j)]
        if later and roll < manners.together + manners.out_of_turn:
            yield from self._two(hand, record, game, scene, i, first=roll < manners.out_of_turn)
            return
        timeline, want = self._plan(game, scene, i)
        lines = [(0.0, timeline)]
        idle = [j for j in range(game.n) if j != i and self.world.at(Spot("stack", str(j + 1)))]
        if idle and self._rng.random() < manners.bystander:
            other = Timeline(Act(seat=self._rng.choice(idle) + 1, kind="bystander", to_act=i + 1))
            dropped(scene, other, 0.0, scene.stack(other.act.seat)[:1])
            lines.append((self._rng.uniform(0.0, 0.8), other))
        yield from self._perform(record, lines)
        yield from self._after(hand, record, game, timeline.act, want=want)

    def _plan(self, game: _Game, scene: Scene, i: int, *, honest: bool = False) -> tuple[Timeline, Expected | None]:
        """A timeline for seat ``i`` and the ruling it must get, if the ledger knows."""
        choice = self._decision(game, i)
        act = Act(seat=i + 1, kind="gesture", to_act=i + 1)
        timeline = Timeline(act)
        faces, book = game.book.faces(i), game.book
        if isinstance(choice, str):
            act.intent, act.intent_to, act.honest = choice, book.bet[i], True
            what, key = ("tap", "check") if choice == "check" else ("cards-forward", "fold")
            scene.hands.gesture(timeline, 0.0, what, key, reaction=scene.reaction())
            return timeline, self._expected(game, i, faces, verb=choice, to=book.bet[i])
        scripted = bool(self._script) and not honest and STYLES[self._script[0]].applies(scene, choice)
        style = self._script.pop(0) if scripted else choose(scene, choice, 0.0 if honest else self.manners.sloppiness)
        act.kind, act.honest = style, STYLES[style].honest
        act.intent, act.intent_to = choice.verb, choice.to
        STYLES[style].build(scene, timeline, choice)
        if not act.honest:
            return timeline, None
        laid = sum(c.denomination for c in choice.chips)
        verb = "call" if choice.to <= book.bet_to else "raise" if book.bet_to else "bet"
        return timeline, self._expected(game, i, faces, verb=verb, to=choice.to, change=laid - choice.add)

    def _expected(self, game: _Game, i: int, faces: Json, *, verb: str, to: int, change: int = 0) -> Expected:
        add = to - game.book.bet[i]
        all_in = verb not in ("fold", "check") and add == game.book.stack[i]
        game.k += 1
        return Expected(
            k=game.k, street=game.street, seat=i + 1, verb=verb, to=to, add=add, event=game.k, all_in=all_in,
            change=change, **faces,
        )  # fmt: skip

    def _perform(self, record: HandRecord, lines: list[tuple[float, Timeline]]) -> Script:
        yield from run(lines, self._now, self.pace.speed)
        for _, timeline in lines:
            truth = timeline.act.written()
            record.acts.append(truth)
            self.world.note(self._now(), "act", hand=record.hand, **truth)

    def _two(self, hand: Hand, record: HandRecord, game: _Game, scene: Scene, i: int, *, first: bool) -> Script:
        """Two players: a later one moves while, or (``first``) before, the one to act does."""
        timeline, want = self._plan(game, scene, i, honest=True)
        after = copy.deepcopy(game.book)
        if want is not None and not first:
            self._enter(after, i, want.verb, want.to)
        j = game.next_after(i, after)
        choice = self._decision(game, j, after, chips_only=True) if j is not None and j != i else "check"
        lines = [(0.0, timeline)]
        if j is None or isinstance(choice, str) or choice.verb == "all-in":
            yield from self._perform(record, lines)
            yield from self._after(hand, record, game, timeline.act, want=want)
            return
        kind = "out_of_turn" if first else "together"
        act = Act(seat=j + 1, kind=kind, to_act=i + 1, intent=choice.verb, intent_to=choice.to)
        other = Timeline(act)
        scene.hands.motion(other, 0.0, choice.chips)
        shift = self._rng.uniform(0.8, 2.5) if first else 0.0
        lines = [(shift, timeline), (0.0 if first else self._rng.uniform(0.0, 0.5), other)]
        before = self._last_act
        yield from self._perform(record, lines)
        yield from self._after(hand, record, game, timeline.act, want=want)
        if not game.book.waits_for(j):
            return
        ruling = yield from self._hear(hand, record, act, since=before)
        if ruling is not None:
            yield from self._adopt(record, game, j, ruling)
            return
        # Nobody has ruled on it: the chips go back, and the player acts when it is his turn.
        yield self._rest(0.5)
        back = [c for c in choice.chips if c in self.world.at(Spot("bet", str(j + 1)))]
        self.world.move(
            back, Spot("bet", str(j + 1)), Spot("stack", str(j + 1)), self._now(), "out of turn, taken back"
        )

    # -- rulings ----------------------------------------------------------------------------------

    def _after(self, hand: Hand, record: HandRecord, game: _Game, act: Act, *, want: Expected | None) -> Script:
        """Hear the ruling on an act, keep it for comparison where the law is known, and enforce it."""
        i = act.seat - 1
        if want is not None:
            record.expected.append(want)
            if self._hasty and self._street_done(game, i, want):
                yield self._for(0.3)  # the hasty dealer sweeps before he looks
                yield from self._sweep("bets to the pot")
                self._swept = True
        ruling = yield from self._hear(hand, record, act, want=want)
        if ruling is None:
            self._wrong(record, "no_final", seat=str(i + 1), kind=act.kind, honest=act.honest)
            raise LostError
        if want is not None:
            self._known.append((want, int(ruling.get("act", 0)), act.kind))
        yield from self._adopt(record, game, i, ruling)

    def _street_done(self, game: _Game, i: int, want: Expected) -> bool:
        after = copy.deepcopy(game.book)
        self._enter(after, i, want.verb, want.to)
        done = game.next_after(i, after) is None
        return done and after.uncalled()[1] == 0 and want.change == 0

    def _hear(
        self, hand: Hand, record: HandRecord, act: Act, *, want: Expected | None = None, since: int | None = None
    ) -> Hearing:
        """The next final ruling on the act's seat (after act ``since``, then waiting `HELD_S` only).

        Questions on the way are answered from the truth; what is only held for later is no ruling yet.
        """
        after = self._last_act if since is None else since

        def heard() -> Json | None:
            for r in self.ears.finals(hand.hand):
                said = r.get("ruling") or {}
                newer = int(r.get("act", 0)) > after and said.get("seat") == str(act.seat)
                if newer and said.get("action") != "held_out_of_turn":
                    return r
            return None

        def ready() -> bool:
            return heard() is not None or self.ears.open_question(hand.hand, self._answered) is not None

        for _ in range(4):
            wait = self.pace.ruling_timeout_s if since is None else HELD_S
            yield Until(ready, round(wait * SECOND))
            ruling = heard()
            if ruling is not None:
                self._last_act = max(self._last_act, int(ruling.get("act", 0)))
                self._missed = 0
                return ruling
            asked = self.ears.open_question(hand.hand, self._answered)
            if asked is None:
                return None
            yield from self._answer_truly(record, act, want, asked)
        return None

    def _answer_truly(self, record: HandRecord, act: Act, want: Expected | None, asked: tuple[int, Json]) -> Script:
        position, question = asked
        self._answered.add(position)
        key = key_by_truth(question, act) or (truthful_key(question, want) if want is not None else None)
        said = {"position": position, "question": question, "answer": key, "kind": act.kind}
        record.questions.append(said | ({} if key else {"answer": question.get("stands"), "truth": "unknown"}))
        yield self._between(self.pace.react_s)
        self._press(record, key or str(question.get("stands", "key_a")))

    def _enter(self, book: Ledger, i: int, verb: str, to: int) -> None:
        if verb == "fold":
            book.fold(i)
        elif verb == "check":
            book.acted[i] = True
        else:
            book.put(i, to)

    def _adopt(self, record: HandRecord, game: _Game, i: int, ruling: Json) -> Script:
        """The ledger goes on with what was ruled, and the dealer makes the chips agree with it."""
        book, said = game.book, observed(ruling)
        verb, to = str(said["verb"]), said["to"]
        chips = verb not in ("fold", "check")
        for truth in reversed(record.acts):
            if truth["seat"] == i + 1:
                truth["ruled"] = {k: said[k] for k in ("verb", "action", "to", "owed", "back", "cite")}
                break
        if chips and to is None:
            # "The floor decides", "call or fold": here the floor ends the hand.
            self.world.note(self._now(), "left_to_floor", seat=i + 1, action=said["action"])
            raise LostError
        if chips and not (isinstance(to, int) and book.bet[i] <= to <= book.bet[i] + book.stack[i]):
            self._wrong(record, "impossible_ruling", seat=str(i + 1), verb=verb, to=to)
            raise LostError
        before = book.bet_to
        self._enter(book, i, verb, to if chips else 0)
        game.raises += book.bet_to > before
        if not self._swept and verb != "fold":
            yield from self._settle(record, game, i)

    def _settle(self, record: HandRecord, game: _Game, i: int) -> Script:
        """Chips before seat ``i`` become worth what the ledger says: returned, changed or added."""
        bet, stack = Spot("bet", str(i + 1)), Spot("stack", str(i + 1))
        over = self.world.value(bet) - game.given[i] - game.book.bet[i]
        if over == 0:
            return
        yield self._rest(0.5)
        if over < 0:
            chips = self._fetch(i + 1, -over)
            if chips is None:
                self._wrong(record, "cannot_settle", seat=str(i + 1), amount=over)
                raise LostError
            yield from self._motion(i + 1, Counter(c.denomination for c in chips), "adds what is owed")
            return
        back = exact(Counter(c.denomination for c in self.world.at(bet)), over)
        if back is not None:
            self._shift(bet, stack, back, "returned")
            return
        change = exact(Counter(c.denomination for c in self.world.at(TRAY)), over)
        if change is None:
            self._wrong(record, "cannot_settle", seat=str(i + 1), amount=over)
            raise LostError
        self._shift(TRAY, stack, change, "gets change back")
        game.given[i] += over

    # -- streets ----------------------------------------------------------------------------------

    def _finish_street(self, game: _Game, record: HandRecord, over: bool) -> Script:
        book = game.book
        seat, amount = book.uncalled()
        if over and amount:
            yield self._rest(0.5)
            book.give_back(seat, amount)
            yield from self._settle(record, game, seat)
        record.street_pots.append(book.close())
        game.given = [0] * game.n
        if not self._swept:
            yield self._rest(0.5)
            yield from self._sweep("bets to the pot")
        self._swept = False
        strays = [s for s in self.world.spots() if s.kind == "felt"]
        for spot in strays:
            self.world.move(self.world.at(spot), spot, POT, self._now(), "stray chips to the pot")


def key_by_truth(question: Json, act: Act) -> str | None:
    """The key whose text on the screen says what really happened; None if the question is of another kind."""
    for choice in question.get("choices", ()):
        key = str(choice.get("key"))
        text = str(((question.get("texts") or {}).get(key) or {}).get("en", "")).lower()
        one = act.one_motion()
        truths: dict[str, bool | None] = {
            "one motion": one is not False,
            "two motions": one is False,
            "said first": act.said_first(),
            "chips first": act.said_first() is False,
        }
        if truths.get(text):
            return key
    return None


def invite(manners: Manners | None, *args: Any, **how: Any) -> People:
    """The people for a table: those of the hands' script, or, with ``manners``, people without one."""
    return People(*args, **how) if manners is None else SloppyPeople(*args, manners=manners, **how)
