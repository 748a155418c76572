"""Mutation testing of tabled/rules: change one thing at a time and see whether a test notices.

    python -m tests.rules.mutate [MODULE ...] [--every N] [--start N] [--quick] [--out FILE]

Works on a copy of the tree in a temporary folder.  A mutant is first given to the quick tests, and if it survives
them, to the slow ones (oracle, properties, PokerKit, the shared cases and hands).  Prints one line a survivor:
module, line, what was changed, and the source line.  ``--every N`` tries each N-th mutant only.
"""

from __future__ import annotations

import argparse
import ast
import os
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
QUICK = ("test_bugs", "test_hand", "test_swedish", "test_shared", "test_dutch", "test_tda", "test_combinations")
SLOW = ("test_judge_command", "test_oracle", "test_properties", "test_pokerkit", "test_profiles", "test_wording")
TIMEOUT_S = 180

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


def survives(copy: Path, names: tuple[str, ...]) -> bool:
    """Run the named test files in a fork of this process; True if all pass."""
    files = [str(f) for n in names if (f := copy / "tests" / "rules" / f"{n}.py").exists()]
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1" if names == QUICK else ""
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            os.chdir(copy)
            sys.path[:] = [str(copy), *(p for p in sys.path if p and Path(p).resolve() != ROOT)]
            for name in [m for m in sys.modules if m.split(".")[0] in ("tabled", "tests")]:
                del sys.modules[name]
            null = os.open(os.devnull, os.O_WRONLY)
            os.dup2(null, 1)
            os.dup2(null, 2)
            signal.setitimer(signal.ITIMER_PROF, TIMEOUT_S)  # processor time: a busy machine kills no mutant
            args = ["-x", "-q", "--tb=no", "-p", "no:cacheprovider", "-o", "addopts=", *files]
            code = int(pytest.main(args))
        finally:
            os._exit(code)
    _, status = os.waitpid(pid, 0)
    return os.waitstatus_to_exitcode(status) == 0


def main() -> None:
    """Try the mutants and print the survivors."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("modules", nargs="*")
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--start", type=int, default=0)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--quick", action="store_true", help="give survivors of the quick tests no second chance")
    args = parser.parse_args()
    sys.dont_write_bytecode = True
    os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
    os.environ.setdefault("TABLED_SHARED", str(ROOT.parent / "shared"))
    with tempfile.TemporaryDirectory() as tmp:
        copy = Path(tmp)
        for part in ("tabled", "tests", "firmware_bridge", "pyproject.toml"):
            source = ROOT / part
            ignore = shutil.ignore_patterns("__pycache__", "node_modules")
            shutil.copytree(source, copy / part, ignore=ignore) if source.is_dir() else shutil.copy(source, copy / part)
        if not survives(copy, QUICK + SLOW):
            sys.exit("the tests fail without any change: put them right first")
        _run(copy, args)


def _run(copy: Path, args: argparse.Namespace) -> None:
    folder = copy / "tabled" / "rules"
    names = args.modules or sorted(f.stem for f in folder.glob("*.py") if f.stem not in ("__init__", "settings"))
    killed = lived = 0
    begun = time.monotonic()
    for name in names:
        file = folder / f"{name}.py"
        original = file.read_text("utf-8")
        lines = original.splitlines()
        for n, line, what, changed in mutants(original):
            if (n - args.start) % args.every:
                continue
            file.write_text(changed, "utf-8")
            if survives(copy, QUICK) and (args.quick or survives(copy, SLOW)):
                lived += 1
                text = f"{name}.py:{line}: {what}: {lines[line - 1].strip()}"
                print(text, flush=True)
                if args.out:
                    with args.out.open("a") as f:
                        f.write(text + "\n")
            else:
                killed += 1
        file.write_text(original, "utf-8")
    print(f"{killed} killed, {lived} survived of {killed + lived}, in {time.monotonic() - begun:.0f} s")


if __name__ == "__main__":
    main()
