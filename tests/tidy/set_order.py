"""Finds results that depend on the order of a set, which differs between two runs.

A set is seen where it is written (``{a, b}``, ``set(x)``, a comprehension), computed of sets (``a | b``), or
held by a name or an attribute that this module assigns one to or annotates as one.  Going through it is a
finding unless it ends in something for which order does not matter (``sorted``, ``sum``, ``any``, …).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tests.tidy.findings import PURE, Finding, Source, inside

_MAKERS = {"set", "frozenset"}
_SET_TYPES = {"set", "frozenset", "Set", "FrozenSet", "AbstractSet", "MutableSet"}
_SET_METHODS = {"union", "intersection", "difference", "symmetric_difference"}
_UNORDERED = {"sorted", "sum", "min", "max", "any", "all", "len", "set", "frozenset", "bool"}
_ORDERED = {"list", "tuple", "iter", "enumerate", "zip", "map", "filter", "reversed", "dict"}
_OPERATORS = (ast.BitOr, ast.BitAnd, ast.Sub, ast.BitXor)


def set_order(source: Source) -> Iterator[Finding]:
    """No order of a set decides anything in a pure room."""
    if inside(source.path, PURE):
        finder = _Finder(source.path)
        finder.learn(source.tree)
        finder.visit(source.tree)
        yield from finder.findings


def _is_set_type(node: ast.expr | None) -> bool:
    if isinstance(node, ast.Subscript):
        node = node.value
    if isinstance(node, ast.BinOp):  # set[int] | None
        return _is_set_type(node.left) or _is_set_type(node.right)
    return (isinstance(node, ast.Name) and node.id in _SET_TYPES) or (
        isinstance(node, ast.Attribute) and node.attr in _SET_TYPES
    )


class _Finder(ast.NodeVisitor):
    def __init__(self, path: str) -> None:
        self._path = path
        self._names: set[str] = set()
        self._attributes: set[str] = set()
        self.findings: list[Finding] = []

    def learn(self, tree: ast.Module) -> None:
        """Names and attributes that hold sets; twice, since one may be made of another further down."""
        for _ in range(2):
            for node in ast.walk(tree):
                if isinstance(node, ast.Assign) and self._is_set(node.value):
                    for target in node.targets:
                        self._note(target)
                elif isinstance(node, ast.AnnAssign) and _is_set_type(node.annotation):
                    self._note(node.target)
                elif isinstance(node, ast.arg) and _is_set_type(node.annotation):
                    self._names.add(node.arg)
            for node in ast.walk(tree):
                if isinstance(node, ast.ClassDef):
                    for field in node.body:
                        if isinstance(field, ast.AnnAssign) and _is_set_type(field.annotation):
                            self._attributes.add(getattr(field.target, "id", ""))

    def _note(self, target: ast.expr) -> None:
        if isinstance(target, ast.Name):
            self._names.add(target.id)
        elif isinstance(target, ast.Attribute):
            self._attributes.add(target.attr)

    def _is_set(self, node: ast.expr) -> bool:
        match node:
            case ast.Set() | ast.SetComp():
                return True
            case ast.Call(func=ast.Name(id=name)):
                return name in _MAKERS
            case ast.Call(func=ast.Attribute(attr=name, value=value)):
                return name in _SET_METHODS or (name == "copy" and self._is_set(value))
            case ast.BinOp(op=op, left=left, right=right) if isinstance(op, _OPERATORS):
                return self._is_set(left) or self._is_set(right)
            case ast.IfExp(body=one, orelse=other):
                return self._is_set(one) or self._is_set(other)
            case ast.Name(id=name):
                return name in self._names
            case ast.Attribute(attr=name):
                return name in self._attributes
        return False

    def _found(self, node: ast.AST, what: str) -> None:
        line = getattr(node, "lineno", 1)
        self.findings.append(Finding(self._path, line, f"{what} in the order of a set: put sorted(…) around it"))

    def visit_For(self, node: ast.For) -> None:
        if self._is_set(node.iter):
            self._found(node.iter, "loops")
        self.generic_visit(node)

    def _comprehension(self, node: ast.ListComp | ast.DictComp | ast.GeneratorExp) -> None:
        for part in node.generators:
            if self._is_set(part.iter):
                self._found(part.iter, "goes")
        self.generic_visit(node)

    def visit_ListComp(self, node: ast.ListComp) -> None:
        self._comprehension(node)

    def visit_DictComp(self, node: ast.DictComp) -> None:
        self._comprehension(node)

    def visit_GeneratorExp(self, node: ast.GeneratorExp) -> None:
        self._comprehension(node)

    def visit_Starred(self, node: ast.Starred) -> None:
        if self._is_set(node.value):
            self._found(node, "unpacks")
        self.generic_visit(node)

    def visit_Set(self, node: ast.Set) -> None:
        for part in node.elts:  # {*a, *b} is a set again
            self.visit(part.value if isinstance(part, ast.Starred) else part)

    def visit_Call(self, node: ast.Call) -> None:
        name = node.func.id if isinstance(node.func, ast.Name) else None
        if name in _ORDERED and any(self._is_set(a) for a in node.args):
            self._found(node, f"{name}() goes")
        if isinstance(node.func, ast.Attribute):
            if node.func.attr == "pop" and not node.args and self._is_set(node.func.value):
                self._found(node, "pop() takes")
            if node.func.attr in ("join", "extend") and any(self._is_set(a) for a in node.args):
                self._found(node, f"{node.func.attr}() goes")
        if name in _UNORDERED:
            for argument in node.args:
                if isinstance(argument, ast.GeneratorExp | ast.ListComp):
                    self._visit_parts(argument)
                else:
                    self.visit(argument)
            for keyword in node.keywords:
                self.visit(keyword)
        else:
            self.generic_visit(node)

    def _visit_parts(self, node: ast.GeneratorExp | ast.ListComp) -> None:
        """What a comprehension contains, but not the order in which it goes through its sets."""
        self.visit(node.elt)
        for part in node.generators:
            self.visit(part.iter)
            for condition in part.ifs:
                self.visit(condition)
