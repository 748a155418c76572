"""Checks of Python code that the linters do not know: the laws of the house, on the syntax tree."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tests.tidy.findings import INTEGERS_ONLY, PRODUCTION, PURE, Finding, Source, inside

MAX_FUNCTION_LINES = 70

_CLOCKS = {"time"}
_ASKS_TIME = {"now", "utcnow", "today"}
_PURE_STDLIB = {
    "__future__", "abc", "binascii", "bisect", "collections", "copy", "dataclasses", "difflib",
    "enum", "fractions", "functools", "hashlib", "heapq", "itertools", "math", "operator",
    "re", "string", "struct", "tomllib", "types", "typing",
}  # fmt: skip
_PURE_LIBRARIES = {"msgspec", "cobs", "fastcrc", "tabled", "firmware_bridge"}
_IMPURE_CALLS = {"open", "print", "input", "exec", "eval", "compile", "__import__", "breakpoint", "id", "hash"}
_IMPURE_METHODS = {"read_text", "read_bytes", "write_text", "write_bytes"}

Function = ast.FunctionDef | ast.AsyncFunctionDef


def function_length(source: Source) -> Iterator[Finding]:
    """A function is seen at one look."""
    for node in ast.walk(source.tree):
        if isinstance(node, Function):
            lines = (node.end_lineno or node.lineno) - node.lineno + 1
            if lines > MAX_FUNCTION_LINES:
                says = f"{node.name} has {lines} lines; take a part out under a name (at most {MAX_FUNCTION_LINES})"
                yield Finding(source.path, node.lineno, says)


def _imports(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Line and top-level package of every absolute import, wherever it stands."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield node.lineno, alias.name.split(".")[0]
        elif isinstance(node, ast.ImportFrom) and not node.level and node.module:
            yield node.lineno, node.module.split(".")[0]


def clock(source: Source) -> Iterator[Finding]:
    """Only the shell knows what time it is.  Outside the pure rooms datetime may format a time, not ask for one."""
    if not inside(source.path, ("tabled",)) or inside(source.path, ("tabled/shell",)):
        return
    for line, name in _imports(source.tree):
        if name in _CLOCKS:
            yield Finding(source.path, line, f"{name} belongs to tabled/shell: take the time as an argument")
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Attribute) and node.attr in _ASKS_TIME:
            yield Finding(source.path, node.lineno, f".{node.attr} asks what time it is: take the time as an argument")


def purity(source: Source) -> Iterator[Finding]:
    """A pure room imports nothing that can differ between two runs, and calls nothing that does."""
    if not inside(source.path, PURE):
        return
    for line, name in _imports(source.tree):
        if name not in _PURE_STDLIB | _PURE_LIBRARIES:
            yield Finding(source.path, line, f"{name} is not known to be pure: move what needs it out of this room")
    for node in ast.walk(source.tree):
        if not isinstance(node, ast.Call):
            continue
        if isinstance(node.func, ast.Name) and node.func.id in _IMPURE_CALLS:
            says = f"{node.func.id}() is not a function of its arguments alone"
            yield Finding(source.path, node.lineno, says)
        elif isinstance(node.func, ast.Attribute) and node.func.attr in _IMPURE_METHODS:
            yield Finding(
                source.path, node.lineno, f".{node.func.attr}() touches a file: take the bytes as an argument"
            )


def integers(source: Source) -> Iterator[Finding]:
    """No float stands right of the journal."""
    if not inside(source.path, INTEGERS_ONLY):
        return
    for node in ast.walk(source.tree):
        says = None
        if isinstance(node, ast.Constant) and isinstance(node.value, float | complex):
            says = f"{node.value} is a float: use integers in a smaller unit"
        elif isinstance(node, ast.BinOp | ast.AugAssign) and isinstance(node.op, ast.Div):
            says = "/ makes a float: use // and say which way it rounds"
        elif isinstance(node, ast.Name) and node.id == "float":
            says = "float: use integers in a smaller unit"
        if says:
            yield Finding(source.path, getattr(node, "lineno", 1), says)


def docstrings(source: Source) -> Iterator[Finding]:
    """Whatever others may use says what it is."""
    if not inside(source.path, PRODUCTION) or not source.tree.body:
        return
    if not ast.get_docstring(source.tree):
        yield Finding(source.path, 1, "the module says nothing: give it a docstring")
    yield from _undocumented(source.path, source.tree.body)


def _undocumented(path: str, body: list[ast.stmt]) -> Iterator[Finding]:
    for node in body:
        if isinstance(node, ast.If | ast.Try):  # definitions under a condition
            yield from _undocumented(path, [n for n in ast.iter_child_nodes(node) if isinstance(n, ast.stmt)])
        if not isinstance(node, Function | ast.ClassDef) or node.name.startswith(("_", "test_")) or _repeats(node):
            continue
        if not ast.get_docstring(node):
            yield Finding(path, node.lineno, f"{node.name} says nothing: give shapes, units and errors in a docstring")
        if isinstance(node, ast.ClassDef):
            spoken = ast.get_docstring(node) or ""
            members = [n for n in node.body if not (_is_protocol(node) and f"``{getattr(n, 'name', '')}" in spoken)]
            yield from _undocumented(path, members)


def _repeats(node: Function | ast.ClassDef) -> bool:
    """True for an overload, an override or a setter: the docstring stands elsewhere."""
    names = {
        d.id if isinstance(d, ast.Name) else d.attr
        for d in node.decorator_list
        if isinstance(d, ast.Name | ast.Attribute)
    }
    return bool(names & {"overload", "override", "setter", "deleter"})


def _is_protocol(node: ast.ClassDef) -> bool:
    """True for a Protocol: its docstring may speak for its members, each by ``name``."""
    bases = [b.value if isinstance(b, ast.Subscript) else b for b in node.bases]
    return any(isinstance(b, ast.Name) and b.id == "Protocol" for b in bases)
