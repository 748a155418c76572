"""Readings of what was said."""

from __future__ import annotations

from tabled.model.acts import Say
from tabled.model.ruling import Candidate, Reason
from tabled.rules.raising import no_raise, raise_to, too_little, undercall
from tabled.rules.reading import Reading, Spot

PASS_WORDS = frozenset({"pass", "passar", "passa", "pas", "ik pas", "check", "checkar", "jag passar"})
IF_WORDS = ("if ", "om ", "als ", "when ", "ifall ")
_ACTIONS = ("fold", "check", "call", "bet", "raise", "all_in", "number", "pot", "complete")


def binding(words: tuple[Say, ...]) -> Say | None:
    """The first word that names an action; a number said after a bare "raise" or "bet" is its amount."""
    first: Say | None = None
    for say in words:
        if say.word not in _ACTIONS:
            if first is None:
                return say
            continue
        if first is None:
            first = say
        elif say.word == "number" and first.word in ("raise", "bet") and first.amount is None:
            return Say(first.seat, first.word, say.amount, say.by_or_to, first.order, first.text, first.low_voice)
    return first


def read_word(spot: Spot, say: Say, rests_on: tuple[str, ...]) -> Reading:
    """The reading of the binding word, with the chips that came with it."""
    topics = ("words_first",) if rests_on or spot.gesture.new else ("spoken", "spoken_alone")
    match say.word:
        case "fold":
            return _fold(spot)
        case "check":
            return _check(spot, say)
        case "call":
            if spot.owes:
                return Reading(
                    kind="call",
                    reason=Reason("call"),
                    topics=(*topics, "first_words", "undercall_word"),
                    rests_on=rests_on,
                )
            return Reading(kind="check", reason=Reason("call_of_nothing"), topics=("invalid_call",), rests_on=rests_on)
        case "all_in":
            return _all_in(spot, topics)
        case "number" if say.amount:
            return read_number(spot, say, say.amount, rests_on)
        case "other":
            return _other(spot, say)
        case "complete" if spot.complete is not None:
            return Reading(kind="raise", to=spot.complete, reason=Reason("complete"), topics=("completion", "bring_in"))
        case _:
            return _raise(spot, say, topics, rests_on)


def _fold(spot: Spot) -> Reading:
    if spot.gesture.lifted and spot.owes and spot.profile.prior_pull_back == "binds":
        code = "lifted_binds" if spot.may_raise else "lifted_binds_call"
        return Reading(
            kind="call_or_fold",
            reason=Reason(code, {"to": min(spot.price, spot.mine)}),
            topics=("prior_pull_back",),
            may_fold=False,
            may_raise=True,
        )
    return Reading(kind="fold", reason=Reason("fold"), topics=("fold",))


def _check(spot: Spot, say: Say) -> Reading:
    if not spot.owes:
        return Reading(kind="check", reason=Reason("check"), topics=("check",))
    if spot.felt >= spot.price:
        return Reading(kind="call", reason=Reason("check_then_call"), topics=("invalid_check",))
    tap = say.text == "tap"
    return Reading(
        kind="call_or_fold",
        reason=Reason("no_check", {"to": spot.price}),
        topics=("invalid_tap",) if tap else ("invalid_check",),
        floor=tap and spot.profile.tap_facing == "ask",
    )


def _other(spot: Spot, say: Say) -> Reading:
    text = say.text.strip().lower()
    if text in PASS_WORDS and not spot.owes:
        return Reading(kind="check", reason=Reason("check"), topics=("check",))
    if text.startswith(IF_WORDS):
        return conditional()
    if text in PASS_WORDS:
        return Reading(
            kind="call_or_fold", reason=Reason("no_check", {"to": spot.price}), topics=("invalid_check",), floor=True
        )
    return Reading(kind="floor", reason=Reason("floor_unclear_word"), topics=("unclear",), may_raise=True)


def conditional() -> Reading:
    """ "If you bet I raise": may bind, the floor says (TDA 59-A)."""
    return Reading(
        kind="floor",
        reason=Reason("floor_conditional"),
        topics=("conditional",),
        candidates=(
            Candidate("raise", None, Reason("binding_raise")),
            Candidate("pending", None, Reason("free_choice")),
        ),
    )


