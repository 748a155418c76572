"""What stays fixed during a hand: names, structure, limits and the profile's betting settings, as plain numbers."""

from __future__ import annotations

from tabled.model.hand import HandSetup
from tabled.rules.errors import SetupError
from tabled.rules.games import game_of
from tabled.rules.profile import Profile

NO_LIMIT, POT_LIMIT, FIXED_LIMIT, SPREAD_LIMIT = range(4)
STRUCTURES = ("no-limit", "pot-limit", "fixed-limit", "spread-limit")
MAX_SEATS = 23
MAX_AMOUNT = 10**15  # a seat's chips, a blind or a limit; sums of it still fit the 64 bits of the journal


class Table:
    """Numbers that the betting machine reads at every act.  Built once a hand, shared by its copies, never changed."""

    __slots__ = (
        "big_bet", "big_blind", "big_from", "bring_in", "cap", "cap_lift", "chip_unit", "complete_at_half",
        "completion", "cumulative", "first", "half", "half_of_min", "hand_id", "index", "min_bet", "n", "names",
        "phantom_blinds", "pot_rounding", "raise_step", "rounds", "short_blind_actual", "small_bet", "small_blind",
        "spread_max", "spread_min", "straddle_doubles", "structure", "two_dealt",
    )  # fmt: skip

    def __init__(self, setup: HandSetup, profile: Profile) -> None:
        names = tuple(s.seat for s in setup.seats)
        wrong = _wrong_seats(names) or _wrong_amounts(setup) or _wrong_limits(setup)
        if wrong:
            raise SetupError(f"hand {setup.hand_id}: {wrong}")
        try:
            game = game_of(setup.game)
        except SetupError as e:
            raise SetupError(f"hand {setup.hand_id}: {e}") from None
        limits = setup.limits
        self.hand_id = setup.hand_id
        self.names = names
        self.n = len(names)
        self.index = {name: i for i, name in enumerate(names)}
        self.structure = STRUCTURES.index(setup.structure)
        self.small_blind = setup.blinds[0] if setup.blinds else 0
        self.big_blind = setup.blinds[1] if len(setup.blinds) > 1 else self.small_blind
        self.rounds, self.big_from = game.rounds, game.big_from
        self.small_bet, self.big_bet = limits.small_bet, limits.big_bet or 2 * limits.small_bet
        self.bring_in = limits.bring_in
        self.spread_min, self.spread_max = limits.min, limits.max
        self.chip_unit = profile.chip_unit or setup.chip_unit
        which = profile.min_bet_games.get(setup.game, profile.min_bet)
        self.min_bet = (self.small_blind if which == "sb" else self.big_blind) or self.chip_unit
        self.raise_step = self.small_blind if profile.min_raise == "small_blind" and which == "sb" else 0
        self.half = profile.allin_reopen.of(setup.structure) == "half"
        self.half_of_min = profile.allin_half_of == "min_bet"
        self.cumulative = profile.allin_cumulative
        self.completion = profile.completion != "never" and self.half and self.structure in (FIXED_LIMIT, SPREAD_LIMIT)
        self.complete_at_half = profile.completion == "at_half_too"
        self.cap = limits.raises_cap or profile.raise_cap
        self.cap_lift = ("kept", "street", "event", "before_cap").index(profile.cap_heads_up)
        self.straddle_doubles = profile.straddle_min_raise == "double"
        self.short_blind_actual = profile.short_blind_price == "actual"
        self.phantom_blinds = profile.pot_preflop == "nominal"
        self.pot_rounding = profile.pot_rounding
        self.two_dealt = self.n == 2
        self.first = self._first_seat(setup)
        if setup.opener is not None and setup.opener not in self.index:
            raise SetupError(f"hand {setup.hand_id}: the opener {setup.opener!r} is no seat of this hand")

    def _first_seat(self, setup: HandSetup) -> int:
        """Index of the seat left of the button: it acts first once the blinds no longer decide."""
        if setup.button is None:
            return 1 if self.n == 2 else 0
        if setup.button not in self.index:
            raise SetupError(f"hand {setup.hand_id}: the button {setup.button!r} is no seat of this hand")
        return (self.index[setup.button] + 1) % self.n

    def unit(self, street: int) -> int:
        """Fixed limit: the bet of that street.  Otherwise the smallest opening bet."""
        if self.structure == FIXED_LIMIT:
            return self.big_bet if street >= self.big_from else self.small_bet
        if self.structure == SPREAD_LIMIT:
            return min(self.spread_min or self.min_bet, self.spread_max)
        return self.min_bet

    def rounded(self, amount: int) -> int:
        """A pot-limit amount in the chips in play, as the profile rounds."""
        over = amount % self.chip_unit
        match self.pot_rounding:
            case "none":
                return amount
            case "up":
                return amount - over + (self.chip_unit if over else 0)
            case "nearest":
                return amount - over + (self.chip_unit if 2 * over >= self.chip_unit else 0)
        return amount - over


