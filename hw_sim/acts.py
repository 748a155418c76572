"""What one player does with chips, hands and words, as a timeline, and the truth of it.

Times of a timeline are seconds from the beginning of the act at the pace of people.  Whatever happens is written
into the act's own record when it happens, so that the truth holds real times and real order:

* motion (one forward stroke of the hand): ``n`` (1 for the first), ``chips`` by denomination, ``value``, ``released``
  (False: pushed and held), ``starts_ns`` (fingers leave the stack, or the stroke begins), ``first_touch_ns``,
  ``last_touch_ns`` (the stroke's end), ``hand_ns`` (the hand has gone back), ``before_mm`` and ``before_ms`` (how far
  the hand had gone back and how long it had not moved forward before this stroke; 0 for the first);
* back: chips that the player takes up again, with ``ns``, ``chips``, ``value``;
* word: ``verb``, ``to``, ``said_ns`` (last syllable), ``pressed_ns`` (the dealer's key, None: never), ``said_first``
  (the dealer's own statement with the key).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from random import Random
from typing import Any, Literal

import msgspec

from hw_sim.script import Script, Sleep
from hw_sim.world import Chip, Spot, World

SECOND = 1_000_000_000
MS = 1_000_000
MAX_STEPS = 500

Json = dict[str, Any]
Step = Callable[[int], None]
"""Something that happens at an instant; it is told the time in nanoseconds."""


TWO_MM, TWO_MS = 30, 200
"""A hand that goes back so far, or rests so long, before it lets go of more chips has made a second motion."""
ONE_MM, ONE_MS = 10, 100
"""Below both it was one motion.  Between the two, people at the table would not agree."""
VISIT_S = 5.0
"""A hand that comes back later than this begins anew."""
NEAR_S = 0.2
"""From the line to the first touch a hand needs at most so long."""
ALL_THE_WAY_MM = 280
"""How far back a hand goes that has left the line for its stack."""


def _apart(back_mm: int, pause_ms: int) -> bool | None:
    if back_mm >= TWO_MM or pause_ms >= TWO_MS:
        return True
    return False if back_mm < ONE_MM and pause_ms < ONE_MS else None


class Movement(msgspec.Struct, frozen=True):
    """One step of a hand at a seat's line as it truly was: it ``enters``, ``advances`` again, or ``leaves``.

    ``retreat_mm`` is how far it had gone back from its furthest point, ``pause_ms`` the time since its forward
    movement before this one ended; both 0 where none came before within `VISIT_S`.
    """

    ns: int
    seat: int
    step: Literal["enters", "advances", "leaves"]
    by: Literal["player", "dealer"] = "player"
    retreat_mm: int = 0
    pause_ms: int = 0


class Stroke(msgspec.Struct, frozen=True, kw_only=True):
    """One forward movement and the chips that it lets go of, touching one by one within ``trickle`` seconds.

    ``reach`` is the time from its beginning to the first touch.  ``back_mm`` and ``pause`` are what lies between
    it and the stroke before: how far the hand went back, and the seconds from the end of that one to its beginning.
    """

    chips: Sequence[Chip]
    reach: float = 0.06
    trickle: float = 0.1
    back_mm: int = 0
    pause: float = 0.0


class Act(msgspec.Struct, kw_only=True):
    """The truth of one act.  ``honest``: the simulator's own book-keeping knows the law of it."""

    seat: int
    kind: str
    to_act: int
    intent: str = ""
    intent_to: int = 0
    honest: bool = False
    began_ns: int = 0
    ended_ns: int = 0
    inputs: list[Json] = []

    @property
    def motions(self) -> list[Json]:
        """Forward motions whose chips were let go, in order."""
        return [i for i in self.inputs if i["what"] == "motion" and i["released"]]

    def apart(self) -> list[bool | None]:
        """For each released stroke but the first: whether it was a motion of its own; None where people differ."""
        return [_apart(stroke["before_mm"], stroke["before_ms"]) for stroke in self.motions[1:]]

    def one_motion(self) -> bool | None:
        """Whether all chips came in one forward motion; None where the table would disagree."""
        apart = self.apart()
        return False if True in apart else None if None in apart else True

    def said_first(self) -> bool | None:
        """Whether the first word was complete before the first chip touched the felt; None without a word."""
        said = [i["said_ns"] for i in self.inputs if i["what"] == "word"]
        touched = [i["first_touch_ns"] for i in self.inputs if i["what"] == "motion" and "first_touch_ns" in i]
        return not touched or min(said) < min(touched) if said else None

    def written(self) -> Json:
        """The truth log's line."""
        out: Json = msgspec.to_builtins(self)
        out["in_turn"] = self.seat == self.to_act
        out["one_motion"], out["said_first"] = self.one_motion(), self.said_first()
        return out


