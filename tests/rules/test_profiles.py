"""Profiles: complete, documented, inherited, hashed, and a clear line for every mistake."""

from __future__ import annotations

import tomllib
from importlib import resources

import pytest
from click.testing import CliRunner

from tabled.rules.profile import SETTINGS, Profile, ProfileError, allowed, choices, parse, to_toml
from tabled.rules.settings import SETTINGS_EXPLAINED
from tabled.shell.profiles import load, names, profile, resolved

ALL = (
    "dutch-full-bet", "dutch-half-bet", "roberts", "swedish", "tda-2024", "wsop-2026", "wsop-live-2024",
    "wsop-live-2026",
)  # fmt: skip


def test_the_product_comes_with_these_profiles():
    assert names() == ALL
    assert len({load(n).hash for n in ALL}) == len(ALL)
    assert all(load(n).name == n for n in ALL)


def test_the_root_profile_names_every_setting():
    text = (resources.files("tabled.rules") / "profiles" / "tda-2024.toml").read_text("utf-8")
    assert not set(SETTINGS) - set(tomllib.loads(text))


def test_every_setting_and_every_value_is_explained():
    assert set(SETTINGS_EXPLAINED) == set(SETTINGS)
    for setting in SETTINGS:
        told = SETTINGS_EXPLAINED[setting]
        assert told.about.endswith(".")
        for value in choices(setting):
            assert told.values.get(str(value).lower() if isinstance(value, bool) else str(value)), (setting, value)
        assert allowed(setting)


@pytest.mark.parametrize("name", ALL)
def test_a_resolved_profile_reads_back_as_the_same_law(name):
    p = load(name)
    again = parse(resolved(name))
    assert again.hash == p.hash
    assert to_toml(again) == resolved(name)


def test_the_hash_is_of_the_values():
    base = load("tda-2024")
    assert parse('title = "Ours"', base).hash == base.hash
    changed = base.with_values(multi_chip_test="none")
    assert changed.hash != base.hash
    assert changed.with_values(multi_chip_test="every_chip_needed").hash == base.hash
    assert len(base.hash) == 16


def test_a_room_inherits_and_overrides(tmp_path):
    (tmp_path / "mother.toml").write_text('name = "mother"\ninherits = "swedish"\nraise_cap = 5\n')
    (tmp_path / "room.toml").write_text(
        'name = "room"\ninherits = "mother.toml"\nmulti_chip_test = "every_chip_needed"\n'
        '[allin_reopen]\nfixed-limit = "full"\n[cite]\nstring = ["House 4"]\n'
    )
    p = load(tmp_path / "room.toml")
    assert (p.name, p.raise_cap, p.multi_chip_test) == ("room", 5, "every_chip_needed")
    assert (p.allin_reopen.fixed_limit, p.allin_reopen.spread_limit) == ("full", "half")
    assert p.clauses("string", "tap", "one_chip_facing") == ("House 4", "SE 7.2.2")
    assert p.min_bet_games == {"swedish-draw": "sb"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('name = "x"\nmulti_chip_tset = "none"', "unknown setting 'multi_chip_tset'; did you mean 'multi_chip_test'?"),
        ('name = "x"\nmulti_chip_test = "some"', "'some' is not allowed; it must be one of: none, every_chip_needed"),
        ('name = "x"\nallin_cumulative = "yes"', "must be one of: true, false"),
        ('name = "x"\nraise_cap = "four"', "must be one of: a whole number, 0 or more"),
        ('name = "x"\nraise_cap = -1', "raise_cap = -1 is not allowed"),
        ('name = "x"\nthird_party = ["bystander"]', "must be one of: dealer, player_at_table, staff"),
        ('name = "x"\nask_floor = ["nothing"]', "ask_floor names 'nothing', which is no setting"),
        ('name = "x"\n[allin_reopen]\nno-limit = "third"', "allin_reopen"),
        ('name = "x"\n[allin_reopen]\nbig-limit = "half"', "big-limit"),
        ('name = "x"\nhash = "abc"', "unknown setting 'hash'"),
        ('bind = "push"', "needs a name"),
        ("name = ", "not readable as TOML"),
        ('name = "x"\ninherits = "tda-2024"', "was not resolved"),
    ],
)
def test_a_mistake_is_one_line_that_names_key_file_and_values(text, message):
    with pytest.raises(ProfileError) as e:
        parse(text, where="room.toml")
    assert str(e.value).startswith("room.toml: ")
    assert message in str(e.value)
    assert "\n" not in str(e.value)


