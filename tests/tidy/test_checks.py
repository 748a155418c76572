"""Each tidy check can fail: a small bad sample for every rule, beside a good one that passes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from textwrap import dedent

import pytest

from tests.tidy import code_checks, text_checks
from tests.tidy.findings import Finding, Source, files
from tests.tidy.set_order import set_order

PURE = "tabled/core/x.py"


def _lines(check: Callable[[Source], Iterator[Finding]], code: str, path: str = PURE) -> list[int]:
    return sorted({f.line for f in check(Source.of(path, dedent(code)))})


def _text_lines(check: Callable[[str, str], Iterator[Finding]], text: str, path: str = "tabled/x.py") -> list[int]:
    return [f.line for f in check(path, text)]


def test_length() -> None:
    assert _text_lines(text_checks.length, "x\n" * 501) == [501]
    assert _text_lines(text_checks.length, "x\n" * 500) == []
    assert _text_lines(text_checks.length, "x\n" * 501, "README.md") == [501]
    for exempt in ("requirements.lock", "tests/golden/hand.py", "tests/rules/data/a.toml", "LICENSE"):
        assert _text_lines(text_checks.length, "x\n" * 501, exempt) == []


@pytest.mark.parametrize(
    "bad",
    [
        "open('/wo" + "rk/main')",
        "see /wo" + "rk.",
        "cd /ro" + "ot",
        "/tmp/" + "brief/common.md",
        "the chip fa" + "rm",
        "a ses" + "sion helper wrote this",
        "sub" + "agent",
        "Cla" + "ude",
        "issues sh" + "ow 3",
        "/ho" + "me/anna/x",
    ],
)
def test_words(bad: str) -> None:
    assert _text_lines(text_checks.words, f"good\n{bad}\n") == [2]


@pytest.mark.parametrize(
    "good",
    [
        "framework/x",
        "a/work/b",
        "../shared/rules",
        "/home/user/x",
        "a session of the panel",
        "farmer",
        "$HOME/work",
        "/workers",
    ],
)
def test_words_that_are_fine(good: str) -> None:
    assert _text_lines(text_checks.words, good) == []


def test_loose_ends() -> None:
    assert _text_lines(text_checks.loose_ends, "# TO" + "DO later\n# TO" + "DO(#12) later\n# FIX" + "ME: x\n") == [1, 3]
    assert _text_lines(text_checks.loose_ends, "todos, hacks\n") == []


def test_reasons() -> None:
    quiet, ignore = "# no" + "qa", "# type: ig" + "nore"
    bad = [
        quiet,
        f"{quiet}: S608",
        f"{quiet}: S608 - why",
        "# ruff: no" + "qa",
        ignore,
        f"{ignore}[arg-type]",
        f"{ignore}  # it is fine",
    ]
    good = [
        f"{quiet}: S608 - constants only",
        f"{quiet}: S603, S607  our own program",
        f"{ignore}[arg-type]  # a fake clock",
        f"{ignore}[arg-type, misc] - a fake clock",
    ]
    assert _text_lines(text_checks.reasons, "\n".join(bad)) == list(range(1, len(bad) + 1))
    assert _text_lines(text_checks.reasons, "\n".join(good)) == []


def test_top_level() -> None:
    assert [f.path for f in text_checks.top_level(["README.md", "tabled/x.py", "utils/x.py", ".github/x"])] == [
        ".github",
        "utils",
    ]
    assert [*text_checks.top_level(["README.md", "tabled/x.py", ".ci/run"])] == []


def test_function_length() -> None:
    long = "def f():\n" + "    x = 1\n" * 70
    assert _lines(code_checks.function_length, long) == [1]
    assert _lines(code_checks.function_length, "async " + long) == [1]
    assert _lines(code_checks.function_length, "class A:\n  def f(self):\n" + "    x = 1\n" * 70) == [2]
    assert _lines(code_checks.function_length, "def f():\n" + "    x = 1\n" * 69) == []


def test_clock() -> None:
    bad = (
        "import time\nfrom datetime import UTC\ndef f():\n    import time as t\nimport timeit\nd = datetime.now(UTC)\n"
    )
    assert _lines(code_checks.clock, bad, "tabled/outlets/x.py") == [1, 4, 6]
    assert _lines(code_checks.clock, bad, "tabled/shell/clock.py") == []
    assert _lines(code_checks.clock, bad, "firmware_bridge/ports/x.py") == []


@pytest.mark.parametrize(
    "bad",
    [
        "import os",
        "import random",
        "from numpy import array",
        "import xml.etree",
        "def f():\n    import asyncio",
        "open('x')",
        "print(1)",
        "eval('1')",
        "__import__('time')",
        "hash('seat')",
        "id(x)",
        "p.read_text()",
    ],
)
@pytest.mark.parametrize("path", [PURE, "firmware_bridge/wire.py", "firmware_bridge/framing/cobs.py"])
def test_purity(bad: str, path: str) -> None:
    assert _lines(code_checks.purity, bad, path)
    assert not _lines(code_checks.purity, bad, "tabled/shell/x.py")


def test_pure_code_is_let_through() -> None:
    good = """
        from __future__ import annotations
        from collections.abc import Sequence
        import msgspec
        from tabled.model import hand
        from . import x
        def reopened(p): return p.opens(), hashed(1), sorted(p)
    """
    assert _lines(code_checks.purity, good) == []


def test_integers() -> None:
    bad = "a = 0.5\nb = a / 2\nb /= 2\nc: float = 1\nd = 2j\n"
    assert _lines(code_checks.integers, bad) == [1, 2, 3, 4, 5]
    assert _lines(code_checks.integers, bad, "tabled/sensing/x.py") == []
    assert _lines(code_checks.integers, "a = 5 // 2\nb = 'a/b'\n") == []


def test_docstrings() -> None:
    bad = """\
        def f(): ...
        class A:
            def g(self): ...
            async def h(self): ...
            def _private(self): ...
            def __repr__(self): ...
            @override
            def k(self): ...
        def _p(): ...
        if True:
            def under_a_condition(): ...
        """
    assert _lines(code_checks.docstrings, bad, "calibration/x.py") == [1, 2, 3, 4, 11]
    assert _lines(code_checks.docstrings, bad, "hw_sim/x.py") == []
    assert _lines(code_checks.docstrings, "", "tabled/__init__.py") == []
    good = '"""M."""\ndef f():\n    """F."""\n    def inner(): ...\n'
    assert _lines(code_checks.docstrings, good) == []


def test_a_protocol_may_speak_for_its_members() -> None:
    code = '''\
        """M."""
        class Port(Protocol):
            """``read(n)`` gives up to n bytes."""
            def read(self, n): ...
            def write(self, data): ...
        class Other:
            """``read(n)`` gives up to n bytes."""
            def read(self, n): ...
        '''
    assert _lines(code_checks.docstrings, code) == [5, 8]


@pytest.mark.parametrize(
    "bad",
    [
        "for x in {1, 2}: pass",
        "for x in set(y): pass",
        "s = set()\nfor x in s: pass",
        "def f(s: set[int]): return [x for x in s]",
        "def f(s: frozenset[int] | None): return tuple(s)",
        "def f(a: set[int], b): return {x: 1 for x in a - b}",
        "s = {1}\nt = s | {2}\nlist(t)",
        "class A:\n    seen: frozenset[str]\ndef f(a): return [*a.seen]",
        "class A:\n    def f(self):\n        self.s = set()\n        return next(iter(self.s))",
        "s = {1}\ns.pop()",
        "s = {'a'}\n','.join(s)",
        "s = {1}\nfor i, x in enumerate(s): pass",
        "s = {1}\nsum(list(s))",
        "s = {1}\nsum(1 for x in y for z in [w for w in s])",
        "list(set(a).union(b))",
        "(x for x in {1})",
    ],
)
def test_set_order(bad: str) -> None:
    assert _lines(set_order, bad)
    assert not _lines(set_order, bad, "tabled/outlets/x.py")


@pytest.mark.parametrize(
    "good",
    [
        "s = {1}\nfor x in sorted(s): pass",
        "s = {1}\nsorted(x for x in s)",
        "s = {1}\nany(x > 1 for x in s)",
        "s = {1}\n2 in s and len(s)",
        "s = {1}\n{x + 1 for x in s}",
        "s = {1}\nt = {*s, 2}",
        "a = [1]\na.pop()\nfor x in a: pass",
        "d = {1: 2}\nfor x in d: pass\nlist(d)",
        "a = b - c\nfor x in range(a): pass",
    ],
)
def test_set_order_where_it_does_not_matter(good: str) -> None:
    assert _lines(set_order, good) == []


def test_the_files_of_the_tree_are_seen() -> None:
    found = files()
    assert "pyproject.toml" in found
    assert "tests/tidy/test_checks.py" in found
    assert not [p for p in found if p.startswith(".venv/") or "__pycache__" in p]