class Timeline:
    """Steps of one act, to be run in order of their times."""

    def __init__(self, act: Act) -> None:
        self.act = act
        self._steps: list[tuple[float, int, Step]] = []

    def at(self, seconds: float, step: Step) -> None:
        """Add a step."""
        assert len(self._steps) < MAX_STEPS, "an act without end"
        self._steps.append((max(0.0, seconds), len(self._steps), step))

    def steps(self, later_s: float = 0.0) -> list[tuple[float, int, Step]]:
        """All steps in order, shifted."""
        return sorted((at + later_s, n, step) for at, n, step in self._steps)


def run(timelines: Sequence[tuple[float, Timeline]], now: Callable[[], int], speed: float) -> Script:
    """Run timelines side by side, each beginning after so many seconds."""
    steps = [(at, which, n, step) for which, (s, tl) in enumerate(timelines) for at, n, step in tl.steps(s)]
    done = 0.0
    for _, tl in timelines:
        tl.act.began_ns = now()
    for at, _, _, step in sorted(steps, key=lambda s: s[:3]):
        if at > done:
            yield Sleep(round((at - done) / speed * SECOND))
            done = at
        step(now())
    for _, tl in timelines:
        tl.act.ended_ns = now()


def counted(chips: Sequence[Chip]) -> dict[str, int]:
    """Chips by denomination, as JSON has them."""
    tally = Counter(c.denomination for c in chips)
    return {str(d): tally[d] for d in sorted(tally, reverse=True)}


def _stamp(truths: Sequence[Json], now: int) -> None:
    for truth in truths:
        truth["hand_ns"] = now


class _Reach:
    """Where one seat's hand is: over its line or not, when its last forward movement ended, how far it went back."""

    def __init__(self) -> None:
        self.inside = False
        self.forward_ns: int | None = None
        self.back_mm = 0


def _unwatched(_: Movement) -> None:
    """Nobody looks."""


