"""What one player does with chips, hands and words, as a timeline, and the truth of it.

Times of a timeline are seconds from the beginning of the act at the pace of people.  Whatever happens is written
into the act's own record when it happens, so that the truth holds real times and real order:

* motion: ``n`` (1 for the first), ``chips`` by denomination, ``value``, ``released`` (False: pushed and held),
  ``starts_ns`` (fingers leave the stack), ``first_touch_ns``, ``last_touch_ns``, ``hand_ns`` (the hand has gone
  back), ``retreat_mm`` (how far behind the line it went; None: all the way), ``pause_ms`` since the motion before;
* back: chips that the player takes up again, with ``ns``, ``chips``, ``value``;
* word: ``verb``, ``to``, ``said_ns`` (last syllable), ``pressed_ns`` (the dealer's key, None: never), ``said_first``
  (the dealer's own statement with the key).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from random import Random
from typing import Any

import msgspec

from hw_sim.script import Script, Sleep
from hw_sim.world import Chip, Spot, World

SECOND = 1_000_000_000
MAX_STEPS = 500

Json = dict[str, Any]
Step = Callable[[int], None]
"""Something that happens at an instant; it is told the time in nanoseconds."""


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

    def one_motion(self) -> bool:
        """Whether all chips came in one forward motion."""
        return len(self.motions) <= 1

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


class Hands:
    """Builds the parts of timelines: forward motions, taking back, words and the dealer's keys."""

    def __init__(self, world: World, rng: Random, press: Callable[..., None]) -> None:
        self._world, self._rng, self._press = world, rng, press

    def _hand(self, tl: Timeline, at: float, phase: str, mm: int | None = None) -> None:
        seat = tl.act.seat
        tl.at(at, lambda now: self._world.note(now, "hand", seat=seat, phase=phase, mm=mm))

    def motion(
        self,
        tl: Timeline,
        start: float,
        chips: Sequence[Chip],
        *,
        reach: float = 0.35,
        trickle: float = 0.15,
        leave: float = 0.25,
        retreat_mm: int | None = None,
        pause_ms: int | None = None,
        astray: dict[int, Spot] | None = None,
    ) -> float:
        """One forward motion from the stack; returns when the last chip has landed.

        Chips touch one by one within ``trickle``.  ``astray``: index of a chip to where it really lands.
        """
        act, world = tl.act, self._world
        stack, air, bet = (Spot(kind, str(act.seat)) for kind in ("stack", "air", "bet"))
        n = 1 + sum(i["what"] == "motion" for i in act.inputs)
        truth: Json = {"what": "motion", "n": n, "chips": counted(chips), "value": sum(c.denomination for c in chips)}
        truth |= {"released": True, "retreat_mm": retreat_mm, "pause_ms": pause_ms}
        act.inputs.append(truth)

        def lift(now: int) -> None:
            world.move(chips, stack, air, now, act.kind)
            truth["starts_ns"] = now

        def land(chip: Chip, target: Spot) -> Step:
            def step(now: int) -> None:
                world.move([chip], air, target, now, act.kind)
                truth.setdefault("first_touch_ns", now)
                truth["last_touch_ns"] = now

            return step

        tl.at(start, lift)
        self._hand(tl, start + 0.6 * reach, "crosses")
        touches = [0.0, *sorted(self._rng.uniform(0, trickle) for _ in chips[1:])]
        for i, (chip, touch) in enumerate(zip(chips, touches, strict=True)):
            tl.at(start + reach + touch, land(chip, (astray or {}).get(i, bet)))
        last = start + reach + touches[-1]
        gone = last + leave
        self._hand(tl, gone, "gone" if retreat_mm is None else "retreats", retreat_mm)
        tl.at(gone, lambda now: truth.__setitem__("hand_ns", now))
        return last

    def held_push(
        self, tl: Timeline, start: float, stack: Sequence[Chip], stays: Sequence[Chip], *, cuts: float
    ) -> float:
        """Push a pile over the line in the hand, cut out ``stays``, take the rest back: only those are let go."""
        act, world = tl.act, self._world
        own, air, bet = (Spot(kind, str(act.seat)) for kind in ("stack", "air", "bet"))
        rest = [c for c in stack if c not in set(stays)]
        pushed: Json = {"what": "motion", "n": 1, "chips": counted(stack), "released": False}
        pushed |= {"value": sum(c.denomination for c in stack), "retreat_mm": None, "pause_ms": None}
        kept: Json = {"what": "motion", "n": 1, "chips": counted(stays), "released": True}
        kept |= {"value": sum(c.denomination for c in stays), "retreat_mm": None, "pause_ms": None}
        act.inputs += [pushed, kept]

        def push(now: int) -> None:
            world.move(stack, air, bet, now, act.kind)
            pushed["first_touch_ns"] = pushed["last_touch_ns"] = kept["first_touch_ns"] = now

        def pull(now: int) -> None:
            world.move(rest, bet, own, now, act.kind)
            kept["last_touch_ns"] = now

        def lift(now: int) -> None:
            world.move(stack, own, air, now, act.kind)
            pushed["starts_ns"] = kept["starts_ns"] = now

        tl.at(start, lift)
        self._hand(tl, start + 0.2, "crosses")
        tl.at(start + 0.35, push)
        tl.at(start + 0.35 + cuts, pull)
        gone = start + 0.6 + cuts
        self._hand(tl, gone, "gone")
        tl.at(gone, lambda now: kept.__setitem__("hand_ns", now))
        return gone

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

        self._hand(tl, start, "crosses")
        tl.at(start + 0.2, take)
        self._hand(tl, start + 0.45, "gone")
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