# ---- what cannot be dealt: each says, without the hand's name, what to put right -----------------------------------


def _wrong_seats(names: tuple[str, ...]) -> str:
    if len(names) < 2:
        return f"{len(names)} seat(s); a hand needs at least 2"
    if len(names) > MAX_SEATS:
        return f"{len(names)} seats; at most {MAX_SEATS} can be dealt in"
    if len(set(names)) != len(names):
        return f"a seat is named twice in {', '.join(names)}"
    return ""


def _wrong_amounts(setup: HandSetup) -> str:
    """Amounts below zero or beyond counting, and blinds that contradict each other."""
    limits = setup.limits
    named = {
        "straddle": setup.straddle or 0, "limits.small_bet": limits.small_bet, "limits.big_bet": limits.big_bet,
        "limits.raises_cap": limits.raises_cap, "limits.min": limits.min, "limits.max": limits.max,
        "limits.bring_in": limits.bring_in, "chip_unit": setup.chip_unit,
        **{f"blinds[{k}]": blind for k, blind in enumerate(setup.blinds[:3])},
        **{f"the stack of seat {s.seat}": s.stack for s in setup.seats},
    }  # fmt: skip
    for name, amount in named.items():
        if not 0 <= amount <= MAX_AMOUNT:
            return f"{name} is {amount}; it must be from 0 to {MAX_AMOUNT}"
    if setup.chip_unit < 1:
        return "chip_unit is 0; give the worth of the smallest chip in play, or leave it out"
    if len(setup.blinds) > 2:
        return f"blinds names {len(setup.blinds)} amounts; give the small and the big blind, and a straddle as straddle"
    if len(setup.blinds) == 2 and setup.blinds[0] > setup.blinds[1]:
        return f"the small blind {setup.blinds[0]} is over the big blind {setup.blinds[1]}; give the small one first"
    if setup.straddle and setup.straddle <= max(setup.blinds, default=0):
        return f"the straddle {setup.straddle} is not over the big blind {max(setup.blinds)}; leave it out or raise it"
    return ""


def _wrong_limits(setup: HandSetup) -> str:
    """Limits that are missing, or that leave no legal bet."""
    limits = setup.limits
    if setup.structure == "fixed-limit":
        if not limits.small_bet:
            return "fixed limit needs limits.small_bet and limits.big_bet"
        if limits.big_bet and limits.big_bet < limits.small_bet:
            return f"limits.big_bet {limits.big_bet} is under limits.small_bet {limits.small_bet}"
        if limits.bring_in >= limits.small_bet:
            return f"limits.bring_in {limits.bring_in} must be under limits.small_bet {limits.small_bet}"
    if setup.structure == "spread-limit":
        if not limits.max:
            return "spread limit needs limits.min and limits.max"
        forced = {
            "limits.min": limits.min, "limits.bring_in": limits.bring_in, "the straddle": setup.straddle or 0,
            "the big blind": max(setup.blinds, default=0), "chip_unit": setup.chip_unit,
            "the largest blind posted": max((s.blind for s in setup.seats), default=0),
        }  # fmt: skip
        for name, amount in forced.items():
            if amount > limits.max:
                return f"{name} {amount} is over limits.max {limits.max}, so no raise over it would be legal"
    return ""
