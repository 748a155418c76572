"""The ways in which a player carries out a decision, from impeccable to sloppy.

An honest style has one right ruling under every room's law, given the decision; of a sloppy one only the truth is
written down, since the law of the room decides.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from random import Random

import msgspec

from hw_sim.acts import ALL_THE_WAY_MM, Hands, Stroke, Timeline
from hw_sim.generate import exact
from hw_sim.world import Chip, Spot, World

STRING_MM = (5, 80)
"""How far a hand goes back between the two strokes of a string bet, in mm."""
KEYS = {"call": "call", "bet": "bet", "raise": "raise_to", "all-in": "all_in"}


class Decision(msgspec.Struct, kw_only=True):
    """What a player means to do: ``verb`` call, bet, raise or all-in; ``to`` the street total; ``chips`` to add."""

    seat: int
    verb: str
    to: int
    add: int
    to_call: int
    min_to: int | None
    bet: int
    chips: list[Chip]

    @property
    def raises(self) -> bool:
        """More than a call of a bet that is there."""
        return self.verb == "raise" or (self.verb == "all-in" and self.add > self.to_call > 0)


class Scene(msgspec.Struct, kw_only=True):
    """Where it happens: hands to move, chance, the dealer's reaction time, the world to look at."""

    hands: Hands
    rng: Random
    world: World
    reaction: Callable[[], float]
    seats: int

    def stack(self, seat: int) -> list[Chip]:
        """Chips of a player's stack, top first."""
        return list(reversed(self.world.at(Spot("stack", str(seat)))))


Build = Callable[[Scene, Timeline, Decision], None]
Applies = Callable[[Scene, Decision], bool]


class Style(msgspec.Struct, frozen=True):
    """One way to act: how often, when it can be done, how it is done, whether its law is known."""

    weight: float
    honest: bool
    applies: Applies
    build: Build


def take(stack: Sequence[Chip], amount: int) -> list[Chip] | None:
    """Chips of a stack worth exactly ``amount``, large ones first; None if they cannot make it."""
    counts = exact(Counter(c.denomination for c in stack), amount)
    if counts is None:
        return None
    chosen: list[Chip] = []
    for chip in stack:
        if counts[chip.denomination] > 0:
            counts[chip.denomination] -= 1
            chosen.append(chip)
    return chosen


def _silent(_: Scene, d: Decision) -> bool:
    """Chips alone say it: no all-in (that is announced), no raise with one chip."""
    return d.verb != "all-in" and not (d.raises and len(d.chips) < 2)


def _worded(_: Scene, d: Decision) -> bool:
    return d.verb in KEYS


def _two_parts(scene: Scene, d: Decision) -> bool:
    return _silent(scene, d) and len(d.chips) >= 2


def _say(scene: Scene, tl: Timeline, d: Decision, at: float, *, to: int | None = None, first: bool = False) -> float:
    amount = d.to if to is None else to
    amount = 0 if d.verb in ("call", "all-in") else amount
    return scene.hands.word(tl, at, d.verb, KEYS[d.verb], to=amount, reaction=scene.reaction(), said_first=first)


# -- honest -------------------------------------------------------------------------------------------


def _plain(scene: Scene, tl: Timeline, d: Decision) -> None:
    scene.hands.motion(tl, 0.0, d.chips)


def _trickling(scene: Scene, tl: Timeline, d: Decision) -> None:
    scene.hands.motion(tl, 0.0, d.chips, trickle=scene.rng.uniform(0.3, 0.9), leave=scene.rng.uniform(0.1, 0.5))


def _cut_beside(scene: Scene, tl: Timeline, d: Decision) -> None:
    scene.hands.motion(tl, 0.0, d.chips, reach=scene.rng.uniform(0.8, 2.2))


