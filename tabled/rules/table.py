"""What stays fixed during a hand: names, structure, limits and the profile's betting settings, as plain numbers."""

from __future__ import annotations

from tabled.model.hand import HandSetup
from tabled.rules.errors import SetupError
from tabled.rules.games import game_of
from tabled.rules.profile import Profile

NO_LIMIT, POT_LIMIT, FIXED_LIMIT, SPREAD_LIMIT = range(4)
STRUCTURES = ("no-limit", "pot-limit", "fixed-limit", "spread-limit")
ROUNDING = ("none", "up", "down", "nearest")
MAX_SEATS = 23


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
        if len(names) < 2:
            raise SetupError(f"hand {setup.hand_id}: {len(names)} seat(s); a hand needs at least 2")
        if len(names) > MAX_SEATS:
            raise SetupError(f"hand {setup.hand_id}: {len(names)} seats; at most {MAX_SEATS} can be dealt in")
        if len(set(names)) != len(names):
            raise SetupError(f"hand {setup.hand_id}: a seat is named twice in {', '.join(names)}")
        game = game_of(setup.game)
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
        if self.structure == FIXED_LIMIT and not self.small_bet:
            raise SetupError(f"hand {setup.hand_id}: fixed limit needs limits.small_bet and limits.big_bet")
        if self.structure == SPREAD_LIMIT and not self.spread_max:
            raise SetupError(f"hand {setup.hand_id}: spread limit needs limits.min and limits.max")
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
        self.cap_lift = ("kept", "street", "event").index(profile.cap_heads_up)
        self.straddle_doubles = profile.straddle_min_raise == "double"
        self.short_blind_actual = profile.short_blind_price == "actual"
        self.phantom_blinds = profile.pot_preflop == "nominal"
        self.pot_rounding = ROUNDING.index(profile.pot_rounding)
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
            return self.spread_min or self.min_bet
        return self.min_bet

    def rounded(self, amount: int) -> int:
        """A pot-limit amount in the chips in play, as the profile rounds."""
        unit = self.chip_unit
        if self.pot_rounding == 0 or unit <= 1 or amount % unit == 0:
            return amount
        down = amount - amount % unit
        if self.pot_rounding == 1 or (self.pot_rounding == 3 and 2 * (amount - down) >= unit):
            return down + unit
        return down
