"""A profile: every setting of the law that rooms differ in, as one frozen value.

A profile is written as TOML.  A room inherits one and overrides values (the loader in the shell
resolves ``inherits``; :func:`parse` takes the base it found).  The hash of the resolved values
stands in every ruling, so that a ruling can be traced to the law that made it.

What each setting means, and the paragraphs behind it, is in :mod:`tabled.rules.settings`.
"""

from __future__ import annotations

import functools
import hashlib
import tomllib
from difflib import get_close_matches
from typing import Any, Literal, get_args, get_type_hints

import msgspec
from msgspec.structs import force_setattr

from tabled.model.acts import Witness
from tabled.model.hand import Structure
from tabled.rules.settings import SETTINGS_EXPLAINED

Reopen = Literal["full", "half"]


class ProfileError(ValueError):
    """A profile file is wrong: the message is one line that names the key, the file and what is allowed."""


class ReopenBy(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename="kebab"):
    """How much of a raise an all-in must be to reopen the betting, by structure."""

    no_limit: Reopen = "full"
    pot_limit: Reopen = "full"
    fixed_limit: Reopen = "half"
    spread_limit: Reopen = "half"

    def of(self, structure: Structure) -> Reopen:
        """The value for one structure."""
        value: Reopen = getattr(self, structure.replace("-", "_"))
        return value


