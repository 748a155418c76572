"""What the README tells people to type is what the product takes."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tabled.model.outcome import StartHand
from tabled.outlets.commands import parse_command
from tabled.rules.hand import check_setup
from tabled.shell.config import load
from tabled.shell.profiles import names

README = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")


def block(language: str) -> str:
    found = re.search(rf"```{language}\n(.*?)```", README, re.DOTALL)
    assert found, f"the README has no {language} block"
    return found[1]


def test_the_configuration_loads(tmp_path: Path) -> None:
    path = tmp_path / "table.toml"
    path.write_text(block("toml"), encoding="utf-8")
    config = load(path)
    assert config.table.profile in names()
    assert len(config.device) == 2


def test_the_example_of_a_hand_is_a_hand() -> None:
    act = parse_command("cmd/start_hand", block("json").encode())
    assert isinstance(act, StartHand)
    check_setup(act.setup)


def test_every_profile_is_named_and_none_that_is_not_there() -> None:
    for name in names():
        assert f"`{name}`" in README


@pytest.mark.parametrize("path", re.findall(r"\]\((?!http)([^)#]+)\)", README))
def test_every_link_leads_somewhere(path: str) -> None:
    assert (Path(__file__).parents[2] / path).exists()
