"""The bounds of a profile's numbers, which settings contradict each other, and which are without effect."""

from __future__ import annotations

import pytest

from tabled.rules.profile import (
    SETTINGS,
    Profile,
    ProfileError,
    ReopenBy,
    allowed,
    choices,
    house_rule,
    own_values,
    parse,
)
from tabled.rules.profile_check import inert, verify
from tabled.rules.topics import TOPICS
from tests.rules.table import load

FULL = {"no-limit": "full", "pot-limit": "full", "fixed-limit": "full", "spread-limit": "full"}
TDA = load("tda-2024")


@pytest.mark.parametrize(
    ("values", "text"),
    [
        ({"raise_cap": 0}, "raise_cap = 0 is not allowed; give 1 to 99"),
        ({"raise_cap": 1}, ""),
        ({"raise_cap": 99}, ""),
        ({"raise_cap": 100}, "raise_cap = 100 is not allowed"),
        ({"simultaneity_ms": 2000}, ""),
        ({"simultaneity_ms": 2001}, "simultaneity_ms = 2001 is no same instant"),
        ({"allin_half_of": "min_bet"}, ""),
        ({"allin_half_of": "min_bet", "allin_reopen": FULL}, 'allin_half_of = "min_bet" beside'),
        ({"allin_half_of": "raise", "allin_reopen": FULL}, ""),
        ({"push_short_of_line": "binds", "bind": "push"}, ""),
        ({"push_short_of_line": "binds", "bind": "line"}, 'push_short_of_line = "binds" beside bind = "line"'),
        ({"push_short_of_line": "free", "bind": "line"}, ""),
        ({"underraise_half_of": "bet", "underraise_threshold": "half"}, ""),
        ({"underraise_half_of": "bet", "underraise_threshold": "call"}, 'underraise_half_of = "bet" beside'),
        ({"completion": "at_half_too"}, ""),
        ({"completion": "at_half_too", "allin_reopen": FULL}, 'completion = "at_half_too" beside'),
    ],
)
def test_a_value_at_its_bound_is_allowed_and_the_next_is_refused(values, text):
    law = TDA.with_values(**values)
    if not text:
        verify(law, values, "room.toml")
        return
    with pytest.raises(ProfileError) as e:
        verify(law, values, "room.toml")
    assert str(e.value).startswith(f"room.toml: {text}")


HALF_SPREAD = FULL | {"spread-limit": "half"}
HALF_FIXED = FULL | {"fixed-limit": "half"}
HALF_POT = FULL | {"pot-limit": "half"}


@pytest.mark.parametrize(
    ("values", "without_effect"),
    [
        ({}, set()),
        ({"underraise_threshold": "call"}, {"underraise_half_of"}),
        ({"underraise_threshold": "lift"}, {"underraise_half_of"}),
        ({"allin_reopen": HALF_SPREAD}, set()),
        ({"allin_reopen": HALF_FIXED}, set()),
        ({"allin_reopen": HALF_POT}, {"completion"}),
        ({"allin_reopen": HALF_POT, "completion": "never"}, set()),
        ({"allin_reopen": FULL}, {"completion", "allin_half_of"}),
        ({"min_raise": "small_blind"}, {"min_raise"}),
        ({"min_raise": "small_blind", "min_bet": "sb"}, set()),
        ({"min_raise": "small_blind", "min_bet_games": {"5draw": "sb"}}, set()),
        ({"bind": "line"}, {"push_short_of_line"}),
        ({"bind": "release"}, {"push_short_of_line"}),
    ],
)
def test_a_setting_without_effect_beside_the_others_is_told(values, without_effect):
    assert set(inert(TDA.with_values(**values))) == without_effect


def test_what_a_profile_does_not_say_is_the_tda_of_2024():
    bare = Profile(name="bare")
    told = {s for s in SETTINGS if getattr(bare, s) != getattr(TDA, s)}
    assert told == {"cite", "ask_floor"}
    with pytest.raises(TypeError):
        Profile("bare")  # type: ignore[misc]  # that it fails is what is tested
    for value, name in ((bare, "raise_cap"), (ReopenBy(), "no_limit")):
        with pytest.raises(AttributeError, match="immutable"):
            setattr(value, name, 1)


def test_the_values_of_a_setting_are_all_of_them():
    assert choices("allin_cumulative") == (True, False)
    assert choices("raise_cap") == choices("cite") == ()
    assert allowed("ask_floor") == ("a list of setting names",)
    assert allowed("cite") == ("a table of topic = [clause, …]",)


def test_a_value_is_shown_to_sixty_characters():
    for n, shown in ((58, repr("a" * 58)), (59, repr("a" * 59)[:57] + "...")):
        with pytest.raises(ProfileError) as e:
            parse(f'name = "x"\nraise_cap = "{"a" * n}"', where="room.toml")
        assert f"raise_cap = {shown} is not allowed" in str(e.value)


@pytest.mark.parametrize(
    "values", [{"no_such": 1}, {"allin_reopen": {"big-limit": "half"}}, {"allin_reopen": {"no-limit": "third"}}]
)
def test_a_law_cannot_be_changed_to_what_is_no_value(values):
    with pytest.raises(ProfileError, match="tda-2024"):
        TDA.with_values(**values)


@pytest.mark.parametrize(
    ("given", "own"),
    [
        ({"raise_cap": TDA.raise_cap}, ()),
        ({"raise_cap": TDA.raise_cap + 1}, ("raise_cap",)),
        ({"allin_reopen": {"no-limit": "full", "fixed-limit": "half"}}, ()),
        ({"allin_reopen": {"no-limit": "full", "fixed-limit": "full"}}, ("allin_reopen",)),
        ({"allin_reopen": {"no-limit": "half", "fixed-limit": "full"}}, ("allin_reopen",)),
        ({"name": "x", "cite": {"fold": ["House 1"]}}, ()),
    ],
)
def test_a_value_is_the_rooms_own_if_any_part_of_it_differs(given, own):
    assert own_values(given, TDA) == own


def test_only_the_file_of_a_house_makes_house_rules():
    text = 'name = "x"\nraise_cap = 3'
    assert parse(text, base=TDA).cite == TDA.cite
    assert parse(text, house="club").cite == {}
    assert house_rule("x") in parse(text, base=TDA, house="club").clauses(*TOPICS)