def test_loader_mistakes_say_what_to_do(tmp_path):
    with pytest.raises(ProfileError, match="choose one of dutch-full-bet"):
        load("sweedish")
    with pytest.raises(ProfileError, match="cannot read the profile"):
        load(tmp_path / "none.toml")
    (tmp_path / "a.toml").write_text('name = "a"\ninherits = "b.toml"\n')
    (tmp_path / "b.toml").write_text('name = "b"\ninherits = "a.toml"\n')
    with pytest.raises(ProfileError, match="in a circle"):
        load(tmp_path / "a.toml")
    (tmp_path / "big.toml").write_text("#" * 70000)
    with pytest.raises(ProfileError, match="70000 bytes"):
        load(tmp_path / "big.toml")
    (tmp_path / "latin.toml").write_bytes('name = "mörk"'.encode("latin-1"))
    with pytest.raises(ProfileError, match="UTF-8"):
        load(tmp_path / "latin.toml")


def test_show_explains_each_value_with_its_paragraph():
    out = CliRunner().invoke(profile, ["show", "swedish"])
    assert out.exit_code == 0
    for setting in SETTINGS:
        assert setting == "cite" or f"\n{setting} = " in out.output
    assert "underraise_threshold = half  (SE 7.8 a, SE 7.8 b)" in out.output or "(SE 7.8" in out.output


def test_diff_names_what_differs_and_what_it_means():
    out = CliRunner().invoke(profile, ["diff", "wsop-live-2026", "wsop-live-2024"])
    assert out.exit_code == 0
    assert "straddle_min_raise" in out.output
    assert "WSOP LA 2024 #11" in out.output
    assert out.output.count("wsop-live-2024:") == 1
    same = CliRunner().invoke(profile, ["diff", "swedish", "swedish"])
    assert "same settings" in same.output


def test_a_house_profile_goes_by_its_own_name(tmp_path):
    """Not by that of the law it changes; a file that names itself goes by that name."""
    bare, named = tmp_path / "club.toml", tmp_path / "b.toml"
    bare.write_text('inherits = "swedish"\nraise_cap = 5\n')
    named.write_text('name = "Monday"\ntitle = "Our own"\ninherits = "swedish"\n')
    p = load(bare)
    assert (p.name, p.title, p.inherits, p.raise_cap) == ("club", "", "swedish", 5)
    assert p.hash != load("swedish").hash
    assert parse(resolved(bare)).hash == p.hash
    show = CliRunner().invoke(profile, ["show", str(bare)]).output.splitlines()
    assert show[:2] == [f"club (club.toml)  [hash {p.hash}]", "inherits swedish"]
    show = CliRunner().invoke(profile, ["show", str(named)]).output.splitlines()
    assert show[0].startswith("Monday (b.toml): Our own  [hash ")
    out = CliRunner().invoke(profile, ["diff", "swedish", str(bare)]).output
    assert "    swedish: 3" in out
    assert "    club (club.toml): 5" in out
    out = CliRunner().invoke(profile, ["diff", str(named), "swedish"]).output
    assert out == "Monday (b.toml) and swedish have the same settings\n"


def test_commands_report_mistakes_without_a_traceback():
    out = CliRunner().invoke(profile, ["show", "nobody"])
    assert out.exit_code == 1
    assert out.output.startswith("Error: no profile is called 'nobody'")
    assert CliRunner().invoke(profile, ["list"]).output.count("\n") == len(ALL)


def test_a_profile_cannot_be_changed():
    with pytest.raises(AttributeError):
        load("swedish").raise_cap = 9  # type: ignore[misc]  # it must refuse
    assert isinstance(load("swedish"), Profile)
