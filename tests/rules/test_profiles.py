"""Profiles: complete, documented, inherited, hashed, and a clear line for every mistake."""

from __future__ import annotations

import ast
import tomllib
from importlib import resources

import pytest
from click.testing import CliRunner

from tabled.outlets.wording import announce
from tabled.rules.doubt import WHY
from tabled.rules.profile import SETTINGS, Profile, ProfileError, allowed, choices, own_values, parse, to_toml
from tabled.rules.settings import SETTINGS_EXPLAINED
from tabled.rules.topics import TOPICS
from tabled.shell.profile_show import authority, profile
from tabled.shell.profiles import layers, load, names, resolved
from tests.rules.table import rule, situation

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
    assert base.with_values(title="Ours").hash == base.hash
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
    assert p.clauses("cap") == ("house rule (mother)",)
    assert p.min_bet_games == {"swedish-draw": "sb"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('name = "x"\nmulti_chip_tset = "none"', "unknown setting 'multi_chip_tset'; did you mean 'multi_chip_test'?"),
        ('name = "x"\nmulti_chip_test = "some"', "'some' is not allowed; it must be one of: none, every_chip_needed"),
        ('name = "x"\nallin_cumulative = "yes"', "must be one of: true, false"),
        ('name = "x"\nraise_cap = "four"', "raise_cap = 'four' is not allowed; it must be a whole number, 0 or more"),
        ('name = "x"\nraise_cap = -1', "raise_cap = -1 is not allowed"),
        ('name = "x"\nthird_party = ["bystander"]', "of: dealer, player_at_table, staff"),
        ('name = "x"\nthird_party = "dealer"', 'it must be a list, such as ["dealer", "player_at_table"]'),
        ('name = "x"\nallin_reopen = "half"', "allin_reopen = 'half' is not allowed; it must be a table"),
        ('name = "x"\n[allin_reopen]\nno_limit = "half"', "'no_limit' is no structure; did you mean 'no-limit'?"),
        ('name = "x"\n[allin_reopen]\nraise_cap = 4', "a setting of its own stands above the first [table]"),
        ('name = "x"\n[cite]\nstring = "House 4"', """[cite] string = 'House 4' is not allowed; give a list"""),
        ('name = "x"\nask_floor = ["nothing"]', "ask_floor names 'nothing', which is no setting"),
        (
            'name = "x"\n[allin_reopen]\nno-limit = "third"',
            "[allin_reopen] no-limit = 'third' is not allowed; it is full",
        ),
        ('name = "x"\n[allin_reopen]\nbig-limit = "half"', "[allin_reopen] 'big-limit' is no structure"),
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
    assert len(str(e.value)) < 300


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("raise_cap = 0", "raise_cap = 0 is not allowed; give 1 to 99"),
        ("third_party = []", 'add "dealer"'),
        ("simultaneity_ms = 60000", "is no same instant; give 0 to 2000"),
        ("chip_unit = 7", "chip_unit = 7 is no chip's worth"),
        ('ask_floor = ["bind"]', "ask_floor names 'bind', on which no ruling is left open"),
        ('underraise_threshold = "call"\nunderraise_half_of = "bet"', "knows no half; leave it out"),
        ('completion = "at_half_too"\n[allin_reopen]\nfixed-limit = "full"', 'set fixed-limit = "half", or completion'),
        ('bind = "line"\npush_short_of_line = "binds"', 'a push binds only with bind = "push"'),
        ('allin_half_of = "min_bet"\n[allin_reopen]\nfixed-limit = "full"\nspread-limit = "full"', 'full" everywhere'),
        ('[min_bet_games]\nnosuchgame = "sb"', "'nosuchgame' is no game; games are holdem, omaha"),
        ('[min_bet_games]\nswedishdraw = "sb"', "did you mean 'swedish-draw'?"),
        (
            '[cite]\none_chip_fcing = ["House 4"]',
            "[cite] 'one_chip_fcing' is no topic; did you mean 'one_chip_facing'?",
        ),
        ('name = "swedish"', "'swedish' is a law that comes with tabled"),
    ],
)
def test_values_that_cannot_be_meant_together_are_refused(tmp_path, text, message):
    head = 'inherits = "swedish"\n' if text.startswith("name") else 'name = "club-k"\ninherits = "swedish"\n'
    (tmp_path / "club.toml").write_text(head + text)
    with pytest.raises(ProfileError) as e:
        load(tmp_path / "club.toml")
    assert "club.toml: " in str(e.value)
    assert message in str(e.value)
    assert "\n" not in str(e.value)
    assert len(str(e.value)) < 500