def _handfuls(scene: Scene, tl: Timeline, d: Decision) -> None:
    """Several handfuls let go in one forward motion, the hand hardly stopping between them."""
    rng = scene.rng
    n = min(len(d.chips), rng.randint(2, 4))
    cuts = sorted(rng.sample(range(1, len(d.chips)), n - 1)) if n > 1 else []
    parts = [list(d.chips[a:b]) for a, b in zip([0, *cuts], [*cuts, len(d.chips)], strict=True)]
    strokes = [Stroke(chips=parts[0], reach=0.35, trickle=0.12)]
    for part in parts[1:]:
        mm, pause = rng.randint(0, 8), rng.uniform(0.0, 0.09)
        strokes.append(Stroke(chips=part, reach=rng.uniform(0.05, 0.2), trickle=0.12, back_mm=mm, pause=pause))
    scene.hands.visit(tl, 0.0, strokes, leave=rng.uniform(0.1, 0.4))


def _slow_hand(scene: Scene, tl: Timeline, d: Decision) -> None:
    """The hand is over the line for a while before it lets go."""
    rests = scene.rng.uniform(0.3, 1.2)
    tl.at(0.15, lambda now: scene.hands.forward(now, d.seat))
    tl.at(0.3, lambda now: scene.hands.rest(now, d.seat))
    scene.hands.visit(tl, 0.3 + rests, [Stroke(chips=d.chips, reach=0.06, trickle=0.15)])


def _adjust(scene: Scene, tl: Timeline, d: Decision) -> None:
    """After the bet a second trip that brings nothing: the pile is put straight."""
    last = scene.hands.motion(tl, 0.0, d.chips)
    scene.hands.empty_trip(tl, last + 0.25 + scene.rng.uniform(0.3, 1.5), stay=scene.rng.uniform(0.3, 0.9))


def _hover(scene: Scene, tl: Timeline, d: Decision) -> None:
    """Chips held over the line and taken back; then the bet."""
    end = scene.hands.hover(tl, 0.0, d.chips, stay=scene.rng.uniform(0.3, 1.2))
    scene.hands.motion(tl, end + scene.rng.uniform(0.3, 1.5), d.chips)


def _dealer_fixes(scene: Scene, tl: Timeline, d: Decision) -> None:
    """The dealer's arm reaches in and puts the pile straight, sometimes while the player's hand is still there."""
    last = scene.hands.motion(tl, 0.0, d.chips)
    at = max(0.0, last + scene.rng.uniform(-0.2, 1.0))
    scene.hands.arm(tl, at, d.seat, stay=scene.rng.uniform(0.3, 1.0))


def _said_before(scene: Scene, tl: Timeline, d: Decision) -> None:
    first = scene.rng.random() < 0.3
    _say(scene, tl, d, 0.0, first=first)
    scene.hands.motion(tl, scene.rng.uniform(0.1, 1.8), d.chips)


def _said_during(scene: Scene, tl: Timeline, d: Decision) -> None:
    last = scene.hands.motion(tl, 0.0, d.chips, trickle=0.5)
    _say(scene, tl, d, scene.rng.uniform(0.2, max(0.25, last)))


def _said_after(scene: Scene, tl: Timeline, d: Decision) -> None:
    last = scene.hands.motion(tl, 0.0, d.chips)
    _say(scene, tl, d, last + scene.rng.uniform(0.1, 1.0))


def _big_chip(scene: Scene, d: Decision) -> Chip | None:
    larger = [c for c in scene.stack(d.seat) if c.denomination > d.add]
    return min(larger, default=None, key=lambda c: (c.denomination, c.uid))


def _overchip_applies(scene: Scene, d: Decision) -> bool:
    return d.verb == "call" and d.add > 0 and _big_chip(scene, d) is not None and d.bet == 0


def _overchip(scene: Scene, tl: Timeline, d: Decision) -> None:
    chip = _big_chip(scene, d)
    assert chip is not None
    d.chips = [chip]
    scene.hands.motion(tl, 0.0, d.chips)


