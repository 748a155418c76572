"""Every code that the core and the shell can utter has its sentence in each language, and its gaps are filled."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import get_args

import pytest

import tabled
from tabled.fusion.attempt import DoubtKind
from tabled.outlets.wording import LANGUAGES, codes
from tabled.outlets.wording.catalogue import gaps

ROOT = Path(tabled.__file__).parent
BUILT = {f"{k}_{end}" for k in get_args(DoubtKind) for end in ("yes", "no")} | {f"ask_{k}" for k in get_args(DoubtKind)}


def uttered() -> dict[str, set[str] | None]:
    """Codes in ``Reason("code", {...})`` calls of core and shell; parameter names where they are written there."""
    found: dict[str, set[str] | None] = {}
    for folder in ("core", "fusion", "shell"):
        for path in sorted((ROOT / folder).glob("*.py")):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Reason"):
                    continue
                code = node.args[0]
                if not isinstance(code, ast.Constant):
                    continue
                given = node.args[1] if len(node.args) > 1 else None
                names = None
                if isinstance(given, ast.Dict):
                    names = {k.value for k in given.keys if isinstance(k, ast.Constant)}
                elif given is None:
                    names = set()
                found[code.value] = names
    return found


def test_the_search_finds_what_it_should() -> None:
    assert {"unknown_tag", "post_missing", "journal_unwritable"} <= set(uttered())


@pytest.mark.parametrize("lang", LANGUAGES)
def test_every_code_has_a_sentence(lang: str) -> None:
    assert set(uttered()) | BUILT <= codes(lang)


@pytest.mark.parametrize("lang", LANGUAGES)
def test_every_gap_is_given(lang: str) -> None:
    for code, names in uttered().items():
        if names is not None and code != "pending":
            assert gaps(lang, code) <= names, code
