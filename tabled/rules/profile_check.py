"""What a profile file must not say, though each value by itself is allowed.

These checks are for files that people write; a profile read back from a journal was checked when it was written.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from difflib import get_close_matches
from itertools import chain
from typing import Any

from tabled.rules.doubt import WHY
from tabled.rules.games import GAMES
from tabled.rules.profile import Profile, ProfileError
from tabled.rules.topics import TOPICS

MAX_SIMULTANEITY_MS = 2000
MAX_RAISES = 99
_CHIPS = ("1", "2", "3", "5", "25")


def verify(profile: Profile, given: dict[str, Any], where: str) -> None:
    """Raises ProfileError, one line, for values that are out of bounds, name nothing, or contradict each other.

    ``given`` is what the file itself says, ``where`` its name for the message.
    """
    found = chain(_cites(given), _games(given), _bounds(profile), _contradictions(profile))
    wrong = next(found, "")
    if wrong:
        raise ProfileError(f"{where}: {wrong}")


def did_you_mean(word: str, words: Iterable[str]) -> str:
    """``; did you mean 'x'?`` if one of ``words`` is near, else nothing."""
    near = get_close_matches(word, list(words), n=1)
    return f"; did you mean {near[0]!r}?" if near else ""


def _cites(given: dict[str, Any]) -> Iterator[str]:
    for topic in given.get("cite", {}):
        if topic not in TOPICS:
            hint = did_you_mean(topic, tuple(TOPICS))
            yield f"[cite] {topic!r} is no topic{hint} (`tabled profile topics` lists all)"


def _games(given: dict[str, Any]) -> Iterator[str]:
    for game in given.get("min_bet_games", {}):
        if game not in GAMES:
            hint = did_you_mean(game, GAMES)
            yield f"[min_bet_games] {game!r} is no game{hint}; games are {', '.join(GAMES)}"


def _bounds(p: Profile) -> Iterator[str]:
    if not 1 <= p.raise_cap <= MAX_RAISES:
        yield f"raise_cap = {p.raise_cap} is not allowed; give 1 to {MAX_RAISES} raises (3 or 4 in most rooms)"
    if p.simultaneity_ms > MAX_SIMULTANEITY_MS:
        yield (
            f"simultaneity_ms = {p.simultaneity_ms} is no same instant; give 0 to {MAX_SIMULTANEITY_MS} milliseconds"
        )
    if p.chip_unit and str(p.chip_unit).rstrip("0") not in _CHIPS:
        yield f"chip_unit = {p.chip_unit} is no chip's worth; give 1, 2, 3, 5 or 25, with noughts, or 0 for the hand's"
    if "dealer" not in p.third_party:
        yield 'third_party leaves out the dealer, so that nobody could put a bet right; add "dealer"'
    for key in p.ask_floor:
        if key not in WHY:
            hint = did_you_mean(key, tuple(WHY))
            yield f"ask_floor names {key!r}, on which no ruling is left open{hint}; it may name {', '.join(WHY)}"


def _contradictions(p: Profile) -> Iterator[str]:
    if p.underraise_half_of == "bet" and p.underraise_threshold in ("call", "lift"):
        yield (
            f'underraise_half_of = "bet" beside underraise_threshold = "{p.underraise_threshold}", which knows no '
            'half; leave it out, or set underraise_threshold = "half"'
        )
    if p.completion == "at_half_too" and p.allin_reopen.fixed_limit == "full":
        yield (
            'completion = "at_half_too" beside fixed-limit = "full" in [allin_reopen]: completing is of the half-bet '
            'rule; set fixed-limit = "half", or completion = "never"'
        )
    if p.allin_half_of == "min_bet" and "half" not in _reopens(p):
        yield (
            'allin_half_of = "min_bet" beside [allin_reopen] that is "full" everywhere; leave it out, or set a '
            'structure to "half"'
        )
    if p.push_short_of_line == "binds" and p.bind != "push":
        yield f'push_short_of_line = "binds" beside bind = "{p.bind}"; a push binds only with bind = "push"'


def _reopens(p: Profile) -> tuple[str, ...]:
    r = p.allin_reopen
    return (r.no_limit, r.pot_limit, r.fixed_limit, r.spread_limit)


def inert(p: Profile) -> dict[str, str]:
    """Settings that have no effect beside the others, and why; ``tabled profile show`` says it."""
    found: dict[str, str] = {}
    if p.underraise_threshold in ("call", "lift"):
        found["underraise_half_of"] = f"underraise_threshold is {p.underraise_threshold}, which knows no half"
    if p.allin_reopen.fixed_limit == p.allin_reopen.spread_limit == "full" and p.completion != "never":
        found["completion"] = "fixed limit and spread limit follow the full-bet rule"
    if "half" not in _reopens(p):
        found["allin_half_of"] = "every structure follows the full-bet rule"
    if p.min_raise == "small_blind" and "sb" not in (p.min_bet, *p.min_bet_games.values()):
        found["min_raise"] = "no game's smallest bet is the small blind"
    if p.bind != "push":
        found["push_short_of_line"] = f"bind is {p.bind}"
    return found