def _change_for(scene: Scene, tl: Timeline, d: Decision) -> None:
    _say(scene, tl, d, 0.0, first=scene.rng.random() < 0.5)
    chip = _big_chip(scene, d)
    assert chip is not None
    d.chips = [chip]
    scene.hands.motion(tl, scene.rng.uniform(0.4, 1.5), d.chips)


# -- sloppy -------------------------------------------------------------------------------------------


def _parts(scene: Scene, d: Decision) -> tuple[list[Chip], list[Chip]]:
    """What goes first (the call, or some of the chips) and the rest."""
    first = take(d.chips, d.to_call) if d.raises and d.to_call else None
    if not first or len(first) == len(d.chips):
        first = list(d.chips[: scene.rng.randint(1, len(d.chips) - 1)])
    return first, [c for c in d.chips if c not in set(first)]


def _string(scene: Scene, tl: Timeline, d: Decision) -> None:
    """The call (or a part) first, the rest in a second stroke, after the hand went back a little or rested."""
    first, rest = _parts(scene, d)
    mm = scene.rng.randint(*STRING_MM)
    pause = 0.05 * 40 ** scene.rng.random()  # 50 to 2000 ms, as often short as long
    depth = scene.rng.randint(30, 160)
    strokes = [Stroke(chips=first, reach=0.35, trickle=0.12), Stroke(chips=rest, back_mm=mm, pause=pause)]
    scene.hands.visit(tl, 0.0, strokes, depth_mm=depth, leave=scene.rng.uniform(0.1, 0.4))


def _string_far(scene: Scene, tl: Timeline, d: Decision) -> None:
    """Back to the stack for the rest."""
    first, rest = _parts(scene, d)
    pause = scene.rng.uniform(0.5, 2.5)
    strokes = [Stroke(chips=first, reach=0.35), Stroke(chips=rest, back_mm=ALL_THE_WAY_MM, pause=pause)]
    scene.hands.visit(tl, 0.0, strokes)


def _push_unreleased(scene: Scene, tl: Timeline, d: Decision) -> None:
    """Pushed over the line with the hand on the chips, and taken back whole (§7.7: it binds)."""
    scene.hands.held_push(tl, 0.0, d.chips, [], cuts=scene.rng.uniform(0.4, 1.5))


def _held(scene: Scene, tl: Timeline, d: Decision) -> None:
    others = [c for c in scene.stack(d.seat) if c not in set(d.chips)]
    more = others[: min(scene.rng.randint(1, 8), len(others) - 1)]
    scene.hands.held_push(tl, 0.0, [*d.chips, *more], d.chips, cuts=scene.rng.uniform(0.3, 1.5))


def _held_applies(scene: Scene, d: Decision) -> bool:
    return _silent(scene, d) and len(scene.stack(d.seat)) > len(d.chips) + 1


