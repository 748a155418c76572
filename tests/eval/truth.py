"""What really happened, as acts in binding order, and the rulings that are right for it.

The law itself is taken from `tabled.rules`: it is not what is measured here.  Where people at a real table would not
agree on what they saw (a stroke between one motion and two, a word in the instant of the touch), each of their
readings is right.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator, Sequence

import msgspec

from hw_sim.acts import Act, Json
from tabled.model.acts import AnyAct, HandReturnsToStack, Order, Place, PullBack, PushForward, Say, Word
from tabled.model.ruling import Ruling
from tabled.rules.hand import Hand
from tabled.rules.judge import Judgement, judge
from tabled.rules.profile import Profile
from tabled.rules.turn import resolve_held

MS = 1_000_000
UNSEEN_MS = 1000
"""Chips that were taken back so shortly before a ruling may still lie there for it."""
INSTANT_MS = 100
"""A word that ends so near to the first touch came, for people, with it."""
BORDER_MM, BORDER_MS = 20, 150
"""How a dealer sees a stroke that lies between one motion and two."""

_SAYS: dict[str, Word] = {
    "call": "call",
    "bet": "bet",
    "raise": "raise",
    "all-in": "all_in",
    "check": "check",
    "fold": "fold",
}
_SHOWS: dict[str, Word] = {"tap": "check", "cards-forward": "fold"}


class Spot(msgspec.Struct, frozen=True, kw_only=True):
    """Where an act begins: the hand, the law, and the chips of the seat's earlier bet that lie there."""

    hand: Hand
    profile: Profile
    seat: str
    lying: tuple[int, ...]
    bet_then: int | None = None
    """For an act out of turn: the bet that it was made over."""

    def judge(self, acts: Sequence[AnyAct]) -> Judgement:
        """The law on a list of acts."""
        hand = self.hand.copy()
        hand.set_line_chips(self.seat, self.lying)
        if self.bet_then is not None:
            return resolve_held(hand, self.bet_then, self.profile, acts)
        return judge(hand, self.profile, acts)


def effect(ruling: Ruling) -> tuple[object, ...]:
    """All of a ruling that makes a difference at the table."""
    return (
        ruling.seat, ruling.action, ruling.verb, ruling.to, ruling.add, ruling.back, ruling.floor, ruling.may_raise,
    )  # fmt: skip


def outcome(ruling: Ruling) -> tuple[object, ...]:
    """What was decided, whatever has become of the chips since."""
    return ruling.action, ruling.verb, ruling.to


def _chips(part: Json) -> tuple[int, ...]:
    """Denominations, largest first."""
    return tuple(sorted((int(d) for d, n in part["chips"].items() for _ in range(n)), reverse=True))