def test_loader_mistakes_say_what_to_do(tmp_path):
    with pytest.raises(ProfileError, match=r"did you mean 'swedish'.; choose one of dutch-full-bet"):
        load("sweedish")
    with pytest.raises(ProfileError, match="cannot read the profile"):
        load(tmp_path / "none.toml")
    (tmp_path / "orphan.toml").write_text('name = "o"\ninherits = "swedsh"\n')
    with pytest.raises(ProfileError, match=r"orphan.toml: inherits = 'swedsh' is no profile; did you mean 'swedish'"):
        load(tmp_path / "orphan.toml")
    (tmp_path / "alone.toml").write_text('name = "o"\n')
    with pytest.raises(ProfileError, match=r"alone.toml: give inherits = "):
        load(tmp_path / "alone.toml")
    (tmp_path / "a.toml").write_text('name = "a"\ninherits = "b.toml"\n')
    (tmp_path / "b.toml").write_text('name = "b"\ninherits = "a.toml"\n')
    with pytest.raises(ProfileError, match="in a circle"):
        load(tmp_path / "a.toml")
    (tmp_path / "big.toml").write_text("#" * 70000)
    with pytest.raises(ProfileError, match="over 65536 bytes"):
        load(tmp_path / "big.toml")
    (tmp_path / "latin.toml").write_bytes('name = "mörk"'.encode("latin-1"))
    with pytest.raises(ProfileError, match="UTF-8"):
        load(tmp_path / "latin.toml")


def test_show_explains_each_value_with_its_paragraph():
    out = CliRunner().invoke(profile, ["show", "swedish"])
    assert out.exit_code == 0
    for setting in SETTINGS:
        assert setting == "cite" or f"\n{setting} = " in out.output
    assert "\nunderraise_threshold = half  (SE 7.8 a, SE 7.8 b, SE 7.4, SE 7.8)  [own]\n" in out.output
    assert "\nshort_number = literal  (SE 7.5, SE 7.8)  [own]\n" in out.output
    assert "\nlow_voice = floor  (TDA 40-A, TDA 1: SE is silent, so tda-2024 holds)  [from tda-2024]\n" in out.output
    assert "Here: the same" not in out.output
    assert "\nout_of_turn_penalty = warning  (SE 6)" in out.output
    assert 'Also possible: "", possible.' in out.output


TDA_SILENT = (
    "amount_rounding completion missed_blind one_chip_bring_in pot_rounding short_blind_price straddle_min_raise "
    "third_party_unheard"
)
NL_SILENT = TDA_SILENT.replace("completion", "cap_heads_up")
SE_SILENT = TDA_SILENT.replace("third_party_unheard", "cap_heads_up late_short_number tiny_chips")
SILENT_IN = {
    "tda-2024": TDA_SILENT,
    "wsop-2026": TDA_SILENT,
    "dutch-half-bet": NL_SILENT.replace("one_chip_bring_in ", ""),
    "dutch-full-bet": f"{NL_SILENT} completion",
    "swedish": SE_SILENT,
    "roberts": "missed_blind one_chip_bring_in out_of_turn_penalty short_blind_price straddle_min_raise "
    "third_party_unheard tiny_chips",
    "wsop-live-2024": "missed_blind one_chip_bring_in third_party_unheard tiny_chips",
    "wsop-live-2026": "missed_blind one_chip_bring_in third_party_unheard tiny_chips",
}
"""Values for which the text has no paragraph."""


def test_every_value_of_every_law_names_its_paragraph_or_says_that_there_is_none():
    """Pinned: a value that loses its paragraph, or gains one that is another value's, changes the table."""
    for name in ALL:
        chain = layers(name)
        silent = {s for s in SETTINGS if s != "cite" and "no paragraph" in authority(s, chain)}
        assert silent == set(SILENT_IN[name].split()), name
        shown = CliRunner().invoke(profile, ["show", name]).output
        assert shown.count("no paragraph: the text is silent, this is the house's reading") == len(silent)


@pytest.mark.parametrize("name", [n for n in ALL if n != "tda-2024"])
def test_a_law_that_differs_speaks_for_itself(name):
    """A value that is not the parent's never shows the parent's paragraph: the law cites its own, or says nothing."""
    chain = layers(name)
    for setting in own_values(chain[0].given, chain[1].profile):
        topics = SETTINGS_EXPLAINED[setting].paragraphs(str(getattr(chain[0].profile, setting)))
        inherited = [t for t in topics if t not in chain[0].given["cite"] and chain[0].profile.clauses(t)]
        assert not inherited, (setting, inherited)
        assert "holds" not in authority(setting, chain)


