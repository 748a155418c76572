"""A hand taken up in the middle of a street: what a written case, or a table that was away, can tell."""

from __future__ import annotations

from typing import Literal

import msgspec

from tabled.model.hand import HandSetup, Limits, SeatSetup, Structure
from tabled.rules.errors import SetupError
from tabled.rules.hand import ALL_IN, FOLDED, IN, Hand
from tabled.rules.opening import missing_blinds
from tabled.rules.profile import Profile
from tabled.rules.table import FIXED_LIMIT, Table

PriorAct = Literal["post", "straddle", "bring_in", "check", "call", "bet", "raise", "complete", "all_in", "fold", "put"]


class SeatNow(msgspec.Struct, frozen=True, kw_only=True):
    """A seat as it stands: ``stack`` behind, ``line`` its counted bet of the street, ``line_chips`` on the felt."""

    seat: str
    stack: int
    line: int = 0
    line_chips: tuple[int, ...] | None = None
    acted: bool = False
    status: Literal["in", "folded", "all_in"] = "in"


class Prior(msgspec.Struct, frozen=True):
    """An act of this street that is ruled already.  ``to`` is its total; None for a check, a fold or a plain call."""

    seat: str
    act: PriorAct
    to: int | None = None


class Situation(msgspec.Struct, frozen=True, kw_only=True):
    """Where a street stands.  ``seats`` are in order of action; ``street`` counts from 0.

    ``bet_to`` and ``last_full_raise`` are taken as given; ``prior`` says who acted at which level.  A ``put`` is a
    wrong amount that nobody has ruled on; it does not move the price.
    """

    hand_id: str = "situation"
    game: str = "holdem"
    structure: Structure = "no-limit"
    street: int = 1
    blinds: tuple[int, ...] = ()
    straddle: int | None = None
    limits: Limits = Limits()
    chip_unit: int = 1
    pot_before: int = 0
    seats: tuple[SeatNow, ...]
    prior: tuple[Prior, ...] = ()
    to_act: str | None = None
    bet_to: int = 0
    last_full_raise: int = 0
    bet_of_round: int = 0
    began_heads_up: bool | None = None
    dead_small_blind: bool = False


def hand_from(situation: Situation, profile: Profile) -> Hand:
    """The hand as it stands.  Raises SetupError if a seat is unknown or an amount cannot be."""
    setup = HandSetup(
        hand_id=situation.hand_id,
        seats=tuple(SeatSetup(s.seat, s.stack + s.line) for s in situation.seats),
        game=situation.game,
        structure=situation.structure,
        blinds=situation.blinds,
        straddle=situation.straddle,
        limits=situation.limits,
        chip_unit=situation.chip_unit,
        button=situation.seats[-1].seat,
    )
    hand = Hand(Table(setup, profile))
    hand.table.two_dealt = False  # how many were dealt in is not known
    _seat(hand, situation)
    _levels(hand, situation)
    began = situation.began_heads_up
    if began is None:
        began = hand.n_live + sum(p.act == "fold" for p in situation.prior) == 2
    hand.capped_lifted = began and profile.cap_heads_up == "street"
    if profile.cap_heads_up == "before_cap" and hand.n_in == 2:
        hand.capped_lifted = began or not hand.capped()
    if situation.to_act is not None:
        if situation.to_act not in hand.table.index:
            raise SetupError(f"to_act names {situation.to_act!r}, which is no seat of this hand")
        hand.actor = hand.table.index[situation.to_act]
    return hand


def contradiction(situation: Situation) -> str:
    """What in a set-up cannot be so together, in words that say what to put right; empty if nothing.

    A price over every line is that of blinds, a straddle or a bring-in posted short; a line over the price is a
    wrong amount that nobody has ruled on (``put``); a raise size over the whole bet is left by an all-in opening.
    """
    s = situation
    top = max((seat.line for seat in s.seats), default=0)
    forced = max((*s.blinds, s.straddle or 0, s.limits.bring_in), default=0) if s.street == 0 else 0
    if s.bet_to > max(top, forced):
        return f"bet_to is {s.bet_to}, and no seat has more than {top} on its line; give bet_to or the line as it is"
    if s.bet_to < top and not any(p.act == "put" for p in s.prior):
        return f"a seat has {top} on its line, and bet_to is {s.bet_to}; a wrong amount not ruled on is a prior put"
    big_bet = s.structure in ("no-limit", "pot-limit")
    short = any(p.act == "all_in" for p in s.prior) or any(x.stack == 0 and x.line for x in s.seats)
    if big_bet and s.last_full_raise > s.bet_to > 0 and not short:
        return f"last_full_raise {s.last_full_raise} is more than the whole bet of {s.bet_to}"
    turn = next((x for x in s.seats if x.seat == s.to_act), None)
    if turn is not None and (turn.status != "in" or turn.stack == 0):
        return f"to_act is {turn.seat}, who is {'all-in' if turn.status == 'in' else turn.status.replace('_', '-')}"
    return ""


