"""Antes, blinds, straddles and who acts first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tabled.model.hand import HandSetup, SeatSetup
from tabled.rules.errors import SetupError
from tabled.rules.profile import Profile
from tabled.rules.state import ALL_IN
from tabled.rules.table import FIXED_LIMIT, SPREAD_LIMIT

if TYPE_CHECKING:
    from tabled.rules.hand import Hand


def post_blinds(hand: Hand, setup: HandSetup) -> None:
    """Take each seat's dead money, ante and blind from its stack and set the price and the first seat to act.

    Antes that every seat posts build side pots as bets do; a single ante (big-blind or button ante) is dead.
    A seat too short for both posts the blind first (TDA: the big blind before its ante).
    """
    stack, bet, paid = hand.stack, hand.bet, hand.paid
    live_antes = sum(s.ante > 0 for s in setup.seats) > 1
    posted = 0
    for i, seat in enumerate(setup.seats):
        chips, blind, ante, dead = seat.stack, seat.blind, seat.ante, seat.dead
        if chips <= blind + ante + dead or blind < 0 or ante < 0 or dead < 0:
            blind, ante, dead = _short(setup.hand_id, seat)
            hand.state[i] = ALL_IN
            hand.n_in -= 1
        stack[i] = chips - blind - ante - dead
        bet[i] = blind
        posted += blind
        hand.total += blind + ante + dead
        if live_antes:
            paid[i] = blind + ante
            hand.dead += dead
        else:
            paid[i] = blind
            hand.dead += dead + ante
    hand.capped_lifted = hand.lifts_cap()
    if hand.table.bring_in and not posted:
        _open_by_cards(hand, setup)
        return
    if posted or setup.straddle:
        _price(hand, setup)
    _first_to_act(hand, setup)


def _short(hand_id: str, seat: SeatSetup) -> tuple[int, int, int]:
    """Blind, ante and dead money of a seat that cannot, or can only just, post all of it.  Raises SetupError."""
    if min(seat.stack, seat.ante, seat.blind, seat.dead) < 0:
        raise SetupError(f"hand {hand_id}: seat {seat.seat} has a negative amount")
    if seat.stack == 0:
        raise SetupError(f"hand {hand_id}: seat {seat.seat} has no chips and cannot be dealt in")
    left = seat.stack
    blind = min(seat.blind, left)
    ante = min(seat.ante, left - blind)
    return blind, ante, min(seat.dead, left - blind - ante)


def _open_by_cards(hand: Hand, setup: HandSetup) -> None:
    """Stud: the opener owes the bring-in, or may complete at once."""
    if setup.opener is None:
        raise SetupError(f"hand {setup.hand_id}: a game with a bring-in needs the opener's seat")
    start = hand.table.index[setup.opener]
    hand.pass_turn(start - 1)
    hand.owes_bring_in = hand.actor >= 0


def _price(hand: Hand, setup: HandSetup) -> None:
    """The price to call, the size of a raise and how much of the nominal blinds is missing from the pot."""
    table = hand.table
    top = max(hand.bet)
    nominal = max(table.big_blind, setup.straddle or 0)
    hand.bet_to = top if table.short_blind_actual and not setup.straddle else max(top, nominal)
    straddle = hand.bet_to if hand.bet_to > table.big_blind else 0
    if table.structure != FIXED_LIMIT:
        size = table.big_blind or hand.bet_to
        if straddle:
            size = straddle if table.straddle_doubles else straddle - table.big_blind
        hand.full = max(size, table.spread_min if table.structure == SPREAD_LIMIT else 1)
    hand.base = hand.bet_to
    hand.bets = hand.raises = 1
    if table.phantom_blinds:
        small, big = blind_seats(hand)
        hand.phantom = missing_blinds(
            table.small_blind,
            0 if small is None else hand.bet[small],
            table.big_blind,
            0 if big is None else hand.bet[big],
        )


def missing_blinds(small: int, small_in: int, big: int, big_in: int) -> int:
    """How much a short or dead blind leaves the pot under the nominal one (TDA 54-B)."""
    return max(small - small_in, 0) + max(big - big_in, 0)


def blind_seats(hand: Hand) -> tuple[int | None, int | None]:
    """Indices of the small and the big blind, counted from the left of the button; None where one is missing.

    Heads-up the button posts the small blind.  A single poster is the big blind (dead small blind).  A first
    poster of the whole big blind is the big blind; who posts behind it posts late.
    """
    table = hand.table
    first, n = table.first, table.n
    order = (1 - first, first) if n == 2 else (*range(first, n), *range(first))
    posters = [i for i in order if hand.bet[i]]
    if not posters:
        return None, None
    if len(posters) == 1 or hand.bet[posters[0]] > table.small_blind < table.big_blind:
        return None, posters[0]
    return posters[0], posters[1]


def _first_to_act(hand: Hand, setup: HandSetup) -> None:
    """Left of the straddle if there is one above the big blind, else left of the big blind."""
    if setup.opener is not None:
        start = hand.table.index[setup.opener]
    else:
        _, big = blind_seats(hand)
        top = max(hand.bet)
        if top > hand.table.big_blind > 0:
            big = max(i for i, b in enumerate(hand.bet) if b == top)
        start = hand.table.first if big is None else big + 1
    hand.pass_turn(start - 1)


def newcomer_posts(profile: Profile, blinds: tuple[int, ...]) -> int:
    """What a newcomer between the button and the blinds must post, live, to be dealt in now; 0: he waits."""
    return max(blinds, default=0) if profile.missed_blind == "post_big_blind" else 0