def source_nodes():
    """All nodes of the code of the rules."""
    for file in (resources.files("tabled") / "rules").iterdir():
        if file.name.endswith(".py"):
            yield from ast.walk(ast.parse(file.read_text("utf-8")))


def words(node: ast.AST) -> set[str]:
    return {n.value for n in ast.walk(node) if isinstance(n, ast.Constant) and isinstance(n.value, str)}


def test_every_topic_is_listed():
    code = set()
    for node in source_nodes():
        if isinstance(node, ast.keyword) and node.arg == "topics":
            code |= words(node.value)
        elif isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "clauses":
            code |= {n.value for n in node.args if isinstance(n, ast.Constant)}
    assert not code - set(TOPICS) - {"string"}
    for name in ALL:
        assert not set(load(name).cite) - set(TOPICS)
    for told in SETTINGS_EXPLAINED.values():
        assert not {*told.topics, *(t for v in told.by_value.values() for t in v)} - set(TOPICS)
    out = CliRunner().invoke(profile, ["topics", "swedish"]).output
    assert [line.split()[0] for line in out.splitlines()] == list(TOPICS)
    assert "several motions  (SE 7.1)" in out


def test_only_what_a_ruling_can_rest_on_may_be_asked_of_the_floor():
    rests = set()
    for node in source_nodes():
        handed = isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") in ("rests_on", "_RESTS")
        if handed or (isinstance(node, ast.keyword) and node.arg == "rests_on"):
            rests |= words(node.value) & set(SETTINGS)
    rests |= {"raise_word_extra_motions", "speech_vs_chips"}  # handed on by _fed and _resting
    assert rests == set(WHY)
    for name in ALL:
        assert set(load(name).ask_floor) <= rests


def test_a_house_rule_speaks_for_itself(tmp_path):
    """What a room changes is its own rule, in what is shown and in rulings; the parent's paragraph is for the rest."""
    (tmp_path / "club.toml").write_text(
        'name = "club-k"\ninherits = "swedish"\nunderraise_threshold = "call"\nmulti_chip_test = "every_chip_needed"\n'
        'string_acted_before = "anyone_acted"\nbind = "push"\n'
    )
    p = load(tmp_path / "club.toml")
    house = "house rule (club-k)"
    assert p.title == "club-k (from swedish)"
    assert p.clauses("under_raise_call", "multi_chip_threshold", "multi_chip_call") == (house,)
    assert p.clauses("string") == (house, "SE 7.1")  # string_first_motion is still the text's
    assert p.clauses("pushed") == ("SE 7.7",)  # repeated, not changed
    where = situation("A 3800/1200* B 5000 C 5000", "B", 1200, prior="A bet 1200")
    two = rule(p, where, "B put 1000 1000")
    assert (two.reason.code, two.cite) == ("every_chip_needed", (house,))
    low = rule(p, situation("A 4500/500* B 5000 C 5000", "B", 500, prior="A bet 500"), "B put 500 100 100 100")
    assert (low.reason.code, low.cite) == ("underraise_call_full", (house,))
    assert announce(low)["en"] == "Call. Less than a full raise. 300 back."
    shown = CliRunner().invoke(profile, ["show", str(tmp_path / "club.toml")]).output
    assert f"\nmulti_chip_test = every_chip_needed  ({house})  [own]\n" in shown
    assert "\nbind = push  (SE 7.7)  [from swedish]\n" in shown
    assert "\nunderraise_half_of = raise  (" in shown
    assert "No effect here: underraise_threshold is call, which knows no half." in shown
    (tmp_path / "own.toml").write_text('name = "own"\ninherits = "swedish"\nraise_cap = 5\n[cite]\ncap = ["House 9"]\n')
    assert load(tmp_path / "own.toml").clauses("cap") == ("House 9",)
    shown = CliRunner().invoke(profile, ["show", str(tmp_path / "own.toml")]).output
    assert "\nraise_cap = 5  (House 9)  [own]\n" in shown
    assert shown.endswith("[cite] own: cap\n")


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
    assert (p.name, p.title, p.inherits, p.raise_cap) == ("club", "club (from swedish)", "swedish", 5)
    assert p.hash != load("swedish").hash
    assert parse(resolved(bare)).hash == p.hash
    show = CliRunner().invoke(profile, ["show", str(bare)]).output.splitlines()
    assert show[:2] == [f"club (club.toml): club (from swedish)  [hash {p.hash}]", "inherits swedish"]
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