def _all_in(spot: Spot, topics: tuple[str, ...]) -> Reading:
    if spot.mine <= spot.price:
        return Reading(kind="call", reason=Reason("all_in_call"), topics=(*topics, "all_in_call"))
    return raise_to(spot, spot.mine, spoken=True, topics=topics)


def _raise(spot: Spot, say: Say, topics: tuple[str, ...], rests_on: tuple[str, ...]) -> Reading:
    """ "Raise", "bet" or "pot", with or without an amount."""
    if not spot.may_raise:
        return no_raise(spot)
    if say.word == "pot" and spot.pot_limit:
        return Reading(
            kind="raise",
            to=spot.high,
            reason=Reason("bet_pot" if spot.opening else "raise_pot"),
            topics=("pot", "pot_blinds", "rounding") if spot.hand.phantom else ("pot", "rounding"),
        )
    if say.word == "pot":
        topics = (*topics, "pot")
    if spot.opening and say.word == "raise":
        topics = (*topics, "invalid_raise")
    if say.amount is not None:
        return _with_amount(spot, say, say.amount, topics, rests_on)
    return _without_amount(spot, topics, rests_on)


def _with_amount(spot: Spot, say: Say, amount: int, topics: tuple[str, ...], rests_on: tuple[str, ...]) -> Reading:
    short = short_number(spot, amount)
    if short is not None:
        return short
    total, topic = _meant(spot, say, amount)
    total = rounded(spot, total)
    more = (topic, "string_amount_first") if len(spot.gesture.motions) > 1 else (topic,)
    return raise_to(spot, total, spoken=True, topics=(*topics, "min_raise", *more), rests_on=rests_on)


def _meant(spot: Spot, say: Say, amount: int) -> tuple[int, str]:
    """The total that an amount with "raise" or "bet" means, and the topic behind it."""
    bet_to = spot.hand.bet_to
    if say.by_or_to == "by":
        return bet_to + amount, "min_raise"
    if say.by_or_to == "to" or spot.opening:
        return amount, "min_raise"
    meaning = spot.profile.number_meaning
    if meaning == "to":
        return amount, "raise_unstated"
    if meaning == "chips_clarify" and spot.felt == amount and amount >= spot.low:
        return amount, "raise_unstated"
    return bet_to + amount, "raise_unstated"


def _without_amount(spot: Spot, topics: tuple[str, ...], rests_on: tuple[str, ...]) -> Reading:
    """The chips say how much; with none, or too few, it is the smallest raise."""
    motions = spot.gesture.motions
    if not motions:
        return raise_to(spot, 0, spoken=True, topics=topics, rests_on=rests_on)
    if len(motions) == 1 and len(motions[0]) == 1:
        topics = (*topics, "raise_one_chip")
    total, more = _fed(spot, motions)
    if more:
        rests_on = (*rests_on, *more)
    if len(motions) > 1:
        topics = ("string_exception", *topics)
    return raise_to(spot, total, spoken=True, topics=(*topics, "min_raise"), rests_on=rests_on)


def _fed(spot: Spot, motions: tuple[tuple[int, ...], ...]) -> tuple[int, tuple[str, ...]]:
    """How many of the trips count after a spoken raise: the total, and the setting it rests on where it is open."""
    first = spot.lying + sum(motions[0])
    rule = spot.profile.raise_word_extra_motions
    if len(motions) == 1 or rule == "none":
        return first, ()
    if rule == "free":
        return spot.lying + sum(map(sum, motions)), ()
    if rule == "once" or first == spot.price:
        return first + sum(motions[1]), ()
    return first, ("raise_word_extra_motions",) if spot.owes else ()


