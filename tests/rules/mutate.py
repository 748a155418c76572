"""Mutation testing of tabled/rules: change one thing at a time and see whether a test notices.

    python -m tests.rules.mutate [MODULE ...] [--commit REV] [--every N] [--only FILE] [--known FILE]
                                 [--slowest SECONDS] [--quickest SECONDS] [--tests FILE ...] [--out FILE]

Works on a copy of the commit in a temporary folder, with all tests of tests/rules.  They are collected once.  A mutant
lives in a fork of that process, where the code of the changed functions is put into the functions that are loaded; a
change outside any function (a table, a default) is loaded anew instead.  It is given the tests until one fails: first
those that have killed most mutants of the module so far, then the quickest.

Prints one line a survivor: module, line, what was changed, and the source line; and one line a module with the counts.
``--only`` tries those that FILE lists as survivors of an earlier run, ``--known`` passes over those that FILE lists
(the examined ones).  ``--slowest`` leaves out the tests that took longer; what survives then is only a suspect, and
``--quickest`` with the same number gives the suspects to the tests that were left out.  ``--tests`` takes these files
only, to see at once whether a new test kills what it was written for.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import types
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
TIMEOUT_S = 300
LOOPS_S = 5
RESULT_BYTES = 1 << 20
PARTS = ("tabled", "tests", "firmware_bridge", "pyproject.toml", "README.md")
NEWLOCALS = 0x2  # a flag of the code of functions, which that of class bodies has not
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


# ---- putting a mutant into loaded modules ------------------------------------------------------------------------


def functions(module: types.ModuleType) -> dict[str, types.FunctionType]:
    """All functions and methods that the module defines, by qualified name."""
    found: dict[str, types.FunctionType] = {}

    def look(value: object) -> None:
        for inside in ("fget", "__func__", "__wrapped__"):
            value = getattr(value, inside, None) or value
        if isinstance(value, types.FunctionType) and value.__module__ == module.__name__:
            found[value.__qualname__] = value

    for value in vars(module).values():
        look(value)
        if isinstance(value, type) and value.__module__ == module.__name__:
            for inner in vars(value).values():
                look(inner)
    return found


def codes(code: types.CodeType) -> Iterator[types.CodeType]:
    """The code of all functions that are defined in module or class bodies (not those within functions)."""
    for const in code.co_consts:
        if isinstance(const, types.CodeType):
            if const.co_flags & NEWLOCALS:
                yield const
            else:  # a class body
                yield from codes(const)


def bare(code: types.CodeType) -> types.CodeType:
    """The code of a module or class body without that of the functions in it, nor its columns: what loading runs."""
    kept = tuple(
        None
        if isinstance(c, types.CodeType) and c.co_flags & NEWLOCALS
        else bare(c)
        if isinstance(c, types.CodeType)
        else c
        for c in code.co_consts
    )
    return code.replace(co_consts=kept, co_firstlineno=1, co_linetable=b"")


def changed_functions(module: str, original: str, changed: str) -> dict[str, types.CodeType] | None:
    """The new code of the functions that differ, by qualified name; None if what differs is outside any function."""
    old, new = (compile(text, module, "exec") for text in (original, changed))
    if bare(old) != bare(new):
        return None
    before = {c.co_qualname: c for c in codes(old)}
    found = {c.co_qualname: c for c in codes(new) if c != before[c.co_qualname]}
    loaded = functions(sys.modules[module])
    same = all(q in loaded and loaded[q].__code__.co_freevars == c.co_freevars for q, c in found.items())
    return found if found and same else None


def put(module: str, found: dict[str, types.CodeType]) -> None:
    """Put the new code into the functions that are loaded."""
    loaded = functions(sys.modules[module])
    for qualname, code in found.items():
        loaded[qualname].__code__ = code


# ---- running the tests -------------------------------------------------------------------------------------------


class Killer:
    """A plugin of pytest that holds the collected tests and runs them in forks instead of once."""

    def __init__(self, work: Callable[[Killer], None]) -> None:
        self.work = work
        self.items: list[pytest.Item] = []
        self.left_out: list[str] = []
        self.took: dict[str, float] = {}
        self.kills: Counter[str] = Counter()
        self.failed = ""
        self.broken: list[str] = []
        self.note: dict[str, float] = {}

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        self.items = list(session.items)
        if session.testsfailed:
            pytest.exit("the tests cannot be collected: put them right first", 1)
        self.work(self)
        return True

    def pytest_runtest_logreport(self, report: Any) -> None:
        self.note[report.nodeid] = self.note.get(report.nodeid, 0.0) + report.duration
        if report.failed:
            self.failed = self.failed or report.nodeid
            self.broken.append(report.nodeid)

    def sound(self) -> list[str]:
        """Run everything without a change: notes the times, leaves out the tests that fail, and says which."""
        _, self.took, broken = self.fork(lambda: None, to_the_end=True)
        self.leave_out(set(broken))
        self.kills.clear()
        return broken

    def leave_out(self, names: set[str]) -> None:
        self.left_out += sorted(names)
        self.items = [i for i in self.items if i.nodeid not in names]

    def fork(self, prepare: Callable[[], None], *, to_the_end: bool = False) -> tuple[str, dict[str, float], list[str]]:
        """The test that fails after ``prepare``, in a process of its own ("" if none does), times, and all that fail.

        Stops at the first one that fails unless ``to_the_end``.
        """
        items = sorted(self.items, key=lambda i: (-self.kills[i.nodeid], self.took.get(i.nodeid, 0.0)))
        read, write = os.pipe()
        pid = os.fork()
        if pid == 0:
            self._child(prepare, items, write, to_the_end=to_the_end)
        os.close(write)
        with os.fdopen(read, "rb") as pipe:
            raw = pipe.read(RESULT_BYTES)
        os.waitpid(pid, 0)
        failed, took, broken = json.loads(raw) if raw else ("(no answer)", {}, [])
        self.kills[failed] += bool(failed)
        return failed, took, broken

    def _child(self, prepare: Callable[[], None], items: list[pytest.Item], write: int, *, to_the_end: bool) -> None:
        try:
            null = os.open(os.devnull, os.O_WRONLY)
            os.dup2(null, 1)
            os.dup2(null, 2)
            try:
                prepare()
            except Exception as e:  # a mutant that cannot even be loaded
                self.failed = f"(loading: {e})"
            for item in items:
                if self.failed and not to_the_end:
                    break
                # Processor time, a test: a busy machine kills no mutant, and one that loops dies soon.
                allowed = TIMEOUT_S if to_the_end else LOOPS_S + 10 * self.took.get(item.nodeid, 0.0)
                signal.setitimer(signal.ITIMER_PROF, allowed)
                item.config.hook.pytest_runtest_protocol(item=item, nextitem=None)
            os.write(write, json.dumps((self.failed, self.note, self.broken)).encode())
        finally:
            os._exit(0)

    def afresh(self, folder: Path) -> str:
        """The same with everything loaded anew: for a change outside any function."""
        ordered = sorted(self.items, key=lambda i: (-self.kills[i.nodeid], self.took.get(i.nodeid, 0.0)))
        files = list(dict.fromkeys(i.nodeid.partition("::")[0] for i in ordered))
        args = [sys.executable, "-B", "-m", "pytest", "-x", "-q", "--tb=no", "-p", "no:cacheprovider", "-o", "addopts="]
        args += [f"--deselect={name}" for name in self.left_out]
        done = subprocess.run([*args, *files], cwd=folder, capture_output=True, check=False)
        return "" if done.returncode == 0 else "(loaded anew)"


# ---- the mutants of a commit -------------------------------------------------------------------------------------


class Run:
    """Tries the mutants of the asked modules in the copy of a commit."""

    def __init__(self, copy: Path, args: argparse.Namespace) -> None:
        self.copy, self.args = copy, args
        self.only = _listed(args.only)
        self.known = _listed(args.known) or frozenset()

    def __call__(self, killer: Killer) -> None:
        broken = killer.sound()
        took = killer.took
        if broken:
            self.tell(f"# left out, they fail without any change: {', '.join(broken)}")
        if self.args.slowest:
            killer.leave_out({name for name, seconds in took.items() if seconds > self.args.slowest})
        killer.leave_out({name for name, seconds in took.items() if seconds < self.args.quickest})
        self.tell(f"# {self.args.commit}: {len(killer.items)} of {len(took)} tests, {' '.join(sys.argv[1:])}")
        folder = self.copy / "tabled" / "rules"
        total: Counter[str] = Counter()
        for name in self.args.modules or sorted(f.stem for f in folder.glob("*.py") if f.stem not in NOT_MUTATED):
            total += self.module(killer, folder / f"{name}.py")
        self.tell(f"# in all: {_counts(total)}")

    def module(self, killer: Killer, file: Path) -> Counter[str]:
        """The counts of one module; its survivors are told."""
        begun = time.monotonic()
        count: Counter[str] = Counter()
        original = file.read_text("utf-8")
        lines = original.splitlines()
        killer.kills.clear()
        for n, line, what, changed in mutants(original):
            text = f"{file.name}:{line}: {what}: {lines[line - 1].strip()}"
            if n % self.args.every or (self.only is not None and _apart(text) not in self.only):
                continue
            if _apart(text) in self.known:
                count["known"] += 1
                continue
            if not self.dies(killer, file, original, changed):
                count["survived"] += 1
                self.tell(text)
            else:
                count["killed"] += 1
        self.tell(f"# {file.stem}: {_counts(count)}, in {time.monotonic() - begun:.0f} s")
        return count

    def dies(self, killer: Killer, file: Path, original: str, changed: str) -> bool:
        """Whether a test notices."""
        module = f"tabled.rules.{file.stem}"
        plain = ast.unparse(ast.parse(original))  # written as the mutant is, so that only the change differs
        found = changed_functions(module, plain, changed)
        if found is not None:
            return bool(killer.fork(lambda: put(module, found))[0])
        file.write_text(changed, "utf-8")
        try:
            return bool(killer.afresh(self.copy))
        finally:
            file.write_text(original, "utf-8")

    def tell(self, text: str) -> None:
        print(text, flush=True)
        if self.args.out:
            with self.args.out.open("a") as f:
                f.write(text + "\n")


def _counts(count: Counter[str]) -> str:
    tried = count["killed"] + count["survived"]
    known = f"; {count['known']} known ones passed over" if count["known"] else ""
    return f"{count['killed']} killed, {count['survived']} survived of {tried}{known}"


def _listed(file: Path | None) -> frozenset[tuple[str, ...]] | None:
    if file is None:
        return None
    return frozenset(_apart(x) for x in file.read_text("utf-8").splitlines() if ".py:" in x)


def _apart(text: str) -> tuple[str, ...]:
    """A survivor's line without the line number, which moves."""
    file, _, rest = text.partition(":")
    return file, rest.partition(":")[2].strip()


