"""Mutation testing of tabled/rules: change one thing at a time and see whether a test notices.

    python -m tests.rules.mutate [MODULE ...] [--every N] [--start N] [--only FILE] [--out FILE]

Works on a copy of the tree in a temporary folder.  Each mutant is given to all tests of tests/rules, until one fails:
first to those that have killed most mutants so far, then to the others, the quickest first.  Prints one line a
survivor: module, line, what was changed, and the source line; and one line a module with the counts.  ``--every N``
tries each N-th mutant only, ``--only FILE`` those that an earlier run has listed there as survivors.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

# Loaded once here: what does not change need not be loaded by the process of each mutant.
import click.testing  # noqa: F401
import hypothesis.strategies  # noqa: F401
import msgspec  # noqa: F401
import pokerkit  # noqa: F401
import pytest

ROOT = Path(__file__).resolve().parents[2]
TIMEOUT_S = 300
RESULT_BYTES = 1 << 20
NOT_MUTATED = ("__init__", "settings")  # nothing, and sentences

COMPARE = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
}  # fmt: skip
ARITHMETIC = {ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Add, ast.FloorDiv: ast.Mult, ast.Mod: ast.Add}
NAMES = {"min": "max", "max": "min", "any": "all", "all": "any"}


class Mutator(ast.NodeTransformer):
    """Changes the ``wanted``-th place that can be changed; counts them all."""

    def __init__(self, wanted: int) -> None:
        self.wanted, self.seen, self.what, self.line = wanted, -1, "", 0

    def _hit(self, node: ast.AST, what: str) -> bool:
        self.seen += 1
        if self.seen != self.wanted:
            return False
        self.what, self.line = what, getattr(node, "lineno", 0)
        return True

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        self.generic_visit(node)
        for n, op in enumerate(node.ops):
            new = COMPARE.get(type(op))
            if new and self._hit(node, f"{type(op).__name__} -> {new.__name__}"):
                node.ops[n] = new()
        return node

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.AST:
        self.generic_visit(node)
        if self._hit(node, "and <-> or"):
            node.op = ast.Or() if isinstance(node.op, ast.And) else ast.And()
        return node

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.op, ast.Not) and self._hit(node, "not dropped"):
            return node.operand
        return node

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        self.generic_visit(node)
        new = ARITHMETIC.get(type(node.op))
        if new and self._hit(node, f"{type(node.op).__name__} -> {new.__name__}"):
            node.op = new()
        return node

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        if isinstance(node.value, bool) and self._hit(node, f"{node.value} -> {not node.value}"):
            return ast.copy_location(ast.Constant(not node.value), node)
        if type(node.value) is int and self._hit(node, f"{node.value} -> {node.value + 1}"):
            return ast.copy_location(ast.Constant(node.value + 1), node)
        return node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.func, ast.Name) and node.func.id in NAMES:
            other = NAMES[node.func.id]
            if self._hit(node, f"{node.func.id} -> {other}"):
                node.func.id = other
        return node

    def visit_Expr(self, node: ast.Expr) -> ast.AST:
        if isinstance(node.value, ast.Constant):
            return node  # a docstring
        self.generic_visit(node)
        if self._hit(node, "statement dropped"):
            return ast.copy_location(ast.Pass(), node)
        return node

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST:
        self.generic_visit(node)
        if self._hit(node, "statement dropped"):
            return ast.copy_location(ast.Pass(), node)
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        if node.value is not None:
            node.value = self.visit(node.value)
        return node

    def visit_arg(self, node: ast.arg) -> ast.AST:
        return node  # annotations are not code

    def visit_Raise(self, node: ast.Raise) -> ast.AST:
        return node  # what a message says is tested where it matters


def mutants(source: str) -> Iterator[tuple[int, int, str, str]]:
    """All mutants of a module: number, line, what was changed, new source."""
    counter = Mutator(-2)
    counter.visit(ast.parse(source))
    for n in range(counter.seen + 1):
        mutator = Mutator(n)
        tree = ast.fix_missing_locations(mutator.visit(ast.parse(source)))
        yield n, mutator.line, mutator.what, ast.unparse(tree)


class Order:
    """A plugin of pytest: the likely killers first.  Remembers which test failed, and how long each took."""

    def __init__(self, kills: Counter[str], took: dict[str, float]) -> None:
        self.kills, self.before = kills, took
        self.took: dict[str, float] = {}
        self.killer = ""

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        items.sort(key=lambda i: (-self.kills[i.nodeid], self.before.get(i.nodeid, 0.0)))

    def pytest_runtest_logreport(self, report: Any) -> None:
        self.took[report.nodeid] = self.took.get(report.nodeid, 0.0) + report.duration
        if report.failed and not self.killer:
            self.killer = report.nodeid


class Runner:
    """Runs the tests of a copy of the tree, each time in a fork of this process."""

    def __init__(self, copy: Path) -> None:
        self.copy = copy
        self.kills: Counter[str] = Counter()
        self.took: dict[str, float] = {}
        self.files = sorted(str(f.relative_to(copy)) for f in (copy / "tests" / "rules").glob("test_*.py"))

    def survives(self, *, first: bool = False) -> bool:
        """True if all tests pass.  The ``first`` run keeps the compiled tests and notes how long each test takes."""
        read, write = os.pipe()
        pid = os.fork()
        if pid == 0:
            os.close(read)
            self._child(write, first)
        os.close(write)
        with os.fdopen(read, "rb") as pipe:
            raw = pipe.read(RESULT_BYTES)
        _, status = os.waitpid(pid, 0)
        told = json.loads(raw) if raw else {"killer": "", "took": {}}
        if first:
            self.took = told["took"]
        self.kills[told["killer"]] += bool(told["killer"])
        return os.waitstatus_to_exitcode(status) == 0

    def _child(self, write: int, first: bool) -> None:
        code = 1
        try:
            os.chdir(self.copy)
            sys.path[:] = [str(self.copy), *(p for p in sys.path if p and Path(p).resolve() != ROOT)]
            for name in [m for m in sys.modules if m.split(".")[0] in ("tabled", "tests")]:
                del sys.modules[name]
            null = os.open(os.devnull, os.O_WRONLY)
            os.dup2(null, 1)
            os.dup2(null, 2)
            sys.dont_write_bytecode = not first
            signal.setitimer(signal.ITIMER_PROF, TIMEOUT_S)  # processor time: a busy machine kills no mutant
            order = Order(self.kills, self.took)
            args = ["-x", "-q", "--tb=no", "-p", "no:cacheprovider", "-o", "addopts=", *self.files]
            code = int(pytest.main(args, plugins=[order]))
            os.write(write, json.dumps({"killer": order.killer, "took": order.took if first else {}}).encode())
        finally:
            os._exit(code)


def main() -> None:
    """Try the mutants and print the survivors."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("modules", nargs="*")
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--start", type=int, default=0)
    parser.add_argument("--only", type=Path)
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    os.environ.setdefault("TABLED_SHARED", str(ROOT.parent / "shared"))
    with tempfile.TemporaryDirectory() as tmp:
        copy = Path(tmp)
        for part in ("tabled", "tests", "firmware_bridge", "pyproject.toml"):
            source = ROOT / part
            ignore = shutil.ignore_patterns("__pycache__", "node_modules")
            shutil.copytree(source, copy / part, ignore=ignore) if source.is_dir() else shutil.copy(source, copy / part)
        runner = Runner(copy)
        if not runner.survives(first=True):
            failed = ", ".join(runner.kills) or "their collection"
            sys.exit(f"the tests fail without any change: put them right first ({failed})")
        shutil.rmtree(copy / "tabled" / "rules" / "__pycache__", ignore_errors=True)  # would hide a mutant
        _run(runner, args)