def read_number(spot: Spot, say: Say, amount: int, rests_on: tuple[str, ...]) -> Reading:
    """A bare number is that many chips put forward in silence (TDA 40-C), without the one-chip rule."""
    chips = spot.felt - spot.lying
    if say.low_voice and chips and chips != amount and spot.profile.low_voice == "floor":
        return Reading(
            kind="floor",
            reason=Reason("floor_low_voice", {"said": amount, "chips": chips}),
            topics=("low_voice",),
            candidates=(
                Candidate("raise" if spot.owes else "bet", amount, Reason("amount", {"to": amount})),
                Candidate("raise" if spot.owes else "bet", chips, Reason("amount", {"to": chips})),
            ),
        )
    short = short_number(spot, amount, spoken=False)
    if short is not None:
        return short
    amount = rounded(spot, amount)
    topics = ("number", "rounding")
    if amount > spot.price or spot.opening:
        return raise_to(spot, min(amount, spot.mine), spoken=False, topics=topics, rests_on=rests_on)
    if amount == spot.price or amount >= spot.mine:
        kind = "call" if spot.owes else "check"
        return Reading(kind="call" if spot.owes else "check", reason=Reason(kind), topics=topics, rests_on=rests_on)
    if not spot.owes:
        return Reading(kind="check", reason=too_little(spot, "check"), topics=topics)
    return undercall(spot, amount, topics)


def rounded(spot: Spot, amount: int) -> int:
    """An amount in the chips in play, to the nearest, where the profile says so; half goes up."""
    unit = spot.hand.table.chip_unit
    if spot.profile.amount_rounding == "none":
        return amount
    down = amount - amount % unit
    return down + unit if 2 * (amount - down) >= unit else down


def short_number(spot: Spot, amount: int, spoken: bool = True) -> Reading | None:
    """ "Five" where five chips cannot be meant (TDA 57): the largest of its readings not over the pot.

    None if the number is to be taken as it is.  Below a hundred it may mean hundreds, below a thousand thousands.
    Chips that came with it, several that make one of its readings, tell which.  A bare number (``spoken`` is False)
    can mean a call, one said with "raise" or "bet" cannot.
    """
    if spot.profile.short_number == "literal" or not spot.may_raise or not _is_short(spot, amount):
        return None
    readings = [amount * 100, amount * 1000] if amount < 100 else [amount * 1000]
    legal = [r for r in readings if r >= spot.low or (spot.owes and not spoken and r == spot.price)]
    kind = "bet" if spot.opening else "raise"
    candidates = tuple(
        Candidate("call" if spot.owes and r == spot.price else kind, r, Reason("amount", {"to": r}))  # type: ignore[arg-type]  # bet or raise
        for r in (legal if spot.owes else readings)
    )
    several = len(spot.gesture.new) > 1
    fits = [r for r in legal if several and r == spot.felt] or [r for r in legal if r <= spot.hand.total]
    if not fits and 10 * amount > spot.hand.table.unit(spot.hand.street) and not amount % spot.hand.table.chip_unit:
        return None  # too little, but the only amount within the pot that it can be
    if not fits:
        return Reading(
            kind="floor",
            reason=Reason("floor_short_number", {"said": amount}),
            topics=("short_number", "min_raise"),
            candidates=candidates,
            default_to=min(legal, default=None),
        )
    to = max(fits)
    if spot.owes and to == spot.price:
        return Reading(
            kind="call", reason=Reason("call"), topics=("short_number",), candidates=candidates, rests_on=_RESTS
        )
    return Reading(
        kind="raise",
        to=min(to, spot.high),
        reason=Reason(f"{kind}_short_number", {"said": amount}),
        topics=("short_number",),
        candidates=candidates,
        rests_on=_RESTS,
    )


_RESTS = ("short_number",)


def _is_short(spot: Spot, amount: int) -> bool:
    """Whether so many chips cannot be meant: the chips in play do not make it, or it is far under the smallest bet.

    Units and tens are far under it below its half, hundreds only from a tenth down ("two hundred" at 500/1000 is too
    little, and no two hundred thousand).
    """
    if not 0 < amount < 1000:
        return False
    low_bet, unit = spot.hand.table.unit(spot.hand.street), spot.hand.table.chip_unit
    if amount < 100 and (amount % unit or 2 * amount < low_bet):
        return amount < low_bet
    return 10 * amount <= low_bet