def _less(chips: tuple[int, ...], fewer: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(sorted((Counter(chips) - Counter(fewer)).elements(), reverse=True))


def first_touch_ns(act: Act) -> int | None:
    """When the first chip touched the felt."""
    return min((i["first_touch_ns"] for i in act.inputs if "first_touch_ns" in i), default=None)


def first_word_ns(act: Act) -> int | None:
    """When the first word or gesture was complete."""
    said = [i["said_ns"] for i in act.inputs if "said_ns" in i]
    return min(said + [i["ns"] for i in act.inputs if i["what"] == "gesture"], default=None)


def hand_left_ns(act: Act) -> int | None:
    """When the player's hand had gone for the last time after letting chips go."""
    return max((i["hand_ns"] for i in act.inputs if "hand_ns" in i), default=None)


def one_motion(act: Act) -> bool:
    """How the dealer saw it."""
    verdicts = act.apart()
    strokes = act.motions[1:]
    return not any(
        two if two is not None else stroke["before_mm"] >= BORDER_MM or stroke["before_ms"] >= BORDER_MS
        for two, stroke in zip(verdicts, strokes, strict=True)
    )


def readings(act: Act, seat: str, until_ns: int, *, whole: bool = True) -> Iterator[tuple[AnyAct, ...]]:
    """Each list of acts that is true to what happened up to ``until_ns``; ``whole``: with all strokes of a bet that had
    begun by then."""
    begun = whole and (first_touch_ns(act) or until_ns + 1) <= until_ns
    happened = [i for i in act.inputs if _before(i, 1 << 62 if begun and _moves(i) else until_ns)]
    parts = [i for i in happened if i["what"] == "motion" and i["released"]]
    borders = [_splits(n, part) for n, part in enumerate(parts)]
    touch = min((i["first_touch_ns"] for i in happened if "first_touch_ns" in i), default=None)
    words = [i for i in happened if i["what"] in ("word", "gesture")]
    orders = [_orders(_ns(w) or 0, touch) for w in words]
    drops = [i for i in happened if i["what"] == "dropped"]
    for split in itertools.product(*borders):
        for order in itertools.product(*orders):
            for dropped in _dropped(seat, drops):
                acts = _in_order(seat, happened, list(split), words, list(order), until_ns)
                if dropped or acts:
                    yield (*dropped, *acts)


def _before(part: Json, ns: int) -> bool:
    at = _ns(part)
    return at is not None and at <= ns - (UNSEEN_MS * MS if part["what"] == "back" else 0)


def _moves(part: Json) -> bool:
    return part["what"] in ("motion", "dropped")


def lay_and_went(part: Json) -> bool:
    """Whether chips lay on the felt and were taken back: put down, or pushed over the line under the hand."""
    return part["what"] == "back" or (part["what"] == "motion" and not part["released"])


def _ns(part: Json) -> int | None:
    """When a part of an act bound."""
    for name in ("first_touch_ns", "said_ns", "ns"):
        if name in part:
            return int(part[name])
    return None


def _splits(n: int, part: Json) -> tuple[bool, ...]:
    if n == 0:
        return (False,)
    mm, ms = part["before_mm"], part["before_ms"]
    two = Act(seat=0, kind="", to_act=0, inputs=[{**part, "before_mm": 0, "before_ms": 0}, part]).apart()[0]
    assert mm >= 0 <= ms
    return (True, False) if two is None else (two,)


def _orders(said_ns: int, touch_ns: int | None) -> tuple[bool, ...]:
    """Whether a word came before the first chip."""
    if touch_ns is not None and abs(said_ns - touch_ns) <= INSTANT_MS * MS:
        return (True, False)
    return (touch_ns is None or said_ns < touch_ns,)


def _dropped(seat: str, drops: list[Json]) -> list[tuple[AnyAct, ...]]:
    """A chip that slipped and was picked up: nothing, an accident for the floor, or to the letter (§7.7) a bet."""
    if not drops:
        return [()]
    worth = tuple(w for d in drops for w in d["worth"])
    return [
        (),
        (Place(seat, worth, accidental=True), PullBack(seat, worth)),
        (Place(seat, worth), PullBack(seat, worth), HandReturnsToStack(seat)),
    ]


def _in_order(
    seat: str, happened: list[Json], split: list[bool], words: list[Json], first: list[bool], until_ns: int
) -> list[AnyAct]:
    before = [_said(seat, w, "before") for w, f in zip(words, first, strict=True) if f]
    after = [_said(seat, w, "after") for w, f in zip(words, first, strict=True) if not f]
    out: list[AnyAct] = [*before]
    placed = 0
    pushed = next((i for i in happened if i["what"] == "motion" and not i["released"]), None)
    if pushed is not None:
        kept = next((i for i in happened if i["what"] == "motion" and i["released"]), None)
        out.append(PushForward(seat, _chips(pushed), hand_on_chips=True))
        out += after
        if pushed.get("pulled_ns", 1 << 62) <= until_ns - UNSEEN_MS * MS:
            out.append(PullBack(seat, _less(_chips(pushed), _chips(kept) if kept else ())))
        return out
    for part in sorted(happened, key=lambda i: _ns(i) or 0):
        if part["what"] == "motion":
            if placed and split[placed]:
                out.append(HandReturnsToStack(seat))
            if placed and not split[placed] and isinstance(out[-1], Place):
                out[-1] = Place(seat, tuple(sorted((*out[-1].chips, *_chips(part)), reverse=True)))
            else:
                out.append(Place(seat, _chips(part)))
            if not placed:
                out += after
            placed += 1
        elif part["what"] == "back":
            out.append(PullBack(seat, _chips(part)))
    return out if placed else [*out, *after]


def _said(seat: str, part: Json, order: Order) -> AnyAct:
    if part["what"] == "gesture":
        return Say(seat, _SHOWS[part["gesture"]], order=order)
    word = _SAYS[part["verb"]]
    amount = part["to"] or None
    return Say(seat, word, amount, "to" if word == "raise" and amount else "unstated", order)


FOR_EVER = 1 << 62
LOOSE = ("drop", "splash")
"""Chips lie where no antenna is, or lay there by accident: only what was decided is compared, not what is owed."""


def accepted(spot: Spot, act: Act, ruled_ns: int) -> list[Judgement]:
    """The right rulings on an act: of all that happened, or of what had happened when the final one was given.

    A second stroke that came after a final ruling may not change what was decided, only what is owed or goes back.
    What happened just before it no sensor can have told yet: then a correction must follow.
    """
    out: list[Judgement] = []
    for until, whole in ((FOR_EVER, True), (ruled_ns, True), (ruled_ns, False)):
        for acts in readings(act, spot.seat, until, whole=whole):
            judged = spot.judge(acts)
            if any(effect(judged.ruling) == effect(j.ruling) for j in out):
                continue
            if whole or any(outcome(judged.ruling) == outcome(j.ruling) for j in out):
                out.append(judged)
    return out


def match(right: Sequence[Judgement], ruling: Ruling, style: str) -> Judgement | None:
    """The right ruling that a given one is, None if it is none of them."""
    same = outcome if style in LOOSE else effect
    return next((j for j in right if same(j.ruling) == same(ruling)), None)


def as_string(spot: Spot, act: Act) -> list[Ruling]:
    """The rulings that would follow if some split of the chips had been two motions."""
    chips = [c for part in act.motions for c in _chips(part)]
    out = []
    for order in (chips, chips[::-1]):
        for k in range(1, len(order)):
            acts: list[AnyAct] = [Place(spot.seat, tuple(order[:k])), HandReturnsToStack(spot.seat)]
            out.append(spot.judge([*acts, Place(spot.seat, tuple(order[k:]))]).ruling)
    return out


def as_one(spot: Spot, act: Act) -> Ruling:
    """The ruling that would follow if all chips had come in one motion."""
    chips = tuple(sorted((c for part in act.motions for c in _chips(part)), reverse=True))
    return spot.judge([Place(spot.seat, chips)]).ruling
