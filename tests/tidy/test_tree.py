"""The whole tree keeps the rules of the house."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import pytest

from tests.tidy import code_checks, text_checks
from tests.tidy.findings import Finding, Source, files, text_of
from tests.tidy.set_order import set_order

TEXT_CHECKS = (text_checks.length, text_checks.words, text_checks.loose_ends, text_checks.reasons)
CODE_CHECKS = (
    code_checks.function_length,
    code_checks.clock,
    code_checks.purity,
    code_checks.integers,
    code_checks.docstrings,
    set_order,
)
_PYTHON_ONLY = (text_checks.reasons,)


@pytest.fixture(scope="module")
def texts() -> dict[str, str]:
    found = {path: text for path in files() if (text := text_of(path)) is not None}
    assert len(found) > 30, "the tree was not found"
    return found


@pytest.fixture(scope="module")
def sources(texts: dict[str, str]) -> list[Source]:
    return [Source.of(path, text) for path, text in texts.items() if path.endswith(".py")]


def _report(findings: Iterable[Finding]) -> None:
    lines = [str(f) for f in findings]
    assert not lines, "\n" + "\n".join(lines)


@pytest.mark.parametrize("check", TEXT_CHECKS, ids=lambda c: c.__name__)
def test_texts(check: Callable[[str, str], Iterator[Finding]], texts: dict[str, str]) -> None:
    chosen = {p: t for p, t in texts.items() if check not in _PYTHON_ONLY or p.endswith(".py")}
    _report(f for path, text in chosen.items() for f in check(path, text))


@pytest.mark.parametrize("check", CODE_CHECKS, ids=lambda c: c.__name__)
def test_code(check: Callable[[Source], Iterator[Finding]], sources: list[Source]) -> None:
    _report(f for source in sources for f in check(source))


def test_rooms(texts: dict[str, str]) -> None:
    _report(text_checks.top_level(texts))


def test_committed_paths_are_plain() -> None:
    """Names that every file system and shell can hold."""
    plain = set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-/")
    _report(Finding(p, 1, "use letters, digits, dot, dash and underscore in names") for p in files() if set(p) - plain)