def main() -> None:
    """Try the mutants and print the survivors."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("modules", nargs="*")
    parser.add_argument("--commit", default="HEAD")
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--only", type=Path)
    parser.add_argument("--known", type=Path)
    parser.add_argument("--slowest", type=float, default=0.0)
    parser.add_argument("--quickest", type=float, default=0.0)
    parser.add_argument("--tests", nargs="+", default=["tests/rules"])
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    rev = ["git", "rev-parse", "--short", args.commit]
    args.commit = subprocess.run(rev, cwd=ROOT, capture_output=True, check=True, text=True).stdout.strip()
    for name in ("only", "known", "out"):
        setattr(args, name, getattr(args, name) and getattr(args, name).resolve())
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    os.environ.setdefault("TABLED_SHARED", str(ROOT.parent / "shared"))
    with tempfile.TemporaryDirectory() as tmp:
        copy = Path(tmp)
        tar = subprocess.run(["git", "archive", args.commit, *PARTS], cwd=ROOT, capture_output=True, check=True).stdout
        subprocess.run(["tar", "-x"], cwd=copy, input=tar, check=True)
        os.chdir(copy)
        sys.path[:] = [str(copy), *(p for p in sys.path if p and Path(p).resolve() != ROOT)]
        for name in [m for m in sys.modules if m.split(".")[0] in ("tabled", "tests")]:
            del sys.modules[name]
        options = ["-q", "-s", "--tb=no", "-p", "no:cacheprovider", "-o", "addopts=", *args.tests]
        sys.exit(pytest.main(options, plugins=[Killer(Run(copy, args))]))


if __name__ == "__main__":
    main()
