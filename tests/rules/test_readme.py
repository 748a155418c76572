"""What the README says of house rules and of an overrule is what the program does."""

from __future__ import annotations

import re
from pathlib import Path

import msgspec
from click.testing import CliRunner

from tabled.model.outcome import Overrule
from tabled.outlets.commands import parse_command
from tabled.shell.profile_show import profile
from tabled.shell.profiles import load

README = (Path(__file__).resolve().parents[2] / "README.md").read_text("utf-8")
HOUSE = re.search(r"```toml\n# club\.toml\n(.*?)```", README, re.DOTALL)[1]  # type: ignore[index]  # it is there


def test_the_house_profile_of_the_readme_is_what_it_says(tmp_path):
    file = tmp_path / "club.toml"
    file.write_text(HOUSE)
    club, law = load(file), load("swedish")
    assert (club.name, club.multi_chip_test, club.raise_cap) == ("club", "every_chip_needed", 4)
    assert club.ask_floor == ("undercall",)
    assert (club.allin_reopen.fixed_limit, club.allin_reopen.no_limit) == ("full", law.allin_reopen.no_limit)
    assert (club.clauses("multi_chip_call"), club.clauses("string")) == (("House 4",), law.clauses("string"))


def test_the_mistakes_of_the_readme_are_told_so(tmp_path):
    said = re.findall(r"^    (Error: club\.toml: .*)$", README, re.MULTILINE)
    assert len(said) == 2
    for line, wrong in zip(said, ('multi_chip_tset = "none"', 'multi_chip_test = "every"'), strict=True):
        file = tmp_path / "club.toml"
        file.write_text(f'inherits = "swedish"\n{wrong}\n')
        out = CliRunner().invoke(profile, ["show", str(file)]).output
        assert out.replace(str(file), "club.toml").strip() == line


def test_the_overrule_of_the_readme_is_taken():
    (sent,) = re.findall(r"^(\{.*\"ruling\".*\})$", README, re.MULTILINE)
    act = parse_command("cmd/overrule", sent.encode())
    assert isinstance(act, Overrule)
    assert (act.ruling, act.action, act.to) == (412, "raise", 1000)
    allowed = re.search(r"`action` is one of ([a-z_, ]+);", README)[1].split(", ")  # type: ignore[index]  # it is there
    kinds = msgspec.inspect.type_info(Overrule)
    (field,) = (f for f in kinds.fields if f.name == "action")
    assert sorted(allowed) == sorted(field.type.values)