def _seat(hand: Hand, situation: Situation) -> None:
    """Stacks, lines and pot."""
    hand.street = situation.street
    hand.dead = hand.total = situation.pot_before
    hand.n_in = hand.n_live = 0
    for i, seat in enumerate(situation.seats):
        if seat.stack < 0 or seat.line < 0:
            raise SetupError(f"seat {seat.seat} has a negative amount")
        if seat.status == "all_in" and seat.stack:
            raise SetupError(f'seat {seat.seat} is all-in with {seat.stack} behind: give it stack 0, or status "in"')
        hand.stack[i] = seat.stack
        hand.bet[i] = hand.paid[i] = seat.line
        hand.total += seat.line
        hand.state[i] = FOLDED if seat.status == "folded" else ALL_IN if seat.stack == 0 else IN
        hand.n_in += hand.state[i] == IN
        hand.n_live += hand.state[i] != FOLDED
        if seat.line_chips is not None:
            hand.line_chips[i] = seat.line_chips


def _levels(hand: Hand, situation: Situation) -> None:
    """Walk the prior acts so that each seat knows which level it answered, and the cap its count."""
    table = hand.table
    hand.full = situation.bet_of_round or table.unit(hand.street)
    told = situation.last_full_raise
    if table.structure == FIXED_LIMIT and not situation.bet_of_round and told in (table.small_bet, table.big_bet):
        hand.full = told
    if hand.street == 0 and situation.blinds and not table.bring_in:
        hand.bet_to = hand.base = max(table.big_blind, situation.straddle or 0)
        hand.bets = hand.raises = 1
        if table.phantom_blinds:
            posts = [p for p in situation.prior if p.act in ("post", "all_in") and p.to]
            posts = [p for p in posts if p.to is not None and p.to <= table.big_blind][:2]
            _phantom(hand, situation, [p.to or 0 for p in posts if p.act == "post" or _is_post(p, situation)])
    for prior in situation.prior:
        if prior.seat not in table.index:
            raise SetupError(f"prior names {prior.seat!r}, which is no seat of this hand")
        _take_up(hand, prior)
    if situation.bet_to > hand.bet_to:  # the prior acts do not tell who made the bet: it counts as a whole one
        hand.set_level(situation.bet_to, all_in=False)
        hand.base = situation.bet_to
        hand.bets, hand.raises = max(hand.bets, 1), max(hand.raises, 1)
    forced = {p.seat for p in situation.prior if p.act in ("post", "straddle")}
    forced -= {p.seat for p in situation.prior if p.act not in ("post", "straddle")}
    for i, seat in enumerate(situation.seats):
        if not seat.acted or seat.seat in forced:  # a blind or straddle is no act: its seat keeps its option
            hand.seen[i] = -1
        elif hand.seen[i] < 0:
            hand.seen[i] = seat.line
            hand.heard[i] = hand.raises
    hand.bet_to = situation.bet_to
    if situation.bet_to == 0:
        hand.base = 0
    if table.structure != FIXED_LIMIT:
        hand.base = min(hand.base, hand.bet_to)
        if situation.bet_to:  # before a bet, the smallest one is the profile's to say
            hand.full = situation.last_full_raise or hand.full
        if situation.straddle and hand.street == 0 and hand.bet_to == situation.straddle and hand.bets == 1:
            big = table.big_blind  # nobody has raised: the profile says what a straddle makes of the first raise
            hand.full = situation.straddle if table.straddle_doubles else situation.straddle - big


def _is_post(prior: Prior, situation: Situation) -> bool:
    """An all-in that is a blind: the seat has not acted."""
    return any(s.seat == prior.seat and not s.acted for s in situation.seats)


def _phantom(hand: Hand, situation: Situation, posts: list[int]) -> None:
    small, big = hand.table.small_blind, hand.table.big_blind
    if len(posts) > 1:
        hand.phantom = missing_blinds(small, posts[0], big, posts[1])
    elif posts and situation.dead_small_blind:
        hand.phantom = missing_blinds(small, 0, big, posts[0])


def _take_up(hand: Hand, prior: Prior) -> None:
    """Note one prior act: the level it set, and that its seat has answered that level."""
    i = hand.table.index[prior.seat]
    if prior.act in ("post", "straddle", "put"):
        return
    if prior.act == "bring_in":
        hand.bet_to = prior.to or hand.table.bring_in
        hand.seen[i] = hand.bet_to
        return
    if prior.act in ("bet", "raise", "complete", "all_in") and prior.to is not None and prior.to > hand.bet_to:
        hand.set_level(prior.to, prior.act == "all_in")
    hand.seen[i] = hand.bet_to
    hand.heard[i] = hand.raises