def _splash(scene: Scene, tl: Timeline, d: Decision) -> None:
    """Chips thrown: some roll to a neighbour's place or between the antennas; the dealer gathers them."""
    near = [n for n in (d.seat - 1, d.seat + 1) if 1 <= n <= scene.seats]
    places = [Spot("felt", str(d.seat)), *(Spot("bet", str(n)) for n in near)]
    lost = scene.rng.sample(range(len(d.chips)), max(1, len(d.chips) // 3))
    astray = {i: scene.rng.choice(places) for i in lost}
    last = scene.hands.motion(tl, 0.0, d.chips, trickle=0.6, astray=astray)
    own = Spot("bet", str(d.seat))
    for i, (index, place) in enumerate(sorted(astray.items())):
        chip = d.chips[index]
        at = last + scene.rng.uniform(1.0, 2.0) + 0.2 * i
        for seat in sorted({d.seat, int(place.who)}):
            scene.hands.arm(tl, at - 0.2, seat, stay=0.5)
        tl.at(at, _gather(scene.world, chip, place, own))


def _gather(world: World, chip: Chip, source: Spot, target: Spot) -> Callable[[int], None]:
    return lambda now: world.move([chip], source, target, now, "dealer gathers")


def _mismatch(scene: Scene, tl: Timeline, d: Decision) -> None:
    """Word and chips name different amounts."""
    said = d.to + scene.rng.choice((-1, 1)) * scene.rng.randint(1, 4) * max(25, d.add // 4 // 25 * 25)
    before = scene.rng.random() < 0.6
    if before:
        _say(scene, tl, d, 0.0, to=max(25, said))
        scene.hands.motion(tl, scene.rng.uniform(0.1, 1.2), d.chips)
    else:
        last = scene.hands.motion(tl, 0.0, d.chips)
        _say(scene, tl, d, last + scene.rng.uniform(0.0, 0.8), to=max(25, said))


def _take_back(scene: Scene, tl: Timeline, d: Decision) -> None:
    last = scene.hands.motion(tl, 0.0, d.chips)
    count = 1 if scene.rng.random() < 0.6 else len(d.chips)
    scene.hands.back(tl, last + scene.rng.uniform(0.4, 2.0), d.chips[-count:])


def _drop(scene: Scene, tl: Timeline, d: Decision) -> None:
    """A chip slips out of the fingers over the line, is picked up, and then the player acts."""
    others = [c for c in scene.stack(d.seat) if c not in set(d.chips)]
    slipped = others[:1] or d.chips[:1]
    end = dropped(scene, tl, 0.0, slipped)
    scene.hands.motion(tl, end + scene.rng.uniform(0.3, 1.0), d.chips)


def dropped(scene: Scene, tl: Timeline, at: float, chips: Sequence[Chip]) -> float:
    """A chip falls past the line and is picked up again: no motion, no meaning; returns when it is back."""
    seat, world = tl.act.seat, scene.world
    own, bet = Spot("stack", str(seat)), Spot("bet", str(seat))
    truth: dict[str, object] = {
        "what": "dropped",
        "chips": [c.name for c in chips],
        "worth": [c.denomination for c in chips],
    }
    tl.act.inputs.append(truth)

    def fall(now: int) -> None:
        world.move(chips, own, bet, now, "dropped")
        truth["ns"] = now

    def pick(now: int) -> None:
        here = set(world.at(bet))
        world.move([c for c in chips if c in here], bet, own, now, "picked up")
        truth["back_ns"] = now

    tl.at(at, fall)
    end = at + scene.rng.uniform(0.6, 2.5)
    tl.at(end, pick)
    return end


def _late_word(scene: Scene, tl: Timeline, d: Decision) -> None:
    """Chips of a call, or one big chip, and "raise" only when they lie there."""
    chip = _big_chip(scene, msgspec.structs.replace(d, add=d.to_call)) if d.to_call else None
    chips = [chip] if chip is not None and scene.rng.random() < 0.5 else d.chips
    last = scene.hands.motion(tl, 0.0, chips)
    reaction = scene.reaction()
    late = last + scene.rng.uniform(-0.3, 0.8)
    scene.hands.word(tl, late, "raise", "raise_to", to=d.to, reaction=reaction)


def _under(scene: Scene, tl: Timeline, d: Decision) -> None:
    """More than a call, less than a raise, in silence and one motion."""
    scene.hands.motion(tl, 0.0, _under_chips(scene, d) or d.chips)


def _under_chips(scene: Scene, d: Decision) -> list[Chip] | None:
    if not d.raises or d.min_to is None:
        return None
    low, high = d.to_call, d.min_to - d.bet
    for share in (0.3, 0.5, 0.7):
        chips = take(scene.stack(d.seat), low + round((high - low) * share) // 25 * 25)
        if chips and len(chips) > 1 and low < sum(c.denomination for c in chips) < high:
            return chips
    return None


STYLES: dict[str, Style] = {
    "plain": Style(3.0, True, _silent, _plain),
    "trickle": Style(1.5, True, _silent, _trickling),
    "cut_beside": Style(1.0, True, _silent, _cut_beside),
    "said_before": Style(1.0, True, _worded, _said_before),
    "said_during": Style(0.5, True, _silent, _said_during),
    "said_after": Style(0.5, True, _silent, _said_after),
    "overchip": Style(0.6, True, _overchip_applies, _overchip),
    "change_for": Style(0.5, True, _overchip_applies, _change_for),
    "string": Style(2.0, False, _two_parts, _string),
    "held_push": Style(1.0, False, _held_applies, _held),
    "splash": Style(1.0, False, _two_parts, _splash),
    "mismatch": Style(0.7, False, lambda s, d: _silent(s, d) and d.verb != "call", _mismatch),
    "take_back": Style(0.8, False, _silent, _take_back),
    "drop": Style(0.6, False, _silent, _drop),
    "late_word": Style(0.7, False, lambda s, d: _silent(s, d) and d.raises, _late_word),
    "under_raise": Style(1.5, False, lambda s, d: _under_chips(s, d) is not None, _under),
    "handfuls": Style(0.0, True, _two_parts, _handfuls),
    "slow_hand": Style(0.0, True, _silent, _slow_hand),
    "adjust": Style(0.0, True, _silent, _adjust),
    "hover": Style(0.0, True, _silent, _hover),
    "dealer_fixes": Style(0.0, True, _silent, _dealer_fixes),
    "string_far": Style(0.0, False, _two_parts, _string_far),
    "push_unreleased": Style(0.0, False, _silent, _push_unreleased),
}

ROOM: dict[str, float] = {
    # Honest: what most players do most of the time.
    "plain": 300,
    "trickle": 120,  # stacks are dropped chip by chip
    "said_before": 130,  # words are asked for (§7.6), and many raise with them
    "cut_beside": 90,  # §7.7 allows it, and careful players do it
    "handfuls": 60,  # deep stacks: more chips than fingers
    "overchip": 60,  # a big chip for a small bet, whenever one has no small ones
    "slow_hand": 40,
    "adjust": 40,  # a tidy player, about one in ten of those who bet in stacks
    "said_after": 40,
    "dealer_fixes": 25,  # counting a big bet
    "said_during": 20,
    "change_for": 20,
    "hover": 10,  # frowned upon, so rare
    # Sloppy: what the floor is called for.
    "string": 30,  # with string_far about 2 % of all acts, since every second act is a fold or a check
    "string_far": 10,
    "under_raise": 12,
    "mismatch": 8,
    "held_push": 8,
    "take_back": 6,
    "late_word": 5,
    "splash": 4,
    "drop": 3,
    "push_unreleased": 2,
}
"""A plausible room: how often each style is met among a thousand acts with chips, where it can be done at all."""

MEANWHILE: dict[str, float] = {
    "fidget": 30,  # another player stretches, or pushes a card: a hand over its own line, and no chip
    "passing": 30,  # the dealer's arm over some seat's zone: cards, the muck, pointing at a bet
    "together": 40,  # the next player does not wait until the dealer has said it all
    "bystander": 5,  # a chip slips out of somebody's fingers
    "out_of_turn": 5,  # once an hour or so
}
"""What others do while somebody acts: how often among a thousand acts of all kinds."""


def choose(scene: Scene, d: Decision, sloppiness: float) -> str:
    """A style that fits the decision; sloppy with the given chance where one fits."""
    sloppy = scene.rng.random() < sloppiness
    fit = [n for n, s in STYLES.items() if s.honest != sloppy and s.applies(scene, d)]
    fit = fit or [n for n, s in STYLES.items() if s.honest and s.applies(scene, d)]
    return scene.rng.choices(fit, [STYLES[n].weight for n in fit])[0]


def choose_as_in(scene: Scene, d: Decision, weights: Mapping[str, float]) -> str:
    """A style that fits the decision, drawn by ``weights``; "plain" where none fits."""
    fit = [n for n, w in weights.items() if w > 0 and STYLES[n].applies(scene, d)]
    return scene.rng.choices(fit, [weights[n] for n in fit])[0] if fit else "plain"