def _run(runner: Runner, args: argparse.Namespace) -> None:
    folder = runner.copy / "tabled" / "rules"
    names = args.modules or sorted(f.stem for f in folder.glob("*.py") if f.stem not in NOT_MUTATED)
    only = set(map(_apart, args.only.read_text("utf-8").splitlines())) if args.only else None
    total: Counter[str] = Counter()
    for name in names:
        begun = time.monotonic()
        count: Counter[str] = Counter()
        for text in _module(runner, folder / f"{name}.py", args, only, count):
            _tell(text, args.out)
        total += count
        _tell(
            f"# {name}: {count['killed']} killed, {count['survived']} survived of {count.total()},"
            f" in {time.monotonic() - begun:.0f} s",
            args.out,
        )
    _tell(f"# {total['killed']} killed, {total['survived']} survived of {total.total()}", args.out)


def _module(
    runner: Runner, file: Path, args: argparse.Namespace, only: set[tuple[str, ...]] | None, count: Counter[str]
) -> Iterator[str]:
    """The survivors of one module, as lines."""
    original = file.read_text("utf-8")
    lines = original.splitlines()
    for n, line, what, changed in mutants(original):
        text = f"{file.name}:{line}: {what}: {lines[line - 1].strip()}"
        if (n - args.start) % args.every or (only is not None and _apart(text) not in only):
            continue
        file.write_text(changed, "utf-8")
        alive = runner.survives()
        count["survived" if alive else "killed"] += 1
        if alive:
            yield text
    file.write_text(original, "utf-8")


def _apart(text: str) -> tuple[str, ...]:
    """A survivor's line without the line number, which moves."""
    file, _, rest = text.partition(":")
    return file, rest.partition(":")[2].strip()


def _tell(text: str, out: Path | None) -> None:
    print(text, flush=True)
    if out:
        with out.open("a") as f:
            f.write(text + "\n")


if __name__ == "__main__":
    main()