class Hands:
    """Builds the parts of timelines: forward motions, taking back, words and the dealer's keys.

    ``see`` is told of each movement of a hand over a line, as a camera above the table could see it.
    """

    def __init__(
        self, world: World, rng: Random, press: Callable[..., None], see: Callable[[Movement], None] = _unwatched
    ) -> None:
        self._world, self._rng, self._press, self._see = world, rng, press, see
        self._reach: dict[tuple[int, str], _Reach] = {}

    # -- the hand itself --------------------------------------------------------------------------

    def forward(self, now: int, seat: int, by: Literal["player", "dealer"] = "player") -> None:
        """The hand begins to move forward: over the line, or on."""
        reach = self._reach.setdefault((seat, by), _Reach())
        step: Literal["enters", "advances"] = "advances" if reach.inside else "enters"
        known = reach.forward_ns is not None and now - reach.forward_ns <= VISIT_S * SECOND
        pause = (now - (reach.forward_ns or 0)) // MS if known else 0
        self._see(Movement(now, seat, step, by, reach.back_mm if known else 0, max(0, pause)))
        self._world.note(now, "hand", seat=seat, by=by, phase=step)
        reach.inside, reach.forward_ns, reach.back_mm = True, now, 0

    def rest(self, now: int, seat: int, by: Literal["player", "dealer"] = "player") -> None:
        """The forward movement is over."""
        self._reach.setdefault((seat, by), _Reach()).forward_ns = now

    def back_by(self, seat: int, mm: int) -> None:
        """The hand goes back so far and is still over the line."""
        reach = self._reach.setdefault((seat, "player"), _Reach())
        reach.back_mm = max(reach.back_mm, mm)

    def leave(self, now: int, seat: int, by: Literal["player", "dealer"] = "player", mm: int = ALL_THE_WAY_MM) -> None:
        """The hand is behind the line, ``mm`` behind its furthest point."""
        reach = self._reach.setdefault((seat, by), _Reach())
        reach.inside, reach.back_mm = False, max(reach.back_mm, mm)
        self._see(Movement(now, seat, "leaves", by))
        self._world.note(now, "hand", seat=seat, by=by, phase="leaves", mm=mm)

    def arm(self, tl: Timeline, at: float, seat: int, *, stay: float) -> None:
        """The dealer's arm reaches into a seat's zone and goes again."""
        tl.at(at, lambda now: self.forward(now, seat, "dealer"))
        tl.at(at + stay / 2, lambda now: self.rest(now, seat, "dealer"))
        tl.at(at + stay, lambda now: self.leave(now, seat, "dealer"))

    def empty_trip(self, tl: Timeline, at: float, *, stay: float) -> float:
        """The player's hand goes over the line and comes back, and lets go of nothing; returns when it is back."""
        seat = tl.act.seat
        tl.act.inputs.append({"what": "trip"})
        tl.at(at, lambda now: self.forward(now, seat))
        tl.at(at + 0.3 * stay, lambda now: self.rest(now, seat))
        tl.at(at + stay, lambda now: self.leave(now, seat))
        return at + stay

    def hover(self, tl: Timeline, at: float, chips: Sequence[Chip], *, stay: float) -> float:
        """Chips are held over the betting area and taken back without touching it; returns when they are back."""
        act, world = tl.act, self._world
        stack, hand = Spot("stack", str(act.seat)), Spot("hover", str(act.seat))
        tl.at(at, lambda now: world.move(chips, stack, hand, now, "held over the line"))
        end = self.empty_trip(tl, at, stay=stay)
        tl.at(end, lambda now: world.move(chips, hand, stack, now, "taken back, never let go"))
        return end

    # -- chips ------------------------------------------------------------------------------------

    def motion(
        self,
        tl: Timeline,
        start: float,
        chips: Sequence[Chip],
        *,
        reach: float = 0.35,
        trickle: float = 0.15,
        leave: float = 0.25,
        astray: dict[int, Spot] | None = None,
    ) -> float:
        """One forward motion from the stack; returns when the last chip has landed."""
        return self.visit(tl, start, [Stroke(chips=chips, reach=reach, trickle=trickle)], leave=leave, astray=astray)

    def visit(
        self,
        tl: Timeline,
        start: float,
        strokes: Sequence[Stroke],
        *,
        leave: float = 0.25,
        depth_mm: int = 120,
        astray: dict[int, Spot] | None = None,
    ) -> float:
        """Strokes from the stack, one after the other; returns when the last chip has landed.

        A hand that goes back further than ``depth_mm`` is behind the line before it comes again.  ``astray``: index of
        a chip of the first stroke to where it really lands.
        """
        seat = tl.act.seat
        truths: list[Json] = []
        begins, end = start, start
        for n, stroke in enumerate(strokes):
            behind = stroke.back_mm >= depth_mm
            if n:
                begins = end + stroke.pause
                self._between(tl, end, begins, stroke.back_mm, behind=behind)
                tl.at(begins, lambda now: self.forward(now, seat))
            else:
                tl.at(start + stroke.reach - min(0.4 * stroke.reach, NEAR_S), lambda now: self.forward(now, seat))
            lifted = start if not n or not behind else (end + begins) / 2
            truths.append(self._recorded(tl.act, stroke))
            end = self._release(tl, (lifted, begins), stroke, truths[-1], astray if not n else None)
        gone = end + leave
        tl.at(gone, lambda now: self.leave(now, seat))
        tl.at(gone, lambda now: _stamp(truths, now))
        return end

    def _between(self, tl: Timeline, end: float, begins: float, mm: int, *, behind: bool) -> None:
        seat = tl.act.seat
        if behind:
            tl.at(end + 0.4 * (begins - end), lambda now: self.leave(now, seat, mm=mm))
        elif mm:
            tl.at(end + 0.5 * (begins - end), lambda _: self.back_by(seat, mm))

    def _recorded(self, act: Act, stroke: Stroke) -> Json:
        """The truth of a stroke, to be filled in as it happens."""
        chips, strokes = stroke.chips, [i for i in act.inputs if i["what"] == "motion"]
        truth: Json = {"what": "motion", "n": 1 + len(strokes), "chips": counted(chips), "released": True}
        first = not any(i["released"] for i in strokes)
        truth |= {"value": sum(c.denomination for c in chips), "before_mm": 0 if first else stroke.back_mm}
        truth |= {"before_ms": 0 if first else round(stroke.pause * 1000)}
        act.inputs.append(truth)
        return truth

    def _release(
        self, tl: Timeline, times: tuple[float, float], stroke: Stroke, truth: Json, astray: dict[int, Spot] | None
    ) -> float:
        """One stroke's chips, lifted and moved forward at ``times``; returns when the last has landed."""
        act, world, chips = tl.act, self._world, stroke.chips
        stack, air, bet = (Spot(kind, str(act.seat)) for kind in ("stack", "air", "bet"))
        lifted, begins = times

        def lift(now: int) -> None:
            world.move(chips, stack, air, now, act.kind)
            truth["starts_ns"] = now

        def land(chip: Chip, target: Spot) -> Step:
            def step(now: int) -> None:
                world.move([chip], air, target, now, act.kind)
                truth.setdefault("first_touch_ns", now)
                truth["last_touch_ns"] = now

            return step

        tl.at(lifted, lift)
        touches = [0.0, *sorted(self._rng.uniform(0, stroke.trickle) for _ in chips[1:])]
        for i, (chip, touch) in enumerate(zip(chips, touches, strict=True)):
            tl.at(begins + stroke.reach + touch, land(chip, (astray or {}).get(i, bet)))
        last = begins + stroke.reach + touches[-1]
        tl.at(last, lambda now: self.rest(now, act.seat))
        return last

    def held_push(
        self, tl: Timeline, start: float, stack: Sequence[Chip], stays: Sequence[Chip], *, cuts: float
    ) -> float:
        """Push a pile over the line in the hand, cut out ``stays``, take the rest back: only those are let go."""
        act, world = tl.act, self._world
        own, air, bet = (Spot(kind, str(act.seat)) for kind in ("stack", "air", "bet"))
        rest = [c for c in stack if c not in set(stays)]
        pushed: Json = {"what": "motion", "n": 1, "chips": counted(stack), "released": False}
        pushed |= {"value": sum(c.denomination for c in stack), "before_mm": 0, "before_ms": 0}
        kept: Json = {"what": "motion", "n": 1, "chips": counted(stays), "released": True}
        kept |= {"value": sum(c.denomination for c in stays), "before_mm": 0, "before_ms": 0}
        act.inputs += [pushed, kept] if stays else [pushed]

        def push(now: int) -> None:
            world.move(stack, air, bet, now, act.kind)
            pushed["first_touch_ns"] = pushed["last_touch_ns"] = kept["first_touch_ns"] = now
            self.rest(now, act.seat)

        def pull(now: int) -> None:
            world.move(rest, bet, own, now, act.kind)
            pushed["pulled_ns"] = kept["last_touch_ns"] = now

        def lift(now: int) -> None:
            world.move(stack, own, air, now, act.kind)
            pushed["starts_ns"] = kept["starts_ns"] = now

        def gone(now: int) -> None:
            pushed["hand_ns"] = kept["hand_ns"] = now

        tl.at(start, lift)
        tl.at(start + 0.2, lambda now: self.forward(now, act.seat))
        tl.at(start + 0.35, push)
        tl.at(start + 0.35 + cuts, pull)
        end = start + 0.6 + cuts
        tl.at(end, lambda now: self.leave(now, act.seat))
        tl.at(end, gone)
        return end

    def back(self, tl: Timeline, start: float, chips: Sequence[Chip]) -> float:
        """The player takes chips up again; returns when they are in the stack."""
        act, world = tl.act, self._world
        own, bet = Spot("stack", str(act.seat)), Spot("bet", str(act.seat))
        truth: Json = {"what": "back", "chips": counted(chips), "value": sum(c.denomination for c in chips)}
        act.inputs.append(truth)

        def take(now: int) -> None:
            here = set(world.at(bet))
            world.move([c for c in chips if c in here], bet, own, now, act.kind)
            truth["ns"] = now
            self.rest(now, act.seat)

        tl.at(start, lambda now: self.forward(now, act.seat))
        tl.at(start + 0.2, take)
        tl.at(start + 0.45, lambda now: self.leave(now, act.seat))
        return start + 0.45

    def word(
        self,
        tl: Timeline,
        said: float,
        verb: str,
        key: str,
        *,
        to: int = 0,
        reaction: float | None = None,
        said_first: bool = False,
    ) -> float:
        """A word, and the dealer's key ``reaction`` later (None: the dealer does not press); returns the later time."""
        act, world = tl.act, self._world
        truth: Json = {"what": "word", "verb": verb, "to": to, "pressed_ns": None, "said_first": said_first}
        act.inputs.append(truth)

        def speak(now: int) -> None:
            truth["said_ns"] = now
            world.note(now, "declare", seat=act.seat, word=verb, to=to)

        def press(now: int) -> None:
            truth["pressed_ns"] = now
            seat = 0 if act.seat == act.to_act else act.seat
            self._press(key, seat=seat, amount=to, said_first=said_first)

        tl.at(said, speak)
        if reaction is None:
            return said
        tl.at(said + reaction, press)
        return said + reaction

    def gesture(self, tl: Timeline, at: float, what: str, key: str, *, reaction: float) -> float:
        """A gesture (tap, cards forward) and the dealer's key."""
        act, world = tl.act, self._world
        truth: Json = {"what": "gesture", "gesture": what, "pressed_ns": None}
        act.inputs.append(truth)

        def show(now: int) -> None:
            truth["ns"] = now
            world.note(now, "gesture", seat=act.seat, word=what)

        def press(now: int) -> None:
            truth["pressed_ns"] = now
            self._press(key, seat=0 if act.seat == act.to_act else act.seat)

        tl.at(at, show)
        tl.at(at + reaction, press)
        return at + reaction