class Profile(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The law of one room.  Defaults are the TDA 2024 reading where a text is silent."""

    name: str
    title: str = ""
    law: str = ""
    inherits: str = ""

    speech_vs_chips: Literal["first_act", "mouth_always"] = "first_act"
    simultaneous: Literal["mouth", "word_must_precede"] = "mouth"
    simultaneity_ms: int = 250

    one_chip_facing: Literal["call", "full_value"] = "call"
    one_chip_bb_option: Literal["check", "raise"] = "raise"
    one_chip_bring_in: Literal["complete_if_exact", "call"] = "complete_if_exact"
    last_chip_silent: Literal["call", "all_in"] = "call"
    stack_pushed: Literal["all_in", "chip_rules"] = "all_in"
    multi_chip_test: Literal["none", "every_chip_needed"] = "every_chip_needed"
    prior_chips: Literal["counted", "covering_raises"] = "covering_raises"
    prior_pull_back: Literal["binds", "free"] = "binds"

    string_first_motion: Literal["call", "first_motion"] = "first_motion"
    string_acted_before: Literal["bet_faced", "anyone_acted"] = "bet_faced"
    raise_word_extra_motions: Literal["none", "once_after_exact_call", "once", "free"] = "none"

    bind: Literal["release", "push", "line"] = "push"
    push_short_of_line: Literal["floor", "binds", "free"] = "floor"

    underraise_threshold: Literal["half", "lift", "call", "floor"] = "half"
    underraise_half_of: Literal["raise", "bet"] = "raise"
    underraise_spoken: Literal["lift", "threshold"] = "lift"
    underbet_threshold: Literal["none", "half"] = "none"
    min_bet: Literal["bb", "sb"] = "bb"
    min_bet_games: dict[str, Literal["bb", "sb"]] = {}
    min_raise: Literal["last_raise", "small_blind"] = "last_raise"

    allin_reopen: ReopenBy = ReopenBy()
    allin_half_of: Literal["raise", "min_bet"] = "raise"
    allin_cumulative: bool = True
    completion: Literal["never", "under_half", "at_half_too"] = "under_half"
    raise_cap: int = 4
    cap_heads_up: Literal["kept", "street", "before_cap", "event"] = "event"

    out_of_turn: Literal["tda", "binds_no_raise", "strict", "checker_no_raise"] = "tda"
    out_of_turn_penalty: Literal["", "possible", "warning"] = "possible"
    undercall: Literal["call", "opening_only", "floor"] = "opening_only"
    undercall_claim: Literal["ignored", "floor"] = "ignored"
    tiny_chips: Literal["undercall", "floor"] = "floor"
    accepted_action: Literal["full", "undercall"] = "full"
    number_meaning: Literal["to", "by", "chips_clarify"] = "to"
    short_number: Literal["literal", "pot_test"] = "pot_test"
    late_short_number: Literal["ignored", "pot_test"] = "ignored"
    tap_facing: Literal["as_check", "ask"] = "as_check"
    low_voice: Literal["word", "floor"] = "floor"
    amount_rounding: Literal["none", "nearest"] = "none"

    straddle_min_raise: Literal["double", "increment"] = "double"
    short_blind_price: Literal["nominal", "actual"] = "nominal"
    pot_preflop: Literal["nominal", "actual"] = "nominal"
    pot_rounding: Literal["none", "up", "down", "nearest"] = "none"
    correction_window: Literal["street", "all_acted", "substantial_action", "none"] = "street"
    pot_overbet_window: Literal["street", "all_acted", "substantial_action", "none"] = "street"
    pot_underbet_window: Literal["street", "all_acted", "substantial_action", "none"] = "substantial_action"
    third_party: tuple[Witness, ...] = ("dealer", "player_at_table", "staff")
    third_party_unheard: Literal["dealer_counts", "ignored"] = "dealer_counts"
    missed_blind: Literal["post_big_blind", "wait"] = "post_big_blind"
    chip_unit: int = 0

    ask_floor: tuple[str, ...] = ()
    cite: dict[str, tuple[str, ...]] = {}
    hash: str = ""

    def __post_init__(self) -> None:
        body = {f: getattr(self, f) for f in self.__struct_fields__ if f not in ("hash", "inherits", "title")}
        raw = msgspec.json.encode(body, order="deterministic")
        force_setattr(self, "hash", hashlib.sha256(raw).hexdigest()[:16])

    def clauses(self, *topics: str) -> tuple[str, ...]:
        """Clause ids of this law for the given topics, in order, each once; a topic without a clause gives none."""
        found: dict[str, None] = {}
        for topic in topics:
            for clause in self.cite.get(topic, ()):
                found[clause] = None
        return tuple(found)

    def with_values(self, **values: Any) -> Profile:
        """The same law with some settings changed (its hash changes too).  Raises ProfileError on a bad value."""
        body = msgspec.to_builtins(self)
        body.update(values)
        body.pop("hash", None)
        return _build(body, where=self.name)


INTERNAL = ("name", "title", "law", "inherits", "hash")
SETTINGS: tuple[str, ...] = tuple(f for f in Profile.__struct_fields__ if f not in INTERNAL)


@functools.cache
def _hints() -> dict[str, Any]:
    """Types of the settings.  Found once: a ruling that asks the floor turns settings while the table waits."""
    return get_type_hints(Profile)


def allowed(setting: str) -> tuple[str, ...]:
    """The values a setting may take, as text: the words of an enumeration, or a description of the type."""
    hint = _hints()[setting]
    words = get_args(hint)
    if hint is int:
        return ("a whole number, 0 or more",)
    if hint is bool:
        return ("true", "false")
    if setting == "third_party":
        return get_args(Witness)
    if setting == "allin_reopen":
        return ("a table of no-limit, pot-limit, fixed-limit, spread-limit = full | half",)
    if setting == "min_bet_games":
        return ("a table of game = bb | sb",)
    if setting in ("ask_floor", "cite"):
        return ("a list of setting names",) if setting == "ask_floor" else ("a table of topic = [clause, …]",)
    return tuple(str(w) for w in words)


TABLES = ("allin_reopen", "min_bet_games", "cite")


def must_be(setting: str) -> str:
    """What a value of the setting must be, in words that follow "it must be"."""
    values = ", ".join(allowed(setting))
    if setting == "third_party":
        return f'a list, such as ["dealer", "player_at_table"], of: {values}'
    if setting in (*TABLES, "ask_floor") or _hints()[setting] is int:
        return values
    return f"one of: {values}"


def choices(setting: str) -> tuple[str | bool, ...]:
    """The values of a setting that is a switch between readings; empty if it is a number, a list or a table."""
    hint = _hints()[setting]
    if hint is bool:
        return (True, False)
    if getattr(hint, "__origin__", None) is Literal:
        return get_args(hint)
    return ()


def parse(text: str, base: Profile | None = None, where: str = "profile", house: str = "") -> Profile:
    """Read a profile from TOML ``text``; values not given are taken from ``base``.

    ``where`` names the file in messages.  ``house`` marks a room's own file, and is the name that it goes by if it
    gives none: its own values are a house rule, not the parent's paragraphs (see :func:`_house_rules`).  Raises
    ProfileError, one line, on anything that is not right.
    """
    try:
        given = tomllib.loads(text)
    except tomllib.TOMLDecodeError as e:
        raise ProfileError(f"{where}: not readable as TOML: {e}") from None
    except RecursionError:
        raise ProfileError(f"{where}: nested too deep to be a profile; its tables are one level deep") from None
    if given.get("inherits", "") and base is None:
        raise ProfileError(
            f"{where}: inherits = {given['inherits']!r} was not resolved; load it with the profile loader"
        )
    body: dict[str, Any] = msgspec.to_builtins(base) if base is not None else {}
    body.pop("hash", None)
    for key, value in given.items():
        if key == "hash" or key not in Profile.__struct_fields__:
            near = get_close_matches(key, SETTINGS, n=1)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            raise ProfileError(f"{where}: unknown setting {key!r}{hint} (`tabled profile show tda-2024` lists all)")
        _fits(key, value, where)
        old = body.get(key)
        body[key] = {**old, **value} if isinstance(old, dict) and isinstance(value, dict) else value
    if house and base is not None:
        body["name"] = given.get("name", house)
        body["title"] = given.get("title") or f"{body['name']} (from {base.name})"
        body["cite"] = _house_rules(body, given, base)
    return _build(body, where)


def own_values(given: dict[str, Any], base: Profile) -> tuple[str, ...]:
    """The settings to which a file gives another value than the law that it inherits."""
    old = msgspec.to_builtins(base)
    changed = (k for k, v in given.items() if k in SETTINGS and k != "cite" and not _same(old[k], v))
    return tuple(changed)


def _same(old: Any, new: Any) -> bool:
    return (
        all(old.get(k) == v for k, v in new.items()) if isinstance(old, dict) and isinstance(new, dict) else old == new
    )


def house_rule(name: str) -> str:
    """The clause id of a value that is the room's own."""
    return f"house rule ({name})"


def _house_rules(body: dict[str, Any], given: dict[str, Any], base: Profile) -> dict[str, Any]:
    """The parent's paragraphs, but where the room has a value of its own it speaks for itself.

    The topics of a changed setting cite the house rule, unless the file cites something for them.  Where another
    setting, unchanged, shares the topic, the parent's paragraphs stay behind it.
    """
    changed = own_values(given, base)
    cites = dict(body["cite"])
    said = given.get("cite", {})
    for setting in changed:
        for topic in SETTINGS_EXPLAINED[setting].topics:
            if topic in said:
                continue
            shared = any(topic in told.topics for s, told in SETTINGS_EXPLAINED.items() if s not in changed)
            rest = [c for c in base.cite.get(topic, ()) if c != house_rule(body["name"])] if shared else []
            cites[topic] = [house_rule(body["name"]), *rest]
    return cites


def _fits(key: str, value: Any, where: str) -> None:
    """Raises ProfileError for a table or list that is none, or whose entries are of the wrong kind, by its own key."""
    if key in TABLES and not isinstance(value, dict):
        raise ProfileError(f"{where}: {key} = {_short(value)} is not allowed; it must be {must_be(key)}")
    if key == "cite":
        for topic, clauses in value.items():
            if not (isinstance(clauses, list) and all(isinstance(c, str) for c in clauses)):
                raise ProfileError(
                    f"{where}: [cite] {topic} = {_short(clauses)} is not allowed; "
                    'give a list of clauses, such as ["House 4"]'
                )
    if key == "allin_reopen":
        for structure, much in value.items():
            _structure(structure, much, where)


def _structure(structure: str, much: Any, where: str) -> None:
    if structure not in get_args(Structure):
        near = get_close_matches(structure, get_args(Structure), n=1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        plain = "; a setting of its own stands above the first [table]" if structure in SETTINGS else ""
        raise ProfileError(f"{where}: [allin_reopen] {structure!r} is no structure{hint}{plain}")
    if much not in get_args(Reopen):
        raise ProfileError(f"{where}: [allin_reopen] {structure} = {_short(much)} is not allowed; it is full or half")


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


def _build(body: dict[str, Any], where: str) -> Profile:
    """Check ``body`` and make a Profile; the message names the first key that is wrong and what it may be."""
    if not body.get("name"):
        raise ProfileError(f'{where}: a profile needs a name = "…"')
    try:
        made = msgspec.convert(body, Profile)
    except msgspec.ValidationError as e:
        raise ProfileError(_explain(body, where, str(e))) from None
    for key in ("simultaneity_ms", "raise_cap", "chip_unit"):
        if getattr(made, key) < 0:
            raise ProfileError(f"{where}: {key} = {getattr(made, key)} is not allowed; it must be 0 or more")
    for key in made.ask_floor:
        if key not in SETTINGS:
            raise ProfileError(f"{where}: ask_floor names {key!r}, which is no setting")
    return made


def _explain(body: dict[str, Any], where: str, error: str) -> str:
    """One line for a value that does not fit: key, value and what is allowed."""
    path = error.rpartition("`$.")[2].rstrip("`") if "`$." in error else ""
    key = path.replace("[...]", "").split(".")[0].split("[")[0]
    if key in SETTINGS:
        return f"{where}: {path} = {_short(body.get(key))} is not allowed; it must be {must_be(key)}"
    return f"{where}: {error}"


def to_toml(profile: Profile) -> str:
    """The profile as TOML with every value resolved; :func:`parse` of it, without a base, gives an equal profile."""
    body: dict[str, Any] = msgspec.to_builtins(profile)
    body.pop("hash")
    body["inherits"] = ""
    plain = [f"{key} = {_toml(value)}" for key, value in body.items() if not isinstance(value, dict)]
    tables = [
        "\n".join([f"\n[{key}]", *(f"{k} = {_toml(v)}" for k, v in value.items())])
        for key, value in body.items()
        if isinstance(value, dict)
    ]
    return "\n".join([*plain, *tables]) + "\n"


def _toml(value: Any) -> str:
    """A value that profiles use, as TOML; strings escape as JSON does, which TOML's basic strings accept."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list | tuple):
        return f"[{', '.join(_toml(v) for v in value)}]"
    return msgspec.json.encode(value).decode()
